"""What a test set says of one protected attribute: what results and reports have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fairtest.model.error_rates import GroupErrors
    from fairtest.model.finding import Elsewhere, Finding, Tested


@dataclass(frozen=True, kw_only=True)
class AttributeAnswer:
    """What a test set says of one protected attribute.

    Attributes
    ----------
    tested
        Hypotheses about this attribute in the family (contexts, the population, strata).
    untestable
        Contexts in which the effect is undefined on the test set.
    left_out
        People of the test set left out because the attribute, the output or an explanatory value is missing.
    outside
        Others of the test set whom the question is not about: those who cannot get a false positive, say.
    population
        The whole population; for Discovery, with the label that stands out most.
    findings
        What is reported, strongest first; for Discovery, the labels over everybody and then those in contexts.
    significant_strata
        How many strata are significant.
    detectable
        How large an effect over everybody would have been seen with a chance of 80 % (for a metric without sign: the
        largest that is not ruled out); None where it is not known.
    detectable_inside
        A number of people, and how large an effect would have been seen with a chance of 80 % in a context that has as
        many; None where it is not known.
    named
        Whether the whole population was tested on the people of the training set too, because the question was there
        before anything was shown of them.
    everywhere
        Whether the link is that of the whole population, and the findings differ from it.
    elsewhere
        What is left to see outside the findings; None where there are none, or it cannot be said.
    others
        Contexts that were tested and are no findings, as far as they are listed: significant ones, strongest first, and
        nodes of the guided tree.
    errors
        Of a prediction with two labels: how it and the truth go together in each group, over everybody.
    labels
        For Discovery: the labels tested over everybody, significant ones first; empty otherwise.
    rare
        For Discovery: how many labels were left out because too few people have them, or have them not.
    """

    tested: int
    untestable: int
    left_out: int
    population: Finding
    findings: tuple[Finding, ...]
    significant_strata: int = 0
    detectable: float | None = None
    outside: int = 0
    labels: tuple[Finding, ...] = ()
    rare: int = 0
    others: tuple[Tested, ...] = ()
    detectable_inside: tuple[int, float] | None = None
    named: bool = False
    everywhere: bool = False
    elsewhere: Elsewhere | None = None
    errors: tuple[GroupErrors, ...] = ()
