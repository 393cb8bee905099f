"""Dates in documents: of results, of the pages behind them, and of today.

The only module to notice a result's date that its page contradicts.
"""

from __future__ import annotations

import time
import unittest
from datetime import date, timedelta
from typing import Any

from tests.search.scripted_web import ScriptedWeb
from tests.support import CannedServer, SmallWebCase, run_script
from websearch.engines.base import days

GUIDE = "python.example.org/guides/asyncio"  # published 30 days ago, says the page
DAY = 86_400.0


def days_ago(days: int) -> date:
    """A day before today in UTC."""
    return date.fromisoformat(time.strftime("%Y-%m-%d", time.gmtime(time.time() - days * DAY)))


class DateCase(SmallWebCase):
    def search(self, *words: str, **variables: str) -> Any:
        return self.run_script("web_search.py", *words, **variables).document


class OfPages(DateCase):
    def test_an_engine_without_dates_gets_that_of_the_page(self) -> None:
        found = self.search("python asyncio", "--engine", "duckduckgo")
        dates = {one["url"]: one.get("date") for one in found["results"]}
        guide = next(url for url in dates if GUIDE in url)
        self.assertEqual(dates[guide], days_ago(30).isoformat())

    def test_an_engine_without_ranges_of_dates_gets_the_dates_of_pages_compared(self) -> None:
        text = "<time datetime={} pubdate>then</time> Otters of the harbor sleep on kelp."
        with ScriptedWeb() as web:
            pages = [
                web.page(f"/{name}", text.format(day))
                for name, day in (("old", "2019-05-01"), ("new", "2024-05-01"), ("none", "soon"))
            ]
            web.find("otters", *pages)
            words = ("web_search.py", "otters", "-n", "2", "--since")
            variables = web.environment("searxng")
            found = run_script(*words, "2024-01-01..2024-12-31", env=variables).document
            none = run_script(*words, "2001-01-01..2001-12-31", env=variables).document
        self.assertEqual([one["url"] for one in found["results"]], pages[1:])
        self.assertIn("SearXNG cannot filter by date,", found["warnings"][0])
        self.assertIn("1 page left out: the page's own date", found["warnings"][1])
        self.assertEqual([one["url"] for one in none["results"]], pages[2:])
        self.assertIn("2 pages left out: the page's own date", " ".join(none["warnings"]))

    def test_it_is_stored_with_the_page(self) -> None:
        self.search("python asyncio", "--engine", "duckduckgo")
        again = self.search("python asyncio", "--engine", "duckduckgo")
        self.assertTrue(again["from_cache"])
        dates = {one["url"]: one.get("date") for one in again["results"]}
        self.assertIn(days_ago(30).isoformat(), dates.values())
        recalled = self.search("recall", "asyncio guide")
        dates = {one["url"]: one.get("date") for one in recalled["results"]}
        guide = next(url for url in dates if GUIDE in url)
        self.assertEqual(dates[guide], days_ago(30).isoformat())

    def test_the_page_wins_if_the_engine_is_more_than_a_day_away(self) -> None:
        page = days_ago(30)
        near, far = page - timedelta(days=1), page - timedelta(days=2)
        cases = (
            (page.isoformat(), page.isoformat()),
            (f"{near:%b} {near.day}, {near.year}", near.isoformat()),
            (f"{far:%b} {far.day}, {far.year}", f"{page} (page)"),
            (f"{far.day} {far:%b} {far.year}", f"{page} (page)"),
            ("3 days ago", f"{page} (page)"),
            ("30 days ago", page.isoformat()),
            ("vor 30 Tagen", page.isoformat()),
            ("vor drei Tagen", page.isoformat()),  # not understood
        )
        for number, (written, shown) in enumerate(cases):
            with self.subTest(written):
                server = CannedServer()
                self.addCleanup(server.close)
                link = f"{self.server.url}/web/{GUIDE}"
                server.body = {"organic": [{"title": "Guide", "link": link, "date": written}]}
                found = self.search(
                    f"asyncio guide {number}",
                    *("--engine", "serper"),
                    SERPER_API_KEY="key-of-a-test",
                    SERPER_BASE_URL=server.url,
                )
                self.assertEqual([one["date"] for one in found["results"]], [shown])


class OfEngines(DateCase):
    def test_what_engines_write_becomes_a_day_beside_their_words(self) -> None:
        for words, day, age in (
            ("October 26, 2026", "2026-10-26", "October 26, 2026"),
            ("4 weeks ago", "2026-10-03", "4 weeks ago"),
            ("an hour ago", "2026-10-31", "an hour ago"),
            ("21 hours ago", "2026-10-30", "21 hours ago"),  # at 09:33
            ("vor 2 Stunden", "2026-10-31", "vor 2 Stunden"),
            ("il y a 2 jours", "2026-10-29", "il y a 2 jours"),
            ("hace 3 años", None, "hace 3 años"),
            ("3 年前", None, "3 年前"),
            ("2 小时前", "2026-10-31", "2 小时前"),
            ("24.10.2026", "2026-10-24", "24.10.2026"),
            ("2 часа назад", "2026-10-31", "2 часа назад"),
            ("2026-10-26T23:30:00-02:00", "2026-10-26", None),
            ("yesterday", "2026-10-30", "yesterday"),
            ("2026-10-26T08:00:00.0000000", "2026-10-26", None),
            ("2019", "2019", None),
            ("2 months ago", None, "2 months ago"),  # names no day
            ("vor ein paar Tagen", None, "vor ein paar Tagen"),
        ):
            with self.subTest(words):
                now = days.seconds_of("2026-10-31") + 9.55 * 3_600
                result = days.with_day({"url": "x", "date": words}, now)
                self.assertEqual((result.get("date"), result.get("age")), (day, age))

    def test_news_are_sorted_by_their_moment_in_any_language_and_cut_afterwards(self) -> None:
        server = CannedServer()
        self.addCleanup(server.close)
        written = ("vor 21 Stunden", "hace 2 días", "il y a 6 heures", "a while ago", "3 hours ago")
        link = f"{self.server.url}/web/{GUIDE}"
        server.body = {
            "news": [
                {"title": text, "link": f"{link}?{number}", "date": text}
                for number, text in enumerate(written)
            ]
        }
        environment = {"SERPER_API_KEY": "key-of-a-test", "SERPER_BASE_URL": server.url}
        words = ("asyncio guide", "--focus", "news", "--no-pages", "-n", "2")
        for _ in ("asked", "stored"):
            found = self.search(*words, **environment)
            self.assertEqual([one["title"] for one in found["results"]], [written[4], written[2]])
            self.assertEqual(server.count, 1)

    def test_since_keeps_a_date_that_is_not_understood_and_names_it(self) -> None:
        server = CannedServer()
        self.addCleanup(server.close)
        link = f"{self.server.url}/web/{GUIDE}"
        server.body = {
            "organic": [
                {"title": text, "link": f"{link}?{number}", "date": text}
                for number, text in enumerate(("hace 3 años", "hace poco", "vor 2 Stunden"))
            ]
        }
        environment = {"SERPER_API_KEY": "key-of-a-test", "SERPER_BASE_URL": server.url}
        words = ("asyncio guide", "--engine", "serper", "--no-pages", "--since", "week")
        found = self.search(*words, **environment)
        titles = [one["title"] for one in found["results"]]
        self.assertEqual(titles, ["hace poco", "vor 2 Stunden"])
        told = "Kept, because their dates were not understood: 'hace poco'."
        self.assertIn(told, found["warnings"])

    def test_a_stored_answer_says_the_day_and_no_age(self) -> None:
        server = CannedServer()
        self.addCleanup(server.close)
        written = ("2 days ago", "vor drei Tagen", "26 ottobre 2026")
        link = f"{self.server.url}/web/{GUIDE}"
        server.body = {
            "organic": [
                {"title": text, "link": f"{link}?{number}", "date": text}
                for number, text in enumerate(written)
            ]
        }
        environment = {"SERPER_API_KEY": "key-of-a-test", "SERPER_BASE_URL": server.url}
        words = ("asyncio guide", "--engine", "serper", "--no-pages")
        first, stored = (self.search(*words, **environment) for _ in range(2))
        self.assertTrue(stored["from_cache"])
        self.assertEqual([one.get("age") for one in first["results"]], list(written))
        self.assertEqual([one.get("age") for one in stored["results"]], [None, None, written[2]])
        self.assertEqual(stored["results"][0]["date"], days_ago(2).isoformat())


class OfToday(DateCase):
    def test_every_document_with_results_says_what_day_it_is(self) -> None:
        today = days_ago(0).isoformat()
        for words in (
            ("python asyncio",),
            ("python asyncio",),  # from the cache
            ("brief", "python asyncio", "sourdough starter"),
            ("recall", "asyncio"),
        ):
            self.assertIn(self.search(*words)["today"], {today, days_ago(0).isoformat()}, words)

    def test_markdown_says_it_too(self) -> None:
        run = self.run_script("web_search.py", "python asyncio", "--format", "markdown")
        self.assertIn(f"today is {days_ago(0)}", run.stdout.decode())

    def test_latest_of_a_past_year_is_warned_of(self) -> None:
        year = days_ago(0).year
        said = f"The query asks for the latest from {year - 1}, but it is {year} now."
        for query, warned in (
            (f"latest python asyncio {year - 1}", True),
            (f"aktuelle asyncio Versionen {year - 1}", True),
            (f"dernière version asyncio {year - 1}", True),
            (f"последние новости asyncio {year - 1}", True),
            (f"asyncio 最新 {year - 1}", True),
            (f"latest python asyncio {year}", False),
            (f"latest asyncio {year - 1} or {year}", False),
            (f"python asyncio in {year - 1}", False),
            ("latest python asyncio", False),
            (f"latest asyncio RFC 1{year - 1}", False),
        ):
            with self.subTest(query):
                found = self.search(query, "--no-pages", "--engine", "duckduckgo")
                told = found.get("warnings", []) + found.get("details", {}).get("warnings", [])
                self.assertEqual(said in told, warned, found)


if __name__ == "__main__":
    unittest.main()
