"""Grounded answers: the corpus ranked for the question, its sentences quoted, each with sources.

The shape of an answer is the real API's, with its habits: links are redirects with a token of
their own for each chunk, titles are sites, offsets count bytes, and a start of 0 is left out. A
key can ask for one of the odder shapes that were seen (SHAPES).
"""

from __future__ import annotations

import base64
import binascii
import html
import json
import re
from datetime import datetime, timedelta, timezone
from functools import cache
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from .corpus import CORPUS, Document, of_kind, parse_query, sentences_by_relevance
from .faults import fault_answer
from .gemini_errors import unknown_path
from .gemini_requests import SUCCESSORS, Question
from .messages import Answer, RecordedRequest, Reply, ServerState

if TYPE_CHECKING:
    from collections.abc import Callable

REDIRECT_PATH = "/grounding-api-redirect/"
REDIRECT_HOST = "https://vertexaisearch.cloud.google.com"
TOKEN_START = "AUZIYQ"
PAGES = 3


def redirect_link(url: str, number: int) -> str:
    """A redirect link to a page; the number makes its token differ from every other one."""
    token = base64.urlsafe_b64encode(json.dumps([number, url]).encode()).decode()
    return f"{REDIRECT_HOST}{REDIRECT_PATH}{TOKEN_START}{token}"


def answer_redirect(request: RecordedRequest, state: ServerState) -> Answer:
    """302 with the page in Location; a link to fault:NAME meets that fault."""
    token = request.path.removeprefix(REDIRECT_PATH)
    try:
        decoded = base64.urlsafe_b64decode(token.removeprefix(TOKEN_START))
        url = json.loads(decoded)[1]
    except (ValueError, binascii.Error):
        return unknown_path()
    if url.startswith("fault:"):
        fault = fault_answer(url.removeprefix("fault:"), request, state, {})
        return fault or unknown_path()
    return Reply(HTTPStatus.FOUND, b"", "text/html; charset=UTF-8", (("Location", url),))


def grounded_answer(question: Question, state: ServerState, names_domain: bool) -> dict[str, Any]:
    """The answer to a question; names_domain: whether chunks name the page's site (Vertex AI)."""
    query = question.text.partition("\n")[0]
    pages = _pages(query, question) if question.searches else []
    text = ""
    supports: list[dict[str, Any]] = []
    chunks: list[dict[str, Any]] = []
    for rank, page in enumerate(pages):
        sentences = sentences_by_relevance(page, parse_query(query).terms)
        for sentence in sentences[: 2 if rank == 0 else 1]:
            text += _lead(text, rank)
            start = len(text.encode())
            text += sentence
            supports.append(_support(start, sentence, [len(chunks)]))
            chunks.append(_chunk(page, state, names_domain))
    if len(chunks) > 1:  # the last sentence is supported by the first page, too
        supports[-1]["groundingChunkIndices"].append(0)
    candidate: dict[str, Any] = {
        "content": {"parts": [{"text": text or _without_sources(query)}], "role": "model"},
        "finishReason": "STOP",
        "index": 0,
    }
    if question.searches:
        candidate["groundingMetadata"] = _metadata(question.text, query, chunks, supports)
    if question.reads_urls:
        candidate["urlContextMetadata"] = {"urlMetadata": _retrieved(question.text)}
    if question.thoughts:
        thought = {"text": f"The user asks: {query}", "thought": True}
        candidate["content"]["parts"].insert(0, thought)
    return {
        "candidates": [candidate],
        "usageMetadata": _usage(question.text, text),
        "modelVersion": SUCCESSORS.get(question.model.name, question.model.name),
        "responseId": f"response-{state.count('responses')}",
    }


def _pages(query: str, question: Question) -> list[Document]:
    pages = of_kind(CORPUS.rank(parse_query(query)), "web")
    if question.window:
        start, end = question.window
        now = datetime.now(timezone.utc)
        dated = [(page, page.age_days) for page in pages if page.age_days is not None]
        pages = [page for page, age in dated if start <= now - timedelta(days=age) <= end]
    return [page for page in pages if not page.mature][:PAGES]


def _lead(text: str, rank: int) -> str:
    if not text:
        return ""
    return " " if rank == 0 else "\n\n- "


def _support(start: int, words: str, indices: list[int]) -> dict[str, Any]:
    segment: dict[str, Any] = {"startIndex": start} if start else {}
    segment |= {"endIndex": start + len(words.encode()), "text": words}
    return {"segment": segment, "groundingChunkIndices": indices}


def _chunk(page: Document, state: ServerState, names_domain: bool) -> dict[str, Any]:
    link = redirect_link(page.url, state.count("chunks"))
    domain = {"domain": page.host} if names_domain else {}
    return {"web": {"uri": link, "title": page.host, **domain}}


def _without_sources(query: str) -> str:
    return f"I could not find anything about “{query}”."


def _metadata(
    text: str, query: str, chunks: list[dict[str, Any]], supports: list[dict[str, Any]]
) -> dict[str, Any]:
    """What was searched and found; a blank query among the others was seen in real answers."""
    site = re.search(r"site:\S+", text)
    first = f"{query} {site[0].rstrip('.,')}" if site else query
    metadata: dict[str, Any] = {
        "webSearchQueries": [first, "", f"{query} in detail"],
        "searchEntryPoint": {"renderedContent": _suggestions(first)},
    }
    if chunks:
        metadata |= {"groundingChunks": chunks, "groundingSupports": supports}
    return metadata


def _suggestions(query: str) -> str:
    """The search suggestions: one link, and a style sheet that is much longer, as in real ones."""
    address = f"https://www.google.com/search?q={quote(query)}"
    return (
        f"<style>\n{_style_sheet()}</style>\n"
        f'<div class="container"><a class="chip" href="{address}">{html.escape(query)}</a></div>'
    )


@cache
def _style_sheet() -> str:
    names = ("container", "headline", "chip", "chip:hover", "chip:active", "carousel", "badge")
    rules = []
    for scheme, ink, paper in (("light", "#202020", "#fafafa"), ("dark", "#f0f0f0", "#181818")):
        rules += [f"@media (prefers-color-scheme: {scheme}) {{"]
        rules += [
            f"  .{name} {{\n    align-items: center;\n    background-color: {paper};\n"
            f"    border: 1px solid {ink};\n    border-radius: {4 + place}px;\n"
            f"    box-sizing: border-box;\n    color: {ink};\n    display: inline-flex;\n"
            f"    font-family: sans-serif;\n    line-height: {18 + place}px;\n"
            f"    padding: {6 + place}px 12px;\n    white-space: nowrap;\n  }}"
            for place, name in enumerate(names)
        ]
        rules += ["}"]
    return "\n".join(rules) + "\n"


def _retrieved(text: str) -> list[dict[str, str]]:
    known = {page.url for page in CORPUS.documents}
    return [
        {
            "retrievedUrl": url,
            "urlRetrievalStatus": "URL_RETRIEVAL_STATUS_"
            + ("SUCCESS" if url in known else "ERROR"),
        }
        for url in re.findall(r"https?://[^\s]+", text)
    ]


def _usage(asked: str, answered: str) -> dict[str, int]:
    counts = {
        "promptTokenCount": len(asked) // 4 + 1,
        "candidatesTokenCount": len(answered) // 4 + 1,
        "toolUsePromptTokenCount": 60,
        "thoughtsTokenCount": 40,
    }
    return {**counts, "totalTokenCount": sum(counts.values())}


# ----- shapes that were seen instead of the usual one


def _candidate(answer: dict[str, Any]) -> dict[str, Any]:
    candidate: dict[str, Any] = answer["candidates"][0]
    return candidate


def _ungrounded(answer: dict[str, Any]) -> None:
    """The model answered without a search: no metadata at all."""
    _candidate(answer).pop("groundingMetadata")


def _sourceless(answer: dict[str, Any]) -> None:
    """Queries and suggestions, but no chunks."""
    metadata = _candidate(answer)["groundingMetadata"]
    metadata.pop("groundingChunks")
    metadata.pop("groundingSupports")


def _hollow(answer: dict[str, Any]) -> None:
    """Chunks without content, and supports that point to them."""
    metadata = _candidate(answer)["groundingMetadata"]
    metadata["groundingChunks"] = [{} for _ in metadata["groundingChunks"]]


def _drifted(answer: dict[str, Any]) -> None:
    """Offsets that are off by one or two bytes."""
    for number, support in enumerate(_candidate(answer)["groundingMetadata"]["groundingSupports"]):
        segment = support["segment"]
        for name in ("startIndex", "endIndex"):
            segment[name] = segment.get(name, 0) + 1 + number % 2


def _thoughtful(answer: dict[str, Any]) -> None:
    """Parts that are no text of the answer, before it and within it."""
    content = _candidate(answer)["content"]
    text = content["parts"][-1]["text"]
    half = len(text) // 2
    content["parts"] = [
        {"text": "Secret thought one.", "thought": True},
        {"toolCall": {"toolType": "GOOGLE_SEARCH_WEB", "id": "1"}},
        {"toolResponse": {"toolType": "GOOGLE_SEARCH_WEB", "id": "1"}},
        {"text": text[:half]},
        {"text": "Secret thought two.", "thought": True},
        {"text": text[half:], "thoughtSignature": "c2lnbmF0dXJl"},
    ]


def _blocked(answer: dict[str, Any]) -> None:
    """The prompt was blocked: no candidates."""
    feedback = {"blockReason": "SAFETY", "blockReasonMessage": "The prompt was blocked."}
    answer |= {"candidates": [], "promptFeedback": feedback}


def _stopped(answer: dict[str, Any]) -> None:
    """The answer was stopped for safety after its first words."""
    content = {"parts": [{"text": "The first words"}], "role": "model"}
    answer["candidates"] = [{"content": content, "finishReason": "SAFETY", "index": 0}]


def _armored(answer: dict[str, Any]) -> None:
    """The answer was stopped by Model Armor, a filter of Vertex AI."""
    answer["candidates"] = [{"finishReason": "MODEL_ARMOR", "index": 0}]


def _empty(answer: dict[str, Any]) -> None:
    """The model gave up: no content."""
    message = "Model failed to generate content due to internal error."
    answer["candidates"] = [{"finishReason": "OTHER", "finishMessage": message}]


def _silent(answer: dict[str, Any]) -> None:
    """The model stopped regularly without a word."""
    answer["candidates"] = [{"content": {"role": "model"}, "finishReason": "STOP", "index": 0}]


def _cut(answer: dict[str, Any]) -> None:
    """The answer ends at the token limit."""
    _candidate(answer)["finishReason"] = "MAX_TOKENS"


def _continued(answer: dict[str, Any]) -> None:
    """The answer would go on in a second request."""
    _candidate(answer).update(finishReason="CONTINUATION", continuationToken="dG9rZW4=")


SHAPES: dict[str, Callable[[dict[str, Any]], None]] = {
    "ungrounded": _ungrounded,
    "sourceless": _sourceless,
    "hollow": _hollow,
    "drifted": _drifted,
    "thoughtful": _thoughtful,
    "blocked": _blocked,
    "stopped": _stopped,
    "armored": _armored,
    "empty": _empty,
    "silent": _silent,
    "cut": _cut,
    "continued": _continued,
}
