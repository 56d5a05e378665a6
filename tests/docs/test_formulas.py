"""Formulas stand once, and can be typeset."""

import re

import pytest
from docutils.utils.math.latex2mathml import tex2mathml

from docs.tools.api import names_with_a_page
from docs.tools.formulas import formulas, mathml
from docs.tools.tables import ROOT
from likewise import PUBLIC_NAMES

PAGES = [path for path in sorted((ROOT / "docs").rglob("*.md")) if "\\" in path.read_text()]
WITHOUT = {"GuidedClustering"}  # chooses among the others


def test_every_learner_and_clusterer_has_its_formula():
    rooms = ("cluster", "guided", "kernel_learning", "metric_learning")
    methods = {name for room in rooms for name in PUBLIC_NAMES[room] if name[0].isupper()}
    assert methods - WITHOUT <= formulas().keys()


def test_every_formula_is_of_a_public_name():
    assert {f"likewise.{name}" for name in formulas()} <= set(names_with_a_page())


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_every_formula_of_a_page_can_be_typeset(path):
    text = re.sub(r"```.*?```|`[^`\n]*`", "", path.read_text(), flags=re.DOTALL)
    blocks = re.findall(r"\$\$(.+?)\$\$", text, re.DOTALL)
    inline = re.findall(r"\$([^$]+?)\$", re.sub(r"\$\$.+?\$\$", "", text, flags=re.DOTALL))
    for tex in (*blocks, *inline):
        assert tex2mathml(tex).startswith("<math")


def test_what_cannot_be_typeset_is_said_and_stays_readable(caplog):
    assert mathml(r"\nonsense", as_block=False) == r"<code>\nonsense</code>"
