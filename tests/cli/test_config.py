"""An audit as a file: every option can stand in it, the command line wins, and what is wrong is said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import pytest
from click.core import ParameterSource

from fairtest.cli.config import NOT_SAVED
from fairtest.cli.main import cli

COMMANDS = {name: c for name, c in cli.commands.items() if any(p.name == "config" for p in c.params)}
SPECIAL = {
    "ordered": ["grade=low<mid<high"],
    "label": ["sex:f=women", "sex=gender", "job title=profession", 'odd:a "b"=x\\y'],
    "favourable": ["hired=yes", "income=>50K"],
    "reference": ["sex=m"],
    "metric": ["NMI", "sex=DIFF"],
    "json": "-",
}


def options_of(command: click.Command) -> list[click.Option]:
    left_out = ("config", "save_config", "traceback")
    return [p for p in command.params if isinstance(p, click.Option) and p.name not in left_out]


def sample(option: click.Option) -> Any:
    """Return a value that is not the default."""
    if option.is_flag:
        return True
    if option.name in SPECIAL:
        return SPECIAL[option.name]
    if option.multiple:
        return ["one", 'with "quotes"', "né\tz"]
    if isinstance(option.type, click.types.IntParamType):
        return 17
    return 0.37 if isinstance(option.type, click.types.FloatParamType) else f"some {option.name}"


def words(option: click.Option, value: Any) -> list[str]:
    if option.is_flag:
        return [option.opts[0]]
    values = value if option.multiple else [value]
    return [word for v in values for word in (option.opts[0], str(v))]


def parsed(command: click.Command, name: str, arguments: list[str]) -> click.Context:
    with click.Context(cli, info_name="fairtest") as root:
        return command.make_context(name, arguments, parent=root)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_survives_being_saved(name: str, here: Path, run: Any) -> None:
    command = COMMANDS[name]
    given = [word for option in options_of(command) for word in words(option, sample(option))]
    before = parsed(command, name, ["people.csv", *given])
    for option in options_of(command):
        assert before.get_parameter_source(str(option.name)) is ParameterSource.COMMANDLINE
    taken = [
        w
        for o in options_of(command)
        if o.name not in {"train_only", "budget", "overall_only"}
        for w in words(o, sample(o))
    ]
    made = run(name, "people.csv", *taken, "--save-config", "audit.toml")
    assert (made.code, made.out) == (0, ""), made.err
    expected = parsed(command, name, ["people.csv", *taken])
    after = parsed(command, name, ["--config", "audit.toml"])
    for parameter in command.params:
        if parameter.expose_value and parameter.name not in NOT_SAVED:
            said, meant = after.params[parameter.name], expected.params[parameter.name]
            assert sorted(said) == sorted(meant) if parameter.name == "label" else said == meant, parameter.name


def test_what_is_saved_speaks_of_the_audit_alone(here: Path, run: Any) -> None:
    pairs = ("--favourable", "hired=yes", "--reference", "sex=m", "--metric", "NMI")
    run("test", "people.csv", "-p", "sex", "-o", "hired", *pairs, "--quiet", "--verbose", "--save-config", "audit.toml")
    text = Path("audit.toml").read_text("utf-8")
    assert 'favourable = {hired = "yes"}\nreference = {sex = "m"}\n' in text
    assert 'metric = ["NMI"]' in text  # holds for all, so it is no table
    assert "quiet" not in text
    assert "verbose" not in text


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_may_stand_in_the_file(name: str, here: Path) -> None:
    command = COMMANDS[name]
    for option in options_of(command):
        value = sample(option)
        Path("one.toml").write_text(f"[{name}]\n{option.name.replace('_', '-')} = {json.dumps(value)}\n", "utf-8")
        required = [w for o in options_of(command) if o.required and o is not option for w in words(o, sample(o))]
        params = parsed(command, name, ["people.csv", "--config", "one.toml", *required]).params
        assert params[option.name] == (tuple(value) if option.multiple else value)


TEST = """
[data]
file = "people.csv"
favourable = { hired = "yes" }

[test]
protected = "sex"
output = "hired"
contextual = ["region"]
max-depth = 2
json = "-"

[labels]
region = "part of the country"

[labels.sex]
f = "women"
m = "men"
"""


def test_an_audit_from_a_file_is_that_of_the_command_line(here: Path, run: Any) -> None:
    Path("audit.toml").write_text(TEST, "utf-8")
    words = ["--label", "region=part of the country", "--label", "sex:f=women", "--label", "sex:m=men"]
    plain = ["-p", "sex", "-o", "hired", "-x", "region", "--favourable", "hired=yes", *words, "--max-depth", "2"]
    by_file, by_hand = run("test", "--config", "audit.toml"), run("test", "people.csv", *plain, "--json", "-")
    assert (by_file.code, by_hand.code) == (0, 0), by_file.err
    assert by_file.err == "Options from audit.toml\n"
    assert by_file.out == by_hand.out  # the command that repeats it included
    assert "of women" in by_file.out


def test_the_usual_file_is_found_and_named(here: Path, run: Any) -> None:
    Path("fairtest.toml").write_text(TEST, "utf-8")
    found = run("test")
    assert (found.code, found.err) == (0, "Options from fairtest.toml\n")
    assert run("test", "--quiet").err == ""
    assert "Missing" in run("test", "--config", "").err


def test_the_command_line_wins(here: Path, run: Any) -> None:
    Path("fairtest.toml").write_text(TEST, "utf-8")
    made = json.loads(run("test", "--max-depth", 1, "-p", "race").out)
    assert made["settings"]["max_depth"] == 1
    assert [p["name"] for p in made["investigations"][0]["protected"]] == ["race"]


def test_paths_are_relative_to_the_file(here: Path, run: Any) -> None:
    Path("sub").mkdir()
    Path("sub/audit.toml").write_text(
        TEST.replace('"people.csv"', '"../people.csv"').replace('"-"', '"r.json"'), "utf-8"
    )
    made = run("test", "--config", "sub/audit.toml")
    assert made.code == 0, made.err
    assert Path("sub/r.json").exists()


def test_what_is_saved_elsewhere_points_back(here: Path, run: Any) -> None:
    Path("sub").mkdir()
    asked = ("test", "people.csv", "-p", "sex", "-o", "hired", "--html", "r.html", "--save-config", "sub/audit.toml")
    assert run(*asked).err == "Written: sub/audit.toml. To run it: fairtest test --config sub/audit.toml\n"
    text = Path("sub/audit.toml").read_text("utf-8")
    assert 'file = "../people.csv"' in text
    assert 'html = "../r.html"' in text
    assert run("test", "--config", "sub/audit.toml").code == 0
    assert Path("r.html").exists()


@pytest.mark.parametrize(
    ("text", "mentions"),
    [
        ("[test]\nmax-dept = 3", ["key of [test] 'max-dept'", "'max-depth'"]),
        ("[tset]\nseed = 3", ["section 'tset'", "'test'"]),
        ("[data]\nprotected = ['sex']", ["key of [data] 'protected'"]),
        ("seed = 3", ["'seed' stands before any section", "[test]"]),
        ("test = 3", ["'test' stands before any section"]),
        ("[test]\nquiet = 1", ["quiet must be true or false"]),
        ("[test]\noutput = ['a', 'b']", ["output cannot be"]),
        ("[test]\noutput = {a = 'b'}", ["output cannot be a table"]),
        ("[test]\nconf = true", ["conf cannot be True"]),
        ("[test]\nprotected='sex'\noutput='hired'\nmax-depth = 'deep'", ["--max-depth", "'deep'"]),
        ("[data]\nordered = {grade = ['<1', '2']}", ["'<'"]),
        ("[test\nseed", ["not TOML", "line 1"]),
        ("[labels]\nsex = 3\n[test]\nprotected = 'sex'\noutput='hired'", []),
    ],
)
def test_mistakes_are_one_line(text: str, mentions: list[str], here: Path, run: Any) -> None:
    Path("audit.toml").write_text(text, "utf-8")
    made = run("test", "people.csv", "--config", "audit.toml")
    if not mentions:
        assert made.code == 0, made.err
        return
    assert (made.code, made.out, made.err.count("\n")) == (2, "", 1)
    for mention in mentions:
        assert mention in made.err


@pytest.mark.parametrize("file", ["nowhere.toml", "."])
def test_a_file_that_cannot_be_read(file: str, here: Path, run: Any) -> None:
    made = run("test", "people.csv", "--config", file)
    assert (made.code, made.err.count("\n")) == (2, 1)
    assert "cannot be read" in made.err


def test_a_file_in_another_encoding(here: Path, run: Any) -> None:
    Path("audit.toml").write_bytes("[test]\noutput = 'é'".encode("latin-1"))
    assert "UTF-8" in run("test", "people.csv", "--config", "audit.toml").err
