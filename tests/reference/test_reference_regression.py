"""The regression of a protected attribute on labels against R, in the limit of no penalty (regression.R)."""

import numpy as np
import pytest
from scipy import sparse

from fairtest.metrics.regression import linear, multinomial

N = np.arange(1, 401)
X = np.column_stack((N % 3 == 0, (N * N) % 7 < 3, N % 11 < 2, (N * 7) % 13 < 4)).astype(float)
NOISE = (N * 37) % 101
TWO = (NOISE + 25 * X[:, 0] - 15 * X[:, 1] > 55).astype(int)
FOUR = (((N * 29) % 97 + 20 * X[:, 2]) // 30).astype(int)
NUMBER = NOISE / 10 + 2 * X[:, 3] + X[:, 0] * ((N * 17) % 5)
LABELS = sparse.csc_matrix(X)
TINY = 1e-9


def test_logistic():
    fit = multinomial(TWO, 2, LABELS, ridge=TINY)
    assert fit.coefficients[:, 0] == pytest.approx([1.052952678, -0.7072804956, -0.2446046108, -0.2544604001], rel=1e-7)
    assert fit.errors[:, 0] == pytest.approx([0.2224014622, 0.2319967479, 0.2764364301, 0.2306488688], rel=1e-7)


def test_multinomial():
    fit = multinomial(FOUR, 4, LABELS, ridge=TINY)
    coefficients = [
        [-0.02303304605, -0.3366109796, 1.122403809, 0.04705298005],
        [0.1239898001, -0.05228496799, 0.9904082925, 0.1970901806],
        [-0.07329956019, -0.2941275823, 2.329034336, 0.1455606297],
    ]
    errors = [
        [0.2822418282, 0.2934903606, 0.4324055551, 0.2899775675],
        [0.2798534505, 0.3023786707, 0.4389991879, 0.286997135],
        [0.3955842551, 0.4047301391, 0.4748128942, 0.3994429196],
    ]
    assert pytest.approx(np.array(coefficients), abs=2e-5) == fit.coefficients.T  # nnet stops that far away
    assert pytest.approx(np.array(errors), rel=1e-4) == fit.errors.T


def test_linear():
    fit = linear(NUMBER, LABELS, ridge=TINY)
    assert fit.coefficients[:, 0] == pytest.approx([2.042275283, -0.1522709835, -0.2000271552, 1.799345266], rel=1e-7)
    assert fit.errors[:, 0] == pytest.approx([0.3323591594, 0.3377609827, 0.3964399352, 0.3297026621], rel=1e-7)
