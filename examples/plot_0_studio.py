"""
The studio: from no answer to named clusters
============================================

``likewise studio photos/`` opens a page in your browser, which asks one short question after
another.

.. image:: /images/studio-answer.png
   :alt: A question: one digit, eight groups with a key each, progress and a map beside them

Behind the page is a session with a log. This tutorial holds such a session without the page, so
that it can be watched: the labels of the digits answer in place of a person, and, unlike at the
page, we can look up how good the clusters are.
"""

# sphinx_gallery_thumbnail_path = 'images/studio-answer.png'

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import adjusted_rand_score

from likewise import LabelingSession
from likewise.datasets import load_digits
from likewise.labeling import LabelOracle
from likewise.report import lay_out

digits = load_digits()
X, y = digits.X[:500] / 16, np.asarray(digits.y[:500])
log = Path(tempfile.mkdtemp()) / "digits-answers.log"

# %%
# **Forty questions.** Every answer is in the log before the next question comes. The page shows an
# estimate of how many rows are placed correctly, with an interval; here is what it says, and the
# truth.
person = LabelOracle(y)
session = LabelingSession(X, log=log, random_state=0)
estimates, truth = [], []
for _ in range(40):
    question = session.next_question()
    session.answer(question, person(question), annotator="ann", seconds=2.0)
    estimates.append(session.progress.placed)
    largest = [np.bincount(y[session.labels == k]).max() for k in np.unique(session.labels)]
    truth.append(np.sum(largest) / len(y))
print(session.progress)

numbers = np.arange(1, 41)
figure, axis = plt.subplots(figsize=(6, 3.2), layout="constrained")
low, high = ([getattr(placed, end) for placed in estimates] for end in ("low", "high"))
axis.fill_between(numbers, low, high, alpha=0.25, label="interval of the estimate")
axis.plot(numbers, [placed.mean for placed in estimates], label="estimate")
axis.plot(numbers, truth, "k:", label="truth")
axis.set(xlabel="answers", ylabel="rows placed correctly", ylim=(0, 1))
axis.legend()
plt.show()

# %%
# **Stop whenever you like.** The log is all there is to keep. Opened again, on the page, in the
# terminal or here, it goes on where it was; an answer can still be taken back.
session.close()
session = LabelingSession(X, log=log, random_state=0)
session.undo()
print(f"{session.progress.n_questions} answers, {session.progress.n_groups} groups")

# %%
# **The map** of the page, before the first answer and now: colors are clusters.
model = session.model
figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
start = lay_out(X)
places = (start, lay_out(model.transform(X), previous=start))
for axis, at, labels, title in zip(
    axes, places, (LabelingSession(X, random_state=0).labels, model.labels_), ("before", "after")
):
    axis.scatter(*at.T, c=labels, cmap="tab10", s=8)
    axis.set(title=title, xticks=[], yticks=[])
plt.show()
print(f"agreement with the digits: {adjusted_rand_score(y, model.labels_):.2f}")

# %%
# On the page, clusters are looked at, joined, divided and named, and doubtful answers are decided
# again:
#
# .. image:: /images/studio-clusters.png
#    :alt: Clusters with typical and borderline rows
#
# What you leave with are files: clusters, answers, a model and a report.
session.constraints.write(log.with_name("answers.csv"))
print(log.with_name("answers.csv").read_text().splitlines()[:3])
session.close()
