"""The thinker: the same questions from a thread and from a process, also after it was killed."""

import asyncio
import os
import signal

from likewise.labeling import LabelingSession
from likewise.studio.thinker_link import ThinkerProcess, ThinkerThread
from likewise.studio.thinking import Job
from tests.studio.conftest import X


def answered_events():
    session = LabelingSession(X)
    for choice in ("new", "new", 0):
        session.answer(session.next_question(), choice)
    return list(session.events)


async def think_twice(link, events, between=lambda: None):
    shown = next(event for event in events if event.kind == "shown")
    job = Job("ann", ("group",), (shown.id,))
    link.give(LabelingSession(X).settings)
    try:
        first = await link.think(job, events[:-1])
        between()
        return first, await link.think(job, events)
    finally:
        link.close()


def test_a_process_thinks_as_a_thread_does_also_after_it_was_killed():
    events = answered_events()
    in_thread = asyncio.run(think_twice(ThinkerThread(LabelingSession(X)), events))
    link = ThinkerProcess()
    apart = asyncio.run(think_twice(link, events, lambda: os.kill(link.process_id, signal.SIGKILL)))
    assert apart == in_thread
    assert [thought.n_known for thought in apart] == [len(events) - 1, len(events)]
    assert apart[0].question is not None


def test_what_goes_wrong_in_the_process_is_said_and_the_next_job_is_done():
    async def think():
        link = ThinkerProcess()
        link.give(LabelingSession(X).settings)
        try:
            await link.think(Job("ann", ("group",), ("no such question",)), [])
        except RuntimeError as error:
            said = str(error)
        thought = await link.think(Job(None), [])
        link.close()
        return said, thought

    said, thought = asyncio.run(think())
    assert "no such question" in said
    assert thought.progress.n_questions == 0
