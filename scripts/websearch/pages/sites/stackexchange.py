"""Read questions on Stack Exchange with their answers: the accepted answer first, then by votes.

A call may read several questions. Questions on the same site share a request, because an IP address
has only 300 requests per day.
"""

from __future__ import annotations

import re

from websearch.engines.base.days import day_of
from websearch.engines.base.open_sources import api_request, text_of_html
from websearch.engines.base.result_pages import split_url
from websearch.engines.stackexchange import ENGINE, read_items
from websearch.kit import SearchError, list_field, object_field
from websearch.pages.page_content import PageContent
from websearch.pages.sites.site_api import facts_line, post

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from websearch.pages.sites.site_api import SiteApi

MOST_POSTS = 100  # questions or answers per request: the API's limit
_QUESTION = r"/(?:questions|q)/(\d{1,12})(?:/.*)?"
_ANSWER = r"/a/(\d{1,12})(?:/.*)?"


def known_page(path: str, query: str) -> dict[str, Any] | None:
    """Return the number of a question (id) or answer (answer) from a URL, or None."""
    for name, pattern in (("id", _QUESTION), ("answer", _ANSWER)):
        if match := re.fullmatch(pattern, path):
            return {name: match[1]}
    return None


def read_site_page(api: SiteApi, wanted: dict[str, Any]) -> PageContent:
    """Return a question and its answers; raises SearchError."""
    question, answers = question_and_answers(api, wanted)
    shown = ", ".join(list_field(question, "tags", str))
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
    fields = {
        "title": text_of_html(question.get("title")),
        "author": author_of(question),
        "published": day_of(question.get("creation_date")),
        "license": text_of_html(question.get("content_license")),
    }
    note = f"{left} answers with fewer votes are omitted." if left > 0 else ""
    return PageContent("\n\n".join(posts), fields, note, is_cut=left > 0)


def question_and_answers(
    api: SiteApi, wanted: dict[str, Any]
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return a question and its answers, in order. Raises SearchError."""
    numbers = wanted["answer"] if "answer" in wanted else question_numbers(api, wanted["id"])
    path = f"answers/{numbers}/questions" if "answer" in wanted else f"questions/{numbers}"
    questions = get_items(api, path)
    if "id" in wanted:
        questions = [item for item in questions if str(item.get("question_id")) == wanted["id"]]
    number = questions[0].get("question_id") if questions else None
    if not isinstance(number, int):
        message = f"{api.host} has no question or answer {next(iter(wanted.values()))}."
        raise SearchError("http", message, "Check the URL.")
    if questions[0].get("answer_count") == 0:
        return questions[0], []
    numbers = str(number) if "answer" in wanted else numbers
    answers = get_items(api, f"questions/{numbers}/answers", sort="votes", order="desc")
    own = [answer for answer in answers if answer.get("question_id") == number]
    return questions[0], sorted(own, key=lambda answer: answer.get("is_accepted") is not True)


def question_numbers(api: SiteApi, number: str) -> str:
    """Return the numbers of all the call's questions on this site, separated by ";"."""
    numbers = {number}
    for url in api.urls:
        host, path, query = split_url(url) or ("", "", "")
        page = known_page(path, query) if host.removeprefix("www.") == api.host else None
        if page and "id" in page and len(numbers) < MOST_POSTS:
            numbers.add(page["id"])
    return ";".join(sorted(numbers))


def get_items(api: SiteApi, path: str, **fields: str) -> list[dict[str, Any]]:
    """Return the items at a path in the API, with their bodies. Raises SearchError."""
    fields = {"site": api.host, "filter": "withbody", "pagesize": str(MOST_POSTS), **fields}
    request = api_request(ENGINE, f"/2.3/{path}", fields)

    def ask() -> list[dict[str, Any]]:
        return list(api.fetch(request, lambda _, answer: read_items(answer)).value)

    items: list[dict[str, Any]] = api.shared.get(f"{api.host} {path}", ask)
    return items


def author_of(item: dict[str, Any]) -> str:
    """Return the name of a post's author; the API escapes it twice."""
    owner = object_field(item, "owner")
    return text_of_html(text_of_html(owner.get("display_name"))) or "unknown"


def post_facts(item: dict[str, Any]) -> tuple[str, str, str]:
    """Return a post's votes, date and license."""
    score = item.get("score")
    votes = f"score {score}" if isinstance(score, int) else ""
    license_name = text_of_html(item.get("content_license"))
    return votes, day_of(item.get("creation_date")), license_name


def body_of(api: SiteApi, item: dict[str, Any]) -> str:
    """Return a post's text as Markdown."""
    body = item.get("body")
    return api.markdown(body) if isinstance(body, str) else ""
