"""Triggers that keep rows as they are, in both databases; for migrations."""

from __future__ import annotations

from alembic import op

PROJECT_LASTS = "EXISTS (SELECT 1 FROM project WHERE name = OLD.project)"
"""Rows may go with their project, and in no other way."""


def guard(table: str, action: str, refused: str = "TRUE") -> None:
    """Refuse to UPDATE or DELETE rows of a table under a condition, whoever asks."""
    name, words = f"{table}_no_{action.lower()}", f"a {table} is immutable"
    if op.get_bind().dialect.name == "sqlite":
        op.execute(
            f"CREATE TRIGGER {name} BEFORE {action} ON {table} WHEN {refused} BEGIN SELECT RAISE(ABORT, '{words}'); END"
        )
        return
    row = "OLD" if action == "DELETE" else "NEW"
    op.execute(
        f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF {refused} THEN "
        f"RAISE EXCEPTION '{words}'; END IF; RETURN {row}; END $$"
    )
    op.execute(f"CREATE TRIGGER {name} BEFORE {action} ON {table} FOR EACH ROW EXECUTE FUNCTION {name}()")
