"""What answers cost a clustering: prices, metrics that fit, answers to doubt, points to move."""

from likewise.duals.centroid_prices import price_by_climbing, price_by_lp, split_groups
from likewise.duals.dissimilarity import dissimilarity_matrix
from likewise.duals.filtering import (
    CostlyAnswers,
    FilteredConstraints,
    costly_answers,
    filter_constraints,
)
from likewise.duals.fitness import METRICS, MetricFitness, fitness_of_sets, metric_fitness
from likewise.duals.moved_points import MovedPoints, move_points
from likewise.duals.optimality import OptimalityGap, optimality_gap
from likewise.duals.priced_pairs import PricedPairs, pairs_of
from likewise.duals.prices import ConstraintPrices, constraint_prices

__all__ = [
    "METRICS",
    "ConstraintPrices",
    "CostlyAnswers",
    "FilteredConstraints",
    "MetricFitness",
    "MovedPoints",
    "OptimalityGap",
    "PricedPairs",
    "constraint_prices",
    "costly_answers",
    "dissimilarity_matrix",
    "filter_constraints",
    "fitness_of_sets",
    "metric_fitness",
    "move_points",
    "optimality_gap",
    "pairs_of",
    "price_by_climbing",
    "price_by_lp",
    "split_groups",
]
