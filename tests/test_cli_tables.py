"""likewise cluster, apply and check on tables as people have them."""

import io
import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score

from likewise.cli import main
from likewise.files.tensor_file import read_tensors, write_tensors

N = 90
RNG = np.random.RandomState(0)
Y = np.arange(N) % 3
CUSTOMERS = pd.DataFrame(
    {
        "customer_id": [1000 + 7 * int(i) for i in RNG.permutation(N)],
        "age": np.array([25.0, 45.0, 65.0])[Y] + 3 * RNG.randn(N),
        "plan": np.array(["free", "silver", "gold"])[Y],
        "active": RNG.rand(N) < 0.5,
        "joined": pd.Timestamp("2024-03-01") + pd.to_timedelta(RNG.randint(0, 60, N) + 90 * Y, "D"),
        "country": "DE",
    }
)
CUSTOMERS.loc[[3, 30], "age"] = np.nan
CUSTOMERS.loc[[4, 40], "plan"] = None


def run(capsys, *arguments):
    capsys.readouterr()
    code = 0
    try:
        main([str(argument) for argument in arguments])
    except SystemExit as error:
        code = error.code
    return code, *capsys.readouterr()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    CUSTOMERS.to_csv("customers.csv", index=False)
    CUSTOMERS.to_parquet("customers.parquet", index=False)
    labels = pd.DataFrame({"customer_id": CUSTOMERS.customer_id, "label": Y}).iloc[:12]
    labels.to_csv("labels.csv", index=False)
    return tmp_path


def test_a_table_is_clustered_and_its_columns_are_named(folder, capsys):
    code, _, stderr = run(capsys, "cluster", "customers.parquet", "-k", 3, "-o", "out.csv")
    assert code == 0, stderr
    assert "ids: column customer_id" in stderr
    assert "age (number), plan (category), active (flag), joined (date)" in stderr
    assert "left out: country: every row has 'DE'" in stderr
    out = pd.read_csv("out.csv")
    assert list(out.columns) == ["customer_id", "cluster"]
    assert list(out["customer_id"]) == list(CUSTOMERS["customer_id"])
    assert adjusted_rand_score(Y, out["cluster"]) > 0.9


def test_csv_and_parquet_give_the_same_clusters(folder, capsys):
    for ending in ("csv", "parquet"):
        assert run(capsys, "cluster", f"customers.{ending}", "-o", f"{ending}.csv")[0] == 0
    assert (folder / "csv.csv").read_text() == (folder / "parquet.csv").read_text()


def test_labels_of_some_rows_are_answers_by_id(folder, capsys):
    source = ("cluster", "customers.csv", "-c", "labels.csv", "-o", "out.csv")
    code, _, stderr = run(capsys, *source)
    assert code == 0, stderr
    assert "12 answers" in stderr  # 9 must-links along the classes and 3 cannot-links
    assert adjusted_rand_score(Y, pd.read_csv("out.csv")["cluster"]) > 0.9


def test_answers_by_row_number_are_taken_where_ids_were_only_guessed(folder, capsys):
    (folder / "rows.csv").write_text("kind,a,b\nsame,0,3\ndifferent,0,1\n")
    code, _, stderr = run(capsys, "cluster", "customers.csv", "-c", "rows.csv", "-o", "out.csv")
    assert (code, "2 answers" in stderr) == (0, True)
    (folder / "rows.csv").write_text("kind,a,b\nsame,0,99999\n")
    code, _, stderr = run(capsys, "cluster", "customers.csv", "-c", "rows.csv", "-o", "out.csv")
    assert code == 1
    assert "line 2: b = 99999 is outside the 90 rows of X" in stderr
    (folder / "rows.csv").write_text("kind,a,b\nsame,C1,99999\n")
    code, _, stderr = run(capsys, "cluster", "customers.csv", "-c", "rows.csv", "-o", "out.csv")
    assert code == 1
    assert "is not one of the 90 ids" in stderr


def test_row_numbers_beyond_the_rows_are_no_unknown_ids(folder, capsys):
    (folder / "rows.csv").write_text("row,label\n0,a\n1,b\n999,a\n")
    code, _, stderr = run(
        capsys, "cluster", "customers.csv", "-c", "rows.csv", "-k", 2, "-o", "o.csv"
    )
    assert code == 1
    assert "rows.csv, line 4: row = 999 is outside the" in stderr
    assert "They are numbered from 0." in stderr
    assert "not one of" not in stderr


def test_apply_repeats_it_on_new_files_with_the_same_ids(folder, capsys):
    arguments = ("cluster", "customers.csv", "-k", 3, "--model", "m.likewise", "-o", "out.csv")
    assert run(capsys, *arguments)[0] == 0
    CUSTOMERS.iloc[::-1][["plan", "joined", "age", "active", "customer_id"]].to_json(
        "new.jsonl", orient="records", lines=True, date_format="iso"
    )
    code, _, stderr = run(capsys, "apply", "m.likewise", "new.jsonl", "-o", "new.csv")
    assert code == 0, stderr
    old, new = pd.read_csv("out.csv"), pd.read_csv("new.csv")
    assert list(new["customer_id"]) == list(old["customer_id"][::-1])
    agreement = adjusted_rand_score(old["cluster"], new["cluster"][::-1])
    assert agreement > 0.95
    CUSTOMERS.drop(columns=["plan", "age"]).to_csv("less.csv", index=False)
    code, _, stderr = run(capsys, "apply", "m.likewise", "less.csv", "-o", "x.csv")
    assert code == 1
    assert "lack 'age', 'plan'" in stderr


def test_apply_names_rows_of_numbers_by_the_same_column(folder, capsys):
    CUSTOMERS[["customer_id", "age"]].assign(wine=CUSTOMERS.customer_id, size=RNG.randn(N)).drop(
        columns="customer_id"
    ).dropna().to_csv("numbers.csv", index=False)
    source = ("cluster", "numbers.csv", "-k", 3, "--id-column", "wine", "--model", "m.likewise")
    assert run(capsys, *source, "-o", "out.csv")[0] == 0
    assert run(capsys, "apply", "m.likewise", "numbers.csv", "-o", "again.csv")[0] == 0
    assert list(pd.read_csv("again.csv").columns) == ["wine", "cluster"]


def test_ids_keep_their_type_in_parquet(folder, capsys):
    run(capsys, "cluster", "customers.parquet", "-k", 3, "-o", "out.parquet")
    out = pd.read_parquet("out.parquet")
    assert out["customer_id"].dtype == np.int64


def test_columns_are_chosen_by_options(folder, capsys):
    arguments = ("cluster", "customers.csv", "-k", 3, "-o", "o.csv", "-v")
    code, _, stderr = run(capsys, *arguments, "--exclude", "age,joined", "--as-category", "active")
    assert code == 0
    assert "age: left out, as asked" in stderr
    assert "active: category, 2 levels" in stderr
    code, _, stderr = run(capsys, *arguments, "--features", "age,country")
    assert (code, "country: category, 1 level" in stderr) == (0, True)
    code, _, stderr = run(capsys, *arguments, "--exclude", "agee")
    assert code == 1
    assert "Did you mean 'age'?" in stderr


def test_text_is_taken_as_text_when_asked_for(folder, capsys):
    words = np.array(["parcel late", "price high", "cannot log in"])[Y]
    pd.DataFrame({"id": range(N), "body": words}).to_csv("tickets.csv", index=False)
    arguments = ("cluster", "tickets.csv", "--as-text", "body", "-k", 3, "-o", "o.csv", "-v")
    code, _, stderr = run(capsys, *arguments)
    assert code == 0, stderr
    assert "body: text" in stderr
    assert adjusted_rand_score(Y, pd.read_csv("o.csv")["cluster"]) == 1.0


def test_quiet_says_nothing_and_json_says_everything_on_stdout(folder, capsys):
    arguments = ("cluster", "customers.csv", "-c", "labels.csv", "-k", 3, "-o", "out.csv")
    code, stdout, stderr = run(capsys, *arguments, "--quiet", "--json")
    assert (code, stderr) == (0, "")
    document = json.loads(stdout)
    assert document["rows"] == N
    assert sum(document["sizes"]) == N
    assert document["files"] == {"clusters": "out.csv"}
    kinds = {column["name"]: column["kind"] for column in document["columns"]}
    assert (kinds["country"], kinds["age"]) == ("left out", "number")
    code, _, stderr = run(capsys, *arguments[:-1], "-", "--json")
    assert code == 1
    assert "choose it with -o" in stderr


def test_apply_prints_json_too(folder, capsys):
    run(capsys, "cluster", "customers.csv", "-k", 3, "--model", "m.likewise", "-o", "out.csv")
    arguments = ("apply", "m.likewise", "customers.csv", "-o", "new.csv", "--json", "-q")
    code, stdout, stderr = run(capsys, *arguments)
    assert (code, stderr) == (0, "")
    assert sum(json.loads(stdout)["sizes"]) == N


def test_stdin_is_clustered_to_stdout(folder, capsys, monkeypatch):
    buffer = io.BytesIO((folder / "customers.csv").read_bytes())
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=buffer, isatty=lambda: False))
    code, stdout, stderr = run(capsys, "cluster", "-", "-k", 3)
    assert code == 0, stderr
    assert stdout.startswith("customer_id,cluster\n")
    assert stdout.count("\n") == N + 1


def test_all_typing_errors_of_a_file_are_listed_with_line_and_column(folder, capsys):
    frame = CUSTOMERS.astype({"age": str, "joined": str})
    frame.loc[5, "age"], frame.loc[7, "joined"] = "old", "someday"
    frame.to_csv("wrong.csv", index=False)
    code, _, stderr = run(capsys, "cluster", "wrong.csv", "-o", "o.csv")
    assert code == 1
    assert "wrong.csv, line 7, column age: 'old' is not a number" in stderr
    assert "wrong.csv, line 9, column joined: 'someday' is not a date" in stderr


@pytest.mark.parametrize("method", ["pck-means", "kernel-kmeans"])
def test_other_methods_take_tables_too(folder, capsys, method):
    arguments = ("cluster", "customers.csv", "-k", 3, "--method", method, "-o", "out.csv")
    code, _, stderr = run(capsys, *arguments, "--model", "m.likewise")
    assert code == 0, stderr
    assert run(capsys, "apply", "m.likewise", "customers.csv", "-o", "again.csv")[0] == 0
    assert (folder / "again.csv").read_text() == (folder / "out.csv").read_text()


def test_check_and_select_take_tables_too(folder, capsys):
    arguments = ("customers.csv", "-k", 3)
    code, _, stderr = run(capsys, "check", *arguments, "-c", "labels.csv", "-o", "c.json")
    assert "90 rows, 4 features, " in stderr  # columns that are used, as cluster counts them
    assert code == 0, stderr
    assert "left out: country" in stderr
    code, _, stderr = run(capsys, "select", *arguments, "--pool", "labels.csv", "-o", "s.csv")
    assert code == 0, stderr


def test_the_report_lists_what_became_of_every_column(folder, capsys):
    arguments = ("cluster", "customers.csv", "-k", 3, "-o", "out.csv", "--report", "r.html")
    code, _, stderr = run(capsys, *arguments, "-c", "labels.csv")
    assert code == 0, stderr
    html = (folder / "r.html").read_text()
    assert "What became of each column" in html
    assert "country: left out, every row has &#x27;DE&#x27;" in html.replace("&#39;", "&#x27;")
    assert "plan=gold" in html


@pytest.mark.parametrize("command", [("check", "-c"), ("select", "--pool")])
def test_a_file_without_answers_is_not_judged(folder, capsys, command):
    (folder / "none.csv").write_text("kind,a,b\n")
    code, _, stderr = run(capsys, command[0], "customers.csv", command[1], "none.csv", "-k", 3)
    assert code == 1
    assert stderr.splitlines()[-1] == (
        "likewise: none.csv holds no answers. Write some, or likewise ask DATA."
    )


def test_a_long_message_keeps_its_end_which_says_what_to_do(folder, capsys):
    frame = CUSTOMERS.astype({"age": object})
    frame.loc[:19, "age"] = [f"unknown {'x' * 150} {i}" for i in range(20)]
    pd.concat([frame, *[CUSTOMERS.assign(customer_id=f"D{i}") for i in range(9)]]).to_csv(
        "long.csv", index=False
    )
    code, _, stderr = run(capsys, "cluster", "long.csv", "-o", "out.csv")
    assert code == 1
    assert "long.csv, line 2, column age: 'unknown" in stderr
    assert " ... " in stderr
    assert "exclude= (--exclude) leaves it out." in stderr
    assert len(stderr) < 2100


def test_repeated_ids_are_listed_by_their_lines(folder, capsys):
    (folder / "twice.csv").write_text("id,x\na,1\nb,2\na,3\nb,5\n")
    code, _, stderr = run(capsys, "cluster", "twice.csv", "-k", 2, "-o", "out.csv")
    assert code == 1
    assert "twice.csv, line 4, column id: 'a' names line 2 too; twice.csv, line 5" in stderr
    assert "--id-column" in stderr


def test_one_of_anything_is_counted_as_one(folder, capsys):
    (folder / "one.csv").write_text("x\n" + "1\n2\n9\n8\n" * 5)
    (folder / "pair.csv").write_text("kind,a,b\nsame,0,1\n")
    _, _, stderr = run(capsys, "cluster", "one.csv", "-c", "pair.csv", "-k", 2, "-o", "out.csv")
    assert "20 rows, 1 feature, 1 answer\n" in stderr


def test_a_model_that_somebody_changed_ends_in_a_line(folder, capsys):
    assert (
        run(capsys, "cluster", "customers.csv", "-k", 3, "-o", "o.csv", "--model", "m.likewise")[0]
        == 0
    )
    arrays, document = read_tensors("m.likewise")[:2]
    column = document["model"]["state"]["features_"]["state"]["encoded_"]["items"][0]
    column["fields"]["kind"] = "odd"
    write_tensors("m.likewise", arrays, document)
    code, _, stderr = run(capsys, "apply", "m.likewise", "customers.csv", "-o", "again.csv")
    assert code == 1
    assert "m.likewise cannot place these rows (KeyError: 'odd'). Was it changed" in stderr
    assert len(stderr.splitlines()) == 1


def test_ids_that_a_spreadsheet_takes_for_formulas_are_named_and_kept(folder, capsys):
    ids = ["=1+1", "@sum", "-2+3|cmd", "+49 30 1234", "-5", *map(str, range(N - 5))]
    CUSTOMERS.assign(customer_id=ids).to_csv("odd.csv", index=False)
    arguments = ("cluster", "odd.csv", "--id-column", "customer_id", "-k", 3, "-o", "o.csv")
    code, _, stderr = run(capsys, *arguments)
    assert code == 0, stderr
    assert "careful: a spreadsheet takes 3 ids for formulas, such as =1+1; import" in stderr
    assert pd.read_csv("o.csv", dtype=str)["customer_id"].tolist() == ids
    assert "careful" not in run(capsys, "cluster", "customers.csv", "-k", 3, "-o", "p.csv")[2]
