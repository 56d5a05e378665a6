"""SimpleNPK: nonparametric kernels of bounded size, in closed form or by a smooth dual.

    min over K >= 0, tr(K^p) <= B   tr(L K) + 2 sum_k loss_k(T_k K_ij)
    linear          loss_k(z) = -c_k z
    hinge           loss_k(z) = c_k max(0, 1 - z)
    squared_hinge   loss_k(z) = c_k / 2 max(0, 1 - z)^2

With A = sum_k a_k T_k E_ij - L, E_ij = e_i e_j' + e_j e_i', and A+ its positive part, the best
kernel for multipliers a is

    K(a) = (B / tr A+^(p / (p - 1)))^(1 / p)  A+^(1 / (p - 1)),      B v v' for p = 1

v the leading eigenvector. A linear loss has a = c: one eigen-decomposition. The others maximize

    J(a) = 2 sum_k (a_k - a_k^2 / (2 c_k)) - B^(1/p) |A+|_(p/(p-1))     over a >= 0
    J(a) = 2 sum_k a_k                     - B^(1/p) |A+|_(p/(p-1))     over 0 <= a <= c

by L-BFGS-B, with the eigenvalue norm |.|; dJ/da_k = 2 (1 - a_k / c_k - T_k K_ij(a)), without the
middle term for the hinge. A is sparse and has no more positive eigenvalues than there are pairs:
as many as it has after elimination of all rows without pairs (Sylvester's law of inertia), so a
Lanczos method computes only these.
Reference: zhuang2011. We differ from it in the solver, and in p = 1 for the linear loss alone:
the others have no smooth dual there, and NPK solves the hinge, whose delta bounds the trace.
"""

import warnings
from typing import NamedTuple

import numpy as np
from scipy import linalg
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning

from likewise.kernel_learning.graph_fit import (
    GraphKernel,
    fit_on_graph,
    kernel_of_rows,
    row_products,
)
from likewise.kernel_learning.merged_pairs import MergedPairs
from likewise.maps import by_map
from likewise.numerics.eigen import eigh
from likewise.numerics.elimination import eliminate, solve_by_gradients
from likewise.numerics.interior_point import SignedPairs
from likewise.numerics.psd import fix_signs
from likewise.numerics.threads import one_thread_if_small

LOSSES = ("linear", "hinge", "squared_hinge")
SMALL = 1500  # rows up to which all eigenvalues are found, densely
COUNTED = 3000  # rows of pairs up to which positive eigenvalues are counted first
LANCZOS_TOL = 1e-9
LEAST_GAIN = 1e-3  # of the dual in a step, where directions are left out and no gap is certified
JUST_ABOVE = 1.2  # times it: the hinges start with few directions, each expensive on a large graph
ABOVE_LEAST = 4.0  # times the least cost that leaves a kernel: good on three sets, 20 to 200 pairs


class SimpleNPK(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Learn a nonparametric kernel of bounded size from pairs, on graphs of any size.

    A variant of ``NPK`` for many rows and many pairs: NPK minimizes the kernel's size, this bounds
    it, and an eigen-solver does the rest. The linear loss takes one decomposition, but keeps
    pulling pairs that are already satisfied; the others stop at the margin and take about twenty,
    so use the linear one beyond 20,000 rows.

    Parameters
    ----------
    loss : {"squared_hinge", "hinge", "linear"}, default="squared_hinge"
        What a pair that misses its margin costs.
    p : float, default=2.0
        The size that is bounded is tr(K^p). Lowering p toward 1 favors few directions; p = 1, for
        the linear loss only, leaves one.
    max_size : float or None, default=None
        B, None for n_samples^((p + 1) / 2), halfway between a kernel of rank one and one of full
        rank. Raising it makes the margin of 1 easier to reach. With a linear loss it is only a
        scale.
    C : float or None, default=None
        Cost of a pair, counted in both orders; an answer of weight w costs C w. None takes 1, or
        with the linear loss, which never stops pulling, 4 times the cost below which the kernel is
        zero. Raising it follows the pairs more closely.
    affinity : {"euclidean", "precomputed"}, default="euclidean"
        As for ``NPK``: X is rows, or a symmetric similarity, dense or CSR.
    n_neighbors : int or None, default=5
        Neighbors in the graph, and of a new row. Raising it spreads what pairs say further.
    delta : float, default=0.01
        Smallest eigenvalue of L. Raising it lowers all eigenvalues of the kernel equally.
    n_components : int, default=60
        Number of leading directions computed if there are more than 1,500 rows; with fewer, all
        are. Raising it comes closer to the optimum and takes longer.
    tol : float, default=1e-6
        Relative gap at which the hinges stop, if all directions are computed.
    max_iter : int, default=200
        Steps of L-BFGS-B.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, rank)
        Rows in the learned space: ``kernel_ = embedding_ @ embedding_.T``.
    kernel_ : ndarray of shape (n_samples, n_samples)
        Computed on access.
    duals_ : ndarray of shape (n_answers,)
        The multiplier of each answer.
    primal_value_, dual_value_ : float
        Value of the kernel, and the dual value, which is a lower bound for every kernel.
    gap_ : float
        ``(primal_value_ - dual_value_) / max(1, |dual_value_|)``: certified; NaN if directions were
        left out.
    map_ : NeighborMap
        ``transform`` for any rows.
    violated_ : ndarray of int
        Positions of the pairs whose entry of the kernel has the wrong sign.
    n_iter_ : int
        Steps made.
    n_answers_used_ : int
        Pairs of weight > 0.
    n_features_in_ : int
        Features seen in ``fit``.

    See Also
    --------
    NPK : The kernel of least size, certified.

    References
    ----------
    zhuang2011

    Examples
    --------
    >>> from likewise import Constraints, SimpleNPK
    >>> from likewise.datasets import make_double_spiral
    >>> spiral = make_double_spiral(random_state=0)
    >>> pairs = Constraints.from_labels(spiral.y, n_must_link=30, n_cannot_link=30, random_state=0)
    >>> SimpleNPK(loss="linear", p=1).fit_transform(spiral.X, constraints=pairs).shape
    (100, 1)
    """

    def __init__(
        self,
        *,
        loss="squared_hinge",
        p=2.0,
        max_size=None,
        C=None,
        affinity="euclidean",
        n_neighbors=5,
        delta=0.01,
        n_components=60,
        tol=1e-6,
        max_iter=200,
    ):
        self.loss = loss
        self.p = p
        self.max_size = max_size
        self.C = C
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.delta = delta
        self.n_components = n_components
        self.tol = tol
        self.max_iter = max_iter

    fit = fit_on_graph
    transform = by_map.transform
    kernel = by_map.kernel
    kernel_ = property(kernel_of_rows)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.affinity == "precomputed"
        return tags

    def _solve(self, L: csr_array, merged: MergedPairs) -> GraphKernel:
        n = L.shape[0]
        over = SignedPairs(merged.pairs, merged.signs, size=n)
        C = 1.0 if self.C is None else self.C
        if self.C is None and self.loss == "linear":
            C = ABOVE_LEAST * least_cost(L, over.matrix(merged.weights))
        problem = BoundedProblem(
            L,
            over,
            C * merged.weights,
            self.loss,
            float(self.p),
            float(n ** ((self.p + 1) / 2) if self.max_size is None else self.max_size),
            self.n_components,
            reduce_to_pairs(L, merged) if n > SMALL else None,
        )
        found = maximize_dual(problem, tol=self.tol, max_iter=self.max_iter)
        if not found.converged:
            warnings.warn(
                f"SimpleNPK stopped at a gap of {found.gap:.1e} with max_iter={self.max_iter}. "
                "Raise max_iter or tol.",
                ConvergenceWarning,
            )
        if not found.Y.any():
            warnings.warn(
                f"At C={C:g} the pairs cost less than any kernel: the optimum is zero and "
                "puts all rows in one place. Raise C, or lower delta.",
                UserWarning,
            )
        return GraphKernel(
            found.Y, found.multipliers, found.primal, found.dual, found.gap, found.n_iter
        )

    def _check_settings(self) -> None:
        if self.loss not in LOSSES:
            raise ValueError(f"loss={self.loss!r} is unknown. Use one of {', '.join(LOSSES)}.")
        if not self.p >= 1 or (self.p == 1 and self.loss != "linear"):
            raise ValueError(
                f"p={self.p} with loss={self.loss!r}: p must be > 1, or 1 with the linear loss. "
                "For a hinge and a bounded trace use NPK."
            )
        for name in ("delta", "tol", "n_components", "C", "max_size"):
            value = getattr(self, name)
            if not (value is None and name in ("C", "max_size")) and not value > 0:
                raise ValueError(f"{name}={value} must be > 0.")


class Reduced(NamedTuple):
    """The same on the rows of pairs, where signs of eigenvalues are cheap to count."""

    schur: np.ndarray  # (v, v), what elimination leaves of L
    over: SignedPairs


class BoundedProblem(NamedTuple):
    L: csr_array  # (n, n)
    over: SignedPairs
    costs: np.ndarray  # (m,), > 0
    loss: str
    p: float
    B: float
    n_components: int
    reduced: Reduced | None = None


class BoundedKernel(NamedTuple):
    Y: np.ndarray  # (n, r): K = Y Y'
    multipliers: np.ndarray  # (m,)
    primal: float
    dual: float
    gap: float  # NaN where directions were left out
    n_iter: int
    converged: bool


@one_thread_if_small(lambda problem, **_: problem.L.shape[0] ** 2)
def maximize_dual(problem: BoundedProblem, *, tol: float, max_iter: int) -> BoundedKernel:
    """The best multipliers, and the kernel they make."""
    costs = problem.costs
    if problem.loss == "linear":
        return kernel_of(problem, costs, 1)
    least = least_cost(problem.L, problem.over.matrix(costs))
    start = costs * min(0.5, JUST_ABOVE * least)
    best = kernel_of(problem, start, 0)
    upper = None if problem.loss == "squared_hinge" else costs

    def value_and_slope(a):
        nonlocal best
        found = kernel_of(problem, a, best.n_iter)
        slack = 1 - margins(problem.over, found.Y)
        slack = slack - a / costs if problem.loss == "squared_hinge" else slack
        if found.dual >= best.dual:
            best = found
        return -found.dual, -2 * slack

    last = -np.inf

    def stop_when_certified(_):
        nonlocal best, last
        best = best._replace(n_iter=best.n_iter + 1)
        if best.gap <= tol or (
            np.isnan(best.gap) and best.dual - last <= LEAST_GAIN * abs(best.dual)
        ):
            raise StopIteration
        last = best.dual

    bounds = [(0, None)] * len(costs) if upper is None else list(zip(np.zeros(len(costs)), upper))
    outcome = minimize(
        value_and_slope,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        callback=stop_when_certified,
        options={"maxiter": max_iter, "maxcor": 20, "ftol": 1e-15, "gtol": 1e-10},
    )
    settled = outcome.nit < max_iter if np.isnan(best.gap) else best.gap <= tol
    return best._replace(n_iter=max(1, best.n_iter), converged=settled)


def kernel_of(problem: BoundedProblem, a: np.ndarray, n_iter: int) -> BoundedKernel:
    """K(a), the values of both sides and their gap."""
    L, over, costs, loss, p, B, n_components, reduced = problem
    n_positive = None if reduced is None else count_positive(reduced, a)
    values, vectors, complete = positive_eigenpairs(over.matrix(a) - L, n_components, n_positive)
    if not len(values):
        Y, norm = np.zeros((L.shape[0], 1)), 0.0
    elif p == 1:
        Y, norm = np.sqrt(B) * vectors[:, :1], values[0]
    else:
        power = p / (p - 1)
        norm = np.power(values, power).sum() ** (1 / power)
        Y = vectors * np.sqrt(B ** (1 / p) * (values / norm) ** (1 / (p - 1)))
    z = margins(over, Y)
    lack = np.maximum(1 - z, 0)
    gain = {"linear": 0.0, "hinge": a.sum(), "squared_hinge": (a - a**2 / (2 * costs)).sum()}
    loss_of = {"linear": -z, "hinge": lack, "squared_hinge": lack**2 / 2}
    dual = float(2 * gain[loss] - B ** (1 / p) * norm)
    primal = float(np.vdot(Y, L @ Y) + 2 * costs @ loss_of[loss])
    gap = (primal - dual) / max(1.0, abs(dual)) if complete else np.nan
    return BoundedKernel(Y, a.copy(), primal, dual, gap, n_iter, converged=True)


def margins(over: SignedPairs, Y: np.ndarray) -> np.ndarray:
    """T_k K_ij (m,) of K = Y Y'."""
    return over.signs * row_products(Y, np.column_stack([over.i, over.j]))


def positive_eigenpairs(
    A: csr_array, k: int, n_positive: int | None = None
) -> tuple[np.ndarray, np.ndarray, bool]:
    """The k largest positive eigenvalues, falling, their vectors (n, .), and whether these are all.

    `n_positive` says how many there are, if it is known; looking for more would be slow.
    """
    n = A.shape[0]
    if n <= max(SMALL, 3 * k):
        values, vectors = eigh(A.toarray(), above=0.0)
        complete = True
    elif n_positive == 0:
        values, vectors, complete = np.empty(0), np.empty((n, 0)), True
    else:
        k = k if n_positive is None else min(k, n_positive)
        start = np.random.default_rng(0).uniform(-1, 1, n)  # fixed: same graph, same kernel
        values, vectors = eigsh(A, k=k, which="LA", v0=start, tol=LANCZOS_TOL)
        complete = bool(values.min() <= 0) or k == n_positive
        values, vectors = values[values > 0], vectors[:, values > 0]
    falling = np.argsort(-values, kind="stable")
    return values[falling], fix_signs(vectors[:, falling]), complete


def reduce_to_pairs(L: csr_array, merged: MergedPairs) -> Reduced | None:
    """The problem on rows with pairs only; None if counting on so many would take too long."""
    rows, local = np.unique(merged.pairs, return_inverse=True)
    if len(rows) > COUNTED:
        return None
    over = SignedPairs(local.reshape(-1, 2), merged.signs, size=len(rows))
    return Reduced(eliminate(L, rows).schur, over)


def count_positive(reduced: Reduced, a: np.ndarray) -> int:
    """How many positive eigenvalues A has."""
    values = linalg.eigvalsh(reduced.over.matrix(a).toarray() - reduced.schur)
    return int(np.count_nonzero(values > 0))


def least_cost(L: csr_array, T: csr_array) -> float:
    """The c at which c T - L gets its first positive eigenvalue: T is (n, n), weighted signs."""
    n = L.shape[0]
    if n <= SMALL:
        return 1 / linalg.eigh(T.toarray(), L.toarray(), subset_by_index=[n - 1, n - 1])[0][0]
    inverse = LinearOperator((n, n), lambda b: solve_by_gradients(L, b.reshape(-1, 1)).ravel())
    start = np.random.default_rng(0).uniform(-1, 1, n)
    return 1 / eigsh(T, k=1, M=L, Minv=inverse, which="LA", v0=start, tol=1e-3)[0][0]
