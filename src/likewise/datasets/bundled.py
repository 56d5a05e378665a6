"""The labeled sets that come with scikit-learn, each as a `Dataset`."""

from types import MappingProxyType

import numpy as np
import sklearn.datasets

from likewise.datasets.dataset import Dataset


def load_iris() -> Dataset:
    """Load the measurements of 150 iris flowers of 3 species.

    Returns
    -------
    Dataset
        X of shape (150, 4), 50 rows per class.

    Examples
    --------
    >>> from likewise.datasets import load_iris
    >>> load_iris().X[0]
    array([5.1, 3.5, 1.4, 0.2])
    """
    return _convert("iris", sklearn.datasets.load_iris())


def load_wine() -> Dataset:
    """Load the chemical analyses of 178 wines of 3 growers.

    Returns
    -------
    Dataset
        X of shape (178, 13); 59, 71 and 48 rows per class. The columns differ widely in scale.

    Examples
    --------
    >>> from likewise.datasets import load_wine
    >>> load_wine()
    Dataset('wine': 178 rows, 13 features, 3 classes)
    """
    return _convert("wine", sklearn.datasets.load_wine())


def load_breast_cancer() -> Dataset:
    """Load the cell-nucleus measurements of 569 tumors, malignant or benign.

    Returns
    -------
    Dataset
        X of shape (569, 30); 212 malignant, 357 benign. Also known as wdbc.

    Examples
    --------
    >>> from likewise.datasets import load_breast_cancer
    >>> load_breast_cancer().target_names
    ('malignant', 'benign')
    """
    return _convert("breast_cancer_wdbc", sklearn.datasets.load_breast_cancer())


def load_digits() -> Dataset:
    """Load 1797 handwritten digits as 8 x 8 images (the test part of UCI's optdigits).

    Returns
    -------
    Dataset
        X of shape (1797, 64), values 0 to 16, about 180 rows per digit.

    Examples
    --------
    >>> from likewise.datasets import load_digits
    >>> load_digits().extras["image_shape"]
    array([8, 8])
    """
    digits = _convert("digits", sklearn.datasets.load_digits())
    extras = MappingProxyType({"image_shape": np.array([8, 8])})
    return Dataset("digits", digits.X, digits.y, extras=extras)


BUNDLED = {
    "iris": load_iris,
    "wine": load_wine,
    "breast_cancer_wdbc": load_breast_cancer,
    "digits": load_digits,
}


def _convert(name, bunch):
    return Dataset(
        name,
        np.ascontiguousarray(bunch.data, dtype=np.float64),
        bunch.target.astype(np.int64),
        tuple(map(str, bunch.target_names)),
        tuple(map(str, bunch.feature_names)),
    )
