"""The map: drawn by the script of the page, and without scripts as two pictures."""

from collections.abc import Sequence

import numpy as np

from likewise.constraints import Constraints
from likewise.numerics.rows import sample_rows
from likewise.report.descriptions import ClusterDescription
from likewise.report.drawing import N_COLORS, color_class, map_svg
from likewise.report.map_data import HINT, map_data
from likewise.report.markup import Markup, element, join
from likewise.report.row_cards import RowCards, shorten
from likewise.report.sections import Section, count
from likewise.report.view import MAX_POINTS, SEED, Maps, View

LONGEST_TITLE = 40  # letters of the name of a cluster on the map
KEYS = (
    "Map of the rows. Arrow keys move it, plus and minus zoom, 0 shows all, Enter describes the "
    "row in the middle."
)


def map_section(
    view: View,
    drawn: Maps,
    described: Sequence[ClusterDescription],
    n_rows: int,
    constraints: Constraints | None,
    mattered: Sequence[int],
    cards: RowCards,
) -> Section:
    """Both maps, and controls that find, pick and highlight."""
    points = drawn.points
    titles = [title_of(about) for about in described]
    names = np.unique(np.concatenate([view.labels[points], view.labels_before[points]]))
    pick = [_radio("pick", "all", "all", True)]
    pick += [_radio("pick", c, titles[c] if c < len(titles) else str(c), False) for c in names]
    controls = element(
        "fieldset", element("legend", "Show cluster"), *pick, class_="picker", id="picker"
    )
    lines = answer_lines(view.rows[points], constraints, mattered)
    toggle = None
    if lines:
        box = element("input", type="checkbox", id="show-answers")
        words = f"Draw the {len(mattered)} answers that mattered most (solid: together, dashed: "
        toggle = element("p", element("label", box, f" {words}apart)"), class_="toggle")
    sampled = "" if len(points) == n_rows else _sampled(len(points), n_rows)
    note = (
        "Each dot is a row; rows that are alike are close together. Distances between groups of "
        "dots mean little. Clusters that share most of their rows before and after have the same "
        "color." + sampled
    )
    data = map_data(
        view, drawn, titles, lines, cards, n_rows=n_rows, n_colors=N_COLORS
    )  # fmt: skip
    body = [
        element("p", note),
        controls,
        toggle,
        _live(),
        _still(view, drawn, constraints, mattered),
        element("script", data, type="application/json", id="map-data"),
    ]
    return Section("map", "The map", join(body))


def title_of(about: ClusterDescription) -> str:
    """The number of a cluster, and its name if it has one."""
    name = shorten(about.name, LONGEST_TITLE)
    return f"{about.cluster} {name}" if name else str(about.cluster)


def _sampled(n_drawn: int, n_rows: int) -> str:
    return (
        f" The map and the search hold {n_drawn:,} of {n_rows:,} rows: a sample, and all rows that "
        "answers refer to."
    )


def _live() -> Markup:
    """What the script fills; hidden until it runs."""
    search = element(
        "p",
        element("label", "Find a row ", element("input", type="search", id="row-search")),
        class_="finder",
    )
    times = [_radio("when", "after", "after the answers", True)]
    times += [_radio("when", "before", "before", False)]
    buttons = [
        element("button", sign, type="button", id=name, aria_label=words)
        for name, sign, words in (
            ("zoom-in", "+", "Zoom in"),
            ("zoom-out", "−", "Zoom out"),
            ("zoom-all", "all", "Show all rows"),
        )
    ]
    canvas = element("canvas", id="map-canvas", tabindex="0", role="application", aria_label=KEYS)
    stage = element(
        "div",
        canvas,
        element("div", *buttons, class_="zoom"),
        element("div", id="map-tip", class_="tip", hidden=True),
        class_="stage",
    )
    side = element(
        "div",
        search,
        element("ul", id="row-matches", class_="matches"),
        element("div", element("p", HINT, class_="why"), id="row-panel", aria_live="polite"),
        class_="side",
    )
    when = element("fieldset", element("legend", "Show the rows"), *times, class_="picker when")
    return element(
        "div", when, element("div", stage, side, class_="explorer"), id="live", hidden=True
    )


def _still(
    view: View, drawn: Maps, constraints: Constraints | None, mattered: Sequence[int]
) -> Markup:
    """Both maps as pictures, of some rows where there are many."""
    rows = view.rows[drawn.points]
    wanted = [] if constraints is None else rows_of(constraints, mattered)
    some = sample_rows(len(rows), MAX_POINTS, np.searchsorted(rows, wanted), SEED)
    lines = answer_lines(rows[some], constraints, mattered)
    points = drawn.points[some]
    figures = []
    for when, flat, labels in (
        ("before", drawn.before[some], view.labels_before[points]),
        ("after", drawn.after[some], view.labels[points]),
    ):
        n_clusters = len(np.unique(labels))
        words = f"Map {when} the answers: {count(len(some), 'row')} in "
        drawing = map_svg(flat, labels, lines, words + count(n_clusters, "cluster"))
        caption = element("figcaption", f"{when.capitalize()} the answers")
        figures.append(element("figure", drawing, caption))
    return element("div", *figures, class_="maps")


def picking_rules(n_clusters: int) -> str:
    """The style rules that highlight each cluster on the pictures."""
    return "".join(
        f"#map:has(#pick-{c}:checked) :is(.dots,.number):not(.in-{c}){{opacity:.07}}"
        for c in range(n_clusters)
    )


def rows_of(constraints: Constraints, positions: Sequence[int]) -> list[int]:
    """The rows that some answers refer to."""
    return sorted({row for position in positions for row in constraints.points_of(position)})


def answer_lines(drawn: np.ndarray, constraints: Constraints | None, positions: Sequence[int]):
    """Answers as lines between the rows (p,) of a map: together or apart."""
    if constraints is None:
        return []
    place = {int(row): i for i, row in enumerate(drawn)}
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


def _radio(group: str, value, words: str, checked: bool) -> Markup:
    button = element(
        "input", type="radio", name=group, value=value, id=f"{group}-{value}", checked=checked
    )
    is_cluster = group == "pick" and value != "all"
    color = f"swatch {color_class(value)}" if is_cluster else None
    swatch = element("span", class_=color, aria_hidden="true") if color else None
    return element("label", button, swatch, words)
