"""
Images: digits before and after some answers
============================================

k-means sees only pixels, and mixes ones with eights. Two hundred answers, "these two belong
together" and "these two don't", are enough to learn which differences matter.
"""

import matplotlib.pyplot as plt
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from likewise import Constraints, GuidedClustering
from likewise.datasets import load_digits
from likewise.report import plot_map, plot_typical_rows

digits = load_digits()
X, y = digits.X / 16, digits.y
images = X.reshape(-1, 8, 8)
print(f"{len(X)} images of 8 x 8 pixels")

# %%
# The last hundred images are set aside to serve as new rows. For the others, someone answers
# questions about 200 pairs. Here the labels answer; with your own rows you would.
known, new = slice(0, -100), slice(-100, None)
answers = Constraints.from_labels(y[known], n_must_link=100, n_cannot_link=100, random_state=0)
print(answers)

# %%
# One call learns and clusters. It tries several spaces, judges each by held-out answers, and
# reports what it chose and why.
model = GuidedClustering(n_clusters=10, random_state=0).fit(X[known], constraints=answers)
print(model.report_)

# %%
# How well do the clusters agree with the digits? 1 is perfect, 0 is chance.
before = KMeans(10, n_init=10, random_state=0).fit(X[known])
print(f"k-means:  {adjusted_rand_score(y[known], before.labels_):.2f}")
print(f"likewise: {adjusted_rand_score(y[known], model.labels_):.2f}")

# %%
# The same rows before and after. The answers pull the groups apart.
figure, axes = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
plot_map(model, X[known], when="before", ax=axes[0])
plot_map(model, X[known], when="after", ax=axes[1])
plt.show()

# %%
# What is in a cluster? Its most typical images, one cluster per line.
plot_typical_rows(model, X[known], images[known])
plt.show()

# %%
# New rows go to the cluster they are nearest to in the learned space. None of these was seen
# before, and no answer was given about them.
print(f"on 100 new images: {adjusted_rand_score(y[new], model.predict(X[new])):.2f}")

# %%
# All results on one HTML page, for someone without Python::
#
#     from likewise.report import write_report
#
#     write_report("report.html", model, X[known], constraints=answers, images=images[known])
