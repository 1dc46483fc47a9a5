"""The people that a command is about: a file, or a workspace that keeps what was asked of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

import fairtest as ft
from fairtest.cli.errors import uses_workspace
from fairtest.cli.repeat import repeated

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from fairtest.investigations.base import Investigation

SUFFIX = ".fairtest"
COMPRESSED = {".gz", ".zst"}
FIXED = ("seed", "budget", "conf", "train_size", "preset", "missing", "delimiter", "encoding", "decimal")
"""Options that a workspace has settled: given again, they must agree."""


class People:
    """Reads the data of a command, and finds or makes the workspace that it belongs to.

    A workspace is used where the command names one, as its DATA or with ``--workspace``, or where there is one beside
    the file. It is made where ``--workspace`` names a new folder, and beside the file for a budget above 1; not before
    :meth:`settle`, so that a mistake leaves nothing behind.

    Parameters
    ----------
    not_repeated
        Options that say nothing about the question, to be left out of the command that is kept with the report.
    """

    def __init__(
        self, ctx: click.Context, data: str, options: dict[str, Any], not_repeated: Collection[str] = ()
    ) -> None:
        self._ctx = ctx
        self._data = data
        self._options = options
        self._not_repeated = not_repeated
        self._place = self._find_place()
        self._workspace: ft.Workspace | None = None
        self._source: ft.DataSource
        self._source_options: Mapping[str, Any] = {}

    def read(self, source_options: Mapping[str, Any]) -> ft.DataSource:
        """Return the source, in a workspace if there is one."""
        from fairtest.data.registry import said_elsewhere  # loads the library

        self._source_options = source_options
        if self._place is not None and is_workspace(self._place):
            self._source = self._in_workspace(self._place, source_options)
        else:
            with said_elsewhere():
                self._source = ft.DataSource(self._data, **source_options)
            say_known(self._source.table.n_rows, lambda: self._source.fingerprint, question=self._question)
        return self._source

    def settle(self) -> None:
        """Make the workspace if there should be one and there is none yet; from here on a test set may be spent."""
        if self._place is None:
            return
        if self._workspace is None:
            self._workspace = ft.Workspace.founded(self._place, self._source, self._data, self._source_options)
            self._say(f"Made the workspace {self._place}, with a budget of {self._workspace.budget}.")
        self._workspace.caller.command = self._command(Path(self._data).name)
        wait_aloud(self._workspace)
        uses_workspace(self._ctx, self._workspace)

    def report(self, investigation: Investigation) -> ft.Report:
        """Return what to show: from the store of the workspace, once it is there."""
        if self._workspace is not None:
            return self._workspace.report(investigation.require_results("report").test.number)
        _note(self._source, self._question())
        report = ft.report([investigation])[0]
        return replace(report, repeat=self._command(report.data.name))

    def _find_place(self) -> Path | None:
        data, given = Path(self._data), self._options["workspace"]
        if is_workspace(data):
            if given is not None and Path(given).resolve() != data.resolve():
                raise ft.InputError(f"{self._data!r} is a workspace itself, and not {given!r}. Name one of the two.")
            return data
        if given is not None:
            return Path(given)
        near = beside(data)
        return near if is_workspace(near) or self._options["budget"] > 1 else None

    def _in_workspace(self, place: Path, source_options: Mapping[str, Any]) -> ft.DataSource:
        from fairtest.workspace.declarations import DECLARATIONS

        whole = is_workspace(Path(self._data))
        workspace = ft.Workspace(place, None if whole else self._data)
        for name in FIXED:
            if self._given(name):
                workspace.check_agrees(name, _as_kept(source_options[name]), f"--{name.replace('_', '-')}")
        if self._options["workspace"] is None and not whole:
            self._say(f"Using the workspace {place} beside the data: {workspace.left} of {workspace.budget} left.")
        self._options["preset"] = workspace.setup.preset
        if not self._options["train_only"]:
            workspace.check()
        say_known(workspace.setup.rows, lambda: workspace.setup.fingerprint, besides=workspace.setup.id)
        self._workspace = workspace
        return workspace.source_for(**{name: source_options.get(name) for name in DECLARATIONS})

    def _given(self, name: str) -> bool:
        """Whether the user said this, on the command line or in a file."""
        return self._ctx.get_parameter_source(name) not in (None, ParameterSource.DEFAULT)

    def _command(self, data: str) -> str:
        return repeated(self._ctx, data, self._not_repeated)

    def _question(self) -> str:
        """Return a digest of what is asked and of whom, row by row: the same gives the same report, byte for byte."""
        from hashlib import blake2b

        from fairtest.data.fingerprint import fingerprint_in_order

        options = repeated(self._ctx, "", self._not_repeated)
        asked = "\n".join((ft.__version__, fingerprint_in_order(self._source.table), options))
        return blake2b(asked.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()

    def _say(self, text: str) -> None:
        if not self._options["quiet"]:
            click.echo(text, err=True)


def is_workspace(path: Path) -> bool:
    """Whether a path is the folder of a workspace; asked before the library is loaded.

    The file is empty while another process makes it, and where making it was interrupted.
    """
    file = path / "workspace.sqlite"
    return file.is_file() and file.stat().st_size > 0


def beside(data: Path) -> Path:
    """Return where the workspace of a file is, unless the user says otherwise.

    Examples
    --------
    >>> beside(Path("audits/people.csv.gz")).as_posix()
    'audits/people.fairtest'
    """
    stem = Path(data.stem) if data.suffix in COMPRESSED else data
    return data.with_name(f"{stem.stem}{SUFFIX}")


def wait_aloud(workspace: ft.Workspace) -> None:
    """Say so when a command has to wait for other processes."""
    workspace.caller.waiting = lambda words: click.echo(f"fairtest: {words} …", err=True)


def say_known(
    rows: int,
    fingerprint: Callable[[], str],
    besides: str | None = None,
    question: Callable[[], str] | None = None,
) -> None:
    """Say that so many people with this fingerprint have been audited before, ``besides`` in one workspace.

    Nothing is said where the very same ``question`` was asked.
    """
    from fairtest.data.registry import audits_of, known_size, was_asked

    known = audits_of(fingerprint(), besides=besides) if known_size(rows) else []
    if known and not (question and was_asked(fingerprint(), question())):
        told = "; ".join(map(str, known))
        click.echo(
            f"fairtest: warning: these people have been audited before: {told}. Unless this asks the same again, "
            "chance findings are likelier than --conf says; a workspace with a budget keeps count (fairtest init). "
            "FAIRTEST_REGISTRY=off turns this off.",
            err=True,
        )


def _note(source: ft.DataSource, question: str) -> None:
    """Note that people were audited without a workspace, and by which question."""
    from fairtest.data.registry import note
    from fairtest.workspace.budget import now

    note(source.fingerprint, source.table.n_rows, now(), question=question)


def _as_kept(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
