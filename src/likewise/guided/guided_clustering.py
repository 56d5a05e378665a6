"""Cluster rows by a few answers: the estimator that chooses everything else.

numbers   what X holds, as numbers (raw_rows.py)
clusters  of a sample of the rows, prepared, by the answers of people who can be trusted
          (sampled_rows.py); all others by their neighbors or the nearest center (many_rows.py)
rules     sizes, exclusive groups and outliers, where asked for (last_step.py)
"""

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
    clone,
)
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples, check_is_fitted

from likewise.cluster import check_enough_rows
from likewise.constraints import Constraints, check_constraints, fit_and_label
from likewise.evaluation import satisfaction_score, satisfied_answers
from likewise.guided.batched_rows import predict_batches
from likewise.guided.guided_report import GuidedReport
from likewise.guided.guided_settings import check_settings
from likewise.guided.image_clusters import fit_images
from likewise.guided.last_step import apart_labels
from likewise.guided.many_rows import (
    as_row_blocks,
    as_rows,
    conflict_messages,
    finish_rows,
    label_all_rows,
    label_blocks,
    share_blocks,
)
from likewise.guided.people import (
    describe_people,
)
from likewise.guided.plain_clusters import cluster_plainly
from likewise.guided.raw_rows import (
    as_numbers,
    check_numbers,
    describe_columns,
    fit_features,
    open_raw,
    set_names,
)
from likewise.guided.sampled_rows import learn_from
from likewise.guided.written_clusters import write_clusters
from likewise.kernels import sq_distances
from likewise.maps import ChainedMap, as_map, by_map
from likewise.numerics.rows import sample_rows
from likewise.scale import as_blocks, is_blockwise
from likewise.scale import transform as transform_blocks

FIT_ROWS = 10_000  # rows that are learned from and clustered; the others go to the nearest center


class GuidedClustering(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator
):
    """Cluster rows the way people see them, from a few answers, with everything else chosen.

    Use it when you have data and answers and want clusters. Use a learner directly (``SKLR``,
    ``ITML``) when you want one particular space, or control over every setting.

    Parameters
    ----------
    n_clusters : int or "auto", default="auto"
        Number of clusters. "auto" chooses it in the learned space, and never fewer than the
        answers keep apart.
    learner : "auto" or estimator, default="auto"
        "auto" tries several learned spaces and the features as they are, and chooses by held-out
        answers. Any estimator with ``transform`` is used as given; the answers go to it, or to
        the steps of a pipeline, where ``fit`` takes constraints.
    preparation : {"auto", "none", "standardize", "robust", "unit", "tfidf"}, default="auto"
        What is done to the features first. "robust" scales them by quantiles, "unit" scales rows to
        length 1, "tfidf" is for counts of words. "auto" takes counts of words as such and
        standardizes if a few features dominate the variance, unless distances agree clearly better
        with the answers another way; a table of mixed columns comes with columns of equal weight,
        and is left so.
    features : "auto" or transformer, default="auto"
        What turns X into numbers first. "auto" leaves arrays and frames of numbers untouched, and
        takes `likewise.features.TableFeatures` for a table with text, categories, dates or missing
        cells. Any scikit-learn transformer is fitted to X, whatever it takes.
    views : sequence of int or None, default=None
        Widths of several feature tables that stand side by side in X (pixels, words, columns), in
        place of ``preparation``: each gets the same mean squared length and then a weight, chosen
        by the answers (`JoinedViews`).
    image_shape : tuple of int, default=None
        Height, width and, unless there is one, channels, if rows are images. Codes are learned from
        the images first (`likewise.deep.SelfSupervisedCodes`, which `features` takes as well; where
        that is fitted, as it is), and clustered; held-out answers choose between that and a network
        trained on from there. It needs the extra `deep` to fit, and some hundred images or more.
    min_size, max_size : int, default=None
        Rows of a cluster, at least and at most; outliers do not count. With ``n_clusters="auto"``
        the number of clusters follows.
    outliers : "auto", float or None, default=None
        Rows that belong nowhere get the label -1: a share of all rows, or as many as lie outside
        ("auto"), and always those that people said belong nowhere.
    last_step : {"auto", "density"}, default="auto"
        "density" finds clusters by HDBSCAN in the learned space: it chooses their number and leaves
        rows out (-1), and answers shape the space only. ``violated_`` lists those it violates.
    n_init : int, default=10
        Number of k-means starts. More starts find better clusters and take longer.
    random_state : int, RandomState instance or None, default=None
        Seed of all random choices: same seed, same result.
    n_jobs : int, default=None
        How many spaces are tried, or blocks of rows processed, at the same time, through joblib;
        None means 1, -1 all cores.
    device : str, default=None
        Map blocks of rows on a device of torch's, such as "cuda": in ``predict``,
        ``predict_proba``, and in ``fit`` beyond 10,000 rows. Learning itself stays on the CPU, but
        with `image_shape`, where None takes a GPU if there is one.
    checkpoint : str, default=None
        A file for the labels found so far while ``fit`` assigns rows beyond 10,000. After a kill
        the same ``fit`` goes on at the block where it stopped. Needs an int as random_state.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Clusters from 0, the largest first, and -1 for outliers. Sizes and exclusive groups may
        change the order.
    nearest_labels_ : ndarray of shape (n_samples,)
        The same without outliers: each of these in the cluster where it belongs most.
    n_clusters_ : int
    cluster_names_ : list of str
        Your own names, to be set after the fit; "" for a cluster without one.
    cluster_centers_ : ndarray of shape (n_clusters, n_directions)
        In the learned space.
    anchors_ : ndarray of shape (n_anchors, n_directions) or None
        Where answers name groups: the rows, in the learned space, that these were spread over. None
        where rows go to the nearest center, as they do where groups of many rows are round.
    anchor_memberships_ : ndarray of shape (n_anchors, n_clusters) or None
        Their memberships, which other rows take from the nearest of them.
    anchor_directions_ : ndarray of shape (n_directions, 64) or None
        The directions in which they are looked for, if there are more: those in which they vary
        most.
    membership_unit_ : float
        Squared distance in which memberships by distances to centers are measured.
    evenness_ : float
        Share of every membership that is spread evenly over the clusters, since answers that were
        held out, or had no part in the clusters, are predicted best so; 0 where there were none.
    learner_ : estimator or None
        The fitted learner; None when the features are used as they are.
    map_ : ChainedMap
        ``transform`` for any rows: the features as prepared, then the learner's map.
    features_ : transformer or None
        What turned X into numbers; None where it had numbers already.
    preparation_ : str
        What was done to the features.
    scaler_ : Map or None
        The same as a map; None where they are used as they are.
    view_weights_ : ndarray of shape (n_views,) or None
        Share of each of the ``views`` in the mean squared distance of the rows.
    pulls_ : ndarray of shape (n_answers,)
        How hard each answer pulled on the space, in the order of ``constraints.answers()``.
    violated_ : ndarray of int
        Positions of the answers violated by the clusters, or for triples by the space.
    doubtful_ : ndarray of int
        Positions of the doubtful answers, the most doubtful first: the clusters violate them, and
        so does a space learned without them. They are set aside, and the model is learned again
        from the rest.
    doubts_ : ndarray of shape (n_answers,)
        How strongly a space learned without the answer contradicts it, from 0 to 1; nan where it
        could not be judged.
    annotators_ : ndarray of str or None
        Everybody who gave an answer, where two or more people gave ten.
    reliabilities_ : ndarray of shape (n_annotators,) or None
        Share of each one's answers that were meant, the rest being guesses; nan for fewer than ten
        answers. All answers of somebody about as good as guessing are set aside (``doubtful_``).
    report_ : GuidedReport
        What was tried, what was chosen and why; ``print(model.report_)`` shows it.
    n_answers_used_ : int
        Answers of weight > 0.
    n_features_in_ : int

    See Also
    --------
    likewise.report.write_report : The same as one HTML page, with pictures.

    Notes
    -----
    Beyond 10,000 rows the space and the centers are learned from a sample that includes every row
    an answer refers to; the other rows go to the nearest center, block by block. ``predict`` looks
    only at where a row lies, so a row that its pairs placed elsewhere may get another cluster.

    References
    ----------
    basu2004 for the clusters; ``likewise.citation(model)`` adds the learner that was chosen.

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
    >>> model.preparation_
    'standardize'
    """

    def __init__(
        self,
        n_clusters="auto",
        *,
        learner="auto",
        preparation="auto",
        features="auto",
        views=None,
        image_shape=None,
        min_size=None,
        max_size=None,
        outliers=None,
        last_step="auto",
        n_init=10,
        random_state=None,
        n_jobs=None,
        device=None,
        checkpoint=None,
    ):
        self.n_clusters = n_clusters
        self.learner = learner
        self.preparation = preparation
        self.features = features
        self.views = views
        self.image_shape = image_shape
        self.min_size = min_size
        self.max_size = max_size
        self.outliers = outliers
        self.last_step = last_step
        self.n_init = n_init
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.device = device
        self.checkpoint = checkpoint

    def fit(self, X, y=None, *, constraints=None):
        """Choose a space by the answers, and cluster the rows in it.

        Parameters
        ----------
        X : array-like, CSR or dataframe of shape (n_samples, n_features)
            Or a dict of columns, or rows in blocks: a Dask array or dataframe, a .npy or .parquet
            path, a folder of .parquet files, or the result of `likewise.scale.as_blocks`.
        y : None
            Ignored; it is here for scikit-learn.
        constraints : Constraints, default=None
            Answers of every kind. Without any, the features are clustered as they are or, where
            that keeps neighbors together better, on a map of which rows are neighbors.

        Returns
        -------
        self : GuidedClustering
        """
        check_settings(self)
        if self.image_shape is not None:
            self.__dict__.update(fit_images(self, X, y, constraints))
            return self
        seed = self.random_state
        if not isinstance(seed, (int, np.integer)):  # a number is kept: k-means alone starts alike
            seed = check_random_state(seed).randint(2**31 - 1)
        X = open_raw(X)
        self.features_ = fit_features(self.features, X, seed)
        X = as_numbers(self.features_, X)
        in_memory = None if is_blockwise(X) else check_numbers(self, X)
        X = as_blocks(X if in_memory is None else in_memory)
        answers = check_constraints(constraints, n_samples=X.shape[0], y=y)
        if self.n_clusters != "auto":
            check_enough_rows(self.n_clusters, X.shape[0])
        rows = sample_rows(X.shape[0], FIT_ROWS, answers.touched_rows(), seed)
        if in_memory is None:
            X_rows = by_map.validate(self, X.take(rows, n_jobs=self.n_jobs), reset=True)
            set_names(self, X)
        else:
            X_rows = in_memory if len(rows) == X.shape[0] else in_memory[rows]
        sampled = answers.restrict(rows).with_exclusive(None)  # nothing is learned from rules
        X_fit, preparation, people, outcome = learn_from(self, X_rows, sampled, answers, seed)
        self.preparation_, prepared = preparation.name, preparation.map
        self.view_weights_ = preparation.view_weights
        self.scaler_ = None if self.preparation_ == "none" else prepared
        self.annotators_ = None if people is None else people.names
        self.reliabilities_ = None if people is None else people.reliabilities
        choice, Z = outcome.choice, outcome.Z
        self.learner_, self.n_clusters_ = outcome.learner, len(outcome.centers)
        self.cluster_names_ = [""] * self.n_clusters_
        before = outcome.plain
        if before is None or len(before.centers) != self.n_clusters_:
            before = cluster_plainly(X_fit, self.n_clusters_, self.n_init, seed)

        self.cluster_centers_ = outcome.centers
        self.anchors_, self.anchor_memberships_ = outcome.anchors, outcome.anchor_memberships
        self.anchor_directions_ = outcome.anchor_directions
        sq_unit = outcome.sq_unit or sq_distances(Z, outcome.centers).min(axis=1).mean() / 2
        self.membership_unit_ = float(sq_unit)
        self.evenness_ = outcome.evenness
        self.pulls_, self.doubtful_ = outcome.pulls, outcome.doubtful
        self.doubts_ = 1 - choice.credits
        learned = () if self.learner_ is None else (as_map(self.learner_),)
        self.map_ = ChainedMap((prepared, *learned))
        self._n_features_out = Z.shape[1]
        self.labels_, labels_before = label_all_rows(self, X, rows, outcome, before)
        self.labels_, self.nearest_labels_, last_step = finish_rows(self, X, Z, answers)
        final_labels = apart_labels(self.labels_[rows])
        satisfied = satisfied_answers(Z, sampled, final_labels)
        self.violated_ = np.flatnonzero(satisfied == 0)
        self.n_answers_used_ = int(np.count_nonzero(answers.weights > 0))
        self.report_ = GuidedReport(
            n_rows=X.shape[0],
            n_features=X.shape[1],
            n_answers=answers.n_answers,
            preparation=self.preparation_,
            why_prepared=preparation.why,
            columns=describe_columns(self.features_)[1],
            trial_names=np.array(choice.names, dtype=str),
            trial_scores=choice.scores,
            trial_errors=choice.errors,
            chosen=choice.chosen,
            why=choice.why,
            why_n_clusters=outcome.why_n_clusters,
            labels_before=labels_before,
            satisfied_before=satisfaction_score(X_fit, sampled, before.labels),
            satisfied=satisfaction_score(Z, sampled, final_labels),
            n_doubtful=len(self.doubtful_),
            conflicts=conflict_messages(answers),
            last_step=last_step,
            people=describe_people(people, final_labels, X_fit, sampled),
        )
        return self

    fit_predict = fit_and_label

    def fit_by_annotator(self, X, *, constraints):
        """Cluster the rows once for each person, from that person's answers alone.

        Use it where people see the same rows differently: `likewise.evaluation.people_agreement`
        says who agrees with whom, and which camps they form.

        Parameters
        ----------
        X : array-like, CSR or dataframe of shape (n_samples, n_features)
        constraints : Constraints
            Answers with ``annotators``.

        Returns
        -------
        dict of str to GuidedClustering
            A fitted model for everybody who gave an answer; this one stays as it is.
        """
        answers = constraints
        if not isinstance(answers, Constraints):
            answers = check_constraints(constraints, n_samples=_num_samples(X))
        if answers.annotators is None:
            raise ValueError("The answers name nobody. Give Constraints(annotators=...).")
        names = np.unique(answers.annotators.astype(str)).tolist()
        whose = answers.annotators.astype(str)
        return {
            name: clone(self).fit(X, constraints=answers.subset(whose == name)) for name in names
        }

    def prepare(self, X):
        """Prepare rows the way ``fit`` did: standardized and reduced if it was.

        Parameters
        ----------
        X : array-like or CSR of shape (n_samples, n_features)

        Returns
        -------
        X : ndarray of shape (n_samples, n_prepared_features)
        """
        check_is_fitted(self)
        return self.map_.maps[0].transform(as_rows(self, X))

    def transform(self, X):
        """Map rows to the space whose squared Euclidean distances are the learned ones.

        Parameters
        ----------
        X : array-like, CSR, dataframe or dict of columns
            Or rows in blocks, as for ``fit``.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_directions)
            In the float type of X; for a Dask array, a Dask array that is not computed yet.
            `likewise.scale.transform` writes to a file instead.
        """
        check_is_fitted(self)
        if not is_blockwise(X):
            return self.map_.transform(as_rows(self, X))
        is_lazy = hasattr(X, "chunks") and self.features_ is None and self.device is None
        return transform_blocks(
            self.map_,
            X if is_lazy else as_row_blocks(self, X),
            device=self.device,
            n_jobs=self.n_jobs,
        )

    def predict(self, X):
        """Find the cluster of each row: that of the nearest center in the learned space.

        Parameters
        ----------
        X : array-like, CSR or dataframe of shape (n_samples, n_features)
            Or a dict of columns, or rows in blocks, as for ``fit``.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        return label_blocks(self, as_row_blocks(self, X))

    def predict_proba(self, X):
        """Memberships of each row: shares of the clusters that sum to 1.

        Where answers name the groups of some rows or are mostly pairs, they are those of the
        nearest rows of ``fit`` or, where groups of many rows are round, by distances to their
        means, and calibrated on answers that were held out; if nothing was learned, on all of them.
        Where answers are triples, or the learner was given, they follow the distances to the
        centers and are not calibrated.

        Parameters
        ----------
        X : array-like, CSR or dataframe of shape (n_samples, n_features)
            Or a dict of columns, or rows in blocks, as for ``fit``.

        Returns
        -------
        memberships : ndarray of shape (n_samples, n_clusters)
        """
        check_is_fitted(self)
        return share_blocks(self, as_row_blocks(self, X))

    def predict_batches(self, batches, *, keep=(), features=None, memberships=False):
        """Find the clusters of rows that come in batches, one batch at a time.

        Made for Spark's ``mapInPandas`` and ``mapInArrow``, Arrow readers and generators: the
        result is an iterator of batches of the same kind, and empty batches stay empty.

        Parameters
        ----------
        batches : iterable
            Of pandas or polars frames, pyarrow tables or record batches, arrays or CSR.
        keep : sequence of str, default=()
            Columns to pass on unchanged, such as IDs.
        features : sequence of str, default=None
            Columns of numbers to use, in the order of ``fit``; one column of lists or vectors will
            do. None takes those of ``fit`` by their names, or all but `keep` if it saw none.
            A model of a table finds its columns itself.
        memberships : bool, default=False
            Whether to add ``predict_proba``, a column per cluster.

        Returns
        -------
        iterator
            Frames with the columns of `keep`, ``cluster`` (int32) and, if asked for,
            ``membership_0``, ``membership_1``, ... For arrays the clusters, or the memberships.
        """
        check_is_fitted(self)
        if features is None:
            features = getattr(self, "feature_names_in_", None)
        return predict_batches(self, batches, keep, features, memberships)

    def write_clusters(self, X, folder, *, keep=(), memberships=False, client=None):
        """Write the cluster of each row to a folder of Parquet files, a million rows at a time.

        Called again with the same model and rows, only files that are missing are made: after a
        kill it goes on where it stopped.

        Parameters
        ----------
        X : path, Dask array or dataframe, Blocks, dataframe or array-like
            As for ``fit``.
        folder : str or path
            For ``part-00000.parquet`` and so on, in the order of the rows.
        keep : sequence of str, default=()
            Columns of X to write before the clusters, such as IDs. Without any the number of the
            row is written, as ``row``.
        memberships : bool, default=False
            Whether to add ``predict_proba``, a column per cluster.
        client : distributed.Client, default=None
            The Dask cluster to work on.

        Returns
        -------
        folder : Path
        """
        check_is_fitted(self)
        return write_clusters(
            self, X, folder, keep=keep, memberships=memberships, client=client, n_jobs=self.n_jobs
        )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
