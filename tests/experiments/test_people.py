"""The experiments on people's answers, on made people, in seconds."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from experiments import people
from experiments.runs import find_tables, reproduce
from likewise.constraints import Constraints
from likewise.datasets import Dataset

N = 40
CLOSER = people.WITHOUT_FEATURES


def choose(Z, triples, rng, sharpness=4.0):
    """(a, b, odd) of people who choose by a softmax over squared distances."""
    ends = triples[:, [[0, 1], [0, 2], [1, 2]]]
    sq_dists = np.square(Z[ends[:, :, 0]] - Z[ends[:, :, 1]]).sum(axis=2)
    pick = (-sharpness * sq_dists + rng.gumbel(size=sq_dists.shape)).argmax(axis=1)
    order = np.array([[0, 1, 2], [0, 2, 1], [1, 2, 0]])[pick]
    return np.take_along_axis(triples, order, axis=1)


def made_sets():
    rng = np.random.RandomState(0)
    y = np.arange(N) % 4
    Z = np.eye(4)[y] + 0.2 * rng.normal(size=(N, 4))
    features = np.column_stack([Z, 1.5 * rng.normal(size=(N, 6))])
    triples = np.array([rng.choice(N, 3, replace=False) for _ in range(1500)])
    odd = choose(Z, triples, rng)
    repeated = choose(Z, np.repeat(triples[:10], 30, axis=0), rng)
    things = {"triplets": odd, "repeated_triplets": repeated}
    sets = {
        people.THINGS: Dataset(people.THINGS, extras=things),
        people.FEATURES: Dataset(
            people.FEATURES,
            extras={
                "X_clip_vit_b32": features,
                "topdown_category": np.where(y < 3, np.array(list("abcd"))[y], ""),
            },
        ),
    }
    extras = {"triplets": odd, "X_alexnet": features, "votes": np.full((len(odd), 2), 1)}
    for name in (people.ZAPPOS, *CLOSER):
        sets[name] = Dataset(name, extras=extras)
    blobs = Dataset("blobs", features, y)
    return sets | dict.fromkeys(("digits", *people.LOSS_SETS), blobs)


@pytest.fixture
def made(monkeypatch):
    """Made people under every name, and small settings."""
    sets = made_sets()

    def answers(data, which="triplets"):
        triples = data.extras[which]
        if data.name == people.THINGS:
            return Constraints(N, odd_one_out=triples)
        return Constraints(N, closer=triples)

    monkeypatch.setattr(people, "fetch_once", sets.get)
    monkeypatch.setattr(people, "constraints_of", answers)
    hashes = {
        name: people.hash_of(answers(sets[name]).split(0.8, random_state=0).held_out)
        for name in people.TEST_HASHES
    }
    monkeypatch.setattr(people, "TEST_HASHES", hashes)
    for name, value in {
        "SIZES": (50,),
        "DEFAULT_ANSWERS": 60,
        "MARGIN_SIZES": (50,),
        "EMBEDDING_SIZES": (200,),
        "LOSS_SETS": ("wine",),
        "LOSS_ROWS": 40,
        "LOSS_ANSWERS": 60,
        "PANEL_ROWS": 40,
        "PANEL_ANSWERS": 40,
        "CLUSTER_INIT": 2,
    }.items():
        monkeypatch.setattr(people, name, value)
    caches = (people.split_of, people._things_space, people.test_chances)
    for cache in caches:
        cache.cache_clear()
    yield sets
    for cache in caches:
        cache.cache_clear()


def test_other_answers_held_out_than_the_known_ones_are_refused(made, monkeypatch):
    monkeypatch.setattr(people, "TEST_HASHES", {people.THINGS: "0123"})
    with pytest.raises(ValueError, match="held out of triplets_things_odd_one_out have hash"):
        people.split_of(people.THINGS)


def test_no_question_is_on_both_sides(made):
    told, test = people.split_of(people.THINGS)
    asked = {tuple(row) for row in np.sort(told.odd_one_out, axis=1)}
    assert not asked & {tuple(row) for row in np.sort(test.odd_one_out, axis=1)}


def test_more_answers_predict_more_choices(made):
    start = people.run_things(answers="0", method="gaussian start", seed=0)["accuracy"]
    some = people.run_things(answers="200", method="softmax", seed=0)["accuracy"]
    every = people.run_things(answers="all", method="softmax", seed=0)
    assert start < some < every["accuracy"]
    assert every["log-loss"] < np.log(3)
    assert every["gap"] <= 1e-4


def test_nobody_predicts_more_than_the_majority(made):
    found = people.run_ceiling(answers="all", seed=0)
    assert found["start"] < found["accuracy"] <= found["majority"]
    assert found["least log-loss"] <= found["log-loss"]
    assert found["correlation"] > 0.5


def test_the_share_who_agree_is_counted_by_question():
    repeated = Constraints(4, odd_one_out=[(0, 1, 2), (1, 0, 2), (2, 1, 0), (1, 2, 3)])
    assert_allclose(people.agreeing_shares(repeated), [2 / 3, 2 / 3, 1 / 3, 1])


def test_calibration_bins_hold_every_question_once(made):
    bins = [
        people.run_calibration(answers="all", chance=name, seed=0) for name in people.bin_names()
    ]
    assert_allclose(sum(one["share"] for one in bins), 1)
    full = [one for one in bins if one["share"] > 0.15]
    assert all(abs(one["predicted"] - one["right"]) < 0.2 for one in full)


def test_answers_bring_clusters_nearer_to_the_categories(made):
    before = people.run_clusters(answers="0", seed=0)["ARI"]
    assert people.run_clusters(answers="all", seed=0)["ARI"] > before


@pytest.mark.parametrize("panel", people.PANELS)
def test_a_panel_is_as_wrong_as_it_is_said_to_be(panel):
    told, is_wrong, truth = people.ask(np.arange(60) % 3, people.PANELS[panel], seed=0)
    for name, share in people.PANELS[panel].items():
        here = (told.annotators == name) & (told.kinds == "odd_one_out")
        assert_allclose(is_wrong[here].mean(), share, atol=0.01)
        assert_allclose(truth[name], max(0, 1 - 1.5 * share))
    assert not is_wrong[told.positions("undecided")].any()


def test_trusting_finds_slips_and_not_trusting_finds_none(made):
    job = {"panel": "contrary", "seed": 0}
    plain = people.run_annotators(**job, annotator_noise="no")
    trusting = people.run_annotators(**job, annotator_noise="yes")
    assert plain["precision"] == plain["recall"] == 0
    assert trusting["precision"] > 0.8
    assert trusting["reliability error"] < plain["reliability error"]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_table_is_made_and_read_again(made, tmp_path, monkeypatch):
    tables = find_tables("people")["people"]
    monkeypatch.setattr("experiments.runs.provenance", lambda table, skip=(): "made")
    monkeypatch.setattr("experiments.runs.find_missing_data", lambda table: {})  # all are made
    monkeypatch.setattr(people, "PANELS", {"lazy": people.PANELS["lazy"]})
    monkeypatch.setattr(people, "MARGINS", ("hard",))
    monkeypatch.setattr(people, "NOISE", (0.0,))
    said = []
    for runs in (1, 0):
        for table in tables:
            reproduce("people", table.name, n_runs=runs, results=tmp_path, say=said.append)
    half = len(said) // 2
    assert half == len(tables)
    assert said[:half] == said[half:]
