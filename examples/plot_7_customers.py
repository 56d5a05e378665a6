"""
A table of customers: holes, categories, dates
==============================================

Tables of real customers have missing cells, categories, dates and a column that is no feature at
all. There are many ways to group such rows, and a few answers say which one is meant.

The customers are made up, so that we know who is who: four kinds of people, told by what they buy
and how often. Where their store is stands in four columns, and divides them more sharply: an
algorithm that has only the table takes that, and it is not what we want.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_rand_score

from likewise import Constraints, GuidedClustering
from likewise.report import describe_clusters

rng = np.random.default_rng(0)
n = 600
kind = rng.integers(4, size=n)  # students, families, commuters, pensioners
place = rng.integers(4, size=n)  # has nothing to do with it, and stands in four columns
favorite = np.array(["snacks", "diapers", "coffee", "tea"])
customers = pd.DataFrame(
    {
        "customer": [f"C-{i:04d}" for i in range(n)],
        "age": rng.normal(np.array([22, 38, 41, 70])[kind], 8).round(),
        "visits": rng.poisson(np.array([3, 5, 12, 6])[kind]),
        "basket": rng.normal(np.array([9, 60, 12, 25])[kind], 9).clip(2).round(2),
        "favorite": np.where(rng.random(n) < 0.7, favorite[kind], rng.choice(favorite, n)),
        "city": np.array(["Paris", "Lyon", "Nantes", "Lille"])[place],
        "store": np.array(["center", "station", "harbor", "market"])[place],
        "minutes_to_store": rng.normal(np.array([5, 12, 20, 30])[place], 2).round(),
        "opened": pd.to_datetime(["2019-03-01", "2015-06-01", "2022-09-01", "2012-01-01"])[place],
        "newsletter": rng.choice(["yes", "no"], n),
    }
)
for column in ("age", "basket", "favorite"):
    customers.loc[rng.random(n) < 0.1, column] = None
print(customers.head())

# %%
# Without answers, all columns weigh the same, and the clusters are the stores.
before = GuidedClustering(4, random_state=0).fit(customers)
print(f"without answers: {adjusted_rand_score(kind, before.labels_):z.2f} with the kinds,")
print(f"                 {adjusted_rand_score(place, before.labels_):.2f} with the places")

# %%
# Someone who knows the shop looks at a hundred pairs of customers: the same kind, or not?
answers = Constraints.from_labels(kind, n_pairs=100, random_state=0)
model = GuidedClustering(4, random_state=0).fit(customers, constraints=answers)
print(f"with {answers.n_answers} answers: {adjusted_rand_score(kind, model.labels_):.2f}")
print(model.report_.why)

# %%
# What became of the columns: the customer's number names the row and is not used.
for column in model.features_.columns_:
    print(column)

# %%
# What sets each cluster apart from the rest.
for cluster in describe_clusters(model, customers):
    print(f"{cluster.n_rows:4d} customers: {cluster.title}")

# %%
# Two of the columns, before and after. The clusters overlap in any two columns: it takes several to
# tell the customers apart.
figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), sharey=True, layout="constrained")
for axis, labels, title in zip(
    axes, (before.labels_, model.labels_), ("no answers", "100 answers")
):
    axis.scatter(customers["age"], customers["basket"], c=labels, cmap="tab10", s=10)
    axis.set(title=title, xlabel="age")
axes[0].set_ylabel("basket")
plt.show()

# %%
# New customers go through the same preparation, in any order of columns.
new = customers.drop(columns="customer").iloc[:3, ::-1]
print(model.predict(new))
