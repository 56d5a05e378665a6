"""KernelAlignment: the mix of a few kernels that agrees best with the pairs.

    K = sum_k mu_k K_k,     mu = argmin over mu >= 0 of  mu' S mu - 2 a' mu
    a_k = sum over pairs of T_ij (K_k)_ij,    S_kl = <K_k, K_l>

Every K_k is first centered and scaled to trace 1. Up to scale, the minimum has the largest
alignment a' mu / sqrt(mu' S mu) with the pairs of all nonnegative mixes; it is a nonnegative
least-squares problem with one unknown per kernel. At the end mu is scaled to sum 1.
Reference: cristianini2001 and lanckriet2004, as the baseline MPK of hoi2007, which names linear,
polynomial and RBF kernels but no degree and no width: we take 2 and the median distance.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from likewise.constraints import check_constraints, warn_unused
from likewise.evaluation import violated_on_average
from likewise.kernel_learning.merged_pairs import MergedPairs, merge_pairs
from likewise.kernel_learning.start_kernels import ALL_ROWS, N_LANDMARKS
from likewise.kernels import choose_landmarks, kernel_function
from likewise.maps import ChainedMap, LinearMap, by_map, nystrom_map
from likewise.numerics.eigen import eigh
from likewise.numerics.pair_distances import mean_sq_distance
from likewise.numerics.psd import CUTOFF

SETTINGS: dict[str, dict] = {"polynomial": {"degree": 2}, "rbf": {"bandwidth": "median"}}


class KernelAlignment(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Learn weights for a few kernels from must-link and cannot-link pairs.

    It learns only a handful of weights: a few pairs are enough, and more do not make it better.
    If the right kernel is not a mix of the given ones, use ``SKLR`` or ``NPK``.

    Parameters
    ----------
    kernels : sequence of str or callable, default=("linear", "polynomial", "rbf")
        Kernels to mix, by name ("linear", "polynomial" of degree 2, "rbf" with the median distance
        as its width, "gaussian", "cosine") or as functions of two sets of rows.
    n_landmarks : int or None, default=None
        Rows that represent all others; None takes all rows up to 2,000, and 1,000 if there are
        more. Raising it comes closer to the full kernels.
    random_state : int, RandomState instance or None, default=None
        Draws the landmarks.

    Attributes
    ----------
    weights_ : ndarray of shape (n_kernels,)
        The weight of each kernel; they sum to 1.
    alignment_ : float
        Cosine between the mix and the pairs, 0 without pairs.
    map_ : ChainedMap
        ``transform`` for any rows: through the landmarks, then centered at their mean.
    violated_ : ndarray of int
        Positions of the must-links farther apart and the cannot-links closer than landmarks are on
        average.
    n_answers_used_ : int
        Pairs of weight > 0.
    n_features_in_ : int
        Features seen in ``fit``.

    References
    ----------
    cristianini2001, lanckriet2004, hoi2007

    Examples
    --------
    >>> from likewise import Constraints, KernelAlignment
    >>> from likewise.datasets import load_iris
    >>> iris = load_iris()
    >>> pairs = Constraints.from_labels(iris.y, n_must_link=30, n_cannot_link=30, random_state=0)
    >>> KernelAlignment().fit(iris.X, constraints=pairs).weights_.round(2)
    array([0., 0., 1.])
    """

    def __init__(
        self,
        *,
        kernels=("linear", "polynomial", "rbf"),
        n_landmarks=None,
        random_state=None,
    ):
        self.kernels = kernels
        self.n_landmarks = n_landmarks
        self.random_state = random_state

    def fit(self, X, y=None, *, constraints=None):
        """Learn the weights.

        Parameters
        ----------
        X : array-like or CSR of shape (n_samples, n_features)
        y : None
            Ignored; it is here for scikit-learn.
        constraints : Constraints, default=None
            Its must-links and cannot-links are used. Without any, all kernels count equally.

        Returns
        -------
        self : KernelAlignment
        """
        X = by_map.validate(self, X, reset=True)
        answers = check_constraints(constraints, n_samples=X.shape[0], y=y)
        warn_unused(self, answers, used=("must_link", "cannot_link"))
        merged = merge_pairs(answers)
        self.n_answers_used_ = len(merged.answers)
        if not len(self.kernels):
            raise ValueError("kernels is empty. Name at least one, as 'rbf'.")
        landmarks = X[self._landmarks(X, answers.touched_rows())]
        kernels = tuple(named_kernel(kernel, landmarks) for kernel in self.kernels)
        means, grams = zip(*(center_gram(kernel(landmarks)) for kernel in kernels))
        traces = np.array([np.trace(gram) for gram in grams])
        for i in np.flatnonzero(~np.isfinite(traces))[:1]:
            raise ValueError(
                f"kernels[{i}] = {self.kernels[i]!r} has values on these rows that are not finite. "
                "Standardize X, or name another kernel."
            )
        scales = np.divide(
            1.0, traces, out=np.ones(len(traces)), where=traces > 0
        )  # 0: all rows equal
        grams = [gram * scale for gram, scale in zip(grams, scales)]  # first: squares may overflow
        inner = np.array([[np.vdot(one, other) for other in grams] for one in grams])
        agreements = scales * [
            pair_agreement(kernel, X, landmarks, mean, merged)
            for kernel, mean in zip(kernels, means)
        ]
        self.weights_, self.alignment_ = align(inner, agreements)
        if self.n_answers_used_:
            self.alignment_ /= np.sqrt(np.square(merged.weights).sum())
            if not (agreements > 0).any():
                warnings.warn(
                    "No kernel has must-links more similar than cannot-links; all count equally. "
                    "Name other kernels, or use NPK.",
                    UserWarning,
                )
        mixed = nystrom_map(
            WeightedKernels(kernels, tuple((self.weights_ * scales).tolist())), landmarks
        )
        Z = mixed.transform(landmarks, dtype=np.float64)
        self.map_ = ChainedMap((mixed, LinearMap(center=Z.mean(axis=0))))
        self.violated_ = violated_on_average(
            self.map_, X, answers, mean_sq_distance(Z), ("must_link", "cannot_link")
        )
        self._n_features_out = self.map_.n_directions
        return self

    transform = by_map.transform
    kernel = by_map.kernel

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _landmarks(self, X, touched: np.ndarray) -> np.ndarray:
        n = X.shape[0]
        n_landmarks = self.n_landmarks or (n if n <= ALL_ROWS else N_LANDMARKS)
        if n_landmarks >= n:
            return np.arange(n)
        forced = touched if len(touched) <= n_landmarks / 2 else ()
        return choose_landmarks(X, n_landmarks, forced=forced, random_state=self.random_state)


@dataclass(frozen=True, eq=False)
class WeightedKernels:
    """A weighted sum of kernels, itself a kernel."""

    kernels: tuple  # of k(X, Y) -> (n, m)
    weights: tuple[float, ...]  # numbers, which go with rows of any library and device

    def __call__(self, X, Y=None):
        used = [(w, kernel) for w, kernel in zip(self.weights, self.kernels) if w]
        return sum(w * kernel(X, Y) for w, kernel in used)


def named_kernel(kernel, X) -> Callable:
    """A kernel by name, with the baseline's settings, or a function unchanged."""
    settings = SETTINGS.get(kernel, {}) if isinstance(kernel, str) else {}
    return kernel_function(kernel, X, **settings)


def center_gram(K: np.ndarray) -> tuple[float, np.ndarray]:
    """The mean of K (n, n), and K about the mean row: H K H with H = I - 11'/n."""
    means = K.mean(axis=0)
    return float(means.mean()), K - means - means[:, None] + means.mean()


def pair_agreement(kernel: Callable, X, landmarks, mean: float, merged: MergedPairs) -> float:
    """Sum over the pairs of weight times sign times the kernel, centered on the landmarks."""
    if not len(merged.pairs):
        return 0.0
    touched, local = np.unique(merged.pairs, return_inverse=True)
    i, j = local.reshape(-1, 2).T
    rows = X[touched]
    row_means = kernel(rows, landmarks).mean(axis=1)
    centered = kernel(rows)[i, j] - row_means[i] - row_means[j] + mean
    return float((merged.weights * merged.signs) @ centered)


def align(inner: np.ndarray, agreements: np.ndarray) -> tuple[np.ndarray, float]:
    """Weights (k,) >= 0 of sum 1 with the largest agreement for their length, and the agreement.

    If no kernel agrees with the pairs, all have the same weight.
    """
    uniform = np.full(len(agreements), 1 / len(agreements))
    values, vectors = eigh(inner)
    kept = values > CUTOFF * values[-1]
    if not kept.any():
        return uniform, 0.0
    root = np.sqrt(values[kept])
    weights, _ = nnls(vectors[:, kept].T * root[:, None], vectors[:, kept].T @ agreements / root)
    weights = weights / weights.sum() if weights.any() else uniform
    return weights, float(weights @ agreements / np.sqrt(weights @ inner @ weights))
