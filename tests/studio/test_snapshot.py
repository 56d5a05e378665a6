"""Snapshots: clusters keep their numbers, and rows are chosen that show them."""

import json

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from likewise.labeling import Event, Question
from likewise.studio.row_gallery import RowGallery
from likewise.studio.snapshot import (
    ClusterCard,
    Snapshot,
    borderline_of,
    cluster_names,
    likeliest_clusters,
    map_colors,
    pairs_across,
    stable_numbers,
    typical_of,
)
from likewise.studio.snapshot_view import map_bytes, telling_columns

PLACES = np.array([[0.0, 0.0], [1.0, 0.5], [2.0, 1.0], [0.5, 0.0]], dtype=np.float32)
SNAPSHOT = Snapshot(
    version=7,
    n_events=3,
    labels=np.array([0, 0, 4, -1], dtype=np.int32),
    likeliest=np.zeros((4, 3), dtype=np.int32),
    shares=np.zeros((4, 3), dtype=np.float32),
    clusters=(ClusterCard(0, 2, 0.5, (0,), (1,)), ClusterCard(4, 1, 0.0, (2,), ())),
    places=PLACES,
    layout=2,
)


def test_clusters_keep_their_numbers_when_labels_are_renamed():
    old = np.array([5, 5, 5, 2, 2, 7, 7, -1])
    new = np.array([0, 0, 0, 2, 2, 1, 1, 1])
    assert stable_numbers(old, new).tolist() == [5, 7, 2]


def test_a_cluster_that_was_split_keeps_its_number_in_the_larger_part():
    old = np.array([0, 0, 0, 0, 0, 1])
    new = np.array([1, 1, 0, 0, 0, 2])
    assert stable_numbers(old, new).tolist() == [0, 2, 1]


def test_at_first_clusters_are_numbered_from_0():
    assert stable_numbers(None, np.array([1, 0, 2])).tolist() == [0, 1, 2]


@given(st.lists(st.integers(-1, 5), min_size=1, max_size=30), st.integers(0, 999))
def test_numbers_are_different_and_the_same_clustering_keeps_them(labels, seed):
    labels = np.unique(labels, return_inverse=True)[1]
    old = np.random.default_rng(seed).integers(-1, 9, size=len(labels))
    numbers = stable_numbers(old, labels)
    assert len(set(numbers.tolist())) == len(numbers)
    assert_array_equal(stable_numbers(numbers[labels], labels), numbers)


def test_the_likeliest_clusters_come_first_and_what_is_missing_is_none():
    clusters, shares = likeliest_clusters(np.array([[0.2, 0.8], [1.0, 0.0]]))
    assert clusters.tolist() == [[1, 0, -1], [0, 1, -1]]
    np.testing.assert_allclose(shares[0], [0.8, 0.2, 0])


def test_typical_rows_are_sure_and_in_the_middle_and_borderline_ones_are_not_sure():
    rows = np.array([10, 11, 12])
    assert typical_of(rows, np.ones(3), PLACES[:3])[0] == 11
    assert borderline_of(rows, np.array([[0.9, 0.1, 0], [0.5, 0.4, 0], [1, 0, 0]])) == (11, 10)


def test_numbers_that_no_byte_holds_are_gray():
    assert map_colors(np.array([0, -1, 254, 255, 300])).tolist() == [0, 255, 254, 255, 255]


def test_the_map_can_be_read_back():
    content = map_bytes(SNAPSHOT, {4: "cats"}, only_labels=False)
    length = int.from_bytes(content[:4], "little")
    header = json.loads(content[4 : 4 + length])
    assert (4 + length) % 4 == 0
    assert (header["version"], header["layout"], header["n_shown"]) == (7, 2, 4)
    assert [cluster["name"] for cluster in header["clusters"]] == ["cluster 0", "cats"]
    body = content[4 + length :]
    assert_array_equal(np.frombuffer(body[:32], "<f4").reshape(4, 2), PLACES)
    assert np.frombuffer(body[32:48], "<u4").tolist() == [0, 1, 2, 3]
    assert list(body[48:]) == [0, 0, 4, 255]
    only = map_bytes(SNAPSHOT, {}, only_labels=True)
    assert list(only[-4:]) == [0, 0, 4, 255]
    assert len(only) < len(content) - 40


def test_a_name_follows_its_rows_and_the_last_one_holds():
    def name(event_id, rows, text):
        return Event("name", event_id, Question("name", rows), text)

    names = [name("a", (0, 1, 2), "cats"), name("b", (2,), "dogs"), name("c", (3,), "none")]
    assert cluster_names(names, SNAPSHOT.labels) == {0: "cats", 4: "dogs"}
    assert cluster_names([*names, name("d", (0,), "")], SNAPSHOT.labels) == {4: "dogs"}


def test_a_split_is_settled_by_pairs_from_end_to_end():
    assert pairs_across((0, 1, 2, 3), PLACES) == [(0, 2), (0, 1), (1, 2)]
    assert pairs_across((5, 6), None) == [(5, 6)]


def test_columns_that_describe_a_cluster_are_shown_first():
    columns = {
        "noise": np.array([0.0, 9.0, 1.0, 8.0]),
        "kind": np.array(["a", "a", "b", "b"]),
        "same": np.ones(4),
    }
    gallery = RowGallery("t", "table", 4, columns=columns)
    described = ClusterCard(1, 2, 1.0, (1, 3), (), ("not kind=b",), ("kind",))
    cards = [ClusterCard(0, 2, 1.0, (0, 2), ()), described]
    assert telling_columns(cards, gallery) == ["kind", "noise", "same"]
    assert telling_columns([cards[0]], gallery) == []
