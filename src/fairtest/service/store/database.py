"""The two databases: SQLite beside the service, or PostgreSQL.

A transaction that writes begins with BEGIN IMMEDIATE on SQLite, so that whoever reads first and writes then cannot
find that somebody else wrote in between.
"""

from __future__ import annotations

import sqlite3
import time
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from sqlalchemy import create_engine, event, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DataError, DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from fairtest.exceptions import InputError
from fairtest.service.errors import BadRequest, StoreUnavailable
from fairtest.service.guard.environment import read_password
from fairtest.service.store.silence import SilenceGuard

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from contextlib import AbstractContextManager

    from sqlalchemy import Connection, Engine, Table
    from sqlalchemy.engine import URL

WAIT = 30.0
"""Seconds that a transaction waits for a lock before the request fails."""
POOL = 10
"""Connections that a process keeps to PostgreSQL; twice as many at most."""
PASSWORD = "FAIRTEST_DATABASE_PASSWORD"
"""The variable with the password of the database; with _FILE, that of a file with it."""
SOON = 2 * WAIT
"""Seconds within which a small transaction ends, or the database has fallen silent."""
IMMEDIATE = "fairtest_immediate"
PAGE = 8192
"""Bytes of a page of a new SQLite file: a batch takes several, and each is written on its own."""
READ_ONLY = "25006"
"""What PostgreSQL says of a change where it takes none, such as on a standby after a failover."""


class Database:
    """Connections to the store.

    Parameters
    ----------
    url
        ``sqlite:///path/to/file`` or ``postgresql://user@host/name``.
    """

    def __init__(self, url: str) -> None:
        self.url = _checked_url(url)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self._silence = SilenceGuard()
        self.engine = _sqlite_engine(self.url) if self.is_sqlite else _postgresql_engine(self.url)

    @contextmanager
    def reading(self, within: float | None = None) -> Iterator[Connection]:
        """Give a connection to read from; keep it as short as the reading needs."""
        with (
            _telling_outages(),
            self.engine.connect() as connection,
            self._guard(connection, within),
            connection.begin(),
        ):
            yield connection

    def reading_soon(self) -> AbstractContextManager[Connection]:
        """Give a connection for a few rows: a database that says nothing meanwhile is given up."""
        return self.reading(SOON)

    def writing_soon(self) -> AbstractContextManager[Connection]:
        """Give a connection for a few changes: a database that says nothing meanwhile is given up."""
        return self.writing(SOON)

    @contextmanager
    def writing(self, within: float | None = None) -> Iterator[Connection]:
        """Give a connection whose changes are all stored when the block ends, or none if it raises.

        ``within`` is how many seconds this may take before a database that says nothing is given up.
        """
        with _telling_outages(), self.engine.connect() as plain:
            connection = plain.execution_options(**{IMMEDIATE: True})
            with self._guard(connection, within), connection.begin():
                yield connection

    def _guard(self, connection: Connection, within: float | None) -> AbstractContextManager[None]:
        driver: Any = connection.connection.driver_connection
        if within is None or self.is_sqlite or driver is None:
            return nullcontext()
        if driver.closed:  # lost while it waited in the pool: the driver would say so in an error of its own
            connection.invalidate()
            raise StoreUnavailable("The connection to the database was lost.")
        return self._silence.watching(driver.fileno(), within)

    def now(self, connection: Connection) -> float:
        """Return the time that decides leases: on PostgreSQL that of the server, which all machines share."""
        if self.is_sqlite:
            return time.time()
        return float(connection.scalar(select(func.extract("epoch", func.clock_timestamp()))) or 0)

    def empty_log(self) -> bool:
        """Write SQLite's log into its file and empty it: what was erased must not stay there. False if others read."""
        if not self.is_sqlite:
            return True
        with _telling_outages(), self.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            busy: int = connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").one()[0]
        return busy == 0

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


def insert_new(connection: Connection, table: Table, rows: Iterable[dict[str, Any]]) -> int:
    """Insert rows that are not there yet; return how many were new."""
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    new = 0
    for row in rows:
        inserting = dialect.insert(table).values(**row).on_conflict_do_nothing().returning(table.c.id)
        new += len(connection.execute(inserting).all())
    return new


def _checked_url(url: str) -> URL:
    try:
        parsed = make_url(url)
        name = parsed.get_backend_name()
    except ArgumentError:
        name = ""
    if name == "sqlite" and parsed.database:
        return parsed.set(drivername="sqlite+pysqlite")
    if name == "postgresql":
        return parsed.set(drivername="postgresql+psycopg")
    shown = url if "@" not in url else "…@" + url.rpartition("@")[2]  # no password in a message
    raise InputError(f"The database must be sqlite:///FILE or postgresql://USER@HOST/NAME. Got {shown!r} instead.")


def sqlite_driver() -> Any:
    """Return the newer of Python's own SQLite and the one that the package ``pysqlite3`` brings.

    Python has that of the system, often one that may not keep a write-ahead log; without such a log a commit waits for
    the disk four times instead of once, and readers keep the writer waiting.
    """
    try:
        import pysqlite3
    except ImportError:
        return sqlite3
    return max(sqlite3, pysqlite3, key=lambda driver: tuple(driver.sqlite_version_info))


def _sqlite_engine(url: URL) -> Engine:
    driver = sqlite_driver()
    engine = create_engine(url, module=driver, connect_args={"timeout": WAIT, "check_same_thread": False})

    @event.listens_for(engine, "connect")
    def _prepare(connection: sqlite3.Connection, _record: object) -> None:
        connection.isolation_level = None  # the driver begins no transaction of its own
        journal = "WAL" if may_use_wal(driver.sqlite_version_info) else "TRUNCATE"
        durable = (f"page_size={PAGE}", f"journal_mode={journal}", "synchronous=FULL")
        for setting in (*durable, "foreign_keys=ON", "secure_delete=ON"):
            connection.execute(f"PRAGMA {setting}")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get(IMMEDIATE)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _postgresql_engine(url: URL) -> Engine:
    if url.password is None and (password := read_password(PASSWORD)):
        url = url.set(password=password)
    return create_engine(
        url,
        pool_size=POOL,
        max_overflow=POOL,
        pool_timeout=WAIT,
        pool_recycle=900,
        connect_args={
            "connect_timeout": 5,
            "options": f"-c lock_timeout={int(WAIT * 1000)}",
            # a machine that is gone says nothing: it is noticed after half a minute, and not after two hours
            "keepalives_idle": 15,
            "keepalives_interval": 5,
            "keepalives_count": 3,
            "tcp_user_timeout": 30_000,
        },
    )


def may_use_wal(version: tuple[int, ...]) -> bool:
    """Return whether this SQLite may keep a write-ahead log while several connections write.

    Before 3.51.3 (and the repaired 3.50.7 and 3.44.6), resetting the log could corrupt the file (sqlite.org/wal.html).

    Examples
    --------
    >>> [may_use_wal(v) for v in ((3, 40, 1), (3, 44, 6), (3, 45, 0), (3, 50, 7), (3, 51, 2), (3, 51, 3))]
    [False, True, False, True, False, True]
    """
    if version >= (3, 51, 3):
        return True
    return any(version[:2] == repaired[:2] and version >= repaired for repaired in ((3, 50, 7), (3, 44, 6)))


@contextmanager
def _telling_outages() -> Iterator[None]:
    """Turn errors that mean "not now" into one that says so: nothing was stored."""
    try:
        yield
    except (OperationalError, InterfaceError, PoolTimeout) as error:
        raise StoreUnavailable(f"The database does not answer: {_first_line(error)}") from error
    except DataError as error:  # PostgreSQL's text has no NUL, and its numbers are smaller than Python's
        raise BadRequest(f"A value cannot be looked for or stored: {_first_line(error)}") from error
    except OverflowError as error:  # SQLite's driver says it before the database does
        raise BadRequest("A value cannot be looked for or stored: the number is too large.") from error
    except DBAPIError as error:
        if error.connection_invalidated:
            raise StoreUnavailable("The connection to the database was lost.") from error
        if getattr(error.orig, "sqlstate", None) == READ_ONLY:
            raise StoreUnavailable("The database can only be read at the moment.") from error
        raise


def _first_line(error: Exception) -> str:
    cause = getattr(error, "orig", None) or error
    return (str(cause).splitlines() or [type(cause).__name__])[0]
