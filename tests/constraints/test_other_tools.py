import json

import numpy as np
import pandas as pd
import pytest

from likewise.constraints import read_dedupe_training, read_splink_labels

RECORDS = [
    {"name": "Ann", "city": "Rome", "tags": ("a", "b")},
    {"name": "Anne", "city": None, "tags": ()},
    {"name": "Bob", "city": "Oslo", "tags": ()},
]


def as_tuple(*records):
    return {"__class__": "tuple", "__value__": list(records)}


def test_a_training_file_of_dedupe_becomes_pairs(tmp_path):
    tags = {"__class__": "frozenset", "__value__": ["b", "a"]}
    training = {
        "match": [as_tuple({"name": "Ann", "tags": tags}, {"name": "Anne", "city": None})],
        "distinct": [[{"name": "Bob"}, {"name": "Ann"}]],
    }
    path = tmp_path / "training.json"
    path.write_text(json.dumps(training))
    answers = read_dedupe_training(path, RECORDS)
    assert answers.must_link.tolist() == [[0, 1]]
    assert answers.cannot_link.tolist() == [[2, 0]]
    frame = pd.DataFrame(RECORDS).drop(columns="tags")
    training["match"] = []
    assert read_dedupe_training(training, frame).cannot_link.tolist() == [[2, 0]]


def test_records_that_are_no_rows_are_all_named(tmp_path):
    training = {"match": [[{"name": "Cy"}, {"name": "Ann"}], [{"name": "Ann"}]]}
    with pytest.raises(ValueError, match=r"match\[0\] has \{'name': 'Cy'\}.*match\[1\] is not"):
        read_dedupe_training(training, RECORDS)
    with pytest.raises(ValueError, match="neither match nor distinct"):
        read_dedupe_training({"pairs": []}, RECORDS)
    (tmp_path / "t.json").write_text("{")
    with pytest.raises(ValueError, match=r"t\.json is not JSON"):
        read_dedupe_training(tmp_path / "t.json", RECORDS)


def test_splink_scores_become_weights(tmp_path):
    labels = pd.DataFrame(
        {
            "unique_id_l": ["a", "a", "b"],
            "unique_id_r": ["b", "c", "c"],
            "clerical_match_score": [1.0, 0.25, 0.5],
        }
    )
    answers = read_splink_labels(labels, ["a", "b", "c"])
    assert answers.must_link.tolist() == [[0, 1]]
    assert answers.cannot_link.tolist() == [[0, 2]]
    assert answers.undecided_pair.tolist() == [[1, 2]]
    np.testing.assert_allclose(answers.weights, [1, 0.5, 0])
    labels.to_csv(tmp_path / "labels.csv", index=False)
    assert read_splink_labels(tmp_path / "labels.csv", ["a", "b", "c"]) == answers


def test_ids_of_two_tables_need_their_sources():
    labels = pd.DataFrame(
        {
            "unique_id_l": [1],
            "source_dataset_l": ["x"],
            "unique_id_r": [1],
            "source_dataset_r": ["y"],
            "clerical_match_score": [1],
        }
    )
    answers = read_splink_labels(labels, [1, 2, 1], sources=["x", "x", "y"])
    assert answers.must_link.tolist() == [[0, 2]]
    with pytest.raises(ValueError, match="ids are not unique"):
        read_splink_labels(labels, [1, 2, 1])
    plain = labels.drop(columns="source_dataset_l")
    with pytest.raises(ValueError, match="lack source_dataset_l"):
        read_splink_labels(plain, [1, 2, 1], sources=["x", "x", "y"])


def test_a_label_that_cannot_be_read_is_named():
    columns = {"unique_id_l": [1], "unique_id_r": [9], "clerical_match_score": [2.0]}
    with pytest.raises(ValueError, match=r"9 is not one of the ids.*2\.0, not between 0 and 1"):
        read_splink_labels(pd.DataFrame(columns), [1, 2])
    with pytest.raises(ValueError, match="lack clerical_match_score"):
        read_splink_labels(pd.DataFrame({"unique_id_l": [1], "unique_id_r": [2]}), [1, 2])
