"""The page from installation to the first alert, done as a newcomer would: commands, scripts, a server, a listener."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "repository"))

from pages import ROOT, blocks_of, differs

if TYPE_CHECKING:
    from subprocess import Popen

PAGE = ROOT / "docs" / "how-to" / "first-alert.md"
PATIENCE = 240.0
"""Seconds that the alert may take on a busy machine."""


@pytest.fixture
def database_url() -> str:
    """The page speaks of SQLite alone, where nothing has to be set up."""
    return ""


def test_the_page_from_installation_to_the_first_alert(tmp_path: Path) -> None:
    blocks = blocks_of(PAGE.read_text("utf-8"))
    scripts = [block for block in blocks if block.mark is not None and block.mark[0] == "file"]
    assert [block.mark[1] for block in scripts if block.mark] == ["declare.py", "listen.py", "decide.py"]
    for block in scripts:
        assert block.mark is not None
        text = block.body.replace("9000", "0") if block.mark[1] == "listen.py" else block.body
        (tmp_path / block.mark[1]).write_text(text, "utf-8")
    commands = {line[2:]: block for block in blocks if block.kind == "console" for line in block.body.splitlines()}
    serving = next(line for line in commands if line.startswith("fairtest serve"))
    making = next(line for line in commands if line.startswith("fairtest key new"))
    with ExitStack() as stack:
        house = House(tmp_path, stack)
        key = re.search(r"ftk_\S+", house.run(*_command(making)))
        assert key is not None
        server = house.start(*_command(serving), "--port", "0")
        address = house.wait_for(server, r"listens on (http://\S+)")
        house.environment |= {"FAIRTEST_KEY": key[0], "FAIRTEST_URL": address}
        port = house.start_listener()
        declaring = (tmp_path / "declare.py").read_text("utf-8").replace("9000", port)
        (tmp_path / "declare.py").write_text(declaring, "utf-8")
        shown = next(block for block in blocks if block.body.startswith("$ python declare.py"))
        printed = house.run(sys.executable, "declare.py")
        assert differs(shown.body.partition("\n")[2], printed) == ""
        house.run(sys.executable, "decide.py")
        promised = next(block for block in blocks if block.kind == "text")
        house.wait_for_line(promised.body.partition(" (the stake")[0])
        link = house.run(*_command(next(line for line in commands if line.startswith("fairtest signin"))))
        assert "/signin?token=" in link


def _command(line: str) -> list[str]:
    """Return a command of the page; ``fairtest`` is the one that is tested."""
    name, *rest = line.split()
    assert name == "fairtest", line
    return [str(Path(sys.executable).with_name("fairtest")), *rest]


class House:
    """A folder in which a newcomer works, and the processes that go on meanwhile."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder, self.stack = folder, stack
        self.environment = dict(os.environ)

    def run(self, *command: str) -> str:
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode == 0, (command, done.stderr)
        return done.stdout

    def start(self, *command: str) -> Popen[str]:
        out = self.stack.enter_context((self.folder / f"{len(list(self.folder.glob('*.out')))}.out").open("w+"))
        process = subprocess.Popen(command, cwd=self.folder, env=self.environment, stdout=out, stderr=out, text=True)
        process.output = Path(out.name)  # type: ignore[attr-defined]

        def stop() -> None:
            process.terminate()
            process.wait(30)

        self.stack.callback(stop)
        return process

    def start_listener(self) -> str:
        """Start the page's listener on a free port, which it would print itself if it were the page's."""
        text = (self.folder / "listen.py").read_text("utf-8")
        serve = 'HTTPServer(("127.0.0.1", 0), Printer).serve_forever()'
        assert serve in text
        told = "server = HTTPServer(('127.0.0.1', 0), Printer)\n    print('port', server.server_port, flush=True)"
        told += "\n    server.serve_forever()"
        (self.folder / "listen.py").write_text(text.replace(serve, told), "utf-8")
        self.listener = self.start(sys.executable, "listen.py")
        return self.wait_for(self.listener, r"port (\d+)")

    def wait_for(self, process: Popen[str], pattern: str) -> str:
        path, end = process.output, time.monotonic() + PATIENCE  # type: ignore[attr-defined]
        while time.monotonic() < end:
            if (found := re.search(pattern, path.read_text())) is not None:
                return found[1]
            assert process.poll() is None, path.read_text()
            time.sleep(0.2)
        raise AssertionError(f"{pattern} did not come: {path.read_text()[-2000:]}")

    def wait_for_line(self, start: str) -> str:
        return self.wait_for(self.listener, rf"(?m)^({re.escape(start)}.*)$")
