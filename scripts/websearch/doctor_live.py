"""What doctor.py asks with `live`: requests to the configured providers that cost nothing.

Serper is asked for the account's balance, Gemini for its list of models, the user's SearXNG for its
settings. Other engines with a key have no request that costs nothing, and the report says so.
"""

from __future__ import annotations

import os
import time

from websearch import common, http_client
from websearch.common import SearchError, one_line
from websearch.engines import ENGINES, engine_address, has_other_address

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from websearch.common import Document

    Outcome = tuple[str, str, str]  # status (ok, warning, failed), message, hint

PROVIDER_TIMEOUT = 10.0  # seconds for one provider, so that one that hangs leaves time for others
LEAST_TIME = 0.1  # seconds that must be left to ask a provider
GEMINI_KEYS = ("GEMINI_API_KEY", "GOOGLE_API_KEY")  # of which the first that is set is used


def live_providers(secrets: dict[str, str]) -> list[str]:
    """Return the providers to ask: those whose key is set, and the user's own servers.

    secrets: what secrets.yaml holds.
    """
    keys = {name: entry["keys"] for name, entry in ENGINES.items() if "keys" in entry}
    keys["gemini"] = GEMINI_KEYS
    configured = [
        provider
        for provider, names in keys.items()
        if any(source.get(name, "").strip() for name in names for source in (os.environ, secrets))
    ]
    own_servers = [name for name, entry in ENGINES.items() if entry.get("own_server")]
    return configured + [name for name in own_servers if name in ASKED and has_other_address(name)]


def live_requests(providers: list[str]) -> list[dict[str, Any]]:
    """Return the requests to these providers, without keys; invalid addresses are left out."""
    documents = [ask(name, {"dry_run": True}) for name in providers if name in ASKED]
    requests = [document["request"] for document in documents if document["ok"]]
    return [{"method": request["method"], "url": request["url"]} for request in requests]


def ask(provider: str, params: dict[str, Any]) -> Document:
    """Return the document of a provider's request that costs nothing. Never raises."""
    import importlib

    module, function, _ = ASKED[provider]
    document: Document = getattr(importlib.import_module(module), function)(params)
    return document


def ask_provider(provider: str, deadline: float) -> Outcome:
    """Return what asking one provider shows, within what is left of the time."""
    left = min(PROVIDER_TIMEOUT, deadline - time.monotonic())
    if left < LEAST_TIME:
        return "warning", f"There was no time left to ask {provider}.", "Raise timeout."
    if provider not in ASKED:
        title = ENGINES[provider]["title"]
        message = f"{title} has no request that costs nothing, so its key was not tried."
        return "warning", message, "Search with it once to try it, for the price of one request."
    document = ask(provider, {"timeout": left, "max_chars": 0})
    if document["ok"]:
        return ASKED[provider][2](document)
    hint = document["details"].get("hint") or "Run its own script with verbose."
    return "failed", document["error"], hint


# ===== what the answers mean ======================================================================


def serper_outcome(document: Document) -> Outcome:
    """Return what Serper's account shows."""
    balance, rate = document["balance"], document.get("rate_limit")
    limit = f", {rate} requests a second" if rate else ""
    message = f"The key is accepted; {balance} credits left{limit}."
    if isinstance(balance, (int, float)) and balance <= 0:
        return "failed", message, "Buy credits at https://serper.dev."
    return "ok", message, ""


def gemini_outcome(document: Document) -> Outcome:
    """Return what Gemini's list of models shows."""
    names, default = [model["name"] for model in document["models"]], document["default_model"]
    message = f"The key is accepted; {len(names)} models, the default {default}"
    if default not in names:
        hint = "Set GEMINI_MODEL to one of the names that gemini_search.py models lists."
        return "warning", f"{message} is not among them.", hint
    return "ok", f"{message} among them.", ""


def run_searxng(params: dict[str, Any]) -> Document:
    """Return the public settings of the user's SearXNG: {ok, status, settings}. Never raises.

    params: timeout, dry_run.
    """
    try:
        address = engine_address("searxng")
        # SearXNG's limiter refuses requests without a language.
        headers = {"Accept": "application/json", "Accept-Language": "en"}
        request = {"method": "GET", "url": f"{address}/config", "headers": headers}
        if params.get("dry_run"):
            return {"ok": True, "request": request}
        response = http_client.exchange(request, common.deadline_of(params), lambda _: None)
    except SearchError as error:
        error.details["hint"] = "Start your SearXNG, or correct SEARXNG_BASE_URL."
        return common.error_document(error)
    try:
        settings = response.json() if response.status == 200 else None
    except (ValueError, RecursionError):  # another program's page
        settings = None
    return {"ok": True, "status": response.status, "settings": settings}


def searxng_outcome(document: Document) -> Outcome:
    """Return what the settings of the user's SearXNG show: its version and its engines."""
    try:
        settings = document["settings"]
        engines = [item for item in settings["engines"] if item["enabled"]]
        version = one_line(str(settings["version"]), 40)
    except (KeyError, TypeError):
        message = f"It answers {document['status']} to /config, which shows no SearXNG's settings."
        return "warning", message, "Check that SEARXNG_BASE_URL is its start page."
    if not engines:
        message = f"SearXNG {version} has no engine enabled."
        return "failed", message, "Enable engines in its settings.yml."
    return "ok", f"SearXNG {version}, {len(engines)} engines enabled.", ""


# provider -> module and function of its request, and the function that reads the document.
ASKED: dict[str, tuple[str, str, Callable[[Document], Outcome]]] = {
    "serper": ("serper_search", "run_account", serper_outcome),
    "gemini": ("gemini_search", "run_models", gemini_outcome),
    "searxng": ("websearch.doctor_live", "run_searxng", searxng_outcome),
}
