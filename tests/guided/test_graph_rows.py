"""Small groups get more rows of the graph that memberships are spread over."""

import numpy as np
from numpy.testing import assert_array_equal

from likewise import Constraints, GuidedClustering
from likewise.guided import graph_rows, outcome
from likewise.guided.graph_rows import add_small_groups


def test_groups_with_few_rows_get_more_of_those_placed_there(monkeypatch):
    monkeypatch.setattr(graph_rows, "LEAST", 3)
    labels = np.repeat([0, 1, 2], [20, 5, 2])
    rows = np.array([*range(16), 20, 25])  # 18 rows, one of group 1 and one of group 2
    found = add_small_groups(rows, labels, 3, seed=0)
    assert np.isin(rows, found).all()
    assert_array_equal(np.bincount(labels[found]), [16, 3, 2])  # no more than there are
    assert_array_equal(add_small_groups(rows[:5], labels, 3, seed=0), rows[:5])  # no room


def test_the_same_seed_draws_the_same_rows_and_none_twice(seed):
    rng = np.random.RandomState(seed)
    labels = rng.choice(3, 900, p=[0.9, 0.08, 0.02])
    rows = np.sort(rng.choice(900, 300, replace=False))
    found = add_small_groups(rows, labels, 3, seed)
    assert_array_equal(found, add_small_groups(rows, labels, 3, seed))
    assert len(np.unique(found)) == len(found)
    assert np.isin(rows, found).all()
    counts = np.bincount(labels[found], minlength=3)
    enough = np.minimum(np.bincount(labels, minlength=3), min(graph_rows.LEAST, 300 // 6))
    assert (counts >= enough).all()


def test_a_small_group_is_found_better_with_more_of_its_rows(monkeypatch):
    rng = np.random.RandomState(0)
    y = rng.choice(3, 3000, p=[0.49, 0.49, 0.02])
    X = rng.normal(size=(3000, 4)) + 3.2 * np.eye(3, 4)[y]
    known = np.full(3000, -1)
    for group in range(3):
        known[np.flatnonzero(y == group)[:5]] = group
    monkeypatch.setattr(outcome, "GRAPH_ROWS", 200)
    shares, n_anchors = [], []
    for least in (0, graph_rows.LEAST):
        monkeypatch.setattr(graph_rows, "LEAST", least)
        model = GuidedClustering(3, random_state=0)
        model.fit(X, constraints=Constraints.from_partial_labels(known))
        small = model.labels_ == model.labels_[np.flatnonzero(y == 2)[0]]
        shares.append((small & (y == 2)).sum() / (small | (y == 2)).sum())
        n_anchors.append(len(model.anchors_))
    assert n_anchors[1] > n_anchors[0] == 200
    assert shares[1] > shares[0]
