"""Read issues and pull requests on GitHub with their discussion, in chronological order."""

from __future__ import annotations

from websearch.engines.base.open_sources import counted, raw_text
from websearch.kit import list_field, object_field
from websearch.pages.extract.other_formats import fenced
from websearch.pages.page_content import PageContent
from websearch.pages.sites.github_api import author_of, body_of, get_list, get_object, reactions
from websearch.pages.sites.site_api import facts_line, post

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from websearch.pages.sites.site_api import SiteApi

PER_PAGE = 100  # comments per request: the API's limit
ROLES = ("OWNER", "MEMBER", "COLLABORATOR", "CONTRIBUTOR")  # author roles that are shown


def read_thread(api: SiteApi, wanted: dict[str, Any]) -> PageContent:
    """Return an issue or pull request with its discussion. Raises SearchError."""
    repository, number = wanted["repository"], wanted["number"]
    is_pull = wanted["kind"] == "pull"
    thread = get_object(api, repository, f"/{'pulls' if is_pull else 'issues'}/{number}", "title")
    posts, note = comments_of(api, repository, number, thread)
    if is_pull:
        reviews, omitted = reviews_of(api, repository, number, thread)
        posts += reviews
        note = f"{note} {omitted}".strip()
    posts.sort(key=lambda post: post[0])
    labels = [raw_text(label.get("name")) for label in list_field(thread, "labels")]
    head = facts_line(
        thread_state(thread, is_pull),
        f"opened by {author_of(thread)}",
        raw_text(thread.get("created_at"))[:10],
        counted(thread.get("comments"), "comment"),
        reactions(thread),
        f"labels: {', '.join(labels)}" if labels else "",
    )
    fields = {
        "title": f"{raw_text(thread.get('title'))} · {repository}#{number}",
        "author": author_of(thread),
        "published": raw_text(thread.get("created_at"))[:10],
    }
    texts = [f"{head}\n\n{body_of(thread)}".strip(), *(text for _, text in posts)]
    return PageContent("\n\n".join(texts), fields, note, is_cut=bool(note))


def comments_of(
    api: SiteApi, repository: str, number: str, thread: dict[str, Any]
) -> tuple[list[tuple[str, str]], str]:
    """Return (time, post) for each comment in a thread, and a note about omitted comments.

    If a thread is long, only its first and last pages of comments are read.
    """
    count = thread.get("comments")
    if count == 0:
        return [], ""
    path, size = f"/issues/{number}/comments", PER_PAGE
    comments = get_list(api, repository, path, per_page=str(size))
    last = -(-count // size) if isinstance(count, int) else 1
    if last > 1:
        comments += get_list(api, repository, path, per_page=str(size), page=str(last))
    note = f"Only the first {size} and the last of {count} comments were read." if last > 2 else ""
    posts = [
        (raw_text(item.get("created_at")), post(post_heading("Comment", item), body_of(item)))
        for item in comments
    ]
    return posts, note


def reviews_of(
    api: SiteApi, repository: str, number: str, thread: dict[str, Any]
) -> tuple[list[tuple[str, str]], str]:
    """Return (time, post) for each review or code comment, and a note about omitted posts."""
    size = PER_PAGE
    reviews = get_list(api, repository, f"/pulls/{number}/reviews", per_page=str(size))
    posts = []
    for review in reviews:
        verdict = raw_text(review.get("state")).replace("_", " ").lower()
        text, body = f"Review ({verdict})", body_of(review)
        if body or verdict != "commented":  # a review without text has only comments on the code
            posts.append(
                (raw_text(review.get("submitted_at")), post(post_heading(text, review), body))
            )
    count = thread.get("review_comments")
    if count != 0:
        reviews = get_list(api, repository, f"/pulls/{number}/comments", per_page=str(size))
        posts += [(raw_text(review.get("created_at")), review_post(review)) for review in reviews]
    is_cut = len(reviews) >= size or (isinstance(count, int) and count > size)
    note = f"Only the first {size} reviews and {size} review comments were read." if is_cut else ""
    return posts, note


def thread_state(thread: dict[str, Any], is_pull: bool) -> str:
    """Return a thread's state, such as "closed issue" or "merged pull request"."""
    merged = thread.get("merged_at") or object_field(thread, "pull_request").get("merged_at")
    state = "merged" if merged else raw_text(thread.get("state"))
    reason = raw_text(thread.get("state_reason")).replace("_", " ")
    kind = "pull request" if is_pull or "pull_request" in thread else "issue"
    return f"{state} {kind}".strip() + (f" ({reason})" if state == "closed" and reason else "")


def review_post(comment: dict[str, Any]) -> str:
    """Return a comment on a line in a pull request as a section."""
    path, hunk = raw_text(comment.get("path")), comment.get("diff_hunk")
    lines = hunk.splitlines()[-3:] if isinstance(hunk, str) else []
    code = fenced("\n".join(lines), "diff") if lines else ""
    body = "\n\n".join(filter(None, (code, body_of(comment))))
    return post(f"{post_heading('Review comment', comment)} on {path}", body)


def post_heading(kind: str, item: dict[str, Any]) -> str:
    """Return a comment's heading: author and role, date, reactions."""
    role = raw_text(item.get("author_association"))
    who = f"{kind} by {author_of(item)}" + (f" ({role.lower()})" if role in ROLES else "")
    day = raw_text(item.get("created_at") or item.get("submitted_at"))[:10]
    return facts_line(who, day, reactions(item))
