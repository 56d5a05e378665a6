import numpy as np
import pytest
from numpy.testing import assert_allclose

from likewise.kernel_learning.starts import fit_start, map_through
from likewise.kernels import linear


@pytest.fixture
def rows(seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(30, 6)) * [5.0, 3.0, 2.0, 1.0, 0.3, 0.01] + 1.0


@pytest.mark.parametrize("share", [0.9, 0.99, 1.0])
def test_the_linear_start_is_the_same_by_axes_and_by_rows(rows, share):
    by_axes = fit_start("linear", rows, share=share).transform(rows)
    by_rows = fit_start(linear, rows, share=share).transform(rows)  # a callable takes the long way
    assert by_axes.shape[1] == by_rows.shape[1]
    assert_allclose(by_axes @ by_axes.T, by_rows @ by_rows.T, atol=1e-8)


def test_the_linear_start_maps_new_rows_onto_the_kept_axes(rows, seed):
    start = fit_start("linear", rows, share=1.0)
    new = np.random.default_rng(seed + 1).normal(size=(4, 6))
    assert_allclose(start.transform(new) @ start.transform(rows).T, new @ rows.T, atol=1e-9)


@pytest.mark.parametrize("start", ["gaussian", "linear", "diffusion"])
def test_a_factor_after_the_start_is_the_same_for_many_rows_and_for_few(rows, start):
    start_map = fit_start(start, rows, share=0.99)
    Y = start_map.transform(rows)
    factor = np.random.default_rng(0).normal(size=(Y.shape[1], 3))
    assert_allclose(map_through(start_map, rows, factor), Y @ factor, atol=1e-9)
    assert_allclose(map_through(start_map, rows[:1], factor), Y[:1] @ factor, atol=1e-9)
