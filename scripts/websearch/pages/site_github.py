"""Pages of GitHub: files, folders by their README, issues and pull requests, releases."""

from __future__ import annotations

import re

from websearch.common import SearchError, base_url, drop_empty, object_field
from websearch.engines import GITHUB_RAW
from websearch.engines.github import api_error, rest_request, search_quota
from websearch.engines.open_sources import counted, raw_text
from websearch.pages.fetch import Fetched, check_status, fetch_page, is_pdf
from websearch.pages.other_formats import check_binary, decode_body, fenced
from websearch.pages.site_api import demoted, facts_line, post

TYPE_CHECKING = False  # typing.TYPE_CHECKING without its import, which costs 5 ms
if TYPE_CHECKING:
    from typing import Any

    from websearch.common import Document, Response
    from websearch.pages.site_api import SiteApi

JSON_TYPE, RAW_TYPE = "application/vnd.github+json", "application/vnd.github.raw+json"
COMMENTS_A_PAGE = 100  # the API's limit
MOST_RELEASES = 10  # of a list of releases
# First parts of a path on github.com that are no owners of repositories.
NO_OWNERS = frozenset(
    "about account apps codespaces collections contact customer-stories dashboard enterprise "
    "events explore features issues join login marketplace new notifications orgs organizations "
    "pricing pulls readme resources search security settings site solutions sponsors stars team "
    "topics trending users".split()
)
PLAIN_FILES = ("md", "markdown", "mdx", "txt", "rst", "adoc", "org")  # that are read as text
ROLES = ("OWNER", "MEMBER", "COLLABORATOR", "CONTRIBUTOR")  # of an author, that are told

# ===== addresses ==================================================================================


def known_page(path: str, query: str) -> dict[str, Any] | None:
    """Return what an address shows: {kind, repository, ...}, or None."""
    owner, name, *rest = [*path.strip("/").split("/"), ""][: 2 + path.count("/")]
    rest = [one for one in rest if one]
    if owner.lower() in NO_OWNERS or not all(
        re.fullmatch(r"[\w.-]+", one) for one in (owner, name)
    ):
        return None
    repository = f"{owner}/{name.removesuffix('.git')}"
    kind, place = (rest[0], rest[1:]) if rest else ("tree", [])
    if kind == "tree":
        folder = {"ref": place[0] if place else "", "folder": "/".join(place[1:])}
        return {"kind": "folder", "repository": repository, **folder}
    if kind == "blob" and len(place) > 1:
        return {"kind": "file", "repository": repository, "place": "/".join(place)}
    if kind in ("issues", "pull") and len(place) == 1 and re.fullmatch(r"\d{1,9}", place[0]):
        return {"kind": kind, "repository": repository, "number": place[0]}
    if kind == "releases" and (
        place in ([], ["latest"]) or (len(place) == 2 and place[0] == "tag")
    ):
        release = f"/tags/{place[1]}" if place[1:] else f"/{place[0]}" if place else ""
        return {"kind": "releases", "repository": repository, "release": release}
    return None


def read_site_page(api: SiteApi, wanted: dict[str, Any]) -> Document | Fetched:
    """Return what a page of GitHub shows; raises SearchError."""
    readers = {
        "folder": read_folder, "file": read_file, "issues": read_thread, "pull": read_thread,
        "releases": read_releases,
    }  # fmt: skip
    return readers[wanted["kind"]](api, wanted)


# ===== the API ====================================================================================


def get_json(api: SiteApi, repository: str, place: str, **fields: str) -> Any:
    """Return the JSON at a place of a repository; raises SearchError."""
    request = rest_request(f"/repos/{repository}{place}", fields, JSON_TYPE)
    return api.fetch(request, read_value)["value"]


def get_object(api: SiteApi, repository: str, place: str, name: str) -> dict[str, Any]:
    """Return the object at a place of a repository, with text under name; raises SearchError."""
    value = get_json(api, repository, place)
    if isinstance(value, dict) and isinstance(value.get(name), str):
        return value
    raise SearchError("provider", f"GitHub's answer has no {name}.", "Try again later.")


def get_list(api: SiteApi, repository: str, place: str, **fields: str) -> list[dict[str, Any]]:
    """Return the objects of the list at a place of a repository; raises SearchError."""
    value = get_json(api, repository, place, **fields)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def read_value(_: dict[str, Any], response: Response) -> dict[str, Any]:
    """Return the value of an answer, and the quota that its headers name; raises SearchError."""
    if response.status != 200:
        raise api_error(response)
    try:
        value = response.json()
    except (ValueError, RecursionError):
        message = "GitHub's answer is no JSON."
        raise SearchError("provider", message, "Try again later.") from None
    return {"value": value, **drop_empty({"quota": search_quota(response)})}


def read_plain(_: dict[str, Any], response: Response) -> dict[str, Any]:
    """Return the text of an answer as read_value does; raises SearchError."""
    if response.status != 200:
        raise api_error(response)
    return {"value": response.text(), **drop_empty({"quota": search_quota(response)})}


# ===== files and folders ==========================================================================


def get_raw(api: SiteApi, place: str) -> Fetched:
    """Return a file of a repository (OWNER/NAME/REF/PATH), which no quota counts."""
    url = f"{base_url(*GITHUB_RAW)}/{place}"
    fetched = fetch_page(url, api.deadline, api.robots)
    check_status(fetched)
    return fetched


def read_file(api: SiteApi, wanted: dict[str, Any]) -> Document | Fetched:
    """Return a file: text as it is, source code as a block of code, a PDF file as it was sent."""
    from urllib.parse import unquote

    fetched = get_raw(api, f"{wanted['repository']}/{wanted['place']}")
    if is_pdf(fetched.response.body):
        return fetched
    content_type = fetched.response.headers.get("content-type", "").lower()
    check_binary(fetched.response.body, content_type, "GitHub")
    text = decode_body(fetched.response.body, content_type).replace("\r\n", "\n")
    ending = wanted["place"].rpartition("/")[2].rpartition(".")[2].lower()
    if ending not in PLAIN_FILES:
        text = fenced(text, ending if re.fullmatch(r"[a-z0-9+]{1,12}", ending) else "")
    title = f"{wanted['repository']}: {unquote(wanted['place'])}"
    return {"title": title, "text": text, "cut": fetched.response.cut}


def read_folder(api: SiteApi, wanted: dict[str, Any]) -> Document:
    """Return the README of a folder; of the whole repository also what GitHub says about it."""
    about: dict[str, Any] = {}
    if not wanted["folder"]:
        about = get_object(api, wanted["repository"], "", "full_name")
    facts = repository_facts(about) if about else ""
    licence = raw_text(object_field(about, "license").get("spdx_id"))
    text = "\n\n".join(filter(None, (raw_text(about.get("description")), facts)))
    try:
        text = "\n\n".join(filter(None, (text, without_comments(readme(api, wanted)))))
    except SearchError:
        if not text:
            raise
    place = "/".join(filter(None, (wanted["repository"], wanted["folder"])))
    return {
        "title": place,
        "author": wanted["repository"].partition("/")[0],
        "published": raw_text(about.get("pushed_at"))[:10],
        "license": licence if licence != "NOASSERTION" else "",
        "text": text,
    }


def repository_facts(about: dict[str, Any]) -> str:
    """Return what GitHub says about a repository on one line."""
    topics = about.get("topics") if isinstance(about.get("topics"), list) else []
    named = ", ".join(topic for topic in topics or [] if isinstance(topic, str))
    pushed = raw_text(about.get("pushed_at"))[:10]
    homepage = raw_text(about.get("homepage"))
    return facts_line(
        counted(about.get("stargazers_count"), "star"),
        counted(about.get("forks_count"), "fork"),
        raw_text(about.get("language")),
        raw_text(object_field(about, "license").get("spdx_id")),
        f"last push {pushed}" if pushed else "",
        "archived" if about.get("archived") is True else "",
        f"topics: {named}" if named else "",
        homepage if homepage.startswith("http") else "",
    )


def readme(api: SiteApi, wanted: dict[str, Any]) -> str:
    """Return the text of a folder's README; raises SearchError.

    README.md is looked for first where no quota counts it; the API knows the other names.
    """
    repository, ref, folder = wanted["repository"], wanted["ref"], wanted["folder"]
    place = "/".join(filter(None, (repository, ref or "HEAD", folder, "README.md")))
    try:
        response = get_raw(api, place).response
        return decode_body(response.body, response.headers.get("content-type", "").lower())
    except SearchError:
        path = "/".join(filter(None, (f"/repos/{repository}/readme", folder)))
        request = rest_request(path, drop_empty({"ref": ref}), RAW_TYPE)
        return str(api.fetch(request, read_plain)["value"])


def without_comments(markdown: str) -> str:
    """Return Markdown without HTML comments, which nobody sees: templates are full of them."""
    kept, position = [], 0
    while (start := markdown.find("<!--", position)) >= 0:
        end = markdown.find("-->", start)
        if end < 0:
            break
        kept.append(markdown[position:start])
        position = end + len("-->")
    return "".join([*kept, markdown[position:]]).replace("\r\n", "\n").strip()


# ===== issues, pull requests, releases ============================================================


def read_thread(api: SiteApi, wanted: dict[str, Any]) -> Document:
    """Return an issue or pull request with its discussion; raises SearchError."""
    repository, number = wanted["repository"], wanted["number"]
    is_pull = wanted["kind"] == "pull"
    thread = get_object(api, repository, f"/{'pulls' if is_pull else 'issues'}/{number}", "title")
    posts, note = comments_of(api, repository, number, thread)
    if is_pull and thread.get("review_comments") != 0:
        found = get_list(api, repository, f"/pulls/{number}/comments", per_page="100")
        posts += [(raw_text(one.get("created_at")), review_post(one)) for one in found]
    posts.sort(key=lambda one: one[0])
    labels = thread.get("labels") if isinstance(thread.get("labels"), list) else []
    named = [raw_text(one.get("name")) for one in labels or [] if isinstance(one, dict)]
    head = facts_line(
        thread_state(thread, is_pull),
        f"opened by {author_of(thread)}",
        raw_text(thread.get("created_at"))[:10],
        counted(thread.get("comments"), "comment"),
        reactions(thread),
        f"labels: {', '.join(named)}" if named else "",
    )
    return {
        "title": f"{raw_text(thread.get('title'))} · {repository}#{number}",
        "author": author_of(thread),
        "published": raw_text(thread.get("created_at"))[:10],
        "text": "\n\n".join([f"{head}\n\n{body_of(thread)}".strip(), *(text for _, text in posts)]),
        "note": note,
        "cut": bool(note),
    }


def comments_of(
    api: SiteApi, repository: str, number: str, thread: dict[str, Any]
) -> tuple[list[tuple[str, str]], str]:
    """Return (time, post) of the comments of a thread, and a note on what is left out.

    Of a long thread the first and the last page of comments are read.
    """
    count = thread.get("comments")
    if count == 0:
        return [], ""
    place, size = f"/issues/{number}/comments", COMMENTS_A_PAGE
    found = get_list(api, repository, place, per_page=str(size))
    last = -(-count // size) if isinstance(count, int) else 1
    if last > 1:
        found += get_list(api, repository, place, per_page=str(size), page=str(last))
    note = f"Only the first {size} and the last of {count} comments are read." if last > 2 else ""
    return [(raw_text(one.get("created_at")), comment_post(one)) for one in found], note


def thread_state(thread: dict[str, Any], is_pull: bool) -> str:
    """Return what became of a thread, such as closed issue or merged pull request."""
    merged = thread.get("merged_at") or object_field(thread, "pull_request").get("merged_at")
    state = "merged" if merged else raw_text(thread.get("state"))
    reason = raw_text(thread.get("state_reason")).replace("_", " ")
    kind = "pull request" if is_pull or "pull_request" in thread else "issue"
    return f"{state} {kind}".strip() + (f" ({reason})" if state == "closed" and reason else "")


def comment_post(comment: dict[str, Any]) -> str:
    """Return a comment as a section."""
    return post(post_heading("Comment", comment), body_of(comment))


def review_post(comment: dict[str, Any]) -> str:
    """Return a comment on a line of a pull request's code as a section."""
    path, hunk = raw_text(comment.get("path")), comment.get("diff_hunk")
    lines = hunk.splitlines()[-3:] if isinstance(hunk, str) else []
    code = fenced("\n".join(lines), "diff") if lines else ""
    body = "\n\n".join(filter(None, (code, body_of(comment))))
    return post(f"{post_heading('Review comment', comment)} on {path}", body)


def post_heading(kind: str, item: dict[str, Any]) -> str:
    """Return the heading of a comment: author and role, day, reactions."""
    role = raw_text(item.get("author_association"))
    who = f"{kind} by {author_of(item)}" + (f" ({role.lower()})" if role in ROLES else "")
    return facts_line(who, raw_text(item.get("created_at"))[:10], reactions(item))


def author_of(item: dict[str, Any]) -> str:
    """Return the name of an author; accounts that are gone are called ghost."""
    found = object_field(item, "user") or object_field(item, "author")
    return raw_text(found.get("login")) or "ghost"


def reactions(item: dict[str, Any]) -> str:
    """Return how many reactions there were, "" if none."""
    total = object_field(item, "reactions").get("total_count")
    return counted(total, "reaction") if total else ""


def body_of(item: dict[str, Any]) -> str:
    """Return the Markdown that somebody wrote, below the headings of the thread."""
    body = item.get("body")
    return demoted(without_comments(body)) if isinstance(body, str) else ""


def read_releases(api: SiteApi, wanted: dict[str, Any]) -> Document:
    """Return a release, or the newest ones; raises SearchError."""
    repository, place = wanted["repository"], f"/releases{wanted['release']}"
    if wanted["release"]:
        releases = [get_object(api, repository, place, "tag_name")]
    else:
        releases = get_list(api, repository, place, per_page=str(MOST_RELEASES))
    if not releases:
        raise SearchError("http", "This repository has no releases.", "Read the repository.")
    names = [raw_text(one.get("name")) or raw_text(one.get("tag_name")) for one in releases]
    texts = [release_text(one) for one in releases]
    if not wanted["release"]:
        texts = [post(name, text) for name, text in zip(names, texts, strict=True)]
    title = f"{names[0]} · {repository}" if wanted["release"] else f"Releases · {repository}"
    return {
        "title": title,
        "author": author_of(releases[0]),
        "published": raw_text(releases[0].get("published_at"))[:10],
        "text": "\n\n".join(texts),
    }


def release_text(release: dict[str, Any]) -> str:
    """Return what a release says, and its files."""
    assets = release.get("assets") if isinstance(release.get("assets"), list) else []
    files = [
        f"- {raw_text(one.get('name'))} ({counted(one.get('download_count'), 'download')})"
        for one in assets or []
        if isinstance(one, dict)
    ]
    head = facts_line(
        raw_text(release.get("tag_name")),
        "pre-release" if release.get("prerelease") is True else "",
        f"by {author_of(release)}",
        raw_text(release.get("published_at"))[:10],
        reactions(release),
    )
    return "\n\n".join(filter(None, (head, body_of(release), "\n".join(files))))
