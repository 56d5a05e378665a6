"""People who join two classes, or split one, and what counts as finding them."""

import numpy as np

from experiments import other_views
from likewise.evaluation.seen_differently import Difference

Y = np.arange(60) % 3
NONE = np.empty(0, dtype=int)


def test_what_counts_as_found():
    labels = np.array([2, 0, 1])[Y]

    def is_it(name, kind, clusters, view):
        one = Difference(name, kind, clusters, NONE, NONE, 9.0)
        return other_views.is_the_view(one, labels, Y, view, 0, 2)

    assert is_it("c", "merges", (1, 2), "joins two")
    assert not is_it("c", "merges", (0, 1), "joins two")
    assert not is_it("b", "merges", (1, 2), "joins two")
    assert not is_it("c", "splits", (1,), "joins two")
    assert is_it("c", "splits", (2,), "splits one")
    assert not is_it("c", "splits", (0,), "splits one")
    assert not is_it("c", "merges", (1, 2), "guesses")


def test_rows_put_into_groups_are_one_screen_each():
    answers = other_views.put_into_groups(Y, "ann", 20, 0)
    assert len(np.unique(answers.screens)) == 20
    assert len(answers.must_link) <= 20 < len(answers.cannot_link)
    pairs, sign = answers.signed_pairs()
    is_right = (Y[pairs[:, 0]] == Y[pairs[:, 1]]) == (sign > 0)
    assert is_right.mean() > 0.8


def test_a_run_tells_what_was_found_and_what_it_cost(monkeypatch):
    X = 4 * np.eye(3)[Y] + np.random.default_rng(0).normal(size=(60, 3))
    monkeypatch.setattr(other_views, "labelled_rows", lambda *_: (X, Y))
    found = other_views.run_other_views(data="", kind="pairs", view="joins two", seed=0)
    assert found["found"] == 1
    assert found["found wrongly"] == 0
    assert found["difference"] == found["ARI"] - found["without"]
