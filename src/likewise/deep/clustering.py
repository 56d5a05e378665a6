"""DeepConstrainedClustering: the door to the room. torch is imported when something is fitted."""

import numbers
import warnings

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from likewise.cluster.checks import order_clusters
from likewise.constraints import Constraints, check_constraints, fit_and_label
from likewise.deep.checks import check_ease, check_settings, check_start
from likewise.deep.mapping import assign, encode
from likewise.evaluation.held_out import is_judgeable
from likewise.evaluation.search import MIN_HELD_OUT
from likewise.numerics.rows import check_scale, validate_rows


class DeepConstrainedClustering(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator
):
    """Learn codes of the rows in a neural network, from the rows and the answers, and cluster them.

    An autoencoder finds codes that rows can be made from again; answers of every kind then pull the
    codes together and apart while clusters form in them. Use it for many rows of raw
    values, images above all, with some thousand pairs. With some hundred rows, or features that
    are good already, :class:`likewise.GuidedClustering` does as well in a second. Needs the extra
    `deep` (torch) to fit; a fitted model works without.

    Parameters
    ----------
    n_clusters : int, default=8
        Clusters to find.
    loss : {"angular", "student"}, default="angular"
        What a pair of codes is judged by. "angular": the angle between codes on the unit sphere;
        the centers follow their codes. "student": Student-t assignments to centers that are
        trained too, as in the papers.
    t_power : {1, 2}, default=1
        Power of Student's t: 1 as in the papers, 2 as in the code of zhang2021, which is sharper.
    widths : tuple of int, default=(500, 500, 2000, 10)
        Units of the encoder's layers, the code last; the decoder mirrors them. Wider learns more
        and takes longer.
    pretraining : {"short", "layer-wise", "none"}, default="short"
        How codes are learned before clusters: the whole network at once, or the papers' schedule
        layer by layer, which takes many times longer.
    pretraining_epochs : int, default=None
        Passes over the rows in pretraining; None is 30, layer-wise 500 (and 300 for each layer).
    start : fitted DeepConstrainedClustering, default=None
        Begin with its network, and skip pretraining: for several sets of answers about the same
        rows. One fitted with ``max_epochs=0`` is pretrained and no more.
    image_shape : tuple of int, default=None
        Height and width when rows are images of one channel: each is then turned, stretched,
        sheared and shifted a little, anew every time it is seen. The greatest gain there is, for
        digits; leave it out where such changes would change what an image is.
    must_link_weight, cannot_link_weight : float, default=1.0
        What the pairs of each kind count, as a mean over the pairs of a step. Raising both fits
        the pairs more closely, and the rows less.
    triple_weight : float, default=1.0
        The same for triples: odd_one_out, closer and undecided.
    answers_apart : bool, default=True
        Whether rows and each kind of answers have steps of their own, in turn, as in the papers:
        steadier with wrong pairs. False learns from rows and answers in every step, and from each
        answer as much as from any other; try it with triples, or clusters of unequal sizes.
    kl_weight : float, default=0.1
        What certain clusters count. Raising it trusts the clusters that codes form by themselves.
    reconstruction_weight : float, default=1.0
        What making rows from codes again counts.
    size_weight : float, default=0.0
        What equal sizes of the clusters count.
    difficulty_weight : float, default=0.1
        What `ease` counts, when `fit` is given it.
    drop_share : float, default=None
        Leave out this share of the pairs that cost the clusters something, the most costly, and
        all pairs that cost nothing, anew before every epoch. None learns from all pairs.
    batch_size : int, default=None
        Rows of a step. Larger is faster on a GPU, and learns less in an epoch. None is a hundredth
        of the rows, at least 64 and at most 512.
    learning_rate : float, default=0.001
        Of Adam.
    decay : bool, default=True
        Whether the learning rate falls to 0 over `max_epochs`, so that clusters settle.
    max_epochs : int, default=80
        Passes over the rows while clusters form; 0 is k-means on the codes.
    tol : float, default=0.001
        Training ends when a smaller share of the rows than this changes its cluster in an epoch.
    held_out_share : float, default=0.0
        Share of the answers not learned from but used to find the best epoch; at least 20 of them
        must be usable, else all are learned from. For answers that are often wrong.
    patience : int, default=10
        Epochs without a better score on the held-out answers before training ends.
    n_init : int, default=20
        Starts of k-means on the codes.
    device : str, default=None
        Where to train, as torch names it: "cpu", "cuda". None is a GPU if there is one. The same
        seed gives the same result on the CPU; GPUs add in any order.
    checkpoint : str or path, default=None
        File that the state of training goes to about every 30 seconds. A fit that was killed goes
        on from it when called again with the same rows, answers and settings, a number as
        `random_state` among them; it is removed when training ends.
    random_state : int, RandomState instance or None, default=None
        Draws the first weights, the order of the rows, the warps and the starts.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
    cluster_centers_ : ndarray of shape (n_clusters, n_code)
    encoder_, decoder_ : list of (ndarray, ndarray)
        Weights (n_inputs, n_outputs) and biases of every layer.
    offset_, scale_ : ndarray of shape (n_features,), float
        Rows are centered and divided by one number before the first layer.
    objective_ : ndarray of shape (n_epochs,)
        Mean loss of each epoch.
    n_kept_ : ndarray of shape (n_epochs,)
        Pairs learned from in each epoch.
    held_out_ : ndarray
        Share of the held-out answers foretold before each epoch and after the last; empty without
        any.
    n_iter_ : int
        Epochs made.
    n_answers_used_ : int
        Answers learned from.

    References
    ----------
    randel2021, zhang2021, zhang2025, guo2018, xie2016

    See Also
    --------
    likewise.GuidedClustering : For fewer rows, or features that are good already.

    Examples
    --------
    >>> from likewise import Constraints
    >>> from likewise.datasets import load_digits
    >>> from likewise.deep import DeepConstrainedClustering
    >>> digits = load_digits().take(range(300))
    >>> answers = Constraints.from_labels(digits.y, n_pairs=600, random_state=0)
    >>> model = DeepConstrainedClustering(
    ...     10, widths=(50, 5), pretraining_epochs=2, max_epochs=4, tol=0.5, batch_size=100,
    ...     random_state=0,
    ... )
    >>> model.fit(digits.X, constraints=answers).transform(digits.X[:7]).shape
    (7, 5)
    """

    def __init__(
        self,
        n_clusters=8,
        *,
        loss="angular",
        t_power=1,
        widths=(500, 500, 2000, 10),
        pretraining="short",
        pretraining_epochs=None,
        start=None,
        image_shape=None,
        must_link_weight=1.0,
        cannot_link_weight=1.0,
        triple_weight=1.0,
        answers_apart=True,
        kl_weight=0.1,
        reconstruction_weight=1.0,
        size_weight=0.0,
        difficulty_weight=0.1,
        drop_share=None,
        batch_size=None,
        learning_rate=1e-3,
        decay=True,
        max_epochs=80,
        tol=1e-3,
        held_out_share=0.0,
        patience=10,
        n_init=20,
        device=None,
        checkpoint=None,
        random_state=None,
    ):
        self.n_clusters = n_clusters
        self.loss = loss
        self.t_power = t_power
        self.widths = widths
        self.pretraining = pretraining
        self.pretraining_epochs = pretraining_epochs
        self.start = start
        self.image_shape = image_shape
        self.must_link_weight = must_link_weight
        self.cannot_link_weight = cannot_link_weight
        self.triple_weight = triple_weight
        self.answers_apart = answers_apart
        self.kl_weight = kl_weight
        self.reconstruction_weight = reconstruction_weight
        self.size_weight = size_weight
        self.difficulty_weight = difficulty_weight
        self.drop_share = drop_share
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.decay = decay
        self.max_epochs = max_epochs
        self.tol = tol
        self.held_out_share = held_out_share
        self.patience = patience
        self.n_init = n_init
        self.device = device
        self.checkpoint = checkpoint
        self.random_state = random_state

    def fit(self, X, y=None, *, constraints=None, ease=None):
        """Train the network and cluster the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : Ignored
        constraints : Constraints, default=None
            Answers of every kind about rows of X, with their weights.
        ease : array-like of shape (n_samples,), default=None
            How easy each row is to place: above 0 rewards a certain assignment, below 0 an
            uncertain one, 0 says nothing.

        Returns
        -------
        self
        """
        X = validate_rows(self, X, dtype=[np.float64, np.float32])
        check_scale(X, single=True)  # the network computes in float32
        constraints = check_constraints(constraints, n_samples=len(X), y=y)
        settings = check_settings(self, *X.shape)
        ease = check_ease(ease, len(X))
        if self.checkpoint is not None and not isinstance(self.random_state, numbers.Integral):
            raise ValueError(
                f"checkpoint needs a number as random_state, not {self.random_state!r}: a run that "
                "goes on must draw what it would have drawn."
            )
        rng = check_random_state(self.random_state)
        training = import_training()
        seed = training.agree_on_seed(int(rng.randint(2**31 - 1)), self.device)
        learned, held_out = hold_out(constraints, self.held_out_share, seed)
        trained = training.train(
            np.ascontiguousarray(X, dtype=np.float32),
            learned,
            held_out,
            ease,
            settings,
            start=check_start(self.start, X.shape[1], settings.widths),
            device=self.device,
            seed=seed,
            checkpoint=self.checkpoint,
        )
        self.labels_, order = order_clusters(trained.labels, self.n_clusters)
        self.cluster_centers_ = trained.centers[order]
        self.encoder_, self.decoder_ = trained.encoder, trained.decoder
        self.offset_, self.scale_ = trained.offset, trained.scale
        self.objective_, self.n_kept_ = trained.objective, trained.n_kept
        self.held_out_, self.n_iter_ = trained.held_out, len(trained.objective)
        self.n_answers_used_ = int(np.count_nonzero(learned.weights > 0))
        self._n_features_out = self.cluster_centers_.shape[1]
        trouble = self._find_trouble(trained)
        if trouble:
            warnings.warn(f"DeepConstrainedClustering {trouble}", ConvergenceWarning, stacklevel=2)
        return self

    fit_predict = fit_and_label

    def _find_trouble(self, trained) -> str:
        """What went wrong in training, or nothing."""
        if not self.max_epochs:
            return ""
        if not np.isfinite(trained.objective).all():
            return (
                f"lost its way in epoch {len(trained.objective)}: the loss is no number any more. "
                "Lower learning_rate, or the weights of the answers."
            )
        n_found = len(np.unique(trained.labels))
        if n_found == 1 < self.n_clusters:
            return (
                f"put all rows into one cluster of {self.n_clusters}: codes have collapsed. Lower "
                "learning_rate or must_link_weight."
            )
        if not trained.converged:
            return (
                f"stopped at max_epochs={self.max_epochs} while {trained.changed:.1%} of the rows "
                "still changed their cluster. Raise max_epochs or tol."
            )
        return ""

    def transform(self, X):
        """The codes of rows, new ones or old.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_code)
            In the float type of X; of length 1 when ``loss="angular"``.
        """
        check_is_fitted(self)
        X = validate_rows(self, X, reset=False, dtype=[np.float64, np.float32])
        on_sphere = self.loss == "angular"
        return encode(X, self.encoder_, self.offset_, self.scale_, on_sphere=on_sphere)

    def predict_proba(self, X):
        """How surely rows belong to each cluster.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
            The soft assignments that training used: rows sum to 1.
        """
        check_is_fitted(self)
        codes = np.asarray(encode_plain(self, X))
        t_power = self.t_power if self.loss == "student" else None
        return assign(codes, self.cluster_centers_.astype(codes.dtype), t_power=t_power)

    def predict(self, X):
        """The cluster of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self.predict_proba(X).argmax(axis=1)


def import_training():
    """The part of the room that needs torch, or one error that says how to get it."""
    try:
        from likewise.deep import training
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise ImportError(
            "DeepConstrainedClustering needs torch to fit. pip install 'likewise[deep]'"
        ) from None
    return training


def encode_plain(model: DeepConstrainedClustering, X) -> np.ndarray:
    """Codes as an array, whatever set_output says."""
    transform = DeepConstrainedClustering.transform
    return getattr(transform, "__wrapped__", transform)(model, X)


def hold_out(constraints: Constraints, share: float, seed: int) -> tuple[Constraints, Constraints]:
    """Answers to learn from and answers to stop by; none of the latter when too few are usable."""
    nothing = constraints.subset(np.zeros(constraints.n_answers, dtype=bool))
    if not share:
        return constraints, nothing
    learned, held_out = constraints.split(1 - share, random_state=seed)
    if np.count_nonzero(is_judgeable(held_out)) < MIN_HELD_OUT:
        return constraints, nothing
    return learned, held_out
