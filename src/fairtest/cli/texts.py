"""Texts of commands that are longer than a few lines: the words are in ``templates/``."""

from __future__ import annotations

from typing import Any

from fairtest.numbers import count


def render_text(name: str, **values: Any) -> str:
    """Return the text of a template, with these values; ``count`` is known to all of them."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # slow to load

    loader = PackageLoader("fairtest.cli")
    templates = Environment(loader=loader, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return templates.get_template(f"{name}.txt.jinja").render(values, count=count)
