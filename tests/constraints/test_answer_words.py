"""Answers as people write them: words for kinds, ids in pairs, labels of some rows, notes."""

import pandas as pd
import polars as pl
import pytest

from likewise import ITML, Constraints, COPKMeans, GuidedClustering
from likewise.datasets import load_iris

IDS = ["W1", "W2", "W3", "W4"]


def read(tmp_path, text, ids=IDS, name="answers.csv"):
    (tmp_path / name).write_text(text)
    return Constraints.read(tmp_path / name, ids=ids)


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("must-link", "must_link"),
        ("MUST_LINK", "must_link"),
        (" Must link ", "must_link"),
        ("same", "must_link"),
        ("Together", "must_link"),
        ("different", "cannot_link"),
        ("cannot-link", "cannot_link"),
        ("can't link", "cannot_link"),
        ("apart", "cannot_link"),
    ],
)
def test_kinds_are_read_in_the_words_that_people_write(tmp_path, word, kind):
    answers = read(tmp_path, f"kind,a,b\n{word},W1,W2\n")
    assert answers == Constraints(ids=IDS, **{kind: [(0, 1)]})


@pytest.mark.parametrize("word", ["can't tell", "unsure", "Not sure", "don’t know"])
def test_no_answer_is_read_in_the_words_that_people_write(tmp_path, word):
    answers = read(tmp_path, f"kind,a,b,c\n{word},W1,W2,W3\n")
    assert answers.undecided.tolist() == [[0, 1, 2]]


def test_all_wrong_words_and_ids_are_listed_with_what_may_be_meant(tmp_path):
    text = "kind,a,b\nmusst_link,W1,W2\nsame,W1,w33\nsame,W1,W2\nfoo,W1,W2\n"
    with pytest.raises(ValueError, match=r"line 2: .*Did you mean 'must_link'\?") as caught:
        read(tmp_path, text)
    assert "line 3: b = 'w33' is not one of the 4 ids. Did you mean 'W3'?" in str(caught.value)
    assert "?." not in str(caught.value)
    assert "line 5: kind 'foo' is not one of" in str(caught.value)


def test_columns_in_capitals_and_ids_with_spaces_are_understood(tmp_path):
    answers = read(tmp_path, "Kind, A ,B\nsame, W1,W2 \n")
    assert answers == Constraints(ids=IDS, must_link=[(0, 1)])


def test_a_note_beside_the_answers_is_named_and_not_fatal(tmp_path):
    with pytest.warns(UserWarning, match=r"answers.csv: not used for answers: note\."):
        answers = read(tmp_path, "kind,a,b,note\nsame,W1,W2,sure\n")
    assert answers == Constraints(ids=IDS, must_link=[(0, 1)])


def test_a_wrong_header_is_named_with_its_file_and_what_it_has(tmp_path):
    with pytest.raises(ValueError, match=r"answers.csv lacks kind, b: its columns are a, x\."):
        read(tmp_path, "a,x\nW1,W2\n")


@pytest.mark.parametrize(
    ("header", "hint"),
    [
        ("W1,W2,same", "Is the first line an answer? Put a line with the names of the columns"),
        ("id,lable", "Is 'lable' meant by 'label'?"),
        ("wine_id,segment", "If 'segment' is the label of each row, rename it to label."),
    ],
)
def test_a_header_that_is_nearly_right_says_how_it_becomes_so(tmp_path, header, hint):
    with pytest.raises(ValueError, match="lacks kind, ") as caught:
        read(tmp_path, f"{header}\n")
    assert hint in str(caught.value)


@pytest.mark.parametrize("header", ["Type,Left,Right", "a,x", "one,two,three"])
def test_a_header_of_other_words_is_not_guessed_at(tmp_path, header):
    with pytest.raises(ValueError, match=r"a label has id and label\.( If .* to label\.)?$"):
        read(tmp_path, f"{header}\n")


@pytest.mark.parametrize("word", ["NA", "?", "null", "-1", " n/a "])
def test_words_for_no_label_are_no_class_and_said(tmp_path, word):
    text = f"id,label\nW1,a\nW2,{word}\nW3,a\nW4,{word}\n"
    with pytest.warns(UserWarning, match="line 3: .* is taken for no label, and so are 1 more"):
        assert read(tmp_path, text) == Constraints(ids=IDS, must_link=[(0, 2)])


def test_pairs_name_rows_by_id_in_python():
    answers = Constraints(ids=IDS, must_link=[("W1", "W2")], closer=[("W4", "W1", "W2")])
    assert answers == Constraints(ids=IDS, must_link=[(0, 1)], closer=[(3, 0, 1)])
    assert Constraints(ids=IDS, must_link=[(0, "W2")]) == Constraints(ids=IDS, must_link=[(0, 1)])
    with pytest.raises(ValueError, match=r"must_link\[0\] = 'W9' is not one of the 4 ids"):
        Constraints(ids=IDS, must_link=[("W9", "W1")])
    with pytest.raises(ValueError, match=r"must_link\[0\] = .* must be 2 row numbers"):
        Constraints(4, must_link=[("W1", "W2")])


@pytest.mark.parametrize("header", ["id,label", "row,Class", "wine_id,label", "a,group"])
def test_labels_of_some_rows_are_answers(tmp_path, header):
    answers = read(tmp_path, f"{header}\nW1,red\nW3,white\nW2,red\nW4,\n")
    labels = Constraints.from_partial_labels(["red", "red", "white", None])
    assert answers.must_link.tolist() == labels.must_link.tolist()
    assert answers.cannot_link.tolist() == labels.cannot_link.tolist()
    assert list(answers.ids) == IDS


def test_labels_by_row_number_and_in_other_formats(tmp_path):
    expected = Constraints.from_partial_labels([1, None, 1, 2])
    frame = pd.DataFrame({"row": [0, 2, 3], "label": [1, 1, 2]})
    assert Constraints.from_frame(frame, n_samples=4) == expected
    frame.to_parquet(tmp_path / "labels.parquet")
    assert Constraints.read(tmp_path / "labels.parquet", n_samples=4) == expected
    frame.to_json(tmp_path / "labels.jsonl", orient="records", lines=True)
    assert Constraints.read(tmp_path / "labels.jsonl", n_samples=4) == expected


def test_labels_that_contradict_each_other_are_all_listed(tmp_path):
    text = "id,label\nW1,a\nW1,b\nW9,a\nW2,a\nW2,a\n"
    with pytest.raises(ValueError, match=r"line 3: id = W1 has the label 'b', and 'a' at .*line 2"):
        read(tmp_path, text)
    with pytest.raises(ValueError, match=r"line 4: id = 'W9' is not one of the 4 ids"):
        read(tmp_path, text)
    with pytest.raises(ValueError, match=r"Keep one label per row\.$"):
        read(tmp_path, text)


IRIS = load_iris()
PAIRS = Constraints.from_labels(IRIS.y, n_must_link=8, n_cannot_link=8, random_state=0)


@pytest.mark.parametrize("make", [ITML, lambda: COPKMeans(3), lambda: GuidedClustering(3)])
@pytest.mark.parametrize("form", ["dict", "pandas", "polars"])
def test_fit_takes_a_dict_or_a_frame_of_answers(make, form):
    by_kind = {"must_link": PAIRS.must_link.tolist(), "cannot_link": PAIRS.cannot_link.tolist()}
    answers = by_kind if form == "dict" else PAIRS.to_frame(form)
    model = make().set_params(random_state=0).fit(IRIS.X, constraints=answers)
    expected = make().set_params(random_state=0).fit(IRIS.X, constraints=PAIRS)
    for name in ("labels_", "metric_"):
        if hasattr(expected, name):
            assert (getattr(model, name) == getattr(expected, name)).all()


def test_a_dict_with_an_unknown_kind_is_an_error_with_the_nearest_one():
    with pytest.raises(TypeError, match=r"'mustlink'\] is no kind .* Did you mean 'must_link'"):
        ITML().fit(IRIS.X, constraints={"mustlink": [(0, 1)]})


def test_a_frame_of_labels_guides_the_clusters():
    frame = pl.DataFrame({"row": [0, 60, 120, 1, 61], "label": ["a", "b", "c", "a", "b"]})
    model = GuidedClustering(3, random_state=0).fit(IRIS.X, constraints=frame)
    assert len(set(model.labels_[[0, 60, 120]])) == 3
