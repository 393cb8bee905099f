"""Find the quotations and numbers in a Markdown draft, and the URLs that it cites for them.

Code, links and quotations are replaced by equally long text, so every offset is valid in the draft.
"""

from __future__ import annotations

import functools
import html
import re
from bisect import bisect_left, bisect_right
from itertools import pairwise, zip_longest
from typing import NamedTuple

from websearch.base.numbers import numbers_of
from websearch.base.words import UNSPACED, language_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Span = tuple[int, int]

MOST_SOURCES = 5  # sources per quotation
MOST_BETWEEN = 2_000  # characters examined between a quotation and its link
LONGEST_ATTRIBUTION = 500  # characters of an attribution
LEAST_WORDS = 4  # words per quotation; shorter quotations are titles, terms or irony
LEAST_CITED_WORDS = 2  # the same for a sentence with a link
CHARS_OF_A_WORD = 2  # for scripts without spaces
BEFORE_CHARS = 40  # characters before a quotation in which the draft may deny it
COVER = "\u2060"  # replaces code and URLs; not a word character or a space
LINK = "\ufffc"  # replaces links where the text around them matters

_CODE = re.compile(
    r"(?ms)^[ \t>]{0,9}(`{3,}(?=[^`\n]*$)|~{3,}).*?(?:^[ \t>]{0,9}\1[`~]*[ \t]*$|\Z)"
    r"|(`{1,3})[^`\n]{1,500}\2"
)
_INLINE = re.compile(r"`([^`\n]{1,500})`")
# Code that is a number, expression or required version: `1024 * 1024`, `v17.0.0`, `x<3.0`.
_NUMBER = re.compile(
    r"`{1,3}[ $€£+-]{0,3}(?:[vV](?=\d{1,9}\.\d))?\d[\d .,_*×/^+-]{0,40}[%a-zA-Z]{0,12} ?`{1,3}"
    r"|`[^`\n]{1,80}[<>=]{1,2}\s?\d{1,4}(?:\.\d{1,4}){1,3}[\"']?`"
)
_URL = r"https?://(?:[^\s<>\"“”‘’«»()（）「」『』、。，；\[\]|`]|\([^\s<>()]{0,200}\)){1,2000}"
_LINK = re.compile(
    r"!?\[((?:[^\[\]]|\[[^\[\]]{0,200}\]){0,3000})\]"
    rf"\([ ]?<?({_URL})>?(?:\s[^()\n]{{0,300}})?\)"
    rf"|<?({_URL})>?"
    r"|\[([^\[\]\n]{1,300})\](?:\[([^\[\]\n]{0,300})\])?(?!\()"
)
# An entry of the draft's own list: "[1]: https://...", "[^a]: Title, https://...", "1. https://..."
_ENTRY = re.compile(
    r"(?m)^[ \t>]{0,9}(?:\[(\^?[^\[\]\n]{1,300})\]:"
    r"|(?:[-*+][ \t]{1,4})?(?:\\?\[(\d{1,3})\\?\]:?|(\d{1,3})[.)])(?=[ \t]))"
    r"[^\n]{0,2000}(?:\n[ \t]{1,9}(?![-*+>\d])\S[^\n]{0,2000})?"
)
_MARKER = re.compile(r"\[\^?\d{1,3}\](?![(:])")
_ITEM = re.compile(r"[ \t]{0,12}(?:[-*+]|\d{1,3}[.)])[ \t]+|#{1,6}[ \t]|\|")
_LETTER = rf"[^\W{UNSPACED}]"
# Text in the quotation marks of many languages. An apostrophe does not close a quotation.
_QUOTATION = re.compile(
    "[“„‟]([^“”„‟]*)[“”‟]|”([^”“]*)[”“]|〝([^〝〞〟]*)[〞〟]|«([^«»]*)»|»([^«»]*)«"
    "|‹([^‹›]*)›|›([^‹›]*)‹|「([^「」]*)」"
    rf'|『([^『』]*)』|(?<!{_LETTER})"(?=\S)([^"]*)"(?!{_LETTER})|＂([^＂]*)＂'
    rf"|(?<!{_LETTER})״(?=\S)((?:[^״]|(?<=\w)״(?=\w))*)״(?!{_LETTER})"
    rf"|[‘‚]((?:[^‘’‚]|(?<=\w)’(?=\w))*)[’‘](?!{_LETTER})"
    rf"|(?<!{_LETTER})'(?=\S)((?:[^']|(?<=\w)'(?=\w))*)'(?!{_LETTER})"
)
# An opening quotation mark; a straight mark counts only where it cannot mean inches.
_OPENING = re.compile(r"[“„«「『〝](?=\S)|(?<![^\s(\[])[\"״](?=\w)")
# Quotation marks in HTML and TeX, and the characters that replace them.
_WRITTEN_MARKS = (
    (re.compile(r"(?<!`)``(?!`)(?=(?:[^`'\n]|'(?!')){1,3000}'')"), "“"),
    (re.compile(r"(?<!')''(?!')"), "”"),
    (re.compile(r"(?i)&(?:ldquo|bdquo|#8220|#8222|#x201[ce]);"), "“"),
    (re.compile(r"<(?:q|blockquote)(?:\s[^<>]{0,500})?>"), "“"),
    (re.compile(r"(?i)&(?:rdquo|#8221|#x201d);|</(?:q|blockquote)>"), "”"),
    (re.compile(r"(?i)&(?:laquo|#171);"), "«"),
    (re.compile(r"(?i)&(?:raquo|#187);"), "»"),
    (re.compile(r"(?i)&(?:quot|#34);"), '"'),
)  # fmt: skip
_TAG = re.compile(r"</?(?:q|blockquote|p|a|b|i|em|strong|span|br|sup|sub)(?:[\s/][^<>]{0,500})?>")
_RULE = re.compile(r"\|[-:| \t]+\n?")
_SENTENCE_END = re.compile(rf"[.!?。！？][{LINK}\s,;()\[\]\"'”’»]*")
# Words whose period does not end a sentence.
_ABBREVIATION = re.compile(
    r"(?:\b[A-Z](?:\.[A-Z])*|\b(?:Dr|Mr|Mrs|Ms|St|Prof|No|vs|cf|ca|e\.g|i\.e))\Z"
)
# The attribution that ends a quoted block: "> — Author, [source](...)", "> text ([source](...))".
_ATTRIBUTION = re.compile(
    rf"(?:\n[ \t>]*(?:[-–—]{{1,2}}|\(|[Ss]ource\b|{LINK})|(?<=[.!?…])[ \t][–—])[^\n]*\Z"
    rf"|[\s>(\[,;:–—-]{{0,40}}{LINK}[{LINK}\s>()\[\].,;]*\Z"
)
_BELOW = re.compile(rf"\W{{0,6}}(?:[Ss]ource\W{{0,6}})?{LINK}|[–—(]|-{{1,2}} ")
_CALLOUT = re.compile(r"[\s>]*(?:\[!\w|\*\*\w+:)")
_WORD = re.compile(rf"[{UNSPACED}]|{_LETTER}+")


class Cited(NamedTuple):
    """A quotation or sentence in a draft, its line, and the URLs that may be its source.

    shown: the sentence including quotations and code, whose numbers do not count. also: more links
    in a quotation's sentence. context: the words in the sentence's code; in a table, also its
    header, for a cell the label of its row, and for a quotation the words before it. undefined: a
    marker that the draft never defines.
    """

    text: str
    line: int
    urls: list[str]
    shown: str = ""
    also: tuple[str, ...] = ()
    context: str = ""
    language: str = "en"
    undefined: str = ""


class CitedParts(NamedTuple):
    """The parts of a draft to check: quotations, sentences with numbers, links."""

    quotations: list[Cited]
    sentences: list[Cited]
    links: list[Cited]
    unclosed_lines: list[int]


class Link(NamedTuple):
    """A link or footnote number: its position, the position of its text, its URLs."""

    start: int
    end: int
    text: Span
    urls: list[str]


class Block(NamedTuple):
    """The position of a paragraph, item or row; is_quoted: its lines start with ">"."""

    start: int
    end: int
    is_quoted: bool


class Draft:
    """A draft in Markdown. url: the source for parts without a citation, or "".

    plain: the draft without code and URLs. readable: the draft without URLs. marked: the draft with
    links replaced by LINK characters.
    """

    def __init__(self, text: str, url: str = "") -> None:
        self.text = text = text.replace("\r\n", "\n")
        self.lines = [0, *(match.end() for match in re.finditer("\n", text))]
        self.others = [url] if url else []
        self.language = language_of(text) or "en"
        self.known_sentences: dict[int, list[Span]] = {}
        text = with_marks(text)
        code = [found.span() for found in _CODE.finditer(text) if not _NUMBER.fullmatch(found[0])]
        text = covered(text, code, COVER)
        addresses, entries = read_entries(text)
        self.links = list(links_of(text, addresses))
        self.starts = [link.start for link in self.links]
        outside = [((link.start, link.text[0]), (link.text[1], link.end)) for link in self.links]
        targets = [span for pair in outside for span in pair]
        marks = [link.text for link in self.links if self.is_marker(text, link)]
        self.plain = covered(text, targets + marks, COVER)
        self.readable = covered(self.text, targets, COVER)
        self.marked = covered(text, [(link.start, link.end) for link in self.links], LINK)
        labels = {text[link.start : link.end].strip("[]") for link in self.links}
        listed = {start for start, label in entries.items() if not label or label in labels}
        self.blocks = [block for block in blocks_of(text) if block.start not in listed]

    def quotations(self) -> list[Cited]:
        """Return the quotations in quotation marks and quoted blocks, in order."""
        quotations: list[Cited] = []
        for index, block in enumerate(self.blocks):
            spans = self.spans_in(block)
            lead = self.plain[block.start : spans[0][0] if spans else block.end]
            if block.is_quoted and len(lead.strip("> \t")) > 1:  # more than a quotation mark
                quotations += self.quoted_block(index)
                continue
            for number, span in enumerate(spans):
                urls = self.source_of(number, spans, block) or self.others
                beside = urls_of(self.links_beside(block, span))
                also = tuple(url for url in beside if url not in urls)
                text = self.text[slice(*span)].strip()
                is_html = self.text[span[0] - 1] != self.plain[span[0] - 1]  # like its marks
                if is_html:
                    text = html.unescape(_TAG.sub(" ", text)).strip()
                start = max(0, span[0] - BEFORE_CHARS)
                before = re.split(r"[.,;:!?]", self.plain[start : span[0] - 1])[-1]
                line = self.line_of(span[0])
                quotations.append(Cited(text, line, urls, also=also, context=before))
        return quotations

    def is_marker(self, text: str, link: Link) -> bool:
        """Return whether a link's text states nothing: [*](URL), [1](URL) or ([Name 2012](URL)).

        A number greater than the number of links is not a marker.
        """
        words = text[slice(*link.text)].strip("^#[] ")
        is_number = re.fullmatch(r"\d{1,3}", words) and int(words) <= len(self.links)
        is_beside = (text[link.start - 1 : link.start], text[link.end : link.end + 1]) == ("(", ")")
        return bool(is_number or is_beside or not re.search(_LETTER, words))

    def unclosed_lines(self) -> list[int]:
        """Return the lines with an unclosed quotation mark."""
        lines: dict[int, None] = {}
        for start, end, _ in self.blocks:
            rest = _QUOTATION.sub(lambda found: COVER * len(found[0]), self.plain[start:end])
            places = (start + found.start() for found in _OPENING.finditer(rest))
            lines |= dict.fromkeys(map(self.line_of, places))
        return [*lines]

    def sentences(self) -> list[Cited]:
        """Return the sentences and rows that may contain numbers, without code and quotations.

        Uncited sentences have no urls.
        """
        sentences: list[Cited] = []
        for index, block in enumerate(self.blocks):
            if block.is_quoted:
                continue
            if index in self.heads:
                sentences += self.row(index, *self.heads[index])
                continue
            start = block.start
            spans = [(first - start, last - start) for first, last in self.spans_in(block)]
            plain = self.plain[start : block.end]
            item = _ITEM.match(plain)
            plain = covered(plain, [*([item.span()] if item else []), *spans], COVER)
            for first, last in self.sentence_spans(block):
                sentence = one_sentence(plain[first - start : last - start])
                urls = self.urls_in(first, last) or self.others
                is_heading = self.text.startswith("#", start)
                is_number = re.search(r"\d", sentence) or (urls and self.counts(sentence))
                if is_number and (urls or not is_heading):
                    begin = max(first, start + item.end()) if item else first
                    shown = one_sentence(self.readable[begin:last])
                    marker = None if urls else _MARKER.search(self.text, first, last)
                    cited = Cited(sentence, self.line_of(first), urls, shown,
                                  context=words_in_code(shown), language=self.language,
                                  undefined=marker[0] if marker else "")  # fmt: skip
                    sentences.append(cited)
        return sentences

    def counts(self, sentence: str) -> bool:
        """Return whether a sentence has a number, in digits or in words."""
        return bool(numbers_of(sentence, self.language))

    def cited_links(self) -> list[Cited]:
        """Return each URL in the draft with the first line where it appears."""
        lines: dict[str, int] = {}
        for link in self.links:
            for url in link.urls:
                lines.setdefault(url, self.line_of(link.start))
        return [Cited("", line, [url]) for url, line in lines.items()]

    # ----- tables

    @functools.cached_property
    def heads(self) -> dict[int, tuple[int, Block]]:
        """Return row index -> (index of its header, paragraph above its table)."""
        found: dict[int, tuple[int, Block]] = {}
        head, end = -1, -1
        above = Block(0, 0, False)
        for index, block in enumerate(self.blocks):
            if not self.text.startswith("|", block.start):
                above, head = block, -1
                continue
            if head < 0 or end != block.start:
                rule = self.blocks[index + 1 : index + 2]
                is_table = rule and _RULE.fullmatch(self.text, rule[0].start, rule[0].end)
                head = index if is_table else -1
            if head >= 0:
                found[index] = (head, above)
            end = block.end
        return found

    def row(self, index: int, head: int, above: Block) -> list[Cited]:
        """Return a table row, or its cells if the links are in the column headers.

        The sources are the links in the row, else those in the column header, else those in the
        paragraph above.
        """
        if index <= head + 1:
            return []
        block, top = self.blocks[index], self.blocks[head]
        others = self.urls_in(above.start, above.end) or self.others
        own, columns = self.urls_in(block.start, block.end), self.cells(top)
        line = self.line_of(block.start)
        shown = one_sentence(self.readable[block.start : block.end])
        context = f"{one_sentence(self.readable[top.start : top.end])} {words_in_code(shown)}"
        if own or not self.links_in(top.start, top.end):
            text = one_sentence(self.plain[block.start : block.end])
            row = Cited(text, line, own or others, shown, (), context, self.language)
            return [row] if self.counts(text) else []
        cells = self.cells(block)
        first = slice(*cells[0]) if cells else slice(0)
        label = (
            f"{one_sentence(self.plain[first])} {words_in_code(one_sentence(self.readable[first]))}"
        )
        cited = []
        for span, column in zip_longest(cells, columns[: len(cells)], fillvalue=(0, 0)):
            text = one_sentence(self.plain[slice(*span)])
            context = f"{one_sentence(self.readable[slice(*column)])} {label}"
            urls = self.urls_in(*column) or others
            if self.counts(text):
                cited.append(Cited(text, line, urls, shown, (), context, self.language))
        return cited

    def cells(self, block: Block) -> list[Span]:
        """Return the positions of the cells in a row."""
        marks = [
            found.start()
            for found in re.finditer(r"(?<!\\)\||\n|\Z", self.plain[block.start : block.end])
        ]
        return [(block.start + one + 1, block.start + two) for one, two in pairwise(marks)]

    def urls_in(self, start: int, end: int) -> list[str]:
        """Return the URLs of the links between two offsets."""
        return urls_of(self.links_in(start, end))

    def sentences_of(self, block: Block, span: Span) -> list[Span]:
        """Return the positions of the sentences that contain a quotation."""
        if block.start not in self.known_sentences:
            self.known_sentences[block.start] = list(self.sentence_spans(block))
        spans = self.known_sentences[block.start]
        first = max(0, bisect_right(spans, (span[0], span[0])) - 1)
        return spans[first : bisect_left(spans, (span[1], 0))]

    def line_of(self, offset: int) -> int:
        """Return the line number at an offset, from 1."""
        return bisect_right(self.lines, offset)

    def link_before(self, offset: int) -> list[Link]:
        """Return the last link that starts before an offset; [] if there is none."""
        first = bisect_left(self.starts, offset)
        return self.links[max(0, first - 1) : first]

    def links_in(self, start: int, end: int, most: int | None = None) -> list[Link]:
        """Return the links that start between two offsets; most: the maximum number."""
        first, last = bisect_left(self.starts, start), bisect_left(self.starts, end)
        return self.links[first : last if most is None else min(last, first + most)]

    # ----- quotations and their sources

    def spans_in(self, block: Block) -> list[Span]:
        """Return the positions of long enough texts in quotation marks."""
        found = _QUOTATION.finditer(self.plain, block.start, block.end)
        spans = (match.span(match.lastindex or 0) for match in found)
        counts = [(span, words_in(self.plain[slice(*span)])) for span in spans]
        return [
            span
            for span, count in counts
            if count >= LEAST_WORDS or (count >= LEAST_CITED_WORDS and self.is_cited(block, span))
        ]

    def is_cited(self, block: Block, span: Span) -> bool:
        """Return whether a quotation's sentence has a link and the quotation is not link text."""
        is_text = any(span[0] < link.end for link in self.link_before(span[0]))
        return bool(self.links_beside(block, span)) and not is_text

    def links_beside(self, block: Block, span: Span) -> list[Link]:
        """Return the first links in a quotation's sentences, which may be its sources."""
        sentences = self.sentences_of(block, span)
        if not sentences:
            return []
        links = self.links_in(sentences[0][0], sentences[-1][1], MOST_SOURCES)
        return [link for link in links if link.urls]

    def source_of(self, number: int, spans: list[Span], block: Block) -> list[str]:
        """Return a quotation's source URLs, from links inside it, directly after it or before it.

        If no link follows the last quotation, each link is assumed to precede its quotation. If a
        sentence ends between a quotation and the next link, the link before it also counts.
        """
        start, end = spans[number]
        inside = self.links_in(start, end)
        before = [link for link in self.link_before(start) if link.start >= block.start]
        if before and before[0].end > start:  # the quotation is the text of a link
            inside = before
        if inside:
            return urls_of(inside)
        behind = self.links_in(end, block.end, MOST_SOURCES)
        if not behind or (before and not self.links_in(spans[-1][1], block.end, 1)):
            return (before or behind or [Link(0, 0, (0, 0), [])])[0].urls
        urls = list(behind[0].urls)
        for link, following in pairwise(behind):  # adjacent links
            if re.search(r"\w|\n", self.marked[link.end : following.start].replace("and", "")):
                break
            urls += following.urls
        # Start at the last character, because the period may be inside the quotation marks.
        between = self.marked[end - 1 : min(behind[0].start, end + MOST_BETWEEN)]
        is_far = re.search(r"[.!?]\W{1,5}(?![a-z])\w", between)
        return [*before[0].urls, *urls] if is_far and before else urls

    def quoted_block(self, index: int) -> list[Cited]:
        """Return the quotation in a quoted block; [] for a callout or a short text.

        The source is in the block's attribution, else in the paragraph below, else in the paragraph
        above if that ends with a colon, else in the quotation.
        """
        start, end, _ = self.blocks[index]
        latest = max(start, end - LONGEST_ATTRIBUTION)
        found = _ATTRIBUTION.search(self.marked, latest, end)
        text_end = found.start() if found else end
        text = re.sub(r"(?m)^[ \t]*(?:>[ \t]?)+", "", self.text[start:text_end]).strip()
        if _CALLOUT.match(self.plain, start, end) or words_in(text) < LEAST_WORDS:
            return []
        links = self.links_in(text_end, end)
        above = self.blocks[max(0, index - 1)]
        below = next(iter(self.blocks[index + 1 : index + 2]), Block(end, end, False))
        if not links and _BELOW.match(self.marked, below.start, below.end):
            links = self.links_in(below.start, below.end)[:1]
        if not links and self.marked[above.start : above.end].rstrip().endswith(":"):
            links = self.links_in(above.start, above.end)[-1:]
        urls = urls_of(links or self.links_in(start, end)) or self.others
        return [Cited(text, self.line_of(start), urls)]

    # ----- sentences

    def sentence_spans(self, block: Block) -> Iterator[Span]:
        """Yield the positions of a block's sentences, including links directly after a sentence."""
        start = block.start
        for found in _SENTENCE_END.finditer(self.marked, block.start, block.end):
            following = self.marked[found.end() : found.end() + 1]
            is_end = found[0][0] in "。！？" or found[0] != found[0].rstrip() or not following
            is_short = _ABBREVIATION.search(
                self.marked, max(start, found.start() - 8), found.start()
            )
            if is_end and not (is_short or following.islower() or following.isdigit()):
                yield start, found.end()
                start = found.end()
        if start < block.end:
            yield start, block.end


# ===== Markdown ===================================================================================


def urls_of(links: list[Link]) -> list[str]:
    """Return the URLs of links, in order."""
    return [url for link in links for url in link.urls]


def covered(text: str, spans: list[Span], cover: str) -> str:
    """Return a text of the same length in which each character of these spans is replaced."""
    pieces, done = [], 0
    for start, end in sorted(spans):
        pieces += [text[done:start], cover * (end - max(start, done))]
        done = max(done, end)
    return "".join([*pieces, text[done:]])


def with_marks(text: str) -> str:
    """Return a text of the same length with characters for HTML and TeX quotation marks."""

    def padded(found: re.Match[str], mark: str) -> str:
        cover = COVER * (len(found[0]) - 1)
        is_opening = mark in "“«" or (mark == '"' and text[found.end() : found.end() + 1].isalnum())
        return cover + mark if is_opening else mark + cover

    for pattern, mark in _WRITTEN_MARKS:
        text = pattern.sub(functools.partial(padded, mark=mark), text)
    return text


def one_sentence(text: str) -> str:
    """Return text from a draft on one line, without covered parts."""
    return re.sub(r" (?=[.,;!?])", "", " ".join(text.replace(COVER, "").split()))


def words_in_code(text: str) -> str:
    """Return the text between backquotes in a sentence or row, without digits.

    The names of options and functions show what a number means, as other words do.
    """
    return re.sub(r"\d", "", " ".join(found[1] for found in _INLINE.finditer(text)))


def words_in(text: str) -> float:
    """Count the words in a text; in scripts without spaces, two characters count as one."""
    words = _WORD.findall(text)
    characters = sum(1 for word in words if re.match(f"[{UNSPACED}]", word))
    return len(words) - characters + characters / CHARS_OF_A_WORD


def read_entries(text: str) -> tuple[dict[str, str], dict[int, str]]:
    """Return the draft's list of sources as label -> URL, and entry start -> item label.

    A definition ("[1]: ...") has the label "". An item ("1. ...") is a source only if the draft
    refers to its label.
    """
    numbered: dict[str, str] = {}
    labelled: dict[str, str] = {}
    starts: dict[int, str] = {}
    for found in _ENTRY.finditer(text):
        address = re.search(_URL, found[0])
        if not address:
            continue
        number = found[2] or found[3] or ""
        starts[found.start()] = number
        (numbered if number else labelled)[number or label_of(found[1])] = trimmed(address[0])
    return {**numbered, **labelled}, starts


def label_of(text: str) -> str:
    """Return a label in the form used for comparing."""
    return " ".join(text.lower().split())


def trimmed(address: str) -> str:
    """Return a URL without the sentence punctuation that follows it."""
    return address.rstrip(".,;:!?*_~'’”")


def links_of(text: str, addresses: dict[str, str]) -> Iterator[Link]:
    """Yield the links in a text and the references to the draft's sources ("[1]", "[1, 2]")."""
    for found in _LINK.finditer(text):
        start, end = found.span()
        if found[2]:
            is_image = found[0].startswith("!")
            words = (end, end) if is_image else found.span(1)
            yield Link(start, end, words, [] if is_image else [found[2]])
        elif found[3]:
            end = found.start(3) + len(trimmed(found[3]))
            yield Link(start, end, (end, end), [trimmed(found[3])])
        else:
            labels = [found[5] or found[4]]
            if re.fullmatch(r"\d{1,3}(?:\s?[,;]\s?\d{1,3}){0,20}", found[4]) and not found[5]:
                labels = re.findall(r"\d+", found[4])
            urls = [addresses[label_of(label)] for label in labels if label_of(label) in addresses]
            if urls:
                words = (end, end) if found[4][0] in "^0123456789" else found.span(4)
                yield Link(start, end, words, urls)


def blocks_of(text: str) -> Iterator[Block]:
    """Yield the blocks of a draft: paragraphs, list items and table rows."""
    start = offset = 0
    kind: bool | None = None  # kind of the current block; None between blocks
    for line in text.split("\n"):
        is_quoted = line.lstrip().startswith(">")
        own = is_quoted if line.strip() else None
        if own != kind or (own is False and _ITEM.match(line)):
            if kind is not None:
                yield Block(start, offset, kind)
            start, kind = offset, own
        offset += len(line) + 1
    if kind is not None:
        yield Block(start, len(text), kind)
