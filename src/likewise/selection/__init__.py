"""Which answers matter: those worth keeping of many, and the questions worth asking next."""

from likewise.selection.questions import Question, next_questions

__all__ = ["Question", "next_questions"]
