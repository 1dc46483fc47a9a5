"""The options of the commands that audit data, in the sections in which the help shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from fairtest.cli.complete import (
    columns,
    columns_first,
    metrics,
    names_of,
)
from fairtest.cli.helping import Option
from fairtest.reporting.formats.registry import FILES

if TYPE_CHECKING:
    from collections.abc import Callable

Function = TypeVar("Function", bound="Callable[..., Any]")


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


def _default(section: str, name: str, value: float | str, words: str, **more: Any) -> Option:
    return Option([name], section=section, default=value, show_default=True, type=type(value), help=words, **more)


def _flag(section: str, name: str, words: str, **more: Any) -> Option:
    return Option([name], section=section, is_flag=True, help=words, **more)


def _path(name: str, metavar: str, words: str, **more: Any) -> Option:
    return _option("Output", name, metavar, words, is_path=True, **more)


ROLES = (
    _several(
        "Roles",
        "-p --protected",
        "COLUMN",
        "A protected attribute; repeat for several. 'A*B' crosses two into one.",
        required=True,
        essential=True,
        shell_complete=columns,
    ),
    _option(
        "Roles",
        "-o --output",
        "COLUMN",
        "What the application did.",
        required=True,
        essential=True,
        shell_complete=columns,
    ),
    _several(
        "Roles",
        "-e --explanatory",
        "COLUMN",
        "Compare only people who share the value of this attribute; repeat to cross several.",
        essential=True,
        shell_complete=columns,
    ),
    _several(
        "Roles",
        "-x --contextual",
        "COLUMN",
        "Look for groups along these columns only; repeat. Default: every other column.",
        essential=True,
        shell_complete=columns,
    ),
    _several("Roles", "--exclude", "COLUMN", "Never use this column; repeat.", essential=True, shell_complete=columns),
    _several(
        "Roles",
        "--metric",
        "[COLUMN=]NAME",
        "How to measure: race=NMI, or NMI for all; repeat. Default: by the kinds of the columns.",
        shell_complete=metrics,
    ),
    _several(
        "Roles",
        "--favourable",
        "COLUMN=VALUE",
        "The output value that effects are about: 'income=>50K'.",
        essential=True,
        shell_complete=columns_first,
    ),
    _several(
        "Roles",
        "--reference",
        "COLUMN=VALUE",
        "The group that others are compared with: sex=Male.",
        shell_complete=columns_first,
    ),
)

WORDS = (
    _several(
        "Words",
        "--label",
        "COLUMN[:VALUE]=WORDS",
        "What a column, or the people with a value, are called in sentences: sex:Female=women; repeat.",
        shell_complete=columns_first,
    ),
    _option("Words", "--people", "WORDS", "What the rows are: applicants. Default: people."),
    _option(
        "Words", "--outcome", "WORDS", "What happens to those with the favourable output, as a verb: 'are accepted'."
    ),
)

ERRORS = (
    _option(
        "Errors",
        "--truth",
        "COLUMN",
        "What turned out to be true.",
        required=True,
        essential=True,
        shell_complete=columns,
    ),
    _option(
        "Errors",
        "--error",
        "NAME",
        "What an error is: absolute, squared or signed; brier or log-loss; class or confusion. Default: by the kinds "
        "of the columns.",
        shell_complete=names_of("error"),
    ),
    _option(
        "Errors",
        "--notion",
        "NAME",
        "A notion of fairness instead: false-positive-rate (fpr), false-negative-rate (fnr), equalized-odds, "
        "predictive-parity, calibration, accuracy, selection-rate.",
        essential=True,
        shell_complete=names_of("notion"),
    ),
)

SOURCE = (
    _several(
        "Columns and files", "--categorical", "COLUMN", "This column holds categories; repeat.", shell_complete=columns
    ),
    _several("Columns and files", "--numeric", "COLUMN", "This column holds numbers; repeat.", shell_complete=columns),
    _several("Columns and files", "--ordered", "COLUMN=A<B<C", "This column has an order, low to high; repeat."),
    _several(
        "Columns and files", "--missing", "TEXT", "This text means a missing value, as an empty field does; repeat."
    ),
    _option(
        "Columns and files", "--delimiter", "CHARACTER", "What parts the fields of a CSV file. Default: found out."
    ),
    _option("Columns and files", "--encoding", "NAME", "How a CSV file is encoded. Default: UTF-8."),
    _option(
        "Columns and files",
        "--decimal",
        "CHARACTER",
        "What stands before decimals in a CSV file, '.' or ','. Default: '.', and ',' too where ';' parts the fields.",
    ),
    _option(
        "Columns and files",
        "--engine",
        "NAME",
        "Where people are counted: memory (default), disk (Parquet larger than memory), or the address of a Dask "
        "scheduler (tcp://host:8786).",
        shell_complete=names_of("engine"),
    ),
    _option("Columns and files", "--memory", "SIZE", "How much memory to use with --engine disk. Default: 1 GB."),
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
        shell_complete=names_of("search"),
    ),
    _option("Search", "--trees", "NUMBER", "How many trees a forest has. Default: 16.", type=int),
    _option(
        "Search",
        "--attributes-per-node",
        "NUMBER",
        "Among how many attributes each node of a forest chooses. Default: a third of them.",
        type=int,
    ),
    _option(
        "Search",
        "--score",
        "NAME",
        "What a split is judged by: bound (of the effect) or point (estimate).",
        shell_complete=names_of("score"),
    ),
    _option(
        "Search",
        "--aggregate",
        "NAME",
        "Which of its parts: max (the best), avg or weighted (all).",
        shell_complete=names_of("aggregate"),
    ),
)

TEST = (
    _default("Test", "--budget", 1, "The number of test sets; above 1, a workspace keeps which are spent."),
    _option(
        "Test",
        "--workspace",
        "DIR",
        "The workspace to use; made if there is none. Default: beside the data.",
        is_path=True,
    ),
    _default("Test", "--conf", 0.95, "The confidence with which everything reported holds together."),
    _option(
        "Test",
        "--correction",
        "NAME",
        "How p-values are corrected for the number of tests: pooled, holm, weighted-holm, max-t, bonferroni, bh, by.",
        shell_complete=names_of("correction"),
    ),
    _option("Test", "--tolerance", "NUMBER", "The largest effect that does not matter, such as 0.05.", type=float),
    _default(
        "Test", "--method", "auto", "How p-values are found: auto or resampling.", shell_complete=names_of("method")
    ),
    _option(
        "Test",
        "--preset",
        "NAME",
        "'paper' for Algorithm 1 as written, Holm, equal shares.",
        shell_complete=names_of("preset"),
    ),
    _default("Test", "--seed", 0, "Fixes the split: the same seed gives the same report."),
    _flag(
        "Test",
        "--train-only",
        "Show what the search proposes and how large a disparity the test could confirm; spend nothing.",
        essential=True,
    ),
)

OUTPUT = (
    _path("--out", "DIR", "Write the report as text, HTML and JSON into this folder.", essential=True),
    *(_path(f"--{form.name}", "FILE", form.option, essential=form.name == "html") for form in FILES),
    _path("--figures", "DIR", "Write each figure as SVG into this folder."),
    _flag("Output", "--fail-on-findings", "Exit with 1 if anything is reported: for continuous integration."),
    _flag("Output", "--quiet", "No progress, and no word about files written or read."),
    _flag("Output", "--verbose", "Say on stderr what was read, which kinds were chosen, and how long each stage took."),
)
