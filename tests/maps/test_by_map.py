"""What learners do by their maps."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from likewise import ITML, NPK, GuidedClustering
from likewise.kernel_learning.alignment import WeightedKernels
from likewise.kernels import cosine, linear
from likewise.maps import LinearMap, Map, by_map, nystrom_map
from likewise.model_file import ESTIMATORS

ROWS = np.random.default_rng(0).normal(size=(12, 3))


class Double(BaseEstimator):
    def fit(self, X):
        by_map.validate(self, X, reset=True)
        self.map_ = LinearMap(2 * np.eye(3))
        return self

    transform = by_map.transform
    kernel = by_map.kernel


def test_rows_are_checked_and_mapped():
    model = Double().fit(ROWS)
    assert_array_equal(model.transform(ROWS), 2 * ROWS)
    assert_array_equal(model.kernel(ROWS[:2], ROWS), 4 * ROWS[:2] @ ROWS.T)
    with pytest.raises(ValueError, match="X has 2 features, but Double is expecting 3"):
        model.transform(ROWS[:, :2])
    with pytest.raises(NotFittedError, match="Double"):
        Double().transform(ROWS)


def test_sparse_rows_are_taken_where_the_tags_say_so():
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        ITML().fit(ROWS).transform(csr_array(ROWS))
    npk = NPK().fit(ROWS)
    assert_array_equal(npk.transform(csr_array(ROWS)), npk.transform(ROWS))


def test_a_method_of_a_fitted_learner_can_be_sent_to_another_process():
    itml = ITML().fit(ROWS)
    assert_array_equal(pickle.loads(pickle.dumps(itml.transform))(ROWS), itml.transform(ROWS))


def test_guided_clustering_ends_as_the_chain_of_its_parts():
    model = GuidedClustering(2, learner=ITML(), preparation="standardize", random_state=0).fit(ROWS)
    prepared, learned = model.map_.maps
    assert_array_equal(prepared.transform(ROWS), model.scaler_.transform(ROWS))
    assert learned is model.learner_.map_
    assert_array_equal(learned.transform(prepared.transform(ROWS)), model.transform(ROWS))


def test_the_weights_of_a_mix_of_kernels_stay_numbers_on_a_device():
    torch = pytest.importorskip("torch", reason="torch is not installed (extra deep)")
    mixed = nystrom_map(WeightedKernels((linear, cosine), (0.5, 0.0)), ROWS)
    there = mixed.like(torch.empty(0, dtype=torch.float64))
    assert there.base_kernel.weights == (0.5, 0.0)
    assert_array_equal(np.asarray(there.base_kernel(there.landmarks)), 0.5 * ROWS @ ROWS.T)


@pytest.mark.parametrize(
    "name",
    [
        *("ITML", "RCA", "MMC", "LSML", "SKLR", "ChoiceKernel", "LogDetPairs", "NPK", "SimpleNPK"),
        *("SpectralReweighting", "KernelAlignment", "GuidedClustering"),
    ],
)
def test_every_learner_ends_as_a_map(name):
    module, _, cls = ESTIMATORS[name].rpartition(".")
    learner = getattr(__import__(module, fromlist=[cls]), cls)().fit(ROWS)
    assert isinstance(learner.map_, Map)
    assert len(learner.get_feature_names_out()) == learner.map_.n_directions
    assert_array_equal(learner.transform(ROWS), learner.map_.transform(ROWS))
