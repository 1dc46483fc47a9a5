"""Gaps of groups, medians and rates of rows that are not people against R's survey package: ``survey.R``."""

from __future__ import annotations

import numpy as np
import pytest

from fairtest.engine.contract import Rows
from fairtest.inference.weighed_gaps import weigh_gaps
from fairtest.inference.weighed_rates import weigh_rate
from fairtest.statistics.design import RowSums
from fairtest.statistics.domains import weighted_median_interval
from tests.reference.test_reference_survey import NOBODY, PERSON, SEX, WEIGHT, X, Y

GROUP = (PERSON * 5) % 3
DESIGNS = {"people": (PERSON, None), "weights": (None, WEIGHT), "both": (PERSON, WEIGHT)}
GAPS = {
    "people": (
        ((-0.2509157509158, 0.08185657791633), (-0.2124542124542, 0.07628037761097)),
        ((-1.071886446886, 0.2195181745607), (-0.985989010989, 0.2370253112540)),
    ),
    "weights": (
        ((-0.2397481852903, 0.08275828570642), (-0.2059764649274, 0.08386128631293)),
        ((-1.0840348369006, 0.2592773140716), (-0.9606745635822, 0.2566421939819)),
    ),
    "both": (
        ((-0.2397481852903, 0.08819131557334), (-0.2059764649274, 0.08014833476373)),
        ((-1.0840348369006, 0.2258433641693), (-0.9606745635822, 0.2669873362659)),
    ),
}
"""Of groups 1 and 2 to group 0: estimate and standard error, of a rate and of a mean."""
MEDIANS = {
    "people": ((2.2, 3.1), (3.0, 4.3)),
    "weights": ((2.3, 3.2), (3.2, 4.3)),
    "both": ((2.2, 3.2), (3.1, 4.4)),
}
"""Intervals of the medians of both sexes (``interval.type = "beta"``)."""
RATES = {
    "people": (
        (0.33974358974359, 0.28527292837422, 0.39754355021879),
        (0.57142857142857, 0.41103624581205, 0.72154551708544),
    ),
    "weights": (
        (0.31787878787879, 0.23951998087935, 0.40463737641265),
        (0.54094579008074, 0.41572990295231, 0.66248307659731),
    ),
    "both": (
        (0.31787878787879, 0.25306405219772, 0.38835425184474),
        (0.5409457900807, 0.3789821008134, 0.6968185536645),
    ),
}
"""Rates of both sexes with the interval of Korn and Graubard."""


def _rows(name: str, protected: np.ndarray, output: np.ndarray) -> Rows:
    return Rows(protected, output, NOBODY, {}, *DESIGNS[name])


@pytest.mark.parametrize("name", DESIGNS)
@pytest.mark.parametrize("place", [0, 1])
def test_gaps_and_their_errors(name: str, place: int) -> None:
    """The errors are those of so many independent people: never much below R's, above it where no gap is assumed."""
    output = (Y, X)[place]
    weight = np.ones(240) if DESIGNS[name][1] is None else WEIGHT
    worth = weigh_gaps(_rows(name, GROUP, output), 0, [1, 2], [1, 1], is_number=bool(place))
    for i, group in enumerate((1, 2)):
        means, variance = [], 0.0
        for g in (0, group):
            at = g == GROUP
            means.append(np.average(output[at], weights=weight[at]))
            spread = np.average((output[at] - means[-1]) ** 2, weights=weight[at])
            variance += spread / (weight[at].sum() * worth.scale[i])
        gap, error = GAPS[name][place][i]
        assert means[1] - means[0] == pytest.approx(gap, rel=1e-9)
        assert 0.97 * error <= np.sqrt(variance) <= 1.35 * error


@pytest.mark.parametrize("name", DESIGNS)
@pytest.mark.parametrize("sex", [0, 1])
def test_medians(name: str, sex: int) -> None:
    """At least R's interval, and at most two of the values that there are wider on each side."""
    some = _rows(name, SEX, X).take(sex == SEX)
    rows = RowSums.of(some.person, some.weight, some.stratum)
    low, high = weighted_median_interval(rows, some.output, 0.05)
    there = np.unique(some.output)
    low_of_r, high_of_r = (int(np.argmin(np.abs(there - end))) for end in MEDIANS[name][sex])
    assert low_of_r - 2 <= int(np.flatnonzero(there == low)[0]) <= low_of_r + 1
    assert high_of_r - 1 <= int(np.flatnonzero(there == high)[0]) <= high_of_r + 2


@pytest.mark.parametrize("name", DESIGNS)
@pytest.mark.parametrize("sex", [0, 1])
def test_rates(name: str, sex: int) -> None:
    """Ours inverts the score test, R's the exact one: nearly the same ends, from the same number of people."""
    rate = weigh_rate(_rows(name, SEX, Y), Y > 0, sex == SEX)
    share, low, high = RATES[name][sex]
    assert rate is not None
    assert rate.share == pytest.approx(share, rel=1e-9)
    assert rate.interval == pytest.approx((low, high), abs=0.03)
