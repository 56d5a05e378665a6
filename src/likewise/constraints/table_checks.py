"""The arrays that people pass, checked and made into an answer table.

What is wrong is one ``ValueError`` that names the answer, its place and its value. Cells of a file
are read in answer_cells.py.
"""

from collections.abc import Callable, Sequence, Sized
from datetime import UTC, datetime
from numbers import Real
from typing import Any

import numpy as np

from likewise.constraints.table import KINDS, WIDTHS, AnswerTable, widen
from likewise.files.cell_values import decoded, id_text, is_for_python, is_missing, parse_number
from likewise.files.near_names import nearest_name

SMALLEST_WEIGHT, LARGEST_WEIGHT = 1e-30, 1e30  # or 0: their products with squares stay floats
LONGEST_NAME = 10_000  # characters of an id or an annotator: NumPy makes room for it in every row
# Times that a file can hold: those that Python has a date for.
COARSE_UNITS = ("Y", "M", "W", "D", "h", "m", "s", "ms")
FIRST_TIME, LAST_TIME = np.array(["0001-01-01", "9999-12-31T23:59:59.999999"], "M8[us]")

Name = Callable[[int], str]


def from_arrays(
    answers_by_kind: dict[str, Any],
    n_samples: int,
    ids: np.ndarray | None = None,
    *,
    weights,
    annotators,
    asked_at,
    screens,
    seconds,
) -> AnswerTable:
    """Arrays of row numbers, or of ids as text, to a checked table, kind after kind."""
    row_of = rows_by_id(ids)
    blocks = [as_points(kind, answers, row_of) for kind, answers in answers_by_kind.items()]
    sizes = [len(block) for block in blocks]
    codes = np.repeat(np.arange(len(KINDS), dtype=np.int8), sizes)
    starts = np.cumsum([0, *sizes])

    def name(i: int) -> str:
        return f"{KINDS[codes[i]]}[{i - starts[codes[i]]}]"

    about = (weights, annotators, asked_at, screens, seconds)
    return check_table(codes, np.concatenate(blocks), n_samples, ids, name, *about)


def rows_by_id(ids: np.ndarray | None) -> dict[str, int] | None:
    """The row of each id, or None where rows go by number."""
    return None if ids is None else {str(name): row for row, name in enumerate(ids)}


def check_table(
    codes: np.ndarray,
    points: np.ndarray,
    n_samples: int,
    ids: np.ndarray | None,
    name: Name,
    weights,
    annotators,
    asked_at,
    screens,
    seconds,
) -> AnswerTable:
    """Kinds (n,), points (n, 3) and what else is known of answers, where all of it is right."""
    check_points(codes, points, n_samples, ids, name)
    return AnswerTable(
        codes,
        points,
        check_weights(weights, len(codes), name),
        check_names("annotators", annotators, len(codes)),
        check_times(asked_at, len(codes), name),
        check_names("screens", screens, len(codes)),
        check_seconds(seconds, len(codes), name),
    )


def check_n_samples(n_samples: Any, ids: np.ndarray | None) -> int:
    """The number of rows of X, given or counted from the ids."""
    if n_samples is None:
        if ids is None:
            raise ValueError("Pass n_samples=len(X), or ids with one entry per row.")
        return len(ids)
    if isinstance(n_samples, Sized) and not isinstance(n_samples, str):  # X, or the ids
        raise TypeError(
            f"n_samples is a {type(n_samples).__name__}; it must be the number of rows of X. "
            "Try Constraints(len(X), must_link=pairs)."
        )
    if isinstance(n_samples, bool) or not isinstance(n_samples, int | np.integer) or n_samples < 0:
        raise ValueError(f"n_samples={n_samples!r} must be a whole number >= 0, the rows of X.")
    if ids is not None and len(ids) != n_samples:
        raise ValueError(f"ids has {len(ids)} names, but n_samples={n_samples}.")
    return int(n_samples)


def as_points(kind: str, answers: Any, row_of: dict[str, int] | None = None) -> np.ndarray:
    """Anything array-like to (n, 3) int64, or an error that names the first wrong answer.

    Rows go by number, or as text by id.
    """
    width = int(WIDTHS[KINDS.index(kind)])
    if row_of is not None and answers is not None and len(answers):
        answers = [
            [row_number(x, row_of, f"{kind}[{i}]") if isinstance(x, str) else x for x in answer]
            if np.ndim(answer)
            else answer
            for i, answer in enumerate(answers)
        ]
    try:
        points = np.asarray([] if answers is None else answers)
    except ValueError:  # answers of different lengths
        points = np.asarray(list(answers), dtype=object)
    if points.ndim and len(points) == 0:
        return np.empty((0, 3), dtype=np.int64)
    is_whole = points.dtype.kind in "iu" and points.max() <= np.iinfo(np.int64).max
    if is_whole and points.ndim == 2 and isinstance(answers, list | tuple):
        # NumPy makes True a 1 where it stands beside numbers.
        is_whole = not any(isinstance(x, bool | np.bool_) for rows in answers for x in rows)
    if is_whole and points.ndim == 2 and points.shape[1] == width:
        return widen(points.astype(np.int64))
    for i, answer in enumerate(answers if points.ndim else ()):
        rows = np.asarray(answer, dtype=object)
        whole = (isinstance(x, int | np.integer) and not isinstance(x, bool) for x in rows.flat)
        if rows.shape != (width,) or not all(whole):
            is_named = any(isinstance(x, str) for x in rows.flat)
            hint = " Pass ids, if rows have names." if is_named else ""
            raise ValueError(f"{kind}[{i}] = {answer!r} must be {width} row numbers.{hint}")
    raise ValueError(
        f"{kind} must have shape (n, {width}) and contain row numbers as 64-bit integers."
    )


def as_picked(name: str, picked: Any, n: int, of: str) -> np.ndarray:
    """Positions among n from a mask or from whole numbers; one error where it is neither."""
    picked = np.asarray(picked)
    if picked.ndim == 1 and not len(picked):
        picked = picked.astype(bool if n == 0 else np.int64)
    if picked.dtype == bool:
        if picked.shape != (n,):
            raise ValueError(f"{name} is a mask of shape {picked.shape}, but there are {n} {of}.")
        return np.flatnonzero(picked)
    if picked.ndim != 1 or picked.dtype.kind not in "iu":
        raise ValueError(
            f"{name} has type {picked.dtype} and shape {picked.shape}. Pass a mask of {n} booleans "
            "or a list of whole numbers."
        )
    for i in np.flatnonzero((picked < 0) | (picked >= n))[:1]:
        raise ValueError(f"{name}[{i}] = {picked[i]} is not among the {n} {of}, numbered from 0.")
    return picked.astype(np.int64)


def check_points(
    codes: np.ndarray, points: np.ndarray, n_samples: int, ids: np.ndarray | None, name: Name
) -> None:
    """Every row number inside X, no row named twice in one answer."""
    is_triple: np.ndarray = WIDTHS[codes] == 3
    used = np.stack([np.ones_like(is_triple), np.ones_like(is_triple), is_triple], axis=1)
    outside = (((points < 0) | (points >= n_samples)) & used).any(axis=1)
    a, b, c = points.T
    repeated = (a == b) | (is_triple & ((a == c) | (b == c)))
    for i in np.flatnonzero(outside | repeated)[:1]:
        rows = tuple(int(row) for row in points[i, : 2 + is_triple[i]])
        if outside[i]:
            raise ValueError(f"{name(i)} = {rows} points outside X, which has {n_samples} rows.")
        named = rows if ids is None else tuple(str(ids[row]) for row in rows)
        raise ValueError(f"{name(i)} = {named} names a row twice. Drop it.")


def check_weights(weights: Any, n_answers: int, name: Name) -> np.ndarray:
    """One number per answer, 0 or in a range that can be computed with; all 1 by default."""
    if weights is None:
        return np.ones(n_answers)
    weights = np.asarray(weights)
    if weights.dtype.kind not in "biuf":
        for i, weight in enumerate(weights.flat):
            if not isinstance(weight, Real):
                raise ValueError(f"weights[{i}] = {weight!r} must be a number >= 0.")
    try:
        weights = np.array(weights, dtype=np.float64)
    except OverflowError:
        raise ValueError(f"weights has a number beyond {LARGEST_WEIGHT:g}. Scale them.") from None
    if weights.shape != (n_answers,):
        raise ValueError(f"weights has shape {weights.shape}, but there are {n_answers} answers.")
    for i in np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))[:1]:
        raise ValueError(f"{name(i)} has the weight {weights[i]}. It must be finite and >= 0.")
    is_small, is_large = weights < SMALLEST_WEIGHT, weights > LARGEST_WEIGHT
    for i in np.flatnonzero((is_small | is_large) & (weights != 0))[:1]:
        raise ValueError(
            f"{name(i)} has the weight {weights[i]}. It must be 0 or between {SMALLEST_WEIGHT:g} "
            f"and {LARGEST_WEIGHT:g}. Scale all weights."
        )
    return weights


def check_names(column: str, names: Any, n_answers: int) -> np.ndarray | None:
    """One text per answer, "" where unknown; None when none is known."""
    if names is None:
        return None
    texts = ["" if is_missing(value) else str(decoded(value)) for value in names]
    if len(texts) != n_answers:
        raise ValueError(f"{column} has {len(texts)} names, but there are {n_answers} answers.")
    check_text(column, texts)
    return np.array(texts, dtype=str) if any(texts) else None


def check_seconds(seconds: Any, n_answers: int, name: Name) -> np.ndarray | None:
    """How long each answer took, NaN where unknown; None when none is known."""
    if seconds is None:
        return None
    if len(seconds) != n_answers:
        raise ValueError(f"seconds has {len(seconds)} numbers, but there are {n_answers} answers.")
    taken = np.array([parse_seconds(cell, name, i) for i, cell in enumerate(seconds)], dtype=float)
    return None if np.isnan(taken).all() else taken


def parse_seconds(cell: Any, name: Name, i: int) -> float:
    try:
        seconds = np.nan if is_missing(cell) else parse_number(cell)
    except (TypeError, ValueError):
        seconds = -1.0
    if seconds < 0 or np.isinf(seconds):
        raise ValueError(f"{name(i)} took {cell!r} seconds. It must be a finite number >= 0.")
    return float(seconds)


def check_times(asked_at: Any, n_answers: int, name: Name) -> np.ndarray | None:
    """Times as datetime64[us] in UTC, NaT where unknown; None when none is known."""
    if asked_at is None:
        return None
    if isinstance(asked_at, np.ndarray) and asked_at.dtype.kind == "M":
        times = in_microseconds(asked_at, name)
    else:
        times = np.array([parse_time(cell, name, i) for i, cell in enumerate(asked_at)], "M8[us]")
    if times.shape != (n_answers,):
        raise ValueError(f"asked_at has {len(times)} times, but there are {n_answers} answers.")
    return None if np.isnat(times).all() else times


def in_microseconds(times: np.ndarray, name: Name) -> np.ndarray:
    """Times of any unit as datetime64[us], each in a year from 1 to 9999."""
    unit, _ = np.datetime_data(times.dtype)
    outside = np.zeros(times.shape, dtype=bool)
    if unit in COARSE_UNITS:  # compared before the conversion, which wraps around
        first, last = np.array([FIRST_TIME, LAST_TIME]).astype(times.dtype)
        outside = (times < first) | (times > last)
    converted = times.astype("M8[us]")
    outside |= (converted < FIRST_TIME) | (converted > LAST_TIME)
    for i in np.flatnonzero(outside)[:1]:
        raise ValueError(
            f"{name(i)} was asked at {times.flat[i]}, outside the years 1 to 9999. Correct it."
        )
    return converted


def check_ids(ids: Any, n_samples: int | None) -> np.ndarray | None:
    """One text per row of X, no two alike."""
    if ids is None:
        return None
    texts = [id_text(value) for value in ids]
    if n_samples is not None and len(texts) != n_samples:
        raise ValueError(f"ids has {len(texts)} names, but n_samples={n_samples}.")
    check_text("ids", texts)
    seen: dict[str, int] = {}
    for i, text in enumerate(texts):
        if text in seen:
            raise ValueError(
                f"ids[{i}] = {text!r} is already the name of row {seen[text]}. Rows need names of "
                "their own: choose another column (--id-column), or rename this one if it holds "
                "something else."
            )
        if not text:
            raise ValueError(f"ids[{i}] is empty. Give every row a name, or leave ids out.")
        seen[text] = i
    return np.array(texts, dtype=str)


def extend_ids(ids: np.ndarray | None, new_ids: Any, n_old: int, n_new: int) -> np.ndarray | None:
    """The names of a longer X, which begin with the existing ones."""
    checked = check_ids(new_ids, n_new)
    if ids is None:
        return checked
    if checked is None:
        if n_new > n_old:
            raise ValueError("with_rows() needs ids for the new rows, since the old have them.")
        return ids
    if not np.array_equal(checked[:n_old], ids):
        raise ValueError("with_rows(): the first ids must be the existing ones.")
    return checked


def check_text(name: str, texts: Sequence[str]) -> None:
    """No NUL, which NumPy drops at the end, nothing that UTF-8 cannot hold, nothing endless."""
    for i, text in enumerate(texts):
        if "\0" in text or any(0xD800 <= ord(letter) <= 0xDFFF for letter in text):
            raise ValueError(
                f"{name}[{i}] = {text!r} contains a character that cannot be saved in a file."
            )
        if len(text) > LONGEST_NAME:
            raise ValueError(
                f"{name}[{i}] has {len(text)} characters, and at most {LONGEST_NAME} are kept. "
                "Shorten it."
            )


def parse_time(cell: Any, name: Name, i: int) -> np.datetime64:
    if is_missing(cell):
        return np.datetime64("NaT", "us")
    if isinstance(cell, np.datetime64):
        return in_microseconds(np.array([cell]), lambda _: name(i))[0]
    try:
        moment = cell if isinstance(cell, datetime) else datetime.fromisoformat(str(cell).strip())
        if moment.tzinfo is not None:
            moment = moment.astimezone(UTC).replace(tzinfo=None)
        return np.datetime64(moment, "us")
    except (ValueError, OverflowError):
        raise ValueError(
            f"{name(i)} was asked at {cell!r}, not an ISO 8601 time. Try 2026-01-31T12:00:00."
        ) from None


def row_number(cell: Any, row_of: dict[str, int] | None, place: str) -> int:
    text = id_text(cell)
    if not text:
        raise ValueError(f"{place} is empty.")
    if row_of is not None:
        text = text if text in row_of else text.strip()
        if text not in row_of:
            near = nearest_name(text, row_of)
            meant = f" Did you mean {near!r}?" if near else ""
            raise ValueError(f"{place} = {text!r} is not one of the {len(row_of)} ids.{meant}")
        return row_of[text]
    try:
        if is_for_python(text):
            raise ValueError
        return int(np.int64(int(text)))
    except (ValueError, OverflowError):
        raise ValueError(
            f"{place} = {text!r} is not a row number. Name the rows (ids=, or a column id) to "
            "go by name."
        ) from None
