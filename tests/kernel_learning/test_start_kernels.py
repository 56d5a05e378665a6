import numpy as np
import pytest
from numpy.testing import assert_allclose

from likewise.kernel_learning.start_kernels import fit_start, map_training_rows
from likewise.kernels import linear


@pytest.fixture
def rows(seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(30, 6)) * [5.0, 3.0, 2.0, 1.0, 0.3, 0.01] + 1.0


@pytest.mark.parametrize("share", [0.9, 0.99, 1.0])
def test_the_linear_start_is_the_same_by_axes_and_by_rows(rows, share):
    by_axes = fit_start("linear", rows, n_components=share).transform(rows)
    by_rows = fit_start(linear, rows, n_components=share).transform(
        rows
    )  # a callable takes the long way
    assert by_axes.shape[1] == by_rows.shape[1]
    assert_allclose(by_axes @ by_axes.T, by_rows @ by_rows.T, atol=1e-8)


def test_the_linear_start_maps_new_rows_onto_the_kept_axes(rows, seed):
    start = fit_start("linear", rows, n_components=1.0)
    new = np.random.default_rng(seed + 1).normal(size=(4, 6))
    assert_allclose(start.transform(new) @ start.transform(rows).T, new @ rows.T, atol=1e-9)


@pytest.mark.parametrize("start", ["gaussian", "linear", "diffusion"])
def test_the_start_and_a_matrix_after_it_are_one_map(rows, start):
    start_map = fit_start(start, rows, n_components=0.99)
    Y = start_map.transform(rows)
    matrix = np.random.default_rng(0).normal(size=(Y.shape[1], 3))
    learned = start_map.times(matrix)
    assert type(learned) is type(start_map)
    assert learned.n_directions == 3
    assert_allclose(learned.transform(rows), Y @ matrix, atol=1e-9)
    assert_allclose(learned.transform(rows[:1]), Y[:1] @ matrix, atol=1e-9)


@pytest.mark.parametrize("settings", [{}, {"n_landmarks": 20}, {"factor": "cholesky"}])
@pytest.mark.parametrize("start", ["gaussian", "linear", "diffusion"])
def test_training_rows_have_the_coordinates_that_the_map_gives_them(rows, start, settings):
    start_map = fit_start(start, rows, n_components=0.99, random_state=0, **settings)
    assert_allclose(map_training_rows(start_map, rows), start_map.transform(rows), atol=1e-9)
