"""Builds PDF files for tests: every kind of cross-reference, filter, font and encryption.

A file is a PdfBuilder whose objects were added one by one; build() returns its bytes.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

HEADER = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"
HELVETICA = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>"
FILE_ID = b"0123456789abcdef"
PASSWORD_FILL = bytes.fromhex("28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a")
CATALOG, TREE = 1, 2  # the numbers of the first two objects


class PdfBuilder:
    """The objects of a file that is being built; number 1 is the catalog, 2 the page tree.

    encrypt_string and encrypt_stream, if they are set, take the bytes and the object's number.
    """

    def __init__(self) -> None:
        self.objects: dict[int, bytes] = {CATALOG: b"", TREE: b""}
        self.streams: set[int] = set()
        self.pages: list[int] = []
        self.trailer: dict[str, bytes] = {}
        self.catalog_fields = b""
        self.tree_fields = b""
        self.encrypt: Callable[[bytes, int], bytes] | None = None

    # ----- objects

    def add(self, body: bytes) -> int:
        """Add an object; return its number."""
        number = max(self.objects) + 1
        self.objects[number] = body
        return number

    def add_stream(self, data: bytes, fields: bytes = b"") -> int:
        """Add a stream of these bytes as they are; fields are those besides Length."""
        number = max(self.objects) + 1
        if self.encrypt:
            data = self.encrypt(data, number)
        self.objects[number] = b"<</Length %d%b>>\nstream\n%b\nendstream" % (
            len(data),
            fields,
            data,
        )
        self.streams.add(number)
        return number

    def add_packed(self, data: bytes, fields: bytes = b"") -> int:
        """Add a stream packed by Flate."""
        return self.add_stream(zlib.compress(data), b"/Filter/FlateDecode" + fields)

    def add_page(
        self, content: bytes | int | list[int], resources: bytes = b"", fields: bytes = b""
    ) -> int:
        """Add a page: its content, or the stream or streams that hold it.

        Without resources its font F1 is Helvetica.
        """
        resources = resources or b"<</Font<</F1 %b>>>>" % HELVETICA
        if isinstance(content, bytes):
            content = self.add_stream(content)
        numbers = content if isinstance(content, list) else [content]
        listed = b" ".join(b"%d 0 R" % number for number in numbers)
        page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents[%b]/Resources %b%b>>"
        self.pages.append(self.add(page % (listed, resources, fields)))
        return self.pages[-1]

    def add_text(self, *lines: str, font: bytes = HELVETICA, size: int = 12) -> int:
        """Add a page of lines of Latin text from its top."""
        shown = b"".join(
            b"(%b) Tj T*\n" % escaped(line.encode("cp1252", "replace")) for line in lines
        )
        content = b"BT /F1 %d Tf %d TL 72 720 Td\n%bET" % (size, size * 6 // 5, shown)
        return self.add_page(content, b"<</Font<</F1 %b>>>>" % font)

    def finish(self) -> None:
        """Fill in the catalog and the page tree."""
        kids = b" ".join(b"%d 0 R" % number for number in self.pages)
        self.objects[CATALOG] = b"<</Type/Catalog/Pages 2 0 R%b>>" % self.catalog_fields
        self.objects[TREE] = b"<</Type/Pages/Count %d/Kids[%b]%b>>" % (
            len(self.pages),
            kids,
            self.tree_fields,
        )

    # ----- the file

    def build(self, references: str = "table", junk: bytes = b"") -> bytes:
        """Return the file. references: table, stream, hybrid, or none.

        junk comes before the header; the offsets do not count it.
        """
        self.finish()
        body = bytearray(HEADER)
        packed: list[int] = []
        if references in ("stream", "hybrid"):
            packed = [number for number in self.objects if number not in self.streams]
            packed = packed[1:] if references == "hybrid" else packed
            packed = [
                number for number in packed if b"/Filter/Standard" not in self.objects[number]
            ]
        offsets: dict[int, int] = {}
        for number, content in self.objects.items():
            if number not in packed:
                offsets[number] = len(body)
                body += b"%d 0 obj\n%b\nendobj\n" % (number, content)
        container = max(self.objects) + 1
        if packed:
            offsets[container] = len(body)
            body += b"%d 0 obj\n%b\nendobj\n" % (container, self.object_stream(packed))
        start = len(body)
        if references == "table":
            body += table(offsets) + self.trailer_bytes(container)
        elif references == "stream":
            body += self.reference_stream(container + 1, offsets, packed, container, start)
        elif references == "hybrid":
            body += self.reference_stream(container + 1, {}, packed, container, start)
            offset, start = start, len(body)
            body += table(offsets) + self.trailer_bytes(container, b"/XRefStm %d" % offset)
        else:
            return junk + bytes(body)
        return junk + bytes(body) + b"startxref\n%d\n%%%%EOF\n" % start

    def trailer_fields(self) -> bytes:
        """Return the fields of the trailer but Size."""
        more = b"".join(b"/%b %b" % (name.encode(), value) for name, value in self.trailer.items())
        return b"/Root 1 0 R" + more

    def trailer_bytes(self, size: int, fields: bytes = b"") -> bytes:
        """Return the trailer after a table."""
        return b"trailer\n<</Size %d%b%b>>\n" % (size, self.trailer_fields(), fields)

    def object_stream(self, numbers: list[int]) -> bytes:
        """Return the body of an object stream of these objects."""
        heads, body = b"", b""
        for number in numbers:
            heads += b"%d %d " % (number, len(body))
            body += self.objects[number] + b" "
        data = zlib.compress(heads + body)
        if self.encrypt:
            data = self.encrypt(data, max(self.objects) + 1)
        head = b"<</Type/ObjStm/N %d/First %d/Length %d/Filter/FlateDecode>>"
        head %= (len(numbers), len(heads), len(data))
        return head + b"\nstream\n" + data + b"\nendstream"

    def reference_stream(
        self, number: int, offsets: dict[int, int], packed: list[int], container: int, start: int
    ) -> bytes:
        """Return a cross-reference stream, packed with the PNG predictor Up."""
        entries = {one: (1, offset, 0) for one, offset in {**offsets, number: start}.items()}
        entries |= {one: (2, container, place) for place, one in enumerate(packed)}
        listed = sorted(entries)
        rows = [struct.pack(">BIH", *entries[one]) for one in listed]
        above, filtered = bytes(7), b""
        for row in rows:
            filtered += b"\2" + bytes(
                (one - two) & 255 for one, two in zip(row, above, strict=True)
            )
            above = row
        data = zlib.compress(filtered)
        index = b" ".join(b"%d 1" % one for one in listed)
        fields = b"/Type/XRef/W[1 4 2]/Index[%b]/Size %d/Filter/FlateDecode" % (index, number + 1)
        fields += b"/DecodeParms<</Predictor 12/Columns 7>>" + self.trailer_fields()
        head = b"%d 0 obj\n<</Length %d%b>>\nstream\n" % (number, len(data), fields)
        return head + data + b"\nendstream\nendobj\n"


def table(offsets: dict[int, int]) -> bytes:
    """Return a cross-reference table with one subsection for each object."""
    parts = [b"xref\n0 1\n0000000000 65535 f \n"]
    parts += [b"%d 1\n%010d 00000 n \n" % (number, offsets[number]) for number in sorted(offsets)]
    return b"".join(parts)


def escaped(text: bytes) -> bytes:
    """Return bytes as they stand in a literal string."""
    return text.replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")


def one_page(*lines: str) -> bytes:
    """Return a file with one page of lines."""
    builder = PdfBuilder()
    builder.add_text(*lines)
    return builder.build()


# ----- fonts


def to_unicode(pairs: dict[int, str], size: int = 2) -> bytes:
    """Return a ToUnicode CMap for codes of so many bytes."""
    lines = b"".join(
        b"<%0*x> <%b>\n" % (2 * size, code, text.encode("utf-16-be").hex().encode())
        for code, text in pairs.items()
    )
    return b"%d beginbfchar\n%bendbfchar\n" % (len(pairs), lines)


def composite_font(builder: PdfBuilder, cmap: bytes, fields: bytes = b"") -> bytes:
    """Add a Type 0 font with two-byte codes and a ToUnicode map; return the reference to it."""
    number = builder.add_packed(cmap)
    font = builder.add(
        b"<</Type/Font/Subtype/Type0/BaseFont/Test/Encoding/Identity-H/ToUnicode %d 0 R"
        b"/DescendantFonts[<</Type/Font/Subtype/CIDFontType2/BaseFont/Test/DW 500%b>>]>>"
        % (number, fields)
    )
    return b"%d 0 R" % font


# ----- encryption (ISO 32000-1, 7.6; ISO 32000-2, 7.6.4)


def rc4(key: bytes, data: bytes) -> bytes:
    """Return data encrypted with RC4."""
    state = list(range(256))
    j = 0
    for i in range(256):
        j = (j + state[i] + key[i % len(key)]) % 256
        state[i], state[j] = state[j], state[i]
    out = bytearray()
    i = j = 0
    for byte in data:
        i = (i + 1) % 256
        j = (j + state[i]) % 256
        state[i], state[j] = state[j], state[i]
        out.append(byte ^ state[(state[i] + state[j]) % 256])
    return bytes(out)


def md5(data: bytes) -> bytes:
    """Return the MD5 digest."""
    return hashlib.md5(data, usedforsecurity=False).digest()


def encrypt_with_rc4(builder: PdfBuilder, bits: int, password: bytes = b"") -> None:
    """Encrypt all streams that are added from now on with RC4."""
    size, revision = bits // 8, 2 if bits == 40 else 3
    owner = bytes(range(32))
    filled = (password + PASSWORD_FILL)[:32]
    key = md5(filled + owner + struct.pack("<i", -44) + FILE_ID)
    if revision == 3:
        for _ in range(50):
            key = md5(key[:size])
        user = rc4(key[:size], md5(PASSWORD_FILL + FILE_ID))
        for step in range(1, 20):
            user = rc4(bytes(byte ^ step for byte in key[:size]), user)
        user += bytes(16)
    else:
        user = rc4(key[:size], PASSWORD_FILL)
    key = key[:size]
    builder.encrypt = lambda data, number: rc4(object_key(key, number), data)
    fields = b"/V %d/R %d/Length %d/P -44/O<%b>/U<%b>" % (
        1 if bits == 40 else 2,
        revision,
        bits,
        owner.hex().encode(),
        user.hex().encode(),
    )
    add_encryption(builder, fields)


def object_key(key: bytes, number: int, salt: bytes = b"") -> bytes:
    """Return the key of one object with generation 0."""
    return md5(key + number.to_bytes(3, "little") + bytes(2) + salt)[: min(16, len(key) + 5)]


def add_encryption(builder: PdfBuilder, fields: bytes) -> None:
    """Add the encryption dictionary and the file's ID."""
    number = builder.add(b"<</Filter/Standard%b>>" % fields)
    builder.trailer["Encrypt"] = b"%d 0 R" % number
    identifier = FILE_ID.hex().encode()
    builder.trailer["ID"] = b"[<%b><%b>]" % (identifier, identifier)


def encrypt_with_aes(
    builder: PdfBuilder, revision: int, encrypt_cbc: Callable[[bytes, bytes, bytes], bytes]
) -> None:
    """Encrypt all streams that are added from now on with AES: revision 4, 5 or 6.

    encrypt_cbc takes key, vector and whole blocks; the package under test has one, which its own
    test checks against the standard.
    """

    def encrypt(data: bytes, key: bytes) -> bytes:
        padding = 16 - len(data) % 16
        vector = hashlib.sha256(data).digest()[:16]
        return vector + encrypt_cbc(key, vector, data + bytes([padding]) * padding)

    owner = bytes(range(32))
    if revision == 4:
        key = md5(PASSWORD_FILL + owner + struct.pack("<i", -44) + FILE_ID)
        for _ in range(50):
            key = md5(key)
        user = rc4(key, md5(PASSWORD_FILL + FILE_ID))
        for step in range(1, 20):
            user = rc4(bytes(byte ^ step for byte in key), user)
        builder.encrypt = lambda data, number: encrypt(data, object_key(key, number, b"sAlT"))
        fields = b"/V 4/R 4/Length 128/P -44/O<%b>/U<%b>/CF<</StdCF<</CFM/AESV2/Length 16>>>>"
        fields %= (owner.hex().encode(), (user + bytes(16)).hex().encode())
    else:
        key = hashlib.sha256(b"the key of the file").digest()
        digest = _digest_of_revision_6(encrypt_cbc) if revision == 6 else _digest_of_revision_5
        check, salt = b"checksal", b"key salt"
        user = digest(check) + check + salt
        packed = encrypt_cbc(digest(salt), bytes(16), key)
        builder.encrypt = lambda data, _: encrypt(data, key)
        fields = b"/V 5/R %d/Length 256/P -44/O<%b>/U<%b>/UE<%b>/CF<</StdCF<</CFM/AESV3>>>>"
        fields %= (revision, bytes(48).hex().encode(), user.hex().encode(), packed.hex().encode())
    add_encryption(builder, fields + b"/StmF/StdCF/StrF/StdCF")


def _digest_of_revision_5(salt: bytes) -> bytes:
    return hashlib.sha256(salt).digest()


def _digest_of_revision_6(
    encrypt_cbc: Callable[[bytes, bytes, bytes], bytes],
) -> Callable[[bytes], bytes]:
    def digest_of(salt: bytes) -> bytes:
        digest, step, encrypted = hashlib.sha256(salt).digest(), 0, b"\0"
        while step < 64 or encrypted[-1] > step - 32:
            encrypted = encrypt_cbc(digest[:16], digest[16:32], digest * 64)
            chosen = int.from_bytes(encrypted[:16], "big") % 3
            digest = (hashlib.sha256, hashlib.sha384, hashlib.sha512)[chosen](encrypted).digest()
            step += 1
        return digest[:32]

    return digest_of
