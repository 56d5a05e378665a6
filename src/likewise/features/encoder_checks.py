"""What texts and images ask of an encoder: a known name, a transformer or a function."""

from collections.abc import Sequence

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted


def check_encoder(encoder, names: Sequence[str], of: str) -> None:
    """An error that says what an encoder of texts or images can be."""
    if isinstance(encoder, str):
        if encoder not in names:
            raise ValueError(
                f"encoder={encoder!r} is unknown. Use one of {', '.join(names)}, a transformer or "
                f"a function of {of}."
            )
    elif not callable(encoder) and not hasattr(encoder, "transform"):
        raise TypeError(
            f"encoder is a {type(encoder).__name__}, which has no transform and cannot be called. "
            f"Pass a transformer or a function of {of}."
        )


def check_whole(name: str, value, *, or_none: bool = False) -> None:
    """An int of at least 1, or None where that is allowed."""
    if value is None and or_none:
        return
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise ValueError(f"{name}={value!r} must be an int of at least 1.")


def is_fitted(transformer) -> bool:
    """Whether a transformer can be used as it is."""
    try:
        check_is_fitted(transformer)
    except (NotFittedError, TypeError):
        return False
    return True
