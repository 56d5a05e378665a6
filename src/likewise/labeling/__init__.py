"""Questions worth a click: what is known, what to ask next, and what an answer says."""

from likewise.labeling.answer_constraints import constraints_from, events_from
from likewise.labeling.event_log import EventLog, RowNames, SetAside
from likewise.labeling.events import Event
from likewise.labeling.knowledge import Knowledge, Walks, learn_quickly
from likewise.labeling.oracles import LabelOracle, Oracle, ask
from likewise.labeling.placed_share import PlacedShare, estimate_placed
from likewise.labeling.questions import Question
from likewise.labeling.session import LabelingSession, Progress
from likewise.labeling.settled_groups import Settled, settle_groups
from likewise.labeling.what_to_ask import choose_question

__all__ = [
    "Event",
    "EventLog",
    "Knowledge",
    "LabelOracle",
    "LabelingSession",
    "Oracle",
    "PlacedShare",
    "Progress",
    "Question",
    "RowNames",
    "SetAside",
    "Settled",
    "Walks",
    "ask",
    "choose_question",
    "constraints_from",
    "estimate_placed",
    "events_from",
    "learn_quickly",
    "settle_groups",
]
