"""The commands of references/scale.md, as they stand there: `make e2e-scale`.

One process, GNU parallel (from Debian) and Apache Spark (PySpark from PyPI, Java from Debian) read
the same 2,000 pages of a fake web of 100 hosts, with faults among them, and must find the same; so
must Spark in WARC files that hold the good ones. Prints throughput and memory of one process.

Prints a line for each check, and at the end: N passed, N failed. A program that cannot be had is
skipped with a message. SCALE_PAGES is another number of pages.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

if __name__ == "__main__":  # run by its path: the packages beside it can be found
    sys.path[0] = str(Path(__file__).resolve().parents[2])

from tests.e2e import installing, skill
from tests.e2e.scenarios import perform_all
from tests.e2e.skill import PLACEHOLDER, ROOT
from tests.fake_server.server import FakeServer
from tests.fake_server.small_web import DOCUMENTS
from tests.support import CannedServer, small_web_environment
from websearch.kit import SETTLED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.e2e.scenarios import Check

PAGES = int(os.environ.get("SCALE_PAGES") or 2_000)
HOSTS = 100  # ports of the fake web, so that the pause of each host costs little
QUESTIONS = 250
EARLY = 100  # pages after which memory is looked at, for the first time and again
MEMORY_GROWTH = 60_000_000  # bytes from then on
FAULTS = (
    "404 403 410 500 wall captcha shell empty binary scan locked reset trunc redirect loop".split()
)
FAULT_EVERY = 10  # pages
FOLDER = installing.CACHE / "scale"
PYTHON = FOLDER / "venv/bin/python"
PACKAGES = {"pyspark": "4.3.0", "warcio": "1.8.1"}
JAVA_PACKAGE = "openjdk-17-jre-headless"
TIMEOUT = 900.0  # seconds of an installation or a run
WARC_WRITER = """\
import io, json, sys
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter
folder, lines = sys.argv[1], sys.stdin.read().splitlines()
for part in range(4):
    with open(f"{folder}/part-{part}.warc.gz", "wb") as file:
        writer = WARCWriter(file, gzip=True)
        for url, body in map(json.loads, lines[part::4]):
            head = StatusAndHeaders("200 OK", [("Content-Type", "text/html; charset=utf-8")])
            payload = io.BytesIO(body.encode())
            writer.write_record(
                writer.create_warc_record(url, "response", payload=payload, http_headers=head)
            )
"""


# ----- the programs


def debian_program(package: str, program: str) -> Path | None:
    """Return a program of a Debian package, unpacked into the cache; None if it cannot be had."""
    folder = FOLDER / package
    if not (folder / program).exists():
        folder.mkdir(parents=True, exist_ok=True)
        fetch = f"apt-get download {package}"
        unpack = f"dpkg-deb -x {package}_*.deb ."
        try:
            run_shell(f"({fetch} || (apt-get update && {fetch})) && {unpack}", folder)
        except subprocess.SubprocessError:
            return None
    return folder / program if (folder / program).exists() else None


def run_shell(
    command: str, folder: Path, variables: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a shell command in a folder; raises SubprocessError if it fails."""
    finished = subprocess.run(
        command,
        shell=True,
        cwd=folder,
        env=variables,
        check=False,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
    )
    if finished.returncode:
        said = f"{command} ended with {finished.returncode}: {finished.stderr[-2_000:]}"
        raise subprocess.SubprocessError(said)
    return finished


def gnu_parallel() -> Path | None:
    """Return GNU parallel, the system's or Debian's; None if it cannot be had."""
    found = shutil.which("parallel")
    if found:
        said = subprocess.run([found, "--version"], capture_output=True, text=True, check=False)
        if said.stdout.startswith("GNU parallel"):
            return Path(found)
    return debian_program("parallel", "usr/bin/parallel")


def java_home() -> str:
    """Return the folder of a Java, the system's or Debian's; "" if it cannot be had."""
    found = shutil.which("java")
    if found:
        return str(Path(found).resolve().parents[1])
    place = "usr/lib/jvm/java-17-openjdk-amd64/bin/java"
    program = debian_program(JAVA_PACKAGE, place)
    return str(program.parents[1]) if program else ""


def install_spark() -> bool:
    """Install PySpark and warcio into an environment of their own; False if they cannot be had."""
    check = "import importlib.metadata as m; print([m.version(n) for n in {!r}])"
    versions = str(list(PACKAGES.values()))
    with contextlib.suppress(OSError):
        command = [str(PYTHON), "-c", check.format(list(PACKAGES))]
        said = subprocess.run(command, capture_output=True, text=True, check=False)
        if said.stdout.strip() == versions:
            return True
    wanted = " ".join(f"{name}=={version}" for name, version in PACKAGES.items())
    pip = f"{PYTHON} -m pip install --quiet --disable-pip-version-check --retries=1 {wanted}"
    FOLDER.mkdir(parents=True, exist_ok=True)
    try:
        run_shell(f"{sys.executable} -m venv {FOLDER / 'venv'} && {pip}", FOLDER)
    except subprocess.SubprocessError as error:
        print(f"pip could not install {wanted}: {error}"[:500])
        return False
    return True


# ----- the fake web and the commands


@contextlib.contextmanager
def fake_web() -> Iterator[tuple[list[str], dict[str, str]]]:
    """The addresses of the pages, and the variables that lead the scripts there."""
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(FakeServer()) for _ in range(HOSTS)]
        names = [name for name in DOCUMENTS if name.isascii() and not set(name) & set("?# ")]
        addresses = []
        for number in range(PAGES):
            fault = ""
            if number % FAULT_EVERY == 0:
                fault = f"fault-{FAULTS[number // FAULT_EVERY % len(FAULTS)]}/"
            name = names[number % len(names)]
            addresses.append(f"{servers[number % HOSTS].url}/web/{fault}{name}?n={number}")
        addresses.append("http://no-such-name.invalid/")
        searched = stack.enter_context(FakeServer(local_links=True))
        store = stack.enter_context(tempfile.TemporaryDirectory()) + "/store.db"
        yield (
            addresses,
            {
                **small_web_environment(searched.url),
                **{name: os.environ[name] for name in ("LANG", "HOME") if name in os.environ},
                "PATH": skill.program_path(),
                "GLSI_DB_PATH": store,
                "WEB_SEARCH_ALLOW_PRIVATE": ",".join(one.url[7:] for one in (*servers, searched)),
                "SERPER_API_KEY": "good-0123456789abcdef",
                "GEMINI_API_KEY": "good-0123456789abcdef",
                "UV_PYTHON_DOWNLOADS": "never",
            },
        )


@functools.cache
def written(language: str) -> list[str]:
    """Return the code blocks of scale.md, this checkout's folder filled in."""
    text = (ROOT / "references/scale.md").read_text(encoding="utf-8")
    blocks = re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)
    runner = skill.runner()
    return [one.replace("uv run", runner).replace(PLACEHOLDER, str(ROOT)) for one in blocks]


def workplace(folder: Path, addresses: list[str]) -> Path:
    """Make a folder with the lists that the commands read."""
    folder.mkdir()
    (folder / "urls.txt").write_text("\n".join(addresses) + "\n", encoding="utf-8")
    questions = "".join(f"sourdough guide {number}\n" for number in range(QUESTIONS))
    (folder / "questions.txt").write_text(questions, encoding="utf-8")
    return folder


def documents(folder: Path, pattern: str) -> list[dict[str, Any]]:
    """Return the documents of all files of a name."""
    files = sorted(folder.glob(pattern))
    lines = [line for file in files for line in file.read_bytes().splitlines() if line]
    return [json.loads(line) for line in lines]


def found(pages: list[dict[str, Any]]) -> dict[str, str]:
    """Return what was found of each address: the text's hash, or the kind of error."""
    return {
        page["url"]: hashlib.sha256(page["text"].encode()).hexdigest()
        if page["ok"]
        else page["details"]["kind"]
        for page in pages
    }


def url_of(page: dict[str, Any]) -> str:
    """Return the line of the list that a document is about."""
    return str(page["url"])


def host_of(page: dict[str, Any]) -> str:
    """Return the host of the address that a document is about."""
    return url_of(page).split("/")[2]


def may_pass(page: dict[str, Any]) -> bool:
    """Return whether a document is an error that a further run tries to mend, as scale.md says."""
    details = page.get("details", {})
    return (
        not page["ok"]
        and details.get("kind") not in SETTLED
        and details.get("status") not in (404, 410)
    )


def difference(one: dict[str, str], other: dict[str, str]) -> str:
    """Say in what two findings differ."""
    differing = [url for url in {**one, **other} if one.get(url) != other.get(url)]
    shown = [(url, one.get(url), other.get(url)) for url in differing[:5]]
    return f"{len(one)} and {len(other)} pages, {len(differing)} differ: {shown}"


def answered(results: list[dict[str, Any]]) -> bool:
    """Whether every question has its results, once."""
    inputs = sorted(one["input"] for one in results if one["ok"])
    return inputs == sorted(f"sourdough guide {number}" for number in range(QUESTIONS))


# ----- each way


def one_process(folder: Path, addresses: list[str], variables: dict[str, str]) -> list[Check]:
    """The first commands, and one process measured."""
    place = workplace(folder / "one", addresses)
    [block] = written("sh")[:1]
    run_shell(block, place, variables)
    pages = documents(place, "pages.jsonl")
    first_run = (place / "pages.jsonl").read_bytes()
    run_shell(block, place, variables)
    second_run = (place / "pages.jsonl").read_bytes()
    again = [json.loads(line) for line in second_run[len(first_run) :].splitlines()]
    measured, growth = measure(place, variables)
    print(measured, flush=True)
    kinds = {one["details"]["kind"] for one in pages if not one["ok"]}
    return [
        (
            "one process reads every page once, faults among them",
            sorted(one["url"] for one in pages) == sorted(addresses) and len(kinds) > 3,
            (len(pages), kinds),
        ),
        (
            "one process: the same line again adds those whose error may pass, unknown names too",
            sorted(one["url"] for one in again) == sorted(map(url_of, filter(may_pass, pages)))
            and addresses[-1] in map(url_of, again)
            and second_run.startswith(first_run),
            (len(again), len(pages)),
        ),
        ("one process: memory does not grow with the list", growth < MEMORY_GROWTH, growth),
        (
            "one process: Google, Gemini and an engine without a key answer every question, once",
            all(
                answered(documents(place, f"{name}.jsonl"))
                for name in ("results", "answers", "found")
            ),
            [len(documents(place, f"{name}.jsonl")) for name in ("results", "answers", "found")],
        ),
    ]


def resting_host(folder: Path, addresses: list[str], variables: dict[str, str]) -> list[Check]:
    """A host that wants no request for an hour."""
    server = CannedServer()
    server.status, server.headers, server.body = 429, {"Retry-After": "3600"}, b"later"
    busy = [f"{server.url}/{number}" for number in range(PAGES)]
    resting = workplace(folder / "resting", [*busy, addresses[1]])
    allowed = f"{server.url[7:]},{addresses[1].split('/')[2]}"
    variables = {**variables, "WEB_SEARCH_ALLOW_PRIVATE": allowed}
    run_shell(written("sh")[0].splitlines()[0], resting, variables)
    server.close()
    found_there = documents(resting, "pages.jsonl")
    set_aside = [one["details"] for one in found_there if one["url"] in busy]
    return [
        (
            "a host that wants no request for an hour is set aside, its lines for a later run",
            server.count <= 2
            and len(set_aside) == PAGES
            and all(one["retryable"] and one["retry_after"] > 3_000 for one in set_aside)
            and [one["ok"] for one in found_there if one["url"] == addresses[1]] == [True],
            (server.count, len(set_aside)),
        ),
    ]


def measure(place: Path, variables: dict[str, str]) -> tuple[str, int]:
    """Read the list once more, without pauses; return throughput and memory, and its growth."""
    command = [sys.executable, str(ROOT / "scripts/read_page.py"), "--urls-from", "urls.txt"]
    started, memory, count = time.monotonic(), [0], 0
    process = subprocess.Popen(
        [*command, "--host-pause", "0"], cwd=place, env=variables, stdout=subprocess.PIPE
    )
    assert process.stdout
    for _ in process.stdout:
        count += 1
        if count % EARLY == 0 and count < PAGES:  # after the last page it may have ended
            pages = Path(f"/proc/{process.pid}/statm").read_text(encoding="ascii").split()[1]
            memory.append(int(pages) * os.sysconf("SC_PAGE_SIZE"))
    usage = os.wait4(process.pid, 0)[2]
    seconds, cpu = time.monotonic() - started, usage.ru_utime + usage.ru_stime
    text = (
        f"one process, no pause: {count} pages in {seconds:.1f} s ({count / seconds:.0f} a "
        f"second), {cpu:.1f} s of a core ({count / cpu:.0f} pages a second a core); "
        f"{memory[1] / 1e6:.0f} MB after {EARLY} pages, at most {max(memory) / 1e6:.0f} MB later"
    )
    return text, max(memory) - memory[1]


def with_parallel(
    folder: Path, addresses: list[str], variables: dict[str, str], program: Path
) -> list[Check]:
    """The commands with GNU parallel, the list in two halves: the second run resumes."""
    place = workplace(folder / "parallel", addresses[: PAGES // 2])
    library = program.parents[1] / "share/perl5"
    with_program = {
        **variables,
        "PATH": f"{program.parent}{os.pathsep}{variables['PATH']}",
        "PERL5LIB": str(library),
    }
    block = written("sh")[1]
    started = time.monotonic()
    run_shell(block, place, with_program)
    files = [set(map(host_of, documents(place, f"pages.{number}.jsonl"))) for number in range(1, 5)]
    again = sum(map(may_pass, documents(place, "pages.*.jsonl")))
    (place / "urls.txt").write_text("\n".join(addresses) + "\n", encoding="utf-8")
    run_shell(block, place, with_program)
    print(f"GNU parallel: {time.monotonic() - started:.1f} s in two runs", flush=True)
    pages = documents(place, "pages.*.jsonl")
    reference = found(documents(folder / "one", "pages.jsonl"))
    return [
        (
            "GNU parallel, resumed, finds the same as one process, each page once",
            found(pages) == reference and len(pages) == len(addresses) + again,
            (len(pages), difference(found(pages), reference)),
        ),
        (
            "GNU parallel: a host belongs to one process",
            sum(map(len, files)) == len(set.union(*files)) == HOSTS,
            [len(one) for one in files],
        ),
        (
            "GNU parallel: Google answers every question, once",
            answered(documents(place, "results.jsonl")),
            len(documents(place, "results.jsonl")),
        ),
    ]


def run_spark(code: str, place: Path, variables: dict[str, str]) -> None:
    """Run a program of scale.md with PySpark on two cores of this machine."""
    (place / "job.py").write_text(code, encoding="utf-8")
    spark = {
        "JAVA_HOME": java_home(),
        "PYSPARK_PYTHON": str(PYTHON),
        "PYSPARK_SUBMIT_ARGS": "--master local[2] --conf spark.ui.enabled=false pyspark-shell",
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    started = time.monotonic()
    run_shell(f"{PYTHON} job.py", place, {**variables, **spark})
    print(f"Spark, local[2]: {time.monotonic() - started:.1f} s", flush=True)


def with_spark(folder: Path, addresses: list[str], variables: dict[str, str]) -> list[Check]:
    """The first program for Spark: pages from the web, and questions."""
    place = workplace(folder / "spark", addresses)
    run_spark(written("python")[0], place, variables)
    pages = documents(place, "pages/part-*")
    reference = found(documents(folder / "one", "pages.jsonl"))
    return [
        (
            "Spark finds the same as one process, each page once",
            found(pages) == reference and len(pages) == len(addresses),
            difference(found(pages), reference),
        ),
        (
            "Spark: Google answers every question, once",
            answered(documents(place, "results/part-*")),
            len(documents(place, "results/part-*")),
        ),
    ]


def with_warc_files(folder: Path, addresses: list[str], variables: dict[str, str]) -> list[Check]:
    """The second program for Spark: the good pages, out of WARC files."""
    place = workplace(folder / "warc", addresses)
    pages = documents(folder / "one", "pages.jsonl")
    read = {one["url"]: one["text"] for one in pages if one["ok"] and not one.get("truncated")}
    lines = []
    for url in read:
        with urllib.request.urlopen(url) as answer:
            lines.append(json.dumps([url, answer.read().decode()]))
    (place / "crawl").mkdir()
    subprocess.run(
        [str(PYTHON), "-c", WARC_WRITER, "crawl"],
        input="\n".join(lines), text=True, cwd=place, check=True,
    )  # fmt: skip
    run_spark(written("python")[1], place, variables)
    texts = {one["url"]: one["text"] for one in documents(place, "texts/part-*")}
    return [
        (
            "Spark finds in WARC files the text that read_page finds on the web",
            texts == read and len(texts) > PAGES / 2,
            difference(texts, read)[:2_000],
        )
    ]


def bound(way: Callable[..., list[Check]], *arguments: Any) -> Callable[[], list[Check]]:
    """Return a way with its arguments, under its name."""
    return functools.update_wrapper(functools.partial(way, *arguments), way)


def main() -> int:
    """Run every way whose programs are there; return 1 if a check failed."""
    with tempfile.TemporaryDirectory(prefix="scale-e2e-") as name, fake_web() as (urls, variables):
        folder = Path(name)
        ways: list[Callable[[], list[Check]]] = [
            bound(one_process, folder, urls, variables),
            bound(resting_host, folder, urls, variables),
        ]
        program = gnu_parallel()
        if program:
            ways.append(bound(with_parallel, folder, urls, variables, program))
        else:
            print("skipped: GNU parallel is not here, and Debian's cannot be had")
        if not java_home():
            print(f"skipped: Java is not here, and {JAVA_PACKAGE} cannot be had")
        elif not install_spark():
            print("skipped: PySpark is not installed, and there is no registry")
        else:
            ways.append(bound(with_spark, folder, urls, variables))
            ways.append(bound(with_warc_files, folder, urls, variables))
        return perform_all(ways, at_once=1)


if __name__ == "__main__":
    raise SystemExit(main())
