"""Find a page's publication and update dates in its URL, data and markup.

The most reliable sources come first: the URL, meta elements, JSON-LD, elements whose names mention
dates, time elements. Dates in references, tables, captions and running text do not count, because
they belong to something else, and a missing date is better than a wrong date.
"""

from __future__ import annotations

import functools
import itertools
import re
from datetime import date, datetime, timedelta

from websearch.base.html_tree import BLOCKS, HEADINGS, name_set, text_beginning
from websearch.base.written_dates import (
    UPDATED_LABEL,
    Written,
    day_of,
    is_possible,
    written_dates,
)
from websearch.pages.extract.element_names import MAX_NAMES, names_of
from websearch.pages.extract.name_rules import is_site_header
from websearch.pages.extract.page_tree import ancestors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from websearch.base.html_tree import Node
    from websearch.pages.extract.page_tree import PageTree

# Sources of dates, most trusted first. On pages with a known date, the first three and named
# elements are right in 92% to 97% of cases, dates near the heading in 88%.
# alone: the only date in all elements marked as dates, even outside the text. label: the only date
# in lines that say "published" or "updated", even in the footer.
STAGES = ("address", "meta", "json-ld", "element", "time", "heading", "alone", "label")
# Maximum characters in a line with a date; longer lines are running text. Near the heading, where
# only the position marks a date, the line must be a byline.
MAX_LINE, MAX_BYLINE = 400, 80
MAX_PARTS = 200  # elements inside a date or byline
MAX_HEADINGS = 200  # headings per page to compare with its title
MAX_MARKED = 2_000  # elements per page to search
MAX_ADDRESS = 2_000  # characters of a URL to search
MAX_TITLE = 300  # characters of the page's title and of a heading
MIN_HEADING = 12  # characters of a heading to look for in the page's title
NEAR_BEFORE, NEAR_AFTER = 8, 12  # elements before and after the heading
NEAR_ALONE = 20  # elements from the heading to a time element, for the source "alone"
HEAD = 6  # elements after the heading that form the article's header

# ===== names of dates =============================================================================

PUBLISHED_META = (
    "article:published_time", "datepublished", "article:published", "og:published_time",
    "og:article:published_time", "og:pubdate", "rnews:datepublished", "dcterms.issued",
    "dcterms.created", "dc.date.issued", "dc.date.created", "dc.date.publication", "dc.issued",
    "dc.created", "citation_publication_date", "citation_online_date", "citation_date",
    "parsely-pub-date", "sailthru.date", "bt:pubdate", "publication_date", "publicationdate",
    "publication-date", "publish_date", "publish-date", "publishdate", "published_date",
    "publisheddate", "published-date", "date_published", "date-published", "publish_time",
    "pubdate", "pub_date", "cxenseparse:recs:publishtime", "article.published",
    "article_date_original", "article:post_date", "originalpublicationdate", "displaydate",
    "shareaholic:article_published_time", "datecreated", "article.created", "created",
    "creation_date", "doc_date", "date.created", "release_date", "dcterms.date", "dc.date",
    "dcsext.articlefirstpublished", "date",
)  # fmt: skip
UPDATED_META = (
    "article:modified_time", "datemodified", "og:updated_time", "og:modified_time",
    "article:modified", "dcterms.modified", "dc.date.modified", "dc.modified", "lastmod",
    "last-modified", "last_modified", "lastmodified", "modified", "modified_time",
    "date_modified", "updated", "revised",
)  # fmt: skip
PUBLISHED_DATA = ("datePublished", "uploadDate", "dateCreated")
UPDATED_DATA = ("dateModified",)
# Words that must be separate, because they mean something else in "metadata" or "infobox".
_DATE_NAMES = (
    r"(?i)(?<!access)(?<!vali)(?<!candi)date(?!line|base)|datum|datal|data_|fecha|timestamp|publi[sc]"
    r"|posted|postmeta|byline|created|submitted|parution|subline|erschien|news-?details"
    r"|(?<![a-z])(?:time|meta|infos?|author|autor)(?![a-z])"
)
_PUBLISHED_NAMES = r"(?i)publi[sc]|posted|pubdate|date-?created|created|entry-date|post-date"
_UPDATED_NAMES = r"(?i)updat|modif|revis|lastmod|changed"
# Tags of elements that contain dates of something other than the page, as data tables also do.
OTHER_TAGS = ("nav", "aside", "caption", "figcaption", "blockquote")
_OTHER_NAMES = (
    r"(?i)comment|respon[sd]|related|sidebar|widget(?! Blog)|recent|popular"
    r"|copyright|current|today|weather|archive|newest|latest|ticker|promo|recommend|trending"
    r"|carousel|slider|similar|further|cookie|consent|breadcrumb|most-?read|more-|mehr-|clock"
    r"|masthead|site-?header|top-?bar"
    r"|(?<![\w-])(?:cite|citation|references?)(?![\w-])|reference-|cite_note|reflist|footnote"
    r"|bibliograph|infobox|wp-caption"
)
NO_LINES = BLOCKS | name_set("script style noscript")  # elements that are not part of a line
NOT_NEAR = HEADINGS | {"meta"}  # elements near the heading that need a name or tag of dates
# Names that an article's header never has.
_NOT_ALONE = (
    r"(?i)comment|respon[sd]|related|recent|popular|copyright|latest|ticker|promo|recommend|trending"
    r"|carousel|slider|similar|teaser|calendar|event|reference|footnote|bibliograph|list|card"
    r"|current|today|weather|archive|newest|cookie|consent|most-?read|more-|mehr-|clock|masthead"
    r"|site-?header|top-?bar"
)
# Like _OTHER_NAMES, except directly below the heading, where an article's header uses such names.
_FOOT_NAMES = r"(?i)(?<!post-)(?<!entry-)(?<!article-)footer|teaser|calendar|event"

# Names of pages about an event, whose dates are not the page's own.
_EVENT = r"(?i)(?<![a-z])events?(?![a-z])"

# Names of dates other than the page's own: of an event, a deadline, an offer, a birth.
_OTHER_DAYS = (
    r"(?i)event-?(?:date|time|day|start)|(?:start|end)-?(?:date|time)|expir|deadline|valid-?(?:thr|unt|from)"
    r"|due-?date|birth|departure|arrival|check-?(?:in|out)-?date"
)

# Beginning of a line with such a date.
_OTHER_LINE = (
    r"(?i)\W*(?:application )?(?:closing|deadline|apply by|expir|valid|due|starts?\b|ends?\b"
    r"|until|bewerbungs|gültig|beginn|ab \d|bis \d|date limite|fecha límite|scadenza)"
)

# A date in a URL: /2024/05/31/, /2024/may/31/, 2024-05-31, 2024_05_31, /20240531/; 31-05-2024 only
# if the first number cannot be a month.
_ADDRESS_DAY = (
    r"(?<!\d)(199\d|20\d\d)(?:/(\d\d?|[a-z]{3})/(\d\d?)(?=/)"
    r"|[_-](\d\d)[_-](\d\d)(?!\d))|/(199\d|20\d\d)(\d\d)(\d\d)/"
)
_ADDRESS_DAY_FIRST = r"(?<![\d.-])(1[3-9]|2\d|3[01])([.-])(\d\d)\2(199\d|20\d\d)(?!\d)"

# Words in a line that contains the page's date.
_PUBLISHED_LABEL = (
    r"(?i)publish|posted|written on|veröffentlicht|erschienen|online seit|gepostet|geschrieben"
    r"|publié|mise? en ligne|publicad|pubblicat|gepubliceerd|geplaatst|publicer|publiser"
    r"|opublikowan|опубликован|yayın|发布|發布|公開|게시"
)

# ===== the dates of a page ========================================================================


class PageDates:
    """The publication and update dates of a page, in ISO 8601 or "".

    stage: the source of published, one of STAGES; "updated" if the page has only an update date,
    which is then used as published.
    """

    __slots__ = ("published", "stage", "updated")

    def __init__(self, published: str = "", updated: str = "", stage: str = "") -> None:
        self.published, self.updated, self.stage = published, updated, stage


def find_dates(
    page: PageTree, address: str, meta: dict[str, str], items: list[dict[str, Any]], language: str
) -> PageDates:
    """Return a page's publication and update dates, if known.

    An update is omitted unless its date is later than the publication date.
    meta: contents of the meta elements by lower-case name
    items: the page's JSON-LD items; items about its subject come first
    language: language of the page, such as en-US
    """
    month_first = language.lower() in ("en", "en-us")
    marked = marked_dates(page, month_first)
    dates = {
        "address": address_dates(address),
        "meta": field_dates([meta], PUBLISHED_META, month_first),
        "json-ld": field_dates(items, PUBLISHED_DATA, month_first),
        **marked,
        "alone": [],
        "label": [],
    }
    if not any(dates.values()):
        dates["alone"] = lone_date(page, month_first)
    if not any(dates.values()):
        dates["label"] = labeled_dates(page, month_first)
    updates = field_dates([meta], UPDATED_META, month_first)
    updates += field_dates(items, UPDATED_DATA, month_first)
    found = itertools.chain(*marked.values(), dates["label"])
    updates += [written for written in found if written.is_update]
    known = [(stage, date) for stage in STAGES for date in dates[stage] if not date.is_update]
    if not known:
        return PageDates(updates[0].text, "", "updated") if updates else PageDates()
    stage, first = known[0]
    written = [date for _, date in known]
    published = in_local_time(first, written)
    exact = [date.text for date in written if date.day == published.day and "T" in date.text]
    later = [date.text for date in updates if date.day > published.day]
    return PageDates([*exact, published.text][0], [*later, ""][0], stage)


def field_dates(
    containers: list[dict[str, Any]], names: tuple[str, ...], month_first: bool
) -> list[Written]:
    """Return the first date in each named field of meta elements or JSON-LD items, in order."""
    texts = [container.get(name) for container in containers for name in names]
    dates = [written_dates(text, month_first)[:1] for text in texts if isinstance(text, str)]
    return [written for first in dates for written in first]


def in_local_time(published: Written, others: list[Written]) -> Written:
    """Return the local date for a UTC time if another source has the local date.

    A UTC time may fall on the day before or after the date that the page shows.
    """
    if published.moment is None:
        return published
    for other in others:
        since = published.moment - datetime.combine(other.day, datetime.min.time())
        if other.moment is None and timedelta(hours=-14) <= since <= timedelta(hours=36):
            return published if other.day == published.day else other
    return published


def address_dates(address: str) -> list[Written]:
    """Return the date in a URL's path, as a list."""
    path = address[:MAX_ADDRESS].partition("://")[2].partition("/")[2].partition("?")[0]
    match = re.search(_ADDRESS_DAY, f"/{path}/")
    if match:
        year, month, number = filter(None, match.groups())
    elif match := re.search(_ADDRESS_DAY_FIRST, path):
        number, _, month, year = match.groups()
    else:
        return []
    day = day_of(year, month, number)
    return [Written(day, "")] if day and is_possible(day) else []


def marked_dates(page: PageTree, month_first: bool) -> dict[str, list[Written]]:
    """Return the dates in elements, by stage, nearest to the heading first.

    element: elements whose names, or those of an enclosing element, mention dates
    time: time elements
    heading: elements near the page's heading
    """
    heading = heading_index(page)
    others = other_elements(page, heading)
    sizes = element_sizes(page)
    dates: dict[str, list[tuple[int, Written]]] = {"element": [], "time": [], "heading": []}
    above = ancestors(page.nodes[heading]) if heading else []
    is_event = any(has_name(_EVENT, names_of(node)) for node in above)
    lines: dict[Node, str] = {}  # block -> its line
    marked = 0
    for index, node in enumerate(page.nodes):
        is_own = node.attributes.get("itemprop") == "datePublished"
        is_own = is_own and 0 < heading < index <= heading + NEAR_AFTER
        if (node in others and not is_own) or sizes[node] > MAX_PARTS or marked > MAX_MARKED:
            continue
        names = names_of_date(node)
        if has_name(_OTHER_DAYS, f"{names_of(node)} {names}"):
            continue
        if (is_event or has_name(_EVENT, names)) and not has_name(_PUBLISHED_NAMES, names):
            continue
        is_near = heading and heading - NEAR_BEFORE <= index <= heading + NEAR_AFTER
        is_marked = names or node.tag == "time"
        if not (is_marked or (is_near and node.tag not in NOT_NEAR)):
            continue
        block = block_of(node)
        block = node if block.tag in HEADINGS else block
        if block not in lines:
            lines[block] = line_of(block)
        is_long = len(lines[block]) > (MAX_LINE if is_marked else MAX_BYLINE)
        if node.tag != "meta" and (is_long or re.match(_OTHER_LINE, lines[block])):
            continue
        marked += 1
        stage = "element" if names else "time" if node.tag == "time" else "heading"
        is_first = bool(re.search(_PUBLISHED_NAMES, names))
        distance = index - heading if index > heading else 2 * (heading - index)
        for written in element_dates(node, month_first):
            if not is_first and re.search(_UPDATED_NAMES, names):
                written.is_update = True
            dates[stage].append((distance // 4 if is_first else distance, written))
    return {
        stage: [written for _, written in sorted(pairs, key=lambda pair: pair[0])]
        for stage, pairs in dates.items()
    }


def lone_date(page: PageTree, month_first: bool) -> list[Written]:
    """Return the only date in time elements near the heading and in elements named as published.

    This is the last resort: some themes put an article's header into an aside or sidebar. Several
    dates could belong to other pages, and readers' comments have dates of their own.
    """
    heading = heading_index(page)
    others = comment_elements(page)
    days: dict[date, Written] = {}
    for index, node in enumerate(page.nodes):
        names = f"{names_of(node)} {node.attributes.get('itemprop', '')[:MAX_NAMES]}"
        is_published = has_name(_PUBLISHED_NAMES, names) and node.tag not in ("meta", "link")
        is_near = node.tag == "time" and 0 < heading < index <= heading + NEAR_ALONE
        if node in others or not (is_published or is_near) or len(days) > 1:
            continue
        if len(line_of(block_of(node))) <= MAX_BYLINE:
            for written in element_dates(node, month_first)[:1]:
                if not has_name(_UPDATED_NAMES, names):
                    days.setdefault(written.day, written)
    return list(days.values()) if heading and len(days) == 1 else []


def labeled_dates(page: PageTree, month_first: bool) -> list[Written]:
    """Return the only date in short lines that say "published", and the only one for "updated"."""
    others: set[Node] = set()
    days: dict[tuple[date, bool], Written] = {}
    for node in page.nodes:
        if has_name(_NOT_ALONE, names_of(node)) or node.parent in others or node.tag == "nav":
            others.add(node)
        elif node.tag in BLOCKS and any(isinstance(child, str) for child in node.children):
            line = line_of(node)
            found = written_dates(line, month_first) if len(line) <= 2 * MAX_BYLINE else []
            for written in found:
                if len(found) == 1:  # the label may also follow the date
                    written.is_update = re.search(UPDATED_LABEL, line) is not None
                if written.is_update or re.search(_PUBLISHED_LABEL, line):
                    days.setdefault((written.day, written.is_update), written)
    groups = [[day for day in days.values() if day.is_update == kind] for kind in (False, True)]
    return [group[0] for group in groups if len(group) == 1]


def comment_elements(page: PageTree) -> set[Node]:
    """Return the elements in readers' comments, lists of other pages, tables, menus and footers."""
    found: set[Node] = set()
    for node in page.nodes:
        is_foot = node.tag in ("nav", "footer", "table") or has_name(_NOT_ALONE, names_of(node))
        if is_foot or node.parent in found:
            found.add(node)
    return found


def block_of(node: Node) -> Node:
    """Return the innermost block around an element, or the element itself."""
    while node.tag not in BLOCKS and node.parent:
        node = node.parent
    return node


def line_of(node: Node) -> str:
    """Return the beginning of an element's text, without the blocks and scripts in it."""
    pieces: list[str] = []
    left = 2 * MAX_LINE
    waiting: list[Node | str] = [node]
    while waiting and left > 0:
        inner = waiting.pop()
        if isinstance(inner, str):
            pieces.append(" ".join(inner[: 4 * MAX_LINE].split()))
            left -= len(pieces[-1])
        elif inner is node or inner.tag not in NO_LINES:
            waiting += inner.children[::-1]
    return " ".join(pieces)


def element_dates(node: Node, month_first: bool) -> list[Written]:
    """Return the date in an element's attributes, or else the dates in its text."""
    for name in ("datetime", "content", "title"):
        dates = written_dates(node.attributes.get(name, ""), month_first)
        if dates:
            return dates[:1]
    return written_dates(line_of(node), month_first)


def names_of_date(node: Node) -> str:
    """Return the names of an element, its parent or grandparent if they mention dates, or ""."""
    near: Node | None = node
    for _ in range(3):
        if near is None or near.tag in ("body", "html"):
            break
        if near.attributes:
            names = f"{names_of(near)} {near.attributes.get('itemprop', '')[:MAX_NAMES]}"
            if has_name(_DATE_NAMES, names):
                return names
        near = near.parent
    return ""


@functools.lru_cache(4096)
def has_name(pattern: str, names: str) -> bool:
    """Return whether an element's names match a pattern; cached because names repeat."""
    return bool(re.search(pattern, re.sub(r"(?<=[a-z])(?=[A-Z])", "-", names)))


def heading_index(page: PageTree) -> int:
    """Return the index of the main heading among the elements of a page; 0 if it has none.

    It is the longest heading whose text is in the page's title, or else the first h1.
    """
    title = next((node for node in page.nodes if node.tag == "title"), None)
    title_text = text_beginning(title, MAX_TITLE) if title else ""
    headings = [index for index, node in enumerate(page.nodes) if node.tag in HEADINGS]
    titles: dict[str, int] = {}
    for index in headings[:MAX_HEADINGS]:
        text = text_beginning(page.nodes[index], MAX_TITLE)
        if len(text) >= MIN_HEADING and text in title_text:
            titles.setdefault(text, index)
    first = next((index for index in headings if page.nodes[index].tag == "h1"), 0)
    return titles[max(titles, key=len)] if titles else first


def other_elements(page: PageTree, heading: int) -> set[Node]:
    """Return the elements outside the page's main text."""
    own = set(ancestors(page.nodes[heading])) if heading else set()
    tables = data_tables(page)
    others: set[Node] = set()
    for index, node in enumerate(page.nodes):
        names = names_of(node)
        is_other = node.tag in OTHER_TAGS or node in tables or is_site_header(node)
        is_other = is_other or has_name(_OTHER_NAMES, names)
        if not heading < index <= heading + HEAD:
            is_other = is_other or has_name(_FOOT_NAMES, names)
        if node.tag == "footer":  # the footer of an article counts as its text
            is_other = all(above.tag != "article" for above in ancestors(node))
        if node not in own and (is_other or node.parent in others):
            others.add(node)
    return others


def data_tables(page: PageTree) -> set[Node]:
    """Return the tables that a header cell or a caption marks as data."""
    found: set[Node] = set()
    for node in page.nodes:
        if node.tag in ("th", "caption"):
            row = node.parent
            group = row.parent if row else None
            near = (row, group, group.parent if group else None)
            found.update(around for around in near if around and around.tag == "table")
    return found


def element_sizes(page: PageTree) -> dict[Node, int]:
    """Return the number of elements in each element, including itself."""
    sizes = dict.fromkeys(page.nodes, 1)
    for node in reversed(page.nodes):
        if node.parent in sizes:
            sizes[node.parent] += sizes[node]
    return sizes
