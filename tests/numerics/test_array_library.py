import numpy as np
import pytest
from scipy.sparse import csr_array

from likewise.numerics.array_library import is_array_elsewhere, library_of


def test_what_is_numpy_s_is_here_and_what_is_not_is_elsewhere():
    for here in (np.ones(2), [1.0], csr_array(np.eye(2))):
        assert not is_array_elsewhere(here)
        assert library_of(here).exp(0.0) == 1.0
    torch = pytest.importorskip("torch", reason="torch is not installed (extra deep)")
    assert is_array_elsewhere(torch.ones(2))
    assert isinstance(library_of(torch.ones(2)).exp(torch.zeros(1)), torch.Tensor)
