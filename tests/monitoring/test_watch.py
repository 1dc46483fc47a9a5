"""A watch over a stream of frames: what it says of each form of data, and of people who come back."""

from __future__ import annotations

import datetime as dt
import json
import warnings
from typing import Any

import numpy as np
import pytest
from watched import FIRST, live, records, watch

import fairtest as ft
from fairtest.model.context import Context, Predicate
from fairtest.monitoring.events import newest_first


class TestWhatItSays:
    def test_a_bias_is_named_where_it_is_and_gone_when_it_is_over(self) -> None:
        rng = np.random.default_rng(0)
        w = watch(rng, tolerance=0.05)
        assert live(w, rng, range(1, 15)) == []
        events = live(w, rng, range(15, 30), gap=0.4)
        assert events[0].kind == "new"
        assert str(events[0].context) == "region = N"
        assert (events[0].sign, events[0].group, events[0].outcome) == (-1, "f", "True")
        assert events[0].stake >= 20
        after = live(w, rng, range(30, 75), n=600)
        assert "better" in {event.kind for event in after}
        assert [e.kind for e in after if e.kind == "gone" and str(e.context) == "region = N"] == ["gone"]
        assert not any(s.alarmed and str(s.context) == "region = N" for s in w.standings(None))
        assert [e.kind for e in live(w, rng, range(75, 90), gap=0.4, n=600) if e.kind == "new"]

    def test_an_echo_is_not_said(self) -> None:
        rng = np.random.default_rng(1)
        w = watch(rng)
        events = live(w, rng, range(1, 40), gap=0.4)
        alarmed = [s for s in w.standings(None) if s.alarmed]
        assert len(alarmed) > 1  # everybody, too: a part of them is treated worse
        assert [s.echo for s in alarmed] == [False] + [True] * (len(alarmed) - 1)
        assert [str(e.context) for e in events if e.kind == "new"] == ["region = N"]

    def test_sentences(self) -> None:
        rng = np.random.default_rng(0)
        w = watch(rng)
        (event, *_) = live(w, rng, range(1, 30), gap=0.4)
        assert str(event).startswith(
            "New: where region = N, people with sex = f have hired = True less often than the others"
        )
        assert "20 is ever reached with a chance of 5 % at most" in str(event)
        stored = json.loads(json.dumps(event.to_plain()))
        assert stored["sentence"] == str(event)
        assert event.time <= dt.datetime(2026, 1, 30)
        assert newest_first([event])[0] == [event]

    def test_the_same_records_in_other_frames_say_the_same(self) -> None:
        rng = np.random.default_rng(3)
        days = [records(rng, day, gap=0.3) for day in range(1, 20)]
        whole, hourly = (watch(np.random.default_rng(4)) for _ in range(2))
        said = [e.key for day in days for e in whole.observe(day)]
        again = []
        for day in days:
            hours = day["at"].astype("datetime64[h]")
            for hour in np.unique(hours):
                again += [e.key for e in hourly.observe({k: v[hours == hour] for k, v in day.items()})]
        assert said
        assert again == said
        end = dt.datetime(2026, 2, 1)
        whole.advance(end)
        hourly.advance(end)
        assert json.dumps(whole.state()) == json.dumps(hourly.state())

    def test_intervals_that_may_be_read_on_any_day(self) -> None:
        rng = np.random.default_rng(0)
        w = watch(rng)
        live(w, rng, range(1, 60), gap=0.3, n=200)
        north = Context.of([Predicate("region", "==", "N")])  # type: ignore[arg-type]
        whole, window = w.measure(north), w.measure(north, days=28)
        assert whole is not None
        assert window is not None
        assert whole.low < -0.3 < whole.high < 0
        assert window.low < -0.3 < window.high
        line = w.timeline(north)
        assert line[-1] == whole
        assert len(line) > 40
        assert len(w.timeline(north, days=14)) >= 2
        assert w.comparisons == [["sex = f → hired = True"]]

    def test_words_and_outlook(self) -> None:
        w = watch(np.random.default_rng(0))
        assert "imaginary capital of 1" in w.explain()
        assert "at most 5 %" in w.explain()
        outlook = w.outlook(0.1, 0.33)
        assert outlook.records_a_day == 500
        assert str(outlook).startswith("A gap of 10 points in 33 % of your records would be noticed after about ")
        assert w.outlook(0.2, 0.33).days == pytest.approx(outlook.days / 4)

    def test_the_rate_of_false_alarms_a_year(self) -> None:
        rng = np.random.default_rng(0)
        w = watch(rng, mode="rate")
        assert "false alarms a year" in w.explain()
        assert live(w, rng, range(1, 30), gap=0.4)[0].kind == "new"


class TestForms:
    """Each metric finds what is planted, and a pair without bias stays quiet."""

    def run(self, protected: str, output: str, days: int, make: Any, **options: Any) -> list[Any]:
        rng = np.random.default_rng(8)

        def day(at: int, biased: bool) -> dict[str, Any]:
            n = 120
            frame = make(rng, n, biased)
            seconds = np.sort(rng.integers(0, 86_400, n)).astype("timedelta64[s]")
            return {**frame, "at": FIRST + np.timedelta64(at, "D") + seconds}

        w = ft.Watch(protected, output, history=day(0, False), person=False, time="at", search=False, **options)
        quiet = [e for at in range(1, 8) for e in w.observe(day(at, False))]
        assert quiet == []
        found = [e for at in range(8, 8 + days) for e in w.observe(day(at, True))]
        stored = json.loads(json.dumps(w.state()))
        assert json.dumps(ft.Watch.restore(stored).state()) == json.dumps(stored)
        return found

    def test_several_groups_and_outputs(self) -> None:
        def make(rng: np.random.Generator, n: int, biased: bool) -> dict[str, Any]:
            race, grade = rng.integers(0, 3, n), rng.integers(0, 3, n)
            moved = biased & (race == 2) & (rng.random(n) < 0.6)
            return {"race": np.array(list("abc"))[race], "grade": np.array(["x", "y", "z"])[np.where(moved, 1, grade)]}

        found = self.run("race", "grade", 20, make)
        assert (found[0].group, found[0].outcome, found[0].sign) == ("c", "y", 1)

    def test_a_number_among_groups(self) -> None:
        def make(rng: np.random.Generator, n: int, biased: bool) -> dict[str, Any]:
            sex = rng.choice(["f", "m"], n)
            return {"sex": sex, "pay": np.exp(rng.normal(0, 1, n) - 0.7 * biased * (sex == "f"))}

        found = self.run("sex", "pay", 15, make, reference={"sex": "m"})
        assert (found[0].kind, found[0].sign, found[0].points) == ("new", -1, False)
        assert "pay is lower for sex = f" in str(found[0])

    def test_a_number_and_an_output_that_has_values(self) -> None:
        def make(rng: np.random.Generator, n: int, biased: bool) -> dict[str, Any]:
            age = rng.normal(40, 10, n)
            return {"age": age, "hired": rng.random(n) < 0.4 - 0.2 * biased * np.sign(age - 40)}

        found = self.run("age", "hired", 15, make)
        assert "age is lower for those with hired = True" in str(found[0])

    def test_two_numbers(self) -> None:
        def make(rng: np.random.Generator, n: int, biased: bool) -> dict[str, Any]:
            age = rng.normal(0, 1, n)
            return {"age": age, "score": rng.normal(0, 1, n) + 0.6 * biased * age}

        found = self.run("age", "score", 15, make)
        assert found[0].sign == 1
        assert "score rises with age" in str(found[0])

    def test_a_metric_of_the_users_own(self) -> None:
        from fairtest.metrics.registry import named_metrics

        before = dict(named_metrics())
        try:

            @ft.metric("gap of rates", protected="binary", output="binary")
            def _gap(counts: Any) -> Any:
                rates = counts[..., 1, :].sum(axis=-2) / counts.sum(axis=(-3, -2))
                return rates[..., 1] - rates[..., 0]

            def make(rng: np.random.Generator, n: int, biased: bool) -> dict[str, Any]:
                sex = rng.choice(["f", "m"], n)
                return {"sex": sex, "hired": rng.random(n) < 0.5 - 0.3 * biased * (sex == "f")}

            found = self.run("sex", "hired", 15, make, metrics="gap of rates", reference={"sex": "m"})
            assert (found[0].kind, found[0].sign) == ("new", -1)
        finally:
            named_metrics().clear()
            named_metrics().update(before)

    def test_explanatory_attributes(self) -> None:
        """Women apply where fewer are hired: that alone is no bias within departments."""
        rng = np.random.default_rng(5)

        def day(at: int) -> dict[str, Any]:
            n = 400
            sex = rng.choice(["f", "m"], n)
            hard = rng.random(n) < np.where(sex == "f", 0.8, 0.2)
            hired = rng.random(n) < np.where(hard, 0.2, 0.7)
            seconds = np.sort(rng.integers(0, 86_400, n)).astype("timedelta64[s]")
            frame = {"sex": sex, "department": np.where(hard, "law", "art"), "hired": hired}
            return {**frame, "at": FIRST + np.timedelta64(at, "D") + seconds}

        for explanatory, expected in ((None, True), ("department", False)):
            w = ft.Watch(
                "sex",
                "hired",
                history=day(0),
                contextual=[],
                explanatory=explanatory,
                person=False,
                time="at",
                search=False,
            )
            found = [e for at in range(1, 12) for e in w.observe(day(at))]
            assert bool(found) is expected

    def test_a_tolerance(self) -> None:
        rng = np.random.default_rng(0)
        tolerant, strict = (watch(np.random.default_rng(0), tolerance=t, contextual=[]) for t in (0.15, 0.0))
        for day in range(1, 40):
            frame = records(rng, day, gap=0.3)  # ten points over everybody
            assert tolerant.observe(frame) == []
            strict.observe(frame)
        assert strict.standings()[0].alarmed


class TestPeople:
    def test_only_the_first_record_of_a_person_counts(self) -> None:
        rng = np.random.default_rng(0)
        once, again = (watch(np.random.default_rng(0), person="id") for _ in range(2))
        for w, repeats in ((once, 1), (again, 3)):
            rng = np.random.default_rng(7)
            for day in range(1, 6):
                frame = records(rng, day, id=np.arange(300) + 300 * day)
                for _ in range(repeats):
                    w.observe(frame)
        end = dt.datetime(2026, 1, 20)
        once.advance(end)
        again.advance(end)
        assert [s.stake for s in once.standings(None)] == [s.stake for s in again.standings(None)]

    def test_a_record_whose_truth_comes_late_counts_when_it_comes(self) -> None:
        rng = np.random.default_rng(0)
        w = watch(rng, person="id")
        frame = records(rng, 1, id=np.arange(300) + 1000)
        w.observe({**frame, "hired": [None] * 300})
        assert not w._life.books[0].tally.any()
        late = {**frame, "at": frame["at"] + np.timedelta64(3, "D")}
        w.observe({key: values[:200] for key, values in late.items()})
        w.observe(late)
        book = w._life.books[0]
        assert w._life.day == 20_454 + 4
        assert book.today[0] == 300
        assert book.recent[0].sum() == 500  # those of the history

    def test_without_a_column_there_is_a_warning(self) -> None:
        with pytest.warns(ft.FairTestWarning, match="No 'person' column is named"):
            watch(np.random.default_rng(0), person=None)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            watch(np.random.default_rng(0), person=False)

    def test_people_of_the_history_are_known(self) -> None:
        rng = np.random.default_rng(0)
        history = records(rng, 0, 500, id=np.arange(500))
        w = ft.Watch("sex", "hired", history=history, person="id", time="at", search=False)
        w.observe(records(rng, 1, 300, id=np.arange(300)))
        assert not w._life.books[0].tally.any()
