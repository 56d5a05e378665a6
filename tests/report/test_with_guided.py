"""The report of a real GuidedClustering, whatever its rows came as."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from likewise import Constraints, GuidedClustering, load_model, save_model
from likewise.datasets import load_iris
from likewise.report import write_report
from tests.report.test_page import section

IRIS = load_iris()
NAMES = ["sepal length", "sepal width", "petal length", "petal width"]


@pytest.fixture
def answers():
    return Constraints.from_labels(
        IRIS.y, n_pairs=25, n_odd_one_out=5, n_closer=5, n_undecided=2, noise=0.1, random_state=0
    )


@pytest.mark.parametrize(
    "make",
    [np.asarray, lambda X: pd.DataFrame(X, columns=NAMES), lambda X: pl.DataFrame(X, NAMES),
     sparse.csr_matrix],
    ids=["array", "pandas", "polars", "sparse"],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:SKLR stopped:sklearn.exceptions.ConvergenceWarning")
def test_rows_of_every_kind_make_a_report(tmp_path, answers, make):
    X = make(IRIS.X)
    model = GuidedClustering(3, random_state=0).fit(X, constraints=answers)
    write_report(tmp_path / "r.html", model, X, constraints=answers)
    html = (tmp_path / "r.html").read_text(encoding="utf-8")
    name = "petal length" if hasattr(X, "columns") else "feature 2"
    assert name in section(html, "clusters")
    assert model.report_.why in section(html, "choice")
    assert f"{model.report_.n_answers}" in section(html, "satisfaction")
    save_model(model, tmp_path / "m.likewise")
    write_report(
        tmp_path / "again.html", load_model(tmp_path / "m.likewise"), X, constraints=answers
    )
    assert (tmp_path / "again.html").read_text(encoding="utf-8") == html


def test_people_are_shown_with_how_reliable_they_are(tmp_path):
    right = [Constraints.from_labels(IRIS.y, n_pairs=60, random_state=seed) for seed in (0, 1)]
    wild = np.random.default_rng(2).permutation(IRIS.y)
    said = [*right, Constraints.from_labels(wild, n_pairs=60, random_state=2)]
    answers = Constraints(
        150,
        must_link=np.concatenate([one.must_link for one in said]),
        cannot_link=np.concatenate([one.cannot_link for one in said]),
        annotators=[
            name
            for kind in ("must_link", "cannot_link")
            for name, one in zip(("ann", "bob", "<eve>"), said)
            for _ in getattr(one, kind)
        ],
    )
    model = GuidedClustering(3, random_state=0).fit(IRIS.X, constraints=answers)
    write_report(tmp_path / "r.html", model, IRIS.X, constraints=answers)
    html = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "<eve>" not in html
    shown = section(html, "doubts")
    assert "How reliable each one is" in shown
    assert all(f"{name} " in shown for name in ("ann", "bob", "<eve>"))


def test_the_number_of_clusters_and_no_answers_are_explained(tmp_path):
    model = GuidedClustering("auto", random_state=0).fit(IRIS.X)
    write_report(tmp_path / "r.html", model, IRIS.X)
    html = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert model.report_.why_n_clusters in section(html, "choice")
    assert "No answers were given." in section(html, "answers")
