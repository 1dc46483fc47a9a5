"""Roles that the names of columns suggest: for a first look only, and never taken without being asked.

The lists are short on purpose. A suggestion that is missed costs one option; a wrong one may go unnoticed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairtest.data.columns.decide import split_words
from fairtest.investigations.roles import MOST_LEVELS
from fairtest.types import Kind

if TYPE_CHECKING:
    from fairtest.data.table import Column, Table

PROTECTED = frozenset(
    [
        "age", "birth", "caste", "citizenship", "disability", "disabled", "ethnic", "ethnicity", "foreigner", "gender",
        "nationality", "pregnancy", "pregnant", "race", "religion", "sex", "sexuality", "veteran",
    ]
)  # fmt: skip
"""Attributes that laws against discrimination commonly protect."""

OUTPUT = frozenset(
    [
        "accept", "accepted", "admission", "admit", "admitted", "approval", "approve", "approved", "callback",
        "callbacks", "decision", "denial", "denied", "deny", "granted", "hire", "hired", "outcome", "predicted",
        "prediction", "promoted", "reject", "rejected", "selected",
    ]
)  # fmt: skip
"""What an application decides."""
PERHAPS_OUTPUT = frozenset(["income", "score"])
"""What an application may decide about people or be given as input: an output only where no other column is."""
OUTPUT_ALONE = frozenset(["class", "label", "output", "price", "response", "result", "target", "y"])
"""Words that say it only where they are the whole name."""
PREDICTED = frozenset(["pred", "predicted", "prediction", "predictions", "said", "yhat"])
TRUTH = frozenset(["actual", "observed", "repaid", "truth"])
EXPLANATORY = frozenset(["department", "faculty", "grade", "major", "occupation", "position", "programme", "program"])


@dataclass(frozen=True)
class Suggestion:
    """What a column may be, and why: ``"protected"``, ``"output"``, ``"truth"``, ``"contextual"`` or ``"left out"``."""

    role: str
    why: str


def suggested_roles(table: Table) -> dict[str, Suggestion]:
    """Return a role for each column.

    Examples
    --------
    >>> from fairtest.data.reading.readers import read_table
    >>> people = read_table({"sex": ["f", "m", "f"], "city": ["x", "y", "z"], "hired": [1, 0, 1]})
    >>> {name: s.role for name, s in suggested_roles(people).items()}
    {'sex': 'protected', 'city': 'contextual', 'hired': 'output'}

    The income of people is what they are asked about, unless nothing else could be:

    >>> applicants = read_table({"income": [1.5, 2.5, 3.5], "approved": [1, 0, 1]})
    >>> {name: s.role for name, s in suggested_roles(applicants).items()}
    {'income': 'contextual', 'approved': 'output'}
    """
    roles = {name: _role(column) for name, column in table.columns.items()}
    weak = {n for n, s in roles.items() if s.role == "output" and not _find_word(n, OUTPUT | PREDICTED | OUTPUT_ALONE)}
    if any(s.role == "output" and n not in weak for n, s in roles.items()):
        roles |= dict.fromkeys(weak, Suggestion("contextual", ""))
    else:
        *_, last = table.columns.values()
        if roles[last.name].role == "contextual" and last.kind is Kind.BINARY:
            roles[last.name] = Suggestion("output", "the last column, and it has two values")
    return roles


def _role(column: Column) -> Suggestion:
    if (unusable := _unusable(column)) is not None:
        return Suggestion("left out", unusable)
    comparable = column.kind is Kind.NUMERIC or len(column.levels) <= MOST_LEVELS
    for role, vocabulary in (
        ("protected", PROTECTED),
        ("truth", TRUTH),
        ("output", OUTPUT | PREDICTED | PERHAPS_OUTPUT),
    ):
        if comparable and (word := _find_word(column.name, vocabulary)):
            return Suggestion(role, f"its name says '{word}'")
    if comparable and split_words(column.name)[:2] in ([word] for word in OUTPUT_ALONE):
        return Suggestion("output", f"its name is '{column.name}'")
    if column.kind is not Kind.NUMERIC and (word := _find_word(column.name, EXPLANATORY)):
        return Suggestion("contextual", f"perhaps explanatory (-e), if '{word}' may justify a difference")
    return Suggestion("contextual", "")


def _unusable(column: Column) -> str | None:
    """Return why a column cannot be used, if so."""
    if column.sets is not None:
        return None
    if column.kind is Kind.IDENTIFIER:
        return "an identifier"
    if column.constant:
        return "constant" if column.levels or column.values is not None else "no values"
    return None


def _find_word(name: str, vocabulary: frozenset[str]) -> str | None:
    return next((w for w in split_words(name) if w in vocabulary), None)
