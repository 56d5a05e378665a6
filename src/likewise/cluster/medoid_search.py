"""Choose k columns of a cost matrix so that the rows, each at its cheapest column, cost the least.

    min over sets M of k columns   sum_s  min_{c in M} costs[s, c]

`swap_medoids` replaces one column after another while that helps. With near_s and second_s the
costs of a row's two cheapest medoids, replacing medoid r by column c changes the sum by

    sum_s min(c_s, near_s) - near_s   +   sum_{s at r} min(c_s, second_s) - min(c_s, near_s)

so one pass over the matrix prices all swaps. `exact_medoids` is the mixed-integer program

    min sum_sc costs[s, c] x_sc   s.t.  sum_c x_sc = 1,  x_sc <= y_c,  sum_c y_c = k,
                                        x_sc + x_tc <= y_c  for rows s, t kept apart,  x and y in
                                        {0, 1}

A row may be one point or several that must go together, with their costs added. `owners` then has
the row that each column belongs to, and the row of a chosen column goes to it: the medoid lies in
its own cluster.
References: schubert2021 (the swaps, eager by blocks of columns); randel2021, (12)-(19) (the
program). We differ from the latter in that a medoid lies in its cluster, as its text says and its
equations do not, and in its cannot-links, x_sc + x_tc <= 1 there: the same partitions, a better
bound.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.optimize import LinearConstraint, milp

from likewise.constraints import InconsistentConstraints

BLOCK_ENTRIES = 2**18  # 2 MB of float64: the passes over a block of columns stay in cache
WORTH_IT = 1e-12  # a swap must save this share of the cost: less is rounding and may never end
MAX_SWEEPS = 100  # each lowers what is minimized: this only guards against rounding
NO_HOME = -1  # of a row that owns no medoid
TIME_LIMIT_REACHED, INFEASIBLE = 1, 2  # statuses of scipy.optimize.milp


@dataclass(frozen=True, eq=False)
class Medoids:
    """Columns chosen as medoids, and the rows that go to each.

    Attributes
    ----------
    medoids : ndarray of shape (k,)
        Columns.
    labels : ndarray of shape (m,)
        Which of the k each row goes to.
    cost : float
    n_iter : int
        Passes over the columns; 0 from the integer program.
    converged : bool
    bound : float
        No choice costs less; -inf where nothing is proved.
    """

    medoids: np.ndarray
    labels: np.ndarray
    cost: float
    n_iter: int
    converged: bool
    bound: float = -np.inf


def swap_medoids(costs, medoids, *, owners=None, max_iter: int = 100) -> Medoids:
    """Swap medoids for other columns while that lowers the cost.

    Parameters
    ----------
    costs : ndarray of shape (m, n)
        What each row pays at each column.
    medoids : array-like of shape (k,)
        Columns to start from, all different and, with `owners`, of different rows.
    owners : ndarray of shape (n,), default=None
        The row each column belongs to; it goes there if the column is chosen. None: any row may go
        anywhere.
    max_iter : int, default=100
        Maximum number of passes over the columns; two to five are usual.

    Returns
    -------
    Medoids
        Never costs more than the start. When converged, no single swap lowers the cost.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([0.0, 1.0, 2.0, 10.0, 11.0, 12.0])
    >>> swap_medoids(abs(x[:, None] - x), [0, 1]).medoids
    array([4, 1])
    """
    n_rows, n_columns = costs.shape
    medoids = np.array(medoids, dtype=np.int64)
    step = max(1, BLOCK_ENTRIES // n_rows)
    blocks = [np.arange(i, min(i + step, n_columns)) for i in range(0, n_columns, step)]
    home = homes(medoids, owners, n_rows)
    to_medoids = costs[:, medoids].astype(np.float64)
    labels, near, second = two_nearest(to_medoids, home)
    for n_iter in range(1, max_iter + 1):
        n_swaps = 0
        for columns in blocks:
            block = costs[:, columns[0] : columns[-1] + 1]
            own = None if owners is None else owners[columns]
            while True:
                changes = swap_changes(block, own, labels, near, second, home, len(medoids))
                slot, at = np.unravel_index(changes.argmin(), changes.shape)
                if not changes[slot, at] < -WORTH_IT * abs(near.sum()):
                    break
                medoids[slot] = columns[at]
                to_medoids[:, slot] = block[:, at]
                home = homes(medoids, owners, n_rows)
                labels, near, second = two_nearest(to_medoids, home)
                n_swaps += 1
        if not n_swaps:
            return Medoids(medoids, labels, float(near.sum()), n_iter, converged=True)
    return Medoids(medoids, labels, float(near.sum()), max_iter, converged=False)


def swap_changes(block, own, labels, near, second, home, n_medoids) -> np.ndarray:
    """What the cost changes by, (k, b), when each column of a block (m, b) replaces each medoid."""
    gained = np.minimum(block - near[:, None], 0.0)
    moved = np.minimum(block, second[:, None])
    moved -= near[:, None]
    if own is not None:
        columns = np.arange(len(own))
        gained[home != NO_HOME] = 0.0  # it owns a medoid and stays, unless that is the one replaced
        gained[own, columns] = moved[own, columns] = block[own, columns] - near[own]
    moved -= gained
    changes = indicator(labels, n_medoids) @ moved + gained.sum(axis=0)
    if own is not None:  # a row that owns a medoid gets no second one
        slots = np.arange(n_medoids)[:, None]
        changes[(home[own] != NO_HOME) & (home[own] != slots)] = np.inf
    return changes


def homes(medoids: np.ndarray, owners: np.ndarray | None, n_rows: int) -> np.ndarray:
    """For each row the medoid that it owns, (m,), or NO_HOME."""
    home = np.full(n_rows, NO_HOME)
    if owners is not None:
        home[owners[medoids]] = np.arange(len(medoids))
    return home


def two_nearest(to_medoids: np.ndarray, home: np.ndarray):
    """Each row's medoid (its own, else the cheapest), the cost there, and the least elsewhere."""
    rows = np.arange(len(to_medoids))
    labels = np.where(home != NO_HOME, home, to_medoids.argmin(axis=1))
    near = to_medoids[rows, labels]
    others = to_medoids.copy()
    others[rows, labels] = np.inf
    return labels, near, others.min(axis=1)


def indicator(labels: np.ndarray, n_labels: int) -> sparse.csr_array:
    """(n_labels, m) with a one where a row has the label."""
    m = len(labels)
    return sparse.csr_array((np.ones(m), (labels, np.arange(m))), shape=(n_labels, m))


def exact_medoids(
    costs,
    n_clusters: int,
    *,
    owners=None,
    apart=None,
    time_limit=None,
    start: Medoids | None = None,
) -> Medoids:
    """Find the cheapest k columns of all, with proof, by the solver HiGHS.

    Parameters
    ----------
    costs : ndarray of shape (m, n)
        What each row pays at each column. Hundreds of rows and columns are practical.
    n_clusters : int
    owners : ndarray of shape (n,), default=None
        The row each column belongs to; it goes there if the column is chosen. None: any row may go
        anywhere.
    apart : ndarray of shape (q, 2), default=None
        Rows that may not share a column.
    time_limit : float, default=None
        Seconds after which the best solution so far is returned, with converged=False; None waits
        for the proof.
    start : Medoids, default=None
        A known solution, returned if nothing better is found in time. It sets the scale of the
        costs.

    Returns
    -------
    Medoids
        `bound` is proved: no choice of medoids costs less.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([0.0, 1.0, 2.0, 10.0, 11.0, 12.0])
    >>> found = exact_medoids(abs(x[:, None] - x), 2)
    >>> found.medoids, found.labels, round(found.cost, 6)
    (array([1, 4]), array([0, 0, 0, 1, 1, 1]), 4.0)
    """
    n_rows, n_columns = costs.shape
    apart = np.empty((0, 2), dtype=np.int64) if apart is None else apart
    largest = np.abs(costs).max(initial=0.0)
    scale = largest if start is None or start.cost <= 0 else start.cost / n_rows
    scale = scale if scale > 0 else 1.0  # HiGHS stops at an absolute gap of 1e-6
    is_whole = np.zeros((n_rows, n_columns))
    is_whole[apart] = 1  # the others go to the cheapest open column by themselves
    solved = milp(
        np.concatenate([np.ravel(costs) / scale, np.zeros(n_columns)]),
        integrality=np.concatenate([is_whole.ravel(), np.ones(n_columns)]),
        bounds=(0, 1),
        constraints=program(n_rows, n_columns, n_clusters, owners, apart),
        options={"mip_rel_gap": 0.0} | ({} if time_limit is None else {"time_limit": time_limit}),
    )
    if solved.status == INFEASIBLE:
        raise InconsistentConstraints(
            f"No partition into n_clusters={n_clusters} clusters satisfies the {len(apart)} "
            "cannot-links. Raise n_clusters, drop some, or use a soft method."
        )
    if solved.status not in (0, TIME_LIMIT_REACHED):
        raise RuntimeError(f"HiGHS could not solve the program: {solved.message}")
    bound = -np.inf if solved.mip_dual_bound is None else solved.mip_dual_bound * scale
    best = start
    if solved.x is not None:
        assigned = solved.x[:-n_columns].reshape(n_rows, n_columns)
        medoids = np.flatnonzero(solved.x[-n_columns:] > 0.5)
        labels = assigned[:, medoids].argmax(axis=1)
        cost = float(costs[np.arange(n_rows), medoids[labels]].sum())
        if best is None or cost < best.cost:
            best = Medoids(medoids, labels, cost, n_iter=0, converged=False)
    if best is None:
        raise RuntimeError(
            f"time_limit={time_limit} s ran out before any partition was found that satisfies the "
            f"{len(apart)} cannot-links. Raise time_limit, or use a soft method."
        )
    return replace(best, bound=min(bound, best.cost), n_iter=0, converged=solved.status == 0)


def program(n_rows, n_columns, n_clusters, owners, apart) -> list[LinearConstraint]:
    """The rows of the mixed-integer program over (x_11 .. x_mn, y_1 .. y_n)."""
    one_each = sparse.kron(sparse.eye_array(n_rows), np.ones((1, n_columns)))
    opened = sparse.eye_array(n_columns)
    alone = np.setdiff1d(np.arange(n_rows), apart)  # a pair's own row of the program says more
    pairs = indicator(np.repeat(np.arange(len(apart)), 2), len(apart))
    users = sparse.vstack(
        [
            sparse.eye_array(n_rows).tocsr()[alone],
            pairs @ sparse.eye_array(n_rows).tocsr()[np.ravel(apart)],
        ]
    )
    n_users = users.shape[0]
    use = sparse.hstack(
        [sparse.kron(users, opened), -sparse.kron(np.ones((n_users, 1)), opened)], format="csr"
    )
    none = sparse.csr_array((n_rows, n_columns))
    only_y = sparse.csr_array(np.repeat([0.0, 1.0], [n_rows * n_columns, n_columns])[None])
    constraints = [
        LinearConstraint(sparse.hstack([one_each, none], format="csr"), 1, 1),
        LinearConstraint(use, -np.inf, 0),
        LinearConstraint(only_y, n_clusters, n_clusters),
    ]
    if owners is not None:
        columns = np.arange(n_columns)
        at_home = sparse.csr_array(
            (np.ones(n_columns), (columns, owners * n_columns + columns)),
            shape=(n_columns, n_rows * n_columns),
        )
        constraints.append(LinearConstraint(sparse.hstack([at_home, -opened], format="csr"), 0, 0))
    return constraints


def keep_apart(costs, start: Medoids, rivals, *, owners, max_iter: int = 100) -> Medoids:
    """Violate as few cannot-links as single moves and trades can, then at the least cost.

    `rivals` (m, m) sparse and symmetric holds the weight of the cannot-links between two rows. Rows
    that own a medoid stay with it. Then each medoid moves to the best column of its cluster, and
    this is repeated while it helps.
    """
    n_rows, n_medoids = len(costs), len(start.medoids)
    rows = np.arange(n_rows)
    medoids, last_cost = start.medoids, np.inf
    labels: np.ndarray | None = None
    for n_iter in range(1, max_iter + 1):
        home = homes(medoids, owners, n_rows)
        labels = part_rivals(costs[:, medoids], rivals, home, labels)
        cost = float(costs[rows, medoids[labels]].sum())
        totals = indicator(labels, n_medoids) @ costs  # (k, n)
        totals[labels[owners] != np.arange(n_medoids)[:, None]] = np.inf
        better = totals.argmin(axis=1)
        if np.array_equal(better, medoids) or not cost < last_cost:
            return Medoids(medoids, labels, cost, n_iter, start.converged)
        medoids, last_cost = better, cost
    cost = float(costs[rows, medoids[labels]].sum())
    return Medoids(medoids, np.asarray(labels), cost, max_iter, converged=False)


def part_rivals(to_medoids, rivals, home, labels=None) -> np.ndarray:
    """Labels (m,) by (weight broken, cost): most rivals first, then single moves and trades."""
    n_medoids = to_medoids.shape[1]
    nowhere = n_medoids
    n_rivals = np.diff(rivals.indptr)
    movable = np.flatnonzero((n_rivals > 0) & (home == NO_HOME))
    movable = movable[np.argsort(-n_rivals[movable], kind="stable")]
    nearest, _, _ = two_nearest(to_medoids, home)
    if labels is None:
        labels = nearest
        labels[movable] = nowhere
    else:
        labels = np.where(n_rivals > 0, labels, nearest)

    def broken(row):  # (k,) weight of cannot-links broken at each medoid
        span = slice(rivals.indptr[row], rivals.indptr[row + 1])
        at = labels[rivals.indices[span]]
        return np.bincount(at, rivals.data[span], minlength=n_medoids + 1)[:n_medoids]

    for _ in range(MAX_SWEEPS):
        before = labels.copy()
        for row in movable:
            labels[row] = np.lexsort((to_medoids[row], broken(row)))[0]
        for row in movable:
            span = slice(rivals.indptr[row], rivals.indptr[row + 1])
            for other, weight in zip(rivals.indices[span], rivals.data[span]):
                here, there = labels[row], labels[other]
                if other < row or home[other] != NO_HOME or here == there:
                    continue
                mine, theirs = broken(row), broken(other)
                now = mine[here] + theirs[there], to_medoids[row, here] + to_medoids[other, there]
                then = (
                    mine[there] + theirs[here] - 2 * weight,
                    to_medoids[row, there] + to_medoids[other, here],
                )
                if then < now:
                    labels[row], labels[other] = there, here
        if np.array_equal(labels, before):
            break
    return labels
