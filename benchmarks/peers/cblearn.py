"""cblearn 0.4.0: embeddings from comparisons alone (see benchmarks/worker.py, embeddings.py).

The dimension is chosen by answers held out inside those to learn from, as our strength is.
"""

import numpy as np
from cblearn import embedding

PACKAGES = ("cblearn", "scikit-learn", "numpy", "scipy")
DIMENSIONS = (2, 5, 10)


def CKL(problem):
    return embed(embedding.CKL, problem)


def TSTE(problem):
    return embed(embedding.TSTE, problem)


def SOE(problem):
    return embed(embedding.SOE, problem)


def embed(method, problem):
    closer, is_inner, seed = problem["closer"], problem["is_inner"], int(problem["seed"])
    n_objects = int(problem["n_objects"])
    found = {}

    def place(answers, n_components):
        model = method(n_components=n_components, random_state=seed)
        return model.fit(answers, n_objects=n_objects).embedding_

    def fit():
        right = [share_right(place(closer[~is_inner], k), closer[is_inner]) for k in DIMENSIONS]
        found["Z"] = place(closer, DIMENSIONS[int(np.argmax(right))])

    return fit, lambda: {"Z": found["Z"]}


def share_right(Z, closer):
    a, b, c = Z[closer.T]
    return np.mean(np.square(a - b).sum(axis=1) < np.square(a - c).sum(axis=1))
