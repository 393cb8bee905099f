#!/usr/bin/env -S uv run --script
# /// script
# requires-python = ">=3.10"
# dependencies = []
# ///
"""Check what works on this machine, with a hint for each problem.

Examples:
  doctor.py
  doctor.py --live
  doctor.py --md
  doctor.py key list
  doctor.py key set SERPER_API_KEY

Without --live, nothing is sent. With it, each engine in `auto` gets one query, at its usual price,
and Gemini's list of models is requested, which is free. Keys are never shown. The checks are
printed as text at a terminal and as JSON in a pipe. key list shows which keys are set, and where.
key set reads a key from a hidden prompt or standard input and writes it to secrets.yaml, which only
you can read.

Exit codes: 0 a search works (despite possible warnings and failures), 2 a setting prevents every
search, 5 no usable Python, certificates or engine, 70 the skill's files are incomplete,
130 interrupted.
"""

import os
import sys


def refuse(message: str, hint: str, kind: str, code: int) -> None:
    """Print an error document without kit.py, and exit."""
    import json

    details = {"kind": kind, "retryable": False, "hint": hint}
    failed = {"name": "skill", "status": "failed", "message": message, "hint": hint}
    document = {"ok": False, "provider": "doctor", "error": message, "details": details}
    sys.stdout.write(json.dumps(dict(document, checks=[failed])) + "\n")
    sys.exit(code)


sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))  # PYTHONSAFEPATH omits it

try:
    from websearch import kit
    from websearch.machine import doctor
except (ImportError, SyntaxError) as missing:
    if __name__ != "__main__":
        raise
    refuse(
        f"websearch/, which this script needs, cannot be loaded ({type(missing).__name__}).",
        "Copy the whole skill folder again, not single scripts.",
        "internal",
        70,
    )


def main(argv: list[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    return doctor.main(__doc__ or "", argv)


if __name__ == "__main__":
    kit.end_process(main())
