"""Where the service keeps its things."""

from __future__ import annotations

from dataclasses import dataclass, field
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
        ``"database"``, or a folder; empty for a folder with SQLite and the database with PostgreSQL.
    unsealed_most
        Bytes of batches that may wait to be sealed before no more are taken.
    disk_least
        Bytes that must be free on the disk of the folder for batches to be taken.
    alerts
        How alerts leave the service.
    """

    data: Path = DATA
    database: str = ""
    segments: str = ""
    unsealed_most: int = 2 << 30
    disk_least: int = 1 << 30
    dedupe_days: float = 7.0
    erase_within_hours: float = 24.0
    alerts: AlertSettings = field(default_factory=AlertSettings)

    @property
    def database_url(self) -> str:
        """The address of the database."""
        return self.database or f"sqlite:///{self.data.absolute() / 'fairtest.sqlite'}"

    @property
    def segments_at(self) -> str:
        """``"database"`` or the path of a folder."""
        if self.segments:
            return self.segments
        return str(self.data / "segments") if self.database_url.startswith("sqlite") else "database"
