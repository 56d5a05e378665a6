"""Thinking ahead: the next question and the progress, in a thread that nobody waits for."""

from typing import NamedTuple

from likewise.labeling import Event, LabelingSession, Progress, Question


class Job(NamedTuple):
    """What to think about."""

    events: tuple[Event, ...]  # new since the last job
    name: str | None  # whose question; None: the progress
    kinds: tuple[str, ...] = ()
    beside: tuple[Question, ...] = ()  # questions that others have
    chosen: Question | None = None  # nothing to think about: this one


class Thought(NamedTuple):
    """What came of it."""

    job: Job
    question: Question | None
    progress: Progress | None


class Thinker:
    """A session of its own, fed with the events that were saved.

    Parameters
    ----------
    session : LabelingSession
        Used by one thread at a time, and by nothing else.
    """

    def __init__(self, session: LabelingSession):
        self.session = session

    def think(self, job: Job) -> Thought:
        """Take the events, then choose a question or look at the progress."""
        if job.chosen is not None:
            return Thought(job, job.chosen, None)
        for event in job.events:
            self.session.add_event(event)
        if job.name is None:
            return Thought(job, None, self.session.progress)
        question = self.session.propose(job.name, beside=job.beside, kinds=job.kinds)
        return Thought(job, question, None)
