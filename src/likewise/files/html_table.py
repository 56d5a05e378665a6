"""Plain markup for notebooks: a title and a table, every cell escaped."""

from collections.abc import Iterable, Sequence
from html import escape


def html_table(title: str, rows: Iterable[Sequence[object]], header: Sequence[str] = ()) -> str:
    """A table with a caption; no style and no script, so it looks as the notebook does.

    Examples
    --------
    >>> from likewise.files.html_table import html_table
    >>> html_table("2 answers", [("must_link", "<1>")])
    '<table><caption>2 answers</caption><tr><td>must_link</td><td>&lt;1&gt;</td></tr></table>'
    """
    lines = [_line(header, "th")] if header else []
    lines += [_line(row, "td") for row in rows]
    return f"<table><caption>{escape(title)}</caption>{''.join(lines)}</table>"


def _line(cells: Iterable[object], tag: str) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"
