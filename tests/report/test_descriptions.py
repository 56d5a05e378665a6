"""What each cluster is called, and what sets it apart."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse

from likewise import Constraints, GuidedClustering, load_model, save_model
from likewise.features import TableFeatures, TextFeatures, readable_date
from likewise.report import describe_clusters, write_report
from likewise.report.traits import (
    Trait,
    column_traits,
    compare_columns,
    propose_names,
    word_traits,
)
from tests.report.made import made_model

FRUIT = ["ripe apple pie", "apple and pear", "the apple", "the pear tart"]
TOOLS = ["the hammer and nail", "a hammer", "nail gun", "the saw"]


def test_the_effect_is_the_gap_of_means_in_standard_deviations_within():
    X = np.array([[1.0], [3.0], [6.0], [8.0]])
    moments = compare_columns(X, np.array([0, 0, 1, 1]), 2)
    assert_allclose(moments.here[:, 0], [2, 7])
    assert_allclose(moments.elsewhere[:, 0], [7, 2])
    assert_allclose(moments.effects[:, 0], np.array([-5, 5]) / np.sqrt(2))  # (1+1+1+1) / (4-2)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_the_column_that_differs_comes_first_and_constant_ones_never(make):
    X = np.array([[5, 0.0, 5, 1], [7, 0, 6, 1], [6, 9, 5, 1], [7, 8, 6, 1]])
    first, second = column_traits(make(X), np.array([0, 0, 1, 1]), list("abcd"), 2, 3)
    assert [trait.what for trait in second] == ["b"]
    assert str(first[0]) == "low b"
    assert (second[0].here, second[0].elsewhere, second[0].is_share) == (8.5, 0, False)


@settings(max_examples=20)
@given(st.integers(0, 10_000))
def test_shifting_and_scaling_a_column_does_not_change_its_effect(seed):
    rng = np.random.RandomState(seed)
    X, labels = rng.randn(40, 3), rng.randint(3, size=40)
    effects = compare_columns(X, labels, 3).effects
    assert_allclose(compare_columns(X * [1, 100, 1] + [0, 1e6, 5], labels, 3).effects, effects,
                    atol=1e-5)  # fmt: skip
    assert_allclose(compare_columns(sparse.csr_array(X), labels, 3).effects, effects, atol=1e-9)


def test_a_planted_column_is_named_first_in_nineteen_tables_of_twenty():
    first = 0
    for seed in range(20):
        rng = np.random.RandomState(seed)
        labels, planted = np.repeat(np.arange(4), 30), rng.randint(8)
        X = rng.randn(120, 8)
        X[labels == 2, planted] += 1.5
        traits = column_traits(X, labels, [f"x{j}" for j in range(8)], 4, 3)
        first += traits[2][0].what == f"x{planted}"
    assert first >= 19


def test_words_that_only_one_cluster_has_describe_it_and_words_of_all_do_not():
    fruit, tools = word_traits(FRUIT * 5 + TOOLS * 5, np.repeat([0, 1], 20), 2, 3)
    assert [trait.what for trait in fruit][:2] == ["apple", "pear"]
    assert {trait.what for trait in tools} >= {"hammer", "nail"}
    assert "the" not in {trait.what for trait in fruit + tools}
    assert (fruit[0].here, fruit[0].elsewhere) == (0.75, 0)


def test_texts_without_words_and_clusters_without_rows_are_described_by_nothing():
    assert word_traits(["", "!"], np.array([0, 1]), 2, 3) == [[], []]
    assert column_traits(np.eye(4), np.zeros(4, dtype=int), list("abcd"), 2, 3) == [[], []]


def trait(what, effect, *, is_share=False):
    return Trait(what, effect, 1.0, 0.0, is_share)


def test_a_name_takes_the_two_strongest_columns_and_one_level_of_each():
    levels = [trait("city=Paris", 3, is_share=True), trait("city=Rome", -2, is_share=True)]
    weak = trait("age", 0.2)
    names = propose_names([[*levels, trait("income", -1)], [weak], [levels[1]]])
    assert names == ["city=Paris, low income", "", "not city=Rome"]


def test_two_clusters_of_one_name_say_one_thing_more():
    same = [trait("a", 2), trait("b", 2)]
    names = propose_names([[*same, trait("c", 1)], [*same, trait("c", -1)]])
    assert names == ["high a, high b, high c", "high a, high b, low c"]


def test_columns_without_names_make_no_names_but_are_listed():
    X = np.repeat([[0.0, 0], [9, 0]], 5, axis=0) + np.random.RandomState(0).rand(10, 2)
    model = made_model(X, [0] * 5 + [1] * 5)
    unnamed, named = (
        describe_clusters(model, X),
        describe_clusters(model, X, feature_names=["x", "y"]),
    )
    assert [cluster.title for cluster in unnamed] == ["Cluster 0", "Cluster 1"]
    assert unnamed[1].traits[0].what == "feature 0"
    assert [cluster.name for cluster in named] == ["low x", "high x"]
    assert sorted(named[0].typical) == [0, 1, 2, 3, 4]


def test_own_names_are_kept_and_one_each_is_asked_for():
    X = np.arange(4.0)[:, None]
    model = made_model(X, [0, 0, 1, 1], cluster_names_=["", "mine"])
    low, mine = describe_clusters(model, X, feature_names=["x"])
    assert (low.name, low.is_own_name) == ("low x", False)
    assert (mine.name, mine.is_own_name) == ("mine", True)
    model.cluster_names_ = ["one"]
    with pytest.raises(ValueError, match="cluster_names_ has 1 names, but there are 2 clusters"):
        describe_clusters(model, X)


def test_a_table_is_described_by_its_columns_and_by_the_words_of_its_texts():
    table = pd.DataFrame({
        "price": np.repeat([3.0, 90.0], 20) + np.tile([0.1, 0.2], 20),
        "city": ["Rome", "Oslo"] * 20,
        "note": [f"{text} {i}" for i, text in enumerate(FRUIT * 5 + TOOLS * 5)],
    })  # fmt: skip
    model = GuidedClustering(2, random_state=0).fit(table)
    described = describe_clusters(model, table)
    words = {trait.what for cluster in described for trait in cluster.traits}
    assert "price" in words
    assert words & {"apple", "hammer", "nail", "pear"}
    assert not [what for what in words if what.startswith("note_")]


def test_texts_as_rows_are_described_by_their_words():
    texts = FRUIT * 5 + TOOLS * 5
    model = GuidedClustering(2, features=TextFeatures(), random_state=0).fit(texts)
    words = {trait.what for cluster in describe_clusters(model, texts) for trait in cluster.traits}
    assert words & {"apple", "hammer", "nail", "pear"}


def test_names_are_kept_in_the_model_file(tmp_path):
    X = np.repeat([[0.0, 0], [9, 0]], 5, axis=0) + np.random.RandomState(0).rand(10, 2)
    model = GuidedClustering(2, random_state=0).fit(X)
    assert model.cluster_names_ == ["", ""]
    model.cluster_names_ = ["near", "far, and 'odd'"]
    save_model(model, tmp_path / "m.likewise")
    loaded = load_model(tmp_path / "m.likewise")
    assert [c.name for c in describe_clusters(loaded, X)] == ["near", "far, and 'odd'"]


def test_dates_set_clusters_apart_as_early_and_late_days_and_waves_do_not(tmp_path):
    old, new = np.datetime64("2019-03-05T12:00"), np.datetime64("2024-03-05T12:00")
    weeks = np.arange(20) * np.timedelta64(21, "D")
    rows = {"joined": np.concatenate([old + weeks, new + weeks])}
    answers = Constraints.from_labels(np.repeat([0, 1], 20), n_pairs=40, random_state=0)
    model = GuidedClustering(2, features=TableFeatures(), random_state=0)
    model.fit(rows, constraints=answers)
    assert "joined_year_sin" in model.features_.get_feature_names_out()
    described = describe_clusters(model, rows)
    assert {cluster.name for cluster in described} == {"early joined", "late joined"}
    traits = {trait for cluster in described for trait in cluster.traits}
    assert {trait.what for trait in traits} == {"joined"}
    ((early, late),) = {(t.here, t.elsewhere) for t in traits if str(t) == "early joined"}
    write_report(tmp_path / "report.html", model, rows)
    page = (tmp_path / "report.html").read_text()
    assert f"{readable_date(early)} ↓" in page
    assert f"{readable_date(late)} ↑" in page
    assert "2019-03-05" <= readable_date(early) < readable_date(late)


def test_traits_find_their_columns_beside_texts():
    words = ["a sweet apple pie", "an engine of steel", "a pie of sweet apple", "a steel engine"]
    rows = {"note": words * 10, "age": np.repeat([20.0, 60.0], 20) + np.arange(40) % 7}
    model = GuidedClustering(2, features=TableFeatures(as_text=["note"]), random_state=0)
    y = np.repeat([0, 1], 20)
    model.fit(rows, constraints=Constraints.from_labels(y, n_pairs=40, random_state=0))
    names = list(model.features_.get_feature_names_out())
    assert names.index("age") > 0
    traits = [t for about in describe_clusters(model, rows) for t in about.traits]
    assert {names[t.place] for t in traits if not t.is_word} == {"age"}
    assert {t.place for t in traits if t.is_word} <= {-1}
