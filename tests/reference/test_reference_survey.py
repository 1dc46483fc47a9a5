"""Rates, differences and their standard errors against R's survey package: ``survey.R`` made the numbers."""

from __future__ import annotations

import numpy as np
import pytest

from fairtest.statistics.design import RowSums, indicators, judge_independence, variance_of_sum

I = np.arange(240)  # noqa: E741 - as in survey.R
PERSON = (I * 7) % 40
SEX = (PERSON % 3 == 0).astype(int)
WEIGHT = 0.5 + ((I * 13) % 17) / 5
Y = (((I * I + 3 * PERSON) % 11) < 4 + 2 * SEX).astype(float)
X = ((I * 29 + 5 * PERSON) % 53) / 10 + SEX
NOBODY = np.zeros(240, dtype=int)

DESIGNS = {
    "people": RowSums.of(PERSON, None, NOBODY),
    "weights": RowSums.of(None, WEIGHT, NOBODY),
    "both": RowSums.of(PERSON, WEIGHT, NOBODY),
}
RATES = {
    "people": (0.3397435897436, 0.5714285714286, 0.0267365714235, 0.0697071480678),
    "weights": (0.3178787878788, 0.5409457900807, 0.0405687398661, 0.0604133962642),
    "both": (0.3178787878788, 0.5409457900807, 0.0320449456685, 0.0713910670909),
}
DIFFERENCES = {
    "people": ((0.23168498168498, 0.07465876199901), (1.02893772894, 0.193087213573)),
    "weights": ((0.2230670022020, 0.0727708808693), (1.02310233826, 0.219438028401)),
    "both": ((0.22306700220195, 0.07825319803864), (1.02310233826, 0.210775392927)),
}
CHI_SQUARE = {"people": 0.0028264799593, "weights": 0.008843303759, "both": 0.007536447701}


def _mean(rows: RowSums, values: np.ndarray, at: np.ndarray) -> tuple[float, np.ndarray]:
    """Return a weighted mean, and what each row contributes to it."""
    mass = rows.weight[at].sum()
    mean = float((rows.weight * values)[at].sum() / mass)
    return mean, np.where(at, rows.weight * (values - mean), 0.0) / mass


@pytest.mark.parametrize("name", DESIGNS)
def test_rates_and_their_errors(name: str) -> None:
    rows = DESIGNS[name]
    for group in (0, 1):
        rate, added = _mean(rows, Y, group == SEX)
        assert rate == pytest.approx(RATES[name][group], rel=1e-10)
        assert np.sqrt(variance_of_sum(rows, added)) == pytest.approx(RATES[name][2 + group], rel=1e-9)


@pytest.mark.parametrize("name", DESIGNS)
@pytest.mark.parametrize("place", [0, 1])
def test_differences_and_their_errors(name: str, place: int) -> None:
    rows, values = DESIGNS[name], (Y, X)[place]
    (one, added), (other, taken) = (_mean(rows, values, g == SEX) for g in (1, 0))
    difference, error = DIFFERENCES[name][place]
    assert one - other == pytest.approx(difference, rel=1e-9)
    assert np.sqrt(variance_of_sum(rows, added - taken)) == pytest.approx(error, rel=1e-9)


@pytest.mark.parametrize("name", DESIGNS)
def test_links_between_groups_and_outputs(name: str) -> None:
    """Ours imposes the null where R does not, and knows fewer degrees of freedom: never smaller, and not far off."""
    found = judge_independence(DESIGNS[name], indicators((PERSON * 5) % 3), indicators(Y.astype(int)))
    assert found.p is not None
    assert CHI_SQUARE[name] <= found.p <= 5 * CHI_SQUARE[name]
