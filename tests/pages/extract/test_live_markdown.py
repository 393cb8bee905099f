"""No untrusted text is live in the Markdown of any document, by a CommonMark renderer.

The only module that uses another program's renderer. Needs markdown-it-py, which `make lint`
installs; skipped without it.
"""

from __future__ import annotations

import importlib.util
import itertools
import json
import random
import unittest
from html import escape

from tests.pages.extract.test_attack_guard import CannedPage
from websearch.reading import read
from websearch.search import show_markdown

IMAGE = "![x](https://evil.example/a)"
TAG = "<img src=https://evil.example/a>"
SHOWN = escape(TAG)  # as text of a page
# Elements and characters that can be between the characters of a page's markup.
SPLITS = (
    "<span>", "</b><b>", "<i></i>", "<!-- -->", "<code></code>", "&#8203;", "&zwj;", "&#xFDD0;",
    "<br>",
)  # fmt: skip
HEAD = "<table><tr><th>a<th>b<tr><td>"
# HTML that becomes live if pieces are joined, under-escaped or misread.
PAGES = (
    "<p>![x]<span>(https://evil.example/a)</span>",
    "<p>&lt;<span>img src=x&gt;</span>",
    "<p>[y]<span>: https://evil.example/</span><p>![y] [x][y]",
    "<p>![y<br>z]<p>[y<br>z]: //evil.example",
    "<p>!<a href=x>y</a><b></b>(https://evil.example/)",
    "<p><img alt=x>(https://evil.example/a)",
    "<ul><li>[y]: https://evil.example/</ul>![y]",
    "<blockquote>[y]: https://evil.example/</blockquote>![y]",
    f"<p><code>a</code><code>`{SHOWN}`</code>",
    f"<p><code>a</code><span>`</span>{SHOWN}",
    f"<p>\\<code>a</code>{SHOWN}<code>b</code>",
    f"<p>`<code>{SHOWN}</code>`",
    f"{HEAD}<code>\\|{IMAGE}</code><td>c</table>",
    f"{HEAD}\\|{IMAGE}<td><p>&lt;img<p>src=x&gt;</table>",
    f"<p><a href='https://x.example/`'>a</a> <code>{SHOWN}</code>",
    f"{HEAD}<a href='//x/|{IMAGE}'>a</a><td>c</table>",
    f"<pre>``&#8203;`\n{SHOWN}</pre>",
    f"<pre>~~~\n```\n{SHOWN}</pre>",
    f"<ul><li><pre>a\n\n{SHOWN}</pre></ul>",
    "<p>&amp;lt;img src=x&gt; &lt;https://evil.example/&gt;",
    f"<h2>![x]<b></b>(//evil.example)</h2><dl><dt>{SHOWN}<dd>{IMAGE}</dl>",
    "<p>a<br>&lt;script&gt;alert(1)<p>&lt;!-- a<p>&lt;pre&gt;<p>&lt;?x<p>&lt;div",
    f"<img alt='x](https://evil.example/a) {SHOWN}' src=x>",
    f"<p title=x>\\\\{IMAGE}",
)
LONG_FENCE = "`" * 60
# Untrusted Markdown whose code is code for some renderers only.
FOREIGN = (
    f"{IMAGE} {TAG} [x](//evil.example)\n\n> [y]: //evil.example\n\n![y]",
    f"- a\n\n  ```\n  code\n\n{TAG} {IMAGE}",
    f"1. ```\n{TAG}\n```\n\n{IMAGE}",
    f"<div>\n```\n{TAG}\n{IMAGE}\n```\n</div>",
    f"<pre>\n\n```\n{TAG}\n```\n\n</pre>",
    f"<!--\n\n```\n-->{TAG}\n```\n",
    f"~~~ `x`\n~~~\n\n{TAG}\n\n~~~\n",
    f"{LONG_FENCE}\n{LONG_FENCE}\n\n{TAG} {IMAGE}",
    f"```\na\n``` x\n```\n{TAG} {IMAGE}\n```\n",
    f"> ```\n{TAG}\n{IMAGE}",
    f"a\n    ```\n{TAG}\n    ```\n",
    "- [y]: //evil.example\n\n![y]",
    "<image src=//evil.example> <b style='background:url(//evil.example)'>b</b>",
    "[a\nb]: //evil.example\n[\\]]: //evil.example\n\n![a b] ![\\]]",
    f"\\`{TAG}\\` `a` {TAG} `{TAG}`",
    '<div\n<x/onclick=alert(1) y="z"style=a\n>',
    "<![CDATA[\n```\n]]>\n" + TAG,
    "<x `onclick=a`>y</x>",
)
# Formatting tags without attributes are harmless, and common in READMEs.
FORM = {"b", "div", "x", "p"}


def live_parts(markdown: str) -> list[str]:
    """Return the images, links and HTML that a renderer makes from Markdown."""
    from markdown_it import MarkdownIt

    found: list[str] = []
    waiting = MarkdownIt("commonmark").enable("table").parse(markdown)
    while waiting:
        token = waiting.pop()
        waiting += token.children or []
        if token.type in ("image", "link_open"):
            found.append(f"{token.type} {token.attrs}")
        elif token.type in ("html_block", "html_inline"):
            tags = [tag.strip("</> \n") for tag in token.content.split(">") if "<" in tag]
            found += [] if FORM.issuperset(tags) else [token.content]
    return found


@unittest.skipUnless(importlib.util.find_spec("markdown_it"), "markdown-it-py is not installed")
class Live(CannedPage):
    def assert_dead(self, markdown: str) -> None:
        self.assertEqual(live_parts(markdown), [], markdown)

    def dead_page(self, body: str, kind: str) -> None:
        page = self.page(body, headers={"Content-Type": kind}, max_chars=0)
        self.assert_dead(page["text"])

    def test_the_renderer_detects_live_markup(self) -> None:
        for text in (IMAGE, TAG, "[x](//y)", "<a href=x>", "[y]\n\n[y]: //x", "<b style=x>a</b>"):
            self.assertNotEqual(live_parts(text), [], text)

    def test_pages_are_not_live(self) -> None:
        for body in PAGES:
            with self.subTest(body):
                self.dead_page(f"<main><h1>T</h1><p>Words.</p>{body}</main>", "text/html")

    def test_hidden_addresses_are_not_live(self) -> None:
        for text in ("a@b](\ufdd0http://x/)", "a]\ufdd0(http://x/)", "<\ufdd0img src=http://x/>"):
            code = bytes([1, *(letter ^ 1 for letter in text.encode())]).hex()
            html = f"<main><p>Words ![x<a data-cfemail={code}>[email protected]</a></main>"
            self.dead_page(html, "text/html")

    def test_markup_split_by_elements_is_not_live(self) -> None:
        generator = random.Random(7)
        for live in (
            IMAGE,
            TAG,
            "[y]: //evil.example",
            "<!-- x -->",
            "`a`` <b>` ",
            "\\`![x](//y)`",
        ):
            signs = [escape(sign) for sign in live]
            for _ in range(30):
                gaps = (generator.choice((*SPLITS, "", "", "")) for _ in signs)
                pieces = "".join(itertools.chain(*zip(gaps, signs, strict=True)))
                with self.subTest(pieces):
                    body = f"<main><h1>T</h1><p>Words.</p><p>![y]</p><p>{pieces}</p></main>"
                    self.dead_page(body, "text/html")

    def test_untrusted_markdown_and_other_formats_are_not_live(self) -> None:
        for text in FOREIGN:
            article = {"@type": "Article", "articleBody": f"{text}\n\n{'Words of it. ' * 40}"}
            data = json.dumps(article).replace("<", "\\u003c")
            feed = f"<rss><item><title>x</title><pubDate>{escape(TAG)}</pubDate><description>"
            for kind, body in {
                "text/markdown": text,
                "text/plain": text,
                "text/csv": f'a,b\n"{text.replace(chr(34), chr(34) * 2)}",c',
                "text/html": f'<script type="application/ld+json">{data}</script>',
                "application/rss+xml": f"{feed}{escape(text)}</description></item></rss>",
            }.items():
                with self.subTest(text, kind=kind):
                    self.dead_page(body, kind)

    def test_fields_of_pages_and_results_are_not_live(self) -> None:
        said = f"{IMAGE} {TAG} **{IMAGE}**"
        fields = dict.fromkeys(("title", "author", "license", "language", "published"), said)
        url = f"https://x.example/{IMAGE}`{TAG}"
        page = {"ok": True, "url": url, "text": "a", "chars": 1, **fields}
        result = {**fields, "url": page["url"], "date": said, "snippet": said, "error": said}
        source = {**result, "number": 1, "queries": [1], "also": [page["url"]]}
        place = {**page, "text": "", "places": [{"offset": 1, "text": said}]}
        brief = {"ok": True, "queries": [{"query": "q"}], "sources": [source], "today": "2026"}
        for markdown in (
            read.to_markdown({"ok": True, "pages": [page, place]}),
            show_markdown.search_markdown({"ok": True, "results": [result]}),
            show_markdown.brief_markdown(brief),
        ):
            links = [part for part in live_parts(markdown) if "x.example/" not in part]
            self.assertEqual(links, [], markdown)


if __name__ == "__main__":
    unittest.main()
