"""What an answer says about rows, with weights that do not count one look many times.

    pair         must-link or cannot-link; can't tell: undecided pair, here and below, 1
                 with weight 0, which nothing learns from
    odd_one_out  odd one out; can't tell: undecided                                  1
    group        must-links to the rows that stand for the group chosen, together    1/2
                 cannot-links to those of the other groups shown, together           1/2
                 another, new: cannot-links to all groups shown, together            1
                 nowhere: these cannot-links with weight 0, which nothing learns from
    grid         a link to the first row for each of the others, together            1
    review       together: must-links from row to row, together                      1
                 apart: a cannot-link, if it is about two rows                       1
    merge, pure  must-links from row to row, together                                1
    split        must-links inside the groups and cannot-links between them, together 1
    move         as group, the first group chosen
    imported     the links as they were in the file, with their weights

One look weighs 1, however many links it is written as. They keep the id of their event as their
screen, so that splitting holds them out together.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np

from likewise.constraints import Constraints
from likewise.labeling.events import Event, counted
from likewise.labeling.questions import APART, CANT_TELL, IMPORTED, NOWHERE, TOGETHER, Question

# In the order that Constraints has them.
KINDS = ("must_link", "cannot_link", "odd_one_out", "closer", "undecided", "undecided_pair")
LOOK = 1.0  # weight of all links of one answer

Pair = tuple[int, ...]


class Link(NamedTuple):
    kind: str  # of an answer in Constraints
    points: tuple[int, ...]
    weight: float


def constraints_from(events: Iterable[Event], n_samples: int, ids=None) -> Constraints:
    """The constraints of all answers and actions that were not taken back, in order.

    Parameters
    ----------
    events : iterable of Event
    n_samples : int
    ids : array-like of shape (n_samples,), default=None

    Examples
    --------
    >>> from likewise.labeling import Event, Question, constraints_from
    >>> which = Question("group", (4,), groups=((0, 1), (2,), (3,)))
    >>> answers = constraints_from([Event("answer", "e1", which, 1)], n_samples=5)
    >>> answers
    <Constraints on 5 rows: 1 must_link, 2 cannot_link>
    >>> answers.weights
    array([0.5 , 0.25, 0.25])
    """
    found = [(event, link) for event, links in links_by_event(events) for link in links]
    kinds = np.array([link.kind for _, link in found], dtype=object)
    codes = np.array([KINDS.index(kind) for kind in kinds], dtype=np.int64)
    order = np.argsort(codes, kind="stable")  # Constraints takes them kind by kind
    by_kind = {kind: [found[i][1].points for i in order if kinds[i] == kind] for kind in set(kinds)}
    sorted_constraints = Constraints(
        n_samples,
        **by_kind,
        weights=[found[i][1].weight for i in order],
        annotators=[found[i][0].annotator for i in order],
        asked_at=[found[i][0].at for i in order],
        screens=[found[i][0].id for i in order],
        seconds=[found[i][0].seconds for i in order],
        ids=ids,
    )
    return sorted_constraints.subset(np.argsort(order))


def constraints_of_pairs(links: Iterable[Link], n_samples: int) -> Constraints:
    """The pairs among the links with their weights, and nothing else about them: quickly."""
    links = [link for link in links if link.kind in ("must_link", "cannot_link")]
    must_link = [link for link in links if link.kind == "must_link"]
    cannot_link = [link for link in links if link.kind == "cannot_link"]
    return Constraints(
        n_samples,
        must_link=np.array([link.points for link in must_link]).reshape(-1, 2).astype(int),
        cannot_link=np.array([link.points for link in cannot_link]).reshape(-1, 2).astype(int),
        weights=[link.weight for link in must_link + cannot_link],
    )


def links_by_event(events: Iterable[Event]) -> list[tuple[Event, tuple[Link, ...]]]:
    """The links of every answer and action that counts, in order."""
    return [
        (event, links_of(event.question, event.choice))
        for event in counted(events)
        if event.question is not None
    ]


@lru_cache(maxsize=2**15)  # a session asks for those of every answer again after each
def links_of(question: Question, choice, *, with_others: bool = True) -> tuple[Link, ...]:
    """What one answer says, with weights that add up to one look.

    All rows that stand for a group share the must-link to it: if one of them turns out to be
    elsewhere, rows that were put beside it stay. Without `with_others` the first has it alone.
    """
    rows = question.rows
    if question.kind == IMPORTED:
        return tuple(Link(kind, tuple(rows[i] for i in at), weight) for kind, at, weight in choice)
    if choice == CANT_TELL:
        if question.kind == "odd_one_out":
            return (Link("undecided", rows, LOOK),)
        others = rows[1:] + tuple(group[0] for group in question.groups)
        return tuple(
            Link("undecided_pair", (rows[0], other), 0.0) for other in others if other != rows[0]
        )
    if question.kind == "odd_one_out":
        others = tuple(row for i, row in enumerate(rows) if i != choice)
        return (Link("odd_one_out", (*others, rows[choice]), LOOK),)
    if question.kind in ("group", "move"):
        groups = [group if with_others else group[:1] for group in question.groups]
        return link_to_groups(rows[0], groups, choice)
    if question.kind == "grid":
        together = [(rows[0], row) for i, row in enumerate(rows[1:]) if i in choice]
        apart = [(rows[0], row) for i, row in enumerate(rows[1:]) if i not in choice]
        return weigh_together(together, apart)
    if question.kind == "merge":
        return weigh_together(list(pairwise(group[0] for group in question.groups)), [])
    if question.kind == "split":
        inside = [pair for group in question.groups for pair in pairwise(group)]
        return weigh_together(inside, list(combinations([g[0] for g in question.groups], 2)))
    if choice == TOGETHER:
        return weigh_together(list(pairwise(rows)), [])
    return weigh_together([], [rows]) if choice == APART and len(rows) == 2 else ()


def link_to_groups(row: int, groups: Sequence[Sequence[int]], choice) -> tuple[Link, ...]:
    """A row joined to one group and kept from the others, or from all of them."""
    others = [(row, group[0]) for g, group in enumerate(groups) if g != choice and group[0] != row]
    if choice == NOWHERE:
        return tuple(Link("cannot_link", pair, 0.0) for pair in others)
    if isinstance(choice, str):
        return weigh_together([], others)
    together = [(row, chosen) for chosen in groups[choice] if chosen != row]
    half = LOOK / 2 if together and others else LOOK
    return weigh_together(together, [], half) + weigh_together([], others, half)


def weigh_together(
    must_link: Sequence[Pair], cannot_link: Sequence[Pair], weight: float = LOOK
) -> tuple[Link, ...]:
    """Links that share one weight in equal parts."""
    n_links = len(must_link) + len(cannot_link)
    return (
        *(Link("must_link", tuple(pair), weight / n_links) for pair in must_link),
        *(Link("cannot_link", tuple(pair), weight / n_links) for pair in cannot_link),
    )
