"""The HTTP API against its own description, by schemathesis: `python3 tests/e2e/http_openapi.py`.

Installs schemathesis from PyPI into ${XDG_CACHE_HOME:-~/.cache}/web-search-dev/schemathesis. It
reads the server's /openapi.json and makes requests from it, right and wrong ones; the answers must
be as described. Behind the server stands the fake server: nothing but loopback is used, and a proxy
that does not exist catches every other address.

Every check of schemathesis is on. What the description cannot say is told to it instead:
- A failing provider or page is answered 502, 503 or 504 by contract: not_a_server_error takes
  these for expected, 500 it does not.
- Dates and numbers of pages must exist and be in order, and countries and languages be known: in a
  request, a valid one is replaced by one that is so.
- No engine has every filter: a request with a filter is left to engine=auto and focus=general,
  without since=hour, which goes with few others; likewise one with stale. auto, keyless and all
  stand alone.
- An empty optional parameter counts as not given, and so do null, None and undefined: where the
  description allows no such text, another wrong one takes its place.
- Addresses in the format uri are those of pages that there are, and are not.

Prints what schemathesis found, and at the end: N passed, N failed. Without PyPI it says so, and the
exit code is 0.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

if __name__ == "__main__":  # run by its path: the packages beside it can be found
    sys.path[0] = str(Path(__file__).resolve().parents[2])

from tests.e2e import installing
from tests.fake_server.server import FakeServer
from tests.support import ROOT, CannedServer, clean_environment, load_script, small_web_environment

engines = load_script("websearch.engines.table")

VENV = installing.CACHE / "schemathesis"
VERSION = "4.32.5"
RUN_TIMEOUT = 600.0  # seconds
MAX_EXAMPLES = 60  # requests made up for each operation and phase
SEED = "20260101"  # the same requests every time
DEAD_PROXY = "http://127.0.0.1:9"
HOOKS = """\
import os
import re

import schemathesis
from hypothesis import strategies

site = os.environ["E2E_SITE"]
pages = ("articles/sourdough", "articles/bridges", "status/404", "wall/captcha", "no/such/page")
addresses = strategies.sampled_from([f"{site}/site/{page}" for page in pages])
schemathesis.openapi.format("uri", addresses)
# Parameter -> (what a valid value looks like, the valid one that takes its place).
mended = {
    "country": (r"[A-Za-z]{2}", "us"),
    "language": (r"[A-Za-z]{2,3}(-[A-Za-z]{2,4})?", "en"),
    "pages": (r"[0-9,-]+", "1"),
    "since": (r"hour|[0-9]{4}-[0-9]{2}-[0-9]{2}(\\.\\.|to)[0-9]{4}-[0-9]{2}-[0-9]{2}", "week"),
}
alone = {"auto", "keyless", "all"}
engines = {*alone, *os.environ["E2E_ENGINES"].split(",")}
focuses = set(os.environ["E2E_FOCUSES"].split(","))
typed = set(os.environ["E2E_TYPED"].split(","))
not_given = {"", "null", "None", "undefined", "[]"}
# What some engines cannot do, and what is for one engine only.
special = {"since", "country", "language", "site", "exclude_site", "safe", "stale"}


@schemathesis.hook
def before_call(context, case, kwargs):
    query = case.query or {}
    for name, (valid, value) in mended.items():
        if isinstance(query.get(name), str) and re.fullmatch(valid, query[name]):
            query[name] = value
    for name in typed.intersection(query):
        values = query[name] if isinstance(query[name], list) else [query[name]]
        if all(value is None or str(value).strip() in not_given for value in values):
            query[name] = "wrong"
    for name in ("site", "exclude_site"):  # the text of a number is the name of a host
        items = query.get(name) if isinstance(query.get(name), list) else [query.get(name)]
        if any(str(item).lstrip("-")[:1].isdigit() for item in items):
            query[name] = "no host"
    given = query.get("engine", "auto")
    names = set(map(str, given) if isinstance(given, list) else str(given).split(","))
    if names <= engines and (set(query) & special or (len(names) > 1 and names & alone)):
        query["engine"] = "auto"
    if str(query.get("focus")) in focuses and set(query) & special:
        query["focus"] = "general"
"""
CONFIG = """\
[checks.not_a_server_error]
expected-statuses = ["2xx", "3xx", "4xx", 502, 503, 504]
"""


def install() -> None:
    """Install schemathesis into the cache folder, unless it is there."""
    installing.python_package(VENV, "schemathesis", VERSION)


def typed_parameters(address: str) -> set[str]:
    """Return the parameters of the description that do not take any text."""
    with urllib.request.urlopen(f"{address}/openapi.json") as answer:
        paths = json.load(answer)["paths"]
    operations = [operation for methods in paths.values() for operation in methods.values()]
    parameters = [item for operation in operations for item in operation.get("parameters", [])]
    return {
        item["name"]
        for item in parameters
        if item["schema"].get("type") != "string" or {"enum", "pattern"} & item["schema"].keys()
    }


def run_schemathesis(address: str, site: str, folder: Path) -> tuple[int, str]:
    """Run every check against a server; return the exit code and what was printed."""
    (folder / "hooks.py").write_text(HOOKS, encoding="utf-8")
    (folder / "schemathesis.toml").write_text(CONFIG, encoding="utf-8")
    environment = {
        **clean_environment(),
        "SCHEMATHESIS_HOOKS": "hooks",
        "PYTHONPATH": str(folder),
        "E2E_SITE": site,
        "E2E_ENGINES": ",".join(engines.ENGINES),
        "E2E_FOCUSES": ",".join(engines.FOCUSES),
        "E2E_TYPED": ",".join(typed_parameters(address)),
        "NO_COLOR": "1",
        "COLUMNS": "100",
    }
    words = ["run", f"{address}/openapi.json", "--max-examples", str(MAX_EXAMPLES), "--seed", SEED]
    words += ["--include-path-regex", "^/"]  # without it, the description's own path is left out
    finished = subprocess.run(
        [str(VENV / "bin/schemathesis"), *words],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=RUN_TIMEOUT,
        check=False,
    )
    return finished.returncode, finished.stdout


def main() -> int:
    """Start the servers, run schemathesis, and count its checks; return 1 if it found a failure."""
    if not installing.installed("schemathesis", install, installing.pip_reaches_registry):
        return 0
    site, searxng = FakeServer(), CannedServer()
    urls = [f"{site.url}/site/{page}" for page in ("articles/sourdough", "status/404")]
    found = [{"url": url, "title": "A page", "content": "What it says."} for url in urls]
    searxng.body = {"query": "x", "results": found}
    with tempfile.TemporaryDirectory() as name:
        environment = clean_environment(
            **{
                **small_web_environment(site.url),
                "BRAVE_SEARCH_API_KEY": "good-e2e",
                "SERPER_API_KEY": "good-e2e",
                "SEARXNG_BASE_URL": searxng.url,
                "GLSI_DB_PATH": f"{name}/cache.db",
                "HTTPS_PROXY": DEAD_PROXY,
                "HTTP_PROXY": DEAD_PROXY,
                "NO_PROXY": "127.0.0.1",
            }
        )
        server = subprocess.Popen(
            [sys.executable, str(ROOT / "scripts/http_server.py"), "--port", "0"],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        try:
            if server.stderr is None:
                raise RuntimeError("the server has no stderr")
            address = server.stderr.readline().decode().split()[-1]
            with urllib.request.urlopen(f"{address}/openapi.json") as answer:
                operations = sum(map(len, json.load(answer)["paths"].values()))
            code, output = run_schemathesis(address, site.url, Path(name))
            alive = server.poll() is None
        finally:
            server.terminate()
            errors = server.communicate(timeout=30)[1].decode()
            searxng.close()
            site.close()
    print(output)
    checks = [
        ("schemathesis finds nothing", code == 0),
        ("it tested every operation", f"Tested: {operations}" in output),
        ("the server lives", alive),
        ("it wrote nothing on stderr", not errors),
    ]
    for text, holds in checks:
        print(f"{'ok  ' if holds else 'FAIL'} {text}")
    failed = sum(not holds for _, holds in checks)
    print(f"{len(checks) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
