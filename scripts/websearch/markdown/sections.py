"""Find the headings and sections in a page's Markdown.

Offsets count characters from the start of the text, like the parameter offset.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote

from websearch.kit import SearchError, drop_empty, one_line, quoted
from websearch.markdown.fences import lines_with_code
from websearch.markdown.units import ITEM, LIST_ITEM, STRONG, PageText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

MAX_HEADINGS = 1_000  # headings per outline; longer outlines are generated lists
RUSTDOC_KINDS = ("method", "tymethod", "associatedconstant", "associatedtype")
HINT = "Use {outline} to list its headings, or {find} for an entry or other text."
MAX_LISTED = 10  # headings listed in an error
HEADING_CHARS = 200
HEADING = re.compile(r"(#{1,6})[ \t]+(.*)")
HEADING_ALONE = re.compile(r"\n\n#{1,6}[ \t][^\n]*\n\n")
# Other headings that READMEs use: HTML elements, and lines underlined with = or -.
HTML_HEADING = re.compile(r"(?i) {0,3}<h([1-6])\b[^<>]{0,300}>(.{1,500})</h[1-6]>")
UNDERLINE = re.compile(r"={2,200}|-{3,200}")
PLAIN_LINE = re.compile(r"[^\s|>#*+`~<=-]")
PAGE_HEADING = re.compile(r"\[page \d{1,9}\]")  # see pdf.py
PAGE_LINE = re.compile(r"(?m)^## \[page (\d{1,9})\]$")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading: its level, its text, its start and the end of its section.

    page: the page number if the heading is from a PDF outline, else 0.
    """

    level: int
    text: str
    start: int
    end: int
    page: int = 0


def find_headings(text: str) -> list[Heading]:
    """Return the headings in Markdown, except those in code blocks.

    A section ends at the next heading of the same or a higher level. The page headings of a PDF
    file count only if there are no other headings.
    """
    starts: list[tuple[int, str, int]] = []
    offset, before = 0, ""
    for line, is_code in lines_with_code(text):
        if not is_code and len(starts) < MAX_HEADINGS:
            if heading := HEADING.match(line):
                starts.append((len(heading[1]), heading[2].rstrip("# \t"), offset))
            elif heading := HTML_HEADING.match(line):
                starts.append((int(heading[1]), re.sub(r"<[^<>]*>", "", heading[2]), offset))
            elif UNDERLINE.fullmatch(line) and PLAIN_LINE.match(before):
                starts.append((1 if line[0] == "=" else 2, before, offset - len(before) - 1))
        offset += len(line) + 1
        before = line
    starts = [(level, short_heading(words), start) for level, words, start in starts]
    starts = [start for start in starts if not PAGE_HEADING.fullmatch(start[1])] or starts
    headings: list[Heading] = []
    open_levels: list[int] = []  # indexes of headings whose end is not known yet
    ends = [len(text)] * len(starts)
    for index, (level, _, start) in enumerate(starts):
        while open_levels and starts[open_levels[-1]][0] >= level:
            ends[open_levels.pop()] = start
        open_levels.append(index)
    for (level, words, start), end in zip(starts, ends, strict=True):
        headings.append(Heading(level, words, start, end))
    return headings


def short_heading(words: str) -> str:
    """Return a heading on one line, cut if it is long; code that is cut ends with its backtick."""
    short = one_line(words, HEADING_CHARS)
    return short if short == words or short.count("`") % 2 == 0 else f"{short}`"


def lower_headings(text: str, level: int) -> str:
    """Return Markdown with all headings lowered until the highest has this level.

    Only a line between blank lines counts as a heading: "#" among other lines is a code comment.
    """
    padded = f"\n\n{text}\n\n"
    headings = [
        heading for heading in find_headings(text) if HEADING_ALONE.match(padded, heading.start)
    ]
    shift = level - min((heading.level for heading in headings), default=level)
    pieces, end = [], 0
    for heading in headings if shift > 0 else []:
        pieces += [text[end : heading.start], "#" * min(shift, 6 - heading.level)]
        end = heading.start
    return "".join([*pieces, text[end:]])


def demote_headings(text: str) -> str:
    """Return a post's Markdown with its headings two levels lower, below the thread's headings.

    This way, a post cannot imitate the start of another post. Code blocks do not change.
    """
    lines = []
    for line, is_code in lines_with_code(text):
        heading = None if is_code else re.match(r" {0,3}(#{1,6})(?=\s)", line)
        lines.append(
            f"{'#' * min(6, 2 + len(heading[1]))}{line[heading.end() :]}" if heading else line
        )
    return "\n".join(lines)


def bookmark_headings(bookmarks: list[tuple[int, str, int]], text: str) -> list[Heading]:
    """Return a PDF file's outline, (level, title, page) per entry, as headings in its text.

    A section consists of whole pages, because an entry has only a page number. An entry is omitted
    if its page is not in the text.
    """
    marks = {int(match[1]): match.start() for match in re.finditer(PAGE_LINE, text)}
    ends = dict(zip(marks, [*list(marks.values())[1:], len(text)], strict=False))
    known = [bookmark for bookmark in bookmarks[:MAX_HEADINGS] if bookmark[2] in marks]
    last_pages = [max(marks, default=0)] * len(known)
    open_entries: list[int] = []
    for index, (level, _, page) in enumerate(known):
        while open_entries and known[open_entries[-1]][0] >= level:
            earlier = open_entries.pop()
            last_pages[earlier] = max(page, known[earlier][2])
        open_entries.append(index)
    return [
        Heading(level, one_line(title, HEADING_CHARS), marks[page], ends[last_page], page)
        for (level, title, page), last_page in zip(known, last_pages, strict=True)
    ]


def outline_of(headings: list[Heading]) -> list[dict[str, Any]]:
    """Return headings as an outline: {level, heading, page?, offset, chars} per heading."""
    return [
        drop_empty(
            {
                "level": heading.level,
                "heading": heading.text,
                "page": heading.page or None,
                "offset": heading.start,
                "chars": heading.end - heading.start,
            }
        )
        for heading in headings
    ]


def find_entry(text: str, name: str) -> Heading | None:
    """Return the first entry, such as an option or a term in a list, with this name; else None.

    The dashes of an option may be omitted. Entries with several names are found by any of them.
    """
    bare = name.lstrip("-")
    names = rf"(?:[-<\[\\]\S{{1,40}} +){{0,4}}-{{0,2}}{re.escape(bare)}(?![\w-])"
    page = PageText(text if bare else "")
    for piece in page.pieces:
        item = re.compile(LIST_ITEM).match(text, piece.start) if piece.kind == "item" else None
        words = (
            piece.words if piece.level >= STRONG else text[item.end() : piece.end] if item else ""
        )
        if not re.match(names, plain_name(words)) or (item and "(" not in words):
            continue
        start = piece.start
        for lead in reversed(piece.leads):  # other names of the entry, on the preceding lines
            is_beside = lead.level >= ITEM and not page.text[lead.end : start].strip()
            start = lead.start if is_beside else start
        return Heading(6, short_heading(words), start, page.section(piece)[-1].end)
    return None


def section_note(headings: list[Heading], section: Heading, asked: str) -> str:
    """Return a note if a section's heading is not unique or only similar to the request, or ""."""
    name = section.text.lower()
    if words_of(asked.lower()).isdisjoint(words_of(name)):
        return f"No heading contains {quoted(asked)}: the most similar is shown."
    same = [one for one in headings if one.text.lower() == name and one is not section]
    if same:
        return (
            f"{len(same) + 1} headings have this name. This is the first; the others are at offset "
            f"{offsets_of(same)}."
        )
    wanted = plain_name(asked)
    if wanted == plain_name(name):
        return ""
    others = [
        one for one in headings if names_whole(plain_name(one.text), wanted) and one is not section
    ]
    return f"Also {quoted(asked)}: headings at offset {offsets_of(others)}." if others else ""


def offsets_of(headings: list[Heading]) -> str:
    """Return the offsets of headings, separated by commas; only the first if there are many."""
    more = ", ..." if len(headings) > MAX_LISTED else ""
    return ", ".join(str(one.start) for one in headings[:MAX_LISTED]) + more


def plain_name(heading: str) -> str:
    """Return a heading or request in lower case, without Markdown's marks and escapes and "()".

    The option --[no-]color is --color.
    """
    words = re.sub(r"[`*\\]|\[no-\]", "", heading.lower())
    return " ".join(words.split()).removesuffix("()")


def names_whole(own: str, wanted: str) -> bool:
    """Return whether a heading contains a name as a whole: fs.rm in fs.rm(path), not fs.rmdir."""
    place = own.find(wanted)
    while place >= 0:
        around = own[place - 1 : place] + own[place + len(wanted) : place + len(wanted) + 1]
        if not re.search(r"\w", around):
            return True
        place = own.find(wanted, place + 1)
    return False


def words_of(heading: str) -> set[str]:
    """Return the words in a heading, without Markdown and punctuation."""
    return {*re.findall(r"\w[\w-]*", heading)}


def fragment_offset(text: str, fragment: str) -> int:
    """Return the offset of the heading, entry or text named in a URL's fragment; 0 if none.

    Generators make ids from headings ("serverkeepalivetimeout"), or from names, which begin a
    heading or an entry: "os.path.join", rustdoc's "method.drain". Search engines name a text:
    ":~:text=words".
    """
    name, _, directive = fragment.partition(":~:text=")
    words = plain_name(unquote(re.split("[&,]", directive)[0]))
    name = unquote(name)
    if words and (place := text.lower().find(words)) > 0:
        return text.rfind("\n\n", 0, place) + 1
    headings = find_headings(text) if name else []
    letters = letters_of(name)
    for heading in headings:
        if letters and letters_of(heading.text) == letters:
            return heading.start
    kind, _, member = name.partition(".")
    if kind in RUSTDOC_KINDS:
        member = plain_name(member)
        starts = (one.start for one in headings if declares(plain_name(one.text), member))
        return next(starts, 0)
    entry = find_entry(text, name) if member else None
    return entry.start if entry else 0


def letters_of(text: str) -> str:
    """Return the letters and digits of a text in lower case."""
    return re.sub(r"[\W_]", "", text.lower())


def declares(own: str, wanted: str) -> bool:
    """Return whether a heading has a name before its parameters: entry in "fn entry(key)"."""
    return bool(re.search(rf"(?<!\w){re.escape(wanted)}[<(]", own))


def find_section(headings: list[Heading], name: str, text: str = "") -> Heading:
    """Return the section whose heading, or entry in text whose first line, best matches a name.

    The first match wins: an equal heading; one that contains the name as a whole; the same for a
    function without its parameters; an entry; a heading that contains the name as part of a word;
    a member without its class; a heading whose words are all in the name; the most similar heading.
    Raises SearchError (no_results) if no heading is similar. Its field headings lists the first
    headings, which are not part of the message because they are untrusted text.
    """
    import difflib

    wanted = plain_name(name)
    words = [plain_name(heading.text) for heading in headings]
    function = re.split(r"(?<=\w)\(", wanted)[0]  # its parameters may be written differently

    def first_like(tries: list[tuple[str, Callable[[str, str], bool]]]) -> Heading | None:
        found = (
            heading
            for asked_for, is_near in tries
            for heading, own in zip(headings, words, strict=True)
            if is_near(own, asked_for)
        )
        return next(found, None)

    both = dict.fromkeys((wanted, function))
    member = re.split(r"::|[.#]", function)[-1]  # the page may be about its class
    loose = [(one, str.__contains__) for one in both]
    if member and " " not in function:
        loose += [(member, declares), (member, names_whole)]
    whole = first_like([(one, is_near) for one in both for is_near in (str.__eq__, names_whole)])
    if section := whole or find_entry(text, function) or first_like(loose):
        return section
    asked = words_of(wanted)  # "eol attribute" asks for the heading `eol`
    within = [own for own in words if words_of(own) <= asked and len(own) > 2]
    if within:
        return headings[words.index(max(within, key=len))]
    similar = difflib.get_close_matches(wanted[:HEADING_CHARS], words, 5, 0.6)
    if similar:
        return headings[words.index(similar[0])]
    message = f"The page has no heading like {quoted(name)}."
    if not headings:
        raise SearchError("no_results", message, "The page has no headings.")
    first = [heading.text for heading in headings[:MAX_LISTED]]
    raise SearchError("no_results", message, HINT, headings=first)
