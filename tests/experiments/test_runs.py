"""Tables that survive a kill, and what is printed of them."""

import dataclasses
import math
import os
import signal
import subprocess
import sys
import textwrap

import pytest

from experiments import runs
from experiments.__main__ import main
from experiments.published import read_published, write_published
from experiments.runs import Table, find_tables, run_table, sum_up

HERE = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
CELLS = [{"data": data, "method": method} for data in ("a", "b") for method in ("one", "two")]


def make_table(run, **settings):
    return Table(
        "made", "Made", cells=lambda: CELLS, run=run, rows=("data",), columns="method", **settings
    )


def score(*, data, method, seed):
    return {"ARI": 0.5 + 0.1 * seed + (data == "b")}


def test_every_cell_is_run_once_for_every_seed_and_only_what_is_missing_again(tmp_path):
    calls = []

    def run(**job):
        calls.append(tuple(job.values()))
        return score(**job)

    path = tmp_path / "sub" / "made.csv"
    assert len(run_table(make_table(run), path, n_runs=2)) == 8
    assert len(set(calls)) == len(calls) == 8
    assert len(run_table(make_table(run), path, n_runs=3)) == 12
    assert len(set(calls)) == len(calls) == 12
    assert {record["seed"] for record in run_table(make_table(run), path, n_runs=1)} == {"0"}
    assert len(run_table(make_table(run), path, n_runs=0)) == len(calls) == 12


def test_only_some_cells_are_run_and_all_are_shown(tmp_path):
    path = tmp_path / "made.csv"
    run_table(make_table(score), path, n_runs=1)
    only = {"data": ["b"], "method": ["one", "two"]}
    records = run_table(make_table(score), path, n_runs=2, only=only)
    assert [(one["data"], one["method"], one["seed"]) for one in records] == [
        ("a", "one", "0"),
        ("a", "two", "0"),
        ("b", "one", "0"),
        ("b", "one", "1"),
        ("b", "two", "0"),
        ("b", "two", "1"),
    ]
    with pytest.raises(ValueError, match="no setting 'set', only data, method"):
        run_table(make_table(score), path, n_runs=3, only={"set": ["b"]})


def test_what_was_run_is_shown_without_its_data_but_no_cell_given_up(tmp_path):
    path = tmp_path / "made.csv"
    run_table(make_table(score), path, n_runs=1)
    fewer = dataclasses.replace(make_table(score), cells=lambda: CELLS[:1])
    told = run_table(fewer, path, n_runs=0)
    assert [(one["data"], one["method"]) for one in told] == [
        ("a", "one"), ("b", "one"), ("b", "two")
    ]  # fmt: skip


def test_a_killed_run_goes_on_where_it_was(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent("""
        import os, signal, sys
        from pathlib import Path
        from experiments.runs import Table, run_table

        def run(*, cell, seed):
            if cell == 2 and sys.argv[1] == "die":
                os.kill(os.getpid(), signal.SIGKILL)
            print("ran", cell)
            return {"ARI": cell}

        table = Table("t", "T", cells=lambda: [{"cell": i} for i in range(4)], run=run,
                      rows=(), columns="cell")
        run_table(table, Path("t.csv"), n_runs=1)
        """)
    )

    def start(how):
        command = [sys.executable, "-u", str(script), how]
        return subprocess.run(
            command, cwd=tmp_path, env=HERE, capture_output=True, text=True, check=False
        )

    killed = start("die")
    assert killed.returncode == -signal.SIGKILL
    assert killed.stdout.split("\n")[:-1] == ["ran 0", "ran 1"]
    with (tmp_path / "t.csv").open("a") as file:
        file.write("2,0,0.7")  # the kill may come in the middle of a line
    assert start("live").stdout.split("\n")[:-1] == ["ran 2", "ran 3"]
    lines = (tmp_path / "t.csv").read_text().splitlines()
    assert [line.split(",")[0] for line in lines if not line.startswith("#")] == [
        "cell",
        *"0123",
    ]


def test_a_cell_shows_mean_standard_error_runs_and_the_published_figure(tmp_path):
    table = make_table(score, published=lambda cell: "paper .61" if cell["data"] == "a" else "")
    path = tmp_path / "made.csv"
    (grid,) = sum_up(table, path, run_table(table, path, n_runs=3)).grids().values()
    error = 0.1 / math.sqrt(3)
    lines = grid.markdown().splitlines()
    assert lines[0] == "| data | one | two | runs |"
    assert lines[2].split(" | ")[1] == f"0.600 ± {error:.3f} (paper .61)"
    assert lines[3] == f"| b | 1.600 ± {error:.3f} | 1.600 ± {error:.3f} | 3 |"


def test_a_single_run_has_no_standard_error(tmp_path):
    table = make_table(score)
    path = tmp_path / "made.csv"
    text = sum_up(table, path, run_table(table, path, n_runs=1)).markdown()
    assert "| a | 0.500 | 0.500 | 1 |" in text


def test_the_header_names_versions_data_seeds_and_what_did_not_settle(tmp_path):
    import warnings

    from sklearn.exceptions import ConvergenceWarning

    def run(*, data, method, seed):
        if method == "two":
            warnings.warn("not yet", ConvergenceWarning)
        return {"ARI": 1.0}

    table, path = make_table(run, data=lambda: ["iris"]), tmp_path / "made.csv"
    text = sum_up(table, path, run_table(table, path, n_runs=2)).markdown()
    assert "8 runs, seeds 0 to 1, 4 of them stopped before they had settled." in text
    assert "numpy" in text
    assert f"iris {runs.fetch('iris').checksum()[:16]}" in text


def test_runs_are_counted_by_the_seeds_they_draw_by(tmp_path):
    path = tmp_path / "made.csv"
    for n_runs, seeds in ((1, "seed 100"), (2, "seeds 100 to 101")):
        table = make_table(score, first_seed=100)
        made = sum_up(table, path, run_table(table, path, n_runs=n_runs))
        assert made.note("runs") == [f"{4 * n_runs} runs, {seeds}"]


def test_other_columns_on_disk_are_refused(tmp_path):
    path = tmp_path / "made.csv"
    run_table(make_table(score), path, n_runs=1)
    with pytest.raises(ValueError, match=r"made\.csv has other columns"):
        run_table(make_table(score, measures=("NMI",)), path, n_runs=1)


def test_a_published_table_is_read_back_with_its_notes(tmp_path):
    table = make_table(score, conclude=lambda records: [f"{len(records)}, in all: runs."])
    path = tmp_path / "made.csv"
    made = sum_up(table, path, run_table(table, path, n_runs=2))
    write_published(tmp_path / "docs" / "made.csv", made)
    read = read_published(tmp_path / "docs" / "made.csv")
    assert read == made
    assert read.note("verdict") == ["8, in all: runs."]
    assert read.note("runs") == ["8 runs, seeds 0 to 1"]
    assert "numpy" in read.note("made with")[0]
    assert read.markdown() == made.markdown()


def test_cells_that_were_run_unequally_often_show_both_numbers(tmp_path):
    path = tmp_path / "made.csv"
    run_table(make_table(score), path, n_runs=3)
    few = dataclasses.replace(make_table(score), cells=lambda: CELLS[:1])
    records = run_table(make_table(score), path, n_runs=2) + run_table(few, path, n_runs=3)[2:]
    (grid,) = sum_up(make_table(score), path, records).grids().values()
    assert [row[-1] for row in grid.rows] == ["2-3", "2"]


def test_a_table_that_was_not_run_is_not_published(tmp_path, monkeypatch):
    monkeypatch.setattr(runs, "find_tables", lambda *_: {"paper": [make_table(score)]})
    heard = []
    settings = {"results": tmp_path, "docs": tmp_path, "say": heard.append}
    runs.reproduce("paper", n_runs=0, **settings)
    assert heard == ["paper made: not run yet."]
    assert not (tmp_path / "tables").exists()
    runs.reproduce("paper", n_runs=1, **settings)
    made = read_published(tmp_path / "tables" / "paper" / "made.csv")
    assert made.grids()[""].rows[0] == ["a", "0.500", "0.500", "1"]


def test_unknown_papers_and_tables_are_answered_with_the_known_ones():
    with pytest.raises(ValueError, match="no experiments for 'nothing', only for sklr"):
        find_tables("nothing")
    with pytest.raises(ValueError, match=r"sklr has no table 'figure9', only .*figure1, figure2"):
        find_tables("sklr", "figure9")
    assert [table.name for table in find_tables("sklr", "noise")["sklr"]] == ["noise"]
    assert len(find_tables("all")["sklr"]) > 5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing"], "error: There are no experiments for 'nothing', only for sklr"),
        (["sklr", "figure9"], "error: sklr has no table 'figure9', only"),
        (["sklr", "cut", "--only", "data"], "error: --only 'data' is not SETTING=VALUE,VALUE"),
    ],
)
def test_the_command_ends_in_one_line_for_an_unknown_name(arguments, message, capsys):
    assert main(arguments) == 1
    printed = capsys.readouterr()
    assert printed.err.startswith(message)
    assert len(printed.err.splitlines()) == 1
    assert not printed.out


def test_the_command_runs_a_table_says_how_many_runs_and_resumes(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(runs, "find_tables", lambda *_: {"paper": [make_table(score)]})
    command = ["paper", "made", "--results", str(tmp_path), "--runs"]
    assert main([*command, "2"]) == 0
    assert "8 runs, seeds 0 to 1." in capsys.readouterr().out
    lines = (tmp_path / "paper" / "made.csv").read_text().splitlines()
    assert main([*command, "3"]) == 0
    assert "12 runs, seeds 0 to 2." in capsys.readouterr().out
    assert (tmp_path / "paper" / "made.csv").read_text().splitlines()[: len(lines)] == lines


def test_runs_of_a_table_in_git_count_as_done_unless_they_are_wanted_again(
    tmp_path, capsys, monkeypatch
):
    calls = []

    def run(**job):
        calls.append(job)
        return score(**job)

    monkeypatch.setattr(runs, "find_tables", lambda *_: {"paper": [make_table(run)]})
    monkeypatch.setattr("experiments.__main__.TABLES", tmp_path / "docs" / "tables")
    publish = {"results": tmp_path / "old", "docs": tmp_path / "docs", "say": print}
    runs.reproduce("paper", "made", n_runs=1, **publish)
    assert len(calls) == len(CELLS)
    command = ["paper", "made", "--runs", "1", "--results", str(tmp_path / "new")]
    assert main(command) == 0
    assert len(calls) == len(CELLS)
    assert main([*command, "--again"]) == 0
    assert len(calls) == 2 * len(CELLS)
    assert "4 runs, seed 0." in capsys.readouterr().out


def test_a_missing_set_is_one_line_that_names_the_variable(tmp_path, monkeypatch):
    monkeypatch.delenv("LIKEWISE_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    table = make_table(score, data=lambda: ["mit_scene8_gist512"])
    with pytest.raises(FileNotFoundError, match="Set LIKEWISE_DATA to a folder"):
        run_table(table, tmp_path / "made.csv", n_runs=1)
    assert os.listdir(tmp_path) == []


def test_new_runs_are_added_to_those_that_git_knows_by_their_mean(tmp_path):
    """The lines of two runs are thrown away: with three more, mean and error are those of five."""
    table = make_table(lambda **job: {"ARI": score(**job)["ARI"] ** 2}, measures=("ARI",))
    whole = sum_up(table, tmp_path / "w.csv", run_table(table, tmp_path / "w.csv", n_runs=5))
    short = sum_up(table, tmp_path / "s.csv", run_table(table, tmp_path / "s.csv", n_runs=2))
    seeds = []

    def run(**job):
        seeds.append(job["seed"])
        return {"ARI": score(**job)["ARI"] ** 2}

    again = make_table(run, measures=("ARI",))
    records = run_table(again, tmp_path / "new.csv", n_runs=5, earlier=short)
    assert sorted(set(seeds)) == [2, 3, 4]
    assert len(seeds) == 12
    assert sum_up(again, tmp_path / "new.csv", records, short).rows == whole.rows


def test_what_git_knows_is_not_counted_twice_beside_its_own_lines(tmp_path):
    table, path = make_table(score), tmp_path / "made.csv"
    made = sum_up(table, path, run_table(table, path, n_runs=3))
    for n_runs in (0, 3):
        records = run_table(table, path, n_runs=n_runs, earlier=made)
        assert sum_up(table, path, records, made).rows == made.rows
    longer = run_table(table, path, n_runs=4, earlier=made)
    assert [row[-1] for row in sum_up(table, path, longer, made).rows] == ["4"] * 4


def test_a_table_compared_seed_by_seed_takes_no_stand_ins(tmp_path):
    table, path = make_table(score), tmp_path / "made.csv"
    made = sum_up(table, path, run_table(table, path, n_runs=2))
    paired = dataclasses.replace(table, conclude=lambda records: [])
    assert run_table(paired, tmp_path / "other.csv", n_runs=0, earlier=made) == []


def test_cells_of_a_missing_set_are_left_out_and_the_others_run(tmp_path, monkeypatch):
    monkeypatch.delenv("LIKEWISE_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    cells = [{"data": data, "method": "one"} for data in ("iris", "mit_scene8_gist512")]
    table = dataclasses.replace(
        make_table(score, data=lambda: ["iris", "mit_scene8_gist512"]), cells=lambda: cells
    )
    said = []
    records = run_table(table, tmp_path / "made.csv", n_runs=1, say=said.append)
    assert [record["data"] for record in records] == ["iris"]
    assert "without mit_scene8_gist512" in said[0]
    assert len(said) == 1


def test_of_several_tables_one_without_its_data_is_left_out_with_a_line(tmp_path, monkeypatch):
    monkeypatch.delenv("LIKEWISE_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    without = make_table(score, data=lambda: ["mit_scene8_gist512"])
    tables = [dataclasses.replace(without, name="without"), make_table(score)]
    monkeypatch.setattr(runs, "find_tables", lambda *_: {"paper": tables})
    said = []
    runs.reproduce("paper", n_runs=1, results=tmp_path, say=said.append)
    assert said[0].startswith("paper without: not run. The data set 'mit_scene8_gist512' is not")
    assert "8 runs" not in said[1]
    assert "4 runs, seed 0" in said[1]
    monkeypatch.setattr(runs, "find_tables", lambda *_: {"paper": tables[:1]})
    with pytest.raises(FileNotFoundError, match="Set LIKEWISE_DATA"):
        runs.reproduce("paper", n_runs=1, results=tmp_path, say=said.append)
