"""Keys as clients hold them, and hashes that need the service's own secret.

A key reads ``ftk_<id>_<secret><checksum>``: secret scanners find it, and a typing error is told apart from a key that
is not known. The store has its SHA-256 only; with 256 random bits no slow hash is needed.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairtest.exceptions import InputError

if TYPE_CHECKING:
    from pathlib import Path

ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
PREFIX = "ftk"
ID_LENGTH, SECRET_LENGTH, CHECK_LENGTH = 12, 43, 6


@dataclass(frozen=True)
class NewKey:
    """A key that was just made; ``text`` is shown once and stored nowhere."""

    id: str
    text: str
    digest: str


def make_key() -> NewKey:
    """Return a new key."""
    key_id = "".join(secrets.choice(ALPHABET) for _ in range(ID_LENGTH))
    body = f"{PREFIX}_{key_id}_" + _base62(secrets.randbits(256), SECRET_LENGTH)
    text = body + _checksum(body)
    return NewKey(key_id, text, digest_of(text))


def id_of_key(text: str) -> str | None:
    """Return the id in a key; None where it is no key at all, or mistyped."""
    prefix, _, rest = text.partition("_")
    key_id, _, secret = rest.partition("_")
    if prefix != PREFIX or len(key_id) != ID_LENGTH or len(secret) != SECRET_LENGTH + CHECK_LENGTH:
        return None
    body, check = text[:-CHECK_LENGTH], text[-CHECK_LENGTH:]
    return key_id if text.isascii() and hmac.compare_digest(check, _checksum(body)) else None


def digest_of(text: str) -> str:
    """Return the SHA-256 that is stored of a key."""
    return hashlib.sha256(text.encode()).hexdigest()


def _checksum(body: str) -> str:
    return _base62(zlib.crc32(body.encode()), CHECK_LENGTH)


def _base62(number: int, length: int) -> str:
    digits = []
    for _ in range(length):
        number, digit = divmod(number, len(ALPHABET))
        digits.append(ALPHABET[digit])
    return "".join(reversed(digits))


class Secret:
    """The secret of the service: 32 random bytes in a file that only its user may read.

    Hashes of ids are keyed by it, so that whoever has a copy of the tables alone cannot try ids against them.
    """

    def __init__(self, value: bytes) -> None:
        self._value = value

    @classmethod
    def from_file(cls, path: Path) -> Secret:
        """Read the secret, or make one where there is none."""
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            return cls(_read_secret(path))
        with os.fdopen(handle, "w") as file:
            file.write(secrets.token_hex(32))
            file.flush()
            os.fsync(file.fileno())
        return cls(_read_secret(path))

    def hash_id(self, project: str, stream: str, value: str) -> bytes:
        """Return 16 bytes that stand for the id of a record or person of a stream."""
        return self.hasher(project, stream)(value)

    def hasher(self, project: str, stream: str) -> IdHasher:
        """Return what hashes the ids of one stream: the same person has other hashes elsewhere."""
        return IdHasher(self.derive("ids", project, stream))

    def derive(self, *purpose: str) -> bytes:
        """Return a secret for one purpose."""
        name = "\x1f".join(purpose).encode()
        return hmac.new(self._value, name, hashlib.sha256).digest()

    @property
    def fingerprint(self) -> str:
        """What the database keeps, so that a server with another secret does not start on it."""
        return self.derive("fingerprint").hex()[:32]


class IdHasher:
    """Hashes ids by keyed BLAKE2b."""

    def __init__(self, key: bytes) -> None:
        self._start = hashlib.blake2b(digest_size=16, key=key)

    def __call__(self, value: str) -> bytes:
        """Return 16 bytes that stand for an id."""
        hashing = self._start.copy()
        hashing.update(value.encode())
        return hashing.digest()

    def short(self, value: str) -> int:
        """Return the first eight bytes as a signed number, to join on; whoever erases compares the other eight too."""
        return int.from_bytes(self(value)[:8], "big", signed=True)


def _read_secret(path: Path) -> bytes:
    text = path.read_text("ascii", errors="replace").strip()
    try:
        value = bytes.fromhex(text)
    except ValueError:
        value = b""
    if len(value) != 32:
        raise InputError(f"{path} is not a secret of FairTest: it must hold 64 hexadecimal digits. Restore it.")
    return value
