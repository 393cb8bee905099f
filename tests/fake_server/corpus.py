"""The documents of the fake web, and how they are ranked for a query.

Ranking is BM25 over words, and over pairs of characters for scripts without spaces. It is
deterministic: equal scores keep the order of documents.json. Texts are plain; a provider that
sends markup escapes and decorates them itself.

Two words of a query are not searched for: with faultempty nothing is found, whoever is asked;
pagefault:NAME makes pages of the results fail (local_links.py).
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

KINDS = ("web", "news", "video", "image", "discussion", "faq", "place", "infobox")
TITLE_WEIGHT = 3
LANGUAGE_BONUS = 1.25
SATURATION = 1.2
LENGTH_WEIGHT = 0.75

_UNSPACED = r"\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
# The marks of Arabic and Devanagari belong to their words, but \w does not match them.
_MARKS = r"\u0300-\u036f\u064b-\u065f\u0900-\u097f"
_TOKEN = re.compile(rf"(?P<unspaced>[{_UNSPACED}]+)|(?:(?![{_UNSPACED}_])[\w{_MARKS}])+")
_SITE = re.compile(r"(?<!\S)(?P<minus>-?)site:(?P<host>\S+)", re.IGNORECASE)
PAGE_FAULT = re.compile(
    r"(?<!\S)pagefault:(?P<name>[a-z0-9]+)(?::(?P<which>\d+|all))?(?!\S)", re.IGNORECASE
)
_EMPTY = re.compile(r"\bfaultempty\b")
_CORRECTIONS = {
    "artifical": "artificial",
    "chees": "chess",
    "expresso": "espresso",
    "inteligence": "intelligence",
    "pyhton": "python",
    "pythn": "python",
    "quantom": "quantum",
    "sourdoug": "sourdough",
    "tutoriel": "tutorial",
    "vaccin": "vaccine",
}


@lru_cache(maxsize=20_000)
def _term(word: str) -> str:
    """The form of a word that is compared: no case, no accents, no plural s."""
    decomposed = unicodedata.normalize("NFKD", word.casefold())
    bare = re.sub(r"[\u0300-\u036f]", "", decomposed)
    plain = unicodedata.normalize("NFC", bare)
    if len(plain) > 3 and plain.endswith("s") and not plain.endswith("ss"):
        return plain[:-1]
    return plain


_STOP_TEXT = (
    "a an and are as at be but by can do does for from has how i in is it its me my not of on "
    "or that the this to was what when where which who why will with you your"
)
STOP_WORDS = frozenset(map(_term, _STOP_TEXT.split()))


@dataclass(frozen=True)
class Document:
    """One page. Its detail fields say as what else than a page it can appear."""

    title: str
    host: str
    path: str
    language: str
    age_days: float | None
    text: list[str]
    web: bool = True
    mature: bool = False
    thumbnail: bool = True
    news: dict[str, Any] | None = None
    video: dict[str, Any] | None = None
    image: dict[str, Any] | None = None
    discussion: dict[str, Any] | None = None
    faq: list[dict[str, str]] = field(default_factory=list)
    place: dict[str, Any] | None = None
    infobox: dict[str, Any] | None = None

    @property
    def url(self) -> str:
        """The public address; host and path stay apart for those who serve the page."""
        return f"https://{self.host}{self.path}"

    @cached_property
    def kinds(self) -> frozenset[str]:
        """As what the document can appear. An empty video is a video without details."""
        found = {"web"} if self.web else set()
        found |= {name for name in KINDS[1:] if getattr(self, name) not in (None, [])}
        return frozenset(found)


@dataclass(frozen=True)
class Query:
    """A parsed query: its terms, and the hosts that site: operators ask for or rule out."""

    text: str
    terms: frozenset[str]
    sites: tuple[str, ...] = ()
    excluded_sites: tuple[str, ...] = ()

    def allows(self, host: str) -> bool:
        """Whether the site: operators let this host through."""
        if any(on_site(host, site) for site in self.excluded_sites):
            return False
        return not self.sites or any(on_site(host, site) for site in self.sites)


@dataclass(frozen=True)
class Hit:
    """A document that matches, and how well."""

    document: Document
    score: float


def parse_query(text: str) -> Query:
    """The terms of a query without stop words, and its site: operators."""
    if _EMPTY.search(text):
        return Query(text, frozenset())
    text = PAGE_FAULT.sub(" ", text)
    sites: dict[bool, list[str]] = {True: [], False: []}
    for match in _SITE.finditer(text):
        sites[bool(match["minus"])].append(match["host"].lower())
    words = _SITE.sub(" ", text)
    terms = frozenset(term for term, _, _ in tokens(words) if term not in STOP_WORDS)
    return Query(" ".join(words.split()), terms, tuple(sites[False]), tuple(sites[True]))


def on_site(host: str, site: str) -> bool:
    """Whether the host is the site or a part of it."""
    return host == site or host.endswith("." + site)


def correct_spelling(text: str) -> str | None:
    """The query with known misspellings corrected; None when there is nothing to correct."""
    corrected = re.sub(r"\w+", lambda match: _correct_word(match[0]), text)
    return corrected if corrected != text else None


@lru_cache(maxsize=4_000)
def tokens(text: str) -> tuple[tuple[str, int, int], ...]:
    """Every term of a text with its start and end: words, or pairs in unspaced scripts.

    Sentences of the corpus are asked for again and again, hence the cache.
    """
    return tuple(_tokenised(text))


def _tokenised(text: str) -> Iterator[tuple[str, int, int]]:
    for match in _TOKEN.finditer(text):
        start, end = match.span()
        if not match["unspaced"]:
            yield _term(match[0]), start, end
        elif end - start == 1:
            yield match[0], start, end
        else:
            for position in range(start, end - 1):
                yield text[position : position + 2], position, position + 2


def matched_spans(text: str, terms: frozenset[str]) -> list[tuple[int, int]]:
    """Where the text contains terms; adjoining pairs of characters become one span."""
    spans: list[tuple[int, int]] = []
    for term, start, end in tokens(text):
        if term not in terms:
            continue
        if spans and start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return spans


def sentences_by_relevance(document: Document, terms: frozenset[str]) -> list[str]:
    """The sentences of a document, those with the most matches first."""
    return sorted(document.text, key=lambda text: -len(matched_spans(text, terms)))


class Corpus:
    """An inverted index over documents, built once."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self.documents = tuple(documents)
        counts = [_term_counts(document) for document in self.documents]
        mean_length = sum(sum(count.values()) for count in counts) / max(len(counts), 1)
        containing = Counter(term for count in counts for term in count)
        self._postings: dict[str, list[tuple[int, float]]] = {}
        for index, count in enumerate(counts):
            ratio = sum(count.values()) / mean_length
            norm = SATURATION * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * ratio)
            for term, times in count.items():
                rarity = (len(counts) - containing[term] + 0.5) / (containing[term] + 0.5)
                score = math.log(1 + rarity) * times * (SATURATION + 1) / (times + norm)
                self._postings.setdefault(term, []).append((index, score))

    def rank(self, query: Query, language: str = "") -> list[Hit]:
        """Every document with a term of the query, best first; the language is a preference."""
        scores: dict[int, float] = {}
        for term in sorted(query.terms):
            for index, score in self._postings.get(term, ()):
                scores[index] = scores.get(index, 0.0) + score
        hits = []
        for index in sorted(scores):
            document = self.documents[index]
            if query.allows(document.host):
                bonus = LANGUAGE_BONUS if document.language == language else 1.0
                hits.append(Hit(document, scores[index] * bonus))
        return sorted(hits, key=lambda hit: -hit.score)


def of_kind(hits: Iterable[Hit], kind: str) -> list[Document]:
    """The documents among the hits that can appear as this kind."""
    return [hit.document for hit in hits if kind in hit.document.kinds]


def load_documents(name: str = "documents.json") -> list[Document]:
    """The documents of a file of this folder."""
    text = Path(__file__).with_name(name).read_text("utf-8")
    return [Document(**entry) for entry in json.loads(text)]


def _term_counts(document: Document) -> Counter[str]:
    counts = Counter(term for text in _indexed_texts(document) for term, _, _ in tokens(text))
    for term, _, _ in tokens(document.title):
        counts[term] += TITLE_WEIGHT
    return Counter({term: times for term, times in counts.items() if term not in STOP_WORDS})


def _indexed_texts(document: Document) -> list[str]:
    texts = [*document.text, document.host.partition(".")[0]]
    texts += (document.video or {}).get("tags", [])
    texts += (document.place or {}).get("categories", [])
    texts += [entry["question"] for entry in document.faq]
    if document.place:
        texts.append(document.place["locality"])
    return texts


def _correct_word(word: str) -> str:
    return _CORRECTIONS.get(word.lower(), word)


CORPUS = Corpus(load_documents())
