"""How rows are prepared: by a rule, unless answers object."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from likewise import Constraints, GuidedClustering, load_model, save_model
from likewise.guided import fit_preparation
from likewise.guided.preparation import (
    PREPARATIONS,
    are_word_counts,
    choose_by_rule,
    credits_of_rows,
    lead_of_answers,
    lead_of_rows,
)


def made_counts(seed=0, n_rows=240, n_words=300):
    """Counts of words in texts about three topics of 40 words each, and of ten common words."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % 3
    weights = np.full((3, n_words), 0.4)
    for topic in range(3):
        weights[topic, 40 * topic : 40 * (topic + 1)] = 2.5
    weights[:, -10:] = 10.0
    lengths = rng.integers(20, 80, size=n_rows)
    X = np.array([rng.multinomial(n, weights[t] / weights[t].sum()) for n, t in zip(lengths, y)])
    return X.astype(float), y


def test_features_of_very_different_size_are_standardized_and_equal_ones_are_not():
    rng = np.random.default_rng(0)
    assert choose_by_rule(rng.normal(size=(50, 8)))[0] == "none"
    name, why = choose_by_rule(rng.normal(size=(50, 8)) * [1000, *[1] * 7])
    assert name == "standardize"
    assert "1 of 8" in why
    many = rng.normal(size=(50, 80)) * [*[100] * 15, *[1] * 65]  # a fifth, but not a few
    assert choose_by_rule(many)[0] == "none"
    assert choose_by_rule(np.ones((5, 2)))[0] == "none"


@pytest.mark.parametrize("n_features", [2, 3, 4])
def test_one_loud_feature_of_few_is_no_reason_to_leave_them(n_features):
    X = np.random.default_rng(0).normal(size=(60, n_features)) * [1000, *[1] * (n_features - 1)]
    assert choose_by_rule(X)[0] == "standardize"
    assert choose_by_rule(X[:, :1])[0] == "none"


def test_counts_of_words_are_told_from_pixels_categories_and_measurements():
    counts, _ = made_counts()
    assert are_word_counts(counts)
    assert are_word_counts(csr_array(counts))
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 256, size=(50, 200)) * (rng.random((50, 200)) < 0.15)
    categories = np.eye(120)[rng.integers(120, size=60)]
    assert not are_word_counts(pixels)
    assert not are_word_counts(categories)
    assert not are_word_counts(counts + 0.5 * (counts > 0))
    assert not are_word_counts(-counts)
    assert not are_word_counts(counts[:, :50])


def test_counts_of_words_cluster_by_topic_and_not_by_common_words():
    X, y = made_counts()
    model = GuidedClustering(3, random_state=0).fit(X)
    assert model.preparation_ == "tfidf"
    as_they_are = GuidedClustering(3, preparation="none", random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.9
    assert adjusted_rand_score(y, as_they_are.labels_) < 0.5


def test_sparse_and_dense_counts_are_prepared_alike():
    X, _ = made_counts()
    dense = fit_preparation(X).map.transform(X)
    sparse = fit_preparation(csr_array(X)).map.transform(csr_array(X))
    assert_allclose(np.abs(dense), np.abs(sparse), atol=1e-6)  # directions may point either way
    assert_allclose(np.linalg.norm(dense, axis=1), 1)


def test_few_words_are_weighed_as_scikit_learn_weighs_them():
    X, _ = made_counts(n_words=120)
    X = X[:50]
    X[:, -1] = 0  # a word of no text
    words = fit_preparation(X, "tfidf").map
    expected = TfidfTransformer().fit(X)
    by_sklearn = np.log1p(X) * expected.idf_
    by_sklearn /= np.linalg.norm(by_sklearn, axis=1, keepdims=True)
    assert_allclose(words.transform(X), by_sklearn)


def test_standardizing_is_that_of_scikit_learn():
    X = np.random.default_rng(0).normal(size=(30, 3)) * [1, 0, 5]
    assert_allclose(
        fit_preparation(X, "standardize").map.transform(X), StandardScaler().fit_transform(X)
    )


def test_an_extreme_value_does_not_set_the_robust_scale():
    X = np.random.default_rng(0).normal(size=(200, 2))
    X[0, 0] = 1e6
    Z = fit_preparation(X, "robust").map.transform(X)
    assert_allclose(Z[1:].std(axis=0), 1, rtol=0.2)
    assert_allclose(np.median(Z, axis=0), 0, atol=1e-12)


def test_a_constant_feature_survives_every_preparation():
    X = np.column_stack([np.ones(20), np.arange(20.0)])
    for name in PREPARATIONS:
        assert np.isfinite(fit_preparation(X, name).map.transform(X)).all()


def test_answers_that_agree_with_angles_choose_rows_of_length_1():
    rng = np.random.default_rng(0)
    y = np.arange(200) % 4
    angles = y * np.pi / 2 + rng.normal(scale=0.15, size=200)
    X = np.column_stack([np.cos(angles), np.sin(angles)]) * rng.uniform(0.2, 50, size=(200, 1))
    answers = Constraints.from_labels(y, n_must_link=60, n_cannot_link=60, random_state=0)
    assert fit_preparation(X).name == "none"
    assert fit_preparation(X, answers=answers).name == "unit"
    known = np.where(np.arange(200) < 40, y, -1)
    labels = Constraints.from_partial_labels(known)
    assert fit_preparation(X, answers=labels, groups=known).name == "unit"


@pytest.mark.parametrize("n_pairs", [30, 200])
def test_random_answers_seldom_change_what_the_rule_says(n_pairs):
    rng = np.random.default_rng(0)
    X = rng.exponential(size=(150, 5)) * [1, 2, 1, 3, 1]
    n_changed = 0
    for seed in range(60):
        pairs = rng.integers(150, size=(n_pairs, 2))
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
        half = len(pairs) // 2
        answers = Constraints(150, must_link=pairs[:half], cannot_link=pairs[half:])
        n_changed += fit_preparation(X, answers=answers, seed=seed).name != "none"
    assert n_changed <= 6


def test_the_lead_of_answers_is_0_for_the_same_space_and_turns_its_sign_when_swapped(seed):
    rng = np.random.default_rng(seed)
    Z, other = rng.normal(size=(2, 40, 3))
    answers = Constraints.from_labels(
        rng.integers(3, size=40), n_pairs=30, n_odd_one_out=10, random_state=seed
    )
    assert lead_of_answers(Z, Z, answers) == 0
    assert_allclose(lead_of_answers(Z, other, answers), -lead_of_answers(other, Z, answers))


def test_the_credit_of_a_row_is_the_share_of_rows_told_apart_by_hand():
    Z = np.array([[0.0], [1.0], [2.0], [10.0], [5.0]])
    groups = np.array([0, 1, 0, 1, 2])
    credits = credits_of_rows(Z, groups)
    # row 0: its own is at 2, others at 1, 5, 10: two of three are farther
    assert_allclose(credits[0], 2 / 3)
    # row 1: its own is at distance 9, farther than all others
    assert_allclose(credits[1], 0)
    assert np.isnan(credits[4])


def test_the_lead_of_rows_is_positive_where_groups_are_apart():
    rng = np.random.default_rng(0)
    groups = np.arange(40) % 2
    apart = groups[:, None] * 5 + rng.normal(size=(40, 1))
    noise = rng.normal(size=(40, 1))
    assert lead_of_rows(apart, noise, groups) > 3
    assert lead_of_rows(noise, apart, groups) < -3


@pytest.mark.parametrize("name", ["robust", "unit", "tfidf"])
def test_a_prepared_model_is_saved_and_loaded(name, tmp_path):
    X, _ = made_counts(n_rows=60, n_words=150)
    model = GuidedClustering(3, preparation=name, random_state=0).fit(X)
    save_model(model, tmp_path / "m.likewise")
    loaded = load_model(tmp_path / "m.likewise")
    assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.preparation_ == name


def test_counts_below_0_are_refused_in_one_line():
    with pytest.raises(ValueError, match='preparation="tfidf" takes counts, and X has cells below'):
        GuidedClustering(2, preparation="tfidf").fit([[1.0, -1.0], [2.0, 0.0], [0.0, 3.0]])


def test_answers_that_nothing_is_learned_from_do_not_choose_a_preparation(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3)) * rng.uniform(0.2, 50, size=(120, 1))
    answers = Constraints.from_labels(rng.integers(3, size=120), n_pairs=40, random_state=0)
    monkeypatch.setattr("likewise.guided.preparation.N_ERRORS", -np.inf)  # answers always object
    model = GuidedClustering(3, random_state=0).fit(X, constraints=answers)
    plain = GuidedClustering(3, random_state=0).fit(X)
    assert "nothing is learned" in model.report_.why
    assert model.preparation_ == plain.preparation_ == "none"
    assert_array_equal(model.labels_, plain.labels_)
