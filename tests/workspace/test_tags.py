"""What is stored outlives a refactoring: every class has a tag, and a tag means the same for ever."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from dataclasses import fields, is_dataclass
from enum import Enum
from importlib import import_module
from typing import TYPE_CHECKING, Any, get_args

import pytest

from fairtest.workspace.legacy import TAG_OF_PATH
from fairtest.workspace.tags import RENAMED_FIELDS, TAG_OF, TAGS

if TYPE_CHECKING:
    from collections.abc import Iterator

EVER_WRITTEN = {
    "attribute": "name reference groups metric looked_at tested untestable significant reported left_out population "
    "findings detectable outside labels rare others significant_strata strata_shown detectable_inside named everywhere "
    "elsewhere errors",
    "column": "name kind role reason missing note",
    "comparison": "reference output size value gaps small",
    "context": "predicates",
    "counts": "output protected rows columns counts worth weighed",
    "data": "name rows train test fingerprint library columns design",
    "design": "person weights people effective weight",
    "elsewhere": "size effect interval",
    "errors": "truth error notion measured subject meaning positive among",
    "finding": "protected output context size metric effect interval interval_single p_value p_value_raw significant "
    "table strata ratio ratio_interval gap gap_interval label folded verdict notes sentence inside confirmed "
    "comparisons rows weight",
    "group": "name size mean deviation quantiles whiskers beyond at median_interval people",
    "group-gap": "group size value gap interval interval_single p_value p_value_raw significant before ratio "
    "ratio_interval median_gap median_gap_interval",
    "group-errors": "group cells people weighed",
    "groups": "measured by rows line weight",
    "label-settings": "number top_k min_people separator",
    "line": "intercept slope",
    "names": "labels people outcome some outcomes average columns",
    "op": "<=; >; ==; in; missing",
    "outcome-words": "verb share",
    "predicate": "column op value order",
    "rate": "share interval",
    "report": "version kind output favourable explanatory data settings attributes family notes repeat reuse errors "
    "labels favourable_is explains names versions warnings not_asked_again",
    "reuse": "question left bits_before bits next_level",
    "settings": "conf level budget set train_size seed preset max_depth min_size correction search score aggregate "
    "method tolerance trees attributes_per_node population_share",
    "significant": "output contexts labels",
    "stratum": "values size effect interval interval_single p_value p_value_raw table",
    "tested": "context size effect interval p_value significant guided part_of",
    "testing": "number level correction method preset tolerance reuse population_share",
    "told": "training test attributes",
    "training": "max_depth min_size search score aggregate preset trees attributes_per_node",
    "verdict": "outcome needed",
    "verdict-outcome": "above; below; not enough data",
}
"""Every tag ever written, with all the fields (or values) it ever had. Add to it; never change or take away."""


@pytest.mark.parametrize("tag", EVER_WRITTEN)
def test_what_was_ever_written_can_be_read(tag: str) -> None:
    stored, ever = TAGS[tag], EVER_WRITTEN[tag]
    if issubclass(stored, Enum):
        assert set(ever.split("; ")) <= {member.value for member in stored}
        return
    renamed = RENAMED_FIELDS.get(tag, {})
    now = {renamed.get(name, name) for name in ever.split()} - {None}
    assert now <= {f.name for f in fields(stored) if f.init}


def test_new_tags_and_fields_are_recorded_here() -> None:
    assert set(TAGS) == set(EVER_WRITTEN), "a new tag belongs into EVER_WRITTEN; an old one stays in TAGS"
    for tag, stored in TAGS.items():
        if is_dataclass(stored):
            assert {f.name for f in fields(stored) if f.init} <= set(EVER_WRITTEN[tag].split()), tag


def test_a_tag_stands_for_one_class_and_a_class_has_one_tag() -> None:
    assert len(TAG_OF) == len(TAGS)
    assert set(TAG_OF_PATH.values()) <= set(TAGS)
    assert not set(TAG_OF_PATH) & set(TAGS)


def test_every_class_that_can_be_stored_has_a_tag() -> None:
    reached: set[type] = set()
    for root in (TAGS["report"], TAGS["told"]):
        reach(root, reached)
    assert reached == set(TAG_OF)


def reach(stored: type, reached: set[type]) -> None:
    """Follow the types of the fields of a class, those of their fields, and so on."""
    if stored in reached:
        return
    reached.add(stored)
    if is_dataclass(stored):
        known: dict[str, Any] = {}
        for base in stored.__mro__[:-1]:  # fields may be inherited
            known |= names_in(base.__module__)
        for made_from in (f for f in fields(stored) if f.init):
            for found in classes_in(str(made_from.type), known):
                reach(found, reached)


def names_in(module: str) -> dict[str, Any]:
    """What is known in a module, also what is imported for type checkers only."""
    found = dict(vars(sys.modules[module]))
    for node in ast.walk(ast.parse(inspect.getsource(sys.modules[module]))):
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("fairtest."):
            imported = import_module(str(node.module))
            found |= {name.asname or name.name: getattr(imported, name.name) for name in node.names}
    return found


def classes_in(annotation: str, known: dict[str, Any]) -> Iterator[type]:
    for word in re.findall(r"\w+", annotation):
        for found in (known.get(word), *get_args(known.get(word))):
            if isinstance(found, type) and (is_dataclass(found) or issubclass(found, Enum)):
                yield found
