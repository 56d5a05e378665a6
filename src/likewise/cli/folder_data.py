"""DATA that is a folder of images or texts, or a column of image paths: as rows of numbers."""

import warnings
from pathlib import Path
from typing import Any, NamedTuple

from likewise.cli.messages import print_details, print_message

MOST_NAMED = 5  # files in one line
THUMBNAIL = 64  # pixels of an image in the report


class Files(NamedTuple):
    """What an encoder takes, by name."""

    kind: str  # "images" or "texts"
    items: list[str]  # paths, or what is written in the files
    ids: list[str]
    id_column: str | None  # None: "file"
    left_out: list[str]  # files of other kinds


class EncodedFiles(NamedTuple):
    """Files as numbers, as far as they can be read."""

    X: Any  # (m, d)
    is_read: Any  # (n,)
    problems: dict[str, str]  # name -> why it could not be read


def read_folder(folder: str) -> Files:
    """The images or the texts of a folder, whichever are more."""
    from likewise.files.folder_rows import find_images, folder_kind, read_texts

    if folder_kind(folder) == "images":
        found = find_images(folder)
        paths = [str(path) for path in found.paths]
        return Files("images", paths, found.ids, None, found.left_out)
    texts = read_texts(folder)
    return Files("texts", texts.texts, texts.ids, None, texts.left_out)


def read_image_column(data: str, column: str, id_column: str | None, usual_ids=("id",)) -> Files:
    """The images whose paths are in a column of a table; they start from the table's folder."""
    from likewise.files.row_file import read_named_table

    named = read_named_table(data, id_column=id_column, text_column=column, usual_ids=usual_ids)
    start = Path() if data == "-" else Path(data).parent
    cells = named.texts or []
    ids = cells if named.ids is None else named.ids
    return Files(
        "images", [str(start / cell) for cell in cells], ids, named.id_column or column, []
    )


def make_encoder(kind: str, by_network: bool):
    """What turns files into numbers, unfitted."""
    from likewise.features import ImageFeatures, TextFeatures

    if kind == "images":
        return ImageFeatures("network" if by_network else "histograms")
    return TextFeatures("sentences" if by_network else "tfidf")


def encode_files(files: Files, encoder, *, fit: bool) -> EncodedFiles:
    """The files as numbers; those that cannot be read are named."""
    import numpy as np

    from likewise.features import UnreadableImageWarning

    problems: dict[str, str] = {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        X = encoder.fit_transform(files.items) if fit else encoder.transform(files.items)
    for one in caught:
        if isinstance(one.message, UnreadableImageWarning):  # they are listed by the command
            problems |= one.message.problems
        else:
            warnings.showwarning(one.message, one.category, one.filename, one.lineno)
    is_read = ~np.isnan(X[:, 0])
    names = dict(zip(files.items, files.ids))
    problems = {names.get(item, item): why for item, why in problems.items()}
    for name in np.array(files.ids, dtype=object)[~is_read]:
        problems.setdefault(name, "it is no image that can be read")
    return EncodedFiles(X[is_read], is_read, problems)


def print_files_read(files: Files, encoded: EncodedFiles) -> None:
    """What was left out, and what could not be read."""
    if files.left_out:
        print_message(f"left out: {_listed(files.left_out, f'not read as {files.kind}')}")
    if encoded.problems:
        named = [f"{name} ({why})" for name, why in encoded.problems.items()]
        what = "that cannot be read, in cluster -1"
        print_message(f"left out: {_listed(named, what)}")
    for name in files.left_out:
        print_details(f"  {name}: left out")
    for name, why in encoded.problems.items():
        print_details(f"  {name}: {why}")


def thumbnails(paths: list[str]):
    """The images (n, 64, 64, 3), small, for the report."""
    import numpy as np

    from likewise.features import read_small_images

    return np.round(read_small_images(paths, THUMBNAIL) * 255).astype(np.uint8)


def _listed(names: list[str], what: str) -> str:
    more = len(names) - MOST_NAMED
    listed = ", ".join(names[:MOST_NAMED]) + (
        f" and {more} more; -v lists them" if more > 0 else ""
    )
    return f"{len(names)} file{'s' * (len(names) != 1)} {what}: {listed}"
