"""What an application sends its records to."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from fairtest_client.buffer import Buffer
from fairtest_client.encoding import encode_record
from fairtest_client.errors import InvalidRecord, InvalidSetting, Rejected, Rejection
from fairtest_client.functions import watch_function
from fairtest_client.sender import Sender
from fairtest_client.spool import Spool
from fairtest_client.transport import Transport

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from fairtest_client.batch import Kind
    from fairtest_client.functions import Errors, Output, RecordId
    from fairtest_client.sampling import Sample
    from fairtest_client.settings import Settings

P = ParamSpec("P")
R = TypeVar("R")
logger = logging.getLogger("fairtest_client")


@dataclass(frozen=True)
class Unsent:
    """What the service had not taken when a stream was closed. It is false where that is nothing.

    Attributes
    ----------
    records
        How many records (and truths). Those of a batch that was on its way may have arrived.
    batches
        How many batches they are in.
    lost
        How many of them no spool folder keeps: they end with this process.
    """

    records: int = 0
    batches: int = 0
    lost: int = 0

    def __bool__(self) -> bool:
        return self.records > 0

    def __add__(self, other: Unsent) -> Unsent:
        return Unsent(self.records + other.records, self.batches + other.batches, self.lost + other.lost)


@dataclass(frozen=True)
class Counts:
    """What became of the records of this process: accepted, rejected, waiting; the tries it took; and who was left out.

    ``left_out`` are records of people whom the stream does not keep; they were not sent.
    """

    accepted: int
    rejected: int
    waiting: int
    tries: int
    failed_tries: int
    left_out: int = 0


class Stream:
    """A stream of the service. Made by :meth:`Client.stream`; any thread may use it, and so may a forked process.

    Parameters
    ----------
    name
        Its name in the service.
    settings
        Those of the client.
    record_id, truth
        The columns that hold the id of a record and what turned out later, for :meth:`truth`.
    sample
        Which people are sent; all of them by default.
    on_start
        Called when a thread begins to send, in each process that does.
    """

    def __init__(
        self,
        name: str,
        settings: Settings,
        *,
        record_id: str,
        truth: str | None,
        on_start: Callable[[], None],
        sample: Sample | None = None,
    ) -> None:
        self.name = name
        self._sample, self._left_out = sample, 0
        self._settings, self._record_id, self._truth, self._on_start = settings, record_id, truth, on_start
        self._begin()

    def _begin(self) -> None:
        settings = self._settings
        self._spool = None
        if settings.spool is not None:
            self._spool = Spool(settings.spool, self.name, str(settings.address))
        self._buffer = Buffer(settings.buffer, settings.batch, settings.every, self._spool)
        self._transport = Transport(settings.address, settings.key, settings.timeout, settings.tls)
        self._sender = Sender(self.name, self._buffer, self._transport, self._spool, self._handle_rejection)
        self._thread: threading.Thread | None = None
        self._starting = threading.RLock()
        self._rejections: list[Rejection] = []
        if self._spool is not None and (found := self._spool.adopt()):
            logger.info("%d records of %r are resumed from the spool", sum(b.rows for b in found), self.name)
            self._buffer.take_over(found)
            self._start()

    def send(self, record: Mapping[str, Any] | None = None, /, **columns: Any) -> None:
        """Send a record. It is taken down at once and sent by another thread; the network is never waited for.

        Parameters
        ----------
        record
            Columns whose names are not those of Python, or a whole record.
        columns
            The columns.

        Raises
        ------
        InvalidRecord
            A value cannot be written as JSON.
        BufferFull
            The buffer stayed full for ``wait`` seconds.
        Rejected
            The service refused records that were sent before, and no ``on_rejected`` takes them.
        """
        self.send_record({**record, **columns} if record is not None else columns)

    def send_record(self, record: Mapping[str, Any], *, wait: float | None = None) -> None:
        """Send a record, and say how long a full buffer may be waited for."""
        self._add("records", record, wait)

    def truth(self, record_id: Any, value: Any) -> None:
        """Send what turned out later for a record: whether the loan was repaid, what the patient had.

        Parameters
        ----------
        record_id
            The id that the record was sent with.
        value
            What turned out, for the column that ``Client.stream(..., truth=...)`` names.
        """
        if self._truth is None:
            raise InvalidSetting(
                f"Name the column of the truth: client.stream({self.name!r}, truth='repaid'). None was named."
            )
        if record_id is None:
            raise InvalidRecord("The 'record_id' of a truth must be the id that the record was sent with. Got None.")
        self._add("truths", {self._record_id: record_id, self._truth: value}, None)

    def _add(self, kind: Kind, record: Mapping[str, Any], wait: float | None) -> None:
        if self._rejections:
            with self._starting:
                rejections, self._rejections = self._rejections, []
            if rejections:
                raise Rejected(rejections)
        if self._sample is not None and not self._sample.keeps(record):
            with self._starting:
                self._left_out += 1
            return
        line = encode_record(record)
        patience = self._settings.wait if wait is None else wait
        if threading.current_thread() is self._thread:  # in on_rejected: nobody else would make room
            patience = 0.0
        if self._thread is None or not self._thread.is_alive():
            self._start()
        self._buffer.add(kind, line, patience)

    def _start(self) -> None:
        """Start the thread, unless it runs. At the end of the interpreter it cannot: then :meth:`close` sends."""
        with self._starting:
            if self._thread is not None and self._thread.is_alive():
                return
            thread = threading.Thread(target=self._sender.run, name=f"fairtest-client {self.name}", daemon=True)
            try:
                thread.start()
            except RuntimeError:
                return
            self._thread = thread
        self._on_start()

    def _handle_rejection(self, rejection: Rejection) -> None:
        handle = self._settings.on_rejected
        if handle is not None:
            try:
                handle(rejection)
                return
            except Exception:
                logger.exception("on_rejected failed; the rejection is raised by the next send")
        with self._starting:
            self._rejections.append(rejection)

    def watch(
        self,
        *,
        record_id: RecordId = None,
        output: Output = "output",
        columns: Iterable[str] | None = None,
        errors: Errors = "log",
    ) -> Callable[[Callable[P, R]], Callable[P, R]]:
        """Return a decorator that sends what a function was called with and what it returned.

        Parameters
        ----------
        record_id
            The argument that holds the id of a record, or a function of the arguments that returns it. By default each
            call gets a random one.
        output
            The column that holds what the function returns; or several, where it returns a mapping; or a function of
            what it returns that gives columns.
        columns
            The arguments to send; all of them by default. Send what is needed, and no more.
        errors
            ``"log"``: a record that cannot be sent is logged as an error, and the function returns as ever.
            ``"raise"``: the error is raised, after the function has done its work.

        Examples
        --------
        ::

            @loans.watch(record_id="application", output="granted", columns=["sex", "age"])
            def decide(application, sex, age, income): ...
        """
        return watch_function(self, record_id, output, None if columns is None else tuple(columns), errors)

    @property
    def record_id(self) -> str:
        """The column that holds the id of a record."""
        return self._record_id

    @property
    def columns(self) -> tuple[str, str | None]:
        """The columns of the id and of the truth."""
        return self._record_id, self._truth

    @property
    def unsent(self) -> Unsent:
        """What the service has not taken so far."""
        return Unsent(*self._buffer.left())

    @property
    def counts(self) -> Counts:
        """What became of the records so far."""
        tally = self._sender.tally
        waiting = self._buffer.left()[0]
        return Counts(tally.accepted, tally.rejected, waiting, tally.tries, tally.failed_tries, self._left_out)

    def flush(self, timeout: float = 10.0) -> int:
        """Send what there is without waiting for a full batch; return how many records are unsent after so long."""
        return self._buffer.flush(timeout)

    def stop_taking(self, timeout: float | None = None) -> None:
        """Take no more records, and go on sending for so long without being waited for."""
        self._buffer.close(self._settings.close_within if timeout is None else timeout)

    def close(self, timeout: float | None = None) -> Unsent:
        """Send what there is, and say what could not be sent in time.

        Raises
        ------
        Rejected
            The service refused records, and nobody has been told yet.
        """
        self.stop_taking(timeout)
        thread = self._thread
        if thread is not None and thread.is_alive():
            if thread is not threading.current_thread():
                thread.join(max(self._buffer.time_left() or 0.0, 0.0) + 0.5)
        elif self._buffer.left()[0]:  # no thread could be started at the end of the interpreter
            self._sender.run()
        elif self._spool is not None:
            self._spool.release()
        unsent = self.unsent
        if unsent.lost:
            logger.error("%d records of %r were not sent and are lost", unsent.lost, self.name)
        elif unsent:
            logger.warning("%d records of %r wait in the spool for the next start", unsent.records, self.name)
        if self._rejections:
            rejections, self._rejections = self._rejections, []
            raise Rejected(rejections)
        return unsent

    def restart_in_child(self) -> None:
        """In a process that was forked: leave what waits, the connection and the locks to the parent; begin anew."""
        self._transport.close()
        self._buffer.close_files()
        if self._spool is not None:
            self._spool.leave_to_parent()
        self._begin()
