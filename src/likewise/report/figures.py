"""The figures of the report in matplotlib (extra `plot`), on given axes or on new ones."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from likewise.constraints import Constraints, check_constraints
from likewise.files.png_file import brightness_range
from likewise.report.answer_sections import hardest_pulled
from likewise.report.picture import check_images
from likewise.report.view import as_seen, check_model, draw_maps, look, typical_rows

N_COLORS = 10


def plot_map(model, X, *, when: str = "after", ax: Axes | None = None) -> Axes:
    """Draw the rows as dots, those that are alike close together, colored by cluster.

    Parameters
    ----------
    model : GuidedClustering
        Fitted to X.
    X : array-like, CSR matrix or dataframe of shape (n_samples, n_features)
        The rows the model was fitted to; at most about 20,000 are drawn.
    when : {"after", "before"}, default="after"
        The learned space and its clusters, or the data as they were. Clusters that share most of
        their rows have the same color in both.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure when not given.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from likewise import Constraints, GuidedClustering
    >>> from likewise.datasets import load_iris
    >>> from likewise.report import plot_map
    >>> iris = load_iris()
    >>> answers = Constraints.from_labels(iris.y, n_pairs=30, random_state=0)
    >>> model = GuidedClustering(3, random_state=0).fit(iris.X, constraints=answers)
    >>> plot_map(model, iris.X).get_title()
    'after the answers'
    """
    if when not in ("before", "after"):
        raise ValueError(f"when={when!r} must be 'before' or 'after'.")
    view = look(*as_seen(model, X)[:2])
    maps = draw_maps(view)
    flat = maps.before if when == "before" else maps.after
    labels = (view.labels_before if when == "before" else view.labels)[maps.points]
    ax = plt.subplots(layout="constrained")[1] if ax is None else ax
    for cluster in np.unique(labels):
        marker = "s" if cluster // N_COLORS % 2 else "o"
        dots = flat[labels == cluster]
        color = f"C{cluster % N_COLORS}"
        ax.scatter(dots[:, 0], dots[:, 1], s=6, marker=marker, color=color, label=str(cluster))
    ax.set(title=f"{when} the answers", xticks=[], yticks=[], aspect="equal")
    ax.legend(title="cluster", loc="center left", bbox_to_anchor=(1, 0.5), markerscale=2)
    return ax


def plot_pulls(model, constraints: Constraints, *, ax: Axes | None = None) -> Axes:
    """Draw the most influential answers and how hard each pulled on the space.

    Parameters
    ----------
    model : GuidedClustering
        Fitted with these answers.
    constraints : Constraints
    ax : matplotlib Axes, default=None
        Where to draw; a new figure when not given.

    Returns
    -------
    matplotlib Axes
        A bar for each of the twelve strongest, the strongest on top; red if it is violated.

    Examples
    --------
    >>> from likewise import Constraints, GuidedClustering
    >>> from likewise.datasets import load_iris
    >>> from likewise.report import plot_pulls
    >>> iris = load_iris()
    >>> answers = Constraints.from_labels(iris.y, n_pairs=30, random_state=0)
    >>> model = GuidedClustering(3, random_state=0).fit(iris.X, constraints=answers)
    >>> plot_pulls(model, answers).get_xlabel()
    'pull'
    """
    constraints = check_constraints(constraints, n_samples=check_model(model).n_rows)
    positions = hardest_pulled(model, constraints)
    ax = plt.subplots(layout="constrained")[1] if ax is None else ax
    colors = ["C3" if position in model.violated_ else "C0" for position in positions]
    ax.barh(range(len(positions)), np.asarray(model.pulls_)[positions], color=colors)
    names = [constraints.describe(position) for position in positions]
    ax.set_yticks(range(len(positions)), names, fontsize="small")
    ax.invert_yaxis()
    ax.set(xlabel="pull", title="answers that mattered")
    return ax


def plot_trials(model, *, ax: Axes | None = None) -> Axes:
    """Draw what was tried and how well it predicted held-out answers.

    Parameters
    ----------
    model : GuidedClustering
    ax : matplotlib Axes, default=None
        Where to draw; a new figure when not given.

    Returns
    -------
    matplotlib Axes
        A point with its standard error for each trial, the chosen one filled.

    Examples
    --------
    >>> from likewise import Constraints, GuidedClustering
    >>> from likewise.datasets import load_iris
    >>> from likewise.report import plot_trials
    >>> iris = load_iris()
    >>> answers = Constraints.from_labels(iris.y, n_pairs=60, random_state=0)
    >>> model = GuidedClustering(3, random_state=0).fit(iris.X, constraints=answers)
    >>> plot_trials(model).get_title()
    'what was tried'
    """
    report = check_model(model)
    ax = plt.subplots(layout="constrained")[1] if ax is None else ax
    errors = np.nan_to_num(report.trial_errors)
    for i, (score, error) in enumerate(zip(report.trial_scores, errors)):
        face = "C0" if i == report.chosen else "none"
        ax.errorbar(score, i, xerr=error, fmt="o", color="C0", markerfacecolor=face, capsize=3)
    ax.set_yticks(range(len(report.trial_names)), list(report.trial_names), fontsize="small")
    ax.invert_yaxis()
    ax.set(xlabel="score on held-out answers", title="what was tried")
    return ax


def plot_typical_rows(model, X, images, *, n_rows: int = 10) -> Figure:
    """Draw the most typical images of every cluster, one cluster per line.

    Parameters
    ----------
    model : GuidedClustering
        Fitted to X.
    X : array-like, CSR matrix or dataframe of shape (n_samples, n_features)
    images : array of shape (n_samples, h, w) or (n_samples, h, w, 3)
        An image of every row.
    n_rows : int, default=10
        Images per cluster.

    Returns
    -------
    matplotlib Figure

    Examples
    --------
    >>> from likewise import GuidedClustering
    >>> from likewise.datasets import load_digits
    >>> from likewise.report import plot_typical_rows
    >>> X = load_digits().X[:100]
    >>> model = GuidedClustering(4, random_state=0).fit(X)
    >>> len(plot_typical_rows(model, X, X.reshape(-1, 8, 8), n_rows=3).axes)
    12
    """
    images = check_images(images, check_model(model).n_rows)
    view = look(*as_seen(model, X)[:2])
    size = (0.7 * n_rows + 0.5, 0.75 * model.n_clusters_)
    figure, axes = plt.subplots(
        model.n_clusters_, n_rows, squeeze=False, figsize=size, layout="constrained"
    )
    low, high = brightness_range(images)
    for cluster, line in enumerate(axes):
        for axis in line:
            axis.set_axis_off()
        for axis, row in zip(line, typical_rows(view, cluster, n_rows)):
            axis.imshow(
                (np.asarray(images[row], float) - low) / (high - low), "gray", vmin=0, vmax=1
            )
        line[0].text(-0.3, 0.5, cluster, ha="right", va="center", transform=line[0].transAxes)
    return figure
