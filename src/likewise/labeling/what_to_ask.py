"""What to ask next: the row whose group would tell most about the rows that are in doubt.

    doubt_j   = LEAST_DOUBT + 1 - max_g P_jg,    P = memberships, sharpened
    C         = K - K_:A inv(K_AA + NOISE I) K_A:,    K = inv(I - alpha S), A the known rows
    gain(i)   = sum_j doubt_j C_ji^2 / (C_ii + NOISE)

A group is a smooth function over the graph, drawn from a Gaussian with covariance K; C is what is
left of it once the known rows are known, and the gain of row i is how much of that its answer takes
away, counted where it matters. Before any answer all doubts are alike and the first rows cover the
data; later ones lie where dense regions of doubtful rows are. K has many small eigenvalues and few
large ones: with the leading directions Phi, K = Phi Phi' and all gains cost O(n r^2).

Every tenth question or so is about a row drawn at random instead: what the memberships predicted
for it before it was answered is how `estimate_placed` knows their quality.

Where only pairs are asked, a row is compared with its likeliest group, then with the next, as long
as the chance of "together" is not small (settled_groups.py): what is left open is cheaper than an
answer that is known before.
Reference: ji2012 for the variance that an answer takes away; zhu2003 for memberships in the choice
of questions. We differ from ji2012 in counting it by doubts.
"""

from dataclasses import replace

import numpy as np

from likewise.guided import sharpen
from likewise.labeling.asked_again import WHY_APART, WHY_JOINED
from likewise.labeling.doubtful_joins import find_joins
from likewise.labeling.knowledge import NOISE, Knowledge
from likewise.labeling.questions import Question
from likewise.labeling.settled_groups import (
    SHARPNESS,
    Settled,
    chance_of_new,
    fit_sharpness,
    leave_one_out,
    relate_components,
    settle_groups,
)
from likewise.labeling.telling_pairs import N_NEW, most_telling_pair
from likewise.numerics.threads import one_thread

RANDOM_SHARE = 1 / 10  # of the questions
LEAST_DOUBT = 0.3  # of a row that nothing speaks against; lower ones overlook groups not yet seen
MOST_SHOWN = 8  # groups on a screen
MOST_ROWS = 3  # of a group on a screen, the one that stands for it first
LEAST_WRONG = 0.3  # chance that makes an answer worth asking for again
LEAST_WRONG_JOIN = 0.03  # the same of "together" where it joins two groups
LEAST_WRONG_NEW = 0.03  # the same of "a new group": later rows would join it
MOST_LOOKS = 4  # at a row that began a group
PRIOR_ERRORS = 0.05  # share of answers that are wrong, before any was asked for again,
PRIOR_REVIEWS = 10  # believed like so many
LEAST_CHANCE = 0.2  # of "together" that makes a pair worth asking about
WHY_FIRST = "two rows that stand for many others"
WHY_DOUBT = "its answer says most about the rows that are in doubt"
WHY_OPEN = "they may well be one group"
WHY_AGAIN = "the rows around it were put elsewhere"
WHY_ONE_GROUP = "is its group one of the others?"
WHY_PAIR = "some answers are wrong, and this one tells most about which"
WHY_RANDOM = "drawn at random, to see how good the clusters are"


@one_thread()
def choose_question(
    knowledge: Knowledge, kinds: tuple[str, ...], rng: np.random.Generator
) -> Question | None:
    """The question to ask now, of one of the kinds; None when nothing is left to learn."""
    is_random = bool(rng.random() < RANDOM_SHARE)
    draw = int(rng.integers(2**32))  # always drawn: what is asked must not move later draws
    rows = open_rows(knowledge)
    if not knowledge.n_groups and len(rows) > 1:
        return first_question(knowledge, kinds)
    settled = settle_groups(knowledge)
    if "group" in kinds:
        founder = doubtful_founder(knowledge)
        if founder is not None:
            hidden = int(settled.groups[founder])
            again = ask_about(founder, knowledge, settled, kinds, hidden=hidden)
            return replace(again, more=(), is_repeat=True, why=WHY_ONE_GROUP)
        doubtful = doubtful_row(knowledge)
        if doubtful is not None:
            again = ask_about(doubtful, knowledge, settled, kinds)
            return replace(again, is_repeat=True, why=WHY_AGAIN)
    if "group" not in kinds and knowledge.likely is not None:
        if not (is_random and len(rows)):
            pair = telling_pair(knowledge, settled, rows, draw)
            return None if pair is None else Question("pair", pair, why=WHY_PAIR)
    elif "group" not in kinds:
        pair = doubtful_pair(knowledge)
        if pair is not None:
            return Question("pair", pair, is_repeat=True, why=WHY_JOINED)
    if "group" not in kinds and knowledge.likely is None and not (is_random and len(rows)):
        pair = open_pair(knowledge)
        if pair is not None:
            is_again = told_apart(knowledge, pair)
            why = WHY_APART if is_again else WHY_OPEN
            return Question("pair", pair, is_repeat=is_again, why=why)
    if not len(rows):
        return None
    if is_random:
        uniform = uniform_of(rows, knowledge)
        row = int(uniform[draw % len(uniform)])
    else:
        row = int(rows[np.argmax(gains_of(knowledge, settled)[rows])])
    return ask_about(row, knowledge, settled, kinds, is_random=is_random)


def uniform_of(rows: np.ndarray, knowledge: Knowledge) -> np.ndarray:
    """Those of the rows that are a uniform draw of all; the rows where there are none."""
    if knowledge.is_uniform is None or not knowledge.is_uniform[rows].any():
        return rows
    return rows[knowledge.is_uniform[rows]]


def open_rows(knowledge: Knowledge) -> np.ndarray:
    """(m,) rows whose group is not known, and that were not asked about in vain."""
    is_open = knowledge.groups < 0
    is_open[[rows[0] for rows in knowledge.asked if len(rows) == 1]] = False
    return np.flatnonzero(is_open)


def error_rate_of(knowledge: Knowledge) -> float:
    """Share of answers that are wrong, by what people said when they were asked again."""
    n_wrong = PRIOR_REVIEWS * PRIOR_ERRORS + knowledge.n_changed / 2  # either of two looks
    return n_wrong / (PRIOR_REVIEWS + knowledge.n_reviews)


def doubtful_founder(knowledge: Knowledge) -> int | None:
    """The row whose group is most probably one of the others, if that is probable enough.

    A wrong "new group" is worse than any other answer: its class then has two groups, and rows join
    either. Late ones are less credible, since most groups are found early.
    """
    k, error_rate = knowledge.n_groups, error_rate_of(knowledge)
    surprise = error_rate / (1 - error_rate) / (min(k, MOST_SHOWN) + 1)
    doubts = {}
    for row, n_before, n_new, elsewhere in knowledge.founders:
        new = chance_of_new(max(n_before, 1))  # the first answer may be wrong, too
        odds = (1 - new) / new * surprise ** (n_new - len(elsewhere))
        is_joined = (knowledge.groups[list(elsewhere)] == knowledge.groups[row]).any()
        if not is_joined and n_new + len(elsewhere) < MOST_LOOKS and k > 2:
            doubts[row] = odds / (1 + odds)
    doubtful = max(doubts, key=doubts.__getitem__) if doubts else None
    return doubtful if doubtful is not None and doubts[doubtful] >= LEAST_WRONG_NEW else None


def doubtful_row(knowledge: Knowledge) -> int | None:
    """The known row whose answer was most probably wrong, if that is probable enough."""
    known, k = knowledge.known_rows, knowledge.n_groups
    if k < 2:
        return None
    own = knowledge.groups[known]
    error_rate = error_rate_of(knowledge)
    left_out = leave_one_out(knowledge.walks, known, own, k, sharpness=1.0)
    left_out = sharpen(left_out, fit_sharpness(left_out, own, error_rate))
    chances = left_out[np.arange(len(known)), own]
    wrong = error_rate / min(k, MOST_SHOWN) * (1 - chances)
    wrong = wrong / (wrong + (1 - error_rate) * chances)
    if wrong.sum() > error_rate * len(known):  # where classes overlap, many look so
        wrong *= error_rate * len(known) / wrong.sum()
    wrong[np.isin(known, list(knowledge.settled_rows))] = 0
    wrong[np.bincount(own, minlength=k)[own] < 2] = 0  # nothing but itself speaks for its group
    return int(known[np.argmax(wrong)]) if wrong.max() >= LEAST_WRONG else None


def doubtful_pair(knowledge: Knowledge) -> tuple[int, int] | None:
    """Rows of two parts that one answer alone joins, if it may well be wrong; not compared yet."""
    error_rate = error_rate_of(knowledge)
    doubts = [
        (join.wrong(error_rate), join)
        for join in find_joins(knowledge.pairs, knowledge.walks.between)
        if min(len(join.part), len(join.others)) > 1
    ]
    for wrong, join in sorted(doubts, key=lambda doubt: (-doubt[0], doubt[1].position)):
        if wrong < LEAST_WRONG_JOIN:
            return None
        pair = nearest_of(knowledge, join.part, join.others)
        if pair is not None:
            return pair
    return None


def telling_pair(
    knowledge: Knowledge, settled: Settled, rows: np.ndarray, draw: int
) -> tuple[int, int] | None:
    """The pair that tells most where people err; of the open rows (m,) those that tell most."""
    order = rows[np.argsort(-gains_of(knowledge, settled)[rows], kind="stable")]
    others = np.setdiff1d(np.flatnonzero(knowledge.groups < 0), order[:N_NEW])
    if knowledge.likely is None:
        return None
    return most_telling_pair(
        knowledge.walks,
        knowledge.likely,
        order[:N_NEW],
        others,
        knowledge.asked,
        np.random.default_rng(draw),
    )


def told_apart(knowledge: Knowledge, pair: tuple[int, int]) -> bool:
    """Whether the groups of two known rows were said to be different."""
    a, b = knowledge.groups[list(pair)]
    return bool(knowledge.apart[a, b])


def open_pair(knowledge: Knowledge) -> tuple[int, int] | None:
    """The known rows to compare next: of the two components likeliest to be one group."""
    one_group, _ = relate_components(knowledge, error_rate_of(knowledge))
    chances = np.triu(one_group, 1)
    for at in np.argsort(-chances, axis=None, kind="stable"):
        a, b = np.unravel_index(at, chances.shape)
        if chances[a, b] < LEAST_CHANCE:
            return None
        pair = nearest_pair(knowledge, int(a), int(b))
        if pair is not None:
            return pair
    return None


def nearest_pair(knowledge: Knowledge, a: int, b: int) -> tuple[int, int] | None:
    """The rows of two components with the most walks between them that were not compared yet."""
    return nearest_of(knowledge, *(np.flatnonzero(knowledge.groups == group) for group in (a, b)))


def nearest_of(
    knowledge: Knowledge, rows: np.ndarray, others: np.ndarray
) -> tuple[int, int] | None:
    """The same of any known rows."""
    walks = knowledge.walks.between(rows, others)
    for at in np.argsort(-walks, axis=None, kind="stable"):
        i, j = np.unravel_index(at, walks.shape)
        pair = int(rows[i]), int(others[j])
        if tuple(sorted(pair)) not in knowledge.asked:
            return pair
    return None


def gains_of(knowledge: Knowledge, settled: Settled) -> np.ndarray:
    """(n,) what knowing the group of each row would tell about all rows."""
    doubts = doubts_of(settled.memberships)
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


def first_question(knowledge: Knowledge, kinds: tuple[str, ...]) -> Question:
    """Two rows to begin with: the one that tells most, and the one that tells most beside it."""
    Phi, doubts = knowledge.walks.coordinates, np.ones(len(knowledge.groups))
    rows = open_rows(knowledge)
    first = int(rows[np.argmax(variance_taken(Phi, np.empty(0, dtype=int), doubts)[rows])])
    rows = rows[rows != first]
    second = int(rows[np.argmax(variance_taken(Phi, np.array([first]), doubts)[rows])])
    if "group" in kinds:
        return Question("group", (second,), ((first,),), why=WHY_FIRST)
    return Question("pair", (second, first), why=WHY_FIRST)


def ask_about(
    row: int,
    knowledge: Knowledge,
    settled: Settled,
    kinds: tuple[str, ...],
    *,
    is_random: bool = False,
    hidden: int = -1,
) -> Question:
    """A question about the group of a row; a pair where groups are not wanted.

    The likeliest groups come first: of a row whose group is known, by what the others say. A group
    that is `hidden` is not shown, and a row does not stand for its own group.
    """
    why = WHY_RANDOM if is_random else WHY_DOUBT
    if "group" not in kinds:
        others = np.flatnonzero(settled.groups == settled.memberships[row].argmax())
        nearest = others[np.argmax(knowledge.walks.between(others, [row]))]
        return Question("pair", (row, int(nearest)), is_random=is_random, why=why)
    known, by_others = shares_by_others(knowledge, settled)
    is_row = known == row
    memberships = by_others[is_row][0] if is_row.any() else settled.memberships[row]
    order = np.argsort(-memberships, kind="stable")
    trust = own_shares(settled, known, by_others)
    trust[row] = -1.0
    shown = [typical_rows(trust, settled.groups, int(group)) for group in order if group != hidden]
    return Question(
        "group",
        (row,),
        tuple(shown[:MOST_SHOWN]),
        tuple(shown[MOST_SHOWN:]),
        is_random=is_random,
        why=why,
    )


def next_screen(question: Question) -> Question:
    """The groups after those shown, for somebody who said "another group"."""
    more = question.more
    return replace(question, groups=more[:MOST_SHOWN], more=more[MOST_SHOWN:])


def shares_by_others(knowledge: Knowledge, settled: Settled) -> tuple[np.ndarray, np.ndarray]:
    """Known rows (m,), and memberships (m, k) of each by the others."""
    known = np.flatnonzero(settled.groups >= 0)
    own = settled.groups[known]
    return known, leave_one_out(knowledge.walks, known, own, settled.n_groups)


def own_shares(settled: Settled, known: np.ndarray, by_others: np.ndarray) -> np.ndarray:
    """(n,) what the other known rows say for the group of a known row; 0 of other rows."""
    shares = np.zeros(len(settled.groups))
    shares[known] = by_others[np.arange(len(known)), settled.groups[known]]
    return shares


def typical_rows(trust: np.ndarray, groups: np.ndarray, group: int) -> tuple[int, ...]:
    """Known rows of a group, those that are most surely in it first."""
    rows = np.flatnonzero(groups == group)
    order = np.argsort(-trust[rows], kind="stable")
    return tuple(int(row) for row in rows[order[:MOST_ROWS]])
