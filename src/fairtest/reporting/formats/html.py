"""The report as one HTML page, and as a fragment for a notebook."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from fairtest.reporting.figures.palette import PALETTE
from fairtest.reporting.formats.json import as_dict
from fairtest.reporting.views.page import page

if TYPE_CHECKING:
    from fairtest.model.report import Report


def render_html(report: Report) -> str:
    """Return the report as a page that needs no network and no other file; its script only filters, sorts and saves."""
    return _rendered("report.html.jinja", report, json=_inside(report))


def render_notebook(report: Report) -> str:
    """Return the report as a fragment whose style touches nothing around it."""
    return _rendered("notebook.html.jinja", report)


def _inside(report: Report) -> Markup:
    """Return the JSON report as it stands inside a page, where no character may end the script around it."""
    text = json.dumps(as_dict(report), separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return Markup(text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"))


def _rendered(template: str, report: Report, **more: Any) -> str:
    return str(_templates().get_template(template).render(page=page(report), palette=PALETTE, **more))


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
