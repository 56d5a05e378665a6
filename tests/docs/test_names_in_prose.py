"""Calls that pages write in passing, such as `NPK(solver="smo")`, take what is written."""

import ast
import inspect
import re

import pytest

import likewise
from docs.tools.tables import ROOT

PAGES = [ROOT / "README.md", ROOT / "docs" / "index.md"]
PAGES += sorted(
    [*(ROOT / "docs" / "guide").glob("*.md"), *(ROOT / "docs" / "experiments").glob("*.md")]
)


def calls_in(text):
    """Inline code that is a call of a public name, or a public name with a capital alone."""
    for code in re.findall(
        r"`([A-Za-z_][^`\n]*)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    ):
        try:
            call = ast.parse(code, mode="eval").body
        except SyntaxError:
            continue
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
            yield code, call.func.id, [keyword.arg for keyword in call.keywords]


CALLS = sorted(
    {
        (path.name, *call[:2], tuple(call[2]))
        for path in PAGES
        for call in calls_in(path.read_text())
    }
)


@pytest.mark.parametrize(("page", "code", "name", "keywords"), CALLS)
def test_a_call_in_prose_takes_its_keywords(page, code, name, keywords):
    if name in likewise.__all__:
        known = inspect.signature(getattr(likewise, name)).parameters
        assert set(keywords) <= known.keys(), f"{page}: {code}"


def test_there_are_such_calls():
    assert {name for _, _, name, _ in CALLS} >= {"SKLR", "NPK"}
