"""Which elements are not content by their tag, role, style, class or id.

What a rule is worth was measured on real pages; its name says what it sees.
"""

from __future__ import annotations

import re

from websearch.base.html_tree import HEADINGS, Node, name_set, text_beginning
from websearch.pages.extract.element_names import (
    MAX_NAMES,
    NAME_WORD,
    NO_WORDS,
    SIDEBAR_WORDS,
    has_hidden_class,
    is_hidden,
    name_words,
    names_of,
    opens_by_click,
    words_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from websearch.pages.extract.page_tree import PageTree

NO_CONTENT = name_set(
    "applet area audio base button canvas datalist dialog embed footer frame frameset iframe input "
    "link map math menu meta meter nav noembed noframes noscript object optgroup option param "
    "progress script select source style svg template textarea title track video"
)
LANDMARKS = name_set(
    "navigation banner contentinfo search menu menubar dialog alert complementary toolbar"
)
ELEMENT_RULES = {"figcaption": "caption", "aside": "sidebar", "form": "signup"}
NAMED_CONTENT = name_set("main article h1")  # whatever their class and id say
# Rule -> words of class and id that it knows. Names are split into words: whole ones are for
# HIDDEN_CLASSES. The first rule that matches decides; consent must hold words of consent, too.
NAME_RULES = {
    "consent": name_set(
        "cookie cookies consent gdpr cookiebar cookiebanner cookieconsent cookielaw cookieyes "
        "cmplz onetrust cookiebot didomi usercentrics trustarc truste klaro iubenda osano"
    ),
    "navigation": name_set(
        "nav navigation navbar navi subnav menu menus submenu megamenu breadcrumb breadcrumbs "
        "crumbs crumb pagination pager paging paginator toolbar topbar skip skiplink skiplinks "
        "sitemap offcanvas hamburger navbox catlinks"
    ),
    "gutter": name_set("lineno linenos linenumber linenumbers lnt"),
    "footer": name_set("footer foot colophon copyright bottombar printfooter"),
    "sidebar": SIDEBAR_WORDS,
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
        "modal popup overlay tooltip dropdown btn print noprint toast lightbox search searchform "
        "searchbox"
    ),
}
# Text of documentation: names tell its meaning there ("span.author", a row's id), not its role.
TEXT_TAGS = HEADINGS | name_set(
    "p pre dl dt dd li td th tr table caption figcaption summary span code em strong b i cite abbr"
)
UNFOLDED = HEADINGS | {"dt"}  # what a button in them unfolds comes after them
TOOLTIP_WORDS = name_set("tooltip tooltiptext popup")  # they tell the role of such text, too
HEADING_TAGS = HEADINGS | name_set("dt summary caption")  # what an id may be made from
MAX_BEGINNING = 16  # elements and texts in which an element's heading is looked for
# A box with such a name is a note inside the text, also if it is an aside.
NOTE_WORDS = name_set(
    "admonition note tip hint warning caution danger callout footnote footnotes endnote endnotes "
    "deprecated deprecation seealso"
)
NOTE_ROLES = name_set("note doc-footnote doc-endnote doc-endnotes doc-tip doc-notice")
# The whole text of a link or box in a heading, a term or beside code that does something with it.
_CONTROL = (
    r"(?i)(?:[\W_]|\b(?:permanent link|permalink|link|source|src|view source|edit|edit this page"
    r"|run|run this code|run code|try it|copy|copied|to this (?:heading|definition)))*"
)
CONTROL_WORDS = name_set("srclink src viewcode edit editsection anchor headerlink permalink")
INLINE_BOXES = name_set("span b small sup")
MAX_CONTROL = 40  # characters
MAX_NEAR = 4  # elements around a link that tell whether it stands in code
# An address of source code: a folder or view of it, a line in it.
_SOURCE_ADDRESS = (
    r"(?i)(?:^|/)_?(?:src|sources?|blob|edit|viewcode|_modules)/|#L\d|[-_]source\.html"
)
# Words with which a page asks for consent, in the languages of most pages.
CONSENT_WORDS = (
    r"(?i)privacy|consent|personal data|your (?:browser|device)|web ?site|partners|third.part|gdpr"
    r"|datenschutz|einwillig|zustimm|webseite|confidentialité|données|navigateur|privacidad|navegador"
    r"|sitio|sito|dati personali|privacidade|gegevens|prywatno|ciasteczk|конфиденциал|согласи|同意"
)
MAX_CONSENT = 1_500  # characters of an element that are searched for them
PRIVACY_TITLE = r"(?i)cookie|privacy|datenschutz|confidentialité|privacidad|prywatno"
PREFERENCES = (
    r"(?i)(?:your |manage )?(?:privacy|cookies?|consent) (?:preferences?|settings|options)"
    r"(?: cent(?:er|re))?"
    r"|(?:cookie|privatsphäre|datenschutz)[- ]?einstellungen|(?:gestion|paramètres) des cookies"
    r"|configuración de (?:las )?cookies|impostazioni (?:dei )?cookie|ustawienia cookies"
)
RULE_WORDS = frozenset().union(*NAME_RULES.values())
# An element with a name of both kinds holds what is said about a picture.
IMAGE_WORDS = name_set("image images img photo picture pic figure media bild foto")
IMAGE_TEXT_WORDS = name_set(
    "caption subtitle description desc credit copyright source metadata legend"
)
MAX_IMAGE_TEXT = 300  # characters
# A match that holds more than this share of the page's prose is no boilerplate, whatever its name.
MOST_PROSE = {
    "overlay": 0.12, "signup": 0.12, "advertisement": 0.2, "sidebar": 0.5, "hidden": 0.6,
}  # fmt: skip
MOST_PROSE_DEFAULT = 0.35
MOST_CHARS = 0.5  # the same for all of the page's text
# Characters: on pages that are no article, a longer element with such a name is a part of it.
LARGEST = {"byline": 600, "advertisement": 800}
SURE_RULES = name_set("element comments consent control")  # whatever size an element has
# Rules that are not applied, by page.leniency.
SOFT_RULES = name_set("related advertisement byline overlay signup share caption comments")
IGNORED_RULES: tuple[frozenset[str], ...] = (
    frozenset(),
    SOFT_RULES,
    SOFT_RULES | {"hidden", "hidden class"},
    (SOFT_RULES | {"hidden", "hidden class", *NAME_RULES}) - {"consent"},
)
# In a class or id of a thread: what stands beside a post of who wrote it, except the name.
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
    if tag == "a" and node.chars <= MAX_CONTROL and is_control(node, page):
        return "control"
    if attributes and is_hidden(attributes) and not (is_opened(node, page) or is_label(node)):
        return "hidden"
    if attributes.get("role") in LANDMARKS or is_site_header(node):
        return "landmark"
    has_names = ("class" in attributes or "id" in attributes) and tag not in NAMED_CONTENT
    return name_rule(node, page) if has_names else ""


def is_consent(node: Node) -> bool:
    """Return whether an element that is named after cookies speaks of consent, not of baking."""
    return node.chars == 0 or bool(re.search(CONSENT_WORDS, text_beginning(node, MAX_CONSENT)))


def preference_boxes(page: PageTree) -> set[Node]:
    """Return the boxes in which a page asks for preferences on privacy, whatever their names are.

    A box begins with its heading. There is none on a page about that.
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
    """Return whether a page says by its title that it is about cookies or privacy."""
    titles = (node for node in page.nodes if node.tag in ("title", "h1"))
    return any(re.search(PRIVACY_TITLE, text_beginning(node, MAX_NAMES)) for node in titles)


def begins_with(parent: Node, child: Node) -> bool:
    """Return whether an element is the first in another that holds text."""
    for other in parent.children:
        if other is child:
            return True
        if other.chars if isinstance(other, Node) else other.strip():
            return False
    return False


def never_content(node: Node, page: PageTree) -> bool:
    """Return whether an element never holds content, by its tag."""
    if node.tag not in NO_CONTENT:
        return False
    # Forums serve their threads to clients without JavaScript in one big noscript element.
    crawler_copy = node.tag == "noscript" and node.chars > 0.4 * page.text_chars
    # A question that unfolds its answer is a button inside a heading.
    unfolds = node.tag == "button" and node.parent is not None and node.parent.tag in UNFOLDED
    # Who is quoted.
    is_source = node.tag == "footer" and node.parent is not None and node.parent.tag == "blockquote"
    return not (crawler_copy or unfolds or is_source)


def is_note(node: Node, page: PageTree) -> bool:
    """Return whether an element that is often beside the text is a note or a caption inside it."""
    if node.tag == "figcaption":
        return page.is_documentation
    if node.tag != "aside":
        return False
    is_named = not words_of(node).isdisjoint(NOTE_WORDS)
    return is_named or node.attributes.get("role") in NOTE_ROLES


def is_control(node: Node, page: PageTree) -> bool:
    """Return whether a link is a sign that leads to its own heading, or acts on what it is beside.

    In documentation: "[source]", or "Edit" and "Run" beside code or alone in a line. In code, a
    sign is an operator. An image in a link to a place on the page is an arrow.
    """
    if not node.chars:
        return page.is_documentation and node.attributes.get("href", "")[:1] == "#"
    text = text_beginning(node, MAX_CONTROL)
    address = node.attributes.get("href", "")
    if not re.search(r"[^\W_]", text):
        in_code = any(one.tag in ("pre", "code") for one in ancestors_near(node))
        return "#" in address and not (in_code and words_of(node).isdisjoint(CONTROL_WORDS))
    if not page.is_documentation or not re.fullmatch(_CONTROL, text):
        return False
    if not words_of(node).isdisjoint(CONTROL_WORDS) or re.search(_SOURCE_ADDRESS, address):
        return True
    parent = node.parent
    while parent and parent.tag in INLINE_BOXES and parent.own == node.own:
        parent = parent.parent
    if not parent:
        return False
    return text[0] in "[(" or parent.tag == "pre" or parent.own == node.own


def ancestors_near(node: Node) -> list[Node]:
    """Return the elements right around another, up to MAX_NEAR of them."""
    found: list[Node] = []
    while node.parent and len(found) < MAX_NEAR:
        node = node.parent
        found.append(node)
    return found


def is_opened(node: Node, page: PageTree) -> bool:
    """Return whether a click shows an element: a control opens it, or it says that it unfolds."""
    return node in page.unfolded or opens_by_click(node)


def is_label(node: Node) -> bool:
    """Return whether an element shows the label that the box around it says to screen readers."""
    label = node.parent.attributes.get("aria-label", "") if node.parent else ""
    return bool(label) and text_beginning(node, MAX_CONTROL) == label


def is_site_header(node: Node) -> bool:
    """Return whether an element is the header of the site, not of an article or section."""
    if node.tag != "header":
        return False
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


def is_about_user(node: Node) -> bool:
    """Return whether an element of a thread says more of who wrote a post than the name."""
    return bool(re.search(_ABOUT_USER, names_of(node)))


def role_words(node: Node, page: PageTree) -> frozenset[str]:
    """Return the words of a class and id that may tell what an element is for.

    Those of a heading name its subject, except on articles, where headings stand over boxes of
    related texts. An id that is made from a heading says no more than the heading; outside of
    documentation a box with such an id and heading can be what they say: "trending", "comments".
    """
    words = words_of(node)
    if words.isdisjoint(RULE_WORDS):
        return words
    in_heading = node.tag in HEADINGS or (node.parent and node.parent.tag in HEADINGS)
    if in_heading and not page.is_article:
        return NO_WORDS
    if "id" in node.attributes and (heading := own_heading(node)):
        text = text_beginning(heading, MAX_NAMES)
        said = {word.lower() for word in re.findall(NAME_WORD, text)}
        if heading is node or page.is_documentation:
            words = name_words(node.attributes.get("class", "")[:MAX_NAMES]) | (words - said)
    if page.is_documentation:
        if not words.isdisjoint(NOTE_WORDS):
            return NO_WORDS
        if node.tag in TEXT_TAGS:
            return words & (NAME_RULES["gutter"] | TOOLTIP_WORDS)
        return words - {"comment"}  # what a line of code or a description is called
    return words


def own_heading(node: Node) -> Node | None:
    """Return the heading that an element is or begins with; an id is often made from it."""
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
    """Return the rule that knows a word of an element's class or id, or ""."""
    words = role_words(node, page)
    if page.is_article and is_image_text(node, words):
        return "caption"
    if (page.is_thread or page.is_question) and is_about_user(node):
        return "profile"
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
        if rule == "consent" and not is_consent(node):
            continue
        if rule == "sidebar" and node.parent and is_note(node.parent, page):
            continue  # a part of the note, named after it
        return rule
    # A table for screen readers has the numbers of a chart that is drawn for the eye.
    is_kept = node.tag == "table" or is_opened(node, page)
    return "hidden class" if has_hidden_class(node) and not is_kept else ""
