"""A table that stays on disk is the table in memory: kinds, reasons, levels, codes, numbers, sets and fingerprint."""

from __future__ import annotations

import datetime as dt
import gc
import gzip
import os
import pickle
import subprocess
import sys
import tempfile
from collections import namedtuple
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from same_tables import assert_same, table_or_error

from fairtest.data.columns.distinct import Distinct
from fairtest.data.fingerprint import fingerprint
from fairtest.data.reading.readers import read_table
from fairtest.data.source import DataSource
from fairtest.data.streaming import streaming
from fairtest.data.streaming.partitions import partitions_of
from fairtest.data.streaming.scratch import Scratch
from fairtest.data.streaming.streaming import stream_table
from fairtest.data.table import HashedColumn, Table
from fairtest.exceptions import InputError

CHECKED = settings(deadline=None, max_examples=40)
BRIEF = settings(deadline=None, max_examples=10)
PLENTY = 10**9


def streamed(path: Path, **how) -> Table:
    return stream_table(path, **{"memory": PLENTY, "block": 7, **how})


def written(frame: pl.DataFrame, folder: Path, group: int = 3) -> Path:
    path = folder / "people.parquet"
    frame.write_parquet(path, row_group_size=group)
    return path


def compare(frame: pl.DataFrame, group: int = 3, **how):
    """Compare what a file gives in memory and on disk, with and without scratch files; errors too."""
    with tempfile.TemporaryDirectory() as folder:
        path = written(frame, Path(folder), group)
        expected = table_or_error(read_table, path, **how)
        for store in (True, False):
            found = table_or_error(streamed, path, store=store, **how)
            if isinstance(expected, str):
                assert found == expected
            else:
                assert_same(found, expected)


DAYS = st.sampled_from(["2020-01-31", "1999-12-01", "2021-02-03"])
STAMPS = st.sampled_from(["2020-01-31T10:00", "2020-01-31 10:00:00Z", "2021-02-03T00:00:00"])
VALUES = {
    "text": (pl.String, st.sampled_from(["", "a", "b", "é", "?", "nan", "12"])),
    "digits": (pl.String, st.sampled_from(["1", "2.5", " 3", "-999", "NaN", ""])),
    "many texts": (pl.String, st.text("abcdef0", max_size=4)),
    "days": (pl.String, DAYS),
    "days and stamps": (pl.String, DAYS | STAMPS | st.just("")),
    "days and words": (pl.String, st.sampled_from(["2020-01-31"] * 9 + ["soon", "2020-13-01", "2020-01-31T10:00"])),
    "nothing": (pl.Null, st.none()),
    "no text": (pl.String, st.none() | st.just("")),
    "booleans": (pl.Boolean, st.booleans()),
    "zeros and ones": (pl.Int8, st.sampled_from([0] * 12 + [1])),
    "few integers": (pl.Int16, st.integers(0, 4)),
    "integers": (pl.Int64, st.integers(-40, 40)),
    "large integers": (pl.UInt64, st.sampled_from([0, 1, 2**63 - 1]) | st.integers(2**63, 2**64 - 1)),
    "fairly large integers": (pl.UInt64, st.integers(0, 3) | st.just(2**62)),
    "floats": (pl.Float64, st.floats(-4, 4, width=16) | st.sampled_from([0.0, -0.0, 1.5])),
    "whole floats": (pl.Float32, st.integers(-3, 30).map(float)),
    "two floats": (pl.Float64, st.sampled_from([0.25, 0.5])),
    "floats beyond": (pl.Float64, st.sampled_from([1.0, 2.0**53, float("nan")])),
    "infinite": (pl.Float64, st.sampled_from([1.0] * 20 + [float("inf")])),
    "dates": (pl.Date, st.dates(dt.date(2020, 1, 1), dt.date(2020, 1, 20))),
    "times": (pl.Datetime("us"), st.datetimes(dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 20))),
    "midnights": (pl.Datetime("us"), st.dates(dt.date(2020, 1, 1)).map(lambda d: dt.datetime.combine(d, dt.time()))),
    "durations": (pl.Duration("us"), st.integers(0, 5).map(lambda d: dt.timedelta(hours=12 * d))),
    "clock": (pl.Time, st.times()),
    "categories": (pl.Categorical, st.sampled_from(["x", "y", "", "z"])),
    "enum": (pl.Enum(["z", "y", "x"]), st.sampled_from(["x", "y"])),
    "decimals": (pl.Decimal(10, 2), st.decimals(0, 5, places=2)),
    "sets": (pl.List(pl.String), st.lists(st.none() | st.sampled_from(["cat", "dog", "owl"]), max_size=3)),
    "number sets": (pl.List(pl.Int64), st.lists(st.integers(0, 3), max_size=3)),
    "nested": (pl.Struct({"a": pl.Int64}), st.just({"a": 1})),
    "bytes": (pl.Binary, st.binary(max_size=2)),
}
NAMES = ["a", "person_id", "age", "zip code", "count"]


@pytest.mark.parametrize("values", VALUES)
def test_every_type_of_column(values):
    dtype, each = VALUES[values]

    @BRIEF
    @given(
        st.lists(st.none() | each, min_size=1, max_size=60),
        st.lists(each, max_size=30, unique_by=repr),
        st.sampled_from(NAMES),
        st.integers(1, 9),
        st.sampled_from([(), ("?", "-999", 1)]),
    )
    def check(some, different, name, group, missing):
        for rows in (some, different or some):
            compare(pl.DataFrame({name: pl.Series(rows, dtype=dtype, strict=False)}), group, missing=missing)

    check()


@CHECKED
@given(st.data(), st.sampled_from(["categorical", "numeric", "ordered"]), st.sampled_from(list(VALUES)))
def test_declared_columns(data, kind, values):
    dtype, each = VALUES[values]
    rows = data.draw(st.lists(st.none() | each, min_size=1, max_size=40))
    declared = {"ordered": {"a": ["b", "a", "", 1, 0, 2, "12", "x", "y"]}}.get(kind, ["a"])
    compare(pl.DataFrame({"a": pl.Series(rows, dtype=dtype, strict=False)}), **{kind: declared}, missing=["?"])


@pytest.mark.parametrize(
    "rows",
    [
        [1] * 20 + [*range(9)],  # ten whole numbers, most of them at the end
        [1] * 20 + [*range(12)],
        [0, 1] * 15 + [2],
        [0.0, 1.0] * 15 + [0.5],
        [None] * 20 + [3],
        ["2020-01-31"] * 20 + ["no day"],
        [""] * 20 + ["2020-01-31"],
        [None] * 10 + ["2020-01-31"] * 10 + ["2020-01-31T11:00"],
        [f"name {i}" for i in range(40)],
        ["same"] * 4 + [f"name {i}" for i in range(40)],
        ["same"] * 5 + [f"name {i}" for i in range(40)],
        [*range(40), 39],
    ],
)
@pytest.mark.parametrize("name", ["a", "id"])
def test_what_only_the_last_rows_decide(rows, name):
    compare(pl.DataFrame({name: rows}))


def test_a_folder_of_files_of_other_types_and_sizes(tmp_path):
    first = pl.DataFrame({"n": pl.Series([1, 2, 3], dtype=pl.Int8), "t": ["a", "b", None], "c": ["x", "y", "x"]})
    second = pl.DataFrame({"c": ["z"] * 20, "t": ["2020-01-01"] * 20, "n": pl.Series([500] * 20, dtype=pl.Int32)})
    third = pl.DataFrame({"n": [0.5], "t": pl.Series([None], dtype=pl.Null), "c": ["q"]})
    folder = tmp_path / "people"
    (folder / "later").mkdir(parents=True)
    first.write_parquet(folder / "1.parquet", row_group_size=1)
    second.write_parquet(folder / "2.parquet", row_group_size=6)
    first.clear().write_parquet(folder / "3 [x].parquet")
    third.write_parquet(folder / "later" / "4.pq")
    for block in (1, 2, 7, 100):
        assert_same(streamed(folder, block=block), read_table(folder))


@pytest.mark.parametrize("other", [{"b": ["x"]}, {"a": ["x"], "b": [1]}, {"a": [[1]]}])
def test_files_that_do_not_go_together(tmp_path, other):
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "1.parquet")
    pl.DataFrame(other).write_parquet(tmp_path / "2.parquet")
    with pytest.raises(InputError) as expected:
        read_table(tmp_path)
    with pytest.raises(InputError) as found:
        streamed(tmp_path)
    assert str(found.value) == str(expected.value)


def test_columns_in_groups(tmp_path, monkeypatch):
    """Where a row is too long, only some of the columns are read at a time."""
    monkeypatch.setattr(streaming, "FEWEST_ROWS", 5)
    path = written(pl.DataFrame({f"c{i}": range(i, i + 20) for i in range(30)}), tmp_path)
    read = []
    whole = streaming.ParquetFiles.read
    monkeypatch.setattr(
        streaming.ParquetFiles,
        "read",
        lambda self, columns, *rows: read.append((len(columns), *rows)) or whole(self, columns, *rows),
    )
    table = streamed(path, memory=10 * 5 * 8 * 4, block=None)
    assert max(columns for columns, *_ in read[1:]) == 4
    assert max(stop - start for _, start, stop in read[1:]) == 5
    assert_same(table, read_table(path))


def test_more_texts_than_fit(tmp_path):
    """Identifiers beyond the memory are counted exactly; the hashes kept of them give the same fingerprint."""
    texts = [f"person {i}" for i in range(5000)] + ["7", None, "person 4", "Ж" * 20]
    frame = pl.DataFrame({"who": texts, "person_id": range(len(texts)), "x": [1, 2] * (len(texts) // 2)})
    path = written(frame, tmp_path, 999)
    expected = read_table(path)
    table = streamed(path, memory=100_000, block=500)
    for name in ("who", "person_id"):
        column = table[name]
        assert (column.kind, column.reason, column.distinct, column.missing, column.constant) == (
            expected[name].kind,
            expected[name].reason,
            expected[name].distinct,
            expected[name].missing,
            False,
        )
        assert isinstance(column.slice(0, 3), HashedColumn)
        with pytest.raises(InputError, match="more than can be kept"):
            column.codes  # noqa: B018
    assert fingerprint(table) == fingerprint(expected)
    assert fingerprint(streamed(path, memory=100_000, block=333, store=False)) == fingerprint(expected)
    with pytest.raises(InputError, match=r"'who' has 5,002 different values"):
        streamed(path, memory=100_000, categorical=["who"])


@CHECKED
@given(st.lists(st.integers(0, 60) | st.integers(10**6, 10**6 + 5), min_size=1, max_size=200), st.integers(1, 50))
@example([1, 1, 2], 1)
def test_a_tally_counts_exactly(values, block):
    found = Distinct(0, Scratch())
    for start in range(0, len(values), block):
        found.add(pl.Series([str(v) for v in values[start : start + block]]))
    assert found.values is None
    assert found.count == found.count == len(set(values))
    assert found.width == max(len(str(v)) for v in values)


FRAME = pl.DataFrame(
    {
        "sex": ["f", "m", None, "m"] * 25,
        "age": [20, 31, None, 47, 58] * 20,
        "pay": np.random.default_rng(0).normal(size=100),
        "tags": [["a", "b"], [], None, ["b"]] * 25,
        "rare": [True] + [False] * 99,
    }
)


@pytest.mark.parametrize("how", ["store", "parquet", "memory"])
def test_partitions(tmp_path, how):
    """They are small, can be sent, and together are the table."""
    path = written(FRAME, tmp_path, 9)
    whole = read_table(path)
    table = whole if how == "memory" else streamed(path, store=how == "store")
    parts = partitions_of(table, PLENTY, rows=17)
    assert [part.start for part in parts] == list(range(0, 100, 17))
    assert sum(part.n_rows for part in parts) == 100
    for part in parts:
        if how != "memory":
            assert len(pickle.dumps(part)) < 5000
            part = pickle.loads(pickle.dumps(part))  # noqa: PLW2901
        found = part.table(["age", "sex", "tags", "rare"])
        assert list(found.columns) == ["age", "sex", "tags", "rare"]
        assert found.n_rows == part.n_rows
        for name in found.columns:
            assert_same_column_rows(found[name], whole[name], slice(part.start, part.start + part.n_rows))


def assert_same_column_rows(found, whole, rows: slice):
    assert (found.levels, found.missing, found.kind) == (whole.levels, whole.missing, whole.kind)
    if whole.values is not None:
        assert np.array_equal(found.values, whole.values[rows], equal_nan=True)
    else:
        assert np.array_equal(found.codes, whole.codes[rows])
    if whole.sets is not None:
        ends = np.append(0, whole.sets.ends)
        cut = [whole.sets.codes[a:b].tolist() for a, b in pairwise(ends)][rows]
        own = np.append(0, found.sets.ends)
        assert [found.sets.codes[a:b].tolist() for a, b in pairwise(own)] == cut
        gone = [i - rows.start for i in whole.sets.missing.tolist() if rows.start <= i < rows.stop]
        assert found.sets.missing.tolist() == gone


def test_partitions_fit_the_memory():
    wide = read_table({f"c{i}": np.arange(50_000) for i in range(50)})
    assert [p.n_rows for p in partitions_of(wide, 8 * 50 * 8 * 20_000)] == [20_000, 20_000, 10_000]


def test_columns_added_to_a_streamed_table(tmp_path):
    source = DataSource(written(FRAME, tmp_path), engine="disk")
    wider = source.with_columns({"score": np.arange(100) / 7})
    part = partitions_of(wider.table, PLENTY, rows=30)[1].table(["age", "score"])
    assert part["score"].values.tolist() == (np.arange(30, 60) / 7).tolist()
    assert np.array_equal(part["age"].values, read_table(FRAME)["age"].values[30:60], equal_nan=True)


class TestScratch:
    def folders(self) -> list[Path]:
        return [p for p in Path(tempfile.gettempdir()).iterdir() if p.name.startswith("fairtest-")]

    @pytest.fixture(autouse=True)
    def _own_place(self, tmp_path, monkeypatch):
        (tmp_path / "scratch").mkdir()
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))

    def test_it_is_gone_with_the_source(self, tmp_path):
        source = DataSource(written(FRAME, tmp_path), engine="disk")
        assert len(self.folders()) == 1
        assert "fairtest-" not in repr(pickle.dumps(source.holdout))
        del source
        gc.collect()
        assert not self.folders()

    def test_it_is_gone_after_an_error(self, tmp_path):
        path = written(pl.DataFrame({"a": [1.0, float("inf")]}), tmp_path)
        with pytest.raises(InputError, match="finite"):
            streamed(path)
        gc.collect()
        assert not self.folders()

    def test_it_is_gone_with_the_interpreter_and_is_where_tmpdir_says(self, tmp_path):
        path = written(FRAME, tmp_path)
        code = (
            "import os, sys, fairtest as ft; source = ft.DataSource(sys.argv[1], engine='disk');"
            "print(*[n for n in os.listdir(os.environ['TMPDIR']) if n.startswith('fairtest-')])"
        )
        place = tmp_path / "elsewhere"
        place.mkdir()
        done = subprocess.run(
            [sys.executable, "-c", code, str(path)],
            env={**os.environ, "TMPDIR": str(place)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.startswith("fairtest-")
        assert not list(place.iterdir())

    def test_the_next_process_removes_what_a_killed_one_left(self, tmp_path):
        path, place = written(FRAME, tmp_path), tmp_path / "elsewhere"
        place.mkdir()
        killed = "import os, signal, sys, fairtest as ft; s = ft.DataSource(sys.argv[1], engine='disk');"
        killed += "os.kill(os.getpid(), signal.SIGKILL)"
        env = {**os.environ, "TMPDIR": str(place)}
        subprocess.run([sys.executable, "-c", killed, str(path)], env=env, check=False)
        (left,) = place.iterdir()
        source = DataSource(path, engine="disk")  # elsewhere: not its business
        assert left.is_dir()
        tempfile.tempdir = str(place)
        mine = DataSource(path, engine="disk")
        assert left.is_dir()  # it might be new, and about to take its lock
        os.utime(left / "lock", (0, 0))
        others = DataSource(path, engine="disk")
        assert not left.exists()
        assert len(self.folders()) == 2
        del source, mine, others

    def test_no_room(self, tmp_path, monkeypatch):
        usage = namedtuple("usage", "total used free")
        monkeypatch.setattr("shutil.disk_usage", lambda _: usage(10, 9, 1))
        with pytest.raises(InputError, match=r"scratch files, and .* has 0\.0 MB left\. Make room, or set .*TMPDIR"):
            streamed(written(FRAME, tmp_path))

    def test_a_disk_that_fills_up(self, tmp_path, monkeypatch):
        def full(*_):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("fairtest.data.streaming.store._append", full)
        with pytest.raises(InputError, match=r"could not write .*: No space left on device\. Make room"):
            streamed(written(FRAME, tmp_path))

    def test_a_place_that_is_not_there(self, tmp_path, monkeypatch):
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
        with pytest.raises(InputError, match=r"could not write its scratch files in .*nowhere: No such file"):
            streamed(written(FRAME, tmp_path))


@pytest.mark.parametrize(
    ("data", "how", "message"),
    [
        (FRAME, {}, r"engine='disk' reads a CSV or Parquet file.* A frame is in memory already: use engine='memory'"),
        ("people.parquet.gz", {}, r"a compressed Parquet file, and engine='disk' cannot .* Decompress it, or"),
        ("nowhere.parquet", {}, r"There is no file '.*nowhere\.parquet'"),
        ("broken.parquet", {}, r"cannot be read as Parquet"),
        ("empty.parquet", {}, r"empty\.parquet has column names and no rows"),
        ("empty", {}, r"has no Parquet files"),
        ("people.parquet", {"delimiter": ";"}, r"'delimiter' is that of a CSV file"),
        ("people.parquet", {"memory": "lots"}, r"'memory' of DataSource must be .* Got 'lots' instead"),
        ("people.parquet", {"memory": "10 MB"}, r"at least 100 MB\. Got '10 MB'"),
        ("people.parquet", {"memory": True}, r"Got True instead"),
        ("people.parquet", {"engine": "memory", "memory": "1 GB"}, r"goes with engine='disk'"),
        ("people.parquet", {"engine": "cloud"}, r"must be 'auto', 'memory', 'disk', a Dask client"),
        ("people.parquet", {"numeric": ["agee"]}, r"There is no column 'agee'\. Did you mean 'age'"),
    ],
)
def test_what_cannot_be_read_from_disk(tmp_path, monkeypatch, data, how, message):
    monkeypatch.chdir(tmp_path)
    written(FRAME, tmp_path)
    Path("people.parquet.gz").write_bytes(gzip.compress(Path("people.parquet").read_bytes()))
    Path("broken.parquet").write_bytes(b"PAR1 and no more")
    FRAME.clear().write_parquet("empty.parquet")
    Path("empty").mkdir()
    with pytest.raises(InputError, match=message):
        DataSource(data, **{"engine": "disk", **how})


def test_a_file_that_changes_while_it_is_read(tmp_path):
    path = written(FRAME, tmp_path)
    table = streamed(path, store=False)
    written(FRAME.head(40), tmp_path)
    with pytest.raises(InputError, match="changed while it was read"):
        table["age"].values  # noqa: B018
