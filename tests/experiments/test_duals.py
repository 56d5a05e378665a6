"""The experiments around prices, at a size that takes seconds."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs

from experiments import duals, duals_doubts, duals_metrics
from experiments.runs import find_tables, reproduce
from likewise import Constraints
from likewise.datasets import Dataset, make_metric_clusters


@pytest.fixture
def made_sets(monkeypatch):
    X, y = make_blobs([20] * 3, n_features=6, cluster_std=3.0, random_state=0)
    blobs = Dataset("blobs", X, y)
    for module in (duals, duals_doubts, duals_metrics):
        monkeypatch.setattr(module, "load", lambda name, n_rows, seed: (X, y))
    for name, value in {"N_SETS": 3, "MAX_PAIRS": 10, "N_TRACES": 30}.items():
        monkeypatch.setattr(duals_metrics, name, value)
    few = partial(make_metric_clusters, n_samples=30)
    monkeypatch.setattr(duals_metrics, "make_metric_clusters", few)
    monkeypatch.setattr(duals, "MOVED", dict.fromkeys(duals.MOVED, 4))
    caches = (duals.moved_points, duals.clustered, duals_doubts.learned, duals_metrics.make_traces)
    for cache in caches:
        cache.cache_clear()
    yield blobs
    for cache in caches:
        cache.cache_clear()


@pytest.mark.parametrize("data", ["manhattan", "iris", "synthetic_control", "traces"])
def test_fitness_and_agreement_lie_where_they_should(made_sets, data):
    found = duals_metrics.run_fitness(data=data, metric="euclidean", seed=0)
    assert set(found) == {"share", "count", "ARI"}
    assert 0 <= found["share"] <= 1
    assert -0.5 <= found["ARI"] <= 1


def test_control_charts_are_compared_segment_by_segment():
    X = np.random.RandomState(0).randn(5, 60)
    D = duals_metrics.distances_of("synthetic_control", X, "chebyshev")
    by_hand = sum(
        np.abs(X[0, 10 * s : 10 * s + 10] - X[1, 10 * s : 10 * s + 10]).max() for s in range(6)
    )
    assert_allclose(D[0, 1], by_hand)


def test_traces_of_a_class_are_few_edits_apart(made_sets):
    traces, y = duals_metrics.make_traces(0)
    D = duals_metrics.distances_of("traces", traces, "damerau_levenshtein")
    same = y[:, None] == y
    assert D[same].mean() < D[~same].mean()
    assert len({call for trace in traces for call in trace}) <= duals_metrics.N_CALLS


def test_only_violated_pairs_are_drawn():
    y, labels = np.array([0, 0, 0, 1, 1, 1]), np.array([0, 0, 1, 1, 1, 0])
    drawn = duals.violated_pairs(y, labels, 6, 0)
    pairs, sign = drawn.signed_pairs()
    same = labels[pairs[:, 0]] == labels[pairs[:, 1]]
    assert_array_equal(same, sign < 0)
    assert_array_equal(y[pairs[:, 0]] == y[pairs[:, 1]], sign > 0)
    assert drawn.n_answers == len({tuple(pair) for pair in pairs}) == 6


def test_every_way_ends_and_the_first_is_that_of_figure_6(made_sets, monkeypatch):
    monkeypatch.setattr(duals, "MOVED", {"iris": 3})
    job = {"data": "iris", "order": "cheapest", "seed": 0}
    ways = {way: duals.run_way(way=way, **job) for way in ("LP, warm", "sub-gradient, warm")}
    last = duals.run_moving(step=1.0, **job)
    assert ways["LP, warm"]["travelled"] == last["travelled"]
    assert all(way["rounds"] >= 1 and way["travelled"] > 0 for way in ways.values())


def test_one_metric_is_the_best_and_the_program_finds_more_free_pairs(monkeypatch):
    monkeypatch.setattr(duals_metrics, "ZERO_ROWS", 30)
    found = {
        solver: [
            duals_metrics.run_zeros(data="euclidean", metric=metric, solver=solver, seed=1)
            for metric in duals_metrics.ZERO_METRICS
        ]
        for solver in ("Lagrangian", "program")
    }
    for solver in found.values():
        assert max(one["share"] for one in solver if one["best"]) == max(
            one["share"] for one in solver
        )
    shares = {solver: sum(one["share"] for one in rows) for solver, rows in found.items()}
    assert shares["program"] >= shares["Lagrangian"]


def test_moves_are_recorded_along_the_way(made_sets):
    steps = [
        duals.run_moving(data="iris", order="dearest", step=step, seed=0) for step in duals.STEPS
    ]
    assert duals.moved_points.cache_info().misses == 1
    travelled = [one["travelled"] for one in steps]
    assert travelled == sorted(travelled)
    assert travelled[0] == 0 < travelled[-1]
    assert steps[0]["moves"] == 0


@pytest.mark.parametrize("answers", ["pairs", "both"])
def test_wrong_answers_are_counted_as_flipped(made_sets, answers):
    _, y, told, wrong = duals_doubts.some_wrong("wine", answers, 0)
    assert wrong.sum() == 30
    pairs, sign = told.signed_pairs()
    is_right = (y[pairs[:, 0]] == y[pairs[:, 1]]) == (sign > 0)
    at = told.positions("must_link", "cannot_link")
    assert_array_equal(is_right, ~wrong[at])
    found = duals_doubts.run_doubts(data="wine", answers=answers, by="isolated, SKLR", seed=0)
    assert all(0 <= value <= 1 for value in found.values())


@pytest.mark.parametrize("kept", duals_doubts.FILTERS)
def test_filters_keep_what_they_say(made_sets, kept):
    found = duals_doubts.run_filter(data="wine", kept=kept, seed=0)
    counts = {"no answers": 0, "all": 300, "right ones": 270}
    assert found["answers"] == counts.get(kept, found["answers"])
    assert found["answers"] < 300 or kept == "all"


def test_the_same_eps_gives_the_same_ranks(made_sets):
    same = duals_doubts.run_eps(data="iris", model="mssc", eps=0.1, seed=0)
    other = duals_doubts.run_eps(data="iris", model="mssc", eps=0.5, seed=0)
    assert same == {"Spearman": 1.0}
    assert -1 <= other["Spearman"] <= 1


def test_published_pairs_are_read(made_sets, monkeypatch):
    answers = Constraints(60, must_link=[(0, 1), (2, 3)], cannot_link=[(0, 4)])
    for module in (duals, duals_metrics):
        monkeypatch.setattr(module, "constraints_of", lambda data, which: answers)
        monkeypatch.setattr(module, "fetch_once", lambda name: made_sets)
    fitness = duals.run_published_fitness(data="iris", pairs=1, metric="euclidean", seed=0)
    assert fitness["answers"] == 3
    moves = duals.run_published_moves(data="iris", pairs=1, order="random", seed=0)
    assert moves["unsatisfied"] == 0


def test_a_figure_of_fitness_is_drawn_and_written(made_sets, tmp_path, monkeypatch):
    monkeypatch.setattr(duals, "METRICS", ("euclidean", "manhattan"))
    told = []
    folders = {"results": tmp_path / "results", "docs": tmp_path / "docs"}
    for table in ("figure2", "figure3"):
        reproduce("duals", table, n_runs=1, say=told.append, **folders)
        assert "<svg" in (tmp_path / "docs" / "experiments" / f"duals-{table}.svg").read_text()
    assert "| manhattan |" in told[1]


@pytest.mark.parametrize("name", [table.name for table in duals.TABLES])
def test_every_table_has_cells_of_one_shape_that_its_rows_and_columns_name(name):
    (table,) = find_tables("duals", name)["duals"]
    cells = table.cells()
    assert {tuple(cell) for cell in cells} == {tuple(cells[0])}
    assert {*table.rows, table.columns} == set(cells[0])
    assert not {*table.rows, table.columns} & set(table.measures)
