"""The content that read_page.py keeps, its Markdown and its metadata.

The only module that detects content that a rule drops, navigation that stays, or wrong Markdown.
"""

from __future__ import annotations

import json
import math
import random
import re
import unittest
from pathlib import Path
from typing import Any

from tests.support import ROOT
from websearch import kit
from websearch.pages.extract import content, markdown, metadata, page_tree
from websearch.pages.fetch import fetch
from websearch.passages import excerpts as passages
from websearch.reading import one_page

ARTICLE = '<meta property="og:type" content="article">'
SENTENCE = "The miller takes the flour to the town, where three bakers wait for it every day. "
PAGES = ROOT / "tests/fake_server/pages"
# Broken markup that made html.parser or a naive tokenizer slow, repeated to any length.
ATTACKS = {
    "open tags": "<a ", "comments": "<!--", "double quotes": '<a href="', "single quotes": "<a b='",
    "quoted ends": '<a b=">', "mixed quotes": "<a b='\"' c=\"'>", "attributes": "<a b=c d=e >",
    "equal signs": "<a = = ", "declarations": "<!a", "instructions": "<?a", "end tags": "</b>",
    "slashes": "</", "signs": "<", "entities": "&#x", "named entities": "&lt", "cdata": "<![CDATA[",
    "scripts": "<script>", "styles": "<style>a</style", "titles": "<title>", "nested": "<b>",
    "crossed": "<i><b></i>", "crossed boxes": "<div></span></div>", "boxes": "<div><p>",
    "lists": "<ul><li>", "items": "<li>", "tables": "<table><tr><td>", "quotes": "<blockquote>x",
    "mixed nesting": "<ol><li><p>x<table><td>y", "links": "<a>x", "options": "<select><option>",
    "headings": "<h2>Related</h2>",
    "rows of tabs": "<ul role=tablist><li role=tab>a<li role=tab>b</ul>",
    "labels": "<div><label for=a>x</label><label for=b>y</label></div><div><p>a</p><p>b</p></div>",
    "spans of rows": "<table><tr><td rowspan=0>a<td rowspan=1000000 colspan=1000000>b",
    "linked code": "<p><code>a<a href=/x>b</a></code><code>c</code>",
    "lines of code": "<div class=highlight><div class=line>x</div>",
    "neighbors": "<pre>x</pre><div><p><a rel=next>Next</a><code>a</code>",
    "named headings": "<section id=comments><h2 id=comments><b>comments</b><pre>",
    "insets": "<p>Some words of a long paragraph of text.</p><aside><h2>a</h2>b</aside>",
    "lists under headings": "<h2>a</h2><ul><li><a href=/x>The headline of a text</a></ul>",
    "streamed parts": '<template id="B:1"></template>x<!--/$--><div id="S:1">y</div>',
    "boxed headings": "<div><h2>Related</h2></div>", "definitions": "<dl><dt>a<dd>b",
    "code": "<pre>`", "terms": "<dl><dt>a<p>b", "blocks in headings": "<h2><div>a<p>b",
    "scripts above": "x<sup>2", "notes": "<sup><a href=#a>1", "split signs": "!<b>[</b>x<i>]</i>(",
    "stars": "*a <b>", "underscores": "_a b_ ", "definitions of links": "<br>[a",
    "rows": "<tr><th>a",
    "heads of tables": "<table><thead>" + "<tr><th colspan=40>a" * 9, "columns": "<td>a",
    "images": "<img alt='some words' src=x>", "labels beside": "<b class=label>a</b>",
    "teasers": '<div itemprop="articleBody"><a href=/x>A headline of a text</a><p>May 2021</div>',
    "lists of teasers": '<ul itemprop="articleBody">' + "<li><p><a href=/x>The headline</a>" * 4,
    "nested teasers": '<div itemprop="articleBody"><a href=/x>A headline of a text</a><p>In 2021',
    "copies": "<div><p>One text of more than sixty characters, which comes again.</p></div>" * 2,
    "quotes of posts": '<link rel=canonical href="https://forum.example/7"><blockquote><p>' * 3,
    "addresses": '<link rel=canonical href="https://site.example' + "/forumx" * 40 + '">',
    "leads": '<h1 itemprop="articleBody">x</h1><h2>' + "A sentence of a lead is long. " * 5,
    "signs of markdown": "*_`[", "breaks": "<br>", "metas": "<meta name=x content=y>",
    "data": '<script type="application/ld+json">{"a":[</script>', "svg": "<svg><p>",
    "formulas": "<math><mi>x</mi></math>", "boxes of formulas": "<span class=katex>x",
    "scripts of formulas": "<b class=MathJax></b><script type=math/tex>x</script>",
}  # fmt: skip


def article(body: str) -> str:
    return f"<html><body><main><h1>Title</h1>{body}</main></body></html>"


def markdown_of(body: str, links: bool = False) -> str:
    text: str = markdown.extract_markdown(article(body), "https://site.example/dir/page", links)
    return text


class Content(unittest.TestCase):
    """The text that stays and goes on each kind of page of the fake site."""

    def text(self, name: str) -> str:
        text: str = content.extract((PAGES / name).read_text(encoding="utf-8"))
        return text

    def assert_kept(self, name: str, kept: tuple[str, ...], gone: tuple[str, ...]) -> None:
        text = self.text(name)
        for words in kept:
            self.assertIn(words, text)
        for words in gone:
            self.assertNotIn(words, text)

    def test_an_article_loses_its_surroundings(self) -> None:
        self.assert_kept(
            "sourdough.html",
            ("A jar of flour and water", "gluten network", "late for a sour one"),
            (
                "cookies",
                "Share on",
                "newsletter",
                "Related",
                "kitchen scales",
                "mayor",
                "nonsense",
                "Copyright",
                "Travel",
                "staff writer",
                "tracking",
            ),
        )

    def test_a_foreign_article_keeps_its_lead_not_related_links(self) -> None:
        self.assert_kept(
            "bridges.html",
            ("Fußgänger passen", "Schwingungsdämpfer", "Heute rechnen Ingenieure"),
            ("Lesen Sie auch", "auch interessant", "nur Klicks", "Startseite", "Impressum"),
        )

    def test_a_paragraph_after_related_links_stays(self) -> None:
        prose = "A paragraph of the article, long enough to be one, stands here without any link. "
        box = "<h3>Read more</h3><ul><li><a href=x>Another text that was written before</a></ul>"
        text = content.extract(article(f"<p>{prose}</p>{box}<p>{prose}The end.</p>"))
        self.assertIn("The end.", text)
        self.assertNotIn("Another text", text)

    def test_related_links_end_at_the_next_heading_in_a_box_of_its_own(self) -> None:
        box = "<div class=head><h2>{}</h2></div>"
        links = "<ul><li><a href=/x>Wasps of the county</a></ul>"
        costs = "<ul><li>A hive costs 150 crowns.</ul><table><tr><th>Roof<tr><td>4 hives</table>"
        body = box.format("See also") + links + box.format("Costs") + costs
        for sign in ("", ARTICLE):
            with self.subTest(sign):
                text = content.extract(sign + article(f"<p>{SENTENCE * 4}</p>{body}"))
                for words in ("Costs", "A hive costs 150 crowns.", "4 hives"):
                    self.assertIn(words, text)
                self.assertNotIn("Wasps", text)

    def test_the_sidebars_of_books_stay(self) -> None:
        quote = "<aside class=pullquote><p>Where three bakers wait</p></aside>"
        old = "<aside data-type=sidebar><h5>Old ropes</h5><p>Replace after 5 years.</p></aside>"
        more = "<aside><h3>Shop</h3><a href=/a>Ropes for ships</a></aside>"
        old = f"<pre>tie</pre>{old}<pre>knot</pre>"
        body = "".join(f"<p>{SENTENCE}</p>{box}" for box in (quote + old, more))
        for sign in ("", ARTICLE):
            with self.subTest(sign):
                text = content.extract(sign + article(f"<article>{body}</article>"))
                self.assertIn("Old ropes\nReplace after 5 years.", text)
                self.assertNotIn("Ropes for ships", text)
                self.assertNotIn("Where three", text)

    def test_links_under_a_heading_of_the_text_stay(self) -> None:
        items = "".join(f"<li><a href=/f{n}>Form {n}: a change of the car</a>" for n in (1, 2, 3))
        lists = {
            "Forms": f"<ul>{items}</ul>",
            "Zones": "<ul><li><a href=/z>Zone 7, Old Market: closed until May</a></ul>",
            "Related pages": "<ul><li><a href=/c>Cycling in the town and around it</a></ul>",
            "Hours": f"<p>{SENTENCE}</p>",
            "News": "<ul><li><a href=/n>The mayor opens the bridge today</a></ul>",
        }
        sections = [f"<h2>{title}</h2>{html}" for title, html in lists.items()]
        boxes = "".join(f"<section class=part>{section}</section>" for section in sections)
        plain = "".join(sections)
        boxed = plain.replace("<ul>", "<div><ul>").replace("</ul>", "</ul></div>")
        for sign, body in (("", plain), ("", boxed), ("", boxes), (ARTICLE, plain)):
            with self.subTest(sign=sign, body=body):
                text = content.extract(sign + article(f"<p>{SENTENCE * 8}</p>{body}"))
                for words in ("Form 1: a change of the car", "Form 3", "Zone 7", "Hours"):
                    self.assertIn(words, text)
                for words in ("Cycling", "mayor"):
                    self.assertNotIn(words, text)

    def test_a_sentence_that_is_a_link_stays_and_a_promotion_goes(self) -> None:
        prose = (
            "<p>A paragraph of the article, long enough to be read as one, without any link.</p>"
        )
        sentence = "The trial is expected to begin in March and to last three weeks."
        linked = f'<div class="wrapper"><p><strong><a href="x">{sentence}</a></strong></p></div>'
        body = f"{prose * 2}{linked}<p><a href=z>Read more: {sentence}</a></p>{prose * 2}"
        text = content.extract(article(body))
        self.assertEqual(text.count(sentence), 1)

    def test_documentation_on_comments_or_tags_keeps_its_sections(self) -> None:
        code = "<h2>Comments</h2><p>Begin with two dashes:</p><pre>-- a comment</pre>"
        prose = (
            "<h2>Tags</h2><p>A tag names a version, so that everybody talks about the same one; "
            "it never moves, unlike a branch.</p>"
        )
        text = content.extract(article(f"<p>Quill's language is small.</p>{code}{prose * 6}"))
        self.assertIn("-- a comment", text)
        self.assertIn("it never moves", text)

    def documentation(self, body: str) -> str:
        head = '<meta name="generator" content="Docutils 0.19">'
        prose = "<p>Quill reads a file of settings, and each line of it names one of them.</p>"
        return str(markdown.extract_markdown(f"{head}<main><h1>Quill</h1>{prose}{body}</main>"))

    def test_sections_of_documentation_are_not_judged_by_subject(self) -> None:
        for name in ("comments", "cookies", "related", "share", "sidebar", "search", "footer"):
            body = f"<section id={name}><h2 id={name}>{name}</h2><p>It stays.</p></section>"
            self.assertIn(f"## {name}\n\nIt stays.", self.documentation(body))
        heading = "<h2 class='anchor anchorTargetStickyNavbar_x'>Options</h2><p>a"
        self.assertIn("## Options", self.documentation(heading))
        note = "<aside class=footnote><p>The author saw it.</aside><span class=author>Ann</span>"
        self.assertIn("The author saw it.\n\nAnn", self.documentation(note))

    def test_documentation_keeps_repeated_text_and_links(self) -> None:
        box = "<div><p>timeout</p><p>How long Quill waits for an answer, in seconds.</p></div>"
        text = self.documentation(f"<h2>get</h2>{box}<h2>put</h2>{box}<p>The end of it.</p>")
        self.assertEqual(text.count("How long Quill waits"), 2)
        links = "<ul>" + "<li><a href=/x>the option that waits</a>" * 4 + "</ul>"
        text = self.documentation(f"<h2>See also</h2><p>See also: {'the rest. ' * 3}</p>{links}")
        self.assertEqual(text.count("- the option that waits"), 4)
        self.assertIn("## See also\n\nSee also: the rest.", text)

    def test_documentation_keeps_text_next_to_navigation_links(self) -> None:
        text = "<p>" + "A connection is opened, used and closed again. " * 8 + "</p>"
        links = "<a rel=prev href=a>Opening many</a> <a rel=next href=b>Closing them</a>"
        for beside, count in (("", 24), (text, 32)):
            shown = self.documentation(f"{text * 3}<div>{links}{beside}</div>")
            self.assertEqual(shown.count("A connection is opened"), count)
            self.assertEqual("Closing them" in shown, bool(beside))

    def test_documentation_loses_permalinks_and_controls(self) -> None:
        around = "<div><a href=/a>Previous</a> Files and folders <a href=/b>Next</a></div>"
        text = self.documentation(
            "<h2 id=a>Files<a href=#a>\u00b6</a></h2><dl><dt>f()<a href=/s>[source]</a>"
            "<dd>It reads.</dl><div><pre>a</pre><a href=/play>Run</a></div>"
            f"<h2>The source</h2>{around}"
        )
        self.assertIn("## Files\n\n- **f()**\n  It reads.\n\n```\na\n```\n\n## The source", text)
        for gone in ("Run", "[source]", "Previous", "Next"):
            self.assertNotIn(gone, text)

    def test_a_page_with_code_and_anchors_is_documentation(self) -> None:
        body = "<h2 id=how-to-ask>How to ask</h2><p><code>a</code><pre>b</pre>" * 3
        page = page_tree.PageTree(f'<div itemprop="articleBody">{body}</div>')
        self.assertTrue(page.is_documentation)
        self.assertFalse(page.is_article)
        self.assertFalse(page_tree.PageTree(ARTICLE + body).is_documentation)
        self.assertFalse(
            page_tree.PageTree("<h2 id=how-to-ask>How to ask</h2><p>a" * 9).is_documentation
        )

    def test_a_tab_comes_before_its_panel(self) -> None:
        panels = "<div>{0}<p>brew install quill</p></div><div>{0}<p>apt install quill</p></div>"
        labels = "<div><label for=a>Mac</label><label for=b><code>Linux</code></label></div>"
        by_id = (
            "<div role=tablist><button role=tab aria-controls=x>Mac</button>"
            "<button role=tab aria-controls=y><code>Linux</code></button></div><p>Then:</p>"
            "<div id=x><p>brew install quill</p></div><div id=y><p>apt install quill</p></div>"
        )
        for tabs in (
            by_id,
            f"{labels}<div>{panels.format('')}</div>",
            "<ul role=tablist><li role=tab>Mac<li role=tab><code>Linux</code></ul>"
            + panels.format("").replace("<div>", "<div role=tabpanel>"),
            (
                "<ul><li><a href=#x>Mac</a><li><a href=#y><code>Linux</code></a></ul>"
                "<div id=x><p>brew install quill</div><div id=y hidden><p>apt install quill</div>"
            ),
        ):
            text = self.documentation(tabs)
            self.assertIn("**Mac**\n\nbrew install quill\n\n**`Linux`**\n\napt install", text)

    def test_panels_inside_tabs_are_read_in_place(self) -> None:
        row = (
            "<ul role=tablist><li role=tab aria-controls=p{0}>tab {0}<div id=p{1}>panel {1}</div>"
            "<li role=tab aria-controls=q{0}>tab<div id=q{0}>panel</div></ul>"
        )
        text = self.documentation("".join(row.format(n, n + 1) for n in range(400)))
        self.assertIn("tab 7", text)
        self.assertIn("panel 7", text)
        part = "<div id={0}><div role=tabpanel aria-labelledby={0}><p>Write with {0}.</div></div>"
        text = self.documentation(f"<div>{part.format('oil')}{part.format('tar')}</div>")
        self.assertIn("Write with oil.\n\nWrite with tar.", text)

    def test_readers_comments_are_dropped_at_any_length(self) -> None:
        post = (
            "<div class=post><h1>A walk</h1><p>"
            + "We went to the lake before noon. " * 8
            + "</div>"
        )
        for names in ("id=comments", "class=comment-list", "class='comments-area' id=respond"):
            comment = "<div class='comment depth-1'><p>" + "I was there, too, last week. " * 40
            text = content.extract(f"{post}<div {names}>{comment * 20}</div>")
            self.assertIn("We went to the lake", text)
            self.assertNotIn("I was there", text)

    def test_questions_that_unfold_their_answers_are_kept(self) -> None:
        body = (
            "<h3><button>How much is it?</button></h3><p>Six hundred and forty for three rooms.</p>"
        )
        self.assertIn("How much is it?", content.extract(article(body * 2)))

    def test_a_long_article_among_teasers_is_the_content(self) -> None:
        prose = (
            "<p>A paragraph of the article, long enough to be one, stands here for the test.</p>"
        )
        teaser = "<article><h2>Other</h2><p>A teaser of some other text of today.</p></article>"
        html = (
            "<html><head><meta property=og:type content=article></head><body>"
            f"{teaser * 9}<article><h1>This</h1>{prose * 20}</article>{teaser * 30}</body></html>"
        )
        text = content.extract(html)
        self.assertEqual(text.count("stands here for the test"), 20)
        self.assertNotIn("teaser", text)

    def test_an_element_named_as_text_wins_over_longer_teasers(self) -> None:
        prose = "<p>A sentence of the article, long enough to count as one, stands here, too.</p>"
        teaser = (
            "<div class=box><h3>Other</h3>"
            "<p>A teaser of another text is a sentence long and ends with a date, May {}.</p></div>"
        )
        boxes = "".join(teaser.format(number) for number in range(20))
        head = "<html><head><meta property=og:type content=article></head>"
        for named in ("class=entry-content", "class='x td-post-content'", "itemprop=articleBody"):
            html = (
                f"{head}<body><div><h1>Title</h1><div {named}>{prose * 16}</div>"
                f"<div class=row>{boxes}</div></div></body></html>"
            )
            text = content.extract(html)
            self.assertEqual(text.count("stands here, too"), 16)
            self.assertNotIn("teaser", text)

    def test_a_text_in_parts_with_one_name_is_read_whole(self) -> None:
        prose = (
            "<p>A sentence of part {}, long enough to count as one, stands here in the text.</p>"
        )
        parts = "".join(
            f"<div><div class=article-body>{prose.format(part) * (8 - part)}</div></div>"
            for part in (1, 2, 3)
        )
        text = content.extract(article(parts))
        for part in (1, 2, 3):
            self.assertIn(f"part {part}", text)

    def test_a_class_that_says_there_is_a_sidebar_is_not_the_sidebar(self) -> None:
        prose = "<p>A sentence of the article, long enough to count as one, stands here alone.</p>"
        others = (
            "<p>A sentence about another article, which is long enough as well, stands here.</p>"
        )
        for name in ("and-w-sidebar", "has-sidebar", "main-with-sidebar"):
            html = f"<div class='{name}'>{prose * 5}</div><div class=sidebar>{others * 3}</div>"
            text = content.extract(article(html + f"<div>{others * 6}</div>"))
            self.assertEqual(text.count("stands here alone"), 5, name)

    def test_a_page_whose_text_rules_drop_is_not_empty(self) -> None:
        prose = "<p>A sentence of the only text that this page has stands in a box of its own.</p>"
        boxes = "".join(f"<div class='{name}'>{prose}</div>" for name in ("rail", "footer", "menu"))
        self.assertIn("the only text", content.extract(f"<html><body>{boxes}</body></html>"))

    def test_tags_escaped_twice_are_removed(self) -> None:
        prose = "<p>A sentence of the article, long enough to count as one, stands here.</p>"
        picture = "&lt;img src=&quot;https://site.example/a.jpg&quot; width=1&gt;"
        body = (
            f"<div>{picture}</div>{prose * 5}<p>Write <code>&lt;img alt=kettle&gt;</code> so.</p>"
        )
        text = content.extract(article(body))
        self.assertNotIn("a.jpg", text)
        self.assertIn("<img alt=kettle>", text)

    def test_a_text_in_two_columns_is_read_whole(self) -> None:
        prose = (
            "<p>Words of column {} that make up a paragraph which nobody would want to miss.</p>"
        )
        columns = [f"<div class=col-text>{prose.format(n) * (9 - 4 * n)}</div>" for n in (1, 2)]
        html = f"<html><body><div>{'<div>picture</div>'.join(columns)}</div></body></html>"
        self.assertIn("Words of column 2", content.extract(html))

    def test_documentation_keeps_code_tables_and_lists(self) -> None:
        self.assert_kept(
            "timeouts.html",
            ("quill.Client(timeout=5)", "name lookup", "gives up", "does the name resolve?"),
            ("Getting started", "Built with care", "Home /"),
        )

    def test_forum_threads_and_answers_are_content(self) -> None:
        self.assert_kept(
            "thread.html",
            ("brown spots at the bottom", "blossom end rot", "straw", "tomatilla"),
            ("Log in", "Powered by"),
        )
        self.assert_kept("question.html", ("Warm the key", "Graphite powder"), ("padlock",))
        self.assert_kept("crawler.html", ("kingfishers", "a hide matters"), ())

    def test_shops_and_collections_keep_their_short_texts(self) -> None:
        self.assert_kept("kettle.html", ("solid copper", "1.1 kilograms", "89.00"), ("All pots",))
        self.assert_kept("kettles.html", ("Camping kettle", "34.50", "Watch it boil."), ())
        self.assert_kept("moving.html", ("Two carts", "Packing", "640"), ("since 1987",))
        self.assert_kept("news.html", ("Ferry back", "closes at ten", "sold out at nine"), ())

    def test_hidden_text_and_invisible_characters_are_removed(self) -> None:
        html = (PAGES / "hidden.html").read_text(encoding="utf-8")
        text = markdown.extract_markdown(html)
        self.assertIn("Honey that has become solid turns liquid", text)
        for words in ("Ignore all", "maintenance", "best honey", "system prompt"):
            self.assertNotIn(words, text)

    def test_text_that_a_script_shows_is_kept(self) -> None:
        body = "<p>Text that the server sent and a script uncovers, sentence by sentence.</p>" * 4
        html = f"<html><body><div>Loading</div><div hidden id=S:1>{body}</div></body></html>"
        self.assertIn("a script uncovers", content.extract(html))

    def test_repeated_teasers_without_names_are_dropped(self) -> None:
        body = "".join(
            f"<p>Sentence {number} of the article tells what the mill ground in its year {number}, "
            "and who came to it with a cart, a sack and a little time to talk.</p>"
            for number in range(8)
        )
        teasers = "".join(
            f"<div class=c{number % 3}><h3><a href=/t{number}>Headline of text {number}</a></h3>"
            f"<p>A teaser says in one sentence what text {number} is about, and for whom.</p>"
            f"<span>{number + 1} May</span></div>"
            for number in range(24)
        )
        html = (
            "<html><head><title>The mill and its carts</title><meta property=og:type "
            f"content=article></head><body><div><div><h1>The mill and its carts</h1>{body}</div>"
            f"<div class=k7>{teasers}</div></div></body></html>"
        )
        text = content.extract(html)
        self.assertEqual(text.count("of the article tells"), 8)
        self.assertNotIn("A teaser says", text)

    def article_page(self, around: str) -> str:
        """Return the text of an article page; around: HTML with BODY as the article."""
        body = "".join(
            f"<p>Sentence {number} of the article tells what the mill ground in its year {number}, "
            "and who came to it with a cart, a sack and a little time to talk.</p>"
            for number in range(4)
        )
        sign = "<meta property=og:type content=article>"
        page = f"<html><head>{sign}</head><body>{around.replace('BODY', body)}</body></html>"
        text: str = content.extract(page)
        self.assertEqual(text.count("of the article tells"), 4)
        return text

    def test_a_short_article_is_found_among_long_teasers(self) -> None:
        items = "".join(
            f"<li class=q{number}><div>{number} May 2021</div><div><a href=/t{number}>Headline of "
            f"text {number}</a></div><p>A teaser says in a long sentence what text {number} is all "
            "about, for whom it is, and why nobody should miss it on this day of May.</p></li>"
            for number in range(40)
        )
        text = self.article_page(f"<div><h1>The mill</h1>BODY</div><ul>{items}</ul>")
        self.assertNotIn("A teaser says", text)

    def test_a_list_of_links_between_paragraphs_stays(self) -> None:
        items = "".join(
            f"<li><p><a href=/s{number}>Source number {number} of the text</a>, a book</p></li>"
            for number in range(6)
        )
        last = "The last sentence of the text stands below the sources, and says where they are."
        text = self.article_page(f"<div><h1>The mill</h1>BODY<ul>{items}</ul><p>{last}</p></div>")
        self.assertEqual(text.count("a book"), 6)
        self.assertIn(last, text)

    def test_dated_comments_without_names_are_dropped(self) -> None:
        said = "".join(
            f"<div class=z1><div>Guest {number}, {number + 1} May 2021 at 10:{number}</div><p>What "
            f"I think of mills, said at some length by guest {number}, is that they turn.</p></div>"
            for number in range(10, 40)
        )
        text = self.article_page(f"<div><div><h1>The mill</h1>BODY</div><div>{said}</div></div>")
        self.assertNotIn("What I think", text)

    def test_short_boxes_next_to_the_paragraphs_are_dropped(self) -> None:
        box = (
            "<div class=v3><p>The writer of this text lives by a mill, and has a cat and two dogs "
            "that like to be written about.</p></div><div class=v4>Send it to a friend</div>"
        )
        text = self.article_page(f"<div><div><h1>The mill</h1><div>BODY</div>{box}</div></div>")
        self.assertNotIn("The writer of this text", text)
        self.assertNotIn("a friend", text)

    def test_the_element_around_the_paragraphs_is_kept(self) -> None:
        other = "<p>Another text that is longer than the text of the page, and not wanted.</p>"
        for name in ("l-sidebar-right", "post-related-wrapper", "article-share-container"):
            with self.subTest(name):
                self.article_page(
                    f"<div class={name}><h1>The mill</h1>BODY</div>"
                    + f"<div><section>{other}</section></div>" * 14
                )

    def test_the_paragraph_that_opens_a_long_list_is_kept(self) -> None:
        opening = (
            "<p>The mills below grind corn in the north of the county, in order of their age.</p>"
        )
        for tag, item in (("ul", "li"), ("ol", "li"), ("dl", "dd")):
            items = "".join(f"<{item}><p>Mill {n}: {SENTENCE}</p>" for n in range(30))
            article = f"<article><h1>Mills</h1>{opening}<{tag}>{items}</{tag}></article>"
            page = f"<nav><a href=/>Home</a></nav><div class=main>{article}</div>"
            with self.subTest(tag):
                self.assertIn("in order of their age", content.extract(page))

    def test_a_short_post_with_many_comments_is_kept(self) -> None:
        post = (
            "<p>The open thread is for everything that has no other place this week. Be kind.</p>"
        )
        comment = (
            "<li class=comment><p>I have read a book about lighthouses, and liked it.</p></li>"
        )
        html = (
            f"<html><body><main><h1>Open thread</h1><div class=entry-content>{post}</div>"
            f"<ol class=comment-list>{comment * 30}</ol></main></body></html>"
        )
        self.assertIn("no other place this week", content.extract(html))

    def kept(self, body: str, head: str = "") -> str:
        """Return the text of a page of some paragraphs with this body below them."""
        prose = "".join(f"<p>Paragraph {number} {SENTENCE}</p>" for number in range(4))
        html = (
            f"<html><head>{head}</head><body><main><h1>Title</h1>{prose}{body}</main></body></html>"
        )
        text: str = content.extract(html)
        return text

    def test_a_long_sentence_before_an_article_is_its_lead(self) -> None:
        prose = f"<div class=q7><p>{SENTENCE * 5}</p><p>{SENTENCE * 7}</p></div>"
        lead = f"The bakers of the valley mill at night, as a visit shows. {SENTENCE}"
        for before, is_kept in (
            (f"<div class=x1><p>{lead}</p></div>", True), (f"<h2>{lead}</h2>", True),
            ("<h2>The bakers of the valley mill at night.</h2>", False),
            (f"<p>{lead} and no end</p>", False), (f"<p><a href=/a>{lead}</a></p>", False),
        ):  # fmt: skip
            with self.subTest(before[:30]):
                html = f"<body><div><h1>Title</h1>{before}<div>8 min</div>{prose}</div></body>"
                self.assertEqual("bakers of the" in content.extract(ARTICLE + html), is_kept)

    def test_a_lead_named_teaser_stays_but_not_links_so_named(self) -> None:
        lead = f'<div class="teaser-text"><p>The lead of it: {SENTENCE}</p></div>'
        box = f'<div class="teaser"><p><a href="/b">The box of it</a>: {SENTENCE}</p></div>'
        html = f"<body><article>{lead}{box}<p>{SENTENCE * 9}</p></article></body>"
        text = content.extract(ARTICLE + html)
        self.assertIn("The lead of it", text)
        self.assertNotIn("The box of it", text)

    def test_dates_before_an_article_and_empty_sections_are_dropped(self) -> None:
        prose = f"<p>{SENTENCE}</p>" * 2
        table = "<table><tr><td>Opened</td><td>7 May 1931</td></tr></table>"
        text = f"<p>23.10.2018</p>{table}<h2>Part</h2>{prose}<h3>Read on?</h3>"
        html = f"<body><article>{text}</article>"
        text = content.extract(ARTICLE + html)
        for stays in ("7 May 1931", "Part"):
            self.assertIn(stays, text)
        for gone in ("23.10.2018", "Read on?"):
            self.assertNotIn(gone, text)
        self.assertIn("Read on?", content.extract(html))

    def test_class_names_in_code_drop_nothing(self) -> None:
        code = (
            '<pre><code><span class="lineno">7</span><span class="token tag">&lt;button</span>'
            '<span class="hljs-comment"># a note</span><span class="hljs-meta">@cache</span>'
            "</code></pre>"
        )
        text = self.kept(code)
        for word in ("<button", "# a note", "@cache"):
            self.assertIn(word, text)
        self.assertNotIn("7", text)

    def test_a_consent_dialog_of_any_length_is_dropped(self) -> None:
        dialog = (
            f'<div id="onetrust-consent-sdk"><p>{"We value your privacy a lot. " * 40}</p></div>'
        )
        items = "".join(f"<li>Item {number} of the shop</li>" for number in range(20))
        text = content.extract(f"<body><ul>{items}</ul>{dialog}</body>")
        self.assertIn("Item 7", text)
        self.assertNotIn("privacy", text)

    def test_a_thread_by_url_or_data_keeps_its_comments(
        self,
    ) -> None:
        posts = "".join(
            f'<div class="Comment"><p>Answer {number} {SENTENCE}</p></div>' for number in range(3)
        )
        posts = f'<div class="CommentsWrap">{posts}</div>'
        post = f"<article><p>Question {SENTENCE * 4}</p></article>"
        for sign, is_thread in (
            ('<link rel="canonical" href="https://forum.site.example/7/title">', True),
            ('<meta property="og:url" content="https://site.example/discussion/7/title">', True),
            (
                '<script type="application/ld+json">{"@type":"DiscussionForumPosting"}</script>',
                True,
            ),
            ('<link rel="canonical" href="https://site.example/topics/cameras/">', False),
        ):
            with self.subTest(sign):
                text = content.extract(f"<head>{ARTICLE}{sign}</head><body>{post}{posts}</body>")
                self.assertIn("Question", text)
                self.assertEqual("Answer 2" in text, is_thread)

    def test_facts_about_authors_are_dropped_from_threads_only(self) -> None:
        beside = (
            '<div class="message-userExtras">Joined in 2009</div><div class="signature">Salt!</div>'
        )
        thread = '<link rel="canonical" href="https://site.example/threads/7/">'
        self.assertNotIn("2009", (text := self.kept(beside, thread)))
        self.assertNotIn("Salt!", text)
        self.assertIn("Salt!", self.kept(beside))

    def test_copies_of_boxes_are_dropped_not_repeats_in_lists(self) -> None:
        box = f"<section><div><h2>Prices</h2><p>{SENTENCE}</p></div></section>"
        item = f"<li><div><b>field</b><p>{SENTENCE}</p></div></li>"
        self.assertEqual(self.kept(box * 3).count("Prices"), 1)
        self.assertEqual(self.kept(f"<ul>{item * 3}</ul>").count("field"), 3)

    def test_equal_facts_of_cards_are_not_copies(self) -> None:
        ends = "since May of the last year</p></div>"
        price = f"<div class=price><p>Now 79.90 crowns</p><p>Before: 139.90 crowns, {ends}"
        user = f"<div><p><a href=/a>Ada Finch</a> from the mill</p><p>Posts: 1,204, {ends}"
        for box, text in ((price, ""), (user, SENTENCE)):
            cards = "".join(f"<div class=card><p>{n}. {text}</p>{box}</div>" for n in range(1, 4))
            self.assertEqual(self.kept(cards).count("since May"), 3)
            self.assertEqual(self.kept(f"<div class=card>{box * 3}</div>").count("since May"), 1)
        slides = "".join(f"<div class=slides>{user}<p>{n}</p></div>" for n in range(1, 4))
        self.assertEqual(self.kept(slides).count("Ada Finch"), 1)

    def test_a_thread_does_not_repeat_quoted_posts(self) -> None:
        post = f"<p>The first post: {SENTENCE}</p>"
        answer = f"<blockquote>{post}</blockquote><p>An answer: {SENTENCE}</p>"
        body = f"<div>{post}</div><div>{answer}</div>"
        thread = '<link rel="canonical" href="https://site.example/threads/7/">'
        self.assertEqual(self.kept(body, thread).count("The first post"), 1)
        self.assertEqual(self.kept(body).count("The first post"), 2)
        self.assertIn("An answer", self.kept(body, thread))

    def test_text_that_a_click_unfolds_is_content(self) -> None:
        for panel, is_kept in (
            ('<div role="tabpanel" aria-hidden="true">', True),
            ('<div class="accordion__panel" style="display: none">', True),
            ('<div class="tab hidden">', True), ('<div style="display: none">', False),
            ('<div class="hidden">', False), ('<div class="toggle" role="dialog">', False),
        ):  # fmt: skip
            with self.subTest(panel):
                text = self.kept(f"{panel}<p>Within: {SENTENCE}</p></div>")
                self.assertEqual("Within" in text, is_kept)

    def test_forms_are_dropped_unless_the_page_is_a_form(self) -> None:
        self.assertNotIn("Your name", self.kept("<form><label>Your name</label><input></form>"))
        page = self.kept("<p>The last one.</p>").replace("\n", "</p><p>")
        html = f"<body><form action=/page.aspx><p>{page}</p></form></body>"
        self.assertIn("Paragraph 3", content.extract(html))

    def test_a_long_element_is_not_a_byline(self) -> None:
        for tag_line, is_kept in (("By Ann Baker", False), ("A long note: " + SENTENCE * 9, True)):
            with self.subTest(tag_line[:12]):
                body = f'<div class="meta"><div>{tag_line}</div></div>' + f"<p>{SENTENCE}</p>" * 30
                self.assertEqual(tag_line[:12] in self.kept(body), is_kept)

    def test_a_linked_paragraph_stays_outside_of_articles(self) -> None:
        link = '<p><a href="/download">The download of the tool, 3 MB</a></p>'
        self.assertIn("3 MB", self.kept(link))
        self.assertNotIn("3 MB", self.kept(link, ARTICLE))

    def test_class_names_of_layouts_and_shops_drop_nothing(self) -> None:
        for names in ("content-sidebar-wrap", "product product_tag-utility product_cat-latest"):
            with self.subTest(names):
                items = "<ul><li>One episode</li><li>Another</li></ul>"
                self.assertIn("One episode", self.kept(f'<div class="{names}">{items}</div>'))

    def test_broken_and_unclosed_markup_loses_no_sentence(self) -> None:
        self.assert_kept(
            "broken_tags.html", ("closed", "must not be lost", "third", "which is here"), ()
        )
        self.assert_kept("unclosed.html", ("neither the paragraph", "down to the last one"), ())

    def test_a_page_without_names_is_read_by_its_sentences(self) -> None:
        self.assert_kept(
            "plain_boxes.html", ("boxes without any name", "second paragraph"), ("previous",)
        )

    def test_a_page_of_few_words_is_not_empty(self) -> None:
        self.assertEqual(content.extract("<html><body>Hello, world</body></html>"), "Hello, world")
        self.assertEqual(content.extract("just text"), "just text")
        self.assertEqual(content.extract(""), "")


class Markdown(unittest.TestCase):
    """Markdown that renders as the page does."""

    def test_text_beyond_the_limit_is_cut_and_said(self) -> None:
        for left, is_cut in ((8, True), (9, False)):
            writer = markdown.MarkdownWriter()
            writer.chars_left = left
            found = content.find_content("<p>wind tide</p>")
            self.assertEqual(writer.markdown(*found.parts), "wind tide"[:left])
            self.assertIs(writer.cut, is_cut)

    def test_every_element_is_written_in_its_form(self) -> None:
        for html, expected in (
            ("<p>a <b>b</b> <em>c</em> <code>d</code> <del>e</del></p>", "a **b** *c* `d` ~~e~~"),
            (
                "<p>1<sup>3</sup>&frasl;<sub>4</sub> or <sup>1</sup>/<sub>2</sub></p>",
                "1 3/4 or 1/2",
            ),
            ("<p>x<sup>2</sup>/4 and 10<sup>6</sup></p>", "x^2/4 and 10^6"),
            ("<p><i style='text-decoration-line: line-through'>9</i> 8</p>", "*9* 8"),
            ("<p><span style='text-decoration: line-through'>9</span> 8</p>", "~~9~~ 8"),
            ("<h2>Head <i>line</i></h2>", "## Head *line*"),
            ("<p>a<br>b<br><br>c</p>", "a  \nb\n\nc"),
            ("<ul><li>a<li>b<ul><li>c</ul></ul>", "- a\n- b\n  - c"),
            ("<ul><li><ul><li>a<li>b</ul><li>c</ul>", "- a\n- b\n- c"),
            ("<ol start=9><li>a<li>b<p>c</p></ol>", "9. a\n10. b\n\n    c"),
            ("<blockquote><p>a</p><p>b</p></blockquote>", "> a\n>\n> b"),
            ("<pre>a\n  b</pre>", "```\na\n  b\n```"),
            ("<pre><code class='x language-js'>a</code></pre>", "```js\na\n```"),
            ("<div class='highlight-source-sh'><pre>a</pre></div>", "```sh\na\n```"),
            ("<pre>a<br>b<div>c</div><div>d</div></pre>", "```\na\nb\nc\nd\n```"),
            ("<pre>```</pre>", "````\n```\n````"),
            ("<p><code>a`b</code></p>", "``a`b``"),
            (
                "<table><tr><th>a<th>b<tr><td>1|2<td>3</table>",
                "| a | b |\n| --- | --- |\n| 1\\|2 | 3 |",
            ),
            (
                "<table><tr><td colspan=2>a<tr><td>b<td>c</table>",
                "| a |  |\n| --- | --- |\n| b | c |",
            ),
            ("<table><tr><td><p>only</p></table>", "only"),
            ("<dl><dt>a<dd>b<dt>c<dd>d</dl>", "- **a**\n  b\n- **c**\n  d"),
            ("<ul><li><img alt=✅ src=a> a<li><img alt='⚠️' src=b> b</ul>", "- ✅ a\n- ⚠️ b"),
            ("<dl><dt>a<dd><dt>c<dt>e<dd>d</dl>", "- **a**\n- **c**\n  **e**\n  d"),
            ("<img alt='A red boat' src=x.png>", "[image: A red boat]"),
            ("<img alt='' src=x.png><img alt='DSC_0001.JPG'>", ""),
            ("<details><summary>More</summary><p>a</p></details>", "**More**\n\na"),
            ("<p>a<script>b()</script><style>c</style><!-- d --></p>", "a"),
        ):
            with self.subTest(html):
                self.assertEqual(markdown_of(html), expected)

    def test_a_table_with_the_icon_of_a_note_is_layout(self) -> None:
        html = (
            "<table><tr><td rowspan=2><img alt='[Note]' src=n.png></td><th>Note</th></tr>"
            "<tr><td><p>Mind the rope.</p></td></tr></table>"
        )
        self.assertEqual(markdown_of(html), "Note\n\nMind the rope.")

    def test_sort_keys_go_and_flags_are_words_in_tables(self) -> None:
        html = (
            "<table><tr><th>Name<th>Flag<tr><td><span class=sortkey>Watt, Prue</span>"
            "<a href=p>Prue Watt</a><td><img alt='New Zealand' src=n.png>"
            "<tr><td><img alt=Wales src=w.png> Ann Lee<td>none</table>"
        )
        rows = "| Prue Watt | New Zealand |\n| (Wales) Ann Lee | none |"
        self.assertEqual(markdown_of(html), f"| Name | Flag |\n| --- | --- |\n{rows}")

    def test_text_that_looks_like_markup_stays_text(self) -> None:
        for text, expected in (
            ("# no heading", "\\# no heading"), ("1. no list", "1\\. no list"),
            ("- no list", "\\- no list"), ("> no quote", "\\> no quote"), ("*a*", "\\*a\\*"),
            ("3 * 4 * 5", "3 * 4 * 5"), ("snake_case_name", "snake_case_name"),
            ("__init__", "\\_\\_init\\_\\_"), ("&lt;b&gt;", "\\<b>"), ("1 &lt; 2", "1 < 2"),
            ("&amp;lt;", "\\&lt;"), ("[a](b)", "[a\\](b)"), ("a`b", "a\\`b"),
            ("C:\\*", "C:\\\\*"),
            ("~~a~~", "\\~~a\\~~"), ("AT&amp;T", "AT&T"), ("---", "\\---"),
        ):  # fmt: skip
            with self.subTest(text):
                self.assertEqual(markdown_of(f"<p>{text}</p>"), expected)

    def test_links_are_kept_on_request_absolute_and_safe(self) -> None:
        for href, expected in (
            ("x?a=1&amp;b=(2)", "[a](https://site.example/dir/x?a=1&b=%282%29)"),
            ("//other.example/", "[a](https://other.example/)"), ("#part", "a"),
            ("javascript:alert(1)", "a"), ("data:text/html,x", "a"), ("http://[::1", "a"),
            ("mailto:me@site.example", "[a](mailto:me@site.example)"), ("", "a"),
        ):  # fmt: skip
            with self.subTest(href):
                self.assertEqual(
                    markdown_of(f"<p><a href='{href}'>a</a></p>", links=True), expected
                )
        self.assertEqual(markdown_of("<p><a href=x>a</a></p>"), "a")
        card = markdown_of("<a href=/x><h3>Card</h3><p>Text</p></a>", links=True)
        self.assertEqual(card, "### [Card](https://site.example/x)\n\nText")

    def test_deeply_nested_lists_and_quotations_stay_small(self) -> None:
        for unit in ("<ul><li>x", "<blockquote>x", "<ol><li><p>x"):
            text = markdown_of(unit * 20_000)
            self.assertLess(len(text), 20_000 * 60)

    def test_the_language_of_code_is_in_its_names_or_above_it(self) -> None:
        for html, language in (
            ("<div class='highlight-python notranslate'><div class=highlight><pre>a", "python"),
            ("<div class='cpp source-cpp'><pre>a", "cpp"), ("<pre class=rust><code>a", "rust"),
            ("<pre data-lang=toml>a", "toml"), ("<pre class='brush: js; toolbar: false'>a", "js"),
            ("<pre><pre class=playground><code class=language-go>a", "go"),
            ("<div class=highlight-default><pre>a", ""), ("<div class=lang-en><pre>a", ""),
            ("<pre class=example>a", ""),
        ):  # fmt: skip
            with self.subTest(html):
                self.assertEqual(markdown_of(html), f"```{language}\na\n```")
        labelled = "<div class=language-sh><span>sh</span><pre>a</pre></div>"
        self.assertEqual(markdown_of(labelled), "```sh\na\n```")

    def test_code_is_exact_even_outside_of_pre_elements(self) -> None:
        lines = "<div class=line>a {</div>\n<div class=line>\tb</div>"
        for html, code in (
            ("<pre>a\n\tb</pre>", "a\n\tb"),
            (f"<div class=fragment>{lines}</div>", "a {\n\tb"),
            ("<pre>a <span class=comment># b</span></pre>", "a # b"),
        ):
            with self.subTest(html):
                self.assertEqual(markdown_of(html), f"```\n{code}\n```")
        poem = markdown_of("<div class=line-block><div class=line>a</div><div class=line>b</div>")
        self.assertEqual(poem, "a\n\nb")

    def test_headings_and_code_in_terms_keep_their_form(self) -> None:
        for html, expected in (
            ("<details><summary><h3>a</h3></summary><p>b</details>", "### a\n\nb"),
            ("<dl><dt><pre>a</pre><dd>b</dl>", "- ```\n  a\n  ```\n\n  b"),
            ("<dl><dt>a<dt>b<dd><p>c<p>d</dl>", "- **a**\n  **b**\n  c\n\n  d"),
            (
                "<dl><dt>a<dd><table><tr><th>b<th>c<tr><td>1<td>2</table></dl>",
                "- **a**\n\n  | b | c |\n  | --- | --- |\n  | 1 | 2 |",
            ),
        ):
            with self.subTest(html):
                self.assertEqual(markdown_of(html), expected)

    def test_links_in_code_are_kept_around_code_spans(self) -> None:
        for html, expected in (
            ("<code><a href=/x>a</a></code>", "[`a`](https://site.example/x)"),
            ("<code>f(<a href=/x>a</a>)</code>", "`f(`[`a`](https://site.example/x)`)`"),
            ("<p>!<a href=/x>a</a>", "\\![a](https://site.example/x)"),
            ("<p><code>a.</code><code>b</code>()", "`a.b`()"),
        ):
            with self.subTest(html):
                self.assertEqual(markdown_of(html, links=True), expected)
        self.assertEqual(markdown_of("<code>f(<a href=/x>a</a>)</code>"), "`f(a)`")

    def test_every_table_row_can_be_read_on_its_own(self) -> None:
        for rows, expected in (
            ("<tr><td rowspan=2>1<td>2<tr><td>3", "| 1 | 2 |\n| 1 | 3 |"),
            ("<tr><td>1<td rowspan=0>2<tr><td>3<tr><td>4", "| 1 | 2 |\n| 3 | 2 |\n| 4 | 2 |"),
            ("<tr><td colspan=2 rowspan=2>1<tr><tr><td>2<td>3", "| 1 |  |\n| 1 |  |\n| 2 | 3 |"),
            ("<tr><td>1<td><ul><li>2<li>3</ul>", "| 1 | 2; 3 |"),
            ("<tr><td>1<td><p>2</p><pre>3</pre>", "| 1 | 2 `3` |"),
            ("<tr><td rowspan=999999999>1<td colspan=x>2", "| 1 | 2 |"),
        ):
            with self.subTest(rows):
                table = f"<table><tr><th>a<th>b{rows}</table>"
                self.assertEqual(markdown_of(table), f"| a | b |\n| --- | --- |\n{expected}")

    def test_a_table_with_blocks_in_its_cells_is_layout(self) -> None:
        for cell in (
            "<h3>b</h3>",
            "<pre>b\nc</pre>",
            "<table><tr><td>b<td>c<tr><td>d<td>e</table>",
        ):
            text = markdown_of(f"<table><tr><td>a<td>{cell}<tr><td>f<td>g</table>")
            self.assertTrue(text.startswith("a\n\n"), text)
            self.assertTrue(text.endswith("f\n\ng"), text)


class NoContent(unittest.TestCase):
    """Not content: data for programs, consent, pages that a script must fill."""

    COOKIES = (
        "We and our 214 partners store and access information on your device, such as cookies, to "
        "show you advertising that fits, and to learn about those who see it. "
    )
    PREFERENCES = (
        "<h2>Privacy Preference Center</h2><p>When you visit any website, it may store information "
        "on your browser, mostly in the form of cookies.</p><h3>Manage Consent Preferences</h3>"
        "<h4>Targeting Cookies</h4><p>These cookies may be set by our advertising partners, to "
        "build a profile of your interests.</p><button>Confirm My Choices</button>"
    )

    def test_data_for_programs_is_dropped(self) -> None:
        entries = [{"@type": "Question", "name": f"Question {number}"} for number in range(30)]
        data = json.dumps({"@context": "https://schema.org", "@type": "FAQPage", "a": entries})
        props = json.dumps({"props": {"page": {"text": "Loads of text for a script. " * 9}}})
        broken = data.replace(", ", ",<br />\n").replace('"', "\u201d")
        for shown in (data, broken, props):
            text = content.extract(article(f"<p>{SENTENCE * 4}</p><div>{shown}</div>"))
            self.assertNotIn("{", text)
            self.assertIn("three bakers", text)
        self.assertEqual(page_of(f"<body><div>{data}</div>")["details"]["kind"], "unsupported")
        for code in (
            f"<pre>{data}</pre>",
            f"<p><code>{data}</code></p>",
            '<p>{"a": 1} is JSON.</p>',
        ):
            self.assertIn("{", content.extract(article(f"<p>{SENTENCE}</p>{code}")))

    def test_a_consent_box_is_never_the_content(self) -> None:
        mill = f"<div class=c1><h1>The mill</h1><p>{SENTENCE * 3}</p></div>"
        kettle = "<main><h1>Kettle</h1><p>A kettle of solid copper.</p></main>"
        for html, kept, gone in (
            (f"<div class=cookie-banner><p>{self.COOKIES * 9}</p></div>{mill}", "bakers", "214"),
            (f"<div class=prefs>{self.PREFERENCES}</div>{kettle}", "solid copper", "browser"),
            (f"{kettle}<div><div>{self.PREFERENCES}</div></div>", "solid copper", "Targeting"),
            (f"<div class=cookies><h1>Oats</h1><p>{SENTENCE * 5}</p></div>", "bakers", "214"),
            (f"<title>Our cookies</title><div id=cookies>{self.COOKIES * 5}</div>", "214", "xx"),
        ):  # fmt: skip
            with self.subTest(html[:40]):
                text = content.extract(f"<html><body>{html}</body></html>")
                self.assertIn(kept, text)
                self.assertNotIn(gone, text)

    def test_a_page_that_a_script_must_fill_is_an_error(self) -> None:
        menu = "".join(f"<a href=/{number}>Menu word {number}</a> " for number in range(30))
        for body in (
            "<div class=content><p>Loading...</p></div>",
            f"<div>{menu}</div><div id=main><div class=spinner>Wird geladen …</div></div>",
            f"<ul>{menu}</ul><div id=app><div class=loader><i></i></div></div>",
            f"<nav>{menu}</nav><div id=root></div><div>{self.PREFERENCES}</div>",
        ):
            page = page_of(f"<title>Shop</title><body>{body}<script src=x></script></body>")
            self.assertEqual(page["details"]["kind"], "blocked", body)
            self.assertIn("only JavaScript fills", page["error"])
        for body in (f"<div>{menu}</div>", f"<p>{SENTENCE * 3}</p><p>Loading comments...</p>"):
            self.assertIn("text", page_of(f"<title>Shop</title><body>{body}</body>"))

    def test_the_error_of_a_frameset_names_its_frames(self) -> None:
        far, menu = "<frame src=//ads.example/top>", "<frame src=menu.html><frame src=menu.html>"
        script, itself = "<frame src=javascript:x()><frame>", "<frame src=http://x/>"
        main = '<frame name=main src="/main page.html#top"><frame src=c.html><frame src=d.html>'
        no = "<noframes><p>Your browser has no frames.</p></noframes>"
        for inside, hint in (
            (
                f"{far}{script}<frameset>{menu}{main}</frameset>{itself}{no}",
                "Read http://x/menu.html, http://x/main%20page.html, http://x/c.html.",
            ),
            (far + menu, "Read http://x/menu.html, http://ads.example/top."),
            (script + itself, "Open the page in a browser"),
        ):
            page = page_of(f"<title>Club</title><frameset rows=90,*>{inside}</frameset>")
            self.assertIn("without any text", page["error"])
            self.assertIn(hint, page["details"]["hint"])


class Faithful(unittest.TestCase):
    """The text of a page says what the page says."""

    def test_pages_match_their_expected_markdown(self) -> None:
        text = Path(__file__).with_name("faithful.txt").read_text(encoding="utf-8")
        cases = re.findall(r"(?ms)^([^\n<]+)\n(<[^\n]+)\n=>\n(.*?)(?=\n\n[^\n<]+\n<|\n*\Z)", text)
        self.assertGreater(len(cases), 20)
        for name, html, expected in cases:
            with self.subTest(name):
                page = page_of(f"<main><h1>T</h1><p>First.</p>{html}</main>")
                self.assertEqual(page["text"], f"First.\n\n{expected}")


class Metadata(unittest.TestCase):
    def found(self, head: str, body: str = "<p>x</p>", attributes: str = "") -> dict[str, str]:
        page = page_tree.PageTree(
            f"<html {attributes}><head>{head}</head><body>{body}</body></html>"
        )
        fields: dict[str, str] = metadata.find_metadata(page).fields
        return fields

    def test_linked_data_precedes_open_graph_and_markup(self) -> None:
        data = (
            '<script type="application/ld+json">{"@graph": ['
            '{"@type": "Organization", "name": "Org"},'
            '{"@type": ["NewsArticle"], "headline": "From data", "author": [{"name": "A"}, "B"],'
            '"datePublished": "2024-05-06T07:08:09Z"}]}</script>'
        )
        meta = (
            "<title>From title</title><meta property=og:title content='From graph'>"
            "<meta name=author content=Meta>"
        )
        found = self.found(data + meta, attributes="lang=en-US")
        self.assertEqual(found["title"], "From data")
        self.assertEqual(found["author"], "A, B")
        self.assertEqual(found["published"], "2024-05-06T07:08:09Z")
        self.assertEqual(found["language"], "en-US")
        found = self.found(meta)
        self.assertEqual((found["title"], found["author"]), ("From graph", "Meta"))

    def test_a_first_section_is_not_the_title(self) -> None:
        body = "".join(f"<h1>{name}</h1><p>{SENTENCE * 3}</p>" for name in ("How to apply", "Fees"))
        found = page_of(f"<title>Permits | Harbor</title><p>{SENTENCE * 3}</p>{body}")
        self.assertEqual(found["title"], "Permits | Harbor")
        self.assertIn("# How to apply", found["text"])

    def test_markup_is_the_last_source(self) -> None:
        body = (
            "<h1>Head &amp; li<em>ne</em></h1><a rel=author>by Jo Doe</a>"
            "<time datetime='PT5M'>5 minutes</time><time datetime='2023-01-02'>x</time>"
        )
        found = self.found("<title>Title</title>", body)
        self.assertEqual(
            found, {"title": "Head & line", "author": "Jo Doe", "published": "2023-01-02"}
        )
        for heading, title in (
            ("Plot<a class=headerlink href='#plot'>#</a>", "Plot"),
            ("Plot <a href='#plot'>¶</a>", "Plot"), ("C#", "C#"),
            ("<a href='#plot'>#</a> Plot", "Plot"),
            ("The <a href='#map'>map</a>", "The map"), ("In <a href='/c'>#</a>", "In #"),
        ):  # fmt: skip
            self.assertEqual(
                self.found("<title>Title</title>", f"<h1>{heading}</h1>"), {"title": title}
            )

    def test_an_author_is_a_name_without_date_and_controls(self) -> None:
        for text, name in (
            ("By: Jo Doe", "Jo Doe"), ("Written by Jo Doe", "Jo Doe"), ("Author: Jo", "Jo"),
            ("By Jo Doe last updated 4 April 17 \u2022 5 min read", "Jo Doe"),
            ("Jo Doe | May 4, 2024", "Jo Doe"), ("Jo Doe on May 4, 2024", "Jo Doe"),
            ("Jo Doe, 4. M\u00e4rz 2024", "Jo Doe"), ("Jo Doe 5 min read", "Jo Doe"),
            ("Jo Doe See full bio", "Jo Doe"), ("Jo Doe - Staff", "Jo Doe"), ("R2D2", "R2D2"),
            ("Byron May", "Byron May"), ("Anne O'Neil, Al June", "Anne O'Neil, Al June"),
            ("byJo Doe", "Jo Doe"), ("Postby Jo \u00bb 4 May", "Jo"), ("Jo Doe (Author)", "Jo Doe"),
            ("The Quay - Jo Doe", "Jo Doe"),
            ("May 4, 2024", ""), ("5 min read", ""), ("https://x.example/jo", ""),
        ):  # fmt: skip
            with self.subTest(text):
                site = '<meta property=og:site_name content="The Quay">'
                found = self.found(f'{site}<meta name=author content="{text}">')
                self.assertEqual(found.get("author", ""), name)

    def test_the_marked_author_is_the_writer_of_the_text(self) -> None:
        handle = '<meta name="twitter:creator" content="@quay">'
        site = "<meta property=og:site_name content=Quay><meta name=author content=Quay>"
        article = "<meta property=og:type content=article>"
        shop = "<p class=review-author>Ann"
        for head, body, name in (
            ("", "<p itemprop=author><b itemprop=name>Jo Doe</b> <a>Her posts</a>", "Jo Doe"),
            ("", "<p itemprop=author><a>JD</a><meta itemprop=name content='Jo Doe'>", "Jo Doe"),
            ("", "<p class=author>Beitrag<span>von <b>Jo Doe</b> \u00bb 4. Mai</span>", "Jo Doe"),
            ("", "<aside><p class=author>Ann</aside><p class=author>Jo Doe", "Jo Doe"),
            ("", "<div class=comment><p class=author>Ann</div><p class=author>Jo Doe", "Jo Doe"),
            ("", shop, ""), (article, "<p class='byline author vcard'>Par <a>Jo Doe</a>", "Jo Doe"),
            (article, "<span class=Tech-Author>Recipe by Jo Doe -</span>", "Jo Doe"),
            (article, "<span class=img-author>Ann</span><p class=byline>Jo Doe", "Jo Doe"),
            (handle, "", "@quay"), (handle, "<p class=byline>Jo Doe", "Jo Doe"),
            (site, "", "Quay"), (site, "<p class=byline>Jo Doe", "Jo Doe"),
        ):  # fmt: skip
            with self.subTest(head=head, body=body):
                html = f"<head>{head}</head><body><p>{SENTENCE * 9}</p>{body}"
                page = content.find_content(html).page
                self.assertEqual(metadata.find_metadata(page).fields.get("author", ""), name)

    def test_a_banners_heading_is_not_the_title(self) -> None:
        for head, body, title in (
            # mdBook: the book's name is a heading as well.
            (
                "<!-- Book generated using mdBook --><title>Tokens - The Book</title>",
                "<div id=mdbook-menu-bar><h1>The Book</h1></div><main><h1>Tokens</h1><p>One.",
                "Tokens",
            ),
            # Node.js: the page's own heading is no main heading.
            (
                "<title>Files | Docs 20</title>",
                "<header><h1>Docs 20</h1></header><h2>Files</h2><p>Read them.",
                "Files | Docs 20",
            ),
            ("<title>Vec</title>", "<h1>Struct Vec <button>Copy path</button></h1>", "Struct Vec"),
        ):
            page = content.find_content(f"<html><head>{head}</head><body>{body}").page
            with self.subTest(title):
                self.assertEqual(metadata.find_metadata(page).fields["title"], title)

    def test_broken_data_is_skipped(self) -> None:
        for data in (
            "{", "[" * 100_000, "null", '{"@type": 5, "headline": {}}', '{"@graph": "x"}',
            '{"@type": "Article", "author": [null, 3, {"name": 7}], "datePublished": []}',
        ):  # fmt: skip
            script = f'<script type="application/ld+json">{data}</script><title>T</title>'
            self.assertEqual(self.found(script), {"title": "T"})

    def test_a_page_without_markup_is_read_from_its_data(self) -> None:
        words = "The whole article stands only in the data of the page. " * 10
        html = (
            '<html><head><script type="application/ld+json">{"@type": "NewsArticle", '
            f'"headline": "H", "articleBody": "{words}"}}</script></head>'
            "<body><div id=root></div></body></html>"
        )
        self.assertIn("only in the data", page_of(html)["text"])


class HostileMarkup(unittest.TestCase):
    """Input made to be deep or broken: no exception."""

    def test_20000_nested_elements_cause_no_recursion_error(self) -> None:
        for tag in ("div", "b", "ul><li", "table><tr><td", "blockquote", "section", "a", "pre"):
            html = f"<{tag}>" * 20_000 + "the words at the bottom" + f"</{tag}>" * 20_000
            text = content.extract(html)
            self.assertIn("the words at the bottom", text, tag)
            markdown.extract_markdown(html)

    def test_three_megabytes_of_nested_boxes_have_their_text(self) -> None:
        html = "<div><span>" * 136_000 + "the words at the bottom" + "</span></div>" * 136_000
        self.assertEqual(page_of(html)["text"], "the words at the bottom")

    def test_boxes_that_are_too_deep_begin_lines(self) -> None:
        html = "<div>" * 200 + "<div>one<div>two<span>three</span>"
        self.assertEqual(page_of(html)["text"], "one\n\ntwothree")

    def test_the_text_of_odd_input_is_read(self) -> None:
        attributes = " ".join(f"a{number}='{number}'" for number in range(1_000))
        for html, words in (
            (
                f"<p {attributes}>A thousand attributes before this text.</p>",
                "A thousand attributes",
            ),
            ("<p>NUL \0 bytes\0 inside of the text of a page</p>", "bytes inside"),
            ("<p>&#0; &#xD800; &#x110000; &#99999999999999999999; &bogus; &amp here</p>", "& here"),
            (f"<p>&#{'9' * 5_000}; and an endless number reference</p>", "an endless number"),
            ("<p>\ud800 lone surrogates \udfff stand in the text</p>", "lone surrogates"),
            ("<P CLASS=A>UPPER CASE TAGS ARE READ AS WELL</P>", "UPPER CASE"),
            ("<script src=a.js /></script><p>a script with a slash</p>", "a script with a slash"),
            (
                "<script src=a.js /><script>b()</script><p>the text after both</p>",
                "text after both",
            ),
            ("<script src=a.js /><p>the text after one script</p>", "the text after one script"),
            ("<?xml version='1.0'?><title/><script /><p>text in XML</p><script/>", "text in XML"),
            ("<p>before <svg/> and after the picture</p>", "and after the picture"),
            ("<p>text before <script>var a = '</p>'; never closed", "text before"),
            ("<p>a < b and c > d are no tags at all</p>", "a < b and c > d"),
            ("<p>an attribute <a title='1 > 0' href=x>with a sign</a></p>", "with a sign"),
            ("<body><svg><title>no</title></svg><p>only this is text</p>", "only this is text"),
        ):
            with self.subTest(html[:40]):
                text = kit.clean_text(content.extract(html))
                self.assertIn(words, " ".join(text.split()))
                markdown.extract_markdown(html)

    def test_mutated_pages_never_fail(self) -> None:
        fuzz(self, seed=11, pages=150)


def page_of(html: str, **options: bool) -> dict[str, Any]:
    """Return the document of an HTML page from its bytes; an error's document if it has no text."""
    headers = {"content-type": "text/html; charset=utf-8"}
    response = kit.Response(200, headers, html.encode("utf-8", "replace"))
    fetched = fetch.Fetched("http://x/", response)
    page: dict[str, Any] = one_page.read_page(fetched, options, math.inf).document()
    kinds = ("blocked", "unsupported", "http")  # others are bugs
    assert page["ok"] or page["details"]["kind"] in kinds, page
    return page


def fuzz(case: unittest.TestCase, seed: int, pages: int) -> None:
    """Mutate the pages of the site: cut, repeat, shuffle, insert broken pieces; read each."""
    generator = random.Random(seed)
    sources = [path.read_text(encoding="utf-8") for path in sorted(PAGES.glob("*.html"))]
    pieces = [
        *ATTACKS.values(),
        "\0",
        "&#x",
        '"',
        "'",
        ">",
        "<",
        "</",
        "\ud800",
        "<table>",
        "</div>" * 9,
    ]
    for number in range(pages):
        html = generator.choice(sources)
        for _ in range(generator.randrange(1, 30)):
            start = generator.randrange(len(html) + 1)
            end = min(len(html), start + generator.randrange(200))
            change = generator.randrange(5)
            if change == 0:
                html = html[:start] + html[end:]
            elif change == 1:
                html = (
                    html[:start]
                    + generator.choice(pieces) * generator.randrange(1, 20)
                    + html[start:]
                )
            elif change == 2:
                html = html[:end] + html[start:]
            elif change == 3:
                html = html[end:] + html[:end]
            else:
                html = html[:start] + html[start:end].swapcase()[::-1] + html[end:]
        with case.subTest(number=number, seed=seed):
            page = page_of(html, keep_links=number % 2 == 0, explain=number % 3 == 0)
            passages.select_passages(page.get("text", ""), "keep the words", 500)
            shown = kit.dump_json(page)
            shown.encode()
            case.assertNotRegex(shown, r"[\0\x1b\u202e\ufeff]|\\u00(?:00|1b)")
            case.assertLessEqual(len(content.extract(html)), 4 * len(html) + 100)


if __name__ == "__main__":
    unittest.main()
