"""Find a question's terms and count them in texts, in any language.

A word yields itself, its beginnings, which serve as stems in every language, and a pair with the
previous word. Scripts without spaces between words yield pairs of characters; those of Southeast
Asia yield triples.
"""

from __future__ import annotations

import functools
import re
import time

from websearch.base.words import PHRASED, STOP_WORDS, UNSPACED, language_of, word_forms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    Counts = dict[str, float]

BEGINNINGS = (3, 4, 6)  # first letters of a word that represent its stem
HEAD_LETTERS = BEGINNINGS[0]  # letters compared first, to skip most words quickly
BEGINNING_WEIGHT = 0.5  # weight of a beginning; the word itself has 1
# Weight of the first HEAD_LETTERS of a word longer than SHORT_WORD: they may match by chance.
SHORT_WORD, CHANCE_WEIGHT = 4, 0.25
PAIR_LETTERS = 5  # letters of each word in a pair of consecutive words
PAIR_WEIGHT = 0.3
# Weight of "what", "is" and "how": they occur everywhere, but "what is" finds definitions.
STOP_WORD_WEIGHT = 0.1
FOLDED_TOGETHER = 100  # texts between two checks of the time: a few milliseconds

LONGEST_NAME = 3  # words in a question that may consist only of names
NAME_WORDS = 3  # most words of a name with capitals that is certainly one name
LEAST_MISSPELLED = 6  # minimum letters of a word that pages may spell differently
_CAPITALIZED = r"[A-ZÀ-ÖØ-ÞĀ-ſΆ-ΫЀ-Я][\w'’.]{0,60}"
# Quoted text, or up to six capitalized words in a row.
_NAME = (
    r"[\"“]([^\"“”\n]{2,100})[\"”]"
    rf"|\b{_CAPITALIZED}(?:[ ](?:(?:of|the|de|von|van)[ ])?{_CAPITALIZED}){{0,5}}"
)
# Operators, identifiers with an inner capital (TaskGroup) or "_" (pre_save), and clauses in
# capitals (ON CONFLICT, ORDER BY).
_SYMBOL = (
    r"(?<!\S)[<>=@!?:|&^~*+%$#-]{2,5}(?!\S)"
    r"|\b\w{0,60}?(?:[a-z][A-Z]|[^\W_]_[^\W_])\w{0,60}"
    r"|\b[A-Z]{2,20} BY\b|\b(?:AS|FOR|IF|IS|ON|WITH) [A-Z]{2,20}\b"
)
_LONG_NUMBER = r"(?<![\w.,#])\d[\d.,]{1,15}\d(?!\w)"
# Words for the form of an answer, not its topic; when capitalized, they are not names.
_FORM_WORDS = frozenset(
    "calculate came come compare convert define describe difference drama example examples explain "
    "explained find gave give goes kind kinds list lists name names show sort summarize tell "
    "translate tried try trying type types versus vs write".split()
)

# Endings of inflected and derived words in languages with Latin letters, folded: most begin with a
# vowel; the second halves of names such as Charleston and Brandstetter do not, or are longer.
_ENDING = (
    r"(?:[aeiouy][a-z]{0,2}|[dmnrs]|ns|st|(?:i[sz])?ations?|ments?|ness|ships?|hoods?|[ae]nces?"
    r"|[ai]ble|i(?:ves|sts|sms|ties)|uese|isch(?:e[mnrs]?)?|innen|ically)?"
)

# Words for the same measure, without their endings.
_MEASURES = (
    "height|high|tall", "length|long", "width|wide|wid|broad", "depth|deep", "weight|heavy|heavi",
    "age|old", "speed|fast",
)  # fmt: skip

# Characters inside words that \w excludes: Hebrew points, vowel signs of Indian scripts, joiners.
_MARKS = (
    r"\u0591-\u05c7\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963\u0981-\u0983\u09bc-\u09cd"
    r"\u0a01-\u0a03\u0a3c-\u0a4d\u0a81-\u0a83\u0abc-\u0acd\u0b01-\u0b03\u0b3c-\u0b57\u0b82"
    r"\u0bbe-\u0bcd\u0c00-\u0c04\u0c3e-\u0c56\u0c81-\u0c83\u0cbc-\u0cd6\u0d00-\u0d03\u0d3b-\u0d4d"
    r"\u200c\u200d"
)
_LONE_IDEOGRAPH = r"(?<![\u4e00-\u9fff])[\u4e00-\u9fff](?![\u4e00-\u9fff])"
WORD = rf"[{UNSPACED}]+|[^\W_{UNSPACED}]+(?:[{_MARKS}]+[^\W_{UNSPACED}]*)*"
# Letters attached by an apostrophe: Warsaw's, d'Alger, İstanbul'da.
_JOINED = r"\b\w{1,2}['’](?=\w)|(?<=\w)['’]\w{1,2}\b"


def fold_text(text: str) -> str:
    """Return text without case, accents, Arabic vowel marks and the Arabic article."""
    text = text.casefold()
    if text.isascii():
        return text
    import unicodedata

    text = unicodedata.normalize("NFKD", text)
    text = re.sub(r"[\u0300-\u036f\u0640\u064b-\u065f\u0670]", "", text)
    text = re.sub(r"\b\u0627\u0644(?=\w{3})", "", text)
    return unicodedata.normalize("NFC", text)


def terms_of(text: str, heads: set[str] | None = None) -> Iterator[str]:
    """Yield the terms in a folded text; heads: skip words with other first letters."""
    before = ""
    for word in re.findall(WORD, text):
        if word[0] >= "\u0e00" and re.match(f"[{UNSPACED}]", word):
            size = 3 if re.match(f"[{PHRASED}]", word) else 2
            for place in range(max(1, len(word) - size + 1)):
                yield word[place : place + size]
            yield from re.findall(_LONE_IDEOGRAPH, word)
            before = ""
        elif heads is None or word[:HEAD_LETTERS] in heads:
            yield word
            for size in BEGINNINGS:
                if len(word) >= size:
                    yield f"{word[:size]}-"
            if before:
                yield f"{before} {word[:PAIR_LETTERS]}"
            before = word[:PAIR_LETTERS]
        else:
            before = ""


@functools.cache
def folded_stop_words() -> frozenset[str]:
    """Return the common words of all languages in the form that they have in folded texts."""
    return frozenset(fold_text(" ".join(STOP_WORDS)).split())


def term_weights(question: str) -> Counts:
    """Return the terms of a question and their weights."""
    folded = fold_text(question)
    weights = {term: PAIR_WEIGHT if " " in term else STOP_WORD_WEIGHT for term in terms_of(folded)}
    words = re.findall(WORD, re.sub(_JOINED, " ", folded))
    for word in [word for word in words if word not in folded_stop_words()] or words:
        for term in terms_of(word):
            weight = BEGINNING_WEIGHT if term.endswith("-") else 1.0
            if term == f"{word[:HEAD_LETTERS]}-" and len(word) > SHORT_WORD:
                weight = CHANCE_WEIGHT
            weights[term] = max(weight, weights.get(term, 0.0))
    return weights


def telling_terms(weights: Counts) -> set[str]:
    """Return the significant terms: not stop words, pairs or beginnings that match by chance."""
    return {term for term, weight in weights.items() if weight >= BEGINNING_WEIGHT}


def missing_words(question: str, held: list[set[str]], texts: list[str]) -> list[str]:
    """Return the symbols, names and words of a question that no page has, in this order.

    held: the terms in each page. texts: the page texts, searched for operators such as <@,
    identifiers such as TaskGroup (for which "task" is not enough), codes such as F172 and names
    (for Middlemarch, "middle" is not enough). A name is missing if no page contains all its words;
    one of more than NAME_WORDS may be two names, so there a page may lack one of them.
    Stop words and single letters or digits are ignored; so are excluded words (-snake) and values
    of search operators (site:...).
    """
    asked = asked_text(question)
    is_telling = capitals_tell(asked)
    pages = [
        (terms, FoldedText(text) if is_telling else None)
        for terms, text in zip(held, texts, strict=True)
    ]
    names: list[list[str]] = []
    present: set[str] = set()
    for name in names_in(asked):
        enough = len(name) - (len(name) > NAME_WORDS)
        if any(sum(is_held(word, *page) for word in name) >= enough for page in pages):
            present.update(word for word in name if any(is_held(word, *page) for page in pages))
        else:
            names.append(name)
    plain = [plain_text(text) for text in texts if symbols_in(asked)]
    missing = [
        one for one in symbols_in(asked) if not any(one.casefold() in text for text in plain)
    ]
    for name in names:
        absent = [word for word in name if not any(is_held(word, *page) for page in pages)]
        missing += [one for one in absent or [" ".join(name)] if one not in missing]
    everything = set().union(*held)
    for word in [word for word in content_words(asked) if word not in present]:
        telling = {fold_text(word)} if is_code(word) else telling_terms(term_weights(word))
        is_lacking = telling.isdisjoint(everything)
        is_named = any(word in re.findall(WORD, one) for one in missing)
        if is_lacking and not is_named and fold_text(word) not in _FORM_WORDS:
            missing.append(word)
    return [
        word
        for word in missing
        if not ((form := other_form(word)) and any(re.search(form, text) for text in texts))
    ]


def other_form(word: str) -> str:
    """Return a pattern for other spellings of a code or other words for a measure, or "".

    Kappa15 may be written Kappa 15; a page about a height may only contain the word "high".
    """
    if is_code(word):
        parts = map(re.escape, re.findall(r"\d+|\D+", word))
        return rf"(?i)(?<!\w){r'[ _-]?'.join(parts)}(?!\w)"
    stem = re.sub(r"(?<=..[a-z])(?:er|est)$", "", fold_text(word))
    family = next((words for words in _MEASURES if stem in words.split("|")), "")
    return rf"(?i)\b(?:{family})(?:e?r|e?st)?\b" if family else ""


def misses_the_point(question: str, missing: list[str], texts: Collection[str]) -> bool:
    """Return whether the words that pages lack include the topic of a question.

    The topic is any of its names and symbols, or else any word. Numbers do not count, nor do
    words that the pages spell differently.
    """
    asked = asked_text(question)
    names = {word for name in names_in(asked) for word in name} | set(symbols_in(asked))
    lacking = {word for one in missing for word in (one, *one.split()) if not word.isdecimal()}
    lacking = lacking & names if names else lacking
    return bool(lacking) and not lacking <= misspelled(lacking, texts)


def misspelled(words: set[str], texts: Collection[str]) -> set[str]:
    """Return the words that differ by one letter, or two swapped letters, from a word in texts."""
    found = set()
    for word in words:
        folded = fold_text(word)
        if len(folded) < LEAST_MISSPELLED or is_code(word):
            continue
        size = len(folded)
        alike = rf"(?i)(?<!\w){re.escape(folded[0])}\w{{{size - 2},{size}}}(?!\w)"
        others = {fold_text(other) for text in texts for other in re.findall(alike, text)}
        own = without_a_letter(folded)
        if any(not own.isdisjoint(without_a_letter(other)) for other in others):
            found.add(word)
    return found


def without_a_letter(word: str) -> set[str]:
    """Return a word and its variants without one letter, but always with the first letter."""
    return {word, *(word[:place] + word[place + 1 :] for place in range(1, len(word)))}


def is_code(word: str) -> bool:
    """Return whether a word is letters, then a digit; different digits mean a different thing."""
    return bool(re.match(r"[^\W\d_]+\d", word))


def asked_text(question: str) -> str:
    """Return a question without excluded words, search operators and letters like d' and 's."""
    return re.sub(r"(?<!\S)(?:-|\w{1,20}:)\w\S*", " ", re.sub(_JOINED, " ", question))


def content_words(text: str) -> list[str]:
    """Return the words of a question, each once, without stop words and single characters."""
    return [
        word
        for word in dict.fromkeys(re.findall(WORD, text))
        if not (fold_text(word) in folded_stop_words() or (len(word) == 1 and word.isascii()))
    ]


def names_in(text: str) -> list[list[str]]:
    """Return the words of each name in a question: quoted, with capitals, or an identifier."""
    names = [content_words(match[1] or match[0]) for match in re.finditer(_NAME, text)]
    first = text.split(maxsplit=1)[:1]
    return [
        name for name in names if name and not (name == first and fold_text(name[0]) in _FORM_WORDS)
    ]


def subjects_in(question: str) -> list[str]:
    """Return the words of a question's names, folded and shortened to stems, and its numbers."""
    asked = asked_text(question)
    names = names_in(asked) if capitals_tell(asked) else []
    stems = [fold_text(word)[: BEGINNINGS[-1]] for name in names for word in name]
    return stems + re.findall(_LONG_NUMBER, asked)


def capitals_tell(text: str) -> bool:
    """Return whether capitals mark names in a question; In One Like This, they do not."""
    words = content_words(text)
    return len(words) <= LONGEST_NAME or any(word.islower() for word in words)


def symbols_in(text: str) -> list[str]:
    """Return the operators, identifiers and clauses in a question, each once.

    A question in all capitals has no clauses, because they look like its other words.
    """
    found = dict.fromkeys(re.findall(_SYMBOL, text))
    return [one for one in found if not (" " in one and text.isupper())]


def plain_text(text: str) -> str:
    """Return Markdown in the form that is searched for symbols."""
    return text.replace("\\_", "_").casefold()


class FoldedText:
    """A page's text, folded when it is first searched, because few questions need that."""

    def __init__(self, text: str) -> None:
        self.text = text

    @functools.cached_property
    def folded(self) -> str:
        """The folded text."""
        return fold_text(self.text)

    @functools.cached_property
    def is_german(self) -> bool:
        """Whether the text is German."""
        return language_of(self.text) == "de"


def is_held(word: str, held: set[str], page: FoldedText | None) -> bool:
    """Return whether a page contains a word of a name: whole, inflected or inside a longer word.

    held: the page's terms. page: None if the word may not be a name; then a shared beginning is
    enough. It is also enough on German pages, because all German nouns have capitals: Einwohnerzahl
    matches Einwohner.
    """
    folded = fold_text(word)
    if folded in held or is_code(word):
        return folded in held
    if folded >= "\u0e00":  # scripts without spaces: parts of it are terms
        return not held.isdisjoint(telling_terms(term_weights(word)))
    longest = max((size for size in BEGINNINGS[1:] if size < len(folded)), default=0)
    begins = bool(longest) and f"{folded[:longest]}-" in held
    if not page or not longest or folded >= "\u0250":  # other scripts' endings are unknown
        return begins
    if not begins:
        return bool(re.search(rf"(?<=[^\W\d_]){folded}(?!\w)", page.folded))
    return (
        bool(re.search(inflected(folded, longest), page.folded))
        or bool(re.search(in_two_words(word), page.text))
        or bool(misspelled({word}, [page.text]))
        or page.is_german
    )


def inflected(name: str, least: int) -> str:
    """Return a pattern for a name's inflections and for words that begin with the name.

    Both are folded. least: the minimum length of the stem. For Germany, German is enough; for
    Georgetown, George is not. A hyphen may divide the name.
    """
    stems = [name[:size] for size in range(least, len(name)) if re.fullmatch(_ENDING, name[size:])]
    split = [rf"{name[:size]}-\s?{name[size:]}" for size in range(2, len(name) - 1)]
    whole = "|".join([name, *split])
    return rf"(?<![^\W_])(?:{whole}|(?:{'|'.join([name, *stems])}){_ENDING}(?![^\W_]))"


def in_two_words(name: str) -> str:
    """Return a pattern for a name written as two capitalized words, such as Spider Man."""
    pairs = [(name[:size], name[size:]) for size in range(2, len(name) - 1)]
    split = "|".join(f"{first.capitalize()} {second.capitalize()}" for first, second in pairs)
    return rf"\b(?:{split})"


def count_terms(
    texts: list[str], wanted: Collection[str], deadline: float | None = None
) -> list[Counts]:
    """Count the wanted terms in each text; texts after the deadline get no counts.

    An irregular form of a wanted word counts as the word. Texts are folded together, because
    folding costs more per call than per character.
    """
    forms = {form: term for term in wanted for form in word_forms().get(term, ())}
    forms |= {term: term for term in forms.keys() & wanted}
    heads = {term[:HEAD_LETTERS] for term in (*wanted, *forms)}
    counts: list[Counts] = []
    for start in range(0, len(texts), FOLDED_TOGETHER):
        if deadline is not None and time.monotonic() > deadline:
            break
        together = texts[start : start + FOLDED_TOGETHER]
        folded = fold_text("\n".join(text.replace("\n", " ") for text in together)).split("\n")
        for text in folded:
            counted: Counts = {}
            for own in terms_of(text, heads):
                term = forms.get(own, own)
                if term in wanted:
                    counted[term] = counted.get(term, 0.0) + 1.0
            counts.append(counted)
    return counts + [{} for _ in texts[len(counts) :]]
