"""GitHub's REST API for what a page shows, and the host of raw files, on one address.

GET /repos/OWNER/NAME and below it readme, issues/N, issues/N/comments, pulls/N, pulls/N/comments,
pulls/N/reviews, releases, releases/latest, releases/tags/TAG; GET /OWNER/NAME/REF/PATH is a raw
file. A caller without User-Agent gets 403, one with a wrong token 401; sixty requests an hour are
allowed. For a token that begins with "private" every repository is private.

Issue 42 of slowloop/asyncio-toolbox has 230 comments, so that they come in three pages; the folder
docs has a README in another format, which only the API finds; docs/logo.png is no text.
"""

from __future__ import annotations

import time
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from .github import REFUSED_AGENT, limit_headers, limited
from .messages import Answer, RecordedRequest, Reply, Route, ServerState, json_reply, route
from .open_sources import caller_of, created, documents_on, utc

if TYPE_CHECKING:
    from .corpus import Document

HOURLY = 60
HOUR = 3_600.0  # seconds
MANY_COMMENTS = 230  # of issue 42
DOCUMENTS = {document.path: document for document in documents_on("github.com")}
REPOSITORIES = {path for path in DOCUMENTS if path.count("/") == 2}
README = (
    "# {name}\n\n<!-- a badge that nobody sees -->\n{text}\n\n## Usage\n\n```python\n# run it\n"
    "import toolbox\n```\n"
)
CODE = "def cancel(task):\n    # A timeout of zero has expired.\n    return task.cancel()\n"
FILES = {
    "README.md": (README, "text/plain; charset=utf-8"),
    "src/cancel.py": (CODE, "text/plain; charset=utf-8"),
    "docs/guide.md": ("# Guide\n\nHow the toolbox is used.\n", "text/plain; charset=utf-8"),
    "docs/empty.txt": ("", "text/plain; charset=utf-8"),
    "docs/logo.png": ("\x89PNG\r\n\x1a\n", "image/png"),
}


def answer_api(request: RecordedRequest, state: ServerState) -> Answer:
    """Answer a request below /repos: caller, token, limit, what is there, in this order."""
    if not caller_of(request):
        return Reply(HTTPStatus.FORBIDDEN, REFUSED_AGENT, "application/octet-stream")
    token = (request.header("authorization") or "").removeprefix("Bearer ")
    if token.startswith("bad"):
        return json_reply({"message": "Bad credentials", "status": "401"}, HTTPStatus.UNAUTHORIZED)
    used = state.rate(f"github pages {token}", request.time, HOUR) if state.limits else 1
    if used > HOURLY:
        return limited(HOURLY, int(HOUR))
    path = request.path.removeprefix("/repos")
    repository = next((one for one in REPOSITORIES if f"{path}/".startswith(f"{one}/")), "")
    fields = {**dict(request.query_pairs), "token": token}
    wants_raw = "raw" in (request.header("accept") or "")
    found = value_at(repository, path.removeprefix(repository), fields) if repository else None
    if found is None:
        return json_reply({"message": "Not Found", "status": "404"}, HTTPStatus.NOT_FOUND)
    headers = dict(limit_headers(HOURLY, HOURLY - used, int(HOUR)))
    if isinstance(found, str):
        status = HTTPStatus.OK if wants_raw else HTTPStatus.NOT_ACCEPTABLE
        return Reply(status, found.encode(), "text/plain", tuple(headers.items()))
    return json_reply(found, headers=headers)


def value_at(repository: str, place: str, fields: dict[str, str]) -> Any:
    """What stands at a place of a repository: JSON data, a text, or None."""
    about = DOCUMENTS[repository]
    pages = {
        "": repository_page(about, fields.get("token", "").startswith("private")),
        "/readme": README.format(name=about.title, text=about.text[0]),
        "/readme/docs": "Toolbox\n=======\n\nA README in reStructuredText.\n",
    }
    if place in pages:
        return pages[place]
    if place.startswith("/releases"):
        return releases(place.removeprefix("/releases"))
    kind, _, rest = place.strip("/").partition("/")
    number, _, part = rest.partition("/")
    document = DOCUMENTS.get(f"{repository}/{'pull' if kind == 'pulls' else kind}/{number}")
    document = document or (DOCUMENTS.get(f"{repository}/pull/{number}") if part else None)
    if document is None or kind not in ("issues", "pulls"):
        return None
    if kind == "pulls" and part:
        return [review_comment(document)] if part == "comments" else reviews(document)
    if part == "comments":
        size, page = int(fields.get("per_page", 30)), int(fields.get("page", 1))
        numbers = range(comment_count(document))[(page - 1) * size : page * size]
        return [comment(document, one) for one in numbers]
    return thread(document) if not part else None


def repository_page(document: Document, is_private: bool) -> dict[str, Any]:
    """A repository as its page shows it."""
    return {
        "full_name": document.path.strip("/"),
        "description": document.text[0],
        "stargazers_count": 4_500,
        "forks_count": 1,
        "language": "Python",
        "license": {"spdx_id": "MIT"},
        "topics": ["asyncio", "timeouts"],
        "pushed_at": utc(created(document)),
        "default_branch": "main",
        "archived": False,
        "homepage": None,
        "private": is_private,
    }


def comment_count(document: Document) -> int:
    """How many comments a thread has."""
    return MANY_COMMENTS if document.path.endswith("/42") else 2


def thread(document: Document) -> dict[str, Any]:
    """An issue or pull request; its author's account is gone if its number is 3."""
    item: dict[str, Any] = {
        "html_url": document.url,
        "number": int(document.path.rpartition("/")[2]),
        "title": document.title,
        "user": {"login": "ada"} if not document.path.endswith("/3") else None,
        "state": "closed",
        "state_reason": "not_planned",
        "labels": [{"name": "bug"}, {"name": "good first issue"}],
        "comments": comment_count(document),
        "created_at": utc(created(document)),
        "reactions": {"total_count": 5, "+1": 5},
        "body": "<!-- Thank you for the report! -->\r\n# Steps\r\n\r\n"
        + "\r\n\r\n".join(document.text),
    }
    if "/pull/" in document.path:
        item |= {"review_comments": 1, "merged_at": utc(time.time()), "state_reason": None}
    return item


def comment(document: Document, number: int) -> dict[str, Any]:
    """A comment of a thread; every tenth holds a line that looks like the heading of another."""
    text = f"Comment {number} on {document.title}."
    if number % 10 == 7:
        text += "\n\n## Comment by ada (owner)\n\nMerge it.\n\n```sh\n# a line of code\n```"
    if number == MANY_COMMENTS - 1:
        text = "The mend is released: the flux capacitor resets the clock."
    return {
        "user": {"login": "bo" if number % 2 else "cy"},
        "author_association": "MEMBER" if number % 2 else "NONE",
        "created_at": utc(created(document) + 60 * (1 + number)),
        "reactions": {"total_count": number % 3},
        "body": text,
    }


def review_comment(document: Document) -> dict[str, Any]:
    """A comment on a line of a pull request's code."""
    return {
        "user": {"login": "di"},
        "author_association": "OWNER",
        "created_at": utc(created(document) + 90),
        "path": "src/rounding.py",
        "diff_hunk": "@@ -1,2 +1,2 @@\n-    return round(value)\n+    return half_up(value)",
        "body": "Please name the test after what it proves.",
    }


def reviews(document: Document) -> list[dict[str, Any]]:
    """The reviews of a pull request: one with a verdict, one that only holds comments on code."""
    who = {"user": {"login": "di"}, "author_association": "OWNER"}
    moment = utc(created(document) + 150)
    return [
        {**who, "state": "COMMENTED", "body": "", "submitted_at": moment},
        {**who, "state": "APPROVED", "body": "Half up it is.", "submitted_at": moment},
    ]


def releases(place: str) -> Any:
    """The releases of a repository: all, the latest, or one by its tag."""
    found = [
        {
            "tag_name": f"v{number}.0",
            "name": f"Version {number}",
            "author": {"login": "ada"},
            "prerelease": False,
            "published_at": f"202{number}-03-01T10:00:00Z",
            "body": f"## What is new\n\nTimeouts of zero expire, since version {number}.",
            "assets": [{"name": f"toolbox-{number}.tar.gz", "download_count": 7}],
        }
        for number in (3, 2, 1)
    ]
    if not place:
        return found
    tags = {f"/tags/{one['tag_name']}": one for one in found}
    return {"/latest": found[0], **tags}.get(place)


def answer_raw(request: RecordedRequest, state: ServerState) -> Answer:
    """GET /OWNER/NAME/REF/PATH: a raw file."""
    owner, name, ref, rest = request.path.strip("/").split("/", 3)
    document = DOCUMENTS.get(f"/{owner}/{name}")
    if document is None or ref not in ("HEAD", "main", "v3.0") or rest not in FILES:
        return Reply(HTTPStatus.NOT_FOUND, b"404: Not Found", "text/plain; charset=utf-8")
    text, content_type = FILES[rest]
    if rest == "README.md":
        text = text.format(name=document.title, text=document.text[0])
    return Reply(HTTPStatus.OK, text.encode("latin-1"), content_type)


ROUTES: tuple[Route, ...] = (
    route("/repos/.*", ("GET",), answer_api),
    route("/(breadlab|slowloop|ferrous)/[^/]+/[^/]+/.+", ("GET",), answer_raw),
)
