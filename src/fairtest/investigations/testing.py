"""Testing: is a suspected association there?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from fairtest.investigations.base import Investigation
from fairtest.investigations.roles import output_variable
from fairtest.types import Kind

if TYPE_CHECKING:
    from fairtest.data.variables import Variable
    from fairtest.model.names import Names


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

    def _output(self) -> Variable:
        return output_variable(self.source, self.output_name)

    @property
    def names(self) -> Names:
        """How the people and what happens to them are spoken of; an outcome is one of two values."""
        binary = self.output.kind is Kind.BINARY
        return replace(super().names, outcome=self.source.words.outcome_of(self.output_name) if binary else None)
