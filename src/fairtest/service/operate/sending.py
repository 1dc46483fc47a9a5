"""``fairtest ingest``: the records of a file, in batches, to a service. It needs nothing but Python.

The key of a batch is the hash of what is in it. So a command that was interrupted is typed again: what was stored is
not stored twice.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import time
from dataclasses import dataclass
from itertools import islice
from typing import IO, TYPE_CHECKING, Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

from fairtest.exceptions import InputError
from fairtest.service.guard.loopback import is_loopback

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

MEDIA_TYPES = {"csv": "text/csv", "ndjson": "application/x-ndjson"}
ENDINGS = {".csv": "csv", ".ndjson": "ndjson", ".jsonl": "ndjson"}
PAUSES = (1.0, 2.0, 5.0, 10.0, 30.0, 60.0)
"""Seconds between tries while the service cannot be reached or takes no more; the last one again and again."""
NOT_NOW = {408, 425, 429, 502, 503, 504}
WITHIN = 60.0


class _NoRedirects(HTTPRedirectHandler):
    """Follows no redirect: the key goes to the service that was named, and nowhere else."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Refuse."""


@dataclass
class Sent:
    """What became of a file."""

    records: int = 0
    stored: int = 0
    stored_before: int = 0


def check_url(url: str) -> str:
    """Return the address of a service, or say what is wrong with it."""
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username:
        raise InputError(f"--url must be like https://fairtest.example. Got {url!r} instead.")
    if parts.scheme == "http" and not is_loopback(parts.hostname):
        raise InputError(f"--url must begin with https: the key and people's records would be in clear. Got {url!r}.")
    return url.rstrip("/")


def split_file(file: IO[str], kind: str, at_most: int) -> Iterator[tuple[bytes, int]]:
    """Give the records of a file in batches: the body of a request, and how many records it has."""
    if kind == "ndjson":
        lines = (line.strip() for line in file)
        yield from _in_batches((line for line in lines if line), at_most, lambda some: "\n".join(some) + "\n")
        return
    rows = csv.reader(file)
    header = next(rows, None)
    if not header:
        raise InputError("The file must begin with a line that names the columns. It is empty.")
    yield from _in_batches((row for row in rows if row), at_most, lambda some: _write_csv([header, *some]))


def _in_batches(records: Iterator[Any], at_most: int, write: Callable[[list[Any]], str]) -> Iterator[tuple[bytes, int]]:
    while some := list(islice(records, at_most)):
        yield write(some).encode(), len(some)


def _write_csv(rows: Iterable[list[str]]) -> str:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


class Ingest:
    """Sends batches to a stream, one after the other, until the service has them or refuses them.

    Parameters
    ----------
    patience
        Seconds for which a service that does not answer, or takes no more, is tried.
    say
        Is told when there is something to wait for.
    """

    def __init__(
        self, url: str, key: str, stream: str, kind: str, *, patience: float, say: Callable[[str], None],
        rest: Callable[[float], None] = time.sleep,
    ) -> None:  # fmt: skip
        self._address = f"{check_url(url)}/v1/streams/{quote(stream, safe='')}/records"
        self._headers = {"Authorization": f"Bearer {key}", "Content-Type": MEDIA_TYPES[kind]}
        self._patience, self._say, self._rest = patience, say, rest
        self._open = build_opener(ProxyHandler({}), _NoRedirects()).open

    def send_all(self, batches: Iterable[tuple[bytes, int]]) -> Sent:
        """Send batches, and return what became of them."""
        sent = Sent()
        for body, records in batches:
            receipt, replayed = self._send(body, sent.records)
            sent.records += records
            if replayed:
                sent.stored_before += receipt["accepted"]
            else:
                sent.stored += receipt["accepted"]
        return sent

    def _send(self, body: bytes, before: int) -> tuple[dict[str, Any], bool]:
        key = "file-" + hashlib.sha256(body).hexdigest()[:40]
        waited = 0.0
        for attempt in range(10_000):
            try:
                with self._open(
                    Request(self._address, body, {**self._headers, "Idempotency-Key": key}), timeout=WITHIN
                ) as answer:
                    return json.load(answer), answer.headers.get("Idempotency-Replayed") == "true"
            except HTTPError as error:
                with error:
                    if error.code not in NOT_NOW:
                        raise InputError(_explain(error, before)) from None
                    why, asked = f"it answered {error.code}", error.headers.get("Retry-After", "")
            except (URLError, OSError) as error:
                why, asked = str(getattr(error, "reason", error)), ""
            pause = max(PAUSES[min(attempt, len(PAUSES) - 1)], float(asked) if asked.isdigit() else 0.0)
            if waited + pause > self._patience:
                break
            self._say(f"The service takes nothing now ({why}); trying again in {pause:g} s.")
            self._rest(pause)
            waited += pause
        raise InputError(
            f"The service has taken nothing for {waited:g} s ({why}); {before:,} records were sent. Type the command "
            "again later: what was stored is not stored twice."
        )


def _explain(error: HTTPError, before: int) -> str:
    """Return what the service says of a batch; its rows are those of the file from here on."""
    try:
        problem = json.load(error)
    except ValueError:
        problem = {}
    words = [f"The service refused records: {problem.get('title') or error.reason} (HTTP {error.code})."]
    if detail := problem.get("detail"):
        words.append(str(detail))
    words += [
        f"Record {before + each['row'] + 1:,}, {each['column']}: {each['got']}; allowed: {each['allowed']}."
        for each in problem.get("errors", ())[:10]
        if each.get("row") is not None
    ]
    words.append(f"The {before:,} records before were stored.")
    return "\n".join(words)
