"""Starting is quick because nothing heavy is loaded before it is needed."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import fairtest as ft

if TYPE_CHECKING:
    from pathlib import Path

HEAVY = ("numpy", "polars", "scipy", "pandas", "pyarrow", "jinja2", "rich", "tomllib")
STARTS = {
    "import": "import fairtest",
    "help": "from fairtest.cli.main import cli; cli(['--help'])",
    "help of test": "from fairtest.cli.main import cli; cli(['test', '--help'])",
    "help of errors": "from fairtest.cli.main import cli; cli(['errors', '--help'])",
    "help of inspect": "from fairtest.cli.main import cli; cli(['inspect', '-h'])",
    "completion": "from fairtest.cli.main import cli; cli(['completion', 'bash'])",
    "version": "from fairtest.cli.main import cli; cli(['--version'])",
    "status of no workspace": "from fairtest.cli.main import cli; cli(['status', 'nowhere'])",
    "a wrong option": "from fairtest.cli.main import cli; cli(['test', '--no-such-option'])",
}
PROBE = """
import sys
try:
    {start}
except SystemExit:
    pass
loaded = [name for name in {heavy} if name in sys.modules]
print("loaded:", *loaded, file=sys.stderr)
"""


@pytest.mark.parametrize("start", STARTS.values(), ids=STARTS.keys())
def test_nothing_heavy_is_loaded(start: str) -> None:
    code = PROBE.format(start=start, heavy=HEAVY)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8", check=True)
    assert done.stderr.splitlines()[-1] == "loaded:"


def test_the_status_of_a_workspace_loads_nothing_heavy(tmp_path: Path) -> None:
    ft.Workspace.create(tmp_path / "audit", {"sex": ["f", "m"] * 20, "hired": [0, 1, 1, 1] * 10})
    start = f"from fairtest.cli.main import cli; cli(['status', {str(tmp_path / 'audit')!r}])"
    code = PROBE.format(start=start, heavy=HEAVY)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8", check=True)
    assert "1 left" in done.stdout
    assert done.stderr.splitlines()[-1] == "loaded:"
