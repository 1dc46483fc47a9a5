"""What all investigations share: roles, metrics, and the state they go through."""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from fairtest.data.source import DataSource, check_one_row_a_person
from fairtest.exceptions import InputError, UsageError, argument, setting, the
from fairtest.investigations.column_notes import column_note
from fairtest.investigations.question import Question
from fairtest.investigations.roles import names_of, plain_name, protected_variable, strata_variable
from fairtest.investigations.suspicions import Declared, Roles, Suspicions
from fairtest.investigations.useless import useless_columns
from fairtest.metrics.choice import BUILT_IN, fitting_metric
from fairtest.metrics.registry import Metric
from fairtest.model.names import Names
from fairtest.types import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from fairtest.data.variables import Variable
    from fairtest.model.described_data import ColumnNote
    from fairtest.model.report import ErrorNote, LabelSettings
    from fairtest.model.results import Results, Training

    Metrics: TypeAlias = Mapping[str | tuple[str, ...], str | Metric] | str | Metric | None


class Investigation(ABC):
    """One thing to find out about the people of a data source.

    It never changes, but for what it remembers: ``training`` is what :func:`fairtest.train` found for it last,
    ``results`` what :func:`fairtest.test` made of that; both are None before.
    """

    kind: ClassVar[str]
    implied: tuple[str, ...] = ()
    """Explanatory attributes that the question brings along."""
    everyone: Variable | None = None
    """The output before it was restricted to the people it is about; None where it is about everybody."""
    confusion: Variable | None = None
    """The four cells of a prediction and its truth; None where there are none."""
    explained_by: tuple[str, ...] = ()
    """Explanatory attributes that were added to explain what was found without them."""

    def __init__(
        self,
        source: DataSource,
        protected: str | Sequence[str | tuple[str, ...]],
        output: str,
        contextual: Sequence[str] | None = None,
        explanatory: str | Sequence[str] | None = None,
        metrics: Metrics = None,
        exclude: str | Sequence[str] | None = None,
    ) -> None:
        if not isinstance(source, DataSource):
            raise InputError(
                f"The 'source' of {type(self).__name__} must be a DataSource. Got {type(source).__name__} instead; "
                "make one with fairtest.DataSource(data)."
            )
        output = plain_name(output)
        if not isinstance(output, str):
            raise InputError(f"{the('output')} must be the name of a column. Got {output!r} instead.")
        self.source = source
        self.groups = _protected_names(protected)
        self.output_name = output
        self.explanatory = names_of("explanatory", explanatory)
        self.contextual = None if contextual is None else names_of("contextual", contextual)
        self.exclude = names_of("exclude", exclude)
        self.output = self._output()
        self._check_roles()
        self.explanatory = (*self.implied, *self.explanatory)
        self.strata = strata_variable(source, self.explanatory)
        self.suspicions = Suspicions(source.table, self._roles(), Declared.of(source))
        self.questions = self._questions(metrics)
        self.named = not source.budget.shown
        self.training: Training | None = None
        self.results: Results | None = None

    @abstractmethod
    def _output(self) -> Variable:
        """Return what the application did, as the metric sees it."""

    @property
    def output_kind(self) -> Kind:
        """The kind of what is compared between groups."""
        return self.output.kind

    @property
    def outputs(self) -> frozenset[str]:
        """The columns that hold what the application did: never contexts."""
        return frozenset(self.output.columns)

    def output_role(self, name: str) -> str:  # noqa: ARG002 - other investigations have several
        """Return what one of the output columns is."""
        return "output"

    @property
    def favourable_is(self) -> str:
        """How the output value that effects are about was chosen: "declared", "true" (it is 1) or the "rarer" one."""
        if any(column in self.source.favourable for column in self.output.columns):
            return "declared"
        return "true" if self.output.levels and self.output.levels[-1] == 1 else "rarer"

    @property
    def names(self) -> Names:
        """What the report calls columns, groups and people: the user's words, where there are some."""
        words = self.source.words
        return Names(labels=words.groups, people=words.people, columns=words.columns)

    @property
    def error_note(self) -> ErrorNote | None:
        """What the report says of the errors it is about; None where it is about none."""
        return None

    @property
    def label_settings(self) -> LabelSettings | None:
        """What the report says of the labels that were looked at; None where there is one output."""
        return None

    def column_notes(self) -> tuple[ColumnNote, ...]:
        """Return how each column was understood and used."""
        return tuple(column_note(self, column) for column in self.source.table.columns.values())

    def arguments(self) -> dict[str, object]:
        """Return the arguments that make the investigation again, as plain data.

        Attributes that were added to explain what was found are not among them.
        """
        added = {*self.implied, *self.explained_by}
        return {
            "protected": [list(group) for group in self.groups],
            "output": self.output_name,
            "contextual": self.contextual,
            "explanatory": [name for name in self.explanatory if name not in added],
            "metrics": {q.protected.name: q.metric.name for q in self.questions},
            "exclude": self.exclude,
        }

    @property
    def title(self) -> str:
        """What is asked, in a few words: to say which investigation of a batch is meant."""
        return f"{type(self).__name__} of {self.output_name!r} by {', '.join(' × '.join(g) for g in self.groups)}"

    def contexts_for(self, protected: Variable) -> tuple[str, ...]:
        """Return the columns that may cut contexts when asking about a protected attribute."""
        taken = {*protected.columns, *self.outputs, *self.explanatory, *self.exclude, *self.source.not_attributes}
        names: Iterable[str] = self.contextual or ()
        if self.contextual is None:
            names = (
                n for n in self.source.table.columns if n not in self.suspicions.kept_out and n not in self.useless
            )
        return tuple(n for n in names if n not in taken and self.source.table[n].kind is not Kind.IDENTIFIER)

    @cached_property
    def useless(self) -> dict[str, str]:
        """Columns that make no sense as contexts, and why; nothing where the user names the contexts."""
        if self.contextual is not None:
            return {}
        roles = [("protected attribute", protected_variable(self.source, group)) for group in self.groups]
        roles += [("output", self.output)] if self.kind == "testing" else []
        taken = {*(name for group in self.groups for name in group), *self.outputs, *self.explanatory, *self.exclude}
        return useless_columns(self.source, roles, taken)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What suggests that rows are not one person each, of equal weight: in sentences, for the top of a report."""
        return self.suspicions.sentences(round(1 - self.source.conf, 15))

    def _roles(self) -> Roles:
        """Return which columns have a role, for whoever looks for people and weights among the others."""
        protected = tuple(dict.fromkeys(name for group in self.groups for name in group))
        given = self.outputs.union(self.explanatory)
        decided = frozenset(self.exclude).union(self.contextual or ())
        names = self.source.table.columns if self.contextual is None else self.contextual
        usable = (n for n in names if n not in self.exclude and self.source.table[n].kind is not Kind.IDENTIFIER)
        outputs = () if self.label_settings else self.outputs
        return Roles(protected, given, decided, tuple(dict.fromkeys((*usable, *self.explanatory, *sorted(outputs)))))

    def conditioned_on(self, names: tuple[str, ...]) -> Investigation:
        """Return the same investigation, untrained, with these explanatory attributes beside those it has."""
        taken = {name: "protected" for group in self.groups for name in group}
        taken |= {name: self.output_role(name) for name in self.outputs}
        for name in names:
            self.source.table[name]  # raises with the nearest names
            if name in taken:
                raise _two_roles(name, taken[name], "explanatory")
        copied = copy(self)
        copied.explanatory = tuple(dict.fromkeys((*self.explanatory, *names)))
        copied.explained_by = (*self.explained_by, *(n for n in names if n not in self.explanatory))
        copied.strata = strata_variable(self.source, copied.explanatory)
        copied.questions = tuple(replace(q, strata=copied.strata) for q in self.questions)
        for question in copied.questions:
            copied._check_design(question.metric)
        copied.training = copied.results = None
        copied.named = False  # what is to be explained has been shown
        return copied

    def require_training(self, call: str) -> Training:
        """Return what training found; raise if the investigation is not trained."""
        if self.training is None:
            raise UsageError(f"{call}() needs contexts: call train([...]) on the investigation first.")
        return self.training

    def require_results(self, call: str) -> Results:
        """Return what the test set said; raise if the investigation is not tested."""
        if self.results is None:
            raise UsageError(f"{call}() needs results: call train([...]) and test([...]) on the investigation first.")
        return self.results

    def _questions(self, metrics: Metrics) -> tuple[Question, ...]:
        named = self._named_metrics(metrics)
        questions = []
        for names in self.groups:
            protected = protected_variable(self.source, names)
            chosen = named.get(protected.name, self._usual_metric(protected))
            metric = fitting_metric(chosen, (protected.name, protected.kind), (self.output.name, self.output_kind))
            self._check_design(metric)
            questions.append(self._question(protected, metric))
        return tuple(questions)

    def _check_design(self, metric: Metric) -> None:
        """Raise if a metric cannot tell people with several rows, or with weights, from as many others."""
        source, conditional = self.source, self.strata is not None
        if source.design is None or metric.effective_rows(conditional=conditional) is not None:
            return
        given = " given explanatory attributes" if conditional and metric.effective is not None else ""
        others = ", ".join(m.name for m in BUILT_IN if m.effective_rows(conditional=conditional) is not None)
        check_one_row_a_person(f"the metric {metric.name}{given}", source.person, source.weights, f"one of {others}")

    def _question(self, protected: Variable, metric: Metric) -> Question:
        """Return the question about one protected attribute."""
        contextual = self.contexts_for(protected)
        reference = self.source.reference.get(protected.name)
        cells = self.confusion
        return Question(protected, self.output, self.strata, metric, contextual, self.everyone, reference, cells)

    def _usual_metric(self, protected: Variable) -> Metric | None:  # noqa: ARG002 - for others to say
        """Return the metric where the user names none and the kinds alone should not decide."""
        return None

    def _named_metrics(self, metrics: Metrics) -> dict[str, str | Metric]:
        names = [" × ".join(g) for g in self.groups]
        if metrics is None:
            return {}
        if isinstance(metrics, (str, Metric)):
            return dict.fromkeys(names, metrics)
        named = {" × ".join(k) if isinstance(k, tuple) else k: v for k, v in metrics.items()}
        for name in named:
            if name not in names:
                raise InputError(
                    f"{setting('metrics', {name: ...})}: there is no such protected attribute; they are "
                    f"{', '.join(map(repr, names))}."
                )
        return named

    def _check_roles(self) -> None:
        """Raise if a column does not exist, or has two roles."""
        protected = {name for group in self.groups for name in group}
        for name in (*protected, *self.explanatory, *(self.contextual or ()), *self.exclude):
            self.source.table[name]  # raises with the nearest names
        for name in (*protected, *self.outputs, *self.explanatory, *(self.contextual or ())):
            if name in self.source.not_attributes:
                raise InputError(
                    f"The column {name!r} says what rows are ({setting(self.source.not_attributes[name], name)}) and "
                    "is no attribute of people. Name another column, or give the data without that option."
                )
        roles = dict.fromkeys(protected, "protected")
        others = [(name, self.output_role(name)) for name in sorted(self.outputs)]
        others += [(name, "explanatory") for name in self.explanatory] + [(name, "exclude") for name in self.exclude]
        for name, role in others:
            if name in roles:
                raise _two_roles(name, roles[name], role)
            roles[name] = role
        # a protected attribute may be a context for the other ones, everything else has one role
        for name in self.contextual or ():
            if roles.get(name, "protected") != "protected":
                raise _two_roles(name, roles[name], "contextual")


def _two_roles(name: str, first: str, second: str) -> InputError:
    return InputError(
        f"The column {name!r} is named in two roles, {first!r} and {second!r}. A column can have one: take it out of "
        "the other."
    )


def _protected_names(protected: str | Sequence[str | tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    protected = plain_name(protected)
    given = [protected] if isinstance(protected, str) else list(protected or ())
    groups = tuple(dict.fromkeys(names_of("protected", g) for g in given))
    if not groups or not all(groups):
        raise InputError(
            f"{argument('protected')} must name at least one column: {setting('protected', 'sex')} or "
            f"{setting('protected', ['sex', 'race'])}."
        )
    return groups
