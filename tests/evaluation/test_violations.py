"""What ``violated_`` says: by hand for the shared functions, and by definition on every learner."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from likewise import (
    ITML,
    LSML,
    MMC,
    NPK,
    RCA,
    SKLR,
    ChoiceKernel,
    Constraints,
    KernelAlignment,
    LogDetPairs,
    SimpleNPK,
    SpectralReweighting,
)
from likewise.constraints.table import KINDS
from likewise.datasets import load_iris
from likewise.evaluation import violated_by_bounds, violated_on_average
from likewise.maps import LinearMap

ROWS = np.array([[0.0], [1.0], [2.0], [10.0]])
ANSWERS = Constraints(
    4, must_link=[(0, 3), (0, 1)], cannot_link=[(1, 2), (2, 3)], closer=[(0, 3, 1), (0, 1, 3)]
)
AS_IT_IS = LinearMap(np.eye(1))


def test_pairs_beyond_their_bounds_by_hand():
    assert_array_equal(violated_by_bounds(AS_IT_IS, ROWS, ANSWERS, (1.0, 64.0)), [0, 2])
    assert_array_equal(violated_by_bounds(AS_IT_IS, ROWS, ANSWERS, (0.5, 65.0)), [0, 1, 2, 3])
    close = (1.0 - 1e-4, 64.0 + 1e-4)  # a bound missed by a rounding is not violated
    assert_array_equal(violated_by_bounds(AS_IT_IS, ROWS, ANSWERS, close), [0, 2])


def test_pairs_against_the_average_and_triples_in_the_wrong_order_by_hand():
    found = violated_on_average(AS_IT_IS, ROWS, ANSWERS, 30.0, KINDS)
    assert_array_equal(found, [0, 2, 4])
    assert_array_equal(violated_on_average(AS_IT_IS, ROWS, ANSWERS, 30.0, ("must_link",)), [0])


def test_no_answers_violate_nothing():
    none = Constraints(4)
    assert len(violated_by_bounds(AS_IT_IS, ROWS, none, (1.0, 2.0))) == 0
    assert len(violated_on_average(AS_IT_IS, ROWS, none, 1.0, KINDS)) == 0


LEARNERS = [
    ITML(random_state=0),
    RCA(),
    MMC(),
    LSML(),
    LogDetPairs(bounds=(0.3, 1.0), random_state=0),
    SKLR(C=1.0, random_state=0),
    ChoiceKernel(C=1.0, sharpness=2.0, random_state=0),
    NPK(),
    SimpleNPK(),
    SpectralReweighting(random_state=0),
    KernelAlignment(),
]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_of_an_answer_and_its_opposite_one_is_violated_by_every_learner(learner):
    iris = load_iris()
    right = Constraints.from_labels(
        iris.y, n_must_link=20, n_cannot_link=20, n_odd_one_out=20, random_state=0
    )
    if isinstance(learner, LSML):
        wrong = Constraints(150, closer=[(0, 149, 1), (0, 1, 149)])
    else:
        wrong = Constraints(150, must_link=[(0, 149)], cannot_link=[(0, 149)])
    answers = wrong + right
    learner.fit(iris.X, constraints=answers)
    assert 0 in learner.violated_ or (1 in learner.violated_ and not isinstance(learner, RCA))
    assert len(learner.violated_) < answers.n_answers / 2
    assert_array_equal(learner.violated_, np.unique(learner.violated_))
    silenced = Constraints(150, must_link=[(0, 1)], closer=[(0, 1, 149)], weights=[1.0, 0.0])
    assert learner.fit(iris.X, constraints=silenced).n_answers_used_ == (
        0 if isinstance(learner, LSML) else 1
    )
