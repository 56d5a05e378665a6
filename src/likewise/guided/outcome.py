"""Clusters in a chosen space, and what is kept of how they were made.

by centers     k-means, with a price on every pair that it violates; the others by distance
by neighbors   memberships spread from known groups, or found from pairs over joined graphs; the
               others by those of their neighbors
"""

from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from likewise.cluster import ClusterCount, choose_n_clusters
from likewise.constraints import Constraints
from likewise.evaluation import fit_keywords, percent, satisfied_answers
from likewise.guided.calibration import evenness_by_groups, evenness_by_pairs
from likewise.guided.evidence import weigh_evidence
from likewise.guided.fewer_directions import along, anchor_directions
from likewise.guided.graph_rows import add_small_groups, spread_over
from likewise.guided.known_groups import (
    WeighedSpaces,
    follow_the_data,
    weigh_spaces,
)
from likewise.guided.pair_consensus import (
    N_SPLITS,
    WAYS,
    Weighed,
    extend_folds,
    find_ways,
    judge_answers,
    judge_others,
    lead_directions,
    learn_spaces,
    place_side_by_side,
    try_ways,
    weigh_ways,
)
from likewise.guided.pair_graphs import (
    FREE,
    HELD,
    are_trusted,
    choose_step,
    doubt_answers,
    find_centers,
    kernel_learner,
    last_steps,
    memberships_of,
    never_contradict,
    unseen_credits,
    unseen_evenness,
)
from likewise.guided.placed import (
    Placed,
    largest_first,
    mean_of,
    share_by_distance,
    share_by_neighbors,
)
from likewise.guided.plain_clusters import cluster_plainly, how_far, share_plainly, share_some
from likewise.guided.round_groups import RoundGroups, find_round_groups
from likewise.guided.spaces import AS_THEY_ARE, Choice, start_coordinates
from likewise.guided.unnamed_groups import seed_unnamed
from likewise.kernel_learning import SKLR
from likewise.kernels import sq_distances
from likewise.maps import as_map
from likewise.numerics.rows import sample_rows

GRAPH_ROWS = 3000  # that groups are spread over; the others take the memberships of their neighbors
TRIAL_ROWS = 1000  # that spaces are weighed on, known rows among them
PAIR_ROWS = 600  # that pairs are tried on, beside those that they refer to
TRIAL_ANSWERS = 500  # drawn at random to judge by, if there are more


class Outcome(NamedTuple):
    """Clusters of the rows that were learned from."""

    choice: Choice
    learner: BaseEstimator | None  # fitted; None for the features as they are
    Z: np.ndarray  # (n, r) the rows in the space that was chosen
    labels: np.ndarray  # (n,) the largest cluster first
    centers: np.ndarray  # (k, r)
    doubtful: np.ndarray  # positions of the answers that were set aside
    pulls: np.ndarray  # (n_answers,)
    why_n_clusters: str
    anchors: np.ndarray | None = None  # (m, r) rows that memberships were spread over
    anchor_memberships: np.ndarray | None = None  # (m, k)
    anchor_directions: np.ndarray | None = None  # (r, q) in which rows look for them; None is all
    plain: Placed | None = None  # clusters without answers, where they were found
    sq_unit: float | None = None  # of memberships by distances to centers, where it was fitted
    evenness: float = 0.0  # share of memberships that answers want spread evenly over the clusters


class Learned(NamedTuple):
    Z: np.ndarray  # (n, r)
    pulls: np.ndarray  # (n_answers,)


def spread_groups(
    X: np.ndarray,
    answers: Constraints,
    groups: np.ndarray,
    n_clusters: int | str,
    *,
    n_init: int,
    seed: int,
    keeps_space: bool = False,
) -> Outcome:
    """Clusters from the rows whose group is known, unless the groups do not follow the data."""
    known, n_groups = np.flatnonzero(groups >= 0), int(groups.max()) + 1
    k = n_groups if n_clusters == "auto" else int(n_clusters)
    rows = sample_rows(len(X), GRAPH_ROWS, known, seed)
    why_n_clusters = f"{n_groups}, the groups that answers name"
    if k > n_groups:
        why_n_clusters = f"{k}, as asked; answers name {n_groups} of them"
    is_learned, p_value = follow_the_data(X[rows], groups[rows], seed)
    pulls = np.zeros(answers.n_answers)
    if not is_learned:
        choice = nothing_learned(
            answers,
            "the known rows do not predict each other better than with permuted groups "
            f"(p = {p_value:.2f})",
        )
        counted = ClusterCount(k, why_n_clusters)
        return without_answers(X, answers, counted, choice, n_init, seed, groups)

    trial_rows = rows[sample_rows(len(rows), TRIAL_ROWS, np.searchsorted(rows, known), seed)]
    seeds, plain = groups[rows], None
    if k > n_groups:
        plain = cluster_plainly(X, k, n_init, seed)
        seeds = seed_unnamed(seeds, plain.labels[rows], how_far(X[rows], plain), k)
    weighed = weigh_spaces(X[trial_rows], groups[trial_rows], seed=seed, plain=plain)
    spread = spread_over(X, groups, weighed, rows, seeds, k)
    if len(rows) < len(X) and k == n_groups:
        more = add_small_groups(rows, spread.memberships.argmax(axis=1), k, seed)
        if len(more) > len(rows):
            spread = spread_over(X, groups, weighed, more, groups[more], k)
    round_groups = None
    if len(rows) < len(X) and k == n_groups and not keeps_space:
        learned = None
        if spread.grouped.learner is not None:
            learned = along(spread.Z, spread.directions)[spread.rows]
        round_groups = find_round_groups(X[spread.rows], spread.grouped.memberships, learned)
    if round_groups is None:
        Z, labels = spread.Z, spread.memberships.argmax(axis=1)
        centers = np.array([mean_of(Z, labels == group) for group in range(k)])
    else:
        Z, centers = X, round_groups.means
        labels = sq_distances(Z, centers).argmin(axis=1)
        trusted = known[~weighed.is_doubtful]
        labels[trusted] = groups[trusted]
    order = largest_first(labels, k)
    labels, centers = np.argsort(order)[labels], centers[order]
    credits = pair_credits(answers, groups, weighed.held_out)
    doubtful_rows = known[weighed.is_doubtful]
    is_doubtful = np.array(
        [
            bool(np.isin(answers.points_of(i), doubtful_rows).any())
            for i in range(answers.n_answers)
        ],
        dtype=bool,
    )
    is_violated = satisfied_answers(None, answers, labels) == 0  # by a contradiction
    doubtful = np.flatnonzero(np.asarray(is_doubtful, dtype=bool) | is_violated)
    doubtful = doubtful[np.argsort(credits[doubtful], kind="stable")]
    choice = Choice(
        None,
        [space.name for space in weighed.spaces],
        weighed.hits,
        np.sqrt(weighed.hits * (1 - weighed.hits) / max(len(known) - 1, 1)),
        int(np.argmax(weighed.weights)),
        explain(weighed, len(known), p_value) + explain_round(round_groups),
        credits,
    )
    outcome = Outcome(
        choice, None, Z, labels, centers, doubtful, pulls, why_n_clusters, plain=plain
    )
    if round_groups is not None:
        return outcome._replace(sq_unit=round_groups.sq_unit)
    return outcome._replace(
        learner=spread.grouped.learner,
        anchors=Z[spread.rows],
        anchor_memberships=spread.grouped.memberships[:, order],
        anchor_directions=spread.directions,
    )


def are_mostly_pairs(answers: Constraints) -> bool:
    """Whether clusters are found over graphs that pairs change; their rows must fit into these."""
    n_pairs = np.count_nonzero(answers.weights[answers.positions("must_link", "cannot_link")])
    is_small = len(answers.touched_rows()) <= GRAPH_ROWS
    return bool(is_small and n_pairs > 0 and 2 * n_pairs >= answers.n_answers)


def join_pairs(
    X: np.ndarray, answers: Constraints, n_clusters: int | str, *, n_init: int, seed: int
) -> Outcome:
    """Clusters from pairs over joined graphs, unless the answers do not follow the data."""
    judged = draw_answers(answers, seed)
    trial = answers.subset(judged)
    trial_rows = sample_rows(len(X), PAIR_ROWS, trial.touched_rows(), seed)
    X_trial, trial = X[trial_rows], trial.restrict(trial_rows)
    start = start_coordinates(X_trial, [kernel_learner(seed)], seed)["gaussian"]
    leading = lead_directions(X_trial, seed)
    evidence = weigh_evidence(
        X_trial,
        trial,
        lambda part: learn_spaces(leading, start, part, seed),
        n_clusters=None if n_clusters == "auto" else int(n_clusters),
        seed=seed,
    )
    if not evidence.follows:
        choice = nothing_learned(
            answers,
            "the answers agree with the data no better than random ones would "
            f"(p = {evidence.p_value:.2f})",
        )
        counted = choose_n_clusters(X, None, n_clusters, random_state=seed)
        return without_answers(X, answers, counted, choice, n_init, seed)

    every = np.arange(answers.n_answers)
    learner: SKLR | None = kernel_learner(seed)
    Z, pulls = fit_learner(learner, X, answers, every)
    counted = choose_n_clusters(Z, answers, n_clusters, X=X, random_state=seed)
    k = counted.n_clusters
    splits = list(trial.folds(N_SPLITS, random_state=seed))
    found = cluster_plainly(X, k, n_init, seed)
    plain = share_plainly(X_trial, found)
    way_trials = try_ways(leading, start, trial, splits, k, plain=plain, seed=seed)
    weighed = weigh_ways(way_trials, trial, splits)
    trials = judge_answers(way_trials, weighed, trial, splits, k, seed)
    credits = np.full(answers.n_answers, np.nan)
    credits[judged], power, sharpness, error_rate = unseen_credits(trials, trial)

    rows = sample_rows(len(X), GRAPH_ROWS, np.union1d(answers.touched_rows(), trial_rows), seed)
    heard = answers.restrict(rows)
    plain, leading = share_plainly(X[rows], found), lead_directions(X[rows], seed)
    ways = find_ways(leading, Z[rows], heard, k, plain=plain, n_init=n_init, seed=seed)
    folds = extend_folds(way_trials, Z[rows], np.searchsorted(rows, trial_rows))
    others = np.setdiff1d(every, judged)
    credits[others] = judge_others(folds, weighed, heard.subset(others), power)
    shares = [1.0, *(len(trial_rows) / len(rows) for _ in folds)]
    C = place_side_by_side([ways, *folds], shares, weighed)
    centers = find_centers(C, k, n_init, seed)
    steps = last_steps(C, heard, centers)
    wrong = np.nan_to_num(doubt_answers(credits, error_rate))
    is_violated = satisfied_answers(Z[rows], heard, steps[FREE]) == 0
    all_hold = never_contradict(answers)
    is_trusted = all_hold or are_trusted(trials, trial, error_rate)
    if is_trusted:
        is_violated[:] = False
    doubtful = np.flatnonzero(is_violated & (wrong > 0.5))
    doubtful = doubtful[np.argsort(-wrong[doubtful], kind="stable")]
    if len(doubtful):
        trusted = np.setdiff1d(every, doubtful)
        Z, pulls = fit_learner(learner, X, answers, trusted)
        heard = heard.subset(trusted)
        ways = find_ways(leading, Z[rows], heard, k, plain=plain, n_init=n_init, seed=seed)
        C = place_side_by_side([ways, *folds], shares, weighed)
        centers = find_centers(C, k, n_init, seed)
        steps = last_steps(C, heard, centers)
    top = int(np.argmax(weighed.weights))
    if WAYS[top] == AS_THEY_ARE.name:
        learner, Z, pulls = None, X, np.zeros(answers.n_answers)
    step = HELD if all_hold else choose_step(trials, trial, error_rate, is_trusted)
    labels = steps[step].astype(np.int64)
    memberships = memberships_of(C, labels, centers, sharpness)
    evenness = unseen_evenness(trials, trial, sharpness)
    anchors = Z[rows]
    there = anchor_directions(anchors)
    if len(rows) < len(X):
        near = share_by_neighbors(along(Z, there), along(anchors, there), memberships)
        near = near.argmax(axis=1)
        near[rows] = labels
        labels = near
    order = largest_first(labels, k)
    labels = np.argsort(order)[labels]
    n_judged = int(np.count_nonzero(~np.isnan(trials.first[:, 0])))
    why = explain_pairs(weighed, n_judged)
    choice = Choice(None, WAYS, weighed.scores, weighed.errors, top, why, credits)
    return Outcome(
        choice,
        learner,
        Z,
        labels,
        np.array([mean_of(Z, labels == cluster) for cluster in range(k)]),
        doubtful,
        pulls,
        counted.why,
        anchors,
        memberships[:, order],
        there,
        found,
        evenness=evenness,
    )


def without_answers(
    X: np.ndarray,
    answers: Constraints,
    counted: ClusterCount,
    choice: Choice,
    n_init: int,
    seed: int,
    groups: np.ndarray | None = None,
) -> Outcome:
    """The clusters of the rows alone, since answers teach nothing, as the choice says.

    Still they say how sure these clusters are: by the groups (n,) that they name, or by pairs.
    """
    plain = cluster_plainly(X, counted.n_clusters, n_init, seed)
    if plain.why:
        choice = choice._replace(why=f"{choice.why} Clusters are found {plain.why}.")
    none, pulls = np.empty(0, dtype=np.int64), np.zeros(answers.n_answers)
    return Outcome(
        choice,
        None,
        X,
        plain.labels,
        plain.centers,
        none,
        pulls,
        counted.why,
        plain.anchors,
        plain.memberships,
        plain.directions,
        plain,
        evenness=evenness_without(X, answers, plain, groups),
    )


def evenness_without(
    X: np.ndarray, answers: Constraints, plain: Placed, groups: np.ndarray | None
) -> float:
    """By answers that had no part in the clusters."""
    if groups is not None:
        known = np.flatnonzero(groups >= 0)
        return evenness_by_groups(share_some(X, known, plain), groups[known])
    pairs, sign = answers.signed_pairs()
    if len(pairs) == 0:
        return 0.0
    touched, at = np.unique(pairs, return_inverse=True)
    shares = share_some(X, touched, plain)[at.reshape(pairs.shape)]  # (m, 2, k)
    weights = answers.weights[answers.positions("must_link", "cannot_link")]
    return evenness_by_pairs(shares[:, 0], shares[:, 1], sign, weights)


def nothing_learned(answers: Constraints, why: str) -> Choice:
    """The features as they are, because the answers do not follow the data."""
    nothing, unknown = np.empty(0), np.full(answers.n_answers, np.nan)
    why = f"{AS_THEY_ARE.name}: {why}, so nothing is learned from them."
    return Choice(None, (), nothing, nothing, -1, why, unknown, follows=False)


def draw_answers(answers: Constraints, seed: int) -> np.ndarray:
    """Positions of the answers to judge by, ascending: all, or 500 drawn at random."""
    every = np.arange(answers.n_answers)
    if len(every) <= TRIAL_ANSWERS:
        return every
    return np.sort(np.random.RandomState(seed).choice(every, TRIAL_ANSWERS, replace=False))


def fit_learner(learner, X, answers: Constraints, trusted: np.ndarray) -> "Learned":
    """Fit the learner to the trusted answers, in place, and map the rows."""
    pulls = np.zeros(answers.n_answers)
    if learner is None:
        return Learned(X, pulls)
    learner.fit(X, **fit_keywords(learner, answers.subset(trusted)))
    pulls[trusted] = pulls_of(learner)
    return Learned(as_map(learner).transform(X), pulls)


def pulls_of(learner) -> np.ndarray | float:
    """The duals of a fitted learner, one per answer, or of a pipeline's last step that has any."""
    steps = [step for _, step in learner.steps] if isinstance(learner, Pipeline) else [learner]
    return next((step.duals_ for step in reversed(steps) if hasattr(step, "duals_")), 0.0)


def explain_pairs(weighed: Weighed, n_judged: int) -> str:
    top, plain = int(np.argmax(weighed.weights)), WAYS.index(AS_THEY_ARE.name)
    if n_judged == 0:
        return f"{WAYS[top]}: no answer could be held out."
    why = (
        f"{len(weighed.weights)} ways to cluster, averaged by how likely they make held-out "
        f"answers: most weight ({percent(weighed.weights[top])}) has {WAYS[top]}, whose clusters "
        f"predict {percent(weighed.scores[top])} of {n_judged} held-out answers"
    )
    if top == plain:
        return f"{why}."
    is_behind = weighed.scores[plain] > weighed.scores[top]
    prior = ", which count less before answers speak for them," if is_behind else ""
    return f"{why}; the clusters without answers{prior} predict {percent(weighed.scores[plain])}."


def explain(weighed: WeighedSpaces, n_known: int, p_value: float) -> str:
    n_used = int(np.count_nonzero(weighed.weights > 0.01))
    top = int(np.argmax(weighed.weights))
    tested = "" if np.isnan(p_value) else f" (p = {p_value:.3f})"
    spaces = "1 space" if n_used == 1 else f"{n_used} spaces"
    return (
        f"{n_known} known rows predict each other's groups{tested}; they are spread by {spaces}, "
        f"most by {weighed.spaces[top].name}, which predicts {percent(weighed.hits[top])} of them."
    )


def explain_round(found: RoundGroups | None) -> str:
    if found is None:
        return ""
    return (
        f" Rows beyond the graph go to the nearest mean of a group in the features: means place "
        f"{percent(found.share_by_means)} of its own rows as it does, their neighbors "
        f"{percent(found.share_by_neighbors)}."
    )


def pair_credits(answers: Constraints, groups: np.ndarray, held_out: np.ndarray) -> np.ndarray:
    """(n_answers,) chance of each pair by the memberships of rows that were held out."""
    known = np.flatnonzero(groups >= 0)
    at = np.full(len(groups), -1)
    at[known] = np.arange(len(known))
    credits = np.full(answers.n_answers, np.nan)
    pairs, sign = answers.signed_pairs()
    places = at[pairs]
    are_known = (places >= 0).all(axis=1)
    together = (held_out[places[:, 0]] * held_out[places[:, 1]]).sum(axis=1)
    chances = np.where(sign > 0, together, 1 - together)
    positions = answers.positions("must_link", "cannot_link")
    credits[positions[are_known]] = chances[are_known]
    return credits


def share_by_centers(Z, centers: np.ndarray, sq_unit: float) -> np.ndarray:
    """Memberships (n, k) of rows by their squared distances to centers."""
    return share_by_distance(sq_distances(Z, centers), sq_unit)
