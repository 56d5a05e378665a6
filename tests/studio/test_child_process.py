"""Processes of the studio import what their parent does."""

import sys

import pytest

from likewise.studio.child_process import start_learner, start_thinker, stop_process


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of data with a file that says when it is imported, as the present folder."""
    (tmp_path / "numpy.py").write_text("open('imported', 'w').close(); raise SystemExit")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("start", [start_learner, start_thinker])
def test_nothing_is_imported_from_the_folder_that_the_studio_is_started_in(
    folder, monkeypatch, start
):
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    process = start()
    try:
        process.stdin.close()  # nothing is asked of it
        process.wait(60)
    finally:
        stop_process(process)
    assert not (folder / "imported").exists()


def test_a_parent_that_imports_from_its_folder_has_a_child_that_does(folder, monkeypatch):
    """A notebook, whose own modules stand beside it."""
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    process = start_thinker()
    try:
        process.stdin.close()
        process.wait(60)
    finally:
        stop_process(process)
    assert (folder / "imported").exists()
