"""cobras-ts 0.1.3 asking its own questions: labels after given numbers of answers.

    python -P benchmarks/peers/cobras-ts.py < jobs.jsonl

A job is a JSON line: a .npz file with X and y, a seed, how many answers it may have, after how many
labels are wanted, the share of wrong answers, and where to leave the labels. One line comes back
for each. COBRAS is not told how many clusters there are, and it has no "can't tell".
"""

import json
import sys
import time

import numpy as np
from cobras_ts.cobras_kmeans import COBRAS_kmeans


class Annotator:
    """Knows the classes, and errs in a share of the answers.

    It has the methods of a querier of cobras_ts, but no base class: importing that opens a GUI.
    """

    def __init__(self, y, noise, rng):
        self.y, self.noise, self.rng = y, noise, rng

    def query_points(self, idx1, idx2):
        return bool(self.y[idx1] == self.y[idx2]) != (self.rng.uniform() < self.noise)

    def continue_cluster_process(self):
        return True

    def update_clustering(self, clustering):
        pass


def run(job):
    np.random.seed(job["seed"])  # noqa: NPY002  its k-means takes no seed
    data = np.load(job["data_file"])
    X, y = data["X"], data["y"]
    annotator = Annotator(y, job["noise"], np.random.default_rng(job["seed"]))
    began = time.process_time()
    asked = COBRAS_kmeans(X, annotator, job["n_answers"])
    final, steps, _, must_link, cannot_link = asked.cluster()
    labels = [steps[min(n, len(steps)) - 1] for n in job["after"]]
    if job["after"][-1] >= len(steps):
        labels[-1] = final.construct_cluster_labeling()
    np.save(job["labels_file"], np.array(labels))
    seconds = time.process_time() - began
    return {"n_answers": len(must_link) + len(cannot_link), "seconds": seconds}


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(run(json.loads(line))), flush=True)
