"""Columns of Parquet and Feather files, by pyarrow where it is installed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from likewise.files.cell_table import as_cells
from likewise.files.text_source import Source, describe_other, file_name, start_of

FEATHER = (".feather", ".arrow")


def read_parquet(source: Source, convert: Callable[[Any], Any]) -> dict[str, Any]:
    """What `convert` makes of each column of the file, a pyarrow array in chunks."""
    pyarrow, parquet = import_pyarrow()
    name = file_name(source)
    is_feather = Path(name).suffix.lower() in FEATHER
    try:
        table = _read_feather(source) if is_feather else parquet.read_table(source)
        table.validate(full=True)  # text that is no UTF-8, offsets that point outside
        while any(map(pyarrow.types.is_struct, table.schema.types)):
            table = table.flatten()  # user {age} is user.age
        if len(set(table.column_names)) < len(table.column_names):
            raise ValueError
    except FileNotFoundError:
        raise
    except (pyarrow.ArrowException, OSError, MemoryError, OverflowError, ValueError):
        kind = "Feather" if is_feather else "Parquet"
        way_out = describe_other(start_of(source), kind)
        raise ValueError(f"{name} is not a {kind} file that can be read{way_out}.") from None
    columns = {}
    for column in table.column_names:
        try:
            columns[column] = convert(table[column])
        except (pyarrow.ArrowException, OverflowError, ValueError, TypeError, MemoryError):
            raise ValueError(
                f"{name}: column {column!r} holds {table[column].type} that cannot be read. "
                "Drop it, or turn it to text or numbers."
            ) from None
    return columns


def _read_feather(source: Source):
    from pyarrow import feather

    return feather.read_table(source, memory_map=False)


def arrow_cells(column: Any) -> np.ndarray:
    """One pyarrow column (n,): numbers and times as they are, anything else as objects."""
    import pyarrow

    types = pyarrow.types
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if types.is_duration(kind):
        return column.cast(pyarrow.duration("us"), safe=False).to_numpy()
    if types.is_binary(kind) or types.is_large_binary(kind):
        try:
            column = column.cast(pyarrow.string())
        except pyarrow.ArrowInvalid:  # no UTF-8: an error with its row, where it is used
            return as_cells(column.to_pylist())
        kind = column.type
    if types.is_integer(kind) or types.is_floating(kind):
        numbers = column.cast(pyarrow.float64(), safe=False) if column.null_count else column
        return numbers.to_numpy()
    if types.is_timestamp(kind) or types.is_date(kind):  # with a time zone it is kept in UTC
        return column.cast(pyarrow.timestamp("us"), safe=False).to_numpy()
    if types.is_boolean(kind) and not column.null_count:
        return column.to_numpy()
    if types.is_string(kind) or types.is_large_string(kind):  # one object for cells that are equal
        codes = column.dictionary_encode().combine_chunks()
        words = as_cells([*codes.dictionary.to_pylist(), None])
        return words[codes.indices.fill_null(len(words) - 1).to_numpy()]
    return as_cells(column.to_pylist())


def import_pyarrow():
    """pyarrow and its Parquet module, or the line that installs them."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise ImportError("Parquet files need pyarrow: pip install 'likewise[io]'.") from None
    return pyarrow, pyarrow.parquet
