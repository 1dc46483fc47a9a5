"""The settings of a client, checked once."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairtest_client.errors import InvalidSetting
from fairtest_client.spool import check_spool
from fairtest_client.transport import Address

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable

    from fairtest_client.errors import Rejection

BUFFER, SPOOLED_BUFFER = 50_000, 5_000_000


@dataclass(frozen=True)
class Settings:
    """What :class:`~fairtest_client.Client` was given."""

    address: Address
    key: str = field(repr=False)
    batch: int
    every: float
    buffer: int
    wait: float
    timeout: float
    close_within: float
    spool: Path | None
    on_rejected: Callable[[Rejection], object] | None
    tls: ssl.SSLContext | None

    @classmethod
    def check(cls, url: str, key: str, *, allow_http: bool, buffer: int | None, spool: Any, **given: Any) -> Settings:
        """Return the settings, or raise an error that names the one that is wrong."""
        address = Address.parse(url, allow_http=allow_http)
        if not isinstance(key, str) or not re.fullmatch(r"[!-~]+", key):  # the message must not print it
            raise InvalidSetting(
                "The 'key' of Client must be a key of the service, which has no spaces. Got something else."
            )
        if given["on_rejected"] is not None and not callable(given["on_rejected"]):
            raise InvalidSetting(f"The 'on_rejected' of Client must be a function. Got {given['on_rejected']!r}.")
        _check_number("batch", given["batch"], int, 1, 50_000)
        _check_number("every", given["every"], float, 0.001, 3600)
        _check_number("wait", given["wait"], float, 0, 3600)
        _check_number("timeout", given["timeout"], float, 0.001, 3600)
        _check_number("close_within", given["close_within"], float, 0, 3600)
        folder = None
        if spool is not None:
            folder = Path(spool)
            check_spool(folder)
        room = buffer if buffer is not None else BUFFER if folder is None else SPOOLED_BUFFER
        _check_number("buffer", room, int, 1, 1_000_000_000)
        if room < given["batch"]:
            raise InvalidSetting(
                f"The 'buffer' of Client must hold a batch of {given['batch']:,} records. Got {room:,}."
            )
        return cls(address, key, buffer=room, spool=folder, **given)


def _check_number(name: str, value: Any, kind: type, least: float, most: float) -> None:
    types = (int,) if kind is int else (int, float)
    if (
        isinstance(value, bool)
        or not isinstance(value, types)
        or not math.isfinite(value)
        or not least <= value <= most
    ):
        what = "a whole number" if kind is int else "a number"
        raise InvalidSetting(f"The {name!r} of Client must be {what} from {least:g} to {most:,g}. Got {value!r}.")
