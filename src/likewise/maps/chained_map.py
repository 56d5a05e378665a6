"""Maps one after another, and scikit-learn's transformers among them."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from likewise.maps.linear_map import LinearMap
from likewise.maps.map import Map
from likewise.numerics.array_library import is_array_elsewhere, library_of


@dataclass(frozen=True, eq=False)
class ChainedMap(Map):
    """Several maps, each of the coordinates of the one before.

    Attributes
    ----------
    maps : tuple of Map
        At least one, the first for the rows themselves.
    n_directions : int
        How many coordinates a row gets.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.maps import ChainedMap, LinearMap
    >>> twice, less_one = LinearMap(2 * np.eye(1)), LinearMap(center=np.ones(1))
    >>> ChainedMap((twice, less_one)).transform([[3.0]])
    array([[5.]])
    """

    maps: tuple[Map, ...]  # at least one

    @property
    def n_directions(self) -> int:
        return self.maps[-1].n_directions

    def times(self, matrix) -> "ChainedMap":
        """The chain followed by a matrix (n_directions, q)."""
        return replace(self, maps=(*self.maps, LinearMap(matrix)))

    def _coordinates_of(self, X, dtype):
        *before, last = self.maps
        own = X.dtype
        for earlier in before:  # in the type of the rows, so that rows learned from are met again
            X = earlier.apply(X, X.dtype)
            if is_array_elsewhere(X):  # products there take one type, and one map may be in double
                X = library_of(X).astype(X, own, copy=False)
        return last.apply(X, dtype)


@dataclass(frozen=True, eq=False)
class TransformerMap(Map):
    """Any other transformer as a map: it runs where its ``transform`` does, on NumPy's rows.

    Attributes
    ----------
    transformer : estimator
        Fitted, with ``get_feature_names_out``.
    n_directions : int
        How many coordinates a row gets.

    Examples
    --------
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> from likewise.maps import TransformerMap
    >>> TransformerMap(MinMaxScaler().fit([[0.0], [4.0]])).transform([[1.0]])
    array([[0.25]])
    """

    transformer: BaseEstimator  # fitted

    @property
    def n_directions(self) -> int:
        return len(self.transformer.get_feature_names_out())

    def _coordinates_of(self, X, dtype):
        Z = self.transformer.transform(X)
        return Z if issparse(Z) else np.asarray(Z)  # a frame, say


def as_map(transformer) -> Map:
    """A fitted transformer as a map.

    Parameters
    ----------
    transformer : estimator or Map
        Fitted. A learner of this package gives its ``map_``; scikit-learn's StandardScaler, PCA and
        TruncatedSVD become a `LinearMap` and a Pipeline a chain; anything else with ``transform``
        and ``get_feature_names_out`` is wrapped as it is.

    Returns
    -------
    Map

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> from likewise.maps import as_map
    >>> as_map(StandardScaler().fit([[0.0], [4.0]])).transform([[6.0]])
    array([[2.]])
    """
    own = transformer if isinstance(transformer, Map) else getattr(transformer, "map_", None)
    if isinstance(own, Map):
        return own
    kind = type(transformer)
    if kind is Pipeline:
        steps = [step for _, step in transformer.steps if step not in (None, "passthrough")]
        return ChainedMap(tuple(as_map(step) for step in steps))
    if kind is StandardScaler and (transformer.with_mean or transformer.with_std):
        center = transformer.mean_ if transformer.with_mean else None
        return LinearMap(center=center, scale=transformer.scale_)
    if kind is TruncatedSVD:
        return LinearMap(transformer.components_.T)
    if kind is PCA:
        lengths = np.sqrt(transformer.explained_variance_) if transformer.whiten else 1.0
        return LinearMap(transformer.components_.T / lengths, center=transformer.mean_)
    return TransformerMap(transformer)
