"""What the shell may complete: the columns of the data named, and the names of metrics, searches and corrections."""

from __future__ import annotations

from typing import TYPE_CHECKING

from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from collections.abc import Callable

    import click

NAMES: dict[str, tuple[str, ...]] = {
    "aggregate": ("max", "avg", "weighted"),
    "correction": ("pooled", "holm", "weighted-holm", "max-t", "bonferroni", "bh", "by"),
    "engine": ("memory", "disk"),
    "error": ("absolute", "squared", "signed", "brier", "log-loss", "class", "confusion"),
    "method": ("auto", "resampling"),
    "metric": ("DIFF", "RATIO", "NMI", "CORR", "ETA", "RANK"),
    "notion": (
        "false-positive-rate", "fpr", "false-negative-rate", "fnr", "equalized-odds", "predictive-parity",
        "calibration", "accuracy", "selection-rate",
    ),
    "preset": ("paper",),
    "score": ("bound", "point"),
    "search": ("auto", "exhaustive", "forest", "tree"),
}  # fmt: skip
"""The names an option takes. They stand here too so that help and completion need not load the library."""


def names_of(option: str) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem]]:
    """Return what completes the names an option takes."""

    def complete(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [CompletionItem(name) for name in NAMES[option] if name.startswith(incomplete)]

    return complete


def columns(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the name of a column of the data that the command line names."""
    return [CompletionItem(name) for name in _columns(ctx) if name.startswith(incomplete)]


def columns_first(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the column of ``COLUMN=VALUE``."""
    return [CompletionItem(f"{name}=") for name in _columns(ctx) if f"{name}=".startswith(incomplete)]


def metrics(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete ``[COLUMN=]METRIC``."""
    column, equals, begun = incomplete.rpartition("=")
    found = [CompletionItem(f"{column}{equals}{name}") for name in NAMES["metric"] if name.startswith(begun.upper())]
    return found if equals else [*found, *columns_first(ctx, parameter, incomplete)]


def _columns(ctx: click.Context) -> list[str]:
    """Return the columns of the data; none where it is not known or cannot be read: a shell shows no errors."""
    loose = (word for word in ctx.args if not word.startswith("-"))  # while the last option still has no value
    data = ctx.params.get("data") or next(loose, None)
    if data is None:
        return []
    from fairtest.data.reading.peek import peek_columns  # loads the library
    from fairtest.exceptions import InputError

    try:
        return peek_columns(data, delimiter=ctx.params.get("delimiter"), encoding=ctx.params.get("encoding"))
    except (InputError, OSError):
        return []
