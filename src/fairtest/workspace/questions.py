"""Investigations as the arguments that make them again, in another process."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fairtest.exceptions import InputError
from fairtest.investigations.discovery import Discovery
from fairtest.investigations.error_profiling import ErrorProfiling
from fairtest.investigations.testing import Testing
from fairtest.workspace.codec import pack, unpack

if TYPE_CHECKING:
    from fairtest.data.source import DataSource
    from fairtest.investigations.base import Investigation

_KINDS: dict[str, type[Investigation]] = {kind.kind: kind for kind in (Testing, Discovery, ErrorProfiling)}


def question_of(investigation: Investigation, declared: dict[str, Any]) -> str:
    """Return the arguments of an investigation as JSON, with what was declared about the columns of its source."""
    added = {*investigation.implied, *investigation.explained_by}
    arguments: dict[str, Any] = {
        "protected": [list(group) for group in investigation.groups],
        "output": investigation.output_name,
        "contextual": investigation.contextual,
        "explanatory": [name for name in investigation.explanatory if name not in added],
        "metrics": {q.protected.name: q.metric.name for q in investigation.questions},
        "exclude": investigation.exclude,
    }
    if isinstance(investigation, Discovery):
        own = ("top_k", "separator", "min_people")
        arguments |= {"output": investigation.output.columns, **{name: getattr(investigation, name) for name in own}}
    if isinstance(investigation, ErrorProfiling):
        arguments |= {"ground_truth": investigation.ground_truth, **_errors(investigation)}
    by = list(investigation.explained_by)
    return json.dumps({"kind": investigation.kind, "arguments": arguments, "by": by, "declared": pack(declared)})


def _errors(investigation: ErrorProfiling) -> dict[str, Any]:
    error = investigation.asked_error
    if callable(error):
        return {"function": getattr(error, "__name__", "a function")}
    return {"error": error, "notion": investigation.notion}


def declared_in(question: str) -> dict[str, Any]:
    """Return what was declared about columns when a question was put."""
    declared: dict[str, Any] = unpack(json.loads(question)["declared"])
    return declared


def asked_again(source: DataSource, question: str) -> Investigation:
    """Return the investigation that a question was put by, on a source of the same people."""
    stored = json.loads(question)
    arguments = stored["arguments"]
    if function := arguments.pop("function", None):
        raise InputError(
            f"This run measured errors by a function ({function}), which a workspace cannot keep. Train and test again "
            "in Python, and call fairtest.explain on the investigation itself."
        )
    arguments["protected"] = [tuple(group) for group in arguments["protected"]]
    if stored["kind"] == Discovery.kind and len(arguments["output"]) == 1:
        arguments["output"] = arguments["output"][0]
    investigation = _KINDS[stored["kind"]](source, **arguments)
    return investigation.conditioned_on(tuple(stored["by"])) if stored["by"] else investigation
