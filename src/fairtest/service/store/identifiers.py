"""Names of things: random where the service gives them, checked where users do."""

from __future__ import annotations

import re
import secrets

from fairtest.service.errors import BadRequest

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def make_id(prefix: str) -> str:
    """Return a new random id of 128 bits, such as ``run_3f…``."""
    return f"{prefix}_{secrets.token_hex(16)}"


def check_name(what: str, name: str) -> str:
    """Return a name that users gave, if it can stand in an address.

    Examples
    --------
    >>> check_name("stream", "loans-2026")
    'loans-2026'
    """
    if not NAME.fullmatch(name):
        raise BadRequest(
            f"The name of a {what} must be 1 to 64 letters, digits, '.', '_' or '-', and begin with a letter or digit. "
            f"Got {name[:80]!r} instead."
        )
    return name
