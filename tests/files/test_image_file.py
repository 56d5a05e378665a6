"""Image files are read by Pillow alone."""

import os
import subprocess

import pytest

Image = pytest.importorskip("PIL.Image")

from likewise.files.image_file import open_image_file  # noqa: E402


@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "BMP", "TIFF", "PPM", "WEBP"])
def test_usual_images_open_whatever_their_name_ends_in(tmp_path, form):
    Image.new("RGB", (5, 4), "red").save(tmp_path / "a.png", format=form)
    with open_image_file(tmp_path / "a.png") as image:
        assert image.size == (5, 4)


def test_no_other_program_is_started_for_an_image(tmp_path, monkeypatch):
    """PostScript is a program; Pillow gives it to Ghostscript, whatever the file is called."""
    Image.new("RGB", (5, 4), "red").save(tmp_path / "a.eps")
    (tmp_path / "a.eps").rename(tmp_path / "a.png")

    def started(*arguments, **settings):
        raise AssertionError(f"{arguments} was started")

    for name in ("Popen", "check_call", "check_output", "run"):
        monkeypatch.setattr(subprocess, name, started)
    with pytest.raises(Image.UnidentifiedImageError):
        open_image_file(tmp_path / "a.png")


def test_a_pipe_is_no_image_and_nobody_waits_for_it(tmp_path):
    os.mkfifo(tmp_path / "a.png")
    with pytest.raises(OSError, match="it is a device or a pipe"):
        open_image_file(tmp_path / "a.png")
