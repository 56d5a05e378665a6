"""Sessions: a state machine whose state is its events."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from likewise import Constraints
from likewise.features import TableFeatures
from likewise.labeling import Event, LabelingSession, LabelOracle, Question, ask, groups_so_far
from likewise.labeling.asked_again import swap
from likewise.labeling.settled_groups import not_outvoted

CENTERS = 9 * np.eye(4)
X, Y = make_blobs(60, centers=CENTERS, random_state=0)


def state_of(session):
    """All that a session shows."""
    knowledge = session.knowledge
    arrays = (knowledge.groups, knowledge.apart, knowledge.memberships, session.labels)
    return (
        session.events,
        session.constraints,
        [array.tolist() for array in arrays],
        knowledge.asked,
        session.progress._replace(consistency=0.0),
        session.next_question("ann"),
        session.next_question(),
    )


# ---- asking


def test_an_oracle_that_knows_the_classes_gets_them():
    done = ask(X, LabelOracle(Y), budget=12)
    assert adjusted_rand_score(Y, done.labels) == 1
    assert done.progress.n_groups == 4
    assert done.progress.n_questions == 12


def test_a_session_says_how_many_answers_it_has():
    session = ask(X, LabelOracle(Y), budget=3)
    assert repr(session) == "<LabelingSession on 60 rows: 3 answers>"
    session.undo()
    assert repr(session) == "<LabelingSession on 60 rows: 2 answers>"


def test_a_question_stays_until_it_is_answered():
    started = LabelingSession(X)
    question = started.next_question()
    assert started.next_question() == question
    assert started.answer(question, "new")
    assert started.next_question() != question


def test_two_people_get_different_questions():
    started = LabelingSession(X)
    assert started.next_question("ann").rows != started.next_question("bob").rows


def test_a_question_that_somebody_else_has_answered_is_dropped():
    started = LabelingSession(X)
    question = started.next_question("ann")
    started.answer(question, "new", annotator="bob")
    assert started.next_question("ann").rows != question.rows


def test_a_skipped_question_does_not_come_again():
    started = LabelingSession(X)
    seen = set()
    for _ in range(10):
        question = started.next_question()
        assert question.rows not in seen
        seen.add(question.rows)
        started.skip(question)
    assert started.progress.n_questions == 0


def test_when_nothing_is_left_to_ask_it_says_so():
    rows = [[0.0], [0.1], [9.0]]
    done = ask(rows, LabelOracle([0, 0, 1]), budget=50, repeat_share=0)
    assert done.next_question() is None
    assert done.progress.should_stop
    assert done.progress.n_questions < 4
    assert "no row is left" in done.progress.why


@pytest.mark.parametrize("annotator", [None, "ann"])
def test_another_group_shows_the_next_screen_also_to_who_is_named_only_in_the_answer(annotator):
    n_groups = 10
    rows = np.repeat(np.eye(n_groups), 3, axis=0) * 9 + np.linspace(0, 0.1, 3 * n_groups)[:, None]
    y = np.repeat(np.arange(n_groups), 3)
    started, oracle = LabelingSession(rows, repeat_share=0), LabelOracle(y)
    seen_another = False
    for _ in range(29):
        question = started.next_question()
        if question is None:
            break
        choice = oracle(question)
        started.answer(question, choice, annotator=annotator)
        if choice == "another":
            seen_another = True
            following = started.next_question()
            assert following.rows == question.rows
            assert following.groups == question.more[:8]
    assert seen_another
    assert adjusted_rand_score(y, started.labels) == 1
    last = started.events[-1].question
    started.undo()
    assert started.next_question() == last


def test_questions_come_again_with_sides_swapped_and_consistency_is_measured():
    done = ask(X, LabelOracle(Y), budget=40, repeat_share=0.3)
    repeats = [e.question for e in done.events if e.kind == "answer" and e.question.is_repeat]
    first = [e.question for e in done.events if e.kind == "answer" and not e.question.is_repeat]
    assert len(repeats) > 3
    assert all(any(swap(q) == repeat for q in first) for repeat in repeats)
    assert len({repeat.rows for repeat in repeats}) == len(repeats)
    assert done.progress.consistency == 1
    guesses = np.random.default_rng(0)
    hasty = ask(
        X, lambda q: q.offered[guesses.integers(len(q.offered) - 1)], budget=60, repeat_share=0.3
    )
    assert hasty.progress.consistency < 1


# ---- answering


def test_undo_takes_back_the_last_answer_without_limit_and_asks_again():
    started = LabelingSession(X)
    questions = []
    for _ in range(3):
        questions.append(started.next_question())
        started.answer(questions[-1], "new")
    for question in reversed(questions):
        assert started.undo().question == question
        assert started.next_question() == question
    assert started.undo() is None
    assert started.constraints.n_answers == 0
    assert started.progress.n_questions == 0


def test_undo_of_one_person_leaves_the_answers_of_others():
    started = LabelingSession(X)
    started.answer(Question("pair", (0, 1)), "apart", annotator="ann")
    started.answer(Question("pair", (2, 3)), "apart", annotator="bob")
    assert started.undo("ann").question.rows == (0, 1)
    assert_array_equal(started.constraints.cannot_link, [(2, 3)])


def test_an_answer_that_is_sent_twice_counts_once():
    started = LabelingSession(X)
    assert started.answer(Question("pair", (0, 1)), "apart", event_id="a1")
    assert not started.answer(Question("pair", (0, 1)), "apart", event_id="a1")
    assert started.constraints.n_answers == 1
    assert started.answer(Question("pair", (2, 3)), "apart")
    assert started.undo(event_id="u1") is not None
    assert started.undo(event_id="u1") is None
    assert started.constraints.n_answers == 1


def test_actions_count_as_one_look_each():
    started = LabelingSession(X)
    started.act("pure", rows=[0, 1, 2])
    started.act("split", groups=[[0], [3, 4]])
    started.act("move", rows=[5], groups=[[3], [0]])
    assert_allclose(started.constraints.weights.sum(), 3)
    groups = started.knowledge.groups
    assert groups[0] == groups[1] == groups[2] != groups[3] == groups[4] == groups[5]
    started.act("merge", groups=[[0], [3]])
    assert len(set(started.constraints.screens)) == 4


def test_a_row_that_belongs_nowhere_has_no_label_and_is_not_learned_from():
    started = LabelingSession(X)
    question = started.next_question()
    started.answer(question, "nowhere")
    assert started.labels[question.rows[0]] == -1
    assert (started.constraints.weights == 0).all()
    assert question.rows[0] not in started.knowledge.known_rows


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda s: s.answer(Question("pair", (0, 99)), "apart"), "points outside X"),
        (lambda s: s.answer(Question("pair", (0, 1)), "new"), "no answer to a question"),
        (lambda s: s.act("burn", rows=[0]), "kind='burn' is no action"),
        (lambda s: LabelingSession(X, kinds=("pear",)), "'pear' is unknown"),
        (lambda s: LabelingSession(X, kinds=()), "no kind is given"),
        (lambda s: LabelingSession(X, repeat_share=2), "repeat_share=2 must lie between"),
        (lambda s: LabelingSession(X, ids=["a"]), "ids has 1 names"),
        (lambda s: LabelingSession(X, start_labels=[0]), "start_labels has shape"),
        (lambda s: LabelingSession(X, start_labels=[-1] * 60), "names no cluster"),
        (lambda s: s.add_answers(Constraints(5)), "about 5 rows, and X has 60"),
        (lambda s: ask(X, LabelOracle(Y), budget=-1), "budget=-1 must be 0 or more"),
    ],
)
def test_what_makes_no_sense_is_one_error(call, words):
    started = LabelingSession(X)
    with pytest.raises(ValueError, match=words):
        call(started)
    assert started.events == ()


# ---- the same again


@given(draw=st.integers(0, 10_000), kinds=st.sampled_from([("group",), ("pair",)]))
@settings(max_examples=15)
def test_a_session_replayed_from_its_log_is_where_it_was(tmp_path_factory, draw, kinds):
    path = tmp_path_factory.mktemp("log") / "answers.log"
    how = {"kinds": kinds, "random_state": draw, "repeat_share": 0.2, "log": path}
    live, rng = LabelingSession(X, **how), np.random.default_rng(draw)
    oracle = LabelOracle(Y, wrong=0.2, cant_tell=0.1, random_state=draw)
    for _ in range(20):
        name = ("ann", None)[rng.integers(2)]
        question = live.next_question(name)
        if question is None:
            continue
        what = rng.random()
        if what < 0.75:
            live.answer(question, oracle(question), annotator=name, seconds=rng.random())
        elif what < 0.85:
            live.skip(question, annotator=name)
        elif what < 0.95:
            live.undo(name)
        else:
            live.act("merge", groups=[[int(row)] for row in rng.choice(60, 2, replace=False)])
    replayed = LabelingSession(X, **how)
    assert state_of(replayed) == state_of(live)
    for one in (live, replayed):
        one.close()


def test_the_same_seed_asks_the_same_questions():
    one, other = (ask(X, LabelOracle(Y), budget=15, random_state=3) for _ in range(2))
    asked = [[e.question for e in s.events] for s in (one, other)]
    assert asked[0] == asked[1]


def test_undo_goes_on_after_a_restart(tmp_path):
    how = {"log": tmp_path / "answers.log"}
    before = ask(X, LabelOracle(Y), budget=4, **how)
    before.close()
    after = LabelingSession(X, **how)
    assert [after.undo() is not None for _ in range(5)] == [True] * 4 + [False]
    after.close()


def test_on_changed_rows_their_answers_are_set_aside(tmp_path):
    ids = [f"r{i}" for i in range(60)]
    before = LabelingSession(X, ids=ids, log=tmp_path / "answers.log")
    before.answer(Question("pair", (0, 1)), "apart", event_id="e1")
    before.answer(Question("pair", (2, 3)), "apart", event_id="e2")
    before.close()
    changed = X[::-1].copy()
    changed[59] += 1
    after = LabelingSession(changed, ids=ids[::-1], log=tmp_path / "answers.log")
    assert after.set_aside == [("e1", "r0", "changed")]
    assert_array_equal(after.constraints.cannot_link, [(57, 56)])
    after.close()


def test_an_exported_answer_file_comes_back_and_counts_once(tmp_path):
    done = ask(X, LabelOracle(Y, wrong=0.1, cant_tell=0.2, random_state=0), budget=20)
    done.constraints.write(tmp_path / "answers.csv")
    fresh = LabelingSession(X)
    n_looks = len(set(done.constraints.screens))
    assert fresh.add_answers(tmp_path / "answers.csv") == n_looks
    assert fresh.add_answers(tmp_path / "answers.csv") == 0
    assert done.add_answers(tmp_path / "answers.csv") == 0
    assert fresh.constraints == done.constraints


def test_labels_from_an_exported_answer_file_are_the_same(tmp_path):
    done = ask(X, LabelOracle(Y, cant_tell=0.2, random_state=0), budget=20)
    done.constraints.write(tmp_path / "answers.csv")
    fresh = LabelingSession(X)
    fresh.add_answers(tmp_path / "answers.csv")
    assert_array_equal(fresh.labels, done.labels)


def test_a_session_that_has_learned_nearly_all_suggests_to_stop():
    X, y = make_blobs(400, 2, centers=3, cluster_std=0.3, random_state=4)
    few, many = (ask(X, LabelOracle(y), budget=budget).progress for budget in (2, 60))
    assert not few.should_stop
    assert few.placed.low < 0.9
    assert many.should_stop
    assert many.placed.low >= 0.98
    assert "placed rightly" in many.why


# ---- labels and models


def test_before_two_groups_are_known_labels_are_those_of_plain_clustering():
    started = LabelingSession(X)
    assert adjusted_rand_score(Y, started.labels) > 0.9
    assert_allclose(started.memberships.sum(axis=1), 1)


def test_the_model_is_fitted_to_all_answers_once():
    done = ask(X, LabelOracle(Y), budget=12)
    model = done.model
    assert done.model is model
    assert adjusted_rand_score(Y, model.labels_) == 1
    assert [e.kind for e in done.events].count("refit") == 1
    done.answer(Question("pair", (0, 1)), "together" if Y[0] == Y[1] else "apart")
    assert done.model is not model


def test_a_pair_that_others_outvote_is_not_learned_from():
    started = LabelingSession(X)
    started.act("pure", rows=[0, 1])
    for name in ("a1", "a2"):
        started.answer(Question("pair", (0, 2)), "apart", event_id=name)
    started.answer(Question("pair", (0, 2)), "together")
    assert started.constraints.n_answers == 4
    assert not_outvoted(started.constraints, started.knowledge.groups).n_answers == 3


def test_many_rows_are_placed_by_a_sample(monkeypatch):
    monkeypatch.setattr(groups_so_far, "ROWS_IN_MIND", 80)
    many, y = make_blobs(300, centers=CENTERS, random_state=0)
    done = ask(many, LabelOracle(y), budget=15)
    assert len(done.knowledge.Z) == 80
    assert adjusted_rand_score(y, done.labels) > 0.95
    outside = np.flatnonzero(done.position < 0)[:2]
    done.answer(Question("pair", tuple(map(int, outside))), "apart")
    assert len(done.knowledge.Z) == 82
    in_mind = np.flatnonzero(done.position >= 0)
    assert done.constraints.restrict(in_mind).n_answers == done.constraints.n_answers


def test_tables_and_sparse_rows_are_taken():
    frame = pd.DataFrame({"x": X[:, 0], "z": X[:, 1], "color": np.array(["red", "blue"])[Y % 2]})
    for rows in (frame, csr_array(X), X.astype(np.float32)):
        done = ask(rows, LabelOracle(Y), budget=8)
        assert len(set(done.labels)) == done.progress.n_groups


def test_columns_of_a_table_keep_their_equal_weights_and_features_can_be_chosen():
    frame = pd.DataFrame({"x": X[:, 0], "noise": np.arange(60) % 7, "color": list("ab") * 30})
    plain = LabelingSession(frame)
    assert_allclose(plain.knowledge.Z, TableFeatures().fit_transform(frame))
    chosen = LabelingSession(frame, features=TableFeatures(features=["x"]))
    assert chosen.knowledge.Z.shape == (60, 1)
    assert chosen.model.features_.features == ["x"]


def test_a_log_of_a_table_knows_its_rows_by_their_cells(tmp_path):
    frame = pd.DataFrame({"x": X[:, 0].round(2), "kind": np.array(["a", "b"])[Y % 2]})
    before = LabelingSession(frame, log=tmp_path / "log")
    before.answer(Question("pair", (0, 59)), "apart")
    before.close()
    after = LabelingSession(frame[::-1].reset_index(drop=True), log=tmp_path / "log")
    assert_array_equal(after.constraints.cannot_link, [(59, 0)])
    after.close()


# ---- from clusters


def test_a_session_begins_from_clusters_and_keeps_them_where_no_answer_contradicts():
    started = LabelingSession(X, start_labels=np.array(list("abcd"))[Y])
    assert started.progress.n_groups == 4
    assert adjusted_rand_score(Y, started.labels) == 1
    assert started.constraints.n_answers == 0


def test_answers_join_clusters_that_were_cut_in_two():
    cut = np.where((Y == 0) & (X[:, 0] > np.median(X[Y == 0, 0])), 4, Y)
    done = ask(X, LabelOracle(Y), budget=25, start_labels=cut)
    assert adjusted_rand_score(Y, done.labels) > adjusted_rand_score(Y, cut)
    assert done.progress.n_groups == 4


def test_events_are_plain_json():
    done = ask(X, LabelOracle(Y), budget=5)
    for event in done.events:
        cells = json.loads(json.dumps([event.question.to_json(), event.choice]))
        assert Question.from_json(cells[0]) == event.question


# ---- prepared ahead


def test_a_proposed_question_is_the_next_one_and_is_not_recorded(seed):
    session = LabelingSession(X, random_state=seed)
    proposed = session.propose("ann")
    assert session.events == ()
    assert session.next_question("ann") == proposed


def test_questions_beside_others_are_about_other_rows():
    session = ask(X, LabelOracle(Y), budget=6)
    prepared = []
    for _ in range(4):
        prepared.append(session.propose("ann", beside=prepared))
    assert len({question.keys for question in prepared}) == 4


def test_a_question_is_proposed_of_the_kinds_asked_for():
    session = ask(X, LabelOracle(Y), budget=6)
    assert session.propose(kinds="pair").kind == "pair"
    assert session.propose().kind == "group"


def test_a_session_that_takes_the_events_of_another_is_where_it_is():
    first, second = ask(X, LabelOracle(Y), budget=8), LabelingSession(X)
    assert [second.add_event(event) for event in first.events] == [True] * len(first.events)
    assert second.add_event(first.events[0]) is False
    assert second.next_question() == first.next_question()
    assert (second.labels == first.labels).all()
    with pytest.raises(ValueError, match="points outside X"):
        second.add_event(Event("answer", "far", Question("pair", (0, 10_000)), "apart"))


def test_the_model_has_as_many_clusters_as_asked_for():
    assert LabelingSession(X[:60], n_clusters=2).model.n_clusters_ == 2


def test_a_twin_is_where_the_session_is_and_saves_nothing(tmp_path):
    started = LabelingSession(X, log=tmp_path / "log", random_state=3, kinds=("pair", "group"))
    started.answer(started.next_question("ann"), "apart", annotator="ann")
    twin = started.twin()
    assert state_of(twin) == state_of(started)
    twin.undo()
    started.close()
    assert len(LabelingSession(X, log=tmp_path / "log").constraints.must_link) == 0
    assert len(started.constraints.cannot_link) == 1
