"""What NPK and SimpleNPK share: a kernel over the rows of a graph, and its map for new ones."""

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from likewise.constraints import check_constraints, warn_unused
from likewise.kernel_learning.neighbor_map import affinity_graph, neighbor_map, start_embedding
from likewise.kernel_learning.pairs import MergedPairs, merge_pairs
from likewise.kernels import laplacian
from likewise.numerics.rows import validate_rows


class GraphKernel(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A learner has `affinity`, `n_neighbors` and `delta`; it checks its settings and solves."""

    def fit(self, X, y=None, *, constraints=None):
        """Learn the kernel.

        Parameters
        ----------
        X : array-like or CSR of shape (n_samples, n_features)
            Rows; for ``affinity="precomputed"`` their similarity (n_samples, n_samples).
        y : None
            Ignored; it is here for scikit-learn.
        constraints : Constraints, default=None
            Its must-links and cannot-links are used. Without any, the kernel is the inverse of L,
            cut to its 40 leading directions.

        Returns
        -------
        self
        """
        X = self._validate(X, reset=True)
        answers = check_constraints(constraints, n_samples=X.shape[0], y=y)
        warn_unused(self, answers, used=("must_link", "cannot_link"))
        self._check_settings()
        W = affinity_graph(X, self.affinity, self.n_neighbors)
        merged = merge_pairs(answers)
        self.duals_ = np.zeros(answers.n_answers)
        self.n_answers_used_ = len(merged.answers)
        if not len(merged.pairs):
            self.embedding_, self.n_iter_ = start_embedding(W, self.delta), 1
            self.objective_ = self.bound_ = self.gap_ = 0.0
        else:
            self._solve(laplacian(W, delta=self.delta), merged)
        self.space_ = neighbor_map(X, self.embedding_, self.affinity, self.n_neighbors)
        self._n_features_out = self.embedding_.shape[1]
        return self

    def transform(self, X):
        """Map rows to the learned space: a weighted mean of their nearest training rows.

        Parameters
        ----------
        X : array-like or CSR of shape (n_samples, n_features)
            For ``affinity="precomputed"``: similarities with the training rows.

        Returns
        -------
        Z : ndarray of shape (n_samples, rank)
        """
        check_is_fitted(self)
        X = self._validate(X, reset=False)
        return self.space_.transform(X).astype(X.dtype, copy=False)

    def kernel(self, X, Y=None):
        """The learned kernel between rows: ``transform(X) @ transform(Y).T``."""
        check_is_fitted(self)
        Z = self.space_.transform(self._validate(X, reset=False))
        return Z @ (Z if Y is None else self.space_.transform(self._validate(Y, reset=False))).T

    @property
    def kernel_(self):
        """Learned kernel of the training rows (n_samples, n_samples)."""
        check_is_fitted(self)
        return self.embedding_ @ self.embedding_.T

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.affinity == "precomputed"
        return tags

    def _check_settings(self) -> None:
        """One error for a setting that makes no sense."""
        raise NotImplementedError

    def _solve(self, L: csr_array, merged: MergedPairs) -> None:
        """Set `embedding_`, `duals_` and what is known of the optimum."""
        raise NotImplementedError

    def _validate(self, X, *, reset):
        return validate_rows(
            self, X, reset=reset, dtype=[np.float64, np.float32], accept_sparse="csr"
        )
