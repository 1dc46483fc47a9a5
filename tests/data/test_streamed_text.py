"""A CSV file that stays on disk is the table in memory, wherever it is cut into blocks; mistakes are the same too."""

from __future__ import annotations

import gzip
import io
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from same_tables import assert_same, table_or_error

import fairtest as ft
from fairtest.data.reading.readers import read_table
from fairtest.data.source import choose_engine
from fairtest.data.streaming import streaming
from fairtest.data.streaming.streaming import stream_table
from fairtest.exceptions import InputError

PLENTY = 10**9
FIELDS = st.sampled_from(
    ["", "a", "é", "1", "2.5", " 3", "-999", "007", "NaN", "inf", "true", "False", "2020-01-31", "3,5", "1.200,5", "?",
     '"q, q"', '"two\nlines"', '"""x"""', "9300000000000000000", "9210000000000000000", "12,500"]
)  # fmt: skip


def streamed(path: Path, size: int, **how):
    """Read a file in blocks of so many bytes, and of three rows."""
    old = streaming.BLOCK
    streaming.BLOCK = size
    try:
        return stream_table(path, memory=PLENTY, block=3, **how)
    finally:
        streaming.BLOCK = old


def compare(path: Path, size: int, **how):
    expected, found = table_or_error(read_table, path, **how), table_or_error(streamed, path, size=size, **how)
    if isinstance(expected, str):
        assert isinstance(found, str), (expected, found)
        assert found.partition(" (")[0] == expected.partition(" (")[0]
    else:
        assert not isinstance(found, str), found
        assert_same(found, expected)


@settings(deadline=None, max_examples=100)
@given(
    st.lists(st.tuples(FIELDS, FIELDS, FIELDS), min_size=1, max_size=12),
    st.sampled_from([";", "|", "\t"]),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.integers(1, 60),
    st.booleans(),
)
def test_every_sort_of_field(tmp_path_factory, rows, delimiter, end, size, ends):
    text = end.join(delimiter.join(row) for row in [("a", "b", "c"), *rows]) + end * ends
    path = tmp_path_factory.mktemp("csv") / "people.csv"
    path.write_text(text, encoding="utf-8", newline="")
    compare(path, size, missing=["?", "-999"])


@settings(deadline=None, max_examples=100)
@given(st.text('ab1,"\n ', max_size=60), st.integers(1, 30), st.sampled_from(["\n", "\r\n"]))
@example('a,b\n1,"x\n2,y\n', 4, "\n")
@example('a,b\n1,5" pipe\n2,6" pipe\n3,"x"\n', 6, "\n")
@example("a,b\n1,2\n3\n4,5\n", 5, "\n")
@example("a\n\n1\n\n2\n", 2, "\r\n")
def test_text_of_any_sort(tmp_path_factory, text, size, end):
    path = tmp_path_factory.mktemp("csv") / "people.csv"
    path.write_text(text.replace("\n", end), newline="")
    compare(path, size, delimiter=",")


@pytest.mark.parametrize("name", ["people.csv", "people.csv.gz", "people.tsv", "people.csv.zst"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16"])
def test_encodings_and_compression(tmp_path, name, encoding):
    delimiter = "\t" if ".tsv" in name else ","
    text = "naïve,job\n" + "".join(f"{i / 4},é{i % 7}\n" for i in range(300))
    content = text.replace(",", delimiter).encode(encoding)
    if name.endswith("gz"):
        content = gzip.compress(content)
    path = tmp_path / name
    path.write_bytes(content)
    if name.endswith("zst"):
        if encoding != "utf-8":
            pytest.skip("polars unpacks text in UTF-8 only")
        subprocess.run(["zstd", "-q", "-f", "-o", str(path), "-"], input=content, check=True)
    compare(path, 64, encoding=None if encoding in ("utf-8", "utf-16") else encoding)


def test_places_of_mistakes_are_those_of_the_whole_file(tmp_path):
    path = tmp_path / "people.csv"
    path.write_bytes(b"a,b\n" + b"1,2\n" * 50 + b"3\n" + b"1,2\n" * 50)
    with pytest.raises(InputError, match="line 52: every row must have 2 fields"):
        streamed(path, 16)
    path.write_bytes(b"a,b\n" + b"1,2\n" * 50 + b"3,\xff\n" + b"1,2\n" * 50)
    with pytest.raises(InputError, match="byte 0xff at position 206, line 52, does not fit"):
        streamed(path, 16)
    (tmp_path / "cut.csv.gz").write_bytes(gzip.compress(os.urandom(300).hex().encode() + b"\n1\n")[:-30])
    with pytest.raises(InputError, match="is damaged: it does not decompress"):
        streamed(tmp_path / "cut.csv.gz", 16)


def test_reports_are_the_same(tmp_path):
    path = tmp_path / "people.csv"
    _people(4_000).write_csv(path)
    here, there = (ft.audit(path, "sex", "hired", engine=engine) for engine in ("memory", "disk"))
    assert here.to_json() == there.to_json()


def _people(n: int) -> pl.DataFrame:
    rows = pl.int_range(n, eager=True)
    sex = (rows % 2).replace_strict({0: "f", 1: "m"}, return_dtype=pl.String)
    town = (rows % 5).cast(pl.String)
    hired = ((rows * 7919 % 100) < pl.Series([30, 50] * (n // 2))).cast(pl.String)
    return pl.DataFrame({"sex": sex, "town": "t" + town, "age": rows % 47, "hired": hired})


def test_which_files_stay_on_disk(tmp_path, monkeypatch):
    path = tmp_path / "people.csv"
    _people(400).write_csv(path)
    assert choose_engine(path) == "memory"
    assert choose_engine(path, memory="200 MB") == "disk"
    monkeypatch.setattr(streaming, "LARGE_TEXT", 1_000)
    assert choose_engine(path) == "disk"
    assert choose_engine(path, counts="age") == "memory"
    assert choose_engine(_people(400)) == "memory"
    assert ft.DataSource(path).engine == "disk"
    assert ft.DataSource(path, engine="memory").engine == "memory"
    assert "hired" in str(ft.inspect(path))


def test_progress_is_that_of_the_file(tmp_path):
    path, said = tmp_path / "people.csv", []
    _people(3_000).write_csv(path)
    ft.DataSource(path, engine="disk", progress=lambda text, share: said.append((text, share)))
    assert {text for text, _ in said} == {f"reading {path} in blocks"}
    assert said[-1][1] == 1.0
    assert said == sorted(said)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peaks of memory are read from /proc")
def test_memory_does_not_grow_with_the_file(tmp_path):
    """A file of fifteen times the rows takes hardly more memory: blocks, and not files, are held."""
    script = textwrap.dedent(
        """
        import re, sys
        from pathlib import Path
        import fairtest as ft
        ft.DataSource(sys.argv[1], engine="disk", memory="100 MB")
        # what getrusage says would begin with the peak of the process that started this one
        print(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text()).group(1))
        """
    )
    peaks = []
    line = io.BytesIO()
    _people(50_000).with_columns(pl.lit("some text that takes room, row after row").alias("note")).write_csv(line)
    header, rows = line.getvalue().split(b"\n", 1)
    for times in (2, 30):
        path = tmp_path / f"{times}.csv"
        path.write_bytes(header + b"\n" + rows * times)
        done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True)
        peaks.append(int(done.stdout) * 1024)
    size = len(rows) * 30
    assert size > 80_000_000
    assert peaks[1] - peaks[0] < size / 2
