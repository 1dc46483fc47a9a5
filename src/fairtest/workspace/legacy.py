"""How version 1 named classes: by the module they were in then, whose paths are tags now."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

TAG_OF_PATH: Mapping[str, str] = {
    "fairtest.contexts.context.Context": "context",
    "fairtest.contexts.context.Op": "op",
    "fairtest.contexts.context.Predicate": "predicate",
    "fairtest.inference.finding.CountTable": "counts",
    "fairtest.inference.finding.Finding": "finding",
    "fairtest.inference.finding.Group": "group",
    "fairtest.inference.finding.GroupTable": "groups",
    "fairtest.inference.finding.Line": "line",
    "fairtest.inference.finding.Stratum": "stratum",
    "fairtest.inference.finding.Tested": "tested",
    "fairtest.inference.verdict.Outcome": "verdict-outcome",
    "fairtest.inference.verdict.Verdict": "verdict",
    "fairtest.pipeline.again.Significant": "significant",
    "fairtest.pipeline.again.Told": "told",
    "fairtest.reporting.assemble.TestChoices": "testing",
    "fairtest.reporting.assemble.TrainChoices": "training",
    "fairtest.reporting.document.AttributeReport": "attribute",
    "fairtest.reporting.document.ColumnNote": "column",
    "fairtest.reporting.document.DataInfo": "data",
    "fairtest.reporting.document.ErrorNote": "errors",
    "fairtest.reporting.document.LabelSettings": "label-settings",
    "fairtest.reporting.document.Report": "report",
    "fairtest.reporting.document.Reuse": "reuse",
    "fairtest.reporting.document.Settings": "settings",
    "fairtest.reporting.phrases.Names": "names",
    "fairtest.reporting.phrases.Outcome": "outcome-words",
}
"""The tag for each path that version 1 has written."""
