"""The errors of the client.

::

    ClientError
     ├── InvalidSetting   (ValueError)    an argument of Client or Stream is not what it must be
     ├── InvalidRecord    (ValueError)    a record cannot be written as JSON
     ├── BufferFull       (RuntimeError)  the service takes less than the application sends
     ├── Rejected         (RuntimeError)  the service refused records that were sent before
     ├── NoAnswer         (RuntimeError)  the service was asked something, and did not answer as it should
     ├── NotDelivered     (RuntimeError)  the client was closed, and records that nobody keeps are left
     └── Closed           (RuntimeError)  the stream has been closed

A call of ``send`` that raises has not taken its record.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence


class ClientError(Exception):
    """Base class of every error that the client raises on purpose."""


class InvalidSetting(ClientError, ValueError):  # noqa: N818 - it says what is the matter, as the others do
    """An argument is not what it must be; the message says what would be."""


class InvalidRecord(ClientError, ValueError):  # noqa: N818
    """A record cannot be written as JSON; the message names the column."""


class BufferFull(ClientError, RuntimeError):  # noqa: N818
    """The buffer stayed full for as long as ``send`` may wait. The record was not taken."""


class Closed(ClientError, RuntimeError):  # noqa: N818
    """The stream has been closed and takes no more records."""


class NoAnswer(ClientError, RuntimeError):  # noqa: N818
    """The service was asked something, and did not answer, or refused to."""


class NotDelivered(ClientError, RuntimeError):  # noqa: N818
    """The client was closed, records are unsent, and no spool folder keeps them."""


@dataclass(frozen=True)
class Rejection:
    """A batch that the service refused. Nothing of it was stored.

    Attributes
    ----------
    stream
        The name of the stream.
    kind
        ``"records"`` or ``"truths"``.
    key
        The batch's idempotency key, by which the service's log names it.
    status
        The status of the answer.
    title
        The service's sentence.
    errors
        What is wrong, by row and column, where the service says so.
    records
        What was refused, as the service got it.
    """

    stream: str
    kind: str
    key: str
    status: int
    title: str
    errors: tuple[dict[str, Any], ...] = ()
    records: tuple[dict[str, Any], ...] = field(default=(), repr=False)


class Rejected(ClientError, RuntimeError):  # noqa: N818
    """The service refused batches that were sent before.

    Attributes
    ----------
    rejections
        The batches, each with its records, so that they can be mended and sent again.
    """

    def __init__(self, rejections: Sequence[Rejection]) -> None:
        self.rejections = tuple(rejections)
        first = self.rejections[0]
        count = sum(len(one.records) for one in self.rejections)
        more = f" ({len(self.rejections) - 1} more batches were refused too.)" if len(self.rejections) > 1 else ""
        wrong = "".join(f" {_sentence(error)}" for error in first.errors[:3])
        super().__init__(
            f"The service refused {count:,} {first.kind} of the stream {first.stream!r} that were sent before: "
            f"{first.status} {first.title}.{wrong}{more} They are in .rejections of this error; the record of this "
            "call was not taken. Give on_rejected=... to handle refusals without an error."
        )


def _sentence(error: dict[str, Any]) -> str:
    where = ", ".join(f"{name} {error[name]!r}" for name in ("row", "column") if name in error)
    allowed = f", allowed is {error['allowed']}" if "allowed" in error else ""
    return f"{where.capitalize()}: got {error.get('got', 'nothing')}{allowed}." if where else f"{error}."
