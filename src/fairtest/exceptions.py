"""The errors FairTest raises on purpose.

::

    FairTestError
     ├── InputError        (ValueError)    an argument, a column or a file is not what it must be
     ├── UsageError        (RuntimeError)  calls in an order that cannot work, such as test before train
     └── BudgetExhausted   (RuntimeError)  every test set of the data source has been spent

    FairTestWarning        (UserWarning)   what was asked will be done, and there is something to know about it

An error knows which arguments its message mentions: ``f"{the('min_size')} must be at least 1."`` reads *The 'min_size'
must be at least 1* in Python and *--min-size must be at least 1* on the command line, which has names of its own for
arguments (:meth:`FairTestError.spelled`). So a message names an argument by :func:`the`, :func:`argument`,
:func:`unquoted` or :func:`setting`, and what makes sense in Python only goes into :func:`in_python`.
"""

from __future__ import annotations

import re
from ast import literal_eval
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

# Mentions travel inside the text, because f-strings make the messages. Unicode keeps these characters for the own use
# of a program: no text that a user gives has them.
_BEGIN, _NEXT, _END = "\ufdd0", "\ufdd1", "\ufdd2"
_MENTION = re.compile(f"{_BEGIN}(\\w*){_NEXT}(.*?){_NEXT}(.*?){_END}", re.DOTALL)


@dataclass(frozen=True)
class Mention:
    """An argument that a message mentions.

    Attributes
    ----------
    argument
        Its name in Python; empty for words that make sense in Python only.
    words
        How Python's users read it.
    value
        What the message says it is or should be; ``...`` for any value, None where it says none.
    """

    argument: str
    words: str
    value: Any = None


class FairTestError(Exception):
    """Base class of every error that FairTest raises on purpose.

    Attributes
    ----------
    message
        The text with its mentions, to make another message of.
    brief
        The same without lists, where there is less room; empty where it is the same.
    """

    brief: str = ""

    def __init__(self, message: str = "") -> None:
        super().__init__(_MENTION.sub(lambda found: found[2], message))
        self.message = message

    @property
    def arguments(self) -> tuple[str, ...]:
        """The arguments that the message mentions; what it is about comes first.

        Examples
        --------
        >>> InputError(f"{the('trees')} are those of a forest. Add {setting('search', 'forest')}.").arguments
        ('trees', 'search')
        """
        return tuple(dict.fromkeys(found[1] for found in _MENTION.finditer(self.message) if found[1]))

    def spelled(self, spell: Callable[[Mention], str]) -> str:
        """Return the message, as brief as it can be, for somebody to whom arguments have other names."""
        return _MENTION.sub(lambda found: spell(_mention(*found.groups())), self.brief or self.message)


class InputError(FairTestError, ValueError):
    """An argument, a column or a file is not what it must be; the message says what would be.

    Attributes
    ----------
    unknown
        The name that does not exist, where that is what is wrong.
    """

    unknown: str = ""


class UsageError(FairTestError, RuntimeError):
    """The calls came in an order that cannot work."""


class BudgetExhausted(FairTestError, RuntimeError):  # noqa: N818 - the name is part of the interface
    """Every test set of the data source has been spent."""


class FairTestWarning(UserWarning):
    """What was asked will be done, and there is something to know about it."""


def argument(name: str, words: str = "") -> str:
    """Mention an argument; ``words`` are those for Python, where the name in quotes does not do.

    Examples
    --------
    >>> print(InputError(f"Name it in {argument('missing')}, or lower {unquoted('min_size')}."))
    Name it in 'missing', or lower min_size.
    """
    return f"{_BEGIN}{name}{_NEXT}{words or repr(name)}{_NEXT}{_END}"


def unquoted(name: str) -> str:
    """Mention an argument that stands in a sentence like a word."""
    return argument(name, name)


def the(name: str, what: str = "", article: str = "The") -> str:
    """Mention an argument with an article; ``what`` says in Python what it is an argument of.

    Examples
    --------
    >>> print(InputError(f"{the('conf', 'of DataSource')} must be a number."))
    The 'conf' of DataSource must be a number.
    """
    return argument(name, f"{article} {name!r} {what}".rstrip())


def setting(name: str, value: Any, words: str = "") -> str:
    """Mention an argument with a value; ``...`` stands for any, also as the value of a column.

    Examples
    --------
    >>> print(InputError(f"Declare {setting('numeric', ['zip'])}, or name {setting('metrics', {'sex': ...})}."))
    Declare numeric=['zip'], or name metrics={'sex': ...}.
    """
    literal = repr(value).replace("Ellipsis", "...")
    return f"{_BEGIN}{name}{_NEXT}{words or f'{name}={literal}'}{_NEXT}{literal}{_END}"


def in_python(words: str) -> str:
    """Mark words that make sense in Python only: elsewhere the sentence goes on without them."""
    return f"{_BEGIN}{_NEXT}{words}{_NEXT}{_END}"


def _mention(name: str, words: str, literal: str) -> Mention:
    try:
        return Mention(name, words, literal_eval(literal) if literal else None)
    except (ValueError, SyntaxError):  # a value that has no literal, such as a date
        return Mention(name, words, literal)


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
        raise type(error)(f"{title}: {error.message}") from error
    except Exception as error:
        if title:
            error.add_note(f"This came from {title}.")
        raise
