"""COBRAS, which asks its own pairs, in an environment that benchmarks/environments.py makes."""

import json
import subprocess
import tempfile
from collections.abc import Sequence

import numpy as np

from benchmarks.environments import PEERS, python_of


def ask_cobras(X: np.ndarray, y: np.ndarray, after: Sequence[int], seed: int) -> np.ndarray:
    """Labels (len(after), n) by cobras-ts 0.1.3 after so many pairs, answered by the classes `y`.

    It is not told how many clusters there are.
    """
    with tempfile.TemporaryDirectory() as folder:
        problem, outcome = f"{folder}/problem.npz", f"{folder}/labels.npy"
        np.savez(problem, X=X, y=y)
        job = {
            **{"data_file": problem, "labels_file": outcome, "seed": seed, "noise": 0.0},
            **{"n_answers": max(after), "after": list(after)},
        }
        command = [python_of("cobras-ts"), "-P", "-W", "ignore", PEERS / "cobras-ts.py"]
        subprocess.run(
            command, input=json.dumps(job), text=True, check=True, stdout=subprocess.DEVNULL
        )
        return np.load(outcome)
