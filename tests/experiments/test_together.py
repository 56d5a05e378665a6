"""Tables of people, machines and views together, on small made data."""

from types import SimpleNamespace

import numpy as np
import pytest

from experiments import people, things_tables, together


@pytest.fixture
def blobs():
    rng = np.random.default_rng(0)
    y = np.arange(120) % 3
    return rng.normal(size=(3, 2))[y] * 4 + rng.normal(size=(120, 2)), y


def test_a_machine_is_compared_with_the_better_alone(blobs, monkeypatch):
    monkeypatch.setattr(together, "draw_rows", lambda data, seed: blobs)
    monkeypatch.setattr(together, "BUDGET", {"machine": 60, "person": 9})
    found = together.run_machine(data="blobs", machine="confuses two classes", seed=0)
    assert found["better"] == max(found["person alone"], found["machine alone"])
    assert found["gain"] == found["both"] - found["better"]
    assert 0.4 < found["machine alone"] < 0.8  # of three classes it tells two


def test_more_looks_at_a_row_are_right_more_often(blobs):
    y = blobs[1]
    shares = [np.mean(together.majority_of_looks(y, 0.25, n, 0) == y) for n in (120, 1200)]
    assert 0.65 < shares[0] < 0.85
    assert shares[1] > 0.95
    assert (together.majority_of_looks(y, 0.0, 50, 0) == y).all()


def test_a_machine_that_takes_one_of_two_classes_for_the_other_knows_nothing(blobs, monkeypatch):
    X, y = blobs[0], blobs[1] % 2
    monkeypatch.setattr(together, "draw_rows", lambda data, seed: (X, y))
    monkeypatch.setattr(together, "BUDGET", {"machine": 20, "person": 6})
    assert together.run_machine(data="two", machine="confuses two classes", seed=0)["better"] >= 0
    seen = np.zeros(len(y), dtype=int)
    assert set(together.majority_of_looks(seen, 0.25, 200, 0)) == {0}


def test_no_measure_has_the_name_of_a_setting():
    for table in together.TABLES:
        assert not {*table.cells()[0]} & {*table.measures}


def test_somebody_who_guesses_is_wrong_about_as_often_as_that(blobs):
    y = blobs[1]
    for kind, wrong in (("pairs", 1 / 2), ("triples", 2 / 3)):
        said = together.answers_of(y, kind, "eve", 1.0, 0)
        if kind == "pairs":
            pairs, sign = said.signed_pairs()
            is_wrong = (y[pairs[:, 0]] == y[pairs[:, 1]]) != (sign > 0)
        else:
            a, b, odd = said.odd_one_out.T
            is_wrong = ~((y[a] == y[b]) & (y[odd] != y[a]))
        assert abs(is_wrong.mean() - wrong) < 0.2
        assert set(said.annotators) == {"eve"}


def test_four_tables_are_joined(monkeypatch):
    rng = np.random.default_rng(0)
    tables = {"X_clip_vit_b32": (9, 5), "X_word2vec": (9, 4), "category_matrix": (9, 3)}
    extras = {name: rng.normal(size=shape) for name, shape in tables.items()}
    ratings = rng.normal(size=(9, 2))
    ratings[0, 0] = np.nan
    made = {
        people.FEATURES: SimpleNamespace(extras=extras),
        things_tables.NORMS: SimpleNamespace(X=ratings),
    }
    monkeypatch.setattr(things_tables, "fetch_once", made.__getitem__)
    X, widths = things_tables.things_views()
    assert (X.shape, widths) == ((9, 14), [5, 4, 3, 2])
    assert np.isfinite(X).all()
