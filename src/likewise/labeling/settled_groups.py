"""Groups from components that answers leave open: which are one group, and which a new one.

    B_cd   = mean of the walks between known rows of components c and d
    p_cd   = B_cd^s / sum_e B_ce^s                      where c would belong, if to another one
    nu     = THETA / (THETA + known rows)               chance that a row begins a new group
    own_c  = nu / (nu + (1 - nu) sum_d p_cd l_cd)       c is a group of its own
    one_cd = (1 - nu) p_cd l_cd / (the same sum)        c and d are one group

l_cd is the likelihood of what was answered about c and d: the error rate where they were told
apart, 1 where nothing was asked. Pairs leave single rows behind that were told apart from some
groups and never joined to one. Those that probably belong to a group are set aside, so that they do
not count as groups; every other component is a group, apart from all others.
"""

from typing import NamedTuple

import numpy as np

from likewise.cluster import add_distances, even_out
from likewise.constraints import Constraints
from likewise.guided import sharpen
from likewise.kernels import nearest_rows
from likewise.labeling.knowledge import (
    NOISE,
    Knowledge,
    Walks,
    spread_groups_known,
)
from likewise.numerics.threads import one_thread

SHARPNESS = 3.0  # of shares of walks: as they come they are far too even
SHARPNESSES = (0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)  # where they are fitted
THETA = 3.0  # the larger, the more groups are expected
LEAST_OWN = 0.2  # chance that a single row needs to count as a group
LEAST = 1e-6  # membership, before it is sharpened
ERROR_RATE = 0.01  # of answers, where nothing else is known about a person


class Settled(NamedTuple):
    """Groups that are all apart, and how sure that is."""

    groups: np.ndarray  # (n,) group of each row that counts as known; -1 for the others
    n_groups: int
    memberships: np.ndarray  # (n, n_groups), rows sum to 1
    one_group: np.ndarray  # (c, c) symmetric: chance that two components are one group
    own_group: np.ndarray  # (c,) chance that a component is a group of its own


def settle_groups(knowledge: Knowledge, error_rate: float = ERROR_RATE) -> Settled:
    """Groups of the known rows, all apart, as labels of some rows are.

    Where answers tell all components apart, as group questions do, these are the components.
    """
    one_group, own_group = relate_components(knowledge, error_rate)
    sizes = np.bincount(knowledge.groups[knowledge.known_rows], minlength=knowledge.n_groups)
    is_group = (sizes > 1) | (own_group >= LEAST_OWN)
    if np.count_nonzero(is_group) < 2:
        is_group[:] = True
    number = np.full(knowledge.n_groups + 1, -1)  # the last is for rows of no component
    number[:-1][is_group] = np.arange(np.count_nonzero(is_group))
    groups = number[knowledge.groups]
    memberships = knowledge.memberships
    if not is_group.all():
        memberships = spread_groups_known(knowledge.walks, groups, int(is_group.sum()))
        for component in np.flatnonzero(~is_group):
            rows = knowledge.groups == component
            shares = memberships[rows] * ~knowledge.apart[component, is_group]
            totals = shares.sum(axis=1, keepdims=True)
            memberships[rows] = np.where(
                totals > 0, shares / np.where(totals > 0, totals, 1.0), memberships[rows]
            )
    memberships = fill_unreached(knowledge.Z, memberships)
    return Settled(groups, memberships.shape[1], memberships, one_group, own_group)


def fill_unreached(Z: np.ndarray, memberships: np.ndarray) -> np.ndarray:
    """Rows that no walk reaches take the memberships of the nearest row that one does."""
    is_even = (memberships == memberships[:, :1]).all(axis=1)
    if memberships.shape[1] < 2 or not is_even.any() or is_even.all():
        return memberships
    filled = memberships.copy()
    nearest, _ = nearest_rows(Z[is_even], Z[~is_even], 1)
    filled[is_even] = memberships[~is_even][nearest[:, 0]]
    return filled


def relate_components(knowledge: Knowledge, error_rate: float) -> tuple[np.ndarray, np.ndarray]:
    """Chances (c, c) that two components are one group, and (c,) that one is a group of its own."""
    known, n_components = knowledge.known_rows, knowledge.n_groups
    if n_components < 2:
        return np.zeros((n_components, n_components)), np.ones(n_components)
    members = np.eye(n_components)[knowledge.groups[known]]
    members /= members.sum(axis=0)
    walks = members.T @ knowledge.walks.between(known, known) @ members
    new = chance_of_new(len(known))
    return chances_of_one_group(walks, knowledge.apart, new, error_rate)


def chance_of_new(n_known: int) -> float:
    """That the next row begins a new group."""
    return THETA / (THETA + n_known)


def chances_of_one_group(
    walks: np.ndarray, apart: np.ndarray, new: float, error_rate: float
) -> tuple[np.ndarray, np.ndarray]:
    """Chances (c, c) and (c,) from the mean walks B (c, c); the module says how."""
    B = np.maximum(walks, 0.0)
    np.fill_diagonal(B, 0.0)
    B[B.sum(axis=1) == 0] = 1.0  # in a piece of the graph of its own: anywhere
    np.fill_diagonal(B, 0.0)
    shares = sharpen(B, SHARPNESS)
    joint = (1 - new) * shares * np.where(apart, error_rate, 1.0)
    totals = new + joint.sum(axis=1)
    one_group = joint / totals[:, None]
    return (one_group + one_group.T) / 2, new / totals


@one_thread()
def leave_one_out(
    walks: Walks,
    known: np.ndarray,
    own: np.ndarray,
    n_groups: int,
    sharpness: float = SHARPNESS,
) -> np.ndarray:
    """Memberships (m, k) of known rows, sharpened, each from the others.

    With K = Phi Phi' + I and Q = inv(K_AA + NOISE I), what the others say about row i is
    Y_i - (Q Y)_i / Q_ii; groups are evened out as in `interpolate_groups`.
    """
    Phi, Y = walks.coordinates, np.eye(n_groups)[own]
    Q = np.linalg.inv(Phi[known] @ Phi[known].T + (1 + NOISE) * np.eye(len(known)))
    QY = Q @ Y
    everywhere = np.maximum(Phi @ (Phi[known].T @ QY), LEAST)
    shares = (everywhere / everywhere.sum(axis=1, keepdims=True)).mean(axis=0)
    left_out = even_out(np.maximum(Y - QY / np.diag(Q)[:, None], LEAST), shares)
    if walks.distances is not None:
        left_out = add_distances(left_out, walks.distances.leave_one_out(known, own, n_groups))
    return sharpen(left_out, sharpness)


def fit_sharpness(left_out: np.ndarray, own: np.ndarray, error_rate: float) -> float:
    """The power of memberships (m, k) that makes the groups of known rows likeliest.

    Where classes overlap it is small, and an answer that the others speak against is no surprise.
    """
    rows, n_groups = np.arange(len(own)), left_out.shape[1]
    is_judged = np.bincount(own, minlength=n_groups)[own] > 1
    credits = []
    for sharpness in SHARPNESSES:
        chances = sharpen(left_out, sharpness)[rows, own][is_judged]
        likelihoods = (1 - error_rate) * chances + error_rate / n_groups * (1 - chances)
        credits.append(np.log(likelihoods).sum() - np.log(sharpness / SHARPNESS) ** 2 / 2)
    return float(SHARPNESSES[int(np.argmax(credits))])


def links_of_groups(answers: Constraints, groups: np.ndarray) -> Constraints:
    """The settled groups (n,) as links between their rows, and all answers that are no pairs."""
    others = answers.positions("odd_one_out", "closer", "undecided")
    return Constraints.from_partial_labels(groups) + answers.subset(others)


def not_outvoted(answers: Constraints, groups: np.ndarray) -> Constraints:
    """All answers but pairs that contradict the groups (n,) which the others make."""
    pairs, sign = answers.signed_pairs()
    is_kept = np.ones(answers.n_answers, dtype=bool)
    ends = groups[pairs]
    is_kept[answers.positions("must_link", "cannot_link")] = (
        (ends[:, 0] == ends[:, 1]) == (sign > 0)
    ) | (ends < 0).any(axis=1)
    return answers.subset(is_kept)
