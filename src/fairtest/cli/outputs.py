"""Where a report goes: checked before the work starts, written when it is done."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass, fields
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING

import click

import fairtest as ft

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fairtest.workspace.showing import AsShown

STDOUT = "-"
FORMS = ("json", "html", "text", "csv", "markdown")
"""What a report can be written as: an option and a method of the report for each."""


@dataclass(frozen=True)
class Outputs:
    """The files and the folders a report is to be written to; ``-`` stands for stdout, in place of the text."""

    out: str | None = None
    json: str | None = None
    html: str | None = None
    text: str | None = None
    csv: str | None = None
    markdown: str | None = None
    figures: str | None = None

    @property
    def _files(self) -> dict[str, str]:
        given = {f"--{form}": getattr(self, form) for form in FORMS}
        return {option: path for option, path in given.items() if path is not None}

    @property
    def _folders(self) -> dict[str, str]:
        given = {"--out": self.out, "--figures": self.figures}
        return {option: path for option, path in given.items() if path is not None}

    def __bool__(self) -> bool:
        return bool(self._files or self._folders)

    def check(self, data: str) -> None:
        """Raise if something cannot be written, or would replace the data, before any work is done."""
        seen: dict[Path | str, str] = {}
        for option, path in self._files.items():
            if path != STDOUT and Path(path).exists() and Path(data).exists() and Path(path).samefile(data):
                raise ft.InputError(f"{option} {path!r} is the data itself, which would be lost. Name another file.")
            place = STDOUT if path == STDOUT else Path(path).resolve()
            if place in seen:
                raise ft.InputError(f"{seen[place]} and {option} cannot both write to {path!r}. Name two files.")
            seen[place] = option
            if path != STDOUT:
                _check_file(option, Path(path))
        for option, path in self._folders.items():
            check_folder(option, Path(path))

    def write(self, report: ft.Report | AsShown, prefix: str = "") -> Iterator[str]:
        """Write the report everywhere, show it on stdout, and yield the paths written.

        ``prefix`` tells the files of several reports in one folder apart.
        """
        if self.out is not None:
            from fairtest.reporting.formats.files import save  # only when there is something to save

            yield from map(str, save(report, self.out, prefix + _stem(report)))
        if self.figures is not None:
            yield from map(str, report.save_figures(self.figures))
        forms: dict[str, Callable[[], str]] = {f"--{form}": getattr(report, f"to_{form}") for form in FORMS}
        for option, path in self._files.items():
            if path != STDOUT:
                _write(path, forms[option]())
                yield path
        shown = next((option for option, path in self._files.items() if path == STDOUT), None)
        click.echo(forms[shown]() if shown else report.to_text(width=text_width(), color=text_color()), nl=False)


def _stem(report: ft.Report | AsShown) -> str:
    """Return the name of the files in the folder, safe whatever the output is called."""
    return re.sub(r"[^\w.-]+", "_", f"{report.kind}-{report.output}")[:80]


def _write(path: str, text: str) -> None:
    from fairtest.reporting.formats.files import write_atomically

    write_atomically(path, text)


def _check_file(option: str, path: Path) -> None:
    if path.is_dir():
        raise ft.InputError(f"{option} {str(path)!r}: it is a folder. Give the name of a file.")
    if path.exists() and not path.is_file():
        raise ft.InputError(f"{option} {str(path)!r}: it is not an ordinary file. Give another name; '-' is stdout.")
    if not path.parent.is_dir():
        raise ft.InputError(f"{option} {str(path)!r}: there is no folder {str(path.parent)!r}. Make it first.")
    _check_writable(option, path, path.parent)


def check_folder(option: str, path: Path) -> None:
    """Raise if a folder can neither be written to nor be made."""
    standing = next(place for place in (path, *path.absolute().parents) if place.exists())
    if not standing.is_dir():
        raise ft.InputError(f"{option} {str(path)!r}: {str(standing)!r} is not a folder. Name another.")
    _check_writable(option, path, standing)


def _check_writable(option: str, path: Path, folder: Path) -> None:
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ft.InputError(f"{option} {str(path)!r}: the folder {str(folder)!r} cannot be written to. Name another.")


def text_width() -> int:
    """Return the width for text on stdout: the terminal's, at most 120; 100 elsewhere."""
    return min(get_terminal_size().columns, 120) if sys.stdout.isatty() else 100


def text_color() -> bool:
    """Whether text on stdout has colours: on a terminal that can show them, unless ``NO_COLOR`` is set."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


OUTPUTS = tuple(field.name for field in fields(Outputs))
"""The options that say where a report goes."""
