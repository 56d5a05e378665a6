"""Leaving: files that are whole, and that the rest of the package reads."""

import csv
import io
from pathlib import Path

import numpy as np
import pytest

from likewise import Constraints, load_model
from likewise.labeling import Event, LabelingSession, LabelOracle, Question, ask
from likewise.studio import StudioSettings
from likewise.studio.learner import Learner
from likewise.studio.leaving import write_clusters_of
from likewise.studio.snapshot import Snapshot
from likewise.studio.snapshot_view import default_name
from tests.studio import conftest
from tests.studio.conftest import X, Y, answer, enter, send


@pytest.fixture
def saving(open_studio, tmp_path):
    with open_studio(settings=StudioSettings(learns=False, folder=tmp_path / "out")) as browser:
        enter(browser, "ann")
        for i in range(4):
            answer(browser, f"e{i}", conftest.ask(browser)[0])
        yield browser


def test_the_answers_are_an_answer_file(saving, tmp_path):
    response = saving.get("/download/answers.csv")
    assert response.headers["content-disposition"] == 'attachment; filename="answers.csv"'
    answers = Constraints.read(tmp_path / "out" / "answers.csv", n_samples=len(X))
    assert response.content == (tmp_path / "out" / "answers.csv").read_bytes()
    assert set(answers.screens) == {"e0", "e1", "e2", "e3"}
    assert set(answers.annotators) == {"ann"}


def test_the_log_is_copied_while_it_is_used_and_opens_as_a_session(saving, tmp_path):
    (tmp_path / "copy.db").write_bytes(saving.get("/download/log.db").content)
    copied = LabelingSession(X, log=tmp_path / "copy.db")
    assert copied.progress.n_questions == 4
    copied.close()


def test_the_clusters_are_those_of_the_page_with_their_names(saving):
    assert saving.get("/download/clusters.csv").status_code == 404
    session = ask(X, LabelOracle(Y), budget=12)
    learner = Learner(session)
    snapshot = learner.snapshot()
    saving.portal.call(saving.studio._take_snapshot, snapshot)
    send(saving, {"id": "n", "kind": "name", "rows": [0, 3, 6], "name": "cats"})
    rows = list(csv.DictReader(io.StringIO(saving.get("/download/clusters.csv").text)))
    assert [int(row["cluster"]) for row in rows] == snapshot.labels.tolist()
    assert {row["cluster name"] for row in rows if Y[int(row["row"])] == 0} == {"cats"}


def test_clusters_go_by_the_id_column_of_the_data_and_by_the_numbers_of_the_page(tmp_path):
    nothing = np.empty((2, 0))
    snapshot = Snapshot(1, 0, np.array([1, 0]), nothing, nothing, (), nothing, 1)
    write_clusters_of(tmp_path, snapshot, {}, ["C1", "C2"], "customer_id")
    assert (tmp_path / "clusters.csv").read_text() == "customer_id,cluster\nC1,1\nC2,0\n"
    assert default_name(0) == "cluster 0"


def test_other_files_are_not_to_be_had(saving):
    assert saving.get("/download/passwd").status_code == 404
    assert saving.get("/download/..%2fanswers.log").status_code == 404


def test_files_are_saved_without_being_asked_for(open_studio, tmp_path):
    with open_studio(settings=StudioSettings(learns=False, folder=tmp_path / "out")) as browser:
        enter(browser, "ann")
        answer(browser, "e", conftest.ask(browser)[0])
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"answers.csv", "log.db"}


def test_a_drive_that_cannot_be_written_to_stops_no_answer(open_studio, tmp_path):
    (tmp_path / "out").write_text("a file, not a folder")
    with open_studio(settings=StudioSettings(learns=False, folder=tmp_path / "out")) as browser:
        enter(browser, "ann")
        assert answer(browser, "e", conftest.ask(browser)[0])["saved"] == ["e"]
        assert browser.get("/download/answers.csv").status_code == 503


def test_the_learner_saves_a_model_with_names_and_a_report(tmp_path):
    session = ask(X, LabelOracle(Y), budget=12)
    session.act("pure", rows=[0, 3])
    learner = Learner(session, title="points", folder=tmp_path)
    session.add_event(Event("name", "n", Question("name", (0, 3, 6)), "cats"))
    learner.autosave()
    model = load_model(tmp_path / "model.likewise")
    most = np.bincount(np.asarray(model.labels_)[[0, 3, 6]]).argmax()
    assert model.cluster_names_[most] == "cats"
    assert "points: what the answers did" in Path(tmp_path, "report.html").read_text()
