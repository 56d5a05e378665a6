"""Why no clusters satisfy all rules: the fewest answers found that prove it.

a must-link path         that joins two rows of a cannot-link or of an exclusive group
a must-linked group      of more rows than the largest cluster may have
rows all kept apart      more of them than clusters: a clique
anything else            answers are left out as long as what remains cannot hold, in halves and
                         quarters first, until each one that is left is needed: an irreducible
                         set. Whether some answers can hold is a coloring (feasible.py), or with
                         sizes a program without costs (linked_groups.py).
"""

from collections.abc import Callable

import numpy as np
from scipy.sparse.csgraph import breadth_first_order

from likewise.cluster.feasible import assign, find_clique, prepare_links
from likewise.cluster.linked_groups import Ties, no_ties, solve_program
from likewise.constraints import Constraints, InconsistentConstraints, link_graph

N_TRIALS = 300  # sets of answers that are tried while a proof is made shorter
N_SHOWN = 8  # answers that an error names
WAY_OUT = "or use PCKMeans, which may violate pairs."


def raise_contradiction(constraints: Constraints) -> None:
    """A cannot-link or a group whose rows a path of must-links joins: the first, with its path."""
    components = constraints.closure().components[constraints.cannot_link]
    inside = components[:, 0] == components[:, 1]
    clashes = constraints.conflicts()
    if inside.any():
        first = constraints.positions("cannot_link")[np.flatnonzero(inside)[0]]
        conflict = next(clash for clash in clashes if clash.answer == first)
        n_more = int(inside.sum()) - 1
        more = f" {n_more} more cannot-links are contradicted, too." if n_more else ""
    elif clashes.n_against_groups:
        conflict = clashes[len(clashes) - clashes.n_against_groups]
        n_more = clashes.n_against_groups - 1
        more = f" {n_more} more exclusive groups are contradicted, too." if n_more else ""
    else:
        return
    raise InconsistentConstraints(
        f"{conflict.message}{more} Drop one of them, {WAY_OUT}",
        witness=(conflict.answer, *conflict.witness),
    )


def raise_large_group(constraints: Constraints, upper: np.ndarray) -> None:
    """A must-linked group that no cluster has room for, by the fewest must-links that make one."""
    closure, most = constraints.closure(), int(upper.max())
    if closure.sizes.max(initial=0) <= most:
        return
    row = int(np.flatnonzero(closure.sizes[closure.components] > most)[0])
    graph = link_graph(constraints.must_link, constraints.n_samples).tocsr()
    order, before = breadth_first_order(graph, row, directed=False)
    answer_of = {
        tuple(sorted(pair)): int(at)
        for pair, at in zip(constraints.must_link.tolist(), constraints.positions("must_link"))
    }
    rows = order[: most + 1].tolist()
    witness = tuple(answer_of[tuple(sorted((r, int(before[r]))))] for r in rows[1:])
    raise InconsistentConstraints(
        f"{most} must-links join {most + 1} rows, {constraints.row_name(rows[0])} among them, and "
        f"no cluster may have more than max_size={most}. Raise max_size, drop one of them, "
        f"{WAY_OUT}",
        witness=witness,
    )


def raise_clique(constraints: Constraints, groups: np.ndarray, n_clusters: int) -> None:
    """More groups of rows than clusters, each kept apart from every other: no labels can do it."""
    if not len(groups):
        return
    components = constraints.closure().components
    rows = [int(np.flatnonzero(components == group)[0]) for group in groups]
    names = ", ".join(constraints.row_name(row) for row in rows)
    raise InconsistentConstraints(
        f"Rows {names} are all kept apart from each other: that takes {len(groups)} clusters, and "
        f"n_clusters={n_clusters}. Raise n_clusters, drop one of their cannot-links, {WAY_OUT}",
        witness=answers_among(constraints, groups),
    )


def raise_large_exclusive(constraints: Constraints, n_clusters: int) -> None:
    """An exclusive group of more rows than there are clusters."""
    for number, rows in enumerate(constraints.exclusive):
        if len(rows) > n_clusters:
            raise InconsistentConstraints(
                f"exclusive[{number}] keeps {len(rows)} rows apart, and n_clusters={n_clusters}. "
                "Raise n_clusters, or drop the group."
            )


def raise_irreducible(
    constraints: Constraints, n_clusters: int, lower: np.ndarray, upper: np.ndarray
) -> None:
    """The fewest answers and groups that could be found which no labels satisfy."""
    pairs = constraints.positions("must_link", "cannot_link")
    n_pairs = len(pairs)
    # One element per pair, then one per exclusive group.
    elements = np.arange(n_pairs + len(constraints.exclusive))

    def can_hold(kept: np.ndarray) -> bool:
        groups = [constraints.exclusive[i - n_pairs] for i in kept if i >= n_pairs]
        some = constraints.subset(pairs[kept[kept < n_pairs]]).with_exclusive(groups)
        return can_be_labeled(some, n_clusters, lower, upper)

    needed, is_irreducible = shorten_proof(elements, can_hold, N_TRIALS)
    answers = pairs[needed[needed < n_pairs]]
    names = [constraints.describe(int(at)) for at in answers]
    names += [f"exclusive[{i - n_pairs}]" for i in needed[needed >= n_pairs]]
    n_more = len(names) - N_SHOWN
    shown = "; ".join(names[:N_SHOWN]) + (f" and {n_more} more" if n_more > 0 else "")
    sizes = ""
    if (lower > 0).any() or (upper < constraints.n_samples).any():
        sizes = f" of {lower.min()} to {upper.max()} rows"
    rest = "each of them is needed for that" if is_irreducible else "fewer may do"
    raise InconsistentConstraints(
        f"No {n_clusters} clusters{sizes} satisfy {shown}: every assignment was tried, and {rest}. "
        f"Raise n_clusters, drop one of them, {WAY_OUT}",
        witness=tuple(answers.tolist()),
    )


def shorten_proof(
    elements: np.ndarray, can_hold: Callable[[np.ndarray], bool], n_trials: int
) -> tuple[np.ndarray, bool]:
    """Elements that cannot all hold, of which none can be left out, and whether that was proved."""
    needed = elements
    size = max(len(needed) // 2, 1)
    while True:
        start = 0
        while start < len(needed):
            if n_trials == 0:
                return needed, False
            n_trials -= 1
            rest = np.delete(needed, slice(start, start + size))
            if can_hold(rest):
                start += size
            else:
                needed = rest
        if size == 1:
            return needed, True
        size = max(size // 2, 1)


def can_be_labeled(
    constraints: Constraints, n_clusters: int, lower: np.ndarray, upper: np.ndarray
) -> bool:
    """Whether labels exist that satisfy pairs, groups and sizes; True where it cannot be decided"""
    if any(len(rows) > n_clusters for rows in constraints.exclusive):
        return False
    closure = constraints.closure()
    ends = closure.components[constraints.cannot_link]
    own = [closure.components[rows] for rows in constraints.exclusive]
    joined = any(len(np.unique(groups)) < len(groups) for groups in own)
    if (ends[:, 0] == ends[:, 1]).any() or joined:
        return False
    n_rows = constraints.n_samples
    if (lower == 0).all() and (upper >= n_rows).all():
        links = closure.apart_pairs()
        linked = np.unique(links)
        apart = prepare_links(np.searchsorted(linked, links), len(linked), n_clusters)
        costs = np.zeros((len(linked), n_clusters))
        return not assign(costs, apart, budget=10_000).exhausted
    ties = no_ties()._replace(apart=closure.cannot_link, exclusive=closure.exclusive)
    return can_be_packed(closure.sizes, ties, lower, upper)


def can_be_packed(sizes: np.ndarray, ties: Ties, lower: np.ndarray, upper: np.ndarray) -> bool:
    """Whether groups of these sizes fit; all single rows without ties count as one that divides."""
    k = len(lower)
    is_free = sizes == 1
    is_free[ties.tied()] = False
    whole = np.flatnonzero(~is_free)
    n_whole = len(whole)
    solved = solve_program(
        np.zeros((n_whole + 1, k)),
        np.ones((n_whole + 1, k), dtype=bool),
        ties.restrict(whole, len(sizes)),
        sizes=np.append(sizes[whole], is_free.sum()).astype(float),
        lower=lower,
        upper=upper,
        is_whole=np.append(np.ones(n_whole, dtype=bool), False),
    )
    return solved.labels is not None or not np.isinf(solved.bound)


def clique_of(links: np.ndarray, linked: np.ndarray, n_clusters: int) -> np.ndarray:
    """More groups than clusters, all apart, where growing from single groups finds them."""
    apart = prepare_links(np.searchsorted(linked, links), len(linked), n_clusters)
    return linked[find_clique(apart, n_clusters)]


def answers_among(constraints: Constraints, groups: np.ndarray) -> tuple[int, ...]:
    """Positions of the pairs inside and between must-linked groups."""
    pairs, _ = constraints.signed_pairs()
    among = np.isin(constraints.closure().components[pairs], groups).all(axis=1)
    return tuple(constraints.positions("must_link", "cannot_link")[among].tolist())
