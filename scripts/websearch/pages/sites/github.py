"""Read pages on GitHub: files, folders (their README), issues, pull requests and releases."""

from __future__ import annotations

import re

from websearch.engines.base.open_sources import counted, raw_text
from websearch.engines.github import PRIVATE, hides_private, rest_request
from websearch.engines.table import GITHUB_RAW
from websearch.kit import SearchError, base_url, drop_empty, list_field, object_field
from websearch.pages.extract.other_formats import check_binary, fenced, notebook_markdown
from websearch.pages.fetch.charsets import decode_body
from websearch.pages.fetch.fetch import Fetched, check_status, fetch_page, is_file
from websearch.pages.page_content import PageContent
from websearch.pages.sites.github_api import (
    author_of,
    body_of,
    get_list,
    get_object,
    reactions,
    read_plain,
    without_comments,
)
from websearch.pages.sites.github_threads import read_thread
from websearch.pages.sites.site_api import facts_line, post

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from websearch.pages.sites.site_api import SiteApi

RAW_TYPE = "application/vnd.github.raw+json"
MOST_RELEASES = 10  # releases per list
# First path segments on github.com that are not a repository's owner.
SITE_PATHS = frozenset(
    "about account apps codespaces collections contact customer-stories dashboard enterprise "
    "events explore features issues join login marketplace new notifications orgs organizations "
    "pricing pulls readme resources search security settings site solutions sponsors stars team "
    "topics trending users".split()
)
# Extensions of files that are shown as text.
PLAIN_FILES = ("md", "markdown", "mdx", "txt", "rst", "adoc", "org")

# ===== addresses ==================================================================================


def known_page(path: str, query: str) -> dict[str, Any] | None:
    """Return {kind, repository, ...} for the content at a URL, or None."""
    owner, name, *rest = [*path.strip("/").split("/"), ""]
    rest = list(filter(None, rest))
    if owner.lower() in SITE_PATHS or not all(
        re.fullmatch(r"[\w.-]+", part) for part in (owner, name)
    ):
        return None
    repository = f"{owner}/{name.removesuffix('.git')}"
    kind, parts = (rest[0], rest[1:]) if rest else ("tree", [])
    if kind == "tree":
        folder = {"ref": parts[0] if parts else "", "folder": "/".join(parts[1:])}
        return {"kind": "folder", "repository": repository, **folder}
    if kind == "blob" and len(parts) > 1:
        return {"kind": "file", "repository": repository, "path": "/".join(parts)}
    if kind in ("issues", "pull") and len(parts) == 1 and re.fullmatch(r"\d{1,9}", parts[0]):
        return {"kind": kind, "repository": repository, "number": parts[0]}
    if kind == "releases" and (
        parts in ([], ["latest"]) or (len(parts) == 2 and parts[0] == "tag")
    ):
        release = f"/tags/{parts[1]}" if parts[1:] else f"/{parts[0]}" if parts else ""
        return {"kind": "releases", "repository": repository, "release": release}
    return None


def read_site_page(api: SiteApi, wanted: dict[str, Any]) -> PageContent | Fetched:
    """Return the content of a GitHub page. Raises SearchError."""
    readers = {
        "folder": read_folder, "file": read_file, "issues": read_thread, "pull": read_thread,
        "releases": read_releases,
    }  # fmt: skip
    if hides_private() and wanted["kind"] != "file":  # files are requested without the token
        check_public(api, wanted["repository"])
    return readers[wanted["kind"]](api, wanted)


def check_public(api: SiteApi, repository: str) -> None:
    """Raise SearchError (refused) for a private repository."""
    if about_repository(api, repository).get("private") is not False:
        message = f"{repository} is not public, and {PRIVATE} is not set."
        raise SearchError("refused", message, f"The user may set {PRIVATE}=1.")


def about_repository(api: SiteApi, repository: str) -> dict[str, Any]:
    """Return the API's data about a repository, requested once per call. Raises SearchError."""
    about: dict[str, Any] = api.shared.get(
        f"github {repository}", lambda: get_object(api, repository, "", "full_name")
    )
    return about


# ===== files and folders ==========================================================================


def get_raw(api: SiteApi, path: str) -> Fetched:
    """Return a file in a repository (OWNER/NAME/REF/PATH); this does not count toward a quota."""
    url = f"{base_url(*GITHUB_RAW)}/{path}"
    fetched = fetch_page(url, api.deadline, api.robots)
    check_status(fetched)
    return fetched


def read_file(api: SiteApi, wanted: dict[str, Any]) -> PageContent | Fetched:
    """Return a file: text unchanged, code as a code block, PDF and office files as fetched."""
    from urllib.parse import unquote

    fetched = get_raw(api, f"{wanted['repository']}/{wanted['path']}")
    if is_file(fetched.response.body):
        return fetched
    content_type = fetched.response.headers.get("content-type", "").lower()
    check_binary(fetched.response.body, content_type, "GitHub")
    text = decode_body(fetched.response.body, content_type).replace("\r\n", "\n")
    ending = wanted["path"].rpartition("/")[2].rpartition(".")[2].lower()
    if ending == "ipynb":
        text = notebook_markdown(text).text
    elif ending not in PLAIN_FILES:
        text = fenced(text, ending if re.fullmatch(r"[a-z0-9+]{1,12}", ending) else "")
    title = f"{wanted['repository']}: {unquote(wanted['path'])}"
    return PageContent(text, {"title": title}, is_cut=fetched.response.cut)


def read_folder(api: SiteApi, wanted: dict[str, Any]) -> PageContent:
    """Return a folder's README; for a repository's root, also GitHub's metadata."""
    about: dict[str, Any] = {}
    if not wanted["folder"]:
        about = about_repository(api, wanted["repository"])
    facts = repository_facts(about) if about else ""
    license_id = raw_text(object_field(about, "license").get("spdx_id"))
    text = "\n\n".join(filter(None, (raw_text(about.get("description")), facts)))
    note = ""
    try:
        text = "\n\n".join(filter(None, (text, without_comments(readme(api, wanted)))))
    except SearchError as error:
        if not text:
            raise
        if error.status != 404:
            note = f"The README could not be read: {error}"
    path = "/".join(filter(None, (wanted["repository"], wanted["folder"])))
    fields = {
        "title": path,
        "author": wanted["repository"].partition("/")[0],
        "published": raw_text(about.get("pushed_at"))[:10],
        "license": license_id if license_id != "NOASSERTION" else "",
    }
    return PageContent(text, fields, note, is_cut=bool(note))


def repository_facts(about: dict[str, Any]) -> str:
    """Return GitHub's metadata about a repository on one line."""
    topics = ", ".join(list_field(about, "topics", str))
    pushed = raw_text(about.get("pushed_at"))[:10]
    homepage = raw_text(about.get("homepage"))
    return facts_line(
        counted(about.get("stargazers_count"), "star"),
        counted(about.get("forks_count"), "fork"),
        raw_text(about.get("language")),
        raw_text(object_field(about, "license").get("spdx_id")),
        f"last push {pushed}" if pushed else "",
        "archived" if about.get("archived") is True else "",
        f"topics: {topics}" if topics else "",
        homepage if homepage.startswith("http") else "",
    )


def readme(api: SiteApi, wanted: dict[str, Any]) -> str:
    """Return the text of a folder's README. Raises SearchError.

    Try README.md first, because that does not count toward a quota; the API finds other names.
    """
    repository, ref, folder = wanted["repository"], wanted["ref"], wanted["folder"]
    path = "/".join(filter(None, (repository, ref or "HEAD", folder, "README.md")))
    try:
        response = get_raw(api, path).response
        return decode_body(response.body, response.headers.get("content-type", "").lower())
    except SearchError:
        path = "/".join(filter(None, (f"/repos/{repository}/readme", folder)))
        request = rest_request(path, drop_empty({"ref": ref}), RAW_TYPE)
        return str(api.fetch(request, read_plain).value)


# ===== releases ===================================================================================


def read_releases(api: SiteApi, wanted: dict[str, Any]) -> PageContent:
    """Return a release, or the newest releases. Raises SearchError."""
    repository, path = wanted["repository"], f"/releases{wanted['release']}"
    if wanted["release"]:
        releases = [get_object(api, repository, path, "tag_name")]
    else:
        releases = get_list(api, repository, path, per_page=str(MOST_RELEASES))
    if not releases:
        raise SearchError(
            "http", "This repository has no releases.", "Read the repository's main page."
        )
    names = [raw_text(item.get("name")) or raw_text(item.get("tag_name")) for item in releases]
    texts = list(map(release_text, releases))
    if not wanted["release"]:
        texts = [post(name, text) for name, text in zip(names, texts, strict=True)]
    title = f"{names[0]} · {repository}" if wanted["release"] else f"Releases · {repository}"
    fields = {
        "title": title,
        "author": author_of(releases[0]),
        "published": raw_text(releases[0].get("published_at"))[:10],
    }
    return PageContent("\n\n".join(texts), fields)


def release_text(release: dict[str, Any]) -> str:
    """Return a release's metadata, text and list of files."""
    files = [
        f"- {raw_text(asset.get('name'))} ({counted(asset.get('download_count'), 'download')})"
        for asset in list_field(release, "assets")
    ]
    head = facts_line(
        raw_text(release.get("tag_name")),
        "pre-release" if release.get("prerelease") is True else "",
        f"by {author_of(release)}",
        raw_text(release.get("published_at"))[:10],
        reactions(release),
    )
    return "\n\n".join(filter(None, (head, body_of(release), "\n".join(files))))
