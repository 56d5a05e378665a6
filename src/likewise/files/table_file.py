"""Columns of cells in CSV and Parquet files: what answer files and data files share.

A file that cannot be read is one ``ValueError`` that names it and the line.
"""

import csv
from pathlib import Path

Columns = dict[str, list]


def read_csv(path: Path) -> tuple[Columns, list[int]]:
    """The cells of each column as text, and the line each row ends on; blank lines are no rows."""
    with open(path, newline="", encoding="utf-8-sig") as file:
        reader = csv.reader(file, strict=True)
        try:
            header = [name.strip() for name in next(reader, [])]
            if not header:
                raise ValueError(f"{path.name} is empty: its first line must name the columns.")
            if len(set(header)) < len(header):
                raise ValueError(f"{path.name}, line 1: a column is named twice.")
            columns: Columns = {name: [] for name in header}
            lines = []
            for cells in reader:
                if cells and len(cells) != len(header):
                    raise ValueError(
                        f"{path.name}, line {reader.line_num}: {len(cells)} cells, "
                        f"but the header names {len(header)} columns."
                    )
                for name, cell in zip(header, cells):
                    columns[name].append(cell)
                if cells:
                    lines.append(reader.line_num)
        except csv.Error as error:
            raise ValueError(f"{path.name}, line {reader.line_num}: {error}.") from None
        except UnicodeDecodeError:
            raise ValueError(f"{path.name} is not UTF-8 text. Save it as UTF-8.") from None
    return columns, lines


def write_csv(columns: dict[str, list[str]], file) -> None:
    """Write columns of text to an open file."""
    # Ending lines in \n alone, the writer sees no reason to quote a cell that holds \r.
    has_return = any("\r" in cell for cells in columns.values() for cell in cells)
    quoting = csv.QUOTE_ALL if has_return else csv.QUOTE_MINIMAL
    writer = csv.writer(file, lineterminator="\n", quoting=quoting)  # type: ignore[arg-type]
    writer.writerow(columns)
    writer.writerows(zip(*columns.values()))


def read_parquet(path: Path):
    """The file as a pyarrow table."""
    pyarrow, parquet = import_pyarrow()
    try:
        return parquet.read_table(path)
    except FileNotFoundError:
        raise
    except (pyarrow.ArrowException, OSError):
        raise ValueError(f"{path.name} is not a Parquet file that can be read.") from None


def import_pyarrow():
    """pyarrow and its Parquet module, or the line that installs them."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise ImportError("Parquet files need pyarrow: pip install 'likewise[io]'.") from None
    return pyarrow, pyarrow.parquet
