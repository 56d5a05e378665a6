"""Figures of the experiments, as SVG, from records of runs (extra `plot`)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.runs import summarize

SIZE = (3.2, 2.5)  # inches of one panel


def draw_curves(
    records: Sequence[Mapping[str, str]],
    path: Path,
    *,
    x: str,
    line: str,
    down: str,
    across: Sequence[tuple[str, Mapping[str, str], str]],
) -> None:
    """A grid of panels with a line for each value of `line`, means with standard errors over `x`.

    `down` is the setting whose values are the rows of the grid; a column has a title, the settings
    its records have, and the measure it shows.
    """
    rows = list(dict.fromkeys(record[down] for record in records))
    figure, panels = _panels(len(rows), len(across))
    for i, row in enumerate(rows):
        for j, (title, settings, measure) in enumerate(across):
            chosen = [r for r in records if {**r, **settings, down: row} == r]
            found = summarize(chosen, (line, x), measure)
            for name in dict.fromkeys(record[line] for record in records):
                points = [
                    (float(at), *found[key][:2])
                    for key in found
                    for at in [key[1]]
                    if key[0] == name
                ]
                if points:
                    at, means, errors = np.array(sorted(points)).T
                    panels[i, j].errorbar(at, means, np.nan_to_num(errors), label=name, capsize=2)
            panels[i, j].set(xlabel=x, ylabel=measure)
            panels[i, j].set_title(f"{row}: {title}".strip(": "), fontsize="small")
    handles = panels[0, 0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=6, fontsize="small")
    figure.savefig(path, metadata={"Date": None})


def draw_maps(maps: Mapping[str, np.ndarray], colors: Mapping[str, np.ndarray], path: Path) -> None:
    """Flat maps (n, 2) side by side, once for each coloring (n,) of the rows."""
    figure, panels = _panels(len(colors), len(maps))
    for i, (what, labels) in enumerate(colors.items()):
        for j, (title, points) in enumerate(maps.items()):
            panels[i, j].scatter(*points.T, c=labels, cmap="tab10", s=3, rasterized=True)
            panels[i, j].set(title=f"{title}, {what}", xticks=[], yticks=[])
    figure.savefig(path, dpi=150, metadata={"Date": None})


def draw_points(sets: Mapping[str, tuple[np.ndarray, np.ndarray]], path: Path) -> None:
    """Points (n, 2) of every set in a panel of its own, colored by their labels (n,)."""
    figure, panels = _panels(1, len(sets))
    for panel, (title, (points, labels)) in zip(panels[0], sets.items()):
        panel.scatter(*points.T, c=labels, cmap="coolwarm", s=9)
        panel.set(title=title, xticks=[], yticks=[])
    figure.savefig(path, dpi=150, metadata={"Date": None})


def draw_linked_points(
    panels: Mapping[str, tuple[np.ndarray, np.ndarray, np.ndarray]], path: Path, n_across: int = 3
) -> None:
    """Points (n, 2) by panel, colored by labels (n,), with lines between pairs (m, 2) of them."""
    figure, spots = _panels(-(-len(panels) // n_across), n_across)
    for spot, (title, (points, labels, pairs)) in zip(spots.flat, panels.items()):
        spot.plot(*points[pairs].transpose(2, 1, 0), color="gray", linewidth=0.6)
        spot.scatter(*points.T, c=labels, cmap="coolwarm", s=6, rasterized=True)
        spot.set_title(title, fontsize="small")
    figure.savefig(path, dpi=150, metadata={"Date": None})


def draw_bars(
    records: Sequence[Mapping[str, str]],
    path: Path,
    *,
    bar: str,
    group: str,
    panel: str,
    measure: str,
    n_across: int = 3,
) -> None:
    """A panel for each value of `panel`, in it bars of means with standard errors, group by group.

    `bar` and `group` are the settings whose values are the bars of a group and the groups.
    """
    titles, groups, bars = (
        list(dict.fromkeys(record[name] for record in records)) for name in (panel, group, bar)
    )
    figure, panels = _panels(-(-len(titles) // n_across), n_across)
    found = summarize(records, (panel, group, bar), measure)
    for spot in panels.flat[len(titles) :]:
        spot.set_visible(False)
    for spot, title in zip(panels.flat, titles):
        for i, name in enumerate(bars):
            cells = [found.get((title, one, name)) for one in groups]
            at = [g * (len(bars) + 1) + i for g, cell in enumerate(cells) if cell]
            means = [cell.mean for cell in cells if cell]
            errors = [np.nan_to_num(cell.standard_error) for cell in cells if cell]
            spot.bar(at, means, 1, yerr=errors, color=f"C{i}", label=name)
        middles = [g * (len(bars) + 1) + (len(bars) - 1) / 2 for g in range(len(groups))]
        spot.set_xticks(middles, groups)
        lows = [found[key].mean for key in found if key[0] == title]
        spot.set_ylim(max(0.0, min(lows) - 0.1), 1.0)
        spot.set_title(title, fontsize="small")
    handles = panels[0, 0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=5, fontsize="small")
    figure.savefig(path, metadata={"Date": None})


def _panels(n_down: int, n_across: int) -> tuple[Any, np.ndarray]:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError(
            'The runs are kept; their figure needs matplotlib: pip install "likewise[plot]".'
        ) from None
    figure = Figure(figsize=(SIZE[0] * n_across, SIZE[1] * n_down), layout="constrained")
    return figure, figure.subplots(n_down, n_across, squeeze=False)
