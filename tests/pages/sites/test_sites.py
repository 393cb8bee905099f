"""read_page on GitHub, Stack Exchange, Hacker News, arXiv, Reddit, X: APIs, or else HTML.

The only module that detects a wrong reading of a site's answer or an exceeded quota of pages. The
fake server is the APIs, and a proxy with the HTML of the same pages under their own URLs
(http://github.com/...).
"""

from __future__ import annotations

import random
import time
import unittest
from typing import Any
from unittest import mock

from tests.fake_server.github_pages import MANY_COMMENTS
from tests.fake_server.hackernews import BRANCHES
from tests.fake_server.server import FakeServer
from tests.support import (
    CANARY,
    CannedServer,
    FakeServerCase,
    mutations,
    new_folder,
    samples_folder,
    small_web_environment,
)
from tests.ways_in.mcp_support import Client
from websearch import kit
from websearch.base import http_client
from websearch.engines.base import pacing
from websearch.markdown import sections
from websearch.pages.fetch import fetch
from websearch.pages.sites import dispatch as sites
from websearch.pages.sites import github as site_github
from websearch.pages.sites import github_threads
from websearch.reading import read

TOOLBOX = "https://github.com/slowloop/asyncio-toolbox"
CALCULATOR = "https://github.com/breadlab/sourdough-calculator"
ISSUE = f"{TOOLBOX}/issues/42"
PULL = f"{CALCULATOR}/pull/8"
QUESTION = (
    "https://stackoverflow.com/questions/70100101/how-to-cancel-a-python-asyncio-task-on-timeout"
)
THREAD = "https://news.ycombinator.com/item?id=40100201"
PAPER = "https://arxiv.org/abs/2401.00101"
REDDIT = "https://www.reddit.com/r/mills/comments/1abc/{}/"
POST = "https://x.com/ada_mills/status/{}"
# The page of each site: (variable of its API's URL, URL, a sentence of its HTML).
HTML_PAGES = (
    ("GITHUB_BASE_URL", "http://github.com/slowloop/asyncio-toolbox/issues/42", "it hangs."),
    ("STACKEXCHANGE_BASE_URL", QUESTION.replace("https", "http"), "when a timeout passes."),
    ("HACKERNEWS_BASE_URL", THREAD.replace("https", "http"), "survived ten years on your desk?"),
    ("ARXIV_BASE_URL", PAPER.replace("https", "http"), "two coupled populations"),
)


class SitesCase(FakeServerCase):
    """A test case whose fake server is every API and the proxy to the HTML pages."""

    @staticmethod
    def environment_of(url: str, key: str) -> dict[str, str]:  # noqa: ARG004  no key here
        return {**small_web_environment(url), "http_proxy": url}

    def setUp(self) -> None:
        super().setUp()
        self.use()

    def use(self, **variables: str) -> None:
        """Start with an empty store, an empty pacing database and these variables."""
        self.variables = {"GLSI_DB_PATH": f"{new_folder(self)}/cache.db", **variables}
        self.set_environment(**self.variables)
        pacing._LOCAL.clear()

    def read(self, url: str, **params: Any) -> dict[str, Any]:
        """Return the document of a page."""
        document = read.run_read({"urls": [url], "page_timeout": 10.0, **params})
        self.assertTrue(document["ok"], document)
        page: dict[str, Any] = document["pages"][0]
        return page

    def targets(self) -> list[str]:
        """Return the targets of the requests to the server, without queries."""
        return [request.target.partition("?")[0] for request in self.server.requests]

    def canned(self, status: int = 200, body: Any = b"", **headers: str) -> CannedServer:
        """Return a server with one answer for every request."""
        server = CannedServer()
        self.addCleanup(server.close)
        server.status, server.body = status, body
        server.headers = {name.replace("_", "-"): value for name, value in headers.items()}
        return server

    def allow(self, server: CannedServer) -> str:
        """Return the exceptions from the guard for the fake server and another server."""
        hosts = (self.server.url, server.url)
        return ",".join(host.removeprefix("http://") for host in hosts)


class SocialSites(SitesCase):
    """Reddit by the feed of a thread, X by oEmbed."""

    def test_a_thread_has_its_post_and_comments_with_authors_and_times(self) -> None:
        for url in (REDDIT.format("wheel"), REDDIT.format("wheel").replace("www", "old")):
            self.use()
            page = self.read(url, max_chars=0)
            self.assertEqual(
                page["text"],
                "By /u/ada · 2026-03-04 · 2 comments in the feed\n\nMy **wheel** squeaks.\n\n"
                "## Comment by /u/bo · 2026-03-04 11:20\n\nGrease it.\n\n"
                "## Comment by /u/cy · 2026-03-05 08:00\n\n> Grease it.\n\nThat helped.",
            )
            facts = ["The wheel squeaks", "/u/ada", "2026-03-04"]
            self.assertEqual([page[name] for name in ("title", "author", "published")], facts)
        self.assertIn("some comments", page["note"])
        agent = self.server.requests[0].header("user-agent")
        self.assertIn("web-search", agent)

    def test_a_wall_and_a_limit_are_reported(self) -> None:
        for name, words in (("walled", "HTTP 403"), ("limited", "no requests for 40 s")):
            self.use()
            url = REDDIT.format(name).replace("https", "http")
            document = read.run_read({"urls": [url], "page_timeout": 10.0})
            self.assertEqual(document["details"]["kind"], "blocked", document)
            self.assertIn("every 30 seconds", document["details"]["hint"])
            self.assertRegex(document["details"]["hint"], rf"Its API: Reddit .*{words}")

    def test_the_second_thread_waits_its_turn(self) -> None:
        self.use(GLSI_RATE_LIMIT="1s")
        self.read(REDDIT.format("wheel"))
        url = REDDIT.format("stone").replace("https", "http")
        document = read.run_read({"urls": [url], "page_timeout": 5.0})
        self.assertRegex(
            document["details"]["hint"], "Reddit accepts the next request in (29|30) s"
        )

    def test_a_post_has_its_text_author_and_day(self) -> None:
        for url in (POST.format(7), "https://twitter.com/i/web/status/7?s=20"):
            page = self.read(url)
            expected = "By Ada (@ada_mills) · 2026-03-04\n\nThe **wheel** turns.  \nAll day."
            self.assertEqual(page["text"], expected)
            facts = ["Post by Ada", "Ada", "2026-03-04"]
            self.assertEqual([page[name] for name in ("title", "author", "published")], facts)
            self.assertIn("replies only after a login", page["note"])


class GitHub(SitesCase):
    def test_an_issue_is_read_with_its_discussion(self) -> None:
        run = self.run_script("read_page.py", ISSUE, "--max-chars", "0", **self.variables)
        self.assertEqual((run.code, run.stderr), (0, ""), run.stdout)
        (page,) = run.document["pages"]
        title = "Task is not cancelled when the timeout is zero · slowloop/asyncio-toolbox#42"
        self.assertEqual((page["title"], page["author"]), (title, "ada"))
        self.assertRegex(page["published"], r"^\d{4}-\d\d-\d\d$")
        head = (
            r"^closed issue \(not planned\) · opened by ada · \d{4}-\d\d-\d\d · 230 comments · 5 "
        )
        self.assertRegex(page["text"], head + "reactions · labels: bug, good first issue\n")
        self.assertRegex(page["text"], r"\n## Comment by bo \(member\) · \S+ · 1 reaction\n\nComm")
        self.assertNotIn("Thank you for the report", page["text"])  # in an HTML comment

    def test_a_long_discussion_is_cut_to_first_and_last_comments(self) -> None:
        page = self.read(ISSUE, max_chars=0)
        self.assertEqual(len(self.server.requests), 3)
        self.assertEqual(page["text"].count("## Comment by cy"), 65)
        self.assertIn("the flux capacitor resets the clock", page["text"])
        self.assertIn(f"the last of {MANY_COMMENTS} comments", page["note"])
        self.assertTrue(page["truncated"])

    def test_a_query_finds_the_comment_that_answers(self) -> None:
        page = self.read(ISSUE, query="flux capacitor", max_chars=2_000)
        (passage, *_) = page["passages"]
        self.assertIn("Comment by bo (member)", passage["heading"])
        self.assertIn("the flux capacitor resets the clock", passage["text"])

    def test_no_post_can_look_like_another_post(self) -> None:
        text = self.read(ISSUE, max_chars=0)["text"]
        self.assertIn("\n#### Comment by ada (owner)\n", text)
        self.assertNotRegex(text, r"(?m)^#{1,3} Comment by ada")
        self.assertIn("```sh\n# a line of code\n```", text)

    def test_a_pull_request_has_the_comments_on_its_code(self) -> None:
        text = self.read(PULL)["text"]
        self.assertTrue(text.startswith("merged pull request · opened by ada"), text)
        review = r"## Review comment by di \(owner\) · \S+ on src/rounding\.py\n\n```diff\n@@ -1,2"
        self.assertRegex(text, review)
        self.assertRegex(text, r"## Review \(approved\) by di \(owner\) · \S+\n\nHalf up it is\.")
        self.assertNotIn("(commented)", text)
        said = ("Comment 0", "Please name the test", "Comment 1", "Half up it is.")
        places = [text.index(words) for words in said]
        self.assertEqual(places, sorted(places))  # by time

    def test_a_repository_is_its_facts_and_its_readme(self) -> None:
        page = self.read(TOOLBOX)
        self.assertEqual((page["title"], page["license"]), ("slowloop/asyncio-toolbox", "MIT"))
        facts = r"4500 stars · 1 fork · Python · MIT · last push \S+ · topics: asyncio, timeouts\n"
        self.assertRegex(page["text"], facts)
        self.assertIn("```python\n# run it\nimport toolbox\n```", page["text"])
        self.assertNotIn("badge that nobody sees", page["text"])
        # The README is from the host of raw files, which no quota counts.
        self.assertIn("/slowloop/asyncio-toolbox/HEAD/README.md", self.targets())

    def test_the_readme_of_a_folder_may_have_any_name(self) -> None:
        page = self.read(f"{TOOLBOX}/tree/main/docs")
        self.assertIn("A README in reStructuredText.", page["text"])
        self.assertIn("/repos/slowloop/asyncio-toolbox/readme/docs", self.targets())

    def test_a_file_is_text_and_source_code_is_a_code_block(self) -> None:
        page = self.read(f"{TOOLBOX}/blob/main/src/cancel.py")
        self.assertTrue(page["text"].startswith("```py\ndef cancel(task):\n    # A timeout"))
        self.assertEqual(page["title"], "slowloop/asyncio-toolbox: main/src/cancel.py")
        page = self.read(f"{TOOLBOX}/blob/v3.0/docs/guide.md")
        self.assertTrue(page["text"].startswith("# Guide\n"))
        self.assertEqual({target.split("/")[1] for target in self.targets()}, {"slowloop"})

    def test_missing_reviews_or_a_missing_readme_are_noted(self) -> None:
        with mock.patch.object(github_threads, "PER_PAGE", 1):
            page = self.read(PULL)
        self.assertIn("Only the first 1 reviews and 1 review comments were read.", page["note"])
        self.assertTrue(page["truncated"])
        for status, words in ((None, "could not be read: Slow down."), (404, "")):
            error = kit.SearchError("rate_limit", "Slow down.", status=status)
            with mock.patch.object(site_github, "readme", side_effect=error):
                page = self.read(TOOLBOX)
            self.assertIn(words, page.get("note", ""))
            self.assertEqual("truncated" in page, bool(words))

    def test_a_file_without_text_does_not_affect_other_pages(self) -> None:
        urls = [f"{TOOLBOX}/blob/main/docs/empty.txt", PAPER]
        empty, paper = read.run_read({"urls": urls, "page_timeout": 10.0})["pages"]
        self.assertEqual(empty["details"]["kind"], "unsupported")
        self.assertIn("github.com sent a page without any text", empty["error"])
        self.assertTrue(paper["ok"])

    def test_one_or_all_releases_are_read_with_their_files(self) -> None:
        for place in ("latest", "tag/v3.0"):
            page = self.read(f"{TOOLBOX}/releases/{place}")
            self.assertEqual(page["title"], "Version 3 · slowloop/asyncio-toolbox")
            self.assertIn("Timeouts of zero expire, since version 3.", page["text"])
            self.assertIn("- toolbox-3.tar.gz (7 downloads)", page["text"])
        page = self.read(f"{TOOLBOX}/releases")
        self.assertRegex(page["text"], r"(?s)^## Version 3\n.*\n## Version 2\n.*\n## Version 1\n")

    def test_the_token_is_sent_to_the_api_only(self) -> None:
        token = f"ghp-{CANARY}"
        with FakeServer() as raw:
            hosts = ",".join(one.url.removeprefix("http://") for one in (self.server, raw))
            self.use(GITHUB_TOKEN=token, GITHUB_RAW_BASE_URL=raw.url,
                     WEB_SEARCH_ALLOW_PRIVATE=hosts)  # fmt: skip
            self.read(TOOLBOX)
            self.read("http://github.com/slowloop/asyncio-toolbox", raw_html=True)
            sent = [*self.server.requests, *raw.requests]
        with_token = [one.path for one in sent if one.header("authorization") == f"Bearer {token}"]
        self.assertEqual(with_token, ["/repos/slowloop/asyncio-toolbox"])
        self.assertEqual(len(sent), 3)

    def test_private_repositories_are_read_only_with_permission(self) -> None:
        token = f"private-{CANARY}"
        for address in (ISSUE, TOOLBOX, f"{TOOLBOX}/releases", f"{TOOLBOX}/tree/main/docs"):
            for allowed in ("", "1"):
                with self.subTest(address, allowed=allowed):
                    self.server.clear()
                    self.use(GITHUB_TOKEN=token, WEB_SEARCH_GITHUB_PRIVATE=allowed)
                    document = read.run_read({"urls": [address]})
                    sent = [one for one in self.server.requests if one.header("authorization")]
                    looked = {one.path for one in sent} == {"/repos/slowloop/asyncio-toolbox"}
                    if allowed:
                        self.assertTrue(document["ok"], document)
                    else:
                        self.assertTrue(looked, "more than whether it is private was asked for")

    def test_while_the_quota_is_used_up_the_html_is_read(self) -> None:
        with FakeServer(limits=True) as server:
            self.use(GITHUB_BASE_URL=server.url, WEB_SEARCH_ALLOW_PRIVATE=",".join(
                one.url.removeprefix("http://") for one in (self.server, server)))  # fmt: skip
            for _ in range(60):
                server._state.rate("github pages ", server_clock(), 3_600.0)
            page = self.read(HTML_PAGES[0][1])
            self.assertIn("it hangs.", page["text"])
            self.assertEqual(len(server.requests), 1)
            self.read(HTML_PAGES[0][1])
            self.assertEqual(len(server.requests), 1)
        state = pacing.engine_states()
        self.assertEqual(state["github pages"].rest_seconds(), 0.0)
        self.assertGreater(state["github pages"].queue_seconds((0.0, 1)), 3_500)
        self.assertEqual(
            state["github"].queue_seconds((7.5, 2)), 0.0
        )  # searches have another limit

    def test_the_doctor_reports_the_quota_of_pages(self) -> None:
        self.run_script("read_page.py", ISSUE, **self.variables)
        run = self.run_script("doctor.py", **self.variables)
        (line,) = [one for one in run.document["checks"] if one["name"] == "keyless engines"]
        self.assertRegex(line["message"], r"github pages \(59 requests left, renewed in ")

    def test_pages_without_an_api_are_read_as_html(self) -> None:
        for place in (
            "/slowloop/asyncio-toolbox/wiki", "/slowloop/asyncio-toolbox/issues",
            "/slowloop/asyncio-toolbox/pull/8/files", "/slowloop", "/features/actions", "/",
            "/slowloop/asyncio-toolbox/compare/main...next", "/orgs/slowloop",
        ):  # fmt: skip
            with self.subTest(place):
                self.server.clear()
                read.run_read({"urls": [f"http://github.com{place}"]})
                # The server has no such page; the archive is asked about it, but not GitHub's API.
                asked = [one for one in self.targets() if not one.startswith("/cdx/")]
                self.assertEqual(asked, [f"http://github.com{place}"])


def server_clock() -> float:
    """Return the clock of the fake server's limits."""
    return time.monotonic()


class StackExchange(SitesCase):
    def test_the_accepted_answer_comes_first_then_the_best(self) -> None:
        page = self.read(QUESTION)
        self.assertEqual(page["title"], "How to cancel a Python asyncio task on timeout?")
        self.assertEqual((page["author"], page["license"]), ("Ada & Bo", "CC BY-SA 4.0"))
        text = page["text"]
        self.assertRegex(text, r"^Question by Ada & Bo · score 19 · \S+ · CC BY-SA 4.0 · python\n")
        headings = [line for line in text.splitlines() if line.startswith("## ")]
        self.assertRegex(headings[0], r"^## Answer by Answerer 2 · accepted · score 98 · ")
        self.assertRegex(headings[1], r"^## Answer by Answerer 1 · score 99 · \S+ · CC BY-SA 4.0$")
        self.assertIn("```py\n# a comment\nawait task\n```", text)

    def test_the_url_of_an_answer_reads_its_question(self) -> None:
        page = self.read("https://stackoverflow.com/a/70100102/77")
        self.assertEqual(page["text"], self.read(QUESTION)["text"])

    def test_the_host_decides_which_site_is_asked(self) -> None:
        page = self.read("https://www.superuser.com/questions/1800201/how-to-clone")
        self.assertEqual(page["title"], "How to clone an SSD to a larger one?")
        sites_asked = {dict(one.query_pairs)["site"] for one in self.server.requests}
        self.assertEqual(sites_asked, {"superuser.com"})

    def test_reading_and_searching_share_the_quota(self) -> None:
        self.read(QUESTION)
        self.assertLess(pacing.present_state("stackexchange").remaining, 300)
        self.use()
        pacing.change_state("stackexchange", lambda state: state.note_block("HTTP 403", 0), [])
        self.server.clear()
        page = self.read(QUESTION.replace("https", "http"))
        self.assertEqual(self.targets(), [QUESTION.replace("https", "http")])
        self.assertIn("when a timeout passes", page["text"])

    def test_several_questions_do_not_wait_for_the_search_pace(self) -> None:
        self.use(GLSI_RATE_LIMIT="5s")
        urls = [
            QUESTION,
            "https://stackoverflow.com/q/70100102",
            "https://stackoverflow.com/q/70100103",
        ]
        document = read.run_read({"urls": urls})
        self.assertTrue(all(page["ok"] for page in document["pages"]), document)
        # Two requests for all questions, and each question has its own answers.
        self.assertEqual(
            self.targets(),
            [
                "/2.3/questions/70100101;70100102;70100103",
                "/2.3/questions/70100101;70100102;70100103/answers",
            ],
        )
        texts = [page["text"] for page in document["pages"]]
        for text, words in zip(texts, ("asyncio.timeout", "Fraction", "borrow lives"), strict=True):
            self.assertIn(words, text)
            self.assertEqual(sum(words in one for one in texts), 1)

    def test_if_a_request_fails_each_question_is_read_as_html(self) -> None:
        server = self.canned(500, b"oops")
        self.use(STACKEXCHANGE_BASE_URL=server.url, WEB_SEARCH_ALLOW_PRIVATE=self.allow(server))
        other = (
            "http://stackoverflow.com/questions/70100104/undo-the-last-git-commit-without-losing"
        )
        urls = [QUESTION.replace("https", "http"), f"{other}-changes"]
        document = read.run_read({"urls": urls, "page_timeout": 10.0})
        self.assertTrue(all(page["ok"] for page in document["pages"]), document)
        self.assertEqual(sorted(self.targets()), sorted(urls))


class HackerNews(SitesCase):
    def test_a_thread_is_nested(self) -> None:
        page = self.read(THREAD, max_chars=0)
        self.assertEqual((page["author"], page["chars"]), ("ada", len(page["text"])))
        text = page["text"]
        self.assertRegex(text, r"^By ada · 35 points · \S+ · 22 comments\n")
        self.assertIn("survived ten years on your desk?", text)
        self.assertRegex(
            text, r"\n## Comment by user0_0 · \S+\n\nBranch 0, level 0: my \*old\* boa"
        )
        self.assertRegex(text, r"\n>> \*\*Reply by user0_2\*\* · \S+\n>>\n>> Branch 0, level 2:")
        self.assertNotIn("deleted", text)
        self.assertNotRegex(text, r"(?m)^[> ]*# Not a heading")

    def test_a_long_thread_is_cut_by_replies_and_depth(self) -> None:
        page = self.read(THREAD, max_chars=2_000)
        self.assertLess(len(page["text"]), 2_000)
        for kept in ("Branch 0, level 0", "Branch 0, level 1", "Branch 1, level 0"):
            self.assertIn(kept, page["text"])
        for left_out in ("level 4", "Branch 9", "buckling"):
            self.assertNotIn(left_out, page["text"])
        self.assertRegex(page["note"], r"^Only \d+ of 22 comments are shown, preferring those")
        self.assertTrue(page["truncated"])
        # Every comment is below the comment that it answers.
        self.assertNotRegex(page["text"], r"(?s)^(?!.*level 0).*level 1")

    def test_a_query_finds_a_comment_that_a_cut_would_omit(self) -> None:
        page = self.read(THREAD, query="buckling spring", max_chars=2_000)
        self.assertIn("The buckling spring of 1986", page["passages"][0]["text"])
        self.assertIn(f"Comment by user{BRANCHES - 1}_0", str(page["passages"][0]))


class Arxiv(SitesCase):
    def test_an_abstract_names_the_url_of_the_paper(self) -> None:
        page = self.read(PAPER)
        self.assertEqual(
            page["title"], "Sourdough bread fermentation as a coupled dynamical system"
        )
        self.assertEqual(page["author"], "Ada Baker, José Müller")
        self.assertRegex(page["text"], r"\ncs\.LG · submitted \S+ · 12 pages, 3 figures\n")
        self.assertIn("\n## Abstract\n\nWe model the fermentation", page["text"])
        self.assertTrue(page["text"].endswith("PDF: https://arxiv.org/pdf/2401.00101"))

    def test_the_search_pace_also_applies_to_pages(self) -> None:
        self.use(GLSI_RATE_LIMIT="1s")
        self.read(PAPER)
        self.assertGreater(pacing.present_state("arxiv").queue_seconds((3.1, 1)), 2.5)

    def test_a_missing_paper_is_read_as_html(self) -> None:
        document = read.run_read({"urls": ["http://arxiv.org/abs/9999.00001"]})
        self.assertEqual(document["details"]["status"], 404)
        self.assertEqual(self.targets()[:2], ["/api/query", "http://arxiv.org/abs/9999.00001"])

    @unittest.skipUnless(samples_folder("arxiv_query_2026.xml"), "there are no recorded answers")
    def test_a_recorded_answer_is_read(self) -> None:
        folder = samples_folder("arxiv_query_2026.xml")
        assert folder is not None
        server = self.canned(body=(folder / "arxiv_query_2026.xml").read_bytes())
        self.use(ARXIV_BASE_URL=server.url, WEB_SEARCH_ALLOW_PRIVATE=self.allow(server))
        page = self.read("https://arxiv.org/abs/2202.12139v1")
        self.assertTrue(page["title"].startswith("Testing Deep Learning Models: A First"))
        self.assertGreater(len(page["text"]), 1_200)  # the whole abstract
        self.assertIn("Artificial Intelligence in Software Testing 2022", page["text"])


class Fallback(SitesCase):
    def test_raw_html_does_not_use_the_api(self) -> None:
        for _, url, sentence in HTML_PAGES:
            with self.subTest(url):
                self.server.clear()
                page = self.read(url, raw_html=True)
                self.assertIn(sentence, page["text"])
                self.assertEqual([one.target for one in self.server.requests], [url])
        run = self.run_script("read_page.py", HTML_PAGES[0][1], "--raw-html", **self.variables)
        self.assertNotIn("opened by ada", run.document["pages"][0]["text"])

    def test_after_any_api_failure_the_html_is_read(self) -> None:
        answers: tuple[tuple[int, Any], ...] = (
            (200, b"<html><body>Down for repairs</body></html>"), (200, b"{"), (200, {}), (200, []),
            (200, b""), (403, {"message": "API rate limit exceeded"}), (429, b"slow down"),
            (404, {"message": "Not Found"}), (500, b"oops"), (301, b""), (401, {"message": "Bad"}),
            (400, {"error_id": 502, "error_message": "more requests available in 82235 seconds"}),
            (200, b"x" * 9_000_000),
        )  # fmt: skip
        for status, body in answers:
            server = self.canned(status, body)
            for variable, url, sentence in HTML_PAGES:
                with self.subTest(variable, status=status, body=str(body)[:40]):
                    self.use(**{variable: server.url}, WEB_SEARCH_ALLOW_PRIVATE=self.allow(server))
                    self.server.clear()
                    self.assertIn(sentence, self.read(url)["text"])
                    self.assertEqual([one.target for one in self.server.requests], [url])

    def test_a_hanging_api_leaves_time_for_the_html(self) -> None:
        server = self.canned()
        server.delay = 5.0
        variable, url, sentence = HTML_PAGES[0]
        self.use(**{variable: server.url}, WEB_SEARCH_ALLOW_PRIVATE=self.allow(server))
        self.assertIn(sentence, self.read(url, page_timeout=2.0)["text"])

    def test_if_the_html_also_fails_the_hint_has_the_api_error(self) -> None:
        challenge = self.canned(403, b"<title>Just a moment...</title>")
        throttle = {"error_id": 502, "error_message": "more requests available in 82235 seconds"}
        api = self.canned(400, throttle)
        self.use(STACKEXCHANGE_BASE_URL=api.url, http_proxy=challenge.url,
                 WEB_SEARCH_ALLOW_PRIVATE=self.allow(api))  # fmt: skip
        document = read.run_read({"urls": [QUESTION.replace("https", "http")]})
        self.assertEqual(document["details"]["kind"], "blocked")
        said = "Its API: Stack Exchange asked for no requests for 22 h 50 min"
        self.assertIn(said, document["details"]["hint"])

    def test_broken_answers_never_cause_an_internal_error(self) -> None:
        source = random.Random(5)

        def free(state: Any) -> None:
            state.free_at = state.rest_until = 0.0

        params = {"urls": [""], "max_chars": 9_000}
        paths = {
            "GITHUB_BASE_URL": (ISSUE, "/repos/slowloop/asyncio-toolbox/issues/42"),
            "HACKERNEWS_BASE_URL": (THREAD, "/api/v1/items/40100201"),
            "STACKEXCHANGE_BASE_URL": (
                QUESTION, "/2.3/questions/70100101?site=stackoverflow&filter=withbody",
            ),
        }  # fmt: skip
        for variable, (url, path) in paths.items():
            good = kit.Response(*self.answer_of(path)).json()
            server = self.canned()
            self.use(**{variable: server.url}, WEB_SEARCH_ALLOW_PRIVATE=self.allow(server))
            for broken in mutations(good, source, 60):
                server.body = broken
                for engine in ("github", "stackexchange"):  # a broken quota is not a reason to wait
                    pacing.change_state(engine, free, [], "pages")
                with self.subTest(variable, broken=str(broken)[:2_000]):
                    try:
                        page = sites.read_through_api(
                            url, time.monotonic() + 5, None, params, fetch.SharedAnswers()
                        )
                    except kit.SearchError:
                        continue
                    self.assertIsInstance(page.text, str)

    def answer_of(self, path: str) -> tuple[int, dict[str, str], bytes]:
        """Return status, headers and body of the fake server's answer to a path."""
        request = {"method": "GET", "url": self.server.url + path, "headers": {"User-Agent": "x"}}
        answer = http_client.send_within(request, time.monotonic() + 5)
        return answer.status, answer.headers, answer.body


class Rules(SitesCase):
    def test_the_address_guard_applies_to_the_apis(self) -> None:
        for variable, url, sentence in HTML_PAGES:
            with self.subTest(variable):
                self.use(WEB_SEARCH_ALLOW_PRIVATE="")
                self.server.clear()
                self.assertIn(sentence, self.read(url)["text"])  # through the proxy
                self.assertEqual([one.target for one in self.server.requests], [url])

    def test_robots_rules_of_the_api_host_apply(self) -> None:
        self.read(ISSUE, robots=True)
        self.assertEqual(self.targets()[0], "/robots.txt")
        refusing = self.canned(body=b"User-agent: *\nDisallow: /\n", Content_Type="text/plain")
        variable, url, sentence = HTML_PAGES[0]
        self.use(**{variable: refusing.url}, WEB_SEARCH_ALLOW_PRIVATE=self.allow(refusing))
        self.server.clear()
        self.assertIn(sentence, self.read(url, robots=True)["text"])
        self.assertEqual(self.targets(), ["http://github.com/robots.txt", url])

    def test_requests_identify_themselves_as_no_browser(self) -> None:
        self.use(WEB_SEARCH_CONTACT="ada@example.org")
        for url in (ISSUE, QUESTION, THREAD, PAPER):
            self.read(url)
        for one in self.server.requests:
            self.assertRegex(one.header("user-agent") or "", r"^web-search-skill/\S+ .*ada@example")

    def test_headings_of_posts_are_lowered_outside_code(self) -> None:
        table = (
            ("# A\n## B\n###### C", "### A\n#### B\n###### C"),
            ("```\n# code\n```\n# A", "```\n# code\n```\n### A"),
            ("~~~~\n~~~\n# code\n~~~~\n# A", "~~~~\n~~~\n# code\n~~~~\n### A"),
            ("#hashtag and # no heading", "#hashtag and # no heading"),
            ("   # A", "### A"),
            ("    # code", "    # code"),
        )
        for before, after in table:
            with self.subTest(before):
                self.assertEqual(sections.demote_headings(before), after)


class WaysIn(SitesCase):
    def test_a_search_reads_pages_through_their_apis(self) -> None:
        words = ("python asyncio task", "--engine", "github", "--max-chars", "0")
        run = self.run_script("web_search.py", *words, **self.variables)
        texts = {item["url"]: item.get("text", "") for item in run.document["results"]}
        self.assertIn("Comment by cy", texts[ISSUE])
        self.assertIn("4500 stars", texts[TOOLBOX])
        recalled = self.run_script("web_search.py", "recall", "flux capacitor", **self.variables)
        self.assertEqual(recalled.document["results"][0]["url"], ISSUE)

    def test_a_brief_reads_pages_through_their_apis(self) -> None:
        words = ("brief", "-q", "python asyncio task", "-q", "undo git commit", "--engine",
                 "stackexchange")  # fmt: skip
        run = self.run_script("web_search.py", *words, **self.variables)
        texts = " ".join(source.get("text", "") for source in run.document["sources"])
        self.assertIn("Since Python 3.11 asyncio.timeout is a context manager", texts)
        self.assertIn("git reset --soft HEAD~1", texts)

    def test_mcp_reads_pages_through_their_apis(self) -> None:
        client = Client({**self.environment, **self.variables})
        self.addCleanup(client.close)
        text = client.text("read_page", urls=[ISSUE], query="flux capacitor")
        self.assertIn("the flux capacitor resets the clock", text)

    def test_markdown_names_author_date_and_license(self) -> None:
        run = self.run_script("read_page.py", QUESTION, "--format", "markdown", **self.variables)
        self.assertRegex(run.stdout.decode(), r" · Ada & Bo · \d{4}-\d\d-\d\d · CC BY-SA 4\.0\n")


if __name__ == "__main__":
    unittest.main()
