"""Answers from a file as events: those of one screen are one event.

A file has links and the screen that they came from, but no question. A group answer is known by its
shape, so that looks at a row vote as they did in the session that the file came from:

    must-links of one row that share 1/2, cannot-links of it that share 1/2   the group chosen
    two cannot-links of one row or more that share 1                          a new group; another,
                                                        where the same row is asked about next
    cannot-links of one row with weight 0                                     nowhere
    two undecided pairs of one row or more with weight 0                      can't tell

A screen that shows one group, before two are known or after eight others, looks like a pair: at the
beginning of a file, if group answers follow, and after "another" it is read as a group answer too.
All else stays what it is, links with weights.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b

from likewise.constraints import Answer, Constraints
from likewise.labeling.answer_constraints import LOOK
from likewise.labeling.events import Event
from likewise.labeling.questions import ANOTHER, CANT_TELL, IMPORTED, NEW, NOWHERE, Question

ROUNDING = 1e-6  # of weights in a file


def events_from(constraints: Constraints, name: str = "file") -> list[Event]:
    """Answers that came from elsewhere as events, those of one screen as one.

    Their ids are the names of their screens, or follow from their content, so that answers that are
    imported twice count once.
    """
    if constraints.exclusive:
        warnings.warn(
            f"{len(constraints.exclusive)} exclusive groups are rules about clusters and no "
            "answers: they are left out here. Keep their file for likewise cluster.",
            UserWarning,
            stacklevel=3,
        )
    answers = list(constraints.answers())
    by_screen: dict[str, list[Answer]] = {}
    repeats: dict[str, int] = {}
    for answer in answers:
        screen = answer.screen
        if screen is None:
            about = (answer.kind, answer.points, answer.weight, answer.annotator)
            content = repr((*about, str(answer.asked_at)))
            repeats[content] = repeats.get(content, 0) + 1
            digest = blake2b(f"{content}{repeats[content]}".encode(), digest_size=8).hexdigest()
            screen = f"{name}-{digest}"
        by_screen.setdefault(screen, []).append(answer)
    return read_group_answers(by_screen)


def read_group_answers(screens: Mapping[str, Sequence[Answer]]) -> list[Event]:
    """One event for each screen, a group answer where its links have the shape of one."""
    shapes = [read_shape(answers) for answers in screens.values()]
    n_before = next((i for i, shape in enumerate(shapes) if shape is not None), 0)
    events: list[Event] = []
    last: dict[str, int] = {}  # of each person
    for i, (screen, answers) in enumerate(screens.items()):
        event = as_event(screen, answers)
        before = last.get(event.annotator)
        is_next = before is not None and is_second(events[before], answers)
        choice = read_shape(answers, fewest=1 if is_next or i < n_before else 2)
        if choice is not None:
            event = as_group_answer(event, answers, choice)
        if is_next and before is not None and choice is not None:
            events[before] = replace(events[before], choice=ANOTHER)
        last[event.annotator] = i
        events.append(event)
    return events


def as_event(screen: str, answers: Sequence[Answer]) -> Event:
    """The answers of one screen as one event."""
    rows = tuple(dict.fromkeys(row for answer in answers for row in answer.points))
    links = tuple(
        (answer.kind, tuple(rows.index(row) for row in answer.points), answer.weight)
        for answer in answers
    )
    first = answers[0]
    return Event(
        "answer",
        screen,
        Question(IMPORTED, rows),
        links,
        first.annotator or "",
        "" if first.asked_at is None else str(first.asked_at),
        first.seconds,
    )


def as_group_answer(event: Event, answers: Sequence[Answer], choice: int | str) -> Event:
    """The event with the question that its links answer."""
    row = answers[0].points[0]
    chosen = tuple(answer.points[1] for answer in answers if answer.kind == "must_link")
    others = [(answer.points[1],) for answer in answers if answer.kind != "must_link"]
    groups = ((chosen,) if chosen else ()) + tuple(others)
    return replace(event, question=Question("group", (row,), groups), choice=choice)


def read_shape(answers: Sequence[Answer], fewest: int = 2) -> int | str | None:
    """The choice of a group answer with so many groups or more that these links come from."""
    row, kinds = answers[0].points[0], {answer.kind for answer in answers}
    if any(answer.points[0] != row or len(answer.points) != 2 for answer in answers):
        return None
    together = [answer.weight for answer in answers if answer.kind == "must_link"]
    apart = [answer.weight for answer in answers if answer.kind != "must_link"]
    if len(apart) + bool(together) < fewest:
        return None
    if kinds == {"undecided_pair"}:
        return None if any(apart) else CANT_TELL
    if not kinds <= {"must_link", "cannot_link"}:
        return None
    if not together:
        if not any(apart):
            return NOWHERE
        return NEW if shares(apart, LOOK) else None
    half = LOOK / 2 if apart else LOOK
    return 0 if shares(together, half) and (not apart or shares(apart, half)) else None


def shares(weights: Sequence[float], total: float) -> bool:
    """Whether weights are equal parts of a total."""
    return all(abs(weight - total / len(weights)) < ROUNDING for weight in weights)


def is_second(event: Event, answers: Sequence[Answer]) -> bool:
    """Whether links are about the row that was kept from all groups before, and about others."""
    question = event.question
    if question is None or event.choice != NEW or answers[0].points[0] != question.rows[0]:
        return False
    shown = {row for group in question.groups for row in group}
    return not any(shown.intersection(answer.points) for answer in answers)
