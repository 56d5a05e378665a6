"""What a notebook shows of answers, reports, questions and doubts."""

import numpy as np
import pytest

from likewise import Constraints, GuidedClustering
from likewise.datasets import load_wine
from likewise.files.html_table import html_table
from likewise.guided import doubtful_answers
from likewise.labeling import Question


def test_every_cell_is_escaped():
    page = html_table("<b>", [("<script>", "a & b")], ("<i>",))
    assert "<b>" not in page
    assert "<script>" not in page
    assert "<i>" not in page
    assert "a &amp; b" in page
    assert page.count("<tr>") == page.count("</tr>") == 2


def test_answers_are_counted_by_kind():
    answers = Constraints(5, must_link=[(0, 1), (1, 2)], odd_one_out=[(0, 1, 4)])
    page = answers._repr_html_()
    assert "3 answers about 5 rows" in page
    assert "<td>must_link</td><td>2</td>" in page
    assert "<td>odd_one_out</td><td>1</td>" in page
    assert "cannot_link" not in page


@pytest.fixture(scope="module")
def wine_answers():
    wine = load_wine()
    return wine.X, Constraints.from_labels(wine.y, n_pairs=120, noise=0.1, random_state=0)


def test_a_report_says_what_was_chosen_and_why(wine_answers):
    X, answers = wine_answers
    report = GuidedClustering(3, random_state=0).fit(X, constraints=answers).report_
    page = report._repr_html_()
    assert "178 rows, 13 features, 120 answers" in page
    assert report.why.split(":")[0] in page
    assert "answers satisfied" in page


def test_doubtful_answers_are_listed_with_their_doubts(wine_answers):
    X, answers = wine_answers
    doubtful = doubtful_answers(X, answers, 3, random_state=0)
    page = doubtful._repr_html_()
    assert len(doubtful.positions) > 0
    assert f"{len(doubtful.positions)} doubtful answers" in page
    for i in doubtful.positions:
        assert f"<td>{i}</td>" in page
    assert np.isfinite(doubtful.doubts[doubtful.positions]).all()


def test_a_question_shows_its_rows_groups_and_answers():
    page = Question("group", (7,), groups=((0, 3), (5,)))._repr_html_()
    assert "<td>rows</td><td>7</td>" in page
    assert "<td>group 0</td><td>0, 3</td>" in page
    assert "new, nowhere, cant_tell" in page
