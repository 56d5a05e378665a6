"""Where clusters start: from labels, from answers, from codes."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import adjusted_rand_score

torch = pytest.importorskip("torch")

from likewise import Constraints  # noqa: E402
from likewise.deep import DeepConstrainedClustering, TrainingPlan, losses, starts  # noqa: E402
from likewise.deep.self_supervision import encode_rows, start_state  # noqa: E402
from tests.deep.problems import draw_blobs  # noqa: E402

LIKELY = TrainingPlan.named("likelihood", pretraining_epochs=1, max_epochs=3)
SMALL = {"encoder": (8, 6), "training": LIKELY, "device": "cpu", "random_state": 0}


def test_rows_without_a_label_do_not_count():
    q = torch.tensor([[0.25, 0.75], [0.5, 0.5], [0.9, 0.1]])
    by_hand = -(math.log(0.75) + math.log(0.9)) / 2
    assert float(losses.label_loss(q, torch.tensor([1, -1, 0]))) == pytest.approx(by_hand)
    assert float(losses.label_loss(q, torch.full((3,), -1))) == 0


@given(st.integers(0, 1000))
def test_the_gradient_of_labels_is_that_of_finite_differences(seed):
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(5, 3, generator=generator, dtype=torch.float64, requires_grad=True)
    labels = torch.randint(-1, 3, (5,), generator=generator)
    assert torch.autograd.gradcheck(
        lambda z: losses.label_loss(torch.softmax(z, dim=1), labels), (logits,)
    )


@given(st.integers(0, 1000), st.integers(2, 60))
def test_as_many_pairs_are_spread_as_fit_and_no_more(seed, most_rows):
    y = np.random.RandomState(seed).randint(3, size=80)
    answers = Constraints.from_labels(y, n_pairs=40, n_closer=5, random_state=seed)
    kept = starts.fitting_pairs(starts.pairs_with_weight(answers), most_rows, seed)
    n_touched = len(kept.touched_rows())
    assert n_touched <= most_rows
    assert not len(kept.closer)
    if kept.n_answers < 40:  # the next pair would have brought up to two more rows
        assert n_touched >= most_rows - 1
    both = {tuple(pair) for pair in np.concatenate([answers.must_link, answers.cannot_link])}
    assert {tuple(pair) for pair in kept.signed_pairs()[0]} <= both


def test_pairs_without_weight_start_nothing():
    answers = Constraints(5, must_link=[(0, 1)], cannot_link=[(1, 2)], weights=[0.0, 0.0])
    assert not starts.pairs_with_weight(answers).n_answers


def begin(X, answers, init_labels=None, **more):
    state = start_state(X, (8, 6), None, 3, "cpu", 0)
    rows = torch.as_tensor(X)
    starts.start_clusters(state, rows, answers, 3, init_labels, **more)
    return state, encode_rows(state.network, rows)


def test_centers_are_the_directions_of_the_labels_that_were_given():
    X, y = draw_blobs()
    labels = np.where(np.arange(60) < 40, y, -1)
    state, codes = begin(X, Constraints(60), labels)
    for cluster in range(3):
        mean = codes[torch.as_tensor(labels == cluster)].sum(dim=0)
        assert_allclose(state.network.centers[cluster].detach(), mean / mean.norm(), atol=1e-5)
    assert_array_equal(state.start, labels)


def test_labels_come_from_the_answers_for_the_rows_of_the_graph_only(monkeypatch):
    X, y = draw_blobs(spread=0.5)
    answers = Constraints.from_labels(y, n_pairs=30, random_state=0)
    monkeypatch.setattr(starts, "GRAPH_ROWS", 40)
    fitting = starts.fitting_pairs(answers, 32, 0)  # of 40 rows, four fifths
    assert 15 <= fitting.n_answers < 30
    state, _ = begin(X, answers)
    known = state.start.numpy() >= 0
    assert 40 <= known.sum() < 60  # rows of answers, and half as many others at least
    assert adjusted_rand_score(y[known], state.start.numpy()[known]) > 0.9


def test_a_graph_that_holds_less_than_half_of_the_pairs_starts_nothing(monkeypatch):
    X, y = draw_blobs(spread=0.5)
    answers = Constraints.from_labels(y, n_pairs=30, random_state=0)
    monkeypatch.setattr(starts, "GRAPH_ROWS", 20)
    assert 0 < starts.fitting_pairs(answers, 16, 0).n_answers < 15
    state, _ = begin(X, answers)
    assert (state.start == -1).all()
    without, _ = begin(X, Constraints(60))
    assert_array_equal(state.network.centers.detach(), without.network.centers.detach())


def test_without_answers_nothing_is_learned_from_the_start():
    X, _ = draw_blobs()
    state, _ = begin(X, Constraints(60))
    assert (state.start == -1).all()
    assert_allclose(state.network.centers.detach().norm(dim=1), 1, rtol=1e-5)


def test_from_nothing_centers_are_at_right_angles_and_no_row_has_a_label():
    X, y = draw_blobs()
    state, _ = begin(X, Constraints.from_labels(y, n_pairs=30, random_state=0), from_nothing=True)
    centers = state.network.centers.detach()
    assert_allclose(centers @ centers.T, np.eye(3), atol=1e-6)
    assert (state.start == -1).all()
    many = starts.draw_centers(9, torch.zeros(1, 4), torch.Generator().manual_seed(0))
    assert many.shape == (9, 4)
    assert (many.norm(dim=1) > 0).all()


def test_labels_that_were_given_are_started_from_however_many_pairs_there_are():
    X, y = draw_blobs()
    state, _ = begin(X, Constraints(60), y, from_nothing=True)
    assert_array_equal(state.start, y)


def test_pairs_are_enough_alone_if_must_links_are_many_and_the_graph_holds_too_few(monkeypatch):
    y = np.repeat([0, 1, 2], 40)
    answers = Constraints.from_labels(y, n_must_link=45, n_cannot_link=60, random_state=0)
    assert not starts.are_enough_alone(answers, 3)  # the graph holds them all
    monkeypatch.setattr(starts, "GRAPH_ROWS", 50)
    assert starts.are_enough_alone(answers, 3)
    assert not starts.are_enough_alone(answers, 4)  # 45 must-links, 60 needed
    weightless = Constraints(
        120,
        must_link=answers.must_link,
        cannot_link=answers.cannot_link,
        weights=np.zeros(answers.n_answers),
    )
    assert not starts.are_enough_alone(weightless, 3)


def test_clusters_that_are_given_are_learned_first():
    X, y = draw_blobs(spread=6.0)
    plan = TrainingPlan.named(
        "likelihood", pretraining="none", max_epochs=40, learning_rate=0.02, contrast_weight=0.0
    )
    model = DeepConstrainedClustering(3, **{**SMALL, "training": plan})
    alone = adjusted_rand_score(y, model.fit(X).labels_)
    assert adjusted_rand_score(y, model.fit(X, init_labels=y).labels_) > alone + 0.1


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (np.zeros(3, int), r"init_labels has type int64 and shape \(3,\), not one int for each of"),
        (np.zeros(60), "init_labels has type float64"),
        (np.full(60, 3), r"init_labels\[0\] = 3 is neither -1 nor one of 3 clusters"),
    ],
)
def test_labels_that_do_not_fit_end_in_one_error(labels, words):
    X, _ = draw_blobs()
    with pytest.raises(ValueError, match=words):
        DeepConstrainedClustering(3, **SMALL).fit(X, init_labels=labels)
    angular = DeepConstrainedClustering(3, training="angular")
    with pytest.raises(ValueError, match="init_labels starts clusters by the likelihood, not by"):
        angular.fit(X, init_labels=np.zeros(60, int))
