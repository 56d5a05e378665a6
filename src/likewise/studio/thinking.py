"""Thinking ahead: the next question and the progress, where nobody waits for them.

    in    the settings of a session, then jobs, each with the events that are new since the last one
    out   thoughts, and errors as text

In a process of its own: some of the linear algebra holds on to the interpreter for seconds, and an
answer must be saved meanwhile. It is started by `likewise.studio.thinker_link`.
"""

import signal
from collections.abc import Sequence
from typing import NamedTuple

from likewise.labeling import Event, LabelingSession, Progress, Question
from likewise.studio.child_process import (
    give_way,
    message_pipes,
    receive,
    received_settings,
    send,
)
from likewise.studio.troubles import error_line

NICENESS = 2  # answers come first


class Job(NamedTuple):
    """What to think about."""

    name: str | None  # whose question; None: the progress
    kinds: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()  # ids of "shown" events: questions that people have
    chosen: Question | None = None  # nothing to think about: this one


class Thought(NamedTuple):
    """What came of it."""

    job: Job
    question: Question | None
    progress: Progress | None
    n_known: int = 0  # events that it is based on


class Thinker:
    """A session of its own, fed with the events that were saved.

    Parameters
    ----------
    session : LabelingSession
        Used by one thread at a time, and by nothing else.
    """

    def __init__(self, session: LabelingSession):
        self.session = session
        self._shown: dict[str, Question] = {}
        self._n_known = 0

    def think(self, job: Job, events: Sequence[Event]) -> Thought:
        """Take the events, then choose a question or look at the progress."""
        for event in events:
            self._n_known += 1
            self.session.add_event(event)
            if event.kind == "shown" and event.question is not None:
                self._shown[event.id] = event.question
        if job.name is None:
            return Thought(job, None, self.session.progress, self._n_known)
        beside = [self._shown[i] for i in job.beside]
        question = self.session.propose(job.name, beside=beside, kinds=job.kinds)
        return Thought(job, question, None, self._n_known)


def main() -> None:
    """Read settings and jobs until the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent stops, and closes the pipe
    give_way(NICENESS)
    messages_in, messages_out = message_pipes()
    try:
        thinker = Thinker(LabelingSession(**received_settings(receive(messages_in))))
        while True:
            job, events = receive(messages_in)
            thought: Thought | str
            try:
                thought = thinker.think(job, events)
            except Exception as error:  # the next job may go better
                thought = error_line(error)
            send(thought, messages_out)
    except (EOFError, BrokenPipeError):
        return
