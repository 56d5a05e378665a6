"""Figures of the experiments, as SVG, from records of runs (extra `plot`)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from likewise.experiments.runs import summarize

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


def _panels(n_down: int, n_across: int) -> tuple[Any, np.ndarray]:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError(
            'The runs are kept; their figure needs matplotlib: pip install "likewise[plot]".'
        ) from None
    figure = Figure(figsize=(SIZE[0] * n_across, SIZE[1] * n_down), layout="constrained")
    return figure, figure.subplots(n_down, n_across, squeeze=False)
