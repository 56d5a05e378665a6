"""What each cluster is: a name, what sets it apart, its typical and its doubtful rows."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from likewise.features import TableFeatures, TextFeatures, cell_table
from likewise.files.cell_values import is_missing
from likewise.report.traits import Trait, column_traits, propose_names, word_traits
from likewise.report.view import (
    View,
    as_seen,
    borderline_rows,
    check_model,
    clusters_of,
    look,
    typical_rows,
)

COLUMN_WORDS = 3  # of a column of texts in a table, beside its other columns


class ClusterDescription(NamedTuple):
    """What a cluster is, in words and rows."""

    cluster: int
    n_rows: int
    name: str  # the user's own, else a proposal; "" where nothing sets it clearly apart
    is_own_name: bool
    traits: tuple[Trait, ...]  # the most telling first
    typical: tuple[int, ...]  # rows closest to the center
    borderline: tuple[int, ...]  # rows that could as well be in another cluster

    @property
    def title(self) -> str:
        """The name, or "Cluster 3"."""
        return self.name or f"Cluster {self.cluster}"


def describe_clusters(
    model, X, *, texts=None, feature_names=None, n_traits: int = 5, n_rows: int = 6
) -> list[ClusterDescription]:
    """Say what each cluster is: its name, what sets it apart, typical and borderline rows.

    Parameters
    ----------
    model : GuidedClustering
        Fitted to X. Names in ``model.cluster_names_`` are kept; the others are proposed from what
        sets the cluster apart.
    X : array-like, CSR matrix, dataframe or texts
        The rows the model was fitted to; of more than 20,000, a sample is used.
    texts : sequence of n_samples str, default=None
        The text of every row: words describe the clusters in place of columns.
    feature_names : sequence of n_features str, default=None
        Names of the columns of X; by default those of a dataframe.
    n_traits : int, default=5
        The most columns or words a cluster.
    n_rows : int, default=6
        The most typical and the most borderline rows a cluster.

    Returns
    -------
    list of ClusterDescription
        One a cluster, in order: ``cluster``, ``n_rows``, ``name``, ``is_own_name``, ``traits``
        (each with ``what``, ``effect``, ``here``, ``elsewhere``), ``typical``, ``borderline``.

    Examples
    --------
    >>> import pandas as pd
    >>> from likewise import GuidedClustering
    >>> from likewise.datasets import load_iris
    >>> from likewise.report import describe_clusters
    >>> names = ["sepal length", "sepal width", "petal length", "petal width"]
    >>> flowers = pd.DataFrame(load_iris().X, columns=names)
    >>> model = GuidedClustering(2, random_state=0).fit(flowers)
    >>> [cluster.name for cluster in describe_clusters(model, flowers)]
    ['high petal length, high petal width', 'low petal length, low petal width']
    """
    check_model(model)
    seen = as_seen(model, X)
    view = look(
        seen.model,
        seen.X,
        feature_names=feature_names if seen.names is None else seen.names,
        readable=seen.readable,
    )
    if texts is None and isinstance(getattr(model, "features_", None), TextFeatures):
        texts = X
    return describe(view, model, X, texts=texts, n_traits=n_traits, n_rows=n_rows)


def describe(
    view: View, model, X, *, texts=None, n_traits: int = 5, n_rows: int = 6, name_columns=True
) -> list[ClusterDescription]:
    """The same for rows that were looked at; without names of columns where they mean nothing."""
    traits = traits_of(view, model, X, texts, n_traits)
    n_clusters = model.n_clusters_
    names = [""] * n_clusters
    if texts is not None or (name_columns and view.are_named):
        names = propose_names(traits)
    own = own_names(model)
    sizes = np.bincount(clusters_of(model), minlength=n_clusters)
    return [
        ClusterDescription(
            cluster,
            int(sizes[cluster]),
            own[cluster] or names[cluster],
            bool(own[cluster]),
            tuple(traits[cluster]),
            tuple(map(int, typical_rows(view, cluster, n_rows))),
            tuple(map(int, borderline_rows(view, cluster, n_rows))),
        )
        for cluster in range(n_clusters)
    ]


def own_names(model) -> list[str]:
    """The user's names of the clusters, "" where there is none."""
    names = [str(name) for name in getattr(model, "cluster_names_", ())]
    if names and len(names) != model.n_clusters_:
        raise ValueError(
            f"cluster_names_ has {len(names)} names, but there are {model.n_clusters_} clusters. "
            'Give one each, "" for none.'
        )
    return names or [""] * model.n_clusters_


def traits_of(view: View, model, X, texts, n_traits: int) -> list[list[Trait]]:
    """What sets each cluster apart: words of texts, else columns, with the words of theirs."""
    labels, n_clusters = view.labels, model.n_clusters_
    if texts is not None:
        return word_traits(_taken(texts, view.rows), labels, n_clusters, n_traits)
    features = getattr(model, "features_", None)
    if not isinstance(features, TableFeatures):
        return column_traits(view.features, labels, view.feature_names, n_clusters, n_traits)
    traits = _table_traits(view, features, n_clusters, n_traits)
    table = cell_table(X)
    for column in features.encoded_:
        if column.kind == "text":
            cells = ["" if is_missing(cell) else str(cell) for cell in table.columns[column.name]]
            words = word_traits(_taken(cells, view.rows), labels, n_clusters, COLUMN_WORDS)
            traits = [_strongest([*a, *b], n_traits) for a, b in zip(traits, words)]
    return traits


def _table_traits(
    view: View, features: TableFeatures, n_clusters: int, n_traits: int
) -> list[list[Trait]]:
    """Of numbers, flags, levels and dates as years: directions of texts and waves of dates mean
    nothing to a reader."""
    columns = [column for column in features.encoded_ for _ in column.parts]
    is_first = np.array([i == 0 for column in features.encoded_ for i in range(len(column.parts))])
    kinds = np.array([column.kind for column in columns])
    plain = np.flatnonzero((kinds != "text") & ((kinds != "date") | is_first))
    names = [columns[j].name if kinds[j] == "date" else view.feature_names[j] for j in plain]
    traits = column_traits(view.features[:, plain], view.labels, names, n_clusters, n_traits)
    return [[_placed(trait, plain, kinds) for trait in of_cluster] for of_cluster in traits]


def _placed(trait: Trait, plain: np.ndarray, kinds: np.ndarray) -> Trait:
    """With its place among all features, from that among the `plain` ones."""
    place = int(plain[trait.place])
    return trait._replace(place=place, is_date=bool(kinds[place] == "date"))


def _strongest(traits: Sequence[Trait], n_traits: int) -> list[Trait]:
    return sorted(traits, key=lambda trait: -abs(trait.effect))[:n_traits]


def _taken(texts, rows: np.ndarray) -> list[str]:
    return [str(texts[row]) for row in rows]
