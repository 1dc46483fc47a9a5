"""The kinds of columns that the tables of the service are made of."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Double, ForeignKeyConstraint, MetaData, String, Text, text

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def name_column(column: str, length: int = 64, *, nullable: bool = False) -> Column[str]:
    """Return a column of names or ids."""
    return Column(column, String(length), nullable=nullable)


def moment_column(column: str, *, nullable: bool = False) -> Column[float]:
    """Return a column of moments: seconds since 1970 in UTC."""
    return Column(column, Double, nullable=nullable)


def count_column(column: str, *, default: int | None = 0, nullable: bool = False) -> Column[int]:
    """Return a column of counts."""
    given = None if default is None else text(str(default))
    return Column(column, BigInteger, nullable=nullable, server_default=given)


def json_column(column: str, *, nullable: bool = False) -> Column[str]:
    """Return a column of JSON kept as text: the same bytes from both databases."""
    return Column(column, Text, nullable=nullable)


def belongs(*columns: str, to: str) -> ForeignKeyConstraint:
    """Return a foreign key; ``to`` is a table and its columns: ``stream.project,name``. Rows go with their owner."""
    table, _, names = to.partition(".")
    return ForeignKeyConstraint(columns, [f"{table}.{name}" for name in names.split(",")], ondelete="CASCADE")


def leased_columns() -> list[Column[str] | Column[float] | Column[int]]:
    """Return the columns of work that is done once, by whoever holds the lease; see ``work/leases.py``."""
    return [
        name_column("state", 16),
        moment_column("due"),
        count_column("token"),
        moment_column("lease_until", nullable=True),
        name_column("worker", 128, nullable=True),
        count_column("attempts"),
        Column("reason", Text, nullable=True),
    ]
