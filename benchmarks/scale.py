"""Many rows: memory, time by the number of rows, and the rate of maps beside the machine's own.

    python -m benchmarks.scale [PART ...] [--smallest] [--publish] [--folder FOLDER]

rate   rows mapped a second by 500 landmarks, beside a product, an exponential and a product of the
       same shapes in the same run: what the machine itself can do; one thread, CPU seconds
cpu    rows x 64, 500 landmarks, 10 clusters, each in a fresh process: gather and learn, map to a
       file of codes, cluster; the first in memory, the others from a file; and the slope of
       log seconds over log rows
gpu    10,000,000 x 64 rows, 1,000 landmarks: to the device, mapped, 20 rounds of k-means with 100
       clusters; and how far it is from the CPU. Needs torch and a GPU (or --device cpu)

Rows are ten Gaussian clouds, wide in a few directions and thin in the others, made here. With
--publish the tables go to docs/tables.
"""

import argparse
import json
import platform
import resource
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks.printing import add_publish_option, print_rows, publish
from likewise import SKLR, Constraints, SpectralReweighting, scale

N_FEATURES, N_CLOUDS = 64, 10
WIDTHS = (3 / (3 + np.arange(N_FEATURES))).astype(np.float32)  # of a cloud, by direction
BLOCK = 100_000
N_ANSWERS = 200
LEARNERS = {
    "SKLR": partial(SKLR, C=1.0, n_components=0.9, tol=1e-2, random_state=0),
    "SpectralReweighting": partial(SpectralReweighting, cut=1e-2, random_state=0),
}


def cloud_blocks(n_rows, seed=0):
    """Blocks of rows (b, 64) in float32 and of their clouds (b,)."""
    centers = WIDTHS * np.random.RandomState(seed).normal(size=(N_CLOUDS, N_FEATURES)) * 2
    for start in range(0, n_rows, BLOCK):
        rng = np.random.default_rng([seed, start])
        y = rng.integers(0, N_CLOUDS, min(BLOCK, n_rows - start))
        X = rng.standard_normal((len(y), N_FEATURES), dtype=np.float32)
        yield WIDTHS * X + centers[y].astype(np.float32), y.astype(np.int8)


def write_rows(folder, n_rows):
    """rows.npy, written block by block, and clouds.npy."""
    path = folder / f"rows-{n_rows}.npy"
    header = {"descr": "<f4", "fortran_order": False, "shape": (n_rows, N_FEATURES)}
    clouds = []
    with open(path, "wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        for X, y in cloud_blocks(n_rows):
            X.tofile(file)
            clouds.append(y)
    np.save(folder / f"clouds-{n_rows}.npy", np.concatenate(clouds))
    return path


def answers_of(y, kind):
    counts = {"n_odd_one_out": N_ANSWERS} if kind == "SKLR" else {"n_pairs": N_ANSWERS}
    few = np.arange(min(len(y), 20_000))
    drawn = Constraints.from_labels(y[few], **counts, random_state=0)
    return drawn.with_rows(len(y))


def job(n_rows, name, n_landmarks, folder, in_memory):
    """One run from a file of rows to clusters: seconds of each step, ARI and the peak memory."""
    path, y = folder / f"rows-{n_rows}.npy", np.load(folder / f"clouds-{n_rows}.npy")
    answers = answers_of(y, name)
    rows = scale.as_blocks(np.load(path) if in_memory else path)
    walls, times = [time.perf_counter()], [time.process_time()]

    def tick():
        walls.append(time.perf_counter())
        times.append(time.process_time())

    space = LEARNERS[name](n_landmarks=n_landmarks)
    scale.fit(space, rows, constraints=answers, random_state=0)
    tick()
    codes = None if in_memory else folder / "codes.npy"
    Z = scale.transform(space, rows, out=codes)
    tick()
    shape = Z.shape
    model = scale.BlockKMeans(N_CLOUDS, n_init=3, max_iter=10, random_state=0)
    model.fit(Z if codes is None else codes)
    tick()
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return {
        "directions": shape[1],
        "rounds": model.n_iter_,
        "cpu": np.diff(times).tolist(),
        "wall": np.diff(walls).tolist(),
        "ari": adjusted_rand_score(y, model.labels_),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit,
    }


def fresh(is_small, **settings):
    """The job in a process of its own, so that its peak memory is its own; a small one here."""
    if is_small:
        return job(**{**settings, "folder": Path(settings["folder"])})
    command = [sys.executable, "-m", "benchmarks.scale", "--job", json.dumps(settings)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)


def by_rows(options):
    sizes = (1_000, 2_000, 4_000) if options.smallest else (100_000, 1_000_000, 10_000_000)
    n_landmarks = 50 if options.smallest else 500
    yield (
        "learner", "rows", "from", "directions", "learn: s", "map: s", "cluster: s", "rounds",
        "all: CPU s", "wall s", "ARI", "peak MB",
    )  # fmt: skip
    with tempfile.TemporaryDirectory(dir=options.folder) as made:
        folder = Path(made)
        spent = {name: [] for name in LEARNERS}
        for n_rows in sizes:
            path = write_rows(folder, n_rows)
            for name in LEARNERS:
                for in_memory in (True, False) if n_rows == sizes[1] else (False,):
                    found = fresh(
                        options.smallest,
                        n_rows=n_rows,
                        name=name,
                        n_landmarks=n_landmarks,
                        folder=str(folder),
                        in_memory=in_memory,
                    )
                    where = "memory" if in_memory else "file"
                    steps = [f"{seconds:.1f}" for seconds in found["cpu"]]
                    yield (
                        *(name, f"{n_rows:,}", where, found["directions"], *steps),
                        *(found["rounds"], f"{sum(found['cpu']):.1f}"),
                        *(f"{sum(found['wall']):.1f}", f"{found['ari']:.3f}"),
                        f"{found['peak_mb']:.0f}",
                    )
                # Learning takes what it takes whatever the rows; the rest is a pass over them.
                spent[name].append((sum(found["cpu"][1:]), sum(found["cpu"])))
            path.unlink()
        for name in LEARNERS:
            passes, whole = np.log(np.array(spent[name])).T
            slopes = [np.polyfit(np.log(sizes), each, 1)[0] for each in (passes, whole)]
            told = f"slope of log s over log rows: {slopes[0]:.2f} without learning"
            yield (name, *[""] * 7, f"{told}, {slopes[1]:.2f} with it", "", "", "")


def best_seconds(jobs, n_repeats):
    """Least CPU seconds of each job, taken in turns: what else runs here then hits all alike."""
    found = np.array([[cpu_seconds(one) for one in jobs] for _ in range(n_repeats)])
    return found.min(axis=0)


def cpu_seconds(one):
    began = time.process_time()
    one()
    return time.process_time() - began


def own_rate(X, n_landmarks, n_directions):
    """What a map costs at least: a product, an exponential in place and a product, in blocks."""
    L = np.ascontiguousarray(X[:n_landmarks])
    W = np.random.RandomState(0).normal(size=(n_landmarks, n_directions))
    step = max(1, 2**20 // n_landmarks)
    Z = np.empty((len(X), n_directions))
    for start in range(0, len(X), step):
        K = X[start : start + step] @ L.T
        K *= -1e-2
        np.exp(K, out=K)
        np.matmul(K, W, out=Z[start : start + step])
    return Z


def rate(options):
    n_rows, n_landmarks = (2_000, 50) if options.smallest else (50_000, 500)
    X = np.concatenate([block for block, _ in cloud_blocks(n_rows)]).astype(np.float64)
    y = np.concatenate([y for _, y in cloud_blocks(n_rows)])
    learners = {
        "SKLR from rbf": SKLR(C=1.0, start="rbf", n_components=0.99, tol=1e-2, random_state=0),
        "SKLR from rbf, few directions": SKLR(C=1.0, start="rbf", n_components=0.9, tol=1e-2),
        "SKLR from gaussian": SKLR(C=1.0, n_components=0.99, tol=1e-2, random_state=0),
        "SpectralReweighting": SpectralReweighting(random_state=0),
    }
    yield ("learner", "landmarks", "directions", "rows a second", "the machine's own", "share")
    for name, space in learners.items():
        space.set_params(n_landmarks=n_landmarks, random_state=0)
        answers = answers_of(y, name.split()[0])
        scale.fit(space, X, constraints=answers, n_rows=min(n_rows, 5_000), random_state=0)
        n_directions = len(space.get_feature_names_out())
        ours, own = best_seconds(
            [partial(scale.transform, space, X), partial(own_rate, X, n_landmarks, n_directions)],
            1 if options.smallest else 4,
        )
        yield (
            *(name, n_landmarks, n_directions),
            *(f"{n_rows / ours:,.0f}", f"{n_rows / own:,.0f}", f"{own / ours:.0%}"),
        )


def on_gpu(options):
    """To the device, mapped and clustered there; then beside the CPU on fewer rows."""
    import torch

    device = options.device
    n_rows, n_landmarks, k, n_rounds = (
        (3_000, 100, 10, 3) if options.smallest else (10_000_000, 1_000, 100, 20)
    )
    X, y = clouds_by_torch(n_rows, device)
    name = torch.cuda.get_device_name() if device == "cuda" else f"torch on {device}"
    learners = {
        "SKLR": SKLR(C=1.0, start="rbf", n_components=0.99, tol=1e-2),
        "SKLR from gaussian": SKLR(C=1.0, n_components=0.99, tol=1e-2),
        "SpectralReweighting": SpectralReweighting(),
    }
    yield (
        f"on {name}: {n_rows:,} rows, {n_landmarks:,} landmarks", "directions", "move: s", "map: s",
        f"{n_rounds} rounds, k = {k}: s", "all: s", "off the CPU: codes", "labels that differ",
    )  # fmt: skip
    for name, space in learners.items():
        space.set_params(n_landmarks=n_landmarks, random_state=0)
        answers = answers_of(y, name.split()[0])
        scale.fit(space, X, constraints=answers, n_rows=5_000, random_state=0)
        few = X[: min(n_rows, 20_000)]
        scale.transform(space, few, device=device)  # warms up
        walls = [clock(device)]
        rows = torch.as_tensor(X).to(device)
        walls.append(clock(device))
        Z = scale.transform(space, rows)
        walls.append(clock(device))
        start = Z[:k].cpu().numpy().astype(np.float64)
        model = scale.BlockKMeans(k, init=start, max_iter=n_rounds, tol=0)
        model.fit(Z)
        walls.append(clock(device))
        there, here = Z[: len(few)].cpu().numpy(), scale.transform(space, few)
        off = np.abs(there - here).max() / np.abs(here).max()
        both = scale.BlockKMeans(k, init=start, max_iter=n_rounds, tol=0)
        labels = both.fit(Z[: len(few)]).labels_
        differ = np.mean(labels != both.fit(here).labels_)
        n_directions = Z.shape[1]
        del Z, rows
        yield (
            *(name, n_directions, *(f"{step:.2f}" for step in np.diff(walls))),
            *(f"{walls[-1] - walls[0]:.2f}", f"{off:.1e}", f"{differ:.3%}"),
        )


def clouds_by_torch(n_rows, device):
    """The clouds, drawn on the device and brought here: what a user's rows would be."""
    import torch

    generator = torch.Generator(device=device).manual_seed(0)
    widths = torch.as_tensor(WIDTHS).to(device)
    centers = torch.randn((N_CLOUDS, N_FEATURES), generator=generator, device=device) * 2
    y = torch.randint(N_CLOUDS, (n_rows,), generator=generator, device=device)
    X = torch.randn((n_rows, N_FEATURES), generator=generator, device=device) + centers[y]
    return (widths * X).cpu().numpy(), y.cpu().numpy()


def clock(device):
    """Seconds, after all that the device was given to do."""
    import torch

    if device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter()


PARTS = {"rate": rate, "cpu": by_rows, "gpu": on_gpu}


def has_gpu():
    try:
        import torch
    except ImportError:
        return False
    return torch.cuda.is_available()


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale")
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; all but gpu without one")
    parser.add_argument("--smallest", action="store_true", help="once, in seconds")
    parser.add_argument("--folder", help="where rows and codes are written; 15 GB at most")
    parser.add_argument("--device", default="cuda", help="of torch's")
    add_publish_option(parser)
    parser.add_argument("--job", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.job:
        settings = json.loads(options.job)
        print(json.dumps(job(**{**settings, "folder": Path(settings["folder"])})))
        return
    for unknown in set(options.parts) - set(PARTS):
        parser.error(f"{unknown} is none of {', '.join(PARTS)}")
    usual = [name for name in PARTS if name != "gpu" or options.device != "cuda" or has_gpu()]
    for name in options.parts or usual:
        print(f"{name}:", flush=True)
        table = print_rows(PARTS[name](options))
        print()
        if options.publish:
            machine = f"{platform.processor() or platform.machine()}, numpy {np.__version__}"
            publish("scalable", f"scale-{name}", table, machine)


if __name__ == "__main__":
    main()
