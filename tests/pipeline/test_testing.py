"""Testing from a table to findings: every number is computed again from the people of the context.

The people of a test set are those of ``source.holdout.rows(1)``; those of a finding, ``context.mask`` of them. The
whole population is everybody: a question that was there first may use the training set too. From there numpy and polars
count, and the functions of ``fairtest.inference`` (which have reference values of their own) or SciPy give what the
finding must say.
"""

from __future__ import annotations

import datetime as dt
import itertools
import json

import numpy as np
import polars as pl
import pytest
from scipy import stats

import fairtest as ft
from fairtest.data import strata
from fairtest.inference.multiplicity.corrections import holm
from fairtest.statistics.numbers import correlation, oneway
from fairtest.statistics.numerics.rules import widen_to_zero
from fairtest.statistics.rates import score
from fairtest.statistics.tables import information

PEOPLE = 6000
ORDERED = {"grade": ["low", "mid", "high"]}


def make_people(n: int = PEOPLE, seed: int = 5) -> pl.DataFrame:
    """Associations are planted among people of city P up to 40 years old, and nowhere else."""
    rng = np.random.default_rng(seed)
    woman = rng.random(n) < 0.4
    race = rng.choice(["ash", "birch", "cedar"], n, p=[0.5, 0.35, 0.15])
    city = rng.choice(list("PQRS"), n)
    age = rng.integers(18, 80, n)
    there = (city == "P") & (age <= 40)
    years = rng.integers(0, 41, n)
    department = rng.choice(list("XYZ"), n)
    salary = rng.normal(50, 10, n) + 4 * (department == "Y") + there * (12.0 * (race == "cedar") + 0.4 * years)
    return pl.DataFrame(
        {
            "sex": np.where(woman, "woman", "man"),
            "race": race,
            "years": years,
            "grade": np.array(["low", "mid", "high"])[rng.integers(0, 3, n)],
            "city": city,
            "age": age,
            "department": department,
            "shift": rng.choice(["day", "night"], n),
            "hours": rng.gamma(9, 4, n).round(1),
            "member": rng.random(n) < 0.5,
            "level": rng.integers(1, 5, n),
            "joined": [dt.date(2010, 1, 1) + dt.timedelta(days=int(d)) for d in rng.integers(0, 3000, n)],
            "hired": rng.random(n) < np.where(there & woman, 0.15, 0.5),
            "choice": np.where(there & (race == "cedar"), "no", rng.choice(["no", "maybe", "yes"], n)),
            "salary": salary,
            "points": np.rint(salary).astype(int),
        }
    )


FRAME = make_people()
PAIRS = {
    "DIFF": ("sex", "hired"),
    "RATIO": ("sex", "hired"),
    "NMI": ("race", "choice"),
    "CORR": ("years", "salary"),
    "ETA": ("race", "salary"),
    "RANK": ("years", "points"),
}
SETTINGS = {"search": "tree", "correction": "holm"}
CONTEXT = ["city", "age", "department", "shift", "member", "level", "joined"]


def audited(protected, output, frame: pl.DataFrame = FRAME, **options):
    """Return the report, and the people of its test set."""
    own = {
        k: options.pop(k)
        for k in ("categorical", "numeric", "ordered", "favourable", "reference", "seed")
        if k in options
    }
    source = ft.DataSource(frame, **{"ordered": ORDERED, "train_size": 0.5, **own})
    call = {"contextual": CONTEXT, "max_depth": 2, "min_size": 200, **SETTINGS, **options}
    for name in np.atleast_1d(call.get("explanatory") or []):
        call["contextual"] = call["contextual"] and [c for c in call["contextual"] if c != name]
    report = ft.audit(source, protected, output, **call)
    return report, frame[source.holdout.rows(1)]


def people_of(finding: ft.Finding, test: pl.DataFrame, everybody: pl.DataFrame = FRAME) -> pl.DataFrame:
    """Return the people a finding is about: those of the test set in its context, or everybody."""
    return test.filter(finding.context.mask(test)) if len(finding.context) else everybody


def levels_of(report: ft.Report, share: float = 0.5) -> tuple[float, float]:
    """Return the levels of simultaneous intervals by Holm's correction: of each population, and of each context."""
    populations = sum(p.p_value is not None for p in report.populations)
    strata = sum(s.p_value is not None for p in report.populations for s in p.strata)
    level, contexts = report.settings.level, report.tested - populations - strata
    left = (1 - share) * level * (0.8 if strata else 1)
    return share * level / populations, left / max(contexts, 1)


def all_of(report: ft.Report) -> list[ft.Finding]:
    return [*report.populations, *report.findings]


def count_table(frame: pl.DataFrame, output: str, protected: str, rows, columns) -> np.ndarray:
    o, s = frame[output].to_list(), frame[protected].to_list()
    return np.array([[sum(a == r and b == c for a, b in zip(o, s, strict=True)) for c in columns] for r in rows])


def rates_of(table: np.ndarray) -> list[np.ndarray]:
    """Return the group's hits and people, then the reference's, of ``[..., output, group]``."""
    return [table[..., 1, 1], table[..., :, 1].sum(-1), table[..., 1, 0], table[..., :, 0].sum(-1)]


def central_sums(x: np.ndarray, y: np.ndarray, stratum: np.ndarray) -> correlation.CentralSums:
    x, y = (np.asarray(v, dtype=float) for v in (x, y))
    for e in np.unique(stratum):
        at = stratum == e
        x, y = (np.where(at, v - v[at].mean(), v) for v in (x, y))
    orders = [(2, 0), (0, 2), (1, 1), (2, 2), (3, 1), (1, 3), (4, 0), (0, 4), (3, 0), (2, 1), (1, 2), (0, 3)]
    sums = [np.array([np.sum(x**i * y**j)]) for i, j in orders]
    return correlation.CentralSums(np.array([x.size]), np.array([np.unique(stratum).size]), *sums)


def groups_of(x: np.ndarray, group: np.ndarray) -> oneway.Groups:
    parts = [x[group == g] for g in np.unique(group)]
    sums = [[np.sum((p - p.mean()) ** k) for p in parts] for k in (2, 3, 4)]
    return oneway.Groups(
        np.array([[p.size for p in parts]]), *(np.array([v]) for v in ([p.mean() for p in parts], *sums))
    )


class TestPlantedContext:
    """The context is found, with the right numbers."""

    def test_the_planted_context_is_on_top(self):
        report, _ = audited("sex", "hired")
        context = report.findings[0].context
        assert {p.column for p in context.predicates} == {"city", "age"}
        city, age = (next(p for p in context.predicates if p.column == c) for c in ("city", "age"))
        assert (city.op, city.value) == ("==", "P")
        assert age.op == "<="
        assert 30 <= age.value <= 45
        assert report.findings[0].effect == pytest.approx(-0.35, abs=0.08)

    def test_it_is_found_by_every_metric(self):
        pairs = [
            ("sex", "hired", "RATIO"),
            ("race", "choice", "NMI"),
            ("race", "salary", "ETA"),
            ("years", "salary", "CORR"),
        ]
        pairs += [("years", "salary", "RANK"), ("sex", "hired", "NMI")]
        for protected, output, metric in pairs:
            report, _ = audited(protected, output, metrics=metric)
            assert report.attributes[0].metric == metric
            # by the correlation, ages up to 27 do not differ from the rest of the city surely enough to be named
            expected = {"city"} if metric == "CORR" else {"city", "age"}
            assert report.findings[0].context.columns == expected, metric

    def test_difference_agrees_with_the_score_test(self):
        report, test = audited("sex", "hired")
        level = report.settings.level
        of_population, of_context = levels_of(report)
        for found in all_of(report):
            assert found.table.rows == (False, True)
            assert found.table.columns == ("man", "woman")
            table = count_table(people_of(found, test), "hired", "sex", found.table.rows, found.table.columns)
            assert np.array_equal(found.table.counts, table)
            assert found.size == table.sum()
            numbers = [v[None, None] for v in rates_of(table)]
            x1, n1, x2, n2 = (float(v[0, 0]) for v in numbers)
            assert found.effect == pytest.approx(x1 / n1 - x2 / n2, rel=1e-12)
            assert found.p_value_raw == pytest.approx(score.difference_p(*numbers)[0], rel=1e-9)
            single = np.concatenate(score.difference_interval(*numbers, alpha=level))
            alpha = of_context if len(found.context) else of_population
            together = np.concatenate(score.difference_interval(*numbers, alpha=alpha))
            assert found.interval_single == pytest.approx(single, rel=1e-9)
            assert found.interval == pytest.approx(together, rel=1e-9)
            assert found.ratio == pytest.approx((x1 / n1) / (x2 / n2), rel=1e-12)
            assert found.ratio_interval[0] < found.ratio < found.ratio_interval[1]

    def test_ratio_is_ratio_less_one(self):
        report, test = audited("sex", "hired", metrics="RATIO")
        for found in all_of(report):
            table = count_table(people_of(found, test), "hired", "sex", (False, True), ("man", "woman"))
            numbers = [v[None] for v in rates_of(table)]
            ratio = float(score.ratio(*numbers)[0])
            assert found.effect == pytest.approx(ratio - 1, rel=1e-12)
            assert found.ratio == pytest.approx(ratio, rel=1e-12)
            low, high = score.ratio_interval(*numbers, alpha=report.settings.level)
            assert found.interval_single == pytest.approx((low[0] - 1, high[0] - 1), rel=1e-9)
            assert found.ratio_interval == pytest.approx((low[0], high[0]), rel=1e-9)
            assert found.p_value_raw == pytest.approx(score.ratio_p(*numbers)[0], rel=1e-9)

    def test_information_agrees_with_the_g_test(self):
        report, test = audited("race", "choice")
        dense = 0
        for found in all_of(report):
            assert found.metric == "NMI"
            people = people_of(found, test)
            table = count_table(people, "choice", "race", found.table.rows, found.table.columns)
            assert np.array_equal(found.table.counts, table)
            g, p = stats.chi2_contingency(table, correction=False, lambda_="log-likelihood")[:2]
            entropy = min(stats.entropy(table.sum(axis=0)), stats.entropy(table.sum(axis=1)))
            assert found.effect == pytest.approx(g / 2 / table.sum() / entropy, rel=1e-9)
            if information.smallest_expected(table[None])[0] >= 5:
                dense += 1
                assert found.p_value_raw == pytest.approx(max(p, 1e-300), rel=1e-6)
                bounds = widen_to_zero(
                    *information.nmi_interval(table[None], 0.05), np.array([found.p_value_raw]), 0.05
                )
                assert found.interval_single == pytest.approx([b[0] for b in bounds], rel=1e-9)
        assert dense >= 2

    def test_sparse_information_is_drawn(self):
        """In a table with small expected counts, p is that of random tables with the same margins."""
        frame = FRAME.with_columns(
            race=pl.when(pl.int_range(PEOPLE) % 400 == 0).then(pl.lit("yew")).otherwise(pl.col("race"))
        ).filter((pl.int_range(PEOPLE) % 400 == 0) | (pl.int_range(PEOPLE) % 10 == 1))
        report, _ = audited("race", "choice", frame=frame, contextual=[])
        population = report.populations[0]
        table = count_table(frame, "choice", "race", population.table.rows, population.table.columns)
        assert information.smallest_expected(table[None])[0] < 5
        rng = np.random.default_rng(1)
        draws = stats.random_table(table.sum(axis=1), table.sum(axis=0)).rvs(20_000, random_state=rng)
        with np.errstate(divide="ignore", invalid="ignore"):
            observed = float(np.nansum(table * np.log(table)))
            p = np.mean(np.nansum(draws * np.log(draws), axis=(1, 2)) >= observed - 1e-9)
        assert population.p_value_raw == pytest.approx(p, abs=5 * np.sqrt(p * (1 - p) / 256) + 0.01)

    def test_correlation_agrees_with_numpy(self):
        report, test = audited("years", "salary")
        for found in all_of(report):
            assert found.metric == "CORR"
            people = people_of(found, test)
            s, o = people["years"].to_numpy(), people["salary"].to_numpy()
            assert found.effect == pytest.approx(np.corrcoef(s, o)[0, 1], rel=1e-9)
            sums = central_sums(s, o, np.zeros(s.size))
            p = correlation.correlation_p(sums)
            if s.size > 1000 or p[0] < 0.05 / report.tested / 100:
                assert found.p_value_raw == pytest.approx(p[0], rel=1e-6)
                bounds = widen_to_zero(*correlation.correlation_interval(sums, 0.05), p, 0.05)
                assert found.interval_single == pytest.approx([b[0] for b in bounds], rel=1e-6)

    def test_small_contexts_are_permuted_where_it_matters(self):
        """With few people and a p-value near the level, p is that of a studentised permutation."""
        rng = np.random.default_rng(8)
        x = rng.normal(size=800)
        frame = pl.DataFrame({"x": x, "y": rng.normal(size=800) * np.exp(x / 3) + 0.12 * x})
        report, _ = audited("x", "y", frame=frame, contextual=[], ordered=None)
        x, y = (frame[c].to_numpy() - frame[c].mean() for c in ("x", "y"))
        draws = rng.permuted(np.tile(y, (20_000, 1)), axis=1)

        def studentised(y):
            return np.abs(y @ x) / np.sqrt((y * y) @ (x * x))

        p = np.mean(studentised(draws) >= studentised(y))
        assert 0.001 < p < 0.3
        assert report.populations[0].p_value_raw == pytest.approx(p, abs=6 * np.sqrt(p * (1 - p) / 256))

    def test_correlation_ratio_agrees_with_numpy(self):
        report, test = audited("race", "salary")
        for found in all_of(report):
            assert found.metric == "ETA"
            people = people_of(found, test)
            groups = groups_of(people["salary"].to_numpy(), people["race"].to_numpy())
            between = (groups.n * (groups.mean - people["salary"].mean()) ** 2).sum()
            assert found.effect == pytest.approx(between / (between + groups.s2.sum()), rel=1e-9)
            p = oneway.brown_forsythe_p(groups)
            assert found.p_value_raw == pytest.approx(p[0], rel=1e-6)
            bounds = widen_to_zero(*oneway.eta_interval(groups, 0.05), p, 0.05)
            assert found.interval_single == pytest.approx([b[0] for b in bounds], rel=1e-6)

    def test_the_roles_of_the_correlation_ratio_may_be_swapped(self):
        """A numeric protected attribute and a categorical output: η² of the number between outputs."""
        report, _ = audited("years", "choice")
        population = report.populations[0]
        assert population.metric == "ETA"
        groups = groups_of(FRAME["years"].to_numpy().astype(float), FRAME["choice"].to_numpy())
        assert population.effect == pytest.approx(oneway.eta_squared(groups)[0], rel=1e-9)
        assert population.p_value_raw == pytest.approx(oneway.eta_p(groups)[0], rel=1e-6)
        assert population.table.measured == "years"
        assert population.table.by == "choice"

    @pytest.mark.parametrize("output", ["points", "salary"])
    def test_rank_correlation_agrees_with_scipy(self, output):
        """Values are binned where they are many, or not seen in training, which changes almost nothing over all."""
        report, test = audited("years", output, metrics="RANK")
        for found in all_of(report) if output == "points" else report.populations:
            people = people_of(found, test)
            rho = stats.spearmanr(people["years"], people[output]).statistic
            assert found.effect == pytest.approx(rho, abs=5e-4 if output == "salary" else 1e-4)

    def test_ordered_columns_are_ranked(self):
        report, _ = audited("grade", "points")
        codes = FRAME["grade"].replace_strict({"low": 0, "mid": 1, "high": 2})
        assert report.populations[0].metric == "RANK"
        rho = stats.spearmanr(codes, FRAME["points"]).statistic
        assert report.populations[0].effect == pytest.approx(rho, abs=1e-5)

    @pytest.mark.parametrize("metric", ["DIFF", "RATIO", "RANK", "MEAN", "CORR", "NMI", "ETA"])
    def test_the_single_interval_and_p_agree(self, metric):
        """Exactly for one statistic; where there are two, the interval never says more than the test."""
        protected, output = {**PAIRS, "MEAN": ("sex", "salary")}[metric]
        seen = set()
        for seed in range(10):
            frame = make_people(3000, seed=100 + seed)
            frame = frame.filter(pl.col("city") == "P") if seed % 2 else frame[:700]
            report, _ = audited(protected, output, frame=frame, metrics=metric, contextual=[])
            found = report.populations[0]
            low, high = found.interval_single
            rejected = found.p_value_raw <= report.settings.level
            excluded = low > 0 or high < 0
            assert rejected == excluded if metric in ("DIFF", "RATIO", "RANK", "MEAN") else rejected >= excluded
            assert low <= found.effect <= high
            seen.add(rejected)
        assert seen == {True, False}

    def test_the_simultaneous_interval_contains_the_single_one(self):
        for metric, (protected, output) in PAIRS.items():
            report, _ = audited(protected, output, metrics=metric)
            assert report.tested > 1
            for found in all_of(report):
                assert found.interval[0] <= found.interval_single[0] <= found.effect
                assert found.effect <= found.interval_single[1] <= found.interval[1]
                assert found.interval != found.interval_single


class TestFields:
    """What a finding and a report promise."""

    def test_the_fields_of_a_finding(self):
        report, test = audited("sex", "hired")
        found = report.findings[0]
        assert (found.protected, found.output, found.metric, found.label) == ("sex", "hired", "DIFF", None)
        assert found.context.predicates == found.predicates
        for predicate in found.predicates:
            assert predicate.op in ("<=", ">", "==", "in", "missing")
            assert predicate.column in CONTEXT
        assert str(found.context) == ", ".join(map(str, found.predicates))
        assert found.significant is True
        assert found.p_value_raw <= found.p_value <= report.settings.level
        assert found.strata == ()
        rates = np.array(found.table.counts)[1] / np.sum(found.table.counts, axis=0)
        for share in rates:
            assert f"{share:.0%}".replace("%", " %") in found.sentence.replace(" ", " ")
        assert f"{found.size:,}" in found.sentence.replace(" ", " ")
        assert people_of(found, test).height == found.size

    def test_populations_are_findings_without_a_context(self):
        report, test = audited(["sex", "race"], "hired")
        assert [p.protected for p in report.populations] == ["sex", "race"]
        for population in report.populations:
            assert isinstance(population, ft.Finding)
            assert len(population.context) == 0
            assert population.context.mask(test).all()
            assert population.size == PEOPLE
        assert [a.named for a in report.attributes] == [True, True]

    def test_without_a_share_the_population_is_one_hypothesis_among_the_others(self):
        report, test = audited(["sex", "race"], "hired", population_share=0)
        assert [p.size for p in report.populations] == [test.height] * 2
        assert [a.named for a in report.attributes] == [False, False]

    def test_findings_are_grouped_by_attribute_and_ordered_by_the_bound_nearest_zero(self):
        report, _ = audited(["race", "sex"], "hired", metrics={"sex": "DIFF", "race": "NMI"}, max_depth=4)
        names = [f.protected for f in report.findings]
        assert names == sorted(names, key=["race", "sex"].index)
        for attribute in report.attributes:
            bounds = [min(map(abs, f.interval_single)) for f in attribute.findings]
            assert bounds == sorted(bounds, reverse=True)
        assert len(report.attributes[1].findings) > 0

    def test_what_is_reported_is_stronger_than_every_larger_context_around_it(self):
        report, _ = audited("sex", "hired", max_depth=4)
        for inner, outer in itertools.permutations(all_of(report), 2):
            if not len(inner.context) or not outer.context.contains(inner.context):
                continue
            if np.sign(inner.effect) == np.sign(outer.effect) and outer.significant:
                assert min(map(abs, inner.interval_single)) > min(map(abs, outer.interval_single))

    def test_a_context_that_turns_the_other_way_is_reported(self):
        rng = np.random.default_rng(2)
        n = 8000
        woman, town = rng.random(n) < 0.5, rng.choice(["P", "Q"], n, p=[0.25, 0.75])
        gap = np.where(town == "P", 0.16, -0.3)
        frame = pl.DataFrame({"sex": np.where(woman, "f", "m"), "town": town, "y": rng.random(n) < 0.5 + woman * gap})
        report, _ = audited("sex", "y", frame=frame, contextual=["town"], reference={"sex": "m"}, ordered=None)
        by_town = {f.predicates[0].value: f for f in report.findings}
        assert report.populations[0].effect < -0.1
        assert set(by_town) == {"P", "Q"}
        assert 0 < by_town["P"].effect < abs(report.populations[0].effect)

    def test_counts_of_the_report(self):
        report, test = audited(["sex", "race"], "hired")
        assert report.discovered == report.tested
        assert report.validated == report.significant
        assert report.looked_at >= report.tested
        assert report.reported == len(report.findings) + sum(p.significant for p in report.populations)
        assert report.data.rows == PEOPLE
        assert (report.data.train, report.data.test) == (PEOPLE // 2, test.height)

    @pytest.mark.parametrize("share", [0, 0.2, 0.5])
    def test_the_family_is_corrected_by_holm(self, share):
        """All contexts of both attributes, counted again from the training: their corrected p-values.

        Both populations are corrected apart, with their share of the level; a context gets all of it if both hold.
        """
        source = ft.DataSource(FRAME, train_size=0.5)
        both = ft.Testing(source, ["sex", "member"], "hired", contextual=CONTEXT)
        ft.train([both], max_depth=2, min_size=200, search="tree")
        ft.test([both], correction="holm", population_share=share)
        report, test = ft.report([both])[0], FRAME[source.holdout.rows(1)]
        raw, keys = [], []
        for question, found in zip(both.questions, both.training.found, strict=True):
            name = question.protected.name
            for context in found.contexts:
                people = test.filter(context.mask(test)) if len(context) or not share else FRAME
                table = count_table(people, "hired", name, (False, True), question.protected.levels)
                raw.append(score.difference_p(*(v[None, None] for v in rates_of(table)))[0])
                keys.append((name, context))
        p = holm(np.array(raw))
        if share:
            whole = np.array([len(context) == 0 for _, context in keys])
            p[whole] = np.minimum(holm(np.array(raw)[whole]) / share, 1)
            among = holm(np.array(raw)[~whole])
            p[~whole] = np.minimum(np.minimum(among / (1 - share), np.maximum(among, p[whole].max())), 1)
        corrected = dict(zip(keys, p, strict=True))
        assert report.tested == len(raw)
        assert report.significant == sum(p <= 0.05 for p in corrected.values())
        for found in all_of(report):
            assert found.p_value == pytest.approx(corrected[found.protected, found.context], rel=1e-9)

    @pytest.mark.parametrize("correction", ["bonferroni", "bh", "by"])
    def test_other_corrections(self, correction):
        report, _ = audited("sex", "hired", correction=correction)
        plain, _ = audited("sex", "hired")
        found, same = report.findings[0], plain.findings[0]
        assert (found.context, found.p_value_raw) == (same.context, same.p_value_raw)
        assert report.settings.correction == correction
        if correction == "bonferroni":
            everybody = report.populations[0]
            assert everybody.p_value == pytest.approx(min(1, everybody.p_value_raw / 0.5), rel=1e-9)
            among = found.p_value_raw * (report.tested - 1)
            assert found.p_value == pytest.approx(min(2 * among, max(among, everybody.p_value), 1), rel=1e-9)

    def test_the_json_report_says_the_same(self):
        report, _ = audited(["sex", "race"], "hired")
        made = json.loads(report.to_json())
        assert made["schema"] == 1
        investigation = made["investigations"][0]
        assert (investigation["output"], investigation["favourable"]) == ("hired", True)
        for attribute, entry in zip(report.attributes, investigation["protected"], strict=True):
            assert entry["discovered"] == attribute.tested
            assert entry["validated"] == attribute.significant
            assert entry["reported"] == attribute.reported
            for found, written in zip(attribute.findings, entry["findings"], strict=True):
                assert written["effect"] == found.effect
                assert written["p_value"] == found.p_value
                assert tuple(written["interval"]) == found.interval
                assert written["table"]["counts"] == [list(row) for row in found.table.counts]


class TestContextsOfEveryKind:
    """The people of a context are the same whether the engine or the mask of a frame finds them."""

    @pytest.mark.parametrize("column", ["member", "level", "joined", "grade", "hours", "age", "city"])
    @pytest.mark.parametrize("missing", [False, True])
    def test_masks_agree_with_the_tables(self, column, missing):
        frame = make_people(3000, seed=9)
        top = frame[column].rank("dense") > frame[column].n_unique() / 2
        if column == "grade":
            top = frame["grade"] == "high"
        rng = np.random.default_rng(4)
        woman = (frame["sex"] == "woman").to_numpy()
        gone = rng.random(3000) < 0.25 * missing
        strong = gone if missing else top.to_numpy()
        frame = frame.with_columns(
            hired=pl.Series(rng.random(3000) < np.where(strong & woman, 0.1, 0.55)),
        ).with_columns(pl.when(pl.Series(gone)).then(None).otherwise(pl.col(column)).alias(column))
        report, test = audited("sex", "hired", frame=frame, contextual=[column], min_size=100, max_depth=3)
        assert report.findings
        for found in report.findings:
            table = count_table(people_of(found, test), "hired", "sex", (False, True), ("man", "woman"))
            assert np.array_equal(found.table.counts, table)
        ops = {p.op for f in report.findings for p in f.predicates}
        if missing:
            assert "missing" in ops
            assert f"{column} missing" in {str(f.context) for f in report.findings}
        assert ops <= ({"==", "missing"} if column in ("member", "level", "city") else {"<=", ">", "missing"})

    def test_a_split_at_zero(self):
        rng = np.random.default_rng(6)
        n = 3000
        woman, change = rng.random(n) < 0.5, rng.choice([-2.0, -1.0, 0.0, 1.0, 2.0], n)
        y = rng.random(n) < np.where(woman & (change <= 0), 0.1, 0.5)
        frame = pl.DataFrame({"sex": np.where(woman, "f", "m"), "change": change, "y": y})
        report, _ = audited(
            "sex", "y", frame=frame, contextual=["change"], numeric=["change"], max_depth=1, ordered=None
        )
        assert str(report.findings[0].context) == "change ≤ 0"


class TestLeftOut:
    """People and columns that are left out, and where it is said."""

    def test_people_without_a_value_are_left_out_for_that_attribute_only(self):
        rng = np.random.default_rng(1)
        holes = {"sex": 0.05, "race": 0.1, "hired": 0.02, "city": 0.1}
        frame = FRAME.with_columns(
            pl.when(pl.Series(rng.random(PEOPLE) < share)).then(None).otherwise(pl.col(name)).alias(name)
            for name, share in holes.items()
        )
        report, test = audited(["sex", "race"], "hired", frame=frame)
        for attribute in report.attributes:
            present = test.filter(pl.col(attribute.name).is_not_null() & pl.col("hired").is_not_null())
            assert attribute.left_out == test.height - present.height
            whole = frame.filter(pl.col(attribute.name).is_not_null() & pl.col("hired").is_not_null())
            assert attribute.population.size == whole.height
            assert f"{attribute.left_out:,}" in report.to_text().replace(" ", " ")
            for found in attribute.findings:
                assert found.size == people_of(found, present).height
        assert report.attributes[0].left_out != report.attributes[1].left_out

    def test_people_without_an_explanatory_value_are_left_out_and_counted(self):
        rng = np.random.default_rng(1)
        gone = pl.Series(rng.random(PEOPLE) < 0.1)
        frame = FRAME.with_columns(pl.when(gone).then(None).otherwise(pl.col("department")).alias("department"))
        report, test = audited("sex", "hired", frame=frame, explanatory="department")
        missing = test["department"].null_count()
        assert missing > 0
        assert report.attributes[0].left_out == missing
        assert report.populations[0].size == PEOPLE - frame["department"].null_count()

    def test_nobody_is_left_out_of_a_complete_table(self):
        report, _ = audited(["sex", "race"], "hired")
        assert [a.left_out for a in report.attributes] == [0, 0]

    def test_identifiers_are_left_out_with_a_word(self):
        frame = FRAME.with_columns(
            name=pl.Series([f"n{i:05d}" for i in range(PEOPLE)]),
            person_id=pl.int_range(1000, 1000 + PEOPLE, eager=True),
        )
        report, _ = audited("sex", "hired", frame=frame, contextual=None, max_depth=3)
        notes = {c.name: c for c in report.data.columns}
        text = report.to_text()
        for name in ("name", "person_id"):
            assert notes[name].role == "left out"
            assert "identifier" in notes[name].note
            assert notes[name].kind == "identifier"
            assert f"{name}:" in text
            assert not any(name in f.context.columns for f in report.findings)

    def test_excluded_columns_are_no_contexts(self):
        report, _ = audited("sex", "hired", contextual=None, exclude=["age", "joined"])
        assert report.findings
        assert not any({"age", "joined", "hired", "sex"} & f.context.columns for f in report.findings)
        assert {c.name: c.note for c in report.data.columns}["age"] == "excluded by the user"

    def test_untestable_contexts_are_counted(self):
        """A club whose women are all in the training set: on the test set there is nobody to compare."""
        n = 2000
        training = np.zeros(n, dtype=bool)
        training[ft.DataSource({"a": list(range(n))}, train_size=0.5).holdout.rows(0)] = True
        rng = np.random.default_rng(0)
        club = rng.random(n) < 0.2
        woman = np.where(club & ~training, False, rng.random(n) < 0.5)
        y = rng.random(n) < np.where(club & woman, 0.05, 0.5)
        frame = pl.DataFrame({"sex": np.where(woman, "f", "m"), "club": np.where(club, "in", "out"), "y": y})
        for metric in ("DIFF", "NMI", "RATIO"):
            source = ft.DataSource(frame, train_size=0.5)
            investigation = ft.Testing(source, "sex", "y", metrics=metric)
            ft.train([investigation], min_size=100, search="tree")
            assert len(investigation.training.found[0].contexts) == 3
            ft.test([investigation], correction="holm")
            attribute = ft.report([investigation])[0].attributes[0]
            assert (attribute.tested, attribute.untestable) == (2, 1), metric
            assert not any("club = in" in str(f.context) for f in attribute.findings)

    def test_an_output_that_does_not_vary_on_the_test_set_is_no_error(self):
        n = 1000
        training = np.zeros(n, dtype=bool)
        training[ft.DataSource({"a": list(range(n))}, train_size=0.5).holdout.rows(0)] = True
        rng = np.random.default_rng(0)
        frame = pl.DataFrame({"sex": rng.choice(["f", "m"], n), "y": training & (rng.random(n) < 0.5)})
        report, _ = audited("sex", "y", frame=frame, metrics="NMI", contextual=[], ordered=None, population_share=0)
        population = report.populations[0]
        assert population.effect is None
        assert population.interval is None
        assert population.p_value is None
        assert population.significant is False
        assert (report.tested, report.attributes[0].untestable, report.reported) == (0, 1, 0)
        assert population.sentence
        assert json.loads(report.to_json())["investigations"][0]["protected"][0]["population"]["effect"] is None
        report.to_html()
        report.to_text()


class TestRoles:
    """Kinds, groups and values that the user declares."""

    def test_declared_kinds_choose_the_metric(self):
        cases = [
            ({}, "level", "salary", "ETA"),
            ({"numeric": ["level"]}, "level", "salary", "CORR"),
            ({"ordered": {**ORDERED, "level": [1, 2, 3, 4]}}, "level", "salary", "RANK"),
            ({}, "sex", "level", "NMI"),
            ({"numeric": ["level"]}, "sex", "level", "MEAN"),
            ({}, "years", "hired", "CORR"),
            ({"categorical": ["years"]}, "years", "hired", "NMI"),
        ]
        for options, protected, output, metric in cases:
            report, _ = audited(protected, output, contextual=["city"], **options)
            assert report.attributes[0].metric == metric

    def test_a_declared_order_turns_the_direction(self):
        effects = []
        for order in (["low", "mid", "high"], ["high", "mid", "low"]):
            report, _ = audited("grade", "points", ordered={"grade": order}, contextual=[])
            effects.append(report.populations[0].effect)
        assert effects[0] == pytest.approx(-effects[1], rel=1e-9)

    def test_favourable_and_reference_turn_the_sign(self):
        found = {}
        for favourable, reference in itertools.product((True, False), ("man", "woman")):
            report, _ = audited("sex", "hired", favourable={"hired": favourable}, reference={"sex": reference})
            assert report.favourable == favourable
            assert report.attributes[0].reference == reference
            found[favourable, reference] = report.findings[0]
        assert found[True, "man"].effect < -0.2
        assert found[False, "woman"].effect == pytest.approx(found[True, "man"].effect, rel=1e-9)
        for other in ((False, "man"), (True, "woman")):
            assert found[other].effect == pytest.approx(-found[True, "man"].effect, rel=1e-9)
            low, high = found[True, "man"].interval
            assert found[other].interval == pytest.approx((-high, -low), rel=1e-6)
            assert found[other].p_value_raw == pytest.approx(found[True, "man"].p_value_raw, rel=1e-9)

    def test_what_effects_are_about_by_default(self):
        """True and 1 are favourable, else the rarer value; the larger group is the reference; ties go by name."""
        n = 400
        frame = pl.DataFrame(
            {
                "group": ["b"] * 240 + ["a"] * 160,
                "even": ["b", "a"] * 200,
                "flag": [True] * 300 + [False] * 100,
                "one": [1] * 300 + [0] * 100,
                "word": ["yes"] * 300 + ["no"] * 100,
                "tie": ["yes", "no"] * 200,
            }
        ).sample(n, shuffle=True, seed=0)
        favourable = {"flag": True, "one": 1, "word": "no", "tie": "no"}
        for output, value in favourable.items():
            report, _ = audited(["group", "even"], output, frame=frame, contextual=[], min_size=50, ordered=None)
            assert report.favourable == value
            assert [a.reference for a in report.attributes] == ["b", "a"]

    def test_crossed_protected_attributes(self):
        report, _ = audited([("sex", "race"), "sex"], "hired", contextual=["city"])
        crossed, alone = report.attributes
        assert (crossed.name, crossed.metric, alone.metric) == ("sex × race", "NMI", "DIFF")
        pairs = list(itertools.product(("man", "woman"), ("ash", "birch", "cedar")))
        table = crossed.population.table
        assert list(table.columns) == [", ".join(pair) for pair in pairs]
        for column, (sex, race) in enumerate(pairs):
            people = FRAME.filter((pl.col("sex") == sex) & (pl.col("race") == race))
            assert table.counts[1][column] == people["hired"].sum()
            assert table.counts[0][column] == people.height - people["hired"].sum()

    def test_crossed_attributes_are_no_contexts_of_their_own(self):
        testing = ft.Testing(
            ft.DataSource(FRAME, train_size=0.5), [("sex", "race"), "sex"], "hired", exclude=["salary", "points"]
        )
        crossed, alone = (set(q.contextual) for q in testing.questions)
        assert not {"sex", "race", "hired", "salary"} & crossed
        assert alone - crossed == {"race"}

    def test_a_protected_attribute_may_be_context_for_another(self):
        rng = np.random.default_rng(3)
        n = 3000
        woman, race = rng.random(n) < 0.5, rng.choice(["a", "b"], n)
        y = rng.random(n) < np.where(woman & (race == "b"), 0.2, 0.6)
        frame = pl.DataFrame({"sex": np.where(woman, "f", "m"), "race": race, "y": y})
        report, _ = audited(["sex", "race"], "y", frame=frame, contextual=None, ordered=None)
        contexts = {(f.protected, str(f.context)) for f in report.findings}
        assert ("sex", "race = b") in contexts
        assert ("race", "sex = f") in contexts

    def test_numeric_outputs_by_group(self):
        """The table of a finding has the means and quantiles that numpy gives."""
        report, test = audited("race", "salary")
        assert report.favourable is None
        for found in all_of(report):
            people = people_of(found, test)
            assert (found.table.measured, found.table.by) == ("salary", "race")
            assert [g.name for g in found.table.rows] == ["ash", "birch", "cedar"]
            assert sum(g.size for g in found.table.rows) == found.size
            for group in found.table.rows:
                values = people.filter(pl.col("race") == group.name)["salary"].to_numpy()
                assert group.size == values.size
                assert group.mean == pytest.approx(values.mean(), rel=1e-12)
                assert group.deviation == pytest.approx(values.std(ddof=1), rel=1e-12)
                assert group.quantiles == pytest.approx(np.quantile(values, [0, 0.25, 0.5, 0.75, 1]), rel=1e-12)

    def test_a_numeric_protected_attribute_is_shown_in_fifths(self):
        report, _ = audited("hours", "hired", contextual=[])
        population = report.populations[0]
        assert population.metric == "CORR"
        counts = np.array(population.table.counts)
        assert counts.shape == (2, 5)
        assert counts.sum() == PEOPLE
        assert counts[1].sum() == FRAME["hired"].sum()
        assert population.effect == pytest.approx(np.corrcoef(FRAME["hours"], FRAME["hired"])[0, 1], rel=1e-9)

    def test_sums_keep_their_digits(self):
        """Moving a number by a million millions changes neither the correlation nor its interval."""
        base, _ = audited("years", "points", contextual=[], metrics="CORR")
        moved, _ = audited(
            "years", "points", frame=FRAME.with_columns(pl.col("points") + 10**12), contextual=[], metrics="CORR"
        )
        assert moved.populations[0].effect == pytest.approx(base.populations[0].effect, rel=1e-6)
        assert moved.populations[0].interval == pytest.approx(base.populations[0].interval, rel=1e-6)


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
        report, test = audited(protected, output, metrics=metric, explanatory=explanatory, contextual=["city", "age"])
        training = ft.DataSource(FRAME, train_size=0.5).holdout.rows(0)
        names = [explanatory] if isinstance(explanatory, str) else explanatory
        assert report.explanatory == tuple(names)
        assert report.findings
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


class TestOwnMetric:
    """A metric of one's own needs its effect and the kinds it accepts, nothing more."""

    @pytest.fixture(scope="class")
    @staticmethod
    def gap():
        @ft.metric("own gap", protected="binary", output="binary")
        def gap(counts):
            rates = counts[..., 1, :].sum(axis=-2) / counts.sum(axis=(-3, -2))
            return rates[..., 1] - rates[..., 0]

        return gap

    def test_of_counts(self, gap):
        """The same effect as DIFF: permutation and bootstrap come near to its test and interval."""
        own, _ = audited("sex", "hired", metrics=gap, contextual=["city", "shift"], max_depth=1)
        known, _ = audited("sex", "hired", metrics="DIFF", contextual=["city", "shift"], max_depth=1)
        assert own.findings[0].metric == "own gap"
        assert str(own.findings[0].context) == "city = P"
        pairs = [(own.populations[0], known.populations[0]), (own.findings[0], known.findings[0])]
        for mine, theirs in pairs:
            assert mine.context == theirs.context
            assert mine.effect == pytest.approx(theirs.effect, rel=1e-12)
            width = theirs.interval_single[1] - theirs.interval_single[0]
            assert mine.interval_single == pytest.approx(theirs.interval_single, abs=0.12 * width)
            assert 0 < mine.p_value_raw <= mine.p_value <= 1
        assert own.findings[0].p_value <= 0.05
        assert own.findings[0].interval[1] < 0

    def test_by_its_name(self, gap):
        report, _ = audited("sex", "hired", metrics={"sex": "OWN GAP"}, contextual=[])
        assert report.attributes[0].metric == gap.name

    def test_of_counts_within_strata(self, gap):
        """A function of ``[..., stratum, output, protected]`` conditions as it likes: this one does not at all."""
        report, _ = audited("sex", "hired", metrics=gap, explanatory="department", contextual=[])
        woman, man = (FRAME.filter(pl.col("sex") == s)["hired"].mean() for s in ("woman", "man"))
        assert report.populations[0].effect == pytest.approx(woman - man, rel=1e-12)
        for part in report.populations[0].strata:
            inside = FRAME.filter(pl.col("department") == part.values["department"])
            woman, man = (inside.filter(pl.col("sex") == s)["hired"].mean() for s in ("woman", "man"))
            assert part.effect == pytest.approx(woman - man, rel=1e-12)

    def test_of_rows(self):
        """A difference of medians: no table has it, so people are permuted and drawn again one by one."""

        @ft.metric("own medians", protected="binary", output="numeric")
        def medians(s, o, stratum):
            if np.ptp(s) == 0:
                return np.nan
            return np.median(o[s == 1]) - np.median(o[s == 0])

        rng = np.random.default_rng(2)
        n = 600
        woman, town = rng.random(n) < 0.5, rng.choice(["P", "Q"], n)
        pay = rng.gamma(4, 5, n) - np.where(woman & (town == "P"), 9, 0)
        frame = pl.DataFrame({"sex": np.where(woman, "f", "m"), "town": town, "pay": pay})
        report, test = audited(
            "sex",
            "pay",
            frame=frame,
            metrics=medians,
            contextual=["town"],
            reference={"sex": "m"},
            min_size=100,
            ordered=None,
        )
        found = report.findings[0]
        assert str(found.context) == "town = P"
        people = people_of(found, test)
        woman, man = (people.filter(pl.col("sex") == s)["pay"].median() for s in "fm")
        assert found.effect == pytest.approx(woman - man, rel=1e-12)
        low, high = found.interval_single
        assert low <= found.effect <= high < 0
        assert 1 < high - low < 10
        assert found.p_value <= 0.05

    def test_of_rows_without_an_association(self):
        @ft.metric("own means", protected="binary", output="numeric")
        def means(s, o, stratum):
            return np.mean(o[s == 1]) - np.mean(o[s == 0])

        rng = np.random.default_rng(12)
        n = 400
        frame = pl.DataFrame({"sex": rng.choice(["f", "m"], n), "pay": rng.normal(size=n)})
        report, _ = audited(
            "sex", "pay", frame=frame, metrics=means, contextual=[], reference={"sex": "m"}, ordered=None
        )
        population = report.populations[0]
        woman, man = (frame.filter(pl.col("sex") == s)["pay"].to_numpy() for s in "fm")
        p = stats.ttest_ind(woman, man).pvalue
        assert population.p_value_raw == pytest.approx(p, abs=5 * np.sqrt(p * (1 - p) / 256) + 0.01)
        assert population.interval_single[0] <= 0 <= population.interval_single[1]


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
