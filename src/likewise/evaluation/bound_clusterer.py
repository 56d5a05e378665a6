"""A clusterer with its answers inside: for code that calls fit(X) and knows of no constraints.

BERTopic's ``hdbscan_model=``, pipelines of other packages and loops over clusterers call
``fit(X)`` and read ``labels_``. Here the constraints are a setting instead of a keyword of fit.
"""

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples, check_is_fitted

from likewise.constraints import check_constraints, fit_and_label, refuse_answers_as_y
from likewise.evaluation.search import fit_keywords
from likewise.numerics.label_matching import match_labels


def _has(name: str):
    return available_if(lambda self: hasattr(self.estimator, name))


class BoundClusterer(ClusterMixin, BaseEstimator):
    """Pass a clusterer and its constraints where a plain clusterer is expected.

    Parameters
    ----------
    estimator : estimator
        A clusterer of likewise, or a pipeline that ends in one; anything whose ``fit`` takes
        ``constraints``. It is cloned, never changed.
    constraints : Constraints, dict or dataframe, default=None
        About the rows that ``fit`` will get, in their order; rows that come after those are free.
    like : array-like of shape (n_rows,), default=None
        Labels of an earlier fit to the same rows, or to the first of them: clusters keep the
        numbers of those that they share most rows with. -1 means no cluster.

    Attributes
    ----------
    estimator_ : estimator
        The fitted clusterer.
    labels_ : ndarray of shape (n_samples,)
        Its labels, named after ``like`` where given.

    Examples
    --------
    >>> from likewise import COPKMeans
    >>> from likewise.evaluation import BoundClusterer
    >>> X = [[0.0], [1.0], [9.0], [10.0]]
    >>> bound = BoundClusterer(COPKMeans(2, random_state=0), {"must_link": [(1, 2)]})
    >>> bound.fit(X).labels_[1] == bound.labels_[2]
    np.True_
    >>> again = BoundClusterer(bound.estimator, bound.constraints, like=[7, 7, 7, 4]).fit(X)
    >>> again.labels_
    array([7, 7, 7, 4])
    """

    def __init__(self, estimator, constraints=None, *, like=None):
        self.estimator = estimator
        self.constraints = constraints
        self.like = like

    def fit(self, X, y=None):
        """Fit the clusterer to X with the constraints.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : Ignored

        Returns
        -------
        self
        """
        refuse_answers_as_y(y, "They belong into BoundClusterer(estimator, constraints).")
        n_samples = _num_samples(X)
        given = self.constraints
        if getattr(given, "n_samples", n_samples) < n_samples:
            given = given.with_rows(n_samples)
        constraints = check_constraints(given, n_samples=n_samples)
        self.estimator_ = clone(self.estimator)
        keywords = fit_keywords(self.estimator_, constraints)
        if not keywords and (constraints.n_answers or constraints.exclusive):
            raise TypeError(
                f"estimator={type(self.estimator_).__name__} takes no constraints in fit. Use a "
                "clusterer of likewise."
            )
        self.estimator_.fit(X, **keywords)
        fitted = self.estimator_[-1] if hasattr(self.estimator_, "steps") else self.estimator_
        self._labels = np.asarray(fitted.labels_)
        self.labels_ = self._labels if self.like is None else match_labels(self._labels, self.like)
        return self

    fit_predict = fit_and_label

    @_has("predict")
    def predict(self, X):
        """The cluster of each new row, by the numbers of ``labels_``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        predicted = np.asarray(self.estimator_.predict(X))
        known, first = np.unique(self._labels, return_index=True)
        names = dict(zip(known.tolist(), self.labels_[first].tolist()))
        return np.array([names.get(label, label) for label in predicted.tolist()], dtype=np.int64)

    @_has("transform")
    def transform(self, X):
        """Map rows the way the clusterer does.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        Z : ndarray of shape (n_samples, n_directions)
        """
        check_is_fitted(self)
        return self.estimator_.transform(X)

    @property
    def n_features_in_(self) -> int:
        """Features seen in ``fit``."""
        if not hasattr(self, "estimator_"):
            raise AttributeError("BoundClusterer is not fitted: n_features_in_ comes with fit.")
        return self.estimator_.n_features_in_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.estimator.__sklearn_tags__().input_tags.sparse
        return tags
