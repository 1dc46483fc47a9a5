"""FairTest finds unwarranted associations between protected attributes and what an application does.

Give it a table of people, name the protected attributes and the output, and it searches for subpopulations in which
the two are associated, validates each on people the search has not seen, and says how sure it is::

    import fairtest as ft

    report = ft.audit(frame, protected="sex", output="income")
    print(report)

Names are imported when they are first used, so that ``import fairtest`` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fairtest.version import __version__

_WHERE = {
    "BudgetExhausted": "fairtest.exceptions",
    "Context": "fairtest.model.context",
    "DataSource": "fairtest.data.source",
    "Discovery": "fairtest.investigations.discovery",
    "ErrorProfiling": "fairtest.investigations.error_profiling",
    "FairTestError": "fairtest.exceptions",
    "FairTestWarning": "fairtest.exceptions",
    "Finding": "fairtest.model.finding",
    "InputError": "fairtest.exceptions",
    "Kind": "fairtest.types",
    "Metric": "fairtest.metrics.registry",
    "Predicate": "fairtest.model.context",
    "Report": "fairtest.model.report",
    "Testing": "fairtest.investigations.testing",
    "UsageError": "fairtest.exceptions",
    "Workspace": "fairtest.workspace.workspace",
    "audit": "fairtest.pipeline.calls",
    "explain": "fairtest.pipeline.calls",
    "inspect": "fairtest.pipeline.inspection",
    "metric": "fairtest.metrics.own",
    "report": "fairtest.pipeline.calls",
    "test": "fairtest.pipeline.calls",
    "train": "fairtest.pipeline.calls",
}

if TYPE_CHECKING:
    from fairtest.data.source import DataSource
    from fairtest.exceptions import BudgetExhausted, FairTestError, FairTestWarning, InputError, UsageError
    from fairtest.investigations.discovery import Discovery
    from fairtest.investigations.error_profiling import ErrorProfiling
    from fairtest.investigations.testing import Testing
    from fairtest.metrics.own import metric
    from fairtest.metrics.registry import Metric
    from fairtest.model.context import Context, Predicate
    from fairtest.model.finding import Finding
    from fairtest.model.report import Report
    from fairtest.pipeline.calls import audit, explain, report, test, train
    from fairtest.pipeline.inspection import inspect
    from fairtest.types import Kind
    from fairtest.workspace.workspace import Workspace

__all__ = [
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


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'fairtest' has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    return __all__
