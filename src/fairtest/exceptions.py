"""The errors FairTest raises on purpose.

::

    FairTestError
     ├── InputError        (ValueError)    an argument, a column or a file is not what it must be
     ├── UsageError        (RuntimeError)  calls in an order that cannot work, such as test before train
     └── BudgetExhausted   (RuntimeError)  every test set of the data source has been spent

    FairTestWarning        (UserWarning)   what was asked will be done, and there is something to know about it
"""

from __future__ import annotations

from contextlib import contextmanager
from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class FairTestError(Exception):
    """Base class of every error that FairTest raises on purpose."""


class InputError(FairTestError, ValueError):
    """An argument, a column or a file is not what it must be; the message says what would be.

    Attributes
    ----------
    brief
        The same without lists, where there is less room; empty where it is the same.
    unknown
        The name that does not exist, where that is what is wrong.
    """

    brief: str = ""
    unknown: str = ""


class UsageError(FairTestError, RuntimeError):
    """The calls came in an order that cannot work."""


class BudgetExhausted(FairTestError, RuntimeError):  # noqa: N818 - the name is part of the interface
    """Every test set of the data source has been spent."""


class FairTestWarning(UserWarning):
    """What was asked will be done, and there is something to know about it."""


def unknown_name(what: str, name: object, known: Iterable[str], *, hint: str = "") -> InputError:
    """Return the error for a name that does not exist, with the nearest ones that do.

    Examples
    --------
    >>> print(unknown_name("column", "gendr", ["gender", "age"]))
    There is no column 'gendr'. Did you mean 'gender'? Columns: 'gender', 'age'.
    """
    known = list(known)
    near = get_close_matches(str(name), known, n=3, cutoff=0.6)
    if not near:
        folded = {k.casefold(): k for k in known}
        near = [folded[m] for m in get_close_matches(str(name).casefold(), list(folded), n=3, cutoff=0.6)]
    shown = ", ".join(repr(k) for k in known[:20]) + (", …" if len(known) > 20 else "")
    suggestion = f" Did you mean {' or '.join(repr(n) for n in near)}?" if near else ""
    noun, of, owner = what.partition(" of ")
    plural = f"{noun.capitalize()}s{of}{owner}"
    hint = f" {hint}" if hint else ""
    error = InputError(f"There is no {what} {name!r}.{suggestion} {plural}: {shown}.{hint}")
    error.unknown = str(name)
    if near:
        error.brief = f"There is no {what} {name!r}.{suggestion}{hint}"
    return error


@contextmanager
def in_question(title: str) -> Iterator[None]:
    """Say which of several questions an error came from; without a title, leave it as it is.

    Examples
    --------
    >>> with in_question("Testing of 'income'"):
    ...     raise InputError("There are too few people.")
    Traceback (most recent call last):
    fairtest.exceptions.InputError: Testing of 'income': There are too few people.
    """
    try:
        yield
    except FairTestError as error:
        if not title:
            raise
        raise type(error)(f"{title}: {error}") from error
    except Exception as error:
        if title:
            error.add_note(f"This came from {title}.")
        raise
