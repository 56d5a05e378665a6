"""Pictures in the page, read back by another program."""

import base64
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal

from likewise.files.png_file import brightness_range, png
from likewise.report.picture import MAX_SIDE, check_images, data_uri

Image = pytest.importorskip("PIL.Image", reason="pillow reads the pictures back")


def opened(uri):
    start, _, body = uri.partition(",")
    assert start == "data:image/png;base64"
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(body))))


@given(
    hnp.arrays(np.uint8, st.tuples(st.integers(1, 9), st.integers(1, 9)))
    | hnp.arrays(np.uint8, st.tuples(st.integers(1, 9), st.integers(1, 9), st.just(3)))
)
def test_a_png_holds_the_very_pixels_it_was_made_of(pixels):
    assert_array_equal(np.asarray(Image.open(io.BytesIO(png(pixels)))), pixels)


def test_brightness_is_fixed_for_bytes_and_shares_and_found_for_the_rest():
    assert brightness_range(np.array([[[3, 9]]], dtype=np.uint8)) == (0, 255)
    assert brightness_range(np.array([[[0.2, 0.4]]])) == (0, 1)
    assert brightness_range(np.array([[[-2.0, 6.0, np.nan, np.inf]]])) == (-2, 6)
    assert brightness_range(np.full((1, 2, 2), 7.0)) == (7, 8)
    assert brightness_range(np.full((1, 2, 2), np.nan)) == (0, 1)


def test_numbers_become_gray_between_darkest_and_lightest_and_nan_is_dark():
    image = np.array([[-2.0, 6.0], [2.0, np.nan]])
    assert_array_equal(opened(data_uri(image, (-2.0, 6.0))), [[0, 255], [128, 0]])


def test_a_large_picture_is_averaged_down_and_keeps_its_shape():
    image = np.zeros((4 * MAX_SIDE, 2 * MAX_SIDE))
    image[:, MAX_SIDE:] = 1.0
    small = opened(data_uri(image, (0.0, 1.0)))
    assert small.shape == (MAX_SIDE, MAX_SIDE // 2)
    assert_array_equal(small[:, : MAX_SIDE // 4], 0)
    assert_array_equal(small[:, MAX_SIDE // 4 :], 255)
    checkered = np.indices((MAX_SIDE + 1, MAX_SIDE + 1, 3)).sum(axis=0) % 2
    assert_allclose(opened(data_uri(checkered, (0, 1)))[:-1, :-1], 128)


@pytest.mark.parametrize("shape", [(4, 8, 8), (5, 8), (5, 8, 8, 4), (5, 0, 8)])
def test_pictures_of_the_wrong_shape_are_refused(shape):
    with pytest.raises(ValueError, match=r"images has shape .* must be \(5, h, w\)"):
        check_images(np.zeros(shape), 5)


def test_images_must_be_numeric():
    with pytest.raises(ValueError, match="must be numeric"):
        check_images(np.full((1, 2, 2), "x"), 1)
