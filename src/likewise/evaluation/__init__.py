"""How good a clustering or a learned space is, and the one place where anything is tuned.

The adjusted Rand index is scikit-learn's ``adjusted_rand_score``, and the pair accuracy of hoi2007
(equation 11) is its ``rand_score``: use those. Here is what it does not have.
"""

from likewise.evaluation.agreement import (
    free_row_score,
    kmeans_error,
    pair_f1_score,
    separation_score,
)
from likewise.evaluation.held_out import (
    answer_credits,
    cross_credits,
    held_out_accuracy,
    is_judgeable,
)
from likewise.evaluation.satisfaction import Satisfaction, honored_answers, satisfaction_score
from likewise.evaluation.search import AnswerSearchCV, Searched, search_answers

__all__ = [
    "AnswerSearchCV",
    "Satisfaction",
    "Searched",
    "answer_credits",
    "cross_credits",
    "free_row_score",
    "held_out_accuracy",
    "honored_answers",
    "is_judgeable",
    "kmeans_error",
    "pair_f1_score",
    "satisfaction_score",
    "search_answers",
    "separation_score",
]
