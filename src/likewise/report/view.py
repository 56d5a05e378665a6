"""What a report shows of a fitted model, as arrays: maps, typical rows, distinctive features.

Nothing here depends on HTML or matplotlib; the page and the figures both use it. However many
rows X has, only a sample of them is used, so a report takes seconds.
"""

import copy
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array
from sklearn.utils.validation import _num_samples

from likewise.kernels import lay_out
from likewise.numerics.label_matching import match_labels
from likewise.numerics.rows import sample_rows
from likewise.selection import take_rows

MAX_ROWS = 20_000  # the typical rows of a sample of this size are as typical as any
MAX_POINTS = 3_000  # on a map: more would only cover each other
SEED = 0  # of the sample: the same model gives the same report


class View(NamedTuple):
    """The rows looked at, m of them."""

    rows: np.ndarray  # (m,) row numbers in X, ascending
    features: Any  # (m, d) their values, an array or CSR
    feature_names: list[str]  # (d,)
    are_named: bool  # the features have names of their own
    Z: np.ndarray  # (m, r) their places in the learned space
    labels: np.ndarray  # (m,)
    memberships: np.ndarray  # (m, k) shares of the clusters
    sq_dists: np.ndarray  # (m,) to the center of their own cluster
    labels_before: np.ndarray  # (m,) named after the clusters of today they resemble
    start: Any  # (m, d) before any answer, as the model scaled them


class Maps(NamedTuple):
    """Places of the p rows that are drawn, before the answers and after."""

    points: np.ndarray  # (p,) positions among the rows of a View
    before: np.ndarray  # (p, 2)
    after: np.ndarray  # (p, 2)


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


def clusters_of(model) -> np.ndarray:
    """The cluster (n,) of each row; outliers stand with the cluster where they belong most."""
    return np.asarray(getattr(model, "nearest_labels_", model.labels_))


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
    """Take a sample of rows, always with those that are `wanted`.

    `readable` has the columns of X in units that people read.
    """
    report = check_model(model, X)
    wanted = np.unique(np.asarray(wanted, dtype=int))
    rows = sample_rows(report.n_rows, MAX_ROWS, wanted, SEED)
    chosen = take_rows(X, rows)
    Z = np.asarray(model.transform(chosen))
    clusters = clusters_of(model)
    labels = clusters[rows]
    features = as_numbers(chosen)
    before = match_labels(np.asarray(report.labels_before), clusters)
    return View(
        rows=rows,
        features=features if readable is None else readable[rows],
        feature_names=name_features(X, features.shape[1], feature_names),
        are_named=feature_names is not None or hasattr(X, "columns"),
        Z=Z,
        labels=labels,
        memberships=np.asarray(model.predict_proba(chosen)),
        sq_dists=((Z - model.cluster_centers_[labels]) ** 2).sum(axis=1),
        labels_before=before[rows],
        start=start_space(model, features),
    )


def draw_maps(view: View) -> Maps:
    """Lay out both spaces."""
    points = np.arange(len(view.rows))
    return Maps(points, lay_out(view.start[points]), lay_out(view.Z[points]))


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


def typical_rows(view: View, cluster: int, n_rows: int) -> np.ndarray:
    """Row numbers nearest to the center of a cluster, the nearest first."""
    members = np.flatnonzero(view.labels == cluster)
    order = np.argsort(view.sq_dists[members], kind="stable")
    return view.rows[members[order[:n_rows]]]


def borderline_rows(view: View, cluster: int, n_rows: int) -> np.ndarray:
    """Row numbers of a cluster that could as well be in another, the most doubtful first."""
    members = np.flatnonzero(view.labels == cluster)
    order = np.argsort(margins(view)[members], kind="stable")
    return view.rows[members[order[:n_rows]]]


def margins(view: View) -> np.ndarray:
    """(m,) membership in the own cluster less that in the next likely one."""
    own = np.take_along_axis(view.memberships, view.labels[:, None], axis=1)[:, 0]
    return own - np.take_along_axis(view.memberships, runners_up(view)[:, None], axis=1)[:, 0]


def runners_up(view: View) -> np.ndarray:
    """(m,) the most likely cluster of each row beside its own; its own if there is one alone."""
    others = view.memberships.copy()
    np.put_along_axis(others, view.labels[:, None], -1.0, axis=1)
    return others.argmax(axis=1)


def values_of(view: View, row: int, columns: np.ndarray) -> np.ndarray:
    """Some features of one row of the sample."""
    values = view.features[[np.searchsorted(view.rows, row)]]
    return (values.toarray() if sparse.issparse(values) else values)[0, columns]
