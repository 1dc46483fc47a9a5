"""Bodies are stored as they are: they are compressed already, and PostgreSQL would try to do it again."""

from __future__ import annotations

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None
COLUMNS = (("batch_body", "body"), ("segment_body", "body"), ("watch", "body"), ("block", "body"))


def upgrade() -> None:
    """Let PostgreSQL keep what comes from now on as it is; SQLite does that anyway."""
    if op.get_bind().dialect.name == "postgresql":
        for table, column in COLUMNS:
            op.execute(f"ALTER TABLE {table} ALTER COLUMN {column} SET STORAGE EXTERNAL")
