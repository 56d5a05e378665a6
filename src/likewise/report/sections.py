"""The sections of the page: each turns a part of the model into HTML."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse

from likewise.constraints import Constraints
from likewise.evaluation import Satisfaction, percent, satisfaction_report
from likewise.features import readable_date
from likewise.report.descriptions import ClusterDescription
from likewise.report.drawing import bar, color_class
from likewise.report.markup import Markup, element, join
from likewise.report.row_cards import RowCards
from likewise.report.view import View, clusters_of, start_space, take_rows, values_of

N_CLUSTERS = 60  # shown in full, the largest first
N_PICTURES, N_TEXTS, N_ROWS = 12, 3, 3  # typical rows of a cluster
N_BORDERLINE = 4  # images of a cluster that could as well be in another
N_FEW = 6  # typical images where there are many clusters
MANY_CLUSTERS = 15

WORDS = {
    "must_link": "Together: {0} and {1}",
    "cannot_link": "Apart: {0} and {1}",
    "odd_one_out": "Odd one out: {2}, not {0} or {1}",
    "closer": "Closer: {1} to {0} than {2}",
    "undecided": "Can't tell which is the odd one out: {0}, {1} or {2}",
    "undecided_pair": "Can't tell whether together: {0} and {1}",
}


class Section(NamedTuple):
    name: str
    title: str
    body: Markup


def summary(model, constraints: Constraints | None) -> Markup:
    """One sentence and the numbers that a reader looks for first."""
    report = model.report_
    result = f"{count(report.n_rows, 'row')} in {count(model.n_clusters_, 'cluster')}"
    if report.n_answers:
        lede = f"{result}, guided by {count(report.n_answers, 'answer')}."
    else:
        lede = f"{result}. No answers were given, so these are clusters of the features alone."
    tiles = [
        ("rows", f"{report.n_rows:,}"),
        ("columns", f"{len(report.columns):,}")
        if len(report.columns)
        else ("features", f"{report.n_features:,}"),
        ("clusters", f"{model.n_clusters_:,}"),
        ("answers", f"{report.n_answers:,}"),
    ]
    if np.isfinite(report.satisfied):
        satisfied = percent(report.satisfied)
        if np.isfinite(report.satisfied_before):
            satisfied = f"{percent(report.satisfied_before)} → {satisfied}"
        tiles.append(("answers satisfied, before → after", satisfied))
    if report.n_answers:
        tiles.append(("contradictions", f"{len(report.conflicts):,}"))
        tiles.append(("doubtful answers", f"{len(model.doubtful_):,}"))
    figures = [element("div", element("dt", what), element("dd", how)) for what, how in tiles]
    return join([element("p", lede, class_="lede"), element("dl", *figures, class_="tiles")])


def clusters(
    view: View, described: Sequence[ClusterDescription], n_rows: int, cards: RowCards
) -> Section:
    """Every cluster with what sets it apart and its most typical rows."""
    largest = sorted(described, key=lambda description: -description.n_rows)[:N_CLUSTERS]
    articles = [
        _cluster(view, c, n_rows, len(described), cards)
        for c in sorted(largest, key=lambda description: description.cluster)
    ]
    rest = None
    if len(largest) < len(described):
        rest = element("p", f"And {count(len(described) - len(largest), 'smaller cluster')}.")
    note = element(
        "p",
        "What sets each cluster apart from all other rows, and its most typical rows: those "
        "closest to its center, the closest first.",
    )
    grid = "clusters" if cards.can_show else "clusters tables"
    body = join([note, element("div", *articles, class_=grid), rest])
    return Section("clusters", "The clusters", body)


def satisfaction(model, X, constraints: Constraints | None) -> Section:
    """Shares of the answers that are satisfied, before and after, by kind."""
    report, title = model.report_, "How many answers are satisfied"
    if not np.isfinite(report.satisfied):
        return Section("satisfaction", title, element("p", no_answers(model)))
    lines = [("all", report.n_answers, report.satisfied_before, report.satisfied)]
    if constraints is not None:
        early, late = (by_kind(model, X, constraints, when) for when in ("before", "after"))
        lines += [
            (WORDS[kind].partition(":")[0].lower(), n, early.shares[kind], late.shares[kind])
            for kind, n in late.counts.items()
            if n
        ]
    head = [element("th", what, scope="col") for what in ("", "answers", "before", "after")]
    items = [
        element(
            "tr",
            element("th", what, scope="row"),
            element("td", f"{n:,}", class_="figure"),
            element("td", bar(early, percent(early), "faint")),
            element("td", bar(late, percent(late))),
        )
        for what, n, early, late in lines
    ]
    return Section("satisfaction", title, _table(head, items, title))


def choice(report) -> Section:
    """What was tried, how well it did, and what was chosen."""
    reasons = {
        "How": report.how,
        "Details": report.why,
        "Number of clusters": report.why_n_clusters,
        "Features": report.why_prepared,
    }
    items = [join([element("dt", what), element("dd", why)]) for what, why in reasons.items()]
    parts: list[Markup | None] = [element("dl", *items, class_="reasons")]
    if len(report.columns):
        lines = [element("li", str(column)) for column in report.columns]
        parts += [element("h3", "What became of each column"), element("ul", *lines)]
    if len(report.trial_names):
        head = [element("th", what, scope="col") for what in ("tried", "score", "")]
        items = []
        for i, (name, score, error) in enumerate(
            zip(report.trial_names, report.trial_scores, report.trial_errors)
        ):
            figures = "–" if not np.isfinite(score) else f"{score:.3f}"
            figures += f" ± {error:.3f}" if np.isfinite(score) and np.isfinite(error) else ""
            mark = element("span", "chosen", class_="mark good") if i == report.chosen else None
            cells = [element("th", name, scope="row"), element("td", bar(score, figures))]
            row = element("tr", *cells, element("td", mark), class_="chosen" if mark else None)
            items.append(row)
        parts.append(_table(head, items, "What was tried"))
    return Section("choice", "How the choice was made", join(parts))


def by_kind(model, X, constraints: Constraints, when: str) -> Satisfaction:
    """Shares of the answers that are satisfied, from the rows that answers refer to alone."""
    rows = constraints.touched_rows()
    constraints, chosen = constraints.restrict(rows), take_rows(X, rows)
    if when == "after":
        return satisfaction_report(model.transform(chosen), constraints, clusters_of(model)[rows])
    space = start_space(model, chosen)
    labels = model.report_.labels_before[rows]
    return satisfaction_report(None if sparse.issparse(space) else space, constraints, labels)


def count(n: int, what: str) -> str:
    """1 row, 2 rows."""
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def _cluster(
    view: View, about: ClusterDescription, n_rows: int, n_clusters: int, cards: RowCards
) -> Markup:
    cluster = about.cluster
    swatch = element("span", class_=f"swatch {color_class(cluster)}", aria_hidden="true")
    title = f"Cluster {cluster}" + (f": {about.name}" if about.name else "")
    heading = element("h3", swatch, title, id=f"cluster-{cluster}")
    extent = f"{count(about.n_rows, 'row')}, {percent(about.n_rows / n_rows)}"
    n_shown = N_PICTURES if cards.images is not None else N_TEXTS if cards.texts else N_ROWS
    if cards.images is not None and n_clusters > MANY_CLUSTERS:
        n_shown = N_FEW
    typical = about.typical[:n_shown]
    if not typical:  # an empty cluster, or one so small that the sample has none of it
        shown = None
    elif cards.can_show:
        shown = cards.cards(typical)
    else:
        shown = _values(view, about, typical, cards)
    parts = [heading, element("p", extent, class_="extent"), _words(about), shown]
    if cards.images is not None and n_clusters > 1:
        edge = [row for row in about.borderline if row not in typical][:N_BORDERLINE]
        if edge:
            parts += [element("p", "Close to another cluster:", class_="extent"), cards.cards(edge)]
    return element("article", *parts, class_="cluster")


def _words(about: ClusterDescription) -> Markup | None:
    """The words that set a cluster apart, with the shares of texts that have them."""
    words = [trait for trait in about.traits if trait.is_word]
    if not words:
        return None
    items = [
        element(
            "li",
            element("bdi", trait.what),
            element("span", f" {percent(trait.here)}, elsewhere {percent(trait.elsewhere)}"),
        )
        for trait in words
    ]
    return element("ul", *items, class_="words")


def _values(view: View, about: ClusterDescription, rows: Sequence[int], cards: RowCards) -> Markup:
    """The columns that set a cluster apart: their means here and elsewhere, and typical rows."""
    traits = [trait for trait in about.traits if not trait.is_word]
    if not traits:
        names = [element("li", cards.name(row)) for row in rows]
        return element("ul", *names)
    columns: list[object] = ["", "this cluster", "elsewhere", *[cards.name(row) for row in rows]]
    head = [element("th", what, scope="col") for what in columns]
    at = np.array([trait.place for trait in traits])
    values = np.array([values_of(view, row, at) for row in rows]).T
    items = []
    for trait, typical in zip(traits, values):
        one = readable_date if trait.is_date else _number
        mean = percent if trait.is_share else one
        arrow = "↑" if trait.effect > 0 else "↓"
        figures = [f"{mean(trait.here)} {arrow}", mean(trait.elsewhere), *map(one, typical)]
        name = element("th", element("bdi", trait.what), scope="row")
        cells = [element("td", figure, class_="figure") for figure in figures]
        items.append(element("tr", name, *cells))
    return _table(head, items, f"What sets cluster {about.cluster} apart")


def _table(head: Sequence[Markup], lines: Sequence[Markup], words: str) -> Markup:
    table = element("table", element("thead", element("tr", *head)), element("tbody", *lines))
    return element("div", table, class_="scroll", tabindex="0", role="group", aria_label=words)


def more(n: int) -> Markup | None:
    return element("p", f"And {n:,} more.", class_="why") if n > 0 else None


def no_answers(model) -> str:
    if model.report_.n_answers:
        return "Pass constraints= to write_report to see the answers here."
    return "No answers were given."


def _number(value: float) -> str:
    """Three digits, and all of those before the point."""
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e9 else f"{value:.3g}"
