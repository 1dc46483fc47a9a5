"""Error profiles through the whole pipeline: train, test, report, explain, audit, alone and beside other questions."""

from __future__ import annotations

import json

import numpy as np
import pytest

import fairtest as ft


def people(n: int = 6_000, seed: int = 1) -> dict[str, np.ndarray]:
    """Return people for whom predictions are worse: with age, for women, and most for women in the north."""
    rng = np.random.default_rng(seed)
    sex, region = rng.choice(["f", "m"], n), rng.choice(["north", "south"], n)
    age, late = rng.integers(18, 90, n), rng.random(n) < 0.4
    wrong = rng.random(n) < 0.1 + 0.1 * (sex == "f") + 0.15 * ((sex == "f") & (region == "north"))
    days = rng.poisson(4, n)
    return {
        "sex": sex,
        "region": region,
        "age": age,
        "late": np.where(late, "yes", "no"),
        "said": np.where(late ^ wrong, "yes", "no"),
        "days": days,
        "guess": days + rng.normal(0, 0.2 + age / 30, n),
    }


def people_with_gaps():
    columns = people()
    columns["late"] = np.where(np.arange(6_000) % 50 == 0, None, columns["late"])
    return columns


@pytest.fixture(scope="module")
def rates() -> ft.Report:
    return ft.audit(people_with_gaps(), "sex", "said", ground_truth="late", notion="fpr", favourable={"late": "yes"})


@pytest.fixture(scope="module")
def guesses() -> ft.Report:
    return ft.audit(people(), "age", "guess", ground_truth="days", contextual=["sex", "region"])


class TestRates:
    def test_finds_where_the_mistakes_are(self, rates):
        assert rates.populations[0].significant
        assert str(rates.findings[0].context) == "region = north"

    def test_everybody_is_counted_once(self, rates):
        attribute = rates.attributes[0]
        assert attribute.outside > 0
        assert attribute.left_out > 0
        columns = people_with_gaps()
        about = columns["late"] == "no"
        inside = about[ft.DataSource(columns).holdout.rows(1)].sum()
        assert inside + attribute.left_out + attribute.outside == rates.data.test
        assert attribute.population.size == about.sum()  # of the training set too

    def test_says_whom_it_is_about(self, rates):
        size = rates.populations[0].size
        assert rates.populations[0].sentence.startswith(f"In the whole population ({size:,} people with late = no), ")
        assert "get a false positive" in rates.populations[0].sentence
        assert "people with late = no and region north, " in rates.findings[0].sentence
        text = " ".join(rates.to_text().split())
        assert f"{rates.attributes[0].outside:,} people of the test set have late = yes" in text
        assert f"{rates.attributes[0].left_out:,} people of the test set have no value for sex, said or late" in text
        assert text.count("Among people with late = no, those with sex = m get a false positive") == 1

    def test_says_which_label_is_positive(self, rates):
        text = " ".join(rates.to_text().split())
        assert "the share of mistakes among people with late = no; a false positive is said = yes where" in text
        assert json.loads(rates.to_json())["investigations"][0]["positive"] == "yes"
        assert "four fifths" not in text  # that guideline is about selection

    def test_roles_of_the_columns(self, rates):
        roles = {column.name: column.role for column in rates.data.columns}
        assert (roles["said"], roles["late"], roles["sex"]) == ("output", "truth", "protected")

    def test_json(self, rates):
        found = json.loads(rates.to_json())["investigations"][0]
        assert (found["kind"], found["output"], found["ground_truth"]) == ("error profiling", "said", "late")
        assert (found["error"], found["notion"]) == (None, "false-positive-rate")
        assert found["among"] == {"column": "late", "op": "==", "value": "no"}
        assert found["protected"][0]["outside"] == rates.attributes[0].outside

    def test_neither_prediction_nor_truth_is_a_context(self, rates):
        columns = {c for f in rates.findings for c in f.context.columns}
        assert not columns & {"said", "late"}


class TestNumbers:
    def test_the_line_is_the_least_squares_line(self, guesses):
        columns = people()
        whole = ft.audit(columns, "age", "guess", ground_truth="days", contextual=[], split=False)
        error = np.abs(columns["guess"] - columns["days"])
        slope, intercept = np.polyfit(columns["age"], error, 1)
        line = whole.populations[0].table.line
        assert (line.slope, line.intercept) == (pytest.approx(slope, rel=1e-10), pytest.approx(intercept, rel=1e-8))

    def test_boxes_are_those_of_a_box_plot(self):
        columns = people()
        whole = ft.audit(columns, "sex", "guess", ground_truth="days", contextual=[], split=False)
        error = np.abs(columns["guess"] - columns["days"])
        for group in whole.populations[0].table.rows:
            here = error[columns["sex"] == group.name]
            q1, median, q3 = np.quantile(here, [0.25, 0.5, 0.75])
            near = here[(here >= q1 - 1.5 * (q3 - q1)) & (here <= q3 + 1.5 * (q3 - q1))]
            assert group.whiskers == (near.min(), near.max())
            assert group.beyond == here.size - near.size
            assert group.quantiles[2] == pytest.approx(median)

    def test_ten_bins_in_order_and_their_places(self, guesses):
        rows = guesses.populations[0].table.rows
        assert len(rows) == 10
        assert sum(group.size for group in rows) == guesses.populations[0].size
        places = [group.at for group in rows]
        assert places == sorted(places)

    def test_sentence(self, guesses):
        told = guesses.populations[0].sentence
        low, high = (g.mean for g in (guesses.populations[0].table.rows[0], guesses.populations[0].table.rows[-1]))
        assert f"guess is off by {low:.2f} on average where age ≤ " in told
        assert f", and by {high:.2f} where age > " in told

    def test_text_json_and_page_show_boxes_and_line(self, guesses):
        table = guesses.populations[0].table
        text = guesses.to_text()
        assert "fitted line: absolute error of guess = " in text
        assert "fitted" in text
        found = json.loads(guesses.to_json())["investigations"][0]["protected"][0]["population"]["table"]
        assert found["line"] == {"intercept": table.line.intercept, "slope": table.line.slope}
        assert found["at"] == [group.at for group in table.rows]
        assert found["beyond"] == [group.beyond for group in table.rows]
        page = guesses.to_html()
        population = page[page.index('id="a1-p"') : page.index("</article>")]
        assert population.count('class="iqr"') == 10
        assert population.count('class="fit"') == 9

    def test_testing_shows_them_too(self):
        report = ft.audit(people(), "age", "guess", contextual=["region"])
        assert report.populations[0].table.line is not None
        assert 'class="fit"' in report.to_html()

    def test_strata_share_one_axis(self):
        columns = {**people(), "group": np.arange(6_000) % 2}
        report = ft.audit(
            columns, "age", "guess", ground_truth="days", explanatory="group", contextual=[], categorical=["group"]
        )
        page = report.to_html()
        multiples = page[page.index('class="multiples boxed"') : page.index("The numbers behind it")]
        panels = multiples.split('<div class="multiple')[1:]
        assert len(panels) == 2
        ticks = [[part.split("</text>")[0] for part in panel.split('text-anchor="end">')[1:]] for panel in panels]
        assert ticks[0]
        assert ticks[0] == ticks[1]

    def test_few_people_have_no_box(self):
        columns = people(400)
        report = ft.audit(
            columns, "age", "guess", ground_truth="days", contextual=[], train_size=0.9, population_share=0
        )
        assert max(group.size for group in report.populations[0].table.rows) < 20
        assert 'class="few"' in report.to_html()


class TestBatch:
    def test_one_family_with_other_questions(self):
        source = ft.DataSource(people())
        batch = [
            ft.ErrorProfiling(source, "age", "guess", "days"),
            ft.ErrorProfiling(source, "sex", "said", "late"),
            ft.Testing(source, "sex", "region"),
        ]
        ft.train(batch)
        ft.test(batch)
        reports = ft.report(batch)
        assert source.budget.left == 0
        assert {r.corrected_for for r in reports} == {sum(r.tested for r in reports)}
        outputs = {"guess", "days", "said", "late", "region"}
        assert not {c for r in reports for f in r.findings for c in f.context.columns} & outputs
        assert [r.kind for r in reports] == ["error profiling", "error profiling", "testing"]

    def test_files_of_a_batch(self, tmp_path):
        source = ft.DataSource(people(1_000))
        batch = [ft.ErrorProfiling(source, "age", "guess", "days"), ft.Testing(source, "sex", "region")]
        ft.train(batch)
        ft.test(batch)
        ft.report(batch, tmp_path)
        assert {p.stem for p in tmp_path.iterdir()} == {"1-error-profiling-guess", "2-testing-region"}

    def test_an_error_says_which_and_spends_nothing(self):
        calls = []

        @ft.metric("moody", protected="binary", output="binary")
        def moody(counts):
            calls.append(1)
            raise ft.InputError("not today")

        source = ft.DataSource(people(1_000))
        batch = [
            ft.ErrorProfiling(source, "age", "guess", "days"),
            ft.ErrorProfiling(source, "sex", "said", "late", notion="fpr", metrics="moody"),
        ]
        message = r"Investigation 2 of 2 \(ErrorProfiling of 'said' by sex\): not today"
        with pytest.raises(ft.InputError, match=message):
            ft.train(batch)
        assert calls
        assert source.budget.left == 1
        assert all(i.training is None for i in batch)

    def test_an_error_on_the_test_set_says_which_and_gives_the_set_back(self):
        fails = False

        @ft.metric("moodier", protected="binary", output="binary")
        def moodier(counts):
            if fails:
                raise ft.InputError("not now")
            rates = counts[..., 1, :].sum(axis=-2) / counts.sum(axis=(-3, -2))
            return rates[..., 1] - rates[..., 0]

        source = ft.DataSource(people(1_000))
        batch = [
            ft.ErrorProfiling(source, "sex", "said", "late", notion="fpr", metrics="moodier", contextual=[]),
            ft.ErrorProfiling(source, "age", "guess", "days", contextual=[]),
        ]
        ft.train(batch)
        fails = True
        with pytest.raises(ft.InputError, match=r"Investigation 1 of 2 .*not now"):
            ft.test(batch)
        assert source.budget.left == 1
        fails = False
        ft.test(batch)
        assert source.budget.left == 0


class TestExplain:
    def test_by_what_accounts_for_it(self):
        columns = people(12_000)
        columns["width"] = np.round(0.2 + columns["age"] / 30, 1)
        source = ft.DataSource(columns, budget=2)
        profile = ft.ErrorProfiling(source, "age", "guess", "days", contextual=["region"])
        ft.train(profile)
        ft.test(profile)
        before = ft.report(profile)[0].populations[0]
        after = ft.explain(profile, by="width").populations[0]
        assert before.significant
        assert abs(after.effect) < before.effect / 3

    def test_a_notion_keeps_what_it_conditions_on(self):
        source = ft.DataSource(people(), budget=2)
        profile = ft.ErrorProfiling(source, "sex", "said", "late", notion="equalized-odds", contextual=["region"])
        ft.train(profile)
        ft.test(profile)
        report = ft.explain(profile, by="region")
        assert report.explanatory == ("late", "region")
        assert len(report.populations[0].strata) == 4
        assert {c.name: (c.role, c.note) for c in report.data.columns}["late"] == ("truth", "conditioned on")

    def test_the_truth_cannot_explain(self):
        source = ft.DataSource(people(1_000), budget=2)
        profile = ft.ErrorProfiling(source, "sex", "said", "late", contextual=[])
        ft.train(profile)
        ft.test(profile)
        with pytest.raises(ft.InputError, match="'truth' and 'explanatory'"):
            ft.explain(profile, by="late")
        assert source.budget.left == 1


def test_audit_needs_a_truth_for_errors():
    with pytest.raises(ft.InputError, match="name the 'ground_truth' too"):
        ft.audit(people(500), "sex", "said", notion="fpr")


def test_the_order_of_the_rows_leaves_no_trace():
    columns = people(3_000)
    shuffle = np.random.default_rng(0).permutation(3_000)
    reports = [
        ft.audit(data, "age", "guess", ground_truth="days", contextual=["sex"], split=False).to_dict()
        for data in (columns, {k: v[shuffle] for k, v in columns.items()})
    ]
    assert reports[0]["investigations"] == reports[1]["investigations"]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"protected": "sex", "error": "class"}, "the share of correct predictions varies most"),
        ({"protected": "sex", "error": "confusion"}, "the share with said = "),
        ({"protected": "sex", "notion": "accuracy"}, "get a correct prediction: a gap of"),
        ({"protected": "age", "notion": "fnr"}, "the share of false negatives"),
        ({"protected": "sex", "notion": "equalized-odds"}, "Comparing only people with the same late, the strength"),
        ({"protected": "sex", "notion": "selection-rate"}, "have said = yes"),
    ],
)
def test_sentences_about_labels(asked, words):
    report = ft.audit(people(), output="said", ground_truth="late", contextual=[], favourable={"late": "yes"}, **asked)
    assert words in report.populations[0].sentence


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"protected": "sex"}, "guess is off by"),
        ({"protected": "three"}, "guess is off by"),
        ({"protected": "sex", "error": "signed"}, "average signed error of guess is"),
    ],
)
def test_sentences_about_numbers(asked, words):
    columns = {**people(), "three": np.array(["x", "y", "z"])[np.arange(6_000) % 3]}
    report = ft.audit(columns, output="guess", ground_truth="days", contextual=[], **asked)
    assert words in report.populations[0].sentence
