"""Records as lines of JSON.

A record is written when it is sent, so that what the application does with its objects afterwards changes nothing, and
a value that cannot be written is an error where it came from.
"""

from __future__ import annotations

import json
import math
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from typing import TYPE_CHECKING, Any
from uuid import UUID

from fairtest_client.errors import InvalidRecord

if TYPE_CHECKING:
    from collections.abc import Mapping

_MISSING = {"NAType", "NaTType"}  # pandas' own words for a missing value; the client must not import pandas


def _plain(value: Any) -> Any:
    """Return what JSON has for a value that it does not know."""
    if type(value).__name__ in _MISSING:
        return None
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, Enum):
        return value.value
    if callable(getattr(value, "item", None)) and getattr(value, "ndim", None) == 0:  # a number of numpy
        return value.item()
    raise TypeError


_encoder = json.JSONEncoder(allow_nan=False, ensure_ascii=False, separators=(",", ":"), default=_plain)


def encode_record(record: Mapping[str, Any]) -> bytes:
    r"""Return a record as a line of JSON. NaN, as numpy and pandas have it for a missing value, becomes null.

    Examples
    --------
    >>> encode_record({"id": "a-1", "age": float("nan"), "granted": True})
    b'{"id":"a-1","age":null,"granted":true}\n'
    """
    if not record:
        raise InvalidRecord("A record must have at least one column. Got none.")
    try:
        return _encoder.encode(record).encode() + b"\n"
    except (TypeError, ValueError, RecursionError):  # the slow way finds the column
        return _encoder.encode({name: _checked(name, value) for name, value in record.items()}).encode() + b"\n"


def _checked(name: object, value: Any) -> Any:
    if not isinstance(name, str):
        raise InvalidRecord(f"The names of columns must be strings. Got {name!r}.")
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise InvalidRecord(f"The name of column {name!r} is no valid text: {error.reason}.") from error
    while not isinstance(value, str | int | float | bool | dict | list | tuple | None):
        try:
            value = _plain(value)
        except TypeError:
            raise InvalidRecord(
                f"Column {name!r} must hold a string, a number, true or false, a date or nothing. "
                f"Got {type(value).__name__}."
            ) from None
    if isinstance(value, float) and math.isnan(value):
        return None
    try:
        _encoder.encode(value).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidRecord(
            f"Column {name!r} cannot be written as JSON: {error}. Got {type(value).__name__}."
        ) from error
    return value
