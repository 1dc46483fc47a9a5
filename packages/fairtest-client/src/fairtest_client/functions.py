"""A decorator that sends what a function decides.

The function comes first: a record is sent after it has returned, and by default nothing that goes wrong with the record
changes what the caller gets.
"""

from __future__ import annotations

import functools
import inspect
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar, cast
from uuid import uuid4

from fairtest_client.errors import ClientError, InvalidRecord, InvalidSetting

if TYPE_CHECKING:
    from fairtest_client.stream import Stream

P = ParamSpec("P")
R = TypeVar("R")
RecordId = str | Callable[[Mapping[str, Any]], Any] | None
Output = str | list[str] | tuple[str, ...] | Callable[[Any], Mapping[str, Any]]
Errors = Literal["log", "raise"]
logger = logging.getLogger("fairtest_client")


@dataclass(frozen=True)
class Watch:
    """How a call becomes a record."""

    stream: Stream
    signature: inspect.Signature
    record_id: RecordId
    output: Output
    columns: tuple[str, ...] | None
    errors: Errors

    def send(self, result: Any, args: tuple[Any, ...], kwargs: dict[str, Any], wait: float | None) -> None:
        """Send the record of a call that has returned."""
        try:
            self.stream.send_record(self._record(result, args, kwargs), wait=wait)
        except (ClientError, OSError) as error:
            if self.errors == "raise":
                raise
            logger.error("A record of %r was not sent: %s", self.stream.name, error)

    def _record(self, result: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        arguments = dict(bound.arguments)
        for name, parameter in self.signature.parameters.items():
            if parameter.kind is inspect.Parameter.VAR_KEYWORD:
                arguments |= arguments.pop(name)
        names = self.columns
        if names is None:
            names = tuple(name for name in arguments if name not in ("self", "cls", self.record_id))
        missing = [name for name in names if name not in arguments]
        if missing:
            raise InvalidRecord(f"The call has no argument {missing[0]!r}. It has: {', '.join(map(repr, arguments))}.")
        record: dict[str, Any] = {self.stream.record_id: self._id(arguments)}
        record |= {name: arguments[name] for name in names}
        return {**record, **self._outputs(result)}

    def _id(self, arguments: dict[str, Any]) -> Any:
        if self.record_id is None:
            return uuid4().hex
        return self.record_id(arguments) if callable(self.record_id) else arguments[self.record_id]

    def _outputs(self, result: Any) -> Mapping[str, Any]:
        if isinstance(self.output, str):
            return {self.output: result}
        if callable(self.output):
            return self.output(result)
        if not isinstance(result, Mapping):
            raise InvalidRecord(
                f"The 'output' of watch names {len(self.output)} columns, so the function must return a mapping. "
                f"It returned {type(result).__name__}."
            )
        missing = [name for name in self.output if name not in result]
        if missing:
            raise InvalidRecord(
                f"What the function returned has no {missing[0]!r}. It has: {', '.join(map(repr, result))}."
            )
        return {name: result[name] for name in self.output}


def watch_function(
    stream: Stream, record_id: RecordId, output: Output, columns: tuple[str, ...] | None, errors: Errors
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return the decorator that :meth:`Stream.watch` describes."""
    if errors not in ("log", "raise"):
        raise InvalidSetting(f"The 'errors' of watch must be 'log' or 'raise'. Got {errors!r}.")

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise InvalidSetting(
                f"watch needs a function that returns its output. {function.__qualname__} is a generator."
            )
        signature = inspect.signature(function)
        _check_names(function, signature, record_id, columns)
        watch = Watch(stream, signature, record_id, output, columns, errors)

        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def decide_later(*args: P.args, **kwargs: P.kwargs) -> Any:
                result = await function(*args, **kwargs)
                watch.send(result, args, kwargs, 0.0)  # a full buffer must not hold up the event loop
                return result

            return cast("Callable[P, R]", decide_later)

        @functools.wraps(function)
        def decide(*args: P.args, **kwargs: P.kwargs) -> R:
            result = function(*args, **kwargs)
            watch.send(result, args, kwargs, None)
            return result

        return decide

    return decorate


def _check_names(
    function: Callable[..., Any], signature: inspect.Signature, record_id: RecordId, columns: tuple[str, ...] | None
) -> None:
    """Raise where a name is none of the function's arguments: when the program starts, not at the first call."""
    if any(one.kind is inspect.Parameter.VAR_KEYWORD for one in signature.parameters.values()):
        return
    named = [*(columns or ()), *([record_id] if isinstance(record_id, str) else [])]
    for name in named:
        if name not in signature.parameters:
            known = ", ".join(map(repr, signature.parameters))
            raise InvalidSetting(f"{function.__qualname__} has no argument {name!r}. Its arguments: {known}.")
