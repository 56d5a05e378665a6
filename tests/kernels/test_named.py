"""Kernels by name."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.metrics.pairwise import laplacian_kernel

from likewise.kernels import (
    KERNEL_NAMES,
    kernel_function,
    kernel_oracle,
    polynomial,
    rbf,
    rbf_theta,
)

ROWS = np.random.default_rng(0).normal(size=(30, 3))
NEW = np.random.default_rng(1).normal(size=(5, 3))
ON_ROWS = [name for name in KERNEL_NAMES if name != "precomputed"]


@pytest.mark.parametrize("name", ON_ROWS)
def test_every_name_gives_one_kernel_to_all_forms_of_the_rows(name):
    k = kernel_function(name, ROWS)
    expected = k(NEW, ROWS)
    assert expected.shape == (5, 30)
    assert_allclose(k(ROWS, NEW), expected.T, atol=1e-12)
    assert_allclose(k(NEW), k(NEW, NEW), atol=1e-12)
    assert_allclose(pickle.loads(pickle.dumps(k))(NEW, ROWS), expected, atol=1e-12)
    assert_allclose(
        kernel_function(name, csr_array(ROWS))(csr_array(NEW), csr_array(ROWS)), expected, atol=1e-7
    )
    assert_allclose(
        kernel_function(name, ROWS.tolist())(NEW.tolist(), ROWS.tolist()), expected, atol=1e-7
    )


@pytest.mark.parametrize("name", ON_ROWS)
def test_oracle_reads_the_diagonal_and_the_columns_of_the_matrix(name):
    k = kernel_function(name, ROWS)
    diagonal, column = kernel_oracle(k, ROWS)
    assert_allclose(diagonal, k(ROWS).diagonal(), atol=1e-12)
    assert_allclose(column(4), k(ROWS)[:, 4], atol=1e-12)


def test_settings_reach_the_named_kernel():
    assert_allclose(
        kernel_function("rbf", ROWS, bandwidth="median")(NEW),
        rbf(NEW, theta=rbf_theta(ROWS, "median")),
    )
    assert_allclose(kernel_function("polynomial", ROWS, degree=2)(NEW), polynomial(NEW, degree=2))
    assert kernel_function("gaussian", ROWS, n_neighbors=4).n_neighbors == 4


def test_a_callable_is_taken_at_its_word_but_for_the_shape():
    k = kernel_function(laplacian_kernel, ROWS, gamma=0.5)
    assert_allclose(k(NEW, ROWS), laplacian_kernel(NEW, ROWS, gamma=0.5))
    assert k(NEW).shape == (5, 5)
    with pytest.raises(ValueError, match=r"shape \(3,\) for rows of 5 and 30"):
        kernel_function(lambda X, Y: np.ones(3), ROWS)(NEW, ROWS)


def test_precomputed_values_are_returned_and_must_fit_the_training_rows():
    K = ROWS @ ROWS.T
    k = kernel_function("precomputed", K)
    assert_array_equal(k(K[:4], K), K[:4])
    with pytest.raises(ValueError, match="a column for each of 30 training rows"):
        k(np.ones((4, 29)))
    with pytest.raises(ValueError, match="square"):
        kernel_function("precomputed", ROWS)


def test_unknown_names_and_settings_are_named():
    with pytest.raises(ValueError, match="start='sigmoid' is unknown"):
        kernel_function("sigmoid", ROWS)
    with pytest.raises(TypeError, match="start='linear' takes no settings; got degree"):
        kernel_function("linear", ROWS, degree=2)
