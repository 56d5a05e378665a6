"""What a person decided about groups, without being asked, holds against all older answers.

    merge  cannot-links between rows of the groups that are merged are dropped,
           and the groups are joined
    split  must-links between the parts are dropped, and merges that made one group of them;
           the parts are kept apart
    move   whatever was said about the row is dropped; rows that were joined through it stay joined
    review, denied: must-links of the row that was looked at again are dropped, in the same way

Answers are votes, and a group of twenty rows has many votes against joining another one; a merge is
a look at both groups by somebody who has seen them. Newer answers vote again, with one exception: a
merge or a split is worth DECIDED looks, since questions that were on screens at the time still show
the groups as they were. What is exported weighs one look, as any answer does.
"""

from collections.abc import Iterable, Sequence
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from likewise.constraints import Constraints
from likewise.labeling.answer_constraints import Link, constraints_of_pairs, links_by_event
from likewise.labeling.events import Event
from likewise.labeling.knowledge import join_components
from likewise.labeling.questions import APART, Question

DECISIONS = ("merge", "split", "move")
DECIDED = 1000.0  # weight of a link that a merge or a split makes


def pairs_that_hold(events: Iterable[Event], n_samples: int) -> Constraints:
    """The pairs of all answers with their weights, but for those that later decisions override."""
    links: list[Link] = []
    for event, of_event in links_by_event(events):
        question = event.question
        if question is not None and is_decision(question, event.choice):
            links = override(links, question, of_event, n_samples)
        else:
            links += of_event
    return constraints_of_pairs(links, n_samples)


def is_decision(question: Question, choice: Any) -> bool:
    """Whether an answer is about groups that are known, and overrides what made them."""
    is_denied = question.kind == "review" and choice == APART and len(question.rows) == 2
    return question.kind in DECISIONS or is_denied


def override(
    links: list[Link], decision: Question, said: Sequence[Link], n_samples: int
) -> list[Link]:
    """The older links that a decision leaves, and what it says itself."""
    if decision.kind == "move":
        return leave_out(links, decision.rows[0]) + list(said)
    if decision.kind == "review":
        row = decision.rows[1]
        apart = [link for link in links if link.kind == "cannot_link" and row in link.points]
        return leave_out(links, row) + apart + list(said)
    inside = rows_joined_to(decision.groups, links, n_samples)
    firsts = [group[0] for group in decision.groups]
    if decision.kind == "merge":
        kept = [link for link in links if link.kind == "must_link" or not inside >= {*link.points}]
        return kept + [Link("must_link", pair, DECIDED) for pair in pairwise(firsts)]
    together = [pair for group in decision.groups for pair in pairwise(group)]
    return (
        come_apart(links, decision.groups, inside, n_samples)
        + [Link("must_link", pair, DECIDED) for pair in together]
        + [Link("cannot_link", pair, DECIDED) for pair in combinations(firsts, 2)]
    )


def come_apart(
    links: list[Link], parts: Sequence[Sequence[int]], inside: frozenset[int], n_samples: int
) -> list[Link]:
    """Links without those between two parts of a group, and without merges that made it of them."""
    part_of = {row: i for i, rows in enumerate(parts) for row in rows}
    merges: list[Link] = []
    kept: list[Link] = []
    for link in links:
        if link.kind != "must_link" or not inside >= {*link.points}:
            kept.append(link)
        elif len({part_of[row] for row in link.points if row in part_of}) < 2:
            (merges if link.weight == DECIDED else kept).append(link)
    joined = join_components(constraints_of_pairs(kept, n_samples))[0]
    parts_in: dict[int, set[int]] = {}
    for row, part in part_of.items():
        parts_in.setdefault(int(joined[row]), set()).add(part)
    for link in merges:
        a, b = (parts_in.get(int(joined[row]), set()) for row in link.points)
        if not a or not b or a & b:
            kept.append(link)
    return kept


def rows_joined_to(
    groups: Sequence[Sequence[int]], links: list[Link], n_samples: int
) -> frozenset[int]:
    """All rows that the links join to one of these, and these."""
    rows = [row for group in groups for row in group]
    joined = join_components(constraints_of_pairs(links, n_samples))[0]
    components = np.unique(joined[rows])
    inside = np.flatnonzero(np.isin(joined, components[components >= 0]))
    return frozenset(inside.tolist()) | frozenset(rows)


def leave_out(links: list[Link], row: int) -> list[Link]:
    """Links that do not touch a row; those that it joined are joined to each other instead."""
    kept = [link for link in links if row not in link.points]
    beside = [link for link in links if link.kind == "must_link" and row in link.points]
    ends = [link.points[0] if link.points[1] == row else link.points[1] for link in beside]
    return kept + [
        Link("must_link", pair, min(first.weight, second.weight))
        for pair, (first, second) in zip(pairwise(ends), pairwise(beside))
        if pair[0] != pair[1]
    ]
