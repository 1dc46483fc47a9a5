"""What the user said, to be said again: the command that gives a report, or a file of options."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from fairtest.cli.options import OUTPUT

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

NOT_REPEATED = (*(str(option.name) for option in OUTPUT), "train_only", "save_config", "again")
"""Options that say nothing about the question."""


ASKED_ALREADY = "Asked already: this is run {}, and costs nothing. --again spends another test set on it."


def given_parameters(ctx: click.Context, leave_out: Collection[str] = ()) -> Iterator[tuple[click.Parameter, Any]]:
    """Yield the parameters that the command line or a configuration file gives, with their values."""
    for parameter in ctx.command.params:
        name = str(parameter.name)
        source = ctx.get_parameter_source(name)
        if source not in (None, ParameterSource.DEFAULT) and parameter.expose_value and name not in leave_out:
            yield parameter, ctx.params[name]


def command_to_repeat(ctx: click.Context, data: str) -> str:
    """Return the command line that gives the same report again, without the options that say where it goes."""
    return " ".join([ctx.command_path, shlex.quote(data), *options_to_repeat(ctx, NOT_REPEATED)])


def is_answered_by(ctx: click.Context, command: str) -> bool:
    """Return whether a stored command has the same options; whatever its workspace was called then."""
    after_name = len(ctx.command_path.split()) + 1
    same = shlex.split(command_to_repeat(ctx, "workspace"))[after_name:]
    return shlex.split(command)[after_name:] == same


def command_without(command: str, names: Collection[str]) -> str:
    """Return a command line without some of its options, which have a value each."""
    options = {f"--{name.replace('_', '-')}" for name in names}
    words = shlex.split(command)
    kept = [word for before, word in zip(["", *words], words, strict=False) if not options & {before, word}]
    return shlex.join(kept)


def options_to_repeat(ctx: click.Context, leave_out: Collection[str]) -> list[str]:
    """Return the options given, but for some, as one types them."""
    words: list[str] = []
    for option, value in given_parameters(ctx, leave_out):
        if isinstance(option, click.Option):
            several = value if option.multiple else [value]
            words += [option.opts[0] if option.is_flag else f"{option.opts[0]} {shlex.quote(str(v))}" for v in several]
    return words
