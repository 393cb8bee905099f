"""Train the model that tells content from the rest: writes scripts/websearch/pages/block_model.py.

BENCH_DATA names the folder with the pages (see bench_extract.py); their splits "dev" are used. The
data sets, from which only words of class names and thresholds get into the model:
  aeb   scrapinghub/article-extraction-benchmark, MIT
  wcxb  Murrough-Foley/web-content-extraction-benchmark, CC-BY-4.0
  traf  adbar/trafilatura, Apache-2.0
  moz   mozilla/readability, Apache-2.0
The same pages and the same lightgbm give the same model, byte for byte.

usage: train_blocks.py [--cross | --leave-out]
--cross and --leave-out write nothing; they print the scores of models that have not seen the sites
that they are measured on, or the set. Needs lightgbm and numpy (measured: 4.7.0 and 2.4.6).
"""

from __future__ import annotations

import gzip
import importlib
import os
import re
import sys
from collections import Counter, defaultdict
from hashlib import md5
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np  # type: ignore[import-not-found, unused-ignore]

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT)]
blocks_module: Any = importlib.import_module("websearch.pages.blocks")
content: Any = importlib.import_module("websearch.pages.content")
bench_extract: Any = importlib.import_module("tests.bench.bench_extract")

MODEL = ROOT / "scripts/websearch/pages/block_model.py"
FOLDS = 3
SET_WEIGHTS = {"aeb": 2.0, "wcxb": 1.0, "traf": 1.0, "moz": 2.0}  # small sets count for more
MIN_SITES = 8  # on which a word of a name must stand
SHRINK = 3.0  # sites added to those of a word, with a score of 0
MIN_SCORE = 0.15  # of a word; weaker ones are left out
SCORE_UNIT = 20  # scores of words and ...
LEAF_UNIT = 100  # ... leaves are written as whole numbers
NAMES_AT = blocks_module.FEATURES.index("name")
TREES = 100
SETTINGS = {
    "objective": "cross_entropy", "num_leaves": 15, "learning_rate": 0.12, "max_bin": 63,
    "min_data_in_leaf": 60, "feature_fraction": 0.5, "bagging_fraction": 0.7, "bagging_freq": 1,
    "lambda_l2": 20.0, "deterministic": True, "force_row_wise": True, "seed": 1, "verbose": -1,
    "num_threads": 2,
}  # fmt: skip
GRAM = 4  # words


# ===== pages ======================================================================================


def site_of(page: dict[str, Any], html: str) -> str:
    """Return the name of a page's site, from its address or what it says that its address is."""
    host = urlsplit(page["url"]).netloc
    if host in ("", "web.archive.org", "fakehost"):
        found = (
            re.search(r"web\.archive\.org/web/\d+\w*/https?://([^/\"']+)", page["url"])
            or re.search(
                r"rel=[\"']?canonical[\"']?[^>]{0,200}?href=[\"']https?://([^/\"']+)", html
            )
            or re.search(r"og:url[\"'][^>]{0,60}content=[\"']https?://([^/\"']+)", html)
        )
        host = (
            found[1] if found and "fakehost" not in found[1] else re.sub(r"-\d+$", "", page["id"])
        )
    parts = host.lower().split(":")[0].split(".")
    generic = ("co", "com", "org", "net", "gov", "ac", "edu", "blogspot", "wordpress", "github")
    return ".".join(parts[-3 if len(parts) > 2 and parts[-2] in generic else -2 :])


class Sample:
    """The blocks of one page: their features, labels, texts, and the words of the names around."""

    def __init__(self, name: str, page: dict[str, Any]) -> None:
        with gzip.open(page["path"]) as file:
            html = file.read().decode("utf-8", "replace")
        page_tree = content.Page(html)
        blocks = content.page_blocks(page_tree)
        described = content.describe_blocks(page_tree, blocks) if blocks else None
        self.set, self.page, self.site = name, page, site_of(page, html)
        self.is_article = page_tree.is_article
        self.texts = [full_text(block.node) for block in blocks]
        if "gold" in page:
            self.labels = labels_of_gold(self.texts, page["gold"])
        else:
            self.labels = labels_of_snippets(self.texts, page["with"], page["without"])
        # What rows say of names comes from the model that is there; name_features replaces it.
        rows = [described.row(number) for number in range(len(blocks))] if described else []
        self.rows = np.array(rows, dtype=np.float32).reshape(-1, len(blocks_module.FEATURES))
        self.names = [
            [blocks_module.names_of(node) for node in content.ancestors(block.node)]
            for block in blocks
        ]
        self.around = [
            names_around(described.containers[block.node]) if described else () for block in blocks
        ]
        self.units = blocks_module.units_of(blocks)
        self.rules = content.kept_by_rules(content.content_by_rules(page_tree), blocks)
        self.may_be_kept = [
            kept or content.may_be_added(block, described)
            for block, kept in zip(blocks, self.rules, strict=True)
        ]
        self.chars = np.array([block.chars for block in blocks], dtype=float)


def full_text(node: Any) -> str:
    """Return the text of a block."""
    pieces: list[str] = []
    blocks_module.collect_own_text(node, pieces, set(), 1_000_000)
    return " ".join("".join(pieces).split())


def names_around(container: Any) -> tuple[str, ...]:
    """Return the names of the first container around a block, empty if there is none."""
    chain = container.chain.elements
    return blocks_module.names_of(chain[0].node) if chain else ()


def load_samples() -> list[Sample]:
    """Return the pages of all sets."""
    folder = Path(os.environ["BENCH_DATA"])
    return [
        Sample(name, page)
        for name, pages in sorted(bench_extract.load_pages(folder, 0).items())
        for page in pages
        if "/dev/" in page["path"]
    ]


# ===== labels =====================================================================================


def labels_of_gold(texts: list[str], gold: str) -> list[float]:
    """Return how much of each block's text is in the page's true text, and in its place there.

    Longer blocks use up the runs of GRAM words that they share with it, the longest block first.
    A short one must stand between the places of the blocks around it.
    """
    words = [word.lower() for word in re.findall(r"\w+", gold)]
    split = [[word.lower() for word in re.findall(r"\w+", text)] for text in texts]
    left: Counter[Any] = Counter(zip(*(words[at:] for at in range(GRAM)), strict=False))
    places: dict[Any, list[int]] = defaultdict(list)
    for at in range(len(words) - GRAM + 1):
        places[tuple(words[at : at + GRAM])].append(at)
    labels = [0.0] * len(texts)
    ends: dict[int, tuple[int, int]] = {}  # block -> its first and last word in the true text
    for number in sorted(range(len(texts)), key=lambda one: -len(split[one])):
        own = split[number]
        hits = [False] * len(own)
        for at in range(len(own) - GRAM + 1):
            gram = tuple(own[at : at + GRAM])
            if left[gram] > 0:
                left[gram] -= 1
                hits[at : at + GRAM] = [True] * GRAM
                if len(places[gram]) == 1 and number not in ends:
                    start = places[gram][0] - at
                    ends[number] = start, start + len(own)
        if own:
            labels[number] = sum(hits) / len(own)
        if labels[number] < 0.5:
            ends.pop(number, None)
    label_short_blocks(labels, split, ends, words)
    return labels


def label_short_blocks(
    labels: list[float], split: list[list[str]], ends: dict[int, tuple[int, int]], words: list[str]
) -> None:
    """Give blocks of less than GRAM words a label of 1 where the true text has them in place."""
    used: set[int] = set()
    low = 0
    following: list[int] = [len(words)] * len(split)
    high = len(words)
    for number in reversed(range(len(split))):
        following[number] = high
        high = ends[number][0] if number in ends else high
    for number, own in enumerate(split):
        if number in ends:
            low = ends[number][1]
        if not own or len(own) >= GRAM:
            continue
        for at in range(max(0, low - GRAM), min(following[number] + GRAM, len(words))):
            if words[at : at + len(own)] == own and at not in used:
                used.add(at)
                labels[number] = 1.0
                break


def labels_of_snippets(texts: list[str], wanted: list[str], unwanted: list[str]) -> list[float]:
    """Return 1 for blocks with a wanted snippet, 0 for those with an unwanted, nan for others."""
    wanted, unwanted = [[" ".join(one.split()) for one in kind] for kind in (wanted, unwanted)]
    labels = []
    for text in texts:
        good, bad = any(one in text for one in wanted), any(one in text for one in unwanted)
        labels.append(float("nan") if good == bad else float(good))
    return labels


# ===== names ======================================================================================


def word_scores(samples: list[Sample]) -> dict[str, dict[str, float]]:
    """Return for each word of names and each site how much more of what is in it is content."""
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    words_of = {}
    for sample in samples:
        labels = np.array(sample.labels)
        known = ~np.isnan(labels)
        if not known.any():
            continue
        weights = np.minimum(sample.chars, 500)
        base = (labels[known] * weights[known]).sum() / max(1.0, weights[known].sum())
        part: dict[str, float] = defaultdict(float)
        whole: dict[str, float] = defaultdict(float)
        for number in np.flatnonzero(known):
            words: set[str] = set()
            for names in sample.names[number]:
                if names not in words_of:
                    words_of[names] = blocks_module.words_of_names(names)
                words |= words_of[names]
            for word in words:
                part[word] += labels[number] * weights[number]
                whole[word] += weights[number]
        for word, total in whole.items():
            if total:
                found[word][sample.site].append(part[word] / total - base)
    return {
        word: {site: sum(values) / len(values) for site, values in sites.items()}
        for word, sites in found.items()
        if len(sites) >= MIN_SITES
    }


def name_table(scores: dict[str, dict[str, float]]) -> dict[str, int]:
    """Return the scores of words over all sites as whole numbers."""
    means = {word: sum(sites.values()) / (len(sites) + SHRINK) for word, sites in scores.items()}
    return {
        word: round(SCORE_UNIT * mean)
        for word, mean in sorted(means.items())
        if abs(mean) >= MIN_SCORE
    }


def name_features(
    sample: Sample, table: dict[str, int], scores: dict[str, dict[str, float]] | None
) -> Any:
    """Return the features of the names around each block by a table of words.

    scores: leave the page's own site out of the scores, so that no page learns from itself.
    """
    memo: dict[Any, tuple[int, int, int]] = {}

    def one(names: Any) -> tuple[int, int, int]:
        if names not in memo:
            values = []
            for word in blocks_module.words_of_names(names):
                if word not in table:
                    continue
                value = table[word]
                sites = scores[word] if scores else {}
                if sample.site in sites:
                    rest = sum(sites.values()) - sites[sample.site]
                    value = round(SCORE_UNIT * rest / (len(sites) - 1 + SHRINK))
                values.append(value)
            memo[names] = sum(values), min(values, default=0), max(values, default=0)
        return memo[names]

    rows = []
    for chain, around in zip(sample.names, sample.around, strict=True):
        found = [one(names) for names in chain]
        least = [values[1] for values in found]
        greatest = [values[2] for values in found]
        worst = min(least)
        distance = len(least) - 1 - least[::-1].index(worst)
        rows.append([
            found[0][0], one(around)[0] if around else 0, worst, max(greatest), min(9, distance),
            min(64, sum(value for value in greatest if value > 0)),
        ])  # fmt: skip
    return np.array(rows, dtype=np.float32).reshape(-1, 6)


# ===== training ===================================================================================


def weights_of(sample: Sample) -> Any:
    """Return the weights of a page's blocks: long ones more, and the page in all that of its set.

    Where only snippets are known, both kinds of block have the same weight.
    """
    labels = np.array(sample.labels)
    weights = np.where(np.isnan(labels), 0, np.minimum(sample.chars, 400) + 20)
    if sample.set == "traf":
        for value in (0.0, 1.0):
            chosen = labels == value
            if weights[chosen].sum():
                weights[chosen] *= 0.5 / weights[chosen].sum()
    total = weights.sum()
    return SET_WEIGHTS[sample.set] * weights / total if total else weights


def train(samples: list[Sample]) -> tuple[Any, dict[str, int]]:
    """Return trees and the scores of words."""
    import lightgbm  # type: ignore[import-not-found, unused-ignore]

    scores = word_scores(samples)
    table = name_table(scores)
    rows, labels, weights = [], [], []
    for sample in samples:
        known = ~np.isnan(np.array(sample.labels, dtype=float))
        if known.any():
            own = np.hstack([sample.rows[:, :NAMES_AT], name_features(sample, table, scores)])
            rows.append(own[known])
            labels.append(np.array(sample.labels)[known])
            weights.append(weights_of(sample)[known])
    weight = np.concatenate(weights)
    data = lightgbm.Dataset(
        np.vstack(rows), np.concatenate(labels), weight=weight * len(weight) / weight.sum(),
        params=SETTINGS,
    )  # fmt: skip
    return lightgbm.train(SETTINGS, data, TREES), table


def predict(model: tuple[Any, dict[str, int]], sample: Sample) -> Any:
    """Return the log-odds of each block."""
    if not len(sample.rows):
        return np.zeros(0)
    own = np.hstack([sample.rows[:, :NAMES_AT], name_features(sample, model[1], None)])
    return model[0].predict(own, raw_score=True, num_threads=1)


# ===== scores =====================================================================================


def report(label: str, samples: list[Sample], texts: list[str]) -> None:
    """Print F1, precision and recall of each set."""
    cells = []
    for name in SET_WEIGHTS:
        pages = [
            {**sample.page, "text": text}
            for sample, text in zip(samples, texts, strict=True)
            if sample.set == name
        ]
        values = bench_extract.SCORES[name](pages)
        cells.append("{} {:.4f} ({:.3f}/{:.3f})".format(name, *values))
        if name == "wcxb":
            kinds = sorted({page["type"] for page in pages})
            by_kind = []
            for kind in kinds:
                value = bench_extract.score_words([one for one in pages if one["type"] == kind])
                by_kind.append(f"{kind} {value[0]:.3f}")
    print(f"{label:22}", *cells)
    print(" " * 22, *by_kind, flush=True)


def text_with(sample: Sample, odds: Any) -> str:
    """Return the text of the blocks that a page's content is made of, given their log-odds."""
    never = blocks_module.NEVER
    values = [
        round(LEAF_UNIT * value) if may else never
        for value, may in zip(odds, sample.may_be_kept, strict=True)
    ]
    kept = blocks_module.choose_blocks(sample.units, values, sample.rules, sample.is_article)
    return "\n".join(text for text, keep in zip(sample.texts, kept, strict=True) if keep)


def cross_validate(samples: list[Sample], parts: dict[Any, list[Sample]], label: str) -> None:
    """Print the scores of models that were each trained without one part, and on no site of it."""
    odds: dict[int, Any] = {}
    for part in parts.values():
        sites = {sample.site for sample in part}
        unseen = {id(sample) for sample in part}
        rest = [one for one in samples if id(one) not in unseen and one.site not in sites]
        model = train(rest)
        for sample in part:
            odds[id(sample)] = predict(model, sample)
    report("rules alone", samples, [
        "\n".join(text for text, keep in zip(one.texts, one.rules, strict=True) if keep)
        for one in samples
    ])  # fmt: skip
    alone = [
        "\n".join(t for t, value in zip(one.texts, odds[id(one)], strict=True) if value > -0.4)
        for one in samples
    ]
    report(f"{label}, model alone", samples, alone)
    report(f"{label}, together", samples, [text_with(one, odds[id(one)]) for one in samples])


# ===== the module with the model ==================================================================


def tree_source(tree: Any) -> str:
    """Return a tree as an expression: (leaf if feature <= threshold else leaf)."""
    if "leaf_value" in tree:
        return str(round(LEAF_UNIT * tree["leaf_value"]))
    feature = blocks_module.FEATURES[tree["split_feature"]]
    left, right = tree_source(tree["left_child"]), tree_source(tree["right_child"])
    return f"({left} if {feature} < {int(tree['threshold'] // 1) + 1} else {right})"


def wrapped(text: str, indent: str) -> str:
    """Return text in lines of less than 100 characters, broken at spaces."""
    lines, line = [], indent
    for word in text.split(" "):
        if len(line) + len(word) >= 100:
            lines.append(line.rstrip())
            line = indent
        line += word + " "
    return "\n".join([*lines, line.rstrip()])


def write_module(model: tuple[Any, dict[str, int]]) -> None:
    """Write the module with the model."""
    trees = model[0].dump_model()["tree_info"]
    by_score: dict[int, list[str]] = defaultdict(list)
    for word, score in model[1].items():
        if score and re.fullmatch(r"[a-z<=]+[a-z0-9=-]*", word):
            by_score[score].append(word)
    table = "\n".join(
        f"    {score}:\n" + wrapped('"' + " ".join(words) + '",', "    ")
        for score, words in sorted(by_score.items())
    )
    table = re.sub(r"\n    (?=[a-z<])", ' "\n    "', table)
    lines = [wrapped(tree_source(tree["tree_structure"]), "        ") for tree in trees]
    body = "\n".join(f"    total += (\n{line}\n    )" for line in lines)
    features = wrapped(", ".join(blocks_module.FEATURES), "        ")
    MODEL.write_text(
        f'''"""The model of blocks of text; tests/bench/train_blocks.py writes this file."""

# ruff: noqa: E501, PLR0915, RUF059, UP034
# fmt: off
from __future__ import annotations

# Score -> words of class, id, tag and role that stand around more (or less) content than others.
_WORDS = {{
{table}
}}
NAME_SCORES = {{word: score for score, words in _WORDS.items() for word in words.split()}}


def log_odds(row: list[int]) -> int:
    """Return the log-odds that a block is content, in hundredths, by its features (blocks.py)."""
    (
{features}
    ) = row
    total = 0
{body}
    return total
''',
        encoding="utf-8",
    )
    print(MODEL, MODEL.stat().st_size, "bytes,", len(trees), "trees,", len(model[1]), "words")


def main() -> int:
    """Train and write, or measure."""
    samples = load_samples()
    if sys.argv[1:] == ["--cross"]:
        folds: dict[Any, list[Sample]] = defaultdict(list)
        for sample in samples:
            folds[int(md5(sample.site.encode()).hexdigest(), 16) % FOLDS].append(sample)
        cross_validate(samples, folds, "other sites")
    elif sys.argv[1:] == ["--leave-out"]:
        sets: dict[Any, list[Sample]] = defaultdict(list)
        for sample in samples:
            sets[sample.set].append(sample)
        cross_validate(samples, sets, "other sets")
    else:
        write_module(train(samples))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
