"""The front door: rows and a few answers in, clusters out, and an account of how."""

from likewise.guided.account import GuidedReport
from likewise.guided.clustering import GuidedClustering
from likewise.guided.features import fit_scaler

__all__ = ["GuidedClustering", "GuidedReport", "fit_scaler"]
