import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from likewise import Constraints, COPKMeans
from likewise.evaluation import BoundClusterer


@parametrize_with_checks([BoundClusterer(COPKMeans(2, random_state=0))])
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


@pytest.fixture
def problem():
    X, y = make_blobs(60, 2, centers=3, cluster_std=2.0, random_state=0)
    return X, Constraints.from_labels(y, n_pairs=30, random_state=0)


def test_it_is_the_clusterer_with_its_constraints(problem):
    X, c = problem
    model = COPKMeans(3, random_state=0)
    bound = BoundClusterer(model, c).fit(X)
    assert_array_equal(bound.labels_, model.fit(X, constraints=c).labels_)
    assert_array_equal(bound.predict(X), model.predict(X))


def test_it_goes_at_the_end_of_a_pipeline_and_around_one(problem):
    X, c = problem
    inner = make_pipeline(StandardScaler(), COPKMeans(3, random_state=0))
    outer = make_pipeline(StandardScaler(), BoundClusterer(COPKMeans(3, random_state=0), c))
    assert_array_equal(BoundClusterer(inner, c).fit(X).labels_, outer.fit(X)[-1].labels_)


def test_clusters_keep_their_numbers_when_rows_come(problem):
    X, c = problem
    first = BoundClusterer(COPKMeans(3, random_state=0), c).fit(X)
    old = first.labels_ + 10
    longer = np.concatenate([X, X[:20] + 0.01])
    again = BoundClusterer(COPKMeans(3, random_state=7), c, like=old).fit(longer)
    assert np.mean(again.labels_[:60] == old) > 0.9
    assert set(again.labels_) == {10, 11, 12}
    assert set(again.predict(longer)) <= {10, 11, 12}


def test_a_clusterer_that_takes_no_answers_is_refused(problem):
    X, c = problem
    with pytest.raises(TypeError, match="estimator=KMeans takes no constraints in fit"):
        BoundClusterer(KMeans(3), c).fit(X)
    assert len(BoundClusterer(KMeans(3, n_init=1)).fit(X).labels_) == 60
