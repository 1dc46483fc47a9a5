"""Testing given explanatory attributes, and by draws."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from planted_people import (
    FRAME,
    PAIRS,
    PEOPLE,
    all_of,
    audited,
    count_table,
    levels_of,
    make_people,
    people_of,
    rates_of,
)
from scipy import stats

import fairtest as ft
from fairtest.data import strata
from fairtest.inference import second_look
from fairtest.inference.multiplicity.corrections import holm
from fairtest.statistics.rates import score

EXPLANATORY = {"one": "department", "several": ["department", "shift"], "number": "hours"}


def with_strata(frame: pl.DataFrame, source_rows: np.ndarray, whole: pl.DataFrame, names) -> pl.Series:
    """Return the stratum of each person: the values, a number by the fifths of the training set."""
    parts = []
    for name in [names] if isinstance(names, str) else names:
        if name == "hours":
            training = whole[name].to_numpy()[source_rows]
            cuts = np.quantile(training, [0.2, 0.4, 0.6, 0.8], method="inverted_cdf")
            parts.append(pl.Series(np.searchsorted(cuts, frame[name].to_numpy(), side="left").astype(str)))
        else:
            parts.append(frame[name])
    return pl.Series([" · ".join(values) for values in zip(*(p.to_list() for p in parts), strict=True)])


def effect_of(metric: str, people: pl.DataFrame, stratum: pl.Series | None = None) -> float:
    """Return the effect of a metric from the rows, by its definition; conditional on a stratum if given."""
    protected, output = PAIRS[metric]
    e = np.zeros(people.height, dtype=int) if stratum is None else stratum.rank("dense").to_numpy().astype(int) - 1
    s, o = people[protected].to_numpy(), people[output].to_numpy()
    if metric in ("DIFF", "RATIO", "NMI"):
        effects = []
        for k in np.unique(e):
            s_, o_ = s[e == k], o[e == k]
            if metric == "NMI":
                table = np.array([[np.sum((o_ == a) & (s_ == b)) for b in np.unique(s_)] for a in np.unique(o_)])
                g = stats.chi2_contingency(table, correction=False, lambda_="log-likelihood")[0]
                effects.append(g / 2 / table.sum() / min(stats.entropy(table.sum(0)), stats.entropy(table.sum(1))))
            else:
                woman, man = o_[s_ == "woman"].mean(), o_[s_ == "man"].mean()
                effects.append(woman - man if metric == "DIFF" else woman / man - 1)
        return float(np.average(effects, weights=np.bincount(e)))
    o = o.astype(float)
    if metric == "RANK":
        s, o = (_within(v, e, lambda x: stats.rankdata(x) / x.size) for v in (s, o))
    if metric in ("RANK", "CORR"):
        x, y = (_within(v.astype(float), e, lambda x: x - x.mean()) for v in (s, o))
        return float(x @ y / np.sqrt((x @ x) * (y @ y)))
    x = _within(o, e, lambda x: x - x.mean())
    cell = np.unique(np.char.add(e.astype(str), s.astype(str)), return_inverse=True)[1]
    fitted = _within(x, cell, lambda x: np.full(x.size, x.mean()))
    return float(fitted @ fitted / (x @ x))


def _within(values: np.ndarray, group: np.ndarray, change) -> np.ndarray:
    result = np.empty(values.size)
    for g in np.unique(group):
        result[group == g] = change(values[group == g])
    return result


class TestExplanatory:
    """The conditional form of each metric, given one attribute, two crossed, or a number in fifths."""

    @pytest.mark.parametrize("explanatory", EXPLANATORY.values(), ids=EXPLANATORY)
    @pytest.mark.parametrize("metric", PAIRS)
    def test_strata_and_their_average(self, metric, explanatory, monkeypatch):
        protected, output = PAIRS[metric]
        monkeypatch.setattr(strata, "LEAST", 10**9)  # no finer bins than the fifths that are shown
        monkeypatch.setattr(second_look, "neighbour_p", lambda _: 0.0)  # which decide what is shown, not its numbers
        report, test = audited(protected, output, metrics=metric, explanatory=explanatory, contextual=["city", "age"])
        training = ft.DataSource(FRAME, train_size=0.5).holdout.rows(0)
        names = [explanatory] if isinstance(explanatory, str) else explanatory
        assert report.explanatory == tuple(names)
        # three races in a dozen strata of a few people each are too few to be sure of
        assert report.findings or (metric, explanatory) == ("ETA", EXPLANATORY["several"])
        for found in all_of(report):
            people = people_of(found, test)
            stratum = with_strata(people, training, FRAME, explanatory)
            near = {"rel": 1e-6, "abs": 1e-4 if metric == "RANK" else 0}  # values not seen in training share a code
            assert found.effect == pytest.approx(effect_of(metric, people, stratum), **near)
            assert found.size == people.height
            sizes = stratum.value_counts().sort("")["count"].to_list()
            assert [s.size for s in found.strata] == sizes
            assert sum(sizes) == people.height
            for part, name in zip(found.strata, sorted(stratum.unique().to_list()), strict=True):
                inside = people.filter(stratum == name)
                assert part.effect == pytest.approx(effect_of(metric, inside), **near)
                assert list(part.values) == names
                if "hours" not in names:
                    assert " · ".join(part.values.values()) == name
            if metric in ("DIFF", "RATIO", "NMI"):
                weighted = sum(s.size / found.size * s.effect for s in found.strata)
                assert found.effect == pytest.approx(weighted, rel=1e-9)

    def test_the_conditional_difference_agrees_with_the_score_test(self):
        report, test = audited("sex", "hired", explanatory="department", min_size=60)
        of_population, of_context = levels_of(report)

        def tables_of(people: pl.DataFrame) -> np.ndarray:
            inside = [people.filter(pl.col("department") == d) for d in "XYZ"]
            return np.stack([count_table(part, "hired", "sex", (False, True), ("man", "woman")) for part in inside])

        for found in all_of(report):
            tables = tables_of(people_of(found, test))
            numbers = [v[None] for v in rates_of(tables)]
            assert found.p_value_raw == pytest.approx(score.difference_p(*numbers)[0], rel=1e-9)
            single = np.concatenate(score.difference_interval(*numbers, alpha=report.settings.level))
            assert found.interval_single == pytest.approx(single, rel=1e-9)
            alpha = of_context if len(found.context) else of_population
            together = np.concatenate(score.difference_interval(*numbers, alpha=alpha))
            assert found.interval == pytest.approx(together, rel=1e-9)
            for part, table in zip(found.strata, tables, strict=True):
                alone = [v[None, None] for v in rates_of(table)]
                assert np.array_equal(part.table.counts, table)
                assert part.p_value_raw == pytest.approx(score.difference_p(*alone)[0], rel=1e-9)
                assert part.p_value >= part.p_value_raw
                single = np.concatenate(score.difference_interval(*alone, alpha=report.settings.level))
                assert part.interval_single == pytest.approx(single, rel=1e-9)
                alpha = of_context if len(found.context) else 0.2 * 0.5 * report.settings.level / 3
                together = np.concatenate(score.difference_interval(*alone, alpha=alpha))
                assert part.interval == pytest.approx(together, rel=1e-9)

    def test_strata_of_everybody_are_a_family_of_their_own(self):
        """By Holm on everybody, with a fifth of what the population leaves: all of the level once it is confirmed."""
        confirmed, _ = audited("sex", "hired", explanatory="department", contextual=["city"])
        unclear, _ = audited("race", "hired", explanatory="department", contextual=["city"])
        for report in (confirmed, unclear):
            population = report.populations[0]
            assert sum(s.size for s in population.strata) == population.size == PEOPLE
            p = holm(np.array([s.p_value_raw for s in population.strata])) / 0.2
            expected = np.minimum(np.minimum(p / 0.5, np.maximum(p, population.p_value)), 1)
            assert [s.p_value for s in population.strata] == pytest.approx(expected, rel=1e-9)
        assert confirmed.populations[0].significant
        assert not unclear.populations[0].significant

    def test_strata_belong_to_the_family(self):
        source = ft.DataSource(FRAME, train_size=0.5)
        investigation = ft.Testing(source, "sex", "hired", ["city"], "department")
        ft.train([investigation], min_size=100, max_depth=1, search="tree")
        ft.test([investigation], correction="holm")
        contexts = investigation.training.found[0].contexts
        assert len(contexts) == 5
        assert ft.report([investigation])[0].tested == 5 * (1 + 3)

    def test_small_strata_are_described_but_not_tested(self):
        """A stratum of everybody needs min_size people."""
        rare = pl.int_range(PEOPLE) % 150 == 0
        frame = FRAME.with_columns(department=pl.when(rare).then(pl.lit("W")).otherwise(pl.col("department")))
        report, _ = audited("sex", "hired", frame=frame, explanatory="department", contextual=[], min_size=80)
        small = report.populations[0].strata[0]
        assert small.values == {"department": "W"}
        assert small.size == frame.filter(pl.col("department") == "W").height < 80
        assert small.effect is not None
        assert small.p_value is None
        assert small.p_value_raw is None
        assert report.tested == 1 + 3

    def test_an_explanatory_attribute_is_no_context(self):
        report, _ = audited("sex", "hired", explanatory=["department", "shift"], contextual=None)
        assert not any({"department", "shift"} & f.context.columns for f in report.findings)

    def test_the_report_says_how_a_number_is_binned(self):
        report, _ = audited("sex", "hired", explanatory="hours", contextual=[])
        training = FRAME["hours"].to_numpy()[ft.DataSource(FRAME, train_size=0.5).holdout.rows(0)]
        cuts = np.quantile(training, [0.2, 0.4, 0.6, 0.8], method="inverted_cdf")
        note = next(c for c in report.data.columns if c.name == "hours")
        assert note.role == "explanatory"
        assert note.note.startswith("in bins")
        for cut in cuts:
            assert f"{cut:.6g}" in note.note
            assert f"{cut:.6g}" in report.to_text()
        names = [s.values["hours"] for s in report.populations[0].strata]
        assert len(set(names)) == 5
        assert all(name in note.note for name in names)

    def test_a_number_of_few_values_is_not_binned(self):
        report, _ = audited("sex", "hired", explanatory="level", numeric=["level"], contextual=[])
        sizes = FRAME["level"].value_counts().sort("level")["count"].to_list()
        assert [s.size for s in report.populations[0].strata] == sizes

    def test_strata_without_a_group_carry_no_information(self):
        """In the all-male department there is nothing to compare: it has no weight, and the finding says so."""
        frame = FRAME.with_columns(
            department=pl.when((pl.col("sex") == "man") & (pl.int_range(PEOPLE) % 5 == 0))
            .then(pl.lit("A"))
            .otherwise(pl.col("department"))
        )
        report, test = audited("sex", "hired", frame=frame, explanatory="department", contextual=[], population_share=0)
        population = report.populations[0]
        alone = population.strata[0]
        people = test.filter(pl.col("department") == "A").height
        assert (alone.values["department"], alone.size) == ("A", people)
        assert alone.effect is None
        assert alone.p_value is None
        assert any(f"{people:,}" in note for note in population.notes)
        known = [s for s in population.strata if s.effect is not None]
        weighted = sum(s.size * s.effect for s in known) / sum(s.size for s in known)
        assert population.effect == pytest.approx(weighted, rel=1e-9)

    def test_confounding_is_explained_away(self):
        """Women apply to the department that rejects: a gap over all, none within departments."""
        rng = np.random.default_rng(4)
        n = 5000
        woman = rng.random(n) < 0.5
        strict = rng.random(n) < np.where(woman, 0.8, 0.2)
        y = rng.random(n) < np.where(strict, 0.2, 0.7)
        frame = pl.DataFrame({"sex": np.where(woman, "f", "m"), "department": np.where(strict, "B", "A"), "y": y})
        plain, _ = audited("sex", "y", frame=frame, contextual=[], reference={"sex": "m"}, ordered=None)
        given, _ = audited(
            "sex", "y", frame=frame, contextual=[], explanatory="department", reference={"sex": "m"}, ordered=None
        )
        assert plain.populations[0].significant
        assert plain.populations[0].effect < -0.2
        assert not given.populations[0].significant
        assert abs(given.populations[0].effect) < 0.05


class TestResampling:
    """``method="resampling"`` permutes and bootstraps, and comes to the same conclusions."""

    @pytest.mark.parametrize("explanatory", [None, "department"])
    @pytest.mark.parametrize("metric", PAIRS)
    def test_agrees_with_the_calibrated_methods(self, metric, explanatory):
        protected, output = ("grade", "years") if metric == "RANK" else PAIRS[metric]
        frame = make_people(1000, seed=21)
        options = {"metrics": metric, "frame": frame, "contextual": [], "explanatory": explanatory, "min_size": 100}
        auto, _ = audited(protected, output, **options)
        drawn, _ = audited(protected, output, method="resampling", **options)
        assert drawn.settings.method == "resampling"
        mine, theirs = drawn.populations[0], auto.populations[0]
        assert mine.effect == pytest.approx(theirs.effect, rel=1e-9)
        p = theirs.p_value_raw
        assert mine.p_value_raw == pytest.approx(p, abs=5 * np.sqrt(p * (1 - p) / 256) + 0.012)
        width = theirs.interval_single[1] - theirs.interval_single[0]
        assert mine.interval_single[0] <= mine.effect <= mine.interval_single[1]
        if metric not in ("NMI", "ETA"):  # the bootstrap of an effect that cannot be negative is known to be off
            assert mine.interval_single == pytest.approx(theirs.interval_single, abs=0.2 * width)
