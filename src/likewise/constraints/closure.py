"""Must-links are transitive and cannot-links pass along them: what the pairs imply.

    same:   the connected components of the must-links
    apart:  two components with a cannot-link between any of their members

    apart as well: the components of the rows of one exclusive group (exclusive_groups.py)

Kept as components and cannot-links between components, because a component of s rows stands for
s (s - 1) / 2 pairs: a chain of a million must-links would be half a trillion of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from likewise.constraints.exclusive_groups import component_sets


@dataclass(frozen=True, eq=False)
class Closure:
    """What a set of pairs implies.

    Attributes
    ----------
    components : ndarray of shape (n_samples,)
        The component of each row; rows with the same number belong together. Components are
        numbered by their first row.
    n_components : int
    cannot_link : ndarray of shape (n_apart, 2)
        Pairs of components kept apart, each once, smaller number first, sorted. A cannot-link
        inside one component contradicts the must-links: it is left out here and found by
        ``Constraints.conflicts()``.
    exclusive : tuple of ndarray
        Sets of components, ascending, no two of a set in one cluster: one per exclusive group.
    """

    components: np.ndarray
    n_components: int
    cannot_link: np.ndarray
    exclusive: tuple[np.ndarray, ...] = ()

    @cached_property
    def sizes(self) -> np.ndarray:
        """Rows in each component."""
        return np.bincount(self.components, minlength=self.n_components)

    @cached_property
    def _apart_codes(self) -> np.ndarray:
        return pair_codes(self.cannot_link, self.n_components)

    def known(self, pairs) -> np.ndarray:
        """+1 where the rows of a pair must be together, -1 where apart, 0 where nothing is known.

        Where the pairs contradict each other, together wins.
        """
        ends = self.components[np.asarray(pairs, dtype=np.int64).reshape(-1, 2)]
        codes = pair_codes(ends, self.n_components)
        apart = np.isin(codes, self._apart_codes) | self._share_group(ends)
        return np.where(ends[:, 0] == ends[:, 1], 1, -apart.astype(np.int8)).astype(np.int8)

    def _share_group(self, ends: np.ndarray) -> np.ndarray:
        """Which pairs of components (m, 2) are in one exclusive group."""
        if not self.exclusive:
            return np.zeros(len(ends), dtype=bool)
        members = np.concatenate(self.exclusive)
        groups = np.repeat(np.arange(len(self.exclusive)), [len(s) for s in self.exclusive])
        shape = (self.n_components, len(self.exclusive))
        table = coo_array((np.ones(len(members)), (members, groups)), shape=shape).tocsr()
        shared = table[ends[:, 0]].multiply(table[ends[:, 1]])
        return np.asarray(shared.sum(axis=1)).ravel() > 0

    def apart_pairs(self) -> np.ndarray:
        """Pairs of components kept apart, each once, exclusive groups written out, (n_apart, 2).

        Quadratic in the size of a group.
        """
        if not self.exclusive:
            return self.cannot_link
        sets = [s[np.stack(np.triu_indices(len(s), 1), axis=1)] for s in self.exclusive]
        return np.unique(np.concatenate([self.cannot_link, *sets]), axis=0)

    def must_link_pairs(self) -> np.ndarray:
        """Every implied must-link, (n_pairs, 2): quadratic in the size of a component."""
        members = self._members()
        blocks = [
            rows[np.stack(np.triu_indices(len(rows), 1), axis=1)]
            for rows in members
            if len(rows) > 1
        ]
        return np.concatenate(blocks) if blocks else np.empty((0, 2), dtype=np.int64)

    def cannot_link_pairs(self) -> np.ndarray:
        """Every implied cannot-link, (n_pairs, 2): the product of two components' sizes each."""
        members = self._members()
        blocks = [
            np.stack(np.meshgrid(members[a], members[b], indexing="ij"), axis=-1).reshape(-1, 2)
            for a, b in self.apart_pairs()
        ]
        return np.concatenate(blocks) if blocks else np.empty((0, 2), dtype=np.int64)

    def _members(self) -> list[np.ndarray]:
        by_component = np.argsort(self.components, kind="stable")
        return np.split(by_component, np.cumsum(self.sizes)[:-1])


def close(
    must_link: np.ndarray,
    cannot_link: np.ndarray,
    n_samples: int,
    exclusive: Sequence[np.ndarray] = (),
) -> Closure:
    """Components of the must-links, and cannot-links between them: linear time, no recursion."""
    n_components, components = connected_components(link_graph(must_link, n_samples), False)
    components = components.astype(np.int64)
    ends = components[cannot_link]  # (m, 2)
    ends = np.sort(ends[ends[:, 0] != ends[:, 1]], axis=1)
    codes = np.unique(pair_codes(ends, n_components))
    apart = np.stack([codes // n_components, codes % n_components], axis=1)
    for array in (components, apart):
        array.flags.writeable = False
    sets = component_sets(exclusive, components) if exclusive else ()
    return Closure(components, int(n_components), apart, sets)


def link_graph(pairs: np.ndarray, n_samples: int) -> coo_array:
    """Pairs as the edges of a sparse graph over the rows."""
    ones = np.ones(len(pairs), dtype=np.int8)
    return coo_array((ones, (pairs[:, 0], pairs[:, 1])), shape=(n_samples, n_samples))


def pair_codes(pairs: np.ndarray, n: int) -> np.ndarray:
    """One number for each unordered pair of numbers below n."""
    return pairs.min(axis=1) * n + pairs.max(axis=1)
