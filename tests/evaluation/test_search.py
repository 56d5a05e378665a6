"""Search over answers: by hand, against a plain loop, no leaks, and scikit-learn's contract."""

import numpy as np
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.base import BaseEstimator, ClusterMixin, OneToOneFeatureMixin, TransformerMixin, clone
from sklearn.cluster import DBSCAN, KMeans
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_is_fitted, validate_data

from likewise.constraints import Constraints
from likewise.evaluation import AnswerSearchCV
from likewise.metric_learning import RCA


class ColumnWeights(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Multiply the columns; remembers which answers it was fitted with."""

    def __init__(self, noise_weight=1.0):
        self.noise_weight = noise_weight

    def fit(self, X, y=None, *, constraints=None):
        X = validate_data(self, X, dtype=[np.float64, np.float32])
        self.weights_ = np.array([1.0] + [self.noise_weight] * (X.shape[1] - 1))
        self.seen_ = constraints
        return self

    def transform(self, X):
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=[np.float64, np.float32])
        return X * self.weights_.astype(X.dtype)


class Halves(ClusterMixin, BaseEstimator):
    """Two clusters, told apart by the sign of one column; remembers its answers."""

    def __init__(self, column=0):
        self.column = column

    def fit(self, X, y=None, *, constraints=None):
        X = validate_data(self, X)
        self.labels_ = (X[:, self.column] > 0).astype(int)
        self.seen_ = constraints
        return self


def one_telling_column(seed, n=40, n_columns=3):
    """Rows whose first column tells the classes; the others are noise."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, n_columns))
    X[:, 0] = 2 * y - 1
    return X, y


def answers_of(y, seed=0, n=60):
    return Constraints.from_labels(y, n_odd_one_out=n, n_pairs=n, random_state=seed)


@parametrize_with_checks(
    [
        AnswerSearchCV(ColumnWeights(), {"noise_weight": [0.5, 1.0]}),
        AnswerSearchCV(KMeans(n_clusters=3, n_init=1, random_state=0), {"n_clusters": [2, 3]}),
    ]
)
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


def test_the_telling_column_is_found(seed):
    X, y = one_telling_column(seed)
    answers = answers_of(y, seed)
    search = AnswerSearchCV(ColumnWeights(), {"noise_weight": [10.0, 1.0, 0.0]}, random_state=seed)
    Z = search.fit_transform(X, constraints=answers)
    assert search.tuned_
    assert search.best_params_ == {"noise_weight": 0.0}
    assert search.best_score_ == 1.0
    assert search.best_estimator_.seen_ == answers  # refitted on all of them
    assert_array_equal(Z, X * [1, 0, 0])
    assert list(search.get_feature_names_out()) == ["x0", "x1", "x2"]
    assert search.n_features_in_ == 3
    results = search.cv_results_
    assert results["rank_test_score"][search.best_index_] == 1
    assert results["mean_test_score"][search.best_index_] == search.best_score_
    assert [p["noise_weight"] for p in results["params"]] == list(results["param_noise_weight"])
    by_fold = [results[f"split{fold}_test_score"] for fold in range(5)]
    assert (results["mean_test_score"] <= np.max(by_fold, axis=0)).all()
    assert (results["std_test_score"] <= np.ptp(by_fold, axis=0)).all()
    assert results["std_test_score"][0] > 0


def test_spread_over_folds_of_one_size_is_their_standard_deviation(seed):
    X, y = one_telling_column(seed)
    answers = Constraints.from_labels(y, n_closer=40, random_state=seed)
    search = AnswerSearchCV(ColumnWeights(), {"noise_weight": [1.0, 2.0]}, random_state=seed)
    results = search.fit(X, constraints=answers).cv_results_
    by_fold = [results[f"split{fold}_test_score"] for fold in range(5)]
    assert search.n_held_out_ == 40  # 8 in each
    assert_allclose(results["std_test_score"], np.std(by_fold, axis=0))
    assert results["std_test_score"].min() > 0


def test_a_clusterer_is_judged_by_its_labels(seed):
    X, y = one_telling_column(seed)
    search = AnswerSearchCV(Halves(), {"column": [2, 1, 0]}, random_state=seed)
    labels = search.fit_predict(X, constraints=answers_of(y, seed))
    assert search.best_params_ == {"column": 0}
    assert search.best_score_ == 1.0
    assert_array_equal(labels, y)
    assert_array_equal(search.labels_, y)
    assert not hasattr(search, "predict")
    assert not hasattr(search, "transform")


def test_answers_reach_every_step_of_a_pipeline_that_takes_them(seed):
    X, y = one_telling_column(seed)
    answers = answers_of(y, seed)
    pipe = make_pipeline(StandardScaler(), make_pipeline(ColumnWeights(), "passthrough"), Halves())
    grid = {"halves__column": [1, 0], "pipeline__columnweights__noise_weight": [0.0, 1.0]}
    search = AnswerSearchCV(pipe, grid, random_state=0).fit(X, constraints=answers)
    assert search.best_params_["halves__column"] == 0
    assert search.best_estimator_[1][0].seen_ == answers
    assert search.best_estimator_[2].seen_ == answers
    assert_array_equal(search.labels_, y)


def test_with_metadata_routing_on_a_pipeline_routes_the_answers_of_a_search(seed):
    X, y = one_telling_column(seed)
    answers = answers_of(y, seed)
    with config_context(enable_metadata_routing=True):
        weights = ColumnWeights().set_fit_request(constraints=True)
        grid = {"columnweights__noise_weight": [1.0, 0.0]}
        search = AnswerSearchCV(make_pipeline(StandardScaler(), weights), grid, random_state=0)
        search.fit(X, constraints=answers)
    assert search.best_params_ == {"columnweights__noise_weight": 0.0}
    assert search.best_estimator_[1].seen_ == answers


def test_a_search_over_folds_of_rows_is_refused_with_the_way_out():
    X, y = one_telling_column(0)
    search = GridSearchCV(RCA(), {}, scoring=lambda *_: 1.0, error_score="raise", cv=2)
    with pytest.raises(ValueError, match="To hold out answers, use AnswerSearchCV"):
        search.fit(X, constraints=answers_of(y, 0))


def test_an_estimator_that_takes_no_answers_is_judged_by_them(seed):
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(4), 15)
    X = 20.0 * np.eye(4)[y] + rng.normal(size=(60, 4))
    search = AnswerSearchCV(
        KMeans(n_init=3, random_state=0), {"n_clusters": [2, 4, 9]}, random_state=0
    ).fit(X, constraints=answers_of(y))
    assert search.best_params_ == {"n_clusters": 4}
    assert_array_equal(search.predict(X), search.labels_)


def test_with_too_few_answers_the_estimator_is_fitted_as_given():
    X, y = one_telling_column(0)
    answers = Constraints.from_labels(y, n_closer=19, random_state=0)
    search = AnswerSearchCV(ColumnWeights(0.7), {"noise_weight": [0.0, 1.0]})
    with pytest.warns(UserWarning, match="Nothing was tuned: 19 held-out answers could be judged"):
        search.fit(X, constraints=answers)
    assert not search.tuned_
    assert search.best_params_ == {}
    assert search.best_index_ is None
    assert np.isnan(search.best_score_)
    assert np.isnan(search.cv_results_["std_test_score"]).all()
    assert search.best_estimator_.noise_weight == 0.7
    assert search.best_estimator_.seen_ == answers


@pytest.mark.parametrize("constraints", [None, Constraints(40)])
def test_without_answers_nothing_is_tuned_in_silence(constraints):
    X, _ = one_telling_column(0)
    search = AnswerSearchCV(ColumnWeights(), {"noise_weight": [0.0, 1.0]})
    assert not search.fit(X, constraints=constraints).tuned_
    assert search.n_held_out_ == 0


def test_a_single_candidate_is_scored_and_never_warned_about():
    X, y = one_telling_column(0)
    search = AnswerSearchCV(ColumnWeights(), {"noise_weight": [0.0]}, random_state=0)
    assert search.fit(X, constraints=answers_of(y)).best_score_ == 1.0
    few = Constraints.from_labels(y, n_closer=3, random_state=0)
    assert search.fit(X, constraints=few).best_params_ == {}


def test_jobs_and_seeds_give_the_same_result():
    X, y = one_telling_column(0)
    answers = answers_of(y)
    search = AnswerSearchCV(KMeans(random_state=0, n_init=1), {"n_clusters": [2, 3]})
    one = clone(search).set_params(random_state=3).fit(X, constraints=answers)
    with parallel_config("threading", n_jobs=2):  # a user's own backend is taken
        two = clone(search).set_params(random_state=3).fit(X, constraints=answers)
    assert_array_equal(one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"])
    other = clone(search).set_params(random_state=4).fit(X, constraints=answers)
    assert (one.cv_results_["split0_test_score"] != other.cv_results_["split0_test_score"]).any()


def test_scoring_sees_the_fitted_estimator_and_the_held_out_answers():
    X, y = one_telling_column(0)
    answers = answers_of(y)

    def scoring(estimator, X_given, held_out):
        assert X_given is X
        assert estimator.seen_.n_answers + held_out.n_answers <= answers.n_answers
        return -abs(estimator.noise_weight - 0.4)

    grid = {"noise_weight": [0.1, 0.5, 0.9]}
    search = AnswerSearchCV(ColumnWeights(), grid, scoring=scoring, random_state=0)
    assert search.fit(X, constraints=answers).best_params_ == {"noise_weight": 0.5}


def test_settings_that_are_estimators_are_cloned():
    X, y = one_telling_column(0)
    scalers = [StandardScaler(), MinMaxScaler()]
    pipe = make_pipeline(StandardScaler(), ColumnWeights())
    search = AnswerSearchCV(pipe, {"standardscaler": scalers}, random_state=0)
    search.fit(X, constraints=answers_of(y))
    assert not any(hasattr(scaler, "n_features_in_") for scaler in scalers)


def test_without_refit_there_is_a_table_and_no_estimator():
    X, y = one_telling_column(0)
    search = AnswerSearchCV(ColumnWeights(), {"noise_weight": [0.0]}, refit=False)
    search.fit(X, constraints=answers_of(y))
    assert search.best_score_ == 1.0
    with pytest.raises(NotFittedError, match="or was fitted with refit=False"):
        search.transform(X)


def test_grids_of_different_settings_are_masked_where_not_set():
    X, y = one_telling_column(0)
    grid = [{"noise_weight": [0.0]}, {}]
    search = AnswerSearchCV(ColumnWeights(), grid).fit(X, constraints=answers_of(y))
    assert list(search.cv_results_["param_noise_weight"].mask) == [False, True]


def test_wrong_input_ends_in_one_error():
    X, y = one_telling_column(0)
    grid = {"noise_weight": [0.0, 1.0]}
    with pytest.raises(TypeError, match="LinearRegression has neither transform nor fit_predict"):
        AnswerSearchCV(LinearRegression(), {}).fit(X, constraints=answers_of(y))
    with pytest.raises(ValueError, match="refer to 40 rows, but X has 39"):
        AnswerSearchCV(ColumnWeights(), grid).fit(X[1:], constraints=answers_of(y))
    with pytest.raises(ValueError, match="n_splits=1 must be at least 2"):
        AnswerSearchCV(ColumnWeights(), grid, n_splits=1).fit(X, constraints=answers_of(y))


def test_a_clusterer_without_predict_keeps_its_labels():
    X, y = one_telling_column(0, n_columns=1)
    search = AnswerSearchCV(DBSCAN(min_samples=1), {"eps": [5.0, 0.5]}, random_state=0)
    search.fit(X, constraints=answers_of(y))
    assert search.best_params_ == {"eps": 0.5}
    assert_array_equal(search.labels_, y)
