"""Brave's search endpoints: web, news, videos, images and the context for language models."""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from . import brave_answers, brave_sections
from .brave_sections import View
from .corpus import CORPUS, Document, Hit, Query, correct_spelling, of_kind, parse_query
from .messages import Answer, RecordedRequest, ServerState, json_reply

if TYPE_CHECKING:
    from collections.abc import Callable

    from .brave_parameters import Period

# A document below this share of the best score does not get a section of its own.
SECTION_SHARE = 0.35
THRESHOLD_SHARES = {"disabled": 0.0, "lenient": 0.1, "balanced": 0.2, "strict": 0.5}
CHARACTERS_A_TOKEN = 4
RICH_VERTICALS = ("weather", "calculator")


@dataclass(frozen=True)
class Call:
    """A checked request."""

    request: RecordedRequest
    state: ServerState
    key: str
    plans: frozenset[str]
    values: dict[str, Any]

    @property
    def origin(self) -> tuple[float, float] | None:
        """Where the user is, if the location headers say it."""
        latitude, longitude = self.values["x-loc-lat"], self.values["x-loc-long"]
        return None if latitude is None or longitude is None else (latitude, longitude)


@dataclass(frozen=True)
class Search:
    """The documents found for a call, before they are cut to a page."""

    query: Query
    altered: str | None
    hits: list[Hit]
    hidden: bool

    @property
    def best(self) -> float:
        """The score of the best document."""
        return self.hits[0].score if self.hits else 0.0

    def view(self, values: dict[str, Any], decorations: bool = False) -> View:
        """How the results of this search are shown."""
        return View(
            terms=self.query.terms,
            now=brave_sections.utc_now(),
            decorations=decorations,
            extra_snippets=values.get("extra_snippets", False),
            fetch_metadata=values.get("include_fetch_metadata", False),
        )


def run_search(values: dict[str, Any]) -> Search:
    """Rank the corpus, and apply spelling, freshness, safesearch and goggles."""
    altered = correct_spelling(values["q"]) if values.get("spellcheck") else None
    query = parse_query(altered or values["q"])
    hits = CORPUS.rank(query, _base_language(values.get("search_lang", "en")))
    if values.get("freshness"):
        hits = [hit for hit in hits if _is_fresh(hit.document, values["freshness"])]
    if values.get("goggles"):
        keeps = brave_sections.goggles_filter(values["goggles"])
        hits = [hit for hit in hits if keeps(hit.document)]
    visible = [hit for hit in hits if _is_shown(hit.document, values["safesearch"])]
    return Search(query, altered, visible, hidden=len(visible) < len(hits))


def _base_language(language: str) -> str:
    return {"jp": "ja", "en-gb": "en", "pt-br": "pt", "pt-pt": "pt"}.get(language, language)


def _is_fresh(document: Document, period: Period) -> bool:
    if document.age_days is None:
        return False
    published = brave_sections.utc_now() - dt.timedelta(days=document.age_days)
    return period.contains(published.date())


def _is_shown(document: Document, safesearch: str) -> bool:
    """Strict hides adult pages; moderate hides only their pictures and films."""
    if not document.mature or safesearch == "off":
        return True
    return safesearch == "moderate" and document.web


def _page(documents: list[Document], values: dict[str, Any]) -> list[Document]:
    """The documents of one page; offset counts pages."""
    start = values.get("offset", 0) * values["count"]
    return documents[start : start + values["count"]]


def query_block(call: Call, search: Search, more: bool = False) -> dict[str, Any]:
    values = call.values
    block = {
        "original": values["q"],
        "show_strict_warning": search.hidden,
        "is_navigational": False,
        "is_news_breaking": any((hit.document.news or {}).get("breaking") for hit in search.hits),
        "spellcheck_off": not values["spellcheck"],
        "country": values["country"].lower(),
        "bad_results": not search.hits,
        "should_fallback": not search.hits,
        "postal_code": values["x-loc-postal-code"],
        "city": values["x-loc-city"],
        "header_country": values["x-loc-country"].lower(),
        "more_results_available": more,
        "state": values["x-loc-state"] or values["x-loc-state-name"],
        "language": {"main": _base_language(values["search_lang"])},
    }
    if search.altered:
        block |= {"altered": search.altered, "cleaned": search.altered}
    if search.query.sites:
        block["search_operators"] = {
            "applied": True,
            "cleaned_query": search.query.text,
            "sites": list(search.query.sites),
        }
    return block


def answer_web(call: Call) -> Answer:
    """GET|POST /web/search."""
    values = call.values
    search = run_search(values)
    view = search.view(values, decorations=values["text_decorations"])
    found = of_kind(search.hits, "web")
    more = len(found) > (values["offset"] + 1) * values["count"]
    document: dict[str, Any] = {"type": "search"}
    document["query"] = query_block(call, search, more)
    page = _page(found, values) if _is_wanted("web", values) else []
    if page:
        results = [brave_sections.web_result(one, view) for one in page]
        document["web"] = {"type": "search", "results": results, "family_friendly": True}
        if values["goggles"]:
            document["web"]["mutated_by_goggles"] = True
    if values["offset"] == 0:
        document |= _sections(call, search, view)
        document |= _summarizer_section(call, search)
        document |= _rich_section(values)
    document["mixed"] = _mixed(document)
    return json_reply(document)


def _is_wanted(section: str, values: dict[str, Any]) -> bool:
    return values["result_filter"] is None or section in values["result_filter"]


class Section(NamedTuple):
    """A section besides the web results: which documents it shows, and how."""

    kind: str
    size: int
    show: Callable[[list[Document], View, Call], dict[str, Any]]


def _each(section_type: str, shape: Callable[[Document, View], dict[str, Any]]) -> Any:
    """The `show` of a section with one result for each document."""

    def show(documents: list[Document], view: View, _call: Call) -> dict[str, Any]:
        results = [shape(document, view) for document in documents]
        return {"type": section_type, "results": results, "mutated_by_goggles": False}

    return show


def _infobox(documents: list[Document], view: View, _call: Call) -> dict[str, Any]:
    return brave_sections.infobox_section(documents[0], view)


def _locations(documents: list[Document], _view: View, call: Call) -> dict[str, Any]:
    units = call.values["units"]
    places = [brave_sections.place_result(one, call.origin, units) for one in documents]
    return {"type": "locations", "results": places}


def _faq(documents: list[Document], _view: View, _call: Call) -> dict[str, Any]:
    questions = [entry for one in documents for entry in brave_sections.faq_results(one)]
    return {"type": "faq", "results": questions}


# Name of a section -> the section, in the order of an answer.
SECTIONS = {
    "videos": Section("video", 5, _each("videos", brave_sections.video_result)),
    "faq": Section("faq", 5, _faq),
    "discussions": Section("discussion", 4, _each("search", brave_sections.discussion_result)),
    "news": Section("news", 5, _each("news", brave_sections.news_result)),
    "locations": Section("place", 5, _locations),
    "infobox": Section("infobox", 1, _infobox),
}


def _sections(call: Call, search: Search, view: View) -> dict[str, Any]:
    """Every section besides the web results that is wanted and has documents."""
    relevant = [hit for hit in search.hits if hit.score >= SECTION_SHARE * search.best]
    moderate = call.values["safesearch"] != "off"
    found: dict[str, Any] = {}
    for name, section in SECTIONS.items():
        if not _is_wanted(name, call.values):
            continue
        documents = of_kind(relevant, section.kind)[: section.size]
        if name == "videos" and moderate:
            documents = [document for document in documents if not document.mature]
        if documents:
            found[name] = section.show(documents, view, call)
    return found


def _summarizer_section(call: Call, search: Search) -> dict[str, Any]:
    """The key of a summary, for keys of the discontinued plan only."""
    text = call.values["q"]
    if not call.values["summary"] or "legacy" not in call.plans:
        return {}
    if not _is_wanted("summarizer", call.values):
        return {}
    if not search.hits and not brave_answers.asks_for_summary_state(text):
        return {}
    key = brave_answers.summarizer_key(text, call.key, call.values, call.state)
    return {"summarizer": {"type": "summarizer", "key": key}}


def _rich_section(values: dict[str, Any]) -> dict[str, Any]:
    """A hint that a rich result can be fetched; its key carries vertical and query."""
    vertical = next((name for name in RICH_VERTICALS if name in values["q"].lower()), None)
    if vertical is None or not values["enable_rich_callback"]:
        return {}
    callback_key = f"{vertical}:{values['q']}".encode().hex()
    hint = {"vertical": vertical, "callback_key": callback_key}
    return {"rich": {"type": "rich", "hint": hint}}


def _mixed(document: dict[str, Any]) -> dict[str, Any]:
    """The order of the page: some web results, the sections, the other web results."""
    results = document.get("web", {}).get("results", [])
    web = [{"type": "web", "index": index, "all": False} for index in range(len(results))]
    sections = [
        {"type": name, "index": 0, "all": True}
        for name in SECTIONS
        if name in document and name != "infobox"
    ]
    side = [{"type": "infobox", "index": 0, "all": True}] if "infobox" in document else []
    return {"type": "mixed", "main": web[:2] + sections + web[2:], "top": [], "side": side}


def answer_news(call: Call) -> Answer:
    """GET|POST /news/search."""
    return _answer_kind(call, "news", "news", brave_sections.news_result)


def answer_videos(call: Call) -> Answer:
    """GET|POST /videos/search."""
    return _answer_kind(call, "video", "videos", brave_sections.video_result)


def answer_images(call: Call) -> Answer:
    """GET /images/search."""
    return _answer_kind(call, "image", "images", brave_sections.image_result)


def _answer_kind(
    call: Call, kind: str, name: str, shape: Callable[[Document, View], dict[str, Any]]
) -> Answer:
    search = run_search(call.values)
    found = of_kind(search.hits, kind)
    if call.values["safesearch"] != "off" and kind != "news":
        found = [document for document in found if not document.mature]
    view = search.view(call.values, decorations=kind == "news")
    document: dict[str, Any] = {
        "type": name,
        "query": query_block(call, search),
        "results": [shape(one, view) for one in _page(found, call.values)],
    }
    if kind != "news":
        document["extra"] = {"might_be_offensive": False}
    return json_reply(document)


def answer_context(call: Call) -> Answer:
    """GET|POST /llm/context."""
    values = call.values
    search = run_search(values)
    share = THRESHOLD_SHARES[values["context_threshold_mode"]]
    relevant = [hit for hit in search.hits if hit.score >= share * search.best]
    urls = min(values["count"], values["maximum_number_of_urls"])
    pages = of_kind(relevant, "web")[:urls]
    generic = _context_entries(pages, values)
    grounding: dict[str, Any] = {"generic": generic, "poi": None, "map": []}
    shown = [document for document in pages if document.url in {one["url"] for one in generic}]
    if _is_local(call):
        places = of_kind(relevant, "place")
        grounding["map"] = [_context_place(place) for place in places]
        if places and relevant[0].document is places[0]:
            grounding["poi"] = grounding["map"].pop(0)
        shown += places
    view = search.view(values)
    with_metadata = values["enable_source_metadata"]
    sources = {one.url: brave_sections.context_source(one, view, with_metadata) for one in shown}
    return json_reply({"grounding": grounding, "sources": sources})


def _context_entries(pages: list[Document], values: dict[str, Any]) -> list[dict[str, Any]]:
    """Snippets of the pages within the budgets of tokens and of snippets."""
    tokens_left = values["maximum_number_of_tokens"]
    snippets_left = values["maximum_number_of_snippets"]
    entries = []
    for page in pages:
        budget = min(tokens_left, values["maximum_number_of_tokens_per_url"])
        limit = min(snippets_left, values["maximum_number_of_snippets_per_url"])
        snippets = _fitting(_context_snippets(page), budget * CHARACTERS_A_TOKEN)[:limit]
        if not snippets:
            break
        tokens_left -= sum(map(len, snippets)) // CHARACTERS_A_TOKEN
        snippets_left -= len(snippets)
        entries.append({"url": page.url, "title": page.title, "snippets": snippets})
    return entries


def _context_snippets(page: Document) -> list[str]:
    """Pairs of sentences; structured data comes as a text that holds JSON, as in live answers."""
    pairs = [" ".join(page.text[start : start + 2]) for start in range(0, len(page.text), 2)]
    return pairs + [json.dumps(entry, ensure_ascii=False) for entry in page.faq]


def _fitting(snippets: list[str], characters: int) -> list[str]:
    fitting = []
    for snippet in snippets:
        characters -= len(snippet)
        if characters < 0:
            break
        fitting.append(snippet)
    return fitting


def _is_local(call: Call) -> bool:
    """Whether places are wanted; unless it is said, location headers decide."""
    wanted: bool | None = call.values["enable_local"]
    if wanted is not None:
        return wanted
    return any(name.lower().startswith("x-loc-") for name, _ in call.request.headers)


def _context_place(place: Document) -> dict[str, Any]:
    return {"name": place.title, "url": place.url, "title": place.title, "snippets": place.text}
