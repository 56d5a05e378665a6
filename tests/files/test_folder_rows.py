import os

import pytest

from likewise.files.folder_rows import find_images, folder_kind, read_texts


@pytest.fixture
def folder(tmp_path):
    for name in (
        "b.JPG",
        "a/z.png",
        "a/a.txt",
        "notes.txt",
        ".hidden.png",
        ".cache/x.png",
        "c.zip",
    ):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"this is {name}")
    return tmp_path


def test_images_are_found_at_any_depth_sorted_and_the_rest_is_named(folder):
    found = find_images(folder)
    assert found.ids == ["a/z.png", "b.JPG"]
    assert found.paths == [folder / "a" / "z.png", folder / "b.JPG"]
    assert found.left_out == ["a/a.txt", "c.zip", "notes.txt"]


def test_pipes_and_devices_are_no_files_of_a_folder(folder):
    os.mkfifo(folder / "pipe.txt")
    os.mkfifo(folder / "pipe.png")
    (folder / "endless.txt").symlink_to("/dev/zero")
    (folder / "linked.txt").symlink_to(folder / "notes.txt")
    found = read_texts(folder)
    assert found.ids == ["a/a.txt", "linked.txt", "notes.txt"]
    assert {"pipe.txt", "endless.txt"} <= {*found.left_out}
    assert find_images(folder).ids == ["a/z.png", "b.JPG"]


def test_texts_are_read_with_their_names(folder):
    (folder / "notes.txt").write_bytes("\ufeffgrüße\r\n".encode())
    found = read_texts(folder)
    assert found.ids == ["a/a.txt", "notes.txt"]
    assert found.texts == ["this is a/a.txt", "grüße\r\n"]
    assert found.left_out == ["a/z.png", "b.JPG", "c.zip"]


def test_all_texts_that_are_not_utf_8_are_named_at_once(folder):
    for name in ("a/a.txt", "notes.txt"):
        (folder / name).write_bytes(b"gr\xfc\x81e")
    with pytest.raises(
        ValueError, match=r"2 text files .*a/a.txt \(byte 2 is not UTF-8\), notes.txt \(byte 2"
    ):
        read_texts(folder)


def test_texts_as_windows_writes_them_are_read_and_named(folder):
    (folder / "notes.txt").write_bytes("gr\xfc\xdfe \u20ac".encode("cp1252"))
    with pytest.warns(UserWarning, match=r"1 text file of .* \(notes.txt\): not UTF-8, so read"):
        assert read_texts(folder).texts == ["this is a/a.txt", "gr\xfc\xdfe \u20ac"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_the_mark_of_an_encoding_is_no_part_of_the_text(folder, encoding):
    (folder / "notes.txt").write_bytes("gr\u00fc\u00dfe \u20ac".encode(encoding))
    found = read_texts(folder)
    assert found.texts[found.ids.index("notes.txt")] == "gr\u00fc\u00dfe \u20ac"


def test_a_folder_is_what_it_has_more_of(folder):
    assert folder_kind(folder) == "images"  # two of each
    (folder / "more.txt").write_text("more")
    assert folder_kind(folder) == "texts"


@pytest.mark.parametrize("read", [find_images, read_texts, folder_kind])
def test_a_folder_without_them_is_an_error(tmp_path, read):
    (tmp_path / "table.csv").write_text("a,b")
    with pytest.raises(ValueError, match=r"has no .*file.*end"):
        read(tmp_path)
    with pytest.raises(ValueError, match="gone is not a folder"):
        read(tmp_path / "gone")


def test_a_folder_of_tables_says_which_one_to_name(tmp_path):
    (tmp_path / "a.csv").write_text("x\n1\n")
    with pytest.raises(ValueError, match=r"Name a table: .*a\.csv\.$"):
        folder_kind(tmp_path)
