"""Playing a world from its seed to its end."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from calibration.simulation.world import World


@dataclass(frozen=True)
class Played:
    """What happened in a world, step by step, what was wrong in the end, and how many runs were spent."""

    log: list[str]
    wrong: list[str]
    done: int


def prepare_template(folder: Path) -> Path:
    """Make the store with which every world begins; making its tables takes longer than most worlds."""
    World(0, folder, faults=0.0).close()
    return folder


def play(seed: int, template: Path, steps: int = 80, faults: float = 0.12) -> Played:
    """Play a world."""
    with tempfile.TemporaryDirectory() as name:
        world = World(seed, Path(name), template, faults)
        try:
            try:
                for _ in range(steps):
                    world.step()
                world.finish()
                wrong = world.wrong()
            except Exception as error:  # a fault like any other: the seed replays it
                wrong = [f"{type(error).__name__}: {error}"]
            return Played(world.log, wrong, world.count_done())
        finally:
            world.close()
