"""The thread that brings batches to the service, one after the other, until it has them or refuses them."""

from __future__ import annotations

import json
import logging
import random
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairtest_client.errors import Rejection
from fairtest_client.transport import Answer, Transport, Unreachable, UnreadableBatch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fairtest_client.batch import Batch
    from fairtest_client.buffer import Buffer
    from fairtest_client.spool import Spool

logger = logging.getLogger("fairtest_client")
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 60.0
SAY_AGAIN = 60.0
TRY_AGAIN = {408, 425, 429}
"""The refusals that are about the moment and not about the batch."""
UNREACHED, UNREADABLE = -1, 0
"""What stands for a status where nothing answered, and where there was nothing to send."""


def pauses(chance: random.Random) -> Iterator[float]:
    """Yield the pauses between tries: each up to twice as long as the one before, and drawn at random.

    Chance keeps the clients of a service that comes back from calling all at once. Half of each pause is certain, so
    that nobody calls again immediately.

    Examples
    --------
    >>> steps = pauses(random.Random(1))
    >>> [round(next(steps), 2) for _ in range(4)]
    [0.28, 0.92, 1.76, 2.51]
    """
    step = FIRST_PAUSE
    while True:
        yield step * (0.5 + chance.random() / 2)
        step = min(2 * step, LONGEST_PAUSE)


@dataclass
class Tally:
    """What became of the records of a stream in this process."""

    accepted: int = 0
    rejected: int = 0
    tries: int = 0
    failed_tries: int = 0


class Sender:
    """Delivers the batches of one stream.

    Parameters
    ----------
    stream
        Its name.
    buffer
        Where batches come from.
    transport
        The connection.
    spool
        What keeps batches over a crash.
    reject
        What to do with a batch that the service refused.
    """

    def __init__(
        self,
        stream: str,
        buffer: Buffer,
        transport: Transport,
        spool: Spool | None,
        reject: Callable[[Rejection], None],
    ) -> None:
        self._stream, self._buffer, self._transport = stream, buffer, transport
        self._spool, self._reject = spool, reject
        self._chance = random.Random()  # its own, so that a seed of the application stays the application's
        self._trouble_said = float("-inf")
        self.tally = Tally()

    def run(self) -> None:
        """Deliver batches until the buffer is closed and empty, or its time is over."""
        try:
            while (batch := self._buffer.first()) is not None:
                if not self._deliver(batch):
                    return
        except Exception:  # the next send starts another thread, which goes on with the same batch
            logger.exception("The thread that sends %r failed", self._stream)
        finally:
            self._transport.close()
            if self._spool is not None:
                self._spool.release()

    def _deliver(self, batch: Batch) -> bool:
        """Try until the service has a batch or refuses it; False where the time to close was over before."""
        for pause in pauses(self._chance):
            left = self._buffer.time_left()
            if left is not None and left <= 0:
                return False
            self.tally.tries += 1
            answer = self._try(batch, left)
            trouble = _trouble(answer, batch)
            if not trouble:
                self._finish(batch, answer)
                return True
            self.tally.failed_tries += 1
            self._say(batch, trouble)
            if not self._buffer.pause(pause + answer.retry_after):
                return False
        raise AssertionError("pauses never end")

    def _try(self, batch: Batch, seconds: float | None) -> Answer:
        try:
            return self._transport.post(self._stream, batch, seconds)
        except UnreadableBatch as error:
            return Answer(UNREADABLE, {"title": f"its file in the spool cannot be read: {error}"})
        except Unreachable as error:
            return Answer(UNREACHED, {"title": f"there was no answer ({error})"})

    def _finish(self, batch: Batch, answer: Answer) -> None:
        if 200 <= answer.status < 300:
            self.tally.accepted += batch.rows
            if self._spool is not None:
                self._spool.remove(batch)
        else:
            self.tally.rejected += batch.rows
            rejection = _rejection(self._stream, batch, answer)
            logger.error("Batch %s of %r was refused: %d %s", batch.key, self._stream, answer.status, rejection.title)
            if self._spool is not None and answer.status != UNREADABLE:
                self._spool.set_aside(batch, {"status": answer.status, "title": rejection.title, **answer.body})
            self._reject(rejection)
        self._trouble_said = float("-inf")
        self._buffer.done(batch)

    def _say(self, batch: Batch, trouble: str) -> None:
        """Log a failure, but not every one of a service that is away for long."""
        level = logging.DEBUG
        if time.monotonic() - self._trouble_said >= SAY_AGAIN:
            level, self._trouble_said = logging.WARNING, time.monotonic()
        waiting = self._buffer.left()[0]
        logger.log(
            level, "Batch %s of %r was not taken: %s. %d records wait", batch.key, self._stream, trouble, waiting
        )


def _trouble(answer: Answer, batch: Batch) -> str:
    """Return why to try again; empty where the answer is final."""
    if answer.status == UNREACHED:
        return str(answer.body["title"])
    if answer.status >= 500 or answer.status in TRY_AGAIN:
        return f"the answer was {answer.status}"
    if 200 <= answer.status < 300 and answer.body.get("batch") != batch.key:
        return f"the answer {answer.status} is no receipt of the service; something between may have answered"
    return ""


def _rejection(stream: str, batch: Batch, answer: Answer) -> Rejection:
    title = str(answer.body.get("title", "")) or "no reason was given"
    if 300 <= answer.status < 400:
        title = f"the service has moved to {answer.location or 'another address'}: give that one as 'url'"
    detail = answer.body.get("detail")
    errors = answer.body.get("errors")
    return Rejection(
        stream=stream,
        kind=batch.kind,
        key=batch.key,
        status=answer.status,
        title=f"{title}: {detail}".rstrip(".") if isinstance(detail, str) else title.rstrip("."),
        errors=tuple(error for error in errors if isinstance(error, dict)) if isinstance(errors, list) else (),
        records=tuple(_parse_lines(batch.body())) if answer.status != UNREADABLE else (),
    )


def _parse_lines(body: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in body.splitlines()]
