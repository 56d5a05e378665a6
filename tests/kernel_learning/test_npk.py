"""NPK: the reduction, the three solvers, new rows, any similarity."""

import warnings

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from likewise import NPK, Constraints
from likewise.datasets import load_iris, make_double_spiral
from likewise.kernel_learning import npk_solvers
from likewise.kernel_learning.npk_solvers import (
    EDGE,
    FRACTION,
    PairProblem,
    climb_paper,
    solve_exactly,
)
from likewise.kernels import laplacian, neighbor_graph, similarity_graph
from tests.clarabel import solve_by_clarabel


def spiral_with_pairs(n_pairs, n=60, seed=0, noise=0.0):
    data = make_double_spiral(n, random_state=seed)
    return data, Constraints.from_labels(data.y, n_pairs=n_pairs, noise=noise, random_state=seed)


def value_of(L, K, answers, c):
    """The paper's objective over all rows, written plainly; pairs in both orders."""
    pairs, signs = answers.signed_pairs()
    lack = np.maximum(0, 1 - signs * K[pairs[:, 0], pairs[:, 1]])
    return np.sum(L * K) + 2 * c * (answers.weights * lack).sum()


def star(m):
    pairs = np.column_stack([np.zeros(m, dtype=int), np.arange(1, m + 1)])
    return PairProblem(np.eye(m + 1), pairs, np.ones(m), np.full(m, 2.0))


@pytest.mark.parametrize("m", [1, 4, 9, 25])
def test_on_a_star_the_paper_stops_at_one_and_the_optimum_is_the_root(m):
    problem = star(m)
    stalled = climb_paper(problem, tol=1e-7, max_iter=60, rng=np.random.RandomState(0))
    assert_allclose(stalled.dual, 2.0, rtol=0.02)
    assert_allclose(solve_exactly(problem, tol=1e-8, max_iter=50).dual, 2 * np.sqrt(m), rtol=1e-7)


def test_one_must_link_by_hand():
    # a row far from two that are joined: L is known, and the pair joins 0 and 2
    X = np.array([[0.0], [1.0], [100.0], [101.0]])
    answers = Constraints(4, must_link=[(0, 2)])
    npk = NPK(n_neighbors=1, delta=0.5, C=10.0, tol=1e-9).fit(X, constraints=answers)
    # each piece: L = [[1.5, -1], [-1, 1.5]], inverse [[1.2, .8], [.8, 1.2]]; Sigma_02 = 0
    assert_allclose(npk.duals_, 1 / 1.2, rtol=1e-7)
    assert_allclose(npk.primal_value_, 2 / 1.2, rtol=1e-7)
    v = np.array([1, 0.8 / 1.2, 1, 0.8 / 1.2])  # harmonic in the neighbors
    assert npk.embedding_.shape == (4, 1)
    assert_allclose(npk.kernel_, np.outer(v, v), atol=1e-4)


@given(st.integers(0, 10_000), st.sampled_from([1.0, 1e-2, 1e-5]))
@settings(max_examples=25)
def test_a_step_of_the_barrier_is_the_best_there_is(seed, mu):
    rng = np.random.RandomState(seed)
    A = rng.randn(4, 6)
    M = A @ A.T
    H = np.linalg.inv(M)
    E = np.zeros((4, 4))
    E[0, 1] = E[1, 0] = rng.choice([-1, 1])
    step = npk_solvers.barrier_step(H[0, 0], H[1, 1], E[0, 1] * H[0, 1], mu / 2)

    def height(t):
        return 2 * t + mu * np.linalg.slogdet(M - t * E)[1]

    assert np.linalg.eigvalsh(M - step * E)[0] > 0
    nearby = step + 1e-3 * np.array([-1, 1]) * min(abs(step), 0.1)
    inside = [t for t in nearby if np.linalg.eigvalsh(M - t * E)[0] > 0]
    assert all(height(step) >= height(t) - 1e-12 for t in inside)
    moved = H.copy()
    npk_solvers.move_pair(moved, 0, 1, -E[0, 1] * step / 2)
    assert_allclose(moved, np.linalg.inv(M - step / 2 * E), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("count", ["once", "twice"])
def test_the_objective_and_the_gap_are_those_of_the_problem_over_all_rows(count):
    data, answers = spiral_with_pairs(25)
    npk = NPK(C=0.7, count=count).fit(data.X, constraints=answers)
    L = laplacian(neighbor_graph(data.X, 5), delta=0.01).toarray()
    c = 0.7 if count == "twice" else 0.35
    assert_allclose(npk.primal_value_, value_of(L, npk.kernel_, answers, c), rtol=1e-9)
    pairs, signs = answers.signed_pairs()
    M = L.copy()
    halves = npk.duals_ * signs / (1 if count == "twice" else 2)
    np.subtract.at(M, (pairs[:, 0], pairs[:, 1]), halves)
    np.subtract.at(M, (pairs[:, 1], pairs[:, 0]), halves)
    assert np.linalg.eigvalsh(M)[0] > -1e-12
    assert_allclose(npk.dual_value_, npk.duals_.sum() * (2 if count == "twice" else 1), rtol=1e-12)
    assert npk.gap_ <= 1e-7
    assert ((npk.duals_ >= 0) & (npk.duals_ <= 0.7)).all()
    assert np.linalg.norm(M @ npk.kernel_) <= 1e-3 * np.linalg.norm(npk.kernel_)


@given(st.integers(0, 10_000))
@settings(max_examples=10)
def test_solving_over_the_pairs_rows_is_solving_over_all(seed):
    # the reduction: the n x n problem and the p x p problem have one value and one kernel
    data, answers = spiral_with_pairs(8, n=24, seed=seed)
    L = laplacian(neighbor_graph(data.X, 5), delta=0.1).toarray()
    pairs, signs = answers.signed_pairs()
    whole = PairProblem(np.linalg.inv(L), pairs, signs.astype(float), np.ones(len(pairs)))
    found = solve_exactly(whole, tol=1e-8, max_iter=100)
    npk = NPK(delta=0.1, tol=1e-8).fit(data.X, constraints=answers)
    assert_allclose(npk.primal_value_, found.primal, rtol=1e-7)
    Y = whole.G[:, found.rows] @ found.pull
    assert_allclose(npk.kernel_, Y @ Y.T, atol=2e-2)


def test_clarabel_agrees_with_the_exact_solver_to_six_digits_and_the_barrier_comes_near():
    data, answers = spiral_with_pairs(12, n=30)
    L = laplacian(neighbor_graph(data.X, 5), delta=0.1).toarray()
    pairs, signs = answers.signed_pairs()
    Z = cp.Variable(L.shape, PSD=True)
    lack = cp.pos(1 - cp.multiply(signs, Z[pairs[:, 0], pairs[:, 1]]))
    goal = cp.trace(L @ Z) + 2 * cp.sum(lack)
    solved = solve_by_clarabel(cp.Problem(cp.Minimize(goal)))
    value, value_tol = solved.value, solved.value_tol(1e-6)
    npk = NPK(delta=0.1).fit(data.X, constraints=answers)
    assert_allclose([npk.primal_value_, npk.dual_value_], value, rtol=value_tol)
    barrier = NPK(delta=0.1, solver="barrier").fit(data.X, constraints=answers)
    assert (1 - 1e-3) * value <= barrier.dual_value_ <= value * (1 + value_tol)
    assert value * (1 - value_tol) <= barrier.primal_value_ <= 1.05 * value


def test_the_paper_stops_short_on_both_sides_and_says_so():
    data, answers = spiral_with_pairs(40)
    exact = NPK().fit(data.X, constraints=answers)
    paper = NPK(solver="smo", random_state=0).fit(data.X, constraints=answers)
    assert paper.dual_value_ < 0.95 * exact.dual_value_
    assert paper.primal_value_ > 1.05 * exact.primal_value_
    assert paper.gap_ > 0.1
    assert_allclose(
        paper.primal_value_,
        value_of(
            laplacian(neighbor_graph(data.X, 5), delta=0.01).toarray(), paper.kernel_, answers, 1.0
        ),
        rtol=1e-8,
    )


def pair_by_pair(L, pairs, signs, c, orders):
    """Section 3.2 over all rows: Q by (10), with G of (9), one pair after the other.

    As in ours, a step ends just before the edge, and a pair at the edge is passed over.
    """
    M, Q = L.copy(), np.zeros(len(pairs))
    for order in orders:
        for at in order:
            (k, m), t = pairs[at], signs[at]
            M[k, m] = M[m, k] = L[k, m]  # without this pair; all others stay
            rest = np.delete(np.arange(len(L)), [k, m])
            W = M[np.ix_(rest, [k, m])]
            G = W.T @ np.linalg.solve(M[np.ix_(rest, rest)], W)
            mu = np.sqrt((L[k, k] - G[0, 0]) * (L[m, m] - G[1, 1]))
            edge = mu - t * G[0, 1] + t * L[k, m]
            best = min(c, Q[at] + FRACTION * (edge - Q[at]))
            M[k, m] = M[m, k] = L[k, m] - t * best
            if np.linalg.eigvalsh(M)[0] > EDGE:
                Q[at] = best
            M[k, m] = M[m, k] = L[k, m] - t * Q[at]
    return Q


@pytest.mark.parametrize("draw_seed", range(3))
def test_the_paper_s_own_solver_line_by_line_ends_at_the_same_duals(draw_seed):
    data, answers = spiral_with_pairs(8, n=24, seed=draw_seed)
    L = laplacian(neighbor_graph(data.X, 5), delta=0.1).toarray()
    pairs, signs = answers.signed_pairs()
    in_order = np.lexsort(np.sort(pairs, axis=1).T[::-1])  # ours counts pairs by their rows
    drawn = np.random.RandomState(draw_seed)
    orders = [in_order[drawn.permutation(len(pairs))] for _ in range(3)]
    Q = pair_by_pair(L, pairs, signs, 1.0, orders)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # three sweeps
        smo = NPK(solver="smo", delta=0.1, max_iter=3, random_state=draw_seed)
        smo.fit(data.X, constraints=answers)
    assert_allclose(smo.duals_, Q, rtol=1e-4)
    # equation (6): of all Z = U B U' over the null space of M the best, by a general solver
    M = L - np.sum([q * t * ends(i, j, len(L)) for q, t, (i, j) in zip(Q, signs, pairs)], axis=0)
    values, vectors = np.linalg.eigh(M)
    U = vectors[:, values <= max(1e-5 * values[-1], values[0])]
    B = cp.Variable((U.shape[1], U.shape[1]), PSD=True)
    Z = U @ B @ U.T
    lack = cp.pos(1 - cp.multiply(signs, cp.hstack([Z[i, j] for i, j in pairs])))
    best = solve_by_clarabel(cp.Problem(cp.Minimize(cp.trace(L @ Z) + 2 * cp.sum(lack))))
    assert_allclose(smo.primal_value_, best.value, rtol=best.value_tol(1e-3))


def ends(i, j, n):
    E = np.zeros((n, n))
    E[i, j] = E[j, i] = 1.0
    return E


@pytest.mark.parametrize("solver", ["interior-point", "barrier", "smo"])
def test_at_a_tiny_cost_every_pair_pays_it_and_the_zero_kernel_is_announced(solver):
    data, answers = spiral_with_pairs(10)
    npk = NPK(C=1e-4, delta=0.1, solver=solver, random_state=0)
    with pytest.warns(UserWarning, match="cost less than any kernel"):
        npk.fit(data.X, constraints=answers)
    assert_allclose(npk.dual_value_, 2e-4 * 10, rtol=1e-6)
    assert not npk.transform(data.X).any()


@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.5]))
@settings(max_examples=8)
def test_working_sets_find_the_optimum_of_all_pairs(seed, noise):
    data, answers = spiral_with_pairs(60, n=40, seed=seed, noise=noise)
    whole = NPK().fit(data.X, constraints=answers)
    kept = npk_solvers.FEW
    npk_solvers.FEW = 10
    try:
        by_parts = NPK().fit(data.X, constraints=answers)
    finally:
        npk_solvers.FEW = kept
    assert by_parts.gap_ <= 1e-7
    assert_allclose(by_parts.primal_value_, whole.primal_value_, rtol=3e-7)


def test_a_working_set_that_runs_out_of_steps_ends(monkeypatch):
    monkeypatch.setattr(npk_solvers, "FEW", 10)
    data, answers = spiral_with_pairs(60, n=40)
    with pytest.warns(UserWarning, match="stopped at a gap of"):
        npk = NPK(max_iter=2).fit(data.X, constraints=answers)
    assert npk.n_iter_ == 2


@given(st.integers(0, 10_000), st.integers(1, 40))
@settings(max_examples=10)
def test_random_pairs_never_cost_the_kernel_its_definiteness(seed, n_pairs):
    rng = np.random.RandomState(seed)
    X = rng.randn(30, 2)
    draw = rng.randint(0, 30, (n_pairs, 2))
    draw = draw[draw[:, 0] != draw[:, 1]]
    cut = rng.randint(0, len(draw) + 1)
    answers = Constraints(30, must_link=draw[:cut], cannot_link=draw[cut:])
    K = NPK(C=20.0).fit(X, constraints=answers).kernel_
    assert np.isfinite(K).all()
    assert np.linalg.eigvalsh(K)[0] >= -1e-9 * max(1, np.trace(K))


def test_neither_the_order_of_rows_nor_that_of_pairs_matters():
    data, answers = spiral_with_pairs(20, n=40)
    turn = np.random.RandomState(1).permutation(40)
    back = np.argsort(turn)
    moved = Constraints(
        40, must_link=back[answers.must_link][::-1], cannot_link=back[answers.cannot_link][:, ::-1]
    )
    here = NPK(tol=1e-9).fit(data.X, constraints=answers)
    there = NPK(tol=1e-9).fit(data.X[turn], constraints=moved)
    assert_allclose(there.kernel_, here.kernel_[np.ix_(turn, turn)], atol=1e-2)
    assert_allclose(there.primal_value_, here.primal_value_, rtol=1e-8)


def test_a_pair_said_twice_weighs_twice_and_a_weight_of_zero_is_silence():
    data, answers = spiral_with_pairs(15)
    doubled = NPK(C=0.5).fit(data.X, constraints=answers + answers)
    heavier = NPK(C=1.0).fit(data.X, constraints=answers)
    assert_allclose(doubled.primal_value_, heavier.primal_value_, rtol=1e-9)
    assert_allclose(doubled.duals_[:15] + doubled.duals_[15:], heavier.duals_, atol=1e-9)
    pairs, signs = answers.signed_pairs()
    silent = Constraints(
        60,
        must_link=pairs[signs > 0],
        cannot_link=pairs[signs < 0],
        weights=np.zeros(15),
    )
    start = NPK().fit(data.X, constraints=silent)
    assert start.n_answers_used_ == 0
    assert_allclose(start.kernel_, NPK().fit(data.X).kernel_)


def test_without_pairs_the_kernel_is_the_leading_part_of_the_inverse_of_the_laplacian():
    data = make_double_spiral(50, random_state=0)
    L = laplacian(neighbor_graph(data.X, 5), delta=0.01).toarray()
    values, vectors = np.linalg.eigh(L)
    npk = NPK().fit(data.X)
    r = npk.embedding_.shape[1]  # directions along which the graph's adjacency is positive
    assert r == np.count_nonzero(values < 1.01 - 1e-10) < 50
    expected = (vectors[:, :r] / values[:r]) @ vectors[:, :r].T
    assert_allclose(npk.kernel_, expected, atol=1e-8)
    assert npk.gap_ == 0


def test_the_learned_space_clusters_spirals_that_k_means_cannot():
    data, answers = spiral_with_pairs(60, n=100)
    Z = NPK().fit_transform(data.X, constraints=answers)

    def score(space):
        return adjusted_rand_score(data.y, KMeans(2, n_init=5, random_state=0).fit_predict(space))

    assert score(Z) > 0.85 > 0.2 > score(data.X)


def test_new_rows_move_continuously_and_training_rows_stay():
    data, answers = spiral_with_pairs(20)
    npk = NPK().fit(data.X, constraints=answers)
    assert_allclose(npk.transform(data.X), npk.embedding_, atol=1e-12)
    nudge = 1e-7 * np.random.RandomState(0).randn(*data.X.shape)
    assert_allclose(npk.transform(data.X + nudge), npk.embedding_, atol=1e-3)
    new = data.X[:10] + 0.05
    Z = npk.transform(new)
    assert_allclose(npk.kernel(new, data.X), Z @ npk.transform(data.X).T, atol=1e-12)
    assert npk.transform(new.astype(np.float32)).dtype == np.float32
    assert_allclose(npk.transform(csr_array(new)), Z, atol=1e-9)


def edit_distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (x != y))
    return row[-1]


def string_similarity():
    """Words grown from three roots by random edits, and an indefinite similarity among them."""
    rng = np.random.RandomState(0)
    roots = ("mellifluous", "carbuncle", "transept")
    words, y = [], []
    for label, root in enumerate(roots):
        for _ in range(12):
            word = list(root)
            for _ in range(rng.randint(2, 5)):
                word[rng.randint(len(word))] = chr(97 + rng.randint(26))
            words.append("".join(word))
            y.append(label)
    assert len(set(words)) == len(words)
    lengths = [[max(len(a), len(b)) for b in words] for a in words]
    S = 1 - 2 * np.array([[edit_distance(a, b) for b in words] for a in words]) / lengths
    return S, np.array(y)


def test_an_indefinite_similarity_of_strings_is_learned_from_unchanged():
    S, y = string_similarity()
    assert np.linalg.eigvalsh(S)[0] < -0.05
    assert (S < 0).any()
    answers = Constraints.from_labels(y, n_must_link=8, n_cannot_link=8, random_state=0)
    npk = NPK(affinity="precomputed", n_neighbors=None).fit(S, constraints=answers)
    assert npk.gap_ <= 1e-7
    assert_allclose(npk.transform(S), npk.embedding_, atol=1e-7)
    sparse = NPK(affinity="precomputed", n_neighbors=None).fit(csr_array(S), constraints=answers)
    assert_allclose(sparse.kernel_, npk.kernel_, atol=1e-6)
    labels = KMeans(3, n_init=5, random_state=0).fit_predict(npk.embedding_)
    assert adjusted_rand_score(y, labels) > 0.8


@given(st.integers(0, 10_000))
@settings(max_examples=20)
def test_the_laplacian_of_any_symmetric_similarity_is_definite(seed):
    rng = np.random.RandomState(seed)
    n = rng.randint(2, 25)
    S = rng.randn(n, n) * (rng.rand(n, n) < rng.rand())
    S = S + S.T
    k = rng.choice([None, 1, 3])
    L = laplacian(similarity_graph(S, k), delta=0.01).toarray()
    assert np.linalg.eigvalsh(L)[0] >= 0.01 - 1e-12


def test_new_rows_of_a_similarity_without_a_diagonal_are_refused_by_name():
    S, y = string_similarity()
    np.fill_diagonal(S, 0)
    answers = Constraints.from_labels(y, n_must_link=5, random_state=0)
    npk = NPK(affinity="precomputed").fit(S, constraints=answers)
    with pytest.raises(ValueError, match=r"S\[0, 0\] = 0"):
        npk.transform(S)


def test_running_out_of_steps_is_a_warning_with_the_gap():
    data, answers = spiral_with_pairs(20)
    with pytest.warns(UserWarning, match="stopped at a gap of"):
        npk = NPK(max_iter=2).fit(data.X, constraints=answers)
    assert npk.gap_ > 1e-7


def test_answers_it_cannot_use_are_counted():
    X = load_iris().X
    with pytest.warns(UserWarning, match="cannot use 1 closer"):
        NPK().fit(X, constraints=Constraints(len(X), closer=[(0, 1, 2)]))


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"C": 0}, "C=0 must be > 0"),
        ({"delta": -1}, "delta=-1 must be > 0"),
        ({"tol": 0}, "tol=0 must be > 0"),
        ({"solver": "sdp"}, "solver='sdp' is unknown"),
        ({"count": "thrice"}, "count='thrice' is unknown"),
        ({"affinity": "cosine"}, "affinity='cosine' must be"),
        ({"n_neighbors": None}, "n_neighbors=None keeps every entry"),
    ],
)
def test_a_wrong_setting_is_one_error(setting, message):
    with pytest.raises(ValueError, match=message):
        NPK(**setting).fit(load_iris().X)


def test_a_clone_learns_the_same():
    data, answers = spiral_with_pairs(20)
    npk = NPK(solver="smo", random_state=3)
    first = npk.fit(data.X, constraints=answers).kernel_
    assert_allclose(clone(npk).fit(data.X, constraints=answers).kernel_, first)


@parametrize_with_checks([NPK(), NPK(affinity="precomputed")])
def test_scikit_learns_contract_holds(estimator, check):
    check(estimator)
