"""The formats of a report.

To add one, write a file in this folder with a function that takes a report and returns text, and add a line to
:data:`FORMATS`. ``report.render(name)`` and the command line's option of that name are there then.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from fairtest.exceptions import unknown_name

if TYPE_CHECKING:
    from os import PathLike

    from fairtest.model.report import Report


@dataclass(frozen=True)
class Format:
    """A format of a report.

    Attributes
    ----------
    name
        What to ask for it by.
    function
        The module of this folder that makes it, and the function there; imported when it is first needed.
    title
        What it is called in messages.
    ending
        What the name of a file ends in; empty where the format is not the text of one file.
    option
        What the command line says about writing it to a file.
    """

    name: str
    function: str
    title: str = ""
    ending: str = ""
    option: str = ""

    def render(self, report: Report, **options: Any) -> Any:
        """Return the report in this format."""
        module, function = self.function.split(".")
        return getattr(import_module(f"fairtest.reporting.formats.{module}"), function)(report, **options)


FORMATS = {
    form.name: form
    for form in (
        Format("json", "json.render_json", "JSON", "json", "Write it as JSON; '-' shows that in place of the text."),
        Format("html", "html.render_html", "HTML", "html", "Write it as one HTML page."),
        Format("text", "text.render_text", "text", "txt", "Write it as text."),
        Format("csv", "csv.render_csv", "CSV", "csv", "Write the findings as CSV, one line each."),
        Format("markdown", "markdown.render_markdown", "Markdown", "md", "Write it as Markdown, for a pull request."),
        Format("screen", "screen.render_screen"),
        Format("dict", "json.as_dict"),
        Format("frame", "frame.as_frame"),
        Format("figures", "figures.figures_of"),
        Format("figure files", "figures.save_figures"),
        Format("notebook", "html.render_notebook"),
    )
}
"""The formats by name."""
FILES = tuple(form for form in FORMATS.values() if form.ending)
"""Those that are the text of one file."""
SAVED = ("text", "html", "json")
"""Those that are saved into a folder of reports."""


def render(report: Report, form: str, path: str | PathLike[str] | None = None, **options: Any) -> Any:
    """Return a report in one of the formats, and write it to ``path`` if given."""
    if form not in FORMATS:
        raise unknown_name("report format", form, FORMATS)
    made = FORMATS[form].render(report, **options)
    if path is not None:
        from fairtest.reporting.formats.files import write_atomically

        write_atomically(path, made)
    return made
