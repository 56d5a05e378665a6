"""Figures in prose, held to the tables they were taken from.

Below the text that quotes figures stands a comment that says where each is from:

    With 200 pairs the digits are found with an ARI of .94, with k-means .67.

    <!-- quotes
    .94: guided | digits | ARI | 200 | 0.0 | guided
    .67: guided | digits | ARI | 200 | 0.0 | k-means
    "above ITML on 13 of 13": guided | rivals
    -->

That is folder | file of docs/tables | measure, where there are several | first cells of the row |
column. "*" for a cell is any row, and the figure their mean. A figure is right when the cell,
rounded to as many digits, gives it; "±" is compared too. What stands in quotation marks must be in
the table or in its verdict.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from docs.tools.tables import ROOT, numbers_in, read_table

PAGES = ("README.md", "docs/*.md", "docs/guide/*.md", "docs/experiments/*.md")
COMPLETE = ("README.md", "docs/index.md", "docs/guide/*.md")  # every score there has its source
BLOCK = re.compile(r"<!-- quotes\n(.*?)-->", re.DOTALL)
SCORE = re.compile(r"(?<![\w.,=])-?0?\.\d+(?!\w|[.,]\d)")  # .94, 0.94
COUNTS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
RUNS = re.compile(rf"\b({'|'.join(COUNTS)}) runs?\b")
NO_PROSE = re.compile(  # what runs have written, code, mathematics, comments, links
    r"<!-- (\S+): written by.*?<!-- end of \1 -->|```.*?```|`[^`\n]*`|\$[^$\n]*\$|<!--.*?-->"
    r"|\]\([^)]*\)",
    re.DOTALL,
)


@dataclass(frozen=True)
class Quote:
    figure: str  # as it stands in the text
    source: tuple[str, ...]  # folder and file of docs/tables, ...

    def now(self) -> str:
        """The figure as the table has it, printed like the one in the text."""
        page, section, *path = self.source
        table = read_table(page, section)
        if self.figure.startswith('"'):
            return self.figure if self.figure[1:-1] in table.markdown() else ""
        tables = table.grids()
        measure = path.pop(0) if path[0] in tables else ""
        if measure not in tables:
            raise LookupError(f"{page} | {section} has the measures {', '.join(tables)}")
        cells = tables[measure].find(tuple(path[:-1]), path[-1])
        if len(cells) > 1 and "*" not in path:
            raise LookupError(f"{' | '.join(self.source)} is {len(cells)} rows: name more cells")
        rows = [numbers_in(cell) for cell in cells]
        values = [sum(column) / len(rows) for column in zip(*rows)]
        return print_like(self.figure, values)

    def runs(self) -> set[int]:
        """How many runs there were of the rows of its table; empty where it does not say."""
        try:
            table = read_table(*self.source[:2])
        except LookupError:
            return set()
        if "runs" not in table.fields:
            return set()
        at = table.fields.index("runs")
        return {int(count) for row in table.rows for count in re.findall(r"\d+", row[at])}

    def __str__(self) -> str:
        return f"{self.figure}: {' | '.join(self.source)}"


def print_like(figure: str, values: list[float]) -> str:
    """The values in the form of a figure: its digits, its leading zeros or none, its words."""
    if len(values) < len(numbers_in(figure)):
        raise LookupError(f"the cell has {len(values)} numbers, the figure {figure!r} has more")
    left = iter(values)

    def printed(number: re.Match) -> str:
        value, old = next(left), number.group()
        digits = len(old.partition(".")[2])
        if round(abs(value - float(old.replace(",", ""))), 9) <= 0.5 * 10**-digits:
            return old  # .5 may have been rounded either way
        comma = "" if re.search(r"\d{4}", old.partition(".")[0]) else ","
        new = f"{value:{'+' if old[0] == '+' else ''}{comma}.{digits}f}"
        return re.sub(r"^([-+]?)0\.", r"\1.", new) if old.lstrip("-+").startswith(".") else new

    return re.sub(r"[-+]?(?:\d[\d,]*)?\.?\d+", printed, figure)


def stretches(text: str) -> list[tuple[str, list[Quote]]]:
    """A page cut after every comment with sources: the text up to there, and what it quotes."""
    ends = [block.end() for block in BLOCK.finditer(text)]
    cut = [text[start:end] for start, end in pairwise([0, *ends, len(text)])]
    return [(said, list(quotes_of(said))) for said in cut]


def quotes_of(text: str) -> Iterator[Quote]:
    """What the comments in a text say of its figures."""
    for block in BLOCK.finditer(text):
        for line in block.group(1).strip().splitlines():
            figure, _, source = line.partition(": ")
            yield Quote(figure.strip(), tuple(part.strip() for part in source.split("|")))


def places(figure: str, said: str) -> list[re.Match]:
    """Where a figure stands in a text, alone and not as a part of another number."""
    words = re.escape(figure.strip('"')).replace(r"\ ", r"\s+")  # a line may end inside
    return list(re.finditer(rf"(?<![\w.])(?<!\d,){words}(?!\d|[.,]\d)", BLOCK.sub("", said)))


def faults_of(text: str, *, complete: bool) -> Iterator[str]:
    """What is wrong with the figures of a page, a line each."""
    for said, quotes in stretches(text):
        for quote in quotes:
            if not places(quote.figure, said):
                yield f"{quote.figure} is not in the text above its source"
            try:
                now = quote.now()
            except LookupError as error:
                yield f"{quote}: {error}"
            else:
                if now != quote.figure:
                    yield f"{quote} is now {now or 'gone'}"
        if complete:
            yield from wrong_runs(said, quotes)
            sourced = {score for quote in quotes for score in SCORE.findall(quote.figure)}
            for score in SCORE.findall(NO_PROSE.sub(" ", said)):
                if score not in sourced:
                    yield f"{score} has no source"


def wrong_runs(said: str, quotes: list[Quote]) -> Iterator[str]:
    """Numbers of runs, in parentheses, that none of the tables which a text quotes has."""
    made = set().union(*(quote.runs() for quote in quotes))
    aside = " ".join(re.findall(r"\(([^()]*)\)", NO_PROSE.sub(" ", said)))
    for words in RUNS.finditer(aside):
        if made and COUNTS.index(words[1]) not in made:
            yield f"{words[0]}: the tables have {', '.join(map(str, sorted(made)))}"


def renew(text: str) -> str:
    """The page with every figure as its table has it now; one of two sources is left to people."""
    return "".join(_renew_stretch(said, quotes) for said, quotes in stretches(text))


def _renew_stretch(said: str, quotes: list[Quote]) -> str:
    """All at once: a new figure may be the old one of another quote."""
    figures = Counter(quote.figure for quote in quotes)
    changed = {quote: quote.now() for quote in quotes if figures[quote.figure] == 1}
    changed = {quote: now for quote, now in changed.items() if now and now != quote.figure}
    spans = [(*place.span(), now) for q, now in changed.items() for place in places(q.figure, said)]
    for start, end, now in sorted(spans, reverse=True):
        said = said[:start] + now + said[end:]
    for quote, now in changed.items():
        said = said.replace(str(quote), str(replace(quote, figure=now)))
    return said


def pages(patterns: tuple[str, ...] = PAGES) -> list[Path]:
    return sorted({path for pattern in patterns for path in ROOT.glob(pattern)})
