"""Sites, countries, languages and periods in the forms that search engines use.

serper_search.py has its own version of these functions.
"""

from __future__ import annotations

import re

from websearch.kit import SearchError, quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from websearch.kit import Fields

# ===== filters ====================================================================================

# What people and models write -> the standard codes.
COUNTRY_SPELLINGS = {"uk": "gb"}
LANGUAGE_SPELLINGS = {
    "jp": "ja", "kr": "ko", "cn": "zh-cn", "zh-hans": "zh-cn", "zh-hant": "zh-tw", "en-uk": "en-gb",
}  # fmt: skip
GOOGLE_PERIODS = {"hour": "h", "day": "d", "week": "w", "month": "m", "year": "y"}


def site_filter(name: str, site: str) -> str:
    """Return a host, domain ending or path for a site: operator; it may be written as a URL.

    name: the parameter that an error names. Raises SearchError (invalid_input).
    """
    host = re.sub(r"^(https?://)?(\*?\.)?", "", site.strip(), flags=re.IGNORECASE).rstrip("/")
    if not re.fullmatch(r"""[\w-]+(\.[\w-]+)*(:\d+)?(/[^\s()"]*)?""", host):
        message = f"{name} must be a host such as docs.python.org, not {quoted(site)}."
        raise SearchError("invalid_input", message, "Separate several with commas.")
    return host


def query_with_sites(query: str, params: Fields) -> str:
    """Return a query with the site filters of params as operators, as Google writes them."""
    sites = ["site:" + site_filter("site", site) for site in params.get("site", [])]
    wanted = f"({' OR '.join(sites)})" if len(sites) > 1 else "".join(sites)
    unwanted = [site_filter("exclude_site", site) for site in params.get("exclude_site", [])]
    return " ".join([query, *([wanted] if wanted else []), *(f"-site:{site}" for site in unwanted)])


def country_code(text: str) -> str:
    """Return a country as a lower-case ISO 3166-1 code, "" for ""."""
    return COUNTRY_SPELLINGS.get(text.lower(), text.lower())


def language_code(text: str) -> str:
    """Return a language as a lower-case code such as de or pt-br, "" for ""; raises SearchError."""
    code = text.lower().replace("_", "-")
    code = LANGUAGE_SPELLINGS.get(code, code)
    if code and not re.fullmatch(r"simple|[a-z]{2,3}(-[a-z0-9]{2,8})*", code):
        message = f"language must be a code such as en, de or pt-br, not {quoted(text)}."
        raise SearchError("invalid_input", message, "Pass the code, not the name.")
    return code


def google_period(since: str) -> str:
    """Return a named period or a date range as Google's tbs; its dates are M/D/YYYY."""
    if ".." in since:
        days = [f"{int(day[5:7])}/{int(day[8:])}/{day[:4]}" for day in since.split("..")]
        return f"cdr:1,cd_min:{days[0]},cd_max:{days[1]}"
    return f"qdr:{GOOGLE_PERIODS[since]}" if since else ""


# ===== end of shared block: filters ===============================================================
