"""What goes wrong in the service, in words that a client can act on.

::

    ServiceError
     ├── NotFound           there is no such thing in this project
     ├── Conflict           it exists already, or has changed since it was read
     ├── Refused            the key may not do this
     ├── BatchRejected      records are not what the stream declares; every one is named
     ├── KeyReused          an idempotency key came with another body
     ├── BadRequest         a value is not what it must be
     ├── TooManyRequests    the key sends more than it may: come back later
     ├── TooLarge           more bytes, records or columns than a request may have
     ├── Unsupported        a format that is not understood here
     └── StoreUnavailable   not now: try again
          └── Overloaded    too much at once
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from fairtest.exceptions import FairTestError


class ServiceError(FairTestError):
    """Base class; ``status`` and ``kind`` say how HTTP puts it."""

    status = 500
    kind = "fault"
    title = "A fault of the service"

    def extra(self) -> dict[str, Any]:
        """Return more members of the problem document."""
        return {}


class NotFound(ServiceError):  # noqa: N818 - reads as what it says
    """There is no such thing in this project."""

    status, kind, title = 404, "not-found", "There is no such thing"


class Conflict(ServiceError):  # noqa: N818
    """It exists already, or has changed since it was read."""

    status, kind, title = 409, "conflict", "This is not possible as things are"


class Unauthorized(ServiceError):  # noqa: N818
    """The request has no key, or one that is not known, expired or revoked."""

    status, kind, title = 401, "unauthorized", "A valid key is needed"


class Refused(ServiceError):  # noqa: N818
    """The key may not do this."""

    status, kind, title = 403, "forbidden", "This key may not do that"


class BadRequest(ServiceError):  # noqa: N818
    """A value of the request is not what it must be."""

    status, kind, title = 422, "bad-request", "The request is not what it must be"


class TooLarge(ServiceError):  # noqa: N818
    """The request has more bytes, records or columns than it may have."""

    status, kind, title = 413, "too-large", "The request is too large"


class TooManyRequests(ServiceError):  # noqa: N818
    """The key sends more requests than it may. The header Retry-After says when the next one is taken."""

    status, kind, title = 429, "too-many-requests", "Too many requests; nothing was stored"

    def __init__(self, message: str, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Unsupported(ServiceError):  # noqa: N818
    """The format of the request is not understood here."""

    status, kind, title = 415, "unsupported-format", "This format is not understood"


class KeyReused(ServiceError):  # noqa: N818
    """An idempotency key came again, with another body."""

    status, kind, title = 422, "key-reused", "This Idempotency-Key was used for another body"


class StoreUnavailable(ServiceError):  # noqa: N818
    """Not now: send the same request again later; with its Idempotency-Key a batch is stored once however often."""

    status, kind, title = 503, "unavailable", "Not now; send it again"
    retry_after = 2


class Overloaded(StoreUnavailable):
    """More arrives than can be stored at the moment."""

    status, kind, title = 503, "overloaded", "Too much at once; nothing was stored"


class PreconditionFailed(ServiceError):  # noqa: N818
    """It has changed since it was read."""

    status, kind, title = 412, "changed", "It has changed since you read it"


@dataclass(frozen=True)
class BadRow:
    """What is wrong with a record: its number in the batch from 0, the column, what came and what is allowed."""

    row: int | None
    column: str | None
    got: str
    allowed: str


class BatchRejected(ServiceError):  # noqa: N818
    """Records are not what the stream declares. None of the batch was stored."""

    status, kind = 422, "batch-rejected"
    SHOWN = 100

    def __init__(self, errors: list[BadRow], bad_records: int, records: int) -> None:
        self.errors = errors[: self.SHOWN]
        self.more = len(errors) - len(self.errors)
        verb = "was" if bad_records == 1 else "were"
        of = f"{bad_records:,} of {records:,} records" if records else "The batch"
        self.title = f"{of} {verb if records else 'was'} not accepted; none was stored"
        super().__init__(self.title)

    def extra(self) -> dict[str, Any]:
        """Return the bad records, the first hundred of them."""
        return {"errors": [asdict(error) for error in self.errors], "more": self.more}
