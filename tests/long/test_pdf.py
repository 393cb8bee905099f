"""Slow tests: 2,000 mutated PDF files and hostile files of the largest size.

PDF_FUZZ_SEED: another series. A file that fails prints its number; PDF_FUZZ_CASE=NUMBER repeats it.
The only module to notice a damaged PDF file that raises, or one that takes the memory.
"""

from __future__ import annotations

import contextlib
import os
import random
import re
import subprocess
import sys
import time
import tracemalloc
import unittest
import zlib
from unittest import mock

from tests.fake_server.pdf_builder import (
    HEADER,
    HELVETICA,
    PdfBuilder,
    composite_font,
    encrypt_with_aes,
    encrypt_with_rc4,
    to_unicode,
)
from tests.pages.pdf.font_programs import cff_program, truetype_program
from tests.pages.pdf.test_pdf_tables import show
from tests.support import SCRIPTS, SLACK
from websearch import kit
from websearch.pages.pdf import crypt
from websearch.pages.pdf import read_pdf as pdf

CASES = 2_000
SEED = int(os.environ.get("PDF_FUZZ_SEED", "5"))
ONE_CASE = os.environ.get("PDF_FUZZ_CASE", "")
SECONDS = 3.0  # that one file may take on a processor of its own
PIECES = (
    b"0 R", b"<<", b">>", b"[", b"]", b"(", b")", b"<", b">", b"endobj", b"stream", b"endstream",
    b"/Type", b"/Kids", b"/Parent", b"/Length", b"/Font", b"/Filter/FlateDecode", b"/Contents",
    b"/W", b"/Widths", b"/Encrypt", b"/Prev 10", b"null", b"true", b"-1", b"0", b"1e9", b"1.2.3",
    b"99999999999", b"BT", b"ET", b"Tj", b"TJ", b"q", b"Q", b"Do", b"BDC", b"EMC", b"BI", b"\0",
    b"\xff\xff", b"beginbfrange", b"<0000>", b"<ffffffff>", b"startxref", b"trailer", b"xref",
)  # fmt: skip


def seeds() -> list[bytes]:
    """Files that use every part of the reader, most of them unpacked, so that changes reach it."""
    files = []
    for references in ("table", "stream", "hybrid", "none"):
        builder = PdfBuilder()
        builder.add_text("The keeper wrote down", "the weather (every) morning.", "1 2 3")
        builder.add_page(builder.add_packed(b"BT /F1 9 Tf (packed) Tj"))
        builder.trailer["Info"] = b"%d 0 R" % builder.add(b"<</Title(A title)/Author<feff0041>>>")
        builder.catalog_fields = b"/Lang(en)"
        files.append(builder.build(references))
    builder = PdfBuilder()
    wide = composite_font(
        builder, to_unicode({1: "א", 2: "ב", 3: "京", 4: "\ufb01"}), b"/W[1[9 9]]"
    )
    cmap = builder.add_stream(b"2 beginbfrange <41><45><0391> <46><48>[<0041> <0042>] endbfrange")
    simple = (
        b"<</Subtype/Type1/Encoding<</Differences[65/Aacute/uni0416]>>/ToUnicode %d 0 R>>" % cmap
    )
    truetype = builder.add_stream(truetype_program({0x416: 5}, {1: 5}))
    cff = builder.add_stream(cff_program(["Zcaron"], [7]))
    embedded = [
        b"<</Subtype/TrueType/FontDescriptor<</%b %d 0 R>>>>" % (name, number)
        for name, number in ((b"FontFile2", truetype), (b"FontFile3", cff))
    ]
    fonts = b"/F1 %b/F2 %b/F3 %b/F4 %b/F5 %b" % (HELVETICA, wide, simple, *embedded)
    form = builder.add_stream(
        b"BT /F1 9 Tf (in a form) Tj ET",
        b"/Subtype/Form/Matrix[1 0 0 1 5 5]/Resources<</Font<<%b>>>>" % fonts,
    )
    content = (
        b"0 9 m 99 9 l S 0 0 99 30 re S 33 0 33 30 re f "
        b"q 1 0 0 1 50 700 cm BT /F2 9 Tf <000100020003> Tj 12 TL T* /F3 9 Tf [(AB)-300(CG)] TJ "
        b"/F4 9 Tf <01> ' /F5 9 Tf <07> Tj /Span<</ActualText(x)>>BDC (y) Tj EMC ET Q /X0 Do "
        b"BI /W 1 /H 1 ID x EI BT /F1 9 Tf 1 Tr (end) Tj ET"
    )
    field = builder.add(
        b"<</Subtype/Widget/FT/Tx/V(value)/Rect[9 9 99 20]/AP<</N %d 0 R>>>>" % form
    )
    builder.add_page(
        content,
        b"<</Font<<%b>>/XObject<</X0 %d 0 R>>>>" % (fonts, form),
        b"/Annots[%d 0 R]" % field,
    )
    files += [builder.build(), builder.build("stream")]
    for prepare in (
        lambda builder: encrypt_with_rc4(builder, 128),
        lambda builder: encrypt_with_aes(builder, 4, crypt.aes_encrypt_cbc),
        lambda builder: encrypt_with_aes(builder, 5, crypt.aes_encrypt_cbc),
    ):
        builder = PdfBuilder()
        prepare(builder)
        builder.add_text("sealed")
        files += [builder.build(), builder.build("stream")]
    return files


def mutated(generator: random.Random, data: bytes) -> bytes:
    """The file with some bytes, words, numbers and names changed, and perhaps its end missing."""
    file = bytearray(data)
    for _ in range(generator.choice((1, 1, 2, 5, 20, 80))):
        place = generator.randrange(len(file) + 1)
        other = generator.randrange(len(file) + 1)
        kind = generator.randrange(8)
        if kind == 0:
            file[place : place + 1] = bytes([generator.randrange(256)])
        elif kind == 1:
            file[place:place] = generator.choice(PIECES)
        elif kind == 2:
            piece = generator.choice(PIECES)
            file[place : place + len(piece)] = piece
        elif kind == 3:
            del file[place : place + generator.choice((1, 10, 100, 2_000))]
        elif kind == 4:
            file[place:place] = file[other : other + generator.choice((5, 50, 500))]
        elif kind in (5, 6):
            pattern = rb"\d+" if kind == 5 else rb"/\w+"
            found = list(re.compile(pattern).finditer(bytes(file[place : place + 300])))
            if found:
                match = generator.choice(found)
                number = generator.choice((0, 1, 2, 5, -1, 65_535, 2**31, generator.randrange(40)))
                new = b"%d" % number if kind == 5 else generator.choice(found)[0]
                file[place + match.start() : place + match.end()] = new
        elif generator.random() < 0.2:
            del file[place:]
    return bytes(file)


class Fuzz(unittest.TestCase):
    def test_two_thousand_mutated_files_never_fail_or_hang(self) -> None:
        files = seeds()
        kinds = set()
        # The net under a page is taken away: here every exception is a defect.
        with mock.patch.object(pdf, "DAMAGE", ()):
            for case in [int(ONE_CASE)] if ONE_CASE else range(CASES):
                generator = random.Random(SEED * 1_000_003 + case)
                data = mutated(generator, generator.choice(files))
                pages = generator.choice(("", "", "1", "2-3"))
                begin = time.monotonic()
                try:
                    pdf.read_pdf(data, pages, begin + SECONDS)
                    kinds.add("text")
                except kit.SearchError as error:
                    kinds.add(error.kind)
                except Exception as error:
                    raise AssertionError(f"PDF_FUZZ_CASE={case}") from error
                self.assertLess(time.monotonic() - begin, SECONDS + SLACK, f"PDF_FUZZ_CASE={case}")
        if not ONE_CASE:
            self.assertLessEqual({"text", "unsupported", "refused", "invalid_input"}, kinds)


class Memory(unittest.TestCase):
    """Memory for a file, measured in a separate process."""

    MEASURE = """
import re, sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from websearch.kit import SearchError
from websearch.pages.pdf.read_pdf import read_pdf
data = sys.stdin.buffer.read()
try:
    read_pdf(data, "", time.monotonic() + 2)
except SearchError as error:
    print(error.kind, end=" ")
status = Path("/proc/self/status").read_text()
print(int(re.search(r"VmHWM:\\s+(\\d+)", status)[1]) // 1024)
"""

    def bombs(self) -> dict[str, bytes]:
        def page(content: bytes, resources: bytes = b"") -> bytes:
            builder = PdfBuilder()
            builder.add_page(builder.add_packed(content), resources)
            return builder.build()

        heads = b"".join(b"%d 0 " % number for number in range(10, 400_000))
        packed = zlib.compress(heads)
        stream = b"<</Type/ObjStm/N 400000/First %d/Filter/FlateDecode/Length %d>>stream\n"
        builder = PdfBuilder()
        builder.add_text("text")
        builder.add(stream % (len(heads), len(packed)) + packed + b"\nendstream")
        many = b"".join(b"<%04x><00410042>" % code for code in range(65_536))
        fonts = PdfBuilder()
        names = b"".join(
            b"/F%d %b" % (number, composite_font(fonts, b"1 beginbfchar " + many))
            for number in range(6)
        )
        shows = b"".join(b"/F%d 9 Tf <0041> Tj " % number for number in range(6))
        fonts.add_page(b"BT " + shows, b"<</Font<<%b>>>>" % names)
        return {
            "a page that unpacks to 60 MB": page(b"q " * 30_000_000),
            "numbers": page(b"[" + b"1 " * 20_000_000),
            "one endless line": page(b"BT /F1 1 Tf " + b"(a)Tj " * 1_000_000),
            "text of one mark": page(
                b"BT /F1 9 Tf /Span<</ActualText(a)>>BDC " + b"(x)Tj " * 900_000
            ),
            "an object stream of 400,000 objects": builder.build("none"),
            "six maps of 65,536 codes": fonts.build(),
        }

    @unittest.skipUnless(os.path.exists("/proc/self/status"), "needs Linux's /proc")
    def test_memory_stays_below_ten_file_sizes_plus_64_mb(self) -> None:
        for name, data in self.bombs().items():
            with self.subTest(name):
                finished = subprocess.run(
                    [sys.executable, "-c", self.MEASURE, str(SCRIPTS)],
                    input=data, capture_output=True, check=True, timeout=60,
                )  # fmt: skip
                megabytes = int(finished.stdout.split()[-1])
                self.assertLess(megabytes, 10 * len(data) / 2**20 + 64)


class Hostile(unittest.TestCase):
    """25 MB of any content, and data that unpacks to much more, end soon after the deadline."""

    BIG = 24_000_000

    def files(self) -> dict[str, bytes]:
        def page(data: bytes, fields: bytes) -> bytes:
            builder = PdfBuilder()
            builder.add_page(builder.add_stream(data, fields))
            return builder.build()

        unit = {
            "objects": b"1 0 obj\n", "trailers": b"trailer ", "pages": b"/Page ", "digits": b"1 ",
            "parentheses": b"1 0 obj (", "zeros": b"\0", "arrays": b"1 0 obj [", "names": b"/",
            "streams": b"9 0 obj <</Length 1>> stream\n", "cross-references": b"xref 0 1 ",
        }  # fmt: skip
        files = {name: HEADER + one * (self.BIG // len(one)) for name, one in unit.items()}
        kids = b"".join(b"%d 0 R " % number for number in range(3, 90_000))
        files["pages without an end"] = (
            HEADER + b"1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Kids[" + kids + b"]>>"
            + b"".join(b"\n%d 0 obj<</Contents %d 0 R>>stream\n%b" % (number, number, b"x" * 200)
                       for number in range(3, 90_000))
        )  # fmt: skip
        lots = b"q " * (self.BIG * 4)
        files["three layers of Flate"] = page(
            zlib.compress(zlib.compress(zlib.compress(lots))),
            b"/Filter[/FlateDecode/FlateDecode/FlateDecode]",
        )
        for name, data in (
            ("LZWDecode", b"\x80\0" * (self.BIG // 2)),
            ("ASCII85Decode", b"abcde" * (self.BIG // 5)),
            ("RunLengthDecode", b"\x81a" * (self.BIG // 2)),
        ):  # fmt: skip
            files[name] = page(data, b"/Filter/" + name.encode())
        rows = zlib.compress(b"\4" * self.BIG)
        predictor = b"/Filter/FlateDecode/DecodeParms<</Predictor 12/Columns 3>>"
        files["predictor"] = page(rows, predictor)
        return files

    def test_reading_ends_soon_after_the_deadline(self) -> None:
        for name, data in self.files().items():
            with self.subTest(name):
                begin = time.monotonic()
                try:
                    pdf.read_pdf(data, "", begin + 2)
                except kit.SearchError as error:
                    self.assertIn(error.kind, ("unsupported", "refused"))
                self.assertLess(time.monotonic() - begin, 10 + SLACK)


class Tables(unittest.TestCase):
    """Pages of endless lines, words and tables are read within time and memory."""

    def test_endless_lines_words_and_nested_tables_end(self) -> None:
        generator = random.Random(29)

        def rulings(count: int) -> bytes:
            parts = []
            for _ in range(count):
                x, y, length = (generator.randrange(600) for _ in range(3))
                end = (x + length, y) if generator.random() < 0.5 else (x, y + length)
                parts.append(b"%d %d m %d %d l S " % (x, y, *end))
            return b"".join(parts)

        nested = b"".join(
            b"%d %d %d %d re S " % (3 * at, 4 * at, width - 3 * at * part, 800 - 4 * at * part)
            for at in range(100)
            for width, part in ((600, 2), (300, 1))
        )
        cells = b"".join(
            show(((at % 55) * 20, 8_000 - at // 55 * 8), f"{at}") for at in range(19_000)
        )
        words = b"".join(show((at * 30, 700), f"a{at}") for at in range(100_000))
        for name, before, content in (
            ("100,000 lines", rulings(100_000), cells),
            ("19,000 lines", rulings(19_000), cells),
            ("100,000 words", b"", words),
            ("19,000 cells", b"", cells),
            ("nested tables", nested, cells),
            ("a path without an end", b"0 0 m " + b"9 0 l 9 9 l " * 300_000, cells[:99]),
        ):  # fmt: skip
            builder = PdfBuilder()
            builder.add_page(builder.add_packed(before + b"BT /F1 6 Tf\n" + content + b"ET"))
            data = builder.build()
            with self.subTest(name):
                self.assertTrue(pdf.read_pdf(data, "", time.monotonic() + 60).text)
                tracemalloc.start()
                with contextlib.suppress(kit.SearchError):
                    pdf.read_pdf(data, "", time.monotonic() + 3)
                peak = tracemalloc.get_traced_memory()[1]
                tracemalloc.stop()
                self.assertLess(peak, 60_000_000)


if __name__ == "__main__":
    unittest.main()
