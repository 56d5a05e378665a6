"""Data sets by name: from your own folder, from scikit-learn, from the cache, or from OpenML.

The folder named by the environment variable LIKEWISE_DATA comes first; every .npz file in it is a
set, even one that is not in our catalog (see `npz` for the layout). MNIST and Fashion-MNIST may
also be folders of idx files there (`idx`), or where a package of the system puts them: Debian's is
`dataset-fashion-mnist`.
"""

import difflib
import os
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.utils import check_random_state

from likewise.datasets.bundled import BUNDLED
from likewise.datasets.catalog import CATALOG
from likewise.datasets.dataset import Dataset
from likewise.datasets.idx import has_idx, read_idx_folder
from likewise.datasets.npz import as_floats, read_npz
from likewise.files.atomic_file import replacing
from likewise.files.cache_folder import cache_folder

VARIABLE = "LIKEWISE_DATA"
SYSTEM = Path("/usr/share/datasets")  # where Debian's packages put data sets


def fetch(name: str) -> Dataset:
    """Get a data set by its name.

    It is searched in this order: `name`.npz in the folder named by LIKEWISE_DATA, or idx files in a
    folder of its name there; the sets bundled with scikit-learn; the cache
    (`$XDG_CACHE_HOME/likewise`, or `~/.cache/likewise`); idx files that a package of the system
    installed; and for some sets OpenML. The download has never been tried: a downloaded set is kept
    only if its checksum is that of the copy we know.

    Parameters
    ----------
    name : str
        One of `available()`.

    Returns
    -------
    Dataset
        The same arrays wherever they came from.

    Raises
    ------
    ValueError
        There is no set of this name, or its file cannot be read.
    FileNotFoundError
        The set is known, but is in none of these places.

    Examples
    --------
    >>> from likewise.datasets import fetch
    >>> fetch("wine").X.shape
    (178, 13)
    """
    where = available().get(name)
    if where is None:
        close = difflib.get_close_matches(str(name), available(), n=1)
        hint = f"Did you mean {close[0]!r}?" if close else "available() lists them."
        raise ValueError(f"There is no data set {name!r}. {hint}")
    if where in ("folder", "system") and (idx_folder := _idx_folder(name, where)):
        return read_idx_folder(idx_folder, name=name)
    if where == "folder":
        divisor = CATALOG[name].divisor if name in CATALOG else 1
        return read_npz(_file(_folder(), name), divisor=divisor)
    if where == "cache":
        return read_npz(_file(cache_folder(), name))
    if where == "bundled":
        return BUNDLED[name]()
    if where == "download":
        return _download(name)
    raise FileNotFoundError(_not_available(name, "it cannot be downloaded"))


def available() -> dict[str, str]:
    """List the data sets, and where `fetch` would get each one from.

    Returns
    -------
    dict of str to str
        "folder", "bundled", "cache", "system" (installed by a package), "download" (never tried) or
        "nowhere", by name and sorted.

    Examples
    --------
    >>> from likewise.datasets import available
    >>> available()["digits"]
    'bundled'
    """
    folder = _folder()
    own = set() if folder is None else {path.stem for path in folder.glob("*.npz")}
    where = {}
    for name in sorted({*CATALOG, *BUNDLED, *own}):
        if name in own or _idx_folder(name, "folder"):
            where[name] = "folder"
        elif name in BUNDLED:
            where[name] = "bundled"
        elif _file(cache_folder(), name).is_file():
            where[name] = "cache"
        elif _idx_folder(name, "system"):
            where[name] = "system"
        else:
            where[name] = "download" if CATALOG[name].openml else "nowhere"
    return where


def labelled_sets(
    max_rows: int | None = 2000, *, kinds=("numeric",), random_state=0
) -> Iterator[Dataset]:
    """Go through every labeled set that is available, in the order of their names.

    Nothing is downloaded: a set that is neither in the folder named by LIKEWISE_DATA, nor bundled,
    nor cached is left out. A large set is thinned to `max_rows` rows, each class in proportion
    and at least one row per class; `extras["rows"]` then has the numbers of the rows kept.

    Parameters
    ----------
    max_rows : int or None, default=2000
        Maximum number of rows of a set. Raising it takes more time; None keeps all.
    kinds : tuple of str, default=("numeric",)
        Any of "numeric" (X is a dense array), "bag of words" (CSR) and "text" (list of str).
    random_state : int, RandomState or None, default=0
        Seeds the thinning, separately for each set: with an int, a set's rows do not depend on
        which other sets are available.

    Yields
    ------
    Dataset
        With `y`, at most `max_rows` rows, in their original order.

    Examples
    --------
    >>> from likewise.datasets import labelled_sets
    >>> next(labelled_sets(30)).n_rows
    30
    """
    unknown = set(kinds) - {"numeric", "bag of words", "text"}
    if unknown:
        raise ValueError(f"kinds has {unknown.pop()!r}. Use 'numeric', 'bag of words' or 'text'.")
    for name, where in available().items():
        if where in ("folder", "bundled", "cache") and _kind(name) in kinds:
            data = fetch(name)
            if data.y is None:
                continue
            if max_rows is not None and data.n_rows > max_rows:
                data = data.take(thin_by_class(data.y, max_rows, random_state=random_state))
            yield data


def thin_by_class(y: np.ndarray, n_rows: int, *, random_state=None) -> np.ndarray:
    """Choose rows so that every class keeps its share, and at least one row.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Class codes.
    n_rows : int
        How many rows to choose, at least the number of classes and at most n.
    random_state : int, RandomState or None, default=None
        Seeds the choice within each class.

    Returns
    -------
    ndarray of shape (n_rows,)
        Row numbers, ascending.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.datasets import thin_by_class
    >>> y = np.repeat([0, 1, 2], [60, 30, 2])
    >>> np.bincount(y[thin_by_class(y, 10, random_state=0)])
    array([6, 3, 1])
    """
    classes, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    if not len(classes) <= n_rows <= len(y):
        raise ValueError(
            f"{n_rows} rows cannot be chosen out of {len(y)} in {len(classes)} classes. "
            "Ask for at least one per class."
        )
    rng = check_random_state(random_state)
    quota = np.ones(len(classes), dtype=int)
    for _ in range(n_rows - len(classes)):  # the next row goes where its share is owed most
        quota[np.argmax(counts * n_rows / len(y) - quota)] += 1
    chosen = [
        rng.choice(np.flatnonzero(codes == c), size=quota[c], replace=False)
        for c in range(len(classes))
    ]
    return np.sort(np.concatenate(chosen))


def _kind(name):
    """The kind in the catalog, or for an unknown file, the kind its arrays suggest."""
    if name in CATALOG:
        return CATALOG[name].kind
    if name in BUNDLED:
        return "numeric"
    with np.load(_file(_folder(), name), allow_pickle=False) as file:
        kinds = {"X": "numeric", "text": "text", "indptr": "bag of words"}
        return next((k for key, k in kinds.items() if {key, "y"} <= set(file.files)), "other")


def _folder() -> Path | None:
    named = os.environ.get(VARIABLE)
    if not named:
        return None
    folder = Path(named).expanduser()
    if not folder.is_dir():
        raise FileNotFoundError(f"{VARIABLE}={named} is not a folder. Correct it, or unset it.")
    return folder


def _idx_folder(name: str, where: str) -> Path | None:
    """The folder of the set's idx files, if it is there, and not as one .npz file as well."""
    parent = _folder() if where == "folder" else SYSTEM
    named = CATALOG[name].idx_folder if name in CATALOG else ""
    if not named or parent is None or (where == "folder" and _file(parent, name).is_file()):
        return None
    return parent / named if has_idx(parent / named) else None


def _file(folder, name) -> Path:
    return folder / f"{name}.npz"


def _not_available(name, reason) -> str:
    idx_folder = CATALOG[name].idx_folder if name in CATALOG else ""
    files = f"{name}.npz, or {idx_folder}/ with its idx files" if idx_folder else f"{name}.npz"
    return (
        f"The data set {name!r} is not available: {reason}. "
        f"Set {VARIABLE} to a folder that has {files}."
    )


def _download(name) -> Dataset:
    """Download from OpenML, by an id from memory; kept only if the arrays are the ones we know."""
    import sklearn.datasets

    entry = CATALOG[name]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of versions and parsers: the checksum decides
            X, labels = sklearn.datasets.fetch_openml(
                data_id=entry.openml,
                as_frame=False,
                return_X_y=True,
                parser="liac-arff",
                data_home=cache_folder(),
            )
        y = _codes(labels)
        data = Dataset(name, as_floats(np.asarray(X, dtype=np.float64)), y)
    except Exception as error:  # from the network, OpenML or scikit-learn: the way out is the same
        reason = " ".join(str(error).split())[:200]
        raise FileNotFoundError(_not_available(name, f"its download failed ({reason})")) from None
    if not data.checksum().startswith(entry.checksum):
        reason = f"OpenML's set {entry.openml} is not the copy we know (checksum)"
        raise FileNotFoundError(_not_available(name, reason))
    cache_folder().mkdir(parents=True, exist_ok=True)
    with replacing(_file(cache_folder(), name)) as temporary:
        np.savez_compressed(temporary, X=data.X, y=y)
    return data


def _codes(labels):
    """Class codes from 0, in the order of the labels: as numbers if they are, else as words."""
    try:
        labels = np.asarray(labels).astype(np.float64)
    except ValueError:
        labels = np.asarray(labels).astype(str)
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)
