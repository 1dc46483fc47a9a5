"""The journal of a watch as plain data, and the check that replaying it gives the stakes that the watch holds.

A block of tables is stored by its counts alone: what its bets paid follows from them. Of outputs that are numbers the
counts do not say enough, and what the bets paid is stored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairtest.monitoring.stakes import Block, Feeding, Opening, replay, stakes_from_plain
from fairtest.monitoring.state import check_version, context_from_plain, learned_from_plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from fairtest.monitoring.pairs import Pair
    from fairtest.monitoring.stakes import Entry

CLOSE = 1e-6
"""Logs of stakes that differ by less are the same: sums were added up in another order."""


def entries_to_plain(entries: Sequence[Entry]) -> dict[str, Any]:
    """Return entries as JSON can have them; the names of hypotheses, which are long, are there once."""
    place: dict[str, int] = {}

    def number(name: str) -> int:
        return place.setdefault(name, len(place))

    plain: list[list[Any]] = []
    for entry in entries:
        if isinstance(entry, Opening):
            plain.append(["open", number(entry.hypothesis), entry.valid_from, entry.bets])
        elif isinstance(entry, Feeding):
            plain.append(["feed", entry.day, [[number(name), amount] for name, amount in entry.amounts.items()]])
        else:
            paid = [] if entry.tables else list(entry.log_e)
            plain.append(
                ["block", number(entry.hypothesis), entry.slot, entry.first_day, list(entry.end), paid,
                 [count for table in entry.tables for count in table]]
            )  # fmt: skip
    return {"names": list(place), "entries": plain}


def entries_from_plain(stored: Mapping[str, Any], pairs: Sequence[Pair]) -> Iterator[Entry]:
    """Give stored entries in their order; what bets paid on tables is computed from the tables."""
    names, by_name = stored["names"], {pair.name: pair for pair in pairs}
    for kind, *rest in stored["entries"]:
        if kind == "open":
            number, day, bets = rest
            yield Opening(names[number], day, bets)
        elif kind == "feed":
            day, amounts = rest
            yield Feeding(day, {names[number]: amount for number, amount in amounts})
        else:
            number, slot, first_day, end, paid, counts = rest
            name = names[number]
            log_e = tuple(paid) if not counts else _log_e(by_name[name.partition(" | ")[0]], counts)
            yield Block(name, slot, first_day, tuple(end), log_e)


def _log_e(pair: Pair, counts: list[int]) -> tuple[float, ...]:
    tables = np.array(counts).reshape(-1, len(pair.cells), 4)
    x, n1, m1, n = (tables[..., at] for at in range(4))
    return tuple(pair.table_bets.log_e(x, n1, m1, n).sum(axis=0).ravel().tolist())


def differences(state: Mapping[str, Any], journal: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the hypotheses of a stored watch whose stakes are not those that its journal gives; none is right."""
    check_version(state)
    pairs = learned_from_plain(state["learned"]).pairs
    life = state["life"]
    entries = (entry for stored in journal for entry in entries_from_plain(stored, pairs))
    accounts = replay(entries, life["terms"]["alpha"])
    wrong = []
    for book, pair in zip(life["books"], pairs, strict=True):
        held = stakes_from_plain(book["log_stakes"], pair.bets)
        for context, log_stakes in zip(book["contexts"], held, strict=True):
            name = f"{pair.name} | {context_from_plain(context)}"
            account = accounts.get(name)
            if account is None or not np.allclose(account.log_stakes, log_stakes, rtol=0, atol=CLOSE):
                wrong.append(name)
    return wrong
