"""
Answers that contradict each other
==================================

People err and disagree. Contradictions are found with the shortest list of answers that shows each,
for pairs and for triples; no method stops because of them unless it promises to keep every pair.
"""

from likewise import Constraints, COPKMeans, InconsistentConstraints
from likewise.datasets import load_iris

X = load_iris().X
answers = Constraints(
    len(X),
    must_link=[(0, 1), (1, 2), (2, 3)],
    cannot_link=[(0, 3), (0, 100)],
    odd_one_out=[(5, 6, 120), (5, 120, 6)],
    annotators=["ann", "ann", "ann", "bob", "ann", "ann", "bob"],
)
for conflict in answers.conflicts():
    people = {answers.answer(i).annotator for i in (conflict.answer, *conflict.witness)}
    print(f"{conflict}  [{', '.join(sorted(people))}]")

# %%
# A method that promises to keep every pair says which it cannot keep.
pairs = answers.subset(answers.positions("must_link", "cannot_link"))
try:
    COPKMeans(3, random_state=0).fit(X, constraints=pairs)
except InconsistentConstraints as error:
    print(error)

# %%
# Dropping the contradicted answers leaves the others as they were.
kept = answers.subset([i for i in range(answers.n_answers) if i not in answers.conflicts().answers])
print(kept)
