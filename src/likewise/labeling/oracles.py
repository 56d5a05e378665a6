"""Who answers: any callable that takes a question and returns one of the answers it offers.

`LabelOracle` is a person who knows a label for every row, errs now and then, and sometimes cannot
tell. It sees the question and nothing else. `chat` is a language model behind HTTP. `ask` puts a
number of questions to any of them, or to several.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from sklearn.utils import check_random_state

from likewise.constraints import check_all_labelled
from likewise.labeling.chat_oracle import ChatOracle, chat
from likewise.labeling.questions import (
    ACTIONS,
    ANOTHER,
    APART,
    CANT_TELL,
    NEW,
    TOGETHER,
    Question,
)
from likewise.labeling.session import LabelingSession
from likewise.labeling.several_oracles import ask_together, check_budgets, name_oracles, put

__all__ = ["ChatOracle", "LabelOracle", "Oracle", "ask", "chat"]


class Oracle(Protocol):
    """Anything that answers questions."""

    def __call__(self, question: Question) -> Any:
        """One of ``question.offered``; of a grid, the numbers chosen. None skips the question."""


class LabelOracle:
    """Answer questions as somebody would who knows a label for every row.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        The class of every row.
    wrong : float, default=0.0
        Share of the answers that are wrong: another of the answers offered, drawn uniformly.
    cant_tell : float, default=0.0
        Share of the questions that are answered "can't tell".
    random_state : int, RandomState instance or None, default=None

    Examples
    --------
    >>> from likewise.labeling import LabelOracle, Question
    >>> oracle = LabelOracle(["cat", "dog", "cat", "fish"])
    >>> oracle(Question("pair", (0, 2)))
    'together'
    >>> oracle(Question("group", (2,), groups=((1,), (0,))))
    1
    >>> oracle(Question("group", (3,), groups=((1,), (0,))))
    'new'
    """

    def __init__(self, y, *, wrong: float = 0.0, cant_tell: float = 0.0, random_state=None):
        for name, share in (("wrong", wrong), ("cant_tell", cant_tell)):
            if not 0 <= share <= 1:
                raise ValueError(f"{name}={share} must lie between 0 and 1.")
        self._classes = check_all_labelled(y)
        self.wrong, self.cant_tell = wrong, cant_tell
        self._rng = check_random_state(random_state)

    def __call__(self, question: Question) -> Any:
        """The answer to a question."""
        if self._rng.uniform() < self.cant_tell:
            return CANT_TELL
        right = self.right_answer(question)
        if self._rng.uniform() >= self.wrong:
            return right
        if question.kind == "grid":
            return self._other_subset(len(question.rows) - 1, right)
        others = [choice for choice in question.offered if choice not in (right, CANT_TELL)]
        return others[self._rng.randint(len(others))] if others else right

    def right_answer(self, question: Question) -> Any:
        """The answer that the labels give, "can't tell" where they do not say."""
        classes = self._classes[list(question.rows)]
        if question.kind in ACTIONS:
            return ACTIONS[question.kind]
        if question.kind == "group":
            shown = self._classes[[group[0] for group in question.groups]]
            same = np.flatnonzero(shown == classes[0])
            if len(same):
                return int(same[0])
            return ANOTHER if ANOTHER in question.offered else NEW
        if question.kind == "grid":
            return tuple(np.flatnonzero(classes[1:] == classes[0]).tolist())
        if question.kind == "odd_one_out":
            counts = (classes[:, None] == classes).sum(axis=1)
            return int(np.argmin(counts)) if sorted(counts) == [1, 2, 2] else CANT_TELL
        return TOGETHER if (classes == classes[0]).all() else APART

    def _other_subset(self, n: int, right: tuple[int, ...]) -> tuple[int, ...]:
        """Any subset of n but the right one, uniformly."""
        while True:
            drawn = tuple(np.flatnonzero(self._rng.uniform(size=n) < 0.5).tolist())
            if drawn != right:
                return drawn


def ask(
    X,
    oracle: Callable[[Question], Any]
    | Sequence[Callable[[Question], Any]]
    | Mapping[str, Callable[[Question], Any]],
    budget: int | Mapping[str, int] = 50,
    *,
    machines: Sequence[str] | None = None,
    **settings,
) -> LabelingSession:
    """Ask somebody, or something, or several of them a number of questions about the rows of X.

    Parameters
    ----------
    X : array-like, CSR, dataframe or dict of columns, of shape (n_samples, n_features)
    oracle : callable, sequence of callables or dict
        Takes a `Question` and returns one of the answers it offers, or None to skip it; a
        `Reply` where it also says how sure it is. Several answer together: machines about
        everything, people where it matters.
    budget : int or dict, default=50
        Screens to show, "can't tell" and repeats among them. Fewer are shown when nothing is left
        to learn. Of several: by name, in their order.
    machines : sequence of str, default=None
        Which of several are machines; None takes all but the last. What they say counts as far as
        people's answers agree with it, so people must be asked too.
    **settings
        Of `LabelingSession`.

    Returns
    -------
    LabelingSession
        With ``labels``, ``model``, ``constraints`` and ``progress``; it can go on.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.metrics import adjusted_rand_score
    >>> from likewise import ask
    >>> from likewise.datasets import load_digits
    >>> from likewise.labeling import LabelOracle
    >>> digits = load_digits()
    >>> X, y = digits.X[:500] / 16, np.asarray(digits.y[:500])
    >>> session = ask(X, LabelOracle(y), budget=30)
    >>> adjusted_rand_score(y, session.labels) > 0.7
    True

    A machine that takes every 8 for a 3, and a person:

    >>> machine = LabelOracle(np.where(y == 8, 3, y))
    >>> session = ask(X, [machine, LabelOracle(y)], budget={"machine": 600, "person": 30})
    >>> adjusted_rand_score(y, session.labels) > 0.9
    True
    """
    if isinstance(budget, Mapping):
        named = name_oracles([oracle] if callable(oracle) else oracle, budget)
        if machines is None:
            machines = list(named)[:-1]
        check_budgets(budget, machines)
        session = LabelingSession(X, machines=machines, **settings)
        for one in named.values():
            if isinstance(one, ChatOracle) and not one.has_log and settings.get("log") is not None:
                one.keep_in(settings["log"])
        ask_together(session, named, budget)
        return session
    if not callable(oracle):
        raise ValueError(
            'Several oracles need a budget by name, such as {"machine": 500, "ann": 50}.'
        )
    if budget < 0:
        raise ValueError(f"budget={budget} must be 0 or more.")
    session = LabelingSession(X, **settings)
    stopped: set[str] = set()
    for _ in range(budget):
        question = session.next_question()
        if question is None or stopped:
            break
        put(session, oracle, "", question, stopped)
    return session
