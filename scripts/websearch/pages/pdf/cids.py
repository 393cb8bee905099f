"""Map glyph numbers in Adobe's Chinese, Japanese and Korean character collections to text.

The collections list the characters in the order of the national standards, so Python's codecs
replace tables with tens of thousands of entries. Later supplements are missing, as is the rarer
half of Adobe-CNS1, which is ordered differently.
"""

from __future__ import annotations

import functools

# Collection -> codec; first glyph numbers of proportional and of narrow ASCII; first glyph number
# and code of each run of wide characters.
COLLECTIONS: dict[str, tuple[str, tuple[int, int], tuple[tuple[int, int], ...]]] = {
    "Japan1": ("euc_jp", (1, 231), ((633, 0xA1A1), (1125, 0xB0A1))),
    "GB1": (
        "gb2312",
        (1, 813),
        ((96, 0xA1A1), (602, 0xA7A1), (700, 0xA8C5), (738, 0xA9A4), (940, 0xB0A1)),
    ),
    "Korea1": ("euc_kr", (1, 8094), ((101, 0xA1A1),)),
    "CNS1": (
        "big5",
        (1, 13648),
        (
            (99, 0xA140), (595, 0xA440), (2006, 0xACFE), (2432, 0xAFD0), (4309, 0xBBC8),
            (4695, 0xBE52), (5222, 0xC1AB), (5410, 0xC2CB), (5496, 0xC361), (5641, 0xC456),
        ),
    ),
}  # fmt: skip
# Adobe-Japan1's glyphs for vertical text, and the number of the first of them.
VERTICAL_START = 7887
VERTICAL = (
    "、。￣＿ー―‐〜‖｜…‥（）〔〕［］｛｝〈〉《》「」『』【】＝"
    "ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヵヶ"
)
LAST_CODE = {"Japan1": 0xF4A4, "GB1": 0xF7FE, "Korea1": 0xFDFE, "CNS1": 0xC67E}
COMPATIBILITY = ("\uf900", "\ufaff")  # second readings of Korean ideographs; they have no glyphs
LATER_CHARACTERS = ("€", "®")  # added to the Korean standard after the collection was made


@functools.cache
def collection_texts(ordering: str) -> dict[int, str]:
    """Return the texts for a collection's glyph numbers; {} if the collection is unknown."""
    if ordering not in COLLECTIONS:
        return {}
    codec, ascii_starts, runs = COLLECTIONS[ordering]
    texts: dict[int, str] = {}
    ends = [first_code for _, first_code in runs[1:]] + [LAST_CODE[ordering] + 1]
    for (number, first_code), end in zip(runs, ends, strict=True):
        for code in range(first_code, end):
            try:
                text = code.to_bytes(2, "big").decode(codec)
            except UnicodeDecodeError:
                continue
            later = text in LATER_CHARACTERS or COMPATIBILITY[0] <= text <= COMPATIBILITY[1]
            if len(text) == 1 and not (ordering == "Korea1" and later):
                texts[number] = text
                number += 1  # noqa: PLW2901
    for start in ascii_starts:
        texts.update((start + place, chr(32 + place)) for place in range(95))
    if ordering == "Japan1":
        texts.update(enumerate(VERTICAL, VERTICAL_START))
    return texts
