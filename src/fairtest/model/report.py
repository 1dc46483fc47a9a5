"""The report: everything that was asked, done and found, ready to be shown."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from fairtest.model.above import provider
from fairtest.model.answer import AttributeAnswer
from fairtest.model.hierarchy import tree_of
from fairtest.model.names import Names

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path

    from fairtest.model.described_data import DataInfo
    from fairtest.model.finding import Finding, Tested
    from fairtest.model.hierarchy import Node
    from fairtest.types import Level


@dataclass(frozen=True)
class ErrorNote:
    """What an error profile is about.

    Attributes
    ----------
    truth
        The column that predictions are compared with.
    error, notion
        What was asked for; one of the two is None.
    measured
        What the tables and effects are of: ``absolute error of predicted``.
    subject
        What the whole report is about: ``false-positive rate of predicted``.
    meaning
        What that is, in words.
    positive
        The label that a false positive wrongly gives; None where there is none such.
    among
        The value of the truth that people must have, and the one of those left out; None where it is about everybody.
    """

    truth: str
    error: str | None
    notion: str | None
    measured: str
    subject: str
    meaning: str
    positive: Level | None = None
    among: tuple[Level, Level] | None = None


@dataclass(frozen=True)
class Settings:
    """Everything that must be repeated to get the same report."""

    conf: float
    level: float
    budget: int
    set: int
    train_size: float
    seed: int
    preset: str | None
    max_depth: int
    min_size: int
    correction: str
    search: str
    score: str
    aggregate: str
    method: str
    tolerance: float | None = None
    trees: int | None = None
    attributes_per_node: int | None = None
    population_share: float = 0.0


@dataclass(frozen=True)
class Reuse:
    """The state of a reusable test set around one question: see :mod:`fairtest.data.reuse`.

    Attributes
    ----------
    question, left
        Which question this is, and how many may still be asked.
    bits_before, bits
        How much the answers before this one had told about the test set, and how much this one does.
    next_level
        The level at which the next question will be tested.
    """

    question: int
    left: int
    bits_before: float
    bits: float
    next_level: float


@dataclass(frozen=True)
class LabelSettings:
    """What Discovery was asked to look at.

    Attributes
    ----------
    number
        How many labels there are.
    top_k
        How many were kept in each context.
    min_people
        The fewest people of the whole table a label may have.
    separator
        What is between two labels in a column of text; None where labels are columns or lists.
    """

    number: int
    top_k: int
    min_people: int
    separator: str | None


@dataclass(frozen=True, kw_only=True)
class AttributeReport(AttributeAnswer):
    """What was found for one protected attribute: its answer in words, and what was asked.

    Attributes
    ----------
    reference
        The group that effects are measured against; None where the metric compares no two groups.
    groups
        The values of the attribute, or None for a numeric one.
    looked_at
        Candidate contexts evaluated on the training set.
    significant, reported
        Of the contexts and the population: significant, and shown. Strata are counted apart.
    strata_shown
        How many of the significant strata belong to something shown.
    """

    name: str
    reference: Level | None
    groups: tuple[Level, ...] | None
    metric: str
    looked_at: int
    significant: int
    reported: int
    strata_shown: int = 0

    @property
    def unreported(self) -> tuple[Tested, ...]:
        """The significant contexts that are listed and are no findings, under what they repeat, the largest first."""
        return tuple(other for other in self.others if other.significant)

    @property
    def unlisted(self) -> int:
        """How many significant contexts are neither findings nor listed."""
        return max(self.significant - self.reported - len(self.unreported), 0)

    @cached_property
    def tree(self) -> tuple[Node, ...]:
        """The population, the findings and nodes of the guided tree, each under the nearest that contains it."""
        return tree_of(self.population, self.inside, self.others)

    @property
    def populations(self) -> tuple[Finding, ...]:
        """The whole population: one finding, or for Discovery one for each label tested over everybody."""
        return self.labels or (self.population,)

    @property
    def inside(self) -> tuple[Finding, ...]:
        """The findings in contexts."""
        return tuple(f for f in self.findings if len(f.context))


@dataclass(frozen=True, repr=False)
class Report:
    """The report of one investigation.

    Attributes
    ----------
    kind
        ``"testing"``, ``"discovery"`` or ``"error profiling"``.
    favourable
        The output value that effects are about; None for a numeric output or one of more than two values.
    favourable_is
        How it was chosen, and whether it is good for people: ``"declared"`` favourable or ``"adverse"`` by the user;
        not known where it is only an ``"event"`` the user named, ``"true"`` (True or 1), or the ``"rarer"`` of two.
    explanatory
        The attributes conditioned on.
    explains
        For an explanation: the number of the run whose groups it asks about again, and how many they are, the whole
        population of each protected attribute included.
    not_asked_again
        How many other groups were significant in that run, and speak of an explanatory attribute themselves.
    attributes
        One entry for each protected attribute, in the order given.
    family
        All hypotheses tested on the same set, those of other investigations of the batch included; 0 for just ours.
    warnings
        What speaks against what the report promises, in sentences that come first: people who may have several rows.
    notes
        Remarks about the whole run, in words.
    repeat
        The command or call that gives this report again; empty where it is to be put together from the settings.
    reuse
        Where a reusable test set stands; None where the test set answers once. With it, all numbers of findings are of
        the training set; ``significant`` and ``interval`` are what the test set confirms, and there are no p-values.
    errors
        What an error profile is about; None for other kinds.
    labels
        For Discovery: which labels were looked at.
    names
        What the user calls groups, columns, people and what happens to them.
    versions
        What else the numbers hang on: names and versions of Python and of the numerical libraries.
    """

    version: str
    kind: str
    output: str
    favourable: Level | None
    explanatory: tuple[str, ...]
    data: DataInfo
    settings: Settings
    attributes: tuple[AttributeReport, ...]
    family: int = 0
    notes: tuple[str, ...] = ()
    repeat: str = ""
    reuse: Reuse | None = None
    errors: ErrorNote | None = None
    labels: LabelSettings | None = None
    favourable_is: str = "declared"
    explains: tuple[int, int] | None = None
    not_asked_again: int = 0
    names: Names = field(default_factory=Names)
    versions: tuple[tuple[str, str], ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def good_row(self) -> int | None:
        """Which of two outputs is good for people, by its place; None where nobody has said."""
        if self.favourable is None:
            return None
        return {"declared": 1, "adverse": 0}.get(self.favourable_is)

    @property
    def measured(self) -> str:
        """What effects and tables are of: the output, or the error of it."""
        return self.output if self.errors is None else self.errors.measured

    @property
    def subject(self) -> str:
        """What the report is about: the output, or a rate of errors."""
        return self.output if self.errors is None else self.errors.subject

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The reported contexts: by protected attribute in the order given, strongest first within."""
        return tuple(f for a in self.attributes for f in a.findings)

    @property
    def populations(self) -> tuple[Finding, ...]:
        """The whole population, for each protected attribute; for Discovery, with each label tested there."""
        return tuple(f for a in self.attributes for f in a.populations)

    @property
    def looked_at(self) -> int:
        """Candidate contexts evaluated on the training set."""
        return sum(a.looked_at for a in self.attributes)

    @property
    def tested(self) -> int:
        """Hypotheses tested on the test set."""
        return sum(a.tested for a in self.attributes)

    @property
    def corrected_for(self) -> int:
        """How many hypotheses p-values are corrected for."""
        return max(self.family, self.tested)

    @property
    def significant(self) -> int:
        """Populations and contexts whose corrected p-value is at most the level; strata are counted apart."""
        return sum(a.significant for a in self.attributes)

    @property
    def reported(self) -> int:
        """Significant populations and contexts that are shown."""
        return sum(a.reported for a in self.attributes)

    @property
    def significant_strata(self) -> int:
        """Strata whose corrected p-value is at most the level."""
        return sum(a.significant_strata for a in self.attributes)

    @property
    def strata_shown(self) -> int:
        """Significant strata of what is shown."""
        return sum(a.strata_shown for a in self.attributes)

    @property
    def discovered(self) -> int:
        """The paper's name for :attr:`tested`."""
        return self.tested

    @property
    def validated(self) -> int:
        """The paper's name for :attr:`significant`."""
        return self.significant

    def render(self, form: str, path: str | PathLike[str] | None = None, **options: Any) -> Any:
        """Return the report in one of the forms that :mod:`fairtest.reporting.formats.registry` lists.

        It is also written to ``path``, if one is given.
        """
        return provider("forms of a report")(self, form, path, **options)

    def to_text(self, *, width: int = 100, color: bool = False, full: bool = True) -> str:
        """Return the report for a terminal ``width`` columns wide, with its colours if asked.

        Without ``full`` it is what fits a screen: the answer, one picture, how sure, and the groups that say most.
        Printing a report shows that.
        """
        return str(self.render("text" if full else "screen", width=width, color=color))

    def to_html(self, path: str | PathLike[str] | None = None) -> str:
        """Return the report as one HTML page, and write it to ``path`` if given."""
        return str(self.render("html", path))

    def to_json(self, path: str | PathLike[str] | None = None) -> str:
        """Return the report as JSON (schema 1), and write it to ``path`` if given."""
        return str(self.render("json", path))

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON report as Python objects."""
        return dict(self.render("dict"))

    def to_frame(self) -> Any:
        """Return populations and findings as a data frame: pandas if the data was, else polars."""
        return self.render("frame")

    def to_csv(self, path: str | PathLike[str] | None = None) -> str:
        """Return the rows of :meth:`to_frame` as CSV, and write them to ``path`` if given."""
        return str(self.render("csv", path))

    def to_markdown(self, path: str | PathLike[str] | None = None) -> str:
        """Return the report as Markdown, short enough for a pull request, and write it to ``path`` if given."""
        return str(self.render("markdown", path))

    def figures(self) -> dict[str, str]:
        """Return each figure of the report as SVG, under a name that can be a file's."""
        return dict(self.render("figures"))

    def save_figures(self, out_dir: str | PathLike[str]) -> list[Path]:
        """Write each figure as an SVG file into a folder, made if need be, and return the paths."""
        return list(self.render("figure files", out_dir=out_dir))

    def _repr_html_(self) -> str:
        return str(self.render("notebook"))

    def __repr__(self) -> str:
        asked = f"{self.subject} by {', '.join(a.name for a in self.attributes)}"
        number = len(self.findings)
        return f"<Report of {self.kind}: {asked}, {self.data.name}, {number} finding{'' if number == 1 else 's'}>"

    def __str__(self) -> str:
        return self.to_text(full=False)
