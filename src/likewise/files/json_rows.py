"""Rows of JSON: one object a line, or one list of objects; what is nested becomes columns.

{"id": 7, "user": {"age": 31}}   has the columns id and user.age
"""

from likewise.files import strict_json
from likewise.files.table_file import read_json_lines
from likewise.files.text_source import Source, file_name, open_text, refuse_others

Record = dict[str, object]


def read_json_rows(source: Source) -> tuple[list[Record], list[int] | None]:
    """The objects of a file, flat, and the line of each; None where they are in one list."""
    name = file_name(source)
    refuse_others(source, name)
    records, lines = _read_list(source, name)
    if records is None:
        records, lines = read_one_object(source) or read_json_lines(source)
    refuse_columns(records, name)
    places = lines or range(len(records))
    what = "line" if lines else "row"
    flat, problems = [], []
    for place, record in zip(places, records):
        try:
            flat.append(flatten(record))
        except ValueError as error:
            problems.append(f"{what} {place}: {error}")
    if problems:
        raise ValueError(f"{name}, {'; '.join(problems[:3])}. Rename one of them.")
    return flat, lines


def read_one_object(source: Source) -> tuple[list[Record], list[int]] | None:
    """The object that a file is, written over several lines; None where each line is a row."""
    with open_text(source) as file:
        try:
            first = next((line for line in file if line.strip()), "")
            if not first.lstrip().startswith("{") or first.rstrip().endswith("}"):
                return None
            record = strict_json.loads(first + file.read())
        except (ValueError, RecursionError):
            return None
    return [record], [1]


def refuse_columns(records: list[Record], name: str) -> None:
    """An error for a table that is one object of columns, or stands inside one."""
    cells = list(records[0].values()) if len(records) == 1 else []
    if not cells or not all(isinstance(cell, list | dict) for cell in cells):
        return
    rows = [key for key, cell in records[0].items() if _are_objects(cell)]
    if len(rows) == 1:
        raise ValueError(f"{name} is one object with rows in {rows[0]!r}. Save that list alone.")
    if all(isinstance(cell, list) or (isinstance(cell, dict) and "0" in cell) for cell in cells):
        raise ValueError(
            f"{name} is one object of columns. Save a list of rows, each an object: in pandas "
            'to_json(orient="records").'
        )


def _are_objects(cell: object) -> bool:
    return isinstance(cell, list) and bool(cell) and all(isinstance(one, dict) for one in cell)


def flatten(record: Record) -> Record:
    """Objects in objects as columns of their own, named by the way to them."""
    flat: Record = {}
    for key, value in record.items():
        inner = flatten(value) if isinstance(value, dict) else None
        cells = {key: value} if inner is None else {f"{key}.{k}": v for k, v in inner.items()}
        if twice := sorted(flat.keys() & cells.keys()):
            raise ValueError(f"two cells are named {twice[0]!r}")
        flat |= cells
    return flat


def _read_list(source: Source, name: str) -> tuple[list[Record] | None, list[int] | None]:
    """The objects of a file that is one list; None where it is none."""
    try:
        with open_text(source) as file:
            start = next((line.lstrip() for line in file if line.strip()), "")
            if start[:1] != "[":
                return None, None
            text = start + file.read()
        records = strict_json.loads(text)
    except UnicodeDecodeError:
        raise ValueError(f"{name} is not UTF-8 text. Save it as UTF-8.") from None
    except (ValueError, RecursionError) as error:
        raise ValueError(
            f"{name} begins as a list and is none that can be read: {error}."
        ) from None
    for row, record in enumerate(records):
        if not isinstance(record, dict):
            raise ValueError(f"{name}, row {row}: it is no JSON object. Write a list of objects.")
    return records, None
