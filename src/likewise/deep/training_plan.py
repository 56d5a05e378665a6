"""How the network is trained: one frozen record, and the published ways of training by name."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
from sklearn.utils.validation import check_scalar

from likewise.cluster import check_choice

LOSSES = ("angular", "student", "likelihood")
SCHEDULES = ("short", "layer-wise", "contrastive", "none")
SIZES = ("equal", "answers")
WEIGHTS = (
    "must_link_weight",
    "cannot_link_weight",
    "triple_weight",
    "kl_weight",
    "size_weight",
    "pseudo_weight",
    "contrast_weight",
)


@dataclass(frozen=True, kw_only=True)
class TrainingPlan:
    """How :class:`DeepConstrainedClustering` trains: what is learned, in which steps, how long.

    Pass one as `training`. ``TrainingPlan()`` learns from angles,
    ``TrainingPlan.named("likelihood")`` from the likelihood of agreement, and
    ``TrainingPlan.named("zhang2021")`` as published. A plan is checked when it is created, and
    never changes.

    Parameters
    ----------
    loss : {"angular", "student", "likelihood"}, default="angular"
        What a pair of codes is judged by. "angular": the angle between codes on the unit sphere;
        the centers follow their codes. "student": Student-t assignments to centers that are
        trained too, as in the papers. "likelihood": the probability that two rows share a cluster;
        no decoder, codes learned by contrast first, convolutions for images, pseudo-labels.
    t_power : {1, 2}, default=1
        Power of Student's t: 1 as in the papers, 2 as in the code of zhang2021, which is sharper.
    pretraining : {"short", "layer-wise", "contrastive", "none"}, default="short"
        How codes are learned before clusters: the whole network at once, or the papers' schedule
        layer by layer, which takes many times longer. The likelihood takes "contrastive" or "none",
        the others take the rest.
    pretraining_epochs : int, default=None
        Passes over the rows in pretraining; None is 30, layer-wise 500 (and 300 for each layer),
        contrastive 20, or more below 10,000 rows.
    must_link_weight, cannot_link_weight : float, default=1.0
        Weight of the mean loss of each kind of pairs. Raising both fits the pairs more closely,
        and the rows less.
    triple_weight : float, default=1.0
        The same for triples: odd_one_out, closer and undecided.
    kl_weight : float, default=0.1
        Weight of the loss that rewards certain assignments; not of the likelihood. Raising it
        relies more on the clusters that codes form by themselves.
    size_weight : float, default=0.0
        Weight of equal cluster sizes.
    sizes : {"equal", "answers"}, default="equal"
        With the likelihood: how even clusters should be. "answers": no more even than the share of
        must-links among the pairs implies, which is right if pairs were drawn at random.
    pseudo_weight : float, default=1.0
        With the likelihood: weight of what rows learn from clusters that they are sure of.
    contrast_weight : float, default=0.1
        With the likelihood: weight of going on with the contrast of views.
    error_rate : float or None, default=None
        With the likelihood: share of the pairs that may be wrong. With 0 each of them is learned by
        heart; above, a pair that nothing else supports is given up. None is 0.2, or 0 if pairs are
        many and held-out ones show that hardly any is wrong.
    flips : bool or None, default=None
        With the likelihood: whether images are mirrored too; None lets the answers decide.
    answers_apart : bool, default=True
        Whether rows and each kind of answers take separate steps, in turn, as in the papers: more
        robust to wrong pairs. False learns from rows and answers in every step, and from every
        answer equally; try it with triples, or with clusters of unequal sizes. The likelihood
        always does.
    drop_share : float, default=None
        Used where the estimator's `drop_share` is None.
    batch_size : int, default=None
        Rows per step. Larger batches are faster on a GPU, and learn less per epoch. None takes a
        hundredth of the rows, at least 64 and at most 512.
    learning_rate : float, default=0.001
        Of Adam. Raising it learns faster, until training diverges.
    decay : bool, default=True
        Whether the learning rate falls to 0 over `max_epochs`, so that clusters settle.
    max_epochs : int, default=80
        Passes over the rows while clusters form; with 0, clusters are k-means on the codes.
    tol : float, default=0.001
        Training ends when a smaller share of the rows than this changes its cluster in an epoch.

    References
    ----------
    zhang2021, randel2021, zhang2025

    See Also
    --------
    DeepConstrainedClustering : What it is for.

    Examples
    --------
    >>> from likewise.deep import TrainingPlan
    >>> TrainingPlan.named("zhang2021").max_epochs
    500
    >>> TrainingPlan.named("zhang2021", max_epochs=150).max_epochs
    150
    """

    loss: str = "angular"
    t_power: int = 1
    pretraining: str = "short"
    pretraining_epochs: int | None = None
    must_link_weight: float = 1.0
    cannot_link_weight: float = 1.0
    triple_weight: float = 1.0
    kl_weight: float = 0.1
    size_weight: float = 0.0
    sizes: str = "equal"
    pseudo_weight: float = 1.0
    contrast_weight: float = 0.1
    error_rate: float | None = None
    flips: bool | None = None
    answers_apart: bool = True
    drop_share: float | None = None
    batch_size: int | None = None
    learning_rate: float = 1e-3
    decay: bool = True
    max_epochs: int = 80
    tol: float = 1e-3

    def __post_init__(self):
        whole, number = (int, np.integer), (int, float, np.number)
        check_choice("loss", self.loss, LOSSES)
        check_choice("pretraining", self.pretraining, SCHEDULES)
        check_choice("sizes", self.sizes, SIZES)
        by_contrast = self.loss == "likelihood"
        if self.pretraining != "none" and by_contrast != (self.pretraining == "contrastive"):
            wanted = "'contrastive' or 'none'" if by_contrast else "'short', 'layer-wise' or 'none'"
            raise ValueError(
                f"loss={self.loss!r} takes pretraining={wanted}, not {self.pretraining!r}."
            )
        if by_contrast and self.drop_share is not None:
            raise ValueError("drop_share leaves pairs out of loss='angular' and 'student' only.")
        check_scalar(self.t_power, "t_power", whole, min_val=1, max_val=2)
        for name in (*WEIGHTS, "tol"):
            check_scalar(getattr(self, name), name, number, min_val=0)
        check_scalar(
            self.learning_rate, "learning_rate", number, min_val=0, include_boundaries="neither"
        )
        check_scalar(self.max_epochs, "max_epochs", whole, min_val=0)
        if self.pretraining_epochs is not None:
            check_scalar(self.pretraining_epochs, "pretraining_epochs", whole, min_val=0)
        if self.batch_size is not None:
            check_scalar(self.batch_size, "batch_size", whole, min_val=1)
        if self.error_rate is not None:
            check_scalar(
                self.error_rate,
                "error_rate",
                number,
                min_val=0,
                max_val=0.5,
                include_boundaries="left",
            )
        check_drop_share(self.drop_share)

    @classmethod
    def named(cls, name: str, **changes) -> "TrainingPlan":
        """The plan with a given name, with some of its fields changed.

        Parameters
        ----------
        name : {"angular", "student", "likelihood", "zhang2021", "randel2021"}
            "student" learns from rows and answers in one step, and copes with clusters of very
            different sizes. The last is "zhang2021" with ``drop_share=0.7``, the best of its table
            on MNIST.
        **changes
            Fields to change.

        Returns
        -------
        TrainingPlan
        """
        check_choice("training", name, tuple(PLANS))
        return replace(PLANS[name], **changes)


def check_drop_share(drop_share) -> None:
    if drop_share is not None:
        check_scalar(drop_share, "drop_share", (int, float, np.number), min_val=0, max_val=1)


# zhang2021 and its released code: the weight of must-links is the one of MNIST (Fashion-MNIST: 1).
ZHANG2021 = TrainingPlan(
    loss="student",
    t_power=2,
    pretraining="layer-wise",
    must_link_weight=0.1,
    batch_size=256,
    decay=False,
    max_epochs=500,
)
PLANS: Mapping[str, TrainingPlan] = MappingProxyType(
    {
        "angular": TrainingPlan(),
        "student": TrainingPlan(loss="student", answers_apart=False),
        "likelihood": TrainingPlan(
            loss="likelihood",
            pretraining="contrastive",
            size_weight=0.2,
            learning_rate=2e-3,
            max_epochs=20,
            tol=0.0,
        ),
        "zhang2021": ZHANG2021,
        "randel2021": replace(ZHANG2021, drop_share=0.7),
    }
)
