"""NPK: the kernel, of any form, that follows the data's graph and satisfies the pairs.

    min over Z >= 0   tr(L Z) + C sum over pairs of max(0, 1 - T_ij Z_ij)
    L = (1 + delta) I - D^-1/2 W D^-1/2,    T_ij = 1 for a must-link, -1 for a cannot-link

Only the rows V that pairs refer to matter: with S = inv(inv(L)[V, V]), found by one sparse
elimination, the problem over V with S for L has the same value, and Z on all other rows follows,
Z = F Z_V F' with F = inv(L)[:, V] S. So after the elimination the cost does not depend on the
number of rows. The small problem is solved to a certified gap by interior points.
Reference: hoi2007. We differ from it in the solver: its sequential minimal optimization never
lowers a dual and stalls on the edge of the cone, at a fifth of the optimum on 25 pairs that share
a row and L = I. It is available as solver="smo". We also state delta, which the paper does not,
map new rows, and count a pair in both orders, as its equation (4) does, or once, as its text says.
"""

import warnings

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from likewise.kernel_learning.graph_fit import GraphKernel, fit_on_graph, kernel_of_rows
from likewise.kernel_learning.merged_pairs import MergedPairs
from likewise.kernel_learning.npk_solvers import (
    PairProblem,
    climb_barrier,
    climb_paper,
    solve_exactly,
)
from likewise.maps import by_map
from likewise.numerics.elimination import eliminate

SOLVERS = {"interior-point": 100, "barrier": 3000, "smo": 60}  # and their max_iter by default
COUNTS = {"once": 1, "twice": 2}


class NPK(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Learn a nonparametric kernel from must-link and cannot-link pairs over the data's graph.

    The kernel can have any form and has low rank: what pairs say about a few rows spreads along the
    graph. Use it if the classes follow neighborhoods (spirals, moons, digits), or if all you have
    is a similarity, even an indefinite one. Otherwise use ``SKLR`` or ``ITML``.

    Parameters
    ----------
    affinity : {"euclidean", "precomputed"}, default="euclidean"
        What X is: rows, whose graph joins nearest rows with weight 1, or a symmetric similarity
        of any sign, dense or CSR, whose graph keeps the similarity as weight. Neighbors are the
        most similar rows; degrees sum absolute values, so a negative weight pushes two rows apart
        and L is positive definite for any similarity. ``fit`` does not use the diagonal.
    n_neighbors : int or None, default=5
        Neighbors in the graph, and of a new row. Raising it spreads what pairs say further. None,
        for a precomputed similarity, keeps all of it.
    delta : float, default=0.01
        Smallest eigenvalue of L. Raising it lets the kernel vary more over the graph.
    C : float, default=1.0
        Cost of a pair that misses its margin by 1; an answer of weight w costs C w. Raising it
        follows the pairs more closely; with very small values the kernel is zero.
    count : {"twice", "once"}, default="twice"
        Whether a pair counts as (i, j) and (j, i), or once: the same as C / 2.
    solver : {"interior-point", "barrier", "smo"}, default="interior-point"
        "interior-point" certifies the optimum. "barrier" maximizes the dual one pair at a time,
        which needs little memory and ends near the optimum. "smo" is the paper's, and stalls early.
    tol : float, default=1e-7
        Relative gap between primal and dual value at which "interior-point" stops.
    max_iter : int or None, default=None
        Steps of one interior-point run (100), or sweeps over the pairs (3,000 and 60).
    random_state : int, RandomState instance or None, default=None
        Order of the pairs in every sweep of "smo".

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, rank)
        Rows in the learned space: ``kernel_ = embedding_ @ embedding_.T``.
    kernel_ : ndarray of shape (n_samples, n_samples)
        Computed on access.
    duals_ : ndarray of shape (n_answers,)
        How hard each answer pulls, between 0 and its cost.
    primal_value_, dual_value_ : float
        Value of the kernel, and the dual value, which is a lower bound for every kernel.
    gap_ : float
        ``(primal_value_ - dual_value_) / max(1, dual_value_)``: certified for every solver.
    map_ : NeighborMap
        ``transform`` for any rows.
    violated_ : ndarray of int
        Positions of the pairs whose entry of the kernel has the wrong sign.
    n_iter_ : int
        Interior-point steps, or sweeps.
    n_answers_used_ : int
        Pairs of weight > 0.
    n_features_in_ : int
        Features seen in ``fit``.

    See Also
    --------
    SimpleNPK : A similar kernel in closed form, for large graphs and many pairs.

    References
    ----------
    hoi2007

    Examples
    --------
    >>> from likewise import NPK, Constraints
    >>> from likewise.datasets import make_double_spiral
    >>> spiral = make_double_spiral(random_state=0)
    >>> pairs = Constraints.from_labels(spiral.y, n_must_link=30, n_cannot_link=30, random_state=0)
    >>> npk = NPK().fit(spiral.X, constraints=pairs)
    >>> npk.gap_ <= 1e-7
    True
    """

    def __init__(
        self,
        *,
        affinity="euclidean",
        n_neighbors=5,
        delta=0.01,
        C=1.0,
        count="twice",
        solver="interior-point",
        tol=1e-7,
        max_iter=None,
        random_state=None,
    ):
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.delta = delta
        self.C = C
        self.count = count
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

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
        rows, local = np.unique(merged.pairs, return_inverse=True)
        reduced = eliminate(L, rows)
        scale = COUNTS[self.count] / 2
        costs = scale * self.C * merged.weights
        problem = PairProblem(reduced.inverse, local.reshape(-1, 2), merged.signs, costs)
        max_iter = SOLVERS[self.solver] if self.max_iter is None else self.max_iter
        if self.solver == "smo":
            rng = check_random_state(self.random_state)
            found = climb_paper(problem, tol=self.tol, max_iter=max_iter, rng=rng)
        else:
            solve = solve_exactly if self.solver == "interior-point" else climb_barrier
            found = solve(problem, tol=self.tol, max_iter=max_iter)
        if not found.converged:
            warnings.warn(
                f"NPK stopped at a gap of {found.gap:.1e} with max_iter={max_iter}. Raise max_iter "
                "or tol: what is there is feasible, and no further from the optimum than that.",
                ConvergenceWarning,
            )
        if not found.pull.shape[1]:
            warnings.warn(
                f"At C={self.C:g} the pairs cost less than any kernel: the optimum is zero and "
                "puts all rows in one place. Raise C, or lower delta.",
                UserWarning,
            )
        pull = np.zeros((L.shape[0], max(1, found.pull.shape[1])))
        pull[rows[found.rows], : found.pull.shape[1]] = found.pull
        Y, duals = reduced.solve(pull), found.duals / scale
        return GraphKernel(Y, duals, found.primal, found.dual, found.gap, found.n_iter)

    def _check_settings(self) -> None:
        for name, known in (("solver", SOLVERS), ("count", COUNTS)):
            if getattr(self, name) not in known:
                raise ValueError(
                    f"{name}={getattr(self, name)!r} is unknown. Use one of {', '.join(known)}."
                )
        for name in ("C", "delta", "tol"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name}={getattr(self, name)} must be > 0.")
