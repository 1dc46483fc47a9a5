"""The templates of the pages, and the words they write numbers and moments with."""

from __future__ import annotations

import datetime as dt
import hashlib
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from fairtest.monitoring.words import say_signed
from fairtest.numbers import count, fixed, rate
from fairtest.reporting.figures.palette import PALETTE
from fairtest.service.pages import drawings, timelines
from fairtest.version import __version__

STATIC = {"style.css": "text/css; charset=utf-8", "script.js": "text/javascript; charset=utf-8"}


def fill_page(template: str, **values: Any) -> str:
    """Return a page with its values filled in; text among them is escaped."""
    return _templates().get_template(template).render(values)


@cache
def static_file(name: str) -> bytes:
    """Return a file that pages load; the colours of the style sheet are those of reports."""
    text = files("fairtest.service.pages").joinpath("static", name).read_text("utf-8")
    if name == "style.css":
        colours = "".join(f"  --{each}: light-dark({light}, {dark});\n" for each, (light, dark) in PALETTE.items())
        text = f":root {{\n  color-scheme: light dark;\n{colours}}}\n{text}"
    return text.encode()


def static_address(name: str) -> str:
    """Return the address of a file; it changes with the file, so that browsers may keep it for ever."""
    return f"/pages/{hashlib.sha256(static_file(name)).hexdigest()[:12]}/{name}"


def day(seconds: float | None) -> str:
    """Return a day.

    Examples
    --------
    >>> day(0.0), moment(86399.0), day(None)
    ('1 Jan 1970', '1 Jan 1970, 23:59 UTC', '–')
    """
    if seconds is None:
        return "–"
    when = dt.datetime.fromtimestamp(seconds, dt.UTC)
    return f"{when.day} {when:%b %Y}"


def moment(seconds: float | None) -> str:
    """Return a moment, to the minute."""
    if seconds is None:
        return "–"
    return f"{day(seconds)}, {dt.datetime.fromtimestamp(seconds, dt.UTC):%H:%M} UTC"


def short_moment(seconds: float) -> str:
    """Return a moment near to now, without the year.

    Examples
    --------
    >>> short_moment(0.0)
    '1 Jan, 00:00'
    """
    when = dt.datetime.fromtimestamp(seconds, dt.UTC)
    return f"{when.day} {when:%b, %H:%M}"


def iso(seconds: float) -> str:
    """Return a moment as programs read it."""
    return dt.datetime.fromtimestamp(seconds, dt.UTC).isoformat(timespec="seconds")


def date_words(date: str) -> str:
    """Return a date as people write it.

    Examples
    --------
    >>> date_words("2026-11-03")
    '3 Nov 2026'
    """
    found = dt.date.fromisoformat(date)
    return f"{found.day} {found:%b %Y}"


def effect(value: float | None) -> str:
    """Return an effect with three decimals."""
    return "–" if value is None else fixed(value, 3)


def interval(low: float | None, high: float | None) -> str:
    """Return an interval, with the digits of its effect."""
    return "–" if low is None or high is None else f"[{fixed(low, 3)}, {fixed(high, 3)}]"


def number_of(many: int, one: str, several: str = "") -> str:
    """Return a count with its noun.

    Examples
    --------
    >>> number_of(1, "finding"), number_of(0, "finding"), number_of(2, "entry", "entries")
    ('1 finding', 'no findings', '2 entries')
    """
    noun = one if many == 1 else several or f"{one}s"
    return f"{count(many) if many else 'no'} {noun}"


def size(many: int) -> str:
    """Return a number of bytes.

    Examples
    --------
    >>> size(950), size(12_500_000)
    ('950 B', '12.5 MB')
    """
    for unit, step in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if many >= step:
            return f"{many / step:,.1f} {unit}"
    return f"{many} B"


def say_setting(name: str, value: Any) -> str:
    """Return a setting of a question as people write it.

    Examples
    --------
    >>> say_setting("protected", ["sex", ["sex", "race"]]), say_setting("favourable", {"granted": True})
    ('sex, sex × race', 'granted = true')
    >>> say_setting("error_rate", {"level": 0.05, "over": "life"}), say_setting("tolerance", 0.02)
    ('5 % over its life', '0.02')
    """
    if name == "error_rate":
        over = "over its life" if value["over"] == "life" else "a year"
        return f"{100 * value['level']:g} % {over}"
    if isinstance(value, dict):
        return ", ".join(f"{key} = {say_setting('', each)}" for key, each in value.items())
    if isinstance(value, list):
        return ", ".join(" × ".join(map(str, each)) if isinstance(each, list) else str(each) for each in value)
    return str(value).lower() if isinstance(value, bool) else str(value)


@cache
def _templates() -> Environment:
    made = Environment(
        loader=PackageLoader("fairtest.service.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    moments = (day, moment, short_moment, iso, date_words)
    functions = (*moments, count, rate, effect, interval, number_of, size, say_setting, static_address)
    made.globals |= {function.__name__: function for function in functions}
    made.globals |= {
        "gap": say_signed,
        "draw_bars": drawings.draw_bars,
        "draw_trend": drawings.draw_trend,
        "draw_marks": drawings.draw_marks,
        "draw_timeline": timelines.draw_timeline,
        "draw_small_timeline": timelines.draw_small_timeline,
    }
    made.globals |= {"version": __version__, "dict_by_day": lambda rows: {row[0]: row for row in rows}}
    return made
