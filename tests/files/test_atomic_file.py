import os
import stat

import numpy as np
import pytest

from likewise.files.atomic_file import replacing


def test_the_file_shows_only_when_it_is_whole(tmp_path):
    target = tmp_path / "table.csv"
    with replacing(target) as temporary:
        temporary.write_text("a,b\n")
        assert not target.exists()
        assert temporary.parent == target.parent
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
