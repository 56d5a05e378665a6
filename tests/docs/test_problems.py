"""A page says which problem its method solves."""

import pytest

import likewise
from docs.tools.problems import problem_of, tell_problem

WITHOUT = {"AnswerSearchCV"}  # chooses among methods, and says how in its own words


@pytest.mark.parametrize("name", sorted(set(likewise.__all__) - WITHOUT))
def test_an_estimator_has_its_problem_on_its_page(name):
    thing = getattr(likewise, name)
    if hasattr(thing, "get_params"):
        assert len(problem_of(thing)) > 200


def test_the_problem_follows_the_docstring_and_methods_have_none():
    lines = ["What it does."]
    tell_problem(None, "class", "ITML", likewise.ITML, None, lines)
    assert lines[0] == "What it does."
    assert "   " + problem_of(likewise.ITML).splitlines()[0] in lines
    lines = ["Fit."]
    tell_problem(None, "method", "ITML.fit", likewise.ITML.fit, None, lines)
    assert lines == ["Fit."]
    assert problem_of(likewise.save_model) is None
