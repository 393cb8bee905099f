"""Token economy: characters of each script's default document, against what the provider sent.

Ten fixed queries go to the fake server through a recorder, which keeps the bodies. The bar is 40 %
of the provider's JSON, with everything in the document that the script's reference lists as useful
(USEFUL). What these values take by themselves is said, because no document can be shorter. Pages
of HTML have no bar.

BENCH_SAMPLES names a folder with recorded answers of the real APIs (SAMPLES), which carry more
that nobody reads than the fake ones do: where it is set, they are measured, too.
"""

from __future__ import annotations

import functools
import html
import http.server
import json
import os
import re
import threading
import urllib.parse
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.bench.harness import OWN_HEADERS, RUN_SECONDS, Measure, Result, output_of
from tests.support import CannedServer, small_web_environment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.bench.harness import World

BAR = 0.4  # of the provider's JSON
QUERIES = (
    "sourdough", "python asyncio timeout", "how to make espresso at home", "chess openings",
    "quantum computer", "northern lights", "mechanical keyboards", "index funds for beginners",
    "how vaccines train the immune system", "git rebase or merge",
)  # fmt: skip
# Script -> places in the provider's JSON whose values the script's reference lists as output.
# "*" stands for every item of a list or field of an object.
USEFUL: dict[str, tuple[str, ...]] = {
    # references/brave_web_search_params.md, "Output"
    "brave_search.py": (
        "query.altered", "query.country", "summarizer.key",
        "web.results.*.url", "web.results.*.title", "web.results.*.description",
        "web.results.*.age", "web.results.*.extra_snippets.*",
        "faq.results.*.question", "faq.results.*.answer",
        "faq.results.*.title", "faq.results.*.url",
        "discussions.results.*.url", "discussions.results.*.title",
        "discussions.results.*.data.question", "discussions.results.*.data.top_comment",
        "news.results.*.url", "news.results.*.title", "news.results.*.description",
        "news.results.*.age",
        "videos.results.*.url", "videos.results.*.title", "videos.results.*.description",
        "videos.results.*.age", "videos.results.*.video.duration",
        "infobox.results.*.title", "infobox.results.*.url", "infobox.results.*.description",
        "infobox.results.*.long_desc", "infobox.results.*.attributes.*.*",
        "locations.results.*.title", "locations.results.*.id",
    ),
    # references/serper_search.md, "Results and credits"
    "serper_search.py": (
        "organic.*.title", "organic.*.link", "organic.*.snippet", "organic.*.date",
        "answerBox.answer", "answerBox.snippet", "answerBox.title", "answerBox.link",
        "knowledgeGraph.title", "knowledgeGraph.type", "knowledgeGraph.attributes.*",
        "knowledgeGraph.description",
        "peopleAlsoAsk.*.question", "peopleAlsoAsk.*.link",
        "topStories.*.title", "topStories.*.link", "credits",
    ),
    # references/gemini_grounding.md, "Output"
    "gemini_search.py": (
        "candidates.*.content.parts.*.text", "candidates.*.finishReason",
        "candidates.*.groundingMetadata.groundingChunks.*.web.uri",
        "candidates.*.groundingMetadata.groundingChunks.*.web.title",
        "candidates.*.groundingMetadata.webSearchQueries.*",
        "modelVersion", "usageMetadata.totalTokenCount",
    ),
}  # fmt: skip
PAGE_READERS: dict[str, tuple[str, ...]] = {
    "keyless_search.py": (),
    "web_search.py": ("--engine", "duckduckgo", "--force"),
}
LOST_SHOWN = 3


class Sample(NamedTuple):
    """A recorded answer: the script, its arguments, and the list that holds the results.

    Recordings hold as many results as were asked for; what the script does not ask for by default
    is cut off.
    """

    script: str
    file: str
    results: str = ""
    limit: int = 0


SAMPLES = (
    Sample("brave_search.py", "brave/pyclient_web.json", "web.results", 10),
    Sample("serper_search.py", "serper/langchain_1_search.json", "organic", 5),
    Sample("serper_search.py", "serper/search_kg_sitelinks_2023.json", "organic", 5),
    Sample("gemini_search.py", "gemini/firebase_googleai_grounded_ok.json"),
    Sample("gemini_search.py", "gemini/pydantic_test_google_model_web_search_tool_0.response.json"),
)
ADDRESSES = ("BRAVE_SEARCH_BASE_URL", "SERPER_BASE_URL", "GEMINI_BASE_URL")


# ===== what is lost ===============================================================================


def values_at(value: Any, path: str) -> Iterator[str]:
    """Yield the texts and numbers that stand at a path, as text; booleans and nulls say nothing."""
    name, _, rest = path.partition(".")
    if not name:
        if isinstance(value, (str, int, float)) and not isinstance(value, bool) and value != "":
            yield str(value)
    elif name == "*":
        if isinstance(value, (list, dict)):
            for item in value.values() if isinstance(value, dict) else value:
                yield from values_at(item, rest)
    elif isinstance(value, dict):
        yield from values_at(value.get(name), rest)


def leaves(value: Any) -> Iterator[str]:
    """Yield every text and number of JSON data."""
    if isinstance(value, (list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from leaves(item)
    else:
        yield from values_at(value, "")


def plain(text: str) -> str:
    """Return a text as a reader sees it: no marks, no entities or escapes, blanks made equal.

    Marks are tags, and those of citations: "[1][2]".
    """
    text = html.unescape(re.sub(r"</?\w[^<>]{0,60}>|(?:\[\d{1,3}\])+", "", text))
    return " ".join(urllib.parse.unquote(text).split())


def useful_values(script: str, bodies: list[Any]) -> list[tuple[str, str]]:
    """Return the useful values of the provider's answers as (place, text), each once."""
    found = ((path, plain(text)) for body in bodies for path in USEFUL[script]
             for text in values_at(body, path))  # fmt: skip
    return list({text: (path, text) for path, text in found}.values())


def lost(script: str, bodies: list[Any], document: Any) -> list[str]:
    """Return the useful values of the provider's answers that the document does not hold."""
    held = "\n".join(plain(text) for text in leaves(document))
    return [
        f"{path} {text[:60]!r}" for path, text in useful_values(script, bodies) if text not in held
    ]


# ===== what is sent and received ==================================================================


class Recorder:
    """A server that hands every request on to another one, and keeps the bodies of the answers.

    Addresses of the other server in them become its own, so that pages are recorded, too.
    """

    def __init__(self, target: str) -> None:
        self.bodies: list[str] = []
        recorder = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                headers = {name: value for name, value in self.headers.items()
                           if name.lower() not in OWN_HEADERS}  # fmt: skip
                request = urllib.request.Request(
                    target + self.path, body or None, headers, method=self.command
                )
                with urllib.request.urlopen(request, timeout=RUN_SECONDS) as answer:
                    data, content_type = answer.read(), answer.headers["Content-Type"]
                data = recorder.recorded(data)
                self.send_response(200)
                self.send_header("Content-Type", content_type)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_POST = do_GET  # noqa: N815  http.server's name

            def log_message(self, *_: Any) -> None:
                """Keep stderr quiet."""

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._target = target.rpartition(":")[2].encode()
        self._port = str(self._server.server_address[1]).encode()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def recorded(self, data: bytes) -> bytes:
        """Keep a body and return it, its addresses leading here."""
        for colon in (b":", b"%3A"):
            start = b"127.0.0.1" + colon
            data = data.replace(start + self._target, start + self._port)
        self.bodies.append(data.decode("utf-8", "replace"))
        return data

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()


class Exchange(NamedTuple):
    """A script's document as text, and the bodies that it was made from."""

    text: str
    bodies: list[str]


def exchanges(where: World, script: str, arguments: tuple[str, ...] = ()) -> list[Exchange]:
    """Return what a script made of each query, once a run."""

    def run() -> list[Exchange]:
        recorder = Recorder(where.address)
        environment = {
            **where.environment, **small_web_environment(recorder.url), "SEARXNG_BASE_URL": "",
        }  # fmt: skip
        found = []
        try:
            for query in QUERIES[: where.amount(len(QUERIES), 1)]:
                recorder.bodies = []
                output = output_of(where.script(script, query, *arguments), environment)
                found.append(Exchange(output.decode().strip(), recorder.bodies))
        finally:
            recorder.close()
        return found

    done: list[Exchange] = where.kept(f"exchanges {script} {arguments}", run)
    return done


def compact(data: Any) -> str:
    """Return JSON in its shortest spelling: the strictest to be compared with."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def economy(script: str, found: list[Exchange]) -> Result:
    """Return the row of the characters of documents and of what they were made from."""
    ours = sum(len(one.text) for one in found)
    theirs = useful = 0
    missing: list[str] = []
    for one in found:
        bodies = [json.loads(body) for body in one.bodies]
        theirs += sum(len(compact(body)) for body in bodies)
        useful += sum(len(text) for _, text in useful_values(script, bodies))
        missing += lost(script, bodies, json.loads(one.text))
    gone = f"; LOST {len(missing)}: {', '.join(missing[:LOST_SHOWN])}" if missing else ""
    return Result(
        f"{ours:,} characters{gone}".replace("|", "\\|"),
        f"{theirs:,}; the useful values alone {useful / theirs:.0%}",
        ours / theirs,
        f"<= {BAR:.0%}, nothing lost",
        ours <= BAR * theirs and not missing,
    )


def of_script(where: World, script: str) -> Result:
    """Compare the documents of a script with its provider's JSON, over all queries."""
    return economy(script, exchanges(where, script))


def of_all(where: World) -> Result:
    """Compare the documents of all scripts with their providers' JSON."""
    found = [one for script in USEFUL for one in exchanges(where, script)]
    ours = sum(len(one.text) for one in found)
    theirs = sum(len(compact(json.loads(body))) for one in found for body in one.bodies)
    met = ours <= BAR * theirs
    return Result(f"{ours:,} characters", f"{theirs:,}", ours / theirs, f"<= {BAR:.0%}", met)


def of_pages(where: World, script: str) -> Result:
    """Compare the documents of a script with the HTML that it read."""
    found = exchanges(where, script, PAGE_READERS[script])
    ours = sum(len(one.text) for one in found)
    theirs = sum(len(body) for one in found for body in one.bodies)
    return Result(f"{ours:,} characters", f"{theirs:,} of HTML", ours / theirs)


def of_sample(where: World, sample: Sample) -> Result:
    """Compare a script's document with the recorded answer that a server of ours gives it."""
    folder = os.environ.get("BENCH_SAMPLES", "")
    if not folder:
        return Result("BENCH_SAMPLES is not set")
    body = json.loads((Path(folder) / sample.file).read_text(encoding="utf-8-sig"))
    if sample.results:
        *names, last = sample.results.split(".")
        holder = functools.reduce(lambda value, name: value[name], names, body)
        holder[last] = holder[last][: sample.limit]
    server = CannedServer()
    try:
        server.body = body
        environment = {**where.environment, **dict.fromkeys(ADDRESSES, server.url)}
        output = output_of(where.script(sample.script, "what was asked"), environment)
    finally:
        server.close()
    return economy(sample.script, [Exchange(output.decode().strip(), [compact(body)])])


MEASURES = [
    *(
        Measure(
            f"{script}: characters for ten queries", functools.partial(of_script, script=script)
        )
        for script in USEFUL
    ),
    Measure("these three: characters for ten queries", of_all),
    *(
        Measure(f"{script}: characters for ten queries", functools.partial(of_pages, script=script))
        for script in PAGE_READERS
    ),
    *(
        Measure(f"{one.script}: characters, {one.file}", functools.partial(of_sample, sample=one))
        for one in SAMPLES
    ),
]
