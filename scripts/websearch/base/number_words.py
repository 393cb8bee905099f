"""Numbers written as words in English, German, French and Spanish."""

from __future__ import annotations

import functools

# Per language: one to nineteen, the tens from twenty on, hundred, thousand, and the pattern that
# joins tens and units. Slashes separate different words for one number.
_NUMBER_WORDS = {
    "en": (("one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
           "fifteen sixteen seventeen eighteen nineteen"),
           "twenty thirty forty fifty sixty seventy eighty ninety", "hundred", "thousand",
           "{ten}-{unit}"),
    "de": (("ein/eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn "
           "fünfzehn sechzehn siebzehn achtzehn neunzehn"),
           "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig", "hundert",
           "tausend", "{unit}und{ten}"),
    "fr": (("un/une deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze "
           "quinze seize dix-sept dix-huit dix-neuf"), ("vingt trente quarante cinquante soixante "
           "soixante-dix/septante quatre-vingts/quatre-vingt quatre-vingt-dix/nonante"),
           "cent", "mille", "{ten}-{unit}"),
    "es": (("uno/una/un dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce "
           "quince dieciséis diecisiete dieciocho diecinueve"),
           "veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa", "cien", "mil",
           "{ten} y {unit}"),
}  # fmt: skip
# Forms that do not follow their language's rule.
_OTHER_NUMBER_WORDS = {
    "fr": {"vingt et un": 21, "trente et un": 31, "quarante et un": 41, "cinquante et un": 51,
           "soixante et un": 61, "soixante et onze": 71},
    "es": {"veintiuno": 21, "veintiún": 21, "veintidós": 22, "veintitrés": 23, "veinticuatro": 24,
           "veinticinco": 25, "veintiséis": 26, "veintisiete": 27, "veintiocho": 28,
           "veintinueve": 29, "ciento": 100},
}  # fmt: skip


@functools.cache
def number_words(language: str) -> dict[str, int]:
    """Return a language's words for two to ninety-nine, hundred and thousand, as numbers.

    Other languages get the English words. In a search, spaces and hyphens are equivalent.
    """
    first, tens, hundred, thousand, joined = _NUMBER_WORDS.get(language) or _NUMBER_WORDS["en"]

    def forms(text: str) -> list[list[str]]:
        return [word.split("/") for word in text.split()]

    words = {form: value for value, word in enumerate(forms(first), 1) for form in word}
    words |= {form: 10 * ten for ten, word in enumerate(forms(tens), 2) for form in word}
    units = [(form, value) for form, value in words.items() if value < 20]
    for form, ten in [item for item in words.items() if item[1] >= 20]:
        most = 20 if language == "fr" and ten in (60, 80) else 10
        for unit, value in units:
            if value < most:
                words.setdefault(joined.format(ten=form, unit=unit), ten + value)
    for word, value in ((hundred, 100), (thousand, 1_000)):
        words |= dict.fromkeys(word.split("/"), value)
    words |= _OTHER_NUMBER_WORDS.get(language, {})
    return {word: value for word, value in words.items() if value > 1}
