"""How a watch stands, read from the store: for pages and for the API."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from fairtest.service.store.watch_steps import LEARNING, UNABLE
from fairtest.service.store.watch_tables import hypothesis, watch

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Connection

    from fairtest.service.store.tenant import Tenant

ORDER = ("alarmed", "gone", "quiet", "echo", "dropped")


@dataclass(frozen=True)
class FollowedContext:
    """A context that the watch follows: ``body`` has its words and its days."""

    id: str
    fingerprint: str
    state: str
    stake: float
    given: float
    body: dict[str, Any]


@dataclass(frozen=True)
class Standing:
    """How the watch of a monitor stands.

    Attributes
    ----------
    trouble
        Why its last step failed; None if it did not.
    """

    phase: str
    version: int
    looked: float | None
    due: float | None
    trouble: str | None
    view: dict[str, Any]
    followed: tuple[FollowedContext, ...] = ()

    @property
    def words(self) -> str:
        """What is the case, in a sentence."""
        if self.phase == UNABLE:
            return f"The watch cannot begin. {self.view.get('reason', '')}"
        if self.phase == LEARNING:
            to_go = self.view.get("to_go")
            if to_go is None:
                return "The watch begins when the first people have arrived."
            return f"The watch learns the columns first: {to_go:,} {'person' if to_go == 1 else 'people'} to go."
        if many := sum(each.state == "alarmed" for each in self.followed):
            return f"A difference was found in {many:,} group{'' if many == 1 else 's'}."
        if "day" not in self.view:
            return "The watch has learned the columns, and bets on everybody who comes from now on."
        many = sum(self.view["hypotheses"].values())
        return f"Nothing found in {many:,} group{'' if many == 1 else 's'} so far."

    @property
    def drawn(self) -> list[FollowedContext]:
        """What is drawn: what alarmed or is gone, then what is followed otherwise; of echoes everybody alone."""
        shown = ("alarmed", "gone", "quiet")
        return [each for each in self.followed if each.state in shown or each.body["words"] == "everyone"]


NOTHING_YET = Standing(LEARNING, 0, None, None, None, {})


def find_standing(tenant: Tenant, monitor_id: str) -> Standing:
    """Return how the watch of a monitor stands, for its newest question."""
    with tenant.reading() as connection:
        return load_standing(connection, tenant.project, monitor_id)


def load_standing(connection: Connection, project: str, monitor_id: str) -> Standing:
    """Return how the watch of a monitor stands, for the newest question that is watched."""
    own = (watch.c.project == project) & (watch.c.monitor == monitor_id)
    columns = [column for column in watch.c if column.name != "body"]
    row = connection.execute(select(*columns).where(own).order_by(watch.c.version.desc()).limit(1)).first()
    if row is None:
        return NOTHING_YET
    own = (hypothesis.c.project == project) & (hypothesis.c.watch == row.id)
    followed = [_read_followed(each) for each in connection.execute(select(hypothesis).where(own))]
    followed.sort(key=lambda each: (ORDER.index(each.state), -each.body["records"], each.body["words"]))
    view = {} if row.view is None else json.loads(row.view)
    trouble = row.reason if row.attempts or row.reason else None
    return Standing(row.phase, row.version, row.looked, row.due, trouble, view, tuple(followed))


def followed_by_fingerprint(
    connection: Connection, project: str, monitors: Iterable[str]
) -> dict[tuple[str, str], FollowedContext]:
    """Return what watches have measured, by monitor and fingerprint; of several questions the newest."""
    both = hypothesis.join(watch, (hypothesis.c.project == watch.c.project) & (hypothesis.c.watch == watch.c.id))
    own = (watch.c.project == project) & watch.c.monitor.in_(list(monitors))
    query = select(hypothesis, watch.c.monitor).select_from(both).where(own).order_by(watch.c.version)
    return {(row.monitor, row.fingerprint): _read_followed(row) for row in connection.execute(query)}


def _read_followed(row: Any) -> FollowedContext:
    return FollowedContext(row.id, row.fingerprint, row.state, row.stake, row.given, json.loads(row.body))
