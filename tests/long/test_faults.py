"""The matrix of faults, whole: every command x every fault x every way in (`make faults`).

The only module to notice a cell that the sample leaves out.
"""

from __future__ import annotations

import unittest

from tests.support import load_script
from tests.tools import faults


class Matrix(unittest.TestCase):
    def test_every_cell_is_as_expected_and_the_servers_live_on(self) -> None:
        cells = faults.all_cells()
        outcomes, wrong = faults.run_matrix(cells)
        self.assertEqual(faults.complaints(outcomes) + wrong, [])
        self.assertEqual(len(outcomes), len(cells))

    def test_every_way_in_is_tried_with_every_script_that_has_it(self) -> None:
        scripts: dict[str, set[str]] = {}
        for cell in faults.all_cells():
            scripts.setdefault(cell.way, set()).add(cell.subject.script)
        providers = {"brave_search", "serper_search", "gemini_search"}
        every = {*providers, "keyless_search", "read_page", "web_search"}
        self.assertEqual(scripts["alone"], every)
        self.assertEqual(scripts["process"], every)
        self.assertEqual(scripts["batch"], {"serper_search", "gemini_search"})
        self.assertEqual(scripts["mcp"], {*providers, "read_page", "web_search"})
        self.assertEqual(scripts["http"], {"read_page", "web_search"})

    def test_every_network_tool_and_path_of_the_servers_is_tried(self) -> None:
        cells = faults.all_cells()
        tools = load_script("websearch.ways_in.mcp_tools")
        routes = load_script("websearch.ways_in.http_api").ROUTES
        tried = {faults.tool_of(cell.subject, tools)[0] for cell in cells if cell.way == "mcp"}  # type: ignore[index]
        self.assertEqual(tried, set(tools.TOOLS) - {"clear_cache", "recall", "check_quotes"})
        paths = {faults.route_of(cell.subject, routes)[0] for cell in cells if cell.way == "http"}  # type: ignore[index]
        self.assertEqual(paths, {"/search", "/brief", "/read"})


if __name__ == "__main__":
    unittest.main()
