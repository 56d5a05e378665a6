"""SelfSupervisedCodes, the transformer. torch is imported only when something is fitted."""

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state

from likewise.constraints import check_constraints
from likewise.deep.fit_settings import read_code_settings
from likewise.deep.torch_import import import_from_deep
from likewise.maps import by_map
from likewise.numerics.rows import check_scale


class SelfSupervisedCodes(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Learn codes of rows from the rows alone: changed copies of a row get similar codes.

    Use it as features with few answers (``GuidedClustering(features=SelfSupervisedCodes(...))``),
    or to train once for many sets of answers (``DeepConstrainedClustering(init_model=codes)``).
    Images gain most. It needs some thousand rows, or a few hundred small images, and the extra
    `deep` (torch) to fit; fitted codes work without it.

    Parameters
    ----------
    image_shape : tuple of int, default=None
        Height, width and, unless there is one, channels of the images in the rows. Images are
        turned, stretched, shifted, partly covered, made brighter or darker; other rows take some
        of their values from other rows.
    encoder : {"auto", "small", "medium"} or tuple of int, default="auto"
        Of images, the channels of the three stages of convolutions: (16, 32, 64), or
        (48, 96, 192) above a million pixels in all. Of other rows, the units of the layers.
    epochs : int, default=None
        Passes over the rows. None is 20, and more below 10,000 rows. Raising it gives better codes
        and takes longer.
    flips : bool or "auto", default="auto"
        Whether images are mirrored, left to right, too. "auto" does so if answers are given to
        ``fit`` and agree better with such codes.
    device : str, default=None
        Where to train, by torch's name: "cpu", "cuda". None takes a GPU if there is one.
    random_state : int, RandomState instance or None, default=None
        Draws the first weights, the order of the rows and the views.

    Attributes
    ----------
    map_ : ConvolutionMap or NetworkMap
        ``transform`` for any rows; codes have length 1.
    network_ : list of ndarray
        The whole network, for another fit to start from.
    widths_ : tuple of int
        Channels or units of the layers.
    flips_ : bool
        Whether images were mirrored.
    objective_ : ndarray of shape (n_epochs,)
        Mean loss of each epoch.
    n_features_in_ : int

    References
    ----------
    chen2020, bahri2022

    See Also
    --------
    DeepConstrainedClustering : Trains the network on, with answers.

    Examples
    --------
    >>> from likewise.datasets import load_digits
    >>> from likewise.deep import SelfSupervisedCodes
    >>> digits = load_digits().take(range(200))
    >>> codes = SelfSupervisedCodes(image_shape=(8, 8), encoder=(4, 8), epochs=1, random_state=0)
    >>> codes.fit_transform(digits.X).shape
    (200, 8)
    """

    def __init__(
        self,
        *,
        image_shape=None,
        encoder="auto",
        epochs=None,
        flips="auto",
        device=None,
        random_state=None,
    ):
        self.image_shape = image_shape
        self.encoder = encoder
        self.epochs = epochs
        self.flips = flips
        self.device = device
        self.random_state = random_state

    def fit(self, X, y=None, *, constraints=None):
        """Learn the codes of the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : Ignored
        constraints : Constraints, default=None
            Answers, which decide whether images are mirrored; nothing else is learned from them.

        Returns
        -------
        self
        """
        X = by_map.validate(self, X, reset=True)
        check_scale(X, single=True)  # the network computes in float32
        answers = check_constraints(constraints, n_samples=len(X), y=y)
        settings = read_code_settings(self, *X.shape)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        training = import_from_deep("code_training", type(self).__name__)
        trained = training.train_codes(
            np.ascontiguousarray(X, dtype=np.float32),
            answers,
            settings,
            device=self.device,
            seed=seed,
        )
        self.map_, self.network_, self.flips_ = trained.map, trained.network, trained.flips
        self.objective_, self.widths_ = trained.objective, settings.widths
        self._n_features_out = self.map_.n_directions
        return self

    transform = by_map.transform
