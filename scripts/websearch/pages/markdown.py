"""Write a tree of HTML elements as Markdown."""

from __future__ import annotations

import functools
import itertools
import re

from websearch.common import clean_text
from websearch.escapes import (
    MARK,
    as_cell,
    as_code,
    backticks,
    escape,
    mark_line_starts,
    mark_signs,
    without_marks,
)
from websearch.html_tree import BLOCKS, HEADINGS, MAX_ADDRESS_CHARS, Node, name_set
from websearch.pages.content import find_content
from websearch.pages.name_rules import words_of
from websearch.pages.page_tree import ancestors, collect_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from websearch.pages.content import Content

BREAK = "\0"  # a line break inside a paragraph until it is written; clean text holds no NUL
MAX_MARKDOWN = 5_000_000  # characters of one page; nested lists can make a thousand of each one
MAX_NESTING = 12  # of lists and quotations; deeper ones are written without indentation
MAX_COLUMNS = 40  # of a table; a wider one is layout, or data for programs
MAX_ROW_SPAN = 2_000  # rows that one cell's value is repeated in
ROWS_A_BLOCK = 10  # of a data table, which may hold a heading or a small table now and then
MAX_CELL = 4_000  # characters of a cell; a table with a longer one is layout
MAX_PLAIN_CELL = 1_500  # the same where no header or caption says that the table holds data
MAX_HEADING = 500  # characters of a heading or term; a longer one is written as a paragraph
MAX_TITLES = 3  # headings and terms in each other
MAX_LINKED = 20  # blocks inside a link that may carry it
CODE_TAGS = name_set("code kbd samp tt")
EMPHASIS = {
    "b": "**", "strong": "**", "i": "*", "em": "*", "cite": "*", "del": "~~", "s": "~~",
    "strike": "~~",
}  # fmt: skip
# How class names tell the language of code. Those of the first kind say nothing but that; the
# others may name a human language, or a source of something else.
_CODE_LANGUAGE = (
    r"(?i)(?:^|\s)(?:language|highlight-source|highlight|brush|sourceCode)(?:[-:]\s?|\s)"
    r"([a-z][\w+#.-]{0,19})(?=[\s;]|$)"
)
_CODE_LANGUAGE_ALSO = (
    r"(?i)(?:^|[\s-])(?:lang|source|hljs|sh|src)[-_:\s]\s?([\w+#.-]{1,20})(?=[\s;]|$)"
)
NO_LANGUAGES = name_set(
    "default none plain plaintext text txt output literal literal-block block wrapper wrap code "
    "notranslate nohighlight fallback highlight source-code example"
)
LANGUAGES = name_set(
    "ada apache applescript arduino asm assembly awk bash basic bat batch c c++ c# clojure cmake "
    "cobol console cpp crystal csharp css cuda cypher d dart diff django docker dockerfile elixir "
    "elm erlang f# fish fortran fsharp gherkin glsl go golang gradle graphql groovy haml hbs "
    "haskell hcl html http ini ipython java javascript jinja jinja2 js json json5 jsonc jsx julia "
    "kotlin latex less lisp lua makefile markdown matlab md mdx mermaid mysql nginx nim nix objc "
    "objective-c ocaml octave pascal perl pgsql php plsql postgresql powershell prolog proto "
    "protobuf ps1 pug puppet py pycon python python3 r racket rb reason rest rs rst ruby rust sass "
    "scala scheme scss sh shell solidity sparql sql stylus svelte swift tcl terraform tex toml ts "
    "tsx twig typescript vb vba verilog vhdl vim vue wasm xml yaml yml zig zsh"
)
MAX_INSIDE = 3  # elements in a code block that may name its language, and
MAX_ABOVE = 3  # elements above a code block that may name its language
CODE_BOX_WORDS = name_set("fragment highlight code codeblock syntaxhighlighter container listing")
LINE_WORDS = name_set("line codeline")  # in the class of the element of a line of code


# ===== from a tree to Markdown ====================================================================


def extract_markdown(html: str, url: str = "", keep_links: bool = False) -> str:
    """Return the content of an HTML page as Markdown. url: what relative links are relative to."""
    return content_markdown(find_content(html), url, keep_links)[0]


def content_markdown(content: Content, url: str, keep_links: bool) -> tuple[str, bool]:
    """Return found content as Markdown, and whether it was longer than MAX_MARKDOWN."""
    writer = MarkdownWriter(url, keep_links)
    return writer.markdown(*content.leads, content.node), writer.cut


class MarkdownWriter:
    """Writes elements as Markdown, up to MAX_MARKDOWN characters in all.

    keep_links: write link targets, made absolute against base. cut: whether something was left out
    because there was no room for it.
    """

    def __init__(self, base: str = "", keep_links: bool = False) -> None:
        self.base = base
        self.keep_links = keep_links
        self.nesting = 0  # of lists and quotations
        self.titles = 0  # headings and terms that the current element is in
        self.in_cell = False  # of a pipe table, which holds no blocks
        self.room = MAX_MARKDOWN
        self.cut = False

    def markdown(self, *nodes: Node) -> str:
        """Return elements as Markdown: what the other methods return is marked (see escapes.py)."""
        blocks = [block for node in nodes for block in self.block(node)]
        return escape(clean_text("\n\n".join(blocks)))

    def text(self, text: str) -> str:
        """Return text of the page, cut where the room ends, its signs marked."""
        return mark_signs(self.fit(text))

    def fit(self, text: str) -> str:
        """Return text, cut where the room ends."""
        kept = text[: self.room]
        self.room -= len(kept)
        self.cut = self.cut or len(kept) < len(text)
        return kept

    def has_room(self, chars: int) -> bool:
        """Take room for characters that are added to text; return whether there was enough.

        If not, nothing more is written: the Markdown ends here.
        """
        enough = chars <= self.room
        self.room -= chars if enough else self.room
        self.cut = self.cut or not enough
        return enough

    def blocks(self, node: Node) -> list[str]:
        """Return the paragraphs, headings, lists and so on of an element."""
        found: list[str] = []
        line: list[str] = []
        for child in node.children:
            if isinstance(child, str):
                line.append(self.text(child))
            elif is_shown(child):
                if child.tag in BLOCKS or child.has_block:
                    found += paragraphs(line)
                    line = []
                    blocks = self.block(child)
                    is_code = bool(found and blocks) and blocks[0].startswith("```")
                    if is_code and blocks[0].startswith(f"```{without_marks(found[-1])}\n"):
                        found.pop()  # the language over the code, which its fence names
                    found += blocks
                else:
                    line.append(self.inline(child))
        return found + paragraphs(line)

    def block(self, node: Node) -> list[str]:
        """Return one block element as blocks."""
        if node.tag == "hr":
            return []
        if node.tag in ("div", "td") and is_code_box(node):
            return self.code_block(node)
        writer = BLOCK_WRITERS.get(node.tag, MarkdownWriter.blocks)
        return self.tab_label(node) + writer(self, node)

    def tab_label(self, node: Node) -> list[str]:
        """Return the label of the tab that shows an element as a bold line, if there is one."""
        text = self.inline_children(node.label) if node.label else ""
        text = " ".join(text.replace(BREAK, " ").split())
        return [f"**{text}**"] if text else []

    def one_line(self, node: Node) -> tuple[list[str], str]:
        """Return the blocks of a heading or term, and their text on one line.

        "" if it is too long for one, or a block is a heading, code or the like. Each level of
        headings and terms looks at all blocks again: those too deep in others are not on one line.
        """
        self.titles += 1
        blocks = self.blocks(node)
        self.titles -= 1
        if self.titles >= MAX_TITLES or any(map(is_structured, blocks)):
            return blocks, ""
        text = " ".join(" ".join(blocks).split())
        return blocks, text if length_without_targets(text) <= MAX_HEADING else ""

    def heading_block(self, node: Node) -> list[str]:
        """Return a heading on one line, or as it stands if it is too long for one."""
        blocks, text = self.one_line(node)
        if text:
            return [text if self.in_cell else f"{'#' * int(node.tag[1])} {text}"]
        return blocks

    def quote_block(self, node: Node) -> list[str]:
        """Return a quotation as one block."""
        self.nesting += 1
        blocks = self.blocks(node)
        self.nesting -= 1
        if self.nesting >= MAX_NESTING or not blocks or self.in_cell:
            return blocks
        text = "\n\n".join(blocks)
        if not self.has_room(2 * text.count("\n")):
            return blocks
        quoted = "> " + text.replace("\n", "\n> ")
        return [quoted.replace("> \n", ">\n")]

    def code_block(self, node: Node) -> list[str]:
        """Return a pre element as a fenced block with its line breaks and language."""
        parts: list[str] = []
        collect_code(node, parts)
        code = self.fit(clean_text("".join(parts)).strip("\n").rstrip())
        if self.in_cell:
            return [as_code(code)] if code.strip() else []
        fence = backticks(code, 3)
        if not code.strip() or not self.has_room(2 * len(fence)):
            return []
        return [f"{fence}{code_language(node)}\n{code}\n{fence}"]

    def term_block(self, node: Node) -> list[str]:
        """Return a term or summary as a bold line, or as it stands if it is too long for one."""
        blocks, text = self.one_line(node)
        return [f"**{text.replace('**', '')}**"] if text else blocks

    def linked_blocks(self, node: Node) -> list[str]:
        """Return the blocks inside a link; the first one-line paragraph or heading carries it."""
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
        """Return a list as one block, or as its items' blocks where it is nested too deeply."""
        self.nesting += 1
        items = self.list_items(node)
        self.nesting -= 1
        if self.in_cell:
            return ["; ".join(" ".join(blocks) for blocks in items if blocks)]
        if self.nesting >= MAX_NESTING:
            return [block for blocks in items for block in blocks]
        start = node.attributes.get("start", "1")
        number = int(start) if re.fullmatch(r"\d{1,8}", start) else 1
        lines: list[str] = []
        for blocks in filter(None, items):
            marker = f"{number + len(lines)}. " if node.tag == "ol" else "- "
            lines.append(marker + self.indented(join_tight(blocks), len(marker)))
        return ["\n".join(lines)] if lines else []

    def indented(self, text: str, width: int) -> str:
        """Return text with all lines but the first indented; empty lines stay empty."""
        if not self.has_room(width * text.count("\n")):
            return ""  # code whose lines are not indented would end at the second one
        return re.sub(r"\n(?=[^\n])", "\n" + " " * width, text)

    def list_items(self, node: Node) -> list[list[str]]:
        """Return the blocks of each item; an element outside of items belongs to the last one."""
        items: list[list[str]] = []
        for child in node.children:
            if isinstance(child, Node) and is_shown(child):
                if child.tag == "li" or not items:
                    items.append(self.blocks(child) if child.tag == "li" else self.block(child))
                else:
                    items[-1] += self.block(child)
        return items

    def definition_block(self, node: Node) -> list[str]:
        """Return a definition list as a list of bold terms, each with its definitions below."""
        self.nesting += 1
        items: list[tuple[list[str], list[str]]] = []  # terms, and what stands below them
        groups = [child for child in node.children if isinstance(child, Node) and is_shown(child)]
        for group in groups:
            parts = [group] if group.tag in ("dt", "dd") else group.children
            for part in parts:
                if not isinstance(part, Node) or not is_shown(part):
                    continue
                if not items or (part.tag == "dt" and items[-1][1]):
                    items.append(([], []))
                items[-1][part.tag != "dt"].extend(self.block(part))
        self.nesting -= 1
        if self.nesting >= MAX_NESTING or self.in_cell:
            return [block for item in items for blocks in item for block in blocks]
        texts = [definition_text(terms, blocks) for terms, blocks in items if terms or blocks]
        lines = ["- " + self.indented(text, 2) for text in texts]
        return ["\n".join(lines)] if lines else []

    def table_block(self, node: Node) -> list[str]:
        """Return a data table as a pipe table, and a layout table as the blocks of its cells.

        The value of a cell that spans rows is repeated in each of them, so that every row can be
        read alone; that of one that spans columns stands once.
        """
        parts = table_parts(node)
        captions = [block for part in parts if part.tag == "caption" for block in self.blocks(part)]
        cells = [part for part in parts if part.tag in ("td", "th")]
        if self.in_cell or not is_data_table(node, parts):
            return captions + [block for cell in cells for block in self.block(cell)]
        self.in_cell = True
        rows = self.table_rows(parts)
        self.in_cell = False
        columns = max((len(row) for row in rows), default=0)
        cells_in_all = columns + sum(map(len, rows))
        if columns < 2 or len(rows) < 2 or not self.has_room(4 * cells_in_all):
            return captions + [cell for row in rows for cell in row if cell]
        rows[0] += [""] * (columns - len(rows[0]))
        lines = [f"| {' | '.join(map(as_cell, row))} |" for row in rows]
        return [*captions, "\n".join([lines[0], "|" + " --- |" * columns, *lines[1:]])]

    def table_rows(self, parts: list[Node]) -> list[list[str]]:
        """Return the texts of the cells of each row that is not empty, those from above included.

        parts: the rows and cells of a table, in order.
        """
        rows: list[list[str]] = [[]]
        above: dict[int, tuple[str, int]] = {}  # column -> a text and in how many more rows it is
        for part in parts:
            if part.tag == "tr":
                self.add_from_above(rows[-1], above, to_end=True)
                rows.append([])
            elif part.tag != "caption":
                row = rows[-1]
                self.add_from_above(row, above)
                text = cell_text(self.blocks(part))
                wide, high = span_of(part, "colspan"), span_of(part, "rowspan")
                for _ in range(min(wide, MAX_COLUMNS + 1 - len(row))):
                    if high > 1:
                        above[len(row)] = (text, high - 1)
                    row.append(text)
                    text = ""
        self.add_from_above(rows[-1], above, to_end=True)
        return [row for row in rows if any(row)]

    def add_from_above(
        self, row: list[str], above: dict[int, tuple[str, int]], to_end: bool = False
    ) -> None:
        """Append the texts from above whose columns come next in the row, or all that are left."""
        while above and (len(row) in above or (to_end and len(row) <= max(above))):
            text, more = above.pop(len(row), ("", 0))
            if more > 1:
                above[len(row)] = (text, more - 1)
            row.append(self.fit(text))

    def inline_children(self, node: Node) -> str:
        """Return the content of an element as one line."""
        return "".join(
            self.text(child) if isinstance(child, str) else self.inline(child)
            for child in node.children
            if isinstance(child, str) or is_shown(child)
        )

    def inline(self, node: Node) -> str:
        """Return an inline element as Markdown."""
        tag = node.tag
        if tag == "br":
            return BREAK
        if tag == "img":
            return self.image(node)
        if tag in CODE_TAGS and not node.has_block:
            return self.linked_code(node) if self.keep_links else as_code(self.fit(text_in(node)))
        text = self.inline_children(node)
        if tag == "a" and self.keep_links and text.strip() and not has_link(text):
            target = self.target(node.attributes.get("href", ""))
            return emphasis(text, "[", f"]({target})") if target else text
        return emphasis(text, EMPHASIS[tag]) if tag in EMPHASIS else text

    def linked_code(self, node: Node) -> str:
        """Return inline code with its links around code spans."""
        pieces: list[tuple[str, str]] = []  # texts with their targets
        collect_linked(node, "", pieces)
        written: list[str] = []
        for address, texts in itertools.groupby(pieces, key=lambda piece: piece[1]):
            text = "".join(piece[0] for piece in texts)
            link = self.target(address) if address and text.strip() else ""
            span = as_code(self.fit(text))
            head = " " if text[:1].isspace() and written else ""
            tail = " " if text[-1:].isspace() else ""
            written.append(head + (f"[{span}]({link})" if link else span) + tail)
        return "".join(written).strip()

    def image(self, node: Node) -> str:
        """Return an image's alternative text, with its address if links are kept."""
        alt = " ".join(node.attributes.get("alt", "").split())
        if not re.search(r"[^\W\d_]{2}", alt) or re.search(
            r"(?i)\.(?:jpe?g|png|gif|webp|svg)$", alt
        ):
            return ""
        source = self.target(node.attributes.get("src", "")) if self.keep_links else ""
        if not source:
            return self.text(f"[image: {alt}]")
        alt = re.sub(rf"{MARK}(?=[\[\]])", r"\\", self.text(alt))
        return f"![{alt}]({source})"

    def target(self, address: str) -> str:
        """Return a link's address, absolute and safe inside parentheses; "" if it leads nowhere.

        It takes its room. "" also for addresses that are too long to be sent.
        """
        from urllib.parse import urljoin

        if len(address) > MAX_ADDRESS_CHARS or not self.room:
            return ""
        address = "".join(address.split())
        try:
            url = "" if address[:1] in ("", "#") else urljoin(self.base, address)
        except ValueError:  # brackets around something that is not an IPv6 address
            return ""
        if not re.match(r"(?i)https?://|mailto:", url) or len(url) > MAX_ADDRESS_CHARS:
            return ""
        safe = re.sub(r"[()<>`|\\]", lambda sign: f"%{ord(sign[0]):02X}", clean_text(url))
        return safe if self.has_room(len(safe)) else ""


BLOCK_WRITERS: dict[str, Callable[[MarkdownWriter, Node], list[str]]] = {
    **dict.fromkeys(HEADINGS, MarkdownWriter.heading_block),
    **dict.fromkeys(("ul", "ol", "menu", "dir"), MarkdownWriter.list_block),
    **dict.fromkeys(("dt", "summary"), MarkdownWriter.term_block),
    "a": MarkdownWriter.linked_blocks,
    "blockquote": MarkdownWriter.quote_block,
    "dl": MarkdownWriter.definition_block,
    "pre": MarkdownWriter.code_block,
    "table": MarkdownWriter.table_block,
}


def is_shown(node: Node) -> bool:
    """Return whether an element is part of the Markdown. Captions are, unlike in plain text."""
    return node.dropped in ("", "caption")


def has_link(text: str) -> bool:
    """Return whether marked text holds a link or image of the writer's."""
    return re.search(rf"(?<!{MARK})\]\(", text) is not None


def paragraphs(line: list[str]) -> list[str]:
    """Return inline pieces as paragraphs: two line breaks end one, a single one stays."""
    found = []
    for part in re.split(rf"{BREAK}\s*{BREAK}[\s{BREAK}]*", "".join(line)):
        lines = [" ".join(one.split()) for one in part.split(BREAK)]
        text = "  \n".join(one for one in lines if one)
        if text:
            found.append(mark_line_starts(text))
    return found


def length_without_targets(text: str) -> int:
    """Return the length of Markdown that the targets of links and images are not counted in."""
    return len(re.sub(r"\]\([^()\s]{1,8000}\)", "]", without_marks(text)))


def emphasis(text: str, mark: str, end: str = "") -> str:
    """Return text between marks, its outer spaces outside of them; nothing around nothing."""
    inner = text.strip()
    if not inner or BREAK in inner or inner.startswith(mark):
        return text
    head = text[: len(text) - len(text.lstrip())]
    return f"{head}{mark}{inner}{end or mark}{text[len(head) + len(inner) :]}"


def code_language(node: Node) -> str:
    """Return the language that a code block, the code in it or an element above it names, or ""."""
    nearest = [node]
    while len(nearest) <= MAX_INSIDE:
        inside = [child for child in nearest[-1].children if isinstance(child, Node)]
        code = next((child for child in inside if child.tag in ("pre", "code")), None)
        if not code:
            break
        nearest.append(code)
    above = ancestors(node)[1 : MAX_ABOVE + 1]
    for element in nearest + above:
        get = element.attributes.get
        said = (get("data-lang") or get("data-language") or get("language") or "").strip()
        if not said or said.lower() in NO_LANGUAGES:
            said = class_language(get("class", ""), element in nearest)
        if language := re.sub(r"[^A-Za-z0-9+#_-]", "", said[:20]):
            return language
    return ""


@functools.lru_cache(maxsize=1024)  # a thousand code blocks may stand in one box
def class_language(names: str, is_code: bool) -> str:
    """Return the language that a class such as language-python names, or "".

    is_code: whether the class is that of the code itself, where "rust" alone is a language.
    """
    for language in re.findall(_CODE_LANGUAGE, names):
        if language.lower() not in NO_LANGUAGES:
            return str(language)
    words = re.findall(_CODE_LANGUAGE_ALSO, names) + (names.split() if is_code else [])
    return next((word for word in words if word.lower() in LANGUAGES), "")


def is_code_box(node: Node) -> bool:
    """Return whether an element holds a line of code in each of its children, without a pre."""
    if words_of(node).isdisjoint(CODE_BOX_WORDS):
        return False
    lines = [child for child in node.children if isinstance(child, Node) and is_shown(child)]
    is_lines = all(line.tag == "div" and words_of(line) & LINE_WORDS for line in lines)
    return bool(lines) and is_lines


def text_in(node: Node) -> str:
    """Return the text of an element as it stands, what is dropped left out."""
    parts: list[str] = []
    collect_text(node, parts)
    return "".join(parts)


def collect_linked(node: Node, target: str, pieces: list[tuple[str, str]]) -> None:
    """Append the texts of an inline element, each with the address that it links to, or ""."""
    for child in node.children:
        if isinstance(child, str):
            pieces.append((child, target))
        elif child.tag == "br":
            pieces.append((" ", target))
        elif not child.dropped:
            address = child.attributes.get("href", "") if child.tag == "a" else target
            collect_linked(child, address, pieces)


def collect_code(node: Node, parts: list[str]) -> None:
    """Append the text of a pre element as it stands; rows and line elements end their line."""
    is_box = node.tag in ("div", "td")  # of lines: there are breaks between them in the source
    for child in node.children:
        if isinstance(child, str):
            if not (is_box and child.isspace() and "\n" in child):
                parts.append(child.replace("\r\n", "\n"))
        elif child.tag == "br":
            parts.append("\n")
        elif is_shown(child):
            ends_line = child.tag in BLOCKS and child.tag not in ("td", "th")
            if ends_line and parts and not parts[-1].endswith("\n"):
                parts.append("\n")
            collect_code(child, parts)
            if ends_line and parts and not parts[-1].endswith("\n"):
                parts.append("\n")


def join_tight(blocks: list[str]) -> str:
    """Return the blocks of a list item as text; a list right after text needs no empty line."""
    gaps = ["\n" if re.match(r"- |1\. ", block) else "\n\n" for block in blocks[1:]]
    return blocks[0] + "".join(gap + block for gap, block in zip(gaps, blocks[1:], strict=True))


def definition_text(terms: list[str], blocks: list[str]) -> str:
    """Return terms with the blocks of their definition; only a table needs an empty line there."""
    if any(map(is_structured, terms)) or (blocks and blocks[0].startswith("|")):
        return join_tight(terms + blocks)
    return "\n".join([*terms, join_tight(blocks)] if blocks else terms)


def cell_text(blocks: list[str]) -> str:
    """Return the blocks of a table cell on one line."""
    return " ".join(" ".join(blocks).split())


def span_of(cell: Node, name: str) -> int:
    """Return how many columns (name: "colspan") or rows ("rowspan") a cell takes, from 1 on.

    A rowspan of 0 goes to the end of the table.
    """
    value = cell.attributes.get(name, "").strip()
    most = MAX_COLUMNS + 1 if name == "colspan" else MAX_ROW_SPAN
    if not re.fullmatch(r"\d{1,9}", value):
        return 1
    span = min(int(value), most)
    return span or (most if name == "rowspan" else 1)


def widest_row(parts: list[Node]) -> int:
    """Return the most columns that a row of a table takes; parts: its rows and cells."""
    widest = columns = 0
    for part in parts:
        if part.tag == "tr":
            columns = 0
        elif part.tag != "caption":
            columns += span_of(part, "colspan")
            widest = max(widest, columns)
    return widest


def is_data_table(node: Node, parts: list[Node]) -> bool:
    """Return whether a table holds data, by what its cells hold; parts: its rows and cells.

    No cell of a pipe table can hold a heading, lines of code or a table.
    """
    if node.attributes.get("role") in ("presentation", "none"):
        return False
    says_data = any(part.tag in ("th", "caption") for part in parts)
    cells = [part for part in parts if part.tag in ("td", "th")]
    if widest_row(parts) > MAX_COLUMNS:
        return False
    if any(cell.chars > (MAX_CELL if says_data else MAX_PLAIN_CELL) for cell in cells):
        return False
    spare = (len(parts) - len(cells)) // ROWS_A_BLOCK if says_data else 0
    waiting: list[Node | str] = [*cells]
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, str) or not is_shown(inner):
            continue
        spare -= inner.tag == "table" or inner.tag in HEADINGS
        if spare < 0:
            return False
        if inner.tag == "pre" and "\n" in text_in(inner).strip():
            return False
        waiting += inner.children
    return True


def is_structured(block: str) -> bool:
    """Return whether a block is a heading, list, code or table, which no table cell can hold."""
    return re.match(r"#{1,6} |- |\d{1,9}\. |```|\|", block) is not None


def table_parts(node: Node) -> list[Node]:
    """Return the caption, rows and cells of a table in order, without those of nested tables."""
    found: list[Node] = []
    for child in node.children:
        if isinstance(child, Node) and is_shown(child):
            if child.tag in ("td", "th", "caption"):
                found.append(child)
            elif child.tag == "tr":
                found += [child, *table_parts(child)]
            elif child.tag in ("thead", "tbody", "tfoot", "form"):
                found += table_parts(child)
    return found
