"""Closing blocks: the slots of a day that are over, in all contexts at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairtest.monitoring.pairs import Form
from fairtest.monitoring.slots import HOURS, MOST_RECORDS, SlotRule, date_of
from fairtest.monitoring.stakes import Block, settle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fairtest.monitoring.book import Book
    from fairtest.monitoring.claims import Shown
    from fairtest.types import FloatArray, IntArray


@dataclass(frozen=True)
class Alarm:
    """A stake that has reached the threshold.

    Attributes
    ----------
    later
        The sums of blocks that were closed at once with the one that decided, and came after it.
    """

    row: int
    end: int
    slot: str
    later: FloatArray
    stake: float
    bet: int


@dataclass(frozen=True)
class Claimed:
    """A claim about a context that had alarmed."""

    row: int
    end: int
    slot: str
    later: FloatArray
    shown: Shown


@dataclass(frozen=True)
class Closer:
    """Closes the blocks of one book on one day.

    Attributes
    ----------
    seed
        What the permutations of a block are drawn from, besides its name.
    journal
        Is told of every block; None: of none, which is quicker.
    """

    book: Book
    day: int
    log_threshold: float
    seed: str = ""
    journal: Callable[[Block], None] | None = None

    def close(self, after: int, until: int) -> Iterator[Alarm | Claimed]:
        """Close the slots that end after an hour of the day, up to another hour."""
        book = self.book
        for width in np.unique(book.hours):
            ends = np.arange(after // width + 1, until // width + 1) * width
            ends = ends[ends > after]
            rows = np.flatnonzero((book.hours == width) & (book.first_day + book.days - 1 == self.day))
            if not rows.size or not ends.size:
                continue
            tally = book.tally if rows.size == len(book) else book.tally[rows]
            whole = tally.reshape(rows.size, HOURS // width, width, *tally.shape[2:])
            blocks = whole[:, ends // width - 1].sum(axis=2)
            book.early[rows] = 0
            yield from self._settle(rows, ends, blocks)
            hours = (ends[:, None] - np.arange(1, width + 1)).ravel()
            book.tally[np.ix_(rows, hours)] = 0

    def close_full(self, until: int) -> Iterator[Alarm | Claimed]:
        """Close, in the slots that are open, the strata that have as many records as a block may have.

        ``until`` is the hour of the last record.
        """
        book = self.book
        for width in np.unique(book.hours):
            rows = np.flatnonzero(book.hours == width)
            start = until // width * width
            # slots over several days have other quarters open, but those do not grow now
            sizes = book.tally[rows, start : start + width].sum(axis=(1, 3, 4))
            for at, stratum in np.argwhere(sizes >= MOST_RECORDS):
                row = rows[at : at + 1]
                book.early[row] += 1
                counts = np.zeros((1, 1, *book.tally.shape[2:]), dtype=np.int64)
                counts[0, 0, stratum] = book.tally[row[0], start : start + width, stratum].sum(axis=0)
                yield from self._settle(row, np.array([start + width]), counts, stratum=int(stratum))
                book.tally[row[0], start : start + width, stratum] = 0

    def _settle(
        self, rows: IntArray, ends: IntArray, blocks: IntArray, stratum: int | None = None
    ) -> Iterator[Alarm | Claimed]:
        """Settle the blocks of some rows, by row and slot."""
        book, pair = self.book, self.book.pair
        full = np.flatnonzero(blocks.any(axis=(0, 1, 3, 4)))  # strata without a record in any block change nothing
        if not full.size:
            return
        blocks = blocks[:, :, full]
        if pair.form is Form.TABLE:
            log_e, sums = pair.log_e_counts(blocks), pair.sums_of_counts(blocks)
        else:
            log_e, sums = self._judge_records(rows, ends, stratum)
        book.sums[rows] += sums.sum(axis=1)
        settled = settle(book.log_stakes[rows], log_e, self.log_threshold)
        book.log_stakes[rows] = settled.log_stakes
        if self.journal is not None:
            self._write(rows, ends, blocks, log_e)
        yield from self._claims(rows, ends, blocks, sums)
        for at in np.flatnonzero(settled.alarms >= 0):
            row, block = int(rows[at]), int(settled.alarms[at])
            total = float(np.exp(min(settled.log_totals[at], 700.0)))
            end, later = int(ends[block]), sums[at, block + 1 :].sum(axis=0)
            yield Alarm(row, end, self._slot(row, end), later, total, int(settled.bets[at]))

    def _claims(self, rows: IntArray, ends: IntArray, blocks: IntArray, sums: FloatArray) -> Iterator[Claimed]:
        book = self.book
        if book.pair.form is not Form.TABLE or not book.followings:
            return
        place = {int(row): at for at, row in enumerate(rows)}
        for row, following in list(book.followings.items()):
            if row not in place or following.since >= self.day:
                continue
            for k, end in enumerate(ends.tolist()):
                x, n1, m1, n = (a[:, following.cell] for a in book.pair.tables(blocks[place[row], k]))
                for shown in following.close_table(x, n1, m1, n, self.log_threshold):
                    later = sums[place[row], k + 1 :].sum(axis=0)
                    yield Claimed(row, end, self._slot(row, end), later, shown)

    def _judge_records(self, rows: IntArray, ends: IntArray, stratum: int | None) -> tuple[FloatArray, FloatArray]:
        """Return what bets pay, and the sums, in blocks of records that are kept one by one; they are let go."""
        book, pair = self.book, self.book.pair
        log_e = np.zeros((rows.size, ends.size, pair.bets))
        sums = np.zeros((rows.size, ends.size, len(pair.cells), 4))
        width = int(book.hours[rows[0]])
        place, slot = np.full(len(book), -1), np.full(HOURS, -1)
        place[rows] = np.arange(rows.size)
        for k, end in enumerate(ends.tolist()):
            slot[end - width : end] = k
        at, which = place[book.held.row], slot[book.held.hour]
        ours = (at >= 0) & (which >= 0)
        if stratum is not None:
            ours &= book.held.stratum == stratum
        chosen, key = book.held.take(ours), at[ours] * ends.size + which[ours]
        order = np.argsort(key, kind="stable")
        bounds = np.flatnonzero(np.diff(key[order])) + 1
        for block in np.split(order, bounds) if order.size else []:
            i, k = divmod(int(key[block[0]]), ends.size)
            seed = f"{self.seed}|{book.pair.name} | {book.contexts[rows[i]]}|{self._slot(int(rows[i]), int(ends[k]))}"
            part = chosen.take(block)
            log_e[i, k], sums[i, k] = pair.judge_records(part.protected, part.output, part.stratum, seed)
        book.held = book.held.take(~ours)
        return log_e, sums

    def _slot(self, row: int, end: int) -> str:
        book = self.book
        rule = SlotRule(int(book.hours[row]), int(book.days[row]))
        early = f"#{book.early[row]}" if book.early[row] else ""
        return rule.name(date_of(int(book.first_day[row])), end) + early

    def _write(self, rows: IntArray, ends: IntArray, blocks: IntArray, log_e: FloatArray) -> None:
        assert self.journal is not None
        book, names = self.book, self.book.names
        for k, end in enumerate(ends.tolist()):
            for at, row in enumerate(rows.tolist()):
                counts = blocks[at, k]
                if not counts.any():
                    continue
                tables: list[tuple[int, int, int, int]] = []
                if book.pair.form is Form.TABLE:
                    tables = [tuple(map(int, t)) for t in np.stack(book.pair.tables(counts), -1).reshape(-1, 4)]  # type: ignore[misc]
                # a block that ends early ends before the rest of its slot
                early = int(book.early[row]) - HOURS * 3600 if book.early[row] else 0
                self.journal(
                    Block(
                        names[row],
                        self._slot(row, end),
                        int(book.first_day[row]),
                        (self.day, end, early),
                        tuple(log_e[at, k].tolist()),
                        tuple(tables),
                    )
                )
