"""The options of the commands that audit data, in the sections in which the help shows them.

How contexts are searched and tested is said by the fields of plans (:mod:`fairtest.model.plans`): each is an option
here without being named, so that a new one needs no change to the command line.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from fairtest.cli.complete import error_names, notion_names
from fairtest.cli.helping import Option, section
from fairtest.model.plans import TestingPlan, TrainingPlan
from fairtest.reporting.formats.registry import FILES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairtest.model.plans import PlanOption

DIVIDING = ("seed", "budget", "conf", "train_size", "preset")
"""Options that say how the people are divided into sets."""


class SizeType(click.types.FloatParamType):
    """A size beyond which effects count; a file of options may say just yes."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the size."""
        if isinstance(value, bool):
            return 0.0 if value else None
        try:
            return float(value)
        except ValueError:
            self.fail(f"{value!r} is no size. Put the option last, or say how large: 0.05.", param, ctx)


repeatable = partial(Option, multiple=True)


def flag(name: str, words: str, **more: Any) -> Option:
    """Return an option without a value."""
    return Option(name, words, is_flag=True, **more)


def with_default(default: float | str, name: str, words: str, **more: Any) -> Option:
    """Return an option with a default that the help shows."""
    return Option(name, words, default=default, show_default=True, type=type(default), **more)


def plan_option(option: PlanOption) -> Option:
    """Return the option for a field of a plan.

    Where the default depends on the preset there is none here: the plan knows it.
    """
    name = f"--{option.name.replace('_', '-')}"
    if option.default is None or option.paper is not None:
        value = "NAME" if option.choices else "NUMBER"
        return Option(f"{name} {value}", option.help, type=option.type, choices=option.choices)
    return with_default(option.default, name, option.help, choices=option.choices)


def only(options: Iterable[Option], *names: str) -> tuple[Option, ...]:
    """Return some options, by name."""
    return tuple(option for option in options if option.name in names)


def without(options: Iterable[Option], *names: str) -> tuple[Option, ...]:
    """Return the other options, by name."""
    return tuple(option for option in options if option.name not in names)


ROLES = section(
    "Roles",
    repeatable(
        "-p --protected COLUMN", "A protected attribute; repeat for several. 'A*B' crosses two into one.", required=True
    ),
    Option("-o --output COLUMN", "What the application did.", required=True),
    repeatable(
        "-e --explanatory COLUMN",
        "Compare only people who share the value of this attribute; repeat to cross several.",
        essential=True,
    ),
    repeatable(
        "-x --contextual COLUMN",
        "Look for groups along these columns only; repeat. Default: every other column.",
        essential=True,
    ),
    repeatable("--exclude COLUMN", "Never use this column; repeat.", essential=True),
    flag("--overall-only", "Ask about everybody only; do not search for groups.", essential=True),
    repeatable(
        "--metric [COLUMN=]NAME",
        "The metric: race=NMI, or NMI for all; repeat. Default: chosen by the kinds of the columns.",
    ),
    Option("--event [COLUMN=]VALUE", "The output value that rates and sentences are about: deny=yes.", essential=True),
    flag("--adverse", "The event is bad for people. Without this or --favourable, nothing is judged.", essential=True),
    repeatable("--favourable COLUMN=VALUE", "The output value that is good for people: 'income=>50K'.", essential=True),
    repeatable("--reference COLUMN=VALUE", "The group that others are compared with: sex=Male."),
)

WORDS = section(
    "Words",
    repeatable(
        "--label COLUMN[:VALUE]=WORDS",
        "What a column, or the people with a value, are called in sentences: sex:Female=women; repeat.",
    ),
    Option("--people WORDS", "What the rows are: applicants. Default: people."),
    Option("--outcome WORDS", "What happens to those with the favourable output, as a verb: 'are accepted'."),
)

ERRORS = section(
    "Errors",
    Option("--truth COLUMN", "What turned out to be true.", required=True),
    Option("--threshold NUMBER", "Scores of at least this count as positive predictions.", type=float, essential=True),
    Option(
        "--error NAME",
        "What an error is: absolute, squared or signed; brier or log-loss; class or confusion. Default: by the kinds "
        "of the columns.",
        choices=error_names,
    ),
    Option(
        "--notion NAME",
        "A notion of fairness instead: false-positive-rate (fpr), false-negative-rate (fnr), equalized-odds, "
        "predictive-parity, calibration, accuracy, selection-rate.",
        choices=notion_names,
        essential=True,
    ),
)

SOURCE = section(
    "Columns and files",
    repeatable("--categorical COLUMN", "This column holds categories; repeat."),
    repeatable("--numeric COLUMN", "This column holds numbers; repeat."),
    repeatable("--ordered COLUMN=A<B<C", "This column has an order, low to high; repeat."),
    Option(
        "--person COLUMN",
        "The column that names the person, if people have several rows: their rows stay together.",
        essential=True,
    ),
    Option("--weights COLUMN", "Survey weights: how much a row counts in rates, effects and the search."),
    Option("--counts COLUMN", "How many identical people a row stands for, in a table of counts."),
    repeatable("--missing TEXT", "This text means a missing value, as an empty field does; repeat."),
    Option(
        "--delimiter CHARACTER",
        "The character between the fields of a CSV file. Default: the one its first line suggests.",
    ),
    Option("--encoding NAME", "How a CSV file is encoded. Default: UTF-8."),
    Option(
        "--decimal CHARACTER",
        "The decimal mark of a CSV file, '.' or ','. Default: '.', and ',' too where ';' separates the fields.",
    ),
    Option(
        "--engine NAME",
        "Where people are counted: memory, disk (for files larger than memory), or the address of a Dask scheduler "
        "(tcp://host:8786). Default: disk for files from 500 MB on (compressed: 200 MB), else memory.",
        choices=("auto", "memory", "disk"),
    ),
    Option("--memory SIZE", "How much memory to use with --engine disk. Default: 1 GB."),
)

SEARCH = section(
    "Search",
    Option("--train-size SHARE", "The share of the people to search with. Default: 0.3.", type=float),
    *(plan_option(option) for option in TrainingPlan.options() if option.name != "preset"),
)

TEST = section(
    "Test",
    with_default(1, "--budget", "The number of test sets; above 1, a workspace records which are spent."),
    Option("--workspace DIR", "The workspace to use; it is made if there is none. Default: beside the data."),
    with_default(0.95, "--conf", "The confidence that everything reported is true together."),
    *map(plan_option, TestingPlan.options()),
    with_default(0, "--seed", "Fixes the split: the same seed gives the same report."),
    flag("--again", "Spend another test set on a question that the workspace has answered already."),
    flag(
        "--train-only",
        "Show what the search proposes and how large a disparity the test could confirm; spend nothing.",
        essential=True,
    ),
)

OUTPUT = section(
    "Output",
    flag("--full", "Show everything on the terminal, not only what fits on a screen.", essential=True),
    Option("--out DIR", "Write the report as text, HTML and JSON into this folder.", essential=True),
    *(Option(f"--{form.name} FILE", form.option, essential=form.name == "html") for form in FILES),
    Option("--figures DIR", "Write each figure as SVG into this folder."),
    Option(
        "--fail-on-findings [SIZE]",
        "Exit with 1 if anything is reported, or only if an effect is beyond SIZE (0.05 is five points).",
        is_flag=False,
        flag_value=0.0,
        type=SizeType(),
    ),
    flag("--quiet", "Show no progress, and no messages about files written or read."),
    flag("--verbose", "Say on stderr what was read, which kinds were chosen, and how long each stage took."),
)
