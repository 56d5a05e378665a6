"""
People: which color is the odd one out?
=======================================

People don't compare with a ruler. They weigh what they see by rules they couldn't explain, they
disagree, and some of them hardly look. Odd-one-out answers are modeled as random choices in which
closer rows are more likely to be chosen; people who only guess are detected along the way.

The people here are simulated, so that we know how they decide: mostly by hue, and hardly by how
light a color is. The computer sees red, green and blue.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import rgb_to_hsv

from likewise import ChoiceKernel, Constraints, held_out_accuracy
from likewise.datasets import available, constraints_of, fetch

rng = np.random.default_rng(0)
X = rng.uniform(size=(120, 3))  # red, green, blue
hue, saturation, value = rgb_to_hsv(X).T
seen = np.column_stack([np.cos(2 * np.pi * hue), np.sin(2 * np.pi * hue), 0.3 * value])


def ask(n_questions, share_guessed):
    """(a, b, odd) for random triples: the closest pair is likely, but not certain, to be chosen."""
    triples = np.array([rng.choice(len(X), 3, replace=False) for _ in range(n_questions)])
    a, b, c = np.moveaxis(seen[triples], 1, 0)
    sq_dists = np.stack([((u - v) ** 2).sum(axis=1) for u, v in ((a, b), (a, c), (b, c))], axis=1)
    taste = rng.gumbel(size=sq_dists.shape)
    closest = (taste - 1.5 * sq_dists).argmax(axis=1)
    closest = np.where(rng.uniform(size=n_questions) < share_guessed, taste.argmax(axis=1), closest)
    order = np.array([(0, 1, 2), (0, 2, 1), (1, 2, 0)])[closest]
    return np.take_along_axis(triples, order, axis=1)


# %%
# Four people answer 150 questions each. Bo guesses half of the time, Cy always.
guessing = {"Ann": 0.0, "Bo": 0.5, "Cy": 1.0, "Dee": 0.1}
triples = {name: ask(150, share) for name, share in guessing.items()}
answers = Constraints(
    len(X),
    odd_one_out=np.vstack(list(triples.values())),
    annotators=np.repeat(list(guessing), 150),
)
others = Constraints(len(X), odd_one_out=ask(2000, 0.05))  # to judge by; never learned from
print(answers)

# %%
# Learn the space, and whom to trust.
space = ChoiceKernel(annotator_noise=True, random_state=0).fit(X, constraints=answers)
for name, reliability in zip(space.annotators_, space.reliabilities_):
    print(f"{name}: {reliability:.2f} of the answers meant, actually {1 - guessing[name]:.2f}")
print(f"{len(space.slips_)} of {answers.n_answers} answers are more likely slips than meant")

# %%
# How many of 2,000 other answers does it predict? Guessing gets a third, and nobody gets all:
# the people themselves do not always agree.
best = held_out_accuracy(seen, others)
print(f"by red, green and blue: {held_out_accuracy(X, others):.2f}")
print(f"by the learned space:   {held_out_accuracy(space.transform(X), others):.2f}")
print(f"by their own rule:      {best:.2f}")

# %%
# How sure is it? To get chances, learn from the reliable people without annotator_noise: with it
# a hard question looks like a slip, and the chances are overconfident.
reliable = space.annotators_[space.reliabilities_ > 0.7]
meant = [i for i in range(answers.n_answers) if answers.answer(i).annotator in reliable]
sure = ChoiceKernel(random_state=0).fit(X, constraints=answers.subset(meant))
chances = sure.choice_chances(X, others)
predicted, right = chances.max(axis=1), chances.argmax(axis=1) == 0
print(f"answers of {' and '.join(reliable)}: {held_out_accuracy(sure.transform(X), others):.2f}")
for low, high in ((0.33, 0.5), (0.5, 0.7), (0.7, 0.9), (0.9, 1.0)):
    chosen = (predicted >= low) & (predicted < high)
    chance, share = predicted[chosen].mean(), right[chosen].mean()
    print(f"predicted {chance:.2f}, chosen {share:.2f}, {chosen.sum():4d} times")

# %%
# The colors as the computer has them, and as people see them: no answer names the circle of hues.
figure, axes = plt.subplots(1, 2, figsize=(9, 4))
for axis, Z, title in zip(axes, (X, space.transform(X)), ("red, green, blue", "learned")):
    Z = Z - Z.mean(axis=0)
    u, s, _ = np.linalg.svd(Z, full_matrices=False)
    axis.scatter(*(u * s)[:, :2].T, c=X, s=60)
    axis.set(title=title, xticks=[], yticks=[])
plt.show()

# %%
# It is the same with real people. If the answers about a hundred dishes are available (see
# `likewise.datasets.available`), there are no features at all: the start is the identity.
if available().get("triplets_food100", "").startswith("folder"):
    dishes = constraints_of(fetch("triplets_food100"))
    learn_from, judge_by = dishes.split(0.02, random_state=0)
    start = np.eye(dishes.n_samples)
    space = ChoiceKernel(start="precomputed", n_components=1.0, random_state=0)
    space.fit(start, constraints=learn_from)
    accuracy = held_out_accuracy(space.transform(start), judge_by)
    print(f"{learn_from.n_answers} answers about dishes predict {accuracy:.2f} of the others")
else:
    print("The answers about dishes are not available.")
