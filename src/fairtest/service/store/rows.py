"""The columns that the service adds to records when it seals them, and how tombstones hide rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl
from sqlalchemy import select

from fairtest.service.store.tables import tombstone

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Connection

    from fairtest.service.guard.secrets import IdHasher

SEQ, ROW, RECEIVED, ID_HASH, PERSON_HASH = "__seq", "__row", "__received", "__id", "__person"


@dataclass(frozen=True)
class Tombstone:
    """Somebody or something to be forgotten: hides what arrived until batch ``upto``."""

    kind: str
    hash: bytes
    upto: int

    @property
    def short(self) -> int:
        """The first half of the hash, as sealed rows have it."""
        return int.from_bytes(self.hash[:8], "big", signed=True)


def hash_column(values: pl.Series, hasher: IdHasher) -> pl.Series:
    """Return short hashes of ids."""
    return pl.Series([None if value is None else hasher.short(value) for value in values], dtype=pl.Int64)


def load_tombstones(connection: Connection, project: str, stream: str, *, pending: bool = False) -> list[Tombstone]:
    """Return the tombstones of a stream; with ``pending``, those whose rows are still in segments."""
    chosen = (tombstone.c.project == project) & (tombstone.c.stream == stream)
    if pending:
        chosen &= tombstone.c.erased.is_(None)
    rows = connection.execute(select(tombstone.c.kind, tombstone.c.hash, tombstone.c.upto).where(chosen))
    return [Tombstone(row.kind, bytes.fromhex(row.hash), row.upto) for row in rows]


def hidden_rows(
    frame: pl.DataFrame, tombstones: Iterable[Tombstone], hasher: IdHasher, record_id: str, person: str | None
) -> pl.Series:
    """Return which rows tombstones hide.

    Rows are found by half of the hash; the few that are found are compared by all of it, so that nobody else's record
    goes by accident.
    """
    hidden = pl.Series("hidden", [False]).new_from_index(0, frame.height)
    for kind, column, name in (("record", ID_HASH, record_id), ("person", PERSON_HASH, person)):
        stones = {stone.short: stone for stone in sorted(tombstones, key=lambda s: s.upto) if stone.kind == kind}
        if not stones or name is None or column not in frame.columns:
            continue
        candidates = frame[column].is_in(list(stones)).fill_null(value=False).arg_true()
        sure = [
            place
            for place in candidates
            if frame[SEQ][place] <= stones[frame[column][place]].upto
            and hasher(frame[name][place]) == stones[frame[column][place]].hash
        ]
        if sure:
            hidden = hidden.scatter(sure, True)
    return hidden
