"""Sessions of questions, measured on small data, in seconds."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import make_blobs

from experiments import asking
from experiments.runs import reproduce


@pytest.fixture
def small(monkeypatch):
    """Blobs instead of images, and few questions."""
    X, y = make_blobs(90, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    monkeypatch.setattr(asking, "draw_rows", lambda data, seed: (X, y))
    monkeypatch.setattr(asking, "CLICK_SETS", ("digits",))
    monkeypatch.setattr(asking, "GROUP_QUESTIONS", (8,))
    monkeypatch.setattr(asking, "PAIR_QUESTIONS", (20,))
    monkeypatch.setattr(asking, "COBRAS", {"digits": (0.75,)})
    asking.run_session.cache_clear()
    asking.run_rival.cache_clear()
    yield X, y
    asking.run_session.cache_clear()
    asking.run_rival.cache_clear()


def test_clusters_are_matched_to_classes_one_to_one():
    y = np.array([0, 0, 0, 1, 1, 1])
    assert asking.share_placed(y, np.array([1, 1, 1, 0, 0, 0])) == 1
    assert_allclose(asking.share_placed(y, np.array([1, 1, 2, 0, 0, 2])), 4 / 6)


def test_rows_that_belong_nowhere_are_not_placed():
    assert asking.share_placed(np.array([0, 0, 1, 1]), np.array([0, 0, -1, 1])) == 0.75


def test_a_session_finds_clusters_that_lie_apart(small):
    groups = asking.run_groups(data="digits", people="careful", questions=8, seed=0)
    pairs = asking.run_pairs(data="digits", method="session", questions=20, seed=0)
    assert groups["ARI"] == pairs["ARI"] == groups["placed"] == 1
    assert pairs["rows shown"] == 40


def test_rivals_answer_as_many_pairs(small):
    y = small[1]
    told = asking.answer_pairs([(0, 1), (2, 3)], y)
    assert told.n_answers == 2
    for method in asking.RIVALS[1:]:
        measures = asking.run_pairs(data="digits", method=method, questions=20, seed=0)
        assert measures["rows shown"] == 40
        assert -1 <= measures["ARI"] <= 1


def test_intervals_are_counted_where_they_hold():
    records = [
        {"placed": "0.9", "low": "0.8", "high": "1.0"},
        {"placed": "0.5", "low": "0.6", "high": "0.8"},
    ]
    assert asking.conclude_intervals(records) == [
        "The 90 % interval holds the share of rows placed rightly in 50% of 2 cases; mean width "
        "0.200."
    ]


def test_every_set_counts_the_same_however_often_it_was_run():
    cell = {"people": "careful", "after": "30 questions", "placed": "1", "low": "0", "high": "1"}
    records = [
        {**cell, "data": "a", "ARI": "1.0"},
        {**cell, "data": "a", "ARI": "0.8"},
        {**cell, "data": "b", "ARI": "0.5"},
        {**cell, "data": "b", "ARI": "0.6", "people": "COBRAS"},
    ]
    lines = asking.conclude_labels(records)
    assert lines[0] == "Mean of the sets, careful people: 30 questions 0.700."
    assert lines[-1] == "COBRAS is ahead of careful people's pairs after 30 questions on b."


def test_labels_are_measured_by_questions_and_by_rows(small, monkeypatch):
    monkeypatch.setattr(asking, "ROWS_SHOWN", (10, 10_000))
    asking.run_quickly.cache_clear()
    cells = {"data": "digits", "people": "careful", "seed": 0}
    measures = {
        after: asking.run_labels(after=after, **cells)
        for after in ("8 questions", "10 rows", "10000 rows")
    }
    assert 10 - 4 < measures["10 rows"]["rows shown"] <= 10
    assert measures["10000 rows"] == measures["8 questions"]
    assert measures["8 questions"]["ARI"] == 1
    asking.run_quickly.cache_clear()


def test_the_tables_are_printed_beside_cobras(small, tmp_path, monkeypatch):
    monkeypatch.setattr(asking, "RIVALS", ("session",))
    lines = []
    reproduce("asking", "pairs", n_runs=1, results=tmp_path, docs=None, n_jobs=1, say=lines.append)
    text = "\n".join(map(str, lines))
    assert "Mean of the sets, session" in text
    assert "0.750" in text
