"""Rows that an estimator can compute with: finite numbers, and with squares that are floats too."""

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_array, validate_data

LARGEST = 1e100  # squares of larger numbers, and sums of squares, leave the range of floats
SMALLEST = 1e-100  # if no number is as large: then all squares vanish
MANY = 2**22  # rows: a list of so many numbers takes 32 MB
LARGEST_SINGLE = 1e15  # the same of float32, where it is computed with as it is


def validate_rows(estimator, X, **settings):
    """X as scikit-learn's ``validate_data`` returns it, if its numbers can be squared.

    A column that holds no numbers is named in one line.
    """
    try:
        X = validate_data(estimator, X, **settings)
    except (TypeError, ValueError) as error:
        problem = None if "feature names" in str(error) else describe_text_column(X)
        if problem is None:
            raise
        raise ValueError(problem) from None
    check_scale(X, is_fit=settings.get("reset", True))
    return X


def check_rows(X, **settings):
    """X as scikit-learn's ``check_array`` returns it; a column without numbers is named."""
    if hasattr(X, "fit") and not hasattr(X, "shape"):
        raise TypeError(f"X is {type(X).__name__}, an estimator. Pass the rows in its place.")
    try:
        return check_array(X, **settings)
    except (TypeError, ValueError) as error:
        problem = describe_text_column(X)
        if problem is None:
            raise
        raise ValueError(problem) from error


def sample_rows(n_rows: int, n_wanted: int, forced: np.ndarray, seed: int) -> np.ndarray:
    """All rows up to `n_wanted`; beyond, the forced ones and a draw of the others, ascending."""
    if n_rows <= n_wanted:
        return np.arange(n_rows)
    n_drawn = max(n_wanted - len(forced), n_wanted // 2)
    if n_rows > MANY and 8 * (n_drawn + len(forced)) < n_rows:
        drawn = draw_few(n_rows, n_drawn, forced, seed)
        return np.sort(np.concatenate([forced, drawn]))
    others = np.ones(n_rows, dtype=bool)
    others[forced] = False
    others = np.flatnonzero(others)
    n_drawn = min(max(n_wanted - len(forced), n_wanted // 2), len(others))
    drawn = np.random.RandomState(seed).choice(others, n_drawn, replace=False)
    return np.sort(np.concatenate([forced, drawn]))


def draw_few(n_rows: int, n_wanted: int, forced: np.ndarray, seed: int) -> np.ndarray:
    """A few of very many rows, none of them forced, without a list of them all."""
    rng = np.random.RandomState(seed)
    drawn = np.empty(0, dtype=np.int64)
    while len(drawn) < n_wanted:
        drawn = np.concatenate([drawn, rng.randint(n_rows, size=2 * n_wanted, dtype=np.int64)])
        first = np.sort(np.unique(drawn, return_index=True)[1])  # in the order drawn
        drawn = drawn[first]
        drawn = drawn[~np.isin(drawn, forced)]
    return drawn[:n_wanted]


def check_scale(X, *, is_fit: bool = True, single: bool = False) -> None:
    """One error where squares of X overflow or, of rows to fit to, all vanish."""
    numbers = X.data if sparse.issparse(X) else np.asarray(X)
    if not numbers.size or numbers.dtype.kind != "f":
        return
    largest = float(max(numbers.max(), -numbers.min()))
    limit = LARGEST_SINGLE if single or numbers.dtype.itemsize < 8 else LARGEST
    if largest > limit:
        raise ValueError(
            f"X has a number as large as {largest:g}, and with {numbers.dtype} nothing above "
            f"{limit:g} can be computed with. Divide X by a constant, or standardize it."
        )
    if is_fit and 0 < largest < SMALLEST:
        raise ValueError(
            f"X has no number larger than {largest:g}, and below {SMALLEST:g} squares vanish. "
            "Multiply X by a constant, or standardize it."
        )


def describe_text_column(X) -> str | None:
    """The first cell of X that is not a number, by its column and row; None where all are."""
    if sparse.issparse(X) or np.ndim(X) != 2:
        return None
    has_names = hasattr(X, "columns")
    cells = X if has_names else np.asarray(X, dtype=object)
    for name in X.columns if has_names else range(cells.shape[1]):
        column = np.asarray(cells[name] if has_names else cells[:, name], dtype=object)
        for row, cell in enumerate(column):
            if not _is_number(cell, is_named=has_names):
                return (
                    f"Column {name!r} of X holds {cell!r} in row {row}, which is not a number. "
                    "Leave the column out, or make numbers of the whole table first: "
                    "likewise.features.TableFeatures().fit_transform(X)."
                )
    return None


def _is_number(cell, *, is_named: bool) -> bool:
    """Whether a cell can be made a float; what an array holds besides text is not ours to judge."""
    try:
        float(cell)
    except ValueError:
        return False
    except TypeError:
        return not is_named
    return True
