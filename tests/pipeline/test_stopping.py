"""Work that is stopped half-way leaves no trace; until then it says how far it is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

import fairtest as ft

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PEOPLE = 1500
SEARCHES = {
    "auto": {},
    "tree": {"search": "tree"},
    "forest": {"search": "forest", "trees": 4},
    "exhaustive": {"search": "exhaustive"},
}
TESTS = {
    "pooled": {},
    "max-t": {"correction": "max-t"},
    "resampling": {"method": "resampling", "correction": "holm"},
}


def people(n: int = PEOPLE) -> pl.DataFrame:
    rng = np.random.default_rng(8)
    woman = rng.random(n) < 0.5
    city = rng.choice(["Paris", "Quito", "Rome"], n)
    hired = rng.random(n) < np.where(woman & (city == "Rome"), 0.2, 0.5)
    return pl.DataFrame(
        {
            "sex": np.where(woman, "f", "m"),
            "race": rng.choice(["a", "b", "c"], n),
            "city": city,
            "age": rng.integers(18, 60, n),
            "job": rng.choice(["x", "y", "z"], n),
            "hired": np.where(hired, "yes", "no"),
            "skill 1": (rng.random(n) < 0.3).astype(int),
            "skill 2": (rng.random(n) < 0.2 + 0.3 * woman).astype(int),
        }
    )


def asked_of_two(**source) -> ft.Testing:
    return ft.Testing(
        ft.DataSource(people(), seed=2, **source), ["sex", "race"], "hired", exclude=["skill 1", "skill 2"]
    )


def discovery(**source) -> ft.Discovery:
    return ft.Discovery(ft.DataSource(people(), seed=2, **source), "sex", ["skill 1", "skill 2"])


class Told:
    """Hears of progress; raises when it has heard so many times."""

    def __init__(self, stop: int | None = None) -> None:
        self.heard: list[tuple[str, float]] = []
        self._stop = stop

    def __call__(self, text: str, share: float | None = None) -> None:
        if len(self.heard) == self._stop:
            raise KeyboardInterrupt
        assert share is not None
        self.heard.append((text, share))


def moments(heard: list[tuple[str, float]], most: int = 8) -> list[int]:
    """Return some of the times at which progress was told, the first and the last among them."""
    return np.unique(np.linspace(0, len(heard) - 1, most).astype(int)).tolist()


def report_of(asked, how: dict, tested: dict) -> str:
    ft.train([asked], min_size=60, max_depth=3, **how)
    ft.test([asked], **tested)
    return ft.report([asked])[0].to_json()


def assert_grows(heard: list[tuple[str, float]], least: int) -> None:
    texts = list(dict.fromkeys(text for text, _ in heard))
    for text in texts:
        shares = [share for t, share in heard if t == text]
        assert shares[0] == pytest.approx(0, abs=0.1)
        assert shares == sorted(shares)
        assert shares[-1] == 1
        assert len(set(shares)) >= least


@pytest.mark.parametrize("make", [asked_of_two, discovery])
@pytest.mark.parametrize("how", SEARCHES.values(), ids=SEARCHES)
def test_a_search_that_is_stopped_leaves_no_trace(make, how: dict) -> None:
    told, asked = Told(), make()
    ft.train([asked], min_size=60, max_depth=3, **how, progress=told)
    assert_grows(told.heard, least=4)
    whole = report_of(make(), how, {})
    asked = make()
    for moment in moments(told.heard):
        with pytest.raises(KeyboardInterrupt):
            ft.train([asked], min_size=60, max_depth=3, **how, progress=Told(moment))
        assert asked.training is None
        assert asked.source.budget.left == 1
    assert report_of(asked, how, {}) == whole


@pytest.mark.parametrize("tested", TESTS.values(), ids=TESTS)
@pytest.mark.parametrize("source", [{}, {"reuse": True, "budget": 3}], ids=["spent once", "reused"])
def test_a_test_that_is_stopped_spends_nothing(tested: dict, source: dict) -> None:
    how = {"contextual": ["city", "job"]}

    def make() -> ft.Testing:
        return ft.Testing(ft.DataSource(people(), seed=2, **source), ["sex", "race"], "hired", **how)

    told, asked = Told(), make()
    ft.train([asked], min_size=60, max_depth=2)
    ft.test([asked], **tested, progress=told)
    assert_grows(told.heard, least=5)
    whole = ft.report([asked])[0].to_json()
    asked = make()
    ft.train([asked], min_size=60, max_depth=2)
    before, left, level = asked.training, asked.source.budget.left, asked.source.level
    for moment in moments(told.heard):
        with pytest.raises(KeyboardInterrupt):
            ft.test([asked], **tested, progress=Told(moment))
        assert asked.results is None
        assert asked.training is before
        assert (asked.source.budget.left, asked.source.level) == (left, level)
    ft.test([asked], **tested)
    assert ft.report([asked])[0].to_json() == whole


def test_labels_too() -> None:
    told, asked = Told(), discovery()
    ft.train([asked], min_size=60)
    ft.test([asked], progress=told)
    assert_grows(told.heard, least=4)
    whole = ft.report([asked])[0].to_json()
    asked = discovery()
    ft.train([asked], min_size=60)
    for moment in moments(told.heard):
        with pytest.raises(KeyboardInterrupt):
            ft.test([asked], progress=Told(moment))
        assert (asked.results, asked.source.budget.left) == (None, 1)
    ft.test([asked])
    assert ft.report([asked])[0].to_json() == whole


def test_an_answer_of_before_stays_when_the_next_is_stopped() -> None:
    asked = asked_of_two(budget=2)
    ft.train([asked], min_size=60)
    ft.test([asked])
    first = ft.report([asked])[0].to_json()
    with pytest.raises(KeyboardInterrupt):
        ft.test([asked], progress=Told(3))
    assert ft.report([asked])[0].to_json() == first
    assert asked.source.budget.left == 1


@pytest.fixture
def plain_interrupts() -> Iterator[None]:
    """Whatever ran before in this process (an event loop, a browser's driver), Ctrl-C is Python's own again."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def _again_and_again(asked, timer: threading.Timer) -> None:
    timer.start()
    for _ in range(200):
        ft.train([asked], min_size=60, max_depth=3)


def test_a_real_interrupt_in_the_middle_of_counting(plain_interrupts: None) -> None:
    """Signals come between any two steps, not only where progress is told."""
    asked = asked_of_two()
    whole = report_of(asked_of_two(), {}, {})
    main = threading.get_ident()
    for wait in (0.001, 0.003, 0.01, 0.02):
        timer = threading.Timer(wait, signal.pthread_kill, (main, signal.SIGINT))
        with pytest.raises(KeyboardInterrupt):
            _again_and_again(asked, timer)
        assert asked.source.budget.left == 1
    assert report_of(asked, {}, {}) == whole


INTERRUPTED = """
import os, signal, sys
import fairtest as ft

stage = sys.argv.pop(1)
work = getattr(ft, stage)

def stopped(*arguments, progress=None, **more):
    heard = []

    def told(text, share=None):
        heard.append(share)
        if len(heard) == 4:
            os.kill(os.getpid(), signal.SIGINT)

    work(*arguments, progress=told, **more)

setattr(ft, stage, stopped)
from fairtest.cli.main import main
main()
"""


@pytest.mark.skipif(os.name != "posix", reason="signals as posix has them")
@pytest.mark.parametrize("stage", ["train", "test"])
def test_the_command_exits_with_130_and_writes_nothing(stage: str, tmp_path: Path) -> None:
    people().write_csv(tmp_path / "people.csv")
    question = ["test", "people.csv", "-p", "sex", "-p", "race", "-o", "hired", "--out", "report"]
    command = [sys.executable, "-c", INTERRUPTED, stage, *question]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 130
    assert done.stdout == ""
    assert done.stderr.strip() == "fairtest: interrupted; no report was written."
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]
