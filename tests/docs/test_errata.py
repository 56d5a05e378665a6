"""Errors in the papers, shown on small numbers; docs/guide/errata.md names the tests."""

import ast
import math
import re

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import linprog

from docs.tools.tables import ROOT
from likewise.datasets import load_digits
from likewise.kernels import laplacian, pivoted_cholesky, self_tuning_gaussian
from likewise.numerics.psd import positive_part

PAGE = (ROOT / "docs" / "guide" / "errata.md").read_text()
NAMED = re.findall(r"`(tests/\S+?\.py)::(test_\w+)`", PAGE)


@pytest.mark.parametrize(("path", "name"), NAMED, ids=lambda part: part.rpartition("/")[2])
def test_a_test_that_the_page_names_is_there(path, name):
    functions = ast.parse((ROOT / path).read_text()).body
    assert name in {one.name for one in functions if isinstance(one, ast.FunctionDef)}


def test_every_erratum_names_a_test_or_is_a_slip_of_the_pen():
    errata = re.split(r"^\*\*", PAGE.partition("## ")[2].partition("## Slips")[0], flags=re.M)[1:]
    assert len(errata) > 10
    assert all("`tests/" in erratum for erratum in errata)


# davis2007, algorithm 1


@pytest.mark.parametrize(("gamma", "is_projection"), [(1.0, True), (0.5, False), (10.0, False)])
def test_the_printed_step_of_itml_is_a_projection_at_gamma_one_alone(gamma, is_projection):
    p, target = 4.0, 1.0  # one must-link, at a squared distance of 4, that should be at most 1

    def after(step):
        new_p = p + step / (1 - step * p) * p**2
        return new_p, gamma * target / (gamma + step * target)

    printed = after(0.5 * (1 / p - gamma / target))
    right = after(gamma / (gamma + 1) * (1 / p - 1 / target))
    assert_allclose(right[0], right[1])  # the pair ends on its target
    assert math.isclose(*printed) == is_projection


# hoi2007, section 2


def test_the_printed_sum_over_edges_is_not_the_trace():
    W = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    degrees = W.sum(axis=1)
    same = np.ones(3)  # all rows in one place: no edge costs anything
    differences = (same[:, None] - same) ** 2
    assert (W / np.sqrt(np.outer(degrees, degrees)) * differences).sum() == 0
    assert same @ laplacian(W, delta=0.0) @ same > 0.1
    at_rest = np.sqrt(degrees)  # what the normalized Laplacian does not charge for
    assert_allclose(at_rest @ laplacian(W, delta=0.0) @ at_rest, 0, atol=1e-12)


def test_the_laplacian_has_full_rank_and_one_pair_makes_rank_two():
    W = np.ones((4, 4)) - np.eye(4)
    assert np.linalg.matrix_rank(laplacian(W, delta=0.01).toarray()) == 4  # not 3
    pair = np.zeros((4, 4))
    pair[0, 1] = pair[1, 0] = 1
    assert np.linalg.matrix_rank(pair) == 2  # not 1
    assert (np.linalg.eigvalsh(pair) > 1e-12).sum() == 1


# amid2015, algorithm 1


def test_the_printed_cut_keeps_few_eigenvectors_and_enough_columns():
    rows = load_digits().X[:600]
    X = (rows - rows.mean(axis=0)) / np.where(rows.std(axis=0) > 0, rows.std(axis=0), 1)
    K = self_tuning_gaussian(X, n_neighbors=99)(X)
    printed = len(positive_part(K, share=0.99, by="frobenius").values)
    by_trace = len(positive_part(K, share=0.99, by="trace").values)
    columns = pivoted_cholesky(
        K.diagonal(), lambda i: K[:, i], share=0.99, by="frobenius", norm=np.linalg.norm(K)
    )
    assert printed < 20 < 150 < len(columns.pivots) < 400 < by_trace


# yeung2007, sections 2 and 3


def test_iterating_the_closed_form_gives_the_same_weights_again():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(12, 12))
    H = np.eye(12) - 1 / 12
    pairs = np.array([(0, 1), (2, 3), (4, 7), (5, 9)])

    def weights(kernel):
        values, vectors = np.linalg.eigh(kernel)
        values, vectors = values[values > 1e-9], vectors[:, values > 1e-9]
        D = ((vectors[pairs[:, 0]] - vectors[pairs[:, 1]]) ** 2).mean(axis=0)
        beta = np.sqrt(values).sum() / D / (1 / D).sum()  # equation (4)
        return beta, (vectors * beta**2) @ vectors.T

    first, learned = weights(H @ A @ A.T @ H)
    second, _ = weights(learned)
    assert_allclose(np.sort(second), np.sort(first), rtol=1e-6)


# randel2021


def test_the_printed_problem_of_mahalanobis_learning_is_not_convex():
    must_links = np.array([[1.0, 0.0], [0.0, 1.0]])

    def total(A):  # of the distances that equation (2) bounds, not squared
        return sum(np.sqrt(v @ A @ v) for v in must_links)

    one, other = np.diag([4.0, 0.0]), np.diag([0.0, 4.0])
    assert total(one) == total(other) == 2
    assert total((one + other) / 2) > 2.8


def test_the_printed_number_of_answers_to_leave_out_is_none():
    assert math.floor(0.7) * 100 == 0
    assert math.floor(0.7 * 100) == 70


def test_the_tighter_cannot_links_of_k_medoids_bound_better():
    n, k = 6, 3
    places = np.random.default_rng(0).normal(size=(n, 2))
    costs = np.linalg.norm(places[:, None] - places, axis=2)

    def bound(is_tight):  # the linear relaxation of (12) to (19): x row by row, then y
        program = medoid_program(costs, k, [(0, 1), (0, 2), (1, 2), (3, 4)], is_tight)
        return linprog(costs.ravel().tolist() + [0.0] * n, **program, method="highs").fun

    assert bound(is_tight=True) > bound(is_tight=False) + 1e-3


def dense(rows, n_columns):
    """Rows of a program, from the few entries that are not 0."""
    A = np.zeros((len(rows), n_columns))
    for at, row in enumerate(rows):
        A[at, list(row)] = list(row.values())
    return A


def medoid_program(costs, k, cannot_links, is_tight):
    n = len(costs)
    x = np.arange(n * n).reshape(n, n)
    y = n * n + np.arange(n)
    upper, at_most = [], []
    for c in range(n):
        for i in range(n):
            upper.append({x[i, c]: 1, y[c]: -1})
            at_most.append(0)
        for i, j in cannot_links:
            upper.append({x[i, c]: 1, x[j, c]: 1, **({y[c]: -1} if is_tight else {})})
            at_most.append(0 if is_tight else 1)
    equal = [dict.fromkeys(x[i], 1) for i in range(n)] + [dict.fromkeys(y, 1)]
    return {
        "A_ub": dense(upper, n * n + n),
        "b_ub": at_most,
        "A_eq": dense(equal, n * n + n),
        "b_eq": [1] * n + [k],
        "bounds": (0, 1),
    }


# rao2013


def test_the_k_means_error_falls_with_a_metric_that_only_shrinks():
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(30, 2)), np.repeat([0, 1, 2], 10)
    means = np.array([X[labels == c].mean(axis=0) for c in range(3)])
    V = X - means[labels]

    def error(A):
        return np.einsum("ij,jk,ik->", V, A, V)

    assert_allclose(error(np.eye(2) / 100), error(np.eye(2)) / 100)  # the same clusters


# xing2002


def test_without_must_links_along_a_direction_the_printed_problem_has_no_optimum():
    must_link, cannot_link = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    for size in (1.0, 1e3, 1e6):
        A = np.diag([1.0, size])
        assert must_link @ A @ must_link <= 1
        assert cannot_link @ A @ cannot_link == size


# zhang2021, the released code


def test_the_released_soft_assignment_has_twice_the_exponent_of_the_printed_one():
    sq_dist, alpha = np.array([0.5, 2.0, 4.0]), 1.0

    def normalized(q):
        return q / q.sum()

    printed = normalized((1 + sq_dist / alpha) ** (-(alpha + 1) / 2))
    released = normalized((1 / (1 + sq_dist / alpha)) ** (alpha + 1) / 2)  # "/ 2" comes last
    assert_allclose(released, normalized((1 + sq_dist) ** -2))
    assert abs(printed - released).max() > 0.1
