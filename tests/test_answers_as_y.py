"""Answers given by place land in y, where they would be ignored: every estimator refuses them."""

import importlib

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from likewise import ITML, Constraints, GuidedClustering, model_file, scale
from likewise.constraints import check_constraints

X = np.random.RandomState(0).normal(size=(12, 3))
ANSWERS = Constraints(len(X), must_link=[(0, 1)], cannot_link=[(0, 2)])
OURS = sorted(name for name in model_file.ESTIMATORS if not name.startswith("sklearn."))
GIVEN = {
    "Constraints": ANSWERS,
    "dict": {"must_link": [(0, 1)]},
    "pandas": ANSWERS.to_frame(),
    "polars": ANSWERS.to_frame("polars"),
    "labels": pd.DataFrame({"row": [0, 1], "label": ["a", "b"]}),
}


def find(name):
    module, _, attribute = model_file.ESTIMATORS[name].rpartition(".")
    return getattr(importlib.import_module(module), attribute)


def make(name):
    arguments = {"AnswerSearchCV": (KMeans(2), {}), "DeepConstrainedClustering": (2,)}
    return find(name)(*arguments.get(name, ()))


def methods():
    for name in OURS:
        cls = find(name)
        for method in ("fit", "fit_predict", "fit_transform"):
            if hasattr(cls, method):
                yield name, method


@pytest.mark.parametrize(("name", "method"), list(methods()))
@pytest.mark.parametrize("given", GIVEN)
def test_answers_in_the_place_of_y_are_refused(name, method, given):
    model = make(name)
    if method == "fit_transform" and name == "AnswerSearchCV":
        model.set_params(estimator=PCA(1))
    with pytest.raises(TypeError, match=r"y, which is ignored, but it is .*constraints="):
        getattr(model, method)(X, GIVEN[given])


def test_every_estimator_is_tried():
    tried = {name for name, _ in methods()}
    assert tried == set(OURS)
    assert {"GuidedClustering", "DeepConstrainedClustering", "SKLR", "BlockKMeans"} <= tried


def test_they_are_refused_through_a_pipeline_and_over_blocks():
    for pipeline in (make_pipeline(StandardScaler(), ITML()), make_pipeline(GuidedClustering(2))):
        with pytest.raises(TypeError, match="constraints="):
            pipeline.fit(X, ANSWERS)
    with pytest.raises(TypeError, match="constraints="):
        make_pipeline(GuidedClustering(2)).fit_predict(X, ANSWERS)
    with pytest.raises(TypeError, match="constraints="):
        scale.fit(ITML(), X, ANSWERS)


def test_the_error_says_how_to_give_what_was_given():
    for given, way_out in (
        (ANSWERS, r"constraints=answers\)"),
        (ANSWERS.to_frame(), r"constraints=Constraints.from_frame\(answers, n_samples=len\(X\)\)"),
        ({"closer": []}, r"constraints=Constraints\(n_samples=len\(X\), \*\*answers\)"),
    ):
        with pytest.raises(TypeError, match=way_out):
            ITML().fit(X, given)


def test_constraints_of_the_wrong_type_name_what_to_make():
    with pytest.raises(TypeError, match=r"not list. Try Constraints\(n_samples=len\(X\), must"):
        check_constraints([(0, 1)], n_samples=12)


@pytest.mark.parametrize(
    "y", [np.zeros(12), [0, 1] * 6, pd.Series(list("ab") * 6), pl.Series([0, 1] * 6), None]
)
def test_labels_in_the_place_of_y_are_ignored_as_ever(y):
    labels = GuidedClustering(2, random_state=0).fit_predict(X, y, constraints=ANSWERS)
    fitted = GuidedClustering(2, random_state=0).fit(X, constraints=ANSWERS)
    np.testing.assert_array_equal(labels, fitted.labels_)


def test_a_frame_of_labels_is_no_frame_of_answers():
    labels = pd.DataFrame({"a": range(12), "kind": 0})
    assert ITML().fit(X, labels, constraints=ANSWERS).n_answers_used_ == 2
