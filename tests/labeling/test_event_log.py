"""The log: what was appended is there, once, about the same rows or about none."""

import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from likewise import Constraints
from likewise.labeling import Event, EventLog, Question, RowNames, constraints_from, events_from
from tests.constraints.strategies import draw_constraints

X = np.arange(20.0).reshape(10, 2)
IDS = list("abcdefghij")
EVENTS = [
    Event("shown", "e1", Question("pair", (0, 9))),
    Event("answer", "e2", Question("pair", (0, 9)), "together", "ann", "2026-01-31T12:00:00", 1.5),
    Event("answer", "e3", Question("grid", (3, 4, 5)), (0, 1)),
    Event("answer", "e4", Question("group", (1,), ((2, 3), (4,)), ((5,),), True), "another"),
    Event("action", "e5", Question("pure", (6, 7)), "together"),
    Event("undo", "e6", undoes="e5"),
    Event("skip", "e7", Question("odd_one_out", (1, 2, 3))),
    Event("answer", "e8", Question("imported", (8, 9)), (("must_link", (0, 1), 0.5),)),
]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "answers.log"


def read(path, X=X, ids=IDS):
    log = EventLog(path, RowNames(X, ids))
    events = log.read()
    log.close()
    return events, log.set_aside


def written(path, events=EVENTS, X=X, ids=IDS):
    log = EventLog(path, RowNames(X, ids))
    log.append(*events)
    log.close()
    return path


def test_events_come_back_as_they_were(path):
    assert read(written(path)) == (EVENTS, [])


def test_an_event_is_on_disk_when_append_returns(path):
    log = EventLog(path, RowNames(X, IDS))
    assert log._file.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL
    assert log._file.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    log.close()


def test_a_power_failure_during_later_writes_loses_nothing_that_was_acknowledged(path, tmp_path):
    log, wal = EventLog(path, RowNames(X, IDS)), path.with_name(path.name + "-wal")
    sizes = [0]
    for event in EVENTS:
        log.append(event)
        sizes.append(wal.stat().st_size)
    before, after = path.read_bytes(), wal.read_bytes()
    log.close()
    rng = np.random.default_rng(0)
    for i, cut in enumerate(np.concatenate([sizes, rng.integers(sizes[0], sizes[-1], 30)])):
        copy = tmp_path / str(i) / path.name
        copy.parent.mkdir()
        copy.write_bytes(before)
        noise = rng.bytes(4096 if i % 2 else 0)  # what a drive had not written yet
        copy.with_name(wal.name).write_bytes(after[:cut] + noise)
        n_acknowledged = np.searchsorted(sizes, cut, side="right") - 1
        assert read(copy) == (EVENTS[:n_acknowledged], [])


def test_an_event_that_is_sent_twice_counts_once(path):
    log = EventLog(path, RowNames(X, IDS))
    assert log.append(EVENTS[0]) == [True]
    assert log.append(EVENTS[1], EVENTS[0]) == [True, False]
    assert log.read() == [EVENTS[0], EVENTS[1]]
    log.close()


def test_events_are_appended_all_or_none(path):
    log = EventLog(path, RowNames(X, IDS))
    with pytest.raises(IndexError):
        log.append(EVENTS[0], Event("answer", "e9", Question("pair", (0, 99)), "apart"))
    assert log.read() == []
    log.append(EVENTS[0])
    assert log.read() == [EVENTS[0]]
    log.close()


def test_another_process_sees_what_was_appended(path):
    one, other = (EventLog(path, RowNames(X, IDS)) for _ in range(2))
    one.append(EVENTS[0])
    other.append(EVENTS[1])
    assert one.read() == other.read() == EVENTS[:2]
    one.close()
    other.close()


# ---- other data


@pytest.mark.parametrize("ids", [IDS, None])
def test_rows_in_another_order_are_found_again(path, ids):
    written(path, ids=ids)
    order = np.random.default_rng(0).permutation(10)
    names = None if ids is None else [ids[i] for i in order]
    events, set_aside = read(path, X[order], names)
    assert set_aside == []
    assert events == [
        event
        if event.question is None
        else Event(**{**event.__dict__, "question": event.question.at(np.argsort(order))})
        for event in EVENTS
    ]


def test_events_about_missing_rows_are_set_aside_and_hold_again_once_they_are_back(path):
    written(path)
    events, set_aside = read(path, X[:9], IDS[:9])
    assert [event.id for event in events] == ["e3", "e4", "e5", "e6", "e7"]
    assert set_aside == [(name, "j", "missing") for name in ("e1", "e2", "e8")]
    assert read(path) == (EVENTS, [])


def test_events_about_changed_rows_are_set_aside_and_new_ones_hold(path):
    written(path)
    changed = X.copy()
    changed[0] += 1
    events, set_aside = read(path, changed)
    assert [event.id for event in events] == ["e3", "e4", "e5", "e6", "e7", "e8"]
    assert set_aside == [("e1", "a", "changed"), ("e2", "a", "changed")]
    later = Event("answer", "e9", Question("pair", (0, 1)), "apart")
    written(path, [later], changed)
    assert read(path, changed)[0][-1] == later
    assert [event.id for event in read(path)[0]] == [event.id for event in EVENTS]


def test_a_row_is_never_matched_by_its_number(path):
    written(path, [EVENTS[1]], ids=None)
    assert read(path, X + 100, None) == ([], [("e2", RowNames(X).ids[0], "missing")])
    written(path.with_name("other"), [EVENTS[1]])
    assert read(path.with_name("other"), X, [f"new {i}" for i in range(10)])[0] == []


def test_content_is_the_same_in_any_container():
    names = RowNames(X.astype(np.float32)).ids
    assert RowNames(X.tolist()).ids == names
    assert RowNames(np.where(X == 0, -0.0, X)).ids == names
    assert RowNames(csr_array(X)).ids == RowNames(csr_array(X.astype(np.float32))).ids
    shuffled = csr_array((np.array([2.0, 1.0]), np.array([1, 0]), np.array([0, 2])), shape=(1, 2))
    assert RowNames(shuffled).ids == RowNames(csr_array([[1.0, 2.0]])).ids
    assert shuffled.indices.tolist() == [1, 0]


def test_equal_rows_have_different_names():
    assert len(set(RowNames(np.zeros((5, 2))).ids)) == 5


# ---- other files


def test_a_file_that_is_no_log_is_refused_and_left_alone(path):
    path.write_bytes(b"kind,a,b\nmust_link,0,1\n" * 100)
    with pytest.raises(ValueError, match=r"answers.log is no log of answers: .*Name another file"):
        EventLog(path, RowNames(X, IDS))
    assert path.read_bytes().startswith(b"kind,a,b\n")


def test_another_database_is_refused_and_left_alone(path):
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE mine (x)")
    other.close()
    with pytest.raises(ValueError, match="is a database, but no log of answers"):
        EventLog(path, RowNames(X, IDS))
    other = sqlite3.connect(path)
    assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("mine",)]
    other.close()


def test_a_log_of_a_later_version_is_refused(path):
    file = sqlite3.connect(written(path))
    file.execute("PRAGMA user_version=99")
    file.close()
    with pytest.raises(ValueError, match=r"version 99, and this likewise reads version 1"):
        EventLog(path, RowNames(X, IDS))


def test_a_folder_that_is_not_there_is_one_line(tmp_path):
    with pytest.raises(OSError, match="cannot be opened as a log"):
        EventLog(tmp_path / "nowhere" / "answers.log", RowNames(X, IDS))


# ---- answers from files


@given(st.integers(0, 10_000))
@settings(max_examples=40)
def test_answers_that_go_through_events_come_back(seed):
    answers = draw_constraints(np.random.RandomState(seed))
    events = events_from(answers)
    again = constraints_from(events, answers.n_samples, answers.ids)
    assert len({event.id for event in events}) == len(events)
    assert sorted(zip(again.kinds, again._table.points.tolist(), again.weights)) == sorted(
        zip(answers.kinds, answers._table.points.tolist(), answers.weights)
    )


def test_answers_that_are_imported_twice_count_once(path):
    answers = Constraints(10, must_link=[(0, 1), (0, 1), (2, 3)], screens=["", "", "s1"])
    log = EventLog(path, RowNames(X, IDS))
    assert log.append(*events_from(answers)) == [True] * 3
    assert log.append(*events_from(answers)) == [False] * 3
    log.close()


def test_twenty_kills_under_load_lose_nothing_and_double_nothing():
    script = Path(__file__).parent.parent / "soak_log.py"
    done = subprocess.run(
        [sys.executable, script, "--kills", "20"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("20 kills, ")
    assert int(done.stdout.split()[2]) > 20


def test_a_log_keeps_its_name_and_others_have_another(path):
    log = EventLog(path, RowNames(X, IDS))
    name = log.identity
    log.close()
    log = EventLog(path, RowNames(X, IDS))
    assert log.identity == name
    log.close()
    other = EventLog(path.with_name("other"), RowNames(X, IDS))
    assert other.identity != name
    other.close()


def test_a_backup_of_an_open_log_is_whole_and_one_file(path, tmp_path):
    log = EventLog(path, RowNames(X, IDS))
    log.append(*EVENTS)
    (tmp_path / "copies").mkdir()
    log.back_up(tmp_path / "copies" / "log.db")
    log.append(Event("answer", "later", Question("pair", (0, 1)), "apart"))
    log.close()
    assert [file.name for file in (tmp_path / "copies").iterdir()] == ["log.db"]
    assert read(tmp_path / "copies" / "log.db") == (EVENTS, [])
