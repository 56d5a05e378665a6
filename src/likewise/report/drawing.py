"""Maps and bars as inline SVG.

The dots of a cluster are one path: a line of no length with a round end is a dot, in a dozen bytes.
Colors come from the style sheet, so they change with the reader's light or dark; a second ten of
clusters has square dots, and every cluster carries its number.
"""

from collections.abc import Iterable

import numpy as np

from likewise.report.markup import Markup, element, join

WIDTH, HEIGHT, MARGIN = 480, 400, 16  # units of the drawing; it stretches with the page
NUMBER_SIZE = 18  # of the number of a cluster, which stands on one of its dots
N_COLORS = 60
N_OWN_COLORS = 10  # that the style sheet chooses; the others are spread over the wheel
GOLDEN_ANGLE = 137.508  # degrees: neighbors in number are far apart on the wheel
LIGHTNESS = {"light": (38, 50, 44), "dark": (74, 62, 68)}  # percent, in turn


def color_class(cluster: int) -> str:
    """The class that gives an element the color of its cluster."""
    return f"color-{cluster % N_COLORS}"


def color_rules(n_clusters: int) -> str:
    """The style rules of the colors beyond those of the style sheet."""
    more = range(N_OWN_COLORS, min(n_clusters, N_COLORS))
    rules = "".join(f".color-{c}{{--color:var(--c{c})}}" for c in more)

    def colors(scheme: str) -> str:
        steps = LIGHTNESS[scheme]
        named = [
            f"--c{c}:hsl({c * GOLDEN_ANGLE % 360:.0f} {60 + 20 * (c % 2)}% {steps[c % 3]}%)"
            for c in more
        ]
        return f":root{{{';'.join(named)}}}"

    return f"{rules}{colors('light')}@media (prefers-color-scheme:dark){{{colors('dark')}}}"


def map_svg(
    points: np.ndarray,
    labels: np.ndarray,
    lines: Iterable[tuple[str, tuple[int, int]]],
    words: str,
) -> Markup:
    """Points (p, 2) by cluster; `lines` join two points and have a class; `words` describe it."""
    placed = place_in_picture(points)
    groups = []
    clusters = np.unique(labels)
    for cluster in clusters:
        dots = "".join(f"M{x} {y}h0" for x, y in placed[labels == cluster])
        shape = "square" if cluster // N_OWN_COLORS % 2 else "round"
        classes = f"dots {shape} in-{cluster} {color_class(cluster)}"
        groups.append(element("path", d=dots, class_=classes))
    for kind, (i, j) in lines:
        (x1, y1), (x2, y2) = placed[[i, j]]
        groups.append(element("path", d=f"M{x1} {y1}L{x2} {y2}", class_=f"answer {kind}"))
    spots: list[np.ndarray] = []
    for cluster in clusters:
        spots.append(middle(placed[labels == cluster], spots))
        x, y = spots[-1]
        groups.append(element("text", cluster, x=x, y=y, class_=f"number in-{cluster}"))
    box = f"0 0 {WIDTH} {HEIGHT}"
    return element("svg", *groups, viewBox=box, role="img", aria_label=words, class_="map")


def place_in_picture(points: np.ndarray) -> np.ndarray:
    """Points in the units of the drawing, both axes to one scale, y upward."""
    low, high = points.min(axis=0), points.max(axis=0)
    room = np.array([WIDTH - 2 * MARGIN, HEIGHT - 2 * MARGIN])
    spans = high - low
    wide = spans > np.finfo(float).tiny
    scale = np.min(room[wide] / spans[wide], initial=np.inf)
    scale = scale if np.isfinite(scale) else 1.0
    placed = (points - (low + high) / 2) * scale * [1, -1] + [WIDTH / 2, HEIGHT / 2]
    return np.rint(placed).astype(int)


def middle(placed: np.ndarray, taken: list[np.ndarray]) -> np.ndarray:
    """The dot of a cluster nearest to its median that keeps clear of the numbers placed already."""
    off = np.abs(placed - np.median(placed, axis=0)).sum(axis=1)
    clear = np.ones(len(placed), dtype=bool)
    for spot in taken:
        clear &= np.abs(placed - spot).max(axis=1) >= NUMBER_SIZE
    return placed[np.where(clear | ~clear.any(), off, np.inf).argmin()]


def bar(share: float, words: str, class_: str = "") -> Markup:
    """A bar from 0 to 1 with its text beside it; the text alone when there is no share."""
    if not np.isfinite(share):
        return element("span", words, class_="value")
    width = f"width:{100 * min(max(share, 0.0), 1.0):.1f}%"
    filled = element("span", style=width, class_=f"fill {class_}".strip())
    track = element("span", filled, class_="track", aria_hidden="true")
    return join([track, " ", element("span", words, class_="value")])
