"""What `import fairtest` offers."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import fairtest

if TYPE_CHECKING:
    from pathlib import Path


def test_the_public_names_are_these() -> None:
    assert sorted(fairtest.__all__) == [
        "BudgetExhausted",
        "Context",
        "DataSource",
        "Discovery",
        "ErrorProfiling",
        "FairTestError",
        "FairTestWarning",
        "Finding",
        "InputError",
        "Kind",
        "Metric",
        "Predicate",
        "Report",
        "Testing",
        "UsageError",
        "Watch",
        "Workspace",
        "__version__",
        "audit",
        "explain",
        "inspect",
        "metric",
        "report",
        "test",
        "train",
    ]


@pytest.mark.parametrize("name", fairtest.__all__)
def test_every_public_name_resolves_and_is_listed(name: str) -> None:
    assert getattr(fairtest, name) is not None
    assert name in dir(fairtest)


def test_the_functions_are_callable_whatever_was_imported_before() -> None:
    code = (
        "import fairtest.model.report, fairtest.pipeline.calls, fairtest as ft;"
        "assert all(callable(f) for f in (ft.train, ft.test, ft.report, ft.explain, ft.audit, ft.metric))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'tset'"):
        _ = fairtest.tset


def test_the_lazy_names_are_the_typed_ones() -> None:
    assert set(fairtest._WHERE) | {"__version__"} == set(fairtest.__all__)


def test_pytest_takes_nothing_public_for_a_test(tmp_path: Path) -> None:
    names = ", ".join(name for name in fairtest.__all__ if not name.startswith("__"))
    lines = [f"from fairtest import {names}", "def test_mine():", "    assert Testing and test"]
    (tmp_path / "test_users.py").write_text("\n".join(lines), "utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout
