"""Office files for tests, made of their XML: what stands in them is what a test writes."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
CORE = "http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties"
PREFIXES = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
    f'xmlns:r="{OFFICE}" xmlns:dc="http://purl.org/dc/elements/1.1/" '
    'xmlns:dcterms="http://purl.org/dc/terms/"'
)
PROPERTIES = (
    "<dc:title>The harbour report</dc:title><dc:creator>Ann Keeper</dc:creator>"
    "<dcterms:created>2024-01-31T10:00:00Z</dcterms:created>"
    "<dcterms:modified>2024-02-01T10:00:00Z</dcterms:modified>"
)


def archive(parts: Mapping[str, str | bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A ZIP archive of these parts."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as written:
        for name, text in parts.items():
            written.writestr(name, text)
    return file.getvalue()


def replaced(data: bytes, name: str, old: str, new: str) -> bytes:
    """An archive with another text in one of its parts."""
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        parts: dict[str, str | bytes] = {one: file.read(one) for one in file.namelist()}
    parts[name] = bytes(parts[name]).decode().replace(old, new)  # type: ignore[arg-type]
    return archive(parts)


def relations(*targets: tuple[str, str]) -> str:
    """The relations of a part, rId1 first: each a kind and a target; addresses are external."""
    types, modes, office = {"core": CORE}, ("Internal", "External"), f"{OFFICE}/"
    entries = "".join(
        f'<Relationship Id="rId{number}" Type="{types.get(kind, office + kind)}" '
        f'Target="{target}" TargetMode="{modes[":" in target]}"/>'
        for number, (kind, target) in enumerate(targets, 1)
    )
    return f'<Relationships xmlns="{OFFICE}">{entries}</Relationships>'


def office_xml(main: str, text: str, parts: Mapping[str, str | bytes], properties: str) -> bytes:
    """An Office Open XML file: its main part, and further ones."""
    return archive(
        {
            "[Content_Types].xml": "<Types/>",
            "_rels/.rels": relations(("officeDocument", main), ("core", "docProps/core.xml")),
            "docProps/core.xml": f"<cp {PREFIXES}>{properties}</cp>",
            main: text,
            **parts,
        }
    )


def docx(body: str, properties: str = "", **parts: str) -> bytes:
    """A Word file. parts: styles, numbering, footnotes; links: the addresses of rId11 and so on."""
    names = ("styles", "numbering", "footnotes", "endnotes", "comments")
    targets = [(name, f"{name}.xml") for name in names]
    targets += [("x", "x")] * (10 - len(targets))
    targets += [("hyperlink", address) for address in parts.pop("links", "").split()]
    files = {
        f"word/{name}.xml": f"<w:{name} {PREFIXES}>{text}</w:{name}>"
        for name, text in parts.items()
    }
    files["word/_rels/document.xml.rels"] = relations(*targets)
    text = f"<w:document {PREFIXES}><w:body>{body}</w:body></w:document>"
    return office_xml("word/document.xml", text, files, properties)


def xlsx(*sheets: str, names: str = "Sheet", properties: str = "", **parts: str) -> bytes:
    """An Excel file of sheets. parts: styles, sharedStrings, and XML of the workbook itself."""
    targets = [
        ("worksheet", f"worksheets/sheet{number}.xml") for number in range(1, len(sheets) + 1)
    ]
    targets += [(name, f"{name}.xml") for name in ("styles", "sharedStrings")]
    states = {"Hidden": "hidden"}
    entries = "".join(
        f'<sheet name="{name}" r:id="rId{number}" state="{states.get(name, "visible")}"/>'
        for number, name in enumerate(names.split(","), 1)
    )
    files = {
        f"xl/worksheets/sheet{number}.xml": f"<worksheet {PREFIXES}>{sheet}</worksheet>"
        for number, sheet in enumerate(sheets, 1)
    }
    main = f"<workbook {PREFIXES}>{parts.pop('workbook', '')}<sheets>{entries}</sheets></workbook>"
    files |= {
        f"xl/{name}.xml": f"<{name} {PREFIXES}>{text}</{name}>" for name, text in parts.items()
    }
    files["xl/_rels/workbook.xml.rels"] = relations(*targets)
    return office_xml("xl/workbook.xml", main, files, properties)


def cells(*rows: str) -> str:
    """The data of a sheet: a row for each text, whose values a bar separates."""
    written = ""
    for row in rows:
        values = "".join(
            f"<c><v>{value}</v></c>" if value.replace(".", "").isdigit()
            else f'<c t="inlineStr"><is><t>{value}</t></is></c>'
            for value in row.split("|")
        )  # fmt: skip
        written += f"<row>{values}</row>"
    return f"<sheetData>{written}</sheetData>"


def pptx(*slides: str, parts: dict[str, str] | None = None, links: str = "") -> bytes:
    """A PowerPoint file: the shapes of each slide; parts: by their names, related to each slide."""
    parts = parts or {}
    targets = [(name.split("/")[0], f"../{name}.xml") for name in parts]
    targets += [("hyperlink", address) for address in links.split()]
    files = {f"ppt/{name}.xml": text for name, text in parts.items()}
    ids = ""
    for number, shapes in enumerate(slides, 1):
        ids += f'<p:sldId id="{number}" r:id="rId{number}"/>'
        tree = f"<p:cSld><p:spTree>{shapes}</p:spTree></p:cSld>"
        files[f"ppt/slides/slide{number}.xml"] = f"<p:sld {PREFIXES}>{tree}</p:sld>"
        files[f"ppt/slides/_rels/slide{number}.xml.rels"] = relations(*targets)
    order = [("slide", f"slides/slide{number}.xml") for number in range(1, len(slides) + 1)]
    files["ppt/_rels/presentation.xml.rels"] = relations(*order)
    main = f"<p:presentation {PREFIXES}><p:sldIdLst>{ids}</p:sldIdLst></p:presentation>"
    return office_xml("ppt/presentation.xml", main, files, "")


def shape(*paragraphs: str, kind: str | None = None, place: tuple[int, int] | None = None) -> str:
    """A shape with paragraphs: texts, or XML; kind: of a placeholder; place: from left and top."""
    texts = "".join(
        text if text.startswith("<a:p>") else f"<a:p><a:r><a:t>{text}</a:t></a:r></a:p>"
        for text in paragraphs
    )
    mark = f'<p:ph type="{kind}"/>' if kind else "<p:ph/>" if kind == "" else ""
    offset = f'<a:xfrm><a:off x="{place[0]}" y="{place[1]}"/></a:xfrm>' if place else ""
    return (
        f"<p:sp><p:nvSpPr><p:nvPr>{mark}</p:nvPr></p:nvSpPr><p:spPr>{offset}</p:spPr>"
        f"<p:txBody>{texts}</p:txBody></p:sp>"
    )


def open_document(
    kind: str,
    body: str,
    styles: str = "",
    manifest: str = "",
    parts: dict[str, str] | None = None,
) -> bytes:
    """An OpenDocument file, its names without namespaces. kind: text, presentation, spreadsheet."""
    author = "<initial-creator>Ann Keeper</initial-creator>"
    return archive(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "content.xml": f"<document-content><automatic-styles>{styles}</automatic-styles>"
            f"<body><{kind}>{body}</{kind}></body></document-content>",
            "meta.xml": f"<document-meta><title>The harbour report</title>{author}</document-meta>",
            "META-INF/manifest.xml": f"<manifest>{manifest}</manifest>",
            **(parts or {}),
        }
    )


def epub(*chapters: str, guide: str = "", encryption: str = "") -> bytes:
    """An EPUB book with these chapters, whose parts are chapter1.xhtml and so on."""
    numbers = range(1, len(chapters) + 1)
    kinds = ("", "nav")
    items = "".join(
        f'<item id="c{number}" href="chapter{number}.xhtml" media-type="application/xhtml+xml"'
        f' properties="{kinds["<nav" in chapters[number - 1]]}"/>'
        for number in numbers
    )
    spine = "".join(f'<itemref idref="c{number}"/>' for number in numbers)
    package = (
        f'<package xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata><dc:title>The log'
        "</dc:title><dc:creator>Ann Keeper</dc:creator><dc:date>2024-01-31</dc:date>"
        f"<dc:language>en</dc:language></metadata><manifest>{items}</manifest>"
        f"<spine>{spine}</spine><guide>{guide}</guide></package>"
    )
    return archive(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container><rootfile full-path="OPS/book.opf"/></container>',
            "META-INF/encryption.xml": f"<encryption>{encryption}</encryption>",
            "OPS/book.opf": package,
            **{
                f"OPS/chapter{number}.xhtml": f"<html><head><title>x</title></head><body>"
                f"{chapters[number - 1]}</body></html>"
                for number in numbers
            },
        }
    )
