"""Impact ratios against four fifths, in whole numbers."""

import pytest

from fairtest.model.finding import CountTable
from fairtest.reporting.words.impact import is_below_four_fifths


@pytest.mark.parametrize(
    ("group", "best", "below"),
    [
        ((320, 1_000), (400, 1_000), False),
        ((319, 1_000), (400, 1_000), True),
        ((24, 100), (3, 10), False),
        ((239_999, 1_000_000), (3, 10), True),
        ((56, 100), (7, 10), False),
        ((0, 10), (1, 10), True),
    ],
)
def test_exactly_four_fifths_is_not_below(group, best, below):
    counts = ((best[1] - best[0], group[1] - group[0]), (best[0], group[0]))
    table = CountTable("hired", "sex", ("no", "yes"), ("m", "f"), counts)
    assert is_below_four_fifths(table, 1, 0) is below
