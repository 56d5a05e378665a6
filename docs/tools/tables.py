"""The tables of docs/tables, by page and name, and how a page shows them.

In the source of a page a line that is a link to a table, and nothing else, becomes the table when
the documentation is built; read elsewhere it is still a link:

    [headline: ARI](../tables/sklr/starts.csv)      the table of ARI; what else there is, folded
    [headline](../tables/guided/rivals.csv)         the first measure; what else there is, folded
    [folded](../tables/sklr/figure1.csv)            all of it folded

What the runs concluded and their figure are always shown.
"""

import os
import re
from pathlib import Path

from experiments.published import Grid, PublishedTable, read_published

ROOT = Path(__file__).parents[2]
NUMBER = re.compile(r"[-+]?(?:\d[\d,]*)?\.?\d+(?:e[-+]?\d+)?")
LINK = re.compile(
    r"^\[(?P<how>folded|headline)(?:: (?P<measure>[^\]]+))?\]"
    r"\((?P<file>[./]*tables/(?P<page>[\w-]+)/(?P<name>[\w-]+)\.csv)\)$",
    re.MULTILINE,
)


def page_path(page: str) -> Path:
    """docs/experiments/sklr.md for "sklr", docs/benchmarks.md for "benchmarks"."""
    beside = ROOT / "docs" / f"{page}.md"
    return beside if beside.is_file() else ROOT / "docs" / "experiments" / f"{page}.md"


def read_table(page: str, name: str) -> PublishedTable:
    path = ROOT / "docs" / "tables" / page / f"{name}.csv"
    if not path.is_file():
        raise LookupError(f"{page} has no table {name!r}")
    return read_published(path)


def read_tables(page: str, name: str) -> dict[str, Grid]:
    """The printed tables of a file, by measure, "" where there is only one."""
    return read_table(page, name).grids()


def numbers_in(text: str) -> list[float]:
    """All numbers of a text, thousands with or without a comma."""
    return [float(number.replace(",", "")) for number in NUMBER.findall(text)]


def show_tables(text: str, folder: Path) -> str:
    """A page with its links to tables replaced by the tables; `folder` is the page's own."""
    return LINK.sub(lambda link: show_table(link, folder), text)


def show_table(link: re.Match, folder: Path) -> str:
    """Title, verdict, figure and headline in sight, the rest folded."""
    page, name = link["page"], link["name"]
    table = read_table(page, name)
    grids = table.grids()
    open_measure = None
    if link["how"] == "headline":
        open_measure = link["measure"] or next(iter(grids))
        if open_measure not in grids:
            raise LookupError(f"{page} | {name} has the measures {', '.join(grids)}")
    title = next(iter(table.note("title")), "")
    parts = [f"**{title}.**"] if title and open_measure is not None else []
    parts += table.note("verdict") + table.note("why")
    picture = ROOT / "docs" / "experiments" / f"{page}-{name}.svg"
    if picture.is_file():
        parts.append(f"![{title}]({os.path.relpath(picture, folder)})")
    if open_measure is not None:
        parts += [f"{open_measure}:"] if open_measure else []
        parts.append(grids.pop(open_measure).markdown().rstrip())
    summary = _summary(title, grids, is_open=open_measure is not None)
    parts.append(f"<details>\n<summary>{summary}</summary>")
    for measure, grid in grids.items():
        parts += [f"{measure}:"] if measure else []
        parts.append(grid.markdown().rstrip())
    parts += [f"{text}." for text in table.note("runs") + table.note("made with")]
    parts.append(f"{{download}}`{name}.csv <{link['file']}>`")
    return "\n\n".join([*parts, "</details>"]) + "\n"


def _summary(title: str, grids: dict[str, Grid], *, is_open: bool) -> str:
    n_rows = sum(len(grid.rows) for grid in grids.values())
    measures = ", ".join(filter(None, grids))
    if is_open:
        return f"{measures}, runs and versions" if measures else "Runs and versions"
    rows = f"{n_rows} row{'s' if n_rows != 1 else ''}"
    return f"{title or 'Table'} ({f'{measures}; {rows}' if measures else rows})"


def fill_in(app, docname: str, source: list[str]) -> None:
    """For Sphinx: the tables, where a page links to them; one that changes renews its pages."""
    for link in LINK.finditer(source[0]):
        app.env.note_dependency(ROOT / "docs" / "tables" / link["page"] / f"{link['name']}.csv")
    source[0] = show_tables(source[0], (ROOT / "docs" / docname).parent)
