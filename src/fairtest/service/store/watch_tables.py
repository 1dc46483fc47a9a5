"""The tables of the watch: what it holds, what has happened to its stakes, whom it knows, what is drawn of it.

A step of a watch is one transaction that writes to all of them under its lease: it counts as a whole, once, or not.
"""

from __future__ import annotations

from sqlalchemy import CheckConstraint, Column, Double, Integer, LargeBinary, PrimaryKeyConstraint, Table, Text
from sqlalchemy import UniqueConstraint as Unique

from fairtest.service.store.columns import (
    belongs,
    count_column,
    json_column,
    leased_columns,
    metadata,
    moment_column,
    name_column,
)

watch = Table(
    "watch",
    metadata,
    name_column("project"),
    name_column("id", 40),
    name_column("monitor", 40),
    Column("version", Integer, nullable=False),
    *leased_columns(),
    name_column("phase", 16),
    count_column("position"),  # batches up to this one have been looked at
    count_column("records"),  # so many records of the stream are in them
    count_column("step"),
    Column("body", LargeBinary, nullable=True),  # all stakes, open blocks and sums, packed; null before it has learned
    json_column("view", nullable=True),
    moment_column("looked", nullable=True),
    moment_column("created"),
    PrimaryKeyConstraint("project", "id"),
    Unique("project", "monitor", "version"),
    belongs("project", "monitor", "version", to="question.project,monitor,version"),
    CheckConstraint("state IN ('due', 'running')", name="state"),
    CheckConstraint("phase IN ('learning', 'unable', 'watching')", name="phase"),
)
"""The watch of one question. It is due again and again; ``phase`` says how far it is."""

watch_past = Table(
    "watch_past",
    metadata,
    name_column("project"),
    name_column("watch", 40),
    Column("body", LargeBinary, nullable=False),
    PrimaryKeyConstraint("project", "watch"),
    belongs("project", "watch", to="watch.project,id"),
)
"""The sums of days that are over, packed: they grow with the age of a watch and change once a day, the rest of it with
each step. Before there was this table, they were in the body of the watch."""

hypothesis = Table(
    "hypothesis",
    metadata,
    name_column("project"),
    name_column("watch", 40),
    name_column("id"),
    Column("name", Text, nullable=False),
    name_column("fingerprint"),
    name_column("state", 16),
    Column("stake", Double, nullable=False),
    Column("given", Double, nullable=False),
    json_column("body"),
    moment_column("changed"),
    PrimaryKeyConstraint("project", "watch", "id"),
    belongs("project", "watch", to="watch.project,id"),
    CheckConstraint("state IN ('quiet', 'alarmed', 'echo', 'gone', 'dropped')", name="state"),
)
"""The contexts that are drawn: everybody, those that alarmed, those that are listed. ``body`` has their days."""

block = Table(
    "block",
    metadata,
    name_column("project"),
    name_column("watch", 40),
    count_column("step", default=None),
    count_column("position", default=None),
    count_column("entries", default=None),
    Column("body", LargeBinary, nullable=False),
    moment_column("created"),
    PrimaryKeyConstraint("project", "watch", "step"),
    belongs("project", "watch", to="watch.project,id"),
)
"""The journal: what each step did to stakes (hypotheses opened, capital staked, blocks closed), packed. Replayed, it
gives the stakes of the watch; immutable by triggers."""

watch_people = Table(
    "watch_people",
    metadata,
    name_column("project"),
    name_column("watch", 40),
    count_column("step", default=None),
    Column("pair", Integer, nullable=False),
    Column("hashes", LargeBinary, nullable=False),
    PrimaryKeyConstraint("project", "watch", "step", "pair"),
    belongs("project", "watch", to="watch.project,id"),
)
"""Whose first record each step used: 64-bit hashes, eight bytes each."""
