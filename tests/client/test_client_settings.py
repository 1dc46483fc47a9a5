"""Arguments and records that are wrong are refused with a sentence that helps."""

from __future__ import annotations

import math
import ssl
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum
from uuid import UUID

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from receivers import KEY

from fairtest_client import Client, InvalidRecord, InvalidSetting
from fairtest_client.encoding import encode_record
from fairtest_client.transport import Address, _seconds

URL = "http://127.0.0.1:9"


class Colour(Enum):
    RED = "red"


WRONG = [
    ({"url": "fairtest.example"}, "'url' of Client must be like 'https://fairtest.example'. Got 'fairtest.example'"),
    ({"url": "ftp://fairtest.example"}, "'url' of Client"),
    ({"url": "http://fairtest.example"}, "must begin with https"),
    ({"url": "http://127.0.0.1.example"}, "must begin with https"),
    ({"url": "https://me:word@fairtest.example"}, "must hold no password"),
    ({"url": "https://fairtest.example/?a=b"}, "'url' of Client"),
    ({"key": ""}, "'key' of Client"),
    ({"key": "two words"}, "'key' of Client"),
    ({"key": "line\r\nInjected: yes"}, "'key' of Client"),
    ({"batch": 0}, "'batch' of Client must be a whole number from 1 to 50,000. Got 0"),
    ({"batch": 1.5}, "'batch' of Client"),
    ({"batch": True}, "'batch' of Client"),
    ({"every": math.nan}, "'every' of Client must be a number"),
    ({"every": 0}, "'every' of Client"),
    ({"wait": -1}, "'wait' of Client"),
    ({"timeout": 0}, "'timeout' of Client"),
    ({"buffer": 10}, "'buffer' of Client must hold a batch of 500 records. Got 10"),
    ({"on_rejected": "print"}, "'on_rejected' of Client must be a function. Got 'print'"),
]


@pytest.mark.parametrize(("settings", "message"), WRONG)
def test_wrong_settings(settings, message):
    with pytest.raises(InvalidSetting, match=message) as caught:
        Client(**({"url": URL, "key": KEY} | settings))
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["http://localhost:8000", "http://[::1]:80", "http://127.8.9.1", "https://fairtest.example"]
)
def test_addresses_that_are_safe(url):
    assert str(Address.parse(url, allow_http=False)) == url


def test_encryption_may_be_elsewhere():
    assert Address.parse("http://fairtest.mesh/", allow_http=True).records_path("a", "truths") == "/v1/streams/a/truths"


def test_the_key_is_nowhere_to_be_seen():
    client = Client(URL, KEY)
    assert KEY not in repr(client)
    assert KEY not in repr(client._settings)
    client.close()


def test_streams_are_the_same_each_time_and_their_columns_too():
    with Client(URL, KEY) as client:
        assert client.stream("loans") is client.stream("loans")
        with pytest.raises(InvalidSetting, match="was made with record_id='id' and truth=None"):
            client.stream("loans", truth="repaid")
        with pytest.raises(InvalidSetting, match="'name' of a stream"):
            client.stream("")
        with pytest.raises(InvalidSetting, match=r"client.stream\('loans', truth='repaid'\)"):
            client.stream("loans").truth("a-1", True)
        with pytest.raises(InvalidRecord, match="'record_id' of a truth"):
            client.stream("sales", truth="returned").truth(None, True)
    with pytest.raises(InvalidSetting, match="has been closed"):
        client.stream("loans")


VALUES = [
    (np.float32(0.5), "0.5"),
    (np.int64(3), "3"),
    (np.bool_(True), "true"),
    (np.float64("nan"), "null"),
    (pd.NA, "null"),
    (pd.NaT, "null"),
    (pd.Timestamp("2026-01-02"), '"2026-01-02T00:00:00"'),
    (datetime(2026, 1, 2, tzinfo=UTC), '"2026-01-02T00:00:00+00:00"'),
    (date(2026, 1, 2), '"2026-01-02"'),
    (Decimal("1.5"), "1.5"),
    (UUID(int=1), '"00000000-0000-0000-0000-000000000001"'),
    (Colour.RED, '"red"'),
    (None, "null"),
    ("ü\u2028\n", '"ü\u2028\\n"'),
]


@pytest.mark.parametrize(("value", "text"), VALUES, ids=[repr(value) for value, _ in VALUES])
def test_values_of_many_libraries(value, text):
    assert encode_record({"a": value}) == f'{{"a":{text}}}\n'.encode()


BAD_VALUES = [math.inf, object(), b"bytes", {1, 2}, "\ud800", np.zeros(3), [object()], Decimal("Infinity")]


@pytest.mark.parametrize("value", BAD_VALUES, ids=[str(i) for i in range(len(BAD_VALUES))])
def test_values_that_json_has_no_word_for_name_their_column(value):
    with pytest.raises(InvalidRecord, match=r"[cC]olumn 'age'"):
        encode_record({"id": 1, "age": value})


def test_names_must_be_text():
    with pytest.raises(InvalidRecord, match=r"must be strings. Got 3"):
        encode_record({3: 1, "a": object()})
    with pytest.raises(InvalidRecord, match="at least one column"):
        encode_record({})


@given(
    st.dictionaries(
        st.text(min_size=1), st.none() | st.booleans() | st.integers() | st.floats() | st.text(), min_size=1
    )
)
def test_any_record_is_one_line_or_an_error(record):
    try:
        line = encode_record(record)
    except InvalidRecord:
        return
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")


@given(st.text())
def test_any_retry_after_is_a_time_to_wait(text):
    assert 0 <= _seconds(text) <= 3600


def test_a_record_that_is_too_large_is_refused():
    with Client(URL, KEY) as client, pytest.raises(InvalidRecord, match="at most 4,000,000 bytes"):
        client.stream("loans").send(text="x" * 4_000_000)


def test_certificates_are_checked():
    with Client("https://127.0.0.1:9", KEY) as client:
        connection = client.stream("loans")._transport._connect(1.0)
        assert connection._context.verify_mode is ssl.CERT_REQUIRED
        assert connection._context.check_hostname
