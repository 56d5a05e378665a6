"""How far answers are trusted: by hand, by answers that are flipped, and by what it saves."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

torch = pytest.importorskip("torch")

from likewise import Constraints  # noqa: E402
from likewise.deep import (  # noqa: E402
    DeepConstrainedClustering,
    SelfSupervisedCodes,
    TrainingPlan,
    losses,
    starts,
    trials,
)
from likewise.deep.batches import answers_by_kind  # noqa: E402
from likewise.deep.fit_settings import read_settings  # noqa: E402
from likewise.deep.learning_from_answers import StepLoss, begin_clustering  # noqa: E402
from likewise.deep.self_supervision import Views, start_state  # noqa: E402
from tests.deep.problems import draw_blobs  # noqa: E402

LIKELY = TrainingPlan.named("likelihood", pretraining_epochs=1, max_epochs=4)


def test_an_answer_that_may_be_wrong_by_hand():
    sure, other = torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.0]])
    one = torch.ones(1)
    assert float(losses.overlap(sure, other, 0.2)) == pytest.approx(0.2)
    assert float(losses.overlap(sure, sure, 0.2)) == pytest.approx(0.8)
    contradicted = losses.must_link_loss(losses.overlap(sure, other, 0.2), one)
    assert float(contradicted) == pytest.approx(-math.log(0.2))


@given(st.integers(0, 1000), st.floats(0.05, 0.45))
def test_no_answer_pulls_harder_than_its_error_rate_allows(seed, error_rate):
    generator = torch.Generator().manual_seed(seed)
    together = torch.rand(5, generator=generator, dtype=torch.float64, requires_grad=True)
    q = torch.stack([together, 1 - together], dim=1)
    first = torch.tensor([[1.0, 0.0]], dtype=torch.float64).expand(5, 2)
    weights = torch.ones(5, dtype=torch.float64)
    losses.must_link_loss(losses.overlap(q, first, error_rate), weights).backward()
    assert (5 * together.grad.abs() <= (1 - 2 * error_rate) / error_rate * (1 + 1e-9)).all()


def test_the_smaller_share_of_contradicted_pairs_bounds_the_wrong_ones():
    q = np.eye(2)[[0, 0, 0, 1, 1, 1]]
    answers = Constraints(
        6, must_link=[(0, 1), (0, 3), (4, 5)], cannot_link=[(1, 2), (2, 4), (1, 5), (0, 5)]
    )
    # apart: one must-link of four; together: one cannot-link of three
    assert trials.most_wrong(q, answers) == pytest.approx(1 / 4)
    nothing_apart = Constraints(6, must_link=[(0, 1)], cannot_link=[(0, 2)])
    assert trials.most_wrong(q, nothing_apart) == 1 / 2
    assert trials.most_wrong(q, Constraints(6)) == 1


@given(st.integers(0, 1000), st.sampled_from([0.05, 0.1, 0.3]))
def test_clusters_that_are_not_quite_right_do_not_hide_flipped_answers(seed, share):
    rng = np.random.RandomState(seed)
    y = rng.randint(5, size=400)
    found = np.where(rng.uniform(size=400) < 0.1, rng.randint(5, size=400), y)
    clean = Constraints.from_labels(y, n_pairs=2000, random_state=seed)
    flipped = Constraints.from_labels(y, n_pairs=2000, noise=share, random_state=seed)
    q = np.eye(5)[found]
    assert trials.most_wrong(q, clean) < 0.075
    assert trials.most_wrong(q, flipped) > share - 0.03


@pytest.mark.parametrize(("noise", "expected"), [(0.0, 0.0), (0.2, trials.CAREFUL)])
def test_many_pairs_are_trusted_unless_held_out_ones_are_wrong(noise, expected, monkeypatch):
    X, y = draw_blobs()
    answers = Constraints.from_labels(y, n_pairs=200, noise=noise, random_state=0)
    asked = []

    def memberships(problem, settings, learned, at):
        asked.append((settings.error_rate, learned.n_answers))
        return np.eye(3)[y[at]]

    monkeypatch.setattr(trials.ShortRun, "memberships", memberships)
    model = DeepConstrainedClustering(3, encoder=(8, 6))
    settings = read_settings(model, LIKELY, *X.shape)
    state = start_state(X, (8, 6), None, 3, "cpu", 0)
    problem = trials.ShortRun(state, torch.as_tensor(X), answers, None, None)
    assert trials.choose_error_rate(problem, settings) == trials.CAREFUL  # the graph holds them
    assert asked == []
    monkeypatch.setattr(starts, "GRAPH_ROWS", 20)
    assert trials.choose_error_rate(problem, settings) == expected
    assert asked == [(trials.CAREFUL, 150)]
    own = replace(settings, error_rate=0.1)
    assert trials.choose_error_rate(problem, own) == 0.1
    begun = problem._replace(init_labels=y)
    assert trials.choose_error_rate(begun, settings) == trials.CAREFUL
    assert len(asked) == 1


def test_flipped_answers_do_not_take_the_clusters_away():
    X, y = load_digits(return_X_y=True)
    X, y = X[:600], y[:600]
    codes = SelfSupervisedCodes(
        image_shape=(8, 8), encoder=(8, 16), epochs=10, device="cpu", random_state=0
    ).fit(X)
    answers = Constraints.from_labels(y, n_pairs=400, noise=0.2, random_state=0)

    def score(**fields):
        plan = TrainingPlan.named("likelihood", max_epochs=8, **fields)
        model = DeepConstrainedClustering(
            10, image_shape=(8, 8), training=plan, init_model=codes, device="cpu", random_state=0
        ).fit(X, constraints=answers)
        assert model.plan_.error_rate == fields.get("error_rate", trials.CAREFUL)
        return adjusted_rand_score(y, model.labels_)

    assert score() > score(error_rate=0.0) + 0.1


def test_a_wrong_error_rate_ends_in_one_error():
    for error_rate in (-0.1, 0.5):
        with pytest.raises(ValueError, match="error_rate == "):
            TrainingPlan.named("likelihood", error_rate=error_rate)


@pytest.mark.parametrize(("error_rate", "n_known", "level"), [(0.0, 0, "weak"), (0.2, 60, "mild")])
def test_answers_that_are_trusted_start_alone_and_are_shown_nearly_plain(
    error_rate, n_known, level, monkeypatch
):
    X, y = draw_blobs()
    answers = Constraints.from_labels(y, n_pairs=200, random_state=0)
    monkeypatch.setattr(starts, "ASKED_SHARE", 0.01)
    monkeypatch.setattr(starts, "LEAST_FITTING", 0.0)
    model = DeepConstrainedClustering(3, encoder=(8, 6))
    settings = replace(read_settings(model, LIKELY, *X.shape), error_rate=error_rate)
    state = start_state(X, (8, 6), None, 3, "cpu", 0)
    rows = torch.as_tensor(X)
    begin_clustering(state, rows, answers, settings, None)
    assert int((state.start >= 0).sum()) == n_known
    views = Views(state.network, rows, flips=False)
    by_kind = answers_by_kind(answers, "cpu")
    loss_of = StepLoss(state, rows, by_kind, None, settings, 0.0, views)
    assert loss_of.level == level
    asked = []
    monkeypatch.setattr(losses, "overlap", lambda q, other, e: asked.append(e) or q[:, 0])
    q = torch.full((600, 3), 1 / 3)
    chosen = [torch.zeros(n, dtype=torch.long) for n in loss_of.slots.values()]
    loss_of.of_answers(q, 0, chosen)
    assert asked == [error_rate] * 2
