"""``fairtest ingest``: a file is stored once, however often and however interrupted it is sent."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from running import served

from fairtest.cli.main import cli
from fairtest.exceptions import InputError
from fairtest.service.operate.sending import Ingest, check_url, split_file
from fairtest.service.store.projects import create_key
from fairtest.service.store.streams import create_stream, find_stream
from fairtest.service.store.windows import read_window

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fairtest.service.service import Service
    from fairtest.service.store.tenant import Tenant

CSV = "id,sex,note\n" + "".join(f'{n},{"fm"[n % 2]},"a, ""quoted""\ntext"\n' for n in range(7))


@pytest.fixture
def url(service: Service, tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    key, _ = create_key(service.database, "test", "acme", ["ingest"])
    monkeypatch.setenv("FAIRTEST_KEY", key.text)
    create_stream(tenant, "loans", {"columns": {"sex": {"kind": "text", "levels": ["f", "m"]}, "note": "text"}})
    with served(service) as address:
        yield address


def run(*arguments: str, given: str | None = None) -> Any:
    return CliRunner().invoke(cli, ["ingest", *arguments], input=given)


def test_a_file_and_then_the_same_file_again(url: str, service: Service, tenant: Tenant, tmp_path: Path) -> None:
    file = tmp_path / "loans.csv"
    file.write_text(CSV)
    done = run(str(file), "--stream", "loans", "--url", url, "--batch", "3")
    assert (done.exit_code, done.output) == (0, "7 records\n")
    again = run(str(file), "--stream", "loans", "--url", url, "--batch", "3")
    assert again.output == "7 records, 7 of them stored before\n"
    found = find_stream(tenant, "loans")
    assert (found.seq, found.records) == (3, 7)
    frame = read_window(service, "acme", "loans", (0, 3))
    assert frame["note"].to_list() == ['a, "quoted"\ntext'] * 7
    more = run("-", "--format", "ndjson", "--stream", "loans", "--url", url, given='{"id": "x", "sex": "f"}\n\n')
    assert more.output == "1 record\n"


def test_what_is_wrong_is_said_by_the_row_of_the_file(url: str, tenant: Tenant, tmp_path: Path) -> None:
    file = tmp_path / "loans.csv"
    file.write_text("id,sex\n1,f\n2,m\n3,f\n4,x\n")
    done = run(str(file), "--stream", "loans", "--url", url, "--batch", "2")
    assert done.exit_code == 2
    assert "Record 4, sex: " in done.output
    assert "The 2 records before were stored." in done.output
    assert find_stream(tenant, "loans").records == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["none.csv", "--stream", "loans"], "There is no file"),
        (["-", "--stream", "loans"], "Say what - is"),
        (["empty.csv", "--stream", "loans"], "It is empty"),
        (["latin.csv", "--stream", "loans"], "must be text in UTF-8"),
        (["good.csv", "--stream", "other"], "There is no stream 'other'"),
        (["good.csv", "--stream", "loans", "--url", "http://fairtest.example"], "must begin with https"),
    ],
)
def test_mistakes(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], words: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "latin.csv").write_bytes("id,sex\n1,é\n".encode("latin-1"))
    (tmp_path / "good.csv").write_text("id,sex\n1,f\n")
    done = run(*arguments, *([] if "--url" in arguments else ["--url", url]))
    assert done.exit_code == 2
    assert words in done.output
    monkeypatch.delenv("FAIRTEST_KEY")
    assert "FAIRTEST_KEY" in run("good.csv", "--stream", "loans", "--url", url).output
    monkeypatch.setenv("FAIRTEST_KEY_FILE", str(tmp_path / "nothing"))
    assert "cannot be read" in run("good.csv", "--stream", "loans", "--url", url).output


def test_a_service_that_is_away_is_waited_for(tmp_path: Path) -> None:
    rests: list[float] = []
    said: list[str] = []
    sender = Ingest("http://127.0.0.1:9", "ftk_x", "loans", "csv", patience=10, say=said.append, rest=rests.append)
    with pytest.raises(InputError, match="what was stored is not stored twice"):
        sender.send_all(split_file(io.StringIO("id\n1\n"), "csv", 10))
    assert rests == [1.0, 2.0, 5.0]
    assert len(said) == 3
    assert "ftk_x" not in "".join(said)


def test_addresses() -> None:
    assert check_url("https://fairtest.example/") == "https://fairtest.example"
    assert check_url("http://localhost:8000") == "http://localhost:8000"
    for url in ("fairtest.example", "ftp://x", "https://me:secret@x"):
        with pytest.raises(InputError, match="--url"):
            check_url(url)
