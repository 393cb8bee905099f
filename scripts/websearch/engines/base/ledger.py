"""Spending: requests to paid engines by engine and month, and their budgets.

The store counts the requests to paid engines, except those that the provider refused.
WEB_SEARCH_BUDGET (such as brave:900,serper:2000) limits the requests per engine and month (UTC),
total:3000 those to all engines. For Serper, credits are counted.
"""

from __future__ import annotations

import math
import time

from websearch.engines.table import BUDGET_VARIABLE, ENGINES, TOTAL, budgets
from websearch.kit import SearchError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from websearch.store.page_store import PageStore

UNCOUNTED = "Calls of brave_search.py, serper_search.py and gemini_search.py are not counted."
WARN_FROM = 0.8  # share of a budget from which a warning reports its use


def this_month() -> str:
    """Return the month in UTC as YYYY-MM."""
    return time.strftime("%Y-%m", time.gmtime())


def requests_left(engine: str, spent: dict[str, int]) -> float:
    """Return the requests that the budgets of an engine and of all engines leave; inf without any.

    spent: engine -> requests of this month; more than allowed is a negative number. Raises
    SearchError.
    """
    limits = budgets()
    left = limits.get(engine, math.inf) - spent.get(engine, 0)
    return min(left, limits.get(TOTAL, math.inf) - sum(spent.values()))


def check_budget(engine: str, store: PageStore) -> None:
    """Raise SearchError (quota) if the budget of an engine is used up. Counts nothing."""
    if ENGINES[engine].costs_money() and requests_left(engine, store.spent(this_month())) < 1:
        raise used_up(engine)


def used_up(engine: str) -> SearchError:
    """Return the error for an engine whose budget is used up."""
    limits = budgets()
    limit = f"{limits[engine]}" if engine in limits else f"{limits[TOTAL]} ({TOTAL})"
    message = f"{ENGINES[engine].title} was skipped because the {limit} requests of "
    message += f"{BUDGET_VARIABLE} are used up."
    hint = f"Use another engine, raise {BUDGET_VARIABLE}, or wait for the next month."
    return SearchError("quota", message, hint)


def planned_cost(engine: str, requests: int, count: int) -> dict[str, float]:
    """Return the cost of requests for count results: requests, credits and usd, if known."""
    prices = ENGINES[engine]
    cost: dict[str, float] = {"requests": requests}
    if prices.credits:
        each = max(number for least, number in prices.credits.items() if least <= count)
        cost["credits"] = requests * each
    if prices.usd:
        cost["usd"] = round(cost.get("credits", requests) * prices.usd, 4)
    return cost


def begin_request(engine: str, store: PageStore, requests: int = 1) -> tuple[str, int]:
    """Count requests to an engine that costs money, before they are sent.

    Processes that ask at once therefore share a budget. Returns the month and how many
    requests the budget allows; end_request takes back those that cost nothing. Raises SearchError
    (quota) if the budget is used up or cannot be counted, (invalid_input) if it is malformed.
    """
    month = this_month()
    if not ENGINES[engine].costs_money():
        return month, requests
    limits, title = budgets(), ENGINES[engine].title
    spent = store.add_spent(month, engine, requests)
    if not {engine, TOTAL} & limits.keys():
        return month, requests
    if not spent or store.path == ":memory:":
        reason = store.warnings[0] if store.warnings else "The store keeps nothing (:memory:)."
        message = f"{title} was skipped because its budget cannot be tracked. {reason}"
        hint = f"Set GLSI_DB_PATH to a file in a writable folder. Or remove {engine} from "
        raise SearchError("quota", message, f"{hint}{BUDGET_VARIABLE} to ask without a budget.")
    excess = int(min(requests, max(0, -requests_left(engine, spent))))
    if excess:
        store.add_spent(month, engine, -excess)
    if excess == requests:
        raise used_up(engine)
    return month, requests - excess


def end_request(
    engine: str, begun: tuple[str, int], kind: str, taken: object, store: PageStore
) -> dict[str, int]:
    """Correct the count of a month by the cost of requests; return engine -> requests.

    {}: they cost nothing. begun: the result of begin_request. kind: of the error, "" if there is
    none. taken: the credits that the provider took, None if it does not report them.
    """
    month, counted = begun
    if not ENGINES[engine].costs_money():
        return {}
    requests = max(1, int(taken)) if isinstance(taken, (int, float)) else 1
    # A request that timed out counts: the provider may have answered it.
    if kind not in ("", "no_results", "timeout"):
        requests = 0
    if requests != counted:
        store.add_spent(month, engine, requests - counted)
    return {engine: requests} if requests else {}


def budget_warnings(engines: Collection[str], store: PageStore) -> list[str]:
    """Return a warning per engine whose budget is nearly used up.

    engines: engines of this call, whose budgets are therefore valid.
    """
    limits = budgets() if engines else {}
    spent = store.spent(this_month()) if limits else {}
    used = {**spent, TOTAL: sum(spent.values())}
    return [
        f"{ENGINES[name].title if name in ENGINES else 'All engines'}: {used.get(name, 0)} of the "
        f"{limit} requests of {BUDGET_VARIABLE} are used this month."
        for name, limit in limits.items()
        if name in (*engines, TOTAL) and used.get(name, 0) >= WARN_FROM * limit
    ]
