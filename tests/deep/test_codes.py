"""The network of codes: what it computes, what it learns from rows alone, and how it is kept."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits
from sklearn.utils.estimator_checks import parametrize_with_checks

torch = pytest.importorskip("torch")

from likewise import Constraints, GuidedClustering, load_model, save_model  # noqa: E402
from likewise.deep import SelfSupervisedCodes  # noqa: E402
from likewise.deep.code_training import choose_flips, pretrain  # noqa: E402
from likewise.deep.convolution_map import convolve, shrink, shrinking_of  # noqa: E402
from likewise.deep.encoders import map_of, start_network  # noqa: E402
from likewise.deep.fit_settings import CodeSettings  # noqa: E402
from likewise.deep.images import warp  # noqa: E402
from likewise.deep.self_supervision import encode_rows, start_state  # noqa: E402
from likewise.deep.views import N_NUMBERS, uncovered, view_images, view_rows  # noqa: E402

QUICK = {"encoder": (4, 6), "epochs": 1, "device": "cpu", "random_state": 0}


def draw_network(shape, widths=(4, 6), seed=0):
    """A network whose running statistics have seen some rows."""
    generator = torch.Generator().manual_seed(seed)
    d = 7 if shape is None else int(np.prod(shape))
    X = np.random.RandomState(seed).normal(2, 3, (30, d)).astype(np.float32)
    network = start_network(X, widths, shape, 3, generator)
    with torch.no_grad():
        for _ in range(3):
            network.encode(network.standardize(torch.as_tensor(X)))
    return network, X


@pytest.mark.parametrize("shape", [None, (8, 8, 1), (5, 7, 3), (70, 66, 2)])
def test_arrays_give_the_codes_that_the_network_does(shape):
    network, X = draw_network(shape)
    codes = encode_rows(network, torch.as_tensor(X)).numpy()
    assert_allclose(np.linalg.norm(codes, axis=1), 1, rtol=1e-5)
    assert_allclose(map_of(network).transform(X), codes, rtol=1e-3, atol=1e-4)
    there = map_of(network).like(torch.as_tensor(X))
    assert_allclose(there.transform(torch.as_tensor(X)), codes, rtol=1e-3, atol=1e-4)


def test_a_convolution_by_hand_sums_the_neighbors_inside_the_image():
    image = np.arange(1.0, 10).reshape(1, 3, 3, 1)
    summed = convolve(image, np.ones((3, 3, 1, 1)), np.array([0.5]), 1)
    assert summed[0, 1, 1, 0] == 45.5
    assert summed[0, 0, 0, 0] == 1 + 2 + 4 + 5 + 0.5
    halved = convolve(image, np.ones((3, 3, 1, 1)), np.array([0.5]), 2)
    assert_array_equal(halved[0, :, :, 0], summed[0, ::2, ::2, 0])


def test_large_images_are_averaged_down_and_small_ones_are_not():
    assert shrinking_of((63, 40, 1)) == 1
    assert shrinking_of((64, 64, 3)) == 2
    assert shrinking_of((300, 200, 3)) == 5
    images = np.arange(16.0).reshape(1, 4, 4, 1)
    assert_array_equal(shrink(images, 2)[0, :, :, 0], [[2.5, 4.5], [10.5, 12.5]])


def test_a_view_without_changes_is_the_image_and_a_mirrored_one_its_mirror_image():
    network, X = draw_network((6, 5, 2))
    rows, none = torch.as_tensor(X), torch.zeros(30, N_NUMBERS)
    as_they_are = network.standardize(rows)
    for level in ("weak", "mild"):
        shown = view_images(network, rows, none, level=level, flips=False)
        assert_allclose(shown, as_they_are, atol=1e-5)
    mirrored = warp(rows, none, (6, 5, 2), torch.ones(30, dtype=torch.bool))
    turned = X.reshape(30, 6, 5, 2)[:, :, ::-1].reshape(30, -1)
    assert_allclose(mirrored, turned, atol=1e-4)


def test_a_cover_hides_a_square_in_all_channels():
    kept = uncovered(torch.tensor([[-1.0, -1.0, 1.0]]), (5, 5, 2), "cpu").reshape(5, 5, 2)
    assert_array_equal(kept[..., 0], kept[..., 1])
    assert (bool(kept[0, 0, 0]), bool(kept[4, 4, 0])) == (False, True)
    assert int((~kept[..., 0]).sum()) == 1  # pixels nearer than half the sides of [-1, 1]


def test_a_view_of_a_row_takes_values_from_others():
    network, X = draw_network(None)
    rows = torch.as_tensor(X)
    others, least = rows.roll(1, 0), -torch.ones(30, N_NUMBERS)  # nothing mixed in
    taken = torch.zeros(30, 7, dtype=torch.bool)
    taken[:, 0] = True
    shown = view_rows(network, rows, others, rows, least, taken)
    expected = X.copy()
    expected[:, 0] = np.roll(X[:, 0], 1)
    assert_allclose(shown, network.standardize(torch.as_tensor(expected)), atol=1e-5)


def test_codes_learned_from_digits_alone_separate_them_better_than_first_weights():
    X, y = load_digits(return_X_y=True)
    X, y = X[:400], y[:400]

    def nearest_are_right(epochs):
        settings = {"image_shape": (8, 8), "encoder": (8, 16), "epochs": epochs}
        Z = SelfSupervisedCodes(**settings, device="cpu", random_state=0).fit_transform(X)
        order = np.argsort(-Z @ Z.T, axis=1)[:, 1:11]
        return (y[order] == y[:, None]).mean()

    assert nearest_are_right(10) > nearest_are_right(0) + 0.1


def test_images_are_mirrored_only_if_answers_prefer_it():
    rng = np.random.RandomState(0)
    half = rng.rand(60, 8, 4)
    half[30:] = half[:30]  # two of each
    images = np.concatenate([half, np.zeros((60, 8, 4))], axis=2)
    mirrored = images.copy()
    mirrored[30:] = images[30:, :, ::-1]
    pairs = [(i, 30 + i) for i in range(30)]
    apart = [(i, i + 1) for i in range(29)]
    answers = Constraints(60, must_link=pairs, cannot_link=apart)
    settings = CodeSettings((4, 8), (8, 8, 1), 24, 60, None)
    chosen = {}
    for name, data in (("mirrored", mirrored), ("as they are", images)):
        X = data.reshape(60, -1).astype(np.float32)
        state = start_state(X, settings.widths, settings.image_shape, 1, "cpu", 0)
        chosen[name] = pretrain(state, torch.as_tensor(X), answers, settings)
        assert state.epoch == settings.epochs == len(state.objective)
    assert chosen == {"mirrored": True, "as they are": False}


def test_without_answers_to_judge_by_nothing_is_mirrored():
    X = np.random.RandomState(0).rand(20, 16).astype(np.float32)
    settings = CodeSettings((4,), (4, 4, 1), 2, 10, None)
    state = start_state(X, (4,), (4, 4, 1), 1, "cpu", 0)
    assert choose_flips(state, torch.as_tensor(X), Constraints(20), settings, None) is False
    assert state.epoch == 0


@parametrize_with_checks([SelfSupervisedCodes(**QUICK)])
def test_scikit_learn_accepts_codes(estimator, check):
    check(estimator)


def test_saved_codes_are_the_same_and_serve_as_features(tmp_path):
    digits = load_digits()
    X, y = digits.data[:150], digits.target[:150]
    codes = SelfSupervisedCodes(image_shape=(8, 8), **QUICK).fit(X)
    save_model(codes, tmp_path / "codes")
    loaded = load_model(tmp_path / "codes")
    assert_array_equal(loaded.transform(X), codes.transform(X))
    assert len(loaded.network_) == len(codes.network_)
    answers = Constraints.from_labels(y, n_pairs=40, random_state=0)
    unfitted = SelfSupervisedCodes(image_shape=(8, 8), **QUICK)
    model = GuidedClustering(10, features=unfitted, random_state=0).fit(X, constraints=answers)
    assert_array_equal(model.features_.transform(X), codes.transform(X))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"flips": "maybe"}, "flips='maybe' must be"),
        ({"encoder": "large"}, "encoder='large' must be"),
        ({"image_shape": (3, 3)}, r"image_shape=\(3, 3\) has 9 values, but X has 16"),
        ({"image_shape": (2, 2, 2, 2)}, "must be height and width"),
        ({"epochs": -1}, "epochs"),
    ],
)
def test_a_wrong_setting_of_codes_ends_in_one_error(settings, words):
    with pytest.raises(ValueError, match=words):
        SelfSupervisedCodes(**{**QUICK, **settings}).fit(np.eye(16))
