"""A watch over a stream of frames: what it keeps, when blocks close, what it follows, and what it refuses."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import numpy as np
import polars as pl
import pytest
from watched import live, records, watch

import fairtest as ft
from fairtest.model.context import Context, Predicate
from fairtest.monitoring.stakes import Block, Entry, Feeding, Opening, log_totals, replay


class TestWhatLasts:
    def test_a_restored_watch_goes_on_as_if_nothing_had_happened(self) -> None:
        rng = np.random.default_rng(0)
        w = watch(rng, person="id", journal=None)
        frames = [records(rng, d, gap=0.3 * (d > 20), id=rng.integers(0, 10**6, 300)) for d in range(1, 40)]
        straight = [e.key for frame in frames for e in w.observe(frame)]
        other = watch(np.random.default_rng(0), person="id")
        said = []
        for frame in frames:
            other = ft.Watch.restore(json.loads(json.dumps(other.state())))
            said += [e.key for e in other.observe(frame)]
        assert straight
        assert said == straight
        assert json.dumps(other.state()) == json.dumps(w.state())

    def test_a_state_of_another_version(self) -> None:
        state = watch(np.random.default_rng(0)).state()
        with pytest.raises(ft.InputError, match=r"version 1\. Got version 99"):
            ft.Watch.restore({**state, "version": 99})
        with pytest.raises(ft.InputError, match="Got no version"):
            ft.Watch.restore({})

    def test_a_journal_gives_the_same_stakes(self) -> None:
        rng = np.random.default_rng(0)
        journal: list[Entry] = []
        w = watch(rng, journal=journal.append)
        live(w, rng, range(1, 25), gap=0.15)
        book = w._life.books[0]
        accounts = replay(journal + [e for e in journal if isinstance(e, Block)])
        stakes = np.exp(log_totals(book.log_stakes))
        assert {type(e) for e in journal} == {Opening, Feeding, Block}
        for name, stake, given in zip(book.names, stakes.tolist(), book.given.tolist(), strict=True):
            assert accounts[name].stake == stake
            assert accounts[name].given == given

    def test_blocks_are_stored_with_the_tables_they_come_from(self) -> None:
        from fairtest.monitoring.evalues.tables import Association

        journal: list[Entry] = []
        rng = np.random.default_rng(0)
        live(watch(rng, journal=journal.append), rng, range(1, 4))
        blocks = [e for e in journal if isinstance(e, Block)]
        assert blocks
        for block in blocks:
            x, n1, m1, n = np.array(block.tables).T
            assert Association().log_e(x, n1, m1, n).sum(axis=0).tolist() == list(block.log_e)


class TestTime:
    def test_late_records_count_when_they_come(self) -> None:
        rng = np.random.default_rng(0)
        w = watch(rng)
        w.observe(records(rng, 5))
        late = records(rng, 1, 50)
        w.observe(late)
        book = w._life.books[0]
        assert w._life.day == 20_454 + 5
        assert book.tally[0, int(w._intake.clock // 3_600_000_000 % 24)].sum() >= 50

    def test_days_without_records_get_their_capital(self) -> None:
        rng = np.random.default_rng(0)
        w = watch(rng)
        w.observe(records(rng, 1))
        before = w.standings(None)
        w.advance(dt.datetime(2026, 1, 12))
        assert sum(s.given for s in w.standings(None)) > sum(s.given for s in before)
        assert w.advance(dt.datetime(2026, 1, 3)) == []
        assert w._life.day == 20_454 + 11

    def test_a_time_in_each_call(self) -> None:
        rng = np.random.default_rng(0)
        frame = {k: v for k, v in records(rng, 1).items() if k != "at"}
        w = ft.Watch("sex", "hired", history=frame, person=False, search=False)
        with pytest.raises(ft.InputError, match="When did these records arrive"):
            w.observe(frame)
        assert w.observe(frame, at=dt.datetime(2026, 1, 2, 9)) == []
        zone = dt.timezone(dt.timedelta(hours=2))
        w.observe(frame, at=dt.datetime(2026, 1, 2, 15, 30, tzinfo=zone))
        assert w._life.hour == 13

    def test_slots_are_chosen_by_the_week_before(self) -> None:
        rng = np.random.default_rng(0)
        days = [records(rng, d, 300) for d in range(-7, 0)]
        history = {name: np.concatenate([day[name] for day in days]) for name in days[0]}
        known = ft.Watch("sex", "hired", history=history, person=False, time="at", search=False)
        young = watch(np.random.default_rng(0))
        for w, first, expected in (
            (known, 0, {"everyone": 1, "region = N": 3}),
            (young, 1, dict.fromkeys(["everyone"], 6)),
        ):
            w.observe(records(rng, first))
            book = w._life.books[0]
            assert {str(c): int(h) for c, h in zip(book.contexts, book.hours, strict=True)}.items() >= expected.items()
        for d in range(2, 10):
            young.observe(records(rng, d))
        assert young._life.books[0].hours[0] == 1

    def test_a_block_closes_early_when_it_is_full(self) -> None:
        rng = np.random.default_rng(0)
        journal: list[Entry] = []
        w = watch(rng, journal=journal.append, contextual=[])
        w.observe(records(rng, 1, 30_000))
        w.advance(dt.datetime(2026, 1, 3))
        blocks = [e for e in journal if isinstance(e, Block)]
        sizes = [block.tables[0][3] for block in blocks]
        assert sum(sizes) == 30_000
        assert max(sizes) == 2_000
        assert sizes.count(2_000) >= 12
        assert len({block.end for block in blocks}) == len(blocks)
        assert len({block.slot for block in blocks}) == len(blocks)
        assert replay(journal)[blocks[0].hypothesis].stake == w.standings()[0].stake

    def test_a_small_stream_that_suddenly_is_a_large_one(self) -> None:
        rng = np.random.default_rng(0)
        journal: list[Entry] = []
        w = watch(rng, journal=journal.append, contextual=[])
        for day in range(1, 12):
            w.observe(records(rng, day, 6))
        assert w._life.books[0].days[0] > 1
        w.observe(records(rng, 12, 30_000))
        for day in range(13, 20):
            w.observe(records(rng, day, 6))
        w.advance(dt.datetime(2026, 1, 30))
        sizes = [e.tables[0][3] for e in journal if isinstance(e, Block)]
        assert sum(sizes) == 11 * 6 + 30_000 + 7 * 6
        assert max(sizes) == 2_000
        assert replay(journal)[w._life.books[0].names[0]].stake == w.standings()[0].stake

    def test_days_as_blocks(self) -> None:
        rng = np.random.default_rng(0)
        journal: list[Entry] = []
        w = watch(rng, journal=journal.append, contextual=[], slots="day")
        for day in range(1, 4):
            w.observe(records(rng, day, 5_000))
        w.advance(dt.datetime(2026, 1, 6))
        sizes = [e.tables[0][3] for e in journal if isinstance(e, Block)]
        assert sizes == [2_000, 2_000, 1_000] * 3


class TestSearch:
    def test_a_deeper_context_is_found_and_followed(self) -> None:
        rng = np.random.default_rng(0)

        def day(at: int, gap: float) -> dict[str, Any]:
            frame = records(rng, at, 600)
            a, b = rng.choice(["x", "y"], 600), rng.choice(["u", "v"], 600)
            there = (frame["region"] == "S") & (a == "x") & (b == "u")
            fewer = there & (frame["sex"] == "f") & (rng.random(600) < gap)
            return {**frame, "a": a, "b": b, "hired": frame["hired"] & ~fewer}

        w = ft.Watch("sex", "hired", history=day(0, 0), person=False, time="at")
        events = [e for at in range(1, 40) for e in w.observe(day(at, 0.9 if at > 5 else 0.0))]
        wanted = {"region = S", "a = x", "b = u"}
        found = [s for s in w.standings(None) if set(str(s.context).split(", ")) == wanted]
        assert found
        assert events
        assert all(w._life.books[0].valid_from[w._life.books[0].contexts.index(s.context)] > 20_454 + 1 for s in found)

    def test_a_listed_context_is_followed_from_the_next_day(self) -> None:
        rng = np.random.default_rng(0)
        w = watch(rng)
        w.observe(records(rng, 1))
        deep = Context.of([Predicate("region", "in", ("N", "S"))])  # type: ignore[arg-type]
        w.follow(deep)
        assert deep not in w._life.books[0].contexts
        w.observe(records(rng, 2))
        row = w._life.books[0].contexts.index(deep)
        assert w._life.books[0].valid_from[row] == 20_454 + 2
        assert w._life.books[0].given[row] > 0
        with pytest.raises(ft.InputError, match="no contextual column 'hired'"):
            w.follow(Context.of([Predicate("hired", "==", True)]))  # type: ignore[arg-type]

    def test_a_found_context_that_is_good_no_more_is_forgotten(self) -> None:
        rng = np.random.default_rng(0)
        journal: list[Entry] = []
        w = watch(rng, journal=journal.append)
        found = [Context.of([Predicate("region", "in", pair)]) for pair in (("N", "S"), ("E", "S"))]  # type: ignore[arg-type]
        best = {d: found if d < 5 else found[:1] for d in range(1, 80)} | {40: found}
        w._life.find = lambda day: [best[day - 20_454]]
        for day in range(1, 45):
            w.observe(records(rng, day, 60))
            followed = [c for c in found if c in w._life.books[0].contexts]
            if day in (3, 31, 41):
                assert followed == found
            if day == 35:
                assert followed == found[:1]
        book = w._life.books[0]
        accounts = replay(journal)
        assert [list(accounts[name].log_stakes) for name in book.names] == book.log_stakes.tolist()

    def test_the_records_may_be_kept_elsewhere(self) -> None:
        rng = np.random.default_rng(0)
        w = watch(rng)
        w.observe(records(rng, 1))
        history = records(rng, 1, 4000, gap=0.3)
        history["age"] = rng.integers(18, 70, 4000)
        assert w.search(history) == []  # what it could find is followed already
        restored = ft.Watch.restore(w.state(), history=history)
        assert restored.standings(None) == w.standings(None)


class TestFrames:
    @pytest.mark.parametrize("library", ["polars", "pandas", "dict", "arrow"])
    def test_all_libraries_say_the_same(self, library: str) -> None:
        make: dict[str, Any] = {"polars": pl.DataFrame, "dict": dict}
        if library in ("pandas", "arrow"):
            pandas = pytest.importorskip("pandas")
            pyarrow = pytest.importorskip("pyarrow")
            make |= {"pandas": pandas.DataFrame, "arrow": pyarrow.table}
        rng = np.random.default_rng(0)
        w = ft.Watch(
            "sex", "hired", history=make[library](records(rng, 0)), person=False, time="at", search=False, contextual=[]
        )
        for day in range(1, 4):
            w.observe(make[library](records(rng, day)))
        plain = np.random.default_rng(0)
        other = ft.Watch(
            "sex", "hired", history=records(plain, 0), person=False, time="at", search=False, contextual=[]
        )
        for day in range(1, 4):
            other.observe(records(plain, day))
        assert w.standings() == other.standings()

    def test_the_first_frame_is_learned_from_if_there_is_no_history(self) -> None:
        rng = np.random.default_rng(0)
        w = ft.Watch("sex", "hired", person=False, time="at", search=False)
        with pytest.raises(ft.UsageError, match="knows nothing of the columns yet"):
            w.state()
        assert w.observe(records(rng, 1)) == []
        assert not w._life.books[0].contexts
        w.observe(records(rng, 2))
        assert len(w._life.books[0].contexts) == 4

    def test_values_that_are_new(self) -> None:
        rng = np.random.default_rng(0)
        w = watch(rng)
        frame = records(rng, 1)
        frame["region"][:100] = "W"
        w.observe(frame)
        w.observe(records(rng, 2))
        assert "region = W" in [str(c) for c in w._life.books[0].contexts]
        frame = records(rng, 3)
        frame["sex"][:10] = "x"
        with pytest.warns(ft.FairTestWarning, match="10 records have a value of 'sex' that was not known"):
            w.observe(frame)
        assert w._life.books[0].tally[0].sum() <= 290


class TestMistakes:
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"alpha": 5}, "'alpha' must be a number between 0 and 1"),
            ({"tolerance": -0.1}, "'tolerance' must be a number between 0 and 1"),
            ({"slots": "week"}, "'slots' must be 'auto' or 'day'"),
            ({"mode": "ever"}, "'mode' must be 'lifetime' or 'rate'"),
            ({"person": 3}, "'person' must be the name of a column, or False"),
            ({"contextual": ["regoin"]}, "Did you mean 'region'"),
            ({"explanatory": "hired"}, "two roles"),
        ],
    )
    def test_arguments(self, options: dict[str, Any], message: str) -> None:
        with pytest.raises(ft.InputError, match=message):
            watch(np.random.default_rng(0), **options)

    def test_frames(self) -> None:
        rng = np.random.default_rng(0)
        w = watch(rng)
        with pytest.raises(ft.InputError, match="no column 'region'"):
            w.observe({k: v for k, v in records(rng, 1).items() if k != "region"})
        with pytest.raises(ft.InputError, match="Records must be a pandas or polars frame"):
            w.observe([1, 2])
        with pytest.raises(ft.InputError, match="leave 'at' out"):
            w.observe(records(rng, 1), at=dt.datetime(2026, 1, 2))
        with pytest.raises(ft.InputError, match="must hold dates with times"):
            w.observe({**records(rng, 1), "at": np.arange(300)})
        with pytest.raises(ft.InputError, match="must all be times"):
            w.observe({**records(rng, 1), "at": ["soon"] * 300})
        with pytest.raises(ft.InputError, match="row 0 has none"):
            w.observe({**records(rng, 1), "at": pl.Series([None] * 300, dtype=pl.Datetime)})
        with pytest.raises(ft.InputError, match="is not followed"):
            w.measure(Context.of([Predicate("region", "==", "Q")]))  # type: ignore[arg-type]
        with pytest.raises(ft.InputError, match=r"watch\.comparisons lists them"):
            w.measure(cell=4)
        assert w.observe({k: v[:0] for k, v in records(rng, 1).items()}) == []

    def test_a_tolerance_of_numbers(self) -> None:
        frame = {"sex": ["f", "m"] * 50, "pay": np.arange(100.0), "at": ["2026-01-01"] * 100}
        with pytest.raises(ft.InputError, match="'tolerance' is a gap between rates"):
            ft.Watch("sex", "pay", history=frame, person=False, time="at", tolerance=0.02)

    def test_too_many_pairs_of_conditions(self) -> None:
        rng = np.random.default_rng(0)
        wide = {f"c{i}": [f"v{j}" for j in rng.permutation(3000) % 150] for i in range(60)}
        frame = {"sex": ["f", "m"] * 1500, "hired": [0, 0, 1, 1] * 750, **wide}
        with pytest.raises(ft.InputError, match=r"The 60 contextual columns make .* Name fewer in 'contextual'"):
            ft.Watch("sex", "hired", history=frame, person=False, categorical=list(wide))

    def test_how_many_records_come_is_not_known(self) -> None:
        frame = {k: v for k, v in records(np.random.default_rng(0), 1).items() if k != "at"}
        w = ft.Watch("sex", "hired", history=frame, person=False, search=False)
        with pytest.raises(ft.InputError, match="How many records come in a day is not known yet"):
            w.outlook()
        assert w.outlook(records_a_day=1000).days > 0
