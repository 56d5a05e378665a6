"""Who agrees with whom, from questions that several people answered, and which camps they form.

    agreed(a, b)    share of the questions both answered on which they said the same
    camps           people joined while their mean agreement is above what separates the camps

A question is its rows in any order. An odd one out agrees when the same row is odd, a pair when
both say together or both say apart; "can't tell" is no disagreement and is left out. Two camps are
reported when agreement inside them is above agreement between them by more than chance: by more
than in 95 % of the ways to deal the answers to each question to those who answered it.
"""

from itertools import combinations
from typing import NamedTuple

import numpy as np

from likewise.constraints import Constraints

LEAST_QUESTIONS = 5  # both of two people answered, before their agreement counts
N_SHUFFLES = 200
LEVEL = 0.05


class PeopleAgreement(NamedTuple):
    """Agreement between people, and the camps they form.

    Attributes
    ----------
    names : ndarray of str, of shape (n,)
    agreed : ndarray of shape (n, n)
        Share of the questions that both answered; nan where they share none. The diagonal has
        people's agreement with themselves, where they were asked twice.
    n_questions : ndarray of shape (n, n)
        Questions that both answered.
    camps : ndarray of int, of shape (n,)
        The camp of each person, the largest first; all 0 where people do not form camps, -1 for
        somebody who shares too few questions with anybody.
    chance : float
        Chance of camps as distinct as these if people differed at random; nan where none were
        looked for.
    """

    names: np.ndarray
    agreed: np.ndarray
    n_questions: np.ndarray
    camps: np.ndarray
    chance: float


def people_agreement(constraints: Constraints, *, random_state=0) -> PeopleAgreement:
    """Say who agrees with whom, and whether people form camps.

    Parameters
    ----------
    constraints : Constraints
        Answers with ``annotators``, some questions answered by several people.
    random_state : int or Generator, default=0
        Shuffles differences, to see what chance makes.

    Returns
    -------
    PeopleAgreement

    Examples
    --------
    >>> from likewise import Constraints
    >>> from likewise.evaluation import people_agreement
    >>> answers = Constraints(
    ...     4,
    ...     must_link=[(0, 1), (1, 0), (2, 3)],
    ...     cannot_link=[(0, 1)],
    ...     annotators=["ann", "bob", "ann", "eve"],
    ... )
    >>> found = people_agreement(answers)
    >>> found.names.tolist(), found.agreed[0].round(1).tolist()
    (['ann', 'bob', 'eve'], [nan, 1.0, 0.0])
    """
    names, said = sayings(constraints)
    votes = vote_table(said, len(names))
    agreed, counts = agreement_of(votes)
    for person, share, n_twice in own_agreement(said):
        agreed[person, person], counts[person, person] = share, n_twice
    camps, gain = split_into_camps(agreed, counts)
    if gain <= 0:
        return PeopleAgreement(names, agreed, counts, camps, float("nan"))
    rng = np.random.default_rng(random_state)
    gains = [split_into_camps(*agreement_of(deal_out(votes, rng)))[1] for _ in range(N_SHUFFLES)]
    chance = (1 + np.count_nonzero(np.array(gains) >= gain)) / (1 + N_SHUFFLES)
    if chance > LEVEL:
        camps = np.where(camps >= 0, 0, -1)
    return PeopleAgreement(names, agreed, counts, camps, float(chance))


def vote_table(said: dict[tuple, list[tuple[int, int]]], n_people: int) -> np.ndarray:
    """(q, n) what each person said last, by numbers that are a question's own; -1 for nothing."""
    rows = []
    for votes in said.values():
        last = dict(votes)
        if len(last) < 2:
            continue
        numbers = {saying: i for i, saying in enumerate(sorted(set(last.values())))}
        row = np.full(n_people, -1)
        row[list(last)] = [numbers[saying] for saying in last.values()]
        rows.append(row)
    return np.array(rows, dtype=np.int64).reshape(-1, n_people)


def agreement_of(votes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Shares (n, n) of the questions two people answered alike, nan if none; their numbers."""
    answered = (votes >= 0).astype(np.int64)
    both = answered.T @ answered
    same = np.zeros_like(both)
    for saying in range(votes.max(initial=-1) + 1):
        is_said = (votes == saying).astype(np.int64)
        same += is_said.T @ is_said
    np.fill_diagonal(both, 0)
    shares = np.divide(same, both, out=np.full(both.shape, np.nan), where=both > 0)
    return shares, both


def own_agreement(said: dict[tuple, list[tuple[int, int]]]) -> list[tuple[int, float, int]]:
    """Everybody who was asked something twice: the share of equal answers, and how many."""
    pairs: dict[int, list[bool]] = {}
    for votes in said.values():
        for (a, first), (b, second) in combinations(votes, 2):
            if a == b:
                pairs.setdefault(a, []).append(first == second)
    return [(person, float(np.mean(same)), len(same)) for person, same in pairs.items()]


def deal_out(votes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The answers to each question dealt to the people who answered it, at random."""
    dealt = votes.copy()
    for row in dealt:
        answered = np.flatnonzero(row >= 0)
        row[answered] = row[rng.permutation(answered)]
    return dealt


def sayings(constraints: Constraints) -> tuple[np.ndarray, dict[tuple, list[tuple[int, int]]]]:
    """Names, and for each question who said what: the odd row, or together (1) and apart (0)."""
    if constraints.annotators is None:
        raise ValueError("The answers name nobody. Give Constraints(annotators=...).")
    names, who = np.unique(constraints.annotators.astype(str), return_inverse=True)
    said: dict[tuple, list[tuple[int, int]]] = {}
    for person, answer in zip(who.tolist(), constraints.answers()):
        points = answer.points
        if answer.kind in ("must_link", "cannot_link") and answer.weight > 0:
            question, saying = ("pair", *sorted(points)), int(answer.kind == "must_link")
        elif answer.kind == "odd_one_out":
            question, saying = ("odd", *sorted(points)), points[2]
        elif answer.kind == "closer":
            question, saying = ("closer", points[0], *sorted(points[1:])), points[1]
        else:
            continue
        said.setdefault(question, []).append((person, saying))
    return names, said


def split_into_camps(agreed: np.ndarray, n_questions: np.ndarray) -> tuple[np.ndarray, float]:
    """Camps (n,) by the largest gap in joining people, and agreement inside minus between.

    People are joined by mean agreement, the most agreeing first, into every number of camps from 2
    on; the number with the largest difference is taken. Nobody is a camp alone.
    """
    n = len(agreed)
    counts = np.where(n_questions >= LEAST_QUESTIONS, n_questions, 0).astype(float)
    np.fill_diagonal(counts, 0)
    people = np.flatnonzero(counts.any(axis=1))
    best = np.where(counts.any(axis=1), 0, -1), 0.0
    groups = [[int(i)] for i in people]
    counts = counts[np.ix_(people, people)]
    sums = np.nan_to_num(agreed)[np.ix_(people, people)] * counts
    pairs, agreeing = counts.sum() / 2, sums.sum() / 2
    pairs_inside = agreeing_inside = 0.0
    while len(groups) > 2:
        means = np.divide(sums, counts, out=np.full(sums.shape, -1.0), where=counts > 0)
        means[np.tril_indices(len(groups))] = -np.inf
        a, b = divmod(int(means.argmax()), len(groups))
        pairs_inside += float(counts[a, b])
        agreeing_inside += float(sums[a, b])
        groups[a] += groups.pop(b)
        sums, counts = join_rows(sums, a, b), join_rows(counts, a, b)
        if min(map(len, groups)) < 2:
            continue
        inside = agreeing_inside / pairs_inside if pairs_inside else -1.0
        apart = pairs - pairs_inside
        gap = inside - ((agreeing - agreeing_inside) / apart if apart > 0 else -1.0)
        if gap > best[1]:
            camps = np.full(n, -1)
            for number, group in enumerate(sorted(groups, key=len, reverse=True)):
                camps[group] = number
            best = camps, gap
    return best


def join_rows(table: np.ndarray, a: int, b: int) -> np.ndarray:
    """A symmetric table with b added to a; what they had with each other is left out."""
    table = table.copy()
    table[a] += table[b]
    table[:, a] += table[:, b]
    table[a, a] = 0
    return np.delete(np.delete(table, b, axis=0), b, axis=1)
