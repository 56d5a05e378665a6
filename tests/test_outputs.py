"""What commands write: never over what they read, each other, or what is no file."""

import os
import shutil
import stat
import sys
from contextlib import contextmanager, suppress

import numpy as np
import pytest

from likewise import Constraints, save_model
from likewise.cluster import PCKMeans
from likewise.report import write_report
from tests.test_cli import run

METHOD = ("-k", 2, "--method", "pck-means")


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with data, answers and a model, which is the current one."""
    monkeypatch.chdir(tmp_path)
    X = np.random.RandomState(0).rand(8, 2)
    np.savetxt("d.csv", X, delimiter=",", header="x,y", comments="")
    answers = Constraints(8, must_link=[(0, 1), (2, 3)], cannot_link=[(0, 2)])
    answers.write("a.csv")
    save_model(PCKMeans(2, random_state=0).fit(X), "m")
    return tmp_path


def snapshot(folder):
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


CLUSTER = ("cluster", "d.csv", "-c", "a.csv", *METHOD)
CHECK = ("check", "d.csv", "-c", "a.csv", "-k", 2)
SELECT = ("select", "d.csv", "--pool", "a.csv", "-k", 2)
APPLY = ("apply", "m", "d.csv")
SAME = [
    ((*CLUSTER, "-o", "d.csv"), "-o d.csv is the same file as DATA d.csv, which is an input"),
    ((*CLUSTER, "-o", "a.csv"), "-o a.csv is the same file as -c a.csv, which is an input"),
    ((*CLUSTER, "--model", "d.csv"), "--model d.csv is the same file as DATA d.csv"),
    ((*CLUSTER, "--model", "a.csv"), "--model a.csv is the same file as -c a.csv"),
    ((*CLUSTER, "-o", "s.csv", "--model", "s.csv"), "as -o s.csv, which is also an output"),
    ((*CLUSTER, "-o", "s.csv", "--model", "./sub/../s.csv"), "as -o s.csv, which is also"),
    ((*CLUSTER, "-o", "soft.csv"), "-o soft.csv is the same file as DATA d.csv"),
    ((*CLUSTER, "-o", "hard.csv"), "-o hard.csv is the same file as DATA d.csv"),
    ((*CLUSTER, "-o", "sub/../d.csv"), "is the same file as DATA d.csv"),
    ((*CLUSTER, "-o", "dangling.csv", "--model", "nowhere.csv"), "--model nowhere.csv is the same"),
    (
        ("cluster", "d.csv", "-k", 2, "-o", "c.csv", "--report", "r.html", "--model", "r.html"),
        "--model r.html is the same file as --report r.html",
    ),
    (("cluster", "soft.csv", "-k", 2, "-o", "d.csv"), "-o d.csv is the same file as DATA soft.csv"),
    ((*CHECK, "-o", "d.csv"), "-o d.csv is the same file as DATA d.csv"),
    ((*CHECK, "-o", "a.csv"), "-o a.csv is the same file as -c a.csv"),
    ((*SELECT, "-o", "a.csv"), "-o a.csv is the same file as --pool a.csv"),
    ((*SELECT, "-o", "d.csv"), "-o d.csv is the same file as DATA d.csv"),
    (("apply", "m.csv", "d.csv", "-o", "m.csv"), "-o m.csv is the same file as MODEL m.csv"),
    ((*APPLY, "-o", "d.csv"), "-o d.csv is the same file as DATA d.csv"),
]


@pytest.mark.parametrize(("arguments", "words"), SAME)
def test_no_file_that_is_read_or_written_is_replaced_by_another(here, capsys, arguments, words):
    os.symlink("d.csv", "soft.csv")
    os.link("d.csv", "hard.csv")
    os.symlink("nowhere.csv", "dangling.csv")
    os.mkdir("sub")
    shutil.copy("m", "m.csv")
    before = snapshot(here)
    code, stdout, stderr = run(capsys, *arguments)
    assert (code, stdout) == (1, "")
    assert words in stderr
    assert stderr.endswith("Choose another output file.\n")
    assert len(stderr.splitlines()) == 1
    assert snapshot(here) == before


SPECIAL = [
    (*CLUSTER, "-o"),
    (*CLUSTER, "-o", "c.csv", "--model"),
    (*CHECK, "-o"),
    (*SELECT, "-o"),
    (*APPLY, "-o"),
    ("cluster", "d.csv", "-k", 2, "-o", "c.csv", "--report"),
]


@pytest.mark.parametrize("arguments", SPECIAL)
@pytest.mark.parametrize("kind", ["device", "named pipe", "folder"])
def test_a_device_a_pipe_or_a_folder_is_refused_before_the_work(here, capsys, arguments, kind):
    path = "special.html" if arguments[-1] == "--report" else "special.csv"
    if kind == "device":
        os.symlink("/dev/null", path)
    else:
        (os.mkfifo if kind == "named pipe" else os.mkdir)(path)
    before = os.stat(path)
    code, stdout, stderr = run(capsys, *arguments, path)
    assert (code in (1, 2), stdout) == (True, "")
    assert len(stderr.splitlines()) == 1
    assert f"{path} is a {kind}" in stderr or f"{path!r} is a directory" in stderr
    assert (os.stat(path).st_ino, os.stat(path).st_mode) == (before.st_ino, before.st_mode)
    assert not os.path.exists("c.csv")


def test_the_null_device_stays_one(here, capsys):
    code, _, stderr = run(capsys, *CLUSTER, "-o", "c.csv", "--model", "/dev/null")
    assert code == 1
    assert "/dev/null is a device, which a file would replace. Name a file." in stderr
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_python_functions_refuse_devices_and_pipes_too(here):
    from likewise import GuidedClustering

    os.mkfifo("pipe.csv")
    X = np.random.RandomState(0).rand(8, 2)
    model = GuidedClustering(2, random_state=0).fit(X)
    for write in (
        lambda: save_model(model, "/dev/null"),
        lambda: save_model(model, "pipe.csv"),
        lambda: write_report("/dev/null", model, X),
        lambda: write_report("pipe.csv", model, X),
        lambda: Constraints(3, must_link=[(0, 1)]).write("pipe.csv"),
    ):
        with pytest.raises(FileExistsError, match=r"is a (device|named pipe), which a file would"):
            write()
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    assert stat.S_ISFIFO(os.stat("pipe.csv").st_mode)


def test_files_that_were_there_keep_their_permissions(here, capsys):
    names = {"c.csv": 0o600, "m2": 0o640, "r.html": 0o660}
    for name, mode in names.items():
        (here / name).touch()
        os.chmod(name, mode)
    source = ("cluster", "d.csv", "-k", 2, "-o", "c.csv", "--model", "m2", "--report", "r.html")
    assert run(capsys, *source)[0] == 0
    assert {name: stat.S_IMODE(os.stat(name).st_mode) for name in names} == names


@contextmanager
def stdout_to(file, monkeypatch):
    """What a shell's redirection does, inside this process."""
    monkeypatch.setattr(sys, "stdout", file)
    yield
    monkeypatch.undo()
    with suppress(OSError):  # what could not be written still cannot
        file.close()


@pytest.mark.parametrize(
    ("redirected", "arguments", "words"),
    [
        ("out", (*CLUSTER, "--model", "out"), "--model out is the same file as stdout"),
        ("d.csv", CLUSTER, "stdout is the same file as DATA d.csv"),
    ],
)
def test_stdout_may_not_go_to_a_file_that_is_used(
    here, capsys, monkeypatch, redirected, arguments, words
):
    file = open(here / redirected, "a")  # noqa: SIM115  (>>: a single > empties it before we begin)
    before = snapshot(here)
    with stdout_to(file, monkeypatch):
        code, _, stderr = run(capsys, *arguments)
    assert code == 1
    assert words in stderr
    assert snapshot(here) == before


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full on this machine")
def test_clusters_that_cannot_be_printed_leave_the_old_model(here, capsys, monkeypatch):
    with stdout_to(open("/dev/full", "w"), monkeypatch):
        code, _, stderr = run(capsys, *CLUSTER, "--model", here / "old")
    assert code == 1
    assert stderr.endswith(
        "likewise: stdout could not be written: No space left on device. Nothing was changed. "
        "Make room, or write to another drive.\n"
    )
    assert {path.name for path in here.iterdir()} == {"d.csv", "a.csv", "m"}


def test_a_reader_that_has_seen_enough_does_not_stop_the_files(here, capsys, monkeypatch):
    read_end, write_end = os.pipe()
    os.close(read_end)
    with stdout_to(os.fdopen(write_end, "w"), monkeypatch):
        code, _, stderr = run(capsys, *CLUSTER, "--model", here / "new")
    assert code != 0
    assert "likewise: " not in stderr
    assert (here / "new").exists()


@pytest.mark.parametrize("names", [["answers.csv"], ["digits.likewise", "notes.txt"]])
def test_the_demo_does_not_write_where_somebody_keeps_files(tmp_path, capsys, names):
    for name in names:
        (tmp_path / name).write_text("mine")
    code, _, stderr = run(capsys, "demo", "-o", tmp_path)
    assert code == 1
    assert f"contains {names[-1]}, which the demo did not write. Choose a new folder" in stderr
    assert snapshot(tmp_path) == dict.fromkeys(names, b"mine")
