"""The page on the command line, made from the commands: ``python -m docs.manual > docs/commands.md``.

Sphinx has an extension for that (sphinx-click). It does not know our sections of options, and the page could be read
on the website only.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

import click

from fairtest.cli.errors import EXITS
from fairtest.cli.helping import epilog_parts, section_of

if TYPE_CHECKING:
    from collections.abc import Iterator

START = """# Commands

Every command and option. `fairtest COMMAND -h` shows the most important ones, `--help` all of them."""

CONFIGURATION = """## The configuration file

Every option can stand in a file, so that an audit can be reviewed, kept beside the data and run again: `--config FILE`,
or a `fairtest.toml` in the current folder, which is used without being named (a line on stderr says so). What the
command line says wins. Keys are the long names of options; paths are relative to the file; `--save-config FILE` writes
one from the options given.

```toml
[data]                       # for all commands: the file, its columns, words
file = "adult.csv"
missing = ["?"]
favourable = { income = ">50K" }
people = "adults"
outcome = "earn more than 50K"

[test]                       # a section for each command
protected = ["sex", "race"]
output = "income"
max-depth = 3

[labels]                     # what columns are called …
hours_per_week = "weekly hours"

[labels.sex]                 # … and the people with a value
Female = "women"
Male = "men"
```"""


def manual(group: click.Group) -> str:
    """Return the whole page as Markdown."""
    parts = [START, _exit_codes()]
    parts += [
        "\n\n".join(_command(name, command)) for name, command in group.commands.items()
    ]
    return "\n\n".join([*parts, CONFIGURATION]) + "\n"


def _exit_codes() -> str:
    rows = "\n".join(f"| {code} | {meaning} |" for code, meaning in EXITS.items())
    return f"## Exit codes\n\n| code | meaning |\n|---|---|\n{rows}"


def _command(name: str, command: click.Command) -> Iterator[str]:
    yield f"## fairtest {name}"
    for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
        is_list = paragraph.startswith("\b\n")
        yield _as_typed(paragraph[2:]) if is_list else " ".join(paragraph.split())
    parameters = [
        p.make_metavar(click.Context(command))
        for p in command.params
        if isinstance(p, click.Argument)
    ]
    yield _as_typed(" ".join(["fairtest", name, "[OPTIONS]", *parameters]))
    for title, text in epilog_parts(command.epilog or ""):
        if title:
            yield f"{title}:\n\n{_as_typed(inspect.cleandoc(text))}"
        else:
            yield " ".join(text.split())
    sections: dict[str, list[str]] = {}
    for option in (p for p in command.params if isinstance(p, click.Option)):
        sections.setdefault(section_of(option), []).append(_option(option))
    for section, lines in sections.items():
        yield f"### {section} ({name})\n\n" + "\n".join(lines)


def _as_typed(text: str) -> str:
    return f"```text\n{text}\n```"


def _option(option: click.Option) -> str:
    names = ", ".join(f"`{name}`" for name in option.opts)
    value = "" if option.is_flag else f" `{option.metavar or option.type.name.upper()}`"
    default = f" Default: {option.default}." if option.show_default else ""
    needed = " Required." if option.required else ""
    return f"- {names}{value}: {option.help}{default}{needed}"


if __name__ == "__main__":
    from fairtest.cli.main import cli

    click.echo(manual(cli), nl=False)
