"""Which answers matter: the most useful ones of many, and the questions to ask next."""

from likewise.selection.informative import SelectedConstraints, select_constraints
from likewise.selection.landscape import take_rows
from likewise.selection.question_search import ProposedQuestion, next_questions

__all__ = [
    "ProposedQuestion",
    "SelectedConstraints",
    "next_questions",
    "select_constraints",
    "take_rows",
]
