"""What answers cost a clustering: prices, metrics that fit, answers to doubt, points to move."""

from likewise.duals.checking import AnswerCheck, check_answers
from likewise.duals.dissimilarity import dissimilarity_matrix
from likewise.duals.filtering import Filtered, Suspects, filter_constraints, suspect_answers
from likewise.duals.fitness import MetricFitness, fitness_of_sets, metric_fitness
from likewise.duals.moving import MovedPoints, move_points
from likewise.duals.prices import ConstraintPrices, constraint_prices

__all__ = [
    "AnswerCheck",
    "ConstraintPrices",
    "Filtered",
    "MetricFitness",
    "MovedPoints",
    "Suspects",
    "check_answers",
    "constraint_prices",
    "dissimilarity_matrix",
    "filter_constraints",
    "fitness_of_sets",
    "metric_fitness",
    "move_points",
    "suspect_answers",
]
