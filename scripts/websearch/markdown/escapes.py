"""Escape characters from a page that would become markup in the joined Markdown text.

The effect of a character depends on its neighbors, which may be in another element of the page:
"![x]<span>(https://...)</span>". Therefore, a Markdown writer marks the characters from the page,
and escape() processes the whole text. It replaces a mark with a backslash where CommonMark
(spec.commonmark.org, 0.31) would read the next character as markup, and deletes it elsewhere.
Characters without a mark are the writer's own markup.
"""

from __future__ import annotations

import re

# Characters that html_tree.py removes from every page.
MARK = "\ufdd0"  # before a character from the page
CODE, CODE_END = "\ufdd1", "\ufdd2"  # around inline code
_CODE = f"{CODE}([^{CODE}{CODE_END}]*){CODE_END}"

_BEFORE_SIGN = r"(?=[\\`*_\[\]<&~!])"  # zero width makes re.sub three times as fast
_FIRST_SIGNS = r"(?m)^(?=[#>+\-=|:])|^\d{1,9}(?=[.)])"  # at the start of a line
# What the writer may put before a line: quotation and list markers, spaces.
_BEFORE_TEXT = r"^(?:[ >]|- |\d{1,9}\. )*"
_LINE_START = (
    rf"(?m)({_BEFORE_TEXT}){MARK}(?=#{{1,6}}(?:\s|\Z)|>|[-+*](?:\s|\Z)"
    r"|[-=|:][-=|: ]*$"  # a line below a heading or a table header
    rf"|[*_][*_ {MARK}]{{2,}}$"  # a horizontal rule
    r"|\[[^\[\]]{1,1999}\]:)"  # the definition of a link
)
# The number of a list item. Inside a paragraph, only the number 1 can start a list.
_NUMBER = rf"(?m)((?<!  \n){_BEFORE_TEXT}\d{{1,9}}|{_BEFORE_TEXT}1){MARK}(?=[.)](?:\s|\Z))"
_MARKUP = (
    rf"{MARK}(?=`|\\(?:{MARK}|[!-/:-@\[-`{{-~])|\]\(|!\[|~{MARK}?~|&#?\w{{1,40}};"
    r"|<(?:[a-zA-Z][a-zA-Z0-9-]*(?:[\s/>]|\Z)|[/?]|" + MARK + r"?!"  # a tag, comment or declaration
    r"|[a-zA-Z][\w+.-]{1,31}:|[^\s<>@]{1,64}@))"  # an address
)
# Text in which a run of asterisks or underscores can pair with another: a paragraph or a cell.
_SCOPE = r"[^\n|]+(?:(?<=  )\n[^\n|]+)*"


def mark_signs(text: str) -> str:
    """Return text from a page with a mark before each character that may be inline markup."""
    return re.sub(_BEFORE_SIGN, MARK, text)


def mark_line_starts(text: str) -> str:
    """Return lines of text with a mark before each character that may start a block."""
    return re.sub(_FIRST_SIGNS, lambda found: found[0] + MARK, text)


def without_marks(text: str) -> str:
    """Return marked text without its marks."""
    return text.replace(MARK, "")


def as_code(text: str) -> str:
    """Return text marked as inline code; "" for white space."""
    inner = " ".join(text.split())
    return f"{CODE}{inner}{CODE_END}" if inner else ""


def as_cell(text: str) -> str:
    """Return marked text for a cell in a pipe table.

    Code with a backslash before a bar becomes plain text, because renderers disagree on its end.
    """
    if "|" not in text:
        return text
    text = re.sub(_CODE, lambda code: mark_signs(code[1]) if "\\|" in code[1] else code[0], text)
    return re.sub(rf"{MARK}?\|", r"\\|", text)


def escape(text: str) -> str:
    """Return marked text as Markdown."""
    text = text.replace(CODE_END + CODE, "")  # two adjacent code spans would end each other
    text = re.sub(_CODE, lambda code: code_span(code[1]), text)
    if MARK not in text:
        return text
    text = re.sub(_LINE_START, r"\1\\", text)
    text = re.sub(_NUMBER, r"\1\\", text)
    text = re.sub(_MARKUP, r"\\", text)
    text = re.sub(_SCOPE, lambda found: escape_emphasis(found[0]), text)
    return without_marks(text)


def escape_emphasis(text: str) -> str:
    """Return a _SCOPE of marked text, escaping its asterisks and underscores that can pair."""
    for sign in "*_":
        if MARK + sign not in text:
            continue
        runs = [
            (run, *flanks(text, run))
            for run in re.finditer(rf"(?:{MARK}?{re.escape(sign)})+", text)
        ]
        first = next((run.start() for run, opens, _ in runs if opens), len(text))
        last = next((run.start() for run, _, closes in reversed(runs) if closes), -1)
        pieces, end = [], 0
        for run, opens, closes in runs:
            if (opens and run.start() < last) or (closes and run.start() > first):
                pieces += [text[end : run.start()], run[0].replace(MARK, "\\")]
                end = run.end()
        text = "".join([*pieces, text[end:]])
    return text


def flanks(text: str, run: re.Match[str]) -> tuple[bool, bool]:
    """Return whether a run of asterisks or underscores can open and whether it can close emphasis.

    See CommonMark, section 6.2, on flanking delimiter runs.
    """
    start, end = run.span()
    before, after = text[max(0, start - 1) : start] or " ", text[end : end + 1] or " "
    is_sign_before, is_sign_after = (
        not (letter.isalnum() or letter.isspace()) for letter in (before, after)
    )
    left = not after.isspace() and (not is_sign_after or is_sign_before or before.isspace())
    right = not before.isspace() and (not is_sign_before or is_sign_after or after.isspace())
    if run[0].endswith("_"):
        return left and (not right or is_sign_before), right and (not left or is_sign_after)
    return left, right


def code_span(text: str) -> str:
    """Return text as a code span, delimited by more backticks than any run in the text."""
    marks = backticks(text, 1)
    gap = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{marks}{gap}{text}{gap}{marks}"


def backticks(text: str, least: int) -> str:
    """Return at least this many backticks, and more than any run of backticks in the text."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    return "`" * max(least, longest + 1)
