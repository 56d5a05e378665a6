"""What happened, in words: the history, and the doubts about it."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from likewise.labeling import (
    ACTIONS,
    KINDS,
    NAME,
    TITLES,
    UNDOABLE,
    Event,
    Question,
)
from likewise.studio.people_agreement import agreements, disputes, other_views, person_records
from likewise.studio.question_view import LABELS, POSITIONS, answer_json
from likewise.studio.row_gallery import RowGallery
from likewise.studio.snapshot import Snapshot

MOST_ROWS = 12  # of an event, in the history
MOST_PICTURES = 3  # of an event
MOST_DISPUTES = 100


def history_json(
    events: Sequence[Event], undone: set[str], gallery: RowGallery, *, before: int, limit: int
) -> dict[str, Any]:
    """Some events, the newest first, from the one numbered `before` backwards."""
    kept: list[dict[str, Any]] = []
    number = min(before, len(events))
    while number > 0 and len(kept) < limit:
        number -= 1
        event = events[number]
        if event.kind in (*UNDOABLE, "skip", "undo"):
            kept.append(event_json(event, undone, gallery))
    return {"events": kept, "next": number if number > 0 else None}


def event_json(event: Event, undone: set[str], gallery: RowGallery) -> dict[str, Any]:
    """One event in a line."""
    rows = () if event.question is None else event.question.shown[:MOST_ROWS]
    return {
        "id": event.id,
        "kind": event.kind if event.kind != "action" else event.question.kind,  # type: ignore[union-attr]
        "by": event.annotator,
        "at": event.at,
        "summary": summary(event, gallery),
        "undone": event.id in undone,
        "can_undo": event.kind in UNDOABLE and event.id not in undone,
        "seconds": event.seconds,
        "rows": list(rows),
        "pictures": [gallery.picture(row, 96) for row in rows_meant(event)]
        if gallery.has_images
        else [],
    }


def rows_meant(event: Event) -> list[int]:
    """The rows that somebody said something about: with a row, the one it was put beside."""
    question = event.question
    if question is None or event.kind == "skip":
        return [] if question is None else list(question.rows[:1])
    beside = row_chosen(question, event.choice)
    if beside is not None:
        return [*question.rows, beside]
    firsts = [group[0] for group in question.groups] if question.kind in ACTIONS else []
    return [*question.rows, *firsts][:MOST_PICTURES]


def row_chosen(question: Question, choice: Any) -> int | None:
    """The row that stands for the group that was chosen."""
    is_group = question.kind == "group" and isinstance(choice, int)
    return question.groups[choice][0] if is_group else None


def summary(event: Event, gallery: RowGallery) -> str:
    """What somebody did, in words."""
    question = event.question
    if event.kind == "undo":
        return "took something back"
    if question is None:
        return event.kind
    if question.kind == NAME:
        named = f"named a cluster “{event.choice}”"
        return named if event.choice else "took the name of a cluster away"
    if question.kind in ACTIONS:
        return action_summary(question, gallery)
    about = gallery.name(question.rows[0]) if question.rows else ""
    if event.kind == "skip":
        return f"skipped a question about {about}"
    verb = {"keep": "kept: ", "flip": "changed to: ", "settle": "settled: "}.get(event.kind, "")
    if question.kind not in KINDS:
        return f"{len(question.rows)} rows from a file"
    if question.kind in ("pair", "review") and len(question.rows) == 2:
        about += f" and {gallery.name(question.rows[1])}"
    return f"{verb}{about}: {choice_words(question, event.choice, gallery)}"


def action_summary(question: Question, gallery: RowGallery) -> str:
    """An action in words."""
    names = [gallery.name(group[0]) for group in question.groups]
    if question.kind == "merge":
        return f"joined the clusters of {' and '.join(names)}"
    if question.kind == "split" and names:
        return f"set the clusters of {' and '.join(names)} apart"
    if question.kind == "split":
        return f"said that {len(question.rows)} rows are more than one cluster"
    if question.kind == "pure":
        return f"said that {len(question.rows)} rows belong together"
    return f"moved {gallery.name(question.rows[0])} to the cluster of {names[0] if names else ''}"


def choice_words(question: Question, choice: Any, gallery: RowGallery) -> str:
    """A choice as somebody would say it."""
    if isinstance(choice, str):
        return LABELS.get(choice, choice)
    if question.kind == "group":
        return f"with {gallery.name(question.groups[choice][0])}"
    if question.kind == "odd_one_out":
        return f"{gallery.name(question.rows[choice])} ({POSITIONS[choice]}) is the odd one out"
    chosen = [gallery.name(question.rows[1:][i]) for i in choice]
    return f"with {', '.join(chosen)}" if chosen else "with none of them"


def prompt_of(question: Question, gallery: RowGallery) -> str:
    """The words of a question."""
    name = gallery.name(question.rows[0]) if question.rows else ""
    return TITLES[question.kind].format(name=name)


def doubts_json(
    events: Sequence[Event],
    by_id: dict[str, Event],
    snapshot: Snapshot | None,
    gallery: RowGallery,
    *,
    X: np.ndarray | None = None,
    names: Mapping[int, str] | None = None,
    hidden_from: str | None = None,
) -> dict[str, Any]:
    """Contradictions, doubtful answers, disagreements, and how people answer.

    In the features X those are found who split a cluster; those who join two need none.
    `names` are those of clusters, `hidden_from` is somebody who sees their own answers only.
    """
    views = [] if hidden_from is not None else views_json(events, snapshot, gallery, X, names or {})
    return {
        "conflicts": conflicts_json(snapshot, by_id, hidden_from),
        "doubtful": doubtful_json(snapshot, by_id, gallery, hidden_from),
        "disagreements": [] if hidden_from is not None else disagreements_json(events, gallery),
        "views": views,
        "people": people_json(events, hidden_from),
        "agreement": []
        if hidden_from is not None
        else [[a, b, round(share, 4), n] for a, b, share, n in agreements(events)],
    }


def conflicts_json(
    snapshot: Snapshot | None, by_id: dict[str, Event], hidden_from: str | None
) -> list[dict[str, Any]]:
    """Contradictions, each with the answers that prove it."""
    found = []
    for message, ids in () if snapshot is None else snapshot.conflicts:
        answers = [by_id[i] for i in ids if i in by_id]
        if hidden_from is None or all(e.annotator == hidden_from for e in answers):
            listed = [
                {
                    "event": event.id,
                    "rows": [] if event.question is None else list(event.question.rows),
                    "kind": "" if event.question is None else event.question.kind,
                    "by": event.annotator,
                }
                for event in answers
            ]
            found.append({"message": message, "answers": listed})
    return found


def doubtful_json(
    snapshot: Snapshot | None,
    by_id: dict[str, Event],
    gallery: RowGallery,
    hidden_from: str | None,
) -> list[dict[str, Any]]:
    """Answers that the others make unlikely, with what they say instead."""
    found = []
    for event_id, chance, flipped in () if snapshot is None else snapshot.doubts:
        event = by_id.get(event_id)
        if event is None or event.question is None:
            continue
        if hidden_from is not None and event.annotator != hidden_from:
            continue
        question = event.question
        instead = None if flipped is None else choice_words(question, flipped, gallery)
        found.append(
            {
                "event": event_id,
                "question": prompt_of(question, gallery),
                "choice": choice_words(question, event.choice, gallery),
                "flipped": instead,
                "by": event.annotator,
                "rows": list(question.shown),
                "cards": {str(row): gallery.card(row) for row in question.shown},
                "differs": gallery.differing_columns(question.shown),
                "given_row": row_chosen(question, event.choice),
                "flipped_row": row_chosen(question, flipped),
                "chance": float(chance),
                "against": "other answers say otherwise"
                if instead is None
                else f"other answers say: {instead}",
            }
        )
    return found


def disagreements_json(events: Sequence[Event], gallery: RowGallery) -> list[dict[str, Any]]:
    """Questions that people answered differently, open ones first."""
    found = []
    ordered = sorted(disputes(events), key=lambda dispute: dispute.settlement is not None)
    for votes, settlement in ordered[:MOST_DISPUTES]:
        question = votes[-1].question
        assert question is not None  # a vote is an answer to one
        found.append(
            {
                "kind": question.kind,
                "question": prompt_of(question, gallery),
                "rows": list(question.rows),
                "groups": [list(group) for group in question.groups],
                "cards": {str(row): gallery.card(row) for row in question.shown},
                "differs": gallery.differing_columns(question.shown),
                "votes": [
                    {
                        "by": vote.annotator,
                        "choice": vote.choice,
                        "label": choice_words(vote.question, vote.choice, gallery),
                    }
                    for vote in votes
                    if vote.question is not None
                ],
                "answers": [answer_json(question, choice) for choice in question.offered],
                "settled": settlement is not None,
                "settled_as": None
                if settlement is None
                else choice_words(question, settlement.choice, gallery),
            }
        )
    return found


def views_json(
    events: Sequence[Event],
    snapshot: Snapshot | None,
    gallery: RowGallery,
    X: np.ndarray | None,
    names: Mapping[int, str],
) -> list[dict[str, Any]]:
    """Who sees the clusters differently, and the rows that a split is about."""
    if snapshot is None or len({event.annotator for event in events}) < 2:
        return []
    return [
        {
            "by": view.name,
            "kind": view.kind,
            "clusters": [names.get(one) or f"cluster {one}" for one in view.clusters],
            "cards": [gallery.card(row) for row in view.rows[:MOST_PICTURES]],
            "n": view.n_answers,
        }
        for view in other_views(events, snapshot.labels, X)
    ]


def people_json(events: Sequence[Event], hidden_from: str | None) -> list[dict[str, Any]]:
    """How people answer; those below 300 ms are flagged, not deleted."""
    return [
        {
            "name": record.name,
            "n": record.n_answers,
            "reliability": None if not record.n_compared else round(record.reliability, 4),
            "n_compared": record.n_compared,
            "consistency": None if math.isnan(record.consistency) else round(record.consistency, 4),
            "median_seconds": record.median_seconds,
            "n_hasty": record.n_hasty,
        }
        for record in person_records(events)
        if hidden_from in (None, record.name)
    ]
