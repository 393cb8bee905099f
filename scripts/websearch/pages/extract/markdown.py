"""Write a tree of HTML elements as Markdown."""

from __future__ import annotations

import itertools
import re

from websearch.base.html_tree import (
    BLOCKS,
    CELLS,
    HEADINGS,
    MAX_ADDRESS_CHARS,
    Node,
    name_set,
    text_beginning,
)
from websearch.kit import clean_text
from websearch.markdown.escapes import (
    MARK,
    as_cell,
    as_code,
    backticks,
    escape,
    mark_line_starts,
    mark_signs,
    without_marks,
)
from websearch.pages.extract.code_blocks import code_language, collect_code, is_code_box
from websearch.pages.extract.content import find_content
from websearch.pages.extract.element_names import is_decorative_alt, plain_words, words_of
from websearch.pages.extract.formulas import FORMULA, on_one_line
from websearch.pages.extract.inline_rules import (
    LOWERED,
    NOTE,
    RAISED,
    SCRIPT_END,
    emphasis_of,
    gap_between,
    image_text,
    is_classifier,
    is_note_mark,
    write_scripts,
)
from websearch.pages.extract.list_markers import item_markers
from websearch.pages.extract.page_tree import ancestors, text_of
from websearch.pages.extract.rewriting import EMOJI, STATE
from websearch.pages.extract.tables import is_data_table, is_shown, read_rows, rows_of, table_parts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from websearch.pages.extract.content import Content

BREAK = "\0"  # a line break inside a paragraph until it is written; clean text contains no NUL
MAX_MARKDOWN = 5_000_000  # characters per page; nested lists can multiply one character by 1,000
MAX_NESTING = 12  # levels of lists and quotations; deeper levels are written without indentation
MAX_HEADING = 500  # characters of a heading or term; longer text is written as a paragraph
MAX_TITLES = 3  # levels of nested headings and terms
MAX_LINKED = 20  # blocks inside a link that are considered for its URL
MAX_UNSEEN = 9  # characters of a paragraph that may consist of invisible characters
MAX_NEAR = 3  # elements around an image whose text may repeat its alternative text
NEAR_CHARS = 1_000  # characters of the surrounding text that are searched for the alternative text
MIN_PICTURE_WORDS = 3  # words of an alternative text that is not repeated
CODE_HEADING = name_set("code header")  # class words of rustdoc's headings that are code
PROTOTYPES = name_set("memname funcprototype")  # class words of tables with one declaration
# Prefixes of the classes of cells in Doxygen's tables of declarations.
DECLARED = ("memname", "param", "memItem", "memTempl")
NOTE_LABELS = name_set("note tip hint important warning caution danger attention")
CODE_TAGS = name_set("code kbd samp tt")
SCRIPTS = {"sup": RAISED, "sub": LOWERED}


# ===== from a tree to Markdown ====================================================================


def extract_markdown(html: str, url: str = "", keep_links: bool = False) -> str:
    """Return the content of an HTML page as Markdown. url: base URL for relative links."""
    return content_markdown(find_content(html), url, keep_links)[0]


def content_markdown(content: Content, url: str, keep_links: bool) -> tuple[str, bool]:
    """Return found content as Markdown, and whether the Markdown was cut at MAX_MARKDOWN."""
    writer = MarkdownWriter(url, keep_links)
    return writer.markdown(*content.parts), writer.cut


class MarkdownWriter:
    """Writes elements as Markdown, up to MAX_MARKDOWN characters in total.

    keep_links: write link targets, made absolute against base
    cut: whether text was omitted because of the limit
    """

    def __init__(self, base: str = "", keep_links: bool = False) -> None:
        self.base = base
        self.keep_links = keep_links
        self.nesting = 0  # current levels of lists and quotations
        self.titles = 0  # current levels of headings and terms
        self.in_cell = False  # whether the cell is in a pipe table, which cannot contain blocks
        self.near_texts: dict[Node, str] = {}  # results of text_near
        self.pictures: set[str] = set()  # alternative texts so far; a page may show a picture twice
        self.chars_left = MAX_MARKDOWN
        self.cut = False

    def markdown(self, *nodes: Node) -> str:
        """Return elements as Markdown. All other methods return marked text (see escapes.py)."""
        blocks = [block for node in nodes for block in self.block(node)]
        return escape(clean_text("\n\n".join(blocks)))

    def text(self, text: str) -> str:
        """Return text from the page as marked text, cut at the limit."""
        return mark_signs(self.fit(text))

    def fit(self, text: str) -> str:
        """Return text, cut at the limit."""
        kept = text[: self.chars_left]
        self.chars_left -= len(kept)
        self.cut = self.cut or len(kept) < len(text)
        return kept

    def reserve(self, chars: int) -> bool:
        """Reserve space for added characters; return whether there was enough.

        If there is not enough space, the Markdown ends here.
        """
        enough = chars <= self.chars_left
        self.chars_left -= chars if enough else self.chars_left
        self.cut = self.cut or not enough
        return enough

    def blocks(self, node: Node) -> list[str]:
        """Return the blocks of an element: paragraphs, headings, lists and so on."""
        found: list[str] = []
        for is_block, children in itertools.groupby(shown_children(node), key=is_block_content):
            if not is_block:
                found += paragraphs(self.line(children))
                continue
            for child in children:
                blocks = self.block(child) if isinstance(child, Node) else []
                is_code = bool(found and blocks) and blocks[0].startswith("```")
                if is_code and blocks[0].startswith(f"```{without_marks(found[-1])}\n"):
                    found.pop()  # the language above the code; the fence specifies it
                found += blocks
        return found

    def block(self, node: Node) -> list[str]:
        """Return a block element as blocks."""
        if node.tag == "hr":
            return []
        if node.tag in ("div", "td") and is_code_box(node):
            return self.code_block(node)
        writer = BLOCK_WRITERS.get(node.tag, MarkdownWriter.blocks)
        blocks = writer(self, node)
        if not (label := self.tab_label(node)):
            return blocks
        return [f"**{label}**", *(blocks[1:] if blocks[:1] == [label] else blocks)]

    def tab_label(self, node: Node) -> str:
        """Return the label of the element's tab on one line, or "" if the element has no tab."""
        text = self.line(shown_children(node.label)) if node.label else ""
        return " ".join(write_scripts(text).replace(BREAK, " ").split())

    def one_line(self, node: Node) -> tuple[list[str], str]:
        """Return the blocks of a heading or term, and their text on one line.

        The text is "" if it is too long, if a block is a heading, code or similar, or if headings
        and terms are nested too deeply, because each level reads all its blocks again.
        """
        self.titles += 1
        blocks = self.blocks(node)
        self.titles -= 1
        if self.titles >= MAX_TITLES or any(map(is_structured, blocks)):
            return blocks, ""
        text = " ".join(" ".join(blocks).split())
        return blocks, text if length_without_targets(text) <= MAX_HEADING else ""

    def heading_block(self, node: Node) -> list[str]:
        """Return a heading on one line, or its blocks if it does not fit on a line."""
        if words_of(node) >= CODE_HEADING and not node.has_block:
            text = write_scripts(self.linked_code(node))
            blocks = [text] if text else []
        else:
            blocks, text = self.one_line(node)
        is_heading = text and not self.in_cell
        return [f"{'#' * int(node.tag[1])} {text}"] if is_heading else blocks

    def quote_block(self, node: Node) -> list[str]:
        """Return a quotation as a block."""
        self.nesting += 1
        blocks = self.blocks(node)
        self.nesting -= 1
        if self.nesting >= MAX_NESTING or not blocks or self.in_cell:
            return blocks
        text = "\n\n".join(blocks)
        if not self.reserve(2 * text.count("\n")):
            return blocks
        quoted = "> " + text.replace("\n", "\n> ")
        return [quoted.replace("> \n", ">\n")]

    def code_block(self, node: Node) -> list[str]:
        """Return a pre element as a fenced block with its language."""
        parts: list[str] = []
        collect_code(node, parts)
        code = self.fit(clean_text("".join(parts)).strip("\n").rstrip())
        if self.in_cell:
            return [as_code(code)] if code.strip() else []
        fence = backticks(code, 3)
        if not code.strip() or not self.reserve(2 * len(fence)):
            return []
        return [f"{fence}{code_language(node)}\n{code}\n{fence}"]

    def term_block(self, node: Node) -> list[str]:
        """Return a term or summary as a bold line, or its blocks if it does not fit on a line.

        A term's type (Sphinx) follows a colon.
        """
        blocks, text = self.one_line(node)
        text = text.replace("**", "")
        inside = (child for child in node.children if isinstance(child, Node))
        has_type = any(map(is_classifier, inside))
        name, colon, kind = text.partition(" : ") if has_type else (text, "", "")
        return [f"**{name.strip()}**{colon}{kind}"] if name.strip() else blocks

    def linked_blocks(self, node: Node) -> list[str]:
        """Return the blocks inside a link; the first one-line paragraph or heading gets the URL."""
        found = self.blocks(node)
        if not self.keep_links:
            return found
        for index, block in enumerate(found[:MAX_LINKED]):
            match = None if has_link(block) else re.fullmatch(r"(#{1,6} )?([^\n]+)", block)
            if match:
                target = self.target(node.attributes.get("href", ""))
                link = f"{match[1] or ''}[{match[2]}]({target})"
                found[index] = link if target else block
                break
        return found

    def list_block(self, node: Node) -> list[str]:
        """Return a list as a block, or as its items' blocks if it is nested too deeply."""
        self.nesting += 1
        items = self.list_items(node)
        self.nesting -= 1
        if self.in_cell:
            return ["; ".join(" ".join(blocks) for _, blocks in items if blocks)]
        if self.nesting >= MAX_NESTING:
            return [block for _, blocks in items for block in blocks]
        items = [(item, blocks) for item, blocks in items if blocks]
        lines: list[str] = []
        for marker, (_, blocks) in zip(item_markers(node, items), items, strict=True):
            if len(blocks) == 1 and blocks[0].startswith("- "):
                lines.append(blocks[0])  # an item that contains only a list
                continue
            width = re.match(r"- |\d+\. ", marker)
            indented = self.indented(join_tight(blocks), width.end() if width else 0)
            lines.append(marker + indented)
        return ["\n".join(lines)] if lines else []

    def indented(self, text: str, width: int) -> str:
        """Indent all lines of a text except the first line and empty lines."""
        if not self.reserve(width * text.count("\n")):
            return ""  # without indentation, the code would end at its second line
        return re.sub(r"\n(?=[^\n])", "\n" + " " * width, text)

    def list_items(self, node: Node) -> list[tuple[Node | None, list[str]]]:
        """Return each item with its blocks; an element outside the items joins the last item."""
        items: list[tuple[Node | None, list[str]]] = []
        for child in shown_children(node):
            if isinstance(child, str):
                blocks = paragraphs(self.text(child))
            else:
                blocks = self.blocks(child) if child.tag == "li" else self.block(child)
            item = child if isinstance(child, Node) and child.tag == "li" else None
            if item or (blocks and not items):
                items.append((item, blocks))
            elif blocks:
                items[-1][1].extend(blocks)
        return items

    def item_block(self, node: Node) -> list[str]:
        """Return an item outside any list as a list."""
        blocks = self.blocks(node)
        if not blocks or self.in_cell or self.nesting:
            return blocks
        return ["- " + self.indented(join_tight(blocks), 2)]

    def definition_block(self, node: Node) -> list[str]:
        """Return a definition list as a list of bold terms, each with its definitions below."""
        self.nesting += 1
        items: list[tuple[list[str], list[str]]] = []  # terms and the blocks of their definitions
        is_defined = False
        groups = [child for child in node.children if isinstance(child, Node) and is_shown(child)]
        for group in groups:
            parts = [group] if group.tag in ("dt", "dd") else group.children
            for part in parts:
                if not isinstance(part, Node) or not is_shown(part):
                    continue
                if not items or (part.tag == "dt" and is_defined):
                    items.append(([], []))
                is_defined = part.tag != "dt"  # a definition may be empty
                items[-1][is_defined].extend(self.block(part))
        self.nesting -= 1
        if self.nesting >= MAX_NESTING or self.in_cell:
            return [block for item in items for blocks in item for block in blocks]
        texts = [definition_text(terms, blocks) for terms, blocks in items if terms or blocks]
        lines = ["- " + self.indented(text, 2) for text in texts]
        return ["\n".join(lines)] if lines else []

    def table_block(self, node: Node) -> list[str]:
        """Return a data table as a pipe table, or a layout table as the blocks of its cells.

        Rows of Doxygen's declaration tables become lines of code.
        """
        parts = table_parts(node)
        if not (self.in_cell or words_of(node).isdisjoint(PROTOTYPES)):
            return self.prototype([part for part in parts if part.tag in CELLS])
        if not self.in_cell and "memberdecls" in words_of(node):
            return [block for row in rows_of(parts) for block in self.declaration(row)]
        captions = [block for part in parts if part.tag == "caption" for block in self.blocks(part)]
        cells = [part for part in parts if part.tag in CELLS]
        if self.in_cell or not is_data_table(node, parts):
            return captions + [block for cell in cells for block in self.block(cell)]
        self.in_cell = True
        title, rows = read_rows(parts, lambda cell: cell_text(self.blocks(cell)), self.fit)
        self.in_cell = False
        captions += [title] if title else []
        columns = max((len(row) for row in rows), default=0)
        if columns < 2 or not self.reserve(4 * (columns + sum(map(len, rows)))):
            return captions + [cell for row in rows for cell in row if cell]
        rows[0] += [""] * (columns - len(rows[0]))
        lines = [f"| {' | '.join(map(as_cell, row))} |" for row in rows]
        return [*captions, "\n".join([lines[0], "|" + " --- |" * columns, *lines[1:]])]

    def declaration(self, cells: list[Node]) -> list[str]:
        """Return a row of a declaration table: code, or the description of the previous row."""
        if not any(cell.attributes.get("class", "").startswith(DECLARED) for cell in cells):
            return [block for cell in cells for block in self.block(cell)]
        return self.prototype(cells)

    def prototype(self, cells: list[Node]) -> list[str]:
        """Return cells as one line of code."""
        pieces: list[tuple[str, str]] = []
        for cell in cells:
            collect_linked(cell, "", pieces)
            pieces.append((" ", ""))
        text = write_scripts(self.linked_pieces(pieces))
        return [text] if text else []

    def line(self, children: Iterable[Node | str]) -> str:
        """Return inline content as one line, with spaces where a style sheet shows gaps."""
        pieces: list[str] = []
        before: Node | str = ""
        for child in children:
            piece = self.text(child) if isinstance(child, str) else self.inline(child)
            if not piece:
                continue
            if pieces and not (pieces[-1][-1].isspace() or piece[0].isspace()):
                is_glued = pieces[-1][-1].isalnum() and piece[0].isalnum()
                pieces[-1] += gap_between(before, child, is_glued, self.in_cell)
            piece = join_emphasis(pieces, piece, before, child)
            pieces.append(piece)
            before = child
        return "".join(pieces)

    def inline(self, node: Node) -> str:
        """Return an inline element as Markdown."""
        tag = node.tag
        if tag == "br":
            return BREAK
        if tag == "img":
            return self.image(node)
        if tag == FORMULA:
            return self.formula(node)
        if tag == STATE:
            return self.fit("".join(str(child) for child in node.children))
        if tag in CODE_TAGS and not node.has_block:
            return self.linked_code(node)
        text = self.line(shown_children(node))
        if is_note_mark(node, self.base):
            text = f"{NOTE}{text}{SCRIPT_END}"
        elif tag in SCRIPTS:
            text = f"{SCRIPTS[tag]}{text}{SCRIPT_END}"
        elif is_classifier(node):
            text = f" : {text.strip()}"
        elif tag == "a" and self.keep_links and text.strip() and not has_link(text):
            target = self.target(node.attributes.get("href", ""))
            text = emphasis(text, "[", f"]({target})") if target else text
        elif mark := emphasis_of(node):
            text = emphasis(text, mark)
        return text

    def linked_code(self, node: Node) -> str:
        """Return inline code as code spans, in links if links are kept."""
        pieces: list[tuple[str, str]] = []  # texts and their link targets
        collect_linked(node, "", pieces)
        return self.linked_pieces(pieces)

    def linked_pieces(self, pieces: list[tuple[str, str]]) -> str:
        """Return pieces of code, as (text, link target or ""), written as code spans."""
        written: list[str] = []
        keeps = self.keep_links
        kept = [(text, link if keeps and link[:1] != "#" else "") for text, link in pieces]
        for address, texts in itertools.groupby(kept, key=lambda piece: piece[1]):
            text = "".join(piece[0] for piece in texts)
            link = self.target(address) if address and text.strip() else ""
            span = as_code(self.fit(text))
            head = " " if text[:1].isspace() and written else ""
            tail = " " if text[-1:].isspace() else ""
            written.append(head + (f"[{span}]({link})" if link else span) + tail)
        return "".join(written).strip()

    def image(self, node: Node) -> str:
        """Return an image's alternative text, with its URL if links are kept."""
        alt = " ".join(node.attributes.get("alt", "").split())
        if re.fullmatch(EMOJI, alt):
            return alt
        if alt.lower() in NOTE_LABELS:
            return self.text(alt)
        # A file's name, or an icon that replaces a word, such as "[Note]"
        no_text = r"(?i).*\.(?:jpe?g|png|gif|webp|svg)|\[\w+\]"
        if not re.search(r"[^\W\d_]{2}", alt) or re.fullmatch(no_text, alt):
            return ""
        source = self.target(node.attributes.get("src", "")) if self.keep_links else ""
        if not source:
            words = re.sub(r" \d{1,2} $", " ", plain_words(alt))  # one of several pictures
            is_known = is_decorative_alt(alt) or words in self.text_near(node)
            if is_known or (words in self.pictures and not self.in_cell):
                return ""
            self.pictures |= {words} if len(words.split()) >= MIN_PICTURE_WORDS else set()
            return self.text(image_text(node, alt, in_cell=self.in_cell))
        alt = re.sub(rf"{MARK}(?=[\[\]])", r"\\", self.text(alt))
        return f"![{alt}]({source})"

    def formula(self, node: Node) -> str:
        """Return a formula without escapes; a display formula becomes a paragraph."""
        text = self.fit(text_of(node))
        if not text.startswith("$"):
            return mark_signs(text)
        if self.in_cell or self.titles:
            return on_one_line(text)
        return f"{BREAK}{BREAK}{text}{BREAK}{BREAK}" if text.startswith("$$") else text

    def text_near(self, node: Node) -> str:
        """Return the beginning of the text around an image, in plain words."""
        for around in ancestors(node)[1 : MAX_NEAR + 1]:
            if around.chars:
                if around not in self.near_texts:
                    self.near_texts[around] = plain_words(text_beginning(around, NEAR_CHARS))
                return self.near_texts[around]
        return ""

    def target(self, address: str) -> str:
        """Return a link's URL, absolute and safe inside parentheses, and reserve space for it.

        Return "" if the link does not point to a page or an e-mail address, or is too long.
        """
        from urllib.parse import urljoin

        if len(address) > MAX_ADDRESS_CHARS or not self.chars_left:
            return ""
        address = "".join(address.split())
        try:
            url = "" if address[:1] in ("", "#") else urljoin(self.base, address)
        except ValueError:  # brackets around something other than an IPv6 address
            return ""
        if not re.match(r"(?i)https?://|mailto:", url) or len(url) > MAX_ADDRESS_CHARS:
            return ""
        safe = re.sub(r"[()<>`|\\]", lambda found: f"%{ord(found[0]):02X}", clean_text(url))
        return safe if self.reserve(len(safe)) else ""


BLOCK_WRITERS: dict[str, Callable[[MarkdownWriter, Node], list[str]]] = {
    **dict.fromkeys(HEADINGS, MarkdownWriter.heading_block),
    **dict.fromkeys(("ul", "ol", "menu", "dir"), MarkdownWriter.list_block),
    **dict.fromkeys(("dt", "summary"), MarkdownWriter.term_block),
    "a": MarkdownWriter.linked_blocks,
    "blockquote": MarkdownWriter.quote_block,
    "dl": MarkdownWriter.definition_block,
    "li": MarkdownWriter.item_block,
    "pre": MarkdownWriter.code_block,
    "table": MarkdownWriter.table_block,
}


def shown_children(node: Node) -> Iterator[Node | str]:
    """Yield the children of an element that appear in the Markdown."""
    return (child for child in node.children if isinstance(child, str) or is_shown(child))


def is_block_content(child: Node | str) -> bool:
    """Return whether a child of an element is or contains a block."""
    return not isinstance(child, str) and (child.tag in BLOCKS or child.has_block)


def has_link(text: str) -> bool:
    """Return whether marked text contains a link or image that the writer added."""
    return re.search(rf"(?<!{MARK})\]\(", text) is not None


def paragraphs(text: str) -> list[str]:
    """Return a line as paragraphs: two line breaks end a paragraph; a single break is kept."""
    found: list[str] = []
    if not text or text.isspace():
        return found
    for part in re.split(rf"{BREAK}\s*{BREAK}[\s{BREAK}]*", write_scripts(text)):
        lines = [" ".join(line.split()) for line in part.split(BREAK)]
        shown = "  \n".join(line for line in lines if line)
        if shown and (len(shown) > MAX_UNSEEN or clean_text(shown)):
            found.append(mark_line_starts(shown))
    return found


def length_without_targets(text: str) -> int:
    """Return the length of Markdown without the targets of links and images."""
    return len(re.sub(r"\]\([^()\s]{1,8000}\)", "]", without_marks(text)))


def emphasis(text: str, mark: str, end: str = "") -> str:
    """Put marks around a text inside its outer spaces, unless it is empty, multi-line or marked."""
    inner = text.strip()
    if not inner or BREAK in inner or inner.startswith(mark):
        return text
    head = text[: len(text) - len(text.lstrip())]
    return f"{head}{mark}{inner}{end or mark}{text[len(head) + len(inner) :]}"


def join_emphasis(pieces: list[str], piece: str, before: Node | str, child: Node | str) -> str:
    """Return a piece of a line without its mark if it goes on with the last piece's emphasis.

    The last piece loses its closing mark: the types in *list[int]* may be elements of their own.
    """
    if isinstance(before, str) or isinstance(child, str):
        return piece
    mark = emphasis_of(child)
    is_same = mark and mark == emphasis_of(before)
    if not (is_same and pieces[-1].endswith(mark) and piece.startswith(mark)):
        return piece
    pieces[-1] = pieces[-1].removesuffix(mark)
    return piece.removeprefix(mark)


def collect_linked(node: Node, target: str, pieces: list[tuple[str, str]]) -> None:
    """Append to pieces the texts in an inline element, with their link targets or ""."""
    for child in node.children:
        if isinstance(child, str):
            pieces.append((child, target))
        elif child.tag == "br":
            pieces.append((" ", target))
        elif not child.dropped:
            address = child.attributes.get("href", "") if child.tag == "a" else target
            if child.tag in SCRIPTS:
                script = f"{SCRIPTS[child.tag]}{text_of(child)}{SCRIPT_END}"
                pieces.append((script, target))
            else:
                collect_linked(child, address, pieces)


def join_tight(blocks: list[str]) -> str:
    """Join the blocks of a list item; a nested list follows without a blank line."""
    gaps = ["\n" if re.match(r"- |1\. ", block) else "\n\n" for block in blocks[1:]]
    return blocks[0] + "".join(gap + block for gap, block in zip(gaps, blocks[1:], strict=True))


def definition_text(terms: list[str], blocks: list[str]) -> str:
    """Join terms and definition, with blank lines if a term is a block or a table follows."""
    if any(map(is_structured, terms)) or (blocks and blocks[0].startswith("|")):
        return join_tight(terms + blocks)
    return "\n".join([*terms, join_tight(blocks)] if blocks else terms)


def cell_text(blocks: list[str]) -> str:
    """Return the blocks of a table cell on one line."""
    return " ".join(" ".join(blocks).split())


def is_structured(block: str) -> bool:
    """Return whether a block is a heading, list, code or table, which no table cell can contain."""
    return re.match(r"#{1,6} |- |\d{1,9}\. |```|\|", block) is not None
