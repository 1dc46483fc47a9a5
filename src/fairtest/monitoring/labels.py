"""Labels: an output of which each record has several, such as tags; each label is watched as an output of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairtest.data.reading.frames import column_names
from fairtest.data.reading.stream import add_labels, count_labels
from fairtest.data.selection import row_count
from fairtest.exceptions import InputError, argument

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST = 35
"""So many labels are watched: those that most earlier records have."""
FEWEST = 10
"""A label that fewer earlier records have, or have not, is not watched."""


@dataclass(frozen=True)
class LabelColumns:
    """A column of labels, and the columns that are made of it.

    Attributes
    ----------
    columns
        For each label that is watched the name of its column.
    """

    name: str
    separator: str
    columns: Mapping[str, str]

    @classmethod
    def learn(cls, history: Any, outputs: tuple[str, ...], separator: str) -> LabelColumns:
        """Return the labels that earlier records have."""
        if len(outputs) != 1:
            raise InputError(f"A separator goes with one column of labels. {argument('output')} names {len(outputs)}.")
        counts = count_labels(history, outputs[0], separator)
        taken, total = set(column_names(history)), row_count(history)
        usual = [label for label, many in counts.items() if FEWEST <= many <= total - FEWEST][:MOST]
        if not usual:
            raise InputError(f"No label in {outputs[0]!r} occurs in {FEWEST} earlier records. Wait for more of them.")
        columns = {label: f"{outputs[0]}: {label}" if label in taken else label for label in usual}
        return cls(outputs[0], separator, columns)

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of the outputs that are watched."""
        return tuple(self.columns.values())

    def expand(self, frame: Any) -> Any:
        """Return a frame with a column for each label."""
        return add_labels(frame, self.name, self.separator, self.columns)

    def to_plain(self) -> dict[str, Any]:
        """Return what can be stored as JSON."""
        return {"name": self.name, "separator": self.separator, "columns": dict(self.columns)}
