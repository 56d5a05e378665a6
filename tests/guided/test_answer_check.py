"""The account of a set of answers."""

import json

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.preprocessing import StandardScaler

from likewise import Constraints, GuidedClustering, check_answers, doubtful_answers
from likewise.datasets import load_iris, load_wine
from likewise.guided.answer_check import fit_metrics
from likewise.report import write_report


@pytest.fixture(scope="module")
def found():
    iris = load_iris()
    right = Constraints.from_labels(iris.y, n_pairs=40, n_odd_one_out=10, random_state=0)
    wrong = Constraints(150, must_link=[(0, 140)], undecided=[(0, 1, 2)])
    return check_answers(iris.X, right + wrong, 3, metrics=["euclidean"], random_state=0)


def test_every_answer_has_a_line_of_plain_values(found):
    lines = found.rows()
    assert len(lines) == 52
    assert len({tuple(line) for line in lines}) == 1
    assert [line["kind"] for line in lines] == found.constraints.kinds.tolist()
    assert (lines[50]["c"], lines[-1]["c"]) == ("", "2")
    assert lines[50]["doubt_rank"] in (1, 2, 3)
    ranked = [line["answer"] for line in sorted(lines, key=lambda l: l["doubt_rank"] or 99)]
    n = len(found.doubtful.positions)
    assert_array_equal(ranked[:n], found.doubtful.positions)
    assert json.loads(json.dumps(found.to_dict())) == found.to_dict()


def test_without_pairs_no_metric_is_ranked():
    iris = load_iris()
    c = Constraints.from_labels(iris.y, n_odd_one_out=30, random_state=0)
    found = check_answers(iris.X, c, 3, random_state=0)
    assert found.fitness is None
    assert found.to_dict()["metrics"] == []
    assert found.prices.prices.shape == (30,)


def test_of_many_rows_those_of_pairs_are_compared(monkeypatch):
    monkeypatch.setattr("likewise.guided.answer_check.MOST_ROWS", 40)
    rng = np.random.RandomState(0)
    y = np.repeat([0, 1], 60)
    X = rng.randn(120, 2) + 5 * y[:, None]
    c = Constraints.from_labels(y, n_pairs=10, random_state=0)
    found = fit_metrics(X, c, 2, ["euclidean"], rng)
    assert found.counts[0] <= 10 * 40  # over the 40 rows
    assert found.shares[0] > 0.9


def test_everybody_calls_the_same_answers_doubtful(tmp_path):
    """GuidedClustering, doubtful_answers, check_answers and the report, of the same answers."""
    wine = load_wine()
    answers = Constraints.from_labels(wine.y, n_pairs=200, noise=0.1, random_state=0)
    model = GuidedClustering(3, random_state=0).fit(wine.X, constraints=answers)
    assert len(model.doubtful_) > 3
    found = doubtful_answers(wine.X, answers, 3, random_state=0)
    checked = check_answers(wine.X, answers, 3, metrics=["euclidean"], random_state=0)
    assert_array_equal(found.positions, model.doubtful_)
    assert_array_equal(checked.doubtful.positions, model.doubtful_)
    assert_array_equal(found.doubts, model.doubts_)
    write_report(tmp_path / "r.html", model, wine.X, constraints=answers)
    page = (tmp_path / "r.html").read_text()
    first = page.index("Answers contradicted by the other answers")
    assert page[first:].count("<li") >= min(len(model.doubtful_), 12)


def test_standardized_before_or_by_us_the_same_answers_are_doubtful():
    wine = load_wine()
    answers = Constraints.from_labels(wine.y, n_pairs=200, noise=0.1, random_state=0)
    before = StandardScaler().fit_transform(wine.X)
    raw = doubtful_answers(wine.X, answers, 3, random_state=0)
    assert_array_equal(
        raw.positions, doubtful_answers(before, answers, 3, random_state=0).positions
    )


def test_right_answers_about_raw_wine_are_hardly_doubted():
    """41 of 200 were flagged when features of very different size were taken as they are."""
    wine = load_wine()
    answers = Constraints.from_labels(wine.y, n_pairs=200, random_state=0)
    assert len(doubtful_answers(wine.X, answers, 3, random_state=0).positions) <= 2
