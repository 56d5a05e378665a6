"""The checks that every estimator makes on its constraints."""

import inspect
import warnings
from collections.abc import Mapping

import numpy as np

from likewise.constraints.constraints import Constraints
from likewise.constraints.table import COLUMNS, KINDS
from likewise.files.near_names import did_you_mean


def check_constraints(constraints, *, n_samples: int, y=None) -> Constraints:
    """The constraints: none for None, made of a dict or a frame; an error for answers as y."""
    refuse_answers_as_y(y)
    if constraints is None:
        return Constraints(n_samples)
    if isinstance(constraints, Mapping):
        constraints = Constraints(n_samples, **_checked_names(constraints))
    elif getattr(constraints, "columns", None) is not None:
        constraints = Constraints.from_frame(constraints, n_samples=n_samples)
    if not isinstance(constraints, Constraints):
        raise TypeError(
            f"constraints must be likewise.Constraints, a dict or a dataframe of answers, not "
            f"{type(constraints).__name__}. Try {_made_of(constraints)}."
        )
    if constraints.n_samples != n_samples:
        raise ValueError(
            f"These constraints refer to {constraints.n_samples} rows, but X has {n_samples}. "
            "To hold out answers, use AnswerSearchCV; to keep some rows, use restrict(rows)."
        )
    return constraints


def _checked_names(answers: Mapping) -> Mapping:
    """Answers by kind, and what is known of them; an error for any other name."""
    known = [name for name in inspect.signature(Constraints).parameters if name != "n_samples"]
    for name in answers:
        if name not in known:
            raise TypeError(
                f"constraints[{name!r}] is no kind of answer{did_you_mean(str(name), known)}"
            )
    return answers


def check_strength(
    name: str, value: float | None, way_out: str = "Leave it out to have it chosen."
) -> None:
    """One error where answers would count for nothing, or for less; None is chosen later."""
    if value is not None and not value > 0:
        raise ValueError(f"{name}={value} must be > 0. {way_out}")


def refuse_answers_as_y(y, way_out: str | None = None) -> None:
    """An error for answers in the place of y, where every estimator would ignore them."""
    if isinstance(y, Constraints):
        made, given = "answers", "Constraints"
    elif isinstance(y, Mapping) or _is_answer_frame(y):
        made, given = _made_of(y), f"a {type(y).__name__} of answers"
    else:
        return
    way_out = way_out or f"Name them: fit(X, constraints={made})."
    raise TypeError(f"The argument after X is y, which is ignored, but it is {given}. {way_out}")


def fit_and_label(self, X, y=None, **keywords):
    """Fit, and return the cluster of every row.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        As for ``fit``.
    y : None
        Ignored; it is here for scikit-learn.
    **keywords : dict
        Passed to ``fit``: ``constraints=answers`` where it takes them.

    Returns
    -------
    labels : ndarray of shape (n_samples,)
    """
    return self.fit(X, y, **keywords).labels_


def _is_answer_frame(y) -> bool:
    """Whether a dataframe has the columns of a table of answers, or of labels of some rows."""
    columns = getattr(y, "columns", None)
    names = set() if columns is None else {str(name) for name in columns}
    return set(COLUMNS[:3]) <= names or any({row, "label"} <= names for row in ("id", "row"))


def _made_of(answers) -> str:
    """How to make constraints of what was given instead."""
    if _is_answer_frame(answers):
        return "Constraints.from_frame(answers, n_samples=len(X))"
    if isinstance(answers, Mapping) and set(answers) <= set(KINDS):
        return "Constraints(n_samples=len(X), **answers)"
    return "Constraints(n_samples=len(X), must_link=pairs)"


def warn_unused(estimator, constraints: Constraints, *, used: tuple[str, ...]) -> int:
    """Count the answers of weight > 0 an estimator can use, and warn about those it cannot use."""
    counts = {kind: len(constraints.positions(kind)) for kind in KINDS}
    never = ("undecided_pair",)  # kept for what it says about people
    unused = [
        f"{counts[kind]} {kind}" for kind in KINDS if counts[kind] and kind not in (*used, *never)
    ]
    if constraints.exclusive and "exclusive" not in used:
        warnings.warn(
            f"{type(estimator).__name__} cannot keep {len(constraints.exclusive)} exclusive "
            "groups: its clusters may hold several rows of one. COPKMeans keeps them.",
            UserWarning,
            stacklevel=3,
        )
    if unused:
        warnings.warn(
            f"{type(estimator).__name__} cannot use {' and '.join(unused)} answers: "
            f"it learns from {', '.join(kind for kind in used if kind in KINDS)}.",
            UserWarning,
            stacklevel=3,
        )
    kinds = [kind for kind in used if kind in KINDS]
    return int(np.count_nonzero(constraints.weights[constraints.positions(*kinds)] > 0))
