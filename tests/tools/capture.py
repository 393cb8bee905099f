"""Keeps what the tests leave behind, for tests/tools/canary.py: outputs, folders, requests.

tests/support.py starts it in every test process where WEB_SEARCH_TEST_KEPT names a folder:

  outputs/PID     what processes wrote to stdout and stderr, what a main in this process printed,
                  and what this process wrote to its stderr, where a script's function warns
  requests/PID    requests to a fake server that carry a key, a line each: in its header, where it
                  belongs, or elsewhere; and those whose key has no canary, which prove nothing
  and no temporary folder is removed, so that stores, logs and written files stay
"""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.fake_server import server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.fake_server.messages import Answer, RecordedRequest

KEY_HEADERS = ("authorization", "x-api-key", "x-goog-api-key", "x-subscription-token")


class Keeper:
    """The folder of one run of the tests, as one test process writes to it."""

    def __init__(self, folder: str, canary: str) -> None:
        self.canary = canary
        self.places = {}
        for name in ("outputs", "requests"):
            self.places[name] = Path(folder) / name / str(os.getpid())
            self.places[name].parent.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()

    def append(self, name: str, data: bytes) -> None:
        """Add data to this process's file of that name."""
        with self._lock, self.places[name].open("ab") as file:
            file.write(data)

    def keep_output(self, title: object, data: bytes) -> None:
        """Keep an output under a title, which shows no key: it is only there to find the place."""
        shown = str(title).replace(self.canary, "(key)")[:300]
        self.append("outputs", f"\n===== {shown}\n".encode("utf-8", "replace") + data)

    def keep_request(self, request: RecordedRequest) -> None:
        """Note a request that carries a key: in its header, as it should be, or elsewhere."""
        own_server = request.listener == "main"
        wrong = {"target": request.target, "body": request.body.decode("utf-8", "replace")}
        keys = []
        for name, value in request.headers:
            if own_server and name.lower() in KEY_HEADERS:
                keys.append(value)
            else:
                wrong[name] = value
        wrong = {place: text for place, text in wrong.items() if self.canary in text}
        if wrong or keys:
            bare = [key for key in keys if self.canary not in key]
            note = {"port": request.listener, "path": request.path, "wrong": wrong, "bare": bare}
            self.append("requests", json.dumps(note).encode() + b"\n")


class KeptStream:
    """A pipe of a process whose reader is the test; what is read is kept."""

    def __init__(self, stream: Any, keep: Callable[[bytes], None]) -> None:
        self._stream = stream
        self._keep = keep

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __enter__(self) -> KeptStream:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.readline, self._stream.read(0))

    def kept(self, data: Any) -> Any:
        """Keep data, text or bytes, and return it."""
        self._keep(data.encode("utf-8", "replace") if isinstance(data, str) else data or b"")
        return data

    def read(self, *size: int) -> Any:
        return self.kept(self._stream.read(*size))

    def read1(self, *size: int) -> Any:
        return self.kept(self._stream.read1(*size))

    def readline(self, *size: int) -> Any:
        return self.kept(self._stream.readline(*size))

    def readlines(self) -> Any:
        return list(self)


class KeptErrors:
    """This process's stderr; what is written to it is kept, too."""

    def __init__(self, stream: Any, keep: Callable[[bytes], None]) -> None:
        self._stream = stream
        self._keep = keep

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        if text.strip(" .\n"):  # a test runner's dots say nothing
            self._keep(text.encode("utf-8", "replace"))
        return int(self._stream.write(text))


def keep_processes(keeper: Keeper) -> None:
    """Keep what every process that is started from here on writes into a pipe."""
    start, communicate = subprocess.Popen.__init__, subprocess.Popen.communicate

    def kept_start(self: Any, *arguments: Any, **options: Any) -> None:
        start(self, *arguments, **options)
        for name in ("stdout", "stderr"):
            stream = getattr(self, name)
            if stream is not None:
                title = f"{name} of {self.args}"

                def keep(data: bytes, title: str = title) -> None:
                    if data:
                        keeper.keep_output(title, data)

                setattr(self, name, KeptStream(stream, keep))

    def kept_communicate(self: Any, *arguments: Any, **options: Any) -> Any:
        found = communicate(self, *arguments, **options)
        for name, data in zip(("stdout", "stderr"), found, strict=True):
            text = data.encode("utf-8", "replace") if isinstance(data, str) else data
            if text:
                keeper.keep_output(f"{name} of {self.args}", text)
        return found

    subprocess.Popen.__init__ = kept_start  # type: ignore[method-assign]
    subprocess.Popen.communicate = kept_communicate  # type: ignore[method-assign]


def keep_folders() -> None:
    """Let the tests' temporary folders stay: they are looked through when the tests are over.

    Those that the installer makes beside its target go as ever: their content stays in the copy.
    """
    remove = tempfile.TemporaryDirectory._rmtree  # type: ignore[attr-defined]

    def remove_elsewhere(name: str, *arguments: Any, **options: Any) -> None:
        if os.path.dirname(name) != tempfile.gettempdir():
            remove(name, *arguments, **options)

    tempfile.TemporaryDirectory._rmtree = staticmethod(remove_elsewhere)  # type: ignore[attr-defined]


def keep_requests(keeper: Keeper) -> None:
    """Look at every request that a fake server receives, on either port."""
    listen = server.Listener.__init__

    def kept_listen(
        self: server.Listener, name: str, port: int, answer: Callable[[RecordedRequest], Answer]
    ) -> None:
        def kept_answer(request: RecordedRequest) -> Answer:
            keeper.keep_request(request)
            return answer(request)

        listen(self, name, port, kept_answer)

    server.Listener.__init__ = kept_listen  # type: ignore[method-assign]


def start(folder: str, canary: str) -> Keeper:
    """Keep everything from now on, in a folder."""
    keeper = Keeper(folder, canary)
    errors = functools.partial(keeper.keep_output, "stderr of the tests")
    sys.stderr = KeptErrors(sys.stderr, errors)
    keep_processes(keeper)
    keep_folders()
    keep_requests(keeper)
    return keeper
