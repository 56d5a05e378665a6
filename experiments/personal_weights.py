"""Ten people and one space: does it predict each of them better with weights of their own?

    d_a(i, j) = sum_g w_ag |z_ig - z_jg|^2           z: the shared space by its principal directions

    min_w  sum_i -log P_w(answer i of a) + strength / 2 sum_g (log w_ag - log u_g - mean over g)^2

P_w is the softmax of `ChoiceKernel`. The directions g are the widest ones, and all others together;
u is 1, or what the other nine people's answers give. The shared space is learned from pictures,
words, categories and ratings and all answers of the first table of people that are not held out;
those of the ten people that are judged here are others (`triplets_subjects0to9_more`), without the
questions that are asked there. A fifth of each one's questions is held out, and the strength is the
one that predicts best inside the rest, over all ten.
"""

from functools import lru_cache

import numpy as np
from scipy.optimize import minimize

from experiments.people import FEATURES, THINGS, fetch_once, split_of
from experiments.runs import Table
from experiments.things_tables import NORMS, things_views
from likewise.constraints import Constraints
from likewise.kernel_learning import ChoiceKernel

N_PEOPLE = 10
DIRECTIONS = ("30", "100")
METHODS = ("shared", "nine others'", "own", "own from the others'")
STRENGTHS = (3.0, 10.0, 30.0, 100.0, 300.0)
N_FOLDS = 3  # inside the answers to learn from
FIRST_SEED = 100
RIGID = 1e9  # a strength at which only the scale moves


def run_personal(*, directions: str, method: str, seed: int) -> dict[str, float]:
    """Held-out answers of ten people predicted; means over people."""
    all_scores = personal_scores(int(directions), seed)
    scores, shared = np.array(all_scores[method]), np.array(all_scores["shared"])
    gains, fewer = scores[:, 0] - shared[:, 0], shared[:, 1] - scores[:, 1]
    return {
        "accuracy": float(scores[:, 0].mean()),
        "log-loss": float(scores[:, 1].mean()),
        "gain": float(gains.mean()),
        "people with a lower log-loss": float(np.count_nonzero(fewer > 0)),
    }


@lru_cache(maxsize=4)
def personal_scores(n_directions: int, seed: int) -> dict[str, list[tuple[float, float]]]:
    """(accuracy, log-loss) of everybody by method."""
    P, edges = shared_directions(n_directions)
    parts = [one.split(0.8, random_state=seed + FIRST_SEED) for one in answers_by_person()]
    fit_parts = [squares_of(P, edges, part.fit_part) for part in parts]
    held_out = [squares_of(P, edges, part.held_out) for part in parts]
    even = np.zeros(len(edges))
    inner = [
        [
            (squares_of(P, edges, a), squares_of(P, edges, b))
            for a, b in part.fit_part.folds(N_FOLDS, random_state=seed)
        ]
        for part in parts
    ]
    scores: dict[str, list] = {method: [] for method in METHODS}
    others = [
        learn_weights(np.concatenate(fit_parts[:a] + fit_parts[a + 1 :]), STRENGTHS[0], even)
        for a in range(N_PEOPLE)
    ]
    own_strength = best_strength(inner, [even] * N_PEOPLE)
    beside_strength = best_strength(inner, others)
    for a in range(N_PEOPLE):
        weights = {
            "shared": learn_weights(fit_parts[a], RIGID, even),
            "nine others'": learn_weights(fit_parts[a], RIGID, others[a]),
            "own": learn_weights(fit_parts[a], own_strength, even),
            "own from the others'": learn_weights(fit_parts[a], beside_strength, others[a]),
        }
        for method, log_weights in weights.items():
            sq_dists = weighted(held_out[a], log_weights)
            is_right = sq_dists.argmin(axis=1) == 0
            scores[method].append((is_right.mean(), loss_of(sq_dists)[0] / len(sq_dists)))
    return scores


@lru_cache(maxsize=1)
def shared_space() -> tuple[np.ndarray, float]:
    """The objects (1,854, r) in the space of all people, widest directions first; its scale."""
    X, widths = things_views()
    space = ChoiceKernel(views=widths, random_state=0).fit(X, constraints=split_of(THINGS)[0])
    Z = space.transform(X)
    Z = Z - Z.mean(axis=0)
    return Z @ np.linalg.svd(Z, full_matrices=False)[2].T, space.choice_scale_


def shared_directions(n_directions: int) -> tuple[np.ndarray, np.ndarray]:
    """The same in units of log-odds, and where each group of directions begins."""
    P, scale = shared_space()
    return np.sqrt(scale) * P, np.arange(n_directions + 1)


def answers_by_person() -> list[Constraints]:
    """The further answers of each, to questions that the shared space has not seen."""
    extras = fetch_once(THINGS).extras
    triples = np.asarray(extras["triplets_subjects0to9_more"], dtype=np.int64)
    whose = np.asarray(extras["subject_subjects0to9_more"])
    told = split_of(THINGS)[0]
    seen = set(map(tuple, np.sort(told.odd_one_out, axis=1).tolist()))
    is_new = np.array([tuple(rows) not in seen for rows in np.sort(triples, axis=1).tolist()])
    return [
        Constraints(told.n_samples, odd_one_out=triples[is_new & (whose == a)])
        for a in range(N_PEOPLE)
    ]


def squares_of(P: np.ndarray, edges: np.ndarray, answers: Constraints) -> np.ndarray:
    """(m, n_groups, 3) squared distances of the three pairs by direction; the answer's is first."""
    a, b, odd = answers.odd_one_out.T
    parts = [np.add.reduceat((P[i] - P[j]) ** 2, edges, axis=1) for i, j in ((a, b), (a, odd))]
    parts.append(np.add.reduceat((P[b] - P[odd]) ** 2, edges, axis=1))
    return np.stack(parts, axis=2)


def weighted(squares: np.ndarray, log_weights: np.ndarray) -> np.ndarray:
    """(m, 3) squared distances."""
    return np.einsum("g,mgk->mk", np.exp(log_weights), squares)


def loss_of(sq_dists: np.ndarray) -> tuple[float, np.ndarray]:
    """Minus the log-likelihood of choosing the first, and the chances (m, 3)."""
    log_odds = sq_dists.min(axis=1, keepdims=True) - sq_dists
    chances = np.exp(log_odds)
    total = chances.sum(axis=1, keepdims=True)
    return float((np.log(total[:, 0]) - log_odds[:, 0]).sum()), chances / total


def learn_weights(squares: np.ndarray, strength: float, center: np.ndarray) -> np.ndarray:
    """Log-weights that make the answers likely, near a center up to a common factor."""

    def cost(log_weights: np.ndarray) -> tuple[float, np.ndarray]:
        loss, chances = loss_of(weighted(squares, log_weights))
        chances[:, 0] -= 1
        slope = -np.einsum("mk,mgk->g", chances, squares) * np.exp(log_weights)
        move = log_weights - center
        move = move - move.mean()
        return loss + strength / 2 * move @ move, slope + strength * move

    if strength == RIGID:
        return center + scale_of(squares, center)
    return minimize(cost, center, jac=True, method="L-BFGS-B").x


def scale_of(squares: np.ndarray, log_weights: np.ndarray) -> float:
    """The log of the factor on all weights that makes the answers likeliest."""
    sq_dists = weighted(squares, log_weights)
    tried = np.linspace(-3, 3, 61)
    return float(tried[np.argmin([loss_of(np.exp(t) * sq_dists)[0] for t in tried])])


def best_strength(inner: list[list[tuple]], centers: list[np.ndarray]) -> float:
    """The strength with the lowest log-loss of inner held-out answers, over everybody."""
    losses = [
        sum(
            loss_of(weighted(judged, learn_weights(fit_part, strength, center)))[0]
            for folds, center in zip(inner, centers)
            for fit_part, judged in folds
        )
        for strength in STRENGTHS
    ]
    return STRENGTHS[int(np.argmin(losses))]


TABLE = Table(
    "personal",
    "Odd-one-out choices of ten people over 1,854 objects, each one's held-out fifth: a space "
    "shared by all, and with weights of its directions that others or they themselves give",
    cells=lambda: [
        {"directions": directions, "method": method}
        for directions in DIRECTIONS
        for method in METHODS
    ],
    run=run_personal,
    rows=("directions",),
    columns="method",
    measures=("accuracy", "log-loss", "gain", "people with a lower log-loss"),
    data=lambda: (THINGS, FEATURES, NORMS),
)
