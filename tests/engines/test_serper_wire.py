"""Every request and document of serper_search.py, as snapshots.

The only module to notice a change in how a parameter is sent or shown.
"""

from __future__ import annotations

from tests.engines.wire import WireCase


class SerperWireTest(WireCase):
    modules = waiting = ("serper_search",)
    folder = "serper"

    @staticmethod
    def environment_of(url: str, key: str) -> dict[str, str]:
        return {"SERPER_BASE_URL": url, "SERPER_SCRAPE_BASE_URL": url, "SERPER_API_KEY": key}


del WireCase  # its own tests need a script
