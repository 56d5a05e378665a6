"""What is refused before the work begins: files that could not be written, settings that clash."""

import os
import stat
import sys
from collections.abc import Mapping
from pathlib import Path

import click

from likewise.cli.options import FRONT_DOOR

OTHER_FORMATS = (
    *(".pkl", ".pickle", ".joblib", ".onnx", ".pt", ".pth", ".h5", ".hdf5"),
    *(".csv", ".tsv", ".txt", ".json", ".jsonl", ".parquet", ".npy", ".npz", ".html", ".htm"),
)


def check_model_first(model: str, data: str) -> None:
    """The model and the rows in the wrong order are told apart by their endings."""
    is_rows = Path(model).suffix.lower() in (".csv", ".parquet", ".npy")
    if is_rows and Path(data).suffix.lower() not in (".csv", ".parquet", ".npy"):
        raise click.UsageError(
            f"{model} holds rows: the model comes first. Try likewise apply {data} {model}."
        )


def check_output(output: str | None, data: str) -> str:
    """Where the clusters go; refuse before the work what could not be written after it."""
    from likewise.files.row_file import check_output_path

    if output is None and not sys.stdout.isatty():
        output = "-"
    elif output is None:
        output = f"{Path(data).stem}-clusters.csv"
        if Path(output).exists():
            raise ValueError(f"{output} is there already. Name a file to write with -o.")
    elif output == "-" and sys.stdout.isatty():  # data goes to stdout only when it is piped
        raise ValueError("Name a file with -o, or pipe the clusters into something.")
    check_output_path(output)
    return output


def check_side_files(report: str | None, model: str | None) -> None:
    if report is not None and Path(report).suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"--report {report} must end in .html.")
    if model is not None and Path(model).suffix.lower() in OTHER_FORMATS:
        raise ValueError(
            f"--model {model} ends like a file of another format. A model file is written by "
            f"likewise for likewise: try {Path(model).stem}.likewise."
        )
    for path in (report, model):
        if path is not None and not Path(path).absolute().parent.is_dir():
            raise ValueError(f"{Path(path).parent} does not exist. Make the folder first.")


def check_files(inputs: Mapping[str, str | None], outputs: Mapping[str, str | None]) -> None:
    """Every file that is written must be a file of its own, and none of those that are read."""
    from likewise.files.atomic_file import check_target

    taken: dict = {}
    for option, path in inputs.items():
        if path is not None:
            taken[_identity(path)] = f"{option} {path}, which is read"
    for option, path in outputs.items():
        if path is None:
            continue
        if path != "-":
            check_target(path)
        identity, name = _identity(path), "stdout" if path == "-" else f"{option} {path}"
        if identity in taken:
            raise ValueError(
                f"{name} is the same file as {taken[identity]}. Name another file to write."
            )
        if identity is not None:
            taken[identity] = f"{name}, which is written too"


def _identity(path: str) -> tuple[int, int] | str | None:
    """Equal for two names of one file: spellings, symbolic and hard links. None for a pipe."""
    try:
        status = os.fstat(sys.stdout.fileno()) if path == "-" else os.stat(path)
    except OSError:
        return None if path == "-" else os.path.realpath(path)
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None


def check_method(method: str, n_clusters: int | str, report: str | None) -> None:
    if method in FRONT_DOOR:
        return
    doors = f"--method {', '.join(FRONT_DOOR[:-1])} or {FRONT_DOOR[-1]}"
    if n_clusters == "auto":
        raise click.UsageError(f"{method} needs to know how many clusters: -k 10. Or use {doors}.")
    if report is not None:
        raise click.UsageError(f"{method} has nothing to report. Use {doors}.")


def check_engine(
    engine: str, scheduler: str | None, method: str, data: str, report: str | None
) -> None:
    if engine != "dask":
        if scheduler is not None:
            raise click.UsageError("--scheduler is for --engine dask.")
        return
    if method not in FRONT_DOOR:
        raise click.UsageError(f"{method} needs all rows in memory. Use --engine local.")
    if report is not None:
        raise click.UsageError("A report needs all rows in memory. Use --engine local.")
    if Path(data).suffix.lower() not in (".parquet", ".npy"):
        raise click.UsageError("--engine dask reads .parquet and .npy files.")
