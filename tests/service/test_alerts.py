"""Alerts: written with what they tell of, signed, tried again, and never sent twice."""

from __future__ import annotations

import email
import json
import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hooks import Hook, hooked, mail_server
from samples import COLUMNS
from sqlalchemy import insert, select, update
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from fairtest.exceptions import InputError
from fairtest.service import pausing
from fairtest.service.alerts.postman import AGAIN_AFTER, Postman
from fairtest.service.alerts.settings import AlertSettings, MailServer
from fairtest.service.errors import BadRequest
from fairtest.service.store.destinations import create_destination
from fairtest.service.store.outbox import Happening, announce
from fairtest.service.store.streams import create_stream
from fairtest.service.store.tables import delivery, event, monitor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.testclient import TestClient

    from fairtest.service.service import Service
    from fairtest.service.settings import Settings
    from fairtest.service.store.tenant import Tenant

FOUND = Happening("new", "hyp_1", "2026-11-18", {"sentence": "Among women, 12 % are granted.", "stake": 23.1})


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return replace(settings, allow_private=("127.0.0.0/8",), public_url="https://fairtest.example")


@pytest.fixture
def hook() -> Iterator[Hook]:
    with hooked() as made:
        yield made


@pytest.fixture
def watching(tenant: Tenant) -> str:
    """A monitor that tells nobody yet."""
    create_stream(tenant, "loans", {"name": "loans", "columns": COLUMNS, "record_id": "id"})
    row = {"project": "acme", "id": "mon_1", "stream": "loans", "name": "loans-sex", "schedule": "{}", "tell": "[]"}
    row |= {"paused": False, "version": 1, "created": 0.0}
    if "created_at_records" in monitor.c:
        row["created_at_records"] = 0
    with tenant.writing() as connection:
        connection.execute(insert(monitor).values(**row))
    return "mon_1"


def tell(tenant: Tenant, *destinations: str) -> None:
    with tenant.writing() as connection:
        connection.execute(update(monitor).values(tell=json.dumps(destinations)))


def happen(tenant: Tenant, happening: Happening = FOUND) -> str | None:
    with tenant.writing() as connection:
        return announce(tenant.database, connection, "acme", "mon_1", happening)


def deliveries(tenant: Tenant) -> list[Any]:
    with tenant.reading() as connection:
        return list(connection.execute(select(delivery).order_by(delivery.c.created)).all())


def let_time_pass(tenant: Tenant) -> None:
    """Make what waits due."""
    with tenant.writing() as connection:
        connection.execute(update(delivery).values(due=0.0))


@pytest.fixture
def postman(service: Service, watching: str) -> Postman:
    return Postman(service, random.Random(1))


class TestOutbox:
    def test_an_event_is_told_to_each_destination_of_its_monitor_once(
        self, tenant: Tenant, hook: Hook, postman: Postman
    ):
        ids = [create_destination(tenant, "webhook", hook.url).id for _ in range(3)]
        tell(tenant, *ids[:2], "dst_deleted")
        assert happen(tenant) is not None
        assert happen(tenant) is None, "the same event again"
        assert sorted(row.destination for row in deliveries(tenant)) == sorted(ids[:2])
        assert happen(tenant, replace(FOUND, slot="2026-11-19")) is not None
        assert len(deliveries(tenant)) == 4

    def test_what_was_rolled_back_is_not_told(self, tenant: Tenant, hook: Hook, postman: Postman):
        tell(tenant, create_destination(tenant, "webhook", hook.url).id)

        def fail() -> None:
            with tenant.writing() as connection:
                announce(tenant.database, connection, "acme", "mon_1", FOUND)
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            fail()
        assert postman.deliver_due() == 0
        with tenant.reading() as connection:
            assert connection.execute(select(event)).all() == []


class TestDelivery:
    def test_a_webhook_is_signed_so_that_their_verifier_accepts_it(
        self, client: TestClient, tenant: Tenant, hook, postman
    ):
        made = client.post("/v1/destinations", json={"kind": "webhook", "address": hook.url}).json()
        tell(tenant, made["id"])
        happen(tenant)
        assert postman.deliver_due() == 1
        ((headers, body),) = hook.got
        message = Webhook(made["secret"]).verify(body, headers)
        assert message["type"] == "finding.new"
        assert message["data"]["sentence"] == "Among women, 12 % are granted."
        assert message["data"]["link"] == "https://fairtest.example/p/acme/monitors/mon_1"
        with pytest.raises(WebhookVerificationError):
            Webhook(made["secret"]).verify(body + b" ", headers)
        assert postman.deliver_due() == 0
        (row,) = deliveries(tenant)
        assert (row.state, row.attempts, headers["webhook-id"]) == ("sent", 1, row.id)

    def test_a_worker_delivers(self, service: Service, tenant: Tenant, hook: Hook, watching: str):
        from fairtest.service.work.worker import work_once

        tell(tenant, create_destination(tenant, "webhook", hook.url).id)
        happen(tenant)
        assert work_once(service)
        assert len(hook.got) == 1
        assert not work_once(service)

    def test_two_secrets_are_valid_while_one_changes_over(self, client: TestClient, tenant: Tenant, hook, postman):
        first = client.post("/v1/destinations", json={"kind": "webhook", "address": hook.url}).json()
        place = f"/v1/destinations/{first['id']}"
        second = client.post(f"{place}/rotate").json()
        tell(tenant, first["id"])
        happen(tenant)
        postman.deliver_due()
        third = client.post(f"{place}/rotate").json()
        assert len({first["secret"], second["secret"], third["secret"]}) == 3
        assert "secret" not in client.get(place).json()
        happen(tenant, replace(FOUND, slot="later"))
        postman.deliver_due()
        (headers, body), (later_headers, later) = hook.got
        for secret in (first["secret"], second["secret"]):
            Webhook(secret).verify(body, headers)
        for secret in (second["secret"], third["secret"]):
            Webhook(secret).verify(later, later_headers)
        with pytest.raises(WebhookVerificationError):
            Webhook(first["secret"]).verify(later, later_headers)

    def test_a_failure_is_tried_again_under_the_same_id_and_in_the_end_dead(
        self, tenant: Tenant, hook: Hook, postman, client
    ):
        tell(tenant, create_destination(tenant, "webhook", hook.url).id)
        happen(tenant)
        hook.answers = [500] * 50
        pauses = []
        for _ in AGAIN_AFTER:
            assert postman.deliver_due() == 1
            (row,) = deliveries(tenant)
            assert row.state == "due"
            with tenant.reading() as connection:
                pauses.append(row.due - tenant.database.now(connection))
            assert postman.deliver_due() == 0, "not before its time"
            let_time_pass(tenant)
        for pause, step in zip(pauses, AGAIN_AFTER, strict=True):
            assert step - 2 <= pause <= 1.2 * step
        assert postman.deliver_due() == 1
        (row,) = deliveries(tenant)
        assert (row.state, row.reason, row.attempts) == ("dead", "The receiver answered 500.", len(AGAIN_AFTER) + 1)
        assert len({headers["webhook-id"] for headers, _ in hook.got}) == 1
        (shown,) = client.get("/v1/deliveries?state=dead").json()["items"]
        assert shown["reason"] == "The receiver answered 500."
        hook.answers = []
        assert client.post(f"/v1/deliveries/{row.id}/retry").status_code == 202
        assert postman.deliver_due() == 1
        assert deliveries(tenant)[0].state == "sent"
        assert client.post(f"/v1/deliveries/{row.id}/retry").status_code == 409

    def test_retry_after_is_honoured_and_gone_is_final(self, tenant: Tenant, hook: Hook, postman: Postman):
        tell(tenant, create_destination(tenant, "webhook", hook.url).id)
        happen(tenant)
        hook.answers, hook.headers = [503, 410], {"Retry-After": "3000"}
        postman.deliver_due()
        (row,) = deliveries(tenant)
        with tenant.reading() as connection:
            assert row.due - tenant.database.now(connection) > 2990
        let_time_pass(tenant)
        postman.deliver_due()
        assert deliveries(tenant)[0].state == "dead"

    def test_private_addresses_are_refused_at_once(self, service: Service, tenant: Tenant, hook: Hook, watching: str):
        strict = Postman(service)
        strict.settings = AlertSettings()
        tell(tenant, create_destination(tenant, "webhook", hook.url).id)
        happen(tenant)
        strict.deliver_due()
        assert hook.got == []
        assert deliveries(tenant)[0].state == "dead"

    def test_what_goes_to_a_paused_destination_waits(
        self, tenant: Tenant, hook: Hook, postman: Postman, client: TestClient
    ):
        to = create_destination(tenant, "webhook", hook.url).id
        tell(tenant, to)
        client.patch(f"/v1/destinations/{to}", json={"paused": True})
        happen(tenant)
        assert postman.deliver_due() == 0
        client.patch(f"/v1/destinations/{to}", json={"paused": False})
        assert postman.deliver_due() == 1

    def test_postmen_at_once_deliver_each_message_once(
        self, service: Service, tenant: Tenant, hook: Hook, watching: str
    ):
        tell(tenant, *(create_destination(tenant, "webhook", hook.url).id for _ in range(3)))
        for n in range(10):
            happen(tenant, replace(FOUND, slot=str(n)))
        with ThreadPoolExecutor(3) as pool:
            done = list(pool.map(lambda _: Postman(service).deliver_due(), range(3)))
        assert sum(done) == 30
        ids = [headers["webhook-id"] for headers, _ in hook.got]
        assert len(ids) == len(set(ids)) == 30

    def test_a_crash_after_sending_repeats_the_same_id_and_nothing_else(
        self, tenant: Tenant, hook, postman, monkeypatch
    ):
        tell(tenant, create_destination(tenant, "webhook", hook.url).id)
        happen(tenant)

        def die(point: str) -> None:
            if point == "send.sent":
                raise KeyboardInterrupt

        monkeypatch.setattr(pausing, "hook", die)
        with pytest.raises(KeyboardInterrupt):
            postman.deliver_due()
        monkeypatch.setattr(pausing, "hook", None)
        assert postman.deliver_due() == 0, "the lease still runs"
        with tenant.writing() as connection:
            connection.execute(update(delivery).values(lease_until=0.0))
        assert postman.deliver_due() == 1
        first, second = hook.got
        assert first[0]["webhook-id"] == second[0]["webhook-id"]
        assert first[1] == second[1]

    def test_a_postman_who_comes_back_late_changes_nothing(self, tenant: Tenant, hook, postman, monkeypatch):
        tell(tenant, create_destination(tenant, "webhook", hook.url).id)
        happen(tenant)
        hook.answers = [500]

        def take_over(point: str) -> None:
            if point == "send.sent":
                with tenant.writing() as connection:
                    connection.execute(update(delivery).values(token=delivery.c.token + 1, state="sent"))

        monkeypatch.setattr(pausing, "hook", take_over)
        postman.deliver_due()
        assert deliveries(tenant)[0].state == "sent"


class TestMail:
    @pytest.fixture
    def mailed(self, service: Service, watching: str) -> Iterator[tuple[Any, Postman]]:
        with mail_server() as (box, port):
            postman = Postman(service)
            mail = MailServer("127.0.0.1", port, "none", sender="fairtest@example.org")
            postman.settings = AlertSettings(mail=mail, public_url="https://fairtest.example")
            yield box, postman

    def test_a_letter_arrives(self, tenant: Tenant, mailed: Any):
        box, postman = mailed
        tell(tenant, create_destination(tenant, "email", "ops@example.com").id)
        body = {"sentence": "Among\r\nBcc: everyone@example.com women …", "interval": [0.04, 0.14], "effect": 0.09}
        happen(tenant, replace(FOUND, body=body))
        assert postman.deliver_due() == 1
        (raw,) = box.messages
        message = email.message_from_bytes(raw, policy=email.policy.default)
        assert message["Subject"] == "[FairTest] loans-sex: a link was found"
        assert (message["To"], message["From"]) == ("ops@example.com", "fairtest@example.org")
        assert message["Bcc"] is None
        assert message["Auto-Submitted"] == "auto-generated"
        (row,) = deliveries(tenant)
        assert message["Message-ID"] == f"<{row.id}@example.org>"
        text = message.get_content()
        assert "[0.04, 0.14]; the interval holds on any day" in text
        assert "https://fairtest.example/p/acme/monitors/mon_1" in text
        assert row.state == "sent"

    def test_an_address_that_the_server_does_not_take_is_dead_at_once(self, tenant: Tenant, mailed: Any):
        box, postman = mailed
        box.refuse = "550 no such user"
        tell(tenant, create_destination(tenant, "email", "nobody@example.com").id)
        happen(tenant)
        postman.deliver_due()
        (row,) = deliveries(tenant)
        assert (row.state, row.reason) == ("dead", "The mail server does not take this address (550).")

    def test_one_that_is_busy_is_tried_again(self, tenant: Tenant, mailed: Any):
        box, postman = mailed
        box.refuse = "450 later"
        tell(tenant, create_destination(tenant, "email", "ops@example.com").id)
        happen(tenant)
        postman.deliver_due()
        assert deliveries(tenant)[0].state == "due"

    def test_without_a_server_the_reason_is_said(self, tenant: Tenant, postman: Postman):
        tell(tenant, create_destination(tenant, "email", "ops@example.com").id)
        happen(tenant)
        postman.deliver_due()
        assert deliveries(tenant)[0].reason == "The service has no mail server: set FAIRTEST_SMTP."

    @pytest.mark.parametrize("address", ["", "ops", "a@b@c", "a b@example.com", "a@example.com\r\nBcc: x@example.com"])
    def test_what_is_no_address_is_refused(self, tenant: Tenant, address: str):
        with pytest.raises(BadRequest, match=r"must be like ops@example.com"):
            create_destination(tenant, "email", address)


class TestRoutes:
    def test_the_test_button_says_what_became_of_it(self, client: TestClient, hook: Hook):
        made = client.post("/v1/destinations", json={"kind": "webhook", "address": hook.url, "label": "ops"}).json()
        answer = client.post(f"/v1/destinations/{made['id']}/test").json()
        assert (answer["delivered"], answer["reason"]) == (True, None)
        ((headers, body),) = hook.got
        assert Webhook(made["secret"]).verify(body, headers)["type"] == "test"
        hook.answers = [500]
        answer = client.post(f"/v1/destinations/{made['id']}/test").json()
        assert (answer["delivered"], answer["reason"]) == (False, "The receiver answered 500.")

    def test_lists_come_in_parts_newest_first(self, client: TestClient, tenant: Tenant, watching: str):
        for n in range(5):
            happen(tenant, replace(FOUND, slot=str(n)))
        seen, after = [], ""
        while True:
            part = client.get(f"/v1/events?limit=2{after}").json()
            seen += [item["slot"] for item in part["items"]]
            if part["next"] is None:
                break
            after = f"&after={part['next']}"
        assert seen == ["4", "3", "2", "1", "0"]
        assert client.get("/v1/events?after=nonsense").status_code == 404
        assert client.get("/v1/events?monitor=mon_2").json()["items"] == []

    def test_other_projects_see_and_touch_nothing(
        self, service: Service, client: TestClient, client_of: Any, hook: Hook
    ):
        from fairtest.service.store.projects import create_project

        made = client.post("/v1/destinations", json={"kind": "webhook", "address": hook.url}).json()
        create_project(service.database, "test", "other")
        stranger = client_of(project="other")
        place = f"/v1/destinations/{made['id']}"
        assert stranger.get("/v1/destinations").json()["items"] == []
        for call in (
            stranger.get(place),
            stranger.patch(place, json={"paused": True}),
            stranger.delete(place),
            stranger.post(f"{place}/test"),
            stranger.post(f"{place}/rotate"),
            stranger.post("/v1/deliveries/msg_1/retry"),
        ):
            assert call.status_code == 404
        assert hook.got == []
        reader = client_of("read")
        assert reader.get(place).status_code == 200
        assert reader.post(f"{place}/test").status_code == 403
        assert reader.post("/v1/destinations", json={"kind": "webhook", "address": hook.url}).status_code == 403

    def test_wrong_values_are_said_to_be_wrong(self, client: TestClient, hook: Hook):
        wrong = client.post("/v1/destinations", json={"kind": "webhook", "address": "file:///etc/passwd"})
        assert (wrong.status_code, "https://example.com/hook" in wrong.json()["detail"]) == (422, True)
        mail = client.post("/v1/destinations", json={"kind": "email", "address": "ops@example.com"}).json()
        assert "secret" not in mail
        assert client.post(f"/v1/destinations/{mail['id']}/rotate").status_code == 422
        assert client.delete(f"/v1/destinations/{mail['id']}").status_code == 204
        assert client.get(f"/v1/destinations/{mail['id']}").status_code == 404


class TestSettings:
    def test_they_come_from_the_environment(self, tmp_path):
        (tmp_path / "word").write_text("secret\n")
        found = AlertSettings.from_environment(
            ["10.0.0.0/8"],
            "",
            {
                "FAIRTEST_SMTP": "smtp://me%40example.com@mail.example:2525",
                "FAIRTEST_SMTP_PASSWORD_FILE": str(tmp_path / "word"),
                "FAIRTEST_PUBLIC_URL": "https://fairtest.example/",
            },
        )
        assert found.public_url == "https://fairtest.example"
        mail = found.mail
        assert mail is not None
        assert (mail.user, mail.password, mail.port, mail.security) == ("me@example.com", "secret", 2525, "starttls")
        assert "secret" not in repr(found)

    @pytest.mark.parametrize("text", ["mail.example", "smtp://me:word@mail.example", "http://mail.example"])
    def test_a_wrong_server(self, text: str):
        with pytest.raises(InputError, match="FAIRTEST_SMTP must be"):
            AlertSettings.from_environment((), "", {"FAIRTEST_SMTP": text})

    def test_a_wrong_network(self):
        with pytest.raises(InputError, match="--allow-private must be a network"):
            AlertSettings.from_environment(["10.0.0.1/8"], "", {})
