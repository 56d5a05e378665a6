"""Image files by Pillow, in every format that it reads by itself."""

import os

from likewise.files.folder_rows import is_endless

PROGRAMS = ("EPS",)  # read by another program, Ghostscript, which runs what is in the file


def open_image_file(path):
    """An image, not yet decoded; whatever the name of the file ends in, its content decides."""
    from PIL import Image

    if isinstance(path, str | os.PathLike) and is_endless(path):
        raise OSError("it is a device or a pipe")
    Image.init()
    return Image.open(path, formats=[name for name in Image.OPEN if name not in PROGRAMS])
