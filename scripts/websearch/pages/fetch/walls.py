"""Detect bot walls: responses from bot protection services instead of the page."""

from __future__ import annotations

import re

from websearch.kit import SearchError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from websearch.kit import Response

MAX_WALL_HTML = 200_000  # characters of a page to search for a wall
MAX_WALL_HEADERS = 20_000  # characters of the headers to search for a wall
ROBOT_CHECK = "a robot check"  # name for walls that are recognized only by their wording
# Bot walls: (name, pattern in the body or headers).
WALLS = (
    ("Cloudflare", r"cf-mitigated: challenge|/cdn-cgi/challenge-platform/|cf-browser-verification"),
    ("Cloudflare", r"(?i)<title>(?:just a moment|attention required! \| cloudflare)"),
    ("DataDome", r"captcha-delivery\.com"),
    ("PerimeterX", r"(?i)px-captcha|_pxCaptcha|perimeterx"),
    ("Imperva", r"_Incapsula_Resource|Incapsula incident"),
    ("Akamai", r"errors\.edgesuite\.net|akam-logo|_sec/cp_challenge"),
    ("AWS WAF", r"x-amzn-waf-action: |awsWafCookieDomainList|\.awswaf\.com"),
    ("Anubis", r"/\.within\.website/"),
    ("DDoS-Guard", r"(?i)ddos-guard"),
    ("Sucuri", r"sucuri\.net/privacy|sucuri_cloudproxy_js"),
    ("a captcha", r"(?i)class=[\"'](?:g-recaptcha|h-captcha|cf-turnstile)|<altcha-widget|geetest"),
    ("a captcha", r"(?i)smartcaptcha|/showcaptcha|/checkcaptcha|id=[\"']captcha|kpsdk"),
    (
        ROBOT_CHECK,
        r"(?i)unusual traffic|verify(?:ing)? (?:that )?you are (?:a )?human|are you a robot",
    ),
    (
        ROBOT_CHECK,
        r"(?i)verifying your (?:request|browser)|checking your browser|anomaly-modal",
    ),
)

# Reddit blocks programs without a Reddit key by IP address and TLS, regardless of their User-Agent;
# its feeds still worked in 2026. Threads are read from their feed (sites/reddit.py).
_REDDIT = r"(?:[\w-]{1,30}\.)?reddit\.com"
REDDIT_HINT = (
    "Read one thread every 30 seconds, or a subreddit's feed, such as "
    "https://www.reddit.com/r/NAME/.rss. Or use the passages that a search returns."
)


def find_wall(response: Response, html: str) -> str:
    """Return the name of the bot wall in a response, or "". html: the body as text."""
    headers = "\n".join(f"{name}: {value}" for name, value in response.headers.items())
    searched = f"{headers[:MAX_WALL_HEADERS]}\n{html[:MAX_WALL_HTML]}"
    return next((name for name, sign in WALLS if re.search(sign, searched)), "")


def wall_error(host: str, wall: str, status: int) -> SearchError:
    """Return the error for a page behind a bot wall."""
    message = f"{host} returned {wall} instead of the page: it blocks automated requests."
    hint = "Use another source. Or open the page in a browser."
    hint = REDDIT_HINT if is_reddit(host) else hint
    return SearchError("blocked", message, hint, status=status)


def is_reddit(host: str) -> bool:
    """Return whether a host belongs to Reddit."""
    return bool(re.fullmatch(_REDDIT, host))
