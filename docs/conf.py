"""How the site is built: ``make docs``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes
from docutils.utils.math import latex2mathml

import fairtest

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator

project = "FairTest"
author = "the FairTest authors"
project_copyright = "the FairTest authors; Apache-2.0"
version = release = fairtest.__version__

extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc"]
myst_enable_extensions = ["amsmath", "deflist", "dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]

autodoc_typehints = "none"  # the signature and the description of each parameter say it
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
default_role = "literal"

html_theme = "furo"
html_title = "FairTest"
html_extra_path = ["reference/report.schema.json"]
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"


def setup(app: Sphinx) -> None:
    """Write formulas as MathML, which browsers read without a script or the network."""

    def inline(writer: HTML5Translator, node: nodes.math) -> None:
        writer.body.append(latex2mathml.tex2mathml(node.astext()))
        raise nodes.SkipNode

    def block(writer: HTML5Translator, node: nodes.math_block) -> None:
        formula = latex2mathml.tex2mathml(node.astext(), as_block=True)
        writer.body.append(f'<div class="formula">{formula}</div>')
        raise nodes.SkipNode

    app.add_html_math_renderer("mathml", (inline, None), (block, None))  # type: ignore[arg-type]
