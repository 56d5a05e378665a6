"""One command on a table of mixed columns with many rows: CPU seconds, peak memory, score.

    python -m benchmarks.mixed_tables [--rows N ...] [--smallest] [--folder FOLDER] [--publish]

A Parquet file with an id, three numbers, a flag, three categories (4, 16 and 300 levels), a date
and a short text, a twentieth of the cells missing, is clustered by `likewise cluster` in a process
of its own, with the classes of 60 rows as answers. Five classes, which no column tells alone.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.metrics import adjusted_rand_score

from benchmarks.printing import add_publish_option, print_rows, publish
from benchmarks.summary import machine

ROWS = (10_000, 100_000, 1_000_000)
BLOCK = 50_000
N_CLASSES, N_LABELS = 5, 60
SHARE_MISSING = 0.05
WORDS = np.array(
    [
        ["parcel", "late", "tracking", "lost", "courier", "delivery"],
        ["invoice", "price", "refund", "charged", "twice", "payment"],
        ["login", "password", "account", "locked", "reset", "mail"],
        ["app", "crash", "screen", "update", "slow", "phone"],
        ["cancel", "contract", "leave", "offer", "switch", "end"],
    ]
)


def table_block(start: int, n_rows: int) -> tuple[pa.Table, np.ndarray]:
    """Rows from `start` on, and their classes."""
    rng = np.random.default_rng([0, start])
    y = rng.integers(0, N_CLASSES, n_rows)
    picks = WORDS[y[:, None], rng.integers(0, WORDS.shape[1], (n_rows, 4))]
    days = rng.integers(0, 400, n_rows) + 100 * y
    columns = {
        "customer_id": [f"C{i:08d}" for i in range(start, start + n_rows)],
        "age": 30 + 6 * y + 8 * rng.standard_normal(n_rows),
        "income": np.exp(9 + 0.4 * y + rng.standard_normal(n_rows)),
        "visits": rng.poisson(2 + 3 * ((y * 2) % 5)).astype(float),
        "newsletter": rng.random(n_rows) < 0.2 + 0.15 * y,
        "plan": np.array(["free", "basic", "gold", "team"])[(y + (rng.random(n_rows) < 0.3)) % 4],
        "region": np.array([f"R{i}" for i in range(16)])[rng.integers(0, 16, n_rows)],
        "city": np.array([f"city {i}" for i in range(300)])[rng.integers(0, 300, n_rows)],
        "joined": np.datetime64("2022-01-01", "us") + days.astype("m8[D]"),
        "note": [" ".join(words) for words in picks],
    }
    for name in list(columns)[1:]:
        columns[name] = pa.array(columns[name], mask=rng.random(n_rows) < SHARE_MISSING)
    return pa.table(columns), y


def write_table(folder: Path, n_rows: int) -> tuple[Path, np.ndarray]:
    """The Parquet file, written block by block, and the class of each row."""
    path, classes, writer = folder / f"table-{n_rows}.parquet", [], None
    for start in range(0, n_rows, BLOCK):
        table, y = table_block(start, min(BLOCK, n_rows - start))
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
        classes.append(y)
    if writer is not None:
        writer.close()
    return path, np.concatenate(classes)


def measure(folder: Path, n_rows: int) -> dict[str, float]:
    """One command in a process of its own."""
    path, y = write_table(folder, n_rows)
    rows = np.random.default_rng(0).permutation(n_rows)[:N_LABELS]
    lines = [f"C{row:08d},{y[row]}" for row in rows]
    (folder / "labels.csv").write_text("\n".join(["customer_id,label", *lines]) + "\n")
    command = ["cluster", path, "-c", folder / "labels.csv", "-k", N_CLASSES, "--quiet"]
    command += ["-o", folder / "out.parquet"]
    program = (
        "import json, resource, sys; from likewise.cli import main\n"
        "main(sys.argv[1:])\n"
        "used = resource.getrusage(resource.RUSAGE_SELF)\n"
        "print(json.dumps([used.ru_utime + used.ru_stime, used.ru_maxrss]))"
    )
    arguments = [sys.executable, "-c", program, *map(str, command)]
    done = subprocess.run(arguments, check=True, capture_output=True, text=True)
    seconds, peak = json.loads(done.stdout)
    labels = pq.read_table(folder / "out.parquet")["cluster"].to_numpy()
    unit = 2**20 if sys.platform == "darwin" else 2**10
    score = adjusted_rand_score(y, labels)
    return {"CPU seconds": seconds, "peak memory in MB": peak / unit, "ARI": score}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS)
    parser.add_argument("--smallest", action="store_true")
    parser.add_argument("--folder", type=Path, default=None)
    add_publish_option(parser)
    options = parser.parse_args()
    sizes = [min(ROWS)] if options.smallest else options.rows
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        table = print_rows(lines(Path(folder), sizes))
    if options.publish:
        publish("benchmarks", "mixed-tables", table, machine())


def lines(folder: Path, sizes: Sequence[int]) -> Iterator[Sequence[str]]:
    """The header, and then each size as it is measured."""
    yield "rows", "CPU seconds", "peak memory in MB", "ARI"
    for n_rows in sizes:
        seconds, peak, score = measure(folder, n_rows).values()
        yield f"{n_rows:,}", f"{seconds:.1f}", f"{peak:.0f}", f"{score:.3f}"


if __name__ == "__main__":
    main()
