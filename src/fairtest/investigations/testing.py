"""Testing: is a suspected association there?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from fairtest.exceptions import InputError, argument, setting
from fairtest.investigations.base import Investigation
from fairtest.investigations.roles import output_variable
from fairtest.types import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtest.data.source import DataSource
    from fairtest.data.variables import Variable
    from fairtest.investigations.base import Metrics
    from fairtest.model.names import Names
    from fairtest.types import Level


class Testing(Investigation):
    """Tests for associations between protected attributes and one output (section 3.3 of the paper).

    Parameters
    ----------
    source
        The people.
    protected
        One protected attribute or several; a tuple of names crosses them into one: ``[("sex", "race")]``. Each may
        be a context for the others.
    output
        What the application did: a price, a decision, a score.
    contextual
        The columns that may describe subpopulations. Default: every other column that is not an identifier, nor looks
        like one that repeats or like a sampling weight: name these here if they are something else.
    explanatory
        Attributes on which it is fair to differ: the association is measured among people who share their values.
        Several are crossed; a numeric one is cut into bins, the more people the finer, and shown in fifths.
    metrics
        A metric for all, or for some: ``{"race": "NMI"}``. Default: chosen by the kinds of the columns.
    exclude
        Columns that must not be contexts.
    event
        The output value that rates and sentences are about: ``"yes"``, or ``"deny=yes"``. An output of several values
        then has two, the event and everything else. Default: the favourable value, if one is declared; else True or 1,
        else the rarer of two.
    adverse
        Whether the event is bad for people (a denial). Without it, and without a favourable value declared, the report
        does not judge: four fifths and impact ratios are shown only where it is known what is good.

    Examples
    --------
    >>> from fairtest.data.source import DataSource
    >>> people = {"sex": ["f", "m"] * 100, "hired": [0, 1, 1, 1] * 50, "city": ["A", "A", "B", "B", "C"] * 40}
    >>> t = Testing(DataSource(people), protected="sex", output="hired")
    >>> t.questions[0].metric.name, t.questions[0].contextual
    ('DIFF', ('city',))
    """

    __test__: ClassVar[bool] = False  # pytest takes classes whose names begin like this for tests
    kind: ClassVar[str] = "testing"

    def __init__(
        self,
        source: DataSource,
        protected: str | Sequence[str | tuple[str, ...]],
        output: str,
        contextual: Sequence[str] | None = None,
        explanatory: str | Sequence[str] | None = None,
        metrics: Metrics = None,
        exclude: str | Sequence[str] | None = None,
        event: Level | None = None,
        adverse: bool | None = None,
    ) -> None:
        self.event, self.adverse = event, adverse
        super().__init__(source, protected, output, contextual, explanatory, metrics, exclude)

    def _output(self) -> Variable:
        self.event = self._find_event()
        output = output_variable(self.source, self.output_name, self.event)
        good = self.source.favourable.get(self.output_name)
        if self.adverse and output.kind is not Kind.BINARY:
            raise InputError(
                f"{argument('adverse')} says that an event is bad for people, and {self.output_name!r} has no event: "
                f"name one of its values, {setting('event', 'VALUE')}."
            )
        if self.adverse and good is not None and good == output.levels[-1]:
            raise InputError(
                f"{argument('adverse')} says that {self.output_name} = {good} is bad for people, and "
                f"{argument('favourable', 'favourable=')} that it is good. Take one of them out."
            )
        return output

    def _find_event(self) -> Level | None:
        """Return the event as the column has it; it may be named with its column: ``deny=yes``."""
        if self.event is None:
            return None
        column, value = self.source.table[self.output_name], self.event
        if isinstance(value, str) and value.startswith(f"{self.output_name}=") and column.find_level(value) is None:
            value = value.removeprefix(f"{self.output_name}=")
        level = column.find_level(value)
        if level is None:
            raise InputError(
                f"{setting('event', self.event)}: {self.output_name!r} has no such value; {column.values_in_words}."
            )
        return level

    @property
    def is_event_good(self) -> bool | None:
        """Whether the value that effects are about is good for people; None where nobody has said."""
        good = self.source.favourable.get(self.output_name)
        if self.output.kind is not Kind.BINARY or (good is None and not self.adverse):
            return None
        return not self.adverse and good == self.output.levels[1]

    @property
    def favourable_is(self) -> str:
        """How the output value that effects are about was chosen: "adverse" or "event" too, where the user named it."""
        if self.is_event_good is not None:
            return "declared" if self.is_event_good else "adverse"
        return super().favourable_is if self.event is None else "event"

    def arguments(self) -> dict[str, object]:
        """Return the arguments that make the investigation again, as plain data."""
        own = {"event": self.event, "adverse": self.adverse}
        return {**super().arguments(), **{name: value for name, value in own.items() if value is not None}}

    @property
    def names(self) -> Names:
        """How the people and what happens to them are spoken of; an outcome is one of two values."""
        binary = self.output.kind is Kind.BINARY
        return replace(super().names, outcome=self.source.words.outcome_of(self.output_name) if binary else None)
