import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import squareform

from likewise import ITML, Constraints
from likewise.maps import condensed_distances, distance_export, neighbor_distances


def test_both_exports_hold_the_learned_distances(monkeypatch):
    X = np.random.RandomState(0).normal(size=(30, 3))
    model = ITML().fit(X, constraints=Constraints(30, must_link=[(0, 1)], cannot_link=[(2, 3)]))
    differences = X[:, None] - X
    expected = np.sqrt(np.einsum("ijk,kl,ijl->ij", differences, model.metric_, differences))
    whole = squareform(condensed_distances(model, X))
    assert_allclose(whole, expected, atol=1e-7)
    near = neighbor_distances(model, X, n_neighbors=4)
    assert (np.diff(near.indptr) == 4).all()
    ranked = np.sort(expected + np.diag(np.full(30, np.inf)), axis=1)[:, :4]
    assert_allclose(np.sort(near.data.reshape(30, 4), axis=1), ranked, atol=1e-7)
    with pytest.raises(ValueError, match="n_neighbors=30 must be at least 1 and less than the 30"):
        neighbor_distances(model, X, n_neighbors=30)
    monkeypatch.setattr(distance_export, "MOST_CONDENSED", 29)
    with pytest.raises(ValueError, match="Use neighbor_distances"):
        condensed_distances(model, X)
