"""Look for designs in which false findings are frequent: ``python -m calibration.adversary [--minutes 30] [--seed 0]``.

Worlds in which nothing is unfair (:mod:`calibration.worlds`) are drawn at random and audited a few times through the
public interface. Those with most findings are mutated, and the worst are kept and run again and again: only these later
runs count, since a design that was chosen for its findings has had good luck already. Writes ``docs/adversary.md`` and
exits with 1 if the lower limit of a kept design (95 %, Bonferroni over those kept) is above 5 %, or a run fails. The
page is written after every step.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias
from zlib import crc32

import numpy as np

import fairtest as ft
from calibration.rules import limits
from calibration.worlds.choice import any_world, mutated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from calibration.worlds.base import World

__all__ = ["Search", "Trial", "main", "page"]

OUT = Path(__file__).resolve().parents[1] / "docs" / "adversary.md"
LEVEL = 0.05
FIRST = 4
"""So many runs a design gets when it is first tried …"""
AGAIN = 5
"""… and so many each time that it is the worst."""
KEPT, MOST = 10, 200
"""How many designs are kept, and after how many counted runs enough is known of one."""
Run: TypeAlias = Callable[["World", np.random.Generator], bool]


@dataclass
class Trial:
    """A design and what its runs said.

    Attributes
    ----------
    tried, seen
        Runs when it was first tried, and how many of them had a finding: they choose, and are not counted.
    runs, found
        Runs after it was chosen, and how many of them had a finding.
    """

    world: World
    tried: int = 0
    seen: int = 0
    runs: int = 0
    found: int = 0

    @property
    def promise(self) -> float:
        """How bad it is likely to be: the share of all its runs with a finding, drawn towards 5 % by a few more."""
        return (self.seen + self.found + 4 * LEVEL) / (self.tried + self.runs + 4)

    def limits(self, kept: int) -> tuple[float, float]:
        """Return the limits of the share of its counted runs with a finding, the lower one of so many designs."""
        return limits(self.found, self.runs, LEVEL / kept)[0], limits(self.found, self.runs, 0.025)[1]

    def line(self, kept: int) -> list[str]:
        """Return how it did, cell by cell of a table."""
        if not self.runs:
            return [self.world.words(), f"{self.seen} of {self.tried}", "none", "", ""]
        low, high = self.limits(kept)
        rate = f"{self.found / self.runs:.1%}"
        counted = f"{self.found} of {self.runs}"
        return [self.world.words(), f"{self.seen} of {self.tried}", counted, rate, f"{low:.1%} to {high:.1%}"]


def finds_something(world: World, rng: np.random.Generator) -> bool:
    """Audit fresh people of a world."""
    return world.finds_something(rng)


@dataclass
class Search:
    """A search that goes on as long as it may.

    Attributes
    ----------
    run
        From a world and a source of randomness to whether a run finds something.
    fresh
        From a source of randomness to a world to begin with.
    trials, refused, failed
        What was tried; how many designs the product refuses (with an error in words); what failed otherwise.
    """

    seed: int = 0
    run: Run = finds_something
    fresh: Callable[[np.random.Generator], World] = any_world
    trials: list[Trial] = field(default_factory=list)
    refused: int = 0
    failed: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._rng = np.random.default_rng(self.seed)

    def search(self, goes_on: Callable[[], bool]) -> None:
        """Try designs and keep the worst; the last two fifths of the time are for those kept alone."""
        while goes_on():
            self._step()

    def confirm(self, goes_on: Callable[[], bool]) -> None:
        """Run the designs that are kept, those first of which least is known."""
        kept = self.kept()
        while goes_on() and (open_ones := [trial for trial in kept if trial.runs < MOST]):
            self._again(min(open_ones, key=lambda trial: trial.runs))

    def kept(self) -> list[Trial]:
        """Return the worst designs, the worst first."""
        return sorted(self.trials, key=lambda trial: -trial.promise)[:KEPT]

    def _step(self) -> None:
        """Try a new design, one like a bad one, or a bad one again; one after the other."""
        number = len(self.trials) + self.refused
        worst = self.kept()
        promising = [trial for trial in worst if trial.seen + trial.found and trial.runs < MOST]
        if promising and self._rng.random() < 0.4:
            self._again(promising[0])
        elif worst and number > KEPT and self._rng.random() < 0.5:
            self._try(mutated(worst[int(self._rng.integers(len(worst)))].world, self._rng))
        else:
            self._try(self.fresh(self._rng))

    def _try(self, world: World) -> None:
        if any(trial.world == world for trial in self.trials):
            return  # a change that changed nothing
        trial = Trial(world)
        try:
            for _ in range(FIRST):
                trial.seen += self._found(world, trial.tried)
                trial.tried += 1
        except ft.FairTestError:
            self.refused += 1
            return
        except Exception as error:
            self.failed.append(f"{world.words()}: {type(error).__name__}: {error}")
            return
        self.trials.append(trial)

    def _again(self, trial: Trial) -> None:
        for _ in range(AGAIN):
            trial.found += self._found(trial.world, trial.tried + trial.runs)
            trial.runs += 1

    def _found(self, world: World, repeat: int) -> bool:
        return bool(self.run(world, np.random.default_rng([self.seed, crc32(repr(world).encode()), repeat])))

    def broken(self) -> list[Trial]:
        """Return the designs kept whose share of runs with a finding is above 5 %, too clearly for bad luck."""
        kept = self.kept()
        return [trial for trial in kept if trial.runs and trial.limits(len(kept))[0] > LEVEL]


def main(arguments: Sequence[str] | None = None) -> int:
    """Search for as many minutes as there are, write the page, and return 1 if something is broken."""
    parser = argparse.ArgumentParser(
        prog="python -m calibration.adversary", description=(__doc__ or "").split("\n", 1)[0]
    )
    parser.add_argument("--minutes", type=float, default=30, help="minutes of processor time")
    parser.add_argument("--seed", type=int, default=0, help="where randomness starts")
    parser.add_argument("--out", type=Path, default=OUT, help="where to write the page")
    options = parser.parse_args(arguments)
    search = Search(options.seed)
    started = time.process_time()
    options.out.parent.mkdir(parents=True, exist_ok=True)

    def until(minutes: float) -> Callable[[], bool]:
        def goes_on() -> bool:
            """Write what is known so far, so that a search that is cut short says something too."""
            spent = (time.process_time() - started) / 60
            options.out.write_text(page(search, spent), encoding="utf-8")
            return spent < minutes

        return goes_on

    search.search(until(0.6 * options.minutes))
    search.confirm(until(options.minutes))
    print(options.out.read_text(encoding="utf-8"))
    return int(bool(search.broken() or search.failed))


def page(search: Search, minutes: float) -> str:
    """Return the page in Markdown."""
    kept = search.kept()
    counted = sum(t.runs for t in kept), sum(t.found for t in kept)
    head = ("design", "when tried", "counted", "share", "limits")
    lines = ["| " + " | ".join(cells) + " |" for cells in (head, ["---"] * 5, *(t.line(len(kept)) for t in kept))]
    together = ""
    if counted[0]:
        low, high = limits(counted[1], counted[0], 0.025)
        share = f"{counted[1] / counted[0]:.1%}, between {low:.1%} and {high:.1%}"
        together = f"Counted runs of all of them: {counted[1]} of {counted[0]} with a finding ({share}).\n\n"
    broken = search.broken()
    verdict = "No design is clearly above 5 %." if not broken else f"**Clearly above 5 %: {len(broken)} designs.**"
    failed = "".join(f"- failed: {line}\n" for line in search.failed)
    return (
        "# Adversary\n\nWritten by `python -m calibration.adversary` (`make adversary`); do not edit. A search through "
        "worlds in which nothing is unfair, for designs whose whole runs report something nevertheless. The worst are "
        "kept; runs that chose a design are not counted. A lower limit is at 95 %, Bonferroni over the designs kept, "
        f"an upper one at 97.5 %.\n\nSeed {search.seed}, {minutes:.0f} minutes of processor time, {len(search.trials)} "
        f"designs tried, {search.refused} refused by the product with an error in words.\n\n{verdict}\n\n{together}"
        + "\n".join(lines)
        + f"\n{failed and chr(10)}{failed}"
    )


if __name__ == "__main__":
    sys.exit(main())
