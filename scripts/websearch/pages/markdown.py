"""Write a tree of HTML elements as Markdown."""

from __future__ import annotations

import functools
import re

from websearch.common import clean_text
from websearch.html_tree import BLOCKS, HEADINGS, MAX_ADDRESS_CHARS, Node, name_set
from websearch.pages.content import find_content
from websearch.pages.page_tree import collect_text

TYPE_CHECKING = False  # typing.TYPE_CHECKING without its import, which costs 5 ms
if TYPE_CHECKING:
    from collections.abc import Callable

    from websearch.pages.content import Content

BREAK = "\0"  # a line break inside a paragraph until it is written; clean text holds no NUL
MAX_MARKDOWN = 5_000_000  # characters of one page; nested lists can make a thousand of each one
MAX_NESTING = 12  # of lists and quotations; deeper ones are written without indentation
MAX_COLUMNS = 40  # of a table; a wider one is layout, or data for programs
MAX_HEADING = 500  # characters of a heading or term; a longer one is written as a paragraph
CODE_TAGS = name_set("code kbd samp tt")
EMPHASIS = {
    "b": "**", "strong": "**", "i": "*", "em": "*", "cite": "*", "del": "~~", "s": "~~",
    "strike": "~~",
}  # fmt: skip
SPANS = frozenset(str(number) for number in range(2, 100))  # colspans; others are ignored
_MARKDOWN_SIGNS = (
    r"\\(?=[!-/:-@\[-`{-~])|`|\*(?=\S)|(?<=\S)\*|(?<![^\W_])_|_(?![^\W_])|\](?=[(\[])"
    r"|<(?=[a-zA-Z/!?])|&(?=#?\w{1,40};)|~(?=~)"
)
_LINE_START = r"(?m)^(?=#{1,6} |>|[-+*] |[-=]{3,}[ \t]{0,9}$)|^(\d{1,9})(?=[.)] )"
_CODE_LANGUAGE = (
    r"(?i)(?:^|\s)(?:language|lang|brush|highlight-source|sourceCode)[-:\s]{1,9}([\w+#-]{1,20})"
)


# ===== from a tree to Markdown ====================================================================


def extract_markdown(html: str, url: str = "", keep_links: bool = False) -> str:
    """Return the content of an HTML page as Markdown. url: what relative links are relative to."""
    return clean_text(content_markdown(find_content(html), url, keep_links)[0])


def content_markdown(content: Content, url: str, keep_links: bool) -> tuple[str, bool]:
    """Return found content as Markdown, and whether it was longer than MAX_MARKDOWN."""
    writer = MarkdownWriter(url, keep_links)
    blocks = [block for node in content.leads for block in writer.block(node)]
    blocks += writer.block(content.node)
    return "\n\n".join(blocks), writer.cut


class MarkdownWriter:
    """Writes elements as Markdown, up to MAX_MARKDOWN characters in all.

    keep_links: write link targets, made absolute against base. cut: whether something was left out
    because there was no room for it.
    """

    def __init__(self, base: str = "", keep_links: bool = False) -> None:
        self.base = base
        self.keep_links = keep_links
        self.nesting = 0  # of lists and quotations
        self.room = MAX_MARKDOWN
        self.cut = False

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
                line.append(self.fit(escape_markdown(child)))
            elif is_shown(child):
                if child.tag in BLOCKS or child.has_block:
                    found += paragraphs(line)
                    line = []
                    found += self.block(child)
                else:
                    line.append(self.inline(child))
        return found + paragraphs(line)

    def block(self, node: Node) -> list[str]:
        """Return one block element as blocks."""
        if node.tag == "hr":
            return []
        writer = BLOCK_WRITERS.get(node.tag, MarkdownWriter.blocks)
        return writer(self, node)

    def heading_block(self, node: Node) -> list[str]:
        """Return a heading on one line, or as a paragraph if it is too long for one."""
        text = " ".join("".join(self.inline_children(node)).replace(BREAK, " ").split())
        if length_without_targets(text) > MAX_HEADING:
            return paragraphs([text])
        return [f"{'#' * int(node.tag[1])} {text}"] if text else []

    def quote_block(self, node: Node) -> list[str]:
        """Return a quotation as one block."""
        self.nesting += 1
        blocks = self.blocks(node)
        self.nesting -= 1
        if self.nesting >= MAX_NESTING or not blocks:
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
        code = self.fit("".join(parts).expandtabs(4).strip("\n").rstrip())
        fence = backticks(code, 3)
        if not code.strip() or not self.has_room(2 * len(fence)):
            return []
        return [f"{fence}{code_language(node)}\n{code}\n{fence}"]

    def term_block(self, node: Node) -> list[str]:
        """Return a term or summary as a bold line, or as it stands if it is too long for one."""
        blocks = self.blocks(node)
        if sum(map(length_without_targets, blocks)) > MAX_HEADING:
            return blocks
        text = " ".join(" ".join(blocks).split())
        return [f"**{text.replace('**', '')}**"] if text else []

    def linked_blocks(self, node: Node) -> list[str]:
        """Return the blocks inside a link; the first one-line paragraph or heading carries it."""
        found = self.blocks(node)
        if not self.keep_links:
            return found
        for index, block in enumerate(found):
            match = None if "](" in block else re.fullmatch(r"(#{1,6} )?([^\n]+)", block)
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
            return text
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
        items: list[list[str]] = []
        groups = [child for child in node.children if isinstance(child, Node) and is_shown(child)]
        for group in groups:
            parts = [group] if group.tag in ("dt", "dd") else group.children
            for part in parts:
                if not isinstance(part, Node) or not is_shown(part):
                    continue
                if part.tag == "dt" or not items:
                    items.append([])
                items[-1] += self.block(part)
        self.nesting -= 1
        if self.nesting >= MAX_NESTING:
            return [block for blocks in items for block in blocks]
        lines = ["- " + self.indented("\n".join(blocks), 2) for blocks in items if blocks]
        return ["\n".join(lines)] if lines else []

    def table_block(self, node: Node) -> list[str]:
        """Return a data table as a pipe table, and a layout table as the blocks of its cells."""
        rows: list[list[list[str]]] = []
        captions: list[str] = []
        is_data = True
        for part in table_parts(node):
            if part.tag == "caption":
                captions += self.blocks(part)
            elif part.tag == "tr":
                rows.append([])
            else:
                blocks = self.blocks(part)
                is_data = is_data and len(blocks) < 4 and not any(map(is_structured, blocks))
                rows = rows or [[]]
                span = part.attributes.get("colspan", "1")
                more = min(int(span), MAX_COLUMNS) - 1 if span in SPANS else 0
                rows[-1] += [blocks] + [[]] * more
        rows = [row for row in rows if any(row)]
        columns = max((len(row) for row in rows), default=0)
        is_data = is_data and len(rows) > 1 and 1 < columns <= MAX_COLUMNS
        if not is_data or not self.has_room(4 * columns * len(rows)):
            return captions + [block for row in rows for cell in row for block in cell]
        lines = [
            "| " + " | ".join(map(cell_text, row + [[]] * (columns - len(row)))) + " |"
            for row in rows
        ]
        return [*captions, "\n".join([lines[0], "|" + " --- |" * columns, *lines[1:]])]

    def inline_children(self, node: Node) -> list[str]:
        """Return the content of an element as pieces of one line."""
        return [
            self.fit(escape_markdown(child)) if isinstance(child, str) else self.inline(child)
            for child in node.children
            if isinstance(child, str) or is_shown(child)
        ]

    def inline(self, node: Node) -> str:
        """Return an inline element as Markdown."""
        tag = node.tag
        if tag == "br":
            return BREAK
        if tag == "img":
            return self.image(node)
        if tag in CODE_TAGS and not node.has_block:
            parts: list[str] = []
            collect_text(node, parts)
            return self.fit(code_span("".join(parts)))
        text = "".join(self.inline_children(node))
        if tag == "a" and self.keep_links and text.strip() and "](" not in text:
            target = self.target(node.attributes.get("href", ""))
            return emphasis(text, "[", f"]({target})") if target else text
        return emphasis(text, EMPHASIS[tag]) if tag in EMPHASIS else text

    def image(self, node: Node) -> str:
        """Return an image's alternative text, with its address if links are kept."""
        alt = escape_markdown(" ".join(node.attributes.get("alt", "").split())).replace("]", "\\]")
        if not re.search(r"[^\W\d_]{2}", alt) or re.search(
            r"(?i)\.(?:jpe?g|png|gif|webp|svg)$", alt
        ):
            return ""
        source = self.target(node.attributes.get("src", "")) if self.keep_links else ""
        return self.fit(f"![{alt}]({source})" if source else f"[image: {alt}]")

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
        safe = url.replace("(", "%28").replace(")", "%29").replace("<", "%3C").replace(">", "%3E")
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


def escape_markdown(text: str) -> str:
    """Return text with the signs escaped that Markdown would take for markup."""
    return re.sub(_MARKDOWN_SIGNS, r"\\\g<0>", text)


def paragraphs(line: list[str]) -> list[str]:
    """Return inline pieces as paragraphs: two line breaks end one, a single one stays."""
    found = []
    for part in re.split(rf"{BREAK}\s*{BREAK}[\s{BREAK}]*", "".join(line)):
        lines = [" ".join(one.split()) for one in part.split(BREAK)]
        text = "  \n".join(one for one in lines if one)
        if text:
            found.append(re.sub(_LINE_START, r"\1\\", text))
    return found


def length_without_targets(text: str) -> int:
    """Return the length of Markdown that the targets of links and images are not counted in."""
    return len(re.sub(r"\]\([^()\s]{1,8000}\)", "]", text))


def emphasis(text: str, mark: str, end: str = "") -> str:
    """Return text between marks, its outer spaces outside of them; nothing around nothing."""
    inner = text.strip()
    if not inner or BREAK in inner or inner.startswith(mark):
        return text
    head = text[: len(text) - len(text.lstrip())]
    return f"{head}{mark}{inner}{end or mark}{text[len(head) + len(inner) :]}"


def backticks(text: str, least: int) -> str:
    """Return at least as many backticks as asked for, and more than stand together in the text."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    return "`" * max(least, longest + 1)


def code_span(text: str) -> str:
    """Return text as a code span, between more backticks than stand in it."""
    inner = " ".join(text.split())
    if not inner:
        return ""
    marks = backticks(inner, 1)
    gap = " " if inner[0] == "`" or inner[-1] == "`" else ""
    return f"{marks}{gap}{inner}{gap}{marks}"


def code_language(node: Node) -> str:
    """Return the language that a pre element, its first child or its parent names, or ""."""
    inside = [child for child in node.children if isinstance(child, Node)]
    for one in [node, *inside[:1], *([node.parent] if node.parent else [])]:
        get = one.attributes.get
        named = (get("data-lang") or get("data-language") or "").strip()
        if language := named or class_language(get("class", "")):
            return re.sub(r"[^A-Za-z0-9+#-]", "", language[:20])
    return ""


@functools.lru_cache(maxsize=1024)  # a thousand code blocks may stand in one box
def class_language(names: str) -> str:
    """Return the language that a class such as language-python names, or ""."""
    match = re.search(_CODE_LANGUAGE, names)
    return match[1] if match else ""


def collect_code(node: Node, parts: list[str]) -> None:
    """Append the text of a pre element as it stands; rows and line elements end their line."""
    for child in node.children:
        if isinstance(child, str):
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
    gaps = ["\n" if re.match(r"- |\d{1,9}\. ", block) else "\n\n" for block in blocks[1:]]
    return blocks[0] + "".join(gap + block for gap, block in zip(gaps, blocks[1:], strict=True))


def cell_text(blocks: list[str]) -> str:
    """Return a table cell on one line."""
    return " ".join(" ".join(blocks).replace("|", "\\|").split())


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
