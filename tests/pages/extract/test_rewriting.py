"""Content that is not plain text: icons, check boxes, readings, shadow roots, parts, twins.

The only module that detects an empty table cell although the page shows a value, a price that is
lost or written twice, or text of a shadow root or a streamed part in the wrong place.
"""

from __future__ import annotations

import time
import unittest

from tests.support import SLACK
from websearch.pages.extract import markdown

PROSE = "The wheel turns slowly in summer, because the brook has little water then. " * 2
YES, NO = '<path d="M0 0"/>', "<path/>"
# HTML of a table cell -> its Markdown.
CELLS = (
    (f'<svg aria-label="Included">{YES}</svg>', "Included"),
    (f'<svg role="img"><title>Not included</title>{NO}</svg>', "Not included"),
    ('<span aria-hidden="true">✓</span><span class="sr-only">Yes</span>', "Yes"),
    ('<i class="fa fa-check"></i>', "✓"),
    ('<i class="fa fa-times"></i>', "✗"),
    ('<i class="fa fa-check"></i><b class="sr-only">On request</b>', "On request"),
    ('<img src="/c.svg" alt="✔">', "✔"),
    ('<span title="Only in the pro plan"></span>', "Only in the pro plan"),
    ('<input type="checkbox" checked disabled>', "[x]"),
    ('<input type="checkbox" disabled>', "[ ]"),
    ('<span role="switch" aria-checked="true"></span>', "[x]"),
    ('<button aria-label="Help"></button>', ""),
    ('40 <i class="fa fa-check"></i>', "40"),
    ('<a href="/vote"><i title="upvote"></i></a>', ""),
)
# HTML in a paragraph -> its Markdown.
TWINS = (
    (
        (
            '<span class="a-price"><span class="a-offscreen">$19.99</span>'
            '<span aria-hidden="true">$<span>19</span><span>99</span></span></span>'
        ),
        "$19.99",
    ),
    ('<b aria-hidden="true">late</b> <span class="sr-only">late</span>', "late"),
    (
        (
            '<span aria-label="4 of 5 stars"><i aria-hidden="true">4</i>'
            '<i aria-hidden="true">of 5</i></span>'
        ),
        "4 of 5 stars",
    ),
    ('the mill<span class="sr-only"> opens in a new tab</span>', "the mill"),
)
# As Cloudflare writes it: a byte, and each letter XOR that byte.
ADDRESS = bytes([0x42, *(letter ^ 0x42 for letter in b"git@mills.example")]).hex()
MARKUP = bytes([1, *(letter ^ 1 for letter in "a@b]\ufdd0(http://x.example)".encode())]).hex()
INLINE = (
    ("<ruby>東<rp>(</rp><rt>とう</rt>京<rt>きょう</rt></ruby>", "東京(とうきょう)"),
    ("<ruby>漢<rt></rt></ruby>", "漢"),
    (
        "Each boat has a <button>tide table</button> on board.",
        "Each boat has a tide table on board.",
    ),
    ("Run the mill twice. <button>Copy</button>", "Run the mill twice."),
    (
        "Sold <time datetime=2026-05-03T10:00:30.5+02:00>vor 3 Stunden</time>.",
        "Sold 2026-05-03 10:00+02:00.",
    ),
    ("Cut <time datetime=2026-05-02T14:05:00Z>9m ago</time>.", "Cut 2026-05-02 14:05 UTC."),
    ("Cut <time datetime=2026-05-02T14:05:00Z>now</time>.", "Cut now."),
    ('Flour left: <meter value="0.7">70 percent</meter>.', "Flour left: 70 percent."),
    ('Your code: <input readonly value="MILL-22">', "Your code: MILL-22"),
    ('Your name: <input value="Ada">', "Your name:"),
    ("He said <q>it is <q>almost</q> fine</q>.", "He said “it is ‘almost’ fine”."),
    ("He said <q>“fine”</q>.", "He said “fine”."),
    ("He said „<q>fine</q>“.", "He said „fine“."),
    (f'<a data-cfemail="{ADDRESS}">[email protected]</a>', "git@mills.example"),
    ('<a data-cfemail="odd">[email protected]</a>', "[email protected]"),
    ('<a data-cfemail="">[email protected]</a>', "[email protected]"),
    (f'<a data-cfemail="{MARKUP}">[email protected]</a>', "[email protected]"),
    (
        '38 votes: <i class="stars" role="img" aria-label="4.5 out of 5 stars"></i>',
        "38 votes: 4.5 out of 5 stars",
    ),
    ('Speed <svg role="img" aria-label="Full"><path/></svg>', "Speed Full"),
    ('Low <i role="img" aria-label="low"></i> <i role="img" aria-label="icon"></i>', "Low"),
    ('See <a href="/p">it<i role="img" aria-label="Permalink"></i></a>', "See it"),
    ("<label><input type=radio>npm</label><label><input type=radio>yarn</label>", "npm yarn"),
)
LISTS = (
    ("<ol><li value=4>Oil<li>Check<li value=9>Close</ol>", "4. Oil\n5. Check\n9. Close"),
    ("<ol><li><div>1.</div><p>oil<li><div>2.</div><p>salt</ol>", "1. oil\n2. salt"),
    (
        "<ol><li><div>1.</div><p>oil<li><div>9.</div><p>salt</ol>",
        "1. 1\\.\n\n   oil\n2. 9\\.\n\n   salt",
    ),
    ("<ol reversed><li>gold<li>silver<li>bronze</ol>", "3. gold\n2. silver\n1. bronze"),
    ('<ol type="a" start=3><li>oil<li>salt</ol>', "- c. oil\n- d. salt"),
    ('<ol style="list-style-type: upper-roman"><li>oil<li>salt</ol>', "- I. oil\n- II. salt"),
    (
        "<ul><li><input type=checkbox checked> order<li><input type=checkbox> paint</ul>",
        "- [x] order\n- [ ] paint",
    ),
    ("<ul><li><input type=checkbox name=c checked> red<li>blue</ul>", "- red\n- blue"),
    ("<ul><li><input type=checkbox> red<li><input type=checkbox> blue</ul>", "- red\n- blue"),
    (
        "<ul><li>red <label><input type=checkbox checked> on</label><li>blue</ul>",
        "- red on\n- blue",
    ),
    # Icons for yes and no, as plans and comparisons have them; equal icons are decoration.
    (
        (
            f'<ul><li><svg aria-label="Included">{YES}</svg> mail<li>'
            '<span class="sr-only">Not included:</span> <i class="x" aria-hidden="true"></i> phone'
            f"<li><svg><title>[In](x) Pro</title>{NO}</svg><span>chat</span></ul>"
        ),
        "- Included: mail\n- Not included: phone\n- [In\\](x) Pro: chat",
    ),
    (
        '<ul><li><i class="fa fa-check"></i> mail<li><i class="fa fa-times"></i> phone</ul>',
        "- ✓ mail\n- ✗ phone",
    ),
    ('<ul><li><i title="mail"></i> mail<li><i title="phone"></i> phone</ul>', "- mail\n- phone"),
    ('<ul><li><i title="arrow"></i> mail<li><i title="arrow"></i> phone</ul>', "- mail\n- phone"),
    (
        '<ul><li>mail <i title="new"></i><li><a href="/p"><i title="up"></i></a> phone</ul>',
        "- mail\n- phone",
    ),
)


def markdown_of(body: str) -> str:
    """Return the Markdown of HTML between two paragraphs of a page."""
    html = f"<main><h1>Wheels</h1><p>{PROSE}</p>{body}<p>{PROSE}</p></main>"
    text: str = markdown.extract_markdown(html)
    return text.replace(PROSE.strip(), "").strip()


class OtherWords(unittest.TestCase):
    def test_a_cell_has_its_label_for_screen_readers(self) -> None:
        for cell, text in CELLS:
            with self.subTest(cell):
                html = f"<table><tr><th>Right<th>Owner<tr><td>Export<td>{cell}</table>"
                last = markdown_of(html).splitlines()[-1]
                self.assertEqual(last, f"| Export | {text} |")

    def test_a_text_and_its_screen_reader_twin_appear_once(self) -> None:
        for html, text in TWINS:
            with self.subTest(html):
                self.assertEqual(markdown_of(f"<p>Now {html}.</p>"), f"Now {text}.")

    def test_readings_and_quotation_marks_are_written(self) -> None:
        for html, text in INLINE:
            with self.subTest(html):
                self.assertEqual(markdown_of(f"<p>{html}</p>"), text)

    def test_lists_have_the_numbers_states_and_icons_that_the_page_shows(self) -> None:
        for html, text in LISTS:
            with self.subTest(html):
                self.assertEqual(markdown_of(html), text)

    def test_a_table_for_screen_readers_is_read(self) -> None:
        rows = "<tr><th>Year<th>Mills<tr><td>1890<td>41"
        self.assertIn("| 1890 | 41 |", markdown_of(f'<table class="sr-only">{rows}</table>'))

    def test_a_quotation_names_its_author(self) -> None:
        html = "<blockquote><p>It never rests.</p><footer>Mira Holt</footer></blockquote>"
        self.assertEqual(markdown_of(html), "> It never rests.\n>\n> Mira Holt")

    def test_roles_make_a_table(self) -> None:
        row = '<div role="row"><span role="{0}">{1}</span><span role="{0}">{2}</span></div>'
        rows = row.format("columnheader", "Lamp", "Watt") + row.format("cell", "L1", "40")
        text = markdown_of(f'<div role="table">{rows}</div>')
        self.assertEqual(text, "| Lamp | Watt |\n| --- | --- |\n| L1 | 40 |")


BROKEN = "Mill Lane 4<span>\n</span><b>90210</b> Riverton\nTel. <i>555</i>\n\nOpen on Monday"
LINES = "Mill Lane 4  \n**90210** Riverton  \nTel. *555*\n\nOpen on Monday"


class LineBreaks(unittest.TestCase):
    def test_line_breaks_that_styles_keep_are_written(self) -> None:
        for attributes, sheet in (
            ('class="mt-2 whitespace-pre-wrap"', ""),
            ('class="whitespace-pre-line"', ""),
            ('style="color: red; white-space: pre-line"', ""),
            ('class="told"', ".told {color: red; white-space : pre-wrap}"),
        ):
            with self.subTest(attributes):
                html = f"<style>{sheet}</style><div {attributes}>{BROKEN}</div>"
                self.assertEqual(markdown_of(html), LINES)

    def test_other_line_breaks_are_spaces(self) -> None:
        html = (
            '<div class="whitespace-pre-line"><b></b>\n  <p>\n  one\ntwo\n</p>\n'
            '<ul>\n<li>three\nfour</li>\n</ul><pre>a\nb</pre><p class="whitespace-normal">five\n'
            'six</p></div><p style="white-space: nowrap">seven\neight</p>'
        )
        self.assertEqual(
            markdown_of(html),
            "one  \ntwo\n\n- three  \n  four\n\n```\na\nb\n```\n\nfive six\n\nseven eight",
        )

    def test_long_texts_with_breaks_take_little_time(self) -> None:
        start = time.process_time()
        markdown_of('<div class="pre-wrap">' + "x\n" * 200_000 + "</div>")
        markdown_of("<style>" + ".a{white-space:" * 20_000 + "</style>")
        self.assertLess(time.process_time() - start, 4 * SLACK)


class ShadowRoots(unittest.TestCase):
    def test_the_children_of_a_host_fill_its_slots(self) -> None:
        root = '<p>first</p><slot name="b"></slot><slot></slot><slot name="c">none</slot>'
        html = (
            f'<template shadowrootmode="open">{root}</template><p>third</p><p slot="b">second</p>'
        )
        text = markdown_of(f"<x-card>{html}</x-card><template><p>never</p></template>")
        self.assertEqual(text.split(), ["first", "second", "third", "none"])

    def test_deeply_nested_shadow_roots_are_read(self) -> None:
        start = time.process_time()
        root = f'<template shadowrootmode="open">{"<i>" * 30}<slot></slot>{"</i>" * 30}</template>'
        text = markdown_of(f"<x-card>{root}" * 90 + "<p>inside</p>" + "</x-card>" * 90)
        self.assertEqual(text, "inside")
        markdown_of(f"<x-card>{root * 1_500}</x-card>")
        self.assertLess(time.process_time() - start, 2 * SLACK)


class StreamedParts(unittest.TestCase):
    def place(self, number: int, until: str = "<p>Loading</p>") -> str:
        return f'<!--$?--><template id="B:{number}"></template>{until}<!--/$-->'

    def part(self, number: int, html: str) -> str:
        script = f'<script>$RC("B:{number}","S:{number}")</script>'
        return f'<div hidden id="S:{number}">{html}</div>{script}'

    def test_parts_replace_what_is_shown_until_they_arrive(self) -> None:
        row = "<tr><th>Bar</th><th>Liters</th></tr>"
        until = "<tr><td>Loading</td></tr>"
        table = f"<table><thead>{row}</thead><tbody>{self.place(2, until)}</tbody></table>"
        html = (
            f"<p>first</p>{self.place(1)}<p>last</p>"
            + self.part(1, f"<p>second <template id='P:3'></template></p>{table}")
            + '<table hidden><tbody id="S:2"><tr><td>3<td>29</table>'
            + self.part(3, "<b>third</b>")
        )
        expected = (
            "first\n\nsecond **third**\n\n| Bar | Liters |\n| --- | --- |\n| 3 | 29 |\n\nlast"
        )
        self.assertEqual(markdown_of(html), expected)

    def test_a_place_without_its_part_keeps_its_text(self) -> None:
        html = self.place(1, "<p>Sold out</p>") + '<div hidden id="S:2">never</div>'
        self.assertEqual(markdown_of(html), "Sold out")

    def test_parts_inside_themselves_and_nested_parts_are_read(self) -> None:
        start = time.process_time()
        circle = self.part(1, self.place(2)) + self.part(2, self.place(1))
        self.assertEqual(markdown_of(circle), "")
        chain = "".join(
            self.part(number, "<i>" * 30 + "x" + self.place(number + 1)) for number in range(900)
        )
        self.assertIn("x", markdown_of(self.place(0) + chain))
        markdown_of(chain + self.place(0))
        markdown_of("".join(map(self.place, range(9_000))) + self.part(1, "x") * 9_000)
        self.assertLess(time.process_time() - start, 4 * SLACK)


if __name__ == "__main__":
    unittest.main()
