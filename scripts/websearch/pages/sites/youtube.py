"""Read video pages on YouTube from their embedded data, because they contain no text."""

from __future__ import annotations

import json
import re

from websearch.kit import list_field, object_field
from websearch.pages.extract.page_data import short_number
from websearch.pages.page_content import PageContent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


_HOST = r"https?://(?:(?:www|m|music)\.)?(?:youtube(?:-nocookie)?\.com|youtu\.be)/"
_PLAYER = r"ytInitialPlayerResponse\s{0,9}=\s{0,9}\{"
NOTE = "This is the page's description and data about the video, not a transcript."


def read_video(html: str, url: str) -> PageContent | None:
    """Return title, author, published, text and note for a video page; None for other pages."""
    found = re.search(_PLAYER, html) if re.match(_HOST, url) else None
    if not found:
        return None
    decoder = json.JSONDecoder(strict=False, parse_int=short_number)
    try:
        data: dict[str, Any] = decoder.raw_decode(html, found.end() - 1)[0]
    except (ValueError, RecursionError):
        return None
    video = object_field(data, "videoDetails")
    more = object_field(object_field(data, "microformat"), "playerMicroformatRenderer")
    title = text_field(video, "title")
    if not title:
        return None
    channel = text_field(video, "author") or text_field(more, "ownerChannelName")
    day = (text_field(more, "publishDate") or text_field(more, "uploadDate"))[:10]
    facts = [
        f"Channel: {channel}" if channel else "",
        f"Published: {day}" if day else "",
        f"Length: {clock(text_field(video, 'lengthSeconds'))}",
        f"Keywords: {', '.join(str(word) for word in list_field(video, 'keywords')[:20])}",
    ]
    head = "\n".join(fact for fact in facts if not fact.endswith(": "))
    text = f"{head}\n\n{text_field(video, 'shortDescription')}".strip()
    fields = {"title": title, "author": channel, "published": day}
    return PageContent(text, fields, NOTE, is_foreign=True)


def text_field(data: dict[str, Any], name: str) -> str:
    """Return the text in a field; "" if the field has no text."""
    value = data.get(name)
    return value.strip() if isinstance(value, str) else ""


def clock(seconds: str) -> str:
    """Return seconds as hours, minutes and seconds (1:02:03); "" if they are not a number."""
    if not re.fullmatch(r"[1-9]\d{0,6}", seconds):
        return ""
    minutes, rest = divmod(int(seconds), 60)
    return (
        f"{minutes // 60}:{minutes % 60:02}:{rest:02}" if minutes >= 60 else f"{minutes}:{rest:02}"
    )
