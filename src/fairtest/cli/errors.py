"""From what went wrong to one line on stderr and an exit code."""

from __future__ import annotations

import sys
import traceback
from typing import TYPE_CHECKING, Any, TypeVar

import click

import fairtest as ft

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["CarefulGroup", "show_traceback"]

FOUND, MISTAKE, EXHAUSTED, FAULT, INTERRUPTED = 1, 2, 3, 4, 130
_TRACEBACK = "fairtest.traceback"

# What newer versions of click raise where there are no arguments at all; older ones show the help themselves.
_HELP: type[click.UsageError] | tuple[()] = getattr(click.exceptions, "NoArgsIsHelpError", ())

Function = TypeVar("Function", bound="Callable[..., Any]")


class CarefulGroup(click.Group):
    """A group of commands that never shows a traceback unless asked to."""

    def main(  # type: ignore[override]  # it always exits, as click's own does in standalone mode
        self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any
    ) -> None:
        """Run the command line and exit with its code."""
        extra["standalone_mode"] = False
        try:
            code = super().main(args, prog_name, **extra)
        except Exception as error:
            code = _say(error)
        sys.exit(code if isinstance(code, int) else 0)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; with ``--traceback``, show where an error came from on its way out."""
        try:
            return super().invoke(ctx)
        except Exception as error:
            if ctx.meta.get(_TRACEBACK) and not isinstance(error, click.exceptions.Exit | click.ClickException):
                traceback.print_exc()
            raise


def show_traceback(function: Function) -> Function:
    """Give a command the option ``--traceback``."""

    def remember(ctx: click.Context, _: click.Parameter, value: bool) -> None:
        ctx.meta[_TRACEBACK] = ctx.meta.get(_TRACEBACK, False) or value

    option = click.option(
        "--traceback",
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=remember,
        help="If something goes wrong, show where in the code.",
    )
    return option(function)


def _say(error: Exception) -> int:
    """Write one line about an error and return the exit code."""
    if isinstance(error, click.Abort):
        click.echo("fairtest: interrupted; no report was written.", err=True)
        return INTERRUPTED
    if isinstance(error, _HELP):
        error.show()
        return MISTAKE
    message, code = _explained(error)
    click.echo(f"fairtest: {' '.join(message.splitlines())}", err=True)
    return code


def _explained(error: Exception) -> tuple[str, int]:
    if isinstance(error, click.ClickException):
        return error.format_message() + _where_to_look(error), MISTAKE
    if isinstance(error, ft.BudgetExhausted):
        return str(error), EXHAUSTED
    if isinstance(error, ft.FairTestError):
        return str(error), MISTAKE
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}.", MISTAKE
    if isinstance(error, MemoryError):
        return "There is not enough memory for this data.", FAULT
    what = f"{type(error).__name__}: {error}".removesuffix(": ")
    return f"A fault of FairTest, not of yours: {what}. Run it again with --traceback to see where.", FAULT


def _where_to_look(error: click.ClickException) -> str:
    context = getattr(error, "ctx", None)
    return f" See '{context.command_path} --help'." if context is not None else ""
