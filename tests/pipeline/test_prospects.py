"""The size that the test set is said to confirm is confirmed about as often as is said."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.special import ndtri as normal

import fairtest as ft
from fairtest.data.holdout import TRAIN
from fairtest.inference.multiplicity.corrections import corrections
from fairtest.inference.multiplicity.prior import Prior
from fairtest.inference.power import critical_p, expected_p
from fairtest.pipeline.prospects import prospects

N = 3_000


def people(seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {
        "sex": rng.choice(["f", "m"], N),
        "race": rng.choice(["a", "b", "c"], N),
        "region": rng.choice(["north", "south", "east"], N),
        "job": rng.choice(["u", "v"], N),
    }


def hired(columns: dict[str, np.ndarray], gap: float, rng: np.random.Generator) -> np.ndarray:
    """Women in the north are hired less often by ``gap``."""
    at = (columns["sex"] == "f") & (columns["region"] == "north")
    return np.where(rng.random(N) < 0.5 - gap * at, "yes", "no")


def scored(columns: dict[str, np.ndarray], share: float, rng: np.random.Generator) -> np.ndarray:
    """In the north, race accounts for a ``share`` of the variance of a score."""
    shift = np.select([columns["race"] == "a", columns["race"] == "b"], [1.0, -1.0], 0.0) / np.sqrt(2 / 3)
    return np.where(columns["region"] == "north", np.sqrt(share / (1 - share)), 0.0) * shift + rng.normal(size=N)


def picked(columns: dict[str, np.ndarray], gap: float, rng: np.random.Generator) -> np.ndarray:
    """In the north, race moves who is picked; ``gap`` is between the highest and the lowest of three rates."""
    step = np.select([columns["race"] == "a", columns["race"] == "b"], [0.5, -0.5], 0.0)
    return np.where(rng.random(N) < 0.4 + gap * step * (columns["region"] == "north"), "yes", "no")


def information(gap: float) -> float:
    """The NMI of three equal groups with these rates of picking."""
    p = np.array([0.4 + gap / 2, 0.4 - gap / 2, 0.4])

    def entropy(q: Any) -> Any:
        return -(q * np.log(q) + (1 - q) * np.log(1 - q))

    return float((entropy(p.mean()) - entropy(p).mean()) / min(entropy(p.mean()), np.log(3)))


def investigation(columns: dict[str, Any], protected: str, **options: Any) -> ft.Testing:
    source = ft.DataSource(pl.DataFrame(columns), favourable=options.pop("favourable", None))
    asked = ft.Testing(source, protected, "output", contextual=["region", "job"])
    ft.train([asked], max_depth=1, min_size=100)
    return asked


def share_confirmed(
    columns: dict[str, np.ndarray], first: np.ndarray, protected: str, draw: Any, correction: str, runs: int, **how: Any
) -> float:
    """Return how often the north is confirmed when the training set stays and the test set is drawn again."""
    rng = np.random.default_rng(7)
    train = ft.DataSource(pl.DataFrame(columns | {"output": first})).holdout.rows(TRAIN)
    confirmed = 0
    for _ in range(runs):
        output = draw(rng)
        output[train] = first[train]
        asked = investigation(columns | {"output": output}, protected, **how)
        ft.test([asked], correction=correction)
        contexts = asked.results.attributes[0].significant_contexts
        confirmed += any(str(c) == "region = north" for c in contexts)
    return confirmed / runs


def prospect_of(asked: ft.Testing, correction: str) -> Any:
    shown = prospects(asked, correction)[0].shown
    return next(p for p in shown if str(p.context) == "region = north")


@pytest.mark.parametrize("correction", ["pooled", "holm"])
def test_a_gap_is_confirmed_as_often_as_is_said(correction: str) -> None:
    how = {"favourable": {"output": "yes"}}
    shares = []
    for seed in (10, 11, 12):  # sizes of groups differ between training and test set, by chance
        columns = people(seed)
        first = hired(columns, 0.15, np.random.default_rng(seed))
        size = prospect_of(investigation(columns | {"output": first}, "sex", **how), correction).detectable
        draw = partial(hired, columns, size)
        shares.append(share_confirmed(columns, first, "sex", draw, correction, 30, **how))
    assert 0.65 <= np.mean(shares) <= 0.92


def test_the_share_of_variation() -> None:
    columns, rng = people(3), np.random.default_rng(4)
    first = scored(columns, 0.02, rng)
    said = prospect_of(investigation(columns | {"output": first}, "race"), "holm")
    draw = partial(scored, columns, said.detectable)
    assert 0.68 <= share_confirmed(columns, first, "race", draw, "holm", 80) <= 0.93


def test_mutual_information() -> None:
    columns, rng = people(5), np.random.default_rng(6)
    how = {"favourable": {"output": "yes"}}
    first = picked(columns, 0.1, rng)
    said = prospect_of(investigation(columns | {"output": first}, "race", **how), "holm")
    gaps = np.linspace(0.01, 0.7, 500)
    gap = float(gaps[np.searchsorted([information(g) for g in gaps], said.detectable)])
    draw = partial(picked, columns, gap)
    assert 0.68 <= share_confirmed(columns, first, "race", draw, "holm", 80, **how) <= 0.93


def test_nothing_is_spent_and_the_population_comes_first() -> None:
    columns = people(1)
    asked = investigation(columns | {"output": hired(columns, 0.2, np.random.default_rng(2))}, "sex")
    found = prospects(asked, most=3)[0]
    assert asked.source.budget.left == 1
    assert len(found.shown[0].context) == 0
    assert len(found.shown) == 4
    assert found.shown[0].size == asked.source.holdout.sizes[0]
    assert str(found.shown[1].context) == "region = north"


def test_the_most_evidence_comes_first_and_its_copies_are_folded_into_it() -> None:
    """A small group in which the gap happens to be larger must not hide the one that everything speaks for."""
    columns = people(1)
    output = hired(columns, 0.3, np.random.default_rng(2))
    source = ft.DataSource(pl.DataFrame(columns | {"output": output}), favourable={"output": "yes"})
    asked = ft.Testing(source, "sex", "output", contextual=["region", "job", "race"])
    ft.train([asked], max_depth=3, min_size=50)
    (found,) = prospects(asked)
    evidence = [p.evidence for p in found.shown[1:]]
    assert evidence == sorted(evidence, reverse=True)
    assert evidence[0] == max(asked.training.found[0].evidence[1:])
    assert str(found.shown[1].context) == "region = north"
    assert sum(p.copies + 1 for p in found.shown) == found.proposed


def test_a_larger_group_confirms_smaller_gaps() -> None:
    columns = people(1)
    asked = investigation(columns | {"output": hired(columns, 0.0, np.random.default_rng(2))}, "sex")
    everyone, *others = prospects(asked, "holm")[0].shown
    assert all(everyone.detectable < p.detectable for p in others if p.detectable)


@pytest.mark.parametrize("name", sorted(corrections))
def test_the_critical_p_value_is_where_the_correction_decides(name: str) -> None:
    rng = np.random.default_rng(3)
    evidence, directed = np.abs(rng.normal(size=30)) * 2, (rng.random(30) < 0.5).astype(float)
    prior = Prior(evidence, directed, 0.3, rng.choice([1, 2, 3, 1000], 30))
    expected = expected_p(evidence, np.full(30, 3), 0.3)
    expected[4] = np.nan  # a population with a level of its own is no member
    at = np.array([0, 7, 12, 29])
    for i, p_value in zip(at, critical_p(corrections[name], expected, prior, 0.05, at), strict=True):
        p = expected.copy()
        for factor, confirmed in ((0.97, True), (1.03, False)):
            p[i] = p_value * factor
            assert (corrections[name].adjust(p, prior)[i] <= 0.05) == confirmed


@pytest.mark.parametrize("seed", range(8))
def test_the_default_decides_where_bisection_says(seed: int) -> None:
    """Whether evidence or the floor decides, and whether or not others hang on the hypothesis being rejected."""
    rng = np.random.default_rng(seed)
    evidence, directed = np.abs(rng.normal(size=40)) * (1, 2, 4, 6)[seed % 4], (rng.random(40) < 0.5).astype(float)
    prior = Prior(evidence, directed, 0.3, rng.choice([1, 2, 2, 3, 3, 3], 40))
    expected = expected_p(evidence, np.full(40, 2), 0.3)
    at = np.arange(40)
    by_asking = [bisected(expected, prior, i) for i in at]
    assert critical_p(corrections["pooled"], expected, prior, 0.025, at) == pytest.approx(by_asking, rel=0.01)


def bisected(expected: np.ndarray, prior: Prior, i: int) -> float:
    """Return the largest p-value at which the default correction rejects, by asking it again and again."""
    low, high = -60.0, 0.0  # its logarithm
    while high - low > 1e-4:
        p, middle = expected.copy(), (low + high) / 2
        p[i] = np.exp(middle)
        low, high = (middle, high) if corrections["pooled"].adjust(p, prior)[i] <= 0.025 else (low, middle)
    return float(np.exp(low))


def deviate_of(asked: ft.Testing, at: int, **options: Any) -> float:
    """Return the critical deviate that a size to confirm tells of, for a difference of two rates."""
    shown = prospects(asked, "holm", **options)[0].shown[at]
    test = asked.source.holdout.sizes[1] / asked.source.holdout.sizes[0] * shown.size
    error = np.sqrt(0.5 * 0.5 * 4 / test)
    return float(shown.detectable / error) - 0.84


@pytest.mark.parametrize(("share", "protected"), [(0.5, ["sex"]), (0.2, ["sex"]), (0.5, ["sex", "race"])])
def test_everybody_has_a_level_of_their_own(share: float, protected: list[str]) -> None:
    """The share of the level, by the number of protected attributes; contexts have the rest among themselves."""
    columns = people(1)
    columns |= {
        "race": np.where(columns["race"] == "a", "a", "b"),
        "output": hired(columns, 0.0, np.random.default_rng(2)),
    }
    source = ft.DataSource(pl.DataFrame(columns), favourable={"output": "yes"})
    asked = ft.Testing(source, protected, "output", contextual=["region", "job"])
    ft.train([asked], max_depth=1, min_size=100)
    contexts = sum(len(found.contexts) - 1 for found in asked.training.found)
    found = prospects(asked, "holm", population_share=share)
    assert found[0].hypotheses == contexts + len(protected)
    level = {0: share * 0.05 / len(protected), 1: (1 - share) * 0.05 / contexts}
    for at, allowed in level.items():
        said = deviate_of(asked, at, population_share=share)
        assert said == pytest.approx(-normal(allowed / 2), rel=0.04)


def test_without_a_share_everybody_is_one_of_the_family() -> None:
    columns = people(1)
    asked = investigation(columns | {"output": hired(columns, 0.0, np.random.default_rng(2))}, "sex")
    (found,) = prospects(asked, "holm", population_share=0)
    assert (found.hypotheses, found.population_share) == (found.proposed, 0)
    assert deviate_of(asked, 0, population_share=0) == pytest.approx(-normal(0.025 / found.proposed), rel=0.04)
