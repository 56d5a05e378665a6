"""Tables as people have them: delimiters, gzip, marks, quotes, gaps, JSON Lines, Arrow, stdin."""

import gzip
import io
import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from likewise.files import text_source
from likewise.files.problem_list import MOST_LISTED
from likewise.files.row_file import read_named_table, read_table

ROWS = [("a", "1.5", "red"), ("b", "", "blue, dark"), ("c", "3", 'say "hi"')]
FRAME = pd.DataFrame(ROWS, columns=["id", "x", "color"])


def cells_of(table):
    return {name: cells.tolist() for name, cells in table.columns.items()}


EXPECTED = {name: FRAME[name].tolist() for name in FRAME}


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(tmp_path, delimiter):
    FRAME.to_csv(tmp_path / "rows.csv", sep=delimiter, index=False)
    assert cells_of(read_table(tmp_path / "rows.csv")) == EXPECTED


def test_tabs_are_taken_in_tsv_files_whatever_the_header_has(tmp_path):
    (tmp_path / "rows.tsv").write_text("id\ta,b,c\n1\tx\n")
    assert cells_of(read_table(tmp_path / "rows.tsv")) == {"id": ["1"], "a,b,c": ["x"]}


def test_what_excel_writes_is_read(tmp_path):
    (tmp_path / "rows.csv").write_text("sep=;\nid;x\n1;2,5\n", encoding="utf-8-sig")
    table = read_table(tmp_path / "rows.csv")
    assert (cells_of(table), table.notation) == ({"id": ["1"], "x": ["2,5"]}, ",")
    (tmp_path / "wide.csv").write_text("id,x\nä,1\n", encoding="utf-16")
    assert cells_of(read_table(tmp_path / "wide.csv")) == {"id": ["ä"], "x": ["1"]}


def test_a_gzipped_file_that_unpacks_to_far_more_than_a_table_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(text_source, "UNPACKED_ANYWAY", 100_000)
    path = tmp_path / "d.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 20_000))  # 80 kB of a file of 200 bytes
    assert len(read_table(path).columns["a"]) == 20_000
    for content in (b"a,b\n" + b"1,2\n" * 200_000, b"a,b\n" + b"1" * 800_000):
        path.write_bytes(gzip.compress(content))
        with pytest.raises(ValueError, match=r"d\.csv\.gz unpacks to more than 0 MB"):
            read_table(path)


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl"])
def test_gzipped_text_is_read(tmp_path, ending):
    text = {
        "csv": FRAME.to_csv(index=False),
        "tsv": FRAME.to_csv(sep="\t", index=False),
        "jsonl": FRAME.to_json(orient="records", lines=True),
    }[ending]
    path = tmp_path / f"rows.{ending}.gz"
    path.write_bytes(gzip.compress(text.encode()))
    assert cells_of(read_table(path)) == EXPECTED
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ValueError, match="damaged: it cannot be unzipped"):
        read_table(path)


def test_marks_line_ends_quotes_and_blank_lines_are_understood(tmp_path):
    text = 'id,note\r\n1,"two\r\nlines"\r\n\r\n2,"a ""quote"""\r\n'
    (tmp_path / "rows.csv").write_bytes(b"\xef\xbb\xbf" + text.encode())
    table = read_table(tmp_path / "rows.csv")
    assert cells_of(table) == {"id": ["1", "2"], "note": ["two\r\nlines", 'a "quote"']}
    assert table.place("note")(1) == "rows.csv, line 5, column note"


def test_every_ragged_line_and_repeated_name_is_listed(tmp_path):
    (tmp_path / "rows.csv").write_text("a,b,a\n1,2,3\n1,2\n4,5,6\n1,2,3,4\n")
    with pytest.raises(ValueError, match=r"line 1: .*twice, 'a'; line 3: 2 cells.*line 5: 4 cells"):
        read_table(tmp_path / "rows.csv")


def test_a_page_of_problems_is_shown_and_the_rest_counted(tmp_path):
    (tmp_path / "rows.csv").write_text("a,b\n" + "1\n" * 50)
    with pytest.raises(ValueError, match=f"and {50 - MOST_LISTED} more") as caught:
        read_table(tmp_path / "rows.csv")
    assert str(caught.value).count("1 cells") == MOST_LISTED


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "rows.csv is empty"),
        (b"\n", "rows.csv is empty"),
        (b"a,b\n", "a header and no rows"),
        (b'a,b\n"1,2\n', "line 2: a quote is opened and never closed"),
        (b'a,b\n"5" x",2\n', "line 2: a quote ends in the middle of a cell; write quotes inside"),
        (b"PK\x03\x04 sheet", "a spreadsheet or a zip archive. Save the sheet as CSV"),
        (b"age pay\n31 9.5\n44 2.0\n", "its 2 columns are set apart by spaces. Save it with"),
        (b"a,,\n1,2,3\n", "line 1: no name for column 2, 3. Name every column"),
        (b'a,b\n1,2\n3,4\n5,"6\n7,8\n', "line 4: a quote is opened and never closed"),
        (b"a,b\n1,2\n3,4\x00\n" + b"5,6\n" * 30, "line 3: it has a zero byte"),
        ("a,b\n1,2\n".encode("utf-16-le"), "zero bytes, as UTF-16 without its mark"),
        (b"PAR1\x15\x04", "rows.csv is a Parquet file. Rename it to .parquet"),
        (b"BZh91AY&SY", "packed by bzip2. Unpack it"),
        (b"\x89PNG\r\n\x1a\n", "rows.csv is an image. Name the folder that it is in"),
        (b"\n <!DOCTYPE HTML>\n<html><body>Sign in</body></html>", "a web page and no table"),
        (b"'a','b'\n'1','2'\n", "its cells are in single quotes"),
        (b"a\n\xe9\x81\n", "not UTF-8 text"),
        (b"a\n\xe9\x01\n", "not UTF-8 text"),
    ],
)
def test_a_file_that_is_no_table_is_one_error(tmp_path, content, problem):
    (tmp_path / "rows.csv").write_bytes(content)
    with pytest.raises(ValueError, match=problem):
        read_table(tmp_path / "rows.csv")


def test_a_table_as_windows_writes_it_is_read_and_said(tmp_path):
    text = "Nr;Stadt;Preis\n1;K\xf6ln;3,50 \u20ac\n2;Z\xfcrich;1.204,00 \u20ac\n"
    (tmp_path / "rows.csv").write_bytes(text.encode("cp1252"))
    with pytest.warns(UserWarning, match=r"rows.csv: not UTF-8, so read as Windows-1252"):
        table = read_table(tmp_path / "rows.csv")
    assert cells_of(table)["Stadt"] == ["K\xf6ln", "Z\xfcrich"]
    assert cells_of(table)["Preis"] == ["3,50 \u20ac", "1.204,00 \u20ac"]
    assert table.place("Preis")(1) == "rows.csv, line 3, column Preis"


def test_old_encodings_are_read_from_stdin_too(monkeypatch):
    stdin = SimpleNamespace(buffer=io.BytesIO("a,b\nK\xf6ln,1\n".encode("cp1252")))
    monkeypatch.setattr("sys.stdin", stdin)
    with pytest.warns(UserWarning, match="stdin: not UTF-8"):
        assert cells_of(read_table("-")) == {"a": ["K\xf6ln"], "b": ["1"]}


def test_lines_above_the_names_are_one_problem(tmp_path):
    rows = "".join(f"{i},{i},{i}\n" for i in range(30))
    (tmp_path / "rows.csv").write_text(f"Report of sales\nMay 2026\n\na,b,c\n{rows}")
    with pytest.raises(
        ValueError, match=r"^rows.csv: 31 lines have 3 cells, but line 1, .* has 1\. Delete what"
    ):
        read_table(tmp_path / "rows.csv")


def test_json_lines_may_lack_keys_and_all_bad_lines_are_listed(tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"x": 1}\n\n{"y": "a", "x": null}\n')
    assert cells_of(read_table(tmp_path / "rows.jsonl")) == {"x": [1, None], "y": [None, "a"]}
    (tmp_path / "rows.jsonl").write_text('{"x": 1}\n[1]\n{"x": }\n')
    with pytest.raises(ValueError, match=r"rows.jsonl, line 2: .*line 3: "):
        read_table(tmp_path / "rows.jsonl")


@pytest.mark.parametrize("ending", ["parquet", "feather", "arrow"])
def test_arrow_files_keep_the_types_of_their_columns(tmp_path, ending):
    frame = pd.DataFrame(
        {
            "n": [1, 2],
            "gap": pd.array([1, None], dtype="Int64"),
            "flag": [True, False],
            "day": pd.to_datetime(["2026-01-31", None]),
            "zone": pd.to_datetime(["2026-01-31T12:00+02:00"] * 2),
            "kind": pd.Categorical(["a", None]),
        }
    )
    path = tmp_path / f"rows.{ending}"
    frame.to_parquet(path) if ending == "parquet" else frame.to_feather(path)
    columns = read_table(path).columns
    kinds = {name: cells.dtype.kind for name, cells in columns.items()}
    assert kinds == {"n": "i", "gap": "f", "flag": "b", "day": "M", "zone": "M", "kind": "O"}
    assert columns["zone"][0] == np.datetime64("2026-01-31T10:00")
    assert columns["kind"].tolist() == ["a", None]


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "jsonl", "parquet"])
def test_stdin_is_known_by_what_it_holds(monkeypatch, kind):
    buffer = io.BytesIO()
    if kind == "parquet":
        FRAME.to_parquet(buffer)
    else:
        lines = FRAME.to_json(orient="records", lines=True)
        text = (lines if kind == "jsonl" else FRAME.to_csv(index=False)).encode()
        buffer = io.BytesIO(gzip.compress(text) if kind.endswith("gz") else text)
    buffer.seek(0)
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=buffer))
    named = read_named_table("-")
    assert named.ids == ["a", "b", "c"]
    assert cells_of(named.table) == {name: EXPECTED[name] for name in ("x", "color")}
    assert named.table.place("x")(0).startswith("stdin, ")


def test_another_ending_is_an_error_that_names_the_right_ones(tmp_path):
    (tmp_path / "rows.xlsx").write_bytes(b"PK")
    with pytest.raises(ValueError, match=r"rows.xlsx must end in one of .csv, .tsv, .jsonl"):
        read_table(tmp_path / "rows.xlsx")


def test_text_to_show_is_set_apart(tmp_path):
    FRAME.to_csv(tmp_path / "rows.csv", index=False)
    named = read_named_table(tmp_path / "rows.csv", id_column="color", text_column="x")
    assert (named.id_column, named.ids) == ("color", EXPECTED["color"])
    assert named.texts == ["1.5", "", "3"]
    assert list(named.table.columns) == ["id"]


def test_a_first_line_of_numbers_is_a_warning(tmp_path):
    (tmp_path / "rows.csv").write_text("1,2\n3,4\n")
    with pytest.warns(UserWarning, match=r"rows.csv: the first line has numbers"):
        assert read_table(tmp_path / "rows.csv").n_rows == 1


@pytest.mark.parametrize(
    "content", ["a,b,,\n1,x,,\n2,y,,\n", "a,b\n1,x,\n2,y,\n", "a,b,\n1,x,\n2,y,\n"]
)
def test_delimiters_at_the_end_of_lines_are_no_columns_but_one_blank_one(tmp_path, content):
    (tmp_path / "rows.csv").write_text(content)
    columns = read_table(tmp_path / "rows.csv").columns
    assert list(columns) == ["a", "b", ""]
    assert [cells.tolist() for cells in columns.values()] == [["1", "2"], ["x", "y"], ["", ""]]


def test_a_cell_too_many_in_some_lines_is_an_error_though_it_is_empty(tmp_path):
    (tmp_path / "rows.csv").write_text("name,b\nSmith, John,\n2,y\n3,z\n")
    with pytest.raises(ValueError, match="line 2: 3 cells, but the header names 2"):
        read_table(tmp_path / "rows.csv")


def test_lines_end_with_a_delimiter_and_one_with_a_cell(tmp_path):
    lines = "".join(f"{i},x,\n" for i in range(6))
    (tmp_path / "rows.csv").write_text(f"a,b\n{lines}7,y,8\n")
    with pytest.raises(ValueError, match="no name for column 3"):
        read_table(tmp_path / "rows.csv")


def test_objects_in_objects_are_columns_and_a_list_of_objects_is_a_table(tmp_path):
    rows = [{"id": 1, "user": {"age": 31, "home": {"city": "Ulm"}}}, {"id": 2, "user": {"age": 5}}]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "rows.json").write_text(json.dumps(rows, indent=1))
    lines, whole = read_table(tmp_path / "rows.jsonl"), read_table(tmp_path / "rows.json")
    assert list(lines.columns) == list(whole.columns) == ["id", "user.age", "user.home.city"]
    assert whole.columns["user.home.city"].tolist() == ["Ulm", None]
    assert whole.place("id")(1) == "rows.json, row 1, column id"
    assert lines.place("id")(1) == "rows.jsonl, line 2, column id"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ('{"a.b": 1, "a": {"b": 2}}', "line 1: two cells are named 'a.b'"),
        ("[1, 2]", "row 0: it is no JSON object"),
        ('[{"a": 1}', "begins as a list and is none that can be read"),
        ('{"a": 1}\n{"a": 2,}\n', r"line 2: .*, at character \d"),
        ('{"a": 1}\n{"a":\n', "line 2: Expecting value, at character 6"),
        ('{"a": NaN}', "line 1: the number NaN, which JSON does not have: write null"),
        ('{"a": [1, 2], "b": [3, 4]}', "one object of columns. Save a list of rows"),
        ('{\n "a": {"0": 1, "1": 2},\n "b": {"0": 3, "1": 4}\n}', "one object of columns"),
        ('{"n": {"of": 2}, "data": [{"a": 1}]}', "rows in 'data'. Save that list alone"),
    ],
)
def test_json_that_is_no_table_is_one_error(tmp_path, content, problem):
    (tmp_path / "rows.json").write_text(content)
    with pytest.raises(ValueError, match=problem):
        read_table(tmp_path / "rows.json")


def test_one_object_is_one_row_whose_objects_are_columns(tmp_path):
    for text in ('{"user": {"age": 31}, "n": 2}', '{\n "user": {"age": 31},\n "n": 2\n}'):
        (tmp_path / "rows.json").write_text(text)
        assert cells_of(read_table(tmp_path / "rows.json")) == {"user.age": [31], "n": [2]}


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"a,b\n1,2\n", "text. Rename it to .csv, or .jsonl"),
        (b"PK\x03\x04 sheet", "a spreadsheet or a zip archive"),
        (b"\x1f\x8b\x08\x00", "packed by gzip. Unpack it"),
    ],
)
def test_another_file_under_the_name_of_parquet_is_known(tmp_path, content, what):
    (tmp_path / "rows.parquet").write_bytes(content)
    with pytest.raises(ValueError, match=f"rows.parquet is not a Parquet file .*: it is {what}"):
        read_table(tmp_path / "rows.parquet")


@pytest.mark.parametrize("damaged", [b"PAR1 cut", b"\x00\x01\x02"])
def test_a_damaged_parquet_file_is_called_nothing_else(tmp_path, damaged):
    (tmp_path / "rows.parquet").write_bytes(damaged)
    with pytest.raises(ValueError, match=r"is not a Parquet file that can be read\.$"):
        read_table(tmp_path / "rows.parquet")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-8-sig"])
def test_the_marks_of_encodings_are_known(tmp_path, encoding):
    (tmp_path / "rows.csv").write_bytes("a,b\nK\xf6ln,1\n".encode(encoding))
    assert cells_of(read_table(tmp_path / "rows.csv")) == {"a": ["K\xf6ln"], "b": ["1"]}


@pytest.mark.parametrize(
    ("name", "way_out"),
    [
        ("a.xlsx", "Save the sheet as CSV"),
        ("a.zip", "Unzip it"),
        ("a.txt", "Rename a table to"),
        ("a.png", "Name the folder that the images are in"),
    ],
)
def test_a_file_that_cannot_be_read_says_what_to_do(tmp_path, name, way_out):
    (tmp_path / name).write_text("x")
    with pytest.raises(ValueError, match=way_out):
        read_table(tmp_path / name)


def test_a_sum_below_the_rows_is_a_warning(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("name,x\nAnn,1\nBob,2\n\nTotal:,3\n")
    with pytest.warns(UserWarning, match=r"rows.csv, line 5: 'Total:' looks like the sum"):
        assert read_table(path).n_rows == 3
    for rows in ("Ann,1\nTotal,3\nBob,2\n", "Sum,1\nAnn,1\nSum,3\n", "Total,1\n", "Bob,2\n"):
        path.write_text(f"name,x\n{rows}")
        assert read_table(path).n_rows == rows.count("\n")  # without a word


def test_what_is_packed_is_looked_into(tmp_path):
    path = tmp_path / "rows.csv.gz"
    for content, problem in (
        (gzip.compress(b"PK\x03\x04 sheet"), "a spreadsheet or a zip archive"),
        (gzip.compress(gzip.compress(b"a,b\n1,2\n")), "packed by gzip twice. Unpack it"),
        (gzip.compress(b"a,b\n1,2\n" * 99)[:20], "damaged: it cannot be unzipped"),
    ):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=problem):
            read_table(path)


def test_a_cell_too_long_for_csv_says_where_it_can_be(tmp_path):
    (tmp_path / "rows.csv").write_text(f"a,b\n1,{'x' * 140_000}\n")
    with pytest.raises(ValueError, match=r"line 2: a cell has more than 131072 .* \.jsonl or"):
        read_table(tmp_path / "rows.csv")
