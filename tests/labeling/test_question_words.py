"""What differs is shown first."""

import numpy as np

from likewise.labeling import by_difference, column_spreads


def test_columns_that_differ_come_first():
    columns = {
        "same": np.array([1.0, 1.0, 5.0]),
        "a little": np.array([0.0, 1.0, 9.0]),
        "a lot": np.array([0.0, 9.0, 1.0]),
        "words": np.array(["x", "x", "y"], dtype=object),
    }
    assert by_difference(columns, [0, 1])[:2] == ["a lot", "a little"]


def test_spreads_given_are_those_computed_and_a_column_of_gaps_comes_last():
    columns = {"gaps": np.array([np.nan, np.nan, 1.0]), "x": np.array([0.0, 1.0, 5.0])}
    assert by_difference(columns, [0, 1], column_spreads(columns)) == ["x", "gaps"]
    assert by_difference(columns, [0, 1]) == ["x", "gaps"]
