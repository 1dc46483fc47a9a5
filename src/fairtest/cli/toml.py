"""Configuration as TOML text: an audit that can be reviewed, kept beside the data, and run again."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Value = str | bool | int | float | list[str] | dict[str, str]


def toml_text(sections: Mapping[str, Mapping[str, Value]]) -> str:
    """Return tables of plain values as TOML; the name of a nested table has its parts quoted already.

    Examples
    --------
    >>> print(toml_text({"test": {"protected": ["sex"], "reference": {"sex": "Male"}, "max-depth": 3}}), end="")
    [test]
    protected = ["sex"]
    reference = { sex = "Male" }
    max-depth = 3
    """
    return "\n".join("\n".join(_table(name, values)) + "\n" for name, values in sections.items() if values)


def _table(name: str, values: Mapping[str, Value]) -> Iterator[str]:
    yield f"[{name}]"
    for key, value in values.items():
        yield f"{key_text(key)} = {_value(value)}"


def key_text(key: str) -> str:
    """Return a key, in quotes where it needs them.

    Examples
    --------
    >>> key_text("max-depth"), key_text("hours per week")
    ('max-depth', '"hours per week"')
    """
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _string(key)


def _value(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_string, value))}]"
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{key_text(k)} = {_string(v)}' for k, v in value.items())} }}"
    return repr(value)


def _string(text: str) -> str:
    """Return text in quotes: what JSON escapes, TOML does in the same way, and delete besides."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
