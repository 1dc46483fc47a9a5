"""The command line as a user meets it: what it prints, where, and with which exit code."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from calling import Run, fairtest

import fairtest as ft
from fairtest.cli.arguments import parse_metrics, parse_orders, parse_pairs
from fairtest.cli.demo import admissions, discounts
from fairtest.cli.main import cli
from fairtest.data.holdout import Budget
from fairtest.datasets.berkeley import berkeley
from fairtest.datasets.pricing import PLANTED, pricing
from fairtest.inference.multiplicity.corrections import corrections

if TYPE_CHECKING:
    from pathlib import Path


def in_a_process(*arguments: object, cwd: Path | None = None) -> Run:
    command = [sys.executable, "-m", "fairtest.cli.main", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", cwd=cwd, check=False, timeout=120)
    return Run(done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of 2,000 people: women are hired less often in the north, nowhere else."""
    rng = np.random.default_rng(1)
    n = 2_000
    sex, region = rng.choice(["f", "m"], n), rng.choice(["north", "south"], n)
    rate = 0.5 - 0.4 * ((sex == "f") & (region == "north"))
    frame = pl.DataFrame(
        {
            "sex": sex,
            "race": rng.choice(["a", "b", "c"], n),
            "region": region,
            "age": rng.integers(18, 80, n),
            "grade": rng.choice(["low", "mid", "high"], n),
            "nothing": [None] * n,
            "same": ["x"] * n,
            "hired": np.where(rng.random(n) < rate, "yes", "no"),
        }
    )
    path = tmp_path_factory.mktemp("data") / "people.csv"
    frame.write_csv(path)
    return path


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The test sets that were spent."""
    spent: list[int] = []
    draw = Budget.draw

    @contextmanager
    def watched(self: Budget):
        with draw(self) as number:
            yield number
            spent.append(number)

    monkeypatch.setattr(Budget, "draw", watched)
    return spent


class TestReport:
    def test_goes_to_stdout(self, people: Path, drawn: list[int]) -> None:
        run = fairtest("test", people, "-p", "sex", "-o", "hired", "--favourable", "hired=yes")
        assert (run.code, run.err, drawn) == (0, "", [1])
        assert "region = north" in run.out

    def test_says_how_to_repeat_it(self, people: Path, tmp_path: Path) -> None:
        first, again = tmp_path / "first.json", tmp_path / "again.json"
        options = ("-p", "sex", "-o", "hired", "--seed", 3, "--max-depth", 2, "--favourable", "hired=yes")
        fairtest("test", people, *options, "--json", first)
        command = json.loads(first.read_text("utf-8"))["investigations"][0]["repeat"]
        assert command == ("fairtest test people.csv -p sex -o hired --favourable hired=yes --max-depth 2 --seed 3")
        repeated = in_a_process(*command.split()[1:], "--json", again, cwd=people.parent)
        assert repeated.code == 0
        assert first.read_bytes() == again.read_bytes()

    def test_is_the_library_s(self, people: Path) -> None:
        run = fairtest("test", people, "-p", "sex", "-p", "race", "-o", "hired", "--json", "-", "--seed", 5)
        report = ft.audit(people, ["sex", "race"], "hired", seed=5)
        ours, theirs = json.loads(run.out), json.loads(report.to_json())
        for each in (ours, theirs):
            each["investigations"][0].pop("repeat")
        assert ours == theirs

    def test_every_correction_can_be_named_and_the_help_knows_it(self, people: Path) -> None:
        words = fairtest("test", "--help").out
        for name in corrections:
            assert re.search(rf"\b{name}\b", words), name
        run = fairtest("test", people, "-p", "sex", "-o", "hired", "--correction", "max-t", "--json", "-")
        assert run.code == 0, run.err
        assert json.loads(run.out)["settings"]["correction"] == "max-t"

    def test_files(self, people: Path, tmp_path: Path) -> None:
        names = [tmp_path / name for name in ("r.json", "r.html", "r.txt")]
        folder = tmp_path / "new" / "reports"
        run = fairtest(
            "test", people, "-p", "sex", "-o", "hired", "--json", names[0], "--html", names[1], "--text", names[2],
            "--out", folder,
        )  # fmt: skip
        assert run.code == 0
        assert json.loads(names[0].read_text("utf-8"))["schema"] == 1
        assert "<html" in names[1].read_text("utf-8")
        assert names[2].read_text("utf-8").startswith("FairTest")
        assert {p.suffix for p in folder.iterdir()} == {".txt", ".html", ".json"}
        assert run.err.count("Written: ") == 6

    def test_exports(self, people: Path, tmp_path: Path) -> None:
        table, page, pictures = tmp_path / "r.csv", tmp_path / "r.md", tmp_path / "new" / "figures"
        run = fairtest(
            "test", people, "-p", "sex", "-o", "hired", "--csv", table, "--markdown", page, "--figures", pictures,
        )  # fmt: skip
        assert run.code == 0, run.err
        assert pl.read_csv(table)["protected"].unique().to_list() == ["sex"]
        assert page.read_text("utf-8").startswith("### FairTest · ")
        assert {p.suffix for p in pictures.iterdir()} == {".svg"}
        assert run.err.count("Written: ") == 2 + len(list(pictures.iterdir()))
        assert fairtest("test", people, "-p", "sex", "-o", "hired", "--csv", "-").out == table.read_text("utf-8")

    def test_has_no_colour_in_a_pipe(self, people: Path) -> None:
        assert "\x1b" not in fairtest("test", people, "-p", "sex", "-o", "hired").out

    def test_an_output_with_an_odd_name(self, people: Path, tmp_path: Path) -> None:
        path = tmp_path / "odd.csv"
        pl.read_csv(people).rename({"hired": "../hired or/not"}).write_csv(path)
        run = fairtest("test", path, "-p", "sex", "-o", "../hired or/not", "--out", tmp_path / "here")
        assert run.code == 0, run.err
        assert len(list((tmp_path / "here").iterdir())) == 3

    def test_quiet(self, people: Path, tmp_path: Path) -> None:
        run = fairtest("test", people, "-p", "sex", "-o", "hired", "--quiet", "--json", tmp_path / "r.json")
        assert run.err == ""

    def test_every_option_reaches_the_library(self, people: Path) -> None:
        run = fairtest(
            "test", people, "-p", "sex*race", "-p", "age", "-o", "hired", "-e", "grade", "-x", "region",
            "--metric", "sex*race=NMI", "--favourable", "hired=yes", "--categorical", "race",
            "--numeric", "age", "--ordered", "grade=low<mid<high", "--budget", 1, "--conf", 0.9, "--train-size", 0.4,
            "--max-depth", 2, "--min-size", 60, "--search", "tree", "--score", "point", "--aggregate", "avg",
            "--correction", "bonferroni", "--method", "auto", "--seed", 7, "--delimiter", ",", "--encoding", "utf-8",
            "--missing", "?", "--json", "-",
        )  # fmt: skip
        assert run.code == 0, run.err
        made = json.loads(run.out)
        expected = {
            "conf": 0.9, "train_size": 0.4, "seed": 7, "max_depth": 2, "min_size": 60, "search": "tree",
            "score": "point", "aggregate": "avg", "correction": "bonferroni", "method": "auto", "budget": 1,
        }  # fmt: skip
        assert expected.items() <= made["settings"].items()
        investigation = made["investigations"][0]
        assert investigation["explanatory"] == ["grade"]
        assert [p["name"] for p in investigation["protected"]] == ["sex × race", "age"]
        used = {c["name"] for c in made["data"]["columns"] if c["role"] == "contextual"}
        assert used == {"region"}
        assert next(c["kind"] for c in made["data"]["columns"] if c["name"] == "grade") == "ordered"

    def test_exclude_reference_and_preset(self, people: Path) -> None:
        run = fairtest(
            "test", people, "-p", "sex", "-o", "hired", "--exclude", "region", "--exclude", "age",
            "--reference", "sex=f", "--preset", "paper", "--json", "-",
        )  # fmt: skip
        made = json.loads(run.out)
        assert made["settings"]["preset"] == "paper"
        assert made["investigations"][0]["protected"][0]["reference"] == "f"
        used = {c["name"] for c in made["data"]["columns"] if c["role"] == "contextual"}
        assert used.isdisjoint({"region", "age"})

    def test_tabs(self, people: Path, tmp_path: Path) -> None:
        path = tmp_path / "tabs.txt"
        pl.read_csv(people).write_csv(path, separator="\t")
        assert fairtest("test", path, "-p", "sex", "-o", "hired", "--delimiter", r"\t").code == 0


class TestWords:
    def test_verbose_says_what_was_read_and_how_long_it_took(self, people: Path) -> None:
        run = fairtest("test", people, "-p", "sex", "-o", "hired", "--verbose")
        assert run.code == 0
        assert "people.csv: 2,000 people, 8 columns (" in run.err
        assert "  sex: binary (text, 2 values)" in run.err
        assert re.search(r"^searching contexts for sex: \d+\.\d s$", run.err, re.MULTILINE)
        quiet = fairtest("test", people, "-p", "sex", "-o", "hired", "--verbose", "--quiet")
        assert (quiet.err, quiet.out) == ("", run.out)

    def test_labels_people_and_outcome(self, people: Path) -> None:
        words = ("--label", "sex:f=women", "--label", "sex:m=men", "--people", "applicants", "--outcome", "are hired")
        run = fairtest("test", people, "-p", "sex", "-o", "hired", "--favourable", "hired=yes", "--full", *words)
        text = " ".join(run.out.split())
        assert "Women are hired 22.1 points less often than men" in text
        assert re.search(r"applicants\), [\d.]+ % of women and [\d.]+ % of men are hired: a gap of", text)

    @pytest.mark.parametrize(
        ("options", "note"),
        [
            (("-p", "sex", "-o", "race", "--favourable", "race=a"), "favourable value race = a has no effect"),
            (("-p", "sex", "-o", "age", "--outcome", "are old"), "outcome “are old” is not told"),
        ],
    )
    def test_choices_without_effect_are_noted(self, people: Path, options: tuple[str, ...], note: str) -> None:
        run = fairtest("test", people, *options)
        assert f"Note: The {note}" in run.out
        plain = [*options[:4]]
        assert "Note: The" not in fairtest("test", people, *plain).out

    @pytest.mark.parametrize("label", ["sex", "sex:f", "=women", "sex:f= "])
    def test_a_label_that_is_none(self, people: Path, label: str) -> None:
        assert_one_line(fairtest("test", people, "-p", "sex", "-o", "hired", "--label", label), "--label", "sex:Female")

    def test_a_label_twice(self, people: Path) -> None:
        twice = ("--label", "sex:f=women", "--label", "sex:f=ladies")
        assert_one_line(fairtest("test", people, "-p", "sex", "-o", "hired", *twice), "--label", "twice")


class TestFailOnFindings:
    def test_exits_with_1_on_a_finding(self, people: Path) -> None:
        run = fairtest("test", people, "-p", "sex", "-o", "hired", "--fail-on-findings")
        assert run.code == 1
        assert run.out.startswith("FairTest")

    def test_exits_with_0_on_none(self, people: Path) -> None:
        assert fairtest("test", people, "-p", "race", "-o", "hired", "--fail-on-findings").code == 0


class TestTheData:
    @pytest.mark.parametrize("option", ["--html", "--json", "--text", "--csv", "--markdown"])
    def test_is_never_written_over(self, people: Path, option: str) -> None:
        before = people.read_bytes()
        run = fairtest("test", people, "-p", "sex", "-o", "hired", option, people)
        assert_one_line(run, option, "the data itself")
        assert people.read_bytes() == before


class TestPopulationShare:
    @pytest.mark.parametrize(("share", "got"), [("1", "1.0"), ("2", "2.0"), ("-1", "-1.0"), ("nan", "nan")])
    @pytest.mark.parametrize("more", [(), ("--train-only",)])
    def test_is_below_one(self, people: Path, share: str, got: str, more: tuple[str, ...]) -> None:
        """Said before the data is read."""
        ask = (people.parent / "none.csv", "-p", "sex", "-o", "hired", *more)
        run = fairtest("test", *ask, "--population-share", share)
        assert_one_line(run, "--population-share must be a number from 0 up to, but not, 1", f"Got {got} instead")

    def test_is_a_number(self, people: Path) -> None:
        run = fairtest("test", people, "-p", "sex", "-o", "hired", "--population-share", "x")
        assert_one_line(run, "'--population-share': 'x' is not a valid float")

    def test_is_in_the_settings_of_the_report(self, people: Path) -> None:
        run = fairtest(
            "test", people, "-p", "sex", "-o", "hired", "-x", "region", "--population-share", "0.2", "--json", "-"
        )
        assert json.loads(run.out)["settings"]["population_share"] == 0.2


class TestTrainOnly:
    def test_tests_nothing(self, people: Path, drawn: list[int]) -> None:
        run = fairtest("test", people, "-p", "sex", "-o", "hired", "--train-only")
        assert (run.code, drawn) == (0, [])
        assert "NOTHING WAS TESTED" in run.out
        assert re.search(r" 600 +\d+\.\d +\S+ points +\d+\.\d points  everyone", run.out)
        assert "region = north" in run.out
        assert "confirmed by the test set\nwith a chance of about 80 %" in run.out
        assert re.search(r"… and [\d,]+ more, with less evidence or nearly the same", run.out)

    def test_says_what_showing_it_means(self, people: Path) -> None:
        ask = ("test", people, "-p", "sex", "-o", "hired", "-x", "region", "--train-only")
        usual, other = (fairtest(*ask, *more).out for more in ((), ("--population-share", "0.2")))
        assert "everyone: tested at 50 % of the level" in usual
        assert "from now on, questions are put to the test set alone" in usual
        assert "everyone: tested at 20 % of the level" in other
        everyone = [float(re.search(r"([\d.]+) points  everyone", out)[1]) for out in (usual, other)]  # type: ignore[index]
        assert everyone[0] < everyone[1]  # a smaller share of the level confirms larger gaps only
        among_all = fairtest(*ask, "--population-share", "0").out
        assert "of the level" not in among_all

    def test_sizes_are_those_of_the_training_set(self, people: Path) -> None:
        run = fairtest("test", people, "-p", "sex", "-o", "hired", "-x", "region", "--train-only")
        lines = re.findall(r"^ +([\d,]+) .* points  (\S.*)$", run.out, re.MULTILINE)
        sizes = {where: int(size.replace(",", "")) for size, where in lines}
        assert sizes["region = north"] + sizes["region = south"] == sizes["everyone"] == 600

    @pytest.mark.parametrize("option", [["--fail-on-findings"], ["--json", "-"], ["--out", "x"]])
    def test_has_no_report(self, people: Path, option: list[str]) -> None:
        run = fairtest("test", people, "-p", "sex", "-o", "hired", "--train-only", *option)
        assert_one_line(run, "--train-only")


def assert_one_line(run: Run, *mentions: str, code: int = 2) -> None:
    assert run.code == code, run.err
    assert run.out == ""
    assert run.err.count("\n") == 1
    assert run.err.startswith("fairtest: ")
    assert "Traceback" not in run.err
    for mention in mentions:
        assert mention in run.err


BAD_OPTIONS = {
    "missing column": (["-p", "sexx", "-o", "hired"], ["'sexx'", "'sex'"]),
    "missing output": (["-p", "sex", "-o", "hird"], ["'hird'", "'hired'"]),
    "missing explanatory": (["-p", "sex", "-o", "hired", "-e", "regon"], ["'regon'", "'region'"]),
    "missing contextual": (["-p", "sex", "-o", "hired", "-x", "regon"], ["'regon'"]),
    "missing excluded": (["-p", "sex", "-o", "hired", "--exclude", "regon"], ["'regon'"]),
    "two roles": (["-p", "sex", "-o", "sex"], ["'sex'", "protected", "output"]),
    "constant S": (["-p", "same", "-o", "hired"], ["'same'", "constant"]),
    "constant O": (["-p", "sex", "-o", "same"], ["'same'", "constant"]),
    "all-missing S": (["-p", "nothing", "-o", "hired"], ["'nothing'"]),
    "all-missing O": (["-p", "sex", "-o", "nothing"], ["'nothing'"]),
    "too few people": (["-p", "sex", "-o", "hired", "--min-size", "1500"], ["--min-size 1500", "Lower --min-size"]),
    "metric does not fit": (["-p", "race", "-o", "hired", "--metric", "race=DIFF"], ["DIFF", "'race'"]),
    "no such metric": (["-p", "race", "-o", "hired", "--metric", "NMJ"], ["'NMJ'", "'NMI'"]),
    "metric of another": (["-p", "race", "-o", "hired", "--metric", "sex=NMI"], ["--metric sex=…", "'race'"]),
    "budget 0": (["-p", "sex", "-o", "hired", "--budget", "0"], ["budget", "0"]),
    "conf 1": (["-p", "sex", "-o", "hired", "--conf", "1"], ["conf", "between 0 and 1"]),
    "conf 0": (["-p", "sex", "-o", "hired", "--conf", "0"], ["conf", "between 0 and 1"]),
    "conf 95": (["-p", "sex", "-o", "hired", "--conf", "95"], ["conf", "95"]),
    "conf text": (["-p", "sex", "-o", "hired", "--conf", "high"], ["--conf", "'high'"]),
    "train_size": (["-p", "sex", "-o", "hired", "--train-size", "1.5"], ["--train-size must", "1.5"]),
    "seed": (["-p", "sex", "-o", "hired", "--seed", "-1"], ["seed", "-1"]),
    "max_depth": (["-p", "sex", "-o", "hired", "--max-depth", "-1"], ["--max-depth must", "-1"]),
    "search": (["-p", "sex", "-o", "hired", "--search", "wild"], ["search", "'wild'"]),
    "score": (["-p", "sex", "-o", "hired", "--score", "wild"], ["score", "'wild'"]),
    "aggregate": (["-p", "sex", "-o", "hired", "--aggregate", "sum"], ["aggregate", "'sum'"]),
    "correction": (["-p", "sex", "-o", "hired", "--correction", "home"], ["'home'", "'holm'"]),
    "method": (["-p", "sex", "-o", "hired", "--method", "magic"], ["method", "'magic'"]),
    "preset": (["-p", "sex", "-o", "hired", "--preset", "papr"], ["preset", "'papr'"]),
    "favourable without a value": (
        ["-p", "sex", "-o", "hired", "--favourable", "hired="],
        ["--favourable", "'hired='"],
    ),
    "favourable that is none": (["-p", "sex", "-o", "hired", "--favourable", "perhaps"], ["hired=perhaps", "'yes'"]),
    "event that is none": (["-p", "sex", "-o", "hired", "--event", "hired=perhaps"], ["--event", "'yes'"]),
    "no such value": (["-p", "sex", "-o", "hired", "--favourable", "hired=YES"], ["--favourable hired=YES", "'yes'"]),
    "reference twice": (
        ["-p", "sex", "-o", "hired", "--reference", "sex=f", "--reference", "sex=m"],
        ["--reference", "'sex'"],
    ),
    "ordered": (["-p", "sex", "-o", "hired", "--ordered", "grade=low<mid"], ["grade", "'high'"]),
    "crossing nothing": (["-p", "sex*", "-o", "hired"], ["'sex*'"]),
    "crossing a number": (["-p", "sex*age", "-o", "hired"], ["'age'"]),
    "delimiter": (["-p", "sex", "-o", "hired", "--delimiter", ";;"], ["delimiter"]),
    "encoding": (["-p", "sex", "-o", "hired", "--encoding", "klingon"], ["klingon"]),
    "no protected": (["-o", "hired"], ["--protected", "fairtest test --help"]),
    "no output": (["-p", "sex"], ["--output"]),
    "no such option": (["-p", "sex", "-o", "hired", "--max-dept", "3"], ["--max-dept"]),
    "two values of an option": (
        ["-p", "sex", "-o", "hired", "--exclude", "age", "race"],
        ["unexpected extra argument (race)", "--exclude a --exclude b"],
    ),
    "folder for a file": (["-p", "sex", "-o", "hired", "--json", "."], ["--json", "folder"]),
    "no folder": (["-p", "sex", "-o", "hired", "--html", "no/such/r.html"], ["--html", "no/such"]),
    "out in a file": (["-p", "sex", "-o", "hired", "--out", __file__ + "/x"], ["--out", "not a folder"]),
    "figures in a file": (["-p", "sex", "-o", "hired", "--figures", __file__], ["--figures", "not a folder"]),
    "one file twice": (["-p", "sex", "-o", "hired", "--json", "r", "--html", "./r"], ["--json", "--html"]),
    "a device": (["-p", "sex", "-o", "hired", "--json", "/dev/null"], ["--json", "/dev/null"]),
}


@pytest.mark.parametrize(("options", "mentions"), BAD_OPTIONS.values(), ids=BAD_OPTIONS.keys())
def test_bad_options(options: list[str], mentions: list[str], people: Path, drawn: list[int]) -> None:
    assert_one_line(fairtest("test", people, *options), *mentions)
    assert drawn == []


BAD_FILES = {
    "empty": ("", ["empty"]),
    "header only": ("sex,hired\n", ["no rows"]),
    "ragged": ("sex,hired\nf,1\nm,0,7\nf,1\n", ["people.csv"]),
    "infinite": ("sex,age,hired\n" + "f,30.5,1\nm,inf,0\nf,40.5,1\n" * 100, ["'age'", "infinite"]),
    "a web page": ("<!doctype html><html></html>", ["HTML"]),
    "JSON": ('{"sex": ["f"]}', ["JSON"]),
    "null bytes": ("sex,hired\nf,\x00\n", ["null bytes"]),
    "too few people": ("sex,hired\n" + "f,1\nm,0\n" * 20, ["--min-size"]),
}


@pytest.mark.parametrize(("content", "mentions"), BAD_FILES.values(), ids=BAD_FILES.keys())
def test_bad_files(content: str, mentions: list[str], tmp_path: Path, drawn: list[int]) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes(content.encode())
    assert_one_line(fairtest("test", path, "-p", "sex", "-o", "hired"), *mentions)
    assert drawn == []


def test_no_file(tmp_path: Path) -> None:
    assert_one_line(fairtest("test", tmp_path / "nobody.csv", "-p", "sex", "-o", "hired"), "nobody.csv")


def test_outputs_are_checked_before_the_data_is_read(tmp_path: Path) -> None:
    run = fairtest("test", tmp_path / "nobody.csv", "-p", "s", "-o", "o", "--json", tmp_path / "no" / "r.json")
    assert_one_line(run, "--json")


class TestErrors:
    def test_a_fault_is_4_and_hints_at_the_traceback(self, people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        _break(monkeypatch, ZeroDivisionError("oops"))
        run = fairtest("test", people, "-p", "sex", "-o", "hired")
        assert_one_line(run, "ZeroDivisionError: oops", "--traceback", code=4)

    @pytest.mark.parametrize("place", ["before", "after"])
    def test_traceback(self, people: Path, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
        _break(monkeypatch, ZeroDivisionError("oops"))
        command = ["test", people, "-p", "sex", "-o", "hired"]
        run = fairtest("--traceback", *command) if place == "before" else fairtest(*command, "--traceback")
        assert run.code == 4
        assert "Traceback" in run.err

    def test_a_failed_run_gives_its_test_set_back(self, people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        left: list[int] = []
        give_back = Budget.draw

        @contextmanager
        def failing(self: Budget):
            try:
                with give_back(self):
                    raise ZeroDivisionError
            finally:
                left.append(self.left)

        monkeypatch.setattr(Budget, "draw", failing)
        assert fairtest("test", people, "-p", "sex", "-o", "hired").code == 4
        assert left == [1]

    def test_an_empty_budget_is_3(self, people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        _break(monkeypatch, ft.BudgetExhausted("All spent."))
        assert_one_line(fairtest("test", people, "-p", "sex", "-o", "hired"), "All spent.", code=3)

    def test_a_full_disk_is_2(self, people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        _break(monkeypatch, OSError(28, "No space left on device", "report.json"))
        assert_one_line(fairtest("test", people, "-p", "sex", "-o", "hired"), "report.json: No space left on device")

    def test_an_interrupt_is_130(self, people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        _break(monkeypatch, KeyboardInterrupt())
        run = fairtest("test", people, "-p", "sex", "-o", "hired")
        assert (run.code, run.out) == (130, "")
        assert "Traceback" not in run.err

    @pytest.mark.parametrize(
        ("wrong", "option"),
        [
            (("-p", "sexx", "-o", "hired"), "--protected"),
            (("-p", "sex*rac", "-o", "hired"), "--protected"),
            (("-p", "sex", "-o", "hird"), "--output"),
            (("-p", "sex", "-o", "hired", "--exclude", "nowhere"), "--exclude"),
            (("-p", "sex", "-o", "hired", "--reference", "sexx=m"), "--reference"),
            (("-p", "sex", "-o", "hired", "--label", "sex:x=women"), "--label"),
        ],
    )
    def test_a_name_that_does_not_exist_says_which_option_has_it(
        self, people: Path, wrong: tuple[str, ...], option: str
    ) -> None:
        assert_one_line(fairtest("test", people, *wrong), f"fairtest: {option}: There is no ")

    def test_an_unknown_command(self) -> None:
        assert_one_line(fairtest("tset"), "tset")


def _break(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def broken(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("fairtest.pipeline.calls.train", broken)


class TestHelp:
    @pytest.mark.parametrize("arguments", [[], ["demo"], ["test"]])
    @pytest.mark.parametrize("option", ["-h", "--help"])
    def test_both_spellings(self, arguments: list[str], option: str) -> None:
        run = fairtest(*arguments, option)
        assert (run.code, run.err) == (0, "")
        assert run.out.startswith(f"Usage: {' '.join(['fairtest', *arguments])}")

    def test_names_every_option_of_test(self) -> None:
        text = fairtest("test", "--help").out
        command = cli.commands["test"]
        for option in (o for p in command.params for o in p.opts if o.startswith("-")):
            assert option in text

    def test_no_arguments_show_it(self) -> None:
        run = fairtest()
        assert run.code == 2
        assert "Usage: fairtest" in run.err + run.out

    def test_version(self) -> None:
        assert fairtest("--version").out == f"fairtest {ft.__version__}\n"


class TestDemo:
    def test_shows_the_paradox_and_the_planted_bias(self, tmp_path: Path) -> None:
        run = in_a_process("demo", "--out", tmp_path / "here")
        assert (run.code, run.err) == (0, "")
        assert "women were admitted less often overall" in run.out
        assert "no sign against women" in run.out
        assert "Department A clearly differs, and it favours women" in run.out
        for where in ("city = urban, region = West", "age > 60, region = Midwest"):
            assert where in run.out
        pages = sorted(path.name for path in (tmp_path / "here").iterdir())
        assert pages == ["admissions-by-department.html", "admissions.html", "discounts.html"]

    def test_checks_the_folder_first(self) -> None:
        assert_one_line(fairtest("demo", "--out", __file__), "--out", "not a folder")

    @pytest.mark.parametrize("seed", range(10))
    def test_the_paradox_is_no_luck_of_the_split(self, seed: int) -> None:
        overall, given_department = admissions(seed)
        everyone, alike = overall.populations[0], given_department.populations[0]
        assert everyone.significant
        assert everyone.effect < 0
        assert not (alike.significant and alike.effect < 0)
        level = given_department.settings.level
        clear = {s.values["department"]: s.effect > 0 for s in alike.strata if s.p_value <= level}
        assert clear == {"A": True}

    def test_reports_no_bias_where_none_was_planted(self) -> None:
        shop = discounts()
        customers = pricing()
        touched = np.any([bias.mask(customers) for bias in PLANTED], axis=0)
        for finding in shop.findings:
            assert finding.protected == "income"
            assert touched[finding.context.mask(customers)].any()


class TestProcesses:
    def test_test(self, tmp_path: Path) -> None:
        path = tmp_path / "berkeley.csv"
        berkeley().write_csv(path)
        run = in_a_process("test", path, "-p", "gender", "-o", "admitted", "-e", "department", cwd=tmp_path)
        assert (run.code, run.err) == (0, "")
        assert "department = A" in run.out

    def test_a_mistake(self, people: Path) -> None:
        assert_one_line(in_a_process("test", people, "-p", "sexx", "-o", "hired"), "'sexx'")

    def test_a_closed_pipe_is_no_error(self, people: Path) -> None:
        command = [sys.executable, "-m", "fairtest.cli.main", "test", str(people), "-p", "sex", "-o", "hired"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            process.stdout.close()
            assert b"Traceback" not in process.stderr.read()

    def test_a_poor_terminal(self, people: Path) -> None:
        command = [sys.executable, "-m", "fairtest.cli.main", "test", str(people), "-p", "sex", "-o", "hired"]
        env = {**os.environ, "PYTHONIOENCODING": "ascii"}
        assert subprocess.run(command, env=env, capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["NMI"], {"sex": "NMI", ("sex", "race"): "NMI"}),
        (["sex=DIFF"], {"sex": "DIFF"}),
        (["sex*race=NMI", "sex=DIFF"], {"sex": "DIFF", ("sex", "race"): "NMI"}),
        ([], {}),
    ],
)
def test_metrics(given: list[str], expected: dict) -> None:
    assert parse_metrics(given, ["sex", "sex*race"]) == expected


def test_values_may_have_signs_in_them() -> None:
    assert parse_pairs("--favourable", ["income=>=50K"], "") == {"income": ">=50K"}
    assert parse_orders(["grade=low < mid< high"]) == {"grade": ["low", "mid", "high"]}


class TestSizes:
    """Failing on effects beyond a size, and asking about everybody only."""

    @pytest.mark.parametrize(("size", "code"), [((), 1), (("0.05",), 1), (("0.9",), 0)])
    def test_only_effects_beyond_the_size_fail(self, people: Path, size: tuple[str, ...], code: int) -> None:
        assert fairtest("test", people, "-p", "sex", "-o", "hired", "--fail-on-findings", *size).code == code

    def test_a_size_that_is_none(self, people: Path) -> None:
        run = fairtest("test", people, "-p", "sex", "-o", "hired", "--fail-on-findings", "big")
        assert (run.code, "'big' is no size" in run.err) == (2, True)

    def test_everybody_only(self, people: Path, tmp_path: Path) -> None:
        run = fairtest("test", people, "-p", "sex", "-o", "hired", "--overall-only", "--json", tmp_path / "r.json")
        assert run.code == 0
        asked = json.loads((tmp_path / "r.json").read_text())["investigations"][0]["protected"][0]
        assert asked["discovered"] == 1
        assert fairtest("test", people, "-p", "sex", "-o", "hired", "--overall-only", "-x", "race").code == 2
