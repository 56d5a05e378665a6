"""Questions worth a click: what is known, what to ask next, and what an answer says."""

from likewise.labeling.knowledge import Knowledge, Walks, learn_quickly
from likewise.labeling.questions import Question

__all__ = [
    "Knowledge",
    "Question",
    "Walks",
    "learn_quickly",
]
