"""The rows of DATA as the studio shows them."""

import numpy as np

from likewise.cli.ask_command import ShownRows
from likewise.studio import RowGallery

SOME = 1000  # rows that the length of a text is judged by
LONG = 80  # letters, on average


def gallery_of(shown: ShownRows, title: str) -> RowGallery:
    """Images by their files, texts whole, tables by their cells."""
    data = shown.data
    if data.files is not None and data.files.kind == "images":
        paths = [item for item, is_read in zip(data.files.items, data.is_read) if is_read]
        return RowGallery(
            title,
            "images",
            data.n_rows,
            data.ids,
            images=paths,
            encoder=data.encoder,
            id_column=data.id_column,
        )
    if data.files is not None:
        return RowGallery(
            title,
            "texts",
            data.n_rows,
            data.ids,
            texts=data.texts,
            encoder=data.encoder,
            id_column=data.id_column,
        )
    kind = "table" if data.features is not None or data.feature_names else "numbers"
    columns = dict(shown.columns)
    name = text_to_read(shown)
    texts = (
        None if name is None else ["" if cell is None else str(cell) for cell in columns.pop(name)]
    )
    return RowGallery(
        title, kind, data.n_rows, data.ids, columns=columns, texts=texts, id_column=data.id_column
    )


def text_to_read(shown: ShownRows) -> str | None:
    """The column of a table that has to be read whole: its longest text, if that is long."""
    lengths = {
        column.name: float(np.mean([len(str(cell)) for cell in shown.columns[column.name][:SOME]]))
        for column in shown.data.columns
        if column.kind == "text" and column.name in shown.columns
    }
    name = max(lengths, key=lengths.__getitem__, default=None)
    return name if name is not None and lengths[name] > LONG else None
