"""Thousands of damaged office files: their archives, and the XML in them; no file is a defect.

OFFICE_FUZZ_SEED: another series; OFFICE_FUZZ_CASES: so many. A file that fails prints its number;
OFFICE_FUZZ_CASE=NUMBER repeats it.
The only module to notice a damaged office file that raises.
"""

from __future__ import annotations

import os
import random
import re
import unittest

from tests.fake_server import office_builder as office
from tests.pages.office import test_office as files

CASES = int(os.environ.get("OFFICE_FUZZ_CASES", "2000"))
SEED = int(os.environ.get("OFFICE_FUZZ_SEED", "5"))
ONE_CASE = os.environ.get("OFFICE_FUZZ_CASE", "")
VALUES = (
    "",
    "0",
    "-1",
    "1",
    "8",
    "99999999999",
    "1e308",
    "nan",
    "x",
    "true",
    "A1",
    "ZZZ9",
    "\u0663",
)


def seeds() -> list[bytes]:
    """Files that use every part of the readers."""
    word = "".join(body for _, body, _ in files.WORD)
    open_text = "".join(body for _, body, _ in files.OPEN_TEXT)
    rows = "".join(f"<row>{xml}</row>" for xml, _ in files.VALUES)
    cells = "".join(f"<table-cell {shown}><p>x</p></table-cell>" for shown, _ in files.OPEN_CELLS)
    frame = '<p:graphicFrame><c:chart xmlns:c="c" r:id="rId1"/></p:graphicFrame>'
    return [
        office.docx(word, office.PROPERTIES, links="https://a.example/b", **files.WORD_PARTS),
        office.xlsx(f"<sheetData>{rows}</sheetData>", **files.EXCEL_PARTS),
        office.pptx(*(shapes for _, shapes, _ in files.POWERPOINT), frame, parts=files.SLIDE_PARTS),
        office.open_document("text", open_text, files.OPEN_STYLES),
        office.open_document("presentation", f"<page><frame>{open_text}</frame></page>"),
        office.open_document("spreadsheet", f"<table><table-row>{cells}</table-row></table>"),
        office.epub("<h1>One</h1><p>Text</p>", "<nav><p>Contents</p></nav>"),
    ]


def damaged_xml(generator: random.Random, xml: bytes) -> bytes:
    """XML with elements moved, renamed, repeated or gone, and values of attributes changed."""
    text = xml.decode("utf-8", "replace")
    for _ in range(generator.choice((1, 2, 5, 20))):
        found = list(re.finditer(r'="[^"]*"|<[^<>]*>|>[^<]+<', text))
        if not found:
            break
        match, other = generator.choice(found), generator.choice(found)
        kind = generator.randrange(6)
        new = match[0]
        if match[0].startswith("="):
            new = f'="{generator.choice(VALUES)}"' if kind else other[0]
        elif kind == 0:
            new = ""
        elif kind == 1:
            new = match[0] * generator.choice((2, 3, 200))
        elif kind == 2:
            new = other[0]
        elif kind == 3 and match[0].startswith(">"):
            new = f">{generator.choice(VALUES)}<"
        elif kind == 4:
            text = text[: match.start()] + text[other.end() :]
            continue
        text = text[: match.start()] + new + text[match.end() :]
    return text.encode("utf-8", "replace")


def damaged(generator: random.Random, data: bytes) -> bytes:
    """A file whose archive, or the XML in it, is damaged."""
    if generator.random() < 0.3:
        file = bytearray(data)
        for _ in range(generator.choice((1, 3, 20))):
            place = generator.randrange(len(file) + 1)
            file[place : place + generator.choice((0, 1, 1, 50))] = generator.randbytes(1)
        return bytes(file[: generator.randrange(len(file))] if generator.random() < 0.1 else file)
    parts = files.contents(data)
    names = sorted(parts)
    for _ in range(generator.choice((1, 1, 3))):
        name = generator.choice(names)
        parts[name] = damaged_xml(generator, parts[name])
    if generator.random() < 0.1:
        parts[generator.choice(names)] = parts[generator.choice(names)]
    return office.archive(parts)


class Fuzz(unittest.TestCase):
    def test_thousands_of_damaged_files_never_fail_or_hang(self) -> None:
        originals = seeds()
        for data in originals:
            self.assertTrue(files.read(data)["ok"])
        kinds = set()
        for case in [int(ONE_CASE)] if ONE_CASE else range(CASES):
            generator = random.Random(SEED * 1_000_003 + case)
            data = damaged(generator, generator.choice(originals))
            document = files.read(data, links=generator.random() < 0.5)
            kind = "text" if document["ok"] else document["details"]["kind"]
            kinds.add(kind)
            which = f"OFFICE_FUZZ_SEED={SEED} OFFICE_FUZZ_CASE={case}"
            self.assertNotEqual(kind, "internal", f"{which}: {document}")
        if not ONE_CASE:
            self.assertEqual(kinds, {"text", "unsupported"})
