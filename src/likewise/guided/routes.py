"""Three routes from answers to clusters; which one is taken depends on what the answers are.

known groups   of some rows (labels, clicks): memberships spread over graphs (known_groups.py)
pairs          mostly: an average of five ways to cluster (pair_consensus.py)
a space        otherwise, or where a learner is given: k-means in the features as they are, unless
               held-out answers prefer a learned space (spaces.py), with a price on every pair that
               it violates; once more without the doubtful answers, which the others contradict
"""

import numpy as np
from sklearn.base import BaseEstimator, clone

from likewise.cluster import choose_n_clusters
from likewise.constraints import Constraints
from likewise.evaluation import satisfied_answers
from likewise.guided.known_groups import groups_of
from likewise.guided.outcome import (
    Outcome,
    are_mostly_pairs,
    draw_answers,
    fit_learner,
    join_pairs,
    spread_groups,
    without_answers,
)
from likewise.guided.placed import place
from likewise.guided.spaces import Choice, choose_space, people_disagree, rank_doubtful, try_choices
from likewise.kernel_learning import ChoiceKernel
from likewise.numerics.rows import sample_rows

TRIAL_ROWS = 600  # rows that candidates are tried on, beside those that answers touch


def cluster_by_answers(
    X,
    answers: Constraints,
    n_clusters: int | str,
    *,
    learner: BaseEstimator | str,
    n_init: int,
    n_jobs: int | None,
    seed: int,
    keeps_space: bool = False,
) -> Outcome:
    """Clusters of prepared rows; `keeps_space` where more is done in the space that was learned."""
    if isinstance(learner, str):
        groups = groups_of(answers, n_clusters)
        if groups is not None:
            return spread_groups(
                X, answers, groups, n_clusters, n_init=n_init, seed=seed, keeps_space=keeps_space
            )
        if are_mostly_pairs(answers):
            return join_pairs(X, answers, n_clusters, n_init=n_init, seed=seed)
        choice = choose_learner(X, answers, n_clusters, n_jobs=n_jobs, seed=seed)
    else:
        nothing, unknown = np.empty(0), np.full(answers.n_answers, np.nan)
        why = "the learner was given."
        choice = Choice(clone(learner), (), nothing, nothing, -1, why, unknown)
    return cluster_in_space(X, answers, n_clusters, choice, n_init=n_init, seed=seed)


def choose_learner(
    X, answers: Constraints, n_clusters: int | str, *, n_jobs: int | None, seed: int
) -> Choice:
    """The learner to use, not yet fitted, and how held-out answers chose it."""
    asked = draw_answers(answers, seed)
    drawn = answers.subset(asked)
    rows = sample_rows(X.shape[0], TRIAL_ROWS, drawn.touched_rows(), seed)
    k = None if n_clusters == "auto" else int(n_clusters)
    choice = choose_space(X[rows], drawn.restrict(rows), k, seed=seed, n_jobs=n_jobs)
    credits = np.full(answers.n_answers, np.nan)
    credits[asked] = choice.credits
    choice = choice._replace(credits=credits)
    if people_disagree(choice, answers):
        choice = try_choices(X, answers, choice, seed=seed)
    return choice


def cluster_in_space(
    X, answers: Constraints, n_clusters: int | str, choice: Choice, *, n_init: int, seed: int
) -> Outcome:
    """k-means in the chosen space, again without the doubtful answers.

    Where nothing is learned and no pair has a price, the clusters are those without answers.
    """
    learned = fit_learner(choice.learner, X, answers, np.arange(answers.n_answers))
    counted = choose_n_clusters(learned.Z, answers, n_clusters, X=X, random_state=seed)
    k = counted.n_clusters
    heard = answers if choice.follows else Constraints(answers.n_samples)
    if choice.learner is None and not len(heard.positions("must_link", "cannot_link")):
        plain = without_answers(X, answers, counted, choice, n_init, seed)
        satisfied = satisfied_answers(X, heard, plain.labels)
        doubtful = rank_doubtful(choice.credits[: heard.n_answers], satisfied, plain.pulls)
        return plain._replace(doubtful=doubtful)
    placed = place(learned.Z, heard, k, n_init, seed)
    satisfied = satisfied_answers(learned.Z, heard, placed.labels)
    doubtful = rank_doubtful(choice.credits[: heard.n_answers], satisfied, learned.pulls)
    was_tried = len(choice.names) > 0
    if isinstance(choice.learner, ChoiceKernel) and was_tried:
        doubtful = doubtful[:0]  # who chooses by chance gives unlikely answers too
    if len(doubtful):
        trusted = np.delete(np.arange(answers.n_answers), doubtful)
        learned = fit_learner(choice.learner, X, answers, trusted)
        placed = place(learned.Z, answers.subset(trusted), k, n_init, seed)
    return Outcome(
        choice,
        choice.learner,
        learned.Z,
        placed.labels,
        placed.centers,
        doubtful,
        learned.pulls,
        counted.why,
    )
