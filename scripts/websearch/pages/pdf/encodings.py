"""Provide encodings for simple fonts, texts for glyph names and widths for the standard fonts.

The data is from ISO 32000-1, annex D; from the Adobe Glyph List, limited to names in real files
that no rule covers; and from the metrics of the 14 standard fonts, whose widths a file may omit.
"""

from __future__ import annotations

import functools
import re

# Glyph names except those for Greek letters and letters with accents.
GLYPHS = """
exclam !  quotedbl \"  numbersign #  dollar $  percent %  ampersand &  quotesingle '  parenleft (
parenright )  asterisk *  plus +  comma ,  hyphen -  period .  slash /  zero 0  one 1  two 2
three 3  four 4  five 5  six 6  seven 7  eight 8  nine 9  colon :  semicolon ;  less <  equal =
greater >  question ?  at @  bracketleft [  backslash \\  bracketright ]  asciicircum ^
underscore _  grave `  braceleft {  bar |  braceright }  asciitilde ~  exclamdown ¡  cent ¢
sterling £  currency ¤  yen ¥  brokenbar ¦  section §  dieresis ¨  copyright ©  ordfeminine ª
guillemotleft «  logicalnot ¬  registered ®  macron ¯  degree °  plusminus ±  twosuperior ²
threesuperior ³  acute ´  mu µ  paragraph ¶  middot ·  periodcentered ·  cedilla ¸  onesuperior
¹  ordmasculine º  guillemotright »  onequarter ¼  onehalf ½  threequarters ¾  questiondown ¿
AE Æ  Eth Ð  multiply ×  Oslash Ø  Thorn Þ  germandbls ß  ae æ  eth ð  divide ÷  oslash ø  thorn
þ  Dcroat Đ  dcroat đ  dmacron đ  Dslash Đ  Hbar Ħ  hbar ħ  dotlessi ı  IJ Ĳ  ij ĳ  kgreenlandic
ĸ  Ldot Ŀ  ldot ŀ  Lslash Ł  lslash ł  napostrophe ŉ  Eng Ŋ  eng ŋ  OE Œ  oe œ  Tbar Ŧ  tbar ŧ
longs ſ  circumflex ˆ  caron ˇ  breve ˘  dotaccent ˙  ring ˚  ogonek ˛  tilde ˜  ilde ˜
hungarumlaut ˝  tonos ΄  dieresistonos ΅  iotadieresistonos ΐ  upsilondieresistonos ΰ  sigma1 ς
theta1 ϑ  Upsilon1 ϒ  phi1 ϕ  omega1 ϖ  figuredash ‒  endash –  emdash —  horizontalbar ―
afii00208 ―  dblverticalbar ‖  quoteleft ‘  quoteright ’  quotesinglbase ‚  quotereversed ‛
quotedblleft “  quotedblright ”  quotedblbase „  dagger †  daggerdbl ‡  bullet •  onedotenleader
․  twodotenleader ‥  ellipsis …  perthousand ‰  minute ′  second ″  guilsinglleft ‹
guilsinglright ›  exclamdbl ‼  fraction ⁄  zerosuperior ⁰  foursuperior ⁴  fivesuperior ⁵
sixsuperior ⁶  sevensuperior ⁷  eightsuperior ⁸  ninesuperior ⁹  nsuperior ⁿ  colonmonetary ₡
franc ₣  lira ₤  peseta ₧  won ₩  sheqel ₪  dong ₫  Euro €  euro €  careof ℅  Ifraktur ℑ
lsquare ℓ  numero №  weierstrass ℘  Rfraktur ℜ  prescription ℞  trademark ™  Ohm Ω  estimated ℮
aleph ℵ  onethird ⅓  twothirds ⅔  oneeighth ⅛  threeeighths ⅜  fiveeighths ⅝  seveneighths ⅞
arrowleft ←  arrowup ↑  arrowright →  arrowdown ↓  arrowboth ↔  arrowupdn ↕  arrowupleft ↖
arrowupright ↗  arrowdownright ↘  arrowdownleft ↙  carriagereturn ↵  harpoonleftbarbup ↼
harpoonrightbarbup ⇀  arrowdblleft ⇐  arrowdblup ⇑  arrowdblright ⇒  arrowdbldown ⇓
arrowdblboth ⇔  universal ∀  existential ∃  partialdiff ∂  emptyset ∅  increment ∆  gradient ∇
element ∈  notelement ∉  suchthat ∋  product ∏  summation ∑  minus −  minusplus ∓  asteriskmath
∗  bulletoperator ∙  radical √  proportional ∝  infinity ∞  angle ∠  divides ∣  parallel ∥
logicaland ∧  logicalor ∨  intersection ∩  union ∪  integral ∫  contourintegral ∮  therefore ∴
similar ∼  asymptoticallyequal ≃  congruent ≅  approxequal ≈  notequal ≠  equivalence ≡
lessequal ≤  greaterequal ≥  muchless ≪  muchgreater ≫  precedes ≺  succeeds ≻  propersubset ⊂
propersuperset ⊃  notsubset ⊄  reflexsubset ⊆  reflexsuperset ⊇  circleplus ⊕  minuscircle ⊖
circlemultiply ⊗  circleot ⊙  perpendicular ⊥  dotmath ⋅  ellipsisvertical ⋮  integraltp ⌠
integralbt ⌡  angleleft ⟨  angleright ⟩  block █  filledbox ■  whitesquare □  blacksmallsquare ▪
whitesmallsquare ▫  triagup ▲  triagrt ►  triagdn ▼  triaglf ◄  blackdiamond ◆  lozenge ◊
circle ○  blackcircle ●  openbullet ◦  blackstar ★  whitestar ☆  female ♀  male ♂  spade ♠  club
♣  heart ♥  diamond ♦  musicalnote ♪  ff ff  fi fi  fl fl  ffi ffi  ffl ffl  hyphentwo ‐
overscore ¯  verticalbar |  dotlessj ȷ  angbracketleft ⟨  angbracketright ⟩  epsilon1 ϵ
visiblespace ␣  planckover2pi ℏ  lscript ℓ  arrownortheast ↗  arrowsoutheast ↘  check ✓
checkbox ☐  star ⋆  prime ′  st st  longst ſt
"""
ACCENTS = {
    "grave": "\u0300", "acute": "\u0301", "circumflex": "\u0302", "tilde": "\u0303",
    "macron": "\u0304", "breve": "\u0306", "dotaccent": "\u0307", "dieresis": "\u0308",
    "hookabove": "\u0309", "ring": "\u030a", "hungarumlaut": "\u030b", "dblacute": "\u030b",
    "caron": "\u030c", "horn": "\u031b", "dotbelow": "\u0323", "commaaccent": "\u0327",
    "cedilla": "\u0327", "ogonek": "\u0328", "tonos": "\u0301", "dot": "\u0307",
}  # fmt: skip
ACCENTED = re.compile(rf"(.+?)({'|'.join(ACCENTS)})")
VARIANT = re.compile(r"(.+?)(?:oldstyle|small|inferior|fitted|superior|swash)")
CODE_POINT = re.compile(r"uni((?:[0-9A-F]{4})+)|u([0-9A-F]{4,6})")
AFII_NAME = re.compile(r"afii(10\d\d\d|57\d\d\d)")

# First and last number, code point of the first, and the number of the letter Yo, which Unicode
# places elsewhere.
AFII_RANGES = (
    (10017, 10049, 0x410, 10023), (10065, 10097, 0x430, 10071), (57664, 57690, 0x5D0, 0),
    (57409, 57434, 0x621, 0), (57440, 57450, 0x640, 0), (57392, 57401, 0x660, 0),
)  # fmt: skip

# StandardEncoding from code 161 on; the symbol fonts' encodings from 32 to 126 and from 160 on.
STANDARD_UPPER = (
    "¡¢£⁄¥ƒ§¤'“«‹›ﬁﬂ –†‡· ¶•‚„”»…‰ ¿ `´ˆ˜¯˘˙¨ ˚¸ ˝˛ˇ"
    "—                Æ ª    ŁØŒº     æ   ı  łøœß    "
)
SYMBOL = (
    (
        " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝ"
        "ΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_ αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼"
    ),
    (
        "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…  ↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈"
        "∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑           〉∫⌠ ⌡         "
    ),
)
DINGBATS = (
    (
        " ✁✂✃✄☎✆✇✈✉☛☞✌✍✎✏✐✑✒✓✔✕✖✗✘✙✚✛✜✝✞✟✠✡✢✣✤✥✦✧★✩✪✫✬✭✮"
        "✯✰✱✲✳✴✵✶✷✸✹✺✻✼✽✾✿❀❁❂❃❄❅❆❇❈❉❊❋●❍■❏❐❑❒▲▼◆❖◗❘❙❚❛❜❝❞"
    ),
    (
        " ❡❢❣❤❥❦❧♣♦♥♠①②③④⑤⑥⑦⑧⑨⑩❶❷❸❹❺❻❼❽❾❿➀➁➂➃➄➅➆➇➈➉➊➋➌➍➎"
        "➏➐➑➒➓➔→↔↕➘➙➚➛➜➝➞➟➠➡➢➣➤➥➦➧➨➩➪➫➬➭➮➯ ➱➲➳➴➵➶➷➸➹➺➻➼➽➾"
    ),
)

# Widths for the codes 32 to 126 in thousandths of the font size.
WIDTHS = {
    "Helvetica": """
278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556
556 556 556 278 278 584 584 584 556 1015 667 667 722 722 667 611 778 722 278 500 667 556 833
722 778 667 778 722 667 611 722 667 944 667 667 611 278 278 278 469 556 333 556 556 500 556
556 278 556 556 222 222 500 222 833 556 556 556 556 333 500 278 556 500 722 500 500 500 334
260 334 584
""",
    "Helvetica-Bold": """
278 333 474 556 556 889 722 238 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556
556 556 556 333 333 584 584 584 611 975 722 722 722 722 667 611 778 722 278 556 722 611 833
722 778 667 778 722 667 611 722 667 944 667 667 611 333 278 333 584 556 333 556 611 556 611
556 333 611 611 278 278 556 278 889 611 611 611 611 389 556 333 611 556 778 556 556 500 389
280 389 584
""",
    "Times": """
250 333 408 500 500 833 778 180 333 333 500 564 250 333 250 278 500 500 500 500 500 500 500
500 500 500 278 278 564 564 564 444 921 722 667 667 722 611 556 722 722 333 389 722 611 889
722 722 556 722 667 556 611 722 722 944 722 722 611 333 278 333 469 500 333 444 500 444 500
444 333 500 500 278 278 500 278 778 500 500 500 500 333 389 278 500 500 722 500 500 444 480
200 480 541
""",
    "Times-Bold": """
250 333 555 500 500 1000 833 278 333 333 500 570 250 333 250 278 500 500 500 500 500 500 500
500 500 500 333 333 570 570 570 500 930 722 667 722 722 667 611 778 778 389 500 778 667 944
722 778 611 778 722 556 667 722 722 1000 722 722 667 333 278 333 581 500 333 500 556 444 556
444 333 500 556 278 333 556 278 833 556 500 556 556 444 389 333 556 500 722 500 500 444 394
220 394 520
""",
    "Times-Italic": """
250 333 420 500 500 833 778 214 333 333 500 675 250 333 250 278 500 500 500 500 500 500 500
500 500 500 333 333 675 675 675 500 920 611 611 667 722 611 611 722 722 333 444 667 556 833
667 722 611 722 611 500 556 722 611 833 611 556 556 389 278 389 422 500 333 500 500 444 500
444 278 500 500 278 278 444 278 722 500 500 500 500 389 389 278 500 444 667 444 444 389 400
275 400 541
""",
    "Times-BoldItalic": """
250 389 555 500 500 833 778 278 333 333 500 570 250 333 250 278 500 500 500 500 500 500 500
500 500 500 333 333 570 570 570 500 832 667 667 667 722 667 667 722 778 389 500 667 611 889
722 722 611 722 667 556 611 722 667 889 667 611 611 333 278 333 570 500 333 500 500 444 500
444 333 500 556 278 278 500 278 778 556 500 500 500 389 389 278 556 444 667 500 444 389 348
220 348 570
""",
}
COURIER_WIDTH = 600
MAX_NAME = 60  # characters in a glyph name


@functools.cache
def glyph_names() -> dict[str, str]:
    """Return the text of each glyph name in GLYPHS."""
    words = GLYPHS.split()
    return {"space": " ", "nbspace": " ", **dict(zip(words[::2], words[1::2], strict=True))}


@functools.lru_cache(4_096)
def glyph_text(name: str) -> str:
    """Return the text that a glyph name represents; "" if the name has no meaning.

    A suffix after a dot marks a variant and is ignored; "_" joins the parts of a ligature.
    """
    name = name.partition(".")[0][:MAX_NAME]
    if name in glyph_names():
        return glyph_names()[name]
    if len(name) <= 1:
        return name
    if "_" in name:
        return "".join(map(glyph_text, name.split("_")))
    match = CODE_POINT.fullmatch(name)
    if match:
        digits = match[1] or ""
        points = [digits[place : place + 4] for place in range(0, len(digits), 4)] or [match[2]]
        numbers = [int(point, 16) for point in points]
        good = all(
            0x20 <= number < 0x110000 and not 0xD800 <= number < 0xE000 for number in numbers
        )
        return "".join(map(chr, numbers)) if good else ""
    return composed_text(name) or greek_letter(name) or alphabet_letter(name) or variant_text(name)


def composed_text(name: str) -> str:
    """Return the letter for a name such as Aacute or Acircumflexacute."""
    import unicodedata

    match = ACCENTED.fullmatch(name)
    base = glyph_text(match[1]) if match else ""
    text = unicodedata.normalize("NFC", base + ACCENTS[match[2]]) if match and base else ""
    return text if len(text) == 1 else ""


def greek_letter(name: str) -> str:
    """Return the letter for a name such as alpha or Omega."""
    import unicodedata

    case = "CAPITAL" if name[0].isupper() else "SMALL"
    letter = name.upper().replace("LAMBDA", "LAMDA")  # as Unicode spells it
    try:
        return unicodedata.lookup(f"GREEK {case} LETTER {letter}")
    except KeyError:
        return ""


def alphabet_letter(name: str) -> str:
    """Return the Cyrillic, Hebrew or Arabic letter for a name such as afii10017."""
    match = AFII_NAME.fullmatch(name)
    number = int(match[1]) if match else 0
    for first, last, start, without in AFII_RANGES:
        if first <= number <= last:
            if number == without:
                return "\u0401" if number < 10060 else "\u0451"
            return chr(start + number - first - (without and number > without))
    return ""


def variant_text(name: str) -> str:
    """Return the text for a name such as oneoldstyle or Asmall."""
    match = VARIANT.fullmatch(name)
    return glyph_text(match[1]) if match else ""


@functools.cache
def encoding_table(name: str) -> list[str]:
    """Return the text for each of the 256 codes in a named encoding; "" for codes without text."""
    if name in ("Symbol", "ZapfDingbats"):
        lower, upper = SYMBOL if name == "Symbol" else DINGBATS
        table = [""] * 32 + list(lower) + [""] * 33 + list(upper) + [""]
    elif name == "StandardEncoding":
        table = [""] * 32 + [chr(code) for code in range(32, 127)] + [""] * 34
        table += [text.strip() for text in STANDARD_UPPER]
        table[0x27], table[0x60] = "\u2019", "\u2018"
    else:
        codec = "mac_roman" if name == "MacRomanEncoding" else "cp1252"
        table = [bytes([code]).decode(codec, "replace") for code in range(256)]
        table = ["" if text < " " or text in "\x7f\ufffd" else text for text in table]
    return table


def standard_widths(font_name: str) -> dict[str, int]:
    """Return the character widths in the standard font with the most similar name."""
    name = font_name.lower()
    if re.search("courier|mono|consol|typewriter", name):
        return dict.fromkeys(map(chr, range(32, 127)), COURIER_WIDTH)
    family = "Times" if re.search("times|serif|roman|garamond|georgia|book", name) else "Helvetica"
    family = "Helvetica" if "sans" in name else family
    bold = "Bold" if "bold" in name or "black" in name else ""
    italic = "Italic" if family == "Times" and re.search("ital|obli", name) else ""
    return widths_of(f"{family}-{bold}{italic}".removesuffix("-"))


@functools.cache
def widths_of(name: str) -> dict[str, int]:
    """Return the character widths for a font in WIDTHS."""
    widths = WIDTHS[name].split()
    return dict(zip(map(chr, range(32, 127)), map(int, widths), strict=True))
