"""Several groups beside a reference group."""

import numpy as np
import polars as pl
import pytest

import fairtest as ft
from fairtest.inference.multiplicity.gates import Gates, adjust_populations, holm
from fairtest.model.comparison import FEWEST_COMPARED
from fairtest.statistics.rates import score


def people(n=4_000, seed=0, **changes):
    rng = np.random.default_rng(seed)
    race = rng.choice(["white", "black", "asian", "few"], n, p=[0.6, 0.25, 0.147, 0.003])
    job = np.where(rng.random(n) < np.where(race == "black", 0.7, 0.3), "floor", "desk")
    rate = np.where(race == "black", 0.3, 0.45) - 0.1 * (job == "floor")
    made = {"race": race, "job": job, "hired": np.where(rng.random(n) < rate, "yes", "no")}
    made["pay"] = np.round(30 + 4 * rng.exponential(1.0, n) - 3 * (race == "black"), 2)
    return pl.DataFrame(made | changes)


def compared(output="hired", frame=None, **options):
    words = {"favourable": {"hired": "yes"}} if output == "hired" else {}
    frame = people() if frame is None else frame
    report = ft.audit(frame, "race", output, **({"contextual": []} | words | options))
    return report, report.populations[0].comparisons


def test_each_group_beside_the_largest():
    frame = people()
    report, [comparison] = compared(frame=frame)
    assert (comparison.reference, comparison.output) == ("white", "yes") == (report.attributes[0].reference, "yes")
    counts = {
        r: (sum(frame.filter(pl.col("race") == r)["hired"] == "yes"), frame["race"].eq(r).sum())
        for r in ("white", "black", "asian")
    }
    for gap in comparison.gaps:
        (x1, n1), (x2, n2) = counts[gap.group], counts["white"]
        pair = [np.array([[v]]) for v in (x1, n1, x2, n2)]
        assert gap.size == n1
        assert gap.value == pytest.approx(x1 / n1)
        assert gap.gap == pytest.approx(x1 / n1 - x2 / n2)
        assert gap.p_value_raw == pytest.approx(float(score.difference_p(*pair)[0]))
        low, high = score.difference_interval(*pair, 0.05 / 2 / 3)  # half of the level for everybody; two gaps and NMI
        assert gap.interval == pytest.approx((float(low[0]), float(high[0])))
    clear = {gap.group: gap.significant for gap in comparison.gaps}
    assert clear == {"asian": False, "black": True}


def test_small_groups_are_named_and_not_compared():
    frame = people()
    report, [comparison] = compared(frame=frame)
    assert comparison.small == (("few", frame["race"].eq("few").sum()),)
    assert comparison.small[0][1] < FEWEST_COMPARED
    assert "Fewer than 30 people, and so not compared: few (" in report.to_text()
    assert "(few)" not in report.populations[0].sentence


def test_the_reference_may_be_chosen():
    report, [comparison] = compared(reference={"race": "black"})
    assert comparison.reference == "black"
    assert {gap.group: gap.gap > 0 for gap in comparison.gaps} == {"white": True, "asian": True}
    assert "than those with race = black" in str(report)


def test_before_and_after_an_explanatory_attribute():
    report, [comparison] = compared(explanatory="job")
    black = next(gap for gap in comparison.gaps if gap.group == "black")
    assert black.before < black.gap < -0.08
    assert "→" in str(report)
    assert "comparing only people with the same job, the gap to white is" in " ".join(str(report).split())


def test_numbers_in_their_own_units():
    frame = people()
    report, [comparison] = compared("pay", frame)
    black = next(gap for gap in comparison.gaps if gap.group == "black")
    pay = {r: frame.filter(pl.col("race") == r)["pay"] for r in ("white", "black")}
    assert comparison.value == pytest.approx(pay["white"].mean())
    assert black.gap == pytest.approx(pay["black"].mean() - pay["white"].mean())
    assert black.ratio == pytest.approx(pay["black"].mean() / pay["white"].mean())
    assert black.median_gap == pytest.approx(pay["black"].median() - pay["white"].median())
    assert black.ratio_interval[0] < black.ratio < black.ratio_interval[1] < 1
    assert black.median_gap_interval[0] < black.median_gap < black.median_gap_interval[1] < 0
    assert "% less; median" in " ".join(str(report).split())


def test_two_groups_in_a_number_are_the_effect_itself():
    frame = people().filter(pl.col("race").is_in(["white", "black"]))
    report, [comparison] = compared("pay", frame)
    [gap] = comparison.gaps
    whole = report.populations[0]
    assert (gap.gap, gap.interval, gap.p_value) == (whole.effect, whole.interval, whole.p_value)


def test_every_value_of_a_categorical_output():
    frame = people().with_columns(grade=pl.Series(np.random.default_rng(1).choice(["a", "b", "c"], 4_000)))
    _, comparisons = compared("grade", frame)
    assert [c.output for c in comparisons] == ["a", "b", "c"]
    assert not any(c.confirmed for c in comparisons)


def test_contexts_are_described_and_not_tested():
    frame = people(8_000).with_columns(
        pay=pl.when(pl.col("job") == "desk")
        .then(30.0 + (pl.col("race") == "black") * 5 + pl.col("pay") / 10)
        .otherwise(pl.col("pay"))
    )
    report, _ = compared("pay", frame, contextual=["job"], min_size=50)
    inside = [f for f in report.findings if len(f.context)]
    assert inside
    for gap in (g for f in inside for c in f.comparisons for g in c.gaps):
        assert gap.p_value is None
        assert gap.significant == (not gap.interval[0] <= 0 <= gap.interval[1])


def test_neither_labels_nor_the_papers_preset_compare_groups():
    _, comparisons = compared(preset="paper")
    assert comparisons == ()


def test_a_group_says_who_is_how_far_from_the_reference():
    """A strength without direction (NMI) does not say who is worse: the gaps stand below it, also on the page."""
    rng = np.random.default_rng(8)
    frame = people(9_000)
    job, race = frame["job"].to_numpy(), frame["race"].to_numpy()
    rate = np.where((job == "desk") & (race == "black"), 0.15, np.where((job == "desk") & (race == "asian"), 0.6, 0.45))
    frame = frame.with_columns(hired=pl.Series(np.where(rng.random(9_000) < rate, "yes", "no")))
    report, _ = compared(frame=frame, contextual=["job"], min_size=50)
    said = " ".join(str(report).split())
    assert "1. job = desk" in said
    words = "gap to white in the share with hired = yes: black −"
    assert words in said
    assert words in report.to_html()
    assert "it shows in one group (job = desk)" in said.lower()


class TestGates:
    def test_without_several_groups_it_is_holm_and_recycling(self):
        p = np.array([0.01, 0.04, np.nan, 0.03])
        assert adjust_populations(p, np.zeros(4, dtype=bool)) == pytest.approx([0.03, 0.06, np.nan, 0.06], nan_ok=True)
        gates = Gates.of(0.5, [0.01, 0.02], [None, None])
        contexts = np.array([0.001, 0.04, np.nan])
        assert gates.pass_on(contexts) == pytest.approx([0.002, 0.04, np.nan], nan_ok=True)
        assert gates.level_for_contexts(0.05) == 0.05

    def test_a_population_of_several_groups_keeps_its_level_until_its_gaps_are_rejected(self):
        kept = Gates.of(0.5, [0.001], [np.array([0.001, 0.4])])
        assert kept.level_for_contexts(0.05) == pytest.approx(0.025)
        assert kept.pass_on(np.array([0.04])) == pytest.approx([0.08])
        passed = Gates.of(0.5, [0.001], [np.array([0.001, 0.01])])
        assert passed.level_for_contexts(0.05) == 0.05
        assert passed.pass_on(np.array([0.04])) == pytest.approx([0.04])

    def test_levels_never_add_up_to_more_than_all(self):
        rng = np.random.default_rng(3)
        for _ in range(200):
            m, share = int(rng.integers(1, 5)), float(rng.uniform(0.1, 0.9))
            keeps = rng.random(m) < 0.5
            gates = Gates.of(share, [0.0] * m, [np.array([1.0]) if k else None for k in keeps])
            assert gates.level_for_contexts(0.05) + 0.05 * share * keeps.sum() / m == pytest.approx(0.05)

    def test_holm_counts_what_is_undefined(self):
        assert holm(np.array([0.01, np.nan])) == pytest.approx([0.02, np.nan], nan_ok=True)
