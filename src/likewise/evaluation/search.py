"""AnswerSearchCV: choose the settings of any estimator by held-out answers (select.py)."""

import warnings
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn import get_config
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_clusterer
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from likewise.constraints import Constraints, check_constraints, refuse_answers_as_y
from likewise.evaluation.held_out import answer_credits
from likewise.evaluation.select import MIN_HELD_OUT, Selected, select


def _best_has(name):
    """For ``available_if``: what the estimator can do, the search can."""

    def check(self):
        getattr(getattr(self, "best_estimator_", self.estimator), name)
        return True

    return check


class AnswerSearchCV(MetaEstimatorMixin, BaseEstimator):
    """Choose an estimator's settings by how well it predicts held-out answers.

    Cross-validation over answers: rows stay, answers are split. An estimator with ``transform`` is
    judged by its distances, a clusterer by its labels. In a pipeline the answers go to every step
    whose ``fit`` takes constraints; an estimator that takes none is judged by them all the same.

    Parameters
    ----------
    estimator : estimator
        With ``transform``, or a clusterer with ``fit_predict``. It is cloned, never fitted itself.
    param_grid : dict or list of dicts
        Settings to try, as for scikit-learn's ``GridSearchCV``. Of equally good candidates the
        first wins, so put the simplest first. More candidates take longer, and the best of many
        looks better than it is.
    n_splits : int, default=5
        Folds of answers. Raising it leaves more answers to learn from in each fit, and takes
        longer.
    random_state : int, RandomState or None, default=None
        Assigns the questions to the folds.
    scoring : callable, default=None
        ``scoring(fitted_estimator, X, held_out)`` gives a float, higher is better. None is
        ``held_out_accuracy``.
    refit : bool, default=True
        Fit the best candidate on all answers at the end. ``transform``, ``predict`` and ``labels_``
        need it.
    n_jobs : int, default=None
        Number of parallel fits, through joblib; None means 1, -1 all cores.

    Attributes
    ----------
    tuned_ : bool
        False when fewer than 20 held-out answers could be judged. Then nothing was compared,
        ``best_params_`` is empty and the estimator was fitted as given.
    best_estimator_ : estimator
        Fitted on all answers.
    best_params_ : dict
    best_score_ : float
        Mean score of the best candidate on held-out answers; nan when not tuned.
    best_index_ : int or None
        Its place in ``cv_results_``.
    cv_results_ : dict of arrays
        ``params``, ``param_*``, ``split*_test_score`` (nan where a fold had nothing to judge),
        ``mean_test_score`` and ``std_test_score`` over the folds (a fold counts by the weight of
        the answers judged in it), ``rank_test_score``.
    n_held_out_ : int
        Held-out answers that could be judged, all folds together.
    n_implied_ : int
        Held-out answers dropped because those of the fit part imply them.
    labels_ : ndarray of shape (n_samples,)
        Of the refitted estimator, when it is a clusterer.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)

    Notes
    -----
    For the one-standard-error rule take the first candidate whose ``mean_test_score`` is at least
    ``best_score_`` minus ``std_test_score[best_index_] / sqrt(n_splits)``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.decomposition import PCA
    >>> from likewise import Constraints
    >>> from likewise.evaluation import AnswerSearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> answers = Constraints.from_labels(y, n_odd_one_out=100, random_state=0)
    >>> search = AnswerSearchCV(PCA(), {"n_components": [1, 2, 4]}, random_state=0)
    >>> search.fit(X, constraints=answers).tuned_
    True
    >>> search.best_params_, search.n_held_out_
    ({'n_components': 2}, 100)
    """

    def __init__(
        self,
        estimator,
        param_grid,
        *,
        n_splits=5,
        random_state=None,
        scoring=None,
        refit=True,
        n_jobs=None,
    ):
        self.estimator = estimator
        self.param_grid = param_grid
        self.n_splits = n_splits
        self.random_state = random_state
        self.scoring = scoring
        self.refit = refit
        self.n_jobs = n_jobs

    def fit(self, X, y=None, *, constraints=None):
        """Choose the settings, and fit them on all answers.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Passed on as it is.
        y : ignored by likewise estimators, passed on
        constraints : Constraints, default=None
            Without any, the estimator is fitted as given.

        Returns
        -------
        self
        """
        refuse_answers_as_y(y)
        if self.scoring is None and not _is_judged_by_default(self.estimator):
            raise TypeError(
                f"{type(self.estimator).__name__} has neither transform nor fit_predict, so "
                "answers cannot judge it. Pass scoring=."
            )
        answers = Constraints(0)
        if constraints is not None:
            answers = check_constraints(constraints, n_samples=_n_rows(X))
        candidates = list(ParameterGrid(self.param_grid))

        def trial(params, fit_part, held_out):
            estimator = _with_params(self.estimator, params)
            labels = _fit(estimator, X, y, fit_part)
            if self.scoring is not None:
                return self.scoring(estimator, X, held_out)
            Z = estimator.transform(X) if labels is None else _memberships(labels)
            return answer_credits(Z, held_out)

        selected = select(
            candidates,
            trial,
            answers,
            n_splits=self.n_splits,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )
        best = self.best_index_ = selected.chosen
        self.tuned_ = best is not None
        self.best_params_ = {} if best is None else candidates[best]
        self.best_score_ = float("nan") if best is None else float(selected.scores[best])
        self.cv_results_ = _as_table(candidates, selected, answers.weights)
        self.n_held_out_ = int(selected.n_held_out.sum())
        self.n_implied_ = int(selected.n_implied.sum())
        if not self.tuned_ and answers.n_answers and len(candidates) > 1:
            warnings.warn(
                f"Nothing was tuned: {self.n_held_out_} held-out answers could be judged and "
                f"{MIN_HELD_OUT} are needed. {type(self.estimator).__name__} was fitted as given.",
                UserWarning,
            )
        if self.refit:
            self.best_estimator_ = _with_params(self.estimator, self.best_params_)
            labels = _fit(self.best_estimator_, X, y, constraints)
            if labels is not None:
                self.labels_ = labels
        return self

    @available_if(_best_has("transform"))
    def transform(self, X):
        """Coordinates of rows, by the best estimator."""
        return self._best().transform(X)

    @available_if(_best_has("transform"))
    def fit_transform(self, X, y=None, *, constraints=None):
        """``fit``, then ``transform`` of the same rows."""
        return self.fit(X, y, constraints=constraints).transform(X)

    @available_if(_best_has("predict"))
    def predict(self, X):
        """Clusters of rows, by the best estimator."""
        return self._best().predict(X)

    @available_if(_best_has("fit_predict"))
    def fit_predict(self, X, y=None, *, constraints=None):
        """``fit``, and the clusters of the same rows."""
        return self.fit(X, y, constraints=constraints).labels_

    @available_if(_best_has("get_feature_names_out"))
    def get_feature_names_out(self, input_features=None):
        """Names of the columns that ``transform`` returns."""
        return self._best().get_feature_names_out(input_features)

    @property
    def n_features_in_(self):
        """Features seen by the best estimator."""
        return self.best_estimator_.n_features_in_

    @property
    def feature_names_in_(self):
        """Names of the features seen by the best estimator."""
        return self.best_estimator_.feature_names_in_

    def __sklearn_tags__(self):
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.input_tags, tags.target_tags = inner.input_tags, inner.target_tags
        tags.transformer_tags = inner.transformer_tags
        tags.non_deterministic = inner.non_deterministic
        return tags

    def _best(self):
        message = "This %(name)s instance is not fitted yet, or was fitted with refit=False."
        check_is_fitted(self, "best_estimator_", msg=message)
        return self.best_estimator_


def _is_judged_by_default(estimator) -> bool:
    return hasattr(estimator, "fit_predict" if is_clusterer(estimator) else "transform")


def _with_params(estimator, params: dict):
    """A fresh clone with these settings; settings that are estimators are cloned too."""
    return clone(estimator).set_params(**{k: clone(v, safe=False) for k, v in params.items()})


def _fit(estimator, X, y, constraints):
    """Fit in place; the labels of a clusterer, None of anything else."""
    keywords = {} if constraints is None else fit_keywords(estimator, constraints)
    if is_clusterer(estimator):
        return estimator.fit_predict(X, y, **keywords)
    estimator.fit(X, y, **keywords)
    return None


def fit_keywords(estimator, constraints: Constraints) -> dict[str, Constraints]:
    """``constraints=`` where fit takes it; in a pipeline ``step__constraints=`` for such steps.

    With metadata routing on, a pipeline takes ``constraints=`` and hands it to the steps that
    request it.
    """
    if isinstance(estimator, Pipeline):
        by_step = {
            f"{name}__{keyword}": value
            for name, step in estimator.steps
            for keyword, value in fit_keywords(step, constraints).items()
        }
        is_routed = by_step and get_config()["enable_metadata_routing"]
        return {"constraints": constraints} if is_routed else by_step
    takes_them = hasattr(estimator, "fit") and has_fit_parameter(estimator, "constraints")
    return {"constraints": constraints} if takes_them else {}


def _memberships(labels) -> np.ndarray:
    """One column per cluster: rows of one cluster are at distance 0, all others equally far."""
    return np.asarray(labels)[:, None] == np.unique(labels)


def _n_rows(X) -> int:
    return X.shape[0] if hasattr(X, "shape") else len(X)


def _as_table(candidates: list[dict], selected: Selected, weights: np.ndarray) -> dict[str, Any]:
    """``cv_results_`` as scikit-learn lays it out."""
    table: dict[str, Any] = {}
    for name in dict.fromkeys(name for params in candidates for name in params):
        column = np.ma.masked_all(len(candidates), dtype=object)
        for i, params in enumerate(candidates):
            if name in params:
                column[i] = params[name]
        table[f"param_{name}"] = column
    table["params"] = candidates
    n_splits = len(selected.n_implied)
    by_fold = np.full((len(candidates), n_splits), np.nan)
    fold_weights = np.zeros(n_splits)
    for fold in np.flatnonzero(selected.n_held_out):
        of_fold = selected.is_judged & (selected.folds == fold)
        by_fold[:, fold] = np.average(
            selected.credits[:, of_fold], axis=1, weights=weights[of_fold]
        )
        fold_weights[fold] = weights[of_fold].sum()
    for i, column in enumerate(by_fold.T):
        table[f"split{i}_test_score"] = column
    table["mean_test_score"] = selected.scores
    table["std_test_score"] = np.full(len(candidates), np.nan)
    if selected.chosen is not None:
        folds = np.flatnonzero(fold_weights)
        sq_gaps = (by_fold[:, folds] - selected.scores[:, None]) ** 2
        table["std_test_score"] = np.sqrt(np.average(sq_gaps, axis=1, weights=fold_weights[folds]))
    worst_last = np.where(np.isnan(selected.scores), -np.inf, selected.scores)
    table["rank_test_score"] = rankdata(-worst_last, method="min").astype(np.int32)
    return table
