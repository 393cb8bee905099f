"""The open sources' APIs, on one address; what they share: documents, words, limits.

Their documents stand in open_documents.json: questions of Stack Exchange sites, GitHub's
repositories, issues and pull requests, works with a DOI, papers of arXiv, and threads of Hacker
News, whose stories also lead to the pages of documents.json. A search finds the documents that hold
every word, so a whole question finds nothing; Crossref's those that hold any.

Limits count only where the server was told so (FakeServer(limits=True)): each API refuses what
comes faster than its own rules say, by the server's clock.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from typing import TYPE_CHECKING

from .corpus import CORPUS, Document, load_documents, parse_query, tokens
from .engine_pages import searched_words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .messages import RecordedRequest, ServerState

DOCUMENTS = load_documents("open_documents.json")
WEB_PAGES = [document for document in CORPUS.documents if document.web and not document.mature]
DAY = 86_400.0  # seconds


def documents_on(*hosts: str) -> list[Document]:
    """The documents of hosts."""
    return [document for document in DOCUMENTS if document.host in hosts]


def matching(query: str, documents: Iterable[Document], any_word: bool = False) -> list[Document]:
    """The documents that hold every (or any) word of a query, those with the most of them first."""
    terms = parse_query(searched_words(query)).terms
    found = []
    for document in documents:
        counts = Counter(term for text in document.text for term, _, _ in tokens(text))
        counts.update(term for term, _, _ in tokens(document.title))
        held = [term in counts for term in terms]
        if held and (any(held) if any_word else all(held)):
            found.append((-sum(counts[term] for term in terms), document))
    return [document for _, document in sorted(found, key=lambda one: one[0])]


def created(document: Document) -> float:
    """When a document was written, in seconds since 1970."""
    return time.time() - (document.age_days or 0) * DAY


def utc(moment: float) -> str:
    """A moment as GitHub, Algolia and arXiv write it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment))


def number_of(document: Document) -> int:
    """A number that belongs to a document: its score, stars and the like are made of it."""
    return sum(document.path.encode()) % 97


def caller_of(request: RecordedRequest) -> str:
    """The User-Agent of a request, "" if there is none."""
    return request.header("user-agent") or ""


def has_contact(request: RecordedRequest) -> bool:
    """Whether a caller names somebody who can be written to: an e-mail or web address."""
    return bool(re.search(r"\([^)]*(@|https?://)[^)]*\)", caller_of(request)))


def is_too_fast(
    name: str, request: RecordedRequest, state: ServerState, most: int, seconds: float
) -> bool:
    """Whether a request is more than the most of an API in any so many seconds."""
    return state.limits and state.rate(name, request.time, seconds) > most
