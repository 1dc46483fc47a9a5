"""Progress is shown on a terminal, after a while, and leaves nothing behind."""

from __future__ import annotations

import io
import re
import time

import pytest

from fairtest.cli.progress import StatusLine, time_left


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(terminal: io.StringIO, words: str, seconds: float = 20.0) -> str:
    """Wait until the bar, which another thread draws, has said something."""
    end = time.monotonic() + seconds
    while words not in terminal.getvalue() and time.monotonic() < end:
        time.sleep(0.01)
    return terminal.getvalue()


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    return Terminal()


def test_work_that_takes_a_while_is_shown_and_wiped(terminal: Terminal) -> None:
    with StatusLine(stream=terminal, after=0.0) as status:
        status("searching [sex]", 0.25)
        assert "searching [sex]" in shown(terminal, "searching [sex]")
        status("searching [sex]", 0.5)
        assert "left" in shown(terminal, "left")
    assert re.search(r"\x1b\[\d*[AK]|\x1b\[2K", terminal.getvalue().rsplit("searching", 1)[1])


def test_quick_work_shows_nothing(terminal: Terminal) -> None:
    with StatusLine(stream=terminal, after=1000.0) as status:
        status("searching", 0.5)
    assert terminal.getvalue() == ""


@pytest.mark.parametrize("quiet", [True, False])
def test_nothing_goes_to_a_file(quiet: bool) -> None:
    file = io.StringIO()
    with StatusLine(stream=file, quiet=quiet, after=0.0) as status:
        status("searching", 0.5)
        time.sleep(0.05)
    assert file.getvalue() == ""


def test_quiet_says_nothing_on_a_terminal(terminal: Terminal) -> None:
    with StatusLine(stream=terminal, quiet=True, verbose=True, after=0.0) as status:
        status("searching")
        status.note("read 12 people")
        time.sleep(0.05)
    assert terminal.getvalue() == ""


def test_verbose_says_how_long_each_stage_took() -> None:
    file = io.StringIO()
    with StatusLine(stream=file, verbose=True) as status:
        status("reading")
        status.note("read 12 people")
        status("searching", 0.5)
        status("searching", 0.9)
    assert re.fullmatch(r"read 12 people\nreading: \d+\.\d s\nsearching: \d+\.\d s\n", file.getvalue())


def test_an_interrupt_ends_it(terminal: Terminal) -> None:
    def interrupted() -> None:
        with StatusLine(stream=terminal, after=0.0) as status:
            status("searching")
            shown(terminal, "searching")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    written = terminal.getvalue()
    time.sleep(0.6)
    assert terminal.getvalue() == written


def test_the_time_left_is_that_of_a_steady_pace() -> None:
    assert time_left(0.01, 100.0) == ""
    assert time_left(0.1, 10.0) == "about 2 min left"
    assert time_left(0.1, 3600.0) == "about 9 h left"
    assert time_left(1.0, 10.0) == "about 1 s left"
