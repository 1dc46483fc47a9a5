"""A PostgreSQL of one's own: started in a temporary folder from the binaries of the system, gone afterwards.

Tests and measurements of the service use it; it listens on a socket in that folder only.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

SYSTEM = "/usr/lib/postgresql"
QUICK = ("fsync=off", "full_page_writes=off")
"""Settings for tests in which no machine loses its power: a killed server keeps what it was told all the same."""


def find_binaries() -> Path | None:
    """Return the folder of ``initdb`` and ``postgres``; None where they are missing."""
    on_path = shutil.which("initdb")
    found = sorted(Path(SYSTEM).glob("*/bin/initdb"), key=lambda path: float(path.parent.parent.name))
    return Path(on_path).parent if on_path else found[-1].parent if found else None


class Postgres:
    """A server in a temporary folder.

    Parameters
    ----------
    settings
        Settings for the server, such as :data:`QUICK`.
    """

    def __init__(self, settings: Sequence[str] = ()) -> None:
        binaries = find_binaries()
        if binaries is None:
            raise FileNotFoundError("PostgreSQL is not installed: apt-get install postgresql")
        self._binaries = binaries
        self._settings = settings
        self._user = _unprivileged_user()
        # short, because the path of a socket may have a hundred characters
        self.folder = Path(tempfile.mkdtemp(prefix="ftpg-"))
        self._give_away(self.folder)
        self._run("initdb", "-D", f"{self.folder}/data", "-U", "fairtest", "--auth=trust", "--no-sync", "-E", "UTF8")
        self.start()

    def start(self) -> None:
        """Start the server and wait until it answers."""
        options = " ".join(f"-c {setting}" for setting in ("listen_addresses=", "max_connections=100", *self._settings))
        options = f"-k {self.folder} {options}"
        self._run("pg_ctl", "-D", f"{self.folder}/data", "-w", "-l", f"{self.folder}/log", "-o", options, "start")

    def stop(self, mode: str = "immediate") -> None:
        """Stop the server; ``immediate`` is as good as a crash."""
        self._run("pg_ctl", "-D", f"{self.folder}/data", "-w", "-m", mode, "stop")

    def cpu_seconds(self) -> float:
        """Return how long the server's processes have computed; those that ended are counted with their parent."""
        import psutil

        first = int((self.folder / "data" / "postmaster.pid").read_text().split()[0])
        parent = psutil.Process(first)
        total = float(sum(parent.cpu_times()[:4]))
        for child in parent.children():
            with suppress(psutil.NoSuchProcess):
                total += float(sum(child.cpu_times()[:2]))
        return total

    def url(self, database: str = "postgres") -> str:
        """Return the address of a database."""
        return f"postgresql://fairtest@/{database}?host={self.folder}"

    def create(self, database: str, template: str = "template0") -> str:
        """Make a database and return its address."""
        self.execute(f'CREATE DATABASE "{database}" TEMPLATE "{template}"')
        return self.url(database)

    def execute(self, statement: str) -> None:
        """Run a statement outside of a transaction."""
        import psycopg

        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(statement)  # type: ignore[call-overload]

    def close(self) -> None:
        """Stop the server; its folder, which has thousands of files by then, is removed while others go on."""
        self.stop()
        subprocess.run(["sh", "-c", 'rm -rf "$1" &', "sh", str(self.folder)], check=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _give_away(self, folder: Path) -> None:
        if self._user is not None:
            os.chown(folder, self._user.pw_uid, self._user.pw_gid)

    def _run(self, program: str, *arguments: str) -> None:
        user = {} if self._user is None else {"user": self._user.pw_uid, "group": self._user.pw_gid, "extra_groups": []}
        done = subprocess.run(
            [self._binaries / program, *arguments],
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd=self.folder,
            text=True,
            start_new_session=True,  # an interrupt of the tests is not one of the server
            **user,
        )
        if done.returncode:
            raise RuntimeError(f"{program}: {done.stderr}")


def _unprivileged_user() -> pwd.struct_passwd | None:
    """Return whom to run the server as: it refuses to run as root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise RuntimeError("PostgreSQL refuses to run as root, and there is no other user to run it as.")


__all__ = ["QUICK", "Postgres", "find_binaries"]
