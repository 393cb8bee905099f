"""Error bodies of the Brave Search API, and its rate-limit headers."""

from __future__ import annotations

import time
import uuid
from http import HTTPStatus
from typing import Any

from .messages import Reply, json_reply

# Pay-as-you-go: 50 requests a second; the 0 for the month means that it has no limit.
USUAL_RATE = ("50, 0", "50;w=1, 0;w=2592000", "49, 0", "1, 1419704")
RATE_LIMITED_RATE = ("1, 15000", "1;w=1, 15000;w=2592000", "0, 14000", "1, 1000000")
QUOTA_LIMITED_RATE = ("1, 2000", "1;w=1, 2000;w=2592000", "1, 0", "1, 1419704")
CREDIT_EXHAUSTED_RATE = ("50, 0", "50;w=1, 0;w=2592000", "45, 0", "1, 2408219")


class RefusedError(Exception):
    """The request is answered with an error; carries the reply."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.status)
        self.reply = reply


def rate_headers(rate: tuple[str, str, str, str] = USUAL_RATE) -> dict[str, str]:
    """The four headers: one value for each window, separated by commas."""
    names = ("Limit", "Policy", "Remaining", "Reset")
    return {f"X-RateLimit-{name}": value for name, value in zip(names, rate, strict=True)}


def error_reply(
    status: int,
    code: str,
    detail: str,
    meta: dict[str, Any] | None = None,
    rate: tuple[str, str, str, str] = USUAL_RATE,
) -> Reply:
    """An error in the shape that the live API sends."""
    error = {
        "id": _error_id(code),
        "status": status,
        "detail": detail,
        "meta": meta or {},
        "code": code,
    }
    document = {"type": "ErrorResponse", "error": error, "time": int(time.time())}
    return json_reply(document, status, rate_headers(rate))


def missing_subscription() -> Reply:
    """The error in the plural shape of the documentation's examples; clients must read both."""
    error = {
        "id": _error_id("SUBSCRIPTION_NOT_FOUND"),
        "code": "SUBSCRIPTION_NOT_FOUND",
        "detail": "No subscription found.",
        "status": HTTPStatus.NOT_FOUND,
        "meta": {"component": "subscriptions"},
    }
    document = {"type": "ErrorResponse", "errors": [error], "time": int(time.time())}
    return json_reply(document, HTTPStatus.NOT_FOUND, rate_headers())


def invalid_token() -> Reply:
    """An unknown key: 422, and not 401."""
    return error_reply(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        "SUBSCRIPTION_TOKEN_INVALID",
        "The provided subscription token is invalid.",
        {"component": "authentication"},
    )


def not_in_plan() -> Reply:
    """A known key whose plan lacks the endpoint or an option."""
    return error_reply(
        HTTPStatus.BAD_REQUEST,
        "OPTION_NOT_IN_PLAN",
        "The option is not subscribed in the plan.",
        {"component": "authentication"},
    )


def credit_exhausted() -> Reply:
    """The credit of a pay-as-you-go key is used up."""
    return error_reply(
        HTTPStatus.PAYMENT_REQUIRED, "CREDIT_EXHAUSTED", "credits used up", None,
        CREDIT_EXHAUSTED_RATE,
    )  # fmt: skip


def rate_limited() -> Reply:
    """Too many requests in this second."""
    meta = {
        "plan": "Free",
        "rate_limit": 1,
        "rate_current": 1,
        "quota_limit": 15_000,
        "quota_current": 1_000,
        "org_rate_limit": None,
        "org_rate_current": 0,
        "component": "rate_limiter",
    }
    detail = "Request rate limit exceeded for plan"
    return error_reply(
        HTTPStatus.TOO_MANY_REQUESTS, "RATE_LIMITED", detail, meta, RATE_LIMITED_RATE
    )


def quota_limited() -> Reply:
    """The requests of this month are used up."""
    detail = "Request quota limit exceeded for plan."
    meta = {"component": "rate_limiter"}
    return error_reply(
        HTTPStatus.TOO_MANY_REQUESTS, "QUOTA_LIMITED", detail, meta, QUOTA_LIMITED_RATE
    )


def unavailable() -> Reply:
    """The service is down for a moment."""
    return error_reply(
        HTTPStatus.SERVICE_UNAVAILABLE, "INTERNAL", "The service is temporarily unavailable."
    )


def not_found(detail: str) -> Reply:
    """An unknown path, or a key of an earlier answer that is not known."""
    return error_reply(HTTPStatus.NOT_FOUND, "NOT_FOUND", detail)


def method_not_allowed() -> Reply:
    """A known path, but not with this method."""
    return error_reply(
        HTTPStatus.METHOD_NOT_ALLOWED, "METHOD_NOT_ALLOWED", "The method is not allowed."
    )


def invalid_parameters(problems: list[dict[str, Any]]) -> Reply:
    """Parameters that are missing or wrong; each problem names its location."""
    return error_reply(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        "VALIDATION",
        "Unable to validate request parameter(s)",
        {"errors": problems},
    )


def problem(
    location: list[str | int], kind: str, message: str, given: Any = None
) -> dict[str, Any]:
    """One entry of meta.errors."""
    return {"type": kind, "loc": location, "msg": message, "input": given}


def _error_id(code: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_OID, code))
