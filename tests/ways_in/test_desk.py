"""The desk: pages for people that search, read, check and list the history, safely.

The only module to notice a stranger's word that is live in a browser, and a form of another site.
"""

from __future__ import annotations

import contextlib
import re
import sqlite3
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

from tests.support import SmallWebCase, run_script
from tests.ways_in.http_support import TOKEN, Answer, ServerProcess
from websearch.ways_in.desk import answers, markdown_html, views

if TYPE_CHECKING:
    from collections.abc import Iterator

QUESTION = "sourdough starter"
PAGES = ("/", "/read", "/check", "/history", "/state", "/docs")
HOSTILE = [
    "<script>alert(1)</script>",
    "[x](javascript:alert(1))",
    "[x](data:text/html,<script>1</script>)",
    '[x](https://a.example/"onmouseover="alert(1))',
    "![x](https://evil.example/pixel.png)",
    "<img src=x onerror=alert(1)>",
    "| <b>a</b> |\n|---|\n| <script>1</script> |",
    "```html\n<script>alert(1)</script>\n```",
    "# <svg onload=alert(1)>",
    "`</code><script>1</script>`",
    '<https://a.example/?"><script>1</script>>',
    "</main></body><script>1</script>",
    '[a](https://a.example/ "t" onclick=1)',
    "**<i>x</i>** *<u>y</u>*",
]
# Elements that the renderer may write; pages of the desk also have their frame and forms.
ELEMENTS = set(
    "p h2 h3 h4 h5 h6 ul ol li table thead tbody tr th td div blockquote pre code hr a strong em "
    "mark".split()
)
ATTRIBUTES = {"href", "rel", "id", "class", "tabindex"}


class Elements(HTMLParser):
    """Collects the elements, attributes and links of a piece of HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.links: list[str] = []
        self.ids: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links += [value or "" for name, value in attrs if name in ("href", "src", "action")]
        self.ids += [value or "" for name, value in attrs if name == "id"]


class Rendering(unittest.TestCase):
    def test_markdown_becomes_html(self) -> None:
        rows = {
            "# Title\n\ntext": "<h2>Title</h2>\n<p>text</p>\n",
            "a\nb": "<p>a b</p>\n",
            "- a\n- b\n  - c": "<ul>\n<li>a</li>\n<li>b\n<ul>\n<li>c</li>\n</ul>\n</li>\n</ul>\n",
            "1. a\n2. b": "<ol>\n<li>a</li>\n<li>b</li>\n</ol>\n",
            "> a\n> b": "<blockquote>\n<p>a b</p>\n</blockquote>\n",
            "`a*b` **c** d_e_f": "<p><code>a*b</code> <strong>c</strong> d_e_f</p>\n",
            "an *a*": "<p>an <em>a</em></p>\n",
            "[a](https://b.example/c_(d))": (
                '<p><a href="https://b.example/c_(d)" rel="noreferrer noopener">a</a></p>\n'
            ),
            "![alt](https://b.example/c.png)": "<p>alt</p>\n",
            r"\*a\* \[b\]": "<p>*a* [b]</p>\n",
            "---": "<hr>\n",
        }  # fmt: skip
        for markdown, html in rows.items():
            with self.subTest(markdown):
                self.assertEqual(markdown_html.render(markdown), html)

    def test_table_rows_have_at_most_as_many_cells_as_the_head(
        self,
    ) -> None:
        html = markdown_html.render("| a | b\\|c |\n|---|---|\n| 1 |\n| 2 | 3 | 4 |")
        self.assertEqual((html.count("<th>"), html.count("<td>")), (2, 3))
        self.assertIn("<th>b|c</th>", html)
        wide = "|a" * 1_000 + "|\n" + "|-" * 1_000 + "|\n" + "|x\n" * 30_000
        self.assertEqual(markdown_html.render(wide).count("<td>"), 30_000)

    def test_a_line_of_code_in_three_backticks_opens_no_block(self) -> None:
        html = markdown_html.render("```npm install```\n\n# After")
        self.assertIn("<code>npm install</code>", html)
        self.assertIn("<h2>After</h2>", html)

    def test_code_is_kept_to_the_letter(self) -> None:
        html = markdown_html.render("````py\n```\n  <a>\n````\nb")
        self.assertIn("<code>```\n  &lt;a&gt;</code>", html)
        self.assertIn("<p>b</p>", html)

    def test_untrusted_text_never_becomes_markup_or_a_request(self) -> None:
        for markdown in HOSTILE:
            with self.subTest(markdown):
                found = Elements(markdown_html.render(markdown, ["script", "alert"]))
                self.assertLessEqual(found.names, ELEMENTS)
                self.assertLessEqual(found.attributes, ATTRIBUTES)
                for link in found.links:
                    self.assertRegex(link, r"^https?://")

    def test_words_of_the_query_are_marked_where_they_begin_a_word(self) -> None:
        html = markdown_html.render("starters start [restart](https://a.example/start)", ["start"])
        self.assertEqual(html.count("<mark>"), 2)

    def test_hostile_shapes_are_shown_in_proportion(self) -> None:
        shapes = (
            "[", "*a", "`a", "![", "[a](", "> ", "|a", "**a ", "_a ", "[[a]", "- ", "\\", "[\\]",
            "|a|b|\n|-|-|\n",
        )  # fmt: skip
        for shape in shapes:
            with self.subTest(shape):
                html = markdown_html.render(shape * 50_000)
                self.assertLess(len(html), 60 * len(shape) * 50_000)


KEYS = '<script src="/desk.js" defer></script>\n'  # the desk's only script


class DeskCase(SmallWebCase):
    """A server process whose store is empty when a test begins."""

    def setUp(self) -> None:
        super().setUp()
        self.process = ServerProcess(*self.arguments(), **self.variables())
        self.addCleanup(self.process.stop)

    def arguments(self) -> list[str]:
        return []

    def variables(self) -> dict[str, str]:
        return {**self.environment_of(self.server.url, ""), "GLSI_DB_PATH": self.store}

    def page_url(self, path: str) -> str:
        return f"{self.server.url}/site/{path}"

    def page(self, target: str, **headers: str) -> Answer:
        """A page as a browser asks for it."""
        return self.process.fetch_raw(target, accept="text/html", **headers)

    def post(self, path: str, fields: dict[str, str], **headers: str) -> Answer:
        body = urlencode(fields).encode()
        data = (
            f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{self.process.port}\r\n"
            f"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {len(body)}\r\n"
            + "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        )
        answer = self.process.talk(data.encode() + b"\r\n" + body).decode()
        head, _, text = answer.partition("\r\n\r\n")
        names = dict(re.findall(r"(?m)^([\w-]+): ([^\r]*)", head))
        return Answer(int(answer.split()[1]), {k.lower(): v for k, v in names.items()}, text)


class Pages(DeskCase):
    def test_each_page_is_complete_and_needs_nothing_from_elsewhere(self) -> None:
        for path in PAGES:
            with self.subTest(path):
                answer = self.page(path)
                self.assertEqual(answer.status, 200)
                self.assertIn("default-src 'none'", answer.headers["content-security-policy"])
                found = Elements(answer.document.replace(KEYS, ""))
                self.assertIn(KEYS, answer.document)
                self.assertFalse({"script", "img", "iframe", "style"} & found.names)
                self.assertTrue({"main", "nav", "h1", "footer"} <= found.names)
                self.assertEqual(len(found.ids), len(set(found.ids)))
                for link in found.links:
                    self.assertRegex(link, r"^[/#]")
                self.assertTrue(answer.document.rstrip().endswith("</html>"))

    def test_an_unknown_path_is_a_page_for_browsers(self) -> None:
        answer = self.page("/no/such/page")
        self.assertEqual(answer.status, 404)
        self.assertIn("<h1>There is no such page</h1>", answer.document)
        self.assertEqual(self.process.fetch("/no/such/page").status, 404)
        self.assertIn("openapi", self.page("/openapi.json").document)

    def test_programs_get_json_from_the_same_paths(self) -> None:
        answer = self.process.fetch("/read?url=" + quote(self.page_url("articles/lighthouse")))
        self.assertTrue(answer.document["ok"])
        self.assertEqual(self.process.fetch("/history").status, 404)

    def test_a_search_shows_results_passages_and_marks(self) -> None:
        answer = self.page(f"/?q={quote(QUESTION)}")
        self.assertIn("<mark>", answer.document)
        self.assertIn('class="results"', answer.document)
        self.assertIn("Read here", answer.document)
        again = self.page(f"/?q={quote(QUESTION)}")
        self.assertRegex(again.document, r"From the store, fetched today, \d\d:\d\d\.")

    def test_several_lines_are_a_brief_with_numbered_sources(self) -> None:
        answer = self.page(f"/?q={quote('sourdough starter' + chr(10) + 'sourdough hydration')}")
        self.assertIn("<h2>sourdough hydration</h2>", answer.document)
        self.assertRegex(answer.document, r'<li id="source-1"><h3>1\. <a')

    def test_status_pages_at_once_do_not_disturb_the_log(self) -> None:
        server = ServerProcess("--verbose", **self.variables())
        with ThreadPoolExecutor(8) as pool:
            asked = [pool.submit(server.fetch_raw, "/state", accept="text/html") for _ in range(24)]
        self.assertEqual({one.result().status for one in asked}, {200})
        server.fetch("/health")
        log = server.stop()[2]
        self.assertEqual(log.count("GET /state -> 200"), 24)
        self.assertIn("GET /health -> 200", log)

    def test_the_search_box_has_the_focus_and_others_are_folded(self) -> None:
        text = self.page("/").document
        self.assertRegex(text, r'<input id="q"[^>]* autofocus></label>\n<button type="submit">')
        self.assertEqual(re.findall(r"<details[^>]*><summary>([^<]*)", text),
                         ["More questions", "Filters"])  # fmt: skip
        text = self.page(f"/?q={quote(QUESTION)}&site=example.com").document
        self.assertNotIn("autofocus", text)  # a person reads results now
        self.assertIn("<details open><summary>Filters", text)
        text = self.page(f"/?q=sourdough&more={quote('rye flour' + chr(10) + 'oven')}").document
        self.assertIn('value="sourdough"', text)
        self.assertIn(">rye flour\noven</textarea>", text)

    def test_results_show_their_best_passages_and_fold_the_whole_text(self) -> None:
        parts = [
            f"## Head {n}\n\npassage {n} about {'bread' if n > 2 else 'rye ' * 90}"
            for n in range(6)
        ]
        item = {"url": "https://a.example/", "text": "\n\n".join(["## Empty", *parts])}
        shown, _, rest = views.results([item], "bread").partition("<details>")
        self.assertEqual(re.findall(r"passage (\d)", shown), ["3", "4", "5"])
        self.assertEqual(re.findall(r"passage (\d)", rest), list("012345"))
        self.assertNotIn("Empty", shown)

    def test_long_tables_are_folded(self) -> None:
        html = markdown_html.render("|a|\n|-|\n" + "|b|\n" * 13)
        self.assertIn("12 of 13 rows, show all", html)
        self.assertNotIn("show all", markdown_html.render("|a|\n|-|\n" + "|b|\n" * 12))

    def test_tables_in_lists_are_tables(self) -> None:
        html = markdown_html.render(
            "- | a | b |\n  | - | - |\n  | 1 | 2 |\n| [… 3 rows] |\n  | 4 | 5 |"
        )
        self.assertEqual((html.count("<table>"), html.count("<th>"), html.count("<tr>")), (1, 2, 4))

    def test_a_brief_names_unanswered_questions_and_shows_each_once(self) -> None:
        source = {"number": 1, "title": "Both", "url": "https://a.example/", "queries": [1, 2]}
        document = {
            "ok": True,
            "queries": [{"query": "one"}, {"query": "two"}, {"query": "three", "error": "Down."},
                        {"query": "four"}],
            "sources": [{**source, "text": "one and two"}],
        }  # fmt: skip
        text = views.search_results(document, "")
        parts = re.split(r"<h2>(?:one|two|three|four)</h2>", text)
        self.assertEqual(text.count('id="source-1"'), 1)
        self.assertIn('id="source-1"', parts[1])
        self.assertIn('<a href="#source-1">1. Both</a>', parts[2])
        self.assertIn("Down.", parts[3])
        self.assertIn("No page answers this question.", parts[4])
        self.assertTrue(text.endswith("<li>3. three</li>\n<li>4. four</li>\n</ul>\n"))

    def test_reading_here_keeps_the_question(self) -> None:
        found = self.page(f"/?q={quote(QUESTION)}").document
        address = re.search(r'href="(/read\?[^"]+)"', found)
        assert address
        text = self.page(address[1].replace("&amp;", "&")).document
        self.assertIn(f'name="q" type="search" maxlength="2000" value="{QUESTION}"', text)
        self.assertIn("<h3>2 places</h3>", text)
        self.assertEqual(re.findall(r'href="#(place-\d)', text), ["place-1", "place-2"])
        article = text.partition("<article")[2]
        self.assertRegex(article, rf'<a id="place-2"></a><mark>(?i:{QUESTION})</mark>')
        self.assertEqual(self.page("/desk.js").status, 200)
        text = self.page(address[1].replace("&amp;", "&") + "+feeding+flour").document
        self.assertIn("Best passages", text)
        self.assertIn("<mark>", text.partition("<article")[2])
        url = quote(self.page_url("articles/lighthouse"))
        text = self.page(f"/read?url={url}&q=zebra").document
        self.assertIn("This page contains no word of the question.", text)

    def test_no_heading_level_is_skipped(self) -> None:
        html = markdown_html.render("#### a\n\n## b\n\n##### c", first_level=3)
        self.assertEqual(re.findall(r"<h(\d)", html), ["3", "3", "4"])

    def test_an_error_is_shown_with_what_to_do(self) -> None:
        answer = self.page("/?q=sourdough&engine=nosuch")
        self.assertIn('role="alert"', answer.document)
        self.assertNotIn("invalid_input", answer.document)
        self.assertIn("nosuch", answer.document)

    def test_a_page_has_its_outline_and_its_address(self) -> None:
        url = self.page_url("articles/lighthouse")
        answer = self.page(f"/read?url={quote(url)}")
        self.assertIn(f'href="{url}"', answer.document)
        self.assertIn("characters", answer.document)
        self.assertIn("Markdown</a>", answer.document)


class History(DeskCase):
    def test_it_says_who_has_asked_what_and_opens_the_answer(self) -> None:
        environment = self.variables()
        run_script("web_search.py", "rye flour", env=environment)
        self.process.fetch("/search?q=oven+spring")
        self.page(f"/?q={quote(QUESTION)}")
        call = '{"query": "bread <b>crust</b>"}'
        run_script("mcp_server.py", "call", "web_search", call, env=environment)
        text = self.page("/history").document
        for caller, query in (
            ("command", "rye flour"),
            ("HTTP", "oven spring"),
            ("desk", QUESTION),
        ):
            self.assertRegex(text, rf"{caller} · search</span> <a [^>]*>{query}</a>")
        self.assertIn("bread &lt;b&gt;crust&lt;/b&gt;", text)
        address = re.search(r'href="(/\?q=rye[^"]*)"', text)
        assert address
        self.assertIn("From the store", self.page(address[1].replace("&amp;", "&")).document)

    def test_entries_and_everything_can_be_forgotten(self) -> None:
        for query in ("rye flour", "oven spring"):
            self.page(f"/?q={quote(query)}")
        text = self.page("/history").document
        token = re.search(r'name="token" value="([^"]+)"', text)
        number = re.search(r'name="id" value="(\d+)"', text)
        assert token
        assert number
        refused = self.post("/history/forget", {"token": "guess", "all": "yes"})
        self.assertEqual(refused.status, 403)
        done = self.post("/history/forget", {"token": token[1], "id": number[1]})
        self.assertEqual((done.status, done.headers["location"]), (303, "/history?forgotten=yes"))
        text = self.page(done.headers["location"]).document
        self.assertIn("Forgotten: 1 history item, 1 answer, 2 pages.", text)
        self.assertNotIn("oven spring", text)
        self.assertIn("rye flour", text)
        self.post("/history/forget", {"token": token[1], "all": "yes"})
        self.assertIn("Nothing has been searched or read yet", self.page("/history").document)

    def test_forgetting_is_undone_until_its_page_is_left(self) -> None:
        self.page("/?q=sourdough+starter")
        for leaves in (False, True):
            text = self.page("/history").document
            token = re.search(r'name="token" value="([^"]+)"', text)
            number = re.search(r'name="id" value="(\d+)"', text)
            assert token
            assert number
            done = self.post("/history/forget", {"token": token[1], "id": number[1]})
            if leaves:
                self.page("/history?q=sourdough")
            offer = self.page(done.headers["location"]).document
            self.assertEqual("Undo" in offer, not leaves)
            self.post("/history/forget", {"token": token[1], "undo": "yes"})
            self.assertEqual("sourdough starter" in self.page("/history").document, not leaves)
            found = self.page("/history?q=sourdough").document
            self.assertEqual("No stored page" in found, leaves)

    def test_entries_of_a_batch_are_folded(self) -> None:
        for number in range(5):
            self.process.fetch(f"/search?q=oven+spring+{number}")
        self.page(f"/?q={quote(QUESTION)}")
        text = self.page("/history").document
        folded = text.partition("<details>")[2].partition("</details>")[0]
        self.assertRegex(folded, r"<summary>\d\d:\d\d.* · HTTP · 5 in a batch")
        self.assertEqual(folded.count("oven spring"), 5)
        self.assertNotIn(QUESTION, folded)

    def test_history_is_grouped_and_forgetting_everything_asks_first(self) -> None:
        url = self.page_url("articles/lighthouse")
        self.page(f"/read?url={quote(url)}")
        self.page(f"/?q={quote(QUESTION)}")
        text = self.page("/history").document
        self.assertEqual(re.findall("<h3>(.*?)</h3>", text), ["Questions", "Pages"])
        self.assertIn(">The lighthouse log</a>", text)
        self.assertNotIn('name="all"', text)
        self.assertNotIn('name="day"', text)
        day = time.strftime("%Y-%m-%d")
        self.assertIn(f'<h2>Today</h2><a href="/history/forget?day={day}">Forget today …', text)
        asked = self.page(f"/history/forget?day={day}").document
        self.assertIn("This removes 1 question and 1 page read from today", asked)
        self.assertIn(f'name="day" value="{day}"', asked)
        filtered = self.page("/history?filter=LIGHTHOUSE+log").document
        self.assertIn(">The lighthouse log</a>", filtered)
        self.assertNotIn(QUESTION, filtered)
        asked = self.page("/history/forget").document
        self.assertIn("It cannot be undone.", asked)
        self.assertIn('name="all" value="yes"', asked)
        self.assertIn(QUESTION, self.page("/history").document)

    def test_browsers_name_the_desk_as_the_origin_of_its_forms(self) -> None:
        """With no-referrer they would send "null", which is refused as another site is."""
        answer = self.page("/history")
        self.assertEqual(answer.headers["referrer-policy"], "same-origin")
        token = re.search(r'name="token" value="([^"]+)"', self.page(f"/?q={quote(QUESTION)}") and
                          self.page("/history").document)  # fmt: skip
        assert token
        origin = f"http://127.0.0.1:{self.process.port}"
        fields = {"token": token[1], "all": "yes"}
        self.assertEqual(self.post("/history/forget", fields, Origin=origin).status, 303)
        self.assertEqual(self.post("/history/forget", fields, Origin="null").status, 403)

    def test_a_form_of_another_site_is_refused(self) -> None:
        answer = self.post("/history/forget", {"all": "yes"}, Origin="https://evil.example")
        self.assertEqual(answer.status, 403)

    def test_unknown_fields_of_the_forget_form_change_nothing(self) -> None:
        self.page(f"/?q={quote(QUESTION)}")
        token = re.search(r'name="token" value="([^"]+)"', self.page("/history").document)
        assert token
        for fields in ({}, {"id": "1" + "0" * 23}, {"id": "x"}, {"id": "-1"}, {"all": "no"}):
            answer = self.post("/history/forget", {"token": token[1], **fields})
            self.assertEqual(answer.status, 400, fields)
        many = "&".join(f"x{number}=1" for number in range(51))
        self.assertEqual(self.page(f"/?q=a&{many}").status, 400)
        self.assertEqual(self.post("/sign-in", {"token": "x"}).headers.get("set-cookie"), None)
        self.assertIn(QUESTION, self.page("/history").document)

    def test_a_broken_entry_hides_no_others_and_can_be_forgotten(self) -> None:
        for _ in range(3):
            self.page(f"/?q={quote(QUESTION)}")
        with contextlib.closing(sqlite3.connect(self.store)) as db, db:
            db.execute("UPDATE history SET moment = 9e999 WHERE id = 1")
            db.execute("UPDATE history SET caller = NULL, params = '[' WHERE id = 2")
            db.execute("UPDATE history SET text = CAST(x'EDA080' AS TEXT) WHERE id = 3")
        self.page("/?q=rye")
        answer = self.page("/history")
        self.assertIn(">rye</a>", answer.document)
        self.assertTrue(answer.document.rstrip().endswith("</html>"))
        token = re.search(r'name="token" value="([^"]+)"', answer.document)
        assert token
        self.post("/history/forget", {"token": token[1], "id": "1"})
        self.post("/history/forget", {"token": token[1], "all": "yes"})
        self.assertIn("Nothing has been searched or read yet", self.page("/history").document)

    def test_a_defect_of_a_page_ends_in_an_error_box(self) -> None:
        def broken() -> Iterator[str]:
            yield "<main>"
            raise RuntimeError(TOKEN)

        text = b"".join(answers.whole_page(broken(), verbose=False)).decode()
        self.assertTrue(text.startswith("<main>"))
        self.assertIn('role="alert"', text)
        self.assertNotIn(TOKEN, text)
        self.assertTrue(text.rstrip().endswith("</html>"))


class Token(DeskCase):
    def arguments(self) -> list[str]:
        path = Path(self.store).parent.parent / "token"
        path.write_text(TOKEN, encoding="utf-8")
        path.chmod(0o600)
        return ["--token-file", str(path)]

    def test_it_is_asked_for_once_and_a_session_is_kept_in_a_cookie(self) -> None:
        asked = self.page("/history")
        self.assertEqual(asked.status, 401)
        self.assertIn('type="password"', asked.document)
        self.assertEqual(self.process.fetch("/search?q=a").status, 401)
        wrong = self.post("/sign-in", {"token": "wrong", "next": "/history"})
        self.assertEqual(wrong.status, 401)
        right = self.post("/sign-in", {"token": TOKEN, "next": "/history?q=a"})
        self.assertEqual((right.status, right.headers["location"]), (303, "/history?q=a"))
        cookie = right.headers["set-cookie"]
        self.assertIn("HttpOnly; SameSite=Strict", cookie)
        self.assertNotIn(TOKEN, cookie)  # every server on this machine receives it
        self.assertEqual(self.page("/history", cookie=cookie.split(";")[0]).status, 200)
        self.assertEqual(self.page("/history", cookie="web_search_session=guess").status, 401)

    def test_sign_in_redirects_only_to_pages_of_the_desk(self) -> None:
        for target in (
            "//evil.example", "/\\evil.example", "https://evil.example", "/a\r\nSet-Cookie: x=y",
            "/\t/evil.example", "/ü", "",
        ):  # fmt: skip
            with self.subTest(target):
                answer = self.post("/sign-in", {"token": TOKEN, "next": target})
                self.assertEqual((answer.status, answer.headers["location"]), (303, "/"))


if __name__ == "__main__":
    unittest.main()
