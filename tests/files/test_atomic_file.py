import os
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import textwrap
import threading
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from likewise.files import atomic_file
from likewise.files.atomic_file import replacing, replacing_together

ROOT = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can become another user"
)


def write(path, text):
    with replacing(path) as temporary:
        temporary.write_text(text)


def write_together(texts):
    with replacing_together():
        for path, text in texts.items():
            write(path, text)


def mode_of(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def contents(folder):
    """What stands in a folder, hidden things too."""
    return {path.name: path.read_text() for path in folder.iterdir()}


@contextmanager
def somebody_else():
    """The rest of the block as a user without rights, in a folder of theirs."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        os.setegid(65534)
        os.seteuid(65534)
        try:
            yield Path(folder)
        finally:
            os.seteuid(0)
            os.setegid(0)


def test_the_file_shows_only_when_it_is_whole(tmp_path):
    target = tmp_path / "table.csv"
    with replacing(target) as temporary:
        temporary.write_text("a,b\n")
        assert not target.exists()
        assert temporary.stat().st_dev == tmp_path.stat().st_dev
    assert target.read_text() == "a,b\n"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("existed", [True, False])
def test_after_an_error_the_folder_is_as_it_was(existed, error, tmp_path):
    target = tmp_path / "table.csv"
    if existed:
        target.write_text("old")

    def fail_half_way():
        with replacing(target) as temporary:
            temporary.write_text("ne")
            raise error

    with pytest.raises(error):
        fail_half_way()
    assert [file.read_text() for file in tmp_path.iterdir()] == ["old"] * existed


def test_the_ending_stays_for_writers_that_look_at_it(tmp_path):
    with replacing(tmp_path / "x.npy") as temporary:
        np.save(temporary, np.arange(3))  # would append .npy to any other name
    assert np.load(tmp_path / "x.npy").tolist() == [0, 1, 2]


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "file").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    with replacing(tmp_path / "link") as temporary:
        temporary.write_text("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text() == "new"


def test_a_new_file_has_the_permissions_of_any_other(tmp_path):
    (tmp_path / "plain").touch()
    with replacing(tmp_path / "ours") as temporary:
        temporary.unlink()
        os.close(os.open(temporary, os.O_CREAT, 0o600))
    modes = [stat.S_IMODE(os.stat(tmp_path / name).st_mode) for name in ("ours", "plain")]
    assert modes[0] == modes[1]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666, 0o664, 0o755])
def test_a_file_that_was_there_keeps_its_permissions(mode, tmp_path):
    target = tmp_path / "table.csv"
    target.write_text("old")
    target.chmod(mode)
    with replacing(target) as temporary:
        temporary.write_text("new")
        assert mode_of(temporary.parent) == 0o700  # nobody else reads it while it is written
    assert (mode_of(target), target.read_text()) == (mode, "new")


def test_the_umask_decides_about_a_new_file(tmp_path):
    umask = os.umask(0o027)
    try:
        write(tmp_path / "new", "new")
    finally:
        os.umask(umask)
    assert mode_of(tmp_path / "new") == 0o640


@ROOT
def test_the_owner_stays_where_the_system_allows_it(tmp_path):
    target = tmp_path / "table.csv"
    target.write_text("old")
    os.chown(target, 1234, 4321)
    target.chmod(0o640)
    write(target, "new")
    status = target.stat()
    assert (status.st_uid, status.st_gid, mode_of(target)) == (1234, 4321, 0o640)


@ROOT
def test_a_group_that_cannot_be_kept_gives_its_rights_to_no_other_group():
    with somebody_else() as folder:
        target = folder / "table.csv"
        target.write_text("old")
        os.seteuid(0)
        os.chown(target, 65534, 4321)
        target.chmod(0o664)
        os.seteuid(65534)
        write(target, "new")
        assert (target.stat().st_gid, mode_of(target)) == (65534, 0o644)


def test_an_access_list_stays(tmp_path):
    target = tmp_path / "table.csv"
    target.write_text("old")
    # Tag, rights, id: owner rw-, user 1234 r--, group ---, mask r--, others ---.
    entries = [(1, 6, -1), (2, 4, 1234), (4, 0, -1), (16, 4, -1), (32, 0, -1)]
    access_list = (2).to_bytes(4, "little") + b"".join(
        tag.to_bytes(2, "little")
        + rights.to_bytes(2, "little")
        + who.to_bytes(4, "little", signed=True)
        for tag, rights, who in entries
    )
    try:
        os.setxattr(target, "system.posix_acl_access", access_list)
    except (OSError, AttributeError):
        pytest.skip("no access lists on this drive")
    write(target, "new")
    assert os.getxattr(target, "system.posix_acl_access") == access_list


@ROOT
def test_a_read_only_file_is_not_replaced():
    with somebody_else() as folder:
        target = folder / "table.csv"
        target.write_text("old")
        target.chmod(0o444)
        with pytest.raises(PermissionError, match=r"table.csv is read-only. Make it writable"):
            write(target, "new")
        assert contents(folder) == {"table.csv": "old"}


def make_special(kind, folder):
    path = folder / "special.csv"
    if kind == "named pipe":
        os.mkfifo(path)
    elif kind == "socket":
        socket.socket(socket.AF_UNIX).bind(str(path))
    elif kind == "device":
        path.symlink_to("/dev/null")
    return path


@pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")
@pytest.mark.parametrize("kind", ["named pipe", "socket", "device"])
def test_what_is_no_file_is_not_replaced_by_one(kind):
    with tempfile.TemporaryDirectory() as folder:  # a socket's path must be short
        path = make_special(kind, Path(folder))
        before = os.stat(path)
        with pytest.raises(FileExistsError, match=f"special.csv is a {kind}, which a file would"):
            write(path, "new")
        after = os.stat(path)
        assert (before.st_ino, before.st_mode) == (after.st_ino, after.st_mode)
        assert os.listdir(folder) == ["special.csv"]


def test_a_pipe_that_appears_while_writing_is_not_replaced(tmp_path):
    target = tmp_path / "table.csv"
    with pytest.raises(FileExistsError, match="is a named pipe"), replacing(target):
        os.mkfifo(target)
    assert stat.S_ISFIFO(target.stat().st_mode)
    assert list(tmp_path.iterdir()) == [target]


def test_several_files_take_their_places_together(tmp_path):
    (tmp_path / "other").mkdir()
    targets = [tmp_path / "a", tmp_path / "other" / "b", tmp_path / "c"]
    targets[0].write_text("old")
    with replacing_together():
        for target in targets:
            write(target, "new")
        assert targets[0].read_text() == "old"
        assert not targets[1].exists()
    assert contents(tmp_path / "other") == {"b": "new"}
    (tmp_path / "other" / "b").unlink()
    (tmp_path / "other").rmdir()
    assert contents(tmp_path) == {"a": "new", "c": "new"}


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_an_error_after_the_first_file_leaves_all_as_they_were(error, tmp_path):
    (tmp_path / "a").write_text("old")

    def fail_after_two():
        with replacing_together():
            write_together({tmp_path / name: "new" for name in "ab"})
            raise error

    with pytest.raises(error):
        fail_after_two()
    assert contents(tmp_path) == {"a": "old"}


@pytest.mark.parametrize("has_links", [True, False])
@pytest.mark.parametrize("error", [OSError(5, "Input/output error"), KeyboardInterrupt()])
@pytest.mark.parametrize("has_moved", [True, False])
@pytest.mark.parametrize("i_failing", range(3))
def test_a_move_that_fails_puts_back_those_before_it(
    i_failing, has_moved, error, has_links, tmp_path, monkeypatch
):
    if not has_links:
        monkeypatch.setattr(os, "link", lambda *_: fail(PermissionError(1, "no hard links")))
    for name in "ac":
        (tmp_path / name).write_text("old")
    replace, targets = os.replace, []

    def replace_or_fail(source, target):
        targets.append(target)
        is_failing = len(targets) == i_failing + 1
        if has_moved or not is_failing:
            replace(source, target)
        if is_failing:
            raise error

    monkeypatch.setattr(os, "replace", replace_or_fail)
    with pytest.raises(type(error)):
        write_together({tmp_path / name: "new" for name in "abc"})
    assert len(targets) > i_failing
    assert contents(tmp_path) == {"a": "old", "c": "old"}


def fail(error):
    raise error


def test_what_cannot_be_put_back_is_kept_and_the_error_says_where(tmp_path, monkeypatch):
    for name in "ab":
        (tmp_path / name).write_text("old")
    replace = os.replace

    def replace_once(source, target):
        replace(source, target)
        monkeypatch.setattr(os, "replace", lambda *_: fail(OSError(5, "Input/output error")))

    monkeypatch.setattr(os, "replace", replace_once)
    with pytest.raises(OSError, match=r"a \(the old one is (.*)\)") as caught:
        write_together({tmp_path / name: "new" for name in "ab"})
    monkeypatch.setattr(os, "replace", replace)
    kept = Path(str(caught.value).rsplit(" is ")[1].rstrip(")."))
    assert kept.read_text() == "old"
    write(tmp_path / "b", "newer")
    assert kept.read_text() == "old"  # still, after the next run


def test_one_target_under_two_names_is_refused(tmp_path):
    (tmp_path / "a").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    with pytest.raises(FileExistsError, match="link would be written twice"):
        write_together({tmp_path / "a": "new", tmp_path / "link": "newer"})
    assert (tmp_path / "a").read_text() == "old"


def test_names_that_the_drive_takes_for_one_are_refused(tmp_path, monkeypatch):
    # Stands for a drive that ignores case: "A" is there as soon as "a" is.
    samefile = Path.samefile
    monkeypatch.setattr(Path, "exists", lambda self: os.path.exists(str(self).lower()))
    monkeypatch.setattr(
        Path, "samefile", lambda self, other: samefile(Path(str(self).lower()), str(other).lower())
    )
    folder = Path(str(tmp_path).lower())
    folder.mkdir(parents=True, exist_ok=True)
    with pytest.raises(FileExistsError, match="are one file on this drive"):
        write_together({folder / "a": "new", folder / "A": "newer"})
    assert contents(folder) == {}


def test_a_file_of_another_thread_is_not_held_up(tmp_path):
    with replacing_together():
        thread = threading.Thread(target=write, args=(tmp_path / "a", "new"))
        thread.start()
        thread.join()
        assert (tmp_path / "a").read_text() == "new"


def test_a_full_drive_is_a_line_that_names_the_file_and_the_way_out(tmp_path):
    with (
        pytest.raises(OSError, match=r"a.csv could not be written: .*Make room") as caught,
        replacing(tmp_path / "a.csv") as temporary,
        open(temporary, "w"),
    ):
        raise OSError(28, "No space left on device")
    assert caught.value.errno == 28


def test_an_error_about_another_file_is_passed_on_as_it_is(tmp_path):
    error = OSError(2, "No such file", "elsewhere")
    with pytest.raises(OSError, match="elsewhere") as caught, replacing(tmp_path / "a"):
        raise error
    assert caught.value is error


WRITER = """
    import sys, time
    from likewise.files.atomic_file import replacing, replacing_together
    with replacing_together():
        for path in sys.argv[1:]:
            with replacing(path) as temporary:
                temporary.write_text("half")
        print("written", flush=True)
        time.sleep(600)
"""


@contextmanager
def another_process_writing(*paths):
    command = [sys.executable, "-c", textwrap.dedent(WRITER), *map(str, paths)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "written\n"
            yield process
        finally:
            process.kill()


def test_the_next_run_removes_what_a_killed_one_left_and_nothing_else(tmp_path):
    (tmp_path / "a").write_text("old")
    (tmp_path / ".likewise-notes").write_text("mine")
    (tmp_path / ".likewise-00000000-000000000000").write_text("a file, not a folder")
    (tmp_path / ".likewise-00000000-111111111111").mkdir()
    (tmp_path / ".likewise-00000000-111111111111" / "old").write_text("could not be put back")
    mine = set(os.listdir(tmp_path))
    with another_process_writing(tmp_path / "a", tmp_path / "b") as process:
        process.send_signal(signal.SIGKILL)
    assert len(os.listdir(tmp_path)) == len(mine) + 2
    assert (tmp_path / "a").read_text() == "old"
    write(tmp_path / "c", "new")
    assert set(os.listdir(tmp_path)) == mine | {"c"}


def test_what_a_living_process_writes_is_left_alone(tmp_path):
    with another_process_writing(tmp_path / "a"):
        before = set(os.listdir(tmp_path))
        write(tmp_path / "b", "new")
        assert set(os.listdir(tmp_path)) == before | {"b"}


def leave_behind(folder, host, hours_ago):
    """A working folder as a process killed some hours ago would leave it."""
    working = folder / f".likewise-{host}-{'0' * 12}"
    working.mkdir()
    for name in ("lock", "new.csv", "old"):
        (working / name).touch()
        os.utime(working / name, (0, working.stat().st_mtime - hours_ago * 3600))
    os.utime(working, (0, working.stat().st_mtime - hours_ago * 3600))
    return working


@pytest.mark.parametrize(
    ("is_from_here", "locks", "hours_ago", "is_removed"),
    [
        (True, True, 0, True),
        (False, True, 23, False),  # another machine's locks may not show here
        (False, True, 25, True),
        (True, None, 23, False),  # a drive without locks
        (True, None, 25, True),
        (True, False, 25, False),  # held
    ],
)
def test_where_locks_cannot_be_trusted_a_folder_rests_for_a_day(
    is_from_here, locks, hours_ago, is_removed, tmp_path, monkeypatch
):
    working = leave_behind(tmp_path, atomic_file._HOST if is_from_here else "0" * 8, hours_ago)
    if locks is not True:
        ours = []  # the second lock taken is that of the new file

        def hold(descriptor):
            ours.append(descriptor)
            return locks if len(ours) == 1 else None

        monkeypatch.setattr(atomic_file, "_hold", hold)
    write(tmp_path / "a", "new")
    assert working.exists() != is_removed


def test_a_folder_that_holds_more_than_ours_is_kept(tmp_path):
    working = leave_behind(tmp_path, atomic_file._HOST, 48)
    (working / "diary").write_text("mine")
    write(tmp_path / "a", "new")
    assert contents(working) == {"diary": "mine"}


@ROOT
def test_the_folder_of_another_user_is_left_alone(tmp_path):
    working = leave_behind(tmp_path, atomic_file._HOST, 48)
    os.chown(working, 65534, 65534)
    write(tmp_path / "a", "new")
    assert working.exists()


def test_a_folder_removed_before_its_lock_was_held_is_made_again(tmp_path, monkeypatch):
    hold, seen = atomic_file._hold, []

    def lose_the_first(descriptor):
        seen.append(descriptor)
        return False if len(seen) == 1 else hold(descriptor)

    monkeypatch.setattr(atomic_file, "_hold", lose_the_first)
    write(tmp_path / "a", "new")
    assert len(seen) == 2
    assert (tmp_path / "a").read_text() == "new"


def test_drives_without_locks_can_be_written_to(tmp_path, monkeypatch):
    def no_locks(*_):
        raise OSError(37, "No locks available")

    monkeypatch.setattr(atomic_file.fcntl, "flock", no_locks)
    write(tmp_path / "a", "new")
    assert contents(tmp_path) == {"a": "new"}


def test_a_long_name_still_fits(tmp_path):
    with replacing(tmp_path / ("x" * 250)) as temporary:
        temporary.write_text("new")
    assert (tmp_path / ("x" * 250)).read_text() == "new"


def test_a_folder_or_a_missing_folder_cannot_be_written(tmp_path):
    with pytest.raises(IsADirectoryError, match=r"is a folder\. Name a file"), replacing(tmp_path):
        pytest.fail("the block ran")
    missing = tmp_path / "missing" / "a"
    with (
        pytest.raises(FileNotFoundError, match=r"there is no folder .*missing\. Make it first"),
        replacing(missing),
    ):
        pytest.fail("the block ran")
