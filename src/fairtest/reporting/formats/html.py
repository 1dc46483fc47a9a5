"""The report as one HTML page, and as a fragment for a notebook."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from fairtest.model.names import clean_line
from fairtest.numbers import NARROW, UNDEFINED, count, quantity, rate, typeset, typeset_p
from fairtest.reporting.figures import marks, svg
from fairtest.reporting.figures.palette import PALETTE
from fairtest.reporting.figures.plots import estimate_with_interval
from fairtest.reporting.formats.json import as_dict
from fairtest.reporting.views.page import page_view
from fairtest.reporting.words import funnel, phrases
from fairtest.reporting.words.sentences import is_clear, stratum_words
from fairtest.reporting.words.simpson import split_title
from fairtest.reporting.words.titles import reading_words, title

if TYPE_CHECKING:
    from fairtest.model.report import Report


def render_html(report: Report) -> str:
    """Return the report as a page that needs no network and no other file; its script only filters, sorts and saves."""
    return _fill("report.html.jinja", report, json=_embed_json(report))


def render_notebook(report: Report) -> str:
    """Return the report as a fragment whose style touches nothing around it."""
    return _fill("notebook.html.jinja", report)


def p_number(p: float | None) -> str:
    """Return a p-value for a column that is headed "p"."""
    return typeset_p(p, "").strip(f"{NARROW}= ")


_FILTERS = (clean_line, typeset, phrases.capitalise, split_title)
_FUNCTIONS = (
    count, rate, quantity, typeset_p, p_number, estimate_with_interval, is_clear, stratum_words, title, reading_words,
    funnel.left_out_line, funnel.significant_word, phrases.fit_at, phrases.line_words, phrases.plural,
    marks.fit_segments, marks.mark_effect, marks.stand_boxes,
    svg.axis_marks, svg.axis_style, svg.box_on_page, svg.draw_label, svg.draw_standing, svg.interval_on_page,
)  # fmt: skip
"""What templates write with."""


def _embed_json(report: Report) -> Markup:
    """Return the JSON report as it stands inside a page, where no character may end the script around it."""
    text = json.dumps(as_dict(report), separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return Markup(text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"))


def _fill(template: str, report: Report, **more: Any) -> str:
    return str(_templates().get_template(template).render(page_view(report), palette=PALETTE, **more))


@cache
def _templates() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    templates = Environment(
        loader=PackageLoader("fairtest.reporting"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    templates.filters |= {function.__name__: function for function in _FILTERS}
    templates.globals |= {function.__name__: function for function in _FUNCTIONS} | {
        "UNDEFINED": UNDEFINED,
        "FOREST": svg.FOREST,
    }
    return templates
