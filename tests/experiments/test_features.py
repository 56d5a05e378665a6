"""The tables of mixed columns, and what is concluded from their runs."""

import numpy as np
import pytest

from experiments import features


@pytest.mark.parametrize("data", features.MADE)
def test_a_made_table_has_its_kinds_of_columns_with_gaps(data):
    frame, y = features.load(data, 0)
    assert len(frame) == len(y) == 400
    assert frame["id"].is_unique
    assert 0.02 < frame.drop(columns="id").isna().to_numpy().mean() < 0.12
    other, _ = features.load(data, 1)
    assert not other.equals(frame)


@pytest.mark.parametrize("method", features.METHODS)
def test_every_method_scores_a_made_table(method):
    if method == "skrub k-means":
        pytest.importorskip("skrub")
    found = features.run_table(data="orders", clicks=30, method=method, seed=0)
    assert found["ARI"] > 0.3


def test_k_means_starts_from_the_clicked_rows_where_every_class_was_clicked():
    X = np.array([[0.0], [1.0], [10.0], [11.0]])
    labels = features.seeded_kmeans(X, np.array([-1, 1, 0, -1]), 2, seed=0)
    assert labels.tolist() == [1, 1, 0, 0]


def test_a_cell_counts_as_behind_beyond_one_standard_error():
    def records(data, **aris):
        return [
            {"data": data, "clicks": "0", "method": name.replace("_", " "), "ARI": str(ari)}
            for name, two in aris.items()
            for ari in two
        ]

    made = records("a", guided=(0.5, 0.5), skrub_k_means=(0.6, 0.6))
    made += records("b", guided=(0.5, 0.7), skrub_k_means=(0.6, 0.65))
    names = {"skrub k means": "skrub k-means"}
    made = [{**one, "method": names.get(one["method"], one["method"])} for one in made]
    made += [{**one, "method": "one-hot k-means", "ARI": "0"} for one in made]
    assert features.conclude(made) == [
        "GuidedClustering is ahead of both or within one standard error in 1 of 2 cells."
    ]


def test_nothing_is_concluded_from_one_side_alone():
    one = {"data": "a", "clicks": "0", "ARI": "0.5"}
    for method in ("guided", "skrub k-means"):
        assert features.conclude([{**one, "method": method}]) == []
    both = [{**one, "method": method} for method in ("guided", "skrub k-means")]
    assert "in 1 of 1 cells" in features.conclude(both)[0]  # without one-hot
