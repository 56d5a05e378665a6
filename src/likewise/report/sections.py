"""The sections of the page: each turns a part of the model into HTML."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse

from likewise.constraints import Constraints
from likewise.evaluation import Satisfaction, percent, satisfaction_report, satisfied_answers
from likewise.report.drawing import bar, color_class, map_svg
from likewise.report.markup import Markup, element, join
from likewise.report.row_cards import RowCards
from likewise.report.shown_questions import ShownQuestion
from likewise.report.view import (
    View,
    standouts,
    start_space,
    take_rows,
    typical_rows,
    values_of,
)

N_PULLED = 12  # the most influential answers, listed and drawn on the map
N_DOUBTFUL = 12
N_CONFLICTS = 20
N_CLUSTERS = 60  # shown in full, the largest first
N_PICTURES, N_TEXTS, N_ROWS = 12, 3, 3  # typical rows of a cluster
N_STANDOUTS = 5

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
        ("features", f"{report.n_features:,}"),
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


def maps(view: View, report, constraints: Constraints | None, pulled: Sequence[int]) -> Section:
    """Both maps, and buttons that highlight one cluster."""
    shown = len(view.points)
    lines = answer_lines(view, constraints, pulled)
    names = np.unique(np.concatenate([view.labels[view.points], view.labels_before]))
    pick = [_radio("pick-all", "all", True, "")]
    pick += [_radio(f"pick-{c}", str(c), False, color_class(c)) for c in names]
    controls = element(
        "fieldset", element("legend", "Show cluster"), *pick, class_="picker", id="picker"
    )
    toggle = None
    if lines:
        box = element("input", type="checkbox", id="show-answers")
        words = f"Draw the {len(pulled)} most influential answers"
        key = " (solid: together, dashed: apart)"
        toggle = element("p", element("label", box, " ", words, key), class_="toggle")
    drawn = []
    for when, flat, labels in (
        ("before", view.map_before, view.labels_before),
        ("after", view.map_after, view.labels[view.points]),
    ):
        n_clusters = len(np.unique(labels))
        words = f"Map {when} the answers: {count(shown, 'row')} in {count(n_clusters, 'cluster')}"
        drawing = map_svg(flat, labels, lines, words)
        caption = element("figcaption", f"{when.capitalize()} the answers")
        drawn.append(element("figure", drawing, caption))
    sampled = "" if shown == report.n_rows else f" Shown: {shown:,} of {report.n_rows:,} rows."
    note = (
        "Each dot is a row, placed along the two directions in which the rows differ most. "
        "Clusters that share most of their rows have the same color on both maps."
    )
    body = [element("p", note + sampled), controls, toggle]
    return Section("map", "The map", join([*body, element("div", *drawn, class_="maps")]))


def picking_rules(n_clusters: int) -> str:
    """The style rules that highlight each cluster."""
    return "".join(
        f"#map:has(#pick-{c}:checked) :is(.dots,.number):not(.in-{c}){{opacity:.07}}"
        for c in range(n_clusters)
    )


def clusters(view: View, model, cards: RowCards) -> Section:
    """Every cluster with its most typical rows."""
    labels = np.asarray(model.labels_)
    sizes = np.bincount(labels, minlength=model.n_clusters_)
    largest = np.sort(np.argsort(-sizes, kind="stable")[:N_CLUSTERS])
    articles = [_cluster(view, c, int(sizes[c]), len(labels), cards) for c in largest]
    rest = None
    if len(largest) < len(sizes):
        rest = element("p", f"And {count(len(sizes) - len(largest), 'smaller cluster')}.")
    note = element(
        "p",
        "The most typical rows of each cluster: those closest to its center, the closest first.",
    )
    grid = "clusters" if cards.can_show else "clusters tables"
    body = join([note, element("div", *articles, class_=grid), rest])
    return Section("clusters", "The clusters", body)


def answers(model, constraints: Constraints | None, pulled: Sequence[int], cards) -> Section:
    """The answers that changed the space most, in words."""
    title = "Answers that mattered"
    if constraints is None or not constraints.n_answers:
        return Section("answers", title, element("p", _no_answers(model)))
    if not len(pulled):
        words = "No answer changed the space: the rows are where they were before."
        return Section("answers", title, element("p", words))
    pulls, violated = model.pulls_, set(map(int, model.violated_))
    was_satisfied = satisfied_before(model, constraints)
    strongest = float(pulls[pulled[0]])
    items = []
    for position in pulled:
        share = float(pulls[position]) / strongest
        strength = bar(share, percent(share) + " of the strongest influence")
        if position in violated:
            mark = element("span", "violated", class_="mark bad")
        else:
            words = "satisfied" if was_satisfied[position] else "satisfied, was violated before"
            mark = element("span", words, class_="mark good")
        meter = element("p", strength, " ", mark, class_="pull")
        items.append(_answer(constraints, position, cards, meter))
    n_pulling = int(np.count_nonzero(pulls))
    note = (
        f"{n_pulling:,} of {count(constraints.n_answers, 'answer')} changed the space; these "
        f"{len(pulled)} did the most. An answer that the data already agree with changes little."
    )
    return Section(
        "answers", title, join([element("p", note), element("ol", *items, class_="items")])
    )


def doubts(model, constraints: Constraints | None, cards: RowCards) -> Section:
    """Contradictions, and doubtful answers."""
    title = "Answers to review"
    messages = [str(message) for message in model.report_.conflicts]
    parts: list[Markup | None] = [element("h3", "Contradictions")]
    if messages:
        items = [element("li", element("code", message)) for message in messages[:N_CONFLICTS]]
        parts.append(element("p", "They cannot all be true. Drop or correct one in each line."))
        parts.append(element("ul", *items))
        parts.append(_more(len(messages) - len(items), "contradiction"))
    else:
        parts.append(element("p", "None: all answers can be true at the same time."))
    parts.append(element("h3", "Doubtful"))
    doubtful = [int(position) for position in model.doubtful_]
    if doubtful and constraints is not None:
        items = [_answer(constraints, position, cards) for position in doubtful[:N_DOUBTFUL]]
        note = "Answers contradicted by the other answers and the data, most doubtful first."
        parts += [
            element("p", note),
            element("ol", *items, class_="items"),
            _more(len(doubtful) - len(items), ""),
        ]
    else:
        words = f"{count(len(doubtful), 'answer')}." if doubtful else "None."
        parts.append(element("p", words))
    return Section("doubts", title, join(parts))


def satisfaction(model, X, constraints: Constraints | None) -> Section:
    """Shares of the answers that are satisfied, before and after, by kind."""
    report, title = model.report_, "How many answers are satisfied"
    if not np.isfinite(report.satisfied):
        return Section("satisfaction", title, element("p", _no_answers(model)))
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
        "Space": report.why,
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


def next_questions(questions: Sequence[ShownQuestion], cards: RowCards) -> Section:
    """What an answer would help with most."""
    title = "What to ask next"
    if not questions:
        words = "Nothing left to ask: the answers settle every row that lies between two clusters."
        return Section("next", title, element("p", words))
    items = []
    for question in questions:
        names = [cards.name(row) for row in question.rows]
        if len(names) == 2:
            words = join(["Do ", names[0], " and ", names[1], " belong together?"])
        else:
            words = join(
                ["Which of ", names[0], ", ", names[1], " and ", names[2], " is the odd one out?"]
            )
        why = element("p", question.why, class_="why") if question.why else None
        items.append(element("li", element("p", words), cards.cards(question.rows), why))
    note = "Answers to these questions would say most about where the clusters meet."
    return Section("next", title, join([element("p", note), element("ol", *items, class_="items")]))


def by_kind(model, X, constraints: Constraints, when: str) -> Satisfaction:
    """Shares of the answers that are satisfied, from the rows that answers refer to alone."""
    rows = constraints.touched_rows()
    constraints, chosen = constraints.restrict(rows), take_rows(X, rows)
    if when == "after":
        return satisfaction_report(model.transform(chosen), constraints, model.labels_[rows])
    space = start_space(model, chosen)
    labels = model.report_.labels_before[rows]
    return satisfaction_report(None if sparse.issparse(space) else space, constraints, labels)


def hardest_pulled(model, constraints: Constraints | None) -> list[int]:
    """Positions of the most influential answers; of equals, those first that were violated."""
    if constraints is None:
        return []
    was_satisfied = satisfied_before(model, constraints)
    order = np.lexsort((was_satisfied, -model.pulls_))[:N_PULLED]
    return [int(position) for position in order if model.pulls_[position] > 0]


def satisfied_before(model, constraints: Constraints) -> np.ndarray:
    """(n_answers,) whether the clusters before satisfied a pair; True for triples."""
    return satisfied_answers(None, constraints, model.report_.labels_before) != 0


def rows_of(constraints: Constraints | None, positions: Sequence[int]) -> list[int]:
    """The rows that some answers refer to."""
    if constraints is None:
        return []
    return sorted({row for position in positions for row in constraints.points_of(position)})


def answer_lines(view: View, constraints: Constraints | None, positions: Sequence[int]):
    """Answers as lines between points of the map: together or apart."""
    if constraints is None:
        return []
    place = {int(row): i for i, row in enumerate(view.rows[view.points])}
    lines = []
    for position in positions:
        answer = constraints.answer(position)
        kind, (a, *others) = answer.kind, answer.points
        near, far = {
            "must_link": (others[:1], []),
            "cannot_link": ([], others),
            "odd_one_out": (others[:1], others[1:]),
            "closer": (others[:1], others[1:]),
            "undecided": ([], []),
            "undecided_pair": ([], []),
        }[kind]
        lines += [("together", (place[a], place[row])) for row in near]
        lines += [("apart", (place[a], place[row])) for row in far]
    return lines


def count(n: int, what: str) -> str:
    """1 row, 2 rows."""
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def _cluster(view: View, cluster: int, size: int, n_rows: int, cards: RowCards) -> Markup:
    swatch = element("span", class_=f"swatch {color_class(cluster)}", aria_hidden="true")
    heading = element("h3", swatch, f"Cluster {cluster}", id=f"cluster-{cluster}")
    extent = element("p", f"{count(size, 'row')}, {percent(size / n_rows)}", class_="extent")
    n_shown = N_PICTURES if cards.images is not None else N_TEXTS if cards.texts else N_ROWS
    typical = [int(row) for row in typical_rows(view, cluster, n_shown)]
    if not typical:  # an empty cluster, or one so small that the sample has none of it
        shown = None
    elif cards.can_show:
        shown = cards.cards(typical)
    else:
        shown = _values(view, cluster, typical, cards)
    return element("article", heading, extent, shown, class_="cluster")


def _values(view: View, cluster: int, rows: Sequence[int], cards: RowCards) -> Markup:
    """The features that stand out: their means here and overall, and in typical rows."""
    distinctive = standouts(view, cluster, N_STANDOUTS)
    if not len(distinctive.columns):
        names = [element("li", cards.name(row)) for row in rows]
        return element("ul", *names)
    columns: list[object] = ["", "this cluster", "all rows", *[cards.name(row) for row in rows]]
    head = [element("th", what, scope="col") for what in columns]
    values = np.array([values_of(view, row, distinctive.columns) for row in rows]).T
    items = []
    for j, here, overall, typical in zip(*distinctive, values):
        arrow = "↑" if here > overall else "↓"
        figures = [f"{_number(here)} {arrow}", _number(overall), *map(_number, typical)]
        name = element("th", element("bdi", view.feature_names[j]), scope="row")
        cells = [element("td", figure, class_="figure") for figure in figures]
        items.append(element("tr", name, *cells))
    return _table(head, items, f"What stands out in cluster {cluster}")


def _answer(constraints: Constraints, position: int, cards: RowCards, *extra: Markup) -> Markup:
    answer = constraints.answer(position)
    kind, rows, annotator = answer.kind, answer.points, answer.annotator
    first, *between = WORDS[kind].split("{")
    words: list[object] = [first]
    for part in between:
        number, _, text = part.partition("}")
        words += [cards.name(rows[int(number)]), text]
    statement = element("p", *words, f" ({annotator})." if annotator else ".")
    code = element("p", element("code", constraints.describe(position)), class_="why")
    return element("li", statement, cards.cards(rows), *extra, code)


def _radio(name: str, words: str, checked: bool, color: str) -> Markup:
    button = element("input", type="radio", name="pick", id=name, checked=checked)
    swatch = element("span", class_=f"swatch {color}", aria_hidden="true") if color else None
    return element("label", button, swatch, words)


def _table(head: Sequence[Markup], lines: Sequence[Markup], words: str) -> Markup:
    table = element("table", element("thead", element("tr", *head)), element("tbody", *lines))
    return element("div", table, class_="scroll", tabindex="0", role="group", aria_label=words)


def _more(n: int, what: str) -> Markup | None:
    return element("p", f"And {n:,} more.", class_="why") if n > 0 else None


def _no_answers(model) -> str:
    if model.report_.n_answers:
        return "Pass constraints= to write_report to see the answers here."
    return "No answers were given."


def _number(value: float) -> str:
    return f"{value:.3g}"
