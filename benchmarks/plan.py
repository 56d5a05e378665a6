"""What is run: every comparison, its contestants and over how many seeds.

The first comparison of a method is its smallest: the one that --smallest runs.
"""

from typing import NamedTuple

OURS = "likewise"
BASELINE = "scikit-learn"
METRIC_LEARN = "metric-learn"
ACTIVE = "active-semi-supervised-clustering"
LINKAGE = "constrained-linkage"
PEERS = (METRIC_LEARN, ACTIVE, LINKAGE)


class Comparison(NamedTuple):
    benchmark: str
    data: str
    n_answers: int
    method: str
    seeds: dict[str, int]  # how many, at most, by contestant: an hour-long fit is run once
    answers: str = "pairs"


class Job(NamedTuple):
    comparison: Comparison
    contestant: str
    seed: int

    @property
    def key(self):
        """What a result is filed under: the same job is not run twice."""
        c = self.comparison
        return f"{c.data}|{c.n_answers} {c.answers}|{c.method}|{self.contestant}|{self.seed}"


LINEAR_METRICS = [
    Comparison("linear metrics", "digits/16", 200, "ITML", {OURS: 10, METRIC_LEARN: 10}),
    Comparison("linear metrics", "digits/16", 2_000, "ITML", {OURS: 10, METRIC_LEARN: 10}),
    Comparison("linear metrics", "digits/16", 20_000, "ITML", {OURS: 10, METRIC_LEARN: 2}),
    Comparison("linear metrics", "digits", 200, "ITML", {OURS: 10, METRIC_LEARN: 10}),
    Comparison("linear metrics", "digits", 2_000, "ITML", {OURS: 10, METRIC_LEARN: 3}),
    Comparison("linear metrics", "noisy digits, n = 10,000", 5_000, "ITML",
               {OURS: 3, METRIC_LEARN: 1}, "disjoint pairs"),
    Comparison("linear metrics", "digits/16", 200, "RCA", {OURS: 10, METRIC_LEARN: 10}),
    Comparison("linear metrics", "digits/16, 20 components", 200, "RCA",
               {OURS: 10, METRIC_LEARN: 10}),
    Comparison("linear metrics", "digits/16", 200, "MMC", {OURS: 10, METRIC_LEARN: 3}),
    Comparison("linear metrics", "digits/16", 200, "LSML", {OURS: 10, METRIC_LEARN: 10},
               "triples"),
    Comparison("linear metrics", "digits/16, 20 components", 200, "RCA_as_published", {OURS: 10}),
    Comparison("linear metrics", "digits/16", 200, "MMC_as_published", {OURS: 10}),
    Comparison("linear metrics", "digits/16", 200, "LSML_as_published", {OURS: 10}, "triples"),
]  # fmt: skip


def on_pairs(data, n_answers, theirs):
    """The clusterers on one data set; `theirs` says how many seeds each peer's method gets."""
    for method in ("PCKMeans", "MPCKMeans", "COPKMeans"):
        yield Comparison("clusterers", data, n_answers, method,
                         {OURS: 10, ACTIVE: theirs[method]})  # fmt: skip
    yield Comparison("clusterers", data, n_answers, "Ward", {LINKAGE: theirs["Ward"]})
    yield Comparison("clusterers", data, n_answers, "KMeans", {BASELINE: 10})


QUICK = {"PCKMeans": 10, "MPCKMeans": 3, "COPKMeans": 10, "Ward": 10}
SLOW = {"PCKMeans": 1, "MPCKMeans": 0, "COPKMeans": 1, "Ward": 1}

CLUSTERERS = [
    *on_pairs("digits/16", 200, QUICK),
    *on_pairs("digits/16", 2_000, QUICK),
    *on_pairs("blobs, n = 2,000", 200, QUICK),
    *on_pairs("blobs, n = 2,000", 2_000, QUICK),
    *on_pairs("blobs, n = 10,000", 200, SLOW),
    *on_pairs("blobs, n = 10,000", 2_000, SLOW),
    Comparison("clusterers", "blobs, n = 2,000", 200, "MPCKMeans_one_pass", {ACTIVE: 1}),
    Comparison("clusterers", "blobs, n = 10,000", 200, "MPCKMeans_one_pass", {ACTIVE: 1}),
]

GROWTH = [
    Comparison("time against n", f"blobs, n = {n:,}", 2_000, method,
               {BASELINE if method == "KMeans" else OURS: 3})
    for method in ("PCKMeans", "MPCKMeans", "COPKMeans", "KMeans")
    for n in (1_000, 10_000, 100_000)
]  # fmt: skip

COMPARISONS = [*LINEAR_METRICS, *CLUSTERERS, *GROWTH]


def jobs(n_seeds, only=None, peers=True):
    """First seeds first, so that a run cut short has every comparison."""
    for seed in range(n_seeds):
        for comparison in COMPARISONS:
            for contestant, most in comparison.seeds.items():
                job = Job(comparison, contestant, seed)
                if seed < most and (peers or contestant not in PEERS) and matches(job, only):
                    yield job


def smallest_jobs(only=None, peers=True):
    """The first job of every benchmark, method and contestant."""
    seen = set()
    for job in jobs(1, only, peers):
        name = (job.comparison.benchmark, job.comparison.method, job.contestant)
        if name not in seen:
            seen.add(name)
            yield job


def matches(job, only):
    comparison = job.comparison
    names = (comparison.benchmark, comparison.data, comparison.method, job.contestant)
    return not only or only in names
