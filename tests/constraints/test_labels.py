import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from experiments.drawn_answers import draw_bagged_sets, draw_components, draw_sklr_answers
from likewise import Constraints
from likewise.constraints.labels import class_codes
from likewise.datasets import load_wine

CODES = [0, -1, 1, 0, -1, 2, 1]  # what every way of writing the labels below means
TEXT = ["a", None, "b", "a", None, "c", "b"]
NUMBERS = [3, None, 5, 3, None, 8, 5]
GAPS = [-1, -1.0, float("nan"), np.nan, None, pd.NA, pd.NaT, np.datetime64("NaT"), ""]


def filled(labels, gap):
    return [gap if label is None else label for label in labels]


WAYS = {
    **{f"list of text, {gap!r}": filled(TEXT, gap) for gap in GAPS},
    **{f"list of numbers, {gap!r}": filled(NUMBERS, gap) for gap in GAPS},
    "ints": np.array(filled(NUMBERS, -1)),
    "floats with -1": np.array(filled(NUMBERS, -1.0)),
    "floats with nan": np.array(filled(NUMBERS, np.nan)),
    "objects": np.array(filled(TEXT, pd.NA), dtype=object),
    "text": np.array(filled(TEXT, "")),
    "dates": np.array(["2020", "NaT", "2021", "2020", "NaT", "2022", "2021"], dtype="M8[D]"),
    "pandas objects": pd.Series(TEXT),
    "pandas floats": pd.Series(NUMBERS),
    "pandas Int64": pd.Series(NUMBERS, dtype="Int64"),
    "pandas string": pd.Series(TEXT, dtype="string"),
    "pandas categories": pd.Series(TEXT, dtype="category"),
    "pandas categories of numbers": pd.Series(NUMBERS, dtype="category"),
    "pandas Categorical": pd.Categorical(TEXT),
    "pandas dates": pd.to_datetime(pd.Series(["2020", None, "2021", "2020", None, "2022", "2021"])),
    "pandas with -1": pd.Series(filled(NUMBERS, -1), index=list("gfedcba")),
    "polars text": pl.Series(TEXT),
    "polars numbers": pl.Series(NUMBERS),
    "polars categories": pl.Series(TEXT, dtype=pl.Categorical),
    "polars nan": pl.Series(filled(NUMBERS, float("nan")), strict=False),
}


@pytest.mark.parametrize("way", WAYS)
def test_unlabelled_means_the_same_however_it_is_written(way):
    assert_array_equal(class_codes(WAYS[way]), CODES)
    assert Constraints.from_partial_labels(WAYS[way]) == Constraints.from_partial_labels(CODES)


@pytest.mark.parametrize("way", WAYS)
def test_a_row_without_a_class_is_refused_where_every_row_needs_one(way):
    y = WAYS[way]
    for draw in (
        lambda: Constraints.from_labels(y, n_pairs=2),
        lambda: draw_sklr_answers(y, n_labelled=1),
        lambda: draw_components(y),
        lambda: list(draw_bagged_sets(y, n_sets=1, max_pairs=1)),
    ):
        with pytest.raises(ValueError, match=r"y\[1\] = .+ means unlabeled.*from_partial_labels"):
            draw()


def test_a_third_of_wine_labelled_gives_no_more_links_with_nan_than_with_minus_one():
    y = load_wine().y.astype(float)
    labelled = np.arange(len(y)) % 3 == 0
    with_nan = Constraints.from_partial_labels(np.where(labelled, y, np.nan))
    assert with_nan == Constraints.from_partial_labels(np.where(labelled, y, -1))
    assert len(with_nan.must_link) == labelled.sum() - 3
    assert len(with_nan.cannot_link) == 3


@given(st.lists(st.integers(0, 4), min_size=2, max_size=30))
def test_the_same_classes_by_other_names_give_the_same_answers(codes):
    n_pairs = len(codes) * (len(codes) - 1) // 2
    drawn = [
        Constraints.from_labels(y, n_pairs=n_pairs, random_state=0)
        for y in (codes, [f"class {code}" for code in codes], pd.Series(codes, dtype="category"))
    ]
    assert drawn[0] == drawn[1] == drawn[2]


def test_labels_of_several_types_are_classes_too():
    assert_array_equal(class_codes([1, "1", None, 1.0, "1"]), [0, 1, -1, 0, 1])
    assert_array_equal(class_codes([True, False, True]), [1, 0, 1])
    assert_array_equal(class_codes(np.array([255, 0], dtype=np.uint8)), [1, 0])


def test_long_numbers_stay_apart_beside_gaps():
    long = 2**60
    for y in ([long, long + 1, None], [long, long + 1, np.nan], pl.Series([long, long + 1, None])):
        assert_array_equal(class_codes(y), [0, 1, -1])


@pytest.mark.parametrize("y", [[[0], [1]], np.zeros((2, 2)), pd.DataFrame({"y": [0, 1]}), 3, None])
def test_labels_are_one_per_row(y):
    with pytest.raises(ValueError, match="one class per row"):
        Constraints.from_partial_labels(y)


def test_no_labels_give_no_links():
    assert Constraints.from_partial_labels([]) == Constraints(0)
    assert Constraints.from_partial_labels([None, np.nan]) == Constraints(2)


def test_drawing_without_a_count_is_refused_and_a_count_of_none_is_not():
    with pytest.raises(ValueError, match=r"number of answers to draw. Try n_pairs=100"):
        Constraints.from_labels([0, 1])
    assert Constraints.from_labels([0, 1], n_pairs=0) == Constraints(2)
