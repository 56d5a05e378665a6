"""How far a machine can be trusted, and what it says together with people."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array

from likewise.labeling import Event, Question, join_beliefs
from likewise.labeling.machine_answers import (
    MachineLook,
    Table,
    count_confusion,
    fit_weight,
    independence_of,
    log_likelihoods,
    looks_from,
    tabulate,
)

GROUPS = np.array([0, 1, -1, -1])
EMPTY = csr_array((4, 4))


def asked(row, choice, groups=((0,), (1,)), **more):
    return Event(
        "answer", f"{row}{choice}{groups}", Question("group", (row,), groups, **more), choice
    )


def test_a_look_is_the_row_chosen_among_those_shown():
    events = [asked(2, 1), asked(3, "new"), asked(3, "cant_tell")]
    position = np.array([10, 11, 12, 13])
    assert looks_from(events, position) == [
        MachineLook(12, (10, 11), 11),
        MachineLook(13, (10, 11), -1),
    ]


def test_another_group_joins_the_screens():
    events = [asked(3, "another", ((0,),), more=((1,),)), asked(3, 0, ((1,),))]
    assert looks_from(events, np.arange(4)) == [MachineLook(3, (0, 1), 1)]


def test_confusions_by_hand():
    table = Table(np.array([0, 1]), np.array([0, 0]), np.ones((2, 2), dtype=bool))
    belief = count_confusion(table, GROUPS, 2)
    right = (1 + 2 * 0.7) / 4  # one of two agrees, beside 0.7 of two
    assert belief.reliability == pytest.approx(right)
    wrong = (1 - right) / 2
    assert_allclose(belief.confusion[0], np.array([1 + 4 * right, 4 * wrong, 4 * wrong]) / 5)
    assert_allclose(belief.confusion[1], np.array([1 + 4 * wrong, 4 * right, 4 * wrong]) / 5)
    assert belief.n_compared == 2


def test_rows_that_people_did_not_place_teach_nothing_about_a_machine():
    looks = [MachineLook(2, (0, 1), 0), MachineLook(3, (0, 1), 1)]
    belief = count_confusion(tabulate(looks, GROUPS, 2), GROUPS, 2)
    assert (belief.n_compared, belief.reliability) == (0, pytest.approx(0.7))


def test_repeated_errors_are_not_independent_and_count_once():
    same = Table(np.repeat([0, 1, 2], 2), np.repeat([0, 1, 0], 2), np.ones((6, 2), dtype=bool))
    assert independence_of(same, 0.7, 2) == 0
    belief = count_confusion(same, GROUPS, 2)
    once = same._replace(
        rows=same.rows[::2], options=same.options[::2], is_shown=same.is_shown[::2]
    )
    assert_allclose(log_likelihoods(same, belief, 4), log_likelihoods(once, belief, 4))


def test_a_group_that_was_not_shown_makes_none_of_these_right():
    table = tabulate([MachineLook(2, (0,), -1)], GROUPS, 2)
    belief = count_confusion(table, GROUPS, 2)
    log_said = log_likelihoods(table, belief, 4)[2]
    assert log_said[1] == pytest.approx(np.log(0.7))
    assert log_said[0] < log_said[1]


def test_without_a_graph_a_row_follows_bayes_by_hand():
    looks = [MachineLook(0, (0, 1), 0), MachineLook(1, (0, 1), 1), MachineLook(2, (0, 1), 1)]
    field = np.full((4, 2), 0.5)
    joined = join_beliefs(field, EMPTY, GROUPS, {"machine": looks})
    T = joined.machines["machine"].confusion
    expected = T[:, 1] / T[:, 1].sum()
    assert_allclose(joined.memberships[2], expected)
    assert_allclose(joined.memberships[3], 0.5)  # nobody said anything
    assert_allclose(joined.memberships[:2], np.eye(2))  # people are believed


def test_nobody_asked_leaves_the_memberships_of_people():
    field = np.array([[1.0, 0], [0, 1], [0.3, 0.7], [0.6, 0.4]])
    assert_allclose(join_beliefs(field, EMPTY, GROUPS, {"machine": []}).memberships, field)


def cliques_and_votes(seed, n=120, wrong=0.2):
    """Two cliques, a machine that errs at random, and people who placed five rows of each."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], n // 2)
    S = csr_array((y[:, None] == y) / (n // 2))
    groups = np.full(n, -1)
    groups[[0, 1, 2, 3, 4, -1, -2, -3, -4, -5]] = [0] * 5 + [1] * 5
    said = np.where(rng.random(n) < wrong, 1 - y, y)
    stands = (0, n - 1)
    looks = [MachineLook(i, stands, stands[said[i]]) for i in range(n)]
    return y, S, groups, looks


@pytest.mark.parametrize("draw", range(5))
def test_the_graph_outvotes_random_errors(draw):
    y, S, groups, looks = cliques_and_votes(draw)
    field = np.full((len(y), 2), 0.5)
    joined = join_beliefs(field, S, groups, {"machine": looks})
    assert (joined.memberships.argmax(axis=1) == y).mean() > 0.95


def test_people_predict_without_a_machine_that_answers_at_random():
    rng = np.random.default_rng(0)
    groups = np.repeat([0, 1], 20)
    left_out = np.where(np.eye(2)[groups] > 0, 0.8, 0.2)
    table = Table(np.arange(40), rng.integers(2, size=40), np.ones((40, 2), dtype=bool))
    belief = count_confusion(table, groups, 2)
    assert fit_weight(table, belief, groups, np.arange(40), left_out) < 0.5
    right = table._replace(options=groups)
    assert fit_weight(right, belief, groups, np.arange(40), left_out) == 1


def test_a_machine_that_answers_at_random_moves_nothing():
    y, S, groups, _ = cliques_and_votes(0)
    rng = np.random.default_rng(1)
    looks = [MachineLook(i, (0, 119), int(rng.choice([0, 119]))) for i in range(120)]
    looks += [MachineLook(i, (0, 119), int(rng.choice([0, 119]))) for i in range(5)]
    field = np.where(np.eye(2)[y] > 0, 0.9, 0.1)
    joined = join_beliefs(field, S, groups, {"machine": looks})
    assert (joined.memberships.argmax(axis=1) == y).mean() > 0.95
    assert joined.machines["machine"].reliability < 0.75


@pytest.mark.parametrize("draw", range(3))
def test_order_of_looks_and_names_of_groups_do_not_matter(draw):
    y, S, groups, looks = cliques_and_votes(draw)
    rng = np.random.default_rng(draw)
    field = rng.dirichlet([1, 1], len(y))
    joined = join_beliefs(field, S, groups, {"machine": looks}).memberships
    shuffled = [looks[i] for i in rng.permutation(len(looks))]
    assert_allclose(join_beliefs(field, S, groups, {"machine": shuffled}).memberships, joined)
    swapped = np.where(groups >= 0, 1 - groups, -1)
    other = join_beliefs(field[:, ::-1], S, swapped, {"machine": looks}).memberships
    assert_allclose(other[:, ::-1], joined, atol=1e-12)
