r"""Which people have been audited before: a small file in the user's data folder, keyed by fingerprint.

A test set answers once, and a workspace keeps to that. Nothing can keep a person from auditing the same people again
outside of it, in another order or format, with another seed; but they should know that they do. So the command line and
workspaces note when a test set is spent, and a new source of the same people gives a warning.

It also knows whether anything that relates attributes to outputs of these people was shown, be it only what training
proposes. A question that comes after that may have been made from it, and is put to the test set alone; one that was
there before may use the people of the training set too.

What is stored: the fingerprint, the number of rows, how many test sets were spent and when, the workspace's id and
folder, that something was shown, and a digest of each question that was asked without a workspace, with whether it was
there before anything was shown: who asks the very same again learns nothing new, gets no warning, and the same answer.
Nothing of the data. The file is ``registry.sqlite`` in ``FAIRTEST_HOME``, else in the user's
data folder (``XDG_DATA_HOME/fairtest``, else ``~/.local/share/fairtest``; on macOS
``~/Library/Application Support/fairtest``, on Windows ``%LOCALAPPDATA%\fairtest``). ``FAIRTEST_REGISTRY=off`` turns all
of it off.

It is a help, not a safeguard: where the file cannot be read or written, nothing happens.
"""

from __future__ import annotations

import os
import sys
from contextlib import closing, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator

FILE = "registry.sqlite"
SWITCH, HOME = "FAIRTEST_REGISTRY", "FAIRTEST_HOME"
PATIENCE = 0.5
"""How many seconds to wait for another process: nobody should wait long for a warning."""
SCHEMA = """
CREATE TABLE IF NOT EXISTS audits (
    fingerprint TEXT NOT NULL, rows INTEGER NOT NULL, workspace TEXT NOT NULL, folder TEXT NOT NULL,
    spent INTEGER NOT NULL, last TEXT NOT NULL,
    PRIMARY KEY (fingerprint, workspace)
)"""
NOTE = """
INSERT INTO audits VALUES (?, ?, ?, ?, 1, ?) ON CONFLICT (fingerprint, workspace)
DO UPDATE SET spent = spent + 1, folder = excluded.folder, last = excluded.last"""
QUESTIONS = """
CREATE TABLE IF NOT EXISTS questions (
    fingerprint TEXT NOT NULL, question TEXT NOT NULL, named INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (fingerprint, question)
)"""
ADD_NAMED = "ALTER TABLE questions ADD COLUMN named INTEGER NOT NULL DEFAULT 0"
"""For files that were made before it was known which questions were there before anything was shown."""
SHOWN = "CREATE TABLE IF NOT EXISTS shown (fingerprint TEXT PRIMARY KEY, rows INTEGER NOT NULL)"

_elsewhere: ContextVar[bool] = ContextVar("elsewhere", default=False)


@dataclass(frozen=True)
class Audits:
    """What was spent on some people, in one workspace or outside of any.

    Attributes
    ----------
    workspace, folder
        The id of the workspace and where it was; empty for audits without one.
    spent, last
        How many test sets, and when the last was.
    """

    workspace: str
    folder: str
    spent: int
    last: str

    def __str__(self) -> str:
        where = f"in the workspace {self.folder!r}" if self.workspace else "without a workspace"
        times = "1 test set was" if self.spent == 1 else f"{self.spent:,} test sets were"
        return f"{times} spent {where}, the last on {self.last[:10]}"


def home() -> Path:
    """Return the folder for what FairTest keeps for a user."""
    if given := os.environ.get(HOME):
        return Path(given)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "fairtest"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "fairtest"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "fairtest"


def note(
    fingerprint: str,
    rows: int,
    when: str,
    workspace: str = "",
    folder: str = "",
    question: str = "",
    *,
    named: bool = False,
) -> None:
    """Note that a test set was spent on these people; a ``question`` that was asked before counts once.

    ``named`` says whether the question was there before anything was shown of these people.
    """

    def count(database: sqlite3.Connection) -> None:
        new = 1
        if question:
            if "named" not in {column[1] for column in database.execute("PRAGMA table_info(questions)")}:
                database.execute(ADD_NAMED)
            asked = fingerprint, question, named
            new = database.execute("INSERT OR IGNORE INTO questions VALUES (?, ?, ?)", asked).rowcount
        if new:
            database.execute(NOTE, (fingerprint, rows, workspace, folder, when))

    _write(count)


def note_shown(fingerprint: str, rows: int) -> None:
    """Note that something was shown of these people without spending a test set: what training proposes."""
    _write(lambda database: database.execute("INSERT OR IGNORE INTO shown VALUES (?, ?)", (fingerprint, rows)))


def was_asked(fingerprint: str, question: str) -> bool:
    """Whether this very question was put to these people before, without a workspace."""
    return bool(_read("SELECT 1 FROM questions WHERE fingerprint = ? AND question = ?", fingerprint, question))


def was_named(fingerprint: str, question: str) -> bool:
    """Whether this very question was asked, and had been there before anything was shown of these people."""
    known = "SELECT 1 FROM questions WHERE fingerprint = ? AND question = ? AND named"
    return bool(_read(known, fingerprint, question))


def was_shown(fingerprint: str, *, besides: str | None = None) -> bool:
    """Whether anything was shown of these people: an answer, ``besides`` those of one workspace, or proposals."""
    shown = _read("SELECT 1 FROM shown WHERE fingerprint = ?", fingerprint)
    return bool(shown) or bool(audits_of(fingerprint, besides=besides))


def known_size(rows: int) -> bool:
    """Whether a table of this size has been audited or shown: if not, its fingerprint need not be computed."""
    queries = ("SELECT 1 FROM audits WHERE rows = ? LIMIT 1", "SELECT 1 FROM shown WHERE rows = ? LIMIT 1")
    return any(_read(query, rows) for query in queries)


def audits_of(fingerprint: str, *, besides: str | None = None) -> list[Audits]:
    """Return what is known of these people, ``besides`` one workspace."""
    rows = _read("SELECT workspace, folder, spent, last FROM audits WHERE fingerprint = ? ORDER BY last", fingerprint)
    return [Audits(*row) for row in rows if row[0] != besides]


@contextmanager
def leave_warning_to_caller() -> Iterator[None]:
    """Let the caller warn about people who are known: sources made in the block do not."""
    token = _elsewhere.set(True)
    try:
        yield
    finally:
        _elsewhere.reset(token)


def is_warning_left_to_caller() -> bool:
    """Whether the caller warns about people who are known."""
    return _elsewhere.get()


def _off() -> bool:
    return os.environ.get(SWITCH, "").lower() in {"off", "0", "no", "false"}


def _write(change: Callable[[sqlite3.Connection], object]) -> None:
    """Change the registry in one transaction; nothing happens where it is off or cannot be written."""
    if _off():
        return
    import sqlite3  # not loaded by those who have no registry

    with suppress(sqlite3.Error, OSError, RuntimeError):  # RuntimeError: there is no home folder
        home().mkdir(parents=True, exist_ok=True)
        with closing(_connect("rwc")) as database, database:
            for table in (SCHEMA, QUESTIONS, SHOWN):
                database.execute(table)
            change(database)


def _read(query: str, *values: object) -> list[tuple[Any, ...]]:
    if _off():
        return []
    import sqlite3

    try:
        if not (home() / FILE).is_file():
            return []
        with closing(_connect("ro")) as database:
            return database.execute(query, values).fetchall()
    except (sqlite3.Error, OSError, RuntimeError):
        return []


def _connect(mode: str) -> sqlite3.Connection:
    import sqlite3

    place = quote(str((home() / FILE).absolute()))
    return sqlite3.connect(f"file:{place}?mode={mode}", timeout=PATIENCE, uri=True)
