"""The rows, classes and answers that every contestant gets, by name and seed."""

from typing import NamedTuple

import numpy as np
from sklearn.datasets import load_digits, make_blobs
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from likewise import Constraints


class Problem(NamedTuple):
    X: np.ndarray  # (n, d)
    y: np.ndarray  # (n,) the classes, seen by the scores alone
    constraints: Constraints
    n_clusters: int
    seed: int

    def write(self, path):
        """What a worker may see: all but the classes."""
        np.savez(
            path,
            X=self.X,
            must_link=self.constraints.must_link,
            cannot_link=self.constraints.cannot_link,
            odd_one_out=self.constraints.odd_one_out,
            n_clusters=self.n_clusters,
            seed=self.seed,
        )


def make_problem(data, answers, n_answers, seed):
    X, y = make_rows(data, seed)
    return Problem(X, y, draw_answers(answers, y, n_answers, seed), len(np.unique(y)), seed)


def make_rows(data, seed):
    """The rows and classes that a name such as "blobs, n = 2,000" stands for."""
    name, _, size = data.partition(", n = ")
    n_samples = int(size.replace(",", "")) if size else None
    if name == "blobs":
        X, y = make_blobs(n_samples, 10, centers=10, cluster_std=4.0, random_state=seed)
        return StandardScaler().fit_transform(X), y
    X, y = load_digits(return_X_y=True)
    if name == "digits":
        return X, y
    if name == "digits/16":
        return X / 16, y
    if name == "digits/16, 20 components":
        return PCA(20, random_state=0).fit_transform(X / 16), y
    if name == "noisy digits":  # more distinct rows than the 1,797 images
        rng = np.random.default_rng(seed)
        drawn = rng.integers(len(X), size=n_samples)
        return X[drawn] / 16 + rng.normal(scale=0.05, size=(n_samples, 64)), y[drawn]
    raise ValueError(f"no data set is called {data!r}.")


def draw_answers(answers, y, n_answers, seed):
    half = n_answers // 2
    if answers == "pairs":
        return Constraints.from_labels(
            y, n_must_link=half, n_cannot_link=n_answers - half, random_state=seed
        )
    if answers == "triples":
        return Constraints.from_labels(y, n_odd_one_out=n_answers, random_state=seed)
    if answers == "disjoint pairs":  # every row in one pair: as many distinct points as can be
        pairs = np.random.default_rng(seed).permutation(len(y))[: 2 * n_answers].reshape(-1, 2)
        same = y[pairs[:, 0]] == y[pairs[:, 1]]
        return Constraints(len(y), must_link=pairs[same], cannot_link=pairs[~same])
    raise ValueError(f"no kind of answers is called {answers!r}.")
