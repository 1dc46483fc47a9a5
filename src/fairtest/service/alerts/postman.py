"""Carries deliveries that are due, each under a lease: any worker may do it, and no two do the same."""

from __future__ import annotations

import json
import logging
import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import exists, select

from fairtest.service.alerts.mail import send_mail, write_mail
from fairtest.service.alerts.messages import write_json, write_letter
from fairtest.service.alerts.signing import signature_headers, valid_secrets
from fairtest.service.alerts.webhook import Outcome, post
from fairtest.service.pausing import pause
from fairtest.service.store.tables import delivery, destination, event
from fairtest.service.work.leases import claim, update_held

if TYPE_CHECKING:
    import ssl

    from sqlalchemy import ColumnElement

    from fairtest.service.alerts.settings import AlertSettings
    from fairtest.service.service import Service
    from fairtest.service.store.destinations import Destination
    from fairtest.service.work.leases import Lease

logger = logging.getLogger(__name__)
AGAIN_AFTER = (5.0, 30.0, 120.0, 600.0, 1800.0, 7200.0, 18000.0, 36000.0, 50400.0, 72000.0, 86400.0)
"""Seconds until the next attempt, after the first, the second … failure; then the delivery is dead, and visible."""
AT_ONCE = 4
JITTER = 0.2


@dataclass(frozen=True)
class Letter:
    """What is delivered: an event and its own id, which the receiver can tell a repetition by."""

    id: str
    kind: str
    created: float
    body: dict[str, Any]


class Postman:
    """Delivers alerts.

    Parameters
    ----------
    service
        Whose outbox.
    chance
        What the jitter of pauses is drawn from.
    tls
        What certificates to trust, where that is not the system's.
    """

    def __init__(
        self, service: Service, chance: random.Random | None = None, tls: ssl.SSLContext | None = None
    ) -> None:
        self._service, self._chance, self._tls = service, chance or random.Random(), tls
        self.settings: AlertSettings = service.settings.alerts

    def deliver_due(self, at_most: int = 100) -> int:
        """Deliver what is due, a few at a time so that one slow receiver does not hold up the others."""
        done = 0
        with ThreadPoolExecutor(AT_ONCE) as pool:
            while done < at_most and not self._service.stopping.is_set():
                leases = self._claim_some(min(AT_ONCE, at_most - done))
                if not leases:
                    return done
                done += len(list(pool.map(self._deliver, leases)))
        return done

    def _claim_some(self, count: int) -> list[Lease]:
        leases = []
        for _ in range(count):
            lease = claim(self._service.database, delivery, self._service.worker_name, _waiting)
            if lease is None:
                break
            leases.append(lease)
        return leases

    def _deliver(self, lease: Lease) -> None:
        letter, to = self._load(lease)
        outcome = self.carry(letter, to)
        pause("send.sent")
        self._note(lease, outcome)

    def _load(self, lease: Lease) -> tuple[Letter, Destination]:
        from fairtest.service.store.destinations import load_destination

        with self._service.database.reading_soon() as connection:
            row = connection.execute(
                select(event).where(event.c.project == lease.project, event.c.id == lease.row["event"])
            ).one()
            to = load_destination(connection, lease.project, lease.row["destination"])
        return Letter(lease.id, row.kind, row.created, json.loads(row.body)), to

    def carry(self, letter: Letter, to: Destination) -> Outcome:
        """Try once to bring a letter to a destination."""
        settings = self.settings
        if to.kind == "email":
            if settings.mail is None:
                return Outcome(False, "The service has no mail server: set FAIRTEST_SMTP.")
            subject, text = write_letter(letter.kind, letter.created, letter.body, settings.public_url)
            return send_mail(settings.mail, write_mail(settings.mail, to.address, letter.id, subject, text), self._tls)
        body = write_json(letter.kind, letter.created, letter.body, settings.public_url)
        with self._service.database.reading_soon() as connection:
            moment = int(self._service.database.now(connection))
        keys = valid_secrets(self._service.secret, to.project, to.id, to.secret_version)
        headers = signature_headers(keys, letter.id, moment, body)
        return post(to.address, headers, body, settings.allow_private, tls=self._tls)

    def _note(self, lease: Lease, outcome: Outcome) -> None:
        """Write down what became of an attempt; where the lease was lost, somebody else will."""
        with self._service.database.writing_soon() as connection:
            now = self._service.database.now(connection)
            values: dict[str, Any] = {"lease_until": None, "worker": None, "reason": outcome.reason}
            if outcome.delivered:
                values |= {"state": "sent", "ended": now, "reason": None}
            elif outcome.final or lease.attempts > len(AGAIN_AFTER):
                values |= {"state": "dead", "ended": now}
            else:
                values |= {"state": "due", "due": now + self._pause(lease.attempts, outcome.retry_after)}
            connection.execute(update_held(lease).values(**values))
        if values["state"] == "dead":
            fields = {"delivery": lease.id, "project": lease.project, "attempts": lease.attempts}
            logger.error("a delivery is dead", extra=fields)

    def _pause(self, attempts: int, asked: float) -> float:
        """Return how long to wait: as planned, never less than the receiver asked for, and jittered upwards."""
        return max(AGAIN_AFTER[attempts - 1], asked) * (1 + JITTER * self._chance.random())


def deliver_alerts(service: Service) -> bool:
    """Deliver what is due; return whether there was anything. The step of a worker."""
    return Postman(service).deliver_due() > 0


def _waiting(_now: float) -> ColumnElement[bool]:
    """Say which deliveries wait although they are due: those to a destination that is paused."""
    of_delivery = (destination.c.project == delivery.c.project) & (destination.c.id == delivery.c.destination)
    return exists().where(of_delivery, destination.c.paused)
