"""Search engines that need no key: DuckDuckGo, Google, a SearXNG server, Wikipedia."""

from __future__ import annotations

import os
import re
import time

from websearch.common import (
    FAULT_TRIES,
    DryRun,
    SearchError,
    base_url,
    clean_text,
    clean_tree,
    deadline_of,
    drop_empty,
    dump_json,
    error_document,
    error_markdown,
    markdown_link,
    plain_text,
    retry_after,
    run_operation,
    send_within,
    shorten,
    site_filter,
    status_error,
)

TYPE_CHECKING = False  # typing.TYPE_CHECKING without its import, which costs 5 ms
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from websearch.common import Document, ProgressCallback, Response

DEFAULT_COUNT = 10
MAX_COUNT = 50  # four pages of DuckDuckGo: more draws its challenge, and nobody reads further
MAX_PAGE = 2_000_000  # bytes that are read of a result page; real ones stay under 600,000
MAX_TEXT = 1_000  # characters of one title or snippet; a longer one is no such thing
GOOGLE_PAGE_SIZE = 10  # results; Google has dropped larger pages (September 2025)
FEWEST_RESULTS = 5  # a page of Google or SearXNG with fewer is the last one
FEW_TOKENS = 12  # a table cell holds fewer; of one that is never closed, no more is read
# A browser's, because DuckDuckGo answers others with its challenge; GLSI_USER_AGENT replaces it.
# The same for every request: DuckDuckGo binds the token of the next page to it.
BROWSER = (
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/140.0.0.0 Safari/537.36"
)

DEFAULT_INTERVAL = "1s"  # between two requests to an engine: GLSI's default
REQUEST_SECONDS = 1.0  # what must be left of the deadline when a caller's turn comes
FIRST_REST = 600.0  # seconds without a request after a block; doubled by each further block
LONGEST_REST = 21_600.0  # seconds: six hours, so that an engine is tried again the same day
MOST_BLOCKS = 20  # counted in a row; the rest has been the longest for long by then
LOOK_SECONDS = 1.0  # one who waits looks this often whether the engine has begun to rest
LOCK_SECONDS = 5.0  # a caller waits this long for the pacing database, then does without

ENGLISH = "en-US,en;q=0.9"  # Accept-Language where no language is asked for

# ===== commands and their parameters ==============================================================

# fmt: off
ENGINES = ["duckduckgo", "google", "searxng", "wikipedia"]
NAMES = {
    "duckduckgo": "DuckDuckGo", "google": "Google", "searxng": "SearXNG", "wikipedia": "Wikipedia",
}
COMMANDS: dict[str, dict[str, Any]] = {
    "search": {
        "help": "web pages, from an engine that needs no key",
        "expendable": ("suggestions", "answers", "unresponsive_engines"),
        "params": [
            {"name": "query", "type": "str", "positional": True, "required": True,
             "aliases": ["q"], "help": "what to search for"},
            {"name": "engine", "type": "str", "choices": ENGINES, "default": "duckduckgo",
             "values": {"ddg": "duckduckgo", "searx": "searxng", "wiki": "wikipedia"},
             "help": "engine to ask (default: duckduckgo); it answers or the call fails"},
            {"name": "count", "type": "int", "min": 1, "max": MAX_COUNT, "default": DEFAULT_COUNT,
             "flags": ["-n"], "help": "results, 1 to 50 (default: 10); each further page is one "
                                      "more request"},
            {"name": "since", "type": "since",
             "choices": ["hour", "day", "week", "month", "year"],
             "values": {"h": "hour", "d": "day", "w": "week", "m": "month", "y": "year"},
             "help": "age of pages: day, week, month, year; google also hour and "
                     "YYYY-MM-DD..YYYY-MM-DD; not wikipedia"},
            {"name": "country", "type": "str",
             "help": "two-letter country of the results, for example us; not wikipedia"},
            {"name": "language", "type": "str",
             "help": "language of the results, for example en or pt-br"},
            {"name": "site", "type": "csv",
             "help": "only these sites, for example docs.python.org,github.com; not wikipedia"},
            {"name": "exclude_site", "type": "csv", "help": "none of these sites; not wikipedia"},
            {"name": "safe", "type": "str", "choices": ["off", "moderate", "strict"],
             "help": "filter for adult content; not wikipedia"},
        ],
        "cannot": {"page": "Ask for more results in one call: --count 30."},
    },
}
# Regions of DuckDuckGo (kl), country first; the first one of a country or language is its main one.
REGIONS = (
    "us-en uk-en au-en ca-en ie-en in-en nz-en za-en sg-en ph-en my-en id-en pk-en th-en vn-en "
    "il-en de-de at-de ch-de fr-fr ca-fr be-fr ch-fr es-es mx-es ar-es co-es cl-es pe-es us-es "
    "it-it br-pt pt-pt nl-nl be-nl pl-pl ru-ru jp-jp kr-kr cn-zh tw-tzh hk-tzh tr-tr se-sv dk-da "
    "no-no fi-fi cz-cs gr-el hu-hu ro-ro bg-bg hr-hr sk-sk sl-sl ee-et lv-lv lt-lt is-is ua-uk "
    "xa-ar es-ca ct-ca"
).split()
# What the codes of the standards are called there.
REGION_COUNTRIES = {"gb": "uk", "sa": "xa", "si": "sl"}
REGION_LANGUAGES = {
    "ja": "jp", "ko": "kr", "nb": "no", "nn": "no", "zh-tw": "tzh", "zh-hk": "tzh",
}
# What people and models write -> the codes of the standards.
COUNTRY_SPELLINGS = {"uk": "gb"}
LANGUAGE_SPELLINGS = {
    "jp": "ja", "kr": "ko", "cn": "zh-cn", "zh-hans": "zh-cn", "zh-hant": "zh-tw",
    "en-uk": "en-gb",
}
# fmt: on

# ===== parameters become a request ================================================================

DUCKDUCKGO_PERIODS = {"day": "d", "week": "w", "month": "m", "year": "y"}
GOOGLE_PERIODS = {"hour": "h", **DUCKDUCKGO_PERIODS}
SAFE = {
    "duckduckgo": {"strict": "1", "moderate": "-1", "off": "-2"},
    "google": {"strict": "active", "off": "off"},
    "searxng": {"strict": "2", "moderate": "1", "off": "0"},
}
# Longest query in characters, filters included: an engine cuts a longer one or refuses it.
LONGEST_QUERY = {"duckduckgo": 499, "google": 2_048, "searxng": 2_048, "wikipedia": 300}


def first_request(params: dict[str, Any], warnings: list[str]) -> dict[str, Any]:
    """Return the request for the first page: method, url, headers, body or fields, max_body.

    Raises SearchError (invalid_input, auth).
    """
    check_filters(params)
    build = {
        "duckduckgo": duckduckgo_request,
        "google": google_request,
        "searxng": searxng_request,
        "wikipedia": wikipedia_request,
    }
    if params["engine"] == "wikipedia" and params.get("language") and is_moved("wikipedia"):
        warnings.append("WIKIPEDIA_BASE_URL names one wiki, so language was not applied.")
    request = build[params["engine"]](params)
    return {**request, "max_body": MAX_PAGE}


def check_filters(params: dict[str, Any]) -> None:
    """Refuse what the engine cannot do; raises SearchError (invalid_input) that names it."""
    engine, since = params["engine"], params.get("since", "")
    unable: list[str] = []
    if engine == "wikipedia":
        unable = ["since", "country", "site", "exclude_site", "safe"]
    elif engine != "google" and since not in ("", *DUCKDUCKGO_PERIODS):
        unable = ["since"]
    elif engine == "google" and params.get("safe") == "moderate":
        unable = ["safe"]
    for name in unable:
        if name in params:
            value = ",".join(params[name]) if isinstance(params[name], list) else params[name]
            message = f"{NAMES[engine]} cannot filter by {name} {value!r}."
            raise SearchError("invalid_input", message, INSTEAD_OF_FILTER[engine, name])
    longest, length = LONGEST_QUERY[engine], len(engine_query(params))
    if length > longest:
        message = f"{NAMES[engine]} takes at most {longest} characters of query, not {length}."
        raise SearchError("invalid_input", message, "Sites count, too; ask in fewer words.")


PERIODS_HINT = "Give day, week, month or year; --engine google also takes hour and dates."
INSTEAD_OF_FILTER = {
    ("duckduckgo", "since"): PERIODS_HINT,
    ("searxng", "since"): PERIODS_HINT,
    ("google", "safe"): "Give off or strict.",
    ("wikipedia", "since"): "Leave it out: articles are always of today.",
    ("wikipedia", "country"): "Give --language: each has a Wikipedia of its own.",
    ("wikipedia", "site"): "Every other engine can: --engine duckduckgo.",
    ("wikipedia", "exclude_site"): "Every other engine can: --engine duckduckgo.",
    ("wikipedia", "safe"): "Every other engine can: --engine duckduckgo.",
}


def engine_query(params: dict[str, Any]) -> str:
    """Return the query as the engine gets it: with site: operators, and !bangs quoted.

    DuckDuckGo and SearXNG answer a bang (!w) with a redirect to another site, DuckDuckGo a
    leading backslash, too.
    """
    query = params["query"]
    if params["engine"] == "duckduckgo":
        query = re.sub(r"(?<!\S)([!\\][^\s\"]+)", r'"\1"', query)
    elif params["engine"] == "searxng":
        query = re.sub(r"(?<!\S)(!![^\s\"]+)", r'"\1"', query)
    sites = ["site:" + site_filter("site", site) for site in params.get("site", [])]
    wanted = f"({' OR '.join(sites)})" if len(sites) > 1 else "".join(sites)
    excluded = [
        "-site:" + site_filter("exclude_site", site) for site in params.get("exclude_site", [])
    ]
    return " ".join([query, *([wanted] if wanted else []), *excluded])


def country_code(params: dict[str, Any]) -> str:
    """Return the country as a lower-case ISO 3166-1 code, or ""; raises SearchError."""
    text: str = params.get("country", "")
    code = COUNTRY_SPELLINGS.get(text.lower(), text.lower())
    if code and not re.fullmatch("[a-z]{2}", code):
        message = f"country must be a two-letter code such as us, gb or de, not {text!r}."
        raise SearchError("invalid_input", message, "Codes are those of ISO 3166-1.")
    return code


def language_code(params: dict[str, Any]) -> str:
    """Return the language as a lower-case code such as de or pt-br, or ""; raises SearchError."""
    text: str = params.get("language", "")
    code = text.lower().replace("_", "-")
    code = LANGUAGE_SPELLINGS.get(code, code)
    if code and not re.fullmatch(r"simple|[a-z]{2,3}(-[a-z0-9]{2,8})*", code):
        message = f"language must be a code such as en, de or pt-br, not {text!r}."
        raise SearchError("invalid_input", message, "Give the code, not the name.")
    return code


def locale(params: dict[str, Any]) -> str:
    """Return language and country as de, pt-BR or de-CH; "" without a language."""
    language, country = language_code(params), country_code(params)
    base, _, region = language.partition("-")
    region = country or region
    return f"{base}-{region.upper()}" if base and region else base


def engine_address(engine: str, language: str = "") -> str:
    """Return the address of an engine; raises SearchError (invalid_input, auth)."""
    if engine == "searxng":
        return searxng_address()
    if engine == "wikipedia":
        # Each language has a wiki of its own; en-gb, pt-br and zh-tw share that of the first part.
        base = re.sub(r"-([a-z]{2}|hans|hant)$", "", language) or "en"
        return base_url("WIKIPEDIA_BASE_URL", f"https://{base}.wikipedia.org")
    if engine == "google":
        return base_url("GOOGLE_BASE_URL", "https://www.google.com")
    return base_url("DUCKDUCKGO_BASE_URL", "https://html.duckduckgo.com")


def is_moved(engine: str) -> bool:
    """Return whether a variable names another address for the engine."""
    return bool(os.environ.get(f"{engine.upper()}_BASE_URL", "").strip())


def searxng_address() -> str:
    """Return $SEARXNG_BASE_URL; it is the user's own server, so http will do anywhere.

    Raises SearchError (auth) if it is not set, (invalid_input) if it is no address.
    """
    from urllib.parse import urlsplit

    address = os.environ.get("SEARXNG_BASE_URL", "").strip().rstrip("/")
    if not address:
        hint = "Set it to the address of your SearXNG, for example http://localhost:8080."
        raise SearchError("auth", "SEARXNG_BASE_URL is not set", hint)
    try:
        parts = urlsplit(address)
        plain = address.isascii() and not (parts.query or parts.fragment or "@" in parts.netloc)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port or an IPv6 address that is none
        plain = valid = False
    if not (plain and valid) or re.search(r"\s", address):
        message = f"SEARXNG_BASE_URL is {address!r}; it must be an http or https address."
        raise SearchError("invalid_input", message, "For example http://localhost:8080.")
    return address


def browser_headers(params: dict[str, Any], address: str) -> dict[str, str]:
    """Return the headers of a browser that submits the engine's own form.

    DuckDuckGo looks at User-Agent, Referer and Sec-Fetch-*. Raises SearchError (invalid_input).
    """
    agent = os.environ.get("GLSI_USER_AGENT", "").strip() or BROWSER
    if not re.fullmatch(r"[ -~]+", agent):
        message = f"GLSI_USER_AGENT holds characters that no header has: {agent!r}."
        raise SearchError("invalid_input", message, "Write it in plain ASCII on one line.")
    return {
        "User-Agent": agent,
        "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
        "Accept-Language": accept_language(params),
        "Referer": f"{address}/",
        "Sec-Fetch-Dest": "document",
        "Sec-Fetch-Mode": "navigate",
        "Sec-Fetch-Site": "same-origin",
        "Sec-Fetch-User": "?1",
    }


def accept_language(params: dict[str, Any]) -> str:
    """Return the header's value: the wanted language, then English."""
    wanted = locale(params)
    base = wanted.partition("-")[0]
    return ",".join(dict.fromkeys([wanted, f"{base};q=0.9", "en;q=0.5"])) if wanted else ENGLISH


def duckduckgo_request(params: dict[str, Any]) -> dict[str, Any]:
    """Return the POST of DuckDuckGo's html form."""
    form = {"q": engine_query(params), "b": "", "kl": duckduckgo_region(params)}
    form |= drop_empty(
        {
            "df": DUCKDUCKGO_PERIODS.get(params.get("since", "")),
            "kp": SAFE["duckduckgo"].get(params.get("safe", "")),
        }
    )
    return duckduckgo_post(params, form)


def duckduckgo_post(params: dict[str, Any], form: dict[str, str]) -> dict[str, Any]:
    """Return the POST of a form to DuckDuckGo."""
    from urllib.parse import urlencode

    address = engine_address("duckduckgo")
    headers = browser_headers(params, address)
    headers["Content-Type"] = "application/x-www-form-urlencoded"
    body = urlencode(form).encode()
    return {"method": "POST", "url": f"{address}/html/", "headers": headers, "body": body}


def duckduckgo_region(params: dict[str, Any]) -> str:
    """Return country and language as one of DuckDuckGo's regions; wt-wt means all of them.

    Raises SearchError (invalid_input) with the regions that come near.
    """
    country, language = country_code(params), language_code(params)
    country = REGION_COUNTRIES.get(country, country)
    if "-" in language and not country:
        country = REGION_COUNTRIES.get(language[3:], language[3:])
    language = REGION_LANGUAGES.get(language, language.partition("-")[0])
    if language == "zh" and country in ("tw", "hk"):
        language = "tzh"
    if not country and not language:
        return "wt-wt"
    for region in REGIONS:
        if (not country or region.startswith(f"{country}-")) and (
            not language or region.endswith(f"-{language}")
        ):
            return region
    near = [region for region in REGIONS if country and region.startswith(f"{country}-")]
    given = " and ".join(
        f"{name} {params[name]!r}" for name in ("country", "language") if name in params
    )
    hint = f"It has {', '.join(near)} (country-language)." if near else "Search without it."
    raise SearchError("invalid_input", f"DuckDuckGo has no region for {given}.", hint)


def google_request(params: dict[str, Any]) -> dict[str, Any]:
    """Return the GET of Google's result page.

    The page is asked for in English (hl), because its word for "nothing found" is looked for.
    """
    language, country = language_code(params), country_code(params)
    base = language.partition("-")[0]
    fields = {
        "q": engine_query(params),
        "num": str(GOOGLE_PAGE_SIZE),
        "hl": "en",
        "lr": base and f"lang_{locale({'language': language}) if base == 'zh' else base}",
        "gl": country,
        "tbs": google_period(params.get("since", "")),
        "safe": SAFE["google"].get(params.get("safe", "")),
    }
    address = engine_address("google")
    headers = browser_headers(params, address)
    return get_request(f"{address}/search", drop_empty(fields), headers)


def google_period(since: str) -> str:
    """Return a period word or a range of dates as Google's tbs; its dates are M/D/YYYY."""
    if ".." in since:
        days = [f"{int(day[5:7])}/{int(day[8:])}/{day[:4]}" for day in since.split("..")]
        return f"cdr:1,cd_min:{days[0]},cd_max:{days[1]}"
    return f"qdr:{GOOGLE_PERIODS[since]}" if since else ""


def searxng_request(params: dict[str, Any]) -> dict[str, Any]:
    """Return the GET of SearXNG's JSON, with that of its HTML page as "otherwise"."""
    if params.get("country") and not params.get("language"):
        hint = "Give --language, too: --language de --country ch."
        raise SearchError("invalid_input", "SearXNG knows countries within a language only.", hint)
    fields = {
        "q": engine_query(params),
        "categories": "general",
        "language": locale(params),
        "time_range": params.get("since"),
        "safesearch": SAFE["searxng"].get(params.get("safe", "")),
        "pageno": "1",
    }
    headers = {
        # SearXNG's limiter wants text/html among the types, and a language.
        "Accept": "application/json,text/html;q=0.9",
        "Accept-Language": accept_language(params),
    }
    url = f"{engine_address('searxng')}/search"
    page = get_request(url, drop_empty(fields), headers)
    return {**get_request(url, {**page["fields"], "format": "json"}, headers), "otherwise": page}


def wikipedia_request(params: dict[str, Any]) -> dict[str, Any]:
    """Return the GET of MediaWiki's search API, which gives up to 50 results at once."""
    fields = {
        "action": "query",
        "list": "search",
        "srsearch": engine_query(params),
        "srlimit": str(params["count"]),
        "srprop": "snippet|timestamp",
        "srinfo": "suggestion",
        "format": "json",
        "formatversion": "2",
    }
    address = engine_address("wikipedia", language_code(params))
    return get_request(f"{address}/w/api.php", fields, {"Accept": "application/json"})


def get_request(url: str, fields: dict[str, str], headers: dict[str, str]) -> dict[str, Any]:
    """Return a GET; its fields stay in it for the next page."""
    from urllib.parse import urlencode

    full = f"{url}?{urlencode(fields)}"
    return {"method": "GET", "url": full, "headers": headers, "fields": fields}


def next_request(
    params: dict[str, Any], request: dict[str, Any], page: dict[str, Any], number: int
) -> dict[str, Any] | None:
    """Return the request for page number (from 2 on), or None if the engine offers no more."""
    engine = params["engine"]
    if engine == "wikipedia":
        return None
    if engine == "duckduckgo":
        # Only with the token (vqd) of the page before: without it DuckDuckGo blocks at once.
        form = page.get("next_form")
        following = duckduckgo_post(params, form) if form else None
    elif len(page["results"]) < FEWEST_RESULTS:
        following = None
    elif engine == "google":
        fields = {**request["fields"], "start": str((number - 1) * GOOGLE_PAGE_SIZE)}
        following = get_request(request["url"].partition("?")[0], fields, request["headers"])
    else:
        fields = {**request["fields"], "pageno": str(number)}
        if page.get("is_html"):  # JSON is off there: do not ask for it again
            fields.pop("format", None)
        following = get_request(request["url"].partition("?")[0], fields, request["headers"])
    return following and {**following, "max_body": MAX_PAGE}


def shown_request(request: dict[str, Any]) -> dict[str, Any]:
    """Return a request as --dry-run shows it."""
    shown = {name: request[name] for name in ("method", "url", "headers")}
    return {**shown, "body": request["body"].decode()} if "body" in request else shown


# ===== a small linear scanner of HTML =============================================================
#
# html.parser takes quadratic time on broken tags in many versions of Python, and a result page
# comes from outside. Here every character is looked at a bounded number of times: what has no end
# ends the document.


class Element:
    """A start tag with its attributes; its content is tokens[start + 1:end]."""

    __slots__ = ("attributes", "end", "name", "start")

    def __init__(self, name: str, attributes: dict[str, str], start: int) -> None:
        self.name = name
        self.attributes = attributes
        self.start = start
        self.end = start + 1

    def has_class(self, *names: str) -> bool:
        """Return whether the element has one of the classes."""
        given = self.attributes.get("class", "")
        return bool(given) and not set(names).isdisjoint(given.split())

    def attribute(self, name: str) -> str:
        """Return an attribute's value with its entities decoded, or ""."""
        return decode_attribute(self.attributes.get(name, ""))


VOID = frozenset(
    "area base br col embed hr img input link meta param source track wbr".split()  # no end tag
)
# Elements that separate words; all others may stand within one.
SEPARATING = frozenset(
    "article br cite dd div dl dt h1 h2 h3 h4 h5 h6 hr li ol p section table td th tr ul".split()
)
_TAG_NAME = r"[a-zA-Z][^\s/>]*"
# One attribute up to its value. Every part is optional, so that it matches without going back.
_ATTRIBUTE = r"[\s/]*([^\s/>][^\s/>=]*)?\s*(=?)\s*"


def scan_html(html: str) -> list[Element | str]:
    """Return the start tags and texts of a page in order; scripts, styles, comments are left out.

    An end tag closes the nearest open element of its name; one without is ignored.
    """
    tokens: list[Element | str] = []
    open_elements: list[Element] = []
    open_names: dict[str, int] = {}
    for kind, name, attributes in html_events(html):
        if kind == "text":
            tokens.append(name)
        elif kind == "start":
            element = Element(name, attributes, len(tokens))
            tokens.append(element)
            if name not in VOID:
                open_elements.append(element)
                open_names[name] = open_names.get(name, 0) + 1
        elif open_names.get(name):
            closed = ""
            while closed != name:
                element = open_elements.pop()
                closed, element.end = element.name, len(tokens)
                open_names[closed] -= 1
    for element in open_elements:
        element.end = len(tokens)
    return tokens


def html_events(html: str) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Yield ("text", text, {}), ("start", name, attributes) and ("end", name, {})."""
    tag_name = re.compile(_TAG_NAME)
    position = 0
    while 0 <= position < len(html):
        mark = html.find("<", position)
        if mark != position:
            yield "text", html[position:mark] if mark >= 0 else html[position:], {}
            position = mark
            continue
        if found := tag_name.match(html, mark + 1):
            name = found[0].lower()
            attributes, position = read_attributes(html, found.end())
            if position >= 0:
                yield "start", name, attributes
                if name in ("script", "style", "textarea", "title"):
                    text, position = raw_text(html, name, position)
                    if name == "title":
                        yield "text", text, {}
        elif html.startswith("<!--", mark):
            end = html.find("-->", mark + 4)
            position = end + 3 if end >= 0 else -1
        elif html.startswith(("</", "<!", "<?"), mark):
            end = html.find(">", mark)
            if found := tag_name.match(html, mark + 2):
                yield "end", found[0].lower(), {}
            position = end + 1 if end >= 0 else -1
        else:
            yield "text", "<", {}
            position = mark + 1


def read_attributes(html: str, position: int) -> tuple[dict[str, str], int]:
    """Return the attributes of a start tag and where its content begins; -1 if it has no end."""
    attribute, unquoted = re.compile(_ATTRIBUTE), re.compile(r"[^\s>]*")
    attributes: dict[str, str] = {}
    while found := attribute.match(html, position):
        position, value = found.end(), ""
        quote = html[position : position + 1]
        if found[2] and quote in ('"', "'"):
            end = html.find(quote, position + 1)
            if end < 0:
                break
            value, position = html[position + 1 : end], end + 1
        elif found[2] and (bare := unquoted.match(html, position)):
            value, position = bare[0], bare.end()
        if found[1]:
            attributes.setdefault(found[1].lower(), value)
        if position >= len(html):
            break
        if html[position] == ">":
            return attributes, position + 1
    return attributes, -1


def raw_text(html: str, name: str, position: int) -> tuple[str, int]:
    """Return the text of an element without tags of its own, and where its end tag begins."""
    end = re.compile(f"(?i)</{name}").search(html, position)
    return (html[position : end.start()], end.start()) if end else (html[position:], -1)


def decode_attribute(value: str) -> str:
    """Return an attribute's value with its entities decoded.

    A name counts only with its semicolon: ?a=1&copy=2 is a query string, not a copyright sign.
    """
    if "&" not in value:
        return value
    from html import unescape

    entity = r"&(?:#\d{1,7};?|#[xX][0-9a-fA-F]{1,6};?|[a-zA-Z][a-zA-Z0-9]{1,31};)"
    return re.sub(entity, lambda found: unescape(found[0]), value)


def elements(
    tokens: list[Element | str], start: int = 0, end: int | None = None
) -> Iterator[Element]:
    """Yield the elements among tokens[start:end]."""
    for token in tokens[start:end]:
        if isinstance(token, Element):
            yield token


def with_class(tokens: list[Element | str], start: int, end: int, *names: str) -> Element | None:
    """Return the first element among tokens[start:end] that has one of the classes, or None."""
    return next((item for item in elements(tokens, start, end) if item.has_class(*names)), None)


def text_between(tokens: list[Element | str], start: int, end: int) -> str:
    """Return the text of tokens[start:end] in one line, cleaned."""
    pieces = [
        token if isinstance(token, str) else " " if token.name in SEPARATING else ""
        for token in tokens[start:end]
    ]
    return shorten(" ".join(plain_text("".join(pieces)).split()), MAX_TEXT)


def text_of(tokens: list[Element | str], element: Element | None, end: int) -> str:
    """Return the text of an element in one line, not beyond end; "" if there is no element."""
    return text_between(tokens, element.start, min(element.end, end)) if element else ""


# ===== addresses of results =======================================================================


def web_address(href: str, engine_host: str) -> str:
    """Return a link's target as an http or https URL; "" if it has none.

    engine_host completes a link that leaves out the host or the scheme.
    """
    href = tidy_url(href)
    if href.startswith("//"):
        href = "https:" + href
    elif href.startswith("/"):
        href = f"https://{engine_host}{href}"
    return href if split_url(href) else ""


def split_url(url: str) -> tuple[str, str, str] | None:
    """Return (host, path, query) of an http or https URL; None if it is none."""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        if parts.scheme.lower() not in ("http", "https") or not parts.hostname:
            return None
        return parts.hostname.lower(), parts.path, parts.query
    except ValueError:  # a bracket where none may stand
        return None


def query_value(query: str, *names: str) -> str:
    """Return the first named value of a query string, decoded once.

    A plus sign stays: within an address it is a plus sign, and its spaces are written %20.
    """
    from urllib.parse import unquote

    for field in query.split("&"):
        name, _, value = field.partition("=")
        if name in names and value:
            return unquote(value)
    return ""


def tidy_url(url: str) -> str:
    """Return a URL without white space, which a decoded one may hold: a space becomes %20."""
    return re.sub(r"\s", lambda blank: "%20" if blank[0] == " " else "", clean_text(url).strip())


def duckduckgo_target(href: str) -> str:
    """Return where a result of DuckDuckGo leads: its redirect (/l/?uddg=) is unwrapped once.

    "" for an advertisement (/y.js, wrapped or not) and for what is no web address.
    """
    url = web_address(href, "duckduckgo.com")
    host, path, query = split_url(url) or ("", "", "")
    if on_host(host, "duckduckgo.com") and path.rstrip("/") == "/l":
        url = tidy_url(query_value(query, "uddg"))
    return "" if is_advertisement(url) or not split_url(url) else url


def on_host(host: str, name: str) -> bool:
    """Return whether a host is the named one or a part of it."""
    return host == name or host.endswith(f".{name}")


def is_advertisement(url: str) -> bool:
    """Return whether a URL is a click on an advertisement of DuckDuckGo, Bing or Google."""
    host, path, _ = split_url(url) or ("", "", "")
    clicks = {"duckduckgo.com": "/y.js", "bing.com": "/aclick", "google.com": "/aclk"}
    sold = any(on_host(host, name) and path.startswith(start) for name, start in clicks.items())
    return sold or on_host(host, "googleadservices.com") or on_host(host, "doubleclick.net")


def google_target(href: str) -> str:
    """Return where a result of Google leads: its redirect (/url?q=) is unwrapped once.

    "" for an advertisement, for Google's own searches, caches and translations, and for what is
    no web address. Pages of Google's (cloud.google.com) are results like others.
    """
    url = web_address(href, "www.google.com")
    host, path, query = split_url(url) or ("", "", "")
    if is_google_search(host) and path == "/url":
        url = tidy_url(query_value(query, "q", "url"))
        host, path, query = split_url(url) or ("", "", "")
    own = is_google_search(host) and not path.startswith(("/about", "/intl/"))
    copies = ("webcache.googleusercontent.com", "translate.google.com")
    return "" if not host or own or host in copies or is_advertisement(url) else url


def is_google_search(host: str) -> bool:
    """Return whether a host is that of Google's search: www.google.com, google.co.uk, ..."""
    return bool(re.fullmatch(r"(www\.)?google(\.[a-z]{2,3}){1,2}", host))


def canonical_url(url: str) -> str:
    """Return what the addresses of one page have in common, to tell doubles."""
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    host = re.sub(r":(80|443)?$", "", parts.netloc.lower().removeprefix("www."))
    kept = [
        field
        for field in parts.query.split("&")
        if not re.match(r"(utm_\w+|gclid|fbclid|msclkid)(=|$)", field)
    ]
    return f"{host}{parts.path.rstrip('/')}?{'&'.join(kept)}"


# ===== answers become pages =======================================================================
#
# A page: results [{title, url, snippet, date?, file_type?}], is_empty (the engine's own word for
# "nothing found" stands in it), signal (what shows that it is a bot wall, or ""), and what else
# the engine says: next_form, suggestions, answers, unresponsive_engines.


def result_blocks(tokens: list[Element | str], name: str) -> list[tuple[Element, int]]:
    """Return the elements of a name with the class "result", each with where it ends.

    One that is not closed ends where the next begins, so that no token is looked at twice.
    """
    found = [item for item in elements(tokens) if item.name == name and item.has_class("result")]
    ends = [item.start for item in found[1:]] + [len(tokens)]
    return [(item, min(item.end, end)) for item, end in zip(found, ends, strict=False)]


def parse_duckduckgo(html: str) -> dict[str, Any]:
    """Return the page of DuckDuckGo's html endpoint."""
    tokens = scan_html(html)
    results = [
        duckduckgo_result(tokens, block.start, end)
        for block, end in result_blocks(tokens, "div")
        if not block.has_class("result--ad", "result--no-result")
    ]
    empty = with_class(tokens, 0, len(tokens), "no-results", "result--no-result") is not None
    return {
        "results": [result for result in results if result],
        "is_empty": empty,
        "signal": duckduckgo_signal(tokens) or wall_signal(tokens, empty),
        "next_form": duckduckgo_next_form(tokens),
    }


def duckduckgo_result(tokens: list[Element | str], start: int, end: int) -> dict[str, Any]:
    """Return the result in a block of DuckDuckGo's page; {} if it leads nowhere."""

    def text(name: str) -> str:
        return text_of(tokens, with_class(tokens, start, end, name), end)

    link = with_class(tokens, start, end, "result__a")
    url = duckduckgo_target(link.attribute("href")) if link else ""
    if not url:
        return {}
    kind = text("result__type")
    day = re.search(r"(\d{4}-\d\d-\d\d)T\d\d:", text("result__extras__url"))
    return {
        "title": text_of(tokens, link, end).removeprefix(kind).strip() or url,
        "url": url,
        "snippet": text("result__snippet"),
        "date": day[1] if day else "",
        "file_type": kind,
    }


def duckduckgo_next_form(tokens: list[Element | str]) -> dict[str, str]:
    """Return the fields of the form that leads to the next page; {} if there is none.

    Of the forms with a token (vqd), of which one may lead back, it is that with the highest
    offset (s).
    """
    best: dict[str, str] = {}
    fields: dict[str, str] = {}
    for item in elements(tokens):
        if item.name == "form":
            fields = {}
        elif item.name == "input" and item.attribute("type") == "hidden":
            fields[item.attribute("name")] = item.attribute("value")
            offset = fields.get("s", "")
            known = fields.get("vqd") and re.fullmatch(r"[1-9]\d{0,5}", offset)
            if known and int(offset) >= int(best.get("s", 0)):
                best = fields
    return best


def duckduckgo_signal(tokens: list[Element | str]) -> str:
    """Return the sign of DuckDuckGo's challenge in a page, or "".

    Signs are looked for in tags, not in the text, which quotes the query.
    """
    for item in elements(tokens):
        if item.attributes.get("id") == "challenge-form":
            return "its bot challenge (challenge-form)"
        if "/anomaly.js" in item.attributes.get("action", ""):
            return "its bot challenge (anomaly.js)"
        if item.has_class("anomaly-modal__modal", "anomaly-modal__title"):
            return "its bot challenge (anomaly-modal)"
    return ""


# Google's class names, of several years: around one result, of its snippet, of the date in it.
GOOGLE_BLOCKS = ("g", "tF2Cxc", "MjjYud", "Gx5Zad")
GOOGLE_SNIPPETS = ("VwiC3b", "IsZvec", "st", "s3v9rd")
GOOGLE_DATES = ("YrbPuc", "LEwnzc", "f")
GOOGLE_AD_CLASSES = ("uEierd", "commercial-unit-desktop-top", "ads-ad")
GOOGLE_AD_IDS = ("tads", "tadsb", "bottomads")
GOOGLE_NOTHING = "did not match any documents"  # the page is asked for in English


def parse_google(html: str) -> dict[str, Any]:
    """Return the page of Google's search: links with a heading, whatever their classes."""
    tokens = scan_html(html)
    links = google_links(tokens)
    ends = [link.start for link, _, _ in links[1:]] + [len(tokens)]
    results = [
        google_result(tokens, link, heading, min(block_end, following))
        for (link, heading, block_end), following in zip(links, ends, strict=False)
    ]
    empty = any(isinstance(token, str) and GOOGLE_NOTHING in token for token in tokens)
    return {
        "results": [result for result in results if result],
        "is_empty": empty,
        "signal": google_signal(tokens) or wall_signal(tokens, empty),
    }


def google_links(tokens: list[Element | str]) -> list[tuple[Element, Element, int]]:
    """Return (link, heading, end of its block) of every result, advertisements left out.

    The heading stands in the link, or (in old pages) the link in the heading.
    """
    found: list[tuple[Element, Element, int]] = []
    link = heading = block = Element("", {}, -1)  # none seen yet: it ends before everything
    position = 0
    while position < len(tokens):
        item = tokens[position]
        position += 1
        if isinstance(item, str):
            continue
        if item.has_class(*GOOGLE_AD_CLASSES) or item.attributes.get("id") in GOOGLE_AD_IDS:
            position = item.end
        elif item.has_class(*GOOGLE_BLOCKS):
            block = item
        elif item.name == "h3" or (item.name == "a" and "href" in item.attributes):
            link, heading = (item, heading) if item.name == "a" else (link, item)
            outer = heading if item is link else link
            if item.start < outer.end and not (found and found[-1][0] is link):
                end = block.end if item.start < block.end else len(tokens)
                found.append((link, heading, end))
    return found


def google_result(
    tokens: list[Element | str], link: Element, heading: Element, end: int
) -> dict[str, Any]:
    """Return the result of a link on Google's page; {} if it leads nowhere."""
    url = google_target(link.attribute("href"))
    if not url:
        return {}
    snippet = with_class(tokens, link.start, end, *GOOGLE_SNIPPETS)
    text = text_of(tokens, snippet, end)
    inside = (snippet.start, min(snippet.end, end)) if snippet else (0, 0)
    day = text_of(tokens, with_class(tokens, *inside, *GOOGLE_DATES), end)
    if day:
        text = text.removeprefix(day).lstrip(" —·-")
    return {
        "title": text_of(tokens, heading, end) or url,
        "url": url,
        "snippet": text,
        "date": day.rstrip(" —·-"),
    }


def google_signal(tokens: list[Element | str]) -> str:
    """Return the sign of Google's walls in a page, or ""."""
    for item in elements(tokens):
        if item.attributes.get("id") == "captcha-form":
            return "its CAPTCHA (captcha-form)"
        for name in ("src", "href", "action", "content"):
            target = item.attributes.get(name, "")
            if "/httpservice/retry/enablejs" in target:
                return "a page that needs JavaScript (enablejs)"
            if re.match(r"(https?://[^/]*)?/sorry/", target):
                return "its block page (/sorry/)"
            if re.match(r"https?://consent\.google\.", target):
                return "its consent page (consent.google)"
    return ""


def wall_signal(tokens: list[Element | str], is_empty: bool) -> str:
    """Return the sign of a bot wall that any site may stand behind, or "".

    The engine's own page for "nothing found" is none, even if Cloudflare has put its script in it.
    """
    paths = {"/cdn-cgi/challenge-platform/": "Cloudflare", "/.within.website/": "Anubis"}
    titles = {"Just a moment...": "Cloudflare", "Verifying your request": "a bot check"}
    for item in [] if is_empty else elements(tokens):
        if item.name == "altcha-widget":
            return "a bot wall (Altcha)"
        if item.name == "title":
            name = titles.get(text_of(tokens, item, item.start + 2))
        else:
            target = item.attributes.get("src") or item.attributes.get("href") or ""
            name = next((wall for path, wall in paths.items() if path in target), None)
        if name:
            return f"a bot wall ({name})"
    return ""


def parse_searxng_html(html: str) -> dict[str, Any]:
    """Return the page of SearXNG's own HTML, for servers where JSON is switched off."""
    tokens = scan_html(html)
    results = [
        searxng_html_result(tokens, block.start, end)
        for block, end in result_blocks(tokens, "article")
    ]
    failures, name = [], ""
    for item in elements(tokens):
        if item.has_class("engine-name"):
            name = text_of(tokens, item, item.start + FEW_TOKENS)
        elif item.has_class("response-error"):
            failures.append([name, text_of(tokens, item, item.start + FEW_TOKENS)])
    empty = with_class(tokens, 0, len(tokens), "dialog-error") is not None
    return {
        "results": [result for result in results if result],
        "is_empty": empty,
        "signal": wall_signal(tokens, empty),
        "unresponsive_engines": engine_failures(failures),
        "is_html": True,
    }


def searxng_html_result(tokens: list[Element | str], start: int, end: int) -> dict[str, Any]:
    """Return the result in an article of SearXNG's page; {} if it leads nowhere."""
    heading = next((item for item in elements(tokens, start, end) if item.name == "h3"), None)
    if not heading:
        return {}
    inside = elements(tokens, heading.start, min(heading.end, end))
    link = next((item for item in inside if item.name == "a"), None)
    url = tidy_url(link.attribute("href")) if link else ""
    dated = with_class(tokens, start, end, "published_date")
    return result_of(
        text_of(tokens, heading, end),
        url,
        text_of(tokens, with_class(tokens, start, end, "content"), end),
        dated.attribute("datetime") if dated else "",
    )


def result_of(title: Any, url: Any, snippet: Any, moment: Any) -> dict[str, Any]:
    """Return a result of an engine's own fields; {} where there is no web address."""
    if not isinstance(url, str) or not split_url(url):
        return {}
    day = re.match(r"\d{4}-\d\d-\d\d", moment) if isinstance(moment, str) else None
    return {
        "title": one_line(title) or url,
        "url": tidy_url(url),
        "snippet": one_line(snippet),
        "date": day[0] if day else "",
    }


def one_line(text: Any) -> str:
    """Return an API's text in one line, without its highlighting; "" if it is no text."""
    return shorten(" ".join(plain_text(text).split()), MAX_TEXT) if isinstance(text, str) else ""


def engine_failures(pairs: Any) -> list[dict[str, str]]:
    """Return SearXNG's [[engine, reason], ...] as objects."""
    return [
        {"engine": one_line(pair[0]), "reason": one_line(pair[1])}
        for pair in (pairs if isinstance(pairs, list) else [])
        if isinstance(pair, list) and len(pair) == 2
    ]


def parse_searxng_json(answer: dict[str, Any]) -> dict[str, Any]:
    """Return the page of SearXNG's JSON; raises SearchError (provider) if it is none."""
    if not isinstance(answer.get("results"), list):
        message = f"SearXNG's answer holds no results: {shorten(dump_json(answer), 200)}"
        raise SearchError("provider", message, "Look at the server's log.", status=200)
    results = [
        result_of(
            item.get("title"), item.get("url"), item.get("content"), item.get("publishedDate")
        )
        for item in answer["results"]
        if isinstance(item, dict)
    ]
    return {
        "results": [result for result in results if result],
        "is_empty": True,
        "signal": "",
        "unresponsive_engines": engine_failures(answer.get("unresponsive_engines")),
        "answers": texts_of(answer.get("answers"), "answer"),
        "suggestions": texts_of(answer.get("corrections"), "title")
        + texts_of(answer.get("suggestions"), "title"),
    }


def texts_of(items: Any, name: str) -> list[str]:
    """Return a list's texts; an item may be a text or an object that holds it under a name."""
    listed = items if isinstance(items, list) else []
    found = [item.get(name) if isinstance(item, dict) else item for item in listed]
    return [text for text in map(one_line, found) if text]


# ===== what an answer is: a page, or which error ==================================================

# Statuses that DuckDuckGo and Google send to clients that they take for bots. DuckDuckGo's
# challenge has 202, and so may a page with results or with its word for none.
WALL_STATUSES = (202, 401, 402, 403, 418, 429)
SEARXNG_HINTS = {
    401: "It asks for a password, which cannot be given here; open it to this machine.",
    403: "Its limiter or the proxy before it refuses this client; allow this address there.",
    404: "SEARXNG_BASE_URL must be the address of its start page.",
    429: "Its limiter refuses this client: allow this address in limiter.toml, or switch "
    "server.limiter off.",
}


def read_answer(engine: str, request: dict[str, Any], response: Response) -> dict[str, Any]:
    """Return the page that an answer is; one without results only if the engine says so.

    Raises SearchError: blocked (a bot wall; details hold the signal), rate_limit, provider, auth.
    """
    if engine == "wikipedia":
        return read_wikipedia(request, response)
    if engine == "searxng":
        return read_searxng(response)
    page = {"duckduckgo": parse_duckduckgo, "google": parse_google}[engine](response.text())
    good = response.status in (200, 202)
    if good and page["results"]:  # whatever they speak of: a page about captchas is no captcha
        return page
    signal = header_signal(response) or page["signal"]
    if good and page["is_empty"] and not signal:
        return page
    if not signal and response.status in WALL_STATUSES:
        signal = f"HTTP {response.status} without results"
    if signal:
        raise wall_error(engine, response, signal)
    if response.status == 200:
        raise layout_error(engine, response)
    raise status_error(response, NAMES[engine])


def header_signal(response: Response) -> str:
    """Return the sign of a bot wall in an answer's headers, or ""."""
    location = response.headers.get("location", "")
    if 300 <= response.status < 400 and re.search(r"/sorry/|//sorry\.google\.", location):
        return "a redirect to its block page (/sorry/)"
    if 300 <= response.status < 400 and "//consent.google." in location:
        return "a redirect to its consent page (consent.google)"
    if response.headers.get("cf-mitigated", "").lower() == "challenge":
        return "a bot wall (Cloudflare)"
    return ""


def wall_error(engine: str, response: Response, signal: str) -> SearchError:
    """Return the error of an answer that is a bot wall; blocked_error completes it."""
    details = {"status": response.status, "retry_after": retry_after(response)}
    return SearchError(
        "blocked", f"{NAMES[engine]} answered with {signal}.", "", signal=signal, **details
    )


def layout_error(engine: str, response: Response) -> SearchError:
    """Return the error of a page that is neither results nor a known word for none."""
    message = (
        f"{NAMES[engine]}'s page holds neither results nor its word for none; it begins: "
        f"{response.excerpt() or '(nothing)'}"
    )
    hint = "Its layout has changed, or something between answered for it; use another engine."
    return SearchError("provider", message, hint, status=response.status)


def read_searxng(response: Response) -> dict[str, Any]:
    """Return the page that SearXNG's answer is. Raises SearchError."""
    page: dict[str, Any] = {}  # a JSON error of SearXNG's says no more than its status
    if response.body.lstrip()[:1] != b"{":
        page = parse_searxng_html(response.text())
    elif response.status == 200:
        page = parse_searxng_json(json_object(response, "searxng"))
    signal = "" if page.get("results") else header_signal(response) or page.get("signal", "")
    if signal:
        raise wall_error("searxng", response, signal)
    if response.status != 200:
        raise searxng_error(response)
    failures = page["unresponsive_engines"]
    if page["results"] or (page["is_empty"] and not failures):
        return page
    if not page["is_empty"]:
        raise layout_error("searxng", response)
    named = ", ".join(f"{item['engine']} ({item['reason']})" for item in failures[:8])
    message = f"SearXNG found nothing, and {len(failures)} of its engines failed: {named}"
    hint = "See the server's engine statistics (/stats), or ask --engine duckduckgo."
    details = {"status": 200, "retryable": True, "unresponsive_engines": failures}
    raise SearchError("provider", message, hint, **details)


def searxng_error(response: Response) -> SearchError:
    """Return what a status of SearXNG's means."""
    error = status_error(response, "SearXNG")
    error.kind = {401: "auth", 403: "provider"}.get(response.status, error.kind)
    if response.status in SEARXNG_HINTS:
        error.details["hint"] = SEARXNG_HINTS[response.status]
    if location := response.headers.get("location"):
        from urllib.parse import urljoin

        place = urljoin(f"{engine_address('searxng')}/search", clean_text(location))
        place = place.partition("/search")[0]
        error.details["hint"] = f"Set SEARXNG_BASE_URL to where it lives now: {place}"
    return error


def json_object(response: Response, engine: str) -> dict[str, Any]:
    """Return an answer's JSON object, cleaned; raises SearchError (provider)."""
    try:
        answer = clean_tree(response.json())
    except (ValueError, RecursionError):
        answer = None
    if isinstance(answer, dict):
        return answer
    message = f"{NAMES[engine]}'s answer is no JSON object: {response.excerpt()}"
    raise SearchError("provider", message, "Try again later.", status=response.status)


def read_wikipedia(request: dict[str, Any], response: Response) -> dict[str, Any]:
    """Return the page that the answer of MediaWiki's API is. Raises SearchError."""
    if response.status == 403 or header_signal(response):
        raise wall_error("wikipedia", response, header_signal(response) or "HTTP 403")
    if response.status != 200:
        raise status_error(response, "Wikipedia")
    answer = json_object(response, "wikipedia")
    if isinstance(answer.get("error"), dict):
        raise wikipedia_error(answer["error"], response)
    found = answer.get("query")
    items = found.get("search") if isinstance(found, dict) else None
    if not isinstance(found, dict) or not isinstance(items, list):
        message = f"Wikipedia's answer holds no results: {shorten(dump_json(answer), 200)}"
        raise SearchError("provider", message, "Try again later.", status=200)
    wiki = request["url"].partition("/w/api.php")[0]
    results = [
        result_of(
            item["title"],
            article_url(wiki, item["title"]),
            item.get("snippet"),
            item.get("timestamp"),
        )
        for item in items
        if isinstance(item, dict) and one_line(item.get("title"))
    ]
    about = found.get("searchinfo")
    suggestion = one_line(about.get("suggestion")) if isinstance(about, dict) else ""
    return {"results": results, "suggestions": [suggestion] if suggestion else []}


def wikipedia_error(error: dict[str, Any], response: Response) -> SearchError:
    """Return what an error object of MediaWiki's means; its status is 200 all the same."""
    code, text = one_line(error.get("code")), one_line(error.get("info"))
    message = f"Wikipedia answered {code or 'with an error'}: {shorten(text, 200)}"
    details = {"status": response.status, "code": code}
    if code in ("ratelimited", "maxlag"):
        details |= {"retryable": True, "retry_after": retry_after(response)}
        return SearchError("rate_limit", message, "Wait, then try again.", **details)
    return SearchError("provider", message, "Try again, or in other words.", **details)


def article_url(wiki: str, title: str) -> str:
    """Return the address of an article, as MediaWiki writes it."""
    from urllib.parse import quote

    return f"{wiki}/wiki/{quote(title.replace(' ', '_'), safe='/:@!$*(),;~')}"


# ===== pacing: one row an engine, for every process ===============================================
#
# A caller reserves the next slot in a short transaction, then sleeps without holding a lock; one
# that is killed meanwhile leaves its slot unused. After a block the engine rests for all of them.
# The clock is that of the wall, because processes share it; the rules below are pure.

COLUMNS = ("last_slot", "not_before", "rest_until", "blocks", "signal", "updated")
# States of this process, for when the database cannot be used; under "" the lock that guards them.
_LOCAL: dict[str, Any] = {}


def fresh_state() -> dict[str, Any]:
    """Return the state of an engine that was never asked; moments are seconds of the epoch."""
    return dict(zip(COLUMNS, (0.0, 0.0, 0.0, 0, "", 0.0), strict=True))


def follow_clock(state: dict[str, Any], now: float) -> None:
    """Move the moments of a state back if the clock was set back, so that no wait grows."""
    if state["updated"] > now:
        for name in ("last_slot", "not_before", "rest_until"):
            state[name] -= state["updated"] - now
    state["updated"] = now


def check_rest(state: dict[str, Any], now: float, engine: str) -> None:
    """Raise SearchError (blocked) while the engine rests."""
    left = state["rest_until"] - now
    if left > 0:
        raise blocked_error(engine, state["signal"], left, resting=True)


def reserve_slot(
    state: dict[str, Any], now: float, engine: str, interval: float, left: float
) -> float:
    """Take the next slot of an engine; return the seconds until then.

    interval: between two requests. left: until the caller's deadline. Raises SearchError: blocked
    while the engine rests, rate_limit if the queue is longer than what is left; nothing is taken.
    """
    check_rest(state, now, engine)
    slot = max(now, state["not_before"], state["last_slot"] + interval if interval else 0.0)
    wait: float = slot - now
    if wait > 0 and wait + REQUEST_SECONDS > left:
        message = (
            f"{NAMES[engine]}'s queue is {spoken(wait)} long, and {spoken(max(0.0, left))} of the "
            "call are left."
        )
        hint = f"Give more time (--timeout {min(600, int(wait) + 30)}), or try later."
        raise SearchError("rate_limit", message, hint, retryable=True, retry_after=round(wait, 1))
    state["last_slot"] = max(slot, state["last_slot"]) if interval else state["last_slot"]
    return wait


def note_block(state: dict[str, Any], now: float, signal: str, at_least: float) -> float:
    """Let the engine rest after a block; return for how many seconds.

    Each further block doubles the rest. Blocks of requests that were sent before the rest began
    belong to the same one.
    """
    if state["rest_until"] <= now:
        state["blocks"] = min(state["blocks"] + 1, MOST_BLOCKS)
        rest = min(FIRST_REST * 2 ** (state["blocks"] - 1), LONGEST_REST)
        state["rest_until"] = now + rest
    state["rest_until"] = max(state["rest_until"], now + min(at_least, LONGEST_REST))
    state["signal"] = signal
    return float(state["rest_until"] - now)


def note_answer(state: dict[str, Any], now: float) -> None:
    """Forget earlier blocks after a good answer, unless a block came while it was on its way."""
    if state["rest_until"] <= now:
        state["blocks"], state["signal"] = 0, ""


def note_limit(state: dict[str, Any], now: float, seconds: float) -> None:
    """Ask nothing for as long as the engine has said (Retry-After)."""
    state["not_before"] = max(state["not_before"], now + min(seconds, LONGEST_REST))


def spoken(seconds: float) -> str:
    """Return a duration for people: 0.5 s, 42 s, 10 min, 9 min 40 s, 2 h 5 min."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    parts = [(hours, "h"), (minutes, "min"), (0 if hours else rest, "s")]
    return " ".join(f"{number} {unit}" for number, unit in parts if number)


def request_interval() -> float:
    """Return the seconds between requests, from GLSI_RATE_LIMIT: 1s, 500ms, 2m, 1m30s, 0s.

    The spelling is that of Go's durations, as in GLSI. Raises SearchError (invalid_input).
    """
    text = os.environ.get("GLSI_RATE_LIMIT", "").strip() or DEFAULT_INTERVAL
    if text == "0":
        return 0.0
    parts = re.findall(r"(\d+(?:\.\d+)?)(ms|s|m|h)", text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        message = f"GLSI_RATE_LIMIT must be a duration such as 1s, 500ms or 2m, not {text!r}."
        raise SearchError("invalid_input", message, "Units are ms, s, m and h; 0s: no pause.")
    seconds = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
    return sum(float(number) * seconds[unit] for number, unit in parts)


# ----- where the states are kept


def pacing_path() -> str:
    """Return the file of the pacing database, beside GLSI's cache; "" if there is no place."""
    cache = os.environ.get("GLSI_DB_PATH", "").strip()
    folder = os.path.dirname(os.path.expanduser(cache)) or "." if cache else "~/.glsi"
    folder = os.path.expanduser(folder)
    if cache == ":memory:" or folder.startswith("~"):
        return ""
    return os.path.join(os.path.abspath(folder), "engines.db")


def state_key(engine: str) -> str:
    """Return the row of an engine; one at another address (a test, a mirror) has its own."""
    return f"{engine} {engine_address(engine)}" if is_moved(engine) else engine


def change_state(
    engine: str, change: Callable[[dict[str, Any], float], Any], warnings: list[str]
) -> Any:
    """Apply change(state, now) to an engine's state, alone among all processes; return its result.

    Where the database cannot be used, the state is that of this process, and a warning says so.
    What change raises is passed on, and the state stays as it was.
    """
    path, key = pacing_path(), state_key(engine)
    try:
        if not path:
            raise OSError("there is no home folder")
        return change_row(path, key, change)
    except (OSError, ImportError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        text = f"Pacing holds within this process only: {path or 'engines.db'}: {reason}."
        hint = " Set GLSI_DB_PATH to a file in a writable folder; a broken file may be removed."
        if text + hint not in warnings:
            warnings.append(text + hint)
    import threading

    with _LOCAL.setdefault("", threading.Lock()):
        return changed(_LOCAL.setdefault(key, fresh_state()), change)


def changed(state: dict[str, Any], change: Callable[[dict[str, Any], float], Any]) -> Any:
    """Apply change(state, now) with the clock's present time."""
    now = time.time()
    follow_clock(state, now)
    return change(state, now)


def change_row(path: str, key: str, change: Callable[[dict[str, Any], float], Any]) -> Any:
    """Apply change to a row of the database in one transaction; raises OSError, ImportError."""
    import sqlite3
    from contextlib import closing

    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))  # SQLite would let others read it
    try:
        connection = sqlite3.connect(path, timeout=LOCK_SECONDS, isolation_level=None)
        with closing(connection) as database:
            # A power cut may lose a second of pacing; waiting for the disk would cost every call.
            database.execute("PRAGMA synchronous = OFF")
            database.execute("BEGIN IMMEDIATE")
            state = read_row(database, key)
            outcome = changed(state, change)
            marks = ", ".join("?" * (1 + len(COLUMNS)))
            row = [key, *(state[name] for name in COLUMNS)]
            database.execute(f"INSERT OR REPLACE INTO engines VALUES ({marks})", row)  # noqa: S608
            database.execute("COMMIT")
            return outcome
    except sqlite3.Error as error:
        raise OSError(str(error)) from None


def read_row(database: Any, key: str) -> dict[str, Any]:
    """Return an engine's state from the database, whose table is made if it is missing."""
    database.execute(
        "CREATE TABLE IF NOT EXISTS engines (engine TEXT PRIMARY KEY, last_slot REAL, "
        "not_before REAL, rest_until REAL, blocks INTEGER, signal TEXT, updated REAL)"
    )
    names = ", ".join(COLUMNS)
    query = f"SELECT {names} FROM engines WHERE engine = ?"  # noqa: S608  names of ours
    fresh, row = fresh_state(), database.execute(query, (key,)).fetchone()
    if not row or [type(value) for value in row] != [type(value) for value in fresh.values()]:
        return fresh
    return dict(zip(COLUMNS, row, strict=True))


def present_state(engine: str) -> dict[str, Any]:
    """Return an engine's state without changing anything: no file is made."""
    path, key = pacing_path(), state_key(engine)
    state = {**_LOCAL.get(key, fresh_state())}
    if path and os.path.exists(path):
        from contextlib import suppress

        with suppress(OSError, ImportError):  # what this process knows must do
            state = max(state, kept_state(path, key), key=lambda one: one["updated"])
    follow_clock(state, time.time())
    return state


def kept_state(path: str, key: str) -> dict[str, Any]:
    """Return an engine's state from the database; raises OSError, ImportError."""
    import sqlite3
    from contextlib import closing
    from urllib.parse import quote

    try:
        address = f"file:{quote(os.fsencode(path))}?mode=ro"
        with closing(sqlite3.connect(address, timeout=LOCK_SECONDS, uri=True)) as database:
            return read_row(database, key)
    except sqlite3.Error as error:
        raise OSError(str(error)) from None


def engine_state() -> dict[str, dict[str, Any]]:
    """Return what each engine's pacing stands at, for every process; never raises.

    engine -> resting (bool), and where they are not zero: rest_seconds, blocks (in a row), signal
    (of the last one), queue_seconds (until the next free slot). searxng only where it is set up.
    """
    states = {}
    for engine in ENGINES:
        try:
            engine_address(engine)
            state, interval = present_state(engine), request_interval()
        except SearchError:  # it is not set up, or a variable is wrong
            continue
        now = time.time()
        rest = max(0.0, state["rest_until"] - now)
        queue = max(state["not_before"], state["last_slot"] + interval) - now
        states[engine] = {"resting": rest > 0} | {
            name: value
            for name, value in (
                ("rest_seconds", round(rest, 1)),
                ("blocks", state["blocks"]),
                ("signal", state["signal"]),
                ("queue_seconds", round(max(0.0, queue), 1)),
            )
            if value
        }
    return states


def blocked_error(
    engine: str, signal: str, seconds: float, status: int | None = None, resting: bool = False
) -> SearchError:
    """Return the error of an engine that has blocked this address, or rests after it did."""
    name = NAMES[engine]
    if resting:
        message = (
            f"{name} is not asked for another {spoken(seconds)}, because it blocked an earlier "
            f"request with {signal}."
        )
    else:
        message = f"{name} blocked the request: it answered with {signal}."
    hint = f"Wait {spoken(seconds)}; until then use {INSTEAD[engine]}."
    details = {"signal": signal, "status": status, "resting": resting or None}
    return SearchError(
        "blocked", message, hint, retryable=True, retry_after=round(seconds), **details
    )


_KEYED = "brave_search.py or serper_search.py (with a key)"
_OWN = "--engine searxng (your own server, SEARXNG_BASE_URL)"
INSTEAD = {
    "duckduckgo": f"{_OWN}, {_KEYED}, or --engine wikipedia for facts",
    "google": f"--engine duckduckgo, {_OWN}, or {_KEYED}; Google blocks every plain client",
    "searxng": f"--engine duckduckgo, or {_KEYED}",
    "wikipedia": f"--engine duckduckgo, or {_KEYED}",
}

# ===== operations =================================================================================


class Call:
    """One call: its engine, its deadline, its warnings, and where progress is reported."""

    def __init__(
        self, engine: str, deadline: float, warnings: list[str], report: ProgressCallback = None
    ) -> None:
        self.engine = engine
        self.deadline = deadline
        self.warnings = warnings
        self.report = report
        self.blocks = 0  # in a row, when the turn was taken

    def change(self, change: Callable[[dict[str, Any], float], Any]) -> Any:
        """Apply a change to the engine's state, which it gets with the present time."""
        return change_state(self.engine, change, self.warnings)

    def take_turn(self) -> None:
        """Wait for the engine's next slot. Raises SearchError (blocked, rate_limit)."""
        interval, left = request_interval(), self.deadline - time.monotonic()

        def turn(state: dict[str, Any], now: float) -> float:
            self.blocks = state["blocks"]
            return reserve_slot(state, now, self.engine, interval, left)

        wait = self.change(turn)
        if wait <= 0:
            return
        if self.report:
            self.report(f"{NAMES[self.engine]}: {spoken(wait)} until it is our turn", 0, 1)
        turn_comes = time.monotonic() + wait
        while (pause := turn_comes - time.monotonic()) > 0:
            time.sleep(min(pause, LOOK_SECONDS))
            # Another caller may have been blocked meanwhile.
            check_rest(present_state(self.engine), time.time(), self.engine)

    def fetch_page(self, request: dict[str, Any]) -> dict[str, Any]:
        """Send a request in its turn and return the page; every try takes a turn of its own.

        Raises SearchError. A block is noted for every process.
        """
        fault: SearchError | None = None
        for _ in range(FAULT_TRIES):
            try:
                self.take_turn()
            except SearchError as error:
                raise fault or error from None
            try:
                response = send_within(request, self.deadline)
                if response.status == 403 and "otherwise" in request:
                    request = {**request["otherwise"], "max_body": MAX_PAGE}
                    continue
                page = read_answer(self.engine, request, response)
            except SearchError as error:
                fault = self.noted(error)
                if not is_fault(fault):
                    raise fault from None
            else:
                if self.blocks:
                    self.change(note_answer)
                return page
        raise fault or SearchError("internal", "No request was sent.")

    def noted(self, error: SearchError) -> SearchError:
        """Keep in the engine's state what an error means for later requests; return the error."""
        if error.kind == "blocked":
            signal, at_least = error.details["signal"], error.retry_after or 0.0
            rest = self.change(lambda state, now: note_block(state, now, signal, at_least))
            return blocked_error(self.engine, signal, rest, error.details["status"])
        if error.kind == "rate_limit" and error.retry_after:
            seconds = error.retry_after
            self.change(lambda state, now: note_limit(state, now, seconds))
        return error


JSON_IS_OFF = (
    "This SearXNG has JSON switched off, so its HTML page was read: add json to search.formats in "
    "its settings.yml."
)


def is_fault(error: SearchError) -> bool:
    """Return whether a request may be sent again at once, in its next turn."""
    passing = error.kind == "provider" and error.details.get("status") in (500, 502, 503, 504)
    waits = error.kind == "rate_limit" and error.retry_after is not None
    return error.retryable and (passing or waits or error.kind == "network")


def run_search(params: dict[str, Any], report: ProgressCallback = None) -> Document:
    """Search with one engine; return the document of its results, or an error document.

    Never raises. params: those of COMMANDS["search"], and timeout, max_chars, dry_run, verbose.
    """

    def operation(params: dict[str, Any]) -> Document:
        warnings: list[str] = []
        request = first_request(params, warnings)
        if params.get("dry_run"):
            raise DryRun(shown_request(request))
        call = Call(params["engine"], deadline_of(params), warnings, report)
        try:
            pages, failure = fetch_pages(call, params, request)
        except SearchError as error:
            error.details["warnings"] = warnings
            raise
        return results_document(params, pages, warnings, failure)

    return run_operation("keyless.search", COMMANDS["search"], params, operation)


def fetch_pages(
    call: Call, params: dict[str, Any], request: dict[str, Any]
) -> tuple[list[dict[str, Any]], SearchError | None]:
    """Return the pages that hold the wanted results, and what kept a further page from coming.

    Ends early when a page brings nothing new. Raises SearchError if the first page fails.
    """
    pages: list[dict[str, Any]] = []
    following: dict[str, Any] | None = request
    found = 0
    while following:
        request = following
        try:
            pages.append(call.fetch_page(request))
        except SearchError as error:
            if not pages:
                raise
            return pages, error
        before, found = found, len(merged_results(pages))
        if found == before or found >= params["count"]:
            break
        if call.report:
            call.report(f"{NAMES[call.engine]}: results", found, params["count"])
        following = next_request(params, request, pages[-1], len(pages) + 1)
    return pages, None


def merged_results(pages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the results of all pages, each page of the web once."""
    results: dict[str, dict[str, Any]] = {}
    for page in pages:
        for result in page["results"]:
            results.setdefault(canonical_url(result["url"]), drop_empty(result))
    return list(results.values())


def results_document(
    params: dict[str, Any],
    pages: list[dict[str, Any]],
    warnings: list[str],
    failure: SearchError | None,
) -> Document:
    """Return the document of the pages; none at all is an error of its own kind.

    failure: what kept a further page from coming.
    """
    name = NAMES[params["engine"]]
    found = merged_results(pages)[: params["count"]]
    if any(page.get("is_html") for page in pages):
        warnings.append(JSON_IS_OFF)
    if failure:
        text = f"Only {len(found)} of {params['count']} results: {failure.message}"
        warnings.append(f"{text} {failure.details['hint']}".strip())
    document = drop_empty(
        {
            "ok": True,
            "provider": params["engine"],
            "query": params["query"],
            "results": [{"position": place, **item} for place, item in enumerate(found, 1)],
            "answers": pages[0].get("answers"),
            "suggestions": pages[0].get("suggestions"),
            "unresponsive_engines": pages[0].get("unresponsive_engines"),
            "warnings": warnings,
        }
    )
    if not found:
        hint = "Use fewer or more general words, or drop filters."
        document |= error_document(SearchError("no_results", f"{name} found nothing", hint))
    return document


RUN: dict[str, Callable[..., dict[str, Any]]] = {"search": run_search}

# ===== the document for people and for other scripts ==============================================


def as_results(document: Document) -> list[dict[str, Any]]:
    """Return a document's results as [{title, url, snippet, date?}]."""
    names = ("title", "url", "snippet", "date")
    return [
        {"snippet": "", **{name: item[name] for name in names if name in item}}
        for item in document.get("results") or []
    ]


def to_markdown(document: Document) -> str:
    """Return a document as Markdown for a person or a model."""
    if "request" in document:
        return f"```json\n{dump_json(document['request'], pretty=True)}\n```"
    failed = document.get("unresponsive_engines", [])
    warnings = document.get("warnings") or document.get("details", {}).get("warnings", [])
    blocks = [
        f"# {document['query']}" if "query" in document else "",
        "" if document["ok"] else error_markdown(document),
        *(f"> {warning}" for warning in warnings),
        *(f"## Answer\n\n{answer}" for answer in document.get("answers", [])),
        "\n".join(map(result_markdown, document.get("results", []))),
        joined("Suggestions", document.get("suggestions", [])),
        joined("Engines that failed", [f"{one['engine']} ({one['reason']})" for one in failed]),
        document.get("truncated", {}).get("hint", ""),
    ]
    return "\n\n".join(block for block in blocks if block)


def joined(label: str, texts: list[str]) -> str:
    """Return "label: a, b", or "" if there are no texts."""
    return f"{label}: {', '.join(texts)}" if texts else ""


def result_markdown(item: dict[str, Any]) -> str:
    """Return a result as a numbered list entry: linked title, date, snippet."""
    title = f"{item['title']} [{item['file_type']}]" if "file_type" in item else item["title"]
    line = f"{item['position']}. {markdown_link(title, item['url'])}"
    line += f" · {item['date']}" if "date" in item else ""
    return f"{line}\n   {item['snippet']}" if "snippet" in item else line
