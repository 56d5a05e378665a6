"""Maps in another library: what is moved, what is not, and what is said of it."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.preprocessing import MinMaxScaler

from likewise.kernels import kernel_function, rbf, self_tuning_gaussian
from likewise.maps import (
    ChainedMap,
    DiffusionMap,
    LinearMap,
    TransformerMap,
    UnitLengthMap,
    diffusion_map,
    find_device,
    nystrom_map,
    on_device,
)

torch = pytest.importorskip("torch", reason="torch is not installed (extra deep)")
ROWS = np.random.default_rng(0).normal(size=(12, 3))
SINGLE = torch.empty(0, dtype=torch.float32)


def test_an_array_in_two_places_stays_one():
    there = nystrom_map(self_tuning_gaussian(ROWS, n_neighbors=3), ROWS).like(SINGLE)
    assert there.base_kernel.rows is there.landmarks
    assert there.landmarks.dtype == torch.float32


def test_the_way_there_and_back_changes_nothing():
    here = ChainedMap((LinearMap(np.eye(3), center=ROWS[0]), diffusion_map(ROWS, n_neighbors=3)))
    back = here.like(torch.empty(0, dtype=torch.float64)).like(ROWS)
    assert_array_equal(back.transform(ROWS), here.transform(ROWS))
    assert isinstance(back.maps[1].rows, np.ndarray)


def test_what_needs_float64_has_it_for_single_rows_too():
    there = diffusion_map(ROWS, n_neighbors=3).like(SINGLE)
    assert isinstance(there, DiffusionMap)
    assert there.rows.dtype == there.coordinates.dtype == torch.float64
    assert there.transform(torch.as_tensor(ROWS, dtype=torch.float32)).dtype == torch.float32


def test_a_map_in_double_may_stand_before_one_in_the_type_of_the_rows():
    X = np.random.RandomState(0).normal(size=(9, 3)).astype(np.float32)
    unit = UnitLengthMap(np.ones(3))
    landmarks = unit.transform(X[:5].astype(np.float64))
    kernel = self_tuning_gaussian(landmarks, n_neighbors=2)
    chain = ChainedMap((unit, nystrom_map(kernel, landmarks)))
    rows = on_device(X, "cpu")
    found = chain.like(rows).transform(rows)
    assert found.dtype == torch.float32
    assert_allclose(found, chain.transform(X), atol=1e-4)


def test_settings_of_a_kernel_are_moved_with_it():
    kernel = kernel_function("diffusion", ROWS, n_neighbors=3)
    there = nystrom_map(kernel, ROWS[:5]).like(torch.empty(0, dtype=torch.float64))
    assert isinstance(there.base_kernel.keywords["coordinates"], torch.Tensor)


def test_what_cannot_be_moved_is_named():
    with pytest.raises(TypeError, match=r"takes dense rows, and those of the map are sparse"):
        nystrom_map(partial(rbf, theta=1.0), csr_array(ROWS)).like(SINGLE)
    with pytest.raises(TypeError, match=r"The kernel .*own_kernel.* is not known to a device"):
        nystrom_map(kernel_function(own_kernel, ROWS), ROWS).like(SINGLE)
    with pytest.raises(TypeError, match="MinMaxScaler is not mapped on a device"):
        TransformerMap(MinMaxScaler().fit(ROWS)).like(SINGLE)


def own_kernel(A, B):
    return A @ B.T


def test_a_device_that_is_not_there_is_one_line(monkeypatch):
    assert find_device(torch, "cpu").type == "cpu"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ValueError, match=r"device='cuda:1': torch sees no GPU here\. Leave"):
        find_device(torch, "cuda:1")
    with pytest.raises(ValueError, match=r"torch does not recognize device='gpu'\. Try 'cuda'"):
        find_device(torch, "gpu")
