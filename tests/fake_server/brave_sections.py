"""Shapes documents of the corpus as the results that the Brave Search API sends."""

from __future__ import annotations

import base64
import datetime as dt
import hashlib
import html
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .corpus import CORPUS, Document, matched_spans, on_site, sentences_by_relevance

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

IMAGE_HOST = "https://imgs.example.net"
DESCRIPTION_CHARACTERS = 240
MAX_EXTRA_SNIPPETS = 5
EARTH_RADIUS_KILOMETRES = 6371.0
KILOMETRES_A_MILE = 1.609344
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

Result = dict[str, Any]


@dataclass(frozen=True)
class View:
    """How results are to be shown: the matched terms, and what the request asked for."""

    terms: frozenset[str]
    now: dt.datetime
    decorations: bool = False
    extra_snippets: bool = False
    fetch_metadata: bool = False

    def published(self, document: Document) -> dt.datetime | None:
        """When the page is dated, if it is."""
        if document.age_days is None:
            return None
        return self.now - dt.timedelta(days=document.age_days)


def utc_now() -> dt.datetime:
    """The present in UTC, to the second."""
    return dt.datetime.now(dt.timezone.utc).replace(microsecond=0)


def web_result(document: Document, view: View) -> Result:
    """One entry of web.results."""
    result = {
        "title": html.escape(document.title),
        "url": document.url,
        "is_source_local": False,
        "is_source_both": False,
        "description": _description(document, view),
        **_dates(document, view),
        "profile": {
            "name": document.host,
            "url": f"https://{document.host}/",
            "long_name": document.host,
            "img": _favicon(document),
        },
        "language": document.language,
        "family_friendly": not document.mature,
        "type": "search_result",
        "subtype": _subtype(document),
        "is_live": False,
        "meta_url": _meta_url(document),
    }
    return result | _thumbnail(document, logo=False) | _extra(document, view)


def news_result(document: Document, view: View) -> Result:
    """One piece of news."""
    news = document.news or {}
    result = {
        "type": "news_result",
        "title": html.escape(document.title),
        "url": document.url,
        "description": _description(document, view),
        "source": news.get("source", document.host),
        "breaking": news.get("breaking", False),
        "is_live": news.get("live", False),
        **_dates(document, view),
        "meta_url": _meta_url(document),
    }
    return result | _thumbnail(document) | _extra(document, view)


def video_result(document: Document, view: View) -> Result:
    """One video; its `video` member may be empty, its thumbnail missing, as in live answers."""
    video = dict(document.video or {})
    if video:
        video |= {
            "requires_subscription": False,
            "author": {"name": video["creator"], "url": f"https://{document.host}/channel"},
        }
    result = {
        "type": "video_result",
        "url": document.url,
        "title": html.escape(document.title),
        "description": _description(document, view),
        **_dates(document, view),
        "video": video,
        "meta_url": _meta_url(document),
    }
    return result | _thumbnail(document) | _fetched(view)


def image_result(document: Document, view: View) -> Result:
    """One image; not every one has a confidence."""
    image = dict(document.image or {})
    address = f"{IMAGE_HOST}/full{document.path}.jpg"
    result = {
        "type": "image_result",
        "title": html.escape(document.title),
        "url": document.url,
        "source": document.host,
        "page_fetched": _fetched_time(view),
        "thumbnail": {"src": f"{IMAGE_HOST}/small{document.path}.jpg", "width": 200, "height": 150},
        "properties": {
            "url": address,
            "placeholder": f"{IMAGE_HOST}/placeholder{document.path}.jpg",
            "width": image["width"],
            "height": image["height"],
        },
        "meta_url": _meta_url(document),
    }
    if "confidence" in image:
        result["confidence"] = image["confidence"]
    return result


def discussion_result(document: Document, view: View) -> Result:
    """A thread in a forum."""
    data = {"title": document.title, **(document.discussion or {})}
    return web_result(document, view) | {
        "type": "discussion",
        "data": {name: _escaped(value) for name, value in data.items()},
    }


def faq_results(document: Document) -> list[Result]:
    """The questions that a page answers."""
    return [
        {
            "question": html.escape(entry["question"]),
            "answer": html.escape(entry["answer"]),
            "title": html.escape(document.title),
            "url": document.url,
            "meta_url": _meta_url(document),
        }
        for entry in document.faq
    ]


def infobox_section(document: Document, view: View) -> Result:
    """The infobox; `results` is a list or a single object, both are seen in the wild."""
    details = document.infobox or {}
    box = {
        "type": "infobox",
        "subtype": "entity",
        "position": 0,
        "label": document.title,
        "title": html.escape(document.title),
        "url": document.url,
        "category": details["category"],
        "description": html.escape(document.text[0]),
        "long_desc": html.escape(" ".join(document.text)),
        "thumbnail": {"src": f"{IMAGE_HOST}/small{document.path}.jpg"},
        "images": [],
        "attributes": [[html.escape(cell) for cell in row] for row in details["attributes"]],
        "profiles": [
            {"type": "external", "name": name, "long_name": name, "url": address}
            for name, address in details["profiles"]
        ],
        "providers": [{"type": "external", "name": document.host, "url": document.url}],
        "website_url": details["website"],
    } | _dates(document, view)
    return {"type": "graph", "results": box if details.get("single") else [box]}


def place_result(document: Document, origin: tuple[float, float] | None, units: str) -> Result:
    """One place; rating, telephone and opening hours may be missing."""
    place = document.place or {}
    address = f"{place['street']}, {place['locality']}, {place['region']} {place['postal_code']}"
    result: Result = {
        "type": "location_result",
        "title": html.escape(document.title),
        "url": document.url,
        "provider_url": document.url,
        "id": place_id(document),
        "description": html.escape(document.text[0]),
        "postal_address": {
            "type": "PostalAddress",
            "displayAddress": address,
            "streetAddress": place["street"],
            "addressLocality": place["locality"],
            "addressRegion": place["region"],
            "postalCode": place["postal_code"],
            "country": place["country"],
        },
        "coordinates": place["coordinates"],
        "categories": place["categories"],
        "timezone": place["timezone"],
    }
    return result | _place_extras(document, place) | _distance(place, origin, units)


def place_id(document: Document) -> str:
    """An opaque identifier that stays the same."""
    digest = hashlib.sha256(document.url.encode("utf-8")).digest()
    return "loc4" + base64.b32encode(digest)[:39].decode("ascii") + "="


PLACES = {place_id(document): document for document in CORPUS.documents if document.place}


def distance_kilometres(first: Iterable[float], second: Iterable[float]) -> float:
    """The great-circle distance of two pairs of latitude and longitude."""
    latitude_1, longitude_1 = map(math.radians, first)
    latitude_2, longitude_2 = map(math.radians, second)
    half_chord = (
        math.sin((latitude_2 - latitude_1) / 2) ** 2
        + math.cos(latitude_1)
        * math.cos(latitude_2)
        * math.sin((longitude_2 - longitude_1) / 2) ** 2
    )
    return 2 * EARTH_RADIUS_KILOMETRES * math.asin(math.sqrt(half_chord))


def context_age(document: Document, view: View) -> list[str] | None:
    """The age of a source of /llm/context, in four spellings."""
    published = view.published(document)
    if published is None:
        return None
    days = (view.now - published).days
    return [
        f"{published:%A, %B} {published.day}, {published.year}",
        f"{published:%Y-%m-%d}",
        f"{days} days ago",
        published.isoformat(),
    ]


def context_source(document: Document, view: View, with_metadata: bool) -> Result:
    """One entry of `sources` of /llm/context."""
    source: Result = {
        "title": document.title,
        "hostname": document.host,
        "age": context_age(document, view),
    }
    if with_metadata:
        source |= {
            "site_name": document.host.partition(".")[0].capitalize(),
            "favicon": _favicon(document),
            "description": document.text[0],
            "thumbnail": _thumbnail(document).get("thumbnail"),
        }
    return source


def goggles_filter(rules: Iterable[str]) -> Callable[[Document], bool]:
    """Whether inline goggles keep a document; hosted goggles change nothing here."""
    lines = [line.strip() for text in rules for line in text.splitlines()]
    kept, discarded, discards_rest = _goggles_sites(lines)

    def keeps(document: Document) -> bool:
        if any(on_site(document.host, site) for site in discarded):
            return False
        return not discards_rest or any(on_site(document.host, site) for site in kept)

    return keeps


def _goggles_sites(lines: list[str]) -> tuple[list[str], list[str], bool]:
    """Sites that are named, sites to discard, and whether all others are discarded."""
    kept: list[str] = []
    discarded: list[str] = []
    for line in lines:
        site = re.search(r"[$,]site=([^,\s]+)", line)
        if site:
            (discarded if "$discard" in line else kept).append(site[1].lower())
    return kept, discarded, "$discard" in lines


def _description(document: Document, view: View) -> str:
    """The best sentences; matched words are marked, and the text is escaped as HTML."""
    text = ""
    for sentence in sentences_by_relevance(document, view.terms):
        if text and len(text) + len(sentence) > DESCRIPTION_CHARACTERS:
            break
        text = f"{text} {sentence}".strip()
    return _decorate(text, view)


def _decorate(text: str, view: View) -> str:
    if not view.decorations:
        return html.escape(text)
    pieces = []
    end = 0
    for start, stop in matched_spans(text, view.terms):
        pieces += [html.escape(text[end:start]), "<strong>", html.escape(text[start:stop])]
        pieces.append("</strong>")
        end = stop
    return "".join(pieces) + html.escape(text[end:])


def _extra(document: Document, view: View) -> Result:
    extra = _fetched(view)
    if view.extra_snippets:
        sentences = sentences_by_relevance(document, view.terms)[1:]
        extra["extra_snippets"] = [
            _decorate(sentence, view) for sentence in sentences[:MAX_EXTRA_SNIPPETS]
        ]
    return extra


def _fetched(view: View) -> Result:
    if not view.fetch_metadata:
        return {}
    fetched = view.now - dt.timedelta(hours=1)
    return {
        "page_fetched": _fetched_time(view),
        "fetched_content_timestamp": int(fetched.timestamp()),
    }


def _fetched_time(view: View) -> str:
    fetched = view.now - dt.timedelta(hours=1)
    return fetched.strftime("%Y-%m-%dT%H:%M:%SZ")


def _dates(document: Document, view: View) -> Result:
    published = view.published(document)
    if published is None:
        return {}
    return {
        "page_age": published.strftime("%Y-%m-%dT%H:%M:%S"),
        "age": _age_text(document.age_days or 0.0, published),
    }


def _age_text(days: float, published: dt.datetime) -> str:
    if days < 1:
        return _ago(int(days * 24), "hour")
    if days < 7:
        return _ago(int(days), "day")
    if days < 31:
        return _ago(int(days / 7), "week")
    return f"{published:%B} {published.day}, {published.year}"


def _ago(amount: int, unit: str) -> str:
    return f"{amount} {unit}{'' if amount == 1 else 's'} ago"


def _subtype(document: Document) -> str:
    if document.discussion:
        return "qa"
    if document.faq:
        return "faq"
    return "article" if document.news else "generic"


def _meta_url(document: Document) -> Result:
    return {
        "scheme": "https",
        "netloc": document.host,
        "hostname": document.host,
        "favicon": _favicon(document),
        "path": "".join(f"\u203a {part} " for part in document.path.split("/") if part).strip(),
    }


def _favicon(document: Document) -> str:
    return f"{IMAGE_HOST}/favicon/{document.host}"


def _thumbnail(document: Document, **more: bool) -> Result:
    if not document.thumbnail:
        return {}
    address = f"https://{document.host}/thumbnail.jpg"
    return {
        "thumbnail": {"src": f"{IMAGE_HOST}/small/{document.host}.jpg", "original": address, **more}
    }


def _escaped(value: Any) -> Any:
    return html.escape(value) if isinstance(value, str) else value


def _place_extras(document: Document, place: dict[str, Any]) -> Result:
    extras: Result = _thumbnail(document)
    if "phone" in place:
        extras["contact"] = {"telephone": place["phone"]}
    if "rating" in place:
        extras["rating"] = {
            "ratingValue": place["rating"],
            "bestRating": 5.0,
            "reviewCount": place["reviews"],
        }
    if "price_range" in place:
        extras["price_range"] = place["price_range"]
    if "cuisine" in place:
        extras["serves_cuisine"] = place["cuisine"]
    if "weekdays" in place:
        extras["opening_hours"] = _opening_hours(place)
    return extras


def _opening_hours(place: dict[str, Any]) -> Result:
    days = [
        [
            {"abbr_name": name[:3], "full_name": name, "opens": opens, "closes": closes}
            for opens, closes in place["weekend" if name.startswith("S") else "weekdays"]
        ]
        for name in WEEKDAYS
    ]
    # Today is always Monday, so that answers are the same on every day.
    return {"current_day": days[0], "days": days}


def _distance(place: dict[str, Any], origin: tuple[float, float] | None, units: str) -> Result:
    if origin is None:
        return {}
    kilometres = distance_kilometres(origin, place["coordinates"])
    if units == "imperial":
        return {"distance": {"value": round(kilometres / KILOMETRES_A_MILE, 2), "units": "miles"}}
    return {"distance": {"value": round(kilometres, 2), "units": "km"}}
