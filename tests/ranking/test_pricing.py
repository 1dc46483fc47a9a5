"""What contexts cost, and the levels that buys."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.special import ndtr

from fairtest.model.context import Context, Op, Predicate
from fairtest.ranking.pricing import EVERYBODY_SHARE, Prices

REGION = [Predicate("region", Op.IS, name) for name in "nesw"]
CITY = [Predicate("city", Op.IS, name) for name in ("urban", "rural")]
AGE = [Predicate("age", Op.ABOVE, at) for at in (20, 40, 60)] + [Predicate("age", Op.AT_MOST, at) for at in (20, 40)]


def every_conjunction() -> list[Context]:
    columns = (REGION, CITY, AGE)
    singles = [Context.of([p]) for column in columns for p in column]
    pairs = [Context.of([p, q]) for one, other in combinations(columns, 2) for p in one for q in other]
    triples = [Context.of([p, q, r]) for p in REGION for q in CITY for r in AGE]
    return singles + pairs + triples


def test_a_context_costs_what_its_predicates_could_have_been():
    prices = Prices.among([Context.of([REGION[0]]), Context.of([REGION[0], AGE[0]])], every_conjunction(), 0.05)
    assert prices.cost == pytest.approx([np.log(3 * 4), np.log(3 * 4) + np.log(3 * 5)])


def test_the_levels_of_all_comparisons_add_up_to_at_most_the_level():
    """Every context with every larger one: predicates kept, dropped or relaxed; both directions."""
    contexts = every_conjunction()
    prices = Prices.among(contexts, contexts, 0.05)
    against_everybody = 2 * float(ndtr(-prices.deviates_from_everybody).sum()) + prices.level_by_evidence
    assert 0.001 < against_everybody <= EVERYBODY_SHARE * 0.05
    total = against_everybody
    for i, inner in enumerate(contexts):
        for j, outer in enumerate(contexts):
            if i != j and outer.contains(inner):
                total += 2 * ndtr(-prices.deviate_within(i, j))
    assert 0.001 < total <= 0.05


def test_parts_are_known_by_their_predicates():
    contexts = [
        Context.of([REGION[0]]),
        Context.of([REGION[0], AGE[2]]),
        Context.of([AGE[1]]),
        Context.of([AGE[2]]),
        Context.of([REGION[1], AGE[2]]),
    ]
    within = Prices.among(contexts, contexts, 0.05).within
    expected = [[i != j and b.contains(a) for j, b in enumerate(contexts)] for i, a in enumerate(contexts)]
    assert within.tolist() == expected
    assert within[1].tolist() == [True, False, True, True, False]
