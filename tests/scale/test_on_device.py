"""Maps and k-means on a device of torch's: its CPU here, and a GPU where there is one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from likewise import (
    ITML,
    LSML,
    MMC,
    NPK,
    RCA,
    SKLR,
    ChoiceKernel,
    Constraints,
    GuidedClustering,
    KernelAlignment,
    LogDetPairs,
    SimpleNPK,
    SpectralReweighting,
    scale,
)
from likewise.datasets import load_wine
from likewise.maps import on_device

torch = pytest.importorskip("torch", reason="torch is not installed (extra deep)")
gpu = pytest.param(
    "cuda",
    marks=pytest.mark.skipif(
        not torch.cuda.is_available(), reason="there is no GPU that torch can use"
    ),
)
DEVICES = ["cpu", gpu]
LEARNERS = {
    "ITML": ITML(random_state=0),
    "RCA": RCA(),
    "MMC": MMC(),
    "LSML": LSML(),
    "SKLR gaussian": SKLR(C=1.0, random_state=0),
    "SKLR gaussian, landmarks": SKLR(C=1.0, n_landmarks=60, random_state=0),
    "SKLR rbf": SKLR(C=1.0, start="rbf", n_landmarks=60, random_state=0),
    "SKLR linear": SKLR(C=1.0, start="linear", random_state=0),
    "SKLR cosine": SKLR(C=1.0, start="cosine", random_state=0),
    "LogDetPairs polynomial": LogDetPairs(start="polynomial", random_state=0),
    "SpectralReweighting": SpectralReweighting(n_landmarks=60, random_state=0),
    "SpectralReweighting again": SpectralReweighting(n_landmarks=60, n_passes=3, random_state=0),
    "SpectralReweighting gaussian": SpectralReweighting(
        start="gaussian", n_landmarks=60, random_state=0
    ),
    "SpectralReweighting linear": SpectralReweighting(
        start="linear", n_landmarks=60, random_state=0
    ),
    "SpectralReweighting cosine": SpectralReweighting(
        start="cosine", n_landmarks=60, random_state=0
    ),
    "SpectralReweighting polynomial": SpectralReweighting(
        start="polynomial", n_landmarks=60, random_state=0
    ),
    "SKLR diffusion": SKLR(C=1.0, start="diffusion", random_state=0),
    "SKLR paper": SKLR(loss="paper", random_state=0),
    "ChoiceKernel": ChoiceKernel(C=1.0, sharpness=2.0, random_state=0),
    "NPK": NPK(),
    "SimpleNPK": SimpleNPK(loss="linear"),
    "KernelAlignment": KernelAlignment(),
    "GuidedClustering": GuidedClustering(
        3, learner=ITML(random_state=0), preparation="standardize", n_init=1
    ),
    "GuidedClustering SKLR": GuidedClustering(3, learner=SKLR(C=1.0, random_state=0), n_init=1),
}


@pytest.fixture(scope="module")
def wine():
    data = load_wine()
    X = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)
    return X, Constraints.from_labels(data.y, n_pairs=40, n_closer=20, random_state=0)


@pytest.mark.filterwarnings("ignore:.*cannot use:UserWarning")
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", LEARNERS)
def test_a_device_maps_as_the_learner_does(wine, name, device):
    X, answers = wine
    space = LEARNERS[name].fit(X, constraints=answers)
    expected = space.transform(X)
    blocks = scale.as_blocks(X, block_rows=70)
    assert_allclose(scale.transform(space, blocks, device=device), expected, rtol=1e-6, atol=1e-7)
    X = X.astype(np.float32)
    space.fit(X, constraints=answers)
    expected, single = space.transform(X), scale.transform(space, X, device=device)
    assert single.dtype == np.float32
    assert_allclose(single, expected, atol=1e-4 * np.abs(expected).max())


@pytest.mark.parametrize("device", DEVICES)
def test_a_pipeline_of_scikit_learn_s_and_ours_is_mapped_on_a_device(wine, device):
    X, answers = wine
    pipeline = make_pipeline(StandardScaler(), PCA(8), ITML(random_state=0))
    pipeline.fit(X, itml__constraints=answers.subset(answers.positions("must_link")))
    found = scale.transform(pipeline, X, device=device)
    assert_allclose(found, pipeline.transform(X), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("learner", ["auto", ITML(random_state=0)], ids=["groups", "space"])
def test_guided_clustering_maps_blocks_on_its_device(wine, monkeypatch, device, learner):
    monkeypatch.setattr("likewise.guided.guided_clustering.FIT_ROWS", 100)
    X, y = wine[0], load_wine().y
    answers = Constraints.from_partial_labels(np.where(np.arange(len(y)) % 6, -1, y))
    here = GuidedClustering(3, learner=learner, random_state=0).fit(X, constraints=answers)
    assert (here.anchors_ is not None) == (learner == "auto")
    moved = []
    for room in ("guided.many_rows", "scale.learning"):
        monkeypatch.setattr(
            f"likewise.{room}.on_device",
            lambda rows, device: moved.append(len(rows)) or on_device(rows, device),
        )
    there = GuidedClustering(3, learner=learner, device=device, random_state=0)
    assert_array_equal(there.fit(X, constraints=answers).labels_, here.labels_)
    assert sum(moved) == len(X)  # once: into the space, and as prepared, for the report
    moved.clear()
    assert_array_equal(there.predict(X), here.predict(X))
    # squared distances of rows to themselves as anchors are differences of nearly equal numbers
    assert_allclose(there.predict_proba(X), here.predict_proba(X), atol=1e-4)
    assert sum(moved) == 2 * len(X)


def test_guided_clustering_refuses_an_unknown_device_before_the_work():
    with pytest.raises(ValueError, match="torch does not recognize device='gpu'"):
        GuidedClustering(device="gpu").fit(None)


@pytest.mark.parametrize("device", DEVICES)
def test_tensors_are_mapped_where_they_are_and_stay_tensors(wine, device):
    X, answers = wine
    space = SpectralReweighting(n_landmarks=60, random_state=0).fit(X, constraints=answers)
    rows = torch.as_tensor(X).to(device)
    Z = scale.transform(space, rows)
    assert Z.device == rows.device
    assert_allclose(Z.cpu().numpy(), space.transform(X), atol=1e-7)
    assert_allclose(
        scale.mapped(space, rows).take([3, 99, 7]).cpu(), Z[[3, 99, 7]].cpu(), atol=1e-9
    )


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_k_means_on_a_device_is_k_means(wine, device, dtype):
    X = wine[0].astype(dtype)
    here = scale.BlockKMeans(3, random_state=0).fit(scale.as_blocks(X, block_rows=50))
    moved = scale.BlockKMeans(3, device=device, random_state=0)
    moved.fit(scale.as_blocks(X, block_rows=50))
    assert_array_equal(moved.labels_, here.labels_)
    assert_allclose(moved.cluster_centers_, here.cluster_centers_, rtol=1e-4, atol=1e-5)
    there = scale.BlockKMeans(3, random_state=0).fit(torch.as_tensor(X).to(device))
    assert_array_equal(there.labels_, here.labels_)
    assert_array_equal(there.predict(torch.as_tensor(X).to(device)), here.labels_)


@pytest.mark.parametrize("device", DEVICES)
def test_an_empty_cluster_is_filled_on_a_device_too(device):
    X = np.array([[0.0], [1.0], [2.5], [10.0], [11.7], [30.0]])
    start = np.array([[1.0], [10.0], [500.0], [600.0]])
    here = scale.BlockKMeans(4, init=start, tol=0).fit(X)
    there = scale.BlockKMeans(4, init=start, tol=0, device=device).fit(X)
    assert_array_equal(there.labels_, here.labels_)


def test_what_a_device_cannot_do_is_named(wine):
    X, _ = wine
    with pytest.raises(TypeError, match="MinMaxScaler is not mapped on a device"):
        scale.transform(MinMaxScaler().fit(X), X, device="cpu")
    sparse = SpectralReweighting(n_landmarks=60, random_state=0).fit(csr_array(X))
    with pytest.raises(TypeError, match="those of the map are sparse"):
        scale.transform(sparse, X, device="cpu")
    dense = SpectralReweighting(n_landmarks=60, random_state=0).fit(X)
    with pytest.raises(TypeError, match="takes dense rows"):
        scale.transform(dense, csr_array(X), device="cpu")

    def own(A, B):
        return A @ B.T

    with pytest.raises(TypeError, match="is not known to a device"):
        scale.transform(SKLR(C=1.0, start=own).fit(X), X, device="cpu")
