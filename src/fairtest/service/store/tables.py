"""The tables of the service.

Every table carries its project in the primary and the foreign keys, so that a reference from one project to another
cannot be stored. Moments are seconds since 1970 in UTC, as the database's clock has them.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Double,
    Index,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    UniqueConstraint,
    text,
)

import fairtest.service.store.watch_tables  # noqa: F401 - its tables are part of the same metadata
from fairtest.service.store.columns import belongs as _belongs
from fairtest.service.store.columns import count_column as _count
from fairtest.service.store.columns import json_column as _json
from fairtest.service.store.columns import leased_columns as _leased
from fairtest.service.store.columns import metadata
from fairtest.service.store.columns import moment_column as _moment
from fairtest.service.store.columns import name_column as _name

service = Table(
    "service",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("value", Text, nullable=False),
)
"""What is known of the service itself, such as a fingerprint of its secret."""

project = Table("project", metadata, Column("name", String(64), primary_key=True), _moment("created"))

key = Table(
    "key",
    metadata,
    Column("id", String(32), primary_key=True),
    _name("project", nullable=True),  # null: the whole service
    Column("scopes", Text, nullable=False),
    _name("digest"),
    Column("label", Text, nullable=False),
    _moment("created"),
    _moment("expires", nullable=True),
    _moment("last_used", nullable=True),
    _moment("revoked", nullable=True),
    _belongs("project", to="project.name"),
)

stream = Table(
    "stream",
    metadata,
    _name("project"),
    _name("name"),
    _json("columns"),
    _name("record_id"),
    _name("person", nullable=True),
    _name("time", nullable=True),
    _name("unknown", 16),
    Column("sample", Double, nullable=False, server_default=text("1")),
    Column("retention_days", Integer, nullable=True),
    Column("truth_within_days", Double, nullable=True),
    Column("version", Integer, nullable=False, server_default=text("1")),
    _moment("created"),
    _count("seq"),
    _count("records"),
    _count("sealed"),
    PrimaryKeyConstraint("project", "name"),
    _belongs("project", to="project.name"),
)
"""What an application sends. ``seq`` counts batches and ``records`` people: this is the counter row that orders the
log. Batches up to ``sealed`` are in segments."""

batch = Table(
    "batch",
    metadata,
    _name("project"),
    _name("stream"),
    _count("seq", default=None),
    _name("key", 255),
    _name("digest"),
    _name("kind", 16),
    _name("format", 16),
    _count("rows", default=None),
    _count("bytes", default=None),
    _count("stream_records", default=None),
    _moment("received"),
    _count("duplicates", default=None, nullable=True),  # known when sealed
    PrimaryKeyConstraint("project", "stream", "seq"),
    UniqueConstraint("project", "stream", "key"),
    CheckConstraint("kind IN ('records', 'truth')", name="kind"),
    _belongs("project", "stream", to="stream.project,name"),
)

batch_body = Table(
    "batch_body",
    metadata,
    _name("project"),
    _name("stream"),
    _count("seq", default=None),
    Column("body", LargeBinary, nullable=False),
    PrimaryKeyConstraint("project", "stream", "seq"),
    _belongs("project", "stream", "seq", to="batch.project,stream,seq"),
)
"""The records of a batch until they are sealed; a table of its own, because its rows come and go."""

segment = Table(
    "segment",
    metadata,
    _name("project"),
    _name("id", 40),
    _name("stream"),
    _name("kind", 16),
    _count("lo", default=None),
    _count("hi", default=None),
    Column("place", Text, nullable=False),
    _count("rows", default=None),
    _count("bytes", default=None),
    _name("sha256"),
    Column("columns_version", Integer, nullable=False),
    _moment("created"),
    _moment("replaced", nullable=True),
    PrimaryKeyConstraint("project", "id"),
    _belongs("project", "stream", to="stream.project,name"),
    CheckConstraint("lo < hi", name="window"),
)
"""Records of the batches (lo, hi] in one immutable file. A replaced segment is read by nobody who starts later."""
Index(
    "uq_segment_window",
    segment.c.project,
    segment.c.stream,
    segment.c.kind,
    segment.c.lo,
    unique=True,
    sqlite_where=segment.c.replaced.is_(None),
    postgresql_where=segment.c.replaced.is_(None),
)

segment_body = Table(
    "segment_body",
    metadata,
    Column("place", Text, primary_key=True),
    Column("body", LargeBinary, nullable=False),
    _moment("created"),
)
"""The bytes of segments where the database is their store."""

tombstone = Table(
    "tombstone",
    metadata,
    _name("project"),
    _name("stream"),
    _name("deletion", 40),
    _name("kind", 16),
    _name("hash", 32),
    _count("upto", default=None),  # what arrived until then is hidden; what arrives later is kept, and never tested
    _moment("asked"),
    _moment("erased", nullable=True),
    PrimaryKeyConstraint("project", "stream", "deletion", "kind", "hash"),
    CheckConstraint("kind IN ('record', 'person')", name="kind"),
    _belongs("project", "stream", to="stream.project,name"),
)
"""Who asked to be forgotten, by a keyed hash: no id in clear. It stays, so that nobody is tested who returns."""

monitor = Table(
    "monitor",
    metadata,
    _name("project"),
    _name("id", 40),
    _name("stream"),
    _name("name"),
    _json("schedule"),
    _json("tell"),
    Column("paused", Boolean, nullable=False),
    Column("version", Integer, nullable=False),
    Column("revision", Integer, nullable=False, server_default=text("1")),
    _moment("created"),
    _count("created_at_records", default=None),
    _moment("deleted", nullable=True),  # its reports stay
    PrimaryKeyConstraint("project", "id"),
    UniqueConstraint("project", "name"),
    _belongs("project", "stream", to="stream.project,name"),
)

question = Table(
    "question",
    metadata,
    _name("project"),
    _name("monitor", 40),
    Column("version", Integer, nullable=False),
    _json("body"),
    _count("fixed_at_seq", default=None),
    _moment("created"),
    PrimaryKeyConstraint("project", "monitor", "version"),
    _belongs("project", "monitor", to="monitor.project,id"),
)
"""What a monitor asks, fixed for ever; it tests only people of batches after ``fixed_at_seq``."""

run = Table(
    "run",
    metadata,
    _name("project"),
    _name("id", 40),
    _name("monitor", 40),
    Column("version", Integer, nullable=False),
    _name("occasion", 255),
    *_leased(),
    _moment("created"),
    _count("lo", default=None, nullable=True),
    _count("hi", default=None, nullable=True),
    Column("set_number", Integer, nullable=True),
    Column("level", Double, nullable=True),
    _count("people", default=None, nullable=True),
    _json("detail", nullable=True),
    _moment("ended", nullable=True),
    _moment("spent_at", nullable=True),
    PrimaryKeyConstraint("project", "id"),
    UniqueConstraint("project", "monitor", "version", "occasion"),
    _belongs("project", "monitor", "version", to="question.project,monitor,version"),
    CheckConstraint("state IN ('due', 'running', 'done', 'skipped', 'failed', 'cancelled')", name="state"),
)
Index(
    "uq_run_window",
    run.c.project,
    run.c.monitor,
    run.c.lo,
    unique=True,
    sqlite_where=text("state = 'done'"),
    postgresql_where=text("state = 'done'"),
)
Index("ix_run_state_due", run.c.state, run.c.due)

run_people = Table(
    "run_people",
    metadata,
    _name("project"),
    _name("run", 40),
    Column("hashes", LargeBinary, nullable=False),
    PrimaryKeyConstraint("project", "run"),
    _belongs("project", "run", to="run.project,id"),
)
"""Who was tested in a run: sorted 64-bit hashes of people, eight bytes each."""

report = Table(
    "report",
    metadata,
    _name("project"),
    _name("run", 40),
    Column("place", Integer, nullable=False),
    _json("headline"),
    *(Column(part, LargeBinary, nullable=False) for part in ("question", "prior", "document", "json", "text", "html")),
    PrimaryKeyConstraint("project", "run", "place"),
    _belongs("project", "run", to="run.project,id"),
)
"""Finished reports as they are shown, packed by zlib; immutable by triggers."""

finding = Table(
    "finding",
    metadata,
    _name("project"),
    _name("id", 40),
    _name("monitor", 40),
    _name("fingerprint"),
    _json("body"),
    _name("state", 16),
    _name("since_run", 40),
    Column("note", Text, nullable=False, server_default=text("''")),
    _moment("created"),
    PrimaryKeyConstraint("project", "id"),
    UniqueConstraint("project", "monitor", "fingerprint"),
    _belongs("project", "monitor", to="monitor.project,id"),
    CheckConstraint("state IN ('open', 'acknowledged', 'closed')", name="state"),
)

measure = Table(
    "measure",
    metadata,
    _name("project"),
    _name("finding", 40),
    _name("run", 40),
    Column("effect", Double, nullable=True),
    Column("low", Double, nullable=True),
    Column("high", Double, nullable=True),
    _count("people", default=None),
    Column("p", Double, nullable=True),
    _name("verdict", 32),
    PrimaryKeyConstraint("project", "finding", "run"),
    _belongs("project", "finding", to="finding.project,id"),
    _belongs("project", "run", to="run.project,id"),
)

event = Table(
    "event",
    metadata,
    _name("project"),
    _name("id", 40),
    _name("monitor", 40),
    _name("kind", 16),
    _name("subject", 64),  # a hypothesis or a run
    _name("slot", 64),
    _json("body"),
    _moment("created"),
    PrimaryKeyConstraint("project", "id"),
    UniqueConstraint("project", "monitor", "kind", "subject", "slot"),
    _belongs("project", "monitor", to="monitor.project,id"),
)

destination = Table(
    "destination",
    metadata,
    _name("project"),
    _name("id", 40),
    _name("kind", 16),
    Column("address", Text, nullable=False),
    Column("label", Text, nullable=False),
    Column("secret_version", Integer, nullable=False, server_default=text("1")),
    Column("paused", Boolean, nullable=False),
    _moment("created"),
    PrimaryKeyConstraint("project", "id"),
    _belongs("project", to="project.name"),
)

delivery = Table(
    "delivery",
    metadata,
    _name("project"),
    _name("id", 40),
    _name("event", 40),
    _name("destination", 40),
    *_leased(),
    _moment("created"),
    _moment("ended", nullable=True),
    PrimaryKeyConstraint("project", "id"),
    UniqueConstraint("project", "event", "destination"),
    _belongs("project", "event", to="event.project,id"),
    _belongs("project", "destination", to="destination.project,id"),
)

job = Table(
    "job",
    metadata,
    _name("project"),
    _name("id", 40),
    _name("stream"),
    _name("kind", 16),
    *_leased(),
    _moment("created"),
    PrimaryKeyConstraint("project", "id"),
    UniqueConstraint("project", "stream", "kind"),
    _belongs("project", "stream", to="stream.project,name"),
)
"""Work on a stream that is due again and again: sealing, erasing, expiring."""

session = Table(
    "session",
    metadata,
    Column("hash", String(64), primary_key=True),
    _name("key", 32),
    _name("purpose", 16),
    _moment("created"),
    _moment("expires"),
    _belongs("key", to="key.id"),
)

audit = Table(
    "audit",
    metadata,
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=False),
    _name("project", nullable=True),
    _name("who"),
    _name("what"),
    _name("object", 255),
    _moment("moment"),
    _name("previous"),
    _name("hash"),
)
"""Who did what, each row with the hash of the row before; immutable by triggers."""
Index("ix_audit_project", audit.c.project, audit.c.number)
