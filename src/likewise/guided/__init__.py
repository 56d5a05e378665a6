"""The front door: rows and a few answers in, clusters out, and an account of how."""

from likewise.guided.account import GuidedReport
from likewise.guided.clustering import GuidedClustering

__all__ = ["GuidedClustering", "GuidedReport"]
