"""Formats: what is wrong with a record is named, whatever the format; nonsense and bombs are problems, not faults."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from samples import COLUMNS, FORMATS, RECORDS, as_arrow, typed

from fairtest.service.errors import BatchRejected, ServiceError
from fairtest.service.ingest.arrow import pack_arrow, read_arrow
from fairtest.service.ingest.columns import read_declaration
from fairtest.service.ingest.frames import from_bytes
from fairtest.service.ingest.reading import Sent, read_batch
from fairtest.service.store.streams import Stream

if TYPE_CHECKING:
    from fairtest.service.ingest.columns import Declaration
    from fairtest.service.store.log import Append

LOANS = Stream("acme", "loans", read_declaration({"columns": COLUMNS}), 1.0, None, None, 1, 0.0, 0, 0, 0)


def read(body: Any, kind: str = "application/json", encoding: str = "") -> Append | ServiceError:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    try:
        return read_batch(Sent("records", "k-1", kind, encoding, content), LOANS, None)
    except ServiceError as error:
        return error


def named(answer: Append | ServiceError) -> set[tuple[int | None, str | None]]:
    assert isinstance(answer, ServiceError)
    assert answer.status == 422
    return {(each["row"], each["column"]) for each in answer.extra()["errors"]}


def status(answer: Append | ServiceError) -> int:
    return answer.status if isinstance(answer, ServiceError) else 201


def test_many_bad_rows_are_counted() -> None:
    answer = read({"records": [{"id": str(n), "sex": "?"} for n in range(250)]})
    assert isinstance(answer, ServiceError)
    problem = answer.extra()
    assert (len(problem["errors"]), problem["more"]) == (100, 150)


def corrupt(column: str, value: Any) -> list[dict[str, Any]]:
    return [RECORDS[0], {**RECORDS[1], column: value}]


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("age", 1.5), ("age", True), ("age", 2**63), ("income", "12"), ("granted", 1), ("granted", "true"),
        ("sex", None), ("sex", "F"), ("born", "2026-02-30"), ("at", "2026-03-14T09:26:53"), ("id", ""),
        ("id", "x" * 257), ("id", "é" * 129), ("id", "a-0"), ("colour", "red"), ("sex", ["f"]), ("id", 7),
    ],
)  # fmt: skip
@pytest.mark.parametrize("form", ["records", "columns", "ndjson"])
def test_a_bad_value_is_named_in_every_form_of_json(column: str, value: Any, form: str) -> None:
    rows = corrupt(column, value)
    if form == "ndjson":
        answer = read(b"\n".join(json.dumps(r).encode() for r in rows), "application/x-ndjson")
    elif form == "columns":
        columns = {name: [row.get(name) for row in rows] for name in rows[1]}
        answer = read({"columns": columns})
    else:
        answer = read({"records": rows})
    assert (1, column) in named(answer)


@pytest.mark.parametrize(
    ("column", "value"),
    [("age", "1.5"), ("age", "x"), ("income", "much"), ("income", "inf"), ("granted", "yes"), ("sex", "q"),
     ("born", "1.2.90"), ("at", "2026-03-14T09:26:53"), ("id", "a-0"), ("id", "x" * 300)],
)  # fmt: skip
def test_a_bad_value_is_named_in_csv(column: str, value: str) -> None:
    rows = [{name: str(v) for name, v in row.items()} for row in corrupt(column, value)]
    answer = read(pl.DataFrame(rows).write_csv().encode(), "text/csv")
    assert (1, column) in named(answer)


@pytest.mark.parametrize(
    "frame",
    [
        typed().with_columns(sex=pl.lit("q")),
        typed().with_columns(id=pl.lit("same")),
        typed().with_columns(age=pl.col("age").cast(pl.Float64)),
        typed().with_columns(income=pl.lit(float("nan"))),
        typed().with_columns(age=pl.lit(2**63, pl.UInt64)),
        typed().with_columns(at=pl.col("at").dt.replace_time_zone(None)),
        typed().with_columns(colour=pl.lit("red")),
        typed().drop("sex"),
        typed().head(0),
    ],
)
def test_a_bad_value_is_named_in_arrow(frame: pl.DataFrame) -> None:
    answer = read(as_arrow(frame), "application/vnd.apache.arrow.stream")
    assert named(answer)


@pytest.mark.parametrize("codec", ["lz4", "zstd"])
def test_compressed_arrow_is_refused_before_it_is_unpacked(codec: str) -> None:
    answer = read(as_arrow(compression=codec), "application/vnd.apache.arrow.stream")
    assert status(answer) == 415
    dictionary = typed().with_columns(pl.col("sex").cast(pl.Categorical))
    answer = read(as_arrow(dictionary, compression=codec), "application/vnd.apache.arrow.stream")
    assert status(answer) == 415


def test_categories_of_arrow_are_text() -> None:
    answer = read(as_arrow(typed().with_columns(pl.col("sex").cast(pl.Categorical))), FORMATS["arrow"][0])
    assert status(answer) == 201


def test_a_bomb_stays_packed() -> None:
    answer = read(gzip.compress(b" " * (17 << 20)), encoding="gzip")
    assert status(answer) == 413


@pytest.mark.parametrize(
    ("body", "kind", "expected"),
    [
        (b"{", "application/json", 422),
        (b"\xff\xfe", "application/json", 422),
        (b'{"records": []}', "application/json", 422),
        (b'{"records": [], "columns": {}}', "application/json", 422),
        (b"{}", "application/json", 422),
        (b"[" * 100_000, "application/json", 422),
        (b'{"records": ' + b"[" * 100_000, "application/json", 422),
        (b'{"columns": {"id": ["a"], "sex": ["f", "m"]}}', "application/json", 422),
        (b"", "application/json", 422),
        (b"", "text/csv", 422),
        (b"id,sex\n", "text/csv", 422),
        (b"id,sex\n1,f,3\n", "text/csv", 422),
        (b"\xff\xfe\x00,\n1", "text/csv", 422),
        (b"nonsense", "application/vnd.apache.arrow.stream", 422),
        (b"", "application/vnd.apache.arrow.stream", 422),
        (b"x", "application/xml", 415),
        (b"x", "", 415),
    ],
)
def test_nonsense_is_a_problem_and_no_fault(body: bytes, kind: str, expected: int) -> None:
    assert status(read(body, kind)) == expected


def test_arrow_with_any_byte_changed_is_no_fault() -> None:
    good = as_arrow()
    for place in range(0, len(good), 3):
        body = good[:place] + bytes([good[place] ^ 0x41]) + good[place + 1 :]
        assert status(read(body, FORMATS["arrow"][0])) in {201, 413, 415, 422}, place


def test_too_many_records() -> None:
    rows = {"id": [str(n) for n in range(50_001)], "sex": ["f"] * 50_001}
    assert status(read({"columns": rows})) == 413


class TestPlainArrow:
    """What is stored without becoming a frame in between is what the careful way would have stored."""

    @staticmethod
    def both(frame: pl.DataFrame, declaration: Declaration) -> tuple[pl.DataFrame | None, pl.DataFrame | None]:
        body = as_arrow(frame)
        packed = pack_arrow(body, declaration, 1000)
        try:
            careful = read_arrow(body, declaration, 1000)
        except BatchRejected:
            careful = None
        return None if packed is None else from_bytes(packed.body), careful

    @pytest.mark.parametrize(
        "change",
        [
            pl.all(),
            pl.all().reverse(),
            pl.when(pl.lit(False)).then(pl.col("age", "income", "granted", "born", "at")),
            pl.when(pl.col("age") > 21).then(pl.all()).otherwise(pl.all()),
        ],
        ids=["plain", "reversed", "nulls", "computed"],
    )
    def test_the_same_as_with_care(self, change: pl.Expr) -> None:
        declaration = read_declaration({"columns": COLUMNS})
        types = {name: typed().schema[name] for name in typed().columns}
        frame = typed().with_columns(change).cast(types)  # type: ignore[arg-type]
        for order in (frame.columns, frame.columns[::-1]):
            packed, careful = self.both(frame.select(order), declaration)
            assert packed is not None
            assert careful is not None
            assert_frame_equal(packed, careful)

    @pytest.mark.parametrize(
        ("column", "value"),
        [
            ("id", ""), ("id", "x" * 257), ("id", "a-1"), ("id", None), ("sex", "q"), ("sex", None),
            ("income", float("nan")), ("income", float("inf")),
        ],
    )  # fmt: skip
    def test_what_is_not_good_is_left_to_care(self, column: str, value: object) -> None:
        declaration = read_declaration({"columns": COLUMNS})
        kind = typed().schema[column]
        frame = typed().with_columns(
            pl.when(pl.int_range(pl.len()) == 3).then(pl.lit(value, kind)).otherwise(pl.col(column)).alias(column)
        )
        assert self.both(frame, declaration) == (None, None)

    def test_a_long_text(self) -> None:
        declaration = read_declaration({"columns": {"note": "text"}})
        good, bad = ({"id": ["a", "b"], "note": ["x" * length, None]} for length in (4096, 4097))
        assert self.both(pl.DataFrame(good), declaration)[0] is not None
        assert self.both(pl.DataFrame(bad), declaration) == (None, None)

    def test_types_that_must_be_converted(self) -> None:
        declaration = read_declaration({"columns": {"age": "integer"}})
        frame = pl.DataFrame({"id": ["a"], "age": pl.Series([7], dtype=pl.Int8)})
        packed, careful = self.both(frame, declaration)
        assert packed is None
        assert careful is not None
