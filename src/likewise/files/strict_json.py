"""JSON as its standard has it: no NaN, no infinity, and nothing named twice."""

import json
from typing import Any


def loads(text: str | bytes) -> Any:
    """The value of a JSON text; ValueError (or RecursionError) where it is none."""
    return json.loads(text, parse_constant=_refuse, object_pairs_hook=_unique)


def _refuse(constant: str):
    raise ValueError(f"the number {constant}, which JSON does not have: write null")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    named = dict(pairs)
    if len(named) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise ValueError(f"{twice!r} is there twice")
    return named
