"""What GuidedClustering promises a user, whatever the answers."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from likewise import ITML, Constraints, GuidedClustering, load_model, save_model
from likewise.datasets import load_digits, load_iris, load_wine
from likewise.evaluation import beats, free_row_score, mean_and_error
from likewise.guided import spaces
from likewise.guided.spaces import (
    AS_THEY_ARE,
    beats_the_features,
    rank_doubtful,
    share_about_new_rows,
)
from likewise.numerics.rows import sample_rows
from likewise.report import write_report
from likewise.scale.blocks import as_blocks

FOUR_CLASSES = "takes whatever has predict_proba for a classifier, of four classes"
EXPECTED = {
    "check_estimator_sparse_array": FOUR_CLASSES,
    "check_estimator_sparse_matrix": FOUR_CLASSES,
}


@parametrize_with_checks(
    [GuidedClustering(n_clusters=2, n_init=2, random_state=0)],
    expected_failed_checks=lambda estimator: EXPECTED,
)
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def digits():
    data = load_digits()
    rows = np.arange(0, 1797, 3)
    X, y = data.X[rows] / 16, np.asarray(data.y)[rows]
    answers = Constraints.from_labels(y, n_must_link=60, n_cannot_link=60, random_state=0)
    return X, y, answers, GuidedClustering(10, random_state=0).fit(X, constraints=answers)


def test_answers_lift_the_digits_also_where_nobody_answered(digits):
    _X, y, answers, model = digits
    before = model.report_.labels_before
    assert adjusted_rand_score(y, model.labels_) > adjusted_rand_score(y, before) + 0.1
    assert free_row_score(y, model.labels_, answers) > free_row_score(y, before, answers) + 0.1


def test_predict_gives_the_clusters_of_the_rows_that_were_fitted(digits):
    X, _, answers, model = digits
    free = np.setdiff1d(np.arange(len(X)), answers.touched_rows())
    assert np.mean(model.predict(X)[free] == model.labels_[free]) > 0.98
    assert_array_equal(model.predict(X), model.predict_proba(X).argmax(axis=1))


def test_the_same_seed_gives_the_same_result_in_one_process_and_in_two(digits):
    X, _, answers, model = digits
    again = GuidedClustering(10, random_state=0, n_jobs=2).fit(X, constraints=answers)
    assert_array_equal(again.labels_, model.labels_)
    assert_array_equal(again.report_.trial_scores, model.report_.trial_scores)


def test_clusters_are_numbered_by_size(digits):
    counts = np.bincount(digits[3].labels_)
    assert (np.diff(counts) <= 0).all()


def test_the_account_tells_what_was_tried_and_marks_the_choice(digits):
    report = digits[3].report_
    text = str(report)
    assert AS_THEY_ARE.name in report.trial_names
    assert f"* {report.trial_scores[report.chosen]:.3f}" in text
    assert report.trial_names[report.chosen] in report.why
    assert report.satisfied > report.satisfied_before
    assert "10, as asked" in text


def test_without_answers_it_is_k_means_on_the_features_and_says_so():
    X = load_iris().X
    model = GuidedClustering(3, random_state=0).fit(X)
    kmeans = KMeans(3, n_init=10, random_state=0).fit(X)
    assert adjusted_rand_score(kmeans.labels_, model.labels_) > 0.97
    assert_array_equal(model.labels_, model.report_.labels_before)
    assert_array_equal(model.transform(X), X)
    assert "no answers" in model.report_.why
    assert model.learner_ is None


def test_few_answers_hold_and_do_no_harm():
    X, y = load_iris().X, np.asarray(load_iris().y)
    answers = Constraints.from_labels(y, n_must_link=4, n_cannot_link=4, random_state=0)
    model = GuidedClustering(3, random_state=0).fit(X, constraints=answers)
    before = adjusted_rand_score(y, GuidedClustering(3, random_state=0).fit(X).labels_)
    assert adjusted_rand_score(y, model.labels_) >= before
    assert model.report_.satisfied == 1


def test_a_few_triples_teach_nothing():
    X, y = load_iris().X, np.asarray(load_iris().y)
    answers = Constraints.from_labels(y, n_odd_one_out=8, random_state=0)
    model = GuidedClustering(3, random_state=0).fit(X, constraints=answers)
    assert model.learner_ is None
    assert "8 answers can be held out" in model.report_.why


def test_answers_that_say_nothing_leave_the_features_as_they_are():
    """Coin tosses do not agree with the data, and nothing is learned from them."""
    X = load_iris().X
    kept = []
    for seed in range(5):
        y = np.random.default_rng(seed).integers(0, 2, len(X))
        answers = Constraints.from_labels(y, n_odd_one_out=60, random_state=seed)
        model = GuidedClustering(3, random_state=seed).fit(X, constraints=answers)
        kept.append(model.learner_ is None)
    assert sum(kept) >= 4


def test_wrong_answers_are_among_the_doubtful():
    wine = load_wine()
    y = np.asarray(wine.y)
    answers = Constraints.from_labels(y, n_must_link=60, n_cannot_link=60, random_state=0)
    pairs, sign = answers.signed_pairs()
    flipped = np.arange(0, 120, 12)
    sign[flipped] *= -1
    told = Constraints(len(y), must_link=pairs[sign > 0], cannot_link=pairs[sign < 0])
    is_wrong = np.concatenate(
        [np.isin(np.flatnonzero(sign > 0), flipped), np.isin(np.flatnonzero(sign < 0), flipped)]
    )
    model = GuidedClustering(3, random_state=0).fit(wine.X, constraints=told)
    assert is_wrong[model.doubtful_].mean() > 0.5
    assert is_wrong[model.doubtful_].sum() >= 5
    assert (model.pulls_[model.doubtful_] == 0).all()
    assert set(model.doubtful_) - set(model.violated_) == set()
    assert f"doubtful: {len(model.doubtful_)} answers" in str(model.report_)


def test_contradictions_come_with_their_witness_and_stop_nothing():
    X = load_iris().X
    answers = Constraints(
        len(X), must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)], odd_one_out=[(0, 1, 2)] * 3
    )
    model = GuidedClustering(3, random_state=0).fit(X, constraints=answers)
    assert len(model.report_.conflicts) >= 1
    assert "0" in model.report_.conflicts[0]
    assert model.report_.conflicts[0] in str(model.report_)


def test_the_number_of_clusters_is_found_when_it_is_not_given():
    wine = load_wine()
    answers = Constraints.from_labels(wine.y, n_pairs=80, random_state=0)
    model = GuidedClustering(random_state=0).fit(wine.X, constraints=answers)
    assert model.n_clusters_ == 3 == len(np.unique(model.labels_))


def test_random_pairs_suggest_the_number_of_clusters(seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(400, 2)) * [5, 1]
    answers = Constraints.from_labels(X[:, 0].astype(int), n_pairs=150, random_state=seed)
    model = GuidedClustering(random_state=seed).fit(X, constraints=answers)
    assert model.n_clusters_ in (4, 5, 6)
    assert "150 pairs suggest" in model.report_.why_n_clusters


def test_scaling_makes_units_not_matter(seed):
    wine = load_wine()
    answers = Constraints.from_labels(wine.y, n_pairs=40, random_state=seed)
    units = 10.0 ** np.arange(-2, 11)[: wine.X.shape[1]]
    here, there = (
        GuidedClustering(3, preparation="standardize", random_state=seed).fit(
            X, constraints=answers
        )
        for X in (wine.X, wine.X * units)
    )
    assert_array_equal(here.labels_, there.labels_)


def test_sparse_rows_give_what_dense_ones_give():
    X = load_digits().X[:200]
    answers = Constraints.from_labels(load_digits().y[:200], n_odd_one_out=40, random_state=0)
    model = GuidedClustering(10, preparation="none", random_state=0)
    dense = model.fit(X, constraints=answers).labels_
    sparse = model.fit(csr_array(X), constraints=answers).labels_
    assert_array_equal(dense, sparse)
    assert_array_equal(model.predict(csr_array(X)), model.predict(X))


def test_many_sparse_features_are_reduced():
    rng = np.random.default_rng(0)
    X = csr_array(rng.random((150, 400)) * (rng.random((150, 400)) < 0.05))
    model = GuidedClustering(3, random_state=0).fit(X)
    assert model.transform(X).shape == (150, 50)


def test_a_dataframe_keeps_its_names():
    wine = load_wine()
    frame = pd.DataFrame(wine.X, columns=[f"column {i}" for i in range(wine.X.shape[1])])
    model = GuidedClustering(3, random_state=0).fit(frame)
    assert list(model.feature_names_in_) == list(frame.columns)
    assert_array_equal(model.predict(frame), model.labels_)


def test_a_given_learner_is_used_unchanged():
    wine = load_wine()
    answers = Constraints.from_labels(wine.y, n_pairs=40, random_state=0)
    given_learner = ITML(random_state=0)
    model = GuidedClustering(3, learner=given_learner, random_state=0)
    model.fit(wine.X, constraints=answers)
    assert isinstance(model.learner_, ITML)
    assert not hasattr(given_learner, "map_")
    Z = model.learner_.transform(model.scaler_.transform(wine.X))
    assert_allclose(model.transform(wine.X), Z)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"n_clusters": 0}, ValueError, "n_clusters=0"),
        ({"n_clusters": "many"}, ValueError, "n_clusters='many'"),
        ({"preparation": "yes"}, ValueError, "preparation='yes'"),
        ({"learner": "itml"}, TypeError, "learner='itml' has no transform"),
    ],
)
def test_bad_settings_end_in_one_line(settings, error, message):
    with pytest.raises(error, match=message) as caught:
        GuidedClustering(**settings).fit(load_iris().X)
    assert "\n" not in str(caught.value)


def test_of_many_answers_a_draw_chooses_and_all_teach(monkeypatch):
    monkeypatch.setattr("likewise.guided.outcome.TRIAL_ANSWERS", 50)
    wine = load_wine()
    answers = Constraints.from_labels(wine.y, n_must_link=60, n_cannot_link=60, random_state=0)
    model = GuidedClustering(3, random_state=0).fit(wine.X, constraints=answers)
    assert "of 50 held-out answers" in model.report_.why
    assert len(model.pulls_) == 120
    assert np.count_nonzero(model.pulls_) > 50


def test_rows_beyond_the_sample_go_to_the_nearest_center(monkeypatch):
    monkeypatch.setattr("likewise.guided.guided_clustering.FIT_ROWS", 100)
    wine = load_wine()
    answers = Constraints.from_labels(wine.y, n_pairs=40, random_state=0)
    model = GuidedClustering(3, random_state=0).fit(wine.X, constraints=answers)
    rows = sample_rows(178, 100, answers.touched_rows(), 0)
    assert set(answers.touched_rows()) <= set(rows)
    assert len(rows) < 178
    assert len(model.labels_) == len(model.report_.labels_before) == 178
    assert adjusted_rand_score(wine.y, model.labels_) > 0.8
    untouched = np.setdiff1d(np.arange(178), answers.touched_rows())
    agree = model.predict(wine.X)[untouched] == model.labels_[untouched]
    assert agree.all()


@given(st.integers(0, 10_000))
@settings(max_examples=20)
def test_a_candidate_is_taken_only_if_it_beats_the_features_by_a_standard_error(seed):
    rng = np.random.default_rng(seed)
    credits = rng.integers(0, 2, (4, 30)).astype(float)
    weights = rng.integers(1, 4, 30).astype(float)
    means = mean_and_error(credits, weights)[0]
    rival = 1 + int(means[1:].argmax())
    expected = rival if beats(credits[rival], credits[0], weights) else 0
    assert beats_the_features(None)(credits, weights) == expected
    assert beats_the_features(3)(credits, weights) in (expected, 3 if expected else 0)


def test_the_share_of_answers_about_new_rows_by_hand():
    whole = Constraints(
        9, must_link=[(0, 1), (2, 3)], cannot_link=[(4, 5)], odd_one_out=[(1, 6, 7)]
    )
    splits = [(whole.subset([0, 2]), whole.subset([1, 3])), (whole.subset([1]), whole.subset([0]))]
    assert share_about_new_rows(splits) == pytest.approx(2 / 3)
    assert share_about_new_rows([]) == 0


def test_wrong_answers_about_scattered_rows_still_teach():
    """Two fifths of the answers are too few to learn from; these rows were new to each other."""
    data = load_digits()
    X, y = data.X / 16, np.asarray(data.y)
    told = Constraints.from_labels(y, n_must_link=100, n_cannot_link=100, noise=0.2, random_state=0)
    model = GuidedClustering(10, n_init=2, random_state=0).fit(X, constraints=told)
    assert model.learner_ is not None
    assert adjusted_rand_score(y, model.labels_) > 0.75


def test_dense_answers_give_way_to_what_new_rows_say(monkeypatch):
    wine = load_wine()
    told = Constraints.from_labels(wine.y, n_odd_one_out=300, random_state=0)
    model = GuidedClustering(3, n_init=2, random_state=0)
    assert model.fit(wine.X, constraints=told).learner_ is not None
    monkeypatch.setattr(spaces, "helps_new_rows", lambda *_: False)
    assert model.fit(wine.X, constraints=told).learner_ is None
    assert "does better only on rows with answers" in model.report_.why


def test_the_best_space_has_to_be_better_than_chance_would_have_it():
    plain, same = np.zeros(9), np.zeros(9)
    once, often = np.eye(9)[0], np.ones(9)
    assert beats_the_features(None)(np.array([plain, same, once]), np.ones(9)) == 0
    assert beats_the_features(None)(np.array([plain, once, often]), np.ones(9)) == 2


def test_a_linear_metric_is_kept_unless_a_kernel_is_ahead_of_it_beyond_doubt():
    def credits_of(kernel, linear):
        """Of 100 answers the features predict none, the other candidates this many."""
        return np.array([np.arange(100) < n for n in (0, kernel, linear)], dtype=float)

    assert beats_the_features(2)(credits_of(23, 20), np.ones(100)) == 2  # 3 +- 1.7 of 100
    assert beats_the_features(2)(credits_of(30, 20), np.ones(100)) == 1  # 10 +- 3
    assert beats_the_features(None)(credits_of(24, 20), np.ones(100)) == 1
    assert beats_the_features(2)(credits_of(4, 0), np.ones(100)) == 1  # linear learned nothing


def test_doubtful_by_hand():
    honored = np.array([0.0, 0.0, 1.0, 0.0, np.nan])
    credits = np.array([0.4, 0.1, 0.0, 0.9, np.nan])
    pulls = np.array([1.0, 1.0, 5.0, 9.0, 0.0])
    assert_array_equal(rank_doubtful(credits, honored, pulls), [1, 0])
    assert_array_equal(rank_doubtful(np.full(5, np.nan), honored, pulls), [3, 0, 1])


def test_rows_in_blocks_give_what_rows_in_memory_give(monkeypatch, tmp_path):
    monkeypatch.setattr("likewise.guided.guided_clustering.FIT_ROWS", 100)
    wine = load_wine()
    answers = Constraints.from_labels(wine.y, n_pairs=40, random_state=0)
    np.save(tmp_path / "wine.npy", wine.X)
    blocks = as_blocks(tmp_path / "wine.npy", block_rows=50)
    model = GuidedClustering(3, random_state=0).fit(wine.X, constraints=answers)
    same = GuidedClustering(3, random_state=0).fit(blocks, constraints=answers)
    assert_array_equal(same.labels_, model.labels_)
    assert_array_equal(same.predict(blocks), model.predict(wine.X))
    assert same.n_features_in_ == 13


def test_whole_numbers_in_blocks_are_rows_like_others(monkeypatch):
    monkeypatch.setattr("likewise.guided.guided_clustering.FIT_ROWS", 60)
    X = np.random.RandomState(0).randint(0, 9, (150, 3)) + np.repeat([[0], [40]], 75, axis=0)
    model = GuidedClustering(2, preparation="none", random_state=0).fit(as_blocks(X, block_rows=50))
    assert adjusted_rand_score(np.arange(150) // 75, model.labels_) == 1


def test_one_cluster_and_duplicated_rows_are_no_trouble():
    X = np.repeat(load_iris().X[:10], 5, axis=0)
    assert_array_equal(GuidedClustering(1, random_state=0).fit(X).labels_, np.zeros(50))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GuidedClustering(random_state=0).fit(X)


@pytest.mark.parametrize(
    "make",
    [
        lambda: PCA(2),
        lambda: make_pipeline(StandardScaler(), ITML(random_state=0)),
        lambda: make_pipeline(PCA(3), make_pipeline(ITML(random_state=0), PCA(2))),
        lambda: KBinsDiscretizer(3, encode="onehot", quantile_method="averaged_inverted_cdf"),
        lambda: StandardScaler().set_output(transform="pandas"),
    ],
    ids=["PCA", "pipeline", "pipelines", "sparse", "pandas"],
)
def test_any_estimator_with_transform_is_a_learner(make, tmp_path):
    wine = load_wine()
    answers = Constraints.from_labels(wine.y, n_pairs=60, random_state=0)
    model = GuidedClustering(3, learner=make(), random_state=0).fit(wine.X, constraints=answers)
    assert adjusted_rand_score(wine.y, model.labels_) > 0.6
    assert isinstance(model.transform(wine.X), np.ndarray)
    assert np.mean(model.predict(wine.X) == model.labels_) > 0.9
    write_report(tmp_path / "report.html", model, wine.X, constraints=answers)


def test_the_answers_reach_the_step_that_learns_from_them():
    wine = load_wine()
    answers = Constraints.from_labels(wine.y, n_pairs=60, random_state=0)
    alone, piped = (
        GuidedClustering(3, learner=learner, random_state=0).fit(wine.X, constraints=answers)
        for learner in (ITML(random_state=0), make_pipeline(ITML(random_state=0)))
    )
    assert alone.pulls_.any()
    assert_array_equal(piped.pulls_, alone.pulls_)
    assert_array_equal(piped.labels_, alone.labels_)


def test_a_pipeline_as_learner_is_saved_and_loaded(tmp_path):
    wine = load_wine()
    learner = make_pipeline(StandardScaler(), ITML(random_state=0))
    model = GuidedClustering(3, learner=learner, random_state=0).fit(wine.X)
    save_model(model, tmp_path / "m.likewise")
    assert_array_equal(load_model(tmp_path / "m.likewise").predict(wine.X), model.predict(wine.X))


def test_more_clusters_than_rows_are_refused_in_one_line_of_ours():
    with pytest.raises(ValueError, match="n_clusters=500 is more than the rows of X, n_samples=3"):
        GuidedClustering(500).fit([[0.0], [1.0], [2.0]])
