import numpy as np
import pytest
from numpy.testing import assert_array_equal

from likewise.datasets import Dataset, load_breast_cancer, load_digits, load_iris, load_wine


@pytest.mark.parametrize(
    ("load", "shape", "sizes"),
    [
        (load_iris, (150, 4), [50, 50, 50]),
        (load_wine, (178, 13), [59, 71, 48]),
        (load_breast_cancer, (569, 30), [212, 357]),
        (load_digits, (1797, 64), [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]),
    ],
)
def test_bundled_sets_have_the_known_sizes(load, shape, sizes):
    data = load()
    assert data.X.shape == shape
    assert (data.X.dtype, data.y.dtype) == (np.float64, np.int64)
    assert_array_equal(np.bincount(data.y), sizes)
    assert len(data.target_names) in (0, len(sizes))
    assert len(data.feature_names) in (0, shape[1])


def test_a_set_is_frozen():
    with pytest.raises(AttributeError):
        load_iris().X = None
    with pytest.raises(TypeError):
        load_digits().extras["image_shape"] = None


@pytest.mark.parametrize("rows", [[4, 149], np.arange(150) % 50 == 0, slice(3, 6)])
def test_some_rows_of_a_set_keep_their_classes_and_numbers(rows):
    data = load_iris()
    part = data.take(rows)
    assert_array_equal(part.X, data.X[rows])
    assert_array_equal(part.y, data.y[rows])
    assert_array_equal(data.X[part.extras["rows"]], part.X)
    assert (part.target_names, part.feature_names) == (data.target_names, data.feature_names)


def test_some_rows_of_texts():
    data = Dataset("poems", ["a", "b", "c"], np.array([0, 1, 0]))
    assert data.take([2, 0]).X == ["c", "a"]


def test_the_checksum_sees_every_value():
    data = load_iris()
    assert data.checksum() == load_iris().checksum()
    X, y = data.X.copy(), data.y.copy()
    X[3, 2] = np.nextafter(X[3, 2], 9)
    y[0] = 1
    others = [Dataset("iris", X, data.y), Dataset("iris", data.X, y), Dataset("iris", data.X)]
    assert len({other.checksum() for other in [data, *others]}) == 4
