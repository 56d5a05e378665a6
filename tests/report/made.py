"""Models made by hand, with the fields of a fitted GuidedClustering that a report reads."""

from types import SimpleNamespace

import numpy as np


def made_model(Z, labels, *, labels_before=None, constraints=None, map_rows=None, **changed):
    """A model whose space is `Z`, or `map_rows` of X, and whose fields can be changed at will."""
    Z, labels = np.asarray(Z, dtype=float), np.asarray(labels)
    n_answers = 0 if constraints is None else constraints.n_answers
    n_clusters = int(labels.max()) + 1
    report = {
        "n_rows": len(Z),
        "n_features": Z.shape[1],
        "n_answers": n_answers,
        "preparation": "none",
        "why_prepared": "The columns were left as they are: their spreads are alike.",
        "trial_names": np.array(["as it is", "SKLR, C=1"])
        if n_answers
        else np.array([], dtype=str),
        "trial_scores": np.array([0.7, 0.9]) if n_answers else np.array([]),
        "trial_errors": np.array([0.02, 0.01]) if n_answers else np.array([]),
        "chosen": 1 if n_answers else -1,
        "how": "Learned from your answers, following the neighbor graph.",
        "why": "SKLR, C=1 predicted the most held-out answers.",
        "why_n_clusters": f"{n_clusters} clusters, as asked.",
        "labels_before": labels if labels_before is None else np.asarray(labels_before),
        "satisfied_before": 0.5 if n_answers else np.nan,
        "satisfied": 1.0 if n_answers else np.nan,
        "conflicts": np.array([], dtype=str),
        "people": "",
        "columns": np.array([], dtype=str),
    }
    centers = np.array([Z[labels == c].mean(axis=0) for c in range(n_clusters)])
    places = np.asarray if map_rows is None else map_rows

    def predict_proba(rows):
        sq_dists = ((np.asarray(places(rows))[:, None] - centers) ** 2).sum(axis=2)
        shares = 1 / (1e-3 + sq_dists)
        return shares / shares.sum(axis=1, keepdims=True)

    fields = {
        "labels_": labels,
        "n_clusters_": n_clusters,
        "cluster_centers_": centers,
        "cluster_names_": [],
        "predict_proba": predict_proba,
        "pulls_": np.arange(n_answers, dtype=float),
        "violated_": np.array([], dtype=int),
        "doubtful_": np.array([], dtype=int),
        "doubts_": np.full(n_answers, np.nan),
        "scaler_": None,
        "transform": places,
    }
    report.update({name: value for name, value in changed.items() if name in report})
    fields.update({name: value for name, value in changed.items() if name in fields})
    assert set(changed) <= {*report, *fields}
    return SimpleNamespace(**fields, report_=SimpleNamespace(**report))
