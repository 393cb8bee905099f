"""Build the document for pages that were read: the text that fits, and the Markdown output."""

from __future__ import annotations

import bisect
import itertools
import re
import time
from functools import partial
from urllib.parse import urlsplit

from websearch.base.calls import bug_warning, is_bug, result_or_error
from websearch.base.untrusted import disarm_text, plain_address
from websearch.kit import (
    DEFAULT_MAX_CHARS,
    SearchError,
    drop_empty,
    dump_json,
    error_document,
    error_markdown,
    fence_untrusted,
    frame_markdown,
    object_field,
    one_line,
    proxy_for,
    quoted,
)
from websearch.markdown.fences import code_begin, fences_at
from websearch.markdown.foreign_text import outside_code
from websearch.markdown.sections import (
    HEADING,
    bookmark_headings,
    find_headings,
    find_section,
    fragment_offset,
    lower_headings,
    outline_of,
    section_note,
)
from websearch.markdown.units import PageText, sentence_ends, without_title
from websearch.pages.fetch.fetch import normal_url
from websearch.passages.excerpts import limit_query, passages_within
from websearch.passages.selection import GAP, MOST_CUT, PARAGRAPH_GAP
from websearch.passages.terms import content_words
from websearch.reading.finding import MAX_PLACES, PLACES_OF_SEVERAL, PageFinder
from websearch.reading.page_tables import no_such_table, table_with_number, tables_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from websearch.kit import Document
    from websearch.markdown.sections import Heading
    from websearch.reading.page import Page

# Characters of JSON reserved when max_chars is divided: per page for truncated, next_offset and a
# note, and per document for everything outside its pages.
PAGE_FIELDS_CHARS, DOCUMENT_FIELDS_CHARS = 70, 120
# For a document without max_chars, so a section slightly longer than usual stays whole.
SECTION_MAX_CHARS = DEFAULT_MAX_CHARS * 115 // 100
SEARCH_SPEED = 500_000  # characters per second that a slow machine searches for passages
ALWAYS_SEARCHED = 500_000  # characters of all pages searched even at the deadline
MAX_LATENESS = 1.0  # seconds for which the search for passages may continue after the deadline
PROXY_NOTE = (
    "Fetched through a proxy, which resolves names itself: names that resolve to private addresses "
    "could not be refused."
)
NO_HEADINGS_NOTE = "The page has no headings below its title."
NO_SUCH_HEADING_NOTE = "No heading contains these words; all headings are listed."
FRAGMENT_NOTE = "Begins at the place that the URL's # names; without it, at the start of the page."
BESIDE = "Next to the text"  # heading for a string found in the parts that rules dropped
_LINK = r"(?<!!)\[([^\[\]\n]{0,500})\]\((https?://[^\s()<>]{1,2000})\)"
# Characters reserved for the names of sections that passages show in part, and how many times as
# large the budget must be.
CUT_CHARS, MANY = 80, 10
LONGEST_HEAD = 1_000  # characters of a table header that is repeated where a slice continues
MOST_PARTS = 4  # consecutive lines, such as headings, that move to the next slice

# ===== fitting the text ===========================================================================


def pages_document(pages: list[Page], params: dict[str, Any], deadline: float) -> Document:
    """Return the document of pages, with max_chars divided among their texts.

    Space that shorter pages do not need goes to longer pages. With a query, a page gets passages.
    """
    parts = asked_parts(pages, params)
    heads = [head_of(page) for page, _ in parts]
    document: Document = {"ok": True, "provider": "read_page", "pages": heads}
    good = [(*part, head) for part, head in zip(parts, heads, strict=True) if head["ok"]]
    if not good:
        document = {name: heads[0][name] for name in ("ok", "error", "details")}
        return {**document, "pages": heads} if len(heads) > 1 else document
    if "query" in params:
        document["query"] = "\n".join(limit_query(params["query"])[0])
    document |= drop_empty({"warnings": [*proxy_notes(pages), *bug_warnings(pages)]})
    limit = params.get("max_chars", DEFAULT_MAX_CHARS)
    for _, _, head in good if limit else []:  # at most half of the space is for dropped parts
        while head.get("dropped") and json_size(head["dropped"]) > limit // (2 * len(good)):
            head["dropped"].pop()
    reserved = PAGE_FIELDS_CHARS * len(good) + DOCUMENT_FIELDS_CHARS
    room = max(0, limit - json_size(document) - reserved) if limit else 0
    repeated = LONGEST_HEAD if params["offset"] else 0  # header of a table, fence of code
    wanted = [json_size(asked_text(page, own)) + repeated for page, own, _ in good]
    if {"tables", "find", "query"} & params.keys() or params.get("outline"):
        wanted = [room] * len(good)  # these may take more space than a short text
    longer = room + SECTION_MAX_CHARS - DEFAULT_MAX_CHARS
    if "section" in params and "max_chars" not in params and sum(wanted) <= longer:
        room = longer
    for (page, own, head), share in zip(good, share_room(wanted, room), strict=True):
        page_room = max(1, share) if limit else 0
        if warning := fill_in(head, page, own, page_room, deadline):
            document.setdefault("warnings", []).append(warning)
        if head["final_url"] == result_or_error(normal_url, page.url):
            del head["final_url"]
    if not any(head["ok"] for head in heads):
        failed = {name: good[0][2][name] for name in ("ok", "error", "details")}
        return {**document, **failed} if len(heads) > 1 else failed
    return document


def asked_parts(pages: list[Page], params: dict[str, Any]) -> list[tuple[Page, dict[str, Any]]]:
    """Return each page with the parameters for one part of it.

    With as many sections as URLs, each URL has its own; otherwise, each page gets all sections.
    """
    if "section" not in params:
        return [(page, params) for page in pages]
    urls, sections = params.get("urls", []), params["section"]
    pairs = [*itertools.product(pages, sections)]
    if len(urls) == len(sections):
        of_urls = dict(zip(dict.fromkeys(urls), pages, strict=True))
        pairs = [(of_urls[url], section) for url, section in zip(urls, sections, strict=True)]
    return [(page, {**params, "section": section}) for page, section in pairs]


def asked_text(page: Page, params: dict[str, Any]) -> str:
    """Return a page's text from the offset on, or the requested section; "" if there is none."""
    if "section" not in params:
        return page.text[params["offset"] :]
    section = result_or_error(find_section, headings_in(page), params["section"], page.text)
    if isinstance(section, SearchError):
        return ""
    return page.text[max(params["offset"], section.start) : section.end]


def headings_in(page: Page) -> list[Heading]:
    """Return a page's headings; for a PDF file, the entries of its outline."""
    return bookmark_headings(page.bookmarks, page.text) or find_headings(page.text)


def head_of(page: Page) -> Document:
    """Return a page's document without its text, which is fitted later, or its error."""
    if page.error:
        return page.document()
    return {"url": page.url, "ok": True, **page.fields, "chars": len(page.text)}


def proxy_notes(pages: list[Page]) -> list[str]:
    """Return the note about pages fetched through a proxy; [] if there are none."""
    is_proxied = any(not page.error and proxy_for(page.fields["final_url"]) for page in pages)
    return [PROXY_NOTE] if is_proxied else []


def bug_warnings(pages: list[Page]) -> list[str]:
    """Return a warning for each page that could not be read because of a bug in this program."""
    return [
        bug_warning(page.url, page.error) for page in pages if page.error and is_bug(page.error)
    ]


def fill_in(head: Document, page: Page, params: dict[str, Any], room: int, deadline: float) -> str:
    """Add the part of a page's text that fits to its document, or an error, as fill_page does.

    If a bug prevents this, the document gets the page's beginning, and a warning is returned.
    """
    shown = dict(head)
    verbose = bool(params.get("verbose"))
    error = result_or_error(fill_page, shown, page, params, room, deadline, verbose=verbose)
    if is_bug(error):
        head |= beginning_of(page, room)
        return bug_warning(page.url, error)
    head.clear()
    head.update(shown)
    if error:  # the requested section was not found
        head.update(error_document(error))
    return ""


def beginning_of(page: Page, room: int) -> Document:
    """Return a page's text, cut to room characters of JSON (0: no limit), even within a word."""
    text = page.text
    while room and text and json_size(text) > room:
        text = text[: min(len(text) - 1, len(text) * room // json_size(text))]
    more = {"next_offset": len(text)} if len(text) < len(page.text) else {}
    return {"text": text, **more, **({"truncated": True} if more or page.is_cut else {})}


def fill_page(
    shown: Document, page: Page, params: dict[str, Any], room: int, deadline: float
) -> None:
    """Add the part of a page's text that fits to its document: passages, or a slice of it.

    shown: the document, from head_of. room: characters of JSON; 0 means no limit. The fields
    truncated and next_offset mean that there is more text. Offsets count from the page's start,
    even in a section.
    """
    text, first = page.text, 0
    notes = [shown.pop("note", "")]
    headings: list[Heading] = []
    if any(params.get(name) for name in ("section", "outline", "query")):
        headings = headings_in(page)
    if "section" in params:
        section = find_section(headings, params["section"], text)
        notes.append(section_note(headings, section, params["section"]))
        text, first = text[: section.end], section.start
        shown |= {"section": section.text, "section_offset": first, "chars": len(text) - first}
    if "tables" in params:
        tables = [table for table in tables_in(text) if table["offset"] >= first]
        if not (tables and params["tables"]):
            listed = listed_tables(tables, room)
            shown |= {**listed, **drop_empty({"note": " ".join(filter(None, notes))})}
            return
        table = table_with_number(tables, params["tables"])
        text, first = text[: table["end"]], table["offset"]
        shown |= {"table": table["number"], "chars": len(text) - first}
    elif params.get("outline") or "find" in params:
        if params.get("outline"):
            headings, note = matching_headings(headings, range(first, len(text)), params)
            notes.append(note)
        note = " ".join(filter(None, notes))
        shown |= drop_empty({"note": note, "truncated": page.is_cut or None})
        shown |= (
            outlined(headings, room)
            if params.get("outline")
            else found(text[first:], params["find"], room, first, page.outside)
        )
        return
    start = max(params["offset"], first)
    if "query" in params and "table" not in shown:
        notes.append(limit_query(params["query"])[1])
        beside = "" if "section" in params else page.outside
        searched = partial(searched_text, text[start:], shown.get("title", ""), beside, deadline)
        kept = CUT_CHARS if headings and room > MANY * CUT_CHARS else 0
        passages, why = answering_passages(searched, params["query"], room - kept, deadline)
        if passages:
            shown["passages"] = passages
            # Headings and the space between passages do not count as omitted text.
            size = sum(len(each["text"]) for each in passages)
            shown["chars"] += len(beside)
            if page.is_cut or size < shown["chars"] * 9 // 10:
                shown["truncated"] = True
                names = sections_cut(passages, headings)
                shown |= drop_empty({"cut": [] if room and not kept else names})
            shown |= drop_empty({"note": " ".join(filter(None, notes))})
            return
        notes.append(f"{why}; this is the beginning of the page.")
    if not (start or "section" in params) and room and json_size(text) > room:
        start = fragment_offset(text, urlsplit(page.url).fragment)
        notes.append(FRAGMENT_NOTE if start else "")
    shown |= slice_fields(page, text, start, room, notes)


def slice_fields(page: Page, text: str, start: int, room: int, notes: list[str]) -> Document:
    """Return the fields for the part of a page's text that begins at start and fits into room.

    notes: the notes so far; the first is about the page.
    """
    if start and start >= len(text):
        notes.append(f"The text ends at {len(text)}, before this offset.")
    part, end = slice_of(text, start, room)
    notes.append(rows_note(text, end))
    fields: Document = {"text": part}
    if end < len(text):
        fields |= {"truncated": True, "next_offset": end}
    elif page.is_cut:
        fields["truncated"] = True
        notes[0] = notes[0] or "Only part of the page was read; its end is missing."
    return fields | drop_empty({"note": " ".join(filter(None, notes))})


def answering_passages(
    searched: Callable[[], PageText], query: str, room: int, deadline: float
) -> tuple[list[dict[str, str]], str]:
    """Return the passages that answer a query, within room characters of JSON, or why not.

    searched: returns the text.
    """
    limit = deadline + MAX_LATENESS
    from websearch.reading.one_page import result_by_deadline  # with a page's whole space

    answer = result_by_deadline(
        lambda: passages_within(searched(), query, room, json_size, limit), limit
    )
    lacking = "No passage contains any of the query's words"
    return answer or [], "No time was left for the query" if answer is None else lacking


def sections_cut(passages: list[dict[str, str]], headings: list[Heading]) -> list[str]:
    """Return a few short headings of the page's sections that the passages show in part."""
    sizes = {heading.text: heading.end - heading.start for heading in headings}
    shown = ((each["heading"].rpartition(" > ")[2], len(each["text"])) for each in passages)
    names = [name for name, size in shown if sizes.get(name, 0) - len(name) > size * 10 // 9]
    return [name for name in dict.fromkeys(names) if len(name) <= CUT_CHARS // MOST_CUT][:MOST_CUT]


def searched_text(text: str, title: str, beside: str, deadline: float) -> PageText:
    """Return the part of a page that can be searched in the time left."""
    return PageText(text[: searched_lengths([text], deadline)[0]], title, beside)


def matching_headings(
    headings: list[Heading], section: range, params: dict[str, Any]
) -> tuple[list[Heading], str]:
    """Return a section's headings that contain all words of find or query, and a note.

    section: its offsets in the page. If no heading has all words, those with any of them are
    returned; without a match or such words, all headings.
    """
    headings = [heading for heading in headings if heading.start in section]
    if not headings:
        return [], NO_HEADINGS_NOTE
    texts = [*params.get("find", []), *filter(None, [params.get("query")])]
    words = [content_words(text.casefold()) for text in texts]
    for enough in (all, any):
        holding = [
            heading
            for heading in headings
            if any(enough(word in heading.text.casefold() for word in text) for text in words)
        ]
        if holding:
            return holding, ""
    return headings, NO_SUCH_HEADING_NOTE if words else ""


def outlined(headings: list[Heading], room: int) -> Document:
    """Return the outline for headings, cut to room characters of JSON (0: no limit)."""
    outline = outline_of(headings)
    shown = fitting_items(outline, room)
    return {"outline": shown, **({"truncated": True} if len(shown) < len(outline) else {})}


def listed_tables(tables: list[Document], room: int) -> Document:
    """Return the list of a page's tables, cut to room characters of JSON (0: no limit).

    Raises SearchError (no_results) if there are none.
    """
    if not tables:
        raise no_such_table(tables, 0)
    entries = [{name: table[name] for name in table if name != "end"} for table in tables]
    shown = fitting_items(entries, room)
    return {"tables": shown, **({"truncated": True} if len(shown) < len(entries) else {})}


def found(text: str, wanted: list[str], room: int, first: int, outside: str) -> Document:
    """Return where strings occur in a page, within room characters of JSON (0: no limit).

    text: the page's text from the offset first on. outside: the parts that rules dropped, searched
    last; places there have no offset. Returns {find, places_in_all, places or nearest} for one
    string, and {found: [the same for each]} for several. Raises SearchError (no_results) if no
    string is found; its field found has the nearest passages.
    """
    finder = PageFinder(text)
    results = [
        finder.find(one, MAX_PLACES if len(wanted) == 1 else PLACES_OF_SEVERAL) for one in wanted
    ]
    for result in results:
        for place in [*result.get("places", []), *filter(None, [result.get("nearest")])]:
            place["offset"] += first
    results = [
        result if result["places_in_all"] else found_outside(result, outside, len(wanted))
        for result in results
    ]
    shown = fitting_items(results, room) if len(wanted) > 1 else results
    for result in results[len(shown) :]:  # only their numbers
        result.pop("places", None)
        result.pop("nearest", None)
    if not any(result["places_in_all"] for result in results):
        message = f"The page does not contain {quoted(wanted[0])}."
        if len(wanted) > 1:
            message = f"The page contains none of the {len(wanted)} texts."
        hint = (
            "Quotes, dashes, spaces and Markdown are ignored. To find words instead, use {query}. "
            "To include menus and other omitted parts, use {raw}."
        )
        raise SearchError("no_results", message, hint, found=results)
    if len(results) > 1:
        return {"found": results}
    return {**results[0], "places": fitting_items(results[0]["places"], room)}


def found_outside(result: Document, outside: str, number: int) -> Document:
    """Return a string's place next to the page's text, or the unchanged result."""
    other = PageFinder(outside).find(result["find"], MAX_PLACES if number == 1 else 1)
    if not other["places_in_all"]:
        return result
    for place in other["places"]:
        del place["offset"]
    return other


def fitting_items(items: list[Document], room: int) -> list[Document]:
    """Return the first items that fit in room characters of JSON (0: no limit)."""
    sizes = itertools.accumulate(json_size(item) + 1 for item in items)
    return [item for item, size in zip(items, sizes, strict=True) if not room or size <= room]


def json_size(value: object) -> int:
    """Return the number of characters that a value takes in JSON."""
    return len(dump_json(value))


def searched_lengths(texts: list[str], deadline: float) -> list[int]:
    """Return how many characters of each text can be searched in the time left.

    If the time is too short for all, only the beginnings of the longest texts are searched.
    """
    left = deadline - time.monotonic()
    return share_room(list(map(len, texts)), max(ALWAYS_SEARCHED, int(left * SEARCH_SPEED)))


def share_room(wanted: list[int], room: int) -> list[int]:
    """Divide the space evenly; space that one page does not need goes to the others.

    A share is never larger than the page needs.
    """
    shares = [0] * len(wanted)
    smallest_first = sorted(range(len(wanted)), key=lambda index: wanted[index])
    for place, index in enumerate(smallest_first):
        shares[index] = min(wanted[index], room // (len(wanted) - place))
        room -= shares[index]
    return shares


def slice_of(text: str, start: int, room: int) -> tuple[str, int]:
    """Return a slice of text that reads well on its own, and the offset at which it ends.

    A slice of a table includes its header; a slice of code includes fences and marks the cut.
    """
    head = table_head(text, start) or fences_at(text, start)[0]
    # Text that fits exactly stays whole: without a header, no space is reserved.
    end = slice_end(text, start, max(1, room - json_size(head)) if room and head else room)
    shown = head + text[start:end]
    _, fence = fences_at(text, end) if end < len(text) else ("", "")
    if fence:
        shown += "\n" * (not shown.endswith("\n")) + f"{GAP}\n{fence}"
    return shown, end


def slice_end(text: str, start: int, room: int) -> int:
    """Return the end of a slice that takes at most room characters of JSON (0: no limit).

    It ends after the last paragraph, line or sentence in its last third, or else after a word.
    """
    piece = text[start:]
    if not room or json_size(piece) <= room:
        return len(text)
    end = bisect.bisect_right(
        range(min(room, len(piece))), room, key=lambda at: json_size(piece[:at])
    )
    end = max(0, end - 1)
    last = piece[end * 2 // 3 : end]
    place = max(last.rfind("\n") + 1, *sentence_ends(last), 0) or last.rfind(" ") + 1
    place += (end * 2 // 3) * bool(place)
    return end_before_part(text, start, start + (place or max(end, 1)))


def table_lines(text: str, place: int) -> list[tuple[int, int]]:
    """Return the ranges of a table's lines, if a position is in any line after the first."""
    if not (text[:place].endswith("\n") and text.startswith("|", place)):
        return []
    first = text.rfind("\n\n", 0, place) + 1
    end = text.find("\n\n", place)
    lines = re.compile(r"[^\n]+").finditer(text, first, len(text) if end < 0 else end)
    spans = [line.span() for line in lines if line[0].startswith("|")]
    has_head = len(spans) > 2 and re.compile(r"\|[-:| ]+").fullmatch(text, *spans[1])
    return spans if has_head and place > spans[1][0] else []


def table_head(text: str, start: int) -> str:
    """Return the header of the table in which a slice begins; "" if it begins elsewhere."""
    lines = table_lines(text, start)
    head = f"{text[lines[0][0] : lines[1][1]]}\n" if lines else ""
    return head if len(head) <= LONGEST_HEAD else ""


def rows_note(text: str, end: int) -> str:
    """Return a note about the rows before a cut inside a table; "" for a cut elsewhere."""
    rows = table_lines(text, end)[2:]
    before = sum(last <= end for _, last in rows)
    return f"The table is cut after {before} of {len(rows)} rows." if before else ""


def end_before_part(text: str, start: int, end: int) -> int:
    """Return the end of a slice, moved before a code block, heading or bold text that it would cut.

    The end stays if less than a third of the slice would remain.
    """
    least = start + (end - start) // 3
    begin = code_begin(text, end)
    if begin is not None and begin <= least:
        return end
    end = end if begin is None else begin
    for _ in range(MOST_PARTS):
        line = text.rfind("\n", start, start + len(text[start:end].rstrip())) + 1
        is_part = HEADING.match(text, line, end) or text.count("**", line, end) % 2
        if not is_part or line <= least:
            break
        end = line
    return end


# ===== the document for people ====================================================================


def to_markdown(document: Document) -> str:
    """Return a document as Markdown. Text from pages is fenced as untrusted.

    A sitemap becomes a list for urls_from: one URL per line, with warnings as comments. CSV is for
    programs and has no fence.
    """
    if "csv" in document:
        return str(document["csv"])
    if "urls" in document:
        warnings = [f"# {one_line(text, 200)}" for text in document.get("warnings", [])]
        return "\n".join([*document["urls"], *warnings])
    blocks = [block for page in document.get("pages", []) for block in page_blocks(page)]
    return frame_markdown(document, *blocks, "" if blocks else nearest_markdown(document))


def page_blocks(page: Document) -> list[str]:
    """Return page_markdown's result, or the page's plain text if a bug prevents this."""
    blocks: list[str] | SearchError = result_or_error(page_markdown, page)
    if isinstance(blocks, SearchError):
        address = plain_address(one_line(page["url"], 200))
        return [f"## {address}", blocks.message, fence_untrusted(page.get("text", ""))]
    return blocks


def page_markdown(page: Document) -> list[str]:
    """Return a page's Markdown: URL, title, author and date, text, and how to continue."""
    if not page["ok"]:
        address = plain_address(one_line(page["url"], 200))
        return [f"## {address}", error_markdown(page), nearest_markdown(page)]
    facts = [f"**{page['title']}**"] if page.get("title") else []
    facts += [str(page[name]) for name in ("author", "published") if page.get(name)]
    facts += [f"updated {page['updated']}"] if "updated" in page else []
    facts += [str(page[name]) for name in ("license", "language") if page.get(name)]
    facts += [f"archived {page['archived']}"] if "archived" in page else []
    passages = [
        f"# {passage['heading']}\n\n{passage['text']}" if passage["heading"] else passage["text"]
        for passage in page.get("passages", [])
    ]
    whole = without_title(page.get("text", ""), page.get("title", ""))
    text = PARAGRAPH_GAP.join(passages) or whole or parts_markdown(page)
    from websearch.reading.one_page import RAW_NOTE

    if not page.get("note", "").startswith(RAW_NOTE):
        text = lower_headings(text, 3)  # below "## address"
    head = " · ".join(map(disarm_text, facts))
    return [
        f"## {plain_address(str(page.get('final_url') or page['url']))}",
        page.get("note", ""),
        fence_untrusted("\n\n".join(part for part in (head, text) if part)),
        shown_part(page),
        dropped_markdown(page.get("dropped", [])),
    ]


def shown_part(page: Document) -> str:
    """Return the shown part of a page's text and where it continues; "" if all is shown."""
    shown = sum(len(each["text"]) for each in (page, *page.get("passages", [])) if "text" in each)
    if not shown or not page.get("truncated"):
        return ""
    part = f"{shown:,} of {page['chars']:,} characters" + " of the section" * ("section" in page)
    if "passages" in page:
        way = "with --section 'HEADING'" if "cut" in page else "without --query"
        return f"{part}; more {way}"
    more = f"; --offset {page['next_offset']} continues" if "next_offset" in page else ""
    return part + more


def parts_markdown(page: Document) -> str:
    """Return a page's outline or the places found, as lists; "" if there are none."""
    lines = [
        f"{'  ' * (entry['level'] - 1)}- {entry['heading']} (offset {entry['offset']}, "
        f"{entry['chars']} characters)"
        for entry in page.get("outline", [])
    ]
    results = page.get("found") or ([page] if "find" in page else [])
    shown = [found_markdown(result, is_one=len(results) == 1) for result in results]
    lines += [table_line(entry) for entry in page.get("tables", [])]
    return "\n".join(lines) or "\n\n".join(shown)


def table_line(table: Document) -> str:
    """Return the line of a table in the list of a page's tables."""
    label = " · ".join(table[name] for name in ("heading", "caption") if name in table)
    columns = ", ".join(filter(None, table["columns"]))
    named = f"{table['number']}. {label} ({table['rows']:,} row{'s' * (table['rows'] != 1)})"
    return f"{named}: {columns}" if columns else named


def found_markdown(result: Document, *, is_one: bool = True) -> str:
    """Return the number and places of a string, or the nearest passage if it was not found.

    is_one: no other string was searched for; with several, a few places are shown for each.
    """
    wanted = disarm_text(quoted(result["find"]))
    places = [("At", place) for place in result.get("places", [])]
    count = result["places_in_all"]
    is_part = bool(places) and len(places) < count
    part = f", {len(places)} shown" if is_part else ""
    part += "; search for it alone to see them" if is_part and not is_one else ""
    inner = result.get("in_longer_words", 0)
    part = (f", {inner} in longer words" if inner else "") + part
    lines = [f"Places of {wanted}: {count}{part}"]
    if nearest := result.get("nearest"):
        places = [("Nearest, at", nearest)]
    for word, place in places:
        heading = f", under {disarm_text(place['heading'])}" if "heading" in place else ""
        differs = f" ({disarm_text(place['differs'])})" if "differs" in place else ""
        where = f"{word} {place['offset']}" if "offset" in place else BESIDE
        lines.append(f"{where}{heading}{differs}:")
        without_links = partial(re.sub, _LINK, r"\1 (\2)")  # with the parameter links
        lines.append(outside_code(place["text"], without_links))
    return "\n\n".join(lines)


def nearest_markdown(document: Document) -> str:
    """Return the passages nearest to strings not found, fenced; "" if there are none."""
    results = object_field(document, "details").get("found", [])
    shown = [found_markdown(result) for result in results if "nearest" in result]
    return fence_untrusted("\n\n".join(shown)) if shown else ""


def dropped_markdown(dropped: list[Document]) -> str:
    """Return the list of dropped elements, fenced as untrusted; "" if there are none."""
    form = "{verdict}, {rule}: {element} ({chars}): {text}"
    lines = [form.format(**element) for element in dropped]
    listed = fence_untrusted("\n".join(lines))
    return (
        f"Not in the text (verdict, rule: element (characters): text):\n\n{listed}" if lines else ""
    )
