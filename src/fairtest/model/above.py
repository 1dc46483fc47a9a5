"""The one place where the model reaches up: users ask a context for its rows, and a report to show itself.

What does that work is in layers that import the model, so it is looked up by name, and only when somebody asks.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_PROVIDERS = {
    "rows of a context": ("fairtest.data.selection", "rows_in_context"),
    "forms of a report": ("fairtest.reporting.formats.registry", "render"),
}


def provider(task: str) -> Any:
    """Return the function of a higher layer that does a task for an object of the model."""
    module, function = _PROVIDERS[task]
    return getattr(import_module(module), function)
