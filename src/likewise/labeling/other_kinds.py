"""Questions of the other kinds: about the rows that are worth asking about, in another form.

    grid         a pair that is worth asking about, and rows around one of the two whose relation
                 to it is open, nearer and farther
    odd_one_out  a row, and the rows nearest to it of the two groups it most probably belongs to
    review       the known row that the others most clearly place elsewhere, and its group

Triples alone make no groups. Rows that were shown then count as known: the next row is the one that
tells most beside them, and its companions are one that is near and one that is not.
"""

import numpy as np

from likewise.labeling.knowledge import Knowledge
from likewise.labeling.questions import Question
from likewise.labeling.settled_groups import Settled, settle_groups
from likewise.labeling.what_to_ask import (
    choose_question,
    own_shares,
    shares_by_others,
    typical_rows,
    variance_taken,
)

N_GRID = 8  # rows beside the first
REVIEW_SHARE = 1 / 10  # of the questions, where reviews are wanted beside others
WHY_REVIEW = "other answers place it elsewhere"


def choose_of_kinds(
    knowledge: Knowledge, kinds: tuple[str, ...], rng: np.random.Generator
) -> Question | None:
    """The question to ask now, of one of the kinds; None when nothing is left to learn."""
    others = tuple(kind for kind in kinds if kind != "review")
    wants_review = "review" in kinds and (not others or rng.random() < REVIEW_SHARE)
    if wants_review:
        question = review_worst(knowledge)
        if question is not None or not others:
            return question
    kind = others[int(rng.integers(len(others)))] if len(others) > 1 else others[0]
    if kind == "odd_one_out" and knowledge.n_groups < 2:
        return ask_triple_alone(knowledge, rng)
    plain = choose_question(knowledge, ("pair",) if kind in ("pair", "grid") else ("group",), rng)
    if plain is None or kind in ("group", "pair"):
        return plain
    return as_grid(plain, knowledge) if kind == "grid" else as_triple(plain, knowledge, rng)


def as_grid(question: Question, knowledge: Knowledge) -> Question:
    """The second row of a pair, the first, and rows whose relation to it is open, near and less."""
    row, first = question.rows
    groups = knowledge.groups
    is_open = groups != groups[first] if groups[first] >= 0 else np.ones(len(groups), dtype=bool)
    if groups[first] >= 0:
        apart = np.append(knowledge.apart[groups[first]], False)  # the last is for unknown rows
        is_open &= ~apart[groups]
    is_open[[row, first]] = False
    rows = np.flatnonzero(is_open)
    rows = rows[[tuple(sorted((first, int(r)))) not in knowledge.asked for r in rows]]
    walks = knowledge.walks.between(rows, [first])[:, 0]
    n_near = max(len(rows) // max(knowledge.n_groups, 2), N_GRID)
    ranks = np.unique(np.geomspace(1, n_near, N_GRID - 1).round().astype(int)) - 1
    near = rows[np.argsort(-walks, kind="stable")[ranks[ranks < len(rows)]]]
    return Question("grid", (first, row, *near.tolist()), why=question.why)


def as_triple(question: Question, knowledge: Knowledge, rng: np.random.Generator) -> Question:
    """The row asked about, and the nearest known rows of its two likeliest groups."""
    row, settled = question.rows[0], settle_groups(knowledge)
    if settled.n_groups < 2:
        return question
    near = [
        nearest_known(knowledge, settled, row, int(group))
        for group in np.argsort(-settled.memberships[row], kind="stable")[:2]
    ]
    rows = rng.permutation([row, *near]).tolist()
    return Question("odd_one_out", tuple(rows), is_random=question.is_random, why=question.why)


def nearest_known(knowledge: Knowledge, settled: Settled, row: int, group: int) -> int:
    """The known row of a group with the most walks to a row."""
    rows = np.flatnonzero(settled.groups == group)
    return int(rows[np.argmax(knowledge.walks.between(rows, [row])[:, 0])])


def ask_triple_alone(knowledge: Knowledge, rng: np.random.Generator) -> Question | None:
    """A triple where no groups are known: the row that tells most beside those shown before."""
    shown = np.array(sorted({row for key in knowledge.asked for row in key}), dtype=np.int64)
    rows = np.setdiff1d(np.arange(len(knowledge.groups)), shown)
    if len(rows) < 3:
        return None
    gains = variance_taken(knowledge.walks.coordinates, shown, np.ones(len(knowledge.groups)))
    row = int(rows[np.argmax(gains[rows])])
    others = rows[rows != row] if len(shown) < 2 else shown
    walks = knowledge.walks.between(others, [row])[:, 0]
    order = others[np.argsort(-walks, kind="stable")]
    far = order[int(rng.integers(1, len(order)))]
    triple = rng.permutation([row, order[0], far]).tolist()
    return Question("odd_one_out", tuple(triple), why="rows that tell most beside those shown")


def review_worst(knowledge: Knowledge) -> Question | None:
    """The known row that others most clearly place in another group, beside one of its own."""
    settled = settle_groups(knowledge)
    if settled.n_groups < 2:
        return None
    known, shares = shares_by_others(knowledge, settled)
    own = settled.groups[known]
    trust = own_shares(settled, known, shares)
    doubts = shares.max(axis=1) - trust[known]
    doubts[np.bincount(own)[own] == 1] = 0.0  # nothing but itself speaks for its group
    for i in np.argsort(-doubts, kind="stable"):
        if doubts[i] <= 0:
            return None
        row = int(known[i])
        first = next(r for r in typical_rows(trust, settled.groups, int(own[i])) if r != row)
        if tuple(sorted((row, first))) not in knowledge.asked:
            return Question("review", (first, row), why=WHY_REVIEW)
    return None
