"""Texts as numbers: tf-idf, sentence embeddings or any encoder; rows of length 1."""

from collections.abc import Mapping

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.preprocessing import normalize
from sklearn.utils import gen_batches
from sklearn.utils.validation import check_array, check_is_fitted

from likewise.constraints import refuse_answers_as_y
from likewise.features.content_sample import sample_by_content
from likewise.features.encoder_checks import check_encoder, check_whole, is_fitted
from likewise.features.leading_directions import leading_directions
from likewise.features.text_terms import (
    NGRAMS,
    choose_ngrams,
    choose_terms,
    count_terms,
    inverse_frequency,
    weigh_terms,
)
from likewise.files.cell_values import is_missing
from likewise.progress import track

ENCODERS = ("tfidf", "sentences")
N_FIT = 20_000  # texts to learn terms and directions from; the others are only mapped
BLOCK = 5_000  # texts mapped at once: their terms take some 10 MB


class TextFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Turn texts into numbers that can be clustered, in any language.

    By default texts become tf-idf weights of their terms, reduced to their leading directions.
    No language and no stop words are assumed: a term counts the less the more texts it is in, one
    in a single text is left out, and texts that are short or written without spaces are compared
    by runs of two to four characters in place of words. With ``encoder="sentences"`` a
    network that has read much English turns each text into 384 numbers. Every row has length 1,
    but a text without any known term, such as an empty or missing one, which is a row of zeros.

    Parameters
    ----------
    encoder : {"tfidf", "sentences"}, transformer or callable, default="tfidf"
        "sentences" needs the extra ``embed``: all-MiniLM-L6-v2, which reads the first 256 tokens;
        what it made of a text is kept on disk and not computed again.
        A transformer maps texts to rows, sparse or dense; one that is fitted is used as it is, and
        another is fitted to the texts. A callable takes a list of str and returns an array
        (n, d).
    n_components : int or None, default=50
        The most features. More keep finer differences and more noise; fewer keep broad topics.
        Few texts give fewer features. None keeps a dense encoder's features as they are.
    ngrams : {"auto", "words", "characters"}, default="auto"
        Terms of tf-idf. "auto" takes runs of characters when the text in the middle has fewer than
        80 characters, or words are not set apart by spaces.
    max_terms : int, default=50_000
        The most terms of tf-idf, those in most texts. More cost memory.
    cache_folder : str, path or None, default=None
        Where sentence embeddings are kept. None takes the folder that the environment variable
        LIKEWISE_CACHE names, else `likewise` in the user's folder for such files. No model file
        holds it.

    Attributes
    ----------
    components_ : ndarray of shape (n_features, n_terms) or None
        Directions in the features of the encoder. None if those are used as they are.
    vocabulary_ : list of str
        Terms, of tf-idf.
    idf_ : ndarray of shape (n_terms,)
        Their weights.
    ngrams_ : {"words", "characters"}
        What the terms are.
    encoder_ : transformer or None
        The fitted one, where a transformer was passed.
    n_without_terms_ : int
        Texts in the fit that became zeros.

    Notes
    -----
    Beyond 20,000 texts, terms and directions are learned from 20,000 of them, chosen by their
    content: the result does not depend on the order of the texts.

    Examples
    --------
    >>> from likewise.features import TextFeatures
    >>> texts = ["card was declined", "declined my card", "reset my password", "password reset"]
    >>> X = TextFeatures().fit_transform(texts)
    >>> (X @ X.T > 0.5).astype(int)
    array([[1, 1, 0, 0],
           [1, 1, 0, 0],
           [0, 0, 1, 1],
           [0, 0, 1, 1]])
    """

    def __init__(
        self,
        encoder="tfidf",
        *,
        n_components=50,
        ngrams="auto",
        max_terms=50_000,
        cache_folder=None,
    ):
        self.encoder, self.n_components, self.ngrams = encoder, n_components, ngrams
        self.max_terms, self.cache_folder = max_terms, cache_folder

    def fit(self, X, y=None):
        """Learn terms and directions.

        Parameters
        ----------
        X : sequence of n str
            The texts: a list, an array, a series, a table of one column. Missing ones count as
            empty.
        y : None
            Ignored.

        Returns
        -------
        TextFeatures
            Itself, fitted.
        """
        refuse_answers_as_y(y, "TextFeatures takes no constraints=; the learner of its rows may.")
        self._check_parameters()
        texts = as_texts(X)
        rows = sample_by_content([_bytes(text) for text in texts], N_FIT)
        sample = [texts[i] for i in rows]
        encoded = self._fit_encoder(sample)
        self.components_ = None
        if self.n_components is not None and (
            sparse.issparse(encoded) or encoded.shape[1] > self.n_components
        ):
            self.components_ = leading_directions(encoded, self.n_components)
        self.n_without_terms_ = int(np.count_nonzero(_squared_lengths(encoded) == 0))
        n_encoded = encoded.shape[1]
        self._n_features_out = n_encoded if self.components_ is None else len(self.components_)
        return self

    def transform(self, X):
        """Map texts to rows of numbers.

        Parameters
        ----------
        X : sequence of n str
            The texts.

        Returns
        -------
        ndarray of shape (n, n_features)
            Rows of length 1, or 0.
        """
        check_is_fitted(self, "components_")
        texts = as_texts(X)
        rows = np.empty((len(texts), self._n_features_out))
        blocks = list(gen_batches(len(texts), BLOCK))
        for block in track(blocks, "reading texts", total=len(blocks)):
            encoded = self._encode(texts[block])
            if self.components_ is not None:
                encoded = encoded @ self.components_.T
            rows[block] = normalize(encoded, copy=False)
        return rows

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array = True, False
        return tags

    def _check_parameters(self):
        check_encoder(self.encoder, ENCODERS, "texts")
        check_whole("n_components", self.n_components, or_none=True)
        check_whole("max_terms", self.max_terms)
        if self.ngrams not in ("auto", *NGRAMS):
            raise ValueError(f"ngrams={self.ngrams!r} is unknown. Use auto, words or characters.")
        if self.n_components is None and self._by_terms:
            raise ValueError("n_components=None keeps all terms of tf-idf, dense. Use an int.")

    @property
    def _by_terms(self):
        return isinstance(self.encoder, str) and self.encoder == "tfidf"

    def _fit_encoder(self, sample):
        """Fit what is to be fitted; the sample's rows, as the encoder gives them."""
        if self._by_terms:
            self.ngrams_ = choose_ngrams(sample) if self.ngrams == "auto" else self.ngrams
            counts, terms = count_terms(sample, self.ngrams_)
            n_texts_with = np.bincount(counts.indices, minlength=len(terms))
            kept = choose_terms(n_texts_with, self.max_terms)
            if not len(kept):
                raise ValueError(
                    "The texts hold no term: all are empty. Check which column they are from."
                )
            self.vocabulary_ = [terms[j] for j in kept]
            self.idf_ = inverse_frequency(n_texts_with[kept], len(sample))
            return weigh_terms(sparse.csr_array(counts[:, kept]), self.idf_)
        self.encoder_ = None
        if hasattr(self.encoder, "transform"):
            self.encoder_ = self.encoder if is_fitted(self.encoder) else clone(self.encoder)
            if self.encoder_ is not self.encoder:
                self.encoder_.fit(sample)
        return self._encode(sample)

    def _encode(self, texts):
        """Rows of texts, as the encoder gives them, each of length 1."""
        if self._by_terms:
            counts, _ = count_terms(texts, self.ngrams_, self.vocabulary_)
            return weigh_terms(counts, self.idf_)
        if isinstance(self.encoder, str):
            from likewise.features.embed import sentence_embeddings  # torch takes seconds

            rows = sentence_embeddings(texts, cache_folder=self.cache_folder)
        elif self.encoder_ is not None:
            rows = self.encoder_.transform(texts)
        else:
            rows = self.encoder(texts)
        rows = check_array(rows, accept_sparse="csr", dtype=np.float64, input_name="encoded texts")
        if rows.shape[0] != len(texts):
            raise ValueError(
                f"encoder returned {rows.shape[0]} rows for {len(texts)} texts. It must return one "
                "row per text."
            )
        return normalize(rows)


def as_texts(X) -> list[str]:
    """Texts of whatever holds them; a missing one is empty, anything else but a str an error."""
    if isinstance(X, str | bytes | Mapping):
        raise ValueError(
            f"Texts must be a list, an array or a column of str, not a {type(X).__name__}. "
            "Put a single text into a list."
        )
    if getattr(X, "ndim", 1) == 2 or hasattr(X, "columns"):
        X = np.asarray(X, dtype=object)
        if X.shape[1] != 1:
            raise ValueError(
                f"Texts must be one column, and there are {X.shape[1]}. Choose one, or use "
                "TableFeatures for a table."
            )
        X = X[:, 0]
    texts = ["" if is_missing(text) else text for text in X]
    for i, text in enumerate(texts):
        if not isinstance(text, str):
            raise ValueError(
                f"texts[{i}] is {text!r:.60}, a {type(text).__name__} and no str. Convert it first."
            )
    if not texts:
        raise ValueError("There are 0 texts. Pass at least one.")
    return texts


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _squared_lengths(rows) -> np.ndarray:
    squared = rows.multiply(rows) if sparse.issparse(rows) else np.square(rows)
    return np.asarray(squared.sum(axis=1)).ravel()
