"""The command that gives a report again."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def repeated(ctx: click.Context, data: str, leave_out: Iterable[str]) -> str:
    """Return the command line that gives the same report again, without the options that say where it goes."""
    return " ".join([ctx.command_path, shlex.quote(data), *repeated_options(ctx, leave_out)])


def repeated_options(ctx: click.Context, leave_out: Iterable[str]) -> list[str]:
    """Return the options given, on the command line or in a configuration file, but for some."""
    words: list[str] = []
    for parameter in ctx.command.params:
        name = parameter.name or ""
        if not isinstance(parameter, click.Option) or not parameter.expose_value or name in leave_out:
            continue
        if ctx.get_parameter_source(name) in (ParameterSource.COMMANDLINE, ParameterSource.DEFAULT_MAP):
            words += _words(parameter, ctx.params)
    return words


def _words(option: click.Option, values: Mapping[str, Any]) -> list[str]:
    value = values[option.name or ""]
    if option.is_flag:
        return [option.opts[0]]
    return [f"{option.opts[0]} {shlex.quote(str(v))}" for v in (value if option.multiple else [value])]
