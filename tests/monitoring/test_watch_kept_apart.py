"""What whoever keeps a watch elsewhere needs: its journal, its people, one capital over several questions, views."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest
from watched import live, records, watch

import fairtest as ft
from fairtest.model.context import Context, Predicate
from fairtest.monitoring.capital import daily_stake
from fairtest.monitoring.journal import differences, entries_to_plain
from fairtest.monitoring.people import People


def stored(value: Any) -> Any:
    return json.loads(json.dumps(value))


class TestJournal:
    @pytest.mark.parametrize("explanatory", [None, "dept"])
    def test_replayed_it_gives_the_stakes(self, explanatory: str | None) -> None:
        rng = np.random.default_rng(0)
        history = records(rng, 0, 600) | {"dept": rng.choice(["a", "b"], 600), "score": rng.normal(size=600)}
        entries: list[Any] = []
        w = ft.Watch(
            "sex", ["hired", "score"], history=history, person=False, time="at", journal=entries.append,
            explanatory=explanatory,
        )  # fmt: skip
        steps = []
        for day in range(1, 40):
            more = {"dept": rng.choice(["a", "b"], 300), "score": rng.normal(size=300)}
            w.observe(records(rng, day, gap=0.3 if 10 < day < 25 else 0.0) | more)
            steps.append(stored(entries_to_plain(entries)))
            entries.clear()
        state = stored(w.state())
        assert differences(state, steps) == []
        assert differences(state, steps[:-1]) != []
        state["life"]["books"][0]["log_stakes"][0][3] = 0.5
        assert differences(state, steps) == ["sex → hired | everyone"]


class TestPeople:
    def test_kept_apart_they_are_known_again(self) -> None:
        rng = np.random.default_rng(1)
        frames = [records(rng, day, who=rng.integers(0, 900, 300).astype(str)) for day in range(1, 8)]
        history = records(rng, 0, 500, who=[f"h{i}" for i in range(500)])
        options: dict[str, Any] = {"person": "who", "time": "at", "search": False}
        whole = ft.Watch("sex", "hired", history=history, **options)
        apart = ft.Watch("sex", "hired", history=history, **options)
        kept = [apart.take_new_people()]
        assert len(kept[0][0]) == 8 * 500
        for frame in frames:
            whole.observe(frame)
            apart.observe(frame)
            kept.append(apart.take_new_people())
            together = [b"".join(parts) for parts in zip(*kept, strict=True)]
            state = stored(apart.state(people=False))
            assert state["people"] == []
            apart = ft.Watch.restore(state, people=together)
        assert apart.state() == whole.state()

    def test_hashes(self) -> None:
        people = People([5, 9])
        seen = people.first_records(np.array([9, 3, 3, 0], dtype=np.uint64), np.ones(4, dtype=bool))
        assert seen.tolist() == [False, True, False, False]
        assert len(people) == 3
        assert People.from_bytes(people.take_newest()).to_plain() == People([3]).to_plain()
        assert people.take_newest() == b""


class TestOneCapital:
    def test_a_successor_has_what_is_left(self) -> None:
        rng = np.random.default_rng(2)
        first = watch(rng)
        live(first, rng, range(1, 6))
        second = watch(rng, before=first)
        live(second, rng, range(6, 9))
        given = sum(s.given for w in (first, second) for s in w.standings(None))
        assert given == pytest.approx(sum(daily_stake(t) for t in range(1, 9)))
        assert second.view()["capital"]["staked"] == pytest.approx(given)

    def test_a_day_is_not_staked_twice(self) -> None:
        rng = np.random.default_rng(3)
        first = watch(rng)
        live(first, rng, range(1, 4))
        second = watch(rng, before=first)
        second.observe(records(rng, 3))
        assert sum(s.given for s in second.standings(None)) == 0
        second.observe(records(rng, 4))
        assert sum(s.given for s in second.standings(None)) == pytest.approx(daily_stake(4))

    def test_alarms_are_counted_on(self) -> None:
        rng = np.random.default_rng(4)
        first = watch(rng)
        assert live(first, rng, range(1, 12), gap=0.4)
        second = watch(rng, before=first)
        live(second, rng, range(12, 14))
        assert second.view()["alarms"] == first.view()["alarms"] > 0


class TestErrors:
    @pytest.mark.parametrize(
        "asked", [{}, {"error": "absolute"}, {"notion": "fpr"}, {"notion": "equalized-odds"}, {"error": "confusion"}]
    )
    def test_errors_of_a_prediction_are_watched(self, asked: dict[str, str]) -> None:
        rng = np.random.default_rng(5)

        def day(number: int, n: int = 400) -> dict[str, Any]:
            frame = records(rng, number, n)
            truth = rng.random(n) < 0.5
            wrong = rng.random(n) < np.where(frame["sex"] == "f", 0.45, 0.1)
            return {**frame, "late": truth, "hired": np.where(wrong & ~truth, ~truth, truth)}

        w = ft.Watch("sex", "hired", history=day(0, 800), person=False, time="at", ground_truth="late", **asked)
        events = []
        for number in range(1, 15):
            events += w.observe(day(number))
            w = ft.Watch.restore(stored(w.state()))
        assert [e.kind for e in events][:1] == ["new"]
        assert "hired" not in {c for s in w.standings(None) for c in s.context.columns}
        assert "late" not in {c for s in w.standings(None) for c in s.context.columns}

    def test_an_error_needs_a_truth(self) -> None:
        with pytest.raises(ft.InputError, match="ground_truth"):
            ft.Watch("sex", "hired", person=False, error="absolute")


class TestLabels:
    def test_each_label_is_an_output(self) -> None:
        rng = np.random.default_rng(6)

        def day(number: int, n: int = 400) -> dict[str, Any]:
            frame = records(rng, number, n)
            flower = rng.random(n) < np.where(frame["sex"] == "f", 0.6, 0.2)
            del frame["hired"]
            return {**frame, "tags": np.where(flower, "flower|tree", "tree").tolist()}

        history = day(0, 800)
        history["tags"][:12] = ["sky|"] * 12
        w = ft.Watch("sex", "tags", history=history, person=False, time="at", separator="|")
        assert {name.split(" → ")[1] for (name,) in w.comparisons} == {"flower = True", "sky = True", "tree = True"}
        events = []
        for number in range(1, 8):
            events += w.observe(day(number))
            w = ft.Watch.restore(stored(w.state()))
        assert (events[0].output, events[0].sign) == ("flower", 1)

    def test_labels_that_are_not_there_are_refused(self) -> None:
        history = {"sex": ["f", "m"] * 20, "tags": [f"only-{i}" for i in range(40)], "x": [1, 2] * 20}
        with pytest.raises(ft.InputError, match="No label in 'tags'"):
            ft.Watch("sex", "tags", history=history, person=False, separator="|")


class TestViews:
    def test_what_is_drawn(self) -> None:
        rng = np.random.default_rng(7)
        w = watch(rng)
        live(w, rng, range(1, 20))
        assert [f.state for f in w.followed()] == ["quiet"]
        live(w, rng, range(20, 30), gap=0.4)
        everyone, north = sorted(w.followed(), key=lambda f: len(f.context))
        assert (north.state, north.sign, north.comparison) == ("alarmed", -1, "sex = f → hired = True")
        assert north.now is not None
        assert north.now.since == north.since
        assert north.now.high < -0.2  # since the alarm, and not since the eighth day, when there was none
        assert north.timeline[-1].gap > north.now.gap
        assert [len(f.weeks) for f in (everyone, north)] == [3, 3]
        assert re.match(r"The gap is −[34]\d\.\d points over", stored(north.to_plain())["sentence"])
        west = Context.of([Predicate("region", "==", "S")])
        assert west in [f.context for f in w.followed(contexts=[west])]

    def test_an_alarm_tells_the_gap_of_the_days_that_say_most(self) -> None:
        rng = np.random.default_rng(8)
        w = watch(rng)
        live(w, rng, range(1, 28))
        event = live(w, rng, range(28, 40), gap=0.4)[0]
        assert event.measured is not None
        assert event.measured.until - event.measured.since < 14
        assert event.measured.gap < -0.05

    def test_the_outlook_of_numbers_speaks_of_correlations(self) -> None:
        rng = np.random.default_rng(9)
        history = records(rng, 0, 500) | {"score": rng.normal(size=500)}
        del history["hired"]
        w = ft.Watch("sex", "score", history=history, person=False, time="at")
        assert w.outlooks()[0].startswith("A correlation of 0.1 in 5 % of your records would be noticed")
