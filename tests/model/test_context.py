"""Contexts: how they read, when one contains another, and which rows they are."""

from __future__ import annotations

import datetime as dt
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairtest.exceptions import InputError
from fairtest.model.context import Context, Op, Predicate

CHECKED = settings(deadline=None, max_examples=150)
GRADES = ("low", "mid", "high", "top")
DAYS = [dt.date(2020, 2, 27) + dt.timedelta(days=i) for i in range(5)]


def at_most(column, value, order=()):
    return Predicate(column, Op.AT_MOST, value, order)


def above(column, value, order=()):
    return Predicate(column, Op.ABOVE, value, order)


def test_one_predicate_more_is_the_conjunction():
    some = [at_most("b", 7), above("b", 3), Predicate("d", Op.IS, "x"), at_most("a", 1), Predicate("c", Op.MISSING)]
    for first in some:
        for second in [*some, at_most("b", 5), above("b", 4), Predicate("d", Op.MISSING)]:
            context = Context.of([first, at_most("c", 2)])
            assert next(context.narrowings([second])) == Context.of([first, at_most("c", 2), second])


def test_equal_contexts_hash_alike_in_every_process():
    context = Context.of([at_most("a", 1), Predicate("d", Op.IS, "x")])
    assert hash(context) == hash(Context.of([Predicate("d", Op.IS, "x"), at_most("a", 1)]))
    assert pickle.loads(pickle.dumps(context)) == context
    assert str(hash(context)).encode() not in pickle.dumps(context, protocol=0)  # texts hash anew in each process


def is_(column, value):
    return Predicate(column, Op.IS, value)


# Reading


@pytest.mark.parametrize(
    ("predicate", "text"),
    [
        (at_most("Age", 42), "Age ≤ 42"),
        (above("Age", -3), "Age > -3"),
        (above("x", 0.0), "x > 0"),
        (above("x", 1 / 3), "x > 0.333333"),
        (at_most("x", -0.5), "x ≤ -0.5"),
        (is_("Job", "Federal-gov"), "Job = Federal-gov"),
        (is_("flag", True), "flag = True"),
        (is_("code", 7), "code = 7"),
        (Predicate("city", Op.IN, ("a", "b, c")), "city in {a, b, c}"),
        (Predicate("age", Op.MISSING), "age missing"),
        (at_most("day", dt.date(2020, 2, 29)), "day ≤ 2020-02-29"),
        (above("grade", "mid", GRADES), "grade > mid"),
    ],
)
def test_a_predicate_reads_as_people_write_it(predicate, text):
    assert str(predicate) == text
    assert str(Context.of([predicate])) == text


def test_a_context_reads_in_the_order_of_columns_with_the_lower_bound_first():
    predicates = [is_("job", "x"), at_most("age", 42), Predicate("b", Op.MISSING), above("age", 30)]
    context = Context.of(predicates)
    assert str(context) == "age > 30, age ≤ 42, b missing, job = x"
    assert len(context) == 4
    assert context.columns == {"age", "b", "job"}
    assert str(Context()) == str(Context.of([])) == "everyone"
    assert len(Context()) == 0


@CHECKED
@given(st.permutations(range(6)))
def test_the_order_in_which_predicates_were_found_leaves_no_trace(order):
    found = [at_most("a", 5), above("a", 1), at_most("a", 3), is_("c", "x"), above("b", 0.5), above("b", 0.25)]
    context = Context.of(found[i] for i in order)
    assert context == Context.of(found)
    assert hash(context) == hash(Context.of(found))
    assert str(context) == "a > 1, a ≤ 3, b > 0.5, c = x"


def test_the_tightest_bound_of_each_side_stays():
    assert Context.of([at_most("x", -1), at_most("x", -2)]).predicates == (at_most("x", -2),)
    assert Context.of([above("x", -1), above("x", -2), above("x", 0.0)]).predicates == (above("x", 0.0),)
    assert Context.of([at_most("d", DAYS[3]), at_most("d", DAYS[1])]).predicates == (at_most("d", DAYS[1]),)
    graded = [at_most("g", "top", GRADES), at_most("g", "high", GRADES), above("g", "low", GRADES)]
    assert str(Context.of(graded)) == "g > low, g ≤ high"  # by their order: "high" comes before "low" in the alphabet
    assert len(Context.of([is_("c", "x"), is_("c", "x"), Predicate("c", Op.MISSING)])) == 2


# Containment


@pytest.mark.parametrize(
    ("larger", "smaller"),
    [
        ([], [at_most("x", 1)]),
        ([at_most("x", 2)], [at_most("x", 1)]),
        ([at_most("x", 0.0)], [at_most("x", -1)]),
        ([above("x", 1)], [above("x", 1), at_most("x", 7)]),
        ([above("x", 1), at_most("x", 9)], [above("x", 3), at_most("x", 9), is_("c", "a")]),
        ([Predicate("c", Op.IN, ("a", "b"))], [is_("c", "a")]),
        ([above("g", "low", GRADES)], [above("g", "mid", GRADES)]),
        ([at_most("d", DAYS[2])], [at_most("d", DAYS[0])]),
        ([Predicate("x", Op.MISSING)], [Predicate("x", Op.MISSING), is_("c", "a")]),
    ],
)
def test_a_context_contains_narrower_ones_and_not_the_other_way_round(larger, smaller):
    larger, smaller = Context.of(larger), Context.of(smaller)
    assert larger.contains(smaller)
    assert not smaller.contains(larger)
    assert larger.contains(larger)
    assert smaller.contains(smaller)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (at_most("x", 1), at_most("y", 0)),
        (at_most("x", 5), above("x", 1)),
        (at_most("x", 5), Predicate("x", Op.MISSING)),  # missing is neither ≤ nor >
        (above("x", -9), Predicate("x", Op.MISSING)),
        (is_("c", "a"), is_("c", "b")),
        (Predicate("c", Op.IN, ("a", "b")), is_("c", "z")),
        (Predicate("c", Op.IN, ("a", "b")), Predicate("c", Op.IN, ("a", "b", "c"))),
    ],
)
def test_contexts_that_do_not_contain_each_other(one, other):
    one, other = Context.of([one]), Context.of([other])
    assert not one.contains(other)
    assert not other.contains(one)


PREDICATES = st.one_of(
    st.builds(at_most, st.sampled_from(["x", "y"]), st.integers(-2, 3)),
    st.builds(above, st.sampled_from(["x", "y"]), st.integers(-2, 3)),
    st.builds(at_most, st.just("g"), st.sampled_from(GRADES), st.just(GRADES)),
    st.builds(above, st.just("g"), st.sampled_from(GRADES), st.just(GRADES)),
    st.builds(Predicate, st.sampled_from(["x", "g", "c", "day"]), st.just(Op.MISSING)),
    st.builds(is_, st.just("c"), st.just("a")),
    st.builds(at_most, st.just("day"), st.sampled_from(DAYS)),
    st.builds(above, st.just("day"), st.sampled_from(DAYS)),
)
GRID = pl.DataFrame(
    [
        {"x": x, "y": y, "g": g, "c": c, "day": d}
        for x in (None, -3, -2, 0, 1, 3, 4)
        for y in (-2, 0, 3)
        for g in (None, *GRADES)
        for c in (None, "a", "b")
        for d in (None, DAYS[0], DAYS[2], DAYS[4])
    ],
    infer_schema_length=None,
)


@CHECKED
@given(st.lists(PREDICATES, max_size=5), st.lists(PREDICATES, max_size=4))
def test_what_is_contained_is_contained_in_people(first, second):
    a, b, both = Context.of(first), Context.of(second), Context.of([*first, *second])
    rows_a, rows_b, rows_both = (c.mask(GRID) for c in (a, b, both))
    assert (rows_both == (rows_a & rows_b)).all()  # simplifying loses nothing
    assert a.contains(both)
    assert b.contains(both)
    if a.contains(b):
        assert (rows_a >= rows_b).all()


# Rows


def satisfied(value, predicate):
    """Whether a value satisfies a predicate, in plain Python."""
    if value is None or predicate.op is Op.MISSING:
        return value is None and predicate.op is Op.MISSING
    if predicate.op is Op.IS:
        return value == predicate.value
    if predicate.op is Op.IN:
        return value in predicate.value
    place = predicate.order.index if predicate.order else lambda v: v
    low = place(value) <= place(predicate.value)
    return low if predicate.op is Op.AT_MOST else not low


DATA = {
    "age": [30, None, 42, 43, -1, 0],
    "pay": [0.0, -1.5, None, 0.25, -0.0, 7.0],
    "job": ["a", "b", None, "c", "a", "b"],
    "day": [DAYS[0], DAYS[1], None, DAYS[3], DAYS[4], DAYS[2]],
    "grade": ["low", "top", "mid", None, "high", "mid"],
    "flag": [True, None, False, True, False, True],
}
MIXED = [
    [],
    [at_most("age", 42)],
    [above("age", 0)],
    [at_most("pay", 0.0)],
    [above("pay", 0.0)],
    [above("pay", -1.5), at_most("pay", 0.25)],
    [is_("job", "a")],
    [Predicate("job", Op.IN, ("a", "c"))],
    [Predicate("job", Op.MISSING)],
    [Predicate("age", Op.MISSING), is_("job", "b")],
    [at_most("day", DAYS[2])],
    [above("day", DAYS[2])],
    [Predicate("day", Op.MISSING)],
    [at_most("grade", "mid", GRADES)],
    [above("grade", "low", GRADES), at_most("grade", "high", GRADES)],
    [is_("flag", True)],
    [is_("flag", False), at_most("age", 42)],
    [Predicate("flag", Op.MISSING)],
]


def frames():
    polars = pl.DataFrame(DATA)
    pandas = pd.DataFrame(DATA)
    typed = pandas.assign(
        age=pandas["age"].astype("Int16"),
        job=pandas["job"].astype("category"),
        day=pd.to_datetime(pandas["day"]) + pd.Timedelta(hours=13),
        grade=pd.Categorical(pandas["grade"], categories=GRADES, ordered=True),
        flag=pandas["flag"].astype("boolean"),
    )
    shuffled = typed.set_axis([5, 3, 3, 1, 0, 9])  # an index that does not count rows
    return {
        "polars": polars,
        "pandas": pandas,
        "pandas types": typed,
        "pandas index": shuffled,
        "arrow": polars.to_arrow(),
        "arrow types": pa.table({**polars.to_arrow().to_pydict(), "age": pa.array(DATA["age"], pa.int8())}),
    }


@pytest.mark.parametrize("predicates", MIXED, ids=lambda p: str(Context.of(p)))
@pytest.mark.parametrize("library", frames())
def test_the_mask_of_a_frame_is_its_rows(library, predicates):
    frame = frames()[library]
    rows = Context.of(predicates).mask(frame)
    assert rows.dtype == bool
    want = [all(satisfied(DATA[p.column][i], p) for p in predicates) for i in range(6)]
    assert rows.tolist() == want


def test_the_mask_knows_what_stands_for_missing():
    frame = pl.DataFrame({"age": [30, -1, 60], "job": ["a", "?", "b"]})
    unknown = Context.of([Predicate("job", Op.MISSING)])
    assert unknown.mask(frame).tolist() == [False, False, False]
    assert unknown.mask(frame, missing=["?", -1]).tolist() == [False, True, False]
    assert Context.of([at_most("age", 42)]).mask(frame, missing=["?", -1]).tolist() == [True, False, False]


def test_the_mask_can_select_from_the_frame():
    context = Context.of([at_most("age", 42), is_("job", "a")])
    assert pd.DataFrame(DATA)[context.mask(pd.DataFrame(DATA))]["age"].tolist() == [30, -1]
    assert pl.DataFrame(DATA).filter(context.mask(pl.DataFrame(DATA)))["age"].to_list() == [30, -1]


def test_the_mask_of_a_frame_without_the_column_names_the_nearest():
    with pytest.raises(InputError, match=r"'agee'.*'age'"):
        Context.of([at_most("agee", 42)]).mask(pd.DataFrame(DATA))


def test_the_mask_of_a_frame_without_rows_is_empty():
    empty = pd.DataFrame(DATA).iloc[:0]
    assert Context().mask(empty).shape == (0,)
    assert Context.of([is_("job", "a")]).mask(empty).tolist() == []


def test_bounds_are_met_exactly():
    values = [0.1 + 0.2, 0.3, np.nextafter(0.3, 1), np.nextafter(0.3, 0), np.float64(np.float32(0.3))]
    frame = pl.DataFrame({"x": values})
    assert Context.of([at_most("x", 0.3)]).mask(frame).tolist() == [False, True, False, True, False]
    assert Context.of([above("x", 0.3)]).mask(frame).tolist() == [True, False, True, False, True]
    single = pl.DataFrame({"x": pl.Series([0.3], dtype=pl.Float32)})
    assert Context.of([at_most("x", float(np.float32(0.3)))]).mask(single).tolist() == [True]
