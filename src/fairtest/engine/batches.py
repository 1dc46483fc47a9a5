"""How much is asked for in one pass over the partitions: the columns it reads, and as many numbers as may be held."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, TypeVar

from fairtest.data.labels import label_part

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairtest.data.summaries import Target

AT_ONCE = 1 << 23
"""About how many numbers may be counted together in one pass over the partitions."""

T = TypeVar("T")


def columns_of(target: Target) -> set[str]:
    """Return the columns a target is made of; those of a label are not read, its people are known."""
    variables = [v for v in (target.protected, target.output, target.strata) if v is not None]
    return {c for v in variables if label_part(v) is None for c in v.columns}


def sums_of(target: Target) -> int:
    """Return how many numbers are added up for a target in one context."""
    return target.n_cells * prod(target.sum_shape)


def in_batches(several: Sequence[T], numbers: Sequence[int]) -> Iterator[list[T]]:
    """Yield runs of questions that together ask for at most :data:`AT_ONCE` numbers; a larger one alone.

    ``numbers`` says how many each of the questions asks for.
    """
    batch: list[T] = []
    held = 0
    for question, size in zip(several, numbers, strict=True):
        if batch and held + size > AT_ONCE:
            yield batch
            batch, held = [], 0
        batch.append(question)
        held += size
    if batch:
        yield batch
