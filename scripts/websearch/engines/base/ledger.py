"""Spending: requests to paid engines per engine and month, and their budgets.

The store counts the requests to paid engines, except those that the provider refused.
WEB_SEARCH_BUDGET (such as brave:900,serper:2000) limits the requests per engine and month (UTC),
total:3000 limits the requests to all engines. For Serper, credits are counted.
"""

from __future__ import annotations

import _thread  # has threading's lock; importing threading itself takes 2 ms
import math
import time

from websearch.engines.table import BUDGET_VARIABLE, ENGINES, TOTAL, budgets
from websearch.kit import SearchError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from websearch.store.page_store import PageStore

UNCOUNTED = "Calls to brave_search.py, serper_search.py and gemini_search.py are not counted."
WARN_FROM = 0.8  # share of a budget from which on a warning reports its use


class RunBudget:
    """The paid requests of a run, such as a batch, and the most that it may make.

    spent: engine -> requests; in a dry run, those that it would make.
    """

    def __init__(self, limit: float = math.inf) -> None:
        self.limit, self.spent = limit, dict[str, int]()
        self.lock = _thread.allocate_lock()

    def add(self, engine: str, requests: int) -> None:
        """Count requests; a negative number takes them back."""
        with self.lock:
            self.spent[engine] = self.spent.get(engine, 0) + requests

    def take(self, engine: str, requests: int, most: float = math.inf) -> int:
        """Count these requests, but no more than most allows; return how many were counted.

        Raises SearchError (quota) if none is left.
        """
        with self.lock:
            allowed = int(min(requests, most, self.limit - sum(self.spent.values())))
            if allowed < 1:
                raise used_up(engine, self.limit if most >= 1 else None)
            self.spent[engine] = self.spent.get(engine, 0) + allowed
        return allowed


def this_month() -> str:
    """Return the month in UTC as YYYY-MM."""
    return time.strftime("%Y-%m", time.gmtime())


def requests_left(engine: str, spent: dict[str, int]) -> float:
    """Return the requests left in the budgets of an engine and of all engines; inf without one.

    spent: engine -> requests of this month; more than allowed is a negative number. Raises
    SearchError.
    """
    limits = budgets()
    left = limits.get(engine, math.inf) - spent.get(engine, 0)
    return min(left, limits.get(TOTAL, math.inf) - sum(spent.values()))


def plan_request(engine: str, count: int, store: PageStore, run: RunBudget) -> dict[str, int]:
    """Return engine -> billed requests (credits for Serper) for count results; count them for run.

    {}: it is free. The store does not count them. Raises SearchError (quota) if a budget is used
    up.
    """
    if not ENGINES[engine].costs_money():
        return {}
    spent = store.spent(this_month())
    spent |= {name: spent.get(name, 0) + number for name, number in run.spent.items()}
    cost = planned_cost(engine, [count])
    requests = int(cost.get("credits", cost["requests"]))
    return {engine: run.take(engine, requests, requests_left(engine, spent))}


def used_up(engine: str, run_limit: float | None = None) -> SearchError:
    """Return the error for an engine whose budget is used up. run_limit: the run's budget."""
    title = ENGINES[engine].title
    if run_limit is not None:
        message = f"{title} was skipped because the {run_limit:g} paid requests of budget are used."
        return SearchError("quota", message, "Raise {budget}. Or use another engine.")
    limits = budgets()
    limit = f"{limits[engine]}" if engine in limits else f"{limits[TOTAL]} ({TOTAL})"
    message = f"{title} was skipped because the {limit} requests of {BUDGET_VARIABLE} are used up."
    if limits.get(engine) == 0:
        message = f"{title} was skipped because {BUDGET_VARIABLE} allows it no requests."
    hint = f"Use another engine, raise {BUDGET_VARIABLE}, or wait for the next month."
    return SearchError("quota", message, hint)


def planned_cost(engine: str, counts: list[int]) -> dict[str, float]:
    """Return the cost of questions: requests, credits and usd, if known.

    counts: the number of results of each question.
    """
    prices = ENGINES[engine]
    needed = [(prices.requests_for(count), count) for count in counts]
    cost: dict[str, float] = {"requests": sum(requests for requests, _ in needed)}
    if prices.credits:
        cost["credits"] = sum(
            requests * max(number for least, number in prices.credits.items() if least <= count)
            for requests, count in needed
        )
    if prices.usd:
        cost["usd"] = round(cost.get("credits", cost["requests"]) * prices.usd, 4)
    return cost


def begin_request(
    engine: str, store: PageStore, requests: int = 1, run: RunBudget | None = None
) -> tuple[str, int, RunBudget]:
    """Count requests to an engine that costs money, before they are sent.

    Simultaneous processes therefore share a budget. Returns the month, how many requests the
    budgets allow, and the budget of the run (run); end_request subtracts what cost nothing. Raises
    SearchError (quota) if a budget is used up or cannot be counted, (invalid_input) if it is
    malformed.
    """
    month, run, excess = this_month(), run or RunBudget(), 0
    if not ENGINES[engine].costs_money():
        return month, requests, run
    limits = budgets()
    allowed = run.take(engine, requests)
    try:
        spent = store.add_spent(month, engine, allowed)
        if not {engine, TOTAL} & limits.keys():
            return month, allowed, run
        if not spent or store.path == ":memory:":
            raise untracked(engine, store)
        excess = int(min(allowed, max(0, -requests_left(engine, spent))))
        if excess:
            store.add_spent(month, engine, -excess)
        if excess == allowed:
            raise used_up(engine)
    except SearchError:
        run.add(engine, -allowed)
        raise
    run.add(engine, -excess)
    return month, allowed - excess, run


def untracked(engine: str, store: PageStore) -> SearchError:
    """Return the error for an engine whose budget cannot be counted in the store."""
    reason = store.warnings[0] if store.warnings else "The store keeps nothing (:memory:)."
    title = ENGINES[engine].title
    message = f"{title} was skipped because its budget cannot be tracked. {reason}"
    hint = f"Set GLSI_DB_PATH to a file in a writable folder. Or remove {engine} from "
    return SearchError("quota", message, f"{hint}{BUDGET_VARIABLE} to use it without a budget.")


def end_request(
    engine: str, begun: tuple[str, int, RunBudget], kind: str, taken: object, store: PageStore
) -> dict[str, int]:
    """Correct a month's count by the actual cost of requests; return engine -> requests.

    {}: they cost nothing. begun: the result of begin_request. kind: the error's kind, or "". taken:
    the credits that the provider charged, None if it does not report them.
    """
    month, counted, run = begun
    if not ENGINES[engine].costs_money():
        return {}
    requests = max(1, int(taken)) if isinstance(taken, (int, float)) else 1
    # A request that timed out counts: the provider may have answered it.
    if kind not in ("", "no_results", "timeout"):
        requests = 0
    if requests != counted:
        store.add_spent(month, engine, requests - counted)
        run.add(engine, requests - counted)
    return {engine: requests} if requests else {}


def budget_warnings(engines: Collection[str], store: PageStore) -> list[str]:
    """Return a warning per engine whose budget is nearly used up.

    engines: this call's engines, whose budgets are therefore valid.
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
