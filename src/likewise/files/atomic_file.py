"""Files that are there whole or not at all, one alone or several together.

A file is written in a working folder beside its target, flushed to disk, and moved onto the target
in one step. The working folder is called .likewise-HOST-TOKEN and holds

    lock   held for as long as the process lives: a lock dies with its process, and no other
           process can mistake a new one for it, as it could with a process number
    new    what is being written; its ending is the target's
    old    the file that was there: a hard link, or a copy where the drive has no hard links

A killed run leaves its working folder behind. The next run that writes to the same place removes
it, but only if it is the same user's, and its lock is free. Network drives may keep locks to one
machine or have none: there, the folder must also come from this machine, or rest for a day.
"""

import errno
import hashlib
import os
import platform
import re
import secrets
import shutil
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: no locks of this kind, so what was left behind rests for a day
    fcntl = None  # type: ignore[assignment]

_HOST = hashlib.sha256(platform.node().encode()).hexdigest()[:8]
_WORKING_NAME = re.compile(r"\.likewise-(?P<host>[0-9a-f]{8})-[0-9a-f]{12}")
_LOCK, _NEW, _OLD = "lock", "new", "old"
_SECONDS_AT_REST = 24 * 3600
_LET_GO = -1  # instead of a descriptor

_KINDS = {
    stat.S_IFCHR: "device",
    stat.S_IFBLK: "device",
    stat.S_IFIFO: "named pipe",
    stat.S_IFSOCK: "socket",
}
_DRIVE_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NOT_ALLOWED = (errno.EACCES, errno.EPERM, errno.EROFS)
_NO_FOLDER_SYNC = (errno.EINVAL, errno.EBADF, errno.ENOTSUP)  # drives that cannot, or need not
_ACL = "system.posix_acl_access"


@contextmanager
def replacing(path: str | os.PathLike) -> Iterator[Path]:
    """A temporary file that takes the place of `path` when the block ends well.

    On an error, and on Ctrl-C, it goes and `path` stays as it was. A file that was there passes on
    its permissions, its access list and, where the system allows it, its owner. A new one gets
    those of any new file.

    Parameters
    ----------
    path : str or path
        The file to write in the end. Behind a symbolic link, what it points to. A folder, a
        device, a pipe, a socket or a read-only file is an error.

    Yields
    ------
    pathlib.Path
        Where to write now: an empty file on the same drive with the same ending.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from likewise.files.atomic_file import replacing
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing(Path(folder, "table.csv")) as temporary:
    ...         _ = temporary.write_text("a,b")
    ...     Path(folder, "table.csv").read_text()
    'a,b'
    """
    check_target(path)
    waiting = _WAITING.get()
    target = Path(os.path.realpath(path))
    if waiting is not None and any(target == other.target for other in waiting):
        raise FileExistsError(f"{path} would be written twice. Name another file for one of them.")
    _remove_abandoned(target.parent)
    output = _begin(path, target)
    try:
        with output.naming_errors(of_writer=True):
            yield output.new
        with output.naming_errors():
            output.finish()
        if waiting is not None:
            waiting.append(output)
            return
        _commit([output])
    except BaseException:
        output.discard()
        raise


@contextmanager
def replacing_together() -> Iterator[None]:
    """Files written in the block take their places when it ends: all of them, or none.

    Every `replacing` inside (also that of ``save_model``, ``write_report`` and the like) leaves its
    file complete and flushed to disk, but hidden. At the end they are moved into place one after
    the other. If one cannot be, those already moved are put back; the files they replaced are kept
    until the last is in place and the folders are flushed to disk.

    What is left to chance: a power cut or ``kill -9`` between the first move and the last, which
    are microseconds apart. Then some files are new and others old, each of them whole. No file is
    ever missing or half-written, whenever it happens.

    Files of other threads take their places on their own. A block inside a block belongs to it.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from likewise.files.atomic_file import replacing, replacing_together
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing_together():
    ...         for name in ("a", "b"):
    ...             with replacing(Path(folder, name)) as temporary:
    ...                 _ = temporary.write_text(name)
    ...         assert not Path(folder, "a").exists()
    ...     sorted(path.name for path in Path(folder).iterdir())
    ['a', 'b']
    """
    if _WAITING.get() is not None:
        yield
        return
    waiting: list[_Output] = []
    token = _WAITING.set(waiting)
    try:
        yield
        _commit(waiting)
    except BaseException:
        for output in waiting:
            output.discard()
        raise
    finally:
        _WAITING.reset(token)


def check_target(path: str | os.PathLike) -> None:
    """Refuse a path where no file can be written, or where one would replace something else."""
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{path}: there is no folder {target.parent}. Make it first.")
    status = _status_of(path)
    if status is None:
        return
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(f"{path} is a folder. Name a file to write.")
    if not stat.S_ISREG(status.st_mode):
        kind = _KINDS.get(stat.S_IFMT(status.st_mode), "special file")
        raise FileExistsError(f"{path} is a {kind}, which a file would replace. Name a file.")
    if not os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        raise PermissionError(f"{path} is read-only. Make it writable, or name another file.")


@dataclass
class _Output:
    """A file on its way to its target."""

    path: str | os.PathLike  # as the caller spelled it
    target: Path
    folder: Path  # the working folder
    lock: int  # descriptor
    mode: int  # of any new file here
    is_moving: bool = False

    @property
    def new(self) -> Path:
        return self.folder / f"{_NEW}{self.target.suffix}"

    @property
    def old(self) -> Path:
        return self.folder / _OLD

    def finish(self) -> None:
        """Permissions, then the content and them to disk."""
        with open(self.new, "rb+") as file:
            replaced = _status_of(self.target)
            if replaced is None:
                os.chmod(self.new, self.mode)  # some writers make a private file of their own
            else:
                _pass_on_permissions(self.target, replaced, self.new)
            os.fsync(file.fileno())

    def keep_old(self) -> None:
        if _status_of(self.target) is None:
            return
        try:
            os.link(self.target, self.old)
        except OSError as error:
            if error.errno in _DRIVE_FULL:
                raise
            shutil.copy2(self.target, self.old)  # no hard links on this drive, or not of this file

    def move(self) -> None:
        check_target(self.path)  # again: the work between may have taken hours
        self.is_moving = True  # before, not after: Ctrl-C may come in between
        os.replace(self.new, self.target)

    def put_back(self) -> None:
        if not self.is_moving or self.new.exists():
            return
        if self.old.exists():
            os.replace(self.old, self.target)
        else:
            self.target.unlink()

    def discard(self) -> None:
        """Remove the working folder. What cannot be removed now, a later run will."""
        if self.lock == _LET_GO:
            return
        with suppress(OSError):
            for path in (self.new, self.old, self.folder / _LOCK):  # in this order
                path.unlink(missing_ok=True)
            self.folder.rmdir()
        self.let_go()

    def let_go(self) -> None:
        descriptor, self.lock = self.lock, _LET_GO
        with suppress(OSError):
            os.close(descriptor)

    @contextmanager
    def naming_errors(self, *, of_writer: bool = False) -> Iterator[None]:
        """Errors of the drive name the file that was to be written, and the way out."""
        try:
            yield
        except OSError as error:
            if of_writer and not self._is_about_this_file(error):
                raise
            raise could_not_write(self.path, error) from error

    def _is_about_this_file(self, error: OSError) -> bool:
        if error.filename is None:
            return error.errno in (*_DRIVE_FULL, errno.EIO)
        return Path(os.fsdecode(error.filename)).parent == self.folder


_WAITING: ContextVar[list[_Output] | None] = ContextVar("waiting", default=None)


def _begin(path: str | os.PathLike, target: Path) -> _Output:
    """Make a working folder and an empty file in it."""
    while True:
        folder = target.parent / f".likewise-{_HOST}-{secrets.token_hex(6)}"
        try:
            folder.mkdir(mode=0o700)
            lock = os.open(folder / _LOCK, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
        except BaseException as error:
            with suppress(OSError):
                folder.rmdir()
            if isinstance(error, FileNotFoundError) and target.parent.is_dir():
                continue  # another run took the empty folder for one left behind
            if isinstance(error, OSError):
                raise could_not_write(path, error) from error
            raise
        output = _Output(path, target, folder, lock, mode=0)
        try:
            # Another run may have found the lock before we held it, and removed the folder.
            if _hold(lock) is not False and (folder / _LOCK).exists():
                with output.naming_errors():
                    output.new.touch(exist_ok=False)  # with the permissions of any new file
                    output.mode = stat.S_IMODE(output.new.stat().st_mode)
                return output
        except BaseException:
            output.discard()
            raise
        os.close(lock)


def _commit(outputs: Sequence[_Output]) -> None:
    """Move all into place, or put back what was there."""
    try:
        for output in outputs:
            with output.naming_errors():
                output.keep_old()
        for i, output in enumerate(outputs):
            for moved in outputs[:i]:
                if output.target.exists() and output.target.samefile(moved.target):
                    raise FileExistsError(  # a drive may take "A.csv" and "a.csv" for one name
                        f"{output.path} and {moved.path} are one file on this drive. "
                        "Give each a name of its own."
                    )
            with output.naming_errors():
                output.move()
        for parent in {output.target.parent: output for output in outputs}.values():
            with parent.naming_errors():
                _flush_folder(parent.target.parent)
    except BaseException:
        _put_back(outputs)
        raise
    for output in outputs:
        output.discard()


def _put_back(outputs: Sequence[_Output]) -> None:
    stuck = []
    for output in reversed(outputs):
        try:
            output.put_back()
        except OSError:
            stuck.append(output)
            with suppress(OSError):  # what is in a folder without a lock is nobody's to remove
                (output.folder / _LOCK).unlink()
            output.let_go()
        else:
            output.discard()
    if stuck:
        where = ", ".join(f"{one.path} (the old one is {one.old})" for one in stuck)
        raise OSError(f"The drive failed, and so did putting back what it had replaced: {where}.")


def _flush_folder(folder: Path) -> None:
    """The names in a folder to disk: without it, a power cut may undo a move."""
    if not hasattr(os, "O_DIRECTORY"):  # Windows
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _NO_FOLDER_SYNC:
            raise
    finally:
        os.close(descriptor)


def _pass_on_permissions(source: Path, status: os.stat_result, path: Path) -> None:
    """Owner, group, mode and access list, as far as the system allows, and never more."""
    mode = stat.S_IMODE(status.st_mode) & 0o777
    if hasattr(os, "chown"):
        ours = path.stat()
        try:
            if (ours.st_uid, ours.st_gid) != (status.st_uid, status.st_gid):
                os.chown(path, status.st_uid, status.st_gid)
        except OSError:  # only root gives files away; a group of ours can be set
            try:
                os.chown(path, -1, status.st_gid)
            except OSError:
                mode &= 0o707 | (mode & 0o007) << 3  # another group: no more than everybody has
    os.chmod(path, mode)
    if hasattr(os, "getxattr"):
        try:
            access_list = os.getxattr(source, _ACL)
        except OSError:  # none, or none on this drive
            return
        os.setxattr(path, _ACL, access_list)


def could_not_write(path: str | os.PathLike, error: OSError) -> OSError:
    """The same error as a line that names the file and the way out."""
    if error.errno is None:  # one of our own lines
        return error
    way_out = "Try again, or write to another drive."
    if error.errno in _DRIVE_FULL:
        way_out = "Make room, or write to another drive."
    if error.errno in _NOT_ALLOWED:
        way_out = "Choose a folder you may write to."
    reason = error.strerror or type(error).__name__
    named = type(error)(f"{path} could not be written: {reason}. Nothing was changed. {way_out}")
    named.errno = error.errno
    return named


def _status_of(path: str | os.PathLike) -> os.stat_result | None:
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _hold(descriptor: int) -> bool | None:
    """Take a lock: True when we hold it, False when another process does, None without locks."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _remove_abandoned(parent: Path) -> None:
    """Remove the working folders of runs that were killed here. It is a courtesy: no errors."""
    with suppress(OSError):
        names = [name for name in os.listdir(parent) if _WORKING_NAME.fullmatch(name)]
        for name in names:
            with suppress(OSError):
                _remove_if_abandoned(parent / name)


def _remove_if_abandoned(folder: Path) -> None:
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or (
        hasattr(os, "geteuid") and status.st_uid != os.geteuid()
    ):
        return
    changed = [status.st_mtime, *(path.lstat().st_mtime for path in folder.iterdir())]
    is_at_rest = time.time() - max(changed) > _SECONDS_AT_REST
    try:
        lock = os.open(folder / _LOCK, os.O_RDWR)
    except FileNotFoundError:
        folder.rmdir()  # killed before it was made: empty. What is not could not be put back.
        return
    try:
        held = _hold(lock)
        is_from_here = folder.name.startswith(f".likewise-{_HOST}-")
        if (held and is_from_here) or (held is not False and is_at_rest):
            for path in folder.iterdir():
                if path.name == _OLD or path.name.startswith(_NEW):
                    path.unlink()
            (folder / _LOCK).unlink()
            folder.rmdir()
    finally:
        os.close(lock)
