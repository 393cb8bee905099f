"""Brave's two services that write text: the Answers API, and the deprecated Summarizer."""

from __future__ import annotations

import hashlib
import json
import re
import time
from typing import TYPE_CHECKING, Any, NoReturn

from .brave_errors import RefusedError, invalid_parameters, not_found, problem
from .brave_parameters import json_object
from .corpus import CORPUS, Document, parse_query
from .messages import Answer, RecordedRequest, Reply, ServerState, Stream, json_reply

if TYPE_CHECKING:
    from collections.abc import Iterator

SOURCES = 3
PENDING_POLLS = 2
USAGE = {
    "X-Request-Requests": 1,
    "X-Request-Queries": 2,
    "X-Request-Tokens-In": 1200,
    "X-Request-Tokens-Out": 300,
    "X-Request-Requests-Cost": 0.004,
    "X-Request-Queries-Cost": 0.008,
    "X-Request-Tokens-In-Cost": 0.006,
    "X-Request-Tokens-Out-Cost": 0.0015,
    "X-Request-Total-Cost": 0.0195,
}
STREAMED_OPTIONS = ("enable_citations", "enable_entities", "enable_research")


def answer_chat(request: RecordedRequest, values: dict[str, Any]) -> Answer:
    """POST /chat/completions: a stream unless `stream` is false."""
    question = _question(json_object(request))
    _check_options(values)
    if not values["stream"]:
        return json_reply(_blocking(question, values["model"]))
    if values["enable_research"]:
        pieces = _research_pieces(question, values["research_allow_thinking"])
    else:
        pieces = _answer_pieces(question, values["enable_citations"], values["enable_entities"])
    return Stream(_events(question, pieces, values["model"]), "text/event-stream")


def summarizer_key(text: str, owner: str, values: dict[str, Any], state: ServerState) -> str:
    """The key of a summary: it looks like JSON and is not, so nobody should parse it.

    Every search starts the polls of its key anew, so that equal runs see equal answers.
    """
    digest = hashlib.sha256(f"{owner} {text} {sorted(map(str, values.items()))}".encode())
    key = (
        f'{{"query": {json.dumps(text, ensure_ascii=False)}, '
        f'"country": "{values["country"].lower()}", "language": "{values["search_lang"]}", '
        f'"safesearch": "{values["safesearch"]}", "results_hash": "{digest.hexdigest()}}}'
    )
    state.note(key, text)
    return key


def answer_summarizer(values: dict[str, Any], state: ServerState) -> Reply:
    """GET /summarizer/search: the first polls of a key find the summary unfinished."""
    query = state.noted(values["key"])
    if query is None:
        raise RefusedError(not_found("The summarizer key is unknown or has expired."))
    if "summaryfails" in query:
        return json_reply({"type": "summarizer", "status": "failed"})
    if "summarynever" in query or state.count(values["key"]) <= PENDING_POLLS:
        return json_reply({"type": "summarizer", "status": "processing"})
    return json_reply(_summary(query, values["inline_references"], values["entity_info"]))


def asks_for_summary_state(query: str) -> bool:
    """Whether the query names a state of the summary that a test wants to see."""
    return re.search("summary(fails|never|empty)", query) is not None


def _sources(query: str) -> list[Document]:
    hits = CORPUS.rank(parse_query(query))
    return [hit.document for hit in hits if hit.document.web][:SOURCES]


def _question(body: dict[str, Any]) -> str:
    """The text of the one user message that the API accepts."""
    messages = body.get("messages")
    if not isinstance(messages, list) or len(messages) != 1:
        _refuse(["body", "messages"], "Exactly one message is expected")
    message = messages[0]
    if not isinstance(message, dict) or message.get("role") != "user":
        _refuse(["body", "messages", 0, "role"], "Input should be 'user'")
    content = message.get("content")
    if not isinstance(content, str) or not content.strip():
        _refuse(["body", "messages", 0, "content"], "A text is expected")
    options = body.get("web_search_options")
    size = options.get("search_context_size") if isinstance(options, dict) else None
    if size not in (None, "low", "medium", "high"):
        _refuse(["body", "web_search_options", "search_context_size"], "low, medium or high")
    return content


def _check_options(values: dict[str, Any]) -> None:
    for name in STREAMED_OPTIONS:
        if values[name] and not values["stream"]:
            _refuse(["body", name], "This option requires stream=true")
    if values["enable_research"] and (values["enable_citations"] or values["enable_entities"]):
        _refuse(["body", "enable_research"], "Research excludes citations and entities")


def _refuse(location: list[str | int], message: str) -> NoReturn:
    raise RefusedError(invalid_parameters([problem(location, "value_error", message)]))


def _blocking(question: str, model: str) -> dict[str, Any]:
    content = "".join(_answer_pieces(question, citations=False, entities=False))
    words = len(question.split())
    produced = len(content.split())
    return {
        "id": _completion_id(question),
        "object": "chat.completion",
        "created": int(time.time()),
        "model": model,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": content},
                "finish_reason": "stop",
            }
        ],
        "usage": {
            "prompt_tokens": words,
            "completion_tokens": produced,
            "total_tokens": words + produced,
        },
    }


def _answer_pieces(question: str, citations: bool, entities: bool) -> Iterator[str]:
    """The content of an answer; every tag is a piece of its own, as the real stream has it."""
    sources = _sources(question)
    if not sources:
        yield "I could not find anything about that."
    position = 0
    for number, document in enumerate(sources, start=1):
        sentence = document.text[0]
        if number > 1:
            yield "\n"
        yield from _words(sentence)
        if citations:
            yield _tag("citation", _citation(document, number, position))
        position += len(sentence) + 1
    if entities:
        for document in sources:
            yield "\n"
            yield _tag("enum_item", _entity(document))
    if citations or entities:
        yield _tag("usage", USAGE)


def _research_pieces(question: str, thinking: bool) -> Iterator[str]:
    sources = _sources(question)
    yield _tag("queries", [question, f"{question} overview"])
    yield _tag("analyzing", {"urls": len(sources)})
    if thinking:
        yield _tag("thinking", "The sources agree on the main points.")
    yield _tag("progress", {"iteration": 1, "elapsed_seconds": 1, "queries": 2})
    yield _tag("blindspots", ["No source gives figures for this year."])
    text = " ".join(document.text[0] for document in sources)
    yield _tag("answer", {"answer": text or "I could not find anything about that."})
    yield _tag("usage", USAGE)


def _events(question: str, pieces: Iterator[str], model: str) -> Iterator[bytes]:
    """The pieces as server-sent events of OpenAI's chunk shape."""
    for piece in pieces:
        yield _event(question, model, {"content": piece}, None)
    yield _event(question, model, {}, "stop")
    yield b"data: [DONE]\n\n"


def _event(question: str, model: str, delta: dict[str, str], finish: str | None) -> bytes:
    chunk = {
        "id": _completion_id(question),
        "object": "chat.completion.chunk",
        "created": int(time.time()),
        "model": model,
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }
    return f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n".encode()


def _words(sentence: str) -> Iterator[str]:
    """A few words at a time, spaces kept."""
    parts = re.findall(r"\s*\S+", sentence)
    for start in range(0, len(parts), 3):
        yield "".join(parts[start : start + 3])


def _tag(name: str, content: Any) -> str:
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    return f"<{name}>{text}</{name}>"


def _citation(document: Document, number: int, start: int) -> dict[str, Any]:
    return {
        "start_index": start,
        "end_index": start + len(document.text[0]),
        "number": number,
        "url": document.url,
        "favicon": f"https://imgs.example.net/favicon/{document.host}",
        "snippet": document.text[0],
    }


def _entity(document: Document) -> dict[str, Any]:
    return {
        "uuid": hashlib.sha256(document.url.encode()).hexdigest()[:32],
        "name": document.title,
        "href": document.url,
        "original_tokens": f"- {document.title}",
        "instance_of": [],
        "citations": [],
    }


def _completion_id(question: str) -> str:
    return "chatcmpl-" + hashlib.sha256(question.encode("utf-8", "replace")).hexdigest()[:24]


def _summary(query: str, references: bool, entity_info: bool) -> dict[str, Any]:
    sources = [] if "summaryempty" in query else _sources(query)
    document: dict[str, Any] = {
        "type": "summarizer",
        "status": "complete",
        "title": sources[0].title if sources else query,
        "summary": _summary_messages(sources, references),
        "enrichments": _enrichments(sources),
        "followups": [f"What else is known about {source.title}?" for source in sources],
    }
    if entity_info:
        document["entities_infos"] = {
            source.title: {"provider": source.host, "description": source.text[0]}
            for source in sources
        }
    return document


def _summary_messages(sources: list[Document], references: bool) -> list[dict[str, Any]]:
    """Sentences of the first source, then all sources as a list."""
    if not sources:
        return []
    messages: list[dict[str, Any]] = []
    for sentence in sources[0].text[:2]:
        messages += [{"type": "token", "data": part} for part in _words(sentence)]
        if references:
            messages.append(_reference(sources[0], len(messages)))
        messages.append({"type": "token", "data": " "})
    messages.append({"type": "enum_start", "data": "ul"})
    messages += [{"type": "enum_item", "data": _list_item(source)} for source in sources]
    messages.append({"type": "enum_end"})
    return messages


def _reference(source: Document, position: int) -> dict[str, Any]:
    data = {
        "type": "inline_reference",
        "url": source.url,
        "start_index": position,
        "end_index": position + 1,
        "number": 1,
        "favicon": f"https://imgs.example.net/favicon/{source.host}",
        "snippet": source.text[0],
    }
    return {"type": "inline_reference", "data": data}


def _list_item(source: Document) -> dict[str, Any]:
    return {
        "uuid": hashlib.sha256(source.url.encode()).hexdigest()[:32],
        "name": source.title,
        "url": source.url,
        "text": source.text[0],
    }


def _enrichments(sources: list[Document]) -> dict[str, Any]:
    questions = [entry for source in sources for entry in source.faq]
    return {
        "raw": " ".join(source.text[0] for source in sources),
        "images": [],
        "qa": [{"answer": entry["answer"], "score": 0.9, "highlight": None} for entry in questions],
        "entities": [
            {"uuid": _list_item(source)["uuid"], "name": source.title, "url": source.url}
            for source in sources
        ],
        "context": [
            {"title": source.title, "url": source.url, "meta_url": {"hostname": source.host}}
            for source in sources
        ],
    }
