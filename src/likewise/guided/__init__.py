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
from likewise.guided.preparation import PREPARATIONS, Preparation, fit_preparation
from likewise.guided.raw_rows import fit_features

__all__ = [
    "PREPARATIONS",
    "AnswerCheck",
    "DoubtfulAnswers",
    "GuidedClustering",
    "GuidedReport",
    "Preparation",
    "check_answers",
    "doubtful_answers",
    "fit_features",
    "fit_preparation",
    "sharpen",
]
