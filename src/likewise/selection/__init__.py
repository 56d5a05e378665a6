"""Which answers matter: those worth keeping of many, and the questions worth asking next."""

from likewise.selection.informative import Selected, select_constraints
from likewise.selection.questions import Question, next_questions

__all__ = ["Question", "Selected", "next_questions", "select_constraints"]
