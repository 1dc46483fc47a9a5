"""What a key may do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtest.service.errors import BadRequest

if TYPE_CHECKING:
    from collections.abc import Iterable

SCOPES = ("ingest", "read", "manage", "metrics")


def check_scopes(names: Iterable[str]) -> frozenset[str]:
    """Return scopes, if all of them exist and there is at least one."""
    scopes = frozenset(names)
    if unknown := sorted(scopes.difference(SCOPES)):
        raise BadRequest(f"There is no scope {unknown[0]!r}. Scopes: {', '.join(SCOPES)}.")
    if not scopes:
        raise BadRequest(f"A key needs at least one scope. Scopes: {', '.join(SCOPES)}.")
    return scopes


def allows(scopes: Iterable[str], needed: str) -> bool:
    """Return whether scopes suffice for what needs one of them; who manages may read.

    Examples
    --------
    >>> allows({"manage"}, "read"), allows({"read"}, "ingest")
    (True, False)
    """
    scopes = set(scopes)
    return needed in scopes or (needed == "read" and "manage" in scopes)
