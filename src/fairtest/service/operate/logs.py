"""Logs as lines of JSON, with a list of fields that may be in them: nothing personal gets there by accident.

A line has an event, which stands in the code word for word, and fields of :data:`ALLOWED`, given as ``extra=``. What
is put into a message with ``%s`` is left out, and of an exception all but its type and where it was: messages quote
values.
"""

from __future__ import annotations

import copy
import datetime as dt
import json
import logging
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

import structlog

from fairtest.service.operate.lines import Lines

if TYPE_CHECKING:
    from collections.abc import MutableMapping
    from typing import TextIO

ALLOWED = {
    "timestamp", "level", "event", "logger", "process",  # what every line has
    "method", "route", "status", "milliseconds", "address", "trace",  # of a request
    "key", "project", "stream", "monitor", "run", "job", "delivery",  # ids that the service gives, and names
    "attempts", "count", "error", "where",
}  # fmt: skip
"""The fields that a line may have. No ids of records or people, no values, no bodies, no query strings."""
LONGEST = 200
OWN = ("fairtest", "uvicorn")
"""Loggers whose messages stand in the code as they are; of others, a line says only that they had something to say."""


class AllowedFormatter(structlog.stdlib.ProcessorFormatter):
    """Writes a line of JSON with the fields that are allowed."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a line."""
        safe = copy.copy(record)
        known = record.name.split(".")[0] in OWN and isinstance(record.msg, str)
        safe.msg, safe.args = str(record.msg) if known else "a library logged something", ()
        if record.exc_info and record.exc_info[1] is not None:
            safe.error, safe.where = name_error(record.exc_info[1])
        safe.exc_info, safe.exc_text, safe.stack_info = None, None, None
        return super().format(safe)


def name_error(error: BaseException) -> tuple[str, str]:
    """Return the type of an error and the places that led to it: nothing that it says.

    Examples
    --------
    >>> name_error(ValueError("Ms Smith, born 1990"))
    ('ValueError', '')
    """
    frames = traceback.extract_tb(error.__traceback__)[-8:]
    return type(error).__name__, " < ".join(f"{Path(f.filename).name}:{f.lineno}" for f in reversed(frames))


class LinesHandler(logging.Handler):
    """Hands lines to the thread that writes them: whoever logs never waits for whoever reads."""

    def __init__(self, lines: Lines) -> None:
        super().__init__()
        self.lines = lines

    def emit(self, record: logging.LogRecord) -> None:
        """Make the line here, where everything about it is known, and hand it over."""
        try:
            self.lines.write(self.format(record))
        except Exception:
            self.handleError(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802, ARG002 - its name in logging
        """Count a line that could not be made: the way in which logging says so would wait for whoever reads."""
        self.lines.drop()

    def flush(self) -> None:
        """Wait a moment for what was handed over."""
        self.lines.flush()


def configure_logs(process: str, to: TextIO | None = None, level: int = logging.INFO) -> LinesHandler:
    """Let everything that this process logs come out as lines of JSON, written by a thread of their own.

    Python itself waits a moment for the last of them when the process ends.
    """

    def say_dropped(count: int) -> str:
        now = dt.datetime.now(dt.UTC).isoformat().replace("+00:00", "Z")
        fields = {"event": "log lines were dropped", "count": count, "level": "warning", "timestamp": now}
        return json.dumps({**fields, "process": process})

    handler = LinesHandler(Lines(to or sys.stderr, say_dropped))
    handler.setFormatter(
        AllowedFormatter(
            foreign_pre_chain=[
                structlog.stdlib.add_log_level,
                structlog.stdlib.add_logger_name,
                structlog.stdlib.ExtraAdder(allow=ALLOWED),
                structlog.processors.TimeStamper(fmt="iso", utc=True),
            ],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                _add_process(process),
                keep_allowed,
                structlog.processors.JSONRenderer(ensure_ascii=False),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("fairtest").setLevel(level)
    logging.captureWarnings(capture=True)
    return handler


def count_dropped_lines() -> int:
    """Return how many lines of this process were dropped because nobody took them in time."""
    return sum(each.lines.dropped for each in logging.getLogger().handlers if isinstance(each, LinesHandler))


def keep_allowed(_: Any, __: str, fields: MutableMapping[str, Any]) -> dict[str, Any]:
    """Return the fields that are allowed, short and plain."""
    return {
        name: value if isinstance(value, int | float | bool) else str(value)[:LONGEST]
        for name, value in fields.items()
        if name in ALLOWED and value is not None
    }


def _add_process(process: str) -> Any:
    def add(_: Any, __: str, fields: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        fields["process"] = process
        return fields

    return add
