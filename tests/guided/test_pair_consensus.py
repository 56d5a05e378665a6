"""The average of several ways to cluster by pairs: by hand, laws, and what it is for."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_info, threadpool_limits

from likewise import Constraints, GuidedClustering
from likewise.cluster import spectral_rows
from likewise.datasets import load_wine
from likewise.guided import pair_graphs, plain_clusters
from likewise.guided.pair_consensus import (
    IN_SPACE,
    JOINED,
    LINEAR,
    NATS,
    ON_MAP,
    PRIORS,
    WAYS,
    WayTrials,
    Weighed,
    extend_folds,
    find_ways,
    judge_answers,
    judge_others,
    lead_directions,
    learn_spaces,
    place_side_by_side,
    share_clusters,
    try_ways,
    weigh_ways,
)
from likewise.guided.pair_graphs import (
    FREE,
    MOST_FEATURES,
    N_DIRECTIONS,
    join_graphs,
    strongest_edges,
)
from likewise.guided.plain_clusters import cluster_plainly, share_plainly
from likewise.guided.spaces import AS_THEY_ARE
from likewise.kernels import lay_out_edges, sq_distances


def weighed(weights, sharpness=1.0):
    weights = np.asarray(weights, dtype=float)
    unknown = np.full(len(weights), np.nan)
    return Weighed(weights, np.full(len(weights), sharpness), unknown, unknown)


def two_halves(n=40):
    """Rows in two clusters, and pairs that follow them."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], n // 2)
    X = rng.normal(size=(n, 3)) + 6 * y[:, None]
    return X, y, Constraints.from_labels(y, n_must_link=12, n_cannot_link=12, random_state=0)


def test_two_rows_are_as_far_apart_as_ways_of_so_much_weight_put_them():
    together, apart = np.eye(2)[[0, 0]], np.eye(2)[[0, 1]]
    C = place_side_by_side([np.array([together, apart])], [1.0], weighed([0.7, 0.3]))
    assert_allclose(sq_distances(C)[0, 1], 0.3 * 2)  # one-hot rows of two clusters: 2
    both = [np.array([together, apart]), np.array([apart, apart])]
    C = place_side_by_side(both, [1.0, 1.0], weighed([0.7, 0.3]))
    assert_allclose(sq_distances(C)[0, 1], 0.65 * 2)
    C = place_side_by_side(both, [1.0, 0.5], weighed([0.7, 0.3]))  # by a half of the rows: 1 to 4
    assert_allclose(sq_distances(C)[0, 1], (0.8 * 0.3 + 0.2 * 1.0) * 2)


def test_the_names_of_clusters_do_not_matter():
    rng = np.random.default_rng(0)
    ways = rng.dirichlet(np.ones(3), size=(2, 12))
    renamed = np.array([ways[0][:, [2, 0, 1]], ways[1]])
    C, other = (
        place_side_by_side([one], [1.0], weighed([0.6, 0.4], 2.0)) for one in (ways, renamed)
    )
    assert_allclose(C @ C.T, other @ other.T)


def test_ways_are_weighed_by_the_likelihood_of_held_out_pairs_by_hand():
    """Two pairs are held out. One way is sure and right, the other knows nothing."""
    answers = Constraints(4, must_link=[(0, 1)], cannot_link=[(2, 3)])
    splits = list(answers.folds(2, random_state=0))
    sure, flat = np.eye(2)[[0, 0, 0, 1]], np.full((4, 2), 0.5)
    fold = np.array([flat, sure])
    got = weigh_ways(WayTrials([fold, fold], np.full(2, np.nan)), answers, splits)
    gain = NATS * 2 * (np.log(0.95) - np.log(0.5))  # an answer is wrong with .05
    log_odds = gain + PRIORS[WAYS[1]] - PRIORS[WAYS[0]]
    assert_allclose(np.log(got.weights[1] / got.weights[0]), log_odds, atol=1e-3)
    assert_array_equal(got.scores, [0.5, 1.0])  # all in one cluster: the must-link is right


def test_one_answer_more_changes_weights_little():
    """The reason for an average: no single answer decides between two ways."""
    rng = np.random.default_rng(0)
    ways = [rng.dirichlet(np.ones(2), size=(2, 60)) for _ in range(3)]
    weights = []
    for n in (29, 30):
        answers = Constraints(60, must_link=np.arange(2 * n).reshape(n, 2))
        splits = list(answers.folds(3, random_state=0))
        weights.append(weigh_ways(WayTrials(ways, np.full(n, np.nan)), answers, splits).weights)
    assert np.abs(weights[0] - weights[1]).max() < 0.2


def test_where_nothing_can_be_held_out_priors_decide():
    answers = Constraints(6, must_link=[(0, 1)], weights=[0.0])
    splits = list(answers.folds(2, random_state=0))
    ways = np.full((len(WAYS), 6, 2), 0.5)
    got = weigh_ways(WayTrials([ways, ways], np.full(1, np.nan)), answers, splits)
    assert WAYS[int(np.argmax(got.weights))] == JOINED
    assert WAYS[int(np.argmin(got.weights))] == AS_THEY_ARE.name
    assert_allclose(got.weights.sum(), 1)


def test_every_way_finds_clear_clusters_and_predicts_answers_it_has_not_seen():
    X, y, answers = two_halves()
    splits = list(answers.folds(3, random_state=0))
    plain = share_plainly(X, cluster_plainly(X, 2, 3, 0))
    trials = try_ways(X, X, answers, splits, 2, plain=plain, seed=0)
    for ways in trials.folds:
        assert_allclose(ways.sum(axis=2), 1)
        for memberships in ways:
            assert adjusted_rand_score(y, memberships.argmax(axis=1)) == 1
    judged = judge_answers(trials, weigh_ways(trials, answers, splits), answers, splits, 2, 0)
    was_held_out = ~np.isnan(judged.hits[FREE])
    assert was_held_out.sum() == sum(len(split.held_out_at) for split in splits)
    assert (judged.hits[:, was_held_out] == 1).all()


def test_each_way_is_what_its_name_says():
    rng = np.random.default_rng(0)
    X, plain = rng.normal(size=(60, 3)), np.full((60, 2), 0.5)
    answers = Constraints.from_labels(
        (X[:, 0] > 0).astype(int), n_must_link=15, n_cannot_link=15, random_state=0
    )
    linear = learn_spaces(X, X, answers, 0)[1]
    A = join_graphs([X, linear], answers)
    places = {
        JOINED: spectral_rows(A, 2),
        ON_MAP: lay_out_edges(strongest_edges(A), X),
        IN_SPACE: X,
        LINEAR: linear,
    }
    ways = find_ways(X, X, answers, 2, plain=plain, n_init=2, seed=0)
    for name, memberships in zip(WAYS, ways, strict=True):
        if name == AS_THEY_ARE.name:
            assert_array_equal(memberships, plain)
        else:
            assert_allclose(memberships, share_clusters(places[name], 2, 2, 0), err_msg=name)


def test_many_features_become_their_leading_directions_for_the_linear_way():
    rng = np.random.default_rng(0)
    loud = rng.normal(size=(80, 2)) * 50
    X = np.hstack([loud, rng.normal(size=(80, MOST_FEATURES))])
    assert_array_equal(lead_directions(X[:, :MOST_FEATURES], 0), X[:, :MOST_FEATURES])
    led = lead_directions(X, 0)
    assert led.shape == (80, N_DIRECTIONS)
    _, _, directions = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    exact = np.abs((X - X.mean(axis=0)) @ directions[:2].T)
    assert_allclose(np.abs(led[:, :2]), exact, rtol=1e-3, atol=1e-3)


def test_rows_that_were_not_tried_take_the_memberships_of_their_neighbors():
    Z = np.array([[0.0], [0.1], [5.0], [5.1]])
    tried = np.array([0, 2])
    fold = np.eye(2)[None]  # one way, two rows
    everywhere = extend_folds(WayTrials([fold], np.empty(0)), Z, tried)[0]
    assert_array_equal(everywhere[0, tried], np.eye(2))
    assert_array_equal(everywhere[0].argmax(axis=1), [0, 0, 1, 1])
    assert_allclose(everywhere.sum(axis=2), 1)


def test_the_report_names_the_way_that_counts_most():
    X, _, answers = two_halves(60)
    model = GuidedClustering(2, random_state=0).fit(X, constraints=answers)
    report = model.report_
    assert report.chosen >= 0
    assert report.trial_names[report.chosen] in report.why
    assert "averaged" in report.why


def test_answers_that_were_not_drawn_are_judged_by_all_folds_by_hand():
    """Two folds, of one way each: the pair is together with .9 and with .5."""
    sure, flat = np.array([[[0.9, 0.1], [1.0, 0.0]]]), np.full((1, 2, 2), 0.5)
    answers = Constraints(2, must_link=[(0, 1)])
    assert_allclose(judge_others([sure, flat], weighed([1.0]), answers, 1.0), [0.7])
    apart = Constraints(2, cannot_link=[(0, 1)])
    assert_allclose(judge_others([sure, flat], weighed([1.0]), apart, 2.0), [0.09 / 0.58])


def test_wrong_answers_are_found_among_those_that_were_not_drawn(monkeypatch):
    X, y, _ = two_halves(80)
    answers = Constraints.from_labels(y, n_must_link=40, n_cannot_link=40, random_state=0)
    wrong = Constraints(80, must_link=[(0, 79), (5, 60)], cannot_link=[(1, 2), (70, 71)])
    monkeypatch.setattr("likewise.guided.outcome.TRIAL_ANSWERS", 40)
    given = answers + wrong
    model = GuidedClustering(2, random_state=0).fit(X, constraints=given)
    assert adjusted_rand_score(y, model.labels_) == 1
    assert {given.points_of(i) for i in model.doubtful_} == {(0, 79), (5, 60), (1, 2), (70, 71)}


def test_every_k_means_of_a_fit_to_pairs_runs_on_one_thread(monkeypatch):
    seen, settable = [], set()  # some libraries stay at one thread, whatever is asked for

    class Watched(KMeans):
        def fit(self, *args, **kwargs):
            libraries = [one for one in threadpool_info() if one["filepath"] in settable]
            seen.append(max((library["num_threads"] for library in libraries), default=1))
            return super().fit(*args, **kwargs)

    for module in (pair_graphs, plain_clusters):
        monkeypatch.setattr(module, "KMeans", Watched)
    wine = load_wine()
    answers = Constraints.from_labels(wine.y, n_must_link=15, n_cannot_link=15, random_state=0)
    with threadpool_limits(2):
        settable |= {one["filepath"] for one in threadpool_info() if one["num_threads"] == 2}
        GuidedClustering(3, random_state=0).fit(wine.X, constraints=answers)
    assert len(seen) > 10
    assert set(seen) == {1}
