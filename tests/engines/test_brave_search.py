"""What scripts/brave_search.py sends and what it refuses to send, and its summarizer."""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import re
import time
import unittest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, NamedTuple

from tests.fake_server import brave_parameters as api
from tests.support import CANARY, SLACK, FakeServerCase, call_main, load_script, run_script

brave = load_script("brave_search")
COMMANDS = brave.COMMANDS
INVALID = (2, "invalid_input")  # exit code and kind


class Sent(NamedTuple):
    """A sample of a parameter: what is given, and what must be seen on the wire because of it.

    seen: API name -> texts of the query, "header:NAME" -> text, "body:NAME[.NAME]" -> JSON value.
    path: where another endpoint than the command's own is asked. drops: what then is not sent.
    """

    given: dict[str, Any]
    seen: dict[str, Any]
    path: str = ""
    drops: tuple[str, ...] = ()


def sent(name: str, value: Any, wire: str = "", text: Any = None) -> Sent:
    """A sample that is sent under one name as one text."""
    return Sent({name: value}, {wire or name: [str(value)] if text is None else [text]})


def switch(name: str, wire: str = "") -> Sent:
    """A sample of a boolean."""
    return Sent({name: True}, {wire or name: ["true"]})


def member(name: str, value: Any, wire: str = "") -> Sent:
    """A sample that goes into a JSON body with its type."""
    return Sent({name: value}, {"body:" + (wire or name): value})


def unsent(name: str, value: Any) -> Sent:
    """A sample of what only this script uses."""
    return Sent({name: value}, {})


SITES = "$discard\n$site=docs.python.org\n$site=peps.python.org"
LOCATION = {
    "lat": Sent({"lat": 52.52}, {"header:X-Loc-Lat": "52.52"}),
    "long": Sent({"long": -13.4}, {"header:X-Loc-Long": "-13.4"}),
    "city": Sent({"city": "Los Angeles"}, {"header:X-Loc-City": "Los Angeles"}),
    "state": Sent({"state": "CA"}, {"header:X-Loc-State": "CA"}),
    "state_name": Sent({"state_name": "New York"}, {"header:X-Loc-State-Name": "New York"}),
    "location_country": Sent({"location_country": "DE"}, {"header:X-Loc-Country": "DE"}),
    "postal_code": Sent({"postal_code": "10115"}, {"header:X-Loc-Postal-Code": "10115"}),
    "timezone": Sent({"timezone": "Europe/Berlin"}, {"header:X-Loc-Timezone": "Europe/Berlin"}),
}
SHARED = {
    "query": Sent({"query": "café & crème"}, {"q": ["café & crème"]}),
    "count": sent("count", 3),
    "offset": sent("offset", 2),
    "since": sent("since", "week", "freshness", "pw"),
    "country": sent("country", "DE"),
    "language": sent("language", "de", "search_lang"),
    "ui_lang": sent("ui_lang", "de-DE"),
    "safe": sent("safe", "strict", "safesearch"),
    "site": sent("site", ["docs.python.org", "peps.python.org"], "goggles", SITES),
    "exclude_site": sent("exclude_site", ["w3.org"], "goggles", "$discard,site=w3.org"),
    "extra_snippets": switch("extra_snippets"),
    "goggles": Sent(
        {"goggles": ["https://goggles.example.org/a.goggle", "$boost=3,site=docs.rs"]},
        {"goggles": ["https://goggles.example.org/a.goggle", "$boost=3,site=docs.rs"]},
    ),
    "spellcheck": switch("spellcheck"),
    "text_decorations": switch("text_decorations"),
    "units": sent("units", "imperial"),
    "operators": switch("operators"),
    "include_fetch_metadata": switch("include_fetch_metadata"),
    "raw": unsent("raw", True),
    **LOCATION,
}
LANG = sent("language", "de", "lang")
PLACE_ID = "loc4EXAMPLEEXAMPLEEXAMPLE="


def shared(names: str) -> dict[str, Sent]:
    """The samples of parameters that several commands take."""
    return {name: SHARED[name] for name in names.split()}


# Every parameter of every command; a new one needs an entry here.
SAMPLES: dict[str, dict[str, Sent]] = {
    "web": {
        **shared("query count offset since country language ui_lang safe site exclude_site"),
        "result_filter": sent("result_filter", ["web", "faq"], text="web,faq"),
        "summary": switch("summary"),
        **shared("extra_snippets goggles spellcheck text_decorations units operators"),
        **shared("include_fetch_metadata raw"),
        **LOCATION,
        "enable_rich_callback": switch("enable_rich_callback"),
    },
    "summarizer": {
        "key": Sent({}, {}),  # always given: it is in the base request
        "query": Sent({"query": "sourdough bread"}, {}, drops=("key",)),
        "entity_info": switch("entity_info"),
        "inline_references": switch("inline_references"),
        "poll_interval_ms": unsent("poll_interval_ms", 1),
        "max_attempts": unsent("max_attempts", 30),
    },
    "context": {
        **shared("query count since country language safe site exclude_site goggles spellcheck"),
        "max_tokens": sent("max_tokens", 2048, "maximum_number_of_tokens"),
        "max_urls": sent("max_urls", 4, "maximum_number_of_urls"),
        "max_snippets": sent("max_snippets", 9, "maximum_number_of_snippets"),
        "max_tokens_per_url": sent("max_tokens_per_url", 600, "maximum_number_of_tokens_per_url"),
        "max_snippets_per_url": sent(
            "max_snippets_per_url", 5, "maximum_number_of_snippets_per_url"
        ),
        "threshold": sent("threshold", "lenient", "context_threshold_mode"),
        "enable_local": switch("enable_local"),
        "enable_source_metadata": switch("enable_source_metadata"),
        **{name: sample for name, sample in LOCATION.items() if name != "timezone"},
    },
    "news": {
        **shared("query count offset since country language ui_lang safe site exclude_site"),
        **shared("extra_snippets goggles spellcheck operators include_fetch_metadata raw"),
    },
    "images": shared("query count country language safe spellcheck raw"),
    "videos": {
        **shared("query count offset since country language ui_lang safe spellcheck operators"),
        **shared("include_fetch_metadata raw"),
    },
    "places": {
        **shared("query count country language ui_lang units safe spellcheck raw"),
        "location": sent("location", "berlin germany"),
        "lat": Sent({"lat": 52.5, "long": 13.4}, {"latitude": ["52.5"], "longitude": ["13.4"]}),
        "long": Sent({"lat": -1.5, "long": -9.25}, {"latitude": ["-1.5"], "longitude": ["-9.25"]}),
        "radius": sent("radius", 500.0),
        "geoloc": sent("geoloc", "52.5x13.4"),
        "ids": Sent(
            {"ids": [PLACE_ID, "loc4OTHER="]},
            {"ids": [PLACE_ID, "loc4OTHER="]},
            brave.PATHS["pois"],
            ("q", "count"),
        ),
        "descriptions": unsent("descriptions", True),
    },
    "rich": {"callback_key": Sent({}, {})},
    "suggest": {**shared("query count country"), "language": LANG, "rich": switch("rich")},
    "spellcheck": {**shared("query country"), "language": LANG},
    "answers": {
        "query": member("query", "what is sourdough", "messages.0.content"),
        "model": member("model", "brave-pro"),
        "citations": member("citations", True, "enable_citations"),
        "entities": member("entities", True, "enable_entities"),
        "research": Sent(
            {"research": True}, {"body:enable_research": True}, drops=("body:enable_citations",)
        ),
        "country": member("country", "DE"),
        "language": member("language", "de"),
        "safe": member("safe", "strict", "safesearch"),
        "max_completion_tokens": member("max_completion_tokens", 200),
        "seed": member("seed", 7),
        "search_context_size": member(
            "search_context_size", "low", "web_search_options.search_context_size"
        ),
        "research_allow_thinking": member("research_allow_thinking", True),
        **{
            f"research_max_{name}": member(
                f"research_max_{name}", value, f"research_maximum_number_of_{name}"
            )
            for name, value in {
                "tokens_per_query": 2048,
                "queries": 3,
                "iterations": 2,
                "seconds": 30,
                "results_per_query": 10,
            }.items()
        },
    },
}
RICH_KEY = b"weather:weather in paris".hex()
# What must be given to a command, and all that it then sends.
BASE: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "summarizer": ({}, {}),  # its key comes from the server: SampleCase.setUp
    "rich": ({"callback_key": RICH_KEY}, {"callback_key": [RICH_KEY]}),
    "spellcheck": ({"query": "bread"}, {"q": ["bread"]}),
    "answers": (
        {"query": "bread"},
        {
            "body:messages": [{"role": "user", "content": "bread"}],
            "body:model": "brave",
            "body:enable_citations": True,
        },
    ),
}
USUAL_BASE = ({"query": "bread"}, {"q": ["bread"], "count": ["10"]})
HEADERS_OF_THE_CLIENT = {
    "accept", "accept-encoding", "connection", "content-length", "content-type", "host",
    "user-agent", "x-subscription-token",
}  # fmt: skip


def base(command: str) -> tuple[dict[str, Any], dict[str, Any]]:
    return BASE.get(command, USUAL_BASE)


def flags(command: str, given: dict[str, Any]) -> list[str]:
    """Given parameters as flags of a command line."""
    words: list[str] = []
    for name, value in given.items():
        flag = "--" + name.replace("_", "-")
        if isinstance(value, bool):
            words.append(flag if value else flag.replace("--", "--no-", 1))
        else:
            items = value if isinstance(value, list) else [value]
            words += [f"{flag}={item}" for item in items]
    return [command, *words]


class SampleCase(FakeServerCase):
    """Reads the fake server's record in the form of SAMPLES."""

    def setUp(self) -> None:
        super().setUp()
        answer = brave.issue_request("web", {"query": "sourdough bread", "summary": True})
        self.summarizer_key = answer["summarizer"]["key"]
        self.server.clear()

    def given_and_seen(self, command: str, name: str) -> tuple[dict[str, Any], dict[str, Any]]:
        """What to give for one sample, and everything that must then be sent."""
        given, seen = base(command)
        if command == "summarizer":
            given, seen = {"key": self.summarizer_key}, {"key": [self.summarizer_key]}
        sample = SAMPLES[command][name]
        dropped = {"q": "query"}
        for wire in sample.drops:
            given = {key: given[key] for key in given if key != dropped.get(wire, wire)}
            seen = {key: seen[key] for key in seen if key != wire}
        return {**given, **sample.given}, {**seen, **sample.seen}

    def seen(self, index: int = -1) -> dict[str, Any]:
        """Everything that a recorded request carried, besides what every client sends."""
        self.assertTrue(self.server.requests, "nothing was sent")
        request = self.server.requests[index]
        found: dict[str, Any] = dict(request.query)
        for name, value in request.headers:
            if name.lower() not in HEADERS_OF_THE_CLIENT:
                found[f"header:{name}".lower()] = value
        if request.body:
            found |= {f"body:{name}": value for name, value in request.json().items()}
        return found

    def assert_seen(self, expected: dict[str, Any], index: int = -1) -> None:
        """The request carried what is expected, and nothing else."""
        wanted: dict[str, Any] = {}
        for name, value in expected.items():
            outer, dot, inner = name.partition(".")
            if name.startswith("header:"):
                wanted[name.lower()] = value
            elif outer == "body:messages" and dot:
                wanted[outer] = [{"role": "user", "content": value}]
            elif dot:
                wanted[outer] = {inner: value}
            else:
                wanted[name] = value
        self.assertEqual(self.seen(index), wanted)

    def assert_sample(self, command: str, name: str, document: dict[str, Any]) -> None:
        """The last request is that of a sample, and the strict server took it."""
        _, seen = self.given_and_seen(command, name)
        paths = [request.path for request in self.server.requests]
        if command == "summarizer" and name == "query":
            self.assert_seen({"q": ["sourdough bread"], "summary": ["true"]}, 0)
            seen = {"key": [self.summarizer_key]}
        self.assertTrue(paths, document)
        if command == "places" and name == "descriptions":
            self.assertEqual(paths.pop(), brave.PATHS["descriptions"])
        self.assert_seen(seen, len(paths) - 1)
        self.assertEqual(paths[-1], SAMPLES[command][name].path or brave.PATHS[command])
        if not document["ok"]:
            self.assertEqual(document["details"]["kind"], "no_results", document)


class WireTest(SampleCase):
    """Every parameter of every command, read from the server's record."""

    def test_the_table_of_samples_has_every_parameter_of_every_command_and_no_other(self) -> None:
        self.assertEqual(set(SAMPLES), set(COMMANDS))
        for command, spec in COMMANDS.items():
            names = {parameter["name"] for parameter in spec["params"]}
            self.assertEqual(set(SAMPLES[command]), names, command)

    def test_each_parameter_given_to_a_function_is_sent_alone_under_its_name(self) -> None:
        for command, name in self.samples():
            with self.subTest(command=command, parameter=name):
                self.server.clear()
                document = brave.RUN[command](self.given_and_seen(command, name)[0])
                self.assert_sample(command, name, document)

    def test_each_flag_is_sent_alone_under_its_name(self) -> None:
        for command, name in self.samples():
            with self.subTest(command=command, parameter=name):
                self.server.clear()
                words = flags(command, self.given_and_seen(command, name)[0])
                self.assert_sample(command, name, call_main(brave, *words).document)

    def test_each_parameter_given_as_json_is_sent_alone_under_its_name(self) -> None:
        for command, name in self.samples():
            with self.subTest(command=command, parameter=name):
                self.server.clear()
                given = json.dumps(self.given_and_seen(command, name)[0])
                run = call_main(brave, command, "--params-json", given)
                self.assert_sample(command, name, run.document)

    def test_each_alias_and_short_flag_means_its_parameter(self) -> None:
        for command, spec in COMMANDS.items():
            for parameter in spec["params"]:
                name = parameter["name"]
                spellings = [*parameter.get("aliases", ()), *parameter.get("flags", ())]
                for spelling in spellings:
                    with self.subTest(command=command, spelling=spelling):
                        self.server.clear()
                        given = self.given_and_seen(command, name)[0]
                        value = given.pop(name)
                        words = flags(command, given)
                        if spelling.startswith("-"):
                            words += [spelling, str(value)]
                        else:
                            words += flags(command, {spelling: value})[1:]
                        run = call_main(brave, *words)
                        self.assert_sample(command, name, run.document)

    def test_a_positional_word_is_the_query_or_the_key(self) -> None:
        for command, spec in COMMANDS.items():
            first = next((one for one in spec["params"] if one.get("positional")), None)
            if first is None:
                continue
            with self.subTest(command=command):
                self.server.clear()
                given = self.given_and_seen(command, first["name"])[0]
                run = call_main(brave, command, given[first["name"]])
                self.assert_sample(command, first["name"], run.document)

    def test_without_parameters_only_query_and_count_are_sent(self) -> None:
        for command in set(COMMANDS) - {"summarizer"}:
            with self.subTest(command=command):
                self.server.clear()
                given, seen = base(command)
                brave.RUN[command](given)
                self.assert_seen(seen)

    def test_booleans_are_sent_in_lower_case_and_can_be_switched_off(self) -> None:
        for command, name in self.samples():
            table = {one["name"]: one for one in COMMANDS[command]["params"]}
            if table[name]["type"] != "bool" or not table[name].get("wire"):
                continue
            with self.subTest(command=command, parameter=name):
                self.server.clear()
                given = {**self.given_and_seen(command, name)[0], name: False}
                call_main(brave, *flags(command, given))
                seen = self.seen()
                wire = table[name]["wire"]
                value = seen.get(wire, [seen.get(f"body:{wire}")])
                self.assertEqual(value, [False] if command == "answers" else ["false"])

    def test_null_empty_text_and_empty_lists_mean_not_given(self) -> None:
        empty: tuple[Any, ...] = (None, "", [])
        for command, value in itertools.product(set(COMMANDS) - {"summarizer"}, empty):
            self.server.clear()
            given, seen = base(command)
            nothing = {one["name"]: value for one in COMMANDS[command]["params"]}
            brave.RUN[command]({**nothing, **given})
            with self.subTest(command=command, value=value):
                self.assert_seen(seen)

    def test_empty_text_and_empty_lists_in_json_mean_not_given(self) -> None:
        empty = '{"query": "bread", "result_filter": [], "goggles": "", "site": [], "since": ""}'
        run = self.run_script("brave_search.py", "web", "--params-json", empty)
        self.assertEqual(run.code, 0, run.document)
        self.assert_seen({"q": ["bread"], "count": ["10"]})

    def test_the_key_and_what_is_accepted_are_in_the_headers_and_not_in_the_address(self) -> None:
        brave.run_web_search({"query": "bread"})
        request = self.server.requests[0]
        self.assertEqual(request.header("X-Subscription-Token"), self.key)
        self.assertEqual(request.header("Accept"), "application/json")
        self.assertEqual(request.header("Accept-Encoding"), "gzip")
        self.assertNotIn(self.key, request.target)

    def test_answers_are_asked_for_by_post_and_the_rest_by_get(self) -> None:
        for command in set(COMMANDS) - {"summarizer"}:
            self.server.clear()
            brave.RUN[command](base(command)[0])
            method = "POST" if command == "answers" else "GET"
            self.assertEqual(self.server.requests[0].method, method, command)

    def test_each_plan_has_its_own_key_and_falls_back_to_the_search_key(self) -> None:
        variables = {
            "answers": "BRAVE_ANSWERS_API_KEY",
            "suggest": "BRAVE_SUGGEST_API_KEY",
            "spellcheck": "BRAVE_SPELLCHECK_API_KEY",
        }
        own = {name: f"good-own-{command}-{CANARY}" for command, name in variables.items()}
        self.set_environment(**own)
        for command in ("web", *variables):
            self.server.clear()
            brave.RUN[command](base(command)[0])
            sent_key = self.server.requests[0].header("X-Subscription-Token")
            self.assertEqual(sent_key, own.get(variables.get(command, ""), self.key))

    def test_brave_api_key_is_the_second_name_of_the_key(self) -> None:
        self.set_environment(BRAVE_SEARCH_API_KEY="", BRAVE_API_KEY=f"good-second-{CANARY}")
        brave.run_web_search({"query": "bread"})
        self.assertEqual(
            self.server.requests[0].header("X-Subscription-Token"), f"good-second-{CANARY}"
        )

    def samples(self) -> list[tuple[str, str]]:
        return [(command, name) for command, table in SAMPLES.items() for name in table]


class WireRuleTest(SampleCase):
    """Rules of the request that are no plain name and value."""

    def sent_for(self, command: str = "web", **given: Any) -> dict[str, Any]:
        """What one call sent."""
        self.server.clear()
        brave.RUN[command]({"query": "bread", **given})
        self.assertEqual(len(self.server.requests), 1)
        return self.seen()

    def test_summary_drops_result_filter(self) -> None:
        seen = self.sent_for(summary=True, result_filter=["web", "news"])
        self.assertEqual(seen, {"q": ["bread"], "count": ["10"], "summary": ["true"]})

    def test_summary_switched_off_keeps_result_filter(self) -> None:
        seen = self.sent_for(summary=False, result_filter=["web", "news"])
        self.assertEqual((seen["summary"], seen["result_filter"]), (["false"], ["web,news"]))

    def test_result_filter_takes_a_list_text_with_commas_and_repeated_flags(self) -> None:
        for given in (["web", "faq"], "web,faq", " Web , FAQ ", ["web,faq"]):
            self.assertEqual(self.sent_for(result_filter=given)["result_filter"], ["web,faq"])
        call_main(brave, "web", "bread", "--result-filter", "web", "--result-filter", "faq")
        self.assertEqual(self.seen()["result_filter"], ["web,faq"])

    def test_since_becomes_freshness_in_every_spelling(self) -> None:
        spellings = {
            "pd": ("day", "Day", " day ", "pd", "PD"),
            "pw": ("week", "pw"),
            "pm": ("month", "pm"),
            "py": ("year", "py", "YEAR"),
            "2024-02-29to2024-03-01": ("2024-02-29..2024-03-01", "2024-02-29to2024-03-01"),
            "2024-05-05to2024-05-05": ("2024-05-05..2024-05-05",),
        }
        for command in ("web", "context", "news", "videos"):
            for wire, words in spellings.items():
                for name, word in itertools.product(("since", "freshness"), words):
                    seen = self.sent_for(command, **{name: word})
                    self.assertEqual(seen["freshness"], [wire], (command, name, word))

    def test_country_and_language_are_mended_to_what_the_api_takes(self) -> None:
        mended: dict[str, tuple[str, dict[str, str]]] = {
            "country": (
                "country",
                {"us": "US", "Us": "US", "uk": "GB", "UK": "GB", "all": "ALL", "gr": "GR"},
            ),
            "language": (
                "search_lang",
                {
                    "EN": "en", "ja": "jp", "JA": "jp", "jp": "jp", "ja-JP": "jp", "zh": "zh-hans",
                    "zh-CN": "zh-hans", "zh-TW": "zh-hant", "no": "nb", "pt-BR": "pt-br",
                    "en-US": "en", "uk": "uk",
                },
            ),
            "ui_lang": ("ui_lang", {"de-de": "de-DE", "EN-us": "en-US"}),
            "safe": ("safesearch", {"Strict": "strict", "OFF": "off"}),
        }  # fmt: skip
        for name, (wire, spellings) in mended.items():
            for spelling, text in spellings.items():
                seen = self.sent_for(**{name: spelling})
                self.assertEqual(seen[wire], [text], (name, spelling))

    def test_a_query_reaches_the_server_character_by_character(self) -> None:
        for query in ("a+b&c=d#e%20", "日本語 パン", '"quoted" -minus', "line\nbreak", "😀 ‍"):
            self.assertEqual(self.sent_for(query=query)["q"], [query.strip()])

    def test_goggles_are_repeated_and_inline_rules_are_kept(self) -> None:
        rules = ["https://goggles.example.org/one", "$boost=2,site=a.org\n$discard,site=b.org"]
        self.assertEqual(self.sent_for(goggles=rules)["goggles"], rules)
        self.assertEqual(self.sent_for(goggles=rules[1])["goggles"], rules[1:])

    def test_goggles_that_are_not_https_are_left_out_with_a_warning(self) -> None:
        good, bad = "https://goggles.example.org/a", "http://goggles.example.org/b"
        for command in ("web", "context", "news"):
            for given in ([bad, good], [good, " FTP://x.example/b "], [bad, good, bad]):
                self.server.clear()
                words = [word for goggle in given for word in ("--goggles", goggle)]
                run = call_main(brave, command, "bread", *words)
                with self.subTest(command=command, goggles=given):
                    self.assertEqual(self.seen()["goggles"], [good])
                    left_out = [repr(goggle.strip()) for goggle in given if goggle != good]
                    warning = f"Left out goggles that are not https: {', '.join(left_out)}."
                    self.assertEqual(run.document["warnings"], [warning])
                    self.assertIn(f"> {warning}", brave.to_markdown(run.document))

    def test_a_site_filter_is_sent_if_all_goggles_are_left_out(self) -> None:
        given = {"query": "bread", "goggles": ["http://goggles.example.org/a"], "site": "a.org"}
        document = brave.run_web_search(given)
        self.assertEqual(self.seen()["goggles"], ["$discard\n$site=a.org"])
        self.assertIn("http://goggles.example.org/a", document["warnings"][0])

    def test_result_filter_takes_rich(self) -> None:
        run = call_main(brave, "web", "bread", "--result-filter", "web,rich")
        self.assertEqual((run.code, self.seen()["result_filter"]), (0, ["web,rich"]))

    def test_site_filters_become_one_inline_goggle(self) -> None:
        for command in ("web", "context", "news"):
            seen = self.sent_for(
                command,
                site="Docs.Python.org, https://peps.python.org/",
                exclude_site=["w3.org", "spam.example"],
                goggles="https://goggles.example.org/one",
            )
            excluded = "$discard,site=w3.org\n$discard,site=spam.example"
            expected = ["https://goggles.example.org/one", f"{SITES}\n{excluded}"]
            self.assertEqual(seen["goggles"], expected)

    def test_site_filters_are_obeyed_by_the_results(self) -> None:
        found = brave.run_web_search({"query": "sourdough bread", "site": "example.org"})
        self.assertTrue(all(".example.org/" in one["url"] for one in found["web_results"]), found)
        found = brave.run_web_search({"query": "sourdough bread", "exclude_site": "example.org"})
        urls = [one["url"] for one in found["web_results"]]
        self.assertTrue(urls and not any(".example.org/" in url for url in urls), urls)

    def test_goggles_flag_reads_rules_from_a_file_and_from_stdin(self) -> None:
        rules = "! my rules\n$discard,site=b.org\n"
        with TemporaryDirectory() as folder:
            file = Path(folder) / "rules.goggle"
            file.write_text(rules, encoding="utf-8")
            call_main(brave, "web", "bread", "--goggles", f"@{file}")
            self.assertEqual(self.seen()["goggles"], [rules.strip()])
        self.server.clear()
        words = ("web", "bread", "--goggles", "@-")
        run_script("brave_search.py", *words, env=self.environment, stdin=rules)
        self.assertEqual(self.seen()["goggles"], [rules.strip()])

    def test_twenty_place_ids_go_into_one_request(self) -> None:
        ids = [f"loc{number}" for number in range(20)]
        brave.run_places({"ids": ids, "language": "de", "ui_lang": "de-DE", "units": "metric"})
        self.assertEqual(self.server.requests[0].path, brave.PATHS["pois"])
        expected = {"ids": ids, "search_lang": ["de"], "ui_lang": ["de-DE"], "units": ["metric"]}
        self.assertEqual(self.seen(), expected)

    def test_place_ids_take_the_location_as_headers_from_which_distances_are_given(self) -> None:
        brave.run_places({"ids": PLACE_ID, "lat": 52.5, "long": 13.4})
        expected = {"ids": [PLACE_ID], "header:X-Loc-Lat": "52.5", "header:X-Loc-Long": "13.4"}
        self.assert_seen(expected)

    def test_place_descriptions_are_asked_for_the_ids_that_were_found(self) -> None:
        found = brave.run_places({"location": "berlin", "descriptions": True})
        ids = [place["id"] for place in found["results"]]
        self.assertEqual(self.server.requests[1].path, brave.PATHS["descriptions"])
        self.assert_seen({"ids": ids})

    def test_a_flag_wins_over_params_json(self) -> None:
        given = '{"q": "bread", "num": 3, "gl": "fr"}'
        call_main(brave, "web", "--query", "rolls", "--count", "5", "--params-json", given)
        self.assertEqual(self.seen(), {"q": ["rolls"], "count": ["5"], "country": ["FR"]})

    def test_issue_request_takes_the_names_of_endpoints(self) -> None:
        answer = brave.issue_request("web", {"query": "bread", "count": None, "summary": True})
        self.assert_seen({"q": ["bread"], "summary": ["true"]})
        self.assertEqual(answer["type"], "search")
        self.server.clear()
        brave.issue_request("summarizer", {"key": answer["summarizer"]["key"]})
        self.assert_seen({"key": [answer["summarizer"]["key"]]})

    def test_issue_request_leaves_out_goggles_that_are_not_https_and_warns(self) -> None:
        good, bad = ["https://goggles.example.org/a", "$boost=2,site=a.org"], "http://x.example/b"
        stderr = io.StringIO()
        with contextlib.redirect_stderr(stderr):
            brave.issue_request("web", {"query": "bread", "goggles": [good[0], bad, good[1]]})
            brave.issue_request("web", {"query": "bread", "goggles": good[0]})
        self.assertEqual(self.seen(0)["goggles"], good)
        self.assertEqual(self.seen(1)["goggles"], good[:1])
        warning = f"warning: Left out goggles that are not https: {bad!r}.\n"
        self.assertEqual(stderr.getvalue(), warning)

    def test_issue_request_refuses_goggles_of_which_none_is_https(self) -> None:
        for goggles in ("http://x.example/a", ["http://x.example/a", "ftp://x.example/b"]):
            with self.assertRaises(brave.SearchError) as caught:
                brave.issue_request("web", {"query": "bread", "goggles": goggles})
            self.assertEqual(caught.exception.kind, "invalid_input")
            self.assertIn("'http://x.example/a'", caught.exception.message)
        self.assertEqual(self.server.requests, [])

    def test_issue_request_raises_the_error_of_the_api(self) -> None:
        with self.assertRaises(brave.SearchError) as caught:
            brave.issue_request("web", {"query": "bread", "count": "many"})
        self.assertEqual((caught.exception.kind, len(self.server.requests)), ("invalid_input", 1))
        self.assertIn("count", caught.exception.message)


class ApiDefaultTest(unittest.TestCase):
    """What Brave assumes for a parameter that is not sent, against the fake server's tables."""

    TABLES: ClassVar = {
        "web": api.WEB, "summarizer": api.SUMMARIZER, "context": api.CONTEXT, "news": api.NEWS,
        "images": api.IMAGES, "videos": api.VIDEOS, "places": api.PLACES, "rich": api.RICH,
        "suggest": api.SUGGEST, "spellcheck": api.SPELLING, "answers": api.ANSWERS,
    }  # fmt: skip
    # Where Brave's documents name no fixed value.
    DESCRIBED: ClassVar = {"units", "threshold", "enable_local", "result_filter"}

    def test_every_default_of_the_api_is_in_the_table_of_parameters(self) -> None:
        for command, table in self.TABLES.items():
            defaults = {
                name: None if value is api.REQUIRED else value for name, value in table.items()
            }
            for parameter in COMMANDS[command]["params"]:
                if parameter["wire"] in defaults and parameter["name"] not in self.DESCRIBED:
                    with self.subTest(command=command, parameter=parameter["name"]):
                        default = defaults[parameter["wire"]]
                        if isinstance(default, bool):
                            default = str(default).lower()
                        expected = None if default in ("", ()) else default
                        self.assertEqual(parameter["api_default"], expected)

    def test_help_shows_it_unless_the_script_sends_a_default_of_its_own(self) -> None:
        for command, spec in COMMANDS.items():
            text = call_main(brave, command, "--help").stdout.decode()
            for parameter in spec["params"]:
                name, known = parameter["name"].replace("_", "-"), parameter["api_default"]
                [line] = re.findall(rf"(?m)^  (?:-\w, )?--{name}[, :].*", text)
                if {"default", "documented_default"} & parameter.keys():
                    known = None  # the script's own default is a part of the help
                shown = [] if known in (None, "false") else [f"default: {known})"]
                with self.subTest(command=command, parameter=name):
                    found = re.findall(r"[(; ](default: .*\))$", line)
                    self.assertEqual([] if known is None else found, shown)

    def test_help_is_the_commands_and_the_flags_of_web_in_few_characters(self) -> None:
        text = call_main(brave, "--help").stdout.decode()
        self.assertLess(len(text), 3_500)
        for command in COMMANDS:
            self.assertIn(f"\n  {command}: ", text)
        self.assertIn("--since, --freshness PERIOD: age of pages: day, week, month, year, 7d", text)
        for command, bounds in (
            ("context", "--max-tokens, --maximum-number-of-tokens N: .*, 1024 to 32768 "),
            ("answers", "--research-max-seconds, .*, 1 to 300 "),
        ):
            text = call_main(brave, command, "--help").stdout.decode()
            self.assertRegex(text, f"(?m)^  {bounds}")


class DryRunTest(FakeServerCase):
    """--dry-run."""

    def tearDown(self) -> None:
        self.assertEqual(self.server.requests, [])

    def test_every_command_shows_its_request_without_the_key_and_sends_nothing(self) -> None:
        given = {command: base(command)[0] for command in COMMANDS} | {"summarizer": {"key": "k"}}
        for command in COMMANDS:
            with self.subTest(command=command):
                words = flags(command, given[command])
                run = call_main(brave, *words, "--dry-run")
                self.assertEqual((run.code, run.document["dry_run"]), (0, True), run)
                address = self.server.url + brave.PATHS[command]
                self.assertTrue(run.document["request"]["url"].startswith(address))
                self.assertNotIn(self.key.encode(), run.stdout)

    def test_it_needs_no_key(self) -> None:
        self.set_environment(BRAVE_SEARCH_API_KEY="")
        self.assertEqual(call_main(brave, "web", "bread", "--dry-run").code, 0)

    def test_it_shows_location_headers_and_bodies(self) -> None:
        run = call_main(brave, "web", "bread", "--city", "Bonn", "--dry-run")
        self.assertEqual(run.document["request"]["headers"]["X-Loc-City"], "Bonn")
        run = call_main(brave, "answers", "bread", "--dry-run")
        self.assertEqual(run.document["request"]["json"]["model"], "brave")


class ValidationTest(FakeServerCase):
    """Rules of this API by their messages; those of all tables: tests/contract/test_common.py."""

    def tearDown(self) -> None:
        self.assertEqual(self.server.requests, [])

    def refused(self, command: str, given: dict[str, Any], *parts: Any, hint: str = "") -> None:
        """The input is refused; every part is in the message, and hint in the hint."""
        document = brave.RUN[command](given)
        self.assertIs(document["ok"], False, given)
        self.assertEqual(document["details"]["kind"], "invalid_input", document)
        self.assertIs(document["details"]["retryable"], False)
        for text in parts:
            self.assertIn(str(text), document["error"])
        self.assertIn(hint, document["details"].get("hint", ""))

    def accepted(self, command: str, given: dict[str, Any]) -> None:
        document = brave.RUN[command]({**given, "dry_run": True})
        self.assertIs(document["ok"], True, document)

    def base(self, command: str) -> dict[str, Any]:
        return {"key": "k"} if command == "summarizer" else base(command)[0]

    def parameters(self, *types: str) -> list[tuple[str, dict[str, Any]]]:
        """(command, parameter) for every parameter of these types, the common ones included."""
        return [
            (command, parameter)
            for command, spec in COMMANDS.items()
            for parameter in [*spec["params"], *brave.COMMON_PARAMS]
            if parameter["type"] in types
        ]

    def test_numbers_at_their_bounds_are_accepted_also_as_text(self) -> None:
        for command, parameter in self.parameters("int", "float"):
            name = parameter["name"]
            for value in (parameter["min"], parameter["max"], str(parameter["max"])):
                given = {**self.base(command), name: value}
                if command == "places" and name in ("lat", "long"):
                    given = {**given, "lat": 1, "long": 1, name: value}
                with self.subTest(command=command, parameter=name, value=value):
                    self.accepted(command, given)

    def test_every_choice_is_accepted_in_any_case(self) -> None:
        for command, parameter in self.parameters("str", "csv"):
            for choice in parameter.get("choices", ()):
                for value in (choice, choice.upper(), f" {choice.lower()} "):
                    self.accepted(command, {**self.base(command), parameter["name"]: value})

    def test_an_unknown_flag_is_answered_with_the_nearest_known_one(self) -> None:
        for command, spec in COMMANDS.items():
            for parameter in spec["params"]:
                flag = "--" + parameter["name"].replace("_", "-")
                words = flags(command, self.base(command))
                run = call_main(brave, *words, f"{flag}q", "1")
                with self.subTest(command=command, flag=flag):
                    self.assertEqual((run.code, run.document["details"]["kind"]), INVALID)
                    self.assertIn(f"'{flag}q'", run.document["error"])
                    hint = f"The nearest flag is {flag}."
                    self.assertIn(hint, run.document["details"]["hint"])

    def test_output_format_is_answered_with_format(self) -> None:
        run = call_main(brave, "tea", "--output-format", "markdown")
        self.assertEqual(run.document["details"]["hint"], "The nearest flag is --format.")

    def test_a_name_in_place_of_a_code_is_answered_with_the_code(self) -> None:
        for flag, name, code in (
            ("country", "Germany", "DE"), ("country", "united kingdom", "GB"),
            ("country", "United States", "US"), ("country", "All", None),
            ("language", "German", "de"), ("language", "Ukrainian", "uk"),
            ("language", "Vietnamese", "vi"), ("language", "Chinese", "zh-hans"),
        ):  # fmt: skip
            run = call_main(brave, "tea", f"--{flag}", name, "--dry-run")
            with self.subTest(name):
                if code is None:
                    self.assertEqual(run.code, 0)
                    continue
                self.assertEqual(run.document["error"], f"{flag} must be a code, not {name!r}.")
                self.assertEqual(run.document["details"]["hint"], f"Did you mean {code}?")

    def test_what_a_command_cannot_do_is_said_and_not_dropped(self) -> None:
        for command, spec in COMMANDS.items():
            for name, reason in spec.get("cannot", {}).items():
                with self.subTest(command=command, parameter=name):
                    given = {**self.base(command), name: "x"}
                    message = f"{command} has no parameter {name!r}."
                    self.refused(command, given, message, hint=reason)
                    flag = "--" + name.replace("_", "-")
                    words = flags(command, self.base(command))
                    for word in ([flag, "x"], [f"{flag}=x"]):
                        run = call_main(brave, *words, *word)
                        self.assertEqual((run.code, run.document["details"]["hint"]), (2, reason))

    def test_a_period_in_another_form_is_refused_with_the_allowed_forms(self) -> None:
        words = ("hour", "yesterday", "2026-1-1..2026-2-2", "..", "2999-01-01", "9x", "pdx")
        for text in words:
            allowed = ("day, week, month, year", "YYYY-MM-DD..YYYY-MM-DD", repr(text))
            if text.startswith("2999"):
                allowed = ("a range that begins by today", repr(text))
            hint = "Brave filters by days; it cannot filter by hours."
            self.refused("videos", {"query": "a", "since": text}, "since must", *allowed, hint=hint)

    def test_goggles_of_which_none_is_https_are_refused_by_name(self) -> None:
        goggle = "http://goggles.example.org/a"
        message = f"goggles must be an https:// URL or inline rules, not {goggle!r}."
        self.refused("web", {"query": "a", "goggles": [goggle]}, message)
        self.refused("context", {"query": "a", "goggles": goggle.upper()}, "HTTP://GOGGLES")
        given = {"query": "a", "goggles": [goggle, "ftp://goggles.example.org/a"]}
        self.refused("news", given, message, hint="Host the goggle under https://.")

    def test_too_many_goggles_are_refused_site_filters_counted(self) -> None:
        rules = [f"$boost={number}" for number in range(3)]
        self.accepted("web", {"query": "a", "goggles": rules})
        message = "goggles and site filters make 4 goggles; Brave takes 3."
        given = {"query": "a", "goggles": rules, "site": "a.org"}
        self.refused("web", given, message, hint="Join inline rules")

    def test_goggles_of_a_file_are_refused_in_a_function_call_and_in_json(self) -> None:
        message = "goggles cannot be read from '@rules.goggle'."
        given = {"query": "a", "goggles": ["@rules.goggle"]}
        self.refused("web", given, message, hint="only the command line reads files")
        run = call_main(brave, "web", "--params-json", json.dumps(given))
        self.assertEqual((run.code, run.document["error"]), (2, message))

    def test_a_goggles_file_that_cannot_be_read_is_named(self) -> None:
        run = call_main(brave, "web", "bread", "--goggles", "@no-such-file")
        self.assertEqual((run.code, run.document["details"]["kind"]), INVALID)
        self.assertIn("'no-such-file' could not be read: No such file", run.document["error"])

    def test_a_site_that_is_no_host_is_refused(self) -> None:
        for name, site in itertools.product(
            ("site", "exclude_site"), ("localhost", "a.org/path", "*.org", "a b.org", "a.org$x")
        ):
            message = f"{name} must be a host such as docs.python.org, not {site!r}."
            self.refused("web", {"query": "a", name: site}, message)

    def test_places_without_anything_to_look_for_are_refused(self) -> None:
        for given in ({}, {"count": 5}, {"lat": 1}, {"long": 1}, {"radius": 5, "units": "metric"}):
            message = "Give a query, a location, or lat and long."
            self.refused("places", given, message, hint="query coffee, location san francisco")
        run = call_main(brave, "places")
        self.assertEqual((run.code, run.document["details"]["kind"]), INVALID)

    def test_place_ids_with_a_query_or_a_location_are_refused(self) -> None:
        for given in ({"query": "a"}, {"location": "berlin"}):
            message = "ids cannot go with a query or a location."
            self.refused("places", {"ids": "loc1", **given}, message)

    def test_more_than_twenty_place_ids_are_refused(self) -> None:
        ids = [f"loc{number}" for number in range(21)]
        self.refused("places", {"ids": ids}, "ids must be 1 to 20 places, not 21.")

    def test_the_summarizer_takes_a_key_or_a_query_and_not_both(self) -> None:
        for given in ({}, {"key": "k", "query": "q"}):
            hint = "key: the summarizer_key of a web search with summary"
            self.refused("summarizer", given, "Give either key or query.", hint=hint)

    def test_words_in_place_of_a_summarizer_key_are_no_key(self) -> None:
        run = call_main(brave, "summarizer", "second highest mountain")
        self.assertEqual((run.code, run.document["details"]["hint"]), (2, "Ask with --query."))
        self.assertIn("'second highest mountain' is no summarizer key", run.document["error"])

    def test_research_with_citations_or_entities_is_refused(self) -> None:
        for name in ("citations", "entities", "enable_citations"):
            given = {"query": "a", "research": True, name: True}
            self.refused("answers", given, "research cannot go with citations or entities.")

    def test_a_location_that_no_header_can_carry_is_refused(self) -> None:
        for name in ("city", "state", "state_name", "location_country", "postal_code", "timezone"):
            for value in ("Zürich", "a\nX-Evil: 1", "a\x00b"):
                message = f"{name} must be plain ASCII text, not {value!r}."
                hint = "Write it without accents, or give lat and long."
                self.refused("web", {"query": "a", name: value}, message, hint=hint)

    def test_params_json_that_is_no_object_is_refused(self) -> None:
        for text in ("{", "[]", "3", '"text"', "null", "{'query': 'a'}", "[" * 100_000):
            run = call_main(brave, "web", "--params-json", text)
            self.assertEqual((run.code, run.document["details"]["kind"]), INVALID)
            self.assertIn("params_json", run.document["error"])
            self.assertIn('{"query": "..."}', run.document["details"]["hint"])

    def test_a_query_given_by_a_word_and_by_json_is_refused_and_both_are_named(self) -> None:
        run = self.run_script("brave_search.py", "news today", "--params-json", '{"query": "x"}')
        self.assertEqual((run.code, run.document["details"]["kind"]), INVALID)
        self.assertEqual(run.document["error"], "query is given twice: 'x' and 'news today'.")

    def test_such_a_word_is_searched_for_after_a_command_or_among_others(self) -> None:
        for words in (("web", "summarize"), ("summarize this",), ("python",)):
            run = call_main(brave, *words, "--params-json", '{"count": 3}', "--dry-run")
            self.assertEqual(run.code, 0, run.document)

    def test_a_second_word_is_refused_with_what_to_do(self) -> None:
        run = call_main(brave, "news", "rust", "async")
        self.assertEqual((run.code, run.document["error"]), (2, "news does not take 'async'."))
        self.assertIn("single quotes", run.document["details"]["hint"])

    def test_a_command_without_its_query_says_how_to_search_for_that_word(self) -> None:
        for command in set(COMMANDS) - {"web"}:
            run = call_main(brave, command)
            self.assertEqual((run.code, run.document["details"]["kind"]), INVALID, command)
            self.assertIn(f"brave_search.py web '{command}'", run.document["details"]["hint"])

    def test_an_address_that_is_neither_https_nor_loopback_is_refused(self) -> None:
        addresses = (
            "http://api.example.com", "ftp://localhost", "api.example.com", "http://127.0.0.1.evil.",
            "https://user@api.example.com", "https://api.example.com?x", "https:///res", "https://[",
        )  # fmt: skip
        for address in addresses:
            self.set_environment(BRAVE_SEARCH_BASE_URL=address)
            shown = repr(address.replace("user@", "[hidden]@").replace("?x", "?[hidden]"))
            self.refused("web", {"query": "a"}, "BRAVE_SEARCH_BASE_URL", shown)
            self.refused("answers", {"query": "a"}, "BRAVE_SEARCH_BASE_URL", shown)

    def test_without_a_key_the_error_names_the_variable_and_the_file(self) -> None:
        self.set_environment(BRAVE_SEARCH_API_KEY="", WEB_SEARCH_SECRETS="/no/such/secrets.yaml")
        variables = {"web": "BRAVE_SEARCH_API_KEY", "answers": "BRAVE_ANSWERS_API_KEY"}
        for command, variable in variables.items():
            run = call_main(brave, *flags(command, {"query": "a"}))
            self.assertEqual((run.code, run.document["details"]["kind"]), (3, "auth"))
            self.assertEqual(run.document["error"], f"{variable} is not set")
            self.assertIn("/no/such/secrets.yaml", run.document["details"]["hint"])


class SummarizerTest(FakeServerCase):
    """The polling and the text of a summary."""

    def polls(self, key: str = "") -> list[Any]:
        """The requests for a summary."""
        path = brave.PATHS["summarizer"]
        found = self.requests_with_key(key) if key else self.server.requests
        return [one for one in found if one.path == path]

    def summary_key(self, query: str) -> str:
        found = brave.run_web_search({"query": query, "summary": True})
        self.server.clear()
        key = found["summarizer_key"]
        assert isinstance(key, str)
        return key

    def test_it_polls_until_complete_and_sleeps_at_least_the_interval_between(self) -> None:
        key = self.summary_key("sourdough bread")
        found = brave.run_summarizer({"key": key, "poll_interval_ms": 120})
        self.assertIs(found["ok"], True, found)
        times = [one.time for one in self.polls()]
        self.assertEqual(len(times), 3)
        for earlier, later in itertools.pairwise(times):
            self.assertGreaterEqual(later - earlier, 0.12)

    def test_the_interval_is_50_milliseconds_unless_given(self) -> None:
        brave.run_summarizer({"key": self.summary_key("sourdough bread")})
        times = [one.time for one in self.polls()]
        self.assertTrue(all(b - a >= 0.05 for a, b in itertools.pairwise(times)), times)

    def test_a_failed_summary_ends_it_after_one_request(self) -> None:
        found = brave.run_summarizer({"key": self.summary_key("summaryfails bread")})
        self.assertEqual(found["error"], brave.NO_SUMMARY)
        self.assertEqual(found["details"]["kind"], "provider")
        self.assertEqual(len(self.polls()), 1)

    def test_attempts_are_20_unless_given_and_then_it_is_a_timeout(self) -> None:
        key = self.summary_key("summarynever bread")
        for given, attempts in (({}, 20), ({"max_attempts": 3}, 3), ({"max_attempts": 1}, 1)):
            self.server.clear()
            found = brave.run_summarizer({"key": key, "poll_interval_ms": 1, **given})
            self.assertEqual(found["error"], brave.NO_SUMMARY)
            self.assertEqual(found["details"]["kind"], "timeout")
            self.assertIs(found["details"]["retryable"], True)
            self.assertIn(f"after {attempts} tries; raise max_att", found["details"]["hint"])
            self.assertEqual(len(self.polls()), attempts)

    def test_the_deadline_ends_it_before_the_attempts_are_used_up(self) -> None:
        key = self.summary_key("summarynever bread")
        started = time.monotonic()
        given = {"key": key, "poll_interval_ms": 100, "max_attempts": 1000, "timeout": 0.6}
        found = brave.run_summarizer(given)
        self.assertLess(time.monotonic() - started, 0.6 + SLACK)
        self.assertEqual(found["details"]["kind"], "timeout")
        self.assertIn("raise timeout", found["details"]["hint"])
        self.assertLessEqual(len(self.polls()), 6)

    def test_an_empty_summary_is_no_result(self) -> None:
        found = brave.run_summarizer({"key": self.summary_key("summaryempty bread")})
        self.assertEqual(found["error"], brave.NO_SUMMARY)
        self.assertEqual(found["details"]["kind"], "no_results")

    def test_a_refused_key_stops_it_at_once(self) -> None:
        for fault in ("bad", "plan", "broke", "quota", "missing"):
            key = f"{fault}-summarizer-{CANARY}"
            self.set_environment(BRAVE_SEARCH_API_KEY=key)
            self.assertIn(brave.run_summarizer({"key": "k"})["details"]["kind"], ("auth", "quota"))
            self.assertEqual(len(self.polls(key)), 1, fault)
            found = brave.run_summarizer({"query": "bread"})
            self.assertIn(found["details"]["kind"], ("auth", "quota"))
            self.assertEqual(len(self.polls(key)), 1, fault)

    def test_an_unknown_summary_key_stops_it_at_once(self) -> None:
        found = brave.run_summarizer({"key": "unknown"})
        self.assertEqual((found["ok"], found["details"]["status"]), (False, 404))
        self.assertEqual(len(self.polls()), 1)

    def test_urls_of_sources_are_in_the_text_only_when_asked_for(self) -> None:
        key = self.summary_key("sourdough bread")
        plain = brave.run_summarizer({"key": key})
        linked = brave.run_summarizer({"key": key, "inline_references": True})
        self.assertNotIn("https://", plain["summary_text"])
        self.assertIn(" (https://", linked["summary_text"])

    def test_list_items_are_kept(self) -> None:
        text = brave.run_summarizer({"query": "sourdough bread"})["summary_text"]
        items = [line for line in text.splitlines() if line.startswith("- ")]
        self.assertEqual(len(items), 3, text)

    def test_the_raw_messages_and_everything_else_of_the_summary_are_kept(self) -> None:
        found = brave.run_summarizer(
            {"query": "sourdough bread", "entity_info": True, "max_chars": 0}
        )
        names = {
            "ok", "provider", "query", "title", "summary_text", "summary_raw", "enrichments",
            "followups", "entities_infos",
        }  # fmt: skip
        self.assertEqual(set(found), names)
        self.assertEqual(found["summary_raw"][0]["type"], "token")
        self.assertTrue(found["enrichments"]["context"] and found["followups"])
        self.assertIn("provider", next(iter(found["entities_infos"].values())))

    def test_both_ways_give_the_same_text(self) -> None:
        first = brave.run_summarizer({"key": self.summary_key("sourdough bread")})
        second = brave.run_summarizer({"query": "sourdough bread"})
        self.assertEqual(first["summary_text"], second["summary_text"])
        third = call_main(brave, "summarizer", "--query", "sourdough bread").document
        self.assertEqual(first["summary_text"], third["summary_text"])

    def test_a_plan_without_summaries_is_told_of_context_and_answers(self) -> None:
        self.set_environment(BRAVE_SEARCH_API_KEY=f"search-plan-{CANARY}")
        found = brave.run_summarizer({"query": "sourdough bread"})
        self.assertEqual(found["details"]["kind"], "auth")
        self.assertEqual(found["error"], "The search brought no summarizer key.")
        for word in ("Pro AI", "context", "answers"):
            self.assertIn(word, found["details"]["hint"])
        self.assertEqual(len(self.server.requests), 1)

    def test_a_web_search_that_brings_no_key_warns_and_keeps_its_results(self) -> None:
        self.set_environment(BRAVE_SEARCH_API_KEY=f"search-plan-{CANARY}")
        found = brave.run_web_search({"query": "sourdough bread", "summary": True})
        self.assertTrue(found["ok"] and found["web_results"])
        self.assertIsNone(found["summarizer_key"])
        self.assertIn("Pro AI", found["warnings"][0])

    def test_progress_is_reported_for_every_try(self) -> None:
        seen: list[tuple[str, int, int]] = []
        key = self.summary_key("sourdough bread")
        brave.run_summarizer({"key": key}, lambda *progress: seen.append(progress))
        self.assertEqual([(done, total) for _, done, total in seen], [(1, 20), (2, 20), (3, 20)])
