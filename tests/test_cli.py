"""The commands as a person runs them."""

import csv
import json
import re
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from likewise import Constraints, __version__, load_model
from likewise.cli import main
from likewise.datasets import load_digits, load_iris


def run(capsys, *arguments):
    """Exit code, stdout and stderr of a command."""
    code = 0
    try:
        main([str(argument) for argument in arguments])
    except SystemExit as stop:
        code = stop.code
    return code, *capsys.readouterr()


@pytest.fixture
def iris(tmp_path):
    data = load_iris()
    ids = [f"flower {i}" for i in range(len(data.X))]
    frame = pd.DataFrame(data.X, columns=["sepal", "petal", "w", "h"]).assign(id=ids)
    frame.to_csv(tmp_path / "iris.csv", index=False)
    frame.to_parquet(tmp_path / "iris.parquet")
    np.save(tmp_path / "iris.npy", data.X)
    drawn = Constraints.from_labels(data.y, n_must_link=40, n_cannot_link=40, random_state=0)
    links = {"must_link": drawn.must_link, "cannot_link": drawn.cannot_link}
    Constraints(ids=ids, **links).write(tmp_path / "answers.csv")
    drawn.write(tmp_path / "rows.jsonl")
    return tmp_path


@pytest.mark.parametrize(
    "method", ["auto", "sklr", "itml", "kernel-kmeans", "pck-means", "mpck-means", "cop-kmeans"]
)
@pytest.mark.filterwarnings("ignore:KernelKMeans cannot use:UserWarning")
def test_every_method_clusters_a_file_and_applies_to_new_rows(iris, capsys, method):
    model, out, again = iris / "m.likewise", iris / "out.csv", iris / "again.csv"
    source = ("cluster", iris / "iris.csv", "-c", iris / "answers.csv", "-k", 3, "--method", method)
    code, stdout, stderr = run(capsys, *source, "-o", out, "--model", model)
    assert (code, stdout) == (0, "")
    assert "150 rows, 4 features, 80 answers" in stderr
    clusters = pd.read_csv(out)
    assert list(clusters.columns) == ["id", "cluster"]
    assert adjusted_rand_score(load_iris().y, clusters.cluster) > 0.5
    assert run(capsys, "apply", model, iris / "iris.csv", "-o", again)[0] == 0
    assert (
        adjusted_rand_score(pd.read_csv(again).cluster, clusters.cluster) > 0.8
    )  # hard pairs move labels, not centers


@pytest.mark.parametrize("method", ["auto", "pck-means"])
def test_apply_matches_columns_by_name_and_names_a_missing_one(iris, capsys, method):
    model = iris / "m.likewise"
    source = ("cluster", iris / "iris.csv", "-c", iris / "answers.csv", "-k", 3, "--method", method)
    assert run(capsys, *source, "-o", iris / "out.csv", "--model", model)[0] == 0
    new = pd.read_csv(iris / "iris.csv")
    _, expected, _ = run(capsys, "apply", model, iris / "iris.csv", "-o", "-")
    new.assign(more=1.0)[[*new.columns[::-1], "more"]].to_csv(iris / "turned.csv", index=False)
    _, actual, _ = run(capsys, "apply", model, iris / "turned.csv", "-o", "-")
    assert actual == expected
    new.drop(columns=new.columns[2]).to_csv(iris / "short.csv", index=False)
    code, _, stderr = run(capsys, "apply", model, iris / "short.csv", "-o", "-")
    assert code == 1
    assert f"no column {new.columns[2]!r}" in stderr


@pytest.mark.parametrize("ending", ["csv", "parquet", "npy"])
def test_every_format_gives_the_same_clusters_and_stdout_holds_data_alone(iris, capsys, ending):
    answers = iris / ("rows.jsonl" if ending == "npy" else "answers.csv")
    source = ("cluster", iris / f"iris.{ending}", "-c", answers, "-k", 3, "--method", "itml")
    code, stdout, _ = run(capsys, *source)
    assert code == 0
    assert len(stdout.splitlines()) == 151
    expected = [int(line.rsplit(",", 1)[1]) for line in stdout.splitlines()[1:]]
    for out in ("o.csv", "o.parquet", "o.npy"):
        assert run(capsys, *source, "-o", iris / out)[0] == 0
    assert_array_equal(pd.read_csv(iris / "o.csv").cluster, expected)
    assert_array_equal(pd.read_parquet(iris / "o.parquet").cluster, expected)
    assert_array_equal(np.load(iris / "o.npy"), expected)


def test_a_report_shows_what_was_found_beside_the_clusters(iris, capsys):
    frame = pd.read_csv(iris / "iris.csv").assign(note="seen <b>here</b>")
    frame.to_csv(iris / "noted.csv", index=False)
    source = ("cluster", iris / "noted.csv", "-c", iris / "answers.csv", "-k", 3, "-o", "-")
    shown = ("--text-column", "note", "--image-shape", "2x2", "--report", iris / "r.html")
    code, stdout, stderr = run(capsys, *source, *shown, "--method", "itml")
    assert code == 0
    assert len(stdout.splitlines()) == 151
    assert "150 rows, 4 features, 80 answers" in stderr
    assert "answers satisfied: " in stderr
    assert f"wrote the report to {iris / 'r.html'}" in stderr
    html = (iris / "r.html").read_text(encoding="utf-8")
    assert "noted: what the answers did" in html
    assert "seen &lt;b&gt;here&lt;/b&gt;" in html
    assert "flower 17" in html
    assert "data:image/png" in html


def test_the_number_of_clusters_can_be_chosen_automatically(iris, capsys):
    source = ("cluster", iris / "iris.csv", "-c", iris / "answers.csv", "--method", "itml")
    code, stdout, stderr = run(capsys, *source)
    assert code == 0
    assert re.search(r"^clusters: \d+", stderr, re.M)
    assert stdout == run(capsys, *source, "-k", "auto")[1]


def test_at_a_terminal_the_clusters_go_to_a_file_that_was_not_there(iris, capsys, monkeypatch):
    monkeypatch.chdir(iris)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    source = ("cluster", "iris.csv", "-k", 3, "--method", "itml")
    code, stdout, stderr = run(capsys, *source)
    assert (code, stdout) == (0, "")
    assert stderr.splitlines()[-1] == "wrote the clusters to iris-clusters.csv"
    assert len(pd.read_csv("iris-clusters.csv")) == 150
    code, stdout, stderr = run(capsys, *source)
    assert (code, stdout) == (1, "")
    assert stderr == (
        "likewise: iris-clusters.csv already exists. Choose an output file with -o.\n"
    )
    assert run(capsys, *source, "-o", "-")[2] == (
        "likewise: Choose an output file with -o, or pipe the clusters to another command.\n"
    )


def test_a_warning_is_one_line_without_the_place_in_the_code(iris, capsys, monkeypatch):
    monkeypatch.chdir(iris)
    Constraints(150, odd_one_out=[(0, 1, 2)]).write("odd.csv")
    source = ("cluster", "iris.npy", "-c", "odd.csv", "-k", 3, "--method", "pck-means")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        _, _, stderr = run(capsys, *source)
    (line,) = [line for line in stderr.splitlines() if "warning" in line]
    assert re.match(r"warning: \w+ .*\.$", line)


def where(folder, output):
    """The arguments that send results to stdout, to a file, or as JSON to stdout."""
    if output == "--json":
        return ["--json"]
    return ["-o", "-" if output == "-" else folder / output]


@pytest.mark.parametrize("output", ["-", "o.csv", "o.json", "--json"])
def test_check_reports_conflicts_prices_doubts_and_metrics(iris, capsys, output):
    rows = np.arange(0, 150, 5)
    np.save(iris / "few.npy", load_iris().X[rows])
    right = Constraints.from_labels(load_iris().y[rows], n_pairs=15, random_state=0)
    wrong = Constraints(30, must_link=[(0, 28), (1, 2), (2, 3)], cannot_link=[(1, 3)])
    (wrong + right).write(iris / "some-wrong.csv")
    source = ("check", iris / "few.npy", "-c", iris / "some-wrong.csv", "-k", 3)
    code, stdout, stderr = run(capsys, *source, *where(iris, output))
    assert code == 0
    assert "cannot_link[0] = (1, 3) contradicts the must-link path 1-2-3." in stderr
    assert "must_link[0] = (0, 28)" in stderr
    assert "mahalanobis" in stderr
    if output.endswith("json"):
        text = stdout if output == "--json" else (iris / output).read_text()
        results = json.loads(text)
        assert results["conflicts"][0]["witness"] == [1, 2]
        assert {line["metric"] for line in results["metrics"]} >= {"euclidean", "cosine"}
        lines = results["answers"]
    else:
        text = stdout if output == "-" else (iris / output).read_text()
        lines = list(csv.DictReader(text.splitlines()))
    assert (stdout == "") == (output not in ("-", "--json"))
    assert len(lines) == 19
    assert str(lines[0]["doubt_rank"]) in ("1", "2")
    assert float(lines[0]["price"]) > 0
    assert lines[3]["conflict"].startswith("cannot_link[0]")


@pytest.mark.parametrize("output", ["-", "o.csv", "o.jsonl", "--json"])
def test_select_leaves_the_answers_that_help(iris, capsys, output):
    pool = Constraints.from_labels(load_iris().y, n_pairs=40, random_state=0)
    pool.write(iris / "pool.csv")
    source = ("select", iris / "iris.npy", "--pool", iris / "pool.csv", "-k", 3, "-m", 2)
    code, stdout, stderr = run(capsys, *source, *where(iris, output))
    assert code == 0
    assert "agreement with all answers" in stderr
    if output == "--json":
        found = json.loads(stdout)
        assert 1 <= len(found["chosen"]) == len(found["agreement"]) - 1 <= 2
        assert set(found["chosen"][0]) == {"kind", "a", "b"}
        return
    if output == "-":
        (iris / "chosen.csv").write_text(stdout)
    chosen = Constraints.read(iris / ("chosen.csv" if output == "-" else output), n_samples=150)
    assert 1 <= chosen.n_answers <= 2
    offered = {(answer.kind, answer.points) for answer in pool.answers()}
    assert {(answer.kind, answer.points) for answer in chosen.answers()} <= offered


@pytest.mark.parametrize("command", ["check", "select"])
def test_json_and_csv_do_not_share_stdout(iris, capsys, command):
    answers = "-c" if command == "check" else "--pool"
    source = (command, iris / "iris.npy", answers, iris / "answers.csv", "-k", 3)
    code, stdout, stderr = run(capsys, *source, "--json", "-o", "-")
    assert (code, stdout) == (1, "")
    assert "--json prints to stdout, so choose a file with -o, or leave -o out." in stderr


def test_columns_can_be_chosen_and_standardized(iris, capsys):
    frame = pd.read_csv(iris / "iris.csv").rename(columns={"id": "name"}).assign(note="x")
    frame.to_csv(iris / "named.csv", index=False)
    source = ("cluster", iris / "named.csv", "-k", 3, "--id-column", "name", "-o", iris / "o.csv")
    code, _, stderr = run(capsys, *source)
    assert code == 0
    assert "left out: note: every row has 'x'" in stderr
    code, _, stderr = run(capsys, *source, "--features", "petal, h", "--preparation", "standardize")
    assert code == 0
    assert "150 rows, 2 features, 0 answers" in stderr


def test_contradictions_are_reported_and_do_not_stop_the_work(iris, capsys):
    clash = Constraints(150, must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)])
    clash.write(iris / "clash.csv")
    source = ("cluster", iris / "iris.npy", "-c", iris / "clash.csv", "-k", 3)
    code, _, stderr = run(capsys, *source, "-o", iris / "o.csv")
    assert code == 0
    assert "cannot_link[0] = (0, 2) contradicts the must-link path 0-1-2." in stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("cluster", "nowhere.csv", "-k", 3), "does not exist"),
        (("cluster",), "Missing argument 'DATA'"),
        (("cluster", "iris.csv", "-k", 0), "0 is less than 1"),
        (("cluster", "iris.csv", "-k", "x"), "'x' is neither a whole number nor auto"),
        (("cluster", "iris.csv", "--method", "pck-means"), "--method pck-means needs -k"),
        (
            ("cluster", "iris.csv", "-k", 3, "--method", "pck-means", "--report", "r.html"),
            "--report is not available with --method pck-means",
        ),
        (("cluster", "iris.csv", "-k", 3, "--report", "r.txt"), "r.txt must end in .html"),
        (("cluster", "iris.csv", "-k", 3, "--report", "no/r.html"), "no does not exist"),
        (("cluster", "iris.csv", "-k", 3, "--model", "no/m.likewise"), "no does not exist"),
        (("cluster", "iris.csv", "-k", 3, "--image-shape", "2"), "Try 8x8, or 32x32x3"),
        (("cluster", "iris.csv", "-k", 3, "--image-shape", "3x3"), "needs 9 features per row"),
        (("cluster", "iris.csv", "-k", 3, "--text-column", "note"), "no column 'note'"),
        (("cluster", "iris.npy", "-k", 3, "--text-column", "x"), "no named columns"),
        (("cluster", "iris.csv", "-k", 3, "--random-state", -1), "likewise: "),
        (("cluster", "iris.csv", "-k", 151, "-o", "o.csv"), "n_clusters=151"),
        (("cluster", "iris.csv", "-k", 3, "-o", "o.txt"), "must end in one of"),
        (("cluster", "iris.csv", "-k", 3, "-o", "no/where.csv"), "does not exist"),
        (("cluster", "empty.csv", "-k", 3), "empty.csv is empty"),
        (("cluster", "large.csv", "-k", 1), "line 3, column x: -1e+300 is more than 1e+100"),
        (("cluster", "large.npy", "-k", 1), "row 2: column 1 is 1e+300, more than 1e+100"),
        (("cluster", "nan.npy", "-k", 1), "row 1: column 0 is nan, not a number"),
        (("cluster", "junk.npy", "-k", 1), "junk.npy is not a .npy file"),
        (("cluster", "junk.parquet", "-k", 1), "not a Parquet file"),
        (("cluster", "iris.npy", "-k", 3, "-c", "answers.csv"), "is not a row number"),
        (("cluster", "iris.csv", "-k", 3, "-c", "empty.csv"), "empty.csv is empty"),
        (("check", "iris.csv", "-k", 3), "Missing option '-c'"),
        (("select", "iris.csv", "-k", 3), "Missing option '--pool'"),
        (
            ("select", "iris.csv", "--pool", "answers.csv", "-k", 3, "-o", "o.npy"),
            "must end in one of",
        ),
        (("check", "iris.csv", "-c", "answers.csv", "-k", 0), "0 is less than 1"),
        (("check", "iris.csv", "-c", "answers.csv", "-k", 3, "-o", "o.npy"), "must end in one of"),
        (("apply", "junk.npy", "iris.csv"), "junk.npy"),
        (("frobnicate",), "No such command"),
    ],
)
def test_a_mistake_is_one_line_and_a_failing_exit(iris, capsys, monkeypatch, arguments, words):
    monkeypatch.chdir(iris)
    (iris / "empty.csv").write_text("")
    (iris / "large.csv").write_text("x,y\n1,2\n-1e300,3\n")
    np.save("large.npy", [[0, 0], [0, 0], [0, 1e300]])
    np.save("nan.npy", [[0, 0], [np.nan, 0]])
    for name in ("junk.npy", "junk.parquet"):
        (iris / name).write_bytes(b"junk")
    code, stdout, stderr = run(capsys, *arguments)
    assert code in (1, 2)
    assert stdout == ""
    assert words in stderr
    assert stderr.splitlines()[-1].startswith("likewise: ")
    assert "Traceback" not in stderr


def test_help_needs_nothing_heavy():
    code = "import sys, likewise.cli; sys.exit('sklearn' in sys.modules or 'scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_ctrl_c_leaves_no_half_written_file(tmp_path):
    rng = np.random.RandomState(0)
    np.save(tmp_path / "big.npy", rng.rand(200_000, 60).astype(np.float32))
    command = [sys.executable, "-c", "from likewise.cli import main; main()"]
    command += ["cluster", "big.npy", "-k", "200", "-o", "out.csv", "--model", "m.likewise"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    assert "200000 rows" in process.stderr.readline()
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "stopped; nothing was half-written" in stderr
    assert "Traceback" not in stderr
    assert [path.name for path in tmp_path.iterdir()] == ["big.npy"]


def test_the_demo_does_what_the_readme_shows_and_leaves_the_files_it_names(tmp_path, capsys):
    code, stdout, _ = run(capsys, "demo", "-o", tmp_path / "demo")
    assert code == 0
    readme = (Path(__file__).parents[1] / "README.md").read_text()
    lines = (stdout.splitlines(), readme.splitlines())
    heads, scores = (
        [next(line.split() for line in part if word in line) for part in lines]
        for word in ("k-means  no answers", "(ARI)  ")
    )
    assert heads[0] == heads[1]
    printed, shown = (np.array(score[-3:], dtype=float) for score in scores)
    assert_allclose(printed[:2], shown[:2], atol=0.01)  # processors round differently
    assert_allclose(printed[2], shown[2], atol=0.03)
    plain, before, after = printed
    assert after > before > plain
    X = load_digits().X / 16
    alone = KMeans(10, n_init=10, random_state=0).fit_predict(X)
    assert plain == round(adjusted_rand_score(load_digits().y, alone), 3)  # as the column says
    written = {"digits.png", "answers.csv", "clusters.csv", "digits.likewise", "report.html"}
    assert {path.name for path in (tmp_path / "demo").iterdir()} == written
    lines = (tmp_path / "demo" / "clusters.csv").read_text().splitlines()
    labels = load_model(tmp_path / "demo" / "digits.likewise").labels_
    assert lines == ["row,cluster", *(f"{row},{label}" for row, label in enumerate(labels))]
    assert stdout.splitlines()[-1].endswith(str(tmp_path / "demo" / "report.html"))


@pytest.mark.parametrize("ending", [".pkl", ".joblib", ".csv", ".JSON", ".npz"])
def test_a_model_file_with_the_extension_of_another_format_is_refused_before_the_work(
    iris, capsys, ending
):
    model = iris / f"m{ending}"
    source = ("cluster", iris / "iris.csv", "-k", 3, "-o", iris / "out.csv")
    code, _, stderr = run(capsys, *source, "--model", model)
    assert code == 1
    assert "has the extension of another file format" in stderr
    assert "m.likewise" in stderr
    assert not (iris / "out.csv").exists()


@pytest.mark.parametrize("ending", ["csv", "parquet", "npy"])
def test_apply_says_that_the_model_comes_first(iris, capsys, ending):
    model, rows = iris / "m.likewise", iris / f"iris.{ending}"
    source = ("cluster", rows, "-k", 3, "-o", iris / "out.csv", "--model", model)
    assert run(capsys, *source)[0] == 0
    code, stdout, stderr = run(capsys, "apply", rows, model, "-o", "-")
    assert (code, stdout) == (2, "")
    assert stderr.count("\n") == 1
    assert f"the model comes first. Try likewise apply {model} {rows}" in stderr


def test_more_clusters_than_rows_are_one_line(iris, capsys):
    code, _, stderr = run(capsys, "cluster", iris / "iris.csv", "-k", 500, "-o", "-")
    assert code == 1
    assert "likewise: n_clusters=500 is more than the rows of X, n_samples=150." in stderr


def test_sizes_and_outliers_hold_in_the_file(iris, capsys):
    rules = ("--min-size", 40, "--max-size", 55, "--outliers", "0.04")
    code, out, err = run(
        capsys, "cluster", iris / "iris.csv", "-k", 3, *rules, "--json", "-o", iris / "out.csv"
    )
    assert code == 0, err
    clusters = pd.read_csv(iris / "out.csv")["cluster"]
    assert (clusters == -1).sum() == 6
    sizes = clusters[clusters >= 0].value_counts()
    assert sizes.between(40, 55).all()
    assert json.loads(out)["outliers"] == 6
    assert "6 rows, the share that was asked for" in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--method", "pck-means", "--min-size", 3), "--min-size is not available with --method"),
        (("--outliers", "0.9"), "'0.9' is neither auto nor a share"),
    ],
)
def test_rules_that_a_method_cannot_keep_are_refused(iris, capsys, arguments, words):
    code, _, err = run(capsys, "cluster", iris / "iris.csv", "-k", 3, *arguments)
    assert code == 2
    assert words in err


def test_a_folder_goes_in_and_clusters_go_to_a_pipe(tmp_path):
    """Neither a folder nor a pipe is a file that could be overwritten."""
    notes, model = tmp_path / "notes", tmp_path / "notes.likewise"
    notes.mkdir()
    for i, word in enumerate(["card", "parcel"] * 4):
        (notes / f"{i}.txt").write_text(f"my {word} is late again")
    command = [sys.executable, "-c", "from likewise.cli import main; main()"]
    fit = [*command, "cluster", str(notes), "-k", "2", "--model", str(model), "--quiet"]
    for one in (fit, [*command, "apply", str(model), str(notes)]):
        done = subprocess.run(one, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert done.stdout.count("\n") == 9


def test_data_and_answers_that_are_swapped_are_said_to_be(iris, capsys):
    code, _, stderr = run(capsys, "cluster", iris / "answers.csv", "-c", iris / "iris.csv")
    assert code == 1
    assert "DATA holds answers: are the two files swapped?" in stderr


def test_the_package_runs_as_a_module_too():
    command = [sys.executable, "-m", "likewise", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"likewise, version {__version__}\n"
