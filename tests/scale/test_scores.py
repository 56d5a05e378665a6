"""Scores over blocks are the scores in memory."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from likewise import Constraints, evaluation, scale


@pytest.fixture
def made():
    rng = np.random.RandomState(0)
    y = np.arange(120) % 3
    Z = rng.normal(size=(120, 4)) + y[:, None]
    return Z, y, scale.as_blocks(Z, block_rows=17)


@given(st.integers(0, 10_000), st.integers(1, 40))
@settings(max_examples=15)
def test_against_all_rows_it_is_j(seed, block_rows):
    rng = np.random.RandomState(seed)
    Z, y = rng.normal(size=(40, 3)), rng.randint(0, 3, 40)
    blocks = scale.as_blocks(Z, block_rows=block_rows)
    assert_allclose(scale.separation_score(blocks, y), evaluation.separation_score(Z, y))


def test_against_a_sample_it_is_near_j(made):
    Z, y, blocks = made
    exact = evaluation.separation_score(Z, y)
    some = [scale.separation_score(blocks, y, n_rows=40, random_state=seed) for seed in range(20)]
    assert np.std(some) > 0
    assert abs(np.mean(some) - exact) < 3 * np.std(some) / np.sqrt(20) + 0.005


def test_the_error_of_clusters_is_that_in_memory_also_of_mapped_rows(made):
    Z, y, blocks = made
    assert_allclose(scale.kmeans_error(blocks, y), evaluation.kmeans_error(Z, y))
    twice = blocks.map(lambda rows: 2 * rows, 4)
    assert_allclose(scale.kmeans_error(twice, y), 4 * evaluation.kmeans_error(Z, y))


def test_answers_are_judged_by_the_rows_they_refer_to(made):
    Z, y, blocks = made
    answers = Constraints.from_labels(y, n_pairs=20, n_odd_one_out=20, random_state=0)
    labels = np.roll(y, 1)
    labels[:60] = y[:60]
    ours = scale.satisfaction_report(blocks, answers, labels)
    theirs = evaluation.satisfaction_report(Z, answers, labels)
    assert ours.share == theirs.share


def test_scores_of_other_rows_are_refused(made):
    _, y, blocks = made
    for score in (scale.separation_score, scale.kmeans_error):
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            score(blocks, y[1:])
