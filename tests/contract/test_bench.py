"""What `make bench` says of its measurements; test_long_bench.py takes every one of them."""

from __future__ import annotations

import contextlib
import io
import unittest
from typing import Any

from tests.bench import bench, bench_tokens, harness
from tests.bench.harness import Measure, Medians, Result, against, row, taken


class Rows(unittest.TestCase):
    def test_a_ratio_or_an_addition_within_its_bar_meets_it(self) -> None:
        table = [
            ((13.0, 10.0, 1.3), (1.3, 0.0), True),
            ((14.0, 10.0, 1.4), (1.3, 0.0), False),
            ((14.0, 10.0, 1.4), (1.3, 12.0), True),
            ((80.0, 50.0, 1.6), (1.3, 12.0), False),
            ((80.0, 50.0, 1.6), (0.0, 0.0), None),
        ]
        for medians, bars, met in table:
            with self.subTest(medians=medians, bars=bars):
                self.assertIs(against(Medians(*medians), *bars).met, met)

    def test_a_row_has_the_six_cells_of_the_table(self) -> None:
        result = Result("14.0 ms", "10.0 ms", 1.4, "<= 1.3 x", False)
        self.assertEqual(
            row("a search", result), "| a search | 14.0 ms | 10.0 ms | 1.40 | <= 1.3 x | NO |"
        )
        self.assertEqual(row("memory", Result("20 MB")), "| memory | 20 MB |  |  |  |  |")

    def test_a_measure_that_fails_is_a_row_and_the_next_one_is_taken(self) -> None:
        def fail(_: Any) -> Result:
            raise RuntimeError("first | line\nsecond")

        out = io.StringIO()
        measures = [Measure("broken", fail), Measure("good", lambda _: Result("1 ms"))]
        with contextlib.redirect_stdout(out):
            failed = harness.print_table(measures, None)  # type: ignore[arg-type]
        self.assertEqual(failed, 1)
        self.assertEqual(
            out.getvalue().splitlines()[2:],
            [
                "| broken | failed: RuntimeError: first \\| line second |  |  |  |  |",
                "| good | 1 ms |  |  |  |  |",
            ],
        )

    def test_sides_take_turns_after_a_run_of_each_that_does_not_count(self) -> None:
        turns: list[str] = []
        times = iter([90.0, 90.0, 2.0, 1.0, 8.0, 2.0, 9.0, 3.0])

        def side(name: str) -> Any:
            return lambda: turns.append(name) or next(times)  # type: ignore[func-returns-value]

        found = harness.interleaved(side("ours"), side("other"), 3)
        self.assertEqual(turns, ["ours", "other"] * 4)
        self.assertEqual(found, (8.0, 2.0, 3.0))

    def test_a_word_that_no_row_holds_is_answered_with_all_rows(self) -> None:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            code = harness.main(bench.MEASURES, ["--only", "teleportation"])
        self.assertEqual(code, 2)
        self.assertIn("page_store: a kept answer read", out.getvalue())

    def test_no_two_rows_have_one_name(self) -> None:
        names = [measure.name for measure in bench.MEASURES]
        self.assertEqual(len(names), len(set(names)))


class Lost(unittest.TestCase):
    def test_a_path_finds_texts_and_numbers_in_lists_and_objects(self) -> None:
        value = {"a": [{"b": "x", "c": {"d": 1, "e": None}}, {"b": ""}], "f": [["g", True]]}
        table = [
            ("a.*.b", ["x"]),
            ("a.*.c.*", ["1"]),
            ("f.*.*", ["g"]),
            ("a.b", []),
            ("missing.*", []),
        ]
        for path, found in table:
            with self.subTest(path=path):
                self.assertEqual(list(bench_tokens.values_at(value, path)), found)

    def test_a_useful_value_that_the_document_lacks_is_named(self) -> None:
        body = {"organic": [{"title": "Tea &amp; <b>cake</b>", "link": "https://a.example/x y"}]}
        document = {"results": [{"title": "Tea & cake", "link": "https://a.example/x%20y"}]}
        self.assertEqual(bench_tokens.lost("serper_search.py", [body], document), [])
        del document["results"][0]["link"]
        self.assertEqual(
            bench_tokens.lost("serper_search.py", [body], document),
            ["organic.*.link 'https://a.example/x y'"],
        )


class TinyRun(unittest.TestCase):
    ROWS = (
        "web_search.py --no-pages (DuckDuckGo): one search",
        "serper_search.py: --help",
        "serper_search.py: characters for ten queries",
        "web_search.py: cache hit, --no-pages",
        "mcp_server.py: peak memory",
        "mcp_server.py: tools/list",
        "page_store: recall over 10,000 pages, slowest of ten queries",
    )

    def test_measures_of_each_kind_can_be_taken(self) -> None:
        measures = {measure.name: measure for measure in bench.MEASURES}
        with harness.world(quick=True) as where:
            for name in self.ROWS:
                with self.subTest(name):
                    result, works = taken(measures[name], where)
                    self.assertTrue(works, result)
                    self.assertRegex(result.ours, r"\d")


if __name__ == "__main__":
    unittest.main()
