"""Errors of the library in the words of the command line: ``--min-size`` for ``min_size``."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairtest.exceptions import FairTestError, Mention

CONFIG_FILE = "fairtest.config"
"""Where the context of a command keeps the name of the configuration file in use."""
OTHER_NAMES = {"ground_truth": "truth", "metrics": "metric", "labels": "label", "min_leaf_size": "min_size"}
"""Arguments of the library whose options are called otherwise."""


def spelled_as_options(error: FairTestError, ctx: click.Context) -> str:
    """Return the message of an error as the user of a command reads it."""
    options = {option.name: option for option in _options(ctx)}

    def spell(mention: Mention) -> str:
        option = options.get(OTHER_NAMES.get(mention.argument, mention.argument))
        if option is None:
            return mention.words if mention.argument else ""  # without a name: words for Python only
        if mention.value is not None:
            return " ".join(f"{long_name(option)} {value}".rstrip() for value in _typed(mention.value))
        if ctx.get_parameter_source(str(option.name)) is ParameterSource.DEFAULT_MAP:
            return f"{long_name(option).lstrip('-')} in {ctx.meta[CONFIG_FILE]}"
        return long_name(option)

    message = error.spelled(spell).strip()
    named = _option_with(ctx, unknown) if (unknown := getattr(error, "unknown", "")) else ""
    return f"{named}: {message}" if named else message


def long_name(option: click.Option) -> str:
    """Return what one types for an option, spelled out."""
    return max(option.opts, key=len)


def _options(ctx: click.Context) -> Iterator[click.Option]:
    """Yield the options of all commands, those of this one last: a message may advise to go back to another."""
    group = ctx.find_root().command
    others = group.commands.values() if isinstance(group, click.Group) else ()
    for command in (*others, ctx.command):
        yield from (p for p in command.params if isinstance(p, click.Option))


def _typed(value: Any) -> list[str]:
    """Return values as one would type them in a shell; empty for any value.

    Examples
    --------
    >>> _typed(["zip code", "age"]), _typed({"hired": "yes"}), _typed({"sex": ...}), _typed([...])
    (["'zip code'", 'age'], ['hired=yes'], ['sex=…'], [''])
    """
    if isinstance(value, dict):
        return [f"{shlex.quote(c)}=…" if v is ... else shlex.quote(f"{c}={v}") for c, v in value.items()]
    several = value if isinstance(value, list | tuple | set) else [value]
    return ["" if each is ... else shlex.quote(str(each)) for each in several]


def _option_with(ctx: click.Context, name: str) -> str:
    """Return the option in whose value a name occurs, alone or as a part of ``COLUMN=VALUE`` and the like."""
    for option in ctx.command.params:
        value = ctx.params.get(option.name or "")
        given = value if isinstance(value, tuple) else (value,)
        if isinstance(option, click.Option) and any(
            isinstance(text, str) and name in (text, *re.split("[=:*<]", text)) for text in given
        ):
            return long_name(option)
    return ""
