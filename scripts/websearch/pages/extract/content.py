"""Find the main content of an HTML page.

The rules depend on the kind of page (page_tree.PageTree): an article (by its markup), a thread or
question page (by its URL or data), documentation (by its generator, or by code and headings with
anchors) or none of these. Rules for articles drop teasers, related links, repeated boxes and boxes
next to the text; in documentation, all of these count as content.

find_content applies the rules in this order, because each step uses the result of earlier steps:

0. Drop the frames of documentation generators (generator_rules), while the page is parsed.
1. Decide whether comments are the content or only readers' comments, before any name is judged,
   find what controls open, and move the labels of tabs to their panels.
2. Drop repeated teasers and comments from an article (structure_rules) before lists lose items.
3. Drop elements by name, tag and style (name_rules), from the root down, and do not judge elements
   inside them. is_plausible stops a rule that would drop too much, relative to the page after
   step 2. Names around an article's core and inside code do not count.
4. If too little is left, repeat step 3 with fewer rules (keep_more). This step comes here because
   every later step measures the remaining text.
5. Choose the element with the content: start at the element named as the text, go down while one
   child has nearly all running text, and go up again if it has too little of the page (widen).
6. Drop its links to other pages (link_rules): lists of links and sections on related pages; then
   boxes next to the core, which the remaining text determines; then short promotions.
7. Drop the title, dates and headings at the ends of an article, and copies. Copies come last,
   because two boxes may become equal only after other parts are dropped.
8. Find leads between the title and the content, including elements dropped as "related".
9. Append the notes that the content refers to but does not contain (notes.py).

A rule only gives a reason (Node.dropped). beside.py decides about all elements by their reasons:
text, beside the text, furniture of the site or unseen.
"""

from __future__ import annotations

import re
from itertools import repeat

from websearch.base.html_tree import BLOCKS, Node, children_of, name_set, text_beginning
from websearch.pages.extract.element_names import names_of, words_of
from websearch.pages.extract.link_rules import (
    TEXT_SIGNS,
    drop_link_lists,
    drop_promotions,
    drop_related,
)
from websearch.pages.extract.name_rules import (
    IGNORED_RULES,
    LARGEST,
    MOST_CHARS,
    MOST_PROSE,
    MOST_PROSE_DEFAULT,
    NAME_RULES,
    SURE_RULES,
    ancestors_near,
    element_rule,
    is_about_privacy,
    preference_boxes,
)
from websearch.pages.extract.notes import gather_notes
from websearch.pages.extract.page_data import VALUE, join_rows
from websearch.pages.extract.page_tree import (
    CODE,
    MIN_ARTICLE_PROSE,
    TEXT_BLOCKS,
    PageTree,
    ancestors,
    collect_text,
    look_of,
    text_of,
)
from websearch.pages.extract.structure_rules import (
    MIN_CORE,
    drop_around_core,
    drop_copies,
    drop_ends,
    drop_repeated,
    find_core,
    is_unnamed,
    label_panels,
)
from websearch.pages.extract.unfolding import find_unfolded

LEAD_NAMES = name_set(
    "lead lede standfirst subtitle subheadline perex teaser intro introduction dek abstract "
    "summary description subhead subheading deck excerpt chapeau vorspann"
)
TOO_LITTLE = 0.25  # share of the page's text; if less is left, fewer rules apply
MIN_TEXT = 200  # minimum characters in a page for which empty content is a mistake
ENOUGH_PROSE = 500  # characters of running text that let an article skip step 4
STEP_DOWN = 0.85  # share of its parent's prose that a child needs to be chosen instead
NAMED_SHARE = 0.4  # share of the prose that the element named as the text needs
INNER_SHARE = 0.6  # the same inside an article element
TWIN_SHARE = 0.3  # prose in twins, relative to its own, that makes a named element only a part
AROUND_SHARE = 0.3  # share of the prose that exempts a core's surroundings from name rules
FORUM_SHARE = 0.5  # share of the prose that makes comments the content
# Complete classes or ids that blog software uses for readers' comments: WordPress, Movable Type,
# Blogger, Drupal. The class "comments" on its own is also used in discussions.
_READERS_COMMENTS = (
    r"(?i)(?:^|\s)(?:comment-?list|comments?-area|comments-list|comment-respond|respond|commentform"
    r"|comments-content|comments-block|thread-(?:even|odd)|comment-wrapper)(?:\s|$)|\scomments$"
)
TAG_WORDS = name_set("tag tags taglist category categories")  # say little about a post
MIN_BYLINES = 3  # bylines that look alike and name the authors and dates of posts or cards
MIN_POST = 150  # characters of prose in a post that has comments
LONG_POST = 1_000  # the same if no name marks readers' comments; each comment is shorter
# Complete classes or ids of the element with the page's text: "entry-content", "td-post-content".
_TEXT_NAME = (
    r"(?i)(?:^|\s|__)(?:(?:td-)?(?:article|entry|post|story|news|blog|text|page|content|single|main"
    r"|node|recipe)[-_]?(?:single)?[-_]?(?:body|content|text|copy|fulltext|entry)|body-?(?:copy|text))"
    r"(?:\s|$)"
)
LISTS = name_set("ul ol dl")
MIN_PART_TEXT = 60  # characters outside links in a part of documentation
MAX_TITLE = 300  # characters of a title
MIN_LEAD = 40  # characters of a lead
MIN_UNNAMED_LEAD = 120  # characters of a lead without a typical name; subheadings are shorter
_SENTENCE_END = r"[.!?\u2026\u3002][\"\u201d\u00bb\u2019)]?$"
MAX_LEADS = 2  # paragraphs in a lead
MAIN_SHARE = 0.3  # share of the page's text that a main element needs to be trusted
CONTENT_SHARE = 0.65  # share of the main element's text that the content needs


def comments_are_content(page: PageTree) -> bool:
    """Return whether most of the prose is in comments and the page is not an article.

    In forums, question pages and discussions, the comments are the content. Comments that a blog
    names as readers' comments are not, regardless of their length.
    """
    inside = page.comments
    prose = 0
    are_readers = False
    for node in page.nodes[1:]:  # not the root: its class may report that the page has comments
        if node.parent in inside:
            inside.add(node)
        elif not node.dropped and not words_of(node).isdisjoint(NAME_RULES["comments"]):
            inside.add(node)
            prose += node.prose
            is_blog = bool(node.prose and re.search(_READERS_COMMENTS, names_of(node)))
            are_readers = are_readers or is_blog
    if page.is_thread:
        return True
    if are_readers and not page.is_question and page.root.prose - prose >= MIN_POST:
        page.has_readers_comments = True
        if not page.says_documentation:  # a post about code
            page.is_documentation, page.is_article = False, page.says_article
        return False
    core = find_core(page, inside)[1]
    if page.is_article and core >= MIN_CORE:
        return False
    if not page.is_question and core >= LONG_POST and core > longest_text(inside):
        page.has_readers_comments = True
        return False
    return prose > FORUM_SHARE * page.root.prose


def longest_text(nodes: set[Node]) -> int:
    """Return the maximum number of characters of prose in the paragraphs of a single element."""
    prose: dict[Node, int] = {}
    for node in nodes:
        if node.parent and node.own >= MIN_ARTICLE_PROSE and node.tag in BLOCKS:
            prose[node.parent] = prose.get(node.parent, 0) + node.own - node.own_link
    return max(prose.values(), default=0)


def around_article(page: PageTree) -> set[Node]:
    """Return the elements around an article's core; their names do not make them boilerplate.

    Their class names describe the layout and the boxes next to the text: "l-sidebar-right".
    """
    core, prose = find_core(page, page.comments)
    is_article = page.is_article and prose >= max(MIN_CORE, AROUND_SHARE * page.root.prose)
    return set(ancestors(core)) if is_article else set()


def repeated_bylines(page: PageTree) -> set[Node]:
    """Return the bylines of posts, reviews and cards: those whose look repeats.

    In articles, only live blogs have posts. Tags count if one of the tags with the same look
    contains a value, such as a salary.
    """
    if (page.is_article and not page.is_live) or page.is_documentation:
        return set()
    looks: dict[str, list[Node]] = {}
    for node in page.nodes:
        if not words_of(node).isdisjoint(NAME_RULES["byline"]):
            looks.setdefault(look_of(node), []).append(node)
    return {
        node
        for alike in looks.values()
        if len(alike) >= MIN_BYLINES and any(map(says_much, alike))
        for node in alike
    }


def says_much(byline: Node) -> bool:
    """Return whether a byline is more than tags or contains a value."""
    is_byline = not words_of(byline).isdisjoint(NAME_RULES["byline"] - TAG_WORDS)
    return is_byline or VALUE.search(text_beginning(byline, MAX_TITLE)) is not None


def drop_boilerplate(page: PageTree) -> None:
    """Drop the elements that match a rule, if the match is plausible."""
    if not (page.is_documentation or page.is_thread or page.is_question):
        drop_repeated(page)
    around = around_article(page)
    preferences = preference_boxes(page)
    ignored = IGNORED_RULES[page.leniency]
    if page.leniency == len(IGNORED_RULES) - 1 and is_about_privacy(page):
        ignored |= {"consent"}
    code: set[Node] = set()
    bylines = repeated_bylines(page)
    for node in page.nodes[1:]:
        if node.tag in CODE or node.parent in code:
            code.add(node)
        if node.parent and node.parent.dropped:
            node.dropped = node.parent.dropped
        if node.dropped:
            continue
        rule = "consent" if node in preferences else element_rule(node, page)
        if rule in NAME_RULES and (node in around or (node in code and rule != "gutter")):
            continue  # in code, names describe kinds of tokens: "comment", "tag"
        if rule == "byline" and node in bylines:
            continue
        is_sure = rule == "comments" and page.has_readers_comments
        if not rule or (rule in ignored and not is_sure):
            continue
        if is_plausible(node, rule, page):
            node.dropped = rule
            page.text_chars -= node.chars if is_sure and not page.leniency else 0
    page.measure()


def is_plausible(node: Node, rule: str, page: PageTree) -> bool:
    """Return whether the size and links of an element fit the rule that it matches."""
    if rule in SURE_RULES:
        return True
    is_long = not page.is_article and node.chars > LARGEST.get(rule, node.chars)
    has_price = rule in LARGEST and "price" in words_of(node) and VALUE.search(text_of(node))
    if is_long or has_price:  # a promotional price, a price tag
        return False
    if page.is_documentation and rule == "sidebar" and node.prose and node.link * 2 < node.chars:
        return False  # a note
    if page.is_article and rule == "related" and node.prose and not node.link:
        return False  # the lead: German newspapers call it "teaser"
    if rule == "byline" and not page.is_article and has_facts(node, page):
        return False
    share = MOST_PROSE.get(rule, MOST_PROSE_DEFAULT)
    is_small = node.chars <= MOST_CHARS * (page.root.chars or 1)
    return is_small and node.prose <= share * (page.root.prose + 1)


def has_facts(byline: Node, page: PageTree) -> bool:
    """Return whether a byline has a table, or is text of documentation under the name of tags.

    Tags are links, and not all the text of a list item.
    """
    inside = [byline, *children_of(byline)]
    if any(child.tag == "table" for box in inside for child in children_of(box)):
        return True
    if not (
        page.is_documentation and words_of(byline).isdisjoint(NAME_RULES["byline"] - TAG_WORDS)
    ):
        return False
    is_item = byline.tag == "div" and any(
        around.tag == "li" and around.chars == byline.chars for around in ancestors_near(byline)
    )
    return is_item or byline.link * 2 < byline.chars


def keep_more(page: PageTree, leniency: int) -> None:
    """Apply fewer rules to the whole page again (IGNORED_RULES).

    leniency: 1 omits the rules based only on names, 2 also the rules on hidden text, 3 all except
    the rule on elements that never contain content. Some pages use boilerplate names for content (a
    shop's "promo" grid), and some show their text by script.
    """
    for node in page.nodes:
        node.dropped = ""
    page.leniency = leniency
    page.drop_unseen()
    page.measure()
    drop_boilerplate(page)


def is_named_text(node: Node) -> bool:
    """Return whether an element's name marks it as the text of the page."""
    if node.tag == "article" or node.attributes.get("itemprop", "").lower() == "articlebody":
        return True
    return bool(re.search(_TEXT_NAME, names_of(node)))


def named_text(page: PageTree) -> Node:
    """Return the element whose name marks it as the text of the page, or the root.

    It must contain a good share of the prose and, on a page that is not an article, of all text. An
    element with a twin (same tag and class) is only a part of the text.
    """
    if page.keeps_comments:
        return page.root
    named: list[Node] = []
    prose: dict[str, int] = {}  # tag and class -> prose of all such elements
    inside = {page.root}
    min_chars = 0 if page.is_article else NAMED_SHARE * page.root.chars
    for node in page.nodes:
        if node.parent not in inside or node.dropped:
            continue
        inside.add(node)
        if node.prose and node.chars >= min_chars and is_named_text(node):
            named.append(node)
            prose[look_of(node)] = prose.get(look_of(node), 0) + node.prose
    found = page.root
    for node in named:
        share = INNER_SHARE if found.tag == "article" else STEP_DOWN
        share = NAMED_SHARE if found is page.root else share
        if node.prose < share * found.prose or found not in ancestors(node):
            continue
        if prose[look_of(node)] <= (1 + TWIN_SHARE) * node.prose:
            found = node
    return found


def choose_content(page: PageTree) -> Node:
    """Return the element with the content: go down while one child has nearly all the prose."""
    node = named_text(page)
    with_text = elements_with_text(page) if page.is_documentation else set()
    while True:
        below = [child for child in node.children if isinstance(child, Node) and not child.dropped]
        best = max(below, key=lambda child: child.prose, default=None)
        if (
            best is None
            or not best.prose
            or best.prose < STEP_DOWN * node.prose
            or best.tag in TEXT_BLOCKS
            or is_opened(best, below)
            or is_next_to_post(best, below, page)
            or any(is_part(child) for child in below if child in with_text and child is not best)
            or any(map(is_description, with_text.intersection(below[: below.index(best)])))
            or (page.is_plain and any(map(is_unnamed_text, below, repeat(best))))
        ):
            return node
        node = best


def is_opened(best: Node, siblings: list[Node]) -> bool:
    """Return whether an element is a list next to other parts of the text, so both belong to it."""
    beside = (node for node in siblings if node is not best and node.chars)
    return best.tag in LISTS and any(map(is_part, beside))


def is_part(node: Node) -> bool:
    """Return whether an element with text is a part of documentation, not a box next to it."""
    return node.tag in TEXT_SIGNS or node.chars - node.link >= MIN_PART_TEXT


def is_description(node: Node) -> bool:
    """Return whether an element before a part of documentation is a short sentence about it."""
    return node.link * 2 < node.chars and re.search(_SENTENCE_END, text_of(node)) is not None


def is_next_to_post(best: Node, below: list[Node], page: PageTree) -> bool:
    """Return whether an element has the comments or answers, and their post is next to it."""
    if page.keeps_comments and best in page.comments:
        return True
    return page.is_question and any(child.prose for child in below if child is not best)


def is_unnamed_text(node: Node, beside: Node) -> bool:
    """Return whether an element other than beside has text and no name that describes layout."""
    is_text = node.link * 2 < node.chars and node.chars - node.link >= MIN_PART_TEXT
    return node is not beside and is_text and is_unnamed(node)


def elements_with_text(page: PageTree) -> set[Node]:
    """Return the elements of documentation that have a heading, code or text outside links.

    In code, such as a declaration, every name may be a link.
    """
    found: set[Node] = set()
    for node in reversed(page.nodes):
        is_links = node.link * 2 > node.chars and node.tag != "pre"
        if node.dropped or is_links:
            continue
        if node in found or (node.chars and (node.tag in TEXT_SIGNS or node.prose)):
            found.add(node)
            if node.parent:
                found.add(node.parent)
    return found


def drop_title(page: PageTree) -> None:
    """Drop the first main heading, because the output has a separate title field.

    Keep it if the page has several main headings and the first is not the page's title.
    """
    headings = [node for node in page.nodes if node.tag == "h1" and not node.dropped]
    if not headings:
        return
    if len(headings) > 1:
        titles = (node for node in page.nodes if node.tag == "title")
        title = next((text_beginning(node, MAX_TITLE) for node in titles), "")
        if text_of(headings[0]) not in title:
            return
    headings[0].dropped = "title"
    page.spread()


def find_lead(page: PageTree, content: Node) -> list[Node]:
    """Return the lead: paragraphs between the main heading and the content."""
    path = set(ancestors(content))
    leads: list[Node] = []
    after_heading = False
    for node in page.nodes:
        if node is content or len(leads) == MAX_LEADS:
            break
        after_heading = after_heading or node.tag == "h1"
        if not after_heading or node in path or node.tag not in BLOCKS:
            continue
        if node.dropped not in ("", "related") or node.own != node.chars:
            continue
        if node.own < MIN_LEAD or node.own_link > 0.3 * node.own:
            continue
        if is_named_lead(node, path) or (page.is_article and is_unnamed_lead(node)):
            node.dropped = ""
            leads.append(node)
    return leads


def is_named_lead(node: Node, path: set[Node]) -> bool:
    """Return whether the name of a paragraph, its parent or its grandparent marks a lead."""
    near = [node, node.parent, node.parent.parent if node.parent else None]
    return any(box and box not in path and words_of(box) & LEAD_NAMES for box in near)


def is_unnamed_lead(node: Node) -> bool:
    """Return whether an element is long enough, ends with a sentence and was not dropped."""
    if node.dropped or node.own < MIN_UNNAMED_LEAD:
        return False
    return bool(re.search(_SENTENCE_END, text_of(node)))


class Content:
    """The content of a page: its lead paragraphs, the element with its text and its notes."""

    def __init__(
        self, page: PageTree, node: Node, leads: list[Node], notes: list[Node] | None = None
    ) -> None:
        self.page = page
        self.node = node
        self.leads = leads
        self.notes = notes or []
        self.parts = [*leads, node, *self.notes]


def widen(page: PageTree, content: Node) -> Node:
    """Return the main element or the whole page if the content contains too little of its text.

    Collections and landing pages have short texts throughout and prose only in one part.
    """
    whole = page.root
    for node in page.nodes:
        is_main = node.tag == "main" or node.attributes.get("role") == "main"
        if is_main and not node.dropped and node.chars > MAIN_SHARE * page.root.chars:
            whole = node
            break
    enough = CONTENT_SHARE * (whole.chars - whole.link)
    return whole if content.chars - content.link < enough else content


def find_content(html: str) -> Content:
    """Return the content of an HTML page; never fails."""
    page = PageTree(html)
    page.keeps_comments = comments_are_content(page)
    page.unfolded = find_unfolded(page.nodes)
    label_panels(page)
    drop_boilerplate(page)
    for leniency in (1, 2):
        is_text = page.is_article and page.root.prose > ENOUGH_PROSE
        if is_text or page.root.chars >= TOO_LITTLE * page.text_chars:
            break
        keep_more(page, leniency)
    if not page.root.chars and page.text_chars >= MIN_TEXT:
        keep_more(page, 3)
        if page.root.chars < TOO_LITTLE * page.text_chars:  # a label such as "Skip navigation"
            keep_more(page, 2)
    content = choose_content(page)
    if not page.is_article:
        content = widen(page, content)
    drop_link_lists(page, content)
    drop_related(page, content)
    page.measure()
    drop_around_core(page, content)
    drop_promotions(page)
    drop_title(page)
    if page.is_article:
        drop_ends(page, content)
    drop_copies(page, content)
    if page.root.chars >= MIN_TEXT and not text_of(content):  # an index: links below a title
        content = page.root
    leads = find_lead(page, content)
    if not page.is_documentation:
        join_rows(page)
    notes = gather_notes(page, content)
    return Content(page, content, leads, notes)


def extract(html: str, url: str = "") -> str:
    """Return the content of an HTML page as plain text, one line per paragraph or heading."""
    found = find_content(html)
    parts: list[str] = []
    for node in found.parts:
        collect_text(node, parts)
        parts.append("\n")
    lines = (" ".join(line.split()) for line in "".join(parts).split("\n"))
    return "\n".join(line for line in lines if line)
