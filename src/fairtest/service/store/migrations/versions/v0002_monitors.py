"""Monitors, runs, reports, findings, and what tells of them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from fairtest.service.store.guarding import PROJECT_LASTS, guard

revision = "0002"
down_revision = "0001"
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
    guard("question", "UPDATE")
    guard("report", "UPDATE")
    guard("report", "DELETE", PROJECT_LASTS)
    guard("run", "UPDATE", "OLD.state = 'done'")
    guard("run", "DELETE", f"OLD.state = 'done' AND {PROJECT_LASTS}")


def _make_tables_1() -> None:
    op.create_table(
        "destination",
        sa.Column("project", sa.String(length=64), nullable=False),
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("secret_version", sa.Integer(), server_default=sa.text("1"), nullable=False),
        sa.Column("paused", sa.Boolean(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["project"], ["project.name"], name=op.f("fk_destination_project"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("project", "id", name=op.f("pk_destination")),
    )
    op.create_table(
        "monitor",
        sa.Column("project", sa.String(length=64), nullable=False),
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("stream", sa.String(length=64), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("schedule", sa.Text(), nullable=False),
        sa.Column("tell", sa.Text(), nullable=False),
        sa.Column("paused", sa.Boolean(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("revision", sa.Integer(), server_default=sa.text("1"), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.Column("created_at_records", sa.BigInteger(), nullable=False),
        sa.Column("deleted", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(
            ["project", "stream"],
            ["stream.project", "stream.name"],
            name=op.f("fk_monitor_project_stream"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("project", "id", name=op.f("pk_monitor")),
        sa.UniqueConstraint("project", "name", name=op.f("uq_monitor_project_name")),
    )


def _make_tables_2() -> None:
    op.create_table(
        "event",
        sa.Column("project", sa.String(length=64), nullable=False),
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("monitor", sa.String(length=40), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("subject", sa.String(length=64), nullable=False),
        sa.Column("slot", sa.String(length=64), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project", "monitor"],
            ["monitor.project", "monitor.id"],
            name=op.f("fk_event_project_monitor"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("project", "id", name=op.f("pk_event")),
        sa.UniqueConstraint(
            "project", "monitor", "kind", "subject", "slot", name=op.f("uq_event_project_monitor_kind_subject_slot")
        ),
    )
    op.create_table(
        "finding",
        sa.Column("project", sa.String(length=64), nullable=False),
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("monitor", sa.String(length=40), nullable=False),
        sa.Column("fingerprint", sa.String(length=64), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("since_run", sa.String(length=40), nullable=False),
        sa.Column("note", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.CheckConstraint("state IN ('open', 'acknowledged', 'closed')", name=op.f("ck_finding_state")),
        sa.ForeignKeyConstraint(
            ["project", "monitor"],
            ["monitor.project", "monitor.id"],
            name=op.f("fk_finding_project_monitor"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("project", "id", name=op.f("pk_finding")),
        sa.UniqueConstraint("project", "monitor", "fingerprint", name=op.f("uq_finding_project_monitor_fingerprint")),
    )


def _make_tables_3() -> None:
    op.create_table(
        "question",
        sa.Column("project", sa.String(length=64), nullable=False),
        sa.Column("monitor", sa.String(length=40), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("fixed_at_seq", sa.BigInteger(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project", "monitor"],
            ["monitor.project", "monitor.id"],
            name=op.f("fk_question_project_monitor"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("project", "monitor", "version", name=op.f("pk_question")),
    )
    op.create_table(
        "delivery",
        sa.Column("project", sa.String(length=64), nullable=False),
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("event", sa.String(length=40), nullable=False),
        sa.Column("destination", sa.String(length=40), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("due", sa.Double(), nullable=False),
        sa.Column("token", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("lease_until", sa.Double(), nullable=True),
        sa.Column("worker", sa.String(length=128), nullable=True),
        sa.Column("attempts", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("created", sa.Double(), nullable=False),
        sa.Column("ended", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(
            ["project", "destination"],
            ["destination.project", "destination.id"],
            name=op.f("fk_delivery_project_destination"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["project", "event"],
            ["event.project", "event.id"],
            name=op.f("fk_delivery_project_event"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("project", "id", name=op.f("pk_delivery")),
        sa.UniqueConstraint("project", "event", "destination", name=op.f("uq_delivery_project_event_destination")),
    )


def _make_tables_4() -> None:
    op.create_table(
        "run",
        sa.Column("project", sa.String(length=64), nullable=False),
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("monitor", sa.String(length=40), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("occasion", sa.String(length=255), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("due", sa.Double(), nullable=False),
        sa.Column("token", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("lease_until", sa.Double(), nullable=True),
        sa.Column("worker", sa.String(length=128), nullable=True),
        sa.Column("attempts", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("created", sa.Double(), nullable=False),
        sa.Column("lo", sa.BigInteger(), nullable=True),
        sa.Column("hi", sa.BigInteger(), nullable=True),
        sa.Column("set_number", sa.Integer(), nullable=True),
        sa.Column("level", sa.Double(), nullable=True),
        sa.Column("people", sa.BigInteger(), nullable=True),
        sa.Column("detail", sa.Text(), nullable=True),
        sa.Column("ended", sa.Double(), nullable=True),
        sa.Column("spent_at", sa.Double(), nullable=True),
        sa.CheckConstraint(
            "state IN ('due', 'running', 'done', 'skipped', 'failed', 'cancelled')", name=op.f("ck_run_state")
        ),
        sa.ForeignKeyConstraint(
            ["project", "monitor", "version"],
            ["question.project", "question.monitor", "question.version"],
            name=op.f("fk_run_project_monitor_version"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("project", "id", name=op.f("pk_run")),
        sa.UniqueConstraint(
            "project", "monitor", "version", "occasion", name=op.f("uq_run_project_monitor_version_occasion")
        ),
    )
    op.create_index("ix_run_state_due", "run", ["state", "due"], unique=False)
    op.create_index(
        "uq_run_window",
        "run",
        ["project", "monitor", "lo"],
        unique=True,
        sqlite_where=sa.text("state = 'done'"),
        postgresql_where=sa.text("state = 'done'"),
    )


def _make_tables_5() -> None:
    op.create_table(
        "measure",
        sa.Column("project", sa.String(length=64), nullable=False),
        sa.Column("finding", sa.String(length=40), nullable=False),
        sa.Column("run", sa.String(length=40), nullable=False),
        sa.Column("effect", sa.Double(), nullable=True),
        sa.Column("low", sa.Double(), nullable=True),
        sa.Column("high", sa.Double(), nullable=True),
        sa.Column("people", sa.BigInteger(), nullable=False),
        sa.Column("p", sa.Double(), nullable=True),
        sa.Column("verdict", sa.String(length=32), nullable=False),
        sa.ForeignKeyConstraint(
            ["project", "finding"],
            ["finding.project", "finding.id"],
            name=op.f("fk_measure_project_finding"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["project", "run"], ["run.project", "run.id"], name=op.f("fk_measure_project_run"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("project", "finding", "run", name=op.f("pk_measure")),
    )
    op.create_table(
        "report",
        sa.Column("project", sa.String(length=64), nullable=False),
        sa.Column("run", sa.String(length=40), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("headline", sa.Text(), nullable=False),
        sa.Column("question", sa.LargeBinary(), nullable=False),
        sa.Column("prior", sa.LargeBinary(), nullable=False),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.Column("json", sa.LargeBinary(), nullable=False),
        sa.Column("text", sa.LargeBinary(), nullable=False),
        sa.Column("html", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project", "run"], ["run.project", "run.id"], name=op.f("fk_report_project_run"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("project", "run", "place", name=op.f("pk_report")),
    )


def _make_tables_6() -> None:
    op.create_table(
        "run_people",
        sa.Column("project", sa.String(length=64), nullable=False),
        sa.Column("run", sa.String(length=40), nullable=False),
        sa.Column("hashes", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project", "run"], ["run.project", "run.id"], name=op.f("fk_run_people_project_run"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("project", "run", name=op.f("pk_run_people")),
    )
