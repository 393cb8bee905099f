"""Find the main content of an HTML page."""

from __future__ import annotations

import functools
import re

from websearch.html_tree import BLOCKS, HEADINGS, Node, TreeBuilder

# ===== extraction: which elements are the page's content ==========================================
# Rules first remove what is known not to be content (navigation, hidden text, share bars). Then
# the walk goes down from the root as long as one child holds nearly all of the running text. What
# a rule is worth was measured on real pages; its name says what it sees.


def name_set(words: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(words.split())


NO_CONTENT = name_set(
    "applet area audio base button canvas datalist dialog embed footer frame frameset iframe input "
    "link map math menu meta meter nav noembed noframes noscript object optgroup option param "
    "progress script select source style svg template textarea title track video"
)
TEXT_BLOCKS = name_set(
    "p pre blockquote td dd li h1 h2 h3 h4 h5 h6 dt figcaption caption th summary"
)
LANDMARKS = name_set(
    "navigation banner contentinfo search menu menubar dialog alert complementary toolbar"
)
ELEMENT_RULES = {"figcaption": "caption", "aside": "sidebar"}
NAMED_CONTENT = name_set("main article h1")  # whatever their class and id say
# Rule -> words of class and id that it knows. The first rule that matches decides.
NAME_RULES = {
    "navigation": name_set(
        "nav navigation navbar navi subnav menu menus submenu megamenu breadcrumb breadcrumbs "
        "crumbs crumb pagination pager paging paginator toolbar topbar skip skiplink skiplinks "
        "sitemap offcanvas hamburger"
    ),
    "gutter": name_set("lineno linenos linenumber linenumbers lnt"),
    "footer": name_set("footer foot colophon copyright bottombar"),
    "sidebar": name_set("sidebar sidebars aside rail sidenav siderail sidecol"),
    "caption": name_set("caption captions wpcaption credit credits"),
    "utility": name_set(
        "utility likes like linkbox tagged topics keywords postnav adjacent gadget gadgets "
        "disclaimer disclosure"
    ),
    "share": name_set(
        "share shares sharing sharebar sharer sharethis social socials socialmedia sociable "
        "addtoany sharedaddy addthis followus follow"
    ),
    "related": name_set(
        "related recommended recommendation recommendations recommend recirc recirculation "
        "outbrain taboola zergnet popular trending mostread mostpopular mostviewed readnext upnext "
        "relatedposts relatedarticles relateds morestories teaser teasers similar latest"
    ),
    "advertisement": name_set(
        "ad ads adv advert adverts advertisement advertising adsense adslot adbox sponsor "
        "sponsored sponsors promo promos promotion promotions banner banners"
    ),
    "consent": name_set("cookie cookies consent gdpr cookiebar cookiebanner cookielaw"),
    "signup": name_set(
        "newsletter newsletters subscribe subscription signup login signin register registration "
        "paywall optin"
    ),
    "comments": name_set(
        "comment comments disqus respond commentlist commentform reactions livefyre kommentar "
        "kommentare commentaires comentarios commenti komentarze"
    ),
    "byline": name_set(
        "byline author authors bio tag tags taglist categories category meta postmeta dateline "
        "timestamp rating ratings"
    ),
    "overlay": name_set(
        "modal popup overlay tooltip dropdown btn print toast lightbox search searchform searchbox"
    ),
}
RULE_WORDS = frozenset().union(*NAME_RULES.values())
NO_WORDS: frozenset[str] = frozenset()
# An element with a name of both kinds holds what is said about a picture.
IMAGE_WORDS = name_set("image images img photo picture pic figure media bild foto")
IMAGE_TEXT_WORDS = name_set(
    "caption subtitle description desc credit copyright source metadata legend"
)
MAX_IMAGE_TEXT = 300  # characters
# Class names, whole, of elements that a browser does not show.
HIDDEN_CLASSES = name_set(
    "hidden hide is-hidden visually-hidden visuallyhidden sr-only screen-reader-text screen-reader "
    "d-none invisible noprint no-print print-only element-invisible offscreen"
)
# A match that holds more than this share of the page's prose is no boilerplate, whatever its name.
MOST_PROSE = {
    "overlay": 0.12, "signup": 0.12, "advertisement": 0.2, "sidebar": 0.5, "hidden": 0.6,
}  # fmt: skip
MOST_PROSE_DEFAULT = 0.35
MOST_CHARS = 0.5  # the same for all of the page's text
# With such a word, a class name says that a sidebar stands beside: "and-w-sidebar".
LAYOUT_WORDS = name_set("w with and has layout")
# Class names that begin so say something about the element's state or subject, not its role.
MODIFIERS = (
    "has-", "has_", "no-", "with-", "without-", "js-", "is-", "hide-", "show-", "tag-", "post_tag-",
    "category-", "type-", "status-", "format-", "hentry",
)  # fmt: skip
LEAD_NAMES = name_set(
    "lead lede standfirst subtitle subheadline perex teaser intro introduction dek abstract "
    "summary description subhead subheading deck excerpt chapeau vorspann"
)
# Rules that are not applied, by page.leniency.
SOFT_RULES = name_set("related advertisement byline overlay signup share caption comments")
IGNORED_RULES: tuple[frozenset[str], ...] = (
    frozenset(),
    SOFT_RULES,
    SOFT_RULES | {"hidden", "hidden class"},
    SOFT_RULES | {"hidden", "hidden class", *NAME_RULES},
)
TOO_LITTLE = 0.25  # share of the page's text; when less is left, more is kept
MIN_TEXT = 200  # characters of a page that something must come out of
ENOUGH_PROSE = 500  # characters; an article with so much running text is not started again
MIN_PROSE = 25  # characters of a block that counts as running text
MIN_ARTICLE_PROSE = 60  # the same on a page that says it is an article
STEP_DOWN = 0.85  # share of the prose that a child must hold for the walk to go down to it
NAMED_SHARE = 0.4  # share of the prose that the element named as the text must hold
INNER_SHARE = 0.6  # the same of the prose of an article element around it
TWIN_SHARE = 0.3  # prose of its twins that makes a named element a part of the text
FORUM_SHARE = 0.5  # share of the prose in comments that makes them the content

MAX_SIGN_HTML = 1_000_000  # characters of HTML that are searched for _SAYS_ARTICLE

CODE = name_set("pre code kbd samp tt xmp textarea script style")
_ESCAPED_TAG = r"(?i)<(?:img|iframe|source|figure)\s[^<>]*>"
_NAME_WORD = r"[A-Z]?[a-z0-9]+|[A-Z0-9]+(?![a-z])"
_HIDDEN_STYLE = r"(?i)display\s*:\s*none|visibility\s*:\s*hidden"
# A class or id, whole, of the element with the page's text: "entry-content", "td-post-content".
_TEXT_NAME = (
    r"(?i)(?:^|\s|__)(?:(?:td-)?(?:article|entry|post|story|news|blog|text|page|content|single|main"
    r"|node|recipe)[-_]?(?:single)?[-_]?(?:body|content|text|copy|fulltext|entry)|body-?(?:copy|text))"
    r"(?:\s|$)"
)
# What a page says about itself: schema.org types, Open Graph, microdata.
_SAYS_ARTICLE = (
    r'(?i)"@type"\s{0,9}:\s{0,9}\[?\s{0,9}"(?:News|Blog|Tech|Scholarly|Report|Reportage|Opinion|Social)?'
    r'(?:Article|MediaPosting|Posting)"|property=["\']?og:type["\']? content=["\']?article'
    r'|content=["\']article["\'] property=["\']og:type|itemprop=["\']articleBody'
)


@functools.lru_cache(maxsize=4096)
def name_words(classes: str, element_id: str) -> frozenset[str]:
    """Return the words of a class and id: "relatedPosts__list" -> related, posts, list."""
    found: set[str] = set()
    for part in f"{classes} {element_id}"[:600].split():
        if not part.startswith(MODIFIERS):
            words = {word.lower() for word in re.findall(_NAME_WORD, part)}
            if words.isdisjoint(LAYOUT_WORDS) or words.isdisjoint(NAME_RULES["sidebar"]):
                found |= words
    return frozenset(found)


def words_of(node: Node) -> frozenset[str]:
    """Return the words of an element's class and id."""
    if not node.attributes:
        return NO_WORDS
    get = node.attributes.get
    return name_words(get("class", ""), get("id", ""))


class Page:
    """A parsed page: its tree, its elements in document order, and what kind of page it is.

    is_article: it says so itself. keeps_comments: they are its content, as in a forum.
    leniency: how many of the rules are not applied (IGNORED_RULES).
    """

    def __init__(self, html: str) -> None:
        builder = TreeBuilder(html)
        builder.build()
        self.root, self.nodes, self.cut = builder.root, builder.nodes, builder.cut
        self.is_article = bool(re.search(_SAYS_ARTICLE, html[:MAX_SIGN_HTML]))
        self.keeps_comments = False
        self.comments: set[Node] = set()  # what is in comments, if they are the content
        self.leniency = 0
        self.min_prose = MIN_ARTICLE_PROSE if self.is_article else MIN_PROSE
        self.drop_unseen()
        if "&lt;" in html:
            self.drop_escaped_tags()
        self.measure()
        self.text_chars = self.root.chars  # of the page, boilerplate included

    def drop_unseen(self) -> None:
        """Drop scripts, styles and templates: none of their text is shown."""
        for node in self.nodes:
            if node.tag in ("script", "style", "template", "title"):
                node.dropped = "element"
        self.spread()

    def drop_escaped_tags(self) -> None:
        """Remove tags that stand in the text because they were escaped twice, but not in code."""
        for node in self.nodes:
            if node.tag in CODE:
                continue
            for index, child in enumerate(node.children):
                if isinstance(child, str) and "<" in child:
                    node.children[index] = re.sub(_ESCAPED_TAG, " ", child)

    def spread(self) -> None:
        """Drop everything below a dropped element."""
        for node in self.nodes:
            if node.parent and node.parent.dropped and not node.dropped:
                node.dropped = node.parent.dropped

    def measure(self) -> None:
        """Count the text of every element, what is dropped left out, in one walk from the end."""
        for node in self.nodes:
            node.chars = node.link = node.own = node.own_link = node.prose = 0
            node.has_block = False
        min_prose = self.min_prose
        for node in reversed(self.nodes):
            if node.dropped:
                continue
            own = 0
            for child in node.children:
                if isinstance(child, str):
                    own += len(" ".join(child.split()))
            node.own += own
            node.chars += own
            if node.tag == "a":
                node.link, node.own_link = node.chars, node.own
            parent = node.parent
            is_block = node.tag in BLOCKS
            if is_block and node.own >= min_prose and node.own_link * 2 <= node.own:
                node.prose += node.own - node.own_link
            if parent:
                if is_block:
                    parent.has_block = True
                else:
                    parent.own += node.own
                    parent.own_link += node.own_link
                    parent.has_block = parent.has_block or node.has_block
                parent.chars += node.chars
                parent.link += node.link
                parent.prose += node.prose


def element_rule(node: Node, page: Page) -> str:
    """Return the rule that an element matches by its tag, role, style or names, or ""."""
    tag, attributes = node.tag, node.attributes
    if tag in NO_CONTENT:
        return "element" if never_content(node, page) else ""
    if tag in ELEMENT_RULES:
        return ELEMENT_RULES[tag]
    if tag == "header" and is_site_header(node):
        return "landmark"
    if not attributes:
        return ""
    if is_hidden(attributes) or attributes.get("role") in LANDMARKS:
        return "hidden" if is_hidden(attributes) else "landmark"
    named = ("class" in attributes or "id" in attributes) and tag not in NAMED_CONTENT
    return name_rule(node, page) if named else ""


def never_content(node: Node, page: Page) -> bool:
    """Return whether an element never holds content, by its tag."""
    if node.tag not in NO_CONTENT:
        return False
    # Forums serve their threads to clients without JavaScript in one big noscript element.
    crawler_copy = node.tag == "noscript" and node.chars > 0.4 * page.text_chars
    # A question that unfolds its answer is a button inside a heading.
    unfolds = node.tag == "button" and node.parent is not None and node.parent.tag in HEADINGS
    return not crawler_copy and not unfolds


def is_unseen(node: Node) -> bool:
    """Return whether a browser does not show an element, by its attributes or its class."""
    attributes = node.attributes
    if not attributes:
        return False
    classes = attributes.get("class", "").lower().split()
    return is_hidden(attributes) or not HIDDEN_CLASSES.isdisjoint(classes)


def is_hidden(attributes: dict[str, str]) -> bool:
    """Return whether an element's attributes say that a browser does not show it."""
    if attributes.get("hidden", "until-found") != "until-found":
        return True
    if attributes.get("aria-hidden") == "true":
        return True
    return "style" in attributes and bool(re.search(_HIDDEN_STYLE, attributes["style"]))


def is_site_header(node: Node) -> bool:
    """Return whether a header is the site's and not that of an article or section."""
    parent = node.parent
    while parent:
        if parent.tag in ("main", "article", "section"):
            return False
        parent = parent.parent
    return True


def is_image_text(node: Node, words: frozenset[str]) -> bool:
    """Return whether an element is by its names the text that goes with a picture."""
    named = not words.isdisjoint(IMAGE_WORDS) and not words.isdisjoint(IMAGE_TEXT_WORDS)
    return named and node.chars < MAX_IMAGE_TEXT


def name_rule(node: Node, page: Page) -> str:
    """Return the rule that knows a word of an element's class or id, or ""."""
    words = words_of(node)
    if page.is_article and is_image_text(node, words):
        return "caption"
    rules = () if words.isdisjoint(RULE_WORDS) else NAME_RULES.items()
    for rule, known in rules:
        if words.isdisjoint(known):
            continue
        if rule == "caption" and not page.is_article:
            continue
        if page.keeps_comments and rule == "comments":
            continue
        if page.keeps_comments and rule == "byline" and node in page.comments:
            continue  # who said it, and when
        if rule == "share" and "embed" in words:  # a quoted post is part of the article
            continue
        return rule
    return "hidden class" if is_unseen(node) else ""


def comments_are_content(page: Page) -> bool:
    """Return whether most of the prose is in comments and the page is no article of its own.

    Forums, question pages and discussions are made of what other pages carry below the text.
    """
    inside = page.comments
    prose = 0
    for node in page.nodes:
        if node.parent in inside:
            inside.add(node)
        elif not node.dropped and not words_of(node).isdisjoint(NAME_RULES["comments"]):
            inside.add(node)
            prose += node.prose
    if page.is_article and find_core(page, inside)[1] >= MIN_CORE:
        return False
    return prose > FORUM_SHARE * page.root.prose


def around_article(page: Page) -> set[Node]:
    """Return the elements around an article's core, which no name makes boilerplate.

    Class names tell how a page is laid out, and what stands beside its text: "l-sidebar-right".
    """
    core, prose = find_core(page, page.comments)
    is_article = page.is_article and prose >= max(MIN_CORE, AROUND_SHARE * page.root.prose)
    return set(ancestors(core)) if is_article else set()


def drop_boilerplate(page: Page) -> None:
    """Drop the elements that a rule knows, unless they hold too much of the page's text."""
    if page.is_article:
        drop_repeated(page)
    around = around_article(page)
    all_chars, all_prose = page.root.chars or 1, page.root.prose + 1
    for node in page.nodes[1:]:
        if node.parent and node.parent.dropped:
            node.dropped = node.parent.dropped
            continue
        if node.dropped:
            continue
        rule = element_rule(node, page)
        if node in around and rule in NAME_RULES:
            rule = ""
        if rule in IGNORED_RULES[page.leniency]:
            rule = ""
        if rule and rule not in ("element", "comments"):
            share = MOST_PROSE.get(rule, MOST_PROSE_DEFAULT)
            if node.chars > MOST_CHARS * all_chars or node.prose > share * all_prose:
                rule = ""
        node.dropped = rule
    page.measure()


def keep_more(page: Page) -> None:
    """Start again with fewer rules: first those go that names alone decide, then hidden text.

    Pages whose content carries such names exist (a shop's "promo" grid), and pages that show their
    text by script. Where nothing would be left, only elements that never hold content are dropped.
    """
    for node in page.nodes:
        node.dropped = ""
    page.leniency += 1
    page.drop_unseen()
    page.measure()
    drop_boilerplate(page)


def is_named_text(node: Node) -> bool:
    """Return whether an element says by its name that it is the text of the page."""
    get = node.attributes.get
    if node.tag == "article" or get("itemprop", "").lower() == "articlebody":
        return True
    names = f"{get('class', '')} {get('id', '')}"[:600]
    return bool(re.search(_TEXT_NAME, names))


def named_text(page: Page) -> Node:
    """Return the element that is the text by its own name, or the root.

    It must hold a good share of the prose, and on a page that does not say that it is an article
    of the text as well. An element with a twin, one of the same tag and class, is only a part.
    """
    if page.keeps_comments:
        return page.root
    named: list[Node] = []
    prose: dict[str, int] = {}  # of all elements with a tag and class
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


def look_of(node: Node) -> str:
    """Return an element's tag and class, which twins have in common."""
    return f"{node.tag} {node.attributes.get('class', '')}"


def choose_content(page: Page) -> Node:
    """Return the element that the content is in: down while one child holds nearly all prose."""
    node = named_text(page)
    while True:
        below = [child for child in node.children if isinstance(child, Node) and not child.dropped]
        best = max(below, key=lambda child: child.prose, default=None)
        if (
            best is None
            or not best.prose
            or best.prose < STEP_DOWN * node.prose
            or best.tag in TEXT_BLOCKS
            or (page.keeps_comments and best in page.comments)  # the post stands beside them
        ):
            return node
        node = best


# ----- what is left inside the content: related links, promotions, lists of links

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
MAX_TEASER = 400  # characters; longer boxes that begin with a link are parts of a text
MAX_COMMENT = 2_000  # characters; longer dated boxes are more likely posts of their own
MIN_BOXES = 4  # of one list
BOX_SHARE = 0.8  # share of the boxes that must be teasers or comments
BOX_TAGS = name_set("div li article section a aside")
PLAIN_BOX_TAGS = BOX_TAGS - {"a", "li"}  # without blocks, those make lists in a text
MIN_HEADLINE = 15  # characters of a link that is no label
MAX_DATE = 60  # characters of a text that is a date, perhaps with who wrote and when
_DATE = (
    r"\b(?:19|20)\d\d\b|\b\d\d?[./-]\d\d?[./-]\d|\b\d\d?:\d\d\b|\bago\b"
    r"|^\s{0,9}(?:vor|il y a|hace) \d"
)
NO_CORE = name_set("footer nav aside form")  # legal notices there can be long
MIN_CORE = 400  # characters of a text beside which lists go; introductions to lists are shorter
# Characters of the core beside which boxes go, and the share of the prose that it must hold; pages
# that do not say that they are an article have text in many places.
CORE_OF_ARTICLE = (250, 0.4)
CORE_OF_OTHERS = (800, 0.6)
AROUND_SHARE = 0.3  # share of the prose in a core whose surroundings no name drops
MIN_PART = 500  # characters of prose that make a box after the core a part of the text
PART_SHARE = 0.4  # the same as a share of the core
MAX_END = 200  # characters of prose of a box at the end of the core, such as a note on the author
# Parts of a text, however short.
TEXT_TAGS = name_set("p pre blockquote table ul ol dl figure h1 h2 h3 h4 h5 h6")
MAX_PROMOTION = 150  # characters
MIN_LEAD = 40  # characters
MAX_LEADS = 2  # paragraphs
LINK_LIST_SHARE = 0.8  # share of linked text that makes a block a list of links
LINK_LIST_TAGS = name_set("ul ol div section table p")
PROMOTION_TAGS = name_set("p div h4 h5 h6")


def text_of(node: Node) -> str:
    """Return an element's text on one line, what is dropped left out."""
    parts: list[str] = []
    collect_text(node, parts)
    return " ".join("".join(parts).split())


def collect_text(node: Node, parts: list[str]) -> None:
    """Append the text below an element to parts, with line breaks around blocks."""
    for child in node.children:
        if isinstance(child, str):
            parts.append(child)
        elif not child.dropped:
            if child.tag in BLOCKS or child.tag == "br":
                parts.append("\n")
                collect_text(child, parts)
                parts.append("\n")
            else:
                collect_text(child, parts)


def drop_title(page: Page) -> None:
    """Drop the first main heading: the title is a field of its own."""
    for node in page.nodes:
        if node.tag == "h1" and not node.dropped:
            node.dropped = "title"
            page.spread()
            return


def drop_link_lists(page: Page, content: Node) -> None:
    """Drop blocks that are nearly all links, unless the whole content is such a list."""
    if content.link >= 0.4 * content.chars:
        return
    inside: set[Node] = set()
    for node in page.nodes:
        if node.parent not in inside and node.parent is not content:
            continue
        inside.add(node)
        if node.dropped or node.tag not in LINK_LIST_TAGS or node.chars < 20:
            continue
        if node.chars > MOST_CHARS * content.chars:
            continue
        if node.link >= LINK_LIST_SHARE * node.chars:
            node.dropped = "links"
    page.spread()


def drop_related(page: Page, content: Node) -> None:
    """Drop headings over related links, with what follows up to the next heading of that level.

    Where the heading is alone in its box, what follows the box goes. A paragraph without links and
    a block with a good part of the content stay, and end it.
    """
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


def beginnings(page: Page) -> dict[Node, str]:
    """Return what the text of each element begins with: a "link" to a page, "text" or "label".

    Labels are short texts, such as a date or a category; they are passed over.
    """
    found: dict[Node, str] = {}
    for node in reversed(page.nodes):
        if node.dropped:
            continue
        found[node] = "label"
        if node.tag == "a" and node.chars >= MIN_HEADLINE:
            inside = node.attributes.get("href", "#").startswith(("#", "javascript:"))
            found[node] = "text" if inside else "link"
            continue
        for child in node.children:
            if isinstance(child, str):
                kind = "text" if len(child.strip()) >= MIN_HEADLINE else "label"
            else:
                kind = found.get(child, "label")
            if kind != "label":
                found[node] = kind
                break
    return found


def with_dates(page: Page) -> set[Node]:
    """Return the elements with a date or time below that stands apart from sentences."""
    found: set[Node] = set()
    for node in reversed(page.nodes):
        if node.dropped or not node.parent:
            continue
        if node in found or (0 < node.own <= MAX_DATE and has_date(node)):
            found.add(node.parent)
    return found


def has_date(node: Node) -> bool:
    """Return whether a text right below an element has a date or time at its beginning."""
    texts = (one[:200] for one in node.children if isinstance(one, str) and not one.isspace())
    return any(re.search(_DATE, text) for text in texts)


def before_text(page: Page) -> set[Node]:
    """Return the elements that a paragraph of running text follows in the same parent."""
    found: set[Node] = set()
    for node in page.nodes:
        if len(node.children) < 2 or node.dropped:
            continue
        is_followed = False
        for child in reversed(node.children):
            if isinstance(child, Node) and not child.dropped:
                if is_followed:
                    found.add(child)
                is_followed = is_followed or bool(child.tag in TEXT_BLOCKS and child.prose)
    return found


def look_alikes(node: Node) -> list[list[Node]]:
    """Return the boxes below an element by their tag, where they are enough for a list."""
    if node.dropped or len(node.children) < MIN_BOXES:
        return []
    alike: dict[str, list[Node]] = {}
    for child in node.children:
        if isinstance(child, str) or child.dropped or not child.chars:
            continue
        tags = BOX_TAGS if child.has_block else PLAIN_BOX_TAGS
        if child.tag in tags:
            alike.setdefault(child.tag, []).append(child)
    return [boxes for boxes in alike.values() if len(boxes) >= MIN_BOXES]


def drop_repeated(page: Page) -> None:
    """Drop lists of teasers and threads of comments from an article, whatever their names are.

    A teaser begins with a link to another page, again and again; text that follows in the same
    parent makes the list a part of the article. Comments are dated and come after the article. A
    page without a text beside them is a list or a thread by itself, and keeps them.
    """
    begins, dated, followed = beginnings(page), with_dates(page), before_text(page)
    teasers: list[Node] = []
    threads: list[list[Node]] = []
    for node in page.nodes:
        for boxes in look_alikes(node):
            linked = [box for box in boxes if begins[box] == "link" and box.chars <= MAX_TEASER]
            comments = [box for box in boxes if box in dated and box.chars <= MAX_COMMENT]
            if len(linked) >= BOX_SHARE * len(boxes):
                if not followed & {node, linked[-1]}:
                    teasers += linked
            elif len(comments) >= BOX_SHARE * len(boxes) and not page.keeps_comments:
                threads.append(comments)
    if not teasers and not threads:
        return
    core, prose = find_core(page, {*teasers, *(box for boxes in threads for box in boxes)})
    if prose < MIN_CORE:
        return
    around, earlier = set(ancestors(core)), set(page.nodes[: page.nodes.index(core)])
    for boxes in [teasers, *threads]:
        if boxes is teasers or not (boxes[0].parent in around or boxes[0] in earlier):
            for box in boxes:
                box.dropped = "repeated"
    page.spread()
    page.measure()


def find_core(page: Page, left_out: set[Node]) -> tuple[Node, int]:
    """Return the element with the most text in paragraphs right below it, and their characters.

    No paragraph counts in left_out or in an element whose tag says that it is no text.
    """
    prose = {page.root: 0}
    outside: set[Node] = set()
    for node in page.nodes:
        if node.parent in outside or node in left_out or node.tag in NO_CORE:
            outside.add(node)
        elif not node.parent or node.dropped or node.tag not in BLOCKS:
            continue
        elif node.own >= MIN_ARTICLE_PROSE and node.own_link * 3 < node.own:
            prose[node.parent] = prose.get(node.parent, 0) + node.own - node.own_link
    core = max(prose, key=lambda node: prose[node])
    return core, prose[core]


def drop_beside_core(page: Page, content: Node) -> None:
    """Drop from the content what stands beside its core and is no text of its own.

    Sites put share bars, forms, the author and calls to subscribe there, under many names.
    """
    core, prose = find_core(page, set())
    path = ancestors(core)
    least, share = CORE_OF_ARTICLE if page.is_article else CORE_OF_OTHERS
    if content not in path or page.keeps_comments or prose < max(least, share * content.prose):
        return
    inner = core
    for around in path[: path.index(content) + 1]:
        below = [one for one in around.children if isinstance(one, Node) and not one.dropped]
        for one in ends_of_core(below) if around is core else beside(below, inner, prose):
            one.dropped = "beside the core"
        inner = around
    page.spread()


def ends_of_core(below: list[Node]) -> list[Node]:
    """Return the small boxes after the last paragraph, of the elements below the core."""
    found: list[Node] = []
    for one in reversed(below):
        is_box = one.has_block or (one.tag in BLOCKS and not one.prose)
        if one.tag in TEXT_TAGS or not is_box or one.prose > MAX_END or one.chars > MAX_TEASER:
            break
        found.append(one)
    return found


def beside(below: list[Node], inner: Node, prose: int) -> list[Node]:
    """Return which of the elements around inner are no text; inner holds the core.

    Before it, those without running text; after it, those with much less than the core. Elements
    that look like inner are other parts of one text.
    """
    place = below.index(inner)
    before = [one for one in below[:place] if not one.prose and one.tag not in TEXT_TAGS]
    enough = max(MIN_PART, PART_SHARE * prose)
    after = [
        one
        for one in below[place + 1 :]
        if look_of(one) != look_of(inner)
        and not (one.tag in TEXT_BLOCKS and one.prose)
        and (one.prose < enough or one.link > 0.5 * one.chars)
    ]
    return [one for one in before + after if one.tag in BLOCKS]


def drop_promotions(page: Page) -> None:
    """Drop short paragraphs that lead away from the page: "Read more: ...", "Follow us ..."."""
    for node in page.nodes:
        if node.dropped or node.tag not in PROMOTION_TAGS or node.own != node.chars:
            continue
        if 0 < node.own < MAX_PROMOTION and re.match(_PROMOTION, text_of(node)):
            node.dropped = "promotion"
    page.spread()


def find_lead(page: Page, content: Node) -> list[Node]:
    """Return the paragraphs between the main heading and the content that are named as its lead."""
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
        near = [node, node.parent, node.parent.parent if node.parent else None]
        if any(one and one not in path and words_of(one) & LEAD_NAMES for one in near):
            node.dropped = ""
            leads.append(node)
    return leads


# ----- the whole way from a page to its content

MAX_TWINS = 3  # parts of one text beside the content
MAIN_SHARE = 0.3  # share of the page's text that makes a main element the right one
CONTENT_SHARE = 0.65  # share of the main element's text that the content must have


class Content:
    """What was found on a page: its title, its lead paragraphs, and the element with the rest."""

    def __init__(self, page: Page, node: Node, leads: list[Node]) -> None:
        self.page = page
        self.node = node
        self.leads = leads


def widen(page: Page, content: Node) -> Node:
    """Return the page's main element, or all of it, if the content has too little of its text.

    Collections and landing pages have short texts everywhere and the prose in one corner.
    """
    whole = page.root
    for node in page.nodes:
        is_main = node.tag == "main" or node.attributes.get("role") == "main"
        if is_main and not node.dropped and node.chars > MAIN_SHARE * page.root.chars:
            whole = node
            break
    enough = CONTENT_SHARE * (whole.chars - whole.link)
    return whole if content.chars - content.link < enough else content


def join_twins(page: Page, content: Node) -> Node:
    """Return the element around the content and its twins: other elements of its name and class.

    Layouts cut one text into several columns or parts, with pictures and advertising between them.
    What encloses them all is taken if little else is in it.
    """
    names = content.attributes.get("class", "")
    if not names:
        return content
    inside = {content}
    twins: list[Node] = []
    for node in page.nodes:
        if node.parent in inside:
            inside.add(node)
        elif node.tag == content.tag and node.attributes.get("class") == names:
            twins += [node] if node.prose >= MIN_ARTICLE_PROSE and not node.dropped else []
    prose = content.prose + sum(twin.prose for twin in twins)
    if not twins or len(twins) > MAX_TWINS or prose > 2 * content.prose:
        return content
    around = content
    for twin in twins:
        above = set(ancestors(twin))
        while around not in above:
            around = around.parent or page.root
    return around if around.prose < 1.3 * prose else content


def ancestors(node: Node) -> list[Node]:
    """Return an element and all that it is in, up to the root."""
    found = [node]
    while found[-1].parent:
        found.append(found[-1].parent)
    return found


def find_content(html: str) -> Content:
    """Return the content of an HTML page; never fails, whatever the page is made of."""
    page = Page(html)
    page.keeps_comments = comments_are_content(page)
    drop_boilerplate(page)
    while page.leniency < 2 and page.root.chars < TOO_LITTLE * page.text_chars:
        if page.is_article and page.root.prose > ENOUGH_PROSE:
            break
        keep_more(page)
    if not page.root.chars and page.text_chars >= MIN_TEXT:
        keep_more(page)
        if page.root.chars < TOO_LITTLE * page.text_chars:  # a label such as "Skip navigation"
            page.leniency -= 2
            keep_more(page)
    content = choose_content(page)
    if not page.is_article:
        content = widen(page, content)
    content = join_twins(page, content)
    drop_link_lists(page, content)
    drop_related(page, content)
    page.measure()
    drop_beside_core(page, content)
    drop_promotions(page)
    drop_title(page)
    return Content(page, content, find_lead(page, content))


def extract(html: str, url: str = "") -> str:
    """Return the content of an HTML page as plain text, one line for each paragraph or heading."""
    found = find_content(html)
    parts: list[str] = []
    for node in (*found.leads, found.node):
        collect_text(node, parts)
        parts.append("\n")
    lines = (" ".join(line.split()) for line in "".join(parts).split("\n"))
    return "\n".join(line for line in lines if line)
