"""The watch: what it holds, its journal, whom it knows, and what is drawn of it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from fairtest.service.store.guarding import PROJECT_LASTS, guard

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables, then the triggers."""
    _make_watch()
    _make_what_it_shows()
    guard("block", "UPDATE")
    guard("block", "DELETE", PROJECT_LASTS)


def _make_watch() -> None:
    op.create_table(
        "watch",
        sa.Column("project", sa.String(length=64), nullable=False),
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("monitor", sa.String(length=40), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("due", sa.Double(), nullable=False),
        sa.Column("token", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("lease_until", sa.Double(), nullable=True),
        sa.Column("worker", sa.String(length=128), nullable=True),
        sa.Column("attempts", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("phase", sa.String(length=16), nullable=False),
        sa.Column("position", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("records", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("step", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=True),
        sa.Column("view", sa.Text(), nullable=True),
        sa.Column("looked", sa.Double(), nullable=True),
        sa.Column("created", sa.Double(), nullable=False),
        sa.CheckConstraint("phase IN ('learning', 'unable', 'watching')", name=op.f("ck_watch_phase")),
        sa.CheckConstraint("state IN ('due', 'running')", name=op.f("ck_watch_state")),
        sa.ForeignKeyConstraint(
            ["project", "monitor", "version"],
            ["question.project", "question.monitor", "question.version"],
            name=op.f("fk_watch_project_monitor_version"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("project", "id", name=op.f("pk_watch")),
        sa.UniqueConstraint("project", "monitor", "version", name=op.f("uq_watch_project_monitor_version")),
    )


def _make_what_it_shows() -> None:
    op.create_table(
        "block",
        sa.Column("project", sa.String(length=64), nullable=False),
        sa.Column("watch", sa.String(length=40), nullable=False),
        sa.Column("step", sa.BigInteger(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("entries", sa.BigInteger(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project", "watch"], ["watch.project", "watch.id"], name=op.f("fk_block_project_watch"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("project", "watch", "step", name=op.f("pk_block")),
    )
    op.create_table(
        "hypothesis",
        sa.Column("project", sa.String(length=64), nullable=False),
        sa.Column("watch", sa.String(length=40), nullable=False),
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.String(length=64), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("stake", sa.Double(), nullable=False),
        sa.Column("given", sa.Double(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("changed", sa.Double(), nullable=False),
        sa.CheckConstraint(
            "state IN ('quiet', 'alarmed', 'echo', 'gone', 'dropped')", name=op.f("ck_hypothesis_state")
        ),
        sa.ForeignKeyConstraint(
            ["project", "watch"],
            ["watch.project", "watch.id"],
            name=op.f("fk_hypothesis_project_watch"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("project", "watch", "id", name=op.f("pk_hypothesis")),
    )
    op.create_table(
        "watch_people",
        sa.Column("project", sa.String(length=64), nullable=False),
        sa.Column("watch", sa.String(length=40), nullable=False),
        sa.Column("step", sa.BigInteger(), nullable=False),
        sa.Column("pair", sa.Integer(), nullable=False),
        sa.Column("hashes", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project", "watch"],
            ["watch.project", "watch.id"],
            name=op.f("fk_watch_people_project_watch"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("project", "watch", "step", "pair", name=op.f("pk_watch_people")),
    )
