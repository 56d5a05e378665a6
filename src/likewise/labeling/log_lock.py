"""One studio or terminal per log, on a drive of this machine.

Two programs that ask on one log would each miss what the other is told. A lock beside the log is
held as long as one of them lives, and says which; it dies with its process, however that ends. A
`LabelingSession` in a program of your own takes no lock: reading a log that is in use is fine, and
what is added to it counts when the other program opens it next. A network drive is refused:
SQLite's write-ahead log needs memory that all users of the file share, and such drives keep neither
that nor, always, what was flushed.
"""

import os
import sys
from pathlib import Path
from typing import IO

NETWORK = (
    *("nfs", "nfs3", "nfs4", "cifs", "smb", "smb2", "smb3", "smbfs", "9p", "afs", "ceph"),
    *("glusterfs", "lustre", "gpfs", "beegfs", "ncpfs", "webdav", "davfs", "fuse.sshfs"),
    *("fuse.davfs", "fuse.davfs2", "fuse.s3fs", "fuse.rclone", "fuse.gcsfuse", "fuse.glusterfs"),
)
MOUNTS = "/proc/self/mounts"


STUDIO = "Another studio"  # whoever holds a log, as the first word of a sentence
TERMINAL = "likewise ask"
WAYS_OUT = {STUDIO: "Join it by its link", TERMINAL: "Answer there, or press q in it"}


def hold_log(
    path: str | os.PathLike, *, holder: str = STUDIO, option: str = "--answers"
) -> IO[str]:
    """Keep other programs from a log until what is returned is closed, or the process ends.

    `holder` is who holds it from now on; `option` is how another file is named to it.
    """
    path = Path(path)
    kind = network_drive(path)
    if kind is not None:
        raise OSError(
            f"{path} lies on a network drive ({kind}), where a crash can damage it. Name a file on "
            f"a drive of this machine with {option}."
        )
    try:
        lock = open(path.with_name(path.name + ".lock"), "a+", encoding="utf-8")  # noqa: SIM115
    except OSError as error:
        raise OSError(f"{path} cannot be opened as a log: {error.strerror}.") from None
    try:
        lock_file(lock)
    except OSError:
        other = read_holder(lock)
        lock.close()
        who = "A studio" if other == STUDIO != holder else other
        raise ValueError(
            f"{who} is using {path}. {WAYS_OUT[other]}, or name another file with {option}."
        ) from None
    lock.truncate(0)
    lock.write(holder)
    lock.flush()
    return lock


def read_holder(lock: IO[str]) -> str:
    """Who wrote to a lock; where that cannot be read, a studio."""
    try:
        lock.seek(0)
        text = lock.read()
    except (OSError, ValueError):  # a locked part cannot be read on Windows
        return STUDIO
    return text if text in WAYS_OUT else STUDIO


def lock_file(file: IO[str]) -> None:
    """Lock an open file; OSError where another process holds it."""
    if sys.platform == "win32":
        import msvcrt

        file.seek(0)  # the same byte, whoever wrote to it before
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def network_drive(path: Path, mounts: str = MOUNTS) -> str | None:
    """The kind of network drive that a file is on; None on a drive of this machine."""
    try:
        lines = Path(mounts).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:  # another system, which does not say
        return None
    target = os.path.realpath(path)
    kinds = {}
    for line in lines:
        fields = line.split()
        if len(fields) >= 3:
            kinds[fields[1].replace("\\040", " ")] = fields[2]
    inside = [place for place in kinds if os.path.commonpath([place, target]) == place]
    kind = kinds[max(inside, key=len)] if inside else ""
    return kind if kind in NETWORK else None
