"""What the script of the page reads: places, clusters and memberships of the rows on the map.

Numbers are little-endian bytes in base64. Texts and images share a budget, so that the page stays
under 2 MB however many rows are on the map: texts are cut shorter, images made smaller, and beyond
that only some rows have one.
"""

import base64
import json
from collections.abc import Sequence

import numpy as np

from likewise.report.markup import Markup
from likewise.report.picture import png_uri, small_image
from likewise.report.row_cards import RowCards, shorten
from likewise.report.view import Maps, View, runners_up

TEXT_BUDGET = 400_000  # letters, of all texts together
NAME_BUDGET = 300_000  # of all names
PICTURE_BUDGET = 350_000  # bytes of pixels, of all images together
SHORTEST, LONGEST = 16, 120  # letters of a name or a text
SMALLEST_SIDE, LARGEST_SIDE = 8, 40  # pixels of an image
GRID = 65_535  # places are numbers from 0 to this
HINT = "Point at a dot, or click it, to see its row."


def map_data(
    view: View,
    maps: Maps,
    titles: Sequence[str],
    lines: Sequence[tuple[str, tuple[int, int]]],
    cards: RowCards,
    *,
    n_rows: int,
    n_colors: int,
) -> Markup:
    """The document, as JSON that may stand inside a script element."""
    points = maps.points
    rows, labels, second = view.rows[points], view.labels[points], runners_up(view)[points]
    memberships, every = view.memberships[points], np.arange(len(points))
    is_sample = len(rows) < n_rows
    document = {
        "n": len(rows),
        "rows": encoded(rows, "<u4") if is_sample else None,
        "names": names_of(rows, cards),
        "details": details_of(rows, cards),
        "after": encoded(on_grid(maps.after), "<u2"),
        "before": encoded(on_grid(maps.before), "<u2"),
        "cluster": encoded(labels, "<u2"),
        "was": encoded(view.labels_before[points], "<u2"),
        "share": encoded(halves(memberships[every, labels]), "u1"),
        "next": encoded(second, "<u2"),
        "nextShare": encoded(halves(memberships[every, second]), "u1"),
        "titles": list(titles),
        "lines": [[int(kind == "apart"), i, j] for kind, (i, j) in lines],
        "picture": atlas_of(rows, cards),
        "colors": n_colors,
        "hint": HINT,
    }
    text = json.dumps(document, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def encoded(numbers: np.ndarray, dtype: str) -> str:
    return base64.b64encode(np.ascontiguousarray(numbers, dtype=dtype).tobytes()).decode()


def halves(shares: np.ndarray) -> np.ndarray:
    """Shares as whole halves of a percent; 200 means 1 and nothing less, 0 nothing."""
    steps = np.clip(np.rint(200 * shares), 1, 199)
    return np.where(shares >= 1, 200, np.where(shares <= 0, 0, steps)).astype(np.uint8)


def on_grid(flat: np.ndarray) -> np.ndarray:
    """Places (p, 2) as whole numbers, both axes to one scale and in the middle, y downward."""
    low, high = flat.min(axis=0), flat.max(axis=0)
    span = max(float((high - low).max()), float(np.finfo(np.float32).tiny))
    placed = (flat - (low + high) / 2) / span * [1, -1] + 0.5
    return np.clip(np.rint(placed * GRID), 0, GRID).astype(np.uint16)


def names_of(rows: np.ndarray, cards: RowCards) -> list[str] | None:
    if cards.names is None:
        return None
    longest = min(max(NAME_BUDGET // max(len(rows), 1), SHORTEST), LONGEST)
    return [shorten(cards.names[row], longest) for row in rows]


def details_of(rows: np.ndarray, cards: RowCards) -> list[str] | None:
    """The text of each row, or its values, as long as there is room; None where there is none."""
    longest = min(TEXT_BUDGET // max(len(rows), 1), LONGEST)
    if longest < SHORTEST or not (cards.texts is not None or cards.facts is not None):
        return None
    return [shorten(cards.detail(row), longest) for row in rows]


def atlas_of(rows: np.ndarray, cards: RowCards) -> dict | None:
    """All images in one PNG, each as large as the budget allows; of some rows where it is small."""
    if cards.images is None:
        return None
    first = np.asarray(cards.images[rows[0]])
    n_channels = 1 if first.ndim == 2 else 3
    side = int(np.sqrt(PICTURE_BUDGET / (len(rows) * n_channels)))
    shown = np.arange(len(rows))
    if side < SMALLEST_SIDE:
        n_shown = PICTURE_BUDGET // (SMALLEST_SIDE**2 * n_channels)
        shown = np.unique(np.linspace(0, len(rows) - 1, n_shown).astype(int))
    side = min(max(side, SMALLEST_SIDE), LARGEST_SIDE)
    small = [small_image(cards.images[row], cards.bounds, side) for row in rows[shown]]
    h, w = small[0].shape[:2]
    columns = int(np.ceil(np.sqrt(len(small))))
    tall = -(-len(small) // columns)
    sheet = np.full((tall * h, columns * w, *small[0].shape[2:]), cards.bounds[0])
    for i, image in enumerate(small):
        y, x = i // columns * h, i % columns * w
        sheet[y : y + h, x : x + w] = image
    of = None if len(shown) == len(rows) else shown.tolist()
    return {"src": png_uri(sheet, cards.bounds), "w": w, "h": h, "columns": columns, "of": of}
