"""One connection to the service: a request out, an answer back. It decides nothing."""

from __future__ import annotations

import json
import math
import ssl
import time
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from fairtest_client.errors import InvalidSetting
from fairtest_client.version import __version__

if TYPE_CHECKING:
    from fairtest_client.batch import Batch

ANSWER_LIMIT = 1_000_000
LONGEST_WAIT = 3600.0


class Unreachable(Exception):  # noqa: N818 - it never leaves the package
    """There was no answer, or none that came whole."""


class UnreadableBatch(Exception):  # noqa: N818
    """The file that a batch was in has gone or cannot be read."""


@dataclass(frozen=True)
class Answer:
    """What the service said."""

    status: int
    body: dict[str, Any] = field(default_factory=dict)
    retry_after: float = 0.0
    location: str = ""


@dataclass(frozen=True)
class Address:
    """Where the service is."""

    scheme: str
    host: str
    port: int | None
    path: str

    @classmethod
    def parse(cls, url: str, *, allow_http: bool) -> Address:
        """Return the parts of an address, or raise an error that says what is wrong with it.

        Examples
        --------
        >>> Address.parse("https://fairtest.example/team", allow_http=False).records_path("loans", "records")
        '/team/v1/streams/loans/records'
        """
        parts = urlsplit(url) if isinstance(url, str) else urlsplit("")
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise InvalidSetting(f"The 'url' of Client must be like 'https://fairtest.example'. Got {url!r}.")
        if parts.username or parts.password:
            raise InvalidSetting("The 'url' of Client must hold no password. Give the key in 'key'.")
        if parts.scheme == "http" and not allow_http and not _is_this_machine(parts.hostname):
            raise InvalidSetting(
                f"The 'url' of Client must begin with https: the key and people's records would cross the network in "
                f"clear. Got {url!r}. Where something else encrypts the way there, give allow_http=True."
            )
        return cls(parts.scheme, parts.hostname, parts.port, parts.path.rstrip("/"))

    def records_path(self, stream: str, kind: str) -> str:
        """Return the path that batches of a kind are sent to."""
        return f"{self.path}/v1/streams/{quote(stream, safe='')}/{kind}"

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}{f':{self.port}' if self.port else ''}{self.path}"


def _is_this_machine(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class Transport:
    """Sends batches over a connection that is kept open. One thread uses it at a time.

    Proxies named in the environment are not used, and redirects are not followed: the key goes to the service alone.
    """

    def __init__(self, address: Address, key: str, timeout: float, tls: ssl.SSLContext | None) -> None:
        self._address, self._key, self._timeout, self._tls = address, key, timeout, tls
        self._connection: HTTPConnection | None = None

    def post(self, stream: str, batch: Batch, timeout: float | None = None) -> Answer:
        """Send a batch and return the answer.

        Raises
        ------
        Unreachable
            There was no whole answer. The service may have stored the batch all the same; its key makes sending it
            again harmless.
        """
        try:
            body = batch.body()
        except OSError as error:
            raise UnreadableBatch(_words(error)) from error
        headers = {
            "Authorization": f"Bearer {self._key}",
            "Content-Type": "application/x-ndjson",
            "Idempotency-Key": batch.key,
            "User-Agent": f"fairtest-client/{__version__}",
        }
        path = self._address.records_path(stream, batch.kind)
        kept_open = self._connection is not None
        try:
            return self._ask(path, body, headers, timeout)
        except (ConnectionError, HTTPException, OSError) as error:
            self.close()
            if not kept_open or isinstance(error, TimeoutError):
                raise Unreachable(_words(error)) from error
        try:  # the service closed a connection that was idle: not a failure, so no pause before another one is opened
            return self._ask(path, body, headers, timeout)
        except (ConnectionError, HTTPException, OSError) as error:
            self.close()
            raise Unreachable(_words(error)) from error

    def get(self, path: str) -> Answer:
        """Ask for something once and return the answer.

        Raises
        ------
        Unreachable
            There was no whole answer.
        """
        try:
            return self._ask(path, None, {"Authorization": f"Bearer {self._key}"}, None)
        except (ConnectionError, HTTPException, OSError) as error:
            self.close()
            raise Unreachable(_words(error)) from error

    def _ask(self, path: str, body: bytes | None, headers: dict[str, str], timeout: float | None) -> Answer:
        seconds = self._timeout if timeout is None else max(min(timeout, self._timeout), 0.1)
        connection = self._connection or self._connect(seconds)
        self._connection = connection
        if connection.sock is not None:
            connection.sock.settimeout(seconds)
        connection.request("GET" if body is None else "POST", path, body, headers)
        response = connection.getresponse()
        text = response.read(ANSWER_LIMIT + 1)
        if len(text) > ANSWER_LIMIT or response.will_close:
            self.close()
        return Answer(
            response.status,
            _parse_object(text),
            _seconds(response.headers.get("Retry-After", "")),
            response.headers.get("Location", ""),
        )

    def _connect(self, timeout: float) -> HTTPConnection:
        where = self._address
        if where.scheme == "http":
            return HTTPConnection(where.host, where.port, timeout=timeout)
        return HTTPSConnection(
            where.host, where.port, timeout=timeout, context=self._tls or ssl.create_default_context()
        )

    def close(self) -> None:
        """Close the connection; the next batch opens another."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _words(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _parse_object(text: bytes) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _seconds(text: str) -> float:
    """Return how long a Retry-After asks to wait: seconds, or a date.

    Examples
    --------
    >>> _seconds("7"), _seconds("Thu, 01 Jan 1970 00:00:00 GMT"), _seconds("soon")
    (7.0, 0.0, 0.0)
    """
    try:
        wait = float(text)
    except ValueError:
        try:
            wait = parsedate_to_datetime(text).timestamp() - time.time()
        except (ValueError, OverflowError):
            return 0.0
    return min(max(wait, 0.0), LONGEST_WAIT) if not math.isnan(wait) else 0.0
