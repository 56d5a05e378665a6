"""The end of an error about a name that is not there: the nearest one, or all of them."""

import difflib
from collections.abc import Iterable
from itertools import islice

MOST_COMPARED = 10_000  # names: to compare more takes seconds
MOST_SHOWN = 20  # names


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """'Did you mean ...?' where a known name is near, else the names there are."""
    if near := nearest_name(name, known):
        return f". Did you mean {near!r}?"
    names = list(map(str, known))
    more = f" and {len(names) - MOST_SHOWN} more" if len(names) > MOST_SHOWN else ""
    return f"; it has {', '.join(map(repr, names[:MOST_SHOWN]))}{more}."


def nearest_name(name: str, known: Iterable[str]) -> str | None:
    """The known name that is spelled nearly alike; None where there is none."""
    names = {str(one).casefold(): str(one) for one in islice(known, MOST_COMPARED)}
    near = difflib.get_close_matches(str(name).strip().casefold(), names, n=1)
    return names[near[0]] if near else None
