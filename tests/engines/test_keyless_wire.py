"""Every request and document of keyless_search.py, engine by engine, as snapshots.

The only module to notice a change in how a parameter is sent or shown.
"""

from __future__ import annotations

import itertools
import tempfile

from tests.engines.clock import PACING
from tests.engines.wire import WireCase
from tests.support import load_script, small_web_environment

STORES = tempfile.TemporaryDirectory(prefix="web-search-stores-")  # removed at exit
NUMBERS = itertools.count()


class KeylessWireTest(WireCase):
    modules = ("keyless_search", "websearch.search.keyless", "websearch.kit")
    waiting = (*PACING, "websearch.base.http_client")
    folder = "keyless"

    @staticmethod
    def environment_of(url: str, key: str) -> dict[str, str]:  # noqa: ARG004  no key here
        """A separate store per line, so no engine is paused because of an earlier line."""
        load_script("websearch.engines.base.pacing")._LOCAL.clear()
        store = f"{STORES.name}/{next(NUMBERS)}.db"
        return {**small_web_environment(url), "GLSI_DB_PATH": store}


del WireCase  # its own tests need a script
