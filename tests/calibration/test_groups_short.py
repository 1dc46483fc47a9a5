"""Short versions of ``python -m calibration.groups`` and ``python -m calibration.numbers``."""

from calibration.groups import DESIGNS, FALSE, covers, is_false
from calibration.numbers import SHAPES, run_cells
from calibration.numbers_of_rows import RowCell, run_row_cells
from calibration.sections import write_section


def test_gaps_hold_together():
    rows = ("rates, rows of people", "means, rows and weights", "rates, weights")
    for name in ("rates, census", "labels of pictures", "rates given job", "means, normal", *rows):
        assert sum(covers(DESIGNS[name], seed) for seed in range(10)) >= 8


def test_whole_runs_are_seldom_false():
    assert sum(is_false(name, seed) for name in FALSE for seed in range(3)) <= 3


def test_medians_and_ratios_hold():
    cells = list(run_cells(60, most=200_000))
    assert len(cells) == 12 * len(SHAPES)
    for kind in ("medians", "ratios"):
        assert not [cell.name for cell in cells if cell.broken(kind, len(cells))]


def test_medians_ratios_and_rates_of_rows_hold():
    cells = list(run_row_cells(12))
    assert not [cell.name for cell in cells if cell.broken(len(cells))]
    for kind in ("medians", "ratio", "rate"):
        assert sum(cell.hits[kind] for cell in cells) >= 0.9 * 12 * len(cells)
    assert RowCell("x", 400, {"medians": 340, "ratio": 376, "rate": 400}).broken(1) == ["medians"]


def test_a_cell_that_does_not_hold_is_named():
    cell = next(iter(run_cells(40)))
    cell.medians[0.05] = 20
    assert cell.broken("medians", 1) == [0.05]
    assert cell.broken("ratios", 1) == []


def test_a_section_takes_the_place_of_the_last(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# Title\n")
    write_section(str(page), "one", "First", ["a"])
    write_section(str(page), "two", "Second", ["b"])
    write_section(str(page), "one", "First", ["c"])
    text = page.read_text()
    assert [line for line in text.splitlines() if line and not line.startswith("<!--")] == [
        "# Title", "## First", "c", "## Second", "b",
    ]  # fmt: skip
