"""Make README's pictures in assets/: terminal-light.svg, desk-light.png, and the same dark.

usage: picture.py

The terminal shows the demo's main job: its output is real, of this version, wrapped as a terminal
of COLUMNS does, and cut after ROWS. The desk is drawn by a Chromium (skipped without one, or npm).
"""

from __future__ import annotations

import html
import shutil
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.e2e import desk  # noqa: E402  the path is set just above
from tests.e2e.browser import installed_browser  # noqa: E402
from tests.support import load_script  # noqa: E402
from tests.tools import demo  # noqa: E402

COLUMNS, ROWS = 96, 26  # characters, lines
CHARACTER, LINE, MARGIN, BAR = 8.4, 20, 20, 36  # pixels of a 14-pixel font, and of the frame


class Colors(NamedTuple):
    """The colours of a picture."""

    background: str
    bar: str
    text: str
    dim: str
    title: str
    prompt: str


THEMES = {
    "light": Colors("#ffffff", "#eaeef2", "#1f2328", "#59636e", "#0550ae", "#116329"),
    "dark": Colors("#0d1117", "#21262d", "#e6edf3", "#9198a1", "#79c0ff", "#7ee787"),
}


def terminal_lines(command: str, output: str) -> list[tuple[str, str]]:
    """Return (colour's name, line) for a command and its output, wrapped and cut."""
    lines: list[tuple[str, str]] = []
    for number, text in enumerate([f"$ {command}", "", *output.splitlines()]):
        if text.startswith(("[untrusted", "[end of")):  # marks for models, not for people
            continue
        color = "prompt" if not number else "title" if text.startswith(("#", "**")) else "text"
        if text in ("---", "[…]") or text.startswith("Results from"):
            color = "dim"
        lines += [(color, part) for part in textwrap.wrap(text, COLUMNS) or [""]]
    return lines if len(lines) <= ROWS else [*lines[: ROWS - 1], ("dim", "…")]


def drawn(lines: list[tuple[str, str]], colors: Colors, version: str) -> str:
    """Return the picture of a terminal with these lines as SVG."""
    width = round(COLUMNS * CHARACTER) + 2 * MARGIN
    height = BAR + len(lines) * LINE + 2 * MARGIN
    dots = "".join(
        f'<circle cx="{20 + 20 * number}" cy="{BAR // 2}" r="6" fill="{color}"/>'
        for number, color in enumerate(("#ff5f57", "#febc2e", "#28c840"))
    )
    texts = "\n".join(
        f'<text x="{MARGIN}" y="{BAR + MARGIN + number * LINE + 14}" '
        f'fill="{getattr(colors, color)}">{html.escape(line, quote=False)}</text>'
        for number, (color, line) in enumerate(lines)
        if line
    )
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">
<title>web-search {version}: a question, answered by passages of the pages found</title>
<rect width="{width}" height="{height}" rx="8" fill="{colors.background}" stroke="{colors.bar}"/>
<path d="M0 {BAR}V8a8 8 0 0 1 8-8h{width - 16}a8 8 0 0 1 8 8v{BAR - 8}z" fill="{colors.bar}"/>
{dots}
<g font-family="ui-monospace,Menlo,Consolas,monospace" font-size="14" xml:space="preserve">
{texts}
</g>
</svg>
"""


def main() -> int:
    """Write both pictures; return 1 if the search failed."""
    step = demo.STEPS[0]
    with demo.demo_environment() as environment:
        output, code = demo.run_step(step, environment)
    lines = terminal_lines(demo.command_line(step), output)
    version = load_script("websearch.kit").VERSION
    for theme, colors in THEMES.items():
        path = ROOT / f"assets/terminal-{theme}.svg"
        path.write_text(drawn(lines, colors, version), encoding="utf-8")
        print(path.relative_to(ROOT))
    with tempfile.TemporaryDirectory() as folder:
        if browser := installed_browser():
            desk.checks(browser, folder)
        for picture in Path(folder).glob("search-*.png"):
            if "narrow" not in picture.name:
                path = ROOT / "assets" / picture.name.replace("search", "desk")
                shutil.copy(picture, path)
                print(path.relative_to(ROOT))
    return code


if __name__ == "__main__":
    raise SystemExit(main())
