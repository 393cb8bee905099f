"""Recognize elements that are not content by their tag, role, style, class or id.

The rules were tuned on real pages.
"""

from __future__ import annotations

import re

from websearch.base.html_tree import (
    CELLS,
    HEADINGS,
    Node,
    children_of,
    elements_below,
    name_set,
    text_beginning,
)
from websearch.pages.extract.element_names import (
    MAX_NAMES,
    NAME_WORD,
    NO_WORDS,
    SIDEBAR_WORDS,
    has_hidden_class,
    is_hidden,
    is_slide,
    name_words,
    names_of,
    opens_by_click,
    words_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from websearch.pages.extract.page_tree import PageTree

NO_CONTENT = name_set(
    "applet area audio base button canvas datalist dialog embed frame frameset iframe input "
    "link map math meta noembed noframes noscript object optgroup option param script select "
    "source style svg template textarea title track video"
)
LANDMARKS = name_set(
    "navigation banner contentinfo search menu menubar dialog alert complementary toolbar listbox"
)
ELEMENT_RULES = {
    "figcaption": "caption", "aside": "sidebar", "form": "signup", "nav": "menu",
    "footer": "end of the page",
}  # fmt: skip
NAMED_CONTENT = name_set("main article h1")  # never judged by class or id
# Rule -> words of class and id. Names are split into words; HIDDEN_CLASSES has complete names.
# The first matching rule decides; the text of a consent element must also mention consent.
NAME_RULES = {
    "consent": name_set(
        "cookie cookies consent gdpr cookiebar cookiebanner cookieconsent cookielaw cookieyes "
        "cmplz onetrust cookiebot didomi usercentrics trustarc truste klaro iubenda osano"
    ),
    "navigation": name_set(
        "nav navigation navbar navi subnav menu menus submenu megamenu breadcrumb breadcrumbs "
        "crumbs crumb pagination pager paging toolbar topbar skip skiplink skiplinks "
        "sitemap offcanvas hamburger navbox catlinks"
    ),
    "gutter": name_set("lineno linenos linenumber linenumbers lnt editsection"),
    "footer": name_set("footer foot colophon copyright printfooter"),
    "sidebar": SIDEBAR_WORDS,
    "caption": name_set("caption captions credit credits"),
    "utility": name_set(
        "utility likes like linkbox tagged topics keywords postnav adjacent gadget gadgets "
        "disclaimer disclosure"
    ),
    "share": name_set(
        "share shares sharing sharebar sharer sharethis social socials sociable addtoany "
        "sharedaddy addthis follow"
    ),
    "related": name_set(
        "related recommended recommendation recommendations recommend recirc recirculation "
        "outbrain taboola zergnet popular trending mostviewed upnext relatedposts relateds teaser "
        "teasers similar latest"
    ),
    "advertisement": name_set(
        "ad ads adv advert adverts advertisement advertising adsense adslot sponsor "
        "sponsored sponsors promo promos promotion promotions banner banners"
    ),
    "signup": name_set(
        "newsletter newsletters subscribe subscription signup login signin register registration "
        "paywall optin"
    ),
    "comments": name_set(
        "comment comments disqus respond commentlist reactions livefyre kommentar kommentare "
        "commentaires comentarios komentarze"
    ),
    "byline": name_set(
        "byline author authors bio tag tags taglist categories category meta postmeta dateline "
        "timestamp rating ratings"
    ),
    "overlay": name_set(
        "modal popup overlay tooltip dropdown btn print noprint toast lightbox search searchform "
        "searchbox"
    ),
}
# Text elements in documentation, whose names describe a meaning ("span.author"), not a role.
TEXT_TAGS = HEADINGS | name_set(
    "p pre dl dt dd li td th tr table caption figcaption details summary span code em strong b i"
    " cite abbr"
)
UNFOLDED = HEADINGS | {"dt"}  # a button inside unfolds the next element
TOOLTIP_WORDS = name_set("tooltip tooltiptext popup")  # roles, even in TEXT_TAGS
HEADING_TAGS = HEADINGS | name_set("dt summary caption")  # tags whose ids may come from their text
MAX_SIBLINGS = 100  # elements and texts next to an aside to search for a paragraph
MAX_BEGINNING = 16  # elements and texts to search for an element's heading
TABLE_AND_TERMS = name_set("td th tr caption dt dd")
INLINE = name_set("a abbr b cite code em i mark q s small span strong sub sup time u")
MIN_WORDS = 3  # words next to an inline element that make it part of a sentence
IN_TEXT = frozenset(("gutter", "consent", "comments", "hidden class"))  # rules for parts of a text
# A box with such a name is a note inside the text, even if the box is an aside.
NOTE_WORDS = name_set(
    "admonition note tip hint warning caution danger callout footnote footnotes endnote endnotes "
    "deprecated deprecation seealso"
)
PARAMETER_WORDS = name_set("property param parameter")
BOOK_TYPES = name_set("sidebar footnote")  # values of data-type in HTMLBook
NOTE_ROLES = name_set("note doc-footnote doc-endnote doc-endnotes doc-tip doc-notice")
# The complete text of a link that acts on a heading, a term or code next to it.
_CONTROL = (
    r"(?i)(?:[\W_]|\b(?:permanent link|permalink|link|source|src|view source|edit|edit this page"
    r"|run|run this code|run code|try it|copy|copied|docs|collapse|expand"
    r"|to this (?:heading|definition)))*"
)
# The complete text of a box or link that acts on the page.
ACTIONS = frozenset(
    ("copy to clipboard", "copied", "view source", "click to toggle source", "jump to recipe",
     "jump to video", "print recipe", "pin recipe",
     "save recipe", "rate this recipe", "cook mode", "prevent your screen from going dark",
     "cook mode prevent your screen from going dark", "keep screen awake", "keep screen on")
)  # fmt: skip
LINK_ACTIONS = name_set("pin print save share")  # of links that go to no other text
_ACTION_ADDRESS = r"(?i)#?$|javascript:|.{0,200}(?:pinterest|/pin/|print)"
ACTION_TAGS = name_set("a div p span label")
CONTROL_WORDS = name_set("srclink src viewcode edit anchor headerlink permalink")
_REQUEST = r"(?i)(?:get|put|post|patch|delete|head|options|trace) ?/"  # HTTP method and path
INLINE_BOXES = name_set("span b small sup")
MAX_CONTROL, MAX_ACTION = 40, 50  # characters of an action's text
MAX_NEAR = 4  # elements around a link to search for code
# A URL of source code: a source folder, a view or a line.
_SOURCE_ADDRESS = (
    r"(?i)(?:^|/)_?(?:src|sources?|blob|edit|viewcode|_modules)/|#L(?:ine)?(?:number)?-?\d"
    r"|[-_]source\.html"
)
# Words in requests for consent, in the most common languages of web pages.
CONSENT_WORDS = (
    r"(?i)privacy|consent|personal data|your (?:browser|device)|web ?site|partners|third.part|gdpr"
    r"|datenschutz|einwillig|zustimm|webseite|confidentialité|données|navigateur|privacidad|navegador"
    r"|sitio|sito|dati personali|privacidade|gegevens|prywatno|ciasteczk|конфиденциал|согласи|同意"
)
MAX_CONSENT = 1_500  # characters of an element to search for CONSENT_WORDS
PRIVACY_TITLE = r"(?i)cookie|privacy|datenschutz|confidentialité|privacidad|prywatno"
PREFERENCES = (
    r"(?i)(?:your |manage )?(?:privacy|cookies?|consent) (?:preferences?|settings|options)"
    r"(?: cent(?:er|re))?"
    r"|(?:cookie|privatsphäre|datenschutz)[- ]?einstellungen|(?:gestion|paramètres) des cookies"
    r"|configuración de (?:las )?cookies|impostazioni (?:dei )?cookie|ustawienia cookies"
)
RULE_WORDS = frozenset().union(*NAME_RULES.values())
# An element with words from both sets contains the text of a picture.
IMAGE_WORDS = name_set("image images img photo picture pic figure media bild foto")
IMAGE_TEXT_WORDS = name_set(
    "caption subtitle description desc credit copyright source metadata legend"
)
MAX_IMAGE_TEXT = 300  # characters of a picture's text
# Rule -> share of the page's prose above which a match is not boilerplate.
MOST_PROSE = {
    "overlay": 0.12, "signup": 0.12, "advertisement": 0.2, "sidebar": 0.5, "hidden": 0.6,
}  # fmt: skip
MOST_PROSE_DEFAULT = 0.35
MOST_CHARS = 0.5  # the same share for all text of the page
# Rule -> characters above which an element is content on pages that are not articles.
LARGEST = {"byline": 600, "advertisement": 800}
# Rules that apply to elements of any size.
SURE_RULES = frozenset(("element", "menu", "end of the page", "comments", "consent", "control"))
# Rules that are not applied, by page.leniency.
SOFT_RULES = name_set("related advertisement byline overlay signup share caption comments")
HIDDEN_RULES = frozenset(("hidden", "hidden class", "slide"))
IGNORED_RULES: tuple[frozenset[str], ...] = (
    frozenset(),
    SOFT_RULES,
    SOFT_RULES | HIDDEN_RULES,
    (SOFT_RULES | HIDDEN_RULES | frozenset(NAME_RULES)) - {"consent"},
)
# Classes and ids in a thread for details about a post's author, except the name.
_ABOUT_USER = (
    r"(?i)signature|user-?(?:extras|title|stats)|postprofile|flair|expandlink|last-?edit|reputation"
    r"|badges"
)


def element_rule(node: Node, page: PageTree) -> str:
    """Return the rule that an element matches by its tag, role, style or names, or ""."""
    tag, attributes = node.tag, node.attributes
    if tag in NO_CONTENT:
        return "element" if never_content(node, page) else ""
    if tag in ELEMENT_RULES and not is_note(node, page):
        return ELEMENT_RULES[tag]
    if is_action(node) or (node.chars <= MAX_CONTROL and tag == "a" and is_control(node, page)):
        return "control"
    if attributes and is_hidden(attributes) and not (is_opened(node, page) or is_label(node)):
        return "slide" if is_slide(node) else "hidden"
    role = attributes.get("role")
    is_box = role == "alert" and page.is_documentation  # a warning in the text
    if (role in LANDMARKS and not is_box) or is_site_header(node):
        return "landmark"
    has_names = ("class" in attributes or "id" in attributes) and tag not in NAMED_CONTENT
    rule = name_rule(node, page) if has_names else ""
    is_anywhere = rule in IN_TEXT and not (rule == "comments" and node.tag in TABLE_AND_TERMS)
    return rule if not rule or is_anywhere or not is_in_text(node) else ""


def is_action(node: Node) -> bool:
    """Return whether the whole text of an element is one of ACTIONS or LINK_ACTIONS.

    Next to text, as in "fn copied(self)", such a text is a word.
    """
    if node.tag not in ACTION_TAGS or not 0 < node.chars <= MAX_ACTION:
        return False
    siblings = node.parent.children[:MAX_BEGINNING] if node.parent else []
    is_near = any(isinstance(child, str) and not child.isspace() for child in siblings)
    if is_near and node.tag != "label":
        return False
    text = text_beginning(node, MAX_ACTION).lower().strip("!. ")
    is_link = node.tag == "a" and text.removesuffix(" it") in LINK_ACTIONS
    address = node.attributes.get("href", "")
    return text in ACTIONS or (is_link and re.match(_ACTION_ADDRESS, address) is not None)


def is_in_text(node: Node) -> bool:
    """Return whether an element is a cell, term or item among others, or inside a sentence."""
    if node.tag in TABLE_AND_TERMS:  # in a table for page layout, cells have blocks
        cells = children_of(node) if node.tag == "tr" else [node]
        return not any(cell.has_block for cell in cells)
    if node.parent and node.parent.tag == "sup":  # the number of a note
        node = node.parent
    siblings = node.parent.children[:MAX_BEGINNING] if node.parent else []
    others = [child for child in siblings if child is not node]
    if node.tag == "li":
        items = (child for child in others if isinstance(child, Node) and child.tag == "li")
        return any(words_of(item).isdisjoint(RULE_WORDS) for item in items)
    words = sum(len(child.split()) for child in others if isinstance(child, str))
    return node.tag in INLINE and words >= MIN_WORDS


def is_consent(node: Node) -> bool:
    """Return whether an element named after cookies is about consent, not baking."""
    return node.chars == 0 or bool(re.search(CONSENT_WORDS, text_beginning(node, MAX_CONSENT)))


def preference_boxes(page: PageTree) -> set[Node]:
    """Return the boxes that ask for privacy preferences, regardless of their names.

    Each begins with its heading. A page about privacy has no such boxes.
    """
    boxes: set[Node] = set()
    headings = [node for node in page.nodes if node.tag in HEADINGS and node.chars <= MAX_CONTROL]
    for node in headings:
        if re.fullmatch(PREFERENCES, text_beginning(node, MAX_CONTROL)):
            box = node
            while box.parent and box.parent.parent and begins_with(box.parent, box):
                box = box.parent
            boxes.add(box)
    return set() if boxes and is_about_privacy(page) else boxes


def is_about_privacy(page: PageTree) -> bool:
    """Return whether the title of a page is about cookies or privacy."""
    titles = (node for node in page.nodes if node.tag in ("title", "h1"))
    return any(re.search(PRIVACY_TITLE, text_beginning(node, MAX_NAMES)) for node in titles)


def begins_with(parent: Node, child: Node) -> bool:
    """Return whether an element is its parent's first child with text."""
    for other in parent.children:
        if other is child:
            return True
        if other.chars if isinstance(other, Node) else other.strip():
            return False
    return False


def never_content(node: Node, page: PageTree) -> bool:
    """Return whether an element's tag rules out content."""
    if node.tag not in NO_CONTENT:
        return False
    # Forums put their threads into one big noscript element for clients without JavaScript.
    crawler_copy = node.tag == "noscript" and node.chars > 0.4 * page.text_chars
    # A question whose answer a click unfolds may be a button inside a heading.
    unfolds = node.tag == "button" and (
        (node.parent is not None and node.parent.tag in UNFOLDED)
        or (page.is_documentation and shows_text(node))
    )
    is_open = node.tag == "dialog" and ("open" in node.attributes or node in page.unfolded)
    return not (crawler_copy or unfolds or is_open)


def shows_text(button: Node) -> bool:
    """Return whether a button of documentation shows text.

    Examples are a request ("get /pens"), a response with its description, a folder above its files.
    """
    siblings = children_of(button.parent) if button.parent and button.parent.tag == "li" else []
    inside = [child for box in children_of(button) for child in children_of(box)]
    is_request = re.match(_REQUEST, text_beginning(button, MAX_CONTROL)) is not None
    is_folder = len(siblings) > 1 and siblings[0] is button and siblings[1].tag in ("ul", "ol")
    return is_request or is_folder or any(child.tag == "p" for child in inside)


def is_note(node: Node, page: PageTree) -> bool:
    """Return whether an aside, figcaption or footer is a part of the text."""
    if node.tag == "figcaption":
        return page.is_documentation
    if node.tag == "footer":  # the name of the quoted person or work
        return node.parent is not None and node.parent.tag == "blockquote"
    if node.tag != "aside":
        return False
    is_named = not words_of(node).isdisjoint(NOTE_WORDS)
    get = node.attributes.get
    if page.is_documentation and node.parent:
        siblings = node.parent.children[:MAX_SIBLINGS]
        if any(isinstance(one, Node) and one.tag == "p" for one in siblings):
            return node.link * 2 < node.chars  # between paragraphs
    return is_named or get("role") in NOTE_ROLES or get("data-type") in BOOK_TYPES


def is_control(node: Node, page: PageTree) -> bool:
    """Return whether a link is a heading's permalink or acts on the element next to it.

    In documentation, examples are "[source]", and "Edit" or "Run" next to code or on a separate
    line. In code or as a cell's only text, punctuation is an operator. An image that links to a
    position on the page is an arrow.
    """
    if not node.chars:
        return page.is_documentation and node.attributes.get("href", "")[:1] == "#"
    text = text_beginning(node, MAX_CONTROL)
    address = node.attributes.get("href", "")
    if not re.search(r"[^\W_]", text):
        in_code = any(around.tag in ("pre", "code") for around in ancestors_near(node))
        is_operator = in_code and words_of(node).isdisjoint(CONTROL_WORDS)
        return "#" in address and not (is_operator or is_whole_text(node))
    is_named = not words_of(node).isdisjoint(CONTROL_WORDS)
    is_beside = is_named and any(
        around.tag == "pre" or around.tag in HEADINGS for around in ancestors_near(node)
    )
    if not (page.is_documentation or is_beside) or not re.fullmatch(_CONTROL, text):
        return False
    if is_named or address == "#" or re.search(_SOURCE_ADDRESS, address):
        return True
    parent = node.parent
    while parent and parent.tag in INLINE_BOXES and parent.own == node.own:
        parent = parent.parent
    if not parent:
        return False
    return text[0] in "[(" or parent.tag == "pre" or parent.own == node.own


def is_whole_text(link: Node) -> bool:
    """Return whether a link contains code or all text of a table cell, so nothing is next to it."""
    if has_code(link):
        return True
    return bool(link.parent and link.parent.tag in CELLS and link.parent.chars == link.chars)


def has_code(link: Node) -> bool:
    """Return whether a link contains code: an operator or a function's name."""
    return any(child.tag == "code" for child in children_of(link))


def ancestors_near(node: Node) -> list[Node]:
    """Return the innermost MAX_NEAR elements around an element."""
    found: list[Node] = []
    while node.parent and len(found) < MAX_NEAR:
        node = node.parent
        found.append(node)
    return found


def is_opened(node: Node, page: PageTree) -> bool:
    """Return whether a click shows the element, according to its control or its names."""
    return node in page.unfolded or opens_by_click(node)


def is_label(node: Node) -> bool:
    """Return whether an element shows its parent's aria-label."""
    label = node.parent.attributes.get("aria-label", "") if node.parent else ""
    return bool(label) and text_beginning(node, MAX_CONTROL) == label


def is_site_header(node: Node) -> bool:
    """Return whether an element is the header of the site, not of a main, article or section."""
    if node.tag != "header":
        return False
    parent = node.parent
    while parent:
        if parent.tag in ("main", "article", "section"):
            return False
        parent = parent.parent
    return True


def is_image_text(node: Node, words: frozenset[str]) -> bool:
    """Return whether an element's name marks it as the text of a picture."""
    named = not words.isdisjoint(IMAGE_WORDS) and not words.isdisjoint(IMAGE_TEXT_WORDS)
    return named and node.chars < MAX_IMAGE_TEXT


def is_about_user(node: Node) -> bool:
    """Return whether an element shows details about a post's author other than the name.

    Answers call the box that marks their author or editor "post-signature".
    """
    if not re.search(_ABOUT_USER, names_of(node)):
        return False
    return not any(
        inner.attributes.get("itemprop") in ("author", "editor") for inner in elements_below(node)
    )


def role_words(node: Node, page: PageTree) -> frozenset[str]:
    """Return the words of a class and id that may describe the role of an element.

    Words of a heading describe its subject, except in articles, where headings are above boxes of
    related texts. An id made from a heading adds nothing to it; but outside documentation, a box
    with such an id and heading may have that role: "trending", "comments".
    """
    words = words_of(node)
    if words.isdisjoint(RULE_WORDS):
        return words
    in_heading = node.tag in HEADINGS or (node.parent and node.parent.tag in HEADINGS)
    if in_heading and not page.is_article:
        return words & NAME_RULES["gutter"]
    if "id" in node.attributes and (heading := own_heading(node)):
        text = text_beginning(heading, MAX_NAMES)
        subject = {word.lower() for word in re.findall(NAME_WORD, text)}
        if heading is node or page.is_documentation:
            words = name_words(node.attributes.get("class", "")[:MAX_NAMES]) | (words - subject)
    if page.is_documentation:
        if not words.isdisjoint(NOTE_WORDS):
            return NO_WORDS
        if node.tag in TEXT_TAGS:
            return words & (NAME_RULES["gutter"] | TOOLTIP_WORDS)
        no_roles = NAME_RULES["footer"] if "card" in words else NO_WORDS
        return words - no_roles - {"comment"}  # a class for comments in code or for descriptions
    return words


def own_heading(node: Node) -> Node | None:
    """Return the element if it is a heading, else the heading that it begins with, or None."""
    waiting: list[Node | str] = [node]
    for _ in range(MAX_BEGINNING):
        if not waiting:
            break
        first = waiting.pop()
        if isinstance(first, str):
            continue
        if first.tag in HEADING_TAGS:
            return first
        waiting += first.children[MAX_BEGINNING::-1]
    return None


def name_rule(node: Node, page: PageTree) -> str:
    """Return the rule that matches a word of an element's class or id, or ""."""
    words = role_words(node, page)
    if page.is_article and is_image_text(node, words):
        return "caption"
    if (page.is_thread or page.is_question) and is_about_user(node):
        return "profile"
    has_posts = page.keeps_comments or page.is_question  # remarks on an answer are next to it
    rules = () if words.isdisjoint(RULE_WORDS) else NAME_RULES.items()
    for rule, known in rules:
        if words.isdisjoint(known):
            continue
        if rule == "caption" and not page.is_article:
            continue
        is_remark = node.tag == "span" and page.is_documentation  # such as a button in a file tree
        if rule == "comments" and (has_posts or is_remark):
            continue
        if has_posts and rule == "byline" and node in page.comments:
            continue  # the author and time of a post
        if rule == "byline" and (
            not words.isdisjoint(PARAMETER_WORDS) or (page.is_documentation and own_heading(node))
        ):
            continue  # the type of a parameter; a section such as "Since" or "Example"
        if rule == "share" and "embed" in words:  # a quoted post is part of the article
            continue
        if rule == "consent" and not is_consent(node):
            continue
        if rule == "sidebar" and any(is_note(one, page) for one in (node, node.parent) if one):
            continue  # a note or part of a note
        return rule
    # A table for screen readers contains the numbers of a drawn chart.
    is_kept = node.tag in ("table", "details") or is_opened(node, page)
    return "hidden class" if has_hidden_class(node) and not is_kept else ""
