"""What to ask next: the row whose group would tell most about the rows that are in doubt.

    doubt_j   = LEAST_DOUBT + 1 - max_g P_jg,    P = memberships, sharpened
    C         = K - K_:A inv(K_AA + NOISE I) K_A:,    K = inv(I - alpha S), A the known rows
    gain(i)   = sum_j doubt_j C_ji^2 / (C_ii + NOISE)

A group is a smooth function over the graph, drawn from a Gaussian with covariance K; C is what is
left of it once the known rows are known, and the gain of row i is how much of that its answer takes
away, counted where it matters. Before any answer all doubts are alike and the first rows cover the
data; later ones lie where dense regions of doubtful rows are. K has many small eigenvalues and few
large ones: with the leading directions Phi, K = Phi Phi' and all gains cost O(n r^2).

Every eighth question or so is about a row drawn at random instead: what the memberships predicted
for it before it was answered is how `estimate_placed` knows their quality.
Reference: ji2012 for the variance that an answer takes away; zhu2003 for memberships in the choice
of questions. We differ from ji2012 in counting it by doubts.
"""

import numpy as np

from likewise.guided import sharpen
from likewise.labeling.knowledge import Knowledge
from likewise.labeling.questions import Question
from likewise.numerics.threads import one_thread

RANDOM_SHARE = 1 / 8  # of the questions
NOISE = 0.05  # variance of an answer, beside K's of 1 and more: its neighbors stay a little open
SHARPNESS = 3.0  # of memberships: as they come they are far too even
LEAST_DOUBT = 0.3  # of a row that nothing speaks against; lower ones overlook groups not yet seen
MOST_SHOWN = 8  # groups on a screen
MOST_ROWS = 3  # of a group on a screen, the one that stands for it first
WHY = "its answer says most about the rows that are in doubt"


@one_thread()
def choose_question(
    knowledge: Knowledge, kinds: tuple[str, ...], rng: np.random.Generator
) -> Question | None:
    """The question to ask now, of one of the kinds; None when nothing is left to learn."""
    is_random = bool(rng.random() < RANDOM_SHARE)
    rows = open_rows(knowledge)
    if not len(rows):
        return None
    if is_random:
        row = int(rng.choice(rows))
    else:
        row = int(rows[np.argmax(gains_of(knowledge)[rows])])
    return ask_about(row, knowledge, kinds, is_random=is_random)


def open_rows(knowledge: Knowledge) -> np.ndarray:
    """(m,) rows whose group is not known, and that were not asked about in vain."""
    asked = [rows[0] for rows in knowledge.asked if len(rows) == 1]
    is_open = knowledge.groups < 0
    is_open[asked] = False
    return np.flatnonzero(is_open)


def gains_of(knowledge: Knowledge) -> np.ndarray:
    """(n,) what knowing the group of each row would tell about all rows."""
    doubts = doubts_of(knowledge.memberships)
    return variance_taken(knowledge.walks.coordinates, knowledge.known_rows, doubts)


def doubts_of(memberships: np.ndarray) -> np.ndarray:
    """(n,) how doubtful the group of each row is; all alike before there are two groups."""
    if memberships.shape[1] < 2:
        return np.ones(len(memberships))
    return LEAST_DOUBT + 1 - sharpen(memberships, SHARPNESS).max(axis=1)


def variance_taken(Phi: np.ndarray, known: np.ndarray, doubts: np.ndarray) -> np.ndarray:
    """(n,) sum_j doubt_j C_ji^2 / (C_ii + NOISE), for K = Phi Phi' and the known rows."""
    Sigma = np.linalg.inv(np.eye(Phi.shape[1]) + Phi[known].T @ Phi[known] / NOISE)
    left = Phi @ Sigma  # C = left Phi'
    weighted = (Phi.T * (doubts / doubts.mean())) @ Phi
    variances = np.einsum("ir,ir->i", left, Phi)
    return np.einsum("ir,ir->i", left @ weighted, left) / (variances + NOISE)


# What a question shows


def ask_about(
    row: int, knowledge: Knowledge, kinds: tuple[str, ...], *, is_random: bool = False
) -> Question:
    """A question about the group of a row; a pair where no other kind is wanted."""
    groups = likeliest_groups(row, knowledge)
    why = "drawn at random, to see how good the clusters are" if is_random else WHY
    if "group" in kinds:
        return Question(
            "group",
            (row,),
            tuple(groups[:MOST_SHOWN]),
            tuple(groups[MOST_SHOWN:]),
            is_random=is_random,
            why=why,
        )
    return Question("pair", (row, groups[0][0]), is_random=is_random, why=why)


def likeliest_groups(row: int, knowledge: Knowledge) -> list[tuple[int, ...]]:
    """Some rows of each group, those of the likeliest group first.

    Before any answer: the row, other than this one, whose group would tell most.
    """
    if not knowledge.n_groups:
        gains = gains_of(knowledge)
        gains[row] = -np.inf
        return [(int(np.argmax(gains)),)]
    order = np.argsort(-knowledge.memberships[row], kind="stable")
    return [typical_rows(knowledge, int(group)) for group in order]


def typical_rows(knowledge: Knowledge, group: int) -> tuple[int, ...]:
    """Known rows of a group, those next to its middle first."""
    rows = np.flatnonzero(knowledge.groups == group)
    Z = knowledge.Z[rows]
    order = np.argsort(np.square(Z - Z.mean(axis=0)).sum(axis=1), kind="stable")
    return tuple(int(row) for row in rows[order[:MOST_ROWS]])
