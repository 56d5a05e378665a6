"""Rows from files, of whatever number type."""

from datetime import datetime, timedelta

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from likewise.files.cluster_file import write_clusters
from likewise.files.row_file import check_ids_differ, read_named_table, read_rows


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "uint64"])
def test_numbers_of_every_length_are_read_without_a_warning(tmp_path, dtype):
    np.save(tmp_path / "rows.npy", np.array([[1, 2], [3, 4]], dtype=dtype))
    assert_array_equal(read_rows(tmp_path / "rows.npy").X, [[1, 2], [3, 4]])


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_an_infinite_number_is_refused_whatever_its_length(tmp_path, dtype):
    np.save(tmp_path / "rows.npy", np.array([[1, np.inf]], dtype=dtype))
    with pytest.raises(ValueError, match="row 0"):
        read_rows(tmp_path / "rows.npy")


@pytest.mark.parametrize(
    "cell", ["1_0", "\u0663", "0x1", "nan", "inf", "1e101", "", "None", "1,5,5"]
)
def test_a_cell_that_is_no_number_to_everybody_is_named(tmp_path, cell):
    (tmp_path / "rows.csv").write_text(f'id,x\na,1\nb,"{cell}"\n')
    with pytest.raises(ValueError, match=r"line 3, column x: .* is (not a number|more than)"):
        read_rows(tmp_path / "rows.csv")


def write_parquet(path, **columns):
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.table(columns), path)


@pytest.mark.parametrize("ids", [["a", None], ["a", ""], [b"a", b"\xff"], [1.5, float("nan")]])
def test_a_row_without_a_name_is_refused(tmp_path, ids):
    write_parquet(tmp_path / "rows.parquet", id=ids, x=[1.0, 2.0])
    with pytest.raises(
        ValueError, match=r"rows.parquet, row 1, column id: (no name of|.*not UTF-8)"
    ):
        read_rows(tmp_path / "rows.parquet")


def test_names_that_are_bytes_are_read_as_text(tmp_path):
    write_parquet(tmp_path / "rows.parquet", id=[b"a", b"b"], x=[1.0, 2.0], t=[None, b"text"])
    rows = read_rows(tmp_path / "rows.parquet", text_column="t")
    assert rows.ids == ["a", "b"]
    assert rows.texts == ["", "text"]


@pytest.mark.parametrize("cells", [[datetime(2026, 1, 31)] * 2, [timedelta(1)] * 2, [[1.0]] * 2])
def test_a_column_that_is_no_number_is_never_taken_for_one(tmp_path, cells):
    write_parquet(tmp_path / "rows.parquet", x=cells)
    with pytest.raises(ValueError, match=r"rows.parquet, row 0, column x: .*not (a )?number"):
        read_rows(tmp_path / "rows.parquet")


def test_clusters_that_could_not_be_read_again_are_not_written(tmp_path):
    with pytest.raises(ValueError, match=r"id of row 1 has 131073 characters.*write .parquet"):
        write_clusters(tmp_path / "out.csv", np.array([0, 1]), ["a", "b" * 131_073])
    assert list(tmp_path.iterdir()) == []
    write_clusters(tmp_path / "out.csv", np.array([0, 1]), ["a", "b" * 131_072])
    write_clusters(tmp_path / "out.parquet", np.array([0, 1]), ["a", "b" * 131_073])
    for ending in ("csv", "parquet"):
        assert read_rows(tmp_path / f"out.{ending}").ids[0] == "a"


def test_a_parquet_column_that_cannot_be_read_is_named(tmp_path):
    import pyarrow
    import pyarrow.parquet

    codes = pyarrow.array([b"\xce\xff"]).view(pyarrow.string())  # no UTF-8
    pyarrow.parquet.write_table(pyarrow.table({"x": codes}), tmp_path / "rows.parquet")
    with pytest.raises(ValueError, match=r"rows.parquet is not a Parquet file that can be read"):
        read_rows(tmp_path / "rows.parquet")
    table = pyarrow.table([pyarrow.array([1.0])] * 2, names=["x", "x"])
    pyarrow.parquet.write_table(table, tmp_path / "rows.parquet")
    with pytest.raises(ValueError, match=r"rows.parquet is not a Parquet file that can be read"):
        read_rows(tmp_path / "rows.parquet")


def test_all_cells_that_are_no_numbers_are_listed_at_once(tmp_path):
    (tmp_path / "rows.csv").write_text("x,y\n1,a\n,2\n3,b\n")
    with pytest.raises(ValueError, match=r"line 3, column x: ''.*line 2, column y: 'a'.*'b'"):
        read_rows(tmp_path / "rows.csv")


def test_ids_keep_the_name_of_their_column_and_their_type(tmp_path):
    import pyarrow.parquet

    write_parquet(tmp_path / "rows.parquet", wine_id=[7, 8], x=[1.0, 2.0])
    rows = read_rows(tmp_path / "rows.parquet", id_column="wine_id")
    assert (rows.ids, rows.id_column) == (["7", "8"], "wine_id")
    write_clusters(tmp_path / "out.parquet", np.array([0, 1]), rows.id_cells, rows.id_column)
    written = pyarrow.parquet.read_table(tmp_path / "out.parquet")
    assert written.to_pydict() == {"wine_id": [7, 8], "cluster": [0, 1]}
    write_clusters(tmp_path / "out.csv", np.array([0, 1]), rows.id_cells, rows.id_column)
    assert (tmp_path / "out.csv").read_text() == "wine_id,cluster\n7,0\n8,1\n"


def test_all_rows_without_a_name_or_with_that_of_another_are_listed_with_their_lines(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("id,x\na,1\n,2\nb,3\n,4\n")
    with pytest.raises(ValueError, match=r"line 3, .*; rows.csv, line 5, column id: no name") as e:
        read_named_table(path)
    assert str(e.value).endswith("Name the rows, or drop them.")
    path.write_text("id,x\na,1\nb,2\na,3\nb,4\na,5\n")
    named = read_named_table(path)  # to apply a model to, names may repeat
    with pytest.raises(ValueError, match=r"rows.csv, line 4, column id: 'a' names line 2 too") as e:
        check_ids_differ(named.ids, named.table.place("id"))
    assert "line 5, column id: 'b' names line 3 too" in str(e.value)
    assert "line 6, column id: 'a' names line 2 too. Rows need names of their own" in str(e.value)


def test_numbers_in_another_shape_say_how_they_are_saved(tmp_path):
    path = tmp_path / "rows.npy"
    for shape, way_out in (((6, 2, 2), "X.reshape(6, 4)"), ((5,), "X.reshape(5, 1)")):
        np.save(path, np.zeros(shape))
        with pytest.raises(ValueError, match="not rows of numbers") as caught:
            read_rows(path)
        assert way_out in str(caught.value)


def test_gaps_in_an_array_are_counted(tmp_path):
    np.save(tmp_path / "rows.npy", np.where(np.eye(4), np.nan, 1.0))
    with pytest.raises(ValueError, match=r"row 0: column 0 is nan, .*3 more of 16 cells. Fill"):
        read_rows(tmp_path / "rows.npy")


def test_names_of_rows_from_a_column_called_cluster_are_not_lost(tmp_path):
    write_clusters(tmp_path / "out.csv", np.array([1, 0]), ["a", "b"], "cluster", ("x", "y"))
    assert (tmp_path / "out.csv").read_text() == "id,cluster,cluster name\na,1,y\nb,0,x\n"


def test_a_whole_number_too_large_for_a_float_is_named(tmp_path):
    (tmp_path / "rows.jsonl").write_text(f'{{"x": 1}}\n{{"x": {10**400}}}\n')
    with pytest.raises(ValueError, match=r"rows.jsonl, line 2, column x: inf is not a number"):
        read_rows(tmp_path / "rows.jsonl")
