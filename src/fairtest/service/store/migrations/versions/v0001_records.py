"""Projects, keys, streams, the log of batches, segments, and the audit trail."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from fairtest.service.store.guarding import guard

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables, then the triggers."""
    _make_tables_1()
    _make_tables_2()
    _make_tables_3()
    _make_tables_4()
    _make_tables_5()
    _make_tables_6()
    guard("audit", "UPDATE")
    guard("audit", "DELETE")


def _make_tables_1() -> None:
    op.create_table(
        "audit",
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("project", sa.String(length=64), nullable=True),
        sa.Column("who", sa.String(length=64), nullable=False),
        sa.Column("what", sa.String(length=64), nullable=False),
        sa.Column("object", sa.String(length=255), nullable=False),
        sa.Column("moment", sa.Double(), nullable=False),
        sa.Column("previous", sa.String(length=64), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_audit")),
    )
    op.create_index("ix_audit_project", "audit", ["project", "number"], unique=False)
    op.create_table(
        "project",
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_project")),
    )
    op.create_table(
        "segment_body",
        sa.Column("place", sa.Text(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("place", name=op.f("pk_segment_body")),
    )
    op.create_table(
        "service",
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_service")),
    )


def _make_tables_2() -> None:
    op.create_table(
        "key",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("project", sa.String(length=64), nullable=True),
        sa.Column("scopes", sa.Text(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.Column("expires", sa.Double(), nullable=True),
        sa.Column("last_used", sa.Double(), nullable=True),
        sa.Column("revoked", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(["project"], ["project.name"], name=op.f("fk_key_project"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_key")),
    )
    op.create_table(
        "stream",
        sa.Column("project", sa.String(length=64), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("columns", sa.Text(), nullable=False),
        sa.Column("record_id", sa.String(length=64), nullable=False),
        sa.Column("person", sa.String(length=64), nullable=True),
        sa.Column("time", sa.String(length=64), nullable=True),
        sa.Column("unknown", sa.String(length=16), nullable=False),
        sa.Column("sample", sa.Double(), server_default=sa.text("1"), nullable=False),
        sa.Column("retention_days", sa.Integer(), nullable=True),
        sa.Column("truth_within_days", sa.Double(), nullable=True),
        sa.Column("version", sa.Integer(), server_default=sa.text("1"), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.Column("seq", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("records", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("sealed", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.ForeignKeyConstraint(["project"], ["project.name"], name=op.f("fk_stream_project"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("project", "name", name=op.f("pk_stream")),
    )


def _make_tables_3() -> None:
    op.create_table(
        "batch",
        sa.Column("project", sa.String(length=64), nullable=False),
        sa.Column("stream", sa.String(length=64), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("key", sa.String(length=255), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("format", sa.String(length=16), nullable=False),
        sa.Column("rows", sa.BigInteger(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("stream_records", sa.BigInteger(), nullable=False),
        sa.Column("received", sa.Double(), nullable=False),
        sa.Column("duplicates", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("kind IN ('records', 'truth')", name=op.f("ck_batch_kind")),
        sa.ForeignKeyConstraint(
            ["project", "stream"],
            ["stream.project", "stream.name"],
            name=op.f("fk_batch_project_stream"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("project", "stream", "seq", name=op.f("pk_batch")),
        sa.UniqueConstraint("project", "stream", "key", name=op.f("uq_batch_project_stream_key")),
    )


def _make_tables_4() -> None:
    op.create_table(
        "job",
        sa.Column("project", sa.String(length=64), nullable=False),
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("stream", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("due", sa.Double(), nullable=False),
        sa.Column("token", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("lease_until", sa.Double(), nullable=True),
        sa.Column("worker", sa.String(length=128), nullable=True),
        sa.Column("attempts", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("created", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project", "stream"],
            ["stream.project", "stream.name"],
            name=op.f("fk_job_project_stream"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("project", "id", name=op.f("pk_job")),
        sa.UniqueConstraint("project", "stream", "kind", name=op.f("uq_job_project_stream_kind")),
    )


def _make_tables_5() -> None:
    op.create_table(
        "segment",
        sa.Column("project", sa.String(length=64), nullable=False),
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("stream", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("lo", sa.BigInteger(), nullable=False),
        sa.Column("hi", sa.BigInteger(), nullable=False),
        sa.Column("place", sa.Text(), nullable=False),
        sa.Column("rows", sa.BigInteger(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("columns_version", sa.Integer(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.Column("replaced", sa.Double(), nullable=True),
        sa.CheckConstraint("lo < hi", name=op.f("ck_segment_window")),
        sa.ForeignKeyConstraint(
            ["project", "stream"],
            ["stream.project", "stream.name"],
            name=op.f("fk_segment_project_stream"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("project", "id", name=op.f("pk_segment")),
    )
    op.create_index(
        "uq_segment_window",
        "segment",
        ["project", "stream", "kind", "lo"],
        unique=True,
        sqlite_where=sa.text("replaced IS NULL"),
        postgresql_where=sa.text("replaced IS NULL"),
    )
    op.create_table(
        "session",
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("key", sa.String(length=32), nullable=False),
        sa.Column("purpose", sa.String(length=16), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.Column("expires", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["key"], ["key.id"], name=op.f("fk_session_key"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("hash", name=op.f("pk_session")),
    )


def _make_tables_6() -> None:
    op.create_table(
        "tombstone",
        sa.Column("project", sa.String(length=64), nullable=False),
        sa.Column("stream", sa.String(length=64), nullable=False),
        sa.Column("deletion", sa.String(length=40), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("hash", sa.String(length=32), nullable=False),
        sa.Column("upto", sa.BigInteger(), nullable=False),
        sa.Column("asked", sa.Double(), nullable=False),
        sa.Column("erased", sa.Double(), nullable=True),
        sa.CheckConstraint("kind IN ('record', 'person')", name=op.f("ck_tombstone_kind")),
        sa.ForeignKeyConstraint(
            ["project", "stream"],
            ["stream.project", "stream.name"],
            name=op.f("fk_tombstone_project_stream"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("project", "stream", "deletion", "kind", "hash", name=op.f("pk_tombstone")),
    )
    op.create_table(
        "batch_body",
        sa.Column("project", sa.String(length=64), nullable=False),
        sa.Column("stream", sa.String(length=64), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project", "stream", "seq"],
            ["batch.project", "batch.stream", "batch.seq"],
            name=op.f("fk_batch_body_project_stream_seq"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("project", "stream", "seq", name=op.f("pk_batch_body")),
    )
