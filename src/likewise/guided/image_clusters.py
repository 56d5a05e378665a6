"""Images: clusters in codes that were learned without answers, or by a network that learns on.

    codes     learned from the images alone; answers choose only whether they are mirrored
    alone     GuidedClustering in the codes
    network   trained on from the codes and the clusters of `alone`, by the answers' likelihood
    chosen    the network, unless held-out answers prefer the codes alone by one standard error and
              by a hundredth, or too few answers can be held out

Both learn from three quarters of the answers, the network for a quarter of its epochs, and the
others judge. Where answers name groups, rows are held out: their pairs with all known rows judge.
"""

import warnings
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from likewise.constraints import Constraints, Split, check_constraints
from likewise.deep import DeepConstrainedClustering, SelfSupervisedCodes, TrainingPlan
from likewise.evaluation import (
    Selected,
    answer_credits,
    can_judge,
    first_unless_ahead,
    percent,
    satisfaction_score,
    satisfied_answers,
    select,
)
from likewise.guided.known_groups import groups_of
from likewise.guided.last_step import apart_labels, finish
from likewise.guided.outcome import share_by_centers
from likewise.guided.preparation import fit_preparation
from likewise.maps import ChainedMap, by_map, from_device, gpu_at_hand
from likewise.scale import as_blocks, is_blockwise, mapped

LEARNED_SHARE = 0.75  # of the answers, or of the known rows
TRIAL_SHARE = 0.25  # of the network's epochs
N_ERRORS = 1.0  # by which codes alone must be ahead of the network,
LEAST_LEAD = 0.01  # and in mean credit: the network has had a quarter of its epochs
MOST_KNOWN = 300  # rows whose pairs judge
WAYS = ("a network that learned on from the codes", "the codes alone")
CODES = "codes learned from the images alone"


class Tried(NamedTuple):
    """Which way held-out answers prefer."""

    by_network: bool
    why: str


def fit_images(model, X, y, constraints) -> dict[str, Any]:
    """The fitted attributes of a GuidedClustering with `image_shape`, by name."""
    check_image_settings(model, X)
    X = by_map.validate(model, X, reset=True)
    answers = check_constraints(constraints, n_samples=len(X), y=y)
    seed = model.random_state
    if not isinstance(seed, (int, np.integer)):
        seed = check_random_state(seed).randint(2**31 - 1)

    codes = fit_codes(model, X, answers, seed)
    Z = map_images(codes, X, model.device)
    alone = clone(model).set_params(image_shape=None, features="auto", random_state=seed)
    alone.fit(Z, constraints=answers)
    fitted = {**fitted_attributes(alone), "features_": codes}
    fitted["report_"] = describe_codes(fitted["report_"], X.shape[1])
    learned = answers.with_exclusive(None)  # nothing is learned from rules
    tried = try_network(model, alone, X, Z, learned, codes, seed)
    fitted["report_"] = replace(fitted["report_"], why=f"{fitted['report_'].why} {tried.why}")
    if not tried.by_network:
        return fitted
    network = start_network(model, alone.n_clusters_, codes, seed)
    network.fit(X, constraints=learned, init_labels=alone.nearest_labels_)
    return {**fitted, **by_network(model, network, X, answers, fitted["report_"])}


def check_image_settings(model, X) -> None:
    """One error where the settings or the rows do not go with images."""
    if is_blockwise(X):
        raise TypeError("image_shape takes images in one array, not rows in blocks. Load them.")
    if model.views is not None:
        raise ValueError("image_shape takes images alone. Leave out views, or image_shape.")
    if not isinstance(model.features, (str, SelfSupervisedCodes)):
        raise TypeError(
            f"image_shape learns features from the images, so features={model.features!r} is not "
            'used. Give features="auto" or SelfSupervisedCodes, or leave out image_shape.'
        )


def fit_codes(model, X: np.ndarray, answers: Constraints, seed: int) -> SelfSupervisedCodes:
    """The codes that were given, fitted if they are not, or those of the defaults."""
    codes = model.features
    if isinstance(codes, str):
        codes = SelfSupervisedCodes(
            image_shape=model.image_shape, device=model.device, random_state=seed
        )
    if hasattr(codes, "network_"):
        return codes
    return clone(codes).fit(X, constraints=answers.with_exclusive(None))


def map_images(estimator, X: np.ndarray, device: str | None) -> np.ndarray:
    """Codes (n, r), found on a GPU where there is one, unless another device is named."""
    device = gpu_at_hand() if device is None else device
    blocks = mapped(estimator, as_blocks(X), device=None if device == "cpu" else device)
    codes = blocks.map(from_device, estimator.map_.n_directions)
    return np.concatenate(list(codes.run(np.asarray, what="mapping rows")))


def fitted_attributes(model) -> dict[str, Any]:
    """Those that `fit` adds to the settings, by name."""
    settings = model.get_params(deep=False)
    return {name: value for name, value in vars(model).items() if name not in settings}


def describe_codes(report, n_features: int):
    """The report with images where it has codes."""
    return replace(report, n_features=n_features, why_prepared=f"{CODES}; {report.why_prepared}")


def try_network(
    model, alone, X: np.ndarray, Z: np.ndarray, answers: Constraints, codes, seed: int
) -> Tried:
    """Whether the network goes on from the clusters of the codes alone, by held-out answers."""
    if model.learner != "auto" or model.last_step != "auto":
        return Tried(False, "No network was tried: the learner or the last step was given.")
    if not answers.n_answers or alone.report_.chosen < 0:
        return Tried(False, "No network was tried: there is nothing to learn from.")
    k = alone.n_clusters_
    judged, split = hold_out_pairs(answers, k, seed)
    if not can_judge([split]):
        return Tried(False, "No network was tried: too few answers can be held out.")
    plan = TrainingPlan.named("likelihood")
    plan = replace(plan, max_epochs=max(1, round(TRIAL_SHARE * plan.max_epochs)))
    touched = split.held_out.touched_rows()
    first = clone(alone).set_params(n_clusters=k).fit(Z, constraints=split.fit_part)

    def trial(way: str, fit_part: Constraints, held_out: Constraints) -> np.ndarray:
        if way == WAYS[0]:
            network = start_network(model, k, codes, seed).set_params(training=plan)
            network.fit(X, constraints=fit_part, init_labels=first.nearest_labels_)
            memberships = network.predict_proba(X[touched])
        else:
            memberships = first.predict_proba(Z[touched])
        return answer_credits(memberships, held_out.restrict(touched))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a trial need not settle
        selected = select(
            WAYS,
            trial,
            judged,
            splits=[split],
            what="trying a network",
        )
    chosen = first_unless_ahead(selected, judged, N_ERRORS, least=LEAST_LEAD)
    return Tried(chosen == 0, explain(selected, chosen))


def explain(selected: Selected, chosen: int) -> str:
    n_judged = int(selected.is_judged.sum())
    scores = [percent(score) for score in selected.scores]
    return (
        f"By {WAYS[chosen]}: predicts {scores[chosen]} of {n_judged} held-out answers; "
        f"{WAYS[1 - chosen]}, {scores[1 - chosen]}."
    )


def hold_out_pairs(answers: Constraints, n_clusters: int, seed: int) -> tuple[Constraints, Split]:
    """Answers to judge by, and their split; of known groups all pairs, split by rows."""
    groups = groups_of(answers, n_clusters)
    if groups is None:
        return answers, answers.split(LEARNED_SHARE, random_state=seed)
    rng = np.random.RandomState(seed)
    known = rng.permutation(np.flatnonzero(groups >= 0))[:MOST_KNOWN]
    ranks = np.empty(len(known), dtype=np.int64)  # 0 for the first row of a group, then 1, ...
    for group in np.unique(groups[known]):
        members = np.flatnonzero(groups[known] == group)
        ranks[members] = np.arange(len(members))
    more = np.flatnonzero(ranks > 0)  # every group keeps a row
    n_held_out = min(len(more), round((1 - LEARNED_SHARE) * len(known)))
    is_held_out = np.zeros(len(known), dtype=bool)
    is_held_out[more[:n_held_out]] = True
    first, second = np.triu_indices(len(known), 1)
    together = groups[known[first]] == groups[known[second]]
    ends = np.column_stack([known[first], known[second]])
    pairs = Constraints(answers.n_samples, must_link=ends[together], cannot_link=ends[~together])
    held = np.isin(pairs.signed_pairs()[0], known[is_held_out]).any(axis=1)
    split = Split(pairs.subset(~held), pairs.subset(held), np.flatnonzero(held), 0)
    return pairs, split


def start_network(model, n_clusters: int, codes, seed: int) -> DeepConstrainedClustering:
    return DeepConstrainedClustering(
        n_clusters,
        image_shape=model.image_shape,
        init_model=codes,
        device=model.device,
        random_state=seed,
    )


def by_network(
    model, network: DeepConstrainedClustering, X: np.ndarray, answers: Constraints, report
) -> dict[str, Any]:
    """What becomes of the fitted attributes when clusters are the network's."""
    codes, centers = map_images(network, X, model.device), network.cluster_centers_
    unit = float(network.membership_unit_ or 1.0)
    finished = finish(
        network.labels_,
        answers,
        network.n_clusters,
        Z=codes,
        map_all=lambda: codes,
        memberships=lambda: share_by_centers(codes, centers, unit),
        min_size=model.min_size,
        max_size=model.max_size,
        outliers=model.outliers,
    )
    final_labels, none = apart_labels(finished.labels), np.empty(0, dtype=np.int64)
    return {
        "features_": network,
        "preparation_": "none",
        "scaler_": None,
        "learner_": None,
        "map_": ChainedMap((fit_preparation(codes, "none").map,)),
        "cluster_centers_": centers.astype(np.float64),
        "anchors_": None,
        "anchor_memberships_": None,
        "anchor_directions_": None,
        "membership_unit_": unit,  # memberships are the network's
        "evenness_": 0.0,
        "pulls_": np.zeros(answers.n_answers),
        "doubtful_": none,
        "labels_": finished.labels,
        "nearest_labels_": finished.nearest_labels,
        "violated_": np.flatnonzero(satisfied_answers(codes, answers, final_labels) == 0),
        "report_": replace(
            report,
            satisfied=satisfaction_score(codes, answers, final_labels),
            n_doubtful=0,
            last_step=finished.why,
        ),
    }
