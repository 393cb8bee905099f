"""Describe the blocks of text of a page in numbers, for the model that tells content from the rest.

A block is an element with text of its own: in it, or in inline elements in it. What tells content
from the rest is less the block than what is around it: how much running text its container holds,
how often the same look comes again on the page, and how much of that is links.
"""

from __future__ import annotations

import functools
import re
from itertools import accumulate
from math import log2

from websearch.html_tree import BLOCKS, HEADINGS, Node

TYPE_CHECKING = False  # typing.TYPE_CHECKING without its import, which costs 5 ms
if TYPE_CHECKING:
    from collections.abc import Callable

MAX_BLOCKS = 4_000  # of a page; the rules alone decide on a larger one, to stay within its time
MAX_TEXT = 300  # characters of a block that are looked at
MIN_PROSE = 60  # characters of a block that is running text, with the end of a sentence in it
MIN_DENSE_PROSE = 25  # the same in scripts that set no spaces
DENSE_WORD = 14  # characters of a word that only such a script has
MIN_TWINS = 3  # siblings of one look that are a list of look-alikes
MAX_CHAIN = 5  # containers around a block that are looked at
WINDOW = 6  # blocks on each side
MAX_NAMES = 600  # characters of a class and id
FAR = 40  # blocks; farther is not told apart
# How much a block looks like running text by its tag, roughly in that order.
TAG_RANKS = {
    name: rank
    for rank, names in enumerate(
        "p/li/h1/h2/h3/h4/h5 h6/td th/dd/dt summary/div/pre/blockquote/figcaption/article/section"
        .split("/")
    )
    for name in names.split()
}  # fmt: skip
NOT_CONTAINERS = frozenset(
    "p li ul ol menu blockquote span strong em b i a dd dl dt h1 h2 h3 h4 h5 h6 pre".split()
)
# Elements whose whole inside is told by one bit.
AREAS = {"main": 1, "article": 2, "aside": 4, "form": 8, "header": 16, "figure": 32, "table": 64}
FEATURES = (
    "length links ends tag hidden repeats in_title in_summary level "
    "look_share look_prose look_count look_length look_parents look_links "
    "box_share box_prose box_total best_box "
    "near_links near_length around_links far_links far_prose far_count far_density "
    "from_best depth_best prose_before before after from_title "
    "page_prose_share page_prose page_best page_links page_article "
    "list_share list_count list_length twins_share twins_count twins_length twins_links "
    "section from_heading heading window_links "
    "last_length last_links last_same next_length next_links next_same "
    "in_main in_article in_aside in_form in_header in_figure in_table "
    "name parent_name worst_name best_name worst_distance good_names"
).split()
NO_DIGITS = str.maketrans("", "", "0123456789")
_NAME_WORD = r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])"
# What ends a sentence, in Latin, Indian, Arabic and East Asian scripts; quotes may follow.
_END = r".!?\u2026\u0964"
_WIDE_END = r"\u3002\uff01\uff1f"
_SENTENCE_END = rf"[{_END}\u061f][\s\"\u201d\u00bb\u2019)\]]|[{_END}\u061f]$|[{_WIDE_END}]"
LINE_ENDS = ".!?\u2026\u3002\uff01\uff1f\"\u201d\u00bb:;'"
_WORD = r"[^\W_]{3,}"


class Block:
    """A block: its element, its text, its characters, those in links and those of running text."""

    __slots__ = ("chars", "link", "node", "prose", "text")

    def __init__(self, node: Node, text: str, chars: int, link: int) -> None:
        self.node = node
        self.text = text
        self.chars = chars
        self.link = link
        self.prose = chars - link if is_prose(node, text, chars, link) else 0


class Container:
    """What is below an element: characters, those in links and of running text, blocks, headings.

    first and last are the numbers of its first and last block. The rest is handed down from the
    elements around it: the bits of AREAS, the scores of names, lists of look-alikes, containers.
    """

    __slots__ = (
        "areas", "best_name", "blocks", "box", "chain", "chars", "direct", "first",
        "good_names", "hidden", "inner", "last", "link", "list", "look", "name", "node",
        "prose", "score", "twins", "worst_distance", "worst_name",
    )  # fmt: skip

    def __init__(self, node: Node, first: int) -> None:
        self.node = node
        self.first = self.last = first
        self.chars = self.link = self.prose = self.blocks = self.direct = 0
        self.score = 0.0
        self.areas = self.name = self.worst_name = self.best_name = 0
        self.good_names = self.worst_distance = 0
        self.hidden = False
        self.box = self
        self.look = look_of(node)
        self.chain = self.inner = NO_CHAIN  # around it; around what is in it
        self.twins: Twins | None = None
        self.list: Twins | None = None


class Chain:
    """The elements around an element that hold ever more blocks, up to MAX_CHAIN, inner ones first.

    row: what of them is among the FEATURES, once it was asked for.
    """

    __slots__ = ("elements", "row")

    def __init__(self, elements: tuple[Container, ...]) -> None:
        self.elements = elements
        self.row: list[int] = []


NO_CHAIN = Chain(())


class Twins:
    """Siblings of one tag and class: how many, their characters, and those in links."""

    __slots__ = ("chars", "count", "link")

    def __init__(self) -> None:
        self.count = self.chars = self.link = 0


class Look:
    """Blocks of one look: tag and class of the block and of the two elements around it."""

    __slots__ = ("chars", "count", "link", "parents", "prose")

    def __init__(self) -> None:
        self.count = self.chars = self.link = self.prose = 0
        self.parents: set[Node | None] = set()


# ===== blocks =====================================================================================


def is_prose(node: Node, text: str, chars: int, link: int) -> bool:
    """Return whether a block is running text: long enough, a sentence, and not mostly links."""
    if node.tag in HEADINGS or link * 2 > chars or chars < MIN_DENSE_PROSE:
        return False
    dense = (text.count(" ") + 1) * DENSE_WORD < len(text)
    return (chars >= MIN_PROSE or dense) and bool(re.search(_SENTENCE_END, text))


def find_blocks(nodes: list[Node], is_absent: Callable[[Node], bool]) -> list[Block]:
    """Return the blocks of a measured page in order, those inside of absent elements left out."""
    blocks: list[Block] = []
    absent: set[Node] = set()
    linked: set[Node] = set()  # what is inside of links
    for node in nodes:
        if node.parent in absent or node.dropped or is_absent(node):
            absent.add(node)
            continue
        if node.tag == "a" or node.parent in linked:
            linked.add(node)
        if not node.own or (node.tag not in BLOCKS and node.parent):
            continue
        pieces: list[str] = []
        collect_own_text(node, pieces, absent, MAX_TEXT)
        text = " ".join("".join(pieces).split())[:MAX_TEXT]
        if text:
            link = node.own if node in linked else min(node.own_link, node.own)
            blocks.append(Block(node, text, node.own, link))
    return blocks


def collect_own_text(node: Node, pieces: list[str], absent: set[Node], room: int) -> int:
    """Append an element's text to pieces, that of blocks inside left out; return the room left."""
    for child in node.children:
        if room <= 0:
            break
        if isinstance(child, str):
            pieces.append(child[: 2 * room])
            room -= len(child)
        elif child.tag == "br":
            pieces.append(" ")
        elif child.tag not in BLOCKS and not child.dropped and child not in absent:
            room = collect_own_text(child, pieces, absent, room)
    return room


# ===== containers =================================================================================


@functools.lru_cache(maxsize=8192)
def name_scores(names: tuple[str, ...]) -> tuple[int, int, int]:
    """Return the sum, the least and the greatest score of an element's words, or zeros."""
    from websearch.pages.block_model import NAME_SCORES

    scores = [NAME_SCORES[word] for word in words_of_names(names) if word in NAME_SCORES]
    return sum(scores), min(scores, default=0), max(scores, default=0)


def words_of_names(names: tuple[str, ...]) -> set[str]:
    """Return the words of what names_of gives."""
    tag, classes, element_id, role, item = names
    text = f"{classes} {element_id}"[:MAX_NAMES]
    words = {word.lower() for word in re.findall(_NAME_WORD, text) if len(word) > 1}
    words.add(f"<{tag}")
    words.update(f"role={word}" for word in role.lower().split()[:1])
    words.update(f"prop={word}" for word in item.lower().split()[:1])
    return words


def names_of(node: Node) -> tuple[str, ...]:
    """Return an element's tag, class, id, role and itemprop."""
    if not node.attributes:
        return node.tag, "", "", "", ""
    get = node.attributes.get
    return node.tag, get("class", ""), get("id", ""), get("role", ""), get("itemprop", "")


def find_containers(
    blocks: list[Block], is_hidden: Callable[[Node], bool]
) -> dict[Node, Container]:
    """Return a container for each element that is a block or has one inside, outer ones first."""
    found: dict[Node, Container] = {}
    for number, block in enumerate(blocks):
        path: list[Node] = []
        node: Node | None = block.node
        while node and node not in found:
            path.append(node)
            node = node.parent
        for node in reversed(path):
            found[node] = Container(node, number)
        own = found[block.node]
        own.chars, own.link, own.prose, own.blocks = block.chars, block.link, block.prose, 1
        own.last = number
    for one in reversed(list(found.values())):  # what is inside comes after what is around it
        parent = one.node.parent
        if parent:
            above = found[parent]
            above.chars += one.chars
            above.link += one.link
            above.prose += one.prose
            above.blocks += one.blocks
            above.last = max(above.last, one.last)
    hand_down(found, is_hidden)
    return found


def hand_down(found: dict[Node, Container], is_hidden: Callable[[Node], bool]) -> None:
    """Give each container what it has from the elements around it."""
    twins = find_twins(found)
    for node, one in found.items():
        total, least, greatest = name_scores(names_of(node))
        above = found[node.parent] if node.parent else None
        outer = above.inner.elements if above else ()
        one.inner = above.inner if above else NO_CHAIN
        if not outer or one.blocks < outer[0].blocks:
            one.inner = Chain((one, *outer[: MAX_CHAIN - 1]))
        one.name = total
        one.areas = AREAS.get(node.tag, 0) | (node.attributes.get("role") == "main")
        one.hidden = is_hidden(node)
        one.twins = one.list = twins.get(node)
        one.worst_name, one.best_name, one.good_names = least, greatest, max(0, greatest)
        if not above:
            continue
        one.areas |= above.areas
        one.hidden = one.hidden or above.hidden
        one.box = above.box if node.tag in NOT_CONTAINERS else one
        one.chain = above.inner
        one.twins = one.twins or above.twins
        if above.list and (not one.list or one.list.chars < above.list.chars):
            one.list = above.list
        one.good_names += above.good_names
        one.best_name = max(greatest, above.best_name)
        if above.worst_name <= least:
            one.worst_name, one.worst_distance = above.worst_name, above.worst_distance + 1


def find_twins(found: dict[Node, Container]) -> dict[Node, Twins]:
    """Return the group of each element that has MIN_TWINS siblings of its tag and class."""
    groups: dict[tuple[Node | None, str], list[Node]] = {}
    for node, one in found.items():
        groups.setdefault((node.parent, one.look), []).append(node)
    twins: dict[Node, Twins] = {}
    for members in groups.values():
        if len(members) < MIN_TWINS:
            continue
        group = Twins()
        for node in members:
            group.count += 1
            group.chars += found[node].chars
            group.link += found[node].link
            twins[node] = group
    return twins


def look_of(node: Node) -> str:
    """Return an element's tag and class, numbers left out."""
    names = node.attributes.get("class")
    return f"{node.tag} {names[:MAX_NAMES].translate(NO_DIGITS)}" if names else node.tag


def best_container(blocks: list[Block], found: dict[Node, Container]) -> Container:
    """Return the container with the most running text directly in it or a little below."""
    for block in blocks:
        if block.prose:
            found[block.node].box.direct += block.prose
    for one in found.values():
        share, around = one.direct * (1 - one.link / (one.chars or 1)), one
        for part in (1.0, 0.5, 0.25):
            around.score += share * part
            if not around.node.parent:
                break
            around = found[around.node.parent]
    return max(found.values(), key=lambda one: one.score)


def find_looks(blocks: list[Block], found: dict[Node, Container]) -> list[Look]:
    """Return the look of each block."""
    looks: dict[tuple[str, str, str], Look] = {}
    of_blocks: list[Look] = []
    for block in blocks:
        parent = block.node.parent
        around = parent.parent if parent else None
        key = (
            found[block.node].look,
            found[parent].look if parent else "",
            found[around].look if around else "",
        )
        look = looks.setdefault(key, Look())
        look.count += 1
        look.chars += block.chars
        look.link += block.link
        look.prose += block.prose
        look.parents.add(parent)
        of_blocks.append(look)
    return of_blocks


# ===== features ===================================================================================


def size(number: float) -> int:
    """Return a number on a scale of quarters of powers of two."""
    return int(4 * log2(1 + number))


def share(part: float, whole: float) -> int:
    """Return a share in parts of 32."""
    return int(32 * part / whole) if whole else 0


def covered(text: str, words: set[str]) -> int:
    """Return how many of some words a text holds, in parts of 32; -1 if there are none."""
    return 32 * sum([word in text for word in words]) // len(words) if words else -1


def words_in(text: str) -> set[str]:
    """Return the words of a text in lower case, short ones left out."""
    return set(re.findall(_WORD, text.lower()))


class Describer:
    """Describes the blocks of one page."""

    def __init__(
        self, blocks: list[Block], is_hidden: Callable[[Node], bool], title: str, summary: str,
        is_article: bool,
    ) -> None:  # fmt: skip
        self.blocks = blocks
        self.is_article = is_article
        self.containers = find_containers(blocks, is_hidden)
        self.best = best_container(blocks, self.containers)
        self.most_direct = max(one.direct for one in self.containers.values())
        self.looks = find_looks(blocks, self.containers)
        self.title, self.summary = words_in(title), words_in(summary[:MAX_TEXT])
        self.chars = sum(block.chars for block in blocks)
        self.prose = sum(block.prose for block in blocks)
        link = sum(block.link for block in blocks)
        self.page = [
            share(self.prose, self.chars), size(self.prose), share(self.best.prose, self.prose),
            share(link, self.chars), int(is_article),
        ]  # fmt: skip
        self.repeats: dict[str, int] = {}
        for block in blocks:
            self.repeats[block.text] = self.repeats.get(block.text, 0) + 1
        self.chars_before = list(accumulate((block.chars for block in blocks), initial=0))
        self.prose_before = list(accumulate((block.prose for block in blocks), initial=0))
        self.link_before = list(accumulate((block.link for block in blocks), initial=0))
        self.sections = find_sections(blocks)
        self.title_block = self.find_title()
        self.sides = [[size(block.chars), share(block.link, block.chars)] for block in blocks]

    def find_title(self) -> int:
        """Return the number of the heading with the page's title, else of the first h1, else -1."""
        first = -1
        for number, block in enumerate(self.blocks):
            if block.node.tag in HEADINGS:
                words = words_in(block.text)
                if words and 2 * len(words & self.title) >= max(len(words), len(self.title) / 2):
                    return number
                if first < 0 and block.node.tag == "h1":
                    first = number
        return first

    def row(self, number: int) -> list[int]:
        """Return the FEATURES of a block."""
        block = self.blocks[number]
        one = self.containers[block.node]
        return [
            *self.own(block),
            *self.look(number),
            *self.around(number, one),
            *self.page,
            *self.alike(one),
            *self.beside(number),
            *names(one),
        ]

    def own(self, block: Block) -> list[int]:
        """Return what the block itself says."""
        text = block.text.lower()
        tag = block.node.tag
        return [
            size(block.chars),
            share(block.link, block.chars),
            int(block.text[-1] in LINE_ENDS),
            TAG_RANKS.get(tag, len(TAG_RANKS)),
            int(self.containers[block.node].hidden),
            min(5, self.repeats[block.text]),
            covered(text, self.title),
            covered(text, self.summary),
            int(tag[1]) if tag in HEADINGS else 0,
        ]

    def look(self, number: int) -> list[int]:
        """Return how much of the page has the block's look."""
        look = self.looks[number]
        return [
            share(look.chars, self.chars),
            share(look.prose, self.prose),
            size(look.count),
            size(look.chars / look.count),
            share(len(look.parents), look.count),
            share(look.link, look.chars),
        ]

    def around(self, number: int, one: Container) -> list[int]:
        """Return what the elements around the block hold, and where on the page it is."""
        best = self.best
        outside = min(0, number - best.first) or max(0, number - best.last)
        before = self.chars_before[number]
        from_title = number - self.title_block if self.title_block >= 0 else -FAR - 1
        return [
            share(one.box.direct, self.most_direct),
            size(one.box.direct),
            share(one.box.direct, self.prose),
            share(self.most_direct, self.prose),
            *(one.chain.row or self.chain_row(one)),
            max(-FAR, min(FAR, outside)),
            int(best.first <= number <= best.last and best.blocks > 1),
            share(self.prose_before[number], self.prose),
            share(before, self.chars),
            size(self.chars - before),
            max(-FAR, min(4 * FAR, from_title)),
        ]

    def chain_row(self, one: Container) -> list[int]:
        """Return what the containers around an element hold, and remember it for its siblings."""
        chain = one.chain.elements or (one,)
        near, wider = chain[0], chain[min(1, len(chain) - 1)]
        far, farthest = chain[min(3, len(chain) - 1)], chain[-1]
        row = [
            share(near.link, near.chars),
            size(near.chars / near.blocks),
            share(wider.link, wider.chars),
            share(far.link, far.chars),
            share(far.prose, self.prose),
            size(far.blocks),
            share(farthest.prose, farthest.chars),
        ]
        if one.chain is not NO_CHAIN:
            one.chain.row = row
        return row

    def alike(self, one: Container) -> list[int]:
        """Return the largest and the nearest list of look-alikes that the block is in."""
        found: list[int] = []
        for group in (one.list, one.twins):
            if group:
                found += [share(group.chars, self.chars), size(group.count)]
                found.append(size(group.chars / group.count))
            else:
                found += [-1, 0, 0]
        return [*found, share(one.twins.link, one.twins.chars) if one.twins else -1]

    def beside(self, number: int) -> list[int]:
        """Return what the section, the window and the two neighbours of the block are like."""
        blocks = self.blocks
        heading, end = self.sections[number]
        section = self.chars_before[end] - self.chars_before[heading + 1]
        level = int(blocks[heading].node.tag[1]) if heading >= 0 else 0
        low, high = max(0, number - WINDOW), min(len(blocks), number + WINDOW + 1)
        window = self.chars_before[high] - self.chars_before[low]
        found = [
            size(section) if heading >= 0 else -1,
            min(FAR, number - heading) if heading >= 0 else -1,
            level,
            share(self.link_before[high] - self.link_before[low], window),
        ]
        parent = blocks[number].node.parent
        for other in (number - 1, number + 1):
            if 0 <= other < len(blocks):
                found += [*self.sides[other], int(blocks[other].node.parent is parent)]
            else:
                found += [-1, -1, -1]
        return found


def find_sections(blocks: list[Block]) -> list[tuple[int, int]]:
    """Return for each block the numbers of the heading that it is under (or -1) and of the next."""
    headings = [number for number, block in enumerate(blocks) if block.node.tag in HEADINGS]
    found: list[tuple[int, int]] = []
    for heading, end in zip([-1, *headings], [*headings, len(blocks)], strict=True):
        found += [(heading, end)] * (end - max(0, heading))
    return found


@functools.lru_cache(maxsize=128)
def area_bits(areas: int) -> tuple[int, ...]:
    """Return for each of AREAS whether it is among the bits."""
    return tuple(int(bool(areas & bit)) for bit in AREAS.values())


def names(one: Container) -> list[int]:
    """Return the areas that an element is in, and the scores of the names around it."""
    above = one.chain.elements[0].name if one.chain.elements else 0
    return [
        *area_bits(one.areas),
        one.name,
        above,
        one.worst_name,
        one.best_name,
        min(9, one.worst_distance),
        min(64, one.good_names),
    ]


# ===== which blocks are content ===================================================================

# Log-odds in hundredths that a block needs where the rules keep it and where they drop it. On pages
# that say that they are an article, the model only takes away. On others, blocks differ more, the
# model has seen fewer, and the rules know less of them.
TO_KEEP = {True: -100, False: -150}  # by whether the page says that it is an article
TO_ADD = 100
NEVER = -10_000  # the log-odds of a block that must not be added
# A list or table is kept or dropped as one, unless it holds more blocks: it lays out the page then.
UNITS = frozenset("ul ol dl table".split())
UNIT_PARTS = frozenset("li dt dd tr td th tbody thead tfoot caption p span a div".split())
MAX_UNIT = 80  # blocks
MAX_UNIT_DEPTH = 6  # elements between a block and its list


def choose_blocks(
    blocks: list[tuple[int, int]], odds: list[int], by_rules: list[bool], is_article: bool
) -> list[bool]:
    """Return for each block whether it is content, by the model's log-odds and by the rules.

    blocks: the characters and the unit of each, as units_of gives them.
    """
    keep = TO_KEEP[is_article]
    over = [value - (keep if kept else TO_ADD) for value, kept in zip(odds, by_rules, strict=True)]
    units: dict[int, list[int]] = {}
    for number, (_, unit) in enumerate(blocks):
        units.setdefault(unit, []).append(number)
    for numbers in units.values():
        if 1 < len(numbers) <= MAX_UNIT:
            chars = sum(blocks[number][0] for number in numbers)
            mean = sum(over[number] * blocks[number][0] for number in numbers) // chars
            for number in numbers:
                over[number] = mean if odds[number] > NEVER else NEVER
    return [value >= 0 for value in over]


def units_of(blocks: list[Block]) -> list[tuple[int, int]]:
    """Return the characters of each block, and the number of the first block of its unit."""
    first: dict[Node, int] = {}
    return [
        (block.chars, first.setdefault(unit_of(block.node) or block.node, number))
        for number, block in enumerate(blocks)
    ]


def unit_of(node: Node) -> Node | None:
    """Return the list or table that a block is a part of, if there is one close around it."""
    one: Node | None = node
    for _ in range(MAX_UNIT_DEPTH):
        if not one or one.tag in UNITS or one.tag not in UNIT_PARTS:
            break
        one = one.parent
    return one if one and one.tag in UNITS else None
