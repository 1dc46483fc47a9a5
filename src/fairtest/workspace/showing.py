"""A stored report, to be shown again as it was."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairtest.exceptions import UsageError
from fairtest.reporting.formats.registry import FORMATS
from fairtest.version import __version__
from fairtest.workspace.codec import unpack

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path

    from fairtest.model.report import Report
    from fairtest.workspace.ledger import Kept


@dataclass(frozen=True)
class AsShown:
    """The forms of a report that another version of FairTest made: its words, not ours."""

    kept: Kept
    version: str

    @property
    def kind(self) -> str:
        """The kind of the investigation."""
        return self.kept.headline.kind

    @property
    def output(self) -> str:
        """The output it was about."""
        return str(json.loads(self.kept.json)["investigations"][0]["output"])

    def render(self, form: str, **_: object) -> str:
        """Return the report in one of the forms that were stored, whatever is asked about its looks.

        Raises
        ------
        UsageError
            If it was not stored in this form.
        """
        stored = {"text": self.kept.text, "html": self.kept.html, "json": self.kept.json}
        if form in stored:
            return stored[form]
        raise self._not_kept(FORMATS[form].title)

    def to_text(self, *, width: int = 100, color: bool = False) -> str:  # noqa: ARG002 - it has the looks it had
        """Return the text."""
        return self.render("text")

    def to_html(self) -> str:
        """Return the page."""
        return self.render("html")

    def to_json(self) -> str:
        """Return the JSON."""
        return self.render("json")

    def to_csv(self) -> str:
        """Say that there is no such form of it."""
        return self.render("csv")

    def to_markdown(self) -> str:
        """Say that there is no such form of it."""
        return self.render("markdown")

    def save_figures(self, folder: str | PathLike[str]) -> list[Path]:
        """Say that its figures are on the page only."""
        raise self._not_kept(f"figures in {str(folder)!r}")

    def _not_kept(self, form: str) -> UsageError:
        return UsageError(
            f"This report was made by FairTest {self.version}, and there is no {form} of it: it was stored as text, "
            "HTML and JSON."
        )


def as_shown(kept: Kept, version: str) -> Report | AsShown:
    """Return a report that shows itself as it did; that of another version as it was stored, byte for byte."""
    if version != __version__:
        return AsShown(kept, version)
    report: Report = unpack(kept.document)
    return report
