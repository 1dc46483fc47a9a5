"""A short version of the simulation of people who make the next question from the last answer."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def adaptive():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(ROOT), *sys.path])
        from calibration import adaptive

        yield adaptive


def runs(count, run):
    return sum(run(np.random.default_rng([9, i])) for i in range(count))


def test_scores_built_from_answers_fool_plain_reuse_only(adaptive):
    assert runs(3, lambda rng: adaptive.freedman("naive", rng)) >= 2
    assert runs(3, lambda rng: adaptive.freedman("reusable", rng)) == 0
    assert runs(3, lambda rng: adaptive.freedman("disjoint", rng)) == 0


def test_yes_or_no_alone_can_be_milked_and_counted_bits_cannot(adaptive):
    assert runs(30, lambda rng: adaptive.milking(adaptive.UNCOUNTED, rng)) >= 25
    assert runs(200, lambda rng: adaptive.milking(adaptive.COUNTED, rng)) <= 10


def test_a_real_link_is_still_found_after_many_questions(adaptive):
    assert runs(3, lambda rng: adaptive.planted("reusable", 20, 0.3, rng)) >= 2


def test_the_page_is_written(adaptive, tmp_path, capsys):
    out = tmp_path / "adaptive.md"
    adaptive.main(["--runs", "1", "--power", "1", "--out", str(out)])
    text = out.read_text(encoding="utf-8")
    assert "| naive | " in text
    assert "| 20 questions, gap of 30 points | reusable | " in text
    assert "promises broken" in capsys.readouterr().out
