"""
Many rows: a file larger than you would load
============================================

Answers refer to a few hundred rows, however many there are. The space is learned from those and a
sample; all other rows are only mapped, a block at a time, from the file they are in.

This page is built with 200,000 rows. Set ``N_ROWS`` to a million, or to a hundred million: the
memory use hardly grows, and the time grows with the file.
"""

import resource
import tempfile
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import MiniBatchKMeans
from sklearn.metrics import adjusted_rand_score

from likewise import ITML, Constraints, GuidedClustering, scale

N_ROWS = 200_000
N_FEATURES = 20
folder = Path(tempfile.mkdtemp())

# %%
# The rows, written block by block. Three features separate the classes; the other seventeen vary
# more, and say nothing about them.
rng = np.random.default_rng(0)
centers = 3 * np.array([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)])
y = rng.integers(len(centers), size=N_ROWS)
shape = (N_ROWS, N_FEATURES)
X = np.lib.format.open_memmap(folder / "rows.npy", mode="w+", dtype=np.float32, shape=shape)
for start in range(0, N_ROWS, 50_000):
    block = slice(start, min(start + 50_000, N_ROWS))
    X[block] = 5 * rng.normal(size=X[block].shape)
    X[block, :3] = centers[y[block]] + rng.normal(size=X[block, :3].shape)
X.flush()
print(f"{N_ROWS:,} rows, {(folder / 'rows.npy').stat().st_size / 1e6:.0f} MB")

# %%
# Without answers, the features that vary most win.
before = MiniBatchKMeans(len(centers), n_init=3, random_state=0).fit_predict(X)
print(f"k-means: {adjusted_rand_score(y, before):.2f}")

# %%
# 300 answers, and one call on the path of the file.
answers = Constraints.from_labels(y, n_pairs=300, random_state=0)
started = time.perf_counter()
model = GuidedClustering(len(centers), random_state=0)
model.fit(folder / "rows.npy", constraints=answers)
seconds = time.perf_counter() - started
print(f"likewise: {adjusted_rand_score(y, model.labels_):.2f}, in {seconds:.0f} s")
print(model.report_.why)

# %%
# The same by hand, if you want one particular space: learn it from the rows of the answers and a
# sample, map the file into another file, and cluster that in blocks.
space = scale.fit(ITML(random_state=0), folder / "rows.npy", constraints=answers, random_state=0)
Z = scale.transform(space, folder / "rows.npy", out=folder / "mapped.npy")
clusters = scale.BlockKMeans(len(centers), n_init=3, random_state=0).fit(folder / "mapped.npy")
print(f"{type(Z).__name__} of shape {Z.shape}")
print(f"ITML, then k-means: {adjusted_rand_score(y, clusters.labels_):.2f}")
print(f"peak memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:.0f} MB")

# %%
# Some of the rows before and after, by class.
some = rng.choice(N_ROWS, 2000, replace=False)
figure, axes = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
for axis, rows, title in zip(axes, (X[some], Z[some]), ("features", "learned")):
    u, s, _ = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
    axis.scatter(*(u * s)[:, :2].T, c=y[some], cmap="tab10", s=4)
    axis.set(title=title, xticks=[], yticks=[])
plt.show()

# %%
# Parquet files and Dask arrays work the same way, and ``client=`` sends the blocks to a cluster;
# ``device="cuda"`` maps them on a GPU. The guide has a page about it.
