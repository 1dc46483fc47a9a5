"""Bodies that are stored as they came: just those that would have been accepted, and with the same records."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairtest.service.errors import ServiceError
from fairtest.service.ingest.columns import Declaration, read_declaration
from fairtest.service.ingest.frames import from_bytes
from fairtest.service.ingest.json import read_json, read_lines
from fairtest.service.ingest.received import count_stored, pack_received, read_stored

COLUMNS = {
    "sex": {"kind": "text", "levels": ["f", "m"]}, "age": "integer", "score": {"kind": "number", "required": True},
    "granted": "boolean",
}  # fmt: skip
LOANS = read_declaration({"columns": COLUMNS})
VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**64), 2**64), st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=3), st.sampled_from(["f", "m", "é" * 130]),
)  # fmt: skip
RECORDS = st.lists(
    st.dictionaries(st.sampled_from(["id", *COLUMNS, "other"]), VALUES, min_size=2)
    | st.fixed_dictionaries({"id": st.sampled_from("abc"), "score": st.just(0.5)}),
    max_size=4,
)


def _read_or_refuse(read: Any, body: bytes, declaration: Declaration) -> Any:
    try:
        return read(body, declaration, 3)
    except ServiceError:
        return None


@given(RECORDS)
def test_a_body_is_kept_if_and_only_if_it_is_good(records: list[dict[str, Any]]) -> None:
    whole = json.dumps({"records": records}).encode()
    lines = "\n".join(map(json.dumps, records)).encode()
    for form, body, read in (("json", whole, read_json), ("ndjson", lines, read_lines)):
        careful = _read_or_refuse(read, body, LOANS)
        packed = pack_received(form, body, LOANS, 3)
        assert (packed is None) == (careful is None)
        if packed is not None:
            assert packed.rows == careful.height
            assert read_stored(packed.body, LOANS).equals(careful)
            assert count_stored(packed.body, LOANS) == packed.rows


def test_columns_that_were_added_meanwhile_are_empty() -> None:
    packed = pack_received("json", b'{"records": [{"id": "a", "score": 1}]}', LOANS, 10)
    assert packed is not None
    later = read_declaration({"columns": {**COLUMNS, "region": "text"}})
    assert read_stored(packed.body, later)["region"].to_list() == [None]


@pytest.mark.parametrize(
    "changed",
    [
        {"unknown": "ignore"},  # fields that nobody declared must not be stored
        {"columns": {**COLUMNS, "day": "date"}},
        {"columns": {**COLUMNS, "at": "time"}},
    ],
)
def test_what_is_not_kept_as_it_came(changed: dict[str, Any]) -> None:
    declaration = read_declaration({"columns": COLUMNS, **changed})
    assert pack_received("json", b'{"records": [{"id": "a", "score": 1}]}', declaration, 10) is None


@pytest.mark.parametrize(
    "body", [b'{"truths": [{"id": "a", "score": 1}]}', b'{"columns": {"id": ["a"], "score": [1]}}']
)
def test_other_forms_become_frames_at_once(body: bytes) -> None:
    assert pack_received("json", body, LOANS, 10) is None


def test_bodies_that_are_frames_are_read_as_before() -> None:
    frame = read_json(b'{"records": [{"id": "a", "score": 1}]}', LOANS, 10)
    from fairtest.service.ingest.frames import pack_frame

    stored = pack_frame(frame).body
    assert from_bytes(stored).equals(read_stored(stored, LOANS))
    assert count_stored(stored, LOANS) == 1
