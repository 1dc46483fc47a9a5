"""From what went wrong to one line on stderr and an exit code."""

from __future__ import annotations

import os
import shlex
import sys
import traceback
from typing import Any, NoReturn

import click

import fairtest as ft
from fairtest.cli.helping import TRACEBACK, HelpContext, short_help_option

FOUND, MISTAKE, EXHAUSTED, FAULT, INTERRUPTED = 1, 2, 3, 4, 130
EXITS = {
    0: "done",
    FOUND: "something was reported (only with --fail-on-findings)",
    MISTAKE: "the input or an option is wrong; one line on stderr says which",
    EXHAUSTED: "the budget of test sets is exhausted",
    FAULT: "a fault of FairTest",
    INTERRUPTED: "interrupted",
}
"""What the exit codes mean."""
WORKSPACE = "fairtest.workspace"
"""Where the context of a command keeps the workspace that will store its answer."""

# What newer versions of click raise where there are no arguments at all; older ones show the help themselves.
_HELP: type[click.UsageError] | tuple[()] = getattr(click.exceptions, "NoArgsIsHelpError", ())


class CarefulGroup(click.Group):
    """A group of commands that never shows a traceback unless asked to."""

    context_class = HelpContext

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the parameters, ``-h`` among them."""
        return [*super().get_params(ctx), short_help_option()]

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the commands in the order in which one meets them."""
        return list(self.commands)

    def main(self, *args: Any, **extra: Any) -> NoReturn:
        """Run the command line and exit with its code."""
        extra |= {"standalone_mode": False, "color": extra.get("color", _colour())}
        try:
            code = super().main(*args, **extra)
        except Exception as error:
            code = _say(error)
        sys.exit(code if isinstance(code, int) else 0)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; with ``--traceback``, show where an error came from on its way out."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            if words := _where_stored(ctx):
                click.echo(err=True)  # after the ^C of the terminal, as click does
                raise _Interrupted(words) from None
            raise
        except Exception as error:
            if ctx.meta.get(TRACEBACK) and not isinstance(error, click.exceptions.Exit | click.ClickException):
                traceback.print_exc()
            raise


class _Interrupted(Exception):  # noqa: N818 - nothing is wrong
    """The user stopped a command that had done its work; says how to see it."""


def _where_stored(ctx: click.Context) -> str:
    """Return how to see the answer of a command that was interrupted; empty where it is not stored."""
    workspace: ft.Workspace | None = ctx.meta.get(WORKSPACE)
    number = None if workspace is None else workspace.last_stored_run()
    if workspace is None or number is None:
        return ""
    show = f"fairtest report {shlex.quote(str(workspace.path))} {number}"
    return f"interrupted; the test set is spent and its report is stored. To see it: {show}"


def _colour() -> bool | None:
    """Return False where NO_COLOR asks for none; None lets the terminal decide."""
    return False if os.environ.get("NO_COLOR") else None


def _say(error: Exception) -> int:
    """Write one line about an error and return the exit code."""
    if isinstance(error, _HELP):
        error.show()
        return MISTAKE
    message, code = _explained(error)
    start = click.style("fairtest:", fg="red", bold=True)
    click.echo(f"{start} {' '.join(message.splitlines())}", err=True, color=_colour())
    return code


def _one_value_each(error: click.ClickException) -> str:
    """Return how several values of an option are given, where one was left over."""
    if "unexpected extra argument" not in error.format_message():
        return ""
    return " An option takes one value; give it again for each: --exclude a --exclude b."


def _explained(error: Exception) -> tuple[str, int]:
    """Return what to say of an error, and the exit code."""
    if isinstance(error, click.Abort | _Interrupted):
        return str(error) or "interrupted; no report was written.", INTERRUPTED
    if isinstance(error, click.ClickException):
        context = getattr(error, "ctx", None)
        where = f" See '{context.command_path} --help'." if context is not None else ""
        return error.format_message() + _one_value_each(error) + where, MISTAKE
    if isinstance(error, ft.FairTestError):
        return error.brief or str(error), EXHAUSTED if isinstance(error, ft.BudgetExhausted) else MISTAKE
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}.", MISTAKE
    if isinstance(error, MemoryError):
        return "There is not enough memory for this data.", FAULT
    what = f"{type(error).__name__}: {error}".removesuffix(": ")
    return f"A fault of FairTest, not of yours: {what}. Run it again with --traceback to see where.", FAULT
