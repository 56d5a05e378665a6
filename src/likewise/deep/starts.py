"""Where clusters start: labels of some rows, found among the codes, and the centers of these.

    given     labels that the caller found
    nothing   if pairs are many and none is wrong: directions drawn at random, which the pairs sort
    answers   spread over the graph of at most 3,000 codes, if half of the pairs or more fit into it
    none      k-means, whose labels nobody needs to learn

A cluster of codes need not be round, so its rows know more than its center: clustering begins by
learning these labels (learning_from_answers.py). Where most pairs do not fit, they know better than
the few that do, and unlearning what these say costs more than it gains (decision 50). Clusters of
k-means have to be unlearned, too: classes that look alike share one, and some never leave it.
"""

import warnings

import numpy as np
import torch

from likewise.cluster import GraphPropagation
from likewise.constraints import Constraints
from likewise.deep.self_supervision import CodeState, encode_rows
from likewise.deep.torch_kmeans import kmeans
from likewise.numerics.rows import sample_rows

GRAPH_ROWS = 3000  # that answers are spread over
ASKED_SHARE = 0.8  # of these, at most, are rows that answers refer to
LEAST_FITTING = 0.5  # of the pairs, to start from
LEAST_TOGETHER = 15  # must-links for each cluster, to start from nothing
N_INIT = 20  # starts of k-means
UNKNOWN = -1


def start_clusters(
    state: CodeState,
    rows,
    answers: Constraints,
    n_clusters: int,
    init_labels: np.ndarray | None,
    *,
    from_nothing: bool = False,
) -> None:
    """Put the centers into the network, and the labels (n,) to begin with into the state."""
    codes = encode_rows(state.network, rows)
    seed = int(torch.randint(2**31, (), generator=state.generator))
    pairs = pairs_with_weight(answers)
    fitting = fitting_pairs(pairs, int(ASKED_SHARE * GRAPH_ROWS), seed)
    if init_labels is not None:
        labels = np.asarray(init_labels)
    elif from_nothing:
        labels = np.full(len(codes), UNKNOWN)
    elif pairs.n_answers and fitting.n_answers >= LEAST_FITTING * pairs.n_answers:
        labels = spread_answers(codes, fitting, n_clusters, seed)
    else:
        labels = np.full(len(codes), UNKNOWN)
    state.start = torch.as_tensor(labels, device=codes.device).long()
    if from_nothing and init_labels is None:
        centers = draw_centers(n_clusters, codes, state.generator)
    elif (labels == UNKNOWN).all():
        centers = kmeans(codes, n_clusters, n_init=N_INIT, generator=state.generator).centers
    else:
        known = state.start >= 0
        chosen = torch.nn.functional.one_hot(state.start[known], n_clusters)
        centers = chosen.to(codes).T @ codes[known]
    empty = centers.norm(dim=1) < 1e-6
    centers[empty] = codes[: int(empty.sum())]
    with torch.no_grad():
        state.network.centers.copy_(torch.nn.functional.normalize(centers, dim=1))


def draw_centers(n_clusters: int, codes, generator):
    """Directions (k, d) at right angles to each other, as far as there are so many."""
    drawn = torch.empty(n_clusters, codes.shape[1])
    return torch.nn.init.orthogonal_(drawn, generator=generator).to(codes)


def are_enough_alone(answers: Constraints, n_clusters: int) -> bool:
    """Whether pairs can sort the rows from nothing: many for each cluster, about many rows."""
    pairs = pairs_with_weight(answers)
    n_must = len(pairs.positions("must_link"))
    n_asked = len(pairs.touched_rows())
    return n_must >= LEAST_TOGETHER * n_clusters and n_asked > ASKED_SHARE * GRAPH_ROWS


def pairs_with_weight(answers: Constraints) -> Constraints:
    at = answers.positions("must_link", "cannot_link")
    return answers.subset(at[answers.weights[at] > 0])


def fitting_pairs(pairs: Constraints, most_rows: int, seed: int) -> Constraints:
    """The pairs, or as many of them, drawn at random, as refer to no more rows than that."""
    if len(pairs.touched_rows()) <= most_rows:
        return pairs
    order = np.random.RandomState(seed).permutation(pairs.n_answers)
    ends = pairs.signed_pairs()[0][order]
    first_seen = np.unique(ends.ravel(), return_index=True)[1]
    n_rows = np.cumsum(np.bincount(first_seen // 2, minlength=len(order)))
    return pairs.subset(np.sort(order[n_rows <= most_rows]))


def spread_answers(codes, pairs: Constraints, n_clusters: int, seed: int) -> np.ndarray:
    """Labels (n,) of the codes in the graph, UNKNOWN of the others."""
    kept = sample_rows(len(codes), GRAPH_ROWS, pairs.touched_rows(), seed)
    sampled = codes[torch.as_tensor(kept, device=codes.device)].cpu().numpy().astype(np.float64)
    labels = np.full(len(codes), UNKNOWN)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of contradictions: `fit` looks at them itself
        model = GraphPropagation(n_clusters, random_state=seed)
        labels[kept] = model.fit_predict(sampled, constraints=pairs.restrict(kept))
    return labels
