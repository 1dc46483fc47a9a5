r"""REG: which labels go with a protected attribute when all are looked at together.

The protected attribute is regressed on the labels: by logistic regression where it has two values, multinomial where it
has more, linear where it is a number. A label that only follows from another one has a coefficient near 0 beside it,
however strong its own association; so coefficients rank labels by what each adds. They rank and select, on the training
set only: what is reported is tested label by label.

Coefficients are penalised by a ridge, so that a label that occurs in one group alone has one too. With :math:`λ = 1`
the ridge is worth about as much as four people with the label, half of them in each group. Intercepts are free.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import linalg, sparse
from scipy.special import chdtrc, ndtri, softmax

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fairtest.types import FloatArray, IntArray

RIDGE = 1.0
FREE = 1e-6
"""The penalty of what is not penalised, so that a stratum without anybody of a group does no harm."""
STEPS, CLOSE = 50, 1e-6
"""The most steps of Newton's method, and how small the last must be."""


@dataclass(frozen=True, eq=False)
class Regression:
    """A protected attribute regressed on labels.

    Attributes
    ----------
    coefficients
        ``[label, equation]``: the log odds of each group against the first, or the slope of the number.
    errors
        Their standard errors.
    strength
        A normal deviate for each label, never negative: that of "nothing to add to the other labels", over all
        equations. This is what labels are ranked by.
    """

    coefficients: FloatArray
    errors: FloatArray
    strength: FloatArray


def multinomial(
    groups: IntArray, n_groups: int, labels: Any, stratum: IntArray | None = None, ridge: float = RIDGE
) -> Regression:
    r"""Regress a group on labels: logistic for two groups, multinomial for more.

    Maximises the likelihood less :math:`λ \sum_g (β_g - \bar β)^2` for each label, which treats all groups alike, by
    Newton's method. Standard errors are those of the penalised information: the inverse of its negative Hessian, which
    is no less than the sampling variance of the penalised estimate. Sandwich errors would be too small for rare labels.

    Strength is the score test of each label, the others as they are: a coefficient over its error falls again when
    hardly anybody of a group has the label (Hauck and Donner), where it should be largest.

    Parameters
    ----------
    labels
        ``[person, label]``, sparse.
    stratum
        Strata get intercepts of their own.

    References
    ----------
    W. W. Hauck and A. Donner, "Wald's test as applied to hypotheses in logit analysis", JASA 72 (1977), 851–853.

    S. le Cessie and J. C. van Houwelingen, "Ridge estimators in logistic regression", Applied Statistics 41 (1992),
    191–201.
    """
    rare, sign = _rarer(labels)
    columns, free = _columns(rare, stratum)
    people, width = columns.shape
    others = n_groups - 1
    alike = 2 * (np.eye(others) - 1 / n_groups)
    penalty = np.kron(alike, np.diag(np.where(np.arange(width) < free, FREE, ridge)))
    actual = np.zeros((people, others))
    actual[np.flatnonzero(groups > 0), groups[groups > 0] - 1] = 1.0
    beta = np.zeros(others * width)
    best = -np.inf
    step = np.zeros_like(beta)
    information = np.eye(beta.size)
    for _ in range(STEPS):
        beta, best, shares = _climb(columns, groups, beta, step, best, penalty)
        slope = (columns.T @ (actual - shares[:, 1:])).T.ravel() - penalty @ beta
        information = _information(columns, shares[:, 1:]) + penalty
        step = linalg.solve(information, slope, assume_a="pos")
        if np.abs(step).max() < CLOSE:
            beta = beta + step
            break
    beta = beta.reshape(others, width)
    errors = np.sqrt(np.diag(linalg.inv(information))).reshape(others, width)
    statistic = _score(rare, columns @ beta.T, beta[:, free:].T, actual) * _own_share(columns, free)
    return Regression(beta[:, free:].T * sign[:, None], errors[:, free:].T, _deviate(statistic, others))


def linear(numbers: FloatArray, labels: Any, stratum: IntArray | None = None, ridge: float = RIDGE) -> Regression:
    """Regress a number on labels by least squares; the ridge is in units of the number's standard deviation.

    Standard errors are the larger of the classical ones and HC3, which holds where people with a label vary more than
    others.

    References
    ----------
    J. G. MacKinnon and H. White, "Some heteroskedasticity-consistent covariance matrix estimators with improved finite
    sample properties", Journal of Econometrics 29 (1985), 305–325.
    """
    columns, free = _columns(labels, stratum)
    people, width = columns.shape
    spread = float(np.std(numbers)) or 1.0
    penalty = np.where(np.arange(width) < free, FREE, ridge)
    gram = (columns.T @ columns).toarray()
    inverse = linalg.inv(gram + np.diag(penalty))
    scaled = (numbers - np.mean(numbers)) / spread
    beta = inverse @ (columns.T @ scaled)
    residual = scaled - columns @ beta
    leverage = np.asarray(columns.multiply(columns @ inverse).sum(axis=1)).ravel()
    meat = _weighted_products(columns, (residual / np.maximum(1 - leverage, 1e-9)) ** 2)
    freedom = max(people - float(np.trace(inverse @ gram)), 1.0)
    classical = inverse @ gram @ inverse * float(residual @ residual) / freedom
    errors = np.sqrt(np.maximum(np.diag(inverse @ meat @ inverse), np.diag(classical)))[free:, None]
    slopes = beta[free:, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        strength = np.nan_to_num(np.abs(slopes / errors)[:, 0])
    return Regression(slopes * spread, errors * spread, strength)


def _columns(labels: Any, stratum: IntArray | None) -> tuple[Any, int]:
    """Return intercepts and labels side by side, and how many intercepts there are."""
    people = labels.shape[0]
    code = np.zeros(people, dtype=int) if stratum is None else np.unique(stratum, return_inverse=True)[1]
    intercepts = sparse.csr_matrix((np.ones(people), (np.arange(people), code)))
    return sparse.hstack([intercepts, labels], format="csr"), intercepts.shape[1]


def _climb(
    columns: Any, groups: IntArray, beta: FloatArray, step: FloatArray, best: float, penalty: FloatArray
) -> tuple[FloatArray, float, FloatArray]:
    """Return coefficients after a step that is halved until it goes up, what they reach, and everybody's shares."""
    for halving in range(30):
        new = beta + step / 2**halving
        linear_part = columns @ new.reshape(-1, columns.shape[1]).T
        shares = softmax(np.column_stack((np.zeros(len(groups)), linear_part)), axis=1)
        own = np.log(np.maximum(shares[np.arange(len(groups)), groups], 1e-300))
        reached = float(own.sum() - new @ penalty @ new / 2)
        if reached >= best - 1e-9 * abs(best):
            break
    return new, reached, shares


def _information(columns: Any, shares: FloatArray) -> FloatArray:
    others, width = shares.shape[1], columns.shape[1]
    blocks = np.empty((others, width, others, width))
    for a in range(others):
        for b in range(a + 1):
            weight = shares[:, a] * ((a == b) - shares[:, b])
            blocks[a, :, b] = blocks[b, :, a] = _weighted_products(columns, weight)
    return blocks.reshape(others * width, others * width)


def _weighted_products(columns: Any, weight: FloatArray) -> NDArray[np.float64]:
    """Return Σ w x xᵀ over people."""
    scaled = columns.copy()
    scaled.data = scaled.data * np.repeat(weight, np.diff(columns.indptr))
    return np.asarray((columns.T @ scaled).toarray())


def _rarer(labels: Any) -> tuple[Any, FloatArray]:
    """Return the labels with those that most people have turned into not having them, and −1 for these."""
    labels = sparse.csc_matrix(labels)
    common = np.diff(labels.indptr) > labels.shape[0] / 2
    if not common.any():
        return labels, np.ones(labels.shape[1])
    turned = sparse.csc_matrix(1 - labels[:, common].toarray())
    order = np.argsort(np.concatenate((np.flatnonzero(~common), np.flatnonzero(common))))
    return sparse.hstack([labels[:, ~common], turned], format="csc")[:, order], np.where(common, -1.0, 1.0)


def _own_share(columns: Any, free: int) -> FloatArray:
    """Return the part of each label's variation that the other labels and the intercepts do not have."""
    gram = (columns.T @ columns).toarray() + FREE * np.eye(columns.shape[1])
    return np.asarray(1 / (np.diag(gram) * np.diag(linalg.inv(gram))))[free:]


def _score(labels: Any, fitted: FloatArray, beta: FloatArray, actual: FloatArray) -> FloatArray:
    """Return the score statistic of each label: what those who have it show beyond what the others foretell."""
    people, label = labels.indices, np.repeat(np.arange(labels.shape[1]), np.diff(labels.indptr))
    shares = softmax(np.column_stack((np.zeros(people.size), fitted[people] - beta[label])), axis=1)[:, 1:]
    others, size = beta.shape[1], labels.shape[1]
    surplus, spread = np.zeros((size, others)), np.zeros((size, others, others))
    for a in range(others):
        surplus[:, a] = np.bincount(label, weights=actual[people, a] - shares[:, a], minlength=size)
        for b in range(others):
            weight = shares[:, a] * ((a == b) - shares[:, b])
            spread[:, a, b] = np.bincount(label, weights=weight, minlength=size)
    spread += 1e-9 * np.eye(others)
    return np.asarray(np.einsum("ja,ja->j", surplus, np.linalg.solve(spread, surplus[..., None])[..., 0]))


def _deviate(statistic: FloatArray, df: int) -> FloatArray:
    """Return the normal deviate of a χ²."""
    p = chdtrc(df, statistic)
    return np.where(p > 1e-300, -ndtri(np.maximum(p, 1e-300) / 2), np.sqrt(statistic))
