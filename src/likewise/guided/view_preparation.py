"""Several feature tables side by side, prepared as one: equal lengths, weights by the answers."""

import numpy as np

from likewise.constraints import Constraints
from likewise.guided.preparation import Preparation
from likewise.kernel_learning import JoinedViews


def prepare_views(X: np.ndarray, views, answers: Constraints) -> Preparation:
    """The views joined (`JoinedViews`), and a sentence on their weights."""
    joined = JoinedViews(views).fit(X, constraints=answers)
    shares = ", ".join(f"{weight:.0%}" for weight in joined.weights_)
    by_answers = joined.n_answers_used_ > 0
    chosen_by = "by the answers" if by_answers else "equal, for lack of answers"
    why = f"{len(joined.weights_)} tables joined, with weights {shares}: {chosen_by}"
    return Preparation("views", joined.map_, why, by_answers, joined.weights_)
