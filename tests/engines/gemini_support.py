"""Shared by the tests of gemini_search.py: a test case, and answers in the API's formats."""

from __future__ import annotations

import os
import stat
from typing import Any

from tests.support import FakeServerCase, new_folder

# What the user's own environment could change, beside what support.py takes away.
UNSET = dict.fromkeys(
    ("GEMINI_MODEL", "GEMINI_PROVIDERS", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION"), ""
)


class GeminiCase(FakeServerCase):
    """A test case that sends every provider's requests to the fake server; gemini has a key."""

    @staticmethod
    def environment_of(url: str, key: str) -> dict[str, str]:
        addresses = ("GEMINI_BASE_URL", "VERTEX_BASE_URL", "CODE_ASSIST_BASE_URL")
        return {**UNSET, **dict.fromkeys(addresses, url), "GEMINI_API_KEY": key}

    def last_body(self) -> Any:
        """The JSON body of the last request."""
        return self.server.requests[-1].json()

    def last_prompt(self) -> str:
        """The prompt of the last request."""
        return str(self.last_body()["contents"][0]["parts"][0]["text"])

    def fake_gcloud(self, body: str) -> str:
        """A PATH that starts with a gcloud shell script with this body."""
        folder = new_folder(self)
        program = folder / "gcloud"
        program.write_text(f"#!/bin/sh\n{body}\n")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        return f"{folder}{os.pathsep}{os.environ['PATH']}"


def answer(
    text: str = "", metadata: dict[str, Any] | None = None, reason: str = "STOP", **fields: Any
) -> dict[str, Any]:
    """An answer of generateContent with one text part; fields are added to the candidate."""
    candidate: dict[str, Any] = {"finishReason": reason, "index": 0, **fields}
    if text:
        candidate["content"] = {"parts": [{"text": text}], "role": "model"}
    if metadata is not None:
        candidate["groundingMetadata"] = metadata
    return {"candidates": [candidate], "modelVersion": "gemini-3.8-flash"}


def chunk(url: str, title: str = "") -> dict[str, Any]:
    """A grounding chunk for a web page."""
    return {"web": {"uri": url, **({"title": title} if title else {})}}


def support(text: str, words: str, *indices: int, drift: int = 0) -> dict[str, Any]:
    """A grounding support for words in a text, with its byte offsets shifted by drift."""
    start = len(text[: text.index(words)].encode()) + drift
    segment: dict[str, Any] = {"startIndex": start} if start else {}
    segment |= {"endIndex": start + len(words.encode()), "text": words}
    return {"segment": segment, "groundingChunkIndices": list(indices)}
