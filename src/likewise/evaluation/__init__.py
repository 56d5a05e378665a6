"""How good a clustering or a learned space is, and the one place where anything is tuned.

The adjusted Rand index is scikit-learn's ``adjusted_rand_score``, and the pair accuracy of hoi2007
(equation 11) is its ``rand_score``: use those. This room has the scores that scikit-learn lacks.
"""

from likewise.evaluation.agreement import (
    free_row_score,
    kmeans_error,
    pair_f1_score,
    separation_score,
)
from likewise.evaluation.annotators import PeopleAgreement, people_agreement
from likewise.evaluation.bound_clusterer import BoundClusterer
from likewise.evaluation.held_out import (
    answer_credits,
    beats,
    gain_and_error,
    held_out_accuracy,
    is_judgeable,
    mean_and_error,
    share_below,
)
from likewise.evaluation.percent import percent
from likewise.evaluation.resampled import (
    Interval,
    MembershipIntervals,
    accuracy_interval,
    membership_intervals,
)
from likewise.evaluation.satisfaction import (
    Satisfaction,
    satisfaction_report,
    satisfaction_score,
    satisfied_answers,
    violated_answers,
)
from likewise.evaluation.search import AnswerSearchCV, fit_keywords
from likewise.evaluation.seen_differently import Difference, seen_differently
from likewise.evaluation.select import (
    MIN_HELD_OUT,
    Rule,
    Selected,
    ahead_of_first,
    can_judge,
    count_judged,
    first_unless_ahead,
    highest_mean,
    hold_out,
    select,
    step_while_cheaper,
)
from likewise.evaluation.violations import violated_by_bounds, violated_on_average

__all__ = [
    "MIN_HELD_OUT",
    "AnswerSearchCV",
    "BoundClusterer",
    "Difference",
    "Interval",
    "MembershipIntervals",
    "PeopleAgreement",
    "Rule",
    "Satisfaction",
    "Selected",
    "accuracy_interval",
    "ahead_of_first",
    "answer_credits",
    "beats",
    "can_judge",
    "count_judged",
    "first_unless_ahead",
    "fit_keywords",
    "free_row_score",
    "gain_and_error",
    "held_out_accuracy",
    "highest_mean",
    "hold_out",
    "is_judgeable",
    "kmeans_error",
    "mean_and_error",
    "membership_intervals",
    "pair_f1_score",
    "people_agreement",
    "percent",
    "satisfaction_report",
    "satisfaction_score",
    "satisfied_answers",
    "seen_differently",
    "select",
    "separation_score",
    "share_below",
    "step_while_cheaper",
    "violated_answers",
    "violated_by_bounds",
    "violated_on_average",
]
