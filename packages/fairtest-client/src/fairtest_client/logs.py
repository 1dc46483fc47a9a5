"""A handler of the standard library's logging that sends records."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING

from fairtest_client.errors import InvalidRecord

if TYPE_CHECKING:
    from fairtest_client.stream import Stream


class RecordHandler(logging.Handler):
    """Sends what is logged with ``extra={"fairtest": {...}}``, and nothing else.

    Parameters
    ----------
    stream
        Where to.
    level
        The lowest level that is sent.

    Examples
    --------
    ::

        logging.getLogger("loans").addHandler(RecordHandler(client.stream("loans")))
        logging.getLogger("loans").info("decided", extra={"fairtest": {"id": "a-1", "sex": "f", "granted": False}})
    """

    def __init__(self, stream: Stream, level: int | str = logging.NOTSET) -> None:
        super().__init__(level)
        self._stream = stream

    def emit(self, record: logging.LogRecord) -> None:
        """Send the columns that a message carries. Errors are handled as ``logging`` handles those of any handler."""
        columns = getattr(record, "fairtest", None)
        if columns is None:
            return
        try:
            if not isinstance(columns, Mapping):
                raise InvalidRecord(f"'fairtest' of a log record must be a mapping of columns. Got {columns!r}.")
            self._stream.send_record(columns)
        except Exception:
            self.handleError(record)
