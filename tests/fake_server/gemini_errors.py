"""Error bodies of Google's generative APIs."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from .messages import Reply, json_reply

TYPE = "type.googleapis.com/google.rpc."
HELP = {
    "@type": TYPE + "Help",
    "links": [{"description": "Learn about quotas", "url": "https://quota.example.com/limits"}],
}
RETRY_SECONDS = 1


class RefusedError(Exception):
    """The request is answered with an error; carries the reply."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.status)
        self.reply = reply


def error_reply(
    status: int, status_text: str, message: str, details: list[dict[str, Any]] | None = None
) -> Reply:
    """An error in Google's usual shape."""
    error: dict[str, Any] = {"code": int(status), "message": message, "status": status_text}
    if details:
        error["details"] = details
    return json_reply({"error": error}, status)


def invalid(message: str) -> Reply:
    """A request that the API does not understand."""
    return error_reply(HTTPStatus.BAD_REQUEST, "INVALID_ARGUMENT", message)


def reason(name: str, **metadata: str) -> dict[str, Any]:
    """The detail that gives an error's reason."""
    return {
        "@type": TYPE + "ErrorInfo",
        "reason": name,
        "domain": "googleapis.com",
        "metadata": metadata,
    }


def unknown_key() -> Reply:
    """A key that does not exist: 400, and not 401. The debug text of the real one quotes it."""
    message = "API key not valid. Please pass a valid API key."
    debug = {"@type": TYPE + "DebugInfo", "detail": "Invalid API key: (quoted here)"}
    details = [reason("API_KEY_INVALID", service="generativelanguage.googleapis.com"), debug]
    return error_reply(HTTPStatus.BAD_REQUEST, "INVALID_ARGUMENT", message, details)


def unknown_key_in_words() -> Reply:
    """The same without details, as proxies pass it on: only the words name the key."""
    return invalid("API key not valid. Please pass a valid API key.")


def missing_key() -> Reply:
    """A request without a key."""
    message = (
        "Method doesn't allow unregistered callers (callers without established identity). "
        "Please use API Key or other form of API consumer identity to call this API."
    )
    return error_reply(HTTPStatus.FORBIDDEN, "PERMISSION_DENIED", message)


def old_key() -> Reply:
    """A key of the kind that is no longer accepted, or a token that is none."""
    message = (
        "Request had invalid authentication credentials. Expected OAuth 2 access token, login "
        "cookie or other valid authentication credential."
    )
    return error_reply(HTTPStatus.UNAUTHORIZED, "UNAUTHENTICATED", message)


def leaked_key() -> Reply:
    """A key that was found in public."""
    message = "Your API key was reported as leaked. Please use another API key."
    return error_reply(HTTPStatus.FORBIDDEN, "PERMISSION_DENIED", message)


def service_disabled() -> Reply:
    """A key whose project has not switched the API on."""
    message = "The API has not been used in project 1 before or it is disabled."
    return error_reply(
        HTTPStatus.FORBIDDEN, "PERMISSION_DENIED", message, [reason("SERVICE_DISABLED")]
    )


def not_permitted() -> Reply:
    """A Vertex AI token whose account may not predict."""
    message = "Permission 'aiplatform.endpoints.predict' denied on resource."
    return error_reply(
        HTTPStatus.FORBIDDEN, "PERMISSION_DENIED", message, [reason("IAM_PERMISSION_DENIED")]
    )


def place_not_served() -> Reply:
    """The API is not offered where the caller is."""
    message = "User location is not supported for the API use."
    return error_reply(HTTPStatus.BAD_REQUEST, "FAILED_PRECONDITION", message)


def too_many_requests() -> Reply:
    """The requests of this minute are used up; says when to come back."""
    violation = {
        "quotaMetric": "generativelanguage.googleapis.com/generate_content_paid_tier_requests",
        "quotaId": "GenerateRequestsPerMinutePerProjectPerModel-PaidTier",
        "quotaValue": "150",
    }
    details: list[dict[str, Any]] = [
        {"@type": TYPE + "QuotaFailure", "violations": [violation]},
        HELP,
        {"@type": TYPE + "RetryInfo", "retryDelay": f"{RETRY_SECONDS}s"},
    ]
    message = f"You exceeded your current quota.\nPlease retry in {RETRY_SECONDS}.0123s."
    return error_reply(HTTPStatus.TOO_MANY_REQUESTS, "RESOURCE_EXHAUSTED", message, details)


def forbidden_by_rate() -> Reply:
    """The rate limit as older endpoints of Google's say it: 403 with a reason."""
    message = "Quota exceeded for quota metric 'Generate Content API requests per minute'."
    limit = {"quota_limit": "GenerateContentRequestsPerMinutePerProject"}
    details = [reason("RATE_LIMIT_EXCEEDED", **limit, quota_limit_value="15")]
    return error_reply(HTTPStatus.FORBIDDEN, "PERMISSION_DENIED", message, details)


def day_used_up() -> Reply:
    """The requests of this day are used up. It names a delay, which does not help."""
    violation = {
        "quotaMetric": "generativelanguage.googleapis.com/generate_content_free_tier_requests",
        "quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier",
        "quotaValue": "500",
    }
    details: list[dict[str, Any]] = [
        {"@type": TYPE + "QuotaFailure", "violations": [violation]},
        {"@type": TYPE + "RetryInfo", "retryDelay": "0.5s"},
    ]
    message = "You exceeded your current quota, please check your plan and billing details."
    return error_reply(HTTPStatus.TOO_MANY_REQUESTS, "RESOURCE_EXHAUSTED", message, details)


def no_quota_for_model() -> Reply:
    """A free key that asks a model of the paid tier: every limit is 0, and a delay is named."""
    metric = "generativelanguage.googleapis.com/generate_content_free_tier_requests"
    violations = [
        {
            "quotaMetric": metric,
            "quotaId": f"GenerateRequestsPer{period}PerProjectPerModel-FreeTier",
        }
        for period in ("Minute", "Day")
    ]
    details: list[dict[str, Any]] = [
        {"@type": TYPE + "QuotaFailure", "violations": violations},
        HELP,
        {"@type": TYPE + "RetryInfo", "retryDelay": "39s"},
    ]
    message = (
        "You exceeded your current quota, please check your plan and billing details.\n"
        f"* Quota exceeded for metric: {metric}, limit: 0, model: gemini-3.1-pro\n"
        "Please retry in 39.2s."
    )
    return error_reply(HTTPStatus.TOO_MANY_REQUESTS, "RESOURCE_EXHAUSTED", message, details)


def no_search_in_tier() -> Reply:
    """A free key that asks a Gemini 3 model to search: the only detail is a link."""
    message = "You exceeded your current quota, please check your plan and billing details."
    return error_reply(HTTPStatus.TOO_MANY_REQUESTS, "RESOURCE_EXHAUSTED", message, [HELP])


def crowded() -> Reply:
    """The shared capacity is used up for a moment: no details at all."""
    message = "Resource has been exhausted (e.g. check quota)."
    return error_reply(HTTPStatus.TOO_MANY_REQUESTS, "RESOURCE_EXHAUSTED", message)


def no_thinking() -> Reply:
    """A model that does not take the thinking settings; no detail says so, only the words."""
    message = (
        "Unable to submit request because thinking_level is not supported by this model. Remove "
        "it and try again."
    )
    return invalid(message)


def overloaded() -> Reply:
    """The model has too much to do."""
    message = "This model is currently experiencing high demand. Please try again later."
    return error_reply(HTTPStatus.SERVICE_UNAVAILABLE, "UNAVAILABLE", message)


def too_late() -> Reply:
    """The model did not answer within the server's own limit."""
    message = "Deadline expired before operation could complete."
    return error_reply(HTTPStatus.GATEWAY_TIMEOUT, "DEADLINE_EXCEEDED", message)


def unknown_model(model: str, version: str) -> Reply:
    """A model that does not exist. The word generateContent in it has misled clients."""
    message = (
        f"models/{model} is not found for API version {version}, or is not supported for "
        "generateContent. Call ListModels to see the list of available models."
    )
    return error_reply(HTTPStatus.NOT_FOUND, "NOT_FOUND", message)


def unknown_path() -> Reply:
    """A path that is no endpoint."""
    return error_reply(HTTPStatus.NOT_FOUND, "NOT_FOUND", "Requested entity was not found.")
