"""Linear metrics from answers: ITML and MMC (pairs), RCA (must-links), LSML (triples)."""

from likewise.metric_learning.itml import ITML, project_onto_pairs
from likewise.metric_learning.lsml import LSML
from likewise.metric_learning.mmc import MMC
from likewise.metric_learning.rca import RCA

__all__ = [
    "ITML",
    "LSML",
    "MMC",
    "RCA",
    "project_onto_pairs",
]
