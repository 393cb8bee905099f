"""List the providers' keys that are set, or write a key to secrets.yaml.

A value comes only from a prompt or standard input, never from a flag, and is never shown.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from pathlib import Path

from websearch import kit
from websearch.engines.table import ENGINES
from websearch.kit import MAX_INPUT_BYTES, SearchError, frame_markdown, nearest, run_operation
from websearch.machine import skill_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from websearch.kit import Command, Document, ProgressCallback

# fmt: off
COMMANDS: dict[str, Command] = {
    "key": {
        "help": "list the keys that are set, or set or remove a key in secrets.yaml",
        "params": [
            {"name": "words", "type": "list", "positional": True, "required": True,
             "help": "list, remove NAME, or set NAME (value: from a prompt or standard input)"},
        ],
    },
}
# Name of a key -> its variables (the first that is set is used), and the script that needs it.
KEYS: dict[str, tuple[tuple[str, ...], str]] = {
    **{name: (engine.keys, f"{engine.module}.py" if engine.function else f"engine {name}")
       for name, engine in ENGINES.items() if engine.keys},
    "gemini": (("GEMINI_API_KEY", "GOOGLE_API_KEY"), "gemini_search.py"),
    "vertex": (("VERTEX_ACCESS_TOKEN", "VERTEX_API_KEY"), "gemini_search.py"),
    "code assist": (("CODE_ASSIST_ACCESS_TOKEN",), "gemini_search.py"),
    "brave answers": (("BRAVE_ANSWERS_API_KEY",), "brave_search.py answers"),
    "brave suggest": (("BRAVE_SUGGEST_API_KEY",), "brave_search.py suggest"),
    "brave spellcheck": (("BRAVE_SPELLCHECK_API_KEY",), "brave_search.py spellcheck"),
}
# fmt: on
# All variables for keys, including GITHUB_TOKEN, which only raises limits.
KEY_NAMES = [*(name for names, _ in KEYS.values() for name in names), "GITHUB_TOKEN"]
MAX_KEY = 10_000  # characters


def read_text(path: str) -> str:
    """Return the text of secrets.yaml. Raises OSError."""
    with open(path, encoding="utf-8-sig", errors="replace") as file:
        return file.read(MAX_INPUT_BYTES)


def key_sources(secrets: dict[str, str]) -> list[tuple[str, str]]:
    """Return (source, variable) for every key that is set, in order of precedence.

    secrets: the content of secrets.yaml.
    """
    return [
        (source, name)
        for source, values in (("the environment", os.environ), ("secrets.yaml", secrets))
        for name in KEY_NAMES
        if values.get(name, "").strip()
    ]


def run_key(params: dict[str, Any], report: ProgressCallback = None) -> Document:
    """List the keys that are set, or set or remove a key in secrets.yaml. Never raises.

    params: words (["list"], ["set", NAME] or ["remove", NAME]).
    """

    def operation(params: dict[str, Any]) -> Document:
        action, *names = params["words"]
        if action == "list" and not names:
            keys = [{"name": name, "source": source}
                    for source, name in key_sources(kit.read_secrets())]  # fmt: skip
            return {"ok": True, "provider": "doctor", "path": kit.secrets_path(),
                    "keys": keys}  # fmt: skip
        if action not in ("set", "remove") or len(names) != 1:
            hint = "Pass list, or set or remove with the name of a key, such as SERPER_API_KEY."
            message = "key needs list, or set or remove with a name."
            raise SearchError("invalid_input", message, hint)
        name = names[0]
        if name not in KEY_NAMES:
            hint = nearest(name, KEY_NAMES, "name")
            hint = f"{hint} The names are {', '.join(KEY_NAMES)}.".strip()
            raise SearchError("invalid_input", f"No script reads {kit.quoted(name)}.", hint)
        path = kit.secrets_path()
        if params.get("dry_run"):
            raise kit.DryRun({"write": path, "name": name})
        if action == "remove" and name not in kit.read_secrets():
            message = f"{name} is not set in {path}."
            raise SearchError("invalid_input", message, "Run key list to see the keys.")
        value = ask_value(name) if action == "set" else ""
        try:
            write_key(path, name, value)
        except OSError as error:
            message = f"{path} cannot be written: {error.strerror}."
            hint = "Set WEB_SEARCH_SECRETS to a file that you can write."
            raise SearchError("invalid_input", message, hint) from None
        document: Document = {"ok": True, "provider": "doctor", "path": path, action: name}
        if os.environ.get(name, "").strip():
            document["warnings"] = [f"{name} is also set in the environment, which has precedence."]
        return document

    return run_operation("doctor.key", COMMANDS["key"], params, operation)


def ask_value(name: str) -> str:
    """Return a key's value from a prompt without echo or from standard input.

    Raises SearchError (invalid_input) for an impossible key, without showing it.
    """
    if sys.stdin and sys.stdin.isatty():
        import getpass

        try:
            value = getpass.getpass(f"{name}: ")
        except EOFError:
            value = ""
    else:
        value = sys.stdin.read(MAX_KEY) if sys.stdin else ""
    value = value.strip()
    if not re.fullmatch(r"[!-~]+", value) or re.search(r"[\"'#]", value):
        message = "Standard input does not contain a key." if value else "The key is empty."
        hint = "Pass only the key: one word of ASCII without quotation marks, spaces or #."
        raise SearchError("invalid_input", message, hint)
    return value


def write_key(path: str, name: str, value: str) -> None:
    """Write NAME: value to secrets.yaml with mode 600; keep the other lines unchanged.

    An empty value removes the lines of NAME. Raises OSError, and SearchError for a file that is too
    long. If the file is a link, its target is replaced.
    """
    text = ""
    with (
        contextlib.suppress(FileNotFoundError),
        open(path, encoding="utf-8", errors="surrogateescape", newline="") as file,
    ):
        text = file.read()
    if len(text) > MAX_INPUT_BYTES:
        message = f"{path} is longer than {MAX_INPUT_BYTES:,} characters."
        raise SearchError("invalid_input", message, "Remove lines that are not keys.")
    lines = text.splitlines(keepends=True)
    entry = f"{name}: {value}\n" if value else ""
    numbers = [n for n, line in enumerate(lines) if re.match(rf"\ufeff?\s*{name}\s*:", line)]
    if numbers:
        lines = [line for n, line in enumerate(lines) if n not in numbers[1:]]
        lines[numbers[0]] = entry
    else:
        lines += ["\n"] if lines and not lines[-1].endswith(("\n", "\r")) else []
        lines.append(entry)
    os.makedirs(os.path.dirname(os.path.realpath(path)), mode=0o700, exist_ok=True)
    data = "".join(lines).encode("utf-8", "surrogateescape")
    skill_files.replace_file(Path(os.path.realpath(path)), data, 0o600)


def to_markdown(document: Document) -> str:
    """Return a document of the command key as Markdown."""
    if not document["ok"] or "request" in document:
        return frame_markdown(document)
    if "keys" not in document:
        warnings = "".join(f"\n{text}" for text in document.get("warnings", []))
        removed = document.get("remove")
        done = f"{removed} is removed from" if removed else f"{document['set']} is set in"
        return f"{done} {document['path']}.{warnings}"
    lines = [f"- {item['name']}: set in {item['source']}" for item in document["keys"]]
    return (
        "\n".join(lines) or f"No key is set, neither in the environment nor in {document['path']}."
    )


RUN: dict[str, Callable[..., Document]] = {"key": run_key}
