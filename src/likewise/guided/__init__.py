"""Rows and a few answers in, clusters out, and a report on how they were found."""

from likewise.guided.answer_check import (
    AnswerCheck,
    DoubtfulAnswers,
    check_answers,
    doubtful_answers,
)
from likewise.guided.guided_clustering import GuidedClustering
from likewise.guided.guided_report import GuidedReport
from likewise.guided.known_groups import sharpen
from likewise.guided.preparation import fit_reducer, fit_scaler, preparation_map
from likewise.guided.raw_rows import fit_features

__all__ = [
    "AnswerCheck",
    "DoubtfulAnswers",
    "GuidedClustering",
    "GuidedReport",
    "check_answers",
    "doubtful_answers",
    "fit_features",
    "fit_reducer",
    "fit_scaler",
    "preparation_map",
    "sharpen",
]
