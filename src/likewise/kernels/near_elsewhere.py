"""The nearest of many rows where a pass over memory is what costs: on a GPU.

    s(x, y) = |y|^2 - 2 x'y                   ranks the y as |x - y|^2 does, in one product
    nearest k of m  in  the k groups of y with the least minima

A row of any other group has k rows at least as near: the minima of those groups. So s is written
once and read once, and all else looks at k groups. The distances of the nearest come from
differences, which never cancel. It is for arrays of any library of the array API standard.
"""

from array_api_compat import device

from likewise.numerics.array_library import library_of

GROUP = 32  # columns whose minimum is taken


def nearest_elsewhere(X, Y, k: int, exclude_self: bool, entries: int):
    """Of centered rows: the k nearest of Y (n, k), nearest first, and their squared distances."""
    xp = library_of(X)
    indices = xp.empty((X.shape[0], k), dtype=xp.int64, device=device(X))
    sq_dists = xp.empty((X.shape[0], k), dtype=X.dtype, device=device(X))
    ones = xp.ones((X.shape[0], 1), dtype=X.dtype, device=device(X))
    left = xp.concat([-2 * X, ones], axis=1)
    right = xp.concat([Y, xp.sum(Y * Y, axis=1)[:, None]], axis=1).T
    step = max(1, entries // max(1, Y.shape[0]))
    for start in range(0, X.shape[0], step):
        rows = slice(start, min(start + step, X.shape[0]))
        ranks = left[rows, :] @ right
        if exclude_self:
            own = xp.arange(rows.stop - start, device=device(X))
            ranks[own, own + start] = xp.inf
        columns = smallest_elsewhere(ranks, k)
        chosen = xp.reshape(xp.take(Y, xp.reshape(columns, (-1,)), axis=0), (-1, k, Y.shape[1]))
        differences = chosen - X[rows, :][:, None, :]
        sq = xp.sum(differences * differences, axis=2)
        order = xp.argsort(sq, axis=1, stable=True)
        indices[rows, :] = xp.take_along_axis(columns, order, axis=1)
        sq_dists[rows, :] = xp.take_along_axis(sq, order, axis=1)
    return indices, sq_dists


def smallest_elsewhere(values, k: int):
    """Columns (n, k) of the k smallest values of each row, by (value, column)."""
    n, m = values.shape
    n_groups = m // GROUP
    if n_groups < 4 * k:  # looking at k groups is looking at most of them
        return _by_argmin(values, k)
    xp = library_of(values)
    whole = values[:, : n_groups * GROUP]
    minima = xp.min(xp.reshape(whole, (n, n_groups, GROUP)), axis=2)
    groups = xp.sort(_by_argmin(minima, k), axis=1)  # so that columns rise, and equals keep order
    inside = xp.arange(GROUP, device=device(values))
    columns = xp.reshape(groups[:, :, None] * GROUP + inside, (n, k * GROUP))
    if m > n_groups * GROUP:  # those behind the last whole group are all looked at
        rest = xp.arange(n_groups * GROUP, m, device=device(values))
        rest = xp.broadcast_to(rest, (n, m - n_groups * GROUP))
        columns = xp.concat([columns, rest], axis=1)
    found = _by_argmin(xp.take_along_axis(values, columns, axis=1), k)
    return xp.take_along_axis(columns, found, axis=1)


def _by_argmin(values, k: int):
    """The same, by looking for the smallest k times."""
    xp = library_of(values)
    columns = xp.arange(values.shape[1], device=device(values))
    found = []
    for _ in range(k):
        found.append(xp.argmin(values, axis=1))
        values = xp.where(columns[None, :] == found[-1][:, None], xp.inf, values)
    return xp.stack(found, axis=1)
