"""Each column as a block of numbers that weighs as one column, whatever its number of levels.

    squared distance of two rows = sum over columns of |block(row) - block(other)|^2

A block has total variance 1 over the known cells, so that every column has the same share in the
mean squared distance. Where one value is nearly everywhere the variance is not driven up to 1: two
rows never lie further apart by a flag or a category than by an even yes or no, which is two
standard deviations. A missing cell is at the mean, or for a category at no level, near all others.

    number     (x - median) / interquartile range, bent so that outliers stay within three of them
    flag       0, 1
    category   one-hot; the levels beyond 50 share one
    date       a trend, and sine and cosine of the year, the week and the day where it spans some
    text       a text transformer's numbers; they count as four columns, for a text says more
"""

import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder

from likewise.features.column_kinds import MOST_LEVELS, is_known
from likewise.features.text_features import TextFeatures

FARTHEST = 3.0  # interquartile ranges that an outlier is bent to
TEXT_WEIGHT = 2.0  # standard deviations: on posts with five other columns the best of 1 to 3
EVEN_FLAG, EVEN_LEVELS = 0.25, 0.5  # variance of an even yes or no, as 0 and 1, and one-hot
SMALLEST_SPREAD = 1e-12  # of the largest number: below, a column of numbers is constant
CYCLES = {"year": 365.25, "week": 7.0, "day": 1.0}  # days; 1970 began on a Thursday
EPOCH_YEAR = 1970.0
HALF_A_SECOND = 0.5 / 86_400  # in days
FIT_TEXTS = 20_000  # of a column: more hardly change its directions, and take minutes
MOST_NAMED = 5  # unseen levels in a warning


@dataclass(frozen=True, eq=False)
class FittedColumn:
    """How one column becomes numbers.

    Attributes
    ----------
    name, kind : str
    encoder : transformer or None
    center, spread : float
        Of numbers, before they are bent.
    cycles : tuple of str
        Of dates: the trend, and what is cyclic.
    means : ndarray of shape (n_features,)
    scale : float
    parts : tuple of str
        What is added to the name of the column for each of its features.
    notation : str
        The decimal sign of numbers, or the format of dates, that the column is written in.
    """

    name: str
    kind: str
    encoder: Any
    center: float
    spread: float
    cycles: tuple[str, ...]
    means: np.ndarray
    scale: float
    parts: tuple[str, ...]
    notation: str = ""


def fit_column(
    name: str, kind: str, values: np.ndarray, text_transformer, notation: str = ""
) -> FittedColumn:
    """Learn how the values (n,) of a column become numbers."""
    if kind == "text":
        values = _sample_texts(values)
    known = is_known(values)
    fitted = FittedColumn(name, kind, None, 0.0, 1.0, (), np.zeros(0), 1.0, ("",), notation)
    fitted = _FITTERS[kind](fitted, values[known], text_transformer)
    block = raw_block(fitted, values)[known]
    means = block.mean(axis=0)
    variance = float(np.square(block - means).sum(axis=1).mean())
    least = {"flag": EVEN_FLAG, "category": EVEN_LEVELS}.get(kind, 0.0)
    scale = math.sqrt(max(variance, least)) or 1.0
    scale /= TEXT_WEIGHT if kind == "text" else 1.0
    if kind == "category":
        means = np.zeros_like(means)  # a missing cell is at no level, and not at the mean of all
    return _replace(fitted, means=means, scale=scale)


def encode_column(fitted: FittedColumn, values: np.ndarray) -> np.ndarray:
    """The values (n,) of a column as a block (n, n_features)."""
    block = raw_block(fitted, values) - fitted.means
    if fitted.kind != "category":
        block[~is_known(values)] = 0.0
    return block / fitted.scale


def readable_block(fitted: FittedColumn, values: np.ndarray) -> np.ndarray:
    """The block (n, n_features) in units that people read: numbers and years as they are, levels
    and flags as 0 and 1; a missing number is at the median."""
    if fitted.kind == "number":
        return fitted.encoder.transform(values.astype(np.float64)[:, None])
    block = raw_block(fitted, values)
    if fitted.kind == "date":
        block[:, 0] = EPOCH_YEAR + (block[:, 0] * fitted.spread + fitted.center) / CYCLES["year"]
    return block


def readable_date(year: float) -> str:
    """The day of a date as `readable_block` has it: in years of 365.25 days since 1970.

    >>> readable_date(2024.0), readable_date(2026.37)
    ('2024-01-01', '2026-05-16')
    """
    days = math.floor((year - EPOCH_YEAR) * CYCLES["year"] + HALF_A_SECOND)  # midnight is rounded
    return str(np.datetime64(days, "D"))


def raw_block(fitted: FittedColumn, values: np.ndarray) -> np.ndarray:
    """The block (n, n_features) before it is centered and scaled."""
    return _ENCODERS[fitted.kind](fitted, values)


def _replace(fitted: FittedColumn, **changes) -> FittedColumn:
    return FittedColumn(**{**vars(fitted), **changes})


def _fit_numbers(fitted, known, _):
    rows = known.astype(np.float64)[:, None]
    imputer = SimpleImputer(strategy="median").fit(rows)
    spread, center = float(np.subtract(*np.percentile(rows, (75, 25)))), float(np.median(rows))
    if spread <= SMALLEST_SPREAD * float(np.abs(rows).max()):  # more than half of it is one number
        spread = float(rows.std()) or 1.0
    return _replace(fitted, encoder=imputer, center=center, spread=spread)


def _encode_numbers(fitted, values):
    rows = fitted.encoder.transform(values.astype(np.float64)[:, None])
    z = (rows - fitted.center) / fitted.spread
    return z / np.hypot(1.0, z / FARTHEST)


def _fit_flags(fitted, known, _):
    return _replace(
        fitted, encoder=SimpleImputer(strategy="mean").fit(known.astype(float)[:, None])
    )


def _encode_flags(fitted, values):
    return fitted.encoder.transform(values.astype(np.float64)[:, None])


def _fit_levels(fitted, known, _):
    encoder = OneHotEncoder(
        handle_unknown="infrequent_if_exist", max_categories=MOST_LEVELS + 1, sparse_output=False
    ).fit(known[:, None])
    parts = tuple(name[2:] for name in encoder.get_feature_names_out(["x"]))
    return _replace(fitted, encoder=encoder, parts=tuple(f"={part}" for part in parts))


def _encode_levels(fitted, values):
    known = is_known(values)
    block = np.zeros((len(values), len(fitted.parts)))
    if not known.any():
        return block
    levels, codes = np.unique(values[known], return_inverse=True)
    unseen = np.setdiff1d(levels, fitted.encoder.categories_[0])
    if len(unseen):
        more = f" and {len(unseen) - MOST_NAMED} more" if len(unseen) > MOST_NAMED else ""
        named = ", ".join(repr(level) for level in unseen[:MOST_NAMED])
        warnings.warn(
            f"Column {fitted.name!r} has levels that were not there in fit: {named}{more}. "
            "They count as rare levels, or as no level where there were none.",
            UserWarning,
            stacklevel=2,
        )
    block[known] = fitted.encoder.transform(levels[:, None])[codes.ravel()]
    return block


def _fit_dates(fitted, known, _):
    days = _days(known)
    span = float(days.max() - days.min())
    has_times = bool((np.mod(days, 1.0) != 0).any())
    cycles = [name for name, length in CYCLES.items() if span >= length]
    cycles = [name for name in cycles if name != "day" or has_times]
    parts = ("_trend", *(f"_{name}_{wave}" for name in cycles for wave in ("sin", "cos")))
    center, spread = float(days.mean()), float(days.std()) or 1.0
    return _replace(fitted, center=center, spread=spread, cycles=tuple(cycles), parts=parts)


def _encode_dates(fitted, values):
    known = is_known(values)
    block = np.zeros((len(values), len(fitted.parts)))
    days = _days(values[known])
    waves = [(days - fitted.center) / fitted.spread]
    for name in fitted.cycles:
        angle = 2 * np.pi * days / CYCLES[name]
        waves += [np.sin(angle), np.cos(angle)]
    block[known] = np.stack(waves, axis=1)
    return block


def _days(values: np.ndarray) -> np.ndarray:
    """Days (n,) since the beginning of 1970, in parts of a day."""
    return values.astype("M8[us]").astype(np.int64) / 86_400e6


def _fit_texts(fitted, known, text_transformer):
    encoder = clone(TextFeatures() if text_transformer is None else text_transformer).fit(known)
    n_features = np.asarray(encoder.transform(known[:1])).shape[1]
    return _replace(fitted, encoder=encoder, parts=tuple(f"_{i}" for i in range(n_features)))


def _sample_texts(values: np.ndarray) -> np.ndarray:
    """Evenly spaced in the order of the texts themselves, so that the order of rows is all one."""
    known = values[is_known(values)]
    if len(known) <= FIT_TEXTS:
        return known
    return np.sort(known)[np.linspace(0, len(known) - 1, FIT_TEXTS).astype(np.int64)]


def _encode_texts(fitted, values):
    known = is_known(values)
    block = np.zeros((len(values), len(fitted.parts)))
    if known.any():
        block[known] = fitted.encoder.transform(values[known])
    return block


_FITTERS = {
    "number": _fit_numbers,
    "flag": _fit_flags,
    "category": _fit_levels,
    "date": _fit_dates,
    "text": _fit_texts,
}
_ENCODERS = {
    "number": _encode_numbers,
    "flag": _encode_flags,
    "category": _encode_levels,
    "date": _encode_dates,
    "text": _encode_texts,
}
