"""What gemini_search.py must do: each scenario of its specification as a test.

The Python functions are called by their public names, against the fake server; the command line is
run where a fixed sentence must appear there as well.
The only module to notice a broken promise of that specification.
"""

from __future__ import annotations

import json
import re
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

import gemini_search as gemini
from tests.engines.gemini_support import GeminiCase, answer, chunk
from tests.support import CANARY, SLACK, call_main

SCRIPT = "gemini_search.py"
EVERY_SEARCH = (gemini.search, gemini.dev, gemini.docs, gemini.reddit)
LINK = r"\d+\. \[[^\]]+\]\(https://vertexaisearch\.cloud\.google\.com/\S+\) \([\w.-]+\.\w+\)"


class GroundedWebSearch(GeminiCase):
    def test_basic_search_returns_content_and_source_citations(self) -> None:
        document = gemini.search("sourdough starter")
        self.assertTrue(document["ok"])
        self.assertIn("sourdough starter from nothing but flour", document["text"])
        self.assertNotRegex(document["text"], r"\[\d\]")  # the Python functions give the words
        first = document["sources"][0]
        self.assertEqual((first["number"], first["title"]), (1, "kitchen.example.com"))
        self.assertTrue(document["grounded"])

    def test_contextual_search_puts_the_context_into_the_prompt(self) -> None:
        gemini.search("timeouts", context="Python async programming")
        self.assertIn("Context: Python async programming", self.last_prompt())
        gemini.search("timeouts")
        self.assertNotIn("Context", self.last_prompt())

    def test_focus_modes_tailor_the_prompt_and_general_is_the_default(self) -> None:
        prompts = {}
        for focus in ("general", "code", "documentation", "troubleshooting"):
            self.assertTrue(gemini.search("python", focus=focus)["ok"])
            prompts[focus] = self.last_prompt()
        self.assertEqual(len(set(prompts.values())), 4)
        gemini.search("python")
        self.assertEqual(self.last_prompt(), prompts["general"])

    def test_another_focus_is_refused_with_the_list(self) -> None:
        document = gemini.search("python", focus="news")
        self.assertEqual(document["details"]["kind"], "invalid_input")
        for focus in ("general", "code", "documentation", "troubleshooting", "news"):
            self.assertIn(focus, document["error"])
        self.assertEqual(self.server.requests, [])

    def test_custom_model_is_the_one_that_is_asked(self) -> None:
        document = gemini.search("python", model="gemini-3.5-flash-lite")
        self.assertEqual(document["model"], "gemini-3.5-flash-lite")
        asked = self.server.requests[-1].path
        self.assertEqual(asked, "/v1beta/models/gemini-3.5-flash-lite:generateContent")

    def test_without_a_model_the_configured_default_is_used(self) -> None:
        gemini.search("python", model=None)
        self.assertIn("/models/gemini-3.8-flash:", self.server.requests[-1].path)
        self.set_environment(GEMINI_MODEL="gemini-4-hydrogen")
        gemini.search("python")
        self.assertIn("/models/gemini-4-hydrogen:", self.server.requests[-1].path)

    def test_empty_query_raises_a_value_error(self) -> None:
        for blank in ("", "   ", "\n\t", None):
            with self.assertRaisesRegex(ValueError, "^query cannot be empty$"):
                gemini.search(query=blank)
        self.assertEqual(self.server.requests, [])

    def test_timeout_is_that_of_the_request_and_30_seconds_by_default(self) -> None:
        self.set_environment(GEMINI_API_KEY=f"hang--{CANARY}" + CANARY)
        started = time.monotonic()
        document = gemini.search("python", timeout=0.5)
        self.assertLess(time.monotonic() - started, 0.5 + SLACK)
        self.assertEqual(document["details"]["kind"], "timeout")
        self.assertEqual(gemini.DEFAULT_TIMEOUT, 30.0)

    def test_max_sources_limits_the_sources_and_none_means_all(self) -> None:
        everything = gemini.search("sourdough starter", max_sources=None)
        self.assertEqual([one["number"] for one in everything["sources"]], [1, 2, 3, 4])
        document = gemini.run_search({"query": "sourdough starter", "max_sources": 2})
        self.assertEqual([one["number"] for one in document["sources"]], [1, 2])
        self.assertEqual(set(re.findall(r"\[(\d+)\]", document["text"])), {"1", "2"})

    def test_document_has_one_text_with_markers_text_only_has_none(self) -> None:
        document = gemini.run_search({"query": "sourdough starter"})
        self.assertRegex(document["text"], r"flour and water\.\[1\]")
        self.assertNotIn("cited_text", document)
        self.assertIn(document["text"], gemini.to_markdown(document))
        alone = gemini.run_search({"query": "sourdough starter", "output_format": "text_only"})
        self.assertEqual(alone["text"], re.sub(r"\[\d\]", "", document["text"]))

    def test_output_format_text_only_returns_only_the_text(self) -> None:
        for run in EVERY_SEARCH:
            document = run("sourdough", output_format="text_only")
            document.pop("warnings", None)  # of reddit, whose sources are other sites
            self.assertIn("Sourdough is bread", document["text"])
            self.assertEqual(document.keys(), {"ok", "provider", "query", "text"})
            self.assertEqual(gemini.to_markdown(document), document["text"])

    def test_output_format_sources_only_returns_only_sources(self) -> None:
        document = gemini.search("sourdough", output_format="sources_only")
        self.assertEqual(document.keys(), {"ok", "provider", "query", "sources"})
        self.assertEqual(document["sources"][0]["title"], "encyclopedia.example.org")
        lines = gemini.to_markdown(document).splitlines()
        self.assertEqual(len(lines), 4)
        for number, line in enumerate(lines, 1):
            self.assertRegex(line, f"^{number}" + LINK.removeprefix(r"\d+") + "$")

    def test_output_format_keeps_warnings_and_requested_fields(self) -> None:
        self.set_environment(GEMINI_API_KEY=f"ungrounded-{CANARY}")
        params = {"query": "sourdough", "include_thoughts": True, "suggestions": True}
        document = gemini.run_search({**params, "output_format": "text_only"})
        self.assertEqual(
            document.keys(),
            {"ok", "provider", "query", "text", "thoughts", "warnings"},
        )
        self.assertEqual(gemini.to_markdown(document).count("without a search"), 1)

    def test_output_format_full_is_the_default_and_has_both(self) -> None:
        for document in (
            gemini.search("sourdough"),
            gemini.search("sourdough", output_format="full"),
        ):
            self.assertLess({"text", "sources"}, document.keys())


class DeveloperResourcesSearch(GeminiCase):
    def test_basic_developer_search_prompts_for_github_and_stack_overflow(self) -> None:
        document = gemini.dev("python timeouts")
        self.assertIn("timeout", document["text"])
        self.assertTrue(self.last_prompt().startswith("python timeouts\n"))
        for word in ("GitHub", "Stack Overflow", "documentation"):
            self.assertIn(word, self.last_prompt())

    def test_language_specific_search_names_the_language(self) -> None:
        gemini.dev("timeouts", language="Python")
        self.assertIn("Programming language: Python", self.last_prompt())

    def test_framework_specific_search_names_the_framework(self) -> None:
        gemini.dev("timeouts", framework="FastAPI")
        self.assertIn("Framework or library: FastAPI", self.last_prompt())
        self.assertNotIn("Programming language", self.last_prompt())

    def test_empty_query_raises_a_value_error(self) -> None:
        with self.assertRaisesRegex(ValueError, "^query cannot be empty$"):
            gemini.dev(query="")


class DocumentationSearch(GeminiCase):
    def test_basic_docs_search_prompts_for_official_documentation(self) -> None:
        document = gemini.docs("python generics")
        self.assertTrue(document["sources"])
        self.assertRegex(self.last_prompt(), "Search official documentation: .*API references")

    def test_technology_specific_docs_names_the_technology(self) -> None:
        gemini.docs("hooks", technology="React")
        self.assertIn("official documentation of React", self.last_prompt())

    def test_empty_query_raises_a_value_error(self) -> None:
        with self.assertRaisesRegex(ValueError, "^query cannot be empty$"):
            gemini.docs(query="")


class RedditSearch(GeminiCase):
    def test_basic_reddit_search_asks_for_posts_and_comments(self) -> None:
        document = gemini.reddit("keyboards")
        self.assertTrue(document["ok"])
        self.assertRegex(self.last_prompt(), "posts and comments on Reddit")
        self.assertIn("site:reddit.com into", self.last_prompt())

    def test_sources_that_are_not_from_reddit_are_counted(self) -> None:
        run = call_main(gemini, "reddit", "sourdough")
        self.assertEqual(run.document["warnings"], ["4 of 4 sources are not from Reddit."])
        self.assertNotIn("warnings", call_main(gemini, "search", "sourdough").document)

    def test_subreddit_specific_search_asks_for_that_subreddit_only(self) -> None:
        for spelling in ("programming", "r/programming", "/r/programming/"):
            gemini.reddit("keyboards", subreddit=spelling)
            self.assertIn("site:reddit.com/r/programming into", self.last_prompt())

    def test_a_subreddit_that_cannot_be_one_is_refused(self) -> None:
        document = gemini.reddit("keyboards", subreddit="two words")
        self.assertIn("'two words'", document["error"])
        self.assertEqual(document["details"]["kind"], "invalid_input")

    def test_empty_query_raises_a_value_error(self) -> None:
        with self.assertRaisesRegex(ValueError, "^query cannot be empty$"):
            gemini.reddit(query="")


class BatchSearch(GeminiCase):
    def test_basic_batch_search_runs_in_parallel_in_one_result(self) -> None:
        # The key's requests are answered only as soon as two of them wait at the same time.
        self.set_environment(GEMINI_API_KEY=f"together--{CANARY}" + CANARY)
        document = gemini.search_batch(queries=["sourdough", "espresso"])
        self.assertEqual([one["query"] for one in document["results"]], ["sourdough", "espresso"])
        self.assertTrue(all(one["ok"] for one in document["results"]), document)

    def test_empty_batch_raises_a_value_error(self) -> None:
        with self.assertRaisesRegex(ValueError, "^queries list cannot be empty$"):
            gemini.search_batch(queries=[])

    def test_batch_with_a_model_uses_it_for_all_searches(self) -> None:
        gemini.search_batch(queries=["sourdough", "espresso"], model="gemini-3.6-flash")
        paths = [request.path for request in self.server.requests]
        self.assertEqual(paths, ["/v1beta/models/gemini-3.6-flash:generateContent"] * 2)


class SourceCitations(GeminiCase):
    duplicates = answer(
        "One. Two. Three.",
        {
            "groundingChunks": [
                chunk("https://a.example/1", "A"),
                chunk("https://a.example/1", "A again"),
                chunk("https://b.example/2", "B"),
            ]
        },
    )

    def test_source_extraction_ends_in_a_section_of_numbered_links(self) -> None:
        for run in EVERY_SEARCH:
            text = gemini.to_markdown(run("sourdough"))
            section = text.partition("### Sources\n")[2].partition("\n\n")[0].splitlines()
            self.assertEqual(len(section), 4)
            for number, line in enumerate(section, 1):
                self.assertRegex(line, f"^{LINK}$")
                self.assertTrue(line.startswith(f"{number}. "))

    def test_each_unique_url_is_shown_only_once(self) -> None:
        sources = gemini.parse_search_response(self.duplicates)["sources"]
        self.assertEqual(
            [one["url"] for one in sources], ["https://a.example/1", "https://b.example/2"]
        )

    def test_numbers_are_sequential_without_gaps(self) -> None:
        sources = gemini.parse_search_response(self.duplicates)["sources"]
        self.assertEqual([one["number"] for one in sources], [1, 2])
        text = gemini.format_search_result(gemini.parse_search_response(self.duplicates))
        self.assertIn("1. [A](https://a.example/1) (a.example)\n2. [B](https://b", text)

    def test_each_sources_domain_is_shown_despite_redirects(self) -> None:
        redirect = "https://vertexaisearch.cloud.google.com/grounding-api-redirect/"
        for title, url, shown in (
            ("a.example", "https://a.example/1", "a.example"),
            ("b.example", redirect + "b", "b.example"),
            ("A page", "https://www.c.example/c", "www.c.example"),
            ("Weather in Kyoto", redirect + "d", "vertexaisearch.cloud.google.com"),
        ):
            parsed = gemini.parse_search_response(
                answer("One.", {"groundingChunks": [chunk(url, title)]})
            )
            text = gemini.format_search_result(parsed)
            self.assertTrue(text.endswith(f"1. [{title}]({url}) ({shown})"), text)
        text = gemini.format_search_result(
            {"sources": [{"title": "T", "url": "https://d.example"}]}
        )
        self.assertTrue(text.endswith("1. [T](https://d.example) (d.example)"), text)


class ErrorHandling(GeminiCase):
    def test_quota_error_has_its_sentence(self) -> None:
        for key, kind in (
            ("quota-", "quota"), ("crowded-", "rate_limit"), ("limited-", "rate_limit"),
            ("unpaid-", "quota"), ("free-", "quota"),
        ):  # fmt: skip
            self.set_environment(GEMINI_API_KEY=key + CANARY)
            document = gemini.search("python", timeout=6, model="gemini-3.8-flash")
            with self.subTest(key):
                sentence = "Error: API quota exceeded. Try again later."
                self.assertEqual(document["error"], sentence)
                self.assertEqual(document["details"]["kind"], kind)
                self.assertRegex(document["details"]["provider_message"], "(?i)quota|exhausted")
        self.assertIn("with gemini-3.8-flash", document["details"]["hint"])

    def test_authentication_error_mentions_variable_and_file(self) -> None:
        for key in ("bad-", "mistyped-", "standard-", "leaked-", "disabled-"):
            self.server.clear()
            self.set_environment(GEMINI_API_KEY=key + CANARY)
            document = gemini.search("python")
            self.assertEqual(document["details"]["kind"], "auth")
            self.assertIn("GEMINI_API_KEY", document["error"])
            self.assertIn("secrets.yaml", document["error"])
            self.assertEqual(len(self.server.requests), 1)

    def test_timeout_error_says_so_and_suggests_more_time(self) -> None:
        self.set_environment(GEMINI_API_KEY=f"hang--{CANARY}" + CANARY)
        document = gemini.search("python", timeout=0.3)
        self.assertRegex(document["error"], r"timed out after 0\.3 s\. Try increasing timeout")
        self.assertIn("timeout, for example to 60 seconds", document["details"]["hint"])
        late = gemini.SearchError("timeout", "late", retryable=True)
        with mock.patch.object(gemini, "exchange", side_effect=late):
            document = gemini.search("python", timeout=500)
        self.assertIn("timeout, for example to 600 seconds", document["details"]["hint"])


class ApiKeyConfiguration(GeminiCase):
    def test_missing_key_raises_a_value_error_in_every_function(self) -> None:
        self.set_environment(GEMINI_API_KEY="")
        for function in EVERY_SEARCH:
            with self.assertRaisesRegex(ValueError, r"^GEMINI_API_KEY not set in secrets\.yaml$"):
                function("python")
        with self.assertRaisesRegex(ValueError, r"^GEMINI_API_KEY not set in secrets\.yaml$"):
            gemini.search_batch(["python"])

    def test_missing_key_raises_a_value_error_for_any_providers(self) -> None:
        for providers in ("gemini", "vertex", "vertex,gemini", "code-assist", "vertex,code-assist"):
            self.set_environment(GEMINI_API_KEY="", GEMINI_PROVIDERS=providers)
            for run in (lambda: gemini.search("python"), lambda: gemini.search_batch(["python"])):
                with (
                    self.subTest(providers),
                    self.assertRaisesRegex(
                        ValueError, r"^GEMINI_API_KEY not set in secrets\.yaml$"
                    ),
                ):
                    run()
        document = call_main(gemini, "python").document
        hint = document["details"]["hint"]
        self.assertIn("add gemini to GEMINI_PROVIDERS", hint)
        lacks = [attempt["lacks"] for attempt in document["details"]["attempts"]]
        self.assertEqual(len(lacks), 2)

    def test_command_line_error_has_variable_and_file_in_the_hint(self) -> None:
        self.set_environment(GEMINI_API_KEY="")
        for arguments in (["python"], ["dev", "python"], ["batch", "--query", "python"]):
            run = call_main(gemini, *arguments)
            self.assertEqual(run.code, 3)
            self.assertEqual(run.document["error"], "GEMINI_API_KEY not set in secrets.yaml")
            self.assertRegex(run.document["details"]["hint"], "variable GEMINI_API_KEY.*/secrets")

    def test_blank_input_has_its_sentences_on_the_command_line(self) -> None:
        for arguments, sentence in (
            ([], "query cannot be empty"),
            (["  "], "query cannot be empty"),
            (["search", "--query", ""], "query cannot be empty"),
            (["docs", ""], "query cannot be empty"),
            (["--params-json", '{"q": " "}'], "query cannot be empty"),
            (["batch"], "queries list cannot be empty"),
            (["batch", "--params-json", '{"queries": []}'], "queries list cannot be empty"),
        ):
            with self.subTest(arguments):
                run = call_main(gemini, *arguments)
                self.assertEqual((run.code, run.document["error"]), (2, sentence))

    def test_google_api_key_is_the_second_name_of_the_key(self) -> None:
        self.set_environment(GEMINI_API_KEY="", GOOGLE_API_KEY=f"good-second-{CANARY}")
        self.assertTrue(gemini.search("python")["ok"])
        self.assertEqual(self.server.requests[-1].header("x-goog-api-key"), f"good-second-{CANARY}")

    def test_the_key_is_read_from_secrets_yaml(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "secrets.yaml"
            path.write_text(f"GEMINI_API_KEY: good-file-{CANARY}\n")
            path.chmod(0o600)
            self.set_environment(GEMINI_API_KEY="", WEB_SEARCH_SECRETS=str(path))
            self.assertTrue(gemini.search("python")["ok"])
        self.assertEqual(self.server.requests[-1].header("x-goog-api-key"), f"good-file-{CANARY}")


class GroundingSearchLogging(GeminiCase):
    def all_logged(self, *arguments: str) -> list[dict[str, object]]:
        """All lines that a command logs."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "log"
            with mock.patch.dict("os.environ", WEB_SEARCH_LOG=str(path)):
                call_main(gemini, *arguments)
            return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

    def logged(self, *arguments: str) -> dict[str, object]:
        """The single line that a command logs."""
        (record,) = self.all_logged(*arguments)
        return record

    def test_search_logging_has_span_query_has_results_and_result_len(self) -> None:
        for command in ("search", "dev", "docs", "reddit"):
            record = self.logged(command, "sourdough")
            self.assertEqual(record["span"], f"ground.{command}")
            self.assertEqual((record["query"], record["hasResults"]), ("sourdough", True))
            text = call_main(gemini, command, "sourdough").document["text"]
            self.assertEqual(record["resultLen"], len(text))
            self.assertNotIn(CANARY, str(record))

    def test_error_logging_has_the_error_message(self) -> None:
        self.set_environment(GEMINI_API_KEY=f"bad--{CANARY}" + CANARY)
        record = self.logged("dev", "sourdough")
        self.assertEqual((record["span"], record["hasResults"]), ("ground.dev", False))
        self.assertIn("GEMINI_API_KEY", str(record["error"]))
        self.assertNotIn(CANARY, str(record))

    def test_failure_is_logged_even_if_a_later_try_succeeds(self) -> None:
        quota, overload = "API quota exceeded", "Google answered 503"
        for key, arguments, errors in (
            ("flaky", [], [overload, overload]),  # two tries fail, the third one answers
            ("quota", [], [quota]),  # vertex answers
            ("overloaded", [], [overload] * 3),
            ("free", [], [quota]),  # another model answers
            ("unthinking", [], ["thinking_level is not supported"]),
        ):
            self.set_environment(GEMINI_API_KEY=f"{key}-{CANARY}", VERTEX_API_KEY=f"good-{CANARY}")
            *failures, last = self.all_logged("sourdough", *arguments)
            with self.subTest(key):
                self.assertTrue(last["hasResults"])
                self.assertEqual(len(failures), len(errors), failures)
                for failure, error in zip(failures, errors, strict=True):
                    self.assertEqual(
                        (failure["span"], failure["query"], failure["hasResults"]),
                        ("ground.search", "sourdough", False),
                    )
                    self.assertIn(error, str(failure["error"]))
        self.set_environment(GEMINI_API_KEY=f"quota-{CANARY}", VERTEX_API_KEY=f"bad-{CANARY}")
        first, last = self.all_logged("sourdough")
        self.assertIn(quota, str(first["error"]))
        self.assertIn("No Providers Available: gemini: ", str(last["error"]))

    def test_nothing_is_logged_unasked(self) -> None:
        self.set_environment(GEMINI_API_KEY=f"flaky-{CANARY}")
        self.assertEqual(call_main(gemini, "sourdough").stderr, "")

    def test_sources_only_reports_the_length_of_the_backed_text(self) -> None:
        alone = self.logged("sourdough", "--output-format", "sources_only")
        text = self.logged("sourdough", "--output-format", "text_only")
        self.assertEqual(alone["resultLen"], text["resultLen"])
        self.assertNotIn("text", call_main(gemini, "x", "--output-format", "sources_only").document)


class CoreSearchTruths(GeminiCase):
    """The document and Markdown of a grounded search."""

    def test_search_performs_an_actual_grounded_search_through_the_api(self) -> None:
        text = gemini.execute_grounded_search("sourdough", "gemini", f"good-token-{CANARY}")
        (request,) = self.server.requests
        self.assertEqual(request.path, "/v1beta/models/gemini-3.8-flash:generateContent")
        self.assertEqual(request.json()["tools"], [{"googleSearch": {}}])
        self.assertIn("Sourdough is bread", text)

    def test_results_include_source_citations_with_titles_and_urls(self) -> None:
        text = gemini.search_with_fallback("sourdough")
        self.assertRegex(text, rf"(?m)^{LINK}$")

    def test_results_include_the_queries_google_actually_used(self) -> None:
        text = gemini.search_with_fallback("sourdough")
        self.assertIn('\n- "sourdough in detail"', text)

    def test_response_is_markdown_with_the_three_sections_in_order(self) -> None:
        headings = re.findall(r"(?m)^#+ .*$", gemini.search_with_fallback("sourdough"))
        self.assertEqual(headings, ["## Search Results", "### Sources", "### Search Queries Used"])

    def test_sections_without_content_are_omitted(self) -> None:
        found = answer("Only text.", {"searchEntryPoint": {"renderedContent": "<p>guide</p>"}})
        found["candidates"][0]["content"]["parts"] += [{"text": "hm", "thought": True}]
        text = gemini.format_search_result(gemini.parse_search_response(found))
        self.assertEqual(text, "## Search Results\n\nOnly text.")

    def test_parsing_takes_whatever_is_missing_as_empty(self) -> None:
        for data in ({}, {"candidates": None}, {"candidates": [None]}, [], None, {"response": {}}):
            result = gemini.parse_search_response(data)
            self.assertEqual((result["text"], result["sources"]), ("", []))
            self.assertEqual(result["search_queries"], [])

    def test_request_of_each_provider_is_the_one_it_takes(self) -> None:
        request = gemini.build_search_request("sourdough")
        self.assertEqual(request["headers"], {})
        self.assertIn("contents", request["json"])
        self.set_environment(GOOGLE_CLOUD_PROJECT="project-1")
        wrapped = gemini.build_search_request("sourdough", "code-assist")["json"]
        self.assertEqual(wrapped["model"], "gemini-3.8-flash")
        self.assertEqual(wrapped["project"], "project-1")
        self.assertEqual(wrapped["request"].keys(), request["json"].keys())
        vertex = gemini.build_search_request("sourdough", "vertex", {"model": "gemini-4-argon"})
        path = "/v1/projects/project-1/locations/global/publishers/google/models/gemini-4-argon"
        self.assertTrue(vertex["url"].endswith(path + ":generateContent"))

    def test_options_reach_the_request(self) -> None:
        options = {"thinking_level": "high", "include_thoughts": True}
        config = gemini.build_search_request("x", "gemini", options)["json"]["generationConfig"]
        self.assertEqual(
            config, {"thinkingConfig": {"includeThoughts": True, "thinkingLevel": "HIGH"}}
        )

    def test_error_responses_have_fixed_headings_and_start_no_login(self) -> None:
        for status, body, heading, word in (
            (401, "{}", "## Authentication Error", "GEMINI_API_KEY"),
            (403, "<html>no</html>", "## Authentication Error", "aistudio.google.com"),
            (429, "", "## Rate Limited", "Try again later"),
            (500, "", "## Search Error", "Try again later"),
            (418, "teapot", "## Search Error", "teapot"),
        ):
            text = gemini.format_error_response(status, body)
            with self.subTest(status):
                self.assertTrue(text.startswith(heading), text)
                self.assertIn(word, text)

    def test_refused_key_is_an_auth_error_despite_status_400(self) -> None:
        text = gemini.execute_grounded_search("sourdough", "gemini", f"bad-token-{CANARY}")
        self.assertTrue(text.startswith("## Authentication Error\n"), text)

    def test_refused_key_from_a_program_gets_the_variable_in_the_hint(
        self,
    ) -> None:
        for provider, variable, project in (
            ("gemini", "GEMINI_API_KEY", ""),
            ("vertex", "VERTEX_API_KEY", ""),
            ("vertex", "VERTEX_ACCESS_TOKEN", "p1"),
            ("code-assist", "CODE_ASSIST_ACCESS_TOKEN", ""),
        ):
            self.set_environment(GOOGLE_CLOUD_PROJECT=project)
            text = gemini.execute_grounded_search("sourdough", provider, f"bad-x-{CANARY}")
            with self.subTest(provider):
                self.assertTrue(text.startswith("## Authentication Error\n"), text)
                self.assertIn(f"the credential in {variable}:", text)
                self.assertIn(f"Check {variable} in the environment or in secrets.yaml", text)
                self.assertNotIn("access_token", text)

    def test_an_unknown_provider_is_named_with_the_known_ones(self) -> None:
        text = gemini.execute_grounded_search("sourdough", "bing", f"good-x-{CANARY}")
        self.assertRegex(text, "^## Search Error\n\nprovider must be one of .*gemini.*'bing'")
        self.assertEqual(self.server.requests, [])

    def test_every_failure_begins_with_one_of_the_four_headings(self) -> None:
        headings = r"## (Authentication Error|Rate Limited|Search Error|No Providers Available)\n"
        for key in ("bad", "quota", "overloaded", "blocked", "silent", "garbage", ""):
            self.set_environment(GEMINI_API_KEY=key and f"{key}-{CANARY}")
            text = gemini.search_with_fallback("sourdough", {"timeout": 5})
            self.assertRegex(text, "^" + headings)
            run = call_main(gemini, "sourdough", "--format", "markdown", "--timeout", "5")
            self.assertRegex(run.stdout.decode(), "^" + headings)
        run = call_main(gemini, "sourdough", "--no-such-flag", "--format", "markdown")
        self.assertRegex(run.stdout.decode(), "^## Search Error\n")

    def test_fallback_tries_the_next_configured_provider(self) -> None:
        self.set_environment(GEMINI_API_KEY=f"quota-x-{CANARY}", VERTEX_API_KEY=f"good-x-{CANARY}")
        text = gemini.search_with_fallback("sourdough")
        self.assertTrue(text.startswith("## Search Results\n\n> gemini was tried first: "), text)

    def test_if_all_providers_fail_the_error_lists_each_reason(self) -> None:
        self.set_environment(GEMINI_API_KEY=f"quota-x-{CANARY}", VERTEX_API_KEY=f"bad-x-{CANARY}")
        text = gemini.search_with_fallback("sourdough")
        self.assertTrue(text.startswith("## No Providers Available\n"), text)
        self.assertRegex(text, "(?m)^- gemini: Error: API quota exceeded")
        self.assertRegex(text, "(?m)^- vertex: Error: Google refused the credential in VERTEX_API")
        self.set_environment(GEMINI_API_KEY="")
        text = gemini.search_with_fallback("sourdough")
        self.assertTrue(text.startswith("## No Providers Available\n"), text)
        self.assertIn("- gemini: needs GEMINI_API_KEY\n- vertex: needs GOOGLE_CLOUD_PROJECT", text)


class Grounding(GeminiCase):
    """An answer without sources is retried once, with an instruction to search."""

    def search(self, key: str, **params: Any) -> dict[str, Any]:
        """The document of a search with a key that begins with this word."""
        self.server.clear()
        self.set_environment(GEMINI_API_KEY=f"{key}-{CANARY}")
        document: dict[str, Any] = gemini.run_search({"query": "sourdough", **params})
        return document

    def prompts(self) -> list[str]:
        """The prompts that were sent."""
        bodies = [request.json() for request in self.server.requests]
        return [body["contents"][0]["parts"][0]["text"] for body in bodies]

    def test_answer_without_a_search_is_retried_once_then_grounded(self) -> None:
        document = self.search("lazy")
        self.assertTrue(document["grounded"])
        self.assertTrue(document["sources"])
        self.assertNotIn("warnings", document)
        first, second = self.prompts()
        self.assertTrue(second.startswith(first), second)
        self.assertIn("Search Google for this before you answer", second.removeprefix(first))

    def test_first_prompt_counts_as_an_attempt_and_in_the_costs(self) -> None:
        once, twice = self.search("good"), self.search("lazy")
        self.assertNotIn("attempts", once)
        (attempt,) = twice["attempts"]
        self.assertEqual((attempt["provider"], attempt["kind"]), ("gemini", "no_results"))
        self.assertIn("without a search", attempt["error"])
        self.assertGreater(twice["usage"]["total_tokens"], 1.9 * once["usage"]["total_tokens"])
        self.assertEqual(self.search("sourceless")["billed_queries"], 2 * once["billed_queries"])
        text = gemini.to_markdown(twice)
        self.assertTrue(text.startswith("## Search Results\n\n> gemini was tried first: The model"))

    def test_one_that_stays_without_sources_is_given_with_a_warning(self) -> None:
        for shape in ("ungrounded", "sourceless", "hollow"):
            document = self.search(shape)
            with self.subTest(shape):
                self.assertEqual((document["ok"], document["grounded"]), (True, False))
                self.assertIn("Sourdough is bread", document["text"])
                self.assertTrue(document["warnings"])
                self.assertNotIn("attempts", document)
                reason = document["warnings"][0]
                self.assertEqual(gemini.to_markdown(document).count(reason), 1)
                self.assertEqual(len(self.server.requests), 2)

    def test_a_grounded_answer_is_asked_for_once(self) -> None:
        self.search("good")
        self.assertEqual(len(self.server.requests), 1)

    def test_failed_second_prompt_keeps_the_answer_and_the_deadline(self) -> None:
        started = time.monotonic()
        document = self.search("stubborn", timeout=1)
        self.assertLess(time.monotonic() - started, 1 + SLACK)
        self.assertEqual((document["ok"], document["grounded"]), (True, False))
        self.assertIn("Sourdough is bread", document["text"])
        (attempt,) = document["attempts"]
        self.assertEqual((attempt["provider"], attempt["kind"]), ("gemini", "timeout"))

    def test_require_grounding_makes_its_lack_an_error(self) -> None:
        for shape in ("ungrounded", "sourceless", "hollow"):
            key = f"{shape}-{CANARY}"
            run = self.run_script(SCRIPT, "sourdough", "--require-grounding", key=key)
            self.assertEqual((run.code, run.document["details"]["kind"]), (1, "no_results"))
            self.assertIn("not grounded", run.document["error"])
        self.assertTrue(self.search("lazy", require_grounding=True)["grounded"])


if __name__ == "__main__":
    unittest.main()
