"""The package behind the commands of scripts/; a Python that is too old is refused here.

Every command imports the package first. Python 3.6 can read this file and the commands, so its user
gets the document below, not a SyntaxError.
"""

import sys

if sys.version_info < (3, 10):  # noqa: UP036  to print a document, not a traceback
    import json

    DETAILS = {
        "kind": "invalid_input",
        "retryable": False,
        "hint": "Use `uv run`, which finds or fetches a newer Python, or install one.",
    }
    DOCUMENT = {
        "ok": False,
        "error": "Python 3.10 or newer is needed; this is Python {}.{}.{}, {}.".format(
            *sys.version_info[:3], sys.executable
        ),
        "details": DETAILS,
    }
    sys.stdout.write(json.dumps(DOCUMENT) + "\n")
    sys.exit(2)
