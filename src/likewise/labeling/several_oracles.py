"""Machines and people asked together: a machine about everything, people where it matters.

    1  people: half of their questions, which find the groups
    2  machines: every row once, those that people placed among them; then doubtful rows again
    3  people: the other half, where both together leave most in doubt
    4  machines: what is left of their questions, about doubtful rows and groups found since

Machines are measured by people's answers alone (machine_answers.py).
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from likewise.labeling.questions import ANOTHER, CANT_TELL, Question
from likewise.labeling.replies import OracleStopped, as_reply
from likewise.labeling.session import LabelingSession
from likewise.labeling.what_to_ask import next_screen
from likewise.progress import track

FIRST_SHARE = 0.5  # of people's questions before machines are asked
MACHINE_SHARE = 0.75  # of a machine's questions before people's second half
UNSURE = 0.5  # a machine that is no surer than this cannot tell
BATCH = 200  # questions of a machine between two looks at what is doubtful


def name_oracles(
    oracles: Sequence[Callable[[Question], Any]] | Mapping[str, Callable[[Question], Any]],
    budget: Mapping[str, int],
) -> dict[str, Callable[[Question], Any]]:
    """Who answers, by the names in the budget, in that order."""
    if isinstance(oracles, Mapping):
        if set(oracles) != set(budget):
            raise ValueError(f"budget names {list(budget)}, and the oracles are {list(oracles)}.")
        return {name: oracles[name] for name in budget}
    if len(oracles) != len(budget):
        raise ValueError(
            f"budget={dict(budget)} names {len(budget)}, and there are {len(oracles)} oracles. "
            "Name each of them, in their order."
        )
    return dict(zip(budget, oracles))


def check_budgets(budget: Mapping[str, int], machines: Sequence[str]) -> None:
    """Budgets of 0 or more, and machines that are among them, but not alone."""
    for name, n_questions in budget.items():
        if n_questions < 0:
            raise ValueError(f"budget[{name!r}]={n_questions} must be 0 or more.")
    unknown = [name for name in machines if name not in budget]
    if unknown:
        raise ValueError(f"machines names {unknown[0]!r}, and budget does not: {list(budget)}.")


def ask_together(
    session: LabelingSession,
    oracles: Mapping[str, Callable[[Question], Any]],
    budget: Mapping[str, int],
) -> None:
    """Put questions to people and to the session's machines, in turn."""
    people = {name: n for name, n in budget.items() if name not in session.machines}
    machines = {name: n for name, n in budget.items() if name in session.machines}
    stopped: set[str] = set()
    first = {name: round(FIRST_SHARE * n) for name, n in people.items()}
    asked = ask_people(session, oracles, first, stopped)
    n_asked = dict.fromkeys(machines, 0)
    for name, n in machines.items():
        n_asked[name] = ask_machine_rows(
            session, oracles[name], name, round(MACHINE_SHARE * n), stopped
        )
    rest = {name: n - asked[name] for name, n in people.items()}
    ask_people(session, oracles, rest, stopped)
    for name, n in machines.items():
        ask_machine_rows(session, oracles[name], name, n - n_asked[name], stopped)


def ask_people(
    session: LabelingSession,
    oracles: Mapping[str, Callable[[Question], Any]],
    budget: Mapping[str, int],
    stopped: set[str],
) -> dict[str, int]:
    """One question after another, person by person; how many each was asked."""
    asked = dict.fromkeys(budget, 0)
    for turn in range(max(budget.values(), default=0)):
        for name, n in budget.items():
            if turn >= n or name in stopped:
                continue
            question = session.next_question(name)
            if question is None:
                continue
            put(session, oracles[name], name, question, stopped)
            asked[name] += 1
    return asked


def ask_machine_rows(
    session: LabelingSession,
    oracle: Callable[[Question], Any],
    name: str,
    n_questions: int,
    stopped: set[str],
) -> int:
    """So many questions about rows, doubtful ones again; second screens count."""
    n_asked = 0
    while n_asked < n_questions and name not in stopped:
        questions = session.questions_for_machine(name, min(BATCH, n_questions - n_asked))
        if not questions:
            break
        for question in track(questions, f"asking {name}"):
            screen: Question | None = question
            while screen is not None and n_asked < n_questions:
                n_asked += 1
                choice = put(session, oracle, name, screen, stopped)
                if name in stopped:
                    return n_asked
                screen = next_screen(screen) if choice == ANOTHER and screen.more else None
    return n_asked


def put(
    session: LabelingSession,
    oracle: Callable[[Question], Any],
    name: str,
    question: Question,
    stopped: set[str],
) -> Any:
    """Ask one question and keep the answer; the choice, None where there is none."""
    try:
        reply = as_reply(oracle(question))
    except OracleStopped as reason:
        stopped.add(name)
        warnings.warn(f"{name} stopped answering: {reason}", UserWarning, stacklevel=5)
        return None
    choice = reply.choice
    if reply.sure is not None and reply.sure < UNSURE and name in session.machines:
        choice = CANT_TELL
    if choice is None:
        session.skip(question, annotator=name)
    else:
        session.answer(question, choice, annotator=name)
    return choice
