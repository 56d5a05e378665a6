"""The experiments of amid2015, on made data, in seconds."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs

from experiments import sklr, sklr_scale
from experiments.published import read_published
from experiments.runs import find_tables, reproduce
from likewise.constraints import Constraints
from likewise.datasets import Dataset
from likewise.kernel_learning.logdet_kernel import learn_metric, problem_rows


@pytest.fixture
def made(monkeypatch):
    """Four blobs under every name, and small settings."""
    X, y = make_blobs([25] * 4, n_features=6, cluster_std=4.0, random_state=0)
    blobs = Dataset("blobs", X, y)
    monkeypatch.setattr(sklr, "fetch_once", lambda name: blobs)
    monkeypatch.setattr(sklr, "COARSE", dict.fromkeys(sklr.SETS, lambda y: y < 2))
    monkeypatch.setattr(sklr, "N_ROWS", dict.fromkeys(sklr.SETS[1:], 80))
    monkeypatch.setattr(sklr, "labelled_names", lambda: ["iris"])
    for name, value in {"N_INIT": 2, "MIDDLE": 3, "NOISE_ANSWERS": 60, "NOISE_ROWS": 60}.items():
        monkeypatch.setattr(sklr, name, value)
    sklr.learned_space.cache_clear()
    sklr.score_method.cache_clear()
    yield blobs
    sklr.learned_space.cache_clear()
    sklr.score_method.cache_clear()


@pytest.mark.parametrize("method", sklr.METHODS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_method_scores_both_resolutions_from_mixed_answers(made, method):
    job = {"answers": "mixed", "labelled": 4, "method": method, "seed": 0}
    few = sklr.run_method(data=sklr.SETS[1], **job)
    every = sklr.run_method(data=sklr.SETS[1], **job, all_rows=True)
    assert set(few) == set(every) == {"ARI of 2", "ARI of all"}
    assert few != every
    assert all(-0.1 < value <= 1 for value in (*few.values(), *every.values()))


def test_without_answers_a_set_is_scored_once_per_seed(made):
    job = {"data": sklr.SETS[1], "method": sklr.WITHOUT_ANSWERS, "seed": 0}
    few, many = (
        sklr.run_method(answers=kind, labelled=labelled, **job)
        for kind, labelled in (("binary", 3), ("mixed", 7))
    )
    assert few == many
    assert sklr.score_method.cache_info().misses == 1
    assert few != sklr.run_method(answers="mixed", labelled=7, **{**job, "method": "SKLR"})


def test_a_start_is_cut_harder_by_frobenius_and_equation_18_keeps_what_is_cut(made):
    cuts = {
        cut: sklr.run_cut(data=sklr.SETS[0], loss="hinge", cut=cut, seed=0)["directions"]
        for cut in sklr.FORMS_OF_START
    }
    assert cuts["eigen, Frobenius"] < cuts["Cholesky, Frobenius"] < cuts["Cholesky, trace"]
    assert cuts["eigen, trace"] <= cuts["Cholesky, trace"]
    kept = [
        sklr.run_residual(data=sklr.SETS[1], labelled=3, rows=rows, seed=0)["ARI"]
        for rows in ("map", "equation 18")
    ]
    assert abs(kept[0] - kept[1]) < 0.2


def test_answers_are_about_what_their_kind_says(made):
    binary = sklr.draw("vehicle", made.y, "binary", 3, 0).triples.odd_one_out
    classes = sklr.draw("vehicle", made.y, "multi-class", 3, 0).triples.odd_one_out
    a, b, odd = (made.y[binary] < 2).T
    assert_array_equal(a, b)
    assert_array_equal(a, ~odd)
    assert (made.y[binary[:, 0]] != made.y[binary[:, 1]]).any()
    assert_array_equal(made.y[classes[:, 0]], made.y[classes[:, 1]])
    mixed = sklr.draw("vehicle", made.y, "mixed", 3, 0)
    assert len(mixed.triples.odd_one_out) == len(binary) + len(classes) == 2 * 3 * (2 + 4)
    assert mixed.pairs.n_answers == mixed.triples.n_answers


def test_right_answers_raise_the_score_and_wrong_ones_are_worth_less(made):
    def score(noise, loss):
        return sklr.run_noise(data="digits", noise=noise, loss=loss, seed=0)["ARI"]

    assert score(0.0, "hinge") > score(0.0, "none") + 0.05
    assert score(0.0, "none") == score(0.3, "none")
    assert score(0.0, "hinge") > score(0.3, "hinge")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_undecided_answers_reach_the_learner(made):
    job = {"data": "vehicle", "method": "SKLR", "seed": 0}
    told = sklr.draw_sklr_answers(made.y, n_labelled=3, n_undecided=30, random_state=0)
    assert len(told.triples.undecided) == 30
    assert 0 < sklr.run_undecided(**job, undecided=30)["ARI"] <= 1


def test_clusterers_share_one_kernel_and_only_mean_shift_counts_for_itself(made):
    found = {
        name: sklr.run_clusterer(data="vehicle", clusterer=name, seed=0) for name in sklr.CLUSTERERS
    }
    assert sklr.learned_space.cache_info().misses == 1
    assert found["kernel k-means"]["clusters"] == found["spectral"]["clusters"] == 4
    assert all(0 < one["ARI"] <= 1 for one in found.values())


def test_the_prototype_and_the_library_end_at_the_same_metric(monkeypatch):
    rng = np.random.RandomState(0)
    Y, y = rng.randn(40, 5), rng.randint(3, size=40)
    answers = Constraints.from_labels(y, n_odd_one_out=30, random_state=0)
    monkeypatch.setattr(sklr_scale, "TOL", 1e-9)
    monkeypatch.setattr(sklr_scale, "MAX_SWEEPS", 3000)
    rows = problem_rows(answers)
    plain = sklr_scale.project_one_at_a_time(Y, rows.triples, rng)
    fitted = learn_metric(
        Y,
        rows,
        sq_bounds=(0.1, 1.6),
        margin=sklr_scale.GAMMA,
        pair_strengths=np.empty(0),
        triple_strengths=np.full(len(rows.triples), sklr_scale.C),
        loss="hinge",
        tol=1e-9,
        max_iter=3000,
        rng=rng,
    )
    assert fitted.converged
    assert_allclose(plain, fitted.metric, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("form", sklr_scale.FORMS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_both_forms_measure_every_step(monkeypatch, form):
    X, y = make_blobs([60] * 4, n_features=6, cluster_std=4.0, random_state=0)
    blobs = Dataset("blobs", X, y)
    for name, value in {"N_ANSWERS": 60, "N_LANDMARKS": 50, "RANK": 20}.items():
        monkeypatch.setattr(sklr_scale, name, value)
    monkeypatch.setattr(sklr_scale, "fetch", lambda name: blobs)
    measured = sklr_scale.measure("blobs", form, 0)
    assert tuple(measured) == sklr_scale.SCALE_MEASURES
    assert measured["ARI"] > 0.3
    steps = [measured[f"seconds to {step}"] for step in ("learn", "map", "cluster")]
    assert_allclose(sum(steps), measured["seconds in all"])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_table_with_a_figure_is_printed_drawn_and_published(made, tmp_path, monkeypatch):
    from experiments import runs

    monkeypatch.setattr(runs, "fetch", lambda name: made)
    monkeypatch.setattr(sklr, "UNDECIDED", (0, 10))
    printed = []
    folders = {"results": tmp_path / "results", "docs": tmp_path / "docs"}
    reproduce("sklr", "figure4", n_runs=2, say=printed.append, **folders)
    assert "<svg" in (tmp_path / "docs" / "experiments" / "sklr-figure4.svg").read_text()
    published = read_published(tmp_path / "docs" / "tables" / "sklr" / "figure4.csv")
    assert published.grids()[""].columns == ["data", "method", "0", "10", "runs"]
    assert published.markdown() in printed[0]
    assert "| vehicle | SKLR paper | " in printed[0]
    assert (tmp_path / "results" / "sklr" / "figure4.csv").is_file()


@pytest.mark.parametrize("name", [table.name for table in sklr.TABLES])
def test_every_table_has_cells_of_one_shape_that_its_rows_and_columns_name(made, name):
    (table,) = find_tables("sklr", name)["sklr"]
    cells = table.cells()
    assert {tuple(cell) for cell in cells} == {tuple(cells[0])}
    assert {*table.rows, table.columns} == set(cells[0])
    assert len({tuple(cell.values()) for cell in cells}) == len(cells)
