"""PDF files of our own making: text in reading order, every way to write a file, broken files.

The only module to notice a way of writing a PDF file that is not read.
"""

from __future__ import annotations

import re
import struct
import time
import tracemalloc
import unittest
import zlib
from typing import TYPE_CHECKING, Any
from unittest import mock

from tests.fake_server.pdf_builder import (
    HELVETICA,
    PdfBuilder,
    composite_font,
    encrypt_with_aes,
    encrypt_with_rc4,
    one_page,
    to_unicode,
)
from tests.pages.pdf.font_programs import (
    cff_program,
    overlapping_groups,
    overlapping_index,
    overlapping_segments,
    repeated_table,
    truetype_program,
    with_map,
    with_tables,
)
from tests.support import SLACK, load_script
from websearch import kit
from websearch.pages.pdf import crypt, limits
from websearch.pages.pdf import read_pdf as pdf

if TYPE_CHECKING:
    from websearch.pages.page_content import PageContent

WORDS = "The keeper wrote down the weather"
# Codes of a font for text from right to left: a to z, a mark, a ligature, an Arabic letter.
RTL_LETTERS = {
    **{code: chr(0x5D0 + code - 0x61) for code in range(0x61, 0x7B)},
    0x41: "\u05b8", 0x42: "\ufef7", 0x43: "\u0639",
}  # fmt: skip


def text_of(data: bytes) -> str:
    text: str = pdf.extract_pdf(data)
    return text


def shown(content: bytes, font: bytes = HELVETICA, **page: Any) -> str:
    """Return the text of a page with this content stream and a single font."""
    builder = PdfBuilder()
    builder.add_page(content, b"<</Font<</F1 %b>>>>" % font, **page)
    return text_of(builder.build())


def lines_at(*lines: tuple[float, float, str], size: int = 10) -> str:
    """Return the text of a page with a string at each place."""
    parts = [b"BT /F1 %d Tf" % size]
    parts += [f"1 0 0 1 {x} {y} Tm ({text}) Tj".encode("cp1252") for x, y, text in lines]
    return shown(b"\n".join(parts))


def markdown_at(*lines: tuple[float, float, str]) -> str:
    """Return the Markdown of a page with a string at each place."""
    parts = [f"1 0 0 1 {x} {y} Tm ({text}) Tj".encode("cp1252") for x, y, text in lines]
    builder = PdfBuilder()
    builder.add_page(b"BT /F1 10 Tf " + b"\n".join(parts))
    return str(pdf.read_pdf(builder.build()).text)


# Texts with their rise and size, and how they are written as Markdown.
SCRIPTS: tuple[tuple[tuple[tuple[bytes, int, int], ...], str], ...] = (
    (((b"10", 0, 10), (b"6", 4, 6), (b" units", 0, 10)), "10^6 units"),
    (((b"10", 0, 10), (b"1", 4, 6), (b"2", 4, 6), (b" units", 0, 10)), "10^12 units"),
    (((b"rose to 4.5 percent", 0, 10), (b"7", 4, 6), (b" in May", 0, 10)),
     "rose to 4.5 percent[7] in May"),
    (((b"in May.", 0, 10), (b"7,8", 4, 6)), "in May.[7,8]"),
    (((b"of 4.5", 0, 10), (b"7", 4, 6), (b" percent", 0, 10)), "of 4.5^7 percent"),
    (((b"the 1", 0, 10), (b"st", 4, 6), (b" day", 0, 10)), "the 1st day"),
    (((b"2", 0, 10), (b"n+1", 4, 6)), "2^(n+1)"),
    (((b"H", 0, 10), (b"2", -2, 6), (b"O", 0, 10)), "H2O"),
    (((b"100", 0, 10), (b"2", -2, 6), (b" and x", 0, 10), (b"i", -2, 6)), "100_2 and x_i"),
    (((b"small", 0, 10), (b"caps", 0, 7), (b" and bold", 0, 10)), "smallcaps and bold"),
    (((b"a ", 0, 10), (b"far off the line", 4, 6)), "a far off the line"),
    (((b"as ", 0, 10), (b"7", 4, 9)), "as 7"),
)  # fmt: skip


class PdfCase(unittest.TestCase):
    def failure(self, data: bytes, kind: str, words: str) -> None:
        with self.assertRaises(kit.SearchError) as caught:
            pdf.read_pdf(data)
        self.assertEqual(caught.exception.kind, kind)
        self.assertIn(words, caught.exception.message)
        self.assertTrue(caught.exception.hint)


class Layout(PdfCase):
    """Lines, paragraphs and columns."""

    def test_wrapped_lines_are_a_paragraph_and_a_gap_begins_the_next(self) -> None:
        text = lines_at(
            (72, 700, "The keeper wrote down the weather every morning for many"),
            (72, 688, "years, and nobody ever asked what he did with all the books."),
            (72, 676, "They are there."),
            (72, 640, "The next keeper burned them."),
        )
        first, second = text.split("\n\n")
        self.assertIn("for many years, and nobody", first)
        self.assertTrue(first.endswith("books. They are there."), first)
        self.assertEqual(second, "The next keeper burned them.")

    def test_short_lines_of_an_address_stay_lines(self) -> None:
        text = lines_at((72, 700, "12 Harbour Street"), (72, 688, "Tarbert"), (72, 676, "Scotland"))
        self.assertEqual(text, "12 Harbour Street\nTarbert\nScotland")

    def test_an_indented_line_begins_a_paragraph(self) -> None:
        text = lines_at(
            (72, 700, "The keeper wrote down the weather every morning for many long years."),
            (92, 688, "Nobody ever asked what he did with all the books in the small tower."),
            (72, 676, "The next keeper burned them all in a single week of that winter, sadly."),
        )
        self.assertEqual(text.count("\n\n"), 1)
        self.assertIn("years.\n\nNobody", text)

    def test_a_word_broken_by_a_hyphen_is_made_whole(self) -> None:
        text = lines_at((72, 700, "He read about navi-"), (72, 688, "gation at sea"))
        self.assertEqual(text, "He read about navigation at sea")

    def test_a_hyphen_before_a_capital_letter_stays(self) -> None:
        text = lines_at((72, 700, "It was an Anglo-"), (72, 688, "Saxon book"))
        self.assertEqual(text, "It was an Anglo-Saxon book")

    def test_a_word_broken_at_the_end_of_a_column_is_made_whole(self) -> None:
        text = lines_at((72, 100, "He read about navi-"), (320, 700, "gation at sea"))
        self.assertIn("navigation at sea", text)

    def test_columns_are_read_one_after_the_other(self) -> None:
        left = [(72, 700 - 12 * row, f"left {row}") for row in range(4)]
        right = [(320, 700 - 12 * row, f"right {row}") for row in range(4)]
        words = lines_at(*left, *right).split()
        self.assertEqual(words, [*"left 0 left 1 left 2 left 3".split(),
                                 *"right 0 right 1 right 2 right 3".split()])  # fmt: skip

    def test_gaps_are_spaces_and_wide_gaps_cells(self) -> None:
        self.assertEqual(lines_at((72, 700, "tide"), (91, 700, "table")), "tide table")
        self.assertEqual(lines_at((72, 700, "1889"), (200, 700, "4.5")), "1889\t4.5")
        self.assertEqual(lines_at((72, 700, "ti"), (77.4, 700, "de")), "tide")

    def test_kerning_is_not_a_space_but_a_large_shift_is(self) -> None:
        self.assertEqual(shown(b"BT /F1 9 Tf [(T)80(o)-20(wer)] TJ"), "Tower")
        self.assertEqual(shown(b"BT /F1 9 Tf [(two)-300(words)] TJ"), "two words")
        self.assertEqual(shown(b"BT /F1 9 Tf [(a )-300(b)] TJ"), "a b")

    def test_characters_in_the_boxes_of_a_form_are_apart(self) -> None:
        self.assertEqual(shown(b"BT /F1 9 Tf 20 Tc (195) Tj"), "1\t9\t5")

    def test_superscripts_stay_in_their_line(self) -> None:
        text = shown(b"BT /F1 10 Tf (ten) Tj 4 Ts /F1 6 Tf (3) Tj 0 Ts /F1 10 Tf ( miles) Tj")
        self.assertEqual(text, "ten3 miles")

    def test_raised_and_lowered_text_is_marked_in_markdown(self) -> None:
        for texts, expected in SCRIPTS:
            with self.subTest(expected):
                builder = PdfBuilder()
                content = b"".join(
                    b"%d Ts /F1 %d Tf (%b) Tj " % (rise, size, text) for text, rise, size in texts
                )
                builder.add_page(b"BT " + content + b"ET")
                data = builder.build()
                self.assertEqual(pdf.read_pdf(data).text, f"## [page 1]\n\n{expected}")
                plain = "".join(text.decode() for text, _, _ in texts)
                self.assertEqual(text_of(data), plain)

    def test_columns_that_are_drawn_row_by_row_are_read_down(self) -> None:
        left = ("The committee met early in", "spring and chose a keeper",
                "who walks both of the halls", "each morning and at night.")  # fmt: skip
        right = ("Keys are kept in the office", "and nobody takes them home",
                 "unless the guild has said so", "in writing the day before.")  # fmt: skip
        rows = [
            (x, 700 - 14 * at, text)
            for at, pair in enumerate(zip(left, right, strict=True))
            for x, text in zip((72, 320), pair, strict=True)
        ]
        whole = (72, 740, "A line of text that runs over both of the columns of this page here")
        text = markdown_at(whole, *rows)
        self.assertLess(text.index(left[-1]), text.index(right[0]))
        self.assertLess(text.index("A line of"), text.index(left[0]))
        # Names in place of prose are the head of a row, which stays whole.
        names = [(x, y, text if x > 300 else text.split()[0]) for x, y, text in rows]
        text = markdown_at(*names)
        for name, words in zip(left, right, strict=True):
            self.assertRegex(text, rf"{name.split()[0]}\W+{words.split()[0]}")

    def test_dots_of_a_table_of_contents_are_short_and_its_entries_are_lines(self) -> None:
        text = markdown_at(
            (72, 700, "1.1 Weather of the northern coast" + " ." * 40 + " 2"),
            (72, 688, "1.2 Tides" + "." * 90 + "14"),
            (72, 676, "and a remark ... that has dots of its own"),
        )
        self.assertIn(
            "1.1 Weather of the northern coast \u2026 2\n1.2 Tides \u2026 14\n"
            "and a remark ... that has",
            text,
        )

    def test_rotated_text_is_read_along_its_own_direction(self) -> None:
        content = b"BT /F1 10 Tf 0 1 -1 0 100 100 Tm 12 TL (A rotated) Tj T* (label here) Tj"
        self.assertEqual(shown(content).split(), ["A", "rotated", "label", "here"])
        letters = b"BT /F1 10 Tf 0 1 -1 0 100 100 Tm (u) Tj (p) Tj"
        self.assertEqual(shown(letters), "up")
        self.assertEqual(shown(letters, fields=b"/Rotate 90"), "up")

    def test_text_drawn_twice_to_look_bold_is_read_once(self) -> None:
        text = lines_at((72, 700, "Bold"), (72.3, 700, "Bold"), (72, 680, "Bold"))
        self.assertEqual(text.split(), ["Bold", "Bold"])

    def test_operators_that_move_and_show_are_followed(self) -> None:
        content = (
            b"q 2 0 0 2 0 0 cm BT /F1 6 Tf 14 TL 36 350 Td (one) Tj 0 -14 TD (two) ' "
            b'1 0.5 (three) " T* (four) Tj ET Q BT /F1 12 Tf 72 100 Td (five) Tj ET'
        )
        self.assertEqual(shown(content).split(), ["one", "two", "three", "four", "five"])

    def test_a_line_like_a_markdown_heading_is_escaped(self) -> None:
        document = pdf.read_pdf(one_page("# 5 of 7", "## [page 9]"))
        self.assertIn("\\# 5 of 7", document.text)
        self.assertNotRegex(document.text, r"(?m)^## \[page 9\]")


class RightToLeft(PdfCase):
    """Hebrew and Arabic, which files contain in visual order."""

    def visual(self, codes: bytes, more: bytes = b"") -> str:
        builder = PdfBuilder()
        cmap = to_unicode({**RTL_LETTERS, **{one: chr(one) for one in b"0123456789.- ()%"}}, 1)
        number = builder.add_packed(cmap)
        font = b"<</Subtype/Type1/BaseFont/Courier/ToUnicode %d 0 R>>" % number
        resources = b"<</Font<</F1 %b/F2 %b>>>>" % (font, HELVETICA)
        content = b"BT /F1 10 Tf 72 700 Td [<%b>] TJ %b" % (codes.hex().encode(), more)
        builder.add_page(content, resources)
        return text_of(builder.build())

    def test_letters_are_put_in_the_order_of_reading(self) -> None:
        self.assertEqual(self.visual(b"cba fed"), "דהו אבג")

    def test_numbers_keep_their_order(self) -> None:
        self.assertEqual(self.visual(b"b 12.50 a"), "א 12.50 ב")
        self.assertEqual(self.visual(b"b 25% a"), "א 25% ב")
        self.assertEqual(self.visual(b"3 2 1 a"), "א 1 2 3")

    def test_brackets_close_where_they_should(self) -> None:
        self.assertEqual(self.visual(b"c (b) a"), "א (ב) ג")
        self.assertEqual(self.visual(b"c )b( a"), "א (ב) ג")

    def test_latin_words_keep_their_order(self) -> None:
        text = self.visual(b"hgfe", b"/F2 10 Tf ( to two ) Tj /F1 10 Tf <64636261> Tj")
        self.assertEqual(text, "אבגד to two הוזח")

    def test_glyphs_drawn_from_the_right_read_the_same(self) -> None:
        content = b"".join(
            b"1 0 0 1 %d 700 Tm <%02x> Tj " % (300 - 6 * place, code)
            for place, code in enumerate(b"abc def")
        )
        self.assertEqual(self.visual(b"", content), "אבג דהו")

    def test_accents_follow_their_letter_and_ligatures_stay_whole(self) -> None:
        content = b"1 0 0 1 72 700 Tm <62> Tj 1 0 0 1 73 700 Tm <41> Tj 1 0 0 1 78 700 Tm <61> Tj"
        self.assertEqual(self.visual(b"", content), "אב\u05b8")
        self.assertEqual(self.visual(b"BC"), "ع\u0644\u0623")  # ain, and lam with alef

    def test_only_the_hebrew_word_in_a_latin_line_is_reversed(self) -> None:
        text = self.visual(b"", b"/F2 10 Tf (one ) Tj /F1 10 Tf <636261> Tj /F2 10 Tf ( two) Tj")
        self.assertEqual(text, "one אבג two")


class Pages(PdfCase):
    """Page numbers, ranges, the page tree and metadata."""

    def book(self, pages: int = 6) -> bytes:
        builder = PdfBuilder()
        for number in range(1, pages + 1):
            builder.add_text(f"Text of leaf {number}.")
        return builder.build()

    def marks(self, pages: str) -> list[str]:
        return re.findall(r"(?m)^## \[page (\d+)\]$", pdf.read_pdf(self.book(), pages).text)

    def test_every_page_has_its_number(self) -> None:
        document = pdf.read_pdf(self.book(2))
        self.assertEqual(
            document.text, "## [page 1]\n\nText of leaf 1.\n\n## [page 2]\n\nText of leaf 2."
        )
        self.assertEqual(document.fields["page_count"], 2)

    def test_a_range_names_the_pages_to_read(self) -> None:
        self.assertEqual(self.marks("2-3"), ["2", "3"])
        self.assertEqual(self.marks("1, 4-5"), ["1", "4", "5"])
        self.assertEqual(self.marks("5-99"), ["5", "6"])
        self.assertEqual(pdf.read_pdf(self.book(), "2").fields["page_count"], 6)

    def test_malformed_and_absent_ranges_are_bad_input(self) -> None:
        for pages in ("x", "0", "3-2", "1-", "-3", "1,,2", "1;2"):
            with self.assertRaises(kit.SearchError) as caught:
                pdf.read_pdf(self.book(), pages)
            self.assertEqual(caught.exception.kind, "invalid_input", pages)
        with self.assertRaises(kit.SearchError) as caught:
            pdf.read_pdf(self.book(), "7-9")
        self.assertIn("6 pages", caught.exception.message)

    def test_pages_inherit_their_resources_from_the_tree(self) -> None:
        builder = PdfBuilder()
        builder.tree_fields = b"/Resources<</Font<</F1 %b>>>>" % HELVETICA
        content = builder.add_stream(b"BT /F1 9 Tf (inherited \\351) Tj")
        page = b"<</Type/Page/Parent 2 0 R/Contents %d 0 R>>" % content
        builder.pages.append(builder.add(page))
        self.assertEqual(text_of(builder.build()), "inherited é")

    def test_a_tree_with_a_cycle_ends(self) -> None:
        builder = PdfBuilder()
        first = builder.add_text("first")
        builder.pages += [2, first]
        builder.add_text("last")
        self.assertEqual(text_of(builder.build()).split(), ["first", "last"])

    def test_a_deep_tree_is_walked(self) -> None:
        builder = PdfBuilder()
        page = builder.add_text("deep")
        for _ in range(300):
            page = builder.add(b"<</Type/Pages/Kids[%d 0 R]>>" % page)
        builder.pages = [page]
        self.assertEqual(text_of(builder.build()), "deep")

    def test_contents_in_parts_are_read_as_one(self) -> None:
        builder = PdfBuilder()
        parts = [builder.add_stream(one) for one in (b"BT /F1 9", b"Tf (one) Tj", b"(two) Tj ET")]
        builder.add_page(parts)
        self.assertEqual(text_of(builder.build()), "onetwo")

    def test_title_author_date_and_language_are_named(self) -> None:
        builder = PdfBuilder()
        builder.add_text("text")
        title = "Über Türme".encode("utf-16-be").hex().encode()
        info = b"<</Title<feff%b>/Author(Zo\\353 \\205 B)/CreationDate(D:20240131120000+01'00')>>"
        builder.trailer["Info"] = b"%d 0 R" % builder.add(info % title)
        builder.catalog_fields = b"/Lang(de-CH)"
        document = pdf.read_pdf(builder.build())
        facts = [document.fields[name] for name in ("title", "author", "published", "language")]
        self.assertEqual(facts, ["Über Türme", "Zoë \u2013 B", "2024-01-31", "de-CH"])

    def test_without_them_xmp_metadata_is_used(self) -> None:
        builder = PdfBuilder()
        builder.add_text("text")
        xmp = (
            "<rdf:RDF><rdf:Description xmp:CreateDate='2023-05-06T07:08:09Z'><dc:title><rdf:Alt>"
            "<rdf:li xml:lang='x-default'>Tides &amp; Towers</rdf:li></rdf:Alt></dc:title>"
            "<dc:creator><rdf:Seq><rdf:li>Ann Other</rdf:li></rdf:Seq></dc:creator>"
        )
        number = builder.add_packed(xmp.encode(), b"/Type/Metadata")
        builder.catalog_fields = b"/Metadata %d 0 R" % number
        document = pdf.read_pdf(builder.build())
        facts = [document.fields[name] for name in ("title", "author", "published")]
        self.assertEqual(facts, ["Tides & Towers", "Ann Other", "2023-05-06"])


class References(PdfCase):
    """Cross-reference tables and streams, and files in which they are wrong."""

    def setUp(self) -> None:
        builder = PdfBuilder()
        builder.add_text(WORDS)
        self.builder = builder
        self.table = builder.build()

    def test_every_kind_of_cross_reference_is_read_without_scanning(self) -> None:
        file_class = load_script("websearch.pages.pdf.file").PdfFile
        for kind in ("table", "stream", "hybrid"):
            with self.subTest(kind), mock.patch.object(file_class, "scan", side_effect=OSError):
                self.assertEqual(text_of(self.builder.build(kind)), WORDS)

    def test_bytes_before_the_header_move_no_offset(self) -> None:
        for kind in ("table", "stream"):
            self.assertEqual(text_of(self.builder.build(kind, junk=b"HTTP/1.1 200\r\n\r\n")), WORDS)

    def test_a_file_without_cross_references_is_scanned(self) -> None:
        trailer = b"trailer<</Root 1 0 R>>"
        data = self.builder.build("none")
        for broken in (data, data + trailer, self.table.replace(b"startxref", b"startxxxx")):
            self.assertEqual(text_of(broken), WORDS)

    def test_no_object_is_lost_between_two_parts_of_a_scan(self) -> None:
        part = load_script("websearch.pages.pdf.file").SCANNED_AT_ONCE
        head, rest = self.builder.build("none").split(b"\n", 1)
        for landmark in re.finditer(rb"\d+ 0 obj|/Page\b|/Catalog", rest):
            for cut in (1, 4):
                padding = b"\n%" + b"-" * (part - len(head) - 3 - landmark.start() - cut) + b"\n"
                self.assertEqual(text_of(head + padding + rest), WORDS, (landmark[0], cut))

    def test_object_streams_of_a_broken_file_are_unpacked(self) -> None:
        data = self.builder.build("stream")
        self.assertEqual(text_of(re.sub(rb"startxref\s+\d+", b"startxref 7", data)), WORDS)

    def test_wrong_offsets_are_corrected(self) -> None:
        for shift in (-3, 4, 1000):
            moved = re.sub(
                rb"(\d{10}) 00000 n",
                lambda match: b"%010d 00000 n" % max(0, int(match[1]) + shift),  # noqa: B023
                self.table,
            )
            self.assertEqual(text_of(moved), WORDS, shift)

    def test_a_table_that_counts_from_one_is_corrected(self) -> None:
        rows = self.table.index(b"xref\n")
        offsets = re.findall(rb"(\d{10}) 00000 n", self.table)
        table = b"xref\n1 %d\n0000000000 65535 f \n" % (len(offsets) + 1)
        table += b"".join(b"%b 00000 n \n" % offset for offset in offsets)
        tail = self.table[self.table.index(b"trailer") :]
        self.assertEqual(text_of(self.table[:rows] + table + tail), WORDS)

    def test_without_a_catalog_the_pages_are_found(self) -> None:
        for name in (b"/Catalog", b"/Root", b"/Pages 2"):
            self.assertEqual(text_of(self.table.replace(name, b"/Xxxxxxx"[: len(name)])), WORDS)

    def test_without_a_trailer_the_catalog_orders_the_pages(self) -> None:
        builder = PdfBuilder()
        for word in ("first", "second"):
            builder.add_text(word)
        data = builder.build()
        kids = re.search(rb"/Kids ?\[(\d+ 0 R) (\d+ 0 R)\]", data)
        assert kids
        turned = data.replace(kids[0], b"/Kids[%b %b]" % (kids[2], kids[1]))
        text = text_of(turned.replace(b"/Root", b"/Xxxx").replace(b"startxref", b"startxxxx"))
        self.assertEqual(re.findall("first|second", text), ["second", "first"])

    def test_the_remaining_pages_of_a_truncated_file_are_read(self) -> None:
        builder = PdfBuilder()
        for number in range(9):
            builder.add_text(f"leaf {number}")
        data = builder.build()
        text = text_of(data[: data.index(b"(leaf 6)")])
        self.assertEqual(re.findall(r"leaf \d", text), [f"leaf {one}" for one in range(6)])

    def update(self, data: bytes, body: bytes, number: int, trailer: bytes = b"") -> bytes:
        """A file with a newer version of one object at its end."""
        previous = re.findall(rb"startxref\s+(\d+)", data)[-1]
        start = len(data) + len(body)
        table = b"xref\n%d 1\n%010d 00000 n \n" % (number, len(data))
        fields = trailer or b"/Prev %b" % previous
        end = b"trailer<</Size 9/Root 1 0 R%b>>\nstartxref\n%d\n%%%%EOF" % (fields, start)
        return data + body + table + end

    def test_the_newest_version_of_an_object_counts(self) -> None:
        number = self.builder.pages[0] - 1
        body = b"%d 0 obj<</Length 25>>stream\nBT /F1 9 Tf (newest) Tj  \nendstream endobj\n"
        newer = self.update(self.table, body % number, number)
        self.assertEqual(text_of(newer), "newest")
        self.assertEqual(text_of(newer.replace(b"startxref", b"startxxxx")), "newest")

    def test_a_deleted_object_is_not_read(self) -> None:
        row = re.compile(rb"(%d 1\n\d{10} 00000) n" % (self.builder.pages[0] - 1))
        self.failure(row.sub(rb"\1 f", self.table), "unsupported", "no text")

    def test_a_cycle_of_tables_ends(self) -> None:
        body = b"90 0 obj null endobj\n"
        start = len(self.table) + len(body)
        self.assertEqual(text_of(self.update(self.table, body, 90, b"/Prev %d" % start)), WORDS)

    def test_wrong_and_indirect_lengths_are_corrected(self) -> None:
        length = re.search(rb"/Length (\d+)", self.table)
        assert length is not None
        for wrong in (b"0", b"1", b"9999999", b"-5", b"3 0 R", b"null", b"(x)"):
            self.assertEqual(text_of(self.table.replace(length[0], b"/Length " + wrong)), WORDS)
        builder = PdfBuilder()
        size = builder.add(b"30")
        builder.objects[max(builder.objects) + 1] = (
            b"<</Length %d 0 R>>stream\nBT /F1 9 Tf (by reference) Tj \nendstream" % size
        )
        builder.add_page(max(builder.objects))
        self.assertEqual(text_of(builder.build()), "by reference")

    def test_odd_spelling_is_tolerated(self) -> None:
        content = (
            b"BT /F#31 +9. Tf --5 1.2.3 Td % a comment (no)\n (p\\141r\\(e\\)n (nested)\\\n) Tj"
        )
        self.assertEqual(shown(content), "par(e)n (nested)")
        self.assertEqual(shown(b"BT /F1 9 Tf <48 65 6C6C 6f2> Tj"), "Hello")
        self.assertEqual(shown(b"BT /F1 9 Tf (\\500\\53\\7779) Tj"), "@+ÿ9")


class Filters(PdfCase):
    """Compression and encoding of streams."""

    CONTENT = b"BT /F1 9 Tf (%b) Tj ET " % WORDS.encode()

    def packed(self, data: bytes, fields: bytes) -> str:
        builder = PdfBuilder()
        builder.add_page(builder.add_stream(data, fields))
        return text_of(builder.build())

    @staticmethod
    def lzw(data: bytes, early: int = 1) -> bytes:
        """Packed by LZW, without a clear code in between."""
        table = {bytes([value]): value for value in range(256)}
        codes, widths, prefix, size = [256], [9], b"", 258
        for value in data:
            if prefix + bytes([value]) in table:
                prefix += bytes([value])
                continue
            codes.append(table[prefix])
            widths.append(next(one for one in range(9, 13) if size + early - 1 < 1 << one))
            table[prefix + bytes([value])] = size
            size += 1
            prefix = bytes([value])
        codes += [table[prefix], 257]
        width = next(one for one in range(9, 13) if size + early - 1 < 1 << one)
        widths += [width, next(one for one in range(9, 13) if size + early < 1 << one)]
        bits = "".join(f"{code:0{width}b}" for code, width in zip(codes, widths, strict=True))
        bits += "0" * (-len(bits) % 8)
        return int(bits, 2).to_bytes(len(bits) // 8, "big")

    @staticmethod
    def ascii85(data: bytes) -> bytes:
        out = b""
        for place in range(0, len(data), 4):
            group = data[place : place + 4]
            value = int.from_bytes(group.ljust(4, b"\0"), "big")
            digits = bytes(value // 85**power % 85 + 33 for power in (4, 3, 2, 1, 0))
            out += b"z" if group == bytes(4) else digits[: len(group) + 1]
        return out + b"~>"

    @staticmethod
    def run_length(data: bytes) -> bytes:
        return b"".join(
            bytes([min(127, len(data) - place - 1)]) + data[place : place + 128]
            for place in range(0, len(data), 128)
        ) + b"\xfd \x80"  # fmt: skip

    def test_every_filter_is_undone(self) -> None:
        long = self.CONTENT * 200
        for name, data in (
            (b"/FlateDecode", zlib.compress(long)),
            (b"/Fl", zlib.compress(long)),
            (b"/LZWDecode", self.lzw(long[:3000])),
            (b"/ASCII85Decode", self.ascii85(long + bytes(8))),
            (b"/ASCIIHexDecode", long.hex().encode() + b"\n>"),
            (b"/RunLengthDecode", self.run_length(long)),
            (b"[/A85/Fl]", self.ascii85(zlib.compress(long))),
            (b"[/AHx /LZW]", self.lzw(self.CONTENT).hex().encode()),
        ):
            with self.subTest(name):
                self.assertTrue(self.packed(data, b"/Filter" + name).startswith(WORDS))

    def test_lzw_without_early_change(self) -> None:
        content = self.CONTENT + bytes(range(65, 80)) * 90 + b" BT /F1 9 Tf 0 50 Td (end) Tj"
        fields = b"/Filter/LZWDecode/DecodeParms<</EarlyChange 0>>"
        self.assertIn("end", self.packed(self.lzw(content, early=0), fields))

    def test_damaged_flate_yields_the_data_before_the_damage(self) -> None:
        words = b" ".join(b"(%d) Tj" % number for number in range(5000))
        whole = zlib.compress(b"BT /F1 9 Tf " + words)
        for name, data, least in (
            ("bad checksum", whole[:-4] + b"abcd", 5000),
            ("cut off", whole[: len(whole) // 2], 1500),
            ("garbage inside", whole[:6000] + b"\xff" * 40 + whole[6040:], 1500),
            ("no header", whole[2:], 5000),
            ("broken header", b"\0\0" + whole[2:], 5000),
            ("a line end too many", b"\r\n" + whole, 5000),
        ):
            with self.subTest(name):
                text = self.packed(data, b"/Filter/FlateDecode")
                self.assertIn(str(least - 1), text)

    def test_predictors_are_undone(self) -> None:
        data = self.CONTENT.ljust(-(-len(self.CONTENT) // 12) * 12)
        rows = [data[place : place + 12] for place in range(0, len(data), 12)]
        tiff = b"".join(
            bytes((row[at] - (row[at - 1] if at else 0)) & 255 for at in range(12)) for row in rows
        )
        fields = b"/Filter/FlateDecode/DecodeParms<</Predictor %d/Columns 12>>"
        self.assertEqual(self.packed(zlib.compress(tiff), fields % 2), WORDS)
        above, png = bytes(12), b""
        for number, row in enumerate(rows):
            kind = number % 5
            png += bytes([kind])
            for at in range(12):
                left, up = row[at - 1] if at else 0, above[at]
                corner = above[at - 1] if at else 0
                paeth = min((left, up, corner), key=lambda one: abs(left + up - corner - one))
                guess = (0, left, up, (left + up) // 2, paeth)[kind]
                png += bytes([(row[at] - guess) & 255])
            above = row
        self.assertEqual(self.packed(zlib.compress(png), fields % 15), WORDS)

    def test_an_unknown_filter_loses_only_its_stream(self) -> None:
        builder = PdfBuilder()
        builder.add_page([builder.add_stream(b"x", b"/Filter/Unknown"),
                          builder.add_stream(self.CONTENT)])  # fmt: skip
        self.assertEqual(text_of(builder.build()), WORDS)

    def test_inline_images_are_skipped(self) -> None:
        image = b"BI /W 9 /H 1 /BPC 8 /CS /G ID \x80 EI \xff(bytes) Tj\x90\xff\nEI\n"
        content = b"BT /F1 9 Tf (before) Tj ET " + image * 50 + b"BT 0 50 Td (after) Tj ET"
        self.assertEqual(shown(content).split(), ["before", "after"])


class Fonts(PdfCase):
    """From codes to letters."""

    def font(self, fields: bytes, codes: bytes, builder: PdfBuilder | None = None) -> str:
        builder = builder or PdfBuilder()
        font = b"<</Type/Font%b>>" % fields if fields.startswith(b"/") else fields
        content = b"BT /F1 10 Tf <%b> Tj" % codes.hex().encode()
        builder.add_page(content, b"<</Font<</F1 %b>>>>" % font)
        return text_of(builder.build())

    def test_named_encodings(self) -> None:
        for name, codes, text in (
            (b"WinAnsi", b"caf\xe9 \x80 \x93q\x94", "café € “q”"),
            (b"MacRoman", b"caf\x8e \xdb \xd2q\xd3", "café € “q”"),
            (b"Standard", b"'\xae\xe1\xb7", "’fiÆ•"),
        ):
            fields = b"/Subtype/Type1/BaseFont/X/Encoding/%bEncoding" % name
            self.assertEqual(self.font(fields, codes), text)

    def test_symbol_fonts_have_encodings_of_their_own(self) -> None:
        self.assertEqual(self.font(b"/Subtype/Type1/BaseFont/Symbol", b"ab\xb3"), "αβ≥")
        self.assertEqual(self.font(b"/Subtype/Type1/BaseFont/ABCDEF+ZapfDingbats", b"4"), "✔")

    def test_names_of_glyphs(self) -> None:
        names = (
            "A.sc Aacute Scedilla uni0416 u1F600 uni00410042 f_f_i Omega afii10017 fi g123 "
            "a79 oneoldstyle minus .notdef Ecircumflexacute afii57664"
        )
        differences = "".join(f"/{name}" for name in names.split()).encode()
        fields = b"/Subtype/Type1/BaseFont/X/Encoding<</Differences[68 %b]>>" % differences
        text = self.font(fields, bytes(range(68, 68 + len(names.split()))))
        self.assertEqual(text.replace(" ", ""), "AÁŞЖ😀ABffiΩАfiO1−Ếא")

    def test_to_unicode_comes_first_then_the_encoding(self) -> None:
        cmap = (
            b"1 begincodespacerange <00><ff> endcodespacerange "
            b"2 beginbfchar <41> <0066006C> <42> <FFFD> endbfchar "
            b"3 beginbfrange <43><45><0391> <46><47>[<0416> <D83DDE00>] <48><48><0000> endbfrange"
        )
        builder = PdfBuilder()
        number = builder.add_packed(cmap)
        fields = b"/Subtype/TrueType/BaseFont/X/Encoding/WinAnsiEncoding/ToUnicode %d 0 R" % number
        self.assertEqual(self.font(fields, b"ABCDEFGHI", builder), "flBΑΒΓЖ😀HI")

    def test_ligatures_become_letters_and_private_use_is_dropped(self) -> None:
        builder = PdfBuilder()
        number = builder.add_packed(to_unicode({1: "\ufb03", 2: "\ue001", 3: "\uf0b7", 4: "²"}, 1))
        fields = b"/Subtype/Type1/BaseFont/X/ToUnicode %d 0 R" % number
        self.assertEqual(self.font(fields, b"\1\2\3\4", builder), "ffi•²")

    def test_composite_fonts_have_codes_of_two_bytes(self) -> None:
        builder = PdfBuilder()
        font = composite_font(builder, to_unicode({3: " ", 0x1234: "京", 0x1235: "都"}))
        self.assertEqual(self.font(font, b"\x12\x34\x12\x35\0\3\x12\x34", builder), "京都 京")

    def test_the_widths_of_composite_fonts_decide_on_spaces(self) -> None:
        for widths, text in (
            (b"/W[1[900 100]]", "ab"), (b"/W[1 2 900]", "ab"), (b"/W[1[300]2 2 100]", "a b"),
        ):  # fmt: skip
            builder = PdfBuilder()
            font = composite_font(builder, to_unicode({1: "a", 2: "b"}), widths)
            content = b"BT /F1 10 Tf 0 0 Td <0001> Tj 9 0 Td <0002> Tj"
            builder.add_page(content, b"<</Font<</F1 %b>>>>" % font)
            self.assertEqual(text_of(builder.build()), text)

    def test_an_embedded_cmap_says_how_long_codes_are(self) -> None:
        builder = PdfBuilder()
        cmap = builder.add_packed(
            b"2 begincodespacerange <00><7f> <8000><ffff> endcodespacerange "
            b"1 begincidrange <8000><80ff> 700 endcidrange 1 begincidchar <41> 34 endcidchar"
        )
        map_number = builder.add_packed(to_unicode({0x41: "A"}, 1) + to_unicode({0x8001: "京"}))
        fields = (
            b"/Subtype/Type0/Encoding %d 0 R/ToUnicode %d 0 R/DescendantFonts[<</W[34[1000]]>>]"
        )
        text = self.font(fields % (cmap, map_number), b"A\x80\x01A", builder)
        self.assertEqual(text, "A京A")

    def test_predefined_cmaps_are_read_by_codecs(self) -> None:
        for name, codes, text in (
            (b"90ms-RKSJ-H", "灯台 ABC".encode("cp932"), "灯台 ABC"),
            (b"EUC-H", "灯台".encode("euc_jp"), "灯台"),
            (b"H", bytes(one & 127 for one in "灯台".encode("euc_jp")), "灯台"),
            (b"GBK-EUC-H", "灯塔".encode("gbk"), "灯塔"),
            (b"ETen-B5-H", "燈塔".encode("big5"), "燈塔"),
            (b"KSCms-UHC-H", "등대".encode("cp949"), "등대"),
            (b"UniJIS-UCS2-H", "灯台".encode("utf-16-be"), "灯台"),
            (b"UniGB-UTF16-H", "灯😀".encode("utf-16-be"), "灯😀"),
        ):
            with self.subTest(name):
                fields = b"/Subtype/Type0/Encoding/%b/DescendantFonts[<<>>]" % name
                self.assertEqual(self.font(fields, codes), text)

    def test_glyph_numbers_of_the_asian_collections(self) -> None:
        for ordering, numbers, text in (
            (b"Japan1", (1125, 842, 34, 7888), "亜ぁA。"),
            (b"GB1", (940, 97), "啊、"),
            (b"Korea1", (1086, 34), "가A"),
            (b"CNS1", (595, 99 + 1), "一，"),
        ):
            fields = (
                b"/Subtype/Type0/Encoding/Identity-H/DescendantFonts["
                b"<</CIDSystemInfo<</Registry(Adobe)/Ordering(%b)>>>>]" % ordering
            )
            codes = b"".join(number.to_bytes(2, "big") for number in numbers)
            self.assertEqual(self.font(fields, codes), text)

    def test_vertical_lines_run_downwards_and_to_the_left(self) -> None:
        fields = b"<</Type/Font/Subtype/Type0/Encoding/UniJIS-UCS2-V/DescendantFonts[<<>>]>>"
        first, second = ("灯台守".encode("utf-16-be").hex(), "の本".encode("utf-16-be").hex())
        content = f"BT /F1 10 Tf 300 700 Td <{first}> Tj -12 0 Td <{second}> Tj".encode()
        self.assertEqual(shown(content, fields).replace("\n", ""), "灯台守の本")

    def test_type_3_fonts_have_widths_in_their_own_space(self) -> None:
        fields = (
            b"<</Subtype/Type3/FontMatrix[0.1 0 0 0.1 0 0]/FontBBox[0 0 8 10]/FirstChar 97"
            b"/Widths[6 6]/CharProcs<<>>/Encoding<</Differences[97/a/b]>>>>"
        )
        content = b"BT /F1 10 Tf 0 0 Td (a) Tj 6 0 Td (b) Tj 9 0 Td (a) Tj"
        self.assertEqual(shown(content, fields), "ab a")

    def test_the_standard_fonts_have_widths_without_a_table(self) -> None:
        for name, text in ((b"Helvetica", "ill at"), (b"Courier", "illat")):
            font = b"<</Subtype/Type1/BaseFont/%b>>" % name
            self.assertEqual(shown(b"BT /F1 10 Tf (ill) Tj 18 0 Td (at) Tj", font), text)

    def program(self, name: bytes, data: bytes, composite: bool = False) -> PdfBuilder:
        builder = PdfBuilder()
        number = builder.add_packed(data)
        descriptor = b"/FontDescriptor<</Flags 4/%b %d 0 R>>" % (name, number)
        fields = b"/Subtype/TrueType/BaseFont/X" + descriptor
        if composite:
            fields = b"/Subtype/Type0/Encoding/Identity-H/DescendantFonts[<<%b>>]" % descriptor
        self.fields = fields
        return builder

    def test_a_type_1_program_names_its_codes(self) -> None:
        data = b"%!PS-AdobeFont-1.0\n/Encoding 256 array dup 1 /Zcaron put\ndup 2 /alpha put\n"
        builder = self.program(b"FontFile", data)
        self.assertEqual(self.font(self.fields, b"\1\2A", builder), "ŽαA")

    def test_a_truetype_program_maps_codes_and_glyphs(self) -> None:
        data = truetype_program({0x416: 5, 0x41: 6}, {1: 5, 2: 6})
        builder = self.program(b"FontFile2", data)
        self.assertEqual(self.font(self.fields, b"\1\2", builder), "ЖA")
        builder = self.program(b"FontFile2", data, composite=True)
        self.assertEqual(self.font(self.fields, b"\0\5\0\6", builder), "ЖA")

    def test_a_cff_program_names_its_glyphs(self) -> None:
        data = cff_program(["Zcaron", "uni0416"], [7, 8])
        builder = self.program(b"FontFile3", data)
        self.assertEqual(self.font(self.fields, b"\7\x08", builder), "ŽЖ")
        builder = self.program(b"FontFile3", data, composite=True)
        self.assertEqual(self.font(self.fields, b"\0\1\0\2", builder), "ŽЖ")
        # The numbers 229 to 390 are names of expert sets, such as small capitals.
        names = [struct.pack(">BHH", 0, first, 392) for first in (391, 229)]
        builder = self.program(b"FontFile3", data.replace(*names))
        self.assertTrue(self.font(self.fields, b"\7\x08", builder).endswith("Ж"))

    def test_a_damaged_program_never_loses_text(self) -> None:
        data = truetype_program({0x416: 5}, {1: 5})
        for cut in range(1, len(data), 7):
            builder = self.program(b"FontFile2", data[:cut])
            self.assertIn("AB", self.font(self.fields, b"AB", builder))

    def test_a_missing_font_shows_latin_letters(self) -> None:
        builder = PdfBuilder()
        builder.add_page(b"BT /Nowhere 9 Tf (still here) Tj", b"<<>>")
        self.assertEqual(text_of(builder.build()), "still here")


class Encryption(PdfCase):
    """Files that open with the empty password."""

    def encrypted(self, prepare: Any, references: str = "table") -> bytes:
        builder = PdfBuilder()
        prepare(builder)
        builder.add_text(WORDS)
        if builder.encrypt:
            number = max(builder.objects) + 1
            title = builder.encrypt(b"A secret title", number).hex().encode()
            builder.trailer["Info"] = b"%d 0 R" % builder.add(b"<</Title<%b>>>" % title)
        return builder.build(references)

    def test_aes_agrees_with_the_standard(self) -> None:
        # FIPS 197, appendix C, and SP 800-38A, F.2.1
        plain = bytes.fromhex("00112233445566778899aabbccddeeff")
        for size, sealed in (
            (16, "69c4e0d86a7b0430d8cdb78070b4c55a"), (32, "8ea2b7ca516745bfeafc49904b496089"),
        ):  # fmt: skip
            key = bytes(range(size))
            self.assertEqual(crypt.aes_encrypt_cbc(key, bytes(16), plain).hex(), sealed)
            back = crypt.aes_decrypt_cbc(key, bytes(16), bytes.fromhex(sealed), padded=False)
            self.assertEqual(back, plain)
        key = bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c")
        text = bytes.fromhex("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51")
        sealed = "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2"
        self.assertEqual(crypt.aes_encrypt_cbc(key, bytes(range(16)), text).hex(), sealed)
        self.assertEqual(
            crypt.aes_decrypt_cbc(key, bytes(range(16)), bytes.fromhex(sealed), padded=False), text
        )

    def test_rc4_agrees_with_the_published_vectors(self) -> None:
        self.assertEqual(crypt.rc4(b"Key", b"Plaintext").hex(), "bbf316e8d940af0ad3")
        self.assertEqual(crypt.rc4(b"Wiki", b"pedia").hex(), "1021bf0420")

    def test_every_scheme_opens_with_the_empty_password(self) -> None:
        schemes: dict[str, Any] = {
            "RC4 40": lambda builder: encrypt_with_rc4(builder, 40),
            "RC4 128": lambda builder: encrypt_with_rc4(builder, 128),
            "AES 128": lambda builder: encrypt_with_aes(builder, 4, crypt.aes_encrypt_cbc),
            "AES 256, R5": lambda builder: encrypt_with_aes(builder, 5, crypt.aes_encrypt_cbc),
            "AES 256, R6": lambda builder: encrypt_with_aes(builder, 6, crypt.aes_encrypt_cbc),
        }
        for name, prepare in schemes.items():
            for references in ("table",) if name.endswith("R6") else ("table", "stream"):
                with self.subTest(name, references=references):
                    data = self.encrypted(prepare, references)
                    self.assertNotIn(b"keeper", data)
                    document = pdf.read_pdf(data)
                    self.assertIn(WORDS, document.text)
                    if references == "table":
                        self.assertEqual(document.fields["title"], "A secret title")

    def test_a_broken_encrypted_file_is_rebuilt(self) -> None:
        data = self.encrypted(lambda builder: encrypt_with_rc4(builder, 128), "stream")
        self.assertIn(WORDS, text_of(re.sub(rb"startxref\s+\d+", b"startxref 7", data)))

    def test_a_needed_password_is_a_refusal(self) -> None:
        for bits in (40, 128):
            data = self.encrypted(lambda builder: encrypt_with_rc4(builder, bits, b"open"))  # noqa: B023
            self.failure(data, "refused", "password")

    def test_other_security_handlers_are_a_refusal(self) -> None:
        passwords = b"/O<%b>/U<%b>" % (b"00" * 32, b"00" * 32)
        for fields in (
            b"/Filter/Adobe.PubSec/V 4", b"/Filter/Adobe.PubSec/V 4" + passwords,
            b"/Filter/Standard/V 6" + passwords, b"/Filter/Standard/V 4",
        ):  # fmt: skip

            def prepare(builder: PdfBuilder, fields: bytes = fields) -> None:
                builder.trailer["Encrypt"] = b"%d 0 R" % builder.add(b"<<%b>>" % fields)

            with self.subTest(fields):
                self.failure(self.encrypted(prepare), "refused", "certificate")


class FormsAndMarkedContent(PdfCase):
    """Form XObjects, form fields, marked content."""

    def with_annotation(self, fields: bytes, appearance: bytes = b"") -> str:
        builder = PdfBuilder()
        builder.add_text("Name:")
        if appearance:
            body = b"/Tx BMC BT /Helv 9 Tf 2 2 Td (%b) Tj ET EMC" % appearance
            box = b"/Subtype/Form/BBox[0 0 100 20]/Resources<</Font<</Helv %b>>>>" % HELVETICA
            number = builder.add_stream(body, box)
            fields += b"/AP<</N %d 0 R>>" % number
        annotation = builder.add(b"<</Type/Annot/Rect[100 700 200 720]%b>>" % fields)
        page = builder.objects[builder.pages[0]]
        annotated = page.replace(b"/Type/Page", b"/Type/Page/Annots[%d 0 R]" % annotation)
        builder.objects[builder.pages[0]] = annotated
        return text_of(builder.build())

    def test_the_value_of_a_form_field_is_its_appearance(self) -> None:
        fields = b"/Subtype/Widget/FT/Tx/V(hidden)"
        self.assertEqual(self.with_annotation(fields, b"Ann Other").split("\n")[-1], "Ann Other")

    def test_a_field_without_appearance_shows_its_value(self) -> None:
        text = self.with_annotation(b"/Subtype/Widget/FT/Tx/V(Ann Other)")
        self.assertTrue(text.endswith("Ann Other"), text)

    def test_hidden_annotations_and_links_show_nothing(self) -> None:
        for fields in (b"/Subtype/Widget/FT/Tx/F 2", b"/Subtype/Link", b"/Subtype/Widget/F 32"):
            self.assertEqual(self.with_annotation(fields, b"unseen"), "Name:")

    def test_an_appearance_is_chosen_by_state(self) -> None:
        builder = PdfBuilder()
        names = []
        for text in (b"yes", b"no"):
            body = b"BT /F1 9 Tf (%b) Tj" % text
            resources = b"/Subtype/Form/Resources<</Font<</F1 %b>>>>" % HELVETICA
            names.append(builder.add_stream(body, resources))
        state = b"<</Subtype/Widget/Rect[0 0 9 9]/AS/Off/AP<</N<</On %d 0 R/Off %d 0 R>>>>>>"
        annotation = builder.add(state % (names[0], names[1]))
        builder.add_page(b"q Q", fields=b"/Annots[%d 0 R]" % annotation)
        self.assertEqual(text_of(builder.build()), "no")

    def test_forms_have_a_matrix_and_resources_or_use_the_callers(self) -> None:
        builder = PdfBuilder()
        form = b"/Subtype/Form/Matrix[1 0 0 1 0 -30]"
        own = builder.add_stream(
            b"BT /F9 9 Tf (own) Tj ET", form + b"/Resources<</Font<</F9 %b>>>>" % HELVETICA
        )
        other = builder.add_packed(b"BT /F1 9 Tf (caller) Tj ET", b"/Subtype/Form")
        objects = b"/XObject<</A %d 0 R/B %d 0 R>>" % (own, other)
        content = b"BT /F1 9 Tf (first) Tj ET q 1 0 0 1 0 0 cm /A Do Q /B Do"
        builder.add_page(content, b"<</Font<</F1 %b>>%b>>" % (HELVETICA, objects))
        self.assertEqual(text_of(builder.build()).replace("caller", " caller").split(),
                         ["first", "own", "caller"])  # fmt: skip

    def test_forms_that_draw_each_other_end(self) -> None:
        builder = PdfBuilder()
        first = max(builder.objects) + 1
        for other in (first + 1, first):
            fields = b"/Subtype/Form/Resources<</XObject<</X %d 0 R>>/Font<</F1 %b>>>>"
            builder.add_stream(b"BT /F1 9 Tf (in) Tj ET /X Do", fields % (other, HELVETICA))
        builder.add_page(b"/X Do", b"<</XObject<</X %d 0 R>>>>" % first)
        self.assertEqual(text_of(builder.build()).count("in"), 1)  # the copy is a twin

    def test_actual_text_replaces_the_shown_text(self) -> None:
        mark = b"/Span<</ActualText<feff00e9>>>BDC (xyz) Tj EMC"
        self.assertEqual(shown(b"BT /F1 9 Tf (caf) Tj %b" % mark), "café")
        nested = b"/Span<</ActualText(outer)>>BDC /Span<</ActualText(inner)>>BDC (x) Tj EMC EMC"
        self.assertEqual(shown(b"BT /F1 9 Tf %b" % nested), "outer")
        hidden = b"(seen) Tj /Span<</ActualText()>>BDC (hidden) Tj EMC"
        self.assertEqual(shown(b"BT /F1 9 Tf %b" % hidden), "seen")

    def test_actual_text_that_hides_a_hyphen_leaves_the_word_whole(self) -> None:
        content = b"BT /F1 9 Tf 11 TL 0 50 Td (navi) Tj /Span<</ActualText()>>BDC (-) Tj EMC "
        self.assertEqual(shown(content + b"T* (gation) Tj"), "navigation")

    def test_actual_text_of_glyphs_without_a_meaning(self) -> None:
        builder = PdfBuilder()
        names = b"<</Subtype/Type1/FirstChar 1/Widths[556]/Encoding<</Differences[1/g7]>>>>"
        resources = b"<</Font<</F1 %b/F2 %b>>>>" % (HELVETICA, names)
        mark = b"/Span<</ActualText(ffi)>>BDC /F2 9 Tf <01> Tj EMC /F1 9 Tf"
        builder.add_page(b"BT /F1 9 Tf (O) Tj %b (ce) Tj" % mark, resources)
        self.assertEqual(text_of(builder.build()), "Office")

    def test_layers_that_are_off_are_not_shown(self) -> None:
        builder = PdfBuilder()
        on, off = builder.add(b"<</Type/OCG/Name(on)>>"), builder.add(b"<</Type/OCG/Name(off)>>")
        group = b"<</Type/OCMD/OCGs[%d 0 R]>>" % off
        form = builder.add_stream(
            b"BT /F1 9 Tf (form) Tj ET", b"/Subtype/Form/BBox[0 0 9 9]/OC %d 0 R" % off
        )
        note = b"<</Subtype/FreeText/Rect[0 0 99 9]/Contents(note)/OC %d 0 R>>" % off
        resources = (
            b"<</Font<</F1 %b>>/XObject<</X %d 0 R>>/Properties<</A %d 0 R/B %d 0 R/C %b>>>>"
        )
        builder.add_page(
            b"BT /F1 9 Tf /OC/A BDC (one ) Tj EMC /OC/B BDC (two ) Tj /Span BMC (too ) Tj EMC EMC "
            b"/OC/C BDC (three ) Tj EMC (four) Tj ET /X Do",
            resources % (HELVETICA, form, on, off, group),
            b"/Annots[%b]" % note,
        )
        layers = b"/OCProperties<</OCGs[%d 0 R %d 0 R]/D<</OFF[%d 0 R]>>>>"
        builder.catalog_fields = layers % (on, off, off)
        self.assertEqual(text_of(builder.build()).split(), ["one", "four"])

    def test_free_text_and_stamps_without_an_appearance(self) -> None:
        builder = PdfBuilder()
        notes = (
            b"<</Subtype/FreeText/Rect[0 50 99 59]/Contents(Approved by\\rthe guild)>>"
            b"<</Subtype/Stamp/Rect[0 30 99 39]/Name/NotApproved>>"
            b"<</Subtype/Text/Rect[0 10 99 19]/Contents(a comment)>>"
        )
        builder.add_page(b"BT /F1 9 Tf 0 90 Td (Text) Tj ET", fields=b"/Annots[%b]" % notes)
        text = text_of(builder.build())
        self.assertEqual(text.split("\n"), ["Text", "", "Approved by the guild", "Not Approved"])

    def test_actual_text_may_be_in_the_resources(self) -> None:
        builder = PdfBuilder()
        resources = b"<</Font<</F1 %b>>/Properties<</P0<</ActualText(real)>>>>>>" % HELVETICA
        builder.add_page(b"BT /F1 9 Tf /Span/P0 BDC (x) Tj EMC (ly) Tj", resources)
        self.assertEqual(text_of(builder.build()), "really")

    def test_invisible_text_over_a_scan_is_read(self) -> None:
        self.assertEqual(shown(b"BT 3 Tr /F1 9 Tf (recognised) Tj"), "recognised")


class WithoutText(PdfCase):
    """Files that cannot be read say why."""

    def picture(self, content: bytes) -> bytes:
        builder = PdfBuilder()
        image = builder.add_stream(b"\xff\xd8", b"/Subtype/Image/Filter/DCTDecode/Width 9/Height 9")
        builder.add_page(content, b"<</XObject<</I %d 0 R>>/Font<</F1 %b>>>>" % (image, HELVETICA))
        return builder.build()

    def test_a_scan_is_named(self) -> None:
        scan = self.picture(b"q 612 0 0 792 0 0 cm /I Do Q")
        self.failure(scan, "unsupported", "a scan: its pages are images")

    def test_a_scan_with_a_stamp_is_noted(self) -> None:
        data = self.picture(b"q 612 0 0 792 0 0 cm /I Do Q BT /F1 9 Tf (page 1) Tj")
        self.assertIn("scan", pdf.read_pdf(data).note)

    def test_fonts_without_letters_are_named(self) -> None:
        font = b"<</Subtype/Type0/Encoding/Identity-H/DescendantFonts[<<>>]>>"
        builder = PdfBuilder()
        builder.add_page(b"BT /F1 9 Tf <00010002> Tj", b"<</Font<</F1 %b>>>>" % font)
        self.failure(builder.build(), "unsupported", "do not define the letters")

    def test_an_empty_file_and_other_files_are_named(self) -> None:
        builder = PdfBuilder()
        builder.add_page(b"0 0 m 9 9 l S")
        self.failure(builder.build(), "unsupported", "no text")
        for data in (b"", b"%PDF-1.4", b"<html>", bytes(5000)):
            self.failure(data, "unsupported", "not a PDF")


class Limits(PdfCase):
    """Hostile files end within time and memory, with the text read so far."""

    def test_the_deadline_ends_the_reading_and_says_so(self) -> None:
        builder = PdfBuilder()
        builder.add_text("first page")
        builder.add_page(builder.add_packed(b"BT /F1 1 Tf " + b"(a)Tj " * 1_000_000))
        builder.add_text("last page")
        begin = time.monotonic()
        document = pdf.read_pdf(builder.build(), "", begin + 0.5)
        self.assertLess(time.monotonic() - begin, 5)
        self.assertTrue(document.is_cut)
        self.assertIn("page 2: the time", document.note)
        self.assertIn("first page", document.text)
        self.assertNotIn("last page", document.text)

    def test_forms_that_multiply_end_at_the_deadline(self) -> None:
        builder = PdfBuilder()
        number = 0
        for _ in range(15):
            inner = b"/Resources<</XObject<</X %d 0 R>>>>" % number
            number = builder.add_stream(b"/X Do " * 20 + b"(a) Tj", b"/Subtype/Form" + inner)
        builder.add_page(b"/X Do", b"<</XObject<</X %d 0 R>>>>" % number)
        begin = time.monotonic()
        with self.assertRaises(kit.SearchError) as caught:
            pdf.read_pdf(builder.build(), "", begin + 0.5)
        self.assertLess(time.monotonic() - begin, 5)
        self.assertIn("the time", caught.exception.message)

    def test_too_many_pages_are_cut(self) -> None:
        builder = PdfBuilder()
        page = builder.objects[builder.add_text("leaf")]
        builder.pages += [builder.add(page) for _ in range(30)]
        with mock.patch.object(pdf, "MAX_PAGES", 10):
            document = pdf.read_pdf(builder.build())
        self.assertEqual(document.text.count("[page "), 10)
        self.assertTrue(document.is_cut)
        self.assertIn("10 pages", document.note)
        self.assertEqual(document.fields["page_count"], 31)

    def test_too_much_text_is_cut(self) -> None:
        builder = PdfBuilder()
        builder.add_page(b"BT /F1 9 Tf " + b"0 50 Td (text) Tj " * 300)
        builder.add_text("next")
        for name, limit in (("MAX_PAGE_LINES", 100), ("MAX_TEXT", 400)):
            layout = load_script("websearch.pages.pdf.layout")
            with self.subTest(name), mock.patch.object(layout, name, limit):
                document = pdf.read_pdf(builder.build())
            self.assertIn(document.text.count("text"), range(100, 104))
            self.assertIn("too much text", document.note)

    def test_a_large_file_is_read_up_to_the_limit(self) -> None:
        builder = PdfBuilder()
        for number in range(50):
            builder.add_text(f"leaf {number}")
        data = builder.build()
        with mock.patch.object(pdf, "MAX_FILE_BYTES", len(data) // 2):
            for file in (data, data[: len(data) // 2]):  # the second one as it is fetched
                document = pdf.read_pdf(file)
                self.assertIn("leaf 10", document.text)
                self.assertNotIn("leaf 40", document.text)
                self.assertIn("MB of the file", document.note)

    def test_too_many_unpacked_bytes_end_the_reading(self) -> None:
        builder = PdfBuilder()
        for number in range(20):
            builder.add_page(builder.add_packed(b"BT /F1 9 Tf (leaf %d) Tj" % number + b" " * 9000))
        file_limits = (("BASE_UNPACKED", 50_000), ("UNPACKED_RATIO", 0))
        with mock.patch.multiple(limits, **dict(file_limits)):
            document = pdf.read_pdf(builder.build())
        self.assertIn("leaf 2", document.text)
        self.assertIn("too many bytes", document.note)

    def read_within(self, data: bytes, megabytes: int = 60) -> str:
        tracemalloc.start()
        try:
            text = text_of(data)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        self.assertLess(peak, megabytes * 1_000_000)
        return text

    def test_font_programs_whose_parts_overlap_end(self) -> None:
        charset = struct.pack(">BHH", 0, 391, 392)
        endless = cff_program(["Zcaron", "uni0416"], [7, 8])
        endless = endless.replace(charset, b"\3\0\1\x80\0\0")
        tables = [(b"%04d" % number, bytes(1_000_000)) for number in range(500)]
        tables = [(tag, content[number % 2 :]) for number, (tag, content) in enumerate(tables)]
        for key, program in (
            (b"FontFile2", with_map(overlapping_segments(5_000))),
            (b"FontFile2", with_map(overlapping_groups(20_000))),
            (b"FontFile2", with_tables(tables)),
            (b"FontFile2", repeated_table(b"cmap", 65_535, 2_900_000)),
            (b"FontFile3", overlapping_index(500, 1_000_000)),
            (b"FontFile3", endless),
        ):
            builder = PdfBuilder()
            descriptor = b"<</%b %d 0 R>>" % (key, builder.add_packed(program))
            font = b"<</Subtype/TrueType/FontDescriptor %b>>" % descriptor
            builder.add_page(b"BT /F1 9 Tf (AB) Tj", b"<</Font<</F1 %b>>>>" % font)
            self.assertEqual(self.read_within(builder.build()), "AB")

    def test_endless_widths_and_code_ranges_end(self) -> None:
        builder = PdfBuilder()
        widths = builder.add(b"[" + b"9 " * 65_000 + b"]")
        fields = b"/W[" + b"0 %d 0 R " % widths * 10_000 + b"]"
        font = composite_font(builder, to_unicode({1: "a"}), fields)
        builder.add_page(b"BT /F1 9 Tf <0001> Tj", b"<</Font<</F1 %b>>>>" % font)
        self.assertEqual(self.read_within(builder.build()), "a")
        builder = PdfBuilder()
        ranges = b"".join(b"<%02x00> <%02xff> " % (one, one) for one in range(100, 200))
        cmap = b"100 begincodespacerange %bendcodespacerange" % ranges
        cmap += b" 1 begincodespacerange <000000> <000000> endcodespacerange"
        encoding = builder.add_packed(cmap)
        font = b"<</Subtype/Type0/Encoding %d 0 R/DescendantFonts[<<>>]>>" % encoding
        content = builder.add_packed(b"BT /F1 9 Tf (%b) Tj /F2 9 Tf (end) Tj" % (b"a" * 900_000))
        builder.add_page(content, b"<</Font<</F1 %b>>>>" % font)
        self.assertEqual(self.read_within(builder.build()), "end")

    def test_many_fonts_end_at_the_deadline(self) -> None:
        builder = PdfBuilder()
        builder.add_text("first")
        names = builder.add(b"[" + b"0/aacute " * 45_000 + b"]")
        font = b"<</Subtype/TrueType/Encoding<</Differences %d 0 R>>>>" % names
        fonts = b"".join(b"/F%d %b" % (number, font) for number in range(100))
        shows = b"".join(b"/F%d 9 Tf (a) Tj " % number for number in range(100))
        builder.add_page(b"BT " + shows, b"<</Font<<%b>>>>" % fonts)
        document = pdf.read_pdf(builder.build(), "", time.monotonic() + 1)
        self.assertIn("first", document.text)
        self.assertIn("page 2: the time", document.note)

    def read_in_time(self, data: bytes, seconds: float = 30) -> PageContent:
        """The document of a file with the word "text", which keeps its deadline."""
        begin = time.monotonic()
        document = pdf.read_pdf(data, "", begin + seconds)
        self.assertLess(time.monotonic() - begin, seconds + 1 + SLACK)
        self.assertIn("text", document.text)
        return document

    def test_long_metadata_and_a_long_paragraph_are_read_in_time(self) -> None:
        def described(count: int) -> bytes:
            builder = PdfBuilder()
            builder.add_text("text")
            marks = b"<dc:title" * count + b"<rdf:li" * count + b"<rdf:li >" * count
            metadata = builder.add_packed(marks + b"xmp:CreateDate   " * count)
            builder.catalog_fields = b"/Metadata %d 0 R" % metadata
            return builder.build()

        def one_paragraph(count: int) -> bytes:  # that each line goes on with
            builder = PdfBuilder()
            line = b"(%b) Tj 0 -60 Td " % (b"text-" * 30 + b"and," + b" text" * 10)
            content = b"BT /F1 9 Tf 1 0 0 1 72 700 Tm " + line * count
            builder.add_page(builder.add_packed(content))
            return builder.build()

        for data in (described(100_000), one_paragraph(20_000)):
            self.assertNotIn("time", self.read_in_time(data).note)

    def test_filters_are_limited_and_end_at_the_deadline(self) -> None:
        packed = b""
        for count in range(1, 21):  # each unpacks to two million bytes and then to half of them
            rows = bytearray(2_000_000)
            rows[1::2] = packed.ljust(1_000_000, b"\0")
            packed = zlib.compress(rows, 1)
            if count not in (8, 20):
                continue
            fields = b"/Filter[%b]" % (b"/FlateDecode" * count)
            fields += b"/DecodeParms[%b]" % (b"<</Predictor 15/Columns 1>>" * count)
            builder = PdfBuilder()
            builder.add_text("text")
            builder.add_page(builder.add_stream(packed, fields))
            self.read_in_time(builder.build(), seconds=0.3)

    def test_an_endless_code_map_ends_at_the_deadline(self) -> None:
        for unit in (b"<0041> <0041> ", b"x", b"beginbfchar ", b"beginbfrange <41>["):
            builder = PdfBuilder()
            builder.add_text("text")
            cmap = b"1 beginbfchar " + unit * (39_000_000 // len(unit))
            font = composite_font(builder, cmap)
            builder.add_page(b"BT /F1 9 Tf <0001> Tj", b"<</Font<</F1 %b>>>>" % font)
            builder.add_stream(bytes(13_000_000))  # so that as much may be unpacked
            with self.subTest(unit):
                self.read_in_time(builder.build(), seconds=1)

    def test_endless_strings_and_references_end_at_the_deadline(self) -> None:
        builder = PdfBuilder()
        encrypt_with_aes(builder, 4, crypt.aes_encrypt_cbc)
        builder.add_text("text")
        strings = builder.add(b"[" + b"<%064x>" % 7 * 90_000 + b"]")
        builder.catalog_fields = b"/Lang %d 0 R" % strings
        self.read_in_time(builder.build(), seconds=1)
        builder = PdfBuilder()
        builder.add_text("text")
        fields = b"/Type/XRef/Size 38000000/W[0 1 0]/Root 1 0 R"
        stream = builder.add_packed(bytes(38_000_000), fields)
        builder.add_stream(bytes(13_000_000))  # so that as much may be unpacked
        data = builder.build("none")
        data += b"startxref\n%d\n%%%%EOF" % data.index(b"\n%d 0 obj" % stream)
        self.read_in_time(data)

    def test_a_predictor_with_endless_rows_ends(self) -> None:
        builder = PdfBuilder()
        builder.add_text("first")
        fields = b"/Filter/FlateDecode/DecodeParms<</Predictor 15/BitsPerComponent 3000000000>>"
        builder.add_page(builder.add_stream(zlib.compress(b"\2BT"), fields))
        self.assertIn("first", self.read_within(builder.build()))

    def test_deep_nesting_recursion_and_endless_strings_end(self) -> None:
        deep = b"[" * 200_000 + b"]" * 200_000
        for content in (
            deep, b"<</A" * 100_000, b"(" * 100_000, b"<" * 100_000, b"BI ID " * 20_000,
            b"/Span<</ActualText(a)>>BDC " * 20_000, b"q " * 50_000,
        ):  # fmt: skip
            end = b" ET Q EI > ) ] >> BT /F1 9 Tf (after) Tj"
            builder = PdfBuilder()
            builder.add_text("first")
            builder.add_page(content + end)
            self.assertIn("first", text_of(builder.build()))
        builder = PdfBuilder()
        builder.add_text("text")
        builder.catalog_fields = b"/Lang" + deep
        self.assertIn("text", text_of(builder.build()))

    def test_objects_that_need_each_other_end(self) -> None:
        builder = PdfBuilder()
        builder.add_text("text")
        number = max(builder.objects) + 1
        for place in range(300):  # each stream's length is in the next
            builder.objects[number + place] = (
                b"<</Type/ObjStm/N 1/First 9/Length %d 0 R>>stream\nx\nendstream"
                % (number + place + 1)
            )
        builder.objects[number + 300] = b"%d 0 R" % (number + 300)
        builder.catalog_fields = b"/Lang %d 0 R" % number
        self.assertEqual(text_of(builder.build("none")), "text")


if __name__ == "__main__":
    unittest.main()
