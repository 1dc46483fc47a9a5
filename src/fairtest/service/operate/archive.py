"""The file of a backup: tables as lines of JSON, segments as they are, and a signed manifest with all hashes.

It is a tar file, so that it can be looked into with what every machine has. The manifest comes last, when all hashes
are known, and is signed with the secret of the service: a file that was changed, cut or made up is refused before
anything of it is used.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import hmac
import io
import json
import os
import tarfile
import tempfile
from typing import TYPE_CHECKING, Any

from fairtest.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path
    from typing import IO, Self

    from fairtest.service.guard.secrets import Secret

FORMAT = 1
MANIFEST = "manifest.json"
TABLES, LINES, SEGMENTS = "tables/", ".jsonl.gz", "segments/"
PURPOSE = "archive"
"""What the signature of an archive is derived for."""


class ArchiveWriter:
    """Writes an archive. The file has its name when it is complete, and not before.

    Parameters
    ----------
    path
        The file; it must not exist.
    secret
        What the manifest is signed with.
    """

    def __init__(self, path: Path, secret: Secret) -> None:
        self._path, self._secret = path, secret
        self._temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        self._members: dict[str, dict[str, Any]] = {}
        handle = os.open(self._temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        self._file = os.fdopen(handle, "wb")
        self._tar = tarfile.open(fileobj=self._file, mode="w", format=tarfile.PAX_FORMAT)  # noqa: SIM115 - closed by finish

    def add_table(self, name: str, rows: Iterable[Mapping[str, Any]]) -> int:
        """Write the rows of a table; return how many."""
        count = 0
        with tempfile.TemporaryFile(dir=self._path.parent) as buffer:
            with gzip.GzipFile(filename="", fileobj=buffer, mode="wb", compresslevel=6, mtime=0) as packed:
                for row in rows:
                    line = {column: _to_json(value) for column, value in row.items()}
                    packed.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
                    count += 1
            self._add(table_member(name), buffer, rows=count)
        return count

    def add_segment(self, place: str, body: bytes) -> None:
        """Write the bytes of a segment."""
        self._add(segment_member(place), io.BytesIO(body))

    def finish(self, about: Mapping[str, Any]) -> None:
        """Sign and write the manifest, and give the file its name."""
        manifest = {"format": FORMAT, **about, "members": self._members}
        signed = {**manifest, "signature": _sign(self._secret, manifest)}
        self._add(MANIFEST, io.BytesIO(json.dumps(signed, indent=1).encode()))
        self._tar.close()
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        self._temporary.replace(self._path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        self._temporary.unlink(missing_ok=True)

    def _add(self, name: str, content: io.BytesIO | IO[bytes], **more: Any) -> None:
        size = content.seek(0, os.SEEK_END)
        content.seek(0)
        digest = _digest(content)
        content.seek(0)
        member = tarfile.TarInfo(name)
        member.size, member.mode = size, 0o600
        self._tar.addfile(member, content)
        self._members[name] = {"sha256": digest, "bytes": size, **more}


class Archive:
    """An archive to read. Opening it checks the signature; :meth:`check` reads all of it and compares every hash."""

    def __init__(self, path: Path, secret: Secret) -> None:
        self._path = path
        try:
            self._tar = tarfile.open(path, "r:")  # noqa: SIM115 - closed by __exit__
        except (OSError, tarfile.TarError) as error:
            raise InputError(f"{path} is not an archive of fairtest backup: {error}.") from None
        try:
            self.manifest = self._read_manifest(secret)
        except BaseException:
            self._tar.close()
            raise

    @property
    def members(self) -> dict[str, dict[str, Any]]:
        """What the archive holds, with hashes."""
        found: dict[str, dict[str, Any]] = self.manifest["members"]
        return found

    @property
    def tables(self) -> list[str]:
        """The names of the tables."""
        return [name[len(TABLES) : -len(LINES)] for name in self.members if name.startswith(TABLES)]

    def check(self) -> None:
        """Raise unless every member is as it was written."""
        for name, about in self.members.items():
            with self._open(name) as content:
                if _digest(content) != about["sha256"]:
                    raise InputError(f"{self._path}: {name} has changed since the archive was made. Use another copy.")

    def rows(self, table: str) -> Iterator[dict[str, Any]]:
        """Give the rows of a table; none where the archive has no such table."""
        name = table_member(table)
        if name not in self.members:
            return
        with self._open(name) as content, gzip.GzipFile(fileobj=content) as packed:
            for line in packed:
                yield {column: _from_json(value) for column, value in json.loads(line).items()}

    def segments(self) -> Iterator[tuple[str, bytes]]:
        """Give the places of segments, with their bytes."""
        for name in self.members:
            if name.startswith(SEGMENTS):
                with self._open(name) as content:
                    yield name.removeprefix(SEGMENTS), content.read()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._tar.close()

    def _open(self, name: str) -> IO[bytes]:
        try:
            content = self._tar.extractfile(name)
        except (KeyError, tarfile.TarError):
            content = None
        if content is None:
            raise InputError(f"{self._path} is not whole: {name} is missing. Use another copy.")
        return content

    def _read_manifest(self, secret: Secret) -> dict[str, Any]:
        try:
            with self._open(MANIFEST) as content:
                manifest: dict[str, Any] = json.load(content)
            signature = str(manifest.pop("signature"))
            version = manifest["format"]
        except (ValueError, KeyError, AttributeError, tarfile.TarError, EOFError):
            raise InputError(f"{self._path} has no manifest that can be read. Use another copy.") from None
        if manifest.get("fingerprint") != secret.fingerprint:
            raise InputError(
                f"{self._path} was made by a service with another secret. Put the secret.key of that service into the "
                "folder of --data first: without it, people who were tested or erased could not be recognised."
            )
        if not hmac.compare_digest(signature, _sign(secret, manifest)):
            raise InputError(f"{self._path}: the manifest was changed after it was signed. Use another copy.")
        if version != FORMAT:
            raise InputError(f"{self._path} has the format {version!r}; this FairTest reads {FORMAT}. Update FairTest.")
        return manifest


def table_member(table: str) -> str:
    """Return the name that a table has in an archive."""
    return f"{TABLES}{table}{LINES}"


def segment_member(place: str) -> str:
    """Return the name that a segment has in an archive."""
    return f"{SEGMENTS}{place}"


def _digest(content: Any) -> str:
    return hashlib.file_digest(content, "sha256").hexdigest()


def _sign(secret: Secret, manifest: Mapping[str, Any]) -> str:
    text = json.dumps(manifest, sort_keys=True).encode()
    return hmac.new(secret.derive(PURPOSE), text, hashlib.sha256).hexdigest()


def _to_json(value: Any) -> Any:
    if isinstance(value, bytes | memoryview):
        return {"bytes": base64.b64encode(value).decode()}
    if value is None or isinstance(value, str | int | float | bool):
        return value
    raise TypeError(f"an archive has no way to write a {type(value).__name__}")


def _from_json(value: Any) -> Any:
    return base64.b64decode(value["bytes"]) if isinstance(value, dict) else value
