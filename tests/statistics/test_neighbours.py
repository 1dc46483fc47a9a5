"""Links among neighbours: what is taken out, who is near whom, and what wider and narrower bins tell."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fairtest.statistics.neighbour_bins import at_ends, bin_neighbours
from fairtest.statistics.neighbours import Neighbours, find_curve, neighbour_p, take_lines_out

CURVES = {
    "wave": lambda z: 2.8 * np.sin(3 * z),
    "ripples": lambda z: 2.8 * np.sin(12 * z),
    "parabola": lambda z: 1.4 * (z**2 - 1),
    "steep": lambda z: 2.2 * np.tanh(4 * z),
    "jump": lambda z: 2.4 * np.sign(z - 0.4),
    "jumps": lambda z: 2.4 * np.sign(np.sin(5 * z + 1)),
}


def places(*columns):
    return np.column_stack([np.unique(column, return_inverse=True)[1] for column in columns])


def people(rng, n, curve, *, link=0.0, binary=False, signed=True):
    z = rng.normal(size=n)
    moved = curve(z)
    s, o = moved + rng.normal(size=n), moved + rng.normal(size=n)
    if binary:
        s, o = ((rng.random(n) < 1 / (1 + np.exp(-moved))).astype(float) for _ in range(2))
    o = o + link * (s - moved)
    codes = places(z)
    return Neighbours(s[:, None], o[:, None], np.zeros(n, dtype=int), codes[:, 0] * 5 // n, codes, signed)


@pytest.mark.parametrize("d", [1, 2])
def test_what_is_left_is_what_least_squares_leaves(d):
    rng = np.random.default_rng(1)
    n = 240
    numbers = places(*rng.normal(size=(d, n)))
    some = Neighbours(*rng.normal(size=(2, n, 1)), np.arange(n) % 2, np.zeros(n, dtype=int), numbers, signed=True)
    some = replace(some, weight=rng.uniform(0.5, 2, n))
    [bins] = bin_neighbours(some.block, numbers, [30])
    left = take_lines_out(some, bins)
    root = np.sqrt(some.mass)
    for column, got in ((some.protected, left.protected), (some.output, left.output)):
        expected = np.zeros(n)
        for b in np.unique(bins):
            at = bins == b
            design = np.column_stack([np.ones(at.sum()), numbers[at]]) * root[at, None]
            fit = np.linalg.lstsq(design, column[at, 0] * root[at], rcond=None)[0]
            expected[at] = column[at, 0] - np.column_stack([np.ones(at.sum()), numbers[at]]) @ fit
        np.testing.assert_allclose(got[0], expected, atol=1e-9)
    assert left.freedom == pytest.approx(n - (1 + d) * len(np.unique(bins)))


def test_equal_people_are_in_one_bin_and_blocks_apart():
    rng = np.random.default_rng(2)
    block, age = rng.integers(3, size=2_000), rng.integers(18, 40, size=2_000)
    [bins] = bin_neighbours(block, age[:, None], [50])
    assert len(np.unique(np.column_stack([bins, block]), axis=0)) == len(np.unique(bins))
    assert len(np.unique(np.column_stack([bins, block, age]), axis=0)) == 3 * 22
    sizes = np.bincount(bins)
    assert np.median(sizes) < 80


def test_the_ends_of_a_number_are_left_out_but_not_many_equal_people():
    block = np.zeros(200, dtype=int)
    assert np.flatnonzero(at_ends(block, np.arange(200)[:, None], 4.0)).tolist() == [0, 1, 2, 3, 196, 197, 198, 199]
    many_zeros = np.maximum(np.arange(200) - 50, 0)
    assert np.flatnonzero(at_ends(block, many_zeros[:, None], 4.0)).tolist() == [196, 197, 198, 199]
    assert not at_ends(block[:15], np.arange(15)[:, None], 4.0).any()


@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("curve", CURVES)
@pytest.mark.parametrize("n", [100, 300, 1_500])
def test_what_both_follow_is_no_link(n, curve, signed):
    rng = np.random.default_rng([n, len(curve)])
    for binary in (False, True):
        draws = (people(rng, n, CURVES[curve], binary=binary, signed=signed) for _ in range(40))
        assert sum(neighbour_p(draw) < 0.025 for draw in draws) <= 6, binary


@pytest.mark.parametrize("signed", [True, False])
def test_a_link_is_found(signed):
    rng = np.random.default_rng(7)
    draws = [people(rng, 1_000, CURVES["steep"], link=0.2, signed=signed) for _ in range(10)]
    assert sum(neighbour_p(draw) < 0.01 for draw in draws) >= 9


def test_opposite_links_cancel_only_where_a_link_has_a_direction():
    rng = np.random.default_rng(8)
    n = 3_000
    codes = np.arange(n)[:, None]
    s = rng.normal(size=n)
    o = rng.normal(size=n) + 0.3 * s * np.where(codes[:, 0] < n // 2, 1, -1)
    some = Neighbours(s[:, None], o[:, None], np.zeros(n, dtype=int), codes[:, 0] * 2 // n, codes, signed=False)
    assert neighbour_p(some) < 1e-10
    assert neighbour_p(replace(some, signed=True)) > 1e-3


def test_groups_are_as_good_as_their_indicator():
    rng = np.random.default_rng(9)
    some = people(rng, 600, CURVES["steep"], binary=True, signed=False)
    both = np.column_stack([1 - some.protected, some.protected])
    assert neighbour_p(replace(some, protected=both)) == pytest.approx(neighbour_p(some), rel=1e-6)


def test_the_order_of_people_changes_nothing():
    rng = np.random.default_rng(10)
    some = people(rng, 700, CURVES["wave"])
    mixed = some.take(rng.permutation(700))
    assert neighbour_p(mixed) == pytest.approx(neighbour_p(some), rel=1e-9)


def test_rows_of_a_person_count_once():
    rng = np.random.default_rng(11)
    once = people(rng, 800, CURVES["steep"], link=0.1)
    four = once.take(np.repeat(np.arange(800), 4))
    known = replace(four, person=np.repeat(np.arange(800), 4))
    assert neighbour_p(known) == pytest.approx(neighbour_p(once), rel=0.5)


def test_too_few_to_tell():
    few = Neighbours(*np.ones((2, 3, 1)), np.zeros(3, int), np.zeros(3, int), np.arange(3)[:, None], signed=True)
    assert neighbour_p(few) == 1.0


def group_of_many(rng, *, link=0.0, n=3_000):
    """Return a group of about sixty people who swing with everybody, and what everybody follows where they are."""
    everybody = people(rng, n, lambda z: 2.8 * np.sin(30 * z))
    at = np.flatnonzero(rng.random(n) < 60 / n)
    both = link * rng.normal(size=(n, 1)) * np.isin(np.arange(n), at)[:, None]
    everybody = replace(everybody, protected=everybody.protected + both, output=everybody.output + both)
    followed = (find_curve(everybody, column) for column in (everybody.protected, everybody.output))
    return everybody.take(at), [curve[at] for curve in followed]


@pytest.mark.parametrize(("link", "least_alone", "limits"), [(0.0, 20, (0, 2)), (2.0, 30, (25, 40))])
def test_what_a_small_group_follows_with_everybody_is_no_link(link, least_alone, limits):
    rng = np.random.default_rng(12)
    alone = together = 0
    for _ in range(40):
        group, (protected, output) = group_of_many(rng, link=link)
        alone += neighbour_p(group) < 0.01
        together += neighbour_p(replace(group, protected_curve=protected, output_curve=output)) < 0.01
    assert alone >= least_alone  # people of such a group are too far from each other to show swings
    assert limits[0] <= together <= limits[1]


def test_a_curve_of_everybody_that_a_group_does_not_follow_makes_no_link():
    rng = np.random.default_rng(14)
    found = 0
    for _ in range(40):
        group, (protected, output) = group_of_many(rng)
        flat = (rng.normal(size=v.shape) for v in (group.protected, group.output))
        group = replace(group, **dict(zip(("protected", "output"), flat, strict=True)))
        found += neighbour_p(replace(group, protected_curve=protected, output_curve=output)) < 0.025
    assert found <= 4


def test_a_curve_is_the_same_for_people_in_the_same_place():
    rng = np.random.default_rng(15)
    age = rng.integers(18, 70, size=900)
    columns = rng.normal(size=(900, 2))
    some = Neighbours(columns, columns, age % 2, np.zeros(900, dtype=int), places(age), signed=False)
    curve = find_curve(some, columns)
    for year in np.unique(age):
        assert np.ptp(curve[age == year], axis=0) == pytest.approx([0, 0], abs=1e-9)
