"""Made people, and the share of intervals that hold what they should."""

import numpy as np
from numpy.testing import assert_array_equal

from experiments import how_sure

Y = np.arange(90) % 3
X = 4 * np.eye(3)[Y] + np.random.default_rng(0).normal(size=(90, 3))


def test_everybody_is_wrong_as_often_as_said():
    rng = np.random.default_rng(0)
    for kind in how_sure.KINDS:
        answers = how_sure.ask_people(Y, kind, [0.0, 0.4], 500, rng)
        if kind == "pairs":
            pairs, sign = answers.signed_pairs()
            is_wrong = (Y[pairs[:, 0]] == Y[pairs[:, 1]]) != (sign > 0)
        else:
            a, b, odd = answers.odd_one_out.T
            is_wrong = ~((Y[a] == Y[b]) & (Y[odd] != Y[a]))
        shares = [is_wrong[answers.annotators == f"person {i}"].mean() for i in range(2)]
        assert shares[0] == 0
        assert abs(shares[1] - 0.4) < 0.08


def test_clusters_are_matched_to_those_they_share_most_with():
    shares = np.eye(3)[[0, 0, 1, 2]]
    assert_array_equal(how_sure.in_order(shares, shares[:, [2, 0, 1]]), shares)


def test_shares_are_shares(monkeypatch):
    monkeypatch.setattr(how_sure, "labelled_rows", lambda *_: (X, Y))
    monkeypatch.setattr(how_sure, "N_INTERVALS", 4)
    monkeypatch.setattr(how_sure, "N_TRUE", 1000)
    found = how_sure.run_accuracy(data="", kind="triples", people=20, seed=0)
    assert 0 <= found["holds"] <= 1
    assert 0 < found["width"] < 1
