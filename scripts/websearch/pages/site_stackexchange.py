"""Questions of Stack Exchange with their answers: the accepted one first, then by votes."""

from __future__ import annotations

import re

from websearch.common import SearchError
from websearch.engines.open_sources import api_request, day_of, text_of_html
from websearch.engines.stackexchange import NAME, read_items
from websearch.pages.site_api import facts_line, post

TYPE_CHECKING = False  # typing.TYPE_CHECKING without its import, which costs 5 ms
if TYPE_CHECKING:
    from typing import Any

    from websearch.common import Document
    from websearch.pages.site_api import SiteApi

MOST_ANSWERS = 30  # that are asked for
_QUESTION = r"/(?:questions|q)/(\d{1,12})(?:/.*)?"
_ANSWER = r"/a/(\d{1,12})(?:/.*)?"


def known_page(path: str, query: str) -> dict[str, Any] | None:
    """Return the number of the question (id) or answer (answer) that an address names, or None."""
    for name, pattern in (("id", _QUESTION), ("answer", _ANSWER)):
        if found := re.fullmatch(pattern, path):
            return {name: found[1]}
    return None


def read_site_page(api: SiteApi, wanted: dict[str, Any]) -> Document:
    """Return a question and its answers; raises SearchError."""
    place = f"answers/{wanted['answer']}/questions" if "answer" in wanted else ""
    questions = get_items(api, place or f"questions/{wanted['id']}")
    number = questions[0].get("question_id") if questions else None
    if not isinstance(number, int):
        raise SearchError("http", "Stack Exchange has no such question.", "Check the address.")
    question = questions[0]
    answers: list[dict[str, Any]] = []
    if question.get("answer_count") != 0:
        more = {"sort": "votes", "order": "desc", "pagesize": str(MOST_ANSWERS)}
        answers = get_items(api, f"questions/{number}/answers", **more)
        answers.sort(key=lambda answer: answer.get("is_accepted") is not True)
    tags = question.get("tags") if isinstance(question.get("tags"), list) else []
    shown = ", ".join(tag for tag in tags or [] if isinstance(tag, str))
    closed = text_of_html(question.get("closed_reason"))
    facts = (*post_facts(question), shown, f"closed: {closed}" if closed else "")
    head = facts_line(f"Question by {author_of(question)}", *facts)
    posts = [f"{head}\n\n{body_of(api, question)}"]
    for answer in answers:
        accepted = "accepted" if answer.get("is_accepted") is True else ""
        heading = facts_line(f"Answer by {author_of(answer)}", accepted, *post_facts(answer))
        posts.append(post(heading, body_of(api, answer)))
    count = question.get("answer_count")
    left = count - len(answers) if isinstance(count, int) else 0
    return {
        "title": text_of_html(question.get("title")),
        "author": author_of(question),
        "published": day_of(question.get("creation_date")),
        "license": text_of_html(question.get("content_license")),
        "text": "\n\n".join(posts),
        "note": f"{left} answers with fewer votes are left out." if left > 0 else "",
        "cut": left > 0,
    }


def get_items(api: SiteApi, place: str, **fields: str) -> list[dict[str, Any]]:
    """Return the items at a place of the API, with their bodies; raises SearchError."""
    fields = {"site": api.host, "filter": "withbody", **fields}
    request = api_request(NAME, f"/2.3/{place}", fields)
    items: list[dict[str, Any]] = api.fetch(request, lambda _, answer: read_items(answer))["items"]
    return items


def author_of(item: dict[str, Any]) -> str:
    """Return the name of a post's author, which the API escapes twice."""
    owner = item["owner"] if isinstance(item.get("owner"), dict) else {}
    return text_of_html(text_of_html(owner.get("display_name"))) or "unknown"


def post_facts(item: dict[str, Any]) -> tuple[str, str, str]:
    """Return votes, day and licence of a post."""
    score = item.get("score")
    votes = f"score {score}" if isinstance(score, int) else ""
    licence = text_of_html(item.get("content_license"))
    return votes, day_of(item.get("creation_date")), licence


def body_of(api: SiteApi, item: dict[str, Any]) -> str:
    """Return the text of a post as Markdown."""
    body = item.get("body")
    return api.markdown(body) if isinstance(body, str) else ""
