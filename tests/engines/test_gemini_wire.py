"""Every request and document of gemini_search.py, as snapshots.

The only module to notice a change in how a parameter is sent or shown.
"""

from __future__ import annotations

from tests.engines.gemini_support import GeminiCase
from tests.engines.wire import WireCase


class GeminiWireTest(WireCase):
    modules = waiting = ("gemini_search",)
    folder = "gemini"
    environment_of = staticmethod(GeminiCase.environment_of)


del WireCase  # its own tests need a script
