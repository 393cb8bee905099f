"""Text that a page hides until a control opens it is content, because one click shows it.

The only module that detects lost answers of buttons, and menus or other hidden text in the content.
"""

from __future__ import annotations

import time
import unittest

from tests.support import SLACK
from websearch.pages.extract import markdown

PROSE = "The wheel turns slowly in summer, because the brook has little water then. " * 2
ANSWER = "Yes, half a litre of it is in the box."
OPENED = (
    f'<dl><dt><button aria-controls="a">Is oil in it?</button></dt><dd id="a" hidden>{ANSWER}</dl>',
    f"<dl><dt><button>Is oil in it?</button></dt><dd hidden>{ANSWER}</dl>",
    f'<h3><button aria-expanded="false">Is oil in it?</button></h3><div hidden>{ANSWER}</div>',
    f'<h3 role="button">Is oil in it?</h3><div style="display:none">{ANSWER}</div>',
    f'<div><button aria-controls="a">Is oil in it?</button></div><div id="a" hidden>{ANSWER}</div>',
    f'<p data-target="#a">Is oil in it?</p><div id="a" class="d-none">{ANSWER}</div>',
    f'<a href="#a" data-toggle="collapse">Is oil in it?</a><div id="a" hidden>{ANSWER}</div>',
    f"""<p onclick="show('a')">Is oil in it?</p><div id="a" style="display:none">{ANSWER}</div>""",
    f'<p>Is oil in it?</p><div style="display: none">{ANSWER}</div><a href="#">Read more</a>',
    f"<p>Is oil in it?</p><p><button>Show answer</button></p><div hidden>{ANSWER}</div>",
    f'<div onclick="flip(this)">Is oil in it?<i></i></div><div hidden>{ANSWER}</div>',
    f"<button>Is oil in it?<span>+</span></button><div hidden>{ANSWER}</div>",
    f"<details><summary>Is oil in it?</summary>{ANSWER}</details>",
)
CLOSED = (
    f'<p>Is oil in it?</p><div id="a" hidden>{ANSWER}</div>',
    f'<p>Is oil in it? <a href="#a">below</a></p><div id="a" hidden>{ANSWER}</div>',
    (
        f'<p>Is oil in it?</p><button aria-controls="a" aria-haspopup="menu">Menu of it</button>'
        f'<ul id="a" hidden><li>{ANSWER}</ul>'
    ),
    (
        f'<p>Is oil in it?</p><button data-toggle="modal" data-target="#a">Ask us now</button>'
        f'<div id="a" hidden>{ANSWER}</div>'
    ),
    (
        f'<p>Is oil in it?</p><button aria-controls="a">Ask us now</button>'
        f'<div id="a" role="dialog" hidden>{ANSWER}</div>'
    ),
    f'<p>Is oil in it?</p><button aria-controls="a">Our menu</button><nav id="a">{ANSWER}</nav>',
    f'<p>Is oil in it? <a href="/all">Read more</a></p><div hidden>{ANSWER}</div>',
)


def markdown_of(body: str) -> str:
    """Return the Markdown of HTML between two paragraphs of a page."""
    html = f"<main><h1>Wheels</h1><p>{PROSE}</p><div>{body}</div><p>{PROSE}</p></main>"
    text: str = markdown.extract_markdown(html)
    return text.replace(PROSE.strip(), "").strip()


class Unfolding(unittest.TestCase):
    def test_text_that_a_control_opens_is_content(self) -> None:
        for html in OPENED:
            with self.subTest(html):
                text = markdown_of(html)
                self.assertIn("Is oil in it?", text)
                self.assertEqual(text.count(ANSWER), 1)

    def test_hidden_text_without_control_and_menus_stay_hidden(self) -> None:
        for html in CLOSED:
            with self.subTest(html):
                text = markdown_of(html)
                self.assertIn("Is oil in it?", text)
                self.assertNotIn(ANSWER, text)

    def test_a_button_that_is_a_question_becomes_a_line(self) -> None:
        accordion = f"<button class=accordion>{{}}</button><p hidden>{ANSWER}"
        for title, html in (
            ("Is oil in it?", OPENED[4]),
            ("Is oil in it?", accordion.format("Is oil in it? <span>+</span>")),
            ("Oil", accordion.format("Oil")),
        ):
            self.assertEqual(markdown_of(html), f"**{title}**\n\n{ANSWER}")

    def test_many_controls_are_read_in_linear_time(self) -> None:
        start = time.process_time()
        one = '<button aria-controls="a a a a">Show more</button><div id="a" hidden>oil</div>'
        markdown_of(one * 5_000)
        empty = '<div id="a" hidden>' + "<b></b>" * 20_000 + "</div>"
        markdown_of('<button aria-controls="a">Show it</button>' * 5_000 + empty)
        self.assertLess(time.process_time() - start, 6 * SLACK)


if __name__ == "__main__":
    unittest.main()
