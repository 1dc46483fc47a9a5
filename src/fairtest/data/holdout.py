"""The split into a training set and test sets, and the budget that spends each test set once.

Section 3.2.3 of the paper: a hypothesis formed after seeing a test set is not independent of it. So the data is
divided beforehand into one training set, which may be looked at freely, and B test sets, each of which answers one
batch of investigations.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from fairtest.data.fingerprint import GOLDEN, mix_bits
from fairtest.data.streaming.order import values_at_ranks
from fairtest.data.table import row_spans
from fairtest.exceptions import BudgetExhausted, in_python, setting

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from fairtest.model.results import Answered

TRAIN = 0
"""The number of the training set; test sets count from 1."""
BLOCK = 1 << 15
"""How many rows are hashed at once: few enough for a cache."""
EMPTY = (np.uint64(1), np.uint64(0))
"""The interval of a set without people."""


class Holdout:
    """Which set every row belongs to.

    The set of a row follows from a seeded hash of its position, never of its content: duplicated people must not
    travel together, and every engine must come to the same split. Sizes are exact.

    Parameters
    ----------
    n_rows
        The number of people.
    budget
        The number of test sets.
    train_size
        The share of the people that train; the others are divided evenly among the test sets.
    seed
        Another seed gives another split.

    Examples
    --------
    >>> Holdout(11, budget=2, train_size=0.5, seed=0).sizes
    (5, 3, 3)
    """

    def __init__(self, n_rows: int, budget: int, train_size: float, seed: int) -> None:
        # the product may fall short of a whole number by a rounding error: 0.29 of 100 people is 29, not 28
        train = int(np.floor(n_rows * train_size + 1e-9))
        share, extra = divmod(n_rows - train, budget)
        self.sizes: tuple[int, ...] = (train, *(share + (i < extra) for i in range(budget)))
        self._n_rows = n_rows
        self._seed: int | None = seed  # None: rows are in the order of the sets
        self._bounds: list[tuple[np.uint64, np.uint64]] | None = self._intervals()

    @classmethod
    def undivided(cls, n_rows: int, n_people: int | None = None) -> Holdout:
        """Return a holdout that divides nobody: everybody is in the training set and in the only test set.

        Valid only where nothing is chosen by looking at the outputs of the training set.
        """
        whole = cls.__new__(cls)
        people = n_rows if n_people is None else n_people
        whole.sizes = (people, people)
        whole._n_rows = n_rows
        whole._bounds = None
        return whole

    @classmethod
    def contiguous(cls, train: int, test: int) -> Holdout:
        """Return a holdout whose first rows train and whose other rows are the only test set.

        For people who arrive in time: those who came before the others may be looked at freely.

        Examples
        --------
        >>> split = Holdout.contiguous(2, 3)
        >>> split.sizes, split.rows(0).tolist(), split.rows(1).tolist()
        ((2, 3), [0, 1], [2, 3, 4])
        """
        divided = cls.__new__(cls)
        divided.sizes = (train, test)
        divided._n_rows = train + test
        divided._seed = None
        divided._bounds = divided._intervals()
        return divided

    def rows_in(self, number: int) -> int:
        """Return how many rows a set has: as many as people, unless people have several."""
        return self.size(number)

    def with_training(self, number: int) -> int:
        """Return the number under which the people of a test set and of the training set are known together.

        Examples
        --------
        >>> split = Holdout(11, budget=2, train_size=0.5, seed=0)
        >>> split.size(split.with_training(1)), split.size(1)
        (8, 3)
        """
        return number if self._bounds is None else -number

    def size(self, number: int) -> int:
        """Return how many people a set has, or a test set and the training set together."""
        return self.sizes[number] if number >= 0 else self.sizes[TRAIN] + self.sizes[-number]

    def rows(self, number: int) -> NDArray[np.intp]:
        """Return the positions of a set's rows, in order."""
        return self.rows_within(number, 0, self._n_rows)

    def rows_within(self, number: int, start: int, stop: int) -> NDArray[np.intp]:
        """Return the positions, counted from ``start``, of a set's rows among those from ``start`` to ``stop``."""
        if self._bounds is None:
            return np.arange(stop - start)
        first, last = self._bounds[abs(number)]
        trains = self._bounds[TRAIN][1]  # the training set has the smallest hashes
        found = [np.empty(0, dtype=np.intp)]
        for begin, end in row_spans(stop - start, BLOCK):
            hashes = self._hash(start + begin, start + end)
            inside = (hashes >= first) & (hashes <= last)
            if number < 0:
                inside |= hashes <= trains
            found.append(np.flatnonzero(inside) + begin)
        return np.concatenate(found)

    def _intervals(self) -> list[tuple[np.uint64, np.uint64]]:
        """Return the smallest and the largest hash of each set.

        The hash sends different positions to different numbers, so the sets are intervals of its values, of which
        only the ends are kept: the split of a hundred million people is a few numbers, and travels to any machine.
        """
        ends = np.cumsum(self.sizes)
        some = [number for number, size in enumerate(self.sizes) if size]
        bounds = [EMPTY] * len(self.sizes)
        if some:
            ranks = [rank for number in some for rank in (ends[number] - self.sizes[number], ends[number] - 1)]
            hashes = values_at_ranks(self._hashes, ranks)
            for place, number in enumerate(some):
                bounds[number] = (hashes[2 * place], hashes[2 * place + 1])
        return bounds

    def _hashes(self) -> Iterator[NDArray[np.uint64]]:
        for start, stop in row_spans(self._n_rows, BLOCK):
            yield self._hash(start, stop)

    def _hash(self, start: int, stop: int) -> NDArray[np.uint64]:
        """Return the numbers whose order divides the rows."""
        if self._seed is None:
            return np.arange(start, stop, dtype=np.uint64)
        return position_hash(start, stop, self._seed)


class PeopleHoldout(Holdout):
    """The split of people who have several rows: all rows of a person are in one set, that of the first of them.

    Sizes count people.

    Parameters
    ----------
    first
        For every row, the position of the first row of its person.

    Examples
    --------
    >>> split = PeopleHoldout(np.array([0, 1, 0, 3, 4, 1]), budget=1, train_size=0.5, seed=0)
    >>> split.sizes, split.rows_in(0) + split.rows_in(1)
    ((2, 2), 6)
    """

    def __init__(self, first: NDArray[np.intp], budget: int, train_size: float, seed: int) -> None:
        firsts, place = np.unique(first, return_inverse=True)
        train, *tests = Holdout(firsts.size, budget, train_size, seed).sizes
        self.sizes = (train, *tests)
        self._n_rows = first.size
        self._bounds = None
        order = np.argsort(hash_positions(firsts, seed))
        number = np.empty(firsts.size, dtype=np.min_scalar_type(budget))
        number[order] = np.repeat(np.arange(budget + 1), self.sizes)
        self._number = number[place]

    def with_training(self, number: int) -> int:
        """Return the number under which the people of a test set and of the training set are known together."""
        return -number

    def rows_in(self, number: int) -> int:
        """Return how many rows a set has."""
        return self.rows(number).size

    def rows_within(self, number: int, start: int, stop: int) -> NDArray[np.intp]:
        """Return the positions, counted from ``start``, of a set's rows among those from ``start`` to ``stop``."""
        here = self._number[start:stop]
        inside = here == abs(number)
        return np.flatnonzero(inside | (here == TRAIN) if number < 0 else inside)


def position_hash(start: int, stop: int, seed: int) -> NDArray[np.uint64]:
    """Return a well-mixed 64-bit hash of each row number from ``start`` to ``stop``, as SplitMix64 does.

    Every step of it can be undone, so no two rows have the same hash.
    """
    return hash_positions(np.arange(start, stop), seed)


def hash_positions(positions: NDArray[np.intp], seed: int) -> NDArray[np.uint64]:
    """Return the hash of each of some row numbers."""
    hashes = positions.astype(np.uint64)
    hashes += np.uint64(1)
    hashes *= GOLDEN
    hashes += np.random.SeedSequence(seed).generate_state(1, np.uint64)
    return mix_bits(hashes)


class Budget:
    """Hands out each test set once.

    A set that was drawn is spent when the work on it ends, and given back when the work fails: nothing was shown
    then.

    Examples
    --------
    >>> budget = Budget(1)
    >>> with budget.draw() as number:
    ...     number
    1
    >>> budget.left
    0
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._free = list(range(1, size + 1))
        self._lock = threading.Lock()
        self._shown = False

    @property
    def shown(self) -> bool:
        """Whether anything that relates outputs to attributes of these people was shown.

        That is: what training proposes (:func:`~fairtest.pipeline.prospects.prospects`, ``--train-only``), or an
        answer. Columns and their values alone (``inspect``) do not count. A question asked afterwards may have been
        made from what was shown, and must do without the people of the training set.
        """
        return self._shown

    def mark_shown(self) -> None:
        """Note that something is shown from here on: called before anybody sees it."""
        self._shown = True

    def level_of_set(self, conf: float) -> float:
        """Return the level of each test set with which all answers hold together with ``conf``."""
        return set_level(conf, self.size)

    @property
    def left(self) -> int:
        """How many test sets have not been spent."""
        return len(self._free)

    @property
    def all_sets(self) -> str:
        """How the error names the test sets, with its verb: ``both test sets have``."""
        return {1: "the test set has", 2: "both test sets have"}.get(self.size, f"all {self.size} test sets have")

    def check(self) -> None:
        """Raise if there is no test set left to draw."""
        if not self._free:
            raise BudgetExhausted(
                f"The budget is exhausted: {self.all_sets} been spent. A test set answers once; give "
                f"{in_python('DataSource ')}a larger budget ({setting('budget', self.size + 1)}) before the first "
                "test, or new data."
            )

    @contextmanager
    def draw(self) -> Iterator[int]:
        """Draw the next test set; it is given back if the block raises."""
        with self._lock:
            self.check()
            number = self._free.pop(0)
        try:
            yield number
        except BaseException:
            with self._lock:
                self._free = sorted([*self._free, number])
            raise

    def keep(self, number: int, answers: Iterable[Answered]) -> None:
        """Take what a set that was drawn has answered, before anybody sees it.

        Here it is forgotten, so that the reports in it need not be made; a budget that outlasts the process stores
        them, and spends the set by doing so.
        """


def set_level(conf: float, budget: int) -> float:
    """Return the level of each test set with which the answers of all hold together with ``conf``.

    Levels are added up: answers about the whole population all use the training set, so that they are not independent
    and nothing better is known of them together.

    Examples
    --------
    >>> set_level(0.95, 1), set_level(0.95, 2)
    (0.05, 0.025)
    """
    return round((1 - conf) / budget, 15)


def product_level(conf: float, budget: int) -> float:
    """Return the level of each test set as it was while no answer used the training set, and all were independent.

    Workspaces that were made then keep it.

    Examples
    --------
    >>> product_level(0.95, 1), round(product_level(0.95, 2), 6)
    (0.05, 0.025321)
    """
    return round(float(-np.expm1(np.log(conf) / budget)), 15)


def series_weight(number: int) -> float:
    """Return the share of an error rate that the ``number``-th of a series of test sets without end is tested at.

    All shares together make 1: w_k = 1/log₂(k + 1) − 1/log₂(k + 2). They fall slowly, so that late sets still see much.

    Examples
    --------
    >>> [round(series_weight(k), 4) for k in (1, 2, 52)]
    [0.3691, 0.1309, 0.0008]
    >>> round(sum(series_weight(k) for k in range(1, 1000)) + 1 / float(np.log2(1001)), 12)
    1.0
    """
    return float(1 / np.log2(number + 1) - 1 / np.log2(number + 2))
