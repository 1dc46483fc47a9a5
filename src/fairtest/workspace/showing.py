"""A stored report, to be shown again as it was."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairtest.exceptions import UsageError
from fairtest.reporting.formats.registry import FORMATS
from fairtest.version import __version__
from fairtest.workspace.codec import unpack

if TYPE_CHECKING:
    from fairtest.model.report import Report
    from fairtest.workspace.ledger import StoredReport


@dataclass(frozen=True)
class EarlierReport:
    """A report that another version of FairTest made, in the forms that were stored: its words, not ours."""

    stored: StoredReport
    version: str

    @property
    def kind(self) -> str:
        """The kind of the investigation."""
        return self.stored.headline.kind

    @property
    def output(self) -> str:
        """The output it was about."""
        return str(json.loads(self.stored.json)["investigations"][0]["output"])

    def render(self, form: str, **_: object) -> Any:
        """Return the report in one of the forms that were stored, whatever is asked about its looks.

        Raises
        ------
        UsageError
            If it was not stored in this form.
        """
        forms = {
            "text": self.stored.text,
            "screen": self.stored.text,
            "html": self.stored.html,
            "json": self.stored.json,
        }
        if form not in forms:
            raise UsageError(
                f"This report was made by FairTest {self.version}, and there is no {FORMATS[form].title or form} of "
                "it: it was stored as text, HTML and JSON."
            )
        return forms[form]


def read_report(stored: StoredReport, version: str) -> Report | EarlierReport:
    """Return a report that shows itself as it did; one that would not, as it was stored, byte for byte.

    That is one of another version, or of an earlier state of this one that had fewer things to say.
    """
    if version != __version__:
        return EarlierReport(stored, version)
    report: Report = unpack(stored.document)
    return report if report.to_json() == stored.json else EarlierReport(stored, version)
