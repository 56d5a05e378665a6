import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from likewise import SKLR, Constraints
from likewise.datasets import load_digits, load_iris, load_wine
from likewise.evaluation import ahead_of_first
from likewise.kernel_learning.sklr import C_DEFAULT, C_RIVALS
from likewise.kernel_learning.start_kernels import fit_start
from likewise.kernels import self_tuning_gaussian

STARTS = ("gaussian", "diffusion", "rbf", "linear", "polynomial", "cosine")
seeds = st.integers(0, 10_000)


@pytest.fixture(scope="module")
def wine():
    data = load_wine()
    return (data.X - data.X.mean(axis=0)) / data.X.std(axis=0), data.y


def ari(space, X, y):
    labels = KMeans(len(np.unique(y)), n_init=5, random_state=0).fit_predict(space.transform(X))
    return adjusted_rand_score(y, labels)


@pytest.mark.parametrize("start", STARTS)
def test_without_answers_the_kernel_is_the_start(start, wine):
    X, _ = wine
    space = SKLR(start=start, n_components=1.0).fit(X)
    assert space.n_answers_used_ == 0
    assert_allclose(space.metric_, np.eye(len(space.metric_)))
    if start == "gaussian":
        K0 = self_tuning_gaussian(X)(X, X)
        positive = np.linalg.eigvalsh(K0)
        gap = np.abs(positive[positive < 0]).sum() + 1e-6
        assert np.abs(space.kernel(X) - K0).max() <= gap


@pytest.mark.parametrize("start", STARTS)
def test_the_kernel_is_the_inner_product_of_the_map_on_new_rows(start, wine):
    X, y = wine
    answers = Constraints.from_labels(y[:120], n_odd_one_out=40, random_state=0)
    space = SKLR(start=start, C=0.3, random_state=0).fit(X[:120], constraints=answers)
    new, other = X[100:150], X[140:]
    expected = space.transform(new) @ space.transform(other).T
    assert_allclose(space.kernel(new, other), expected, atol=1e-8)
    assert_allclose(space.kernel(new), space.kernel(new, new), atol=1e-10)


def test_equation_18_adds_what_the_coordinates_leave_out(wine):
    X, y = wine
    answers = Constraints.from_labels(y, n_odd_one_out=40, random_state=0)
    cut = SKLR(C=0.3, n_components=0.8, random_state=0).fit(X, constraints=answers)
    K0 = self_tuning_gaussian(X)(X, X)
    start = fit_start("gaussian", X, n_components=0.8).transform(X)
    learned_change = start @ (cut.metric_ - np.eye(len(cut.metric_))) @ start.T
    assert_allclose(cut.kernel(X, residual=True), K0 + learned_change, atol=1e-8)
    assert np.abs(cut.kernel(X, residual=True) - cut.kernel(X)).max() > 0.05


def test_a_precomputed_kernel_is_the_kernel(wine):
    X, y = wine
    K0 = self_tuning_gaussian(X)(X, X)
    answers = Constraints.from_labels(y, n_odd_one_out=40, random_state=0)
    of_rows = SKLR(C=0.3, random_state=0).fit(X, constraints=answers)
    of_kernel = SKLR(start="precomputed", C=0.3, random_state=0).fit(K0, constraints=answers)
    assert_allclose(of_kernel.kernel(K0), of_rows.kernel(X), atol=1e-6)
    assert_allclose(of_kernel.transform(K0[:5]), of_rows.transform(X[:5]), atol=1e-6)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "hard", "paper"])
def test_every_loss_learns_from_a_few_triples(loss, wine):
    X, y = wine
    answers = Constraints.from_labels(y, n_odd_one_out=60, random_state=0)
    space = SKLR(loss=loss, random_state=0).fit(X, constraints=answers)
    assert ari(space, X, y) > 0.9
    if loss in ("hard", "paper"):
        assert len(space.violated_) == 0


def test_hard_answers_are_all_satisfied_with_duals_on_the_tight_ones(wine):
    X, y = wine
    answers = Constraints.from_labels(y, n_odd_one_out=60, n_undecided=5, random_state=0)
    space = SKLR(loss="hard", tol=1e-7, max_iter=5000, random_state=0).fit(X, constraints=answers)
    assert len(space.violated_) == 0
    assert (space.duals_ >= 0).all()
    Z = space.transform(X)
    a, b, odd = answers.odd_one_out.T
    near = np.square(Z[a] - Z[b]).sum(axis=1)
    slack = np.minimum(np.square(Z[a] - Z[odd]).sum(axis=1), np.square(Z[b] - Z[odd]).sum(axis=1))
    assert (2 * near <= slack * (1 + 1e-4)).all()
    loose = (slack - 2 * near) / slack > 1e-2
    assert_allclose(space.duals_[answers.positions("odd_one_out")][loose], 0, atol=1e-8)


def test_contradictory_answers_warn_when_hard_and_pass_when_soft(wine):
    X, _ = wine
    clash = Constraints(len(X), odd_one_out=[(0, 1, 2), (0, 2, 1), (1, 2, 0)] * 3)
    with pytest.warns(ConvergenceWarning):
        hard = SKLR(loss="hard", random_state=0).fit(X, constraints=clash)
    assert np.isfinite(hard.transform(X)).all()
    soft = SKLR(C=1.0, random_state=0).fit(X, constraints=clash)
    assert np.isfinite(soft.transform(X)).all()


def test_wrong_answers_hurt_hard_more_than_soft(seed):
    data = load_digits()
    rows = np.random.RandomState(seed).permutation(len(data.X))[:400]
    X, y = data.X[rows] / 16, data.y[rows]
    answers = Constraints.from_labels(y, n_odd_one_out=200, noise=0.2, random_state=seed)
    settings_ = {"start": "diffusion", "random_state": seed, "tol": 1e-3}
    none = ari(SKLR(**settings_).fit(X), X, y)
    soft = ari(SKLR(**settings_).fit(X, constraints=answers), X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        hard = ari(SKLR(loss="hard", **settings_).fit(X, constraints=answers), X, y)
    assert soft > none
    assert soft > hard


def test_strength_is_chosen_by_answers_and_not_with_too_few(wine):
    X, y = wine
    few = Constraints.from_labels(y, n_odd_one_out=10, random_state=0)
    assert SKLR(random_state=0).fit(X, constraints=few).C_ == 0.3
    noisy = Constraints.from_labels(y, n_odd_one_out=150, noise=0.3, random_state=0)
    chosen = SKLR(random_state=0).fit(X, constraints=noisy).C_
    assert chosen < 3.0


def test_landmarks_with_all_rows_are_the_full_kernel(wine):
    X, y = wine
    answers = Constraints.from_labels(y, n_odd_one_out=40, random_state=0)
    full = SKLR(C=0.3, random_state=0).fit(X, constraints=answers)
    every = SKLR(C=0.3, n_landmarks=len(X), random_state=0).fit(X, constraints=answers)
    some = SKLR(C=0.3, n_landmarks=120, random_state=0).fit(X, constraints=answers)
    assert_allclose(every.kernel(X), full.kernel(X))
    assert (
        adjusted_rand_score(
            *(KMeans(3, n_init=5, random_state=0).fit_predict(s.transform(X)) for s in (some, full))
        )
        > 0.8
    )


def test_all_kinds_of_answers_count_in_one_fit(wine):
    X, y = wine
    answers = Constraints.from_labels(
        y,
        n_must_link=10,
        n_cannot_link=10,
        n_odd_one_out=10,
        n_closer=10,
        n_undecided=5,
        random_state=0,
    )
    space = SKLR(C=0.3, random_state=0).fit(X, constraints=answers)
    assert space.n_answers_used_ == 45
    for kind in ("must_link", "cannot_link", "odd_one_out", "closer", "undecided"):
        assert space.duals_[answers.positions(kind)].max() > 0


@given(seeds)
@settings(max_examples=5)
def test_multiplying_the_data_changes_nothing_that_is_learned(seed):
    data = load_iris()
    answers = Constraints.from_labels(data.y, n_odd_one_out=20, random_state=seed)
    for start in ("gaussian", "linear"):
        one = SKLR(start=start, C=0.3, random_state=0).fit(data.X, constraints=answers)
        two = SKLR(start=start, C=0.3, random_state=0).fit(16 * data.X, constraints=answers)
        assert_allclose(one.divergence_, two.divergence_, rtol=1e-5)
        assert_allclose(one.duals_, two.duals_, atol=1e-5)


def test_sparse_rows_give_what_dense_rows_give(wine):
    X, y = wine
    X = np.where(np.abs(X) > 1, X, 0)
    answers = Constraints.from_labels(y, n_odd_one_out=30, random_state=0)
    for start in ("linear", "rbf", "gaussian"):
        dense = SKLR(start=start, C=0.3, random_state=0).fit(X, constraints=answers)
        sparse = SKLR(start=start, C=0.3, random_state=0).fit(csr_array(X), constraints=answers)
        assert_allclose(sparse.kernel(csr_array(X)), dense.kernel(X), atol=1e-6)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"loss": "logistic"}, "loss='logistic' is unknown"),
        ({"loss": "softmax"}, "loss='softmax' is unknown"),
        ({"C": 0.0}, "C=0.0 must be > 0"),
        ({"margin": 0.5}, "margin=0.5 must be >= 1"),
        ({"bounds": (2.0, 1.0)}, "bounds=(2.0, 1.0) must be (near, far)"),
        ({"start": "guess"}, "start='guess' is unknown"),
    ],
)
def test_a_wrong_setting_is_one_error_that_says_what_to_use(setting, message):
    with pytest.raises(ValueError) as error:  # noqa: PT011
        SKLR(**setting).fit(load_iris().X)
    assert message in str(error.value)


@parametrize_with_checks([SKLR(), SKLR(start="diffusion"), SKLR(start="linear")])
def test_scikit_learns_contract_holds(estimator, check):
    check(estimator)


# ---- the choice of C


def choose_strength(credits, weights):
    chosen = ahead_of_first(list(C_RIVALS.values()))(credits, weights)
    return (C_DEFAULT, *C_RIVALS)[chosen]


def credits_of(*gains):
    """Credits of the default and, for 1, 3 and 0.1, so many of 100 answers more, none fewer."""
    credits = np.zeros((1 + len(gains), 100))
    for rival, gain in zip(credits[1:], gains):
        rival[:gain] = 1.0
    return credits


@pytest.mark.parametrize(
    ("gains", "C"),
    [
        ((0, 0, 0), 0.3),
        ((2, 0, 0), 1.0),  # 2 +- 1.4 of 100
        ((2, 4, 0), 3.0),
        ((0, 0, 3), 0.3),  # 3 +- 1.7: not beyond doubt
        ((0, 0, 5), 0.1),  # 5 +- 2.2
        ((2, 0, 5), 0.1),
        ((6, 0, 5), 1.0),
    ],
)
def test_more_answers_are_followed_by_a_standard_error_and_given_up_by_two(gains, C):
    assert choose_strength(credits_of(*gains), np.ones(100)) == C


def test_answers_that_weigh_more_say_more_about_C():
    credits = credits_of(0, 0, 0)
    credits[1, :50], credits[1, 50:] = 1.0, -1.0
    weights = np.where(np.arange(100) < 50, 3.0, 1.0)
    assert choose_strength(credits, weights) == 1.0
    assert choose_strength(credits, weights[::-1]) == 0.3


def algorithm_1(X, triples, orders, *, gamma=2.0, tol=1e-4):
    """Algorithm 1 of amid2015, line by line, over n x n matrices: K, and the rank of its start."""
    n = len(X)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    D = np.sqrt(((Z[:, None] - Z) ** 2).sum(axis=2))
    sigma = np.sort(D, axis=1)[:, min(100, n) - 1]  # itself counted, as in the authors' code
    K0 = np.exp(-(D**2) / np.outer(sigma, sigma))
    G, left = np.zeros((n, 0)), K0.copy()
    while np.linalg.norm(G @ G.T) < 0.99 * np.linalg.norm(K0):  # the incomplete Cholesky
        pivot = left.diagonal().argmax()
        G = np.column_stack([G, left[:, pivot] / np.sqrt(left[pivot, pivot])])
        left = K0 - G @ G.T
    K = G @ G.T
    rows = [(i, j, k) for i, j, k in triples] + [(j, i, k) for i, j, k in triples]
    for order in orders:
        moved = False
        for i, j, k in (rows[c] for c in order):
            u, w = np.eye(n)[i] - np.eye(n)[j], np.eye(n)[i] - np.eye(n)[k]
            p, q, r = u @ K @ u, w @ K @ w, u @ K @ w
            if gamma * p - q <= tol * q:
                continue
            moved = True
            alpha = (gamma * p - q) / (2 * gamma * (p * q - r * r))
            B = np.column_stack([K @ u, K @ w])
            core = np.array([[1 / (alpha * gamma) + p, r], [r, q - 1 / alpha]])
            K = K - B @ np.linalg.solve(core, B.T)
        if not moved:
            return K, G.shape[1]
    raise AssertionError("the projections did not end")


def test_algorithm_1_line_by_line_learns_the_same_kernel(wine):
    X, y = wine
    X, y = X[::3], y[::3]
    answers = Constraints.from_labels(y, n_odd_one_out=8, random_state=0)
    printed = SKLR(loss="paper", rank_by="frobenius", factor="cholesky", random_state=0)
    printed.fit(X, constraints=answers)
    drawn = np.random.RandomState(np.random.RandomState(0).randint(2**31 - 1))
    orders = (drawn.permutation(16) for _ in range(500))
    K, rank = algorithm_1(X, answers.odd_one_out, orders)
    assert len(printed.metric_) == rank
    assert rank < len(X) / 3  # few: the erratum on the Frobenius norm
    assert_allclose(printed.kernel(X), K, atol=1e-6)


def test_the_cholesky_start_chooses_its_landmarks_and_forms_nothing_large(wine):
    X, y = wine
    answers = Constraints.from_labels(y, n_odd_one_out=60, random_state=0)
    whole = SKLR(C=1.0, n_components=1.0, random_state=0).fit(X, constraints=answers)
    pivots = SKLR(C=1.0, n_components=0.999, factor="cholesky", random_state=0)
    pivots.fit(X, constraints=answers)
    assert len(pivots.map_.landmarks) < len(X)
    assert_allclose(pivots.kernel(X), whole.kernel(X), atol=0.1)
    few = SKLR(C=1.0, factor="cholesky", n_landmarks=30, random_state=0).fit(X, constraints=answers)
    assert few.map_.landmarks.shape == (30, X.shape[1])
    assert ari(few, X, y) > 0.85
    given = SKLR(start="precomputed", C=1.0, factor="cholesky", n_landmarks=30, random_state=0)
    K0 = self_tuning_gaussian(X)(X, X)
    assert_allclose(given.fit(K0, constraints=answers).kernel(K0), few.kernel(X), atol=1e-6)
