"""Clusters by the likelihood of agreement: its losses, its choices, and resuming."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

torch = pytest.importorskip("torch")

from likewise import Constraints, load_model, save_model  # noqa: E402
from likewise.deep import (  # noqa: E402
    DeepConstrainedClustering,
    SelfSupervisedCodes,
    TrainingPlan,
    checkpoints,
    code_training,
    losses,
    plan_choice,
    trials,
)
from likewise.deep.learning_from_answers import (  # noqa: E402
    close_answers,
    least_entropy,
    slots_of,
)
from likewise.deep.steps import one_cycle  # noqa: E402
from likewise.evaluation import held_out_accuracy  # noqa: E402
from tests.deep.problems import draw_blobs  # noqa: E402

LIKELY = TrainingPlan.named("likelihood", pretraining_epochs=1, max_epochs=2)
SMALL = {"encoder": (8, 6), "training": LIKELY, "device": "cpu", "random_state": 0}


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:300], y[:300]


def test_two_rows_of_two_views_by_hand():
    first, second = torch.eye(2), torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    # each view: its partner at cosine 1, two others at 0
    by_hand = -math.log(math.exp(2) / (math.exp(2) + 2))
    assert float(losses.contrast_loss(first, second, 0.5)) == pytest.approx(by_hand)


def test_pseudo_labels_come_from_sure_rows_only():
    weak = torch.tensor([[0.95, 0.05], [0.6, 0.4]])
    strong = torch.tensor([[0.5, 0.5], [0.01, 0.99]])
    loss = float(losses.pseudo_label_loss(weak, strong, 0.9))
    assert loss == pytest.approx(math.log(2) / 2)


def test_evenness_costs_what_the_entropy_lacks():
    q = torch.tensor([[1.0, 0.0], [1.0, 0.0]])
    assert float(losses.evenness_loss(q, math.log(2))) == pytest.approx(math.log(2), abs=1e-5)
    assert float(losses.evenness_loss(torch.full((2, 2), 0.5), 0.3)) == 0


@settings(max_examples=10)
@given(st.integers(0, 1000))
def test_gradients_are_those_of_finite_differences(seed):
    generator = torch.Generator().manual_seed(seed)
    codes = torch.randn(6, 3, generator=generator, dtype=torch.float64, requires_grad=True)
    weak = torch.softmax(4 * torch.randn(6, 3, generator=generator, dtype=torch.float64), dim=1)

    def contrast(z):
        unit = torch.nn.functional.normalize(z, dim=1)
        return losses.contrast_loss(unit[:3], unit[3:], 0.5)

    def pseudo(z):
        return losses.pseudo_label_loss(weak, torch.softmax(z, dim=1), 0.6)

    def evenness(z):
        return losses.evenness_loss(torch.softmax(z, dim=1), 2.0)

    for loss in (contrast, pseudo, evenness):
        assert torch.autograd.gradcheck(loss, (codes,))


@given(st.integers(0, 1000))
def test_the_order_of_rows_does_not_matter_to_the_contrast(seed):
    generator = torch.Generator().manual_seed(seed)
    first, second = torch.nn.functional.normalize(torch.randn(2, 5, 4, generator=generator), dim=2)
    order = torch.randperm(5, generator=generator)
    one = losses.contrast_loss(first, second, 0.2)
    assert_allclose(losses.contrast_loss(first[order], second[order], 0.2), one, rtol=1e-5)
    assert_allclose(losses.contrast_loss(second, first, 0.2), one, rtol=1e-5)


def test_answers_are_closed_unless_they_contradict_each_other_or_differ_in_weight():
    chain = Constraints(6, must_link=[(0, 1), (1, 2)], cannot_link=[(2, 3)], closer=[(0, 1, 4)])
    closed = close_answers(chain)
    assert (len(closed.must_link), len(closed.cannot_link)) == (3, 3)
    assert_array_equal(closed.closer, chain.closer)
    torn = Constraints(6, must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)])
    assert close_answers(torn) is torn
    weighed = Constraints(6, must_link=[(0, 1), (1, 2)], weights=[1.0, 2.0])
    assert close_answers(weighed) is weighed


def test_random_pairs_tell_how_even_clusters_are():
    y = np.repeat([0, 1, 2, 3], [700, 100, 100, 100])
    answers = Constraints.from_labels(y, n_pairs=4000, random_state=0)
    assert least_entropy(answers, 4, "equal") == pytest.approx(math.log(4))
    by_hand = -math.log(0.7**2 + 3 * 0.1**2)
    assert least_entropy(answers, 4, "answers") == pytest.approx(by_hand, abs=0.05)
    shares = np.bincount(y) / len(y)
    assert least_entropy(answers, 4, "answers") < -(shares * np.log(shares)).sum()


def test_few_must_links_are_seen_often():
    answers = Constraints(40, must_link=[(0, 1)], cannot_link=[(i, i + 1) for i in range(2, 39)])
    from likewise.deep.batches import answers_by_kind

    assert slots_of(answers_by_kind(answers, "cpu"), 80) == {"must_link": 10, "cannot_link": 78}


def test_the_rate_rises_in_a_line_and_falls_to_nothing():
    rates = [one_cycle(i, 100, 2.0) for i in range(100)]
    assert (max(rates), rates[-1]) == (pytest.approx(2.0), 0)
    assert rates[4] == pytest.approx(1.0)


@parametrize_with_checks([DeepConstrainedClustering(2, **{**SMALL, "encoder": (6, 4)})])
def test_scikit_learn_accepts_the_likelihood(estimator, check):
    check(estimator)


def test_answers_help_and_kinds_of_all_sorts_are_learned_from(digits):
    X, y = digits
    codes = SelfSupervisedCodes(
        image_shape=(8, 8), encoder=(8, 16), epochs=8, device="cpu", random_state=0
    ).fit(X)
    plan = replace(LIKELY, max_epochs=8, learning_rate=3e-3)
    model = DeepConstrainedClustering(
        10, image_shape=(8, 8), training=plan, init_model=codes, device="cpu", random_state=0
    )
    without = adjusted_rand_score(y, model.fit(X).labels_)
    pairs = Constraints.from_labels(y, n_pairs=900, random_state=0)
    assert adjusted_rand_score(y, model.fit(X, constraints=pairs).labels_) > without + 0.1
    assert (model.plan_.flips, model.widths_) == (False, (8, 16))
    triples = Constraints.from_labels(y, n_odd_one_out=900, n_undecided=5, random_state=0)
    untaught = held_out_accuracy(model.fit(X).predict_proba(X), triples)
    taught = model.fit(X, constraints=triples).predict_proba(X)
    assert held_out_accuracy(taught, triples) > untaught + 0.05


def test_numpy_gives_the_clusters_that_training_ended_with(digits, tmp_path):
    X, y = digits
    answers = Constraints.from_labels(y, n_pairs=100, random_state=0)
    model = DeepConstrainedClustering(10, image_shape=(8, 8), **SMALL).fit(X, constraints=answers)
    assert (model.predict(X) == model.labels_).mean() > 0.99
    assert_allclose(model.predict_proba(X).sum(axis=1), 1, rtol=1e-6)
    save_model(model, tmp_path / "model")
    assert_array_equal(load_model(tmp_path / "model").predict_proba(X), model.predict_proba(X))
    begun = model.set_params(init_model=load_model(tmp_path / "model")).fit(X, constraints=answers)
    assert begun.n_iter_ == 2


class Killed(Exception):
    pass


@pytest.mark.parametrize("n_saves", [1, 3, 4])
def test_a_resumed_run_ends_bit_for_bit_like_the_original(n_saves, tmp_path, monkeypatch):
    X, y = draw_blobs()
    answers = Constraints.from_labels(y, n_pairs=60, random_state=0)
    plan = replace(LIKELY, pretraining_epochs=2, max_epochs=3, flips=False)
    given = {**SMALL, "training": plan, "checkpoint": tmp_path / "state", "held_out_share": 0.4}
    model = DeepConstrainedClustering(3, **given)
    whole = DeepConstrainedClustering(3, **{**given, "checkpoint": None})
    whole.fit(X, constraints=answers)
    monkeypatch.setattr(checkpoints, "CHECKPOINT_SECONDS", 0.0)
    real, count = code_training.to_file, [0]

    def killed(*state):
        count[0] += 1
        if count[0] > n_saves:
            raise Killed
        return real(*state)

    monkeypatch.setattr(code_training, "to_file", killed)
    with pytest.raises(Killed):
        model.fit(X, constraints=answers)
    monkeypatch.setattr(code_training, "to_file", real)
    model.fit(X, constraints=answers)
    assert_array_equal(model.cluster_centers_, whole.cluster_centers_)
    assert_array_equal(model.map_.layers[0][0], whole.map_.layers[0][0])
    assert_array_equal(model.held_out_, whole.held_out_)
    assert_array_equal(model.objective_, whole.objective_)
    assert not (tmp_path / "state").exists()


def test_of_held_out_answers_the_best_epoch_is_kept():
    X, y = draw_blobs()
    answers = Constraints.from_labels(y, n_pairs=100, random_state=0)
    given = {**SMALL, "training": replace(LIKELY, max_epochs=4)}
    model = DeepConstrainedClustering(3, held_out_share=0.4, **given)
    model.fit(X, constraints=answers)
    assert model.held_out_.shape == (5,)
    assert model.n_answers_used_ < answers.n_answers


def test_the_answers_choose_among_the_ways_of_training(monkeypatch):
    X, y = draw_blobs()
    answers = Constraints.from_labels(y, n_odd_one_out=120, random_state=0)
    tried = []

    def credits(plan, fit_part, held_out):
        tried.append((plan.loss, plan.sizes))
        return np.full(held_out.n_answers, 1.0 if plan.loss == "student" else 0.5)

    def try_by_name(plans, trial, *given, **more):
        return real(plans, credits, *given, **more)

    real = plan_choice.select
    monkeypatch.setattr(plan_choice, "select", try_by_name)
    model = DeepConstrainedClustering(3, encoder=(8, 4), device="cpu")
    [plan] = plan_choice.choose_plans(model, X, answers, 0)
    assert plan == TrainingPlan.named("student")
    assert tried == [
        ("angular", "equal"),
        ("student", "equal"),
        ("likelihood", "equal"),
        ("likelihood", "answers"),
    ]
    few = answers.subset(np.arange(10))
    assert plan_choice.choose_plans(model, X, few, 0) == [TrainingPlan.named("angular")]


def test_images_start_with_the_likelihood_and_a_filter_with_angles():
    model = DeepConstrainedClustering(3, image_shape=(2, 2))
    assert [plan.sizes for plan in plan_choice.plans_for(model)] == ["equal", "answers"]
    model.set_params(drop_share=0.5)
    assert [plan.loss for plan in plan_choice.plans_for(model)] == ["angular", "student"]
    assert plan_choice.shorten(TrainingPlan.named("angular")).max_epochs == 20


def test_how_even_clusters_should_be_is_tried_where_answers_speak_of_it(monkeypatch):
    X, y = draw_blobs()
    seen = []
    monkeypatch.setattr(trials, "select", lambda plans, *_, **__: seen.append(len(plans)))
    monkeypatch.setattr(trials, "first_unless_ahead", lambda *_: 1)
    given = {**SMALL, "training": "auto", "image_shape": (2, 2), "encoder": (4,)}
    model = DeepConstrainedClustering(3, **given)
    monkeypatch.setattr(plan_choice.TrainingPlan, "named", classmethod(lambda cls, name: LIKELY))
    halves = Constraints.from_labels(y, n_must_link=40, n_cannot_link=40, random_state=0)
    model.init_model = SelfSupervisedCodes(
        image_shape=(2, 2), encoder=(4,), epochs=0, device="cpu", random_state=0
    ).fit(X)
    assert model.fit(X, constraints=halves).plan_.sizes == "answers"
    assert seen == [2]
    even = Constraints.from_labels(y, n_must_link=10, n_cannot_link=20, random_state=0)
    assert model.fit(X, constraints=even).plan_.sizes == "equal"
    assert seen == [2]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"loss": "likelihood"}, "loss='likelihood' takes pretraining='contrastive' or 'none'"),
        ({"pretraining": "contrastive"}, "loss='angular' takes pretraining='short'"),
        ({"sizes": "large"}, "sizes='large' is not one of"),
        (
            {"loss": "likelihood", "pretraining": "none", "drop_share": 0.5},
            "drop_share leaves pairs out of loss='angular' and 'student' only",
        ),
    ],
)
def test_a_wrong_plan_of_the_likelihood_cannot_be_made(fields, words):
    with pytest.raises(ValueError, match=words):
        TrainingPlan(**fields)


def test_a_network_of_another_kind_cannot_be_begun_with():
    X, _ = draw_blobs()
    codes = SelfSupervisedCodes(encoder=(8, 6), epochs=0, device="cpu").fit(X)
    plan = TrainingPlan(max_epochs=1)
    with pytest.raises(ValueError, match="init_model has no decoder"):
        DeepConstrainedClustering(3, training=plan, init_model=codes).fit(X)
    with pytest.raises(ValueError, match=r"init_model has 4 features and layers of \(8, 6\)"):
        DeepConstrainedClustering(3, encoder=(8, 5), training=LIKELY, init_model=codes).fit(X)
    angular = DeepConstrainedClustering(
        3, encoder=(8, 4), training=TrainingPlan(pretraining_epochs=1, max_epochs=0)
    ).fit(X)
    with pytest.raises(ValueError, match="init_model has no codes"):
        DeepConstrainedClustering(3, training=LIKELY, init_model=angular).fit(X)
    with pytest.raises(ValueError, match="encoder='small' names layers for loss='likelihood'"):
        DeepConstrainedClustering(3, training="angular", encoder="small").fit(X)
