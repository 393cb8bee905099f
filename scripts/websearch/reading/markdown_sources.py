"""Markdown that sites serve to programs: a page's source (its twin) and llms.txt.

llms.txt (https://llmstxt.org, version 2 of 2026-08) lists a documentation's pages; llms-full.txt
contains their whole text. Many sites without these files return HTML or an error page.
"""

from __future__ import annotations

import itertools
import re

from websearch.kit import SearchError
from websearch.markdown.foreign_text import outside_code
from websearch.pages.extract.thin_pages import linked_address
from websearch.pages.fetch.fetch import fetch_page, host_and_port
from websearch.pages.page_content import PageContent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from websearch.pages.extract.page_tree import PageTree
    from websearch.pages.fetch.fetch import Fetched, RobotsCache, SharedAnswers
    from websearch.reading.page import Page

MARKDOWN_TYPES = ("text/markdown", "text/x-markdown", "application/markdown")
# Generators, identified by a meta element, that serve a page's source at its URL with .md added.
GENERATORS = ("mintlify", "gitbook", "fern", "rspress", "fumadocs")
LEAST_SHARE = 0.8  # share of the page's words that its twin must contain
MAX_COMPARED = 200_000  # characters of a page to compare with its twin
MAX_LEVELS = 6  # folders to search for an llms.txt, from the page's own folder upward
LLMS_FILES = {"index": "llms.txt", "full": "llms-full.txt"}
_DOCUMENTATION = (
    r"(?:docs?|developers?|api|learn|help|support|manual|guides?)\.|[^/]*\.readthedocs\.io/|"
    r"[^/]*/(?:[^?#]{0,200}/)?(?:docs?|documentation|reference|manual|guides?|api)(?:/|$)"
)
_FRONT_MATTER = r"\A---[ \t]*\n((?:[^\n]{0,2000}\n){0,60}?)---[ \t]*(?:\n|\Z)"
_FIELD = r"(?m)^(title|updated|last_?updated|last_modified)[ \t]{0,9}:[ \t]{0,9}([^\n]{1,300})$"
# An MDX component; a code span does not contain any.
_COMPONENT = r"`[^`\n]{1,500}`|</?[A-Z][A-Za-z0-9.]{0,60}(?:\s[^<>]{0,2000})?/?>"
_FENCE_OPTIONS = r"(?m)^( {0,3}(?:`{3,50}|~{3,50})[\w+#.-]{0,40})[ \t]([^`\n]{0,600})$"
_LINK_TARGET = r"\]\(([^()\s<>]{1,2000})"
MAX_GROWTH = 5_000_000  # characters; a million short links below a long URL could grow to 8 GB
MAX_LISTED = 1_000  # links in an llms.txt to compare with a URL


# ===== reading a site's Markdown ==================================================================


def is_markdown(content_type: str, url: str) -> bool:
    """Return whether a response that is not HTML is Markdown, judging by its type or URL."""
    media = content_type.partition(";")[0].strip().lower()
    path = url.partition("?")[0].lower()
    is_named = path.endswith((".md", ".mdx", *LLMS_FILES.values()))
    return media in MARKDOWN_TYPES or (media == "text/plain" and is_named)


def read_markdown(source: str, url: str, keep_links: bool) -> PageContent:
    """Return the content of a Markdown source, with title, updated and source.

    Front matter, MDX components and instructions for AI agents are omitted; text inside components
    and in their titles is kept. url: the base for relative links.
    """
    text = source.replace("\r\n", "\n").replace("\r", "\n").strip("\ufeff \n")
    front = re.match(_FRONT_MATTER, text)
    fields = {}
    if front:
        fields = {name.lower(): value.strip(" '\"") for name, value in re.findall(_FIELD, front[1])}
        text = text[front.end() :]
    text = without_instructions(text)
    text = re.sub(_FENCE_OPTIONS, lambda fence: fence[1] if "={" in fence[2] else fence[0], text)
    text = outside_code(text, without_components)
    if keep_links:
        text = absolute_links(text, url)
    heading = re.search(r"(?m)^#[ \t]{1,9}([^\n]{1,1000})", text)
    updated = next((value for name, value in fields.items() if name != "title"), "")
    about = {
        "title": fields.get("title") or (heading[1].strip() if heading else ""),
        "updated": updated if re.match(r"\d{4}-\d\d-\d\d", updated) else "",
        "source": "markdown",
    }
    return PageContent(text.strip(), about, is_foreign=True)


def without_instructions(text: str) -> str:
    """Return Markdown without the site's notes for AI agents: its index and instructions."""
    lines = text.split("\n")
    start = next(
        (index for index, line in enumerate(lines) if not line.startswith(">")), len(lines)
    )
    if "llms.txt" in "\n".join(lines[:start]):
        lines = lines[start:]
    shown: list[str] = []
    is_for_agents = False
    for line in lines:
        if line.startswith(("# ", "## ")):
            is_for_agents = line.strip() == "## Agent Instructions"
        if not is_for_agents and not line.lstrip("> ").startswith("Are you an LLM?"):
            shown.append(line)
    return "\n".join(shown)


def without_components(text: str) -> str:
    """Return Markdown without its MDX components; a component's title becomes bold text."""

    def title_of(match: re.Match[str]) -> str:
        if match[0].startswith("`"):
            return match[0]
        title = re.search(r"\stitle=[\"']([^\"'<>]{1,300})[\"']", match[0])
        return f"**{title[1]}**\n" if title else ""

    text = re.sub(r"(?m)^import [^\n]{1,300} from [\"'][^\"'\n]{1,300}[\"'];?$", "", text)
    return re.sub(_COMPONENT, title_of, text) if "<" in text else text


def absolute_links(text: str, url: str) -> str:
    """Return Markdown with links and images resolved against the page's URL.

    After MAX_GROWTH added characters, links stay relative.
    """
    from urllib.parse import urljoin

    room = MAX_GROWTH

    def absolute(match: re.Match[str]) -> str:
        nonlocal room
        try:
            link = f"]({urljoin(url, match[1])}" if room > 0 else match[0]
        except ValueError:
            link = match[0]
        room -= len(link) - len(match[0])
        return link

    return outside_code(text, lambda part: re.sub(_LINK_TARGET, absolute, part))


# ===== a page's twin ==============================================================================


def twin_address(page: PageTree, fetched: Fetched) -> str:
    """Return the URL of a page's Markdown source; "" if neither page nor server names it.

    The Link header and the link element name it; some generators always serve it. A URL that ends
    in llms.txt is an index: some servers list it on each page.
    """
    named = link_header(fetched.response.headers.get("link", ""))
    generator = ""
    for node in page.nodes:
        get = node.attributes.get
        if node.tag == "link" and "alternate" in get("rel", "").lower().split():
            if get("type", "").lower() == "text/markdown":
                named = named or get("href", "")
        elif node.tag == "meta" and get("name", "").lower() == "generator":
            generator = get("content", "").lower()
        elif node.tag == "body":
            break
    if not named and generator.startswith(GENERATORS):
        named = markdown_address(fetched.url)
    address = linked_address(fetched.url, named)
    is_index = address.endswith(("llms.txt", "llms-full.txt"))
    same_host = host_and_port(address) == host_and_port(fetched.url) if address else False
    return address if same_host and not is_index and address != fetched.url else ""


def link_header(value: str) -> str:
    """Return the URL of the page's Markdown from a Link header (RFC 8288), or ""."""
    for match in re.finditer(r"<([^<>\s]{1,2000})>([^<>]{0,2000})", value[:8_000]):
        relation = re.search(r"(?i);\s{0,9}rel=\"?([^\";,]{1,200})", match[2])
        if relation and "alternate" in relation[1].lower().split() and "text/markdown" in match[2]:
            return match[1]
    return ""


def markdown_address(url: str) -> str:
    """Return a page's URL with .md; "" if its path ends in another extension."""
    address, question, query = url.partition("?")
    path = address.rstrip("/")
    if path.count("/") < 3:
        path += "/index"
    extension = re.search(r"\.\w{1,5}$", path.rpartition("/")[2])
    if extension and extension[0] not in (".html", ".htm"):
        return ""
    return f"{path}.md{question}{query}"


def is_twin(page: Page, twin: Page, fetched: Fetched) -> bool:
    """Return whether Markdown is a page's source: the same title and most of the page's words.

    fetched: the response that twin was made from. If there is no source, sites send HTML, a login
    page, the home page or a "not found" page.
    """
    if twin.error or twin.fields.get("source") != "markdown" or twin.is_cut:
        return False
    if "x-sentry-docs-not-found" in fetched.response.headers:
        return False
    if host_and_port(fetched.url) != host_and_port(page.fields["final_url"]):  # after a redirect
        return False
    if "gent Instructions" in page.text:  # read_markdown removes it from the source
        return False
    words = set(re.findall(r"\w{3,40}", page.text[:MAX_COMPARED].lower()))
    shared = words & set(re.findall(r"\w{3,40}", twin.text.lower()))
    return bool(names_of(page) & names_of(twin)) and len(shared) >= LEAST_SHARE * len(words)


def names_of(page: Page) -> set[str]:
    """Return a page's title, the title's parts and its first heading, in plain letters."""
    heading = re.search(r"(?m)^#{1,6} {1,9}([^\n]{1,300})$", page.text)
    title = page.fields.get("title", "")
    names = [title, *re.split(r" [|\-\u2013\u2014\u00b7:] ", title), heading[1] if heading else ""]
    plain = {" ".join(re.findall(r"\w+", name.lower())) for name in names}
    return plain - {""}


# ===== llms.txt ===================================================================================


def fetch_llms(which: str, url: str, deadline: float, robots: RobotsCache | None) -> Fetched:
    """Return the nearest llms.txt (which: index) or llms-full.txt (full) at or above a URL.

    Raises SearchError (http) if the site has no such file.
    """
    name = LLMS_FILES[which]
    for address in llms_addresses(url, name):
        fetched = fetch_page(address, deadline, robots)
        if is_text(fetched):
            return fetched
    message = f"{host_and_port(url)[0]} has no {name} above this URL, or returns an HTML page."
    raise SearchError("http", message, "Read the page without {llms}.", status=404)


def llms_addresses(url: str, name: str) -> list[str]:
    """Return the possible URLs of a file: in each folder of a page's URL, nearest first."""
    parts = url.partition("?")[0].split("/")
    origin, folders = "/".join(parts[:3]), [part for part in parts[3:] if part]
    depths = range(len(folders), -1, -1)
    chosen = [*depths[: MAX_LEVELS - 1], 0]
    return ["/".join([origin, *folders[:depth], name]) for depth in dict.fromkeys(chosen)]


def is_text(fetched: Fetched) -> bool:
    """Return whether a response succeeded and is not HTML, regardless of its declared type."""
    response = fetched.response
    start = response.body[:1_024].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    is_html = start.startswith((b"<!doctype", b"<html", b"<head"))
    media = response.headers.get("content-type", "").lower()
    return response.status == 200 and bool(start) and not is_html and "html" not in media


def is_documentation(url: str) -> bool:
    """Return whether a URL looks like documentation."""
    return bool(re.match(_DOCUMENTATION, url.partition("://")[2].lower()))


def listed_twin(
    url: str, deadline: float, robots: RobotsCache | None, shared: SharedAnswers
) -> str:
    """Return the URL that the nearest llms.txt lists for a page; "" if the page is not listed.

    shared: fetches each llms.txt once per call. Raises SearchError as fetch_llms does.
    """
    folder = url.partition("?")[0].rpartition("/")[0]
    fetched = shared.get(f"llms {folder}", lambda: fetch_llms("index", url, deadline, robots))
    wanted = bare_address(url)
    name = wanted.rpartition("/")[2]  # this excludes most of 10^6 links
    links = re.finditer(r"\]\(([^()\s<>]{1,2000})\)", fetched.response.text())
    with_name = (link[1] for link in links if name in link[1])
    for target in itertools.islice(with_name, MAX_LISTED):
        address = linked_address(fetched.url, target)
        if address and bare_address(address) == wanted and address != url:
            return address
    return ""


def bare_address(url: str) -> str:
    """Return a URL without the parts that distinguish a page from its twin."""
    path = re.sub(r"(?:/index)?(?:\.html?)?(?:\.mdx?)?$", "", url.partition("?")[0].rstrip("/"))
    return path.removesuffix("/index")
