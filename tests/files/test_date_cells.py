"""Dates and times as people write them."""

from datetime import time

import numpy as np
import pytest

from likewise.files.cell_table import as_cells
from likewise.files.column_types import as_kind, typed_column


def place(i):
    return f"row {i}"


@pytest.mark.parametrize(
    ("cells", "dates"),
    [
        (["2024-01", "2025-12"], ["2024-01-01", "2025-12-01"]),
        (["08:15", "23:59"], ["1970-01-01T08:15", "1970-01-01T23:59"]),
        (["8:15:30", "0:00:01"], ["1970-01-01T08:15:30", "1970-01-01T00:00:01"]),
        ([time(8, 15), time(9)], ["1970-01-01T08:15", "1970-01-01T09:00"]),
        (["2024-01-31 10:00 UTC", "2024-02-01 00:00 GMT"], ["2024-01-31T10", "2024-02-01T00"]),
        (["31/12/2024 10:00:00.5", "1/2/2025 0:00:00.0"], ["2024-12-31T10:00:00.5", "2025-02-01"]),
        (["2024-01-31T10:00+02:00", "2024-02-01T00:00Z"], ["2024-01-31T08", "2024-02-01T00"]),
    ],
)
def test_what_people_write_is_the_moment_it_means(cells, dates):
    typed = typed_column(as_cells(cells), place)
    assert typed.kind == "date"
    assert typed.values.tolist() == np.array(dates, "M8[us]").tolist()
    again = as_kind(as_cells(cells), "date", place, notation=typed.notation)
    assert again.tolist() == typed.values.tolist()


def test_eight_digits_are_days_where_all_of_many_are():
    days = np.arange("2024-01-25", "2024-02-10", dtype="M8[D]")
    cells = [str(day).replace("-", "") for day in days]
    typed = typed_column(as_cells([*cells, ""]), place)
    assert typed.kind == "date"
    assert typed.values[:-1].tolist() == days.astype("M8[us]").tolist()
    as_numbers = as_kind(np.array([20240131, 20240201]), "date", place, notation=typed.notation)
    assert as_numbers.astype("M8[D]").astype(str).tolist() == ["2024-01-31", "2024-02-01"]
    assert typed_column(as_cells([*cells, "20241301"]), place).kind == "number"  # no month 13
    assert typed_column(as_cells(cells[:5]), place).kind == "number"  # may be a coincidence


def test_dates_that_cannot_be_read_say_so():
    cells = [f"2024-01-{day:02d} 10:00 CET" for day in range(1, 20)]
    typed = typed_column(as_cells(cells), place)
    assert typed.kind == "word"
    assert typed.styles.startswith("its dates cannot be read, as '2024-01-01 10:00 CET'")
    cells = [f"2025-{month:02d}-31" for month in range(1, 13)]  # five of them are no days
    typed = typed_column(as_cells(cells), place)
    assert typed.styles.startswith("its dates cannot be read, as '2025-02-31'")


@pytest.mark.parametrize("cells", [["red", "blue"], ["1-2", "3-4"], ["A 1", "B 2"], ["1.2.3"] * 3])
def test_other_words_are_no_dates(cells):
    typed = typed_column(as_cells(cells), place)
    assert (typed.kind, typed.styles) == ("word", "")
