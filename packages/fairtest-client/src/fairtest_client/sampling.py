"""Sending a share of people only: those whom the service would keep."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fairtest_client.errors import InvalidSetting

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Sample:
    """Which people a stream keeps, as :meth:`Client.ask_sample` has it from the service.

    A person is kept where the first 64 bits of a keyed hash of the id are below the share: the same people in every
    process, and in the service.

    Attributes
    ----------
    share
        The share of people that is kept, above 0 and at most 1.
    column
        The column that names the person, or the record where none does.
    key
        What the hash is keyed by: up to 64 bytes in hexadecimal digits.
    """

    share: float
    column: str
    key: str = field(repr=False)

    def __post_init__(self) -> None:
        if isinstance(self.share, bool) or not isinstance(self.share, int | float) or not 0 < self.share <= 1:
            raise InvalidSetting(f"The 'share' of Sample must be above 0 and at most 1. Got {self.share!r}.")
        try:
            length = len(bytes.fromhex(self.key))
        except (TypeError, ValueError):
            length = 65
        if length > 64:
            raise InvalidSetting(
                "The 'key' of Sample must be at most 64 bytes in hexadecimal digits. Got something else."
            )

    def keeps(self, record: Mapping[str, Any]) -> bool:
        """Return whether a record is sent. One that does not name its person is: the service says what is wrong.

        Examples
        --------
        >>> half = Sample(0.5, "id", "00" * 32)
        >>> sum(half.keeps({"id": str(number)}) for number in range(1000))
        491
        """
        value = record.get(self.column)
        if self.share >= 1 or not isinstance(value, str):
            return True
        hashed = hashlib.blake2b(value.encode(), digest_size=8, key=bytes.fromhex(self.key)).digest()
        return int.from_bytes(hashed, "big") < self.share * 2**64
