"""What requests and answers look like."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Scope = Literal["ingest", "read", "manage", "metrics"]
Text = Annotated[str, Field(max_length=256)]
Name = Annotated[str, Field(max_length=64, examples=["loans"])]


def moment(seconds: float | None) -> str | None:
    """Return a moment as ISO 8601 has it, in UTC."""
    if seconds is None:
        return None
    return dt.datetime.fromtimestamp(seconds, dt.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Given(BaseModel):
    """Base of requests: what is not known is refused."""

    model_config = ConfigDict(extra="forbid")


class NewProject(Given):
    """A project to make."""

    name: Name


class NewKey(Given):
    """A key to make; without a project it belongs to the sender's."""

    scopes: Annotated[list[Scope], Field(min_length=1, max_length=4)]
    label: Text = ""
    expires_in_days: Annotated[float, Field(gt=0, le=36500)] | None = None


class ColumnGiven(Given):
    """A column of a stream."""

    kind: Annotated[str, Field(max_length=32, examples=["text"])]
    levels: Annotated[list[Annotated[str, Field(max_length=4096)] | int], Field(max_length=1000)] | None = None
    required: bool = False


Columns = Annotated[dict[str, ColumnGiven | Annotated[str, Field(max_length=32)]], Field(max_length=1000)]


class NewStream(Given):
    """A stream to make: what an application will send."""

    name: Name
    columns: Annotated[
        Columns, Field(examples=[{"sex": {"kind": "text", "required": True}, "age": "integer", "granted": "boolean"}])
    ]
    record_id: Annotated[str, Field(max_length=128)] = "id"
    person: Annotated[str, Field(max_length=128)] | None = None
    time: Annotated[str, Field(max_length=128)] | None = None
    unknown: Literal["reject", "ignore"] = "reject"
    sample: Annotated[float, Field(gt=0, le=1)] = 1.0
    retention_days: Annotated[int, Field(ge=1, le=36500)] | None = None
    truth_within_days: Annotated[float, Field(gt=0, le=36500)] | None = None


class StreamChange(Given):
    """What may change about a stream."""

    columns: Columns | None = None
    retention_days: Annotated[int, Field(ge=1, le=36500)] | None = None
    truth_within_days: Annotated[float, Field(gt=0, le=36500)] | None = None


Ids = Annotated[list[Annotated[str, Field(min_length=1, max_length=256)]], Field(min_length=1, max_length=1000)]


class NewDeletion(Given):
    """Whom or what to erase: one of the two lists."""

    record_ids: Ids | None = None
    person_ids: Ids | None = None


class Page(BaseModel):
    """A part of a list; ``next`` is given to ``after`` for the part that follows."""

    items: list[dict[str, Any]]
    next: str | None = None
