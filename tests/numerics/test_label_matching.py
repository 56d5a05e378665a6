from itertools import permutations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from likewise.numerics.label_matching import match_labels

labels = st.lists(st.integers(-1, 3), min_size=6, max_size=6).map(np.array)


def test_a_cluster_that_is_left_over_gets_the_next_free_name():
    named = match_labels(np.array([2, 2, 0, 0, 1]), np.array([0, 0, 1, 1, 1]))
    assert_array_equal(named, [0, 0, 1, 1, 2])


def test_new_rows_and_rows_of_no_cluster_are_no_problem():
    named = match_labels(np.array([1, 1, 0, -1, 0, 2]), np.array([5, 5, -1, 3]))
    assert_array_equal(named[[0, 1, 3]], [5, 5, -1])
    assert named[2] == named[4] != named[5]
    assert_array_equal(match_labels(np.array([-1, -1]), np.array([-1])), [-1, -1])


@given(labels, labels)
@settings(max_examples=50)
def test_no_other_names_agree_on_more_rows_and_clusters_stay_as_they_are(new, old):
    named = match_labels(new, old)
    assert_array_equal(named == -1, new == -1)
    assert_array_equal(named[:, None] == named, new[:, None] == new)
    agreed = np.count_nonzero((named == old) & (old != -1))
    for names in permutations(range(4)):
        other = np.where(new == -1, -1, np.array([*names, -1])[new])
        assert np.count_nonzero((other == old) & (old != -1)) <= agreed
