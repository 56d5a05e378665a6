"""The experiments of yeung2007, on made data, in seconds."""

import os

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import make_blobs

from experiments import scalable
from experiments.runs import find_tables, reproduce
from likewise.constraints import Constraints
from likewise.evaluation import separation_score
from likewise.kernels import rbf, rbf_theta

CACHES = (scalable.load, scalable.score_start, scalable.eigenvectors, scalable.start_at)


@pytest.fixture
def small(monkeypatch):
    """Blobs instead of images, few rows of XOR."""
    true_load = scalable.load.__wrapped__
    blobs = make_blobs(200, n_features=5, centers=3, cluster_std=3.0, random_state=0)
    monkeypatch.setattr(scalable, "XOR_ROWS", 300)
    monkeypatch.setattr(scalable, "SENSITIVE_XOR_ROWS", 200)
    monkeypatch.setattr(scalable, "load", lambda name: true_load(name) if "xor" in name else blobs)
    for one in CACHES:
        one.cache_clear()
    yield
    for one in CACHES:
        one.cache_clear()


def test_j_of_a_kernel_is_that_of_its_coordinates():
    rng = np.random.RandomState(0)
    X, y = rng.normal(size=(50, 3)), rng.randint(0, 3, 50)
    Z = np.linalg.cholesky(rbf(X, theta=2.0) + 1e-12 * np.eye(50))
    assert_allclose(scalable.kernel_separation(X, y, 2.0), separation_score(Z, y), rtol=1e-6)


def test_the_full_method_by_its_eigenvectors_is_the_estimator_with_all_rows_landmarks(small):
    X, y = scalable.load("xor")
    answers = Constraints.from_labels(y, n_must_link=50, random_state=3)
    space = scalable.paper_method(len(X), n_passes=1).fit(X, constraints=answers)
    Z = scalable.full_method("xor", answers)
    assert_allclose(Z @ Z.T, space.kernel(X), atol=1e-5)


@pytest.mark.parametrize("method", scalable.PUBLISHED1)
def test_every_method_of_table_1_has_its_j_and_learning_raises_it(small, method):
    found = scalable.run_set(data="xor", method=method, seed=0)["J"]
    plain = scalable.score_start("xor", "input")
    if method.startswith("m ="):
        assert found > plain + 0.5
    else:
        assert abs(found - plain) < 0.4


def test_the_start_over_the_same_landmarks_is_the_kernel_s_own_weights(small):
    X, y = scalable.load("xor")
    answers = Constraints.from_labels(y, n_must_link=50, random_state=0)
    space = scalable.paper_method(100, n_passes=1).fit(X, constraints=answers)
    rows = space.landmarks_
    Z = space.transform(X)[rows] / space.weights_ * np.sqrt(space.eigenvalues_)
    K = rbf(X[rows], theta=rbf_theta(X[rows]))
    centered = K - K.mean(axis=0) - K.mean(axis=1, keepdims=True) + K.mean()
    assert_allclose(Z @ Z.T, centered, atol=0.02)  # but for what the cut leaves out
    found = scalable.run_set(data="xor", method=scalable.UNLEARNED, seed=0)["J"]
    assert found < scalable.run_set(data="xor", method="m = 100", seed=0)["J"] - 0.5


def test_figure_1_separates_new_rows_as_well_as_the_others(small):
    for method in ("full", "m = 40"):
        found = scalable.run_figure(method=method, seed=0)
        before = scalable.run_figure(method="input", seed=0)
        assert found["J"] > before["J"] + 0.5
        assert found["J of new rows"] > before["J of new rows"] + 0.5


def test_figure_1_is_drawn_in_six_panels(small, tmp_path):
    scalable.draw_figure([], tmp_path / "figure.svg")
    text = (tmp_path / "figure.svg").read_text()
    assert text.count('id="axes_') == 6


def test_wrong_must_links_are_as_many_as_asked_for(small):
    _, y = scalable.load("xor")
    for share, n_wrong in ((0.0, 0), (0.3, 15)):
        pairs = scalable.wrong_must_links(y, share, seed=0).must_link
        assert len(pairs) == 50
        assert np.count_nonzero(y[pairs[:, 0]] != y[pairs[:, 1]]) == n_wrong


def test_every_other_table_runs_a_cell(small):
    sensitive = scalable.run_sensitive(data="xor", width=1.0, cut=1e-3, seed=0)
    assert sensitive["J"] > sensitive["J before"] > 1
    for method in ("must-links", "both kinds"):
        assert scalable.run_noisy(data="blobs", wrong=0.2, method=method, seed=0)["J"] > 0.9
    for kind in scalable.KINDS:
        found = scalable.run_beyond(data="blobs", answers=kind, seed=0)
        assert found["J"] > 1
        assert -0.1 < found["ARI"] <= 1


def test_published_figures_stand_next_to_their_methods(small):
    table1, table2 = (find_tables("scalable", name)["scalable"][0] for name in ("table1", "table2"))
    assert table1.published({"method": "m = 800"}) == "4.7463 ± .65"
    assert table2.published({"data": "isolet", "method": "m = 100"}) == "2.7938 ± .0430"
    assert table2.published({"data": "mnist 3456", "method": "RCA"}) == "1.0793 ± .0110"
    assert table2.published({"data": "isolet", "method": "full"}) == ""
    for table in find_tables("scalable")["scalable"]:
        assert table.cells()


def test_a_table_is_printed_from_one_run(small, tmp_path):
    said = []
    reproduce("scalable", "figure1", n_runs=1, results=tmp_path, say=said.append)
    assert "| input | RCA | RBF | full | m = 40 | runs |" in said[0]


@pytest.mark.data
def test_the_digits_of_table_2_have_the_papers_sizes():
    if "LIKEWISE_DATA" not in os.environ:
        pytest.skip("needs mnist: set LIKEWISE_DATA")
    X, y = scalable.load("mnist 3456")
    assert X.shape == (8000, 784)
    assert X.max() == 1
    assert list(np.bincount(y)[3:]) == [2000] * 4
