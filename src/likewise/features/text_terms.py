"""Texts as weighted terms: the tf-idf matrix, without a language and without stop words.

    weight of term t in text i  =  (1 + log count_it) * log((2 + n) / (1 + texts with t))

and every row to length 1. Terms are words in long texts, and runs of two to four characters inside
words in short ones or in scripts that write no spaces. Runs let "paying" and "payment" share what
they share, which a text of eight words cannot do without. A term in every text weighs next to
nothing, whatever its language: scikit-learn adds 1 to the logarithm, which needs a list of stop
words beside it. Pairs of words made clusters worse on all sets of texts (decision 0030).
"""

import unicodedata
from collections.abc import Sequence

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import normalize

SHORT_TEXT = 80  # characters of the text in the middle: below, terms are runs of characters
LONG_WORD = 12.0  # characters of the average word: above, the script has no spaces
FEWEST_TEXTS = 2  # that a term must be in: one in a single text makes nothing similar
NGRAMS = ("words", "characters")

_WORD = r"(?u)\b\w+\b"


def choose_ngrams(texts: Sequence[str]) -> str:
    """ "words" for long texts with spaces between words, else "characters"."""
    lengths = [len(text) for text in texts if text.strip()]
    if not lengths or np.median(lengths) < SHORT_TEXT:
        return "characters"
    n_words = sum(len(text.split()) for text in texts)
    return "characters" if sum(lengths) > (LONG_WORD + 1) * n_words else "words"


def count_terms(
    texts: Sequence[str], ngrams: str, vocabulary: Sequence[str] | None = None
) -> tuple[sparse.csr_array, list[str]]:
    """How often each term is in each text (n, n_terms), and the terms; of a vocabulary if given."""
    runs = {"analyzer": "char_wb", "ngram_range": (2, 4)}
    words = {"analyzer": "word", "token_pattern": _WORD}
    counter = CountVectorizer(
        **(words if ngrams == "words" else runs),
        preprocessor=fold,
        vocabulary=None if vocabulary is None else {term: j for j, term in enumerate(vocabulary)},
    )
    if vocabulary is not None:
        return sparse.csr_array(counter.transform(texts), dtype=np.float64), list(vocabulary)
    try:
        counts = counter.fit_transform(texts)
    except ValueError:  # scikit-learn's word for no term at all
        return sparse.csr_array((len(texts), 0), dtype=np.float64), []
    return sparse.csr_array(counts, dtype=np.float64), counter.get_feature_names_out().tolist()


def fold(text: str) -> str:
    """Upper and lower case, and the ways to write one letter, are one."""
    return unicodedata.normalize("NFKC", text).casefold()


def choose_terms(n_texts_with: np.ndarray, max_terms: int) -> np.ndarray:
    """Which terms to keep, sorted: those in two texts or more, or all if no term is."""
    kept = np.flatnonzero(n_texts_with >= FEWEST_TEXTS)
    if not len(kept):
        kept = np.arange(len(n_texts_with))
    if len(kept) > max_terms:  # those in most texts; of equals, the first in the alphabet
        kept = np.sort(kept[np.argsort(-n_texts_with[kept], kind="stable")[:max_terms]])
    return kept


def inverse_frequency(n_texts_with: np.ndarray, n_texts: int) -> np.ndarray:
    """log((2 + n) / (1 + n_t)) > 0: a text of words that are everywhere still has a direction."""
    return np.log((2 + n_texts) / (1 + n_texts_with))


def weigh_terms(counts: sparse.csr_array, idf: np.ndarray) -> sparse.csr_array:
    """tf-idf (n, n_terms), rows of length 1; a text without terms is a row of zeros."""
    weighted = counts.copy()
    weighted.data = 1.0 + np.log(weighted.data)
    weighted.data *= idf[weighted.indices]
    return normalize(weighted, copy=False)
