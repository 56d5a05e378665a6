"""What a report shows of a fitted model, as arrays: maps, typical rows, distinctive features.

Nothing here depends on HTML or matplotlib; the page and the figures both use it. However many
rows X has, only a sample of them is used, so a report takes seconds.
"""

import copy
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array
from sklearn.utils.validation import _num_samples

from likewise.numerics.rows import sample_rows
from likewise.selection import take_rows

MAX_ROWS = 20_000  # the typical rows of a sample of this size are as typical as any
MAX_POINTS = 3_000  # on a map: more would only cover each other
SEED = 0  # of the sample: the same model gives the same report


class View(NamedTuple):
    """The rows looked at, m of them, and the p of these that are on the maps."""

    rows: np.ndarray  # (m,) row numbers in X, ascending
    features: Any  # (m, d) their values, an array or CSR
    feature_names: list[str]  # (d,)
    Z: np.ndarray  # (m, r) their places in the learned space
    labels: np.ndarray  # (m,)
    sq_dists: np.ndarray  # (m,) to the center of their own cluster
    points: np.ndarray  # (p,) positions among `rows`
    labels_before: np.ndarray  # (p,) named after the clusters of today they resemble
    map_before: np.ndarray  # (p, 2)
    map_after: np.ndarray  # (p, 2)


def check_model(model, X=None):
    """The report of a fitted model; an error for another estimator, no fit, or other rows."""
    if not hasattr(model, "report_"):
        name, way_out = type(model).__name__, "Fit one to the same rows and answers."
        if name == "GuidedClustering":
            raise NotFittedError("This GuidedClustering is not fitted yet. Call fit first.")
        if isinstance(model, Pipeline) and hasattr(model[-1], "report_"):
            way_out = "Pass its last step, model[-1], and the rows it saw: model[:-1].transform(X)."
        raise TypeError(f"A report needs a fitted GuidedClustering, not a {name}. {way_out}")
    n_fitted = model.report_.n_rows
    if X is not None and _num_samples(X) != n_fitted:
        raise ValueError(
            f"X has {_num_samples(X)} rows, but the model was fitted to {n_fitted}. "
            "Pass the rows it was fitted to."
        )
    return model.report_


class Seen(NamedTuple):
    """A model and rows as numbers, whatever it was fitted to."""

    model: Any
    X: Any  # (n, d)
    readable: np.ndarray | None  # (n, d) the same in the units of a table
    names: list[str] | None  # (d,) where the numbers have names of their own


def as_seen(model, X) -> Seen:
    """The rows of a table as the numbers that the model made of them; others as they are."""
    features = getattr(model, "features_", None)
    if features is None:
        return Seen(model, X, None, None)
    model = copy.copy(model)
    model.features_ = None
    readable = features.readable(X) if hasattr(features, "readable") else None
    has_names = hasattr(features, "get_feature_names_out")
    names = list(features.get_feature_names_out()) if has_names else None
    return Seen(model, features.transform(X), readable, names)


def look(model, X, *, wanted=(), feature_names=None, readable=None) -> View:
    """Take a sample of rows, always with those that are `wanted`, and flatten both spaces.

    `readable` has the columns of X in units that people read.
    """
    report = check_model(model, X)
    wanted = np.unique(np.asarray(wanted, dtype=int))
    rows = sample_rows(report.n_rows, MAX_ROWS, wanted, SEED)
    points = sample_rows(len(rows), MAX_POINTS, np.searchsorted(rows, wanted), SEED)
    chosen = take_rows(X, rows)
    Z = np.asarray(model.transform(chosen))
    labels = np.asarray(model.labels_)[rows]
    features = as_numbers(chosen)
    names = rename(np.asarray(report.labels_before), np.asarray(model.labels_))
    return View(
        rows=rows,
        features=features if readable is None else readable[rows],
        feature_names=name_features(X, features.shape[1], feature_names),
        Z=Z,
        labels=labels,
        sq_dists=((Z - model.cluster_centers_[labels]) ** 2).sum(axis=1),
        points=points,
        labels_before=names[rows[points]],
        map_before=flatten(start_space(model, features[points])),
        map_after=flatten(Z[points]),
    )


def as_numbers(X):
    """Rows as a float array or CSR."""
    return check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32])


def start_space(model, X):
    """Rows as they were before any answer: features, standardized where the model does so."""
    X = as_numbers(X)
    return X if model.scaler_ is None else model.scaler_.transform(X)


def name_features(X, n_features: int, names=None) -> list[str]:
    """The given names, those of a dataframe's columns, or "feature 0"."""
    if names is None:
        names = getattr(X, "columns", [f"feature {j}" for j in range(n_features)])
    if len(names) != n_features:
        raise ValueError(f"feature_names has {len(names)} names, but X has {n_features} columns.")
    return [str(name) for name in names]


def flatten(Z) -> np.ndarray:
    """The two directions in which the rows differ most, (n, 2)."""
    n_axes = min(2, *Z.shape)
    flat = np.zeros((Z.shape[0], 2))
    if sparse.issparse(Z) and n_axes < min(Z.shape):  # what arpack asks for
        flat[:, :n_axes] = PCA(n_axes, svd_solver="arpack", random_state=SEED).fit_transform(Z)
    elif Z.shape[0] > 1:
        Z = Z.toarray() if sparse.issparse(Z) else Z
        flat[:, :n_axes] = PCA(n_axes, random_state=SEED).fit_transform(Z)
    return flat


def rename(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """`before` with the names that make it agree with `after` on the most rows.

    Clusters that are left over, because there were more of them before, get the next free names.
    """
    codes = np.unique(np.concatenate([before, after]))
    i, j = np.searchsorted(codes, before), np.searchsorted(codes, after)
    shared = np.zeros((len(codes), len(codes)), dtype=int)
    np.add.at(shared, (i, j), 1)
    _, new = linear_sum_assignment(-shared)
    return codes[new][i]


def typical_rows(view: View, cluster: int, n_rows: int) -> np.ndarray:
    """Row numbers nearest to the center of a cluster, the nearest first."""
    members = np.flatnonzero(view.labels == cluster)
    order = np.argsort(view.sq_dists[members], kind="stable")
    return view.rows[members[order[:n_rows]]]


class Standouts(NamedTuple):
    """The columns in which a cluster differs most from the rest, the most distinctive first."""

    columns: np.ndarray  # (s,) positions of the features
    means: np.ndarray  # (s,) in the cluster
    overall: np.ndarray  # (s,) in all rows


def standouts(view: View, cluster: int, n_features: int) -> Standouts:
    """Features whose mean in the cluster is far from the mean of all, in standard deviations."""
    features = view.features
    members = features[view.labels == cluster]
    overall, means = _column_means(features), _column_means(members)
    squares = features.multiply(features) if sparse.issparse(features) else features**2
    deviations = np.sqrt(np.maximum(_column_means(squares) - overall**2, 0))
    moved = np.abs(means - overall) / np.where(deviations > 0, deviations, np.inf)
    columns = np.argsort(-moved, kind="stable")[:n_features]
    columns = columns[moved[columns] > 0]
    return Standouts(columns, means[columns], overall[columns])


def values_of(view: View, row: int, columns: np.ndarray) -> np.ndarray:
    """Some features of one row of the sample."""
    values = view.features[[np.searchsorted(view.rows, row)]]
    return (values.toarray() if sparse.issparse(values) else values)[0, columns]


def _column_means(features) -> np.ndarray:
    return np.asarray(features.mean(axis=0), dtype=np.float64).ravel()
