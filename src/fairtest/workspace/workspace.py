"""Workspace: a folder that keeps a data source, its budget and its reports between processes."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from fairtest.data.fingerprint import fingerprint_in_order
from fairtest.data.registry import leave_warning_to_caller, was_shown
from fairtest.data.source import DataSource, warn_if_known
from fairtest.exceptions import InputError, UsageError
from fairtest.pipeline.stages import explain_answer
from fairtest.version import __version__
from fairtest.workspace.budget import Caller, LedgerBudget, now
from fairtest.workspace.codec import unpack
from fairtest.workspace.declarations import merge_declarations, split_options
from fairtest.workspace.ledger import Setup
from fairtest.workspace.questions import restore_investigation, unpack_declarations
from fairtest.workspace.showing import read_report
from fairtest.workspace.sqlite import FILE, SQLiteLedger, is_workspace
from fairtest.workspace.status import Status

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    from fairtest.model.report import Report
    from fairtest.workspace.ledger import Ledger, Run, StoredReport
    from fairtest.workspace.showing import EarlierReport

MUST_AGREE = ("budget", "conf", "train_size", "seed", "split", "preset")
"""What fixes the split and the levels: two descriptions of one workspace must have it in common."""


class Workspace:
    """A folder that keeps what a :class:`DataSource` forgets: which test sets are spent, and what they answered.

    The budget holds over any number of processes, at once or one after the other, and whatever happens to them: a test
    set is spent in the same transaction that stores its report, and nothing is shown before. Everything works on
    :attr:`source` as on any other: ``ft.Testing(workspace.source, …)``, ``ft.train``, ``ft.test``, ``ft.explain``.

    The folder also knows whether anything was shown of these people: an answer, or what training proposes. A question
    about the whole population uses the people of the training set too if it was there before that. What a process
    means to ask is known to itself alone, so that after the first answer a question from another process is put to its
    test set only, even if it is one that was asked before.

    Parameters
    ----------
    path
        The folder of a workspace; :meth:`create` makes one.
    data
        The data again, where the workspace was made from a frame (it keeps no copy) or the file has moved. It must be
        the same people in the same order: this is checked.

    Attributes
    ----------
    setup
        What the workspace is about: the data, its fingerprint, the settings of the split.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> people = {"sex": ["f", "m"] * 200, "hired": [0, 1, 1, 1] * 100, "city": ["A", "B", "B", "C", "C"] * 80}
    >>> with TemporaryDirectory() as folder:
    ...     workspace = Workspace.create(f"{folder}/hiring", people, budget=2)
    ...     import fairtest
    ...     report = fairtest.audit(workspace.source, "sex", "hired")
    ...     later = Workspace(f"{folder}/hiring")
    ...     later.left, later.report().to_json() == report.to_json()
    (1, True)
    """

    def __init__(self, path: str | PathLike[str], data: Any = None) -> None:
        self.path = Path(path)
        self.ledger: Ledger = SQLiteLedger.open(self.path)
        self.setup: Setup = self.ledger.setup()
        self.caller = Caller()
        self._data = data

    @classmethod
    def create(
        cls,
        path: str | PathLike[str],
        data: Any,
        budget: int = 1,
        conf: float = 0.95,
        train_size: float | None = None,
        seed: int = 0,
        **options: Any,
    ) -> Self:
        """Make a workspace for some data; the arguments are those of :class:`DataSource`.

        Of a file the path is kept, of a frame nothing: give it again to :class:`Workspace`.
        """
        folder = Path(path)
        check_new(folder)
        with leave_warning_to_caller():
            source = DataSource(data, budget, conf, train_size, seed, **options)
        warn_if_known(source.fingerprint)
        if was_shown(source.fingerprint):
            source.budget.mark_shown()
        return cls.create_from_source(folder, source, data, options)

    @classmethod
    def create_from_source(cls, folder: Path, source: DataSource, data: Any, options: Mapping[str, Any]) -> Self:
        """Make a workspace of a source that has been read with these options, and put the source's budget under it.

        If another process has made it in the meantime it is joined, provided that it is about the same.
        """
        setup = _setup_of(folder, source, data, options)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            why = "it is a file" if folder.exists() else str(error.strerror).lower()
            raise InputError(f"Cannot make the workspace {str(folder)!r}: {why}. Name another folder.") from None
        SQLiteLedger.create(folder, setup)
        made = cls(folder, data)
        for name in MUST_AGREE:
            made.check_agrees(name, getattr(setup, name))
        made._check_people(source, setup.declared)
        if source.budget.shown:
            made.ledger.mark_shown(now(), "")
        source.budget = made._budget(setup.declared)
        made.__dict__["source"] = source
        return made

    @cached_property
    def source(self) -> DataSource:
        """The people, with the split and the budget of the workspace. Reads the data."""
        return self.source_for()

    def source_for(self, **declared: Any) -> DataSource:
        """Return the source with more said about its columns than when the workspace was made.

        ``categorical``, ``numeric``, ``ordered``, ``favourable`` and ``reference`` are as for :class:`DataSource`;
        they do not change who is in which set.
        """
        return self._source(merge_declarations(self.setup.declared, declared))

    def _source(self, declared: Mapping[str, Any]) -> DataSource:
        made: DataSource | None = self.__dict__.get("source")
        if made is not None and declared == self.setup.declared:
            return made
        source = self._read_source(declared)
        self._check_people(source, declared)
        source.budget = self._budget(declared)
        return source

    @property
    def budget(self) -> int:
        """The number of test sets."""
        return self.setup.budget

    @property
    def left(self) -> int:
        """How many test sets have not been spent."""
        return self.setup.budget - len(self.ledger.spent_sets())

    @property
    def runs(self) -> tuple[Run, ...]:
        """What has been asked, in the order in which it was answered; each is named by the number of its test set."""
        return self.ledger.runs()

    def last_stored_run(self) -> int | None:
        """Return the run that this object has stored last; None if it has drawn no test set, or not spent it."""
        drawn = self.caller.drawn
        return next((run.number for run in self.runs if (run.number, run.started) == drawn), None)

    def status(self) -> Status:
        """Return the data, the budget and past runs; prints as text. Does not read the data."""
        return Status(str(self.path), self.setup, self.runs, self.ledger.was_shown())

    def report(self, run: int | None = None, place: int = 1) -> Report:
        """Return a report again, as it was: free.

        Parameters
        ----------
        run
            The number of the test set. Default: the last run.
        place
            Which report, where several investigations were tested together.
        """
        stored = self._pick_report(self.ledger.reports(self._find_run(run).number), place)
        report: Report = unpack(stored.document)
        return report

    def read_reports(self, run: int | None = None) -> list[Report | EarlierReport]:
        """Return the reports of a run, to be shown exactly as they were. Default: the last run."""
        found = self._find_run(run)
        return [read_report(stored, found.version) for stored in self.ledger.reports(found.number)]

    def explain(
        self, by: str | Sequence[str], *, run: int | None = None, place: int = 1, correction: str | None = None
    ) -> Report:
        """Ask again, on the next test set: does what a run found remain among people who share the values of ``by``?

        The same as :func:`fairtest.explain` on the investigation of that run, whichever process that was.

        Parameters
        ----------
        by
            The explanatory attribute, or several (crossed).
        run, place
            The number of a run, and which of its investigations. Default: the last run that explains no other.
        """
        found = self._find_run(run, explained=run is not None)
        stored = self._pick_report(self.ledger.reports(found.number), place)
        self.check()
        source = self._source(merge_declarations({}, unpack_declarations(stored.question)))
        investigation = restore_investigation(source, stored.question)
        return explain_answer(investigation, unpack(stored.prior), found.number, by, correction=correction)

    def check(self) -> None:
        """Raise if every test set is spent, or if nothing can be stored."""
        self._budget({}).check()

    def check_agrees(self, name: str, value: Any, option: str | None = None) -> None:
        """Raise if a setting is not the workspace's; ``option`` is how the user spelled it."""
        ours = getattr(self.setup, name) if name in MUST_AGREE else self.setup.reading.get(name)
        if value != ours:
            raise InputError(
                f"{option or repr(name)} is {value!r}, and {ours!r} in the workspace {str(self.path)!r}, where it is "
                "fixed. Take it out, or make another workspace."
            )

    def _find_run(self, number: int | None, *, explained: bool = True) -> Run:
        runs = [run for run in self.runs if run.reports]
        if not runs:
            raise UsageError(
                f"The workspace {str(self.path)!r} has no report yet: nothing has been asked. "
                f"Ask: fairtest test {self.path} -p COLUMN -o COLUMN."
            )
        if number is None:
            plain = [run for run in runs if not any(line.explained_by for line in run.reports)]
            return (runs if explained or not plain else plain)[-1]
        for run in runs:
            if run.number == number:
                return run
        known = ", ".join(str(run.number) for run in runs)
        raise InputError(f"The workspace {str(self.path)!r} has no run {number!r}. There are: {known}.")

    def _pick_report(self, reports: tuple[StoredReport, ...], place: int) -> StoredReport:
        if not 1 <= place <= len(reports):
            raise InputError(f"'place' must be from 1 to {len(reports)}, the reports of this run. Got {place!r}.")
        return reports[place - 1]

    def _budget(self, declared: Mapping[str, Any]) -> LedgerBudget:
        return LedgerBudget(self.ledger, self.setup, self.path, declared, self.caller)

    def _read_source(self, declared: Mapping[str, Any]) -> DataSource:
        setup = self.setup
        share = setup.train_size if setup.split else None
        options = {**setup.reading, **declared, "split": setup.split, "name": setup.name}
        with leave_warning_to_caller():
            return DataSource(self._find_data(), setup.budget, setup.conf, share, setup.seed, **options)

    def _find_data(self) -> Any:
        """Return the data that was given, or the file where it is now."""
        if self._data is not None:
            return self._data
        if self.setup.path is None:
            raise UsageError(
                f"The workspace {str(self.path)!r} was made from a frame, of which it keeps no copy. Give it again: "
                f"fairtest.Workspace({str(self.path)!r}, data=frame)."
            )
        places = [Path(self.setup.path)]
        if self.setup.beside is not None:
            places.insert(0, self.path / self.setup.beside)
        for place in places:
            if place.exists():
                return place
        raise InputError(
            f"The data of the workspace {str(self.path)!r} is gone: there is no {self.setup.path!r}. Bring it back, or "
            f"say where it is: fairtest.Workspace(path, data=...), or fairtest test DATA --workspace {self.path}."
        )

    def _check_people(self, source: DataSource, declared: Mapping[str, Any]) -> None:
        """Raise unless the source has the people of the workspace, in the order that the split was made for."""
        if fingerprint_in_order(source.table) == self.setup.in_order:
            return
        if declared != self.setup.declared:
            # a kind declared since may change how a value is written, and so its hash: '1.50' is no number as text
            self._check_people(self._read_source(self.setup.declared), self.setup.declared)
            return
        rows = source.table.n_rows
        name = Path(self._data).name if isinstance(self._data, str | os.PathLike) else source.table.name
        if source.fingerprint == self.setup.fingerprint:
            raise InputError(
                f"{name}: these are the people of the workspace {str(self.path)!r} in another order. The split goes by "
                "position, so that people of the training set would be in a test set: bring them back in their order."
            )
        what = "its values or columns differ" if rows == self.setup.rows else f"it had {self.setup.rows:,} people"
        raise InputError(
            f"{name} is not the data of the workspace {str(self.path)!r} ({what}). Bring back the data it was made "
            "from, or make another workspace."
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Let go of the data; everything else is in the folder already."""
        self.__dict__.pop("source", None)

    def __repr__(self) -> str:
        sets = "1 test set" if self.budget == 1 else f"{self.budget} test sets"
        return (
            f"Workspace({str(self.path)!r}: {self.setup.name!r}, {self.setup.rows:,} people; "
            f"{self.left} of {sets} left)"
        )


def check_new(folder: Path) -> None:
    """Raise if a workspace cannot be made in a folder because there is something in it."""
    if is_workspace(folder):
        raise InputError(
            f"{str(folder)!r} is a workspace already. Open it (fairtest.Workspace, fairtest status), or name another "
            "folder."
        )
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{str(folder)!r} is a file. Name a folder for the workspace.")
    if folder.is_dir() and (others := [p.name for p in folder.iterdir() if p.name != FILE]):
        raise InputError(f"{str(folder)!r} is not empty ({others[0]!r} is in it). Name a new folder for the workspace.")


def _setup_of(folder: Path, source: DataSource, data: Any, options: Mapping[str, Any]) -> Setup:
    if source.reuse:
        raise InputError(
            "A workspace keeps disjoint test sets. What the answers of a reusable one have told is known to nobody but "
            "the process that asked: take out reuse=True."
        )
    reading, declared = split_options(options)
    path, beside = _paths_of(folder, data)
    return Setup(
        id=secrets.token_hex(8),
        created=now(),
        version=__version__,
        name=source.table.name,
        rows=source.table.n_rows,
        path=path,
        beside=beside,
        fingerprint=source.fingerprint,
        in_order=fingerprint_in_order(source.table),
        budget=source.budget.size,
        conf=source.conf,
        train_size=source.train_size,
        seed=source.seed,
        split=source.split,
        preset=options.get("preset"),
        reading=reading,
        declared=declared,
    )


def _paths_of(folder: Path, data: Any) -> tuple[str | None, str | None]:
    """Return where a file is, and where it is from the workspace; nothing for a frame."""
    if not isinstance(data, str | os.PathLike):
        return None, None
    path = Path(data).absolute()
    beside: str | None = None
    with suppress(ValueError):  # on another drive
        beside = os.path.relpath(path, folder.absolute())
    return str(path), beside
