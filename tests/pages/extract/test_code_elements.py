"""Code in other elements than pre, lines that are elements, and line numbers.

The only module that detects code written as running text, on one line, or with line numbers.
"""

from __future__ import annotations

import time
import unittest

from tests.support import SLACK
from websearch.pages.extract import markdown

PROSE = "The wheel turns slowly in summer, because the brook has little water then. " * 2
FIRST, SECOND = "def area(w, h):", "    return w * h"
LINES = f"{FIRST}\n{SECOND}"
PYTHON = f"```python\n{LINES}\n```"
PLAIN = f"```\n{LINES}\n```"
ROW = '<tr><td class="blob-num" data-line-number="{0}"></td><td class="blob-code">{1}</td></tr>'
DIFF_ROW = '<tr><td class="blob-num"></td><td class="blob-code{0}">{1}</td></tr>'
SIGNED = '<span data-code-marker="{}">speed = {}</span>'
CODE = (
    (f'<div class="code-block" data-lang="python">\n{LINES}\n</div>', PYTHON),
    (f'<div data-language="python"><div>{FIRST}</div><div>{SECOND}</div></div>', PYTHON),
    (f'<div class="Box CodeBlock"><code>{FIRST}<br>{SECOND}</code></div>', PLAIN),
    (f'<p><code data-lang="python">{FIRST}<br>{SECOND}</code></p>', PYTHON),
    (
        (
            f'<pre><code class="language-python"><span class="line">{FIRST}</span>'
            f'<span class="line">{SECOND}</span></code></pre>'
        ),
        PYTHON,
    ),
    (f"<pre><code>{FIRST}</code><code>{SECOND}</code></pre>", PLAIN),
    (
        (
            f'<pre class="chroma"><span class="line"><span class="ln">1</span>{FIRST}\n</span>'
            f'<span class="line"><span class="ln">2</span>{SECOND}\n</span></pre>'
        ),
        PLAIN,
    ),
    (
        (
            f"<table>{DIFF_ROW.format('', SIGNED.format(' ', 1))}"
            f"{DIFF_ROW.format('', SIGNED.format('-', 2))}"
            f"{DIFF_ROW.format('', SIGNED.format('+', 3))}</table>"
        ),
        "```\n speed = 1\n-speed = 2\n+speed = 3\n```",
    ),
    (
        (
            f"<table>{DIFF_ROW.format('', 'a')}{DIFF_ROW.format(' blob-code-deletion', 'b')}"
            f"{DIFF_ROW.format(' blob-code-addition', '+c')}</table>"
        ),
        "```\n a\n-b\n+c\n```",
    ),
    # Expressive Code and Shiki: a diff if a line is removed; other marks are no part of the code.
    (
        (
            '<pre><code><div class="ec-line del"><div class="code">b = 1</div></div>'
            '<div class="ec-line ins"><div class="code">b = 2</div></div></code></pre>'
        ),
        "```\n-b = 1\n+b = 2\n```",
    ),
    (
        (
            '<pre><code><span class="line">a</span>\n<span class="line diff remove">b</span>\n'
            '<span class="line diff add">c</span></code></pre>'
        ),
        "```\n a\n-b\n+c\n```",
    ),
    (
        (
            '<pre><code><span class="line">a</span>\n<span class="line diff add">b</span>'
            "</code></pre>"
        ),
        "```\na\nb\n```",
    ),
    # Fern, Hexo, Doxygen, DocC, Dokka, Redoc: line numbers, a language, a control, JSON in lists.
    (
        (
            '<pre><table><tr><td class="code-block-line-gutter">1</td><td>a</td></tr><tr>'
            '<td class="code-block-line-gutter">2</td><td>b</td></tr></table></pre>'
        ),
        "```\na\nb\n```",
    ),
    (
        (
            '<figure class="highlight"><table><tr><td class="gutter"><pre>1<br>2<br></pre></td>'
            f'<td class="code"><pre>{FIRST}<br>{SECOND}<br></pre></td></tr></table></figure>'
        ),
        PLAIN,
    ),
    (
        (
            f'<pre><div class="line"><span class="lineno"> 1</span>&#160;{FIRST}</div>'
            f'<div class="line"><span class="lineno"> 2</span>&#160;{SECOND}</div></pre>'
        ),
        PLAIN,
    ),
    ("<pre>where<br>&nbsp;&nbsp;T: Copy</pre>", "```\nwhere\n\u00a0\u00a0T: Copy\n```"),
    (f'<div data-syntax="python"><pre>{LINES}</pre></div>', PYTHON),
    (f'<pre>{LINES}<span><span class="copy-popup">Content copied</span></span></pre>', PLAIN),
    (
        (
            '<code><button></button>{<ul><li><div>"a": 0,</div></li><li><div>"b": ['
            "<ul><li><div>1</div></li></ul>]</div></li></ul>}</code>"
        ),
        '```json\n{\n  "a": 0,\n  "b": [\n    1\n  ]\n}\n```',
    ),
    (f'<div><code style="white-space: pre">\n{LINES}\n</code></div>', PLAIN),
    (f"<table>{ROW.format(1, FIRST)}<tbody>{ROW.format(2, SECOND)}</table>", PLAIN),
    (
        (
            "<pre><div><div>python</div><div><button>Copy code</button></div><div>"
            f'<code class="language-python"><span>{FIRST}\n</span>{SECOND}</code></div></div></pre>'
        ),
        PYTHON,
    ),
    (
        (
            '<div class="codeblock__header">Shell</div>'
            f'<div class="codeblock__content"><code>{FIRST}<br>{SECOND}</code></div>'
        ),
        f"Shell\n\n{PLAIN}",
    ),
)
NO_CODE = (
    ('<ul><li data-lang="de">Rad<li data-lang="en">Wheel</ul>', "- Rad\n- Wheel"),
    ('<div class="code-block"><p>The code of the guild.</p></div>', "The code of the guild."),
    ('<p>Run <code data-lang="bash">make</code> now.</p>', "Run `make` now."),
    ('<p>Line <span class="ln">7</span> of the law.</p>', "Line 7 of the law."),
    ("<pre><code>a</code> <code>b</code>\n</pre>", "```\na b\n```"),
    ("<pre><div>one</div><code>a</code>more</pre>", "```\none\namore\n```"),
    ("<pre><div>a longer line</div><code>a</code></pre>", "```\na longer line\na\n```"),
)


def markdown_of(body: str) -> str:
    """Return the Markdown of HTML between two paragraphs of a page."""
    html = f"<main><h1>Wheels</h1><p>{PROSE}</p>{body}<p>{PROSE}</p></main>"
    text: str = markdown.extract_markdown(html)
    return text.replace(PROSE.strip(), "").strip()


class CodeElements(unittest.TestCase):
    def test_code_is_a_fenced_block_without_line_numbers(self) -> None:
        for html, text in CODE:
            with self.subTest(html):
                self.assertEqual(markdown_of(html), text)

    def test_other_elements_do_not_become_code(self) -> None:
        for html, text in NO_CODE:
            with self.subTest(html):
                self.assertEqual(markdown_of(html), text)

    def test_deeply_nested_boxes_are_read_in_linear_time(self) -> None:
        start = time.process_time()
        markdown_of(('<div class="code-block">' * 100 + "<i>x</i>" * 100) * 50)
        self.assertLess(time.process_time() - start, 6 * SLACK)


if __name__ == "__main__":
    unittest.main()
