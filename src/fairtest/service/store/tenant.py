"""A store bound to one project and to what a key may do: handlers get this and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairtest.service.errors import BadRequest, Refused
from fairtest.service.guard.scopes import allows

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from sqlalchemy import Connection

    from fairtest.service.store.database import Database


@dataclass(frozen=True)
class Tenant:
    """Who asks, for which project.

    Attributes
    ----------
    who
        The id of the key, or the name of a command.
    bound_to
        The project; None for the service as a whole.
    whole_service
        Whether the key is one of the whole service.
    """

    database: Database
    who: str
    bound_to: str | None
    scopes: frozenset[str]
    whole_service: bool = False

    @property
    def project(self) -> str:
        """The project; an error where a key of the whole service names none."""
        if self.bound_to is None:
            raise BadRequest("This key is one of the whole service: name a project in the header FairTest-Project.")
        return self.bound_to

    def require(self, scope: str, *, whole_service: bool = False) -> None:
        """Raise unless the key has a scope, and belongs to the whole service if that is needed."""
        if whole_service and not self.whole_service:
            raise Refused("This needs a key of the whole service; yours belongs to one project.")
        if not allows(self.scopes, scope):
            raise Refused(f"This needs the scope {scope!r}; the key has: {', '.join(sorted(self.scopes))}.")

    def reading(self) -> AbstractContextManager[Connection]:
        """Give a connection to read from."""
        return self.database.reading_soon()

    def writing(self) -> AbstractContextManager[Connection]:
        """Give a connection whose changes are all stored, or none."""
        return self.database.writing_soon()
