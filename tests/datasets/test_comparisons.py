import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from likewise.datasets import Dataset, available, constraints_of, fetch
from likewise.datasets.comparisons import MEANINGS


def make(name, **arrays):
    return Dataset(name, extras={key: np.array(value) for key, value in arrays.items()})


def test_odd_ones_out_are_taken_as_they_are():
    data = make(
        "triplets_things_odd_one_out",
        triplets=[[5, 3, 1853], [0, 1, 2]],
        subject=[7, 0],
        repeated_triplets=[[2, 1, 0]],
        repeated_subject=[7],
    )
    c = constraints_of(data)
    assert c.n_samples == 1854
    assert_array_equal(c.odd_one_out, [[5, 3, 1853], [0, 1, 2]])
    assert_array_equal(c.annotators, ["subject 7", "subject 0"])
    repeated = constraints_of(data, "repeated_triplets")
    assert_array_equal(repeated.annotators, ["repeated subject 7"])  # another person


@pytest.mark.parametrize(
    ("name", "n"),
    [("triplets_food100", 100), ("triplets_zappos_shoes85", 85), ("triplets_music412", 412)],
)
def test_closer_answers_are_taken_as_they_are(name, n):
    c = constraints_of(make(name, triplets=[[4, 2, 9], [4, 2, 9]]))
    assert (c.n_samples, c.n_answers) == (n, 2)
    assert_array_equal(c.closer, [[4, 2, 9], [4, 2, 9]])
    assert c.annotators is None


def test_an_answer_that_names_an_object_twice_is_left_out():
    twice = [[4, 2, 9], [4, 2, 4], [4, 4, 2], [2, 4, 4]]
    c = constraints_of(make("triplets_food100", triplets=twice, worker_id=[3, 1, 1, 1]))
    assert_array_equal(c.closer, [[4, 2, 9]])
    assert_array_equal(c.annotators, ["worker 3"])


def test_votes_become_that_many_answers_each_way():
    c = constraints_of(
        make("triplets_materials100", triplets=[[9, 1, 2], [8, 3, 4]], votes=[[2, 1], [1, 0]])
    )
    assert_array_equal(c.closer, [[9, 1, 2], [9, 1, 2], [9, 2, 1], [8, 3, 4]])


@given(st.permutations(range(3)), st.integers(0, 1000))
def test_the_most_central_of_three_says_exactly_two_inequalities(order, seed):
    points = np.random.RandomState(seed).uniform(size=(3, 2))
    a, b, c = order

    def d(i, j):
        return np.linalg.norm(points[i] - points[j])

    answers = constraints_of(make("triplets_cars60_most_central", triplets=[[a, b, c]])).closer
    said = all(d(x, near) < d(x, far) for x, near, far in answers)
    assert said == (d(a, b) < d(b, c) and d(a, c) < d(b, c))


def test_both_halves_of_a_most_central_answer_are_of_one_person():
    data = make("triplets_cars60_most_central", triplets=[[0, 1, 2], [3, 4, 5]], round_id=[6, 8])
    assert_array_equal(constraints_of(data).annotators, ["round 6"] * 2 + ["round 8"] * 2)


def test_randels_pairs_are_must_links_and_cannot_links():
    c = constraints_of(
        make("randel_ssc_constraints", iris1=[[0, 1, 1], [0, 99, -1], [3, 4, 1]]), "iris1"
    )
    assert c.n_samples == 150
    assert_array_equal(c.must_link, [[0, 1], [3, 4]])
    assert_array_equal(c.cannot_link, [[0, 99]])


def test_a_set_without_answers_and_an_unknown_array_are_named():
    with pytest.raises(ValueError, match="'iris' has no answers by people"):
        constraints_of(make("iris"))
    pairs = make("randel_ssc_constraints", iris1=[[0, 1, 1]], yeast1=[[0, 1, 1]])
    with pytest.raises(ValueError, match=r"which = 'yeast1': .* Choose iris1\."):
        constraints_of(pairs, "yeast1")


real = pytest.mark.skipif("LIKEWISE_DATA" not in os.environ, reason="LIKEWISE_DATA is not set")
N_ANSWERS = {
    ("triplets_things_odd_one_out", "triplets"): 127_304,
    ("triplets_things_odd_one_out", "triplets_subjects0to9_more"): 21_616,
    ("triplets_things_odd_one_out", "repeated_triplets"): 87_993,
    ("triplets_food100", "triplets"): 250_320,
    ("triplets_zappos_shoes85", "triplets"): 283_770,
    ("triplets_music412", "triplets"): 9_107 - 17,
    ("triplets_materials100", "triplets"): 92_892,
    ("triplets_materials100", "test_triplets"): 11_800,
    ("triplets_cars60_most_central", "triplets"): 2 * 7_097,
}


@real
@pytest.mark.data
@pytest.mark.parametrize(("name", "which"), sorted(N_ANSWERS))
def test_every_answer_of_the_real_files_is_there(name, which):
    if available()[name] != "folder":
        pytest.skip(f"{name}.npz is not in LIKEWISE_DATA")
    assert constraints_of(fetch(name), which).n_answers == N_ANSWERS[name, which]


@real
@pytest.mark.data
@pytest.mark.parametrize(
    ("pairs", "name"),
    [
        ("balance", "balance_scale"),
        ("control", "synthetic_control"),
        ("ionosphere", "ionosphere"),
        ("iris", "iris"),
        ("optical", "optdigits"),
        ("protein", "protein_xing"),
        ("soybean", "soybean_small"),
    ],
)
def test_randels_pairs_agree_with_the_classes(pairs, name):
    if {available()[name], available()["randel_ssc_constraints"]} != {"folder"}:
        pytest.skip(f"{name}.npz or randel_ssc_constraints.npz is not in LIKEWISE_DATA")
    data, y = fetch("randel_ssc_constraints"), fetch(name).y
    for which in (f"{pairs}1", f"{pairs}2"):
        c = constraints_of(data, which)
        assert c.n_samples == min(len(y), 3823)
        signed, sign = c.signed_pairs()
        assert_array_equal(np.where(y[signed[:, 0]] == y[signed[:, 1]], 1, -1), sign)


def test_every_set_of_answers_has_a_meaning():
    from likewise.datasets.catalog import CATALOG

    assert set(MEANINGS) == {name for name, entry in CATALOG.items() if entry.kind == "answers"}
