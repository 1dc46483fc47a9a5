"""Do reports about many labels name just the groups that were planted? Discovery judged as the other stories are.

Each picture of a shop's customer has tags. Some tags are given to two income groups unequally, everywhere or in some
contexts; the others are given by chance. ``python -m calibration.label_stories --seeds 30 --first 1000``.
"""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import fairtest as ft
from calibration.shops import PAIR, WEST, draw_columns
from calibration.stories import REFERENCE, describe_kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from calibration.shops import Planted

PEOPLE = 20_000
PLANTED: dict[str, tuple[float, dict[Planted, float]]] = {
    "west": (0.0, {WEST: 12.0}),
    "pair": (0.0, {PAIR: 18.0}),
    "everywhere": (8.0, {}),
    "more so": (6.0, {PAIR: 19.0}),
}
"""Tags that two groups are given unequally: by how many points everywhere, and how many more in a context."""
CHANCE = tuple(f"chance {i}" for i in range(8))
"""Tags that nothing decides."""


def draw(rng: np.random.Generator, n: int) -> pl.DataFrame:
    """Return people with their tags in one text."""
    people = pl.DataFrame({**draw_columns(rng, n), "income": np.where(rng.random(n) < 0.5, "low", "high")})
    half = np.where((people["income"] == "low").to_numpy(), 0.5, -0.5)
    given = {}
    for name, (everywhere, contexts) in PLANTED.items():
        gap = everywhere + sum(points * context.holds(people) for context, points in contexts.items())
        given[name] = rng.random(n) < 0.35 + half * gap / 100
    for name, rate in zip(CHANCE, np.linspace(0.05, 0.5, len(CHANCE)), strict=True):
        given[name] = rng.random(n) < rate
    tags = [
        "|".join(name for name, has in zip(given, row, strict=True) if has) for row in zip(*given.values(), strict=True)
    ]
    return people.with_columns(tags=pl.Series(tags))


@dataclass(frozen=True)
class Told:
    """How one report told its story: what each group shown is, and what of the planted was named."""

    kinds: tuple[str, ...]
    planted: int
    recalled: int
    overall: int
    false_overall: int


def tell(seed: int, world: pl.DataFrame, **options: Any) -> Told:
    """Audit one population and compare the groups shown with those planted."""
    people = draw(np.random.default_rng([seed, 17]), PEOPLE)
    report = ft.audit(people, "income", "tags", separator="|", reference={"income": "high"}, seed=seed, **options)
    inside = [f for f in report.findings if len(f.context)]
    kinds = []
    for finding in inside:
        contexts = tuple(PLANTED.get(str(finding.label), (0.0, {}))[1])
        everybody = PLANTED.get(str(finding.label), (0.0, {}))[0] > 0
        kinds.append(describe_kind(finding, finding.context.mask(world), contexts, world, everybody=everybody))
    named = {str(f.label) for f, kind in zip(inside, kinds, strict=True) if kind == "exact"}
    overall = {str(f.label) for f in report.findings if not len(f.context)}
    return Told(
        tuple(kinds),
        sum(bool(contexts) for _, contexts in PLANTED.values()),
        len(named),
        len(overall & set(PLANTED)),
        len(overall & set(CHANCE)),
    )


def summarize(told: Sequence[Told]) -> str:
    """Return the marks of some reports in a line."""
    kinds = Counter(kind for t in told for kind in t.kinds)
    shown = sum(kinds.values())
    good = kinds["exact"] + kinds["near"]
    return (
        f"{len(told)} reports, {shown / len(told):.2f} groups shown; precision {good / max(shown, 1):.2f}, "
        f"recall {sum(t.recalled for t in told) / sum(t.planted for t in told):.2f}, "
        f"refinements {kinds['refinement'] / len(told):.3f} a report, all kinds {dict(kinds)}; tags over everybody: "
        f"{sum(t.overall for t in told)} of {len(told) * len(PLANTED)} planted, "
        f"{sum(t.false_overall for t in told)} of {len(told) * len(CHANCE)} by chance"
    )


def main() -> None:
    """Run the stories about labels."""
    parser = argparse.ArgumentParser(prog="python -m calibration.label_stories", description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--correction", default=None)
    given = parser.parse_args()
    world = draw(np.random.default_rng(1), REFERENCE)
    options = {} if given.correction is None else {"correction": given.correction}
    told = []
    for seed in range(given.first, given.first + given.seeds):
        told.append(tell(seed, world, **options))
        print(seed, told[-1], flush=True)
    print(summarize(told))


if __name__ == "__main__":
    main()
