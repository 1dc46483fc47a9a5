"""The templates of pages and of figures, and the functions they write with."""

from __future__ import annotations

import re
from functools import cache
from html import escape
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from fairtest.model.names import clean_line
from fairtest.numbers import NARROW, UNDEFINED, count, quantity, rate, typeset, typeset_p
from fairtest.reporting.figures import icicle, marks
from fairtest.reporting.figures.palette import LIGHT, PALETTE, WHITE
from fairtest.reporting.figures.pens import PAGE, file_pen
from fairtest.reporting.figures.plots import estimate_with_interval
from fairtest.reporting.formats.tables import shorten
from fairtest.reporting.words import funnel, groups, phrases, rates, sentences, titles
from fairtest.reporting.words.simpson import split_title

_SUPERSCRIPT = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def fill_template(name: str, **values: Any) -> str:
    """Return the text of a template with its values filled in; text among them is escaped."""
    return str(_templates().get_template(name).render(values))


def p_number(p: float | None) -> str:
    """Return a p-value for a column that is headed "p"."""
    return typeset_p(p, "").strip(f"{NARROW}= ")


def typeset_answer(text: str) -> str:
    """Return a sentence of the headline for a page, with p-values as they are written there."""
    return typeset(re.sub(r"p = \d+e-\d+", lambda m: typeset_p(float(m[0][4:])), _below_floor(text)))


def _below_floor(text: str) -> str:
    """Return text with p-values that are only known to be below a power of ten as a page has them."""
    return re.sub(r"p < 1e-(\d+)", lambda m: f"p{NARROW}<{NARROW}10⁻{m[1].translate(_SUPERSCRIPT)}", text)


def xml(text: str) -> Markup:
    """Return text escaped for an XML file."""
    # Autoescape would write quotes as other entities, and files that are kept would change from version to version.
    return Markup(escape(text))


_FILTERS = (clean_line, typeset, typeset_answer, phrases.capitalise, split_title, xml)
_FUNCTIONS = (
    count, rate, quantity, typeset_p, p_number, estimate_with_interval, shorten,
    sentences.is_clear, sentences.stratum_words, titles.title, titles.reading_words,
    funnel.left_out_line, funnel.significant_word, phrases.fit_at, phrases.line_words, phrases.plural,
    marks.fit_segments, marks.mark_box, marks.mark_effect, marks.stand_boxes, file_pen,
)  # fmt: skip
_CONSTANTS = {
    "UNDEFINED": UNDEFINED,
    "tick_meaning": groups.TICK_MEANING,
    "rates_meaning": rates.RATES_MEANING,
    "PAGE": PAGE,
    "tree_level": icicle.LEVEL,
    "palette": PALETTE,
    "light": LIGHT,
    "white": WHITE,
}


@cache  # reading the templates takes longer than filling them
def _templates() -> Environment:
    made = Environment(
        loader=PackageLoader("fairtest.reporting"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= {function.__name__: function for function in _FILTERS}
    made.globals |= {function.__name__: function for function in _FUNCTIONS} | _CONSTANTS
    return made
