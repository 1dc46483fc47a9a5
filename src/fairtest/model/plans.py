"""How contexts are to be searched and tested: everything a user can choose, checked when it is chosen.

A plan knows nothing of the data. What is only known later (how many people of the training set a context must have, the
number and the level of the test set) stands beside it, in :class:`TrainingRun` and :class:`TestingRun`.

Each field says for itself what it means and which values it may have, so that the Python calls, the command line,
``fairtest.toml`` and the settings of a report can be made from the fields: see :meth:`Plan.options`. This module loads
nothing heavy, because the help of the command line reads it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypedDict, get_args

from fairtest.exceptions import InputError, in_python, setting, the, unknown_name

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from fairtest.model.report import Reuse

SearchName = Literal["auto", "tree", "forest", "exhaustive"]
Score = Literal["bound", "point"]
Aggregate = Literal["max", "avg", "weighted"]
Method = Literal["auto", "resampling"]
Preset = Literal["paper"]

CORRECTIONS = ("pooled", "holm", "weighted-holm", "max-t", "bonferroni", "bh", "by")
"""The names of corrections; :mod:`fairtest.inference.multiplicity.corrections` says what each does."""

TREES = 16
"""How many trees a forest has unless the user says otherwise: the most of the paper's comparison."""
WIDEST = 1000
"""How many populations of one depth a tree cuts further. A hundred thousand people hardly have more that are large
enough. Ten million have a hundred times as many, and testing them all takes the power from each."""


@dataclass(frozen=True)
class PlanOption:
    """One choice of a plan, described for whatever shows or reads it.

    Attributes
    ----------
    help
        One sentence or two, for the command line.
    details
        What the documentation of the Python calls says; the help where there is no more to say.
    choices
        The values it may have, where they are names; empty for numbers.
    paper
        The default in the paper's preset, where it is another.
    least
        The least value of a whole number.
    """

    name: str
    type: type[str] | type[int] | type[float]
    default: Any
    help: str
    details: str
    choices: tuple[str, ...] = ()
    paper: str | float | None = None
    least: int = 1


def _option(
    default: Any,
    help: str,  # noqa: A002 - what it is called in PlanOption, and on the command line
    details: str = "",
    *,
    kind: type[str] | type[int] | type[float] = str,
    choices: tuple[str, ...] = (),
    paper: str | float | None = None,
    least: int = 1,
) -> Any:
    """Return the field of a plan that describes itself: see :class:`PlanOption`."""
    described = {
        "type": kind, "help": help, "details": details or help, "choices": choices, "paper": paper, "least": least,
    }  # fmt: skip
    return field(default=default, metadata=described)


@dataclass(frozen=True)
class Plan:
    """What plans share: how they are made from options that may be left out, checked, and described."""

    call: ClassVar[str]
    """The function whose arguments these are, for messages."""

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """Return the plan for the options that were given; the others, and those that are None, have their defaults.

        Examples
        --------
        >>> TrainingPlan.of({"preset": "paper", "max_depth": 3, "search": None}).search
        'tree'
        """
        check_options(cls.call, given, [f.name for f in fields(cls)])
        chosen = {name: value for name, value in given.items() if value is not None}
        paper = chosen.get("preset") == "paper"
        usual = {f.name: f.metadata["paper"] for f in fields(cls) if paper and f.metadata["paper"] is not None}
        return cls(**{**usual, **chosen})

    @classmethod
    def options(cls) -> tuple[PlanOption, ...]:
        """Return the choices there are, in order.

        Examples
        --------
        >>> {option.name: option.default for option in TestingPlan.options()}
        {'correction': None, 'method': 'auto', 'tolerance': None, 'population_share': 0.5, 'preset': None}
        """
        return tuple(PlanOption(f.name, default=f.default, **f.metadata) for f in fields(cls))

    def __post_init__(self) -> None:
        for option in self.options():
            value = getattr(self, option.name)
            if value is None and option.default is None:
                continue
            if option.name == "preset":
                check_preset(value)
            elif option.choices and value not in option.choices:
                allowed = ", ".join(map(repr, option.choices))
                raise InputError(f"{the(option.name)} must be one of {allowed}. Got {value!r} instead.")
            elif option.type is int:
                # numbers of other libraries are welcome, and become numbers of Python: reports are stored as JSON
                object.__setattr__(self, option.name, check_whole(option.name, value, self.call, least=option.least))


@dataclass(frozen=True)
class TrainingPlan(Plan):
    """How the training set is searched for contexts.

    Examples
    --------
    >>> TrainingPlan(search="forest").trees
    16
    >>> TrainingPlan(min_size=0)
    Traceback (most recent call last):
    fairtest.exceptions.InputError: The 'min_size' of train must be a whole number of at least 1. Got 0 instead.
    """

    call: ClassVar[str] = "train"

    max_depth: int = _option(
        5,
        "The largest number of conditions that describe a group; 0 asks about everybody only.",
        "The most cuts between the whole population and a context; 0 asks about the whole population only.",
        kind=int,
        least=0,
    )
    min_size: int = _option(
        100,
        "The smallest number of people in the whole table that a group may have.",
        "The fewest people a context may have in the whole table; a training set of half the people needs half "
        "of them. In the paper's preset, the fewest in the training set. ``min_leaf_size`` is the same.",
        kind=int,
    )
    search: SearchName = _option(
        "auto",
        "How to search: auto (default), exhaustive, forest, or tree (default of the paper's preset).",
        '``"auto"`` (default): every conjunction of up to three predicates (two or one, where those would be too '
        'many), and the association-guided tree for deeper ones; ``"exhaustive"`` or ``"tree"`` for one of the '
        'two; ``"forest"`` for the tree again and again, each node choosing among a few attributes drawn at '
        "random.",
        choices=get_args(SearchName),
        paper="tree",
    )
    score: Score = _option(
        "bound",
        "What a split of the tree is judged by: bound (of the effect) or point (estimate).",
        'What the tree scores a split by: the lower confidence ``"bound"`` of its children\'s effects '
        '(default), or the ``"point"`` estimates (default of the paper\'s preset).',
        choices=get_args(Score),
        paper="point",
    )
    aggregate: Aggregate = _option(
        "max",
        "Which parts of a split count: max (the best one), avg or weighted (all of them).",
        'Which children count for the score of a split: the best (``"max"``, default), or all of them, by '
        'their average (``"avg"``, default of the paper\'s preset) or ``"weighted"`` by their sizes.',
        choices=get_args(Aggregate),
        paper="avg",
    )
    preset: Preset | None = _option(
        None,
        "'paper' for the paper's own method: Algorithm 1 as written, Holm, equal shares.",
        '``"paper"`` for Algorithm 1 as written.',
        choices=get_args(Preset),
    )
    trees: int | None = _option(
        None,
        "How many trees a forest has. Default: 16.",
        "How many trees a forest has (default: 16; the first is the guided tree itself).",
        kind=int,
    )
    attributes_per_node: int | None = _option(
        None,
        "How many attributes each node of a forest can choose from. Default: a third of them.",
        "Among how many attributes each node of the other trees of a forest chooses (default: a third).",
        kind=int,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.search == "forest":
            object.__setattr__(self, "trees", self.trees or TREES)
            return
        for name in ("trees", "attributes_per_node"):
            if getattr(self, name) is not None:
                raise InputError(
                    f"{the(name, 'of train')} are those of a forest. Add {setting('search', 'forest')}, or take it out."
                )


@dataclass(frozen=True)
class TestingPlan(Plan):
    """How the contexts are tested.

    Examples
    --------
    >>> TestingPlan(correction="hölm")
    Traceback (most recent call last):
    fairtest.exceptions.InputError: There is no correction 'hölm'. Did you mean 'holm'? Corrections: 'pooled', ...
    """

    __test__: ClassVar[bool] = False  # not a test case, whatever its name
    call: ClassVar[str] = "test"

    correction: str | None = _option(
        None,
        f"How p-values are corrected for the number of tests: {', '.join(CORRECTIONS)}.",
        '``"pooled"`` (default): step-down, each hypothesis weighted by the evidence of the training set; '
        '``"holm"`` (default of the paper\'s preset, and without a training set), ``"weighted-holm"``, '
        '``"bonferroni"``; ``"max-t"``: step-down, drawing how hypotheses about the same people depend on each '
        'other, best with ``split=False`` and up to some thousand contexts; ``"bh"`` and ``"by"`` (Benjamini and '
        "Hochberg, Benjamini and Yekutieli) control the share of false findings only.",
        choices=CORRECTIONS,
    )
    method: Method = _option(
        "auto",
        "How p-values are computed: auto or resampling.",
        '``"auto"``: the calibrated test and interval of each metric; ``"resampling"``: permutation and bootstrap.',
        choices=get_args(Method),
    )
    tolerance: float | None = _option(
        None,
        "The largest effect that does not matter, such as 0.05.",
        "The largest effect that does not matter, for means in the unit of the output; each finding then says whether "
        "the disparity is beyond it, within it, or whether there is not enough data to say, and how many people it "
        "would take.",
        kind=float,
    )
    population_share: float = _option(
        0.5,
        "The share of the error level that is kept for the whole population. Default: 0.5.",
        "The share of the level that is kept for the question over everybody, who are tested on the training set too "
        "if the question was there before anything was shown. Groups have the rest, and all of it where every "
        "population is confirmed. 0 (always in the paper's preset and for labels) makes the whole population one "
        "hypothesis among the others.",
        kind=float,
        paper=0.0,
    )
    preset: Preset | None = _option(
        None,
        "'paper' for the paper's own method: Algorithm 1 as written, Holm, equal shares.",
        '``"paper"`` for Holm, ranking by simultaneous intervals, and everything shown that is stronger than '
        "the larger contexts around it. Default: that of the training.",
        choices=get_args(Preset),
    )

    def __post_init__(self) -> None:
        if self.correction is not None and self.correction not in CORRECTIONS:
            raise unknown_name("correction", self.correction, CORRECTIONS)
        super().__post_init__()
        share = self.population_share
        if not (_is_number(share) and 0 <= float(share) < 1):
            raise InputError(
                f"{the('population_share', 'of test')} must be a number from 0 up to, but not, 1, such as 0.5. "
                f"Got {share!r} instead."
            )
        object.__setattr__(self, "population_share", float(share))
        tolerance = self.tolerance
        if tolerance is not None and not (_is_number(tolerance) and 0 < float(tolerance) < float("inf")):
            raise InputError(
                f"{the('tolerance')} must be a number above 0, such as 0.05 for five points (for means, in the unit of "
                f"the output). Got {tolerance!r} instead."
            )


def _is_number(value: Any) -> bool:
    return not isinstance(value, bool) and hasattr(value, "__float__")


def check_options(call: str, given: Iterable[str], known: Collection[str]) -> None:
    """Raise if a call has no such option, as Python does for an argument, and say which there are."""
    for name in given:
        if name not in known:
            raise TypeError(str(unknown_name(f"option of {call}()", name, known)))


def check_whole(name: str, value: Any, owner: str, *, least: int = 1, meaning: str = "") -> int:
    """Return a whole number that a user gave, as Python's own; raise if it is none, or too small.

    Parameters
    ----------
    owner
        What has the argument, for the message: a function or a class.
    meaning
        What the number decides, for those who did not know.
    """
    # booleans are whole numbers to Python, and never what was meant
    if isinstance(value, bool) or not hasattr(value, "__index__") or value < least:
        what = f"a whole number of at least {least}" + (f" ({meaning})" if meaning else "")
        raise InputError(f"{the(name, f'of {owner}')} must be {what}. Got {value!r} instead.")
    return int(value)


def check_preset(preset: str | None) -> None:
    """Raise if there is no such preset."""
    if preset is not None and preset not in get_args(Preset):
        raise InputError(f"{the('preset')} must be {in_python('None or ')}'paper'. Got {preset!r} instead.")


class TrainingOptions(TypedDict, total=False):
    """Keywords of :func:`fairtest.train`, for type checkers: fields of its plan, None for the default."""

    search: SearchName | None
    score: Score | None
    aggregate: Aggregate | None
    trees: int | None
    attributes_per_node: int | None


class TestingOptions(TypedDict, total=False):
    """Keywords of :func:`fairtest.test`, likewise."""

    correction: str | None
    method: Method
    tolerance: float | None
    population_share: float | None


@dataclass(frozen=True)
class TrainingRun:
    """A plan for one training set.

    Attributes
    ----------
    min_people
        The fewest people of the training set a context may have.
    seed
        Where the randomness of a forest starts.
    widest
        The most populations of one depth that a tree cuts further, the strongest ones; None for all of them.
    """

    plan: TrainingPlan
    min_people: float
    seed: int = 0
    widest: int | None = WIDEST


@dataclass(frozen=True)
class TestingRun:
    """A plan for one test set.

    Attributes
    ----------
    number, level
        Which test set it is, and the level of everything that is tested on it together.
    correction
        The correction that is used: the plan's, or the default for these people.
    reuse
        What a reusable test set had told by then; None where the test set answers once.
    """

    __test__: ClassVar[bool] = False  # not a test case, whatever its name

    plan: TestingPlan
    number: int
    level: float
    correction: str
    reuse: Reuse | None = None
