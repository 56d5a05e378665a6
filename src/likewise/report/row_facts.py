"""The most telling values of a row of a table, as people read them."""

from collections.abc import Callable, Sequence

import numpy as np

from likewise.features import TableFeatures, cell_table
from likewise.files.cell_values import is_missing, number_text
from likewise.report.descriptions import ClusterDescription
from likewise.report.row_cards import shorten
from likewise.report.view import View, values_of

N_FACTS = 5  # columns of a row
MAX_CELL = 60  # letters of a cell


def facts_of(
    view: View, model, X, described: Sequence[ClusterDescription]
) -> Callable[[int], list[tuple[str, str]]]:
    """What gives, for a row, the columns that set clusters apart most and its values there."""
    effects: dict[str, float] = {}
    for cluster in described:
        for trait in cluster.traits:
            if not trait.is_word:
                effects[trait.what] = max(effects.get(trait.what, 0.0), abs(trait.effect))
    telling = sorted(effects, key=lambda name: -effects[name])
    features = getattr(model, "features_", None)
    if isinstance(features, TableFeatures):
        return _cells(cell_table(X).columns, features, telling)
    place = {name: j for j, name in enumerate(view.feature_names)}
    chosen = telling[:N_FACTS]
    columns = np.array([place[name] for name in chosen], dtype=int)
    in_view = {int(row) for row in view.rows}

    def facts(row: int) -> list[tuple[str, str]]:
        if row not in in_view or not chosen:
            return []
        return [(n, number_text(v)) for n, v in zip(chosen, values_of(view, row, columns))]

    return facts


def _cells(cells: dict, features: TableFeatures, telling: Sequence[str]):
    """The same for a table: its cells as they are."""
    used = [column.name for column in features.encoded_]
    named = [
        next((n for n in used if w == n or w.startswith((f"{n}=", f"{n}_"))), "") for w in telling
    ]
    names = list(dict.fromkeys([name for name in named if name] + used))[:N_FACTS]

    def facts(row: int) -> list[tuple[str, str]]:
        shown = [(name, cells[name][row]) for name in names]
        return [(n, "–" if is_missing(v) else shorten(str(v), MAX_CELL)) for n, v in shown]

    return facts
