"""One message to one webhook: bounded in time and in what is read, and to nowhere but the address that was checked."""

from __future__ import annotations

import http.client
import socket
import ssl
import threading
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairtest.service.alerts.addresses import NotAllowed, look_up_name, read_url, resolve
from fairtest.service.errors import BadRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from fairtest.service.alerts.addresses import Target
    from fairtest.service.alerts.settings import Network

CONNECT_WITHIN, ANSWER_WITHIN = 5.0, 10.0
MOST_READ = 1024
LONGEST_RETRY_AFTER = 86400.0


@dataclass(frozen=True)
class Outcome:
    """What became of an attempt.

    Attributes
    ----------
    reason
        Why it failed, without anything that the other side said: what a webhook leads to is nobody's business here.
    final
        Whether trying again is pointless.
    retry_after
        Seconds that the receiver asked for.
    """

    delivered: bool
    reason: str = ""
    final: bool = False
    retry_after: float = 0.0


class _Pinned(http.client.HTTPConnection):
    """A connection to addresses that were checked, whatever the name leads to by now."""

    def __init__(self, target: Target, tls: ssl.SSLContext | None) -> None:
        super().__init__(target.host, target.port, timeout=CONNECT_WITHIN)
        self._target, self._tls = target, tls

    def connect(self) -> None:
        """Open the connection: to the address, under the name."""
        error: OSError = OSError("no address")
        for address in self._target.addresses:
            try:
                plain = socket.create_connection((address, self._target.port), CONNECT_WITHIN)
            except OSError as failed:
                error = failed
                continue
            self.sock = plain
            if self._tls is not None:
                self.sock = self._tls.wrap_socket(plain, server_hostname=self._target.host)
            self.sock.settimeout(ANSWER_WITHIN)
            return
        raise error


def post(
    url: str,
    headers: dict[str, str],
    body: bytes,
    allowed: Iterable[Network] = (),
    *,
    tls: ssl.SSLContext | None = None,
    look_up: Callable[[str, int], Iterable[str]] = look_up_name,
    within: float = ANSWER_WITHIN,
) -> Outcome:
    """Send a message. Redirects are not followed, and no proxy is used."""
    try:
        target = resolve(read_url(url), allowed, look_up)
    except (NotAllowed, BadRequest) as error:
        return Outcome(False, f"Not sent: {error}.", final=True)
    except (OSError, UnicodeError):
        return Outcome(False, "The name of the address was not found.")
    context = (tls or ssl.create_default_context()) if target.scheme == "https" else None
    connection = _Pinned(target, context)
    cut = threading.Timer(within, _cut, [connection])  # a receiver that sends a byte now and then never times out
    cut.daemon = True
    cut.start()
    try:
        return _exchange(connection, target, headers, body)
    except ssl.SSLCertVerificationError:
        return Outcome(False, "The certificate of the receiver is not valid.")
    except (OSError, http.client.HTTPException) as error:
        return Outcome(False, f"There was no answer ({type(error).__name__}).")
    finally:
        cut.cancel()
        connection.close()


def _exchange(connection: _Pinned, target: Target, headers: dict[str, str], body: bytes) -> Outcome:
    sent = {"Content-Type": "application/json", "User-Agent": "FairTest", "Host": target.host_header, **headers}
    connection.request("POST", target.path, body, sent)
    response = connection.getresponse()
    response.read(MOST_READ)
    if 200 <= response.status < 300:
        return Outcome(True)
    reason = f"The receiver answered {response.status}."
    if 300 <= response.status < 400:
        reason = f"The receiver answered {response.status}; redirects are not followed."
    return Outcome(False, reason, response.status == 410, _retry_after(response))


def _retry_after(response: http.client.HTTPResponse) -> float:
    text = response.headers.get("Retry-After", "")
    return min(float(text), LONGEST_RETRY_AFTER) if text.isascii() and text.isdigit() else 0.0


def _cut(connection: _Pinned) -> None:
    if connection.sock is not None:
        with suppress(OSError):
            connection.sock.shutdown(socket.SHUT_RDWR)
