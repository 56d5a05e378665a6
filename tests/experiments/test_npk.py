"""The experiments of hoi2007, on made data, in seconds."""

import os

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import KMeans
from sklearn.metrics import rand_score

from experiments import npk
from experiments.drawn_answers import draw_components
from experiments.runs import find_tables, reproduce
from likewise.constraints import Constraints
from likewise.datasets import Dataset, make_double_spiral
from likewise.kernels import linear
from tests.clarabel import ALMOST


@pytest.fixture
def small(monkeypatch):
    """Made sets alone, and few starts."""
    monkeypatch.setattr(npk, "FETCHED", ())
    monkeypatch.setattr(npk, "SETS", tuple(npk.MADE))
    monkeypatch.setattr(npk, "N_STARTS", 3)


def test_the_accuracy_of_plain_k_means_is_that_of_scikit_learn(small):
    X, y = npk.load("chessboard", 0)
    starts = npk.draw_starts(y, 0)[:1]
    labels = npk.cluster(linear(X), starts, None)
    theirs = KMeans(2, init=X[starts[0]], n_init=1, max_iter=300).fit(X)
    assert_allclose(rand_score(y, labels), rand_score(y, theirs.labels_))


@pytest.mark.parametrize("method", npk.METHODS)
def test_every_bar_is_an_accuracy_and_must_links_hold(small, method):
    X, y = npk.load("double_spiral", 0)
    answers = draw_components(y, "much", random_state=0)
    starts = npk.draw_starts(y, 0)
    K = npk.METHODS[method](X, answers, starts, 0)
    labels = npk.cluster(K, starts, answers)
    assert_array_equal(labels[answers.must_link[:, 0]], labels[answers.must_link[:, 1]])
    score = npk.run_bar(data="double_spiral", amount="much", method=method, seed=0)["accuracy"]
    assert 0.4 < score <= 1


def test_the_exact_kernel_untwists_the_spirals_and_k_means_does_not(small):
    def score(method):
        return npk.run_bar(data="double_spiral", amount="much", method=method, seed=0)["accuracy"]

    assert score("+ NPK") > 0.9 > 0.6 > score("constrained")


def test_the_stall_is_measured_against_the_optimum(small):
    found = npk.run_stall(data="double_spiral", pairs=20, delta=0.1, seed=0)
    assert tuple(found) == npk.STALL_MEASURES
    assert found["dual over the optimum"] < 1 < found["primal over the optimum"]


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")  # tests/clarabel.py
def test_solvers_are_timed_on_one_problem_and_agree_where_they_claim_the_optimum():
    pytest.importorskip("cvxpy")
    data = make_double_spiral(16, random_state=0)
    answers = Constraints.from_labels(data.y, n_pairs=10, random_state=0)
    values = {name: solve(data.X, answers, 0) for name, solve in npk.SOLVERS.items()}
    assert_allclose(values["SDP by Clarabel"], values["exact"], rtol=2 * ALMOST)
    assert values["SMO"] > 1.001 * values["exact"]
    timed = npk.run_timed(rows=30, solver="exact", seed=0)
    assert timed["CPU seconds"] > 0
    assert 0 <= timed["above the optimum"] <= 1e-7


@pytest.mark.parametrize(
    ("a", "b", "distance"),
    [("kitten", "sitting", 3), ("", "abc", 3), ("same", "same", 0), ("abc", "acb", 2)],
)
def test_edit_distances_are_levenshteins(a, b, distance):
    found = npk.edit_distances([a or "-", b, "x"])
    assert found[0, 1] == found[1, 0] == distance
    assert found[0, 0] == 0


def test_a_subject_is_its_line_without_re():
    assert npk.subject_of("From: x\nSubject: Re: RE: Old Cars\nLines: 3") == "old cars"
    assert npk.subject_of("no header") == "-"


def test_strings_cluster_by_their_edit_similarity(monkeypatch):
    rng = np.random.RandomState(0)
    posts, y = [], []
    for label, word in enumerate(("mellifluous", "carbuncle")):
        for _ in range(10):
            letters = list(word)
            letters[rng.randint(len(letters))] = "x"
            letters += [chr(97 + code) for code in rng.randint(0, 26, rng.randint(0, 9))]
            posts.append(f"Subject: {''.join(letters)}\n")
            y.append(label)
    data = Dataset("posts", np.array(posts), np.array(y), target_names=npk.GROUPS[:2])
    monkeypatch.setattr(npk, "fetch", lambda name: data)
    npk.subject_similarity.cache_clear()
    for method in npk.STRING_METHODS:
        assert npk.run_strings(amount="much", method=method, seed=0)["accuracy"] > 0.6
    npk.subject_similarity.cache_clear()


@pytest.mark.data
@pytest.mark.skipif("LIKEWISE_DATA" not in os.environ, reason="LIKEWISE_DATA is not set")
def test_the_similarity_of_real_subject_lines_is_indefinite():
    npk.subject_similarity.cache_clear()
    S, y = npk.subject_similarity()
    assert S.shape == (240, 240)
    assert len(np.unique(y)) == 4
    assert np.linalg.eigvalsh(S)[0] < -1


def test_tables_are_printed_drawn_and_resumed(small, monkeypatch, tmp_path):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(npk, "TIMED_ROWS", (40,))
    monkeypatch.setattr(npk, "MOST_ROWS_OF_SDP", 0)
    monkeypatch.setattr(npk, "AMOUNTS", ("much",))
    for name in ("figure1", "figure2", "figure3"):
        told = []
        reproduce("npk", name, results=tmp_path, n_runs=1, say=told.append)
        assert any("| runs |" in text for text in told)
        assert (tmp_path / "npk" / f"{name}.svg").stat().st_size > 1000
    assert len(find_tables("npk")["npk"]) == 5
