"""The user's own names of the clusters: a file with one line per name.

A line names a cluster by its number, or by one of its rows, which stays right when clusters are
numbered otherwise after more answers:

    cluster,name          id,name
    0,invoices            letter-17,invoices
    2,love letters        letter-3,love letters
"""

from pathlib import Path

NAME = "name"
BY_CLUSTER, BY_ROW = "cluster", "row"


def read_cluster_names(path: str, labels, n_clusters: int, ids=None, id_column=None) -> list[str]:
    """A name for each cluster (k,), "" where the file has none.

    `labels` (n,) are the clusters of rows that are named by `ids`, or by their numbers.
    """
    from likewise.files.row_file import read_table

    table, file = read_table(path), Path(path).name
    keys = [BY_CLUSTER, BY_ROW, *filter(None, (id_column, "id"))]
    key = next((name for name in keys if name in table.columns), None)
    if key is None or NAME not in table.columns:
        raise ValueError(
            f"{file} needs a column {NAME!r}, and {BY_CLUSTER!r} or {keys[-1]!r} to say of what; "
            f"it has {', '.join(table.columns)}."
        )
    rows = {} if ids is None else {str(name): row for row, name in enumerate(ids)}
    names = [""] * n_clusters
    for i, (cell, name) in enumerate(zip(table.columns[key], table.columns[NAME])):
        place, text = table.place(key)(i), str(name).strip()
        if key in (BY_CLUSTER, BY_ROW):
            cluster = _number(cell, place, n_clusters if key == BY_CLUSTER else len(labels))
        elif str(cell) in rows:
            cluster = rows[str(cell)]
        else:
            raise ValueError(f"{place}: no row is named {str(cell)!r}.")
        cluster = cluster if key == BY_CLUSTER else int(labels[cluster])
        if names[cluster] not in ("", text):
            raise ValueError(
                f"{place}: cluster {cluster} is named {text!r} here and {names[cluster]!r} before. "
                "Keep one of them."
            )
        names[cluster] = text
    return names


def cluster_names_of(model) -> list[str]:
    """The names that a fitted model holds; of a pipeline, its last step; [] if there are none."""
    last = model[-1] if hasattr(model, "steps") else model
    names = getattr(last, "cluster_names_", [])
    return list(names) if any(names) else []


def _number(cell, place: str, end: int) -> int:
    try:
        number = int(str(cell))
    except ValueError:
        number = -1
    if not 0 <= number < end:
        raise ValueError(f"{place} is {str(cell)!r}; it must be a number from 0 to {end - 1}.")
    return number
