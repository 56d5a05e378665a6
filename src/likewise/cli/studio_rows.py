"""The rows of DATA as the studio shows them."""

from likewise.cli.ask_command import ShownRows
from likewise.studio import RowGallery


def gallery_of(shown: ShownRows, title: str) -> RowGallery:
    """Images by their files, texts whole, tables by their cells."""
    data = shown.data
    if data.files is not None and data.files.kind == "images":
        paths = [item for item, is_read in zip(data.files.items, data.is_read) if is_read]
        return RowGallery(
            title, "images", data.n_rows, data.ids, images=paths, encoder=data.encoder
        )
    if data.files is not None:
        return RowGallery(
            title, "texts", data.n_rows, data.ids, texts=data.texts, encoder=data.encoder
        )
    kind = "table" if data.features is not None or data.feature_names else "numbers"
    return RowGallery(
        title, kind, data.n_rows, data.ids, columns=shown.columns, id_column=data.id_column
    )
