"""Any world at all, and one that is a little different: for a search through them."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING

from calibration.worlds.base import one_of
from calibration.worlds.explained import Explained
from calibration.worlds.predicted import Predicted
from calibration.worlds.unrelated import Unrelated

if TYPE_CHECKING:
    import numpy as np

    from calibration.worlds.base import World

__all__ = ["any_world", "mutated"]


def any_world(rng: np.random.Generator) -> World:
    """Return one of all worlds; half of them have an output and a group that are unrelated."""
    chosen: type[World] = one_of(rng, (Unrelated, Unrelated, Explained, Predicted))
    return chosen.any_of(rng)


def mutated(world: World, rng: np.random.Generator) -> World:
    """Return a world that differs in one thing or two."""
    other = type(world).any_of(rng)
    names = rng.permutation([f.name for f in fields(world)])[: int(rng.integers(1, 3))]
    return replace(world, **{str(name): getattr(other, str(name)) for name in names})
