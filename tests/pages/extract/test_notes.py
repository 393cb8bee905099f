"""Footnotes that are outside of the content, hidden, or in the sentence after their mark.

The only module that detects a note that is lost, written into its sentence, or written twice.
"""

from __future__ import annotations

import time
import unittest

from tests.support import SLACK
from websearch.pages.extract import content, markdown

PROSE = "The wheel turns slowly in summer, because the brook has little water then. " * 3
NOTE = "Measured by the guild in 1911."
LINK = '<sup><a href="#n1">1</a></sup>'
WRITTEN = f"It has oak roots[1] below.\n\n\\[1]: {NOTE}"
# The HTML after "roots", and the HTML after the article.
OUTSIDE = (
    (LINK, f'<aside><ol><li id="n1">{NOTE} <a href="#r1">↩</a></ol></aside>'),
    (LINK, f'<div class="popover" hidden><div id="n1"><p>{NOTE}</p></div></div>'),
    (LINK, f'<footer><p id="n1"><sup>1</sup> {NOTE}</p></footer>'),
    (LINK, f'<footer><p><a name="n1"></a>1. {NOTE}</p></footer>'),
    (
        '<button popovertarget="n1">1</button>',
        f'<div id="n1" popover style="display:none">{NOTE}</div>',
    ),
    ('<a class="footnote" href="#n1">[1]</a>', f'<aside id="n1">{NOTE}</aside>'),
    (LINK, f'<aside><div id="n1"><span><p>{NOTE}</p></span></div></aside>'),
)
# The HTML after "roots": a mark and its note.
BEHIND = (
    f'<label for="s"></label><input type="checkbox" id="s"><span class="sidenote">{NOTE}</span>',
    f'<sup>1</sup><span class="footnote-text" style="display:none">{NOTE}</span>',
    f'<sup data-mfn="1"><a role="button">1</a></sup><span role="tooltip">{NOTE}</span>',
    f'<span class="marginnote">{NOTE}</span>',
)
# HTML that stays in its place.
OTHERS = (
    (f"{LINK} below.</p><ol><li id=n1>{NOTE}</ol>", f"roots[1] below.\n\n1. {NOTE}"),
    (' <a href="#n1">1</a> below.</p>', "roots 1 below."),
    ('<sup>2</sup><span class="unit">m</span> below.</p>', "roots^2m below."),
    ("<sup>1</sup> <b>below</b>.</p>", "roots^1 **below**."),
    (f'.</p><div class="note"><h3>Note</h3>{NOTE}</div>', f"roots.\n\n### Note\n\n{NOTE}"),
    (
        f'.</p><div><a class="footnote-number">1</a><div class="footnote">{NOTE}</div></div>',
        f"roots.\n\n1\n\n{NOTE}",
    ),
    (
        f'<a role="button" class="footnote">i</a><span role="tooltip" hidden>{NOTE}</span>.</p>',
        "rootsi.",
    ),
)


def markdown_of(body: str, after: str = "") -> str:
    """Return the Markdown after an article's prose; after: HTML after the article."""
    article = f"<article><h1>Wheels</h1><p>{PROSE}</p>{body}</article>"
    text: str = markdown.extract_markdown(f"<main>{article}</main>{after}")
    return text.replace(PROSE.strip(), "").strip()


class Notes(unittest.TestCase):
    def test_a_note_outside_the_article_follows_it_once(self) -> None:
        for mark, after in OUTSIDE:
            with self.subTest(mark + after):
                self.assertEqual(
                    markdown_of(f"<p>It has oak roots{mark} below.</p>", after), WRITTEN
                )

    def test_a_note_after_its_mark_is_moved_after_the_article(self) -> None:
        for note in BEHIND:
            with self.subTest(note):
                self.assertEqual(markdown_of(f"<p>It has oak roots{note} below.</p>"), WRITTEN)

    def test_a_hidden_note_in_the_article_follows_it_once(self) -> None:
        body = f"<p>It has oak roots{LINK} below.</p><div id=n1 hidden>{NOTE}</div>"
        self.assertEqual(markdown_of(body), WRITTEN)

    def test_other_elements_and_notes_in_the_content_stay(self) -> None:
        for rest, text in OTHERS:
            with self.subTest(rest):
                self.assertEqual(markdown_of(f"<p>It has oak roots{rest}"), f"It has oak {text}")

    def test_plain_text_also_has_the_notes(self) -> None:
        mark, after = OUTSIDE[0]
        html = f"<main><article><p>{PROSE}<p>It has roots{mark}.</article></main>{after}"
        text = content.extract(html)
        self.assertTrue(text.endswith(f"It has roots[1].\n[1]: {NOTE}"), text)

    def test_a_note_with_two_marks_is_read_once(self) -> None:
        text = markdown_of(f"<p>One{LINK}, two{LINK}.</p>", OUTSIDE[0][1])
        self.assertEqual(text, f"One[1], two[1].\n\n\\[1]: {NOTE}")

    def test_many_marks_are_read_in_linear_time(self) -> None:
        start = time.process_time()
        markdown_of(f"<p>{LINK * 5_000}{BEHIND[0] * 2_000}</p>", OUTSIDE[0][1] * 3_000)
        empty = f'<aside id="n1">{"<b></b>" * 20_000}</aside>'
        markdown_of(f"<p>{LINK * 5_000}</p>", empty)
        self.assertLess(time.process_time() - start, 12 * SLACK)


if __name__ == "__main__":
    unittest.main()
