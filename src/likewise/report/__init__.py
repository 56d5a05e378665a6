"""The results of a fitted GuidedClustering as an HTML report and as figures (extra `plot`)."""

from likewise.kernels import lay_out
from likewise.report.descriptions import describe_clusters
from likewise.report.influence import influential_answers
from likewise.report.page import write_report

_FIGURES = ("plot_map", "plot_pulls", "plot_trials", "plot_typical_rows")

__all__ = [
    "describe_clusters",
    "influential_answers",
    "lay_out",
    "plot_map",
    "plot_pulls",
    "plot_trials",
    "plot_typical_rows",
    "write_report",
]


def __getattr__(name: str):
    if name not in _FIGURES:
        raise AttributeError(f"module 'likewise.report' has no attribute {name!r}")
    try:
        from likewise.report import figures
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "matplotlib":
            raise
        raise ImportError(
            f"{name} draws with matplotlib: pip install 'likewise[plot]'. "
            "write_report does not need it."
        ) from None
    return getattr(figures, name)
