"""Random constraint sets for the property tests and the soak."""

import numpy as np

from likewise.constraints import Constraints

KINDS = ("must_link", "cannot_link", "odd_one_out", "closer", "undecided", "undecided_pair")
LETTERS = list("ab ,\"'\n\r;é\t0") + ["nan", "-1"]


def draw_constraints(rng: np.random.RandomState, max_rows: int = 12, max_answers: int = 12):
    """A valid set: any kinds, repeats and contradictions, with or without the optional columns."""
    n = rng.randint(3, max_rows + 1)
    answers = {}
    for kind in KINDS:
        width = 2 if kind.endswith(("link", "pair")) else 3
        count = rng.randint(0, max_answers // 3 + 1)
        answers[kind] = [rng.choice(n, size=width, replace=False) for _ in range(count)]
    m = sum(map(len, answers.values()))
    ids = None
    if rng.rand() < 0.5:
        ids = ["".join(rng.choice(LETTERS, size=rng.randint(1, 4))) + f"#{i}" for i in range(n)]
    names = ["", "ann", "bob, jr", 'c"']
    times = ["", "2026-01-31T12:00:00.000001", "1999-12-31", "2026-05-01T10:00:00+02:00"]
    return Constraints(
        n,
        **answers,
        weights=rng.rand(m) * 10 ** rng.uniform(-20, 20) if rng.rand() < 0.5 else None,
        annotators=rng.choice(names, size=m) if rng.rand() < 0.5 else None,
        asked_at=list(rng.choice(times, size=m)) if rng.rand() < 0.5 else None,
        screens=rng.choice(["", "s1", "s2", "s, 3"], size=m) if rng.rand() < 0.5 else None,
        seconds=rng.choice([np.nan, 0.0, 1.25], size=m) if rng.rand() < 0.5 else None,
        ids=ids,
    )
