"""Spectral reweighting: its closed form, its map, and what must not matter."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.sparse import csr_array
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils.estimator_checks import parametrize_with_checks

from likewise import Constraints, SpectralReweighting, separation_score
from likewise.datasets import make_xor
from likewise.kernel_learning.spectral import mean_sq_differences, weigh_directions
from likewise.kernels import rbf_theta

seeds = st.integers(0, 10_000)


@parametrize_with_checks([SpectralReweighting(random_state=0)])
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


@pytest.fixture
def xor(seed):
    data = make_xor(120, random_state=seed)
    answers = Constraints.from_labels(
        data.y, n_must_link=30, n_cannot_link=30, n_odd_one_out=10, random_state=seed
    )
    return data.X, data.y, answers


def fit(X, answers=None, **given_settings):
    usual = {"n_landmarks": X.shape[0], "random_state": 0}
    return SpectralReweighting(**(usual | given_settings)).fit(X, constraints=answers)


def paper_kernel(X, must_link, cut=1e-3, floor=1e-3):
    """Equations (1) to (4) on the whole kernel matrix, as plainly as they stand."""
    theta = rbf_theta(X)
    H = np.eye(len(X)) - 1 / len(X)
    values, vectors = np.linalg.eigh(H @ rbf_kernel(X, gamma=1 / theta) @ H)
    kept = values > cut * values.max()
    values, vectors = values[kept], vectors[:, kept]
    D = np.zeros(len(values))
    for i, j in must_link:
        D += (vectors[i] - vectors[j]) ** 2 / len(must_link)
    D = np.maximum(D, floor * D.max())
    beta = np.sqrt(values).sum() * (1 / D) / (1 / D).sum()
    return (vectors * beta**2) @ vectors.T


def test_with_every_row_a_landmark_it_is_the_paper_s_basic_method(xor):
    X, _, answers = xor
    must_links = Constraints(len(X), must_link=answers.must_link)
    space = fit(X, must_links, contrast=False, cut=1e-3)
    assert_allclose(space.kernel(X), paper_kernel(X, answers.must_link), atol=1e-6)


def paper_coordinates(x, X_m, must_link, n_passes, n_neighbors=8, cut=1e-3, floor=1e-3):
    """Equations (1) to (4) on the landmarks, and (11) to (14) for a row, again in every pass.

    Local Gram matrices get the ridge that ours have, where footnote 4 has some multiple of I.
    """
    theta = rbf_theta(X_m)
    K = rbf_kernel(X_m, gamma=1 / theta)
    H = np.eye(len(X_m)) - 1 / len(X_m)
    values, vectors = np.linalg.eigh(H @ K @ H)
    kept = values > cut * values.max()
    values, vectors = values[kept], vectors[:, kept]
    D = np.mean([(vectors[i] - vectors[j]) ** 2 for i, j in must_link], axis=0)
    D = np.maximum(D, floor * D.max())
    beta = np.sqrt(values).sum() / D / (1 / D).sum()
    Y = vectors * beta
    own, cross, gram = 1.0, rbf_kernel(x[None], X_m, gamma=1 / theta)[0], K
    for _ in range(n_passes):
        near = np.argsort(own + gram.diagonal() - 2 * cross)[:n_neighbors]
        G = np.array(
            [[own - cross[i] - cross[j] + gram[i, j] for j in near] for i in near]
        )  # (phi(x) - phi(x_i))'(phi(x) - phi(x_j))
        G += (1e-3 * G[0, 0] + 1e-10 * G.trace() / len(G)) * np.eye(len(G))
        w = np.linalg.solve(G, np.ones(len(G)))
        z = (w / w.sum()) @ Y[near]
        own, cross, gram = z @ z, Y @ z, Y @ Y.T  # the next pass is in the learned space
    return z


@pytest.mark.parametrize("n_passes", [1, 3])
def test_over_landmarks_it_is_the_paper_s_method_row_by_row(xor, n_passes):
    X, _, answers = xor
    must_links = Constraints(len(X), must_link=answers.must_link)
    space = fit(X, must_links, contrast=False, cut=1e-3, n_landmarks=70, n_passes=n_passes)
    place = {row: at for at, row in enumerate(space.landmarks_)}
    among = [(place[i], place[j]) for i, j in answers.must_link]
    others = np.setdiff1d(np.arange(len(X)), space.landmarks_)[:20]
    X_m = X[space.landmarks_]
    Z = np.array([paper_coordinates(X[row], X_m, among, n_passes) for row in others])
    ours = space.transform(X[others])
    assert_allclose(ours @ ours.T, Z @ Z.T, rtol=1e-4, atol=1e-4 * np.abs(Z @ Z.T).max())


def test_without_answers_it_is_the_start_centered(xor):
    X = xor[0]
    space = fit(X, cut=0.0)
    theta = rbf_theta(X)
    H = np.eye(len(X)) - 1 / len(X)
    assert_allclose(space.kernel(X), H @ rbf_kernel(X, gamma=1 / theta) @ H, atol=1e-6)
    assert space.n_answers_used_ == 0


@given(seeds)
def test_the_closed_form_is_the_optimum(seed):
    """Stationary: D_r beta_r / e_r is the same in every direction; feasible: sum beta e is kept."""
    rng = np.random.default_rng(seed)
    values, D, e = rng.uniform(0.1, 2, (3, 5))
    beta = weigh_directions(values, D, e, floor=0.0)
    assert_allclose(beta @ e, np.sqrt(values) @ e)
    assert_allclose(D * beta / e, (D * beta / e)[0])
    assert beta**2 @ D <= values @ D + 1e-12


def test_a_general_solver_finds_no_better_weights(seed):
    rng = np.random.default_rng(seed)
    values, D, e = rng.uniform(0.1, 2, (3, 4))
    beta = weigh_directions(values, D, e, floor=0.0)
    found = minimize(
        lambda b: b**2 @ D,
        np.sqrt(values),
        constraints={"type": "eq", "fun": lambda b: (b - np.sqrt(values)) @ e},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert_allclose(found.x, beta, rtol=1e-4)


def test_a_direction_without_any_spread_does_not_take_it_all():
    beta = weigh_directions(np.ones(3), np.array([0.0, 0.5, 1.0]), np.ones(3), floor=0.1)
    assert_allclose(beta, 3 * np.array([10, 2, 1]) / 13)


def test_mean_squared_differences_by_hand():
    A = np.array([[0.0, 1.0], [2.0, 1.0], [2.0, 4.0]])
    pairs, weights = np.array([(0, 1), (1, 2)]), np.array([3.0, 1.0])
    assert_allclose(mean_sq_differences(A, pairs, weights, default=7.0), [3.0, 2.25])
    assert_allclose(mean_sq_differences(A, pairs[:0], weights[:0], default=7.0), [7.0, 7.0])


def test_a_landmark_is_mapped_to_itself_and_nearby_rows_near_it(xor):
    X, _, answers = xor
    space = fit(X, answers, n_landmarks=100)
    own = space.transform(X[space.landmarks_])
    assert_allclose(own, space.map_.coordinates, atol=1e-5)
    near = space.transform(X[space.landmarks_] + 1e-7)
    assert_allclose(near, own, atol=1e-3)


def test_new_rows_obey_the_map_law(xor):
    X, _, answers = xor
    space = fit(X[:100], answers.restrict(np.arange(100)), n_landmarks=60)
    new = X[100:]
    assert_allclose(space.kernel(new, X), space.transform(new) @ space.transform(X).T)


@given(seeds)
@settings(max_examples=8)
def test_the_order_of_answers_and_the_unit_of_the_data_do_not_matter(seed):
    data = make_xor(60, random_state=seed)
    answers = Constraints.from_labels(data.y, n_must_link=10, n_odd_one_out=10, random_state=seed)
    shuffled = answers.subset(np.random.default_rng(seed).permutation(20))
    Z = fit(data.X, answers).transform(data.X)
    assert_allclose(fit(data.X, shuffled).transform(data.X), Z, atol=1e-9)
    assert_allclose(fit(100 * data.X, answers).transform(100 * data.X), Z, atol=1e-6)


def test_the_kernel_times_s_gives_weights_times_root_s(xor):
    X, y, answers = xor
    here = fit(X, answers, start=lambda A, B: rbf_kernel(A, B, gamma=0.3))
    there = fit(X, answers, start=lambda A, B: 9 * rbf_kernel(A, B, gamma=0.3))
    assert_allclose(there.weights_, 3 * here.weights_, rtol=1e-6)
    scores = [separation_score(space.transform(X), y) for space in (here, there)]
    assert_allclose(*scores, rtol=1e-5)


def test_iterating_keeps_the_weights_and_moves_no_landmark(xor):
    X, _, answers = xor
    once = fit(X, answers, n_landmarks=80)
    thrice = fit(X, answers, n_landmarks=80, n_passes=3)
    assert_array_equal(thrice.weights_, once.weights_)
    at = once.landmarks_
    assert_allclose(thrice.transform(X[at]), once.transform(X[at]), atol=1e-4)


def test_must_links_pull_their_rows_together_and_cannot_links_help(xor):
    X, y, answers = xor
    paper = fit(X, Constraints(len(X), must_link=answers.must_link), contrast=False)
    ours = fit(X, answers)
    before, with_must, with_all = (
        separation_score(Z, y) for Z in (X, paper.transform(X), ours.transform(X))
    )
    assert before + 0.5 < with_must < with_all


def test_cannot_links_alone_weigh_directions_by_how_far_they_part():
    data = make_xor(80, random_state=0)
    apart = Constraints.from_labels(data.y, n_cannot_link=40, random_state=0)
    space, start = fit(data.X, apart), fit(data.X)
    Z, Z0 = space.transform(data.X), start.transform(data.X)
    assert separation_score(Z, data.y) > separation_score(Z0, data.y) + 0.02


def test_landmarks_drawn_by_k_means_plus_plus_reach_a_far_group():
    X = np.concatenate([np.random.RandomState(0).normal(size=(200, 2)), [[90.0, 90.0]]])
    spread_out = fit(X, n_landmarks=5, method="k-means++")
    assert 200 in spread_out.landmarks_
    assert 200 not in fit(X, n_landmarks=5).landmarks_


def test_answers_move_the_weights_and_not_the_map_of_the_start(xor):
    X, _, answers = xor
    space, start = fit(X, answers, n_landmarks=80), fit(X, n_landmarks=80)
    near = answers.must_link
    assert space.weights_**2 @ space.spread_ < np.sum(space.eigenvalues_ * space.spread_)
    before, after = start.transform(X), space.transform(X)
    drawn = np.square(after[near[:, 0]] - after[near[:, 1]]).sum()
    assert drawn < np.square(before[near[:, 0]] - before[near[:, 1]]).sum()


def test_what_it_cannot_use_is_counted(xor):
    X, _, answers = xor
    with pytest.warns(UserWarning, match="30 cannot_link and 10 odd_one_out"):
        space = fit(X, answers, contrast=False)
    assert space.n_answers_used_ == 30


def test_weights_of_answers_count(xor):
    X, _, answers = xor
    pairs = answers.must_link[:4]
    heavy = Constraints(len(X), must_link=pairs, weights=[3, 1, 1, 0])
    repeated = Constraints(len(X), must_link=pairs[[0, 0, 0, 1, 2]])
    assert_allclose(fit(X, heavy).weights_, fit(X, repeated).weights_)


def test_more_rows_in_answers_than_landmarks_are_mapped_first(xor):
    X, y, answers = xor
    space = fit(X, answers, n_landmarks=30)
    assert len(space.landmarks_) == 30
    assert separation_score(space.transform(X), y) > separation_score(X, y)


def test_sparse_rows_give_what_dense_ones_give(xor):
    X, _, answers = xor
    dense, sparse = fit(X, answers), fit(csr_array(X), answers)
    assert_allclose(sparse.transform(csr_array(X)), dense.transform(X), atol=1e-7)


@pytest.mark.parametrize(
    "bad",
    [{"start": "diffusion"}, {"n_landmarks": 0}, {"n_passes": 0}, {"cut": 1.0}, {"floor": -0.1}],
)
def test_bad_settings_end_in_one_line(bad):
    (name,) = bad
    with pytest.raises(ValueError, match=name):
        SpectralReweighting(**bad).fit(np.eye(4))


def test_equal_rows_are_no_trouble():
    Z = fit(np.ones((6, 2)), Constraints(6, must_link=[(0, 1)])).transform(np.ones((3, 2)))
    assert_array_equal(Z, np.zeros((3, 1)))
