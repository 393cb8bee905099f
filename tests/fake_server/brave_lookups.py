"""Brave's smaller endpoints: places, rich results, suggestions and spelling."""

from __future__ import annotations

import re
from typing import Any

from . import brave_errors, brave_sections
from .brave_errors import RefusedError
from .brave_search import RICH_VERTICALS, Call, query_block, run_search
from .corpus import CORPUS, Document, correct_spelling, of_kind, tokens
from .messages import Answer, json_reply


def answer_places(call: Call) -> Answer:
    """GET /local/place_search: by name or by coordinates; the radius is only a bias."""
    values = call.values
    location = _place_location(values)
    search = run_search(values)
    if values["q"].strip():
        places = of_kind(search.hits, "place")
    else:
        places = list(brave_sections.PLACES.values())
    if values["location"] and location is None:
        places = []
    center = location and location["coordinates"]
    if center:
        radius = values["radius"] or float("inf")
        places.sort(key=lambda place: _nearness(place, center, radius))
    origin = call.origin or (tuple(center) if center else None)
    shown = places[: values["count"]]
    document = {
        "type": "locations",
        "query": query_block(call, search),
        "results": [brave_sections.place_result(place, origin, values["units"]) for place in shown],
        "cities": [],
        "addresses": [],
        "streets": [],
        "mixed": {"type": "mixed", "main": [], "top": [], "side": []},
        "location": location,
    }
    return json_reply(document)


def _place_location(values: dict[str, Any]) -> dict[str, Any] | None:
    """The centre of a place search: given as coordinates, or as the name of a town."""
    latitude, longitude = values["latitude"], values["longitude"]
    if (latitude is None) != (longitude is None):
        absent = "latitude" if latitude is None else "longitude"
        location: list[str | int] = ["query", absent]
        missing = brave_errors.problem(location, "missing", "Field required")
        raise RefusedError(brave_errors.invalid_parameters([missing]))
    if latitude is not None:
        return {"coordinates": [latitude, longitude], "name": "", "country": values["country"]}
    wanted = {term for term, _, _ in tokens(values["location"])}
    for document in brave_sections.PLACES.values():
        place = document.place or {}
        if wanted and {term for term, _, _ in tokens(place["locality"])} <= wanted:
            return {
                "coordinates": place["coordinates"],
                "name": place["locality"],
                "country": place["country"],
            }
    return None


def _nearness(place: Document, center: list[float], radius: float) -> tuple[bool, float]:
    coordinates = (place.place or {})["coordinates"]
    metres = 1000 * brave_sections.distance_kilometres(center, coordinates)
    return metres > radius, metres


def answer_pois(call: Call) -> Answer:
    """GET /local/pois: unknown identifiers are left out."""
    known = [brave_sections.PLACES.get(identifier) for identifier in call.values["ids"]]
    results = [
        brave_sections.place_result(place, call.origin, call.values["units"])
        for place in known
        if place
    ]
    return json_reply({"type": "local_pois", "results": results})


def answer_descriptions(call: Call) -> Answer:
    """GET /local/descriptions: null for an unknown identifier."""
    results: list[dict[str, Any] | None] = []
    for identifier in call.values["ids"]:
        document = brave_sections.PLACES.get(identifier)
        text = (document.place or {}).get("description") if document else None
        entry = {"type": "local_description", "id": identifier, "description": text}
        results.append(entry if document else None)
    return json_reply({"type": "local_descriptions", "results": results})


def answer_rich(call: Call) -> Answer:
    """GET /web/rich: the rich result whose key a search has hinted at."""
    vertical, query = _rich_request(call.values["callback_key"])
    if vertical == "weather":
        place = re.sub(r"\bweather\b|\bin\b", " ", query, flags=re.IGNORECASE)
        content: dict[str, Any] = {
            "location": {"name": " ".join(place.split()) or "Here"},
            "current_weather": {"temp": 18.5, "humidity": 62, "description": "light clouds"},
        }
    else:
        content = {"expression": query.replace("calculator", "").strip(), "answer": "42"}
    result = {
        "type": "rich",
        "subtype": vertical,
        vertical: content,
        "provider": {"name": "Example Data", "url": "https://data.example.org/"},
    }
    info = {
        "vertical": vertical,
        "callback_key": call.values["callback_key"],
        "callback_status": "success",
        "search_lang": "en",
    }
    return json_reply({"type": "rich", "results": [result], "response_callback_info": info})


def _rich_request(callback_key: str) -> tuple[str, str]:
    try:
        vertical, _, query = bytes.fromhex(callback_key).decode("utf-8").partition(":")
    except ValueError:
        vertical, query = "", ""
    if vertical not in RICH_VERTICALS:
        raise RefusedError(brave_errors.not_found("The callback key is unknown or has expired."))
    return vertical, query


def answer_suggest(call: Call) -> Answer:
    """GET /suggest/search: titles that go on from what was typed."""
    typed = call.values["q"]
    results = [
        _suggestion(document, call.values["rich"])
        for document in CORPUS.documents
        if _continues(document, typed)
    ]
    shown = results[: call.values["count"]]
    return json_reply({"type": "suggest", "query": {"original": typed}, "results": shown})


def _continues(document: Document, typed: str) -> bool:
    """Whether the title has all words typed, the last one as the beginning of a word."""
    words = typed.casefold().split()
    title = re.findall(r"\w+", document.title.casefold())
    return set(words[:-1]) <= set(title) and any(word.startswith(words[-1]) for word in title)


def _suggestion(document: Document, rich: bool) -> dict[str, Any]:
    text = document.title.partition(":")[0].casefold()
    if not rich:
        return {"query": text}
    if not document.infobox:
        return {"query": text, "is_entity": False}
    return {
        "query": text,
        "is_entity": True,
        "title": document.title,
        "description": document.text[0],
        "img": f"https://imgs.example.net/small{document.path}.jpg",
    }


def answer_spelling(call: Call) -> Answer:
    """GET /spellcheck/search: nothing when there is nothing to correct."""
    text = call.values["q"]
    corrected = correct_spelling(text)
    results = [{"query": corrected}] if corrected else []
    return json_reply({"type": "spellcheck", "query": {"original": text}, "results": results})
