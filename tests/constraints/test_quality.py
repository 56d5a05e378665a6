import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from likewise.constraints import Constraints, coherence, informativeness
from likewise.constraints.quality import overlap

seeds = st.integers(0, 2**31 - 1)


def draw_pairs(seed, n=8, d=3):
    rng = np.random.RandomState(seed)
    pairs = [rng.choice(n, size=2, replace=False) for _ in range(rng.randint(2, 12))]
    half = rng.randint(1, len(pairs))
    c = Constraints(n, must_link=pairs[:half], cannot_link=pairs[half:])
    return rng, c, rng.randn(n, d)


def test_informativeness_counts_violated_pairs():
    c = Constraints(4, must_link=[(0, 1), (0, 2)], cannot_link=[(0, 3)], closer=[(0, 1, 2)])
    assert informativeness(c, [0, 0, 0, 1]) == 0
    assert informativeness(c, [0, 0, 1, 1]) == pytest.approx(1 / 3)
    assert informativeness(c, [0, 1, 1, 0]) == 1
    assert np.isnan(informativeness(Constraints(4), [0, 0, 0, 0]))


def test_overlap_by_hand():
    line = np.array([[[0.0, 0.0], [2.0, 0.0]]])
    segments = np.array(
        [
            [[1.0, 5.0], [4.0, 7.0]],  # covers the second half of the line
            [[2.0, 0.0], [3.0, 0.0]],  # touches its end
            [[1.0, 1.0], [1.0, 9.0]],  # perpendicular
            [[-1.0, 3.0], [5.0, 3.0]],  # covers all of it
        ]
    )
    assert_allclose(overlap(segments, line)[:, 0], [0.5, 0, 0, 1])
    no_length = np.zeros((1, 2, 2))
    assert_allclose(overlap(segments, no_length), 0)


def slow_coherence(c, Z):
    clear = 0
    for i, j in c.must_link:
        for k, l in c.cannot_link:
            pull = False
            for (p, q), (s, t) in (((i, j), (k, l)), ((k, l), (i, j))):
                direction = (Z[t] - Z[s]) / np.linalg.norm(Z[t] - Z[s])
                ends = sorted([(Z[p] - Z[s]) @ direction, (Z[q] - Z[s]) @ direction])
                length = np.linalg.norm(Z[t] - Z[s])
                pull |= min(ends[1], length) - max(ends[0], 0) > 1e-9
            clear += not pull
    return clear / (len(c.must_link) * len(c.cannot_link))


@given(seeds)
def test_coherence_is_that_of_the_plain_double_loop(seed):
    _, c, Z = draw_pairs(seed)
    assert coherence(c, Z) == pytest.approx(slow_coherence(c, Z))


@given(seeds)
def test_coherence_is_blind_to_rotation_shift_and_scale(seed):
    rng, c, Z = draw_pairs(seed)
    Q, _ = np.linalg.qr(rng.randn(3, 3))
    assert coherence(c, 7 * Z @ Q + rng.randn(3)) == pytest.approx(coherence(c, Z))


def test_coherence_of_one_kind_alone_is_undefined():
    assert np.isnan(coherence(Constraints(3, must_link=[(0, 1)]), np.eye(3)))
