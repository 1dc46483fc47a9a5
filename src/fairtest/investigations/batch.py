"""Batches: investigations of the same people that share a test set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtest.exceptions import InputError, UsageError
from fairtest.investigations.base import Investigation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtest.model.results import Training


def as_batch(investigations: Investigation | Sequence[Investigation]) -> list[Investigation]:
    """Return the investigations as a list, all on the same source."""
    batch = [investigations] if isinstance(investigations, Investigation) else list(investigations or ())
    if not batch:
        raise InputError("There is no investigation. Give at least one: train([Testing(source, ...)]).")
    for each in batch:
        if not isinstance(each, Investigation):
            raise InputError(
                f"Investigations must be Testing, ErrorProfiling, … objects. Got {type(each).__name__} instead."
            )
        if each.source is not batch[0].source:
            raise InputError("Investigations of one batch must have the same DataSource: they share its test set.")
    return batch


def title_in(batch: Sequence[Investigation], investigation: Investigation) -> str:
    """Return how an error says which investigation of a batch it is about; nothing where there is only one."""
    if len(batch) == 1:
        return ""
    place = next(i for i, each in enumerate(batch, start=1) if each is investigation)
    return f"Investigation {place} of {len(batch)} ({investigation.title})"


def check_trained_together(batch: Sequence[Investigation], trainings: Sequence[Training]) -> None:
    """Raise if a context of one investigation uses the output of another."""
    for each, training in zip(batch, trainings, strict=True):
        others = frozenset[str]().union(*(o.outputs for o in batch if o is not each))
        for found in training.found:
            for context in found.contexts:
                if shared := context.columns & others:
                    raise UsageError(
                        f"The contexts of one investigation speak of {', '.join(sorted(shared))}, the output of "
                        "another. What is tested together must be trained together: train([a, b]), then test([a, b])."
                    )
