"""Tables of PDF files: ruled ones, columns of text, and what looks like a table and is none.

The only module to notice a table that is prose, or prose that is a table.
"""

from __future__ import annotations

import re
import unittest

from tests.fake_server.pdf_builder import PdfBuilder, escaped
from websearch.pages.pdf import read_pdf as pdf

Place = tuple[int, int]
ROWS = [
    ["Station", "Days of fog", "Storms"],
    ["Northern point", "61", "12"],
    ["Eastern point", "48", "9"],
    ["Western point", "57", "14"],
]
COLUMNS = (72, 200, 300)  # where the cells of ROWS begin, in points


def show(place: Place, text: str) -> bytes:
    """The operators that show a text at a place."""
    return b"1 0 0 1 %d %d Tm (%b) Tj\n" % (*place, escaped(text.encode("cp1252")))


def show_rows(rows: list[list[str]], columns: tuple[int, ...], top: int, step: int = 14) -> bytes:
    """The operators that show rows of cells, an empty cell left out."""
    return b"".join(
        show((column, top - number * step), text)
        for number, row in enumerate(rows)
        for column, text in zip(columns, row, strict=True)
        if text
    )


def ruled(xs: tuple[int, ...], ys: tuple[int, ...]) -> bytes:
    """The operators that draw a grid of lines."""
    lines = [b"%d %d m %d %d l S\n" % (xs[0], y, xs[-1], y) for y in ys]
    lines += [b"%d %d m %d %d l S\n" % (x, ys[0], x, ys[-1]) for x in xs]
    return b"".join(lines)


def read(content: bytes, fields: bytes = b"", before: bytes = b"") -> str:
    """The Markdown of a page of text operators, without the heading of the page."""
    builder = PdfBuilder()
    builder.add_page(before + b"BT /F1 10 Tf\n" + content + b"ET", fields=fields)
    text: str = pdf.read_pdf(builder.build()).text
    return text.partition("\n\n")[2]


def cells_of(text: str) -> list[list[str]]:
    """The rows of the Markdown tables in a text, without the rules below their headings."""
    rows = [line for line in text.split("\n") if line.startswith("|")]
    cells = [[cell.strip() for cell in row.strip("|").split(" | ")] for row in rows]
    return [row for row in cells if set(row) != {"---"}]


class Columns(unittest.TestCase):
    """Tables without lines."""

    def test_rows_with_cells_in_columns_are_a_table(self) -> None:
        text = read(show((72, 740), "A text before.") + show_rows(ROWS, COLUMNS, 700))
        self.assertEqual(
            text,
            "A text before.\n\n| Station | Days of fog | Storms |\n| --- | --- | --- |\n"
            "| Northern point | 61 | 12 |\n| Eastern point | 48 | 9 |\n| Western point | 57 | 14 |",
        )

    def test_a_soft_hyphen_is_a_minus_or_a_hyphen_in_a_cell(self) -> None:
        rows = [["Part", "Price"], ["01\u00ad2301", "\u00ad5,15"], ["01-2302", "6\u00a0400"]]
        expected = [["Part", "Price"], ["01-2301", "-5,15"], ["01-2302", "6 400"]]
        self.assertEqual(cells_of(read(show_rows(rows, COLUMNS[:2], 700))), expected)

    def test_plain_text_stays_as_it_is(self) -> None:
        builder = PdfBuilder()
        builder.add_page(b"BT /F1 10 Tf\n" + show_rows(ROWS, COLUMNS, 700) + b"ET")
        text = pdf.extract_pdf(builder.build())
        self.assertEqual(text.split("\n")[1].split("\t"), ROWS[1])

    def test_a_table_on_a_rotated_page_is_read_the_same(self) -> None:
        expected = cells_of(read(show_rows(ROWS, COLUMNS, 700)))
        for matrix in (b"0 1 -1 0 612 0 cm ", b"-1 0 0 -1 612 792 cm ", b"0 -1 1 0 0 792 cm "):
            grid = matrix + ruled((60, 190, 290, 400), (650, 668, 682, 696, 712))
            for before in (matrix, grid):
                text = read(show_rows(ROWS, COLUMNS, 700), b"/Rotate 90", before)
                self.assertEqual(cells_of(text), expected)

    def test_lines_of_one_cell_are_joined(self) -> None:
        rows = [
            ["Station", "Days", "Storms"], ["Northern point", "61", "12"],
            ["Eastern point", "48", "9"], ["Western point", "57", "14"],
        ]  # fmt: skip
        lines = show_rows(rows[:3], COLUMNS, 700, 18) + show((72, 653), "with the pier")
        text = read(lines + show_rows(rows[3:], COLUMNS, 635))
        rows[2][0] += " with the pier"
        self.assertEqual(cells_of(text), rows)

    def test_headings_above_the_columns_belong_to_the_table(self) -> None:
        heading = show((72, 714), "Place") + show((210, 714), "Measured on the island")
        text = read(heading + show_rows(ROWS, COLUMNS, 700))
        self.assertEqual(cells_of(text), [["Place", "Measured on the island", ""], *ROWS])

    def test_cells_of_one_string_with_wide_spaces_are_told_apart(self) -> None:
        content = b"".join(
            b"1 0 0 1 72 %d Tm 40 Tw (1%d 2%d 3%d) Tj\n" % (700 - 14 * row, row, row, row)
            for row in range(4)
        )
        expected = [[str(row + 10), str(row + 20), str(row + 30)] for row in range(4)]
        self.assertEqual(cells_of(read(content)), expected)

    def test_tables_side_by_side_are_two(self) -> None:
        rows = [["Age", "Total", "Age", "Total"]]
        rows += [
            [f"{age} years", f"{age},100", f"{age + 40} years", f"{age},400"] for age in range(9)
        ]
        text = read(show_rows(rows, (72, 140, 240, 310), 700))
        self.assertEqual(cells_of(text)[10:], [row[2:] for row in rows])
        self.assertEqual(text.count("| Age | Total |"), 2)

    def test_a_table_written_column_by_column_is_recognized(self) -> None:
        rows = [*ROWS, ["Southern point", "39", "7"], ["Inner harbour", "22", "3"]]
        content = b"".join(
            show((column, 700 - 14 * number), row[index])
            for index, column in enumerate(COLUMNS)
            for number, row in enumerate(rows)
        )
        self.assertEqual(cells_of(read(content)), rows)

    def test_text_next_to_a_table_stays_text(self) -> None:
        prose = "".join(
            show((400, 700 - 14 * row), "words of another column that run on").decode()
            for row in range(6)
        )
        rows = [*ROWS, ["Southern point", "33", "7"], ["The pier", "21", "3"]]
        text = read(show_rows(rows, COLUMNS, 700) + prose.encode())
        self.assertEqual(cells_of(text), rows)
        self.assertIn("words of another column that run on", text)

    def test_a_pipe_in_a_cell_is_escaped(self) -> None:
        rows = [*ROWS, ["a | b", "1", "2"]]
        self.assertIn("| a \\| b | 1 | 2 |", read(show_rows(rows, COLUMNS, 700)))


class Ruled(unittest.TestCase):
    """Tables whose cells are drawn."""

    XS, YS = (60, 190, 290, 400), (650, 668, 682, 696, 712)

    def test_lines_and_rectangles_make_the_cells(self) -> None:
        boxes = b"".join(
            b"%d %d %d %d re S\n" % (left, bottom, right - left, top - bottom)
            for left, right in zip(self.XS, self.XS[1:], strict=False)
            for bottom, top in zip(self.YS, self.YS[1:], strict=False)
        )
        for grid in (ruled(self.XS, self.YS), boxes):
            text = read(show_rows(ROWS, COLUMNS, 700), before=grid)
            self.assertEqual(cells_of(text), ROWS)

    def test_words_that_wrap_stay_in_their_cell(self) -> None:
        content = show((72, 700), "Name") + show((202, 700), "What it is")
        content += show((72, 680), "Foghorn") + show((202, 680), "A horn that is blown when")
        content += show((202, 668), "the fog comes in")
        text = read(content, before=ruled((60, 190, 400), (660, 692, 712)))
        whole = "A horn that is blown when the fog comes in"
        self.assertEqual(cells_of(text), [["Name", "What it is"], ["Foghorn", whole]])

    def test_a_cell_spanning_rows_is_in_the_first(self) -> None:
        lines = (
            ruled((60, 400), (650, 670, 690, 710)) + b"190 650 m 190 710 l S 290 650 m 290 710 l S"
        )
        lines = lines.replace(b"60 670 m 400 670 l", b"190 670 m 400 670 l")
        content = show_rows([["Station", "Year", "Fog"], ["", "2020", "61"], ["", "2021", "48"]],
                            COLUMNS, 698, 20) + show((72, 668), "North")  # fmt: skip
        expected = [["Station", "Year", "Fog"], ["North", "2020", "61"], ["", "2021", "48"]]
        self.assertEqual(cells_of(read(content, before=lines)), expected)

    def test_a_grid_without_outer_lines_has_its_outer_columns(self) -> None:
        lines = b"".join(b"60 %d m 400 %d l S\n" % (y, y) for y in self.YS)
        lines += b"190 650 m 190 712 l S 290 650 m 290 712 l S"
        self.assertEqual(cells_of(read(show_rows(ROWS, COLUMNS, 700), before=lines)), ROWS)

    def test_rows_of_numbers_between_two_lines_are_rows(self) -> None:
        text = read(show_rows(ROWS, COLUMNS, 700), before=ruled(self.XS, (650, 696, 712)))
        self.assertEqual(cells_of(text), ROWS)


class NoTables(unittest.TestCase):
    """A wrong grid hurts more than plain lines."""

    def test_prose_lists_and_drawings_are_not_tables(self) -> None:
        words = "the keeper wrote down what the weather did on"
        left = b"".join(show((72, 700 - 12 * row), words) for row in range(12))
        right = b"".join(show((330, 700 - 12 * row), words) for row in range(12))
        items = [[f"{number}.", f"what the keeper saw on day {number}"] for number in range(1, 9)]
        bullets = [["\u2022", "a word or two"] for _ in range(8)]
        box = ruled((60, 400), (600, 712))
        labels = b"".join(show((80 + 40 * at, 690 - 17 * at), f"{at}0") for at in range(5))
        chart = ruled(tuple(range(60, 300, 30)), tuple(range(600, 720, 15)))
        for name, content, before in (
            ("two columns", left + right, b""),
            ("a numbered list", show_rows(items, (72, 100), 700), b""),
            ("bullets", show_rows(bullets, (72, 100), 700), b""),
            ("a box of prose", left, box),
            ("a chart", labels, chart),
            ("two rows", show_rows(ROWS[:2], COLUMNS, 700), b""),
        ):
            with self.subTest(name):
                text = read(content, before=before)
                self.assertNotIn("---", text)
                self.assertNotRegex(text, r"(?m)^\|")

    def test_no_word_is_lost_around_a_table(self) -> None:
        content = show((72, 760), "first") + show_rows(ROWS, COLUMNS, 700) + show((72, 400), "last")
        builder = PdfBuilder()
        builder.add_page(b"BT /F1 10 Tf\n" + content + b"ET")
        plain = pdf.extract_pdf(builder.build()).split()
        marked = [word for word in read(content).split() if word not in ("|", "---")]
        self.assertEqual(marked, plain)


class LineNumbers(unittest.TestCase):
    """Numbers in the margins, which look like a column of a table."""

    PROSE = (
        "The board met on the first Monday of the month and heard",
        "the keeper, who said that the lamp had burned every night",
        "since the storm and that oil for another ninety days was in",
        "the store. The new glass arrives in spring, because the mo-",
        "tor road is closed until the snow is gone, and until then the",
        "old panes are mended with lead. The board thanked him and",
        "voted to pay for the lead out of the fund for repairs, which",
        "holds enough for two more winters. The secretary then read",
        "three letters from captains, and all of them praised the light.",
        "One of them asked for a bell that can be heard in fog.",
    )
    DIALOG = (
        "Q. What did you see when you came to the door of the",
        "tower on that morning?",
        "A. The lamp.",
        "Q. Was it lit, and did anybody stand near the lamp or",
        "walk to it?",
        "A. No.",
        "Q. Who closed it?",
        "A. The keeper.",
        "Q. When?",
        "A. At eight.",
        *[""] * 5,
    )
    ITEMS = tuple(line.capitalize() for line in PROSE)
    PHRASES = tuple(line.lower()[: 60 if at % 5 == 0 else 28] for at, line in enumerate(PROSE))
    CODE = tuple(f"{' ' * (at % 3)}lamp[{at}] = oil + glass" + ";" * at for at in range(9))
    NAMES = tuple(f"{line.split()[-1]} {line[:3]}" for line in PROSE)

    def drawn(
        self, lines: tuple[str, ...], margin: int = 60, step: int = 1, first: int = 1, x: int = 80
    ) -> tuple[list[bytes], list[bytes]]:
        """The operators of each line's number in the margin and of its text."""
        numbers, texts = [], []
        for at, line in enumerate(lines):
            y, number = 700 - 14 * at, str(first + at)
            place = (margin - 6 * len(number), y)
            numbers.append(b"" if int(number) % step else show(place, number))
            texts.append(show((x, y), line) if line else b"")
        return numbers, texts

    def test_numbers_of_lines_are_left_out(self) -> None:
        for name, lines, *places in (
            ("by one", self.PROSE),
            ("from 96", self.PROSE, 60, 1, 96),
            ("every five lines, at the right", self.PROSE * 2, 500, 5),
            ("a dialog and empty lines", self.DIALOG),
        ):
            with self.subTest(name):
                numbers, texts = self.drawn(lines, *places)
                expected = read(b"".join(texts))
                with_lines = [part for pair in zip(numbers, texts, strict=True) for part in pair]
                self.assertEqual(read(b"".join(with_lines)), expected)
                self.assertEqual(read(b"".join(texts + numbers)), expected)

    def test_numbers_beside_both_columns_are_left_out(self) -> None:
        left, left_texts = self.drawn(self.PROSE, 30, x=40)
        right, right_texts = self.drawn(self.PROSE, 620, first=11, x=330)
        texts = left_texts + right_texts
        self.assertEqual(read(b"".join(left + right + texts)), read(b"".join(texts)))

    def test_numbers_go_on_beside_the_headings_of_the_next_page(self) -> None:
        headings = ("Figures", "A lamp", "The old road")
        for first, expected in ((11, []), (12, ["12", "13", "14"])):
            builder = PdfBuilder()
            for parts in (self.drawn(self.PROSE), self.drawn(headings, first=first)):
                builder.add_page(b"BT /F1 10 Tf\n" + b"".join(parts[0] + parts[1]) + b"ET")
            text = pdf.read_pdf(builder.build()).text.partition("[page 2]")[2]
            self.assertEqual(re.findall(r"\d+", text), expected)

    def test_numbers_of_anything_else_stay(self) -> None:
        paragraphs = [show((48, 700 - 70 * at), str(41 + at)) for at in range(4)]
        items = [show((54, 700 - 14 * (at + at // 2)), str(at + 1)) for at in range(7)]
        two_lines = (*self.ITEMS[:2], *self.PROSE[2:3], *self.ITEMS[4:6], *self.PROSE[5:6])
        begins = [show((80, 644 - 70 * at), str(5 * at + 5)) for at in range(4)]
        after = [
            show((80 if (at + 1) % 5 else 100, 700 - 14 * at), line)
            for at, line in enumerate(self.PROSE * 2)
        ]
        for name, (numbers, texts) in (
            ("the first words of lines", (begins, after)),
            ("a list", self.drawn(self.ITEMS)),
            ("a list of phrases", self.drawn(self.PHRASES)),
            ("items of one or two lines", (items, self.drawn(two_lines * 2)[1][:10])),
            ("code", self.drawn(self.CODE)),
            ("rows", self.drawn(self.NAMES)),
            ("a table of contents", self.drawn(self.ITEMS * 2, 500, 5)),
            ("paragraphs", (paragraphs, self.drawn(self.PROSE * 2)[1])),
        ):
            with self.subTest(name):
                text = read(b"".join(numbers + texts))
                for number in re.findall(rb"\((\d+)\)", b"".join(numbers)):
                    self.assertRegex(text, rf"\b{number.decode()}\b")


if __name__ == "__main__":
    unittest.main()
