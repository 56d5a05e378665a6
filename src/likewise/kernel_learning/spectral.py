"""Reweight the eigenvectors of a kernel, in closed form, so that similar rows come close.

    K_beta = sum_r beta_r^2 v_r v_r'       v_r: eigenvectors of the centered kernel of landmarks

    min_beta  sum_r beta_r^2 D_r   s.t.  sum_r beta_r e_r = c        beta_r = c' e_r / D_r

D_r is the mean squared difference of v_r over the pairs that should be near (must-links, the near
pair of a triple), e_r the root mean squared difference over those that should be far (cannot-links,
the far pairs of a triple), in units of any two rows; c keeps the start, beta_r = sqrt(lambda_r),
feasible. Without near pairs beta_r = c' e_r sqrt(lambda_r). All other rows are combinations of
their nearest landmarks (`likewise.maps.LandmarkMap`),

    z(x) = sum_j w_j(x) z_j,   w = argmin |phi(x) - sum_j w_j phi(x_j)|^2   s.t.  sum_j w_j = 1

so apart from one pass over the rows the cost depends on the landmarks alone, and new rows are
mapped in the same way. Answers are soft: each is one term of a mean.
Reference: yeung2007, whose equations use must-links alone: ``contrast=False``, e_r = 1. We differ
from it in e_r; in cutting small eigenvalues and flooring D_r, without which directions of noise are
weighted like signal; in a ridge that vanishes on a landmark, which is then mapped to itself; and in
keeping beta when the map is iterated: its equations give the same beta every time.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state

from likewise.constraints import Constraints, check_constraints, warn_unused
from likewise.evaluation import violated_on_average
from likewise.kernels import choose_landmarks, kernel_function
from likewise.maps import MAX_PASSES, LandmarkMap, by_map
from likewise.numerics.pair_distances import differences, mean_sq_distance
from likewise.numerics.psd import CUTOFF, positive_part

STARTS = ("rbf", "gaussian", "linear", "polynomial", "cosine")


class SpectralReweighting(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Learn a kernel from similar and dissimilar rows in closed form, over landmarks.

    Use it on many rows, or if a fit has to be instant: there is nothing to solve, and new rows take
    the same map. It moves weights between fixed directions, so if the answers do not agree with any
    direction of the start, ``SKLR`` learns more from them. It brings rows of a class closer on
    average, which helps distances more than clusters: for clusters use ``SKLR`` or ``ITML``. It has
    no slack: one wrong pair in ten undoes most of what the others gain.

    Parameters
    ----------
    start : {"rbf", "gaussian", "linear", "polynomial", "cosine"} or callable, default="rbf"
        The kernel to start from. The width of "rbf" is the mean squared distance; narrower kernels
        have many directions that mean nothing.
    n_landmarks : int, default=500
        Rows that represent all others. They include the rows that answers refer to, unless there
        are more of those. Raising it follows the data more closely; time grows with its cube.
    method : {"uniform", "k-means++"}, default="uniform"
        How the other landmarks are drawn; "k-means++" spreads them out.
    contrast : bool, default=True
        Whether to use cannot-links and triples too. The paper's method is False: must-links alone.
    n_neighbors : int, default=8
        Landmarks that a row is a combination of. Raising it smooths.
    cut : float, default=1e-2
        Eigenvalues below this fraction of the largest are left out; unlike ``n_components``
        elsewhere, it is not a share of the spectrum. Raising it keeps fewer directions.
    floor : float, default=1e-3
        Least D_r, as a share of the largest. Raising it keeps weights more even.
    n_passes : int, default=1
        How often the map is computed, at most 100; after the first time, nearest landmarks are
        chosen again in the learned space.
    random_state : int, RandomState instance or None, default=None
        Draws the landmarks.

    Attributes
    ----------
    weights_ : ndarray of shape (n_directions,)
        beta: the learned weight of each direction.
    eigenvalues_ : ndarray of shape (n_directions,)
        Eigenvalues of the start on the landmarks, in descending order; their roots are the weights
        before learning.
    spread_ : ndarray of shape (n_directions,)
        D_r: how far apart near pairs are in each direction.
    landmarks_ : ndarray of int
        Rows of X that are landmarks.
    map_ : LandmarkMap
        Coordinates for any rows.
    violated_ : ndarray of int
        Positions of the answers that the learned space violates: must-links farther apart and
        cannot-links closer than landmarks are on average, triples in the wrong order.
    n_answers_used_ : int
        Answers of weight > 0 of the kinds it uses.
    n_features_in_ : int

    References
    ----------
    yeung2007

    Examples
    --------
    >>> from likewise import Constraints, SpectralReweighting, separation_score
    >>> from likewise.datasets import make_xor
    >>> xor = make_xor(400, random_state=0)
    >>> answers = Constraints.from_labels(xor.y, n_must_link=50, random_state=0)
    >>> space = SpectralReweighting(n_landmarks=200, random_state=0)
    >>> Z = space.fit(xor.X, constraints=answers).transform(xor.X)
    >>> separation_score(Z, xor.y) > separation_score(xor.X, xor.y)
    True
    """

    def __init__(
        self,
        *,
        start="rbf",
        n_landmarks=500,
        method="uniform",
        contrast=True,
        n_neighbors=8,
        cut=1e-2,
        floor=1e-3,
        n_passes=1,
        random_state=None,
    ):
        self.start = start
        self.n_landmarks = n_landmarks
        self.method = method
        self.contrast = contrast
        self.n_neighbors = n_neighbors
        self.cut = cut
        self.floor = floor
        self.n_passes = n_passes
        self.random_state = random_state

    def fit(self, X, y=None, *, constraints=None):
        """Weigh the directions of the start.

        Parameters
        ----------
        X : array-like or CSR of shape (n_samples, n_features)
        y : None
            Ignored; it is here for scikit-learn.
        constraints : Constraints, default=None
            Pairs and triples. Without any, the kernel is the start's.

        Returns
        -------
        self : SpectralReweighting
        """
        self._check_settings()
        X = by_map.validate(self, X, reset=True)
        answers = check_constraints(constraints, n_samples=X.shape[0], y=y)
        kinds = ("must_link", "cannot_link", "odd_one_out", "closer")
        used = kinds if self.contrast else kinds[:1]
        self.n_answers_used_ = warn_unused(self, answers, used=used)
        touched = answers.touched_rows()
        self.landmarks_ = choose_landmarks(
            X,
            self.n_landmarks,
            method=self.method,
            forced=touched if len(touched) <= self.n_landmarks else (),
            random_state=check_random_state(self.random_state),
        )
        start, self.eigenvalues_ = map_by_eigenvectors(
            self.start, X[self.landmarks_], cut=self.cut, n_neighbors=self.n_neighbors
        )
        near, far = named_pairs(answers.restrict(touched), contrast=self.contrast)
        spoken_of = start.transform(X[touched], dtype=np.float64)
        sq_unit = 2 / max(len(self.landmarks_) - 1, 1)  # of any two landmarks, in every direction
        # Without near pairs a spread that gives the start back where nothing is far either.
        as_start = sq_unit / np.sqrt(np.maximum(self.eigenvalues_, np.finfo(float).tiny))
        self.spread_ = mean_sq_differences(spoken_of, *near, default=as_start)
        apart = np.sqrt(mean_sq_differences(spoken_of, *far, default=sq_unit) / sq_unit)
        self.weights_ = np.sqrt(self.eigenvalues_)
        if len(near.pairs) or len(far.pairs):
            self.weights_ = weigh_directions(self.eigenvalues_, self.spread_, apart, self.floor)
        self.map_ = replace(
            start, coordinates=start.coordinates * self.weights_, n_passes=self.n_passes
        )
        sq_mean = mean_sq_distance(self.map_.coordinates)
        self.violated_ = violated_on_average(self.map_, X, answers, sq_mean, used)
        self._n_features_out = self.map_.n_directions
        return self

    transform = by_map.transform
    kernel = by_map.kernel

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _check_settings(self) -> None:
        if not callable(self.start) and self.start not in STARTS:
            raise ValueError(
                f"start={self.start!r} is unknown. Use a callable or one of {', '.join(STARTS)}."
            )
        for name, least in (("n_landmarks", 1), ("n_neighbors", 1)):
            if getattr(self, name) < least:
                raise ValueError(f"{name}={getattr(self, name)} must be at least {least}.")
        if not 1 <= self.n_passes <= MAX_PASSES:
            raise ValueError(f"n_passes={self.n_passes} must be between 1 and {MAX_PASSES}.")
        for name in ("cut", "floor"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(f"{name}={getattr(self, name)} must be in [0, 1[.")


class WeightedPairs(NamedTuple):
    pairs: np.ndarray  # (p, 2)
    weights: np.ndarray  # (p,) > 0


def map_by_eigenvectors(
    start: str | Callable, landmarks, *, cut: float, n_neighbors: int
) -> tuple[LandmarkMap, np.ndarray]:
    """The map to eigenvectors of the landmarks' centered kernel, and its eigenvalues (q,)."""
    kernel = kernel_function(start, landmarks)
    gram = kernel(landmarks, landmarks)
    centered = gram - gram.mean(axis=0)
    centered -= centered.mean(axis=1, keepdims=True)
    part = positive_part(centered, cutoff=max(cut, CUTOFF))
    if not len(part.values):
        part = part._replace(vectors=np.zeros((len(gram), 1)), values=np.zeros(1))
    return LandmarkMap(kernel, landmarks, gram, part.vectors, n_neighbors), part.values


def named_pairs(answers: Constraints, *, contrast: bool) -> tuple[WeightedPairs, WeightedPairs]:
    """Pairs that should be near and pairs that should be far, with the weights of their answers."""

    def keep(pairs, positions):
        weights = answers.weights[positions]
        return WeightedPairs(pairs[weights > 0], weights[weights > 0])

    must, cannot = answers.positions("must_link"), answers.positions("cannot_link")
    if not contrast:
        return keep(answers.must_link, must), keep(answers.cannot_link[:0], cannot[:0])
    smaller, larger, triples = answers.distance_inequalities()
    return (
        keep(np.concatenate([answers.must_link, smaller]), np.concatenate([must, triples])),
        keep(np.concatenate([answers.cannot_link, larger]), np.concatenate([cannot, triples])),
    )


def mean_sq_differences(
    A: np.ndarray, pairs: np.ndarray, weights: np.ndarray, *, default: float | np.ndarray
) -> np.ndarray:
    """Weighted mean over pairs of the squared difference in every direction, (q,)."""
    if not len(pairs):
        return np.full(A.shape[1], default)  # one value, or one a direction
    total = np.zeros(A.shape[1])
    for block, V in differences(A, pairs):
        total += weights[block] @ np.square(V)
    return total / weights.sum()


def weigh_directions(
    eigenvalues: np.ndarray, spread: np.ndarray, apart: np.ndarray, floor: float
) -> np.ndarray:
    """beta (q,), the closed form: c e / D, scaled so that sum beta e is what the start has."""
    spread = np.maximum(spread, max(floor * spread.max(), np.finfo(float).tiny))
    weights = apart / spread
    scale = apart @ np.sqrt(eigenvalues) / max(apart @ weights, np.finfo(float).tiny)
    return scale * weights
