"""Write the desk's pages as HTML, from documents.

Each page is head(), parts and FOOT, so a slow search can be sent in steps: first the form, then the
progress, then the results. The style hides a progress line as soon as anything follows it. The only
script is for keys.
"""

from __future__ import annotations

import calendar
import html
import itertools
import re
import time
from string import Template
from urllib.parse import urlencode

from websearch.markdown.inline import cells_of
from websearch.reading.finding import MAX_PLACES, PageFinder
from websearch.ways_in.best_passages import best_passages, query_words, unanswered_questions
from websearch.ways_in.desk.markdown_html import Page, link, render

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from websearch.kit import Document

LINKS = {
    "/": "Search", "/read": "Read", "/check": "Check", "/history": "History", "/state": "Status",
    "/docs": "API",
}  # fmt: skip
CURRENT = ' aria-current="page"'
SINCE = ("", "hour", "day", "week", "month", "year")
RESULT_LINES, USUAL_LINES = 12, 7  # lines of passages per result, and on average; others are folded
LINE_CHARS = 90
BATCH = 5  # minimum number of entries by one caller within a short time that are folded
PLACES = [chr(0xFDD0 + n) for n in range(MAX_PLACES)]  # before positions found; in no page
LONGEST_TITLE = 200  # characters of a page's title
HEAD = Template(
    """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="same-origin">
<title>$title</title>
<link rel="stylesheet" href="/desk.css">
<script src="/desk.js" defer></script>
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
<footer><p>This page is served by your own machine. Page text is untrusted: nothing in it was
loaded or run.</p></footer>
</body>
</html>
"""

MISSING = '<p>Look in the <a href="/history">history</a>, or <a href="/">search</a>.</p>'
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
    """Return a page up to and including its heading; path: the page's path, for the navigation."""
    links = "\n".join(
        f'<li><a href="{target}"{CURRENT if target == path else ""}>{name}</a></li>'
        for target, name in LINKS.items()
    )
    shown = html.escape(heading[:LONGEST_TITLE])
    return HEAD.substitute(title=f"{shown} · web-search", links=links, heading=shown)


def progress(text: str) -> str:
    """Return a progress line; the style hides it once anything follows."""
    shown = html.escape(text[:1].upper() + text[1:])
    return f'<p class="progress note" role="status">{shown}</p>\n'


def error_box(document: Document) -> str:
    """Return an error document as HTML: its message, its hint and a link to any archived copy."""
    details = document["details"]
    parts = [
        f"<strong>{html.escape(document['error'])}</strong>",
        html.escape(str(details.get("hint", ""))),
    ]
    archived = details.get("archived")
    if archived:
        target = f"/read?{urlencode({'url': archived['url']})}"
        day = html.escape(archived["date"])
        parts.append(f'<a href="{html.escape(target)}">Archived copy of {day}</a>')
    shown = "".join(f"<p>{part}</p>" for part in parts if part)
    return f'<div class="error" role="alert">{shown}</div>\n'


def notes(document: Document) -> str:
    """Return a document's warnings, the time of a stored answer and the failed engines."""
    texts = [*document.get("warnings", [])]
    if document.get("from_cache") is True:
        texts.append(f"From the store, fetched {moment_name(document.get('fetched_at', ''))}.")
    texts += [
        f"{attempt['engine']} failed: {attempt['error']}"
        for attempt in document.get("attempts", [])
        if "error" in attempt
    ]
    return "".join(f'<p class="note">{html.escape(text)}</p>\n' for text in texts)


def options(values: Iterable[str], chosen: str, first: str) -> str:
    """Return the options of a select; first: the label for the empty value."""
    return "".join(
        f'<option value="{html.escape(value)}"{" selected" if value == chosen else ""}>'
        f"{html.escape(value) or first}</option>"
        for value in values
    )


# ===== search =====================================================================================


def search_form(fields: dict[str, str], engines: Sequence[str], focuses: Sequence[str]) -> str:
    """Return the search form, filled with these fields; unused parts are folded."""
    query, site = fields.get("q", ""), html.escape(fields.get("site", ""))
    first_line, _, several = query.partition("\n")
    names = ("engine", "focus", "since")
    labels = {"engine": "auto", "focus": "general", "since": "any time"}
    values = {"engine": engines, "focus": focuses, "since": SINCE}
    selects = "\n".join(
        f'<label>{name.capitalize()}<select name="{name}">'
        f"{options(values[name], fields.get(name, ''), labels[name])}</select></label>"
        for name in names
    )
    is_filtered = any(fields.get(name, "") not in ("", "general") for name in (*names, "site"))
    return f"""<form class="search" action="/" method="get" role="search">
<div class="fields"><label class="grow">What do you want to know?
<input id="q" name="q" type="search" maxlength="2000" \
value="{html.escape(first_line)}"{"" if query else " autofocus"}></label>
<button type="submit">Search</button></div>
<details{" open" if several else ""}><summary>More questions</summary>
<label for="more">One question per line</label>
<textarea id="more" name="more" rows="3" maxlength="2000">{html.escape(several)}</textarea>
</details>
<details{" open" if is_filtered else ""}><summary>Filters</summary><div class="fields">
{selects}
<label>Site<input name="site" value="{site}" placeholder="docs.python.org"></label>
</div></details>
</form>
"""


def search_results(document: Document, query: str) -> str:
    """Return the results of a search, or a brief's sources grouped by question."""
    if not document["ok"]:
        return error_box(document) + notes(document["details"])
    if "queries" in document:
        return notes(document) + question_groups(document)
    shown = results(document.get("results", []), query)
    return f"{notes(document)}{shown}"


def question_groups(document: Document) -> str:
    """Return a brief's sources, each below the first question that it answers."""
    parts, shown = list[str](), set[int]()
    for number, outcome in enumerate(document["queries"], 1):
        parts.append(f"<h2>{html.escape(outcome['query'])}</h2>\n")
        items = [item for item in document["sources"] if number in item["queries"]]
        if "error" in outcome:
            parts.append(f'<p class="failed">{html.escape(outcome["error"])}</p>\n')
        elif not any("text" in item for item in items):
            parts.append('<p class="note">No page answers this question.</p>\n')
        for item in (item for item in items if item["number"] in shown):
            name = f"{item['number']}. {title_of(item)}"
            parts.append(f'<p>Also <a href="#source-{item["number"]}">{name}</a></p>\n')
        new = [item for item in items if item["number"] not in shown]
        shown |= {item["number"] for item in new}
        parts.append(results(new, outcome["query"], level=3) if new else "")
    names = "".join(f"<li>{html.escape(name)}</li>\n" for name in unanswered_questions(document))
    end = f'<p class="note">No page answers:</p>\n<ul>\n{names}</ul>\n' if names else ""
    return "".join(parts) + end


def results(items: Sequence[dict[str, Any]], query: str, level: int = 2) -> str:
    """Return results with the parts that answer a query; level: the HTML level of headings."""
    texts = [str(item.get("text") or item.get("snippet") or "") for item in items]
    pairs = [(str(item.get("title", "")), text) for item, text in zip(items, texts, strict=True)]
    best = best_passages(pairs, [query], lines_of, RESULT_LINES, USUAL_LINES * len(items))
    shown = zip(items, best, texts, strict=True)
    rows = "".join(result(item, query, part, text, level) for item, part, text in shown)
    return f'<ol class="results">\n{rows}</ol>\n'


def lines_of(markdown: str) -> int:
    """Return approximately how many lines Markdown takes up on a page."""
    return sum(1 + len(line) // LINE_CHARS for line in markdown.split("\n") if line)


def result(item: dict[str, Any], query: str, best: str, whole: str, level: int) -> str:
    """Return a result with its best passages; the result's whole text is folded.

    level: the HTML level of its heading.
    """
    number, anchor = "", ""
    if "number" in item:
        number, anchor = f"{item['number']}. ", f' id="source-{item["number"]}"'
    facts = [item.get("date", ""), item.get("author", ""), item.get("license", "")]
    facts += [f"archived {item['archived']}"] if "archived" in item else []
    words = query_words(query)
    text, others = render(best, words, first_level=level + 1), ""
    if lines_of(whole) > lines_of(best):
        others = render(whole, words, first_level=level + 1)
        others = f"<details><summary>More of this page</summary>\n{others}</details>\n"
    note = f'<p class="note">Not read: {html.escape(item["error"])}</p>' if "error" in item else ""
    return (
        f"<li{anchor}><h{level}>{number}{link(item['url'], title_of(item))}</h{level}>\n"
        f'<p class="address">{html.escape(" · ".join(filter(None, [item["url"], *facts])))} · '
        f'<a href="{read_address(item["url"], q=query)}">Read here</a></p>\n'
        f'<div class="text">{text}{others}</div>{note}</li>\n'
    )


def title_of(item: dict[str, Any]) -> str:
    """Return the title of a result or page, or else its URL, escaped."""
    return html.escape(str(item.get("title") or item["url"])[:LONGEST_TITLE])


def read_address(url: str, **fields: str) -> str:
    """Return the escaped URL at which the desk shows a web page."""
    return html.escape(f"/read?{urlencode({'url': url, **fields})}")


# ===== read =======================================================================================


def read_form(url: str) -> str:
    """Return the form that asks for a URL."""
    return f"""<form class="search" action="/read" method="get">
<div class="fields">
<label class="grow">URL of a page or PDF file<input name="url" type="url" required
 value="{html.escape(url)}" placeholder="https://..."></label>
<button type="submit">Read</button>
</div>
</form>
"""


def places_found(found: Document, query: str) -> str:
    """Return the positions of a text in a page (see PageFinder.find), with links to them."""
    count, places = found["places_in_all"], found["places"]
    rows = "".join(
        f'<li><a href="#place-{number}">{html.escape(place.get("heading") or "Beginning")}</a>\n'
        f"{render(row_text(place['text']), [query], first_level=4)}</li>\n"
        for number, place in enumerate(places, 1)
    )
    what = counted(count, "place")
    what += f", {len(places)} shown" if len(places) < count else ""
    return f'<section class="panel text"><h3>{what}</h3>\n<ol>\n{rows}</ol></section>\n'


def row_text(text: str) -> str:
    """Return a table row without its header as a line of text; return other Markdown unchanged."""
    is_row = text.startswith("|") and "\n" not in text
    return " · ".join(filter(None, cells_of(text))) if is_row else text


def with_places(text: str, places: Sequence[Document]) -> str:
    """Return Markdown with one of PLACES before each position; positions are in page order."""
    starts = [0, *(place["offset"] for place in places), len(text)]
    parts = [text[start:end] for start, end in itertools.pairwise(starts)]
    return "".join(map("".join, zip(["", *PLACES], parts, strict=False)))


def as_anchors(shown: str) -> str:
    """Return HTML in which the PLACES are jump targets, each before any tag that contains it."""

    def in_front(tag: re.Match[str]) -> str:
        return "".join(re.findall(signs, tag[0])) + re.sub(signs, "", tag[0])

    signs = f"[{PLACES[0]}-{PLACES[-1]}]"
    shown = re.sub(r"<[^<>]*>", in_front, shown)
    for number, sign in enumerate(PLACES, 1):
        shown = shown.replace(sign, f'<a id="place-{number}"></a>')
    return shown


def find_form(url: str, query: str) -> str:
    """Return the form that finds words, or the answer to a question, in the page shown."""
    return f"""<form class="search" action="/read" method="get" role="search">
<input type="hidden" name="url" value="{html.escape(url)}">
<div class="fields"><label class="grow">Find in this page
<input name="q" type="search" maxlength="2000" value="{html.escape(query)}"></label>
<button type="submit">Find</button></div>
</form>
"""


def page_answers(text: str, query: str, words: Sequence[str]) -> str:
    """Return the passages of a page that answer a question, or a note if there are none."""
    parts = best_passages([("", text)], [query], lines_of, RESULT_LINES, RESULT_LINES)
    best = render(parts[0], words, first_level=4)
    if "<mark>" not in best:
        return '<p role="status">This page contains no word of the question.</p>\n'
    return f'<section class="panel text"><h3>Best passages</h3>\n{best}</section>\n'


def page_text(page: dict[str, Any], query: str = "") -> str:
    """Return a page: facts, positions or best passages, outline, and text with marked words."""
    if not page["ok"]:
        return error_box(page)
    address = page.get("final_url", page["url"])
    facts = [
        *(str(page[name]) for name in ("author", "published", "license") if page.get(name)),
        f"{page['chars']:,} characters" if "chars" in page else "",
        f"fetched {moment_name(page['fetched_at'])}" if "fetched_at" in page else "",
        f"archived {page['archived']}" if "archived" in page else "",
    ]
    words = query_words(query) or query.split()
    markdown, answers = str(page.get("text", "")), ""
    found = PageFinder(markdown).find(query, MAX_PLACES) if words else {}
    if "places" in found:
        words, answers = [query], places_found(found, query)
        markdown = with_places(markdown, found["places"])
    elif words:
        answers = page_answers(markdown, query, words)
    body = Page(words, first_level=3, has_anchors=True)
    text = as_anchors(body.blocks(markdown.split("\n")))
    headings = [(level, name, re.sub(f"[{PLACES[0]}-{PLACES[-1]}]", "", heading))
                for level, name, heading in body.headings]  # fmt: skip
    cut = "The text is cut here." if page.get("truncated") else ""
    more = (
        f'<a href="{read_address(page["url"], q=query, offset=str(page["next_offset"]))}">'
        "Continue reading</a>"
        if "next_offset" in page
        else ""
    )
    note = f'<p class="note">{html.escape(page["note"])}</p>\n' if "note" in page else ""
    return (
        f'<p class="address">{link(address, html.escape(address))}'
        f" · {html.escape(' · '.join(filter(None, facts)))}"
        f' · <a href="{read_address(page["url"], format="markdown")}">Markdown</a></p>\n'
        f"{note}{find_form(page['url'], query)}{answers}{outline(headings)}"
        f'<article class="text">\n{text}</article>\n'
        f'<p class="note">{cut} {more}</p>\n'
    )


def outline(headings: Sequence[tuple[int, str, str]]) -> str:
    """Return a page's headings as links; "" if there are fewer than three."""
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
    """Return the form for a draft."""
    return f"""<form class="search" action="/check" method="post">
<label for="text">A draft in Markdown, with a link or [1] after each quotation</label>
<textarea id="text" name="text" rows="8" required>{html.escape(draft)}</textarea>
<div class="fields"><button type="submit">Check</button></div>
</form>
"""


def check_results(document: Document) -> str:
    """Return a check's findings, each with its line and source."""
    if "counts" not in document:
        return error_box(document)
    sentence = document.get("error") or "Every quotation and number is in its source."
    items = "".join(map(checked, [*document["checks"], *document["numbers"]]))
    return f'<p role="status">{html.escape(sentence)}</p>\n<ul class="entries">\n{items}</ul>\n'


def checked(item: dict[str, Any]) -> str:
    """Return the finding for a quotation or a sentence with numbers."""
    missing = item.get("missing")
    verdict = item.get("verdict") or ("unread" if "error" in item else "numbers found")
    verdict = "doubtful" if "doubtful" in item else verdict
    verdict = f"not in the source: {', '.join(missing)}" if missing else verdict
    is_good = verdict in ("verbatim", "numbers found")
    differs = (
        f"“{pair['quote']}” instead of “{pair['source']}”" for pair in item.get("differs", ())
    )
    facts = [
        f"The page says: “{item['source_text']}”" if "source_text" in item else "",
        "; ".join(differs),
        f"Found in {item['found_in']}" if "found_in" in item else "",
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


def history_form(query: str, wanted: str) -> str:
    """Return the forms that search the pages read before and that filter the history."""
    return f"""<form class="search" action="/history" method="get" role="search">
<div class="fields"><label class="grow">Words in pages read before
<input name="q" value="{html.escape(query)}"></label><button type="submit">Recall</button></div>
</form>
<form class="search" action="/history" method="get">
<div class="fields"><label class="grow">Questions and titles that contain
<input name="filter" value="{html.escape(wanted)}"></label><button>Filter</button></div>
</form>
"""


def day_name(day: str) -> str:
    """Return a date (YYYY-MM-DD) as a person writes it: today, yesterday or 28 November 2026."""
    now = time.time()
    for name, moment in (("today", now), ("yesterday", now - 86_400)):
        if day == time.strftime("%Y-%m-%d", time.localtime(moment)):
            return name
    try:
        parsed = time.strptime(day, "%Y-%m-%d")
    except ValueError:
        return day
    return f"{parsed.tm_mday} {time.strftime('%B %Y', parsed)}"


def moment_name(moment: str) -> str:
    """Return a time (ISO 8601, UTC) as a person writes it: today, 09:39."""
    try:
        seconds = calendar.timegm(time.strptime(moment, "%Y-%m-%dT%H:%M:%SZ"))
    except ValueError:
        return moment or "earlier"
    day, clock = time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds)).split()
    return f"{day_name(day)}, {clock}"


def history_list(entries: Sequence[dict[str, str]], token: str, wanted: str = "") -> str:
    """Return the history by day, newest first, with buttons that forget an entry or a day.

    entries: {id, day, time, minute, caller, kind, text, is_page, address}; address opens the
    entry's answer. wanted: the text that all entries contain.
    """
    if not entries and wanted:
        return f'<p class="note">No entry contains {html.escape(wanted)}.</p>\n'
    if not entries:
        return '<p class="note">Nothing has been searched or read yet.</p>\n'
    days: dict[str, list[dict[str, str]]] = {}
    for entry in entries:
        days.setdefault(entry["day"], []).append(entry)
    parts = []
    for day, listed in days.items():
        name = html.escape(day_name(day))
        forget = f'<a href="/history/forget?{urlencode({"day": day})}">Forget {name} …</a>'
        title = f"{name[:1].upper()}{name[1:]}"
        parts.append(f'<div class="day"><h2>{title}</h2>{"" if wanted else forget}</div>\n')
        groups = {"Questions": [entry for entry in listed if not entry["is_page"]],
                  "Pages": [entry for entry in listed if entry["is_page"]]}  # fmt: skip
        for title, group in groups.items():
            rows = "".join(run_of_entries(run, token) for run in runs_of(group))
            parts.append(f'<h3>{title}</h3>\n<ul class="entries">\n{rows}</ul>\n' if rows else "")
    parts.append('<form action="/history/forget"><button>Forget everything …</button></form>\n')
    return "".join(parts)


def runs_of(entries: Sequence[dict[str, str]]) -> list[list[dict[str, str]]]:
    """Return entries in runs: by the same caller, of the same kind, at most a minute apart."""
    runs: list[list[dict[str, str]]] = []
    for entry in entries:
        last = runs[-1][-1] if runs else entry
        same = all(entry[name] == last[name] for name in ("caller", "kind"))
        if runs and same and int(last["minute"]) - int(entry["minute"]) <= 1:
            runs[-1].append(entry)
        else:
            runs.append([entry])
    return runs


def run_of_entries(entries: list[dict[str, str]], token: str) -> str:
    """Return entries of the history; entries of a batch are folded."""
    rows = "".join(history_entry(entry, token) for entry in entries)
    if len(entries) < BATCH:
        return rows
    last, first = entries[0]["time"], entries[-1]["time"]
    times = first if first == last else f"{first} to {last}"
    title = f"{times} · {html.escape(entries[0]['caller'])} · {len(entries)} in a batch"
    return (
        f'<li><details><summary>{title}</summary><ul class="entries">\n{rows}</ul></details></li>\n'
    )


def history_entry(entry: dict[str, str], token: str) -> str:
    """Return a history entry: time, caller, kind, text and a button to forget the entry."""
    address = html.escape(entry["address"])
    return (
        f'<li><span class="note">{entry["time"]} · {html.escape(entry["caller"])} · '
        f'{html.escape(entry["kind"])}</span> <a class="what" href="{address}">'
        f"{html.escape(entry['text'][:LONGEST_TITLE])}</a>"
        f"{forget_form(token, 'id', entry['id'], 'Forget')}</li>\n"
    )


def forget_day_question(token: str, day: str, entries: Sequence[dict[str, str]]) -> str:
    """Return the question that asks for confirmation before forgetting a day's entries."""
    pages = sum(1 for entry in entries if entry["is_page"])
    texts = dict.fromkeys(entry["text"][:LONGEST_TITLE] for entry in entries)
    rows = "".join(f"<li>{html.escape(text)}</li>\n" for text in texts)
    name = day_name(day)
    return (
        f"<p>This removes {counted(len(entries) - pages, 'question')} and "
        f"{counted(pages, 'page read')} from {html.escape(name)}, with their stored answers and "
        "pages.</p>\n"
        f"<ul>\n{rows}</ul>\n{forget_form(token, 'day', day, f'Forget {name}', 'danger')}\n"
        '<p><a href="/history">Keep them</a></p>\n'
    )


def forget_question(token: str, stats: Document) -> str:
    """Return the question that asks for confirmation before forgetting everything."""
    counts = f"{stats['history']:,} questions and reads, {stats['answers']:,} answers and "
    return (
        f"<p>This removes {counts}{stats['pages']:,} pages. It cannot be undone.</p>\n"
        f"{forget_form(token, 'all', 'yes', 'Forget everything', 'danger')}\n"
        '<p><a href="/history">Keep everything</a></p>\n'
    )


def undo_form(token: str, removed: dict[str, int]) -> str:
    """Return a note on what was forgotten, with a button to undo it. removed: rows by table."""
    kinds = {"history": "history item", "cache": "answer", "pages": "page"}
    what = ", ".join(counted(removed.get(table, 0), name) for table, name in kinds.items())
    form = forget_form(token, "undo", "yes", "Undo")
    return f'<div class="note">Forgotten: {what}. Until you leave this page: {form}</div>\n'


def forget_form(token: str, name: str, value: str, label: str, style: str = "plain") -> str:
    """Return a button that forgets an entry, a day or everything; token: form_token()."""
    return (
        '<form action="/history/forget" method="post">'
        f'<input type="hidden" name="token" value="{html.escape(token)}">'
        f'<input type="hidden" name="{name}" value="{html.escape(value)}">'
        f'<button class="{style}" type="submit">{html.escape(label)}</button></form>'
    )


def state_tables(doctor: Document, stats: Document) -> str:
    """Return tables of the checks of this machine, the store and the spending."""
    checks = "".join(
        f"<tr><th scope=row>{html.escape(check['name'])}</th>"
        f'<td class="{html.escape(check["status"])}">{html.escape(check["status"])}</td>'
        f"<td>{html.escape(check['message'])} {html.escape(check.get('hint', ''))}</td></tr>\n"
        for check in doctor.get("checks", [])
    )
    times = {name: moment_name(stats[name]) for name in ("oldest", "newest") if stats.get(name)}
    facts = "".join(
        f"<tr><th scope=row>{html.escape(name)}</th><td>{html.escape(plain(value))}</td></tr>\n"
        for name, value in {**stats, **times}.items()
        if name not in ("ok", "provider", "action")
    )
    tables = {"Checks": checks, "Store and spending": facts}
    return "".join(
        f'<h2>{name}</h2>\n<div class="wide" tabindex="0"><table>{rows}</table></div>\n'
        for name, rows in tables.items()
    )


def counted(count: int, noun: str) -> str:
    """Return a count with its noun in the singular or plural."""
    return f"{count:,} {noun}{'s' * (count != 1)}"


def plain(value: object) -> str:
    """Return a value from a document as text, with commas between items and in large numbers."""
    if isinstance(value, dict):
        return "; ".join(f"{name}: {plain(inner)}" for name, inner in value.items())
    if isinstance(value, list):
        return ", ".join(map(plain, value))
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def token_form(path: str, is_wrong: bool) -> str:
    """Return the sign-in form that asks for the server's token."""
    wrong = '<p class="failed" role="alert">Wrong token.</p>' if is_wrong else ""
    return f"""{wrong}<form class="search" action="/sign-in" method="post">
<input type="hidden" name="next" value="{html.escape(path)}">
<div class="fields"><label>Token of this server (from its token file)
<input name="token" type="password" required autocomplete="current-password"></label>
<button type="submit">Open</button></div>
</form>
"""


def api_text(host: str) -> str:
    """Return the instructions for programs; host: the server's name and port."""
    return API.substitute(host=html.escape(host))
