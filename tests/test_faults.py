"""Every call to the system fails in turn: old files stay, one line, nothing left behind."""

import errno
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from likewise import Constraints, GuidedClustering, load_model, save_model
from likewise.cluster import PCKMeans
from likewise.files.atomic_file import replacing, replacing_together
from tests.faults import failing_from, failing_once, faults, no_fault
from tests.test_cli import run

pytestmark = pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="needs /proc")

NEEDS_ROOM = ("mkdir", "open", "write", "link")
# What could not be removed, the next run removes; without links the old file is copied.
TOLERATED = {"remove", "look", "link"}
IO_ERROR = OSError(errno.EIO, os.strerror(errno.EIO))
NO_ROOM = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

CLUSTER = ("cluster", "d.csv", "-c", "a.csv", "-k", 2, "--random-state", 0)
COMMANDS = {
    "cluster": (*CLUSTER, "-o", "out.csv", "--model", "out.model", "--report", "out.html"),
    "cluster to Parquet": (*CLUSTER, "-o", "out.parquet", "--model", "out.model"),
    "apply": ("apply", "m", "d.csv", "-o", "out.npy"),
    "select": ("select", "d.csv", "--pool", "a.csv", "-k", 2, "-m", 2, "-o", "out.csv"),
    "select to Parquet": (
        *("select", "d.csv", "--pool", "a.csv", "-k", 2, "-m", 2, "-o", "out.parquet"),
    ),
}


@pytest.fixture
def here(tmp_path, monkeypatch):
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    X = np.random.RandomState(0).rand(8, 2)
    np.savetxt("d.csv", X, delimiter=",", header="x,y", comments="")
    answers = Constraints(8, must_link=[(0, 1), (2, 3)], cannot_link=[(0, 2), (4, 5)])
    answers.write("a.csv")
    save_model(PCKMeans(2, random_state=0).fit(X), "m")
    fitted = GuidedClustering(2, random_state=0).fit(X, constraints=answers)

    def fit_again(self, *_, **__):  # a fit opens no file: once is enough
        vars(self).update(vars(fitted))
        return self

    monkeypatch.setattr(GuidedClustering, "fit", fit_again)
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    """Also of hidden files and of folders in folders."""
    found = {str(path.relative_to(folder)): path for path in folder.rglob("*")}
    return {name: path.read_bytes() if path.is_file() else b"" for name, path in found.items()}


def faults_in_turn(kinds: list[str]):
    for number, kind in enumerate(kinds, 1):
        yield kind, failing_once(number, IO_ERROR)
        if kind in NEEDS_ROOM:
            yield kind, failing_from(number, NEEDS_ROOM, NO_ROOM)


@pytest.mark.parametrize(
    ("name", "has_old"), [*((name, True) for name in COMMANDS), ("cluster", False)]
)
def test_a_failing_call_leaves_the_old_files_one_line_and_nothing_else(name, has_old, here, capsys):
    arguments = COMMANDS[name]
    outputs = [text for text in map(str, arguments) if text.startswith("out.")]
    for output in outputs if has_old else ():
        (here / output).write_bytes(b"old")
    before = contents(here)
    with faults(here, no_fault) as calls:
        code, _, stderr = run(capsys, *arguments)
    assert (code, {"open", "read", "write", "fsync", "rename"} - set(calls)) == (0, set()), stderr
    after = contents(here)
    assert set(after) == {"d.csv", "a.csv", "m", *outputs}
    for kind, fault in faults_in_turn(list(calls)):
        for output in outputs:
            (here / output).write_bytes(b"old") if has_old else (here / output).unlink(True)
        with faults(here, fault):
            code, stdout, stderr = run(capsys, *arguments)
        assert stdout == ""
        assert "Traceback" not in stderr
        if code == 0:
            assert kind in TOLERATED
            assert {one: contents(here)[one] for one in after} == after
            with replacing(here / "next"):  # the next run removes what could not be removed
                pass
            (here / "next").unlink()
            assert set(contents(here)) == set(after)
        else:
            assert code == 1
            assert stderr.splitlines()[-1].startswith("likewise: ")
            assert stderr.count("likewise: ") == 1
            assert contents(here) == before, (kind, stderr)


def test_a_failing_call_leaves_the_old_model(here):
    model, old = PCKMeans(2, random_state=0).fit(np.eye(4)), (here / "m").read_bytes()
    before = contents(here)
    with faults(here, no_fault) as calls:
        save_model(model, "m")
    n_failed = 0
    for kind, fault in faults_in_turn(list(calls)):
        (here / "m").write_bytes(old)
        line = ""
        try:
            with faults(here, fault):
                save_model(model, "m")
        except OSError as error:
            line = str(error)
        if line:
            n_failed += 1
            assert line.startswith("m could not be written: ")
            assert contents(here) == before
        else:
            assert kind in TOLERATED
            assert load_model("m").cluster_centers_.shape == (2, 4)
    assert n_failed >= 8


def test_files_are_flushed_before_they_move_and_their_folder_after(tmp_path):
    with faults(tmp_path, no_fault) as calls, replacing_together():
        for name in "ab":
            with replacing(tmp_path / name):
                pass
    moves = [i for i, kind in enumerate(calls) if kind == "rename"]
    assert calls[: moves[0]].count("fsync") == 2
    assert moves[1] == moves[0] + 1
    assert calls[moves[1] + 1 :].count("fsync") == 1


KILLED_IN_TURN = """
    import itertools, os, signal, sys
    from pathlib import Path
    from likewise.files.atomic_file import replacing, replacing_together
    from tests.faults import faults

    def write_all(texts):
        with replacing_together():
            for path, text in texts.items():
                with replacing(path) as temporary:
                    temporary.write_text(text)

    def kill_at(number):
        def fault(kind, at):
            if at == number:
                os.kill(os.getpid(), signal.SIGKILL)
        return fault

    folder = Path(sys.argv[1])
    n_left = n_mixed = 0
    for number in itertools.count(1):
        for name in "ac":
            (folder / name).write_text("old")
        (folder / "b").unlink(missing_ok=True)
        child = os.fork()
        if not child:
            with faults(folder, kill_at(number)):
                write_all({folder / name: "new" for name in "abc"})
            os._exit(0)
        _, status = os.waitpid(child, 0)
        n_left += any(path.is_dir() for path in folder.iterdir())
        texts = [(folder / name).read_text() for name in "ac"]
        b = (folder / "b").read_text() if (folder / "b").exists() else "old"
        assert set(texts) <= {"old", "new"} and b in ("old", "new"), (number, texts, b)
        n_mixed += len({*texts, b}) == 2
        write_all({folder / "d": "next"})
        left = {path.name for path in folder.iterdir()} - set("abcd")
        assert not left, (number, left)
        if os.WIFEXITED(status):
            assert {*texts, b} == {"new"}
            break
        assert os.WTERMSIG(status) == signal.SIGKILL
    print(number - 1, n_left, n_mixed)
"""


def test_a_kill_at_any_call_tears_no_file_and_the_next_run_removes_the_rest(tmp_path):
    root = Path(__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(KILLED_IN_TURN), str(tmp_path)],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": f"{root}{os.pathsep}{root / 'src'}"},
    )
    assert done.returncode == 0, done.stderr
    n_kills, n_left, n_mixed = map(int, done.stdout.split())
    assert n_kills > 30
    assert n_left > 20  # so that there was something to remove
    assert n_mixed == 2  # between the three moves, as the docstring of replacing_together says


@pytest.mark.skipif(
    shutil.which("mount") is None or os.geteuid() != 0, reason="needs a root's mount"
)
@pytest.mark.parametrize("ending", ["csv", "npy", "parquet"])
def test_a_drive_that_is_really_full_leaves_the_old_files(ending, here, capsys):
    drive = here / "drive"
    drive.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k,mode=777", "tmpfs", str(drive)], check=False
    )
    if mounted.returncode:
        pytest.skip("a small drive cannot be mounted here")
    try:
        X = np.random.RandomState(0).rand(4000, 2)
        np.save("large.npy", X)
        for name in (f"out.{ending}", "m"):
            (drive / name).write_bytes(b"old")
        for n_filled in (40_000, 50_000, 57_000):
            (drive / "filled").write_bytes(b"x" * n_filled)
            source = ("cluster", "large.npy", "-k", 2, "--method", "pck-means")
            outputs = ("--model", drive / "m", "-o", drive / f"out.{ending}")
            code, _, stderr = run(capsys, *source, *outputs)
            assert code == 1
            assert "could not be written: No space left on device. Nothing was" in stderr
            (drive / "filled").unlink()
            assert contents(drive) == {f"out.{ending}": b"old", "m": b"old"}
    finally:
        subprocess.run(["umount", str(drive)], check=True)
