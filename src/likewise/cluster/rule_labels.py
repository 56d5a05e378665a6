"""Labels of rows at given costs under every rule, for any clusterer's last step."""

import numpy as np
from scipy.sparse import csr_array

from likewise.cluster.assignment import Rules, assign_groups
from likewise.cluster.cop_kmeans import ties_of
from likewise.cluster.infeasible import (
    clique_of,
    raise_clique,
    raise_contradiction,
    raise_irreducible,
    raise_large_exclusive,
    raise_large_group,
)
from likewise.constraints import Constraints, InconsistentConstraints


def label_by_rules(
    costs: np.ndarray,  # (n, k) of every row in every cluster
    constraints: Constraints,
    lower: np.ndarray,  # (k,) rows of a cluster, at least
    upper: np.ndarray,  # (k,) and at most
) -> np.ndarray:
    """The cheapest labels (n,) that keep pairs, exclusive groups and sizes.

    Raises InconsistentConstraints where there are none, with the answers that prove it.
    """
    n_clusters = costs.shape[1]
    raise_contradiction(constraints)
    raise_large_exclusive(constraints, n_clusters)
    raise_large_group(constraints, upper)
    closure = constraints.closure()
    links = closure.apart_pairs()
    raise_clique(constraints, clique_of(links, np.unique(links), n_clusters), n_clusters)
    rows = np.arange(len(costs))
    shape = (closure.n_components, len(costs))
    add = csr_array((np.ones(len(costs)), (closure.components, rows)), shape=shape)
    rules = Rules(closure.sizes, lower, upper, ties_of(closure))
    found = assign_groups(add @ costs, rules)
    if found.labels is None:
        if np.isinf(found.bound):
            raise_irreducible(constraints, n_clusters, lower, upper)
        raise InconsistentConstraints(
            "No clusters that satisfy every rule were found; there may be some. Widen the sizes, "
            "or use more clusters."
        )
    return found.labels[closure.components]
