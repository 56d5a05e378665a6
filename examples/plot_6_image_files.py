"""
Image files: a folder, a few answers, clusters
==============================================

A folder of images is clustered by what they look like: no network, no training. Here scikit-learn's
digits are written as PNG files first; with your own photos, begin at the second step.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

from likewise import Constraints, GuidedClustering
from likewise.features import ImageFeatures

digits = load_digits()
folder = Path(tempfile.mkdtemp())
for i, pixels in enumerate(digits.images[:400]):
    Image.fromarray((pixels * 15).astype(np.uint8)).save(folder / f"{i:03d}.png")
y = digits.target[:400]

# %%
# The folder as numbers: edges, tints and a thumbnail of every image.
X = ImageFeatures().fit_transform(folder)
pixels = digits.data[:400] / 16
for name, rows in (("pixels", pixels), ("features", X)):
    labels = KMeans(10, n_init=10, random_state=0).fit_predict(rows)
    print(f"k-means on {name}: {adjusted_rand_score(y, labels):.2f}")

# %%
# Say what thirty of the images are, and the others follow.
known = np.full(len(y), -1)
known[::13] = y[::13]
model = GuidedClustering(10, features=ImageFeatures(), random_state=0)
model.fit(folder, constraints=Constraints.from_partial_labels(known))
print(f"with {(known >= 0).sum()} labels: {adjusted_rand_score(y, model.labels_):.2f}")

figure, axes = plt.subplots(3, 8, figsize=(6, 2.4), layout="constrained")
for row, cluster in zip(axes, range(3)):
    for axis, i in zip(row, np.flatnonzero(model.labels_ == cluster)):
        axis.imshow(digits.images[i], cmap="gray_r")
    for axis in row:
        axis.axis("off")
plt.show()
