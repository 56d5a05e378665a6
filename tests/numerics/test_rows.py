"""Rows to learn from, drawn from however many there are."""

import numpy as np
from numpy.testing import assert_array_equal

from likewise.numerics.rows import sample_rows


def test_a_few_of_very_many_rows_are_drawn_without_a_list_of_all(monkeypatch):
    forced = np.array([3, 999_999_999_999, 7])
    found = sample_rows(10**12, 500, forced, seed=0)  # a list of all would take 8 TB
    assert len(found) == len(np.unique(found)) == 500
    assert (np.diff(found) > 0).all()
    assert np.isin(forced, found).all()
    assert abs(found.mean() / 10**12 - 0.5) < 0.06  # 5 standard errors of a uniform draw
    assert_array_equal(found, sample_rows(10**12, 500, forced, seed=0))
    monkeypatch.setattr("likewise.numerics.rows.MANY", 100)
    small = sample_rows(1000, 10, np.arange(8), seed=0)
    assert_array_equal(small[:8], np.arange(8))
    assert len(np.unique(small)) == len(small) == 13  # half of those wanted, at the least
