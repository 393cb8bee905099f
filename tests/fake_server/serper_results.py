"""Shapes documents of the corpus as the answers of the serper.dev API.

The corpus has no products, articles, patents or reviews: their numbers are made from the page's
address, so that they stay the same. As Google's pages do, a page after the first repeats the last
result of the page before it.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import re
from typing import TYPE_CHECKING, Any

from .corpus import (
    CORPUS,
    Document,
    Hit,
    correct_spelling,
    of_kind,
    parse_query,
    sentences_by_relevance,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

PAGE_SIZE, MAP_PAGE_SIZE, REVIEW_PAGE_SIZE = 10, 20, 8
SNIPPET_CHARACTERS = 160
# Credits of one request; web searches double them for more than 10 results.
CREDITS = {"shopping": 2, "maps": 3, "scrape": 2}
PERIOD_DAYS = {"h": 1 / 24, "d": 1.0, "w": 7.0, "m": 31.0, "y": 365.0}
IMAGE_HOST = "https://imgs.example.net"
# A document below this share of the best score is no answer box or knowledge graph.
ANSWER_SHARE = 0.6
CITY_MAP = "@37.7749,-122.4194,14z"

Result = dict[str, Any]


class UnknownError(Exception):
    """The request names a page or a place that is not in the corpus."""


def answer_search(query: Result) -> Result:
    """POST /search."""
    hits = _search(query)
    pages = of_kind(hits, "web")
    organic = _organic(_page(pages, query), query)
    if int(query.get("page", 1)) > 1:
        return {"organic": organic, **_credits(query)}
    best = [hit for hit in hits if hit.score >= ANSWER_SHARE * max(one.score for one in hits)]
    answer = {
        "knowledgeGraph": _knowledge_graph(of_kind(best, "infobox")),
        "answerBox": _answer_box(of_kind(best, "faq")),
        "organic": organic,
        "peopleAlsoAsk": _questions(of_kind(hits, "faq")),
        "topStories": _stories(of_kind(hits, "news")[:3]),
        "relatedSearches": [
            {"query": page.title.partition(":")[0].casefold()} for page in pages[1:7]
        ],
    }
    found = {name: part for name, part in answer.items() if part or name == "organic"}
    return {**found, **_credits(query)}


def answer_news(query: Result) -> Result:
    """POST /news."""

    def shape(document: Document) -> Result:
        source = (document.news or {}).get("source", document.host)
        return {**_headline(document, query), "source": source, **_thumbnail(document)}

    return _listed("news", of_kind(_search(query), "news"), query, shape)


def answer_images(query: Result) -> Result:
    """POST /images."""

    def shape(document: Document) -> Result:
        image = document.image or {}
        return {
            "title": document.title,
            "imageUrl": f"{IMAGE_HOST}/full{document.path}.jpg",
            "imageWidth": image["width"],
            "imageHeight": image["height"],
            "thumbnailUrl": f"{IMAGE_HOST}/small{document.path}.jpg",
            "thumbnailWidth": 259,
            "thumbnailHeight": 194,
            "source": document.host.partition(".")[0].capitalize(),
            "domain": document.host,
            "link": document.url,
            "googleUrl": f"https://search.example.com/imgres?imgurl={document.path}",
        }

    return _listed("images", of_kind(_search(query), "image"), query, shape)


def answer_videos(query: Result) -> Result:
    """POST /videos: details may be missing, as in live answers."""

    def shape(document: Document) -> Result:
        video = document.video or {}
        details = {
            "duration": video.get("duration"),
            "source": video.get("publisher"),
            "channel": video.get("creator"),
        }
        found = {name: value for name, value in details.items() if value}
        return {**_headline(document, query), **found, **_thumbnail(document)}

    return _listed("videos", of_kind(_search(query), "video"), query, shape)


def answer_places(query: Result) -> Result:
    """POST /places: it has no num."""
    found = of_kind(_search(query), "place")
    return _listed("places", found, query, _place)


def answer_maps(query: Result) -> Result:
    """POST /maps: places near the middle of a map, or one place."""
    if "cid" in query or "placeId" in query:
        found = [_place_by_id(query)]
    else:
        found = of_kind(_search(query), "place")
    shown = _page(found, query, MAP_PAGE_SIZE)
    places = [_map_place(document) | {"position": at} for at, document in enumerate(shown, 1)]
    return {"ll": query.get("ll", CITY_MAP), "places": places, "credits": CREDITS["maps"]}


def answer_reviews(query: Result) -> Result:
    """POST /reviews: pages by token."""
    document = _place_by_id(query)
    reviews = [_review(document, index) for index in range(3 * REVIEW_PAGE_SIZE - 2)]
    if query.get("sortBy") in ("highestRating", "lowestRating"):
        reviews.sort(key=lambda one: one["rating"], reverse=query["sortBy"] == "highestRating")
    if "topicId" in query:
        reviews = [one for one in reviews if query["topicId"] in one["snippet"]]
    start = int(query.get("nextPageToken", "reviews-0").rpartition("-")[2])
    answer: Result = {"reviews": reviews[start : start + REVIEW_PAGE_SIZE]}
    if start + REVIEW_PAGE_SIZE < len(reviews):
        answer["nextPageToken"] = f"reviews-{start + REVIEW_PAGE_SIZE}"
    topics = [{"name": "bread", "reviews": 3, "id": "bread"}]
    return {**answer, "topics": topics, "credits": 1}


def answer_shopping(query: Result) -> Result:
    """POST /shopping."""

    def shape(document: Document) -> Result:
        number = _number(document)
        return {
            "title": document.title,
            "source": document.host,
            "link": document.url,
            "price": f"${number % 90 + 9}.99",
            "delivery": "Free delivery",
            "imageUrl": f"{IMAGE_HOST}/small{document.path}.jpg",
            "rating": 3 + number % 20 / 10,
            "ratingCount": number % 900,
            "offers": str(number % 9 + 1),
            "productId": str(number),
        }

    return _listed("shopping", of_kind(_search(query), "web"), query, shape, CREDITS["shopping"])


def answer_lens(query: Result) -> Result:
    """POST /lens: looks at the words of the image's address instead of the image."""
    words = re.sub(r"[^\w]+", " ", query["url"].partition("://")[2].partition("/")[2])
    hits = CORPUS.rank(parse_query(f"{words} {query.get('q', '')}"))
    organic = [
        {
            "title": document.title,
            "source": document.host,
            "link": document.url,
            "imageUrl": f"{IMAGE_HOST}/full{document.path}.jpg",
            "thumbnailUrl": f"{IMAGE_HOST}/small{document.path}.jpg",
        }
        for document in of_kind(hits, "web")[:20]
    ]
    return {"organic": organic, "credits": 3}


def answer_scholar(query: Result) -> Result:
    """POST /scholar: it has no num, and its results no position."""
    first, last = int(query.get("as_ylo", 0)), int(query.get("as_yhi", 9_999))
    found = [
        document
        for document in of_kind(_search(query), "web")
        if first <= _published(document).year <= last
    ]
    organic = [_article(document, query) for document in _page(found, query)]
    return {"organic": organic, "credits": 1}


def answer_patents(query: Result) -> Result:
    """POST /patents."""

    def shape(document: Document) -> Result:
        day = f"{_published(document):%Y-%m-%d}"
        name = f"XX{_number(document) % 10**10:010}B2"
        return {
            "title": document.title,
            "snippet": _snippet(document, query),
            "link": f"https://patents.example.com/patent/{name}/en",
            "priorityDate": day,
            "filingDate": day,
            "grantDate": day,
            "publicationDate": day,
            "inventor": "Ada Example",
            "assignee": document.host,
            "publicationNumber": name,
            "language": document.language,
            "pdfUrl": f"https://patents.example.com/{name}.pdf",
            "figures": [{"imageUrl": f"{IMAGE_HOST}/full{document.path}.png"}],
        }

    return _listed("organic", of_kind(_search(query), "web"), query, shape)


def answer_autocomplete(query: Result) -> Result:
    """POST /autocomplete."""
    words = query["q"].casefold().split()
    titles = [document.title.partition(":")[0].casefold() for document in CORPUS.documents]
    found = [title for title in titles if all(word in title for word in words)]
    return {"suggestions": [{"value": title} for title in found[:10]], "credits": 1}


def answer_scrape(query: Result) -> Result:
    """POST / of the scraper: the text of a page of the corpus."""
    pages = [document for document in CORPUS.documents if document.url == query["url"]]
    if not pages:
        raise UnknownError
    document = pages[0]
    answer: Result = {"text": "\n".join([document.title, *document.text])}
    if query.get("includeMarkdown"):
        answer["markdown"] = "\n\n".join([f"# {document.title}", *document.text])
    metadata = {"title": document.title, "description": document.text[0]}
    jsonld = {"@context": "https://schema.org", "@type": "Article", "headline": document.title}
    return {**answer, "metadata": metadata, "jsonld": jsonld, "credits": CREDITS["scrape"]}


def _search(query: Result) -> list[Hit]:
    """Rank the corpus for a query, and apply operators, spelling and period."""
    text = re.sub(r"[()\"]|\bOR\b|\b(?:filetype|inurl|intitle|after):\S+", " ", query["q"])
    if query.get("autocorrect", True):
        text = correct_spelling(text) or text
    languages = {"zh-cn": "zh-hans", "zh-tw": "zh-hant"}
    language = query.get("hl", "en")
    language = languages.get(language, language.partition("-")[0])
    hits = CORPUS.rank(parse_query(text), language)
    return [hit for hit in hits if _is_in_period(hit.document, query.get("tbs", ""))]


def _is_in_period(document: Document, filters: str) -> bool:
    parts = dict(part.split(":", 1) for part in filters.split(",") if part)
    if not parts.keys() & {"qdr", "cdr"}:
        return True
    if document.age_days is None:
        return False
    if "qdr" in parts:
        times = int(parts["qdr"][1:] or 1)
        return document.age_days <= PERIOD_DAYS[parts["qdr"][0]] * times
    return _day(parts["cd_min"]) <= _published(document).date() <= _day(parts["cd_max"])


def _day(text: str) -> dt.date:
    month, day, year = map(int, text.split("/"))
    return dt.date(year, month, day)


def _page(found: Sequence[Document], query: Result, size: int = 0) -> Sequence[Document]:
    """The documents of one page; all pages but the first repeat one of the page before."""
    size = size or int(query.get("num", PAGE_SIZE))
    start = (int(query.get("page", 1)) - 1) * size
    return found[max(0, start - 1) : start + size]


def _credits(query: Result) -> Result:
    return {"credits": 1 if int(query.get("num", PAGE_SIZE)) <= PAGE_SIZE else 2}


def _listed(
    name: str,
    found: Sequence[Document],
    query: Result,
    shape: Callable[[Document], Result],
    cost: int = 0,
) -> Result:
    """One list of results; its positions begin anew on each page."""
    items = [
        shape(document) | {"position": position}
        for position, document in enumerate(_page(found, query), 1)
    ]
    return {name: items, **({"credits": cost} if cost else _credits(query))}


def _organic(documents: Sequence[Document], query: Result) -> list[Result]:
    organic = []
    for position, document in enumerate(documents, 1):
        result = _headline(document, query)
        if position == 1:
            link = {"title": "Home", "link": f"https://{document.host}/"}
            result |= {"sitelinks": [link], "attributes": {"Pages": "3"}}
        organic.append(result | {"position": position})
    return organic


def _headline(document: Document, query: Result) -> Result:
    """Title, link and snippet, and a date if the page has one."""
    found = {"title": document.title, "link": document.url, "snippet": _snippet(document, query)}
    if document.age_days is not None:
        found["date"] = _date_text(document)
    return found


def _snippet(document: Document, query: Result) -> str:
    text = sentences_by_relevance(document, parse_query(query["q"]).terms)[0]
    return text if len(text) <= SNIPPET_CHARACTERS else text[: SNIPPET_CHARACTERS - 4] + " ..."


def _published(document: Document) -> dt.datetime:
    age = 3_650.0 if document.age_days is None else document.age_days
    return dt.datetime.now(dt.timezone.utc) - dt.timedelta(days=age)


def _date_text(document: Document) -> str:
    days = document.age_days or 0.0
    for size, unit in ((7, "week"), (1, "day"), (1 / 24, "hour")):
        if size <= days < 31:
            amount = int(days / size)
            return f"{amount} {unit}{'' if amount == 1 else 's'} ago"
    published = _published(document)
    return f"{published:%b} {published.day}, {published.year}"


def _number(document: Document) -> int:
    """A number that belongs to a page for good."""
    return int.from_bytes(hashlib.sha256(document.url.encode()).digest()[:7], "big")


def _thumbnail(document: Document) -> Result:
    if not document.thumbnail:
        return {}
    return {"imageUrl": f"{IMAGE_HOST}/small/{document.host}.jpg"}


def _knowledge_graph(documents: list[Document]) -> Result:
    if not documents:
        return {}
    document, box = documents[0], documents[0].infobox or {}
    return {
        "title": document.title,
        "type": box["category"].capitalize(),
        "website": box["website"],
        "imageUrl": f"{IMAGE_HOST}/small{document.path}.jpg",
        "description": document.text[0],
        "descriptionSource": "Encyclopedia",
        "descriptionLink": document.url,
        "attributes": dict(box["attributes"]),
    }


def _answer_box(documents: list[Document]) -> Result:
    if not documents:
        return {}
    text = documents[0].faq[0]["answer"]
    return {
        "snippet": text,
        "snippetHighlighted": [text.partition(",")[0]],
        "title": documents[0].title,
        "link": documents[0].url,
    }


def _questions(documents: list[Document]) -> list[Result]:
    """Each second question lacks its snippet, as in live answers."""
    entries = [(document, entry) for document in documents for entry in document.faq][:4]
    return [
        {
            "question": entry["question"],
            **({"snippet": entry["answer"]} if index % 2 == 0 else {}),
            "title": document.title,
            "link": document.url,
        }
        for index, (document, entry) in enumerate(entries)
    ]


def _stories(documents: list[Document]) -> list[Result]:
    return [
        {
            "title": document.title,
            "link": document.url,
            "source": (document.news or {}).get("source", document.host),
            "date": _date_text(document),
            "imageUrl": f"{IMAGE_HOST}/small{document.path}.jpg",
        }
        for document in documents
    ]


def place_ids(document: Document) -> Result:
    """The three names of a place."""
    number = _number(document)
    return {"cid": str(number), "fid": f"0x808580:0x{number:x}", "placeId": f"ChIJ{number:x}"}


def _place_by_id(query: Result) -> Document:
    """The place that a query names."""
    wanted = {name: query[name] for name in ("cid", "fid", "placeId") if name in query}
    for document in CORPUS.documents:
        if document.place and wanted.items() <= place_ids(document).items():
            return document
    raise UnknownError


def _place(document: Document) -> Result:
    place = document.place or {}
    found = {
        "title": document.title,
        "address": f"{place['street']}, {place['locality']}, {place['region']}",
        "latitude": place["coordinates"][0],
        "longitude": place["coordinates"][1],
        "rating": place.get("rating"),
        "ratingCount": place.get("reviews"),
        "category": place["categories"][0],
        "phoneNumber": place.get("phone"),
        "website": document.url,
        "priceLevel": place.get("price_range"),
        "cid": place_ids(document)["cid"],
    }
    return {name: value for name, value in found.items() if value is not None}


def _map_place(document: Document) -> Result:
    place = document.place or {}
    found = _place(document)
    category = found.pop("category")
    hours = " ".join("-".join(span) for span in place.get("weekdays", []))
    return {
        **found,
        "type": category,
        "types": place["categories"],
        "description": document.text[0],
        **({"openingHours": {"Monday": hours, "Sunday": "Closed"}} if hours else {}),
        "bookingLinks": [f"{document.url}book"],
        "thumbnailUrl": f"{IMAGE_HOST}/small{document.path}.jpg",
        **place_ids(document),
    }


def _review(document: Document, index: int) -> Result:
    """A review; each third is answered by the owner."""
    day = dt.date(2026, 1, 28) - dt.timedelta(days=9 * index)
    review = {
        "rating": 1 + (_number(document) + index) % 5,
        "date": f"{9 * index + 1} days ago",
        "isoDate": f"{day.isoformat()}T10:00:00Z",
        "snippet": document.text[index % len(document.text)],
        "likes": index % 4,
        "user": {
            "name": f"Visitor {index}",
            "thumbnail": f"{IMAGE_HOST}/visitor/{index}.jpg",
            "link": f"https://maps.example.com/contrib/{index}",
            "reviews": index + 1,
            "photos": index,
        },
        "id": f"review-{index}",
    }
    if index % 3 == 0:
        answer = {"date": "a day ago", "isoDate": f"{day.isoformat()}T12:00:00Z"}
        review["response"] = {**answer, "snippet": "Thank you for coming."}
    return review


def _article(document: Document, query: Result) -> Result:
    year = _published(document).year
    article = {
        "title": document.title,
        "link": document.url,
        "publicationInfo": f"A Example, B Example - {year} - {document.host}",
        "snippet": _snippet(document, query),
        "year": year,
        "citedBy": _number(document) % 300,
        "id": f"id{_number(document):x}",
    }
    if _number(document) % 2:
        article["pdfUrl"] = f"{document.url}.pdf"
    return article
