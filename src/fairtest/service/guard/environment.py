"""Passwords come by the environment, or by a file that it names: never by the command line, where others see them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from fairtest.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping


def read_password(name: str, given: Mapping[str, str] | None = None) -> str:
    """Return the password that a variable holds, or that is in the file which ``NAME_FILE`` names; empty for none.

    Examples
    --------
    >>> read_password("FAIRTEST_SMTP_PASSWORD", {"FAIRTEST_SMTP_PASSWORD": "from a vault"})
    'from a vault'
    """
    found = os.environ if given is None else given
    file = found.get(f"{name}_FILE")
    if not file:
        return found.get(name, "")
    try:
        return Path(file).read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{name}_FILE names {file}, which cannot be read: {type(error).__name__}.") from None
