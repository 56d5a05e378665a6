import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from likewise import Constraints, COPKMeans
from likewise.evaluation import BoundClusterer, satisfaction_score


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


class Topics:
    """What BERTopic does with its hdbscan_model=: reduce rows, fit(Z, y=y), labels_, predict."""

    def __init__(self, hdbscan_model):
        self.hdbscan_model = hdbscan_model

    def fit(self, X, y=None):
        self.reducer = PCA(2, random_state=0).fit(X)
        self.hdbscan_model.fit(self.reducer.transform(X), y=y)
        self.topics = self.hdbscan_model.labels_
        return self

    def transform(self, X):
        return self.hdbscan_model.predict(self.reducer.transform(X))


@pytest.mark.parametrize("y", [None, np.repeat([0, -1], 30)])
def test_topics_are_found_with_pairs_that_the_caller_knows_nothing_of(problem, y):
    X, c = problem
    X = np.hstack([X, 0.1 * np.random.default_rng(0).normal(size=(60, 3))])
    bound = BoundClusterer(COPKMeans(3, random_state=0), c)
    topics = Topics(bound).fit(X, y)
    assert bound.labels_.shape == (60,)
    assert satisfaction_score(None, c, topics.topics) == 1
    assert satisfaction_score(None, c, Topics(KMeans(3, random_state=0)).fit(X).topics) < 1
    new = topics.transform(X + 1e-9)
    assert new.dtype.kind == "i"
    assert (new == topics.topics).mean() > 0.7
    assert set(new) <= set(topics.topics)


def test_bertopic_takes_it(problem):
    bertopic = pytest.importorskip("bertopic", reason="BERTopic is not installed")
    X, c = problem
    texts = [f"word{i % 7} more{i % 5} and{i % 3}" for i in range(len(X))]
    model = bertopic.BERTopic(
        embedding_model=None,
        umap_model=PCA(2, random_state=0),
        hdbscan_model=BoundClusterer(COPKMeans(3, random_state=0), c),
    )
    topics, _ = model.fit_transform(texts, X)
    assert satisfaction_score(None, c, np.array(topics)) == 1
    assert set(model.transform(texts[:5], X[:5])[0]) <= set(topics)
