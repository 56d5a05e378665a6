import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

torch = pytest.importorskip("torch")

from likewise import Constraints, load_model, save_model  # noqa: E402
from likewise.deep import DeepConstrainedClustering, TrainingPlan  # noqa: E402
from likewise.deep.fit_settings import check_ease, read_settings  # noqa: E402
from likewise.deep.networks import Autoencoder, Clusterer, start_weights  # noqa: E402
from tests.deep.problems import draw_blobs  # noqa: E402

QUICK = TrainingPlan(pretraining_epochs=4, max_epochs=6, tol=1.0)
SMALL = {"encoder": (8, 4), "training": QUICK, "device": "cpu"}


@parametrize_with_checks(
    [
        DeepConstrainedClustering(
            2, **{**SMALL, "training": replace(QUICK, batch_size=16, loss=loss)}
        )
        for loss in ("angular", "student")
    ]
)
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


def fit_small(loss="angular", X=None, answers=None, *, init_model=None, **changes):
    X = draw_blobs()[0] if X is None else X
    plan = replace(QUICK, loss=loss, **changes)
    settings = {**SMALL, "training": plan, "init_model": init_model, "random_state": 0}
    return DeepConstrainedClustering(3, **settings).fit(X, constraints=answers)


@pytest.mark.parametrize("loss", ["angular", "student"])
def test_numpy_gives_the_codes_and_clusters_that_torch_does(loss):
    X, _ = draw_blobs()
    model = fit_small(loss)
    network = Autoencoder(
        (4, 8, 4), on_sphere=loss == "angular", offset=model.map_.center, scale=1.0
    )
    network.scale = model.map_.scale
    with torch.no_grad():
        for layer, (weights, bias) in zip(network.encoder, model.map_.layers):
            layer.weight.copy_(torch.as_tensor(weights.T))
            layer.bias.copy_(torch.as_tensor(bias))
        module = Clusterer(network, torch.as_tensor(model.cluster_centers_), loss=loss, t_power=1)
        codes, _, q = module(torch.as_tensor(X))
    assert_allclose(model.transform(X), codes, rtol=1e-4, atol=1e-5)
    assert_allclose(model.predict_proba(X), q, rtol=1e-4, atol=1e-5)
    assert_array_equal(model.predict(X), model.labels_)
    assert_allclose(model.transform(X.astype(np.float64)), codes, rtol=1e-4, atol=1e-5)
    rows = torch.as_tensor(X)
    there = model.map_.like(rows).transform(rows)
    assert there.dtype == rows.dtype
    assert_allclose(there, codes, rtol=1e-4, atol=1e-5)
    assert_allclose(model.map_.kernel(X[:5], X), codes[:5] @ codes.T, rtol=1e-3, atol=1e-4)


def test_pairs_that_the_clusters_violate_are_named():
    X, _ = draw_blobs()
    answers = Constraints(len(X), must_link=[(0, 1)], cannot_link=[(0, 1)])
    model = fit_small(X=X, answers=answers)
    together = model.labels_[0] == model.labels_[1]
    assert_array_equal(model.violated_, [1 if together else 0])


def test_weights_start_the_same_wherever_they_are():
    networks = [
        Autoencoder((4, 8, 2), on_sphere=True, offset=np.zeros(4), scale=1.0) for _ in range(2)
    ]
    for network in networks:
        start_weights(network, torch.Generator().manual_seed(3))
    assert_array_equal(*[network.encoder[0].weight.detach() for network in networks])
    assert networks[0].encoder[0].weight.abs().max() <= 0.5  # 1 / sqrt(4)


def test_digits_with_pairs_are_clustered_better_than_without():
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    X, y = X[:600], y[:600]
    plan = TrainingPlan(max_epochs=25, pretraining_epochs=10, tol=0.01, batch_size=64)
    model = DeepConstrainedClustering(10, encoder=(64, 10), training=plan, random_state=0)
    without = adjusted_rand_score(y, model.fit(X).labels_)
    answers = Constraints.from_labels(y, n_pairs=1200, random_state=0)
    assert adjusted_rand_score(y, model.fit(X, constraints=answers).labels_) > without + 0.1


def test_images_may_be_warped_and_other_rows_not():
    X = np.random.RandomState(0).rand(40, 16)
    warped = DeepConstrainedClustering(2, image_shape=(4, 4), random_state=0, **SMALL).fit(X)
    plain = DeepConstrainedClustering(2, random_state=0, **SMALL).fit(X)
    assert not np.array_equal(warped.cluster_centers_, plain.cluster_centers_)
    with pytest.raises(ValueError, match=r"image_shape=\(5, 4\) has 20 values, but X has 16"):
        DeepConstrainedClustering(2, image_shape=(5, 4)).fit(X)


def test_the_unit_of_the_data_does_not_matter():
    X, _ = draw_blobs()
    for loss in ("angular", "student"):
        assert_array_equal(fit_small(loss, X).labels_, fit_small(loss, 1024 * X).labels_)


def test_without_torch_a_saved_model_is_used_and_everything_else_too(tmp_path):
    X, _ = draw_blobs()
    model = fit_small()
    save_model(model, tmp_path / "model")
    np.save(tmp_path / "X.npy", X)
    program = f"""
import sys
class NoTorch:
    def find_spec(self, name, *_):
        if name.split(".")[0] == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")
sys.meta_path.insert(0, NoTorch())
import numpy as np
import likewise.cli, likewise.guided, likewise.selection
from likewise import load_model
from likewise.deep import DeepConstrainedClustering
model = load_model({str(tmp_path / "model")!r})
X = np.load({str(tmp_path / "X.npy")!r})
np.save({str(tmp_path / "labels.npy")!r}, model.predict(X))
try:
    DeepConstrainedClustering(2).fit(X)
except ImportError as error:
    print(error)
"""
    command = [sys.executable, "-c", program]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert "pip install 'likewise[deep]'" in ended.stdout
    assert_array_equal(np.load(tmp_path / "labels.npy"), model.labels_)
    loaded = load_model(tmp_path / "model")
    assert_array_equal(loaded.transform(X), model.transform(X))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"training": "zhang"}, "training='zhang' is not one of 'auto', 'angular', 'student',"),
        ({"training": {"max_epochs": 3}}, "training={'max_epochs': 3} is neither"),
        ({"drop_share": 1.5}, "drop_share"),
        ({"held_out_share": 1.0}, "held_out_share"),
        ({"n_clusters": 100}, "n_samples=60 should be >= n_clusters=100"),
    ],
)
def test_a_wrong_setting_ends_in_one_error_that_names_it(settings, words):
    with pytest.raises((ValueError, TypeError), match=words):
        DeepConstrainedClustering(**{"n_clusters": 2, **settings}).fit(draw_blobs()[0])


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"loss": "cosine"}, "loss='cosine' is not one of"),
        ({"pretraining": "long"}, "pretraining='long' is not one of"),
        ({"t_power": 3}, "t_power"),
        ({"drop_share": 1.5}, "drop_share"),
        ({"batch_size": 0}, "batch_size"),
        ({"learning_rate": 0}, "learning_rate"),
        ({"kl_weight": -1.0}, "kl_weight"),
        ({"max_epochs": -1}, "max_epochs"),
        ({"pretraining_epochs": 2.5}, "pretraining_epochs"),
    ],
)
def test_a_wrong_plan_cannot_be_made(settings, words):
    with pytest.raises((ValueError, TypeError), match=words):
        TrainingPlan(**settings)


def test_the_constructor_has_room_for_two_more_parameters():
    assert len(DeepConstrainedClustering().get_params()) <= 10  # of 12 at most


def test_what_a_plan_leaves_open_is_filled_in_by_the_rows():
    model, plan = DeepConstrainedClustering(2), TrainingPlan()
    assert read_settings(model, plan, 60, 4).batch_size == 64
    assert read_settings(model, plan, 20_000, 4).batch_size == 200
    assert read_settings(model, plan, 10**6, 4).batch_size == 512
    assert read_settings(model, plan, 60, 4).pretraining_epochs == 30
    assert read_settings(model, plan, 60, 4).widths == (500, 500, 2000, 10)
    zhang, likely = TrainingPlan.named("zhang2021"), TrainingPlan.named("likelihood")
    assert read_settings(model, zhang, 60, 4).pretraining_epochs == 500
    assert read_settings(model, likely, 60, 4).pretraining_epochs == 200
    assert read_settings(model, likely, 60_000, 4).pretraining_epochs == 20
    assert read_settings(model, likely, 60, 4).widths == (128, 128, 64)
    model.set_params(image_shape=(28, 28))
    assert read_settings(model, likely, 60_000, 784).widths == (48, 96, 192)
    assert read_settings(model, likely, 1000, 784).widths == (16, 32, 64)
    assert fit_small().plan_ == replace(QUICK, batch_size=64)


def test_drop_share_overrides_the_one_in_the_plan():
    def drop_share(training, given):
        model = DeepConstrainedClustering(2, training=training, drop_share=given)
        return read_settings(model, TrainingPlan.named(training), 60, 4).drop_share

    assert TrainingPlan.named("zhang2021") == TrainingPlan.named("randel2021", drop_share=None)
    assert drop_share("angular", None) is None
    assert drop_share("angular", 0.2) == 0.2
    assert drop_share("randel2021", None) == 0.7
    assert drop_share("randel2021", 0.0) == 0.0


def test_a_changed_parameter_does_not_change_a_fitted_model():
    X, _ = draw_blobs()
    model = fit_small()
    before = model.predict_proba(X)
    model.set_params(training=TrainingPlan(loss="student"))
    assert_array_equal(model.predict_proba(X), before)


def test_ease_must_fit_the_rows_and_all_zeros_say_nothing():
    X, _ = draw_blobs()
    with pytest.raises(ValueError, match=r"ease has shape \(1,\), but X has 60 rows"):
        DeepConstrainedClustering(2).fit(X, ease=[1.0])
    with pytest.raises(ValueError, match=r"ease\[3\] = nan is not finite"):
        DeepConstrainedClustering(2).fit(X, ease=np.where(np.arange(60) == 3, np.nan, 1.0))
    assert check_ease(np.zeros(60), 60) is None


def test_a_network_is_begun_with_and_must_fit():
    X, _ = draw_blobs()
    pretrained = fit_small(max_epochs=0)
    begun = fit_small(max_epochs=0, init_model=pretrained, pretraining_epochs=50)
    assert_array_equal(begun.map_.layers[0][0], pretrained.map_.layers[0][0])
    assert begun.n_iter_ == 0
    with pytest.raises(ValueError, match=r"init_model has layers of \(4, 8, 4\), but X"):
        DeepConstrainedClustering(3, encoder=(8, 5), init_model=pretrained).fit(X)


def test_a_checkpoint_needs_an_int_as_random_state(tmp_path):
    X, _ = draw_blobs()
    with pytest.raises(ValueError, match="checkpoint needs an int as random_state, not None"):
        DeepConstrainedClustering(2, checkpoint=tmp_path / "state").fit(X)
    settings = {**SMALL, "checkpoint": tmp_path / "state", "random_state": 0}
    kept = DeepConstrainedClustering(2, **settings).fit(X)
    assert_array_equal(kept.labels_, kept.set_params(checkpoint=None).fit(X).labels_)
    assert not (tmp_path / "state").exists()


def test_one_cluster_has_no_prices():
    with pytest.raises(ValueError, match="drop_share needs n_clusters >= 2"):
        DeepConstrainedClustering(1, drop_share=0.5).fit(draw_blobs()[0])


def test_a_warning_says_that_epochs_ran_out():
    with pytest.warns(ConvergenceWarning, match="stopped at max_epochs=1"):
        fit_small("student", max_epochs=1, tol=0.0, learning_rate=0.1)


@pytest.mark.parametrize(
    ("learning_rate", "words"),
    [(1e3, "put all rows into one cluster of 3"), (1e30, "diverged in epoch 2: the loss is NaN")],
)
def test_a_warning_says_that_training_failed(learning_rate, words):
    X, y = draw_blobs()
    answers = Constraints.from_labels(y, n_pairs=50, random_state=0)
    plan = TrainingPlan(
        loss="student", pretraining="none", answers_apart=False, learning_rate=learning_rate
    )
    model = DeepConstrainedClustering(3, encoder=(8, 3), training=plan, random_state=0)
    with pytest.warns(ConvergenceWarning, match=words):
        model.fit(X, constraints=answers)
    assert model.labels_.shape == (60,)
