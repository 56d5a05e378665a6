"""
Thirty questions to somebody who knows
======================================

There are images of digits and no labels. A labeling session asks one question after another, each
about the row whose answer tells most, and clusters after every one. Here the labels of the data set
answer in place of a person: once with care, once in haste.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import adjusted_rand_score

from likewise import LabelingSession
from likewise.datasets import load_digits
from likewise.labeling import LabelOracle

digits = load_digits()
X, y = digits.X[:600] / 16, np.asarray(digits.y[:600])

# %%
# **One question.** The first shows two images that lie far apart in the data: do they belong
# together, or is the first one of a new group? One row of each group that was found is shown from
# then on.
session = LabelingSession(X, random_state=0)
question = session.next_question()
fig, axes = plt.subplots(1, len(question.shown), figsize=(3, 1.6))
for axis, row in zip(axes, question.shown):
    axis.imshow(X[row].reshape(8, 8), cmap="gray_r")
    axis.set_axis_off()
print(question.kind, question.offered)
print(question.why)


# %%
# **Thirty answers.** After every answer the memberships of all rows follow at once, so the score
# can be watched while it grows. Of a hasty person's answers one in ten is wrong and another one is
# "can't tell".
def answer_all(oracle, n_questions=30):
    session, scores = LabelingSession(X, random_state=0), []
    for _ in range(n_questions):
        question = session.next_question()
        session.answer(question, oracle(question))
        if session.progress.n_groups > 1:
            scores.append(adjusted_rand_score(y, session.labels))
    return session, scores


careful, careful_scores = answer_all(LabelOracle(y))
hasty, hasty_scores = answer_all(LabelOracle(y, wrong=0.1, cant_tell=0.1, random_state=0))
fig, axis = plt.subplots(figsize=(5, 3))
axis.plot(careful_scores, label="careful")
axis.plot(hasty_scores, label="hasty")
axis.set_xlabel("questions")
axis.set_ylabel("adjusted Rand index")
axis.legend()
print(f"careful: {careful_scores[-1]:.2f}, {careful.progress.n_groups} groups")
print(f"hasty:   {hasty_scores[-1]:.2f}, {hasty.progress.n_groups} groups")

# %%
# **Go on elsewhere.** The answers are ordinary constraints, with the look that each came from.
print(careful.constraints)
print(careful.constraints.answer(0))
