"""Which significant contexts are shown, and in which order."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairtest.metrics.ratio import RATIO
from fairtest.model.context import Context, Op, Predicate
from fairtest.ranking.reported import nearest_bound, reported

EVERYONE = Context()


def context(**bounds):
    """Return a context of upper bounds and values: ``context(age=3, city="a")``."""
    return Context.of(Predicate(k, Op.IS if isinstance(v, str) else Op.AT_MOST, v) for k, v in bounds.items())


def shown(rows):
    """Return the contexts reported among rows of (context, significant, sign, bound, size)."""
    contexts, significant, sign, bound, size = zip(*rows, strict=True)
    positions = reported(
        contexts, np.array(significant), np.array(sign, float), np.array(bound, float), np.array(size, float)
    )
    return [str(contexts[i]) for i in positions]


def test_only_what_is_significant_is_reported():
    rows = [
        (EVERYONE, True, 1, 0.1, 1000),
        (context(a=1), False, 1, 0.9, 500),
        (context(b=1), True, 1, 0.5, 400),
    ]
    assert shown(rows) == ["b ≤ 1"]


def test_the_population_is_never_among_them():
    assert shown([(EVERYONE, True, 1, 0.9, 1000)]) == []
    assert shown([(EVERYONE, True, -1, 0.9, 1000), (context(a=1), True, 1, 0.1, 9)]) == ["a ≤ 1"]


def test_a_context_must_beat_every_larger_one_of_its_sign():
    rows = [
        (EVERYONE, True, 1, 0.3, 1000),
        (context(a=5), True, 1, 0.5, 700),
        (context(a=3), True, 1, 0.4, 500),  # weaker than a ≤ 5, although stronger than everyone
        (context(a=3, b=1), True, 1, 0.45, 300),
        (context(a=2), True, 1, 0.6, 200),
        (context(b=1), True, 1, 0.2, 500),  # weaker than everyone
    ]
    assert shown(rows) == ["a ≤ 2", "a ≤ 5"]


def test_as_strong_as_a_larger_one_is_not_stronger():
    rows = [(EVERYONE, False, 1, 0.0, 1000), (context(a=5), True, 1, 0.5, 700), (context(a=3), True, 1, 0.5, 700)]
    assert shown(rows) == ["a ≤ 5"]


def test_one_that_turns_the_other_way_always_shows():
    rows = [
        (EVERYONE, True, 1, 0.5, 1000),
        (context(a=5), True, 1, 0.7, 600),
        (context(a=5, b=1), True, -1, 0.01, 300),
        (context(b=1), True, -1, 0.02, 400),
        (context(b=0), True, -1, 0.015, 200),  # the same way as b ≤ 1, and weaker
        (context(a=5, b=0), True, 1, 0.6, 100),
    ]
    assert shown(rows) == ["a ≤ 5", "b ≤ 1"]
    alone = [r for r in rows if str(r[0]) != "b ≤ 1"]
    assert shown(alone) == ["a ≤ 5", "b ≤ 0", "a ≤ 5, b ≤ 1"]


def test_contexts_beside_each_other_do_not_compete():
    rows = [
        (EVERYONE, True, 1, 0.1, 1000),
        (context(city="a"), True, 1, 0.2, 300),
        (context(city="b"), True, 1, 0.9, 300),
        (context(a=1), True, 1, 0.15, 300),
    ]
    assert shown(rows) == ["city = b", "city = a", "a ≤ 1"]


def test_a_larger_context_counts_whether_or_not_it_is_significant():
    """An effect no stronger than what is seen around it is not the context's own."""
    rows = [(EVERYONE, False, 1, 0.6, 1000), (context(a=1), True, 1, 0.5, 300)]
    assert shown(rows) == []


def test_an_undefined_larger_context_is_no_rival():
    rows = [(EVERYONE, False, math.nan, math.nan, 1000), (context(a=1), True, 1, 0.5, 300)]
    assert shown(rows) == ["a ≤ 1"]


def test_ties_go_to_the_larger_context_and_then_by_what_they_say():
    rows = [
        (EVERYONE, True, 1, 0.1, 1000),
        (context(c=1), True, 1, 0.5, 300),
        (context(b=1), True, 1, 0.5, 300),
        (context(d=1), True, 1, 0.5 + 1e-15, 200),  # equal up to rounding
        (context(a=1), True, -1, 0.5, 100),
        (context(e=1), True, 1, 0.6, 50),
    ]
    assert shown(rows) == ["e ≤ 1", "b ≤ 1", "c ≤ 1", "d ≤ 1", "a ≤ 1"]


CONTEXTS = st.builds(
    lambda a, b, c: context(**{k: v for k, v in (("a", a), ("b", b), ("city", c)) if v is not None}),
    st.one_of(st.none(), st.integers(0, 3)),
    st.one_of(st.none(), st.integers(0, 2)),
    st.sampled_from([None, "x", "y"]),
)
ROWS = st.tuples(CONTEXTS, st.booleans(), st.sampled_from([-1, 1]), st.integers(0, 5), st.integers(1, 4))


@settings(deadline=None, max_examples=200)
@given(st.lists(ROWS, max_size=12, unique_by=lambda r: r[0]), ROWS)
def test_the_rule_holds_whatever_the_contexts(rows, everyone):
    rows = [(EVERYONE, *everyone[1:]), *(r for r in rows if len(r[0]))]
    got = shown(rows)
    want = [
        r
        for r in rows[1:]
        if r[1] and all(r[3] > q[3] for q in rows if q is not r and q[2] == r[2] and q[0].contains(r[0]))
    ]
    want.sort(key=lambda r: (-r[3], -r[4], str(r[0])))
    assert got == [str(r[0]) for r in want]
    # and the order in which contexts were found does not matter
    assert shown([rows[0], *reversed(rows[1:])]) == got


@pytest.mark.parametrize(
    ("low", "high", "bound"),
    [
        (0.2, 0.5, 0.2),
        (-0.5, -0.2, 0.2),
        (-0.2, 0.5, 0.0),
        (0.0, 0.5, 0.0),
        (-0.5, 0.0, 0.0),
        (0.2, math.inf, 0.2),
        (-math.inf, math.inf, 0.0),
        (math.nan, 0.5, math.nan),
        (0.1, math.nan, math.nan),
    ],
)
def test_the_bound_nearest_to_no_effect(low, high, bound):
    assert nearest_bound(np.array([low]), np.array([high]), np.abs) == pytest.approx([bound], nan_ok=True)


def test_the_bound_of_a_ratio_is_compared_by_its_logarithm():
    low, high = np.array([1.0, -0.9, -0.9, -1.0]), np.array([3.0, -0.5, 2.0, -1.0])
    got = nearest_bound(low, high, RATIO.strength)
    assert got == pytest.approx([math.log(2), math.log(2), 0.0, math.inf])
