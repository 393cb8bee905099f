"""Count how often `web_search.py check` is right about quotations out of real pages.

usage: bench_quotations.py PAGES.jsonl[.xz] [--half 0|1] [--each N] [--seed N] [--show]

PAGES has one page a line: {"id", "html"}. Quotations are drawn from the paragraphs of the HTML, by
a parser of the bench's own, N of each kind, and put into drafts of the form: The paper says: “...”
([source](URL)). The kinds of TRUE must be found verbatim, those of FALSE must not. --half takes the
pages of one half alone, so that a change can be decided by pages that it was not made with.
"""

from __future__ import annotations

import argparse
import html.parser
import http.server
import json
import lzma
import random
import re
import sys
import tempfile
import urllib.parse
import zlib
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

if __name__ == "__main__":  # run by its path: the packages beside it can be found
    sys.path[0] = str(Path(__file__).resolve().parents[2])

from tests.support import HandlerServer, run_script

if TYPE_CHECKING:
    from collections.abc import Callable

TRUE = ("same", "typography", "ellipsis", "bracket")
FALSE = ("number", "word", "dropped word", "other page", "invented")
BARS = {"caught": 0.98, "doubted": 0.01}
QUOTATIONS_A_DRAFT = 50
SENTENCE = re.compile(r"(?<!\S)[A-Z][^.!?]{40,400}[.!?](?= [A-Z]|$)")
NEGATION = re.compile(r"(?i)\b(?:not|no|never|cannot|without|yet|nor|none|nothing)\b|n['’]t\b")
HIDDEN = ("script", "style", "nav", "footer", "header", "aside", "noscript", "form", "table")


class Paragraphs(html.parser.HTMLParser):
    """Collects the text of the paragraphs of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.hidden = 0
        self.is_open = False

    def handle_starttag(self, tag: str, _: Any) -> None:
        self.hidden += tag in HIDDEN
        if tag == "p" and not self.hidden:
            self.texts.append("")
            self.is_open = True

    def handle_endtag(self, tag: str) -> None:
        self.hidden -= tag in HIDDEN and self.hidden > 0
        self.is_open = self.is_open and tag != "p"

    def handle_data(self, data: str) -> None:
        if self.is_open and not self.hidden:
            self.texts[-1] += data


def sentences_of(page: str) -> list[str]:
    """Return the sentences of a page's paragraphs, without the marks of notes."""
    parser = Paragraphs()
    parser.feed(page)
    texts = (" ".join(re.sub(r"\[[\w ,;–-]{1,30}\]", "", text).split()) for text in parser.texts)
    found = [sentence.strip() for text in texts for sentence in SENTENCE.findall(text)]
    return [one for one in found if 8 <= len(one.split()) <= 60 and not re.search('[“”"«»]', one)]


# ===== kinds ======================================================================================


def typography(sentence: str, page: list[str], pick: random.Random) -> str:
    """Return a sentence set in another way."""
    curly = sentence.replace("'", "’").replace(" - ", " — ").replace("-", "\u2011")
    words = curly.replace("–", "-").replace("—", " – ").split()
    index = pick.randrange(len(words))
    words[index] = f"**{words[index]}**"
    return "".join(word + pick.choice((" ", " ", "\u00a0", "  ", "\n")) for word in words).strip()


def ellipsis(sentence: str, page: list[str], pick: random.Random) -> str:
    """Return the beginning of a sentence and its end, or that of the next one."""
    after = page[page.index(sentence) :][: pick.choice((1, 2, 3))][-1].split()
    words = sentence.split()
    gone = " ".join(page[page.index(sentence) :][:3])
    if NEGATION.search(gone):  # without it the quotation says something else
        return ""
    dots = pick.choice((" … ", " ... ", " [...] ", " […] ", "… "))
    return (
        " ".join(words[: max(4, len(words) // 3)])
        + dots
        + " ".join(after[-max(4, len(after) // 3) :])
    )


def bracket(sentence: str, page: list[str], pick: random.Random) -> str:
    """Return a part of a sentence whose first letter is changed and says so."""
    words = sentence.split()[pick.randrange(3) :]
    first = words[0]
    swapped = first[0].lower() if first[0].isupper() else first[0].upper()
    return " ".join([f"[{swapped}]{first[1:]}", *words[1:]])


def number(sentence: str, page: list[str], pick: random.Random) -> str:
    """Return a sentence with another digit, "" if it has none."""
    places = [match.start() for match in re.finditer(r"(?<![A-Za-z])\d", sentence)]
    if not places:
        return ""
    place = pick.choice(places)
    digit = str((int(sentence[place]) + pick.randrange(1, 9)) % 10)
    return sentence[:place] + digit + sentence[place + 1 :]


def word(sentence: str, page: list[str], pick: random.Random) -> str:
    """Return a sentence with another word of the page in place of one."""
    words = sentence.split()
    others = [one for one in " ".join(page).split() if one.isalpha() and len(one) > 3]
    places = [index for index, one in enumerate(words) if one.isalpha() and len(one) > 3]
    if not places:
        return ""
    index = pick.choice(places)
    words[index] = pick.choice([one for one in others if one.lower() != words[index].lower()])
    return " ".join(words)


def dropped_word(sentence: str, page: list[str], pick: random.Random) -> str:
    """Return a sentence without one of its inner words."""
    words = sentence.split()
    places = [index for index in range(2, len(words) - 2) if words[index].isalpha()]
    negations = [index for index in places if words[index] in ("not", "no", "never")]
    if not places:
        return ""
    del words[pick.choice(negations or places)]
    return " ".join(words)


CHANGES: dict[str, Callable[[str, list[str], random.Random], str]] = {
    "same": lambda sentence, _, __: sentence,
    "typography": typography,
    "ellipsis": ellipsis,
    "bracket": bracket,
    "number": number,
    "word": word,
    "dropped word": dropped_word,
}


def quotation(kind: str, own: list[str], pages: list[list[str]], pick: random.Random) -> str:
    """Return a quotation of a kind for a page with these sentences, "" if it has none."""
    if kind == "other page":
        text = pick.choice(pick.choice([page for page in pages if page is not own]))
    elif kind == "invented":
        pieces = [pick.choice(pick.choice(pages)).split() for _ in range(4)]
        text = " ".join(word for piece in pieces for word in piece[:5])
    else:
        text = CHANGES[kind](pick.choice(own), own, pick)
    stands = " ".join(text.lower().split()) in " ".join(own).lower()
    return "" if kind in FALSE and stands else text


# ===== running ====================================================================================


def load_pages(path: Path, half: int | None) -> dict[str, str]:
    """Return the pages of a file, or of one half of it: id -> HTML."""
    data = path.read_bytes()
    text = (lzma.decompress(data) if path.suffix == ".xz" else data).decode()
    pages = {str(page["id"]): page["html"] for page in map(json.loads, text.splitlines())}
    return {
        name: page
        for name, page in pages.items()
        if half is None or zlib.crc32(name.encode()) % 2 == half
    }


def page_handler(
    pages: dict[str, str], search: Callable[[str, str], Any] | None = None
) -> type[http.server.BaseHTTPRequestHandler]:
    """Return a handler that answers /ID with a page.

    search: returns the JSON that answers /search?q=QUERY; it gets the query and the server's host.
    """

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            url = urllib.parse.urlsplit(self.path)
            body, kind = pages.get(url.path.strip("/"), "").encode(), "text/html; charset=utf-8"
            if search and url.path == "/search":
                query = dict(urllib.parse.parse_qsl(url.query)).get("q", "")
                answer = search(query, self.headers["Host"])
                body, kind = json.dumps(answer).encode(), "application/json"
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Keep stderr quiet."""

    return Handler


def check_drafts(drawn: list[tuple[str, str, str]], pages: dict[str, str]) -> list[Any]:
    """Return the check of each quotation (kind, id of the page, text), in order."""
    server = HandlerServer(page_handler(pages))
    checks: dict[tuple[str, str], Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        env = {
            "WEB_SEARCH_ALLOW_PRIVATE": server.url.removeprefix("http://"),
            "GLSI_DB_PATH": f"{folder}/store.db",
        }
        for start in range(0, len(drawn), QUOTATIONS_A_DRAFT):
            draft = "\n\n".join(
                f"The paper says: “{text}” ([source]({server.url}/{name}))."
                for _, name, text in drawn[start : start + QUOTATIONS_A_DRAFT]
            )
            options = ("--max-chars", "0", "--timeout", "55", "--page-timeout", "20")
            run = run_script("web_search.py", "check", "-", *options, env=env, stdin=draft)
            for check in run.document["checks"]:
                checks[check["quote"], check["url"].rpartition("/")[2]] = check
    server.close()
    lost = {"verdict": "lost"}
    return [checks.get((" ".join(text.split()), name), lost) for _, name, text in drawn]


def main() -> int:
    """Print a table of kinds and verdicts; return 1 if a bar is not met."""
    parser = argparse.ArgumentParser(usage=(__doc__ or "").split("\n")[2].removeprefix("usage: "))
    parser.add_argument("pages", type=Path)
    parser.add_argument("--half", type=int, choices=(0, 1))
    parser.add_argument("--each", type=int, default=34)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", action="store_true", help="print what was judged wrongly")
    options = parser.parse_args()
    pick = random.Random(options.seed)
    pages = load_pages(options.pages, options.half)
    texts = {name: sentences_of(page) for name, page in pages.items()}
    texts = {name: sentences for name, sentences in texts.items() if len(sentences) > 4}
    drawn: list[tuple[str, str, str]] = []
    for kind in (*TRUE, *FALSE):
        wanted = len(drawn) + options.each
        while len(drawn) < wanted:
            name = pick.choice([*texts])
            if text := quotation(kind, texts[name], [*texts.values()], pick):
                drawn.append((kind, name, text))
    checks = check_drafts(drawn, pages)
    table: dict[str, Counter[str]] = {kind: Counter() for kind in (*TRUE, *FALSE)}
    for (kind, name, text), check in zip(drawn, checks, strict=True):
        table[kind][check["verdict"]] += 1
        if options.show and (check["verdict"] == "verbatim") != (kind in TRUE):
            print(f"{kind}, {name}: {text}\n  {check}\n")
    for kind, verdicts in table.items():
        print(f"{kind:<14}", ", ".join(f"{name} {count}" for name, count in verdicts.most_common()))
    caught = 1 - sum(table[kind]["verbatim"] for kind in FALSE) / (options.each * len(FALSE))
    doubted = 1 - sum(table[kind]["verbatim"] for kind in TRUE) / (options.each * len(TRUE))
    print(
        f"caught {caught:.1%} of {options.each * len(FALSE)} false ones, "
        f"doubted {doubted:.1%} of {options.each * len(TRUE)} true ones"
    )
    return 0 if caught >= BARS["caught"] and doubted <= BARS["doubted"] else 1


if __name__ == "__main__":
    raise SystemExit(main())
