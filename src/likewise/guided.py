"""The front door: rows and a few answers in, clusters out, and an account of how they came about.

    space   = the features as they are, unless held-out answers prefer a learned space
    labels  = k-means in that space, with a price on every pair that it breaks
    both again, without the answers that the others contradict: the suspects

The spaces that are tried stand in CANDIDATES: log-det learning (SKLR) from two starts, at three
strengths, and ITML where there are pairs. Each is judged by answers that it has not seen, in two
ways at once: do its distances foretell them, and do its clusters. A rival must beat the default by
more than a standard error to replace it, and so must whatever is taken beat the features as they
are, also by answers about rows that no other answer spoke of: learning must not hurt.
Decision 7 has the measurements behind these choices.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
    clone,
)
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, validate_data

from likewise.cluster import PCKMeans, choose_n_clusters
from likewise.constraints import Constraints, Split, check_constraints
from likewise.evaluation import (
    MIN_HELD_OUT,
    answer_credits,
    beats,
    cross_credits,
    honored_answers,
    is_judgeable,
    mean_and_error,
    satisfaction_score,
)
from likewise.kernel_learning import SKLR
from likewise.kernel_learning.logdet import learn_from_answers
from likewise.kernel_learning.starts import fit_start
from likewise.kernels.distances import row_blocks, sq_distances
from likewise.metric_learning import ITML
from likewise.numerics.progress import track

N_DIRECTIONS = 100  # of sparse features
FEW_FEATURES = 0.25  # standardize when the variance sits in fewer of the features than this share
N_SPLITS = 3
TRIAL_ROWS = 600  # rows that candidates are tried on, beside those that answers touch
TRIAL_ANSWERS = 500  # of more, so many are drawn to choose by
TRIAL_TOL = 1e-2  # enough to tell one candidate from another
TRIAL_STARTS = 2  # of k-means
FIT_ROWS = 10_000  # rows that are learned from and clustered; the others go to the nearest center
PRICE = 0.5  # of a broken pair, in half mean squared distances
N_LANDMARKS = 1000
SHARE = 0.95  # of a start's spectrum; the last hundredths cost more time than they are worth
MOST_FEATURES = 1000  # that ITML is tried with: its cost grows with their square


class Candidate(NamedTuple):
    """A space to try."""

    method: str  # "none", "ITML" or "SKLR"
    start: str = "linear"
    C: float = 1.0

    def __str__(self):
        if self.method == "SKLR":
            return f"SKLR from a {self.start} start, C={self.C:g}"
        return "the features as they are" if self.method == "none" else self.method

    def make(self, seed: int) -> SKLR | ITML | None:
        """The learner, not fitted; None for the features as they are."""
        if self.method == "SKLR":
            return SKLR(
                start=self.start, C=self.C, share=SHARE, n_landmarks=N_LANDMARKS, random_state=seed
            )
        return ITML(random_state=seed) if self.method == "ITML" else None


AS_THEY_ARE = Candidate("none")
DEFAULT = Candidate("SKLR", "gaussian", 1.0)
LINEAR = Candidate("ITML")
CANDIDATES = (
    DEFAULT,
    Candidate("SKLR", "gaussian", 3.0),
    Candidate("SKLR", "gaussian", 0.3),
    Candidate("SKLR", "diffusion", 1.0),
    Candidate("SKLR", "diffusion", 3.0),
    Candidate("SKLR", "diffusion", 0.3),
)


class GuidedClustering(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator
):
    """Cluster rows the way people see them, from a few answers; nothing else has to be chosen.

    Use it when you have data and answers and want clusters. Use a learner of its own (``SKLR``,
    ``ITML``) when you want one particular space, or every last setting.

    Parameters
    ----------
    n_clusters : int or "auto", default="auto"
        Clusters to find. "auto" looks for the number in the learned space; rows that answers keep
        apart bound it from below.
    learner : "auto" or estimator, default="auto"
        "auto" tries several learned spaces and chooses by held-out answers, the features as they
        are among them. An estimator with ``transform`` is used as it is given.
    scale : "auto" or bool, default="auto"
        Whether features are standardized. "auto" does so where a few of them drown the others.
    n_init : int, default=10
        Starts of k-means. Raising it finds better clusters and takes longer.
    random_state : int, RandomState instance or None, default=None
        Draws everything that is drawn: same seed, same result.
    n_jobs : int, default=None
        How many spaces are tried at a time, through joblib; None is one, -1 all cores.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Clusters from 0, the largest first.
    n_clusters_ : int
    cluster_centers_ : ndarray of shape (n_clusters, n_directions)
        In the learned space.
    learner_ : estimator or None
        The fitted learner; None when the features are taken as they are.
    scaler_ : StandardScaler or None
    reducer_ : TruncatedSVD or None
        To 100 directions, of sparse features.
    pulls_ : ndarray of shape (n_answers,)
        How hard each answer pulled on the space, in the order of ``constraints.answers()``.
    violated_ : ndarray of int
        Positions of the answers that the clusters, or for triples the space, break.
    suspects_ : ndarray of int
        Positions of the answers most likely wrong, the most suspicious first: what is learned from
        the other answers contradicts them. They are set aside, and the rest is learned from again.
    report_ : GuidedReport
        What was tried, what was chosen and why. ``print(model.report_)`` tells it.
    n_answers_used_ : int
        Answers of weight > 0.
    n_features_in_ : int

    See Also
    --------
    likewise.report.write_report : The same as one HTML page, with pictures.

    Notes
    -----
    Beyond 10,000 rows the space and the centers are learned from a sample that has every row an
    answer speaks of; the other rows go to the nearest center. ``predict`` looks only at where a row
    lies, so a row that its pairs have placed elsewhere may get another cluster from it.

    Examples
    --------
    >>> from sklearn.metrics import adjusted_rand_score
    >>> from likewise import Constraints, GuidedClustering
    >>> from likewise.datasets import load_wine
    >>> wine = load_wine()
    >>> answers = Constraints.from_labels(wine.y, n_pairs=60, random_state=0)
    >>> model = GuidedClustering(n_clusters=3, random_state=0).fit(wine.X, constraints=answers)
    >>> adjusted_rand_score(wine.y, model.labels_) > 0.85
    True
    >>> model.report_.is_scaled
    True
    """

    def __init__(
        self,
        n_clusters="auto",
        *,
        learner="auto",
        scale="auto",
        n_init=10,
        random_state=None,
        n_jobs=None,
    ):
        self.n_clusters = n_clusters
        self.learner = learner
        self.scale = scale
        self.n_init = n_init
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y=None, *, constraints=None):
        """Choose a space by the answers, and cluster the rows in it.

        Parameters
        ----------
        X : array-like or CSR of shape (n_samples, n_features)
        y : None
            Ignored; it is here for scikit-learn.
        constraints : Constraints, default=None
            Answers of every kind. Without any, the features are clustered as they are.

        Returns
        -------
        self : GuidedClustering
        """
        self._check_settings()
        X = self._validate(X, reset=True)
        answers = check_constraints(constraints, n_samples=X.shape[0])
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        rows = sample_rows(X.shape[0], FIT_ROWS, answers.touched_rows(), seed)
        self.scaler_, why_scaled = fit_scaler(X[rows], self.scale)
        self.reducer_ = fit_reducer(X[rows], seed)
        X_fit, told = self._prepared(X[rows]), answers.restrict(rows)

        found = self._choose(X_fit, told, seed)
        self.learner_ = found.learner
        Z = self._learn(X_fit, told)
        counted = choose_n_clusters(Z, told, self.n_clusters, random_state=seed)
        self.n_clusters_ = counted.n_clusters
        placed = place(Z, told, self.n_clusters_, n_init=self.n_init, seed=seed)
        honored = honored_answers(told, placed.labels, Z=Z)
        self.suspects_ = rank_suspects(found.credits, honored, self.pulls_)
        if len(self.suspects_):
            trusted = np.delete(np.arange(told.n_answers), self.suspects_)
            Z = self._learn(X_fit, told, trusted)
            placed = place(Z, told.subset(trusted), self.n_clusters_, self.n_init, seed)
            honored = honored_answers(told, placed.labels, Z=Z)
        before = place(X_fit, Constraints(len(rows)), self.n_clusters_, self.n_init, seed)

        self.cluster_centers_ = placed.centers
        self._n_features_out = Z.shape[1]
        self.labels_ = self._complete(X, rows, placed, self._map_rows)
        self.violated_ = np.flatnonzero(honored == 0)
        self.n_answers_used_ = int(np.count_nonzero(answers.weights > 0))
        self.report_ = GuidedReport(
            n_rows=X.shape[0],
            n_features=X.shape[1],
            n_answers=answers.n_answers,
            is_scaled=self.scaler_ is not None,
            why_scaled=why_scaled,
            trial_names=np.array([str(one) for one in found.names]),
            trial_scores=found.scores,
            trial_errors=found.errors,
            chosen=found.chosen,
            why=found.why,
            why_n_clusters=counted.why,
            labels_before=self._complete(X, rows, before, self._prepared),
            satisfied_before=share_honored(told, before.labels, X_fit),
            satisfied=share_honored(told, placed.labels, Z),
            n_suspects=len(self.suspects_),
            conflicts=np.array([conflict.message for conflict in answers.conflicts()], dtype=str),
        )
        return self

    def transform(self, X):
        """Map rows to the space that the clusters were found in.

        Parameters
        ----------
        X : array-like or CSR of shape (n_samples, n_features)

        Returns
        -------
        Z : ndarray of shape (n_samples, n_directions)
        """
        check_is_fitted(self)
        return self._map_rows(self._validate(X, reset=False))

    def predict(self, X):
        """The cluster of each row: that of the nearest center in the learned space.

        Parameters
        ----------
        X : array-like or CSR of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        X = self._validate(X, reset=False)
        return nearest_centers(self._map_rows, X, self.cluster_centers_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _check_settings(self):
        is_count = isinstance(self.n_clusters, (int, np.integer)) and self.n_clusters >= 1
        if self.n_clusters != "auto" and not is_count:
            raise ValueError(f'n_clusters={self.n_clusters!r} must be "auto" or 1 or more.')
        if self.scale not in ("auto", True, False):
            raise ValueError(f'scale={self.scale!r} must be "auto", True or False.')
        if self.learner != "auto" and not hasattr(self.learner, "transform"):
            raise TypeError(
                f"learner={self.learner!r} has no transform, so it gives no space to cluster in. "
                "Use a clusterer by itself."
            )

    def _validate(self, X, *, reset):
        return validate_data(
            self, X, reset=reset, dtype=[np.float64, np.float32], accept_sparse="csr"
        )

    def _learn(self, X, answers: Constraints, trusted: np.ndarray | None = None) -> np.ndarray:
        """Fit the learner on the trusted answers, keep their pulls, and map the rows."""
        self.pulls_ = np.zeros(answers.n_answers)
        if self.learner_ is None:
            return X
        trusted = np.arange(answers.n_answers) if trusted is None else trusted
        self.learner_.fit(X, constraints=answers.subset(trusted))
        self.pulls_[trusted] = getattr(self.learner_, "duals_", 0.0)
        return self.learner_.transform(X)

    def _prepared(self, X):
        """Rows as dense features, standardized where that was decided."""
        X = X if self.scaler_ is None else self.scaler_.transform(X)
        X = X if self.reducer_ is None else self.reducer_.transform(X)
        return X.toarray() if issparse(X) else X

    def _map_rows(self, X):
        X = self._prepared(X)
        return X if self.learner_ is None else self.learner_.transform(X)

    def _complete(self, X, rows: np.ndarray, placed: "Placed", map_rows) -> np.ndarray:
        """The labels of the rows that were clustered, and of all others by the nearest center."""
        if len(rows) == X.shape[0]:
            return placed.labels
        labels = nearest_centers(map_rows, X, placed.centers)
        labels[rows] = placed.labels
        return labels

    def _choose(self, X, answers: Constraints, seed: int) -> "Choice":
        """The learner to use, not yet fitted, and how it was found."""
        if self.learner != "auto":
            none = np.empty(0)
            unseen = np.full(answers.n_answers, np.nan)
            return Choice(clone(self.learner), (), none, none, -1, "the learner was given.", unseen)
        asked = np.arange(answers.n_answers)
        if len(asked) > TRIAL_ANSWERS:
            drawn = np.random.RandomState(seed).choice(asked, TRIAL_ANSWERS, replace=False)
            asked = np.sort(drawn)
        told = answers.subset(asked)
        rows = sample_rows(X.shape[0], TRIAL_ROWS, told.touched_rows(), seed)
        n_clusters = None if self.n_clusters == "auto" else self.n_clusters
        found = choose_space(
            X[rows], told.restrict(rows), n_clusters, seed=seed, n_jobs=self.n_jobs
        )
        credits = np.full(answers.n_answers, np.nan)
        if found.credits is not None:
            credits[asked] = found.credits
        return found._replace(credits=credits)


@dataclass(frozen=True, eq=False)
class GuidedReport:
    """What a `GuidedClustering` tried, chose and reached; ``print`` tells it in words.

    Attributes
    ----------
    n_rows, n_features, n_answers : int
    is_scaled : bool
    why_scaled, why, why_n_clusters : str
        A sentence each: about scaling, the choice of the space, the number of clusters.
    trial_names : ndarray of str, of shape (n_trials,)
        The spaces tried; the first is the features as they are.
    trial_scores, trial_errors : ndarray of shape (n_trials,)
        Mean credit of held-out answers, between 0 and 1, and its standard error.
    chosen : int
        Place of the chosen space among them; -1 when nothing was tried.
    labels_before : ndarray of shape (n_rows,)
        Clusters without any answer.
    satisfied_before, satisfied : float
        Share of the answers that hold, without learning and with it; nan without answers.
    n_suspects : int
        Answers set aside as likely wrong.
    conflicts : ndarray of str
        Contradictions among the answers, each with its witness.
    """

    n_rows: int
    n_features: int
    n_answers: int
    is_scaled: bool
    why_scaled: str
    trial_names: np.ndarray
    trial_scores: np.ndarray
    trial_errors: np.ndarray
    chosen: int
    why: str
    why_n_clusters: str
    labels_before: np.ndarray
    satisfied_before: float
    satisfied: float
    n_suspects: int
    conflicts: np.ndarray

    def __str__(self):
        lines = [
            f"{self.n_rows} rows, {self.n_features} features, {self.n_answers} answers",
            f"features: {self.why_scaled}",
            f"space: {self.why}",
            f"clusters: {self.why_n_clusters}",
        ]
        tried = zip(self.trial_names, self.trial_scores, self.trial_errors)
        for i, (name, score, error) in enumerate(tried):
            lines.append(f"  {'*' if i == self.chosen else ' '} {score:.3f} ± {error:.3f}  {name}")
        if not np.isnan(self.satisfied):
            shares = f"{self.satisfied_before:.0%} before, {self.satisfied:.0%} now"
            lines.append(f"answers that hold: {shares}")
        if self.n_suspects:
            lines.append(f"set aside as likely wrong: {self.n_suspects} answers (suspects_)")
        lines += [f"conflict: {conflict}" for conflict in self.conflicts]
        return "\n".join(lines)


class Choice(NamedTuple):
    learner: BaseEstimator | None  # not fitted
    names: Sequence  # of what was tried
    scores: np.ndarray  # (n_trials,)
    errors: np.ndarray  # (n_trials,)
    chosen: int
    why: str
    credits: np.ndarray | None  # (n_answers,) in the chosen space, learned without the answer


class Placed(NamedTuple):
    labels: np.ndarray  # (n,)
    centers: np.ndarray  # (k, r)


def sample_rows(n_rows: int, n_wanted: int, forced: np.ndarray, seed: int) -> np.ndarray:
    """All rows up to `n_wanted`; beyond, the forced ones and a draw of the others, ascending."""
    if n_rows <= n_wanted:
        return np.arange(n_rows)
    others = np.setdiff1d(np.arange(n_rows), forced, assume_unique=True)
    n_drawn = min(max(n_wanted - len(forced), n_wanted // 2), len(others))
    drawn = np.random.RandomState(seed).choice(others, n_drawn, replace=False)
    return np.sort(np.concatenate([forced, drawn]))


def fit_scaler(X, scale) -> tuple[StandardScaler | None, str]:
    """A scaler where it is asked for or where a few features drown the others, and why."""
    scaler = StandardScaler(with_mean=not issparse(X))
    if scale == "auto" and issparse(X):
        return None, "taken as they are: they are sparse"
    if scale != "auto":
        return (scaler.fit(X), "standardized, as asked") if scale else (None, "taken as they are")
    variances = scaler.fit(X).var_
    if not variances.any():
        return None, "taken as they are: they do not vary"
    n_loud = variances.sum() ** 2 / np.square(variances).sum()
    loud = f"the variance sits in about {n_loud:.0f} of {X.shape[1]}"
    if n_loud < FEW_FEATURES * X.shape[1]:
        return scaler, f"standardized, since {loud}"
    return None, f"taken as they are: {loud}"


def fit_reducer(X, seed: int) -> TruncatedSVD | None:
    """Sparse features are many: their leading directions stand for them, dense."""
    if not issparse(X) or min(X.shape) <= N_DIRECTIONS:
        return None
    return TruncatedSVD(N_DIRECTIONS, random_state=seed).fit(X)


def choose_space(
    X, answers: Constraints, n_clusters: int | None, *, seed: int, n_jobs: int | None
) -> Choice:
    """Try every candidate on held-out answers; the features as they are win unless beaten."""
    splits = list(answers.folds(N_SPLITS, random_state=seed))
    plain = cross(X, AS_THEY_ARE, splits, answers, n_clusters, seed)
    n_judged = np.count_nonzero(~np.isnan(plain))
    if n_judged < MIN_HELD_OUT:
        few = "no answers" if not answers.n_answers else f"{n_judged} answers can be held out"
        why = f"the features as they are: {few}, and {MIN_HELD_OUT} are needed to learn a space."
        return Choice(None, (), np.empty(0), np.empty(0), -1, why, None)
    tried = list(CANDIDATES)
    if len(answers.positions("must_link", "cannot_link")) and X.shape[1] <= MOST_FEATURES:
        tried.append(LINEAR)
    spaces = {start: start_space(start, X, seed) for start in {one.start for one in tried}}
    run = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(cross)(spaces[one.start], one, splits, answers, n_clusters, seed) for one in tried
    )
    credits = np.array([plain, *track(run, "trying spaces", total=len(tried))])
    tried.insert(0, AS_THEY_ARE)
    judged = ~np.isnan(credits).any(axis=0)
    weights = answers.weights[judged]
    best = choose_best(credits[:, judged], weights)
    scores, errors = mean_and_error(credits[:, judged], weights)
    told = f"it foretells {scores[best]:.0%} of {judged.sum()} held-out answers"
    if best == 0:
        why = f"{AS_THEY_ARE}: {told}, and no learned space does better by a standard error."
    else:
        why = f"{tried[best]}: {told}, {AS_THEY_ARE} {scores[0]:.0%}."
        one = tried[best]
        if not helps_new_rows(X, spaces[one.start], one, answers, n_clusters, seed):
            best = 0
            why = f"{AS_THEY_ARE}: {one} does better only where answers were given."
    return Choice(tried[best].make(seed), tried, scores, errors, best, why, credits[best])


def helps_new_rows(X, Y, one: Candidate, answers: Constraints, n_clusters, seed: int) -> bool:
    """False when answers about rows that no other answer spoke of prefer the features as they are.

    Where answers are dense, those held out speak of rows that the others have moved already.
    """
    splits = list(answers.row_folds(N_SPLITS, random_state=seed))
    if sum(is_judgeable(split.held_out).sum() for split in splits) < MIN_HELD_OUT:
        return True
    learned = cross(Y, one, splits, answers, n_clusters, seed)
    plain = cross(X, AS_THEY_ARE, splits, answers, n_clusters, seed)
    judged = ~np.isnan(learned) & ~np.isnan(plain) & (answers.weights > 0)
    return not beats(plain[judged], learned[judged], answers.weights[judged])


def choose_best(credits: np.ndarray, weights: np.ndarray) -> int:
    """The default unless another beats it by a standard error; the first unless that beats it."""
    place = 1
    scores, _ = mean_and_error(credits, weights)
    rival = int(np.argmax(scores))
    if beats(credits[rival], credits[place], weights):
        place = rival
    return place if beats(credits[place], credits[0], weights) else 0


def start_space(start: str, X: np.ndarray, seed: int) -> np.ndarray:
    """Coordinates of a start, in units of its mean squared distance, as SKLR takes them."""
    if start == "linear":
        return X
    Y = fit_start(start, X, share=SHARE, n_landmarks=N_LANDMARKS, random_state=seed).transform(X)
    return Y / np.sqrt(2 * Y.var(axis=0).sum() or 1.0)


def cross(
    Y: np.ndarray,
    one: Candidate,
    splits: Sequence[Split],
    answers: Constraints,
    n_clusters: int | None,
    seed: int,
) -> np.ndarray:
    """Credits (n_answers,) of held-out answers in what a candidate learns from coordinates Y."""

    def judge(fit_part, held_out):
        Z = learn_space(Y, one, fit_part, seed)
        credits = answer_credits(Z, held_out)
        if n_clusters is None:
            return credits
        labels = KMeans(n_clusters, n_init=TRIAL_STARTS, random_state=seed).fit_predict(Z)
        together = labels[:, None] == np.arange(n_clusters)
        return (credits + answer_credits(together, held_out)) / 2

    return cross_credits(judge, splits, answers.n_answers)


def learn_space(Y: np.ndarray, one: Candidate, answers: Constraints, seed: int) -> np.ndarray:
    """All rows in the space learned from these answers."""
    if one.method == "none":
        return Y
    if one.method == "SKLR":
        settings = SKLR(C=one.C)
        fitted = learn_from_answers(
            Y,
            answers,
            C=settings.C,
            sq_bounds=settings.bounds,
            gamma=settings.gamma,
            tol=TRIAL_TOL,
            seed=seed,
        )
        return Y @ fitted.root
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # triples are not for it, and it need not settle
        return ITML(random_state=seed).fit(Y, constraints=answers).transform(Y)


def place(Z, answers: Constraints, n_clusters: int, n_init: int, seed: int) -> Placed:
    """k-means, then soft pairs from its centers where there are any; the largest cluster first."""
    model = KMeans(n_clusters, n_init=n_init, random_state=seed).fit(Z)
    if len(answers.positions("must_link", "cannot_link")):
        model = PCKMeans(n_clusters, weight=PRICE, init=model.cluster_centers_)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what it would say stands in the report
            model.fit(Z, constraints=answers)
    order = np.argsort(-np.bincount(model.labels_, minlength=n_clusters), kind="stable")
    return Placed(np.argsort(order)[model.labels_], model.cluster_centers_[order])


def nearest_centers(map_rows, X, centers: np.ndarray) -> np.ndarray:
    """The nearest center (n,) of rows mapped block by block; never more than a block at once."""
    labels = np.empty(X.shape[0], dtype=np.int64)
    for rows in row_blocks(X.shape[0], X.shape[1] + centers.size):
        labels[rows] = sq_distances(map_rows(X[rows]), centers).argmin(axis=1)
    return labels


def rank_suspects(credits: np.ndarray | None, honored: np.ndarray, pulls: np.ndarray) -> np.ndarray:
    """Broken answers that a space learned without them gets wrong too, the worst first."""
    unseen = np.full(len(honored), 0.5) if credits is None else np.nan_to_num(credits, nan=0.5)
    suspects = np.flatnonzero((honored == 0) & (unseen <= 0.5))
    return suspects[np.lexsort((-pulls[suspects], unseen[suspects]))]


def share_honored(answers: Constraints, labels: np.ndarray, Z: np.ndarray) -> float:
    return satisfaction_score(answers, labels, Z=Z).share
