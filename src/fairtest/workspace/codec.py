"""Reports and contexts as JSON and back, exactly: the same numbers to the last bit, the same types.

Only the classes of :mod:`~fairtest.workspace.tags` are made again, from their fields; nothing that is stored can run.

Text of version 2 is ``{"schema": 2, "value": …}``, and classes go by their tags. Version 1 had the value alone, and
classes by the paths of their modules (:mod:`~fairtest.workspace.legacy`); it is still read.
"""

from __future__ import annotations

import datetime as dt
import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from fairtest.exceptions import InputError
from fairtest.workspace.legacy import TAG_OF_PATH

SCHEMA = 2
CLASS, VALUE, PAIRS, DATE, NUMBER, LIST = "class", "value", "pairs", "date", "number", "list"


def pack(value: object) -> str:
    """Return a report, a context or anything made of the like as JSON text.

    Examples
    --------
    >>> from fairtest.model.context import Context, Op, Predicate
    >>> context = Context((Predicate("age", Op.AT_MOST, 0.1 + 0.2), Predicate("day", Op.IS, dt.date(2020, 2, 29))))
    >>> unpack(pack(context)) == context
    True
    >>> pack(Op.AT_MOST)
    '{"schema":2,"value":{"class":"op","value":"<="}}'
    """
    return json.dumps({"schema": SCHEMA, "value": _to_plain(value)}, separators=(",", ":"), allow_nan=False)


def unpack(text: str) -> Any:
    """Return what :func:`pack` was given, in this version or an earlier one."""
    stored = json.loads(text)
    # no value of version 1 has this key: its objects are {"class", "value"} or have one of the other words alone
    if not (isinstance(stored, dict) and "schema" in stored):
        return _from_plain(stored)
    if stored["schema"] > SCHEMA:
        raise InputError(
            f"The workspace holds what a newer FairTest stored (schema {stored['schema']}; this one knows {SCHEMA}). "
            "Update FairTest to use it."
        )
    return _from_plain(stored["value"])


def _to_plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return {CLASS: _tag_of(value), VALUE: value.value}
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {NUMBER: str(float(value))}
    if isinstance(value, tuple):
        return [_to_plain(item) for item in value]
    if isinstance(value, list):
        return {LIST: [_to_plain(item) for item in value]}
    if isinstance(value, Mapping):
        return {PAIRS: [[_to_plain(key), _to_plain(item)] for key, item in value.items()]}
    if isinstance(value, dt.date):
        return {DATE: value.isoformat()}
    if is_dataclass(value):
        return {CLASS: _tag_of(value), VALUE: {name: _to_plain(getattr(value, name)) for name in _made_from(value)}}
    if hasattr(value, "item"):  # a number of numpy
        return _to_plain(value.item())
    raise TypeError(f"{type(value).__name__} cannot be stored in a workspace")


def _from_plain(stored: Any) -> Any:
    if isinstance(stored, list):
        return tuple(_from_plain(item) for item in stored)
    if not isinstance(stored, dict):
        return stored
    if CLASS in stored:
        return _make(stored[CLASS], stored[VALUE])
    ((kind, value),) = stored.items()
    if kind == PAIRS:
        return {_from_plain(key): _from_plain(item) for key, item in value}
    if kind == LIST:
        return [_from_plain(item) for item in value]
    return dt.date.fromisoformat(value) if kind == DATE else float(value)


def _tag_of(value: object) -> str:
    from fairtest.workspace.tags import TAG_OF  # loads the library, which those who read a status need not

    if type(value) not in TAG_OF:
        raise TypeError(f"{type(value).__name__} cannot be stored in a workspace: it has no tag")
    return TAG_OF[type(value)]


def _make(name: str, value: Any) -> Any:
    """Return the object of a class by its tag, or by its path in version 1."""
    from fairtest.workspace.tags import RENAMED_FIELDS, TAGS

    tag = TAG_OF_PATH.get(name, name)
    if tag not in TAGS:
        raise InputError(f"The workspace holds a {name!r}, which this version of FairTest does not know.")
    made = TAGS[tag]
    if issubclass(made, Enum):
        return made(value)
    renamed = RENAMED_FIELDS.get(tag, {})
    given = {renamed.get(key, key): item for key, item in value.items()}
    given.pop(None, None)
    if unknown := sorted(set(given).difference(_made_from(made))):
        raise InputError(f"The workspace holds {tag}.{unknown[0]}, which this version of FairTest does not know.")
    return made(**{key: _from_plain(item) for key, item in given.items()})


def _made_from(owner: Any) -> list[str]:
    """Return the fields that an object is made from."""
    return [f.name for f in fields(owner) if f.init]
