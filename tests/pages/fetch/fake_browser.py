"""A fake browser that speaks the DevTools protocol over its pipe and shows one page.

The name under which it is started decides its behavior: page, dialog, stuck, silent, root, lost,
flood. It writes its arguments and variables as JSON into the folder of that name.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

TEXT = "The ferry leaves at half past six, and this line was written by a script. " * 4
HTML = f"<html><head></head><body><div id=root><p>{TEXT}</p></div></body></html>"
DIALOG = {"method": "Page.javascriptDialogOpening", "params": {"message": "Stay?"}}


def send(message: dict[str, Any]) -> None:
    os.write(4, json.dumps(message).encode() + b"\0")


def result_of(method: str, params: dict[str, Any], mode: str) -> dict[str, Any]:
    if method == "Target.createTarget":
        return {"targetId": "T"}
    if method == "Target.attachToTarget":
        return {"sessionId": "S"}
    if method == "Page.navigate" and mode == "lost":
        return {"frameId": "F", "errorText": "net::ERR_EMPTY_RESPONSE"}
    if method == "Runtime.evaluate":
        expression = params["expression"]
        value = HTML if "outerHTML" in expression else f"complete {len(TEXT)}"
        value = "http://127.0.0.1/final" if "location" in expression else value
        return {"result": {"value": value}}
    return {}


def main() -> None:
    """Answer until the pipe ends."""
    name = Path(sys.argv[1])
    seen = {"arguments": sys.argv[2:], "variables": dict(os.environ), "process": os.getpid()}
    if name.name == "root":
        print("Running as root without --no-sandbox is not supported.", file=sys.stderr)
        return
    child = subprocess.Popen(["/bin/sleep", "60"])
    Path(f"{name}.json").write_text(json.dumps({**seen, "child": child.pid}), encoding="utf-8")
    waiting, held = b"", 0
    while data := os.read(3, 65_536):
        *whole, waiting = (waiting + data).split(b"\0")
        for message in map(json.loads, whole):
            method = message["method"]
            if name.name == "silent":
                continue
            while name.name == "flood":  # until the pipe is closed
                os.write(4, b"x" * 65_536)
            if method == "Runtime.evaluate" and name.name in ("dialog", "stuck") and not held:
                held = message["id"]  # answered after the dialog is closed or the script is stopped
                send({**DIALOG} if name.name == "dialog" else {"method": "Page.other"})
                continue
            if method in ("Page.handleJavaScriptDialog", "Runtime.terminateExecution"):
                send({"id": held, "result": {"result": {"value": "loading 0"}}})
            send({"id": message["id"], "result": result_of(method, message["params"], name.name)})


if __name__ == "__main__":
    main()
