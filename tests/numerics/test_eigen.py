import numpy as np
import pytest
from numpy.linalg import LinAlgError
from numpy.testing import assert_allclose
from scipy import linalg

from likewise.numerics.eigen import eigh

QUICKEST = linalg.eigh


@pytest.fixture(params=["as it is", "given up"])
def driver(request, monkeypatch):
    """LAPACK's quickest driver, and one that gives up on every matrix."""

    def give_up(A, **settings):
        if settings.get("driver") is None:
            raise LinAlgError("Internal Error.")
        return QUICKEST(A, **settings)

    if request.param == "given up":
        monkeypatch.setattr(linalg, "eigh", give_up)


@pytest.mark.usefixtures("driver")
@pytest.mark.parametrize(
    ("asked", "kept"),
    [
        ({}, slice(0, 8)),
        ({"n_largest": 3}, slice(5, 8)),
        ({"n_largest": 20}, slice(0, 8)),
        ({"above": 0.0}, slice(3, 8)),
    ],
)
def test_the_pairs_asked_for_come_back_whatever_the_driver_does(asked, kept):
    spectrum = np.array([-3.0, -1.0, -1.0, 0.5, 1.0, 1.0, 1.0, 4.0])
    Q = np.linalg.qr(np.random.RandomState(0).standard_normal((8, 8)))[0]
    A = (Q * spectrum) @ Q.T
    values, vectors = eigh(A, **asked)
    assert_allclose(values, spectrum[kept], atol=1e-12)
    assert_allclose(A @ vectors, vectors * values, atol=1e-12)
    assert_allclose(vectors.T @ vectors, np.eye(len(values)), atol=1e-12)


@pytest.mark.usefixtures("driver")
def test_nothing_above_is_nothing():
    values, vectors = eigh(-np.eye(4), above=0.0)
    assert values.shape == (0,)
    assert vectors.shape == (4, 0)
