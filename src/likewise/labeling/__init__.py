"""Questions worth a click: what is known, what to ask next, and what an answer says."""

from likewise.labeling.answer_constraints import constraints_from
from likewise.labeling.events import Event
from likewise.labeling.knowledge import Knowledge, Walks, learn_quickly
from likewise.labeling.questions import Question

__all__ = [
    "Event",
    "Knowledge",
    "Question",
    "Walks",
    "constraints_from",
    "learn_quickly",
]
