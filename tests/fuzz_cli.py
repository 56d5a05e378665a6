"""Random malformed files and options through the command line: one line of error, no traceback.

    python tests/fuzz_cli.py --cases 20000

Each case writes a small data file, an answer file and sometimes a model, damages some of them, and
runs a command. It must end well, or with one line on stderr, a non-zero exit and nothing written.
Prints the first seed that fails, and stops there. One case in PROCESS_EVERY is a real process.
"""

import argparse
import contextlib
import io
import json
import subprocess
import sys
import tempfile
import time
import warnings
from datetime import datetime
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

from likewise.cli import main as run_likewise
from likewise.cli.options import CLUSTERERS, GUIDED
from likewise.constraints import Constraints
from likewise.constraints.table import COLUMNS, KINDS
from likewise.files.problem_list import MOST_LISTED

PROCESS_EVERY = 500  # a process takes seconds to start
CELLS = (
    *("", " ", "x", "nan", "inf", "-inf", "1e400", "-1", "0", "1.5", "1e308", "-1e308", "1e-320"),
    *("٣", "1_0", "0x1", "None", "True", "é" * 9, '"', "'", "a,b", "a\nb", "\x00", "9" * 40, "½"),
    *("2026-01-31", "99999-01-01", "\ud800", "\ufeff", "<b>", "a" * 5000),
)
JSON_CELLS = (
    *(None, True, [], {}, [0], 1.5, -1, 10**30, float("nan"), "", "x", "0", "\ud800"),
    *({"a": 1}, 1e400, "must_link"),
)
BAD_COUNTS = ("0", "-1", "99", "x", "1e3", "")


def pick(rng, choices):
    return choices[rng.randint(len(choices))]


def draw_rows(rng: np.random.RandomState) -> tuple[list[str], list[list[str]]]:
    """A header and cells, mostly numbers."""
    n_rows = rng.randint(3, 16) if rng.rand() < 0.9 else rng.randint(3)
    n_columns = rng.randint(1, 5)
    spread = 10.0 ** rng.randint(-3, 4)
    cells = [[f"{x:.4g}" for x in row] for row in rng.randn(n_rows, n_columns) * spread]
    if rng.rand() < 0.15 and n_rows:  # all rows alike, or a column that never changes
        cells = [cells[0] for _ in cells]
    names = [f"x{j}" for j in range(n_columns)]
    if rng.rand() < 0.5:
        names.insert(0, "id")
        cells = [[f"r{i}", *row] for i, row in enumerate(cells)]
    return names, cells


def damage_cells(rng, names: list[str], cells: list[list]) -> None:
    """Some cells, rows and names replaced, doubled or dropped."""
    for _ in range(rng.randint(1, 4) if rng.rand() < 0.3 else 0):
        what = rng.randint(6)
        row = cells[rng.randint(len(cells))] if cells else names
        if what == 0 and row:
            row[rng.randint(len(row))] = pick(rng, CELLS)
        elif what == 1 and row:
            row.pop()
        elif what == 2:
            row.append(pick(rng, CELLS))
        elif what == 3 and names:
            names[rng.randint(len(names))] = pick(rng, (*names, *CELLS))
        elif what == 4 and cells:
            cells.append(list(cells[rng.randint(len(cells))]))
        elif what == 5 and cells:
            cells.pop(rng.randint(len(cells)))


def damage_bytes(rng, path: Path) -> None:
    """Bytes flipped, cut, doubled or put in."""
    content = bytearray(path.read_bytes())
    for _ in range(rng.randint(1, 4)):
        at = rng.randint(len(content) + 1)
        what = rng.randint(5)
        if what == 0 and at < len(content):
            content[at] = rng.randint(256)
        elif what == 1:
            del content[at:]
        elif what == 2:
            del content[at : at + rng.randint(1, 9)]
        elif what == 3:
            content[at:at] = rng.bytes(rng.randint(1, 9))
        else:
            content[at:at] = content[at : at + rng.randint(1, 99)]
    path.write_bytes(bytes(content))


def write_csv(rng, path: Path, names: list[str], cells: list[list]) -> None:
    mark = pick(rng, (",",) * 30 + (";", "\t"))
    end = pick(rng, ("\n", "\n", "\r\n", "\n\n"))
    lines = [mark.join(map(str, row)) for row in (names, *cells)]
    coding = pick(rng, ("utf-8",) * 40 + ("utf-8-sig", "utf-16", "latin-1"))
    path.write_bytes(end.join(lines).encode(coding, "replace"))


def write_npy(rng, path: Path) -> None:
    arrays = (
        lambda: rng.randn(rng.randint(0, 9), rng.randint(0, 4)),
        lambda: rng.randn(8, 3).astype(pick(rng, ("f2", "f4", ">f8", "i1", "u8", "?", "c16"))),
        lambda: np.full((5, 2), pick(rng, (np.nan, np.inf, 1e308, 1e-320, 0.0))),
        lambda: rng.randn(*rng.randint(1, 4, size=rng.randint(0, 4))),
        lambda: np.array([["a", "b"], ["c", "d"]]),
        lambda: np.zeros(3, dtype=[("x", "f8"), ("y", "f8")]),
        lambda: np.array([[None, 1.0]], dtype=object),
        lambda: np.array([["2026-01-31"]], dtype="M8[D]"),
    )
    np.save(path, pick(rng, arrays)(), allow_pickle=True)


def write_parquet(rng, path: Path, names: list[str], cells: list[list]) -> None:
    import pyarrow
    import pyarrow.parquet

    columns = {}
    for j, name in enumerate(names):
        column = [row[j] if j < len(row) else None for row in cells]
        makers = (
            lambda values: [float(value) for value in values],
            lambda values: [str(value).encode("utf-8", "replace") for value in values],
            lambda values: [[1.0, 2.0] for _ in values],
            lambda values: [{"a": 1} for _ in values],
            lambda values: [None for _ in values],
            lambda values: [True for _ in values],
            lambda values: [datetime(2026, 1, 31) for _ in values],
            lambda values: [10**15 for _ in values],
        )
        make = makers[0] if rng.rand() < 0.95 else pick(rng, makers)
        with contextlib.suppress(ValueError, TypeError):
            column = make(column)
        with contextlib.suppress(pyarrow.ArrowException, UnicodeError):
            columns[str(name).encode("utf-8", "replace").decode()] = pyarrow.array(column)
    pyarrow.parquet.write_table(pyarrow.table(columns), path)


def draw_data(rng, folder: Path, name: str) -> tuple[Path, list[str]]:
    """A data file, and the ids that are in it or the row numbers."""
    names, cells = draw_rows(rng)
    known = [row[0] for row in cells] if names[0] == "id" else list(map(str, range(len(cells))))
    damage_cells(rng, names, cells)
    ending = pick(rng, ("csv",) * 10 + ("parquet",) * 5 + ("npy",) * 5 + ("txt",))
    path = folder / f"{name}.{ending}"
    if ending == "npy":
        write_npy(rng, path)
    elif ending == "parquet":
        write_parquet(rng, path, names, cells)
    else:
        write_csv(rng, path, names, cells)
    if rng.rand() < 0.08:
        damage_bytes(rng, path)
    return path, known


def draw_answers(rng, folder: Path, known: list[str]) -> Path:
    """An answer file about rows that are mostly there."""
    cells = []
    for _ in range(pick(rng, (0, 3, 10, 40))):
        kind = pick(rng, KINDS)
        width = 2 if kind.endswith(("link", "pair")) else 3
        rows = [str(rng.randint(9))] * 3
        if len(known) >= 3:
            rows = [known[i] for i in rng.choice(len(known), 3, replace=False)]
        weight = pick(rng, ("", "", "1", "0", "2.5", "1e300"))
        cells.append([kind, *rows[:width], *[""] * (3 - width), weight, "ann", "", "s1", "2"])
    names = list(COLUMNS)
    damage_cells(rng, names, cells)
    ending = pick(rng, ("csv",) * 10 + ("jsonl",) * 5 + ("parquet",) * 5 + ("xls",))
    path = folder / f"answers.{ending}"
    if ending == "jsonl":
        lines = []
        for row in cells:
            answer: object = {name: cell for name, cell in zip(names, row) if cell != ""}
            if rng.rand() < 0.1:
                answer = pick(rng, JSON_CELLS)
            elif rng.rand() < 0.1 and isinstance(answer, dict):
                answer[pick(rng, COLUMNS)] = pick(rng, JSON_CELLS)
            lines.append(json.dumps(answer))
        path.write_text("\n".join(lines))
    elif ending == "parquet":
        write_parquet(rng, path, names, cells)
    else:
        write_csv(rng, path, names, cells)
    if rng.rand() < 0.08:
        damage_bytes(rng, path)
    return path


def draw_command(rng, folder: Path, models: list[Path]) -> list[str]:
    """A command about files that were just made, with options that are wrong now and then."""
    data, known = draw_data(rng, folder, "data")
    careless = rng.rand() < 0.2

    def maybe(share: float, name: str, right: tuple, wrong: tuple) -> list[str]:
        if rng.rand() >= share:
            return []
        return [name, pick(rng, right + wrong * careless)]

    columns = 0.1 * (data.suffix != ".npy" or careless)
    options = maybe(columns, "--id-column", ("id", "x0"), ("nowhere", ""))
    options += maybe(columns, "--features", ("x0", "x0,x1"), ("x0,x0", "id", "", ",", "nowhere"))
    endings = ("csv", "npy", "parquet"), ("txt", "no/where.csv")
    if rng.rand() < 0.08:
        options += ["-c", str(draw_answers(rng, folder, known))] * (not careless)
        options += maybe(1.0, "-k", ("2", "3"), ("1", "auto", *BAD_COUNTS))
        options += maybe(
            0.5, "-o", (f"{folder}/out.csv", f"{folder}/out.json"), (f"{folder}/o.no",)
        )
        return ["check", str(data), *options]
    if rng.rand() < 0.06:
        options += ["--pool", str(draw_answers(rng, folder, known))] * (not careless)
        options += maybe(1.0, "-k", ("2", "3"), ("1", "auto", *BAD_COUNTS))
        options += maybe(1.0, "-m", ("1", "3"), BAD_COUNTS)
        options += maybe(0.5, "--strategy", ("active", "online", "random"), ("best", ""))
        options += [pick(rng, ("--closure", "--exact"))] * (rng.rand() < 0.3)
        ends = (f"{folder}/out.csv", f"{folder}/out.jsonl"), (f"{folder}/o.no",)
        options += maybe(0.5, "-o", *ends)
        return ["select", str(data), *options]
    options += maybe(0.5, "-o", *[tuple(f"{folder}/out.{end}" for end in kind) for kind in endings])
    if rng.rand() < 0.15:
        model = folder / "given.likewise"
        model.write_bytes(pick(rng, models).read_bytes())
        if rng.rand() < 0.5:
            damage_bytes(rng, model)
        return ["apply", str(model), str(data), *options]
    if rng.rand() < 0.8:
        options += ["-c", str(draw_answers(rng, folder, known))]
    method = pick(rng, GUIDED if rng.rand() < 0.6 else tuple(CLUSTERERS))
    guided = method in GUIDED
    counts = ("1", "2", "3") + ("auto",) * (guided or careless)
    options += ["--method", method, *maybe(1.0, "-k", counts, BAD_COUNTS)]
    options += maybe(
        0.4 * (guided or careless), "--report", (f"{folder}/r.html",), (f"{folder}/r.txt",)
    )
    options += maybe(0.2, "--model", (f"{folder}/out.likewise",), (f"{folder}/no/m",))
    options += maybe(0.05, "--image-shape", ("1x2", "1x1"), ("2x2", "0x0", "1x1x3", "axb", ""))
    options += maybe(columns, "--text-column", ("id", "x0"), ("nowhere",))
    options += ["--preparation", pick(rng, ("none", "standardize", "auto", "x"))] * (
        rng.rand() < 0.2
    )
    return ["cluster", str(data), *options]


def run_inside(command: list[str]) -> tuple[int, str, str]:
    """Exit status, stdout and stderr of a command in this process."""
    out, err = io.StringIO(), io.StringIO()
    code = 0
    captured = contextlib.redirect_stdout(out), contextlib.redirect_stderr(err)
    with captured[0], captured[1], warnings.catch_warnings():
        warnings.simplefilter("default")
        try:
            run_likewise(command)
        except SystemExit as stop:
            code = stop.code
    return code, out.getvalue(), err.getvalue()


def run_process(command: list[str]) -> tuple[int, str, str]:
    """The same as a real process."""
    program = [sys.executable, "-c", "from likewise.cli import main; main()"]
    done = subprocess.run([*program, *command], capture_output=True, check=False, timeout=300)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def check_end(folder: Path, before: set[str], code: int, out: str, err: str) -> None:
    """What every end must be like."""
    lines = err.splitlines()
    assert "Traceback" not in err, err
    if code == 0:
        assert not [line for line in lines if line.startswith("likewise: ")], err
        return
    assert code in (1, 2), (code, err)
    assert out == "", out[:200]
    assert lines[-1].startswith("likewise: "), err
    assert len(lines[-1]) > len("likewise: ") + 10, lines[-1]
    problems = lines[-1].split("; ")  # all of a file in one line, up to twenty
    assert max(map(len, problems)) < 700, lines[-1]
    assert len(problems) <= MOST_LISTED + 1, lines[-1]
    assert sum(line.startswith("likewise: ") for line in lines) == 1, err
    assert {path.name for path in folder.iterdir()} <= before, "a failure left files"


def run_case(seed: int, folder: Path, models: list[Path]) -> int:
    """One random command, held to the rules; its exit status."""
    rng = np.random.RandomState(seed)
    for path in folder.iterdir():
        path.unlink()
    command = draw_command(rng, folder, models)
    before = {path.name for path in folder.iterdir()}
    run = run_process if seed % PROCESS_EVERY == PROCESS_EVERY - 1 else run_inside
    code, out, err = run(command)
    check_end(folder, before, code, out, err)
    return code


def make_models(folder: Path) -> list[Path]:
    """Good model files of several kinds, to be damaged."""
    rng = np.random.RandomState(0)
    np.save(folder / "rows.npy", rng.randn(30, 2))
    Constraints.from_labels(np.arange(30) % 2, n_pairs=10, random_state=0).write(folder / "c.csv")
    paths = []
    for method in ("auto", "itml", "pck-means"):
        paths.append(folder / f"{method}.likewise")
        source = [str(folder / "rows.npy"), "-c", str(folder / "c.csv"), "-k", "2"]
        source += ["--method", method, "--model", str(paths[-1]), "-o", str(folder / "out.csv")]
        code, _, err = run_inside(["cluster", *source])
        assert code == 0, err
    return paths


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--first-seed", type=int, default=0)
    options = parser.parse_args()
    started = time.monotonic()
    n_failing = 0
    with tempfile.TemporaryDirectory() as made, tempfile.TemporaryDirectory() as folder:
        models = make_models(Path(made))
        for i, seed in enumerate(range(options.first_seed, options.first_seed + options.cases), 1):
            try:
                n_failing += run_case(seed, Path(folder), models) != 0
            except BaseException:
                sys.stderr.write(f"seed {seed}:\n")
                raise
            if i % 1000 == 0:
                sys.stderr.write(f"{i} cases, {time.monotonic() - started:.0f} s\n")
    sys.stdout.write(
        f"{options.cases} random commands: {n_failing} ended in one line of error, "
        f"{options.cases - n_failing} did their work, none in a traceback\n"
    )


if __name__ == "__main__":
    main()
