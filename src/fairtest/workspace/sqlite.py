"""The ledger in one SQLite file.

The tables are those of ``schema.sql`` and ``shown.sql``. Its version is ``PRAGMA user_version``; 2 differs from 1 in
how the JSON names classes only: see ``codec.py``. 3 has ``workspace.levels`` and the table ``shown`` besides. An older
file is read as it is, and becomes one of version 3 when something is stored in it: nothing in it is changed or lost.

``workspace``
    One row, the fields of :class:`~fairtest.workspace.ledger.Setup`; ``reading`` and ``declared`` are JSON.
``run``
    One row for each test set that is spent: its ``number``, when, the command, the version of FairTest.
``report``
    The reports of a run by ``place``: the headline; ``question``, ``told`` and ``document`` as JSON; the report as it
    is shown, ``json``, ``text`` and ``html``. All of these but the question are compressed by zlib.

``shown``
    One row for each time that what training proposes was shown before any answer was: when, and the command.

Triggers keep the promises against mistakes of any program: a run has a number within the budget, and neither the
workspace's row nor a run nor a report nor what was shown is ever changed or removed.

A connection is opened for each transaction and closed after it, so that threads, forked processes and long
computations never share or hold one. The journal is SQLite's rollback journal: one file, and nothing beside it
except while a transaction is written; after a crash, the next reader rolls it back.
"""

from __future__ import annotations

import os
import sqlite3
import zlib
from contextlib import closing, contextmanager
from dataclasses import astuple, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self
from urllib.parse import quote

from fairtest.data.locks import hold_lock
from fairtest.exceptions import FairTestError, InputError, UsageError
from fairtest.workspace.codec import pack, unpack
from fairtest.workspace.ledger import AlreadySpent, Headline, Run, Setup, StoredReport

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

FILE = "workspace.sqlite"
VERSION = 3
OLDEST = 1
"""The versions that are read and written to; the first report of this FairTest makes a workspace one of its version."""
LEVELS_SINCE = 3
"""Since this version a workspace says how the levels of its test sets make up that of all …"""
LEVELS_BEFORE = "product"
"""… which was so before."""
PATIENCE = 60
"""How many seconds to wait for another process's transaction; they take milliseconds."""


class SQLiteLedger:
    """The ledger of the workspace in a folder: see :class:`~fairtest.workspace.ledger.Ledger`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def create(cls, folder: Path, setup: Setup) -> Self:
        """Make the ledger of a new workspace; where there is one already, leave that as it is and return it."""
        ledger = cls(folder)
        with ledger._transaction("rwc") as database:
            if _version(database) == 0:
                # one by one: sqlite3's executescript would commit in between
                for statement in (*_statements("schema.sql"), *_statements("shown.sql")):
                    database.execute(statement)
                database.execute(f"INSERT INTO workspace VALUES (1, {_marks(len(fields(Setup)))})", _setup_row(setup))
                database.execute(f"PRAGMA user_version = {VERSION}")
        ledger.check_version()
        return ledger

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Open the ledger of a workspace, or say why that cannot be."""
        if not folder.exists():
            raise InputError(
                f"There is no workspace {str(folder)!r}. Make one: fairtest init {folder} DATA --budget 3."
            )
        if not (folder / FILE).is_file():
            raise InputError(
                f"{str(folder)!r} is not a workspace: it has no {FILE}. Make one: fairtest init NEW_FOLDER DATA "
                "--budget 3."
            )
        ledger = cls(folder)
        ledger.check_version()
        return ledger

    def check_version(self) -> None:
        """Raise if the file is from a newer FairTest, or holds no workspace."""
        with self._transaction() as database:
            version = _version(database)
        if version > VERSION:
            raise InputError(
                f"The workspace {str(self.folder)!r} was made by a newer FairTest (its schema is {version}; this one "
                f"knows {VERSION}). Update FairTest to use it."
            )
        if version < OLDEST:
            raise InputError(
                f"The workspace {str(self.folder)!r} is empty: making it was interrupted. Run fairtest init again."
            )

    def check_writable(self) -> None:
        """Raise if nothing can be stored, before anything is computed."""
        here = os.access in os.supports_effective_ids
        if not (
            os.access(self.folder, os.W_OK | os.X_OK, effective_ids=here)
            and os.access(self.folder / FILE, os.W_OK, effective_ids=here)
        ):
            raise self._not_writable()

    def setup(self) -> Setup:
        """Return what the workspace is about."""
        names = [f.name for f in fields(Setup)]
        with self._transaction() as database:
            if _version(database) < LEVELS_SINCE:
                names.remove("levels")
            row = database.execute(f"SELECT {', '.join(names)} FROM workspace").fetchone()
        stored = Setup(**({"levels": LEVELS_BEFORE} | dict(zip(names, row, strict=True))))
        return replace(
            stored,
            seed=int(stored.seed),
            split=bool(stored.split),
            reading=unpack(str(stored.reading)),
            declared=unpack(str(stored.declared)),
        )

    def spent_sets(self) -> frozenset[int]:
        """Return the numbers of the test sets that are spent."""
        with self._transaction() as database:
            return frozenset(number for (number,) in database.execute("SELECT number FROM run"))

    def runs(self) -> tuple[Run, ...]:
        """Return what has been asked, in the order in which it was answered."""
        with self._transaction() as database:
            lines: dict[int, list[Headline]] = {}
            for number, *headline in database.execute(
                "SELECT run, kind, title, explained_by, significant, reported FROM report ORDER BY run, place"
            ):
                lines.setdefault(number, []).append(Headline(*headline))
            rows = database.execute("SELECT number, started, finished, command, version FROM run ORDER BY place")
            return tuple(replace(Run(*row), reports=tuple(lines.get(row[0], ()))) for row in rows)

    def was_shown(self) -> bool:
        """Whether anything was shown of the people: what a test set answered, or what training proposes."""
        with self._transaction() as database:
            return _was_shown(database)

    def mark_shown(self, when: str, command: str) -> None:
        """Note that what training proposes is shown from here on; a file that has it noted need not be writable."""
        if self.was_shown():
            return
        with self._transaction("rw") as database:
            _migrate(database)
            if not _was_shown(database):
                database.execute("INSERT INTO shown VALUES (?, ?)", (when, command))

    def reports(self, number: int) -> tuple[StoredReport, ...]:
        """Return the reports of a run; nothing where there is no such run."""
        with self._transaction() as database:
            rows = database.execute(
                "SELECT kind, title, explained_by, significant, reported, question, told, document, json, text, html "
                "FROM report WHERE run = ? ORDER BY place",
                (number,),
            ).fetchall()
        try:
            return tuple(StoredReport(Headline(*row[:5]), row[5], *map(_decompress, row[6:])) for row in rows)
        except (zlib.error, UnicodeDecodeError) as error:
            raise self._damaged_error(error) from error

    def claim(self, number: int) -> AbstractContextManager[bool]:
        """Hold a test set while the block runs, if nobody else does; the kernel gives it back if the process dies."""
        return hold_lock(self.folder / f"set-{number}.lock")

    def spend(self, run: Run, reports: Sequence[StoredReport]) -> None:
        """Store a run with its reports, which spends its test set: all of it or nothing."""
        rows = [(run.number, place, *_report_row(report)) for place, report in enumerate(reports, start=1)]
        with self._transaction("rw") as database:
            if database.execute("SELECT 1 FROM run WHERE number = ?", (run.number,)).fetchone():
                raise AlreadySpent(f"Test set {run.number} was spent by another process. Nothing of it is shown here.")
            place = database.execute("SELECT count(*) + 1 FROM run").fetchone()[0]
            database.execute(
                f"INSERT INTO run VALUES ({_marks(6)})",
                (run.number, place, run.started, run.finished, run.command, run.version),
            )
            database.executemany(f"INSERT INTO report VALUES ({_marks(13)})", rows)
            # what was stored just now has tags, which a FairTest that knows version 1 alone could not read
            _migrate(database)

    @contextmanager
    def _transaction(self, mode: str = "r") -> Iterator[sqlite3.Connection]:
        """Open the file for one transaction: committed when the block ends, undone when it raises.

        Readers open it for writing too, if that can be: what a process left that died is undone by the next one.
        """
        file = quote(str((self.folder / FILE).absolute()))
        uri = f"file:{file}?mode={'rwc' if mode == 'rwc' else 'rw'}"
        try:
            with closing(sqlite3.connect(uri, PATIENCE, uri=True, isolation_level=None)) as db:
                db.execute("PRAGMA foreign_keys = ON")
                db.execute("PRAGMA synchronous = EXTRA")
                db.execute("BEGIN" if mode == "r" else "BEGIN IMMEDIATE")
                try:
                    yield db
                    db.execute("COMMIT")
                except BaseException:
                    if db.in_transaction:
                        db.execute("ROLLBACK")
                    raise
        except sqlite3.Error as error:
            raise self._explain_error(error) from error

    def _explain_error(self, error: sqlite3.Error) -> FairTestError:
        name = getattr(error, "sqlite_errorname", "")
        if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")):
            return self._not_writable()
        if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            return UsageError(f"The workspace {str(self.folder)!r} is busy with another process. Try again.")
        if name.startswith("SQLITE_CONSTRAINT"):
            return UsageError(f"The workspace {str(self.folder)!r} does not take this: {error}.")
        if name.startswith(("SQLITE_FULL", "SQLITE_IOERR")):
            return InputError(f"The workspace {str(self.folder)!r} could not be written ({error}). Nothing was spent.")
        return self._damaged_error(error)

    def _not_writable(self) -> InputError:
        return InputError(
            f"The workspace {str(self.folder)!r} cannot be written to, and what is shown of its people is stored "
            "first. "
            "Change the permissions of the folder, or make another workspace."
        )

    def _damaged_error(self, error: Exception) -> InputError:
        return InputError(
            f"The workspace {str(self.folder)!r} is damaged ({error}). Bring back {FILE} from a backup: what it holds "
            "cannot be found out in another way."
        )


def is_workspace(folder: Path) -> bool:
    """Whether a folder holds a workspace.

    The file is empty while another process makes it, and where making it was interrupted.
    """
    file = folder / FILE
    return file.is_file() and file.stat().st_size > 0


def _statements(file: str) -> list[str]:
    """Return the statements of a file of SQL, which are parted by empty lines."""
    return Path(__file__).with_name(file).read_text("utf-8").split("\n\n")


def _migrate(database: sqlite3.Connection) -> None:
    """Make a file one of this version, within a transaction: tables and columns are added, nothing is changed."""
    if _version(database) < LEVELS_SINCE:
        database.execute(f"ALTER TABLE workspace ADD COLUMN levels TEXT NOT NULL DEFAULT '{LEVELS_BEFORE}'")
        for statement in _statements("shown.sql"):
            database.execute(statement)
    database.execute(f"PRAGMA user_version = {VERSION}")


def _was_shown(database: sqlite3.Connection) -> bool:
    tables = ("run", "shown") if _version(database) >= LEVELS_SINCE else ("run",)
    return any(database.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone() for table in tables)


def _version(database: sqlite3.Connection) -> int:
    return int(database.execute("PRAGMA user_version").fetchone()[0])


def _marks(number: int) -> str:
    return ", ".join("?" * number)


def _setup_row(setup: Setup) -> tuple[object, ...]:
    row = {field.name: getattr(setup, field.name) for field in fields(Setup)}
    return tuple(
        (row | {"seed": str(setup.seed), "reading": pack(setup.reading), "declared": pack(setup.declared)}).values()
    )


def _report_row(report: StoredReport) -> tuple[object, ...]:
    large = (report.prior, report.document, report.json, report.text, report.html)
    return (*astuple(report.headline), report.question, *map(_compress, large))


def _compress(text: str) -> bytes:
    return zlib.compress(text.encode("utf-8", "surrogatepass"))


def _decompress(stored: bytes) -> str:
    return zlib.decompress(stored).decode("utf-8", "surrogatepass")
