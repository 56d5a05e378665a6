"""The tables of rao2013 and the sessions, on small data, in seconds."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import make_blobs

from experiments import ssc
from experiments.runs import find_tables, reproduce
from likewise.constraints import Constraints


@pytest.fixture
def small(monkeypatch):
    """Blobs instead of images, and few pairs."""
    X, y = make_blobs(400, n_features=6, centers=4, cluster_std=3.0, random_state=0)
    monkeypatch.setattr(ssc, "SPLITS", {"mnist": (5, 20)})
    monkeypatch.setattr(ssc, "load_images", lambda data: (X, y))
    monkeypatch.setattr(ssc, "N_SELECT", 3)
    monkeypatch.setattr(ssc, "POOL", 15)
    monkeypatch.setattr(ssc, "SESSIONS", {"wine": 178})
    monkeypatch.setattr(ssc, "N_ANSWERS", 10)
    monkeypatch.setattr(ssc, "REFIT", 5)
    monkeypatch.setattr(ssc, "AFTER", (5, 10))
    ssc.score_method.cache_clear()
    ssc.select.cache_clear()
    yield
    ssc.score_method.cache_clear()
    ssc.select.cache_clear()


def test_pairs_come_from_training_rows_and_all_rows_are_clustered(small):
    X, y, n_train = ssc.load_split("mnist", 0)
    assert n_train == 20
    assert len(X) == len(y) == 4 * 25
    assert_array_equal(np.bincount(y[:n_train]), [5] * 4)
    found = ssc.select("mnist", "SSC-active", 0)
    assert found.constraints.touched_rows().max() < n_train
    assert len(found.labels) == len(y)


@pytest.mark.parametrize("method", ssc.METHODS)
def test_every_method_has_a_figure_for_every_table(small, method):
    scores = ssc.score_method("mnist", method, 0)
    assert set(scores) == set(ssc.MEASURES)
    assert 0.5 < scores["Rand"] <= 1
    assert 0 < scores["F1"] <= 1
    assert scores["error"] > 0


def test_judged_by_the_test_images_no_choice_is_better_on_them(small):
    scores = {
        job: ssc.run_quality(data="mnist", strategy=job[0], quality=job[1], seed=0)
        for job in (*ssc.JUDGED, ("SSC-active", "agreement"))
    }
    for strategy in ("SSC-active", "as printed"):
        best = scores[strategy, "test images"]["Rand"]
        assert best >= max(one["Rand"] for job, one in scores.items() if job[0] == strategy)
    assert (
        scores["SSC-active", "agreement"]["F1"] == ssc.score_method("mnist", "SSC-active", 0)["F1"]
    )


def test_a_pool_is_no_larger_than_there_are_pairs():
    pool = ssc.draw_pool(np.array([0, 0, 1, 1, 2, 2]), 0)
    assert len(pool.must_link) == 3
    assert len(pool.cannot_link) == 12


def test_published_figures_stand_next_to_ours():
    cell = {"data": "mnist", "measure": "F1", "method": "SSC-active"}
    assert ssc.published(cell) == ".621"
    assert ssc.published(cell | {"data": "usps_roweis11000"}) == ""
    assert ssc.published({"data": "mnist", "measure": "error", "method": "MPCK-Means"}) == ""


def test_a_careful_annotator_is_right_and_a_hasty_one_now_and_then_not():
    y, rng = np.array([0, 0, 1]), np.random.RandomState(0)
    assert ssc.answer(y, (0, 1), "careful", rng) is True
    assert ssc.answer(y, (0, 2), "careful", rng) is False
    said = [ssc.answer(y, (0, 1), "hasty", rng) for _ in range(2000)]
    assert 0.07 < said.count(None) / 2000 < 0.13
    assert 0.07 < said.count(False) / 2000 < 0.13


def test_a_session_asks_one_question_an_answer_and_learns_as_it_goes(small, monkeypatch):
    heard = []

    def learn(X, said, n_clusters, seed):
        heard.append(said)
        return original(X, said, n_clusters, seed)

    original = ssc.learn
    monkeypatch.setattr(ssc, "learn", learn)
    X, y = ssc.load_session("wine", 0)
    steps = list(ssc.hold_session(X, y, "expected-change", "careful", 0))
    assert [n for n, _ in steps] == [0, 5, 10]
    assert [said.n_answers for said in heard] == [0, 5, 10]
    pairs, sign = heard[-1].signed_pairs()
    assert_array_equal(y[pairs[:, 0]] == y[pairs[:, 1]], sign > 0)
    assert isinstance(heard[-1], Constraints)


def test_sessions_are_compared_with_random_questions(small, tmp_path, monkeypatch):
    monkeypatch.setattr(ssc, "STRATEGIES", ("expected-change", "random"))
    table = next(table for table in find_tables("ssc")["ssc"] if table.name == "sessions")
    cells = [{"data": "wine", "strategy": name, "annotator": "careful"} for name in ssc.STRATEGIES]
    small_table = type(table)(
        **{
            **vars(table),
            "cells": lambda: cells,
            "measures": ("ARI after 5", "ARI after 10"),
            "data": tuple,
        }
    )
    monkeypatch.setattr(ssc, "TABLES", (small_table,))
    told = []
    reproduce("ssc", n_runs=2, results=tmp_path, say=told.append)
    assert "Better than random by more than a standard error on wine" in told[0]
    assert "| wine | careful |" in told[0]
