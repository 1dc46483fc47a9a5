"""Records: all or nothing, every bad row named, durable before the answer, a retry is harmless."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest
from samples import COLUMNS, FORMATS, RECORDS, typed

from fairtest.service.ingest.frames import from_bytes
from fairtest.service.store.tables import batch_body

if TYPE_CHECKING:
    from starlette.testclient import TestClient

    from fairtest.service.service import Service


@pytest.fixture
def loans(client: TestClient) -> TestClient:
    made = client.post("/v1/streams", json={"name": "loans", "columns": COLUMNS})
    assert made.status_code == 201, made.json()
    return client


def send(client: TestClient, body: Any, kind: str = "application/json", key: str = "k-1", **headers: str) -> Any:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return client.post(
        "/v1/streams/loans/records",
        content=content,
        headers={"Idempotency-Key": key, "Content-Type": kind, **headers},
    )


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("packed", [False, True])
def test_every_format_stores_the_same(loans: TestClient, service: Service, form: str, packed: bool) -> None:
    kind, make = FORMATS[form]
    body = gzip.compress(make()) if packed else make()
    answer = send(loans, body, kind, **({"Content-Encoding": "gzip"} if packed else {}))
    assert answer.status_code == 201, answer.json()
    assert answer.json()["accepted"] == 5
    with service.database.reading() as connection:
        (stored,) = connection.scalars(batch_body.select().with_only_columns(batch_body.c.body)).all()
    frame = from_bytes(stored)
    assert frame.select(typed().columns).equals(typed())


def test_the_receipt_of_a_batch(loans: TestClient) -> None:
    first = send(loans, {"records": RECORDS}).json()
    assert (first["seq"], first["accepted"], first["stream_records"]) == (1, 5, 5)
    second = send(loans, {"records": RECORDS}, key="k-2").json()
    assert (second["seq"], second["stream_records"]) == (2, 10)
    assert loans.get("/v1/streams/loans/batches/k-1").json() == first
    assert loans.get("/v1/streams/loans/batches/none").status_code == 404


def test_a_retry_is_harmless(loans: TestClient) -> None:
    first = send(loans, {"records": RECORDS})
    again = send(loans, {"records": RECORDS})
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json() == first.json()
    assert again.headers["Idempotency-Replayed"] == "true"
    other = send(loans, {"records": RECORDS[:2]})
    assert (other.status_code, other.json()["type"]) == (422, "/problems/key-reused")
    assert loans.get("/v1/streams/loans").json()["records"] == 5


def test_every_bad_row_is_named_and_none_is_stored(loans: TestClient) -> None:
    bad = [dict(record) for record in RECORDS]
    bad[1]["age"] = "x"
    bad[3] |= {"sex": "q", "born": "yesterday"}
    del bad[4]["id"]
    answer = send(loans, {"records": bad})
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert problem["title"] == "3 of 5 records were not accepted; none was stored"
    assert [(each["row"], each["column"]) for each in problem["errors"]] == [
        (1, "age"),
        (3, "sex"),
        (3, "born"),
        (4, "id"),
    ]
    assert problem["errors"][0] == {"row": 1, "column": "age", "got": '"x"', "allowed": "integer or null"}
    assert loans.get("/v1/streams/loans").json()["records"] == 0


@pytest.mark.parametrize("key", ["", "x" * 256, "a\tb"])
def test_a_batch_needs_a_key(loans: TestClient, key: str) -> None:
    answer = send(loans, {"records": RECORDS}, key=key)
    assert answer.status_code == 422
    assert "Idempotency-Key" in answer.json()["detail"]


def test_fields_that_are_not_declared_may_be_ignored(client: TestClient) -> None:
    client.post("/v1/streams", json={"name": "loans", "columns": {"sex": "text"}, "unknown": "ignore"})
    assert send(client, {"records": [{"id": "1", "sex": "f", "more": {"of": "it"}}]}).status_code == 201


def test_late_truths_by_id(loans: TestClient) -> None:
    send(loans, {"records": RECORDS})
    url, headers = "/v1/streams/loans/truths", {"Idempotency-Key": "t-1"}
    good = loans.post(url, json={"truths": [{"id": "a-1", "granted": True}]}, headers=headers)
    assert (good.status_code, good.json()["kind"], good.json()["seq"]) == (201, "truth", 2)
    assert good.json()["stream_records"] == 5
    nothing = loans.post(url, json={"truths": [{"id": "a-1"}]}, headers={"Idempotency-Key": "t-2"})
    assert nothing.status_code == 422
    fixed = loans.post(url, json={"truths": [{"id": "a-1", "sex": "f"}]}, headers={"Idempotency-Key": "t-3"})
    assert fixed.json()["errors"][0]["column"] == "sex"  # required in records, so it cannot come late


def test_a_new_column_takes_effect_at_once(loans: TestClient) -> None:
    assert send(loans, {"records": RECORDS}).status_code == 201
    before = loans.get("/v1/streams/loans")
    changed = loans.patch(
        "/v1/streams/loans", json={"columns": {"colour": "text"}}, headers={"If-Match": before.headers["etag"]}
    )
    assert changed.json()["version"] == 2
    assert send(loans, {"records": [{"id": "b", "sex": "f", "colour": "red"}]}, key="k-2").status_code == 201
    stale = loans.patch(
        "/v1/streams/loans", json={"columns": {"size": "text"}}, headers={"If-Match": before.headers["etag"]}
    )
    assert stale.status_code == 412
    again = loans.patch("/v1/streams/loans", json={"columns": {"sex": "integer"}})
    assert again.status_code == 422
    needed = loans.patch("/v1/streams/loans", json={"columns": {"must": {"kind": "text", "required": True}}})
    assert needed.status_code == 422


@pytest.mark.parametrize("name", ['a"b', "a\\b", "", "x" * 129, "__seq", "a\nb"])
def test_names_of_columns_that_no_reader_could_compare(client: TestClient, name: str) -> None:
    answer = client.post("/v1/streams", json={"name": "odd", "columns": {name: "text"}})
    assert answer.status_code == 422
    assert "A column must be called by 1 to 128 printable characters" in answer.json()["detail"]
