"""arXiv's search API, which returns Atom feeds."""

from __future__ import annotations

import re
import time

from websearch.base.untrusted import unescape
from websearch.engines.base.days import period
from websearch.engines.base.engine import DAYS, Engine
from websearch.engines.base.messages import ResultPage
from websearch.engines.base.open_sources import (
    FEWER_WORDS,
    api_request,
    bad_query,
    named_authors,
    raw_text,
    refusal,
    search_words,
    source_result,
    utc_time,
)
from websearch.engines.base.result_pages import layout_error, wall_error
from websearch.kit import SearchError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from websearch.engines.base.messages import EngineRequest
    from websearch.kit import Response

ENGINE = Engine(
    name="arxiv",
    title="arXiv",
    module=__name__,
    address=("ARXIV_BASE_URL", "https://export.arxiv.org"),
    sources=("papers",),
    # arXiv's terms: one request in 3 seconds, one at a time; 0.1 seconds allow for network delay.
    interval=3.1,
    serial=True,
    filters={"since": (*DAYS, "range")},
    instead={"since": "Use day, week, month, year or a range of dates."},
    operators=False,
    max_query=500,
    max_count=50,
)
_FIELD = r"-?(?:ti|au|abs|co|jr|cat|rn|all):\S+"  # a word with an API field
_NAME = r"<name>([^<]{1,500})</name>"
_CATEGORY = r'<arxiv:primary_category[^<>]{0,200}?term="([^"<>]{1,40})"'
_MOMENT = "%Y%m%d%H%M"

# ===== requests ===================================================================================


def first_request(params: dict[str, Any]) -> EngineRequest:
    """Return the GET request for a search, with a second request as "if_empty".

    The second request has fewer words if there are many. An empty response may also be an arXiv
    error; the same search succeeds later. Raises SearchError (invalid_input).
    """
    request = search_request(params, search_words(ENGINE, params["query"]))
    fewer_words = search_words(ENGINE, params["query"], FEWER_WORDS)
    return request._replace(if_empty=search_request(params, fewer_words))


def search_request(params: dict[str, Any], words: str) -> EngineRequest:
    """Return the GET request for one search: every word and "phrase" must be in the record."""
    terms = [search_term(word) for word in re.findall(r'[\w-]+:"[^"]*"|"[^"]*"|\S+', words)]
    known = [term for term in terms if term]
    if not known:
        raise SearchError(
            "invalid_input", "arXiv needs at least one word, but the query has none.", "Add a word."
        )
    if "since" in params:
        start, end = (utc_time(moment, _MOMENT) for moment in period(params["since"], time.time()))
        known.append(f"submittedDate:[{start} TO {end}]")
    fields = {
        "search_query": " AND ".join(known),
        "max_results": str(params["count"]),
        "sortBy": "relevance",
        "sortOrder": "descending",
    }
    return api_request(ENGINE, "/api/query", fields, Accept="application/atom+xml")


def search_term(word: str) -> str:
    """Return a word or phrase as a term of the query language; "" if it is only punctuation."""
    if re.fullmatch(_FIELD, word):
        return word
    plain = " ".join(re.findall(r"\w[\w.+-]*", word))
    return f'all:"{plain}"' if " " in plain else plain and f"all:{plain}"


# ===== responses ==================================================================================


def read_answer(request: EngineRequest, response: Response) -> ResultPage:
    """Return the result page in a response. Raises SearchError."""
    return ResultPage(results=[paper_result(entry) for entry in feed_entries(response)])


def feed_entries(response: Response) -> list[str]:
    """Return the entries of a response's feed; raises SearchError."""
    text = response.text()
    if response.status in (429, 503) and "rate exceeded" in text[:500].lower():
        raise wall_error(ENGINE, response, f"HTTP {response.status} (Rate exceeded)")
    entries = re.split(r"<entry(?:\s[^<>]*)?>", text)[1:]
    if response.status == 400 and entries:
        reason = element_text(entries[0], "summary")
        raise bad_query(ENGINE, response, reason, "Use plain words.")
    if response.status != 200:
        raise refusal(ENGINE, response)
    if "http://www.w3.org/2005/Atom" not in text[:2_000]:
        raise layout_error(ENGINE, response)
    return entries


def paper_result(entry: str) -> dict[str, Any]:
    """Return a feed entry as a result: the page of the paper's newest version."""
    links = (link for link in re.findall(r"<link\s[^<>]*>", entry) if 'rel="alternate"' in link)
    url = re.search(r'href="([^"]*)"', next(links, ""))
    kind = re.search(_CATEGORY, entry)
    facts = [raw_text(unescape(kind[1])) if kind else "", element_text(entry, "summary")]
    return source_result(
        element_text(entry, "title"),
        re.sub(r"v\d+$", "", unescape(url[1])) if url else "",
        facts,
        date=element_text(entry, "published")[:10],
        author=named_authors([raw_text(unescape(name)) for name in re.findall(_NAME, entry)]),
    )


def element_text(entry: str, name: str) -> str:
    """Return the first named element of an entry as text on one line; TeX is unchanged."""
    element = re.search(rf"<{name}(?:\s[^<>]*)?>([^<]*)</{name}>", entry)
    return raw_text(unescape(element[1])) if element else ""
