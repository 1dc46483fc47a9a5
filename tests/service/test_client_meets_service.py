"""The client and the service agree: what is sent is stored once, and what is wrong comes back by row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from running import served
from samples import COLUMNS

from fairtest.client import Client, Rejected
from fairtest.service.store.projects import create_key
from fairtest.service.store.streams import create_stream, find_stream

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairtest.service.service import Service
    from fairtest.service.store.tenant import Tenant


@pytest.fixture
def client(service: Service, tenant: Tenant) -> Iterator[Client]:
    create_stream(tenant, "loans", {"name": "loans", "columns": COLUMNS, "record_id": "id"})
    key, _ = create_key(service.database, "test", "acme", ["ingest"])
    with served(service) as address:
        made = Client(address, key.text, every=0.05)
        yield made
        made.close()


def test_records_and_truths_arrive_once(client: Client, tenant: Tenant) -> None:
    loans = client.stream("loans", truth="granted")
    for n in range(1200):
        loans.send(id=f"a-{n}", sex="fm"[n % 2], age=20 + n % 50, income=float("nan"))
        loans.truth(f"a-{n}", n % 3 == 0)
    assert loans.flush(30) == 0
    assert find_stream(tenant, "loans").records == 1200
    assert loans.counts.accepted == 2400


def test_a_refusal_names_the_row(client: Client) -> None:
    loans = client.stream("loans")
    loans.send(id="a-1", sex="f", age="old")
    loans.flush(30)
    with pytest.raises(Rejected, match="Row 0, column 'age': got \"old\", allowed is integer or null") as caught:
        client.close()
    assert caught.value.rejections[0].status == 422


def test_a_stream_that_does_not_exist_is_said_so(client: Client) -> None:
    client.stream("nobody").send(id="a-1")
    client.stream("nobody").flush(30)
    with pytest.raises(Rejected, match="404"):
        client.close()
