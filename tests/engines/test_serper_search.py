"""scripts/serper_search.py: what it sends, what it makes of answers and errors, its batches."""

from __future__ import annotations

import itertools
import json
import os
import random
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.fake_server.corpus import CORPUS
from tests.fake_server.serper_results import place_ids
from tests.support import (
    CANARY,
    ROOT,
    SCRIPTS,
    CannedCase,
    EnvironmentCase,
    FakeServerCase,
    Run,
    call_main,
    clean_environment,
    load_script,
    mutations,
    run_script,
)

serper = load_script("serper_search")
COMMANDS = serper.COMMANDS
SCRIPT = "serper_search.py"
PLACE = place_ids(next(document for document in CORPUS.documents if document.place))
PAGE = next(document for document in CORPUS.documents if document.web).url


def serper_environment(url: str, key: str) -> dict[str, str]:
    """The variables that lead the script to a server: both of Serper's hosts are there."""
    return {"SERPER_BASE_URL": url, "SERPER_SCRAPE_BASE_URL": url, "SERPER_API_KEY": key}


class SerperCase(FakeServerCase):
    environment_of = staticmethod(serper_environment)

    def bodies(self) -> list[Any]:
        """The JSON body of every request that the server received."""
        return [request.json() if request.body else None for request in self.server.requests]

    def run_main(self, *words: str) -> Run:
        """Run the script in this process with the words of a command line."""
        return call_main(serper, *words)


class CannedSerperCase(CannedCase):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.environment = serper_environment(cls.server.url, "good-" + CANARY)


class ToolingSpecificationTest(SerperCase):
    """The scenarios of the document "Tooling Specification" that concern the script."""

    def test_successful_search_query_returns_the_top_5_with_title_link_and_snippet(self) -> None:
        run = self.run_script(SCRIPT, "guide")
        results = run.document["results"]
        self.assertEqual((run.code, run.document["ok"], len(results)), (0, True, 5))
        self.assertEqual([item["position"] for item in results], [1, 2, 3, 4, 5])
        for item in results:
            self.assertLessEqual(item.keys(), {"position", "title", "link", "snippet", "date"})
            self.assertTrue(item["title"] and item["snippet"])
            self.assertRegex(item["link"], r"^https://\S+$")

    def test_missing_api_key_is_an_error_message_and_nothing_is_sent(self) -> None:
        self.set_environment(SERPER_API_KEY="")
        runs = {command: self.run_main(*words_for(command)) for command in COMMANDS}
        runs["a process"] = self.run_script(SCRIPT, "guide", SERPER_API_KEY="")
        for command, run in runs.items():
            with self.subTest(command=command):
                self.assertEqual(run.code, 3)
                self.assertEqual(run.document["error"], "SERPER_API_KEY is not set")
                self.assertEqual(run.document["details"]["kind"], "auth")
                self.assertNotIn("results", run.document)
        self.assertEqual(self.server.requests, [])

    def test_api_request_failure_is_an_error_message_with_failure_details(self) -> None:
        run = self.run_script(SCRIPT, "guide", key="contact-" + CANARY)
        self.assertEqual((run.code, run.document["ok"]), (5, False))
        self.assertIn("Query not allowed. Contact support.", run.document["error"])
        self.assertEqual(run.document["details"]["status"], 400)

    def test_standard_library_usage_no_package_can_be_seen_and_none_is_needed(self) -> None:
        run = subprocess.run(
            [sys.executable, "-I", "-S", str(SCRIPTS / SCRIPT), "guide"],
            env=clean_environment(**self.environment),
            capture_output=True,
            check=False,
        )
        self.assertEqual((run.returncode, run.stderr), (0, b""))
        self.assertTrue(json.loads(run.stdout)["results"])

    def test_command_line_argument_handling_the_query_is_sent_as_it_is(self) -> None:
        hard = "\"a\" 'b' `touch x` $(touch y) \\ ; | & 京都 紅葉 العربية 😀\nnext line\tтаб %00 "
        query = (hard * 20)[:999] + "."
        with TemporaryDirectory() as folder:
            for words in ([query], ["--", query], ["--query", query], ["search", query]):
                self.server.clear()
                run = run_script(SCRIPT, *words, env=self.environment, cwd=folder)
                self.assertEqual(self.bodies(), [{"q": query, "num": 5}])
                self.assertEqual(run.document["query"], query)
            self.assertEqual(os.listdir(folder), [])

    def test_python_script_execution_takes_a_query_that_looks_like_a_flag(self) -> None:
        self.run_script(SCRIPT, "--", "--count")
        self.assertEqual(self.bodies(), [{"q": "--count", "num": 5}])

    def test_string_return_type_is_one_json_document_for_results_and_for_errors(self) -> None:
        for words in (["guide"], ["zzzqqq"], ["--no-such-flag"], [""], ["news"]):
            run = self.run_script(SCRIPT, *words)
            self.assertEqual(run.stdout.count(b"\n"), 1, words)
            self.assertIn("ok", run.document, words)


# ----- the wire

# Parameters that have no name on the wire, shown by tests of their own.
OWN = {"site", "exclude_site", "count", "input", "queries", "type", "related_searches"}
# What a text parameter takes; any other takes any text.
TEXTS = {
    "country": "de",
    "language": "pt-br",
    "tbs": "isz:l",
    "ll": "@52.5,-13.4,12z",
    "url": PAGE,
    "cid": PLACE["cid"],
    "fid": PLACE["fid"],
    "place_id": PLACE["placeId"],
    "next_page_token": "reviews-8",
}
NEEDED: dict[str, dict[str, Any]] = {
    "reviews": {"cid": PLACE["cid"], "count": 5},
    "lens": {"url": "https://photos.example.net/p/sourdough-crust.jpg"},
    "scrape": {"url": PAGE},
    "account": {},
    "batch": {"queries": ["guide", "sourdough"]},
    "autocomplete": {"query": "guide"},
}


def needed(command: str) -> dict[str, Any]:
    """The parameters without which a command does nothing."""
    return NEEDED.get(command, {"query": "sourdough coffee guide"})  # finds something of each kind


def words_for(command: str, **more: Any) -> list[str]:
    """A command line of a command with what it needs and more, as flags."""
    words = [command]
    for name, value in {**needed(command), **more}.items():
        flag = "--" + name.replace("_", "-")
        if isinstance(value, bool):
            words.append(flag if value else flag.replace("--", "--no-", 1))
        else:
            words += [f"{flag}={item}" for item in (value if isinstance(value, list) else [value])]
    return words


def sample(parameter: dict[str, Any]) -> tuple[Any, Any]:
    """A value of a parameter, and what is sent for it."""
    kind = parameter["type"]
    if kind == "since":
        return "week", "qdr:w"
    if kind == "bool":
        return False, False
    if kind == "int":
        value = max(parameter["min"], 3)
        return value, value
    value = parameter["choices"][-1] if "choices" in parameter else ""
    value = value or TEXTS.get(parameter["name"], "sample")
    return value, value


def wired() -> list[tuple[str, dict[str, Any]]]:
    """Every parameter of every command that is sent under a name of Serper's."""
    return [
        (command, parameter)
        for command, spec in COMMANDS.items()
        if command != "batch"
        for parameter in spec["params"]
        if parameter.get("wire")
    ]


class WireTest(SerperCase):
    """Every parameter of every command, read from the record of a server that takes no other."""

    def assert_sent(self, command: str, parameter: dict[str, Any], document: Any) -> None:
        """The last request is that of a sample, alone, and the strict server took it."""
        body = self.bodies()[-1]
        before = serper.wire_params(
            command, serper.check_params(command, COMMANDS[command], needed(command))
        )
        if command == "reviews" and parameter["name"] in ("fid", "place_id"):
            before = {}
        self.assertEqual(body, {**before, parameter["wire"]: sample(parameter)[1]})
        address = "/" if command == "scrape" else f"/{command}"
        self.assertEqual(self.server.requests[-1].target, address)
        kind = document.get("details", {}).get("kind", "no_results")
        self.assertEqual(kind, "no_results", document)

    def given(self, command: str, parameter: dict[str, Any]) -> dict[str, Any]:
        given = {**needed(command), parameter["name"]: sample(parameter)[0]}
        if command == "reviews" and parameter["name"] in ("fid", "place_id"):
            del given["cid"]
        if command == "maps" and parameter["name"] == "page":
            given["ll"] = TEXTS["ll"]
        return given

    def test_each_parameter_given_to_a_function_is_sent_under_its_name(self) -> None:
        for command, parameter in wired():
            if (command, parameter["name"]) == ("maps", "page"):
                continue  # it needs ll, too: a test of its own
            with self.subTest(command=command, parameter=parameter["name"]):
                document = serper.RUN[command](self.given(command, parameter))
                self.assert_sent(command, parameter, document)

    def test_each_flag_and_each_alias_is_sent_under_its_name(self) -> None:
        for command, parameter in wired():
            if (command, parameter["name"]) == ("maps", "page"):
                continue
            given = self.given(command, parameter)
            value = given.pop(parameter["name"])
            base = [word for word in words_for(command) if word.partition("=")[0][2:] in given]
            for name in (parameter["name"], *parameter.get("aliases", ())):
                flag = "--" + name.replace("_", "-")
                words = [flag] if value is True else [f"--no-{flag[2:]}"]
                words = words if isinstance(value, bool) else [flag, str(value)]
                with self.subTest(command=command, flag=flag):
                    run = self.run_main(command, *base, *words)
                    self.assert_sent(command, parameter, run.document)

    def test_each_parameter_given_as_json_is_sent_under_its_name(self) -> None:
        for command, parameter in wired():
            if (command, parameter["name"]) == ("maps", "page"):
                continue
            with self.subTest(command=command, parameter=parameter["name"]):
                given = json.dumps(self.given(command, parameter))
                run = self.run_main(command, "--params-json", given)
                self.assert_sent(command, parameter, run.document)

    def test_a_page_of_maps_is_sent_with_its_map_and_refused_without(self) -> None:
        self.run_main("maps", "coffee", "--page", "2", "--ll=52.5,-13.4")
        self.assertEqual(self.bodies(), [{"q": "coffee", "page": 2, "ll": "@52.5,-13.4,14z"}])
        run = self.run_main("maps", "coffee", "--page", "2")
        self.assertEqual((run.code, run.document["error"]), (2, "page 2 of maps needs ll."))
        self.assertEqual(len(self.server.requests), 1)

    def test_parameters_without_a_name_on_the_wire_are_the_ones_tested_by_name(self) -> None:
        for command, spec in COMMANDS.items():
            for parameter in spec["params"]:
                if not parameter.get("wire"):
                    self.assertIn(parameter["name"], OWN, command)

    def test_what_is_not_given_is_not_sent(self) -> None:
        for command in COMMANDS:
            self.run_main(*words_for(command))
        defaults = {"num", "includeMarkdown"}
        for body in self.bodies():
            for query in body if isinstance(body, list) else [body or {}]:
                self.assertLessEqual(query.keys() - defaults, {"q", "cid", "url"})

    def test_the_key_is_in_one_header_and_nowhere_else(self) -> None:
        for command in COMMANDS:
            self.run_main(*words_for(command))
        for request in self.server.requests:
            holders = [name for name, value in request.headers if CANARY in value]
            self.assertEqual([name.lower() for name in holders], ["x-api-key"])
            self.assertNotIn(CANARY, request.target + request.body.decode())
            self.assertEqual(request.method, "GET" if request.path == "/account" else "POST")

    def test_since_is_sent_as_googles_period_words_and_dates(self) -> None:
        table = {
            "hour": "qdr:h", "day": "qdr:d", "Week": "qdr:w", "month": "qdr:m", "year": "qdr:y",
            "d": "qdr:d", "qdr:m": "qdr:m",
            "2026-01-05..2026-11-30": "cdr:1,cd_min:1/5/2026,cd_max:11/30/2026",
            "2026-01-05to2026-01-05": "cdr:1,cd_min:1/5/2026,cd_max:1/5/2026",
        }  # fmt: skip
        for given, sent in table.items():
            with self.subTest(since=given):
                self.run_main("guide", "--since", given)
                self.assertEqual(self.bodies()[-1]["tbs"], sent)
        self.run_main("images", "mountain", "--tbs", "isz:l", "--since", "month")
        self.assertEqual(self.bodies()[-1]["tbs"], "isz:l,qdr:m")

    def test_since_keeps_only_pages_of_that_age(self) -> None:
        every = self.run_main("python", "--count", "10").document["results"]
        recent = self.run_main("python", "--count", "10", "--since", "week").document["results"]
        self.assertLess(len(recent), len(every))
        self.assertTrue(recent)

    def test_site_filters_become_operators_of_the_query(self) -> None:
        table = {
            ("--site", "a.com"): "guide site:a.com",
            ("--site", "a.com,b.org", "--site", "c.net"): (
                "guide (site:a.com OR site:b.org OR site:c.net)"
            ),
            ("--exclude-site", "a.com,b.org"): "guide -site:a.com -site:b.org",
            ("--site", "https://Docs.a.com/3/", "--exclude-site", "*.b.org"): (
                "guide site:Docs.a.com/3 -site:b.org"
            ),
            ("--site", ".gov"): "guide site:gov",
        }
        for words, sent in table.items():
            with self.subTest(words):
                self.run_main("guide", *words)
                self.assertEqual(self.bodies()[-1]["q"], sent)

    def test_site_filters_keep_and_drop_hosts(self) -> None:
        sites = "space.example.org,health.example.org"
        run = self.run_main("guide", "--site", sites, "--count", "10")
        hosts = {item["link"].split("/")[2] for item in run.document["results"]}
        self.assertEqual(hosts, set(sites.split(",")))
        run = self.run_main("guide", "--exclude-site", sites, "--count", "50")
        links = " ".join(item["link"] for item in run.document["results"])
        self.assertNotRegex(links, "space.example.org|health.example.org")

    def test_countries_and_languages_are_mended(self) -> None:
        self.run_main("guide", "--country", "UK", "--language", "pt_BR")
        self.assertEqual((self.bodies()[-1]["gl"], self.bodies()[-1]["hl"]), ("gb", "pt-br"))
        self.run_main("guide", "--gl", "JP", "--hl", "jp")
        self.assertEqual((self.bodies()[-1]["gl"], self.bodies()[-1]["hl"]), ("jp", "ja"))

    def test_a_request_asks_for_no_more_than_ten(self) -> None:
        for count in (1, 10, 11, 100):
            self.server.clear()
            self.run_main("guide", "--count", str(count))
            for body in self.bodies():
                self.assertEqual(body["num"], min(count, 10))

    def test_dry_run_shows_the_request_without_the_key_and_sends_nothing(self) -> None:
        for command in COMMANDS:
            with self.subTest(command=command):
                run = self.run_main(*words_for(command), "--dry-run")
                self.assertEqual((run.code, run.document["dry_run"]), (0, True))
                self.assertIn(self.server.url, json.dumps(run.document["request"]))
                self.assertNotIn(CANARY, run.stdout.decode())
        self.assertEqual(self.server.requests, [])
        run = self.run_main("guide", "--dry-run", "--since", "day", "--country=us")
        self.assertEqual(
            run.document["request"]["json"], {"q": "guide", "num": 5, "tbs": "qdr:d", "gl": "us"}
        )

    def test_dry_run_needs_no_key(self) -> None:
        self.set_environment(SERPER_API_KEY="")
        self.assertTrue(self.run_main("guide", "--dry-run").document["ok"])

    def test_without_variables_the_addresses_are_serpers(self) -> None:
        self.set_environment(SERPER_BASE_URL="", SERPER_SCRAPE_BASE_URL="")
        urls = {
            command: serper.build_request(command, {})["url"]
            for command in ("search", "news", "scrape", "account")
        }
        self.assertEqual(
            urls,
            {
                "search": "https://google.serper.dev/search",
                "news": "https://google.serper.dev/news",
                "scrape": "https://scrape.serper.dev/",
                "account": "https://google.serper.dev/account",
            },
        )


# command line -> what error and hint must say
REFUSED = {
    ("guide", "--country", "germany"): "country must be a two-letter .* not 'germany'.*ISO",
    ("guide", "--language", "german"): "language must be .* not 'german'",
    ("guide", "--since", "fortnight"): "since must be hour, day, .* not 'fortnight'",
    ("guide", "--since", "2026-02-30..2026-03-01"): "dates that exist, not '2026-02-30",
    ("guide", "--since", "2026-03-01..2026-02-01"): "earlier date comes first",
    ("guide", "--since", "day", "--tbs", "isz:l,qdr:w"): "both name a period",
    ("guide", "--count", "0"): "count must be a whole number from 1 to 100",
    ("guide", "--count", "101"): "from 1 to 100, not '101'",
    ("guide", "--page", "0"): "page must be",
    ("guide", "--site", "a b.com"): "site must be a host .* not 'a b.com'",
    ("guide", "--site", "a..com"): "site must be a host",
    ("guide", "--exclude-site", 'x"y'): "exclude_site must be a host",
    ("guide", "--safe", "strict"): "no filter for adult content",
    ("guide", "--counr", "3"): "nearest flag is --country",
    ("guide", "more words"): "single quotes",
    ("",): "query is blank",
    ("maps",): "search 'maps'",
    ("maps", "--country", "us"): "Give a query, a cid or a place_id",
    ("maps", "x", "--ll", "95,3"): "ll must be LAT,LONG .* not '95,3'",
    ("maps", "x", "--ll", "here"): "ll must be",
    ("maps", "x", "--location", "Berlin"): "maps takes a point, ll",
    ("reviews",): "Give one of cid, fid and place_id.*Give --cid: the command places lists it",
    ("reviews", "cafe"): "Give --cid: the command places lists it",
    ("reviews", "--cid", "1", "--fid", "0x1:0x2"): "Give one of",
    ("reviews", "--cid", "1", "--page", "2"): "go on with next_page_token",
    ("reviews", "--cid", "1", "--sort", "best"): "sort must be one of mostRelevant",
    ("lens", "cat.jpg"): "url must be a web address, not 'cat.jpg'",
    ("scrape", "example.com"): "https://example.com/page",
    ("scrape", "file:///etc/passwd"): "url must be a web address",
    ("scholar", "x", "--since", "year"): "filters by year: year_from, year_to",
    ("scholar", "x", "--freshness", "year"): "filters by year: year_from, year_to",
    ("guide", "--output-format", "markdown"): "The nearest flag is --format",
    ("scholar", "x", "--year-from", "soon"): "year_from must be",
    ("patents", "x", "--country", "us"): "all countries",
    ("places", "x", "--since", "day"): "cannot filter by age",
    ("shopping", "x", "--site", "a.com"): "search takes site",
    ("autocomplete", "x", "--page", "2"): "has no further result pages",
    ("account", "--count", "3"): "account has no flag '--count'",
    ("batch", "/no/such/file"): "could not be read.*one query a line",
    ("guide", "--language", "simple"): "no language 'simple'",
    ("batch", "--queries", "x", "--type", "scrape"): "type must be one of search",
    ("batch", "--queries", "x", "--type", "patents", "--since", "day"): "cannot filter by age",
    ("batch", "--queries", "x", "--country", "xxx"): "not 'xxx'",
    ("batch", "--count", "3"): "There is no query",
}


class RefusedInputTest(SerperCase):
    """Bad input is refused by name before anything is sent."""

    def test_each_message_names_the_value_and_says_what_to_do(self) -> None:
        for words, said in REFUSED.items():
            with self.subTest(words):
                run = self.run_main(*words)
                self.assertEqual(run.code, 2, run.stdout)
                self.assertEqual(run.document["details"]["kind"], "invalid_input")
                text = run.document["error"] + " " + run.document["details"].get("hint", "")
                self.assertRegex(text, "(?s)" + said)
        self.assertEqual(self.server.requests, [])

    def test_every_command_says_why_it_has_no_filter_for_adult_content(self) -> None:
        for command in set(COMMANDS) - {"account", "scrape"}:
            with self.subTest(command=command):
                run = self.run_main(*words_for(command), "--safe", "off")
                self.assertIn("no filter for adult content", run.document["details"]["hint"])

    def test_addresses_of_other_schemes_are_refused(self) -> None:
        for variable in ("SERPER_BASE_URL", "SERPER_SCRAPE_BASE_URL"):
            self.set_environment(**{variable: "http://serper.example.com"})
            command = "scrape" if "SCRAPE" in variable else "search"
            run = self.run_main(*words_for(command))
            self.assertEqual(run.code, 2)
            self.assertIn(variable, run.document["error"])


# ----- results


class ResultsTest(SerperCase):
    def test_each_command_returns_its_trimmed_fields(self) -> None:
        wanted = {
            "search": "position title link snippet date",
            "news": "position title link snippet date source",
            "images": "position title link image_url image_width image_height source",
            "videos": "position title link snippet date duration source channel",
            "places": "position title address rating rating_count category price_level "
            "phone_number website latitude longitude cid",
            "maps": "position title address rating rating_count type price_level phone_number "
            "website description opening_hours booking_links latitude longitude cid fid place_id",
            "reviews": "position rating date iso_date snippet likes user response",
            "shopping": "position title source link price delivery rating rating_count offers "
            "product_id",
            "lens": "position title source link image_url",
            "scholar": "position title link publication_info snippet year cited_by pdf_url id",
            "patents": "position title link snippet publication_number inventor assignee "
            "priority_date filing_date grant_date publication_date language pdf_url",
            "autocomplete": "position query",
        }
        for command, names in wanted.items():
            given = {**needed(command), "count": 8}
            if "query" in given:
                given["query"] = "sourdough"
            document = serper.RUN[command](given)
            with self.subTest(command=command):
                self.assertTrue(document["ok"], document)
                found = {name for item in document["results"] for name in item}
                self.assertEqual(found, set(names.split()))
                self.assertIsInstance(document["credits"], int)

    def test_search_shows_what_google_shows_besides_the_results(self) -> None:
        document = self.run_main("sourdough").document
        self.assertEqual(document["answer_box"]["link"], document["people_also_ask"][0]["link"])
        self.assertEqual(document["knowledge_graph"]["attributes"]["Type"], "Bread")
        self.assertNotIn("image_url", document["knowledge_graph"])
        self.assertIn("source", document["top_stories"][0])
        self.assertLessEqual({*document["people_also_ask"][0]}, {"question", "link"})
        self.assertNotIn("related_searches", document)
        document = self.run_main("sourdough", "--related-searches").document
        self.assertTrue(document["related_searches"])
        self.assertTrue(all(isinstance(text, str) for text in document["related_searches"]))

    def test_more_than_ten_results_are_merged_from_pages_without_doubles(self) -> None:
        document = self.run_main("guide", "--count", "25").document
        links = [item["link"] for item in document["results"]]
        self.assertEqual(len(links), len(set(links)))
        self.assertEqual(len(links), 25)
        self.assertEqual([item["position"] for item in document["results"]], [*range(1, 26)])
        self.assertEqual([body.get("page") for body in self.bodies()], [None, 2, 3])
        self.assertEqual(document["credits"], 3)

    def test_the_server_does_repeat_a_result_on_the_next_page(self) -> None:
        first = self.run_main("guide", "--count", "10").document["results"]
        second = self.run_main("guide", "--count", "10", "--page", "2").document["results"]
        self.assertEqual(first[-1]["link"], second[0]["link"])
        self.assertEqual((first[0]["position"], second[0]["position"]), (1, 11))

    def test_fetching_ends_when_a_page_brings_nothing_new(self) -> None:
        document = self.run_main("sourdough", "--count", "100").document
        self.assertEqual(len(document["results"]), 4)
        self.assertEqual(len(self.server.requests), 2)

    def test_results_are_cut_to_what_was_asked_for(self) -> None:
        for command in ("places", "scholar", "lens", "autocomplete", "reviews", "shopping"):
            given = {**needed(command), "count": 2}
            with self.subTest(command=command):
                self.assertEqual(len(serper.RUN[command](given)["results"]), 2)

    def test_a_further_page_of_maps_carries_the_map_of_the_first(self) -> None:
        document = serper.RUN["maps"]({"query": "coffee", "count": 40})
        self.assertEqual([body.get("ll") for body in self.bodies()], [None, document["ll"]])

    def test_reviews_follow_the_token_until_count(self) -> None:
        run = self.run_main("reviews", "--cid", PLACE["cid"], "--count", "20")
        self.assertEqual(len(run.document["results"]), 20)
        tokens = [body.get("nextPageToken") for body in self.bodies()]
        self.assertEqual(tokens, [None, "reviews-8", "reviews-16"])
        run = self.run_main("reviews", "--cid", PLACE["cid"], "--count", "3")
        self.assertEqual(run.document["next_page_token"], "reviews-8")
        self.assertEqual(run.document["results"][0]["user"], {"name": "Visitor 0", "reviews": 1})
        self.assertEqual(run.document["results"][0]["response"].keys(), {"date", "snippet"})

    def test_scrape_returns_markdown_or_text(self) -> None:
        document = self.run_main("scrape", PAGE).document
        self.assertTrue(document["markdown"].startswith("# "))
        self.assertNotIn("text", document)
        self.assertEqual((document["url"], document["credits"]), (PAGE, 2))
        document = self.run_main("scrape", PAGE, "--no-include-markdown").document
        self.assertNotIn("markdown", document)
        self.assertEqual(document["text"].splitlines()[0], document["title"])

    def test_a_text_that_is_none_is_shown_as_it_is(self) -> None:
        document = {"ok": True, "url": PAGE, "text": 7}  # of an API that has changed
        self.assertIn("7", serper.to_markdown(document))

    def test_account_shows_what_is_left_and_not_what_was_spent(self) -> None:
        run = self.run_main("account")
        self.assertEqual(
            run.document, {"ok": True, "provider": "serper", "balance": 2418, "rate_limit": 5}
        )
        run = self.run_script(SCRIPT, "account", key="empty-" + CANARY)
        self.assertEqual((run.code, run.document["balance"]), (0, 0))

    def test_nothing_found_is_no_results_with_exit_code_1(self) -> None:
        for command in ("search", "news", "places", "autocomplete", "patents"):
            run = self.run_main(command, "zzzqqq")
            with self.subTest(command=command):
                self.assertEqual((run.code, run.document["details"]["kind"]), (1, "no_results"))
                self.assertEqual(run.document["credits"], 1)

    def test_default_documents_stay_below_10000_characters(self) -> None:
        for command in COMMANDS:
            run = self.run_main(*words_for(command))
            self.assertLess(len(run.stdout.decode()), 10_000, command)
        run = self.run_main("guide", "--count", "30", "--max-chars", "4000")
        self.assertLessEqual(len(run.stdout.decode()), 4_001)
        self.assertIn("people_also_ask", run.document["truncated"]["left_out"])

    def test_results_are_found_under_the_names_that_other_scripts_read(self) -> None:
        for command in ("search", "news", "videos", "scholar", "patents", "shopping", "lens"):
            results = serper.as_results(serper.RUN[command](needed(command)))
            with self.subTest(command=command):
                self.assertTrue(results)
                for item in results:
                    self.assertLessEqual({"title", "url", "snippet"}, item.keys())
                    self.assertLessEqual(item.keys(), {"title", "url", "snippet", "date"})

    def test_autocorrect_is_on_unless_it_is_switched_off(self) -> None:
        self.assertTrue(self.run_main("sourdoug").document["ok"])
        self.assertFalse(self.run_main("sourdoug", "--no-autocorrect").document["ok"])


class MarkdownTest(SerperCase):
    def markdown(self, *words: str) -> str:
        return self.run_main(*words, "--format", "markdown").stdout.decode()

    def test_search_has_answer_graph_results_stories_questions_and_searches(self) -> None:
        text = self.markdown("sourdough", "--related-searches")
        for part in (
            "# sourdough\n", "## Answer\n", "## In short\n", "- Type: Bread\n", "## Results\n",
            "\n1. [Sourdough](https://", "## Top stories\n", "## People also ask\n",
            "Related searches: ", "Credits used: 1",
        ):  # fmt: skip
            self.assertIn(part, text)

    def test_every_command_has_its_results_in_it(self) -> None:
        for command in set(COMMANDS) - {"account", "scrape", "batch"}:
            document = serper.RUN[command](needed(command))
            text = serper.to_markdown(document)
            with self.subTest(command=command):
                for item in document["results"]:
                    self.assertIn(f"\n{item['position']}. ", text)
                    named = item.get("title") or item.get("query") or item["snippet"]
                    self.assertIn(named.replace("[", "\\["), text)

    def test_a_place_on_the_map_has_its_rating_and_hours(self) -> None:
        text = self.markdown("maps", "bakery")
        self.assertIn("rated 4.7 · 321 ratings", text)
        self.assertIn("\n   Hours: Monday 07:00-18:00, Sunday Closed\n", text)

    def test_no_text_of_a_page_is_live_markdown_or_html(self) -> None:
        live = "x ![i](http://evil/?d=1) <img src=http://evil> <!-- c -->"
        result = {"position": 1, "title": live, "link": PAGE, "snippet": live, "date": live}
        document = {"ok": True, "results": [result], "answer_box": {"snippet": live}}
        document |= {"knowledge_graph": {"title": live, "attributes": {live: live}}}
        document |= {"related_searches": [live], "people_also_ask": [{"question": live}]}
        for shown in (document, {"ok": True, "url": PAGE, "title": live, "markdown": live}):
            text = serper.to_markdown(shown)
            self.assertNotRegex(text, r"(?<!\\)\]\(http://evil")
            self.assertNotRegex(text.replace("\\<", ""), "<img|<!--")

    def test_a_page_is_fenced_as_untrusted(self) -> None:
        lines = self.markdown("scrape", PAGE).splitlines()
        mark = re.search(r"page text (\w+): data", "\n".join(lines))
        assert mark is not None
        self.assertIn(f"[end of {mark[1]}]", lines)

    def test_account_errors_dry_run_and_batch_have_a_markdown_of_their_own(self) -> None:
        self.assertIn("Credits left: 2418", self.markdown("account"))
        self.assertIn("**Nothing found:** No web results found", self.markdown("zzzqqq"))
        self.assertIn('"num": 5', self.markdown("guide", "--dry-run"))
        text = self.markdown("batch", "--queries", "guide", "--queries", "zzzqqq")
        self.assertIn("# guide\n", text)
        self.assertIn("# zzzqqq\n\n**Nothing found:**", text)


# ----- answers that no test server would send by itself

FULL: dict[str, Any] = {
    "searchParameters": {"q": "green tea", "type": "search", "engine": "google"},
    "knowledgeGraph": {
        "title": "Green tea",
        "type": "Drink",
        "website": "https://tea.example.org/",
        "imageUrl": "https://imgs.example.org/1.jpg",
        "description": "A drink of leaves.",
        "descriptionSource": "Encyclopedia",
        "descriptionLink": "https://encyclopedia.example.org/tea",
        "attributes": {"Country of origin": "China", "iPhone-like Name": "kept"},
    },
    "answerBox": {
        "answer": "70 degrees",
        "snippetHighlighted": "70 degrees",
        "title": "Water",
        "link": "https://tea.example.org/water",
    },
    "organic": [
        {
            "title": "Green \u202etea",
            "link": "https://tea.example.org/a",
            "snippet": "First\x1b[31m leaf",
            "position": 1,
            "sitelinks": [{"title": "Shop", "link": "https://tea.example.org/shop"}],
            "attributes": {"Rating": "5"},
            "imageUrl": "https://imgs.example.org/2.jpg",
        },
        {"title": "No snippet", "link": "https://tea.example.org/b", "date": "2026年4月23日"},
        {"title": "Same link", "link": "https://tea.example.org/a", "snippet": "again"},
        {"title": "No link", "snippet": "x"},
    ],
    "peopleAlsoAsk": [{"question": "How hot?", "snippet": "one\ntwo", "link": "https://t.example"}],
    "topStories": [{"title": "Harvest", "link": "https://n.example", "source": "News"}],
    "relatedSearches": [{"query": "black tea"}, {}],
    "credits": 1,
}


class AnswerTest(CannedSerperCase):
    """Answers that are recorded from nobody's server but this one's."""

    def search(self, body: Any, status: int = 200, command: str = "search") -> Any:
        self.server.status, self.server.body = status, body
        return serper.RUN[command](needed(command))

    def test_every_part_of_an_answer_is_read(self) -> None:
        document = self.search(FULL)
        self.assertEqual(
            document["results"],
            [
                {
                    "position": 1,
                    "title": "Green tea",
                    "link": "https://tea.example.org/a",
                    "snippet": "First leaf",
                },
                {
                    "position": 2,
                    "title": "No snippet",
                    "link": "https://tea.example.org/b",
                    "date": "2026年4月23日",
                },
                {"position": 3, "title": "No link", "snippet": "x"},
            ],
        )
        self.assertNotIn("snippet_highlighted", document["answer_box"])
        self.assertIn("iPhone-like Name", document["knowledge_graph"]["attributes"])
        self.assertNotIn("snippet", document["people_also_ask"][0])
        self.assertNotIn("related_searches", document)

    def test_organic_missing_null_or_empty_is_no_results_that_keeps_the_answer_box(self) -> None:
        changes: tuple[dict[str, Any], ...] = ({"organic": []}, {"organic": None}, {})
        for change in changes:
            body = {name: part for name, part in FULL.items() if name != "organic"} | change
            document = self.search(body)
            self.assertEqual(document["details"]["kind"], "no_results")
            self.assertEqual(document["answer_box"]["answer"], "70 degrees")

    def test_places_without_a_cid_are_told_apart_by_name_and_address(self) -> None:
        first, other = ({"title": "Tea", "address": road} for road in ("1 Road", "2 Road"))
        document = self.search({"places": [first, other, first]}, command="places")
        self.assertEqual([item["address"] for item in document["results"]], ["1 Road", "2 Road"])

    def test_credits_are_left_out_where_the_answer_does_not_name_them(self) -> None:
        body = {name: part for name, part in FULL.items() if name != "credits"}
        self.assertNotIn("credits", self.search(body))

    def test_every_known_error_body_has_its_kind_and_says_what_to_do(self) -> None:
        table = {
            (403, "Unauthorized."): ("auth", "serpapi.com"),
            (400, "Not enough credits"): ("quota", "Buy credits"),
            (400, "Query pattern not allowed for free accounts."): ("auth", "quotation marks"),
            (400, "Query not allowed. Contact support."): ("provider", "wait a minute"),
            (400, "Missing query parameter"): ("invalid_input", "Give a query"),
            (429, "Too many requests"): ("rate_limit", "Wait"),
            (403, "Something else"): ("auth", "serper.dev"),
            (400, "Something else"): ("provider", "another provider"),
            (500, "Internal error"): ("provider", "Try again later"),
        }
        for (status, message), (kind, said) in table.items():
            with self.subTest(message, status=status):
                document = self.search({"message": message, "statusCode": status}, status)
                self.assertFalse(document["ok"])
                self.assertEqual(document["details"]["kind"], kind)
                self.assertEqual(document["details"]["status"], status)
                self.assertIn(said, document["details"]["hint"])
                self.assertIn(message, document["error"])
                self.assertNotIn("{", document["error"])

    def test_an_error_in_the_body_of_a_good_status_is_no_empty_result(self) -> None:
        for command in set(COMMANDS) - {"account", "batch"}:
            with self.subTest(command=command):
                document = self.search({"message": "Not enough credits"}, command=command)
                self.assertEqual(document["details"]["kind"], "quota")
        document = self.search({"error": "The index is on fire"})
        self.assertEqual(document["details"]["kind"], "provider")
        self.assertIn("on fire", document["error"])

    def test_a_malformed_answer_is_an_error_of_the_provider(self) -> None:
        bodies: list[Any] = [[], "text", 5, None, {"organic": "text"}, {"organic": {"a": 1}}]
        for body in [*bodies, b"}{", b""]:
            with self.subTest(body):
                document = self.search(body)
                self.assertEqual(document["details"]["kind"], "provider", document)
                self.assertEqual(document["details"]["status"], 200)

    def test_an_account_without_a_balance_is_an_error(self) -> None:
        document = self.search({"credits": 3}, command="account")
        self.assertEqual(document["details"]["kind"], "provider")

    def test_a_page_without_text_is_no_results(self) -> None:
        for body in ({"text": ""}, {"credits": 1}, {"text": None, "markdown": ""}):
            document = self.search(body, command="scrape")
            self.assertEqual(document["details"]["kind"], "no_results")

    def test_a_key_that_the_answer_quotes_is_not_passed_on(self) -> None:
        key = "good-" + CANARY
        self.assertNotIn(CANARY, json.dumps(self.search({"message": f"bad key {key}"}, 400)))
        body = {"organic": [{"title": key, "link": "https://a.example"}]}
        self.assertNotIn(CANARY, json.dumps(self.search(body)))

    def test_broken_answers_of_every_command_give_a_document_and_markdown(self) -> None:
        random_source = random.Random(7)
        place = {"title": "Tea", "address": "1 Road", "cid": "5", "openingHours": {"Monday": "9"}}
        review = {"rating": 5, "snippet": "x", "user": {"name": "A"}, "response": {"snippet": "y"}}
        lists = {
            "organic": FULL["organic"],
            "news": FULL["organic"],
            "images": [{"title": "x", "imageUrl": "https://i.example/1.jpg", "link": "https://a"}],
            "videos": FULL["organic"],
            "places": [place],
            "reviews": [review],
            "shopping": [{"title": "x", "price": "$1", "link": "https://a.example"}],
            "suggestions": [{"value": "tea"}],
        }
        whole = {**FULL, **lists, "ll": "@1,2,3z", "topics": [{"id": "1"}], "nextPageToken": "t"}
        whole |= {"text": "a", "markdown": "b", "metadata": {"title": "c"}, "balance": 1}
        for command in set(COMMANDS) - {"batch"}:
            for broken in mutations(whole, random_source, 25):
                document = self.search(broken, command=command)
                with self.subTest(command=command, broken=broken):
                    kind = document.get("details", {}).get("kind", "")
                    self.assertIn(kind, ("", "no_results", "provider"), document)
                    json.dumps(document, allow_nan=False)
                    self.assertIsInstance(serper.to_markdown(document), str)
                    self.assertIsInstance(serper.as_results(document), list)


class LaterPageTest(CannedSerperCase):
    """A page that fails after others have come."""

    def test_what_was_paid_for_is_kept_and_the_failure_named(self) -> None:
        links = itertools.count()
        sent = []

        def report(text: str, done: int, total: int) -> None:
            sent.append((text, done, total))
            if done == 2:
                self.server.status = 400
                self.server.body = {"message": "Not enough credits", "statusCode": 400}

        organic = [{"title": "x", "link": f"https://a.example/{next(links)}"} for _ in range(10)]
        self.server.body = {"organic": organic, "credits": 1}
        document = serper.run_search({"query": "tea", "count": 30}, report)
        self.assertTrue(document["ok"])
        self.assertEqual((len(document["results"]), document["credits"]), (10, 1))
        self.assertIn("Only 10 of 30 results", document["warnings"][0])
        self.assertIn("no credits left", document["warnings"][0])
        self.assertEqual(sent, [("search result pages", 1, 3), ("search result pages", 2, 3)])


# Fault -> requests that are sent; a search that meets it succeeds if it is among PASSING.
FAULT_REQUESTS = {
    **dict.fromkeys(("bad", "unknown", "empty", "contact", "slow", "garbage", "huge", "bomb"), 1),
    **dict.fromkeys(("redirect", "drip", "hang"), 1),
    **dict.fromkeys(("busy", "flaky", "html", "trunc", "reset"), 3),
}
PASSING = ("busy", "flaky", "slow")
# Every fault is met by the default command, some by those that ask in another way.
FAULT_CASES = [
    *((fault, "search") for fault in FAULT_REQUESTS),
    *itertools.product(("bad", "redirect"), ("account", "scrape", "batch")),
    *itertools.product(("empty", "contact", "flaky", "hang", "garbage"), ("batch",)),
]


class FaultTest(SerperCase):
    """What the matrix of faults does not count: requests that are sent, and spans in the log."""

    def test_only_passing_faults_are_tried_again_and_each_call_is_one_span(self) -> None:
        def run(case: tuple[str, str]) -> str:
            fault, command = case
            log = Path(folder, f"{fault}-{command}")
            words = [*words_for(command), *(["--timeout=1.5"] if fault in ("drip", "hang") else [])]
            key = f"{fault}-{command}-{CANARY}"
            self.run_script(SCRIPT, *words, key=key, WEB_SEARCH_LOG=str(log))
            return log.read_text("utf-8")

        with TemporaryDirectory() as folder, ThreadPoolExecutor(4) as pool:
            logs = list(pool.map(run, FAULT_CASES))
        for (fault, command), log in zip(FAULT_CASES, logs, strict=True):
            with self.subTest(fault=fault, command=command):
                key = f"{fault}-{command}-{CANARY}"
                sent = [one for one in self.server.requests if one.header("X-API-KEY") == key]
                self.assertEqual(len(sent), FAULT_REQUESTS[fault])
                (record,) = map(json.loads, log.splitlines())
                self.assertEqual(record["span"], f"serper.{command}")
                self.assertEqual("error" in record, fault not in PASSING)


class FreeAccountTest(SerperCase):
    """A free account is refused some queries, and told what to change."""

    key = "pattern-" + CANARY

    def test_a_quoted_phrase_is_refused_with_what_to_change(self) -> None:
        run = self.run_main('"exact phrase"')
        self.assertEqual((run.code, run.document["details"]["kind"]), (3, "auth"))
        self.assertIn("Query pattern not allowed for free accounts.", run.document["error"])
        self.assertIn("quotation marks", run.document["details"]["hint"])

    def test_plain_words_and_more_than_ten_results_are_not_refused(self) -> None:
        run = self.run_main("guide", "--count", "25", "--site", "example.org")
        self.assertTrue(run.document["ok"])

    def test_in_a_batch_only_the_refused_query_fails(self) -> None:
        queries = ["--queries=guide", '--queries="exact phrase"', "--queries=python"]
        document = self.run_main("batch", *queries).document
        self.assertEqual([item["ok"] for item in document["results"]], [True, False, True])
        self.assertIn("free account", document["results"][1]["error"])
        sizes = [len(body) for body in self.bodies()]
        self.assertEqual(sizes, [3, 1, 1, 1])


# ----- batch


class BatchTest(SerperCase):
    def setUp(self) -> None:
        super().setUp()
        folder = TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def file(self, text: str) -> str:
        path = self.folder / "queries.txt"
        path.write_text(text, encoding="utf-8")
        return str(path)

    def test_a_file_of_lines_and_objects_is_answered_in_order(self) -> None:
        lines = [
            "sourdough", "", '{"query": "guide", "count": 2, "since": "year"}', "  zzzqqq  ",
            '{"q": "python", "sinse": "day"}', "{broken", '{"query": "x", "page": 0}', "guide",
        ]  # fmt: skip
        document = self.run_main("batch", self.file("\n".join(lines)), "--count", "3").document
        items = document["results"]
        self.assertEqual([item["ok"] for item in items], [*(True, True), *[False] * 4, True])
        self.assertEqual([items[index]["query"] for index in (0, 1, 2, 6)],
                         ["sourdough", "guide", "zzzqqq", "guide"])  # fmt: skip
        self.assertEqual([len(items[index]["results"]) for index in (0, 1, 6)], [3, 2, 3])
        kinds = [item["details"]["kind"] for item in items[2:6]]
        self.assertEqual(kinds, ["no_results", *["invalid_input"] * 3])
        self.assertIn("nearest parameter is since", items[3]["details"]["hint"])
        self.assertIn("{broken", items[4]["error"])
        self.assertEqual((document["failed"], document["credits"]), (4, 4))
        self.assertEqual(
            self.bodies(),
            [
                [
                    {"q": "sourdough", "num": 3},
                    {"q": "guide", "num": 2, "tbs": "qdr:y"},
                    {"q": "zzzqqq", "num": 3},
                    {"q": "guide", "num": 3},
                ]
            ],
        )

    def test_limits_of_the_whole_batch_are_refused_in_one_query(self) -> None:
        lines = [
            '{"query": "guide", "max_chars": 300}',
            '{"query": "guide", "timeout": 5}',
            "guide",
        ]
        items = self.run_main("batch", self.file("\n".join(lines))).document["results"]
        self.assertIn("max_chars is for the whole batch", items[0]["error"])
        self.assertIn("timeout is for the whole batch", items[1]["error"])
        self.assertTrue(items[2]["ok"])

    def test_standard_input_a_json_array_and_flags_are_read_alike(self) -> None:
        text = "guide\nsourdough\n"
        array = json.dumps(["guide", {"query": "sourdough"}])
        documents = [
            run_script(SCRIPT, "batch", "@-", env=self.environment, stdin=text).document,
            self.run_main("batch", self.file(text)).document,
            self.run_main("batch", self.file(array)).document,
            self.run_main("batch", "--query", "guide", "--queries", "sourdough").document,
            serper.run_batch({"queries": ["guide", "sourdough"]}),
        ]
        for document in documents:
            self.assertEqual(document["results"], documents[0]["results"])
        self.assertEqual(len(documents[0]["results"]), 2)

    def test_a_file_and_queries_may_be_given_together(self) -> None:
        path = self.file("python")
        text = json.dumps({"input": path, "queries": "sourdough"})
        many = json.dumps({"input": path, "queries": ["guide", "sourdough"]})
        for words, queries in (
            ([path, "--queries", "guide", "--queries", "sourdough"], ["guide", "sourdough"]),
            (["--params-json", many], ["guide", "sourdough"]),
            (["--params-json", text], ["sourdough"]),
        ):
            with self.subTest(words):
                results = self.run_main("batch", *words).document["results"]
                self.assertEqual([item["query"] for item in results], [*queries, "python"])

    def test_a_file_without_queries_is_refused(self) -> None:
        for text in ("", "\n \n", "[]"):
            run = self.run_main("batch", self.file(text))
            self.assertEqual((run.code, run.document["details"]["kind"]), (2, "invalid_input"))
            self.assertIn("holds no query", run.document["error"])

    def test_a_request_holds_at_most_100_queries_and_order_is_kept(self) -> None:
        queries = [f"guide {number}" for number in range(230)]
        progress: list[tuple[int, int]] = []
        document = serper.run_batch(
            {"queries": queries, "max_chars": 0},
            lambda _, done, total: progress.append((done, total)),
        )
        self.assertEqual([len(body) for body in self.bodies()], [100, 100, 30])
        self.assertEqual([item["query"] for item in document["results"]], queries)
        self.assertEqual(progress, [(100, 230), (200, 230), (230, 230)])
        self.assertEqual(document["credits"], 230)

    def test_jsonl_prints_one_document_a_line_in_order(self) -> None:
        path = self.file("guide\n{bad\nzzzqqq\nsourdough")
        run = self.run_script(SCRIPT, "batch", path, "--jsonl")
        documents = [json.loads(line) for line in run.stdout.decode().splitlines()]
        self.assertEqual(run.code, 0)
        self.assertEqual([one["ok"] for one in documents], [True, False, False, True])
        self.assertEqual([one["query"] for one in documents],
                         ["guide", "{bad", "zzzqqq", "sourdough"])  # fmt: skip
        self.assertEqual({one["provider"] for one in documents}, {"serper"})

    def test_jsonl_goes_into_a_file_whole(self) -> None:
        out = self.folder / "out.jsonl"
        path = self.file("\n".join(f"guide {number}" for number in range(120)))
        run = self.run_script(SCRIPT, "batch", path, "--jsonl", "--output", str(out))
        self.assertEqual(run.document["bytes"], out.stat().st_size)
        lines = out.read_text(encoding="utf-8").splitlines()
        self.assertEqual([json.loads(line)["query"] for line in lines],
                         [f"guide {number}" for number in range(120)])  # fmt: skip

    def test_a_document_is_given_as_soon_as_it_and_those_before_it_are_there(self) -> None:
        seen: list[tuple[str, int]] = []
        queries = ["{bad", *(f"guide {number}" for number in range(150))]
        serper.run_batch(
            {"queries": queries},
            None,
            lambda _, document: seen.append((document["query"], len(self.server.requests))),
        )
        self.assertEqual([query for query, _ in seen], queries)
        self.assertEqual(seen[0][1], 0)
        self.assertEqual([requests for _, requests in seen[1:]], [1] * 100 + [2] * 50)

    def test_more_than_ten_results_of_a_query_take_their_pages_in_the_same_array(self) -> None:
        given = {"queries": ["guide", "sourdough"], "count": 20, "max_chars": 0}
        document = serper.run_batch(given)
        pages = [(body["q"], body.get("page")) for body in self.bodies()[0]]
        self.assertEqual(
            pages, [("guide", None), ("guide", 2), ("sourdough", None), ("sourdough", 2)]
        )
        links = [item["link"] for item in document["results"][0]["results"]]
        self.assertEqual(len(links), len(set(links)))
        self.assertGreater(len(links), 15)

    def test_every_type_asks_its_own_endpoint(self) -> None:
        parameters = {item["name"]: item for item in COMMANDS["batch"]["params"]}
        for command in parameters["type"]["choices"]:
            self.server.clear()
            query = needed(command)["query"]
            item = serper.run_batch({"queries": [query], "type": command})["results"][0]
            with self.subTest(command=command):
                self.assertEqual([one.path for one in self.server.requests], [f"/{command}"])
                alone = serper.RUN[command]({"query": query})
                self.assertTrue(alone["ok"])
                self.assertEqual(item["results"], alone["results"])

    def test_shared_parameters_are_sent_with_every_query_that_does_not_say_otherwise(self) -> None:
        words = ["--country", "de", "--site", "example.org", "--since", "year"]
        line = '{"query": "guide", "gl": "us", "since": "week"}'
        self.run_main("batch", "--queries", "guide", "--queries", line, *words)
        sent = self.bodies()[0]
        self.assertEqual([one["gl"] for one in sent], ["de", "us"])
        self.assertEqual([one["tbs"] for one in sent], ["qdr:y", "qdr:w"])
        self.assertEqual({one["q"] for one in sent}, {"guide site:example.org"})

    def test_a_batch_whose_results_cannot_fit_is_refused_before_it_costs_anything(self) -> None:
        path = self.file("\n".join(f"guide {number}" for number in range(21)))
        run = self.run_main("batch", path)
        self.assertEqual(run.code, 2)
        self.assertIn("21 queries do not fit 9000 characters", run.document["error"])
        self.assertIn("--max-chars 0, or --output or --jsonl", run.document["details"]["hint"])
        self.assertEqual(self.server.requests, [])
        for text, count in (("guide\n" * 1_001, 10), ("guide\n" * 101, 100)):
            words = ["--count", str(count), "--max-chars", "0"]
            run = self.run_main("batch", self.file(text), *words)
            self.assertIn("at most 1000 result pages", run.document["error"])
        self.assertEqual(self.server.requests, [])

    def test_a_document_that_is_too_long_is_cut_from_every_query_alike(self) -> None:
        path = self.file("\n".join(f"guide {number}" for number in range(15)))
        run = self.run_main("batch", path, "--count", "10")
        self.assertLessEqual(len(run.stdout.decode()), 9_001)
        self.assertEqual(len(run.document["results"]), 15)
        counts = [len(item["results"]) for item in run.document["results"]]
        self.assertGreaterEqual(min(counts), 1)
        self.assertLessEqual(max(counts) - min(counts), 1)
        self.assertEqual(run.document["truncated"]["items_dropped"], {"results": 150 - sum(counts)})
        self.assertIn("people_also_ask", run.document["truncated"]["left_out"])
        self.assertIn("--max-chars", run.document["truncated"]["hint"])

    def test_with_jsonl_the_document_of_each_query_is_fitted_alone(self) -> None:
        path = self.file("\n".join(f"guide {number}" for number in range(31)))
        run = self.run_script(
            SCRIPT, "batch", path, "--count", "10", "--max-chars", "1500", "--jsonl"
        )
        lines = run.stdout.decode().splitlines()
        self.assertEqual((run.code, len(lines)), (0, 31))
        for line in lines:
            extra = len(json.dumps({"input": json.loads(line)["input"]}))
            self.assertLessEqual(len(line) - extra, 1_500)
            self.assertGreater(len(line), 1_000)
            self.assertIn("--max-chars", json.loads(line)["truncated"]["hint"])

    def test_if_nothing_worked_the_first_error_is_that_of_the_document(self) -> None:
        run = self.run_main("batch", "--queries", "zzzqqq", "--queries", "{bad")
        self.assertEqual((run.code, run.document["details"]["kind"]), (1, "no_results"))
        self.assertEqual(len(run.document["results"]), 2)

    def test_a_refused_key_and_used_up_credits_end_the_sending(self) -> None:
        queries = [f"guide {number}" for number in range(250)]
        for fault, kind in (("bad", "auth"), ("empty", "quota")):
            self.server.clear()
            self.set_environment(SERPER_API_KEY=f"{fault}-{CANARY}")
            document = serper.run_batch({"queries": queries, "max_chars": 0})
            with self.subTest(fault):
                self.assertEqual(len(self.server.requests), 1)
                kinds = {item["details"]["kind"] for item in document["results"]}
                self.assertEqual((kinds, len(document["results"])), ({kind}, 250))

    def test_files_are_read_for_the_command_line_only(self) -> None:
        document = serper.run_batch({"input": self.file("guide")})
        self.assertEqual(document["details"]["kind"], "invalid_input")
        self.assertIn("command line only", document["error"])
        self.assertIs(serper.RUN["batch"], serper.run_batch)
        self.assertEqual(self.server.requests, [])

    def test_dry_run_shows_every_request(self) -> None:
        path = self.file("\n".join(f"guide {number}" for number in range(150)))
        run = self.run_main("batch", path, "--dry-run", "--max-chars", "0")
        requests = run.document["request"]
        self.assertEqual([len(one["json"]) for one in requests], [100, 50])
        self.assertEqual(self.server.requests, [])

    def test_progress_is_shown_on_a_terminal_only(self) -> None:
        path = self.file("guide\nsourdough")
        self.assertEqual(self.run_script(SCRIPT, "batch", path).stderr, "")
        reading, writing = os.openpty()
        run = subprocess.run(
            [sys.executable, str(SCRIPTS / SCRIPT), "batch", path],
            env=clean_environment(**self.environment),
            stdout=subprocess.PIPE,
            stderr=writing,
            check=False,
        )
        os.close(writing)
        shown = os.read(reading, 1_000)
        os.close(reading)
        self.assertIn(b"search queries (2 of 2)", shown)
        self.assertEqual(len(json.loads(run.stdout)["results"]), 2)


class BatchAnswerTest(CannedSerperCase):
    """Answers to an array that fit it badly."""

    def test_an_error_object_in_the_array_is_the_error_of_its_own_query(self) -> None:
        good = {"organic": [{"title": "x", "link": "https://a.example"}], "credits": 1}
        refused = {"message": "Query pattern not allowed for free accounts.", "statusCode": 400}
        self.server.body = [good, refused, 5, good]
        document = serper.run_batch({"queries": ["a", "b", "c", "d"]})
        items = document["results"]
        self.assertEqual([item["ok"] for item in items], [True, False, False, True])
        self.assertEqual(items[1]["details"]["kind"], "auth")
        self.assertEqual(items[2]["details"]["kind"], "provider")
        self.assertEqual((document["credits"], document["failed"]), (2, 2))

    def test_an_array_of_another_length_or_an_object_is_an_error_of_the_provider(self) -> None:
        bodies: tuple[Any, ...] = ([], [{"organic": []}], {"organic": []}, "text")
        for body in bodies:
            self.server.body = body
            document = serper.run_batch({"queries": ["a", "b"]})
            with self.subTest(body):
                self.assertEqual(document["details"]["kind"], "provider")
                self.assertEqual(len(document["results"]), 2)

    def test_broken_arrays_give_a_document(self) -> None:
        good = {"organic": [{"title": "x", "link": "https://a.example"}], "credits": 1}
        for broken in mutations([good, good], random.Random(11), 100):
            self.server.body = broken
            document = serper.run_batch({"queries": ["a", "b"]})
            with self.subTest(broken):
                kind = document.get("details", {}).get("kind", "")
                self.assertIn(kind, ("", "no_results", "provider"), document)
                self.assertEqual([item["query"] for item in document["results"]], ["a", "b"])


# ----- the fake server's own strictness, on which the tests of the wire rest


class ReferenceTest(EnvironmentCase):
    text = "".join(
        (ROOT / f"references/{name}.md").read_text(encoding="utf-8")
        for name in ("serper_search", "scale")
    )

    def test_every_command_and_every_field_of_a_result_stands_in_it(self) -> None:
        for command in COMMANDS:
            self.assertRegex(self.text, rf"(?m)^## .*\b{command}\b")
        words = set(re.findall(r"""[`"](\w+)[`"]""", self.text))
        for command, answer in serper.ANSWERS.items():
            for name in answer["fields"].split():
                shown = "query" if command == "autocomplete" else serper.snake_case(name)
                self.assertIn(shown, words, command)

    def test_every_parameter_stands_in_the_section_of_its_command(self) -> None:
        sections = re.split(r"(?m)^## ", self.text)
        for command, spec in COMMANDS.items():
            section = next(one for one in sections if re.match(rf".*\b{command}\b", one))
            if spec["params"] == COMMANDS["news"]["params"]:
                self.assertIn("same parameters as `search`", section)
                continue
            if f"serper_search.py {command} --help" in section:
                continue  # of a rarely used command: its help is the table
            for parameter in spec["params"]:
                self.assertIn(f"`{parameter['name']}`", section, command)

    def test_every_message_of_an_error_stands_in_it(self) -> None:
        for fragment in serper.MESSAGES:
            self.assertIn(fragment, self.text.lower())


class ReferenceExamplesTest(SerperCase):
    def test_every_example_works_as_it_stands(self) -> None:
        text = ReferenceTest.text.replace("docs.python.org", "python.example.org")
        blocks = re.findall(r"```bash\n(.*?)```", text, re.DOTALL)
        lines = [line for block in blocks for line in block.splitlines()]
        commands = set()
        for line in lines:
            words = shlex.split(line)
            if SCRIPT not in line or "|" in line:
                continue  # another script's
            commands.add(words[3])
            with self.subTest(line):
                self.assertEqual(words[2], f"/path/to/web-search/scripts/{SCRIPT}")
                run = self.run_main(*words[3:])
                self.assertEqual((run.code, run.stderr), (0, ""), run.stdout)
        self.assertLessEqual(set(COMMANDS) - {"search"}, commands)
