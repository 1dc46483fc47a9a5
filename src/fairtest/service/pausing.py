"""Named points at which tests stop or kill a process. They do nothing otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

POINTS = (
    "append.staged",  # the file of a large batch is in place, no row names it
    "append.inside",  # rows of a group are written, not committed
    "append.committed",  # committed, nobody has been answered
    "seal.read",
    "seal.written",  # the file is in place, no manifest names it
    "seal.inside",
    "seal.committed",
    "swap.written",
    "swap.inside",
    "swap.committed",  # the manifest names the new file, the old one is still there
    "claim.committed",
    "spend.inside",
    "spend.committed",
    "watch.inside",
    "watch.committed",
    "send.sent",  # a message has left, nobody has noted it
)
hook: Callable[[str], None] | None = None
"""Set by tests; called with the name of each point that is passed."""


def pause(point: str) -> None:
    """Pass a named point."""
    if hook is not None:
        hook(point)
