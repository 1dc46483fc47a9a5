"""What a watch holds, packed: every number comes back to the last bit, and the form before is still read."""

from __future__ import annotations

import json
import zlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairtest.service.store.packing import MARK, pack_plain, unpack_plain

NUMBERS = st.one_of(
    st.lists(st.integers(-(2**63), 2**63 - 1), max_size=12),
    st.lists(st.floats(allow_nan=False), max_size=12),
    st.lists(st.integers(-5, 300) | st.floats(allow_nan=False) | st.booleans() | st.none(), max_size=12),
    st.integers(1, 4).flatmap(lambda n: st.lists(st.lists(st.floats(allow_nan=False), min_size=n, max_size=n))),
    st.lists(st.lists(st.integers(), max_size=3), max_size=6),
)
PLAIN = st.dictionaries(
    st.text(max_size=5),
    st.recursive(NUMBERS | st.text(max_size=5) | st.none(), lambda each: st.dictionaries(st.text(max_size=3), each)),
    max_size=5,
)


def _fits(value: Any) -> bool:
    """MessagePack has integers of 64 bits; a watch counts no further."""
    if isinstance(value, dict):
        return all(map(_fits, value.values()))
    if isinstance(value, list):
        return all(map(_fits, value))
    return not isinstance(value, int) or -(2**63) <= value < 2**64


@settings(max_examples=60, deadline=None)
@given(PLAIN.filter(_fits))
def test_everything_comes_back_as_it_was(plain: dict[str, Any]) -> None:
    assert json.dumps(unpack_plain(pack_plain(plain))) == json.dumps(plain)


def test_names_are_text_as_in_json() -> None:
    assert unpack_plain(pack_plain({"by day": {3: [1.5] * 9}})) == {"by day": {"3": [1.5] * 9}}


def test_what_earlier_versions_stored_is_read() -> None:
    plain = {"log_stakes": [-1.25, 0.0], "name": "all"}
    assert unpack_plain(zlib.compress(json.dumps(plain).encode(), 1)) == plain


@pytest.mark.parametrize("values", [[-0.25 * n for n in range(2000)], list(range(2000))])
def test_it_is_smaller_than_packed_json(values: list[float]) -> None:
    packed = pack_plain({"numbers": values})
    assert packed.startswith(MARK)
    assert len(packed) < len(zlib.compress(json.dumps(values).encode(), 1))
