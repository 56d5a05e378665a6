"""Data sets: bundled with scikit-learn (`load_*`), made (`make_*`), or fetched by name (`fetch`).

Each is a `Dataset` with `X`, `y` and whatever else there is. `available()` lists what `fetch`
knows and where it would get each set from; the environment variable LIKEWISE_DATA names a folder
of .npz files that is searched first. `labelled_sets()` goes through all sets that are available.
`constraints_of` turns the answers of people into `Constraints`.
"""

from likewise.datasets.bundled import load_breast_cancer, load_digits, load_iris, load_wine
from likewise.datasets.comparisons import constraints_of
from likewise.datasets.dataset import Dataset
from likewise.datasets.fetched import available, fetch, labelled_sets, thin_by_class
from likewise.datasets.made import (
    make_chessboard,
    make_double_spiral,
    make_metric_clusters,
    make_xor,
)
from likewise.datasets.npz import read_npz

__all__ = [
    "Dataset",
    "available",
    "constraints_of",
    "fetch",
    "labelled_sets",
    "load_breast_cancer",
    "load_digits",
    "load_iris",
    "load_wine",
    "make_chessboard",
    "make_double_spiral",
    "make_metric_clusters",
    "make_xor",
    "read_npz",
    "thin_by_class",
]
