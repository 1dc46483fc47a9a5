"""How alerts leave the service. Passwords come by the environment or a file, never by the command line."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from fairtest.exceptions import InputError
from fairtest.service.guard.environment import read_password

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Network = IPv4Network | IPv6Network


@dataclass(frozen=True)
class MailServer:
    """Where e-mail is handed in.

    Attributes
    ----------
    security
        ``"tls"`` from the first byte, ``"starttls"`` before anything else is said, or ``"none"``.
    """

    host: str
    port: int
    security: str
    user: str = ""
    password: str = field(default="", repr=False)
    sender: str = "fairtest@localhost"


@dataclass(frozen=True)
class AlertSettings:
    """What alerts need to know.

    Attributes
    ----------
    allow_private
        Networks that webhooks may reach although they are not public.
    mail
        The server for e-mail; None where there is none.
    public_url
        How people reach the service, for the links in messages.
    """

    allow_private: tuple[Network, ...] = ()
    mail: MailServer | None = None
    public_url: str = ""

    @classmethod
    def from_environment(
        cls, allow_private: Iterable[str] = (), public_url: str = "", given: Mapping[str, str] | None = None
    ) -> AlertSettings:
        """Return what was given, and FAIRTEST_SMTP, FAIRTEST_SMTP_PASSWORD (or _FILE) and FAIRTEST_MAIL_FROM.

        Examples
        --------
        >>> AlertSettings.from_environment(["10.1.0.0/16"], "", {"FAIRTEST_SMTP": "smtps://mail.example"}).mail.port
        465
        """
        found = os.environ if given is None else given
        return cls(
            tuple(_network(each) for each in allow_private),
            _mail_server(found),
            (public_url or found.get("FAIRTEST_PUBLIC_URL", "")).rstrip("/"),
        )


def _network(text: str) -> Network:
    try:
        return ip_network(text)
    except ValueError as error:
        raise InputError(f"--allow-private must be a network such as 10.1.0.0/16. Got {text!r}: {error}.") from None


def _mail_server(found: Mapping[str, str]) -> MailServer | None:
    text = found.get("FAIRTEST_SMTP", "")
    if not text:
        return None
    parts = urlsplit(text)
    ports = {"smtps": (465, "tls"), "smtp": (587, "starttls"), "smtp+plain": (25, "none")}
    if parts.scheme not in ports or not parts.hostname or parts.password:
        raise InputError(
            "FAIRTEST_SMTP must be smtps://USER@HOST:PORT, smtp://… (with STARTTLS) or smtp+plain://… (a server on "
            "this machine), without a password: that goes into FAIRTEST_SMTP_PASSWORD or a file that "
            "FAIRTEST_SMTP_PASSWORD_FILE names."
        )
    port, security = ports[parts.scheme]
    password = read_password("FAIRTEST_SMTP_PASSWORD", found)
    sender = found.get("FAIRTEST_MAIL_FROM", f"fairtest@{parts.hostname}")
    return MailServer(parts.hostname, parts.port or port, security, unquote(parts.username or ""), password, sender)
