"""Who can be trusted, where several people answered: before anything is learned from their answers.

    chance of an answer = (1 - e_a) softmax + e_a / number of options        of person a

is learned by `ChoiceKernel(annotator_noise=True)` over the prepared rows, from pairs, triples and
groups alike, each answer judged by what was learned without it. The answers of somebody who is
about as good as guessing are set aside, all of them; of somebody who often slips, those that are
more likely slips than meant. People who are as reliable as the best keep all their answers, but
pairs that others contradict at least as often.

Once there are clusters, somebody may turn out to see them differently: to join two of them, or to
split one (`seen_differently`). Then these answers, and no others of theirs, are set aside, and the
clusters are made again: they are those of the others.
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import issparse

from likewise.constraints import Constraints
from likewise.evaluation import Difference, people_agreement, seen_differently
from likewise.guided.outcome import Outcome
from likewise.kernel_learning import ChoiceKernel

LEAST_ANSWERS = 10  # of a person of whom anything can be said
LEAST_RELIABLE = 0.4  # of the most reliable one's: below, all answers are set aside
RELIABLE = 0.85  # of it: from there on, none
MOST_ANSWERS = 3000  # that reliabilities are learned from
MOST_NAMED = 20  # people in camps, that a sentence has room for


class People(NamedTuple):
    """How reliable everybody is, and which answers to learn from."""

    names: np.ndarray  # (n_annotators,)
    reliabilities: np.ndarray  # (n_annotators,) share of answers that were meant; nan: too few
    is_kept: np.ndarray  # (n_answers,)


def judge_people(X: np.ndarray, answers: Constraints, seed: int) -> People | None:
    """Reliabilities, and the answers to keep; None where fewer than two people can be judged."""
    if answers.annotators is None or answers.n_answers == 0:
        return None
    names, who = np.unique(answers.annotators.astype(str), return_inverse=True)
    counts = np.bincount(who, weights=answers.weights > 0)
    if np.count_nonzero((counts >= LEAST_ANSWERS) & (names != "")) < 2:
        return None
    drawn = np.arange(answers.n_answers)
    if len(drawn) > MOST_ANSWERS:
        drawn = np.sort(np.random.default_rng(seed).choice(drawn, MOST_ANSWERS, replace=False))
    heard = answers.subset(drawn)
    rows = heard.touched_rows()
    space = ChoiceKernel(start="linear", annotator_noise=True, tol=1e-3, random_state=seed)
    space.fit(X[rows], constraints=heard.restrict(rows))
    found = dict(zip(space.annotators_.tolist(), space.reliabilities_.tolist()))
    reliabilities = np.array([found.get(name, np.nan) for name in names.tolist()])
    reliabilities[counts < LEAST_ANSWERS] = np.nan
    share = np.nan_to_num(reliabilities / np.nanmax(reliabilities), nan=1.0)
    is_slip = np.zeros(answers.n_answers, dtype=bool)
    is_slip[drawn[space.slips_]] = True
    is_kept = (share[who] >= LEAST_RELIABLE) & ~(is_slip & (share[who] < RELIABLE))
    is_kept &= ~outvoted_pairs(answers, is_kept)
    return People(names, reliabilities, is_kept)


def outvoted_pairs(answers: Constraints, counts: np.ndarray) -> np.ndarray:
    """(n_answers,) pairs of which others say the opposite at least as often, by those that count.

    One wrong must-link joins two groups for good, and a tie says nothing.
    """
    at = answers.positions("must_link", "cannot_link")
    pairs, sign = answers.signed_pairs()
    questions = np.unique(np.sort(pairs, axis=1), axis=0, return_inverse=True)[1].reshape(-1)
    votes = np.bincount(questions, weights=sign * answers.weights[at] * counts[at])
    is_asked_twice = np.bincount(questions)[questions] > 1
    is_outvoted = np.zeros(answers.n_answers, dtype=bool)
    is_outvoted[at] = is_asked_twice & (votes[questions] * sign <= 0)
    return is_outvoted


def set_views_aside(people: People, labels: np.ndarray, X, answers: Constraints) -> People:
    """Who sees clusters differently keeps all answers but those that say so."""
    is_kept, whose = people.is_kept.copy(), np.array(answers.annotators, dtype=str)
    differences = seen_differently(labels, answers, None if issparse(X) else X)
    for difference in differences:
        is_kept[whose == difference.name] = True
    for difference in differences:
        is_kept[difference.answers] = False
    return people._replace(is_kept=is_kept)


def put_back(outcome: Outcome, is_kept: np.ndarray) -> Outcome:
    """What was learned from some answers, in terms of all of them; the others are doubtful."""
    kept = np.flatnonzero(is_kept)
    pulls, credits = np.zeros(len(is_kept)), np.zeros(len(is_kept))
    pulls[kept], credits[kept] = outcome.pulls, outcome.choice.credits
    doubtful = np.append(np.flatnonzero(~is_kept), kept[outcome.doubtful])
    choice = outcome.choice._replace(credits=credits)
    return outcome._replace(choice=choice, pulls=pulls, doubtful=doubtful)


def describe_people(people: People | None, labels: np.ndarray, X, answers: Constraints) -> str:
    """Everybody with their reliability, the least reliable first, who sees clusters differently,
    and camps; "" where nobody was judged."""
    if people is None:
        return ""
    differences = seen_differently(labels, answers, None if issparse(X) else X)
    order = np.argsort(people.reliabilities, kind="stable")
    best = np.nanmax(people.reliabilities)
    other_views = {difference.name for difference in differences}
    parts = []
    for i in order:
        name, reliability = people.names[i], people.reliabilities[i]
        if np.isnan(reliability):
            continue
        is_out = reliability < LEAST_RELIABLE * best and name not in other_views
        note = ", about as good as guessing: set aside" if is_out else ""
        parts.append(f"{name or 'unnamed'} {reliability:.0%}{note}")
    parts += [describe_difference(difference) for difference in differences]
    return "; ".join([*parts, *describe_camps(answers)])


def describe_difference(difference: Difference) -> str:
    """What somebody sees differently, and how many answers say so."""
    first, *others = difference.clusters
    seen = f"clusters {first} and {others[0]} as one" if others else f"cluster {first} as two"
    return f"{difference.name} sees {seen} ({len(difference.answers)} answers say so)"


def describe_camps(answers: Constraints) -> list[str]:
    """The camps that people form, where there are some."""
    found = people_agreement(answers)
    if len(found.names) > MOST_NAMED or found.camps.max(initial=-1) < 1:
        return []
    camps = [", ".join(found.names[found.camps == camp]) for camp in range(found.camps.max() + 1)]
    return [f"camps by the questions they share: {' | '.join(camps)}"]
