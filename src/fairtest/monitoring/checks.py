"""What a watch is told, checked before anything is watched."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from fairtest.exceptions import FairTestWarning, InputError, argument, the, unknown_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtest.model.context import Context

NO_PERSON = (
    "No 'person' column is named, so people who come back count as new ones, and false alarms may be more frequent "
    "than promised: with 7 records of a person in a year, 11 to 31 % instead of 5 %."
)
SLOTS = ("auto", "day")


def check_share(name: str, value: Any) -> None:
    """Raise unless an argument is a share between 0 and 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1:
        raise InputError(f"{the(name)} must be a number between 0 and 1, both excluded. Got {value!r} instead.")


def check_slots(slots: str) -> bool:
    """Return whether blocks are whole days; raise if there are no such slots."""
    if slots not in SLOTS:
        raise InputError(f"{the('slots')} must be {' or '.join(map(repr, SLOTS))}. Got {slots!r} instead.")
    return slots == "day"


def check_columns(context: Context, allowed: Sequence[frozenset[str]]) -> None:
    """Raise if a context speaks of a column of which no context may speak here."""
    for column in context.columns:
        if not any(column in columns for columns in allowed):
            raise unknown_name("contextual column", column, sorted(frozenset().union(*allowed)))


def check_person(person: Any) -> str | None:
    """Return the person column; warn if none is named."""
    if person is None:
        say_what = "Name it (person='column'), or say that nobody comes twice (person=False)."
        warnings.warn(f"{NO_PERSON} {say_what}", FairTestWarning, stacklevel=3)
        return None
    if person is False:
        return None
    if not isinstance(person, str):
        raise InputError(f"{the('person')} must be the name of a column, or False. Got {person!r} instead.")
    return person


def check_errors(**profiled: str | None) -> dict[str, str]:
    """Return what is said of errors, if it can be: they are those against a truth."""
    said = {name: given for name, given in profiled.items() if given is not None}
    if said and "ground_truth" not in said:
        raise InputError(f"An error or a notion needs {argument('ground_truth')}: the column that has the truth.")
    return said
