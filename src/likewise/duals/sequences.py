"""Damerau-Levenshtein: how many edits turn one sequence into another.

    d(a, b) = least number of insertions, deletions, changes of a symbol and exchanges of two
              neighbors, edits between the two exchanged included

By the recurrence over prefixes, for many pairs of sequences at once: position by position, the
table of every pair in a block is filled together.
Reference: damerau1964, in the unrestricted form of lowrance1975.
"""

from collections.abc import Hashable, Sequence

import numpy as np

PAIRS_AT_ONCE = 4096  # tables filled together: some 10 MB for sequences of 40 symbols


def edit_distances(sequences: Sequence[Sequence[Hashable]]) -> np.ndarray:
    """Damerau-Levenshtein distances between all sequences, (n, n).

    Parameters
    ----------
    sequences : sequence of n strings or lists of symbols

    Examples
    --------
    >>> from likewise.duals.sequences import edit_distances
    >>> edit_distances(["ca", "abc"])  # ca, ac, abc
    array([[0., 2.], [2., 0.]])
    """
    codes, lengths = encode(sequences)
    n = len(codes)
    D = np.zeros((n, n))
    first, second = np.triu_indices(n, 1)
    for start in range(0, len(first), PAIRS_AT_ONCE):
        i, j = first[start : start + PAIRS_AT_ONCE], second[start : start + PAIRS_AT_ONCE]
        D[i, j] = edits(codes[i], lengths[i], codes[j], lengths[j])
    return D + D.T


def encode(sequences) -> tuple[np.ndarray, np.ndarray]:
    """Symbols as numbers from 1, 0 beyond the end, (n, longest), and lengths (n,)."""
    lengths = np.array([len(sequence) for sequence in sequences], dtype=np.int64)
    numbers: dict[Hashable, int] = {}
    codes = np.zeros((len(sequences), lengths.max(initial=0)), dtype=np.int64)
    for i, sequence in enumerate(sequences):
        codes[i, : lengths[i]] = [numbers.setdefault(s, len(numbers) + 1) for s in sequence]
    return codes, lengths


def edits(a: np.ndarray, a_lengths, b: np.ndarray, b_lengths) -> np.ndarray:
    """Distances of paired sequences (m, la) and (m, lb), (m,).

    table[i + 1, j + 1] is the distance of the first i symbols to the first j; row and column 0 are
    a wall. An exchange reaches back to the last row `met` where a's symbol was b's, and the last
    column where b's symbol was a's.
    """
    m, la, lb = len(a), a.shape[1], b.shape[1]
    pairs = np.arange(m)
    wall = la + lb + 1
    table = np.full((la + 2, lb + 2, m), wall, dtype=np.int32)
    table[1:, 1] = np.arange(la + 1)[:, None]
    table[1, 1:] = np.arange(lb + 1)[:, None]
    met = np.zeros((int(max(a.max(initial=0), b.max(initial=0))) + 1, m), dtype=np.int64)
    for i in range(1, la + 1):
        last = np.zeros(m, dtype=np.int64)
        for j in range(1, lb + 1):
            same = a[:, i - 1] == b[:, j - 1]
            back, across = met[b[:, j - 1], pairs], last
            exchange = table[back, across, pairs] + (i - back - 1) + 1 + (j - across - 1)
            change = table[i, j] + ~same
            shift = np.minimum(table[i + 1, j], table[i, j + 1]) + 1
            table[i + 1, j + 1] = np.minimum(np.minimum(change, shift), exchange)
            last = np.where(same, j, last)
        met[a[:, i - 1], pairs] = i
    return table[a_lengths + 1, b_lengths + 1, pairs].astype(np.float64)
