"""The name that each stored class has in a workspace: what is stored knows tags, never modules.

A file may be moved and a class renamed: change the import here, and the tag stays. A tag is for ever. Never give it to
another class, and never take one away, because some workspace has it; ``tests/workspace/test_tags.py`` keeps the list
of all that were ever written, with their fields. For fields that get another name, see :data:`RENAMED_FIELDS`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtest.model.comparison import Comparison, GroupGap
from fairtest.model.context import Context, Op, Predicate
from fairtest.model.described_data import ColumnNote, DataInfo, DesignInfo
from fairtest.model.error_rates import GroupErrors
from fairtest.model.finding import (
    CountTable,
    Elsewhere,
    Finding,
    Group,
    GroupTable,
    Line,
    Outcome,
    Stratum,
    Tested,
    Verdict,
)
from fairtest.model.names import Names, OutcomeWords
from fairtest.model.plans import TestingPlan, TrainingPlan
from fairtest.model.rates import Rate
from fairtest.model.report import (
    AttributeReport,
    ErrorNote,
    LabelSettings,
    Report,
    Reuse,
    Settings,
)
from fairtest.model.results import PriorAnswer, SignificantContexts

if TYPE_CHECKING:
    from collections.abc import Mapping

TAGS: Mapping[str, type] = {
    "report": Report,
    "data": DataInfo,
    "design": DesignInfo,
    "column": ColumnNote,
    "settings": Settings,
    "label-settings": LabelSettings,
    "errors": ErrorNote,
    "reuse": Reuse,
    "names": Names,
    "outcome-words": OutcomeWords,
    "attribute": AttributeReport,
    "elsewhere": Elsewhere,
    "finding": Finding,
    "stratum": Stratum,
    "comparison": Comparison,
    "group-gap": GroupGap,
    "group-errors": GroupErrors,
    "tested": Tested,
    "counts": CountTable,
    "rate": Rate,
    "groups": GroupTable,
    "group": Group,
    "line": Line,
    "verdict": Verdict,
    "verdict-outcome": Outcome,
    "context": Context,
    "predicate": Predicate,
    "op": Op,
    "told": PriorAnswer,
    "training": TrainingPlan,
    "testing": TestingPlan,
    "significant": SignificantContexts,
}
"""Every class that a workspace may hold, by its tag."""

TAG_OF: Mapping[type, str] = {stored: tag for tag, stored in TAGS.items()}

RENAMED_FIELDS: Mapping[str, Mapping[str, str | None]] = {
    "testing": {"number": None, "level": None, "reuse": None},  # the ledger and the report have them
}
"""Fields that are called otherwise now (None: that are gone), by tag; an old name is never used for something else."""
