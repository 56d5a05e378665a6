"""Snapshots as the page gets them: the map as bytes, clusters and rows as JSON.

The map, little-endian:

    uint32           length of the header
    header           JSON, padded with spaces to a multiple of 4
    float32 x, y     n_shown times                              unless only labels are asked for
    uint32           row numbers, n_shown times                 unless only labels are asked for
    uint8            number of the cluster, n_shown times; 255: none
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from likewise.studio.row_gallery import RowGallery
from likewise.studio.snapshot import ClusterCard, Snapshot, map_colors


def map_bytes(snapshot: Snapshot, names: Mapping[int, str], *, only_labels: bool) -> bytes:
    """The map in one piece."""
    colors = map_colors(snapshot.labels)
    n_rows = len(colors)
    header = {
        "version": snapshot.version,
        "layout": snapshot.layout,
        "n": n_rows,
        "n_shown": n_rows,
        "clusters": [
            {
                "cluster": card.number,
                "name": names.get(card.number, default_name(card.number)),
                "color_index": card.number,
                "size": card.size,
            }
            for card in snapshot.clusters
        ],
    }
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 4)
    parts = [len(text).to_bytes(4, "little"), text]
    if not only_labels:
        parts.append(snapshot.places.astype("<f4").tobytes())
        parts.append(np.arange(n_rows, dtype="<u4").tobytes())
    return b"".join([*parts, colors.tobytes()])


def clusters_json(
    snapshot: Snapshot, names: Mapping[int, str], gallery: RowGallery
) -> dict[str, Any]:
    """Every cluster in a few rows, the largest first."""
    cards = sorted(snapshot.clusters, key=lambda card: -card.size)
    return {
        "version": snapshot.version,
        "differs": telling_columns(cards, gallery),
        "clusters": [
            {
                "cluster": card.number,
                "name": names.get(card.number, default_name(card.number)),
                "is_named": card.number in names,
                "color_index": card.number,
                "size": card.size,
                "share_known": round(card.share_known, 4),
                "words": list(card.words),
                "typical": gallery.cards(card.typical),
                "borderline": gallery.cards(card.borderline),
            }
            for card in cards
        ],
    }


def telling_columns(cards: Sequence[ClusterCard], gallery: RowGallery) -> list[str]:
    """Names of columns: those that describe a cluster, then by how typical rows differ."""
    typical = [card.typical[0] for card in cards if card.typical]
    described = {column for card in cards for column in card.columns}
    columns = gallery.differing_columns(typical) if len(typical) > 1 else []
    return sorted(columns, key=lambda name: name not in described)


def row_json(
    snapshot: Snapshot | None, names: Mapping[int, str], gallery: RowGallery, row: int
) -> dict[str, Any]:
    """A row and the clusters it may belong to, the likeliest first."""
    unknown: dict[str, Any] = {
        "cluster": None,
        "color_index": None,
        "name": None,
        "memberships": [],
    }
    if snapshot is None:
        return {"card": gallery.card(row), **unknown}
    number = int(snapshot.labels[row])
    pairs = zip(snapshot.likeliest[row].tolist(), snapshot.shares[row].tolist())
    memberships = [[other, round(share, 4)] for other, share in pairs if other >= 0]
    if number < 0:
        return {"card": gallery.card(row), **unknown, "memberships": memberships}
    name = names.get(number, default_name(number))
    where = {"cluster": number, "color_index": number, "name": name}
    return {"card": gallery.card(row), **where, "memberships": memberships}


def default_name(number: int) -> str:
    """Of a cluster that nobody named: its number in clusters.csv."""
    return f"cluster {number}"
