"""What machines' answers say about rows, once people have named groups: learned, not believed.

    T_cm   chance that a machine says group m, or none of these, of a row of group c
    N_i    = mean of q_j over the neighbors of row i in the graph
    q_i    ~ N_i^b prod over answers about i of T[:, answer]          rows that people placed: fixed

T is counted where people answered too; rows placed by all evidence together weigh half as much as
these. Its prior is the share of answers that agree with people's, on the diagonal. The likelihoods
get the power at which they, counted without a row, predict where people placed it best: one that
answers at random, or hardly better, gets 0, and people are on their own. q begins as the
memberships that spread from people's answers, and b is the power at which neighbors predict the
machine's answers best: a graph that says nothing about the groups moves nothing. A machine that
cannot tell two groups apart gets rows of T that are alike, and between these the graph and people
decide. A group that was not on the screen cannot have been chosen; "none of these" is right about
its rows. Further looks at a row count as far as the machine's looks are independent: somebody who
repeats an error says nothing new by it.
Reference: dawid1979 for T. We differ in counting it by people's answers first: rows placed by a
graph that does not follow the groups would teach it nonsense.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array, diags_array

from likewise.guided import sharpen
from likewise.labeling.events import Event, counted
from likewise.labeling.knowledge import Knowledge
from likewise.labeling.questions import ANOTHER, CANT_TELL, Question
from likewise.labeling.settled_groups import Settled, fit_sharpness, leave_one_out
from likewise.labeling.what_to_ask import (
    MOST_SHOWN,
    own_shares,
    shares_by_others,
    typical_rows,
)

USUALLY_RIGHT = 0.7  # of a machine of which nothing is known,
FIRST_ANSWERS = 2.0  # believed like so many answers
PRIOR_ANSWERS = 4.0  # per group, that the share of all its answers is believed like
POWERS = (0.5, 1.0, 2.0, 3.0, 5.0)  # of the neighbors' mean
WEIGHTS = (1.0, 0.75, 0.5, 0.25, 0.0)  # of a machine's likelihoods
LEAST_GAIN = 0.5  # nats by which people's answers must be predicted better with it than without
SOFT_SHARE = 0.5  # of people's answers, that rows placed by all evidence count like, together
ERROR_RATE = 0.01  # of people, where their memberships are sharpened
N_ROUNDS = 30
MOVE = 1e-3  # of any membership, at which the rounds end
LEAST = 1e-6
MOST_LOOKS = 5  # of a machine at a row
WHY = "what a machine says about rows that people did not see"


class MachineLook(NamedTuple):
    """One answer of a machine about the group of a row."""

    row: int
    shown: tuple[int, ...]  # rows that stood for the groups on the screens
    chosen: int  # the row that stands for the group chosen; -1: none of these


class Table(NamedTuple):
    """Looks in terms of groups."""

    rows: np.ndarray  # (m,)
    options: np.ndarray  # (m,) group chosen; k for none of these
    is_shown: np.ndarray  # (m, k)


class MachineBelief(NamedTuple):
    """How far a machine can be trusted."""

    confusion: np.ndarray  # (k, k + 1) T; the last column is "none of these"
    reliability: float  # chance that its answer about a row drawn at random is right
    n_compared: int  # rows that people placed and it was asked about
    independence: float  # of its looks at the same row, from 0 to 1; nan without second looks
    weight: float  # power of its likelihoods; 0: people are better off without it


class JoinedBelief(NamedTuple):
    """What people, the graph and machines say together."""

    memberships: np.ndarray  # (n, k), rows sum to 1
    machines: dict[str, MachineBelief]


def looks_from(events: Iterable[Event], position: np.ndarray) -> list[MachineLook]:
    """Answers that name the group of a row, as far as they say anything; rows by position."""
    looks = []
    screens: dict[int, tuple[int, ...]] = {}  # of a row, those answered with "another group"
    for event in counted(events):
        question, choice = event.question, event.choice
        if question is None or question.kind != "group" or choice == CANT_TELL:
            continue
        row = question.rows[0]
        shown = screens.pop(row, ()) + tuple(group[0] for group in question.groups)
        if choice == ANOTHER:
            screens[row] = shown
            continue
        chosen = -1 if isinstance(choice, str) else question.groups[choice][0]
        places = tuple(int(position[i]) for i in shown)
        at = -1 if chosen < 0 else int(position[chosen])
        looks.append(MachineLook(int(position[row]), places, at))
    return looks


def tabulate(looks: Sequence[MachineLook], groups: np.ndarray, k: int) -> Table:
    """The looks whose choice is known to be one of the groups, or none of these."""
    kept = [look for look in looks if look.chosen < 0 or groups[look.chosen] >= 0]
    is_shown = np.zeros((len(kept), k), dtype=bool)
    for i, look in enumerate(kept):
        on_screen = groups[list(look.shown)]
        is_shown[i, on_screen[on_screen >= 0]] = True
    options = [k if look.chosen < 0 else int(groups[look.chosen]) for look in kept]
    rows = np.array([look.row for look in kept], dtype=np.int64)
    return Table(rows, np.array(options, dtype=np.int64), is_shown)


def count_confusion(
    table: Table, groups: np.ndarray, k: int, soft: np.ndarray | float = 0.0
) -> MachineBelief:
    """A machine's confusions by the rows that people placed, and by soft counts (k, k + 1)."""
    own = groups[table.rows]
    compared = (own >= 0) & table.is_shown[np.arange(len(own)), np.maximum(own, 0)]
    said, own = table.options[compared], own[compared]
    n_compared = len(np.unique(table.rows[compared]))
    n_right = np.count_nonzero(said == own)
    right = (n_right + FIRST_ANSWERS * USUALLY_RIGHT) / (len(own) + FIRST_ANSWERS)
    counts = np.zeros((k, k + 1)) + soft
    np.add.at(counts, (own, said), 1.0)
    T = with_prior(counts, right)
    return MachineBelief(T, float(right), n_compared, independence_of(table, right, k), 1.0)


def with_prior(counts: np.ndarray, right: float) -> np.ndarray:
    """Chances (k, k + 1) from counts, beside answers of which a share is right."""
    k = len(counts)
    prior = np.full((k, k + 1), (1 - right) / k)
    prior[np.arange(k), np.arange(k)] = right
    return (counts + PRIOR_ANSWERS * prior) / (counts.sum(axis=1, keepdims=True) + PRIOR_ANSWERS)


def count_softly(table: Table, memberships: np.ndarray) -> np.ndarray:
    """(k, k + 1) what was said, by the memberships of the rows it was said about."""
    k = memberships.shape[1]
    shares = memberships[table.rows] * table.is_shown
    return np.stack([np.bincount(table.options, share, k + 1) for share in shares.T])


def fit_weight(
    table: Table, belief: MachineBelief, groups: np.ndarray, known: np.ndarray, left_out: np.ndarray
) -> float:
    """The power of a machine's likelihoods at which they predict people's answers best.

    Each row that people placed is predicted from the others: by its memberships without itself
    (m, k), and by confusions counted without it.
    """
    k, place = left_out.shape[1], np.full(len(groups), -1)
    place[known] = np.arange(len(known))
    is_here = place[table.rows] >= 0
    rows, options, shown = (part[is_here] for part in table)
    own = groups[rows]
    if not len(rows):
        return 1.0
    counts = np.zeros((k, k + 1))
    np.add.at(counts, (own, options), 1.0)
    n_right = np.count_nonzero(options == own)
    log_said = np.zeros((len(known), k))
    for row, option, on_screen, group in zip(rows, options, shown, own):
        without, of_row = counts.copy(), rows == row
        without[group] -= np.bincount(options[of_row], minlength=k + 1)
        n_others = len(rows) - np.count_nonzero(of_row)
        n_right_others = n_right - np.count_nonzero(options[of_row] == group)
        right = float(n_right_others + FIRST_ANSWERS * USUALLY_RIGHT) / (n_others + FIRST_ANSWERS)
        T = with_prior(without, right)
        of_hidden = right if option == k else (1 - right) / k
        log_said[place[row]] += np.log(
            np.maximum(np.where(on_screen, T[:, option], of_hidden), LEAST)
        )
    log_said *= looks_count_as(np.bincount(place[rows], minlength=len(known)), belief)[:, None]
    asked = np.unique(place[rows])
    log_prior = np.log(np.maximum(left_out[asked], LEAST))
    scores = []
    for weight in WEIGHTS:
        log_joint = log_prior + weight * log_said[asked]
        log_joint -= np.logaddexp.reduce(log_joint, axis=1, keepdims=True)
        scores.append(log_joint[np.arange(len(asked)), groups[known[asked]]].sum())
    best = int(np.argmax(scores))
    return WEIGHTS[best] if scores[best] - scores[-1] >= LEAST_GAIN else 0.0


def looks_count_as(n_looks: np.ndarray, belief: MachineBelief) -> np.ndarray:
    """What each look at a row counts, so that looks that are not independent do not add up."""
    together = 1 + np.nan_to_num(belief.independence) * (n_looks - 1)
    return together / np.maximum(n_looks, 1)


def independence_of(table: Table, right: float, k: int) -> float:
    """How often second looks differ, beside how often they would if errors were independent."""
    order = np.argsort(table.rows, kind="stable")
    rows, options = table.rows[order], table.options[order]
    is_second = np.flatnonzero(rows[1:] == rows[:-1])
    if not len(is_second):
        return float("nan")
    n_differ = np.count_nonzero(options[is_second + 1] != options[is_second])
    expected = 1 - right**2 - (1 - right) ** 2 / k
    return float(min(1.0, n_differ / len(is_second) / max(expected, LEAST)))


def log_likelihoods(table: Table, belief: MachineBelief, n: int) -> np.ndarray:
    """(n, k) of all that a machine said about each row, further looks by their independence."""
    T, right, k = belief.confusion, belief.reliability, belief.confusion.shape[0]
    of_hidden = np.where(table.options == k, right, (1 - right) / k)
    chances = np.where(table.is_shown, T[:, table.options].T, of_hidden[:, None])
    total = np.zeros((n, k))
    np.add.at(total, table.rows, np.log(np.maximum(chances, LEAST)))
    n_looks = np.bincount(table.rows, minlength=n)
    return total * (belief.weight * looks_count_as(n_looks, belief))[:, None]


def join_beliefs(
    field: np.ndarray,  # (n, k) memberships from people alone, rows sum to 1
    S: csr_array,  # (n, n) adjacency
    groups: np.ndarray,  # (n,) group of rows that people placed; -1
    looks: Mapping[str, Sequence[MachineLook]],  # by machine; rows by position
    left_out: np.ndarray | None = None,  # (m, k) of rows that people placed, without themselves
) -> JoinedBelief:
    """Memberships by people, by the graph and by machines whose confusions are learned."""
    n, k = field.shape
    known = np.flatnonzero(groups >= 0)
    tables = {name: tabulate(of_one, groups, k) for name, of_one in looks.items()}
    beliefs = {name: count_confusion(table, groups, k) for name, table in tables.items()}
    if left_out is not None:
        for name, table in tables.items():
            weight = fit_weight(table, beliefs[name], groups, known, left_out)
            beliefs[name] = beliefs[name]._replace(weight=weight)
    heard = [name for name, belief in beliefs.items() if belief.weight > 0 and len(tables[name][0])]
    if not heard:
        return JoinedBelief(field, beliefs)
    W = neighbor_means(S)
    q = np.maximum(field, LEAST)
    q[known] = np.eye(k)[groups[known]]
    for _ in range(N_ROUNDS):
        log_said = np.zeros((n, k))
        for name in heard:
            table, belief = tables[name], beliefs[name]
            softly = SOFT_SHARE * belief.n_compared / len(table.rows)
            soft = softly * count_softly(table, q)
            learned = count_confusion(table, groups, k, soft)
            beliefs[name] = belief._replace(confusion=learned.confusion)
            log_said += log_likelihoods(table, beliefs[name], n)
        log_said -= log_said.max(axis=1, keepdims=True)
        log_neighbors = np.log(np.maximum(W @ q, LEAST))
        joined = best_prior(log_neighbors, log_said) * np.exp(log_said)
        joined /= joined.sum(axis=1, keepdims=True)
        joined[known] = q[known]
        moved = float(np.abs(joined - q).max())
        q = joined
        if moved < MOVE:
            break
    return JoinedBelief(q, beliefs)


def neighbor_means(S: csr_array) -> csr_array:
    """The adjacency without rows' own shares, each row summing to 1."""
    W = csr_array(S, copy=True)
    W.setdiag(0.0)
    degrees = W.sum(axis=1)
    return csr_array(diags_array(1 / np.where(degrees > 0, degrees, 1.0)) @ W)


def best_prior(log_neighbors: np.ndarray, log_said: np.ndarray) -> np.ndarray:
    """(n, k) the neighbors' means, to the power at which machines' answers are likeliest."""
    is_asked = (log_said != 0).any(axis=1)
    likelihoods, priors = [], []
    for power in POWERS:
        log_prior = power * log_neighbors
        prior = np.exp(log_prior - log_prior.max(axis=1, keepdims=True))
        prior /= prior.sum(axis=1, keepdims=True)
        said = (prior[is_asked] * np.exp(log_said[is_asked])).sum(axis=1)
        likelihoods.append(np.log(np.maximum(said, LEAST)).sum())
        priors.append(prior)
    return priors[int(np.argmax(likelihoods))]


def join_machines(
    knowledge: Knowledge, settled: Settled, looks: Mapping[str, Sequence[MachineLook]]
) -> JoinedBelief:
    """The same from what a session knows."""
    known = np.flatnonzero(settled.groups >= 0)
    own = settled.groups[known]
    left_out = leave_one_out(knowledge.walks, known, own, settled.n_groups, sharpness=1.0)
    sharpness = fit_sharpness(left_out, own, ERROR_RATE)
    field = sharpen(np.maximum(settled.memberships, LEAST), sharpness)
    return join_beliefs(field, knowledge.S, settled.groups, looks, sharpen(left_out, sharpness))


def questions_for_machine(
    knowledge: Knowledge,
    settled: Settled,
    looks: Sequence[MachineLook],
    memberships: np.ndarray,  # (n, k)
    n_wanted: int,
    rng: np.random.Generator,
) -> list[Question]:
    """Questions to put to a machine: rows that people placed first, then all, then doubtful ones.

    Rows by position. A second look shows the groups in another order; rows with `MOST_LOOKS` looks
    are left in peace.
    """
    n, k = memberships.shape
    n_looks = np.bincount([look.row for look in looks], minlength=n)
    order = rng.permutation(n)
    doubts = np.round(1 - memberships.max(axis=1), 3)
    doubts[n_looks == 0] = 0.0  # these come in a random order: the graph fills the gaps
    rank = np.lexsort((-doubts[order], settled.groups[order] < 0, n_looks[order] > 0))
    rows = [int(row) for row in order[rank] if n_looks[row] < MOST_LOOKS][:n_wanted]
    trust = own_shares(settled, *shares_by_others(knowledge, settled))
    typical = [typical_rows(trust, settled.groups, group) for group in range(k)]
    return [
        ask_machine(row, memberships[row], typical, n_looks[row], settled.groups[row] >= 0)
        for row in rows
    ]


def ask_machine(
    row: int,
    memberships: np.ndarray,
    typical: Sequence[tuple[int, ...]],
    n_looks: int,
    is_placed: bool,
) -> Question:
    """Which group a row belongs with: the likeliest first, the other way round every other time.

    Of rows that people placed the order says nothing: it would tell their answer to a machine that
    cannot tell groups apart and takes the first.
    """
    likeliest = np.argsort(-memberships, kind="stable")
    groups = [tuple(i for i in typical[g] if i != row) for g in likeliest]
    groups = [group for group in groups if group]
    order = np.arange(min(len(groups), MOST_SHOWN))
    if is_placed:
        order = np.random.default_rng([row, n_looks // 2]).permutation(order)
    shown = [groups[i] for i in (order[::-1] if n_looks % 2 else order)]
    return Question("group", (row,), tuple(shown), tuple(groups[MOST_SHOWN:]), why=WHY)
