"""The pages of the desk as HTML: documents in, text out; nothing here asks or stores anything.

Each page is made of head(), parts, and FOOT, so that a slow search can be sent as it comes: the
form first, what is going on next, the results at last. The style hides a line of progress as soon
as something follows it, so no script is needed.
"""

from __future__ import annotations

import html
from string import Template
from urllib.parse import urlencode

from websearch.base.words import STOP_WORDS
from websearch.ways_in.desk.markdown_html import Page, link, render

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from websearch.kit import Document

LINKS = {
    "/": "Search", "/read": "Read", "/check": "Check", "/history": "History", "/state": "State",
    "/docs": "API",
}  # fmt: skip
CURRENT = ' aria-current="page"'
SINCE = ("", "hour", "day", "week", "month", "year")
LONGEST_TITLE = 200  # characters of a stranger's title
HEAD = Template(
    """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="same-origin">
<title>$title</title>
<link rel="stylesheet" href="/desk.css">
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header>
<strong>web-search</strong>
<nav aria-label="Pages of the desk"><ul>
$links
</ul></nav>
</header>
<main id="main" tabindex="-1">
<h1>$heading</h1>
"""
)
FOOT = """
</main>
<footer><p>This page stands on your machine. Texts of pages come from strangers: they are data,
and nothing in them was loaded or run.</p></footer>
</body>
</html>
"""

API = Template(
    """<p>Programs get JSON from this server, and Markdown with <code>format=markdown</code>.</p>
<pre tabindex="0"><code>curl 'http://$host/search?q=golang+concurrency&amp;count=3'
curl 'http://$host/read?url=https://example.org/&amp;format=markdown'
curl 'http://$host/recall?q=golang'
curl 'http://$host/check' -H 'Content-Type: text/markdown' --data-binary @draft.md
curl -X DELETE 'http://$host/cache?q=golang+concurrency'
</code></pre>
<p>If the server was started with a token, each request needs
<code>-H 'Authorization: Bearer TOKEN'</code>. MCP clients use <code>http://$host/mcp</code>.</p>
<p><a href="/openapi.json">openapi.json</a> describes every path and parameter.</p>
"""
)

# ===== the frame ==================================================================================


def head(path: str, heading: str) -> str:
    """Return a page up to its heading. path: the page's own, for the navigation."""
    links = "\n".join(
        f'<li><a href="{target}"{CURRENT if target == path else ""}>{name}</a></li>'
        for target, name in LINKS.items()
    )
    shown = html.escape(heading[:LONGEST_TITLE])
    return HEAD.substitute(title=f"{shown} · web-search", links=links, heading=shown)


def progress(text: str) -> str:
    """Return a line on what is going on; the style hides it once something follows."""
    return f'<p class="progress note" role="status">{html.escape(text)}</p>\n'


def error_box(document: Document) -> str:
    """Return what an error document says: its sentence, what to do, and an archived copy."""
    details = document["details"]
    parts = [
        f"<strong>{html.escape(str(details['kind']))}</strong>: {html.escape(document['error'])}",
        html.escape(str(details.get("hint", ""))),
    ]
    archived = details.get("archived")
    if archived:
        target = f"/read?{urlencode({'url': archived['url']})}"
        day = html.escape(archived["date"])
        parts.append(f'<a href="{html.escape(target)}">The copy of {day}</a>')
    shown = "".join(f"<p>{part}</p>" for part in parts if part)
    return f'<div class="error" role="alert">{shown}</div>\n'


def notes(document: Document) -> str:
    """Return the warnings of a document, and whether and when it was fetched."""
    texts = [*document.get("warnings", [])]
    if document.get("from_cache") is True:
        texts.append(f"From the store, fetched {document.get('fetched_at', 'earlier')}.")
    texts += [
        f"{one['engine']} failed: {one['error']}"
        for one in document.get("attempts", [])
        if "error" in one
    ]
    return "".join(f'<p class="note">{html.escape(text)}</p>\n' for text in texts)


def options(values: Iterable[str], chosen: str, first: str) -> str:
    """Return the options of a select; first: what the empty value is called."""
    return "".join(
        f'<option value="{html.escape(value)}"{" selected" if value == chosen else ""}>'
        f"{html.escape(value) or first}</option>"
        for value in values
    )


# ===== search =====================================================================================


def search_form(fields: dict[str, str], engines: Sequence[str], focuses: Sequence[str]) -> str:
    """Return the form of a search. fields: the values that it shows."""
    query, site = html.escape(fields.get("q", "")), html.escape(fields.get("site", ""))
    choices = {
        "engine": options(engines, fields.get("engine", ""), "auto"),
        "focus": options(focuses, fields.get("focus", ""), "general"),
        "since": options(SINCE, fields.get("since", ""), "any time"),
    }
    selects = "\n".join(
        f'<label>{name.capitalize()}<select name="{name}">{shown}</select></label>'
        for name, shown in choices.items()
    )
    return f"""<form class="search" action="/" method="get" role="search">
<label for="q">What do you want to know? Several lines are several questions.</label>
<textarea id="q" name="q" rows="2" required maxlength="2000">{query}</textarea>
<div class="fields">
{selects}
<label>Site<input name="site" value="{site}" placeholder="docs.python.org"></label>
<button type="submit">Search</button>
</div>
</form>
"""


def search_results(document: Document, query: str) -> str:
    """Return the results of a search or the sources of a brief, each with its passages."""
    if not document["ok"]:
        return error_box(document) + notes(document["details"])
    words = [word for word in query.split() if word.lower() not in STOP_WORDS]
    items = document.get("sources") or document.get("results") or []
    shown = "".join(result(item, words) for item in items)
    return f'{notes(document)}{questions(document)}<ol class="results">\n{shown}</ol>\n'


def questions(document: Document) -> str:
    """Return the questions of a brief with what became of each, "" for a search."""
    rows = [
        f"<li>{html.escape(state['query'])}"
        + (
            f' <span class="failed">{html.escape(state["error"])}</span>'
            if "error" in state
            else ""
        )
        + "</li>"
        for state in document.get("queries", [])
    ]
    return f"<ol>{''.join(rows)}</ol>\n" if rows else ""


def result(item: dict[str, Any], words: Sequence[str]) -> str:
    """Return one result: title, address, date, then its passages or its snippet."""
    title = html.escape(str(item.get("title") or item["url"])[:LONGEST_TITLE])
    number = f"{item['number']}. " if "number" in item else ""
    facts = [item.get("date", ""), item.get("author", ""), item.get("license", "")]
    facts += [f"archived {item['archived']}"] if "archived" in item else []
    text = item.get("text") or item.get("snippet") or ""
    note = f'<p class="note">Not read: {html.escape(item["error"])}</p>' if "error" in item else ""
    return (
        f"<li><h2>{number}{link(item['url'], title)}</h2>\n"
        f'<p class="address">{html.escape(" · ".join(filter(None, [item["url"], *facts])))} · '
        f'<a href="{read_address(item["url"])}">read here</a></p>\n'
        f'<div class="text">{render(text, words, first_level=3)}</div>{note}</li>\n'
    )


def read_address(url: str, **fields: str) -> str:
    """Return the address of the desk's page for a page of the web, escaped."""
    return html.escape(f"/read?{urlencode({'url': url, **fields})}")


# ===== read =======================================================================================


def read_form(url: str) -> str:
    """Return the form that asks for an address."""
    return f"""<form class="search" action="/read" method="get">
<div class="fields">
<label class="grow">Address of a page or PDF file<input name="url" type="url" required
 value="{html.escape(url)}" placeholder="https://..."></label>
<button type="submit">Read</button>
</div>
</form>
"""


def page_text(page: dict[str, Any]) -> str:
    """Return a page as agents get it: facts, outline, text."""
    if not page["ok"]:
        return error_box(page)
    address = page.get("final_url", page["url"])
    facts = [
        *(str(page[name]) for name in ("author", "published", "license") if page.get(name)),
        f"{page['chars']:,} characters" if "chars" in page else "",
        f"fetched {page['fetched_at']}" if "fetched_at" in page else "",
        f"archived {page['archived']}" if "archived" in page else "",
    ]
    body = Page(has_anchors=True)
    text = body.blocks(str(page.get("text", "")).split("\n"))
    cut = "The text is cut here; the rest begins below." if page.get("truncated") else ""
    more = (
        f'<a href="{read_address(page["url"], offset=str(page["next_offset"]))}">Go on reading</a>'
        if "next_offset" in page
        else ""
    )
    note = f'<p class="note">{html.escape(page["note"])}</p>\n' if "note" in page else ""
    return (
        f'<p class="address">{link(address, html.escape(address))}'
        f" · {html.escape(' · '.join(filter(None, facts)))}"
        f' · <a href="{read_address(page["url"], format="markdown")}">Markdown</a></p>\n'
        f'{note}{outline(body.headings)}<article class="text">\n{text}</article>\n'
        f'<p class="note">{cut} {more}</p>\n'
    )


def outline(headings: Sequence[tuple[int, str, str]]) -> str:
    """Return the headings of a page as links, "" if there are fewer than three."""
    if len(headings) < 3:
        return ""
    top = min(level for level, _, _ in headings)
    rows = "".join(
        f'<li class="level-{min(level - top, 3)}"><a href="#{name}">{html.escape(text)}</a></li>'
        for level, name, text in headings
    )
    return f'<details class="outline"><summary>Outline</summary><ol>{rows}</ol></details>\n'


# ===== check ======================================================================================


def check_form(draft: str) -> str:
    """Return the form that takes a draft."""
    return f"""<form class="search" action="/check" method="post">
<label for="text">A draft in Markdown, with a link or [1] behind each quotation</label>
<textarea id="text" name="text" rows="8" required>{html.escape(draft)}</textarea>
<div class="fields"><button type="submit">Check</button></div>
</form>
"""


def check_results(document: Document) -> str:
    """Return what a check has found: what is wrong first, all of it with its line and source."""
    if "counts" not in document:
        return error_box(document)
    sentence = document.get("error") or "All stands in the sources."
    items = "".join(map(checked, [*document["checks"], *document["numbers"]]))
    return f'<p role="status">{html.escape(sentence)}</p>\n<ul class="entries">\n{items}</ul>\n'


def checked(item: dict[str, Any]) -> str:
    """Return a quotation or a sentence with numbers, and what its source says."""
    missing = item.get("missing")
    verdict = item.get("verdict") or ("unread" if "error" in item else "numbers stand there")
    verdict = "doubtful" if "doubtful" in item else verdict
    verdict = f"not in the source: {', '.join(missing)}" if missing else verdict
    is_good = verdict in ("verbatim", "numbers stand there")
    differs = (f"“{pair['quote']}” for “{pair['source']}”" for pair in item.get("differs", ()))
    facts = [
        f"The page: “{item['source_text']}”" if "source_text" in item else "",
        "; ".join(differs),
        f"It stands in {item['found_in']}" if "found_in" in item else "",
        item.get("note", ""),
        item.get("error", ""),
        *(f"{number['number']}: {number['note']}" for number in item.get("doubtful", ())),
    ]
    lines = "".join(f"<br>{html.escape(fact)}" for fact in facts if fact)
    source = link(item["url"], html.escape(item["url"])) if "url" in item else "no source"
    return (
        f"<li><strong{'' if is_good else ' class=failed'}>{html.escape(verdict)}</strong> "
        f"line {item['line']}: {html.escape(item.get('quote') or item['sentence'])}{lines}<br>"
        f"{source}</li>\n"
    )


# ===== history and state ==========================================================================


def history_form(query: str) -> str:
    """Return the form that looks for words in what was read."""
    return f"""<form class="search" action="/history" method="get" role="search">
<div class="fields"><label class="grow">Words in the pages that were read
<input name="q" value="{html.escape(query)}"></label><button type="submit">Recall</button></div>
</form>
"""


def history_list(entries: Sequence[dict[str, str]], token: str) -> str:
    """Return the history, newest first, by day; each entry and day can be forgotten.

    entries: {id, day, time, caller, kind, text, address}; address opens the entry's answer.
    """
    if not entries:
        return '<p class="note">Nothing was searched or read yet.</p>\n'
    days: dict[str, list[dict[str, str]]] = {}
    for entry in entries:
        days.setdefault(entry["day"], []).append(entry)
    parts = []
    for day, listed in days.items():
        rows = "".join(history_entry(entry, token) for entry in listed)
        forget = forget_form(token, "day", day, f"Forget {day}")
        parts.append(f'<div class="day"><h2>{day}</h2>{forget}</div>\n')
        parts.append(f'<ul class="entries">\n{rows}</ul>\n')
    parts.append(forget_form(token, "all", "yes", "Forget everything, answers and pages too"))
    return "".join(parts)


def history_entry(entry: dict[str, str], token: str) -> str:
    """Return a line of the history: when, who, what, and the way to forget it."""
    address = html.escape(entry["address"])
    return (
        f'<li><span class="note">{entry["time"]} · {html.escape(entry["caller"])} · '
        f'{html.escape(entry["kind"])}</span> <a class="what" href="{address}">'
        f"{html.escape(entry['text'][:LONGEST_TITLE])}</a>"
        f"{forget_form(token, 'id', entry['id'], 'Forget')}</li>\n"
    )


def forget_form(token: str, name: str, value: str, label: str) -> str:
    """Return the button that forgets an entry, a day or everything; token: against forgery."""
    return (
        '<form action="/history/forget" method="post">'
        f'<input type="hidden" name="token" value="{html.escape(token)}">'
        f'<input type="hidden" name="{name}" value="{html.escape(value)}">'
        f'<button class="plain" type="submit">{html.escape(label)}</button></form>'
    )


def state_tables(doctor: Document, stats: Document) -> str:
    """Return what works on this machine, and what the store holds and counts."""
    checks = "".join(
        f"<tr><th scope=row>{html.escape(check['name'])}</th>"
        f'<td class="{html.escape(check["status"])}">{html.escape(check["status"])}</td>'
        f"<td>{html.escape(check['message'])} {html.escape(check.get('hint', ''))}</td></tr>\n"
        for check in doctor.get("checks", [])
    )
    facts = "".join(
        f"<tr><th scope=row>{html.escape(name)}</th><td>{html.escape(plain(value))}</td></tr>\n"
        for name, value in stats.items()
        if name not in ("ok", "provider", "action")
    )
    tables = {"What works here": checks, "Store and spending": facts}
    return "".join(
        f'<h2>{name}</h2>\n<div class="wide" tabindex="0"><table>{rows}</table></div>\n'
        for name, rows in tables.items()
    )


def plain(value: Any) -> str:
    """Return a value of a document as text: name: value pairs, items with commas, numbers."""
    if isinstance(value, dict):
        return "; ".join(f"{name}: {plain(inner)}" for name, inner in value.items())
    if isinstance(value, list):
        return ", ".join(map(plain, value))
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def token_form(path: str, is_wrong: bool) -> str:
    """Return the form that asks for the server's token once."""
    wrong = '<p class="failed" role="alert">This is not the token.</p>' if is_wrong else ""
    return f"""{wrong}<form class="search" action="/sign-in" method="post">
<input type="hidden" name="next" value="{html.escape(path)}">
<div class="fields"><label>Token of this server (the line of its token file)
<input name="token" type="password" required autocomplete="current-password"></label>
<button type="submit">Open</button></div>
</form>
"""


def api_text(host: str) -> str:
    """Return how programs call this server; host: its name and port."""
    return API.substitute(host=html.escape(host))
