"""What is concluded from the runs of GuidedClustering, on records made up for it."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from experiments import guided
from likewise.constraints import Constraints
from likewise.datasets import load_wine


def record(data, method, ari, **more):
    return {"data": data, "method": method, "ARI": str(ari), guided.FREE: "nan", **more}


def test_a_set_is_hurt_when_it_falls_a_standard_error_below_the_better_baseline():
    runs = {"k-means": (0.5, 0.5), "no answers": (0.3, 0.3), "guided": (0.4, 0.44)}
    records = [record("a", name, ari) for name, aris in runs.items() for ari in aris]
    records += [record("b", name, max(aris)) for name, aris in runs.items() for _ in range(2)]
    records += [record("c", name, {"guided": 0.9}.get(name, 0.1)) for name in runs]
    better, hurt, n_sets = guided.compare(records, "ARI")
    assert n_sets == 3
    assert better == pytest.approx(1 / 3)
    assert hurt == ["a -0.080", "b -0.060"]


def test_within_a_standard_error_is_not_hurt():
    records = [record("a", "k-means", 0.5)] * 2 + [record("a", "no answers", 0.5)] * 2
    records += [record("a", "guided", 0.3), record("a", "guided", 0.6)]
    assert guided.compare(records, "ARI") == (0.0, [], 1)


def test_both_halves_of_the_sets_are_reported_separately(monkeypatch):
    monkeypatch.setattr(guided, "TUNED_ON", ("a",))
    more = {"kind": "pairs", "answers": "10"}
    records = [
        record(data, method, 0.9 if (data, method) == ("a", "guided") else 0.5, **more)
        for data in "ab"
        for method in guided.METHODS
    ]
    rows = guided.compare_harm(records).rows
    assert ["tuned on", "10", "pairs", "all", "1", "100%", "none"] in rows
    assert ["other", "10", "pairs", "all", "1", "0%", "none"] in rows


def test_rivals_name_the_sets_that_fall_short(monkeypatch):
    monkeypatch.setattr(guided, "TUNED_ON", ("a", "c"))
    aris = {"a": 0.9, "b": 0.7, "c": 0.47}
    records = [record(data, "ITML", 0.5) for data in aris]
    records += [record(data, "guided", ari) for data, ari in aris.items()]
    text = guided.conclude_rivals(records)
    assert "Sets tuned on: above ITML on 1 of 2; more than .02 below it on c -0.030." in text
    assert "Sets other: above ITML on 1 of 1; more than .02 below it on none." in text


def test_counts_are_right_or_near(monkeypatch):
    monkeypatch.setattr(guided, "COUNTED", ("100 pairs",))
    monkeypatch.setattr(guided, "TUNED_ON", ("a",))
    records = [
        {"data": "a", "answers": "100 pairs", "clusters": str(k), "classes": "3"}
        for k in (3, 4, 7, 3)
    ]
    for one in records:
        one["right"] = str(float(one["clusters"] == one["classes"]))
    assert guided.conclude_counts(records) == ["Right in this share of runs: 100 pairs 50%."]
    assert guided.compare_counts(records).rows == [
        ["tuned on", "100 pairs", "4", "50%", "75%", "38%"]
    ]


def test_wrong_pairs_are_those_the_labels_contradict():
    told = Constraints(4, must_link=[(0, 1), (0, 2)], cannot_link=[(0, 3), (2, 3)])
    assert_array_equal(guided.wrong_pairs(told, np.array([0, 0, 1, 1])), [False, True, False, True])


def test_precision_and_recall_by_hand():
    is_wrong = np.array([True, True, False, False])
    found = guided.precision_and_recall(np.array([0, 2]), is_wrong)
    assert found == {"precision": 0.5, "recall": 0.5}


def test_a_small_run_of_each_kind_scores_between_0_and_1(monkeypatch):
    monkeypatch.setattr(guided, "MOST_ROWS", 60)
    guided.thinned.cache_clear()
    try:
        scores = [
            guided.run_harm(data="iris", kind=kind, answers=10, method=method, seed=0)["ARI"]
            for kind in guided.KINDS
            for method in guided.METHODS
        ]
        scores += [
            guided.run_rival(data="iris", method=method, seed=0)["ARI"] for method in guided.RIVALS
        ]
        scores += [
            guided.run_count(data="iris", answers=answers, seed=0)["ARI"]
            for answers in ("30 pairs", "20 clicks")
        ]
        assert all(0.2 < score <= 1 for score in scores)
    finally:
        guided.thinned.cache_clear()
        guided.plain_labels.cache_clear()
        guided.own_labels.cache_clear()


def test_what_clicks_and_permuted_answers_come_to():
    clicks = [
        {"clicks": str(n), "method": "guided", "ARI": str(ari)}
        for n, ari in zip(guided.CLICKS, (0.7, 0.8, 0.9))
    ]
    text = "Mean of the sets, guided: 30 clicks 0.700, 50 clicks 0.800, 100 clicks 0.900."
    assert guided.conclude_clicks(clicks) == [text]
    learned = [{"learned": str(value)} for value in (0.0, 0.0, 0.0, 1.0)]
    assert guided.conclude_permuted(learned) == ["Something is learned in 25.0% of 4 fits."]


def test_clicked_rows_are_as_many_as_clicks_and_carry_their_classes():
    X, y, known = guided.click("digits", 30, seed=100)
    assert len(X) == len(y) == len(known) == 1000
    assert 25 <= np.count_nonzero(known >= 0) <= 30
    assert_array_equal(known[known >= 0], y[known >= 0])


def test_permuted_labels_of_wine_change_no_cluster(monkeypatch):
    wine = load_wine()
    monkeypatch.setattr(guided, "load", lambda name: (wine.X, np.asarray(wine.y)))
    learned = guided.run_permuted(data="wine", kind="labels", answers=60, seed=3)
    assert learned == {"learned": 0.0}
