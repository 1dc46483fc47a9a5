"""What the application has sent and the service has not yet taken. Any thread may call any method."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from typing import TYPE_CHECKING

from fairtest_client.batch import Batch, Draft, Kind
from fairtest_client.errors import BufferFull, Closed, InvalidRecord

if TYPE_CHECKING:
    from fairtest_client.spool import Spool

LARGEST_BATCH = 4_000_000
"""Bytes; the service takes 16 MB."""


class Buffer:
    """Records in drafts, drafts cut into batches, batches in line.

    Parameters
    ----------
    limit
        Records it holds at most.
    batch
        Records at which a draft is cut.
    every
        Seconds after which a draft is cut, whatever it holds.
    spool
        What keeps records over a crash.
    """

    def __init__(self, limit: int, batch: int, every: float, spool: Spool | None) -> None:
        self._limit, self._batch, self._every, self._spool = limit, batch, every, spool
        self._changed = threading.Condition()
        self._drafts: dict[Kind, Draft] = {}
        self._line: deque[Batch] = deque()
        self._rows = 0
        self._deadline: float | None = None  # set when it is closed: after it, nothing more is tried

    def add(self, kind: Kind, line: bytes, wait: float) -> None:
        """Take a record; wait while there is no room.

        Raises
        ------
        BufferFull
            There was no room for as long as the call may wait.
        """
        if len(line) > LARGEST_BATCH:
            raise InvalidRecord(f"A record must have at most {LARGEST_BATCH:,} bytes as JSON. Got {len(line):,}.")
        with self._changed:
            if not self._changed.wait_for(lambda: self._has_room() or self._deadline is not None, wait):
                raise BufferFull(
                    f"The buffer has been full for {wait:g} s: {self._limit:,} records wait for the service. The "
                    "record was not taken. Look at why the service takes none, or raise 'buffer' or 'wait' of Client."
                )
            if self._deadline is not None:
                raise Closed("The stream has been closed. Make another Client to send more.")
            draft = self._drafts.get(kind)
            if draft is not None and len(draft.lines) + len(line) > LARGEST_BATCH:
                self._cut(kind)
                draft = None
            if draft is None:
                draft = self._begin(kind)
            draft.append(line)
            self._rows += 1
            if draft.rows >= self._batch:
                self._cut(kind)
            self._changed.notify_all()

    def _begin(self, kind: Kind) -> Draft:
        draft = Draft(kind)
        if self._spool is not None:
            draft.file = self._spool.begin(kind, draft.key)
        self._drafts[kind] = draft
        return draft

    def _has_room(self) -> bool:
        return self._rows < self._limit

    def _cut(self, kind: Kind) -> None:
        draft = self._drafts.pop(kind)
        if draft.rows:
            self._line.append(draft.cut())
        elif draft.file is not None:  # its first record met a full disk
            os.close(draft.file.descriptor)
            draft.file.path.unlink(missing_ok=True)

    def _cut_old(self, age: float) -> None:
        now = time.monotonic()
        for kind, draft in list(self._drafts.items()):
            if now - draft.since >= age:
                self._cut(kind)

    def _next_cut(self) -> float | None:
        """Return the seconds until a draft is old enough."""
        ages = [draft.since + self._every - time.monotonic() for draft in self._drafts.values()]
        return max(min(ages), 0.0) if ages else None

    def take_over(self, batches: list[Batch]) -> None:
        """Put batches of a process that has ended before everything else."""
        with self._changed:
            self._line.extendleft(reversed(batches))
            self._rows += sum(batch.rows for batch in batches)
            self._changed.notify_all()

    def first(self) -> Batch | None:
        """Wait for a batch and return it; it stays in line until it is :meth:`done`.

        None says that the buffer is closed and nothing is left.
        """
        with self._changed:
            while True:
                self._cut_old(self._every if self._deadline is None else 0.0)
                if self._line:
                    batch = self._line[0]
                    break
                if self._deadline is not None:
                    return None
                self._changed.wait(self._next_cut())
        self.settle(batch)
        return batch

    def settle(self, batch: Batch) -> None:
        """Flush a batch to the disk, if there is a spool: before it may be sent."""
        if self._spool is not None:
            self._spool.settle(batch)

    def done(self, batch: Batch) -> None:
        """Take a batch out of the line."""
        with self._changed:
            self._line.remove(batch)
            self._rows -= batch.rows
            self._changed.notify_all()

    def pause(self, seconds: float) -> bool:
        """Wait between two tries, and flush what is cut meanwhile; False where the time to close is over."""
        until = time.monotonic() + seconds
        while True:
            with self._changed:
                if self._deadline is not None:
                    until = min(until, self._deadline)
                if (left := until - time.monotonic()) <= 0:
                    return self._deadline is None or time.monotonic() < self._deadline
                if self._spool is not None:
                    self._cut_old(self._every)
                waiting = [batch for batch in self._line if batch.open_file is not None]
                if not waiting:
                    soon = self._next_cut() if self._spool is not None else None
                    self._changed.wait(left if soon is None else min(left, soon))
            for batch in waiting:
                self.settle(batch)

    def time_left(self) -> float | None:
        """Return the seconds until nothing more is tried; None while it is open."""
        with self._changed:
            return None if self._deadline is None else self._deadline - time.monotonic()

    def flush(self, seconds: float) -> int:
        """Cut what there is, wait until all of it is gone, and return how many records are left."""
        with self._changed:
            self._cut_old(0.0)
            self._changed.notify_all()
            mine = list(self._line)
            self._changed.wait_for(lambda: not any(batch in self._line for batch in mine), seconds)
            return sum(batch.rows for batch in mine if batch in self._line)

    def close(self, seconds: float) -> None:
        """Take no more, and let the sender try for so long."""
        with self._changed:
            if self._deadline is None:
                self._deadline = time.monotonic() + seconds
            self._cut_old(0.0)
            self._changed.notify_all()

    def left(self) -> tuple[int, int, int]:
        """Return the records and batches that are unsent, and how many of the records no file keeps."""
        with self._changed:
            lost = sum(batch.rows for batch in self._line if batch.path is None and batch.open_file is None)
            lost += sum(draft.rows for draft in self._drafts.values() if draft.file is None)
            return self._rows, len(self._line) + len(self._drafts), lost

    def close_files(self) -> None:
        """In a process that was forked: close the copies of the files, which stay with the parent."""
        files = [draft.file for draft in self._drafts.values()] + [batch.open_file for batch in self._line]
        for file in files:
            if file is not None:
                os.close(file.descriptor)
