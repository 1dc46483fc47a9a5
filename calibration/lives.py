"""Lives of monitors: how often one without bias ever alarms, and how soon a bias is noticed.

``python -m calibration.lives null`` lets monitors live for a year on records without bias, in four worlds (steady;
rare groups and outputs that wander; waves of 60 days; groups and outputs that follow the hour), and looks after every
block. ``search`` does the same with the daily search for contexts. ``delays`` switches a bias on after 30 days and
counts the days until the very context is named: with blocks of a day, and with the slots that monitors have by
default. ``claims`` switches it off again, or makes it worse. Each line is printed when it is known, so a run that is
cut off says something too.

Records have attributes of 4, 20, 5, 2 and 10 values: 610 contexts of up to two predicates.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from functools import partial
from time import process_time
from typing import TYPE_CHECKING

import numpy as np

from calibration.rules import limits
from fairtest.data.table import Column, Table
from fairtest.monitoring.learning import Learned, Roles, learn
from fairtest.monitoring.life import Life, Records, Terms
from fairtest.monitoring.search import Memory, search_windows
from fairtest.types import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from fairtest.monitoring.events import Event

VALUES = {"a": 4, "b": 20, "c": 5, "d": 2, "e": 10}
FIRST = 20_454
"""The first day of every life: 1 January 2026."""
HOURS = 24


def known_columns() -> Learned:
    """Return what monitors know beforehand: the same for all lives."""
    rng = np.random.default_rng(0)
    n = 2_000
    frame = {
        name: [f"{name}{v}" for v in range(k)] + [f"{name}{v}" for v in rng.integers(0, k, n - k)]
        for name, k in VALUES.items()
    }
    frame |= {"sex": ["m", "f"] * (n // 2), "hired": [0, 0, 1, 1] * (n // 4)}
    return learn(frame, Roles("sex", ("hired",), None, (), (), (), None, 0.0, {"reference": {"sex": "m"}}))


@dataclass(frozen=True)
class World:
    """Where records come from.

    Attributes
    ----------
    group, rate
        The share of the group and the rate of the output by day and hour, given a generator and the number of days.
    a_day
        Records a day.
    """

    name: str
    a_day: int
    group: Callable[[np.random.Generator, int], NDArray[np.float64]]
    rate: Callable[[np.random.Generator, int], NDArray[np.float64]]


def _steady(level: float) -> Callable[[np.random.Generator, int], NDArray[np.float64]]:
    return lambda rng, days: np.full((days, HOURS), level)  # noqa: ARG005


def _walk(
    level: float, step: float, low: float, high: float
) -> Callable[[np.random.Generator, int], NDArray[np.float64]]:
    def wander(rng: np.random.Generator, days: int) -> NDArray[np.float64]:
        return np.repeat(np.clip(level + rng.normal(0, step, days).cumsum(), low, high)[:, None], HOURS, axis=1)

    return wander


def _wave(level: float, height: float, days_long: float) -> Callable[[np.random.Generator, int], NDArray[np.float64]]:
    def swing(rng: np.random.Generator, days: int) -> NDArray[np.float64]:
        at = np.arange(days * HOURS).reshape(days, HOURS) / HOURS / days_long + rng.random()
        return level * (1 + height * np.sin(2 * np.pi * at))

    return swing


def _hours(low: float, high: float) -> Callable[[np.random.Generator, int], NDArray[np.float64]]:
    def follow(rng: np.random.Generator, days: int) -> NDArray[np.float64]:  # noqa: ARG001
        return np.tile((low + high) / 2 + (high - low) / 2 * np.sin(2 * np.pi * np.arange(HOURS) / HOURS), (days, 1))

    return follow


WORLDS = (
    World("steady", 1000, _steady(0.5), _steady(0.3)),
    World("rare, wandering", 1000, _walk(0.05, 0.003, 0.02, 0.15), _walk(0.10, 0.005, 0.03, 0.3)),
    World("waves of 60 days", 1000, _wave(0.5, 0.5, 60), _wave(0.3, 0.6, 60)),
    World("following the hour", 1000, _hours(0.3, 0.7), _hours(0.2, 0.4)),
)


@dataclass(frozen=True)
class Bias:
    """A gap in one context, from one day to another.

    Attributes
    ----------
    gap
        The gap on each day of the life.
    """

    context: dict[str, int]
    gap: NDArray[np.float64]

    @property
    def name(self) -> str:
        """The context as a monitor writes it."""
        return ", ".join(f"{column} = {column}{value}" for column, value in sorted(self.context.items()))


@dataclass
class Simulation:
    """One life."""

    known: Learned
    world: World
    days: int
    seed: int
    bias: Bias | None = None
    whole_days: bool = False
    search: bool = False
    alone: bool = False
    """Whether only everybody is followed."""

    def days_until_alarm(self, context: str) -> float:
        """Live until the very context alarms, said or not; return the day, or infinity at the end of the days."""
        for day, life, _ in self.live():
            book = life.books[0]
            alarmed = [str(book.contexts[row]) for row in np.flatnonzero(book.alarmed)]
            if context in alarmed:
                return day
        return np.inf

    def run(self, stop: Callable[[Event], bool]) -> Event | None:
        """Live until an event that is waited for; return it, or None at the end of the days."""
        for _, _, events in self.live():
            for event in events:
                if stop(event):
                    return event
        return None

    def live(self) -> Iterator[tuple[int, Life, list[Event]]]:
        """Live day by day."""
        rng = np.random.default_rng((20_26, self.seed))
        life = Life(
            Terms(whole_days=self.whole_days),
            self.known.pairs,
            self.known.candidates,
            self.known.schema,
            (frozenset(),) if self.alone else self.known.allowed,
        )
        memory = Memory(self.known.schema)
        if self.search:
            life.find = lambda day: search_windows(memory, day, self.known.pairs, self.known.allowed)
        groups, rates = self.world.group(rng, self.days + 1), self.world.rate(rng, self.days + 1)
        life.remember(self._records(rng, -1, groups, rates))
        for day in range(self.days):
            records = self._records(rng, day, groups, rates)
            events = life.receive(records)
            memory.add(FIRST + day, records.table)
            events += life.go_to(FIRST + day, HOURS)
            yield day, life, events

    def _records(
        self, rng: np.random.Generator, day: int, groups: NDArray[np.float64], rates: NDArray[np.float64]
    ) -> Records:
        n = self.world.a_day
        hour = np.sort(rng.integers(0, HOURS, n))
        codes = {name: rng.integers(0, k, n).astype(np.int32) for name, k in VALUES.items()}
        group = (rng.random(n) < groups[day, hour]).astype(np.int32)
        chance = rates[day, hour].copy()
        if self.bias is not None and day >= 0:
            inside = np.ones(n, dtype=bool)
            for column, value in self.bias.context.items():
                inside &= codes[column] == value
            chance += np.where(inside, (group - 0.5) * self.bias.gap[day], 0.0)
        output = (rng.random(n) < chance).astype(np.int32)
        codes |= {"sex": np.where(group == 1, 0, 1).astype(np.int32), "hired": output}
        table = Table("records", "dict", n, {name: self._column(name, values) for name, values in codes.items()})
        stratum = np.zeros(n, dtype=np.int64)
        pairs = [pair.values(table) for pair in self.known.pairs]
        return Records(np.full(n, FIRST + day), hour, stratum, pairs, table)

    def _column(self, name: str, codes: NDArray[np.int32]) -> Column:
        known = self.known.schema.columns[name]
        order = None
        if known.kind is Kind.CATEGORICAL and name in VALUES:  # levels are sorted as texts
            order = np.array([known.levels.index(f"{name}{v}") for v in range(VALUES[name])], dtype=np.int32)
        return Column(name, known.kind, "", 0, tuple(known.levels), codes if order is None else order[codes])


def count_false_alarms(
    lives: int, days: int, first: int = 0, *, search: bool = False, worlds: tuple[World, ...] = WORLDS
) -> tuple[int, int]:
    """Print, for each world, how many lives without bias had an alarm; return them all together, and the lives."""
    known, hits, total = known_columns(), 0, 0
    wrong = dict.fromkeys((world.name for world in worlds), 0)
    done = dict.fromkeys(wrong, 0)
    for life in range(first, first + lives):
        world = worlds[life % len(worlds)]
        start = process_time()
        event = Simulation(known, world, days, life, search=search).run(lambda event: event.kind == "new")
        wrong[world.name] += event is not None
        done[world.name] += 1
        hits, total = hits + (event is not None), total + 1
        said = f"day {event.day - FIRST + 1}, {event.context}, stake {event.stake:.0f}" if event else "quiet"
        print(f"life {life} ({world.name}): {said}; {hits} of {total}; {process_time() - start:.1f} s", flush=True)
    for name, many in wrong.items():
        print(f"{name}: {many} of {done[name]} {limits_of(many, done[name])}", flush=True)
    print(f"all: {hits} of {total} {limits_of(hits, total)}", flush=True)
    return hits, total


def limits_of(hits: int, trials: int) -> str:
    """Return a share with its 95 % limits."""
    if not trials:
        return ""
    low, high = limits(hits, trials, 0.025)
    return f"= {hits / trials:.1%} [{low:.1%}, {high:.1%}]"


ONSET, LIFE = 30, 120
DELAYS = (
    (1_000, {"a": 1}, 0.05, 34),
    (1_000, {"a": 1}, 0.10, 10),
    (1_000, {"a": 1}, 0.20, 2),
    (1_000, {"b": 7}, 0.10, 41),
    (1_000, {"b": 7}, 0.20, 12),
    (1_000, {"b": 7, "c": 2}, 0.20, 68),
    (5_000, {"a": 1}, 0.05, 7),
    (5_000, {"b": 7}, 0.05, 35),
    (5_000, {"b": 7}, 0.10, 9),
    (5_000, {"b": 7, "c": 2}, 0.10, 52),
    (5_000, {"b": 7, "c": 2}, 0.20, 15),
)
"""Records a day, where the bias is, how large, and the median delay in days that the method was specified with, for
blocks of a day and all capital in the family, a third of it for each depth."""


def measure_delays(lives: int, cells: tuple[int, ...], *, whole_days: bool) -> list[float]:
    """Print and return the median days until a bias is named, with how many lives named it in time."""
    known, medians = known_columns(), []
    for cell in cells:
        a_day, context, gap, published = DELAYS[cell]
        world = World("steady", a_day, _steady(0.5), _steady(0.3))
        gaps = np.where(np.arange(LIFE) >= ONSET, gap, 0.0)
        delays = []
        for life in range(lives):
            bias = Bias(context, gaps)
            simulation = Simulation(known, world, LIFE, 7_000 + life, bias, whole_days)
            delays.append(simulation.days_until_alarm(bias.name) - ONSET)
        median = float(np.median(delays))
        medians.append(median)
        found = int(np.isfinite(delays).sum())
        blocks = "days" if whole_days else "slots"
        print(
            f"{a_day} a day, {bias.name}, {100 * gap:.0f} points, blocks are {blocks}: median {median:g} days "
            f"(specified "
            f"{published}, ratio {median / published:.2f}), {found} of {lives} within {LIFE - ONSET}",
            flush=True,
        )
    return medians


CLAIMS = (
    (500, ((30, 0.10), (90, 0.0)), 250, "gone", 0.02, 90, 62),
    (500, ((30, 0.10), (90, 0.0)), 250, "better", 0.05, 90, 12),
    (5_000, ((30, 0.05), (60, 0.0)), 100, "gone", 0.02, 60, 7),
    (500, ((30, 0.05), (100, 0.15)), 160, "worse", 0.10, 100, 14),
)
"""Records a day, the gaps from some days on, the days of a life, the claim that is waited for, the day from which it is
true, and the median delay in days that the method was specified with."""


def measure_claims(lives: int, cells: tuple[int, ...]) -> list[float]:
    """Print and return the median days until a claim is made after it has come true; say if it was made before."""
    known, medians = known_columns(), []
    for cell in cells:
        a_day, gaps, days, kind, level, true_from, specified = CLAIMS[cell]
        gap = np.zeros(days)
        for day, size in gaps:
            gap[day:] = size
        delays, early = [], 0
        for life in range(lives):
            world = World("steady", a_day, _steady(0.5), _steady(0.3))
            simulation = Simulation(known, world, days, 9_000 + life, Bias({}, gap), alone=True)
            event = simulation.run(partial(_is_claim, kind, level))
            delay = np.inf if event is None else event.day - FIRST - true_from
            early += delay < 0
            delays.append(delay)
        medians.append(float(np.median(delays)))
        print(
            f"{a_day} a day, gaps {gaps}: {kind} ({level:g}) after a median of {medians[-1]:g} days "
            f"(specified {specified}), before it was true in {early} of {lives}",
            flush=True,
        )
    return medians


def _is_claim(kind: str, level: float, event: Event) -> bool:
    return event.kind == kind and event.level == level


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("null", "search", "delays", "claims"))
    parser.add_argument("--lives", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="the number of the first life")
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--cells", type=int, nargs="*", help="which designs of delays or claims; default: all")
    parser.add_argument("--blocks", choices=("days", "slots", "both"), default="both")
    given = parser.parse_args()
    if given.what == "delays":
        cells = tuple(given.cells or range(len(DELAYS)))
        for blocks in ("days", "slots") if given.blocks == "both" else (given.blocks,):
            measure_delays(given.lives, cells, whole_days=blocks == "days")
    elif given.what == "claims":
        measure_claims(given.lives, tuple(given.cells or range(len(CLAIMS))))
    else:
        count_false_alarms(given.lives, given.days, given.first, search=given.what == "search")


if __name__ == "__main__":
    main()
