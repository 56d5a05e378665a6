"""What is concluded from the runs on texts and images, and what they are run on."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from experiments import texts_images


def record(data, clicks, method, ari):
    return {"data": data, "clicks": str(clicks), "method": method, "ARI": str(ari)}


def test_behind_is_more_than_a_standard_error_below_the_best():
    records = [record("a", 0, "k-means", ari) for ari in (0.5, 0.5)]
    records += [record("a", 0, "UMAP + k-means", ari) for ari in (0.4, 0.4)]
    records += [record("a", 0, "guided", ari) for ari in (0.44, 0.46)]
    records += [record("b", 0, m, a) for m in ("k-means", "guided") for a in (0.3, 0.6)]
    (sentence,) = texts_images.conclude(records)
    assert "in 1 of 2 cells; behind on a with 0 clicks (0.450, 0.500)." in sentence


def test_kmeans_starts_from_the_clicked_rows_where_every_class_was_clicked():
    X = np.array([[0.0], [1.0], [5.0], [9.0], [10.0]])
    labels = texts_images.seeded_kmeans(X, np.array([1, -1, -1, -1, 0]), 2, seed=0)
    assert_array_equal(labels[[0, 4]], [1, 0])


def test_a_post_is_read_without_the_headers_that_name_its_group():
    assert (
        texts_images.body("Newsgroups: sci.med\nSubject: x\n\nhello\n\nworld") == "hello\n\nworld"
    )


def test_images_are_written_and_read_back(tmp_path):
    Image = pytest.importorskip("PIL.Image", reason="Pillow is not installed (extra images)")
    rows = np.random.RandomState(0).randint(0, 256, (3, 784)).astype(float)
    texts_images.write_images(rows, tmp_path)
    assert_array_equal(np.asarray(Image.open(tmp_path / "00002.png")).ravel(), rows[2])


@pytest.mark.parametrize("method", ["guided", "k-means"])
def test_nothing_is_concluded_from_one_side_alone(method):
    assert texts_images.conclude([record("a", 0, method, 0.5)]) == []
