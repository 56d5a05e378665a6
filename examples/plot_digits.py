"""
Digits before and after some answers
====================================

k-means sees pixels. Two hundred answers, "these two belong together" and "these two don't", are
enough to learn which pixels matter.
"""

import matplotlib.pyplot as plt
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from likewise import ITML, Constraints
from likewise.datasets import load_digits

digits = load_digits()
X, y = digits.X / 16, digits.y
answers = Constraints.from_labels(y, n_must_link=100, n_cannot_link=100, random_state=0)

# %%
# Learn the metric and look at the same k-means in both spaces.
space = ITML(random_state=0).fit(X, constraints=answers)
before = KMeans(10, n_init=10, random_state=0).fit_predict(X)
after = KMeans(10, n_init=10, random_state=0).fit_predict(space.transform(X))
print(
    f"agreement with the digits: {adjusted_rand_score(y, before):.2f} before, "
    f"{adjusted_rand_score(y, after):.2f} after"
)

# %%
# The average image of every cluster.
figure, axes = plt.subplots(2, 10, figsize=(10, 2.4))
for row, labels in zip(axes, (before, after)):
    for cluster, axis in enumerate(row):
        axis.imshow(X[labels == cluster].mean(axis=0).reshape(8, 8), cmap="gray_r")
        axis.set_axis_off()
axes[0, 0].set_title("before", loc="left")
axes[1, 0].set_title("after", loc="left")

# %%
# Which pixels the answers made important: the diagonal of the metric.
plt.figure(figsize=(2.5, 2.5))
plt.imshow(space.metric_.diagonal().reshape(8, 8), cmap="magma")
plt.axis("off")
plt.title("weight of each pixel")
plt.show()
