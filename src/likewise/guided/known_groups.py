"""Clusters from rows whose group is known: memberships spread over graphs, weighed by evidence.

    M_s = memberships over the neighbor graph of space s (GraphPropagation's F), of smooth fields in
          it, by nearest means, by the nearest known rows or, where some groups are unnamed, by
          clusters without answers that are matched to groups
    w_s = exp(hits_s / 2 + prior_s), normalized;  hits_s: known rows that M_s, fitted without their
          fold, puts into their own group
    memberships = rows of exp(t sum_s w_s log M_s), normalized;  t by the log-loss of held-out rows

The graph knows where rows are dense, the learned spaces know which directions matter; no space is
best on all data, and hits of few rows cannot tell the best from the second best, so they are joined
and not chosen from. Where groups are many small patches, the nearest known rows predict better than
long walks. Fields, as sessions have them, hold the surroundings of each known row, and look beyond
the next border. First comes a test: do the known rows predict each other's groups better than with
permuted names? If not, nothing is learned. The constants were picked on half of the data sets
(docs/decisions/0023-known-groups.md).
Reference: zhu2003 and zhou2004 for memberships over graphs, rasmussen2006 for fields, cover1967 for
nearest rows.
"""

import warnings
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from sklearn.base import BaseEstimator, clone

from likewise.cluster import (
    DistanceField,
    add_distances,
    interpolate_groups,
    known_components,
    match_clusters,
    solve_walks,
    spread_memberships,
)
from likewise.constraints import Constraints
from likewise.guided.evidence import level_for
from likewise.guided.nearest_known import nearness_between
from likewise.guided.placed import Placed, share_by_distance
from likewise.guided.plain_clusters import share_plainly
from likewise.guided.spaces import start_coordinates
from likewise.guided.unnamed_groups import limit_unnamed, unseen_share
from likewise.kernel_learning import SKLR
from likewise.kernels import normalized_adjacency, self_tuning_graph, sq_distances
from likewise.metric_learning import ITML
from likewise.numerics.threads import one_thread_if_small
from likewise.progress import track

N_PERMUTATIONS = 499
N_FOLDS = 5
NATS_PER_HIT = (
    0.5  # a known row predicted without it; rows near each other are no independent proof
)
# What spreads memberships:
GRAPH, FIELD, MEANS, NEAREST, MATCHED = "graph", "field", "means", "nearest", "matched"
PRIORS = {  # in nats
    GRAPH: 0.0,
    FIELD: 1.0,  # the best of them on most data
    MEANS: -3.0,  # until some six hits say otherwise
    NEAREST: -2.0,
    MATCHED: 1.0,  # of clusters without answers: a click or two show no border of a group
}
PLAIN = "clusters without answers"
POWER = 1.0  # log of what is expected before any row is held out, as memberships are flat,
PULL = 0.5  # towards it, in nats
LEAST = 1e-4  # membership: one space alone must not veto
ALPHA = 0.98  # a step over the graph, as in GraphPropagation
ONE_SIDED = 0.1  # of a field: weight of edges that one of two rows has, beside 1 of those of both,
NOISE = 0.05  # and variance of an answer
TOL = 1e-9
C = 1.0  # of SKLR
SHARE = 0.95  # of a start's spectrum
N_LANDMARKS = 1000
TRIAL_TOL = 1e-2
STARTS = ("gaussian", "diffusion", "linear")
MOST_FEATURES = 300  # that ITML is fitted to: its cost grows with their square
ERROR_RATE = 0.05  # of people, when an answer is doubted
SLACK = 1e-9  # sums over equal shares may differ in their last digits


class Space(NamedTuple):
    """A space that memberships are spread in, and how."""

    name: str
    learner: SKLR | ITML | None  # not fitted; None for the features as they are
    by: str = GRAPH
    plain: Placed | None = None  # the clusters without answers that are matched to groups

    @property
    def start(self) -> str | None:
        """The kernel that it starts from; None where it starts from the features."""
        return self.learner.start if isinstance(self.learner, SKLR) else None


class WeighedSpaces(NamedTuple):
    """Spaces, and what rows that were held out say about them."""

    spaces: list[Space]
    weights: np.ndarray  # (n_spaces,)
    hits: np.ndarray  # (n_spaces,) share of the known rows predicted without them
    held_out: np.ndarray  # (m, k) of the known rows, by what was learned without their fold
    sharpness: float  # the power of memberships
    is_doubtful: np.ndarray  # (m,) known rows that are set aside


class GroupedRows(NamedTuple):
    """Clusters from known groups."""

    memberships: np.ndarray  # (n, k)
    learner: BaseEstimator | None  # fitted; of the space with the most weight


def groups_of(answers: Constraints, n_clusters: int | str) -> np.ndarray | None:
    """(n,) the group of each known row, -1 for the others; None where answers do not name groups.

    They do when every two components of must-links are known to be apart, as labels of some rows
    are, and when there is no other kind of answer and a cluster for every group. Clusters beyond
    those are for groups that no answer names, where some group has two rows (one row each would say
    nothing about how many rows such groups have).
    """
    has_weight = answers.weights > 0
    if has_weight[answers.positions("odd_one_out", "closer")].any():
        return None
    pairs = answers.positions("must_link", "cannot_link")
    known = known_components(answers.subset(pairs[has_weight[pairs]]))
    if not known.are_all_apart or known.n_components < 2:
        return None
    if n_clusters in ("auto", known.n_components):
        return known.components
    has_more = int(n_clusters) > known.n_components and known.sizes.max() > 1
    return known.components if has_more else None


def spaces_for(X: np.ndarray, seed: int) -> list[Space]:
    """The features first, then what is learned from the known groups."""
    spaces = [
        Space("the neighbor graph of the features", None),
        Space("smooth fields in the features", None, FIELD),
        Space("nearest known rows in the features", None, NEAREST),
    ]
    for start in STARTS:
        learner = SKLR(
            start=start,
            C=C,
            n_components=SHARE,
            n_landmarks=N_LANDMARKS,
            tol=TRIAL_TOL,
            random_state=seed,
        )
        spaces.append(Space(f"the neighbor graph of SKLR from a {start} start", learner))
        if start == "gaussian":
            spaces.append(Space(f"smooth fields in SKLR from a {start} start", learner, FIELD))
            spaces.append(Space(f"nearest means in SKLR from a {start} start", learner, MEANS))
            spaces.append(
                Space(f"nearest known rows in SKLR from a {start} start", learner, NEAREST)
            )
    if X.shape[1] <= MOST_FEATURES:
        metric = ITML(random_state=seed)
        spaces.append(Space("the neighbor graph of ITML", metric))
        spaces.append(Space("smooth fields in ITML", metric, FIELD))
        spaces.append(Space("nearest known rows in ITML", metric, NEAREST))
    return spaces


@one_thread_if_small(lambda X, *_, **__: X.size)
def weigh_spaces(
    X: np.ndarray, groups: np.ndarray, *, seed: int, plain: Placed | None = None
) -> WeighedSpaces:
    """How well each space predicts the known rows that were held out.

    `plain` are the clusters without answers, where some groups are unnamed.
    """
    spaces, own = spaces_for(X, seed), groups[groups >= 0]
    if plain is not None:
        spaces.append(Space(PLAIN, None, MATCHED, plain))
    held_out = hold_out_groups(X, groups, spaces, seed)
    is_hit = held_out.argmax(axis=2) == own
    weights = weigh(is_hit.sum(axis=1), np.array([PRIORS[space.by] for space in spaces]))
    unseen = combine(held_out, weights)
    sharpness = fit_sharpness(unseen, own)
    unseen = sharpen(unseen, sharpness)
    return WeighedSpaces(
        spaces, weights, is_hit.mean(axis=1), unseen, sharpness, doubt_rows(unseen, own)
    )


@one_thread_if_small(lambda X, *_, **__: X.size)
def cluster_by_groups(
    X: np.ndarray,
    groups: np.ndarray,
    weighed: WeighedSpaces,
    *,
    seeds: np.ndarray,
    n_clusters: int,
) -> GroupedRows:
    """Memberships of all rows by spaces that were weighed on some of them.

    `seeds` are the known groups, and rows that stand for groups that no answer names
    (unnamed_groups.py): nothing is learned from these, but memberships spread from them too.
    """
    spaces, weights = weighed.spaces, weighed.weights
    trusted = groups.copy()
    trusted[np.flatnonzero(groups >= 0)[weighed.is_doubtful]] = -1

    seeds = np.where(groups >= 0, trusted, seeds)
    learners = fit_learners(spaces, X, trusted)
    everywhere = [
        spread_in(
            learners[space.learner].transform(X) if space.learner else X, space, seeds, n_clusters
        )
        for space in spaces
    ]
    memberships = limit_unnamed(
        combine(np.array(everywhere), weights), int(groups.max()) + 1, unseen_share(groups)
    )
    memberships = sharpen(memberships, weighed.sharpness)
    memberships[trusted >= 0] = np.eye(n_clusters)[trusted[trusted >= 0]]
    graphs = [0.0 if space.by in (MEANS, MATCHED) else w for space, w in zip(spaces, weights)]
    best = spaces[int(np.argmax(graphs))]
    return GroupedRows(memberships, learners.get(best.learner))


# Do the known rows predict each other at all?


def follow_the_data(X: np.ndarray, groups: np.ndarray, seed: int) -> tuple[bool, float]:
    """Whether groups are learned from, and the p-value of the test; nan where it cannot be made.

    The test is exact: walks between known rows, and which of them are nearest, do not depend on the
    names of their groups, so permuted names say what chance would do. Where no group has two known
    rows nothing can be tested, and below 20 known rows there is little power: there a prior
    decides, for learning.
    """
    known = np.flatnonzero(groups >= 0)
    names = groups[known]
    if np.bincount(names).max() < 2:
        return True, np.nan
    rng = np.random.default_rng(seed)
    draws = [names, *(rng.permutation(names) for _ in range(N_PERMUTATIONS))]
    agreement = np.zeros(len(draws))
    for shares in (walks_between(X, known), nearness_between(X[known])):
        credits = np.array([own_credit(shares, drawn) for drawn in draws])
        agreement += (credits - credits.mean()) / (credits.std() or 1.0)
    n_as_good = np.count_nonzero(agreement[1:] >= agreement[0] - SLACK)
    p_value = (1 + n_as_good) / (1 + N_PERMUTATIONS)
    return bool(p_value <= level_for(len(known))), float(p_value)


def walks_between(X: np.ndarray, known: np.ndarray) -> np.ndarray:
    """(m, m) how often walks from one known row over the graph of all rows end at another."""
    S, _ = normalized_adjacency(self_tuning_graph(X))
    ends = np.zeros((len(X), len(known)))
    ends[known, np.arange(len(known))] = 1
    walks = solve_walks(S, ends, alpha=ALPHA, tol=TOL).X[known]
    np.fill_diagonal(walks, 0)
    return walks


def own_credit(shares: np.ndarray, names: np.ndarray) -> float:
    """Sum over known rows of what their own group has of their shares (m, m) of other known rows.

    Rows alone in their group do not count.
    """
    members = np.eye(names.max() + 1)[names]  # (m, k)
    others = members.sum(axis=0) - members  # known rows of each group, the row itself left out
    F = (shares @ members) / np.maximum(others, 1)
    totals = F.sum(axis=1)
    own = (F * members).sum(axis=1)[totals > 0] / totals[totals > 0]
    n_others = (others * members).sum(axis=1)[totals > 0]
    return float(own[n_others > 0].sum())


# Memberships in one space


def spread_in(Z: np.ndarray, space: Space, groups: np.ndarray, n_groups: int = 0) -> np.ndarray:
    """Memberships (n, k) from the known groups, over the graph of Z or by what is nearest in it."""
    n_groups = n_groups or int(groups.max()) + 1
    if space.by == MATCHED and space.plain is not None:
        return share_by_clusters(share_plainly(Z, space.plain), groups, n_groups)
    if space.by == FIELD:
        return share_by_fields(Z, groups, n_groups)
    if space.by == MEANS:
        return share_by_means(Z, groups, n_groups)
    if space.by == NEAREST:
        return share_by_nearest(Z, groups, n_groups)
    memberships = spread_memberships(self_tuning_graph(Z), groups, n_groups, alpha=ALPHA, tol=TOL)
    return np.where(memberships.sum(axis=1, keepdims=True) > 0, memberships, 1 / n_groups)


def share_by_fields(Z: np.ndarray, groups: np.ndarray, n_groups: int) -> np.ndarray:
    """Those of a Gaussian field over the neighbor graph, and half as much of one by distances.

    A session's memberships are these (labeling/knowledge.py).
    """
    S, _ = normalized_adjacency(self_tuning_graph(Z, one_sided=ONE_SIDED))
    over_graph = interpolate_groups(S, groups, n_groups, alpha=ALPHA, tol=TOL, noise=NOISE)
    over_graph[~over_graph.any(axis=1)] = 1 / n_groups
    return add_distances(over_graph, DistanceField(Z).spread(groups, n_groups))


def share_by_means(Z: np.ndarray, groups: np.ndarray, n_groups: int) -> np.ndarray:
    """Softmax of squared distances to the groups' means, in half mean least distances."""
    sq_dists = np.full((len(Z), n_groups), np.inf)
    for group in np.unique(groups[groups >= 0]):
        sq_dists[:, group] = np.square(Z - Z[groups == group].mean(axis=0)).sum(axis=1)
    return share_by_distance(sq_dists, sq_dists.min(axis=1).mean() / 2)


def share_by_nearest(Z: np.ndarray, groups: np.ndarray, n_groups: int) -> np.ndarray:
    """Memberships that fall with the fourth power of the distance to a group's nearest known row.

    A power has no unit: rows are as near as their surroundings are dense.
    """
    sq_dists = np.full((len(Z), n_groups), np.inf)
    for group in np.unique(groups[groups >= 0]):
        sq_dists[:, group] = sq_distances(Z, Z[groups == group]).min(axis=1)
    least = sq_dists.min(axis=1, keepdims=True)
    floor = LEAST * least.mean() or 1.0  # for copies of known rows, whose distance is 0
    odds = np.square((least + floor) / (sq_dists + floor))
    return odds / odds.sum(axis=1, keepdims=True)


def share_by_clusters(shares: np.ndarray, groups: np.ndarray, n_groups: int) -> np.ndarray:
    """Memberships (n, n_groups) by those in clusters (n, k), each matched to a group."""
    n_clusters = shares.shape[1]
    numbers = match_clusters(groups, shares.argmax(axis=1), n_groups, n_clusters)
    matched = np.zeros((len(shares), max(n_groups, n_clusters)))
    matched[:, numbers] = shares
    matched = matched[:, :n_groups]
    totals = matched.sum(axis=1, keepdims=True)
    return np.where(totals > 0, matched / np.where(totals > 0, totals, 1), 1 / n_groups)


def fit_learners(spaces: list[Space], X: np.ndarray, groups: np.ndarray) -> dict:
    """The learner of every space, fitted to the known groups; one that two spaces share, once."""
    learners = {space.learner: space.learner for space in spaces if space.learner is not None}
    return {key: fit_to_groups(clone(one), X, groups) for key, one in learners.items()}


def fit_to_groups(learner, X: np.ndarray, groups: np.ndarray):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it need not settle
        return learner.fit(X, constraints=Constraints.from_partial_labels(groups))


# All spaces together, by rows held out


def hold_out_groups(
    X: np.ndarray, groups: np.ndarray, spaces: list[Space], seed: int
) -> np.ndarray:
    """Memberships (n_spaces, m, k) of the known rows, by what was learned without their fold."""
    known, n_groups = np.flatnonzero(groups >= 0), int(groups.max()) + 1
    folds = deal_rows(groups[known], seed)
    coordinates = start_coordinates(X, spaces, seed)
    held_out = np.full((len(spaces), len(known), n_groups), 1 / n_groups)
    for fold in track(np.unique(folds), "holding out known rows"):
        part = groups.copy()
        part[known[folds == fold]] = -1
        if len(np.unique(part[part >= 0])) < 2:
            continue
        learned: dict = {}
        for s, space in enumerate(spaces):
            if space.learner not in learned:
                learned[space.learner] = learn_from_start(coordinates[space.start], space, part)
            memberships = spread_in(learned[space.learner], space, part, n_groups)
            held_out[s, folds == fold] = memberships[known[folds == fold]]
    return held_out


def learn_from_start(Y: np.ndarray, space: Space, groups: np.ndarray) -> np.ndarray:
    """The rows in the space learned from known groups, from the coordinates of its start."""
    if space.learner is None:
        return Y
    learner = clone(space.learner)
    if space.start is not None:
        learner.set_params(start="coordinates")
    return fit_to_groups(learner, Y, groups).transform(Y)


def deal_rows(names: np.ndarray, seed: int) -> np.ndarray:
    """A fold for each known row; the rows of a group are spread over the folds."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(names))
    order = order[np.argsort(names[order], kind="stable")]
    folds = np.empty(len(names), dtype=np.int64)
    folds[order] = np.arange(len(names)) % N_FOLDS
    return folds


def weigh(n_hits: np.ndarray, priors: np.ndarray) -> np.ndarray:
    """(n_spaces,) weights that sum to 1."""
    log_weights = NATS_PER_HIT * n_hits + priors
    weights = np.exp(log_weights - log_weights.max())
    return weights / weights.sum()


def combine(memberships: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Geometric mean (n, k) of memberships (n_spaces, n, k)."""
    logs = np.tensordot(weights, np.log(np.maximum(memberships, LEAST)), axes=1)
    return sharpen(np.exp(logs - logs.max(axis=1, keepdims=True)), 1.0)


def sharpen(memberships: np.ndarray, sharpness: float) -> np.ndarray:
    """Memberships to a power, each row summing to 1 again."""
    ratios = memberships / memberships.max(axis=1, keepdims=True)
    powers = np.maximum(ratios, LEAST**2) ** sharpness
    return powers / powers.sum(axis=1, keepdims=True)


def fit_sharpness(memberships: np.ndarray, own: np.ndarray) -> float:
    """The power with the least log-loss of held-out rows, drawn a little towards e."""
    rows = np.arange(len(own))

    def loss(log_sharpness):
        chances = sharpen(memberships, np.exp(log_sharpness))[rows, own]
        return -np.log(np.maximum(chances, LEAST)).sum() + PULL * (log_sharpness - POWER) ** 2

    return float(np.exp(minimize_scalar(loss, bounds=(-1.5, 3.0), method="bounded").x))


def doubt_rows(memberships: np.ndarray, own: np.ndarray) -> np.ndarray:
    """(m,) known rows that rather belong elsewhere, if one answer in twenty is wrong.

    A group keeps at least one of its rows.
    """
    n_groups = memberships.shape[1]
    chances = memberships[np.arange(len(own)), own]
    wrong = ERROR_RATE / (n_groups - 1) * (1 - chances)
    is_doubtful = wrong > (1 - ERROR_RATE) * chances
    for group in np.unique(own):
        of_group = np.flatnonzero(own == group)
        if is_doubtful[of_group].all():
            is_doubtful[of_group[np.argmax(chances[of_group])]] = False
    return is_doubtful
