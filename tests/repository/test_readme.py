"""The README shows what the code really prints."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"


def test_the_example_prints_what_the_readme_shows() -> None:
    text = README.read_text(encoding="utf-8")
    code = re.search(r"## An example\n.*?```python\n(.*?)```", text, re.DOTALL)
    shown = re.search(r"<!-- example-output -->\n```text\n(.*?)```", text, re.DOTALL)
    assert code is not None
    assert shown is not None
    done = subprocess.run([sys.executable, "-c", code[1]], capture_output=True, text=True, check=True, encoding="utf-8")
    assert done.stdout == shown[1]
