"""Links to other pages inside the content: lists, sections on related pages, promotions."""

from __future__ import annotations

import re

from websearch.html_tree import HEADINGS, Node, name_set
from websearch.pages.name_rules import MOST_CHARS, words_of
from websearch.pages.page_tree import Page, text_of

# A heading that begins so stands over links to other pages, comments or forms, in the languages
# of most pages.
_RELATED_HEADING = r"""(?ix)^\W*(?:
related|more\ (?:from|in|on|like|stories|articles|news|about)|you\ (?:may|might)\ (?:also\ )?
|read\ (?:more|next|also)|recommended|also\ (?:read|see|in|on)\b|see\ also
|(?:\d+\ |no\ )?comments\b|(?:\d+\ |no\ )?comment\W*$
|leave\ a\ (?:comment|reply)|latest|most\ (?:read|popular|viewed)|popular
|trending|share\ this|about\ the\ author|subscribe|sign\ up|newsletter|up\ next|what\ to\ read\ next
|other\ (?:stories|articles)|don.t\ miss|editor.s\ picks|further\ reading|tags?\b|tagged|follow\ us
|advertisement|join\ the|post\ navigation|similar
|weitere\ |mehr\ (?:zum|themen|aus|zu|von|artikel)|lesen\ sie\ (?:auch|mehr|weiter|hier)|das\ könnte
|auch\ interessant|ähnliche|verwandte|(?:keine\ )?kommentare\b|kommentar\W*$
|schreib|schlagw|meistgelesen
|weiterlesen|zum\ thema|passend|anzeige|teilen|über\ den\ autor|themen\b|markiert|weiterführend
|(?:à\ )?lire\ aussi|à\ lire|sur\ le\ même|articles?\ (?:liés|similaires|associés|récents)
|voir\ aussi|commentaires?|partager|dans\ la\ même|les\ plus\ lus|plus\ d.articles
|(?:te|le|les)?\ ?puede\ interesar|lea\ también|relacionad|más\ (?:noticias|información|sobre|leíd)
|noticias\ rel|comentarios?|compart|temas\b|etiquetas|lo\ más|ver\ también|también\ te
|leggi\ anche|articoli\ (?:correlati|simili|recenti)|potrebbe\ interessarti|commenti|condividi
|vedi\ anche|altri\ articoli|leia\ (?:também|mais)|veja\ (?:também|mais)|comentários|mais\ lidas
|saiba\ mais|lees\ (?:ook|meer|verder)|gerelateerd|reacties|deel\ dit|meer\ (?:over|nieuws|van)
|czytaj|zobacz\ (?:także|też|również)|przeczytaj|komentarze|inne\ |powiązane|polecamy|udostępnij
|więcej|читайте|похожие|комментари|поделиться|смотрите\ также|по\ теме|другие\ |популярн|теги
|läs\ (?:också|mer|även)|relaterade|kommentarer|læs\ også|les\ også|čtěte|související|komentáře
|diskuse|další\ články|関連|あわせて|おすすめ|コメント|相关|推荐|评论|分享|관련|댓글
|ilgili|benzer|yorum)"""
# A short paragraph that begins so leads away from the page or credits a picture.
_PROMOTION = r"""(?ix)^\W*(?:
read\ (?:more|also|next)|related|see\ also|also\ read|also\ see|more:|subscribe|sign\ up
|follow\ (?:us|me|him|her)|click\ here|advertisement|share\ this|continue\ reading|watch:|listen:
|download:|photo:|image:|photograph\ by|source:|tags?:|posted\ in|filed\ under
|reach\ the\ reporters?|have\ a\ tip|contact\ the|write\ to
|lesen\ sie|mehr:|weiterlesen|weitere\ (?:beiträge|artikel|infos)|foto:|anzeige|bild:
|mehr\ (?:zum|themen|dazu|infos)|quelle:|keine\ kommentare|à\ lire|lire\ aussi|leggi\ anche
|lea\ también|[lt]e\ puede\ interesar|leia\ |veja\ também|lees\ (?:ook|meer|verder)|czytaj|zobacz
|читайте|läs\ mer|läs\ också|les\ også|læs\ også)"""
MAX_RELATED_HEADING = 60  # characters
MAX_SECTION = 60  # elements and texts after a heading that are looked at
MIN_SECTION = 300  # characters of a section that is content by its length
MAX_PROMOTION = 150  # characters
LINK_LIST_SHARE = 0.8  # share of linked text that makes a block a list of links
LINK_LIST_TAGS = name_set("ul ol div section table p")
# A box of documentation that leads to the pages before and after it, and around it.
_NEIGHBOUR = r"(?i)\b(?:prev|previous|next|up|home|top|contents|index)\b"
MAX_NEIGHBOURS = 300  # characters
TOC_WORDS = name_set("toc contents localtoc")  # in class or id of the page's own contents
TEXT_SIGNS = name_set("p pre dl table blockquote h1 h2 h3 h4 h5 h6")
PROMOTION_TAGS = name_set("p div h4 h5 h6")


def drop_link_lists(page: Page, content: Node) -> None:
    """Drop blocks that are nearly all links, unless the whole content is such a list."""
    if content.link >= 0.4 * content.chars and not page.is_documentation:
        return
    inside: set[Node] = set()
    lists: list[Node] = []
    for node in page.nodes:
        if node.parent not in inside and node.parent is not content:
            continue
        inside.add(node)
        if node.dropped or node.tag not in LINK_LIST_TAGS or node.chars < 20:
            continue
        if node.tag == "p" and not page.is_article:
            continue
        if node.chars > MOST_CHARS * content.chars:
            continue
        if node.link >= LINK_LIST_SHARE * node.chars:
            lists.append(node)
        elif page.is_documentation and leads_around(node):
            node.dropped = "previous and next"
    if page.is_documentation:
        lists = lists_around_text(page, content, lists)
    for node in lists:
        node.dropped = "links"
    page.spread()


def lists_around_text(page: Page, content: Node, lists: list[Node]) -> list[Node]:
    """Return the lists that are no part of the text of documentation: indexes of links are.

    A list goes if it leads around or into the page, by its name, or stands before the first or
    after the last of the text and the headings.
    """
    listed = set(lists)
    inside: set[Node] = set()
    places: list[int] = []  # of what is text
    order: dict[Node, int] = {}
    for number, node in enumerate(page.nodes):
        if node.dropped or node.parent in inside or node in listed:
            order[node] = number
            inside.add(node)
        elif node.chars and node.tag in TEXT_SIGNS:
            places.append(number)
    first, last = (places[0], places[-1]) if places else (0, 0)
    return [
        node
        for node in lists
        if leads_around(node)
        or not words_of(node).isdisjoint(TOC_WORDS)
        or order[node] < first
        or (order[node] > last and page.nodes[last].tag not in HEADINGS)
    ]


def leads_around(node: Node) -> bool:
    """Return whether a box has little but links to the pages before, after and above."""
    if node.chars > MAX_NEIGHBOURS or node.link * 2 < node.chars:
        return False
    words = re.findall(_NEIGHBOUR, text_of(node))
    return len({word.lower() for word in words}) > 1


def drop_related(page: Page, content: Node) -> None:
    """Drop headings over related links, with what follows up to the next heading of that level.

    Where the heading is alone in its box, what follows the box goes. A paragraph without links and
    a block with a good part of the content stay, and end it.
    """
    if page.is_documentation:
        return  # "See also", "Tags" and "Comments" are sections of its own
    place: dict[Node, int] = {}
    for node in page.nodes:
        if node.parent and node.parent.dropped:
            node.dropped = node.parent.dropped
        if node.dropped or node.tag not in HEADINGS or node.chars > MAX_RELATED_HEADING:
            continue
        if not re.match(_RELATED_HEADING, text_of(node)):
            continue
        box, parent = node, node.parent
        while parent and parent.parent and parent.chars - node.chars < 20:
            box, parent = parent, parent.parent
        place = place or places(page)
        section = related_section(node, parent.children if parent else [], place[box] + 1, content)
        if page.is_article or leads_away(section):
            for one in [node, *section]:
                one.dropped = one.dropped or "related heading"


def leads_away(section: list[Node]) -> bool:
    """Return whether a section on other pages than articles is links, or next to nothing.

    Documentation has sections on comments, tags and popular things of its own, with code in them.
    """
    chars = sum(one.chars for one in section)
    short = chars < MIN_SECTION and not any(one.tag in ("pre", "table", "dl") for one in section)
    return short or sum(one.link for one in section) >= 0.3 * chars


def places(page: Page) -> dict[Node, int]:
    """Return for each element its place among the children of its parent."""
    return {
        child: index
        for node in page.nodes
        for index, child in enumerate(node.children)
        if isinstance(child, Node)
    }


def related_section(
    heading: Node, siblings: list[Node | str], start: int, content: Node
) -> list[Node]:
    """Return the elements from start on that belong to a heading over related links."""
    section: list[Node] = []
    for index in range(start, min(start + MAX_SECTION, len(siblings))):
        sibling = siblings[index]
        if isinstance(sibling, str):
            continue
        if sibling.tag in HEADINGS and sibling.tag <= heading.tag:
            break
        is_paragraph = sibling.tag == "p" and sibling.own >= 80 and not sibling.own_link
        if is_paragraph or sibling.prose > 0.3 * content.prose:
            break
        section.append(sibling)
    return section


def drop_promotions(page: Page) -> None:
    """Drop short paragraphs that lead away from the page: "Read more: ...", "Follow us ..."."""
    if page.is_documentation:
        return
    for node in page.nodes:
        if node.dropped or node.tag not in PROMOTION_TAGS or node.own != node.chars:
            continue
        if 0 < node.own < MAX_PROMOTION and re.match(_PROMOTION, text_of(node)):
            node.dropped = "promotion"
    page.spread()
