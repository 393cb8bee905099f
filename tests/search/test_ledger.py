"""What was spent: requests to paid engines by month, their budgets, and where they are shown.

The only module to notice a request that is paid for and not counted, or a budget that is passed.
"""

from __future__ import annotations

import contextlib
import sqlite3
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest import mock

from tests.search.scripted_web import HANG_SECONDS, ScriptedWeb, story
from tests.support import EnvironmentCase, Run, call_main, load_script, new_folder, run_script
from websearch import kit
from websearch.engines.base import ledger
from websearch.search import commands as search
from websearch.store import page_store as store_module
from websearch.ways_in import mcp_tools as tools

PROCESSES = 16
QUESTION = "otter log"


class LedgerCase(EnvironmentCase):
    """A web in which every question finds one page; each test has a store of its own."""

    def setUp(self) -> None:
        super().setUp()
        self.web = ScriptedWeb()
        self.addCleanup(self.web.close)
        self.store = str(new_folder(self) / "cache.db")
        self.page = self.web.page("/otter", story("otter"))
        self.web.find(QUESTION, self.page)
        self.questions = [f"question {number}" for number in range(PROCESSES)]
        for question in self.questions:
            self.web.find(question, self.page)
        self.use("serper")

    def use(self, *engines: str, budget: str = "", **more: str) -> None:
        """Configure these engines, and a budget."""
        variables = {"GLSI_DB_PATH": self.store, "WEB_SEARCH_BUDGET": budget, **more}
        self.variables = self.web.environment(*engines, **variables)
        self.set_environment(**self.variables)

    def run_command(self, *arguments: str) -> Run:
        """Run web_search.py in this process."""
        return call_main(load_script("web_search"), *arguments)

    def search(self, query: str = QUESTION, *arguments: str) -> Any:
        """The document of a search, asked anew."""
        return self.run_command(query, "--no-pages", "--force", *arguments).document

    def spent(self) -> Any:
        """engine -> requests of this month, as `cache stats` shows them."""
        stats = self.run_command("cache", "stats").document
        self.assertTrue(stats["ok"], stats)
        spent = stats.get("spent", {})
        self.assertLessEqual(len(spent), 1)
        for month, engines in spent.items():
            self.assertRegex(month, r"^20\d\d-\d\d$")
            return engines
        return {}

    def asked(self, engine: str) -> int:
        """How many requests an engine has received."""
        return sum(name == engine for name, _ in self.web.asked)


class Counting(LedgerCase):
    def test_each_request_to_a_paid_engine_counts_and_a_stored_answer_does_not(self) -> None:
        self.use("brave", "serper", "searxng")
        self.assertEqual(self.spent(), {})
        for engine in ("brave", "serper", "serper", "searxng"):
            document = self.search(QUESTION, "--engine", engine)
            expected = {} if engine == "searxng" else {engine: 1}
            self.assertEqual(document.get("billed", {}), expected)
        self.assertEqual(self.spent(), {"brave": 1, "serper": 2})
        self.run_command(QUESTION, "--engine", "serper", "--no-pages")
        self.assertEqual(self.spent(), {"brave": 1, "serper": 2})

    def test_a_brief_counts_each_of_its_questions(self) -> None:
        self.run_command("brief", *self.questions[:3])
        self.assertEqual(self.spent(), {"serper": 3})
        self.run_command("brief", *self.questions[:4])
        self.assertEqual(self.spent(), {"serper": 4})

    def test_what_the_provider_refuses_is_not_counted(self) -> None:
        for status in (400, 401, 403, 429, 501):
            self.web.statuses["serper"] = status
            document = self.search(QUESTION, "--engine", "serper", "--timeout", "2")
            self.assertFalse(document["ok"])
        self.assertGreaterEqual(self.asked("serper"), 5)
        self.assertEqual(self.spent(), {})

    def test_that_nothing_was_found_was_an_answer_and_counts(self) -> None:
        self.assertEqual(self.search("no such words")["details"]["kind"], "no_results")
        self.assertEqual(self.spent(), {"serper": 1})

    def test_an_answer_that_came_too_late_may_have_cost_something_and_counts(self) -> None:
        self.web.delays["serper"] = HANG_SECONDS
        document = self.search(QUESTION, "--engine", "serper", "--timeout", "1")
        self.assertEqual(document["details"]["kind"], "timeout")
        self.assertEqual(document["details"]["billed"], {"serper": 1})
        self.assertEqual(self.spent(), {"serper": 1})

    def test_a_request_that_reached_nobody_is_not_counted(self) -> None:
        self.use("serper", SERPER_BASE_URL="http://127.0.0.1:9")
        document = self.search(QUESTION, "--engine", "serper", "--timeout", "2")
        self.assertEqual(document["details"]["kind"], "network")
        self.assertEqual(self.spent(), {})

    def test_a_dry_run_costs_nothing(self) -> None:
        self.run_command(QUESTION, "--dry-run")
        self.run_command("brief", *self.questions[:2], "--dry-run")
        self.assertEqual(self.spent(), {})

    def test_clearing_the_cache_keeps_the_count(self) -> None:
        self.search()
        self.assertEqual(self.run_command("cache", "clear").code, 0)
        self.assertEqual(self.spent(), {"serper": 1})

    def test_the_tools_over_mcp_count_and_a_single_file_alone_does_not(self) -> None:
        tools.call_tool("google_search", {"query": QUESTION})
        self.assertEqual(self.spent(), {"serper": 1})
        run = run_script("serper_search.py", QUESTION, env=self.variables)
        self.assertTrue(run.document["ok"])
        self.assertEqual(self.spent(), {"serper": 1})

    def test_more_than_one_credit_is_more_than_one_request(self) -> None:
        with contextlib.closing(store_module.PageStore()) as store:
            month = ledger.begin_request("serper", store)
            billed = ledger.end_request("serper", month, "", 3, store)
        self.assertEqual(billed, {"serper": 3})
        self.assertEqual(self.spent(), {"serper": 3})


class Budget(LedgerCase):
    def warnings_of(self, document: Any) -> list[str]:
        """The warnings of a document on the budget."""
        return [one for one in document.get("warnings", []) if "WEB_SEARCH_BUDGET" in one]

    def test_from_80_percent_a_warning_says_how_much_is_used(self) -> None:
        self.use("serper", budget="serper:5")
        for number in (1, 2, 3):
            self.assertEqual(self.warnings_of(self.search()), [], number)
        for number in (4, 5):
            (warning,) = self.warnings_of(self.search())
            self.assertIn(f"{number} of the 5 requests", warning)

    def test_a_used_up_budget_is_quota_and_auto_goes_on(self) -> None:
        self.use("brave", "serper", "searxng", budget="brave:1,serper:1")
        for engine in ("brave", "serper", "searxng", "searxng"):
            document = self.search()
            self.assertEqual(document["engine"], engine, document)
        self.assertEqual(
            [one.get("kind") for one in document["attempts"]], ["quota", "quota", None]
        )
        self.assertEqual((self.asked("brave"), self.asked("serper")), (1, 1))
        self.assertEqual(self.spent(), {"brave": 1, "serper": 1})

    def test_a_named_engine_without_budget_fails_and_says_what_to_do(self) -> None:
        self.use("serper", "searxng", budget="serper:0")
        run = self.run_command(QUESTION, "--engine", "serper", "--no-pages")
        details = run.document["details"]
        self.assertEqual((run.code, details["kind"], details["retryable"]), (4, "quota", False))
        self.assertIn("WEB_SEARCH_BUDGET", details["hint"])
        self.assertEqual(self.web.asked, [])

    def test_a_brief_spends_what_is_left_and_asks_the_next_engine_for_the_rest(self) -> None:
        self.use("serper", "searxng", budget="serper:2")
        document = self.run_command("brief", *self.questions[:4]).document
        engines = [one["engine"] for one in document["queries"]]
        self.assertEqual(sorted(engines), ["searxng", "searxng", "serper", "serper"])
        self.assertEqual(document["billed"], {"serper": 2})
        self.assertEqual([one["kind"] for one in document["attempts"]], ["quota"])
        self.assertEqual(len(self.warnings_of(document)), 1)

    def test_the_tools_over_mcp_keep_it(self) -> None:
        self.use("serper", budget="serper:1")
        first, _ = tools.call_tool("google_search", {"query": QUESTION})
        second, text = tools.call_tool("google_search", {"query": QUESTION})
        self.assertTrue(first["ok"])
        self.assertEqual(len(self.warnings_of(first)), 1)
        self.assertEqual(second["details"]["kind"], "quota")
        self.assertIn("WEB_SEARCH_BUDGET", text)
        self.assertEqual(self.asked("serper"), 1)

    def test_an_engine_without_an_entry_is_asked_only_by_name(self) -> None:
        self.use("brave", "serper", "searxng", budget="brave:1")
        for engine in ("brave", "searxng"):
            self.assertEqual(self.search()["engine"], engine)
        self.search(QUESTION, "--engine", "all")
        self.assertEqual(self.asked("serper"), 0)
        self.assertEqual(self.search(QUESTION, "--engine", "serper")["engine"], "serper")

    def test_a_total_bounds_all_engines_also_those_that_are_named(self) -> None:
        self.use("brave", "serper", "searxng", budget="brave:2,total:3")
        for engine in ("brave", "brave", "serper", "searxng"):
            self.assertEqual(self.search()["engine"], engine)
        details = self.search(QUESTION, "--engine", "serper")["details"]
        self.assertEqual(details["kind"], "quota")
        self.assertEqual(self.spent(), {"brave": 2, "serper": 1})
        run = self.run_command(QUESTION, "--dry-run")
        self.assertEqual(run.document["engine"], "searxng")
        attempts = [(one["engine"], one["kind"]) for one in run.document["attempts"]]
        self.assertEqual(attempts, [("brave", "quota"), ("serper", "quota")])

    def test_a_malformed_budget_is_bad_input_that_says_how_to_write_it(self) -> None:
        cases = {
            "serper": "brave:900,serper:2000",
            "serper:many": "brave:900,serper:2000",
            "serper:-1": "brave:900,serper:2000",
            "duckduckgo:5": "brave or serper",
            "serpr:5": "serper",
            "brave:5;serper:5": "brave:900,serper:2000",
        }
        for budget, told in cases.items():
            with self.subTest(budget):
                self.use("serper", "searxng", budget=budget)
                run = self.run_command(QUESTION, "--no-pages")
                self.assertEqual((run.code, run.document["details"]["kind"]), (2, "invalid_input"))
                self.assertIn("WEB_SEARCH_BUDGET", run.document["error"])
                self.assertIn(told, run.document["error"] + run.document["details"]["hint"])
        self.assertEqual(self.web.asked, [])

    def test_a_malformed_budget_is_an_error_before_anything_is_planned(self) -> None:
        self.use("serper", budget="serper=100")
        for words in (("--dry-run",), ("--engine", "keyless")):
            run = self.run_command(QUESTION, *words)
            self.assertEqual((run.code, run.document["details"]["kind"]), (2, "invalid_input"))

    def test_a_budget_may_be_in_the_secrets(self) -> None:
        secrets = Path(self.store).with_name("secrets.yaml")
        secrets.write_text("WEB_SEARCH_BUDGET: serper:1\n", encoding="utf-8")
        secrets.chmod(0o600)
        self.use("serper", WEB_SEARCH_SECRETS=str(secrets))
        self.search()
        self.assertEqual(self.search()["details"]["kind"], "quota")

    def test_a_dry_run_says_what_it_would_cost(self) -> None:
        self.use("serper")
        for count, price in (("5", 1), ("20", 2), ("30", 3), ("50", 5)):
            document = self.run_command(QUESTION, "--dry-run", "-n", count).document
            self.assertEqual(document["cost"], {"serper": {"requests": 1, "credits": price}})
        self.use("brave")
        for count, requests, price in (("5", 1, 0.005), ("20", 1, 0.005), ("50", 3, 0.015)):
            document = self.run_command(QUESTION, "--dry-run", "-n", count).document
            self.assertEqual(document["cost"], {"brave": {"requests": requests, "usd": price}})
            self.assertEqual(document["billed"], {"brave": requests})

    def test_markdown_and_mcp_say_what_was_billed(self) -> None:
        self.use("serper")
        for words in ((QUESTION,), ("brief", *self.questions[:2])):
            text = self.run_command(*words, "--md").stdout.decode()
            self.assertRegex(text, r"Billed requests: serper [12]\.\n$")
        _, text = tools.call_tool("web_search", {"query": QUESTION, "force": True})
        self.assertIn("Billed requests: serper 1.", text)

    def test_a_budget_of_a_run_bounds_a_search_a_brief_and_a_batch(self) -> None:
        self.use("brave", "serper", "searxng")
        self.assertEqual(self.search(QUESTION, "--budget", "0")["engine"], "searxng")
        document = self.search(QUESTION, "--budget", "0", "--engine", "serper")
        self.assertEqual(document["details"]["kind"], "quota")
        self.assertIn("Raise --budget.", document["details"]["hint"])
        self.run_command("brief", *self.questions[:4], "--budget", "3")
        self.assertEqual(self.spent(), {"brave": 3})
        lines = Path(self.store).with_name("lines.txt")
        lines.write_text("\n".join(self.questions[4:14]), encoding="utf-8")
        words = ("batch", str(lines), "--no-pages", "--budget", "5")
        plan = self.run_command(*words, "--dry-run").document["request"]
        self.assertEqual(plan["requests"], {"brave": 5, "searxng": 5})
        for more in (("--jsonl",), ("--max-chars", "0", "--force")):
            self.web.forget()
            self.assertEqual(self.run_command(*words, *more).code, 0)
            self.assertEqual((self.asked("brave"), self.asked("serper")), (5, 0))

    def test_lines_that_fail_by_quota_decide_the_exit_code_of_a_batch(self) -> None:
        self.use("serper", budget="serper:2")
        lines = Path(self.store).with_name("lines.txt")
        lines.write_text("\n".join(self.questions[:4]), encoding="utf-8")
        words = ("batch", str(lines), "--no-pages", "--jsonl", "--engine", "serper")
        self.assertEqual(self.run_command(*words).code, 4)
        output = str(lines.with_name("out.jsonl"))
        run = self.run_command(*words, "--output", output)
        self.assertEqual((run.code, run.document["details"]["kind"]), (4, "quota"))

    def test_the_dry_run_of_a_batch_is_a_total(self) -> None:
        self.use("serper", budget="serper:9")
        lines = Path(self.store).with_name("lines.txt")
        lines.write_text("\n".join(self.questions), encoding="utf-8")
        output = str(lines.with_name("out.jsonl"))
        words = ("batch", str(lines), "--no-pages", "--skip-done", output, "--output", output)
        plan = self.run_command(*words, "--dry-run").document["request"]
        self.assertEqual(plan["lines"], len(self.questions))
        self.assertEqual(plan["requests"]["serper"], 9)
        self.assertEqual(plan["cost"], {"serper": {"requests": 9, "credits": 9}})
        self.assertEqual(plan["left"], {"serper": 9})
        self.assertNotIn("results", plan)
        self.assertEqual(self.web.asked, [])
        some = lines.with_name("some.txt")
        some.write_text("\n".join(self.questions[:6]), encoding="utf-8")
        self.run_command("batch", str(some), *words[2:])
        plan = self.run_command(*words, "--dry-run", "--verbose").document["request"]
        self.assertEqual((plan["lines"], plan["left"]), (len(self.questions) - 6, {"serper": 3}))
        self.assertEqual(len(plan["results"]), plan["lines"])
        words = ("batch", str(some), *words[2:], "--dry-run")
        self.assertEqual(self.run_command(*words).document["request"], {"lines": 0})

    def test_the_price_of_a_batch_has_no_digits_of_its_sum(self) -> None:
        self.use("brave")
        lines = Path(self.store).with_name("lines.txt")
        lines.write_text("".join(f"mill {number}\n" for number in range(40)), encoding="utf-8")
        run = self.run_command("batch", str(lines), "--jsonl", "--engine", "brave", "--dry-run")
        self.assertEqual(run.document["request"]["cost"]["brave"], {"requests": 40, "usd": 0.2})

    def test_keyless_asks_no_engine_with_a_key(self) -> None:
        self.use("serper", "searxng")
        document = self.search(QUESTION, "--engine", "keyless")
        self.assertEqual(document["engine"], "searxng")
        self.assertNotIn("billed", document)

    def test_a_refused_key_is_told_whatever_is_cut(self) -> None:
        attempts = [
            {"engine": "serper", "kind": "auth", "error": "refused"},
            {"engine": "brave", "kind": "rate_limit", "error": "x" * 900},
        ]
        document = {"ok": True, "attempts": attempts, "text": "y" * 900}
        kit.fit_document(document, 1_400, ("attempts",))
        self.assertEqual(document["attempts"], attempts[:1])

    def test_spaces_and_capitals_in_a_budget_do_no_harm(self) -> None:
        self.use("serper", budget=" Brave:900 , SERPER: 1,")
        self.assertEqual(ledger.budgets(), {"brave": 900, "serper": 1})
        self.search()
        self.assertEqual(self.search()["details"]["kind"], "quota")

    def test_cache_stats_names_budgets_and_a_malformed_one_is_a_warning(self) -> None:
        self.use("serper", budget="serper:5")
        self.assertEqual(self.run_command("cache", "stats").document["budgets"], {"serper": 5})
        self.use("serper", budget="serper:x")
        stats = self.run_command("cache", "stats")
        self.assertEqual(stats.code, 0)
        self.assertIn("WEB_SEARCH_BUDGET", stats.document["warnings"][0])
        text = self.run_command("cache", "stats", "--format", "markdown").stdout.decode()
        self.assertIn("WEB_SEARCH_BUDGET", text)


class Months(LedgerCase):
    def at(self, moment: str) -> Any:
        """A clock that shows this time in UTC, for the ledger of this process."""
        clock = mock.Mock(wraps=time)
        clock.gmtime.return_value = time.strptime(moment, "%Y-%m-%d %H:%M:%S")
        return mock.patch.object(ledger, "time", clock)

    def search_here(self) -> Any:
        """The document of a search in this process."""
        return search.run_search({"query": QUESTION, "no_pages": True, "force": True})

    def spent_at(self, moment: str) -> Any:
        """What `cache stats` shows as spent at a time."""
        with self.at(moment):
            return search.run_cache({"action": "stats"}).get("spent", {})

    def test_a_new_month_begins_at_nothing_and_the_old_one_is_kept(self) -> None:
        self.use("serper", budget="serper:1")
        with self.at("2026-11-30 23:59:59"):
            self.assertTrue(self.search_here()["ok"])
            self.assertEqual(self.search_here()["details"]["kind"], "quota")
        with self.at("2026-12-01 00:00:00"):
            self.assertTrue(self.search_here()["ok"])
            self.assertEqual(self.search_here()["details"]["kind"], "quota")
        self.assertEqual(self.spent_at("2026-11-30 23:59:59"), {"2026-11": {"serper": 1}})
        self.assertEqual(self.spent_at("2026-12-31 23:59:59"), {"2026-12": {"serper": 1}})
        self.assertEqual(self.spent_at("2027-01-01 00:00:00"), {})

    def test_a_request_counts_in_the_month_in_which_it_was_sent(self) -> None:
        for kind, credits_taken, spent in (("auth", None, {}), ("", 2, {"serper": 2})):
            with (
                self.at("2026-11-30 23:59:59"),
                contextlib.closing(store_module.PageStore()) as store,
            ):
                month = ledger.begin_request("serper", store)
                ledger.time.gmtime.return_value = time.strptime("2026-12-01", "%Y-%m-%d")
                ledger.end_request("serper", month, kind, credits_taken, store)
                self.assertEqual(store.spent("2026-11"), spent)
                self.assertEqual(store.spent("2026-12"), {})

    def test_the_month_is_that_of_utc(self) -> None:
        self.assertEqual(ledger.this_month(), time.strftime("%Y-%m", time.gmtime()))
        shown = run_script("web_search.py", QUESTION, env={**self.variables, "TZ": "Etc/GMT-14"})
        self.assertTrue(shown.document["ok"])
        self.assertEqual(self.spent(), {"serper": 1})


class ManyProcesses(LedgerCase):
    def run_command(self, *arguments: str) -> Run:
        """Run web_search.py as a process."""
        return run_script("web_search.py", *arguments, env=self.variables)

    def run_all(self) -> list[Any]:
        """The documents of a search in each of PROCESSES processes at the same time."""
        with ThreadPoolExecutor(PROCESSES) as pool:
            return list(pool.map(self.search, self.questions))

    def test_every_request_of_16_processes_is_counted(self) -> None:
        documents = self.run_all()
        self.assertTrue(all(one["ok"] for one in documents), documents)
        self.assertEqual(self.asked("serper"), PROCESSES)
        self.assertEqual(self.spent(), {"serper": PROCESSES})

    def test_16_processes_keep_one_budget(self) -> None:
        self.use("serper", "searxng", budget="serper:10")
        documents = self.run_all()
        engines = sorted(one["engine"] for one in documents)
        self.assertEqual(engines, ["searxng"] * 6 + ["serper"] * 10)
        self.assertEqual(self.asked("serper"), 10)
        self.assertEqual(self.spent(), {"serper": 10})


class Shown(LedgerCase):
    def doctor_line(self, ok: bool = True) -> Any:
        """The doctor's line on spending, None if there is none. ok: whether a search works."""
        document = run_script("doctor.py", env=self.variables).document
        self.assertEqual(document["ok"], ok)
        lines = [one for one in document["checks"] if one["name"] == "spending"]
        self.assertLessEqual(len(lines), 1)
        return lines[0] if lines else None

    def test_doctor_shows_what_was_spent_and_warns_like_a_search(self) -> None:
        self.use("serper")
        self.assertIsNone(self.doctor_line())
        self.search()
        line = self.doctor_line()
        self.assertEqual(line["status"], "ok")
        self.assertIn("serper 1", line["message"])
        self.use("serper", budget="serper:10,brave:3")
        line = self.doctor_line()
        self.assertEqual(line["status"], "ok")
        self.assertIn("serper 1 of 10", line["message"])
        self.assertIn("brave 0 of 3", line["message"])
        self.use("serper", budget="serper:1")
        line = self.doctor_line()
        self.assertEqual(line["status"], "warning")
        self.assertIn("WEB_SEARCH_BUDGET", line["hint"])

    def test_doctor_says_that_a_budget_is_malformed(self) -> None:
        for engine in ("serper", "searxng"):
            self.use(engine, budget="serper:x")
            line = self.doctor_line(False)
            self.assertEqual(line["status"], "failed")
            self.assertIn("WEB_SEARCH_BUDGET", line["message"])
            self.assertFalse(self.search()["ok"])

    def test_cache_stats_as_markdown_names_month_and_engine(self) -> None:
        self.search()
        text = self.run_command("cache", "stats", "--format", "markdown").stdout.decode()
        self.assertRegex(text, r"- spent: .*20\d\d-\d\d.*serper.*1")


class OldAndDamagedFiles(LedgerCase):
    def change(self, *statements: str) -> None:
        """Change the store's file by SQL."""
        with contextlib.closing(sqlite3.connect(self.store)) as database:
            for statement in statements:
                database.execute(statement)
            database.commit()

    def test_a_file_of_an_earlier_version_gets_its_table(self) -> None:
        self.search()
        older = ("PRAGMA user_version = 3", "PRAGMA application_id = 0")
        self.change("DROP TABLE spending", *older)
        self.assertEqual(self.spent(), {})
        self.search()
        self.assertEqual(self.spent(), {"serper": 1})

    def test_a_damaged_count_ends_no_search(self) -> None:
        self.search()
        self.change("UPDATE spending SET requests = 'many'")
        run = self.run_command("cache", "stats")
        self.assertEqual(run.code, 0, run.document)
        self.assertTrue(self.search()["ok"])

    def test_without_a_store_a_search_continues(self) -> None:
        self.use("serper", GLSI_DB_PATH="/dev/null/cache.db")
        document = self.search()
        self.assertTrue(document["ok"], document)
        self.assertTrue(document["warnings"])

    def test_a_budget_that_cannot_be_counted_is_refused_and_nothing_is_sent(self) -> None:
        for path in ("/dev/null/cache.db", ":memory:"):
            self.use("serper", budget="serper:5,brave:3", GLSI_DB_PATH=path)
            details = self.search(QUESTION, "--engine", "serper")["details"]
            self.assertEqual(details["kind"], "quota")
            self.assertRegex(details["hint"], r"GLSI_DB_PATH.*serper.*WEB_SEARCH_BUDGET")
            document, _ = tools.call_tool("google_search", {"query": QUESTION})
            self.assertEqual(document["details"]["kind"], "quota")
        self.assertEqual(self.web.asked, [])
        self.use("serper", budget="brave:3", GLSI_DB_PATH="/dev/null/cache.db")
        self.assertTrue(self.search(QUESTION, "--engine", "serper")["ok"])


if __name__ == "__main__":
    unittest.main()
