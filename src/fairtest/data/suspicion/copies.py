"""Rows that are too much alike: the same people several times, where no column names them.

Identical rows alone say little: of thousands of people with a few attributes many are alike. What tells copies from
chance is what happens when one attribute is hidden. Two *people* who agree in all else agree in the hidden attribute
hardly more often than any two people do; two rows of *one* person always do. So each attribute is hidden in turn, and
rows look like copies only where every one of them agrees far more often than chance gives, the least telling included.
Attributes that change from row to row of a person (what was done, when) are left aside first, up to half of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from fairtest.data.fingerprint import mix_bits
from fairtest.data.suspicion.samples import keys_at, positions
from fairtest.types import Kind

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from numpy.typing import NDArray

    from fairtest.data.table import Table
    from fairtest.types import BoolArray

MOST_COLUMNS = 60
"""Of more columns the most varied are looked at."""
KEPT = 0.5
"""The share of the attributes in which copies agree, at least; and three of them."""
ODDS = 10.0
"""How many times the odds of chance the least telling attribute must agree with, where all others do.

In tables of one row a person it is about 1 to 2 (Adult: 1.8; stays in hospital, one a patient: 1.6).
"""
FEWEST_GROUPS = 30
FEWEST_PAIRS = 30
SHARE = 0.3
"""The share of rows that have a copy, at least: fewer hardly change what a test says."""
MOST_COPIES = 100
"""How many copies a row has on average, at most: more are groups of people, not people."""
FEWEST_MEETINGS = 5
"""Two flags that should meet in as many rows by chance, and never do, are of one attribute."""


@dataclass(frozen=True)
class Copies:
    """Rows that look like the same people.

    Attributes
    ----------
    columns
        In which columns they agree.
    rows, of
        How many rows have a copy, of how many that were looked at.
    """

    columns: tuple[str, ...]
    rows: int
    of: int


@dataclass(frozen=True, eq=False)
class _Attribute:
    """One or several columns at the rows looked at: a hash for each row, and how often two rows agree by chance."""

    columns: tuple[str, ...]
    hashes: NDArray[np.uint64]
    chance: float


def find_copies(table: Table, protected: Collection[str], others: Iterable[str]) -> Copies | None:
    """Return the rows that look like copies of each other in a protected and most of the other columns, if many do.

    Examples
    --------
    >>> from fairtest.data.reading.readers import read_table
    >>> draw = np.random.default_rng(0)
    >>> people = {n: draw.integers(0, k, 400) for n, k in {"sex": 2, "age": 60, "city": 50, "pay": 900}.items()}
    >>> log = read_table({name: np.tile(values, 5) for name, values in people.items()})
    >>> find_copies(log, ["sex"], ["age", "city", "pay"])
    Copies(columns=('sex', 'age', 'city', 'pay'), rows=2000, of=2000)
    >>> find_copies(read_table(people), ["sex"], ["age", "city", "pay"])
    """
    rows = positions(table.n_rows)
    names = tuple(dict.fromkeys((*protected, *others)))
    attributes = _choose(list(_attributes(table, names, rows)), protected)
    fewest = max(3, int(np.ceil(KEPT * len(attributes))))
    while len(attributes) >= fewest and any(name in protected for each in attributes for name in each.columns):
        crowd = _Crowd.of(attributes)
        hidden, odds = crowd.find_least_telling()
        if odds >= ODDS and crowd.is_many(rows.size / table.n_rows):
            agreeing = {name for each in attributes for name in each.columns}
            return Copies(tuple(name for name in names if name in agreeing), crowd.with_copy, rows.size)
        attributes.remove(hidden)
    return None


def _choose(attributes: list[_Attribute], protected: Collection[str]) -> list[_Attribute]:
    """Return the attributes that vary, protected ones and then the most varied first."""

    def is_protected(each: _Attribute) -> bool:
        return any(name in protected for name in each.columns)

    varied = [each for each in attributes if each.chance < 1]
    return sorted(varied, key=lambda each: (not is_protected(each), each.chance))[:MOST_COLUMNS]


def _attributes(table: Table, names: Sequence[str], rows: NDArray[np.intp]) -> Iterable[_Attribute]:
    """Yield the attributes of some rows; flags of which nobody has two, such as one for each job, are one of them."""
    keys = {name: keys_at(table[name], rows) for name in names}
    flags = [name for name in names if table[name].kind is Kind.BINARY and table[name].levels == (0, 1)]
    sets = _exclusive_sets(np.stack([keys[name] == 1 for name in flags], axis=1)) if flags else []
    for together in [[flags[i] for i in each] for each in sets] + [[name] for name in names if name not in flags]:
        hashes = np.zeros(rows.size, dtype=np.uint64)
        for name in together:
            hashes += _hash(name, keys[name])
        _, sizes = np.unique(hashes, return_counts=True)
        yield _Attribute(tuple(together), hashes, _pairs(sizes) / max(rows.size * (rows.size - 1) / 2, 1))


def _hash(name: str, keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return a hash of each row's value in a column; a missing value is one like any other."""
    salt = np.frombuffer(blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest(), dtype="<u8")
    return mix_bits(keys ^ salt)


def _exclusive_sets(flags: BoolArray) -> list[list[int]]:
    """Return flags (columns) in sets: two that never meet, and should by chance, are in the same.

    Examples
    --------
    >>> job = np.arange(60) % 3
    >>> _exclusive_sets(np.stack([job == 0, np.arange(60) < 40, job == 1, job == 2], axis=1))
    [[0, 2, 3], [1]]
    """
    ones = flags.astype(np.float64)
    meetings, sizes = ones.T @ ones, ones.sum(axis=0)
    apart = (meetings == 0) & (np.outer(sizes, sizes) / max(len(flags), 1) >= FEWEST_MEETINGS)
    left, sets = set(range(flags.shape[1])), []
    while left:
        found, new = set[int](), {min(left)}
        while new:
            found |= new
            new = {int(i) for each in new for i in np.flatnonzero(apart[each])} - found
        left -= found
        sets.append(sorted(found))
    return sets


def _pairs(sizes: NDArray[np.intp]) -> float:
    """Return how many pairs there are in groups of these sizes."""
    return float((sizes * (sizes - 1.0)).sum() / 2)


@dataclass(frozen=True, eq=False)
class _Crowd:
    """Rows by what they have in some attributes, those with the commonest combination aside.

    The commonest one is often that of rows that nobody filled in.

    Attributes
    ----------
    total
        What tells the combinations apart.
    kept
        Which rows do not have the commonest one.
    sizes
        How many rows have each of the others.
    commonest
        How many rows have the commonest one.
    """

    attributes: Sequence[_Attribute]
    total: NDArray[np.uint64]
    kept: BoolArray
    sizes: NDArray[np.intp]
    commonest: int

    @classmethod
    def of(cls, attributes: Sequence[_Attribute]) -> _Crowd:
        """Return the rows by all of some attributes."""
        total: NDArray[np.uint64] = np.sum([each.hashes for each in attributes], axis=0)
        values, sizes = np.unique(total, return_counts=True)
        most = int(np.argmax(sizes))
        return cls(attributes, total, total != values[most], np.delete(sizes, most), int(sizes[most]))

    def find_least_telling(self) -> tuple[_Attribute, float]:
        """Return the attribute that says least about copies, and the ratio of its odds to agree to those of chance.

        Where no rows agree at all, it is the one in which most should by chance, of those that agree in all else; or
        the most varied, if there are none such.
        """
        pairs = _pairs(self.sizes)
        ratios = []
        for each in self.attributes:
            _, sizes = np.unique((self.total - each.hashes)[self.kept], return_counts=True)
            differing = _pairs(sizes) - pairs
            chance = max(each.chance, 1e-12) / (1 - each.chance)
            ratios.append((pairs / max(differing, 0.5) / chance, -differing * each.chance, each.chance))
        least = min(range(len(ratios)), key=lambda i: ratios[i])
        return self.attributes[least], ratios[least][0]

    @property
    def with_copy(self) -> int:
        """How many rows have a copy, the commonest ones included."""
        return int(self.sizes[self.sizes > 1].sum()) + (self.commonest if self.commonest > 1 else 0)

    def is_many(self, share: float) -> bool:
        """Whether there are enough copies to matter, and not so many that groups are meant; of a share of all rows.

        Of a person's other rows only that share was looked at too. Where most rows are the same, too little is left.
        """
        rows, pairs = max(int(self.sizes.sum()), 1), _pairs(self.sizes)
        copied = self.sizes[self.sizes > 1].sum() / rows
        enough = self.sizes.size >= FEWEST_GROUPS and pairs >= FEWEST_PAIRS and copied >= SHARE * share
        return bool(enough and self.commonest <= rows and 2 * pairs / rows / share <= MOST_COPIES)
