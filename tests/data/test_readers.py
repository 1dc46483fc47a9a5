"""Reading frames and files: every format gives the same table, and every mistake a sentence."""

from __future__ import annotations

import csv as python_csv
import datetime as dt
import gzip
import sys
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairtest.data.fingerprint import fingerprint
from fairtest.data.reading.readers import read_table
from fairtest.data.table import Number
from fairtest.exceptions import InputError
from fairtest.types import Kind

if TYPE_CHECKING:
    from pathlib import Path

ROWS = 60
PEOPLE = {
    "age": [20 + i % 40 for i in range(ROWS)],
    "job": [["Sales", "Tech", None, "Été, à Ünï"][i % 4] for i in range(ROWS)],
    "score": [None if i % 7 == 0 else i / 4 for i in range(ROWS)],
    "visits": [None if i % 5 == 0 else i for i in range(ROWS)],
    "hired": [i % 3 == 0 for i in range(ROWS)],
    "born": [dt.date(1960, 1, 1) + dt.timedelta(days=400 * i) for i in range(ROWS)],
    "note": [f'n{i} "x"\nend' for i in range(ROWS)],
    "group": [i % 4 for i in range(ROWS)],
}
FRAME = pl.DataFrame(PEOPLE)


def pandas_frame() -> pd.DataFrame:
    frame = pd.DataFrame(PEOPLE)
    frame["born"] = pd.to_datetime(frame["born"])
    return frame


def in_file(path, make):
    make(path)
    return path


def zstd(path):
    path.write_bytes(pa.compress(FRAME.write_csv().encode(), codec="zstd", asbytes=True))


def folder(path):
    path.mkdir()
    FRAME[:25].write_parquet(path / "part-0.parquet")
    FRAME[25:].write_parquet(path / "part-1.parquet")


FORMATS = {
    "pandas": lambda p: pandas_frame(),
    "pandas objects": lambda p: pd.DataFrame({k: pd.Series(v, dtype=object) for k, v in PEOPLE.items()}),
    "pandas nullable": lambda p: pandas_frame().convert_dtypes(),
    "pandas arrow": lambda p: pandas_frame().convert_dtypes(dtype_backend="pyarrow"),
    "pandas categories": lambda p: pandas_frame().astype({"job": "category"}),
    "polars": lambda p: FRAME,
    "polars lazy": lambda p: FRAME.lazy(),
    "polars categories": lambda p: FRAME.with_columns(pl.col("job").cast(pl.Categorical)),
    "arrow": lambda p: FRAME.to_arrow(),
    "arrow batch": lambda p: FRAME.to_arrow().combine_chunks().to_batches()[0],
    "dict": lambda p: PEOPLE,
    "dict of arrays": lambda p: {k: np.array(v) if None not in v else v for k, v in PEOPLE.items()},
    "csv": lambda p: in_file(p / "people.csv", FRAME.write_csv),
    "csv by name": lambda p: str(in_file(p / "people.csv", FRAME.write_csv)),
    "csv by pandas": lambda p: in_file(p / "people.csv", lambda f: pandas_frame().to_csv(f, index=False)),
    "csv crlf": lambda p: in_file(p / "c.csv", lambda f: FRAME.write_csv(f, line_terminator="\r\n")),
    "semicolons": lambda p: in_file(p / "people.txt", lambda f: FRAME.write_csv(f, separator=";")),
    "tabs": lambda p: in_file(p / "people.tsv", lambda f: FRAME.write_csv(f, separator="\t")),
    "bars": lambda p: in_file(p / "people.csv", lambda f: FRAME.write_csv(f, separator="|")),
    "bom": lambda p: in_file(p / "people.csv", lambda f: FRAME.write_csv(f, include_bom=True)),
    "utf-16": lambda p: in_file(p / "p.csv", lambda f: f.write_bytes(FRAME.write_csv().encode("utf-16"))),
    "gz": lambda p: in_file(p / "p.csv.gz", lambda f: f.write_bytes(gzip.compress(FRAME.write_csv().encode()))),
    "zst": lambda p: in_file(p / "people.csv.zst", zstd),
    "parquet": lambda p: in_file(p / "people.parquet", FRAME.write_parquet),
    "folder": lambda p: in_file(p / "people", folder),
}


def same(one, two):
    assert one.n_rows == two.n_rows
    assert list(one.columns) == list(two.columns)
    for name, left in one.columns.items():
        right = two[name]
        assert (left.kind, left.levels, left.missing, left.number) == (
            right.kind, right.levels, right.missing, right.number,
        ), name  # fmt: skip
        assert [type(v) for v in left.levels] == [type(v) for v in right.levels]
        if left.codes is None:
            assert left.values.dtype == np.float64
            np.testing.assert_array_equal(left.values, right.values)
        else:
            assert left.codes.dtype == right.codes.dtype == np.int32
            np.testing.assert_array_equal(left.codes, right.codes)


@pytest.fixture(params=FORMATS, name="data")
def each_format(request, tmp_path):
    return FORMATS[request.param](tmp_path)


def test_every_format_gives_the_same_table(data):
    table, expected = read_table(data), read_table(FRAME)
    same(table, expected)
    assert fingerprint(table) == fingerprint(expected)


def test_the_expected_table():
    table = read_table(FRAME)
    assert {name: column.kind for name, column in table.columns.items()} == {
        "age": Kind.NUMERIC, "job": Kind.CATEGORICAL, "score": Kind.NUMERIC, "visits": Kind.NUMERIC,
        "hired": Kind.BINARY, "born": Kind.NUMERIC, "note": Kind.IDENTIFIER, "group": Kind.CATEGORICAL,
    }  # fmt: skip
    assert table["visits"].number is Number.INTEGER
    assert table["born"].number is Number.DATE
    assert table["job"].levels == ("Sales", "Tech", "Été, à Ünï")
    assert table["note"].levels[0] == 'n0 "x"\nend'
    assert table["job"].missing == 15


@pytest.mark.parametrize("name", ["pandas", "pandas objects", "pandas nullable", "pandas categories"])
def test_pandas_without_pyarrow(name, tmp_path, monkeypatch):
    expected = read_table(FRAME)
    data = FORMATS[name](tmp_path)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    same(read_table(data), expected)


def test_python_strings_of_pandas_without_pyarrow(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    frame = pd.DataFrame({"a": pd.Series(["x", None, "y"], dtype=pd.StringDtype("python"))})
    assert read_table(frame)["a"].codes.tolist() == [0, -1, 1]


def test_names_and_libraries(tmp_path):
    path = in_file(tmp_path / "people.csv", FRAME.write_csv)
    assert (read_table(path).name, read_table(path).library) == ("people.csv", "csv")
    assert (read_table(FRAME).name, read_table(FRAME).library) == ("data", "polars")
    assert read_table(FRAME, name="staff").name == "staff"
    assert read_table(pandas_frame()).library == "pandas"
    assert read_table(FRAME.to_arrow()).library == "arrow"
    assert read_table(in_file(tmp_path / "p.parquet", FRAME.write_parquet)).library == "parquet"


def test_more_types_of_pandas():
    frame = pd.DataFrame({
        "zone": pd.date_range("2020-01-01 23:30", periods=12, tz="Europe/Paris"),
        "lasting": pd.to_timedelta(np.arange(12) * 36, unit="h"),
        "sparse": pd.arrays.SparseArray([0.5 + i for i in range(12)]),
        "period": pd.period_range("2020-01", periods=12, freq="M"),
        "small": np.arange(12, dtype=np.float16) / 2,
        "big": np.arange(12, dtype=">i4"),
        7: np.arange(12, dtype=np.uint8),
    })  # fmt: skip
    table = read_table(frame)
    assert table["zone"].number.to_level(table["zone"].values[0]) == dt.date(2020, 1, 1)
    assert table["lasting"].values[1] == 1.5
    assert table["sparse"].kind is Kind.NUMERIC
    assert table["period"].levels[0] == "2020-01"
    assert table["small"].values[1] == 0.5
    assert table["big"].values.tolist() == table["7"].values.tolist()


def csv(tmp_path, text, **settings):
    path = tmp_path / "people.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_table(path, **settings)


def test_only_empty_fields_and_named_values_are_missing(tmp_path):
    text = 'a,b\nNA,?\nNone,\n,""\nx,y\n'
    assert csv(tmp_path, text)["a"].levels == ("NA", "None", "x")
    assert csv(tmp_path, text)["b"].missing == 2
    table = csv(tmp_path, text, missing=("?", "NA"))
    assert table["a"].levels == ("None", "x")
    assert table["b"].levels == ("y",)
    same(read_table({"a": ["NA", "None", None, "x"], "b": ["?", None, None, "y"]}, missing=["?", "NA"]), table)


def test_a_named_value_can_be_a_number(tmp_path):
    text = "a\n" + "\n".join(str(i) for i in range(20)) + "\n-999\n"
    assert csv(tmp_path, text, missing=["-999"])["a"].missing == 1
    assert read_table({"a": [*range(20), -999]}, missing=[-999])["a"].missing == 1


def test_a_type_discovered_late(tmp_path):
    many = "".join(f"{i},{i}\n" for i in range(5000))
    table = csv(tmp_path, "a,b\n" + many + "0.5,x\n")
    assert table["a"].number is Number.REAL
    assert table["b"].kind is Kind.IDENTIFIER


@pytest.mark.parametrize(
    ("values", "levels"),
    [
        (["1", "2", "x"], ("1", "2", "x")),
        (["01", "02", "3"], ("01", "02", "3")),
        (["True", "false", "TRUE"], (False, True)),
        (["true", "yes"], ("true", "yes")),
        ([" 1", "2 ", " 3"], (1, 2, 3)),
        ([" x", "x", "x "], (" x", "x", "x ")),
        (["1", "2.0"], (1, 2)),
        (["0.5", "NaN", "1.5"], (0.5, 1.5)),
        (["nan", "nan"], ("nan",)),
        (["2020-01-01", "2021-02-03"], (dt.date(2020, 1, 1), dt.date(2021, 2, 3))),
        (["2020-01-01T10:00", "2021-02-03"], (dt.date(2020, 1, 1), dt.date(2021, 2, 3))),
        (["2020-01-01", "2020-13-01"], ("2020-01-01", "2020-13-01")),
        (["99999999999999999998", "99999999999999999999"], ("99999999999999999998", "99999999999999999999")),
        (["1_000", "0x10"], ("0x10", "1_000")),
    ],
)
def test_what_text_spells(tmp_path, values, levels):
    assert csv(tmp_path, "a,b\n" + "".join(f"{v},1\n" for v in values))["a"].levels == levels


def test_quotes_inside_a_field(tmp_path):
    table = csv(tmp_path, "a,b\n5'10\",x\n6'1\",y\n5'2\",y\n")
    assert table["a"].levels == ("5'10\"", "5'2\"", "6'1\"")


def test_blank_lines_and_line_ends(tmp_path):
    expected = csv(tmp_path, "a,b\n1,x\n2,\n3,y\n")
    for text in ("a,b\n1,x\n\n2,\n3,y\n\n\n", "\n\na,b\n1,x\n2,\n3,y", "a,b\r1,x\r2,\r3,y\r"):
        same(csv(tmp_path, text), expected)
    assert csv(tmp_path, 'a\n1\n""\n\n2\n')["a"].missing == 1


def test_quoted_header_and_delimiters_with_empty_ends(tmp_path):
    table = csv(tmp_path, '"a, ""1""","b\nc"\n"x,y",\n"z\n\nw",1\n')
    assert list(table.columns) == ['a, "1"', "b\nc"]
    assert table['a, "1"'].levels == ("x,y", "z\n\nw")
    assert table["b\nc"].missing == 1


def test_columns_of_one_name_are_numbered(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("a,b,a,a.1,a\n1,2,3,4,5\n")
    assert list(read_table(path).columns) == ["a", "b", "a.1", "a.1.1", "a.2"]


def test_given_delimiter_and_encoding(tmp_path):
    assert csv(tmp_path, "a^b\n1^2\n", delimiter="^")["b"].levels == (2,)
    assert csv(tmp_path, "a,b\né,2\n".encode("latin-1"), encoding="latin-1")["a"].levels == ("é",)


def test_a_parquet_file_of_any_name(tmp_path):
    FRAME.write_parquet(tmp_path / "people.data")
    same(read_table(tmp_path / "people.data"), read_table(FRAME))


RAGGED = "every row must have 3 fields"
FILES = {
    "empty": (b"", "is empty"),
    "blank": (b" \n\n", "is empty"),
    "header only": (b"a,b\n", "no rows"),
    "pdf": (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "PDF"),
    "png": (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "PNG"),
    "excel": (b"PK\x03\x04\x14\x00", "Excel"),
    "json": (b'[{"a": 1}]', "JSON"),
    "json object": (b'{"a": [1, 2]}', "JSON"),
    "html": (b"<!DOCTYPE html>\n<html><body>", "HTML"),
    "garbage": (bytes(range(256)) * 4, "not text"),
    "control characters": (b"\x01\x02,\x03\n1,2\n", "not a table"),
    "short row": (b"a,b,c\n1,2,3\n1,2\n", f"line 3: {RAGGED}.*Got 2"),
    "short row first": (b"a,b,c\n1,2\n1,2,3\n", f"line 2: {RAGGED}"),
    "short row after quotes": (b'a,b,c\n"x\n,y",2,\n\n1,2\n', f"line 5: {RAGGED}"),
    "long row": (b"a,b,c\n1,2,3\n1,2,3,4\n", f"line 3: {RAGGED}.*Got 4"),
    "short row of many": (b"a,b,c\n" + b"1,2,3\n" * 5000 + b"1\n1,2,\n", f"line 5002: {RAGGED}"),
    "open quote": (b'a,b,c\n1,2,3\n1,"2,3\n1,2,3\n', f"line 3: {RAGGED}"),
    "latin-1": (b"a,b\n1,caf\xe9\n", "byte 0xe9 at position 9, line 2.*encoding='cp1252'"),
    "latin-1 header": (b"caf\xe9,b\n1,2\n", "byte 0xe9 at position 3"),
    "nameless": (b",b\n0,2\n", "column 1 of 2 has no name.*index=False"),
    "infinite": (b"a\n0.5\ninf\n", "'a' must hold finite numbers. Got inf in row 2"),
    "damaged gzip": (gzip.compress(b"a,b\n1,2\n")[:-6], "damaged"),
    "empty gzip": (gzip.compress(b""), "is empty"),
    "damaged zstd": (b"\x28\xb5\x2f\xfd\x00\x01\x02", "zstd"),
    "damaged parquet": (b"PAR1 and so on", "Parquet"),
}


@pytest.mark.parametrize("case", FILES)
def test_a_file_that_cannot_be_read(tmp_path, case):
    content, message = FILES[case]
    with pytest.raises(InputError, match=message):
        csv(tmp_path, content)


def test_paths_that_lead_nowhere(tmp_path):
    with pytest.raises(InputError, match="There is no file"):
        read_table(tmp_path / "nowhere.csv")
    with pytest.raises(InputError, match="There is no file"):
        read_table(str(tmp_path / "nowhere.parquet"))
    with pytest.raises(InputError, match="has no Parquet files"):
        read_table(tmp_path)
    with pytest.raises(InputError, match="cannot be read"):
        read_table("x" * 5000)
    (tmp_path / "bad.parquet").write_bytes(b"not parquet at all")
    with pytest.raises(InputError, match="cannot be read as Parquet"):
        read_table(tmp_path / "bad.parquet")


def test_folders_of_files_that_do_not_fit(tmp_path):
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "0.parquet")
    pl.DataFrame({"b": [1]}).write_parquet(tmp_path / "1.parquet")
    with pytest.raises(InputError, match=r"must have the same columns; 1\.parquet and 0\.parquet differ in 'a', 'b'"):
        read_table(tmp_path)
    pl.DataFrame({"a": [[1]]}).write_parquet(tmp_path / "1.parquet")
    with pytest.raises(InputError, match="agree on the types"):
        read_table(tmp_path)


@pytest.mark.parametrize("data", [None, 42, [1, 2], np.zeros((2, 2)), pl.Series([1]), pd.Series([1]), b"a,b"])
def test_what_is_no_table(data):
    with pytest.raises(InputError, match=r"The data must be a pandas or polars frame.* instead"):
        read_table(data)


@pytest.mark.parametrize(
    ("data", "settings", "message"),
    [
        ({"a": [1, 2], "b": [1]}, {}, "same number of rows; 'a' has 2, 'b' has 1"),
        ({"a": 1}, {}, "Column 'a' of the dictionary must be a list"),
        ({"a": "text"}, {}, "must be a list"),
        ({}, {}, "at least one column"),
        ({"a": []}, {}, "no rows"),
        (pd.DataFrame({"a": [1.0, np.inf]}), {}, "finite numbers. Got inf in row 2"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), {}, "'a' occurs more than once"),
        (pd.DataFrame([[1, 2]], columns=[1, "1"]), {}, "'1' occurs more than once"),
        (pd.DataFrame([[1, 2]], columns=["a", " "]), {}, "has no name"),
        (pa.table([[1], [2]], names=["a", "a"]), {}, "'a' occurs more than once"),
        (pl.LazyFrame({"a": [1]}).select(pl.col("a").cast(pl.Date).dt.year() // 0 + pl.lit("x")), {}, "LazyFrame"),
        ({"a": [1]}, {"delimiter": "||"}, "'delimiter' parameter must be one character.*Got '||' instead"),
        ({"a": [1]}, {"missing": 5}, "'missing' parameter must be a list"),
    ],
)
def test_frames_and_settings_that_cannot_be_read(data, settings, message):
    with pytest.raises(InputError, match=message.replace("|", r"\|")):
        read_table(data, **settings)


def test_an_encoding_nobody_knows(tmp_path):
    with pytest.raises(InputError, match=r"'encoding' parameter.*Got 'klingon' instead"):
        csv(tmp_path, "a\n1\n", encoding="klingon")
    with pytest.raises(InputError, match="not text in the encoding 'ascii'"):
        csv(tmp_path, "a\né\n", encoding="ascii")


def test_one_missing_value_given_as_text():
    assert read_table({"a": ["?", "x"]}, missing="?")["a"].missing == 1


words = st.text("abcXYZ ,;\"'\n|é", min_size=1, max_size=6).map(lambda t: "w" + t)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(words | st.none(), st.none() | st.integers(-(2**40), 2**40), words), min_size=1, max_size=12))
def test_round_trip_through_csv(tmp_path_factory, rows):
    frame = pl.DataFrame(rows, schema={"a": pl.String, "b": pl.Int64, "c": pl.String}, orient="row")
    path = tmp_path_factory.mktemp("csv") / "people.csv"
    frame.write_csv(path)
    same(read_table(path), read_table(frame))
    same(read_table(frame.to_pandas()), read_table(frame))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(allow_infinity=False) | st.none(), min_size=1, max_size=30))
def test_round_trip_of_numbers(tmp_path_factory, values):
    frame = pl.DataFrame({"a": pl.Series(values, dtype=pl.Float64), "b": pl.Series([1] * len(values))})
    path = tmp_path_factory.mktemp("csv") / "people.csv"
    frame.write_csv(path)
    table = read_table(frame, numeric=["a"])
    same(read_table(frame.to_pandas(), numeric=["a"]), table)
    if table["a"].missing < len(values):
        same(read_table(path, numeric=["a"]), table)


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=80))
def test_no_file_makes_polars_speak(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("csv") / "people.csv"
    path.write_bytes(content)
    try:
        table = read_table(path)
    except InputError:
        return
    assert table.n_rows > 0


@settings(max_examples=100, deadline=None)
@given(st.text('ab1,"\n\r ', max_size=40))
def test_delimited_text_is_read_as_python_reads_it_or_refused(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("csv") / "people.csv"
    path.write_text(text, newline="")
    try:
        table = read_table(path, delimiter=",")
    except InputError:
        return
    if "\r" in text:
        return
    rows = [row for row in python_csv.reader(text.lstrip("\n").splitlines(keepends=True)) if row]
    assert list(table.columns) == rows[0]
    assert table.n_rows == len(rows) - 1
    for place, column in enumerate(table.columns.values()):
        assert column.missing == sum(row[place] == "" for row in rows[1:])


class TestDecimalCommas:
    def read(self, tmp_path: Path, text: str, **how: object):
        path = tmp_path / "people.csv"
        path.write_text(text, encoding="utf-8")
        return read_table(path, **how)

    def test_are_read_where_semicolons_part_the_fields(self, tmp_path: Path) -> None:
        table = self.read(tmp_path, "score;job\n3,5;a\n-1,25;b\n;a\n7;b\n")
        assert table["score"].kind is Kind.NUMERIC
        assert table["score"].values[[0, 1, 3]].tolist() == [3.5, -1.25, 7.0]
        assert table["score"].missing == 1

    def test_points_are_between_thousands_then(self, tmp_path: Path) -> None:
        table = self.read(tmp_path, "wage;job\n1.200,50;a\n12.000;b\n1.000.000,1;b\n")
        assert table["wage"].values.tolist() == [1200.5, 12000.0, 1000000.1]

    @pytest.mark.parametrize(
        "values",
        [
            ["3,5", "x"],  # not a number
            ["3,5", "3.5"],  # two ways of writing
            ["12,500", "1,250"],  # may be thousands
            ["01,5", "02,5"],  # codes
            ["1,2,3", "4,5,6"],  # lists
            ["1.20,5", "2,5"],  # a point where none can be
        ],
    )
    def test_anything_else_stays_text(self, tmp_path: Path, values: list[str]) -> None:
        rows = "".join(f"{value};{job}\n" for value in values for job in "ab")
        assert self.read(tmp_path, f"score;job\n{rows}")["score"].kind is not Kind.NUMERIC

    def test_are_not_looked_for_where_commas_part_the_fields(self, tmp_path: Path) -> None:
        table = self.read(tmp_path, 'score,job\n"3,5",a\n"1,5",b\n"2,5",b\n')
        assert table["score"].kind is Kind.CATEGORICAL

    def test_can_be_declared(self, tmp_path: Path) -> None:
        table = self.read(tmp_path, 'score,wage,share\n"12,500","1.200",0.5\n"1,250","2.500",0.7\n', decimal=",")
        assert table["score"].levels == (1.25, 12.5)
        assert table["wage"].levels == (1200, 2500)
        assert table["share"].levels == (0.5, 0.7)

    def test_can_be_declined(self, tmp_path: Path) -> None:
        assert self.read(tmp_path, "score;job\n3,5;a\n1,5;b\n2,5;c\n", decimal=".")["score"].kind is Kind.CATEGORICAL

    def test_values_that_mean_missing(self, tmp_path: Path) -> None:
        table = self.read(tmp_path, "score;job\n3,5;a\n?;b\n2,25;c\n4;d\n", missing=["?"])
        assert (table["score"].kind, table["score"].missing) == (Kind.NUMERIC, 1)

    @pytest.mark.parametrize("how", [{"decimal": "x"}, {"decimal": ",", "delimiter": ","}])
    def test_mistakes(self, tmp_path: Path, how: dict[str, str]) -> None:
        with pytest.raises(InputError, match="decimal"):
            self.read(tmp_path, "a;b\n1;2\n", **how)
