"""What a generateContent request may hold, and which models there are.

A field that the real API does not know is refused, as it does. Both spellings of a name are
understood (googleSearch and google_search), since the API reads protocol buffers as JSON.
"""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from .gemini_errors import RefusedError, invalid

if TYPE_CHECKING:
    from .messages import RecordedRequest


class Model(NamedTuple):
    """A model: what it can do, and the thinking levels or the lowest budget that it takes."""

    name: str
    levels: tuple[str, ...] = ()
    lowest_budget: int | None = None
    methods: tuple[str, ...] = ("generateContent", "countTokens")


THREE = ("low", "medium", "high")
MODELS = {
    model.name: model
    for model in (
        Model("gemini-4-hydrogen", (*THREE, "xhigh")),
        Model("gemini-4-carbon", THREE),
        Model("gemini-4-argon", THREE),
        Model("gemini-3.8-flash", THREE),
        Model("gemini-3.7-flash", THREE),
        Model("gemini-3.6-flash", ("minimal", *THREE)),
        Model("gemini-3.5-flash-lite", ("minimal", *THREE)),
        Model("gemini-3.1-flash-lite", ("minimal", *THREE)),
        Model("gemini-3.1-pro-preview", THREE),
        Model("gemini-2.5-pro", lowest_budget=128),
        Model("gemini-2.5-flash", lowest_budget=0),
        Model("gemini-2.5-flash-lite", lowest_budget=0),
        Model("gemini-flash-latest", THREE),
        Model("gemini-embedding-002", methods=("embedContent",)),
    )
}
# Models that are answered by their successor; modelVersion says so.
SUCCESSORS = {"gemini-3.7-flash": "gemini-3.8-flash", "gemini-flash-latest": "gemini-3.8-flash"}

BODY_FIELDS = {
    "contents", "systemInstruction", "tools", "toolConfig", "generationConfig", "safetySettings",
    "cachedContent", "labels",
}  # fmt: skip
TOOL_FIELDS = {"googleSearch", "urlContext", "googleSearchRetrieval", "codeExecution"}
SEARCH_FIELDS = {
    "gemini": {"timeRangeFilter", "searchTypes"},
    "vertex": {"excludeDomains", "blockingConfidence", "searchTypes"},
}


class Question(NamedTuple):
    """A checked request: its model, the text of its last turn, and what it asks for."""

    model: Model
    text: str
    searches: bool
    reads_urls: bool
    thoughts: bool
    thinking_set: bool
    window: tuple[datetime, datetime] | None


def read_body(request: RecordedRequest) -> Any:
    """The body as JSON with names in camelCase."""
    try:
        body = json.loads(request.body)
    except ValueError:
        raise RefusedError(invalid("Invalid JSON payload received. Unexpected token.")) from None
    if not isinstance(body, dict):
        raise RefusedError(
            invalid("Invalid JSON payload received. Root element must be a message.")
        )
    return _camel(body)


def check_question(model: Model, body: dict[str, Any], api: str) -> Question:
    """A request's body, checked; api is gemini or vertex."""
    _known(body, BODY_FIELDS)
    text = _last_text(body.get("contents"), needs_role=api == "vertex")
    if "systemInstruction" in body:
        _last_text([body["systemInstruction"]], needs_role=False)
    tools = body.get("tools", [])
    tool: dict[str, Any] = {}
    for entry in tools:
        _known(entry, TOOL_FIELDS)
        tool |= entry
    if "googleSearchRetrieval" in tool:
        message = "Please use google_search field instead of google_search_retrieval field."
        raise RefusedError(invalid(message))
    search = tool.get("googleSearch", {})
    _known(search, SEARCH_FIELDS[api])
    config = body.get("generationConfig", {})
    thinking = config.get("thinkingConfig", {})
    _check_thinking(model, thinking)
    return Question(
        model,
        text,
        "googleSearch" in tool,
        "urlContext" in tool,
        thinking.get("includeThoughts", False) is True,
        bool(thinking),
        _window(search.get("timeRangeFilter")),
    )


def _camel(value: Any) -> Any:
    if isinstance(value, list):
        return [_camel(item) for item in value]
    if isinstance(value, dict):
        return {
            re.sub(r"_([a-z])", lambda letter: letter[1].upper(), name): _camel(item)
            for name, item in value.items()
        }
    return value


def _known(fields: Any, known: set[str]) -> None:
    if not isinstance(fields, dict):
        raise RefusedError(invalid("Invalid value: a message was expected."))
    for name in fields:
        if name not in known:
            message = f'Invalid JSON payload received. Unknown name "{name}": Cannot find field.'
            raise RefusedError(invalid(message))


def _last_text(contents: Any, needs_role: bool) -> str:
    if not isinstance(contents, list) or not contents:
        message = "* GenerateContentRequest.contents: contents is not specified"
        raise RefusedError(invalid(message))
    for content in contents:
        _known(content, {"role", "parts"})
        if needs_role and content.get("role") not in ("user", "model"):
            raise RefusedError(invalid("Please use a valid role: user, model."))
    parts = contents[-1].get("parts")
    texts = [part.get("text") for part in parts] if isinstance(parts, list) else []
    if not texts or not all(isinstance(text, str) and text for text in texts):
        message = "* GenerateContentRequest.contents[0].parts: contents.parts must not be empty."
        raise RefusedError(invalid(message))
    return "\n".join(texts)


def _check_thinking(model: Model, config: dict[str, Any]) -> None:
    _known(config, {"thinkingLevel", "thinkingBudget", "includeThoughts"})
    level, budget = config.get("thinkingLevel"), config.get("thinkingBudget")
    if level is not None and budget is not None:
        message = "You can only set only one of thinking budget and thinking level."
        raise RefusedError(invalid(message))
    if level is not None and str(level).lower() not in model.levels:
        message = f"Thinking level {level} is not supported for this model."
        raise RefusedError(invalid(message))
    if budget is not None and model.lowest_budget is not None and budget < model.lowest_budget:
        message = f"Budget {budget} is invalid. This model only works in thinking mode."
        raise RefusedError(invalid(message))


def _window(interval: Any) -> tuple[datetime, datetime] | None:
    if interval is None:
        return None
    _known(interval, {"startTime", "endTime"})
    if set(interval) != {"startTime", "endTime"}:
        raise RefusedError(invalid("time_range_filter: set both the start time and the end time."))
    if any("." in text for text in interval.values()):
        raise RefusedError(invalid("[FIELD_INVALID] Granularity of nano is not supported"))
    start, end = (
        datetime.fromisoformat(interval[name].replace("Z", "+00:00"))
        for name in ("startTime", "endTime")
    )
    if end - start <= timedelta(days=1):
        raise RefusedError(invalid("time_range_filter: the time range is too short."))
    return start, end
