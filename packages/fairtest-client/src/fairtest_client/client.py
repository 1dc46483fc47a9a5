"""The client, and what happens to its streams when the process forks or ends."""

from __future__ import annotations

import atexit
import logging
import os
import sys
import threading
from typing import TYPE_CHECKING, Any

from fairtest_client.errors import InvalidSetting, NoAnswer, NotDelivered, Rejected
from fairtest_client.sampling import Sample
from fairtest_client.settings import Settings
from fairtest_client.stream import Stream, Unsent
from fairtest_client.transport import Transport, Unreachable

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable
    from pathlib import Path
    from types import TracebackType

    from fairtest_client.errors import Rejection

logger = logging.getLogger("fairtest_client")
_open: dict[int, Client] = {}  # each until it is closed: what a forgotten client holds is still sent


class Client:
    """A connection to a FairTest service. Any thread may use it.

    Parameters
    ----------
    url
        Where the service is, such as ``https://fairtest.example``.
    key
        A key of the service with the scope ``ingest``.
    batch, every
        A batch is cut at so many records, or after so many seconds.
    buffer
        Records that may wait for the service: 50,000, with a spool 5,000,000.
    wait
        Seconds that ``send`` waits for room in a full buffer before it raises ``BufferFull``.
    timeout
        Seconds that one request may take.
    close_within
        Seconds that :meth:`close` tries for, also when the process ends.
    spool
        A folder that keeps records over a crash; one for each project of the service. Several processes may share it.
        It holds people's records: only its owner can read it.
    on_rejected
        A function that is called with each batch that the service refuses, from another thread. Without one, the next
        ``send`` raises ``Rejected``.
    allow_http
        Send over a network without encryption, where something else encrypts.
    tls
        An SSL context of your own, such as one with a certificate of your house.

    Examples
    --------
    ::

        with Client("https://fairtest.example", key) as client:
            loans = client.stream("loans", truth="repaid")
            loans.send(id="a-1", sex="f", age=41, granted=True)
            loans.truth("a-1", False)
    """

    def __init__(
        self,
        url: str,
        key: str,
        *,
        batch: int = 500,
        every: float = 1.0,
        buffer: int | None = None,
        wait: float = 5.0,
        timeout: float = 10.0,
        close_within: float = 10.0,
        spool: str | Path | None = None,
        on_rejected: Callable[[Rejection], object] | None = None,
        allow_http: bool = False,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        given: dict[str, Any] = {"batch": batch, "every": every, "wait": wait, "timeout": timeout}
        given |= {"close_within": close_within, "on_rejected": on_rejected, "tls": tls}
        self._settings = Settings.check(url, key, allow_http=allow_http, buffer=buffer, spool=spool, **given)
        self._streams: dict[str, Stream] = {}
        self._making = threading.Lock()
        self._closed = False
        _open[id(self)] = self

    def __repr__(self) -> str:
        return f"Client({str(self._settings.address)!r})"

    def stream(
        self, name: str, *, record_id: str = "id", truth: str | None = None, sample: Sample | None = None
    ) -> Stream:
        """Return a stream of the service; the same one each time. With a spool, what a crash left of it is sent.

        Parameters
        ----------
        name
            Its name in the service.
        record_id
            The column that holds the id of a record.
        truth
            The column of what turns out later, for :meth:`Stream.truth`.
        sample
            Which people to send, as :meth:`ask_sample` has it; all of them by default.
        """
        if not isinstance(name, str) or not name or not name.isprintable():
            raise InvalidSetting(f"The 'name' of a stream must be text such as 'loans'. Got {name!r}.")
        with self._making:
            if self._closed:
                raise InvalidSetting("The client has been closed. Make another one.")
            found = self._streams.get(name)
            if found is None:
                found = self._streams[name] = Stream(
                    name, self._settings, record_id=record_id, truth=truth, on_start=_close_with_worker, sample=sample
                )
            elif found.columns != (record_id, truth):
                raise InvalidSetting(
                    f"The stream {name!r} was made with record_id={found.columns[0]!r} and truth={found.columns[1]!r}. "
                    f"Got record_id={record_id!r} and truth={truth!r}."
                )
            return found

    def ask_sample(self, name: str) -> Sample:
        """Ask the service which people a stream keeps, so that the others need not be sent. It waits for the answer.

        Raises
        ------
        NoAnswer
            The service cannot be reached, or the key may not send to the stream.
        """
        settings = self._settings
        transport = Transport(settings.address, settings.key, settings.timeout, settings.tls)
        try:
            answer = transport.get(settings.address.records_path(name, "sampling"))
        except Unreachable as error:
            raise NoAnswer(f"The service cannot be reached: {error}.") from error
        finally:
            transport.close()
        if answer.status != 200:
            why = answer.body.get("detail") or answer.body.get("title") or "no reason was given"
            raise NoAnswer(f"The service answered {answer.status} for the stream {name!r}: {why}")
        try:
            return Sample(**{part: answer.body[part] for part in ("share", "column", "key")})
        except (KeyError, InvalidSetting) as error:
            raise NoAnswer(f"The service did not say which people of {name!r} it keeps.") from error

    def close(self, timeout: float | None = None) -> Unsent:
        """Send what there is, and return what could not be sent in time. The streams take no more.

        Raises
        ------
        Rejected
            The service refused records, and nobody has been told yet.
        """
        with self._making:
            self._closed = True
        _open.pop(id(self), None)
        unsent = Unsent()
        rejections: list[Rejection] = []
        for stream in self._streams.values():  # all at once: one that cannot be reached takes no time from the others
            stream.stop_taking(timeout)
        for stream in self._streams.values():
            try:
                unsent += stream.close(timeout)
            except Rejected as error:
                rejections += error.rejections
                unsent += stream.unsent
        if rejections:
            raise Rejected(rejections)
        return unsent

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it; what is lost raises, unless another error is already on its way."""
        try:
            unsent = self.close()
        except Rejected:
            if error is None:
                raise
            return
        if unsent.lost and error is None:
            raise NotDelivered(
                f"{unsent.lost:,} records were not sent in {self._settings.close_within:g} s and are lost. Look at why "
                "the service takes none; spool='folder' of Client keeps them for the next start."
            )

    def _restart_in_child(self) -> None:
        self._making = threading.Lock()
        for stream in self._streams.values():
            stream.restart_in_child()


def close_all() -> None:
    """Close every client that is open, and log what is lost: at the end of the process."""
    for client in list(_open.values()):
        try:
            client.close()
        except Rejected as error:
            logger.error("%s", error)


def _restart_all_in_child() -> None:
    for client in list(_open.values()):
        client._restart_in_child()


def _close_with_worker() -> None:
    """In a process of multiprocessing, which ends without running what ``atexit`` has: close with it."""
    process = sys.modules.get("multiprocessing.process")
    if process is None or process.parent_process() is None:
        return
    from multiprocessing.util import Finalize

    Finalize(None, close_all, exitpriority=10)  # once for each stream; the second finds nothing to close


atexit.register(close_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_restart_all_in_child)
