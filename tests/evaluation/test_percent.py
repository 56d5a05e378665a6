"""Shares as people read them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.evaluation import percent


@pytest.mark.parametrize(
    ("share", "printed"),
    [
        (0, "0%"),
        (1, "100%"),
        (0.995, "99%"),
        (0.004, "<1%"),
        (0.8, "80%"),
        (-1e-17, "0%"),
        (math.nan, "–"),
    ],
)
def test_a_share_is_printed_in_whole_percents(share, printed):
    assert percent(share) == printed


def test_digits_after_the_point_keep_the_same_promise():
    assert [percent(share, 1) for share in (0.9996, 0.0004, 0.5, 1.0)] == [
        "99.9%",
        "<0.1%",
        "50.0%",
        "100.0%",
    ]


@given(st.floats(0, 1), st.integers(0, 3))
def test_only_all_is_printed_as_100_percent_and_only_none_as_0(share, digits):
    printed = percent(share, digits)
    assert (float(printed.strip("<%")) == 100) == (share == 1)
    assert (float(printed.strip("<%")) == 0) == (share == 0)
