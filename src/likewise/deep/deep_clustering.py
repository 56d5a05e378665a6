"""DeepConstrainedClustering, the estimator. torch is imported only when something is fitted."""

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

from likewise.cluster import order_clusters
from likewise.constraints import check_constraints, fit_and_label
from likewise.deep.fit_settings import (
    check_ease,
    check_init_codes,
    check_init_labels,
    check_init_model,
    check_plan,
    read_settings,
)
from likewise.deep.mapping import SHARPNESS, assign, network_map
from likewise.deep.plan_choice import choose_plans, plans_for
from likewise.deep.torch_import import import_from_deep
from likewise.evaluation import hold_out, violated_answers
from likewise.maps import by_map
from likewise.numerics.rows import check_scale


class DeepConstrainedClustering(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator
):
    """Train a neural network on the rows and the answers, and cluster its codes of the rows.

    Codes are learned from the rows alone first; answers of every kind then pull them together or
    apart while clusters form. Use it for many rows of raw values, images above all, with some
    hundred pairs or more. With a few hundred rows, or features that are already good,
    :class:`likewise.GuidedClustering` does as well in a second, and given `image_shape` it tries
    this network too. Fitting needs the extra `deep` (torch); a fitted model works without it.

    Parameters
    ----------
    n_clusters : int, default=8
        Clusters to find.
    encoder : {"auto", "small", "medium"} or tuple of int, default="auto"
        Units of the layers, the code last; with the likelihood and images, the channels of the
        stages of convolutions. Wider layers learn more and take longer. "auto" is
        (500, 500, 2000, 10), with a decoder that mirrors it, or by the likelihood "small"
        (images: 16, 32, 64 channels) up to a million values in X, and "medium" (48, 96, 192) above.
    image_shape : tuple of int, default=None
        Height, width and, unless there is one, channels, if rows are images: each is then rotated,
        stretched, sheared and shifted a little, differently every time it is used. Nothing helps
        more; leave it out where such changes would change what the image shows.
    training : TrainingPlan or str, default="auto"
        How codes and clusters are learned, and for how long: losses, their weights, steps, epochs.
        "auto" lets held-out answers choose: for images how even clusters should be and, if pairs
        are many, whether all of them are trusted; for other rows among "angular", "student" and
        "likelihood". With too few answers it is the likelihood for images, "angular" for other
        rows. "zhang2021" and "randel2021" train as published.
    init_model : fitted DeepConstrainedClustering or SelfSupervisedCodes, default=None
        Start from its network and skip pretraining: for several sets of answers about the same
        rows.
    drop_share : float, default=None
        Before every epoch, leave out all pairs that cost nothing, and of those that cost something
        this share, the most costly. None takes the plan's value, which is to learn from all pairs
        unless the plan is "randel2021".
    held_out_share : float, default=0.0
        Share of the answers that are held out and used to find the best epoch; if fewer than 20 of
        them are usable, all answers are learned from. Training ends ten epochs after the best one.
        Meant for answers that are often wrong.
    device : str, default=None
        Where to train, by torch's name: "cpu", "cuda". None takes a GPU if there is one. The same
        seed gives the same result on the CPU, but not on a GPU, which adds numbers in any order.
    checkpoint : str or path, default=None
        File to save the state of training to, about every 30 seconds. A fit that was killed
        resumes from it when called again with the same rows, answers and settings, including an
        int as `random_state`; the file is removed when training ends.
    random_state : int, RandomState instance or None, default=None
        Draws the first weights, the order of the rows, the warps and the starts.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
    cluster_centers_ : ndarray of shape (n_clusters, n_code)
    membership_unit_ : float or None
        With the likelihood, memberships are the softmax of squared distances between codes and
        centers, negative and in this unit.
    map_ : NetworkMap
        ``transform`` for any rows: the layers of the encoder, and how rows are scaled before them.
    decoder_ : list of (ndarray, ndarray)
        Weights (n_inputs, n_outputs) and biases of every layer; empty with the likelihood.
    network_ : list of ndarray or None
        With the likelihood, the whole network, for another fit to start from.
    widths_ : tuple of int
        Units or channels of the layers.
    flips_ : bool
        Whether images were mirrored.
    plan_ : TrainingPlan
        The plan that was used, with everything that depends on the rows filled in.
    objective_ : ndarray of shape (n_epochs,)
        Mean loss of each epoch.
    n_kept_ : ndarray of shape (n_epochs,)
        Pairs learned from in each epoch.
    held_out_ : ndarray
        Share of the held-out answers predicted before each epoch and after the last; empty if none
        are held out.
    n_iter_ : int
        Epochs made.
    violated_ : ndarray of int
        Positions of the pairs that the clusters violate.
    n_answers_used_ : int
        Answers learned from.

    References
    ----------
    randel2021, zhang2021, zhang2025, guo2018, xie2016, hsu2019, patrini2017, chen2020,
    sohn2020

    See Also
    --------
    TrainingPlan : How it is trained.
    SelfSupervisedCodes : The codes before there are answers.
    likewise.GuidedClustering : For fewer rows, or features that are good already.

    Examples
    --------
    >>> from likewise import Constraints
    >>> from likewise.datasets import load_digits
    >>> from likewise.deep import DeepConstrainedClustering, TrainingPlan
    >>> digits = load_digits().take(range(300))
    >>> answers = Constraints.from_labels(digits.y, n_pairs=600, random_state=0)
    >>> quick = TrainingPlan(pretraining_epochs=2, max_epochs=4, tol=0.5, batch_size=100)
    >>> model = DeepConstrainedClustering(10, encoder=(50, 5), training=quick, random_state=0)
    >>> model.fit(digits.X, constraints=answers).transform(digits.X[:7]).shape
    (7, 5)
    """

    def __init__(
        self,
        n_clusters=8,
        *,
        encoder="auto",
        image_shape=None,
        training="auto",
        init_model=None,
        drop_share=None,
        held_out_share=0.0,
        device=None,
        checkpoint=None,
        random_state=None,
    ):
        self.n_clusters = n_clusters
        self.encoder = encoder
        self.image_shape = image_shape
        self.training = training
        self.init_model = init_model
        self.drop_share = drop_share
        self.held_out_share = held_out_share
        self.device = device
        self.checkpoint = checkpoint
        self.random_state = random_state

    def fit(self, X, y=None, *, constraints=None, ease=None, init_labels=None):
        """Train the network and cluster the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : Ignored
        constraints : Constraints, default=None
            Answers of every kind about rows of X, with their weights.
        ease : array-like of shape (n_samples,), default=None
            How easy each row is to assign: above 0 rewards a certain assignment, below 0 an
            uncertain one, 0 means unknown. Doubling it doubles its influence.
        init_labels : array-like of int of shape (n_samples,), default=None
            Clusters to start from, -1 where unknown; for images, or ``training="likelihood"``. They
            are learned first, and give way to the answers and to what the network makes of them.

        Returns
        -------
        self
        """
        X = by_map.validate(self, X, reset=True)
        check_scale(X, single=True)  # the network computes in float32
        constraints = check_constraints(constraints, n_samples=len(X), y=y)
        is_auto = self.training == "auto"
        plans = plans_for(self) if is_auto else [check_plan(self.training)]
        read_settings(self, plans[0], *X.shape)  # a wrong setting is found before torch is imported
        ease = check_ease(ease, len(X))
        init_labels = check_init_labels(init_labels, len(X), self.n_clusters, plans[0])
        if self.checkpoint is not None and not isinstance(self.random_state, numbers.Integral):
            raise ValueError(
                f"checkpoint needs an int as random_state, not {self.random_state!r}: a "
                "resumed run must draw the same random numbers."
            )
        rng = check_random_state(self.random_state)
        training = import_from_deep("training", type(self).__name__)
        seed = training.agree_on_seed(int(rng.randint(2**31 - 1)), self.device)
        learned, held_out = hold_out(constraints, self.held_out_share, random_state=seed)
        if is_auto:
            plans = choose_plans(self, X, learned, seed)
        candidates = [read_settings(self, plan, *X.shape) for plan in plans]
        rows = np.ascontiguousarray(X, dtype=np.float32)
        if candidates[0].loss == "likelihood":
            self._fit_likelihood(rows, learned, held_out, ease, candidates, init_labels, seed)
        else:
            self._fit_autoencoder(rows, learned, held_out, ease, candidates[0], seed)
        self.n_iter_ = len(self.objective_)
        self.n_answers_used_ = int(np.count_nonzero(learned.weights > 0))
        self.violated_ = violated_answers(None, constraints, self.labels_)
        self._n_features_out = self.map_.n_directions
        return self

    def _fit_autoencoder(self, X, learned, held_out, ease, settings, seed: int) -> None:
        """Codes from which rows can be reconstructed, clusters by angles or Student's t."""
        trained = import_from_deep("training", type(self).__name__).train(
            X,
            learned,
            held_out,
            ease,
            settings,
            init_layers=check_init_model(self.init_model, X.shape[1], settings.widths),
            device=self.device,
            seed=seed,
            checkpoint=self.checkpoint,
        )
        self.plan_, self.widths_ = settings.plan(), settings.widths
        self.labels_, order = order_clusters(trained.labels, self.n_clusters)
        self.cluster_centers_ = trained.centers[order]
        self.map_, self.decoder_ = network_map(trained, self.plan_.loss), trained.decoder
        self.network_, self.flips_ = None, False
        self.membership_unit_: float | None = None
        self.objective_, self.n_kept_ = trained.objective, trained.n_kept
        self.held_out_ = trained.held_out
        self._warn_of_trouble(trained.converged, trained.changed)

    def _fit_likelihood(
        self, X, learned, held_out, ease, candidates, init_labels, seed: int
    ) -> None:
        """Codes by contrast, clusters by the likelihood of agreement."""
        trained = import_from_deep("code_training", type(self).__name__).train_clusters(
            X,
            learned,
            held_out,
            ease,
            candidates,
            init_network=check_init_codes(self.init_model, candidates[0], X.shape[1]),
            init_labels=init_labels,
            device=self.device,
            seed=seed,
            checkpoint=self.checkpoint,
        )
        self.plan_, self.widths_ = trained.settings.plan(), trained.settings.widths
        self.labels_, order = order_clusters(trained.labels, self.n_clusters)
        self.cluster_centers_ = trained.centers[order]
        self.map_, self.network_, self.flips_, self.objective_ = trained.codes
        # both have length 1, so s cosine = s - (s / 2) |code - center|^2
        self.decoder_, self.membership_unit_ = [], 2 / SHARPNESS
        n_pairs = np.count_nonzero(learned.weights[learned.positions("must_link", "cannot_link")])
        self.n_kept_ = np.full(len(self.objective_), n_pairs)
        self.held_out_ = trained.held_out
        self._warn_of_trouble(True, 0.0)

    fit_predict = fit_and_label

    def _warn_of_trouble(self, converged: bool, changed: float) -> None:
        """Say what went wrong in training, if anything did."""
        plan, trouble = self.plan_, ""
        if not plan.max_epochs:
            return
        n_found = len(np.unique(self.labels_))
        if not np.isfinite(self.objective_).all():
            trouble = (
                f"diverged in epoch {len(self.objective_)}: the loss is NaN. "
                "Lower learning_rate in the plan, or the weights of the answers."
            )
        elif n_found == 1 < self.n_clusters:
            trouble = (
                f"put all rows into one cluster of {self.n_clusters}: codes have collapsed. Lower "
                "learning_rate or must_link_weight in the plan."
            )
        elif not converged:
            trouble = (
                f"stopped at max_epochs={plan.max_epochs} while {changed:.1%} of the rows "
                "still changed their cluster. Raise max_epochs or tol in the plan."
            )
        if trouble:
            warnings.warn(f"DeepConstrainedClustering {trouble}", ConvergenceWarning, stacklevel=4)

    transform = by_map.transform

    def predict_proba(self, X):
        """How certain it is that rows belong to each cluster.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
            The soft assignments that training used: rows sum to 1.
        """
        check_is_fitted(self)
        codes = self.map_.transform(by_map.validate(self, X, reset=False))
        t_power = self.plan_.t_power if self.plan_.loss == "student" else None
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
