"""Where a report goes: checked before the work starts, written when it is done."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

import click

import fairtest as ft
from fairtest.cli.errors import FOUND
from fairtest.reporting.formats.registry import FILES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fairtest.workspace.showing import EarlierReport

STDOUT = "-"
FORMS = tuple(form.name for form in FILES)
"""What a report can be written as: an option for each."""
OUTPUTS = ("out", *FORMS, "figures")
"""The options that say where a report goes."""


@dataclass(frozen=True)
class Outputs:
    """The files and the folders a report is to be written to, by option; ``-`` is stdout, in place of the text.

    ``full`` is whether the terminal shows everything, and not only what fits a screen.
    """

    files: Mapping[str, str]
    folders: Mapping[str, str]
    full: bool = False

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Outputs:
        """Return what the options of a command name."""
        given = {name: options[name] for name in OUTPUTS if options[name] is not None}
        return cls(
            {name: path for name, path in given.items() if name in FORMS},
            {name: path for name, path in given.items() if name not in FORMS},
            full=bool(options.get("full")),
        )

    def __bool__(self) -> bool:
        return bool(self.files or self.folders)

    def check(self, data: str) -> None:
        """Raise if something cannot be written, or would replace the data, before any work is done."""
        seen: dict[Path | str, str] = {}
        for name, path in self.files.items():
            option = f"--{name}"
            if path != STDOUT and Path(path).exists() and Path(data).exists() and Path(path).samefile(data):
                raise ft.InputError(f"{option} {path!r} is the data itself, which would be lost. Name another file.")
            target = STDOUT if path == STDOUT else Path(path).resolve()
            if target in seen:
                raise ft.InputError(f"{seen[target]} and {option} cannot both write to {path!r}. Name two files.")
            seen[target] = option
            if path != STDOUT:
                _check_file(option, Path(path))
        for name, path in self.folders.items():
            check_folder(f"--{name}", Path(path))

    def write(self, report: ft.Report | EarlierReport, prefix: str = "") -> Iterator[str]:
        """Write the report everywhere, show it on stdout, and yield the paths written.

        ``prefix`` tells the files of several reports in one folder apart.
        """
        from fairtest.reporting.formats.files import save, write_atomically  # loads what the checks do without

        if "out" in self.folders:
            yield from map(str, save(report, self.folders["out"], prefix + _stem(report)))
        if "figures" in self.folders:
            yield from map(str, report.render("figure files", out_dir=self.folders["figures"]))
        for form, path in self.files.items():
            if path != STDOUT:
                write_atomically(path, report.render(form))
                yield path
        shown = next((form for form, path in self.files.items() if path == STDOUT), "")
        if shown:
            click.echo(report.render(shown), nl=False)
            return
        looks: dict[str, Any] = {"width": text_width(), "color": text_color()}
        if not self.full:
            looks["full"] = self._complete()
        click.echo(report.render("text" if self.full else "screen", **looks), nl=False)

    def _complete(self) -> str:
        """Return a file that holds the whole report, if one is written."""
        files = [self.files[form] for form in ("html", "text") if form in self.files]
        return (files or [self.folders[name] for name in ("out",) if name in self.folders] or [""])[0]

    def show(self, ctx: click.Context, report: ft.Report | EarlierReport, prefix: str = "") -> None:
        """Write the report, say where it went, and exit as the command wants it if there are findings."""
        for path in self.write(report, prefix):
            if not ctx.params["quiet"]:
                click.echo(f"Written: {path}", err=True)
        size = ctx.params.get("fail_on_findings")
        if size is not None and isinstance(report, ft.Report) and is_beyond(report, size):
            ctx.exit(FOUND)


def is_beyond(report: ft.Report, size: float) -> bool:
    """Whether something is reported whose effect is beyond a size; of several groups, the largest confirmed gap."""
    if size <= 0:
        return bool(report.reported or report.strata_shown)
    for finding in (*report.populations, *report.findings):
        gaps = [abs(gap.gap or 0.0) for comparison in finding.comparisons for gap in comparison.confirmed]
        effect = max(gaps, default=abs(finding.effect or 0.0))
        if finding.significant and effect > size:
            return True
    return False


def _stem(report: ft.Report | EarlierReport) -> str:
    """Return the name of the files in the folder, safe whatever the output is called."""
    return re.sub(r"[^\w.-]+", "_", f"{report.kind}-{report.output}")[:80]


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
    standing = next(folder for folder in (path, *path.absolute().parents) if folder.exists())
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
