"""One fit in a process of its own: a job as a JSON line on stdin, its result as one on stdout.

    python -P benchmarks/worker.py < jobs.jsonl

A job names the file of methods (benchmarks/ours.py or benchmarks/peers/NAME.py), the method, a
.npz file with the problem, where to leave the outcome, and the CPU seconds it may take. Needs numpy
only, because it runs inside the peers' environments too. A method is a function
`method(problem) -> (fit, outcome)`: `fit()` is timed, `outcome()` returns the arrays to score.
"""

import importlib.metadata
import importlib.util
import json
import platform
import resource
import sys
import time
import warnings

import numpy as np

ABOUT_VERSIONS = (FutureWarning, DeprecationWarning, PendingDeprecationWarning)
LONG_ENOUGH_S = 0.3  # the clock of CPU seconds may tick in hundredths
MOST_FITS = 30


class WithoutPandas:
    """scikit-learn loads pandas where it is installed: 60 MB that the peers do without."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "pandas":
            raise ModuleNotFoundError("pandas is left out of benchmarks")


def main():
    results, sys.stdout = sys.stdout, sys.stderr  # whatever a contestant prints is no result
    sys.meta_path.insert(0, WithoutPandas)
    for line in sys.stdin:
        print(json.dumps(run(json.loads(line))), file=results, flush=True)


def run(job):
    methods = load_methods(job["methods_file"])
    result = {"python": platform.python_version(), "versions": versions(methods.PACKAGES)}
    method = getattr(methods, job["method"])
    result["first_fit_s"] = warm_up(method)
    problem = dict(np.load(job["problem_file"]))
    fit, outcome = method(problem)
    limit_s = int(time.process_time()) + job["limit_s"]
    resource.setrlimit(resource.RLIMIT_CPU, (limit_s, resource.RLIM_INFINITY))
    result["start_mb"] = peak_mb()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result |= time_fit(fit, int(problem["seed"]))
    result["peak_mb"] = peak_mb()
    told = [w.message for w in caught if not issubclass(w.category, ABOUT_VERSIONS)]
    result["warned"] = describe(told[0]) if told else ""
    if result["status"] == "ok":
        np.savez(job["outcome_file"], **outcome())
    return result


def time_fit(fit, seed):
    """Mean seconds of the same fit: one, or as many as a short fit needs to be measured."""
    wall, cpu = time.perf_counter(), time.process_time()
    n_fits, seconds = 0, 0.0
    while n_fits < MOST_FITS and seconds < LONG_ENOUGH_S:
        np.random.seed(seed)  # noqa: NPY002  peers that take no seed draw from here
        try:
            fit()
            status = "ok"
        except Exception as error:
            status = describe(error)
        n_fits += 1
        seconds, cpu_seconds = time.perf_counter() - wall, time.process_time() - cpu
    return {"status": status, "fit_s": seconds / n_fits, "fit_cpu_s": cpu_seconds / n_fits}


def load_methods(path):
    spec = importlib.util.spec_from_file_location("methods", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def versions(packages):
    return ", ".join(f"{name} {importlib.metadata.version(name)}" for name in packages)


def warm_up(method):
    """Fit 30 rows once, so that lazy imports and compilation are not counted as the fit's time."""
    rng = np.random.default_rng(0)
    rows = np.arange(30)
    problem = {
        "X": rng.normal(size=(30, 3)) + 5 * (rows % 3)[:, None],
        "must_link": np.stack([rows[:10], rows[:10] + 3], axis=1),
        "cannot_link": np.stack([rows[:10], rows[:10] + 1], axis=1),
        "odd_one_out": np.stack([rows[:10], rows[:10] + 3, rows[:10] + 1], axis=1),
        "n_clusters": np.array(3),
        "seed": np.array(0),
    }
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            fit, _ = method(problem)
            fit()
        except Exception as error:
            print(f"warm-up: {describe(error)}", file=sys.stderr)
    return time.perf_counter() - start


def peak_mb():
    """Peak resident memory of this process.

    Linux hands ru_maxrss of the parent down through exec; VmHWM starts at zero there.
    """
    try:
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) for line in status if "VmHWM" in line) / 1024
    except FileNotFoundError:
        unit = 1024**2 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def describe(error):
    """An error or a warning as one short line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}"[:160].rstrip(": ")


if __name__ == "__main__":
    main()
