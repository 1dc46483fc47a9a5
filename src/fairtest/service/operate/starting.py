"""Whether a service may start as it is asked to: not open to others by accident."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fairtest.exceptions import InputError
from fairtest.service.guard.loopback import is_loopback
from fairtest.service.settings import Settings
from fairtest.service.store.projects import any_key

if TYPE_CHECKING:
    from fairtest.service.service import Service

ADDRESS_FILE = "address"
"""The file of the folder that says where the service listens while it runs."""


@dataclass(frozen=True)
class Listening:
    """Where the service listens, and how what it sends is kept from others."""

    host: str = "127.0.0.1"
    port: int = 8000
    behind_proxy: bool = False
    tls_cert: str = ""
    tls_key: str = ""


def check_may_listen(service: Service, listening: Listening) -> None:
    """Raise if others could reach a service that nobody guards."""
    if bool(listening.tls_cert) != bool(listening.tls_key):
        raise InputError("--tls-cert and --tls-key go together: name both files, or neither.")
    if is_loopback(listening.host):
        return
    if not any_key(service.database):
        raise InputError(
            f"On the address {listening.host} others can reach the service, and there is no key yet. "
            "Make one first: fairtest key new --project NAME --scope manage."
        )
    if not (listening.behind_proxy or listening.tls_cert):
        raise InputError(
            f"On the address {listening.host} keys would travel unprotected. Name --tls-cert and --tls-key, or say "
            "--behind-proxy where a proxy adds TLS."
        )


def note_address(settings: Settings, address: str) -> None:
    """Keep where the service listens in its folder, for commands on the same machine; empty when it has stopped."""
    place = settings.data / ADDRESS_FILE
    if address:
        place.write_text(f"{address}\n")
    else:
        place.unlink(missing_ok=True)


def known_address(settings: Settings) -> str:
    """Return where the service of this folder listens, or would if nobody said otherwise."""
    with suppress(OSError):
        return (settings.data / ADDRESS_FILE).read_text().strip()
    return f"http://localhost:{Listening.port}"


def to_text(settings: Settings, listening: Listening) -> str:
    """Return what a child process needs to know; it travels by its standard input, where no other user sees it."""
    return json.dumps({"settings": {**asdict(settings), "data": str(settings.data)}, "listening": asdict(listening)})


def from_text(text: str) -> tuple[Settings, Listening]:
    """Return what :func:`to_text` was given."""
    given = json.loads(text)
    settings = given["settings"]
    settings |= {"data": Path(settings["data"]), "allow_private": tuple(settings["allow_private"])}
    return Settings(**settings), Listening(**given["listening"])
