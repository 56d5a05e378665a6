"""Each benchmark once at its smallest size, ours alone: one that no longer runs is a bug."""

import csv
import os
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from benchmarks import cloud_fit, many_rows, streamed_rows
from benchmarks.busy import busy_cores
from experiments.published import read_published

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("benchmarks")
    command = [sys.executable, "-m", "benchmarks", "--no-peers", "--smallest", "--results", folder]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return folder


def test_every_benchmark_gives_a_finite_result_at_its_smallest_size(folder):
    with open(folder / "fits.csv", newline="") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("# ")))
    methods = {row["key"].split("|")[2] for row in rows}
    assert methods >= {"ITML", "RCA", "MMC", "LSML", "PCKMeans", "MPCKMeans", "COPKMeans", "KMeans"}
    for row in rows:
        assert row["status"] == "ok", row
        numbers = [float(row[name]) for name in ("fit_s", "peak_mb", "ari", "satisfied")]
        assert np.isfinite(numbers).all(), row


def test_the_tables_have_the_seconds_of_every_fit(folder):
    tables = {path.stem: read_published(path) for path in (folder / "tables").glob("*.csv")}
    rules = {"rules-sizes", "rules-pairs", "rules-published"}
    others = {"reached", "linear-metrics", "clusterers", "growth", "projections"}
    assert set(tables) == rules | others
    for table in tables.values():
        assert table.note("made with")[0].endswith(platform.python_version())
    page = "".join(table.markdown() for table in tables.values())
    with open(folder / "fits.csv", newline="") as file:
        for row in csv.DictReader(line for line in file if not line.startswith("# ")):
            method = row["key"].split("|")[2]
            seconds = np.format_float_positional(
                float(row["fit_cpu_s"]), precision=3, fractional=False, trim="-"
            )
            lines = [line for line in page.splitlines() if f"| {method} |" in line]
            assert any(f"| {seconds} " in line for line in lines), row["key"]


def test_both_ways_to_the_log_det_optimum_reach_it():
    command = [sys.executable, "-m", "benchmarks.logdet_dual", "--smallest", "--seconds", "5"]
    table = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    rows = [line.split("|")[-3:-1] for line in table.splitlines() if line.startswith("| diffusion")]
    assert len(rows) == 4
    assert not any("(" in cell for row in rows for cell in row)  # a gap in place of its seconds


def test_every_part_of_the_npk_benchmark_runs_at_its_smallest_size():
    command = [sys.executable, "-m", "benchmarks.npk", "--smallest"]
    told = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    assert sum(line.startswith("| ---") for line in told.splitlines()) == 5
    beside = told.split("\n\n")[0].splitlines()[-1].split("|")
    assert abs(float(beside[-2])) < 1e-6  # the plain solver and ours agree


def test_prices_end_where_their_linear_programs_do():
    command = [sys.executable, "-m", "benchmarks.duals", "--smallest"]
    told = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    (fixed,) = [line.split("|")[1:-1] for line in told.splitlines() if line.startswith("| 0 |")]
    assert float(fixed[-1]) < 1e-9
    gaps = [line.split("|")[7] for line in told.splitlines() if "| 10 | 0 |" in line]
    assert len(gaps) == 3
    assert all(float(gap) < 0.1 for gap in gaps)


def test_fits_beside_busy_processes_are_measured_and_the_processes_end():
    command = [sys.executable, "-m", "benchmarks.busy", "--smallest", "--only", "ITML"]
    told = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    (row,) = [line.split("|")[1:-1] for line in told.splitlines()[2:]]
    assert row[0].strip() == "ITML"
    assert all(float(cell) > 0 for cell in row[1:])
    with busy_cores() as processes:
        assert len(processes) == os.cpu_count()
        assert all(process.is_alive() for process in processes)
    assert not any(process.is_alive() for process in processes)


def test_every_wait_in_a_session_is_measured():
    command = [sys.executable, "-m", "benchmarks.asking", "--smallest"]
    told = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    (row,) = [line.split("|")[1:-1] for line in told.splitlines()[2:]]
    times = [float(cell) for cells in row for cell in cells.split("/")]
    assert len(times) == 19
    assert all(time > 0 for time in times)


@pytest.mark.skipif("LIKEWISE_DATA" not in os.environ, reason="needs mnist, through LIKEWISE_DATA")
def test_the_literal_double_loop_and_ours_agree_at_the_smallest_size():
    command = [sys.executable, "-m", "benchmarks.selection", "loop", "whole", "pool", "--smallest"]
    told = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    ends = {
        line.split("|")[1].strip(): float(line.split("|")[3])
        for line in told.splitlines()
        if line.startswith(("| literal |", "| exact |", "| finalists |"))
    }
    assert ends["finalists"] == ends["exact"] == ends["literal"]


def test_comparisons_without_features_are_predicted_better_than_by_guessing():
    command = [sys.executable, "-m", "benchmarks.embeddings", "--smallest"]
    told = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    share = float(told.splitlines()[-1].split("|")[3].split(",")[0])
    assert 0.6 < share < 1


def test_the_benchmark_of_many_rows_maps_and_clusters_at_its_smallest_size():
    pytest.importorskip("torch", reason="torch is not installed (extra deep)")
    command = [sys.executable, "-m", "benchmarks.scale", "rate", "cpu", "gpu", "--smallest"]
    command += ["--device", "cpu"]
    told = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    assert sum(line.startswith("| ---") for line in told.splitlines()) == 3
    by_rows = [line.split("|") for line in told.splitlines() if "| file |" in line]
    assert len(by_rows) == 6
    assert all(float(line[-3]) > 0.6 for line in by_rows)  # ARI
    on_device = [line.split("|") for line in told.splitlines()[-4:] if "%" in line]
    assert all(float(line[-3]) < 1e-4 for line in on_device)  # codes off the CPU's


def test_texts_become_numbers_in_measured_time():
    command = [sys.executable, "-m", "benchmarks.texts", "--smallest"]
    table = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    rows = [line.split("|")[1:-1] for line in table.splitlines()[2:]]
    assert [row[1].strip() for row in rows] == ["8", "150"]
    assert float(rows[1][5]) > 0.9  # long texts: the nearest is of the same topic


def test_rules_are_kept_and_timed_with_the_others(folder):
    sizes, pairs, published = (
        dict(zip(table.fields, table.rows[0]))
        for table in (
            read_published(folder / "tables" / f"rules-{part}.csv")
            for part in ("sizes", "pairs", "published")
        )
    )
    assert (sizes["rows"], sizes["k-means-constrained s"]) == ("1000", "not run")
    assert float(sizes["likewise s"]) > 0
    assert (pairs["rows"], pairs["pairs"]) == ("2000", "100")
    assert float(pairs["gap at these centers"]) < 1e-3
    assert published["PCCC published ARI"] == "0.698"
    assert float(published["COPKMeans ARI"]) > 0.4
    assert 0 <= float(published["gap to any labels"]) < 0.1


@pytest.fixture
def few_learned(monkeypatch):
    monkeypatch.setattr("likewise.guided.guided_clustering.FIT_ROWS", 600)
    monkeypatch.setattr("likewise.guided.outcome.GRAPH_ROWS", 300)


def test_rows_streamed_through_a_device_are_measured(monkeypatch, capsys, few_learned):
    pytest.importorskip("torch", reason="torch is not installed (extra deep)")
    monkeypatch.setattr(streamed_rows, "BLOCK", 500)
    monkeypatch.setattr(sys, "argv", ["streamed_rows", "--rows", "5000", "--device", "cpu"])
    streamed_rows.main()
    lines = capsys.readouterr().out.splitlines()
    names, row = (
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in (next(line for line in lines if line.startswith("| rows")), lines[-2])
    )
    found = dict(zip(names, row))
    assert found["rows"] == "5,000"
    assert float(found["ARI"]) > 0.7
    assert float(found["small groups found"]) > 0.4
    assert int(found["compared with the CPU"].replace(",", "")) == 5000
    assert int(found["of these no ties"]) == 0


def test_rows_that_a_device_puts_elsewhere_are_counted_and_ties_told_apart():
    class Fitted:
        """Another cluster on the device for rows below 2; a tie where the row is 0."""

        device = "other"

        def predict(self, rows):
            return (rows[:, 0] < (2 if self.device is None else 0)).astype(int)

        def predict_proba(self, rows):
            gap = np.where(rows[:, 0] == 0, 1e-4, 0.2)
            return np.column_stack([(1 - gap) / 2, (1 + gap) / 2])

    assert streamed_rows.compare(Fitted(), np.arange(5.0)[:, None]) == (5, 2, 1)
    assert streamed_rows.compare(Fitted(), np.arange(2.0, 5.0)[:, None]) == (3, 0, 0)


def test_the_index_from_counts_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 12, 500).astype(np.int8)
    labels = np.where(rng.random(500) < 0.6, y, rng.integers(0, 14, 500)).astype(np.int32)
    found = cloud_fit.rand_index(cloud_fit.count_together(y, labels))
    assert found == pytest.approx(adjusted_rand_score(y, labels))


def test_guided_clustering_of_a_file_is_measured_and_small_groups_are_found(
    tmp_path, monkeypatch, capsys, few_learned
):
    monkeypatch.setattr(cloud_fit, "N_LEARNED", 600)
    results = tmp_path / "results.jsonl"
    words = ["many_rows", "--rows", "2000", "--answers", "clicks", "--smallest"]
    monkeypatch.setattr(sys, "argv", [*words, "--results", str(results)])
    many_rows.main()
    row = capsys.readouterr().out.splitlines()[-1].split("|")[1:-1]
    assert row[:2] == [" clicks ", " 2,000 "]
    assert float(row[-2]) > 0.8  # ARI
    assert float(row[-1]) > 0.5  # of the rows of small groups
    monkeypatch.setattr(many_rows, "job", None)  # what stands in the file is not run again
    many_rows.main()
    assert len(results.read_text().splitlines()) == 1


@pytest.mark.filterwarnings("ignore:RCA cannot use")
def test_an_older_likewise_is_measured_by_the_same_calls(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(many_rows, "commit_of", lambda checkout: "0000000")
    words = ["many_rows", "--rows", "12000", "24000", "--beside-rows", "12000"]
    words += ["--answers", "linear", "--smallest", "--beside", str(ROOT)]
    monkeypatch.setattr(sys, "argv", [*words, "--results", str(tmp_path / "results.jsonl")])
    many_rows.main()
    lines = capsys.readouterr().out.splitlines()[2:]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    assert [row[:3] for row in rows] == [
        ["linear", "this one", "12,000"],
        ["linear", "0000000", "12,000"],
        ["linear", "this one", "24,000"],
        ["linear", "this one", rows[-1][2]],
    ]
    assert rows[-1][2].startswith("slope")
    assert rows[0][-2:] == rows[1][-2:]  # it is the same one
    monkeypatch.setattr(sys, "argv", [*sys.argv, "--kept", "--rows", "12000", "48000"])
    many_rows.main()
    assert [line.split("|")[3].strip() for line in capsys.readouterr().out.splitlines()[2:]] == [
        *["12,000"] * 2
    ]


@pytest.mark.skipif("LIKEWISE_DATA" not in os.environ, reason="needs mnist, through LIKEWISE_DATA")
def test_fifty_clicks_are_measured_on_codes_and_on_made_rows():
    command = [sys.executable, "-m", "benchmarks.few_clicks", "--smallest"]
    told = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    codes, made = (part.splitlines()[2:] for part in told.strip().split("\n\n"))
    assert [line.split("|")[1].strip() for line in codes] == [
        "GraphPropagation",
        "GuidedClustering",
    ]
    assert all(float(line.split("|")[4]) > 0.6 for line in codes)
    assert float(made[0].split("|")[-3]) > 0.8


def test_a_fit_that_is_killed_at_half_gives_the_labels_of_one_that_is_not(tmp_path):
    words = [sys.executable, "-m", "benchmarks.many_rows", "--rows", "300000"]
    words += ["--answers", "linear", "--results", tmp_path / "results.jsonl"]
    for more in ([], ["--killed"]):
        done = subprocess.run(
            [*words, *more], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
        )
    row = [cell.strip() for cell in done.stdout.splitlines()[-1].split("|")[1:-1]]
    assert row[:2] == ["linear", "300,000"]
    assert row[-1] == "yes"
    assert float(row[-3]) > 0.8  # ARI
