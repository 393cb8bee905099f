"""Formulas of pages: each once, as TeX between $ characters, in any form on the page.

The only module that detects a formula that is lost, written twice or left as loose letters. The
pages imitate the output of KaTeX, MathJax, MediaWiki and LaTeXML.
"""

from __future__ import annotations

import time
import tracemalloc
import unittest

from tests.support import SLACK
from websearch.pages.extract import formulas, markdown
from websearch.reading import finding

PROSE = "The wheel turns slowly in summer, because the brook has little water then. " * 2
AREA = "<mrow><mi>A</mi><mo>=</mo><mi>π</mi><msup><mi>r</mi><mn>2</mn></msup></mrow>"
TEX = '<annotation encoding="application/x-tex">A=\\pi r^2</annotation>'
DRAWN = '<span aria-hidden="true" class="katex-html"><span>A</span><span>=πr2</span></span>'
MATH = f"<math><semantics>{AREA}{TEX}</semantics></math>"
# HTML between "x " and " y" -> its Markdown.
IN_LINES = (
    (f'<span class="katex"><span class="katex-mathml">{MATH}</span>{DRAWN}</span>', r"$A=\pi r^2$"),
    (
        ('<span class="mwe-math-element"><span class="mwe-math-mathml-inline" style="display:none">'
        f'<math alttext="{{\\displaystyle A=\\pi r^2}}">{AREA}</math></span>'
        '<img src="/f.svg" class="mwe-math-fallback-image-inline" alt="A of r"></span>'),
        r"$A=\pi r^2$",
    ),
    (
        (f'<mjx-container jax="CHTML"><mjx-math aria-hidden="true"><mjx-mi></mjx-mi></mjx-math>'
        f"<mjx-assistive-mml>{MATH}</mjx-assistive-mml></mjx-container>"),
        r"$A=\pi r^2$",
    ),
    (
        ('<span class="MathJax_Preview">A</span><span class="MathJax"><nobr>A=πr2</nobr></span>'
        '<script type="math/tex">A=\\pi r^2</script>'),
        r"$A=\pi r^2$",
    ),
    ('<math alttext="2.0\\times"><mn>2.0</mn><mo>×</mo></math>', r"$2.0\times$"),
    ('<span data-latex="a_1 * b_1 * c">a1</span>', "$a_1 * b_1 * c$"),
    ('<span class="math-container">$a_1$</span>', "$a_1$"),
    ('<span class="math inline">\\(a_1\\)</span>', "$a_1$"),
    ('<img class="tex" src="/1.png" alt="\\frac{a}{b}">', r"$\frac{a}{b}$"),
    ('<img src="https://x.example/tex.cgi?a%5E2">', ""),
    ('<img src="https://x.example/cgi-bin/mathtex.cgi?a%5E2">', "$a^2$"),
    (f"<math>{AREA}</math>", "$A=\\pi r^{2}$"),
    (f"<mml:math>{AREA}</mml:math>", "$A=\\pi r^{2}$"),
    ("<math><apply><plus/><ci>a</ci></apply></math>", "[formula]"),
    ('<mjx-container><mjx-math class="mjx-math"></mjx-math></mjx-container>', "[formula]"),
    ("<math></math>", ""),
    ('<span data-math="true">plain</span>', "plain"),
    (
        '<span data-tex="a](https://x.example) &lt;b ![x]">a</span>',
        "$a] (https://x.example) < b ! [x]$",
    ),
)  # fmt: skip
# MathML -> TeX.
MATHML = (
    ("<mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mi>c</mi></mfrac>", r"\frac{a+b}{c}"),
    ("<msqrt><mi>x</mi><mo>+</mo><mn>1</mn></msqrt>", r"\sqrt{x+1}"),
    (
        (
            "<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover>"
            "<msub><mi>a</mi><mi>i</mi></msub>"
        ),
        r"\sum_{i=1}^{n}a_{i}",
    ),
    (
        (
            "<mo>(</mo><mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr><mtr><mtd><mn>3"
            "</mn></mtd><mtd><mn>4</mn></mtd></mtr></mtable><mo>)</mo>"
        ),
        r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}",
    ),
    ("<mover><mi>x</mi><mo>¯</mo></mover>", r"\overline{x}"),
    ("<mi>sin</mi><mo>&#x2061;</mo><mi>α</mi>", r"\sin \alpha"),
    ("<mtext>if 5% </mtext><mi>x</mi>", r"\text{if 5\%}x"),
    ("<msup><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mn>2</mn></msup>", "{a+b}^{2}"),
)


def markdown_of(body: str) -> str:
    """Return the Markdown of HTML between two paragraphs of a page."""
    html = f"<main><h1>Wheels</h1><p>{PROSE}</p>{body}<p>{PROSE}</p></main>"
    text: str = markdown.extract_markdown(html)
    return text.replace(PROSE.strip(), "").strip()


class Formulas(unittest.TestCase):
    def test_each_formula_is_written_once(self) -> None:
        for html, tex in IN_LINES:
            with self.subTest(html):
                self.assertEqual(markdown_of(f"<p>x {html} y</p>"), f"x {tex} y".replace("  ", " "))

    def test_mathml_without_tex_is_written_as_tex(self) -> None:
        for html, tex in MATHML:
            with self.subTest(html):
                self.assertEqual(markdown_of(f"<p>x <math>{html}</math> y</p>"), f"x ${tex}$ y")
                self.assertEqual(formulas.mathml_text(html), f"${tex}$")

    def test_a_displayed_formula_is_a_paragraph(self) -> None:
        for html in (
            f'<span class="katex-display"><span class="katex">{MATH}{DRAWN}</span></span>',
            f'<math display="block">{AREA}{TEX}</math>',
            '<span class="math-container">$$A=\\pi r^2$$</span>',
            '<script type="math/tex; mode=display">A=\\pi r^2 % its area\n</script>',
        ):
            with self.subTest(html):
                self.assertEqual(markdown_of(f"<p>x {html} y</p>"), "x\n\n$$A=\\pi r^2$$\n\ny")

    def test_a_formula_in_a_cell_stays_in_its_cell(self) -> None:
        cells = "<tr><th>Name<th>Formula<tr><td>Norm<td>"
        norm = "<math display=block><mo>|</mo><mi>x</mi><mo>|</mo></math>"
        table = markdown_of(f"<table>{cells}{norm}</table>")
        self.assertEqual(table.splitlines()[-1], r"| Norm | $\vert x\vert$ |")

    def test_equations_of_latexml_are_formulas_with_their_numbers(self) -> None:
        number = '<td class="ltx_eqn_eqno">(7)</td>'
        row = f'<tr class="ltx_equation ltx_eqn_row"><td>{MATH}</td>{number}</tr>'
        text = markdown_of(f'<table class="ltx_equationgroup">{row}</table>')
        self.assertEqual(text, r"$$A=\pi r^2$$ (7)")

    def test_a_box_around_running_text_is_not_a_formula(self) -> None:
        text = markdown_of('<div class="katex"><p>The mill has two wheels.</p></div>')
        self.assertEqual(text, "The mill has two wheels.")

    def test_a_formula_is_found_with_any_spaces_and_braces(self) -> None:
        for text in ("It is $E=mc^2$ here.", "It is $E = mc^{2}$ here.", "$$E = m c^2$$"):
            for wanted in ("E = mc^2", "E=mc^2", "$E=mc^{2}$"):
                with self.subTest((text, wanted)):
                    found = finding.PageFinder(text).find(wanted, 9)
                    self.assertEqual(found["places_in_all"], 1)
        self.assertEqual(finding.PageFinder("It is E=mc^2.").find("E=mc^3", 9)["places_in_all"], 0)


class Bounds(unittest.TestCase):
    def test_three_hundred_formulas_take_little_time(self) -> None:
        formula = f'<span class="katex"><span class="katex-mathml">{MATH}</span>{DRAWN}</span>'
        start = time.process_time()
        text = markdown_of(f"<p>x {formula} y</p>" * 300)
        self.assertEqual(text.count(r"$A=\pi r^2$"), 300)
        self.assertLess(time.process_time() - start, 2 * SLACK)

    def test_hostile_mathml_takes_little_time_and_memory(self) -> None:
        size = 5_000_000
        for unit in ("<msup><mi>x</mi>", "<", "</mi>", "{", "\\("):
            for page in (
                f"<p>x <math>{unit * (size // len(unit))}</math> y</p>",
                f"<script type=math/tex>{unit * (size // len(unit))}</script>",
                f"<p>x {f'<math>{unit * 40}</math>' * (size // 10 // (40 * len(unit) + 13))} y</p>",
            ):
                with self.subTest((unit, page[:20])):
                    start = time.process_time()
                    markdown_of(page)
                    self.assertLess(time.process_time() - start, 10 * SLACK)

    def test_a_long_formula_becomes_a_short_placeholder(self) -> None:
        page = f"<p>x <math>{'<mi>x</mi>' * 500_000}</math> y</p>"
        tracemalloc.start()
        self.addCleanup(tracemalloc.stop)
        self.assertEqual(markdown_of(page), "x [formula] y")
        self.assertLess(tracemalloc.get_traced_memory()[1], 60_000_000)


if __name__ == "__main__":
    unittest.main()
