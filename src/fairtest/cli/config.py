"""``fairtest.toml``: the options of a command in a file.

A section for each command has its options by their long names (``max-depth = 3``); ``[data]`` has the file and what is
said of its columns, for all commands; ``[labels]`` has the words for columns and groups. Paths are relative to the
file. What the command line says wins.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import fairtest as ft
from fairtest.cli.arguments import parse_labels
from fairtest.cli.helping import Option, section
from fairtest.cli.options import ROLES, SOURCE, WORDS, only
from fairtest.cli.repeat import given_parameters
from fairtest.cli.spelling import CONFIG_FILE
from fairtest.exceptions import unknown_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

USUAL = "fairtest.toml"
FILE = "file"
"""The key for the argument DATA."""
NOT_SAVED = ("save_config", "quiet", "verbose")
"""Options that say nothing of the audit."""


def config_in_use(ctx: click.Context) -> str:
    """Return the configuration file in use; empty where there is none."""
    return str(ctx.meta.get(CONFIG_FILE, ""))


def _read(ctx: click.Context, _: click.Parameter, value: str | None) -> None:
    """Take the options that a file gives as defaults."""
    if value is None:
        value = USUAL if Path(USUAL).is_file() else ""
    if not value or ctx.resilient_parsing:
        return
    path = Path(value)
    try:
        ctx.default_map = _options_in(path, ctx)
    except ft.InputError as error:
        raise ft.InputError(f"{path}: {error.message}") from error
    ctx.meta[CONFIG_FILE] = str(path)


CONFIG = section(
    "Configuration",
    Option(
        "--config FILE",
        "Read options from this TOML file; those on the command line override it. "
        f"Default: {USUAL} if there is one; '' for none.",
        essential=True,
        is_eager=True,
        expose_value=False,
        callback=_read,
    ),
    Option(
        "--save-config FILE",
        "Write the options given into such a file, and do nothing else; --config runs it.",
    ),
)


def _key(parameter: click.Parameter) -> str:
    return FILE if parameter.name == "data" else str(parameter.name).replace("_", "-")


SHARED = (FILE, *map(_key, (*SOURCE, *WORDS, *only(ROLES, "favourable", "reference"))))
"""The keys of ``[data]``: what is said of a file and its columns, whichever command is about them."""


# Reading ------------------------------------------------------------------------------------------------------------


def _options_in(path: Path, ctx: click.Context) -> dict[str, Any]:
    """Return the values that a file has for the parameters of a command."""
    own, tables = str(ctx.command.name), _parse_file(path)
    titles = [*_configurable(ctx), "data", "labels"]
    for title, content in tables.items():
        if not isinstance(content, dict):
            raise ft.InputError(f"{title!r} stands before any section. Put it under [{own}] or [data].")
        _check_known("section", title, titles)
    parameters = {_key(p): p for p in ctx.command.params if p.expose_value and p.name != "save_config"}
    found: dict[str, Any] = {}
    for title, known in (("data", SHARED), (own, parameters)):
        for written, value in tables.get(title, {}).items():
            key = written.replace("_", "-")
            _check_known(f"key of [{title}]", key, known)
            if parameter := parameters.get(key):  # [data] may have more than this command asks for
                found[str(parameter.name)] = _value(parameter, key, value, path)
    if "labels" in tables and "label" in parameters:
        found["label"] = [*found.get("label", ()), *_labels(tables["labels"])]
    return found


def _parse_file(path: Path) -> dict[str, Any]:
    import tomllib  # only where there is a file to read

    try:
        return tomllib.loads(path.read_text("utf-8-sig"))
    except tomllib.TOMLDecodeError as error:
        raise ft.InputError(f"it is not TOML: {error}.") from error
    except UnicodeDecodeError as error:
        raise ft.InputError("it is not text in UTF-8, as TOML must be.") from error
    except OSError as error:
        raise ft.InputError(f"it cannot be read: {error.strerror}. Check --config.") from error


def _configurable(ctx: click.Context) -> list[str]:
    """Return the commands that read a file of options."""
    group = ctx.find_root().command
    commands = group.commands if isinstance(group, click.Group) else {str(ctx.command.name): ctx.command}
    return [name for name, command in commands.items() if any(p.name == "config" for p in command.params)]


def _check_known(what: str, name: str, known: Iterable[str]) -> None:
    if name not in known:
        raise unknown_name(what, name, known)


def _value(parameter: click.Parameter, key: str, value: Any, path: Path) -> Any:
    """Return a value of the file as the command line would give it."""
    if getattr(parameter, "is_flag", False):
        if not isinstance(value, bool):
            raise ft.InputError(f"{key} must be true or false. Got {value!r} instead.")
        return value
    if isinstance(value, dict):
        return _pairs(parameter, key, value)
    if getattr(parameter, "multiple", False):
        return [_scalar(key, each) for each in (value if isinstance(value, list) else [value])]
    single = _scalar(key, value)
    return str(path.parent / str(single)) if _is_path(parameter, single) else single


def _is_path(parameter: click.Parameter, value: Any) -> bool:
    return value != "-" and (parameter.name == "data" or getattr(parameter, "is_path", False))


def _scalar(key: str, value: Any) -> str | int | float:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ft.InputError(
            f"{key} cannot be {value!r}. Give it a text or a number, or a list where it may be repeated."
        )
    return value


def _pairs(parameter: click.Parameter, key: str, table: Mapping[str, Any]) -> list[str]:
    """Return a table such as ``{income = ">50K"}`` as the pairs of a repeated option."""
    if "COLUMN=" not in str(parameter.metavar):
        raise ft.InputError(f"{key} cannot be a table. Give it a text or a number.")
    pairs = []
    for column, value in table.items():
        levels = [str(_scalar(key, v)) for v in (value if isinstance(value, list) else [value])]
        if len(levels) > 1 and any("<" in level for level in levels):
            raise ft.InputError(f"{key} cannot order values with '<' in them. Use Python's ordered= for those.")
        pairs.append(f"{column}={'<'.join(levels)}")
    return pairs


def _labels(table: Mapping[str, Any]) -> Iterator[str]:
    """Yield words for columns and values as the option ``--label`` takes them."""
    for column, words in table.items():
        for value, own in (words if isinstance(words, dict) else {"": words}).items():
            yield f"{column}:{value}={_scalar(column, own)}" if value else f"{column}={_scalar(column, own)}"


# Writing ------------------------------------------------------------------------------------------------------------


def config_text(ctx: click.Context, path: str) -> str:
    """Return the text of a file with the options given, for the folder that it will be in."""
    import tomlkit  # only where a file is written

    folder = Path(path).parent
    tables: dict[str, dict[str, Any]] = {"data": {}, str(ctx.command.name): {}, "labels": {}}
    for parameter, value in given_parameters(ctx, NOT_SAVED):
        key = _key(parameter)
        if key == "label":
            tables["labels"] = parse_labels(value)
        else:
            table = tables["data" if key in SHARED else str(ctx.command.name)]
            table[key] = _written(parameter, value, folder)
    data = tables["data"]
    tables["data"] = {key: data[key] for key in sorted(data, key=FILE.__ne__)}  # the file before what is said of it
    text = tomlkit.dumps({title: table for title, table in tables.items() if table})
    return f"# {ctx.command_path} --config {Path(path).name}\n\n{text}"


def _written(parameter: click.Parameter, value: Any, folder: Path) -> Any:
    """Return a value as a file in a folder has it."""
    if isinstance(value, tuple):
        return _as_table(value) if parameter.metavar == "COLUMN=VALUE" else list(value)
    if _is_path(parameter, value) and not Path(value).is_absolute():
        return os.path.relpath(value, folder)
    return value


def _as_table(pairs: tuple[str, ...]) -> Any:
    """Return pairs of ``COLUMN=VALUE`` as a table, which reads better, unless they are not all such."""
    from tomlkit import inline_table

    split = [pair.partition("=") for pair in pairs]
    table = {column: value for column, _, value in split if column and value}
    if len(table) < len(pairs):
        return list(pairs)
    written = inline_table()
    written.update(table)
    return written
