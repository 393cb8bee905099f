"""Parse a page: its elements, the amount of text in each and the kind of page."""

from __future__ import annotations

import itertools
import json
import re

from websearch.base.html_tree import BLOCKS, HEADINGS, Node, TreeBuilder, name_set, text_beginning
from websearch.pages.extract.formulas import read_formulas
from websearch.pages.extract.generator_rules import (
    is_frame,
    named_program,
    write_summaries,
    write_versions,
)
from websearch.pages.extract.hidden_styles import unseen_elements
from websearch.pages.extract.rewriting import rewrite

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

TEXT_BLOCKS = name_set(
    "p pre blockquote td dd li h1 h2 h3 h4 h5 h6 dt figcaption caption th summary"
)
MIN_PROSE = 25  # characters that make a block running text
MIN_ARTICLE_PROSE = 60  # the same on a page that declares itself an article
MAX_SIGN_HTML = 1_000_000  # characters of HTML to search for the kind of page
UNSEEN = name_set("script style template title rt rtc rp")  # rewriting.py adds ruby readings
UNSEEN_REASONS = ("element", "data", "tabs", "nosnippet", "unseen", "generator")  # of unseen_reason
LAYOUT = name_set("div table tr td center section ul")
PLAIN_SHARE = 0.15  # maximum share of LAYOUT elements with a class or id on a plain page
CODE = name_set("pre code kbd samp tt xmp textarea script style")
_ESCAPED_TAG = r"(?i)<(?:img|iframe|source|figure)\s[^<>]*>"
# Beginning of data, perhaps with typographic quotation marks, and beginning of schema.org data.
_DATA = r"[\[{\s]{1,20}[\"\u201c\u201d\u2033][@\w$-]{1,40}[\"\u201c\u201d\u2033]\s?:"
_LINKED_DATA = r"@context\W{1,9}https?://schema\.org"
MAX_DATA_START = 200  # characters of an element to examine for data
MIN_DATA, MAX_DATA = 100, 100_000  # characters of other data; shorter data may be an example
# Declarations of articles: schema.org types, Open Graph, microdata.
_HAS_POSTING = (
    r'(?i)"@type"\s{0,9}:\s{0,9}\[?\s{0,9}"(?:News|Blog|Tech|Scholarly|Report|Reportage|Opinion|Social)?'
    r'(?:Article|MediaPosting|Posting)"'
)
_IS_POSTING = _HAS_POSTING + (
    r'|property=["\']?og:type["\']? content=["\']?article'
    r'|content=["\']article["\'] property=["\']og:type'
)
# Body classes of WordPress pages that are not posts; its plugins give them the type "article" too.
_IS_PAGE = r"(?:^|\s)(?:page-id-\d+|single-product)(?:\s|$)"
# schema.org types of pages whose facts are in boxes; blogs also declare recipes as articles.
_HAS_FACTS = (
    r'"@type"\s{0,9}:\s{0,9}\[?\s{0,9}"(?:Recipe|HowTo|Product|Event|JobPosting|FAQPage|QAPage'
    r'|LocalBusiness|Restaurant|Hotel|LodgingBusiness|Movie|Book)"'
)
_SAYS_ARTICLE = _IS_POSTING + r'|itemprop=["\']articleBody'  # documentation themes also declare it
# Documentation generators, as in meta name="generator".
_DOCUMENTATION_GENERATOR = (
    r"(?i)(?:made with love by )?(?:docutils|sphinx|mkdocs|zensical|docusaurus|vitepress|vuepress"
    r"|mdbook|javadoc|rustdoc|doxygen|asciidoc|docbook|makeinfo|texi2|gitbook|bookdown|antora"
    r"|pdoc|typedoc|starlight|nextra|docfx|yard|exdoc|jsdoc|scaladoc|dokka|haddock|ocamldoc|odoc"
    r"|dartdoc|gi-docgen|mintlify|pydoctor|groff|esdoc)"
)
# The generator's credit in a footer: "Generated using TypeDoc".
_CREDIT = r"(?i)\b(?:generated|created|built|made) (?:by|with|using) (.{1,60})"
_WIKI = r"(?i)mediawiki|dokuwiki"  # wiki pages are documentation unless they declare an article
MAX_CREDIT = 300  # characters of a footer to search for the credit
MAX_HEADING_CHARS = 200  # characters of a heading and its id to compare
MIN_ANCHORS = 2  # headings that can be linked to
MIN_CODE = 3  # code blocks, code spans and terms needed in addition to such headings
MIN_CODE_ALONE = 4  # the same without such headings; at least one must be a code block
# The URL of a forum or of a thread in a forum.
_FORUM_ADDRESS = (
    r"(?i)^https?://(?:(?:forums?|boards?|discuss)\."
    r"|[^\s]{1,300}/(?:forums?|discussions?|threads?|topics?/\d|r/\w{1,30}/comments"
    r"|viewtopic\.php|showthread\.php)[/?])"
)


class PageTree:
    """A parsed page: its tree, its elements in document order and the kind of page.

    is_article, is_thread (of a forum), is_question (with answers): kind by the page's data or URL
    is_live: a live blog by its data; its posts have bylines
    is_documentation: kind by the generator, or by headings and code; excludes is_article
    says_article, says_documentation: declarations in the page
    program: the generator if generator_rules has rules for it, or ""
    shows_beside: a reader sees the parts beside the text, because the text alone does not suffice
    is_plain: few layout elements have names, as on pages from before style sheets existed
    keeps_comments: comments are the content, as in a forum
    has_readers_comments: the page has readers' comments, as a blog does
    leniency: index of IGNORED_RULES
    unseen: elements that styles hide
    """

    def __init__(self, html: str) -> None:
        builder = TreeBuilder(html)
        builder.build()
        self.root, self.cut = builder.root, builder.cut
        self.nodes = rewrite(read_formulas(builder.nodes))
        signs = html[:MAX_SIGN_HTML]
        self.is_question = "QAPage" in signs  # a schema.org type in the page's data
        self.is_thread = "DiscussionForumPosting" in signs or self.is_in_forum()
        self.is_live = "LiveBlogPosting" in signs
        self.says_article = says_article = bool(re.search(_SAYS_ARTICLE, signs))
        generator = self.generator()
        self.program = named_program(html, generator)
        if self.program == "rustdoc":
            self.nodes = write_versions(self.nodes)
        if generator.startswith("javadoc"):
            self.nodes = write_summaries(self.nodes)
        self.says_documentation = bool(
            self.program or re.match(_DOCUMENTATION_GENERATOR, generator)
        )
        self.is_documentation = not (self.is_question or self.is_thread) and (
            self.says_documentation
            or (
                not (says_article and re.search(_IS_POSTING, signs))
                and (bool(re.match(_WIKI, generator)) or self.looks_like_documentation())
            )
        )
        self.is_article = says_article and not (self.is_thread or self.is_documentation)
        is_page = re.search(_IS_PAGE, self.root.attributes.get("class", "")) is not None
        is_page = is_page and not re.search(_HAS_POSTING, signs)
        is_whole = self.is_documentation or (self.is_article and not is_page)
        self.shows_beside = not is_whole or bool(re.search(_HAS_FACTS, signs))
        self.is_plain = not self.is_article and self.names_little()
        self.keeps_comments = self.has_readers_comments = False
        self.comments: set[Node] = set()  # elements in comments
        self.unfolded: set[Node] = set()  # elements that controls open (unfolding.py)
        self.tab_rows: set[Node] = set()  # rows of tabs that became labels of their panels
        self.leniency = 0
        self.min_prose = MIN_ARTICLE_PROSE if self.is_article else MIN_PROSE
        self.data: set[Node] = set()
        self.find_data()
        self.unseen = unseen_elements(self.nodes)
        self.drop_unseen()
        if "&lt;" in html:
            self.drop_escaped_tags()
        self.measure()
        self.text_chars = self.root.chars  # characters of the page, including boilerplate

    def is_in_forum(self) -> bool:
        """Return whether the page's canonical URL is in a forum."""
        for node in self.nodes:
            get = node.attributes.get
            if node.tag == "link" and get("rel", "").lower() == "canonical":
                address = get("href", "")
            elif node.tag == "meta" and get("property", "").lower() == "og:url":
                address = get("content", "")
            else:
                continue
            if re.search(_FORUM_ADDRESS, address):
                return True
        return False

    def names_little(self) -> bool:
        """Return whether few layout elements have a class or id."""
        boxes = [node for node in self.nodes if node.tag in LAYOUT]
        named = sum("class" in box.attributes or "id" in box.attributes for box in boxes)
        return named <= PLAIN_SHARE * len(boxes)

    def generator(self) -> str:
        """Return the content of the page's generator meta element, or "".

        If there are several, such as Astro and its theme, documentation generators come first.
        JSDoc and TypeDoc name themselves only in the footer.
        """
        names = [
            node.attributes.get("content", "")
            for node in self.nodes
            if node.tag == "meta" and node.attributes.get("name", "").lower() == "generator"
        ]
        ends = (text_beginning(node, MAX_CREDIT) for node in self.nodes if node.tag == "footer")
        signed = (found[1] for end in ends if (found := re.search(_CREDIT, end)))
        named = itertools.chain(names, signed)
        known = (name for name in named if re.match(_DOCUMENTATION_GENERATOR, name))
        return next(known, "".join(names[:1]))

    def looks_like_documentation(self) -> bool:
        """Return whether the page has code, terms and headings with anchors, as documentation does.

        An anchor is a link to its own heading, or an id made from the heading's text.
        """
        code_blocks = pieces = anchors = 0
        headings: set[Node] = set()
        for node in self.nodes:
            if node.tag in HEADINGS:
                headings.add(node)
                anchors += is_own_words(node)
            elif node.tag == "a" and node.parent and node.parent.tag == "dt":
                own = node.parent.attributes.get("id", "")
                anchors += bool(own) and node.attributes.get("href") == f"#{own}"
            elif node.parent in headings:
                headings.add(node)
                address = node.attributes.get("href", "") if node.tag == "a" else ""
                anchors += address.startswith("#") and len(address) > 1
            if node.tag in ("pre", "code", "dt"):
                pieces += 1
                code_blocks += node.tag == "pre"
        if anchors >= MIN_ANCHORS and pieces >= MIN_CODE:
            return True
        return code_blocks > 0 and pieces >= MIN_CODE_ALONE

    def drop_unseen(self) -> None:
        """Drop scripts, styles, templates, data, hidden text and the generator's frames."""
        for node in self.nodes:
            node.dropped = self.unseen_reason(node)
        self.spread()

    def unseen_reason(self, node: Node) -> str:
        """Return why a reader does not see an element: one of UNSEEN_REASONS, or ""."""
        if node.tag in UNSEEN:
            return "element"
        if node in self.data:
            return "data"
        if node in self.tab_rows:
            return "tabs"
        if "data-nosnippet" in node.attributes:
            return "nosnippet"
        if node in self.unseen and self.leniency < 3:
            return "unseen"
        is_generated = self.program and node.attributes and is_frame(node, self.program)
        return "generator" if is_generated else ""

    def drop_escaped_tags(self) -> None:
        """Remove tags that appear as text because they were escaped twice, except in code."""
        for node in self.nodes:
            if node.tag in CODE:
                continue
            for index, child in enumerate(node.children):
                if isinstance(child, str) and "<" in child:
                    node.children[index] = re.sub(_ESCAPED_TAG, " ", child)

    def find_data(self) -> None:
        """Drop data for programs, such as schema.org data, that is in the text outside code."""
        for node in self.nodes:
            first = node.children[0] if node.children else ""
            if not isinstance(first, str) or first.lstrip()[:1] not in ("{", "["):
                continue
            beginning = text_beginning(node, MAX_DATA_START)
            if not re.match(_DATA, beginning) or any(box.tag in CODE for box in ancestors(node)):
                continue
            is_known = re.search(_LINKED_DATA, beginning) is not None
            if is_known or (not self.is_documentation and is_json(node)):
                self.data.add(node)

    def spread(self) -> None:
        """Drop all descendants of dropped elements."""
        for node in self.nodes:
            if node.parent and node.parent.dropped and not node.dropped:
                node.dropped = node.parent.dropped

    def measure(self) -> None:
        """Measure every element's text without dropped parts, in one pass from the end."""
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


def is_json(node: Node) -> bool:
    """Return whether an element's text is only JSON and is long enough to be data."""
    text = text_beginning(node, MAX_DATA)
    if not MIN_DATA <= len(text) < MAX_DATA:
        return False
    try:
        json.loads(text, parse_int=float)  # not int: a million digits would take seconds
    except (ValueError, RecursionError):
        return False
    return True


def is_own_words(heading: Node) -> bool:
    """Return whether a heading's id is made from its text: "how-to-begin"."""
    name = heading.attributes.get("id", "")
    if not name:
        return False
    letters = re.sub(r"[\W_]+", "", name[:MAX_HEADING_CHARS]).lower()
    text = re.sub(r"[\W_]+", "", text_beginning(heading, MAX_HEADING_CHARS)).lower()
    return bool(letters) and letters in text


def look_of(node: Node) -> str:
    """Return an element's tag and class, which are the same for twins."""
    return f"{node.tag} {node.attributes.get('class', '')}"


def text_of(node: Node) -> str:
    """Return an element's text on one line, without dropped parts."""
    parts: list[str] = []
    collect_text(node, parts)
    return " ".join("".join(parts).split())


def collect_text(node: Node, parts: list[str]) -> None:
    """Append the text inside an element to parts, with line breaks around blocks."""
    if node.label:
        parts.append("\n")
        collect_text(node.label, parts)
        parts.append("\n")
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


def ancestors(node: Node) -> list[Node]:
    """Return an element and all elements around it, up to the root."""
    found = [node]
    while found[-1].parent:
        found.append(found[-1].parent)
    return found


def places(parents: Iterable[Node]) -> dict[Node, int]:
    """Return the index of each child element among the children of its parent."""
    return {
        child: index
        for node in parents
        for index, child in enumerate(node.children)
        if isinstance(child, Node)
    }
