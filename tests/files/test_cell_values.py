"""Cells as people read them."""

import numpy as np
import pytest

from likewise.files.cell_values import number_text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (51_500.0, "51500"),
        (51_500.25, "51500"),
        (-12_345.6, "-12346"),
        (999.96, "1000"),
        (3.0, "3"),
        (-0.0, "0"),
        (1.23456789, "1.235"),
        (0.00001234, "1.234e-05"),
        (1e20, "1e+20"),
        (np.float32(2.5), "2.5"),
        (np.inf, "inf"),
        (np.nan, ""),
    ],
)
def test_a_number_is_shown_as_people_write_it(number, text):
    assert number_text(number) == text
