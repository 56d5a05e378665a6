"""The first hundred answers, on records and answers made by hand."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from experiments import few_answers


def record(data, method, seed, score, free="nan", seconds="1"):
    return {
        **{"data": data, "answers": "30", "method": method, "seed": str(seed)},
        **{"ARI": str(score), few_answers.FREE: free, "CPU seconds": seconds},
    }


def records_of(data, **scores_by_method):
    return [
        record(data, method.replace("_", " ").replace("means", "k-means"), seed, score)
        for method, scores in scores_by_method.items()
        for seed, score in enumerate(scores)
    ]


def test_half_of_the_pairs_are_must_links_or_all_that_there_are():
    y = np.repeat([0, 1, 2], 20)
    assert few_answers.draw_pairs(y, 30, 0).must_link.shape == (15, 2)
    pairs = few_answers.draw_pairs(np.array([0, 0, 1, 1]), 30, 0)
    assert len(pairs.must_link) == 2
    assert len(pairs.cannot_link) == 4


def test_a_set_is_hurt_by_paired_differences_to_the_better_baseline():
    records = records_of("wine", means=[0.1, 0.1], no_answers=[0.5, 0.7], guided=[0.3, 0.4])
    # gaps -.2 and -.3: mean -.25, standard error .05
    assert_allclose(few_answers.hurt_sets(records, "ARI")["wine"], -5)


def test_one_run_hurts_nobody():
    records = records_of("wine", means=[0.1], no_answers=[0.5], guided=[0.3])
    assert few_answers.hurt_sets(records, "ARI") == {}


def test_the_gain_over_an_earlier_commit_is_paired_by_seed():
    records = records_of("wine", guided=[0.3, 0.4, 0.9])
    records += [
        record("wine", few_answers.BEFORE, seed, score) for seed, score in enumerate([0, 1])
    ]
    gained, before, n_seeds = few_answers.paired(records, "ARI", few_answers.BEFORE)["wine"]
    assert n_seeds == 2  # the third seed has no run before
    assert_allclose([gained, before], [0.35, 0.5])


def test_a_method_without_scores_leaves_its_cell_empty():
    part = records_of("wine", means=[0.1], no_answers=[0.2], guided=[0.3])
    cells = few_answers.sum_up_pairs(part, "ARI", ["k-means", "COBRAS", "guided"])
    assert cells[:4] == ["1", "0.100", "", "0.300"]


def test_calibration_errors_are_gaps_in_bins_by_their_share_of_rows():
    chances = np.array([0.95, 0.95, 0.95, 0.95, 0.55, 1.0])
    is_right = np.array([1.0, 1.0, 1.0, 0.0, 1.0, 1.0])
    # bins: five rows with chance .96 on average, .8 right; one row with .55, right
    assert_allclose(few_answers.calibration_error(chances, is_right), (5 * 0.16 + 0.45) / 6)


def test_memberships_from_pairs_about_two_blobs_are_sure_and_right(monkeypatch):
    y = np.repeat([0, 1], 40)
    X = np.random.RandomState(0).normal(size=(80, 2)) + 9 * y[:, None]
    monkeypatch.setattr(few_answers, "load", lambda data: (X, y))
    monkeypatch.setattr(few_answers, "N_PAIRS", 10)
    found = few_answers.run_sure_of_pairs(data="made", seed=0)
    assert found["right"] == 1
    assert_allclose(found["error"], 1 - found["sure"])
    assert 0 <= found["error about pairs"] < 0.2
    records = [{name: str(value) for name, value in found.items()}] * 2
    mean, about_pairs = few_answers.conclude_sure_of_pairs(records)
    assert f"{found['error']:.3f}" in mean
    assert f"{found['error about pairs']:.3f}" in about_pairs


def test_every_contestant_of_pairs_gets_the_same_rows_and_answers(monkeypatch):
    X = np.vstack([np.zeros((20, 2)), np.ones((20, 2))]) + np.random.RandomState(0).rand(40, 2) / 9
    y = np.repeat([0, 1], 20)
    monkeypatch.setattr(few_answers, "load", lambda data: (X, y))
    asked = {}

    def ask_cobras(X, y, after, seed):
        asked["after"] = after
        return np.array([y] * len(after))

    monkeypatch.setattr(few_answers, "ask_cobras", ask_cobras)
    few_answers.cobras_labels.cache_clear()
    found = few_answers.run_pairs(data="made", answers=30, method="COBRAS", seed=0)
    assert found["ARI"] == 1
    assert asked["after"] == few_answers.COUNTS
    assert few_answers.run_pairs(data="made", answers=30, method="ITML", seed=0)["ARI"] == 1
    few_answers.cobras_labels.cache_clear()


@pytest.mark.parametrize("falls", [0, 1])
def test_rounds_are_counted_over_all_sets(falls):
    records = [{"kind": "pairs", "rounds": "9", "falls": str(falls)}] * 2
    (sentence,) = few_answers.conclude_rounds(records)
    assert f"{2 * falls} of 18" in sentence


def test_published_scores_stand_beside_right_answers_only():
    cell = {"measure": "ARI", "wrong": "0.0", "data": "iris", "pairs": "28"}
    assert few_answers.published_pccc(cell) == "0.698"
    assert_array_equal([few_answers.published_pccc(cell | {"wrong": "0.1"})], [""])
