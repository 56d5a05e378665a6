"""What leaving out answers would change."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from likewise.constraints import Constraints
from likewise.report import influence
from likewise.report.influence import leave_out_each, rank_answers, spread_from

RNG = np.random.RandomState(0)
BLOBS = np.repeat([[0.0, 0], [20, 0], [40, 0]], 20, axis=0) + RNG.randn(60, 2)
LABELS = np.repeat([0, 1, 2], 20)


def test_the_only_answer_about_a_group_matters_more_than_one_of_many():
    c = Constraints(60, must_link=[(0, 1), (0, 2), (1, 2), (2, 3), (0, 3)], cannot_link=[(4, 45)])
    ranked = rank_answers(BLOBS, LABELS, c)
    assert ranked.positions[0] == 5
    assert ranked.n_moved[0] == 20  # nothing else says that the third group is one
    assert (ranked.n_moved[1:] == 0).all()
    assert ranked.n_judged == 6


def test_answers_set_aside_and_those_that_cannot_tell_change_nothing():
    c = Constraints(60, must_link=[(0, 1), (20, 21)], undecided=[(0, 20, 40)])
    assert_array_equal(rank_answers(BLOBS, LABELS, c, set_aside=[0]).positions, [1])
    assert len(rank_answers(BLOBS, LABELS, Constraints(60)).positions) == 0


def test_leaving_out_by_columns_is_leaving_out_and_spreading_again():
    answered = [[0, 25], [0, 41], [3, 4]]
    counts = np.bincount(np.concatenate(answered), minlength=60)
    spread = spread_from(BLOBS * 0.1, np.flatnonzero(counts))
    _, shifts = leave_out_each(spread, LABELS, counts, answered)

    def memberships(kept):
        n = np.bincount(np.concatenate(kept), minlength=60)
        carried = np.zeros((60, 3))
        carried[np.arange(60), LABELS] = n / (n + 1)
        shares = np.maximum(spread @ carried, 1e-12)
        return shares / shares.sum(axis=1, keepdims=True)

    for i in range(3):
        change = memberships(answered) - memberships([*answered[:i], *answered[i + 1 :]])
        assert_allclose(shifts[i], np.abs(change).sum() / 2, atol=1e-6)


def test_sparse_rows_and_many_rows_are_ranked_by_a_sample(monkeypatch):
    monkeypatch.setattr(influence, "MAX_ROWS", 30)
    monkeypatch.setattr(influence, "MAX_ANSWERS", 2)
    c = Constraints(60, must_link=[(0, 1), (20, 21), (40, 41)])
    ranked = rank_answers(sparse.csr_matrix(BLOBS), LABELS, c)
    assert ranked.n_judged == 2
    assert (ranked.n_moved <= 60).all()
