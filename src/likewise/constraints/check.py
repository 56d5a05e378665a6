"""What every estimator asks of the constraints it is given."""

import warnings

import numpy as np

from likewise.constraints.model import Constraints
from likewise.constraints.table import KINDS


def check_constraints(constraints, *, n_samples: int) -> Constraints:
    """The constraints, none for None, or one error: wrong type, or about other rows."""
    if constraints is None:
        return Constraints(n_samples)
    if not isinstance(constraints, Constraints):
        raise TypeError(
            f"constraints must be likewise.Constraints, not {type(constraints).__name__}. "
            "Try Constraints(n_samples=len(X), must_link=pairs)."
        )
    if constraints.n_samples != n_samples:
        raise ValueError(
            f"These constraints are about {constraints.n_samples} rows, but X has {n_samples}. "
            "To hold out answers use AnswerSearchCV, to keep some rows restrict(rows)."
        )
    return constraints


def warn_unused(estimator, constraints: Constraints, *, used: tuple[str, ...]) -> int:
    """Count the answers an estimator can use, and say which it was given and cannot."""
    counts = {kind: len(constraints.positions(kind)) for kind in KINDS}
    unused = [f"{counts[kind]} {kind}" for kind in KINDS if counts[kind] and kind not in used]
    if unused:
        warnings.warn(
            f"{type(estimator).__name__} cannot use {' and '.join(unused)} answers: "
            f"it learns from {', '.join(used)}.",
            UserWarning,
            stacklevel=3,
        )
    return int(np.sum([counts[kind] for kind in used]))
