"""Which sets there are, what they contain, and how an exact copy is recognized.

`checksum` is the start of `Dataset.checksum()` of the copies we worked with. `openml` is an OpenML
id given from memory: no download could be tried, so one is used only if its checksum matches.
"""

from typing import NamedTuple


class Entry(NamedTuple):
    kind: str  # "numeric", "text", "bag of words", "graph", "answers" or "features"
    about: str
    checksum: str
    openml: int | None = None
    divisor: int = 1  # X is kept as an integer: the original value times this
    idx_folder: str = ""  # that its four idx files are in, where it is distributed so (idx.py)


# fmt: off
CATALOG: dict[str, Entry] = {
    "balance_scale": Entry("numeric", "which side of a balance goes down", "365e1c1c2fdc0f13", 11),
    "breast_cancer_wdbc": Entry(
        "numeric", "30 measurements of cell nuclei, malignant or benign", "a0d3c613b49bcfdb", 1510),
    "digits389_mpck": Entry(
        "numeric", "strokes of the digits 3, 8, 9 (out of pendigits)", "bb48acf454f7ed46"),
    "fashion_mnist": Entry(
        "numeric", "28 x 28 images of 10 kinds of clothes, 60,000 to train on first",
        "00bc107bf809b534", 40996, idx_folder="fashion-mnist"),
    "fashion_mnist_test10k": Entry(
        "numeric", "28 x 28 images of 10 kinds of clothes, the test set", "859f7a0e028077a7"),
    "glass": Entry("numeric", "refraction and oxides of 6 types of glass", "600f8af1df39015b", 41),
    "heart_statlog": Entry("numeric", "13 findings, heart disease or not", "bd7f40f42eaebeb8", 53),
    "ionosphere": Entry("numeric", "34 radar returns, good or bad", "d50d844057714b01", 59),
    "iris": Entry("numeric", "4 measurements of flowers of 3 species", "fea4528586d2ffc0", 61),
    "isolet": Entry(
        "numeric", "spoken letters; part is the group of speakers", "51a0382f8dd263f6", 300, 10000),
    "letterIJL_mpck": Entry(
        "numeric", "shapes of printed I, J, L (out of letter)", "2738b641bf23c18b"),
    "mit_scene8_gist512": Entry(
        "numeric", "our GIST of outdoor scenes of 8 kinds", "07ffe1744a33cc3e"),
    "mnist": Entry(
        "numeric", "28 x 28 images of digits, 60,000 to train on first", "f17853cc51c96435", 554,
        idx_folder="mnist"),
    "msrc2_gist512_rgb64": Entry(
        "numeric", "our GIST and colors of photographs of 20 kinds", "7ec17e6181251466"),
    "newsgroups20_bow2000": Entry(
        "bag of words", "counts of 2,000 words in posts to 20 groups", "cf39ef4509ed8b6d"),
    "newsgroups20_text150": Entry(
        "text", "150 posts from each of 20 newsgroups, headers kept", "6cfc22d1c3acd9cf"),
    "optdigits": Entry(
        "numeric", "8 x 8 images of digits; split 1 is 'digits'", "66c43bd1df825d04", 28),
    "pima_diabetes": Entry("numeric", "8 findings, diabetes or not", "e084a5e28d37b5d1", 37),
    "protein_xing": Entry(
        "numeric", "amino acids of proteins of 6 classes (xing2002's set)", "07ba864487a9864d"),
    "randel_ssc_constraints": Entry(
        "answers", "pairs (i, j, 1 must-link or -1 cannot-link)", "7b18298d25557ed1"),
    "reuters10k_knn_graph": Entry(
        "graph", "neighbor edges of Reuters-10K, 4 classes", "96e4f22fb8c21cb0"),
    "reuters_r8_text": Entry(
        "text", "cleaned Reuters-21578 stories of 8 topics", "076aaf15486c8956"),
    "seeds": Entry(
        "numeric", "7 measurements of wheat kernels of 3 kinds", "7fafb578ed6c95cd", 1499),
    "sonar": Entry("numeric", "60 sonar bands off a mine or a rock", "cf7063723a4f69b0", 40),
    "soybean_small": Entry(
        "numeric", "35 coded findings on 4 soybean diseases", "2b689205402dfbcb"),
    "synthetic_control": Entry(
        "numeric", "control charts of 60 steps, 6 patterns", "0bbf1f00040de802", 377),
    "things_features": Entry(
        "features", "features and categories of the 1,854 THINGS objects", "ce5a518b29f98bc0"),
    "triplets_cars60_most_central": Entry(
        "answers", "a is the most central of three cars", "4ed4bcf1bdb3593a"),
    "triplets_food100": Entry(
        "answers", "b tastes closer to a than c does, of 100 dishes", "44ec6b780572df9e"),
    "triplets_materials100": Entry(
        "answers", "which of two materials looks closer to a third", "ad87c1763a2f44be"),
    "triplets_music412": Entry("answers", "artist b is closer to a than c is", "823de8c3e838b3c9"),
    "triplets_things_odd_one_out": Entry(
        "answers", "c is the odd one out of three THINGS objects", "9f3649a75f07a1c0"),
    "triplets_zappos_shoes85": Entry(
        "answers", "shoe b is closer to a than c is", "2042fd363e9b476d"),
    "usps_libsvm9298": Entry(
        "numeric", "16 x 16 digits, 7,291 to train on first", "5c6199e9e8c35b06", 41082, 1000),
    "usps_roweis11000": Entry(
        "numeric", "16 x 16 images of digits, 1,100 each", "6e30f161c5d0e284"),
    "vehicle": Entry(
        "numeric", "18 measurements of silhouettes of 4 vehicles", "b329d13d76ba2f88", 54),
    "wine": Entry(
        "numeric", "13 chemical measurements of wines of 3 growers", "078387af524e497d", 187),
}
# fmt: on
