"""What the shell may complete: the columns of the data named, and the names that an option takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeAlias

from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    import click

Completion: TypeAlias = "Callable[[click.Context, click.Parameter, str], list[CompletionItem]]"
NamesToComplete: TypeAlias = Iterable[str] | Callable[[], Iterable[str]]
"""Names, or a function that returns them: it loads the library, which help does without."""


def names_among(known: NamesToComplete) -> Completion:
    """Return what completes one of some names."""

    def complete(_ctx: click.Context, _parameter: click.Parameter, begun: str) -> list[CompletionItem]:
        return _beginning(known() if callable(known) else known, begun)

    return complete


def by_metavar(metavar: str | None) -> Completion | None:
    """Return what completes the value of an option, by what the help calls it."""
    if metavar == "[COLUMN=]NAME":
        return complete_metric
    if metavar == "COLUMN":
        return complete_column
    return complete_column_of_pair if str(metavar).startswith("COLUMN") else None


def complete_column(ctx: click.Context, _parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Complete the name of a column of the data that the command line names."""
    return _beginning(_columns(ctx), begun)


def complete_column_of_pair(ctx: click.Context, _parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Complete the column of ``COLUMN=VALUE``."""
    return _beginning((f"{name}=" for name in _columns(ctx)), begun)


def complete_metric(ctx: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Complete ``[COLUMN=]METRIC``."""
    column, equals, metric = begun.rpartition("=")
    found = _beginning((f"{column}{equals}{name}" for name in metric_names()), f"{column}{equals}{metric.upper()}")
    return found if equals else [*found, *complete_column_of_pair(ctx, parameter, begun)]


def metric_names() -> Iterable[str]:
    """Return the names of metrics."""
    from fairtest.metrics.choice import BUILT_IN

    return [metric.name for metric in BUILT_IN]


def error_names() -> Iterable[str]:
    """Return the names of errors of predictions."""
    from fairtest.investigations.errors import ERRORS

    return ERRORS


def notion_names() -> Iterable[str]:
    """Return the names of notions of fairness, and their usual short forms."""
    from fairtest.investigations.notions import NOTIONS

    return (*NOTIONS, "fpr", "fnr")


def _beginning(names: Iterable[str], begun: str) -> list[CompletionItem]:
    return [CompletionItem(name) for name in names if name.startswith(begun)]


def _columns(ctx: click.Context) -> list[str]:
    """Return the columns of the data; none where it is not known or cannot be read: a shell shows no errors."""
    loose = (word for word in ctx.args if not word.startswith("-"))  # while the last option still has no value
    data = ctx.params.get("data") or next(loose, None)
    if data is None:
        return []
    from fairtest.data.reading.readers import peek_columns  # loads the library
    from fairtest.exceptions import InputError

    try:
        return peek_columns(data, delimiter=ctx.params.get("delimiter"), encoding=ctx.params.get("encoding"))
    except (InputError, OSError):
        return []
