"""Names of clusters that a user gives: read, kept in the outputs and in the model file."""

import json

import numpy as np
import pandas as pd
import pytest

from likewise.cli import main
from likewise.cli.cluster_names import read_cluster_names


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_a_cluster_is_named_by_its_number_or_by_a_row_that_is_in_it(tmp_path):
    labels, ids = np.array([2, 0, 1]), ["a", "b", "c"]
    by_number = write(tmp_path / "n.csv", "cluster,name\n2, far \n0,near\n")
    assert read_cluster_names(by_number, labels, 3) == ["near", "", "far"]
    by_id = write(tmp_path / "i.csv", "id,name\na,far\nb,near\n")
    assert read_cluster_names(by_id, labels, 3, ids) == ["near", "", "far"]
    by_row = write(tmp_path / "r.csv", "row,name\n1,near\n")
    assert read_cluster_names(by_row, labels, 3) == ["near", "", ""]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("cluster,name\n3,x\n", "n.csv, line 2, column cluster is '3'; it must be a number from 0"),
        ("id,name\nz,x\n", "n.csv, line 2, column id: no row is named 'z'."),
        ("cluster,title\n0,x\n", "n.csv needs a column 'name'"),
        ("id,name\na,x\nb,y\n", "cluster 0 is named 'y' here and 'x' before. Keep one of them."),
    ],
)
def test_a_name_that_fits_no_cluster_is_one_line(tmp_path, text, words):
    with pytest.raises(ValueError, match=r"n\.csv") as refused:
        read_cluster_names(write(tmp_path / "n.csv", text), np.zeros(3, int), 3, ["a", "b", "c"])
    assert words in str(refused.value)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_names_reach_the_clusters_the_report_the_model_and_new_rows(tmp_path, ending, capsys):
    rows = pd.DataFrame({"id": ["p", "q", "r", "s"], "x": [0.0, 0.1, 9, 9.1], "y": [1.0, 2, 7, 8]})
    rows.to_csv(tmp_path / "rows.csv", index=False)
    names = write(tmp_path / "names.csv", "id,name\np,left\nr,right\n")
    out, again, model = (tmp_path / name for name in (f"o.{ending}", f"a.{ending}", "m.likewise"))
    report = tmp_path / "r.html"
    command = ["cluster", tmp_path / "rows.csv", "-k", 2, "--names", names, "-o", out]
    run = [*command, "--model", model, "--report", report, "--json"]
    main(list(map(str, run)))
    assert sorted(json.loads(capsys.readouterr().out)["names"]) == ["left", "right"]
    main(list(map(str, ["apply", model, tmp_path / "rows.csv", "-o", again])))
    read = {"csv": pd.read_csv, "parquet": pd.read_parquet}[ending]
    for path in (out, again):
        assert list(read(path)["cluster name"]) == ["left", "left", "right", "right"]
    assert ": left" in report.read_text(encoding="utf-8")
