"""Count how often `web_search.py check` is right about the numbers of drafts.

usage: bench_numbers.py [--each N] [--seed N] [--show]

The pages and the sentences are the bench's own: facts about invented towns, in sentences and tables
of pages, and the same facts in other words in drafts, N of each kind. The kinds of TRUE must pass,
those of FALSE must be missing or doubtful.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if __name__ == "__main__":  # run by its path: the packages beside it can be found
    sys.path[0] = str(Path(__file__).resolve().parents[2])

from tests.bench.bench_quotations import page_handler
from tests.support import HandlerServer, run_script

if TYPE_CHECKING:
    from collections.abc import Callable

TRUE = ("same", "notation", "computed")
FALSE = ("unit", "scale", "row", "digit", "word", "swapped")
BARS = {"caught": 0.95, "doubted": 0.03}
TOWNS = ("Arvik", "Belsund", "Corrie", "Dunmore", "Elmstad", "Farrow")
WORDS = (
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty"
).split()
# What a page says of a town, and what a draft says of the same: {a} and {b} are numbers.
SENTENCES = (
    ("The harbour of {town} handled {a} containers in {b}.",
     "In {b} the port of {town} moved {a} containers"),
    ("A strike closed the smelter in {town} for {a} days and cost ${b} million.",
     "The smelter in {town} stood still for {a} days, at a cost of ${b} million"),
    ("Of the {b} fishing boats registered in {town}, {a} were lost in the storm.",
     "The storm sank {a} of the {b} fishing boats of {town}"),
    ("Rents in {town} rose by {a} % while wages rose by {b} %.",
     "In {town} wages grew by {b} %, and rents by {a} %"),
    ("The tunnel below {town} is {a} km long and was dug in {b} months.",
     "{town}'s tunnel has a length of {a} km; digging it took {b} months"),
    ("The museum of {town} keeps {a} paintings and {b} maps.",
     "There are {a} paintings and {b} maps in the museum of {town}"),
    ("The ferry to {town} carried {a} thousand passengers and {b} thousand cars.",
     "Ferries brought {a} thousand passengers and {b} thousand cars to {town}"),
    ("A survey asked {b} households in {town}; {a} of them heat with wood.",
     "{a} of {b} households that were asked in {town} heat with wood"),
)  # fmt: skip
COLUMNS = (
    ("Population", "{town} has a population of {a}"),
    ("Schools", "there are {a} schools in {town}"),
    ("Area (km²)", "the area of {town} is {a} km²"),
    ("Budget (million €)", "the budget of {town} is {a} million €"),
)
FILLER = (
    "The town lies on the west coast. Its council meets every month, and its minutes are public.",
    "Fishing was the main trade for a long time. Today most people work in services.",
    "A railway reached the valley late. The station is now a library with a reading room.",
)


class Fact(NamedTuple):
    """A sentence of a draft with its numbers, and the page that it is of."""

    page: str
    draft: str
    a: str
    b: str
    town: str
    column: str = ""


def with_commas(number: int) -> str:
    return f"{number:,}"


def number_for(place: str, pick: random.Random) -> str:
    """Return a number that fits what stands behind its place in a sentence."""
    if re.search(r"\} (?:containers|households)", place):
        return with_commas(pick.randrange(1_100, 98_000))
    if place.endswith("} in") or "in {b}." in place:
        return str(pick.randrange(1985, 2024))
    if "%" in place or "km" in place:
        return f"{pick.randrange(11, 99)}.{pick.randrange(1, 9)}"
    return str(pick.randrange(21, 990))


def make_pages(pick: random.Random) -> tuple[dict[str, str], list[Fact]]:
    """Return pages (name -> HTML) and the facts that they state."""
    pages, facts = {}, []
    for index, town in enumerate(TOWNS):
        name, lines = f"town-{index}", []
        for page, draft in SENTENCES:
            for other in (town, TOWNS[(index + 1) % len(TOWNS)]):
                places = {key: page[page.index(f"{{{key}}}") :][:16] for key in "ab"}
                a, b = (number_for(places[key], pick) for key in "ab")
                if "in {b}." in page:
                    b = str(pick.randrange(1985, 2024))
                while a == b:
                    b = str(pick.randrange(21, 990))
                if "boats" in page and int(a) > int(b):  # a part is not more than the whole
                    a, b = b, a
                lines.append(page.format(town=other, a=a, b=b))
                facts.append(Fact(name, draft, a, b, other))
        pick.shuffle(lines)
        lines[3:3], lines[9:9] = FILLER[:1], FILLER[1:]
        rows = []
        for other in TOWNS:
            cells = [
                with_commas(pick.randrange(1_200, 99_000)), str(pick.randrange(3, 60)),
                f"{pick.randrange(20, 900)}.{pick.randrange(1, 9)}", str(pick.randrange(4, 400)),
            ]  # fmt: skip
            rows.append("".join(f"<td>{cell}</td>" for cell in (other, *cells)))
            facts += [
                Fact(name, draft, cell, "", other, column)
                for (column, draft), cell in zip(COLUMNS, cells, strict=True)
            ]
        head = "".join(f"<th>{title}</th>" for title in ("Town", *(name for name, _ in COLUMNS)))
        table = "".join(f"<tr>{row}</tr>" for row in (head, *rows))
        texts = "".join(f"<p>{' '.join(lines[i : i + 3])}</p>" for i in range(0, len(lines), 3))
        title = f"Facts of the coast, part {'ABCDEF'[index]}"
        pages[name] = (
            f"<html><head><title>{title}</title></head><body><article><h1>{title}</h1>{texts}"
            f"<h2>Towns</h2><table>{table}</table></article></body></html>"
        )
    return pages, facts


# ===== kinds: each returns a sentence, "" if the fact has none ====================================


def written(fact: Fact, a: str = "", b: str = "") -> str:
    return fact.draft.format(town=fact.town, a=a or fact.a, b=b or fact.b)


def notation(fact: Fact, _: list[Fact], pick: random.Random) -> str:
    """Return a sentence with a number in another notation."""
    plain = fact.a.replace(",", "")
    if plain.isdecimal() and int(plain) <= 20 and int(plain) >= 2:
        return written(fact, WORDS[int(plain) - 2])
    if "," in fact.a:
        ways = (plain, fact.a.replace(",", "\u202f"), fact.a.replace(",", "."))
        thousands = f"{int(plain) / 1000:g} thousand"
        return written(fact, pick.choice((*ways, thousands)))
    if "{a} %" in fact.draft:
        share = f"{float(plain) / 100:.3f}"
        return written(fact).replace(f"{fact.a} %", pick.choice((f"{fact.a} percent", share)))
    if "${b} million" in fact.draft:
        return written(fact).replace(f"${fact.b} million", f"${fact.b},000,000")
    return written(fact, fact.a.replace(".", ",")) if "." in fact.a else ""


def computed(fact: Fact, _: list[Fact], pick: random.Random) -> str:
    """Return a sentence with a difference that says how it was computed."""
    if not (fact.b and fact.a.isdecimal() and fact.b.isdecimal() and "boats" in fact.draft):
        return ""
    high, low = sorted((int(fact.a), int(fact.b)), reverse=True)
    return f"In {fact.town} the boats differ by {high - low} (computed: {high} − {low})"


def unit(fact: Fact, _: list[Fact], pick: random.Random) -> str:
    """Return a sentence with another unit behind a number."""
    changes = {" days": " weeks", " %": " km", " km²": " %", " km": " miles", "$": "€"}
    text = written(fact)
    old = [word for word in changes if word in text]
    return text.replace(old[0], changes[old[0]], 1) if old else ""


def scale(fact: Fact, _: list[Fact], pick: random.Random) -> str:
    """Return a sentence with a number of another scale."""
    text = written(fact)
    for old, new in ((" thousand", " million"), (" million", " billion")):
        if old in text:
            return text.replace(old, new, 1)
    if "," in fact.a:
        return written(fact, f"{fact.a.partition(',')[0]} million")
    return written(fact, f"{fact.a} million") if fact.a.isdecimal() else ""


def row(fact: Fact, facts: list[Fact], pick: random.Random) -> str:
    """Return a sentence with the number of another town in the same table."""
    if not fact.column:
        return ""
    others = [
        other.a
        for other in facts
        if (other.page, other.column) == (fact.page, fact.column) and other.a != fact.a
    ]
    return written(fact, pick.choice(others))


def digit(fact: Fact, _: list[Fact], pick: random.Random) -> str:
    """Return a sentence with another digit."""
    places = [index for index, sign in enumerate(fact.a) if sign.isdecimal()]
    place = pick.choice(places)
    other = str((int(fact.a[place]) + pick.randrange(1, 9)) % 10)
    text = fact.a[:place] + other + fact.a[place + 1 :]
    return "" if text.startswith("0") else written(fact, text)


def word(fact: Fact, _: list[Fact], pick: random.Random) -> str:
    """Return a sentence that says the number of another thing or town of the page."""
    nouns = (
        "containers",
        "boats",
        "paintings",
        "maps",
        "passengers",
        "cars",
        "households",
        "schools",
    )
    text = written(fact)
    here = [noun for noun in nouns if f" {noun}" in text]
    if here and pick.random() < 0.6:
        return text.replace(
            f" {here[0]}", f" {pick.choice([n for n in nouns if n not in here])}", 1
        )
    return text.replace(fact.town, pick.choice([town for town in TOWNS if town != fact.town]))


def swapped(fact: Fact, _: list[Fact], pick: random.Random) -> str:
    """Return a sentence with its two numbers in each other's place."""
    is_year = "port of" in fact.draft
    return "" if not fact.b or is_year else written(fact, fact.b, fact.a)


KINDS: dict[str, Callable[[Fact, list[Fact], random.Random], str]] = {
    "same": lambda fact, _, __: written(fact),
    "notation": notation, "computed": computed, "unit": unit, "scale": scale, "row": row,
    "digit": digit, "word": word, "swapped": swapped,
}  # fmt: skip


# ===== running ====================================================================================


def check_numbers(drawn: list[tuple[str, str, str]], pages: dict[str, str]) -> list[Any]:
    """Return what check says of each sentence (kind, page, text), in order."""
    server = HandlerServer(page_handler(pages))
    with tempfile.TemporaryDirectory() as folder:
        env = {
            "WEB_SEARCH_ALLOW_PRIVATE": server.url.removeprefix("http://"),
            "GLSI_DB_PATH": f"{folder}/store.db",
        }
        draft = "\n\n".join(f"{text} ([s]({server.url}/{name}))." for _, name, text in drawn)
        options = ("--max-chars", "0", "--timeout", "55")
        run = run_script("web_search.py", "check", "-", *options, env=env, stdin=draft)
    server.close()
    found: dict[int, Any] = {item["line"]: item for item in run.document["numbers"]}
    for item in run.document.get("computed", ()):
        if item.get("is_wrong"):
            found.setdefault(item["line"], {})["missing"] = [item["number"]]
    return [found.get(2 * index + 1, {"error": "lost"}) for index in range(len(drawn))]


def main() -> int:
    """Print a table of kinds and what became of them; return 1 if a bar is not met."""
    parser = argparse.ArgumentParser(usage=(__doc__ or "").split("\n")[2].removeprefix("usage: "))
    parser.add_argument("--each", type=int, default=34)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", action="store_true", help="print what was judged wrongly")
    options = parser.parse_args()
    pick = random.Random(options.seed)
    pages, facts = make_pages(pick)
    drawn: list[tuple[str, str, str]] = []
    for kind in (*TRUE, *FALSE):
        wanted = len(drawn) + options.each
        while len(drawn) < wanted:
            fact = pick.choice(facts)
            if text := KINDS[kind](fact, facts, pick):
                drawn.append((kind, fact.page, text))
    table: dict[str, Counter[str]] = {kind: Counter() for kind in (*TRUE, *FALSE)}
    for (kind, name, text), item in zip(drawn, check_numbers(drawn, pages), strict=True):
        verdict = next(
            (name for name in ("error", "missing", "doubtful") if name in item), "passes"
        )
        table[kind][verdict] += 1
        if options.show and (verdict == "passes") != (kind in TRUE):
            print(f"{kind}, {name}: {text}\n  {item}\n")
    for kind, verdicts in table.items():
        print(f"{kind:<10}", ", ".join(f"{name} {count}" for name, count in verdicts.most_common()))
    caught = 1 - sum(table[kind]["passes"] for kind in FALSE) / (options.each * len(FALSE))
    doubted = 1 - sum(table[kind]["passes"] for kind in TRUE) / (options.each * len(TRUE))
    print(
        f"caught {caught:.1%} of {options.each * len(FALSE)} false ones, "
        f"doubted {doubted:.1%} of {options.each * len(TRUE)} true ones"
    )
    return 0 if caught >= BARS["caught"] and doubted <= BARS["doubted"] else 1


if __name__ == "__main__":
    raise SystemExit(main())
