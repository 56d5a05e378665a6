"""
Texts: sort documentation by what you mean
==========================================

There are many ways to sort a pile of texts. A few answers say which one you have in mind. The texts
here are already on your disk: the documentation of scipy's functions.
"""

import inspect
from importlib import import_module

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import adjusted_rand_score

from likewise import Constraints, GuidedClustering

MODULES = ("signal", "stats", "special", "optimize", "ndimage", "sparse.linalg")
texts, names, y = [], [], []
for number, module in enumerate(MODULES):
    functions = inspect.getmembers(import_module(f"scipy.{module}"), callable)
    documented = [(name, inspect.getdoc(f) or "") for name, f in functions if name[0].islower()]
    for name, text in [(name, text) for name, text in documented if len(text) > 200][:100]:
        texts.append(text.split("Examples\n--")[0])
        names.append(f"{module}.{name}")
        y.append(number)
y = np.array(y)
print(f"{len(texts)} texts, the first of them:\n\n{texts[0][:300]} ...")

# %%
# tf-idf turns words into numbers: a sparse matrix, which can be used directly.
vectorizer = TfidfVectorizer(stop_words="english", min_df=3, sublinear_tf=True)
X = vectorizer.fit_transform(texts)
print(f"{X.shape[0]} rows, {X.shape[1]} words, {X.nnz / X.shape[0]:.0f} of them in a text")

# %%
# k-means finds groups, but not the modules: it follows the words that texts in one style share.
before = KMeans(len(MODULES), n_init=10, random_state=0).fit_predict(X)
scores = {0: adjusted_rand_score(y, before)}
print(f"k-means: {scores[0]:.2f}")

# %%
# How much do 50, 100 and 200 answers help? With few of them nothing may be learned: a space must
# predict held-out answers better than the words as they are.
for n_pairs in (50, 100, 200):
    answers = Constraints.from_labels(y, n_pairs=n_pairs, random_state=0)
    model = GuidedClustering(len(MODULES), random_state=0).fit(X, constraints=answers)
    scores[n_pairs] = adjusted_rand_score(y, model.labels_)
    print(f"{n_pairs} answers: {scores[n_pairs]:.2f}. {model.report_.why}")

plt.figure(figsize=(5, 3), layout="constrained")
plt.plot(list(scores), list(scores.values()), "o-")
plt.xlabel("answers")
plt.ylabel("agreement with the modules")
plt.ylim(0, 1)
plt.show()

# %%
# The words that distinguish each cluster from the rest, and its two most typical texts.
words = vectorizer.get_feature_names_out()
distances = ((model.transform(X)[:, None] - model.cluster_centers_) ** 2).sum(axis=2)
for cluster in range(model.n_clusters_):
    inside = model.labels_ == cluster
    gain = np.asarray(X[inside].mean(axis=0) - X[~inside].mean(axis=0)).ravel()
    typical = np.flatnonzero(inside)[np.argsort(distances[inside, cluster])[:2]]
    print(f"{inside.sum():4d} texts: {', '.join(words[np.argsort(-gain)[:6]])}")
    print(f"            {', '.join(names[i] for i in typical)}")

# %%
# A new text goes through the same map.
new = "Test whether two samples have the same mean, and how likely a larger difference is."
nearest = model.predict(vectorizer.transform([new]))[0]
print(f"goes to the cluster of: {MODULES[np.bincount(y[model.labels_ == nearest]).argmax()]}")
