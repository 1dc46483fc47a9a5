"""Starting is quick because nothing heavy is loaded before it is needed."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("numpy", "polars", "scipy", "pandas", "pyarrow", "jinja2", "rich", "tomllib")
STARTS = {
    "import": "import fairtest",
    "help": "from fairtest.cli.main import cli; cli(['--help'])",
    "help of test": "from fairtest.cli.main import cli; cli(['test', '--help'])",
    "help of errors": "from fairtest.cli.main import cli; cli(['errors', '--help'])",
    "help of inspect": "from fairtest.cli.main import cli; cli(['inspect', '-h'])",
    "completion": "from fairtest.cli.main import cli; cli(['completion', 'bash'])",
    "version": "from fairtest.cli.main import cli; cli(['--version'])",
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
