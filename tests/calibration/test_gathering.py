"""Results of long simulations add up, and marks outside their bounds are named."""

from __future__ import annotations

from dataclasses import replace

from calibration.gathering import gather
from calibration.stories import Summary, missed_bounds

GOOD = Summary(
    reports=190,
    first_right=0.93,
    precision=0.95,
    recall=0.9,
    refinements=0.02,
    idle=0.03,
    bias=0.004,
    covered=0.99,
    covered_single=0.94,
    shown=1.5,
    false_contrasts=2,
    contrasts=40,
    population=0.6,
)


def double(key: tuple[str, int]) -> list[int]:
    return [2 * key[1]]


def fail(key: tuple[str, int]) -> list[int]:
    raise AssertionError(f"{key} was run again")


def test_what_a_file_has_is_not_run_again(tmp_path):
    path = str(tmp_path / "results.jsonl")
    first = gather(double, [("a", 1), ("a", 2)], path=path)
    assert first == {("a", 1): [2], ("a", 2): [4]}
    assert gather(fail, [("a", 2), ("a", 1)], path=path) == first
    assert gather(double, [("a", 1), ("b", 1)], path=path) == {("a", 1): [2], ("b", 1): [2]}
    assert gather(fail, [("b", 1)], path=path) == {("b", 1): [2]}


def test_marks_within_their_bounds_are_not_named():
    assert missed_bounds(GOOD) == []


def test_marks_outside_their_bounds_are_named():
    assert missed_bounds(replace(GOOD, recall=0.8)) == ["recall 0.800, not between 0.86 and 1.0"]
    assert missed_bounds(replace(GOOD, bias=0.02, precision=float("nan"))) == [
        "precision nan, not between 0.9 and 1.0",
        "bias 0.020, not between -0.012 and 0.012",
    ]
    assert missed_bounds(replace(GOOD, false_contrasts=10)) == ["a false difference in 10 of 190 reports"]
