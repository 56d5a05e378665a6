"""Rows from files, of whatever number type."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from likewise.files.row_file import read_rows


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "uint64"])
def test_numbers_of_every_length_are_read_without_a_warning(tmp_path, dtype):
    np.save(tmp_path / "rows.npy", np.array([[1, 2], [3, 4]], dtype=dtype))
    assert_array_equal(read_rows(tmp_path / "rows.npy").X, [[1, 2], [3, 4]])


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_an_infinite_number_is_refused_whatever_its_length(tmp_path, dtype):
    np.save(tmp_path / "rows.npy", np.array([[1, np.inf]], dtype=dtype))
    with pytest.raises(ValueError, match="row 0"):
        read_rows(tmp_path / "rows.npy")
