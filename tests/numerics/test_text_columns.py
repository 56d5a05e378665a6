"""A column without numbers is named, by every estimator."""

import importlib

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.cluster import KMeans

from likewise import (
    Constraints,
    PCKMeans,
    choose_n_clusters,
    constraint_prices,
    metric_fitness,
    model_file,
    move_points,
    next_questions,
    optimality_gap,
    select_constraints,
)
from likewise.numerics.rows import describe_text_column

COLUMNS = {"width": [1.0, 2.0, 3.0, 4.0] * 3, "color": ["red", "7", "blue", "red"] * 3}
# A search passes rows on as they are; the estimator in it may be anybody's.
# Features are there to take such columns, and GuidedClustering makes them.
OURS = sorted(
    name
    for name, dotted in model_file.ESTIMATORS.items()
    if name not in ("AnswerSearchCV", "GuidedClustering") and ".features." not in dotted
)


def make(name):
    module, _, attribute = model_file.ESTIMATORS[name].rpartition(".")
    cls = getattr(importlib.import_module(module), attribute)
    return cls(2) if name == "DeepConstrainedClustering" else cls()


@pytest.mark.parametrize("name", [name for name in OURS if not name.startswith("sklearn.")])
def test_every_estimator_names_the_column_that_holds_no_numbers(name):
    with pytest.raises(ValueError, match="Column 'color' of X holds 'red' in row 0, which is not"):
        make(name).fit(pd.DataFrame(COLUMNS))


@pytest.mark.parametrize(
    ("X", "where"),
    [
        (pd.DataFrame(COLUMNS).astype({"color": "category"}), "'color' of X holds 'red' in row 0"),
        (pd.DataFrame(COLUMNS).astype({"color": "string"}), "'color' of X holds 'red' in row 0"),
        (pl.DataFrame(COLUMNS), "'color' of X holds 'red' in row 0"),
        (pd.DataFrame({"day": pd.to_datetime(["2020-01-01"] * 9), "n": 1}), "'day' of X holds "),
        ([[1.0, 2.0], [1.0, "tall"], [2.0, 3.0]], "1 of X holds 'tall' in row 1"),
        (np.array([["a", 1], ["b", 2]], dtype=object), "0 of X holds 'a' in row 0"),
    ],
    ids=["category", "string", "polars", "dates", "list", "array"],
)
def test_the_cell_is_named_whatever_holds_it(X, where):
    with pytest.raises(ValueError, match=f"Column {where}.*Leave the column out"):
        PCKMeans(2).fit(X)


ANSWERS = Constraints(12, must_link=[(0, 1)], cannot_link=[(0, 2)])
FUNCTIONS = {
    "choose_n_clusters": choose_n_clusters,
    "constraint_prices": lambda X: constraint_prices(X, ANSWERS, 2),
    "metric_fitness": lambda X: metric_fitness(X, ANSWERS, 2, ["euclidean"]),
    "move_points": lambda X: move_points(X, ANSWERS, 2),
    "next_questions": lambda X: next_questions(X, ANSWERS),
    "optimality_gap": lambda X: optimality_gap(X, np.array([0, 0, 1] * 4), ANSWERS),
    "select_constraints": lambda X: select_constraints(X, ANSWERS, 2),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_so_does_every_function_that_takes_rows(name):
    with pytest.raises(ValueError, match="Column 'color' of X holds 'red' in row 0, which is not"):
        FUNCTIONS[name](pd.DataFrame(COLUMNS))


def test_a_model_in_the_place_of_rows_is_named():
    with pytest.raises(TypeError, match="X is PCKMeans, an estimator"):
        next_questions(PCKMeans(2), ANSWERS)


def test_new_rows_get_the_same_error():
    X = pd.DataFrame({"width": [1.0, 2.0, 3.0, 9.0], "height": [1.0, 2.0, 3.0, 9.0]})
    model = PCKMeans(2, random_state=0).fit(X)
    with pytest.raises(ValueError, match="Column 'height' of X holds 'tall' in row 0"):
        model.predict(pd.DataFrame({"width": [1.0], "height": ["tall"]}))
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(pd.DataFrame({"width": [1.0], "color": ["red"]}))


@pytest.mark.parametrize("X", [[[1.0, np.nan]] * 3, [[np.inf, 0.0]] * 3, [1.0, 2.0], [[1.0]]])
def test_other_problems_keep_the_words_of_scikit_learn(X):
    with pytest.raises(ValueError, match=r"X|array") as ours:
        PCKMeans(2).fit(X)
    if np.ndim(X) == 1 or len(X) > 1:
        with pytest.raises(ValueError, match=r"X|array") as theirs:
            KMeans(2).fit(X)
        assert (
            str(ours.value).split("\n")[0].replace("PCKMeans", "KMeans")
            == str(theirs.value).split("\n")[0]
        )


def test_numbers_have_no_text_column():
    assert describe_text_column(np.ones((3, 2))) is None
    assert describe_text_column(pd.DataFrame({"a": [True, False], "b": ["1", "2.5"]})) is None
