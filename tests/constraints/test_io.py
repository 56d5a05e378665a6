import gzip
import json
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise import ITML
from likewise.constraints import Constraints
from tests.constraints.strategies import draw_constraints

seeds = st.integers(0, 2**31 - 1)
ENDINGS = ("csv", "jsonl", "parquet")


def read_back(c, path):
    c.write(path)
    return Constraints.read(path, n_samples=c.n_samples, ids=c.ids)


@pytest.mark.parametrize("ending", ENDINGS)
@given(seed=seeds)
def test_a_file_gives_back_exactly_what_was_written(ending, seed, tmp_path_factory):
    c = draw_constraints(np.random.RandomState(seed))
    assert read_back(c, tmp_path_factory.getbasetemp() / f"answers.{ending}") == c


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
@given(seed=seeds)
def test_a_frame_gives_back_exactly_what_was_put_in(backend, seed):
    c = draw_constraints(np.random.RandomState(seed))
    frame = c.to_frame(backend)
    assert Constraints.from_frame(frame, n_samples=c.n_samples, ids=c.ids) == c


def test_the_columns_of_a_file_are_the_documented_ones(tmp_path):
    c = Constraints(
        ids=["x", "y", "z"],
        must_link=[(0, 1)],
        odd_one_out=[(0, 1, 2)],
        weights=[1, 0.5],
        annotators=["ann", ""],
        asked_at=["2026-01-31T12:00:00Z", None],
        screens=["s1", ""],
        seconds=[2.5, None],
    )
    c.write(tmp_path / "answers.csv")
    assert (tmp_path / "answers.csv").read_text() == (
        "kind,a,b,c,weight,annotator,asked_at,screen,seconds\n"
        "must_link,x,y,,1.0,ann,2026-01-31T12:00:00,s1,2.5\n"
        "odd_one_out,x,y,z,0.5,,,,\n"
    )
    c.write(tmp_path / "answers.jsonl")
    first, second = map(json.loads, (tmp_path / "answers.jsonl").read_text().splitlines())
    assert first == {
        "kind": "must_link",
        "a": "x",
        "b": "y",
        "weight": 1.0,
        "annotator": "ann",
        "asked_at": "2026-01-31T12:00:00",
        "screen": "s1",
        "seconds": 2.5,
    }
    assert second == {"kind": "odd_one_out", "a": "x", "b": "y", "c": "z", "weight": 0.5}


def test_undecided_about_two_rows_has_no_third_and_nothing_learns_from_it(tmp_path):
    (tmp_path / "answers.csv").write_text("kind,a,b,c\nundecided,0,1,\nundecided,0,1,2\n")
    c = Constraints.read(tmp_path / "answers.csv", n_samples=3)
    assert c.undecided_pair.tolist() == [[0, 1]]
    assert c.undecided.tolist() == [[0, 1, 2]]
    assert list(c.kinds) == ["undecided_pair", "undecided"]
    assert c == Constraints(3, undecided=[(0, 1, 2)], undecided_pair=[(0, 1)]).subset([1, 0])
    c.write(tmp_path / "again.csv")
    assert Constraints.read(tmp_path / "again.csv", n_samples=3) == c
    assert [line.split(",")[0] for line in (tmp_path / "again.csv").read_text().split()[1:]] == [
        "undecided",
        "undecided",
    ]
    assert ITML().fit([[0.0], [1.0], [9.0]], constraints=c.subset([0])).n_answers_used_ == 0


def test_few_columns_are_enough_and_blank_lines_do_not_count(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("kind,b,a\nmust_link,1,0\n\ncannot_link,2,0\n")
    c = Constraints.read(path, n_samples=3)
    assert c == Constraints(3, must_link=[(0, 1)], cannot_link=[(0, 2)])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("kind,a\n", "lacks b"),
        ("kind,a,b,wieght\n", "has the column 'wieght'. Did you mean 'weight'?"),
        ("kind,a,b,a\n", "named twice"),
        ("kind,a,b\nmust_link,0,1\nmust_link,0\n", "line 3: 2 cells, but the header names 3"),
        ("kind,a,b\nmust_link,0,1\nmusst_link,0,1\n", "line 3: kind 'musst_link' is not one of"),
        ("kind,a,b\nmust_link,0,x\n", "line 2: b = 'x' is not a row number"),
        ("kind,a,b\nmust_link,0,\n", "line 2: b is empty"),
        ("kind,a,b\nmust_link,0,9\n", "line 2: b = 9 is outside the 5 rows of X"),
        ("kind,a,b,c\nmust_link,0,1,2\n", "line 2: must_link refers to two rows, but c is '2'"),
        ("kind,a,b\ncloser,0,1\n", "line 2: c is empty"),
        ("kind,a,b,weight\nmust_link,0,1,heavy\n", "line 2: must_link has the weight 'heavy'"),
        ("kind,a,b,weight\nmust_link,0,1,nan\n", "line 2: must_link has the weight nan"),
        ("kind,a,b,asked_at\nmust_link,0,1,noon\n", "line 2: must_link was asked at 'noon'"),
        ("kind,a,b,seconds\nmust_link,0,1,-2\n", "line 2: must_link took '-2' seconds"),
        ("kind,a,b,seconds\nmust_link,0,1,soon\n", "line 2: must_link took 'soon' seconds"),
        ('kind,a,b\nmust_link,"0,1\n', "line 2"),
        ("kind,a,b\nmust_link,0,99999999999999999999\n", "line 2: b = "),
        ("kind,a,b\nmust_link,0,1_0\n", "line 2: b = '1_0' is not a row number"),
        ("kind,a,b\nmust_link,0,\u0663\n", "line 2: b = '\u0663' is not a row number"),
        ("kind,a,b,weight\nmust_link,0,1,1_000\n", "must_link has the weight '1_000'"),
        ("kind,a,b,weight\nmust_link,0,1,\u0663\n", "must_link has the weight '\u0663'"),
        ("kind,a,b,asked_at\nmust_link,0,1,99999-01-01\n", "was asked at '99999-01-01'"),
    ],
)
def test_a_malformed_line_is_reported_with_its_number(tmp_path, text, message):
    path = tmp_path / "answers.csv"
    path.write_text(text)
    with pytest.raises(ValueError) as error:  # noqa: PT011
        Constraints.read(path, n_samples=5)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "line 1"),
        ('{"kind": "must_link", "a": 0, "b": 1}\n[1]\n', "line 2"),
        ('{"kind": "must_link", "a": 0, "b": [1]}\n', "line 1: b is [1]"),
        ('{"kind": "must_link", "a": 0}\n', "lacks b: its columns are kind, a"),
    ],
)
def test_a_malformed_json_line_is_reported_with_its_number(tmp_path, text, message):
    path = tmp_path / "answers.jsonl"
    path.write_text(text)
    with pytest.raises(ValueError) as error:  # noqa: PT011
        Constraints.read(path, n_samples=5)
    assert message in str(error.value)


def test_an_unknown_id_is_named(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text("kind,a,b\nmust_link,x,q\n")
    with pytest.raises(ValueError, match=r"answers.csv, line 2: b = 'q' is not one of the 2 ids"):
        Constraints.read(path, ids=["x", "y"])


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.parquet", "a.txt"])
def test_bytes_that_are_no_answer_file_end_in_one_error(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"\xff\xfe\x00garbage\x80")
    with pytest.raises(ValueError, match="a\\."):
        Constraints.read(path, n_samples=5)


def test_the_log_of_a_session_is_no_answer_file_and_there_is_one(tmp_path):
    with pytest.raises(ValueError, match=r"data-answers.log must end in .*\. Name the .csv that"):
        Constraints.read(tmp_path / "data-answers.log", n_samples=5)


def test_numbers_that_a_gap_made_floats_are_still_row_numbers():
    frame = pd.DataFrame(
        {"kind": ["must_link", "closer"], "a": [0, 1], "b": [1, 2], "c": [np.nan, 0]}
    )
    assert Constraints.from_frame(frame, n_samples=3) == Constraints(
        3, must_link=[(0, 1)], closer=[(1, 2, 0)]
    )


def test_numeric_ids_match_whatever_their_type():
    frame = pl.DataFrame({"kind": ["must_link"], "a": [101], "b": [103]})
    c = Constraints.from_frame(frame, ids=[101, 102, 103])
    assert c.must_link.tolist() == [[0, 2]]


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "answers.csv"
    path.write_text("old")

    def interrupt(*args, **settings):
        raise KeyboardInterrupt

    monkeypatch.setattr("csv.writer", interrupt)
    with pytest.raises(KeyboardInterrupt):
        Constraints(2).write(path)
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["answers.csv"]


def test_a_written_file_has_ordinary_permissions(tmp_path):
    Constraints(2).write(tmp_path / "new.csv")
    Path(tmp_path / "plain.csv").write_text("")
    assert (tmp_path / "new.csv").stat().st_mode == (tmp_path / "plain.csv").stat().st_mode


@pytest.mark.parametrize(
    "line",
    [
        '{"kind": "must_link", "a": 0, "b": 1, "b": 2}',
        '{"kind": "must_link", "a": 0, "b": 1, "weight": NaN}',
        '{"kind": "must_link", "a": 0, "b": 1, "weight": Infinity}',
    ],
)
def test_json_that_its_standard_forbids_is_refused(line, tmp_path):
    (tmp_path / "answers.jsonl").write_text(line + "\n")
    with pytest.raises(ValueError, match=r"answers.jsonl, line 1: .*(twice|JSON does not have)"):
        Constraints.read(tmp_path / "answers.jsonl", n_samples=5)


def write_parquet(path, **columns):
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.table(columns), path)


def test_text_that_parquet_holds_as_bytes_is_read_as_text(tmp_path):
    path = tmp_path / "answers.parquet"
    write_parquet(path, kind=[b"must_link"], a=[b"x"], b=[b"y"], weight=[b"2"])
    c = Constraints.read(path, ids=["x", "y"])
    assert c == Constraints(ids=["x", "y"], must_link=[(0, 1)], weights=[2.0])
    write_parquet(path, kind=["must_link"], a=[b"\xff"], b=[b"y"])
    with pytest.raises(ValueError, match=r"answers.parquet, row 1: a = .* is not UTF-8 text"):
        Constraints.read(path, ids=["x", "y"])


def test_a_null_in_parquet_is_an_empty_cell(tmp_path):
    path = tmp_path / "answers.parquet"
    write_parquet(path, kind=["must_link", "must_link"], a=["x", "None"], b=["None", None])
    with pytest.raises(ValueError, match=r"row 2: b is empty"):
        Constraints.read(path, ids=["x", "None"])


def test_a_frame_with_pandas_own_missing_value_is_read():
    import pandas as pd

    frame = pd.DataFrame(
        {"kind": ["must_link"], "a": ["x"], "b": ["y"], "c": [pd.NA]}, dtype=object
    )
    assert Constraints.from_frame(frame, ids=["x", "y"]).n_answers == 1


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_the_longest_name_and_the_last_time_can_be_read_again(ending, tmp_path):
    c = Constraints(
        ids=["=1+1", "@" * 10_000],
        must_link=[(0, 1)],
        asked_at=["9999-12-31T23:59:59.999999"],
    )
    c.write(tmp_path / f"answers.{ending}")
    assert Constraints.read(tmp_path / f"answers.{ending}", ids=c.ids) == c


def test_a_parquet_time_beyond_the_calendar_is_one_line(tmp_path):
    import pyarrow

    late = pyarrow.array([2**61], pyarrow.timestamp("us"))
    path = tmp_path / "answers.parquet"
    write_parquet(path, kind=["must_link"], a=[0], b=[1], asked_at=late)
    with pytest.raises(ValueError, match=r"answers.parquet: column .asked_at. holds timestamp"):
        Constraints.read(path, n_samples=2)


def test_all_that_is_wrong_with_a_file_is_said_at_once(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text("kind,a,b\nmust_link,0,2\ndiffernt,0,1\nsame,1,999\nsame,x,3\nsame,-1,3\n")
    with pytest.raises(ValueError, match="line 3: kind 'differnt'") as caught:
        Constraints.read(path, n_samples=5)
    for problem in (
        "line 4: b = 999 is outside the 5 rows of X",
        "line 5: a = 'x' is not a row number",
        "line 6: a = -1 is outside the 5 rows of X",
    ):
        assert problem in str(caught.value)


def test_a_row_named_twice_is_shown_by_its_id(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text("kind,a,b\nsame,C1,C2\nsame,C3,C3\n")
    with pytest.raises(ValueError, match=r"line 3: must_link = \('C3', 'C3'\) names a row twice"):
        Constraints.read(path, ids=["C1", "C2", "C3"])
    with pytest.raises(ValueError, match=r"must_link\[0\] = \('C3', 'C3'\) names a row twice"):
        Constraints(must_link=[("C3", "C3")], ids=["C1", "C2", "C3"])


def test_weights_times_and_rows_that_are_wrong_are_listed_with_the_rest_in_order(tmp_path):
    path = tmp_path / "answers.csv"
    head = "kind,a,b,weight,asked_at,seconds\n"
    path.write_text(
        head + "same,0,1,-1,,\nsame,0,2,lots,,\nsame,1,1,,,\nsame,2,3,1e99,soon,\nsame,2,4,,,-2\n"
    )
    problems = [
        "line 2: must_link has the weight -1.0",
        "line 3: must_link has the weight 'lots'",
        "line 4: must_link = (1, 1) names a row twice",
        "line 5: must_link has the weight 1e+99",
        "line 5: must_link was asked at 'soon'",
        "line 6: must_link took '-2' seconds",
    ]
    for kind in ("same", "sane"):  # an unknown word beside them hides none of them
        path.write_text(path.read_text().replace("same,0,2", f"{kind},0,2"))
        with pytest.raises(ValueError, match=r"answers.csv, line 2") as caught:
            Constraints.read(path, n_samples=5)
        said = str(caught.value)
        wanted = [one for one in problems if kind == "same" or "line 3" not in one]
        places = [said.find(one) for one in wanted]
        assert min(places) >= 0
        assert places == sorted(places)
        assert ("kind 'sane' is not one of" in said) == (kind == "sane")


@pytest.mark.parametrize("name", ["answers.tsv", "answers.json", "answers.csv.gz", "a.jsonl.gz"])
def test_answers_are_read_from_the_formats_that_data_come_in(tmp_path, name):
    answers = [{"kind": "same", "a": 0, "b": 1}, {"kind": "different", "a": 0, "b": 2}]
    frame = pd.DataFrame(answers)
    text = json.dumps(answers)
    if ".jsonl" in name:
        text = frame.to_json(orient="records", lines=True)
    elif ".json" not in name:
        text = frame.to_csv(index=False, sep="\t" if ".tsv" in name else ",")
    content = text.encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    expected = Constraints(3, must_link=[(0, 1)], cannot_link=[(0, 2)])
    assert Constraints.read(tmp_path / name, n_samples=3) == expected


def test_a_list_of_answers_names_the_row_that_is_wrong(tmp_path):
    (tmp_path / "answers.json").write_text('[{"kind": "same", "a": 0, "b": [1]}]')
    with pytest.raises(ValueError, match=r"answers.json, row 0: b is \[1\]"):
        Constraints.read(tmp_path / "answers.json", n_samples=3)
