"""What sets the rows of a cluster apart from all others: columns by effect size, words by tf-idf.

columns   Cohen's d: the mean in the cluster less that of the other rows, in standard deviations
          within both. Ranked by |d| less its standard error, so that a cluster of three rows is not
          described by chance.
words     class-based tf-idf (grootendorst2022) of the surplus: (share of the cluster's texts with
          the word - share of the others) * log(1 + mean words a cluster / texts with the word).
          The surplus in place of the share: no list of stop words is needed, in any language.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse

from likewise.features import choose_ngrams, count_terms

SMALLEST_SPREAD = 0.05  # within clusters, of that of all rows: a column that tells all has d = 20
FEWEST_TEXTS = 2  # of a cluster that a word must be in
SURE = 2.0  # standard errors that the surplus of a word exceeds
WEAKEST = 0.5  # d of a column that a name is made of: a difference that can be seen
NAME_COLUMNS, NAME_WORDS = 2, 3  # in the name of a cluster


class Trait(NamedTuple):
    """One thing that sets a cluster apart."""

    what: str  # the column, or the word
    effect: float  # Cohen's d: above 0 where the cluster has more of it
    here: float  # the mean in the cluster; of words and of yes or no the share
    elsewhere: float  # the same in all other rows
    is_share: bool  # of rows, from 0 to 1
    is_word: bool = False
    is_date: bool = False  # means are years, with their fraction
    place: int = -1  # of the column among all; words have none

    def __str__(self) -> str:
        """As part of a name: "high income", "city=Paris", "late joined", "refund"."""
        if self.is_word:
            return self.what
        if self.is_date:
            return f"{'late' if self.effect > 0 else 'early'} {self.what}"
        if self.is_share:
            return self.what if self.effect > 0 else f"not {self.what}"
        return f"{'high' if self.effect > 0 else 'low'} {self.what}"


class Moments(NamedTuple):
    """Of every column, in each cluster and in all rows outside it."""

    here: np.ndarray  # (k, d) means
    elsewhere: np.ndarray  # (k, d)
    effects: np.ndarray  # (k, d) Cohen's d
    errors: np.ndarray  # (k, d) its standard errors


def column_traits(
    features, labels: np.ndarray, names: Sequence[str], n_clusters: int, n_traits: int
) -> list[list[Trait]]:
    """The columns of (n, d) that set each cluster apart, the most telling first."""
    moments = compare_columns(features, labels, n_clusters)
    are_shares = _are_flags(features)
    scores = np.abs(moments.effects) - moments.errors
    traits = []
    for cluster in range(n_clusters):
        order = np.argsort(-scores[cluster], kind="stable")[:n_traits]
        traits.append(
            [
                _trait(moments, cluster, j, names, are_shares)
                for j in order
                if scores[cluster, j] > 0
            ]
        )
    return traits


def word_traits(
    texts: Sequence[str], labels: np.ndarray, n_clusters: int, n_traits: int
) -> list[list[Trait]]:
    """The words that set the texts of each cluster apart, the most telling first."""
    ngrams = choose_ngrams([" ".join(texts)])  # runs of characters only where nobody writes spaces
    counts, words = count_terms(texts, ngrams)
    present = (counts > 0).astype(np.float64)
    moments = compare_columns(present, labels, n_clusters)
    sizes = np.bincount(labels, minlength=n_clusters)[:, None]
    n_with = np.asarray(present.sum(axis=0)).ravel()
    rarity = np.log1p(present.sum() / n_clusters / np.maximum(n_with, 1))
    surplus = moments.here - moments.elsewhere
    share = n_with / max(len(texts), 1)
    errors = np.sqrt(share * (1 - share) / np.maximum(sizes, 1))
    is_telling = (surplus > SURE * errors) & (moments.here * sizes >= FEWEST_TEXTS - 0.5)
    scores = np.where(is_telling, surplus * rarity, 0)
    traits = []
    for cluster in range(n_clusters):
        order = np.argsort(-scores[cluster], kind="stable")[:n_traits]
        chosen = [j for j in order if scores[cluster, j] > 0]
        are_shares = np.ones(len(words), dtype=bool)
        found = [_trait(moments, cluster, j, words, are_shares) for j in chosen]
        traits.append([trait._replace(is_word=True, place=-1) for trait in found])
    return traits


def compare_columns(features, labels: np.ndarray, n_clusters: int) -> Moments:
    """Every column of (n, d), dense or sparse, in each cluster and outside it."""
    n = len(labels)
    sizes = np.bincount(labels, minlength=n_clusters)[:, None].astype(float)
    members = sparse.csr_array((np.ones(n), (labels, np.arange(n))), shape=(n_clusters, n))
    if sparse.issparse(features):
        shift, squares = 0.0, features.multiply(features)
    else:
        features = np.asarray(features, dtype=np.float64)
        shift = features.mean(axis=0)
        features = features - shift  # squares of what is far from 0 would lose their digits
        squares = features**2
    sums, sq_sums = _dense(members @ features), _dense(members @ squares)
    total, sq_total = sums.sum(axis=0), sq_sums.sum(axis=0)
    n_others = np.maximum(n - sizes, 1)
    here, elsewhere = sums / np.maximum(sizes, 1), (total - sums) / n_others
    within = sq_total - sizes * here**2 - n_others * elsewhere**2
    spreads = np.sqrt(np.maximum(within, 0) / max(n - 2, 1))
    overall = np.sqrt(np.maximum(sq_total / max(n, 1) - (total / max(n, 1)) ** 2, 0))
    spreads = np.maximum(spreads, SMALLEST_SPREAD * overall)
    is_empty = (sizes == 0) | (sizes == n)
    gaps = np.where(is_empty, 0, here - elsewhere)
    effects = np.divide(gaps, spreads, out=np.zeros_like(gaps), where=spreads > 0)
    errors = np.sqrt(n / (np.maximum(sizes, 1) * n_others) + effects**2 / (2 * max(n, 1)))
    return Moments(here + shift, elsewhere + shift, effects, errors)


def propose_names(traits: Sequence[Sequence[Trait]]) -> list[str]:
    """A name for each cluster from what sets it apart; "" where nothing clearly does."""
    used = [_for_name(of_cluster) for of_cluster in traits]
    lengths = [NAME_WORDS if words and words[0].is_word else NAME_COLUMNS for words in used]
    names = [_name(words, length) for words, length in zip(used, lengths)]
    return [  # two of a name say one thing more
        name if names.count(name) == 1 else _name(words, length + 1)
        for name, words, length in zip(names, used, lengths)
    ]


def _name(traits: Sequence[Trait], n_traits: int) -> str:
    return ", ".join(str(trait) for trait in traits[:n_traits])


def _for_name(traits: Sequence[Trait]) -> list[Trait]:
    """Those that are strong enough, one a column of a table."""
    chosen: dict[str, Trait] = {}
    for trait in traits:
        column = trait.what if trait.is_word else trait.what.partition("=")[0]
        if trait.is_word or abs(trait.effect) >= WEAKEST:
            chosen.setdefault(column, trait)
    return list(chosen.values())


def _trait(moments: Moments, cluster: int, j: int, names, are_shares: np.ndarray) -> Trait:
    return Trait(
        str(names[j]),
        float(moments.effects[cluster, j]),
        float(moments.here[cluster, j]),
        float(moments.elsewhere[cluster, j]),
        bool(are_shares[j]),
        place=int(j),
    )


def _are_flags(features) -> np.ndarray:
    """(d,) whether a column holds 0 and 1 alone."""
    if sparse.issparse(features):
        columns = sparse.csc_array(features)
        is_other = (columns.data != 0) & (columns.data != 1)
        n_others = np.add.reduceat(np.append(is_other, False), columns.indptr[:-1])
        return (n_others == 0) | (np.diff(columns.indptr) == 0)
    return ((features == 0) | (features == 1)).all(axis=0)


def _dense(product) -> np.ndarray:
    return product.toarray() if sparse.issparse(product) else np.asarray(product)
