"""Query GitHub's REST API; format the fields that all posts have."""

from __future__ import annotations

from websearch.engines.base.messages import EngineAnswer
from websearch.engines.base.open_sources import counted, raw_text
from websearch.engines.github import api_error, rest_request, search_quota
from websearch.kit import SearchError, object_field
from websearch.markdown.sections import demote_headings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from websearch.engines.base.messages import EngineRequest
    from websearch.kit import Response
    from websearch.pages.sites.site_api import SiteApi

JSON_TYPE = "application/vnd.github+json"

# ===== requests ===================================================================================


def get_json(api: SiteApi, repository: str, path: str, **fields: str) -> Any:
    """Return the JSON at a path in a repository. Raises SearchError."""
    request = rest_request(f"/repos/{repository}{path}", fields, JSON_TYPE)
    return api.fetch(request, read_value).value


def get_object(api: SiteApi, repository: str, path: str, name: str) -> dict[str, Any]:
    """Return the object at a path in a repository.

    name: a text field that the object must have. Raises SearchError.
    """
    value = get_json(api, repository, path)
    if isinstance(value, dict) and isinstance(value.get(name), str):
        return value
    raise SearchError("provider", f"GitHub's answer has no {name}.", "Try again later.")


def get_list(api: SiteApi, repository: str, path: str, **fields: str) -> list[dict[str, Any]]:
    """Return the objects in the list at a path in a repository. Raises SearchError."""
    value = get_json(api, repository, path, **fields)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def read_value(_: EngineRequest, response: Response) -> EngineAnswer:
    """Return a response's JSON value and the quota in its headers. Raises SearchError."""
    if response.status != 200:
        raise api_error(response)
    try:
        value = response.json()
    except (ValueError, RecursionError):
        message = "GitHub's answer is not JSON."
        raise SearchError("provider", message, "Try again later.") from None
    return EngineAnswer(value, quota=search_quota(response))


def read_plain(_: EngineRequest, response: Response) -> EngineAnswer:
    """Return a response's text and the quota in its headers. Raises SearchError."""
    if response.status != 200:
        raise api_error(response)
    return EngineAnswer(response.text(), quota=search_quota(response))


# ===== posts ======================================================================================


def without_comments(markdown: str) -> str:
    """Return Markdown without HTML comments, which are common in templates."""
    parts, position = [], 0
    while (start := markdown.find("<!--", position)) >= 0:
        end = markdown.find("-->", start)
        if end < 0:
            break
        parts.append(markdown[position:start])
        position = end + len("-->")
    return "".join([*parts, markdown[position:]]).replace("\r\n", "\n").strip()


def author_of(item: dict[str, Any]) -> str:
    """Return the author's name; "ghost" for deleted accounts, as on GitHub."""
    account = object_field(item, "user") or object_field(item, "author")
    return raw_text(account.get("login")) or "ghost"


def reactions(item: dict[str, Any]) -> str:
    """Return the number of reactions as text; "" if there are none."""
    total = object_field(item, "reactions").get("total_count")
    return counted(total, "reaction") if total else ""


def body_of(item: dict[str, Any]) -> str:
    """Return a post's Markdown, with its headings below the thread's headings."""
    body = item.get("body")
    return demote_headings(without_comments(body)) if isinstance(body, str) else ""
