"""Learn from a few rows of many, and map all of them, a block at a time.

    gather   every row that an answer refers to, and a uniform sample of the others
    fit      the learner, on those: its landmarks are among them
    map      block by block; the result goes to memory, to a file, or is computed when needed

What a learner computes from landmarks (kernel values, weights) is kept only while a block is
processed: there is never a matrix of all rows by landmarks.
Reference: yeung2007, whose landmarks are the rows of the answers and random ones.
"""

import os
from functools import partial
from pathlib import Path

import numpy as np
from array_api_compat import array_namespace
from sklearn.utils import check_random_state

from likewise.constraints import check_constraints
from likewise.evaluation import fit_keywords
from likewise.files.atomic_file import replacing
from likewise.files.cluster_file import write_npy_header
from likewise.maps import Map, as_map, from_device, on_device
from likewise.numerics.array_library import is_array_elsewhere
from likewise.numerics.rows import sample_rows
from likewise.scale.blocks import Blocks, as_blocks, as_it_is, is_dask
from likewise.scale.on_dask import import_dask

N_ROWS = 10_000  # that are learned from


def fit(
    learner,
    X,
    y=None,
    *,
    constraints=None,
    n_rows: int = N_ROWS,
    client=None,
    n_jobs: int | None = None,
    random_state=None,
):
    """Fit a learner to rows that need not fit into memory.

    Parameters
    ----------
    learner : estimator
        It is fitted in place and returned. The answers go wherever ``fit`` takes constraints.
    X : array-like, CSR, path, Dask array or Blocks
        As for `as_blocks`.
    y : None
        Ignored; it is here as in every ``fit``.
    constraints : Constraints, default=None
        Answers about the rows of X.
    n_rows : int, default=10_000
        Rows to learn from: those that answers refer to and a uniform sample of the others, which is
        at least half of this number, and never fewer than the learner's ``n_landmarks``. If X has
        no more rows than this, it is the same as ``learner.fit``. Raising it takes more memory and
        time, and helps if small groups would be missed.
    client : distributed.Client, default=None
        The Dask cluster that gathers the rows.
    n_jobs : int, default=None
        Threads that gather the rows.
    random_state : int, RandomState instance or None, default=None
        Draws the rows.

    Returns
    -------
    learner : estimator
        Fitted to the drawn rows alone: ``landmarks_``, if it has them, are numbers of these rows.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise import Constraints, SpectralReweighting, scale
    >>> X = np.random.RandomState(0).normal(size=(50_000, 4))
    >>> answers = Constraints(len(X), must_link=[(0, 40_000)])
    >>> space = scale.fit(SpectralReweighting(n_landmarks=50), X, constraints=answers, n_rows=200)
    >>> bool((space.map_.landmarks == X[40_000]).all(axis=1).any())
    True
    """
    blocks = as_blocks(X, client=client)
    answers = check_constraints(constraints, n_samples=blocks.shape[0], y=y)
    seed = check_random_state(random_state).randint(2**31 - 1)
    n_rows = max(n_rows, getattr(learner, "n_landmarks", None) or 0)
    rows = sample_rows(blocks.shape[0], n_rows, answers.touched_rows(), seed)
    keywords = fit_keywords(learner, answers.restrict(rows))
    learner.fit(blocks.take(rows, n_jobs=n_jobs), **keywords)
    return learner


def transform(
    learner, X, *, out=None, device: str | None = None, client=None, n_jobs: int | None = None
):
    """Map rows by a fitted learner, a block at a time.

    Parameters
    ----------
    learner : estimator
        Fitted, with ``transform``.
    X : array-like, CSR, path, Dask array, torch tensor or Blocks
        As for `as_blocks`.
    out : path, default=None
        A .npy file to write the result to, block by block. None keeps it in memory.
    device : str, default=None
        Map on a torch device, such as "cuda", in the float type of X; tensors are mapped where they
        are. None maps by ``learner.transform``.
    client : distributed.Client, default=None
        The Dask cluster to work on.
    n_jobs : int, default=None
        Threads to work with.

    Returns
    -------
    Z : ndarray of shape (n, n_directions)
        With `out`, a memory map of the file; for a tensor, a tensor; for a Dask array without `out`
        and `client`, a Dask array that is not computed yet.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise import RCA, Constraints, scale
    >>> X = np.random.RandomState(0).normal(size=(30_000, 4))
    >>> space = RCA().fit(X[:9], constraints=Constraints(9, must_link=[(0, 1), (2, 3), (4, 5)]))
    >>> bool(np.allclose(scale.transform(space, X), space.transform(X)))
    True
    """
    if is_dask(X) and out is None and client is None and device is None:
        return _dask_transform(learner, X)
    Z = mapped(learner, as_blocks(X, client=client), device=device)
    if is_array_elsewhere(X):
        return _fill_tensor(Z)
    found = Z.run(from_device, what="mapping rows", n_jobs=n_jobs)
    if out is not None:
        return _write(found, Z, Path(out))
    result = np.empty(Z.shape, dtype=Z.dtype)
    for start, rows in zip(Z.bounds, found):
        result[start : start + len(rows)] = rows
    return result


def predict(model, X, *, client=None, n_jobs: int | None = None) -> np.ndarray:
    """Clusters of rows by a fitted model's ``predict``, a block at a time.

    Parameters
    ----------
    model : estimator
        Fitted, with ``predict``.
    X : array-like, CSR, path, Dask array or Blocks
        As for `as_blocks`.
    client : distributed.Client, default=None
        The Dask cluster to work on.
    n_jobs : int, default=None
        Threads to work with.

    Returns
    -------
    labels : ndarray of shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.cluster import KMeans
    >>> from likewise import scale
    >>> X = np.random.RandomState(0).normal(size=(30_000, 4))
    >>> model = KMeans(3, n_init=1, random_state=0).fit(X[:100])
    >>> bool((scale.predict(model, X) == model.predict(X)).all())
    True
    """
    blocks = as_blocks(X, client=client)
    return np.concatenate(list(blocks.run(model.predict, what="assigning rows", n_jobs=n_jobs)))


def mapped(learner, X, *, device: str | None = None, client=None) -> Blocks:
    """The rows of a learned space as blocks, computed again whenever one is read.

    Parameters
    ----------
    learner : estimator
        Fitted, with ``transform``.
    X : array-like, CSR, path, Dask array, torch tensor or Blocks
        As for `as_blocks`.
    device : str, default=None
        Map on a torch device, such as "cuda".
    client : distributed.Client, default=None
        The Dask cluster to work on.

    Returns
    -------
    Blocks

    Examples
    --------
    >>> import numpy as np
    >>> from likewise import RCA, scale
    >>> X = np.random.RandomState(0).normal(size=(100, 4))
    >>> scale.mapped(RCA().fit(X), X).shape
    (100, 4)
    """
    blocks = as_blocks(X, client=client)
    map_rows = as_map(learner)
    is_tensor = any(map(is_array_elsewhere, blocks.parts[:1]))
    is_single = str(blocks.dtype).endswith("float32")  # torch's types are not NumPy's
    dtype = blocks.dtype if is_tensor else np.dtype(np.float32 if is_single else np.float64)
    if device is None and not is_tensor:
        return blocks.map(learner.transform, map_rows.n_directions, dtype)
    where = blocks.parts[0].device if device is None else device
    if blocks.client is None:  # on a cluster each worker moves the map to its own device
        map_rows = map_rows.like(on_device(np.empty(0, np.float32 if is_single else None), where))
    return blocks.map(partial(_map_there, map_rows, where), map_rows.n_directions, dtype)


def _map_there(map_rows: Map, device, rows):
    rows = on_device(rows, device)
    return map_rows.like(rows).transform(rows)


def _fill_tensor(Z: Blocks):
    """The mapped rows as one tensor, filled in place."""
    whole = None
    for start, rows in zip(Z.bounds, Z.run(as_it_is, what="mapping rows")):
        if whole is None:
            xp = array_namespace(rows)
            whole = xp.empty(Z.shape, dtype=rows.dtype, device=rows.device)
        whole[start : start + rows.shape[0]] = rows
    return whole


def _dask_transform(learner, X):
    dask = import_dask()
    X = X.rechunk({1: -1})
    n_directions = as_map(learner).n_directions
    dtype = np.float32 if X.dtype == np.float32 else np.float64
    meta = np.empty((0, n_directions), dtype=dtype)
    return dask.array.map_blocks(
        learner.transform, X, dtype=dtype, chunks=(X.chunks[0], (n_directions,)), meta=meta
    )


def _write(found, Z: Blocks, path: Path) -> np.ndarray:
    """Blocks to a .npy file, through plain writes: pages of a map would count as our memory."""
    if path.suffix != ".npy":
        raise ValueError(f"out={os.fspath(path)!r} must end in .npy.")
    with replacing(path) as temporary, open(temporary, "wb") as file:
        write_npy_header(file, Z.shape, np.dtype(Z.dtype))
        for rows in found:
            file.write(np.ascontiguousarray(rows, dtype=Z.dtype).data)
    return np.load(path, mmap_mode="r")
