"""Images as numbers: thumbnails, colors and edges, or any encoder, in their leading directions."""

import warnings
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils import gen_batches
from sklearn.utils.validation import check_array, check_is_fitted

from likewise.constraints import refuse_answers_as_y
from likewise.features.content_sample import sample_by_content
from likewise.features.encoder_checks import check_encoder, check_whole, is_fitted
from likewise.features.image_descriptors import SIZE, describe_images
from likewise.features.image_input import (
    ImageSource,
    image_source,
    name_of,
    range_of_values,
    read_images,
)
from likewise.features.leading_directions import leading_directions
from likewise.files.folder_rows import name_some
from likewise.progress import track

ENCODERS = ("histograms", "network")
N_FIT = 10_000  # images to learn directions from; the others are only mapped
BLOCK = 128  # images in memory at once
SIZE_OF_NETWORK, SIZE_OF_TRANSFORMER = 224, 32


class UnreadableImageWarning(UserWarning):
    """Tell which image files could not be read; their rows are NaN.

    Attributes
    ----------
    problems : dict of str to str
        Their names, and why.

    Examples
    --------
    >>> import warnings
    >>> from likewise.features import UnreadableImageWarning
    >>> warnings.simplefilter("error", UnreadableImageWarning)  # stop at the first one
    >>> warnings.simplefilter("default", UnreadableImageWarning)  # the usual: name them, go on
    """

    def __init__(self, message: str = "", problems: Mapping[str, str] | None = None):
        super().__init__(message)
        self.problems = dict(problems or {})


class ImageFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Turn images into numbers that can be clustered.

    By default an image is described by a thumbnail, the shares of its tints and the directions of
    its edges (histograms of oriented gradients), reduced to their leading directions. That tells
    shapes, textures and color schemes apart, and not what a photo shows: for that there is
    ``encoder="network"``, trained on a million photos of a thousand things.

    Parameters
    ----------
    encoder : {"histograms", "network"}, transformer or callable, default="histograms"
        "network" needs the extra ``embed``: EfficientNet-Lite0, about ten images a second and core;
        what it made of an image is kept on disk and not computed again. A transformer takes pixels,
        (n, 3 * size * size) from 0 to 1; one that is fitted is used as it is, and another is
        fitted. A callable takes an array (n, size, size, 3) of uint8 and returns (n, d).
    n_components : int or None, default=100
        The most features. More keep finer differences and more noise. Few images give fewer. None
        keeps what the encoder gives.
    size : int or None, default=None
        Pixels on each side of the images that an encoder of yours gets: larger is slower and
        sharper. None takes 224 for a callable and 32 for a transformer.
    cache_folder : str, path or None, default=None
        Where the network's embeddings are kept. None takes the folder that the environment variable
        LIKEWISE_CACHE names, else `likewise` in the user's folder for such files. No model file
        holds it.

    Attributes
    ----------
    mean_ : ndarray of shape (n_encoded,)
        Mean of what the encoder gives.
    components_ : ndarray of shape (n_features, n_encoded) or None
        Directions in it. None if all are kept.
    unreadable_ : dict of str to str
        Names of images that could not be read in the fit, and why.
    value_range_ : tuple of float or None
        Black and white of arrays: by their type for 8 and 16 bits and booleans, else the smallest
        and the largest value in the fit.
    encoder_ : transformer or None
        The fitted one, where a transformer was passed.

    Notes
    -----
    Images may be gray, with a palette, transparent (laid on white) or of 16 bits; they are turned
    as their EXIF orientation says and squeezed into a square. One that cannot be read is a row of
    NaN, and one `UnreadableImageWarning` names all of them: nothing is left out, and
    ``np.isnan(rows[:, 0])`` says where. Of an animation the first picture counts.

    Beyond 10,000 images directions are learned from 10,000 of them, chosen by name.

    References
    ----------
    dalal2005, tan2019

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.features import ImageFeatures
    >>> stripes = np.zeros((4, 32, 32))
    >>> stripes[:2, ::8] = stripes[2:, :, ::8] = 1.0  # two lie, two stand
    >>> X = ImageFeatures().fit_transform(stripes)
    >>> bool(np.allclose(X[0], X[1])), bool(np.allclose(X[1], X[2]))
    (True, False)
    """

    def __init__(self, encoder="histograms", *, n_components=100, size=None, cache_folder=None):
        self.encoder, self.n_components = encoder, n_components
        self.size, self.cache_folder = size, cache_folder

    def fit(self, X, y=None):
        """Learn the leading directions.

        Parameters
        ----------
        X : str, path, sequence of paths or array of shape (n, h, w) or (n, h, w, c)
            A folder (its images at any depth, by name), files, or pixels with 1, 3 or 4 channels.
        y : None
            Ignored.

        Returns
        -------
        ImageFeatures
            Itself, fitted.
        """
        self._learn(X, y)
        _warn_of(self.unreadable_)
        return self

    def fit_transform(self, X, y=None):
        """Learn the leading directions and map the same images; each is read once.

        Parameters
        ----------
        X : str, path, sequence of paths or array of shape (n, h, w) or (n, h, w, c)
            As in `fit`.
        y : None
            Ignored.

        Returns
        -------
        ndarray of shape (n, n_features)
            A row per image, NaN where it could not be read.
        """
        source, encoded = self._learn(X, y)
        if len(encoded.is_read) < len(source):
            return self.transform(X)
        _warn_of(self.unreadable_)
        return self._rows_of(encoded)

    def transform(self, X):
        """Map images to rows of numbers.

        Parameters
        ----------
        X : str, path, sequence of paths or array of shape (n, h, w) or (n, h, w, c)
            As in `fit`.

        Returns
        -------
        ndarray of shape (n, n_features)
            A row per image, NaN where it could not be read.
        """
        check_is_fitted(self, "components_")
        source = image_source(X)
        rows = np.empty((len(source), self._n_features_out))
        problems: dict[str, str] = {}
        for block in track(list(gen_batches(len(source), BLOCK)), "reading images"):
            encoded = self._encode(source, np.arange(len(source))[block])
            rows[block] = self._rows_of(encoded)
            problems |= encoded.problems
        _warn_of(problems)
        return rows

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array = True, False
        tags.input_tags.three_d_array = True
        return tags

    def _learn(self, X, y):
        refuse_answers_as_y(y, "ImageFeatures takes no constraints=; the learner of its rows may.")
        check_encoder(self.encoder, ENCODERS, "images")
        check_whole("n_components", self.n_components, or_none=True)
        check_whole("size", self.size, or_none=True)
        source = image_source(X)
        self.value_range_ = range_of_values(source)
        sample = sample_by_content([name_of(source, i) for i in range(len(source))], N_FIT)
        self.encoder_ = self._fitted_encoder(source, sample)
        parts = []
        for block in track(list(gen_batches(len(sample), BLOCK)), "reading images"):
            parts.append(self._encode(source, sample[block]))
        encoded = _joined(parts)
        self.unreadable_ = encoded.problems
        if not len(encoded.values):
            raise ValueError(f"No image could be read: {_listed(self.unreadable_)}.")
        self.mean_ = encoded.values.mean(axis=0, dtype=np.float64)
        self.components_ = None
        if self.n_components is not None:
            centered = encoded.values.astype(np.float64) - self.mean_
            self.components_ = leading_directions(centered, self.n_components)
        n_encoded = len(self.mean_)
        self._n_features_out = n_encoded if self.components_ is None else len(self.components_)
        return source, encoded

    def _fitted_encoder(self, source, sample):
        if not hasattr(self.encoder, "transform"):
            return None
        if is_fitted(self.encoder):
            return self.encoder
        pixels = read_images(source, sample, self._image_size(), self.value_range_).images
        return clone(self.encoder).fit(pixels.reshape(len(pixels), -1))

    def _image_size(self) -> int:
        if isinstance(self.encoder, str):
            return SIZE if self.encoder == "histograms" else SIZE_OF_NETWORK
        default = SIZE_OF_TRANSFORMER if hasattr(self.encoder, "transform") else SIZE_OF_NETWORK
        return default if self.size is None else self.size

    def _encode(self, source: ImageSource, rows: np.ndarray) -> "EncodedImages":
        read = read_images(source, rows, self._image_size(), self.value_range_)
        is_read = np.isin(rows, read.rows)
        if not len(read.images):
            return EncodedImages(np.empty((0, 0), dtype=np.float32), is_read, read.problems)
        if isinstance(self.encoder, str) and self.encoder == "network":
            from likewise.features.embed import image_embeddings  # torch takes seconds

            values = image_embeddings(read.images, cache_folder=self.cache_folder)
        elif isinstance(self.encoder, str):
            values = describe_images(read.images)
        elif self.encoder_ is not None:
            values = self.encoder_.transform(read.images.reshape(len(read.images), -1))
        else:
            values = self.encoder(np.round(read.images * 255).astype(np.uint8))
        values = check_array(values, dtype=[np.float64, np.float32], input_name="encoded images")
        if len(values) != len(read.images):
            raise ValueError(
                f"encoder returned {len(values)} rows for {len(read.images)} images. It must "
                "return one row per image."
            )
        return EncodedImages(values, is_read, read.problems)

    def _rows_of(self, encoded: "EncodedImages") -> np.ndarray:
        rows = np.full((len(encoded.is_read), self._n_features_out), np.nan)
        if len(encoded.values):
            values = encoded.values - self.mean_
            mapped = values if self.components_ is None else values @ self.components_.T
            rows[encoded.is_read] = mapped
        return rows


class EncodedImages(NamedTuple):
    """What an encoder makes of images, and of which."""

    values: np.ndarray  # (m, n_encoded), of those that could be read
    is_read: np.ndarray  # (n,) which they are
    problems: dict[str, str]  # name -> why it could not be read


def _joined(parts: list[EncodedImages]) -> EncodedImages:
    values = [part.values for part in parts if len(part.values)]
    return EncodedImages(
        np.concatenate(values) if values else parts[0].values,
        np.concatenate([part.is_read for part in parts]),
        {name: why for part in parts for name, why in part.problems.items()},
    )


def _warn_of(problems: dict[str, str]) -> None:
    if problems:
        message = f"{len(problems)} images could not be read and are rows of NaN: "
        warnings.warn(
            UnreadableImageWarning(f"{message}{_listed(problems)}.", problems), stacklevel=3
        )


def _listed(problems: dict[str, str]) -> str:
    return name_some([f"{name} ({why})" for name, why in problems.items()])
