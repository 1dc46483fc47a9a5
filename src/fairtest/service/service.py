"""The parts of a running service, put together."""

from __future__ import annotations

import math
import os
import shutil
import threading
import time
from typing import TYPE_CHECKING

from sqlalchemy import func, insert, select

from fairtest.exceptions import InputError
from fairtest.service.errors import Overloaded
from fairtest.service.guard.limits import Buckets
from fairtest.service.guard.secrets import Secret
from fairtest.service.store.database import Database
from fairtest.service.store.migrate import migrate
from fairtest.service.store.recent import RecentIdsOfStreams
from fairtest.service.store.segments import open_segments
from fairtest.service.store.tables import batch, batch_body, service
from fairtest.service.store.writer import Writer

if TYPE_CHECKING:
    from typing import Self

    from fairtest.service.settings import Settings
    from fairtest.service.work.watching import HeldWatch

SECRET_FILE = "secret.key"
LOOK_EVERY = 2.0
"""Seconds between two looks at the disk and at what waits to be sealed."""


class Service:
    """The store of a service, its secret and, where records are taken, the writer.

    Parameters
    ----------
    settings
        Where everything is.
    writes
        Whether this process takes records; a worker does not.

    Attributes
    ----------
    stopping
        Set when the process is to end: whoever does something long gives it back.
    """

    def __init__(self, settings: Settings, *, writes: bool = False) -> None:
        self.settings = settings
        settings.data.mkdir(parents=True, exist_ok=True)
        self.secret = Secret.from_file(settings.data / SECRET_FILE)
        self.database = Database(settings.database_url)
        migrate(self.database)
        self._check_secret()
        self.segments = open_segments(settings.segments_at, self.database)
        self.writer: Writer | None = Writer(self.database) if writes else None
        self.requests = Buckets(settings.rate)
        self.stopping = threading.Event()
        self._looked = 0.0
        self._unsealed = 0
        self._looking = threading.Lock()
        self.swept = -math.inf
        self.recent_ids = RecentIdsOfStreams()
        self.held_watches: dict[str, HeldWatch] = {}
        self.worker_name = f"{os.uname().nodename}:{os.getpid()}"

    @property
    def looked_lately(self) -> bool:
        """Whether :meth:`check_room` can answer without the database."""
        return time.monotonic() - self._looked <= LOOK_EVERY

    def check_room(self) -> None:
        """Raise if the disk is nearly full, or too much waits to be sealed."""
        if not self.looked_lately and self._looking.acquire(blocking=False):
            try:
                self._unsealed = self.unsealed_bytes()
                self._looked = time.monotonic()
            finally:
                self._looking.release()
        if shutil.disk_usage(self.settings.data).free < self.settings.disk_least:
            raise Overloaded("The disk of the service is nearly full.")
        if self._unsealed > self.settings.unsealed_most:
            raise Overloaded("Too much waits to be sealed: is a worker running?")

    def unsealed_bytes(self) -> int:
        """Return how many bytes of batches are not in segments yet."""
        both = batch.join(
            batch_body,
            (batch.c.project == batch_body.c.project)
            & (batch.c.stream == batch_body.c.stream)
            & (batch.c.seq == batch_body.c.seq),
        )
        with self.database.reading_soon() as connection:
            return int(connection.scalar(select(func.coalesce(func.sum(batch.c.bytes), 0)).select_from(both)) or 0)

    def close(self) -> None:
        """Write what waits, and close."""
        if self.writer is not None:
            self.writer.stop()
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check_secret(self) -> None:
        """Raise if the database belongs to another secret: hashes of people would not be found again."""
        with self.database.writing_soon() as connection:
            name = "secret-fingerprint"
            stored = connection.scalar(select(service.c.value).where(service.c.name == name))
            if stored is None:
                connection.execute(insert(service).values(name=name, value=self.secret.fingerprint))
            elif stored != self.secret.fingerprint:
                path = self.settings.data / SECRET_FILE
                raise InputError(
                    f"The database belongs to another secret than {path}. Bring the file secret.key of the machine "
                    "where it was made; without it, people who were tested or erased could not be recognised."
                )
