"""The shared code's pure logic: parameters, texts, document size, waiting, addresses.

The only module to notice a cut document that does not fit, and text that a cleaning rule lets by.
"""

from __future__ import annotations

import copy
import gzip
import html
import json
import os
import random
import re
import socket
import string
import threading
import time
import unittest
import zlib
from datetime import datetime, timedelta, timezone
from email.utils import formatdate
from typing import Any
from unittest import mock

from tests.support import ROOT, SLACK, CannedServer, EnvironmentCase, call_main, load_script
from websearch import kit
from websearch.base import http_client, untrusted
from websearch.ways_in.http_messages import STATUSES

SPEC: dict[str, Any] = {
    "params": [
        {"name": "query", "type": "str", "required": True, "aliases": ["q"], "help": "the query"},
        {"name": "count", "type": "int", "min": 1, "max": 20, "default": 10, "help": "results"},
        {"name": "lat", "type": "float", "min": -90, "max": 90, "help": "latitude"},
        {"name": "color", "type": "str", "choices": ["Red", "blue"],
         "values": {"azure": "blue", "sky-blue": "blue"}, "help": "a color"},
        {"name": "since", "type": "since", "choices": ["day", "week"], "values": {"pd": "day"},
         "help": "age"},
        {"name": "fast", "type": "bool", "help": "hurry"},
        {"name": "site", "type": "csv", "help": "sites"},
        {"name": "rules", "type": "list", "help": "rules"},
        {"name": "key", "type": "str", "verbatim": True, "help": "opaque"},
    ],
    "cannot": {"offset": "this command has no pages."},
}  # fmt: skip


def checked(**given: Any) -> dict[str, Any]:
    """Return what check_params makes of a query and the given parameters, without the query."""
    result: dict[str, Any] = kit.check_params("find", SPEC, {"query": "x", **given})
    return {name: value for name, value in result.items() if name not in ("query", "count")}


class Periods(unittest.TestCase):
    def test_dates_and_times_until_today(self) -> None:
        today = datetime.now(timezone.utc).date()
        rows = {
            "2026-01-01": f"2026-01-01..{today}",
            "2026-01-01..": f"2026-01-01..{today}",
            "..2026-01-31": "1990-01-01..2026-01-31",
            "24h": "day", "5h": None, "7dd": None,
            "1d": "day", "7d": "week", "1w": "week", "7 days": "week",
            "10d": f"{today - timedelta(10)}..{today}", "2w": f"{today - timedelta(14)}..{today}",
            "1 Year": f"{today - timedelta(365)}..{today}",
            "2m": f"{today - timedelta(60)}..{today}",
            "pw": "week", "qdr:d": "day", "past year": f"{today - timedelta(365)}..{today}",
            "48 hours": f"{today - timedelta(2)}..{today}", "today": "day", "last week": "week",
            "past_24_hours": "day", "last 7 days": "week", "Past Week": "week", "last": None,
            "yesterday": f"{today - timedelta(1)}..{today}", "ago": None,
            "3 days ago": f"{today - timedelta(3)}..{today}",
            "2026-01-01T00:00:00Z": f"2026-01-01..{today}",
            "2026-01-01T08:30..2026-01-31T23:59:59.000+02:00": "2026-01-01..2026-01-31",
        }  # fmt: skip
        for text, expected in rows.items():
            with self.subTest(text):
                if expected is None:
                    with self.assertRaises(kit.SearchError):
                        checked(since=text)
                else:
                    self.assertEqual(checked(since=text)["since"], expected)

    def test_words_for_no_filter_have_a_hint_of_their_own(self) -> None:
        for word in ("any", "all"):
            with self.assertRaises(kit.SearchError) as raised:
                checked(since=word)
            self.assertEqual(raised.exception.hint, "Omit {since} to search all dates.")

    def test_a_period_that_begins_in_the_future_is_said(self) -> None:
        with self.assertRaisesRegex(kit.SearchError, "begins by today"):
            checked(since=str(datetime.now(timezone.utc).date() + timedelta(2)))

    @unittest.skipUnless(hasattr(time, "tzset"), "Windows")
    def test_today_is_a_day_later_in_the_east(self) -> None:
        tomorrow = str(datetime.now(timezone.utc).date() + timedelta(1))
        self.addCleanup(time.tzset)
        with mock.patch.dict(os.environ, TZ="EAST-24"):  # as far as a zone may be ahead of UTC
            time.tzset()
            for text in (tomorrow, f"{tomorrow}..{tomorrow}"):
                self.assertEqual(checked(since=text)["since"], f"{tomorrow}..{tomorrow}")


class Parameters(unittest.TestCase):
    def test_values_come_back_in_their_types(self) -> None:
        for given, expected in (
            ({"lat": "-33.5"}, {"lat": -33.5}),
            ({"lat": 10}, {"lat": 10.0}),
            ({"color": "RED"}, {"color": "Red"}),
            ({"color": " Azure "}, {"color": "blue"}),
            ({"fast": "true"}, {"fast": True}),
            ({"fast": 0}, {"fast": False}),
            ({"fast": "No"}, {"fast": False}),
            ({"site": "a.b, c.d,"}, {"site": ["a.b", "c.d"]}),
            ({"site": ["a.b", "c.d,e.f"]}, {"site": ["a.b", "c.d", "e.f"]}),
            ({"rules": "a,b"}, {"rules": ["a,b"]}),
            ({"key": ' {"x": 1} '}, {"key": ' {"x": 1} '}),
            ({"since": "PD"}, {"since": "day"}),
            ({"since": "2024-02-29to2024-03-01"}, {"since": "2024-02-29..2024-03-01"}),
            ({"timeout": "1.5", "max_chars": "0"}, {"timeout": 1.5, "max_chars": 0}),
            ({"color": None}, {}),
            ({"site": ["a.b", "", None]}, {"site": ["a.b"]}),
            ({"site": "a.b c.d\ne.f"}, {"site": ["a.b", "c.d", "e.f"]}),
            (
                {"site": '["a.b", "c.d"]', "rules": '["a,b", "c"]'},
                {"site": ["a.b", "c.d"], "rules": ["a,b", "c"]},
            ),
            (
                {"site": ['["a.b"]'], "rules": "a,b\r\n\nc"},
                {"site": ["a.b"], "rules": ["a,b", "c"]},
            ),
            ({"rules": ["a\nb"]}, {"rules": ["a\nb"]}),
            ({"rules": ["null", "undefined"]}, {}),
            ({"rules": ["null", "a"]}, {"rules": ["null", "a"]}),
            ({"color": "SKY_BLUE"}, {"color": "blue"}),
            ({"key": "null"}, {"key": "null"}),
        ):
            with self.subTest(given):
                self.assertEqual(checked(**given), expected)

    def test_empty_values_count_as_not_given(self) -> None:
        nothing = ("", " ", [], [""], "[]", '[""]', ",", [" ", ","])
        for empty in (*nothing, None, "null", "None", "undefined", ["null"]):
            with self.subTest(empty):
                self.assertEqual(checked(site=empty, count="null", color=" "), {})

    def test_defaults_are_filled_in_and_whole_numbers_are_ints(self) -> None:
        self.assertEqual(
            kit.check_params("find", SPEC, {"q": 2024}), {"query": "2024", "count": 10}
        )
        count = kit.check_params("find", SPEC, {"q": "x", "count": "7"})["count"]
        self.assertIs(type(count), int)

    def test_wrong_values_are_named_with_what_is_allowed(self) -> None:
        for given, sentence in (
            ({"count": 21}, "count must be a whole number from 1 to 20, not 21."),
            ({"count": "many"}, "count must be a whole number from 1 to 20, not 'many'."),
            ({"count": 2.5}, "count must be a whole number from 1 to 20, not 2.5."),
            ({"count": True}, "count must be a whole number from 1 to 20, not True."),
            ({"site": [["a"]]}, "site must be text, not ['a']."),
            ({"count": float("nan")}, "count must be a whole number from 1 to 20, not nan."),
            ({"count": "9" * 400}, "count must be a whole number from 1 to 20, not '9"),
            ({"count": [1]}, "count must be a whole number from 1 to 20, not [1]."),
            ({"count": 0}, "count must be a whole number from 1 to 20, not 0."),
            ({"lat": "-inf"}, "lat must be a number from -90 to 90, not '-inf'."),
            ({"lat": "1e400"}, "lat must be a number from -90 to 90, not '1e400'."),
            ({"fast": ["a"]}, "fast must be true or false, not ['a']."),
            ({"query": True}, "query must be text, not True."),
            ({"lat": 91}, "lat must be a number from -90 to 90, not 91."),
            ({"color": "green"}, "color must be one of Red, blue, not 'green'."),
            ({"fast": "maybe"}, "fast must be true or false, not 'maybe'."),
            ({"query": "  "}, "query is empty."),
            ({"query": {"a": 1}}, "query must be text, not {'a': 1}."),
            ({"query": "\udcff"}, "query must be valid UTF-8 text, not"),
            (
                {"query": "Ume\0e5"},
                r"query must be text without control characters, not 'Ume\x00e5'",
            ),
            ({"query": "a\x1b[1m"}, "query must be text without control characters, not"),
            ({"site": ["a\1.example"]}, "site must be text without control characters, not"),
            (
                {"since": "hour"},
                "since must be day, week, 7d, 2w, YYYY-MM-DD or YYYY-MM-DD..YYYY-MM-DD, not 'h",
            ),
            ({"since": "2023-02-29..2023-03-01"}, "valid dates"),
            ({"since": "2022-99-99..2022-99-99"}, "valid dates"),
            ({"since": "9x"}, "YYYY-MM-DD, not '9x'."),
            ({"since": "2024-03-02..2024-03-01"}, "earlier date comes first"),
            ({"nothing": 1}, "find has no parameter 'nothing'."),
        ):
            with self.subTest(given), self.assertRaises(kit.SearchError) as caught:
                checked(**given)
            self.assertEqual(caught.exception.kind, "invalid_input")
            self.assertIn(sentence, caught.exception.message)

    def test_hints_name_the_nearest_word_or_why_it_cannot_be(self) -> None:
        for given, hint in (
            ({"cuont": 5}, "The nearest parameter is count."),
            ({"color": "bleu"}, "The nearest value is blue."),
            ({"offset": 1}, "this command has no pages."),
        ):
            with self.subTest(given), self.assertRaises(kit.SearchError) as caught:
                checked(**given)
            self.assertEqual(caught.exception.hint, hint)

    def test_a_missing_parameter_says_what_it_is(self) -> None:
        with self.assertRaises(kit.SearchError) as caught:
            kit.check_params("find", SPEC, {})
        self.assertEqual(caught.exception.message, "query is missing.")
        self.assertIn("the query", caught.exception.hint)


class Countries(EnvironmentCase):
    def test_a_wrong_one_is_told_once_in_the_same_words_everywhere(self) -> None:
        scripts = {
            "brave_search.py": ["web", "news", "context"],
            "serper_search.py": ["search", "maps"],
            "web_search.py": ["search", "batch"],
            "keyless_search.py": ["search"],
        }
        for script, commands in scripts.items():
            module = load_script(script)
            for command in commands:
                query = ["--queries", "mill"] if command == "batch" else ["mill"]
                words = [*([command] if command != "search" else []), *query]
                run = call_main(module, *words, "--country", "Germany")
                with self.subTest(script, command=command):
                    text = "country must be a two-letter code such as us, gb or de, not 'Germany'."
                    self.assertEqual(run.document["error"], text)
                    self.assertEqual(run.document["details"]["hint"], "Did you mean DE?")


class Texts(unittest.TestCase):
    def test_what_could_deceive_is_removed_and_joiners_stay(self) -> None:
        for text, expected in (
            ("a\x00b\x07c\x7fd\x9be", "abcde"),
            ("tab\tline\n", "tab\tline\n"),
            ("\x1b[31mred\x1b[0m \x1b]0;title\x07end", "red end"),
            ("a\u202eb\u2066c\u200bd\u2060e\ufefff", "abcdef"),
            ("tag\U000e0041\U000e007f", "tag"),
            ("می\u200cخواهم 👩\u200d💻", "می\u200cخواهم 👩\u200d💻"),
            ("lone \ud800 surrogate", "lone \ufffd surrogate"),
        ):
            with self.subTest(text):
                self.assertEqual(kit.clean_text(text), expected)

    def test_nothing_that_shows_nothing_stays_unless_its_neighbours_need_it(self) -> None:
        smuggled = "".join(
            chr(0xFE00 + byte % 16) + chr(0xE0100 + byte % 240) for byte in range(256)
        )
        for hidden in (
            smuggled, "\u2061\u2062\u2063\u2064", "\u206a\u206f", "\u115f\u1160\u3164\uffa0",
            "\u00ad\u034f\u061c\u180e\u200e\u200f", "\u200c\u200d\u200c",
            "\u2060\u200d\u2060\u200d", "\ufe0f\u200d\ufe0f\u200d", "\U0001bca0\U0001d173",
        ):  # fmt: skip
            for before, after in (("a", "b"), ("я", "ж"), ("中", "文")):
                with self.subTest(hidden, before=before):
                    text = kit.clean_text(before + hidden + after)
                    left = len(text) - len(before + after)
                    self.assertLessEqual(left, 1)  # a variation selector, or a joiner
        for text in (
            "❤\ufe0f",
            "1\ufe0f\u20e3",
            "🏳\ufe0f\u200d🌈",
            "👩🏽\u200d⚕\ufe0f",
            "क्\u200dष",
            "葛\ufe00",
        ):
            self.assertEqual(kit.clean_text(text), text)

    def test_a_strangers_markdown_and_html_is_not_live(self) -> None:
        for text, expected in (
            ("see ![x](http://evil/?d=1) here", "see x here"),
            ('[text](https://e.org "title")', "text"),
            ("[text](<javascript:alert(1)>)", "[text] (< javascript:alert(1)>)"),
            ("[a[b]](//evil/x)", "[a[b]] (//evil/x)"),
            ("![x][ref]\n[ref]: http://evil", "![x] [ref]\n[ref] : http://evil"),
            ('a <img src="http://evil/?d=1"> b', "a   b"),
            ("a <im<img>g src=x> b", "a <im> b"),
            ("a <!-- hidden --> b <!-- open", "a   b  "),
            ("<script>x</script>", " x "),
            ("<p align=\"center\" title='<'>a</p> <b>b</b>", "<p>a</p> <b>b</b>"),
            (
                "<x/onclick=alert(1)> <!DOCTYPE x> <vscode://x>",
                "< x/onclick=alert(1)> < !DOCTYPE x> < vscode://x>",
            ),
            ("<image src=x><pre>y</pre>", "  y "),
            (
                "Map<K, V> <T: Ord> std::vector<a::b> <https://e.org>",
                "Map<K, V> <T: Ord> std::vector<a::b> <https://e.org>",
            ),
            (
                "- [y]: http://evil\n> [a\nb]: x\n1. [\\]]: y",
                "- [y] : http://evil\n> [a\nb] : x\n1. [\\]] : y",
            ),
            ("vector<int> a; x < y; rows[i](j)", "vector<int> a; x < y; rows[i] (j)"),
            ("plain text, 5 > 3", "plain text, 5 > 3"),
        ):
            with self.subTest(text):
                self.assertEqual(untrusted.disarm_text(text), expected)

    def test_a_snippet_has_no_tags_and_no_live_links(self) -> None:
        for text, expected in (
            ("see ![x](http://evil/?d=1) here", "see x here"),
            ("a <im<img>g src=x> b", "a < im< img>g src=x> b"),
            ("a <!-- hidden --> b <!-- open", "a   b  "),
            (
                "<p align=\"center\" title='<'>a</p> <b>b</b>",
                "< p align=\"center\" title='<'>a   b ",
            ),
            ("a <img src=http://evil", "a  "),
            ("List<String> <b>x</b> a < b > c", "List< String>  x  a < b > c"),
            ("![x][ref]\n[ref]: http://evil", "![x] [ref]\n[ref] : http://evil"),
        ):
            with self.subTest(text):
                self.assertEqual(kit.make_harmless(text), expected)

    def test_what_a_server_says_is_harmless_in_the_markdown_of_an_error(self) -> None:
        error = kit.SearchError("provider", "It said ![x](http://evil/?d=1) <img src=y>")
        document = kit.error_document(error)
        self.assertEqual(kit.error_markdown(document), "**Error (provider):** It said x")
        text = kit.frame_markdown({"ok": True, "warnings": [error.message]})
        self.assertEqual(text.rstrip(), "> It said x")
        error = kit.SearchError("provider", "Not '<http://a.org>', '[x](y)' or '<b>…, <b>it</b>")
        for text in (kit.error_markdown(kit.error_document(error)),
                     kit.frame_markdown({"ok": True, "warnings": [error.message]})):  # fmt: skip
            self.assertIn("Not '< http://a.org>', '[x] (y)' or '< b>…,  it", text)

    def test_a_models_answer_loses_only_controls(self) -> None:
        self.assertEqual(kit.clean_text("a\x00\u200bb\u202e", model_answer=True), "a\u200bb\u202e")

    def test_cleaning_reaches_every_text_and_numbers_json_cannot_hold(self) -> None:
        data = {"a\x00": ["b\x00", {"c": "d\u202e"}], "n": float("inf"), "m": float("nan"), "i": 1}
        self.assertEqual(
            kit.clean_tree(data), {"a": ["b", {"c": "d"}], "n": None, "m": None, "i": 1}
        )

    def test_addresses_that_are_not_of_the_web_go(self) -> None:
        bad = ("javascript:alert(1)", "file:///etc/passwd", "//host/x", "--version", "vscode:x", "")
        for address in bad:
            data = {"title": address, "url": address, "imageUrl": address, "links": [address]}
            cleaned = kit.clean_tree(data)
            expected = {"title": address, "url": "", "imageUrl": "", "links": [""]}
            self.assertEqual(cleaned, expected, address)
        good = {"link": "HTTPS://example.org/", "website": "http://[::1]/"}
        self.assertEqual(kit.clean_tree(good), good)

    def test_marks_are_stripped_and_entities_decoded_once(self) -> None:
        for marked, text in (
            ("a <strong>b</strong> c", "a b c"),
            ('<span class="x">a</span><br/>b', "ab"),
            ("List&lt;String&gt; &amp; more", "List<String> & more"),
            ("&amp;lt;b&amp;gt; &amp;copy;", "&lt;b&gt; &copy;"),
            ("it&#x27;s &#39;x&#39; &quot;q&quot;", "it's 'x' \"q\""),
            ("caf&eacute; &#8364; &amp;amp;", "café € &amp;"),
            ("if a < b and c > d", "if a < b and c > d"),
            ("vector<int> x", "vector<int> x"),
            ("&#x202e;abc", "abc"),
            ("AT&T &nosuch; &", "AT&T &nosuch; &"),
            (f"a&#{'9' * 5_000};b", "a\ufffdb"),
        ):
            with self.subTest(marked):
                self.assertEqual(kit.plain_text(marked), text)

    def test_entities_are_decoded_as_the_standard_library_does(self) -> None:
        source = random.Random(7)
        pieces = [
            "&amp;",
            "&lt;",
            "&gt;",
            "&quot;",
            "&#39;",
            "&#x27;",
            "amp;",
            "&",
            "#39;",
            "x",
            " ",
        ]
        for _ in range(2_000):
            text = "x" + "".join(source.choices(pieces, k=8)) + "x"
            self.assertEqual(kit.plain_text(text), html.unescape(text), text)

    def test_links_survive_brackets_and_parentheses(self) -> None:
        link = kit.markdown_link("a [b]\nc", "https://e.org/x_(y) z")
        self.assertEqual(link, "[a \\[b\\] c](https://e.org/x_%28y%29%20z)")
        self.assertEqual(kit.markdown_link("a\\", "https://e.org"), "[a\\\\](https://e.org)")
        link = kit.markdown_link("a", "https://e.org/\n# b\tc")
        self.assertEqual(link, "[a](https://e.org/%20#%20b%20c)")

    def test_a_fence_has_a_mark_of_its_own_each_time(self) -> None:
        first, second = kit.fence_untrusted("text"), kit.fence_untrusted("text")
        self.assertNotEqual(first, second)
        self.assertRegex(first, r"^\[untrusted page text (\w{8}): .*\]\ntext\n\[end of \1\]$")


class DocumentSize(unittest.TestCase):
    def document(self, source: random.Random) -> dict[str, Any]:
        def text(length: int) -> str:
            return "".join(source.choices(string.ascii_letters + " é京😀", k=length))

        return {
            "ok": True,
            "query": text(20),
            "text": text(source.randint(0, 3_000)),
            "results": [
                {"url": "https://example.org/" + "p" * source.randint(0, 300),
                 "title": text(60), "texts": [text(source.randint(0, 900)) for _ in range(3)]}
                for _ in range(source.randint(0, 40))
            ],
            "raw": [text(50) for _ in range(source.randint(0, 50))],
        }  # fmt: skip

    def test_it_fits_is_still_json_and_urls_are_whole(self) -> None:
        source = random.Random(11)
        for _ in range(150):
            document = self.document(source)
            urls = {item["url"] for item in document["results"]}
            before = json.loads(json.dumps(document))
            limit = source.randint(900, 12_000)
            kit.fit_document(document, limit, ("raw",))
            self.assertLessEqual(len(kit.dump_json(document)), limit)
            self.assertLessEqual({item["url"] for item in document["results"]}, urls)
            if len(kit.dump_json(before)) <= limit:
                self.assertEqual(document, before)
            else:
                self.assertIn("max_chars", document["truncated"]["hint"])

    def test_expendable_fields_go_first_and_the_rest_stays_whole(self) -> None:
        document = {"ok": True, "text": "a" * 800, "raw": ["b" * 100] * 20}
        kit.fit_document(document, 1_200, ("raw",))
        self.assertEqual(document["text"], "a" * 800)
        self.assertEqual(document["truncated"]["left_out"], ["raw"])

    def test_last_items_are_dropped_and_counted(self) -> None:
        document = {"ok": True, "results": [{"n": number, "t": "x" * 90} for number in range(30)]}
        kit.fit_document(document, 1_500, ())
        kept = [item["n"] for item in document["results"]]
        self.assertEqual(kept, list(range(len(kept))))
        self.assertEqual(document["truncated"]["items_dropped"]["results"], 30 - len(kept))

    def test_the_documents_of_a_batch_are_cut_by_the_same_measure(self) -> None:
        short = {"ok": True, "query": "short", "results": [{"n": 0}], "raw": "gone"}
        texts = [{"ok": True, "text": "a" * length} for length in (100, 600, 5_000, 5_000)]
        lists = [
            {"ok": True, "results": [{"n": number, "t": "x" * 90} for number in range(count)]}
            for count in (3, 30, 30)
        ]
        document: Any = {"ok": True, "results": [short, *texts, *lists]}
        kit.fit_document(document, 4_000, ("raw",))
        self.assertLessEqual(len(kit.dump_json(document)), 4_000)
        first, *others = document["results"]
        self.assertEqual(first, {"ok": True, "query": "short", "results": [{"n": 0}]})
        lengths = [len(one["text"]) for one in others[:4]]
        self.assertEqual((lengths[:2], lengths[2]), ([100, 600], lengths[3]))
        self.assertGreaterEqual(lengths[2], 1_000)
        kept = [len(one["results"]) for one in others[4:]]
        self.assertEqual((kept[1:], kept[0] > 0), (kept[:2], True))
        cut = document["truncated"]
        self.assertEqual(cut["items_dropped"], {"results": 63 - sum(kept)})
        self.assertEqual(cut["texts_shortened_to"], lengths[2])
        self.assertEqual(cut["left_out"], ["raw"])

    def test_an_answer_keeps_a_thousand_characters_while_there_are_sources_to_drop(self) -> None:
        source = {"number": 1, "title": "a.example", "url": "https://a.example/" + "p" * 300}
        answer = {"ok": True, "text": "word " * 1_200, "sources": [source] * 10}
        document: Any = {"ok": True, "results": [copy.deepcopy(answer) for _ in range(3)]}
        kit.fit_document(document, 9_000)
        self.assertLessEqual(len(kit.dump_json(document)), 9_000)
        for result in document["results"]:
            self.assertGreaterEqual(len(result["text"]), 1_000)
            self.assertEqual(len(result["sources"]), 3)

    def test_a_document_is_measured_as_it_is_printed(self) -> None:
        document = {"ok": True, "text": '"' * 4_000}
        kit.fit_document(document, 5_000, (), lambda cut: len(cut["text"]))
        self.assertEqual(len(document["text"]), 4_000)
        kit.fit_document(document, 3_000, (), lambda cut: len(cut["text"]))
        self.assertEqual(len(document["text"]), 3_000)

    def test_whole_documents_of_a_batch_go_only_if_nothing_else_helps(self) -> None:
        document: Any = {"ok": True, "results": [{"ok": True, "url": "u" * 90} for _ in range(30)]}
        kit.fit_document(document, 1_500, ())
        self.assertLessEqual(len(kit.dump_json(document)), 1_500)
        kept = len(document["results"])
        self.assertEqual(document["truncated"]["items_dropped"], {"results": 30 - kept})
        self.assertGreater(kept, 5)

    def test_no_limit_means_no_change(self) -> None:
        document = {"ok": True, "results": ["x" * 50_000]}
        kit.fit_document(document, 0, ())
        self.assertEqual(len(document["results"][0]), 50_000)


class Waiting(unittest.TestCase):
    def tries(self, error: Any, deadline: float = 60.0) -> tuple[int, list[float]]:
        """Return how often a request that always fails is sent, and the pauses between."""
        clock = [0.0]
        pauses: list[float] = []

        def sleep(seconds: float) -> None:
            pauses.append(seconds)
            clock[0] += seconds

        send = mock.Mock(side_effect=error)
        with (
            mock.patch.object(kit.time, "monotonic", lambda: clock[0]),
            mock.patch.object(kit.time, "sleep", sleep),
            self.assertRaises(kit.SearchError),
        ):
            kit.exchange({}, deadline, mock.Mock(), send)
        return send.call_count, pauses

    def test_faults_get_three_tries_and_named_waits_more(self) -> None:
        self.assertEqual(self.tries(kit.SearchError("auth", "x")), (1, []))
        for _ in range(50):
            count, pauses = self.tries(kit.SearchError("network", "x", retryable=True))
            self.assertEqual(count, 3)
            for pause, base in zip(pauses, (0.3, 0.6), strict=True):
                self.assertTrue(base * 0.5 <= pause <= base * 1.5)
        count, pauses = self.tries(
            kit.SearchError("rate_limit", "x", retryable=True, retry_after=9.0)
        )
        self.assertTrue(5 <= count <= 7, count)
        for tries, pause in enumerate(pauses, 1):  # callers that are refused together spread out
            self.assertTrue(9.0 < pause < 9.1 + tries, pause)

    def test_retry_after_is_a_number_or_a_date(self) -> None:
        for value, low, high in (
            ("7", 7, 7), ("0", 0, 0), ("99999999999999", 999_999_999, 999_999_999),
            (formatdate(time.time() + 60, usegmt=True), 50, 61),
            (formatdate(time.time() - 60, usegmt=True), 0, 0),
        ):  # fmt: skip
            with self.subTest(value):
                waited = kit.retry_after(kit.Response(429, {"retry-after": value}, b""))
                self.assertTrue(low <= waited <= high, waited)
        for value in ("", "soon", "-5", "1.5", "Mon, 01 Jan 99999999999 00:00:00 GMT"):
            with self.subTest(value):
                response = kit.Response(429, {"retry-after": value}, b"")
                self.assertIsNone(kit.retry_after(response))

    def test_statuses_become_kinds(self) -> None:
        for status, kind, retryable in (
            (301, "provider", False), (401, "auth", False), (403, "auth", False),
            (404, "provider", False), (429, "rate_limit", True), (500, "provider", True),
            (501, "provider", False), (503, "provider", True),
        ):  # fmt: skip
            error = kit.status_error(kit.Response(status, {}, b"<h1>Oh</h1> no"), "Acme")
            with self.subTest(status):
                self.assertEqual((error.kind, error.retryable), (kind, retryable))
                self.assertEqual(error.details["status"], status)
                self.assertIn("Acme", error.message)
                self.assertNotIn("<h1>", error.message)

    def test_a_kind_of_error_is_forgotten_nowhere(self) -> None:
        from tests.tools.faults import EXPECTED

        skill, servers, errors = (
            (ROOT / name).read_text("utf-8")
            for name in ("SKILL.md", "references/servers.md", "references/troubleshooting.md")
        )
        caused = {
            kind for kinds in EXPECTED.values() for each in kinds.values() for kind in each.split()
        }
        for kind, (code, _, _) in kit.KINDS.items():
            status = STATUSES.get(kind)
            rows = {
                "STATUSES in ways_in/http_messages.py": status,
                "references/servers.md": re.search(rf"(?m)^\| {status} \|.*`{kind}`", servers),
                "references/troubleshooting.md": re.search(
                    rf"(?m)^\| `{kind}` \| {code} \| {status} \|", errors
                ),
                "SKILL.md": kind == "interrupted"
                or re.search(rf"(?m)^\| {code} \|.*`{kind}`", skill),
                "EXPECTED in tests/tools/faults.py": kind in (*caused, "internal", "interrupted"),
            }
            forgotten = [place for place, row in rows.items() if not row]
            self.assertFalse(forgotten, f"{kind} is missing in {'; '.join(forgotten)}")

    def test_every_kind_has_an_exit_code_and_bad_input_never_falls_back(self) -> None:
        kinds = ("auth", "rate_limit", "quota", "blocked", "provider", "network", "timeout")
        self.assertTrue(all(kit.may_fall_back(kind) for kind in (*kinds, "no_results")))
        for kind in ("invalid_input", "internal", "interrupted", "refused", "unsupported"):
            self.assertFalse(kit.may_fall_back(kind))
            self.assertIn(kind, kit.EXIT_CODES)


class Body:
    """An answer as http.client gives it, for read_body."""

    def __init__(self, data: bytes, length: int | None = None) -> None:
        self.data = data
        self.length = length

    def read(self, size: int) -> bytes:
        piece, self.data = self.data[:size], self.data[size:]
        return piece


class Bodies(unittest.TestCase):
    plain = b"hello world, " * 20_000

    def test_compressed_bodies_are_unpacked(self) -> None:
        bare = zlib.compressobj(wbits=-15)
        for encoding, data, times in (
            ("", self.plain, 1),
            ("identity", self.plain, 1),
            ("gzip", gzip.compress(self.plain), 1),
            ("X-GZIP", gzip.compress(self.plain) * 2, 2),
            ("gzip, gzip", gzip.compress(gzip.compress(self.plain)), 1),
            ("deflate", zlib.compress(self.plain), 1),
            ("deflate", bare.compress(self.plain) + bare.flush(), 1),
            ("UTF-8", self.plain, 1),
            ("gzip", self.plain, 1),  # it is not, whatever the server says
        ):
            with self.subTest(encoding):
                body, is_broken = http_client.read_body(Body(data), encoding, None)
                self.assertEqual(body, self.plain * times)
                self.assertFalse(is_broken)

    def test_gzip_that_is_whole_counts_whatever_length_was_announced(self) -> None:
        body = Body(gzip.compress(self.plain), length=7)
        self.assertEqual(http_client.read_body(body, "gzip", None), (self.plain, False))

    def test_a_page_that_breaks_off_is_returned_as_far_as_it_came(self) -> None:
        for body, encoding in (
            (Body(self.plain, length=5), ""),
            (Body(gzip.compress(self.plain)[:-9]), "gzip"),
            (Body(gzip.compress(self.plain)[:-9], length=9), "gzip"),
            (Body(zlib.compress(self.plain)[:-9]), "deflate"),
        ):
            with self.subTest(encoding):
                text, is_broken = http_client.read_body(body, encoding, 1_000_000)
                self.assertTrue(self.plain.startswith(text[:100]) and is_broken)

    def test_a_short_body_is_no_answer(self) -> None:
        for body, encoding in (
            (Body(self.plain, length=5), ""),
            (Body(gzip.compress(self.plain)[:-9]), "gzip"),
        ):
            with self.subTest(encoding), self.assertRaises(EOFError):
                http_client.read_body(body, encoding, None)

    def test_what_cannot_be_unpacked_is_a_providers_error(self) -> None:
        for encoding, data in (
            ("br", b"x"),
            ("zstd", b"x"),
            ("deflate", b"not deflated"),
            ("gzip", b"\x1f\x8bno gzip at all"),
            ("gzip, gzip, gzip, gzip", b"x"),
        ):
            with self.subTest(encoding), self.assertRaises(kit.SearchError) as caught:
                http_client.read_body(Body(data), encoding, None)
            self.assertEqual(caught.exception.kind, "provider")

    def test_a_long_body_is_refused_or_cut_while_it_is_read(self) -> None:
        bomb = gzip.compress(bytes(60_000_000))
        with self.assertRaises(kit.SearchError):
            http_client.read_body(Body(bomb), "gzip", None)
        self.assertEqual(len(http_client.read_body(Body(bomb), "gzip", 1_000)[0]), 1_001)
        nested = gzip.compress(bomb)
        self.assertEqual(len(http_client.read_body(Body(nested), "gzip,gzip", 100_000)[0]), 100_001)
        members = gzip.compress(b"") * 100_000
        self.assertEqual(http_client.read_body(Body(members), "gzip", 5_000_000)[0], b"")


class Requests(EnvironmentCase):
    def test_no_thread_is_left_when_a_deadline_has_passed(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
            request = {"method": "GET", "url": f"http://127.0.0.1:{port}/", "headers": {}}
            started = time.monotonic()
            with self.assertRaises(kit.SearchError) as caught:
                http_client.exchange(request, time.monotonic() + 0.3, lambda _: None)
            self.assertEqual(caught.exception.kind, "timeout")
            self.assertLess(time.monotonic() - started, 0.3 + SLACK)
            limit = time.monotonic() + SLACK
            while threading.active_count() > 1 and time.monotonic() < limit:
                time.sleep(0.02)
            self.assertEqual(threading.active_count(), 1)

    def test_the_error_of_a_try_says_more_than_the_end_of_the_time_in_the_next(self) -> None:
        server = CannedServer()
        self.addCleanup(server.close)
        tried: list[Any] = []

        def judge(_: Any) -> Any:
            tried.append(1)
            server.delay = 5.0  # the next try outlives the deadline
            return kit.SearchError("rate_limit", "slow down", retryable=True)

        request = {"method": "GET", "url": server.url, "headers": {}}
        with self.assertRaises(kit.SearchError) as caught:
            http_client.exchange(request, time.monotonic() + 2, judge)
        self.assertEqual((caught.exception.kind, len(tried)), ("rate_limit", 1))

    def test_the_connect_function_of_a_request_makes_its_connection(self) -> None:
        asked: list[Any] = []

        def connect(address: Any, *rest: Any) -> Any:
            asked.append(address)
            raise ConnectionRefusedError

        request = {"method": "GET", "url": "http://e.invalid/", "headers": {}, "connect": connect}
        with self.assertRaises(kit.SearchError) as caught:
            http_client.exchange(request, time.monotonic() + 10, lambda _: None)
        self.assertEqual(caught.exception.kind, "network")
        self.assertEqual(set(asked), {("e.invalid", 80)})

    def test_transport_errors_never_quote_the_request(self) -> None:
        secret = "canary-0123456789"
        for error in (ValueError(f"Invalid header value {secret}"), OSError(secret)):
            found = http_client.transport_error(error, "https://example.org/x")
            self.assertEqual(found.kind, "network")
            self.assertNotIn(secret, str(kit.error_document(found)))

    def test_an_answer_that_quotes_a_long_key_does_not_pass_it_on(self) -> None:
        server = CannedServer()
        self.addCleanup(server.close)
        key = "canary-0123456789abcdef"
        server.body = {"echo": key}
        headers = {"X-Api-Key": key}
        request = {"method": "GET", "url": server.url, "headers": headers}
        response = http_client.exchange(request, time.monotonic() + 10, lambda _: None)
        self.assertEqual(response.json(), {"echo": "[key]"})


if __name__ == "__main__":
    unittest.main()
