"""The positive part of a symmetric matrix."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.linalg import orthogonal_procrustes

from likewise.numerics.psd import drop_negative, fix_signs, n_leading, positive_part

SEEDS = st.integers(0, 10_000)


def draw_symmetric(seed, n=7):
    A = np.random.default_rng(seed).normal(size=(n, n))
    return A + A.T


def test_by_hand_two_of_three_directions_are_positive():
    part = positive_part(np.diag([3.0, -1.0, 2.0]))
    assert_allclose(part.values, [3, 2])
    assert_allclose(part.vectors, [[1, 0], [0, 0], [0, 1]])
    assert part.negative_share == pytest.approx(1 / 6)


def test_by_hand_trace_share_and_frobenius_share_count_differently():
    values = np.array(
        [8.0, 1.0, 1.0]
    )  # trace 10, Frobenius norm sqrt(66), sqrt(65) / sqrt(66) = .992
    assert n_leading(values, share=0.8) == 1
    assert n_leading(values, share=0.81) == 2
    assert n_leading(values, share=0.95) == 3
    assert n_leading(values, share=0.98, by="frobenius") == 1
    assert n_leading(values, share=0.99, by="frobenius") == 2


@settings(max_examples=25)
@given(SEEDS)
def test_positive_part_is_the_nearest_psd_matrix(seed):
    K = draw_symmetric(seed)
    nearest, _ = drop_negative(K)
    assert np.linalg.eigvalsh(nearest).min() >= -1e-10
    # Moreau: K = K+ - K-, both PSD and orthogonal to each other, certifies the projection.
    assert np.linalg.eigvalsh(nearest - K).min() >= -1e-10
    assert_allclose(np.vdot(nearest, nearest - K), 0, atol=1e-9)


@settings(max_examples=25)
@given(SEEDS)
def test_negative_share_is_the_mass_that_went_missing(seed):
    K = draw_symmetric(seed)
    nearest, share = drop_negative(K)
    singular = np.linalg.svd(K, compute_uv=False)
    assert share * singular.sum() == pytest.approx(np.trace(nearest) - np.trace(K), abs=1e-9)


@settings(max_examples=25)
@given(SEEDS, st.floats(0.05, 0.999))
def test_share_is_reached_and_with_one_direction_less_it_is_not(seed, share):
    A = np.random.default_rng(seed).normal(size=(8, 8))
    K = A @ A.T
    kept = positive_part(K, share=share).values
    assert kept.sum() >= share * np.trace(K) * (1 - 1e-12)
    assert kept[:-1].sum() < share * np.trace(K)


@settings(max_examples=25)
@given(SEEDS)
def test_renaming_the_rows_renames_the_result(seed):
    K = draw_symmetric(seed)
    order = np.random.default_rng(seed).permutation(len(K))
    assert_allclose(
        drop_negative(K[np.ix_(order, order)])[0],
        drop_negative(K)[0][np.ix_(order, order)],
        atol=1e-9,
    )


@settings(max_examples=20)
@given(SEEDS, st.floats(1e-6, 1e6))
def test_scaling_scales_the_values_and_nothing_else(seed, factor):
    K = draw_symmetric(seed)
    part, scaled = positive_part(K), positive_part(factor * K)
    assert_allclose(scaled.values, factor * part.values, rtol=1e-8)
    assert_allclose(scaled.vectors, part.vectors, atol=1e-6)
    assert scaled.negative_share == pytest.approx(part.negative_share)


def test_rounding_is_dropped_from_a_matrix_of_low_rank():
    A = np.random.default_rng(0).normal(size=(30, 4))
    part = positive_part(A @ A.T)
    assert part.vectors.shape == (30, 4)
    root = part.vectors * np.sqrt(part.values)
    turn, _ = orthogonal_procrustes(root, A)
    assert_allclose(root @ turn, A, atol=1e-10)
    assert part.negative_share < 1e-12


@pytest.mark.parametrize("K", [np.zeros((3, 3)), -np.eye(3)])
def test_a_matrix_without_positive_part_has_rank_zero(K):
    part = positive_part(K)
    assert part.vectors.shape == (3, 0)
    assert part.values.shape == (0,)
    assert part.negative_share == (1.0 if K.any() else 0.0)


def test_signs_are_fixed_by_the_largest_entry():
    assert_allclose(fix_signs(np.array([[1.0, 2.0], [-3.0, 1.0]])), [[-1, 2], [3, 1]])


@pytest.mark.parametrize("wrong", [{"share": 0.0}, {"share": 1.5}, {"by": "rank"}])
def test_wrong_rules_are_named(wrong):
    with pytest.raises(ValueError, match=f"{next(iter(wrong))}="):
        positive_part(np.eye(2), **wrong)
