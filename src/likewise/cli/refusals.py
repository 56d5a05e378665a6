"""Checks before the work begins: files that could not be written, options that conflict."""

import os
import stat
import sys
from collections.abc import Mapping
from pathlib import Path

import click

from likewise.cli.options import GUIDED

OTHER_FORMATS = (
    *(".pkl", ".pickle", ".joblib", ".onnx", ".pt", ".pth", ".h5", ".hdf5"),
    *(".csv", ".tsv", ".txt", ".json", ".jsonl", ".parquet", ".npy", ".npz", ".html", ".htm"),
)


def check_model_first(model: str, data: str) -> None:
    """Notice by the file names that the model and the rows are in the wrong order."""
    is_rows = Path(model).suffix.lower() in (".csv", ".parquet", ".npy")
    if is_rows and Path(data).suffix.lower() not in (".csv", ".parquet", ".npy"):
        raise click.UsageError(
            f"{model} contains rows, but the model comes first. Try likewise apply {data} {model}."
        )


def check_output(output: str | None, data: str, as_json: bool = False) -> str:
    """Where the clusters go; a file that cannot be written is refused before the work."""
    from likewise.files.cluster_file import check_output_path

    if as_json and output == "-":
        raise ValueError("--json prints to stdout, so the clusters need a file: choose it with -o.")
    if output is None and not as_json and not sys.stdout.isatty():
        output = "-"
    elif output is None:
        stem = "stdin" if data == "-" else Path(data).name.removesuffix(".gz").rpartition(".")[0]
        stem = Path(data).resolve().name if Path(data).is_dir() else stem
        output = f"{stem}-clusters.csv"
        if Path(output).exists():
            raise ValueError(f"{output} already exists. Choose an output file with -o.")
    elif output == "-" and sys.stdout.isatty():  # data goes to stdout only when it is piped
        raise ValueError("Choose an output file with -o, or pipe the clusters to another command.")
    check_output_path(output)
    return output


def check_side_files(report: str | None, model: str | None) -> None:
    if report is not None and Path(report).suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"--report {report} must end in .html.")
    for path in (report, model):
        if path is not None and not Path(path).absolute().parent.is_dir():
            raise ValueError(f"{Path(path).parent} does not exist. Create the folder first.")


def check_model_extension(model: str | None) -> None:
    if model is not None and Path(model).suffix.lower() in OTHER_FORMATS:
        raise ValueError(
            f"--model {model} has the extension of another file format, and only likewise can read "
            f"a model file. Try {Path(model).stem}.likewise."
        )


def check_files(inputs: Mapping[str, str | None], outputs: Mapping[str, str | None]) -> None:
    """Every output must be a different file, and none of them an input."""
    from likewise.files.atomic_file import check_target

    taken: dict = {}
    for option, path in inputs.items():
        if path is not None and path != "-" and (identity := _identity(path)) is not None:
            taken[identity] = f"{option} {path}, which is an input"  # not stdin, not a folder
    for option, path in outputs.items():
        if path is None:
            continue
        if path != "-":
            check_target(path)
        identity, name = _identity(path), "stdout" if path == "-" else f"{option} {path}"
        if identity in taken:
            raise ValueError(
                f"{name} is the same file as {taken[identity]}. Choose another output file."
            )
        if identity is not None:
            taken[identity] = f"{name}, which is also an output"


def _identity(path: str) -> tuple[int, int] | str | None:
    """Equal for two names of one file: spellings, symbolic and hard links. None for a pipe."""
    try:
        status = os.fstat(sys.stdout.fileno()) if path == "-" else os.stat(path)
    except OSError:
        return None if path == "-" else os.path.realpath(path)
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None


def check_method(
    method: str, n_clusters: int | str, report: str | None, names: str | None = None
) -> None:
    if method in GUIDED:
        return
    guided = f"--method {', '.join(GUIDED[:-1])} or {GUIDED[-1]}"
    if n_clusters == "auto":
        raise click.UsageError(
            f"--method {method} needs -k, the number of clusters. Set -k, or use {guided}."
        )
    for option, path in (("--report", report), ("--names", names)):
        if path is not None:
            raise click.UsageError(
                f"{option} is not available with --method {method}. Use {guided}."
            )


def check_rules(method: str, min_size: int | None, max_size: int | None, outliers) -> dict:
    """The rules that were given, by name; one error where a method cannot keep them."""
    rules = {"min_size": min_size, "max_size": max_size, "outliers": outliers}
    given = {name: rule for name, rule in rules.items() if rule is not None}
    can_keep = {"cop-kmeans": ("min_size", "max_size")}.get(method, ())
    for name in given if method not in GUIDED else ():
        if name not in can_keep:
            option = f"--{name.replace('_', '-')}"
            raise click.UsageError(
                f"{option} is not available with --method {method}. Use --method auto."
            )
    return given


def check_engine(
    engine: str, scheduler: str | None, method: str, data: str, report: str | None
) -> None:
    if engine != "dask":
        if scheduler is not None:
            raise click.UsageError("--scheduler works only with --engine dask.")
        return
    if method not in GUIDED:
        raise click.UsageError(f"--method {method} needs all rows in memory. Use --engine local.")
    if report is not None:
        raise click.UsageError("--report needs all rows in memory. Use --engine local.")
    if Path(data).suffix.lower() not in (".parquet", ".npy"):
        raise click.UsageError(
            f"--engine dask reads .parquet and .npy files, not {data}. Use --engine local."
        )
