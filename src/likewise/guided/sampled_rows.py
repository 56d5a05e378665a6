"""What is learned from a sample of the rows: each part once, and again where another changes it.

numbers   prepared: standardized or not (preparation.py); as at first if answers teach nothing
answers   of people who can be trusted (people.py), by the rows and once more by the clusters
clusters  by one of three routes (routes.py), in a number that the rules allow (last_step.py)
"""

from typing import NamedTuple

import numpy as np

from likewise.constraints import Constraints
from likewise.features import TableFeatures
from likewise.guided.known_groups import groups_of
from likewise.guided.last_step import cluster_by_density, n_clusters_for
from likewise.guided.outcome import Outcome
from likewise.guided.people import People, judge_people, put_back, set_views_aside
from likewise.guided.preparation import Preparation, fit_preparation
from likewise.guided.raw_rows import describe_columns
from likewise.guided.routes import cluster_by_answers
from likewise.guided.view_preparation import prepare_views


class Sampled(NamedTuple):
    """What was learned, and from what."""

    X: np.ndarray  # (m, d) the rows as prepared
    preparation: Preparation
    people: People | None
    outcome: Outcome


def learn_from(model, X, answers: Constraints, rules: Constraints, seed: int) -> Sampled:
    """Prepare the rows, listen to people who can be trusted, and cluster by their answers.

    `model` is the GuidedClustering whose settings these are; it stays as it is.
    """
    preparation = prepare(model, X, answers, seed)
    people = judge_people(preparation.map.transform(X), answers, seed)
    heard = answers if people is None else answers.subset(people.is_kept)
    if heard.n_answers < answers.n_answers:
        preparation = prepare(model, X, heard, seed)
    preparation, X_fit, outcome = prepare_and_cluster(model, X, preparation, heard, seed)
    if people is not None:
        judged = set_views_aside(people, outcome.labels, X_fit, answers)
        if (judged.is_kept != people.is_kept).any():
            people, heard = judged, answers.subset(judged.is_kept)
            preparation = prepare(model, X, heard, seed)
            preparation, X_fit, outcome = prepare_and_cluster(model, X, preparation, heard, seed)
    if model.last_step == "density":
        outcome = cluster_by_density(outcome, model.min_size)
    n_clusters = n_clusters_for(len(outcome.centers), rules, model.min_size, model.max_size)
    if model.n_clusters == "auto" and n_clusters != len(outcome.centers):
        why = f"{n_clusters}, nearest to {len(outcome.centers)} of what the rules allow"
        outcome = cluster(model, X_fit, heard, n_clusters, seed)._replace(why_n_clusters=why)
    if people is not None:
        outcome = put_back(outcome, people.is_kept)
    return Sampled(X_fit, preparation, people, outcome)


def prepare_and_cluster(
    model, X, preparation: Preparation, answers: Constraints, seed: int
) -> tuple[Preparation, np.ndarray, Outcome]:
    """Clusters of the rows as prepared; answers that teach nothing do not prepare either."""
    X_fit = preparation.map.transform(X)
    outcome = cluster(model, X_fit, answers, model.n_clusters, seed)
    if preparation.by_answers and not outcome.choice.follows:
        preparation = prepare(model, X, Constraints(answers.n_samples), seed)
        X_fit = preparation.map.transform(X)
        outcome = cluster(model, X_fit, answers, model.n_clusters, seed)
    return preparation, X_fit, outcome


def cluster(model, X, answers: Constraints, n_clusters: int | str, seed: int) -> Outcome:
    """Clusters of prepared rows, as the settings ask."""
    return cluster_by_answers(
        X,
        answers,
        n_clusters,
        learner=model.learner,
        n_init=model.n_init,
        n_jobs=model.n_jobs,
        seed=seed,
        keeps_space=model.last_step == "density",
    )


def prepare(model, X, answers: Constraints, seed: int) -> Preparation:
    """Columns of a table have equal weights already; anything else is prepared as asked."""
    if model.views is not None:
        return prepare_views(X, model.views, answers)
    if isinstance(model.features_, TableFeatures) and model.preparation in ("auto", "none"):
        prepared = fit_preparation(X, "none", seed=seed)
        return prepared._replace(why=describe_columns(model.features_)[0])
    if model.learner != "auto":
        return fit_preparation(X, model.preparation, seed=seed)
    groups = groups_of(answers, model.n_clusters)
    return fit_preparation(X, model.preparation, answers=answers, groups=groups, seed=seed)
