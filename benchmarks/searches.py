"""Guided against exhaustive against unguided search: how strong is what they find, by how many candidates they look at.

The paper's comparison (section 6.2) on Adult: sex and income, DIFF, 15 and 40 contextual attributes, of which those
that Adult does not have are random permutations of the others. Every search hands as many contexts to the test set as
the guided tree does, its strongest on the training set; what counts is what the test set confirms of them.
``python -m benchmarks.searches`` writes ``docs/searches.md`` and ``docs/searches.csv``.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from scipy.special import ndtri

import fairtest as ft
from benchmarks.adult import DATA
from fairtest.data.holdout import TRAIN
from fairtest.data.summaries import Counts
from fairtest.model.context import Context
from fairtest.pipeline.search import engine_of
from fairtest.search.cuts import conditions_of
from fairtest.search.exhaustive import item_axes
from fairtest.search.scoring import Strength

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

DOCS = Path(__file__).resolve().parents[1] / "docs"
MAX_DEPTH = 5
REPEATS = (2, 4, 8, 16)
WIDTHS = {15: 100, 40: 500}
"""The number of contextual attributes, and the fewest people of a context, as in the paper."""
LEVEL = 0.05
SOME = 1 << 11
"""How many random contexts are made at a time."""


@dataclass(frozen=True)
class Outcome:
    """What one search found on one split: effects are differences of rates, confirmed ones lower bounds for all."""

    attributes: int
    search: str
    trees: int
    seed: int
    candidates: int
    tested: int
    estimate_top_3: float
    confirmed_best: float
    confirmed_top_3: float
    confirmed_top_10: float


def widened(frame: pl.DataFrame, attributes: int, seed: int) -> pl.DataFrame:
    """Return the data with so many contextual attributes: its own, then random permutations of them."""
    rng = np.random.default_rng([seed, attributes])
    own = [name for name in frame.columns if name not in ("sex", "income")]
    wide = frame.select("sex", "income", *own[:attributes])
    for number in range(attributes - len(own)):
        name = own[number % len(own)]
        wide = wide.with_columns(frame[name][rng.permutation(frame.height)].alias(f"{name}, shuffled {number}"))
    return wide


class Comparison:
    """All searches on one split of one table."""

    def __init__(self, frame: pl.DataFrame, attributes: int, min_size: int, seed: int) -> None:
        self.attributes, self.seed, self._min_size = attributes, seed, min_size
        self._source = ft.DataSource(widened(frame, attributes, seed), train_size=0.5, seed=seed)
        self._asked = ft.Testing(self._source, "sex", "income")
        self._question = self._asked.questions[0]
        self._engine = engine_of(self._source)
        self._target = self._question.search_target(self._source)
        self._strength = Strength(self._question.metric, "bound")
        self._keep = 0

    def guided(self, search: str, trees: int | None = None) -> Outcome:
        """Return what a search of the library finds."""
        ft.train([self._asked], MAX_DEPTH, self._min_size, search=search, trees=trees)
        found = self._asked.training.found[0]
        contexts = found.contexts[1:]
        if search == "tree":
            self._keep = len(contexts)
        tables = self._engine.tables(TRAIN, conditions_of(contexts, self._engine.axis), self._target)
        strong = np.argsort(-self._bounds(tables, 1), kind="stable")[: self._keep]
        return self._outcome(search, trees or 1, found.looked_at, [contexts[i] for i in strong])

    def unguided(self, guided: Sequence[Outcome]) -> list[Outcome]:
        """Return the strongest of contexts drawn at random, for as many as each guided search has looked at.

        All contexts that are large enough are equally likely; the first of them are those of the smaller searches.
        """
        drawn = RandomContexts(self, np.random.default_rng([self.seed, self.attributes]))
        contexts, tables = drawn.draw(max(outcome.candidates for outcome in guided))
        bounds = self._bounds(tables, 1)
        found = []
        for outcome in guided:
            strong = np.argsort(-bounds[: outcome.candidates], kind="stable")[: self._keep]
            some = [contexts(i) for i in strong.tolist()]
            found.append(self._outcome("unguided", outcome.trees, outcome.candidates, some))
        return found

    def _bounds(self, tables: np.ndarray, family: int) -> np.ndarray:
        """Return lower bounds of the effect's size that hold together."""
        bound = self._question.metric.bound
        assert bound is not None
        return np.nan_to_num(bound(Counts(tables), float(-ndtri(LEVEL / 2 / family))), nan=0.0)

    def _outcome(self, search: str, trees: int, candidates: int, contexts: Sequence[Context]) -> Outcome:
        tables = self._engine.tables(1, conditions_of(contexts, self._engine.axis), self._target)
        effect = np.sort(np.nan_to_num(np.abs(self._question.metric.effect(Counts(tables)))))[::-1]
        sure = np.maximum(np.sort(self._bounds(tables, len(contexts)))[::-1], 0.0)
        numbers = (effect[:3].mean(), sure[0], sure[:3].mean(), sure[:10].mean())
        rounded = [round(float(number), 5) for number in numbers]
        return Outcome(self.attributes, search, trees, self.seed, candidates, len(contexts), *rounded)

    def people(self) -> tuple[list[list[tuple[object, np.ndarray]]], np.ndarray, float]:
        """Return, for the training set, who satisfies each predicate of each attribute; their cells; how few may be."""
        axes = [axis.coarse() for axis in item_axes(self._axes(), self._source.table)]
        rows = self._source.holdout.rows(TRAIN)
        items = [
            [(p, m[self._engine.codes(a.axis)[rows]] > 0) for p, m in zip(a.predicates, a.matrix, strict=True)]
            for a in axes
        ]
        people = self._engine.rows(TRAIN, (), self._target)
        return items, people.output * 2 + people.protected, self._min_size * self._source.train_size

    def _axes(self) -> list:
        return [axis for c in self._question.contextual if (axis := self._engine.axis(c)) is not None]


class RandomContexts:
    """Draws conjunctions of up to five predicates, each that has enough people with the same probability.

    A person, some attributes and one of the predicates that hold for the person on each give a conjunction with a
    probability that is proportional to its people, since every person satisfies the same number of predicates of an
    attribute (thresholds: half of them; categories: one). Keeping it with a probability inverse to its people makes
    all equally likely.
    """

    def __init__(self, comparison: Comparison, rng: np.random.Generator) -> None:
        items, cell, self._fewest = comparison.people()
        self._predicates = [[p for p, _ in axis] for axis in items]
        holds = [np.stack([h for _, h in axis]) for axis in items]
        self._starts = np.cumsum([0, *(len(h) for h in holds)])
        self._ways = np.array([int(h.sum(axis=0).max()) for h in holds])
        self._held = np.full((len(holds), cell.size, self._ways.max()), -1)
        for axis, h in enumerate(holds):
            person, item = np.nonzero(h.T)
            slot = np.arange(person.size) - np.searchsorted(person, person)
            self._held[axis, person, slot] = item + self._starts[axis]
        everybody = _packed(np.ones((1, cell.size), dtype=bool))
        self._bits = np.concatenate(
            [*(_packed(h) for h in holds), everybody]
        )  # the last for places that are left empty
        self._cells = np.stack([_packed(cell == k) for k in range(4)])
        self._rng = rng

    def draw(self, many: int) -> tuple[Callable[[int], Context], np.ndarray]:
        """Return so many contexts (by number), and their tables."""
        chosen: list[np.ndarray] = []
        tables: list[np.ndarray] = []
        have = 0
        while have < many:
            items = self._proposed()
            inside = self._bits[items[:, 0]]
            for place in items.T[1:]:
                inside &= self._bits[place]
            size = np.bitwise_count(inside).sum(axis=1, dtype=np.int64)
            kept = (size >= self._fewest) & (self._rng.random(len(items)) * size < self._fewest)
            chosen.append(items[kept])
            inside = inside[kept, None]
            cells = [np.bitwise_count(inside[:, 0] & cell).sum(axis=1, dtype=np.int64) for cell in self._cells]
            tables.append(np.stack(cells, axis=1))
            have += int(kept.sum())
        every = np.concatenate(chosen)
        return lambda i: self._context(every[i]), np.concatenate(tables)[:many].reshape(-1, 1, 2, 2)

    def _proposed(self) -> np.ndarray:
        """Return predicates of random people on random attributes, more on those with more that hold, −1 for none."""
        total = float(self._ways.sum())
        lengths = np.arange(1, MAX_DEPTH + 1)  # drawn one by one, k attributes come in k! orders
        weight = total**lengths / np.cumprod(lengths)
        length = self._rng.choice(lengths, SOME, p=weight / weight.sum())
        axes = self._rng.choice(self._ways.size, (SOME, MAX_DEPTH), p=self._ways / total)
        used = np.arange(MAX_DEPTH) < length[:, None]
        person = self._rng.integers(self._held.shape[1], size=(SOME, 1))
        slot = (self._rng.random((SOME, MAX_DEPTH)) * self._ways[axes]).astype(int)
        items = np.where(used, self._held[axes, person, slot], -1)
        alone = np.sort(np.where(used, axes, -1 - np.arange(MAX_DEPTH)), axis=1)
        different = (np.diff(alone, axis=1) != 0).all(axis=1)
        return items[different & ((items >= 0) == used).all(axis=1)]

    def _context(self, items: Sequence[int]) -> Context:
        items = [i for i in items if i >= 0]
        axis = np.searchsorted(self._starts, items, side="right") - 1
        return Context.of(self._predicates[a][i - self._starts[a]] for a, i in zip(axis, items, strict=True))


def _packed(masks: np.ndarray) -> np.ndarray:
    """Return a bit for each person, in words."""
    bits = np.packbits(masks, axis=-1)
    short = -bits.shape[-1] % 8
    return np.pad(bits, [(0, 0)] * (bits.ndim - 1) + [(0, short)]).view(np.uint64)


def compare(
    frame: pl.DataFrame, attributes: int, min_size: int, seed: int, repeats: Sequence[int] = REPEATS
) -> list[Outcome]:
    """Return what each search finds on one split; unguided ones look at as many candidates as the guided ones."""
    here = Comparison(frame, attributes, min_size, seed)
    found = [here.guided("tree"), *(here.guided("forest", trees) for trees in repeats)]
    return [*found, *here.unguided(found), here.guided("exhaustive"), here.guided("auto")]


def run(seeds: Sequence[int] = range(5), data: Path = DATA) -> list[Outcome]:
    """Return the outcomes for both numbers of attributes and all seeds."""
    if not data.exists():
        print(f"searches: SKIPPED, there is no {data.name} in ../{data.parent.parent.name}/{data.parent.name}")
        return []
    return compare_all(pl.read_csv(data), seeds)


def compare_all(frame: pl.DataFrame, seeds: Sequence[int] = range(5)) -> list[Outcome]:
    """Return the outcomes on one table for both numbers of attributes and all seeds."""
    return [
        outcome for width, least in WIDTHS.items() for seed in seeds for outcome in compare(frame, width, least, seed)
    ]


def table(outcomes: Sequence[Outcome]) -> str:
    """Return the means over seeds as a table in Markdown."""
    head = ("attributes", "search", "candidates", "tested", "best", "top 3", "top 10", "top 3, estimates")
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    groups: dict[tuple[int, str, int], list[Outcome]] = {}
    for outcome in outcomes:
        groups.setdefault((outcome.attributes, outcome.search, outcome.trees), []).append(outcome)
    for (attributes, search, trees), some in groups.items():
        name = f"forest of {trees}" if search == "forest" else search
        if search == "unguided":
            name = f"unguided, as many as {'the tree' if trees == 1 else f'the forest of {trees}'}"
        candidates, tested = (round(np.mean([getattr(o, n) for o in some])) for n in ("candidates", "tested"))
        numbers = ("confirmed_best", "confirmed_top_3", "confirmed_top_10", "estimate_top_3")
        means = [f"{100 * np.mean([getattr(o, n) for o in some]):.1f}" for n in numbers]
        lines.append(f"| {attributes} | {name} | {candidates:,} | {tested:,} | {' | '.join(means)} |")
    return "\n".join(lines)


def main() -> None:
    if outcomes := run():
        write(outcomes)
        print(table(outcomes))


def write(outcomes: Sequence[Outcome], folder: Path = DOCS) -> None:
    """Write the table, and the numbers behind it."""
    seeds = len({o.seed for o in outcomes})
    splits = "one split" if seeds == 1 else f"{seeds} splits"
    text = f"""# How strong is what each search finds?

Adult census income: sex and income, difference of rates (DIFF), half of the people to search with; 15 contextual
attributes with contexts of at least {WIDTHS[15]} people, and 40 with at least {WIDTHS[40]}. Attributes that Adult does
not have are random permutations of its own. Up to {MAX_DEPTH} conditions, except for the exhaustive search (three, or
as many as are bearable). Unguided: contexts drawn at random, all that are large enough being equally likely. Every
search hands as many contexts to the test set as the tree does, its strongest on the training set; `best`, `top 3` and
`top 10` are lower bounds on the test set, in points, that hold together for all that were tested (means of the largest
ones); the last column has plain estimates, which flatter small groups. Means over {splits}.

{table(outcomes)}

Made by `make searches`; the numbers behind it are in `searches.csv`.
"""
    (folder / "searches.md").write_text(text)
    rows = [",".join(str(value) for value in astuple(o)) for o in outcomes]
    (folder / "searches.csv").write_text("\n".join([",".join(f.name for f in fields(Outcome)), *rows]) + "\n")


if __name__ == "__main__":
    main()
