"""The wheel: nothing but Python is needed, everything is typed, and FairTest finds it."""

from __future__ import annotations

import ast
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import fairtest_client

PACKAGE = Path(__file__).resolve().parents[2] / "packages" / "fairtest-client"
MODULES = sorted((PACKAGE / "src" / "fairtest_client").glob("*.py"))


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.name)
def test_only_the_standard_library_is_imported(module):
    found = set()
    for node in ast.walk(ast.parse(module.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add((node.module or "").partition(".")[0])
    allowed = set(sys.stdlib_module_names) | {"fairtest_client"}
    if module.name == "models.py":
        allowed.add("sklearn")  # where scikit-learn itself asks for a clone
    assert found <= allowed


def test_the_wheel_is_complete_and_works_alone(tmp_path):
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    done = subprocess.run(command, cwd=PACKAGE, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = archive.read(next(name for name in names if name.endswith("METADATA"))).decode()
    assert {f"fairtest_client/{path.name}" for path in MODULES} | {"fairtest_client/py.typed"} <= set(names)
    assert f"Version: {fairtest_client.__version__}" in metadata
    assert "Requires-Dist" not in metadata
    program = (
        f"import sys; sys.path.insert(0, {str(wheel)!r}); import fairtest_client as f; print(f.__file__, f.Client)"
    )
    alone = subprocess.run([sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=False)
    assert str(wheel) in alone.stdout, alone.stderr


def test_fairtest_has_it_too():
    import fairtest.client

    assert fairtest.client.Client is fairtest_client.Client
    assert set(fairtest_client.__all__) - {"__version__"} <= set(vars(fairtest.client))


def test_where_it_is_missing_the_error_says_how_to_get_it():
    program = "import sys; sys.modules['fairtest_client'] = None; import fairtest.client"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "fairtest.client needs the package fairtest-client. Install it: pip install fairtest-client" in done.stderr


def test_importing_it_is_light():
    program = (
        "import sys, fairtest_client; print(*{'numpy', 'sklearn', 'asyncio', 'multiprocessing'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
