"""The usual rates of a prediction by group, as a table, and what each of them is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtest.model.error_rates import MEANINGS
from fairtest.numbers import UNDEFINED, count, rate
from fairtest.reporting.words.phrases import join_words

if TYPE_CHECKING:
    from fairtest.model.names import Names
    from fairtest.model.report import AttributeReport

RATES_MEANING = join_words([f"{name}: {meaning}" for name, meaning in MEANINGS.items()], "and") + "."
"""What the columns of the table are."""


def error_table(attribute: AttributeReport, names: Names) -> list[list[str]]:
    """Return the rates of each group with their 95 % intervals, the head of the table first; empty without them."""
    if not attribute.errors:
        return []
    head = [names.column(attribute.name), *MEANINGS, names.people]
    return [head, *(_line(attribute, i, names) for i in range(len(attribute.errors)))]


def _line(attribute: AttributeReport, i: int, names: Names) -> list[str]:
    errors = attribute.errors[i]
    cells = []
    for known in errors.rates.values():
        if known is None:
            cells.append(UNDEFINED)
        else:
            low, high = (rate(bound).removesuffix(" %") for bound in known.interval)
            cells.append(f"{rate(known.share)} [{low}, {high}]")
    return [names.short(attribute.name, errors.group), *cells, count(errors.size)]
