"""Errors of the library in the words of the command line: ``--min-size`` for ``min_size``."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Mapping

OTHER_NAMES = {"ground_truth": "truth", "metrics": "metric", "labels": "label", "min_leaf_size": "min_size"}
"""Arguments of the library whose options are called otherwise."""

_FIXED = {
    "must be None or ": "must be ",
    " of DataSource": "",
    "give DataSource a larger budget": "give a larger budget",
    " A function of (prediction, truth) is possible too.": "",
    ", or a metric of your own of counts": "",
}
"""What has no meaning on the command line."""


def options_by_argument(group: click.Group) -> dict[str, str]:
    """Return the option for each argument of the library that has one, of all commands together."""
    options = [p for c in group.commands.values() for p in c.params if isinstance(p, click.Option)]
    names = {o.name: max(o.opts, key=len) for o in options if o.name}
    return names | {other: names[name] for other, name in OTHER_NAMES.items() if name in names}


def in_options(message: str, options: Mapping[str, str]) -> str:
    """Return a message with the options in place of the arguments.

    Only what is written as an argument is changed: a column that is called like one keeps its name.

    Examples
    --------
    >>> options = {"min_size": "--min-size", "categorical": "--categorical", "favourable": "--favourable"}
    >>> in_options("The 'min_size' of train must be a whole number. Lower min_size.", options)
    '--min-size must be a whole number. Lower --min-size.'
    >>> in_options("Say so: categorical=['zip code'], favourable={'hired': 'yes'}.", options)
    "Say so: --categorical 'zip code', --favourable hired=yes."
    >>> in_options("There is no column 'min_size'.", options)
    "There is no column 'min_size'."
    """
    for old, new in _FIXED.items():
        message = message.replace(old, new)
    known = "|".join(sorted(options, key=len, reverse=True))
    if not known:
        return message

    def option(match: re.Match[str]) -> str:
        return options[match[1]]

    def assigned(match: re.Match[str]) -> str:
        return f"{options[match[1]]} {_value(match[2])}".rstrip()

    message = re.sub(rf"(?:\b[Tt]he |\bA )?'({known})' parameter", option, message)
    message = re.sub(
        rf"\bThe '({known})'(?: of (?:train|test|Discovery|Testing|ErrorProfiling))?(?= must)", option, message
    )
    message = re.sub(
        rf"(?:^|(?<=: ))(?:A )?'({known})'(?= must| and '| are about| is that| cuts| needs)", option, message
    )
    message = re.sub(rf"(?<=and )(?:the )?'({known})'(?= are| names)", option, message)
    message = re.sub(
        rf"(?<=[Nn]ame it in )'({known})'|(?<=of )'(output)'(?=\.)", lambda m: options[m[1] or m[2]], message
    )
    message = re.sub(rf"(?<![\w-])({known})=({_LITERAL})?", assigned, message)
    snakes = "|".join(name for name in options if "_" in name)
    return re.sub(rf"(?<![\w'\"=-])({snakes})(?![\w'\"=])", option, message) if snakes else message


_LITERAL = r"\{'[^']*': (?:'[^']*'|\.\.\.|[^{}]*)\}|\['[^']*'\]|\[\.\.\.\]|\{\.\.\.\}|'[^']*'|[\d.,]*\d"


def _value(literal: str | None) -> str:
    """Return a Python literal as one would type it in a shell."""
    if not literal or "..." in literal:
        name = re.match(r"\{'([^']*)'", literal or "")
        return f"{shlex.quote(name[1])}=…" if name else ""
    if pair := re.fullmatch(r"\{'([^']*)': (.*)\}", literal):
        return shlex.quote(f"{pair[1]}={pair[2].strip(chr(39))}")
    return shlex.quote(literal.strip("[]'").replace(",", "") if literal[0].isdigit() else literal.strip("[]'"))
