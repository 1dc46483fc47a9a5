"""The report as one HTML page, and as a fragment for a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairtest.reporting.views import page

if TYPE_CHECKING:
    from fairtest.reporting.document import Report

__all__ = ["render_html", "render_notebook"]


def render_html(report: Report) -> str:
    """Return the report as a page that needs no script, no network and no other file."""
    return _rendered("report.html.jinja", report)


def render_notebook(report: Report) -> str:
    """Return the report as a fragment whose style touches nothing around it."""
    return _rendered("notebook.html.jinja", report)


def _rendered(template: str, report: Report) -> str:
    return str(_templates().get_template(template).render(page=page(report)))


def _templates() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("fairtest.reporting"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
