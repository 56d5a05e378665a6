"""Answers as the papers drew them."""

import numpy as np
import pytest

from experiments.drawn_answers import draw_bagged_sets, draw_components, draw_sklr_answers


def all_right(constraints, y):
    """Whether every answer is what the classes (n,) say."""
    same = [
        y[rows[:, 0]] == y[rows[:, 1]] for rows in (constraints.must_link, constraints.odd_one_out)
    ]
    apart = [
        y[rows[:, 0]] != y[rows[:, -1]]
        for rows in (constraints.cannot_link, constraints.odd_one_out)
    ]
    n_classes = [len(np.unique(y[rows])) for rows in constraints.undecided]
    return np.concatenate(same + apart).all() and 2 not in n_classes


def test_sklr_answers_count_as_in_the_paper():
    y = np.repeat([0, 1, 2, 3], 50)
    pairs, triples = draw_sklr_answers(y, n_labelled=10, n_undecided=20, random_state=0)
    assert len(pairs.must_link) == len(pairs.cannot_link) == 4 * 45
    assert len(triples.odd_one_out) == 360
    assert len(triples.undecided) == 20
    assert len(pairs.touched_rows()) == 40
    assert all_right(pairs, y)
    assert all_right(triples, y)
    with pytest.raises(ValueError, match="n_labelled=51, but class 0 has only 50 rows"):
        draw_sklr_answers(y, n_labelled=51)


@pytest.mark.parametrize(("amount", "share"), [("little", 0.9), ("much", 0.7)])
def test_npk_answers_leave_the_named_share_of_components(amount, share, seed):
    y = np.random.RandomState(seed).randint(3, size=150)
    c = draw_components(y, amount, random_state=seed)
    assert c.closure().n_components == round(share * 150)
    assert len(c.must_link) == len(c.cannot_link)
    assert all_right(c, y)


def test_npk_answers_are_refused_where_they_cannot_be_drawn():
    with pytest.raises(ValueError, match="10 classes cannot fall into 7 components"):
        draw_components(np.arange(10), "much")
    with pytest.raises(ValueError, match="'little' or 'much'"):
        draw_components([0, 0], "some")


def test_bagged_sets_have_one_to_a_hundred_pairs_and_both_ends_occur():
    y = np.random.RandomState(0).randint(3, size=40)
    sizes = [c.n_answers for c in draw_bagged_sets(y, n_sets=2000, random_state=0)]
    assert min(sizes) == 1
    assert max(sizes) == 100
    assert abs(np.mean(sizes) - 50.5) < 3
