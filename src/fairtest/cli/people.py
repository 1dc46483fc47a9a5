"""The people that a command is about: a file, or a workspace that keeps what was asked of them."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

import fairtest as ft
from fairtest.cli.errors import WORKSPACE
from fairtest.cli.options import DIVIDING
from fairtest.cli.repeat import ASKED_ALREADY, command_to_repeat, command_without, given_parameters

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fairtest.investigations.base import Investigation
    from fairtest.progress import StageProgress
    from fairtest.workspace.ledger import Run
    from fairtest.workspace.showing import EarlierReport

SUFFIX = ".fairtest"
COMPRESSED = {".gz", ".zst"}
SETTLED = ("workspace", *DIVIDING)
"""Options that need not be repeated once there is a workspace."""
FIXED = (*DIVIDING, "person", "weights", "counts", "missing", "delimiter", "encoding", "decimal")
"""Options that a workspace has settled: given again, they must agree."""


class People:
    """Reads the data of a command, and finds or makes the workspace that it belongs to.

    A workspace is used where the command names one, as its DATA or with ``--workspace``, or where there is one beside
    the file. It is made where ``--workspace`` names a new folder, and beside the file for a budget above 1; not before
    :meth:`prepare_workspace`, so that a mistake leaves nothing behind.
    """

    def __init__(self, ctx: click.Context, data: str, options: dict[str, Any]) -> None:
        self._ctx = ctx
        self._data = data
        self._options = options
        self._folder = self._find_folder()
        self._workspace: ft.Workspace | None = None
        self._source: ft.DataSource
        self._source_options: Mapping[str, Any] = {}

    def find_answer(self) -> list[ft.Report | EarlierReport] | None:
        """Return the stored reports of the same question, if this workspace has answered it: that is free."""
        if (
            self._folder is None
            or not is_workspace(self._folder)
            or self._options["again"]
            or self._options["train_only"]
        ):
            return None
        workspace = ft.Workspace(self._folder, None if is_workspace(Path(self._data)) else self._data)
        run = self._find_run(workspace, self._folder.name)
        if run is None:
            return None
        self._say(ASKED_ALREADY.format(run.number))
        return workspace.read_reports(run.number)

    def _find_run(self, workspace: ft.Workspace, folder: str) -> Run | None:
        """Return the last run of the same question, whether or not both commands say what the workspace settled."""
        names = {Path(self._data).name, workspace.setup.name, folder}
        asked = {command_to_repeat(self._ctx, name) for name in names}
        given = {str(parameter.name): value for parameter, value in given_parameters(self._ctx)}
        agrees = all(given[name] == getattr(workspace.setup, name) for name in DIVIDING if name in given)
        without = {command_without(command, SETTLED) for command in asked} if agrees else set()
        for run in reversed(workspace.runs):
            typed = run.command.startswith(self._ctx.command_path)  # and not a program
            if run.reports and typed and (run.command in asked or command_without(run.command, SETTLED) in without):
                return run
        return None

    def read(self, source_options: Mapping[str, Any], progress: StageProgress | None = None) -> ft.DataSource:
        """Return the source, in a workspace if there is one."""
        from fairtest.data.registry import leave_warning_to_caller  # loads the library

        self._source_options = source_options
        if self._folder is not None and is_workspace(self._folder):
            self._source = self._read_in_workspace(self._folder, source_options)
        else:
            with leave_warning_to_caller():
                self._say_if_large(source_options)
                self._source = ft.DataSource(self._data, progress=progress, **source_options)
            warn_if_audited(self._source.table.n_rows, lambda: self._source.fingerprint, question=self._question)
            self._note_what_was_shown_before()
        return self._source

    def _say_if_large(self, options: Mapping[str, Any]) -> None:
        """Say that a file is not read into memory, where FairTest decides so itself."""
        from fairtest.data.source import AUTO, MEMORY, choose_engine

        if options.get("engine", AUTO) == AUTO:
            memory = options.get("memory")
            if choose_engine(self._data, memory, options.get("counts")) == "disk":
                self._say(
                    f"{Path(self._data).name} is large: it is read in blocks and counted on disk, with about "
                    f"{memory or MEMORY} of memory. (--engine memory reads it at once.)"
                )

    def note_shown(self) -> None:
        """Note that what training proposes is shown; a workspace has noted it itself."""
        from fairtest.data.registry import note_shown  # loads the library

        if self._workspace is None:
            note_shown(self._source.fingerprint, self._source.table.n_rows)

    def _note_what_was_shown_before(self) -> None:
        """Let the source know if anything was shown of these people, unless this question was there before that."""
        from fairtest.data.registry import known_size, was_named, was_shown  # loads the library

        source = self._source
        if not known_size(source.table.n_rows) or not was_shown(source.fingerprint):
            return
        if not was_named(source.fingerprint, self._question()):
            source.budget.mark_shown()

    @property
    def preset(self) -> str | None:
        """The preset of the workspace, which is fixed there, or of the command."""
        preset: str | None = self._options["preset"]
        return preset if self._workspace is None else self._workspace.setup.preset

    def prepare_workspace(self) -> None:
        """Make the workspace if there should be one and there is none yet; from here on a test set may be spent."""
        if self._folder is None:
            return
        if self._workspace is None:
            self._workspace = ft.Workspace.create_from_source(
                self._folder, self._source, self._data, self._source_options
            )
            self._say(f"Made the workspace {self._folder}, with a budget of {self._workspace.budget}.")
        use_workspace(self._ctx, self._workspace, Path(self._data).name)

    def report(self, investigation: Investigation) -> ft.Report:
        """Return what to show: from the store of the workspace, once it is there."""
        from fairtest.data.registry import note  # loads the library
        from fairtest.workspace.budget import now

        if self._workspace is not None:
            return self._workspace.report(investigation.require_results("report").test.number)
        # without a workspace, a registry alone knows that these people were audited, and by which question
        people = self._source.fingerprint, self._source.table.n_rows
        note(*people, now(), question=self._question(), named=investigation.named)
        report = ft.report([investigation])[0]
        return replace(report, repeat=command_to_repeat(self._ctx, report.data.name))

    def _find_folder(self) -> Path | None:
        data, given = Path(self._data), self._options["workspace"]
        if is_workspace(data):
            if given is not None and Path(given).resolve() != data.resolve():
                raise ft.InputError(f"{self._data!r} is a workspace itself, and not {given!r}. Name one of the two.")
            return data
        if given is not None:
            return Path(given)
        near = usual_workspace(data)
        return near if is_workspace(near) or self._options["budget"] > 1 else None

    def _read_in_workspace(self, folder: Path, source_options: Mapping[str, Any]) -> ft.DataSource:
        from fairtest.workspace.declarations import DECLARATIONS

        whole = is_workspace(Path(self._data))
        workspace = ft.Workspace(folder, None if whole else self._data)
        given = {parameter.name for parameter, _ in given_parameters(self._ctx)}
        for name in FIXED:
            if name in given:
                value = source_options[name]
                value = list(value) if isinstance(value, tuple) else value  # as JSON stores it
                workspace.check_agrees(name, value, f"--{name.replace('_', '-')}")
        if self._options["workspace"] is None and not whole:
            self._say(f"Using the workspace {folder} beside the data: {workspace.left} of {workspace.budget} left.")
        if not self._options["train_only"]:
            workspace.check()
        warn_if_audited(workspace.setup.rows, lambda: workspace.setup.fingerprint, besides=workspace.setup.id)
        self._workspace = workspace
        return workspace.source_for(**{name: source_options.get(name) for name in DECLARATIONS})

    def _question(self) -> str:
        """Return a digest of what is asked and of whom, row by row: the same gives the same report, byte for byte."""
        from hashlib import blake2b

        from fairtest.data.fingerprint import fingerprint_in_order

        options = command_to_repeat(self._ctx, "")
        question = "\n".join((ft.__version__, fingerprint_in_order(self._source.table), options))
        return blake2b(question.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()

    def _say(self, text: str) -> None:
        if not self._options["quiet"]:
            click.echo(text, err=True)


def read_stdin(ctx: click.Context, data: str) -> str:
    """Return the data; ``-`` is a CSV from stdin, which is put into a file for as long as the command runs."""
    if data != "-":
        return data
    path = Path(ctx.with_resource(TemporaryDirectory(prefix="fairtest-"))) / "stdin.csv"
    with path.open("wb") as file:
        copyfileobj(sys.stdin.buffer, file)
    return str(path)


def is_workspace(path: Path) -> bool:
    """Whether a path is the folder of a workspace."""
    from fairtest.workspace import sqlite  # slow to load, and help does without

    return sqlite.is_workspace(path)


def find_workspace(path: str) -> str:
    """Return the workspace that a path names: itself, or the one beside a file of data."""
    near = usual_workspace(Path(path))
    return str(near) if not is_workspace(Path(path)) and is_workspace(near) else path


def usual_workspace(data: Path) -> Path:
    """Return where the workspace of a file is, unless the user says otherwise.

    Examples
    --------
    >>> usual_workspace(Path("audits/people.csv.gz")).as_posix()
    'audits/people.fairtest'
    """
    data = data if data.name else data.resolve()  # "." has no name
    stem = Path(data.stem) if data.suffix in COMPRESSED else data
    return data.with_name(f"{stem.stem}{SUFFIX}")


def use_workspace(ctx: click.Context, workspace: ft.Workspace, name: str) -> None:
    """Let a workspace store what a command answers; the user is told when that has to wait, or is interrupted.

    ``name`` is that of the data or the workspace in the command that is kept with the report.
    """
    ctx.meta[WORKSPACE] = workspace
    workspace.caller.command = command_to_repeat(ctx, name)
    workspace.caller.waiting = lambda words: click.echo(f"fairtest: {words} …", err=True)


def warn_if_audited(
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
        audits = "; ".join(map(str, known))
        click.echo(
            f"fairtest: warning: these people have been audited before: {audits}. Unless this asks the same again, "
            "chance findings are likelier than --conf says; a workspace with a budget keeps count (fairtest init). "
            "FAIRTEST_REGISTRY=off turns this off.",
            err=True,
        )
