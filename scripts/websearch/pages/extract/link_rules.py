"""Drop links to other pages from the content: lists, sections about related pages, promotions."""

from __future__ import annotations

import itertools
import re

from websearch.base.html_tree import CELLS, HEADINGS, Node, elements_below, name_set
from websearch.pages.extract.element_names import words_of
from websearch.pages.extract.name_rules import MOST_CHARS, has_code, own_heading
from websearch.pages.extract.page_data import VALUE
from websearch.pages.extract.page_tree import PageTree, ancestors, look_of, places, text_of

# Beginnings of texts above or in links to other pages, in the most common languages of web pages.
# TOPICS may also begin a section of the text: "Latest version", "More about ropes".
LINK_TEXTS = {
    "topics": r"""related|recommended|latest|popular|trending|similar|other\ (?:stories|articles)
        |more\ (?:from|in|on|like|stories|articles|news|about)|further\ reading|weitere\ |ähnliche
        |mehr\ (?:zum|themen|aus|zu|von|artikel)|verwandte|passend|weiterführend|altri\ articoli
        |más\ (?:noticias|información|sobre|leíd)|meer\ (?:over|nieuws|van)|inne\ |другие\ """,
    "onward": r"""read\ (?:more|also|next)|see\ also|also\ (?:read|see)|subscribe|sign\ up
        |advertisement|share\ this|weiterlesen|anzeige|à\ lire|lire\ aussi|leggi\ anche
        |lea\ también|veja\ também|lees\ (?:ook|meer|verder)|czytaj|zobacz\ (?:także|też|również)
        |читайте|läs\ (?:också|mer|även)|læs\ også|les\ også""",
    "heading": r"""you\ (?:may|might)|also\ (?:in|on)\b|(?:\d+\ |no\ )?comments\b
        |(?:\d+\ |no\ )?comment\W*$|leave\ a\ (?:comment|reply)|most\ (?:read|popular|viewed)
        |about\ the\ author|newsletter|up\ next|what\ to\ read\ next|don.t\ miss|editor.s\ picks
        |tags?\b|tagged|follow\ us|join\ the|post\ navigation|lesen\ sie\ (?:auch|mehr|weiter|hier)
        |das\ könnte|auch\ interessant|(?:keine\ )?kommentare\b|kommentar\W*$|schreib|schlagw
        |meistgelesen|zum\ thema|teilen|über\ den\ autor|themen\b|markiert|à\ lire\ aussi
        |sur\ le\ même|articles?\ (?:liés|similaires|associés|récents)|voir\ aussi|commentaires?
        |partager|dans\ la\ même|les\ plus\ lus|plus\ d.articles|(?:te|le|les)?\ ?puede\ interesar
        |relacionad|noticias\ rel|comentarios?|compart|temas\b|etiquetas|lo\ más|ver\ también
        |también\ te|articoli\ (?:correlati|simili|recenti)|potrebbe\ interessarti|commenti
        |condividi|vedi\ anche|leia\ (?:também|mais)|veja\ mais|comentários|mais\ lidas|saiba\ mais
        |gerelateerd|reacties|deel\ dit|przeczytaj|komentarze|powiązane|polecamy|udostępnij|więcej
        |похожие|комментари|поделиться|смотрите\ также|по\ теме|популярн|теги|relaterade
        |kommentarer|čtěte|související|komentáře|diskuse|další\ články|関連|あわせて|おすすめ
        |コメント|相关|推荐|评论|分享|관련|댓글|ilgili|benzer|yorum""",
    # Short paragraphs that promote something or credit a picture.
    "promotion": r"""related|more:|follow\ (?:us|me|him|her)|click\ here|continue\ reading|watch:
        |listen:|download:|photo:|image:|photograph\ by|source:|tags?:|posted\ in|filed\ under
        |reach\ the\ reporters?|have\ a\ tip|contact\ the|write\ to|lesen\ sie|mehr:|foto:|bild:
        |weitere\ (?:beiträge|artikel|infos)|mehr\ (?:zum|themen|dazu|infos)|quelle:
        |keine\ kommentare|[lt]e\ puede\ interesar|leia\ |zobacz""",
}
_TOPIC = rf"(?ix)\W*(?:{LINK_TEXTS['topics']})"
_RELATED_HEADING = rf"{_TOPIC[:-1]}|{LINK_TEXTS['onward']}|{LINK_TEXTS['heading']})"
_PROMOTION = rf"(?ix)\W*(?:{LINK_TEXTS['onward']}|{LINK_TEXTS['promotion']})"
MAX_RELATED_HEADING = 60  # characters of a heading
MAX_IN_BOX = 20  # maximum characters outside the heading in a box that contains only the heading
MAX_SECTION = 60  # elements and texts to examine after a heading
MIN_SECTION = 300  # characters that make a section part of the content
MAX_PROMOTION = 150  # characters of a promotion
LINK_LIST_SHARE = 0.8  # share of text in links that makes a block a list of links
LINK_LIST_TAGS = name_set("ul ol div section table p center")
LISTS = name_set("ul ol")
MIN_MENU = 3  # links in a menu
MAX_CARD = 300  # characters of a card with a value next to its title
MIN_SENTENCE = 50  # characters of a linked sentence that is not a teaser
MAX_CHILDREN = 20  # cells and texts in a table row that lays out columns
# Words in documentation's links to the previous, next and parent pages.
_NEIGHBOR = r"(?i)\b(?:prev|previous|next|up|home|top|contents|index)\b"
_NEIGHBOR_LINK = (
    r"(?i)[\W_]*(?:prev|previous|next|up|home|top|contents|index)(?: page| chapter)?[\W_]*"
)
NEIGHBOR_KEYS = ("p", "n", "u", "h")
MAX_NEIGHBORS = 300  # characters of a box with such links
MIN_DATA_ROWS = 3
MOST_CELL_LINKS = 1.5  # links per cell of a data table, on average
TOC_WORDS = name_set("toc contents localtoc")  # class or id words of the page's table of contents
MAX_TOC_TITLE = 40  # characters of a table of contents outside links and headings
TEXT_SIGNS = name_set("p pre dl table blockquote h1 h2 h3 h4 h5 h6")
PROMOTION_TAGS = name_set("p div h4 h5 h6")


def drop_link_lists(page: PageTree, content: Node) -> None:
    """Drop blocks that consist almost only of links, unless the whole content is such a list."""
    if content.link >= 0.4 * content.chars and not page.is_documentation:
        return
    inside: set[Node] = set()
    lists: list[Node] = []
    for node in page.nodes:
        if node.parent not in inside and node.parent is not content:
            continue
        inside.add(node)
        is_list = node.tag in LINK_LIST_TAGS or (node.tag == "td" and is_link_column(node))
        if node.dropped or not is_list or node.chars < 20:
            continue
        is_menu = page.is_plain and is_menu_line(node)
        is_in_cell = node.parent is not None and node.parent.tag in CELLS
        if is_sentence(node) or (is_in_cell and len(links_in(node)) == 1):
            continue
        if node.tag == "p" and not (page.is_article or is_menu):
            continue
        if node.chars > MOST_CHARS * content.chars:
            continue
        if is_menu or node.link >= LINK_LIST_SHARE * node.chars:
            if not page.is_article and is_card_title(node, page):
                inside.remove(node)
            else:
                lists.append(node)
        elif page.is_documentation and links_to_neighbors(node):
            node.dropped = "previous and next"
    lists = lists_beside_text(page, content, lists)
    data = with_data_tables(page) if lists else set()
    for node in lists:
        node.dropped = "" if node in data else "links"
    page.spread()


def lists_beside_text(page: PageTree, content: Node, lists: list[Node]) -> list[Node]:
    """Return the lists of links that are not part of the text."""
    if page.is_documentation:
        return contents_boxes(page, content, lists_around_text(page, content, lists))
    sections = own_sections(page, lists) if lists else set()
    bylines = with_authors(page) if page.is_thread or page.is_question else set()
    return [node for node in lists if node not in bylines and sections.isdisjoint(ancestors(node))]


def own_sections(page: PageTree, lists: list[Node]) -> set[Node]:
    """Return the lists of links that are sections of the text, with or without their headings.

    A later section with the same kind of heading has running text, and the heading is not for
    related links. A box is a section if it begins with a heading and has the same tag and class. In
    an article, boxes contain links to other articles.
    """
    listed = set(lists)
    found: set[Node] = set()
    for parent in dict.fromkeys(node.parent for node in lists):
        kinds: set[str] = set()  # kinds of the later headings before running text
        after: Node | None = None  # the list that follows
        has_text = False
        for child in reversed(parent.children if parent else []):
            if isinstance(child, str) or child.dropped:
                continue
            has_text = has_text or (child.prose > 0 and child.link * 2 < child.chars)
            heading = own_heading(child)
            if heading and heading.tag in HEADINGS and not heading.link:
                is_alone = heading_of_box(child) is heading
                kind = heading.tag if is_alone else f"{heading.tag} {look_of(child)}"
                is_box = child in listed and not page.is_article
                section = after if is_alone else child if is_box else None
                is_related = re.match(_RELATED_HEADING, text_of(heading))
                if section and kind in kinds and not is_related:
                    found.add(section)
                if has_text:
                    kinds.add(kind)
            is_list = child.tag in LISTS or not page.is_article
            after = child if child in listed and is_list else None
    return found


def is_sentence(node: Node) -> bool:
    """Return whether a linked paragraph, or the box around it, is a sentence in the text."""
    inside = [child for child in node.children if isinstance(child, Node)]
    paragraph = inside[0] if node.tag == "div" and len(inside) == 1 and not node.own else node
    if paragraph.tag != "p" or paragraph.chars < MIN_SENTENCE:
        return False
    text = text_of(paragraph)
    return re.search(r"[.!?。][\"'”\u2019»)]*$", text) is not None and not re.match(
        _PROMOTION, text
    )


def is_card_title(node: Node, page: PageTree) -> bool:
    """Return whether a box of links is the title of the text next to it, or a post's author.

    A title has a heading, or it names the product or event whose price or date is next to it.
    """
    card = node.parent
    if not card or card.chars - card.link <= node.chars - node.link:
        return False
    inside = itertools.chain((node,), elements_below(node))
    is_title = any(inner.tag in HEADINGS and inner.link for inner in inside)
    if card.chars <= MAX_CARD and not is_title:
        is_title = VALUE.search(text_of(card).replace(text_of(node), "")) is not None
    targets = {link.attributes.get("href") for link in links_in(node)}
    return len(targets) == 1 and (is_title or page.is_thread or page.is_question)


def with_authors(page: PageTree) -> set[Node]:
    """Return the boxes that mark the author of a post; their other links are judged one by one."""
    marked = (node for node in page.nodes if node.attributes.get("itemprop") == "author")
    return {box for node in marked for box in ancestors(node)}


def is_link_column(cell: Node) -> bool:
    """Return whether a table cell is a column of links next to a column of running text."""
    row = cell.parent
    if not row or len(row.children) > MAX_CHILDREN or cell.link < LINK_LIST_SHARE * cell.chars:
        return False
    others = [child for child in row.children if isinstance(child, Node) and child is not cell]
    enough = max(MIN_SECTION, cell.chars)
    is_column = any(other.tag == "td" and other.prose > enough for other in others)
    return is_column and len(links_in(cell)) >= MIN_MENU


def is_menu_line(node: Node) -> bool:
    """Return whether an element contains only links and punctuation: "Home | News | Links"."""
    if node.link * 2 < node.chars or node.chars > MAX_NEIGHBORS:
        return False
    links = links_in(node)
    letters = sum(len(re.findall(r"\w", text_of(link))) for link in links)
    return len(links) >= MIN_MENU and letters == len(re.findall(r"\w", text_of(node)))


def with_data_tables(page: PageTree) -> set[Node]:
    """Return the data tables with a link or two per cell, and all elements around them.

    Data tables have header cells and rows; link tables have many links per cell.
    """
    inner: dict[Node, Node] = {}  # element -> the innermost table around it
    counts: dict[Node, dict[str, int]] = {}  # table -> tag -> number of elements with it
    for node in page.nodes:
        if node.tag == "table":
            inner[node] = node
            counts[node] = dict.fromkeys(("tr", "td", "th", "a"), 0)
        elif node.parent in inner:
            table = inner[node] = inner[node.parent]
            if node.tag in counts[table]:
                counts[table][node.tag] += 1
    found: set[Node] = set()
    for table, count in counts.items():
        cells = count["td"] + count["th"]
        is_grid = count["tr"] >= MIN_DATA_ROWS and cells >= 2 * count["tr"]
        if count["th"] and is_grid and count["a"] <= MOST_CELL_LINKS * cells:
            found.update(ancestors(table))
    return found


def lists_around_text(page: PageTree, content: Node, lists: list[Node]) -> list[Node]:
    """Return the lists around the text of documentation, but not indexes of links inside it.

    Such a list links to the previous and next pages, is named as a table of contents or comes
    before the first text or heading. If no element is known to contain the text, a list after the
    last text also counts.
    """
    listed = set(lists)
    inside: set[Node] = set()
    places: list[int] = []  # indexes of text elements
    order: dict[Node, int] = {}
    for number, node in enumerate(page.nodes):
        if node.dropped or node.parent in inside or node in listed:
            order[node] = number
            inside.add(node)
        elif node.chars and node.tag in TEXT_SIGNS:
            places.append(number)
    first, last = (places[0], places[-1]) if places else (0, 0)
    ends_in_heading = page.nodes[last].tag in HEADINGS
    return [
        node
        for node in lists
        if links_to_neighbors(node)
        or is_contents(node)
        or order[node] < first
        or (content is page.root and order[node] > last and not (ends_in_heading or is_toc(node)))
    ]


def is_toc(node: Node) -> bool:
    """Return whether a list or its box is named as a table of contents."""
    boxes = (node, node.parent) if node.parent else (node,)
    return any(not words_of(box).isdisjoint(TOC_WORDS) for box in boxes)


def is_contents(node: Node) -> bool:
    """Return whether a list or its box is named as contents and all its links go to one page.

    A list of several pages is the text of an index page.
    """
    addresses = (link.attributes.get("href", "") for link in links_in(node))
    return is_toc(node) and len({address.partition("#")[0] for address in addresses}) < 2


def contents_boxes(page: PageTree, content: Node, lists: list[Node]) -> list[Node]:
    """Replace each link list with the largest box around it that has only lists and headings."""
    unlinked: dict[Node, int] = {}  # element -> characters outside links in its headings
    for node in page.nodes:
        if node.parent and node.tag in HEADINGS and not node.dropped:
            unlinked[node.parent] = unlinked.get(node.parent, 0) + node.chars - node.link
    boxes: list[Node] = []
    for contents in lists:
        box, around = contents, contents.parent
        while around and around is not content and around.tag in LINK_LIST_TAGS:
            is_small = around.chars <= MOST_CHARS * content.chars
            shown = around.link + unlinked.get(around, 0)
            if "toc" in words_of(around) and around.chars - shown <= MAX_TOC_TITLE:
                shown = around.chars
            if not is_small or shown < LINK_LIST_SHARE * around.chars:
                break
            box, around = around, around.parent
        boxes.append(box)
    return boxes


def links_in(node: Node) -> list[Node]:
    """Return the links inside an element that are not dropped."""
    found: list[Node] = []
    waiting = [node]
    while waiting:
        inner = waiting.pop()
        if inner.tag == "a":
            found.append(inner)
        below = (child for child in inner.children if isinstance(child, Node))
        waiting += [child for child in below if not child.dropped]
    return found


def links_to_neighbors(node: Node) -> bool:
    """Return whether a box is little more than links to the previous, next and parent pages."""
    if node.chars > MAX_NEIGHBORS:
        return False
    neighbors = [link for link in links_in(node) if is_neighbor(link)]
    if len(neighbors) > 1:
        return True
    if node.link * 2 < node.chars:
        return False
    words = re.findall(_NEIGHBOR, text_of(node))
    return len({word.lower() for word in words}) > 1


def drop_related(page: PageTree, content: Node) -> None:
    """Drop headings above related links with their sections, up to a heading of no lower level.

    If a box contains only the heading, the section runs from it to the next such box. A paragraph
    without links, or a block with much of the content, ends the section and is kept.
    """
    if page.is_documentation:
        return  # in documentation, "See also", "Tags" and "Comments" are sections of the text
    place: dict[Node, int] = {}
    for node in page.nodes:
        if node.parent and node.parent.dropped:
            node.dropped = node.parent.dropped
        if node.dropped or node.tag not in HEADINGS or node.chars > MAX_RELATED_HEADING:
            continue
        if not re.match(_RELATED_HEADING, text_of(node)):
            continue
        box, parent = node, node.parent
        while parent and parent.parent and parent.chars - node.chars < MAX_IN_BOX:
            box, parent = parent, parent.parent
        place = place or places(page.nodes)
        siblings = parent.children[place[box] + 1 :] if parent else []
        section = related_section(node, box, siblings, content)
        is_topic = re.match(_TOPIC, text_of(node)) and begins_with_text(siblings)
        if not is_topic and (page.is_article or is_off_topic(section)):
            for element in [node, *section]:
                element.dropped = element.dropped or "related heading"


def begins_with_text(siblings: list[Node | str]) -> bool:
    """Return whether the first block after a heading is text, not a card or list of links."""
    blocks = (child for child in siblings[:MAX_SECTION] if isinstance(child, Node) and child.chars)
    first = next(blocks, None)
    is_block = first is not None and first.tag in (TEXT_SIGNS | LISTS) - HEADINGS
    return bool(first and is_block and first.link * 2 < first.chars)


def is_off_topic(section: list[Node]) -> bool:
    """Return whether a section has many links or hardly any text, for pages that are not articles.

    Such pages may have real sections about comments, tags or popular items, often with code.
    """
    chars = sum(node.chars for node in section)
    has_data = any(node.tag in ("pre", "table", "dl") for node in section)
    is_short = chars < MIN_SECTION and not has_data
    return is_short or sum(node.link for node in section) >= 0.3 * chars


def related_section(
    heading: Node, box: Node, siblings: list[Node | str], content: Node
) -> list[Node]:
    """Return the siblings that form the section below a heading above related links.

    box: the heading, or the box that contains only the heading; siblings: the nodes after the box
    """
    section: list[Node] = []
    for sibling in siblings[:MAX_SECTION]:
        if isinstance(sibling, str):
            continue
        next_heading = heading_of_box(sibling) if look_of(sibling) == look_of(box) else sibling
        if next_heading.tag in HEADINGS and next_heading.tag <= heading.tag:
            break
        is_paragraph = sibling.tag == "p" and sibling.own >= 80 and not sibling.own_link
        if is_paragraph or sibling.prose > 0.3 * content.prose:
            break
        section.append(sibling)
    return section


def heading_of_box(box: Node) -> Node:
    """Return the heading of a box that contains only a heading, else the box itself."""
    heading = own_heading(box)
    return heading if heading and box.chars - heading.chars < MAX_IN_BOX else box


def drop_promotions(page: PageTree) -> None:
    """Drop short paragraphs that link to other pages: "Read more: ...", "Follow us ..."."""
    if page.is_documentation or page.is_plain:
        return
    for node in page.nodes:
        if node.dropped or node.tag not in PROMOTION_TAGS or node.own != node.chars:
            continue
        if 0 < node.own < MAX_PROMOTION and re.match(_PROMOTION, text_of(node)):
            node.dropped = "promotion"
    page.spread()


def is_neighbor(link: Node) -> bool:
    """Return whether a link points to the previous, next or parent page.

    Its text, its image's text, its rel attribute or its accesskey (DocBook) decides.
    """
    if link.attributes.get("rel") in ("prev", "next", "up"):
        return True
    if link.attributes.get("accesskey") in NEIGHBOR_KEYS:
        return True
    if has_code(link):
        return False
    return bool(re.fullmatch(_NEIGHBOR_LINK, text_of(link) or image_text(link)))


def image_text(link: Node) -> str:
    """Return the text of the image that is the only content of a link, or ""."""
    inside = [child for child in link.children if isinstance(child, Node)]
    is_image = not link.chars and len(inside) == 1 and inside[0].tag == "img"
    return " ".join(inside[0].attributes.get("alt", "").split()) if is_image else ""
