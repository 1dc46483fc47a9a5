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
    from fairtest.model.results import Answered

_KINDS: dict[str, type[Investigation]] = {kind.kind: kind for kind in (Testing, Discovery, ErrorProfiling)}


def pack_question(answered: Answered, declared: dict[str, Any]) -> str:
    """Return what makes an investigation again as JSON, with what was declared about the columns of its source."""
    question = {
        "kind": answered.report.kind,
        "arguments": answered.arguments,
        "by": answered.explained_by,
        "declared": pack(declared),
    }
    return json.dumps(question)


def unpack_declarations(question: str) -> dict[str, Any]:
    """Return what was declared about columns when a question was put."""
    declared: dict[str, Any] = unpack(json.loads(question)["declared"])
    return declared


def restore_investigation(source: DataSource, question: str) -> Investigation:
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
