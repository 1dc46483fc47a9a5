"""Help, manual and completion: complete, short where asked, and up to date."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import pytest
from click.shell_completion import ShellComplete

import fairtest as ft
from docs.manual import manual
from fairtest.cli.errors import EXITS
from fairtest.cli.main import cli
from fairtest.cli.spelling import spelled_as_options
from fairtest.exceptions import argument, in_python, setting, the, unquoted
from fairtest.inference.multiplicity.corrections import corrections
from fairtest.investigations.errors import ERRORS
from fairtest.investigations.notions import NOTIONS
from fairtest.metrics.choice import BUILT_IN
from fairtest.model.plans import Plan, TestingPlan, TrainingPlan

if TYPE_CHECKING:
    from collections.abc import Collection

OPTIONS = [(name, o) for name, c in cli.commands.items() for o in c.params if isinstance(o, click.Option)]
MANUAL = Path(__file__).parents[2] / "docs" / "commands.md"


@pytest.mark.parametrize(("name", "option"), OPTIONS, ids=[f"{n} {o.opts[-1]}" for n, o in OPTIONS])
def test_every_option_says_what_it_is(name: str, option: click.Option) -> None:
    assert option.help
    assert option.help.endswith((".", ")"))
    assert f"`{option.opts[-1]}`" in MANUAL.read_text("utf-8").split(f"## fairtest {name}\n")[1]


def test_the_manual_is_up_to_date() -> None:
    made = manual(cli)
    assert MANUAL.read_text("utf-8") == made, "run: python -m docs.manual > docs/commands.md"
    for code in EXITS:
        assert f"| {code} |" in made


@pytest.mark.parametrize("name", list(cli.commands))
def test_both_helps_have_examples(name: str, run: Any) -> None:
    short, complete = run(name, "-h"), run(name, "--help")
    assert (short.code, complete.code) == (0, 0)
    for text in (short.out, complete.out):
        assert "Examples:" in text
        assert f"fairtest {name} " in text
    assert f"Every option: fairtest {name} --help" in short.out
    assert len(short.out) <= len(complete.out) + 60


def test_the_short_one_is_short(run: Any) -> None:
    short = run("test", "-h").out
    assert len(short.splitlines()) < 45
    assert "--aggregate" not in short
    assert "--output" in short


def test_colours_only_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    from click.testing import CliRunner

    shown = CliRunner().invoke(cli, ["test", "-h"], prog_name="fairtest", color=True)
    assert "\x1b[1mUsage: " in shown.stdout
    monkeypatch.setenv("NO_COLOR", "1")
    plain = CliRunner().invoke(cli, ["test", "-h"], prog_name="fairtest", color=True)
    assert "\x1b[" not in plain.stdout
    wrong = CliRunner().invoke(cli, ["tset"], prog_name="fairtest", color=True)
    assert "\x1b[" not in wrong.stderr


def test_a_command_that_does_not_exist(run: Any) -> None:
    assert "Did you mean 'test'" in run("tset").err or "Did you mean test" in run("tset").err


class TestCompletion:
    @pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
    def test_the_script_says_how_to_install_it(self, shell: str, run: Any) -> None:
        made = run("completion", shell)
        assert made.code == 0
        assert made.out.startswith("# ")
        assert f"fairtest completion {shell}" in made.out
        assert "_FAIRTEST_COMPLETE" in made.out

    def test_bash_understands_it(self, run: Any) -> None:
        script = run("completion", "bash").out
        done = subprocess.run(["bash", "-n"], input=script, text=True, capture_output=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")

    def test_another_shell(self, run: Any) -> None:
        assert run("completion", "cmd").code == 2

    @pytest.mark.parametrize(
        ("arguments", "incomplete", "expected"),
        [
            (["test", "people.csv", "-p"], "r", ["race", "region"]),
            (["test", "people.csv", "-o"], "hi", ["hired"]),
            (["test", "people.csv", "--exclude"], "i", ["id"]),
            (["errors", "people.csv", "--truth"], "h", ["hired"]),
            (["discover", "people.csv", "-o"], "d", ["department"]),
            (["test", "people.csv", "--favourable"], "hi", ["hired="]),
            (["test", "people.csv", "--metric"], "race=N", ["race=NMI"]),
            (["test", "people.csv", "--metric"], "r", ["RATIO", "RANK", "race=", "region="]),
            (["test", "people.csv", "--correction"], "b", ["bonferroni", "bh", "by"]),
            (["test", "people.csv", "--search"], "", ["auto", "tree", "forest", "exhaustive"]),
            (["test", "nobody.csv", "-p"], "r", []),
            (["test", "-p"], "r", []),
            ([], "ins", ["inspect"]),
            (["completion"], "z", ["zsh"]),
        ],
    )
    def test_completes(self, arguments: list[str], incomplete: str, expected: list[str], here: Path) -> None:
        found = ShellComplete(cli, {}, "fairtest", "_X").get_completions(arguments, incomplete)
        assert [item.value for item in found] == expected

    def test_in_a_process(self, here: Path) -> None:
        env = {**os.environ, "_FAIRTEST_COMPLETE": "bash_complete", "COMP_WORDS": "fairtest test people.csv -p s"}
        command = [sys.executable, "-m", "fairtest.cli.main"]
        done = subprocess.run(command, env={**env, "COMP_CWORD": "4"}, capture_output=True, text=True, check=False)
        assert done.stdout.split() == ["plain,sex", "plain,same"]

    def test_columns_of_parquet_and_of_a_large_file(self, here: Path) -> None:
        import polars as pl

        pl.read_csv("people.csv").write_parquet("people.parquet")
        long = "x" * 100
        Path("long.csv").write_text("sex,job\n" + f"f,{long}\n" * 5_000, "utf-8")
        for file in ("people.parquet", "long.csv"):
            found = ShellComplete(cli, {}, "fairtest", "_X").get_completions(["test", file, "-p"], "sex")
            assert [item.value for item in found] == ["sex"]

    @pytest.mark.parametrize("plan", [TrainingPlan, TestingPlan])
    def test_the_fields_of_plans_are_options(self, plan: type[Plan], here: Path) -> None:
        for field in plan.options():
            option = next(p for p in cli.commands["test"].params if p.name == field.name)
            found = ShellComplete(cli, {}, "fairtest", "_X").get_completions(["test", "x.csv", option.opts[0]], "")
            assert [item.value for item in found] == list(field.choices)

    @pytest.mark.parametrize(
        ("option", "names"),
        [("--error", ERRORS), ("--notion", {*NOTIONS, "fpr", "fnr"}), ("--correction", corrections)],
    )
    def test_the_names_are_those_of_the_library(self, option: str, names: Collection[str]) -> None:
        found = ShellComplete(cli, {}, "fairtest", "_X").get_completions(["errors", "x.csv", option], "")
        assert {item.value for item in found} == set(names)

    def test_the_metrics_are_those_of_the_registry(self, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        with_one_more = (*BUILT_IN, replace(BUILT_IN[0], name="OWN GAP"))
        monkeypatch.setattr("fairtest.metrics.choice.BUILT_IN", with_one_more)
        found = ShellComplete(cli, {}, "fairtest", "_X").get_completions(["test", "people.csv", "--metric"], "sex=")
        assert [item.value for item in found] == [f"sex={metric.name}" for metric in with_one_more]


class TestArgumentsInErrors:
    """Errors name the arguments of Python; the command line has options for them."""

    @pytest.mark.parametrize(
        ("error", "python", "expected"),
        [
            (f"{the('conf', 'of DataSource')} must be.", "The 'conf' of DataSource must be.", "--conf must be."),
            (
                f"{argument('output')} and {argument('ground_truth')} are both 'x'.",
                "'output' and 'ground_truth' are both 'x'.",
                "--output and --truth are both 'x'.",
            ),
            (
                f"{the('preset')} must be {in_python('None or ')}'paper'.",
                "The 'preset' must be None or 'paper'.",
                "--preset must be 'paper'.",
            ),
            (f"Use {setting('error', 'class')}.", "Use error='class'.", "Use --error class."),
            (f"Use {setting('metrics', {'sex': ...})}.", "Use metrics={'sex': ...}.", "Use --metric sex=…."),
            (f"Use {setting('numeric', ['zip code'])}.", "Use numeric=['zip code'].", "Use --numeric 'zip code'."),
            (f"Use {setting('favourable', {'hired': 'yes'})}.", "Use favourable={'hired': 'yes'}.", None),
            (f"({setting('categorical', [...])})", "(categorical=[...])", "(--categorical)"),
            (f"({setting('ordered', {...})})", "(ordered={...})", "(--ordered)"),
            (f"Lower {unquoted('min_size')}.", "Lower min_size.", "Lower --min-size."),
            (f"of {setting('min_size', 1500, 'min_size=1,500')}", "of min_size=1,500", "of --min-size 1500"),
            (f"Take out {setting('split', False)}.", "Take out split=False.", "Take out split=False."),
            ("There is no column 'min_size'.", "There is no column 'min_size'.", "There is no column 'min_size'."),
        ],
    )
    def test_become_options(self, error: str, python: str, expected: str | None) -> None:
        made = ft.InputError(error)
        assert str(made) == python
        ctx = click.Context(cli.commands["test"], parent=click.Context(cli))
        assert spelled_as_options(made, ctx) == (expected or "Use --favourable hired=yes.")

    def test_are_those_of_the_file_that_has_them(self, run: Any, here: Path) -> None:
        Path("fairtest.toml").write_text("[test]\nmax-depth = -1\n", "utf-8")
        asked = ("test", "people.csv", "-p", "sex", "-o", "hired")
        assert "fairtest: max-depth in fairtest.toml must be a whole number" in run(*asked).err
        assert "fairtest: --max-depth must be a whole number" in run(*asked, "--max-depth", -1).err

    def test_are_data_and_travel_with_the_error(self) -> None:
        made = ft.InputError(f"{the('trees')} are those of a forest. Add {setting('search', 'forest')}.")
        again = pickle.loads(pickle.dumps(made))
        for error in (made, again):
            assert error.arguments == ("trees", "search")
            assert str(error) == "The 'trees' are those of a forest. Add search='forest'."
