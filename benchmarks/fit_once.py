"""A fit on digits, and the wall and CPU seconds it took: python -P fit_once.py METHOD N_ROWS

It imports nothing of this folder, so that it can run an older source of likewise too.
"""

import sys
import time
import warnings

import numpy as np
from sklearn.datasets import load_digits

from likewise import ITML, NPK, SKLR, Constraints, GuidedClustering, MPCKMeans

N_PAIRS, N_TRIPLES, N_WARM = 200, 900, 100
LEAST_S = 1.0  # a shorter fit is repeated: the scheduler's turns are some hundredths of a second
METHODS = {
    "GuidedClustering": lambda: GuidedClustering(10, random_state=0),
    "SKLR": lambda: SKLR(random_state=0),
    "ITML": lambda: ITML(random_state=0),
    "NPK": NPK,
    "MPCKMeans": lambda: MPCKMeans(10, random_state=0),
}


def fit(name, n_rows):
    X, y = (array[:n_rows] for array in load_digits(return_X_y=True))
    share = len(X) / 1000 if name == "SKLR" else len(X) / 1797
    counts = {"n_odd_one_out": N_TRIPLES} if name == "SKLR" else {"n_pairs": N_PAIRS}
    counts = {kind: max(20, int(share * count)) for kind, count in counts.items()}
    answers = Constraints.from_labels(y, **counts, random_state=0)
    began, n_fits = np.array([time.perf_counter(), time.process_time()]), 0
    while True:
        METHODS[name]().fit(X, constraints=answers)
        n_fits += 1
        spent = [time.perf_counter(), time.process_time()] - began
        if spent[1] >= LEAST_S:
            return spent / n_fits


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    method, rows = sys.argv[1], int(sys.argv[2])
    fit(method, min(rows, N_WARM))  # imports and compiled loops are not counted
    print(*fit(method, min(rows, 1000) if method == "SKLR" else rows))
