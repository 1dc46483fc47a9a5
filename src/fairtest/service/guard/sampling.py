"""Keeping a share of people, chosen by a keyed hash: the same ones wherever it is decided.

A person is kept where the first 64 bits of BLAKE2b of the id, under a key of the stream, are below the share. The key
is no secret of the service: clients have it too, so that those who are not kept need not be sent at all. Whoever is
kept at one per cent is kept at two, so a share may grow without anybody being lost.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

    from fairtest.service.guard.secrets import Secret


@dataclass(frozen=True)
class Sampling:
    """The share of people of a stream that is kept, and how they are chosen.

    Attributes
    ----------
    share
        Above 0, at most 1.
    key
        What the hash is keyed by.
    column
        The column that is hashed: the person, or the record where none is named.
    """

    share: float
    key: bytes
    column: str

    def keeps(self, value: str) -> bool:
        """Return whether somebody is kept.

        Examples
        --------
        >>> half = Sampling(0.5, bytes(32), "id")
        >>> sum(half.keeps(str(number)) for number in range(1000))
        491
        """
        hashed = hashlib.blake2b(value.encode(), digest_size=8, key=self.key).digest()
        return int.from_bytes(hashed, "big") < self.share * 2**64

    def of(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return the rows of those who are kept."""
        if self.column not in frame.columns:  # a late truth names its record, not the person
            return frame
        import polars as pl

        return frame.filter(pl.Series([self.keeps(value) for value in frame[self.column]], dtype=pl.Boolean))


def sampling_key(secret: Secret, project: str, stream: str) -> bytes:
    """Return the key by which people of a stream are chosen."""
    return secret.derive("sample", project, stream)
