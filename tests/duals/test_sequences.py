"""Edit distances against the plain recurrence, and the laws of a distance."""

from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from likewise.duals.sequences import edit_distances

words = st.lists(st.text("abc", max_size=6), min_size=3, max_size=5)


def by_search(a, b):
    """Fewest edits by breadth-first search over words; exchanges may have edits between."""
    seen, layer, steps = {a}, {a}, 0
    while b not in layer:
        steps += 1
        layer = {new for word in layer for new in neighbors(word, max(len(a), len(b)) + 1)} - seen
        seen |= layer
    return steps


@lru_cache
def neighbors(word, longest):
    found = set()
    for i in range(len(word) + 1):
        found |= {word[:i] + letter + word[i:] for letter in "abc"}
        found |= {word[:i] + letter + word[i + 1 :] for letter in "abc" if i < len(word)}
        found.add(word[:i] + word[i + 1 :])
        found.add(word[:i] + word[i + 1 : i + 2] + word[i : i + 1] + word[i + 2 :])
    return {new for new in found if len(new) <= longest}


@pytest.mark.parametrize(
    ("a", "b", "edits"),
    [
        ("", "", 0),
        ("", "abc", 3),
        ("abc", "abc", 0),
        ("abc", "acb", 1),
        ("ca", "abc", 2),  # exchange, then insert between: 3 where each symbol is edited once
        ("kitten", "sitting", 3),
    ],
)
def test_known_words(a, b, edits):
    assert_array_equal(edit_distances([a, b]), [[0, edits], [edits, 0]])


@given(st.text("abc", max_size=4), st.text("abc", max_size=4))
@settings(max_examples=30)
def test_no_shorter_way_exists_and_none_longer_is_taken(a, b):
    assert edit_distances([a, b])[0, 1] == by_search(a, b)


@given(words)
@settings(max_examples=30)
def test_it_is_a_distance(sequences):
    D = edit_distances(sequences)
    assert_array_equal(D, D.T)
    assert (np.diag(D) == 0).all()
    assert (D[:, :, None] <= D[:, None, :] + D.T[None, :, :] + 1e-12).all()


def test_symbols_may_be_anything_and_only_their_equality_counts():
    calls = [("open", "read", "close"), ("open", "close", "read"), ("open",)]
    letters = ["orc", "ocr", "o"]
    assert_allclose(edit_distances(calls), edit_distances(letters))
