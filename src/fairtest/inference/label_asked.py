"""Many labels put to a test set as one question: counted together, tested as one batch, answered label by label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtest.data.labels import label_part
from fairtest.data.summaries import Counts
from fairtest.inference.recentre import remote, test_summary
from fairtest.inference.validate import Asked, Estimates, Validated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairtest.data.summaries import Summary, Target
    from fairtest.engine.contract import Engine
    from fairtest.types import IntArray


@dataclass(frozen=True, eq=False, kw_only=True)
class LabelAsked(Asked):
    """Labels and the contexts in which each is tested; every label with the whole population first.

    ``question`` is about all of them, ``target`` is that of any one.

    Attributes
    ----------
    parts
        For each label the question about it, put alone.
    places
        The label of each entry, as a position in ``parts``.
    strongest
        The labels that the training set ranked first over everybody, as positions in ``parts``.
    rare
        How many labels were not looked at because too few people have them.
    """

    parts: tuple[Asked, ...]
    places: IntArray
    strongest: tuple[int, ...]
    rare: int = 0

    @property
    def populations(self) -> IntArray:
        """Where the whole population is asked about."""
        return np.searchsorted(self.places, np.arange(len(self.parts)))

    def target_of(self, i: int) -> Target:
        """Return what is counted for one entry."""
        return self.parts[int(self.places[i])].target

    def counted(self, engine: Engine, number: int) -> Summary:
        """Return the summaries of all entries: labels are counted from the people who have them."""
        labels = [label_part(part.target.output) for part in self.parts]
        first = labels[0]
        assert first is not None
        of = np.array([label.place for label in labels if label is not None])[self.places]
        counter = engine.label_counter(number, self.target, first.labels)
        entries: dict[Any, list[int]] = {}
        for i, condition in enumerate(self.conditions):
            entries.setdefault(condition, []).append(i)
        sums: Any = None
        tables = counter.tables([(condition, of[at]) for condition, at in entries.items()])
        for at, table in zip(entries.values(), tables, strict=True):
            sums = np.empty((len(self.conditions), *table.shape[1:]), dtype=table.dtype) if sums is None else sums
            sums[at] = table
        summary = self.target.wrap(sums)
        if isinstance(summary, Counts) or not (far := remote(summary)).any():
            return summary
        return self._again(engine, number, summary, np.unique(self.places[far]))

    def _again(self, engine: Engine, number: int, summary: Any, labels: IntArray) -> Summary:
        """Return the summaries with those of some labels counted one by one, about centres of their own."""
        for label in labels.tolist():
            alone: Any = test_summary(engine, number, self.parts[label].conditions, self.parts[label].target)
            summary.sums[self.places == label] = alone.sums
        return summary  # type: ignore[no-any-return]


def by_label(validated: Validated) -> Iterator[Validated]:
    """Yield the answer about each label."""
    asked = validated.asked
    assert isinstance(asked, LabelAsked)
    strata = asked.target.n_strata
    for number, part in enumerate(asked.parts):
        at = np.flatnonzero(asked.places == number)
        inner = (at[:, None] * strata + np.arange(strata)).ravel()
        yield Validated(
            part,
            _taken(validated.contexts, at),
            None if validated.strata is None else _taken(validated.strata, inner),
            validated.summary.take(at),
            validated.summary.take(at),
            validated.required[at],
        )


def _taken(e: Estimates, at: IntArray) -> Estimates:
    return Estimates(
        size=e.size[at],
        effect=e.effect[at],
        p_raw=e.p_raw[at],
        p=e.p[at],
        low=e.low[at],
        high=e.high[at],
        low_single=e.low_single[at],
        high_single=e.high_single[at],
        notes=tuple(e.notes[i] for i in at.tolist()),
    )
