"""``fairtest discover`` as a user meets it."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from calling import fairtest


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The same 3,000 people twice: with label sets as text, and with a column for each label."""
    rng = np.random.default_rng(0)
    n = 3_000
    sex = rng.choice(["f", "m"], n)
    flags = {f"tag {name}": rng.random(n) < 0.05 for name in "abcdef"}
    flags["tag x"] = rng.random(n) < np.where(sex == "f", 0.2, 0.05)
    region = {"sex": sex, "region": rng.choice(["north", "south"], n)}
    folder = tmp_path_factory.mktemp("labels")
    pl.DataFrame(region | {k: v.astype(int) for k, v in flags.items()}).write_csv(folder / "columns.csv")
    sets = ["|".join([*(k.removeprefix("tag ") for k, v in flags.items() if v[i]), ""]) or "|" for i in range(n)]
    pl.DataFrame(region | {"tags": sets}).write_csv(folder / "sets.csv")
    return folder


@pytest.mark.parametrize("arguments", [("sets.csv", "-o", "tags", "--separator", "|"), ("columns.csv", "-o", "tag *")])
def test_labels_are_found_in_both_forms(files, arguments, tmp_path):
    name, *rest = arguments
    code, out, err = fairtest("discover", files / name, "-p", "sex", *rest, "--json", tmp_path / "r.json", "--full")
    assert (code, "Written" in err) == (0, True)
    assert "one label goes with sex." in out
    assert "* Labels associated with sex = f:" in out
    assert f"Repeat it: fairtest discover {name}" in out
    asked = json.loads((tmp_path / "r.json").read_text())["investigations"][0]
    assert [f["label"][-1] for f in asked["protected"][0]["findings"]] == ["x"]


def test_findings_can_fail_a_build(files):
    code, _, _ = fairtest(
        "discover", files / "columns.csv", "-p", "sex", "-o", "tag x", "--quiet", "--fail-on-findings"
    )
    assert code == 1


def test_proposals_are_shown_without_a_test(files):
    code, out, _ = fairtest("discover", files / "columns.csv", "-p", "sex", "-o", "tag *", "--train-only")
    assert code == 0
    assert "NOTHING WAS TESTED" in out
    assert "tag x: everyone" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-o", "tags"), "--separator '|'"),
        (("-o", "tags", "--separator", "|", "--top-k", "0"), "--top-k must be"),
        (("-o", "tgas", "--separator", "|"), "Did you mean 'tags'"),
        ((), "Missing option '-o'"),
    ],
)
def test_mistakes_are_one_line(files, arguments, message):
    code, out, err = fairtest("discover", files / "sets.csv", "-p", "sex", *arguments)
    assert (code, out) == (2, "")
    assert message in err


def test_the_help_has_sections(files):
    code, out, _ = fairtest("discover", "--help")
    assert code == 0
    assert [part for part in ("Labels:", "Roles:", "Search:", "Test:", "Output:") if part not in out] == []
