"""What every store of a workspace must do. A new one is added to STORES."""

from __future__ import annotations

import sqlite3
import threading
import zlib
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

import fairtest as ft
from fairtest.workspace.ledger import AlreadySpent, Headline, Run, Setup, StoredReport
from fairtest.workspace.sqlite import FILE, SQLiteLedger

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fairtest.workspace.ledger import Ledger

    Open = Callable[[], Ledger]

SETUP = Setup(
    id="1234",
    created="2026-01-02T03:04:05.678+00:00",
    version="0.1.0",
    name="people.csv",
    rows=1_000,
    path="/data/people.csv",
    beside="../people.csv",
    fingerprint="ab" * 16,
    in_order="cd" * 16,
    budget=3,
    conf=0.1 + 0.2,
    train_size=1 / 3,
    seed=2**70,
    split=True,
    preset=None,
    reading={"missing": ["?"], "delimiter": "\t"},
    declared={"ordered": {"grade": ["low", "high"]}, "favourable": {"hired": True}, "reference": {"level": 3}},
)


def a_run(number: int, **changes: object) -> Run:
    whole = Run(number, "2026-01-02T03:04:05.678+00:00", "2026-01-02T03:04:06.000+00:00", "fairtest test …", "0.1.0")
    return replace(whole, **changes)  # type: ignore[arg-type]


def a_report(title: str = "Testing of 'hired' by sex") -> StoredReport:
    headline = Headline("testing", title, "", 4, 2)
    return StoredReport(
        headline, '{"kind": "testing"}', "{}", '{"a": 1}', '{"ü": "≤"}', "text\n" * 100, "<html>\udc80</html>"
    )


def sqlite_store(folder: Path) -> Open:
    SQLiteLedger.create(folder, SETUP)
    return lambda: SQLiteLedger.open(folder)


STORES = {"sqlite": sqlite_store}


@pytest.fixture(params=STORES.values(), ids=STORES.keys())
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    """Opens the same ledger each time, as another process would."""
    return request.param(tmp_path)


def test_the_setup_comes_back_to_the_last_bit(opened: Open) -> None:
    assert opened().setup() == SETUP


def test_nothing_is_spent_at_first(opened: Open) -> None:
    assert (opened().spent_sets(), opened().runs(), opened().reports(1)) == (frozenset(), (), ())


def test_spending_stores_the_run_and_its_reports(opened: Open) -> None:
    reports = (a_report(), a_report("ErrorProfiling of 'said' by sex"))
    opened().spend(a_run(2), reports)
    assert opened().spent_sets() == {2}
    assert opened().reports(2) == reports
    assert opened().runs() == (a_run(2, reports=tuple(r.headline for r in reports)),)


def test_runs_are_in_the_order_of_their_answers(opened: Open) -> None:
    for number in (3, 1, 2):
        opened().spend(a_run(number), [a_report()])
    assert [run.number for run in opened().runs()] == [3, 1, 2]


def test_a_set_is_spent_once(opened: Open) -> None:
    opened().spend(a_run(1), [a_report("first")])
    with pytest.raises(AlreadySpent):
        opened().spend(a_run(1, command="another"), [a_report("second")])
    assert [run.command for run in opened().runs()] == [a_run(1).command]
    assert [kept.headline.title for kept in opened().reports(1)] == ["first"]


@pytest.mark.parametrize("number", [0, -1, 4])
def test_there_are_no_sets_beyond_the_budget(opened: Open, number: int) -> None:
    with pytest.raises(ft.FairTestError):
        opened().spend(a_run(number), [a_report()])
    assert opened().spent_sets() == frozenset()


def test_all_or_nothing(opened: Open) -> None:
    broken = replace(a_report(), question=object())  # type: ignore[arg-type]
    with pytest.raises(Exception, match=r"."):
        opened().spend(a_run(1), [a_report(), broken])
    assert (opened().spent_sets(), opened().runs(), opened().reports(1)) == (frozenset(), (), ())


def test_nothing_was_shown_at_first(opened: Open) -> None:
    assert opened().was_shown() is False


def test_what_training_proposes_is_shown_without_spending(opened: Open) -> None:
    for command in ("fairtest test … --train-only", "another"):
        opened().mark_shown("2026-01-02T03:04:05.678+00:00", command)
        assert opened().was_shown() is True
    assert (opened().spent_sets(), opened().runs()) == (frozenset(), ())


def test_an_answer_was_shown(opened: Open) -> None:
    opened().spend(a_run(2), [a_report()])
    assert opened().was_shown() is True
    opened().mark_shown("2026-01-02T03:04:05.678+00:00", "")  # nothing more to say
    assert opened().was_shown() is True


@pytest.mark.parametrize("levels", ["sum", "product"])
def test_the_rule_for_levels_is_kept(tmp_path: Path, levels: str) -> None:
    SQLiteLedger.create(tmp_path, replace(SETUP, levels=levels))
    assert SQLiteLedger.open(tmp_path).setup().levels == levels


def test_a_set_is_held_by_one(opened: Open) -> None:
    with opened().claim(1) as first, opened().claim(1) as second, opened().claim(2) as other:
        assert (first, second, other) == (True, False, True)
    with opened().claim(1) as again:
        assert again


def test_a_set_is_free_after_an_error(opened: Open) -> None:
    with pytest.raises(KeyboardInterrupt), opened().claim(1):
        raise KeyboardInterrupt
    with opened().claim(1) as held:
        assert held


def test_readers_are_not_held_up_by_a_claim(opened: Open) -> None:
    with opened().claim(1):
        assert opened().spent_sets() == frozenset()
        opened().spend(a_run(2), [a_report()])


def test_of_many_threads_one_spends(opened: Open) -> None:
    outcomes: list[str] = []

    def spend(name: str) -> None:
        try:
            opened().spend(a_run(1, command=name), [a_report(name)])
            outcomes.append(name)
        except AlreadySpent:
            outcomes.append("refused")

    threads = [threading.Thread(target=spend, args=(str(i),)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (winner,) = set(outcomes) - {"refused"}
    assert outcomes.count("refused") == 7
    assert [kept.headline.title for kept in opened().reports(1)] == [winner]


class TestSQLite:
    """What only a file can do."""

    def test_making_it_twice_changes_nothing(self, tmp_path: Path) -> None:
        SQLiteLedger.create(tmp_path, SETUP)
        again = SQLiteLedger.create(tmp_path, replace(SETUP, seed=9))
        assert again.setup() == SETUP

    @pytest.mark.parametrize("table", ["run", "report", "workspace", "shown"])
    @pytest.mark.parametrize("action", ["DELETE FROM {}", "UPDATE {} SET {} = 'x'"])
    def test_what_is_stored_cannot_be_changed_by_other_programs(self, tmp_path: Path, table: str, action: str) -> None:
        ledger = SQLiteLedger.create(tmp_path, SETUP)
        ledger.mark_shown("2026", "fairtest test … --train-only")
        ledger.spend(a_run(1), [a_report()])
        column = {"run": "command", "report": "title", "workspace": "name", "shown": "command"}[table]
        with sqlite3.connect(tmp_path / FILE) as database, pytest.raises(sqlite3.IntegrityError, match="never changed"):
            database.execute(action.format(table, column))
        database.close()

    def test_a_newer_file_is_refused(self, tmp_path: Path) -> None:
        SQLiteLedger.create(tmp_path, SETUP)
        with sqlite3.connect(tmp_path / FILE) as database:
            database.execute("PRAGMA user_version = 99")
        database.close()
        with pytest.raises(ft.InputError, match="newer FairTest"):
            SQLiteLedger.open(tmp_path)

    def test_a_file_that_was_never_finished_can_be_made_again(self, tmp_path: Path) -> None:
        (tmp_path / FILE).touch()
        with pytest.raises(ft.InputError, match="interrupted"):
            SQLiteLedger.open(tmp_path)
        assert SQLiteLedger.create(tmp_path, SETUP).setup() == SETUP

    @pytest.mark.parametrize("where", ["start", "middle"])
    def test_a_damaged_file_is_one_error(self, tmp_path: Path, where: str) -> None:
        ledger = SQLiteLedger.create(tmp_path, SETUP)
        ledger.spend(a_run(1), [a_report()])
        content = bytearray((tmp_path / FILE).read_bytes())
        start = 0 if where == "start" else 4096
        content[start : start + 2_000] = b"\xff" * 2_000
        (tmp_path / FILE).write_bytes(content)
        with pytest.raises(ft.InputError, match="is damaged"):
            _read_all(tmp_path)

    def test_damage_within_a_report_is_one_error(self, tmp_path: Path) -> None:
        ledger = SQLiteLedger.create(tmp_path, SETUP)
        long = "".join(chr(33 + i * i % 90) for i in range(20_000))
        ledger.spend(a_run(1), [replace(a_report(), html=long)])
        content = (tmp_path / FILE).read_bytes()
        at = content.index(zlib.compress(long.encode())[-100:-50])
        (tmp_path / FILE).write_bytes(content[:at] + bytes(255 - b for b in content[at : at + 50]) + content[at + 50 :])
        with pytest.raises(ft.InputError, match="is damaged"):
            ledger.reports(1)


def _read_all(folder: Path) -> None:
    ledger = SQLiteLedger.open(folder)
    ledger.setup(), ledger.runs(), ledger.reports(1)
