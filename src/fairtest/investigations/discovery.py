"""Discovery: which of many labels go with a protected attribute, when nobody knows which to suspect?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from fairtest.data.labels import label_columns, labels_of
from fairtest.data.source import DataSource
from fairtest.data.variables import Part, Variable
from fairtest.engine.kernel.labels import sums_of_entries
from fairtest.exceptions import InputError, in_python
from fairtest.investigations.base import Investigation
from fairtest.investigations.question import Question
from fairtest.metrics.choice import BUILT_IN
from fairtest.model.described_data import ColumnNote
from fairtest.model.plans import check_whole
from fairtest.model.report import LabelSettings
from fairtest.types import Kind, SummaryKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from fairtest.data.axes import Condition
    from fairtest.data.labels import Labels
    from fairtest.data.strata import FinerStrata
    from fairtest.data.summaries import Target
    from fairtest.engine.contract import Engine
    from fairtest.investigations.base import Metrics
    from fairtest.metrics.registry import Metric
    from fairtest.types import IntArray

TOP_K = 35
"""How many labels are kept in each context, as in the paper's image tagger."""
MIN_PEOPLE = 10
_NOT_OF_LABELS = (SummaryKind.ROWS, SummaryKind.GROUP_MOMENTS)
"""What is not counted for many labels at once."""


@dataclass(frozen=True, kw_only=True)
class LabelQuestion(Question):
    """Which of the labels are associated with a protected attribute; ``output`` stands for all of them.

    Attributes
    ----------
    top_k
        How many labels are kept in each context.
    min_people
        The fewest people of the whole table a label may have.
    """

    labels: Labels  # type: ignore[misc]
    top_k: int  # type: ignore[misc]
    min_people: int  # type: ignore[misc]
    population_first: ClassVar[bool] = False  # which labels are tested over everybody, training decides

    @property
    def output_names(self) -> tuple[str, ...]:
        """The labels."""
        return self.labels.names

    def about(self, output: int) -> Question:
        """Return the question about one label."""
        return Question(self.protected, self.labels.variable(output), self.strata, self.metric, self.contextual)

    def test_targets(
        self, source: DataSource, outputs: Iterable[int], contexts: int = 1, finer: FinerStrata | None = None
    ) -> dict[int, Target]:
        """Return what the validation counts for each of some labels."""
        any_label = self.about(0).test_target(source, contexts, finer)
        return {i: replace(any_label, output=self.labels.variable(i)) for i in outputs}

    def count_entries(
        self,
        engine: Engine,
        number: int,
        target: Target,
        conditions: Sequence[Sequence[Condition]],
        outputs: IntArray | None,
    ) -> NDArray[Any]:
        """Return the sums of some contexts in a set, all labels counted in one pass."""
        assert outputs is not None
        return sums_of_entries(engine.label_counter(number, target, self.labels), conditions, outputs)

    def finer_strata(self, source: DataSource, contexts: int = 1) -> None:
        """Return nothing: labels are compared in the strata that are shown, which are counted for all at once."""


class Discovery(Investigation):
    """Looks for associations between protected attributes and any of many labels (section 3.3 of the paper).

    For applications that attach labels from a large set: tags of a picture, interests, recommended items. In the whole
    population and in subpopulations, the labels are found that go with a group; each is then tested by itself.

    Parameters
    ----------
    source
        The people.
    protected
        One protected attribute or several: see :class:`Testing`.
    output
        Columns of 0 and 1 (or booleans), one for each label; ``"tag_*"`` stands for all columns it fits. Or one column
        of label sets: lists, or text that is cut at ``separator``.
    top_k
        How many labels are kept in each context, by a regression of the protected attribute on them; those are tested.
    separator
        What is between two labels, where one column has them as text: ``"|"``. An empty field means that nothing is
        known of a person; one without labels has the separator alone.
    min_people
        Labels that fewer people of the whole table have (or have not) are left out and counted; looked for, in
        proportion, in the training set.
    contextual, explanatory, metrics, exclude
        See :class:`Testing`. By default a label is measured by DIFF, NMI or CORR, as the protected attribute has two
        values, more, or is a number.

    Examples
    --------
    >>> people = {"sex": ["f", "m"] * 100, "tags": ["a|b", "b", "c|a", "|"] * 50}
    >>> d = Discovery(DataSource(people), protected="sex", output="tags", separator="|")
    >>> d.labels.names, d.questions[0].metric.name
    (('a', 'b', 'c'), 'DIFF')
    """

    kind: ClassVar[str] = "discovery"

    def __init__(
        self,
        source: DataSource,
        protected: str | Sequence[str | tuple[str, ...]],
        output: str | Sequence[str],
        top_k: int = TOP_K,
        separator: str | None = None,
        min_people: int = MIN_PEOPLE,
        contextual: Sequence[str] | None = None,
        explanatory: str | Sequence[str] | None = None,
        metrics: Metrics = None,
        exclude: str | Sequence[str] | None = None,
    ) -> None:
        self.top_k = check_whole("top_k", top_k, "Discovery")
        self.min_people = check_whole("min_people", min_people, "Discovery")
        self.separator = separator
        self._columns: tuple[str, ...] = ()
        if isinstance(source, DataSource):
            _check(source)
            self._columns = label_columns(source.table, output)
            self.labels: Labels = labels_of(source.table, self._columns, separator)
        named = self._columns[0] if len(self._columns) == 1 else f"{len(self._columns):,} labels"
        super().__init__(source, protected, named, contextual, explanatory, metrics, exclude)

    @property
    def output_kind(self) -> Kind:
        """The kind of each label: people have it or not."""
        return Kind.BINARY

    @property
    def label_settings(self) -> LabelSettings:
        """Which labels were looked at."""
        return LabelSettings(len(self.labels), self.top_k, self.min_people, self.separator)

    def column_notes(self) -> tuple[ColumnNote, ...]:
        """Return how each column was used; the columns of labels are one entry."""
        others = (note for note in super().column_notes() if note.name not in self.outputs)
        reason = f"{len(self.labels):,} different" if len(self.outputs) == 1 else "a column for each"
        missing = int(self.labels.missing.size)
        return (*others, ColumnNote(self.output_name, "labels", "output", reason, missing))

    def arguments(self) -> dict[str, object]:
        """Return the arguments that make the investigation again; the output is all of its columns."""
        own = {"top_k": self.top_k, "separator": self.separator, "min_people": self.min_people}
        return {**super().arguments(), "output": self.output.columns, **own}

    def _output(self) -> Variable:
        if not len(self.labels):
            raise InputError(f"The output {self.output_name!r} holds no labels. Name another column.")
        parts = tuple(Part(column, ()) for column in self._columns)
        return Variable(self.output_name, Kind.CATEGORICAL, parts, levels=self.labels.names)

    def _question(self, protected: Variable, metric: Metric) -> LabelQuestion:
        if metric.summary in _NOT_OF_LABELS:
            *others, last = (m.name for m in BUILT_IN if m.summary not in _NOT_OF_LABELS)
            raise InputError(
                f"The metric {metric.name} cannot be used for labels. Use {', '.join(others)} or {last}"
                f"{in_python(', or a metric of your own of counts')}."
            )
        return LabelQuestion(
            protected,
            self.output,
            self.strata,
            metric,
            self.contexts_for(protected),
            labels=self.labels,
            top_k=self.top_k,
            min_people=self.min_people,
        )


def _check(source: DataSource) -> None:
    if not source.split:
        raise InputError("Discovery chooses labels on a training set, and split=False has none. Take out split=False.")
    if source.reuse:
        raise InputError(
            "Discovery cannot be put to a reusable test set (reuse=True): the answers about many labels would tell too "
            "much of it. Use disjoint test sets (reuse=False), or Testing of the labels you suspect."
        )
