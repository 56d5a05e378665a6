"""What leaving out each answer would change, by a quick model in place of a fit per answer.

The quick model: every row that answers refer to carries its cluster, and clusters spread from there
over the neighbor graph of the data as they were before any answer (zhou2004):

    memberships = (I - alpha S)^-1 C,    C[i, cluster of i] = n_i / (n_i + 1)

where n_i counts the answers about row i, and S is the normalized graph. Leaving out an answer takes
1 from n_i of its rows, which subtracts two or three columns of the inverse: exact within the quick
model, for hundreds of answers at once. What counts is how many rows then have another most likely
cluster; where that is nobody, how far memberships move. An answer about rows that many others refer
to changes little, and one that was set aside as doubtful nothing.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from likewise.constraints import Constraints
from likewise.kernels import edge_shares, to_leading_directions
from likewise.numerics.rows import sample_rows
from likewise.numerics.threads import one_thread_if_small
from likewise.report.view import clusters_of, start_space

ALPHA = 0.9  # share of its membership that a row takes from its neighbors
MAX_ROWS = 1_200  # that clusters are spread over
MAX_ANSWERS = 400  # that are judged, drawn at random if there are more
N_NEIGHBORS = 10
N_DIRECTIONS = 30  # of sparse rows
SILENT = ("undecided", "undecided_pair")  # can't tell: nothing that could be left out


class Influence(NamedTuple):
    """What leaving out answers would change, the most first."""

    positions: np.ndarray  # (m,) of the answers that were judged and change anything
    n_moved: np.ndarray  # (m,) rows that would be in another cluster, scaled up to all rows
    shifts: np.ndarray  # (m,) sum of the memberships that would move
    n_judged: int


def influential_answers(model, X, constraints: Constraints) -> Influence:
    """Find the answers that matter most: those whose absence would change most.

    Parameters
    ----------
    model : GuidedClustering
        Fitted to X and the answers.
    X : array-like or CSR of shape (n_samples, n_features)
    constraints : Constraints
        The answers.

    Returns
    -------
    Influence
        ``positions`` of the answers among ``constraints.answers()``, the most important first,
        ``n_moved`` rows that would be in another cluster, ``shifts`` of memberships, and
        ``n_judged``. By a quick model: fits without each answer would take hours.

    Examples
    --------
    >>> from likewise import Constraints, GuidedClustering
    >>> from likewise.report import influential_answers
    >>> X = [[0.0], [0.2], [0.4], [4.0], [4.2], [4.4]]
    >>> answers = Constraints(6, must_link=[(0, 1)], cannot_link=[(1, 4)])
    >>> model = GuidedClustering(2, random_state=0).fit(X, constraints=answers)
    >>> influential_answers(model, X, answers).n_judged
    2
    """
    start, labels = start_space(model, X), clusters_of(model)
    return rank_answers(start, labels, constraints, set_aside=model.doubtful_)


def rank_answers(
    start, labels: np.ndarray, constraints: Constraints, *, set_aside=(), seed: int = 0
) -> Influence:
    """Rank answers by what leaving each out would change.

    `start` (n, d), dense or CSR, are the rows before any answer, `labels` (n,) their clusters, and
    `set_aside` positions of answers that nothing was learned from.
    """
    silent = [*constraints.positions(*SILENT), *np.asarray(set_aside, dtype=int)]
    judged = np.setdiff1d(np.flatnonzero(constraints.weights > 0), silent)
    if len(judged) > MAX_ANSWERS:
        chosen = np.random.RandomState(seed).choice(judged, MAX_ANSWERS, replace=False)
        judged = np.sort(chosen)
    nothing = Influence(judged[:0], np.empty(0, int), np.empty(0), len(judged))
    touched = sorted({row for position in judged for row in constraints.points_of(position)})
    if not touched or len(labels) < 3:
        return nothing
    rows = sample_rows(len(labels), MAX_ROWS, np.array(touched), seed)
    place = {int(row): i for i, row in enumerate(rows)}
    answered = [[place[row] for row in constraints.points_of(p)] for p in judged]
    counts = np.bincount(np.concatenate(answered), minlength=len(rows))
    spread = spread_from(start[rows], np.flatnonzero(counts))
    moved, shifts = leave_out_each(spread, labels[rows], counts, answered)
    n_moved = np.rint(moved * len(labels) / len(rows)).astype(int)
    order = np.lexsort((judged, -shifts, -n_moved))
    order = order[shifts[order] > 0]
    return Influence(judged[order], n_moved[order], shifts[order], len(judged))


@one_thread_if_small(lambda start, seeds: start.shape[0] ** 2)
def spread_from(start, seeds: np.ndarray) -> np.ndarray:
    """(n, n): columns of (I - alpha S)^-1 at the seeds, and zeros elsewhere."""
    n = start.shape[0]
    start = (
        to_leading_directions(start, N_DIRECTIONS)
        if sparse.issparse(start)
        else np.asarray(start, float)
    )
    graph = edge_shares(start, min(N_NEIGHBORS, n - 1)).toarray()
    roots = np.sqrt(graph.sum(axis=1))
    system = np.eye(n) - ALPHA * graph / roots[:, None] / roots
    spread = np.zeros((n, n))
    spread[:, seeds] = np.linalg.solve(system, np.eye(n)[:, seeds])
    return np.maximum(spread, 0)


def leave_out_each(
    spread: np.ndarray, labels: np.ndarray, counts: np.ndarray, answered: list[list[int]]
) -> tuple[np.ndarray, np.ndarray]:
    """How many rows would be elsewhere, and how much membership would move, for each answer."""
    carried = np.zeros((len(labels), labels.max() + 1))
    carried[np.arange(len(labels)), labels] = counts / (counts + 1)
    whole = spread @ carried
    shares = _as_shares(whole)
    best = shares.argmax(axis=1)
    moved, shifts = [], []
    for rows in answered:
        left = whole.copy()
        for row in rows:
            lost = counts[row] / (counts[row] + 1) - (counts[row] - 1) / counts[row]
            left[:, labels[row]] -= lost * spread[:, row]
        new = _as_shares(left)
        moved.append(np.count_nonzero(new.argmax(axis=1) != best))
        shifts.append(np.abs(new - shares).sum() / 2)
    return np.array(moved), np.array(shifts)


def _as_shares(memberships: np.ndarray) -> np.ndarray:
    """Rows that sum to 1; a row that nothing reaches belongs to all clusters alike."""
    kept = np.maximum(memberships, 1e-12)  # what rounding leaves of a seed that is taken away
    return kept / kept.sum(axis=1, keepdims=True)
