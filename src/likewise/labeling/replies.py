"""What an answerer gives back: a choice, or a choice and how sure it is of it."""

from typing import Any, NamedTuple


class Reply(NamedTuple):
    """A choice with the chance, by the answerer's own account, that it is right."""

    choice: Any
    sure: float | None = None  # between 0 and 1; None where nothing was said


class OracleStopped(RuntimeError):
    """Whoever answers cannot go on: a limit is reached, or it cannot be reached at all."""


def as_reply(answer: Any) -> Reply:
    """Any answer as a reply."""
    return answer if isinstance(answer, Reply) else Reply(answer)
