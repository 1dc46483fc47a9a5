"""Reports and contexts as JSON and back, exactly: the same numbers to the last bit, the same types.

Only FairTest's own frozen classes and enumerations are made again, from their fields; nothing that is stored can run.
"""

from __future__ import annotations

import datetime as dt
import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from importlib import import_module
from typing import Any

from fairtest.exceptions import InputError

CLASS, VALUE, PAIRS, DATE, NUMBER, LIST = "class", "value", "pairs", "date", "number", "list"


def packed(value: object) -> str:
    """Return a report, a context or anything made of the like as JSON text.

    Examples
    --------
    >>> from fairtest.model.context import Context, Op, Predicate
    >>> context = Context((Predicate("age", Op.AT_MOST, 0.1 + 0.2), Predicate("day", Op.IS, dt.date(2020, 2, 29))))
    >>> unpacked(packed(context)) == context
    True
    """
    return json.dumps(_plain(value), separators=(",", ":"), allow_nan=False)


def unpacked(text: str) -> Any:
    """Return what :func:`packed` was given."""
    return _made(json.loads(text))


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return {CLASS: _name(value), VALUE: value.value}
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {NUMBER: str(float(value))}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, list):
        return {LIST: [_plain(item) for item in value]}
    if isinstance(value, Mapping):
        return {PAIRS: [[_plain(key), _plain(item)] for key, item in value.items()]}
    if isinstance(value, dt.date):
        return {DATE: value.isoformat()}
    if is_dataclass(value) and _name(value).startswith("fairtest."):
        return {CLASS: _name(value), VALUE: {name: _plain(getattr(value, name)) for name in _given(value)}}
    if hasattr(value, "item"):  # a number of numpy
        return _plain(value.item())
    raise TypeError(f"{type(value).__name__} cannot be stored in a workspace")


def _made(stored: Any) -> Any:
    if isinstance(stored, list):
        return tuple(_made(item) for item in stored)
    if not isinstance(stored, dict):
        return stored
    if CLASS in stored:
        return _object(stored[CLASS], stored[VALUE])
    ((kind, value),) = stored.items()
    if kind == PAIRS:
        return {_made(key): _made(item) for key, item in value}
    if kind == LIST:
        return [_made(item) for item in value]
    return dt.date.fromisoformat(value) if kind == DATE else float(value)


def _object(name: str, value: Any) -> Any:
    module, _, own = name.rpartition(".")
    found = getattr(import_module(module), own, None) if module.startswith("fairtest.") else None
    if isinstance(found, type) and issubclass(found, Enum):
        return found(value)
    if not (isinstance(found, type) and is_dataclass(found)):
        raise InputError(f"The workspace holds a {name!r}, which this version of FairTest does not know.")
    if strange := sorted(set(value).difference(_given(found))):
        raise InputError(f"The workspace holds {name}.{strange[0]}, which this version of FairTest does not know.")
    return found(**{key: _made(item) for key, item in value.items()})


def _given(owner: Any) -> list[str]:
    """Return the fields that an object is made from."""
    return [f.name for f in fields(owner) if f.init]


def _name(value: object) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}"
