"""The account of a set of answers."""

import json

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from likewise import Constraints, check_answers
from likewise.datasets import load_iris
from likewise.duals.checking import fit_metrics


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
    assert lines[50]["doubt_rank"] in (1, 2)
    ranked = [line["answer"] for line in sorted(lines, key=lambda l: l["doubt_rank"] or 99)]
    n = len(found.suspects.positions)
    assert_array_equal(ranked[:n], found.suspects.positions)
    assert json.loads(json.dumps(found.to_dict())) == found.to_dict()


def test_without_pairs_no_metric_is_ranked():
    iris = load_iris()
    c = Constraints.from_labels(iris.y, n_odd_one_out=30, random_state=0)
    found = check_answers(iris.X, c, 3, random_state=0)
    assert found.fitness is None
    assert found.to_dict()["metrics"] == []
    assert found.prices.prices.shape == (30,)


def test_of_many_rows_those_of_pairs_are_compared(monkeypatch):
    monkeypatch.setattr("likewise.duals.checking.MOST_ROWS", 40)
    rng = np.random.RandomState(0)
    y = np.repeat([0, 1], 60)
    X = rng.randn(120, 2) + 5 * y[:, None]
    c = Constraints.from_labels(y, n_pairs=10, random_state=0)
    found = fit_metrics(X, c, 2, ["euclidean"], rng)
    assert found.counts[0] <= 10 * 40  # over the 40 rows
    assert found.shares[0] > 0.9
