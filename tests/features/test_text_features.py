import math
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import normalize

from likewise import Constraints, GuidedClustering, load_model, save_model
from likewise.datasets import available, fetch
from likewise.features import TextFeatures, text_features
from likewise.features.leading_directions import leading_directions
from likewise.features.text_terms import (
    choose_ngrams,
    choose_terms,
    count_terms,
    inverse_frequency,
    weigh_terms,
)

TOPICS = {
    "bank": "the card payment was declined and the bank account lost some money at the transfer",
    "garden": "the tomato plant grows in the garden soil and the rose needs some water at noon",
    "code": "the python function raises an error and the test of the parser fails at some line",
}


def made_texts(seed=0, n=20):
    """n texts a topic, each a draw of its words."""
    rng = np.random.RandomState(seed)
    y = np.repeat(np.arange(len(TOPICS)), n)
    words = [text.split() for text in TOPICS.values()]
    return [" ".join(rng.choice(words[topic], 12)) for topic in y], y


def sq_distances(Z):
    return np.square(Z[:, None] - Z[None]).sum(axis=2)


# scikit-learn's own checks leave out estimators of texts, with a warning: these are theirs by hand.
def test_it_is_cloned_printed_and_pickled_as_scikit_learn_asks():
    texts, _ = made_texts()
    model = TextFeatures(n_components=5, ngrams="words")
    assert repr(model) == "TextFeatures(n_components=5, ngrams='words')"
    assert clone(model).get_params() == model.get_params()
    before = model.get_params()
    assert model.fit(texts) is model
    assert model.get_params() == before
    assert_array_equal(pickle.loads(pickle.dumps(model)).transform(texts), model.transform(texts))


def test_fit_and_transform_are_the_same_as_fit_transform_and_again():
    texts, _ = made_texts()
    model = TextFeatures().fit(texts)
    first = model.transform(texts)
    assert_array_equal(model.fit_transform(texts), first)
    assert_array_equal(np.vstack([model.transform(texts[:7]), model.transform(texts[7:])]), first)


def test_it_must_be_fitted_before_it_maps():
    with pytest.raises(NotFittedError, match="TextFeatures instance is not fitted yet"):
        TextFeatures().transform(["text"])


def test_a_frame_comes_out_when_asked_for():
    frame = (
        TextFeatures(n_components=2)
        .set_output(transform="pandas")
        .fit_transform(pd.Series(made_texts()[0]))
    )
    assert frame.columns.tolist() == ["textfeatures0", "textfeatures1"]


def test_weights_of_two_texts_by_hand():
    counts, terms = count_terms(["pay pay card", "card"], "words")
    assert terms == ["card", "pay"]
    weighted = weigh_terms(counts, np.array([1.0, 2.0])).toarray()
    pay = 2 * (1 + math.log(2))
    assert_allclose(weighted, [[1 / math.hypot(1, pay), pay / math.hypot(1, pay)], [1, 0]])


def test_terms_in_one_text_are_left_out_and_the_commonest_stay():
    n_texts_with = np.array([1, 2, 5, 4, 10])
    assert_array_equal(choose_terms(n_texts_with, 50), [1, 2, 3, 4])
    assert_array_equal(choose_terms(n_texts_with, 2), [2, 4])


def test_all_terms_stay_where_no_two_texts_share_one():
    assert_array_equal(choose_terms(np.array([1, 1, 1]), 50), [0, 1, 2])


def test_a_word_in_every_text_weighs_next_to_nothing():
    rare, common = inverse_frequency(np.array([1, 98]), 98)
    assert_allclose([rare, common], [math.log(50), math.log(100 / 99)])


def test_the_rows_are_those_of_scikit_learn_given_the_weights():
    texts, _ = made_texts()
    model = TextFeatures(n_components=10, ngrams="words")
    ours = model.fit_transform(texts)
    vectorizer = TfidfVectorizer(token_pattern=r"\b\w+\b", sublinear_tf=True, min_df=2)
    vectorizer.fit(texts)
    assert model.vocabulary_ == vectorizer.get_feature_names_out().tolist()
    assert_allclose(
        np.exp(model.idf_), np.exp(vectorizer.idf_ - 1) * (len(texts) + 2) / (len(texts) + 1)
    )
    vectorizer.idf_ = model.idf_
    theirs = TruncatedSVD(10, algorithm="arpack", random_state=0).fit_transform(
        vectorizer.transform(texts)
    )
    assert_allclose(ours @ ours.T, normalize(theirs) @ normalize(theirs).T, atol=1e-8)


def test_directions_of_tall_sparse_rows_are_those_of_a_full_decomposition():
    counts, _ = count_terms(made_texts(n=80)[0], "characters")
    V = leading_directions(counts, 8)
    _, _, full = np.linalg.svd(counts.toarray(), full_matrices=False)
    assert_allclose(V @ V.T, np.eye(8), atol=1e-10)
    assert_allclose(V.T @ V, full[:8].T @ full[:8], atol=1e-7)


def test_a_scaler_hardly_changes_what_the_directions_say():
    X = np.random.RandomState(0).randn(500, 40) * 0.8 ** np.arange(40)
    variances = (X @ leading_directions(X, 40).T).var(axis=0)
    assert variances.max() < 3 * variances.mean()
    assert X.var(axis=0).max() > 10 * X.var(axis=0).mean()


@settings(max_examples=20)
@given(st.integers(0, 10_000))
def test_the_order_of_texts_does_not_matter(seed):
    texts, _ = made_texts(seed, n=10)
    order = np.random.RandomState(seed).permutation(len(texts))
    Z = TextFeatures(n_components=1000).fit_transform(texts)
    shuffled = TextFeatures(n_components=1000).fit_transform([texts[i] for i in order])
    assert_allclose(sq_distances(shuffled), sq_distances(Z[order]), atol=1e-9)


def test_the_order_does_not_matter_beyond_the_texts_that_are_learned_from(monkeypatch):
    monkeypatch.setattr(text_features, "N_FIT", 25)
    texts, _ = made_texts()
    order = np.random.RandomState(0).permutation(len(texts))
    Z = TextFeatures().fit_transform(texts)
    shuffled = TextFeatures().fit_transform([texts[i] for i in order])
    assert_allclose(sq_distances(shuffled), sq_distances(Z[order]), atol=1e-9)


def test_equal_texts_have_equal_rows_of_length_one():
    texts, _ = made_texts()
    Z = TextFeatures().fit_transform([*texts, texts[3]])
    assert_array_equal(Z[3], Z[-1])
    assert_allclose(np.linalg.norm(Z, axis=1), 1)


@pytest.mark.parametrize(
    "holder", [list, tuple, np.array, pd.Series, pl.Series, lambda t: pd.DataFrame({"body": t})]
)
def test_texts_may_be_in_anything_that_holds_a_column(holder):
    texts, _ = made_texts()
    assert_array_equal(
        TextFeatures().fit_transform(holder(texts)), TextFeatures().fit_transform(texts)
    )


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, pd.NaT, "", "  \n"])
def test_a_missing_text_is_a_row_of_zeros(missing):
    model = TextFeatures().fit([*made_texts()[0], missing])
    assert model.n_without_terms_ == 1
    assert_array_equal(model.transform([missing]), np.zeros((1, model._n_features_out)))


def test_a_text_of_unknown_words_is_a_row_of_zeros():
    model = TextFeatures(ngrams="words").fit(made_texts()[0])
    assert_array_equal(model.transform(["zzz qqq"]), np.zeros((1, model._n_features_out)))


def test_case_and_ways_to_write_a_letter_are_one():
    texts = ["Café straße", "CAFE\u0301 STRASSE", "garden rose", "rose garden"]
    Z = TextFeatures().fit_transform(texts)
    assert_allclose(Z[0], Z[1])


def test_short_texts_and_scripts_without_spaces_are_compared_by_characters():
    long_text = "words with spaces between them " * 5
    assert choose_ngrams([long_text] * 3) == "words"
    assert choose_ngrams(["a short question?"] * 3) == "characters"
    assert choose_ngrams(["我们今天去公园散步然后回家吃饭" * 10] * 3) == "characters"
    assert choose_ngrams(["", " "]) == "characters"


def test_chinese_sentences_separate_by_topic():
    money = ["我要转账到银行账户", "银行账户不能转账", "转账的银行在哪里", "账户的银行卡丢了"]
    food = ["今天晚饭吃什么菜", "晚饭吃面条和青菜", "青菜和米饭很好吃", "晚饭的米饭太多了"]
    Z = TextFeatures(n_components=2).fit_transform(money + food)
    labels = KMeans(2, n_init=10, random_state=0).fit_predict(Z)
    assert adjusted_rand_score([0] * 4 + [1] * 4, labels) == 1


@pytest.mark.parametrize("n", [1, 2, 3, 20])
def test_few_texts_are_enough(n):
    texts = made_texts()[0][:n]
    Z = TextFeatures().fit_transform(texts)
    assert Z.shape[0] == n
    assert 1 <= Z.shape[1] <= n
    assert_allclose(np.linalg.norm(Z, axis=1), 1)


def test_topics_are_found():
    texts, y = made_texts()
    labels = KMeans(3, n_init=10, random_state=0).fit_predict(TextFeatures().fit_transform(texts))
    assert adjusted_rand_score(y, labels) == 1


def test_answers_go_through_a_pipeline():
    texts, y = made_texts()
    pipe = make_pipeline(TextFeatures(), GuidedClustering(3, random_state=0))
    answers = Constraints.from_labels(y, n_pairs=30, random_state=0)
    pipe.fit(texts, guidedclustering__constraints=answers)
    assert_array_equal(pipe.predict(texts[:5]), pipe[-1].labels_[:5])


@pytest.mark.parametrize("ngrams", ["words", "characters"])
def test_a_saved_one_gives_the_same_rows(tmp_path, ngrams):
    texts, _ = made_texts()
    model = TextFeatures(ngrams=ngrams).fit(texts)
    save_model(model, tmp_path / "texts.likewise")
    loaded = load_model(tmp_path / "texts.likewise")
    assert_array_equal(loaded.transform(texts), model.transform(texts))
    assert_array_equal(loaded.get_feature_names_out(), model.get_feature_names_out())


def test_the_folder_of_the_cache_is_not_saved(tmp_path):
    model = TextFeatures(cache_folder=str(tmp_path)).fit(made_texts()[0])
    with pytest.raises(TypeError, match="cache_folder names a file or a folder"):
        save_model(model, tmp_path / "texts.likewise")


def test_a_fitted_transformer_is_used_as_it_is_and_another_is_fitted():
    texts, _ = made_texts()
    fitted = TfidfVectorizer(vocabulary=["card", "rose"]).fit(texts)
    model = TextFeatures(fitted).fit(texts)
    assert model.encoder_ is fitted
    unfitted = TextFeatures(TfidfVectorizer()).fit(texts)
    assert unfitted.encoder_ is not unfitted.encoder
    assert len(unfitted.encoder_.vocabulary_) == unfitted.components_.shape[1]


def test_a_function_of_a_list_of_texts_is_an_encoder():
    def lengths_and_words(texts):
        return np.array([[len(text), len(text.split())] for text in texts])

    Z = TextFeatures(lengths_and_words).fit_transform(["aaaa", "a a"])
    assert_allclose(
        Z,
        [
            [4 / math.hypot(4, 1), 1 / math.hypot(4, 1)],
            [3 / math.hypot(3, 2), 2 / math.hypot(3, 2)],
        ],
    )


@pytest.mark.parametrize(
    ("texts", "problem"),
    [
        ("one text", "not a str. Put a single text into a list"),
        ([], "There are 0 texts"),
        (["a", 7], r"texts\[1\] is 7, a int and no str"),
        (["a", b"b"], r"texts\[1\] is b'b', a bytes and no str"),
        (pd.DataFrame({"a": ["x"], "b": ["y"]}), "must be one column, and there are 2"),
        (["", None], "hold no term: all are empty"),
    ],
)
def test_what_is_no_texts_is_named(texts, problem):
    with pytest.raises(ValueError, match=problem):
        TextFeatures().fit(texts)


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"encoder": "bert"}, "encoder='bert' is unknown. Use one of tfidf, sentences"),
        ({"encoder": 3}, "encoder is a int, which has no transform"),
        ({"ngrams": "letters"}, "ngrams='letters' is unknown"),
        ({"n_components": 0}, "n_components=0 must be an int of at least 1"),
        ({"n_components": None}, "n_components=None keeps all terms"),
        ({"max_terms": None}, "max_terms=None must be an int"),
        ({"encoder": lambda texts: np.ones((1, 2))}, "returned 1 rows for 3 texts"),
    ],
)
def test_a_wrong_setting_is_named(settings, problem):
    with pytest.raises((ValueError, TypeError), match=problem):
        TextFeatures(**settings).fit(["a", "b", "c"])


@pytest.mark.data
@pytest.mark.skipif(
    available().get("banking77_text") != "folder", reason="banking77_text is not at hand"
)
def test_characters_separate_short_questions_better_than_words():
    data = fetch("banking77_text")
    rows = np.random.RandomState(0).permutation(len(data.X))[:1500]
    texts, y = [data.X[i] for i in rows], data.y[rows]

    def nearest_agrees(ngrams):
        Z = TextFeatures(ngrams=ngrams).fit_transform(texts)
        similarity = Z @ Z.T
        np.fill_diagonal(similarity, -2)
        return np.mean(y[similarity.argmax(axis=1)] == y)

    assert TextFeatures().fit(texts).ngrams_ == "characters"
    assert nearest_agrees("characters") > nearest_agrees("words") + 0.05
