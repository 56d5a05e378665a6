"""What to ask next: the pairs or triples whose answers should change the clusters the most.

A question shows a row with a representative of the group it most likely belongs to ("together?"),
or of the two groups ("which is the odd one out?"). A strategy decides which rows to ask about:

    expected-change  sum_x max(0, |x - known| - |x - i|): how much nearer all rows come to a row
                     whose group is known
    uncertainty      H(p_i) / E[questions until its group is found]
    farthest-first   its distance to all rows asked about, until every group is found; then any row
    min-max          its distance to the nearest group that the answers have made
    random           any two or three rows

Groups are what the answers have made (rows known to belong together, known to be apart from the
other groups); for uncertainty they are the clusters. A row that was kept from one group is asked
about again first, until its group is found: half an answer is worth little. Some questions are
random whatever the strategy, so that the quality of the clusters stays measurable without bias.
What the answers imply is never asked.
Reference: xiong2014 (uncertainty), basu2004 (explore and consolidate), mallapragada2008 (min-max).
We differ from them in questions by the batch, spread over the borders between groups; expected
change is the gain of a greedy k-medoids step, and found every group in fewer questions than
farthest-first, which asks about outliers.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, islice
from math import comb

import numpy as np
from sklearn.utils import check_random_state

from likewise.constraints import Constraints, check_constraints
from likewise.evaluation import percent
from likewise.kernels import sq_distances
from likewise.numerics.rows import check_rows
from likewise.selection.landscape import (
    Landscape,
    RowGroups,
    answered_groups,
    cluster_groups,
    memberships,
    survey,
)

STRATEGIES = ("expected-change", "uncertainty", "farthest-first", "min-max", "random")
KINDS = ("pairs", "triples")
MOST_ROWS = 3000  # rows considered; if there are more, a sample
MOST_CANDIDATES = 300  # rows whose expected change is computed; if there are more, a sample
MOST_LISTED = 100_000  # random questions that are listed one by one when draws find too few
DRAWS = 50  # random questions drawn for each one wanted, since some are known


@dataclass(frozen=True)
class ProposedQuestion:
    """Two rows ("do they belong together?") or three ("which is the odd one out?").

    Attributes
    ----------
    rows : tuple of int
    score : float
        The larger, the earlier to ask; only to be compared within a strategy.
    strategy : str
        What proposed it; "random" for those mixed in.
    why : str
        A sentence for people.
    """

    rows: tuple[int, ...]
    score: float
    strategy: str
    why: str


def next_questions(
    X,
    constraints: Constraints | None = None,
    n_questions: int = 10,
    *,
    space=None,
    strategy: str = "expected-change",
    kind: str = "pairs",
    n_clusters: int | None = None,
    random_share: float = 0.1,
    skip=(),
    random_state=None,
) -> list[ProposedQuestion]:
    """Propose the questions to ask people next, the most informative first.

    Parameters
    ----------
    X : array-like or CSR of shape (n_samples, n_features)
    constraints : Constraints, default=None
        What has been answered. Questions that it answers or implies are not asked.
    n_questions : int, default=10
        Number of questions; fewer are returned when fewer are left. Larger batches need fewer fits,
        but each question is chosen before the answers to the others are known.
    space : fitted estimator with transform, default=None
        Where distances are taken: a learned space, or a fitted :class:`GuidedClustering` (then with
        its clusters). None means X itself.
    strategy : str, default="expected-change"
        "expected-change", "uncertainty", "farthest-first", "min-max" or "random".
    kind : "pairs" or "triples", default="pairs"
        Triples are for :class:`SKLR` and for people who find "together?" hard to answer.
    n_clusters : int, default=None
        Clusters to look for when ``space`` has none of its own. None is 8.
    random_share : float, default=0.1
        Share of random questions. More of them measure the clusters better and teach less.
    skip : sequence of tuples of rows, default=()
        Questions not to ask: those asked before that got no answer.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    list of ProposedQuestion
        Each with ``rows``, ``score``, ``strategy`` and ``why``. An empty list is the signal to
        stop: the strategy finds no row whose group is still open, and random questions are not
        asked alone.

    Notes
    -----
    With more than 3,000 rows a sample is used, which includes every row that an answer refers to.

    References
    ----------
    xiong2014, basu2004, mallapragada2008

    Examples
    --------
    >>> from likewise import Constraints, next_questions
    >>> X = [[0.0], [0.1], [5.0], [9.9], [10.0]]
    >>> answers = Constraints(5, must_link=[(0, 1), (3, 4)], cannot_link=[(0, 3)])
    >>> asked = next_questions(X, answers, 1, n_clusters=2, random_share=0, random_state=0)
    >>> 2 in asked[0].rows
    True
    """
    numbers = check_rows(X, accept_sparse="csr", dtype=[np.float64, np.float32])
    n_rows = numbers.shape[0]
    constraints = check_constraints(constraints, n_samples=n_rows)
    check_settings(space, n_questions, strategy, kind, random_share, skip, n_rows)
    rng = check_random_state(random_state)
    asked = {tuple(sorted(rows)) for rows in skip}
    asked |= {tuple(sorted(answer.points)) for answer in constraints.answers()}
    size = KINDS.index(kind) + 2
    if strategy == "random":
        return draw_questions(constraints, size, n_questions, asked, rng)
    n_best = n_questions - int(np.count_nonzero(rng.uniform(size=n_questions) < random_share))
    rows = draw_rows(n_rows, constraints.touched_rows(), rng)
    has_names = hasattr(space, "feature_names_in_")  # and wants to see them again
    landscape = survey(space, X if has_names else numbers, constraints, rows, n_clusters)
    proposed = propose(landscape, constraints, strategy, size, n_questions, asked, rng)
    best = list(islice(leave_out(proposed, asked), max(n_best, 1)))
    if not best:
        return []  # nothing is worth asking; random questions alone would hide that
    return best[:n_best] + draw_questions(constraints, size, n_questions - n_best, asked, rng)


def leave_out(
    questions: Iterable[ProposedQuestion], asked: set[tuple[int, ...]]
) -> Iterator[ProposedQuestion]:
    """Questions not asked before, marked as asked from now on."""
    for question in questions:
        key = tuple(sorted(question.rows))
        if key not in asked:
            asked.add(key)
            yield question


def check_settings(space, n_questions, strategy, kind, random_share, skip, n_rows) -> None:
    if space is not None and not hasattr(space, "transform"):
        raise TypeError(f"space={space!r} has no transform. Pass a fitted learner, or None.")
    if strategy not in STRATEGIES:
        raise ValueError(f"strategy={strategy!r} is unknown. Use one of {', '.join(STRATEGIES)}.")
    if kind not in KINDS:
        raise ValueError(f"kind={kind!r} is unknown. Use pairs or triples.")
    if not 0 <= random_share <= 1:
        raise ValueError(f"random_share={random_share} must lie between 0 and 1.")
    if n_questions < 0:
        raise ValueError(f"n_questions={n_questions} must be 0 or more.")
    for i, rows in enumerate(skip):
        if not all(0 <= row < n_rows for row in rows):
            raise ValueError(
                f"skip[{i}] = {tuple(rows)} points outside X, which has {n_rows} rows."
            )


def draw_rows(n_rows: int, touched: np.ndarray, rng) -> np.ndarray:
    """All rows, or those touched and a draw of the others, ascending."""
    if n_rows <= MOST_ROWS:
        return np.arange(n_rows)
    drawn = rng.randint(n_rows, size=MOST_ROWS)
    return np.unique(np.concatenate([touched, drawn]))


def propose(
    landscape: Landscape,
    constraints: Constraints,
    strategy: str,
    size: int,
    n_questions: int,
    asked: set[tuple[int, ...]],
    rng: np.random.RandomState,
) -> Iterator[ProposedQuestion]:
    """Questions of a strategy, the best first, no row twice, borders in turn."""
    groups = answered_groups(landscape, constraints)
    if strategy == "uncertainty" or len(groups.representatives) < size - 1:
        groups = cluster_groups(landscape, constraints, int(rng.randint(2**31 - 1)))
    P = memberships(groups)
    order = np.argsort(-np.where(groups.known == 0, P, -1.0), axis=1, kind="stable")
    others = groups.representatives[order[:, : size - 1]]
    shown = np.column_stack([landscape.rows, landscape.rows[others]])
    is_open = find_open(groups, size) & ~find_asked(shown, asked)
    unfinished = is_open & (groups.known == -1).any(axis=1) & landscape.is_touched
    scores = score_rows(strategy, landscape, groups, P, is_open & ~unfinished, n_questions, rng)
    is_open &= unfinished | (scores > 0)
    for i in rank(scores, order[:, : size - 1], is_open, unfinished, landscape.components):
        why = explain(strategy, P[i, order[i, : size - 1]], bool(unfinished[i]))
        yield ProposedQuestion(tuple(map(int, shown[i])), float(scores[i]), strategy, why)


def find_open(groups: RowGroups, size: int) -> np.ndarray:
    """(p,) rows of no group yet that can still be of enough of them to ask about."""
    possible = np.count_nonzero(groups.known == 0, axis=1) >= size - 1
    return possible & ~(groups.known == 1).any(axis=1)


def find_asked(shown: np.ndarray, asked: set[tuple[int, ...]]) -> np.ndarray:
    """(p,) rows whose question was asked before."""
    before = np.zeros(len(shown), dtype=bool)
    rows = np.array([row for question in asked for row in question], dtype=np.int64)
    for i in np.flatnonzero(np.isin(shown[:, 0], rows)):
        before[i] = tuple(sorted(map(int, shown[i]))) in asked
    return before


def score_rows(strategy, landscape, groups, P, is_open, n_questions, rng) -> np.ndarray:
    """(p,) how much an open row is worth asking about; 0 where it is not."""
    if strategy == "expected-change":
        return cover(landscape.Z, groups.sq_dists.min(axis=1), is_open, n_questions, rng)
    if strategy == "uncertainty":
        return entropies(P) / expected_questions(P)
    if strategy == "min-max":
        return groups.sq_dists.min(axis=1)
    if len(groups.representatives) >= landscape.n_clusters:  # every group is found: consolidate
        return rng.uniform(size=len(landscape.rows))
    known = landscape.is_touched if landscape.is_touched.any() else groups.representatives
    return sq_distances(landscape.Z, landscape.Z[known]).min(axis=1)


def cover(Z, sq_nearest, is_open, n_wanted, rng) -> np.ndarray:
    """(p,) what each of the rows chosen one by one saves, the others' distances updated."""
    candidates = np.flatnonzero(is_open)
    if not len(candidates):
        return np.zeros(len(Z))
    if len(candidates) > MOST_CANDIDATES:
        candidates = rng.choice(candidates, MOST_CANDIDATES, replace=False)
    savings = np.zeros(len(Z))
    nearest = np.sqrt(sq_nearest)[:, None]
    dists = np.sqrt(sq_distances(Z, Z[candidates]))
    for _ in range(min(n_wanted, len(candidates))):
        gains = np.maximum(nearest - dists, 0).sum(axis=0)
        best = int(gains.argmax())
        savings[candidates[best]] = max(savings[candidates[best]], gains[best])
        nearest = np.minimum(nearest, dists[:, [best]])
    return savings


def entropies(P: np.ndarray) -> np.ndarray:
    return -np.sum(P * np.log(np.maximum(P, np.finfo(float).tiny)), axis=1)


def expected_questions(P: np.ndarray) -> np.ndarray:
    """Questions until a row's group is found, the likeliest group asked about first."""
    likeliest_first = -np.sort(-P, axis=1)
    return np.maximum(likeliest_first @ np.arange(1, P.shape[1] + 1), 1.0)


def rank(scores, order, is_open, unfinished, components) -> np.ndarray:
    """Rows to ask about: the unfinished, then by score, the best of every border before the next.

    Of rows known to belong together only one is asked about.
    """
    by_score = np.argsort(-scores, kind="stable")
    by_score = by_score[is_open[by_score]]
    by_score = by_score[np.sort(np.unique(components[by_score], return_index=True)[1])]
    turns: dict[tuple, int] = {}
    turn = np.full(len(by_score), -1)
    for at, i in enumerate(by_score):
        if not unfinished[i]:
            border = tuple(order[i])
            turns[border] = turn[at] = turns.get(border, -1) + 1
    return by_score[np.argsort(turn, kind="stable")]


def explain(strategy: str, likelihoods: np.ndarray, is_unfinished: bool) -> str:
    """Why a row is asked about, in a sentence."""
    if is_unfinished:
        return "The first row is not in its most likely group, so the next likeliest is shown."
    chances = " and ".join(percent(share) for share in likelihoods)
    reason = {
        "expected-change": "The first row represents many others whose groups are not known yet",
        "uncertainty": "The first row lies between groups",
        "min-max": "The first row is far from every known group",
        "farthest-first": "The first row is far from all rows asked about",
    }[strategy]
    return f"{reason}. Its chance of belonging with the other row is {chances}."


def draw_questions(constraints, size, n_wanted, asked, rng) -> list[ProposedQuestion]:
    """Random questions that no answer settles yet; with few rows, all of them if necessary."""
    if not n_wanted or constraints.n_samples < size:
        return []
    drawn = rng.randint(constraints.n_samples, size=(DRAWS * n_wanted, size))
    drawn = drawn[(np.diff(np.sort(drawn, axis=1), axis=1) > 0).all(axis=1)]
    questions = list(islice(open_questions(drawn, constraints, asked), n_wanted))
    n_missing = n_wanted - len(questions)
    if n_missing and comb(constraints.n_samples, size) <= MOST_LISTED:
        every = np.array(list(combinations(range(constraints.n_samples), size)))
        every = every[rng.permutation(len(every))]
        questions += islice(open_questions(every, constraints, asked), n_missing)
    return questions


def open_questions(drawn, constraints, asked) -> Iterator[ProposedQuestion]:
    """Those of the drawn rows (m, size) that the answers leave open and that were not asked."""
    ends = list(combinations(range(drawn.shape[1]), 2))
    closure = constraints.closure()
    known = np.stack([closure.known(drawn[:, list(two)]) for two in ends], axis=1)
    left = drawn[~(known != 0).all(axis=1)]
    questions = (
        ProposedQuestion(tuple(map(int, rows)), 0.0, "random", "Drawn at random.") for rows in left
    )
    return leave_out(questions, asked)
