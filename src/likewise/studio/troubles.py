"""What is wrong with a studio, one line for each part of it, until it is right again."""

from collections.abc import Callable

MOST_WORDS = 300  # characters of an error


class Troubles:
    """Lines about what is wrong.

    Parameters
    ----------
    tell : callable
        Called when a line comes or goes, with the new one or "".
    """

    def __init__(self, tell: Callable[[str], None]):
        self._tell = tell
        self._lines: dict[str, str] = {}

    @property
    def lines(self) -> list[str]:
        """All of them now."""
        return list(self._lines.values())

    def about(self, part: str) -> Callable[[str], None]:
        """What a part of the studio calls with a line when something is wrong, with "" when not."""
        return lambda line: self._set(part, line)

    def _set(self, part: str, line: str) -> None:
        if line == self._lines.get(part, ""):
            return
        self._lines.pop(part, None)
        if line:
            self._lines[part] = line
        self._tell(line)


def error_line(error: BaseException) -> str:
    """An error in one line, without its history."""
    words = " ".join(str(error).split())[:MOST_WORDS]
    return f"{type(error).__name__}: {words}" if words else type(error).__name__
