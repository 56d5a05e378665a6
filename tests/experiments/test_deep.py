"""Tables 2 and 3 of randel2021, on a few small images, in seconds."""

from dataclasses import replace

import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

torch = pytest.importorskip("torch")

from experiments import deep, deep_codes  # noqa: E402
from experiments.runs import reproduce  # noqa: E402
from likewise import GuidedClustering  # noqa: E402
from likewise.constraints import Constraints  # noqa: E402
from likewise.deep import SelfSupervisedCodes, TrainingPlan  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
QUICK = {"pretraining": "short", "pretraining_epochs": 1, "max_epochs": 2}


def quick(settings):
    """A cell of a table with a small network and few epochs."""
    plan = replace(settings.get("training", TrainingPlan()), **QUICK)
    return {**settings, "training": plan, "encoder": (20, 5), "device": "cpu"}


@pytest.fixture
def small(monkeypatch, tmp_path):
    """Some digits instead of MNIST, and a small network."""
    X, y = load_digits(return_X_y=True)
    monkeypatch.setattr(deep, "load_rows", lambda data: (X[:300].astype("float32"), y[:300]))
    monkeypatch.setattr(deep, "PAIR_SHARE", 0.3)
    plans = {data: replace(plan, **QUICK) for data, plan in deep.AS_PUBLISHED.items()}
    monkeypatch.setattr(deep, "AS_PUBLISHED", plans)
    for table in ("CHOICES", "WITH_NOISE"):
        cells = getattr(deep, table)
        monkeypatch.setattr(deep, table, {name: quick(cell) for name, cell in cells.items()})
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    deep.pretrain.cache_clear()
    yield
    deep.pretrain.cache_clear()


def test_every_set_of_pairs_starts_from_one_network_kept_in_a_file(small):
    first = deep.pretrain("mnist")
    deep.pretrain.cache_clear()
    again = deep.pretrain("mnist")
    assert_array_equal(first.map_.layers[0][0], again.map_.layers[0][0])


def test_a_filtered_run_keeps_fewer_pairs_than_an_unfiltered_one(small):
    filtered = deep.run_table2(data="mnist", drop_share="0.9", seed=0)
    unfiltered = deep.run_table2(data="mnist", drop_share="unfiltered", seed=0)
    assert filtered["pairs kept"] < unfiltered["pairs kept"] == 90
    assert filtered["epochs"] == 2


def test_pairs_that_follow_from_others_are_added():
    answers = Constraints(5, must_link=[(0, 1), (1, 2)], cannot_link=[(2, 3)])
    closed = deep.close_pairs(answers)
    assert len(closed.must_link) == 3
    assert len(closed.cannot_link) == 3


def test_flipped_pairs_are_as_many_as_before(small):
    clean = deep.run_noise(data="mnist", noise="0.0", pairs="all pairs", seed=0)
    noisy = deep.run_noise(data="mnist", noise="0.2", pairs="all pairs", seed=0)
    assert clean["pairs kept"] == noisy["pairs kept"] == 90
    assert clean["ARI"] != noisy["ARI"]


def test_published_figures_stand_next_to_ours_for_each_measure():
    cell = {"data": "mnist", "drop_share": "0.7"}
    assert deep.published(cell | {"measure": "ARI"}) == ".9427 ± .0077"
    assert deep.published(cell | {"measure": "epochs"}) == "120.8 ± 20.5"
    assert deep.published(cell | {"measure": "pairs kept"}) == ""
    assert deep.published(cell | {"data": "reuters_r8_text", "measure": "ARI"}) == ""
    last = deep.table2("reuters_r8_text").only_published()[-1]
    assert last == {"data": "Reuters-10K", "drop_share": "unfiltered"}
    assert deep.published(last | {"measure": "epochs"}) == "10.7 ± 1.9"


def test_a_table_runs_and_tells(small, tmp_path, monkeypatch):
    monkeypatch.setattr(deep, "NOISE", ("0.2",))
    monkeypatch.setattr(deep, "TABLES", (replace(deep.noise("digits"), data=tuple),))
    said = []
    reproduce("deep", "noise-digits", n_runs=1, results=tmp_path, say=said.append)
    assert "filtered, 0.7" in said[0]
    assert (tmp_path / "deep" / "noise-digits.csv").read_text().count("digits,") == 4


@pytest.fixture
def few_digits(monkeypatch):
    """Some digits, and codes of them that took ten seconds."""
    X, y = load_digits(return_X_y=True)
    X, y = X[:200].astype("float32"), y[:200]
    codes = SelfSupervisedCodes(image_shape=(8, 8), encoder=(4, 6), epochs=1, random_state=0).fit(X)
    monkeypatch.setattr(deep_codes, "load_rows", lambda data: (X, y))
    monkeypatch.setattr(deep_codes, "learn_codes", lambda *_, **__: (codes, 10.0))
    return X, y, codes


def test_few_answers_are_the_first_of_many_and_clicks_are_classes(few_digits):
    _, y, _ = few_digits
    few, more = (deep_codes.draw_few("digits", f"{n} pairs", 0) for n in (200, 600))
    assert (few.n_answers, more.n_answers) == (200, 600)
    assert {*map(tuple, few.must_link)} <= {*map(tuple, more.must_link)}
    clicks = deep_codes.draw_few("digits", "20 clicks", 0)
    assert 10 < len(clicks.touched_rows()) <= 20
    pairs, sign = clicks.signed_pairs()
    assert_array_equal(y[pairs[:, 0]] == y[pairs[:, 1]], sign > 0)


def test_few_answers_on_the_codes_are_what_guided_clustering_makes_of_them(few_digits):
    X, y, codes = few_digits
    scores = deep_codes.run_few(data="digits", answers="20 clicks", way="codes", seed=0)
    model = GuidedClustering(10, random_state=0)
    model.fit(codes.transform(X), constraints=deep_codes.draw_few("digits", "20 clicks", 0))
    assert scores["ARI"] == adjusted_rand_score(y, model.labels_)
    assert scores["fit seconds"] > 10
