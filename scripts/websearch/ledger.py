"""What was spent: requests to engines that cost money, by engine and month, and their budgets.

The store counts every request that a paid engine has answered. WEB_SEARCH_BUDGET (such as
brave:900,serper:2000) names the requests that an engine may answer in a month (UTC).
"""

from __future__ import annotations

import os
import time

from websearch.common import SearchError, nearest, quoted
from websearch.engines import ENGINES

TYPE_CHECKING = False  # typing.TYPE_CHECKING without its import, which costs 5 ms
if TYPE_CHECKING:
    from websearch.common import Document
    from websearch.store import PageStore

BUDGET_VARIABLE = "WEB_SEARCH_BUDGET"
WARN_FROM = 0.8  # share of a budget from which a warning says what is left


def this_month() -> str:
    """Return the month in UTC as YYYY-MM."""
    return time.strftime("%Y-%m", time.gmtime())


def budgets() -> dict[str, int]:
    """Return engine -> requests a month, from WEB_SEARCH_BUDGET; raises SearchError."""
    text = os.environ.get(BUDGET_VARIABLE, "").strip()
    found: dict[str, int] = {}
    paid = [name for name, entry in ENGINES.items() if entry["paid"]]
    for part in filter(None, (one.strip() for one in text.split(","))):
        name, _, number = part.partition(":")
        name = name.strip().lower()
        if name not in paid or not number.strip().isdecimal():
            message = (
                f"{BUDGET_VARIABLE} must be such as brave:900,serper:2000, not {quoted(part)}."
            )
            hint = nearest(name, paid, "engine") or f"Engines that cost money: {', '.join(paid)}."
            raise SearchError("invalid_input", message, hint)
        found[name] = int(number)
    return found


def check_budget(engine: str, store: PageStore) -> str:
    """Return a warning if an engine's budget for the month is nearly used up, else "".

    Raises SearchError (quota) if it is used up, (invalid_input) for a malformed budget.
    """
    budget = budgets().get(engine)
    if budget is None:
        return ""
    spent = store.spent(this_month()).get(engine, 0)
    title = ENGINES[engine]["title"]
    state = f"{spent} of the {budget} requests that {BUDGET_VARIABLE} allows this month are used"
    if spent >= budget:
        hint = f"Raise {BUDGET_VARIABLE}, use another engine, or wait for the next month."
        raise SearchError("quota", f"{title} is not asked: {state}.", hint, unsent=True)
    return f"{title}: {state}." if spent >= WARN_FROM * budget else ""


def count_requests(engine: str, document: Document, store: PageStore) -> int:
    """Count the requests that an engine has answered with a document; return how many.

    A request that the provider refused is not counted. Serper says how many credits it took.
    """
    answered = document["ok"] or document["details"]["kind"] == "no_results"
    if not ENGINES[engine]["paid"] or not answered or "dry_run" in document:
        return 0
    credits_used = document.get("credits")
    requests = int(credits_used) if isinstance(credits_used, (int, float)) else 1
    store.add_spent(this_month(), engine, max(1, requests))
    return max(1, requests)
