import pickle
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline

from likewise import Constraints, GuidedClustering, load_model, save_model
from likewise.datasets import available, fetch
from likewise.features import ImageFeatures, UnreadableImageWarning, image_features
from likewise.features.image_descriptors import (
    describe_images,
    gradient_histograms,
    resize,
    thumbnails,
    tint_histograms,
)

Image = pytest.importorskip("PIL.Image", reason="Pillow is not installed (extra images)")


def made_images(n=12, seed=0):
    """Squares, lying and standing stripes, at random places; n of each, 20 x 30, gray."""
    rng = np.random.RandomState(seed)
    images = np.zeros((3 * n, 20, 30), dtype=np.uint8)
    for i in range(n):
        top, left = rng.randint(1, 8, 2)
        images[i, top : top + 10, left : left + 10] = 255
        images[n + i, rng.randint(4) :: 4] = 255
        images[2 * n + i, :, rng.randint(4) :: 4] = 255
    return images, np.repeat(np.arange(3), n)


@pytest.fixture
def folder(tmp_path):
    images, _ = made_images()
    for i, image in enumerate(images):
        (tmp_path / f"class{i // 12}").mkdir(exist_ok=True)
        Image.fromarray(image).save(tmp_path / f"class{i // 12}" / f"{i:02d}.png")
    return tmp_path


def sq_distances(Z):
    return np.square(Z[:, None] - Z[None]).sum(axis=2)


def save(folder, name, pixels, mode=None, **settings):
    path = folder / name
    Image.fromarray(pixels, mode=mode).save(path, **settings)
    return path


# ---- the descriptors, by hand


def test_a_thumbnail_is_the_mean_of_each_cell():
    image = np.zeros((1, 64, 64, 3), dtype=np.float32)
    image[0, :8, :4] = 1.0  # half of the first cell
    assert_allclose(thumbnails(image)[0], [0.5, 0.5, 0.5] + [0.0] * 189)


def test_gray_images_have_one_tint_and_half_red_ones_two():
    gray = np.linspace(0, 1, 64 * 64, dtype=np.float32).reshape(1, 64, 64, 1).repeat(3, axis=3)
    assert_array_equal(np.sort(tint_histograms(gray)[0])[-2:], [0, 1])
    gray[0, :32] = (1, 0, 0)
    assert_allclose(np.sort(tint_histograms(gray)[0])[-3:], [0, 0.5**0.5, 0.5**0.5])


def test_an_edge_that_stands_has_direction_zero_and_one_that_lies_the_middle():
    image = np.zeros((2, 64, 64, 3), dtype=np.float32)
    image[0, :, 12:] = 1.0  # within the second cells
    image[1, 12:] = 1.0
    standing, lying = gradient_histograms(image).reshape(2, 7, 7, 4, 9).sum(axis=(1, 2, 3))
    assert_array_equal(np.flatnonzero(standing), [0])
    assert_array_equal(np.flatnonzero(lying > 1e-6 * lying.max()), [4, 5])  # 90 of 180 degrees


def test_light_on_dark_and_dark_on_light_have_the_same_gradients():
    images = np.random.RandomState(0).rand(3, 64, 64, 3).astype(np.float32)
    assert_allclose(gradient_histograms(images), gradient_histograms(1 - images), atol=1e-4)


def test_a_flat_image_has_no_gradients_and_noise_in_it_few():
    flat = np.full((1, 64, 64, 3), 0.5, dtype=np.float32)
    noisy = flat + 1e-4 * np.random.RandomState(0).randn(*flat.shape).astype(np.float32)
    assert_array_equal(gradient_histograms(flat), np.zeros((1, 1764)))
    assert np.linalg.norm(gradient_histograms(noisy)) < 1  # an edge everywhere: 7


@pytest.mark.parametrize("shape", [(20, 30), (5, 3), (1, 1), (100, 64), (64, 200)])
def test_resizing_is_that_of_pillow(shape):
    image = np.random.RandomState(0).randint(0, 256, shape).astype(np.float32)
    theirs = Image.fromarray(image).resize((64, 64), Image.Resampling.BILINEAR)
    assert_allclose(resize(image[None, ..., None], 64)[0, ..., 0], np.asarray(theirs), atol=1e-3)


# ---- laws


def test_the_order_of_images_does_not_matter():
    images, _ = made_images()
    order = np.random.RandomState(0).permutation(len(images))
    Z, shuffled = (ImageFeatures().fit_transform(some) for some in (images, images[order]))
    assert_allclose(sq_distances(shuffled), sq_distances(Z)[np.ix_(order, order)], atol=1e-6)


def test_equal_images_have_equal_rows():
    images, _ = made_images()
    Z = ImageFeatures().fit_transform(np.concatenate([images, images[3:4]]))
    assert_allclose(Z[3], Z[-1], atol=1e-12)


def test_distances_are_those_of_the_descriptors_when_all_directions_stay():
    images, _ = made_images()
    big = resize(images[..., None].repeat(3, axis=3).astype(np.float32) / 255, 64)
    Z = ImageFeatures(n_components=1000).fit_transform(images)
    assert_allclose(sq_distances(Z), sq_distances(describe_images(big).astype(float)), atol=1e-5)


def test_more_images_than_are_learned_from_are_mapped_too(monkeypatch):
    images, _ = made_images()
    monkeypatch.setattr(image_features, "N_FIT", 20)
    model = ImageFeatures().fit(images)
    assert_allclose(model.transform(images), ImageFeatures().fit_transform(images), atol=1e-6)


@pytest.mark.parametrize(
    "same",
    [
        lambda images: images[..., None],
        lambda images: images[..., None].repeat(3, axis=3),
        lambda images: images.astype(np.uint16) * 257,
        lambda images: images / 255,
        lambda images: images > 0,
        lambda images: images.astype(np.int64) * 3 - 7,
        lambda images: np.stack([images] * 3 + [np.full_like(images, 255)], axis=3),
    ],
    ids=["one channel", "three", "16 bits", "floats", "booleans", "whole numbers", "opaque"],
)
def test_one_image_may_be_written_in_many_ways(same):
    images, _ = made_images()
    ours, theirs = (
        ImageFeatures().fit_transform(images),
        ImageFeatures().fit_transform(same(images)),
    )
    assert_allclose(sq_distances(ours), sq_distances(theirs), atol=1e-5)


# ---- files


def test_a_folder_a_list_of_paths_and_arrays_agree(folder):
    images, _ = made_images()
    paths = sorted(str(path) for path in folder.rglob("*.png"))
    from_folder = ImageFeatures().fit_transform(folder)
    assert_allclose(from_folder, ImageFeatures().fit_transform(paths), atol=1e-12)
    assert_allclose(
        from_folder, ImageFeatures().fit_transform(pd.DataFrame({"p": paths})), atol=1e-12
    )
    from_arrays = ImageFeatures().fit_transform(images)
    # Pillow rounds every pixel to 1/255
    assert_allclose(sq_distances(from_folder), sq_distances(from_arrays), atol=0.02)


def test_every_kind_of_pixel_is_read(tmp_path):
    gray = np.random.RandomState(0).randint(0, 256, (16, 16)).astype(np.uint8)
    color = gray[..., None].repeat(3, axis=2)
    opaque = np.concatenate([color, np.full((16, 16, 1), 255, dtype=np.uint8)], axis=2)
    paths = [
        save(tmp_path, "gray.png", gray),
        save(tmp_path, "color.png", color),
        save(tmp_path, "alpha.png", opaque),
        save(tmp_path, "bits16.png", gray.astype(np.uint16) * 257),
        save(tmp_path, "bits32.tiff", gray.astype(np.int32) * 257),
        save(tmp_path, "float.tiff", (gray / 255 * gray.max() / 255).astype(np.float32)),
        save(tmp_path, "color.bmp", color),
    ]
    Image.fromarray(gray).convert("P").save(tmp_path / "palette.png")
    Image.fromarray(gray).convert("LA").save(tmp_path / "la.png")
    Image.fromarray(color).convert("CMYK").save(tmp_path / "cmyk.tiff")
    paths += [tmp_path / name for name in ("palette.png", "la.png", "cmyk.tiff")]
    distances = sq_distances(ImageFeatures().fit_transform(paths))
    others = [
        i for i, path in enumerate(paths) if path.name != "float.tiff"
    ]  # as bright as it says
    assert distances[np.ix_(others, others)].max() < 1e-3
    assert distances.max() < 0.05


def test_a_photo_is_turned_as_its_exif_says(tmp_path):
    image = np.zeros((40, 60, 3), dtype=np.uint8)
    image[:10] = 255
    upright = save(tmp_path, "upright.png", image)
    exif = Image.Exif()
    exif[0x0112] = 6  # the top of the picture is at the right of the file
    Image.fromarray(np.rot90(image)).save(tmp_path / "turned.png", exif=exif)
    save(tmp_path, "lying.png", np.ascontiguousarray(np.rot90(image)))
    up, turned, lying = ImageFeatures().fit_transform(
        [upright, tmp_path / "turned.png", tmp_path / "lying.png"]
    )
    assert_allclose(up, turned, atol=1e-6)
    assert np.linalg.norm(up - lying) > 0.1


def test_what_is_transparent_is_white(tmp_path):
    clear = np.zeros((8, 8, 4), dtype=np.uint8)
    paths = [
        save(tmp_path, "clear.png", clear),
        save(tmp_path, "white.png", np.full((8, 8, 3), 255, dtype=np.uint8)),
        save(tmp_path, "black.png", np.zeros((8, 8, 3), dtype=np.uint8)),
    ]
    clear_row, white, black = ImageFeatures().fit_transform(paths)
    assert_allclose(clear_row, white, atol=1e-9)
    assert np.linalg.norm(white - black) > 0.1


@pytest.mark.parametrize("size", [(1, 1), (1, 50), (3000, 2)])
def test_tiny_and_narrow_images_are_read(tmp_path, size):
    path = save(tmp_path, "tiny.png", np.full(size, 100, dtype=np.uint8))
    assert np.isfinite(ImageFeatures().fit_transform([path, path])).all()


def test_unreadable_images_are_named_and_rows_of_nan(folder):
    (folder / "class0" / "notes.png").write_text("not an image")
    broken = folder / "class2" / "broken.png"
    broken.write_bytes((folder / "class2" / "30.png").read_bytes()[:60])
    (folder / "readme.txt").write_text("left alone: not an image by its name")
    model = ImageFeatures()
    with pytest.warns(UnreadableImageWarning, match="2 images could not be read") as caught:
        Z = model.fit_transform(folder)
    assert len(caught) == 1
    assert "class0/notes.png (it is not an image that Pillow knows)" in str(caught[0].message)
    assert list(model.unreadable_) == ["class0/notes.png", "class2/broken.png"]
    assert_array_equal(np.flatnonzero(np.isnan(Z).all(axis=1)), [12, 37])
    assert np.isfinite(np.delete(Z, [12, 37], axis=0)).all()
    with pytest.warns(UnreadableImageWarning, match=r"gone.png \(there is no such file\)"):
        mapped = model.transform([broken, folder / "class0" / "00.png", folder / "gone.png"])
    assert_array_equal(np.isnan(mapped[:, 0]), [True, False, True])
    assert_allclose(mapped[1], Z[0], atol=1e-9)


def test_the_others_are_mapped_as_if_the_unreadable_were_not_there(folder):
    alone = ImageFeatures().fit_transform(folder)
    (folder / "zz.png").write_text("not an image")
    with pytest.warns(UnreadableImageWarning):
        beside = ImageFeatures().fit_transform(folder)
    assert_allclose(beside[:-1], alone, atol=1e-9)


def test_no_readable_image_is_an_error(tmp_path):
    (tmp_path / "a.png").write_text("no")
    with pytest.raises(ValueError, match=r"No image could be read: a.png \(it is not an image"):
        ImageFeatures().fit(tmp_path)


def test_pillow_is_asked_for_by_name_when_it_is_missing(folder, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "PIL", None)
    with pytest.raises(ImportError, match=r"needs Pillow.*pip install 'likewise\[images\]'"):
        ImageFeatures().fit(folder)
    assert ImageFeatures().fit_transform(made_images()[0]).shape[0] == 36  # arrays need none


# ---- encoders


def test_a_function_of_images_is_an_encoder():
    seen = []

    def mean_and_spread(images):
        seen.append((images.shape[1:], images.dtype.name))
        return np.stack([images.mean(axis=(1, 2, 3)), images.std(axis=(1, 2, 3))], axis=1)

    images, _ = made_images()
    model = ImageFeatures(mean_and_spread, n_components=None, size=50)
    Z = model.fit_transform(images)
    assert set(seen) == {((50, 50, 3), "uint8")}
    assert_allclose(Z.mean(axis=0), 0, atol=1e-9)
    assert Z.shape == (36, 2)


def test_a_transformer_takes_pixels_and_is_fitted_if_it_is_not():
    images, _ = made_images()
    model = ImageFeatures(PCA(3, random_state=0), n_components=None)
    Z = model.fit_transform(images)
    assert model.encoder_ is not model.encoder
    assert model.encoder_.n_features_in_ == 3 * 32 * 32
    fitted = ImageFeatures(model.encoder_, n_components=None).fit(images)
    assert fitted.encoder_ is model.encoder_
    assert_allclose(fitted.transform(images), Z, atol=1e-6)


# ---- contract; scikit-learn's own checks leave out estimators of images, with a warning


def test_it_is_cloned_printed_and_pickled_as_scikit_learn_asks():
    images, _ = made_images()
    model = ImageFeatures(n_components=5)
    assert repr(model) == "ImageFeatures(n_components=5)"
    assert clone(model).get_params() == model.get_params()
    assert model.fit(images) is model
    assert_array_equal(pickle.loads(pickle.dumps(model)).transform(images), model.transform(images))
    assert_allclose(model.fit_transform(images), model.transform(images), atol=1e-9)
    frame = model.set_output(transform="pandas").transform(images)
    assert frame.columns.tolist() == [f"imagefeatures{i}" for i in range(5)]
    with pytest.raises(NotFittedError, match="ImageFeatures instance is not fitted yet"):
        ImageFeatures().transform(images)


def test_a_saved_one_gives_the_same_rows(tmp_path, folder):
    model = ImageFeatures().fit(folder)
    save_model(model, tmp_path / "images.likewise")
    loaded = load_model(tmp_path / "images.likewise")
    assert_array_equal(loaded.transform(folder), model.transform(folder))


def test_shapes_are_found_and_answers_go_through_a_pipeline():
    images, y = made_images()
    labels = KMeans(3, n_init=10, random_state=0).fit_predict(ImageFeatures().fit_transform(images))
    assert adjusted_rand_score(y, labels) == 1
    pipe = make_pipeline(ImageFeatures(), GuidedClustering(3, random_state=0))
    answers = Constraints.from_labels(y, n_pairs=20, random_state=0)
    pipe.fit(images, guidedclustering__constraints=answers)
    assert adjusted_rand_score(y, pipe.predict(images)) == 1


@pytest.mark.parametrize(
    ("images", "problem"),
    [
        (np.ones((3, 4)), r"shape \(3, 4\) must have shape \(n, h, w\)"),
        (np.ones((3, 4, 4, 2)), r"shape \(3, 4, 4, 2\) must have shape"),
        (np.ones((0, 4, 4)), r"shape \(0, 4, 4\)"),
        (np.full((2, 4, 4), "a"), "must be numbers"),
        (np.full((2, 4, 4), np.nan), "NaN or infinite"),
        ([], "There are 0 images"),
        ([3, 4], r"images\[0\] is a int, not the path of a file"),
        ("no/such/folder", "no/such/folder is not a folder"),
    ],
)
def test_what_is_no_images_is_named(images, problem):
    with pytest.raises(ValueError, match=problem):
        ImageFeatures().fit(images)


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"encoder": "resnet"}, "encoder='resnet' is unknown. Use one of histograms"),
        ({"encoder": 3}, "encoder is a int, which has no transform"),
        ({"n_components": 0}, "n_components=0 must be an int of at least 1"),
        ({"size": True}, "size=True must be an int of at least 1"),
        ({"encoder": lambda images: np.ones((1, 2))}, "returned 1 rows for 36 images"),
    ],
)
def test_a_wrong_setting_is_named(settings, problem):
    with pytest.raises((ValueError, TypeError), match=problem):
        ImageFeatures(**settings).fit(made_images()[0])


@pytest.mark.data
@pytest.mark.skipif(
    available().get("fashion_mnist_test10k") != "folder",
    reason="fashion_mnist_test10k is not at hand",
)
def test_clothes_separate_better_by_edges_than_by_pixels():
    data = fetch("fashion_mnist_test10k")
    images, y = np.asarray(data.X[:1000]).reshape(-1, 28, 28), data.y[:1000]

    def nearest_agrees(Z):
        distances = sq_distances_of(Z)
        return np.mean(y[distances.argmin(axis=1)] == y)

    def sq_distances_of(Z):
        lengths = np.square(Z).sum(axis=1)
        distances = lengths[:, None] + lengths - 2 * Z @ Z.T
        np.fill_diagonal(distances, np.inf)
        return distances

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours = nearest_agrees(ImageFeatures().fit_transform(images))
    assert ours > nearest_agrees(images.reshape(len(images), -1)) + 0.03


def test_the_warning_says_which_images_and_why(tmp_path):
    paths = [str(tmp_path / f"{i}.png") for i in range(4)]
    for i, path in enumerate(paths[:2]):
        Image.new("RGB", (8, 8), (100 * i, 50, 0)).save(path)
    Path(paths[2]).write_bytes(b"")
    features = ImageFeatures().fit(paths[:2])
    with pytest.warns(UnreadableImageWarning, match="2 images could not be read") as caught:
        features.transform(paths)
    reasons = {paths[2]: "it is empty", paths[3]: "there is no such file"}
    assert caught[0].message.problems == reasons
