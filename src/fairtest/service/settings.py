"""Where the service keeps its things."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fairtest.service.alerts.settings import AlertSettings

DATA = Path("fairtest-data")
"""The folder that a service uses if none is named."""


@dataclass(frozen=True)
class Settings:
    """What a service is started with.

    Attributes
    ----------
    data
        The folder of the secret, and of the database and segments where no other place is named.
    database
        ``sqlite:///FILE`` or ``postgresql://USER@HOST/NAME``; empty for a SQLite file in the folder.
    segments
        ``"database"``, a folder, or ``s3://BUCKET/PREFIX``; empty for a folder with SQLite and the
        database with PostgreSQL.
    unsealed_most
        Bytes of batches that may wait to be sealed before no more are taken.
    disk_least
        Bytes that must be free on the disk of the folder for batches to be taken.
    allow_private
        Networks that webhooks may reach although they are not public, such as ``10.1.0.0/16``.
    rate
        Requests that a key may send in a second, on average over two; 0 for no limit.
    run_memory
        Bytes that a run may take; 0 for three quarters of the machine's memory.
    public_url
        How people reach the service, for links in messages; else what FAIRTEST_PUBLIC_URL says.
    """

    data: Path = DATA
    database: str = ""
    segments: str = ""
    unsealed_most: int = 2 << 30
    disk_least: int = 1 << 30
    dedupe_days: float = 7.0
    erase_within_hours: float = 24.0
    allow_private: tuple[str, ...] = ()
    public_url: str = ""
    rate: float = 2000.0
    run_memory: int = 0

    @property
    def database_url(self) -> str:
        """The address of the database."""
        return self.database or f"sqlite:///{self.data.absolute() / 'fairtest.sqlite'}"

    @property
    def segments_at(self) -> str:
        """``"database"``, the path of a folder, or the address of a bucket."""
        if self.segments:
            return self.segments
        return str(self.data / "segments") if self.database_url.startswith("sqlite") else "database"

    @property
    def alerts(self) -> AlertSettings:
        """How alerts leave the service; the mail server is in the environment, where its password may be."""
        return AlertSettings.from_environment(self.allow_private, self.public_url)
