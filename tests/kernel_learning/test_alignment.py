"""KernelAlignment: weights of kernels by agreement with pairs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.utils.estimator_checks import parametrize_with_checks

from likewise import Constraints, KernelAlignment
from likewise.datasets import load_iris, make_xor
from likewise.kernel_learning.alignment import align
from likewise.kernels import linear, polynomial, rbf, rbf_theta


def iris_with_pairs(n=40, seed=0):
    data = load_iris()
    return data.X, Constraints.from_labels(
        data.y, n_must_link=n, n_cannot_link=n // 2, random_state=seed
    )


def plain_kernels(X):
    """The three kernels, centered and of trace 1, written plainly."""
    H = np.eye(len(X)) - 1 / len(X)
    kernels = linear(X), polynomial(X, degree=2), rbf(X, theta=rbf_theta(X, "median"))
    centered = [H @ K @ H for K in kernels]
    return [K / np.trace(K) for K in centered]


def test_two_kernels_that_do_not_overlap_weigh_by_their_agreement_by_hand():
    weights, alignment = align(np.diag([1.0, 4.0]), np.array([3.0, 4.0]))
    assert_allclose(weights, [0.75, 0.25])  # a_k / S_kk = 3 and 1
    assert_allclose(alignment, (0.75 * 3 + 0.25 * 4) / np.sqrt(0.75**2 + 4 * 0.25**2))


def test_a_kernel_that_disagrees_with_the_pairs_gets_nothing():
    weights, _ = align(np.eye(3), np.array([1.0, -5.0, 1.0]))
    assert_allclose(weights, [0.5, 0, 0.5])


@given(st.integers(0, 10_000))
@settings(max_examples=40)
def test_no_other_weights_align_better(seed):
    rng = np.random.RandomState(seed)
    A = rng.randn(3, 5)
    inner, agreements = A @ A.T, rng.randn(3)
    agreements[0] = abs(agreements[0])
    weights, alignment = align(inner, agreements)
    others = rng.dirichlet(np.ones(3), 200)
    lengths = np.sqrt(np.einsum("ij,jk,ik->i", others, inner, others))
    assert_allclose(weights.sum(), 1)
    assert (weights >= 0).all()
    assert (others @ agreements / lengths <= alignment + 1e-9).all()


def test_the_learned_kernel_is_the_weighted_sum_of_the_centered_ones():
    X, answers = iris_with_pairs()
    space = KernelAlignment().fit(X, constraints=answers)
    expected = sum(w * K for w, K in zip(space.weights_, plain_kernels(X)))
    assert_allclose(space.kernel(X), expected, atol=1e-9)
    pairs, signs = answers.signed_pairs()
    T = signs * expected[pairs[:, 0], pairs[:, 1]]
    assert_allclose(
        space.alignment_, T.sum() / (np.linalg.norm(expected) * np.sqrt(len(pairs))), rtol=1e-8
    )


def test_without_pairs_all_kernels_count_alike():
    X = load_iris().X
    space = KernelAlignment().fit(X)
    assert_allclose(space.weights_, 1 / 3)
    assert space.n_answers_used_ == 0
    assert space.alignment_ == 0
    assert_allclose(space.kernel(X), sum(plain_kernels(X)) / 3, atol=1e-9)


def test_on_xor_the_product_of_features_wins_over_the_features():
    data = make_xor(200, random_state=0)
    answers = Constraints.from_labels(data.y, n_must_link=40, n_cannot_link=40, random_state=0)
    names = ("linear", "polynomial")
    weights = KernelAlignment(kernels=names).fit(data.X, constraints=answers).weights_
    assert weights[1] > 0.9


def test_new_rows_and_landmarks_keep_the_law_of_the_kernel():
    X, answers = iris_with_pairs()
    space = KernelAlignment(n_landmarks=50, random_state=0).fit(X, constraints=answers)
    new = X[:7] + 0.1
    Z = space.transform(new)
    assert_allclose(space.kernel(new, X), Z @ space.transform(X).T, atol=1e-12)
    assert_allclose(space.transform(csr_array(new)), Z, atol=1e-9)
    assert space.transform(new.astype(np.float32)).dtype == np.float32


def test_scaling_a_kernel_changes_nothing():
    X, answers = iris_with_pairs()
    plain = KernelAlignment(kernels=("linear", "rbf")).fit(X, constraints=answers)
    scaled = KernelAlignment(kernels=(lambda A, B: 100 * linear(A, B), "rbf"))
    assert_allclose(scaled.fit(X, constraints=answers).weights_, plain.weights_, atol=1e-9)


def test_pairs_no_kernel_agrees_with_are_announced_and_all_count_alike():
    X = np.array([[0.0], [1.0], [10.0], [11.0]])
    wrong = Constraints(4, must_link=[(0, 3), (1, 2)], cannot_link=[(0, 1), (2, 3)])
    with pytest.warns(UserWarning, match="No kernel has must-links more similar"):
        space = KernelAlignment().fit(X, constraints=wrong)
    assert_allclose(space.weights_, 1 / 3)


def test_an_empty_list_of_kernels_is_one_error():
    with pytest.raises(ValueError, match="kernels is empty"):
        KernelAlignment(kernels=()).fit(load_iris().X)


@parametrize_with_checks([KernelAlignment()])
def test_scikit_learns_contract_holds(estimator, check):
    check(estimator)
