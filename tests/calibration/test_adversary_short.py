"""The search for designs that break a promise, in short: it must find what was broken on purpose."""

from __future__ import annotations

import sys
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest

import fairtest as ft
from fairtest.statistics.rates import score

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def suite():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(ROOT), *sys.path])
        from calibration import adversary
        from calibration.worlds import base, choice, explained, unrelated

        yield SimpleNamespace(adversary=adversary, base=base, choice=choice, explained=explained, unrelated=unrelated)


def steps(number: int):
    """Go on for so many steps."""
    counter = count()
    return lambda: next(counter) < number


def test_a_hidden_weakness_is_found_and_nothing_else(suite):
    """Runs that find something in 5 % of worlds, and in 60 % of those of many rare groups."""

    def run(world, rng):
        weak = isinstance(world, suite.unrelated.Unrelated) and len(world.groups) > 2 and min(world.groups) < 0.02
        return rng.random() < (0.6 if weak else 0.05)

    search = suite.adversary.Search(3, run)
    search.search(steps(300))
    search.confirm(steps(200))
    broken = search.broken()
    assert broken
    assert all(len(t.world.groups) > 2 and min(t.world.groups) < 0.02 for t in broken)


def test_what_holds_is_not_accused(suite):
    """Choosing the worst of many designs makes bad luck look like a weakness: the runs that choose are not counted."""
    for seed in range(5):
        search = suite.adversary.Search(seed, lambda world, rng: rng.random() < 0.03)
        search.search(steps(200))
        search.confirm(steps(150))
        assert search.broken() == []
        assert max(t.seen for t in search.trials) > 0


def test_a_broken_test_is_found_through_the_public_interface(suite, monkeypatch):
    """p-values of differences a fiftieth of what they should be."""
    right = score.difference_p
    monkeypatch.setattr(score, "difference_p", lambda *counts: right(*counts) / 50)

    def fresh(rng):
        law = ("normal", "binary 0.3", "values 6")[int(rng.integers(3))]
        return suite.unrelated.Unrelated(int(rng.integers(300, 600)), (0.5, 0.5), output=law)

    search = suite.adversary.Search(0, fresh=fresh)
    search._step = lambda: search._try(fresh(search._rng))
    search.search(steps(6))
    search.confirm(steps(20))
    broken = search.broken()
    assert broken
    assert {t.world.output for t in broken} == {"binary 0.3"}


def test_errors_in_words_are_refusals_and_others_are_shown(suite):
    def run(world, rng):
        raise ft.FairTestError("no") if world.n < 3_000 else ZeroDivisionError("oops")

    search = suite.adversary.Search(1, run)
    search.search(steps(40))
    assert search.refused > 0
    assert any("ZeroDivisionError: oops" in line for line in search.failed)
    assert "failed:" in suite.adversary.page(search, 1)


def test_the_page_is_written(suite, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(suite.base.World, "finds_something", lambda world, rng: rng.random() < 0.02)
    out = tmp_path / "adversary.md"
    assert suite.adversary.main(["--minutes", "0.005", "--out", str(out)]) == 0
    text = out.read_text(encoding="utf-8")
    assert "No design is clearly above 5 %." in text
    assert text.count("\n| ") == 12
    assert text in capsys.readouterr().out
