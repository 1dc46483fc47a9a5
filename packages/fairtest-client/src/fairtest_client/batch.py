"""What is sent in one request, with the key that makes sending it twice harmless."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal
from uuid import uuid4

if TYPE_CHECKING:
    from pathlib import Path

    from fairtest_client.spool import OpenFile

Kind = Literal["records", "truths"]


@dataclass(eq=False)
class Batch:
    """Records that are sent together. Neither the key nor the bytes ever change.

    Attributes
    ----------
    kind
        What the lines are.
    key
        The idempotency key.
    rows
        How many lines.
    lines
        The body, one line of JSON a record; None where the file alone holds it.
    path
        The file that keeps it over a crash, if there is one.
    open_file
        The file while it is still the one records are written to: not yet flushed to the disk, not yet renamed.
    """

    kind: Kind
    key: str
    rows: int
    lines: bytes | None = field(repr=False)
    path: Path | None = None
    open_file: OpenFile | None = field(default=None, repr=False)

    def body(self) -> bytes:
        """Return what is sent."""
        if self.lines is not None:
            return self.lines
        assert self.path is not None, "a batch is in memory or in a file"
        return self.path.read_bytes()


@dataclass(eq=False)
class Draft:
    """A batch that is still being filled."""

    kind: Kind
    file: OpenFile | None = None
    key: str = field(default_factory=lambda: uuid4().hex)
    lines: bytearray = field(default_factory=bytearray)
    rows: int = 0
    since: float = field(default_factory=time.monotonic)

    def append(self, line: bytes) -> None:
        """Add a record: to the file first, so that a full disk leaves the draft as it was."""
        if self.file is not None:
            self.file.append(line)
        self.lines += line
        self.rows += 1

    def cut(self) -> Batch:
        """Return the batch that it has become."""
        return Batch(self.kind, self.key, self.rows, bytes(self.lines), open_file=self.file)
