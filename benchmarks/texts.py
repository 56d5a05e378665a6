"""`python -m benchmarks.texts`: texts as numbers, CPU seconds and memory, beside scikit-learn.

Texts are made here: words by Zipf's law, of 60,000, more from one of ten topics; short ones of 8
words and long ones of 150. scikit-learn's is TfidfVectorizer(sublinear_tf=True, min_df=2,
max_features=50_000) and a randomized TruncatedSVD of 100 directions. The score is the share of
texts whose nearest of 2,000 others has the same topic. Each fit is in a process of its own.
"""

import argparse
import json
import resource
import subprocess
import sys
import time

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

from benchmarks.printing import add_publish_option, print_rows, publish
from benchmarks.summary import machine
from likewise.features import TextFeatures

SIZES = (1_000, 10_000, 100_000)
WORDS = {"short": 8, "long": 150}
N_WORDS, N_TOPICS, TOPIC_SHARE = 60_000, 10, 0.4
METHODS = ("likewise", "scikit-learn")
LETTERS = np.array(list("abcdefghijklmnopqrstuvwxyz"))


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.texts")
    parser.add_argument("--smallest", action="store_true", help="1,000 texts, ours alone")
    parser.add_argument("--one", nargs=3, metavar=("METHOD", "LENGTH", "N"), help=argparse.SUPPRESS)
    add_publish_option(parser)
    options = parser.parse_args(argv)
    if options.one:
        method, length, n = options.one
        print(json.dumps(measure(method, length, int(n))))
        return
    table = print_rows(rows(options.smallest))
    if options.publish:
        publish("benchmarks", "texts", table, machine())


def rows(smallest):
    yield "texts", "words each", "method", "CPU seconds", "peak MB", "nearest has the topic"
    for n in SIZES[:1] if smallest else SIZES:
        for length, n_words in WORDS.items():
            for method in METHODS[:1] if smallest else METHODS:
                command = [
                    sys.executable,
                    "-m",
                    "benchmarks.texts",
                    "--one",
                    method,
                    length,
                    str(n),
                ]
                done = subprocess.run(command, check=True, capture_output=True, text=True)
                found = json.loads(done.stdout.splitlines()[-1])
                yield (
                    f"{n:,}",
                    n_words,
                    method,
                    f"{found['seconds']:.1f}",
                    f"{found['megabytes']:.0f}",
                    f"{found['score']:.3f}",
                )


def measure(method, length, n):
    texts, topics = make_texts(n, WORDS[length])
    before = time.process_time()
    model = TextFeatures() if method == "likewise" else peer()
    Z = model.fit_transform(texts)
    seconds = time.process_time() - before
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": seconds, "megabytes": peak, "score": nearest_agrees(Z[:2000], topics[:2000])}


def peer():
    words = TfidfVectorizer(sublinear_tf=True, min_df=2, max_features=50_000)
    return make_pipeline(words, TruncatedSVD(100, random_state=0))


def make_texts(n, n_words):
    """Texts, and the topic of each."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(3, 10, N_WORDS)
    letters = rng.choice(LETTERS, (N_WORDS, 10))
    words = np.array(["".join(row[:m]) for row, m in zip(letters, lengths)], dtype=object)
    shares = 1 / np.arange(1, N_WORDS + 1)
    bounds = np.cumsum(shares) / shares.sum()
    topics = rng.integers(0, N_TOPICS, n)
    texts = []
    for topic in topics:
        drawn = np.searchsorted(bounds, rng.random(n_words)).clip(0, N_WORDS - 1)
        special = rng.random(n_words) < TOPIC_SHARE
        drawn[special] = 100 + topic + N_TOPICS * rng.integers(0, 200, special.sum())
        texts.append(" ".join(words[drawn]))
    return texts, topics


def nearest_agrees(Z, topics):
    Z = Z / np.maximum(np.linalg.norm(Z, axis=1, keepdims=True), 1e-12)
    similarity = Z @ Z.T
    np.fill_diagonal(similarity, -np.inf)
    return float(np.mean(topics[similarity.argmax(axis=1)] == topics))


if __name__ == "__main__":
    main()
