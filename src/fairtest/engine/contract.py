"""What an engine can do. It never sees a metric.

Everything rests on one primitive: a pure function of a partition of the rows whose results are added. Sums are exact
(see :mod:`fairtest.data.summaries`), so every engine gives the same numbers to the last bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from fairtest.data.axes import Axis, Condition
    from fairtest.data.labels import Labels
    from fairtest.data.summaries import Target
    from fairtest.types import FloatArray, IntArray

MOST_COMPARED = 1 << 21
"""At most about this many people are used where contexts are compared with each other person by person."""


def sample_step(size: int) -> int:
    """Return k where every k-th person of a set is looked at to compare contexts person by person.

    Examples
    --------
    >>> sample_step(30_000), sample_step(7_000_000)
    (1, 4)
    """
    return max(-(-size // MOST_COMPARED), 1)


@dataclass(frozen=True, eq=False)
class Rows:
    """The people of one small context: level codes or numbers of both variables, the stratum, and codes on axes.

    Where rows are not one person each with the same weight, also whose they are and what they weigh (None: all alike).
    """

    protected: NDArray[Any]
    output: NDArray[Any]
    stratum: IntArray
    codes: Mapping[str, IntArray]
    person: IntArray | None = None
    weight: FloatArray | None = None

    def __len__(self) -> int:
        return len(self.stratum)

    def take(self, at: NDArray[Any], stratum: IntArray | None = None) -> Rows:
        """Return some of the rows without their codes on axes, perhaps in other strata."""
        person, weight = (None if v is None else v[at] for v in (self.person, self.weight))
        inner = self.stratum[at] if stratum is None else stratum
        return Rows(self.protected[at], self.output[at], inner, {}, person, weight)


@dataclass(frozen=True, eq=False)
class Profiles:
    """The kinds of people there are: alike on some axes, and in all that some targets see of them.

    Attributes
    ----------
    people
        How many there are of each kind.
    codes
        The code of each kind on every axis, by column.
    seen
        What each target sees; the stratum is −1 where a value is missing. Numbers are shifted and scaled as in sums.
    """

    people: IntArray
    codes: Mapping[str, IntArray]
    seen: Sequence[Rows]

    def __len__(self) -> int:
        return len(self.people)


class Frontier(Protocol):
    """The nodes at the current depth of a tree, each a set of training rows."""

    @property
    def n_nodes(self) -> int:
        """How many there are."""

    def histograms(self, axes: Sequence[Axis], first: int, last: int) -> Iterator[NDArray[Any]]:
        """Yield the sums ``[node, code of axis, *cell_shape, *sum_shape]`` of the nodes ``first`` to ``last``.

        One table for each axis, all of them counted together where a pass over the rows is dear.
        """

    def advance(self, axes: Sequence[Axis | None], child: IntArray, nodes: IntArray | None = None) -> None:
        """Go one level down.

        Node ``i`` is cut along ``axes[i]``: rows with code ``c`` go to new node ``child[i, c]``, or are dropped where
        that is −1 (everywhere, if the axis is None). With ``nodes``, the cut ``i`` is of node ``nodes[i]``, and a node
        that is cut in several ways sends its rows along all of them: trees that share a node need it counted once.
        """


@dataclass(frozen=True, eq=False)
class LabelRows:
    """The people of one context: the protected attribute, the stratum, and a sparse column for each of some labels."""

    protected: NDArray[Any]
    stratum: IntArray
    labels: Any

    def __len__(self) -> int:
        return len(self.stratum)


class LabelCounter(Protocol):
    """Counts the people of one set who have each of many labels, in any context; ``places`` are those of labels."""

    n_people: int

    @property
    def people(self) -> IntArray:
        """How many people of the set have each label."""

    def joints(self, asked: Sequence[tuple[Sequence[Axis], IntArray]]) -> Iterator[NDArray[Any]]:
        """Yield the sums of each of several sets of axes and labels: ``[code, …, label, *cell_shape, *sum_shape]``.

        Counted together as far as memory allows.
        """

    def frontier(self, places: IntArray) -> Frontier:
        """Return the root of a tree over the people of the set, whose tables have an axis for some labels.

        No node of it can be cut in several ways.
        """

    def tables(self, asked: Sequence[tuple[Sequence[Condition], IntArray]]) -> Iterator[NDArray[Any]]:
        """Yield the sums of some labels in each of several contexts: ``[label, *cell_shape, *sum_shape]``.

        Counted together as far as memory allows.
        """

    def design(self, context: Sequence[Condition], places: IntArray) -> LabelRows:
        """Return who in a context has which of some labels, person by person."""


class Counter(Protocol):
    """What a search needs: tables of sums, which may have an axis for several outputs behind those of contexts.

    Axes are those that the engine itself made. Any thread may ask, at any time.
    """

    def axis(self, column: str) -> Axis | None:
        """Return a contextual column in codes, thresholds and rare values read off the training set."""

    def frontier(self, target: Target) -> Frontier:
        """Return the root of a tree over the training rows, which can be cut along the axes made before it."""

    def total(self, number: int, target: Target) -> NDArray[Any]:
        """Return the sums over a whole set: ``[*cell_shape, *sum_shape]``."""

    def tables(self, number: int, contexts: Sequence[Sequence[Condition]], target: Target) -> NDArray[Any]:
        """Return the sums of every context in a set: ``[context, *cell_shape, *sum_shape]``."""

    def joints(self, number: int, several: Sequence[Sequence[Axis]], target: Target) -> Iterator[NDArray[Any]]:
        """Yield the :meth:`Engine.joint` sums of each of several sets of axes, together as far as memory allows."""


class Engine(Counter, Protocol):
    """Counts people; numbers of sets are those of :class:`fairtest.data.holdout.Holdout`."""

    def axes(self, columns: Sequence[str]) -> list[Axis | None]:
        """Return several contextual columns in codes, read together where a pass over the rows is dear."""

    def joint(self, number: int, axes: Sequence[Axis], target: Target) -> NDArray[Any]:
        """Return the sums by the codes of several axes at once: ``[code, code, …, *cell_shape, *sum_shape]``."""

    def rows(self, number: int, context: Sequence[Condition], target: Target, axes: Sequence[Axis] = ()) -> Rows:
        """Return the people of one context in a set, as the target sees them, with their codes on some axes."""

    def many_rows(self, number: int, contexts: Sequence[Sequence[Condition]], target: Target) -> Iterator[Rows]:
        """Yield the people of each of several contexts, fetched together where a pass over the rows is dear."""

    def profiles(self, number: int, targets: Sequence[Target], axes: Sequence[Axis]) -> Profiles:
        """Return the kinds of people in a set, in an order that does not hang on that of the rows."""

    def members(self, number: int, contexts: Sequence[Sequence[Condition]]) -> NDArray[np.uint64]:
        """Return who of a set is in each context: ``[context, word]``, a bit for each person that is looked at.

        In a large set that is one in :func:`sample_step`, beginning with the first: enough to say which contexts hold
        the same people, and few enough to keep a bit of each for hundreds of contexts.
        """

    def contributions(self, number: int, target: Target) -> tuple[NDArray[np.int32], FloatArray]:
        """Return what each person that :meth:`members` has a bit for adds to the sums of the target.

        Their cell, −1 where a value is missing and where a word is filled up, and their terms ``[term, person]``: one
        for each power and piece but those of the power 0, none for plain counts. Where rows have weights, the first
        term is the weight.
        """

    def count_left_out(self, number: int, target: Target) -> int:
        """Return how many people of a set have no value for the target's variables."""

    def label_counter(self, number: int, target: Target, labels: Labels) -> LabelCounter:
        """Return what counts labels in a set; the target's output may be any one of them."""
