"""What people state by their answers, and how likely each statement is if rows are grouped so.

    chance = (1 - e) [it fits the partition] / options that fit + e / options

    pair                           together or apart
    odd one out of three           the row of another cluster than both others; any where no row is
    closer                         the row of the same cluster; any where both or neither are
    a screen with several groups   a group of the row's cluster; a new one where none is

A screen is several links that share a row (`Constraints(screens=...)`): a row put with one group
and kept from the others is one statement. Who sees two groups on the screen as one chooses either.
"""

from itertools import combinations
from typing import NamedTuple

import numpy as np

from likewise.constraints import Constraints

TRIPLES = ("odd_one_out", "closer")
PAIRS = ("must_link", "cannot_link")
KINDS = (*PAIRS, *TRIPLES, "screen")
LEAST_ANSWERS = 10  # of a person of whom anything can be said
GUESSED = np.array([0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.65, 0.8, 1.0])
LEAST_GUESSED = 0.01  # nobody is that careful that one slip proves anything


class Statement(NamedTuple):
    """What one person said once."""

    at: list[int]  # positions of the answers that it consists of
    kind: str
    rows: tuple[int, ...]  # of the answer; of a screen its row, the chosen one or -1, the others


class Statements(NamedTuple):
    """Statements of people who made enough of them, in arrays."""

    people: np.ndarray  # (m,) 0 ... n_people - 1
    rows: np.ndarray  # (m, most) as of `Statement`, -1 beyond
    kinds: np.ndarray  # (m,) places in KINDS
    weights: np.ndarray  # (m,)

    def subset(self, at: np.ndarray) -> "Statements":
        """Some of them."""
        return Statements(*(part[at] for part in self))


class StatementsOfPeople(NamedTuple):
    """Statements, and where they come from."""

    statements: Statements
    names: list[str]  # of the people
    statement_of: np.ndarray  # (n_answers,) place among the statements, -1


def statements_of_people(answers: Constraints, labels: np.ndarray) -> StatementsOfPeople:
    """Statements about rows in clusters (label -1: in none), of people who made enough of them."""
    if answers.annotators is None:
        return StatementsOfPeople(Statements(*np.empty((4, 0))), [], np.full(answers.n_answers, -1))
    whose = answers.annotators.astype(str)
    made = [one for one in join_screens(answers, whose) if (labels[rows_named(one)] >= 0).all()]
    names, n_made = np.unique([whose[one.at[0]] for one in made], return_counts=True)
    names = names[n_made >= LEAST_ANSWERS]
    made = [one for one in made if whose[one.at[0]] in names]
    rows = np.full((len(made), max([3, *(len(one.rows) for one in made)])), -1)
    statement_of = np.full(answers.n_answers, -1)
    for place, one in enumerate(made):
        rows[place, : len(one.rows)] = one.rows
        statement_of[one.at] = place
    people = np.searchsorted(names, np.array([whose[one.at[0]] for one in made], dtype=str))
    kinds = np.array([KINDS.index(one.kind) for one in made], dtype=np.int64)
    weights = np.array([answers.weights[one.at].sum() for one in made])
    return StatementsOfPeople(
        Statements(people, rows, kinds, weights), names.tolist(), statement_of
    )


def rows_named(statement: Statement) -> list[int]:
    """The rows that a statement is about."""
    return [row for row in statement.rows if row >= 0]


def join_screens(answers: Constraints, whose: np.ndarray) -> list[Statement]:
    """Every answer, and the links of a screen as one statement where they share a row."""
    kinds, counts = answers.kinds, (answers.weights > 0) & (whose != "")
    made: list[Statement] = []
    screens: dict[tuple[str, str], list[int]] = {}
    for at in np.flatnonzero(counts & np.isin(kinds, KINDS)).tolist():
        screen = "" if answers.screens is None else answers.screens[at]
        if screen and kinds[at] in PAIRS:
            screens.setdefault((whose[at], screen), []).append(at)
        else:
            made.append(Statement([at], str(kinds[at]), answers.answer(at).points))
    for links in screens.values():
        pairs = [answers.answer(at).points for at in links]
        shared = set.intersection(*map(set, pairs))
        if len(links) == 1 or len(shared) != 1:
            made += [Statement([at], str(kinds[at]), pair) for at, pair in zip(links, pairs)]
            continue
        (row,) = shared
        others = [pair[pair[0] == row] for pair in pairs]
        chosen = [other for at, other in zip(links, others) if kinds[at] == "must_link"]
        left = [other for at, other in zip(links, others) if kinds[at] == "cannot_link"]
        made.append(Statement(links, "screen", (row, chosen[0] if chosen else -1, *left)))
    return made


def chances_of(statements: Statements, labels: np.ndarray) -> np.ndarray:
    """(m, number of `GUESSED`) chance of each statement if rows are grouped so, by guesses."""
    is_row = statements.rows >= 0
    seen = np.where(is_row, labels[statements.rows], -1)
    kinds = statements.kinds
    ab, ac, bc = (seen[:, i] == seen[:, j] for i, j in ((0, 1), (0, 2), (1, 2)))
    is_odd, is_closer = (kinds == KINDS.index(kind) for kind in TRIPLES)
    is_open = (is_odd & (ab.astype(int) + ac + bc != 1)) | (is_closer & (ab == ac))
    fits = np.where(kinds == KINDS.index("cannot_link"), ~ab, ab) | is_open
    n_options = np.where(is_odd, 3, 2)
    n_fitting = np.where(is_open, n_options, 1)
    is_screen = kinds == KINDS.index("screen")
    n_same = ((seen[:, 1:] == seen[:, :1]) & is_row[:, 1:]).sum(axis=1)
    is_new = ~is_row[:, 1]
    fits = np.where(is_screen, np.where(is_new, n_same == 0, ab), fits)
    n_fitting = np.where(is_screen, np.maximum(n_same, 1), n_fitting)
    n_options = np.where(is_screen, is_row[:, 1:].sum(axis=1) + 1, n_options)
    guessed = np.maximum(GUESSED, LEAST_GUESSED)
    return (1 - guessed) * (fits / n_fitting)[:, None] + guessed / n_options[:, None]


def statements_by_clusters(
    statements: Statements, labels: np.ndarray
) -> dict[tuple[int, int], np.ndarray]:
    """Statements about rows of two clusters, or about two rows of one, by these clusters."""
    seen = np.where(statements.rows >= 0, labels[statements.rows], -1)
    columns = np.array(list(combinations(range(seen.shape[1]), 2)))
    pairs = np.sort(np.concatenate([seen[:, pair] for pair in columns]))
    places = np.tile(np.arange(len(seen)), len(columns))
    found = np.unique(np.column_stack([pairs, places])[pairs[:, 0] >= 0], axis=0)
    clusters, first = np.unique(found[:, :2], axis=0, return_index=True)
    parts = np.split(found[:, 2], first[1:])
    return {(int(c), int(d)): part for (c, d), part in zip(clusters, parts)}
