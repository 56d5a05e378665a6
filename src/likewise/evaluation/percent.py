"""A share as people read it: whole percents that never round up to all, nor down to none."""

import math


def percent(share: float, digits: int = 0) -> str:
    """Print a share between 0 and 1 as a percentage.

    Only a share of exactly 1 is printed as 100%, and only one of exactly 0 as 0%.

    Parameters
    ----------
    share : float
        Between 0 and 1; nan is printed as a dash.
    digits : int, default=0
        Digits after the decimal point.

    Examples
    --------
    >>> percent(0.84), percent(0.995), percent(0.9999, 1), percent(1.0), percent(0.001)
    ('84%', '99%', '99.9%', '100%', '<1%')
    """
    if math.isnan(share):
        return "–"
    step = 10.0**-digits
    rounded = round(100 * share, digits) + 0.0  # -0.0 is 0
    if share < 1 and rounded >= 100:
        rounded = 100 - step
    if share > 0 and rounded <= 0:
        return f"<{step:.{digits}f}%"
    return f"{rounded:.{digits}f}%"
