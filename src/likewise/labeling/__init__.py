"""Questions worth a click: what is known, what to ask next, and what an answer says."""

from likewise.labeling.answer_constraints import constraints_from, links_of
from likewise.labeling.asked_again import consistency_of
from likewise.labeling.chat_oracle import ChatOracle, chat
from likewise.labeling.doubted_answers import DoubtedAnswer, doubted_answers
from likewise.labeling.event_log import EventLog, RowNames, SetAside
from likewise.labeling.events import (
    SAYING,
    UNDOABLE,
    Event,
    counted,
    in_force,
    meaning,
    now,
    what_is_asked,
)
from likewise.labeling.exchange_log import Exchange, ExchangeLog
from likewise.labeling.imported_answers import events_from
from likewise.labeling.knowledge import Knowledge, Walks, learn_quickly
from likewise.labeling.log_lock import TERMINAL, hold_log
from likewise.labeling.machine_answers import JoinedBelief, MachineBelief, join_beliefs
from likewise.labeling.oracles import LabelOracle, Oracle, ask
from likewise.labeling.placed_share import PlacedShare, estimate_placed
from likewise.labeling.question_words import TITLES, by_difference, column_spreads
from likewise.labeling.questions import (
    ACTIONS,
    ANOTHER,
    APART,
    CANT_TELL,
    KINDS,
    NAME,
    NEW,
    NOWHERE,
    TOGETHER,
    Question,
    check_kinds,
    check_question,
)
from likewise.labeling.replies import OracleStopped, Reply
from likewise.labeling.session import LabelingSession
from likewise.labeling.session_progress import Progress
from likewise.labeling.settled_groups import Settled, settle_groups
from likewise.labeling.what_to_ask import MOST_SHOWN, choose_question

__all__ = [
    "ACTIONS",
    "ANOTHER",
    "APART",
    "CANT_TELL",
    "KINDS",
    "MOST_SHOWN",
    "NAME",
    "NEW",
    "NOWHERE",
    "SAYING",
    "TERMINAL",
    "TITLES",
    "TOGETHER",
    "UNDOABLE",
    "ChatOracle",
    "DoubtedAnswer",
    "Event",
    "EventLog",
    "Exchange",
    "ExchangeLog",
    "JoinedBelief",
    "Knowledge",
    "LabelOracle",
    "LabelingSession",
    "MachineBelief",
    "Oracle",
    "OracleStopped",
    "PlacedShare",
    "Progress",
    "Question",
    "Reply",
    "RowNames",
    "SetAside",
    "Settled",
    "Walks",
    "ask",
    "by_difference",
    "chat",
    "check_kinds",
    "check_question",
    "choose_question",
    "column_spreads",
    "consistency_of",
    "constraints_from",
    "counted",
    "doubted_answers",
    "estimate_placed",
    "events_from",
    "hold_log",
    "in_force",
    "join_beliefs",
    "learn_quickly",
    "links_of",
    "meaning",
    "now",
    "settle_groups",
    "what_is_asked",
]
