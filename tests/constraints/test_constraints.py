import copy
import importlib.resources
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.model_selection import cross_validate

from likewise.constraints import Answer, Constraints, check_constraints, warn_unused
from tests.constraints.strategies import KINDS, draw_constraints

seeds = st.integers(0, 2**31 - 1)


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        (
            {"must_link": [(0, 1), (0, 7)]},
            "must_link[1] = (0, 7) points outside X, which has 5 rows.",
        ),
        ({"cannot_link": [(-1, 2)]}, "cannot_link[0] = (-1, 2) points outside X"),
        ({"must_link": [(3, 3)]}, "must_link[0] = (3, 3) names a row twice"),
        ({"odd_one_out": [(0, 1, 2), (0, 1, 0)]}, "odd_one_out[1] = (0, 1, 0) names a row twice"),
        ({"closer": [(0, 1)]}, "closer[0] = (0, 1) must be 3 row numbers"),
        ({"must_link": [(0, 1), (0, 1, 2)]}, "must_link[1] = (0, 1, 2) must be 2 row numbers"),
        ({"must_link": [(0, 1.5)]}, "must_link[0] = (0, 1.5) must be 2 row numbers"),
        (
            {"must_link": [("a", "b")]},
            "must_link[0] = ('a', 'b') must be 2 row numbers. Pass ids, if rows have names.",
        ),
        ({"must_link": [(True, False)]}, "must_link[0] = (True, False) must be 2 row numbers"),
        ({"must_link": 3}, "must_link"),
        ({"must_link": [(0, 1)], "weights": [np.nan]}, "must_link[0] has the weight nan"),
        (
            {"must_link": [(0, 1)], "undecided": [(0, 1, 2)], "weights": [1, -2]},
            "undecided[0] has the weight -2.0",
        ),
        ({"must_link": [(0, 1)], "weights": [1, 1]}, "weights has shape (2,), but there are 1"),
        ({"must_link": [(0, 1)], "annotators": []}, "annotators has 0 names"),
        ({"must_link": [(0, 1)], "asked_at": ["noon"]}, "must_link[0] was asked at 'noon'"),
        (
            {"ids": ["a", "b", "a", "c", "d"]},
            "ids[2] = 'a' is already the name of row 0. Rows need names",
        ),
        ({"ids": ["a"]}, "ids has 1 names, but n_samples=5"),
        ({"ids": ["a", "b", "c", "d", ""]}, "ids[4] is empty"),
        ({"ids": ["a", "b", "c", "d", "e\0"]}, "ids[4]"),
    ],
)
def test_a_wrong_answer_is_one_error_that_names_it(given_, message):
    with pytest.raises((ValueError, TypeError)) as error:
        Constraints(5, **given_)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("n_samples", [-1, 2.0, "3", True])
def test_the_number_of_rows_is_a_whole_number(n_samples):
    with pytest.raises(ValueError, match="n_samples="):
        Constraints(n_samples)


def test_rows_must_be_counted_or_named():
    with pytest.raises(ValueError, match="Pass n_samples=len\\(X\\)"):
        Constraints()
    assert Constraints(ids=["x", "y"]).n_samples == 2


def test_answers_come_back_in_order_with_all_that_was_said():
    c = Constraints(
        4,
        must_link=[(0, 1)],
        closer=[(1, 2, 3)],
        weights=[2, 0.5],
        annotators=["ann", ""],
        asked_at=["2026-05-01T10:00:00+02:00", None],
    )
    first, second = c.answers()
    assert first == Answer("must_link", (0, 1), 2.0, "ann", np.datetime64("2026-05-01T08:00:00"))
    assert second == Answer("closer", (1, 2, 3), 0.5, None, None)


def test_nothing_can_be_changed_also_after_pickle_and_copy():
    c = Constraints(3, must_link=[(0, 1)], weights=[2.0], annotators=["a"], ids=["x", "y", "z"])
    for twin in (c, pickle.loads(pickle.dumps(c)), copy.copy(c), copy.deepcopy(c)):
        assert twin == c
        with pytest.raises(AttributeError, match="frozen"):
            twin.n_samples = 4
        with pytest.raises(AttributeError, match="frozen"):
            del twin.ids
        for array in (twin.must_link, twin.weights, twin.annotators, twin.ids):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = array[0]


def test_the_callers_arrays_stay_writable_and_apart():
    pairs, weights = np.array([[0, 1]]), np.array([1.0])
    c = Constraints(3, must_link=pairs, weights=weights)
    pairs[0, 0], weights[0] = 2, 5.0
    assert_array_equal(c.must_link, [[0, 1]])
    assert_array_equal(c.weights, [1.0])


def test_it_is_opaque_and_unhashable():
    c = Constraints(3)
    for name in ("__len__", "shape", "__array__", "__getitem__", "__iter__"):
        assert not hasattr(c, name)
    with pytest.raises(TypeError, match="unhashable"):
        hash(c)


def test_equality_is_by_content_and_order():
    c = Constraints(3, must_link=[(0, 1), (1, 2)])
    assert c == Constraints(3, must_link=[(0, 1), (1, 2)])
    assert c != Constraints(3, must_link=[(1, 2), (0, 1)])
    assert c != Constraints(4, must_link=[(0, 1), (1, 2)])
    assert c != Constraints(3, cannot_link=[(0, 1), (1, 2)])
    assert c != Constraints(3, must_link=[(0, 1), (1, 2)], weights=[1, 2])
    assert c != "something else"


def test_a_sum_keeps_repeats_because_they_are_votes():
    one = Constraints(3, must_link=[(0, 1)], annotators=["ann"])
    two = Constraints(3, must_link=[(0, 1)], cannot_link=[(0, 1)])
    both = one + two
    assert both.n_answers == 3
    assert list(both.kinds) == ["must_link", "must_link", "cannot_link"]
    assert list(both.annotators) == ["ann", "", ""]
    with pytest.raises(ValueError, match=r"with_rows\(\)"):
        one + Constraints(4)
    with pytest.raises(ValueError, match="different ids"):
        Constraints(ids=["a"]) + Constraints(ids=["b"])


def test_restrict_renumbers_and_keeps_only_what_is_inside():
    c = Constraints(5, must_link=[(0, 4), (1, 2)], odd_one_out=[(4, 2, 0)], ids=list("vwxyz"))
    part = c.restrict([4, 0, 2])
    assert_array_equal(part.must_link, [[1, 0]])
    assert_array_equal(part.odd_one_out, [[0, 2, 1]])
    assert list(part.ids) == ["z", "v", "x"]


def test_with_rows_keeps_the_answers_and_never_drops_a_row():
    c = Constraints(3, must_link=[(0, 2)])
    assert_array_equal(c.with_rows(9).must_link, [[0, 2]])
    assert c.with_rows(9).n_samples == 9
    with pytest.raises(ValueError, match="restrict"):
        c.with_rows(2)
    with pytest.raises(ValueError, match="ids for the new rows"):
        Constraints(ids=["a", "b"]).with_rows(3)


def test_a_triple_says_what_it_says_and_no_more():
    c = Constraints(4, odd_one_out=[(0, 1, 2)], closer=[(3, 1, 0)], undecided=[(0, 1, 3)])
    smaller, larger, answers = c.distance_inequalities()
    assert_array_equal(smaller, [[0, 1], [0, 1], [3, 1]])
    assert_array_equal(larger, [[0, 2], [1, 2], [3, 0]])
    assert_array_equal(answers, [0, 0, 1])


@given(seeds)
def test_parts_and_sums_lose_no_answer(seed):
    rng = np.random.RandomState(seed)
    c = draw_constraints(rng)
    mask = rng.rand(c.n_answers) < 0.5
    assert c.subset(mask).n_answers + c.subset(~mask).n_answers == c.n_answers
    rejoined = c.subset(mask) + c.subset(~mask)
    order = np.concatenate([np.flatnonzero(mask), np.flatnonzero(~mask)])
    assert rejoined == c.subset(order)
    assert c.subset(np.arange(c.n_answers)) == c
    assert c.restrict(np.arange(c.n_samples)) == c
    assert sum(len(getattr(c, kind)) for kind in KINDS) == c.n_answers


@given(seeds)
def test_restricting_twice_with_inverse_orders_is_restricting_not_at_all(seed):
    rng = np.random.RandomState(seed)
    c = draw_constraints(rng)
    order = rng.permutation(c.n_samples)
    assert c.restrict(order).restrict(np.argsort(order)) == c


# What estimators ask


class Constrained(TransformerMixin, BaseEstimator):
    def fit(self, X, y=None, *, constraints=None):
        check_constraints(constraints, n_samples=len(X))
        return self

    def score(self, X, y=None):
        return 0.0


@pytest.mark.parametrize("n_samples", [12, 30])
def test_a_fold_of_rows_is_an_error_that_names_answer_search_cv(n_samples):
    X = np.zeros((n_samples, 2))
    c = Constraints(n_samples, must_link=[(0, 1)] * n_samples)  # as many answers as rows
    with pytest.raises(ValueError, match="AnswerSearchCV"):
        cross_validate(Constrained(), X, cv=3, params={"constraints": c}, error_score="raise")


def test_something_else_in_place_of_constraints_is_an_error_that_says_how():
    with pytest.raises(TypeError, match=r"Constraints\(n_samples=len\(X\), must_link=pairs\)"):
        check_constraints([(0, 1)], n_samples=3)


def test_answers_a_method_cannot_use_are_counted_in_a_warning():
    c = Constraints(4, must_link=[(0, 1)], closer=[(0, 1, 2), (0, 1, 3)], undecided=[(1, 2, 3)])
    with pytest.warns(UserWarning, match="cannot use 2 closer and 1 undecided answers"):
        assert warn_unused(Constrained(), c, used=("must_link", "cannot_link")) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert warn_unused(Constrained(), c, used=KINDS) == 4


@pytest.mark.parametrize(
    "X",
    [np.zeros((500, 9)), pd.DataFrame(np.zeros((500, 9))), np.zeros((500, 9)).tolist()],
    ids=["array", "frame", "list"],
)
def test_rows_in_the_place_of_their_number_are_named_and_not_printed(X):
    with pytest.raises(TypeError, match=r"must be the number of rows of X. Try") as error:
        Constraints(X, must_link=[(0, 1)])
    assert type(X).__name__ in str(error.value)
    assert len(str(error.value)) < 150


# ---- exact, or refused


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([-1, 0, 1], r"rows\[0\] = -1 is not among the 6 rows, numbered from 0"),
        ([0, 6], r"rows\[1\] = 6 is not among"),
        ([0.0, 1.0], "rows has type float64"),
        ([0.7, 1.2], "rows has type float64"),
        ([True, False, True], r"rows is a mask of shape \(3,\), but there are 6 rows"),
        ([3, 1, 3], r"rows\[0\] = 3 is also rows\[2\].*Name each row once"),
        ([[0, 1]], r"shape \(1, 2\)"),
        ([0, 10**30], "rows has type object"),
        (np.array([2**64 - 1], dtype=np.uint64), r"rows\[0\] = 18446744073709551615 is not among"),
        (["0", "1"], "rows has type <U1"),
        (3, r"shape \(\)"),
    ],
)
def test_rows_that_restrict_cannot_mean_exactly_are_refused(rows, message):
    c = Constraints(6, must_link=[(0, 1), (1, 5)], closer=[(0, 1, 3)])
    with pytest.raises(ValueError, match=message):
        c.restrict(rows)


def test_restrict_takes_a_mask_whole_numbers_of_any_size_and_nothing():
    c = Constraints(4, must_link=[(0, 3)], ids=list("abcd"))
    expected = Constraints(2, must_link=[(0, 1)], ids=["a", "d"])
    assert c.restrict([True, False, False, True]) == expected
    assert c.restrict(np.array([0, 3], dtype=np.uint8)) == expected
    assert c.restrict([]).n_samples == 0


@pytest.mark.parametrize("picked", [[-1], [2], [0.0], [True], ["0"], [[0]], [10**30], 0])
def test_positions_that_subset_cannot_mean_exactly_are_refused(picked):
    c = Constraints(3, must_link=[(0, 1), (1, 2)])
    with pytest.raises(ValueError, match="mask"):
        c.subset(picked)


def test_a_subset_may_repeat_answers_because_they_are_votes():
    c = Constraints(3, must_link=[(0, 1), (1, 2)])
    assert c.subset([1, 1, 0]) == Constraints(3, must_link=[(1, 2), (1, 2), (0, 1)])
    assert c.subset([]).n_answers == 0


@pytest.mark.parametrize(
    "pairs",
    [
        [(0, 1.5)],
        [(0, 1.0)],
        [(0, True)],
        [(0, 10**30)],
        [("0", "1")],
        np.array([[0, 2**64 - 1]], dtype=np.uint64),
    ],
)
def test_row_numbers_that_are_not_exact_are_refused(pairs):
    with pytest.raises(ValueError, match="must_link"):
        Constraints(6, must_link=pairs)


@pytest.mark.parametrize(
    "weight",
    [
        "1",
        "1_0",
        None,
        np.nan,
        np.inf,
        -1,
        1j,
        [1],
        1e-31,
        1e31,
        pytest.param(10**400, id="googol"),
    ],
)
def test_weights_that_cannot_be_computed_with_are_refused(weight):
    with pytest.raises(ValueError, match="weight"):
        Constraints(6, must_link=[(0, 1)], weights=[weight])


@pytest.mark.parametrize("unit", ["Y", "M", "W", "D", "h", "s", "ms", "us", "7D"])
@pytest.mark.parametrize("count", [-(2**62), 2**62])
def test_a_time_outside_the_calendar_is_refused_and_never_wraps(unit, count):
    times = np.array([count]).astype(f"M8[{unit}]")
    for given_ in (times, list(times)):
        with pytest.raises(ValueError, match=r"must_link\[0\] was asked at .* outside the years"):
            Constraints(2, must_link=[(0, 1)], asked_at=given_)


@pytest.mark.parametrize("unit", ["D", "s", "ms", "us", "ns"])
def test_a_time_inside_the_calendar_is_kept_exactly(unit):
    times = np.array(["2026-01-31", "NaT"], f"M8[{unit}]")
    c = Constraints(3, must_link=[(0, 1), (1, 2)], asked_at=times)
    assert c.asked_at[0] == np.datetime64("2026-01-31", "us")
    assert np.isnat(c.asked_at[1])


def test_names_that_are_bytes_are_the_text_they_hold():
    c = Constraints(ids=[b"a", "b\u00e9".encode()], must_link=[(0, 1)], annotators=[b"ann"])
    assert c == Constraints(ids=["a", "b\u00e9"], must_link=[(0, 1)], annotators=["ann"])
    with pytest.raises(ValueError, match="not UTF-8"):
        Constraints(ids=[b"\xff", b"b"])


def test_a_name_without_end_is_refused():
    with pytest.raises(ValueError, match=r"ids\[1\] has 10001 characters"):
        Constraints(ids=["a", "b" * 10_001])


def test_an_unknown_kind_of_frame_is_named():
    with pytest.raises(
        ValueError, match=r"backend='bogus' is unknown\. Use one of pandas, polars, pyarrow"
    ):
        Constraints(2).to_frame("bogus")


def test_the_package_says_that_it_has_types():
    assert (importlib.resources.files("likewise") / "py.typed").is_file()
