"""Find the main content of an HTML page.

What kind of page it is decides which rules apply (page_tree.PageTree): an article (it says so), a
thread or questions (their address or data say so), documentation (its generator says so, or its
headings with anchors and its code), or none of these. Rules for articles take away teasers, related
links, repeated boxes and what stands beside the text; documentation has all of these as content.

find_content applies the rules in this order, because each builds on what those before it left:

0. What the program that made the page writes around the text (generator_rules), as it is read.
1. Comments: is the page made of them, or are they those of readers? Names are not judged before.
2. Repeated teasers and comments of an article (structure_rules), while their lists are whole.
3. Names, tags and styles (name_rules), from the root down: what is inside a dropped element is not
   judged. is_plausible stops a rule that would take too much of the page; shares are those of the
   page after 2. Around an article's core and inside code, names count for nothing.
4. If too little is left, 3 is done again with fewer rules (keep_more). It is done here, because
   every later step measures what is left.
5. Labels of tabs move to their panels, before the row of tabs can go as a list.
6. The element with the content: the one named as the text, then down as long as one child holds
   nearly all running text; up again if too little of the page is in it (widen).
7. Inside it, what leads away (link_rules): lists of links, sections on related pages; then the
   boxes beside the core, which are found by the text that is left; then short promotions.
8. The title, dates and headings at the ends of an article, copies. Copies are last, because two
   boxes may be equal only after the others have gone.
9. Leads are looked for between the title and the content, among what 3 dropped as "related", too.
10. Notes that the content's marks point to and that are not in it come after it (notes.py).
"""

from __future__ import annotations

import re
from itertools import repeat

from websearch.base.html_tree import BLOCKS, Node, name_set, text_beginning
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
    element_rule,
    is_about_privacy,
    preference_boxes,
)
from websearch.pages.extract.notes import gather_notes
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
    drop_beside_core,
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
TOO_LITTLE = 0.25  # share of the page's text; when less is left, more is kept
MIN_TEXT = 200  # characters of a page that something must come out of
ENOUGH_PROSE = 500  # characters; an article with so much running text is not started again
STEP_DOWN = 0.85  # share of the prose that a child must hold for the walk to go down to it
NAMED_SHARE = 0.4  # share of the prose that the element named as the text must hold
INNER_SHARE = 0.6  # the same of the prose of an article element around it
TWIN_SHARE = 0.3  # prose of its twins that makes a named element a part of the text
AROUND_SHARE = 0.3  # share of the prose in a core whose surroundings no name drops
FORUM_SHARE = 0.5  # share of the prose in comments that makes them the content
# A class or id, whole, that blog software gives to comments of readers: WordPress, Movable Type,
# Blogger, Drupal. As a class, "comments" alone is found in discussions, too.
_READERS_COMMENTS = (
    r"(?i)(?:^|\s)(?:comment-?list|comments?-area|comments-list|comment-respond|respond|commentform"
    r"|comments-content|comments-block|thread-(?:even|odd)|comment-wrapper)(?:\s|$)|\scomments$"
)
MIN_POST = 150  # characters of prose of a post that has comments
LONG_POST = 1_000  # the same where no name says whose comments they are; each is shorter
# A class or id, whole, of the element with the page's text: "entry-content", "td-post-content".
_TEXT_NAME = (
    r"(?i)(?:^|\s|__)(?:(?:td-)?(?:article|entry|post|story|news|blog|text|page|content|single|main"
    r"|node|recipe)[-_]?(?:single)?[-_]?(?:body|content|text|copy|fulltext|entry)|body-?(?:copy|text))"
    r"(?:\s|$)"
)
MIN_PART_TEXT = 60  # characters outside of links in a part of documentation
MAX_TITLE = 300  # characters
MIN_LEAD = 40  # characters
MIN_UNNAMED_LEAD = 120  # the same where no name says that it is one; subheadings are shorter
_SENTENCE_END = r"[.!?\u2026\u3002][\"\u201d\u00bb\u2019)]?$"
MAX_LEADS = 2  # paragraphs
MAIN_SHARE = 0.3  # share of the page's text that makes a main element the right one
CONTENT_SHARE = 0.65  # share of the main element's text that the content must have


def comments_are_content(page: PageTree) -> bool:
    """Return whether most of the prose is in comments and the page is no article of its own.

    Forums, question pages and discussions are made of what other pages carry below the text. What
    blogs name as comments of readers is no content, however long it is and however short the post.
    """
    inside = page.comments
    prose = 0
    are_readers = False
    for node in page.nodes[1:]:  # a class of the body says whether the page has comments
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
        if not page.says_documentation:  # a post on code
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
    """Return the most prose in paragraphs right below one of the elements."""
    prose: dict[Node, int] = {}
    for node in nodes:
        if node.parent and node.own >= MIN_ARTICLE_PROSE and node.tag in BLOCKS:
            prose[node.parent] = prose.get(node.parent, 0) + node.own - node.own_link
    return max(prose.values(), default=0)


def around_article(page: PageTree) -> set[Node]:
    """Return the elements around an article's core, which no name makes boilerplate.

    Class names tell how a page is laid out, and what stands beside its text: "l-sidebar-right".
    """
    core, prose = find_core(page, page.comments)
    is_article = page.is_article and prose >= max(MIN_CORE, AROUND_SHARE * page.root.prose)
    return set(ancestors(core)) if is_article else set()


def drop_boilerplate(page: PageTree) -> None:
    """Drop the elements that a rule knows, unless they cannot be what the rule takes them for."""
    if not (page.is_documentation or page.is_thread or page.is_question):
        drop_repeated(page)
    around = around_article(page)
    preferences = preference_boxes(page)
    ignored = IGNORED_RULES[page.leniency]
    if page.leniency == len(IGNORED_RULES) - 1 and is_about_privacy(page):
        ignored |= {"consent"}
    code: set[Node] = set()
    for node in page.nodes[1:]:
        if node.tag in CODE or node.parent in code:
            code.add(node)
        if node.parent and node.parent.dropped:
            node.dropped = node.parent.dropped
        if node.dropped:
            continue
        rule = "consent" if node in preferences else element_rule(node, page)
        if rule in NAME_RULES and (node in around or (node in code and rule != "gutter")):
            continue  # in code, names tell the kind of a word: "comment", "tag"
        is_sure = rule == "comments" and page.has_readers_comments
        if not rule or (rule in ignored and not is_sure):
            continue
        if is_plausible(node, rule, page):
            node.dropped = rule
            page.text_chars -= node.chars if is_sure and not page.leniency else 0
    page.measure()


def is_plausible(node: Node, rule: str, page: PageTree) -> bool:
    """Return whether an element can be what a rule takes it for, by its size and its links."""
    if rule in SURE_RULES:
        return True
    if not page.is_article and node.chars > LARGEST.get(rule, node.chars):
        return False
    if page.is_documentation and rule == "sidebar" and node.prose and node.link * 2 < node.chars:
        return False  # a note
    if page.is_article and rule == "related" and node.prose and not node.link:
        return False  # it is the lead, which German newspapers name "teaser"
    share = MOST_PROSE.get(rule, MOST_PROSE_DEFAULT)
    is_small = node.chars <= MOST_CHARS * (page.root.chars or 1)
    return is_small and node.prose <= share * (page.root.prose + 1)


def keep_more(page: PageTree, leniency: int) -> None:
    """Apply the rules to the whole page again, but fewer of them (IGNORED_RULES).

    leniency: 1 leaves out those that names alone decide, 2 also those on hidden text, 3 all but
    that on elements that never hold content. Pages whose content carries such names exist (a
    shop's "promo" grid), and pages that show their text by script.
    """
    for node in page.nodes:
        node.dropped = ""
    page.leniency = leniency
    page.drop_unseen()
    page.measure()
    drop_boilerplate(page)


def is_named_text(node: Node) -> bool:
    """Return whether an element says by its name that it is the text of the page."""
    if node.tag == "article" or node.attributes.get("itemprop", "").lower() == "articlebody":
        return True
    return bool(re.search(_TEXT_NAME, names_of(node)))


def named_text(page: PageTree) -> Node:
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


def choose_content(page: PageTree) -> Node:
    """Return the element that the content is in: down while one child holds nearly all prose."""
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
            or (page.keeps_comments and best in page.comments)  # the post stands beside them
            or any(is_part(child) for child in below if child in with_text and child is not best)
            or (page.is_plain and any(map(is_unnamed_text, below, repeat(best))))
        ):
            return node
        node = best


def is_part(node: Node) -> bool:
    """Return whether an element with text is a part of documentation, not a box beside it."""
    return node.tag in TEXT_SIGNS or node.chars - node.link >= MIN_PART_TEXT


def is_unnamed_text(node: Node, beside: Node) -> bool:
    """Return whether an element beside another is text that nothing names a part of the layout."""
    is_text = node.link * 2 < node.chars and node.chars - node.link >= MIN_PART_TEXT
    return node is not beside and is_text and is_unnamed(node)


def elements_with_text(page: PageTree) -> set[Node]:
    """Return the elements of documentation with a heading, code or text that is not all links."""
    found: set[Node] = set()
    for node in reversed(page.nodes):
        if node.dropped or node.link * 2 > node.chars:
            continue
        if node in found or (node.chars and (node.tag in TEXT_SIGNS or node.prose)):
            found.add(node)
            if node.parent:
                found.add(node.parent)
    return found


def drop_title(page: PageTree) -> None:
    """Drop the first main heading: the title is a field of its own.

    Not where documentation has a main heading over each part, and the first is not its title.
    """
    headings = [node for node in page.nodes if node.tag == "h1" and not node.dropped]
    if not headings:
        return
    if page.is_documentation and len(headings) > 1:
        title = next((text_beginning(n, MAX_TITLE) for n in page.nodes if n.tag == "title"), "")
        if text_of(headings[0]) not in title:
            return
    headings[0].dropped = "title"
    page.spread()


def find_lead(page: PageTree, content: Node) -> list[Node]:
    """Return the paragraphs between the main heading and the content that are the text's lead."""
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
    """Return whether a paragraph or what is around it, up to the content, is named as a lead."""
    near = [node, node.parent, node.parent.parent if node.parent else None]
    return any(one and one not in path and words_of(one) & LEAD_NAMES for one in near)


def is_unnamed_lead(node: Node) -> bool:
    """Return whether an element that no rule drops holds a sentence as long as a lead has."""
    if node.dropped or node.own < MIN_UNNAMED_LEAD:
        return False
    return bool(re.search(_SENTENCE_END, text_of(node)))


class Content:
    """What was found on a page: its lead paragraphs, the element with the rest, and its notes."""

    def __init__(
        self, page: PageTree, node: Node, leads: list[Node], notes: list[Node] | None = None
    ) -> None:
        self.page = page
        self.node = node
        self.leads = leads
        self.notes = notes or []
        self.parts = [*leads, node, *self.notes]


def widen(page: PageTree, content: Node) -> Node:
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


def find_content(html: str) -> Content:
    """Return the content of an HTML page; never fails, whatever the page is made of."""
    page = PageTree(html)
    page.keeps_comments = comments_are_content(page)
    page.unfolded = find_unfolded(page.nodes)
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
    label_panels(page)
    content = choose_content(page)
    if not page.is_article:
        content = widen(page, content)
    drop_link_lists(page, content)
    drop_related(page, content)
    page.measure()
    drop_beside_core(page, content)
    drop_promotions(page)
    drop_title(page)
    if page.is_article:
        drop_ends(page, content)
    drop_copies(page, content)
    leads = find_lead(page, content)
    return Content(page, content, leads, gather_notes(page, content))


def extract(html: str, url: str = "") -> str:
    """Return the content of an HTML page as plain text, one line for each paragraph or heading."""
    found = find_content(html)
    parts: list[str] = []
    for node in found.parts:
        collect_text(node, parts)
        parts.append("\n")
    lines = (" ".join(line.split()) for line in "".join(parts).split("\n"))
    return "\n".join(line for line in lines if line)
