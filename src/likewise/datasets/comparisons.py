"""People's answers as `Constraints`, where the translation is exact.

    file                          an answer says                         becomes
    triplets_things_odd_one_out   (a, b, c): c is the odd one out        odd_one_out (a, b, c)
    triplets_food100              (a, b, c): b is closer to a than c is  closer (a, b, c)
    triplets_zappos_shoes85       the same                               the same
    triplets_music412             the same                               the same
    triplets_materials100         (r, a, b), votes (m, n): m people      m times closer (r, a, b),
                                  found a closer to r, n people b        n times closer (r, b, a)
    triplets_cars60_most_central  (a, b, c): a is the most central:      closer (b, a, c),
                                  d(a, b) and d(a, c) are < d(b, c)      closer (c, a, b)
    randel_ssc_constraints        (i, j, s): s = 1 or -1                 must_link or cannot_link

Several rows can come from one answer (food: one `screen_id`; cars: the two halves of a row), so
they are not independent. Repeated answers are kept: they are votes. An answer that names one object
twice is left out: 17 of the 9,107 on music, and no others.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from likewise.constraints import Constraints
from likewise.datasets.dataset import Dataset


class Meaning(NamedTuple):
    says: str
    n_rows: Mapping[str, int]  # of the data that each array of answers refers to
    people: Mapping[str, tuple[str, str]] = {}  # array of answers: (what a person is, who it was)


_ONE = "triplets"
_CARS = (_ONE, "subset_ALL", "subset_ALL_REDUCED", "subset_T_ALL", "subset_T_ALL_REDUCED")
_THINGS = {
    _ONE: ("subject", "subject"),
    "triplets_subjects0to9_more": ("subject", "subject_subjects0to9_more"),
    "repeated_triplets": ("repeated subject", "repeated_subject"),  # other people, other numbers
}
# The sets whose rows randel's pairs number; "optical" is the first 3,823 rows of optdigits.
_RANDEL = {
    "balance": 625, "control": 600, "ionosphere": 351, "iris": 150, "optical": 3823,
    "protein": 116, "soybean": 47,
}  # fmt: skip

MEANINGS = {
    "triplets_things_odd_one_out": Meaning("odd", dict.fromkeys(_THINGS, 1854), _THINGS),
    "triplets_food100": Meaning("closer", {_ONE: 100}, {_ONE: ("worker", "worker_id")}),
    "triplets_zappos_shoes85": Meaning("closer", {_ONE: 85}),
    "triplets_music412": Meaning("closer", {_ONE: 412}),
    "triplets_materials100": Meaning("votes", {_ONE: 100, "test_triplets": 100}),
    "triplets_cars60_most_central": Meaning(
        "central", dict.fromkeys(_CARS, 60), {_ONE: ("round", "round_id")}
    ),
    "randel_ssc_constraints": Meaning(
        "pairs", {f"{name}{k}": n for name, n in _RANDEL.items() for k in (1, 2)}
    ),
}


def constraints_of(data: Dataset, which: str = "triplets") -> Constraints:
    """Turn the answers in a fetched set into constraints, adding nothing to what people said.

    Parameters
    ----------
    data : Dataset
        A set of answers from `fetch`: one of `likewise.datasets.comparisons.MEANINGS`.
    which : str, default="triplets"
        Which array of `data.extras` to translate.

    Returns
    -------
    Constraints
        On the objects of the set, in the order of the file, with annotators where they are known.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.datasets import Dataset, constraints_of
    >>> cars = Dataset("triplets_cars60_most_central", extras={"triplets": np.array([[7, 8, 9]])})
    >>> for answer in constraints_of(cars).answers():  # without round_id, nobody is named
    ...     print(answer.kind, answer.points)
    closer (8, 7, 9)
    closer (9, 7, 8)
    """
    meaning = MEANINGS.get(data.name)
    if meaning is None:
        known = ", ".join(MEANINGS)
        raise ValueError(f"The data set {data.name!r} has no answers by people. These do: {known}.")
    if which not in meaning.n_rows or which not in data.extras:
        known = ", ".join(name for name in meaning.n_rows if name in data.extras)
        raise ValueError(
            f"which = {which!r}: {data.name} has no such answers on data we have. Choose {known}."
        )
    n_rows, answers = meaning.n_rows[which], data.extras[which]
    who = None
    if which in meaning.people and meaning.people[which][1] in data.extras:
        person, column = meaning.people[which]
        who = np.array([f"{person} {number}" for number in data.extras[column].tolist()])
    if meaning.says == "odd":
        return Constraints(n_rows, odd_one_out=answers, annotators=who)
    if meaning.says == "closer":
        a, b, c = answers.T
        distinct = (a != b) & (a != c) & (b != c)
        answers, who = answers[distinct], None if who is None else who[distinct]
        return Constraints(n_rows, closer=answers, annotators=who)
    if meaning.says == "central":
        halves = answers[:, [1, 0, 2, 2, 0, 1]].reshape(-1, 3)
        return Constraints(
            n_rows, closer=halves, annotators=None if who is None else np.repeat(who, 2)
        )
    if meaning.says == "votes":
        both = answers[:, [0, 1, 2, 0, 2, 1]].reshape(-1, 3)
        votes = data.extras[which.replace("triplets", "votes")].reshape(-1)
        return Constraints(n_rows, closer=np.repeat(both, votes, axis=0))
    together = answers[:, 2] > 0
    return Constraints(n_rows, must_link=answers[together, :2], cannot_link=answers[~together, :2])
