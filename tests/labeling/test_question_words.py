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


def test_names_that_are_all_different_come_last():
    names = np.array([f"c{i}" for i in range(40)], dtype=object)
    texts = np.array([f"{i} " + "long words " * 9 for i in range(40)], dtype=object)
    columns = {"name": names, "color": np.array(["red", "blue"] * 20), "text": texts}
    assert by_difference(columns, [0, 1]) == ["color", "text", "name"]
    few = {"name": names[:10], "color": np.array(["red", "blue"] * 5)}
    assert by_difference(few, [0, 1]) == ["name", "color"]
