"""Plain data as few bytes: what a watch holds is thousands of numbers, stored anew with each of its steps.

Lists of numbers become arrays, of as many bytes a number as it needs, with the first bytes of all numbers together,
then the second, and so on: signs, exponents and leading zeros of neighbours are alike, which zlib finds. The rest is
MessagePack. Numbers come back as they were, to the last bit. What earlier versions stored is packed JSON; it is still
read, and becomes the new form with the next step.
"""

from __future__ import annotations

import json
import struct
import zlib
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MARK = b"FTW1"
"""What begins the new form; packed JSON begins with zlib's own mark."""
NUMBERS = 1
"""The code of an array among MessagePack's extensions."""
FEWEST = 8
"""A list of fewer numbers stays a list."""
INTEGERS = ("i1", "i2", "i4", "i8")


def pack_plain(plain: Mapping[str, Any]) -> bytes:
    """Return data as JSON can have it, packed."""
    return MARK + zlib.compress(msgspec.msgpack.encode(_with_arrays(plain)), 1)


def unpack_plain(packed: bytes) -> dict[str, Any]:
    """Return data that was packed, in this form or in the one before.

    Examples
    --------
    >>> unpack_plain(pack_plain({"sums": [0.1, 2.0] * 5, "counts": [[1, 2], [3, 70000]] * 3, "name": "all"}))["counts"]
    [[1, 2], [3, 70000], [1, 2], [3, 70000], [1, 2], [3, 70000]]
    """
    found: dict[str, Any]
    if packed.startswith(MARK):
        found = msgspec.msgpack.decode(zlib.decompress(packed[len(MARK) :]), ext_hook=_read_array)
    else:
        found = json.loads(zlib.decompress(packed))
    return found


def _with_arrays(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(name): _with_arrays(each) for name, each in value.items()}  # as in JSON, names are text
    if isinstance(value, list | tuple):
        return _as_array(value) or [_with_arrays(each) for each in value]
    return value


def _as_array(values: Sequence[Any]) -> msgspec.msgpack.Ext | None:
    """Return a list of numbers, or a table of them, as an array; None if it is neither."""
    rows = [values] if not (values and isinstance(values[0], list | tuple)) else values
    width = len(rows[0]) if isinstance(rows[0], list | tuple) else 0
    if not width or any(not isinstance(row, list | tuple) or len(row) != width for row in rows):
        return None
    if len(rows) * width < FEWEST:
        return None
    kinds = {type(each) for row in rows for each in row}
    if kinds not in ({int}, {float}):
        return None
    kind = "f8" if kinds == {float} else _smallest(min(map(min, rows)), max(map(max, rows)))
    if kind is None:
        return None
    columns = 0 if rows[0] is values else width
    plain = np.asarray(rows, f"<{kind}").tobytes()
    planes = np.frombuffer(plain, np.uint8).reshape(-1, int(kind[1])).T.tobytes()
    return msgspec.msgpack.Ext(NUMBERS, kind.encode() + struct.pack("<I", columns) + planes)


def _smallest(low: int, high: int) -> str | None:
    """Return the smallest kind of integers that has both; None where none has."""
    for kind in INTEGERS:
        limits = np.iinfo(kind)
        if limits.min <= low and high <= limits.max:
            return kind
    return None


def _read_array(code: int, data: memoryview) -> Any:
    if code != NUMBERS:
        raise ValueError(f"no such array: {code}")
    kind = bytes(data[:2]).decode()
    (columns,) = struct.unpack_from("<I", data, 2)
    planes = np.frombuffer(data[6:], np.uint8).reshape(int(kind[1]), -1)
    numbers = np.frombuffer(planes.T.tobytes(), f"<{kind}")
    return (numbers.reshape(-1, columns) if columns else numbers).tolist()
