"""Choices by chance among the spaces that GuidedClustering tries, where people disagree."""

import numpy as np
import pytest

from likewise.constraints import Constraints
from likewise.evaluation import held_out_accuracy
from likewise.guided import GuidedClustering
from likewise.guided.spaces import Choice, people_disagree, try_choices
from likewise.kernel_learning import ChoiceKernel
from likewise.model_file import load_model, save_model

PAIRS = ((0, 1, 2), (0, 2, 1), (1, 2, 0))  # the two that belong together, and the odd one


def ask_people(X, weights, n_answers, rng, sharpness=0.15):
    """Odd ones out by chance: the nearer two rows are in weighted features, the likelier."""
    rows = np.array([rng.choice(len(X), 3, replace=False) for _ in range(n_answers)])
    Y = X * weights
    sq_dists = [np.square(Y[rows[:, a]] - Y[rows[:, b]]).sum(axis=1) for a, b, _ in PAIRS]
    noise = rng.gumbel(size=(n_answers, 3))
    kept = np.argmax(noise - sharpness * np.array(sq_dists).T, axis=1)
    odd_one_out = [[one[i] for i in PAIRS[pair]] for one, pair in zip(rows, kept)]
    return Constraints(len(X), odd_one_out=odd_one_out)


@pytest.fixture
def panel(seed):
    """Rows, answers of people who look at three of twelve features, and as many more."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 12))
    weights = np.r_[np.full(3, 2.0), np.full(9, 0.3)]
    return X, ask_people(X, weights, 400, rng), ask_people(X, weights, 1000, rng)


def choice_of(scores, n_answers, chosen=0):
    scores = np.array(scores)
    names = [f"space {i}" for i in range(len(scores))]
    unknown = np.full(n_answers, np.nan)
    return Choice(None, names, scores, np.full(len(scores), 0.02), chosen, "", unknown)


@pytest.mark.parametrize(
    ("scores", "chosen", "expected"),
    [([0.5, 0.46, 0.48], 0, True), ([0.5, 0.51, 0.48], 0, False), ([0.5, 0.6, 0.4], 1, False)],
)
def test_people_disagree_where_every_margin_is_worse_than_the_features(scores, chosen, expected):
    rows = np.arange(80)
    rule = [(i, i + 1, j) for i, j in zip(rows[:-1], rows[::-1]) if abs(i - j) > 2] * 2
    answers = Constraints(80, odd_one_out=rule)
    assert not len(answers.conflicts())
    assert people_disagree(choice_of(scores, len(rule), chosen), answers) == expected


@pytest.mark.parametrize(("chosen", "expected"), [(0, True), (1, False)])
def test_people_disagree_where_triples_contradict_and_no_margin_is_clearly_better(
    panel, chosen, expected
):
    _, answers, _ = panel
    answers = answers + Constraints(80, odd_one_out=[(0, 1, 2), (0, 2, 1)])
    choice = choice_of([0.5, 0.51, 0.48], 402, chosen)
    assert people_disagree(choice, answers) == expected
    links = Constraints(80, must_link=[(0, 1)], cannot_link=[(0, 1)])
    assert not people_disagree(choice, panel[1] + links)  # triples do not contradict each other


def test_few_triples_or_pairs_alone_show_no_disagreement(panel):
    X, answers, _ = panel
    few = answers.subset(np.arange(50))
    assert not people_disagree(choice_of([0.5, 0.4], 50), few)
    pairs = Constraints(len(X), must_link=[(i, i + 1) for i in range(0, 80, 2)])
    assert not people_disagree(choice_of([0.5, 0.4], 40), pairs)


def test_choices_by_chance_are_chosen_where_they_predict_more(panel, seed):
    X, answers, _ = panel
    choice = try_choices(X, answers, choice_of([0.5, 0.4], 400), seed=seed)
    assert isinstance(choice.learner, ChoiceKernel)
    assert choice.chosen == 2
    assert choice.scores[2] > 0.5
    assert "people disagree" in choice.why


def test_the_features_stay_where_people_see_what_the_features_say(panel, seed):
    X, _, _ = panel
    answers = ask_people(X, np.ones(12), 150, np.random.default_rng(seed), sharpness=5.0)
    choice = try_choices(X, answers, choice_of([0.9, 0.8], 150), seed=seed)
    assert choice.learner is None
    assert len(choice.names) == len(choice.scores) == len(choice.errors) == 3


def test_a_model_of_choices_predicts_more_doubts_nothing_and_is_saved(
    panel, seed, monkeypatch, tmp_path
):
    X, answers, others = panel
    monkeypatch.setattr("likewise.guided.routes.people_disagree", lambda choice, answers: True)
    model = GuidedClustering(3, random_state=seed).fit(X, constraints=answers)
    assert isinstance(model.learner_, ChoiceKernel)
    assert len(model.doubtful_) == 0
    assert held_out_accuracy(model.transform(X), others) > held_out_accuracy(X, others) + 0.03
    save_model(model, tmp_path / "model.likewise")
    again = load_model(tmp_path / "model.likewise")
    np.testing.assert_allclose(again.transform(X), model.transform(X))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
