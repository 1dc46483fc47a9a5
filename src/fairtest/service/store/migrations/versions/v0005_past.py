"""What a watch has summed up of days that are over, apart from what changes with each step."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table; what is stored already stays where it is until the next day ends."""
    op.create_table(
        "watch_past",
        sa.Column("project", sa.String(length=64), nullable=False),
        sa.Column("watch", sa.String(length=40), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project", "watch"],
            ["watch.project", "watch.id"],
            name=op.f("fk_watch_past_project_watch"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("project", "watch", name=op.f("pk_watch_past")),
    )
    if op.get_bind().dialect.name == "postgresql":
        op.execute("ALTER TABLE watch_past ALTER COLUMN body SET STORAGE EXTERNAL")
