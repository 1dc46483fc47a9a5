"""What `import fairtest` offers."""

from __future__ import annotations

import subprocess
import sys

import pytest

import fairtest


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
