"""Is the report a good explanation? Populations whose whole truth is known, and how well reports tell it.

Each scenario plants gaps between the rates (or means) of two income groups in some contexts and nowhere else. A report
tells the truth if it names just these contexts, in so many words, with the right size. ``make stories`` runs all of
them; ``python -m calibration.stories --seeds 30 --first 1000 --only pair`` some.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict, dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

import fairtest as ft
from calibration.gathering import gather
from calibration.shops import RARE, SCENARIOS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from calibration.shops import Floats, Mask, People, Planted, Scenario

REFERENCE = 120_000
"""How many people of a scenario the truth is taken from."""
FEWEST_REPORTS = 190
"""From so many reports on, their marks are judged."""


@dataclass(frozen=True)
class Told:
    """How one report told its story.

    Attributes
    ----------
    kinds
        What each finding is: exact, near, refinement, ancestor, overlap or false.
    recalled
        How many planted contexts were named exactly.
    idle
        How many findings have a condition that plays no role.
    bias, covered, covered_single
        For each finding: how far its effect is beyond the truth in its direction, and whether its intervals hold it;
        not every finding has a single one.
    false_contrasts
        Findings shown inside another, or as differing from everybody, that are truly no stronger than the rest of it.
    contrasts
        How many such claims there are.
    """

    kinds: tuple[str, ...]
    planted: int
    recalled: int
    idle: int
    bias: tuple[float, ...]
    covered: tuple[bool, ...]
    covered_single: tuple[bool, ...]
    contrasts: int = 0
    false_contrasts: int = 0
    first_right: bool = False
    population: bool = False


def tell(name: str, seed: int, **options: Any) -> Told:
    """Audit one population and compare the report with the truth."""
    scenario = {**SCENARIOS, **RARE}[name]
    rng = np.random.default_rng([seed, *name.encode()])
    people, _ = scenario.draw(rng, scenario.people)
    world, truth = _world(name, REFERENCE)
    report = ft.audit(
        people,
        scenario.protected,
        scenario.output,
        seed=seed,
        **({"reference": scenario.reference} if scenario.reference else {}),
        **scenario.options,
        **options,
    )
    masks = [f.context.mask(world) for f in report.findings if len(f.context)]
    findings = [f for f in report.findings if len(f.context)]
    planted = [p.holds(world) for p in scenario.planted]
    kinds = tuple(_kind(f, m, scenario, planted) for f, m in zip(findings, masks, strict=True))
    effects = [scenario.effect(world, truth, m) for m in masks]
    recalled = sum(
        any(_exact(f.context.predicates, p) and _jaccard(m, t) >= 0.85 for f, m in zip(findings, masks, strict=True))
        for p, t in zip(scenario.planted, planted, strict=True)
    )
    idle = sum(_has_idle_condition(f, world, truth, scenario) for f in findings)
    signed = [np.sign(f.effect) * (f.effect - e) for f, e in zip(findings, effects, strict=True)]
    contrasts = _contrasts(report, findings, masks, world, truth, scenario)
    right = kinds[0] == "exact" if kinds else not scenario.planted
    return Told(
        kinds,
        len(planted),
        recalled,
        idle,
        tuple(map(float, signed)),
        tuple(_holds(f.interval, e) for f, e in zip(findings, effects, strict=True)),
        tuple(_holds(f.interval_single, e) for f, e in zip(findings, effects, strict=True) if f.interval_single),
        len(contrasts),
        sum(contrasts),
        right,
        bool(report.populations[0].significant),
    )


@lru_cache(maxsize=2)
def _world(name: str, people: int) -> tuple[People, Floats]:
    """Return the people of a scenario that the truth is taken from: the same for all reports."""
    return {**SCENARIOS, **RARE}[name].draw(np.random.default_rng([1, *name.encode()]), people)


def _holds(interval: tuple[float, float] | None, effect: float) -> bool:
    return interval is not None and interval[0] <= effect <= interval[1]


def _jaccard(a: Mask, b: Mask) -> float:
    return float((a & b).sum() / max((a | b).sum(), 1))


def _exact(predicates: Sequence[Any], planted: Planted) -> bool:
    """Whether predicates are the planted ones, thresholds apart."""
    found = {(p.column, str(p.op), p.value if str(p.op) == "==" else None) for p in predicates}
    wanted = {(c.column, "==" if c.above is None else ">", c.value) for c in planted.conditions}
    return found == wanted


def _kind(finding: Any, mask: Mask, scenario: Scenario, planted: Sequence[Mask]) -> str:
    return _kind_among(finding, mask, scenario.planted, planted, everybody=scenario.everybody)


def describe_kind(finding: Any, mask: Mask, contexts: Sequence[Planted], world: People, *, everybody: bool) -> str:
    """Return what a finding is beside planted contexts: exact, near, refinement, ancestor, overlap or false."""
    return _kind_among(finding, mask, contexts, [c.holds(world) for c in contexts], everybody=everybody)


def _kind_among(
    finding: Any, mask: Mask, contexts: Sequence[Planted], planted: Sequence[Mask], *, everybody: bool
) -> str:
    for context, inside in zip(contexts, planted, strict=True):
        if _exact(finding.context.predicates, context) and _jaccard(mask, inside) >= 0.85:
            return "exact"
    if any(_jaccard(mask, inside) >= 0.8 for inside in planted):
        return "near"
    size = max(mask.sum(), 1)
    if any((mask & inside).sum() >= 0.98 * size for inside in planted) or (everybody and not planted):
        return "refinement"
    if any((mask & inside).sum() >= 0.98 * inside.sum() for inside in planted):
        return "ancestor"
    if any((mask & inside).sum() > 0.02 * size for inside in planted):
        return "overlap"
    return "refinement" if everybody else "false"


def _has_idle_condition(finding: Any, world: People, truth: Floats, scenario: Scenario) -> bool:
    """Whether some condition could be left out: the effect is not a tenth stronger with it than among the rest."""
    context = finding.context
    inside = context.mask(world)
    here = scenario.effect(world, truth, inside)
    for i in range(len(context.predicates)):
        larger = type(context)(context.predicates[:i] + context.predicates[i + 1 :])
        there = scenario.effect(world, truth, larger.mask(world) & ~inside)
        if np.sign(finding.effect) * here < 1.1 * np.sign(finding.effect) * there:
            return True
    return False


def _contrasts(
    report: Any, findings: Sequence[Any], masks: Sequence[Mask], world: People, truth: Floats, scenario: Scenario
) -> list[bool]:
    """Return for each claim that a group differs from a larger one shown whether it is false."""
    everywhere = bool(getattr(report.attributes[0], "everywhere", False))
    false = []
    for finding, mask in zip(findings, masks, strict=True):
        larger = [
            m for f, m in zip(findings, masks, strict=True) if f is not finding and f.context.contains(finding.context)
        ]
        for outer in [*larger, *([np.ones(world.height, bool)] if everywhere else [])]:
            here, there = (scenario.effect(world, truth, m) for m in (mask, outer & ~mask))
            sign = np.sign(finding.effect)
            false.append(bool(sign * here <= sign * there + 1e-9))
    return false


@dataclass(frozen=True)
class Summary:
    """The marks of many reports."""

    reports: int
    first_right: float
    precision: float
    recall: float
    refinements: float
    idle: float
    bias: float
    covered: float
    covered_single: float
    shown: float
    false_contrasts: int
    contrasts: int
    population: float


def summarize(told: Sequence[Told], *, judged: bool = True) -> Summary:
    """Return the marks of some reports."""
    kinds = [k for t in told for k in t.kinds]
    good = sum(k in ("exact", "near") for k in kinds)
    planted = sum(t.planted for t in told)
    mean = partial(_mean)
    return Summary(
        reports=len(told),
        first_right=mean([t.first_right for t in told]) if judged else float("nan"),
        precision=good / len(kinds) if kinds and judged and planted else float("nan"),
        recall=sum(t.recalled for t in told) / planted if planted else float("nan"),
        refinements=mean([sum(k == "refinement" for k in t.kinds) for t in told]) if judged else float("nan"),
        idle=sum(t.idle for t in told) / len(kinds) if kinds else float("nan"),
        bias=mean([b for t in told for b in t.bias]),
        covered=mean([c for t in told for c in t.covered]),
        covered_single=mean([c for t in told for c in t.covered_single]),
        shown=mean([len(t.kinds) for t in told]),
        false_contrasts=sum(t.false_contrasts > 0 for t in told),
        contrasts=sum(t.contrasts for t in told),
        population=mean([t.population for t in told]),
    )


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if len(values) else float("nan")


BOUNDS: dict[str, tuple[float, float]] = {
    "first_right": (0.87, 1.0),
    "precision": (0.90, 1.0),
    "recall": (0.86, 1.0),
    "refinements": (0.0, 0.06),
    "idle": (0.0, 0.09),
    "bias": (-0.012, 0.012),
    "covered": (0.97, 1.0),
    "covered_single": (0.88, 1.0),
}
"""Where the marks of all scenarios together must lie: about three standard errors of 190 reports from the usual."""


def missed_bounds(marks: Summary) -> list[str]:
    """Return the marks that lie outside their bounds, in words; and that too many reports claim a false difference."""
    outside = [
        f"{name} {getattr(marks, name):.3f}, not between {low} and {high}"
        for name, (low, high) in BOUNDS.items()
        if not low <= getattr(marks, name) <= high
    ]
    if marks.false_contrasts > 0.05 * marks.reports:
        outside.append(f"a false difference in {marks.false_contrasts} of {marks.reports} reports")
    return outside


def _tell(options: dict[str, Any], key: tuple[str, int]) -> dict[str, Any]:
    return asdict(tell(*key, **options))


def _told(result: dict[str, Any]) -> Told:
    return Told(**{name: tuple(value) if isinstance(value, list) else value for name, value in result.items()})


def main() -> None:
    """Run the bank; with more than a few reports, end with an error if their marks are not what they should be."""
    parser = argparse.ArgumentParser(prog="python -m calibration.stories", description=__doc__)
    parser.add_argument("--seeds", type=int, default=10, help="populations of each scenario")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--only", action="append", default=[], help="scenarios with this in their name")
    parser.add_argument(
        "--rare", action="store_true", help="worlds with rare groups and outputs in place of the others"
    )
    parser.add_argument("--correction", default=None)
    parser.add_argument("--budget", type=int, default=None, help="test sets, of which the first is looked at")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--results", help="a file that keeps results: runs that were cut short add up")
    given = parser.parse_args()
    bank = RARE if given.rare else SCENARIOS
    asked = {"correction": given.correction, "budget": given.budget}
    options = {name: value for name, value in asked.items() if value is not None}
    names = [n for n in bank if not given.only or any(part in n for part in given.only)]
    print(f"{'scenario':22} shown first precis recall refine  idle   bias  cover single contrasts(false) population")
    everything: list[Told] = []
    seeds = range(given.first, given.first + given.seeds)
    for name in names:
        gathered = gather(partial(_tell, options), [(name, seed) for seed in seeds], given.jobs, given.results)
        told = [_told(result) for result in gathered.values()]
        _print(name, summarize(told, judged=bank[name].judged))
        everything += told if bank[name].judged else []
    if len(names) > 1:
        marks = summarize(everything)
        _print("all judged", marks)
        if names == list(SCENARIOS) and not options and marks.reports >= FEWEST_REPORTS:
            sys.exit("; ".join(missed_bounds(marks)) or 0)


def _print(name: str, s: Summary) -> None:
    print(
        f"{name:22} {s.shown:5.2f} {s.first_right:5.2f} {s.precision:6.2f} {s.recall:6.2f} {s.refinements:6.3f} "
        f"{s.idle:5.2f} {100 * s.bias:+6.2f} {s.covered:6.3f} {s.covered_single:6.3f} "
        f"{s.contrasts:4d} ({s.false_contrasts} of {s.reports}) {s.population:5.2f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
