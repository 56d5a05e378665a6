"""A long run of random constraint sets: no crash but the named errors, no law broken.

    python tests/soak_constraints.py --sets 1000000

One set in five is valid and must pass every law; the others are damaged and must end in one
ValueError (or TypeError) of one line, or hold every answer given. Prints the first seed that fails,
and stops there.
"""

import argparse
import pickle
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

from likewise.constraints import Constraints
from tests.constraints.strategies import KINDS, draw_constraints

VALID_EVERY = 5  # a valid set goes through closure, conflicts and splits: milliseconds
FILES_EVERY = 100  # and files are slower still
JUNK = (None, -1, 10**9, 10**30, 1.5, float("nan"), "x", True, [], (0,), object())


def check_valid(rng: np.random.RandomState, folder: Path, with_file: bool) -> None:
    c = draw_constraints(rng)
    assert pickle.loads(pickle.dumps(c)) == c
    conflicts = c.conflicts()
    for conflict in conflicts:
        assert conflict.witness
        assert str(conflict)
    split = c.split(rng.rand(), random_state=rng)
    kept = split.fit_part.n_answers + split.held_out.n_answers
    assert kept + split.n_implied == c.n_answers
    assert c.restrict(rng.permutation(c.n_samples)).n_answers == c.n_answers
    assert (c + c).n_answers == 2 * c.n_answers
    if with_file:
        path = folder / f"answers.{('csv', 'jsonl', 'parquet')[rng.randint(3)]}"
        c.write(path)
        assert Constraints.read(path, n_samples=c.n_samples, ids=c.ids) == c


def check_damaged(rng: np.random.RandomState) -> None:
    """Junk where answers should be: a named error, or a set that holds every answer given."""
    n = rng.randint(0, 6)
    answers: dict = {kind: [] for kind in KINDS}
    for _ in range(rng.randint(1, 4)):
        width = rng.randint(0, 5)
        cells = [
            JUNK[rng.randint(len(JUNK))] if rng.rand() < 0.2 else int(rng.randint(-1, 7))
            for _ in range(width)
        ]
        answers[KINDS[rng.randint(5)]].append(tuple(cells))
    weights = None if rng.rand() < 0.5 else [JUNK[rng.randint(len(JUNK))]] * rng.randint(0, 3)
    try:
        c = Constraints(n, **answers, weights=weights)
    except (ValueError, TypeError) as error:
        if "\n" in str(error):
            raise AssertionError(f"an error of several lines: {error}") from error
        return
    given = [points for kind in KINDS for points in answers[kind]]
    assert [answer.points for answer in c.answers()] == given


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=1_000_000)
    parser.add_argument("--first-seed", type=int, default=0)
    options = parser.parse_args()
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(options.first_seed, options.first_seed + options.sets):
            rng = np.random.RandomState(seed)
            try:
                if seed % VALID_EVERY:
                    check_damaged(rng)
                else:
                    check_valid(rng, Path(folder), with_file=seed % FILES_EVERY == 0)
            except BaseException:
                sys.stderr.write(f"seed {seed}:\n")
                raise
            if seed % 50_000 == 49_999:
                sys.stderr.write(f"{seed + 1} sets, {time.monotonic() - started:.0f} s\n")
    sys.stdout.write(f"{options.sets} random constraint sets: no crash but the named errors\n")


if __name__ == "__main__":
    main()
