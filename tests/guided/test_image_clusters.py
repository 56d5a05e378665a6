"""GuidedClustering on images: codes alone, or a network that learns on from them."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import adjusted_rand_score

torch = pytest.importorskip("torch")

from likewise import Constraints, GuidedClustering, load_model, save_model  # noqa: E402
from likewise.datasets import load_digits  # noqa: E402
from likewise.deep import SelfSupervisedCodes  # noqa: E402
from likewise.evaluation import select  # noqa: E402
from likewise.guided import image_clusters as images  # noqa: E402
from likewise.scale import as_blocks  # noqa: E402

SHAPE = (8, 8)


@pytest.fixture(scope="module")
def zeros_and_ones():
    """Images of two digits, codes of them, and pairs."""
    data = load_digits()
    y = np.asarray(data.y)
    rows = np.flatnonzero(y < 2)[:90]
    X, y = data.X[rows], y[rows]
    codes = SelfSupervisedCodes(
        image_shape=SHAPE, encoder=(4, 6), epochs=6, device="cpu", random_state=0
    ).fit(X)
    return X, y, codes, Constraints.from_labels(y[:80], n_pairs=130, random_state=0)


def guide(codes, n_clusters=2, **settings):
    given = {"image_shape": SHAPE, "features": codes, "device": "cpu", "random_state": 0}
    return GuidedClustering(n_clusters, **{**given, **settings})


def force(monkeypatch, by_network):
    monkeypatch.setattr(images, "try_network", lambda *_: images.Tried(by_network, "Forced."))


@pytest.fixture(scope="module")
def fitted(zeros_and_ones):
    """A model of the codes alone, and one of a network, by whether it is that."""
    X, _, codes, answers = zeros_and_ones
    models = {}
    for by_network in (True, False):
        with pytest.MonkeyPatch.context() as monkeypatch:
            force(monkeypatch, by_network)
            models[by_network] = guide(codes).fit(X[:80], constraints=answers)
    return models


@pytest.mark.parametrize("by_network", [True, False])
def test_new_images_saved_models_and_memberships(zeros_and_ones, fitted, by_network, tmp_path):
    X, y, _, _ = zeros_and_ones
    model = fitted[by_network]
    assert adjusted_rand_score(y[:80], model.labels_) > 0.8
    assert np.mean(model.predict(X[:80]) == model.labels_) > 0.97
    shares = model.predict_proba(X[80:])
    assert_allclose(shares.sum(axis=1), 1, rtol=1e-6)
    assert_array_equal(shares.argmax(axis=1), model.predict(X[80:]))
    assert len(model.transform(X[80:])) == 10
    save_model(model, tmp_path / "model")
    assert_array_equal(load_model(tmp_path / "model").predict_proba(X[80:]), shares)
    assert (type(model.features_) is SelfSupervisedCodes) != by_network
    assert "Forced." in str(model.report_)


def test_codes_alone_are_what_guided_clustering_makes_of_the_codes(zeros_and_ones, fitted):
    X, _, codes, answers = zeros_and_ones
    Z = codes.transform(X)
    alone = GuidedClustering(2, random_state=0).fit(Z[:80], constraints=answers)
    assert_array_equal(fitted[False].labels_, alone.labels_)
    assert_array_equal(fitted[False].violated_, alone.violated_)
    assert_allclose(fitted[False].predict_proba(X), alone.predict_proba(Z), atol=1e-9)


def test_a_network_gives_its_own_memberships(zeros_and_ones, fitted):
    X, model = zeros_and_ones[0], fitted[True]
    assert_allclose(model.predict_proba(X), model.features_.predict_proba(X), atol=1e-4)
    assert_array_equal(model.labels_, model.features_.labels_)
    assert model.n_clusters_ == 2
    assert len(model.doubtful_) == model.report_.n_doubtful == 0


def test_codes_are_learned_where_none_are_given_and_again_where_they_are_not_fitted(
    zeros_and_ones, monkeypatch
):
    X, _, codes, answers = zeros_and_ones
    force(monkeypatch, False)
    unfitted = SelfSupervisedCodes(**{**codes.get_params(), "epochs": 1, "flips": True})
    model = guide(unfitted).fit(X[:80], constraints=answers)
    assert model.features_ is not unfitted
    assert model.features_.flips_
    monkeypatch.setattr("likewise.deep.fit_settings.contrast_epochs", lambda *_: 1)
    model = guide("auto").fit(X[:80], constraints=answers)
    assert model.features_.image_shape == SHAPE
    assert model.features_.widths_ == (16, 32, 64)


@pytest.mark.parametrize(("worth", "is_network"), [(0.9, True), (0.5, True), (0.4, False)])
def test_held_out_answers_choose_and_without_a_difference_it_is_the_network(
    zeros_and_ones, worth, is_network, monkeypatch
):
    X, y, codes, _ = zeros_and_ones
    answers = Constraints.from_partial_labels(np.where(np.arange(80) < 30, y[:80], -1))
    seen = []

    def played(ways, trial, *given, **more):
        def credits(way, fit_part, held_out):
            seen.append((way, trial(way, fit_part, held_out).mean()))
            return np.full(held_out.n_answers, worth if way == images.WAYS[0] else 0.5)

        return select(ways, credits, *given, **more)

    monkeypatch.setattr(images, "select", played)
    model = guide(codes).fit(X[:80], constraints=answers)
    assert hasattr(model.features_, "labels_") == is_network
    assert [way for way, _ in seen] == list(images.WAYS)
    assert min(credit for _, credit in seen) > 0.8
    assert f"By {images.WAYS[0 if is_network else 1]}: predicts" in model.report_.why


def test_of_known_groups_rows_are_held_out_and_every_group_keeps_one():
    y = np.random.RandomState(0).randint(4, size=60)
    known = np.where(np.arange(60) < 20, y, -1)
    answers = Constraints.from_partial_labels(known)
    pairs, split = images.hold_out_pairs(answers, 4, 0)
    assert pairs.n_answers == 190
    fitted, touched = split.fit_part.touched_rows(), split.held_out.touched_rows()
    held_out = np.setdiff1d(touched, fitted)
    assert len(held_out) == 5
    assert {*y[fitted]} == {*y[:20]}
    assert np.isin(split.held_out.signed_pairs()[0], held_out).any(axis=1).all()
    assert split.fit_part.n_answers == 15 * 14 // 2
    assert split.held_out.n_answers == len(split.held_out_at) == 190 - 105
    alone = Constraints.from_partial_labels(np.where(np.arange(60) < 4, np.arange(60), -1))
    assert images.hold_out_pairs(alone, 4, 0)[1].held_out.n_answers == 0


@pytest.mark.parametrize(
    ("settings", "answers", "words"),
    [
        ({}, "none", "there is nothing to learn from"),
        ({}, "random", "there is nothing to learn from"),
        ({}, "few", "too few answers can be held out"),
        ({"last_step": "density"}, "all", "the learner or the last step was given"),
    ],
)
def test_where_a_network_has_no_place_the_codes_are_clustered(
    zeros_and_ones, settings, answers, words
):
    X, _, codes, pairs = zeros_and_ones
    random = Constraints.from_labels(
        np.random.RandomState(1).randint(2, size=80), n_pairs=100, random_state=0
    )
    few = pairs.subset(np.arange(0, 100, 4))
    given = {"none": None, "random": random, "few": few, "all": pairs}[answers]
    model = guide(codes, **settings).fit(X[:80], constraints=given)
    assert model.features_ is codes
    assert f"No network was tried: {words}." in model.report_.why


def test_sizes_are_kept_by_a_network_too(zeros_and_ones, monkeypatch):
    X, _, codes, answers = zeros_and_ones
    force(monkeypatch, True)
    model = guide(codes, min_size=40).fit(X[:80], constraints=answers)
    assert_array_equal(np.bincount(model.labels_), [40, 40])
    assert "rules" in model.report_.last_step


def test_the_number_of_clusters_is_found_in_the_codes(zeros_and_ones, monkeypatch):
    X, y, codes, _ = zeros_and_ones
    force(monkeypatch, True)
    known = Constraints.from_partial_labels(np.where(np.arange(80) < 20, y[:80], -1))
    model = guide(codes, "auto").fit(X[:80], constraints=known)
    assert model.n_clusters_ == model.features_.n_clusters == 2


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"image_shape": (3, 3), "features": "auto"}, "has 9 values, but X has 64"),
        ({"views": (32, 32)}, "image_shape takes images alone"),
        ({"features": GuidedClustering()}, "image_shape learns features from the images, so"),
    ],
)
def test_a_wrong_setting_ends_in_one_error(zeros_and_ones, settings, words):
    X, _, codes, answers = zeros_and_ones
    with pytest.raises((ValueError, TypeError), match=words):
        guide(codes, **settings).fit(X[:80], constraints=answers)


def test_rows_in_blocks_are_refused(zeros_and_ones):
    X, _, codes, _ = zeros_and_ones
    with pytest.raises(TypeError, match="image_shape takes images in one array"):
        guide(codes).fit(as_blocks(X))


def test_without_torch_one_line_says_what_to_install(zeros_and_ones, monkeypatch):
    X, _, _, _ = zeros_and_ones
    for name in [name for name in sys.modules if name.startswith("likewise.deep.")]:
        if hasattr(sys.modules[name], "torch"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError) as caught:
        guide("auto", device=None).fit(X)
    line = "SelfSupervisedCodes needs torch to fit. pip install 'likewise[deep]'"
    assert str(caught.value) == line
