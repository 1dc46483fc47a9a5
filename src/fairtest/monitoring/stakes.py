"""Stakes: what is held on each bet, in logs, and what a block makes of it.

Everything here is a pure function. A block is known by its hypothesis and the end of its slot; an account remembers the
last block it has seen, so that one that comes again does nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from fairtest.exceptions import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fairtest.types import BoolArray, FloatArray, IntArray

NOTHING = -np.inf
"""The log of a stake of nothing."""
End: TypeAlias = tuple[int, int, int]
"""When a block ends: the day since 1970, the hour, and which of the blocks that ended early in that slot it is."""
NEVER: End = (-1, 0, 0)


def feed(log_stakes: FloatArray, amounts: FloatArray) -> FloatArray:
    """Return stakes after some capital was added to each hypothesis, evenly over its bets.

    Examples
    --------
    >>> np.exp(feed(np.full((1, 2), NOTHING), np.array([0.5]))).round(6)
    array([[0.25, 0.25]])
    """
    with np.errstate(divide="ignore"):
        return np.asarray(np.logaddexp(log_stakes, np.log(amounts / log_stakes.shape[-1])[..., None]))


@dataclass(frozen=True, eq=False)
class Settled:
    """What blocks made of stakes.

    Attributes
    ----------
    log_stakes
        The stakes after the last block; nothing where there was an alarm.
    alarms
        The block at which a stake reached the threshold, −1 where none did.
    log_totals
        The log of the stake of each hypothesis at its alarm, or after the last block.
    bets
        The bet that held most then.
    """

    log_stakes: FloatArray
    alarms: IntArray
    log_totals: FloatArray
    bets: IntArray


def settle(log_stakes: FloatArray, log_e: FloatArray, log_threshold: float) -> Settled:
    """Multiply stakes by what their bets pay, block after block, and look after each.

    Parameters
    ----------
    log_stakes
        By hypothesis and bet.
    log_e
        By hypothesis, block and bet.
    """
    # added one after the other, so that it does not matter how many blocks come at once
    held = np.concatenate((log_stakes[:, None], log_e), axis=1).cumsum(axis=1)[:, 1:]
    totals = log_totals(held)
    crossed = np.asarray(totals >= log_threshold)
    alarmed: BoolArray = np.asarray(crossed.any(axis=1))
    at = np.where(alarmed, crossed.argmax(axis=1), held.shape[1] - 1)
    rows = np.arange(len(held))
    after = np.where(alarmed[:, None], NOTHING, held[:, -1])
    return Settled(after, np.where(alarmed, at, -1), totals[rows, at], held[rows, at].argmax(axis=1))


def log_totals(held: FloatArray) -> FloatArray:
    """Return the logs of the sums over bets."""
    top = held.max(axis=-1)
    safe = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(safe + np.log(np.exp(held - np.asarray(safe)[..., None]).sum(axis=-1)))


@dataclass(frozen=True)
class Account:
    """What one hypothesis holds: plain data, to be stored by whoever keeps it.

    Attributes
    ----------
    valid_from
        The first day since 1970 whose records may be bet on: the context was fixed before.
    given
        The capital put in so far.
    """

    hypothesis: str
    valid_from: int
    log_stakes: tuple[float, ...]
    given: float = 0.0
    closed: End = NEVER
    alarmed: bool = False

    @property
    def stake(self) -> float:
        """The stake of the hypothesis."""
        return float(np.exp(log_totals(np.array(self.log_stakes))))


@dataclass(frozen=True)
class Block:
    """A closed block: what the bets of one hypothesis paid in one slot.

    Attributes
    ----------
    slot
        The name of the slot, for readers.
    first_day
        The day since 1970 on which the slot began.
    log_e
        The log of what each bet paid.
    tables
        For tables: x, n₁, m₁ and n of each stratum and cell, from which ``log_e`` was computed; else empty.
    """

    hypothesis: str
    slot: str
    first_day: int
    end: End
    log_e: tuple[float, ...]
    tables: tuple[tuple[int, int, int, int], ...] = ()


@dataclass(frozen=True)
class Feeding:
    """The capital that was staked on one day."""

    day: int
    amounts: Mapping[str, float]


@dataclass(frozen=True)
class Opening:
    """A hypothesis that is followed from a day on, with so many bets."""

    hypothesis: str
    valid_from: int
    bets: int


Entry: TypeAlias = Opening | Feeding | Block
"""What happened to the stakes, in the order in which it happened."""


def put_in(account: Account, amount: float) -> Account:
    """Return an account with more capital."""
    held = feed(np.array([account.log_stakes]), np.array([amount]))[0]
    return replace(account, log_stakes=tuple(held.tolist()), given=account.given + amount)


def close_block(account: Account, block: Block, log_threshold: float) -> Account:
    """Return an account after a block; the same account if it has seen the block before.

    Raises
    ------
    UsageError
        If the block began before the hypothesis was fixed: its records may be what made somebody think of it.
    """
    if block.end <= account.closed or account.hypothesis != block.hypothesis:
        return account
    if block.first_day < account.valid_from:
        raise UsageError(
            f"The block {block.slot} began before the hypothesis {account.hypothesis!r} was fixed (day "
            f"{account.valid_from}): a record that helped to choose a context cannot be bet on in it. Leave it out."
        )
    settled = settle(np.array([account.log_stakes]), np.array([[block.log_e]]), log_threshold)
    alarmed = account.alarmed or bool(settled.alarms[0] >= 0)
    return replace(account, log_stakes=tuple(settled.log_stakes[0].tolist()), closed=block.end, alarmed=alarmed)


def replay(entries: Iterable[Entry], alpha: float = 0.05) -> dict[str, Account]:
    """Return the accounts of all hypotheses after what is in a journal has happened to them.

    Entries that come twice change nothing, except for feedings, which must be there once.

    Examples
    --------
    >>> day = Feeding(1, {"a": 0.5})
    >>> block = Block("a", "first", 1, (1, 6, 0), (np.log(3), 0.0))
    >>> replay([Opening("a", 1, 2), day, block, block])["a"].stake
    1.0
    """
    held: dict[str, Account] = {}
    log_threshold = -np.log(alpha)
    for entry in entries:
        if isinstance(entry, Opening):
            known = held.get(entry.hypothesis)
            if known is None or known.valid_from < entry.valid_from:  # one that was dropped begins again with nothing
                held[entry.hypothesis] = Account(entry.hypothesis, entry.valid_from, (NOTHING,) * entry.bets)
        elif isinstance(entry, Feeding):
            for name, amount in entry.amounts.items():
                held[name] = put_in(held[name], amount)
        else:
            held[entry.hypothesis] = close_block(held[entry.hypothesis], entry, log_threshold)
    return held


def stakes_to_plain(log_stakes: FloatArray) -> Any:
    """Return log stakes as JSON can have them: null where there is nothing."""
    return [[v if np.isfinite(v) else None for v in row] for row in log_stakes.tolist()]


def stakes_from_plain(stored: Any, bets: int) -> FloatArray:
    """Return stored log stakes."""
    rows = [[NOTHING if v is None else v for v in row] for row in stored]
    return np.array(rows, dtype=float).reshape(len(rows), bets)
