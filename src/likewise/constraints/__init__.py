"""People's answers about the rows: one frozen type, what it implies, and its contradictions."""

from likewise.constraints.check import (
    check_constraints,
    check_strength,
    fit_and_label,
    refuse_answers_as_y,
    warn_unused,
)
from likewise.constraints.closure import Closure, close, link_graph
from likewise.constraints.conflicts import Conflict, Conflicts, InconsistentConstraints
from likewise.constraints.constraints import Constraints
from likewise.constraints.labels import check_all_labelled
from likewise.constraints.other_tools import read_dedupe_training, read_splink_labels
from likewise.constraints.quality import coherence, informativeness
from likewise.constraints.splitting import Split
from likewise.constraints.table import Answer

__all__ = [
    "Answer",
    "Closure",
    "Conflict",
    "Conflicts",
    "Constraints",
    "InconsistentConstraints",
    "Split",
    "check_all_labelled",
    "check_constraints",
    "check_strength",
    "close",
    "coherence",
    "fit_and_label",
    "informativeness",
    "link_graph",
    "read_dedupe_training",
    "read_splink_labels",
    "refuse_answers_as_y",
    "warn_unused",
]
