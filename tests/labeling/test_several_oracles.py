"""A machine about everything, people where it matters."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from likewise import LabelingSession, ask
from likewise.labeling import LabelOracle, OracleStopped, Reply


def blobs(seed=0, k=4, n=160, spread=1.0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    return rng.normal(size=(k, 2))[y] * 4 + rng.normal(size=(n, 2)) * spread, y


class Counting:
    def __init__(self, oracle):
        self.oracle, self.questions = oracle, []

    def __call__(self, question):
        self.questions.append(question)
        return self.oracle(question)


BUDGET = {"machine": 300, "person": 16}


def test_nobody_is_asked_more_than_their_budget_and_all_answers_are_named():
    X, y = blobs()
    machine, person = Counting(LabelOracle(y)), Counting(LabelOracle(y))
    session = ask(X, [machine, person], BUDGET)
    assert len(person.questions) == 16
    assert 160 <= len(machine.questions) <= 300
    answers = [event for event in session.events if event.kind == "answer"]
    by_name = {name: sum(e.annotator == name for e in answers) for name in BUDGET}
    assert by_name == {"machine": len(machine.questions), "person": 16}


def test_people_repair_a_machine_that_merges_two_classes():
    gains = []
    for draw in range(5):
        X, y = blobs(draw)
        merged = np.where(y == 1, 0, y)
        session = ask(X, [LabelOracle(merged), LabelOracle(y)], BUDGET, random_state=draw)
        alone = ask(X, LabelOracle(y), 16, random_state=draw)
        together = adjusted_rand_score(y, session.labels)
        assert together > adjusted_rand_score(y, alone.labels) - 0.02
        gains.append(together - adjusted_rand_score(y, merged))
        assert session.machine_beliefs["machine"].confusion.shape == (4, 5)
    assert np.mean(gains) > 0.15
    assert min(gains) > -0.01


def test_a_machine_that_takes_the_first_group_it_is_shown_moves_nothing():
    """It knows nothing; the order of groups must not tell it what people said."""
    X, y = blobs(0)
    session = ask(X, [lambda question: 0, LabelOracle(y)], BUDGET, random_state=0)
    assert session.machine_beliefs["machine"].weight == 0


def test_a_machine_that_errs_at_random_helps_and_is_known_for_it():
    X, y = blobs(1, spread=2.5)
    machine = LabelOracle(y, wrong=0.25, random_state=0)
    session = ask(X, [machine, LabelOracle(y)], BUDGET, random_state=0)
    alone = ask(X, LabelOracle(y), 16, random_state=0)
    assert adjusted_rand_score(y, session.labels) > adjusted_rand_score(y, alone.labels) + 0.1
    assert 0.55 < session.machine_beliefs["machine"].reliability < 0.9


def test_a_machine_that_is_always_wrong_does_little_harm():
    X, y = blobs(2)
    shuffled = np.random.default_rng(0).permutation(y)
    session = ask(X, [LabelOracle(shuffled), LabelOracle(y)], BUDGET, random_state=0)
    alone = ask(X, LabelOracle(y), 16, random_state=0)
    assert adjusted_rand_score(y, session.labels) > adjusted_rand_score(y, alone.labels) - 0.1


def test_a_log_opened_again_has_the_same_labels(tmp_path):
    X, y = blobs()
    log = tmp_path / "answers.log"
    session = ask(X, [LabelOracle(y), LabelOracle(y)], {"machine": 60, "person": 8}, log=log)
    labels = session.labels
    session.close()
    again = LabelingSession(X, log=log, machines=("machine",))
    assert (again.labels == labels).all()
    assert again.twin().machines == ("machine",)
    again.close()


def test_the_model_is_fitted_to_what_both_are_sure_of():
    X, y = blobs()
    session = ask(X, [LabelOracle(y), LabelOracle(y)], {"machine": 160, "person": 10})
    placed = session.settled_answers().touched_rows()
    assert len(placed) > 100
    assert adjusted_rand_score(y, session.model.labels_) > 0.9


def test_a_machine_that_stops_leaves_the_rest_to_people():
    X, y = blobs()

    def spent(question):
        raise OracleStopped("max_cost=1 is spent")

    with pytest.warns(UserWarning, match="machine stopped answering: max_cost=1 is spent"):
        session = ask(X, [spent, LabelOracle(y)], BUDGET)
    answered = [event.annotator for event in session.events if event.kind == "answer"]
    assert answered == ["person"] * 16


def test_an_unsure_machine_cannot_tell():
    X, y = blobs()
    right = LabelOracle(y)
    machine = lambda question: Reply(right(question), 0.4)  # noqa: E731
    session = ask(X, [machine, right], {"machine": 20, "person": 8})
    said = {event.choice for event in session.events if event.annotator == "machine"}
    assert said == {"cant_tell"}


def test_two_people_and_a_machine_by_name():
    X, y = blobs()
    answering = {name: LabelOracle(y) for name in ("gpt", "ann", "bob")}
    budget = {"gpt": 100, "ann": 6, "bob": 6}
    session = ask(X, answering, budget, machines=["gpt"])
    assert session.machines == ("gpt",)
    assert adjusted_rand_score(y, session.labels) > 0.8


@pytest.mark.parametrize(
    ("oracles", "budget", "machines", "message"),
    [
        ([len, len], 5, None, "Several oracles need a budget by name"),
        ([len], {"a": 1, "b": 1}, None, "names 2, and there are 1"),
        ({"a": len}, {"b": 1}, None, r"budget names \['b'\]"),
        ([len, len], {"a": -1, "b": 1}, None, r"budget\['a'\]=-1 must be 0 or more"),
        ([len, len], {"a": 1, "b": 1}, ["c"], "machines names 'c'"),
    ],
)
def test_budgets_that_cannot_be_are_refused(oracles, budget, machines, message):
    with pytest.raises(ValueError, match=message):
        ask([[0.0], [1.0]], oracles, budget, machines=machines)


def test_a_session_has_no_questions_for_a_machine_it_does_not_know():
    session = LabelingSession([[0.0], [1.0]])
    with pytest.raises(ValueError, match="is none of the machines"):
        session.questions_for_machine("gpt", 3)
