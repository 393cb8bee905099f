"""Decode the bytes of a page: find the encoding, even if labels are missing or wrong."""

from __future__ import annotations

import functools
import re

from websearch.pages.fetch.fetch import MAX_PAGE_BYTES

# Python's codec -> labels from the WHATWG encoding standard, and a few that servers invent.
# "replacement" encodings, which browsers do not read either, are omitted. In the standard,
# ISO-8859-1 and similar labels mean windows-1252, and GB2312 means GB18030.
LABELS = {
    "utf-8": "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8 utf8mb4",
    "cp866": "866 cp866 csibm866 ibm866",
    "iso8859-2": "csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 "
                 "l2 latin2",
    "iso8859-3": "csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 "
                 "l3 latin3",
    "iso8859-4": "csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 "
                 "l4 latin4",
    "iso8859-5": "csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 iso_8859-5 "
                 "iso_8859-5:1988",
    "iso8859-6": "arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6 "
                 "iso-8859-6-e iso-8859-6-i iso-ir-127 iso8859-6 iso88596 iso_8859-6 "
                 "iso_8859-6:1987",
    "iso8859-7": "csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 iso-ir-126 iso8859-7 "
                 "iso88597 iso_8859-7 iso_8859-7:1987 sun_eu_greek",
    "iso8859-8": "csiso88598e csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e iso-ir-138 iso8859-8 "
                 "iso88598 iso_8859-8 iso_8859-8:1988 visual csiso88598i iso-8859-8-i logical",
    "iso8859-10": "csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 latin6",
    "iso8859-13": "iso-8859-13 iso8859-13 iso885913",
    "iso8859-14": "iso-8859-14 iso8859-14 iso885914",
    "iso8859-15": "csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9",
    "iso8859-16": "iso-8859-16",
    "koi8-r": "cskoi8r koi koi8 koi8-r koi8_r",
    "koi8-u": "koi8-ru koi8-u",
    "mac-roman": "csmacintosh mac macintosh x-mac-roman",
    "cp874": "dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874",
    "cp1250": "cp1250 windows-1250 x-cp1250",
    "cp1251": "cp1251 windows-1251 x-cp1251",
    "cp1252": "ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 "
              "iso8859-1 iso88591 iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii windows-1252 "
              "x-cp1252 latin-1 x-user-defined",
    "cp1253": "cp1253 windows-1253 x-cp1253",
    "cp1254": "cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 "
              "iso_8859-9:1989 l5 latin5 windows-1254 x-cp1254",
    "cp1255": "cp1255 windows-1255 x-cp1255",
    "cp1256": "cp1256 windows-1256 x-cp1256",
    "cp1257": "cp1257 windows-1257 x-cp1257",
    "cp1258": "cp1258 windows-1258 x-cp1258",
    "mac-cyrillic": "x-mac-cyrillic x-mac-ukrainian",
    "gb18030": "chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk "
               "gb18030 cp936",
    "big5hkscs": "big5 big5-hkscs cn-big5 csbig5 x-x-big5",
    "euc_jp": "cseucpkdfmtjapanese euc-jp x-euc-jp",
    "iso2022_jp": "csiso2022jp iso-2022-jp",
    "cp932": "csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis cp932",
    "cp949": "cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 "
             "ksc_5601 windows-949 cp949",
    "utf-16-be": "unicodefffe utf-16be",
    "utf-16-le": "csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le",
    "utf-32-be": "utf-32be",
    "utf-32-le": "utf-32 utf-32le",
}  # fmt: skip
BYTE_ORDER_MARKS = (
    (b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe\0\0", "utf-32"), (b"\0\0\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"),
)  # fmt: skip
# Per language: frequent non-ASCII letters and their minimum share of all non-ASCII letters.
_CYRILLIC = [("оеаинтсрвлкмдпуяыі", 0.85)]
_CENTRAL = [("ąćęłńóśźż", 0.9), ("áčďéěíňóřšťúůýžľĺŕôä", 0.9), ("áéíóöőúüű", 0.9),
            ("ăâîșțşţ", 0.9), ("čćđšž", 0.9)]  # fmt: skip
_WESTERN = [("àâçèéêëîïôùûüœæ", 0.9), ("äöüß", 0.9), ("áéíñóúü", 0.9), ("ãõáâàçéêíóôúü", 0.9),
            ("àèéìòù", 0.9), ("ëïéèöü", 0.9), ("åäöæøé", 0.9)]  # fmt: skip
_KANA = "".join(map(chr, (*range(0x3041, 0x3094), *range(0x30A1, 0x30FD))))
_HANGUL = "".join(map(chr, range(0xAC00, 0xD7A4)))
_SIMPLIFIED = (
    "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过"
    "发后作里用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本"
    "前开但因只从想实日军者意无力它与长把机十民第公此已工使情明性知全三又关点正业外将两高间由问很"
    "最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯月话合回特代内信表化老给世位次度"
    "门任常先海通教儿原东声提立及比员解水名真论处走义各入几口认条平系气题活尔更别打女变四神总何电"
    "数安少报才结反受目太量再感建务做接必场件计管期市直德资命山金指克许统区保至队形社便空决治展马"
)
_TRADITIONAL = (
    "的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過"
    "發後作裡用道行所然家種事成方多經麼去法學如都同現當沒動面起看定天分還進好小部其些主樣理心她本"
    "前開但因只從想實日軍者意無力它與長把機十民第公此已工使情明性知全三又關點正業外將兩高間由問很"
    "最重並物手應戰向頭文體政美相見被利什二等產或新己制身果加西斯月話合回特代內信表化老給世位次度"
    "門任常先海通教兒原東聲提立及比員解水名真論處走義各入幾口認條平系氣題活爾更別打女變四神總何電"
    "數安少報才結反受目太量再感建務做接必場件計管期市直德資命山金指克許統區保至隊形社便空決治展馬"
)
# Codec -> (letters, share) for each language.
CANDIDATES = {
    "cp1252": _WESTERN,
    "cp1250": _CENTRAL,
    "iso8859-2": _CENTRAL,
    "cp1251": _CYRILLIC,
    "koi8-u": _CYRILLIC,
    "iso8859-5": _CYRILLIC,
    "cp866": _CYRILLIC,
    "cp932": [(_KANA, 0.4)],
    "euc_jp": [(_KANA, 0.4)],
    "gb18030": [(_SIMPLIFIED, 0.4)],
    "big5hkscs": [(_TRADITIONAL, 0.4)],
    "cp949": [(_HANGUL, 0.9)],
    "cp1256": [("اليمنوترةبعدسفهكقحجأىش", 0.9)],
    "cp1253": [("αοιετσνηυρπκμλςίόάέήώ", 0.85)],
    "cp1254": [("ğüşıöçİâî", 0.9)],
    "cp1255": [("".join(map(chr, range(0x5D0, 0x5EB))), 0.9)],
    "cp1257": [("ąčęėįšųūž", 0.9), ("āčēģīķļņšūž", 0.9), ("äöüõšž", 0.9)],
    "cp874": [("านรอกเงมยลวดทสตะปบคหแจพชขใไโผำีิ่้ัู็์ืึ", 0.9)],
}
# Punctuation next to letters, such as quotation marks, dashes and spaces.
NEAR_LETTERS = "\u2018\u2019\u201a\u201c\u201d\u201e\u2039\u203a«»¿¡·…\u2013\u2014\u00ad\u00a0®©°"
LATIN = ("cp1250", "cp1252", "cp1254", "cp1257", "iso8859-2")
SAMPLE = 8_000  # bytes of text with non-ASCII letters for detecting the encoding
MAX_SCANNED_BYTES = 500_000  # bytes of a page to search for such text
MIN_LETTERS = 6  # non-ASCII letters needed to detect an encoding
MIN_SCORE = 0.8  # score needed to detect an encoding; 1: the same as a typical text in its language
MIN_LEAD = 0.03  # lead over the second-best score
MAX_ERRORS = 0.34  # decoding errors per multi-byte letter that UTF-8 text may have
MAX_WRONG = 0.02  # maximum share of characters that never occur in text, such as U+FFFD
LABEL_BYTES = 4_096  # bytes at the beginning of a page to search for a label
_JAPANESE = rb"\x1b\$(?:[@B]|\([D-Q])"  # begins double-byte characters in ISO-2022-JP
UNKNOWN_NOTE = "The page's encoding is unknown. Non-English letters may be wrong."
_HEADER_CHARSET = r"""(?i)charset\s{0,9}=[\s"']{0,9}([\w:.-]{1,40})"""
_META_CHARSET = rb"""(?i)<meta[^<>]{1,300}?charset\s{0,9}=[\s"']{0,9}([a-z0-9_:.-]{2,40})"""
_XML_CHARSET = (
    rb"""(?i)^\s{0,9}<\?xml[^<>]{1,100}?encoding\s{0,9}=\s{0,9}["']([a-z0-9_:.-]{2,40})"""
)


def decode_body(body: bytes, content_type: str) -> str:
    """Return a body as text (see decode_page)."""
    return decode_page(body, content_type)[0]


def decode_page(body: bytes, content_type: str) -> tuple[str, str]:
    """Return a body as text, and a note if its encoding is unknown, or "".

    As in browsers, a byte order mark decides, then the label in the header, then the label in a
    meta element or XML declaration. A label is ignored if the bytes contradict it. Valid UTF-8 is
    UTF-8, and ASCII with ISO-2022-JP's escape sequences is ISO-2022-JP; other unlabeled bytes
    get the likeliest encoding.
    """
    for mark, codec in BYTE_ORDER_MARKS:
        if body.startswith(mark):
            return body.decode(codec, "replace"), ""
    if body.isascii() and not re.search(_JAPANESE, body):
        wide = wide_codec(body) or wide_label(body, content_type)
        return body.decode(wide or "ascii", "replace"), ""
    if wide := wide_codec(body):
        return body.decode(wide, "replace"), ""
    label = "iso2022_jp_ext" if body.isascii() else ""
    label = label or next((codec for codec in labels(body, content_type) if codec), "")
    is_weak = label in ("", "utf-8") or is_single_byte(label)
    if is_utf8(body) and (is_weak or has_letters(body)):
        return body.decode("utf-8", "replace"), ""
    if label and label not in CANDIDATES and label != "utf-8":
        return body.decode(label, "replace"), ""
    codec = likely_codec(body, label) or (label if label != "utf-8" else "")
    return body.decode(codec or "cp1252", "replace"), "" if codec else UNKNOWN_NOTE


def labels(body: bytes, content_type: str) -> list[str]:
    """Return the codecs for the labels in the header and the page; "" for unknown labels.

    A page whose UTF-16 label can be read as ASCII is in UTF-8.
    """
    header = re.search(_HEADER_CHARSET, content_type)
    own = re.search(_META_CHARSET, body[:LABEL_BYTES]) or re.search(_XML_CHARSET, body[:200])
    codecs = [charset_codec(header[1])] if header else []
    if own:
        codec = charset_codec(own[1].decode("ascii"))
        codecs.append("utf-8" if codec.startswith(("utf-16", "utf-32")) else codec)
    return codecs


@functools.cache
def codecs_by_label() -> dict[str, str]:
    """Return a table of labels and Python's codec for each."""
    return {label: codec for codec, names in LABELS.items() for label in names.split()}


def charset_codec(label: str) -> str:
    """Return Python's codec for a character set label, or ""."""
    return codecs_by_label().get(label.strip().lower(), "")


def is_single_byte(codec: str) -> bool:
    """Return whether each byte is one character in an encoding."""
    return codec.startswith(("cp125", "iso8859", "koi8", "mac", "cp866", "cp874"))


def has_letters(body: bytes) -> bool:
    """Return whether UTF-8 has several non-ASCII letters, which other encodings hardly imitate."""
    return sum(letter > "\x7f" for letter in body.decode("utf-8", "replace")) >= MIN_LETTERS


def is_utf8(body: bytes) -> bool:
    """Return whether bytes are UTF-8; a truncated body may end within a character."""
    try:
        body.decode("utf-8")
    except UnicodeDecodeError as error:
        return len(body) >= MAX_PAGE_BYTES and error.start >= len(body) - 4
    return True


def wide_codec(body: bytes) -> str:
    """Return a UTF-16 or UTF-32 codec if the NULs fit its pattern for English markup, or ""."""
    start = body[:LABEL_BYTES]
    quarter = len(start) // 4
    if not quarter or b"\0" not in start:
        return ""
    empty = [start[position::4].count(0) / quarter for position in range(4)]
    for codec, full, filled in (
        ("utf-32-le", (1, 2, 3), 0), ("utf-32-be", (0, 1, 2), 3),
        ("utf-16-le", (1, 3), 0), ("utf-16-be", (0, 2), 1),
    ):  # fmt: skip
        if all(empty[position] > 0.4 for position in full) and empty[filled] < 0.02:
            return codec
    return ""


def wide_label(body: bytes, content_type: str) -> str:
    """Return a UTF-16 or UTF-32 codec if the header has its label and the body has NULs, or ""."""
    header = re.search(_HEADER_CHARSET, content_type)
    codec = charset_codec(header[1]) if header else ""
    return codec if codec.startswith(("utf-16", "utf-32")) and b"\0" in body[:LABEL_BYTES] else ""


# ===== detection ==================================================================================


def likely_codec(body: bytes, label: str) -> str:
    """Return the likeliest codec for bytes that are not UTF-8; "" if no codec is clearly ahead.

    label: the codec from the page's label; it wins if it is nearly as likely as every other codec.
    """
    sample = sample_of(body)
    if label in ("", "utf-8") and is_mostly_utf8(sample):
        return "utf-8"
    if label == "utf-8" and sample.decode(label, "replace").count("\ufffd") <= len(sample) // 500:
        return label
    scores = {codec: score_of(sample, codec) for codec in CANDIDATES}
    best, second = sorted(scores, key=lambda codec: -scores[codec])[:2]
    if label in scores and scores[label] > scores[best] - MIN_LEAD:
        return label
    is_ahead = scores[best] - scores[second] >= MIN_LEAD or decode_alike(best, second, sample)
    return best if scores[best] >= MIN_SCORE and is_ahead else ""


def is_mostly_utf8(sample: bytes) -> bool:
    """Return whether bytes are UTF-8 with few errors, such as a truncated character.

    Text in other encodings almost never has several valid UTF-8 sequences.
    """
    text = sample.decode("utf-8", "replace")
    errors = text.count("\ufffd")
    letters = sum(letter > "\x7f" for letter in text) - errors
    return errors <= MAX_ERRORS * letters


def decode_alike(codec: str, other: str, sample: bytes) -> bool:
    """Return whether two codecs decode a sample alike, as windows-1250 and ISO-8859-2 may do."""
    return sample.decode(codec, "replace") == sample.decode(other, "replace")


def sample_of(body: bytes) -> bytes:
    """Return the non-ASCII pieces of a page's text, up to SAMPLE bytes."""
    pieces: list[bytes] = []
    left = SAMPLE
    for piece in re.split(rb"[\n\r<>]", body[:MAX_SCANNED_BYTES]):
        if left > 0 and not piece.isascii():
            pieces.append(piece[:left])
            left -= len(piece)
    return b"\n".join(pieces)


def score_of(sample: bytes, codec: str) -> float:
    """Return how much a sample looks like text in an encoding, from 0 to 1."""
    text = sample.decode(codec, "replace")
    special = [letter for letter in text if letter > "\x7f"]
    wrong = sum(
        letter < "\xa0" or "\ue000" <= letter <= "\uf8ff" or letter == "\ufffd"
        for letter in special
    )
    letters = [letter for letter in special if letter.isalpha() or is_thai_sign(letter)]
    if len(letters) < MIN_LETTERS or wrong > MAX_WRONG * len(special):
        return 0.0
    strange = wrongly_joined(text, codec)
    shares = []
    for frequent, expected in CANDIDATES[codec]:
        # Capitals count only at the start of words; KOI8-R read as windows-1251 has them elsewhere.
        capitals = len(re.findall(rf"(?<!\w)[{frequent.upper()}]", text)) if expected > 0.5 else 0
        small = sum(letter in frequent for letter in letters)
        capitals = 0 if frequent.upper() == frequent else min(capitals, small)
        shares.append(min(1.0, (small + capitals) / len(letters) / expected))
    return max(shares) * max(0.0, 1.0 - strange / len(letters))


def wrongly_joined(text: str, codec: str) -> int:
    """Return the number of characters in positions where text in an encoding never has them.

    For Latin encodings, these are symbols next to letters, and words without English letters. For
    other encodings, these are letters next to English letters.
    """
    if codec not in LATIN:
        return len(re.findall(r"[a-zA-Z](?=[^\W\d_a-zA-Z])|[^\W\d_a-zA-Z](?=[a-zA-Z])", text))
    symbols = sum(
        letter > "\x7f" and not letter.isalpha() and letter not in NEAR_LETTERS
        for before, letter, after in zip(text, text[1:], text[2:], strict=False)
        if before.isalpha() or after.isalpha()
    )
    return symbols + sum(map(len, re.findall(r"[^\W\d_a-zA-Z]{3,99}", text)))


def is_thai_sign(letter: str) -> bool:
    """Return whether a character is a Thai vowel or tone sign above or below a letter."""
    return "\u0e31" <= letter <= "\u0e4e"
