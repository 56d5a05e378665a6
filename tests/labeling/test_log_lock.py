"""One studio or terminal per log, on a drive of this machine."""

import subprocess
import sys

import pytest

from likewise.labeling import TERMINAL, hold_log
from likewise.labeling.log_lock import network_drive


def test_a_second_studio_on_one_log_is_refused_until_the_first_is_gone(tmp_path):
    first = hold_log(tmp_path / "a.log")
    with pytest.raises(ValueError, match=r"Another studio is using .*a\.log\. Join it by its link"):
        hold_log(tmp_path / "a.log")
    hold_log(tmp_path / "b.log").close()
    first.close()
    hold_log(tmp_path / "a.log").close()


def test_each_is_told_who_holds_the_log_and_how_to_go_on(tmp_path):
    path = tmp_path / "a.log"
    with hold_log(path), pytest.raises(ValueError, match=r"^A studio is using .* with --log"):
        hold_log(path, holder=TERMINAL, option="--log")
    with hold_log(path, holder=TERMINAL):
        for holder in ({}, {"holder": TERMINAL}):
            with pytest.raises(ValueError, match=r"^likewise ask is using .* press q in it, or"):
                hold_log(path, **holder)
    with hold_log(path), pytest.raises(ValueError, match=r"^Another studio"):
        hold_log(path)


def test_the_lock_of_a_killed_process_is_free(tmp_path):
    code = (
        "import os, signal, sys; from likewise.labeling.log_lock import hold_log;"
        "held = hold_log(sys.argv[1]); os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", code, tmp_path / "a.log"], check=False)
    assert done.returncode == -9
    assert (tmp_path / "a.log.lock").exists()
    hold_log(tmp_path / "a.log").close()


def test_a_network_drive_is_refused(tmp_path, monkeypatch):
    mounts = tmp_path / "mounts"
    mounts.write_text(f"tmpfs / tmpfs rw\nserver:/x {tmp_path} nfs4 rw\n")
    assert network_drive(tmp_path / "a.log", str(mounts)) == "nfs4"
    assert network_drive(tmp_path.parent / "a.log", str(mounts)) is None
    assert network_drive(tmp_path / "a.log", str(tmp_path / "none")) is None
    monkeypatch.setattr("likewise.labeling.log_lock.network_drive", lambda path: "nfs4")
    with pytest.raises(OSError, match=r"a\.log lies on a network drive \(nfs4\)"):
        hold_log(tmp_path / "a.log")
    assert not (tmp_path / "a.log.lock").exists()


def test_a_folder_that_is_not_there_is_one_line(tmp_path):
    with pytest.raises(OSError, match="cannot be opened as a log: No such file"):
        hold_log(tmp_path / "none" / "a.log")
