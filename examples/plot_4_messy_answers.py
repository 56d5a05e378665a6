"""
A messy answer file: typos, contradictions, wrong answers
=========================================================

Answers come in a spreadsheet from several people. Some lines cannot be read, some people contradict
each other, and some answers are just wrong. Here is how to notice each of these, and what to do.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import adjusted_rand_score

from likewise import (
    Constraints,
    COPKMeans,
    GuidedClustering,
    InconsistentConstraints,
    doubtful_answers,
)
from likewise.datasets import load_wine

wine = load_wine()
ids = np.array([f"wine-{i:03d}" for i in range(len(wine.X))])
path = Path(tempfile.mkdtemp()) / "answers.csv"

# %%
# **Lines that cannot be read.** A file is read completely or not at all. The error names the line
# and what is wrong with it, so you can fix one line after the other.
lines = ["kind,a,b,c,annotator", "must_link,wine-000,wine-001,,ann"]
for broken, right in (
    ("must-link,wine-003,wine-004,,bob", "must_link,wine-003,wine-004,,bob"),
    ("odd_one_out,wine-003,wine-004,,bob", "odd_one_out,wine-003,wine-004,wine-150,bob"),
    ("cannot_link,wine-003,wine-999,,bob", "cannot_link,wine-003,wine-099,,bob"),
):
    path.write_text("\n".join([*lines, broken]) + "\n")
    try:
        Constraints.read(path, ids=ids)
    except ValueError as error:
        print(f"{broken}\n    {str(error).replace(str(path), path.name)}\n")
    lines.append(right)
path.write_text("\n".join(lines) + "\n")
print(Constraints.read(path, ids=ids))

# %%
# **Contradictions.** 300 answers of two people, a tenth of them wrong, in one file. You can
# read it as usual: each contradiction comes with the shortest list of answers that proves it, and
# with the people who gave them.
drawn = Constraints.from_labels(wine.y, n_pairs=260, n_odd_one_out=40, noise=0.1, random_state=0)
who = np.random.default_rng(0).choice(["ann", "bob"], drawn.n_answers)
Constraints(
    ids=ids,
    must_link=drawn.must_link,
    cannot_link=drawn.cannot_link,
    odd_one_out=drawn.odd_one_out,
    annotators=who,
).write(path)

answers = Constraints.read(path, ids=ids)
conflicts = answers.conflicts()
print(f"{answers}\n{len(conflicts)} contradictions, the simplest of them:")
for conflict in sorted(conflicts, key=lambda conflict: len(conflict.witness))[:3]:
    people = {answers.answer(i).annotator for i in (conflict.answer, *conflict.witness)}
    print(f"  {conflict}  [{', '.join(sorted(people))}]")

# %%
# A method that must satisfy every pair reports which it cannot satisfy. Others cope with it.
pairs = answers.subset(answers.positions("must_link", "cannot_link"))
try:
    COPKMeans(3, random_state=0).fit(wine.X, constraints=pairs)
except InconsistentConstraints as error:
    print(error)

# %%
# **Wrong answers.** Not every wrong answer contradicts another. Those that the rest contradicts are
# doubtful; ``likewise check`` prints them on the command line, with the price of every answer and
# the metric that fits the answers.
doubtful = doubtful_answers(wine.X, answers, 3, random_state=0)


def is_right(answer):
    """What the grower of the wine would say."""
    a, b, *odd = wine.y[list(answer.points)]
    return (a == b) == (answer.kind != "cannot_link") and a not in odd


is_wrong = np.array([not is_right(answers.answer(i)) for i in range(answers.n_answers)])
n_found = is_wrong[doubtful.positions].sum()
print(
    f"{is_wrong.sum()} answers are wrong; {n_found} of {len(doubtful.positions)} doubtful ones are"
)
for i in doubtful.positions[:3]:
    print(f"  {answers.answer(i).kind}: {', '.join(ids[list(answers.answer(i).points)])}")

# %%
# How many of the wrong answers do you find by reviewing some of them, the most doubtful first?
plt.figure(figsize=(5, 3), layout="constrained")
ranking = np.argsort(-np.nan_to_num(doubtful.doubts), kind="stable")
plt.plot(np.cumsum(is_wrong[ranking]), label="the most doubtful first")
plt.plot([0, len(is_wrong)], [0, is_wrong.sum()], "k:", label="in any order")
plt.xlabel("answers reviewed")
plt.ylabel("wrong ones found")
plt.legend()
plt.show()

# %%
# **What it costs.** ``GuidedClustering`` sets the doubtful answers aside and learns from the rest.
# Wrong answers cost a little, but they don't spoil the clusters.
for name, used in (("only the right ones", answers.subset(~is_wrong)), ("all of them", answers)):
    model = GuidedClustering(3, random_state=0).fit(wine.X, constraints=used)
    score = adjusted_rand_score(wine.y, model.labels_)
    print(f"{name}: agreement {score:.2f}, {len(model.doubtful_)} answers set aside")
