"""The report as one HTML page, and as a fragment for a notebook."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from markupsafe import Markup

from fairtest.reporting.formats.inline_styles import move_styles
from fairtest.reporting.formats.json import as_dict
from fairtest.reporting.formats.templates import fill_template
from fairtest.reporting.views.page import page_view

if TYPE_CHECKING:
    from fairtest.model.report import Report


def render_html(report: Report) -> str:
    """Return the report as a page that needs no network and no other file; its script only filters, sorts and saves."""
    return move_styles(fill_template("report.html.jinja", **page_view(report), json=_embed_json(report)))


def render_notebook(report: Report) -> str:
    """Return the report as a fragment whose style touches nothing around it."""
    return fill_template("notebook.html.jinja", **page_view(report))


def _embed_json(report: Report) -> Markup:
    """Return the JSON report as it stands inside a page, where no character may end the script around it."""
    text = json.dumps(as_dict(report), separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return Markup(text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"))
