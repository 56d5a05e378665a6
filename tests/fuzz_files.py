"""Random files of every kind that is read: a result, or one line of a named error, and soon.

    python tests/fuzz_files.py --cases 1000000

Guided by coverage with atheris where it is installed (Linux on x86-64), by chance elsewhere or with
--by-chance. Each case is the bytes of one file: a model, its header with a checksum that fits, an
answer file or a data file. What is read must be read, or end in a ValueError of one short line,
within SECONDS and LARGEST_MB. Stops at the first case that does not, and keeps its file.
"""

import argparse
import contextlib
import importlib
import importlib.util
import io
import json
import signal
import struct
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

IS_GUIDED = __name__ == "__main__" and sys.argv[1:2] == ["--guided"]
atheris = importlib.import_module("atheris") if IS_GUIDED else None

# Guided, the code that reads files counts its branches.
with atheris.instrument_imports(include=["likewise"]) if atheris else contextlib.nullcontext():
    from likewise import Constraints
    from likewise.datasets import read_npz
    from likewise.files import tensor_file
    from likewise.files.row_file import read_rows
    from likewise.model_file import load_model, save_model

SECONDS, LARGEST_MB = 20, 1500
N_ROWS = 6
IDS = [f"r{i}" for i in range(N_ROWS)]
DTYPES = (
    *("BOOL", "U8", "I8", "U16", "I16", "F16", "U32", "I32", "F32", "U64", "I64", "F64"),
    *("F4", "F6_E2M3", "F6_E3M2", "F8_E5M2", "F8_E4M3", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ"),
    *("BF16", "C64"),
)
TOKENS = (
    *(b"1_0", b"1e400", b"-1", b"9" * 30, b"NaN", b"Infinity", b"null", b"true", b"[]", b"{}"),
    *(b"[[", b'""', b'"', b"\n", b"\r", b",", b"\0", b"\xff", b"\xd9\xa3", b"\\ud800", b"\x1b[2J"),
    *(
        b"99999-01-01",
        b"must_link",
        b"odd_one_out",
        b'"kind"',
        b'"kind": "dict"',
        b"10000000000000",
    ),
    *(b'"kind": "estimator"', b'"kind": "range", "ends": [0, 9, 0]', b'"memory"', b"weight", b"id"),
    *(name.encode() for name in DTYPES),
)


def read_sealed(path: Path) -> None:
    """A header of the user's, with arrays and a checksum that fit: what a forger would make."""
    header = path.read_bytes().decode("utf-8", "replace")
    arrays = {"x": np.arange(6.0).reshape(2, 3), "s": np.array([[97, 98]], dtype=np.uint8)}
    sealed = tensor_file.seal(arrays, header)
    save_file(arrays, path, metadata={tensor_file.LAYOUT: sealed})
    load_model(path)


# What to call a file, and how it is read.
TARGETS: dict[str, Callable[[Path], object]] = {
    "model.likewise": load_model,
    "header.likewise": read_sealed,
    "answers.csv": lambda path: Constraints.read(path, n_samples=N_ROWS),
    "answers.jsonl": lambda path: Constraints.read(path, n_samples=N_ROWS),
    "answers.parquet": lambda path: Constraints.read(path, ids=IDS),
    "rows.csv": read_rows,
    "rows.parquet": read_rows,
    "rows.npy": read_rows,
    "set.npz": read_npz,
}


def make_seeds(folder: Path) -> list[tuple[str, bytes]]:
    """Good files of every kind, to be damaged: (target, content)."""
    from sklearn.cluster import KMeans
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from likewise import ITML

    rng = np.random.RandomState(0)
    X = rng.randn(N_ROWS, 3)
    answers = Constraints(
        ids=IDS,
        must_link=[(0, 1)],
        odd_one_out=[(1, 2, 3)],
        weights=[2.0, 0.5],
        annotators=["ann", ""],
        asked_at=["2026-01-31T12:00:00", None],
        screens=["s1", ""],
        seconds=[2.5, None],
    )
    numbered = Constraints(N_ROWS, cannot_link=[(0, 1), (4, 5)], closer=[(1, 2, 3)])
    seeds = []
    pipeline = make_pipeline(StandardScaler(), KMeans(2, n_init=1, random_state=0)).fit(X)
    for model in (pipeline, ITML().fit(X, constraints=numbered.subset([0, 1])), ITML(C=2.0)):
        save_model(model, folder / "model.likewise")
        seeds.append(("model.likewise", (folder / "model.likewise").read_bytes()))
        document = tensor_file.read_tensors(folder / "model.likewise").document
        text = json.dumps({"dtypes": {"s": "<U2"}, "document": document})
        seeds.append(("header.likewise", text.encode()))
    for dtype in DTYPES:
        places = {"x": {"dtype": dtype, "shape": [8], "data_offsets": [0, 8]}}
        header = json.dumps(places).encode()
        seeds.append(("model.likewise", struct.pack("<Q", len(header)) + header + bytes(8)))
    for name, told in (("csv", numbered), ("jsonl", numbered), ("parquet", answers)):
        told.write(folder / f"answers.{name}")
        seeds.append((f"answers.{name}", (folder / f"answers.{name}").read_bytes()))
    lines = [f"r{i},{a},{b},{c}" for i, (a, b, c) in enumerate(X)]
    seeds.append(("rows.csv", "\n".join(["id,x,y,z", *lines]).encode()))
    import pyarrow
    import pyarrow.parquet

    table = pyarrow.table({"id": IDS, "x": X[:, 0], "y": np.arange(N_ROWS)})
    pyarrow.parquet.write_table(table, folder / "rows.parquet")
    seeds.append(("rows.parquet", (folder / "rows.parquet").read_bytes()))
    for array in (X, X.astype("f4"), np.arange(6).reshape(3, 2)):
        file = io.BytesIO()
        np.save(file, array)
        seeds.append(("rows.npy", file.getvalue()))
    for save in (np.savez, np.savez_compressed):
        file = io.BytesIO()
        save(file, X=X, y=np.arange(N_ROWS) % 2, target_names=np.array(["a", "b"]))
        seeds.append(("set.npz", file.getvalue()))
    return seeds


def mutate(rng: np.random.RandomState, content: bytes, other: bytes) -> bytes:
    """Bytes flipped, cut, doubled, swapped for a token or joined with those of another file."""
    damaged = bytearray(content)
    for _ in range(rng.randint(1, 5)):
        at = rng.randint(len(damaged) + 1)
        end = min(len(damaged), at + rng.randint(1, 12))
        what = rng.randint(7)
        if what == 0 and at < len(damaged):
            damaged[at] ^= 1 << rng.randint(8)
        elif what == 1:
            del damaged[at:end]
        elif what == 2:
            damaged[at:at] = damaged[at : at + rng.randint(1, 200)]
        elif what == 3:
            damaged[at:at] = TOKENS[rng.randint(len(TOKENS))]
        elif what == 4:
            damaged[at:end] = TOKENS[rng.randint(len(TOKENS))]
        elif what == 5 and at < len(damaged):
            damaged[at] = rng.randint(256)
        elif rng.rand() < 0.3:
            start = rng.randint(len(other) + 1)
            damaged[at:] = other[start:]
    return bytes(damaged)


def check_case(target: str, content: bytes, folder: Path) -> bool:
    """Read one file and hold it to the rules; whether it could be read."""
    path = folder / target
    path.unlink(missing_ok=True)  # a new file: rows of the last one may still be mapped
    path.write_bytes(content)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", ".*not used for answers")  # a column by another name
            warnings.filterwarnings("ignore", ".*not UTF-8, so read as Windows-1252")
            TARGETS[target](path)
    except ValueError as error:
        message = str(error)
        if type(error) not in (ValueError, tensor_file.ModelFileError):
            raise
        # A cell is shown as it is, up to ten letters for one; the command shortens the line.
        longest = (
            1000 + len(str(path)) + 12 * len(content) * path.name.startswith(("answers", "rows"))
        )
        if "\n" in message or not 10 < len(message) < longest:
            raise AssertionError(f"no line to show: {message[:2000]!r}") from error
        return False
    return True


def draw_case(seed: int, seeds: list[tuple[str, bytes]]) -> tuple[str, bytes]:
    """One damaged file."""
    rng = np.random.RandomState(seed)
    target = list(TARGETS)[rng.randint(len(TARGETS))]
    of_target = [content for name, content in seeds if name == target]
    content, other = (of_target[rng.randint(len(of_target))] for _ in range(2))
    return target, mutate(rng, content, other)


def check_memory() -> None:
    import resource

    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    assert used < LARGEST_MB, f"{used:.0f} MB in use"


def run_by_chance(n_cases: int, first_seed: int) -> int:
    """Damage by chance; how many of the files could be read."""
    started, n_read = time.monotonic(), 0

    def stop(*_):
        raise AssertionError(f"no end after {SECONDS} s")

    signal.signal(signal.SIGALRM, stop)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        seeds = make_seeds(folder)
        for i, seed in enumerate(range(first_seed, first_seed + n_cases), 1):
            target, content = draw_case(seed, seeds)
            signal.alarm(SECONDS)
            try:
                n_read += check_case(target, content, folder)
            except BaseException:
                sys.stderr.write(f"seed {seed}, {target}:\n")
                raise
            finally:
                signal.alarm(0)
            if i % 10_000 == 0:
                check_memory()
                sys.stderr.write(f"{i} files, {time.monotonic() - started:.0f} s\n")
    return n_read


def run_guided(arguments: list[str]) -> None:
    """libFuzzer's own loop; it leaves the process when it is done. The first byte is the target."""
    folder = Path(arguments[-1]).parent  # of the good files
    names = list(TARGETS)

    def one_case(data: bytes) -> None:
        if data:
            check_case(names[data[0] % len(names)], data[1:], folder)

    atheris.Setup([sys.argv[0], *arguments], one_case)
    atheris.Fuzz()


def start_guided(n_cases: int) -> None:
    """A process of libFuzzer on good files and the tokens."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        corpus = folder / "corpus"
        corpus.mkdir()
        for i, (target, content) in enumerate(make_seeds(folder)):
            number = list(TARGETS).index(target)
            (corpus / f"{i:03}").write_bytes(bytes([number]) + content)
        escaped = ["".join(f"\\x{byte:02x}" for byte in token) for token in TOKENS]
        (folder / "tokens").write_text("".join(f'"{token}"\n' for token in escaped))
        options = [f"-runs={n_cases}", f"-timeout={SECONDS}", f"-rss_limit_mb={LARGEST_MB}"]
        options += [f"-dict={folder / 'tokens'}", "-max_len=20000", "-reduce_inputs=0"]
        command = [sys.executable, __file__, "--guided", *options, str(corpus)]
        done = subprocess.run(command, check=False)
    if done.returncode:
        sys.exit("the guided run stopped at a file that breaks the rules: see crash-* here")


def main() -> None:
    if IS_GUIDED:
        run_guided(sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=1_000_000)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--by-chance", action="store_true", help="without atheris")
    options = parser.parse_args()
    if importlib.util.find_spec("atheris") and not options.by_chance:
        start_guided(options.cases)
        words = "guided by coverage"
    else:
        n_read = run_by_chance(options.cases, options.first_seed)
        words = f"{n_read} read"
    sys.stdout.write(f"{options.cases} random files: {words}, the others in one named line\n")


if __name__ == "__main__":
    main()
