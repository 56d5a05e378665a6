"""All that is wrong with a file as one line."""

MOST_LISTED = 20  # problems in one error


def listed(problems: list[str]) -> str:
    """All problems in one line, up to a page of them."""
    more = f"; and {len(problems) - MOST_LISTED} more" if len(problems) > MOST_LISTED else ""
    return "; ".join(problems[:MOST_LISTED]) + more


def as_sentence(problems: list[str]) -> str:
    """All problems as one sentence; a question at the end needs no full stop."""
    text = listed(problems)
    return text if text.endswith(("?", ".")) else f"{text}."
