"""Compare a search with a plain search and fetch: how often is the answer there, in how much text?

usage: bench_answers.py FOLDER [--limit N] [--terminal]

FOLDER has questions.json and pages.jsonl.xz. A question is an object: query (or question), answer,
results (ids of the pages that an engine finds, best first), snippets (of these pages, optional)
and, where the answer is a cell of a table, beside (other cells of its row: one must be in the same
line). A page is a
line: id, title, html. A SearXNG of the bench's own finds the pages and serves them. Counted is the
text that an agent would have to read:

  snippets          the titles, addresses and snippets of ten results
  first, five       the same, and the whole text of the first page, or of the first five
  search            what `web_search.py QUERY --md` prints
  terminal          with --terminal, nothing but this and search: what the same search shows at a
                    terminal of 100 columns, of the questions that search answers

A row at a terminal may take several lines, so its cells must be within ROW_LINES of them.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import contextlib
import json
import lzma
import os
import pty
import re
import subprocess
import sys
import tempfile
import unicodedata
from pathlib import Path
from typing import Any

if __name__ == "__main__":  # run by its path: the packages beside it can be found
    sys.path[0] = str(Path(__file__).resolve().parents[2])

from tests.bench.bench_quotations import page_handler
from tests.support import PYTHON, SCRIPTS, HandlerServer, clean_environment, run_script

RESULTS = 10  # of an engine
ROW_LINES = 4  # of a terminal, in which the cells of a row must be


def results_of(question: Any, pages: dict[str, Any], host: str) -> list[dict[str, str]]:
    """Return an engine's results for a question, in the form of SearXNG."""
    names = question["results"]
    found = zip(names, question.get("snippets", [""] * len(names)), strict=False)
    return [
        {
            "title": pages[name]["title"],
            "url": f"{host}/{name}",
            "content": snippet,
            "engine": "own",
        }
        for name, snippet in list(found)[:RESULTS]
    ]


def has_answer(question: Any, text: str) -> bool:
    """Return whether a text contains the answer, in the row of its table if it is a cell."""
    answer, beside = (
        folded(question["answer"]),
        [folded(cell) for cell in question.get("beside", ())],
    )
    if not beside:  # words around a gap do not count as one answer
        return any(answer in folded(part) for part in re.split(r"\s*(?:\[…\]|…)\s*", text))
    rows = [folded(line) for line in text.splitlines()]
    return any(
        answer in row and any(cell in row.replace(answer, "", 1) for cell in beside) for row in rows
    )


def folded(text: str) -> str:
    """Return a text without spaces and case, in one Unicode form."""
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())


def whole_texts(names: list[str], url: str, env: dict[str, str]) -> dict[str, str]:
    """Return the whole text of each page, as read_page.py prints it."""
    lines = "".join(f"{url}/{name}\n" for name in names)
    flags = ("--urls-from", "-", "--host-pause", "0")
    run = run_script("read_page.py", *flags, env=env, stdin=lines)
    read = map(json.loads, run.stdout.decode().splitlines())
    return {page["url"].rpartition("/")[2]: page["text"] for page in read if page["ok"]}


def searched(question: Any, env: dict[str, str]) -> str:
    """Return what web_search.py prints for a question, with an empty store."""
    with tempfile.TemporaryDirectory() as folder:
        env = {**env, "GLSI_DB_PATH": f"{folder}/store.db"}
        return run_script("web_search.py", question["query"], "--md", env=env).stdout.decode()


def searched_twice(question: Any, env: dict[str, str]) -> tuple[str, str]:
    """Return what a search prints with --md, and then from the store at a terminal."""
    with tempfile.TemporaryDirectory() as folder:
        env = {**env, "GLSI_DB_PATH": f"{folder}/store.db", "HOME": folder}
        markdown = run_script("web_search.py", question["query"], "--md", env=env).stdout.decode()
        env |= {"TERM": "xterm", "COLUMNS": "100", "NO_COLOR": "1"}
        return markdown, at_terminal([question["query"], "--no-pager"], env)


def at_terminal(words: list[str], env: dict[str, str]) -> str:
    """Return what web_search.py prints if its standard output is a terminal."""
    ours, its = pty.openpty()
    command = [*PYTHON, str(SCRIPTS / "web_search.py"), *words]
    process = subprocess.Popen(command, env=clean_environment(**env), stdin=subprocess.DEVNULL,
                               stdout=its, stderr=subprocess.DEVNULL)  # fmt: skip
    os.close(its)
    shown = b""
    with contextlib.suppress(OSError):  # Linux says so when the other end is closed
        while piece := os.read(ours, 65_536):
            shown += piece
    os.close(ours)
    process.wait()
    return shown.decode()


def shows_answer(question: Any, shown: str) -> bool:
    """Return whether a screen shows the answer, as has_answer does; cells and lines are wrapped."""
    if not question.get("beside"):
        return has_answer(question, shown)
    lines = shown.splitlines()
    words = [words_of(cell) for cell in (question["answer"], *question["beside"])]
    for start in range(len(lines)):
        held = words_of(" ".join(lines[start : start + ROW_LINES]))
        if words[0] <= held and any(cell <= held for cell in words[1:]):
            return True
    return False


def words_of(text: str) -> set[str]:
    """Return the words of a text in lower case, without footnote markers: 1,276[51]."""
    return {word.partition("[")[0] for word in text.casefold().split()}


def compare_terminal(questions: list[Any], env: dict[str, str]) -> None:
    """Print the share of the questions answered with --md that a terminal answers, too."""
    pairs = [searched_twice(question, env) for question in questions]
    answered = [(question, shown) for question, (markdown, shown) in
                zip(questions, pairs, strict=True) if has_answer(question, markdown)]  # fmt: skip
    held = [shows_answer(*pair) for pair in answered]
    lines = [shown.count("\n") for _, shown in answered]
    print(f"search     {len(answered)} of {len(questions)} answered")
    print(f"terminal   {sum(held)} of {len(held)} answered, at most {max(lines)} lines")


def texts_of(question: Any, pages: dict[str, Any], whole: dict[str, str], url: str) -> list[str]:
    """Return what a plain search and fetch reads: snippets, with the first page, with five."""
    found = results_of(question, pages, url)
    listed = "\n".join(f"{item['title']}\n{item['url']}\n{item['content']}\n" for item in found)
    fetched = [whole.get(name, "") for name in question["results"][:5]]
    return [listed, f"{listed}\n{fetched[0]}", "\n".join([listed, *fetched])]


def main() -> int:
    """Ask all questions in each way and print a row for each."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--terminal", action="store_true")
    args = parser.parse_args()
    questions = json.loads((args.folder / "questions.json").read_text("utf-8"))[: args.limit]
    questions = [{"query": each.get("question"), **each} for each in questions]
    with lzma.open(args.folder / "pages.jsonl.xz", "rt", encoding="utf-8") as lines:
        pages = {page["id"]: page for page in map(json.loads, lines)}
    by_query = {question["query"]: question for question in questions}

    def search(query: str, host: str) -> Any:
        found = by_query.get(query, {"results": []})
        return {"results": results_of(found, pages, f"http://{host}")}

    server = HandlerServer(page_handler({name: pages[name]["html"] for name in pages}, search))
    address = server.url.removeprefix("http://")
    env = {"WEB_SEARCH_ALLOW_PRIVATE": address, "SEARXNG_BASE_URL": server.url}
    env |= {"GLSI_SEARCH_ENGINE": "searxng", "GLSI_RATE_LIMIT": "0s"}
    try:
        if args.terminal:
            compare_terminal(questions, env)
            return 0
        names = sorted({name for question in questions for name in question["results"][:5]})
        whole = whole_texts(names, server.url, env)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            answers = list(pool.map(lambda question: searched(question, env), questions))
    finally:
        server.close()
    plain = [texts_of(question, pages, whole, server.url) for question in questions]
    rows = [*zip(*plain, strict=True), answers]
    for name, texts in zip(("snippets", "first", "five", "search"), rows, strict=True):
        held = [has_answer(question, text) for question, text in zip(questions, texts, strict=True)]
        mean = sum(map(len, texts)) / len(texts)
        print(f"{name:10} {100 * sum(held) / len(held):5.1f} % answered, {mean:9,.0f} characters")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
