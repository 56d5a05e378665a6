"""Image files by Pillow, in every format that it reads by itself."""

PROGRAMS = ("EPS",)  # read by another program, Ghostscript, which runs what is in the file


def open_image_file(path):
    """An image, not yet decoded; whatever the name of the file ends in, its content decides."""
    from PIL import Image

    Image.init()
    return Image.open(path, formats=[name for name in Image.OPEN if name not in PROGRAMS])
