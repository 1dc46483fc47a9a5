"""Run by Alembic: migrates over the connection that :mod:`fairtest.service.store.migrate` holds the lock on."""

from __future__ import annotations

from alembic import context

from fairtest.service.store.columns import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,  # SQLite changes a table by making it again
    transactional_ddl=True,
    transaction_per_migration=False,
)
with context.begin_transaction():
    context.run_migrations()
