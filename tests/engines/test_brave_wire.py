"""Every request and document of brave_search.py, as snapshots.

The only module to notice a change in how a parameter is sent or shown.
"""

from __future__ import annotations

from tests.engines.wire import WireCase


class BraveWireTest(WireCase):
    modules = waiting = ("brave_search",)
    folder = "brave"


del WireCase  # its own tests need a script
