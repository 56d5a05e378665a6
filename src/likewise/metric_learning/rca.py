"""RCA: whiten the scatter that must-linked rows show around their own means.

    C = sum_j w_j sum_{i in chunklet j} (x_i - m_j)(x_i - m_j)'  /  sum_j w_j n_j,    M = inv(C)

A chunklet is a connected component of the must-links, of at least two rows, with mean m_j and n_j
rows. What varies inside chunklets is irrelevant, according to the user, and M shrinks it to unit
size. There is no iteration: one eigendecomposition gives M and its root.

Reference: barhillel2005. We differ from it in shrinking C towards a multiple of the identity, so
that constant features, and directions that no chunklet covers, never divide by zero, and in the
weights.
"""

import warnings

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from likewise.constraints import Constraints, check_constraints, warn_unused
from likewise.evaluation import violated_on_average
from likewise.maps import LinearMap, by_map
from likewise.metric_learning.shrinkage import check_shrinkage, shrink
from likewise.numerics.eigen import eigh
from likewise.numerics.pair_distances import mean_sq_distance
from likewise.numerics.partitions import cluster_means


class RCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Learn a Mahalanobis metric from must-links alone, in closed form.

    The fastest of the metric learners, and strong if the must-links are right: they are joined
    into chunklets, so one wrong must-link merges two of them.

    Parameters
    ----------
    shrinkage : "auto" or float in (0, 1], default="auto"
        How far the scatter C moves towards ``tr(C) / n_features`` times the identity. Raising it
        relies less on the few rows seen; 1 gives the Euclidean metric up to scale. "auto"
        estimates the best share: large for few must-links, near 0 for many.

    Attributes
    ----------
    metric_ : ndarray of shape (n_features, n_features)
        M, the inverse of the shrunk scatter. The identity without must-links.
    map_ : LinearMap
        ``transform`` for any rows: ``X @ map_.matrix``, the symmetric root of ``metric_``.
    n_chunklets_ : int
    violated_ : ndarray of int
        Positions of the must-links farther apart, under the learned metric, than rows are on
        average.
    n_answers_used_ : int
        Must-links of weight > 0.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)

    Notes
    -----
    A must-link of weight 0 joins nothing; a chunklet's weight is the mean weight of the must-links
    inside it. Equal weights, and repeats, change nothing. Multiplying X by a number divides
    ``map_.matrix`` by it: ``transform`` gives the same rows.

    References
    ----------
    barhillel2005, chen2010

    Examples
    --------
    >>> from likewise.constraints import Constraints
    >>> from likewise.metric_learning.rca import RCA
    >>> X = [[0, 0], [0, 2], [1, 0], [1, 2]]  # the second feature varies inside the chunklets
    >>> c = Constraints(4, must_link=[(0, 1), (2, 3)])
    >>> RCA(shrinkage=0.5).fit(X, constraints=c).metric_.round(3)
    array([[4.   , 0.   ],
           [0.   , 1.333]])
    """

    def __init__(self, *, shrinkage="auto"):
        self.shrinkage = shrinkage

    def fit(self, X, y=None, *, constraints=None):
        """Learn the metric.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : None
            Ignored.
        constraints : Constraints, default=None
            Must-links about the rows of X. None keeps the identity.

        Returns
        -------
        self : RCA
        """
        X = by_map.validate(self, X, reset=True)
        constraints = check_constraints(constraints, n_samples=len(X), y=y)
        check_shrinkage(self.shrinkage)
        self.n_answers_used_ = warn_unused(self, constraints, used=("must_link",))
        rows, chunklets, weights = find_chunklets(constraints)
        scatter, n_effective = chunklet_scatter(X[rows].astype(np.float64), chunklets, weights)
        self.n_chunklets_ = len(weights)
        if np.trace(scatter) > 0:
            self.metric_, root = whiten(shrink(scatter, self.shrinkage, n_effective))
        else:
            if self.n_answers_used_:
                warnings.warn(
                    "RCA keeps the identity: no must-link of weight > 0 joins rows that differ."
                )
            self.metric_, root = np.eye(X.shape[1]), np.eye(X.shape[1])
        self.map_ = LinearMap(root.T)
        sq_mean = mean_sq_distance(self.map_.transform(X))
        self.violated_ = violated_on_average(self.map_, X, constraints, sq_mean, ("must_link",))
        self._n_features_out = self.map_.n_directions
        return self

    transform = by_map.transform


def find_chunklets(constraints: Constraints) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Must-linked rows (p,), the chunklet (p,) of each, and the weight of each chunklet (q,)."""
    kept = constraints.subset(constraints.weights > 0)
    closure = kept.closure()
    rows = np.flatnonzero(closure.sizes[closure.components] > 1)
    chunklets = np.unique(closure.components[rows], return_inverse=True)[1]
    chunklet_of_row = np.zeros(kept.n_samples, dtype=np.int64)
    chunklet_of_row[rows] = chunklets
    of_link = chunklet_of_row[kept.must_link[:, 0]]
    link_weights = kept.weights[kept.positions("must_link")]
    return rows, chunklets, np.bincount(of_link, weights=link_weights) / np.bincount(of_link)


def chunklet_scatter(
    X: np.ndarray, chunklets: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, float]:
    """C (d, d) of rows (p, d) around their chunklets' means, and its degrees of freedom."""
    _, first = np.unique(chunklets, return_index=True)
    X = X - X[first[chunklets]]  # exactly zero for equal rows, which a rounded mean would not give
    X -= cluster_means(X, chunklets, len(weights))[chunklets]
    sizes = np.bincount(chunklets, minlength=len(weights))
    if not len(X):
        return np.zeros((X.shape[1], X.shape[1])), 0.0
    C = (X.T * weights[chunklets]) @ X / (weights @ sizes)
    return C, float((weights @ (sizes - 1)) ** 2 / (weights**2 @ (sizes - 1)))


def whiten(C: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The inverse of C (d, d) > 0 and the symmetric root of that inverse."""
    variances, directions = eigh(C)
    metric = (directions / variances) @ directions.T
    return (metric + metric.T) / 2, (directions / np.sqrt(variances)) @ directions.T
