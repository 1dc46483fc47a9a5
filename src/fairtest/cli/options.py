"""The options of the commands that audit data, in the sections in which the help shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["ERRORS", "OUTPUT", "ROLES", "SEARCH", "SOURCE", "TEST", "Command", "Option", "with_options"]

Function = TypeVar("Function", bound="Callable[..., Any]")


class Option(click.Option):
    """An option that stands in a section of the help."""

    def __init__(self, *args: Any, section: str = "Other", **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.section = section


class Command(click.Command):
    """A command whose help has its options in sections, in their order; options without one come last."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, a list for each section."""
        sections: dict[str, list[tuple[str, str]]] = {}
        options = [p for p in self.get_params(ctx) if isinstance(p, click.Option)]
        for option in sorted(options, key=lambda option: not isinstance(option, Option)):
            if (record := option.get_help_record(ctx)) is not None:
                sections.setdefault(getattr(option, "section", "Other"), []).append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)


def with_options(*groups: tuple[Option, ...]) -> Callable[[Function], Function]:
    """Give a command these options, in this order."""

    def give(function: Function) -> Function:
        known = getattr(function, "__click_params__", [])
        function.__click_params__ = [*known, *reversed([o for group in groups for o in group])]  # type: ignore[attr-defined]
        return function

    return give


def _option(section: str, names: str, metavar: str, words: str, **more: Any) -> Option:
    return Option(names.split(), section=section, metavar=metavar, help=words, **more)


def _several(section: str, names: str, metavar: str, words: str, **more: Any) -> Option:
    return _option(section, names, metavar, words, multiple=True, **more)


def _default(section: str, name: str, value: float | str, words: str) -> Option:
    return Option([name], section=section, default=value, show_default=True, type=type(value), help=words)


def _flag(section: str, name: str, words: str) -> Option:
    return Option([name], section=section, is_flag=True, help=words)


ROLES = (
    _several(
        "Roles",
        "-p --protected",
        "COLUMN",
        "A protected attribute; repeat for several. 'A*B' crosses two into one.",
        required=True,
    ),
    _option("Roles", "-o --output", "COLUMN", "What the application did.", required=True),
    _several(
        "Roles",
        "-e --explanatory",
        "COLUMN",
        "Compare only people who share the value of this attribute; repeat to cross several.",
    ),
    _several(
        "Roles",
        "-x --contextual",
        "COLUMN",
        "Look for groups along these columns only; repeat. Default: every other column.",
    ),
    _several("Roles", "--exclude", "COLUMN", "Never use this column; repeat."),
    _several(
        "Roles",
        "--metric",
        "[COLUMN=]NAME",
        "How to measure: race=NMI, or NMI for all; repeat. Default: by the kinds of the columns.",
    ),
    _several("Roles", "--favourable", "COLUMN=VALUE", "The output value that effects are about: 'income=>50K'."),
    _several("Roles", "--reference", "COLUMN=VALUE", "The group that others are compared with: sex=Male."),
)

ERRORS = (
    _option("Errors", "--truth", "COLUMN", "What turned out to be true.", required=True),
    _option(
        "Errors",
        "--error",
        "NAME",
        "What an error is: absolute, squared or signed; brier or log-loss; class or confusion. Default: by the kinds "
        "of the columns.",
    ),
    _option(
        "Errors",
        "--notion",
        "NAME",
        "A notion of fairness instead: false-positive-rate (fpr), false-negative-rate (fnr), equalized-odds, "
        "predictive-parity, calibration, accuracy, selection-rate.",
    ),
)

SOURCE = (
    _several("Columns and files", "--categorical", "COLUMN", "This column holds categories; repeat."),
    _several("Columns and files", "--numeric", "COLUMN", "This column holds numbers; repeat."),
    _several("Columns and files", "--ordered", "COLUMN=A<B<C", "This column has an order, low to high; repeat."),
    _several(
        "Columns and files", "--missing", "TEXT", "This text means a missing value, as an empty field does; repeat."
    ),
    _option(
        "Columns and files", "--delimiter", "CHARACTER", "What parts the fields of a CSV file. Default: found out."
    ),
    _option("Columns and files", "--encoding", "NAME", "How a CSV file is encoded. Default: UTF-8."),
)

SEARCH = (
    _option("Search", "--train-size", "SHARE", "The share of the people to search with. Default: 0.3.", type=float),
    _default("Search", "--max-depth", 5, "The most conditions that make a group."),
    _default("Search", "--min-size", 100, "The fewest people of the whole table a group may have."),
    _option(
        "Search",
        "--search",
        "NAME",
        "How to search: auto (default), exhaustive, forest, or tree (default of the paper's preset).",
    ),
    _option("Search", "--trees", "NUMBER", "How many trees a forest has. Default: 16.", type=int),
    _option(
        "Search",
        "--attributes-per-node",
        "NUMBER",
        "Among how many attributes each node of a forest chooses. Default: a third of them.",
        type=int,
    ),
    _option("Search", "--score", "NAME", "What a split is judged by: bound (of the effect) or point (estimate)."),
    _option("Search", "--aggregate", "NAME", "Which of its parts: max (the best), avg or weighted (all)."),
)

TEST = (
    _default("Test", "--budget", 1, "The number of test sets."),
    _default("Test", "--conf", 0.95, "The confidence with which everything reported holds together."),
    _option(
        "Test",
        "--correction",
        "NAME",
        "How p-values are corrected for the number of tests: pooled, holm, weighted-holm, max-t, bonferroni, bh, by.",
    ),
    _option("Test", "--tolerance", "NUMBER", "The largest effect that does not matter, such as 0.05.", type=float),
    _default("Test", "--method", "auto", "How p-values are found: auto or resampling."),
    _option("Test", "--preset", "NAME", "'paper' for Algorithm 1 as written, Holm, equal shares."),
    _default("Test", "--seed", 0, "Fixes the split: the same seed gives the same report."),
    _flag("Test", "--train-only", "Show what the search proposes; test nothing, spend nothing."),
)

OUTPUT = (
    _option("Output", "--out", "DIR", "Write the report as text, HTML and JSON into this folder."),
    _option("Output", "--json", "FILE", "Write it as JSON; '-' shows that in place of the text."),
    _option("Output", "--html", "FILE", "Write it as one HTML page."),
    _option("Output", "--text", "FILE", "Write it as text."),
    _flag("Output", "--fail-on-findings", "Exit with 1 if anything is reported: for continuous integration."),
    _flag("Output", "--quiet", "No status line, and no word about files written."),
)
