"""Labels that answer questions, rightly or not."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from likewise.labeling import LabelOracle, Question

Y = [0, 0, 1, 1, 2]
GROUP = Question("group", (1,), groups=((2,), (0,), (4,)), more=((3,),))


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (Question("pair", (0, 1)), "together"),
        (Question("pair", (0, 2)), "apart"),
        (Question("odd_one_out", (2, 0, 1)), 0),
        (Question("odd_one_out", (0, 2, 4)), "cant_tell"),
        (GROUP, 1),
        (Question("group", (4,), groups=((2,), (0,))), "new"),
        (Question("group", (4,), groups=((2,), (0,)), more=((1,),)), "another"),
        (Question("grid", (2, 0, 3, 4)), (1,)),
        (Question("review", (2, 3)), "together"),
        (Question("pure", (2, 3)), "together"),
    ],
)
def test_labels_give_the_right_answer(question, answer):
    assert LabelOracle(Y)(question) == answer


def test_a_wrong_answer_is_another_offered_one_uniformly():
    oracle = LabelOracle(Y, wrong=1.0, random_state=0)
    drawn = [oracle(GROUP) for _ in range(4000)]
    others = (0, 2, "another", "new", "nowhere")
    shares = [drawn.count(choice) / len(drawn) for choice in others]
    assert set(drawn) == set(others)
    assert_allclose(shares, 0.2, atol=0.03)


def test_so_many_answers_are_wrong_or_cant_tell_as_asked_for():
    oracle = LabelOracle(Y, wrong=0.1, cant_tell=0.1, random_state=0)
    drawn = [oracle(GROUP) for _ in range(4000)]
    assert drawn.count("cant_tell") / 4000 == pytest.approx(0.1, abs=0.02)
    assert drawn.count(1) / 4000 == pytest.approx(0.81, abs=0.03)


def test_a_wrong_grid_is_another_subset():
    oracle = LabelOracle(Y, wrong=1.0, random_state=0)
    drawn = {oracle(Question("grid", (2, 0, 3))) for _ in range(100)}
    assert drawn == {(), (0,), (0, 1)}


@pytest.mark.parametrize("share", [-0.1, 1.1, np.nan])
def test_a_share_outside_0_and_1_is_refused(share):
    with pytest.raises(ValueError, match=r"wrong=.* must lie between 0 and 1"):
        LabelOracle(Y, wrong=share)
