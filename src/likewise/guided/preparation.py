"""How GuidedClustering prepares rows before anything is learned: by a rule, unless answers object.

    none         as they are
    standardize  every feature with mean 0 and variance 1
    robust       every feature with median 0, divided by its spread between the 10th and the 90th
                 percentile: a few extreme values do not set the scale
    unit         every row of length 1: distances are angles; standardized first if the rule says so
    tfidf        logarithms of counts, rare words weighing more, in 50 directions, of length 1

The rule looks at X alone. Counts of words are taken as tf-idf, other sparse rows with length 1.
Dense features are standardized when few of them hold most of the variance. The others that can make
sense are tried on the answers: one of them is taken if it ranks the pairs, or decides the triples,
better than the rule's does by 2.5 standard errors. Where rows have known groups, each row has one
say: how well its distances tell its own group from the others; by 3.5 errors then.
Sparse features become 50 directions first. Decision 35 has the measurements.
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.decomposition import TruncatedSVD

from likewise.constraints import Constraints
from likewise.evaluation import answer_credits, is_judgeable, share_below
from likewise.kernels import sq_distances
from likewise.maps import ChainedMap, LinearMap, Map, UnitLengthMap

PREPARATIONS = ("auto", "none", "standardize", "robust", "unit", "tfidf")
N_DIRECTIONS = 50  # of sparse features, and of words
FEW_FEATURES = 10  # standardize when fewer features than this hold most of the variance,
SMALL_SHARE = 0.25  # and in a smaller share of them,
ALMOST_ONE = 1.1  # or when one feature holds nearly all of it
LEAST_WORDS, LEAST_ZEROS, LEAST_ONES = 100, 0.8, 0.4  # features, cells, cells above 0: of words
QUANTILES = (0.1, 0.9)
NORMAL_SPREAD = 2.563  # between these quantiles of a standard normal distribution
N_ERRORS = 2.5  # by which another preparation must be ahead of the rule's
ROW_ERRORS = 3.5  # by known rows: neighbors share their gains, so these errors are too small
LEAST_ANSWERS = 20  # or known rows, that preparations are judged by


class Preparation(NamedTuple):
    """A preparation, fitted."""

    name: str  # of PREPARATIONS, not "auto"
    map: Map
    why: str  # a sentence for people
    by_answers: bool = False  # and not by the rule
    view_weights: np.ndarray | None = None  # (n_views,) where tables were joined


def fit_preparation(
    X,
    preparation: str = "auto",
    *,
    answers: Constraints | None = None,
    groups: np.ndarray | None = None,
    seed: int = 0,
) -> Preparation:
    """The preparation that is asked for, or "auto": by the rule, unless the answers object.

    Parameters
    ----------
    X : ndarray or CSR of shape (n, d)
    preparation : str
        One of PREPARATIONS.
    answers : Constraints, default=None
        About the rows of X; None leaves the choice to the rule.
    groups : ndarray of shape (n,), default=None
        Where answers name the groups of some rows: these, -1 for the others.
    """
    if preparation != "auto":
        return Preparation(preparation, fit_map(X, preparation, seed), ASKED[preparation])
    name, why = choose_by_rule(X)
    if answers is None or answers.n_answers < LEAST_ANSWERS:
        return Preparation(name, fit_map(X, name, seed), why)
    maps = {other: fit_map(X, other, seed) for other in alternatives(X, name)}
    if name == "standardize":  # angles between rows of one loud feature say nothing
        maps["unit"] = ChainedMap((maps[name], maps["unit"]))
    rows = answers.touched_rows()
    said = answers.restrict(rows)
    spaces = {other: np.asarray(one.transform(X[rows])) for other, one in maps.items()}
    if groups is not None and np.count_nonzero(groups[rows] >= 0) >= LEAST_ANSWERS:
        n_errors = ROW_ERRORS
        leads = {other: lead_of_rows(spaces[other], spaces[name], groups[rows]) for other in spaces}
    else:
        n_errors = N_ERRORS
        leads = {other: lead_of_answers(spaces[other], spaces[name], said) for other in spaces}
    best = max(leads, key=lambda other: leads[other])
    if leads[best] <= n_errors:
        return Preparation(name, maps[name], why)
    why = f"{DONE[best]}: by that, distances agree with the answers"
    return Preparation(best, maps[best], why, by_answers=True)


ASKED = {
    "none": "used as they are",
    "standardize": "standardized, as asked",
    "robust": "scaled by their quantiles, as asked",
    "unit": "rows scaled to length 1, as asked",
    "tfidf": "taken as counts of words (tf-idf), as asked",
}
DONE = {
    "none": "used as they are",
    "standardize": "standardized",
    "robust": "scaled by their quantiles",
    "unit": "rows scaled to length 1",
    "tfidf": "taken as counts of words (tf-idf)",
}


# The rule


def choose_by_rule(X) -> tuple[str, str]:
    """A preparation by X alone, and why."""
    if are_word_counts(X):
        return "tfidf", f"{DONE['tfidf']}: they are whole numbers, most of them 0 or 1"
    if issparse(X):
        if X.min() < 0:
            return "none", "used as they are: they are sparse"
        return "unit", f"{DONE['unit']}: they are sparse"
    variances = np.var(X, axis=0, dtype=np.float64)
    if not variances.any():
        return "none", "used as they are: they do not vary"
    shares = variances / variances.max()  # their squares must not overflow
    n_dominant = shares.sum() ** 2 / np.square(shares).sum()
    dominant = f"about {n_dominant:.0f} of {X.shape[1]} holds most of the variance"
    dominant = dominant if round(n_dominant) == 1 else dominant.replace("holds", "hold")
    limit = max(min(FEW_FEATURES, SMALL_SHARE * X.shape[1]), ALMOST_ONE)
    if X.shape[1] > 1 and n_dominant < limit:
        return "standardize", f"standardized ({dominant})"
    return "none", f"used as they are ({dominant})"


def are_word_counts(X) -> bool:
    """Whether X looks like counts of words: many columns, most cells 0, most of the others 1."""
    values = X.data if issparse(X) else X
    n_above = np.count_nonzero(values)
    n_cells = X.shape[0] * X.shape[1]
    if X.shape[1] < LEAST_WORDS or n_above == 0 or n_above > (1 - LEAST_ZEROS) * n_cells:
        return False
    are_whole = bool((values >= 0).all() and (values == np.floor(values)).all())
    n_ones = int(np.count_nonzero(values == 1))
    return are_whole and bool(LEAST_ONES * n_above <= n_ones < n_above)  # all ones: categories


def alternatives(X, name: str) -> list[str]:
    """The rule's first, then what else can make sense for X."""
    if issparse(X) or name == "tfidf":
        others = ["none", "unit"]
    else:
        others = ["none", "standardize", "robust", "unit"]
    return [name, *(other for other in others if other != name)]


# What they do


def fit_map(X, name: str, seed: int) -> Map:
    """A preparation fitted to rows (n, d)."""
    d = X.shape[1]
    if name == "tfidf":
        if (X.min() if X.shape[0] else 0) < 0:
            raise ValueError('preparation="tfidf" takes counts, and X has cells below 0.')
        n_with = (X != 0).sum(axis=0)
        rarity = 1 + np.log((1 + X.shape[0]) / (1 + np.asarray(n_with)))
        words = UnitLengthMap(rarity, takes_log=True)
        matrix = leading_directions(words.apply(X, np.float64), seed)
        if matrix is None:
            return words
        return ChainedMap((words, LinearMap(matrix), UnitLengthMap(np.ones(matrix.shape[1]))))
    matrix = leading_directions(X, seed) if issparse(X) else None
    if name == "unit":
        if matrix is None:
            return UnitLengthMap(np.ones(d))
        return ChainedMap((LinearMap(matrix), UnitLengthMap(np.ones(matrix.shape[1]))))
    if name == "standardize":
        return standardizing_map(X, seed)
    if name == "robust":
        rows = dense_rows(X)
        center = np.asarray(np.median(rows, axis=0))
        return LinearMap(center=center, scale=spreads_of(rows))
    return LinearMap(scale=np.ones(d)) if matrix is None else LinearMap(matrix)


def standardizing_map(X, seed: int) -> LinearMap:
    """Mean 0 and variance 1; sparse features keep their zeros."""
    if not issparse(X):
        scale = np.std(X, axis=0, dtype=np.float64)
        center = np.asarray(np.mean(X, axis=0, dtype=np.float64))
        return LinearMap(center=center, scale=np.where(scale > 0, scale, 1.0))
    means = np.asarray(X.mean(axis=0)).ravel()
    squares = np.asarray(X.multiply(X).mean(axis=0)).ravel()
    scale = np.sqrt(np.maximum(squares - means**2, 0))
    scale = np.where(scale > 0, scale, 1.0)
    matrix = leading_directions(LinearMap(scale=scale).apply(X, np.float64), seed)
    return LinearMap(matrix, scale=scale)


def spreads_of(X: np.ndarray) -> np.ndarray:
    """(d,) what a feature is divided by: its spread between two quantiles, or that of its values.

    As if they were normal. A feature that is nearly constant has no spread between quantiles.
    """
    low, high = np.quantile(X, QUANTILES, axis=0)
    deviations = np.std(X, axis=0, dtype=np.float64)
    scale = np.where(high > low, (high - low) / NORMAL_SPREAD, deviations)
    return np.where(scale > 0, scale, 1.0)


def leading_directions(X, seed: int) -> np.ndarray | None:
    """(d, 50) directions of many features; None where there are not as many."""
    if min(X.shape) <= N_DIRECTIONS:
        return None
    return TruncatedSVD(N_DIRECTIONS, random_state=seed).fit(X).components_.T


def dense_rows(X) -> np.ndarray:
    return X.toarray() if issparse(X) else X


# What answers say about them


def lead_of_answers(Z: np.ndarray, other: np.ndarray, answers: Constraints) -> float:
    """By how many standard errors distances of Z agree better with answers than those of other.

    A must-link and all cannot-links share their ranks, so the error of pairs is that of two
    samples, as for the area under a curve.
    """
    answers = answers.subset(is_judgeable(answers))
    gains = answer_credits(Z, answers) - answer_credits(other, answers)
    gain, variance = 0.0, 0.0
    pairs = answers.positions("must_link", "cannot_link")
    for kinds in (("must_link",), ("cannot_link",), ("odd_one_out", "closer")):
        part = gains[answers.positions(*kinds)]
        if len(part) == 0:
            continue
        n_same = len(part) if len(kinds) == 2 else len(pairs)
        gain += part.sum()
        variance += n_same**2 * part.var() / len(part)
    return gain / np.sqrt(variance) if variance > 0 else 0.0


def lead_of_rows(Z: np.ndarray, other: np.ndarray, groups: np.ndarray) -> float:
    """The same for known groups (n,), a row at a time."""
    gains = credits_of_rows(Z, groups) - credits_of_rows(other, groups)
    gains = gains[~np.isnan(gains)]
    error = gains.std() / np.sqrt(max(len(gains) - 1, 1)) if len(gains) else 0.0
    return float(gains.mean() / error) if error > 0 else 0.0


def credits_of_rows(Z: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Of each known row the chance that a row of its own group is nearer than one of another.

    nan for rows alone in their group.
    """
    known = np.flatnonzero(groups >= 0)
    sq_dists, own = sq_distances(Z[known]), groups[known]
    credits = np.full(len(known), np.nan)
    for i, group in enumerate(own):
        is_same = own == group
        is_same[i] = False
        others = sq_dists[i, own != group]
        if is_same.any() and len(others):
            nearer = share_below(sq_dists[i, is_same], others, np.ones(len(others)))
            credits[i] = 1 - nearer.mean()
    return credits
