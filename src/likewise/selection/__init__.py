"""Which answers matter: those worth keeping of many, and the questions worth asking next."""

from likewise.selection.informative import SelectedConstraints, select_constraints
from likewise.selection.question_search import Question, next_questions

__all__ = ["Question", "SelectedConstraints", "next_questions", "select_constraints"]
