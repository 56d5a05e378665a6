"""Formulas, typeset where the pages are made: MathML, which browsers show without any script.

The formulas of docs/guide/formulas.md, one under the name of each method, also join the page of
that method.
"""

import re
from functools import cache
from pathlib import Path

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

PAGE = Path(__file__).parents[1] / "guide" / "formulas.md"


@cache
def formulas() -> dict[str, str]:
    """TeX by the name of a method, in the order of the page."""
    found = re.findall(r"^### (\w+)\n+\$\$\n(.*?)\n\$\$$", PAGE.read_text(), re.M | re.S)
    return dict(found)


def tell_formula(app, what, name, obj, options, lines: list[str]) -> None:
    """For Sphinx, before the problem is told in words: the formula on the page of its method."""
    tex = formulas().get(name.removeprefix("likewise."))
    if tex is not None and what in ("class", "function"):
        lines += ["", ".. rubric:: Formula", "", ".. math::", ""]
        lines += [f"   {line}" for line in tex.splitlines()]


def mathml(tex: str, *, as_block: bool) -> str:
    """TeX as MathML; what cannot be typeset is a warning, and stays as it is written."""
    try:
        made = tex2mathml(tex, as_block=as_block)
        return made.replace("<mtable", '<mtable displaystyle="true"')
    except MathError as error:
        logging.getLogger(__name__).warning("%s cannot be typeset: %s", tex, error)
        return f"<code>{tex}</code>"


def visit_inline(translator, node) -> None:
    translator.body.append(mathml(node.astext(), as_block=False))
    raise nodes.SkipNode


def visit_block(translator, node) -> None:
    translator.body.append(f'<div class="formula">{mathml(node.astext(), as_block=True)}</div>\n')
    raise nodes.SkipNode


def setup(app) -> None:
    """Called by Sphinx."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    app.connect("autodoc-process-docstring", tell_formula, priority=550)
