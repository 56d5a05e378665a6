"""Rows and a few answers in, clusters out, and a report on how they were found."""

from likewise.guided.account import GuidedReport
from likewise.guided.answer_check import (
    AnswerCheck,
    DoubtfulAnswers,
    check_answers,
    doubtful_answers,
)
from likewise.guided.clustering import GuidedClustering
from likewise.guided.preparation import fit_scaler

__all__ = [
    "AnswerCheck",
    "DoubtfulAnswers",
    "GuidedClustering",
    "GuidedReport",
    "check_answers",
    "doubtful_answers",
    "fit_scaler",
]
