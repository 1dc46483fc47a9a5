"""Some of the rows of a table, wherever they are: what engines map their functions over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection

    from fairtest.data.table import Table

__all__ = ["Partition"]


class Partition(Protocol):
    """Consecutive rows of a table. It can be pickled, and is small: it says where the rows are, not what they are."""

    @property
    def start(self) -> int:
        """The position of its first row in the whole table."""

    @property
    def n_rows(self) -> int:
        """How many rows it has."""

    def table(self, columns: Collection[str]) -> Table:
        """Return its rows with these columns, in the levels, and so the codes, of the whole table."""
