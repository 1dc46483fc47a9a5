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

from fairtest.version import __version__ as __version__

if TYPE_CHECKING:  # a name that is imported as itself is one that type checkers let others import from here
    from fairtest.data.source import DataSource as DataSource
    from fairtest.exceptions import BudgetExhausted as BudgetExhausted
    from fairtest.exceptions import FairTestError as FairTestError
    from fairtest.exceptions import FairTestWarning as FairTestWarning
    from fairtest.exceptions import InputError as InputError
    from fairtest.exceptions import UsageError as UsageError
    from fairtest.investigations.discovery import Discovery as Discovery
    from fairtest.investigations.error_profiling import ErrorProfiling as ErrorProfiling
    from fairtest.investigations.testing import Testing as Testing
    from fairtest.metrics.own import metric as metric
    from fairtest.metrics.registry import Metric as Metric
    from fairtest.model.context import Context as Context
    from fairtest.model.context import Predicate as Predicate
    from fairtest.model.finding import Finding as Finding
    from fairtest.model.report import Report as Report
    from fairtest.monitoring.watch import Watch as Watch
    from fairtest.pipeline.calls import audit as audit
    from fairtest.pipeline.calls import explain as explain
    from fairtest.pipeline.calls import report as report
    from fairtest.pipeline.calls import test as test
    from fairtest.pipeline.calls import train as train
    from fairtest.pipeline.inspection import inspect as inspect
    from fairtest.types import Kind as Kind
    from fairtest.workspace.workspace import Workspace as Workspace

_NAMES = {
    "fairtest.data.source": ("DataSource",),
    "fairtest.exceptions": ("BudgetExhausted", "FairTestError", "FairTestWarning", "InputError", "UsageError"),
    "fairtest.investigations.discovery": ("Discovery",),
    "fairtest.investigations.error_profiling": ("ErrorProfiling",),
    "fairtest.investigations.testing": ("Testing",),
    "fairtest.metrics.own": ("metric",),
    "fairtest.metrics.registry": ("Metric",),
    "fairtest.model.context": ("Context", "Predicate"),
    "fairtest.model.finding": ("Finding",),
    "fairtest.model.report": ("Report",),
    "fairtest.monitoring.watch": ("Watch",),
    "fairtest.pipeline.calls": ("audit", "explain", "report", "test", "train"),
    "fairtest.pipeline.inspection": ("inspect",),
    "fairtest.types": ("Kind",),
    "fairtest.workspace.workspace": ("Workspace",),
}
_WHERE = {name: module for module, names in _NAMES.items() for name in names}
__all__ = ["__version__", *_WHERE]  # noqa: PLE0604 - keys are strings


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'fairtest' has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    return __all__
