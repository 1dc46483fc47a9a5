"""Where tests once broke: the cells in short, and the worlds they are made of."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def suite():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(ROOT), *sys.path])
        from calibration import holds
        from calibration.worlds import base, choice, explained, unrelated

        yield SimpleNamespace(holds=holds, base=base, choice=choice, explained=explained, unrelated=unrelated)


def test_every_row_has_cells(suite):
    rows = [cell.row for cell in suite.holds.CELLS]
    assert sorted(set(rows)) == sorted(suite.holds.ROWS)
    assert all(rows.count(row) >= 3 for row in suite.holds.ROWS)


def test_cells_can_be_run_one_row_at_a_time(suite, capsys, monkeypatch):
    asked = []
    monkeypatch.setattr(suite.holds.Cell, "run", lambda cell, seed, repeat: asked.append((cell.row, repeat)) or False)
    assert suite.holds.main(["--runs", "2", "--only", "6"]) == 0
    assert {row for row, _ in asked} == {"6"}
    assert "0 of 2 =" in capsys.readouterr().out


def test_a_run_that_was_cut_short_goes_on(suite, capsys, monkeypatch, tmp_path):
    asked = []

    def run(cell, seed, repeat):
        asked.append((cell.world.words(), repeat))
        if len(asked) == 5:
            raise KeyboardInterrupt
        return False

    monkeypatch.setattr(suite.holds.Cell, "run", run)
    again = ["--runs", "3", "--only", "6", "--counts", str(tmp_path / "counts.json")]
    assert suite.holds.main(again) == 0
    assert "Stopped" in capsys.readouterr().out
    assert [repeat for _, repeat in asked] == [0, 0, 0, 1, 1]
    suite.holds.main(again)
    assert [repeat for _, repeat in asked[5:]] == [1, 1, 2, 2, 2]
    assert "0 of 9 =" in capsys.readouterr().out


def test_dear_cells_run_half_as_often(suite, monkeypatch):
    asked = []
    monkeypatch.setattr(suite.holds.Cell, "run", lambda cell, seed, repeat: asked.append(cell.dear) or False)
    suite.holds.main(["--runs", "4"])
    dear = sum(cell.dear for cell in suite.holds.CELLS)
    assert asked.count(True) == 2 * dear
    assert asked.count(False) == 4 * (len(suite.holds.CELLS) - dear)


def test_what_reports_too_often_fails(suite, capsys, monkeypatch):
    monkeypatch.setattr(suite.holds.Cell, "run", lambda cell, seed, repeat: repeat < 8)
    assert suite.holds.main(["--runs", "40", "--only", "6"]) == 1
    assert "3 of 3 cells report too often, and all together" in capsys.readouterr().out


def test_the_page_has_every_design_that_was_run(suite, monkeypatch, tmp_path):
    monkeypatch.setattr(suite.holds.Cell, "run", lambda cell, seed, repeat: repeat == 0)
    suite.holds.main(["--runs", "2", "--only", "6", "--page", str(tmp_path / "page.md")])
    page = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert "3 of 6 runs" in page
    assert page.count("| 1 of 2 |") == 3
    assert "## 6. Nobody is split off" in page
    assert "## 5." not in page


def test_groups_have_equal_means_whatever_their_spread(suite):
    for law in ("log-normal 1", "amounts 0.2", "exponential", "normal"):
        world = suite.unrelated.Unrelated(200_000, (0.5, 0.5), output=law, spread=(1.0, 2.0))
        frame = world.draw(np.random.default_rng(0))
        group, output = frame["group"].to_numpy(), frame["output"].to_numpy()
        first, second = output[group == "g00"], output[group == "g01"]
        error = np.sqrt(first.var() / first.size + second.var() / second.size)
        assert abs(first.mean() - second.mean()) < 4 * error
        assert second.std() > 1.4 * first.std()


def test_an_explained_world_is_null_given_the_number_and_not_without_it(suite):
    frame = suite.explained.Explained(200_000, (0.5, 0.5)).draw(np.random.default_rng(0))
    given = frame["given"].to_numpy()
    group, output = frame["group"].to_numpy() == "g01", frame["output"].to_numpy()
    gap = output[group].mean() - output[~group].mean()
    near = np.abs(given) < 0.05
    assert gap > 0.1
    assert abs(output[near & group].mean() - output[near & ~group].mean()) < 0.03


def test_a_mutation_changes_a_little(suite):
    rng = np.random.default_rng(1)
    for _ in range(30):
        world = suite.choice.any_world(rng)
        other = suite.choice.mutated(world, rng)
        assert type(other) is type(world)
        differing = [name for name, value in vars(world).items() if getattr(other, name) != value]
        assert len(differing) <= 2
        assert world.sort in world.words()
