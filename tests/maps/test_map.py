"""What every map promises, whatever it is made of: in NumPy and in torch, single and double."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, issparse
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from likewise.kernels import cosine, linear, polynomial, rbf, self_tuning_gaussian
from likewise.maps import (
    ChainedMap,
    LandmarkMap,
    LinearMap,
    NeighborMap,
    TransformerMap,
    UnitLengthMap,
    as_map,
    diffusion_map,
    nystrom_map,
)

RNG = np.random.default_rng(0)
ALL = RNG.normal(size=(56, 4)) * [3.0, 1.0, 1.0, 0.5] + 2.0
ALL = ALL.astype(np.float32).astype(np.float64)  # one row in both types: equal rows are equal
TRAIN, NEW, OTHER = ALL[:40], ALL[[3, *range(40, 48)]], ALL[48:]
SIMILARITY = partial(rbf, theta=9.0)


def landmark_map(kernel, n_passes=1):
    landmarks, coordinates = TRAIN[:15], RNG.normal(size=(15, 3))
    return LandmarkMap(kernel, landmarks, kernel(landmarks), coordinates, 5, n_passes)


WIDE = nystrom_map(partial(rbf, theta=9.0), TRAIN[:10])
MAPS = {
    "linear": LinearMap(RNG.normal(size=(4, 3))),
    "shifted and scaled": LinearMap(RNG.normal(size=(4, 3)), TRAIN.mean(axis=0), TRAIN.std(axis=0)),
    "standardized": as_map(StandardScaler().fit(TRAIN)),
    "unit length": UnitLengthMap(np.array([1.0, 2.0, 0.5, 1.0])),
    "logarithms of unit length": ChainedMap(
        (LinearMap(np.eye(4), -10 * np.ones(4)), UnitLengthMap(np.ones(4), takes_log=True))
    ),
    "nystrom rbf": WIDE,
    "nystrom gaussian": nystrom_map(self_tuning_gaussian(TRAIN, n_neighbors=5), TRAIN, share=0.9),
    "nystrom cosine": nystrom_map(cosine, TRAIN[:10]),
    "nystrom polynomial": nystrom_map(partial(polynomial, degree=2), TRAIN[:20], share=0.999),
    "nystrom followed by a matrix": WIDE.times(RNG.normal(size=(WIDE.n_directions, 2))),
    "diffusion": diffusion_map(TRAIN, n_neighbors=6, n_components=5),
    "neighbors": NeighborMap(TRAIN, RNG.normal(size=(40, 3)), 5),
    "landmarks": landmark_map(SIMILARITY),
    "landmarks, gaussian": landmark_map(self_tuning_gaussian(TRAIN[:15], n_neighbors=4)),
    "landmarks, two passes": landmark_map(linear, n_passes=2),
    "centered": ChainedMap((WIDE, LinearMap(center=WIDE.transform(TRAIN).mean(axis=0)))),
    "standardized, then landmarks": ChainedMap(
        (as_map(StandardScaler().fit(TRAIN)), landmark_map(SIMILARITY))
    ),
}


def in_numpy(X, dtype):
    return np.asarray(X, dtype=dtype)


def in_torch(X, dtype):
    torch = pytest.importorskip("torch", reason="torch is not installed (extra deep)")
    return torch.as_tensor(np.asarray(X, dtype=dtype))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("make", [in_numpy, in_torch])
@pytest.mark.parametrize("name", MAPS)
def test_the_kernel_is_the_inner_product_of_the_coordinates_of_new_rows(name, make, dtype):
    X, Y = make(NEW, dtype), make(OTHER, dtype)
    found = MAPS[name].like(X)
    Z = found.transform(X)
    assert type(Z) is type(X)
    assert Z.dtype == X.dtype
    assert tuple(Z.shape) == (9, MAPS[name].n_directions)
    scale = float(abs(Z).max()) ** 2
    K = np.asarray(found.kernel(X, Y))
    rounding = 1e-12 if dtype == "float64" else 1e-5
    assert_allclose(K, np.asarray(Z @ found.transform(Y).T), atol=rounding * scale)
    assert_allclose(np.asarray(found.kernel(X)), np.asarray(Z @ Z.T), atol=rounding * scale)


@pytest.mark.parametrize("make", [in_numpy, in_torch])
@pytest.mark.parametrize("name", MAPS)
def test_every_library_and_float_type_gives_the_same_coordinates(name, make):
    expected = MAPS[name].transform(NEW)
    for dtype, rounding in (("float64", 1e-7), ("float32", 1e-3)):
        X = make(NEW, dtype)
        Z = np.asarray(MAPS[name].like(X).transform(X))
        assert_allclose(Z, expected, atol=rounding * np.abs(expected).max())


@pytest.mark.parametrize("name", MAPS)
def test_sparse_rows_are_mapped_as_dense_ones(name):
    Z = MAPS[name].transform(csr_array(NEW))
    assert isinstance(Z, np.ndarray)
    assert_allclose(Z, MAPS[name].transform(NEW), atol=1e-6)


@pytest.mark.parametrize("name", MAPS)
def test_single_rows_can_be_asked_for_in_double(name):
    Z = MAPS[name].transform(NEW.astype(np.float32), dtype=np.float64)
    assert Z.dtype == np.float64
    assert_allclose(Z, MAPS[name].transform(NEW), rtol=1e-4, atol=1e-4)


def test_lists_and_whole_numbers_are_rows_too():
    double = LinearMap(2.0 * np.eye(2))
    assert_array_equal(double.transform([[1, 2]]), [[2.0, 4.0]])
    assert_array_equal(double.transform(np.array([[1, 2]])), [[2.0, 4.0]])


@pytest.mark.parametrize("name", [name for name in MAPS if hasattr(MAPS[name], "times")])
def test_a_map_and_a_matrix_after_it_are_one_map(name):
    matrix = RNG.normal(size=(MAPS[name].n_directions, 2))
    learned = MAPS[name].times(matrix)
    assert type(learned) is type(MAPS[name])
    expected = ChainedMap((MAPS[name], LinearMap(matrix))).transform(NEW)
    assert_allclose(learned.transform(NEW), expected, atol=1e-10 * np.abs(expected).max())


def test_a_precomputed_similarity_is_mapped_by_similarities_in_every_library():
    S = SIMILARITY(TRAIN)
    found = NeighborMap(np.diag(S).copy(), RNG.normal(size=(40, 3)), 5, precomputed=True)
    similar = SIMILARITY(NEW, TRAIN)
    expected = found.transform(similar)
    assert_allclose(expected[0], found.coordinates[3], atol=1e-10)
    assert_allclose(found.transform(csr_array(similar)), expected)
    rows = in_torch(similar, "float64")
    assert_allclose(np.asarray(found.like(rows).transform(rows)), expected, atol=1e-7)


TRANSFORMERS = {
    "standardized": StandardScaler(),
    "scaled": StandardScaler(with_mean=False),
    "shifted": StandardScaler(with_std=False),
    "as it is": StandardScaler(with_mean=False, with_std=False),
    "PCA": PCA(3),
    "PCA, whitened": PCA(3, whiten=True),
    "SVD": TruncatedSVD(2, random_state=0),
    "a pipeline": make_pipeline(StandardScaler(), "passthrough", PCA(2)),
    "any other": MinMaxScaler(),
}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", TRANSFORMERS)
def test_transformers_of_scikit_learn_map_as_they_transform(name, dtype):
    transformer = TRANSFORMERS[name].fit(TRAIN)
    rows = NEW.astype(dtype)
    found = as_map(transformer)
    assert found.n_directions == len(transformer.get_feature_names_out())
    assert found.transform(rows).dtype == dtype
    rounding = 1e-12 if dtype == "float64" else 1e-5
    assert_allclose(found.transform(rows), transformer.transform(rows), atol=10 * rounding)


def test_sparse_rows_stay_sparse_until_a_matrix_makes_them_few():
    counts = csr_array(np.abs(NEW).round())
    pipeline = make_pipeline(TfidfTransformer(), StandardScaler(with_mean=False), TruncatedSVD(2))
    found = as_map(pipeline.fit(counts))
    assert_allclose(found.transform(counts), pipeline.transform(counts), atol=1e-12)
    assert issparse(found.maps[0].apply(counts, np.float64))
    assert issparse(found.maps[1].apply(counts, np.float64))
    assert isinstance(as_map(pipeline[0]).transform(counts), np.ndarray)


def test_linear_transformers_become_linear_maps_and_others_are_wrapped():
    assert isinstance(as_map(PCA(2).fit(TRAIN)), LinearMap)
    assert isinstance(as_map(MinMaxScaler().fit(TRAIN)), TransformerMap)
    assert as_map(WIDE) is WIDE


def test_standardizing_is_scikit_learn_s_to_the_bit():
    for dtype in ("float64", "float32"):
        rows = NEW.astype(dtype)
        scaler = StandardScaler().fit(TRAIN)
        assert_array_equal(as_map(scaler).transform(rows), scaler.transform(rows))
        sparse, scaler = csr_array(rows), StandardScaler(with_mean=False).fit(TRAIN)
        expected = scaler.transform(sparse).toarray()
        assert_array_equal(as_map(scaler).transform(sparse), expected)


def test_a_linear_map_of_nothing_is_refused():
    with pytest.raises(ValueError, match=r"no matrix, center or scale\. Use scale=np\.ones"):
        LinearMap()


def test_a_chain_ends_where_its_last_map_does():
    chain = ChainedMap((as_map(StandardScaler().fit(TRAIN)), WIDE))
    assert chain.n_directions == WIDE.n_directions
    assert chain.times(np.ones((WIDE.n_directions, 2))).n_directions == 2


def test_a_chain_meets_single_rows_that_it_was_fitted_to_again():
    rows = TRAIN.astype(np.float32)
    standardize = as_map(StandardScaler().fit(rows))
    prepared = standardize.transform(rows)
    tuned = nystrom_map(self_tuning_gaussian(prepared, n_neighbors=5), prepared)
    chain = ChainedMap((standardize, tuned))
    assert_allclose(chain.kernel(rows), tuned.kernel(prepared), atol=1e-12)  # no width jumps
