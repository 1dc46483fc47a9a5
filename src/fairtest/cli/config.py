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
from click.core import ParameterSource

import fairtest as ft
from fairtest.cli.helping import Option
from fairtest.cli.spelling import CONFIG_FILE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from fairtest.cli.toml import Value

USUAL = "fairtest.toml"
SHARED = ("Columns and files", "Words")
"""The sections of the help whose options may stand in ``[data]``; so may what is said of the values of columns."""
OF_VALUES = ("favourable", "reference")
NOT_SAVED = ("save_config", "quiet", "verbose")
"""Options that say nothing of the audit."""


def used(ctx: click.Context) -> str:
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
        ctx.default_map = _options(ctx, path)
    except ft.InputError as error:
        raise ft.InputError(f"{path}: {error.message}") from error
    ctx.meta[CONFIG_FILE] = str(path)


CONFIG = (
    Option(
        ["--config"],
        section="Configuration",
        metavar="FILE",
        is_eager=True,
        expose_value=False,
        callback=_read,
        essential=True,
        help=f"Take options from this TOML file; the command line wins. Default: {USUAL} if there is one; '' for none.",
    ),
    Option(
        ["--save-config"],
        section="Configuration",
        metavar="FILE",
        help="Write the options given into such a file, to be reviewed and run with --config; do nothing else.",
    ),
)


# Reading ------------------------------------------------------------------------------------------------------------


def _options(ctx: click.Context, path: Path) -> dict[str, Any]:
    """Return the values that a file has for the parameters of a command."""
    sections = _parsed(path)
    commands = _commands(ctx)
    for name, content in sections.items():
        if not isinstance(content, dict):
            raise ft.InputError(f"{name!r} stands before any section. Put it under [{ctx.command.name}] or [data].")
        if name not in (*commands, "data", "labels"):
            raise _unknown("section", name, [*commands, "data", "labels"])
    parameters = {p.name: p for p in ctx.command.params if p.name and p.expose_value and p.name != "save_config"}
    found: dict[str, Any] = {}
    shared = {"file", *OF_VALUES, *(n for n, p in parameters.items() if getattr(p, "section", "") in SHARED)}
    for key, value in sections.get("data", {}).items():
        name = key.replace("-", "_")
        if name not in shared:
            raise _unknown("key of [data]", key, [n.replace("_", "-") for n in sorted(shared)])
        name = "data" if name == "file" else name
        if name in parameters:
            found[name] = _value(parameters[name], key, value, path)
    own = str(ctx.command.name)
    for key, value in sections.get(own, {}).items():
        name = "data" if key == "file" else key.replace("-", "_")
        if name not in parameters:
            known = ["file" if n == "data" else n.replace("_", "-") for n in parameters]
            raise _unknown(f"key of [{own}]", key, known)
        found[name] = _value(parameters[name], key, value, path)
    if "labels" in sections and "label" in parameters:
        found["label"] = [*found.get("label", ()), *_labels(sections["labels"])]
    return found


def _parsed(path: Path) -> dict[str, Any]:
    import tomllib  # only where there is a file to read

    try:
        return tomllib.loads(path.read_text("utf-8-sig"))
    except tomllib.TOMLDecodeError as error:
        raise ft.InputError(f"it is not TOML: {error}.") from error
    except UnicodeDecodeError as error:
        raise ft.InputError("it is not text in UTF-8, as TOML must be.") from error
    except OSError as error:
        raise ft.InputError(f"it cannot be read: {error.strerror}. Check --config.") from error


def _commands(ctx: click.Context) -> list[str]:
    """Return the commands that can be configured."""
    group = ctx.find_root().command
    commands = group.commands if isinstance(group, click.Group) else {str(ctx.command.name): ctx.command}
    return [name for name, c in commands.items() if any(p.name == "config" for p in c.params)]


def _unknown(what: str, name: str, known: Sequence[str]) -> ft.InputError:
    from fairtest.exceptions import unknown_name

    return unknown_name(what, name, known)


def _value(parameter: click.Parameter, key: str, value: Any, path: Path) -> Any:
    """Return a value of the file as the command line would give it."""
    if getattr(parameter, "is_flag", False):
        if not isinstance(value, bool):
            raise ft.InputError(f"{key} must be true or false. Got {value!r} instead.")
        return value
    if isinstance(value, dict):
        return _pairs(parameter, key, value)
    if parameter.multiple if isinstance(parameter, click.Option) else False:
        several = value if isinstance(value, list) else [value]
        return [_scalar(key, each) for each in several]
    single = _scalar(key, value)
    if not (parameter.name == "data" or getattr(parameter, "is_path", False)) or single == "-":
        return single
    return str(path.parent / str(single))


def _scalar(key: str, value: Any) -> str | int | float:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ft.InputError(
            f"{key} cannot be {value!r}. Give it a text or a number, or a list where it may be repeated."
        )
    return value


def _pairs(parameter: click.Parameter, key: str, table: Mapping[str, Any]) -> list[str]:
    """Return a table such as ``{income = ">50K"}`` as the pairs of a repeated option."""
    if "COLUMN=" not in str(getattr(parameter, "metavar", "")):
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
        if isinstance(words, dict):
            yield from (
                f"{column}:{value}={_scalar(column, w)}" if value else f"{column}={w}" for value, w in words.items()
            )
        else:
            yield f"{column}={_scalar(column, words)}"


# Writing ------------------------------------------------------------------------------------------------------------


def saved(ctx: click.Context, path: str) -> str:
    """Return the text of a file with the options given, for the folder that it will be in."""
    from fairtest.cli.toml import key_text, toml_text  # only where a file is written

    folder = Path(path).parent
    data: dict[str, Value] = {}
    own: dict[str, Value] = {}
    labels: dict[str, dict[str, str]] = {}
    for parameter in ctx.command.params:
        name = parameter.name or ""
        given = ctx.get_parameter_source(name) in (ParameterSource.COMMANDLINE, ParameterSource.DEFAULT_MAP)
        if not given or not parameter.expose_value or name in NOT_SAVED:
            continue
        value = ctx.params[name]
        if name == "data":
            data["file"] = _from(folder, value)
        elif name == "label":
            labels = _nested(value)
        else:
            key, shared = name.replace("_", "-"), getattr(parameter, "section", "") in SHARED or name in OF_VALUES
            (data if shared else own)[key] = _plain(parameter, value, folder)
    tables = {f"labels.{key_text(column)}": words for column, words in labels.items()}
    text = toml_text({"data": data, str(ctx.command.name): own, **tables})
    return f"# {ctx.command_path} --config {Path(path).name}\n\n{text}"


def _plain(parameter: click.Parameter, value: Any, folder: Path) -> Value:
    if isinstance(value, tuple):
        return _as_table(parameter, value) or [str(v) for v in value]
    if getattr(parameter, "is_path", False) and value != "-":
        return _from(folder, value)
    plain: Value = value
    return plain


def _as_table(parameter: click.Parameter, pairs: Sequence[str]) -> dict[str, str]:
    """Return the pairs of ``COLUMN=VALUE`` as a table, which reads better; empty where they are not such."""
    if getattr(parameter, "metavar", "") != "COLUMN=VALUE":
        return {}
    split = [pair.partition("=") for pair in pairs]
    table = {column: value for column, _, value in split}
    return table if len(table) == len(pairs) and all(c and v for c, _, v in split) else {}


def _from(folder: Path, path: str) -> str:
    """Return a path as seen from a folder; an absolute one stays so."""
    return path if Path(path).is_absolute() else os.path.relpath(path, folder)


def _nested(labels: Sequence[str]) -> dict[str, dict[str, str]]:
    from fairtest.cli.arguments import labels_of

    return {
        column: {"": words} if isinstance(words, str) else {str(value): w for value, w in words.items()}
        for column, words in labels_of(labels).items()
    }
