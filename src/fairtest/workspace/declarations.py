"""What a user says about a file and its columns, as a workspace keeps it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairtest.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

READING = ("person", "weights", "counts", "missing", "delimiter", "encoding", "decimal", "engine", "memory")
"""How the data is read: part of what the people are, and fixed with the workspace."""
KINDS = ("categorical", "numeric", "ordered")
ROLES = ("favourable", "reference")
WORDS = ("labels", "people", "outcome")
DECLARATIONS = (*KINDS, *ROLES, *WORDS)
"""What is said about columns: it changes what is asked, never who is in which set."""


def split_options(options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return how the data is read and what is declared, out of the options of a :class:`DataSource`."""
    reading = {name: _plain(options[name]) for name in READING if options.get(name)}
    if not isinstance(reading.get("engine", ""), str):
        raise InputError("A workspace outlasts the process: its 'engine' must be a name or an address, not an object.")
    return reading, merge_declarations({}, {name: options.get(name) for name in DECLARATIONS})


def merge_declarations(before: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Return declarations with more of them on top: what is said last about a column holds.

    Examples
    --------
    >>> merge_declarations({"numeric": ["age", "zip"], "reference": {"sex": "m"}}, {"categorical": ["zip"]})
    {'numeric': ['age'], 'reference': {'sex': 'm'}, 'categorical': ['zip']}
    """
    if unknown := set(more) - set(DECLARATIONS):
        raise InputError(f"{sorted(unknown)[0]!r} is no declaration. There are: {', '.join(DECLARATIONS)}.")
    result = {name: _plain(value) for name, value in before.items()}
    spoken_of = {column for name in KINDS for column in more.get(name) or ()}
    for name in KINDS:
        result[name] = _without(result.get(name) or (), spoken_of)
    for name, value in more.items():
        if value:
            result[name] = _join(result.get(name) or (), _plain(value))
    return {name: value for name, value in result.items() if value}


def _plain(value: Any) -> Any:
    """Return lists and dictionaries in place of whatever sequences and mappings were given."""
    if isinstance(value, str) or value is None or not hasattr(value, "__iter__"):
        return value
    if hasattr(value, "items"):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value]


def _without(columns: Any, gone: set[str]) -> Any:
    if isinstance(columns, dict):
        return {column: value for column, value in columns.items() if column not in gone}
    return [column for column in columns if column not in gone]


def _join(before: Any, more: Any) -> Any:
    if isinstance(more, dict):
        return {**before, **more} if isinstance(before, dict) else more
    return more if isinstance(more, str) else [*before, *more]
