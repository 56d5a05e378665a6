"""The thinker: the same questions from a thread and from a process, also after it was killed."""

import asyncio
import os
import signal

import pytest

from likewise.labeling import LabelingSession
from likewise.studio.thinker_link import ThinkerProcess, ThinkerThread
from likewise.studio.thinking import Job
from tests.studio.conftest import X


@pytest.fixture(scope="module")
def link():
    """A process that both tests use: to start one takes two seconds."""
    link = ThinkerProcess()
    link.give(LabelingSession(X).settings)
    yield link
    link.close()


def answered_events():
    session = LabelingSession(X)
    for choice in ("new", "new", 0):
        session.answer(session.next_question(), choice)
    return list(session.events)


async def think_twice(link, events, between=lambda: None):
    shown = next(event for event in events if event.kind == "shown")
    job = Job("ann", ("group",), (shown.id,))
    first = await link.think(job, events[:-1])
    between()
    return first, await link.think(job, events)


def test_what_goes_wrong_in_the_process_is_said_and_the_next_job_is_done(link):
    async def think():
        with pytest.raises(RuntimeError, match="no such question"):
            await link.think(Job("ann", ("group",), ("no such question",)), [])
        return await link.think(Job(None), [])

    assert asyncio.run(think()).progress.n_questions == 0


def test_a_process_thinks_as_a_thread_does_also_after_it_was_killed(link):
    events = answered_events()
    thread = ThinkerThread(LabelingSession(X))
    in_thread = asyncio.run(think_twice(thread, events))
    thread.close()
    apart = asyncio.run(think_twice(link, events, lambda: os.kill(link.process_id, signal.SIGKILL)))
    assert apart == in_thread
    assert [thought.n_known for thought in apart] == [len(events) - 1, len(events)]
    assert apart[0].question is not None
